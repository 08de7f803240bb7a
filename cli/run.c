/* SPDX-License-Identifier: MIT */
#include "message.h"
#include "options.h"
#include "stream.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* A recording that is read. */
struct input {
    const char *path;
    struct perfile_reader *reader;
    struct pf_log log;
};

/* One run of a verb that prints a recording. */
struct run {
    const struct pf_command *command;
    struct pf_settings *settings;
    struct input input;
    struct input before; /* what it is compared with; path NULL: nothing */
    struct pf_stream stream;
    struct pf_progress progress;
    struct perfile_error error;
};

static void name_input(struct input *input, const char *path)
{
    input->path = path;
    input->log.input = strcmp(path, "-") ? path : "standard input";
}

static int choose_input(struct run *run)
{
    struct pf_settings *settings = run->settings;

    if (settings->operand_count && settings->input) {
        pf_message("%s: the recording is given twice, as %s and as %s", run->command->name, settings->input,
                   settings->operands[0]);
        return PF_STATUS_USAGE;
    }
    name_input(&run->input, settings->operand_count ? settings->operands[0]
                            : settings->input       ? settings->input
                                                    : "perf.data");
    if (!settings->before)
        return PF_STATUS_OK;
    name_input(&run->before, settings->before);
    if (strcmp(run->input.path, "-") || strcmp(run->before.path, "-"))
        return PF_STATUS_OK;
    pf_message("%s: standard input cannot be both recordings", run->command->name);
    return PF_STATUS_USAGE;
}

static int check_output(const struct run *run, const struct input *input)
{
    const char *output = run->settings->output;
    struct stat in, out;

    if (!output || !input->path || stat(input->path, &in) || stat(output, &out) || in.st_dev != out.st_dev ||
        in.st_ino != out.st_ino)
        return PF_STATUS_OK;
    pf_message("%s: --output %s is the recording itself", run->command->name, output);
    return PF_STATUS_USAGE;
}

/* The error's sentence without a leading "input" or path (as far as `what` holds it): the path is said anyway. */
static const char *sentence(const struct run *run, const char *path)
{
    const char *message = run->error.message, *what = run->error.what;
    size_t bytes = strlen(what);

    if (!bytes || (strcmp(what, "input") != 0 && strncmp(path, what, bytes) != 0) ||
        strncmp(message, what, bytes) != 0 || strncmp(message + bytes, ": ", 2) != 0)
        return message;
    return message + bytes + 2;
}

static int open_reader(struct run *run, struct input *input)
{
    struct perfile_open_options *options = &run->settings->open;
    bool chosen = run->settings->operand_count || run->settings->input || input == &run->before;

    if (!run->command->findings || run->settings->verbose) {
        options->diagnostic = pf_log_diagnostic;
        options->diagnostic_context = &input->log;
    }
    if (!input->path || perfile_open_path(input->path, options, &input->reader, &run->error) == 0)
        return PF_STATUS_OK;
    pf_message("%s: %s%s", input->log.input, sentence(run, input->path),
               run->error.code == PERFILE_ERROR_OPEN && !chosen ? " (no FILE was given)" : "");
    return PF_STATUS_UNREADABLE;
}

/* The status of an output that came to an error. */
static int failure(const struct run *run, int code)
{
    if (code == PERFILE_ERROR_WRITE && run->stream.error)
        return PF_STATUS_OK; /* the close of the stream tells */
    /* what this version does not have, or the recording */
    bool asked = code == PERFILE_ERROR_ARGUMENT || code == PERFILE_ERROR_UNSUPPORTED;

    pf_message("%s: %s", asked ? run->command->name : run->input.log.input, run->error.message);
    if (asked || code == PERFILE_ERROR_ABSENT)
        return PF_STATUS_USAGE;
    if (code == PERFILE_ERROR_WRITE)
        return PF_STATUS_OUTPUT;
    return perfile_reader_counts(run->input.reader)->records ? PF_STATUS_FINDINGS : PF_STATUS_UNREADABLE;
}

/* One line that says what is missing from the output; nothing when nothing is. */
static int report_losses(const struct run *run, const struct input *input)
{
    const struct perfile_counts *counts = input->reader ? perfile_reader_counts(input->reader) : NULL;
    char bytes[PF_GROUPED_BYTES], places[PF_GROUPED_BYTES], damaged[PF_GROUPED_BYTES], samples[PF_GROUPED_BYTES];

    if (!counts || (!counts->losses && !counts->bytes_lost && !counts->damaged))
        return PF_STATUS_OK;
    if (!run->command->findings)
        pf_message("%s: damaged in %s places: %s bytes lost, %s records not decoded; %s samples read", input->log.input,
                   pf_grouped(counts->losses, places), pf_grouped(counts->bytes_lost, bytes),
                   pf_grouped(counts->damaged, damaged), pf_grouped(counts->samples, samples));
    return PF_STATUS_FINDINGS;
}

static int print(struct run *run)
{
    struct perfile_output_options *options = &run->settings->print;
    struct perfile_sink sink = {&run->stream, pf_stream_write};
    /* A bar between the lines of the output would spoil both. */
    bool bar = run->settings->output || !isatty(STDOUT_FILENO);
    int result, status;

    if (pf_progress_start(&run->progress, bar)) {
        options->progress = pf_progress_update;
        options->progress_context = &run->progress;
    }
    result =
        perfile_output_write(run->input.reader, run->command->name, run->settings->format, options, &sink, &run->error);
    pf_progress_clear();
    pf_log_finish(&run->input.log);
    if (run->before.reader)
        pf_log_finish(&run->before.log);
    status = result < 0 ? failure(run, result) : result ? PF_STATUS_FINDINGS : PF_STATUS_OK;
    if (status <= PF_STATUS_FINDINGS && !run->stream.error &&
        (report_losses(run, &run->input) | report_losses(run, &run->before)))
        status = PF_STATUS_FINDINGS;
    return status;
}

static int write_output(struct run *run)
{
    int status = pf_stream_open(&run->stream, run->settings->output), written;

    run->settings->print.flame.before = run->before.reader;
    if (!status) {
        status = print(run);
        written = pf_stream_close(&run->stream, status <= PF_STATUS_FINDINGS);
        status = written ? written : status;
    }
    return status;
}

int pf_run_output(const struct pf_command *command, struct pf_settings *settings)
{
    struct run run = {.command = command, .settings = settings};
    int status;

    if ((status = choose_input(&run)) || (status = check_output(&run, &run.input)) ||
        (status = check_output(&run, &run.before)) || (status = open_reader(&run, &run.input)))
        return status;
    if ((status = open_reader(&run, &run.before)) == PF_STATUS_OK)
        status = write_output(&run);
    perfile_close(run.before.reader);
    perfile_close(run.input.reader);
    return status;
}
