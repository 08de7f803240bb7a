/* SPDX-License-Identifier: MIT */
/* Profiles as a matrix: a row for each thing that is compared, a cell for each recording. */
#ifndef PF_ANALYSIS_DIFF_GATHER_H
#define PF_ANALYSIS_DIFF_GATHER_H

#include <perfile/diff.h>

#include "analysis/event_names.h"
#include "base/map.h"
#include "base/memory.h"

/* Items of one size, equal ones once, numbered from 0. */
struct pf_distinct {
    const struct perfile_allocator *allocator;
    struct pf_map map; /* from a hash to a number; of equal hashes the next ones are taken */
    uint64_t seed[2];
    char *items;
    size_t count, capacity, bytes;
};

void pf_distinct_open(struct pf_distinct *set, const struct perfile_allocator *allocator, size_t bytes);
void pf_distinct_close(struct pf_distinct *set);
/* The number of an equal item, which may be new. PERFILE_NO_ID: out of memory. */
uint32_t pf_distinct_number(struct pf_distinct *set, const void *item);
/* The same; PERFILE_NO_ID: there is none. */
uint32_t pf_distinct_find(const struct pf_distinct *set, const void *item);

#define PF_DIFF_UNKNOWN "[unknown]"

/* The parts of a row's key. Each is a number plus one; 0 when the row does not have the part. */
enum pf_diff_part {
    PF_DIFF_MODULE,
    PF_DIFF_FUNCTION,
    PF_DIFF_LINE,
    PF_DIFF_FILE, /* the same without the number, unless lines are wanted, too */
    PF_DIFF_THREAD,
    PF_DIFF_PATH,
    PF_DIFF_TAGS,
    PF_DIFF_PARTS
};

/* Words of a list: other keys of profiles, and tags. */
enum { PF_DIFF_TAGS_MAX = 16 };
struct pf_diff_tags {
    struct {
        const char *name;
        size_t bytes;
    } words[PF_DIFF_TAGS_MAX];
    size_t count;
};

struct pf_diff_key {
    uint32_t parts[PF_DIFF_PARTS];
};

/* Numbers of texts. */
struct pf_diff_function {
    uint32_t module, name;
};

/* A call path: of its caller's, or PERFILE_NO_ID, and the function. */
struct pf_diff_path {
    uint32_t parent, function;
};

/* What a function is counted as. */
struct pf_diff_alias {
    uint32_t function; /* itself: as what it is */
    uint32_t other;    /* the text of what else is in it, plus one; 0: nothing */
    uint32_t state;    /* enum perfile_diff_state, of the row */
};

struct pf_diff_cell {
    double weight;
    uint64_t samples;
};

/* What was counted while a function was running. */
struct pf_diff_leaf {
    uint64_t weight, samples;
};

struct pf_diff_profile {
    const struct perfile_profile *profile;
    bool is_before;
    struct pf_event_choice event; /* its `first` is PERFILE_NO_ID: it has none of that name */
    uint64_t total;               /* periods, or samples where they are all 0 */
    uint32_t value;               /* which of a row's values that is */
    double scale;                 /* of weights */
    uint32_t *functions;          /* numbers, of the profile's functions; owned */
    size_t function_count;
    struct pf_diff_leaf *leaves; /* by function of the profile; owned */
};

struct pf_diff {
    struct pf_arena arena;
    const struct perfile_allocator *allocator;
    const struct perfile_diff_options *options;
    struct pf_map text_map;
    uint64_t seed[2];
    const char **texts; /* in the arena */
    size_t text_count, text_capacity;
    struct pf_distinct functions, paths, keys; /* of the structs above */
    struct pf_diff_alias *aliases;             /* one for each function */
    size_t alias_count, alias_capacity;
    uint32_t *modules; /* by text: the module as which it is counted; texts from `module_count` on are their own */
    size_t module_count;
    bool *used_maps;
    struct pf_diff_profile *profiles; /* first those before */
    size_t profile_count;
    struct pf_diff_cell *cells; /* profile_count for each key */
    size_t cell_capacity;
    uint32_t *stamps; /* by key: the sample that was counted last, plus one */
    size_t stamp_capacity;
    unsigned wanted; /* 1 << enum pf_diff_part */
    const struct pf_diff_tags *tags;
    bool inclusive;
    bool joins; /* inlined functions are counted as their callers: both are one frame of paths */
};

/* Whether a word of the list is a key, or a tag of one of the profiles. */
bool pf_diff_has_tag(const struct pf_diff *diff, const char *name, size_t bytes);
/* The number of the text. PERFILE_NO_ID: out of memory. */
uint32_t pf_diff_text(struct pf_diff *diff, const char *text);
/*
 * The number of a function, which is its own alias. PERFILE_NO_ID when out of memory, or when `module` or `name` is
 * that.
 */
uint32_t pf_diff_function_number(struct pf_diff *diff, uint32_t module, uint32_t name);
/* What the functions of all profiles are called, and what they weigh. False when out of memory. */
bool pf_diff_name_functions(struct pf_diff *diff);
/* Fills the matrix anew. False when out of memory. */
bool pf_diff_gather(struct pf_diff *diff, unsigned wanted, bool inclusive);
/* What the function is counted as. */
uint32_t pf_diff_function_of(const struct pf_diff *diff, uint32_t function);
uint32_t pf_diff_module_of(const struct pf_diff *diff, uint32_t text);

static inline const struct pf_diff_function *pf_diff_function_at(const struct pf_diff *diff, uint32_t number)
{
    return (const struct pf_diff_function *)diff->functions.items + number;
}

static inline const struct pf_diff_path *pf_diff_path_at(const struct pf_diff *diff, uint32_t number)
{
    return (const struct pf_diff_path *)diff->paths.items + number;
}

static inline const struct pf_diff_key *pf_diff_key_at(const struct pf_diff *diff, size_t number)
{
    return (const struct pf_diff_key *)diff->keys.items + number;
}

static inline struct pf_diff_cell *pf_diff_cells(const struct pf_diff *diff, size_t key)
{
    return diff->cells + key * diff->profile_count;
}

#endif
