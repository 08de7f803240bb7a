/* SPDX-License-Identifier: MIT */
/* The samples of a recording become the stacks of a report. */
#include "analysis/report/report.h"

#include <stdio.h>

#include "analysis/events/advice.h"
#include "analysis/events/lines.h"
#include "base/bytes.h"
#include "base/counted.h"
#include "base/error.h"

/* ---- the profile ---- */

/* Whether any event has callchains; a stream may have events that are not known yet. */
static bool may_have_callchains(const struct pf_report *report)
{
    const struct perfile_event *event;
    bool may = !perfile_event_count(report->reader);
    for (size_t i = 0; !may && (event = perfile_event_get(report->reader, i)); i++)
        may = pf_report_has_stacks(report, event);
    return may;
}

/* Whether a column, a filter or, with callchains, a graph is about the code that samples were in. */
bool pf_report_is_about_code(const struct pf_report *report, bool has_chains)
{
    return report->layout.by_frame || report->layout.by_stack || report->branching.active ||
           report->branching.history || (report->settings.stacks && has_chains) || report->filters.dsos.active ||
           pf_report_filters_by_name(report) || report->settings.hides_unresolved || report->filters.ignored;
}

/* Only the text does without frames: tables for programs list the modules of all samples. */
static bool ignores_stacks(const struct pf_report *report)
{
    return report->settings.for_text && !pf_report_is_about_code(report, may_have_callchains(report)) &&
           !report->options->filter->off_cpu;
}

/*
 * What instructions access is the same for all samples of an address: with frames that are addresses, samples need not
 * have all that was recorded. Rows of branches are at other addresses.
 */
static void choose_frames(struct pf_report *report)
{
    const bool branches = report->branching.active || report->branching.history;
    report->data.by_frame = report->layout.by_code && !report->taker && !branches;
    report->layout.by_address |= report->data.by_frame;
    report->layout.by_sample |= report->layout.by_code && !report->data.by_frame;
}

/* Neither rows nor graphs show addresses: all addresses of a file that have no symbol may be one frame. */
static bool hides_addresses(const struct pf_report *report, bool decoded)
{
    return !decoded && !report->layout.by_symbol && !report->layout.by_address &&
           !(report->settings.stacks && may_have_callchains(report));
}

int pf_report_open_profile(struct pf_report *report, struct perfile_error *error)
{
    const struct perfile_output_options *options = report->options;
    const struct pf_report_taker *taker = report->taker;
    const struct perfile_filter filter = {.time = options->filter->time,
                                          .cpus = options->filter->cpus,
                                          .events = options->filter->events,
                                          .off_cpu = options->filter->off_cpu,
                                          .switch_on = options->filter->switch_on,
                                          .switch_off = options->filter->switch_off,
                                          .shows_switches = options->filter->shows_switches,
                                          .counting = options->filter->counting,
                                          .stitches_calls = options->filter->stitches_calls};
    choose_frames(report);
    const bool any = filter.time || filter.cpus || filter.events || filter.off_cpu || filter.switch_on ||
                     filter.switch_off || filter.stitches_calls;
    const bool decoded = report->layout.by_sample || report->branching.active || report->branching.history ||
                         report->settings.by_weight || report->layout.by_cost || report->layout.by_class ||
                         report->layout.by_parallelism;
    struct pf_profile_options how = {
        .filter = any ? &filter : NULL,
        .find = pf_find_options_of(options->symbols, report->allocator),
        .keeps_comms = true,
        .names_at_end = report->layout.by_thread,
        .in_blocks = true,
        .decoded = decoded,
        .merges = !decoded && !taker,
        .parallelism = report->layout.by_parallelism,
        .ignores_stacks = ignores_stacks(report),
        .unwind = options->symbols->unwind,
        .frames = {.by_address = report->layout.by_address,
                   .joins_unnamed = taker || hides_addresses(report, decoded),
                   .inlines = (taker || report->settings.stacks || pf_report_filters_by_name(report)) &&
                              !options->symbols->no_inline,
                   .inlines_by_function = !taker},
        .drive = pf_profile_drive_of(options)};
    if (taker) {
        how.watch = taker->watch;
        how.watch_context = taker->watch_context;
        how.watches_all = taker->watches_all;
    }
    int result = pf_profile_open(report->reader, &how, &report->profile, error);
    if (result == 0) {
        report->symbols = pf_profile_symbols(report->profile);
        report->totals = pf_profile_totals(report->profile);
    }
    return result;
}

