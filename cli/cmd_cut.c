/* SPDX-License-Identifier: MIT */
#include "edit.h"
#include "guess.h"
#include "litter.h"
#include "rows.h"
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct settings {
    const char *cgroups, *split; /* NULL: not given */
    uint64_t every, samples;     /* 0: not given */
    uint64_t limit_parts, limit_open;
};

static const struct pf_option options[] = {
    PF_ROW(TEXT, "cgroup", 0, "LIST", PF_OWN(cgroups),
           "Only samples of these cgroups and those below them: /system.slice,/user.slice."),
    PF_ROW(NUMBER, "every", 0, "N", PF_OWN(every),
           "Keep every Nth of these samples of each event; its period becomes the sum of the periods of the N."),
    PF_ROW(NUMBER, "samples", 0, "N", PF_OWN(samples),
           "Keep at most N of these samples, evenly spread, with periods summed in the same way."),
    PF_ROW(TEXT, "split", 0, "BY", PF_OWN(split),
           "Write several recordings: BY is time=DURATION (10ms, 1.5s), size=BYTES (100M), pid, tid, cpu, event or "
           "comm. A % in -o FILE is replaced by the number, id or name of each part."),
    PF_ROW(NUMBER, "limit-parts", 0, "N", PF_OWN(limit_parts),
           "At most N parts [65536]. With N, parts may also repeat any number of records of processes and the "
           "kernel; otherwise 4 GiB and 64 times the recording are the limit."),
    PF_ROW(NUMBER, "limit-open", 0, "N", PF_OWN(limit_open),
           "Write at most N parts at the same time [64], using 400 KB of memory each, 1.5 MB with compression; for "
           "more parts the recording is read again."),
    PF_OPTION_REPORT_FORMAT,
    {0},
};

static struct perfile_cut_options cut_options(const struct pf_settings *settings,
                                              const struct perfile_edit_options *edit_options)
{
    struct perfile_cut_options made = PERFILE_CUT_OPTIONS_INIT;

    made.filter = &settings->filter;
    made.cgroups = pf_own(settings)->cgroups;
    made.every = pf_own(settings)->every;
    made.samples = pf_own(settings)->samples;
    made.edit = edit_options;
    made.unmatched = settings->print.unmatched;
    made.unmatched_context = settings->print.unmatched_context;
    return made;
}

/* ---- input that must be read twice ---- */

static bool reads_twice(const struct pf_settings *settings)
{
    const struct perfile_filter *filter = &settings->filter;

    return pf_own(settings)->split || pf_own(settings)->every > 1 || pf_own(settings)->samples ||
           pf_own(settings)->cgroups || filter->comms || (filter->time && strpbrk(filter->time, "%+"));
}

static bool write_all(int to, const char *data, size_t bytes)
{
    while (bytes) {
        ssize_t done = write(to, data, bytes);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        data += done;
        bytes -= (size_t)done;
    }
    return true;
}

/* Read errors are ignored here: they occur again later, where they are reported. */
static bool copy_all(int from, int to)
{
    char *data = malloc(1 << 20);
    bool complete = data;
    ssize_t got;

    while (complete && ((got = read(from, data, 1 << 20)) > 0 || (got < 0 && errno == EINTR)))
        complete = got < 0 || write_all(to, data, (size_t)got);
    free(data);
    return complete && lseek(to, 0, SEEK_SET) == 0;
}

/* A stream becomes a temporary file, which takes the place of standard input. */
static int spool(const struct pf_command *command, struct pf_settings *settings)
{
    const char *name = settings->operand_count ? settings->operands[0] : settings->input;
    struct stat status;

    if (!name || !reads_twice(settings))
        return PF_STATUS_OK;
    const bool standard = !strcmp(name, "-");
    if ((standard ? fstat(STDIN_FILENO, &status) : stat(name, &status)) ||
        !(S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)))
        return PF_STATUS_OK;
    int from = standard ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC), to = pf_temporary_file();
    bool copied = from >= 0 && to >= 0 && copy_all(from, to) && dup2(to, STDIN_FILENO) == STDIN_FILENO;
    if (!copied)
        pf_message("%s: %s cannot be copied to a temporary file: %s", command->name, standard ? "standard input" : name,
                   strerror(errno));
    if (!standard && from >= 0)
        close(from);
    if (to > STDIN_FILENO)
        close(to);
    settings->operand_count = 0;
    settings->input = "-";
    return copied ? PF_STATUS_OK : PF_STATUS_UNREADABLE;
}

/* ---- what to split by ---- */

