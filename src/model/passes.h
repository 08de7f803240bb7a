/* SPDX-License-Identifier: MIT */
/*
 * Of what waits for its turn by time a session may hold only the earliest: the rest stays in the file, and is read again, in another
 * pass, when its time has come.
 */
#ifndef PF_MODEL_PASSES_H
#define PF_MODEL_PASSES_H

#include "format/reader.h"

struct pf_pass_mark {
    struct pf_entry entry;
    bool can_enter;
};

struct pf_passes {
    uint64_t capacity_bytes; /* what may be held; 0: all, and there are no passes */
    uint64_t horizon;        /* records of this time and later are left in the file; UINT64_MAX: none is */
    uint64_t limit;          /* up to here all comes before reading goes on; 0: it goes on */
    struct pf_pass_mark
        marks[3]; /* where the two rounds before began, and the one that is read: rounds hold back two */
    /* of a pass: */
    bool on;
    uint64_t consumed;            /* what is earlier was delivered before */
    uint64_t until;               /* where it ends; UINT64_MAX: at the end of the file */
    struct perfile_counts counts; /* of the reader there, */
    size_t diagnostic_count;      /* and what it has told */
    bool was_muted;
};

/* What the session does between two records: true when there is something to deliver. */
bool pf_passes_step(struct perfile_session *session);
/* A round, or the file, is at its end. */
void pf_passes_mark(struct perfile_session *session);
/* The pass is at its end: what it found comes now. */
void pf_passes_finish(struct perfile_session *session);
/* The record was delivered before, or stays where it is. */
bool pf_passes_leave(struct perfile_session *session, const struct perfile_record *record);
/* More is held than may be: the later half is left in the file. False when out of memory. */
bool pf_passes_hold_less(struct perfile_session *session);

#endif
