/* SPDX-License-Identifier: MIT */
/*
 * While one thread reads a recording, others look into its symbols. What the caller gave to be called back comes from
 * either: the reader's allocator, its diagnostics and the progress from who reads, notes from who looks into symbols. So
 * that no two of these come at a time, each holds a lock meanwhile.
 */
#ifndef PF_ANALYSIS_GUARD_H
#define PF_ANALYSIS_GUARD_H

#include <pthread.h>

#include "symbol/find/find.h"

struct pf_guard {
    pthread_mutex_t symbols;
    pthread_mutex_t calling_back; /* behind `symbols` when both are held */
    pf_on_note *note;
    void *note_context;
};

void pf_guard_open(struct pf_guard *guard);
void pf_guard_close(struct pf_guard *guard);
/* The notes of who uses these options are guarded from now on; not those of who reads. */
void pf_guard_notes(struct pf_guard *guard, struct pf_find_options *find);

/* Around what reads. */
void pf_guard_begin_reading(struct pf_guard *guard);
void pf_guard_end_reading(struct pf_guard *guard);

/* Around what looks into symbols: `_reading` by who reads, whose callbacks come before or after this. */
void pf_guard_lock(struct pf_guard *guard);
void pf_guard_lock_reading(struct pf_guard *guard);
void pf_guard_unlock(struct pf_guard *guard);

#endif
