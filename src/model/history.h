/* SPDX-License-Identifier: MIT */
/*
 * What of the records before a mark of an index matters to who edits what follows: who lives there, and where the records
 * are that tell of these, and of the recording. So a cut need not read all that was before it.
 *
 * Records that are not in the ranges are samples with a time, what tells of its own moment alone (LOST, SWITCH ...), ends of
 * rounds in which nothing else is in them, and records of processes and threads that do not matter any more (model/lifetimes.h).
 */
#ifndef PF_MODEL_HISTORY_H
#define PF_MODEL_HISTORY_H

#include "model/index.h"
#include "model/lifetimes.h"

/* ---- for who makes an index ---- */

struct pf_history_entry;

struct pf_history_maker {
    const struct perfile_allocator *allocator;
    struct pf_lifetimes lifetimes;
    struct pf_history_entry *entries; /* records that matter, as far as one knows; in the order of the file */
    size_t count, capacity;
    size_t renew_at;  /* with so many, those that do not matter any more go */
    bool off;         /* there is something that cannot be told so: marks have none from now on */
    bool failed;      /* out of memory */
    bool round_ended; /* set by the caller when the first round has ended */
};

void pf_history_maker_open(struct pf_history_maker *maker, const struct perfile_allocator *allocator);
void pf_history_maker_close(struct pf_history_maker *maker);
void pf_history_note(struct pf_history_maker *maker, struct perfile_reader *reader,
                     const struct perfile_record *record);
/* A record as it stands in the file. Nearly all are samples of which nothing need be known. */
static inline void pf_history_read(struct pf_history_maker *maker, struct perfile_reader *reader,
                                   const struct perfile_record *record)
{
    const struct pf_event *event = (const struct pf_event *)(const void *)record->event;
    if (PF_UNLIKELY(record->type != PERFILE_RECORD_SAMPLE || record->compressed || !event || !event->plan.time_at ||
                    record->time == UINT64_MAX))
        pf_history_note(maker, reader, record);
}
/* The record has its turn. */
void pf_history_delivered(struct pf_history_maker *maker, struct perfile_reader *reader,
                          const struct perfile_record *record);
/* All up to `settled` had its turn, and all before `resume` is no later than that. */
void pf_history_round(struct pf_history_maker *maker, uint64_t settled, uint64_t resume);
/* The same; what is known of the records before `resume`. Nothing: `off`. */
void pf_history_put(struct pf_history_maker *maker, uint64_t settled, uint64_t resume, struct pf_text *text);

/* ---- for who edits ---- */

struct pf_history {
    struct perfile_reader *reader; /* NULL: there is none */
    struct pf_index_mark mark;
    uint8_t *bytes;
    size_t count;
    size_t ranges_at; /* in these, of each how far it is behind the one before, and its bytes */
    /* while they are read: */
    bool walks;
    const uint8_t *at;         /* the next one */
    uint64_t until;            /* the end of the last one */
    uint64_t records, samples; /* at the end: that were not read */
};

/* Of the last mark before a time, if the reader's index has it; `lives` has opened, and has who lives there. MEMORY. */
int pf_history_open(struct pf_history *history, struct perfile_reader *reader, uint64_t first,
                    struct pf_lifetimes *lifetimes, struct perfile_error *error);
void pf_history_close(struct pf_history *history);
/* `lives` had the record already. */
static inline bool pf_history_knows(const struct pf_history *history, const struct perfile_record *record)
{
    return history->reader && record->offset < history->mark.end && record->time <= history->mark.settled;
}
/* The reader goes to the mark; who wants to see the records before begins with _walk at its start. */
void pf_history_pass(const struct pf_history *history);
void pf_history_walk(struct pf_history *history);
/* The next record may not be one of those that matter. */
static inline bool pf_history_is_due(const struct pf_history *history)
{
    return history->walks && history->reader->parts[0].frame.at >= history->until;
}
/* Goes to the next one that does, or to the mark: then nothing is due any more. */
void pf_history_go_on(struct pf_history *history);

#endif
