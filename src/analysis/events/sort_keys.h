/* SPDX-License-Identifier: MIT */
/* Lists of sort keys such as "max,count". */
#ifndef PF_ANALYSIS_EVENTS_SORT_KEYS_H
#define PF_ANALYSIS_EVENTS_SORT_KEYS_H

#include "base/error.h"

/*
 * Hands each word of `text` (parted by commas or blanks; NULL is none) that is one of `names` to `add`, as its number. ARGUMENT:
 * an unknown one; `valid` is what the message lists.
 */
int pf_sort_keys(const char *text, const char *const *names, size_t count, const char *valid,
                 void (*add)(void *context, size_t number), void *context, struct perfile_error *error);

#endif
