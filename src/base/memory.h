/* SPDX-License-Identifier: MIT */
/* Memory through the caller's allocator: single blocks, growing arrays, and arenas whose memory is released at once. */
#ifndef PF_BASE_MEMORY_H
#define PF_BASE_MEMORY_H

#include <stdarg.h>
#include <stdatomic.h>

#include <perfile/perfile.h>

/* An allocator that is never NULL: malloc's when the caller gave none. */
const struct perfile_allocator *pf_allocator_or_default(const struct perfile_allocator *allocator);

/*
 * An allocator that remembers whether memory was ever short. Code that works with it may continue without what it could
 * not allocate, and need not report that: the owner of the watch checks once, before it delivers any result.
 */
struct pf_watch {
    struct perfile_allocator allocator; /* to be handed on; for any thread that `below` is for */
    const struct perfile_allocator *below;
    atomic_bool was_short;
};

/* `below` NULL: malloc's. The watch must not move while it is used. */
void pf_watch_open(struct pf_watch *watch, const struct perfile_allocator *below);
/* Out of memory; false too of an allocator that is not a watch's. */
bool pf_memory_was_short(const struct perfile_allocator *allocator);
/* Memory that was asked for elsewhere was short: by the C library, or by another one. All watches below note it, too. */
void pf_memory_note_short(const struct perfile_allocator *allocator);
/* The same if that is why a call of another library has just failed, which leaves ENOMEM in errno; true when it is. */
bool pf_memory_note_failure(const struct perfile_allocator *allocator);

/* What a call has returned that has an allocator of its own: PERFILE_ERROR_MEMORY is noted. */
static inline int pf_memory_check(const struct perfile_allocator *allocator, int result)
{
    if (result == PERFILE_ERROR_MEMORY)
        pf_memory_note_short(allocator);
    return result;
}

/* Whether the memory comes from malloc in the end, which any number of threads may call. */
bool pf_memory_is_malloc(const struct perfile_allocator *allocator);

/* `size` zeroed bytes, or NULL. */
void *pf_new(const struct perfile_allocator *allocator, size_t size);
/* Changes the size of a block to `size` bytes and keeps its contents; NULL leaves the old block alone. */
void *pf_resize(const struct perfile_allocator *allocator, void *pointer, size_t old, size_t size);
void pf_free(const struct perfile_allocator *allocator, void *pointer, size_t size);
/* What was freed goes back to the system as far as it can: worth it when much was, and much else comes. */
void pf_give_back(const struct perfile_allocator *allocator);

/* A copy of `bytes` of text with a NUL after them, or NULL; pf_text_free also accepts NULL. */
char *pf_text_copy(const struct perfile_allocator *allocator, const char *text, size_t bytes);
void pf_text_free(const struct perfile_allocator *allocator, char *text);
/* Text as printf makes it, to be ended likewise. NULL: out of memory, which errno says, too (ENOMEM). */
char *pf_text_format(const struct perfile_allocator *allocator, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *pf_text_format_list(const struct perfile_allocator *allocator, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/*
 * Grows the array at *pointer to at least `count` elements of `bytes` bytes, doubling *capacity.
 * False when out of memory; the array then is as before.
 */
bool pf_grow(const struct perfile_allocator *allocator, void *pointer, size_t *capacity, size_t count, size_t bytes);
/* The same; the elements that the array had no capacity for are zero. */
bool pf_grow_zeroed(const struct perfile_allocator *allocator, void *pointer, size_t *capacity, size_t count,
                    size_t bytes);
/* Whether an array that grows so has an element at `index`; false when out of memory. Then that element, or NULL. */
#define PF_HAS_ELEMENT(allocator, items, capacity, index)                                                              \
    ((size_t)(index) < (capacity) ||                                                                                   \
     pf_grow_zeroed(allocator, &(items), &(capacity), (size_t)(index) + 1, sizeof(*(items))))
#define PF_ELEMENT(allocator, items, capacity, index)                                                                  \
    (PF_HAS_ELEMENT(allocator, items, capacity, index) ? &(items)[index] : NULL)
/* Adds an element after the others of such an array; false when out of memory. */
#define PF_APPEND(allocator, items, count, capacity, ...)                                                              \
    (pf_grow(allocator, &(items), &(capacity), (count) + 1, sizeof(*(items))) &&                                       \
     ((void)((items)[(count)++] = __VA_ARGS__), true))

struct pf_arena_chunk;
struct pf_arena {
    const struct perfile_allocator *allocator;
    struct pf_arena_chunk *chunk; /* the one that is filled; older ones are linked from it */
};

void pf_arena_open(struct pf_arena *arena, const struct perfile_allocator *allocator);
void pf_arena_close(struct pf_arena *arena);
/* 16-byte aligned, zeroed; NULL when out of memory. */
void *pf_arena_new(struct pf_arena *arena, size_t size);
/* A copy with a NUL after it. */
char *pf_arena_text(struct pf_arena *arena, const void *text, size_t bytes);

#endif
