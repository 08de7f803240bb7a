/* SPDX-License-Identifier: MIT */
/* Outputs of verbs that are tables: their formats for programs are those of the view. */
#include "output/output.h"
#include "output/table/format.h"

static int write_view(struct perfile_reader *reader, const struct perfile_output_options *options, const char *view,
                      const char *format, struct pf_text *out, struct perfile_error *error)
{
    struct perfile_table *table;
    if (options->report->flags & PERFILE_REPORT_TASKS)
        view = "threads";
    const struct perfile_table_options how = {.size = sizeof(how),
                                              .filter = options->filter,
                                              .symbols = options->symbols,
                                              .report = options->report,
                                              .columns = strcmp(view, "samples") ? NULL : options->fields,
                                              .threads = options->threads,
                                              .progress = options->progress,
                                              .progress_context = options->progress_context,
                                              .unmatched = options->unmatched,
                                              .unmatched_context = options->unmatched_context,
                                              .allocator = options->allocator};
    int result = perfile_table_open(reader, view, &how, &table, error);
    if (result == 0)
        result = pf_table_write(table, format, out, error);
    perfile_table_close(table);
    return result;
}

#define VIEW_OUTPUT_AS(kind, view, as, text, is_binary)                                                                \
    static int write_##kind##_##as(struct perfile_reader *reader, const struct perfile_output_options *options,        \
                                   struct pf_text *out, struct perfile_error *error)                                   \
    {                                                                                                                  \
        return write_view(reader, options, view, #as, out, error);                                                     \
    }                                                                                                                  \
    const struct pf_output pf_output_##kind##_##as = {                                                                 \
        .info = {#kind, #as, text, .binary = is_binary}, .write = write_##kind##_##as, .tells = true};
#define VIEW_OUTPUT(kind, view, as, text) VIEW_OUTPUT_AS(kind, view, as, text, false)
#define VIEW_FILE(kind, view, as, text) VIEW_OUTPUT_AS(kind, view, as, text, true)

/* what report calls fields are columns of its text */
VIEW_OUTPUT(report, "functions", jsonl, "the view functions: an object on a line for each row, with exact numbers")
VIEW_FILE(report, "functions", parquet, "the view functions as a Parquet file")
VIEW_FILE(report, "functions", arrow, "the view functions as an Arrow file")
VIEW_OUTPUT(script, "samples", csv, "the view samples: a line for each sample, with a header line")
VIEW_OUTPUT(script, "samples", json, "the view samples: one object with columns, rows and losses")
VIEW_OUTPUT(script, "samples", jsonl, "the view samples: an object on a line for each sample")
VIEW_FILE(script, "samples", parquet, "the view samples as a Parquet file")
VIEW_FILE(script, "samples", arrow, "the view samples as an Arrow file")
