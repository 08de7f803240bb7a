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
    unsigned list[PF_SORT_KEYS]; /* indexes of names */
    size_t count;
};

/*
 * The words of `text`, separated by commas or blanks; without any, or with NULL, the default. ARGUMENT: an unknown one.
 */
int pf_sort_keys_parse(struct pf_sort_keys *keys, const char *text, const struct pf_sort_names *names,
                       struct perfile_error *error);
/* Adds a key after the others, unless it is among them. */
void pf_sort_keys_add(struct pf_sort_keys *keys, unsigned key);
/* Compares by the first key in which the rows differ; 0 when there is none. `by` compares them by one key. */
int pf_sort_keys_compare(const struct pf_sort_keys *keys, const void *left, const void *right,
                         int (*by)(unsigned key, const void *left, const void *right));
/* The position of `text` among the names: 0 without a text, -1 where it is not one of them. */
int pf_sort_number(const char *const *names, size_t count, const char *text);
/* The larger one first. */
int pf_sort_down(uint64_t left, uint64_t right);
int pf_sort_down_f64(double left, double right);

#endif