struct way {
    const char *name;
    int by;
    const char *unit; /* the value after "=", or NULL */
};
static const struct way ways[] = {
    {"time", PERFILE_SPLIT_TIME, "DURATION"}, {"size", PERFILE_SPLIT_SIZE, "BYTES"},
    {"pid", PERFILE_SPLIT_PID, NULL},         {"tid", PERFILE_SPLIT_TID, NULL},
    {"cpu", PERFILE_SPLIT_CPU, NULL},         {"event", PERFILE_SPLIT_EVENT, NULL},
    {"comm", PERFILE_SPLIT_COMM, NULL},       {NULL, 0, NULL},
};

struct unit {
    const char *name;
    double factor;
};
static const struct unit durations[] = {{"", 1e9}, {"s", 1e9},  {"ms", 1e6},   {"us", 1e3},
                                        {"ns", 1}, {"m", 60e9}, {"h", 3600e9}, {NULL, 0}};
static const struct unit sizes[] = {
    {"", 1}, {"K", 1024}, {"M", 1048576.0}, {"G", 1073741824.0}, {"T", 1099511627776.0}, {NULL, 0}};

static bool parse_step(const char *text, const struct unit *units, uint64_t *step)
{
    char *end;
    double value = *text >= '0' && *text <= '9' ? strtod(text, &end) : -1;

    for (; value >= 0 && units->name; units++)
        if (!strcmp(end, units->name)) {
            value *= units->factor;
            *step = value < 1e19 ? (uint64_t)value : 0;
            return *step > 0;
        }
    return false;
}

static bool parse_way(const char *text, const struct way **way, struct perfile_split_options *split)
{
    size_t bytes = strcspn(text, "=");

    for (const struct way *w = ways; w->name; w++) {
        if (strlen(w->name) != bytes || memcmp(w->name, text, bytes))
            continue;
        *way = w;
        split->by = w->by;
        if (!w->unit)
            return !text[bytes];
        return text[bytes] &&
               parse_step(text + bytes + 1, w->by == PERFILE_SPLIT_TIME ? durations : sizes, &split->step);
    }
    *way = NULL;
    return false;
}

static int refuse_way(const struct pf_command *command, const char *text, const struct way *way)
{
    struct pf_guess guess = pf_guess_start(text);
    char suggestion[80];

    for (const struct way *known = ways; known->name; known++)
        pf_guess_offer(&guess, known->name);
    if (way && way->unit)
        pf_message("%s: --split %s: needs a %s, as in --split %s=%s", command->name, text,
                   way->by == PERFILE_SPLIT_TIME ? "duration" : "size", way->name,
                   way->by == PERFILE_SPLIT_TIME ? "10ms" : "100M");
    else
        pf_message("%s: unknown --split %s%s (valid: time=DURATION, size=BYTES, pid, tid, cpu, event, comm)",
                   command->name, text, pf_guess_text(&guess, "", suggestion, sizeof(suggestion)));
    return PF_STATUS_USAGE;
}

/* ---- the parts ---- */

struct part {
    char *path;
    struct perfile_writer_counts counts;
};

struct splitting {
    struct pf_input input;
    const char *pattern;
    struct pf_log log;
    struct pf_progress progress;
    struct perfile_edit_report report;
    struct part *parts;
    size_t part_count;
    bool json;
};

enum { NAME_MAX_BYTES = 100, VALUE_BYTES = NAME_MAX_BYTES + 32 };

/* Names are kept but for what no file name can have; what is changed gets a number, so that no two are the same. */
static void name_text(const struct perfile_split_part *part, char text[VALUE_BYTES])
{
    size_t n = 0;
    bool changed = !*part->name || *part->name == '.' || *part->name == '-';

    for (const char *c = part->name; *c && n < NAME_MAX_BYTES; c++, n++) {
        const bool fine = (unsigned char)*c >= ' ' && *c != '/' && *c != '~' && *c != 127;
        text[n] = fine && !(n == 0 && changed) ? *c : '_';
        changed |= !fine;
    }
    text[n] = 0;
    if (changed || part->name[n])
        snprintf(text + n, VALUE_BYTES - n, "~%zu", part->index + 1);
}

static void value_text(const struct perfile_split_part *part, char text[VALUE_BYTES])
{
    if (part->value == UINT64_MAX)
        snprintf(text, VALUE_BYTES, "unknown~");
    else if (part->by <= PERFILE_SPLIT_SIZE)
        snprintf(text, VALUE_BYTES, "%04" PRIu64, part->value + 1);
    else if (part->name)
        name_text(part, text);
    else
        snprintf(text, VALUE_BYTES, "%" PRId32, (int32_t)part->value);
}

