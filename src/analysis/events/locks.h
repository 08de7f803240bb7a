/* SPDX-License-Identifier: MIT */
/*
 * Which threads waited for which locks of the kernel, and for how long: lock:contention_begin and contention_end, or
 * lock:lock_contended and lock_acquired of kernels with lockdep. A wait belongs to a thread and a lock. Open waits and
 * rows are kept.
 */
#ifndef PF_ANALYSIS_EVENTS_LOCKS_H
#define PF_ANALYSIS_EVENTS_LOCKS_H

#include "analysis/events/fields.h"
#include "analysis/events/losses.h"
#include "analysis/events/sort_keys.h"
#include "analysis/events/source.h"
#include "analysis/profile.h"
#include "analysis/stats.h"
#include "base/pairs.h"

extern const struct pf_required_events pf_locks_events;

enum pf_locks_by { PF_LOCKS_BY_CALLER, PF_LOCKS_BY_LOCK, PF_LOCKS_BY_THREAD };
enum { PF_LOCK_STACK = 8 };

struct pf_lock_row {
    uint64_t key;
    uint64_t lock;    /* address; of callers and threads the first one */
    uint32_t flags;   /* of contention_begin */
    const char *name; /* of lockdep, or the variable, or the caller as FUNCTION+0xOFFSET; NULL: not known */
    uint64_t caller;  /* address; 0: none */
    const char *function;
    int32_t pid, tid; /* of the first that waited */
    const char *comm;
    uint64_t contended;    /* waits that began */
    struct pf_stats waits; /* that ended */
    struct pf_histogram histogram;
    uint64_t uncertain; /* of these: around lost events */
    uint64_t open;      /* waits that did not end */
    uint64_t open_ns;   /* the longest of these, up to the last event */
};

/* What rows have that perf prints and sorts by. */
enum pf_lock_field {
    PF_LOCK_CONTENDED,
    PF_LOCK_TOTAL,
    PF_LOCK_MAXIMUM,
    PF_LOCK_MINIMUM,
    PF_LOCK_AVERAGE,
    PF_LOCK_ACQUIRED,
    PF_LOCK_FIELDS
};

struct pf_locks {
    struct perfile_reader *reader;
    const struct perfile_allocator *allocator;
    struct pf_profile *profile;
    enum pf_locks_by by;
    const struct perfile_event_options *options;
    struct pf_sort_keys keys; /* enum pf_lock_field */
    struct pf_events events;
    struct pf_event_losses losses;
    struct pf_arena arena;
    struct pf_pairs waiting; /* thread and lock to the index of its wait */
    struct pf_pairs index;   /* key and 0 to the row */
    struct pf_lock_wait *waits;
    size_t wait_count, wait_capacity;
    struct pf_lock_row **rows;
    size_t count, capacity;
    uint64_t last_time;
    uint64_t ends_alone, broken;
    bool has_new, has_stacks;
};

/* "caller", "lock", "thread"; NULL is "caller". False: none of these. */
bool pf_locks_by_parse(const char *text, enum pf_locks_by *by);
/* The profile must give decoded samples, and its records to pf_locks_take_record. */
void pf_locks_open(struct pf_locks *locks, struct perfile_reader *reader, const struct perfile_event_options *options,
                   const struct perfile_allocator *allocator);
/* The profile that is read, before that; it is asked for the names of variables, where they matter. */
void pf_locks_use(struct pf_locks *locks, struct pf_profile *profile);
void pf_locks_close(struct pf_locks *locks);
/* False: out of memory. */
bool pf_locks_take_record(void *locks, const struct perfile_record *record);
bool pf_locks_take(struct pf_locks *locks, const struct pf_profile_sample *sample);
/* Before anything is taken: what rows are sorted by, then by total wait. ARGUMENT. */
int pf_locks_order(struct pf_locks *locks, const struct pf_sort_names *names, struct perfile_error *error);
/* The names of all fields; by total wait. */
extern const struct pf_sort_names pf_lock_fields;
uint64_t pf_lock_value(const struct pf_lock_row *row, enum pf_lock_field field);
/* At the end. */
void pf_locks_end(struct pf_locks *locks);
void pf_locks_notify(struct pf_locks *locks, pf_on_note *notify, void *context);
/* "rwsem:R", or without how it is taken "rwsem"; "unknown". */
const char *pf_lock_type(uint32_t flags, bool with_mode);

#endif
