/* SPDX-License-Identifier: MIT */
/* When events were lost: what lies around such a moment may be more than one thing. */
#ifndef PF_ANALYSIS_EVENTS_LOSSES_H
#define PF_ANALYSIS_EVENTS_LOSSES_H

#include <perfile/perfile.h>

#include "base/map.h"

struct pf_event_losses {
    struct pf_map of_cpu; /* CPU to the order of its last loss; UINT32_MAX: of any */
    uint64_t order;       /* of the record in hand */
    uint64_t lost;        /* records */
};

static inline void pf_event_losses_open(struct pf_event_losses *losses, const struct perfile_allocator *allocator)
{
    *losses = (struct pf_event_losses){.order = 0};
    pf_map_open(&losses->of_cpu, allocator);
}

static inline void pf_event_losses_close(struct pf_event_losses *losses)
{
    pf_map_close(&losses->of_cpu);
}

/* Each record, in order of time. False: out of memory. */
static inline bool pf_event_losses_take(struct pf_event_losses *losses, struct perfile_reader *reader,
                                        const struct perfile_record *record)
{
    struct perfile_lost lost;
    struct perfile_sample_id id = PERFILE_SAMPLE_ID_INIT;
    losses->order++;
    if (record->type != PERFILE_RECORD_LOST || record->damaged ||
        perfile_record_decode(reader, record, &lost, sizeof(lost), NULL) < 0)
        return true;
    losses->lost += lost.lost;
    const bool notify = perfile_sample_id_decode(reader, record, &id, NULL) >= 0 && id.present & PERFILE_SAMPLE_CPU;
    return pf_map_put(&losses->of_cpu, notify ? id.cpu : UINT32_MAX, losses->order);
}

static inline uint64_t pf_event_loss_of(const struct pf_event_losses *losses, uint32_t cpu)
{
    uint64_t order = 0;
    pf_map_get(&losses->of_cpu, cpu, &order);
    return order;
}

/* Whether anything was lost on one of the CPUs since then. */
static inline bool pf_event_losses_since(const struct pf_event_losses *losses, uint64_t order, uint32_t from_cpu,
                                         uint32_t to_cpu)
{
    return losses->of_cpu.used &&
           (pf_event_loss_of(losses, from_cpu) > order || pf_event_loss_of(losses, to_cpu) > order ||
            pf_event_loss_of(losses, UINT32_MAX) > order);
}

#endif