/* NULL: out of memory. */
static char *part_path(const char *pattern, const struct perfile_split_part *part)
{
    char value[VALUE_BYTES];
    value_text(part, value);
    size_t capacity = 1;
    for (const char *c = pattern; *c; c++)
        capacity += *c == '%' ? strlen(value) : 1;
    char *path = malloc(capacity), *at = path;
    for (const char *c = pattern; path && *c; c++) {
        if (*c != '%' || c[1] == '%') {
            *at++ = *c;
            c += *c == '%';
            continue;
        }
        memcpy(at, value, strlen(value));
        at += strlen(value);
    }
    if (path)
        *at = 0;
    return path;
}

static bool has_placeholder(const char *pattern)
{
    for (const char *c = pattern; *c; c++)
        if (*c == '%') {
            if (c[1] != '%')
                return true;
            c++;
        }
    return false;
}

static int fail(struct perfile_error *error, int code, const char *format, const char *path)
{
    *error = (struct perfile_error){.code = code, .offset = PERFILE_NO_OFFSET};
    snprintf(error->message, sizeof(error->message), format, path);
    return code;
}

static int open_part(void *context, const struct perfile_split_part *part, struct perfile_writer **writer,
                     struct perfile_error *error)
{
    struct splitting *splitting = context;

    if (part->index >= splitting->part_count) {
        struct part *parts = realloc(splitting->parts, (part->index + 1) * sizeof(*parts));
        if (!parts)
            return fail(error, PERFILE_ERROR_MEMORY, "%s: out of memory", "split");
        splitting->parts = parts;
        memset(parts + splitting->part_count, 0, (part->index + 1 - splitting->part_count) * sizeof(*parts));
        splitting->part_count = part->index + 1;
    }
    struct part *made = &splitting->parts[part->index];
    made->path = part_path(splitting->pattern, part);
    if (!made->path)
        return fail(error, PERFILE_ERROR_MEMORY, "%s: out of memory", "split");
    if (pf_is_same_file(splitting->input.name, made->path))
        return fail(error, PERFILE_ERROR_ARGUMENT, "%s is the input recording", made->path);
    splitting->log.input = made->path;
    const struct perfile_writer_options how = pf_writing_options(&splitting->input, made->path, &splitting->log);
    return perfile_writer_open_path(made->path, &how, writer, error);
}

static int close_part(void *context, const struct perfile_split_part *part, struct perfile_writer *writer,
                      bool complete, struct perfile_error *error)
{
    struct splitting *splitting = context;
    int result = complete ? perfile_writer_finish(writer, error) : 0;

    splitting->parts[part->index].counts = *perfile_writer_progress(writer);
    perfile_writer_close(writer);
    return result;
}

/* ---- the report ---- */

static void print_json(const struct splitting *splitting)
{
    struct pf_json_writer json = pf_json_writer_to_file(stdout);

    pf_json_writer_begin(&json, NULL, false);
    pf_report_json(&splitting->report, &json);
    pf_json_writer_begin(&json, "parts", true);
    for (size_t i = 0; i < splitting->part_count; i++) {
        const struct part *part = &splitting->parts[i];

        pf_json_writer_begin(&json, NULL, false);
        pf_json_writer_text(&json, "file", part->path);
        pf_json_writer_number(&json, "records", part->counts.records);
        pf_json_writer_number(&json, "samples", part->counts.samples);
        pf_json_writer_number(&json, "bytes", part->counts.bytes);
        pf_json_writer_end(&json, false);
    }
    pf_json_writer_end(&json, true);
    pf_json_writer_end(&json, false);
    pf_json_writer_finish(&json);
}

static void print_text(const struct splitting *splitting)
{
    for (size_t i = 0; i < splitting->part_count; i++) {
        const struct part *part = &splitting->parts[i];
        pf_report_records(stdout, part->path, part->counts.records, "records", part->counts.samples);
        printf("\n");
    }
    char parts[PF_COUNTED_BYTES];
    pf_report_text(&splitting->report, pf_counted(splitting->part_count, "parts", parts), stdout);
}

static void put_part(void *context, size_t row, size_t column, struct perfile_value *value)
{
    const struct part *part = &((const struct splitting *)context)->parts[row];
    const uint64_t counts[] = {part->counts.records, part->counts.samples, part->counts.bytes};

    *value = column ? pf_number_value(counts[column - 1]) : pf_text_value(part->path);
}

static int print_rows(struct splitting *splitting)
{
    const struct perfile_column *const columns[] = {
        PF_COLUMN("file", PERFILE_COLUMN_TEXT, "the part"),
        PF_COLUMN("records", PERFILE_COLUMN_U64, "records in it"),
        PF_COLUMN("samples", PERFILE_COLUMN_U64, "samples, which are among these"),
        PF_COLUMN_IN("bytes", "bytes", PERFILE_COLUMN_BYTES, "its size"),
    };
    const struct pf_rows rows = {.view = "parts",
                                 .columns = columns,
                                 .column_count = sizeof(columns) / sizeof(columns[0]),
                                 .row_count = splitting->part_count,
                                 .value = put_part,
                                 .context = splitting};

    return pf_rows_print(&rows, "cut", NULL, splitting->input.settings->format);
}

