/* SPDX-License-Identifier: MIT */
/* What is on one side only, and may be something else's other name. */
#ifndef PF_ANALYSIS_DIFF_MATCH_H
#define PF_ANALYSIS_DIFF_MATCH_H

#include "analysis/diff/gather.h"

/* Where sentences about what was guessed go. False when out of memory. */
typedef bool pf_on_diff_note(void *context, const char *text);

struct pf_diff_match {
    struct pf_diff *diff;
    pf_on_diff_note *report_notes;
    void *context;
};

/* Says a sentence with two names in it. False when out of memory. */
bool pf_diff_notify(const struct pf_diff_match *match, const char *format, const char *name, const char *other);

/* Says which functions have parts on one side only, that compilers made. False when out of memory. */
bool pf_diff_find_parts(const struct pf_diff_match *match);

/* Fills diff->modules and diff->aliases. What was gathered is gone. False when out of memory. */
bool pf_diff_guess(struct pf_diff_match *match);

/* The observations of a row. `weights` has capacity for all profiles. */
struct pf_comparison;
void pf_diff_observe(const struct pf_diff *diff, size_t row, double *weights, struct pf_comparison *comparison);

#endif
