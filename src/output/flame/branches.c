/* SPDX-License-Identifier: MIT */
#include "output/flame/branches.h"

#include "analysis/report/report.h"
#include "base/error.h"
#include "output/table/format.h"

int pf_flame_branches_look(struct perfile_reader *reader, const struct perfile_output_options *options, bool *branches,
                           struct perfile_error *error)
{
    struct pf_report report = {.reader = reader, .options = options};
    const int result = pf_report_choose_branches(&report, error);
    *branches = report.branching.active;
    return result;
}

/* Reads without notes: what is wrong with the recording and what is missing is reported when the samples are read. */
static int read_quietly(struct pf_text *text, struct perfile_reader *reader,
                        const struct perfile_output_options *options, struct perfile_error *error)
{
    struct perfile_symbol_options symbols = *options->symbols;
    struct perfile_report_options report = *options->report;
    struct perfile_output_options all = *options;
    const struct pf_output json = {.info = {.format = "json"}};
    symbols.note = NULL;
    symbols.trouble = NULL;
    report.call_graph = NULL;
    report.columns = 0;
    report.top = report.top && report.top < PF_FLAME_ROWS ? report.top : PF_FLAME_ROWS;
    all.symbols = &symbols;
    all.report = &report;
    all.unmatched = NULL;
    perfile_reader_mute(reader, true);
    const int result = pf_report_write_table(&json, reader, &all, text, error);
    perfile_reader_mute(reader, false);
    return result < 0 ? result : perfile_reader_rewind(reader, error);
}

int pf_flame_branches_open(struct pf_text *text, struct perfile_reader *reader,
                           const struct perfile_output_options *options, struct perfile_error *error)
{
    if (perfile_reader_rewind(reader, NULL) < 0)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "report",
                       "a page of branches reads the recording twice, and it is a stream: make a file of it first");
    if (pf_text_open(text, options->allocator, NULL, NULL) < 0)
        return pf_fail_memory(error, "report");
    return read_quietly(text, reader, options, error);
}

bool pf_flame_memory_look(struct perfile_reader *reader)
{
    enum { SOURCE = PERFILE_SAMPLE_DATA_SRC, COST = PERFILE_SAMPLE_WEIGHT | PERFILE_SAMPLE_WEIGHT_STRUCT };
    bool found = false;
    for (size_t i = 0; i < perfile_event_count(reader) && !found; i++) {
        const uint64_t parts = perfile_event_get(reader, i)->attr->sample_type;
        found = parts & SOURCE && parts & COST;
    }
    return found && perfile_reader_rewind(reader, NULL) == 0;
}

int pf_flame_memory_open(struct pf_text *text, struct perfile_reader *reader,
                         const struct perfile_output_options *options, struct perfile_error *error)
{
    struct perfile_report_options report = PERFILE_REPORT_OPTIONS_INIT;
    struct perfile_output_options all = *options;
    report.flags = PERFILE_REPORT_NO_BRANCHES | PERFILE_REPORT_NO_CHILDREN;
    report.sort = "mem,symbol,srcline,weight_class,weight1";
    report.dsos = options->report->dsos;
    report.symbols = options->report->symbols;
    report.max_stack = options->report->max_stack;
    all.report = &report;
    all.fields = NULL;
    if (pf_text_open(text, options->allocator, NULL, NULL) < 0)
        return pf_fail_memory(error, "report");
    return read_quietly(text, reader, &all, error);
}
