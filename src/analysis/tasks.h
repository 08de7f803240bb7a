/* SPDX-License-Identifier: MIT */
/* Which processes and threads a recording knows of, and who started whom. */
#ifndef PF_ANALYSIS_TASKS_H
#define PF_ANALYSIS_TASKS_H

#include <perfile/perfile.h>

#include "base/map.h"

struct pf_task {
    int32_t pid, tid;
    int32_t ppid;                    /* thread that started it; -1: not known */
    const char *comm;                /* last; NULL: not known */
    unsigned level;                  /* of starters above it; 0: the idle task */
    uint32_t parent, child, sibling; /* places among the tasks plus one, 0: none */
    bool listed;
};

struct pf_tasks {
    struct perfile_reader *reader;
    const struct perfile_allocator *allocator;
    struct pf_arena arena;
    struct pf_map places; /* by thread id */
    struct pf_task *tasks;
    size_t count, room;
    uint64_t replaced; /* their ids were used again */
    uint32_t *order;   /* each task behind the one that started it, by thread id */
    size_t order_count, order_room;
};

/*
 * Reads the whole recording, and lists what came before an error, too. 0, an error of the reader, MEMORY. Close it also
 * then.
 */
int pf_tasks_open(struct pf_tasks *tasks, struct perfile_reader *reader, const struct perfile_allocator *allocator,
                  struct perfile_error *error);
void pf_tasks_close(struct pf_tasks *tasks);

#endif
