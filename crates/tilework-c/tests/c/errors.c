/* Whatever is wrong is told, and nothing is written. */
#include "check.h"

static void a_bad_text_is_shown_with_a_caret(void)
{
    tilework_layout *layout = (tilework_layout *)&layout;
    REFUSED(tilework_layout_parse("f32[3,5]{1,0:T(0,2)}", &layout),
            "\n    f32[3,5]{1,0:T(0,2)}"
            "\n                   ^\n");
    CHECK(layout == NULL);
    REFUSED(tilework_layout_parse("", &layout), "");
    REFUSED(tilework_layout_parse("(f32[2], f32[3])", &layout), "not an array");
    REFUSED(tilework_layout_parse("f32[?]", &layout), "f32[?]");
    REFUSED(tilework_layout_parse("f32[4611686018427387904,4]", &layout), "63 bits");
    REFUSED(tilework_layout_parse("f32\xff[2]", &layout), "byte 0xff is not UTF-8");
    REFUSED(tilework_layout_parse("FLOAT32 [2,3] stride [5,1]", &layout), "^^^^^^");
    REFUSED(tilework_layout_parse("FLOAT32 [2,3] total 8", &layout), "TotalTensorSizeInBytes");
}

static void null_pointers_are_refused(void)
{
    tilework_layout *layout = (tilework_layout *)&layout;
    tilework_relayout *relayout = plan("u8[4]", "u8[4]", NULL), *none = NULL;
    uint8_t bytes[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    const char *text = NULL;
    uint64_t number = 0;
    size_t rank = 0;

    REFUSED(tilework_layout_parse(NULL, &layout), "text: a null pointer");
    CHECK(layout == NULL);
    layout = parse("u8[4]");
    REFUSED(tilework_layout_parse("u8[4]", NULL), "layout: a null pointer");
    REFUSED(tilework_layout_bytes(NULL, &number), "layout: a null pointer");
    REFUSED(tilework_layout_bytes(layout, NULL), "bytes: a null pointer");
    REFUSED(tilework_layout_text(NULL, &text), "layout: a null pointer");
    REFUSED(tilework_layout_dims(NULL, NULL, &rank), "layout: a null pointer");
    REFUSED(tilework_layout_dims(layout, NULL, NULL), "rank: a null pointer");
    REFUSED(tilework_layout_offset(layout, NULL, 1, &number), "index: a null pointer");
    REFUSED(tilework_relayout_new(NULL, layout, NULL, &none), "from: a null pointer");
    REFUSED(tilework_relayout_new(layout, NULL, NULL, &none), "to: a null pointer");
    REFUSED(tilework_relayout_new(layout, layout, NULL, NULL), "relayout: a null pointer");
    REFUSED(tilework_relayout_describe(relayout, NULL), "text: a null pointer");
    REFUSED(tilework_relayout_run(NULL, bytes, 4, bytes + 4, 4, 1), "relayout: a null pointer");
    REFUSED(tilework_relayout_run(relayout, NULL, 4, bytes, 4, 1), "source: a null pointer");
    REFUSED(tilework_relayout_run(relayout, bytes, 4, NULL, 4, 1), "destination: a null pointer");
    REFUSED(tilework_relayout_run(relayout, NULL, 0, NULL, 0, 1), "source: a source of 0 bytes");
    REFUSED(tilework_relayout_run_on(relayout, NULL, bytes, 4, bytes + 4, 4), "pool: a null pointer");
    CHECK(strcmp(tilework_error_message(NULL), "") == 0);
    tilework_error_free(NULL);
    tilework_layout_free(NULL);
    tilework_relayout_free(NULL);
    tilework_layout_free(layout);
    tilework_relayout_free(relayout);
}

static void an_index_is_checked(void)
{
    tilework_layout *layout = parse("u8[4,5]");
    const uint64_t beyond[3] = {3, 5, 0};
    uint64_t offset = 77;
    REFUSED(tilework_layout_offset(layout, beyond, 2, &offset), "index 5 in dimension 1 of size 5");
    REFUSED(tilework_layout_offset(layout, beyond, 3, &offset), "3 numbers for 2 dimensions");
    REFUSED(tilework_layout_offset(layout, NULL, 0, &offset), "0 numbers for 2 dimensions");
    REFUSED(tilework_layout_offset(layout, beyond, SIZE_MAX, &offset), "length");
    CHECK(offset == 77);
    tilework_layout_free(layout);
}

static void layouts_that_do_not_fit_each_other_are_refused(void)
{
    tilework_layout *a = parse("u8[4,5]"), *b = parse("u8[5,4]"), *wide = parse("u16[4,5]");
    tilework_layout *bits = parse("c64[4,5]");
    tilework_relayout *relayout = (tilework_relayout *)&relayout;
    REFUSED(tilework_relayout_new(a, b, NULL, &relayout), "dimension 0 is 4 in the source, 5");
    CHECK(relayout == NULL);
    REFUSED(tilework_relayout_new(a, wide, NULL, &relayout), "element bits");
    REFUSED(tilework_relayout_new(a, a, "fill=0x100", &relayout), "0x0 to 0xff");
    REFUSED(tilework_relayout_new(a, a, "fill=none  fill=2", &relayout),
            "\n    fill=none  fill=2"
            "\n               ^^^^^^\n");
    REFUSED(tilework_relayout_new(a, bits, "convert", &relayout), "no conversion from u8 to c64");
    REFUSED(tilework_relayout_new(a, a, "\xc3", &relayout), "not UTF-8");
    tilework_layout_free(a);
    tilework_layout_free(b);
    tilework_layout_free(wide);
    tilework_layout_free(bits);
}

static void buffers_that_are_short_or_overlap_are_refused(void)
{
    tilework_relayout *relayout = plan("u8[2,3]", "u8[2,3]{0,1}", NULL);
    uint8_t bytes[16], before[16];
    for (int i = 0; i < 16; i++)
        bytes[i] = before[i] = (uint8_t)i;
    REFUSED(tilework_relayout_run(relayout, bytes, 5, bytes + 8, 8, 1), "a source of 5 bytes");
    REFUSED(tilework_relayout_run(relayout, bytes, 8, bytes + 8, 5, 1), "6 bytes or more");
    REFUSED(tilework_relayout_run(relayout, bytes, 8, bytes + 5, 8, 1), "overlaps the source");
    REFUSED(tilework_relayout_run(relayout, bytes, 8, bytes, 8, 1), "overlaps the source");
    REFUSED(tilework_relayout_run(relayout, bytes, SIZE_MAX, bytes + 8, 8, 1), "length");
    CHECK(memcmp(bytes, before, 16) == 0);
    tilework_relayout_free(relayout);
}

void errors(void)
{
    a_bad_text_is_shown_with_a_caret();
    null_pointers_are_refused();
    an_index_is_checked();
    layouts_that_do_not_fit_each_other_are_refused();
    buffers_that_are_short_or_overlap_are_refused();
}
