/* SPDX-License-Identifier: MIT */
/*
 * What the kernel allocated, by caller or by allocated object: from slabs (kmem_slab), and complete pages (kmem_page).
 */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/events/kmem_page.h"
#include "analysis/events/kmem_slab.h"
#include "view/profile_source.h"

struct kind;

struct kmem {
    struct pf_profiled_events events; /* first */
    const struct kind *kind;
    union {
        struct pf_slab slab;
        struct pf_pages pages;
    };
    struct pf_events *asked; /* its events */
    bool by_address;
    /* when sorted: those that are wanted */
    const void *rows;
    size_t count, row_bytes;
    const void *row; /* in hand */
};

/* What the two views do in their own way. */
struct kind {
    const char *what, *keys[2], *hidden[2]; /* columns that rows by these keys have not */
    int (*open)(struct kmem *kmem, struct perfile_table *table, struct perfile_error *error);
    bool (*take)(void *state, const struct pf_profile_sample *sample);
    void (*sort)(struct kmem *kmem);
    void (*notify)(struct kmem *kmem, pf_on_note *notify, void *context);
    void (*close)(struct kmem *kmem);
};

#define ROW(kind)                                                                                                      \
    const struct kmem *kmem = state;                                                                                   \
    const struct pf_##kind##_row *row = kmem->row;                                                                     \
    (void)row
#define PUT(kind, name, set, known, value) PF_PUT_IF(name, ROW(kind), known, set, value)

static void set_caller(struct pf_vector *vector, const char *name, uint64_t address)
{
    char text[24];
    if (name) {
        pf_set_lasting(vector, name);
        return;
    }
    snprintf(text, sizeof(text), "0x%" PRIx64, address);
    pf_set_text(vector, text);
}

/* ---- slabs ------------------------------------------------------------------------------------------------------- */

PF_PUT(caller)
{
    const struct kmem *kmem = state;
    const struct pf_slab_row *row = kmem->row;
    if (kmem->by_address)
        pf_set_null(vector);
    else
        set_caller(vector, row->name, row->key);
}

PUT(slab, caller_address, pf_set_u64, true, row->call_site)
PUT(slab, address, pf_set_u64, kmem->by_address, row->address)
PUT(slab, hits, pf_set_u64, true, row->hits)
PUT(slab, allocated, pf_set_u64, true, row->allocated)
PUT(slab, requested, pf_set_u64, true, row->requested)
PUT(slab, fragmentation, pf_set_f64, row->allocated, pf_slab_waste(row->requested, row->allocated))
PUT(slab, frees, pf_set_u64, true, row->frees)
PUT(slab, freed, pf_set_u64, true, row->freed)
PUT(slab, outstanding, pf_set_u64, true, row->allocated - pf_min(row->allocated, row->freed))
PUT(slab, ping_pong, pf_set_u64, true, row->ping_pong)

static const struct pf_column slab_columns[] = {
    PF_COLUMN(caller, TEXT, "", "The function that allocated, of rows by caller: an address where there is no symbol."),
    PF_COLUMN(address, ADDRESS, "", "The allocated memory, of rows by address."),
    PF_REQUIRED(hits, U64, "", "How often."),
    PF_REQUIRED(allocated, BYTES, "bytes", "How much was allocated."),
    PF_REQUIRED(requested, BYTES, "bytes", "How much was asked for."),
    PF_COLUMN(fragmentation, F64, "percent", "The part of what was allocated that was not asked for."),
    PF_REQUIRED(frees, U64, "", "How many of these were freed."),
    PF_REQUIRED(freed, BYTES, "bytes", "How much that was."),
    PF_REQUIRED(outstanding, BYTES, "bytes", "What was not freed before the end."),
    PF_REQUIRED(ping_pong, U64, "", "How many were freed on another CPU than the one that allocated."),
    PF_REQUIRED_EXTRA(caller_address, ADDRESS, "", "Address of the (last) caller."),
};

static int open_slab(struct kmem *kmem, struct perfile_table *table, struct perfile_error *error)
{
    const char *sort = table->options.events->sort;
    pf_slab_open(&kmem->slab, table->reader, table->allocator);
    kmem->asked = &kmem->slab.events;
    return pf_slab_order(&kmem->slab, sort && *sort ? sort : "bytes,hit", error);
}

static bool take_slab(void *state, const struct pf_profile_sample *sample)
{
    struct kmem *kmem = state;
    kmem->slab.profile = kmem->events.profile;
    return pf_slab_take(&kmem->slab, sample);
}

static void sort_slab(struct kmem *kmem)
{
    const struct pf_slab_rows *rows = kmem->by_address ? &kmem->slab.addresses : &kmem->slab.callers;
    pf_slab_sort(&kmem->slab);
    kmem->rows = rows->rows;
    kmem->count = rows->count;
    kmem->row_bytes = sizeof(*rows->rows);
}

static void report_slab(struct kmem *kmem, pf_on_note *notify, void *context)
{
    pf_slab_notify(&kmem->slab, notify, context);
}

static void close_slab(struct kmem *kmem)
{
    pf_slab_close(&kmem->slab);
}

/* ---- pages ------------------------------------------------------------------------------------------------------- */

PF_PUT(page_caller)
{
    const struct pf_page_row *row = ((const struct kmem *)state)->row;
    set_caller(vector, row->name, row->call_site);
}

