/* SPDX-License-Identifier: MIT */
/* Suggests the nearest of several names for a misspelt one: candidates are offered, then the text is asked for. */
#ifndef PF_CLI_GUESS_H
#define PF_CLI_GUESS_H

#include <stddef.h>

enum { PF_GUESS_BYTES = 40 }; /* longer names are not compared */

struct pf_guess {
    const char *wanted;
    const char *best; /* NULL: nothing is near */
    size_t distance;  /* of `best`; at first, one more than allowed */
};
struct pf_guess pf_guess_start(const char *wanted);
void pf_guess_offer(struct pf_guess *guess, const char *candidate);
/* How many letters the candidate differs in; SIZE_MAX: it is too long to be compared. */
size_t pf_guess_distance(const struct pf_guess *guess, const char *candidate);
/* "; did you mean X?" with `prefix` before X, or "". */
const char *pf_guess_text(const struct pf_guess *guess, const char *prefix, char *buffer, size_t bytes);

#endif
