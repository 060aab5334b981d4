/*
 * Tilework: how arrays lie in memory, and moving them from one layout to another at the speed of a memory copy.
 *
 * An array that lies row by row becomes the tiled and padded buffer of an accelerator:
 *
 *     #include <stdio.h>
 *     #include <tilework.h>
 *
 *     int upload(const void *host, size_t host_bytes, void *device, size_t device_bytes)
 *     {
 *         tilework_layout *rows = NULL, *tiles = NULL;
 *         tilework_relayout *relayout = NULL;
 *         tilework_error *error = tilework_layout_parse("bf16[64,300]", &rows);
 *         if (!error)
 *             error = tilework_layout_parse("bf16[64,300]{1,0:T(8,128)(2,1)}", &tiles);
 *         if (!error)
 *             error = tilework_relayout_new(rows, tiles, "fill=zero", &relayout);
 *         if (!error)
 *             error = tilework_relayout_run(relayout, host, host_bytes, device, device_bytes, 0);
 *         int failed = error != NULL;
 *         if (failed)
 *             fprintf(stderr, "%s\n", tilework_error_message(error));
 *         tilework_error_free(error);
 *         tilework_relayout_free(relayout);
 *         tilework_layout_free(tiles);
 *         tilework_layout_free(rows);
 *         return failed;
 *     }
 *
 * Errors. A function that can fail returns NULL if all went well, and otherwise an error that belongs to the caller. There
 * is no last error that is kept aside, so that it does not matter which thread asks for the message.
 *
 * Ownership. What a function makes belongs to the caller and has a function that frees it, which takes NULL too. Texts and
 * numbers that a function tells by a pointer belong to the object that was asked.
 *
 * Threads. Layouts and relayouts never change: any number of threads may use one at once. Only freeing it needs that nobody
 * uses it any more. A thread that moves data needs less than 128 KiB of stack.
 *
 * Units. Offsets and sizes are in elements, unless the name says bytes or bits. Of elements that share a byte, the first is
 * in the lowest bits.
 *
 * This file is made by `cargo xtask header`. Change the sources of crates/tilework-c instead.
 */

#ifndef TILEWORK_H
#define TILEWORK_H

#include <stddef.h>
#include <stdint.h>

/* Dropping an error would lose its message and its memory. */
#if defined(__GNUC__) || defined(__clang__)
#define TILEWORK_MUST_USE __attribute__((warn_unused_result))
#else
#define TILEWORK_MUST_USE
#endif

/**
 * The version that this header describes: 10000 times the major number, 100 times the minor one and the patch.
 */
#define TILEWORK_VERSION 100

/**
 * What went wrong. It belongs to whoever received it, who frees it with tilework_error_free.
 */
typedef struct tilework_error tilework_error;

/**
 * How an array lies in memory. It never changes, so any number of threads may use it at once.
 */
typedef struct tilework_layout tilework_layout;

/**
 * A move from one layout to another, made ready to run. It never changes, so any number of threads may run it at once.
 */
typedef struct tilework_relayout tilework_relayout;

/**
 * The threads of a runtime, on which relayouts run their tasks.
 *
 * `run` calls `task(context, number)` once with each number below `tasks`, in any order and on any threads, and returns
 * when all of these calls have returned. It gets `user` as it stands here, and is called on the thread that asked for the
 * relayout: not at all for little data, several times for some layouts. It must not throw or jump out.
 */
typedef struct {
    /**
     * Whatever `run` wants to have; the library does not look at it.
     */
    void *user;
    /**
     * How many tasks can run at the same time, at least 1.
     */
    size_t width;
    /**
     * Runs the tasks.
     */
    void (*run)(void *user, size_t tasks, void (*task)(void *context, size_t number), void *context);
} tilework_pool;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Says what went wrong: where, what was found, which rule that breaks and what would be accepted, over several lines of
 * UTF-8 without a newline at the end. Errors about a text show it, with a caret under the place.
 *
 * The text belongs to the error and lives as long as that does. A null pointer, which is success, gives an empty text.
 *
 * # Safety
 * `error` is null, or was returned by a function of this library and not freed since.
 */
