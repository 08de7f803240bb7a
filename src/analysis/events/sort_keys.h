/* SPDX-License-Identifier: MIT */
/* What rows are sorted by: lists of keys such as "max,count". */
#ifndef PF_ANALYSIS_EVENTS_SORT_KEYS_H
#define PF_ANALYSIS_EVENTS_SORT_KEYS_H

#include "base/error.h"

enum { PF_SORT_KEYS = 8 };

/* What there is, and what is taken when nothing is asked for. */
struct pf_sort_names {
    const char *names[PF_SORT_KEYS]; /* NULL after the last one */
    const char *usual;
    const char *list, *word; /* what messages call the list and a name; NULL: "sort" and "key" */
};

struct pf_sort_keys {
    unsigned list[PF_SORT_KEYS]; /* places of names */
    size_t count;
};

/* The words of `text` (parted by commas or blanks); without any, or with NULL, the usual ones. ARGUMENT: an unknown one. */
int pf_sort_keys_parse(struct pf_sort_keys *keys, const char *text, const struct pf_sort_names *names,
                       struct perfile_error *error);
/* Behind the others, if it is not among them. */
void pf_sort_keys_add(struct pf_sort_keys *keys, unsigned key);
/* By the first key that tells two rows apart; 0: none does. `by` compares them by one key. */
int pf_sort_keys_compare(const struct pf_sort_keys *keys, const void *left, const void *right,
                         int (*by)(unsigned key, const void *left, const void *right));
/* The larger one first. */
int pf_sort_down(uint64_t left, uint64_t right);
int pf_sort_down_f64(double left, double right);

#endif
