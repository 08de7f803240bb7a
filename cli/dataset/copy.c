/* SPDX-License-Identifier: MIT */
/* Copies rows of Parquet files to a new file, for compact and remove. */
#include "dataset.h"

#include "../message.h"
#include "../stream.h"

#include <perfile/table.h>

static int copy_rows(const struct perfile_parquet_options *options, struct pf_stream *stream)
{
    const struct perfile_sink sink = {stream, pf_stream_write};
    struct perfile_table *table = NULL;
    struct perfile_error error;
    int result = perfile_table_of_parquet(options, &table, &error);

    if (result == 0)
        result = perfile_table_write(table, "parquet", &sink, &error);
    perfile_table_close(table);
    if (result >= 0 || result == PERFILE_ERROR_WRITE)
        return PF_STATUS_OK; /* closing says it */
    pf_message("%s", error.message);
    return pf_status_of_error(result, PF_STATUS_FINDINGS);
}

int pf_rows_copy(const struct perfile_parquet_options *options, const char *path)
{
    struct pf_stream stream;
    int status = pf_stream_open(&stream, path), closed;

    if (status)
        return status;
    status = copy_rows(options, &stream);
    closed = pf_stream_close(&stream, !status);
    return status ? status : closed;
}
