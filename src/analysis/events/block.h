/* SPDX-License-Identifier: MIT */
/*
 * Requests to block devices: block:block_rq_issue, block_rq_complete and, where it is recorded, block_rq_insert are
 * joined by device and sector. Only the requests that are not completed are kept.
 */
#ifndef PF_ANALYSIS_EVENTS_BLOCK_H
#define PF_ANALYSIS_EVENTS_BLOCK_H

#include "analysis/events/fields.h"
#include "analysis/events/losses.h"
#include "analysis/events/source.h"

extern const struct pf_required_events pf_block_events;

enum { PF_BLOCK_OP = 12 };

struct pf_block_request {
    uint32_t dev;
    uint64_t sector; /* of the part that is not complete */
    uint64_t first_sector, sectors, bytes;
    char op[PF_BLOCK_OP];             /* the kernel's letters: "RA", "WS", "FF" */
    uint64_t insert, issue, complete; /* ns; 0: not seen */
    uint64_t order;
    uint32_t cpu;
    int32_t pid, tid; /* of the thread that issued it, which may be a thread of the kernel */
    const char *comm;
    int32_t error;
    bool uncertain; /* around lost events */
    bool used;
};

struct pf_block_io {
    struct perfile_reader *reader;
    const struct perfile_allocator *allocator;
    struct pf_events events;
    struct pf_event_losses losses;
    struct pf_map positions; /* a hash of device and sector to the index of the request */
    struct pf_block_request *requests;
    size_t count, capacity;
    uint32_t *unused;
    size_t unused_count, unused_capacity;
    uint64_t issues_alone;             /* that another issue of the same sector followed */
    uint64_t completes_alone, parents; /* without an issue; of flushes, which have none */
};

void pf_block_io_open(struct pf_block_io *blocks, struct perfile_reader *reader,
                      const struct perfile_allocator *allocator);
void pf_block_io_close(struct pf_block_io *blocks);
/* 1 and *request, which is complete; 0, or PERFILE_ERROR_MEMORY. */
int pf_block_io_take(struct pf_block_io *blocks, const struct pf_delivered *item, struct pf_block_request *request);
void pf_block_io_notify(struct pf_block_io *blocks, pf_on_note *notify, void *context);

#endif
