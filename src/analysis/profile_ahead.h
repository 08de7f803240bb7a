/* SPDX-License-Identifier: MIT */
/*
 * Reading a profile ahead of who takes its samples: another thread reads and resolves them and leaves them in batches.
 * A batch holds copies, so that the profile may go on. The samples and their order are the same as without.
 */
#ifndef PF_ANALYSIS_PROFILE_AHEAD_H
#define PF_ANALYSIS_PROFILE_AHEAD_H

#include "analysis/profile.h"

struct pf_ahead;

/* profile.c: what pf_profile_next does when nobody reads ahead. */
int pf_profile_read(struct pf_profile *profile, const struct pf_profile_sample **sample, struct perfile_error *error);

/* NULL when out of memory. */
struct pf_ahead *pf_ahead_open(struct pf_profile *profile, unsigned threads, const struct perfile_allocator *allocator);
/* As pf_profile_next. At the end and after an error no thread is left. */
int pf_ahead_next(struct pf_ahead *ahead, const struct pf_profile_sample **sample, struct perfile_error *error);
/* Ends the threads. */
void pf_ahead_stop(struct pf_ahead *ahead);
/* NULL is taken. */
void pf_ahead_close(struct pf_ahead *ahead);

#endif
