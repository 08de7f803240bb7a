/* SPDX-License-Identifier: MIT */
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/bytes.h"
#include "platform/platform.h"

enum { HUGE_PAGE_BYTES = 2 << 20 };

/* Large tables are read in no order: with small pages each look needs the page tables, too. */
static void *advise(void *pointer, size_t size)
{
#ifdef MADV_HUGEPAGE
    const uintptr_t page = HUGE_PAGE_BYTES, start = ((uintptr_t)pointer + page - 1) & ~(page - 1);
    if (pointer && size >= 2 * page)
        (void)madvise((void *)start, ((uintptr_t)pointer + size - start) & ~(page - 1), MADV_HUGEPAGE);
#else
    (void)size;
#endif
    return pointer;
}

static void *resize_with_malloc(void *context, void *pointer, size_t old, size_t size)
{
    (void)context;
    (void)old;
    if (size == 0) {
        free(pointer);
        return NULL;
    }
    return realloc(pointer, size);
}

static const struct perfile_allocator malloc_allocator = {NULL, resize_with_malloc};

const struct perfile_allocator *pf_allocator_or_default(const struct perfile_allocator *allocator)
{
    return allocator ? allocator : &malloc_allocator;
}

/* ---- watches ---- */

static void *resize_watched(void *context, void *pointer, size_t old, size_t size)
{
    struct pf_watch *watch = context;
    const int before = errno; /* malloc changes it also where it finds a way in the end */
    void *p = pf_resize(watch->below, pointer, old, size);
    errno = p || !size ? before : ENOMEM;
    if (!p && size)
        atomic_store(&watch->was_short, true);
    return p;
}

/* NULL: it is not a watch's. */
static struct pf_watch *watch_of(const struct perfile_allocator *allocator)
{
    return allocator->resize == resize_watched ? allocator->context : NULL;
}

void pf_watch_open(struct pf_watch *watch, const struct perfile_allocator *below)
{
    watch->allocator = (struct perfile_allocator){watch, resize_watched};
    watch->below = pf_allocator_or_default(below);
    atomic_init(&watch->was_short, false);
}

bool pf_memory_was_short(const struct perfile_allocator *allocator)
{
    struct pf_watch *watch = watch_of(allocator);
    return watch && atomic_load(&watch->was_short);
}

void pf_memory_note_short(const struct perfile_allocator *allocator)
{
    for (struct pf_watch *watch = watch_of(allocator); watch; watch = watch_of(watch->below))
        atomic_store(&watch->was_short, true);
}

bool pf_memory_note_failure(const struct perfile_allocator *allocator)
{
    const bool is_short = errno == ENOMEM;
    if (is_short)
        pf_memory_note_short(allocator);
    return is_short;
}

/* ---- blocks ---- */

bool pf_memory_is_malloc(const struct perfile_allocator *allocator)
{
    for (const struct pf_watch *watch; (watch = watch_of(allocator));)
        allocator = watch->below;
    return allocator == &malloc_allocator;
}

static void *new_with_malloc(const struct perfile_allocator *allocator, size_t size)
{
    void *p = size ? advise(calloc(1, size), size) : NULL;
    if (!p && size)
        pf_memory_note_short(allocator);
    return p;
}

void *pf_new(const struct perfile_allocator *allocator, size_t size)
{
    if (pf_memory_is_malloc(allocator)) /* fresh pages are zeroes */
        return new_with_malloc(allocator, size);
    void *p = allocator->resize(allocator->context, NULL, 0, size);
    if (p)
        memset(p, 0, size);
    return p;
}

void *pf_resize(const struct perfile_allocator *allocator, void *pointer, size_t old, size_t size)
{
    return allocator->resize(allocator->context, pointer, old, size);
}

void pf_give_back(const struct perfile_allocator *allocator)
{
    if (pf_memory_is_malloc(allocator))
        pf_platform_trim_memory();
}

void pf_free(const struct perfile_allocator *allocator, void *pointer, size_t size)
{
    if (pointer)
        allocator->resize(allocator->context, pointer, size, 0);
}

