/* SPDX-License-Identifier: MIT */
/*
 * A window that moves forward over a source of bytes: any piece ahead is available as contiguous memory, the bytes
 * before it are discarded. Memory is the size of the largest piece asked for, not of the source.
 */
#ifndef PF_IO_WINDOW_H
#define PF_IO_WINDOW_H

#include "base/bytes.h"
#include "base/memory.h"

/*
 * Puts up to `bytes` bytes of the source from `offset` on to `to`; *got is 0 at the end, or when nothing is there yet.
 */
typedef int pf_window_fill(void *context, uint64_t offset, void *to, size_t bytes, size_t *got,
                           struct perfile_error *error);

struct pf_window {
    const struct perfile_allocator *allocator;
    pf_window_fill *fill; /* NULL: `data` is all there is */
    void *context;
    bool can_skip; /* `fill` may be asked for any offset, not only for the next one */
    const uint8_t *data;
    uint8_t *buffer;
    size_t capacity;
    uint64_t offset; /* of data[0] */
    size_t bytes;    /* how much is in the window */
    bool waits;      /* set when `fill` returned AGAIN: bytes that a look ahead did not find may still come */
    size_t ramp;     /* how much the next fill asks for, 0: all that fits */
    bool narrow;     /* it grows for large pieces only: there are many others */
    uint64_t keep;   /* bytes from here on stay in the window while pieces ahead of them are looked at */
};

int pf_window_open(struct pf_window *window, const struct perfile_allocator *allocator, pf_window_fill *fill,
                   void *context, bool can_skip);
/* Over bytes in memory: nothing is copied. */
void pf_window_open_memory(struct pf_window *window, const void *data, size_t bytes);
void pf_window_close(struct pf_window *window);
/* Discards everything; the next piece may be anywhere. Only for windows that can skip. */
void pf_window_reset(struct pf_window *window);

/* Goes on at `offset`, where maybe not much will be asked for: little is read at first, and more if it goes on. */
void pf_window_skip_to(struct pf_window *window, uint64_t offset);
/* Nothing is wanted for now: the memory is given back. What was had is no longer valid. */
void pf_window_rest(struct pf_window *window);

/* Slow path of pf_window_get. */
int pf_window_move(struct pf_window *window, uint64_t offset, size_t bytes, const uint8_t **piece, size_t *got,
                   struct perfile_error *error);

/*
 * At least `bytes` bytes at `offset` (not before `keep`, or an earlier offset): *piece and how many there are in *got,
 * which is less than asked for only when the source has no more. Valid until the next call.
 */
static inline int pf_window_get(struct pf_window *window, uint64_t offset, size_t bytes, const uint8_t **piece,
                                size_t *got, struct perfile_error *error)
{
    uint64_t from = offset - window->offset;
    if (PF_LIKELY(from <= window->bytes && bytes <= window->bytes - from)) {
        *piece = window->data + from;
        *got = window->bytes - (size_t)from;
        return 0;
    }
    return pf_window_move(window, offset, bytes, piece, got, error);
}

#endif
