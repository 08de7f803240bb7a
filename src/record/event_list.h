/* SPDX-License-Identifier: MIT */
/* From the text of -e to attrs: what this machine's PMUs and tracepoints make of it. */
#ifndef PF_RECORD_EVENT_LIST_H
#define PF_RECORD_EVENT_LIST_H

#include <perfile/recorder.h>

#include "base/memory.h"

struct pf_listed_event {
    /* type, config*, bp_*, exclude_*, precise_ip, pinned, exclusive, aux_*, weights of :R: what the text says. Its
     * sample_period_or_freq is 1 where that is the custom (tracepoints, breakpoints, bpf-output), else 0. */
    struct perfile_attr attr;
    const char *name;   /* as perf names it in the recording */
    const char *cpus;   /* that its PMU has, "0,4"; NULL: any */
    const char *aux;    /* its PMU, if it writes AUX data; or NULL */
    const char *filter; /* of a tracepoint, or NULL */
    const char *unit;   /* or NULL */
    double scale;
    uint32_t position;        /* in the text, from 0; alike for all that a wildcard stands for */
    uint32_t leader;          /* index of the first event of its group; its own without a group */
    uint32_t cgroup;          /* where it counts: index in the list's, plus one; 0: everywhere */
    bool sample_read;         /* :S */
    bool weak;                /* :W: outside of its group when that cannot be scheduled */
    bool precise_max;         /* :P: as precise as the PMU can */
    bool exclude_is_explicit; /* a modifier of u, k, h: not to be changed when the system refuses the kernel */
    /* terms of the event itself, which come before the options of the recording */
    uint64_t period; /* 0: not given */
    uint64_t frequency;
    const char *branch_filter; /* branch_type=, as -j takes it; NULL: not given */
    const char *call_graph;    /* NULL: not given; "no" */
    uint32_t stack_bytes;      /* 0: not given */
    bool stack_is_usual;       /* the size of dumped stacks may be reduced */
    uint32_t max_stack;
    signed char inherit; /* -1 not given, 0, 1 */
    signed char time;
    signed char overwrite;
};

struct pf_cgroup {
    const char *path;
    int fd;
};

struct pf_event_list {
    const struct perfile_allocator *allocator;
    struct pf_arena arena; /* of all texts */
    struct pf_listed_event *items;
    size_t count;
    size_t capacity;
    struct pf_cgroup *cgroups;
    size_t cgroup_count, cgroup_capacity;
    uint32_t positions; /* events that the text has */
    size_t tracking;    /* the event that records maps, comms and tasks */
    uint32_t version;   /* PF_VERSION of the perf that is to read it; 0: any */
    bool overwrite;     /* the buffers are written backward, and read by snapshots */
    bool build_ids;     /* the records of mappings have build ids */
    bool has_aux;       /* an event writes AUX data */
    bool samples_aux;   /* samples have a part of it, and nothing else does */
    bool unwinds;       /* user stacks are dumped for the stage of the recorder only */
    bool mounted;       /* tracefs, which was not */
    const char *sysfs;  /* what to take for /sys; for tests */
};

void pf_event_list_open(struct pf_event_list *chosen, const struct perfile_allocator *allocator);
void pf_event_list_close(struct pf_event_list *chosen);
/*
 * Appends the events of a list; all or none. ARGUMENT: it cannot be understood (with the nearest names); ABSENT: no
 * such event here; UNSUPPORTED: a term that belongs to what is not recorded here; OPEN: tracefs cannot be read (with
 * what to do); LIMIT: too many events; MEMORY.
 */
int pf_event_list_parse(struct pf_event_list *chosen, const char *list, struct perfile_error *error);

#endif
