/* SPDX-License-Identifier: MIT */
/* Outputs of verbs that are tables: their formats for programs are those of the view. */
#include "output/table/format.h"

int pf_table_output_write(const struct pf_table_output *output, struct perfile_reader *reader,
                          const struct perfile_output_options *options, struct pf_text *out,
                          struct perfile_error *error)
{
    struct perfile_table *table;
    struct pf_sheet_style style = output->style;
    style.separator = options->report->separator;
    int result = pf_table_open_for(options, reader, output->view, &table, error);
    if (result == 0)
        result = pf_table_write(table, output->format, &style, out, error);
    perfile_table_close(table);
    return result;
}

#define VIEW_OUTPUT_AS(kind, of, as, text, is_binary)                                                                  \
    static int write_##kind##_##as(struct perfile_reader *reader, const struct perfile_output_options *options,        \
                                   struct pf_text *out, struct perfile_error *error)                                   \
    {                                                                                                                  \
        static const struct pf_table_output output = {.view = of, .format = #as};                                      \
        return pf_table_output_write(&output, reader, options, out, error);                                            \
    }                                                                                                                  \
    const struct pf_output pf_output_##kind##_##as = {                                                                 \
        .info = {#kind, #as, text, .binary = is_binary}, .write = write_##kind##_##as, .tells = true};
#define VIEW_OUTPUT(kind, view, as, text) VIEW_OUTPUT_AS(kind, view, as, text, false)
#define VIEW_FILE(kind, view, as, text) VIEW_OUTPUT_AS(kind, view, as, text, true)

VIEW_OUTPUT(script, "samples", csv, "the view samples: a line for each sample, with a header line")
VIEW_OUTPUT(script, "samples", json, "the view samples: one object with columns, rows and losses")
VIEW_OUTPUT(script, "samples", jsonl, "the view samples: an object on a line for each sample")
VIEW_FILE(script, "samples", parquet, "the view samples as a Parquet file")
VIEW_FILE(script, "samples", arrow, "the view samples as an Arrow file")

VIEW_OUTPUT(info, "meta", csv, "the view meta: a line for the recording, with a header line")
VIEW_OUTPUT(info, "meta", jsonl, "the view meta: an object on a line for the recording")
VIEW_FILE(info, "meta", parquet, "the view meta as a Parquet file")
VIEW_FILE(info, "meta", arrow, "the view meta as an Arrow file")

VIEW_OUTPUT(stat, "counts", csv, "the view counts: a line for each interval, event, thread and processor")
VIEW_OUTPUT(stat, "counts", json, "the view counts: one object with columns and rows")
VIEW_OUTPUT(stat, "counts", jsonl, "the view counts: an object on a line for each row")
VIEW_FILE(stat, "counts", parquet, "the view counts as a Parquet file")
VIEW_FILE(stat, "counts", arrow, "the view counts as an Arrow file")
VIEW_OUTPUT(annotate, "instructions", csv, "the view instructions: a line for each, with a header line")
VIEW_OUTPUT(annotate, "instructions", json, "the view instructions: one object with columns, rows and losses")
VIEW_OUTPUT(annotate, "instructions", jsonl, "the view instructions: an object on a line for each")
VIEW_FILE(annotate, "instructions", parquet, "the view instructions as a Parquet file")
VIEW_FILE(annotate, "instructions", arrow, "the view instructions as an Arrow file")
