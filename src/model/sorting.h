/* SPDX-License-Identifier: MIT */
/* The link that delivers records in the order of time: records wait here until no earlier one can come any more. */
#ifndef PF_MODEL_SORTING_H
#define PF_MODEL_SORTING_H

#include "format/reader.h"
#include "model/order.h"
#include "model/record_source.h"

struct pf_sorting {
    struct pf_record_source before;
    struct perfile_reader *reader;
    struct pf_order order;
    uint64_t lateness;    /* of directories: how much older a record may be than the one before it; 0: rounds say it */
    uint64_t round_limit; /* when this round ends, times up to this one cannot come any more */
    uint64_t settled;     /* times up to this one cannot come any more */
    uint64_t last_time;   /* the greatest time that was delivered */
    uint64_t unordered;   /* records that came later than their time allowed */
    bool relieved;        /* records were delivered before their order was certain, to limit memory */
    bool at_end;          /* there is nothing more to be read */
};

/* How much older than its predecessors a record of the same ring buffer may be: deferred callchains come so late. */
#define PF_SORTING_LATENESS_NS UINT64_C(1000000000)

/*
 * Whether the record is delivered by its time; else it is delivered where it stands. Only what the kernel wrote with a
 * time waits; and nothing does when only samples have times, because what happened between them would be unknown.
 */
static inline bool pf_sorting_must_wait(const struct perfile_reader *reader, const struct perfile_record *record)
{
    return record->type < PERFILE_RECORD_HEADER_ATTR && reader->event_count && reader->events[0]->plan.sample_id_all &&
           record->time != 0 && record->time != UINT64_MAX && !record->damaged;
}

/* A link before this one keeps the record, which has a time: it counts as if it had waited here. */
static inline void pf_sorting_note_kept(struct pf_sorting *sorting, const struct perfile_record *record)
{
    sorting->unordered += record->time < sorting->settled;
    sorting->order.max_time = pf_max(sorting->order.max_time, record->time);
}

/* Nothing is delivered by its time now: reads on. As pf_next_record. */
int pf_sorting_read_on(struct pf_sorting *sorting, const struct perfile_record **record, struct perfile_error *error);

/* A pf_next_record. Inline, because nearly every record goes this way. */
static inline int pf_sorting_next(void *context, const struct perfile_record **record, struct perfile_error *error)
{
    struct pf_sorting *sorting = context;
    if (PF_UNLIKELY(sorting->reader->stops & PF_READER_STOPPED)) { /* all that is left may be in memory */
        *record = NULL;
        return pf_reader_check_stopped(sorting->reader, error);
    }
    *record = PF_LIKELY(sorting->order.flushing) ? pf_order_pop(&sorting->order) : NULL;
    if (PF_UNLIKELY(!*record)) {
        const int result = pf_sorting_read_on(sorting, record, error);
        if (result <= 0)
            return result;
    }
    const uint64_t time = (*record)->time;
    sorting->unordered += time < sorting->last_time && time;
    sorting->last_time = pf_max(sorting->last_time, time);
    return 1;
}

#endif
