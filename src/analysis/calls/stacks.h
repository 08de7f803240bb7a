/* SPDX-License-Identifier: MIT */
/*
 * The calls of threads, from the branches of a decoded trace: each thread has a stack of those that are open. A branch
 * opens calls or ends them, and each call that has ended is given once, the innermost one first.
 *
 * Traces do not say everything, so stacks have rules:
 * - A return ends the innermost call that returns to its target, and those inside of it, which did not return.
 * - A jump to the first instruction of another function is a call that returns where the function that it left does.
 * - Going into a function that is open further out, but not to where its call returns, ends what is inside of it: so
 *   do exceptions and longjmp. Tail calls alone end normally so, as cold parts of functions do.
 * - A return without a call leaves a function that was entered before the trace began; the one that it returns to is
 *   open from then on.
 * - Where the trace ends, as in a system call that is not traced, something outside of the trace is called.
 * - Where it is lost, all calls of the thread end, and a gap lasts until it begins again.
 */
#ifndef PF_ANALYSIS_CALLS_STACKS_H
#define PF_ANALYSIS_CALLS_STACKS_H

#include "base/map.h"

enum pf_call_kind {
    PF_CALL_BEFORE,    /* entered before it was seen: it begins where it is seen first */
    PF_CALL_CALL,      /* by an instruction */
    PF_CALL_TAIL,      /* by a jump */
    PF_CALL_SYSTEM,    /* a system call */
    PF_CALL_INTERRUPT, /* an interrupt, an exception, or a signal */
    PF_CALL_OUTSIDE,   /* what is not traced */
    PF_CALL_GAP,       /* not a call: the trace was lost */
};

enum pf_call_ending {
    PF_CALL_RETURNED,
    PF_CALL_LEFT,    /* by a tail call of a function that is open already */
    PF_CALL_UNWOUND, /* something further out went on: an exception, or longjmp */
    PF_CALL_LOST,
    PF_CALL_THREAD_ENDED, /* or started another program */
    PF_CALL_TRACE_ENDED,
    PF_CALL_TOO_DEEP,
};

struct pf_call {
    uint64_t number, parent; /* from 1 on, in the order in which they begin; 0: not known */
    uint64_t address;        /* where it was entered; where it was seen first; 0: outside of the trace */
    uint64_t begin, end;     /* ns */
    uint64_t insns, cycles;  /* with what it called */
    int32_t pid, tid;
    uint32_t depth; /* 0: nothing is open further out */
    uint8_t kind;   /* enum pf_call_kind */
    uint8_t ending; /* enum pf_call_ending */
    uint8_t error;  /* enum pf_flow_error, where the trace was lost; else 0 */
};

/* A function from its first instruction on, up to `end`, which is 0 where it is not known. */
struct pf_call_function {
    uint64_t start, end;
};

/* A branch of a thread, and what it executed since the one before. */
struct pf_call_branch {
    uint64_t time, from, to;
    uint64_t insns, cycles;
    uint32_t flags;      /* enum pf_flow_flags */
    uint32_t insn_bytes; /* of the branch; 0: not by an instruction, or not known */
    int32_t pid, tid;
};

/* A call that is open. */
struct pf_call_frame {
    struct pf_call call;              /* its sums are those of the thread when it began */
    struct pf_call_function function; /* that it is in */
    uint64_t returns_to;
    bool can_return; /* the address is known */
    bool by_call;    /* what is outside of the trace was called as a function: it may call others */
};

struct pf_call_thread {
    struct pf_call_thread *next; /* in the order in which they were seen */
    int32_t pid, tid;
    uint64_t time, insns, cycles; /* of its last branch, and all */
    struct pf_call_frame *frames; /* innermost last */
    size_t count, capacity;
    uint64_t gap_begin;
    uint8_t gap;    /* enum pf_flow_error; 0: it is traced */
    uint64_t since; /* when its stack was shown last: of pictures */
};

/* What a branch does: so many calls stay, one may follow. */
struct pf_call_change {
    size_t keep;
    uint8_t ending;   /* PF_CALL_RETURNED, or that of all which end */
    bool is_return;   /* the outermost of those that end returned */
    bool pushes;      /* a call: */
    uint8_t kind;     /* enum pf_call_kind */
    uint64_t address; /* likewise */
    uint64_t returns_to;
    bool can_return, by_call;
    uint64_t caller; /* not 0: it is in no function so far, and is called from there */
};

struct pf_call_stacks {
    const struct perfile_allocator *allocator;
    /* The function that has this address in the process, as things are mapped now. */
    struct pf_call_function (*function)(void *context, int32_t pid, uint64_t address);
    void *context;
    struct pf_map threads;
    struct pf_call_thread *first, **last;
    uint64_t numbers;      /* of calls that began */
    struct pf_call *ended; /* that were not taken yet */
    size_t ended_count, ended_capacity;
};

void pf_call_stacks_open(struct pf_call_stacks *stacks, const struct perfile_allocator *allocator);
void pf_call_stacks_close(struct pf_call_stacks *stacks);
/* The thread; NULL when out of memory. */
struct pf_call_thread *pf_call_stacks_thread(struct pf_call_stacks *stacks, int32_t pid, int32_t tid);
/* What the branch will do. */
struct pf_call_change pf_call_stacks_plan(struct pf_call_stacks *stacks, const struct pf_call_thread *thread,
                                          const struct pf_call_branch *branch);
static inline bool pf_call_change_is_any(const struct pf_call_thread *thread, const struct pf_call_change *change)
{
    return thread->gap || change->keep < thread->count || change->pushes;
}
/* Does it. Those below, too, add to `ended`, and are false when out of memory. */
bool pf_call_stacks_apply(struct pf_call_stacks *stacks, struct pf_call_thread *thread,
                          const struct pf_call_branch *branch, const struct pf_call_change *change);
/* The trace was lost. */
bool pf_call_stacks_lose(struct pf_call_stacks *stacks, struct pf_call_thread *thread, uint64_t time, unsigned error);
/* All calls of the thread end: at this time, or 0 where nothing says when. */
bool pf_call_stacks_end(struct pf_call_stacks *stacks, struct pf_call_thread *thread, uint64_t time,
                        enum pf_call_ending ending);

#endif
