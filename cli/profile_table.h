/* SPDX-License-Identifier: MIT */
/* Tables of profiles as text: what top prints of each interval, and report of a profile in a file. */
#ifndef PERFILE_CLI_PROFILE_TABLE_H
#define PERFILE_CLI_PROFILE_TABLE_H

#include <perfile/profile.h>

#include <stdio.h>

struct pf_profile_location {
    const struct perfile_profile *profile;
    struct perfile_profile_sample sample;
    struct perfile_profile_function function;
};

struct pf_profile_column {
    const char *name, *title;
    void (*put)(const struct pf_profile_location *location, const char *name, FILE *to);
    bool of_functions;
    const char *doc;
};

enum { PF_PROFILE_COLUMNS = 24 };
struct pf_profile_columns {
    struct pf_profile_column columns[PF_PROFILE_COLUMNS];
    char *names; /* of columns that are tags; owned */
    size_t count;
    bool children;              /* a sample counts for all functions in its stack */
    bool by_functions;          /* all columns describe functions */
    bool samples;               /* their number is shown, too */
    bool periods;               /* and the sum of their periods */
    bool relative;              /* percentages are of what is shown */
    const char *dsos, *symbols; /* only rows of these; NULL: all */
    double min_percent;
    uint64_t more_than; /* samples */
};

/* Columns that a list can have, apart from fields of tracepoints; NULL after the last. */
const char *pf_profile_column_at(size_t index, const char **doc);
/*
 * Takes a list such as "comm,dso"; what is not a column of its own must be a tag of the profile, which may be NULL:
 * then any tag will do. A status. Close them after failures, too, by freeing `names`.
 */
int pf_profile_columns_choose(struct pf_profile_columns *chosen, const char *verb, const char *list,
                              const struct perfile_profile *profile);
/* The keys of a profile that has these columns; the caller frees them. NULL: out of memory. */
char *pf_profile_columns_keys(const char *list);

struct pf_profile_table {
    const char *verb, *prefix; /* of the line above the table */
    uint64_t top;              /* how many rows; 0: 20 */
};
/* Prints the rows of an event on standard output. A status, with a message. */
int pf_profile_table_print(const struct perfile_profile *profile, uint32_t event,
                           const struct pf_profile_columns *chosen, const struct pf_profile_table *table);

#endif
