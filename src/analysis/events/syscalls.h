/* SPDX-License-Identifier: MIT */
/*
 * System calls from raw_syscalls:sys_enter and sys_exit, or syscalls:sys_enter_NAME and sys_exit_NAME: enters and exits
 * of each thread become calls. A pair has the same number; an exit without its enter has no duration, and an enter
 * without its exit is reported at the end. The open call of each thread is kept.
 */
#ifndef PF_ANALYSIS_EVENTS_SYSCALLS_H
#define PF_ANALYSIS_EVENTS_SYSCALLS_H

#include "analysis/events/fields.h"
#include "analysis/events/losses.h"
#include "analysis/events/source.h"
#include "analysis/events/syscall_table.h"
#include "base/map.h"

extern const struct pf_required_events pf_syscalls_events;

/* A call, or what is known of it. */
struct pf_syscall_call {
    const struct pf_syscall *call; /* NULL: not known */
    uint64_t number;
    enum pf_abi abi;
    bool entered, left;  /* which of both was seen */
    bool uncertain;      /* events of its CPUs were lost between: it may be two calls */
    uint64_t start, end; /* ns */
    uint32_t start_cpu, end_cpu;
    int64_t result;
    uint64_t arguments[PF_SYSCALL_ARGUMENTS];
    struct pf_syscall_names names; /* of files, as far as they are known; as long as the engine */
    uint64_t order;                /* of the enter among all records */
};

/* A thread; one that gets the id of an earlier one is another thread. */
struct pf_syscall_thread {
    int32_t pid, tid;
    const char *comm;   /* its last name */
    const char *cgroup; /* of its last event; NULL: not recorded */
    uint64_t events;    /* enters, exits and page faults */
    uint64_t minor_faults, major_faults;
    bool is_open;
    struct pf_syscall_call open; /* the last that was entered */
};

enum pf_syscall_step {
    PF_SYSCALL_NOTHING,
    PF_SYSCALL_ENTERED,
    PF_SYSCALL_LEFT,
    PF_SYSCALL_FAULT, /* no call, but a page fault, which perf has between them */
};

struct pf_syscall_event {
    enum pf_syscall_step step;
    uint32_t thread; /* index */
    bool major;      /* of a page fault */
    struct pf_syscall_call call;
    struct pf_syscall_call unfinished; /* entered before, and never left: `has_unfinished` */
    bool has_unfinished;
};

struct pf_syscalls {
    struct perfile_reader *reader;
    const struct perfile_allocator *allocator;
    struct pf_delivery *delivery;
    struct pf_arena arena;
    struct pf_map bound;  /* index of an event to its struct binding */
    struct pf_map tids;   /* to the index of the thread */
    struct pf_map widths; /* of a process: whether it has mappings below and above 4 GiB */
    struct pf_event_losses losses;
    struct pf_map texts;  /* hash of a path to it */
    struct pf_map files;  /* hash of process and descriptor to a path, 0: none */
    const char *wanted;   /* names of calls: "openat,read" or "!poll"; NULL: all */
    struct pf_map not_of; /* processes whose events are left out */
    bool is_cut;          /* the recording began and ended when it was wanted: what that cuts is not worth a note */
    struct pf_syscall_thread *threads;
    size_t thread_count, thread_capacity;
    uint64_t first_time; /* of the first sample */
    bool timed;
    uint64_t events;   /* enters, exits and page faults */
    uint64_t unwanted; /* the same, not in the list */
    uint64_t enters_alone, exits_alone, uncertain;
};

/* What is all zeros may be closed, too. The delivery must give records that are no samples. */
void pf_syscalls_open(struct pf_syscalls *syscalls, struct pf_delivery *delivery, struct perfile_reader *reader,
                      const struct perfile_allocator *allocator);
void pf_syscalls_close(struct pf_syscalls *syscalls);
/* Which calls are given: those of the options. 0, MEMORY or ARGUMENT. */
int pf_syscalls_choose(struct pf_syscalls *syscalls, const struct perfile_event_options *options,
                       struct perfile_error *error);
/* The next item of the delivery: 0 and *event, or PERFILE_ERROR_MEMORY. */
int pf_syscalls_take(struct pf_syscalls *syscalls, const struct pf_delivered *item, struct pf_syscall_event *event);
/* 'm': events of it are page faults, 'M': major ones, '\0': something else. */
char pf_fault_kind(const struct perfile_event *event);
/* At the end: sentences about what is missing, and how it is recorded. */
void pf_syscalls_notify(const struct pf_syscalls *syscalls, pf_on_note *notify, void *context);

#endif
