/* SPDX-License-Identifier: MIT */
#include "model/threads.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"

void pf_threads_open(struct pf_threads *threads, const struct perfile_allocator *allocator)
{
    *threads = (struct pf_threads){.name_count = 1};
    pf_arena_open(&threads->arena, allocator);
    pf_map_open(&threads->pages, allocator);
    pf_map_open(&threads->texts, allocator);
    pf_map_open(&threads->asked, allocator);
    pf_map_open(&threads->later, allocator);
}

void pf_threads_close(struct pf_threads *threads)
{
    pf_free(threads->arena.allocator, threads->names, threads->name_capacity * sizeof(*threads->names));
    pf_free(threads->arena.allocator, threads->recent, PF_THREADS_RECENT * sizeof(*threads->recent));
    threads->names = NULL;
    threads->recent = NULL;
    threads->name_capacity = 0;
    threads->name_count = 1;
    pf_arena_close(&threads->arena);
    pf_map_close(&threads->pages);
    pf_map_close(&threads->texts);
    pf_map_close(&threads->asked);
    pf_map_close(&threads->later);
}

/* ---- texts ---- */

/* The number of a text; 0: it has none. */
static uint32_t known_text(const struct pf_threads *threads, const char *text)
{
    uint64_t found;
    const bool known =
        pf_map_get(&threads->texts, pf_hash_text(text), &found) && strcmp(threads->names[found], text) == 0;
    return known ? (uint32_t)found : 0;
}

/* That of the one copy of a text; 0 when out of memory. */
static uint32_t intern(struct pf_threads *threads, const char *text)
{
    const uint32_t known = known_text(threads, text);
    const size_t number = threads->name_count;
    if (known || number >= UINT32_MAX ||
        !pf_grow(threads->arena.allocator, &threads->names, &threads->name_capacity, number + 1,
                 sizeof(*threads->names)))
        return known;
    threads->names[number] = pf_arena_text(&threads->arena, text, strlen(text));
    if (!threads->names[number] || !pf_map_put(&threads->texts, pf_hash_text(text), number))
        return 0;
    threads->name_count++;
    return (uint32_t)number;
}

/* ---- names ---- */

/* The number of its name; NULL: no thread of its page has one. */
static uint32_t *position_of(const struct pf_threads *threads, int32_t tid)
{
    uint64_t page;
    if (!pf_map_get(&threads->pages, (uint32_t)tid / PF_THREADS_OF_PAGE, &page))
        return NULL;
    return (uint32_t *)(uintptr_t)page + (uint32_t)tid % PF_THREADS_OF_PAGE;
}

static const char *known_name(const struct pf_threads *threads, int32_t tid)
{
    const uint32_t *position = position_of(threads, tid);
    if (position && *position)
        return threads->names[*position];
    return tid == 0 ? "swapper" : NULL; /* the idle thread of each CPU */
}

static bool set_name(struct pf_threads *threads, int32_t tid, uint32_t number)
{
    uint32_t *position = position_of(threads, tid);
    if (threads->recent)
        threads->recent[(uint32_t)tid % PF_THREADS_RECENT].name = NULL;
    if (!position && number) {
        uint32_t *page = pf_arena_new(&threads->arena, PF_THREADS_OF_PAGE * sizeof(*page));
        if (!page || !pf_map_put(&threads->pages, (uint32_t)tid / PF_THREADS_OF_PAGE, (uintptr_t)page))
            return false;
        position = page + (uint32_t)tid % PF_THREADS_OF_PAGE;
    }
    if (position)
        *position = number;
    return true;
}

/* A new thread has the name of its parent. */
static bool take_name(struct pf_threads *threads, int32_t tid, int32_t parent)
{
    const uint32_t *position = position_of(threads, parent);
    const char *name = position && *position ? NULL : known_name(threads, parent);
    const uint32_t number = name ? intern(threads, name) : position ? *position : 0;
    return (number || !name) && set_name(threads, tid, number);
}

