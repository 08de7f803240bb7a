/* SPDX-License-Identifier: MIT */
/* What the scheduler did, read from a recording: its events in order of time, and the sums that several views show. */
#ifndef PF_ANALYSIS_EVENTS_SCHED_H
#define PF_ANALYSIS_EVENTS_SCHED_H

#include <perfile/analysis.h>

#include "analysis/events/sort_keys.h"
#include "analysis/events/switches.h"
#include "analysis/profile.h"
#include "analysis/stats.h"
#include "base/ahead.h"

struct pf_sched_options {
    const struct perfile_allocator *allocator;
    const struct perfile_filter *filter; /* of tasks, CPUs and time, to which intervals are cut; NULL: all */
    void (*progress)(void *context, uint64_t done, uint64_t total); /* may be NULL */
    void *progress_context;
    unsigned threads; /* with more than 1, one may read ahead for a caller that reads up to the end; 0 is 1 */
    const struct perfile_symbol_options *symbols; /* of the stacks of switches; NULL: those are not asked for */
    size_t max_frames;                            /* of them; 0: all */
    bool with_priorities;                         /* of tasks at switches */
    const char *priorities;                       /* rows of runs that began with these: "0-99,120"; NULL: all */
};

/* The events of a recording with the stacks of its samples. */
struct pf_sched_stacks {
    struct pf_profile *profile; /* NULL: there are none */
    struct pf_switch *events;   /* of the records since the last sample */
    size_t count, next, capacity;
    bool of_sample;         /* the last of them is that of the last record, a sample */
    const uint32_t *frames; /* of that sample */
    size_t sample_frame_count;
    size_t frame_count; /* of the event in hand: none, or these */
    int result;         /* after the events: 0 at the end, or an error */
    struct perfile_error error;
};

enum { PF_SCHED_PRIORITIES = 140 };

/* All zeros may be closed, too. */
struct pf_sched {
    struct pf_sched_options options;
    struct perfile_reader *reader;
    struct perfile_session *session;
    struct pf_filter filter;
    struct pf_switches switches;
    struct pf_switch now; /* the event in hand */
    struct pf_ahead facts;
    struct pf_sched_stacks stacks;
    unsigned until_progress;
    uint64_t filtered; /* events of tasks or CPUs that were not asked for */
    bool timed;        /* something was in the range of time */
    bool *priorities;  /* PF_SCHED_PRIORITIES of them, which are asked for; NULL: all */
};

/* The reader must be at its start. Close it also after an error. */
int pf_sched_open(struct pf_sched *sched, struct perfile_reader *reader, const struct pf_sched_options *options,
                  struct perfile_error *error);
void pf_sched_close(struct pf_sched *sched);
/*
 * Before the first event: the caller reads, whatever the number of threads. For callers that do so little with an event
 * that handing it over from another thread costs as much.
 */
void pf_sched_read_alone(struct pf_sched *sched);
/* 1 and sched->now, 0 at the end, or an error. */
int pf_sched_next(struct pf_sched *sched, struct perfile_error *error);
/* The name of a function in the stack of the event in hand, leaf first; NULL: it has none. */
const char *pf_sched_function(const struct pf_sched *sched, size_t index);
/* Where it is in memory, if it is in no file; else 0. */
uint64_t pf_sched_address(const struct pf_sched *sched, size_t index);
/* It is the scheduler's own, which perf leaves out. */
bool pf_sched_is_own(const char *function);
/* Stops reading: no other thread reads any more, no event follows, and everything may be accessed. */
void pf_sched_stop(struct pf_sched *sched);
/* Events that the recording says were lost, up to about the event in hand; at the end all. */
uint64_t pf_sched_lost(const struct pf_sched *sched);
/* The filter asks for this task on this CPU. */
bool pf_sched_passes(struct pf_sched *sched, const struct pf_sched_task *task, uint32_t cpu);
/* The run that ended is asked for: its task on this CPU, and its priority. */
bool pf_sched_passes_run(struct pf_sched *sched);
/* The same; a time of no interest counts. */
bool pf_sched_in_time(const struct pf_sched *sched, uint64_t time);
/* At the end: the parts of the filter that matched nothing. */
void pf_sched_notify_unmatched(const struct pf_sched *sched, perfile_on_unmatched *fact, void *context);

