/* SPDX-License-Identifier: MIT */
#include "io/window.h"

#include "base/error.h"

/*
 * The largest fits a second-level cache, and four of the largest records. At the start of a source a window is small:
 * thousands of recordings may be open whose turn has not come.
 */
enum { FIRST_BYTES = 16 * 1024, WINDOW_BYTES = 256 * 1024 };
enum { RAMP_BYTES = 4096 };

int pf_window_open(struct pf_window *window, const struct perfile_allocator *allocator, pf_window_fill *fill,
                   void *context, bool can_skip)
{
    *window = (struct pf_window){
        .allocator = allocator, .fill = fill, .context = context, .can_skip = can_skip, .keep = UINT64_MAX};
    window->buffer = pf_resize(allocator, NULL, 0, FIRST_BYTES);
    if (!window->buffer)
        return PERFILE_ERROR_MEMORY;
    window->capacity = FIRST_BYTES;
    window->data = window->buffer;
    return 0;
}

void pf_window_open_memory(struct pf_window *window, const void *data, size_t bytes)
{
    *window = (struct pf_window){.data = data, .bytes = bytes, .can_skip = true};
}

void pf_window_close(struct pf_window *window)
{
    if (window->buffer)
        pf_free(window->allocator, window->buffer, window->capacity);
    *window = (struct pf_window){0};
}

void pf_window_reset(struct pf_window *window)
{
    if (!window->fill)
        return;
    window->offset = 0;
    window->bytes = 0;
}

void pf_window_skip_to(struct pf_window *window, uint64_t offset)
{
    if (offset - window->offset > window->bytes)
        window->ramp = RAMP_BYTES;
}

void pf_window_rest(struct pf_window *window)
{
    static const uint8_t nothing[1];
    if (!window->fill || !window->can_skip || !window->capacity)
        return;
    pf_free(window->allocator, window->buffer, window->capacity);
    window->buffer = NULL;
    window->data = nothing;
    window->capacity = window->bytes = 0;
}

/* Appends once; *got 0 means that there is no more. */
static int append(struct pf_window *window, size_t *got, struct perfile_error *error)
{
    size_t bytes = window->capacity - window->bytes;
    if (PF_UNLIKELY(window->ramp)) {
        bytes = pf_min(bytes, window->ramp);
        window->ramp = window->ramp < WINDOW_BYTES ? window->ramp * 4 : 0;
    }
    int result = window->fill(window->context, window->offset + window->bytes, window->buffer + window->bytes, bytes,
                              got, error);
    if (result == 0)
        window->bytes += *got;
    window->waits |= result == PERFILE_ERROR_AGAIN;
    return result;
}

/* Makes the window start at `offset`. False when the source ends before. */
static int start_at(struct pf_window *window, uint64_t offset, bool *reached, struct perfile_error *error)
{
    *reached = true;
    if (offset >= window->offset && offset - window->offset <= window->bytes) {
        size_t from = (size_t)(offset - window->offset);
        memmove(window->buffer, window->buffer + from, window->bytes - from);
        window->bytes -= from;
        window->offset = offset;
        return 0;
    }
    if (window->can_skip) {
        window->bytes = 0;
        window->offset = offset;
        return 0;
    }
    *reached = false;
    while (offset > window->offset + window->bytes) {
        window->offset += window->bytes;
        window->bytes = 0;
        size_t got;
        int result = append(window, &got, error);
        if (result < 0 || got == 0)
            return result;
    }
    return offset < window->offset ? 0 : start_at(window, offset, reached, error);
}

/* Also when what follows fails, the window is where its bytes are now. */
static bool widen(struct pf_window *window, size_t capacity)
{
    const bool fine = pf_grow(window->allocator, &window->buffer, &window->capacity, capacity, 1);
    window->data = window->buffer;
    return fine;
}

int pf_window_move(struct pf_window *window, uint64_t offset, size_t bytes, const uint8_t **piece, size_t *got,
                   struct perfile_error *error)
{
    *piece = window->data;
    *got = 0;
    if (!window->fill) {
        uint64_t from = offset - window->offset;
        if (from <= window->bytes) {
            *piece = window->data + from;
            *got = window->bytes - (size_t)from;
        }
        return 0;
    }
    if (!window->capacity && !widen(window, FIRST_BYTES))
        return pf_fail_memory(error, "window");
    uint64_t from = window->keep >= window->offset && window->keep < offset ? window->keep : offset;
    bool reached;
    int result = start_at(window, from, &reached, error);
    if (result < 0 || !reached)
        return result;
    size_t skip = (size_t)(offset - from);
    if (window->capacity < WINDOW_BYTES && !window->narrow && from >= window->capacity &&
        !widen(window, 4 * window->capacity))
        return pf_fail_memory(error, "window");
    while (window->bytes < skip + bytes) {
        /* a piece larger than the window: grow with what is really there, not with what was asked for */
        if (window->bytes == window->capacity && !widen(window, window->capacity + 1))
            return pf_fail_memory(error, "window");
        size_t more;
        result = append(window, &more, error);
        if (result < 0)
            return result;
        if (more == 0)
            break;
    }
    if (window->bytes > skip) {
        *piece = window->buffer + skip;
        *got = window->bytes - skip;
    }
    return 0;
}
