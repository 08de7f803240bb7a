/* SPDX-License-Identifier: MIT */
#include "message.h"
#include "options.h"
#include "stream.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* One run of a verb that prints a recording. */
struct run {
    const struct pf_command *command;
    struct pf_settings *settings;
    const char *input;
    struct perfile_reader *reader;
    struct pf_stream stream;
    struct pf_progress progress;
    struct pf_log log;
    struct perfile_error error;
};

static int choose_input(struct run *run)
{
    struct pf_settings *settings = run->settings;

    if (settings->operand_count && settings->input) {
        pf_message("%s: the recording is given twice, as %s and as %s", run->command->name, settings->input,
                   settings->operands[0]);
        return PF_STATUS_USAGE;
    }
    run->input = settings->operand_count ? settings->operands[0] : settings->input ? settings->input : "perf.data";
    run->log.input = strcmp(run->input, "-") ? run->input : "standard input";
    return PF_STATUS_OK;
}

static int check_output(const struct run *run)
{
    const char *output = run->settings->output;
    struct stat in, out;

    if (!output || stat(run->input, &in) || stat(output, &out) || in.st_dev != out.st_dev || in.st_ino != out.st_ino)
        return PF_STATUS_OK;
    pf_message("%s: --output %s is the recording itself", run->command->name, output);
    return PF_STATUS_USAGE;
}

/* The error's sentence without a leading "input" or path (as far as `what` holds it): the path is said anyway. */
static const char *sentence(const struct run *run)
{
    const char *message = run->error.message, *what = run->error.what;
    size_t bytes = strlen(what);

    if (!bytes || (strcmp(what, "input") != 0 && strncmp(run->input, what, bytes) != 0) ||
        strncmp(message, what, bytes) != 0 || strncmp(message + bytes, ": ", 2) != 0)
        return message;
    return message + bytes + 2;
}

static int open_reader(struct run *run)
{
    struct perfile_open_options *options = &run->settings->open;
    bool chosen = run->settings->operand_count || run->settings->input;

    if (!run->command->findings || run->settings->verbose) {
        options->diagnostic = pf_log_diagnostic;
        options->diagnostic_context = &run->log;
    }
    if (perfile_open_path(run->input, options, &run->reader, &run->error) == 0)
        return PF_STATUS_OK;
    pf_message("%s: %s%s", run->log.input, sentence(run),
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

    pf_message("%s: %s", asked ? run->command->name : run->log.input, run->error.message);
    if (asked || code == PERFILE_ERROR_ABSENT)
        return PF_STATUS_USAGE;
    if (code == PERFILE_ERROR_WRITE)
        return PF_STATUS_OUTPUT;
    return perfile_reader_counts(run->reader)->records ? PF_STATUS_FINDINGS : PF_STATUS_UNREADABLE;
}

/* One line that says what is missing from the output; nothing when nothing is. */
static int report_losses(const struct run *run)
{
    const struct perfile_counts *counts = perfile_reader_counts(run->reader);
    char bytes[PF_GROUPED_BYTES], places[PF_GROUPED_BYTES], damaged[PF_GROUPED_BYTES], samples[PF_GROUPED_BYTES];

    if (!counts->losses && !counts->bytes_lost && !counts->damaged)
        return PF_STATUS_OK;
    if (!run->command->findings)
        pf_message("%s: damaged in %s places: %s bytes lost, %s records not decoded; %s samples read", run->log.input,
                   pf_grouped(counts->losses, places), pf_grouped(counts->bytes_lost, bytes),
                   pf_grouped(counts->damaged, damaged), pf_grouped(counts->samples, samples));
    return PF_STATUS_FINDINGS;
}

/* More than a few threads have nothing to do most of the time: who wants them says so. */
static unsigned thread_count(const struct pf_settings *settings)
{
    enum { MOST_UNASKED = 8, MOST = 1024 };
    long processors = sysconf(_SC_NPROCESSORS_ONLN);

    if (settings->jobs)
        return settings->jobs < MOST ? (unsigned)settings->jobs : MOST;
    return processors < 1 ? 1 : processors < MOST_UNASKED ? (unsigned)processors : MOST_UNASKED;
}

static int print(struct run *run)
{
    struct perfile_output_options *options = &run->settings->print;
    struct perfile_sink sink = {&run->stream, pf_stream_write};
    /* A bar between the lines of the output would spoil both. */
    bool bar = run->settings->output || !isatty(STDOUT_FILENO);
    int result, status;

    options->threads = thread_count(run->settings);
    if (pf_progress_start(&run->progress, bar)) {
        options->progress = pf_progress_update;
        options->progress_context = &run->progress;
    }
    result = perfile_output_write(run->reader, run->command->name, run->settings->format, options, &sink, &run->error);
    pf_progress_clear();
    pf_log_finish(&run->log);
    status = result < 0 ? failure(run, result) : result ? PF_STATUS_FINDINGS : PF_STATUS_OK;
    if (status <= PF_STATUS_FINDINGS && !run->stream.error && report_losses(run))
        status = PF_STATUS_FINDINGS;
    return status;
}

int pf_run_output(const struct pf_command *command, struct pf_settings *settings)
{
    struct run run = {.command = command, .settings = settings};
    int status, written;

    if ((status = choose_input(&run)) || (status = check_output(&run)) || (status = open_reader(&run)))
        return status;
    status = pf_stream_open(&run.stream, settings->output);
    if (!status) {
        status = print(&run);
        written = pf_stream_close(&run.stream, status <= PF_STATUS_FINDINGS);
        status = written ? written : status;
    }
    perfile_close(run.reader);
    return status;
}
