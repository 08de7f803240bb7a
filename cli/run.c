/* SPDX-License-Identifier: MIT */
#include "advice.h"
#include "handover.h"
#include "inputs.h"
#include "litter.h"
#include "sandbox.h"
#include "stream.h"
#include "tui/tui.h"
#include "viewer.h"

#include <perfile/table.h>

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The state of a verb that prints a recording. */
struct run {
    struct perfile_source source; /* of the input, if it is a pipe whose bytes are shown as they come */
    struct pf_input input;
    struct pf_input before; /* what it is compared with; name NULL: nothing */
    struct pf_inputs more;  /* further recordings, of verbs that take several */
    struct pf_input *at;    /* the recording that is read: the first, unless they are written one by one */
    struct pf_stream stream;
    struct pf_progress progress;
    struct pf_advice advice;
    bool advised;
    bool none_passed; /* the filters */
};

/* The kind of the output. */
static const char *kind_of(const struct run *run)
{
    const struct pf_settings *settings = run->input.settings;

    return settings->kind ? settings->kind : run->input.command->name;
}

/* ---- nothing to show --------------------------------------------------------------------------------------------- */

static void note_unmatched(void *context, const struct perfile_unmatched *unmatched)
{
    struct run *run = context;

    pf_log_unmatched(&run->at->log, unmatched);
    run->none_passed |= unmatched->blocks_all && !run->at->log.over;
}

static bool was_read(const struct run *run)
{
    return run->input.reader && perfile_reader_counts(run->input.reader)->records;
}

static bool is_empty(const struct run *run)
{
    const bool counts = !strcmp(kind_of(run), "stat");
    uint64_t found = 0;

    for (size_t i = 0; i <= run->more.count; i++) {
        const struct pf_input *input = i ? &run->more.inputs[i - 1] : &run->input;
        const struct perfile_counts *read = input->reader ? perfile_reader_counts(input->reader) : NULL;
        found += !read ? 0 : counts ? read->stat_counts : read->samples;
    }
    return run->none_passed || !found;
}

static int choose_before(struct run *run)
{
    const struct pf_input *input = &run->input;

    if (!input->settings->before)
        return PF_STATUS_OK;
    pf_input_set(&run->before, input->command, input->settings, input->settings->before);
    if (strcmp(input->name, "-") || strcmp(run->before.name, "-"))
        return PF_STATUS_OK;
    pf_message("%s: standard input cannot be both recordings", input->command->name);
    return PF_STATUS_USAGE;
}

static int choose_more(struct run *run)
{
    struct pf_settings *settings = run->input.settings;

    int status;

    if (settings->operand_count < 2)
        return PF_STATUS_OK;
    if ((status = pf_inputs_check(run->input.command, settings->operands, settings->operand_count)))
        return status;
    return pf_inputs_set(&run->more, run->input.command, settings, settings->operands + 1, settings->operand_count - 1);
}

static int check_output(const struct run *run)
{
    const char *output = run->input.settings->output, *before = run->before.name;

    if (!output || !(pf_is_same_file(run->input.name, output) || (before && pf_is_same_file(before, output)) ||
                     pf_inputs_have(&run->more, output)))
        return PF_STATUS_OK;
    pf_message("%s: --output %s is the input recording", run->input.command->name, output);
    return PF_STATUS_USAGE;
}

static int status_of(const struct run *run, int result)
{
    if (result >= 0)
        return result ? PF_STATUS_FINDINGS : PF_STATUS_OK;
    if (result == PERFILE_ERROR_WRITE && run->stream.error)
        return PF_STATUS_OK; /* closing the stream reports it */
    return pf_input_failure(run->at, result);
}

/* More than a few threads are idle most of the time, so that more are used only on request. */
unsigned pf_thread_count(const struct pf_settings *settings)
{
    enum { MAX_UNASKED = 8, MAX = 1024 };
    long processors = sysconf(_SC_NPROCESSORS_ONLN);

    if (settings->jobs)
        return settings->jobs < MAX ? (unsigned)settings->jobs : MAX;
    return processors < 1 ? 1 : processors < MAX_UNASKED ? (unsigned)processors : MAX_UNASKED;
}

