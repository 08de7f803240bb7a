/* SPDX-License-Identifier: MIT */
/*
 * Most samples are at an address where the same process was sampled before. Such a sample counts there as it is read: it
 * need not wait for its turn by time, nor is its thread or mapping looked up. That is right as long as no record of a
 * mapping turns up later whose time is before that of such a sample and which holds its address. Then it was wrong, which
 * is noticed, and the recording must be read again in order.
 */
#ifndef PF_ANALYSIS_ANNOTATE_DIRECT_H
#define PF_ANALYSIS_ANNOTATE_DIRECT_H

#include <perfile/perfile.h>

#include "base/map.h"

enum { PF_DIRECT_KERNEL = -1 }; /* the process whose space is the kernel's */

/* Where a sample is: in one state of one address space. */
struct pf_direct_place {
    uint64_t ip;
    uint32_t space; /* number; 0: it cannot be counted directly */
    uint32_t event;
};

struct pf_direct_slot {
    struct pf_direct_place place;
    uint64_t last;  /* time of the latest sample that was counted here */
    uint32_t space; /* index */
    uint32_t hit;
};

/* The address space of a process, or the kernel's. */
struct pf_direct_space {
    uint32_t number;    /* another one with each change */
    uint32_t pending;   /* changes that were read and have not had their turn */
    uint64_t last;      /* time of the latest sample that was counted directly */
    uint64_t forgotten; /* the same of those in slots that others have now */
};

struct pf_direct {
    const struct perfile_allocator *allocator;
    const struct perfile_reader *reader;
    struct pf_direct_slot *slots;
    struct pf_map by_pid;
    struct pf_direct_space *spaces;
    size_t count, room;
    uint32_t numbers; /* that were given */
    struct pf_direct_recent {
        int32_t pid;
        uint32_t space; /* index plus one; 0 = empty */
    } recent[64];
    bool wrong; /* what was counted is not what reading in order would have counted */
};

/* False when out of memory. */
bool pf_direct_open(struct pf_direct *direct, const struct perfile_reader *reader,
                    const struct perfile_allocator *allocator);
void pf_direct_close(struct pf_direct *direct);

/* A record that is no sample: as it is read, and when it has its turn. False when out of memory. */
bool pf_direct_read(struct pf_direct *direct, const struct perfile_record *record);
bool pf_direct_turn(struct pf_direct *direct, const struct perfile_record *record);

/* Where a decoded sample is, as the records that were read say. */
struct pf_direct_place pf_direct_place_of(struct pf_direct *direct, const struct perfile_record *record,
                                          const struct perfile_sample *sample);
/* The slot of a place, or NULL. */
struct pf_direct_slot *pf_direct_find(struct pf_direct *direct, const struct pf_direct_place *place);
/* A sample was counted in this slot. */
void pf_direct_count(struct pf_direct *direct, struct pf_direct_slot *slot, const struct perfile_record *record);
/* What was found out of a place in order; `pid`: of its space. */
void pf_direct_learn(struct pf_direct *direct, const struct pf_direct_place *place, int32_t pid, uint32_t hit);

#endif
