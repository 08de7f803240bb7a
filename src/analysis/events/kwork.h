/* SPDX-License-Identifier: MIT */
/*
 * Work of the kernel on each CPU: how often and how long it ran, and how long it waited. Interrupts are read from
 * irq:irq_handler_entry and _exit, softirqs from irq:softirq_raise, _entry and _exit, and works of workqueues from
 * workqueue:workqueue_activate_work, _execute_start and _execute_end. One row is kept for each of them on each CPU.
 */
#ifndef PF_ANALYSIS_EVENTS_KWORK_H
#define PF_ANALYSIS_EVENTS_KWORK_H

#include "analysis/events/fields.h"
#include "analysis/events/losses.h"
#include "analysis/events/sort_keys.h"
#include "analysis/events/source.h"
#include "analysis/profile.h"
#include "analysis/stats.h"
#include "base/pairs.h"

extern const struct pf_required_events pf_kwork_events;

enum pf_kwork_class { PF_KWORK_IRQ, PF_KWORK_SOFTIRQ, PF_KWORK_WORKQUEUE, PF_KWORK_CLASSES };

/*
 * What rows are sorted by: the total of runs, or the average of delays or of waits; then the longest and the count. A
 * list of keys may select some of these.
 */
enum pf_kwork_order { PF_KWORK_BY_RUN, PF_KWORK_BY_DELAY, PF_KWORK_BY_WAIT };

/* Durations, and when the longest was. */
struct pf_kwork_sums {
    struct pf_stats stats;
    struct pf_histogram histogram;
    uint64_t max_start, max_end;
};

struct pf_kwork_row {
    enum pf_kwork_class class;
    uint64_t id; /* number of the interrupt, vector, address of the work */
    uint32_t cpu;
    const char *name; /* "virtio3-tx", "RCU", "wb_workfn"; NULL: not known */
    uint64_t function;
    struct pf_kwork_sums runs;
    struct pf_kwork_sums delays; /* as perf has them: from the last raise on the same CPU */
    struct pf_kwork_sums waits;  /* from the first raise, of works on whatever CPU */
    uint64_t uncertain;          /* runs around lost events */
    /* of what is open; 0: nothing */
    uint64_t raise, entry, entry_order;
    uint64_t delay; /* of the open run */
    bool delayed;
};

/* A run that ended. */
struct pf_kwork_run {
    const struct pf_kwork_row *row;
    uint64_t start, end, delay;
    bool delayed;
    bool uncertain;
};

struct pf_kwork {
    struct perfile_reader *reader;
    const struct perfile_allocator *allocator;
    struct pf_profile *profile;
    const char *classes; /* "irq,softirq"; NULL: all */
    const char *name;    /* only work of this name; NULL: all */
    enum pf_kwork_order order;
    struct pf_sort_keys keys;
    struct pf_events events;
    struct pf_event_losses losses;
    struct pf_arena arena;
    struct pf_pairs index;  /* id, and class and CPU, to the row */
    struct pf_pairs raises; /* id, and class and CPU (of works none), to the index of the first raise */
    uint64_t *first_raises; /* 0: none is open */
    size_t raise_count, raise_capacity;
    struct pf_kwork_row **rows;
    size_t count, capacity;
    uint64_t first_time, last_time;                    /* of entries and exits; 0: none */
    uint64_t raises_alone, entries_alone, exits_alone; /* replaced, or left without their other part */
    uint64_t entries_unraised;                         /* of perf: entries without a raise, also of interrupts */
};

void pf_kwork_open(struct pf_kwork *kwork, struct perfile_reader *reader, const struct perfile_allocator *allocator);
void pf_kwork_close(struct pf_kwork *kwork);
bool pf_kwork_take_record(void *kwork, const struct perfile_record *record);
/* 1: *run ended; 0, or PERFILE_ERROR_MEMORY. */
int pf_kwork_take(struct pf_kwork *kwork, const struct pf_profile_sample *sample, struct pf_kwork_run *run);
/* Before anything is taken: what pf_kwork_sort does. `keys`: "max,count"; NULL: as perf sorts them. ARGUMENT. */
int pf_kwork_order(struct pf_kwork *kwork, enum pf_kwork_order order, const char *keys, struct perfile_error *error);
/* At the end: only rows of the name that was asked for, by waits only those that have some. */
void pf_kwork_sort(struct pf_kwork *kwork);
void pf_kwork_notify(struct pf_kwork *kwork, pf_on_note *notify, void *context);
/* "irq", "softirq", "workqueue". */
const char *pf_kwork_class_name(enum pf_kwork_class class);
/* As perf calls it: "(s)RCU:9". */
void pf_kwork_label(const struct pf_kwork_row *row, char *text, size_t capacity);

#endif
