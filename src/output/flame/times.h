/* SPDX-License-Identifier: MIT */
/* What the page shows over time beside samples: when threads were off CPU, forks and the like, losses, and lanes. */
#ifndef PF_OUTPUT_FLAME_TIMES_H
#define PF_OUTPUT_FLAME_TIMES_H

#include "analysis/events/offcpu.h"
#include "output/flame/bottom.h"
#include "output/flame/lanes.h"
#include "output/flame/page.h"
#include "output/flame/parallel.h"

/* WOKEN: it could run again, and was not on a CPU yet; READY: it was preempted, and could run all the time. */
enum pf_wait_state { PF_WAIT_READY = 1, PF_WAIT_BLOCKED = 2, PF_WAIT_WOKEN = 3 };

/* Whether times off CPU are in the page. */
enum pf_waits {
    PF_WAITS_NONE,
    PF_WAITS_IF_ANY,   /* if the recording has switches */
    PF_WAITS_REQUIRED, /* it is about them: what is missing is reported */
};

/* A time off CPU, or a part of it. */
struct pf_wait {
    uint64_t from, to;
    uint64_t stack_time; /* of the sample that has the stack */
    const char *comm;    /* as long as `offcpu`; NULL: not known */
    int32_t pid, tid;
    int32_t waker_tid; /* -1: not known */
    uint32_t thread;   /* since the end: numbers of threads, PF_PAGE_NONE: not known, and the node of the stack */
    uint32_t waker;
    uint32_t stack;
    uint8_t state; /* enum pf_wait_state */
    bool has_stack;
};

enum pf_mark_kind { PF_MARK_THROTTLED = 1, PF_MARK_FORK, PF_MARK_EXEC, PF_MARK_EXIT };

struct pf_mark {
    uint64_t time;
    uint64_t value; /* FORK: the new thread; THROTTLED: 1, it went on */
    int32_t tid;
    uint32_t thread;
    uint8_t kind; /* enum pf_mark_kind */
};

struct pf_loss {
    uint64_t time, count;
};

/* The stack of a sample of a switch. */
struct pf_wait_stack {
    uint64_t time;
    int32_t tid;
    uint32_t stack;
};

/* All zeros may be closed, too. */
struct pf_flame_times {
    const struct perfile_allocator *allocator;
    struct perfile_reader *reader;
    bool takes_stacks;        /* of switches; since the opening */
    struct pf_offcpu *offcpu; /* NULL: there are no switches, or they are not needed */
    bool unsure;              /* a stream, which reports its events before its first sample */
    struct pf_wait *waits;
    struct pf_mark *marks;
    struct pf_loss *losses;
    struct pf_flame_lanes lanes;
    struct pf_flame_parallel parallel; /* of all threads */
    struct pf_wait_stack *stacks;
    size_t wait_count, wait_capacity, mark_count, mark_capacity, loss_count, loss_capacity, stack_count, stack_capacity;
    uint64_t min_ns; /* of waits that are kept */
    uint64_t waits_left, waits_left_ns;
    uint64_t mark_stride, marks_seen, marks_left;
    uint64_t wall_ahead_ns; /* of the recording's clock, modulo 2^64 */
    bool has_wall;
};

/* `what`: of times off CPU that are required; else all of them. 0, or MEMORY. Close it after failures, too. */
int pf_flame_times_open(struct pf_flame_times *times, struct perfile_reader *reader, enum pf_waits waits,
                        enum pf_offcpu_what what, const struct perfile_allocator *allocator);
void pf_flame_times_close(struct pf_flame_times *times);
/* Each record in the order of time; context: struct pf_flame_times. False: out of memory. */
bool pf_flame_times_take(void *context, const struct perfile_record *record);
bool pf_flame_times_add_stack(struct pf_flame_times *times, uint64_t time, int32_t tid, uint32_t stack);
/*
 * At the end: what the filter leaves gets its threads and stacks, and the page's time becomes as long as it needs.
 * False: out of memory.
 */
bool pf_flame_times_end(struct pf_flame_times *times, const struct pf_filter *filter, struct pf_bottom *bottom,
                        struct pf_page *page);
/* Leaves the shortest waits out until there are not more than so many. */
void pf_flame_times_thin(struct pf_flame_times *times, size_t max);
/* Leaves those out that are shorter than this. */
void pf_flame_times_leave(struct pf_flame_times *times, uint64_t min_ns);

#endif
