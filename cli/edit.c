/* SPDX-License-Identifier: MIT */
#include "edit.h"
#include "litter.h"
#include "input.h"
#include "sandbox.h"
#include "rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- one run ---- */

struct run {
    struct pf_input input;
    struct perfile_writer *writer;
    const char *output;
    struct pf_log log; /* what cannot be written as it was */
    struct pf_progress progress;
    struct perfile_edit_report report;
    pf_edit_print *print; /* or NULL */
};

static int check_output(struct run *run)
{
    const char *verb = run->input.command->name;

    run->output = run->input.settings->output;
    if (!run->output) {
        pf_message("%s: no output file given (use -o FILE, or -o - for standard output)", verb);
        return PF_STATUS_USAGE;
    }
    if (!pf_is_same_file(run->input.name, run->output)) {
        const int status = pf_stream_check_recording(verb, run->output);
        return status ? status : pf_report_check(verb, run->output, run->input.settings->format);
    }
    pf_message("%s: --output %s is the input recording", verb, run->output);
    return PF_STATUS_USAGE;
}

static bool to_standard_output(const struct run *run)
{
    return !strcmp(run->output, "-");
}

static int open_writer(struct run *run)
{
    const struct perfile_writer_options made = pf_writing_options(&run->input, run->output, &run->log);
    pf_litter_add_recording(run->output);
    int result = perfile_writer_open_path(run->output, &made, &run->writer, &run->input.error);

    run->log.input = to_standard_output(run) ? "standard output" : run->output;
    if (result == 0)
        return PF_STATUS_OK;
    pf_message("%s: %s", run->input.command->name, pf_error_sentence(&run->input.error, run->input.command->name));
    return result == PERFILE_ERROR_ARGUMENT ? PF_STATUS_USAGE : pf_status_of_error(result, PF_STATUS_OUTPUT);
}

/* ---- the report ---- */

/* The counts of edits with their texts; the first two begin the line. */
static const struct {
    struct pf_json_count count;
    const char *what; /* NULL: it has no part of its own */
    struct perfile_column column;
} counted[] = {
#define COUNTED(member, what) COUNTED_AS(member, what, what)
#define COUNTED_AS(member, what, is)                                                                                   \
    {                                                                                                                  \
        PF_JSON_COUNT(perfile_edit_report, member), what,                                                              \
        {                                                                                                              \
            .size = sizeof(struct perfile_column), .name = #member, .type = PERFILE_COLUMN_U64, .doc = is              \
        }                                                                                                              \
    }
    COUNTED_AS(records_kept, NULL, "records kept"),
    COUNTED_AS(samples_kept, NULL, "samples kept, which are among these records"),
    COUNTED(records_dropped, "left out"),
    COUNTED_AS(samples_dropped, NULL, "samples left out"),
    COUNTED(records_damaged, "damaged records"),
    COUNTED(records_mended, "corrected"),
    COUNTED(bytes_dropped, "bytes lost"),
    COUNTED(features_rebuilt, "features rebuilt"),
    COUNTED(features_dropped, "features lost"),
    COUNTED(samples_unscaled, "merged samples without a period (weights not preserved)"),
    COUNTED(events_changed, "events changed"),
    COUNTED(records_changed, "records changed"),
    COUNTED(bytes_stripped, "bytes stripped"),
    COUNTED(samples_unwound, "samples unwound"),
    COUNTED(samples_without, "samples could not be unwound"),
    COUNTED(build_ids_added, "build ids added"),
    COUNTED(build_ids_missing, "files without a known build id"),
#undef COUNTED
#undef COUNTED_AS
};
enum { COUNTED = sizeof(counted) / sizeof(counted[0]) };

void pf_report_json(const struct perfile_edit_report *report, struct pf_json_writer *json)
{
    for (size_t i = 0; i < COUNTED; i++)
        pf_json_writer_counts(json, &counted[i].count, 1, report);
}

bool pf_report_is_table(const char *format)
{
    return format && strcmp(format, "text") != 0 && strcmp(format, "json") != 0;
}

int pf_report_check(const char *verb, const char *output, const char *format)
{
    const int fd = pf_stream_is_standard(output) ? STDERR_FILENO : STDOUT_FILENO;

    if (!format || !perfile_table_format_is_binary(format) || !isatty(fd))
        return PF_STATUS_OK;
    pf_message("%s: refusing to write the report as %s to a terminal; redirect it", verb, format);
    return PF_STATUS_USAGE;
}

static void put_count(void *context, size_t row, size_t column, struct perfile_value *value)
{
    const struct pf_edit_row *of = (const struct pf_edit_row *)context + row;
    uint64_t count;

    *value = pf_text_value(of->file);
    if (!column)
        return;
    memcpy(&count, (const char *)of->report + counted[column - 1].count.offset, sizeof(count));
    *value = pf_number_value(count);
}

int pf_report_rows(const char *verb, struct pf_edit_row *edited, size_t count, const char *format, FILE *to)
{
    const struct perfile_column *columns[COUNTED + 1] = {PF_COLUMN("file", PERFILE_COLUMN_TEXT, "the recording")};
    const struct pf_rows rows = {.view = "edits",
                                 .columns = columns,
                                 .column_count = COUNTED + 1,
                                 .row_count = count,
                                 .value = put_count,
                                 .context = edited};
    struct pf_stream out;
    int status = pf_stream_open(&out, NULL), written;

    if (status)
        return status;
    out.fd = fileno(to);
    for (size_t i = 0; i < COUNTED; i++)
        columns[i + 1] = &counted[i].column;
    status = pf_rows_put(&rows, &out, verb, format);
    written = pf_stream_close(&out, !status);
    return status ? status : written;
}

