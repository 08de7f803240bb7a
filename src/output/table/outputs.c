/* SPDX-License-Identifier: MIT */
/* Outputs of verbs that are tables: their formats for programs are those of the view. */
#include "output/output.h"
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

int pf_view_write(const struct pf_output *output, struct perfile_reader *reader,
                  const struct perfile_output_options *options, struct pf_text *out, struct perfile_error *error)
{
    const struct pf_table_output table = {.view = output->view, .format = output->info.format};
    return pf_table_output_write(&table, reader, options, out, error);
}
