/* SPDX-License-Identifier: MIT */
/* Allocations of the kernel by caller, or by the address that was given out. */
#include "analysis/events/kmem_slab.h"

#include "base/error.h"
#include "view/profile_source.h"

struct view {
    struct pf_profiled_events events; /* first */
    struct pf_slab slab;
    bool by_address;
    const struct pf_slab_row *row; /* in hand */
};

#define PUT_IF(name, set, known, value)                                                                                \
    PF_PUT(name)                                                                                                       \
    {                                                                                                                  \
        const struct view *view = state;                                                                               \
        const struct pf_slab_row *row = view->row;                                                                     \
        if (known)                                                                                                     \
            set(vector, value);                                                                                        \
        else                                                                                                           \
            pf_set_null(vector);                                                                                       \
    }

PUT_IF(caller, pf_set_lasting, !view->by_address, row->name)
PUT_IF(caller_address, pf_set_u64, true, view->by_address ? row->call_site : row->key)
PUT_IF(address, pf_set_u64, view->by_address, row->key)
PUT_IF(hits, pf_set_u64, true, row->hits)
PUT_IF(allocated, pf_set_u64, true, row->allocated)
PUT_IF(requested, pf_set_u64, true, row->requested)
PUT_IF(fragmentation, pf_set_f64, row->allocated, pf_slab_waste(row->requested, row->allocated))
PUT_IF(frees, pf_set_u64, true, row->frees)
PUT_IF(freed, pf_set_u64, true, row->freed)
PUT_IF(outstanding, pf_set_u64, true, row->allocated - pf_min(row->allocated, row->freed))
PUT_IF(ping_pong, pf_set_u64, true, row->ping_pong)

static const struct pf_column columns[] = {
    PF_COLUMN(caller, TEXT, "", "Who allocated, where rows are of callers; null: no symbol."),
    PF_COLUMN(address, ADDRESS, "", "What was given out, where rows are of addresses."),
    PF_REQUIRED(hits, U64, "", "How often."),
    PF_REQUIRED(allocated, BYTES, "bytes", "How much was given out."),
    PF_REQUIRED(requested, BYTES, "bytes", "How much was asked for."),
    PF_COLUMN(fragmentation, F64, "percent", "The part of what was given out that was not asked for."),
    PF_REQUIRED(frees, U64, "", "How many of these were freed."),
    PF_REQUIRED(freed, BYTES, "bytes", "How much that was."),
    PF_REQUIRED(outstanding, BYTES, "bytes", "What was not freed before the end."),
    PF_REQUIRED(ping_pong, U64, "", "How many were freed on another CPU than the one that allocated."),
    PF_REQUIRED_EXTRA(caller_address, ADDRESS, "", "Address of the (last) caller."),
};

static bool take(void *state, const struct pf_profile_sample *sample)
{
    return pf_slab_take(&((struct view *)state)->slab, sample);
}

static int next_row(void *state, struct perfile_error *error)
{
    struct view *view = state;
    const struct pf_slab_rows *rows = view->by_address ? &view->slab.addresses : &view->slab.callers;
    if (pf_profiled_events_read(&view->events, take, view))
        pf_slab_sort(&view->slab, "bytes,hit");
    const int result = pf_profiled_events_row(&view->events, rows->count, error);
    if (result > 0)
        view->row = &rows->rows[view->events.row];
    return result;
}

static int open_view(struct perfile_table *table, void **state, struct perfile_error *error)
{
    static const char *const keys[] = {"caller", "address"};
    struct view *view = pf_table_state(table, state, sizeof(*view), columns, PF_COUNT(columns));
    if (!view)
        return pf_fail_memory(error, "allocations");
    int result = pf_table_by_second(table, "allocations", keys, &view->by_address, error);
    if (result < 0)
        return result;
    pf_slab_open(&view->slab, table->reader, table->allocator);
    result = pf_profiled_events_open(&view->events, table, &(struct pf_event_needs){.only = &view->slab.events}, error);
    view->slab.profile = view->events.profile;
    return result;
}

static void close_view(void *state)
{
    struct view *view = state;
    if (!view)
        return;
    const struct perfile_allocator *allocator = view->events.table->allocator;
    pf_slab_close(&view->slab);
    pf_profiled_events_close(&view->events);
    pf_free(allocator, view, sizeof(*view));
}

static void notes(void *state, pf_note_told *told, void *context)
{
    pf_slab_tell(&((struct view *)state)->slab, told, context);
}

const struct pf_view pf_view_kmem_slab = {
    .info = {"kmem_slab", "allocations of the kernel's slab allocator, by caller or by address"},
    .lists = {PF_COLUMNS(columns)},
    .own_key = "address",
    .not_filtered = PF_FILTER_EVENTS,
    .open = open_view,
    .next = next_row,
    .close = close_view,
    .losses = pf_profiled_events_losses,
    .unmatched = pf_profiled_events_unmatched,
    .notes = notes,
};
