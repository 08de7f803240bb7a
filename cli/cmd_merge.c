/* SPDX-License-Identifier: MIT */
#include "edit.h"
#include "inputs.h"
#include "litter.h"
#include "sandbox.h"
#include "stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

struct settings {
    const char *clock; /* NULL: not given */
    bool separate_hosts;
};

/* ---- options ---- */

static const struct pf_value clocks[] = {
    {"auto",
     "align if all recordings have CLOCK_DATA (perfile record -k) and come from different hosts or boots; the "
     "default",
     PERFILE_MERGE_CLOCK_AUTO},
    {"align", "align by wall clock time; fails if a recording has no CLOCK_DATA", PERFILE_MERGE_CLOCK_ALIGN},
    {"keep", "keep times as recorded", PERFILE_MERGE_CLOCK_KEEP},
    {0},
};

static const struct pf_option options[] = {
    PF_VALUES(CHOICE, "clock", 0, "HOW", PF_OWN(clock), .table = clocks, "Whether times are converted to one clock."),
    PF_FLAG("separate-hosts", 0, PF_OWN(separate_hosts),
            "Keep processes of different hosts separate: 4194304 is added to the pids and tids of the second host, "
            "twice that to those of the third, and so on, and threads are named HOST:COMM."),
    PF_OPTION_REPORT_FORMAT,
    {0},
};

/* ---- one run ---- */

struct note {
    size_t input;
    const char *rule;
    uint32_t feature;
    char message[256];
};

struct run {
    const struct pf_command *command;
    struct pf_settings *settings;
    struct pf_inputs inputs;
    struct perfile_writer *writer;
    struct pf_log log;
    struct pf_progress progress;
    int temporary; /* a file for the records of many recordings; 0: the library makes one beside the output */
    struct note *notes;
    size_t note_count;
    bool notes_lost; /* out of memory */
    struct perfile_error error;
    struct perfile_merge_report report;
};

static void keep_note(void *context, const struct perfile_merge_note *note)
{
    struct run *run = context;
    struct note *more = realloc(run->notes, (run->note_count + 1) * sizeof(*more));

    if (!more) {
        run->notes_lost = true;
        return;
    }
    run->notes = more;
    run->notes[run->note_count] = (struct note){.input = note->input, .rule = note->rule, .feature = note->feature};
    snprintf(run->notes[run->note_count++].message, sizeof(more->message), "%s", note->message);
}

static int choose(struct run *run)
{
    const struct pf_settings *settings = run->settings;

    if (!settings->output) {
        pf_message("%s: no output file given (use -o FILE, or -o - for standard output)", run->command->name);
        return PF_STATUS_USAGE;
    }
    if (!settings->operand_count) {
        pf_message("%s: no recordings given", run->command->name);
        return PF_STATUS_USAGE;
    }
    int status = pf_stream_check_recording(run->command->name, settings->output);
    if (!status)
        status = pf_report_check(run->command->name, settings->output, settings->format);
    if (!status)
        status = pf_inputs_check(run->command, settings->operands, settings->operand_count);
    if (!status)
        status = pf_inputs_set(&run->inputs, run->command, run->settings, settings->operands, settings->operand_count);
    if (status || !pf_inputs_have(&run->inputs, settings->output))
        return status;
    pf_message("%s: --output %s is one of the input recordings", run->command->name, settings->output);
    return PF_STATUS_USAGE;
}

static int open_writer(struct run *run)
{
    const struct perfile_writer_options made =
        pf_writing_options(&run->inputs.inputs[0], run->settings->output, &run->log);
    pf_litter_add_recording(run->settings->output);
    int result = perfile_writer_open_path(run->settings->output, &made, &run->writer, &run->error);

    run->log.input = strcmp(run->settings->output, "-") ? run->settings->output : "standard output";
    if (result == 0)
        return PF_STATUS_OK;
    pf_message("%s: %s", run->command->name, pf_error_sentence(&run->error, run->command->name));
    return result == PERFILE_ERROR_ARGUMENT ? PF_STATUS_USAGE : pf_status_of_error(result, PF_STATUS_OUTPUT);
}

/* The exit status for an error: recordings that cannot be merged, or failed reading or writing. */
static int failure(const struct run *run, int result)
{
    const char *message = run->error.message;

    pf_message("%s%s%s", strncmp(message, "merge: ", 7) ? run->command->name : "",
               strncmp(message, "merge: ", 7) ? ": " : "", message);
    if (result == PERFILE_ERROR_WRITE || result == PERFILE_ERROR_OPEN)
        return PF_STATUS_OUTPUT;
    if (result == PERFILE_ERROR_ARGUMENT || result == PERFILE_ERROR_UNSUPPORTED || result == PERFILE_ERROR_ABSENT)
        return PF_STATUS_USAGE;
    for (size_t i = 0; i < run->inputs.count; i++)
        if (perfile_reader_counts(run->inputs.readers[i])->records)
            return pf_status_of_error(result, PF_STATUS_FINDINGS);
    return pf_status_of_error(result, PF_STATUS_UNREADABLE);
}

