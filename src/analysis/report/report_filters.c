/* SPDX-License-Identifier: MIT */
/* Which samples are in the rows of a report. */
#include "analysis/report/report.h"
#include "base/bytes.h"
#include "base/error.h"

bool pf_report_filters_by_name(const struct pf_report *report)
{
    return report->filters.names.active || report->options->report->symbol_filter;
}

static int open_levels(struct pf_report *report, struct perfile_error *error)
{
    const char *list = report->options->report->parallelism;
    const struct perfile_filter levels = {.cpus = list};
    const int result = pf_filter_open(&report->filters.levels, &levels, NULL, report->allocator, error);
    report->layout.by_parallelism |= report->filters.levels.active;
    return result != PERFILE_ERROR_ARGUMENT
               ? result
               : pf_about(error, list, strlen(list),
                          pf_fail(error, result, PERFILE_NO_OFFSET, "parallelism",
                                  "\"%.40s\" is not a list of numbers such as 1,3-5", list));
}

int pf_report_open_filters(struct pf_report *report, struct perfile_error *error)
{
    const struct perfile_filter *wanted = report->options->filter;
    const struct perfile_filter threads = {.pids = wanted->pids, .tids = wanted->tids, .comms = wanted->comms};
    int result = pf_filter_open(&report->filters.threads, &threads, NULL, report->allocator, error);
    if (result == 0)
        result =
            pf_names_filter_open(&report->filters.dsos, report->options->report->dsos, false, report->allocator, error);
    if (result == 0)
        result = pf_names_filter_open(&report->filters.names, report->options->report->symbols, true, report->allocator,
                                      error);
    if (result == 0)
        result = open_levels(report, error);
    report->filters.active = report->filters.threads.active || report->filters.levels.active ||
                             report->filters.dsos.active || pf_report_filters_by_name(report);
    return result;
}

void pf_report_close_filters(struct pf_report *report)
{
    struct pf_report_filters *filters = &report->filters;
    pf_filter_close(&filters->threads);
    pf_filter_close(&filters->levels);
    pf_names_filter_close(&filters->dsos);
    pf_names_filter_close(&filters->names);
    pf_free(report->allocator, filters->passes, filters->pass_capacity);
}

/* Each filter sees what those before it let pass. */
void pf_report_notify_unmatched(const struct pf_report *report)
{
    const struct perfile_output_options *options = report->options;
    if (!options->unmatched)
        return;
    pf_profile_notify_unmatched(report->profile, options->unmatched, options->unmatched_context);
    if (report->filters.threads.active)
        pf_filter_notify_unmatched(&report->filters.threads, NULL, NULL, options->unmatched,
                                   options->unmatched_context);
    if (report->filters.levels.active && !report->filters.level_passed)
        options->unmatched(options->unmatched_context,
                           &(struct perfile_unmatched){
                               .filter = "parallelism", .value = options->report->parallelism, .blocks_all = true});
    pf_names_filter_notify_unmatched(&report->filters.dsos, "dsos", options->unmatched, options->unmatched_context);
    pf_names_filter_notify_unmatched(&report->filters.names, "symbols", options->unmatched, options->unmatched_context);
    if (report->filters.by_part && !report->filters.part_matched)
        options->unmatched(options->unmatched_context,
                           &(struct perfile_unmatched){
                               .filter = "symbol_filter", .value = options->report->symbol_filter, .blocks_all = true});
}

static bool frame_matches(struct pf_report *report, const struct pf_frame_info *info)
{
    const struct pf_module *module = pf_symbols_module(report->symbols, info->module);
    const bool in_dso = pf_names_filter_passes(&report->filters.dsos, module ? module->short_name : "[unknown]") ||
                        pf_names_filter_passes(&report->filters.dsos, module ? module->name : "");
    const char *part = report->options->report->symbol_filter;
    const bool has_part = !part || (info->name && strstr(info->name, part));
    report->filters.by_part |= in_dso && part;
    report->filters.part_matched |= in_dso && has_part;
    return in_dso && has_part && pf_names_filter_passes(&report->filters.names, info->name);
}

/* The answers are kept: 0: the frame was not asked for yet. */
static bool frame_passes(struct pf_report *report, uint32_t frame)
{
    enum { NO = 1, YES };
    uint8_t *passes = PF_ELEMENT(report->allocator, report->filters.passes, report->filters.pass_capacity, frame);
    if (!passes)
        return true; /* shows too much rather than too little; out of memory for what follows, too */
    if (!*passes)
        *passes = frame_matches(report, pf_profile_frame(report->profile, frame)) ? YES : NO;
    return *passes == YES;
}

/* --dsos, --symbols and --symbol-filter look at the sampled address: at its function and those inlined there. */
static bool address_passes(struct pf_report *report, const struct pf_profile_sample *sample)
{
    if (!report->filters.dsos.active && !pf_report_filters_by_name(report))
        return true;
    if (frame_passes(report, sample->leaf))
        return true;
    for (size_t i = 0; i < sample->frame_count; i++) {
        if (pf_profile_frame(report->profile, sample->frames[i])->kind != PF_FRAME_INLINED)
            break;
        if (frame_passes(report, sample->frames[i]))
            return report->filters.inlined_passed = true;
    }
    return false;
}

static bool level_passes(struct pf_report *report, const struct pf_profile_sample *sample)
{
    struct pf_report_filters *filters = &report->filters;
    const bool passes = !filters->levels.active || pf_ranges_hold(&filters->levels.cpus, sample->parallelism);
    filters->level_passed |= passes;
    return passes;
}

bool pf_report_sample_passes(struct pf_report *report, const struct pf_profile_sample *sample)
{
    const bool has_thread = sample->event->attr->sample_type & PERFILE_SAMPLE_TID;
    const struct pf_filter_subject subject = {.pid = has_thread ? sample->pid : PF_NO_NUMBER,
                                              .tid = has_thread ? sample->tid : PF_NO_NUMBER,
                                              .comm = has_thread ? sample->comm : NULL};
    return (!report->filters.threads.active || pf_filter_passes(&report->filters.threads, &subject)) &&
           level_passes(report, sample) && address_passes(report, sample);
}
