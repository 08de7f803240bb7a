/* SPDX-License-Identifier: MIT */
#include "output/report/lists.h"

#include <inttypes.h>

#include "base/error.h"

enum { TYPES = 256, PROGRESS_RECORDS = 4096 };

struct event_stats {
    uint64_t samples, lost, left_out; /* the last: by a BPF program */
};

struct stats {
    const struct perfile_allocator *allocator;
    struct perfile_reader *reader;
    uint64_t all;
    uint64_t types[TYPES];
    struct event_stats *events;
    size_t event_capacity;
};

static struct event_stats *event_of(struct stats *stats, const struct perfile_record *record)
{
    return PF_ELEMENT(stats->allocator, stats->events, stats->event_capacity, record->event->index);
}

/* False: out of memory. */
static bool count_of_event(struct stats *stats, const struct perfile_record *record)
{
    enum { BY_BPF = 1 << 15 };
    struct perfile_lost_samples lost;
    struct event_stats *event = event_of(stats, record);
    if (!event)
        return false;
    if (record->type == PERFILE_RECORD_SAMPLE)
        event->samples++;
    else if (perfile_record_decode(stats->reader, record, &lost, sizeof(lost), NULL) == 0)
        *(record->misc & BY_BPF ? &event->left_out : &event->lost) += lost.lost;
    return true;
}

static bool count(struct stats *stats, const struct perfile_record *record)
{
    if (record->damaged)
        return true;
    stats->all++;
    if (record->type < TYPES)
        stats->types[record->type]++;
    return !record->event || (record->type != PERFILE_RECORD_SAMPLE && record->type != PERFILE_RECORD_LOST_SAMPLES) ||
           count_of_event(stats, record);
}

static void put_line(struct pf_text *out, const char *name, uint64_t number)
{
    pf_put_format(out, "%20s events: %10" PRIu64, name, number);
}

static void put_types(const struct stats *stats, struct pf_text *out)
{
    static const char prefix[] = "HEADER_";
    pf_put_string(out, "\nAggregated stats:\n");
    put_line(out, "TOTAL", stats->all);
    pf_put_char(out, '\n');
    for (uint32_t type = 0; type < TYPES; type++) {
        const char *name = perfile_record_name(type);
        if (!stats->types[type])
            continue;
        name = !name ? "UNKNOWN" : name + (strncmp(name, prefix, sizeof(prefix) - 1) == 0 ? sizeof(prefix) - 1 : 0);
        put_line(out, name, stats->types[type]);
        pf_put_format(out, "  (%4.1f%%)\n", 100.0 * (double)stats->types[type] / (double)stats->all);
    }
}

static void put_number(struct pf_text *out, const char *name, uint64_t number)
{
    if (!number)
        return;
    put_line(out, name, number);
    pf_put_char(out, '\n');
}

static void put_events(const struct stats *stats, struct pf_text *out)
{
    for (size_t i = 0; i < stats->event_capacity; i++) {
        const struct event_stats *event = &stats->events[i];
        const struct perfile_event *of = perfile_event_get(stats->reader, i);
        if (!of || !(event->samples || event->lost || event->left_out))
            continue;
        pf_put_name(out, of->name);
        pf_put_string(out, " stats:\n");
        put_number(out, "SAMPLE", event->samples);
        put_number(out, "LOST_SAMPLES", event->lost);
        put_number(out, "LOST_SAMPLES (BPF)", event->left_out);
    }
}

int pf_stats_write(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                   struct perfile_error *error)
{
    struct stats stats = {.allocator = out->allocator, .reader = reader};
    const struct perfile_record *record;
    bool enough = true;
    int result = 0;
    while (enough && (result = perfile_reader_next(reader, &record, error)) > 0) {
        enough = count(&stats, record);
        if (stats.all % PROGRESS_RECORDS == 0)
            pf_output_progress(reader, options);
    }
    if (enough) {
        put_types(&stats, out);
        put_events(&stats, out);
    }
    pf_free(stats.allocator, stats.events, stats.event_capacity * sizeof(*stats.events));
    return enough ? result : pf_fail_memory(error, "report");
}