static int write_table(struct run *run, const struct perfile_filter *filter, const struct perfile_sink *sink)
{
    struct pf_input *input = run->at;
    const struct perfile_output_options *print = &input->settings->print;
    struct perfile_table_options options = PERFILE_TABLE_OPTIONS_INIT;
    struct perfile_table *table;
    int result;

    options.filter = filter;
    options.symbols = print->symbols;
    options.report = print->report;
    options.columns = input->settings->columns;
    options.keys = input->settings->keys;
    options.gzip = run->stream.gzip;
    options.events = print->events;
    options.threads = print->threads;
    options.progress = print->progress;
    options.progress_context = print->progress_context;
    options.unmatched = print->unmatched;
    options.unmatched_context = print->unmatched_context;
    options.text_width = isatty(run->stream.fd) ? pf_terminal_columns(run->stream.fd) : 0;
    result = perfile_table_open(input->reader, input->settings->view, &options, &table, &input->error);
    if (result == 0)
        result = perfile_table_write(table, input->settings->format, sink, &input->error);
    perfile_table_close(table);
    return result;
}

static int write_all(struct run *run, const struct perfile_sink *sink)
{
    struct pf_input *input = &run->input;
    const struct pf_settings *settings = input->settings;

    if (settings->view)
        return write_table(run, settings->print.filter, sink);
    return perfile_output_write(input->reader, kind_of(run), settings->format, &settings->print, sink, &input->error);
}

static bool is_binary(const struct run *run)
{
    const struct pf_settings *settings = run->input.settings;
    const struct perfile_output_info *info;

    if (settings->view)
        return perfile_table_format_is_binary(settings->format);
    for (size_t i = 0; (info = perfile_output_at(i)) != NULL; i++)
        if (!strcmp(info->kind, kind_of(run)) && !strcmp(info->format, settings->format))
            return info->binary;
    return false;
}

static int check_terminal(const struct run *run)
{
    const char *format = run->input.settings->format;

    if (!format || !is_binary(run))
        return PF_STATUS_OK;
    return pf_stream_check_binary(&run->stream, run->input.command->name, format);
}

/* The table for people. */
static bool prints_report(const struct run *run)
{
    const struct pf_settings *settings = run->input.settings;

    return !strcmp(kind_of(run), "report") && !settings->view &&
           (!settings->format || !strcmp(settings->format, "text"));
}

static bool prints_counts(const struct run *run)
{
    const char *format = run->input.settings->format;

    return !strcmp(kind_of(run), "stat") && (!format || !strcmp(format, "text"));
}

/*
 * Unless it is perf's text: on a terminal in its width; a report in a pipe or file has a row a line, of any length. A
 * pipe, a file or a terminal that cannot move its cursor, which has no pager, gets the rows that matter.
 */
static void fit_output(struct run *run)
{
    enum { MAX_UNASKED = 30 };
    const struct pf_settings *settings = run->input.settings;
    struct perfile_report_options *report = &run->input.settings->report;

    report->top = settings->all_rows ? 0 : report->top;
    if (report->columns || report->widths || settings->stdio)
        return;
    const bool is_terminal = isatty(run->stream.fd);
    if ((prints_report(run) || prints_counts(run)) && is_terminal)
        report->columns = pf_terminal_columns(run->stream.fd);
    else if (prints_report(run) && !pf_called_perf())
        report->columns = UINT64_MAX;
    if (prints_report(run) && !pf_called_perf() && !(is_terminal && pf_is_terminal(run->stream.fd)))
        report->top = settings->all_rows || report->top ? report->top : MAX_UNASKED;
}

/* Sets the output options for the recording that is read next. */
static void aim(struct run *run, struct pf_input *input)
{
    struct pf_settings *settings = input->settings;

    run->at = input;
    settings->symbols.recording = input->name;
    settings->symbols.note = pf_log_note;
    settings->symbols.note_context = &input->log;
    settings->print.unmatched = note_unmatched;
    settings->print.unmatched_context = run;
}

