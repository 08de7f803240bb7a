/* SPDX-License-Identifier: MIT */
/*
 * Threads read processes, each a complete one, and the caller's thread writes the records in the order of the
 * processes. The threads allocate nothing: what they find goes into slots of fixed size. A thread whose slot is full
 * waits until the records of its process are being written.
 */
#ifndef PF_RECORD_MACHINE_WALK_H
#define PF_RECORD_MACHINE_WALK_H

#include "record/machine.h"
#include "record/machine_build_id.h"
#include "record/machine_files.h"

struct pf_walk;
struct pf_walk_slot;

/* What one thread works with. */
struct pf_walker {
    struct pf_walk *walk;
    struct pf_walk_slot *slot;
    _Alignas(8) char entries[32768]; /* of a folder */
    char file[65536];
    char path[PF_PATH_CAPACITY];
};

/* Everything the threads share. */
struct pf_walk {
    const struct pf_machine_options *options;
    const struct pf_synthesis *synthesis;
    int proc; /* the folder */
    int32_t *pids;
    size_t count;
    size_t capacity;
    struct pf_build_ids *build_ids;
    char huge[256];     /* where hugetlbfs is mounted, with a slash at the end, or empty */
    unsigned forbidden; /* processes whose mappings cannot be read; atomic */
    struct pf_team *team;
};

/* All processes. `first` synthesizes what comes before them, in the caller's thread, while the others read already. */
int pf_walk_all(struct pf_walk *walk, unsigned threads, int (*first)(struct pf_walk *walk, struct perfile_error *error),
                struct perfile_error *error);

/*
 * A record for the current process; `extra` is what its pointer at `pointer_at` of the struct points to. False: stop.
 */
struct pf_walk_item {
    uint32_t type;
    uint16_t misc;
    uint16_t bytes; /* of the struct */
    uint16_t pointer_at;
    const void *record;
    const void *extra;
    size_t extra_bytes;
};
bool pf_walk_put(struct pf_walker *walker, const struct pf_walk_item *item);

/* Reads one process. */
void pf_process_synthesize(struct pf_walker *walker, int32_t pid);
/* Its mappings, from the file that is open. */
void pf_maps_synthesize(struct pf_walker *walker, int process, int maps, int32_t pid);

#endif
