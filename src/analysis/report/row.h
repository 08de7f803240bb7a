/* SPDX-License-Identifier: MIT */
/* Rows of reports: what they have in common, what they weigh, and the events that they are of. */
#ifndef PF_ANALYSIS_REPORT_ROW_H
#define PF_ANALYSIS_REPORT_ROW_H

#include <perfile/perfile.h>

/* What rows of one key have in common. What no column takes is 0. */
struct pf_report_key {
    const char *comm;
    uint32_t event; /* always: its index */
    int32_t pid;
    int32_t tid;
    uint32_t cpu;
};

struct pf_report_row {
    uint32_t key;        /* in pf_report.keys */
    uint32_t frame;      /* one of those that are the same to the columns; PF_NO_SYMBOL: no column takes any */
    uint32_t first;      /* the node in the tree that was there first */
    uint32_t nodes;      /* all its nodes, linked; 0 before the first */
    uint32_t parts;      /* in pf_report.parts: what it weighs for each member of its group, and by mode */
    uint32_t level : 8;  /* as perf marks it: k kernel, . user, g guest kernel, u guest user, H hypervisor */
    uint32_t depth : 24; /* of its longest stack: 8,192 addresses, of 65 functions each, are the most */
    uint64_t children;   /* period of the samples that have the frame anywhere in their stack */
    uint64_t self;       /* period of the samples that were in it */
    uint64_t samples;    /* how many of those */
};

/* Parts of what a sample cost: three weights, and its branches. */
enum {
    PF_COST_BRANCHES = 3, /* how many ... */
    PF_COST_PREDICTED,    /* ... of which so many were predicted */
    PF_COST_ABORTS,       /* ... of which so many aborted a transaction */
    PF_COST_CYCLES,       /* before all of them */
    PF_REPORT_COSTS
};

/* Classes of accesses, of all groups. */
enum pf_report_class {
#define PF_ACCESS_CLASS(group, id, ...) PF_CLASS_##group##_##id,
#include "analysis/report/access_classes.def"
    PF_REPORT_CLASSES
};

/* What the samples in one frame cost. */
struct pf_report_cost {
    uint32_t key, frame;
    uint64_t sums[PF_REPORT_COSTS];
};

/* What a row weighs for one event: of a group, or itself when a column asks for modes. */
struct pf_report_part {
    uint64_t children, self, samples;
    uint64_t sys, us, guest_sys, guest_us; /* of self, by mode; only with such a column */
    uint64_t costs[PF_REPORT_COSTS];       /* sums of the samples'; the same */
    uint64_t latency, latency_children;    /* self and children, divided by parallelism; the same */
    uint32_t nodes;                        /* of the event's own row */
};

/* Of the hierarchy: what rows that agree in their first columns weigh together. */
struct pf_report_entry {
    struct pf_report_row row; /* sums; without nodes, and all else is that of its first row */
    uint32_t parent;          /* while the hierarchy is made */
    uint32_t level;
    uint32_t first; /* row of the event, which is the first one below it */
};

/* Events that were recorded together, the leader first. */
struct pf_report_group {
    uint32_t first, count; /* indices of the events */
    uint32_t shown;        /* how many of them have samples */
    size_t members;        /* which, in pf_report.members */
    const char *name;      /* NULL: made by --group */
};

struct pf_report_event {
    const struct perfile_event *event; /* NULL: no sample */
    uint64_t samples;                  /* all but those of other times, processors or events */
    uint64_t period;                   /* of these; what percentages are of */
    uint64_t latency;                  /* the same of latencies; 0: no column asks for them */
    uint32_t classes;                  /* bits of the classes of its accesses; 0: no column asks for them */
    struct pf_report_row *rows;        /* in the order of the table */
    size_t row_count;
    size_t left_out;                     /* rows after these, which were too many */
    size_t first_entry, entry_count;     /* of the hierarchy, in pf_report.entries */
    const struct pf_report_group *group; /* that shares a table, or NULL */
    uint32_t position;                   /* among those of the group that are shown */
};

#endif
