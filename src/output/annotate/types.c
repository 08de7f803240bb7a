/* SPDX-License-Identifier: MIT */
/* Types of data with what was sampled of their members, in perf's layout, and counts of what was found and why not. */
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/annotate.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/locale.h"
#include "output/annotate/annotate.h"

enum { VALUE_WIDTH = 8, INDENT = 4, NESTED_MAX = 32, MEMBER_START = 32 };

/* What one address of an event accesses. */
struct access {
    const struct pf_data_use *use;
    uint64_t value;
    uint64_t samples;
};

/* The accesses of one type of one file. */
struct group {
    const struct access *accesses;
    size_t count;
    uint64_t value;
    uint64_t samples;
};

struct types {
    struct pf_annotate *annotate;
    struct pf_data_types *data;
    struct pf_text *out;
    struct access *accesses; /* of an event */
    size_t count, capacity;
    struct group *groups;
    size_t group_count, group_capacity;
};

/* ---- gathering --------------------------------------------------------------------------------------------------- */

static bool add_hit(struct types *types, const struct pf_annotation_function *function,
                    const struct pf_annotation_hit *hit)
{
    const struct pf_data_use *use = pf_data_types_at(types->data, function->module, function->symbol, hit->address);
    const bool by_hits = types->annotate->how->flags & PERFILE_ANNOTATE_HITS;
    return use && PF_APPEND(types->annotate->options->allocator, types->accesses, types->count, types->capacity,
                            (struct access){use, by_hits ? hit->samples : hit->period, hit->samples});
}

static bool add_hits(struct types *types, size_t event)
{
    struct perfile_annotation *annotation = types->annotate->annotation;
    types->count = 0;
    for (size_t rank = 0; rank < annotation->ranked_count; rank++) {
        const struct pf_annotation_function *function = pf_annotation_ranked(annotation, rank);
        for (size_t i = function->hits; i < function->hits + function->hit_count; i++)
            if (annotation->hits[i].event == event && !add_hit(types, function, &annotation->hits[i]))
                return false;
    }
    return true;
}

/* By file and type. */
static int order_accesses(const void *a, const void *b)
{
    const struct access *x = a, *y = b;
    if (x->use->module != y->use->module)
        return x->use->module < y->use->module ? -1 : 1;
    const int names = strcmp(x->use->type, y->use->type);
    return names ? names : (x->use->number > y->use->number) - (x->use->number < y->use->number);
}

static bool is_same_group(const struct access *a, const struct access *b)
{
    return a->use->module == b->use->module && a->use->type == b->use->type;
}

static int order_groups(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    return x->value != y->value ? (x->value < y->value) - (x->value > y->value)
                                : order_accesses(x->accesses, y->accesses);
}

static bool is_wanted(const struct types *types, const char *name)
{
    static const char *const prefixes[] = {"", "struct ", "union ", "enum "};
    const char *wanted = types->annotate->how->data_type;
    bool matches = !wanted;
    for (size_t i = 0; i < PF_COUNT(prefixes) && !matches; i++) {
        const size_t bytes = strlen(prefixes[i]);
        matches = strncmp(name, prefixes[i], bytes) == 0 &&
                  (strcmp(name + bytes, wanted) == 0 || pf_glob_matches(wanted, name + bytes, false));
    }
    return matches;
}

/* False: out of memory. */
static bool make_groups(struct types *types)
{
    types->group_count = 0;
    if (types->count)
        qsort(types->accesses, types->count, sizeof(*types->accesses), order_accesses);
    for (size_t i = 0, next; i < types->count; i = next) {
        struct group group = {.accesses = &types->accesses[i]};
        for (next = i; next < types->count && is_same_group(&types->accesses[i], &types->accesses[next]); next++) {
            pf_add_to_sum(&group.value, types->accesses[next].value);
            pf_add_to_sum(&group.samples, types->accesses[next].samples);
        }
        group.count = next - i;
        if (group.accesses->use->use.type && is_wanted(types, group.accesses->use->type) &&
            !PF_APPEND(types->annotate->options->allocator, types->groups, types->group_count, types->group_capacity,
                       group))
            return false;
    }
    if (types->group_count)
        qsort(types->groups, types->group_count, sizeof(*types->groups), order_groups);
    return true;
}

/* ---- a type ------------------------------------------------------------------------------------------------------ */

/* What was sampled from an offset on. */
static uint64_t value_of(const struct group *group, uint64_t offset, uint64_t bytes)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < group->count; i++)
        if (group->accesses[i].use->use.offset - offset < bytes)
            pf_add_to_sum(&sum, group->accesses[i].value);
    return sum;
}

static void put_columns(const struct types *types, const struct group *group, uint64_t offset, uint64_t bytes)
{
    const uint64_t value = value_of(group, offset, bytes);
    pf_put_hundredths(types->out, group->value ? 100.0 * (double)value / (double)group->value : 0, VALUE_WIDTH);
    pf_put_format(types->out, " %#10" PRIx64 " %#10" PRIx64 "  ", offset, bytes);
}

static void put_spaces(const struct types *types, unsigned count)
{
    pf_put_format(types->out, "%*s", (int)count, "");
}

