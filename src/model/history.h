/* SPDX-License-Identifier: MIT */
/*
 * What an editor needs of the records before a mark of an index: the processes and threads that are alive at the mark,
 * and the positions of the records that describe these and the recording. With it, a cut need not read everything
 * before it.
 *
 * The positions leave out samples with a time, records that describe only their own moment (LOST, SWITCH ...), ends of
 * rounds that contain nothing else, and records of processes and threads that no longer matter (model/lifetimes.h).
 */
#ifndef PF_MODEL_HISTORY_H
#define PF_MODEL_HISTORY_H

#include "model/index.h"
#include "model/lifetimes.h"

/* ---- for the code that writes an index ---- */

struct pf_history_entry;

struct pf_history_maker {
    const struct perfile_allocator *allocator;
    struct pf_lifetimes lifetimes;
    struct pf_history_entry *entries; /* records that matter so far, in the order of the file */
    size_t count, capacity;
    size_t renew_at;  /* with this many entries, those that no longer matter are removed */
    bool off;         /* a record cannot be described: marks get no history from now on */
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
/* The record is delivered in the order of time. */
void pf_history_delivered(struct pf_history_maker *maker, struct perfile_reader *reader,
                          const struct perfile_record *record);
/* Everything up to `settled` was delivered, and no record before `resume` has a later time. */
void pf_history_round(struct pf_history_maker *maker, uint64_t settled, uint64_t resume);
/* The same, and writes what is known of the records before `resume`. Writes nothing when `off`. */
void pf_history_put(struct pf_history_maker *maker, uint64_t settled, uint64_t resume, struct pf_text *text);

/* ---- for the code that edits ---- */

struct pf_history {
    struct perfile_reader *reader; /* NULL: the index has no history */
    struct pf_index_mark mark;
    uint8_t *bytes;
    size_t count;
    size_t ranges_at; /* in `bytes`; each range has its distance from the one before, and its length */
    /* while the ranges are read: */
    bool walks;
    const uint8_t *at;         /* the next range */
    uint64_t until;            /* the end of the last range */
    uint64_t records, samples; /* at the end: how many were not read */
};

/*
 * Opens the history of the last mark before `first`, if the reader's index has one, and adds the processes and threads
 * that are alive there to `lifetimes`, which is open. MEMORY.
 */
int pf_history_open(struct pf_history *history, struct perfile_reader *reader, uint64_t first,
                    struct pf_lifetimes *lifetimes, struct perfile_error *error);
void pf_history_close(struct pf_history *history);
/* The `lifetimes` contain the record already. */
static inline bool pf_history_knows(const struct pf_history *history, const struct perfile_record *record)
{
    return history->reader && record->offset < history->mark.end && record->time <= history->mark.settled;
}
/* Moves the reader to the mark. To see the records before it, call pf_history_walk at their start. */
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