static int print_report(struct splitting *splitting)
{
    if (pf_report_is_table(splitting->input.settings->format))
        return print_rows(splitting);
    if (splitting->json)
        print_json(splitting);
    else if (!splitting->input.settings->quiet)
        print_text(splitting);
    if (fflush(stdout) == 0)
        return PF_STATUS_OK;
    pf_message("cut: the report cannot be written");
    return PF_STATUS_OUTPUT;
}

/* ---- from end to end ---- */

static int write_parts(struct splitting *splitting, const struct perfile_split_options *split)
{
    struct perfile_edit_options edit_options = PERFILE_EDIT_OPTIONS_INIT;
    struct perfile_error *error = &splitting->input.error;

    if (pf_progress_start(&splitting->progress, "cut")) {
        edit_options.progress = pf_progress_update;
        edit_options.progress_context = &splitting->progress;
    }
    splitting->input.settings->print.unmatched = pf_log_unmatched;
    splitting->input.settings->print.unmatched_context = &splitting->input.log;
    const struct perfile_cut_options cut = cut_options(splitting->input.settings, &edit_options);
    int result = perfile_split(splitting->input.reader, &cut, split, &splitting->report, error);
    pf_progress_clear();
    pf_log_finish(&splitting->input.log);
    pf_log_finish(&splitting->log);
    if (result == 0)
        return PF_STATUS_OK;
    if (result != PERFILE_ERROR_WRITE && result != PERFILE_ERROR_OPEN)
        return pf_input_failure(&splitting->input, result);
    pf_message("cut: %s", error->message);
    return PF_STATUS_OUTPUT;
}

static int run_split(const struct pf_command *command, struct pf_settings *settings)
{
    struct splitting splitting = {.pattern = settings->output, .report = PERFILE_EDIT_REPORT_INIT};
    struct perfile_split_options split = PERFILE_SPLIT_OPTIONS_INIT;
    const struct way *way;
    int status;

    if (!parse_way(pf_own(settings)->split, &way, &split))
        return refuse_way(command, pf_own(settings)->split, way);
    if (!settings->output || !has_placeholder(settings->output)) {
        pf_message("%s: --split needs -o FILE with a %% for the part's number or name", command->name);
        return PF_STATUS_USAGE;
    }
    split.limit_parts = pf_own(settings)->limit_parts;
    split.limit_open = pf_own(settings)->limit_open;
    split.context = &splitting;
    split.open = open_part;
    split.close = close_part;
    splitting.json = settings->format && !strcmp(settings->format, "json");
    if ((status = pf_report_check(command->name, settings->output, settings->format)) ||
        (status = pf_input_choose(&splitting.input, command, settings)))
        return status;
    pf_sandbox_enter(command, settings);
    if ((status = pf_input_open(&splitting.input)))
        return status;
    pf_litter_add_parts(settings->output);
    status = write_parts(&splitting, &split);
    if (!status)
        status = print_report(&splitting);
    if (!status)
        status = pf_input_losses(&splitting.input);
    perfile_close(splitting.input.reader);
    for (size_t i = 0; i < splitting.part_count; i++)
        free(splitting.parts[i].path);
    free(splitting.parts);
    return status;
}

static int cut(struct perfile_reader *reader, struct perfile_writer *writer, const struct pf_settings *settings,
               const struct perfile_edit_options *edit_options, struct perfile_edit_report *report,
               struct perfile_error *error)
{
    const struct perfile_cut_options how = cut_options(settings, edit_options);

    return perfile_cut(reader, writer, &how, report, error);
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    int status = spool(command, settings);

    settings->splits_output = pf_own(settings)->split;
    if (status)
        return status;
    return pf_own(settings)->split ? run_split(command, settings) : pf_run_edit(command, settings, cut);
}

const struct pf_command pf_command_cut = {
    .name = "cut",
    .summary = "keep some samples of a recording, or split it into several",
    .doc = "Writes a recording with only the matching samples and all that readers need to interpret them: maps, "
           "names, kernel symbols and header features. Records are copied byte for byte; only --every and --samples "
           "change their periods. With --split the samples go to several recordings, each complete in itself.",
    PF_ONE_RECORDING,
    .own_bytes = sizeof(struct settings),
    .groups = {PF_GROUP("Options", options), &pf_filter_group, &pf_writing_group, &pf_serial_group, &pf_limit_group,
               &pf_common_group},
    .run = run,
};