void pf_report_count(FILE *to, uint64_t count, const char *what)
{
    char text[PF_COUNTED_BYTES];

    if (count)
        fprintf(to, ", %s", pf_counted(count, what, text));
}

void pf_report_records(FILE *to, const char *name, uint64_t records, const char *what, uint64_t samples)
{
    char all[PF_COUNTED_BYTES], some[PF_GROUPED_BYTES];

    pf_print_name(name, to);
    fprintf(to, ": %s, %s of them %s", pf_counted(records, what, all), pf_grouped(samples, some),
            samples == 1 ? "a sample" : "samples");
}

void pf_report_text(const struct perfile_edit_report *report, const char *output, FILE *to)
{
    uint64_t count;

    pf_report_records(to, output, report->records_kept, "records kept", report->samples_kept);
    for (size_t i = 0; i < COUNTED; i++) {
        memcpy(&count, (const char *)report + counted[i].count.offset, sizeof(count));
        if (counted[i].what)
            pf_report_count(to, count, counted[i].what);
    }
    fprintf(to, "\n");
}

static int print_report(const struct run *run)
{
    const struct pf_settings *settings = run->input.settings;
    FILE *to = to_standard_output(run) ? stderr : stdout;

    if (pf_report_is_table(settings->format))
        return pf_report_rows(run->input.command->name, &(struct pf_edit_row){run->log.input, &run->report}, 1,
                              settings->format, to);
    if (settings->format && !strcmp(settings->format, "json")) {
        struct pf_json_writer json = pf_json_writer_to_file(to);
        pf_json_writer_begin(&json, NULL, false);
        pf_report_json(&run->report, &json);
        if (run->print)
            run->print(to, &json);
        pf_json_writer_end(&json, false);
        pf_json_writer_finish(&json);
    } else if (!settings->quiet && (to == stdout || settings->verbose)) {
        pf_report_text(&run->report, run->log.input, to);
        if (run->print)
            run->print(to, NULL);
    }
    if (fflush(to) == 0)
        return PF_STATUS_OK;
    pf_message("%s: the report cannot be written", run->input.command->name);
    return PF_STATUS_OUTPUT;
}

/* ---- from end to end ---- */

static int write_out(struct run *run, pf_edit *edit)
{
    struct perfile_edit_options edit_options = PERFILE_EDIT_OPTIONS_INIT;
    struct perfile_error *error = &run->input.error;

    if (pf_progress_start(&run->progress, run->input.command->name)) {
        edit_options.progress = pf_progress_update;
        edit_options.progress_context = &run->progress;
    }
    int result = edit(run->input.reader, run->writer, run->input.settings, &edit_options, &run->report, error);

    if (result == 0)
        result = perfile_writer_finish(run->writer, error);
    pf_progress_clear();
    pf_log_finish(&run->input.log);
    pf_log_finish(&run->log);
    if (result == 0)
        return PF_STATUS_OK;
    if (result != PERFILE_ERROR_WRITE && result != PERFILE_ERROR_OPEN)
        return pf_input_failure(&run->input, result);
    pf_message("%s: %s", run->input.command->name, pf_error_sentence(error, run->input.command->name));
    return PF_STATUS_OUTPUT;
}

/* A bundle can only be appended to a file, not to a stream. */
static bool wants_file(const struct run *run)
{
    const char *mode = run->input.settings->write.mode;

    return !to_standard_output(run) && (!mode || !strcmp(mode, "file"));
}

static int run_open(struct run *run, pf_edit *edit)
{
    int status = open_writer(run);

    if (!status)
        status = write_out(run, edit);
    if (!status) /* names of files are in it, and what they hold */
        status = pf_carry_bundle(run->input.command->name, run->input.name, run->output,
                                 strcmp(run->input.command->name, "anonymize") != 0 && wants_file(run));
    if (!status)
        status = print_report(run);
    if (!status)
        status = pf_input_losses(&run->input);
    perfile_writer_close(run->writer); /* what reports point at goes with it */
    return status;
}

int pf_run_edit(const struct pf_command *command, struct pf_settings *settings, pf_edit *edit)
{
    return pf_run_edit_report(command, settings, edit, NULL);
}

int pf_run_edit_report(const struct pf_command *command, struct pf_settings *settings, pf_edit *edit,
                       pf_edit_print *print)
{
    struct run run = {.print = print, .report = PERFILE_EDIT_REPORT_INIT};
    int status;

    if ((status = pf_input_choose(&run.input, command, settings)) || (status = check_output(&run)))
        return status;
    pf_sandbox_enter(command, settings);
    if ((status = pf_input_open(&run.input)))
        return status;
    settings->symbols.recording = run.input.name;
    settings->symbols.note = pf_log_note;
    settings->symbols.note_context = &run.input.log;
    settings->print.unmatched = pf_log_unmatched;
    settings->print.unmatched_context = &run.input.log;
    status = run_open(&run, edit);
    perfile_close(run.input.reader);
    return status;
}
