/* SPDX-License-Identifier: MIT */
#include "model/threads.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"

void pf_threads_open(struct pf_threads *threads, const struct perfile_allocator *allocator)
{
    *threads = (struct pf_threads){.last_tid = 0};
    pf_arena_open(&threads->arena, allocator);
    pf_map_open(&threads->names, allocator);
    pf_map_open(&threads->texts, allocator);
    pf_map_open(&threads->asked, allocator);
    pf_map_open(&threads->later, allocator);
}

void pf_threads_close(struct pf_threads *threads)
{
    pf_arena_close(&threads->arena);
    pf_map_close(&threads->names);
    pf_map_close(&threads->texts);
    pf_map_close(&threads->asked);
    pf_map_close(&threads->later);
}

static const char *known_text(const struct pf_threads *threads, const char *text)
{
    uint64_t found;
    const bool known =
        pf_map_get(&threads->texts, pf_hash_text(text), &found) && strcmp((const char *)(uintptr_t)found, text) == 0;
    return known ? (const char *)(uintptr_t)found : NULL;
}

/* The one copy of a text; NULL when out of memory. */
static const char *intern(struct pf_threads *threads, const char *text)
{
    const uint64_t hash = pf_hash_text(text);
    const char *known = known_text(threads, text);
    if (known)
        return known;
    const char *copy = pf_arena_text(&threads->arena, text, strlen(text));
    return copy && pf_map_put(&threads->texts, hash, (uintptr_t)copy) ? copy : NULL;
}

static const char *known_name(const struct pf_threads *threads, int32_t tid)
{
    uint64_t name;
    if (pf_map_get(&threads->names, (uint32_t)tid, &name) && name)
        return (const char *)(uintptr_t)name;
    return tid == 0 ? "swapper" : NULL; /* the idle thread of each CPU */
}

static bool set_name(struct pf_threads *threads, int32_t tid, const char *name)
{
    if (tid == threads->last_tid)
        threads->last_name = NULL;
    return pf_map_put(&threads->names, (uint32_t)tid, (uintptr_t)name);
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
        const char *name = intern(threads, r.comm.comm);
        return name && settle(threads, r.comm.tid, name) && set_name(threads, r.comm.tid, name);
    }
    return r.fork.tid == r.fork.ptid ||
           (settle(threads, r.fork.tid, NULL) && set_name(threads, r.fork.tid, known_name(threads, r.fork.ptid)));
}

const char *pf_threads_known_name(const struct pf_threads *threads, int32_t tid)
{
    return known_name(threads, tid);
}

bool pf_threads_set_name(struct pf_threads *threads, int32_t tid, const char *name)
{
    const char *text = name ? intern(threads, name) : NULL;
    return (text || !name) && set_name(threads, tid, text);
}

bool pf_threads_forget(struct pf_threads *threads, int32_t tid)
{
    return set_name(threads, tid, NULL);
}

const char *pf_threads_name(struct pf_threads *threads, int32_t tid)
{
    if (PF_LIKELY(threads->last_name && tid == threads->last_tid))
        return threads->last_name;
    const char *name = known_name(threads, tid);
    if (!name) {
        char text[16];
        uint64_t asked;
        const bool waits = pf_map_get(&threads->asked, (uint32_t)tid, &asked) && asked;
        snprintf(text, sizeof(text), ":%" PRId32, tid);
        name = intern(threads, text);
        if (!name || !pf_map_put(&threads->asked, (uint32_t)tid, (uintptr_t)name))
            return ":?";
        threads->nameless_count += !waits && tid > 0;
    }
    threads->last_tid = tid;
    threads->last_name = name;
    return name;
}

const char *pf_threads_later_name(const struct pf_threads *threads, const char *name)
{
    uint64_t later;
    const char *known = name[0] == ':' ? known_text(threads, name) : NULL;
    return known && pf_map_get(&threads->later, (uintptr_t)known, &later) ? (const char *)(uintptr_t)later : name;
}
