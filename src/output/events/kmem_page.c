/* SPDX-License-Identifier: MIT */
/* Allocations of pages as `perf kmem --page stat` prints them. */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/events/kmem_page.h"
#include "output/events/events.h"

struct printing {
    struct pf_text *out;
    struct pf_pages *pages;
    uint64_t max;
    int width; /* of flags */
    bool live;
};

static void put_flags(const struct printing *printing)
{
    pf_put_string(printing->out, "#\n# GFP flags\n# ---------\n");
    for (size_t i = 0; i < printing->pages->gfp_count; i++) {
        const struct pf_page_gfp *gfp = printing->pages->gfp_list[i];
        pf_put_format(printing->out, "# %08" PRIx64 ": %*s: %s\n", gfp->flags, printing->width, gfp->short_text,
                      gfp->text);
    }
}

static void put_row(const struct printing *printing, const struct pf_page_row *row, bool of_pages)
{
    struct pf_text *out = printing->out;
    if (of_pages)
        pf_put_format(out, " %16" PRIu64 " |", row->key);
    pf_put_format(out, " %16" PRIu64 " | %9" PRIu64 " | %5" PRIu32 " | %8s | %-*s | ",
                  (printing->live ? row->live_bytes : row->bytes) / 1024, printing->live ? row->live : row->hits,
                  row->order, pf_page_type(row->type), printing->width, row->gfp->short_text);
    if (row->name)
        pf_put_name(out, row->name);
    else
        pf_put_format(out, "%" PRIx64, row->call_site);
    pf_put_char(out, '\n');
}

static void put_rows(const struct printing *printing, const struct pf_page_rows *rows, bool of_pages)
{
    struct pf_text *out = printing->out;
    pf_put_char(out, '\n');
    pf_put_rule(out, 105);
    pf_put_string(out, of_pages ? " PFN              |" : "");
    pf_put_format(out, " %5s alloc (KB) | Hits      | Order | Mig.type | %-*s | Callsite\n",
                  printing->live ? "Live" : "Total", printing->width, "GFP flags");
    pf_put_rule(out, 105);
    for (size_t i = 0; i < rows->count && (!printing->max || i < printing->max); i++)
        put_row(printing, &rows->rows[i], of_pages);
    if (printing->max && rows->count > printing->max)
        pf_put_format(out, "%s ...              | ...       | ...   | ...      | %-*s | ...\n",
                      of_pages ? " ...              |" : "", printing->width, "...");
    pf_put_rule(out, 105);
}

static void put_total(struct pf_text *out, const char *what, uint64_t count, uint64_t bytes)
{
    pf_put_format(out, "%-30s: %16" PRIu64 "   [ %16" PRIu64 " KB ]\n", what, count, bytes / 1024);
}

static void put_orders(const struct printing *printing)
{
    static const char *const titles[PF_PAGE_TYPES] = {"Unmovable", "Movable", "Reclaimable", "HighAtomic",
                                                      "CMA/Isolated"};
    struct pf_text *out = printing->out;
    const struct pf_pages *pages = printing->pages;
    pf_put_format(out, "\n%5s", "Order");
    for (size_t i = 0; i < PF_PAGE_TYPES; i++)
        pf_put_format(out, "  %12s", titles[i]);
    pf_put_string(out, "\n-----");
    for (size_t i = 0; i < PF_PAGE_TYPES; i++)
        pf_put_string(out, "  ------------");
    pf_put_char(out, '\n');
    for (uint32_t order = 0; order <= pf_max(pages->max_order, 10); order++) {
        pf_put_format(out, "%5" PRIu32, order);
        for (size_t i = 0; i < PF_PAGE_TYPES; i++) {
            const uint64_t count = printing->live ? pages->live_orders[order][i] : pages->orders[order][i];
            if (count)
                pf_put_format(out, "  %12" PRIu64, count);
            else
                pf_put_format(out, "  %12c", '.');
        }
        pf_put_char(out, '\n');
    }
}

static void put_summary(const struct printing *printing)
{
    struct pf_text *out = printing->out;
    const struct pf_pages *pages = printing->pages;
    pf_put_string(out, "\nSUMMARY (page allocator)\n========================\n");
    put_total(out, "Total allocation requests", pages->allocs, pages->alloc_bytes);
    put_total(out, "Total free requests", pages->frees, pages->free_bytes);
    pf_put_char(out, '\n');
    put_total(out, "Total alloc+freed requests", pages->freed, pages->freed_bytes);
    put_total(out, "Total alloc-only requests", pages->allocs - pages->freed,
              pages->alloc_bytes - pf_min(pages->alloc_bytes, pages->freed_bytes));
    put_total(out, "Total free-only requests", pages->frees - pages->freed, pages->free_bytes - pages->freed_bytes);
    pf_put_char(out, '\n');
    put_total(out, "Total allocation failures", pages->failed, pages->failed_bytes);
    put_orders(printing);
}

static void put_all(struct printing *printing, unsigned flags)
{
    pf_pages_sort(printing->pages, printing->live);
    for (size_t i = 0; i < printing->pages->gfp_count; i++) {
        const int width = (int)strlen(printing->pages->gfp_list[i]->short_text);
        printing->width = width > printing->width ? width : printing->width;
    }
    if (flags & (PERFILE_EVENTS_CALLER | PERFILE_EVENTS_ALLOC))
        put_flags(printing);
    if (flags & PERFILE_EVENTS_CALLER)
        put_rows(printing, &printing->pages->callers, false);
    if (flags & PERFILE_EVENTS_ALLOC)
        put_rows(printing, &printing->pages->pages, true);
    put_summary(printing);
}

static int write_pages(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                       struct perfile_error *error)
{
    const unsigned flags = options->events->flags;
    struct pf_pages pages;
    struct printing printing = {.out = out,
                                .pages = &pages,
                                .max = options->events->rows,
                                .width = (int)strlen("GFP flags"),
                                .live = flags & PERFILE_EVENTS_LIVE};
    int result = pf_pages_open(&pages, reader, options->allocator, error);
    if (result == 0)
        result = pf_pages_order(&pages, options->events->sort, error);
    if (result == 0)
        result = pf_event_profile_open(options, reader, &(struct pf_event_needs){.only = &pages.events}, &pages.profile,
                                       error);
    if (result == 0)
        result = pf_event_profile_read(pages.profile, pf_pages_take, &pages, error);
    if (result != PERFILE_ERROR_MEMORY && pages.profile) {
        put_all(&printing, flags);
        pf_pages_notify(&pages, options->symbols->note, options->symbols->note_context);
        pf_profile_notify_unmatched(pages.profile, options->unmatched, options->unmatched_context);
    }
    pf_pages_close(&pages);
    pf_profile_close(pages.profile);
    return result;
}

const struct pf_output pf_output_kmem_page = {
    .info = {"kmem_page", "stdio", "allocations of pages as perf kmem stat prints them"},
    .write = write_pages,
};
