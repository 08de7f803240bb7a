/* SPDX-License-Identifier: MIT */
/*
 * For programs that hand over structs of every kind, compiled with the headers of one version and run with the
 * libraries of another: see grown.py. With GROWN structs have a member `grown_tail` at their end.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <perfile/perfile.h>

/* Declares a struct, followed by memory that the library must not touch. */
#define BESIDE(type, name)                                                                                             \
    struct {                                                                                                           \
        struct type it;                                                                                                \
        uint64_t after[8];                                                                                             \
    } name = {.after = {1, 2, 3, 4, 5, 6, 7, 8}}
#define UNTOUCHED(name)                                                                                                \
    for (uint64_t i = 0; i < 8; i++)                                                                                   \
    expect(name.after[i] == i + 1, #name ": the library wrote after it")
#ifdef GROWN
#define SET_TAIL(name) ((name).grown_tail = 1)
#define CLEAR_TAIL(name) ((name).grown_tail = 0)
#define TAIL_IS_ZERO(name)                                                                                             \
    expect(!refuses || (name).grown_tail == 0, #name ": what the library does not know is not zero")
#else
#define SET_TAIL(name) ((void)(name))
#define CLEAR_TAIL(name) ((void)(name))
#define TAIL_IS_ZERO(name) ((void)(name))
#endif

static bool refuses; /* the library is older than the headers */
static struct perfile_error error;
static void expect(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s (%d %s)\n", what, error.code, error.message);
    exit(1);
}

/* The call with a member set that an older library does not know. */
#define CALL(what, options, call)                                                                                      \
    do {                                                                                                               \
        if (refuses) {                                                                                                 \
            SET_TAIL(options);                                                                                         \
            expect((call) == PERFILE_ERROR_ARGUMENT, what ": not refused");                                            \
            CLEAR_TAIL(options);                                                                                       \
        }                                                                                                              \
        expect((call) == 0, what);                                                                                     \
    } while (0)
