/* SPDX-License-Identifier: MIT */
#include "edit/edit.h"

int perfile_convert(struct perfile_reader *reader, struct perfile_writer *writer,
                    const struct perfile_edit_options *options, struct perfile_edit_report *report,
                    struct perfile_error *error)
{
    struct pf_edit edit;
    int result = pf_edit_open(&edit, reader, writer, options, error);
    return result < 0 ? result : pf_edit_run(&edit, report, error);
}
