/* SPDX-License-Identifier: MIT */
/* Timelines of several recordings, shown together. */
#include "base/counted.h"
#include "base/error.h"
#include "output/export/export.h"
#include "output/export/timeline.h"

struct parts {
    const struct pf_timelines_format *format;
    char *items;
    size_t count; /* for which `begin` was called */
};

static void *part_at(const struct parts *parts, size_t index)
{
    return parts->items + index * parts->format->part_bytes;
}

static struct pf_timeline *timeline_at(const struct parts *parts, size_t index)
{
    return part_at(parts, index);
}

static uint64_t wall_at(const struct parts *parts, size_t index)
{
    return pf_timeline_wall(timeline_at(parts, index), timeline_at(parts, index)->start);
}

/* Returns the wall-clock time of the beginning, 0: not known. */
static uint64_t align(const struct parts *parts, const struct perfile_output_options *options)
{
    uint64_t earliest = UINT64_MAX, wall;
    size_t unknown = 0;
    char part[PF_COUNTED_BYTES];
    for (size_t i = 0; i < parts->count; i++) {
        wall = wall_at(parts, i);
        earliest = wall ? pf_min(earliest, wall) : earliest;
        unknown += !wall && timeline_at(parts, i)->first != UINT64_MAX;
    }
    for (size_t i = 0; i < parts->count; i++) {
        wall = wall_at(parts, i);
        timeline_at(parts, i)->offset = wall ? wall - earliest : 0;
    }
    if (parts->count > 1 && unknown)
        pf_export_notify(options, "%s: each stands at the beginning",
                         pf_part_of(unknown, parts->count, "recordings do not say what the wall-clock time was", part));
    return earliest == UINT64_MAX ? 0 : earliest;
}

static int open_part(struct parts *parts, struct perfile_reader *reader, const struct perfile_output_options *options,
                     struct pf_text *out, struct perfile_error *error)
{
    const struct pf_timelines_format *format = parts->format;
    const size_t number = parts->count++; /* is closed even if it is not open */
    struct perfile_symbol_options symbols;
    struct perfile_output_options of_it;
    reader = pf_export_nth(reader, options, number, &of_it, &symbols);
    const char *name = symbols.recording ? symbols.recording : "";
    format->begin(part_at(parts, number), out, (unsigned)number, options->more_count ? name : NULL);
    const int result = pf_timeline_open(timeline_at(parts, number), reader, &of_it, format->by_address, error);
    return result == 0 && !format->make(part_at(parts, number)) ? pf_fail_memory(error, "export") : result;
}

int pf_timelines_write(const struct pf_timelines_format *format, struct perfile_reader *reader,
                       const struct perfile_output_options *options, struct pf_text *out, struct perfile_error *error)
{
    const size_t bytes = (options->more_count + 1) * format->part_bytes;
    struct parts parts = {.format = format, .items = pf_new(options->allocator, bytes)};
    int result = parts.items ? 0 : pf_fail_memory(error, "export");
    while (result == 0 && parts.count <= options->more_count)
        result = open_part(&parts, reader, options, out, error);
    if (result == 0 && !format->put(parts.items, parts.count, align(&parts, options), options))
        result = pf_fail_memory(error, "export");
    for (size_t i = 0; i < parts.count; i++)
        format->close(part_at(&parts, i));
    pf_free(options->allocator, parts.items, bytes);
    return result;
}
