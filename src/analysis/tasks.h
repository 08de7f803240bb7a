/* SPDX-License-Identifier: MIT */
/* The processes and threads of a recording, and which of them started which. */
#ifndef PF_ANALYSIS_TASKS_H
#define PF_ANALYSIS_TASKS_H

#include <perfile/perfile.h>

#include "base/map.h"

struct pf_task {
    int32_t pid, tid;
    int32_t ppid;                    /* thread that started it; -1: not known */
    int32_t parent_pid;              /* the process of that; -1: not known */
    const char *comm;                /* last; NULL: not known */
    const char *first_comm;          /* what it was called at first; NULL: not known */
    uint64_t start, end;             /* FORK and EXIT, ns; 0: not known */
    uint64_t samples, lost;          /* counted by the caller */
    uint64_t first_time, last_time;  /* of its samples */
    bool timed;                      /* they are known */
    bool earlier;                    /* its id was used again */
    unsigned level;                  /* of starters above it; 0: the idle task */
    uint32_t parent, child, sibling; /* index among the tasks plus one, 0: none */
    bool listed;
};

/* A mapping that a process had at its end, or at that of the recording. */
struct pf_task_map {
    uint64_t start, end, pgoff, inode;
    uint32_t prot, flags;
    const char *filename;
};

struct pf_tasks {
    struct perfile_reader *reader;
    const struct perfile_allocator *allocator;
    struct pf_arena arena;
    struct pf_map positions; /* by thread id */
    struct pf_map others;    /* by process and thread id: threads that samples put into another process */
    struct pf_map comms;     /* hash of a name to the name */
    struct pf_task *tasks;
    size_t count, capacity;
    uint64_t replaced;  /* their ids were used again: they are among the tasks, but not in the order */
    bool idle_reported; /* records name the idle task, which is the first one */
    bool wants_maps;    /* to be set before the recording is read */
    struct pf_task_map *maps;
    size_t map_count, map_capacity;
    struct pf_map first_maps; /* by process id: the first of its mappings, and in the upper half their number */
    uint32_t *order;          /* each task after the one that started it, by thread id */
    size_t order_count, order_capacity;
};

/*
 * Reads the recording to its end, and lists what came before an error, too. Returns 0, an error of the reader, or
 * MEMORY. Close it also then.
 */
int pf_tasks_open(struct pf_tasks *tasks, struct perfile_reader *reader, const struct perfile_allocator *allocator,
                  bool wants_maps, struct perfile_error *error);
/* The mappings of the process of a task, by address. */
const struct pf_task_map *pf_tasks_maps(const struct pf_tasks *tasks, const struct pf_task *task, size_t *count);
void pf_tasks_close(struct pf_tasks *tasks);

/* The same record by record, without `order`: false when out of memory. Close it also then. */
bool pf_tasks_begin(struct pf_tasks *tasks, struct perfile_reader *reader, const struct perfile_allocator *allocator);
/* The next record in the order of time. */
bool pf_tasks_take(struct pf_tasks *tasks, const struct perfile_record *record);
/* Finds or makes the task of a thread that a record names; it is valid until the next call. NULL: out of memory. */
struct pf_task *pf_tasks_of(struct pf_tasks *tasks, int32_t pid, int32_t tid);

#endif