/* ---- samples ---- */

struct pf_report_event *pf_report_note_event(struct pf_report *report, const struct perfile_event *event)
{
    struct pf_report_event *noted =
        PF_ELEMENT(report->allocator, report->events.items, report->events.capacity, event->index);
    if (!noted)
        return NULL;
    report->events.count = pf_max(report->events.count, (size_t)event->index + 1);
    noted->event = event;
    return noted;
}

static uint32_t key_of(struct pf_report *report, const struct pf_profile_sample *sample)
{
    struct pf_report_keyed keyed;
    keyed.key = (struct pf_report_key){.event = sample->event->index};
    for (size_t i = 0; i < report->layout.key_count; i++)
        if (report->layout.keys[i]->take)
            report->layout.keys[i]->take(report, &keyed, sample);
    return pf_report_find_key(&report->keys, &keyed);
}

static inline bool passes(struct pf_report *report, const struct pf_profile_sample *sample)
{
    return PF_LIKELY(!report->filters.active) || pf_report_sample_passes(report, sample);
}

static bool add_stack(struct pf_report *report, uint32_t key, const struct pf_profile_sample *sample, size_t count)
{
    const bool apart = !count || sample->frames[0] != sample->leaf;
    const uint32_t mark = report->settings.stacks ? PF_REPORT_APART : 0;
    const struct pf_stack_frames stack = {.bottom = &key,
                                          .bottom_count = 1,
                                          .frames = sample->frames,
                                          .frame_count = count,
                                          .leaf = apart ? sample->leaf | mark : PF_STACK_NO_LEAF,
                                          .alone = sample->leaf | mark,
                                          .weight = sample->period,
                                          .alike = sample->alike,
                                          .note = pf_report_maker(sample),
                                          .own = ~0u << PF_REPORT_TID_BITS,
                                          .owner = (uint32_t)sample->tid};
    return pf_stacks_add(&report->chains.arriving, &report->chains.tree, &stack);
}

/* A stack of no other frame. */
static inline bool add_leaf(struct pf_report *report, uint32_t key, const struct pf_profile_sample *sample,
                            size_t count)
{
    const uint32_t alone = sample->leaf | (report->settings.stacks ? PF_REPORT_APART : 0);
    const uint32_t frame = count ? sample->leaf : alone;
    if (pf_stacks_add_again(&report->chains.arriving, &report->chains.tree, key, frame, sample->period))
        return true;
    const struct pf_stack_leaf leaf = {.bottom = key,
                                       .frame = frame,
                                       .alone = alone,
                                       .note = pf_report_maker(sample),
                                       .own = ~0u << PF_REPORT_TID_BITS,
                                       .weight = sample->period};
    return pf_stacks_add_leaf(&report->chains.arriving, &report->chains.tree, &leaf);
}

static inline bool add_frames(struct pf_report *report, uint32_t key, const struct pf_profile_sample *sample)
{
    const size_t count = report->settings.stacks ? (size_t)pf_min(sample->frame_count, report->settings.max_stack) : 0;
    if (PF_UNLIKELY(report->layout.by_latency))
        return add_stack(report, key, sample, count) &&
               pf_report_note_latency(report, pf_report_latency(report, sample));
    if (PF_UNLIKELY(count > 1 || sample->alike || (count && sample->frames[0] != sample->leaf)))
        return add_stack(report, key, sample, count);
    return add_leaf(report, key, sample, count);
}

/* One sample that is to be shown, or one branch of it. */
static inline __attribute__((always_inline)) bool add_row(struct pf_report *report,
                                                          const struct pf_profile_sample *sample)
{
    struct pf_report_event *event = &report->events.items[sample->event->index];
    const bool counts = passes(report, sample);
    const bool in_total = counts || !report->settings.relative;
    if (PF_UNLIKELY(report->layout.by_class))
        pf_report_note_classes(event, sample);
    const uint64_t part = in_total ? pf_add_to_sum(&event->period, sample->period) : 0;
    (void)pf_add_to_sum(&event->latency, in_total ? pf_report_latency(report, sample) : 0);
    if (!counts)
        return true;
    struct pf_profile_sample less;
    if (PF_UNLIKELY(part != sample->period)) {
        less = *sample;
        less.period = part;
        report->events.full++;
        sample = &less;
    }
    const uint32_t key = key_of(report, sample);
    if (report->texts.short_of_memory || key == PF_REPORT_NO_KEY)
        return false;
    if (report->options->report->flags & PERFILE_REPORT_ONLY_PARENT &&
        !pf_report_key_value(&report->keys, key, PF_VALUE_parent))
        return true;
    report->events.passed += 1 + sample->alike;
    if (report->taker)
        return report->taker->take(report->taker->context, sample);
    return (!(report->layout.by_cost || report->layout.by_class) || pf_report_note_cost(report, key, sample)) &&
           add_frames(report, key, sample);
}

