/* SPDX-License-Identifier: MIT */
#include "analysis/diff/match.h"

#include <math.h>
#include <stdio.h>

#include "analysis/diff/names.h"
#include "analysis/diff/statistics.h"

enum { MAX_CANDIDATES = 128, TEXT = 1024 };

void pf_diff_observe(const struct pf_diff *diff, size_t row, double *weights, struct pf_comparison *comparison)
{
    const struct pf_diff_cell *cells = pf_diff_cells(diff, row);
    const size_t before = diff->options->before_count;
    double sum = 0;
    *comparison =
        (struct pf_comparison){{weights, before, 0}, {weights + before, diff->profile_count - before, 0}, 0, 0};
    for (size_t i = 0; i < diff->profile_count; i++) {
        struct pf_observations *side = i < before ? &comparison->before : &comparison->after;
        weights[i] = cells[i].weight;
        sum += cells[i].weight;
        side->samples += (double)cells[i].samples;
    }
    const double samples = comparison->before.samples + comparison->after.samples;
    comparison->unit = samples > 0 ? sum / samples : 0;
}

/* ---- what is on one side ----------------------------------------------------------------------------------------- */

/* A row, or a module, and what it weighs in a run. */
struct candidate {
    uint32_t number; /* of the function, or of the module's name */
    uint32_t row;
    double weight[2]; /* before, after */
    uint32_t partner;
    bool consumed;
};

struct candidates {
    struct candidate items[MAX_CANDIDATES];
    size_t count;
};

static void weigh(const struct pf_diff *diff, size_t row, double weight[2])
{
    const struct pf_diff_cell *cells = pf_diff_cells(diff, row);
    const size_t before = diff->options->before_count;
    weight[0] = weight[1] = 0;
    for (size_t i = 0; i < diff->profile_count; i++)
        weight[i >= before] += cells[i].weight / (double)(i < before ? before : diff->profile_count - before);
}

static double heavier(const double weight[2])
{
    return weight[0] > weight[1] ? weight[0] : weight[1];
}

/* Keeps the heaviest, by descending weight. */
static void offer(struct candidates *all, const struct candidate *candidate)
{
    size_t at = all->count < MAX_CANDIDATES ? all->count++ : MAX_CANDIDATES;
    for (; at && heavier(all->items[at - 1].weight) < heavier(candidate->weight); at--)
        if (at < MAX_CANDIDATES)
            all->items[at] = all->items[at - 1];
    if (at < MAX_CANDIDATES)
        all->items[at] = *candidate;
}

static double total_of(const struct pf_diff *diff)
{
    double sum = 0, weight[2];
    for (size_t i = 0; i < diff->keys.count; i++) {
        weigh(diff, i, weight);
        sum += (weight[0] + weight[1]) / 2;
    }
    return sum;
}

/* Rows that are on one side, and have at least 0.5 % of all. */
static void find_one_sided(const struct pf_diff *diff, struct candidates sides[2])
{
    const double min = 0.005 * total_of(diff);
    sides[0].count = sides[1].count = 0;
    for (size_t i = 0; i < diff->keys.count; i++) {
        const struct pf_diff_key *key = pf_diff_key_at(diff, i);
        struct candidate c = {.row = (uint32_t)i};
        weigh(diff, i, c.weight);
        c.number = key->parts[PF_DIFF_FUNCTION] ? key->parts[PF_DIFF_FUNCTION] - 1 : key->parts[PF_DIFF_MODULE] - 1;
        if ((c.weight[0] > 0) != (c.weight[1] > 0) && heavier(c.weight) >= min)
            offer(&sides[c.weight[1] > 0], &c);
    }
}

bool pf_diff_notify(const struct pf_diff_match *match, const char *format, const char *name, const char *other)
{
    char text[TEXT], names[2][TEXT / 3];
    perfile_name_fit(name, 100, names[0], sizeof(names[0]));
    perfile_name_fit(other, 100, names[1], sizeof(names[1]));
    snprintf(text, sizeof(text), format, names[0], names[1]);
    return match->report_notes(match->context, text);
}

