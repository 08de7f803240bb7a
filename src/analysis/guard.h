/* SPDX-License-Identifier: MIT */
/*
 * While one thread reads a recording, others look up its symbols. Both call functions of the caller: the reading thread
 * calls the reader's allocator, its diagnostics and the progress, threads that look up symbols call the note function.
 * Each holds a lock meanwhile, so that no two of these are called at a time.
 */
#ifndef PF_ANALYSIS_GUARD_H
#define PF_ANALYSIS_GUARD_H

#include <pthread.h>

#include "symbol/find/find.h"

struct pf_guard {
    pthread_mutex_t symbols;
    pthread_mutex_t calling_back; /* locked after `symbols` when both are held */
    pf_on_note *note;
    void *note_context;
};

void pf_guard_open(struct pf_guard *guard);
void pf_guard_close(struct pf_guard *guard);
/* Guards the note function of these options from now on. The reading thread must not use it. */
void pf_guard_notes(struct pf_guard *guard, struct pf_find_options *find);

/* Around reading. */
void pf_guard_begin_reading(struct pf_guard *guard);
void pf_guard_end_reading(struct pf_guard *guard);

/* Around lookups of symbols; `_reading` is for the reading thread: others may call back until it has the lock. */
void pf_guard_lock(struct pf_guard *guard);
void pf_guard_lock_reading(struct pf_guard *guard);
void pf_guard_unlock(struct pf_guard *guard);

#endif
