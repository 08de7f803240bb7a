/* SPDX-License-Identifier: MIT */
/* Pages of memory that the kernel gave out, by caller or by page. */
#include "analysis/events/kmem_page.h"

#include "base/error.h"
#include "view/profile_source.h"

struct view {
    struct pf_profiled_events events; /* first */
    struct pf_pages pages;
    bool by_page;
    const struct pf_page_row *row; /* in hand */
};

#define PUT_IF(name, set, known, value)                                                                                \
    PF_PUT(name)                                                                                                       \
    {                                                                                                                  \
        const struct view *view = state;                                                                               \
        const struct pf_page_row *row = view->row;                                                                     \
        if (known)                                                                                                     \
            set(vector, value);                                                                                        \
        else                                                                                                           \
            pf_set_null(vector);                                                                                       \
    }

PUT_IF(caller, pf_set_lasting, true, row->name)
PUT_IF(caller_address, pf_set_u64, true, row->call_site)
PUT_IF(pfn, pf_set_u64, view->by_page, row->key)
PUT_IF(order, pf_set_u32, true, row->order)
PUT_IF(type, pf_set_lasting, true, pf_page_type(row->type))
PUT_IF(flags, pf_set_lasting, true, row->gfp->text)
PUT_IF(hits, pf_set_u64, true, row->hits)
PUT_IF(allocated, pf_set_u64, true, row->bytes)
PUT_IF(live, pf_set_u64, true, row->live)
PUT_IF(live_bytes, pf_set_u64, true, row->live_bytes)

static const struct pf_column columns[] = {
    PF_COLUMN(caller, TEXT, "", "Function that allocated, of pages the first one; null: no symbol."),
    PF_COLUMN(pfn, U64, "", "Number of the page, where rows are of pages."),
    PF_REQUIRED(order, U32, "", "2 to the power of this are so many pages at once."),
    PF_REQUIRED(type, TEXT, "", "Whether they can be moved: the kernel's migrate type."),
    PF_REQUIRED(flags, TEXT, "", "How they were asked for: the kernel's GFP flags."),
    PF_REQUIRED(hits, U64, "", "How often."),
    PF_REQUIRED(allocated, BYTES, "bytes", "How much."),
    PF_REQUIRED(live, U64, "", "How often without being freed before the end."),
    PF_REQUIRED(live_bytes, BYTES, "bytes", "How much that was."),
    PF_REQUIRED_EXTRA(caller_address, ADDRESS, "", "Address of the caller."),
};

static bool take(void *state, const struct pf_profile_sample *sample)
{
    return pf_pages_take(&((struct view *)state)->pages, sample);
}

static int next_row(void *state, struct perfile_error *error)
{
    struct view *view = state;
    const struct pf_page_rows *rows = view->by_page ? &view->pages.pages : &view->pages.callers;
    if (pf_profiled_events_read(&view->events, take, view))
        pf_pages_sort(&view->pages, false);
    const int result = pf_profiled_events_row(&view->events, rows->count, error);
    if (result > 0)
        view->row = &rows->rows[view->events.row];
    return result;
}

static int open_view(struct perfile_table *table, void **state, struct perfile_error *error)
{
    static const char *const keys[] = {"caller", "page"};
    struct view *view = pf_table_state(table, state, sizeof(*view), columns, PF_COUNT(columns));
    if (!view)
        return pf_fail_memory(error, "pages");
    int result = pf_table_by_second(table, "pages", keys, &view->by_page, error);
    if (result == 0)
        result = pf_pages_open(&view->pages, table->reader, table->allocator, error);
    if (result == 0)
        result =
            pf_profiled_events_open(&view->events, table, &(struct pf_event_needs){.only = &view->pages.events}, error);
    view->pages.profile = view->events.profile;
    return result;
}

static void close_view(void *state)
{
    struct view *view = state;
    if (!view)
        return;
    const struct perfile_allocator *allocator = view->events.table->allocator;
    pf_pages_close(&view->pages);
    pf_profiled_events_close(&view->events);
    pf_free(allocator, view, sizeof(*view));
}

static void notes(void *state, pf_note_told *told, void *context)
{
    pf_pages_tell(&((struct view *)state)->pages, told, context);
}

const struct pf_view pf_view_kmem_page = {
    .info = {"kmem_page", "pages of memory that the kernel gave out, by caller or by page"},
    .lists = {PF_COLUMNS(columns)},
    .own_key = "page",
    .not_filtered = PF_FILTER_EVENTS,
    .open = open_view,
    .next = next_row,
    .close = close_view,
    .losses = pf_profiled_events_losses,
    .unmatched = pf_profiled_events_unmatched,
    .notes = notes,
};
