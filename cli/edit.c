/* SPDX-License-Identifier: MIT */
#include "edit.h"
#include "litter.h"
#include "input.h"
#include "sandbox.h"
#include "rows.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define AT(member) offsetof(struct pf_settings, member)

enum { FRAME_BYTES = 1 << 20 };

/* ---- options ---- */

struct choice {
    const char *name;
    int value;
    const char *doc;
};

static const struct choice modes[] = {
    {"file", PERFILE_MODE_FILE, "one file with an index, the default"},
    {"pipe", PERFILE_MODE_PIPE, "a stream, the default for -o -"},
    {"directory", PERFILE_MODE_DIRECTORY, "a directory with several files, as perf record --threads makes"},
    {NULL, 0, NULL},
};
static const struct choice orders[] = {
    {"same", PERFILE_ORDER_NATIVE, "as in the input, the default"},
    {"little", PERFILE_ORDER_LITTLE, "little endian"},
    {"big", PERFILE_ORDER_BIG, "big endian"},
    {NULL, 0, NULL},
};
static const struct choice compressions[] = {
    {"none", 0, "the default"},
    {"zstd", 0, "COMPRESSED2 records, which perf 6.16 and later read"},
    {"zstd-v1", 1, "COMPRESSED records, which perf 5.2 and later read"},
    {NULL, 0, NULL},
};
static const struct choice formats[] = {
    {"text", 0, "human-readable"},
    {"json", 0, "one JSON object"},
    {"csv", 0, "a line for each recording, with a header line: what was written or, of merge, read"},
    {"jsonl", 0, "an object on a line for each of them"},
    {"parquet", 0, "these as a Parquet file"},
    {"arrow", 0, "these as an Arrow file"},
    {NULL, 0, NULL},
};

static const char *choice_at(const struct choice *choices, size_t index, const char **doc)
{
    for (size_t i = 0; choices[i].name; i++)
        if (i == index) {
            *doc = choices[i].doc;
            return choices[i].name;
        }
    return NULL;
}

static int value_of(const struct choice *choices, const char *name)
{
    for (size_t i = 0; name && choices[i].name; i++)
        if (!strcmp(choices[i].name, name))
            return choices[i].value;
    return choices[0].value;
}

static const char *mode_at(const struct pf_command *command, size_t index, const char **doc)
{
    (void)command;
    return choice_at(modes, index, doc);
}

static const char *order_at(const struct pf_command *command, size_t index, const char **doc)
{
    (void)command;
    return choice_at(orders, index, doc);
}

static const char *compression_at(const struct pf_command *command, size_t index, const char **doc)
{
    (void)command;
    return choice_at(compressions, index, doc);
}

const char *pf_report_format_at(const struct pf_command *command, size_t index, const char **doc)
{
    (void)command;
    return choice_at(formats, index, doc);
}

static const struct pf_option options[] = {
    PF_OPTION_RECORDING_OUTPUT,
    {.name = "mode",
     .kind = PF_OPTION_CHOICE,
     .argument = "MODE",
     .offset = AT(write.mode),
     .value_at = mode_at,
     .doc = "The kind of recording to write."},
    {.name = "byte-order",
     .kind = PF_OPTION_CHOICE,
     .argument = "ORDER",
     .offset = AT(write.order),
     .value_at = order_at,
     .doc = "The byte order of the output."},
    {.name = "compress",
     .kind = PF_OPTION_CHOICE,
     .argument = "HOW",
     .offset = AT(write.compression),
     .value_at = compression_at,
     .doc = "How the records are compressed."},
    {.name = "compression-level",
     .letter = 'z',
     .kind = PF_OPTION_NUMBER,
     .argument = "N",
     .usual = "1",
     .offset = AT(write.level),
     .doc = "The compression level, from 1 (fast, the default) to 22 (small); implies --compress zstd."},
    {.name = "seekable",
     .kind = PF_OPTION_FLAG,
     .offset = AT(write.seekable),
     .doc =
         "Compress so that perfile index can begin in the middle: restart about every MiB of records, which makes the "
         "output a few per cent larger; implies --compress zstd."},
    {.name = "no-sync",
     .kind = PF_OPTION_FLAG,
     .offset = AT(write.no_sync),
     .doc = "Do not wait until the output is on disk."},
    {0},
};
const struct pf_option_group pf_writing_group = {"Writing", options};

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

/* The target of a link is relative to the folder that the link is in. */
static bool follow(char output[PATH_MAX])
{
    char target[PATH_MAX], *slash = strrchr(output, '/');
    const ssize_t length = readlink(output, target, sizeof(target) - 1);
    const size_t kept = length > 0 && target[0] != '/' && slash ? (size_t)(slash - output) + 1 : 0;

    if (length <= 0 || kept + (size_t)length >= PATH_MAX)
        return false;
    memcpy(output + kept, target, (size_t)length);
    output[kept + (size_t)length] = 0;
    return true;
}

char *pf_output_target(const char *path)
{
    enum { LINKS_MAX = 40 };
    char output[PATH_MAX], *real = realpath(path, NULL);

    if (real || strlen(path) >= sizeof(output))
        return real ? real : strdup(path);
    memcpy(output, path, strlen(path) + 1);
    for (int i = 0; i < LINKS_MAX && follow(output); i++)
        ;
    return strdup(output);
}

static bool to_standard_output(const struct run *run)
{
    return !strcmp(run->output, "-");
}

struct perfile_writer_options pf_writing_options(const struct pf_input *input, const char *output, struct pf_log *log)
{
    const struct pf_settings *settings = input->settings;
    const struct perfile_file *file = perfile_reader_file(input->reader);
    struct perfile_writer_options made = PERFILE_WRITER_OPTIONS_INIT;
    bool named = settings->write.compression && strcmp(settings->write.compression, "none");

    made.mode = settings->write.mode   ? value_of(modes, settings->write.mode)
                : !strcmp(output, "-") ? PERFILE_MODE_PIPE
                                       : PERFILE_MODE_FILE;
    made.byte_order = value_of(orders, settings->write.order);
    if (made.byte_order == PERFILE_ORDER_NATIVE)
        made.byte_order = file->big_endian ? PERFILE_ORDER_BIG : PERFILE_ORDER_LITTLE;
    made.compression = settings->write.level ? (int)(settings->write.level < 99 ? settings->write.level : 99) : named;
    if (settings->write.seekable) {
        made.compression = made.compression ? made.compression : 1;
        made.frame_bytes = FRAME_BYTES;
    }
    made.compressed_v1 = value_of(compressions, settings->write.compression);
    made.no_sync = settings->write.no_sync;
    made.diagnostic = pf_log_diagnostic;
    made.diagnostic_context = log;
    return made;
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
    COUNTED(records_damaged, "damaged records dropped"),
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

void pf_report_text(const struct perfile_edit_report *report, const char *output, FILE *to)
{
    char records[PF_COUNTED_BYTES], samples[PF_GROUPED_BYTES];
    uint64_t count;

    pf_print_name(output, to);
    fprintf(to, ": %s, %s of them samples", pf_counted(report->records_kept, "records kept", records),
            pf_grouped(report->samples_kept, samples));
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