static inline struct pf_report_event *event_of(struct pf_report *report, const struct perfile_event *event)
{
    struct pf_report_events *events = &report->events;
    if (PF_LIKELY(event->index < events->count && events->items[event->index].event == event))
        return &events->items[event->index];
    return pf_report_note_event(report, event);
}

static inline bool add_sample(struct pf_report *report, const struct pf_profile_sample *sample)
{
    struct pf_report_event *event = event_of(report, sample->event);
    if (!event)
        return false;
    if (report->settings.hides_unresolved && !pf_profile_frame(report->profile, sample->leaf)->name)
        return true;
    if (report->branching.active && !pf_report_branch_count(sample)) {
        report->branching.without++;
        return true;
    }
    event->samples += !report->settings.relative || passes(report, sample) ? 1 + sample->alike : 0;
    if (report->branching.active)
        return pf_report_add_branches(report, sample, add_row);
    struct pf_profile_sample weighed;
    if (PF_UNLIKELY(report->settings.by_weight)) {
        weighed = *sample;
        weighed.period = pf_max(pf_field_weight(sample->decoded), 1);
        sample = &weighed;
    }
    return add_row(report, sample);
}

/* Out of memory, or the formats of tracepoints are larger than they may be. */
static int fail_samples(const struct pf_report *report, struct perfile_error *error)
{
    const struct perfile_error *why = &report->texts.traces.error;
    return why->code == PERFILE_ERROR_LIMIT
               ? pf_fail(error, why->code, PERFILE_NO_OFFSET, why->what, "%s", why->message)
               : pf_fail_memory(error, "report");
}

/* Gives the sample the frames that its row has: with branches before its callers, without callees that are ignored. */
static bool change_frames(struct pf_report *report, struct pf_profile_sample *sample)
{
    return (!report->branching.history || pf_report_add_history(report, sample)) &&
           (!report->filters.ignored || pf_report_ignore_callees(report, sample));
}

static inline bool take_sample(struct pf_report *report, const struct pf_profile_sample *sample)
{
    struct pf_profile_sample changed;
    if (PF_UNLIKELY(!sample->event))
        return true;
    if (PF_UNLIKELY(report->branching.history || report->filters.ignored)) {
        changed = *sample;
        if (!change_frames(report, &changed))
            return false;
        sample = &changed;
    }
    return add_sample(report, sample);
}

/* Where exactness ended. */
void pf_report_notify_cut(const struct pf_report *report)
{
    const struct perfile_symbol_options *symbols = report->options->symbols;
    char text[256], part[PF_COUNTED_BYTES];
    if (!report->chains.arriving.cut || !symbols->note)
        return;
    snprintf(
        text, sizeof(text),
        "%s (the limit of nodes in call graphs is %zu). What functions cost themselves is exact, children and graphs "
        "are not",
        pf_part_of(report->chains.arriving.cut, report->events.passed, "samples are counted without callers", part),
        report->chains.arriving.limit);
    symbols->note(symbols->note_context, text);
}

int pf_report_read_samples(struct pf_report *report, struct perfile_error *error)
{
    const struct pf_profile_sample *sample;
    int result;
    while ((result = pf_profile_next(report->profile, &sample, error)) > 0)
        if (!take_sample(report, sample)) {
            pf_profile_stop(report->profile);
            return fail_samples(report, error);
        }
    const struct perfile_symbol_options *symbols = report->options->symbols;
    pf_filter_notify(&report->filters.threads, symbols->note, symbols->note_context);
    if (report->settings.by_weight && symbols->note && !pf_lines_recorded(report->reader))
        symbols->note(symbols->note_context,
                      "there are no samples of memory accesses: where data came from is N/A; record them "
                      "with " PF_RECORD_MEMORY);
    return result;
}