/* ---- binaries ---------------------------------------------------------------------------------------------------- */

/* How much of the one module's weight is in functions that the other one has, too, on its side. */
static double common_part(const struct pf_diff *diff, const struct candidate *module, uint32_t other, int side)
{
    double common = 0;
    for (size_t i = 0; i < diff->keys.count; i++) {
        const struct pf_diff_function *function =
            pf_diff_function_at(diff, pf_diff_key_at(diff, i)->parts[PF_DIFF_FUNCTION] - 1);
        const struct pf_diff_function same = {other, function->name};
        double weight[2];
        if (function->module != module->number || strcmp(diff->texts[function->name], PF_DIFF_UNKNOWN) == 0 ||
            pf_distinct_find(&diff->functions, &same) == PERFILE_NO_ID)
            continue;
        weigh(diff, i, weight);
        common += weight[side];
    }
    return common / module->weight[side];
}

/* All functions of the module are those of the other one. */
static bool map_module(const struct pf_diff_match *match, uint32_t from, uint32_t to)
{
    struct pf_diff *diff = match->diff;
    const size_t count = diff->functions.count;
    for (size_t i = 0; i < count; i++) {
        const struct pf_diff_function function = *pf_diff_function_at(diff, (uint32_t)i);
        if (function.module != from)
            continue;
        const uint32_t same = pf_diff_function_number(diff, to, function.name);
        if (same == PERFILE_NO_ID)
            return false;
        diff->aliases[i].function = same;
    }
    diff->modules[from] = to;
    return pf_diff_notify(match, "%s is matched to %s, the same binary by another name", diff->texts[from],
                          diff->texts[to]);
}

/*
 * How likely two modules are the same, from 0 to 1. A program that was rebuilt may have lost many of its functions to
 * others; then the heaviest binary that only one side has is compared with the heaviest that only the other side has.
 */
static double module_likeness(const struct pf_diff *diff, const struct candidates sides[2], const struct candidate *old,
                              const struct candidate *new)
{
    const bool heaviest = old == sides[0].items && new == sides[1].items;
    const double common = fmin(common_part(diff, old, new->number, 0), common_part(diff, new, old->number, 1));
    if (diff->texts[old->number][0] == '[' || diff->texts[new->number][0] == '[')
        return 0;
    const bool alike = heaviest && pf_diff_names_alike(diff->texts[old->number], diff->texts[new->number]);
    return common >= (heaviest ? 0.2 : 0.5) || alike ? fmax(common, 0.01) : 0;
}

static bool pair_modules(const struct pf_diff_match *match, struct candidates sides[2])
{
    for (size_t i = 0; i < sides[0].count; i++) {
        struct candidate *best = NULL, *old = &sides[0].items[i];
        double max = 0;
        for (size_t k = 0; k < sides[1].count; k++) {
            struct candidate *new = &sides[1].items[k];
            const double likeness = new->consumed ? 0 : module_likeness(match->diff, sides, old, new);
            if (likeness > max) {
                best = new;
                max = likeness;
            }
        }
        if (!best)
            continue;
        best->consumed = true;
        if (!map_module(match, old->number, best->number))
            return false;
    }
    return true;
}

static bool guess_modules(const struct pf_diff_match *match, struct candidates sides[2])
{
    struct pf_diff *diff = match->diff;
    if (!pf_diff_gather(diff, 1 << PF_DIFF_MODULE, false))
        return false;
    find_one_sided(diff, sides);
    return !sides[0].count || !sides[1].count ||
           (pf_diff_gather(diff, 1 << PF_DIFF_FUNCTION, false) && pair_modules(match, sides));
}

/* ---- renamed functions ------------------------------------------------------------------------------------------- */

