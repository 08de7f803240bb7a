/* SPDX-License-Identifier: MIT */
#include "baseline.h"
#include "diff.h"
#include "inputs.h"
#include "message.h"
#include "sandbox.h"

#include <perfile/table.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- options ----------------------------------------------------------------------------------------------------- */

#define OWN(member) PF_OWN_OF(struct pf_diff_settings, member)

static const struct {
    const char *name, *doc;
    void (*put)(const struct pf_diff_output *output);
} formats[] = {
    {"junit", "XML for continuous integration: a test for each row that counts", pf_diff_put_junit},
    {"github", "annotations of GitHub Actions", pf_diff_put_github},
    {"folded", "call paths with the weights before and after, as difffolded.pl prints them", pf_diff_put_folded},
    {"html", "a page with a flame graph of what changed, without colours for noise where there are several recordings",
     NULL},
};
enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

/* The formats of tables, then those of diff. */
static const char *format_at(size_t index, const char **doc)
{
    size_t of_tables = 0;
    const char *name;

    while ((name = perfile_table_format_at(of_tables, doc)) != NULL && of_tables++ != index)
        ;
    if (name)
        return name;
    index -= of_tables;
    *doc = index < FORMATS ? formats[index].doc : NULL;
    return index < FORMATS ? formats[index].name : NULL;
}

static const char *column_at(size_t index, const char **doc)
{
    struct perfile_column column = PERFILE_COLUMN_INIT;

    if (perfile_view_column("diff", index, &column) < 0)
        return NULL;
    *doc = column.doc;
    return column.name;
}

static const struct pf_value keys[] = {
    {"function", "functions of binaries"},
    {"symbol", "the same"},
    {"sym", "the same"},
    {"module", "binaries"},
    {"dso", "the same"},
    {"line", "source lines"},
    {"srcline", "the same"},
    {"srcfile", "source files"},
    {"thread", "threads, by name"},
    {"comm", "the same"},
    {"path", "call paths"},
};
enum { KEYS = sizeof(keys) / sizeof(keys[0]) };

static bool is_own_key(const char *word, size_t bytes)
{
    for (size_t i = 0; i < KEYS; i++)
        if (strlen(keys[i].name) == bytes && !memcmp(keys[i].name, word, bytes))
            return true;
    return false;
}

/* Those of diff, then those of profiles that are not the same. */
static const char *key_at(size_t index, const char **doc)
{
    const char *name;

    if (index < KEYS) {
        *doc = keys[index].doc;
        return keys[index].name;
    }
    index -= KEYS;
    for (size_t i = 0; (name = perfile_profile_key_at(i, doc)) != NULL; i++)
        if (!is_own_key(name, strlen(name)) && index-- == 0)
            break;
    return name;
}

static const struct pf_value gates[] = {
    {"rows", "each row"},
    {"total", "the sum of all"},
    {0},
};

/* The recordings of this side are the operands from here on. */
static int begin_side(const struct pf_option *option, const char *text, struct pf_settings *settings)
{
    (void)text;
    *(uint64_t *)pf_option_target(option, settings) = settings->operand_count + 1;
    return PF_STATUS_OK;
}

static const struct pf_option side_options[] = {
    PF_FLAG("before", 0, OWN(before),
            "The following recordings are from before the change: --before a b c --after d e f.", .set = begin_side),
    PF_FLAG("after", 0, OWN(after), "The following recordings are from after the change.", .set = begin_side),
    {0},
};

static const struct pf_option row_options[] = {
    PF_VALUES(
        LIST, "sort", 's', "KEYS", OWN(sort), .known = key_at,
        "What a row stands for: function, module (or dso), line, srcfile, thread, path, the columns of report that "
        "describe samples, such as cpu or mem, fields of tracepoints, or several of them [function]."),
    PF_ROW(TEXT, "per", 0, "EVENT", OWN(per),
           "Divide weights by what EVENT counted in the same recording, such as instructions."),
    PF_ROW(TEXT, "work", 0, "LIST", OWN(work),
           "Divide weights by the units of work that were done: one number for all recordings, or one for each, first "
           "those before: 1000,1200."),
    PF_FLAG("relative", 0, OWN(relative),
            "Compare percentages of each recording, for servers that were recorded for a fixed time. A slower function "
            "then makes all others look faster."),
    PF_FLAG("children", 0, OWN(inclusive), "Weights of functions include all that they call. Rows overlap."),
    PF_ROW(
        LINES, "map", 0, "OLD=NEW", OWN(maps),
        "The binary, function or thread OLD before the change is NEW after it; can be given several times. Names are "
        "those of the table."),
    PF_FLAG("no-guess", 0, OWN(no_guesses),
            "Do not guess whether functions on one side only were renamed or inlined; use only --map."),
    {0},
};