/* ---- how long tasks waited for a CPU ----------------------------------------------------------------------------- */

struct pf_latency {
    const struct pf_sched_task *task; /* one of them */
    /* of its current wait, which nearly every event changes */
    enum { PF_LATENCY_NEW, PF_LATENCY_SLEEPS, PF_LATENCY_WAITS, PF_LATENCY_RUNS } state;
    uint32_t tasks; /* that are added up here */
    uint64_t since;
    uint64_t runtime;
    struct pf_stats delays; /* of each time that it came to a CPU after it was woken or preempted */
    struct pf_histogram histogram;
    uint64_t max_from, max_to; /* the longest delay */
    uint64_t cut;              /* delays that may have been another one: not among them */
};

struct pf_latencies {
    struct pf_latency *rows; /* by the task's number, until they are sorted */
    size_t count, capacity;
    struct pf_sort_keys keys; /* that rows are sorted by */
    bool merged;
    uint64_t wakings; /* of tasks that slept */
};

/* False: out of memory. */
bool pf_latencies_take(struct pf_latencies *latencies, struct pf_sched *sched);
/* Only those with delays. With `merge` tasks of one name are one. */
bool pf_latencies_end(struct pf_latencies *latencies, const struct pf_sched *sched, bool merge);
/* Sets the sort keys, "max,avg", before the first event; NULL: average, maximum, count and runtime. ARGUMENT. */
int pf_latencies_sort(struct pf_latencies *latencies, const char *keys, struct perfile_error *error);
void pf_latencies_close(struct pf_latencies *latencies, const struct perfile_allocator *allocator);

/* ---- what tasks and CPUs did all the time ------------------------------------------------------------------------ */

/* Of a duration. */
struct pf_sched_sum {
    struct pf_stats stats;
    struct pf_histogram histogram;
};

struct pf_sched_life {
    const struct pf_sched_task *task;
    uint64_t rows;               /* how often it left a CPU, also where its run is not known */
    struct pf_stats run_as_perf; /* with 0 for the first run on each CPU */
    struct pf_sched_sum runs, waits, delays;
    uint64_t sleep, iowait, preempt; /* ns, of the waits */
    uint64_t blocked;                /* ns, of the waits: before it was woken */
    uint64_t preemptions;            /* it could have run on */
    uint64_t migrations;             /* it was moved to another CPU */
    uint64_t moves;                  /* it came to another CPU than it left */
    uint64_t unknown;                /* runs and waits that are not known */
    uint64_t idle_rows;              /* times that the CPU was idle after it ... */
    struct pf_stats idle;            /* ... and how long */
};

struct pf_sched_cpu_life {
    uint64_t rows, idle_rows;
    uint64_t idle, busy; /* ns */
    uint64_t unknown;
    uint64_t wakings, preemptions, lost;
    struct pf_sched_sum delays;
};

struct pf_sched_lifetimes {
    struct pf_sched_life **tasks; /* by the task's number; NULL: nothing */
    size_t task_capacity;
    struct pf_sched_cpu_life *cpus;
    size_t cpu_count, cpu_capacity;
    struct pf_arena arena;
    bool as_perf; /* waits belong to the run after them, even if only one of the two is in the window */
};

void pf_sched_lifetimes_open(struct pf_sched_lifetimes *lifetimes, const struct perfile_allocator *allocator);
void pf_sched_lifetimes_close(struct pf_sched_lifetimes *lifetimes);
/* False: out of memory. */
bool pf_sched_lifetimes_take(struct pf_sched_lifetimes *lifetimes, struct pf_sched *sched);
/*
 * Indexes of tasks that have rows (or idle ones, with `idle`), by thread id and then by age, for pf_free. NULL when out
 * of memory.
 */
uint32_t *pf_sched_lifetimes_order(const struct pf_sched_lifetimes *lifetimes, const struct pf_sched *sched, bool idle,
                                   size_t *count);

#endif
