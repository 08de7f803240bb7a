/* SPDX-License-Identifier: MIT */
/*
 * What rows weigh when each sample counts for its period divided by the number of threads that ran: the share that it
 * has in the time that passed.
 */
#include "analysis/events/advice.h"
#include "analysis/report/report.h"
#include "base/bytes.h"
#include "base/error.h"

/* The events of a stream are not known yet. */
static bool has_switches(const struct pf_report *report)
{
    const struct perfile_event *event;
    bool has = !perfile_event_count(report->reader);
    for (size_t i = 0; !has && (event = perfile_event_get(report->reader, i)); i++)
        has = event->attr->context_switch;
    return has;
}

int pf_report_check_parallelism(const struct pf_report *report, struct perfile_error *error)
{
    if (!report->layout.by_parallelism || has_switches(report))
        return 0;
    return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "parallelism",
                   "the recording has no context switches: how many threads ran is not known; record "
                   "with: " PF_RECORD_PARALLELISM);
}

uint64_t pf_report_latency(const struct pf_report *report, const struct pf_profile_sample *sample)
{
    enum { UNITS = 5040 }; /* a period of 1 divided by 1 to 10 has no remainder */
    if (!report->layout.by_latency)
        return 0;
    const uint64_t quotient = sample->period / sample->parallelism, rest = sample->period % sample->parallelism;
    uint64_t units;
    return pf_multiply(quotient, UNITS, &units) &&
                   pf_add(units, (rest * UNITS + sample->parallelism / 2) / sample->parallelism, &units)
               ? units
               : UINT64_MAX;
}

/* The tree has a node for a stack when the next one comes. */
bool pf_report_note_latency(struct pf_report *report, uint64_t latency)
{
    struct pf_report_chains *chains = &report->chains;
    struct pf_report_count *at =
        PF_ELEMENT(report->allocator, chains->latencies, chains->latency_capacity, chains->arriving.entered);
    if (!at)
        return false;
    (void)pf_add_to_sum(&at->self, chains->latency_waits);
    chains->latency_waits = latency;
    return true;
}

/* A parent comes before its children. */
bool pf_report_sum_latencies(struct pf_report *report)
{
    const struct pf_tree *tree = &report->chains.tree;
    if (!report->layout.by_latency)
        return true;
    if (!pf_report_note_latency(report, 0) ||
        !PF_HAS_ELEMENT(report->allocator, report->chains.latencies, report->chains.latency_capacity, tree->count))
        return false;
    struct pf_report_count *latencies = report->chains.latencies;
    for (size_t node = tree->count - 1; node; node--) {
        (void)pf_add_to_sum(&latencies[node].total, latencies[node].self);
        (void)pf_add_to_sum(&latencies[tree->nodes[node].parent].total, latencies[node].total);
    }
    return true;
}

void pf_report_add_latencies(const struct pf_report *report, uint32_t node, struct pf_report_part *part)
{
    for (; node; node = report->chains.links[node].next) {
        (void)pf_add_to_sum(&part->latency, report->chains.latencies[node].self);
        if (!report->chains.links[node].outer)
            (void)pf_add_to_sum(&part->latency_children, report->chains.latencies[node].total);
    }
}