static const struct pf_option test_options[] = {
    PF_ROW(
        TEXT, "noise", 0, "PERCENT", OWN(noise),
        "The standard deviation of the weights of equal runs, if there are too few recordings to measure it. With one "
        "recording on a side there are no verdicts without it."),
    PF_ROW(TEXT, "margin", 0, "PERCENT", OWN(margin),
           "Differences that are certainly within this margin count as the same [5%]."),
    PF_ROW(TEXT, "alpha", 0, "LEVEL", OWN(alpha),
           "The level of significance [0.05; of --fail-above with one recording on a side 0.01]."),
    {0},
};

static const struct pf_option gate_options[] = {
    PF_ROW(
        TEXT, "fail-above", 0, "LIMIT", OWN(fail_above),
        "Exit with 1 if a row has significantly more than LIMIT above its weight before: 3%, or a weight such as 2ms "
        "or 5000."),
    PF_VALUES(CHOICE, "fail-on", 0, "WHAT", OWN(fail_on), .table = gates, "What --fail-above checks [rows]."),
    PF_ROW(LINES, "only", 0, "NAME", OWN(only),
           "With --fail-above: only rows of this function, binary or thread; * and ? stand for any text and any "
           "character; can be given several times."),
    PF_ROW(LINES, "ignore", 0, "NAME", OWN(ignore),
           "With --fail-above: no rows of this function, binary or thread; as --only."),
    {0},
};

static const struct pf_option baseline_options[] = {
    PF_ROW(TEXT, "against", 0, "FOLDER", OWN(against),
           "Compare the recordings with the profiles in FOLDER, which --update has stored there."),
    PF_FLAG(
        "update", 0, OWN(update),
        "With --against: when the gate passes, or FOLDER is empty, add the profiles of the recordings to FOLDER, and "
        "remove the oldest. They are small files with all names: the recordings and binaries are not needed again."),
    PF_ROW(NUMBER, "keep", 0, "N", OWN(keep), "With --update: how many profiles FOLDER keeps, the newest [10]."),
    {0},
};

static const struct pf_value percentages[] = {
    {"absolute", "of all samples of the event; the default"},
    {"relative", "of the samples that pass the filters"},
    {0},
};

#define CHANGES(option, short_option, bit, text) PF_BITS(option, short_option, OWN(changes.flags), bit, text)
static const struct pf_option perf_options[] = {
    PF_FLAG("stdio", 0, OWN(stdio),
            "Print perf's table, also of more than two recordings: the shares of the first one, the baseline, and how "
            "those of each other one differ. The default when called perf, and for more than two recordings."),
    PF_ROW(TEXT, "compute", 'c', "HOW", OWN(compute),
           "What is computed: delta-abs (the difference of the percentages, sorted by its size), delta, ratio (of the "
           "periods), or wdiff:W1,W2 (the difference of the periods, that of the baseline times W1, the other times "
           "W2) [delta-abs]."),
    PF_ROW(TEXT, "order", 'o', "N", OWN(order),
           "Sort rows by what was computed for recording N; 0: by their weight in the baseline [1]."),
    CHANGES("period", 'p', PERFILE_CHANGES_PERIOD, "Also print the periods."),
    CHANGES("formula", 'F', PERFILE_CHANGES_FORMULA, "Also print what was computed, in numbers."),
    CHANGES("baseline-only", 'b', PERFILE_CHANGES_BASELINE_ONLY,
            "Only rows of the baseline that another recording has, too."),
    PF_ROW(TEXT, "dsos", 'd', "LIST", PF_AT(report.dsos), "Only samples in these files: libc.so.6,make."),
    PF_ROW(TEXT, "symbols", 'S', "LIST", PF_AT(report.symbols), "Only samples in these functions."),
    PF_VALUES(CHOICE, "percentage", 0, "HOW", PF_AT(report.percentage), .table = percentages,
              "What percentages are relative to."),
    PF_ROW(TEXT, "field-separator", 't', "TEXT", PF_AT(report.separator),
           "Print this between columns instead of spaces."),
    {0},
};