static int merge(struct run *run)
{
    struct perfile_merge_options made = PERFILE_MERGE_OPTIONS_INIT;

    made.readers = run->inputs.readers;
    made.reader_count = run->inputs.count;
    made.names = run->inputs.names;
    made.clock = (int)pf_value_number(clocks, pf_own(run->settings)->clock);
    made.separate_hosts = pf_own(run->settings)->separate_hosts;
    made.note = keep_note;
    made.note_context = run;
    made.temporary_fd = run->temporary;
    if (pf_progress_start(&run->progress, run->command->name)) {
        made.progress = pf_progress_update;
        made.progress_context = &run->progress;
    }
    int result = perfile_merge(run->writer, &made, &run->report, &run->error);

    if (result == 0)
        result = perfile_writer_finish(run->writer, &run->error);
    pf_progress_clear();
    for (size_t i = 0; i < run->inputs.count; i++)
        pf_log_finish(&run->inputs.inputs[i].log);
    pf_log_finish(&run->log);
    for (size_t i = 0; i < run->inputs.count && result >= 0; i++)
        (void)pf_carry_bundle(run->command->name, run->inputs.inputs[i].name, run->settings->output, false);
    return result < 0 ? failure(run, result) : PF_STATUS_OK;
}

/* ---- the report ---- */

static void print_json_counts(struct pf_json_writer *json, const struct perfile_edit_report *of)
{
#define COUNT(member) PF_JSON_COUNT(perfile_edit_report, member)
    static const struct pf_json_count counts[] = {COUNT(records_kept),    COUNT(samples_kept),
                                                  COUNT(records_dropped), COUNT(records_damaged),
                                                  COUNT(bytes_dropped),   COUNT(features_dropped)};
#undef COUNT
    pf_json_writer_counts(json, counts, sizeof(counts) / sizeof(counts[0]), of);
}

static void print_json_totals(struct pf_json_writer *json, const struct perfile_merge_report *report)
{
#define COUNT(member) PF_JSON_COUNT(perfile_merge_report, member)
    static const struct pf_json_count counts[] = {COUNT(events),          COUNT(events_unified), COUNT(ids_renumbered),
                                                  COUNT(records_unified), COUNT(stacks_trimmed), COUNT(unordered)};
#undef COUNT
    print_json_counts(json, report->total);
    pf_json_writer_counts(json, counts, sizeof(counts) / sizeof(counts[0]), report);
    pf_json_writer_bool(json, "reshaped", report->reshaped);
    pf_json_writer_bool(json, "clocks_aligned", report->clocks_aligned);
}

static void print_json_input(struct pf_json_writer *json, const struct run *run, size_t number)
{
    pf_json_writer_begin(json, NULL, false);
    pf_json_writer_text(json, "name", run->inputs.names[number]);
    print_json_counts(json, run->report.inputs[number]);
    pf_json_writer_end(json, false);
}

static void print_json_note(struct pf_json_writer *json, const struct run *run, const struct note *note)
{
    const char *feature = note->feature ? perfile_feature_name(note->feature) : NULL;

    pf_json_writer_begin(json, NULL, false);
    pf_json_writer_text(json, "input", run->inputs.names[note->input]);
    pf_json_writer_text(json, "rule", note->rule);
    if (feature)
        pf_json_writer_text(json, "feature", feature);
    pf_json_writer_text(json, "message", note->message);
    pf_json_writer_end(json, false);
}

static void print_json(const struct run *run, FILE *to)
{
    struct pf_json_writer json = pf_json_writer_to_file(to);

    pf_json_writer_begin(&json, NULL, false);
    print_json_totals(&json, &run->report);
    pf_json_writer_begin(&json, "inputs", true);
    for (size_t i = 0; i < run->inputs.count; i++)
        print_json_input(&json, run, i);
    pf_json_writer_end(&json, true);
    pf_json_writer_begin(&json, "notes", true);
    for (size_t i = 0; i < run->note_count; i++)
        print_json_note(&json, run, &run->notes[i]);
    pf_json_writer_end(&json, true);
    pf_json_writer_end(&json, false);
    pf_json_writer_finish(&json);
}

static void print_counts(FILE *to, const char *name, const struct perfile_edit_report *counts)
{
    pf_report_records(to, name, counts->records_kept, "records", counts->samples_kept);
    pf_report_count(to, counts->records_dropped, "also in another part, dropped");
    pf_report_count(to, counts->records_damaged, "damaged records");
    pf_report_count(to, counts->bytes_dropped, "bytes lost");
    pf_report_count(to, counts->features_dropped, "features not kept");
    fprintf(to, "\n");
}