static void prepare(struct run *run)
{
    struct pf_input *input = &run->input;
    struct perfile_output_options *options = &input->settings->print;

    options->gzip = run->stream.gzip;
    options->color = pf_wants_color(input->settings->color, run->stream.fd);
    input->settings->script.escape_names = isatty(run->stream.fd); /* in a pipe the names are perf's */
    fit_output(run);
    input->settings->report.flags |= input->settings->quiet ? PERFILE_REPORT_NO_HEADER : 0; /* as perf */
    options->threads = pf_thread_count(input->settings);
    if (!input->source && pf_progress_start(&run->progress, input->command->name)) {
        options->progress = pf_progress_update;
        options->progress_context = &run->progress;
    }
    aim(run, input);
    input->settings->symbols.trouble = pf_advice_take;
    input->settings->symbols.trouble_context = &run->advice;
    run->advice.names_modules = prints_report(run) && !input->settings->report.columns;
}

static int finish(struct run *run, int result)
{
    struct pf_input *input = &run->input;
    int status;

    pf_progress_clear();
    pf_log_finish(&input->log);
    if (run->before.reader)
        pf_log_finish(&run->before.log);
    for (size_t i = 0; i < run->more.count; i++)
        pf_log_finish(&run->more.inputs[i].log);
    status = status_of(run, result);
    if (status <= PF_STATUS_FINDINGS && !run->stream.error &&
        (pf_input_losses(input) | pf_input_losses(&run->before) | pf_inputs_losses(&run->more)))
        status = PF_STATUS_FINDINGS;
    if (status != PF_STATUS_OK || !input->settings->fail_empty || !is_empty(run))
        return status;
    pf_message("%s: there is nothing to show (--fail-empty)", input->log.input);
    return PF_STATUS_FINDINGS;
}

static int print(struct run *run)
{
    struct perfile_sink sink = {&run->stream, pf_stream_write};

    prepare(run);
    return finish(run, write_all(run, &sink));
}

/* ---- a folder of views ------------------------------------------------------------------------------------------- */

const struct pf_part pf_ctf_parts[] = {{.view = "metadata", .output = "ctf"}, {.view = "stream", .output = "ctf"}, {0}};

/* NULL: out of memory. */
static char *part_path(const struct run *run, const char *folder, const struct pf_part *part)
{
    char *path = NULL;
    const char *suffix = part->output ? "" : run->input.settings->format;

    return asprintf(&path, "%s/%s%s%s", folder, part->view, *suffix ? "." : "", suffix) < 0 ? NULL : path;
}

static int out_of_memory(const struct run *run)
{
    return pf_out_of_memory(run->input.command->name);
}

/* A status; what the library has returned is in *result. */
static int write_part(struct run *run, const char *folder, const struct pf_part *part, int *result)
{
    struct pf_settings *settings = run->input.settings;
    struct perfile_sink sink = {&run->stream, pf_stream_write};
    char *path = part_path(run, folder, part);
    int status = path ? pf_stream_open(&run->stream, path) : out_of_memory(run);

    if (!status && part->output) {
        *result =
            perfile_output_write(run->at->reader, part->output, part->view, &settings->print, &sink, &run->at->error);
        status = pf_stream_close(&run->stream, *result >= 0);
    } else if (!status) {
        settings->view = part->view;
        settings->columns = part->columns;
        settings->keys = part->keys;
        *result = write_table(run, part->complete ? NULL : settings->print.filter, &sink);
        status = pf_stream_close(&run->stream, *result >= 0);
    }
    free(path);
    return status;
}

/* Reads the recording for each view; what is wrong with it is reported the first time. */
static int write_parts(struct run *run, const char *folder, int *result)
{
    struct pf_input *input = run->at;
    int status = PF_STATUS_OK;

    for (const struct pf_part *part = input->settings->parts; part->view && *result >= 0 && !status; part++) {
        input->log.over = run->advice.over = part != input->settings->parts;
        if (input->log.over)
            *result = perfile_reader_rewind(input->reader, &input->error);
        if (*result >= 0)
            status = write_part(run, folder, part, result);
    }
    input->log.over = false;
    return status;
}