char *pf_text_copy(const struct perfile_allocator *allocator, const char *text, size_t bytes)
{
    char *copy = pf_new(allocator, bytes + 1);
    if (copy)
        memcpy(copy, text, bytes);
    return copy;
}

void pf_text_free(const struct perfile_allocator *allocator, char *text)
{
    if (text)
        pf_free(allocator, text, strlen(text) + 1);
}

char *pf_text_format_list(const struct perfile_allocator *allocator, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, arguments);
    char *text = length >= 0 ? pf_new(allocator, (size_t)length + 1) : NULL;
    if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    else
        errno = ENOMEM;
    va_end(again);
    return text;
}

char *pf_text_format(const struct perfile_allocator *allocator, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = pf_text_format_list(allocator, format, arguments);
    va_end(arguments);
    return text;
}

bool pf_grow(const struct perfile_allocator *allocator, void *pointer, size_t *capacity, size_t count, size_t bytes)
{
    if (count <= *capacity)
        return true;
    size_t wanted = *capacity < 8 ? 8 : *capacity;
    while (wanted < count) {
        if (wanted > SIZE_MAX / 2)
            return false;
        wanted *= 2;
    }
    uint64_t size;
    if (!pf_multiply(wanted, bytes, &size) || size > SIZE_MAX)
        return false;
    void *old;
    memcpy(&old, pointer, sizeof(old));
    void *p = pf_resize(allocator, old, *capacity * bytes, (size_t)size);
    if (!p)
        return false;
    memcpy(pointer, &p, sizeof(p));
    *capacity = wanted;
    return true;
}

bool pf_grow_zeroed(const struct perfile_allocator *allocator, void *pointer, size_t *capacity, size_t count,
                    size_t bytes)
{
    const size_t before = *capacity;
    char *items;
    if (!pf_grow(allocator, pointer, capacity, count, bytes))
        return false;
    memcpy(&items, pointer, sizeof(items));
    if (*capacity > before)
        memset(items + before * bytes, 0, (*capacity - before) * bytes);
    return true;
}

/* Each chunk is larger than the one before, up to ARENA_CHUNK: thousands of arenas may hold little. */
enum { ARENA_FIRST = 1024, ARENA_CHUNK = 16 * 1024, ARENA_ALIGN = 16 };

struct pf_arena_chunk {
    struct pf_arena_chunk *next;
    size_t size; /* of the block with this header */
    size_t used;
    size_t padding;
};

void pf_arena_open(struct pf_arena *arena, const struct perfile_allocator *allocator)
{
    arena->allocator = allocator;
    arena->chunk = NULL;
}

void pf_arena_close(struct pf_arena *arena)
{
    while (arena->chunk) {
        struct pf_arena_chunk *chunk = arena->chunk;
        arena->chunk = chunk->next;
        pf_free(arena->allocator, chunk, chunk->size);
    }
}

static struct pf_arena_chunk *add_chunk(struct pf_arena *arena, size_t size)
{
    size_t capacity = sizeof(struct pf_arena_chunk) + size;
    const size_t twice = arena->chunk ? pf_min(2 * arena->chunk->size, ARENA_CHUNK) : ARENA_FIRST;
    capacity = pf_max(capacity, twice);
    struct pf_arena_chunk *chunk = pf_resize(arena->allocator, NULL, 0, capacity);
    if (!chunk)
        return NULL;
    *chunk = (struct pf_arena_chunk){.next = arena->chunk, .size = capacity, .used = sizeof(*chunk)};
    arena->chunk = chunk;
    return chunk;
}

void *pf_arena_new(struct pf_arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
    struct pf_arena_chunk *chunk = arena->chunk;
    if (!chunk || chunk->size - chunk->used < size) {
        chunk = add_chunk(arena, size);
        if (!chunk)
            return NULL;
    }
    void *p = (char *)chunk + chunk->used;
    chunk->used += size;
    return memset(p, 0, size);
}

char *pf_arena_text(struct pf_arena *arena, const void *text, size_t bytes)
{
    char *copy = bytes < SIZE_MAX ? pf_arena_new(arena, bytes + 1) : NULL;
    if (copy && bytes)
        memcpy(copy, text, bytes);
    return copy;
}