static void print_note(const char *message, FILE *to)
{
    fprintf(to, "    ");
    pf_print_name(message, to);
    fprintf(to, "\n");
}

static void print_text(const struct run *run, FILE *to)
{
    const struct perfile_merge_report *report = &run->report;
    char events[PF_COUNTED_BYTES];

    print_counts(to, run->log.input, report->total);
    fprintf(to, "  %s", pf_counted(report->events, "events", events));
    pf_report_count(to, report->events_unified, "identical to one of an earlier recording");
    pf_report_count(to, report->ids_renumbered, "ids renumbered");
    pf_report_count(to, report->stacks_trimmed, "user stacks truncated: ids need their bytes");
    pf_report_count(to, report->unordered, "records out of order");
    fprintf(to, "\n");
    for (size_t i = 0; i < run->inputs.count; i++) {
        fprintf(to, "  ");
        print_counts(to, run->inputs.names[i], report->inputs[i]);
        for (size_t j = 0; j < run->note_count; j++)
            if (run->notes[j].input == i)
                print_note(run->notes[j].message, to);
    }
    if (run->notes_lost)
        fprintf(to, "  out of memory: the report is incomplete\n");
}

static int print_rows(const struct run *run, FILE *to)
{
    const size_t count = run->inputs.count;
    struct pf_edit_row *rows = calloc(count, sizeof(*rows));
    int status = PF_STATUS_MEMORY;

    for (size_t i = 0; rows && i < count; i++)
        rows[i] = (struct pf_edit_row){run->inputs.names[i], run->report.inputs[i]};
    if (rows)
        status = pf_report_rows(run->command->name, rows, count, run->settings->format, to);
    else
        pf_message("%s: out of memory", run->command->name);
    free(rows);
    return status;
}

static int print_report(const struct run *run)
{
    const struct pf_settings *settings = run->settings;
    FILE *to = strcmp(settings->output, "-") ? stdout : stderr;

    if (pf_report_is_table(settings->format))
        return print_rows(run, to);
    if (settings->format && !strcmp(settings->format, "json"))
        print_json(run, to);
    else if (!settings->quiet && (to == stdout || settings->verbose || run->note_count))
        print_text(run, to);
    if (fflush(to) == 0)
        return run->notes_lost ? PF_STATUS_MEMORY : PF_STATUS_OK;
    pf_message("%s: the report cannot be written", run->command->name);
    return PF_STATUS_OUTPUT;
}

/* ---- from end to end ---- */

static int run_open(struct run *run)
{
    int status = open_writer(run);

    if (!status)
        status = merge(run);
    if (!status)
        status = print_report(run);
    if (status <= PF_STATUS_FINDINGS && pf_inputs_losses(&run->inputs))
        status = PF_STATUS_FINDINGS;
    perfile_writer_close(run->writer);
    return status;
}

/* A pipe or a device has no folder for the temporary file, and the sandbox forbids creating one in $TMPDIR later. */
static int file_for_records(const char *output)
{
    struct stat status;
    const bool in_place =
        !strcmp(output, "-") || (stat(output, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode));
    const int fd = in_place ? pf_temporary_file() : 0;

    return fd < 0 ? 0 : fd;
}

static int run_merge(const struct pf_command *command, struct pf_settings *settings)
{
    struct run run = {.command = command, .settings = settings, .report = PERFILE_MERGE_REPORT_INIT};
    int status;

    if ((status = choose(&run)) == PF_STATUS_OK) {
        run.temporary = file_for_records(settings->output);
        pf_sandbox_enter(command, settings);
        status = pf_inputs_open(&run.inputs);
    }
    if (status == PF_STATUS_OK)
        status = run_open(&run);
    pf_inputs_close(&run.inputs);
    free(run.notes);
    return status;
}

const struct pf_command pf_command_merge = {
    .name = "merge",
    .summary = "merge several recordings into one, in time order",
    .doc = "Writes one recording with the records of all: from any hosts, times, events, modes and byte orders. Events "
           "that are the same in several recordings become one, colliding ids are renumbered, and fields that all "
           "events of a recording must share are added where missing. Records other than samples that the parts of a "
           "split recording have in common are written once, so that merging the parts restores it. Where headers "
           "differ and only one value is possible, the first recording's is used; the report lists these.",
    .operand = "FILE...",
    .operand_max = SIZE_MAX,
    .own_bytes = sizeof(struct settings),
    .groups = {PF_GROUP("Options", options), &pf_writing_group, &pf_serial_reading_group, &pf_limit_group,
               &pf_common_group},
    .run = run_merge,
};