const char *tilework_error_message(const tilework_error *error);

/**
 * Frees an error. A null pointer is fine.
 *
 * # Safety
 * `error` is null, or was returned by a function of this library and not freed since. Nobody uses it afterwards.
 */
void tilework_error_free(tilework_error *error);

/**
 * Reads a layout in any notation that Tilework knows: a shape as XLA writes it, such as
 * `bf16[64,300]{1,0:T(8,128)(2,1)}`, with Tilework's own words for what XLA cannot say (`pad`, `strides`, `base`,
 * `size`), a tensor as DirectML describes it, such as `FLOAT32 [2,3] strides [5,1]`, and the others that
 * `tilework show --help` lists.
 *
 * The new layout is written to `*layout` and belongs to the caller, who frees it with tilework_layout_free; after an
 * error `*layout` is null. The text is not needed afterwards.
 *
 * # Safety
 * `text` is null or ends with a byte of 0. `layout` is null or may be written.
 */
TILEWORK_MUST_USE
tilework_error *tilework_layout_parse(const char *text,
                                      tilework_layout **layout);

/**
 * Frees a layout. A null pointer is fine. Relayouts that were made from the layout do not need it.
 *
 * # Safety
 * `layout` is null, or came from tilework_layout_parse and was not freed since. Nobody uses it afterwards.
 */
void tilework_layout_free(tilework_layout *layout);

/**
 * Tells the text of a layout in its one canonical form, which tilework_layout_parse reads back.
 *
 * The text belongs to the layout and lives as long as that does.
 *
 * # Safety
 * `layout` is null or a layout that is not freed. `text` is null or may be written.
 */
TILEWORK_MUST_USE
tilework_error *tilework_layout_text(const tilework_layout *layout,
                                     const char **text);

/**
 * Says the sizes of the dimensions: `*rank` is how many there are, and `*dims` points to as many numbers.
 *
 * The numbers belong to the layout and live as long as that does. Whoever wants the rank alone passes null for `dims`.
 *
 * # Safety
 * `layout` is null or a layout that is not freed. `dims` and `rank` are null or may be written.
 */
TILEWORK_MUST_USE
tilework_error *tilework_layout_dims(const tilework_layout *layout,
                                     const uint64_t **dims,
                                     size_t *rank);

/**
 * Tells how many bits an element has.
 *
 * # Safety
 * `layout` is null or a layout that is not freed. `bits` is null or may be written.
 */
TILEWORK_MUST_USE
tilework_error *tilework_layout_element_bits(const tilework_layout *layout,
                                             uint32_t *bits);

/**
 * Tells how many elements the array has, padding not counted.
 *
 * # Safety
 * `layout` is null or a layout that is not freed. `elements` is null or may be written.
 */
TILEWORK_MUST_USE
tilework_error *tilework_layout_elements(const tilework_layout *layout,
                                         uint64_t *elements);

/**
 * Tells how many places are allocated, in elements: those of the array and the padding.
 *
 * # Safety
 * `layout` is null or a layout that is not freed. `size` is null or may be written.
 */
TILEWORK_MUST_USE
tilework_error *tilework_layout_size(const tilework_layout *layout,
                                     uint64_t *size);

/**
 * Tells how many bytes a buffer needs to hold all places, padding included.
 *
 * # Safety
 * `layout` is null or a layout that is not freed. `bytes` is null or may be written.
 */
TILEWORK_MUST_USE
tilework_error *tilework_layout_bytes(const tilework_layout *layout,
                                      uint64_t *bytes);

/**
 * Tells the place of an element, counted in elements from the start of the buffer. The index has `rank` numbers.
 *
 * # Safety
 * `layout` is null or a layout that is not freed. `index` is null or points to `rank` numbers. `offset` is null or may
 * be written.
 */
