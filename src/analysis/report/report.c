/* SPDX-License-Identifier: MIT */
#include "analysis/report/report.h"

#include "base/bytes.h"
#include "base/error.h"

bool pf_report_has_graph(const struct pf_report *report, const struct pf_report_event *event)
{
    return report->settings.order != PF_GRAPH_NONE && event->event && pf_report_has_stacks(report, event->event);
}

bool pf_report_shows(const struct pf_report *report, const struct pf_report_row *row)
{
    return pf_report_percent(pf_report_weight(report, row), pf_report_event(report, row)->period) >=
           report->settings.limit_percent;
}

static bool has_callchains(const struct pf_report *report)
{
    for (size_t i = 0; i < report->events.count; i++)
        if (report->events.items[i].event && pf_report_has_stacks(report, report->events.items[i].event))
            return true;
    return false;
}

static int make_table(struct pf_report *report, struct perfile_error *error)
{
    if (!pf_stacks_end(&report->chains.arriving, &report->chains.tree))
        return pf_fail_memory(error, "report");
    pf_report_notify_cut(report);
    pf_profile_notify_full(report->events.full, report->options->symbols);
    if (!pf_report_join_names(report))
        return pf_fail_memory(error, "report");
    const bool has_chains = has_callchains(report);
    report->settings.about_code = pf_report_is_about_code(report, has_chains);
    if (!has_chains) {
        report->settings.children = false;
        report->settings.order = PF_GRAPH_NONE;
    }
    if (!pf_report_find_same_frames(report) || !pf_report_gather_costs(report) || !pf_report_make_rows(report))
        return pf_fail_memory(error, "report");
    pf_report_drop_columns(report);
    pf_report_drop_rows(report);
    if ((report->settings.joins_groups && !pf_report_join_groups(report)) || !pf_report_keep_modes(report))
        return pf_fail_memory(error, "report");
    pf_report_set_levels(report);
    return pf_report_sort(report) ? 0 : pf_fail_memory(error, "report");
}

void pf_report_start(struct pf_report *report, struct perfile_reader *reader,
                     const struct perfile_output_options *options)
{
    *report = (struct pf_report){
        .allocator = pf_allocator_or_default(options->allocator), .options = options, .reader = reader};
    pf_arena_open(&report->texts.arena, report->allocator);
    pf_map_open(&report->texts.interned, report->allocator);
    pf_report_open_keys(&report->keys, report->allocator);
    pf_pairs_open(&report->data.lines, report->allocator);
    pf_pairs_open(&report->costs.index, report->allocator);
}

static int read_all(struct pf_report *report, struct perfile_error *error)
{
    int result = pf_report_open_filters(report, error);
    if (result == 0)
        result = pf_report_parse_settings(report, error);
    if (result == 0)
        result = pf_report_choose_columns(report, error);
    if (result == 0 && report->taker)
        result = report->taker->check(report, error);
    if (result == 0)
        result = pf_report_prepare(report, error);
    if (result == 0 && pf_tree_open(&report->chains.tree, report->allocator) < 0)
        result = pf_fail_memory(error, "report");
    if (result == 0)
        result = pf_report_open_profile(report, error);
    if (result == 0)
        result = pf_report_read_samples(report, error);
    if (result == 0)
        pf_report_notify_unmatched(report);
    return result;
}

int pf_report_open(struct pf_report *report, struct perfile_reader *reader,
                   const struct perfile_output_options *options, bool for_text, struct perfile_error *error)
{
    pf_report_start(report, reader, options);
    report->settings.for_text = for_text;
    report->settings.joins_groups = for_text && !(options->report->flags & PERFILE_REPORT_NO_GROUP);
    int result = read_all(report, error);
    if (result < 0 && !report->events.passed)
        return result;
    int table = make_table(report, error); /* also of what came before an error: the caller shows both */
    return table < 0 ? table : result;
}

int pf_report_take(struct pf_report *report, struct perfile_reader *reader,
                   const struct perfile_output_options *options, const struct pf_report_taker *taker,
                   struct perfile_error *error)
{
    pf_report_start(report, reader, options);
    report->taker = taker;
    return read_all(report, error);
}

void pf_report_close(struct pf_report *report)
{
    const struct perfile_allocator *allocator = report->allocator;
    pf_report_close_filters(report);
    pf_free(allocator, report->events.items, report->events.capacity * sizeof(*report->events.items));
    pf_report_close_keys(&report->keys);
    pf_pairs_close(&report->data.lines);
    pf_data_types_close(report->data.types);
    pf_free(report->allocator, report->data.uses, report->data.use_capacity * sizeof(*report->data.uses));
    pf_pairs_close(&report->costs.index);
    pf_free(allocator, report->branching.frames, report->branching.frame_capacity * sizeof(*report->branching.frames));
    pf_free(allocator, report->costs.classes, report->costs.class_capacity * sizeof(*report->costs.classes));
    pf_free(allocator, report->groups.classes, report->groups.class_capacity * sizeof(*report->groups.classes));
    pf_free(allocator, report->costs.items, report->costs.capacity * sizeof(*report->costs.items));
    pf_report_unprepare(report);
    pf_arena_close(&report->texts.arena);
    pf_free(allocator, report->groups.items, report->groups.capacity * sizeof(*report->groups.items));
    pf_free(allocator, report->groups.members, report->groups.member_capacity * sizeof(*report->groups.members));
    pf_free(allocator, report->groups.parts, report->groups.part_capacity * sizeof(*report->groups.parts));
    pf_free(allocator, report->chains.latencies, report->chains.latency_capacity * sizeof(*report->chains.latencies));
    pf_free(allocator, report->chains.counts, report->chains.tree.count * sizeof(*report->chains.counts));
    if (report->chains.tree.allocator) {
        (void)pf_stacks_end(&report->chains.arriving, &report->chains.tree);
        pf_tree_close(&report->chains.tree);
    }
    pf_free(allocator, report->rows.same, report->rows.same_capacity * sizeof(*report->rows.same));
    pf_free(allocator, report->rows.items, report->rows.capacity * sizeof(*report->rows.items));
    pf_free(allocator, report->rows.entries, report->rows.entry_capacity * sizeof(*report->rows.entries));
    pf_free(allocator, report->chains.lines, report->chains.line_count * sizeof(*report->chains.lines));
    pf_free(allocator, report->chains.links, report->chains.link_count * sizeof(*report->chains.links));
    pf_profile_close(report->profile);
}