/* A type or member and what is in it; arrays are not opened, as in perf. False when out of memory. */
static bool put_member(const struct types *types, const struct group *group, const struct pf_type_member *member,
                       unsigned depth)
{
    struct pf_types *file = group->accesses->use->types;
    const struct pf_type_member *members;
    size_t count = 0;
    bool enough = depth >= NESTED_MAX || pf_type_members(file, member->type, &members, &count);
    if (!enough)
        return false;
    put_columns(types, group, member->offset, member->bytes);
    put_spaces(types, depth * INDENT);
    pf_put_name(types->out, member->type->name);
    pf_put_char(types->out, '\t');
    pf_put_name(types->out, member->name);
    pf_put_string(types->out, count ? " {\n" : ";\n");
    for (size_t i = 0; i < count && enough; i++) {
        struct pf_type_member inner = members[i];
        inner.offset += member->offset;
        enough = put_member(types, group, &inner, depth + 1);
    }
    if (!count || !enough)
        return enough;
    put_spaces(types, MEMBER_START + depth * INDENT);
    pf_put_string(types->out, "};\n");
    return true;
}

static bool put_type(const struct types *types, const struct group *group)
{
    const struct pf_data_use *use = group->accesses->use;
    const struct pf_module *module = pf_symbols_module(types->annotate->annotation->symbols, use->module);
    const struct pf_type_member all = {.name = "", .bytes = use->use.type->bytes, .type = use->use.type};
    pf_put_string(types->out, "Annotate type: '");
    pf_put_name(types->out, use->type);
    pf_put_string(types->out, "'");
    if (module) {
        pf_put_string(types->out, " in ");
        pf_put_name(types->out, module->name);
    }
    pf_put_format(types->out, " (%" PRIu64 " samples):\n", group->samples);
    pf_put_format(types->out, "%s\n Percent     offset       size  field\n",
                  "============================================================================");
    const bool enough = put_member(types, group, &all, 0);
    if (enough)
        pf_put_char(types->out, '\n');
    return enough;
}

/* ---- counts ------------------------------------------------------------------------------------------------------ */

static double percent_of(uint64_t part, uint64_t all)
{
    return all ? 100.0 * (double)part / (double)all : 0;
}

static void put_totals(const struct types *types, uint64_t all, uint64_t found)
{
    pf_put_format(types->out, "total %" PRIu64 ", ok %" PRIu64 " (", all, found);
    pf_put_format(types->out, "%.1f%%), bad %" PRIu64 " (%.1f%%)\n", percent_of(found, all), all - found,
                  percent_of(all - found, all));
}

/* How many addresses of each reason, in perf's words. */
static void put_type_stat(const struct types *types)
{
    uint64_t counts[PF_TYPE_REASONS] = {0}, all = 0, tracked = 0;
    size_t index = 0;
    for (const struct pf_data_use *use; (use = pf_data_types_next(types->data, &index)); all++) {
        counts[use->use.reason]++;
        tracked += use->use.type && use->use.is_tracked;
    }
    pf_put_string(types->out, "Annotate data type stats:\n");
    put_totals(types, all, counts[PF_TYPE_FOUND]);
    pf_put_string(types->out, "-----------------------------------------------------------\n");
    for (unsigned i = PF_TYPE_FOUND + 1; i < PF_TYPE_REASONS; i++) {
        if (!counts[i])
            continue;
        pf_put_format(types->out, "%10" PRIu64 " : %s\n", counts[i], pf_type_reason_name(i, NULL));
    }
    if (tracked)
        pf_put_format(types->out, "%10" PRIu64 " : insn_track\n", tracked);
    pf_put_char(types->out, '\n');
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static bool write_event(struct types *types, size_t event)
{
    bool enough = add_hits(types, event) && make_groups(types);
    if (types->annotate->how->flags & PERFILE_ANNOTATE_TYPES)
        for (size_t i = 0; i < types->group_count && enough && !types->out->failed; i++)
            enough = put_type(types, &types->groups[i]);
    return enough;
}

/* All events, so that the counts are complete before a type is printed. */
static bool find_all(struct types *types)
{
    const size_t events = perfile_annotation_event_count(types->annotate->annotation);
    bool enough = true;
    for (size_t i = 0; i < events && enough; i++)
        enough = add_hits(types, i);
    return enough;
}

static bool write_all(struct types *types)
{
    const unsigned flags = types->annotate->how->flags;
    const size_t events = perfile_annotation_event_count(types->annotate->annotation);
    bool enough = find_all(types);
    if (enough && flags & PERFILE_ANNOTATE_TYPE_STAT)
        put_type_stat(types);
    if (enough && flags & PERFILE_ANNOTATE_INSN_STAT)
        enough = pf_annotate_put_insn_stat(types->annotate, types->data);
    for (size_t i = 0; i < events && enough; i++)
        enough = write_event(types, i);
    return enough;
}

int pf_annotate_write_types(struct pf_annotate *annotate, struct perfile_error *error)
{
    const struct perfile_allocator *allocator = annotate->options->allocator;
    struct types types = {
        .annotate = annotate, .out = annotate->out, .data = pf_annotation_data_types(annotate->annotation)};
    const bool enough = types.data && write_all(&types);
    pf_free(allocator, types.accesses, types.capacity * sizeof(*types.accesses));
    pf_free(allocator, types.groups, types.group_capacity * sizeof(*types.groups));
    return enough ? 0 : pf_fail_memory(error, "types");
}