static const struct pf_option print_options[] = {
    PF_VALUES(CHOICE, "format", 0, "FORMAT", PF_AT(format), .known = format_at, "The output format."),
    PF_VALUES(LIST, "columns", 0, "LIST", PF_AT(columns), .known = column_at,
              "Formats of tables: columns to print, in order (+NAME adds to the default, -NAME removes from it, all: "
              "every column)."),
    PF_FLAG("tree", 0, OWN(tree), "Show where in the call tree weights changed, with the callers of each change."),
    PF_FLAG("all-rows", 0, OWN(all), "text: also list rows that are the same, or unsure."),
    PF_OPTION_CODE,
    PF_OPTION_SOURCE_DIR,
    PF_OPTION_NO_INLINE,
    PF_OPTION_UNWIND,
    PF_OPTION_OUTPUT_WITHOUT_LETTER, /* perf's -o is --order */
    {0},
};

/* ---- one comparison ---------------------------------------------------------------------------------------------- */

struct lines {
    const char **items; /* owned; the texts are the option's */
    size_t count;
};

struct diff_run {
    const struct pf_command *command;
    struct pf_settings *settings;
    char **paths; /* first those before */
    size_t before_count, count;
    struct pf_baseline baseline;
    struct pf_inputs inputs;
    char **recordings; /* of the paths those that are no profiles; owned */
    size_t recording_count;
    struct perfile_profile **profiles; /* owned */
    char *keys;                        /* of the profiles; owned */
    double *work;                      /* owned; or NULL */
    struct lines maps, only, ignore;
    struct perfile_diff_options options;
    struct perfile_diff *diff;
    struct perfile_diff *functions, *inclusive; /* of a page */
    struct pf_stream stream;
};

static int usage(const struct pf_command *command, const char *text)
{
    pf_message("%s: %s", command->name, text);
    return PF_STATUS_USAGE;
}

static int out_of_memory(const struct pf_command *command)
{
    return pf_out_of_memory(command->name);
}

/* The profiles of the folder, then the operands. */
static int choose_baseline(struct diff_run *run)
{
    const struct pf_settings *settings = run->settings;
    const struct pf_diff_settings *diff = pf_diff_own(settings);
    int status;

    if (diff->before || diff->after || !settings->operand_count)
        return usage(run->command,
                     "--against FOLDER needs recordings to compare with, and neither --before nor --after");
    if ((status = pf_baseline_open(&run->baseline, run->command->name, diff->against, diff->update)))
        return status;
    if (!run->baseline.count && !diff->update) {
        pf_message("%s: it has no profiles; --update adds some", diff->against);
        return PF_STATUS_UNREADABLE;
    }
    run->before_count = run->baseline.count;
    run->count = run->before_count + settings->operand_count;
    if (!(run->paths = calloc(run->count, sizeof(*run->paths))))
        return out_of_memory(run->command);
    for (size_t i = 0; i < run->count; i++)
        run->paths[i] = i < run->before_count ? run->baseline.paths[i] : settings->operands[i - run->before_count];
    return PF_STATUS_OK;
}

