/* SPDX-License-Identifier: MIT */
/* Arrays that grow. */
#ifndef PF_CLI_ARRAY_H
#define PF_CLI_ARRAY_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * Makes the array at *pointer large enough for `count` elements of `bytes` bytes. False: out of memory, and the same.
 */
static inline bool pf_array_grow(void *pointer, size_t *capacity, size_t count, size_t bytes)
{
    const size_t more = count < 16 ? 16 : 2 * count;
    void *items;

    if (count <= *capacity)
        return true;
    memcpy(&items, pointer, sizeof(items));
    items = realloc(items, more * bytes);
    if (!items)
        return false;
    memcpy(pointer, &items, sizeof(items));
    *capacity = more;
    return true;
}

#endif
