/* SPDX-License-Identifier: MIT */
/*
 * What was mapped where, per process, as the records MMAP, MMAP2, FORK and KSYMBOL go by.
 *
 * An address space is an immutable search tree: a new mapping makes a new tree that shares all but a few nodes with the
 * old one. So a fork shares its parent's tree by copying a pointer, and whoever holds a tree sees the mappings of that
 * moment for good: the tree itself is the key of the moment.
 */
#ifndef PF_MODEL_MAPS_H
#define PF_MODEL_MAPS_H

#include "base/heap.h"
#include "base/map.h"
#include "base/named_ids.h"

struct perfile_space; /* a node of the tree; the root represents the tree */

struct pf_maps {
    struct pf_arena arena;
    struct pf_arena retired;  /* the one before pf_maps_trim moved what was wanted of it */
    uint64_t bytes;           /* in the arena; ... */
    uint64_t trim_at;         /* ... when it is worth it to trim it */
    struct pf_map alive;      /* pid to how many of its threads are */
    struct pf_map ended;      /* pid to when it ended, or was asked for last */
    struct pf_map execs;      /* pid to how many maps were made before it executed its program */
    struct pf_map exec_times; /* pid to when it did */
    uint64_t now;             /* of the last record that has a time */
    uint64_t last_id;         /* of a tree */
    struct pf_map spaces;     /* pid to the root of its tree, a pointer; the kernel's is that of -1 */
    uint64_t random;          /* state of the priorities */
    uint32_t count;           /* maps made so far: their ids */
    uint64_t epoch;           /* nodes of this epoch are not shared: they may be changed in place */
    bool seen;                /* a caller may hold a tree: the next change starts a new epoch */
    struct pf_recent_space {
        const struct perfile_space *space;
        int32_t pid;
        bool known;
    } recent[16];               /* that were asked for, by the last bits of their pids */
    struct pf_heap later;       /* what pf_maps_add_later was given and does not hold yet */
    size_t later_count;         /* of all that it was given */
    uint64_t next_time;         /* when the next one comes to hold; UINT64_MAX: there is none */
    struct pf_named_ids stated; /* build ids of files; read with the first mapping */
    bool stated_known;
    struct pf_map overlaid; /* pids that have such maps: their anonymous memory is not followed */
};

void pf_maps_open(struct pf_maps *maps, const struct perfile_allocator *allocator);
void pf_maps_close(struct pf_maps *maps);
/* Their ids have no more numbers. */
static inline bool pf_maps_is_full(const struct pf_maps *maps)
{
    return maps->count == UINT32_MAX;
}
/* Why a function below has failed: LIMIT when they are full, or else MEMORY. */
int pf_maps_fail(const struct pf_maps *maps, struct perfile_error *error);
/* Takes over what the record says. False when it has failed. */
bool pf_maps_follow(struct pf_maps *maps, struct perfile_reader *reader, const struct perfile_record *record);
/* Adds a map that no record describes and that holds from `time` on. Errors as perfile_session_add_map. */
int pf_maps_add_later(struct pf_maps *maps, uint64_t time, const struct perfile_map *like, struct perfile_error *error);
/* Puts in what pf_maps_add_later was given for times up to `time`; to be called when that is not below next_time. */
bool pf_maps_advance(struct pf_maps *maps, uint64_t time);
/* The process `pid`, a key of the maps above, ended so long ago that its maps are not needed any more. */
bool pf_maps_is_over(const struct pf_maps *maps, uint64_t pid);
/* The maps of a tree in the order of their addresses; false as soon as `take` says so. */
bool pf_maps_walk(const struct perfile_space *space, bool (*take)(void *context, const struct perfile_map *map),
                  void *context);
/* A copy with a number of its own, and the text where it is; NULL when out of memory. */
struct perfile_map *pf_maps_copy(struct pf_maps *maps, const struct perfile_map *map);
/* Returns a tree of the maps of `space` and, after them, of `map`. NULL when out of memory. */
const struct perfile_space *pf_maps_append(struct pf_maps *maps, const struct perfile_space *space,
                                           const struct perfile_map *map);
/* The process has this space now. False when out of memory. */
bool pf_maps_set_space(struct pf_maps *maps, int32_t pid, const struct perfile_space *space);
/* As perfile_session_trim. */
bool pf_maps_trim(struct pf_maps *maps);
/* The address space of a process as it is now; NULL: nothing is mapped. */
const struct perfile_space *pf_maps_space(struct pf_maps *maps, int32_t pid);

#endif
