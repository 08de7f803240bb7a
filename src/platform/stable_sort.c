/* SPDX-License-Identifier: MIT */
/* Sorting for systems whose C library has no qsort_r, or a qsort that changes the order of equal items. */
#include <stdlib.h>
#include <string.h>

#include "platform/platform.h"

struct sorting {
    size_t bytes;
    int (*compare)(const void *a, const void *b, void *context);
    void *context;
};

/*
 * Merges the halves, each of which is sorted, of `to` through `from`. Of equal items the first stays first, as in
 * glibc.
 */
static void sort_range(const struct sorting *s, char *items, char *other, size_t count)
{
    const size_t half = count / 2;
    if (count < 2)
        return;
    sort_range(s, items, other, half);
    sort_range(s, items + half * s->bytes, other, count - half);
    memcpy(other, items, half * s->bytes);
    char *left = other, *right = items + half * s->bytes, *to = items;
    const char *left_end = other + half * s->bytes, *right_end = items + count * s->bytes;
    while (left < left_end) {
        const int takes_right = right < right_end && s->compare(left, right, s->context) > 0;
        memcpy(to, takes_right ? right : left, s->bytes);
        *(takes_right ? &right : &left) += s->bytes;
        to += s->bytes;
    }
}

static void exchange(char *a, char *b, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        const char byte = a[i];
        a[i] = b[i];
        b[i] = byte;
    }
}

/* Slow, and needs no memory. */
static void insertion_sort(const struct sorting *s, char *items, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (char *at = items + i * s->bytes; at > items && s->compare(at - s->bytes, at, s->context) > 0;
             at -= s->bytes)
            exchange(at - s->bytes, at, s->bytes);
}

void pf_platform_sort(void *items, size_t count, size_t bytes,
                      int (*compare)(const void *a, const void *b, void *context), void *context)
{
    const struct sorting s = {bytes, compare, context};
    char *other = count > 1 ? malloc((count / 2 + 1) * bytes) : NULL;
    if (other)
        sort_range(&s, items, other, count);
    else
        insertion_sort(&s, items, count);
    free(other);
}
