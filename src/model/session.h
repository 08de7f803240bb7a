/* SPDX-License-Identifier: MIT */
/* A session from the inside, for what begins in the middle of a recording. */
#ifndef PF_MODEL_SESSION_H
#define PF_MODEL_SESSION_H

#include "base/bytes.h"
#include "base/filter.h"
#include "format/reader.h"
#include "model/cgroups.h"
#include "model/maps.h"
#include "model/order.h"
#include "model/skips.h"
#include "model/threads.h"

/* Who makes an index while others read. */
struct pf_follower {
    void (*round)(void *context);                                          /* all that a round settled was delivered */
    void (*read)(void *context, const struct perfile_record *record);      /* as it stands in the file */
    void (*delivered)(void *context, const struct perfile_record *record); /* in its turn */
    void (*ended)(void *context);                                          /* all was */
};

struct perfile_session {
    struct perfile_reader *reader;
    struct pf_order order;
    struct pf_threads threads;
    struct pf_maps maps;
    struct pf_cgroups cgroups;
    const struct perfile_record *record; /* what is delivered */
    struct perfile_record *heads;        /* directories: the next record of each part */
    bool *has_head;
    bool heads_read;
    uint32_t last_part;   /* whose head was taken */
    uint64_t round_limit; /* times up to this one cannot come any more */
    uint64_t last_time;
    uint64_t unordered;
    uint64_t settled; /* the order of the recording itself says that earlier times cannot come any more */
    uint64_t first_wanted, last_wanted;
    uint64_t left_out;  /* samples before first_wanted */
    uint64_t delivered; /* samples that were delivered */
    /* of a reader that has an index, and of who makes one: */
    struct pf_skips skips;
    bool (*unwanted)(void *context, const struct perfile_block *block); /* NULL: all samples are wanted */
    void *unwanted_context;
    bool (*take)(void *context, const struct perfile_record *record); /* perfile_session_preview; NULL: nobody does */
    void *take_context;
    struct pf_entry round_at, round_before; /* where the round that is read begins, and the one before it; offset 0: */
    bool can_enter, can_enter_before;       /* one cannot begin there */
    struct perfile_counts counts_at, counts_before; /* of the reader there */
    uint64_t round_end;                             /* where the last one ended */
    uint64_t resumed_until; /* what lies before here and is not later than `settled` was delivered: */
    bool resumed;
    bool round_over;                    /* and all that is settled was delivered */
    const struct pf_follower *follower; /* NULL: none */
    void *follower_context;
    bool plain;    /* what is flushed is for nobody but the caller of _next: no filter, no follower ... */
    bool relieved; /* records were delivered before the order was sure */
    bool at_end;
    bool ended; /* before the end of the recording */
    bool follows_maps;
    bool exit_pending; /* the record that was delivered last ends a thread: its name goes when the next one comes */
    int32_t exit_tid;
    bool keeps_comms; /* those of threads that have ended */
    bool nameless;    /* nobody asks for any */
    bool has_filter;
    struct pf_filter filter;
};

/*
 * The record has its turn by its time; else it comes where it stands. Only what the kernel wrote with a time waits; and nothing
 * does when only samples have times, because what happened between them could not be told any more.
 */
static inline bool pf_session_must_wait(const struct perfile_session *session, const struct perfile_record *record)
{
    const struct perfile_reader *reader = session->reader;
    return record->type < PERFILE_RECORD_HEADER_ATTR && reader->event_count && reader->events[0]->plan.sample_id_all &&
           record->time != 0 && record->time != UINT64_MAX && !record->damaged;
}

/* Names of threads, mappings and control groups are not needed. To be called before the first _next. */
void pf_session_leave_names(struct perfile_session *session);

#endif
