/* SPDX-License-Identifier: MIT */
/* The links of a session's chain that are there only when a caller needs them. model/session.h says in which order. */
#ifndef PF_MODEL_LINKS_H
#define PF_MODEL_LINKS_H

#include "base/filter.h"
#include "model/record_source.h"
#include "model/skips.h"

/* ---- skipping.c: samples that the index shows to be unwanted are not read ---- */

struct pf_skipping {
    struct pf_record_source before;
    struct perfile_session *session;
    struct pf_skips skips;
    bool (*unwanted)(void *context, const struct perfile_block *block); /* perfile_session_skip; may be NULL */
    void *context;
};
pf_next_record pf_skipping_next;
/* The chain gets this link, if the recording has an index with blocks. */
void pf_skipping_open(struct pf_skipping *skipping, struct perfile_session *session);

/* ---- following.c: two links for the maker of an index while others read, before sorting and after the state ---- */

struct pf_follower {
    bool (*started)(void *context);                                        /* false: the session is not suitable */
    void (*round)(void *context);                                          /* all that a round settled was delivered */
    void (*read)(void *context, const struct perfile_record *record);      /* in the order of the file */
    void (*delivered)(void *context, const struct perfile_record *record); /* in the order of time */
    void (*ended)(void *context);                                          /* all were delivered */
};

struct pf_following {
    struct pf_record_source before_read, before_delivered;
    const struct pf_follower *follower; /* NULL: there is none any more */
    void *context;
    bool round_over; /* the last record that was read ended a round */
};
pf_next_record pf_following_read, pf_following_delivered;

/* ---- resuming.c: with an index, the session goes on shortly before the times that are wanted ---- */

struct pf_resuming {
    struct pf_record_source before;
    struct perfile_session *session;
    uint64_t until;  /* records before this offset and not later than what is settled belong to the state; 0: none do */
    bool round_over; /* the last record that was read ended a round */
    bool tried;
};
pf_next_record pf_resuming_next;

/* ---- preview.c: samples that a caller takes as they are read, and which are not delivered then ---- */

struct pf_preview {
    struct pf_record_source before;
    struct perfile_session *session;
    bool (*take)(void *context, const struct perfile_record *record); /* NULL: there is no preview */
    void *context;
    uint64_t consumed; /* samples */
};
pf_next_record pf_preview_next;

/* ---- limits.c: two links for the times that are wanted, before sorting and after the state ---- */

struct pf_limits {
    struct pf_record_source before_first, before_last;
    struct perfile_session *session;
    uint64_t first, last; /* 0 and UINT64_MAX: all times are wanted */
    uint64_t delivered;   /* samples */
    bool ended;           /* before the end of the recording */
};
pf_next_record pf_limits_leave_out, pf_limits_end_early;

/* ---- filtering.c: only samples that pass a filter are delivered ---- */

struct pf_filtering {
    struct pf_record_source before;
    struct perfile_session *session;
    bool active;
    struct pf_filter filter;
};
pf_next_record pf_filtering_next;

#endif
