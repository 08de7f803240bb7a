/* SPDX-License-Identifier: MIT */
/* What stands before the rows of a report, or instead of them: what is missing, and what the event is. */
#include <inttypes.h>

#include "output/report/text.h"
#include "base/counted.h"
#include "output/notes.h"
#include "output/output.h"

enum { MAX_MODULES = 6 }; /* modules without symbols that are named */

/* ---- what is honest to say first ---- */

/* Why, and what may help. */
static const char *const reasons[PF_MISSING_COUNT] = {
    [PF_MISSING_FILE] = "not on this machine (see --symfs, --archive, DEBUGINFOD_URLS)",
    [PF_MISSING_BUILD] = "the file is a different build (see --symfs, --archive, DEBUGINFOD_URLS)",
    [PF_MISSING_NAMES] = "stripped, or without symbols there (see DEBUGINFOD_URLS, or install the debug files)",
    [PF_MISSING_KERNEL] = "no symbols of this kernel found (see --kallsyms, --vmlinux, --archive)",
    [PF_MISSING_JIT] = "generated code without a usable perf-PID.map or jitdump file (see --symfs)",
};

/* NULL: all is well with the module. */
static const struct pf_module *module_without(const struct pf_report_text *table, uint32_t number,
                                              enum pf_missing missing)
{
    const struct pf_module *module = pf_symbols_module(table->report->symbols, number);
    return pf_module_is_missing(module) && pf_module_missing_kind(module) == missing ? module : NULL;
}

static void put_builds(struct pf_text *out, const struct pf_module *module)
{
    enum { DIGITS = 12 };
    if (module->other_build_id && module->build_id)
        pf_put_format(out, " (build %.*s, recorded %.*s)", DIGITS,
                      *module->other_build_id ? module->other_build_id : "unknown", DIGITS, module->build_id);
}

static void put_missing(struct pf_report_text *table, enum pf_missing missing)
{
    const size_t count = pf_symbols_module_count(table->report->symbols);
    size_t named = 0, more = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct pf_module *module = module_without(table, i, missing);
        if (module && named == MAX_MODULES)
            more++;
        if (!module || named == MAX_MODULES)
            continue;
        pf_put_string(table->out, named++ ? ", " : "# No symbols found for ");
        pf_put_name(table->out, module->short_name);
        if (missing == PF_MISSING_BUILD)
            put_builds(table->out, module);
    }
    if (more)
        pf_put_format(table->out, " and %zu more", more);
    if (named)
        pf_put_format(table->out, ": %s\n", reasons[missing]);
}

static void put_modules_without_symbols(struct pf_report_text *table)
{
    for (unsigned missing = 0; missing < PF_MISSING_COUNT; missing++)
        put_missing(table, (enum pf_missing)missing);
}

/* What is in no row, whatever the filters. */
static void put_unread(struct pf_report_text *table)
{
    char note[PF_NOTE_BYTES], count[PF_COUNTED_BYTES];
    if (pf_note_aux(table->report->reader, note))
        pf_put_format(table->out, "# %s\n", note);
    if (table->report->branching.without)
        pf_put_format(
            table->out, "# %s\n",
            pf_count_of(table->report->branching.without, "samples have no branches and are not shown", count));
}

static void put_stack_losses(struct pf_report_text *table)
{
    const struct pf_profile_totals *totals = table->report->totals;
    char count[PF_COUNTED_BYTES];
    if (totals->truncated)
        pf_put_format(table->out, "# Stack dumps of %s are too short: callers are missing\n",
                      pf_count_of(totals->truncated, "samples", count));
    if (totals->full)
        pf_put_format(table->out, "# Callchains of %s have all frames that were asked for: callers are missing\n",
                      pf_count_of(totals->full, "samples", count));
    if (totals->guessed)
        pf_put_format(table->out, "# Callers in the stack dumps of %s come from frame pointers and may be wrong\n",
                      pf_count_of(totals->guessed, "samples", count));
}

/* Of a text that is not about code it may not be known, and nothing in it suffers. */
static void put_code_losses(struct pf_report_text *table)
{
    const struct pf_profile_totals *totals = table->report->totals;
    char count[PF_COUNTED_BYTES];
    if (!table->report->settings.about_code)
        return;
    if (totals->unresolved)
        pf_put_format(table->out, "# %.2f%% of %s no symbol, %.2f%% are at unmapped addresses\n",
                      pf_report_percent(totals->unresolved, totals->samples),
                      pf_count_of(totals->samples, "samples have", count),
                      pf_report_percent(totals->unmapped, totals->samples));
    put_stack_losses(table);
    put_modules_without_symbols(table);
}

static void put_losses(struct pf_report_text *table)
{
    const struct pf_profile_totals *totals = table->report->totals;
    pf_put_string(table->out, "#\n");
    put_code_losses(table);
    put_unread(table);
    if (totals->lost)
        pf_put_format(table->out, "# %.2f%% of all events were lost while recording\n",
                      pf_report_percent(totals->lost, totals->lost + totals->samples + totals->filtered));
    pf_put_format(table->out, "# Total Lost Samples: %" PRIu64 "\n#\n", totals->lost);
}

