/* SPDX-License-Identifier: MIT */
#include "diff.h"
#include "message.h"

#include <perfile/table.h>

int pf_diff_put_table(const struct pf_diff_output *output, const struct pf_command *command, const char *format)
{
    struct perfile_table_options options = PERFILE_TABLE_OPTIONS_INIT;
    struct perfile_error error;
    struct perfile_table *table;
    char suggestion[80];
    int result;

    if (perfile_table_format_is_binary(format) && pf_stream_check_binary(output->stream, command->name, format))
        return PF_STATUS_USAGE;
    options.columns = output->settings->columns;
    options.gzip = output->stream->gzip;
    result = perfile_table_of_diff(output->diff, &options, &table, &error);
    if (result == 0)
        return pf_stream_put_table(output->stream, command->name, table, format);
    pf_message("%s: %s%s", command->name, pf_error_sentence(&error, command->name),
               result == PERFILE_ERROR_ARGUMENT ? pf_options_suggest(command, output->settings, error.token, suggestion)
                                                : "");
    return pf_status_of_error(result, PF_STATUS_USAGE);
}

int pf_diff_put_page(const struct pf_diff_output *output, const struct pf_command *command)
{
    const struct perfile_sink sink = {output->stream, pf_stream_write};
    struct perfile_diff_page_options page = PERFILE_DIFF_PAGE_OPTIONS_INIT;
    struct perfile_error error;
    int result;

    page.paths = output->diff;
    page.functions = output->functions;
    page.inclusive = output->inclusive;
    page.gzip = output->stream->gzip;
    page.normalized = pf_diff_own(output->settings)->relative;
    result = perfile_diff_page_write(&page, &sink, &error);
    if (result == 0 || result == PERFILE_ERROR_WRITE)
        return PF_STATUS_OK; /* closing the stream says so */
    pf_message("%s: %s", command->name, pf_error_sentence(&error, command->name));
    return pf_status_of_error(result, PF_STATUS_OUTPUT);
}
