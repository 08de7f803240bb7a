/* SPDX-License-Identifier: MIT */
/* A list of names that a caller asks for, "a,b": which names match it, and which of the list matched nothing. */
#ifndef PF_BASE_NAMES_FILTER_H
#define PF_BASE_NAMES_FILTER_H

#include <perfile/perfile.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"

struct pf_names {
    const char **items; /* in an arena */
    size_t count, capacity;
    bool *matched; /* one each; NULL: of no filter */
    size_t unmatched;
};

/* Notifies of each name that matched nothing; `what` is the list ("symbols"), `known` may have been meant. */
void pf_names_notify_unmatched(const struct pf_names *wanted, const struct pf_names *known, const char *what,
                               perfile_on_unmatched *notify, void *context);

struct pf_names_filter {
    bool active;       /* there is a list */
    bool of_functions; /* functions also match by their names without parameters: pf_function_is_called */
    bool noted;        /* any name, while one of the list was unmatched */
    struct pf_names wanted;
    struct pf_names known; /* names that were compared then, which may have been meant */
    struct pf_map seen;    /* their addresses */
    struct pf_arena arena;
    /* the last answer: neighbours in a recording are alike */
    const char *last;
    bool last_matches;
};

/* list NULL: not active. ARGUMENT (a list without names), MEMORY. Close it also after a failure, and all zeros. */
int pf_names_filter_open(struct pf_names_filter *filter, const char *list, bool of_functions,
                         const struct perfile_allocator *allocator, struct perfile_error *error);
void pf_names_filter_close(struct pf_names_filter *filter);
/* Remembers which of the list the name matches; only while wanted.unmatched is not 0. */
void pf_names_filter_note(struct pf_names_filter *filter, const char *name);
/* Whether the name matches one of the list; _matches remembers the last answer: equal pointers are equal names. */
bool pf_names_filter_compare(const struct pf_names_filter *filter, const char *name);
/* Calls `notify` for each name of the list that no name matched, if any name was compared. `notify` may be NULL. */
void pf_names_filter_notify_unmatched(const struct pf_names_filter *filter, const char *what,
                                      perfile_on_unmatched *notify, void *context);

static inline bool pf_names_filter_matches(struct pf_names_filter *filter, const char *name)
{
    if (filter->last != name) {
        filter->last = name;
        filter->last_matches = pf_names_filter_compare(filter, name);
    }
    return filter->last_matches;
}

/* Both. NULL is the empty name. True when not active. */
static inline bool pf_names_filter_passes(struct pf_names_filter *filter, const char *name)
{
    const char *passed = name ? name : "";
    if (!filter->active)
        return true;
    if (PF_UNLIKELY(filter->wanted.unmatched))
        pf_names_filter_note(filter, passed);
    return pf_names_filter_matches(filter, passed);
}

#endif
