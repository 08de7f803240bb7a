/* SPDX-License-Identifier: MIT */
/* Allocations as `perf kmem --slab stat` prints them. */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/events/kmem_slab.h"
#include "output/events/events.h"

static void put_row(struct pf_text *out, const struct pf_slab_row *row, bool of_callers)
{
    char text[300];
    if (of_callers && row->name)
        snprintf(text, sizeof(text), "%s", row->name);
    else
        snprintf(text, sizeof(text), "0x%" PRIx64, row->key);
    const uint64_t hits = pf_max(row->hits, 1);
    pf_put_char(out, ' ');
    pf_put_name(out, text);
    pf_put_format(
        out, "%*s | %9" PRIu64 "/%-5" PRIu64 " | %9" PRIu64 "/%-5" PRIu64 " | %8" PRIu64 " | %9" PRIu64 " | %6.3f%%\n",
        strlen(text) < 34 ? (int)(34 - strlen(text)) : 0, "", row->allocated, row->allocated / hits, row->requested,
        row->requested / hits, row->hits, row->ping_pong, pf_slab_waste(row->requested, row->allocated));
}

static void put_rows(struct pf_text *out, const struct pf_slab_rows *rows, uint64_t max, bool of_callers)
{
    pf_put_rule(out, 105);
    pf_put_format(out, " %-34s |", of_callers ? "Callsite" : "Alloc Ptr");
    pf_put_string(out, " Total_alloc/Per | Total_req/Per   | Hit      | Ping-pong | Frag\n");
    pf_put_rule(out, 105);
    for (size_t i = 0; i < rows->count && (!max || i < max); i++)
        put_row(out, &rows->rows[i], of_callers);
    if (max && rows->count > max)
        pf_put_string(out,
                      " ...                                | ...             | ...             | ...      | ...       "
                      "| ...   \n");
    pf_put_rule(out, 105);
}

static void put_summary(struct pf_text *out, const struct pf_slab *slab)
{
    pf_put_string(out, "\nSUMMARY (SLAB allocator)\n========================\n");
    pf_put_format(out, "Total bytes requested: %" PRIu64 "\n", slab->requested);
    pf_put_format(out, "Total bytes allocated: %" PRIu64 "\n", slab->allocated);
    pf_put_format(out, "Total bytes freed:     %" PRIu64 "\n", slab->freed);
    if (slab->allocated > slab->freed)
        pf_put_format(out, "Net total bytes allocated: %" PRIu64 "\n", slab->allocated - slab->freed);
    pf_put_format(out, "Total bytes wasted on internal fragmentation: %" PRIu64 "\n",
                  slab->allocated - pf_min(slab->allocated, slab->requested));
    pf_put_format(out, "Internal fragmentation: %f%%\n", pf_slab_waste(slab->requested, slab->allocated));
    pf_put_format(out, "Cross CPU allocations: %" PRIu64 "/%" PRIu64 "\n", slab->cross, slab->hits);
}

static void put_all(struct pf_text *out, const struct perfile_event_options *events, struct pf_slab *slab)
{
    pf_slab_sort(slab);
    if (events->flags & PERFILE_EVENTS_CALLER)
        put_rows(out, &slab->callers, events->rows, true);
    if (events->flags & PERFILE_EVENTS_ALLOC)
        put_rows(out, &slab->addresses, events->rows, false);
    put_summary(out, slab);
}

static int write_slab(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                      struct perfile_error *error)
{
    struct pf_slab slab;
    pf_slab_open(&slab, reader, options->allocator);
    slab.raw = options->events->flags & PERFILE_EVENTS_RAW_IP;
    int result = pf_slab_order(&slab, options->events->sort, error);
    if (result == 0)
        result = pf_event_profile_open(options, reader, &(struct pf_event_needs){.only = &slab.events}, &slab.profile,
                                       error);
    if (result == 0)
        result = pf_event_profile_read(slab.profile, pf_slab_take, &slab, error);
    if (result != PERFILE_ERROR_MEMORY && slab.profile) {
        put_all(out, options->events, &slab);
        pf_slab_notify(&slab, options->symbols->note, options->symbols->note_context);
        pf_profile_notify_unmatched(slab.profile, options->unmatched, options->unmatched_context);
    }
    pf_slab_close(&slab);
    pf_profile_close(slab.profile);
    return result;
}

const struct pf_output pf_output_kmem_slab = {
    .info = {"kmem_slab", "stdio", "allocations of the slab allocator as perf kmem stat prints them"},
    .write = write_slab,
};
