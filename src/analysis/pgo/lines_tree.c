/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "analysis/pgo/lines.h"
#include "base/bytes.h"
#include "symbol/dwarf/inlines.h"

static const uint32_t none = UINT32_MAX;

void pf_pgo_lines_make(struct pf_pgo_lines *lines, const struct perfile_allocator *allocator)
{
    *lines = (struct pf_pgo_lines){.allocator = allocator};
    pf_pairs_open(&lines->instance_of, allocator);
    pf_pairs_open(&lines->line_of, allocator);
    pf_pairs_open(&lines->target_of, allocator);
}

void pf_pgo_lines_close(struct pf_pgo_lines *lines)
{
    const struct perfile_allocator *allocator = lines->allocator;
    pf_pairs_close(&lines->instance_of);
    pf_pairs_close(&lines->line_of);
    pf_pairs_close(&lines->target_of);
    pf_free(allocator, lines->instances, lines->instance_capacity * sizeof(*lines->instances));
    pf_free(allocator, lines->lines, lines->line_capacity * sizeof(*lines->lines));
    pf_free(allocator, lines->targets, lines->target_capacity * sizeof(*lines->targets));
    pf_inlines_close(lines->inlines);
}

/* ---- adding up -------------------------------------------------------------------------------------------------- */

/* The number of a new item, if there are not too many. */
static uint32_t number_in(struct pf_pgo_lines *lines, struct pf_pairs *pairs, uint64_t a, uint64_t b, size_t count)
{
    if (count < none && pf_pairs_put(pairs, a, b, (uint32_t)count))
        return (uint32_t)count;
    lines->failed = true;
    return none;
}

uint32_t pf_pgo_lines_instance(struct pf_pgo_lines *lines, uint32_t line, const char *function)
{
    const uint64_t site = line == PF_PGO_TOP ? 0 : (uint64_t)line + 1;
    uint32_t number;
    if (pf_pairs_get(&lines->instance_of, site, (uintptr_t)function, &number))
        return number;
    const struct pf_pgo_line *at = line == PF_PGO_TOP ? NULL : &lines->lines[line];
    const struct pf_pgo_instance made = {.function = function,
                                         .location = at ? at->location : 0,
                                         .parent = at ? at->instance : PF_PGO_TOP,
                                         .number = (uint32_t)lines->instance_count};
    number = number_in(lines, &lines->instance_of, site, (uintptr_t)function, lines->instance_count);
    if (number != none &&
        PF_APPEND(lines->allocator, lines->instances, lines->instance_count, lines->instance_capacity, made))
        return number;
    lines->failed = true;
    return none;
}

uint32_t pf_pgo_lines_line(struct pf_pgo_lines *lines, uint32_t instance, uint64_t location)
{
    uint32_t number;
    if (pf_pairs_get(&lines->line_of, instance, location, &number))
        return number;
    const struct pf_pgo_line made = {.location = location, .instance = instance, .number = (uint32_t)lines->line_count};
    number = number_in(lines, &lines->line_of, instance, location, lines->line_count);
    if (number != none && PF_APPEND(lines->allocator, lines->lines, lines->line_count, lines->line_capacity, made))
        return number;
    lines->failed = true;
    return none;
}

void pf_pgo_lines_raise(struct pf_pgo_lines *lines, uint32_t line, uint64_t count)
{
    struct pf_pgo_line *at = &lines->lines[line];
    at->count = pf_max(at->count, count);
    at->has_count = true;
}

void pf_pgo_lines_call(struct pf_pgo_lines *lines, uint32_t line, const char *function, uint64_t count)
{
    uint32_t number;
    const struct pf_pgo_target made = {.function = function, .line = line};
    if (!pf_pairs_get(&lines->target_of, line, (uintptr_t)function, &number)) {
        number = number_in(lines, &lines->target_of, line, (uintptr_t)function, lines->target_count);
        if (number == none ||
            !PF_APPEND(lines->allocator, lines->targets, lines->target_count, lines->target_capacity, made)) {
            lines->failed = true;
            return;
        }
    }
    pf_add_to_sum(&lines->targets[number].count, count);
}

