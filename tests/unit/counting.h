/* SPDX-License-Identifier: MIT */
/* An allocator that counts, checks the sizes that it gets, moves every block, and fails when it is asked to. */
#ifndef PF_TESTS_COUNTING_H
#define PF_TESTS_COUNTING_H

#include "made.h"

struct counting {
    struct perfile_allocator allocator; /* hand out its address */
    size_t live_bytes;
    size_t max_bytes; /* that it ever was */
    size_t blocks;
    int left; /* allocations that still succeed; negative: all do */
};

/* Every block moves, and what was freed reads as 0xa5: a pointer that was kept too long shows at once. */
static inline void *counting_move(void *pointer, size_t old, size_t size)
{
    void *moved = size ? malloc(size) : NULL;
    assert_true(moved || !size);
    if (!pointer)
        return moved;
    if (moved)
        memcpy(moved, pointer, old < size ? old : size);
    memset(pointer, 0xa5, old);
    free(pointer);
    return moved;
}

static inline void *counting_resize(void *context, void *pointer, size_t old, size_t size)
{
    struct counting *c = context;
    assert_int_equal(pointer ? old != 0 : old, pointer ? 1 : 0);
    if (size != 0 && c->left == 0)
        return NULL;
    c->left -= c->left > 0 && size != 0;
    c->live_bytes += size - old;
    c->max_bytes = c->live_bytes > c->max_bytes ? c->live_bytes : c->max_bytes;
    c->blocks += (size_t)(pointer == NULL && size != 0) - (size_t)(pointer != NULL && size == 0);
    return counting_move(pointer, old, size);
}

static inline void counting_open(struct counting *c, int left)
{
    *c = (struct counting){.allocator = {c, counting_resize}, .left = left};
}

/* Everything was given back, with the right sizes. */
static inline void counting_close(const struct counting *c)
{
    assert_int_equal(c->blocks, 0);
    assert_int_equal(c->live_bytes, 0);
}

/*
 * Calls `run` with memory for no allocation, for one and so on until it succeeds: before that it says that memory was
 * missing. How often it was called; it fails above `most`.
 */
static inline int counting_exhaust(int (*run)(void *context, const struct perfile_allocator *allocator), void *context,
                                   int most)
{
    int left = 0;
    for (int result = PERFILE_ERROR_MEMORY; result < 0; left++) {
        struct counting memory;
        counting_open(&memory, left);
        result = run(context, &memory.allocator);
        assert_true(result >= 0 || (result == PERFILE_ERROR_MEMORY && left < most));
        counting_close(&memory);
    }
    return left;
}

#endif
