/* SPDX-License-Identifier: MIT */
/*
 * The stack of a sample: which of its numbers are addresses, whose address space each of them is in, and the samples
 * that wait for a part of it.
 */
#ifndef PF_SYMBOL_UNWIND_CALLCHAIN_H
#define PF_SYMBOL_UNWIND_CALLCHAIN_H

#include <perfile/perfile.h>

#include "base/bytes.h"
#include "base/memory.h"

enum {
    PF_CALLCHAIN_MAX = 127, /* frames; perf's --max-stack */
    PF_KERNEL_PID = -1,     /* whose address space is the kernel's */
};

/* A walk over the addresses of a callchain, leaf first. */
struct pf_callchain_walk {
    const struct perfile_u64s *ips;
    uint64_t next;
    unsigned mode; /* of the last address: PERFILE_MISC_KERNEL or _USER; 0: a guest's or a hypervisor's, whose mappings
                      are not known */
    bool calls;    /* the last address is a return address: the one before it was called from there */
    bool follows;  /* so will be the next one, unless a marker comes first */
};

static inline struct pf_callchain_walk pf_callchain_start(const struct perfile_u64s *ips)
{
    return (struct pf_callchain_walk){.ips = ips, .mode = PERFILE_MISC_USER};
}

/* The walk has passed a context marker. */
static inline void pf_callchain_enter(struct pf_callchain_walk *walk, uint64_t context)
{
    walk->mode = context == PERFILE_CONTEXT_KERNEL ? PERFILE_MISC_KERNEL
                 : context == PERFILE_CONTEXT_USER ? PERFILE_MISC_USER
                                                   : 0;
    walk->follows = false;
    if (context == PERFILE_CONTEXT_USER_DEFERRED)
        walk->next = walk->ips->count;
}

static inline bool pf_callchain_next(struct pf_callchain_walk *walk, uint64_t *ip)
{
    while (walk->next < walk->ips->count) {
        *ip = perfile_u64_at(walk->ips, walk->next++);
        if (PF_LIKELY(*ip < PERFILE_CONTEXT_MAX)) {
            walk->calls = walk->follows;
            return walk->follows = true;
        }
        pf_callchain_enter(walk, *ip);
    }
    return false;
}

/* ---- call stacks of the branch hardware ---- */

/* The samples of an event hold the user part of their stacks as branches (perf record --call-graph lbr). */
bool pf_callchain_has_branches(const struct perfile_attr *attr);
/* The position of the marker of the user part; the count of the chain without one. */
uint64_t pf_callchain_user_part(const struct perfile_u64s *chain);
/*
 * The user part of such a stack, as perf 7.2 makes it: the sample's address (also when that is the kernel's), and where
 * each call came from. Writes at most `capacity` numbers to `addresses` and returns how many. The user part that
 * *chain, the sample's callchain, has itself is removed. 0: the stack has no user part, and *chain stays as it is.
 */
size_t pf_callchain_branches(const struct perfile_sample *sample, struct perfile_u64s *chain, uint64_t *addresses,
                             size_t capacity);

/* ---- callchains whose user part comes later (CALLCHAIN_DEFERRED) ---- */

/* A sample that waits. */
enum { PF_HELD_NOTE = 10 };
struct pf_held {
    struct pf_held *next;
    struct perfile_record record; /* its data is a copy after this struct */
    size_t bytes;                 /* of this allocation */
    int32_t tid;
    uint64_t cookie;
    uint64_t note[PF_HELD_NOTE]; /* for the caller that adds it */
};

struct pf_held_list {
    const struct perfile_allocator *allocator;
    struct pf_held *first, **end; /* oldest first */
    size_t bytes;
};

/* The chain ends with the marker and a cookie: they are taken off. */
bool pf_held_take_cookie(struct perfile_u64s *ips, uint64_t *cookie);
void pf_held_open(struct pf_held_list *list, const struct perfile_allocator *allocator);
void pf_held_close(struct pf_held_list *list);
/* NULL when out of memory; it stays in the list. */
struct pf_held *pf_held_add(struct pf_held_list *list, const struct perfile_record *record, int32_t tid,
                            uint64_t cookie);
/* More is held than memory should be spent on: the oldest must go. */
static inline bool pf_held_is_full(const struct pf_held_list *list)
{
    enum { HELD_BYTES_MAX = 64 << 20 };
    return list->bytes > HELD_BYTES_MAX;
}
/* The oldest, of the thread *tid when that is not NULL; it leaves the list and is the caller's. NULL: there is none. */
struct pf_held *pf_held_take(struct pf_held_list *list, const int32_t *tid);
void pf_held_free(struct pf_held_list *list, struct pf_held *held);

#endif