TILEWORK_MUST_USE
tilework_error *tilework_layout_offset(const tilework_layout *layout,
                                       const uint64_t *index,
                                       size_t rank,
                                       uint64_t *offset);

/**
 * Plans the move of every element from its place in `from` to its place in `to`. Both layouts have the same dimensions.
 *
 * `options` are words with blanks between them, or null for none:
 *
 * * `fill=` says what padding of the destination is filled with, as a value of its element type (`zero`, `one`, `lowest`,
 *   `highest`, a number such as `-1.5`, `nan`) or as the bits of an element (`0x7fc0`); `fill=none` leaves padding as it is.
 *   Without this word, padding is filled only if the text of `to` names a value itself, as `f32[2,3]{0,1:pad(3,5)=zero}`
 *   does.
 * * `convert` turns elements into those of the destination's type, such as f32 into bf16, rounded to nearest. Without it,
 *   both have elements of the same number of bits, which are moved as they are.
 *
 * The new relayout is written to `*relayout` and belongs to the caller, who frees it with tilework_relayout_free; after an
 * error `*relayout` is null. The layouts are not needed afterwards.
 *
 * # Safety
 * `from` and `to` are null or layouts that are not freed. `options` is null or ends with a byte of 0. `relayout` is null or
 * may be written.
 */
TILEWORK_MUST_USE
tilework_error *tilework_relayout_new(const tilework_layout *from,
                                      const tilework_layout *to,
                                      const char *options,
                                      tilework_relayout **relayout);

/**
 * Frees a relayout. A null pointer is fine.
 *
 * # Safety
 * `relayout` is null, or came from tilework_relayout_new and was not freed since. Nobody uses it afterwards.
 */
void tilework_relayout_free(tilework_relayout *relayout);

/**
 * Tells what a relayout does, as a text for people: how much it moves and fills, and in which loops.
 *
 * The text belongs to the relayout and lives as long as that does.
 *
 * # Safety
 * `relayout` is null or a relayout that is not freed. `text` is null or may be written.
 */
TILEWORK_MUST_USE
tilework_error *tilework_relayout_describe(const tilework_relayout *relayout,
                                           const char **text);

/**
 * Moves the data, on threads that are started for this and end with it: at most `threads` of them, the calling one counted;
 * 1 is the calling thread alone, 0 stands for as many as there are processors for this process.
 *
 * A buffer that is shorter than its layout and buffers that overlap are errors, and nothing is written then. The buffers
 * need no alignment.
 *
 * # Safety
 * `relayout` is null or a relayout that is not freed. `from_bytes` bytes can be read at `from`, and `to_bytes` bytes
 * can be written at `to`; until the function returns nobody else writes the one or touches the other.
 */
TILEWORK_MUST_USE
tilework_error *tilework_relayout_run(const tilework_relayout *relayout,
                                      const void *from,
                                      size_t from_bytes,
                                      void *to,
                                      size_t to_bytes,
                                      size_t threads);

/**
 * Moves the data as tilework_relayout_run does, on the threads of a pool.
 *
 * If the pool does not run its tasks as it should, that is an error, and the destination is then written in part.
 *
 * # Safety
 * As for tilework_relayout_run, and `pool` is null or a pool that does what tilework_pool says.
 */
TILEWORK_MUST_USE
tilework_error *tilework_relayout_run_on(const tilework_relayout *relayout,
                                         const tilework_pool *pool,
                                         const void *from,
                                         size_t from_bytes,
                                         void *to,
                                         size_t to_bytes);

/**
 * The version of the library that the program runs with, as TILEWORK_VERSION has it.
 *
 * While the major number is 0, every minor number may change the interface: a program runs with the library if
 * `tilework_version() / 100 == TILEWORK_VERSION / 100`.
 */
uint32_t tilework_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TILEWORK_H */