/* Whether both may have the same weight, as far as the recordings show. */
static bool weigh_alike(const struct pf_diff *diff, const struct candidate *old, const struct candidate *new,
                        double *weights)
{
    struct pf_comparison rows[2];
    double low[2], high[2];
    pf_diff_observe(diff, old->row, weights, &rows[0]);
    pf_mean_interval(&rows[0].before, rows[0].unit, &low[0], &high[0]);
    pf_diff_observe(diff, new->row, weights, &rows[1]);
    pf_mean_interval(&rows[1].after, rows[1].unit, &low[1], &high[1]);
    return low[0] <= high[1] && low[1] <= high[0];
}

/* They differ in what stands in <> at most. */
static bool are_same_template(struct pf_diff *diff, const char *name, const char *other)
{
    const size_t capacities[2] = {strlen(name) + 16, strlen(other) + 16};
    char *texts[2] = {pf_new(diff->allocator, capacities[0]), pf_new(diff->allocator, capacities[1])};
    bool same = false;
    if (texts[0] && texts[1]) {
        pf_diff_plain_name(name, texts[0]);
        pf_diff_plain_name(other, texts[1]);
        same = strcmp(texts[0], texts[1]) == 0 && strchr(name, '<');
    }
    for (int i = 0; i < 2; i++)
        pf_free(diff->allocator, texts[i], texts[i] ? capacities[i] : 0);
    return same;
}

/* 2: by its name alone; 1: by name and weight; 0: not. */
static int likeness(struct pf_diff *diff, const struct candidate *old, const struct candidate *new, double *weights)
{
    const struct pf_diff_function *a = pf_diff_function_at(diff, old->number);
    const struct pf_diff_function *b = pf_diff_function_at(diff, new->number);
    const char *name = diff->texts[a->name], *other = diff->texts[b->name];
    if (a->module != b->module || strcmp(name, PF_DIFF_UNKNOWN) == 0 || strcmp(other, PF_DIFF_UNKNOWN) == 0)
        return 0;
    if (are_same_template(diff, name, other))
        return 2;
    return pf_diff_names_alike(name, other) && weigh_alike(diff, old, new, weights);
}

static bool pair_functions(const struct pf_diff_match *match, struct candidates sides[2], double *weights)
{
    struct pf_diff *diff = match->diff;
    for (size_t i = 0; i < sides[0].count; i++) {
        struct candidate *old = &sides[0].items[i], *best = NULL;
        int alike = 0;
        for (size_t k = 0; k < sides[1].count; k++) {
            const int now = sides[1].items[k].consumed ? 0 : likeness(diff, old, &sides[1].items[k], weights);
            if (now > alike) {
                best = &sides[1].items[k];
                alike = now;
            }
        }
        if (!best)
            continue;
        const uint32_t name = pf_diff_function_at(diff, old->number)->name;
        best->consumed = true;
        diff->aliases[old->number].function = best->number;
        diff->aliases[best->number].other = name + 1;
        diff->aliases[best->number].state = PERFILE_DIFF_RENAMED;
        if (!pf_diff_notify(match, "%s is matched to %s, renamed", diff->texts[name],
                            diff->texts[pf_diff_function_at(diff, best->number)->name]))
            return false;
    }
    return true;
}

/* ---- inlined functions ------------------------------------------------------------------------------------------- */

/* A candidate and its caller. */
struct call {
    uint32_t candidate, caller;
};

struct calls {
    struct pf_distinct pairs;
    double *weights;
    size_t capacity;
};

static uint32_t frame_function(const struct pf_diff *diff, const struct pf_diff_profile *of, uint32_t node,
                               uint32_t *parent)
{
    struct perfile_profile_stack stack = PERFILE_PROFILE_STACK_INIT;
    struct perfile_profile_frame frame = PERFILE_PROFILE_FRAME_INIT;
    if (perfile_profile_stack_at(of->profile, node, &stack) < 0 ||
        perfile_profile_frame_at(of->profile, stack.frame, &frame) < 0 || frame.function >= of->function_count)
        return PERFILE_NO_ID;
    *parent = stack.parent;
    return pf_diff_function_of(diff, of->functions[frame.function]);
}

