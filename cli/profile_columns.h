/* SPDX-License-Identifier: MIT */
/* Columns of tables of profiles by the names of --sort: for top, report of a profile, and the interactive view. */
#ifndef PERFILE_CLI_PROFILE_COLUMNS_H
#define PERFILE_CLI_PROFILE_COLUMNS_H

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

/* Which columns texts are made of. */
enum pf_profile_part { PF_PROFILE_OF_FUNCTIONS, PF_PROFILE_OF_SAMPLES, PF_PROFILE_OF_ALL };

enum { PF_PROFILE_COLUMNS = 24 };
struct pf_profile_columns {
    struct pf_profile_column columns[PF_PROFILE_COLUMNS];
    char *names;      /* of columns that are tags; owned */
    const char *list; /* what they were chosen from, which is the caller's */
    size_t count;
    bool children;              /* a sample counts for all functions in its stack */
    bool by_functions;          /* all columns describe functions */
    bool has_functions;         /* some do */
    bool has_times;             /* the profile must keep times apart */
    bool exact;                 /* some describe the address of the sample, not the functions in its stack */
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
 * then any tag will do. Weights in the list choose what is shown of them. A status. Close them after failures, too, by
 * freeing `names`.
 */
int pf_profile_columns_choose(struct pf_profile_columns *chosen, const char *verb, const char *list,
                              const struct perfile_profile *profile);
/* The same before there is a profile; a name that is not known may be a field of tracepoints. */
int pf_profile_columns_any(struct pf_profile_columns *chosen, const char *verb, const char *list);
/* Whether profiles have all columns of the list that reports have; only recordings know fields of tracepoints. */
bool pf_profile_columns_possible(const char *list);
/* The keys of a profile that has these columns; the caller frees them. NULL: out of memory. */
char *pf_profile_columns_keys(const char *list);
/* The texts of the columns of a part, each with a newline after it; the caller frees them. NULL: out of memory. */
char *pf_profile_columns_texts(const struct pf_profile_columns *chosen, const struct pf_profile_location *location,
                               enum pf_profile_part part);

#endif