/* The recordings of the side that begins at `first` come before those of the other. */
static int choose_sides(struct diff_run *run)
{
    struct pf_settings *settings = run->settings;
    const struct pf_diff_settings *diff = pf_diff_own(settings);
    const size_t count = settings->operand_count;

    if (diff->against)
        return choose_baseline(run);
    if (diff->update || diff->keep)
        return usage(run->command, "--update and --keep need --against FOLDER");
    run->count = count;
    run->paths = calloc(count + 1, sizeof(*run->paths));
    if (!run->paths)
        return out_of_memory(run->command);
    if (!diff->before && !diff->after) {
        run->before_count = 1;
        memcpy(run->paths, settings->operands, count * sizeof(*run->paths));
        return count == 2 ? PF_STATUS_OK
                          : usage(run->command, "two recordings are needed: perfile diff BEFORE AFTER; for several: "
                                                "--before FILE... --after FILE...");
    }
    if (!diff->before || !diff->after || (diff->before > 1 && diff->after > 1))
        return usage(run->command, "--before FILE... and --after FILE... are both needed, and nothing before them");
    const size_t before = diff->before - 1, after = diff->after - 1;
    run->before_count = before < after ? after : count - before;
    memcpy(run->paths, settings->operands + before, run->before_count * sizeof(*run->paths));
    memcpy(run->paths + run->before_count, settings->operands + after,
           (count - run->before_count) * sizeof(*run->paths));
    return run->before_count && run->before_count < count
               ? PF_STATUS_OK
               : usage(run->command, "there must be a recording on each side");
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* A decimal number with a point, whatever the locale; NULL means none. */
static const char *parse_decimal(const char *text, double *value)
{
    double scale = 1;
    const char *at = text;

    for (*value = 0; *at >= '0' && *at <= '9'; at++)
        *value = *value * 10 + (*at - '0');
    if (*at == '.')
        for (at++; *at >= '0' && *at <= '9'; at++)
            *value += (*at - '0') * (scale /= 10);
    return at > text + (*text == '.') ? at : NULL;
}

/* "5%" is 0.05. */
static int parse_percent(const struct diff_run *run, const char *option, const char *text, double *value)
{
    const char *end = text ? parse_decimal(text, value) : NULL;

    if (!text)
        return PF_STATUS_OK;
    if (!end || strcmp(end, "%") != 0 || *value <= 0 || *value >= 100) {
        pf_message("%s: invalid value \"%s\" for %s: expected a percentage, such as 5%%", run->command->name, text,
                   option);
        return PF_STATUS_USAGE;
    }
    *value /= 100;
    return PF_STATUS_OK;
}

static int parse_alpha(const struct diff_run *run, const char *text, double *value)
{
    const char *end = text ? parse_decimal(text, value) : NULL;

    if (!text || (end && !*end && *value > 0 && *value < 1))
        return PF_STATUS_OK;
    pf_message("%s: invalid value \"%s\" for --alpha: expected a number between 0 and 1, such as 0.01",
               run->command->name, text);
    return PF_STATUS_USAGE;
}

static int parse_limit(struct diff_run *run, const char *text)
{
    static const struct {
        const char *unit;
        double factor;
    } units[] = {{"", 1}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    double value;
    const char *end = text ? parse_decimal(text, &value) : NULL;

    if (!text)
        return PF_STATUS_OK;
    run->options.flags |= PERFILE_DIFF_GATE;
    if (end && !strcmp(end, "%")) {
        run->options.limit = value / 100;
        return PF_STATUS_OK;
    }
    for (size_t i = 0; end && i < sizeof(units) / sizeof(units[0]); i++)
        if (!strcmp(end, units[i].unit)) {
            run->options.limit_weight = value * units[i].factor;
            return PF_STATUS_OK;
        }
    pf_message("%s: invalid value \"%s\" for --fail-above: expected a percentage or a weight, such as 3%% or 2ms",
               run->command->name, text);
    return PF_STATUS_USAGE;
}

static int parse_work(struct diff_run *run, const char *text)
{
    size_t count = 0;

    if (!text)
        return PF_STATUS_OK;
    if (!(run->work = calloc(run->count, sizeof(*run->work))))
        return out_of_memory(run->command);
    for (const char *at = text; at && count < run->count;) {
        at = parse_decimal(at, &run->work[count]);
        if (!at || (*at && *at != ',') || run->work[count] <= 0) {
            count = 0;
            break;
        }
        count++;
        at = *at ? at + 1 : NULL;
        if (at && count == run->count)
            count = 0, at = NULL;
    }
    if (count != 1 && count != run->count) {
        pf_message("%s: invalid value \"%s\" for --work: expected a number above 0, or one for each of %zu recordings",
                   run->command->name, text, run->count);
        return PF_STATUS_USAGE;
    }
    for (size_t i = count; i < run->count; i++)
        run->work[i] = run->work[0];
    run->options.work = run->work;
    return PF_STATUS_OK;
}

static bool split_lines(char *text, struct lines *lines)
{
    size_t count = 1;

    for (const char *at = text; at && *at; at++)
        count += *at == '\n';
    if (!text)
        return true;
    if (!(lines->items = calloc(count, sizeof(*lines->items))))
        return false;
    for (char *at = text; at;) {
        lines->items[lines->count++] = at;
        if ((at = strchr(at, '\n')) != NULL)
            *at++ = 0;
    }
    return true;
}

static int check_maps(const struct diff_run *run)
{
    for (size_t i = 0; i < run->maps.count; i++) {
        const char *equals = strrchr(run->maps.items[i], '=');
        if (equals && equals > run->maps.items[i] && equals[1])
            continue;
        pf_message("%s: invalid value \"%s\" for --map: expected OLD=NEW", run->command->name, run->maps.items[i]);
        return PF_STATUS_USAGE;
    }
    return PF_STATUS_OK;
}

static bool is_format(const struct diff_run *run, const char *format)
{
    return run->settings->format && !strcmp(run->settings->format, format);
}

/* The text for people is not. */
static bool is_table(const struct diff_run *run)
{
    const char *format = run->settings->format, *name, *doc;

    for (size_t i = 0; format && strcmp(format, "text") && (name = perfile_table_format_at(i, &doc)) != NULL; i++)
        if (!strcmp(format, name))
            return true;
    return false;
}

static unsigned flags_of(const struct diff_run *run)
{
    const struct pf_diff_settings *diff = pf_diff_own(run->settings);

    return (diff->relative ? PERFILE_DIFF_RELATIVE : 0u) |
           (diff->inclusive || diff->tree ? PERFILE_DIFF_INCLUSIVE : 0u) |
           (diff->no_guesses ? PERFILE_DIFF_NO_GUESSES : 0u) |
           (diff->fail_on && !strcmp(diff->fail_on, "total") ? PERFILE_DIFF_GATE_TOTAL : 0u);
}

/* With one recording on each side the page is that of the flame graph, with threads and time, and without verdicts. */
static bool is_flame_page(const struct diff_run *run)
{
    const struct pf_settings *settings = run->settings;

    return is_format(run, "html") && run->count == 2 && !pf_diff_own(settings)->noise && !pf_diff_own(settings)->maps &&
           !pf_is_profile(run->paths[0]) && !pf_is_profile(run->paths[1]);
}

static int choose_options(struct diff_run *run)
{
    struct pf_diff_settings *diff = pf_diff_own(run->settings);
    struct perfile_diff_options *options = &run->options;
    int status;

    *options = (struct perfile_diff_options)PERFILE_DIFF_OPTIONS_INIT;
    options->flags = flags_of(run);
    options->keys = diff->tree || is_format(run, "folded") ? "path" : diff->sort;
    options->event = run->settings->filter.events;
    options->per = diff->per;
    if (!split_lines(diff->maps, &run->maps) || !split_lines(diff->only, &run->only) ||
        !split_lines(diff->ignore, &run->ignore))
        return out_of_memory(run->command);
    options->maps = run->maps.items;
    options->map_count = run->maps.count;
    options->only = run->only.items;
    options->only_count = run->only.count;
    options->ignore = run->ignore.items;
    options->ignore_count = run->ignore.count;
    if ((status = parse_percent(run, "--noise", diff->noise, &options->noise)) ||
        (status = parse_percent(run, "--margin", diff->margin, &options->margin)) ||
        (status = parse_alpha(run, diff->alpha, &options->alpha)) || (status = parse_limit(run, diff->fail_above)) ||
        (status = parse_work(run, diff->work)) || (status = check_maps(run)))
        return status;
    if ((diff->fail_on || diff->only || diff->ignore) && !diff->fail_above)
        return usage(run->command, "--fail-on, --only and --ignore need --fail-above");
    if (run->settings->columns && !is_table(run))
        return usage(run->command, "--columns is for the formats of tables, such as csv");
    if (is_format(run, "html") && (diff->fail_above || diff->per || diff->work || diff->sort || diff->inclusive))
        return usage(run->command, "--format html is not for --fail-above, --per, --work, --sort and --children");
    if (run->settings->print.code && !is_flame_page(run))
        return usage(run->command, "--code needs --format html, and one recording a side without --noise and --map");
    if (diff->tree && (diff->sort || (run->settings->format && !is_format(run, "text"))))
        return usage(run->command, "--tree is text, and not for --sort");
    return PF_STATUS_OK;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool sorts_by(const struct diff_run *run, const char *key, const char *perfs)
{
    const char *list = run->options.keys ? run->options.keys : "";

    return strstr(list, key) || strstr(list, perfs);
}

/* Without these, functions and the callers that guesses need are enough. */
static bool needs_callers(const struct diff_run *run)
{
    return pf_diff_own(run->settings)->update || run->options.flags & PERFILE_DIFF_INCLUSIVE ||
           is_format(run, "html") || sorts_by(run, "path", "path");
}

/* What keeps the samples of profiles apart: threads, and the keys that diff does not have itself. */
static int choose_keys(struct diff_run *run)
{
    const bool threads = pf_diff_own(run->settings)->update || sorts_by(run, "thread", "comm");
    const char *list = run->options.keys ? run->options.keys : "";
    size_t used = 0;

    if (!(run->keys = calloc(1, strlen(list) + sizeof("comm,"))))
        return out_of_memory(run->command);
    if (threads)
        used += (size_t)sprintf(run->keys, "comm");
    for (size_t bytes; *list; list += bytes + (list[bytes] == ',')) {
        bytes = strcspn(list, ",");
        if (!is_own_key(list, bytes))
            used += (size_t)sprintf(run->keys + used, "%s%.*s", used ? "," : "", (int)bytes, list);
    }
    return PF_STATUS_OK;
}

/* As perfile_diff_open does it. */
static int refuse_key(const struct diff_run *run, const struct perfile_error *error)
{
    char suggestion[80];

    pf_message(
        "%s: keys: unknown '%s'; valid: function, module, line, srcfile, thread, path, and columns of report that "
        "describe samples%s",
        run->command->name, error->token, pf_options_suggest(run->command, run->settings, error->token, suggestion));
    return PF_STATUS_USAGE;
}

/* Events are chosen afterwards: --per is another one. */
static int read_profile(struct diff_run *run, struct pf_input *input, struct pf_progress *progress,
                        struct perfile_profile **profile)
{
    struct pf_settings *settings = run->settings;
    struct perfile_profile_options options = PERFILE_PROFILE_OPTIONS_INIT;
    struct perfile_filter filter = settings->filter;
    int result;

    filter.events = NULL;
    settings->symbols.recording = input->name;
    settings->symbols.note = pf_log_note;
    settings->symbols.note_context = &input->log;
    options.filter = &filter;
    options.symbols = &settings->symbols;
    options.flags = PERFILE_STREAM_JOIN_UNNAMED | (settings->symbols.no_inline ? PERFILE_STREAM_NO_INLINES : 0u);
    if (sorts_by(run, "line", "srcfile"))
        options.flags |= PERFILE_STREAM_ADDRESSES;
    options.keys = run->keys;
    options.path = input->name;
    options.max_frames = needs_callers(run) ? 0 : 2;
    options.threads = pf_thread_count(settings);
    options.unmatched = pf_log_unmatched;
    options.unmatched_context = &input->log;
    if (progress) {
        options.progress = pf_progress_update;
        options.progress_context = progress;
    }
    result = perfile_profile_open(input->reader, &options, profile, &input->error);
    if (result == PERFILE_ERROR_ARGUMENT && !strcmp(input->error.what, "keys"))
        return refuse_key(run, &input->error);
    return result < 0 ? pf_input_failure(input, result) : PF_STATUS_OK;
}

static int read_profiles(struct diff_run *run)
{
    struct pf_progress progress = {0};
    const bool draws = pf_progress_start(&progress, run->command->name);
    int status;

    size_t next = 0;

    if (!(run->profiles = calloc(run->count, sizeof(*run->profiles))))
        return out_of_memory(run->command);
    if (!(status = choose_keys(run)))
        status = pf_inputs_open(&run->inputs);
    for (size_t i = 0; !status && i < run->count; i++) {
        if (next == run->recording_count || run->paths[i] != run->recordings[next]) {
            status = pf_profile_load(run->paths[i], &run->profiles[i]);
            continue;
        }
        status = read_profile(run, &run->inputs.inputs[next], draws ? &progress : NULL, &run->profiles[i]);
        pf_log_finish(&run->inputs.inputs[next++].log);
    }
    pf_progress_clear();
    return status;
}

static int compare_by(struct diff_run *run, const struct perfile_diff_options *options, struct perfile_diff **diff)
{
    struct perfile_error error;
    const int result = perfile_diff_open(options, diff, &error);

    if (result == 0)
        return PF_STATUS_OK;
    char suggestion[80];
    pf_message("%s: %s%s", run->command->name, pf_error_sentence(&error, run->command->name),
               result == PERFILE_ERROR_ARGUMENT
                   ? pf_options_suggest(run->command, run->settings, error.token, suggestion)
                   : "");
    return pf_status_of_error(result, PF_STATUS_USAGE);
}

/* The page has all call paths, and verdicts of functions. */
static int compare_for_page(struct diff_run *run)
{
    struct perfile_diff_options options = run->options;
    int status;

    options.keys = "function";
    options.flags &= ~(unsigned)(PERFILE_DIFF_INCLUSIVE | PERFILE_DIFF_RELATIVE);
    if ((status = compare_by(run, &options, &run->functions)))
        return status;
    options.flags |= PERFILE_DIFF_INCLUSIVE;
    if ((status = compare_by(run, &options, &run->inclusive)))
        return status;
    options.keys = "path";
    return compare_by(run, &options, &run->diff);
}

static int compare(struct diff_run *run)
{
    run->options.before = (const struct perfile_profile *const *)run->profiles;
    run->options.before_count = run->before_count;
    run->options.after = run->options.before + run->before_count;
    run->options.after_count = run->count - run->before_count;
    return is_format(run, "html") ? compare_for_page(run) : compare_by(run, &run->options, &run->diff);
}

/* ---- printing ---------------------------------------------------------------------------------------------------- */

static int write_format(const struct pf_diff_output *output, const struct pf_command *command)
{
    const char *format = output->settings->format;

    if (pf_diff_own(output->settings)->tree) {
        pf_diff_print_tree(output);
        return PF_STATUS_OK;
    }
    for (size_t i = 0; format && i < FORMATS; i++)
        if (formats[i].put && !strcmp(formats[i].name, format)) {
            formats[i].put(output);
            return PF_STATUS_OK;
        }
    if (output->page)
        return pf_diff_put_page(output, command);
    if (format && strcmp(format, "text") != 0)
        return pf_diff_put_table(output, command, format);
    pf_diff_print(output);
    return PF_STATUS_OK;
}

static void put_notes(const struct diff_run *run)
{
    const char *note;

    for (size_t i = 0; (note = perfile_diff_note_at(run->diff, i)) != NULL; i++) {
        char escaped[4096];
        perfile_text_escape(note, strlen(note), escaped, sizeof(escaped));
        pf_message_advice("%s: %s", run->command->name, escaped);
    }
}

static int print(struct diff_run *run)
{
    struct pf_diff_output output = {.settings = run->settings,
                                    .diff = run->diff,
                                    .info = PERFILE_DIFF_INFO_INIT,
                                    .stream = &run->stream,
                                    .functions = run->functions,
                                    .inclusive = run->inclusive,
                                    .page = is_format(run, "html"),
                                    .one_sided = run->options.flags & PERFILE_DIFF_GATE};
    int status = pf_stream_open(&run->stream, run->settings->output), written;

    if (status)
        return status;
    if (perfile_diff_describe(run->diff, &output.info) < 0)
        status = PF_STATUS_OUTPUT;
    output.columns = isatty(run->stream.fd) ? pf_terminal_columns(run->stream.fd) : 0;
    output.color = pf_wants_color(run->settings->color, run->stream.fd);
    status = status ? status : write_format(&output, run->command);
    written = pf_stream_close(&run->stream, !status);
    if (!written && !status)
        put_notes(run);
    if (!status && !written && output.info.failing)
        return PF_STATUS_FINDINGS;
    return written ? written : status;
}

/* ---- the verb ---------------------------------------------------------------------------------------------------- */

extern const struct pf_command pf_command_flame;

static int write_flame_page(struct diff_run *run)
{
    struct pf_settings *settings = run->settings;

    settings->before = run->paths[0];
    settings->operands = run->paths + 1;
    settings->operand_count = 1;
    settings->flame.normalize = pf_diff_own(settings)->relative;
    return pf_run_output(&pf_command_flame, settings);
}

static int check_output(const struct diff_run *run)
{
    if (!run->settings->output || !pf_inputs_have(&run->inputs, run->settings->output))
        return PF_STATUS_OK;
    pf_message("%s: --output %s is an input recording", run->command->name, run->settings->output);
    return PF_STATUS_USAGE;
}

/* Which of the files are recordings. */
static int choose_inputs(struct diff_run *run)
{
    int status;

    if (!(run->recordings = calloc(run->count, sizeof(*run->recordings))))
        return out_of_memory(run->command);
    for (size_t i = 0; i < run->count; i++)
        if (!pf_is_profile(run->paths[i]))
            run->recordings[run->recording_count++] = run->paths[i];
    if ((status = pf_inputs_check(run->command, run->recordings, run->recording_count)) ||
        (status = run->recording_count
                      ? pf_inputs_set(&run->inputs, run->command, run->settings, run->recordings, run->recording_count)
                      : PF_STATUS_OK))
        return status;
    if (run->recording_count < run->count && (status = pf_profile_check_filter(run->command, run->settings)))
        return status;
    return check_output(run);
}

static int update_baseline(struct diff_run *run)
{
    const uint64_t keep = pf_diff_own(run->settings)->keep ? pf_diff_own(run->settings)->keep : 10;
    const size_t added = run->count - run->before_count;
    const size_t first = added > keep ? run->count - (size_t)keep : run->before_count;
    int status = PF_STATUS_OK;

    for (size_t i = first; !status && i < run->count; i++)
        status = pf_baseline_add(&run->baseline, run->command->name, run->profiles[i]);
    if (!status)
        pf_baseline_prune(&run->baseline, run->count - first, keep);
    return status;
}

static int read_and_print(struct diff_run *run)
{
    int status, losses;

    if ((status = choose_inputs(run)))
        return status;
    pf_sandbox_enter(run->command, run->settings);
    if ((status = read_profiles(run)))
        return status;
    if (!run->before_count)
        pf_message_advice("%s: %s has no profiles yet: nothing is compared", run->command->name,
                          pf_diff_own(run->settings)->against);
    else if (!(status = compare(run)))
        status = print(run);
    losses = pf_inputs_losses(&run->inputs);
    if (!status && !losses && pf_diff_own(run->settings)->update)
        status = update_baseline(run);
    return status ? status : losses;
}

static void close_run(struct diff_run *run)
{
    perfile_diff_close(run->diff);
    perfile_diff_close(run->functions);
    perfile_diff_close(run->inclusive);
    for (size_t i = 0; run->profiles && i < run->count; i++)
        perfile_profile_close(run->profiles[i]);
    pf_inputs_close(&run->inputs);
    pf_baseline_close(&run->baseline);
    free(run->recordings);
    free(run->profiles);
    free(run->keys);
    free(run->paths);
    free(run->work);
    free(run->maps.items);
    free(run->only.items);
    free(run->ignore.items);
}

static int run_diff(const struct pf_command *command, struct pf_settings *settings)
{
    struct diff_run run = {.command = command, .settings = settings};
    int status;

    settings->also_written = pf_diff_own(settings)->against;
    if (settings->input)
        status = usage(command, "recordings are given without -i");
    else if (pf_diff_is_perfs(settings))
        status = pf_diff_run_perfs(command, settings);
    else if (!(status = choose_sides(&run)) && !(status = choose_options(&run)))
        status = is_flame_page(&run) ? write_flame_page(&run) : read_and_print(&run);
    close_run(&run);
    return status;
}

const struct pf_command pf_command_diff = {
    .name = "diff",
    .summary = "compare recordings: what got slower, faster, new; a gate for CI",
    .doc = "Compares recordings before and after a change, function by function. A recording is one observation: with "
           "three or more on each side a row is called more, less or same only if the runs show it; otherwise it is "
           "unsure. Functions and binaries are matched by name, across rebuilds.",
    .operand = "BEFORE AFTER...",
    .operand_max = SIZE_MAX,
    .pages = true,
    .own_bytes = sizeof(struct pf_diff_settings),
    .groups = {PF_GROUP("Recordings", side_options), PF_GROUP("What is compared", row_options),
               PF_GROUP("Verdicts", test_options), PF_GROUP("Gate", gate_options),
               PF_GROUP("Baselines", baseline_options), PF_GROUP("Output", print_options),
               PF_GROUP("perf's layout, without verdicts", perf_options), &pf_comms_filter_group, &pf_symbol_group,
               &pf_reading_group, &pf_limit_group, &pf_common_group},
    .run = run_diff,
};
