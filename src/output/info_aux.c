/* SPDX-License-Identifier: MIT */
#include "output/info_aux.h"

#include <inttypes.h>

#include "base/counted.h"

enum { SECOND_NS = 1000000000 };

/* Numbers that all queues add up to. */
struct totals {
    struct pf_aux_sums sums;
    struct pf_aux_losses lost;
    uint64_t missing, conflicts, errors;
    uint64_t first_ns, last_ns;
    uint64_t sources[PF_AUX_SOURCES]; /* bytes by the source that wrote them */
};

static struct totals totals_of(const struct pf_aux_queues *queues)
{
    const struct perfile_time_conv clock = pf_aux_clock(queues);
    struct totals all = {
        .sums = pf_aux_queues_sum(queues), .lost = pf_aux_queues_lost(queues, NULL), .errors = queues->errors};
    for (size_t i = 0; i < queues->count; i++) {
        all.missing += queues->items[i].missing;
        all.conflicts += queues->items[i].conflicts;
        for (size_t source = 0; queues->items[i].sources && source < PF_AUX_SOURCES; source++)
            all.sources[source] += queues->items[i].sources[source];
    }
    all.first_ns = pf_aux_time(&clock, all.sums.first_time);
    all.last_ns = pf_aux_time(&clock, all.sums.last_time);
    return all;
}

/* What is counted: in text where it is not 0, in JSON always. */
static const struct count {
    const char *what; /* as a text: "1 overflow" */
    const char *name; /* as a member */
    size_t offset;    /* of the number in struct totals */
} counts[] = {
#define COUNT(text, key, member)                                                                                       \
    {                                                                                                                  \
        text, key, offsetof(struct totals, member)                                                                     \
    }
    COUNT("packets", "packets", sums.packets),
    COUNT("records", "records", sums.records),
    COUNT("synchronization packets", "syncs", sums.syncs),
    COUNT("overflows", "overflows", sums.overflows),
    COUNT("bytes are not packets", "bad_bytes", sums.bad_bytes),
    COUNT("bytes are missing between buffers", "missing_bytes", missing),
    COUNT("buffers were truncated", "truncated", lost.truncated),
    COUNT("buffers are partial", "partial", lost.partial),
    COUNT("buffers had collisions", "collided", lost.collided),
    COUNT("errors of another decoder", "errors", errors),
    COUNT("queues have buffers of several processors or threads", "conflicts", conflicts),
#undef COUNT
};

static uint64_t number_of(const struct totals *totals, const struct count *count)
{
    return *(const uint64_t *)(const void *)((const char *)totals + count->offset);
}

static void put_counts(struct pf_text *out, const struct pf_aux_queues *queues, const struct totals *totals)
{
    char text[PF_COUNTED_BYTES];
    pf_put_format(out, "%-14s %s", "trace", pf_count_of(queues->count, "queues", text));
    for (size_t i = 0; i < PF_COUNT(counts); i++)
        if (number_of(totals, &counts[i]))
            pf_put_format(out, ", %s", pf_count_of(number_of(totals, &counts[i]), counts[i].what, text));
    pf_put_char(out, '\n');
}

/* Sources 0 and from 0x70 on are padding and messages of the trace hardware. */
static bool is_traced(const struct totals *totals, unsigned source)
{
    enum { RESERVED = 0x70 };
    return source && source < RESERVED && totals->sources[source];
}

static void put_sources(struct pf_text *out, const struct totals *totals)
{
    const char *separator = "trace ids      ";
    for (unsigned i = 0; i < PF_AUX_SOURCES; i++)
        if (is_traced(totals, i)) {
            pf_put_format(out, "%s0x%x: %" PRIu64 " bytes", separator, i, totals->sources[i]);
            separator = ", ";
        }
    if (*separator == ',')
        pf_put_char(out, '\n');
}

void pf_info_put_aux(struct pf_text *out, const struct pf_aux_queues *queues)
{
    const struct totals totals = totals_of(queues);
    if (!queues->count)
        return;
    put_counts(out, queues, &totals);
    const uint64_t span = totals.last_ns - totals.first_ns;
    if (totals.sums.has_time && totals.last_ns >= totals.first_ns)
        pf_put_format(out, "%-14s %" PRIu64 ".%09" PRIu64 " s, from %" PRIu64 ".%09" PRIu64 " s on\n", "traced",
                      span / SECOND_NS, span % SECOND_NS, totals.first_ns / SECOND_NS, totals.first_ns % SECOND_NS);
    put_sources(out, &totals);
}

static void put_json_sources(struct pf_json *json, const struct totals *totals)
{
    pf_json_begin(json, "sources", true);
    for (unsigned i = 0; i < PF_AUX_SOURCES; i++) {
        if (!is_traced(totals, i))
            continue;
        pf_json_begin(json, NULL, false);
        pf_json_unsigned(json, "id", i);
        pf_json_unsigned(json, "bytes", totals->sources[i]);
        pf_json_end(json, false);
    }
    pf_json_end(json, true);
}

void pf_info_put_aux_json(struct pf_json *json, const struct pf_aux_queues *queues)
{
    const struct totals totals = totals_of(queues);
    pf_json_unsigned(json, "queues", queues->count);
    for (size_t i = 0; i < PF_COUNT(counts); i++)
        pf_json_unsigned(json, counts[i].name, number_of(&totals, &counts[i]));
    if (totals.sums.has_time) {
        pf_json_unsigned(json, "first_ns", totals.first_ns);
        pf_json_unsigned(json, "last_ns", totals.last_ns);
    }
    put_json_sources(json, &totals);
}
