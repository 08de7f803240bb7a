/* SPDX-License-Identifier: MIT */
/*
 * When tasks ran: records in the order of time become intervals in which tasks ran, waited to run, or slept. The events
 * are sched:sched_switch, sched_waking (or sched_wakeup), sched_wakeup_new, sched_migrate_task, sched_stat_runtime and
 * the records SWITCH. The state of each CPU and of each task is kept, never that of each event.
 *
 * An interval is marked as not known if a loss on one of its CPUs may have cut it, or if its start was not seen;
 * nothing is guessed.
 */
#ifndef PF_ANALYSIS_EVENTS_SWITCHES_H
#define PF_ANALYSIS_EVENTS_SWITCHES_H

#include "analysis/events/fields.h"
#include "base/filter.h"
#include "base/map.h"

extern const struct pf_required_events pf_switches_events;

/* Priorities as the kernel's events have them: -1 (deadline) to 139. */
enum { PF_NO_PRIORITY = INT32_MIN };

/*
 * A thread; a thread that gets the id of an earlier one is another task, and so is the idle task of each CPU. A time of
 * 0 is not known.
 */
struct pf_sched_task {
    uint32_t number; /* among all, from 0 on */
    int32_t pid;     /* -1: not known */
    int32_t tid;     /* 0: idle */
    int32_t parent;  /* thread that started it; -1: not known */
    uint32_t idle_cpu;
    const char *comm; /* as records say; NULL: they do not */
    char name[16];    /* as the last tracepoint called it */
    bool renamed;     /* it got another name since the caller cleared this; synthesized records do not count */
    bool started;     /* its FORK is in the recording */
    bool ended;
    bool busy; /* an event named it */
    /* since it left a CPU last */
    uint64_t out_time;
    uint32_t out_cpu;
    bool off;              /* it has not come to one since, as far as is known */
    char state;            /* letter; 0: not known */
    bool preempted;        /* it could have run on */
    uint64_t ready_time;   /* it could run again */
    uint64_t migrate_time; /* it was moved to another CPU */
    const struct pf_sched_task *waker;
    /* since it came to a CPU last */
    uint64_t in_time;
    uint32_t in_cpu;
    bool wait_cut; /* the wait before may not be what it seems */
    int32_t in_priority;
};

enum { PF_SCHED_MAX_CPUS = 8192 }; /* as many as kernels are built for; events of others are left out */

struct pf_sched_cpu {
    bool seen;
    uint64_t last_time;           /* of the last switch; 0: none */
    struct pf_sched_task *task;   /* that runs; NULL: not known */
    struct pf_sched_task *before; /* idle: that ran before */
    struct pf_sched_task *idle;   /* NULL: not met yet */
    uint64_t lost_time;
};

/* The highest thread id of Linux, and one more; others are hostile, and slower. */
enum { PF_SCHED_MAX_TIDS = 1 << 22, PF_SCHED_PAGE_TASKS = 2048 };

enum pf_sched_fact_kind {
    PF_FACT_SWITCH, /* `task` left the CPU to `other` */
    PF_FACT_WAKING,
    PF_FACT_MIGRATION,
    PF_FACT_RUNTIME,
    PF_FACT_LOSS,
    PF_FACT_IN, /* SWITCH records */
    PF_FACT_OUT,
    PF_FACT_COMM,
    PF_FACT_FORK,
    PF_FACT_EXIT
};

/* What a record contains, independent of the records before it. Nothing here points into the record. */
struct pf_sched_fact {
    enum pf_sched_fact_kind kind;
    uint32_t cpu; /* UINT32_MAX: not known */
    uint64_t time;
    /* The current thread; tid -1: not known. COMM, FORK, EXIT, IN, OUT: the thread that they describe. */
    int32_t pid, tid;
    /*
     * Thread ids. `task` left the CPU, was woken, migrated or ran; `other` came to the CPU, is the parent of a FORK, or
     * reported a COMM.
     */
    int32_t task, other;
    union { /* facts are small, as they go from one processor's cache to the other's */
        uint64_t value; /* RUNTIME: ns, LOSS: records */
        struct {
            uint32_t from_cpu, to_cpu; /* MIGRATION */
        };
        struct {
            int32_t priority, other_priority; /* SWITCH: of `task` and of `other`, if they are asked for */
        };
        const char *comm; /* COMM; as long as the reading */
    };
    char names[2][16];
    char state;
    bool preempted;
    bool where; /* LOSS: the CPU is known */
};

enum pf_switch_kind {
    PF_SWITCHED,    /* `prev` left the CPU to `next` */
    PF_SWITCHED_IN, /* a SWITCH record: `next` came to the CPU */
    PF_SWITCHED_OUT,
    PF_WOKEN,     /* `prev` woke `next` */
    PF_MIGRATED,  /* `next` was moved by `prev` */
    PF_RAN,       /* sched_stat_runtime: `next` ran `value` ns more */
    PF_LOST_HERE, /* `value` records */
};