PUT(page, page_caller_address, pf_set_u64, true, row->call_site)
PUT(page, pfn, pf_set_u64, kmem->by_address, row->page)
PUT(page, order, pf_set_u32, true, row->order)
PUT(page, type, pf_set_lasting, true, pf_page_type(row->type))
PUT(page, flags, pf_set_lasting, true, row->gfp->text)
PUT(page, page_hits, pf_set_u64, true, row->hits)
PUT(page, page_allocated, pf_set_u64, true, row->bytes)
PUT(page, live, pf_set_u64, true, row->live)
PUT(page, live_bytes, pf_set_u64, true, row->live_bytes)

#define PAGE_COLUMN(field, kind, what, text, ...)                                                                      \
    {                                                                                                                  \
        .name = #field, .type = PERFILE_COLUMN_##kind, .unit = what, .doc = text, .put = put_page_##field, __VA_ARGS__ \
    }

static const struct pf_column page_columns[] = {
    PAGE_COLUMN(caller, TEXT, "",
                "Function that allocated, of pages the first one; an address where there is no symbol.",
                .extra = false),
    PF_COLUMN(pfn, U64, "", "Number of the page, where rows are of pages."),
    PF_REQUIRED(order, U32, "", "Size of the allocation: 2 to the power of this, in pages."),
    PF_REQUIRED(type, TEXT, "", "Whether they can be moved: the kernel's migrate type."),
    PAGE_COLUMN(hits, U64, "", "How often.", .required = true),
    PAGE_COLUMN(allocated, BYTES, "bytes", "How much.", .required = true),
    PF_REQUIRED(live, U64, "", "How often without being freed before the end."),
    PF_REQUIRED(live_bytes, BYTES, "bytes", "How much that was."),
    PF_REQUIRED(flags, TEXT, "", "How they were asked for: the kernel's GFP flags."),
    PAGE_COLUMN(caller_address, ADDRESS, "", "Address of the caller.", .required = true, .extra = true),
};

static int open_pages(struct kmem *kmem, struct perfile_table *table, struct perfile_error *error)
{
    const int result = pf_pages_open(&kmem->pages, table->reader, table->allocator, error);
    kmem->asked = &kmem->pages.events;
    return result < 0 ? result : pf_pages_order(&kmem->pages, table->options.events->sort, error);
}

static bool take_page(void *state, const struct pf_profile_sample *sample)
{
    struct kmem *kmem = state;
    kmem->pages.profile = kmem->events.profile;
    return pf_pages_take(&kmem->pages, sample);
}

static void sort_pages(struct kmem *kmem)
{
    const struct pf_page_rows *rows = kmem->by_address ? &kmem->pages.pages : &kmem->pages.callers;
    pf_pages_sort(&kmem->pages, kmem->events.table->options.events->flags & PERFILE_EVENTS_LIVE);
    kmem->rows = rows->rows;
    kmem->count = rows->count;
    kmem->row_bytes = sizeof(*rows->rows);
}

static void report_pages(struct kmem *kmem, pf_on_note *notify, void *context)
{
    pf_pages_notify(&kmem->pages, notify, context);
}

static void close_pages(struct kmem *kmem)
{
    pf_pages_close(&kmem->pages);
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

static int next_row(void *state, struct perfile_error *error)
{
    struct kmem *kmem = state;
    if (pf_profiled_events_read(&kmem->events, kmem->kind->take, kmem))
        kmem->kind->sort(kmem);
    const int result = pf_table_row(kmem->events.table, pf_table_rows(kmem->events.table, kmem->count), error);
    if (result > 0)
        kmem->row = (const char *)kmem->rows + kmem->events.table->all.row * kmem->row_bytes;
    return result;
}

static const struct kind slab_kind = {
    "allocations", {"caller", "address"}, {"address", "caller"}, open_slab, take_slab, sort_slab, report_slab,
    close_slab};
static const struct kind page_kind = {"pages",   {"caller", "page"}, {"pfn", ""},  open_pages,
                                      take_page, sort_pages,         report_pages, close_pages};

static int open_view(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct kmem *kmem = state;
    const struct kind *kind = table->view->lists[0].items == slab_columns ? &slab_kind : &page_kind;
    kmem->kind = kind;
    int result = pf_table_by_second(table, kind->what, kind->keys, &kmem->by_address, error);
    pf_table_hide(table, kind->hidden[kmem->by_address]);
    if (result == 0)
        result = kind->open(kmem, table, error);
    const struct pf_event_needs needs = {.only = kmem->asked};
    return result < 0 ? result : pf_profiled_events_open(&kmem->events, table, &needs, error);
}

static void close_view(void *state)
{
    struct kmem *kmem = state;
    kmem->kind->close(kmem);
    pf_profiled_events_close(&kmem->events);
}

static void notes(void *state, pf_on_note *notify, void *context)
{
    struct kmem *kmem = state;
    kmem->kind->notify(kmem, notify, context);
}

#define KMEM_VIEW(name, text, reads, list, key)                                                                        \
    const struct pf_view pf_view_##name = {                                                                            \
        .info = {#name, text},                                                                                         \
        .events = &reads,                                                                                              \
        .lists = {PF_COLUMNS(list)},                                                                                   \
        .own_key = key,                                                                                                \
        .not_filtered = PF_FILTER_EVENTS,                                                                              \
        .state_bytes = sizeof(struct kmem),                                                                            \
        .open = open_view,                                                                                             \
        .next = next_row,                                                                                              \
        .close = close_view,                                                                                           \
        .notes = notes,                                                                                                \
    }

KMEM_VIEW(kmem_slab, "allocations of the kernel's slab allocator, by caller or by address", pf_slab_events,
          slab_columns, "address");
KMEM_VIEW(kmem_page, "pages of memory that the kernel allocated, by caller or by page", pf_pages_events, page_columns,
          "page");
