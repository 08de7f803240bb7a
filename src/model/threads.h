/* SPDX-License-Identifier: MIT */
/* The names of threads as the records COMM, FORK and EXIT go by. */
#ifndef PF_MODEL_THREADS_H
#define PF_MODEL_THREADS_H

#include "base/map.h"

/* Names are stored as numbers of a few bytes, because every thread that ever existed has one. */
enum { PF_THREADS_OF_PAGE = 64, PF_THREADS_RECENT = 256 };

struct pf_threads_recent {
    int32_t tid;
    const char *name; /* NULL: nothing cached */
};

struct pf_threads {
    struct pf_arena arena;
    struct pf_map pages; /* tid / PF_THREADS_OF_PAGE to the numbers of the names of these threads, a pointer */
    const char **names;  /* by number; 0: there is none */
    size_t name_count, name_capacity;
    struct pf_map texts;              /* hash of a name to its number */
    struct pf_map asked;              /* tid to ":TID", that was given instead of a name; 0: not since it has one */
    struct pf_map later;              /* such a ":TID" to the name that came later */
    size_t nameless_count;            /* of asked: threads that have no name yet, and may get one */
    struct pf_threads_recent *recent; /* by tid, PF_THREADS_RECENT of them; NULL: no name was asked for yet */
};

void pf_threads_open(struct pf_threads *threads, const struct perfile_allocator *allocator);
void pf_threads_close(struct pf_threads *threads);
/* Takes over what a COMM or FORK record says. False when out of memory. */
bool pf_threads_follow(struct pf_threads *threads, const struct perfile_reader *reader,
                       const struct perfile_record *record);
/* NULL when the thread has no name. Unlike pf_threads_name it does not note that the name was asked for. */
const char *pf_threads_known_name(const struct pf_threads *threads, int32_t tid);
/* All threads that have a name. */
void pf_threads_walk(const struct pf_threads *threads, void (*take)(void *context, uint32_t tid, const char *name),
                     void *context);
/* The thread has this name now. False when out of memory. */
bool pf_threads_set_name(struct pf_threads *threads, int32_t tid, const char *name);
/* The thread has ended: it has no name any more. */
void pf_threads_discard(struct pf_threads *threads, int32_t tid);
/* ":TID" when there is none. */
const char *pf_threads_name(struct pf_threads *threads, int32_t tid);
/* The first name that a thread got after its ":TID" was asked for; `name` itself for all that is no such text. */
const char *pf_threads_later_name(const struct pf_threads *threads, const char *name);

#endif
