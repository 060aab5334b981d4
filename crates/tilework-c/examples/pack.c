/* Packs a matrix of bf16 into the tiles of an accelerator and back, and says what was done.
 *
 *     cargo build --release -p tilework-c
 *     cc -Icrates/tilework-c/include crates/tilework-c/examples/pack.c \
 *         target/release/libtilework_c.a -lpthread -ldl -lm -o pack
 *     ./pack
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tilework.h>

/* Every call goes through this: a real runtime would turn the message into a status of its own. */
static void check(tilework_error *error)
{
    if (error == NULL)
        return;
    fprintf(stderr, "pack: %s\n", tilework_error_message(error));
    tilework_error_free(error);
    exit(1);
}

static void *allocate(const tilework_layout *layout, size_t *bytes)
{
    uint64_t needed = 0;
    void *memory;
    check(tilework_layout_bytes(layout, &needed));
    *bytes = (size_t)needed;
    memory = calloc(1, *bytes);
    if (memory == NULL)
        exit(1);
    return memory;
}

int main(int count, char **words)
{
    tilework_layout *rows = NULL, *tiles = NULL;
    tilework_relayout *pack = NULL, *unpack = NULL;
    size_t row_bytes = 0, tile_bytes = 0;
    const char *text = NULL;

    if (tilework_version() / 100 != TILEWORK_VERSION / 100) {
        fprintf(stderr, "pack: compiled for another libtilework_c\n");
        return 1;
    }
    check(tilework_layout_parse(count > 1 ? words[1] : "bf16[64,300]", &rows));
    check(tilework_layout_parse(count > 2 ? words[2] : "bf16[64,300]{1,0:T(8,128)(2,1)}", &tiles));
    check(tilework_relayout_new(rows, tiles, "fill=zero", &pack));
    check(tilework_relayout_new(tiles, rows, NULL, &unpack));

    unsigned char *host = (unsigned char *)allocate(rows, &row_bytes);
    unsigned char *back = (unsigned char *)allocate(rows, &row_bytes);
    void *device = allocate(tiles, &tile_bytes);
    for (size_t i = 0; i < row_bytes; i++)
        host[i] = (unsigned char)(i * 31 + i / 256);

    check(tilework_relayout_run(pack, host, row_bytes, device, tile_bytes, 0));
    check(tilework_relayout_run(unpack, device, tile_bytes, back, row_bytes, 0));
    check(tilework_relayout_describe(pack, &text));
    printf("%s\n\n%zu bytes became %zu, and %s\n", text, row_bytes, tile_bytes,
           memcmp(host, back, row_bytes) == 0 ? "came back the same" : "came back changed");

    free(host);
    free(back);
    free(device);
    tilework_relayout_free(pack);
    tilework_relayout_free(unpack);
    tilework_layout_free(rows);
    tilework_layout_free(tiles);
    return 0;
}
