/* SPDX-License-Identifier: MIT */
/*
 * Structs of the caller that begin with `size_t size`, their sizeof in the caller's build, which may be older or newer
 * than this one. `ours` is the same struct as this build knows it, `bytes` its sizeof.
 */
#ifndef PF_BASE_SIZED_H
#define PF_BASE_SIZED_H

#include "base/error.h"

/*
 * Copies the caller's struct into `ours`. Members that the caller's header did not have stay unchanged, and so do all
 * of them when `theirs` is NULL. ARGUMENT, with `what` in the message: the size is not set, or the part that is not
 * known here is not all zeros, so that an option would be ignored.
 */
int pf_sized_take(void *ours, size_t bytes, const void *theirs, const char *what, struct perfile_error *error);
/*
 * The same for a struct without a size of its own: the caller's argument `capacity` is its size. ARGUMENT also when
 * that is 0. NULL only with 0.
 */
int pf_measured_take(void *ours, size_t bytes, const void *theirs, size_t capacity, const char *what,
                     struct perfile_error *error);
/* Fills the `capacity` bytes at `theirs`; what is not known here is zeroed. */
void pf_measured_give(void *theirs, size_t capacity, const void *ours, size_t bytes);
/* ARGUMENT, with `what` in the message: theirs, which pf_sized_give is to fill (or NULL), has no size. */
int pf_sized_check(const void *theirs, const char *what, struct perfile_error *error);
/*
 * Fills theirs, whose size says how much of it there is; what is not known here is zeroed. ARGUMENT: size is not set.
 * Nothing is done when theirs is NULL.
 */
int pf_sized_give(void *theirs, const void *ours, size_t bytes);

#endif
