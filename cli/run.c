/* SPDX-License-Identifier: MIT */
#include "input.h"
#include "stream.h"

#include <sys/stat.h>

/* One run of a verb that prints a recording. */
struct run {
    struct pf_input input;
    struct pf_stream stream;
    struct pf_progress progress;
};

static int check_output(const struct run *run)
{
    const char *output = run->input.settings->output;
    struct stat in, out;

    if (!output || stat(run->input.name, &in) || stat(output, &out) || in.st_dev != out.st_dev ||
        in.st_ino != out.st_ino)
        return PF_STATUS_OK;
    pf_message("%s: --output %s is the recording itself", run->input.command->name, output);
    return PF_STATUS_USAGE;
}

static int print(struct run *run)
{
    struct perfile_output_options *options = &run->input.settings->print;
    struct perfile_sink sink = {&run->stream, pf_stream_write};
    int result, status;

    options->color = pf_wants_color(run->input.settings->color, run->stream.fd);
    if (pf_progress_start(&run->progress, run->input.command->name)) {
        options->progress = pf_progress_update;
        options->progress_context = &run->progress;
    }
    result = perfile_output_write(run->input.reader, run->input.command->name, run->input.settings->format, options,
                                  &sink, &run->input.error);
    pf_progress_clear();
    pf_log_finish(&run->input.log);
    if (result >= 0)
        status = result ? PF_STATUS_FINDINGS : PF_STATUS_OK;
    else if (result == PERFILE_ERROR_WRITE && run->stream.error)
        status = PF_STATUS_OK; /* the close of the stream tells */
    else
        status = pf_input_failure(&run->input, result);
    if (status <= PF_STATUS_FINDINGS && !run->stream.error && pf_input_losses(&run->input))
        status = PF_STATUS_FINDINGS;
    return status;
}

int pf_run_output(const struct pf_command *command, struct pf_settings *settings)
{
    struct run run = {0};
    int status, written;

    if ((status = pf_input_choose(&run.input, command, settings)) || (status = check_output(&run)) ||
        (status = pf_input_open(&run.input)))
        return status;
    status = pf_stream_open(&run.stream, settings->output);
    if (!status) {
        status = print(&run);
        written = pf_stream_close(&run.stream, status <= PF_STATUS_FINDINGS);
        status = written ? written : status;
    }
    perfile_close(run.input.reader);
    return status;
}
