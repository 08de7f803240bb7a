/* SPDX-License-Identifier: MIT */
/* What samples accessed, by type and member: the rows of `report --sort typeoff`, with what they cost. */
#include <stdlib.h>

#include "analysis/annotate.h"
#include "base/bytes.h"
#include "base/error.h"
#include "view/annotated.h"

struct row {
    const struct pf_data_use *use;
    uint32_t event;
    uint8_t bytes;
    uint64_t samples, period, cost;
};

struct types {
    struct pf_annotated annotated; /* first */
    struct row *rows;
    size_t count, capacity, next;
    const struct row *row;
};

#define TYPES const struct types *types = state
#define USE                                                                                                            \
    const struct types *types = state;                                                                                 \
    const struct pf_data_use *use = types->row->use

/* ---- what the columns put ---------------------------------------------------------------------------------------- */

static const struct pf_annotation_event *event_of(const struct types *types)
{
    return &types->annotated.annotation->events[types->row->event];
}

static const char *module_of(const struct types *types)
{
    const struct pf_module *module = pf_symbols_module(types->annotated.annotation->symbols, types->row->use->module);
    return module ? module->name : NULL;
}

PF_PUT_AS(event, TYPES, pf_set_lasting, event_of(types)->event ? event_of(types)->event->name : "[unknown]")
PF_PUT_AS(unit, TYPES, pf_set_lasting, event_of(types)->unit)
PF_PUT_AS(dso, TYPES, pf_set_lasting, module_of(types))
PF_PUT_IF(type, USE, use->use.type, pf_set_lasting, use->type)
PF_PUT_IF(member, USE, use->member && use->member[0], pf_set_lasting, use->member)
PF_PUT_IF(offset, USE, use->use.type, pf_set_u64, use->use.offset)
PF_PUT_IF(line, USE, use->use.type, pf_set_u64, use->use.offset / PF_DATA_LINE_BYTES)
PF_PUT_IF(type_bytes, USE, use->use.type && use->use.type->bytes, pf_set_u64, use->use.type->bytes)
PF_PUT_IF(bytes, TYPES, types->row->bytes, pf_set_u64, types->row->bytes)
PF_PUT_IF(reason, USE, !use->use.type, pf_set_lasting, pf_type_reason_name(use->use.reason, NULL))
PF_PUT_AS(samples, TYPES, pf_set_u64, types->row->samples)
PF_PUT_AS(period, TYPES, pf_set_u64, types->row->period)
PF_PUT_AS(overhead, TYPES, pf_set_f64, pf_annotated_percent(types->row->period, event_of(types)->period))
PF_PUT_IF(weight, TYPES, types->row->cost, pf_set_u64, types->row->cost)

static const struct pf_column columns[] = {
    PF_REQUIRED(event, TEXT, "", "Event of the samples."),
    PF_COLUMN(type, TEXT, "", "Type of the data that the instructions access; null: not known."),
    PF_COLUMN(member, TEXT, "", "Member of the type, with those that it is in: in.y; null: it has none there."),
    PF_COLUMN(offset, U64, "bytes", "Where in the type the access begins."),
    PF_COLUMN(bytes, U64, "bytes", "How much the instructions access, at most."),
    PF_COLUMN(line, U64, "", "Which 64 bytes of the type, from 0 on."),
    PF_COLUMN(dso, TEXT, "", "File or module that has the type."),
    PF_REQUIRED(samples, U64, "samples", "Samples of these instructions."),
    PF_REQUIRED(period, U64, "", "Period of these samples, in the unit of the event."),
    PF_REQUIRED(overhead, F64, "percent", "Share of the period of all samples of the event."),
    PF_COLUMN(weight, U64, "", "Sum of what the accesses cost; null: not recorded."),
    PF_EXTRA(type_bytes, U64, "bytes", "Size of the type."),
    PF_EXTRA(reason, TEXT, "", "Why the type is not known, by perf's words for it; null: it is known."),
    PF_REQUIRED_EXTRA(unit, TEXT, "", "What the periods of the event count."),
};

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static int order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* By event, file, type and offset; what is not known by its reason. */
static int compare_uses(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    const int events = order(x->event, y->event), modules = order(x->use->module, y->use->module);
    const int types = strcmp(x->use->type, y->use->type), offsets = order(x->use->use.offset, y->use->use.offset);
    const int reasons = order(x->use->use.reason, y->use->use.reason);
    return events ? events : modules ? modules : types ? types : offsets ? offsets : reasons;
}

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    const int events = order(x->event, y->event), periods = order(y->period, x->period);
    return events ? events : periods ? periods : compare_uses(a, b);
}

