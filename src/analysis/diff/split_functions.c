/* SPDX-License-Identifier: MIT */
/*
 * Functions that compilers split: f.part.0 and f.cold are counted as f, and a note is made if one side has them alone.
 */
#include "analysis/diff/match.h"
#include "analysis/diff/names.h"

/* A part, by the numbers of its function and of its own name. */
struct part {
    uint32_t function, name;
};

struct part_weight {
    double of[2]; /* in a run, before and after */
};

struct parts {
    struct pf_distinct known;
    struct part_weight *weights;
    size_t capacity;
    double total; /* of a run */
};

static uint32_t number_part(struct pf_diff *diff, struct parts *parts, uint32_t function, const char *name)
{
    const struct part part = {function, pf_diff_text(diff, name)};
    const size_t count = parts->known.count;
    const uint32_t number = part.name == PERFILE_NO_ID ? part.name : pf_distinct_number(&parts->known, &part);
    if (number == PERFILE_NO_ID ||
        !pf_grow(diff->allocator, &parts->weights, &parts->capacity, number + 1u, sizeof(*parts->weights)))
        return PERFILE_NO_ID;
    if (number == count)
        parts->weights[number] = (struct part_weight){{0, 0}};
    return number;
}

/* By function of the profile: its part plus one; 0 when it is not a part. False when out of memory. */
static bool find_parts_of(struct pf_diff *diff, const struct pf_diff_profile *of, struct parts *parts,
                          uint32_t *positions, bool *any)
{
    for (size_t i = 0; i < of->function_count; i++) {
        struct perfile_profile_function function = PERFILE_PROFILE_FUNCTION_INIT;
        if (perfile_profile_function_at(of->profile, i, &function) < 0 || !function.name ||
            !pf_diff_is_part(function.name))
            continue;
        const uint32_t part = number_part(diff, parts, pf_diff_function_of(diff, of->functions[i]), function.name);
        if (part == PERFILE_NO_ID)
            return false;
        positions[i] = part + 1;
        *any = true;
    }
    return true;
}

static void weigh_parts(const struct pf_diff *diff, const struct pf_diff_profile *of, struct parts *parts,
                        const uint32_t *positions)
{
    const size_t before = diff->options->before_count;
    const double runs = (double)(of->is_before ? before : diff->profile_count - before);
    for (size_t i = 0; i < of->function_count; i++)
        if (positions[i])
            parts->weights[positions[i] - 1].of[!of->is_before] += (double)of->leaves[i].weight * of->scale / runs;
}

static bool add_profile(struct pf_diff *diff, const struct pf_diff_profile *of, struct parts *parts)
{
    const size_t bytes = (of->function_count + 1) * sizeof(uint32_t);
    uint32_t *positions = pf_new(diff->allocator, bytes);
    bool any = false;
    const bool fine = positions && find_parts_of(diff, of, parts, positions, &any);
    if (fine && any)
        weigh_parts(diff, of, parts, positions);
    parts->total += (double)of->total * of->scale / (double)diff->profile_count;
    pf_free(diff->allocator, positions, positions ? bytes : 0);
    return fine;
}

/* Notes a part. The row of the function names only the first one. */
static bool report_part(const struct pf_diff_match *match, const struct part *part, const double of[2])
{
    struct pf_diff *diff = match->diff;
    struct pf_diff_alias *alias = &diff->aliases[part->function];
    if (alias->state == PERFILE_DIFF_BOTH) {
        alias->state = PERFILE_DIFF_SPLIT;
        alias->other = part->name + 1;
    }
    return pf_diff_notify(match,
                          of[0] > 0 ? "%s was merged into %s: both are one row"
                                    : "%s is a part of %s that the compiler made: both are one row",
                          diff->texts[part->name], diff->texts[pf_diff_function_at(diff, part->function)->name]);
}

/* Parts that one side has alone, with at least 0.5 % of all. */
static bool report_parts(const struct pf_diff_match *match, const struct parts *parts)
{
    const struct part *all = (const struct part *)parts->known.items;
    for (size_t i = 0; i < parts->known.count; i++) {
        const double *of = parts->weights[i].of;
        if ((of[0] > 0) != (of[1] > 0) && of[0] + of[1] >= 0.005 * parts->total && !report_part(match, &all[i], of))
            return false;
    }
    return true;
}

bool pf_diff_find_parts(const struct pf_diff_match *match)
{
    struct pf_diff *diff = match->diff;
    struct parts parts = {.total = 0};
    bool fine = true;
    pf_distinct_open(&parts.known, diff->allocator, sizeof(struct part));
    for (size_t i = 0; fine && i < diff->profile_count; i++)
        fine = diff->profiles[i].event.first == PERFILE_NO_ID || add_profile(diff, &diff->profiles[i], &parts);
    fine = fine && report_parts(match, &parts);
    pf_free(diff->allocator, parts.weights, parts.capacity * sizeof(*parts.weights));
    pf_distinct_close(&parts.known);
    return fine;
}
