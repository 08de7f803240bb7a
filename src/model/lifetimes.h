/* SPDX-License-Identifier: MIT */
/*
 * Which processes and threads are alive, and which earlier records matter to later ones: those of processes and threads
 * that are alive or ended less than PF_LATE_NS ago, and of those from which these have mappings or names. Nothing is
 * kept of all others: an id that is used again is a new process or thread.
 *
 * Records are followed in the order of time. The result is the same whether this started at the beginning of the
 * recording or from a state that pf_lifetimes_put wrote.
 */
#ifndef PF_MODEL_LIFETIMES_H
#define PF_MODEL_LIFETIMES_H

#include "base/map.h"
#include "base/text.h"
#include "format/layout.h"

/* ---- kinds of records ---- */

enum pf_record_kind {
    PF_KIND_OTHER,    /* describes the recording or its recorder */
    PF_KIND_STATE,    /* holds from its time on */
    PF_KIND_PROCESS,  /* the same, of a process */
    PF_KIND_MOMENT,   /* describes its own moment */
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
    uint32_t pid, tid;   /* the thread that it describes */
    uint32_t ppid, ptid; /* FORK: the parent */
};
struct pf_life_note pf_life_note_of(const struct perfile_record *record, const union pf_any_record *body);
/* It describes one thread alone, and not the first one of its process. */
bool pf_life_note_is_of_thread(const struct pf_life_note *note);

/* ---- lifetimes ---- */

/*
 * A thread runs on for some microseconds after its EXIT, or for longer if it has to wait for a processor. The limit is
 * low because a build server starts and ends thousands of processes in a second.
 */
enum { PF_LATE_NS = 100000000 };

struct pf_life {
    uint64_t begin; /* older records do not matter */
    uint64_t end;   /* when nothing of it was alive any more */
    uint32_t id;
    uint32_t of;    /* threads: the process */
    uint32_t up;    /* with has_up: the thread whose name it has; the process whose mappings it has */
    uint32_t alive; /* threads of a process; 1 or 0 of a thread */
    uint32_t heirs; /* how many have this one as `up` */
    bool has_up;
    bool late;    /* it ended so long ago that it stays for its heirs alone */
    bool is_free; /* this entry is unused */
};

/* Threads, or processes. */
struct pf_life_set {
    struct pf_map positions; /* id to the index of its entry plus 1; 0: it has no entry any more */
    struct pf_life *items;
    size_t count, capacity; /* entries */
    size_t used;            /* entries that are not free */
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
    bool keeps_ended; /* those that have ended matter as well */
    bool failed;      /* out of memory */
};

void pf_lifetimes_open(struct pf_lifetimes *lifetimes, const struct perfile_allocator *allocator);
void pf_lifetimes_close(struct pf_lifetimes *lifetimes);
/* Takes over what the record says; their times rise. Look at `failed` now and then. */
void pf_lifetimes_follow(struct pf_lifetimes *lifetimes, const struct pf_life_note *note);
/* Advances to this time, and discards what ended long enough before. */
void pf_lifetimes_advance(struct pf_lifetimes *lifetimes, uint64_t now);
/* NULL when nothing of it matters. Valid until the next pf_lifetimes_follow. */
const struct pf_life *pf_lifetimes_thread(const struct pf_lifetimes *lifetimes, uint32_t tid);
const struct pf_life *pf_lifetimes_process(const struct pf_lifetimes *lifetimes, uint32_t pid);
/* What the kernel's own records and those of all processes say always matters. */
bool pf_lifetimes_matters(const struct pf_lifetimes *lifetimes, const struct pf_life_note *note);

/*
 * pf_lifetimes_put writes all that is known; pf_lifetimes_take loads it into an empty one. It returns false when that
 * is damaged, or out of memory (`failed`).
 */
void pf_lifetimes_put(const struct pf_lifetimes *lifetimes, struct pf_text *text);
bool pf_lifetimes_take(struct pf_lifetimes *lifetimes, const uint8_t **at, const uint8_t *end);

#endif
