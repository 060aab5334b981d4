/* What the parts of the test share. They are compiled as C and as C++. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tilework.h>

/* Ends the test where something does not hold. */
#define CHECK(holds) \
    do { \
        if (!(holds)) { \
            fprintf(stderr, "%s:%d: this does not hold: %s\n", __FILE__, __LINE__, #holds); \
            exit(1); \
        } \
    } while (0)

/* Ends the test where a function returns an error. */
#define OK(call) \
    do { \
        tilework_error *error_ = (call); \
        if (error_ != NULL) { \
            fprintf(stderr, "%s:%d: %s\n%s\n", __FILE__, __LINE__, #call, tilework_error_message(error_)); \
            exit(1); \
        } \
    } while (0)

/* Ends the test where a function returns no error, or one that says something else. */
#define REFUSED(call, says) \
    do { \
        tilework_error *error_ = (call); \
        if (error_ == NULL || strstr(tilework_error_message(error_), says) == NULL) { \
            fprintf(stderr, "%s:%d: %s\n%s\n", __FILE__, __LINE__, #call, tilework_error_message(error_)); \
            exit(1); \
        } \
        tilework_error_free(error_); \
    } while (0)

static inline tilework_layout *parse(const char *text)
{
    tilework_layout *layout = NULL;
    OK(tilework_layout_parse(text, &layout));
    return layout;
}

static inline tilework_relayout *plan(const char *from, const char *to, const char *options)
{
    tilework_layout *source = parse(from), *destination = parse(to);
    tilework_relayout *relayout = NULL;
    OK(tilework_relayout_new(source, destination, options, &relayout));
    /* The relayout needs neither. */
    tilework_layout_free(source);
    tilework_layout_free(destination);
    return relayout;
}

/* Elements of 16 bits that all differ, as long as there are no more than 65535 of them; none is 0. */
static inline uint16_t *different(size_t count)
{
    uint16_t *elements = (uint16_t *)malloc(count * sizeof *elements);
    CHECK(elements != NULL);
    for (size_t i = 0; i < count; i++)
        elements[i] = (uint16_t)(1 + i % 65535);
    return elements;
}

void story(void);
void errors(void);
void pools(void);

#endif