static bool add_call(struct pf_diff *diff, struct calls *calls, const struct call *call, double weight)
{
    const uint32_t known = (uint32_t)calls->pairs.count, number = pf_distinct_number(&calls->pairs, call);
    if (number == PERFILE_NO_ID ||
        !pf_grow(diff->allocator, &calls->weights, &calls->capacity, number + 1u, sizeof(double)))
        return false;
    calls->weights[number] = number == known ? weight : calls->weights[number] + weight;
    return true;
}

/* Sums the weights of the candidates alone by their callers. `positions` is a candidate plus one, by function. */
static bool find_calls(struct pf_diff *diff, const struct pf_diff_profile *of, const uint32_t *positions,
                       struct calls *calls)
{
    const size_t count = perfile_profile_sample_count(of->profile);
    for (size_t i = 0; i < count; i++) {
        struct perfile_profile_sample sample = PERFILE_PROFILE_SAMPLE_INIT;
        uint32_t parent = PERFILE_NO_ID, function;
        if (perfile_profile_sample_at(of->profile, i, &sample) < 0 || sample.stack == PERFILE_NO_ID ||
            !pf_event_is_chosen(of->profile, sample.event, &of->event))
            continue;
        function = frame_function(diff, of, sample.stack, &parent);
        if (function == PERFILE_NO_ID || !positions[function] || parent == PERFILE_NO_ID)
            continue;
        const struct call call = {positions[function] - 1, frame_function(diff, of, parent, &parent)};
        if (call.caller != PERFILE_NO_ID && call.caller != function &&
            !add_call(diff, calls, &call, (double)sample.values[of->value] * of->scale))
            return false;
    }
    return true;
}

struct changes {
    double *moved;   /* by function: what has moved into it, after minus before */
    double *weights; /* capacity for two rows */
};

/* What the function has more after than before, with what moved into it so far; NAN: it cannot be the other one. */
static double change_of(const struct pf_diff *diff, uint32_t function, const struct changes *changes)
{
    const struct pf_diff_key key = {.parts = {[PF_DIFF_FUNCTION] = function + 1}};
    const uint32_t row = pf_distinct_find(&diff->keys, &key);
    double weight[2] = {0, 0};
    if (row == PERFILE_NO_ID || diff->aliases[function].function != function)
        return NAN;
    weigh(diff, row, weight);
    return weight[1] - weight[0] + changes->moved[function];
}

static double own_change(const struct candidate *c)
{
    return c->weight[1] - c->weight[0];
}

/* How much of `own` the other function did not win or lose; as a fraction. */
static double left_of(const struct pf_diff *diff, double own, uint32_t other, const struct changes *changes)
{
    const double change = change_of(diff, other, changes);
    return isnan(change) ? INFINITY : fabs((own + change) / own);
}

/* The recordings do not say that both rows together have changed. */
static bool may_be_one(const struct pf_diff *diff, uint32_t row, uint32_t other, const struct changes *changes)
{
    const size_t count = diff->profile_count;
    struct pf_comparison both, one;
    struct pf_difference result;
    pf_diff_observe(diff, row, changes->weights, &both);
    pf_diff_observe(diff, other, changes->weights + count, &one);
    for (size_t i = 0; i < count; i++)
        changes->weights[i] += changes->weights[count + i];
    both.before.samples += one.before.samples;
    both.after.samples += one.after.samples;
    both.unit = fmax(both.unit, one.unit);
    pf_compare(&both, &result);
    return result.low <= 0 && result.high >= 0;
}