/* The same in few lines, without what is as it should be. */
static void put_screen_losses(struct pf_report_text *table)
{
    const struct pf_profile_totals *totals = table->report->totals;
    char count[PF_COUNTED_BYTES];
    if (totals->unresolved && table->report->settings.about_code)
        pf_put_format(table->out, "# %.2f%% of the samples have no symbol, %.2f%% are at unmapped addresses\n",
                      pf_report_percent(totals->unresolved, totals->samples),
                      pf_report_percent(totals->unmapped, totals->samples));
    put_stack_losses(table);
    put_unread(table);
    if (totals->lost)
        pf_put_format(table->out, "# %s: %.2f%%\n", pf_count_of(totals->lost, "samples lost while recording", count),
                      pf_report_percent(totals->lost, totals->lost + totals->samples + totals->filtered));
}

static void put_hidden(struct pf_report_text *table, const char *what, const struct pf_names_filter *filter)
{
    if (filter->wanted.count == 1) {
        pf_put_format(table->out, "# %s: ", what);
        pf_put_name(table->out, filter->wanted.items[0]);
        pf_put_string(table->out, "\n");
    }
}

/* Filters on one name hide its column. */
static void put_filters(struct pf_report_text *table)
{
    const struct pf_report *report = table->report;
    put_hidden(table, "dso", &report->filters.dsos);
    put_hidden(table, "comm", &report->filters.threads.comms);
    put_hidden(table, "symbol", &report->filters.names);
}

/* ---- the head of an event's table ---- */

/* "cpu-clock", "anon group { cpu-clock, page-faults }". */
static void put_event_names(struct pf_report_text *table)
{
    const struct pf_report_group *group = table->event->group;
    const uint32_t shown = pf_report_shown(table->event);
    if (group && group->name) {
        pf_put_name(table->out, group->name);
        pf_put_string(table->out, " { ");
    }
    for (uint32_t i = 0; i < shown; i++) {
        pf_put_string(table->out, i ? ", " : "");
        pf_put_name(table->out, pf_report_member(table->report, table->event, i)->event->name);
    }
    if (group && group->name)
        pf_put_string(table->out, " }");
}

/* What was asked for stands beside the sums, as in perf. */
static void put_totals(struct pf_report_text *table, uint64_t period)
{
    const struct pf_report *report = table->report;
    const struct perfile_output_options *options = report->options;
    if (options->filter->time) {
        pf_put_string(table->out, " (time slices: ");
        pf_put_string(table->out, options->filter->time);
        pf_put_char(table->out, ')');
    }
    pf_put_format(table->out, "\n# %s: %" PRIu64 "\n",
                  report->settings.by_weight ? "Total weight " : "Event count (approx.)", period);
    if (report->settings.by_weight && report->layout.sort_order) {
        pf_put_string(table->out, "# Sort order   : ");
        pf_put_string(table->out, report->layout.sort_order);
        pf_put_char(table->out, '\n');
    }
    pf_put_string(table->out, "#\n");
}

static void sum_members(const struct pf_report_text *table, uint64_t *samples, uint64_t *period)
{
    const uint32_t shown = pf_report_shown(table->event);
    *samples = *period = 0;
    for (uint32_t i = 0; i < shown; i++) {
        const struct pf_report_event *member = pf_report_member(table->report, table->event, i);
        *samples += member->samples;
        *period += member->period;
    }
}

/* "# 1251 samples of cpu-clock, event count 312750000" */
void pf_report_text_put_screen_title(struct pf_report_text *table)
{
    const struct perfile_output_options *options = table->report->options;
    uint64_t samples, period;
    char text[PF_COUNTED_BYTES];
    sum_members(table, &samples, &period);
    pf_put_format(table->out, "# %s of ", pf_count_of(samples, "samples", text));
    put_event_names(table);
    pf_put_format(table->out, ", %s %" PRIu64, table->report->settings.by_weight ? "total weight" : "event count",
                  period);
    if (options->filter->time) {
        pf_put_string(table->out, ", time ");
        pf_put_string(table->out, options->filter->time);
    }
    pf_put_char(table->out, '\n');
}

void pf_report_text_put_samples(struct pf_text *out, uint64_t samples, bool of_group)
{
    static const char units[] = " KMG";
    size_t unit = 0;
    for (; samples > 1000 && unit < sizeof(units) - 2; unit++)
        samples /= 1000;
    pf_put_format(out, "# Samples: %" PRIu64 "%c of event%s '", samples, units[unit], of_group ? "s" : "");
}

void pf_report_text_put_title(struct pf_report_text *table)
{
    uint64_t samples, period;
    sum_members(table, &samples, &period);
    pf_report_text_put_samples(table->out, samples, table->event->group);
    put_event_names(table);
    pf_put_char(table->out, '\'');
    put_totals(table, period);
}

void pf_report_text_put_no_samples(struct pf_report_text *table)
{
    char why[PF_NOTE_BYTES];
    pf_put_string(table->out, "# There are no samples.\n");
    if (pf_note_no_samples(table->report->reader, table->report->totals->filtered, why))
        pf_put_format(table->out, "# %s.\n", why);
}

void pf_report_text_put_branch_types(struct pf_report_text *table)
{
    const struct pf_report *report = table->report;
    const char *name;
    uint64_t count;
    pf_put_string(table->out, "#\n# Branch Statistics:\n#\n");
    for (size_t i = 0; pf_report_branches_at(report, i, &name, &count); i++)
        if (count)
            pf_put_format(table->out, "%8s: %5.1f%%\n", name, pf_report_percent(count, report->branching.counts.all));
}

void pf_report_text_put_head(struct pf_report_text *table)
{
    if (!pf_report_text_has_header(table))
        return;
    put_filters(table);
    if (table->screen)
        put_screen_losses(table);
    else
        put_losses(table);
}