static struct pf_input *nth_input(struct run *run, size_t nth)
{
    return nth ? &run->more.inputs[nth - 1] : &run->input;
}

static const char *file_name(const struct pf_input *input)
{
    const char *slash = strrchr(input->name, '/');

    return slash && slash[1] ? slash + 1 : input->name;
}

/* Replaces characters that some file systems or readers do not accept. */
static char plain(char c)
{
    static const char known[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

    return (char)(!c || strchr(known, c) ? c : '_');
}

static bool is_same_name(const char *a, const char *b)
{
    for (; *a && plain(*a) == plain(*b); a++)
        b++;
    return plain(*a) == plain(*b);
}

static bool has_own_name(struct run *run, size_t nth)
{
    for (size_t i = 0; i <= run->more.count; i++)
        if (i != nth && is_same_name(file_name(nth_input(run, i)), file_name(nth_input(run, nth))))
            return false;
    return true;
}

/*
 * Each of several recordings has a folder recording=NAME in `folder`, from which readers make a column. If names are
 * equal, the number of the recording comes before the name. NULL: out of memory.
 */
static char *recording_path(struct run *run, const char *folder, size_t nth)
{
    char position[24] = "", *path = NULL;

    if (!run->more.count)
        return strdup(folder);
    if (!has_own_name(run, nth))
        snprintf(position, sizeof(position), "%zu-", nth + 1);
    if (asprintf(&path, "%s/recording=%s%s", folder, position, file_name(nth_input(run, nth))) < 0)
        return NULL;
    for (char *name = path + strlen(folder) + strlen("/recording="); *name; name++)
        *name = plain(*name);
    return path;
}

static int write_recording(struct run *run, const char *folder, size_t nth, int *result)
{
    char *path = recording_path(run, folder, nth);
    int status = path ? PF_STATUS_OK : out_of_memory(run);

    aim(run, nth_input(run, nth));
    if (!status && run->more.count && mkdir(path, 0777) != 0) {
        pf_message("%s: cannot write: %s", path, strerror(errno));
        status = PF_STATUS_OUTPUT;
    }
    if (!status)
        status = write_parts(run, path, result);
    free(path);
    return status;
}

static int write_recordings(struct run *run, const char *folder)
{
    int result = 0, status = PF_STATUS_OK;

    prepare(run);
    for (size_t i = 0; i <= run->more.count && result >= 0 && !status; i++)
        status = write_recording(run, folder, i, &result);
    return status ? status : finish(run, result);
}

static void remove_parts(struct run *run, const char *folder, size_t nth)
{
    char *recording = recording_path(run, folder, nth);

    for (const struct pf_part *part = run->input.settings->parts; recording && part->view; part++) {
        char *path = part_path(run, recording, part);
        if (path)
            unlink(path);
        free(path);
    }
    if (recording)
        rmdir(recording);
    free(recording);
}

static void remove_folder(struct run *run, const char *folder)
{
    for (size_t i = 0; i <= run->more.count; i++)
        remove_parts(run, folder, i);
    rmdir(folder);
}

/* Writes a folder that appears atomically; the path must not exist, or be an empty folder. */
static int write_folder(struct run *run)
{
    const struct pf_settings *settings = run->input.settings;
    char *folder = NULL;
    int status = PF_STATUS_OUTPUT, error = 0;

    if (asprintf(&folder, "%s.%ld.tmp", settings->output, (long)getpid()) < 0)
        return out_of_memory(run);
    pf_litter_sweep(settings->output);
    pf_litter_add(folder);
    if (mkdir(folder, 0777) != 0) {
        error = errno;
    } else {
        status = write_recordings(run, folder);
        if (status <= PF_STATUS_FINDINGS && rename(folder, settings->output) != 0)
            error = errno;
        if (error || status > PF_STATUS_FINDINGS)
            remove_folder(run, folder);
    }
    pf_litter_drop(folder);
    free(folder);
    if (!error)
        return status;
    pf_message("%s: cannot write: %s", settings->output, strerror(error));
    return PF_STATUS_OUTPUT;
}

/* ---- a file for each event --------------------------------------------------------------------------------------- */

/* Of the first event with its name. NULL: out of memory. */
static char *event_path(const struct run *run, const struct perfile_event *event)
{
    char *path = NULL;

    if (asprintf(&path, "%s.%s.dump", run->input.name, event->name) < 0)
        return NULL;
    for (char *at = path + strlen(run->input.name); (at = strchr(at, '/')) != NULL;)
        *at = '_';
    return path;
}

static int write_event(struct run *run, const struct perfile_event *event, int *result)
{
    struct perfile_sink sink = {&run->stream, pf_stream_write};
    char *path = event_path(run, event);
    int status = path ? pf_stream_open(&run->stream, path) : out_of_memory(run);

    if (!status) {
        run->input.settings->filter.events = event->name;
        *result = write_all(run, &sink);
        status = pf_stream_close(&run->stream, *result >= 0);
        if (!status && *result >= 0 && !run->input.settings->quiet)
            pf_message("%s: the samples of %s", path, event->name);
    }
    free(path);
    return status;
}

static bool has_name_before(const struct perfile_reader *reader, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (!strcmp(perfile_event_get(reader, i)->name, perfile_event_get(reader, index)->name))
            return true;
    return false;
}

/* Reads the recording for each event; what is wrong with it is reported the first time. */
static int write_events(struct run *run)
{
    struct pf_input *input = &run->input;
    int result = 0, status = PF_STATUS_OK;

    if (perfile_reader_file(input->reader)->mode == PERFILE_MODE_PIPE) {
        pf_message("%s: the events of a stream are not known beforehand: perfile convert makes a file of it",
                   input->name);
        return PF_STATUS_USAGE;
    }
    prepare(run);
    for (size_t i = 0; i < perfile_event_count(input->reader) && result >= 0 && !status; i++) {
        if (has_name_before(input->reader, i))
            continue;
        input->log.over = run->advice.over = i > 0;
        if (input->log.over)
            result = perfile_reader_rewind(input->reader, &input->error);
        if (result >= 0)
            status = write_event(run, perfile_event_get(input->reader, i), &result);
    }
    input->log.over = false;
    return status ? status : finish(run, result);
}

/* Events of streams are known only while they are read. */
static int choose_events(struct run *run)
{
    const struct pf_input *input = &run->input;
    struct stat about;

    if (!input->settings->per_event)
        return PF_STATUS_OK;
    if (!strcmp(input->name, "-") || (!stat(input->name, &about) && !S_ISREG(about.st_mode))) {
        pf_message("%s: --per-event-dump needs a recording that is a file", input->command->name);
        return PF_STATUS_USAGE;
    }
    return PF_STATUS_OK;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static int write_output(struct run *run)
{
    int status = pf_stream_open(&run->stream, run->input.settings->output), written;

    run->input.settings->flame.before = run->before.reader;
    run->input.settings->events.before = run->before.reader;
    run->input.settings->flame.before_path = run->before.name;
    run->input.settings->print.more = run->more.readers;
    run->input.settings->print.more_paths = run->more.paths;
    run->input.settings->print.more_count = run->more.count;
    if (!status) {
        const bool is_table =
            run->input.settings->view && !run->input.settings->at_once && pf_is_terminal(run->stream.fd);
        run->stream.keeps_old = run->input.settings->keeps_old;
        status = check_terminal(run);
        if (is_table) /* the answer first, then what there is to know about it */
            pf_message_hold();
        status = status ? status : print(run);
        written = pf_stream_close(&run->stream, status <= PF_STATUS_FINDINGS);
        if (is_table)
            pf_message_release();
        status = written ? written : status;
    }
    if (status <= PF_STATUS_FINDINGS)
        pf_viewer_show();
    return status;
}

/* Where an option was refused, nothing about the recording changes the answer. */
static void advise(struct run *run, int status)
{
    struct pf_input *input = &run->input;

    run->advised = true;
    if (status == PF_STATUS_USAGE && !(was_read(run) && is_empty(run))) {
        pf_advice_discard(&run->advice);
        return;
    }
    if (input->reader && input->settings->advises_views)
        pf_advice_fitting(input->reader, input->log.input);
    pf_advice_give(&run->advice, input->log.input);
    if (input->reader && !input->settings->dump.aux)
        pf_advice_missing(input->reader, input->log.input, input->settings->calls);
}

/* The interactive view shows what is printed here. */
static int report_end(void *context)
{
    struct run *run = context;

    pf_log_finish(&run->input.log);
    const int status = pf_input_losses(&run->input);
    advise(run, status);
    return status;
}

static int show(struct run *run)
{
    const struct pf_tui_end end = {report_end, run};

    run->input.settings->print.threads = pf_thread_count(run->input.settings);
    aim(run, &run->input);
    run->input.settings->symbols.trouble = pf_advice_take;
    run->input.settings->symbols.trouble_context = &run->advice;
    return pf_tui_run(&run->input, &end);
}

/* Reads from the pipe; before there is something to wait for, what was made of the bytes before is written. */
static int64_t read_piped(void *context, void *to, size_t bytes)
{
    struct run *run = context;
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    ssize_t got;

    if (poll(&input, 1, 0) == 0)
        pf_stream_flush(&run->stream);
    while ((got = read(STDIN_FILENO, to, bytes)) < 0 && errno == EINTR)
        continue;
    return got;
}

static void read_at_once(struct run *run)
{
    struct stat about;

    if (!run->input.settings->at_once || strcmp(run->input.name, "-") != 0 || fstat(STDIN_FILENO, &about) < 0 ||
        !S_ISFIFO(about.st_mode))
        return;
    run->source = (struct perfile_source)PERFILE_SOURCE_INIT;
    run->source.context = run;
    run->source.read = read_piped;
    run->input.source = &run->source;
}

static int read_and_write(struct run *run, const struct pf_command *command, struct pf_settings *settings)
{
    int status;

    if ((status = pf_input_choose(&run->input, command, settings)) || (status = choose_before(run)) ||
        (status = choose_more(run)) || (status = check_output(run)) || (status = choose_events(run)))
        return status;
    read_at_once(run);
    if (settings->viewer && settings->output)
        pf_viewer_prepare(settings->viewer, settings->output);
    if (settings->tui)
        pf_tui_prepare();
    if (settings->tui && settings->advises_views && !pf_advice_unwanted())
        pf_handover_prepare(run->input.name);
    pf_sandbox_enter(command, settings);
    if ((status = pf_input_open(&run->input)) || (run->before.name && (status = pf_input_open(&run->before))) ||
        (status = pf_inputs_open(&run->more)))
        return status;
    if (settings->per_event)
        return write_events(run);
    if (settings->tui)
        return show(run);
    return settings->parts ? write_folder(run) : write_output(run);
}

/* What -D asks for, whatever the verb prints otherwise. */
static int choose_dump(const struct pf_command *command, struct pf_settings *settings)
{
    if (settings->format && strcmp(settings->format, "text") != 0) {
        pf_message("%s: -D prints text; perfile dump has other formats", command->name);
        return PF_STATUS_USAGE;
    }
    settings->format = settings->view = NULL;
    settings->parts = NULL;
    settings->kind = "dump";
    settings->dump.perf_heads = true;
    return PF_STATUS_OK;
}

int pf_run_output(const struct pf_command *command, struct pf_settings *settings)
{
    struct run run = {.at = &run.input};
    int status = settings->dumps ? choose_dump(command, settings) : PF_STATUS_OK;

    if (status)
        return status;
    status = read_and_write(&run, command, settings);

    if (status == PF_STATUS_USAGE && settings->fail_empty && was_read(&run) && is_empty(&run))
        status = PF_STATUS_FINDINGS; /* flame graphs of nothing are errors anyway */
    if (settings->tui)
        pf_message_release(); /* when the view could not begin */
    if (!run.advised)
        advise(&run, status); /* after the pager */
    pf_inputs_close(&run.more);
    perfile_close(run.before.reader);
    perfile_close(run.input.reader);
    return status;
}
