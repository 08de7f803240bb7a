/* SPDX-License-Identifier: MIT */
/*
 * Who lives, and which records of the past matter to what follows: those of processes and threads that live, or ended less than
 * PF_LATE_NS ago, and of those whose mappings or names these have. Of all others nothing is kept: numbers that come
 * again begin anew.
 *
 * What the records say is taken in the order of time. Then all is the same whether one began at the start of the recording,
 * or with what was written here of a moment in it.
 */
#ifndef PF_MODEL_LIFETIMES_H
#define PF_MODEL_LIFETIMES_H

#include "base/map.h"
#include "base/text.h"
#include "format/layout.h"

/* ---- kinds of records ---- */

enum pf_record_kind {
    PF_KIND_OTHER,    /* of the recorder, for the whole recording */
    PF_KIND_STATE,    /* holds from its time on */
    PF_KIND_PROCESS,  /* the same, of a process */
    PF_KIND_MOMENT,   /* tells of its time */
    PF_KIND_RUNNING,  /* the same, of a process */
    PF_KIND_DEFERRED, /* belongs to samples before it */
    PF_KIND_AUX_DATA,
};
/* Not of samples. */
enum pf_record_kind pf_record_kind(uint32_t type);

/* ---- what a record says ---- */

/* A record of a process, PF_KIND_PROCESS. */
struct pf_life_note {
    uint64_t time;
    uint32_t type;
    bool exec;           /* a COMM: another program begins */
    uint32_t pid, tid;   /* of whom it tells */
    uint32_t ppid, ptid; /* FORK: of whom that is made */
};
struct pf_life_note pf_life_note_of(const struct perfile_record *record, const union pf_any_record *body);
/* It tells of a thread beside the first one, and of that alone. */
bool pf_life_note_is_of_thread(const struct pf_life_note *note);

/* ---- lives ---- */

/*
 * A thread runs on for some microseconds behind its EXIT, or longer where it has to wait for a processor. What a build server
 * does in a second is more than one wants to carry for that.
 */
enum { PF_LATE_NS = 100000000 };

struct pf_life {
    uint64_t begin; /* older records do not matter */
    uint64_t end;   /* when nothing of it was alive any more */
    uint32_t id;
    uint32_t of;    /* threads: the process */
    uint32_t up;    /* with has_up: the thread whose name it has; the process whose mappings it has */
    uint32_t alive; /* threads of a process; 1 or 0 of a thread */
    uint32_t heirs; /* of whom it is `up` */
    bool has_up;
    bool late;    /* it ended so long ago that it stays for its heirs alone */
    bool is_free; /* the place is */
};

/* Threads, or processes. */
struct pf_life_set {
    struct pf_map positions; /* id to the place plus 1; 0: it has none any more */
    struct pf_life *items;
    size_t count, capacity; /* places */
    size_t used;            /* of them */
    uint32_t *free;
    size_t free_count, free_capacity;
    struct pf_life_end { /* those that ended, as they did */
        uint64_t time;
        uint32_t id;
    } * ends;
    size_t first_end, end_count, end_capacity;
};

struct pf_lifetimes {
    const struct perfile_allocator *allocator;
    struct pf_life_set threads, processes;
    bool keeps_ended; /* who is over matters all the same */
    bool failed;      /* out of memory */
};

void pf_lifetimes_open(struct pf_lifetimes *lifetimes, const struct perfile_allocator *allocator);
void pf_lifetimes_close(struct pf_lifetimes *lifetimes);
/* Takes over what the record says; their times rise. Look at `failed` now and then. */
void pf_lifetimes_follow(struct pf_lifetimes *lifetimes, const struct pf_life_note *note);
/* So late is it; what was over is forgotten. */
void pf_lifetimes_advance(struct pf_lifetimes *lifetimes, uint64_t now);
/* NULL: nothing of it matters. Holds until something is followed. */
const struct pf_life *pf_lifetimes_thread(const struct pf_lifetimes *lifetimes, uint32_t tid);
const struct pf_life *pf_lifetimes_process(const struct pf_lifetimes *lifetimes, uint32_t pid);
/* What the kernel's own records and those of all processes say always matters. */
bool pf_lifetimes_matters(const struct pf_lifetimes *lifetimes, const struct pf_life_note *note);

/* All that is known, to be taken over by another that knows nothing. False: it is damaged, or out of memory (`failed`). */
void pf_lifetimes_put(const struct pf_lifetimes *lifetimes, struct pf_text *text);
bool pf_lifetimes_take(struct pf_lifetimes *lifetimes, const uint8_t **at, const uint8_t *end);

#endif