/* ---- sorting ---------------------------------------------------------------------------------------------------- */

#define COMPARE(x, y)                                                                                                  \
    if ((x) != (y))                                                                                                    \
    return (x) > (y) ? 1 : -1

static int compare_instances(const void *a, const void *b)
{
    const struct pf_pgo_instance *x = a, *y = b;
    COMPARE(x->parent + 1, y->parent + 1); /* those that are not inlined first */
    COMPARE(x->location, y->location);
    return strcmp(x->function, y->function);
}

static int compare_lines(const void *a, const void *b)
{
    const struct pf_pgo_line *x = a, *y = b;
    COMPARE(x->instance, y->instance);
    COMPARE(x->location, y->location);
    return 0;
}

static int compare_targets(const void *a, const void *b)
{
    const struct pf_pgo_target *x = a, *y = b;
    COMPARE(x->line, y->line);
    COMPARE(y->count, x->count);
    return strcmp(x->function, y->function);
}

static void sort(void *items, size_t count, size_t bytes, int (*compare)(const void *a, const void *b))
{
    if (count)
        qsort(items, count, bytes, compare);
}

/* For the number of each instance or line the index that it has now, and then for each its first part. */
static void link_targets(struct pf_pgo_lines *lines, const uint32_t *line_at)
{
    for (size_t i = lines->target_count; i-- > 0;) {
        struct pf_pgo_line *line = &lines->lines[line_at[lines->targets[i].line]];
        line->targets = (uint32_t)i;
        line->target_count++;
    }
}

static void link_instances(struct pf_pgo_lines *lines, const uint32_t *instance_at)
{
    for (size_t i = lines->line_count; i-- > 0;) {
        struct pf_pgo_instance *instance = &lines->instances[instance_at[lines->lines[i].instance]];
        instance->lines = (uint32_t)i;
        instance->line_count++;
    }
    for (size_t i = lines->instance_count; i-- > 0;) {
        const uint32_t parent = lines->instances[i].parent;
        if (parent == PF_PGO_TOP) {
            lines->function_count++;
            continue;
        }
        lines->instances[instance_at[parent]].inlined = (uint32_t)i;
        lines->instances[instance_at[parent]].inlined_count++;
    }
}

/* The address of the first line or target is computed also where an array is empty, and NULL. */
static bool have_arrays(struct pf_pgo_lines *lines)
{
    return pf_grow(lines->allocator, &lines->lines, &lines->line_capacity, 1, sizeof(*lines->lines)) &&
           pf_grow(lines->allocator, &lines->targets, &lines->target_capacity, 1, sizeof(*lines->targets)) &&
           pf_grow(lines->allocator, &lines->instances, &lines->instance_capacity, 1, sizeof(*lines->instances));
}

void pf_pgo_lines_sort(struct pf_pgo_lines *lines)
{
    const size_t count = pf_max(lines->instance_count, lines->line_count), bytes = (count + 1) * sizeof(uint32_t);
    uint32_t *index = pf_new(lines->allocator, bytes);
    lines->failed |= !index || !have_arrays(lines);
    if (lines->failed) {
        pf_free(lines->allocator, index, bytes);
        return;
    }
    sort(lines->instances, lines->instance_count, sizeof(*lines->instances), compare_instances);
    sort(lines->lines, lines->line_count, sizeof(*lines->lines), compare_lines);
    sort(lines->targets, lines->target_count, sizeof(*lines->targets), compare_targets);
    for (size_t i = 0; i < lines->line_count; i++)
        index[lines->lines[i].number] = (uint32_t)i;
    link_targets(lines, index);
    for (size_t i = 0; i < lines->instance_count; i++)
        index[lines->instances[i].number] = (uint32_t)i;
    link_instances(lines, index);
    pf_free(lines->allocator, index, bytes);
}
