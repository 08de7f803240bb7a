/* SPDX-License-Identifier: MIT */
/*
 * What used the CPUs: each moment of a CPU belongs to the interrupt, else the softirq, else the task that ran in it,
 * from sched:sched_switch, irq:irq_handler_entry and _exit, and irq:softirq_entry and _exit. One row is kept for each
 * task.
 *
 * As long as the running task of a CPU is not known (before its first switch, after lost events, and where a switch is
 * missing), the CPU's time is in no sum.
 */
#ifndef PF_ANALYSIS_EVENTS_KWORK_TOP_H
#define PF_ANALYSIS_EVENTS_KWORK_TOP_H

#include "analysis/events/fields.h"
#include "analysis/events/sort_keys.h"
#include "analysis/events/source.h"
#include "base/pairs.h"

extern const struct pf_required_events pf_kwork_top_events;

/* What a moment is spent on; in a sum they are times, ns. */
enum pf_kwork_use { PF_KWORK_TASK, PF_KWORK_IN_IRQ, PF_KWORK_IN_SOFTIRQ, PF_KWORK_USES };

struct pf_kwork_task {
    int32_t tid;
    uint32_t cpu; /* of the idle task; UINT32_MAX: one of several */
    char name[16];
    uint64_t times[PF_KWORK_USES];
    uint64_t share; /* of its CPUs' times, in 1/10000 of one CPU, each cut as perf does; when sorted */
    bool left_out;  /* by its name */
};

struct pf_kwork_top_cpu {
    uint64_t times[PF_KWORK_USES]; /* of all tasks */
    uint64_t idle;                 /* of that: of the idle task itself */
    uint64_t load;                 /* of the other ones, when sorted */
    uint32_t row;                  /* of the running task, plus 1; 0: not known */
    uint64_t since;                /* the last event of the run */
    uint64_t run[PF_KWORK_USES];   /* the times of that run */
    bool in_irq, in_softirq;
};

/* A task on one CPU. */
struct pf_kwork_part {
    uint32_t task, cpu;
    uint64_t run;
};

struct pf_kwork_top {
    struct perfile_reader *reader;
    const struct perfile_allocator *allocator;
    const char *classes; /* "sched,irq"; NULL: all */
    const char *name;    /* only tasks of this name; NULL: all */
    struct pf_sort_keys keys;
    struct pf_events events;
    struct pf_pairs index; /* thread id, and of the idle task the CPU, to the row; and row and CPU to the part */
    struct pf_kwork_task *tasks;
    size_t count, capacity;
    struct pf_pairs part_index;
    struct pf_kwork_part *parts;
    size_t part_count, part_capacity;
    struct pf_kwork_top_cpu *cpus;
    size_t cpu_count, cpu_capacity;
    uint64_t mismatches, lost, foreign;
};

void pf_kwork_top_open(struct pf_kwork_top *top, struct perfile_reader *reader,
                       const struct perfile_allocator *allocator);
void pf_kwork_top_close(struct pf_kwork_top *top);
/* False: out of memory. */
bool pf_kwork_top_take(struct pf_kwork_top *top, const struct pf_delivered *item);
/* Before anything is taken: what rows are sorted by, "rate,runtime,tid"; NULL: by their share. ARGUMENT. */
int pf_kwork_top_order(struct pf_kwork_top *top, const char *keys, struct perfile_error *error);
/* At the end. */
void pf_kwork_top_sort(struct pf_kwork_top *top);
void pf_kwork_top_notify(struct pf_kwork_top *top, pf_on_note *notify, void *context);

static inline uint64_t pf_kwork_top_total(const struct pf_kwork_top_cpu *cpu)
{
    return cpu->times[PF_KWORK_TASK] + cpu->times[PF_KWORK_IN_IRQ] + cpu->times[PF_KWORK_IN_SOFTIRQ];
}

#endif