/* Finds the function of the same binary that fits the change closely. Callchains often miss the innermost caller. */
static uint32_t find_unseen(const struct pf_diff *diff, const struct candidate *c, const struct changes *changes)
{
    double min = 0.25;
    uint32_t best = PERFILE_NO_ID;
    for (size_t i = 0; i < diff->keys.count; i++) {
        const uint32_t other = pf_diff_key_at(diff, i)->parts[PF_DIFF_FUNCTION] - 1;
        const bool may_be = other != c->number &&
                            pf_diff_function_at(diff, other)->module == pf_diff_function_at(diff, c->number)->module;
        const double left = may_be ? left_of(diff, own_change(c), other, changes) : INFINITY;
        if (left < min && (left < 0.1 || may_be_one(diff, c->row, (uint32_t)i, changes))) {
            min = left;
            best = other;
        }
    }
    return best;
}

static bool is_unknown(const struct pf_diff *diff, const struct candidate *c)
{
    return strcmp(diff->texts[pf_diff_function_at(diff, c->number)->name], PF_DIFF_UNKNOWN) == 0;
}

static bool join(const struct pf_diff_match *match, const struct candidate *c, uint32_t other, struct changes *changes)
{
    struct pf_diff *diff = match->diff;
    const bool gone = c->weight[0] > 0;
    changes->moved[other] += own_change(c);
    diff->aliases[c->number].function = other;
    diff->aliases[other].other = pf_diff_function_at(diff, c->number)->name + 1;
    diff->aliases[other].state = gone ? PERFILE_DIFF_INLINED : PERFILE_DIFF_SPLIT;
    diff->joins = true;
    return pf_diff_notify(match,
                          gone ? "%s seems to be inlined into %s now: both are one row"
                               : "%s seems to be split off %s, or no longer inlined into it: both are one row",
                          diff->texts[pf_diff_function_at(diff, c->number)->name],
                          diff->texts[pf_diff_function_at(diff, other)->name]);
}

/* Finds the caller of each candidate that has the most weight; PERFILE_NO_ID when no caller was seen. */
static void find_callers(const struct candidates *side, const struct calls *calls, uint32_t *callers)
{
    const struct call *all = (const struct call *)calls->pairs.items;
    for (size_t i = 0; i < side->count; i++) {
        size_t best = SIZE_MAX;
        for (size_t k = 0; k < calls->pairs.count; k++)
            if (all[k].candidate == i && (best == SIZE_MAX || calls->weights[k] > calls->weights[best]))
                best = k;
        callers[i] = best == SIZE_MAX ? PERFILE_NO_ID : all[best].caller;
    }
}

/* The caller has won what all candidates that it calls together lost, or lost what they won. */
static bool try_together(const struct pf_diff_match *match, struct candidates *side, const uint32_t *callers,
                         size_t first, struct changes *changes)
{
    double sum = 0;
    bool fine = true;
    for (size_t i = first; i < side->count; i++)
        if (callers[i] == callers[first] && !side->items[i].consumed && !is_unknown(match->diff, &side->items[i]))
            sum += own_change(&side->items[i]);
    if (sum == 0 || left_of(match->diff, sum, callers[first], changes) > 0.25)
        return true;
    for (size_t i = first; fine && i < side->count; i++)
        if (callers[i] == callers[first] && !side->items[i].consumed && !is_unknown(match->diff, &side->items[i])) {
            side->items[i].consumed = true;
            fine = join(match, &side->items[i], callers[first], changes);
        }
    return fine;
}

/* The same of one, with its caller or, if that is not what has changed, with what fits. */
static bool try_alone(const struct pf_diff_match *match, struct candidate *c, uint32_t caller, struct changes *changes)
{
    if (c->consumed || is_unknown(match->diff, c))
        return true;
    if (left_of(match->diff, own_change(c), caller, changes) > 0.25)
        caller = find_unseen(match->diff, c, changes);
    c->consumed = caller != PERFILE_NO_ID;
    return caller == PERFILE_NO_ID || join(match, c, caller, changes);
}