/*
 * What was asked for by ":TID" is the thread that gets this name, as in perf; or, when a new thread begins with it, an
 * earlier one that never had any.
 */
static bool settle(struct pf_threads *threads, int32_t tid, const char *name)
{
    uint64_t asked, known;
    if (PF_LIKELY(!pf_map_get(&threads->asked, (uint32_t)tid, &asked) || !asked))
        return true;
    threads->nameless_count -= threads->nameless_count > 0;
    return pf_map_put(&threads->asked, (uint32_t)tid, 0) &&
           (pf_map_get(&threads->later, asked, &known) ||
            pf_map_put(&threads->later, asked, name ? (uintptr_t)name : asked));
}

bool pf_threads_follow(struct pf_threads *threads, const struct perfile_reader *reader,
                       const struct perfile_record *record)
{
    union {
        struct perfile_comm comm;
        struct perfile_fork fork;
    } r;
    if (record->damaged || perfile_record_decode(reader, record, &r, sizeof(r), NULL) < 0)
        return true;
    if (record->type == PERFILE_RECORD_COMM) {
        const uint32_t name = intern(threads, r.comm.comm);
        return name && settle(threads, r.comm.tid, threads->names[name]) && set_name(threads, r.comm.tid, name);
    }
    return r.fork.tid == r.fork.ptid ||
           (settle(threads, r.fork.tid, NULL) && take_name(threads, r.fork.tid, r.fork.ptid));
}

const char *pf_threads_known_name(const struct pf_threads *threads, int32_t tid)
{
    return known_name(threads, tid);
}

void pf_threads_walk(const struct pf_threads *threads, void (*take)(void *context, uint32_t tid, const char *name),
                     void *context)
{
    for (size_t i = 0; i < threads->pages.size; i++) {
        const struct pf_map_slot *slot = &threads->pages.slots[i];
        const uint32_t *page = slot->value ? (const uint32_t *)(uintptr_t)(slot->value - 1) : NULL;
        for (uint32_t k = 0; page && k < PF_THREADS_OF_PAGE; k++)
            if (page[k])
                take(context, (uint32_t)slot->key * PF_THREADS_OF_PAGE + k, threads->names[page[k]]);
    }
}

bool pf_threads_set_name(struct pf_threads *threads, int32_t tid, const char *name)
{
    const uint32_t number = name ? intern(threads, name) : 0;
    return (number || !name) && set_name(threads, tid, number);
}

void pf_threads_discard(struct pf_threads *threads, int32_t tid)
{
    (void)set_name(threads, tid, 0); /* which needs no memory */
}

const char *pf_threads_name(struct pf_threads *threads, int32_t tid)
{
    if (PF_UNLIKELY(!threads->recent))
        threads->recent = pf_new(threads->arena.allocator, PF_THREADS_RECENT * sizeof(*threads->recent));
    struct pf_threads_recent *recent = threads->recent ? &threads->recent[(uint32_t)tid % PF_THREADS_RECENT] : NULL;
    if (PF_LIKELY(recent && recent->name && tid == recent->tid))
        return recent->name;
    const char *name = known_name(threads, tid);
    if (!name) {
        char text[16];
        uint64_t asked;
        const bool waits = pf_map_get(&threads->asked, (uint32_t)tid, &asked) && asked;
        snprintf(text, sizeof(text), ":%" PRId32, tid);
        const uint32_t number = intern(threads, text);
        name = number ? threads->names[number] : NULL;
        if (!name || !pf_map_put(&threads->asked, (uint32_t)tid, (uintptr_t)name))
            return ":?";
        threads->nameless_count += !waits && tid > 0;
    }
    if (recent)
        *recent = (struct pf_threads_recent){tid, name};
    return name;
}

const char *pf_threads_later_name(const struct pf_threads *threads, const char *name)
{
    uint64_t later;
    const uint32_t known = name[0] == ':' ? known_text(threads, name) : 0;
    return known && pf_map_get(&threads->later, (uintptr_t)threads->names[known], &later)
               ? (const char *)(uintptr_t)later
               : name;
}
