/* SPDX-License-Identifier: MIT */
/*
 * Conditions of a statement that skip rows while recordings are read: a column of `samples` compared with a constant.
 * The engine checks all conditions again, so that only some of the rows that it would skip need to be skipped here.
 */
#ifndef PERFILE_CLI_QUERY_PUSHED_H
#define PERFILE_CLI_QUERY_PUSHED_H

#include "source.h"

enum pf_comparison { PF_EQUAL, PF_AT_LEAST, PF_AT_MOST, PF_ABOVE, PF_BELOW };

/* The letter of a condition on a column for pf_pushed_take; 0 if it cannot be pushed. */
char pf_pushed_letter(const struct pf_relation *relation, const char *column, enum pf_comparison comparison);

struct pf_pushed {
    char pids[24], tids[24], cpus[24], time[64];
    char *comms, *events; /* owned */
    uint64_t first_ns, last_ns;
};

/* Adds one condition for each letter. Values that a filter would read as a pattern or a list are ignored. */
void pf_pushed_take(struct pf_pushed *pushed, const struct pf_sources *sources, char letter,
                    const struct pf_cell *value);
/* Sets the request's filter: also what the options of the command give, which is not replaced. */
void pf_pushed_set(struct pf_pushed *pushed, const struct pf_sources *sources, struct pf_request *request);
bool pf_pushed_any(const struct pf_pushed *pushed);
void pf_pushed_free(struct pf_pushed *pushed);

#endif
