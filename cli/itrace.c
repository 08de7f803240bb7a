/* SPDX-License-Identifier: MIT */
#include "itrace.h"

#include <perfile/edit.h>

#include <unistd.h>

static int write_samples(struct perfile_reader *reader, const char *letters, int to, struct perfile_error *error)
{
    struct perfile_inject_options how = PERFILE_INJECT_OPTIONS_INIT;
    struct perfile_edit_report report = PERFILE_EDIT_REPORT_INIT;
    struct perfile_writer *writer;
    int result = perfile_writer_open_fd(to, NULL, &writer, error);

    if (result < 0)
        return result;
    how.itrace = letters;
    result = perfile_inject(reader, writer, &how, &report, error);
    if (result == 0)
        result = perfile_writer_finish(writer, error);
    perfile_writer_close(writer);
    return result;
}

/* The feature AUXTRACE lists them; without it, as in streams and killed recordings, there is nothing to decode here. */
static bool has_trace(struct perfile_reader *reader)
{
    const uint8_t *data;
    size_t bytes;

    return perfile_feature_bytes(reader, PERFILE_FEATURE_AUXTRACE, &data, &bytes, NULL) == 0;
}

int pf_itrace_apply(struct perfile_reader **reader, const char *letters, int to,
                    const struct perfile_open_options *options, struct perfile_error *error)
{
    struct perfile_reader *made;

    if (!has_trace(*reader))
        return 0;
    int result = write_samples(*reader, letters, to, error);

    if (result == 0) {
        (void)lseek(to, 0, SEEK_SET); /* at another offset the opening fails, and says so */
        result = perfile_open_fd(to, options, &made, error);
    }
    if (result < 0)
        return result;
    perfile_close(*reader);
    *reader = made;
    return 0;
}
