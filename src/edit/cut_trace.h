/* SPDX-License-Identifier: MIT */
/*
 * What of hardware traces belongs to a slice of time: of each payload a piece, from where decoding can start to where
 * the slice ends. The recording is read once before for that, as times may be in a later payload.
 */
#ifndef PF_EDIT_CUT_TRACE_H
#define PF_EDIT_CUT_TRACE_H

#include "base/filter.h"
#include "edit/edit.h"
#include "hwtrace/queues.h"

/* The piece of a payload that is kept: from == to: none. */
struct pf_cut_piece {
    uint64_t from, to;
};

struct pf_cut_trace {
    struct perfile_reader *reader;
    struct pf_aux_queues queues;
    struct pf_map numbers; /* of pieces, by the position of their payloads */
    struct pf_cut_piece *pieces;
    size_t count, capacity;
};

/* Reads the recording, which is rewound. Times are those of the recording. */
int pf_cut_trace_open(struct pf_cut_trace *trace, struct perfile_reader *reader, const struct pf_range *times,
                      struct perfile_error *error);
/* All zeros may be closed, too. */
void pf_cut_trace_close(struct pf_cut_trace *trace);
/* What is kept of the payload of this AUXTRACE record; all where nothing is known of it. */
struct pf_cut_piece pf_cut_trace_piece(const struct pf_cut_trace *trace, const struct perfile_record *record);

#endif
