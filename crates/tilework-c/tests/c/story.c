/* An array goes into tiles and comes back. */
#include "check.h"

enum { ROWS = 64, COLUMNS = 300, PADDED = 384, COUNT = ROWS * COLUMNS };

static void a_layout_answers(void)
{
    tilework_layout *layout = parse("bf16[64,300]{1,0:T(8,128)(2,1)}");
    const uint64_t *dims = NULL;
    size_t rank = 0;
    uint32_t bits = 0;
    uint64_t elements = 0, size = 0, bytes = 0, offset = 0;
    const uint64_t index[2] = {3, 17};
    OK(tilework_layout_dims(layout, &dims, &rank));
    CHECK(rank == 2 && dims[0] == 64 && dims[1] == 300);
    OK(tilework_layout_dims(layout, NULL, &rank));
    OK(tilework_layout_element_bits(layout, &bits));
    OK(tilework_layout_elements(layout, &elements));
    OK(tilework_layout_size(layout, &size));
    OK(tilework_layout_bytes(layout, &bytes));
    CHECK(bits == 16 && elements == COUNT && size == ROWS * PADDED && bytes == 49152);
    OK(tilework_layout_offset(layout, index, 2, &offset));
    CHECK(offset == 256 + 2 * 17 + 1); /* the second pair of rows in the first tile */
    tilework_layout_free(layout);
}

static void texts_are_canonical(void)
{
    const char *pairs[3][2] = {
        {"F32[3,5]{1,0:(2,2)}", "f32[3,5]{1,0:T(2,2)}"},
        {"FLOAT16 NHWC [1,64,56,56]", "FLOAT16 [1,64,56,56] strides [200704,1,3584,64]"},
        {"f32[]", "f32[]"},
    };
    for (int i = 0; i < 3; i++) {
        tilework_layout *layout = parse(pairs[i][0]);
        const char *text = NULL;
        OK(tilework_layout_text(layout, &text));
        CHECK(strcmp(text, pairs[i][1]) == 0);
        tilework_layout_free(layout);
    }
}

/* Where the element of a row and column is in tiles of 8 x 128, and of 2 x 1 within them. */
static size_t place(size_t row, size_t column)
{
    size_t tile = row / 8 * (PADDED / 128) + column / 128;
    return tile * 8 * 128 + row % 8 / 2 * 256 + column % 128 * 2 + row % 2;
}

static void an_array_goes_into_tiles_and_comes_back(void)
{
    const size_t plain_bytes = COUNT * sizeof(uint16_t), tiled_bytes = ROWS * PADDED * sizeof(uint16_t);
    uint16_t *plain = different(COUNT), *back = different(COUNT), *tiled = different(ROWS * PADDED);
    tilework_relayout *there = plan("bf16[64,300]", "bf16[64,300]{1,0:T(8,128)(2,1)}", "fill=zero");
    tilework_relayout *home = plan("bf16[64,300]{1,0:T(8,128)(2,1)}", "bf16[64,300]", NULL);
    const char *description = NULL, *again = NULL;

    OK(tilework_relayout_run(there, plain, plain_bytes, tiled, tiled_bytes, 1));
    for (size_t row = 0; row < ROWS; row++)
        for (size_t column = 0; column < PADDED; column++)
            CHECK(tiled[place(row, column)] == (column < COLUMNS ? plain[row * COLUMNS + column] : 0));

    memset(back, 0, plain_bytes);
    OK(tilework_relayout_run(home, tiled, tiled_bytes, back, plain_bytes, 0));
    CHECK(memcmp(plain, back, plain_bytes) == 0);

    OK(tilework_relayout_describe(there, &description));
    OK(tilework_relayout_describe(there, &again));
    CHECK(strstr(description, "moves 19200 elements, 37.50 KiB\n") == description);
    CHECK(strstr(description, "fills 10.50 KiB of padding with 0x0") != NULL);
    CHECK(description == again);

    tilework_relayout_free(there);
    tilework_relayout_free(home);
    free(plain);
    free(back);
    free(tiled);
}

static void padding_is_filled_as_asked(void)
{
    const char *to = "u8[2,3]{1,0:pad(2,4)=one}";
    const char *options[4] = {NULL, "", "fill=none", "fill=0xff"};
    const uint8_t expected[4] = {1, 1, 7, 0xff};
    const uint8_t from[6] = {10, 11, 12, 13, 14, 15};
    for (int i = 0; i < 4; i++) {
        tilework_relayout *relayout = plan("u8[2,3]", to, options[i]);
        uint8_t out[8] = {7, 7, 7, 7, 7, 7, 7, 7};
        OK(tilework_relayout_run(relayout, from, sizeof from, out, sizeof out, 1));
        CHECK(out[2] == 12 && out[3] == expected[i] && out[4] == 13 && out[7] == expected[i]);
        tilework_relayout_free(relayout);
    }
}

static void arrays_without_elements_need_no_memory(void)
{
    tilework_relayout *bytes = plan("f32[0,5]", "f32[0,5]{0,1}", NULL);
    tilework_relayout *nibbles = plan("s4[0,5]{1,0:E(4)}", "s4[0,5]{0,1:E(4)}", NULL);
    OK(tilework_relayout_run(bytes, NULL, 0, NULL, 0, 0));
    OK(tilework_relayout_run(nibbles, NULL, 0, NULL, 0, 0));
    tilework_relayout_free(bytes);
    tilework_relayout_free(nibbles);
}

static void nibbles_are_moved_too(void)
{
    tilework_relayout *relayout = plan("s4[2,3]{1,0:E(4)}", "s4[2,3]{0,1:E(4)}", NULL);
    const uint8_t from[3] = {0x10, 0x32, 0x54}; /* 0 1 2 / 3 4 5 */
    uint8_t to[3] = {0, 0, 0};
    OK(tilework_relayout_run(relayout, from, 3, to, 3, 1));
    CHECK(to[0] == 0x30 && to[1] == 0x41 && to[2] == 0x52);
    tilework_relayout_free(relayout);
}

static void elements_are_converted_if_asked(void)
{
    const float from[4] = {1.0f, 3.14f, -2.0f, 0.0f};
    uint16_t to[4] = {0, 0, 0, 0};
    tilework_relayout *relayout = plan("f32[2,2]", "bf16[2,2]{0,1}", "convert");
    OK(tilework_relayout_run(relayout, from, sizeof from, to, sizeof to, 1));
    CHECK(to[0] == 0x3f80 && to[1] == 0xc000 && to[2] == 0x4049 && to[3] == 0);
    tilework_relayout_free(relayout);
}

void story(void)
{
    a_layout_answers();
    texts_are_canonical();
    an_array_goes_into_tiles_and_comes_back();
    padding_is_filled_as_asked();
    arrays_without_elements_need_no_memory();
    nibbles_are_moved_too();
    elements_are_converted_if_asked();
}
