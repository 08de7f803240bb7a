/* SPDX-License-Identifier: MIT */
/* What `trace -s` shows: calls added up by name, for each thread, process, control group, file, or all together. */
#ifndef PF_ANALYSIS_EVENTS_SYSCALL_STATS_H
#define PF_ANALYSIS_EVENTS_SYSCALL_STATS_H

#include "analysis/events/syscalls.h"
#include "base/pairs.h"
#include "analysis/stats.h"

enum pf_syscall_by { PF_CALLS_BY_THREAD, PF_CALLS_BY_PROCESS, PF_CALLS_BY_CGROUP, PF_CALLS_BY_FILE, PF_CALLS_TOTAL };

struct pf_syscall_errors {
    struct pf_syscall_errors *next; /* by number */
    uint32_t number;
    uint64_t count;
};

struct pf_syscall_row {
    uint32_t thread;           /* index, the first of a process; of the others UINT32_MAX */
    uint64_t group;            /* what is added up: a number of its kind */
    const char *path, *cgroup; /* of these; NULL: not known */
    int64_t fd;                /* BY_FILE, while its path is not known; -1: none */
    const struct pf_syscall *call;
    uint64_t number;
    enum pf_abi abi;
    uint64_t calls; /* that were left */
    uint64_t errors;
    struct pf_stats times; /* of those with a duration */
    struct pf_histogram histogram;
    uint64_t alone;     /* calls without a duration */
    uint64_t uncertain; /* of the times: around a loss */
    uint64_t uncertain_ns;
    uint64_t open;    /* entered, and not left before the end */
    uint64_t open_ns; /* the longest of these, up to the last event */
    struct pf_syscall_errors *by_error;
};

/* Events of a group, whatever call. */
struct pf_syscall_group {
    uint64_t group, events;
    uint64_t minor_faults, major_faults;
    uint32_t thread;
    const char *cgroup;
    size_t first, count; /* of the sorted rows */
};

struct pf_syscall_stats {
    struct pf_syscalls *syscalls;
    enum pf_syscall_by by;
    struct pf_arena arena;
    struct pf_pairs index; /* group and call to the row */
    struct pf_map group_index;
    struct pf_syscall_row **rows;
    size_t count, capacity;
    struct pf_syscall_group *groups;
    size_t group_count, group_capacity;
};

/* "thread", "process", "cgroup", "fd", "total"; NULL is "thread". False: none of these. */
bool pf_syscall_by_parse(const char *text, enum pf_syscall_by *by);

void pf_syscall_stats_open(struct pf_syscall_stats *stats, struct pf_syscalls *syscalls, enum pf_syscall_by by);
void pf_syscall_stats_close(struct pf_syscall_stats *stats);
/* What pf_syscalls_take has given. False: out of memory. */
bool pf_syscall_stats_take(struct pf_syscall_stats *stats, const struct pf_syscall_event *event);
/*
 * At the end, at the time of the last event: sorts rows by group as perf does, and by total time. False: out of memory.
 */
bool pf_syscall_stats_end(struct pf_syscall_stats *stats, uint64_t time);

#endif
