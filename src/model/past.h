/* SPDX-License-Identifier: MIT */
/*
 * What of the records before a mark of an index matters to who edits what follows: who lives there, and where the records
 * are that tell of these, and of the recording. So a cut need not read all that was before it.
 *
 * Records that are not in the ranges are samples with a time, what tells of its own moment alone (LOST, SWITCH ...), ends of
 * rounds in which nothing else is in them, and records of processes and threads that do not matter any more (model/lives.h).
 */
#ifndef PF_MODEL_PAST_H
#define PF_MODEL_PAST_H

#include "model/index.h"
#include "model/lives.h"

/* ---- for who makes an index ---- */

struct pf_past_entry;

struct pf_past_maker {
    const struct perfile_allocator *allocator;
    struct pf_lives lives;
    struct pf_past_entry *entries; /* records that matter, as far as one knows; in the order of the file */
    size_t count, room;
    size_t renew_at; /* with so many, those that do not matter any more go */
    bool off;        /* there is something that cannot be told so: marks have none from now on */
    bool failed;     /* out of memory */
};

void pf_past_maker_open(struct pf_past_maker *maker, const struct perfile_allocator *allocator);
void pf_past_maker_close(struct pf_past_maker *maker);
void pf_past_note(struct pf_past_maker *maker, const struct perfile_session *session,
                  const struct perfile_record *record);
/* A record as it stands in the file. Nearly all are samples of which nothing need be known. */
static inline void pf_past_read(struct pf_past_maker *maker, const struct perfile_session *session,
                                const struct perfile_record *record)
{
    const struct pf_event *event = (const struct pf_event *)(const void *)record->event;
    if (PF_UNLIKELY(record->type != PERFILE_RECORD_SAMPLE || record->compressed || !event || !event->plan.time_at ||
                    record->time == UINT64_MAX))
        pf_past_note(maker, session, record);
}
/* The record has its turn. */
void pf_past_delivered(struct pf_past_maker *maker, struct perfile_reader *reader, const struct perfile_record *record);
/* All up to `settled` had its turn, and all before `resume` is no later than that. */
void pf_past_round(struct pf_past_maker *maker, uint64_t settled, uint64_t resume);
/* The same; what is known of the records before `resume`. Nothing: `off`. */
void pf_past_put(struct pf_past_maker *maker, uint64_t settled, uint64_t resume, struct pf_text *text);

/* ---- for who edits ---- */

struct pf_past {
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
int pf_past_open(struct pf_past *past, struct perfile_reader *reader, uint64_t first, struct pf_lives *lives,
                 struct perfile_error *error);
void pf_past_close(struct pf_past *past);
/* `lives` had the record already. */
static inline bool pf_past_knows(const struct pf_past *past, const struct perfile_record *record)
{
    return past->reader && record->offset < past->mark.end && record->time <= past->mark.settled;
}
/* The reader goes to the mark; who wants to see the records before begins with _walk at its start. */
void pf_past_pass(const struct pf_past *past);
void pf_past_walk(struct pf_past *past);
/* The next record may not be one of those that matter. */
static inline bool pf_past_is_due(const struct pf_past *past)
{
    return past->walks && past->reader->parts[0].frame.at >= past->until;
}
/* Goes to the next one that does, or to the mark: then nothing is due any more. */
void pf_past_go_on(struct pf_past *past);

#endif