static void add_to(struct row *sum, const struct row *more)
{
    pf_add_to_sum(&sum->samples, more->samples);
    pf_add_to_sum(&sum->period, more->period);
    pf_add_to_sum(&sum->cost, more->cost);
    sum->bytes = sum->bytes > more->bytes ? sum->bytes : more->bytes;
}

static void join(struct types *types)
{
    size_t joined = 0;
    if (types->count)
        qsort(types->rows, types->count, sizeof(*types->rows), compare_uses);
    for (size_t i = 0; i < types->count; i++) {
        if (joined && compare_uses(&types->rows[joined - 1], &types->rows[i]) == 0)
            add_to(&types->rows[joined - 1], &types->rows[i]);
        else
            types->rows[joined++] = types->rows[i];
    }
    types->count = joined;
    if (joined)
        qsort(types->rows, joined, sizeof(*types->rows), compare_rows);
}

/* False: out of memory. */
static bool add_function(struct types *types, size_t rank)
{
    struct perfile_annotation *annotation = types->annotated.annotation;
    const struct pf_annotation_function *function = pf_annotation_ranked(annotation, rank);
    struct pf_data_types *data = pf_annotation_data_types(annotation);
    for (size_t i = function->hits; data && i < function->hits + function->hit_count; i++) {
        const struct pf_annotation_hit *hit = &annotation->hits[i];
        const struct pf_data_use *use = pf_data_types_at(data, function->module, function->symbol, hit->address);
        if (!use || !PF_APPEND(types->annotated.table->allocator, types->rows, types->count, types->capacity,
                               (struct row){.use = use,
                                            .event = hit->event,
                                            .bytes = use->use.bytes,
                                            .samples = hit->samples,
                                            .period = hit->period,
                                            .cost = hit->cost}))
            return false;
    }
    return data;
}

static int open_types(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct types *types = state;
    const int result = pf_annotated_open(&types->annotated, table, error);
    bool enough = true;
    for (size_t i = 0; result == 0 && i < types->annotated.choice.count && enough; i++)
        enough = add_function(types, types->annotated.choice.ranks[i]);
    if (result == 0 && enough)
        join(types);
    return enough ? result : pf_fail_memory(error, "types");
}

static int next_type(void *state, struct perfile_error *error)
{
    struct types *types = state;
    (void)error;
    if (types->next >= types->count)
        return 0;
    types->row = &types->rows[types->next++];
    return 1;
}

static void close_types(void *state)
{
    struct types *types = state;
    pf_free(types->annotated.table->allocator, types->rows, types->capacity * sizeof(*types->rows));
    pf_annotated_close(&types->annotated);
}

/* Where nothing is known the reasons are. */
static void notes(void *state, pf_on_note *notify, void *context)
{
    TYPES;
    bool any = !types->count;
    for (size_t i = 0; i < types->count && !any; i++)
        any = types->rows[i].use->use.type;
    if (!any)
        notify(context, "no type is known: the column reason states why");
}

const struct pf_view pf_view_types = {
    .lists = {PF_COLUMNS(columns)},
    .info = {"types", "for each event the types and members that samples accessed, the hottest first"},
    .state_bytes = sizeof(struct types),
    .open = open_types,
    .next = next_type,
    .close = close_types,
    .losses = pf_annotated_losses,
    .notes = notes,
};