static bool try_callers(const struct pf_diff_match *match, struct candidates *side, const struct calls *calls,
                        struct changes *changes)
{
    uint32_t callers[MAX_CANDIDATES];
    find_callers(side, calls, callers);
    for (size_t i = 0; i < side->count; i++)
        side->items[i].consumed = false;
    for (size_t i = 0; i < side->count; i++)
        if (callers[i] != PERFILE_NO_ID && !try_together(match, side, callers, i, changes))
            return false;
    for (size_t i = 0; i < side->count; i++)
        if (callers[i] != PERFILE_NO_ID && !try_alone(match, &side->items[i], callers[i], changes))
            return false;
    return true;
}

/* Of those that are on one side. */
static bool guess_inlined(const struct pf_diff_match *match, struct candidates *side, bool before)
{
    struct pf_diff *diff = match->diff;
    const size_t count = diff->functions.count + 1;
    uint32_t *positions = pf_new(diff->allocator, count * sizeof(*positions));
    const size_t bytes = 2 * diff->profile_count * sizeof(double);
    struct changes changes = {.moved = pf_new(diff->allocator, count * sizeof(double)),
                              .weights = pf_new(diff->allocator, bytes)};
    struct calls calls = {0};
    bool fine = positions && changes.moved && changes.weights;
    pf_distinct_open(&calls.pairs, diff->allocator, sizeof(struct call));
    for (size_t i = 0; fine && i < side->count; i++)
        positions[side->items[i].number] = (uint32_t)i + 1;
    for (size_t i = 0; fine && i < diff->profile_count; i++)
        if (diff->profiles[i].is_before == before && diff->profiles[i].event.first != PERFILE_NO_ID)
            fine = find_calls(diff, &diff->profiles[i], positions, &calls);
    fine = fine && try_callers(match, side, &calls, &changes);
    pf_free(diff->allocator, positions, positions ? count * sizeof(*positions) : 0);
    pf_free(diff->allocator, changes.moved, changes.moved ? count * sizeof(double) : 0);
    pf_free(diff->allocator, changes.weights, changes.weights ? bytes : 0);
    pf_free(diff->allocator, calls.weights, calls.capacity * sizeof(double));
    pf_distinct_close(&calls.pairs);
    return fine;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static bool guess_functions(const struct pf_diff_match *match, struct candidates sides[2])
{
    struct pf_diff *diff = match->diff;
    const size_t bytes = diff->profile_count * sizeof(double);
    double *weights = pf_new(diff->allocator, bytes);
    bool fine = weights && pf_diff_gather(diff, 1 << PF_DIFF_FUNCTION, false);
    if (fine) {
        find_one_sided(diff, sides);
        fine = pair_functions(match, sides, weights) && pf_diff_gather(diff, 1 << PF_DIFF_FUNCTION, false);
    }
    pf_free(diff->allocator, weights, weights ? bytes : 0);
    if (!fine)
        return false;
    find_one_sided(diff, sides);
    return (!sides[0].count || guess_inlined(match, &sides[0], true)) &&
           (!sides[1].count || guess_inlined(match, &sides[1], false));
}

bool pf_diff_guess(struct pf_diff_match *match)
{
    struct pf_diff *diff = match->diff;
    struct candidates *sides = pf_new(diff->allocator, 2 * sizeof(*sides));
    bool fine = sides && (diff->modules = pf_new(diff->allocator, (diff->text_count + 1) * sizeof(*diff->modules)));
    if (fine)
        diff->module_count = diff->text_count;
    for (size_t i = 0; i < diff->module_count; i++)
        diff->modules[i] = (uint32_t)i;
    fine = fine && guess_modules(match, sides) && guess_functions(match, sides);
    pf_free(diff->allocator, sides, sides ? 2 * sizeof(*sides) : 0);
    return fine;
}