/* One event, and what ended by it. */
struct pf_switch {
    enum pf_switch_kind kind;
    uint64_t time;
    uint32_t cpu;
    struct pf_sched_task *prev, *next;
    uint64_t value;
    uint32_t from_cpu, to_cpu; /* MIGRATED */
    bool shown;                /* SWITCHED: in the window of time; WOKEN: the first one since it slept */
    /* SWITCHED: the run of `prev` that ended, and what was before that run; other kinds leave what is here alone */
    char state;
    bool preempted;
    bool moved;        /* `prev` had left another CPU before */
    bool mismatched;   /* the last switch here was to another task */
    uint64_t end_time; /* cut to it */
    uint64_t last_time;
    uint64_t run, wait, delay, pre_migration; /* ns; as far as they are known */
    uint64_t wait_inside, delay_inside;       /* of both, what is in the window; perf counts up to the begin of it */
    char wait_state;                          /* of `wait` */
    bool wait_preempted;
    bool run_known, wait_known, delay_known;
    bool cut;                         /* what is not known spans a loss */
    struct pf_sched_task *idle_after; /* idle: the task that ran before */
    int32_t priority, in_priority;    /* if they are asked for: now, and when it came */
    /* SWITCHED, SWITCHED_IN: `next` had been off its CPU since then; 0: not known */
    uint64_t off_time;
    uint32_t off_cpu; /* that it left */
    char off_state;
    bool off_preempted;
    bool off_cut;
    uint64_t off_ready_time; /* 0: not known */
    const struct pf_sched_task *off_waker;
};

struct pf_switches_have {
    bool switches, wakings, wakeups, runtimes, migrations;
    bool switch_records; /* they are asked for */
};

/* Reads the records as they come: one thread may read while another one joins the facts. */
struct pf_switch_reading {
    struct perfile_reader *reader;
    struct pf_events events;
    struct pf_arena arena; /* of names */
    struct pf_map comms;
    struct perfile_sample sample;
    char letters[64]; /* of the bits of prev_state; 0: none */
    bool letters_known;
    bool has_wakings;
    bool priorities; /* they are asked for */
    struct pf_switches_have have;
    uint64_t record_count;
    char apart[64]; /* from what another thread writes */
};

struct pf_switches {
    struct pf_switch_reading reading;
    const struct perfile_allocator *allocator;
    struct pf_arena arena;
    struct pf_sched_task **pages[PF_SCHED_MAX_TIDS / PF_SCHED_PAGE_TASKS]; /* tasks by thread id */
    struct pf_map others; /* the idle tasks, and ids that no kernel gives, to numbers */
    struct pf_sched_task **tasks;
    size_t task_count, task_capacity;
    struct pf_sched_cpu *cpus;
    size_t cpu_count, cpu_capacity;
    struct pf_range window; /* of time; {0, UINT64_MAX}: all */
    bool by_records;        /* SWITCH records of threads say when tasks come and go */
    uint64_t switch_count, mismatch_count, cut_count, lost_count, lost_chunks;
    uint64_t first_time, last_time; /* of rows in the window; 0: none */
    uint64_t foreign_count;         /* switches of CPUs that are too many */
};

/* What is all zeros may be closed, too. */
void pf_switches_open(struct pf_switches *switches, struct perfile_reader *reader,
                      const struct perfile_allocator *allocator);
void pf_switches_close(struct pf_switches *switches);
/*
 * Reads the next record in the order of time. Returns 1 and *fact, 0 when the record has none, or PERFILE_ERROR_MEMORY.
 * Only switches->reading is accessed.
 */
int pf_switches_read(struct pf_switches *switches, const struct perfile_record *record, struct pf_sched_fact *fact);
/*
 * Joins the next fact. Returns 1 and *out, 0 when there is no result, or PERFILE_ERROR_MEMORY. switches->reading is not
 * accessed.
 */
int pf_switches_join(struct pf_switches *switches, const struct pf_sched_fact *fact, struct pf_switch *out);
/* Reads a record and joins its fact. */
int pf_switches_take(struct pf_switches *switches, const struct perfile_record *record, struct pf_switch *out);
/* Intervals are cut to the time from the first to the last one that the filter asks for. */
void pf_switches_set_window(struct pf_switches *switches, const struct pf_filter *filter);
/* The task with this thread id; NULL when out of memory. */
struct pf_sched_task *pf_switches_task(struct pf_switches *switches, int32_t pid, int32_t tid);
/* By what the recording knows: ":10" without a name; in `text`, of 16 bytes. */
const char *pf_sched_task_comm(const struct pf_sched_task *task, char text[16]);
/* The same, or as tracepoints call it; "swapper/0" is the idle task of a CPU. */
const char *pf_sched_task_name(const struct pf_sched_task *task, char text[16]);
/* How many CPUs the recording machine had; 0: not known. */
uint64_t pf_switches_machine_cpus(struct pf_switches *switches);
/* From the first to the last switch in the window. */
static inline uint64_t pf_switches_span(const struct pf_switches *switches)
{
    return switches->last_time > switches->first_time ? switches->last_time - switches->first_time : 0;
}
/* Notes that switches were recorded on some of the machine's CPUs only, if so. `notify` may be NULL. */
void pf_switches_notify_cpus(struct pf_switches *switches, pf_on_note *notify, void *context);
/* At the end: notes what is missing, and how it is recorded. `notify` may be NULL. */
void pf_switches_notify(struct pf_switches *switches, pf_on_note *notify, void *context);

#endif
