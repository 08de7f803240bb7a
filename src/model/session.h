/* SPDX-License-Identifier: MIT */
/*
 * A session is a chain of sources of records (model/record_source.h). Each link takes its records from the one before
 * it. The chain is built once, when the first record is asked for, of the links that are needed:
 *
 *     reader        the file; of a directory `parts`, which merges the files of it
 *     [skipping]    passes over samples in the file that an index shows to be unwanted; nothing after it sees them
 *     [following]   shows each record to the maker of an index, which needs what all other links leave out
 *     [resuming]    goes on elsewhere in the file with the state of an index, and leaves out what that state includes
 *     [preview]     shows each record to a caller that takes samples in the order of the file
 *     [limits]      leaves out samples before the first time that is wanted, so that they do not wait for their turn
 *     sorting       the order of time: all before it is in the order of the file, all after it in the order of time
 *     [state]       threads, mappings and control groups; it must see every record that is delivered, in its turn
 *     [limits]      ends the session after the last time that is wanted
 *     [following]   shows each record to the maker of an index again, now with the state that holds then
 *     [filtering]   leaves samples out, by the names of their threads, too: the state must be known
 *
 * Links that leave samples out before they are sorted count them in `left_out`, and add their times to those that
 * sorting has seen (pf_sorting_note_kept), so that the order of all others is the same as without these links.
 */
#ifndef PF_MODEL_SESSION_H
#define PF_MODEL_SESSION_H

#include "model/links.h"
#include "model/directory_parts.h"
#include "model/state.h"

struct perfile_session {
    struct perfile_reader *reader;
    struct pf_record_source chain; /* its last link; until the first record, a link that builds the chain */
    bool started;                  /* the chain is built: no link can be added */
    bool leaves_names;             /* the chain has no state */
    uint64_t left_out;             /* samples that perfile_session_limit and perfile_session_skip left out */
    struct pf_parts parts;
    struct pf_skipping skipping;
    struct pf_following following;
    struct pf_resuming resuming;
    struct pf_preview preview;
    struct pf_limits limits;
    struct pf_sorting sorting;
    struct pf_state state;
    struct pf_filtering filtering;
};

/* Names of threads, mappings and control groups are not needed. To be called before the first _next. */
void pf_session_leave_names(struct perfile_session *session);

#endif
