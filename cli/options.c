/* SPDX-License-Identifier: MIT */
#include "options.h"
#include "guess.h"
#include "message.h"
#include "perf_config.h"

#include <perfile/table.h>

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

const struct pf_value pf_color_values[] = {
    {"auto", "on a terminal, unless NO_COLOR is set; the default"},
    {"always", NULL},
    {"never", NULL},
    {0},
};

const struct pf_value pf_unwind_values[] = {
    {"cfi", "not at all, as perf: the stack ends before that frame; the default for script"},
    {"fp", "by frame pointers, heuristically; the default for all but script"},
    {0},
};

bool pf_has_values(const struct pf_values *values)
{
    return values->table || values->known || values->of_verb;
}

int pf_out_of_memory(const char *about)
{
    pf_message("%s%sout of memory", about ? about : "", about ? ": " : "");
    return PF_STATUS_MEMORY;
}

static const char *value_of(const struct pf_value *table, size_t index, const char **doc)
{
    for (; index && table->name; table++)
        index--;
    *doc = table->doc;
    return table->name;
}

const char *pf_value_at(const struct pf_values *values, const struct pf_command *command, size_t index,
                        const char **doc)
{
    const char *unused;

    doc = doc ? doc : &unused;
    if (values->table)
        return value_of(values->table, index, doc);
    return values->known ? values->known(index, doc) : values->of_verb(command, index, doc);
}

unsigned pf_value_number(const struct pf_value *table, const char *name)
{
    for (size_t i = 0; name && table[i].name; i++)
        if (!strcmp(table[i].name, name))
            return table[i].number;
    return table->number;
}

const char *pf_view_at(size_t index, const char **doc)
{
    const struct perfile_view_info *info = perfile_view_at(index);

    if (info)
        *doc = info->doc;
    return info ? info->name : NULL;
}

const char *pf_format_at(const struct pf_command *command, size_t index, const char **doc)
{
    const struct perfile_output_info *info;

    for (size_t i = 0; (info = perfile_output_at(i)); i++)
        if (!strcmp(info->kind, command->name) && index-- == 0) {
            *doc = info->doc;
            return info->format;
        }
    return NULL;
}

#define INPUT_OPTION                                                                                                   \
    PF_ROW(TEXT, "input", 'i', "FILE", PF_AT(input),                                                                   \
           "The recording: a file, a directory, a FIFO, or - for standard input. The same as giving FILE. The "        \
           "default is perf.data, or standard input when that is a pipe with a recording.")
#define JOBS_OPTION                                                                                                    \
    PF_ROW(NUMBER, "jobs", 'j', "N", PF_AT(jobs),                                                                      \
           "Use up to N threads; 0, the default, is one per CPU, at most 8. The output is the same for every N.")
#define STRICT_OPTION                                                                                                  \
    PF_FLAG("strict", 0, PF_AT(open.strict),                                                                           \
            "Stop at the first error. By default everything that can be read is read, and errors are reported.")
#define FORCE_OPTION                                                                                                   \
    PF_IGNORED("force", 'f', NULL, "Ignored, for compatibility with perf: the owner of a recording is never checked.")
static const struct pf_option input_options[] = {INPUT_OPTION, STRICT_OPTION, JOBS_OPTION, FORCE_OPTION, {0}};
static const struct pf_option serial_options[] = {INPUT_OPTION, STRICT_OPTION, FORCE_OPTION, {0}};
const struct pf_option_group pf_input_group = {"Reading", input_options};
const struct pf_option_group pf_reading_group = {"Reading", input_options + 1}; /* without -i */
static const struct pf_option file_options[] = {INPUT_OPTION, STRICT_OPTION, JOBS_OPTION, {0}};
const struct pf_option_group pf_forceless_group = {"Reading", file_options};            /* without -f */
const struct pf_option_group pf_serial_group = {"Reading", serial_options};             /* without -j */
const struct pf_option_group pf_serial_reading_group = {"Reading", serial_options + 1}; /* without -i and -j */

#define FILTER(option, short_option, value, member, ...)                                                               \
    PF_ROW(TEXT, option, short_option, value, PF_AT(filter.member), __VA_ARGS__)
#define FILTERS(cpu_letter, comms_letter, tid_letter)                                                                  \
    FILTER("time", 0, "START,STOP", time,                                                                              \
           "Only samples from START to STOP, in seconds as printed (either may be empty), or in 10%-20% of the "       \
           "recording. +1.5,+3 counts from the first sample, 30%/2 is the second 30 percent. \"2026-11-28 "            \
           "03:43:03,2026-11-28 03:43:05\" is by date and time of day in the local time zone, as the field tod of "    \
           "script prints them; that needs a file with the feature CLOCK_DATA (record -k). If the header has no "      \
           "sample times, the file is scanned first; not possible for a stream.",                                      \
           .first = true),                                                                                             \
        FILTER("cpu", cpu_letter, "LIST", cpus, "Only samples of these CPUs: 0-3,7."),                                 \
        FILTER("pid", 0, "LIST", pids, "Only these processes: 1,2."),                                                  \
        FILTER("tid", tid_letter, "LIST", tids, "Only these threads."),                                                \
        FILTER("comms", comms_letter, "LIST", comms, "Only threads with these names: make,cc1.", .first = true),       \
        FILTER("events", 'e', "LIST", events, "Only these events: cycles,sched:sched_switch.")
#define FILTER_TITLE "Filters (all must match; samples without the field that a filter needs are kept)"
static const struct pf_option filter_options[] = {FILTERS('C', 'c', 0), {0}};
static const struct pf_option tid_filter_options[] = {FILTERS('C', 'c', 't'), {0}};
static const struct pf_option cpu_filter_options[] = {FILTERS('C', 0, 0), {0}};
static const struct pf_option comms_filter_options[] = {FILTERS(0, 'C', 0), {0}};
const struct pf_option_group pf_filter_group = {FILTER_TITLE, filter_options};
const struct pf_option_group pf_tid_filter_group = {FILTER_TITLE, tid_filter_options};
const struct pf_option_group pf_cpu_filter_group = {FILTER_TITLE, cpu_filter_options};
const struct pf_option_group pf_comms_filter_group = {FILTER_TITLE, comms_filter_options};

static const struct pf_option symbol_options[] = {
    PF_ROW(TEXT, "symfs", 0, "DIR", PF_AT(symbols.symfs),
           "Look for the recording's programs and libraries below DIR, as if it were the root of the file system.",
           .first = true),
    PF_ROW(TEXT, "archive", 0, "FILE", PF_AT(symbols.archive),
           "Use the binaries packed by `perf archive`, a tar file or a folder, before those of perf's build-id cache."),
    PF_OPTION_BUILDID_DIR,
    PF_ROW(NUMBER, "debuginfod-limit", 0, "SECONDS", PF_AT(symbols.debuginfod_seconds),
           "Wait at most this long in total for the servers in DEBUGINFOD_URLS [90], and 20 seconds for one file."),
    PF_ROW(SIZE, "debuginfod-max-size", 0, "BYTES", PF_AT(symbols.debuginfod_bytes),
           "The largest file to download from these servers [2G]; the limit for all files is four times that."),
    PF_FLAG("no-demangle", 0, PF_AT(symbols.no_demangle),
            "Names of functions as in the symbol tables and debug info: _ZN3foo3barEv, not foo::bar()."),
    PF_FLAG(
        "no-names", 0, PF_AT(symbols.no_names),
        "Leave addresses in programs and libraries as offsets in these files, for servers that look up names: pprof "
        "and otlp then have mappings with build ids, and no functions. The kernel and JIT code keep their names."),
    PF_ROW(FILE, "vmlinux", 'k', "FILE", PF_AT(symbols.vmlinux), "The kernel's ELF file with symbols."),
    PF_ROW(FILE, "kallsyms", 0, "FILE", PF_AT(symbols.kallsyms),
           "A copy of /proc/kallsyms of the machine that made the recording."),
    PF_ROW(SIZE, "index-from", 0, "BYTES", PF_AT(index_from),
           "Reading a recording of this size or more in full also writes its index to the cache [256M], "
           "where all indexes together take at most 1 GiB; unlimited: never. See perfile-index(1)."),
    {0},
};
const struct pf_option_group pf_symbol_group = {"Symbols", symbol_options};

static const struct pf_option limit_options[] = {
    PF_ROW(NUMBER, "limit-events", 0, "N", PF_AT(open.limit_events), "At most N events in one recording [65536]."),
    PF_ROW(NUMBER, "limit-ids", 0, "N", PF_AT(open.limit_ids), "At most N ids per event [16777216]."),
    PF_ROW(SIZE, "limit-feature-bytes", 0, "BYTES", PF_AT(open.limit_feature_bytes),
           "The largest header feature that is kept in memory [256M]."),
    PF_ROW(SIZE, "limit-queue-bytes", 0, "BYTES", PF_AT(open.limit_queue_bytes),
           "Memory for sorting records by time [512M]."),
    PF_ROW(SIZE, "limit-record-bytes", 0, "BYTES", PF_AT(open.limit_record_bytes),
           "The largest decompressed size of one compressed record [256M]."),
    {0},
};
const struct pf_option_group pf_limit_group = {"Limits against hostile files", limit_options};

static const struct pf_option common_options[] = {
    PF_FLAG("quiet", 'q', PF_AT(quiet),
            "Print errors only: no warnings, no progress, no header in report. The exit status is the same."),
    PF_FLAG("verbose", 'v', PF_AT(verbose),
            "Also print notes about unusual but harmless things, and all warnings of a kind instead of the first ten."),
    PF_VALUES(CHOICE, "color", 0, "WHEN", PF_AT(color), .table = pf_color_values,
              "Use colours in messages and in the text of report, check and info."),
    PF_FLAG(
        "pager", 0, PF_AT(pager),
        "Show the output in a pager if standard output is a terminal. The default for report, annotate, script, dump, "
        "info, list, check and help."),
    PF_FLAG("paginate", 0, PF_AT(pager), "perf's name for --pager.", .hidden = true),
    PF_FLAG("no-pager", 0, PF_AT(no_pager), "Do not use a pager."),
    PF_FLAG("no-sandbox", 0, PF_AT(no_sandbox),
            "Keep the rights to write files, run programs and use the network; see perfile(1)."),
    PF_FLAG("help", 'h', PF_AT(help), "Print the help of the verb, with --all all of its options."),
    PF_FLAG("all", 0, PF_AT(all), "With --help: all options.", .hidden = true),
    {0},
};
const struct pf_option_group pf_common_group = {"General", common_options};

bool pf_option_is_list(const struct pf_option *option)
{
    return pf_has_values(&option->values) && (option->kind == PF_OPTION_LIST || option->kind == PF_OPTION_FIELDS);
}

void pf_settings_init(struct pf_settings *settings)
{
    *settings = (struct pf_settings){
        .color = "auto",
        .index_from = (uint64_t)256 << 20,
        .open = PERFILE_OPEN_OPTIONS_INIT,
        .print = PERFILE_OUTPUT_OPTIONS_INIT,
        .filter = PERFILE_FILTER_INIT,
        .symbols = PERFILE_SYMBOL_OPTIONS_INIT,
        .flame = PERFILE_FLAME_OPTIONS_INIT,
        .report = PERFILE_REPORT_OPTIONS_INIT,
        .annotate = PERFILE_ANNOTATE_OPTIONS_INIT,
        .events = PERFILE_EVENT_OPTIONS_INIT,
        .dump = PERFILE_DUMP_OPTIONS_INIT,
        .exports = PERFILE_EXPORT_OPTIONS_INIT,
        .script = PERFILE_SCRIPT_OPTIONS_INIT,
        .stat = PERFILE_STAT_OPTIONS_INIT,
    };
    const char *cache = getenv("PERF_BUILDID_DIR"); /* which perf sets for its scripts */
    settings->symbols.buildid_dir = cache && *cache ? cache : pf_perf_config_build_ids();
    settings->print.filter = &settings->filter;
    settings->print.symbols = &settings->symbols;
    settings->print.flame = &settings->flame;
    settings->print.report = &settings->report;
    settings->print.annotate = &settings->annotate;
    settings->print.events = &settings->events;
    settings->print.dump = &settings->dump;
    settings->print.exports = &settings->exports;
    settings->print.script = &settings->script;
    settings->print.stat = &settings->stat;
}

void *pf_option_target(const struct pf_option *option, struct pf_settings *settings)
{
    const bool own = option->offset >= PF_OWN_OFFSET;

    return (char *)(own ? settings->own : settings) + option->offset - (own ? PF_OWN_OFFSET : 0);
}

/* Texts that grow with each option are from malloc. */
static void free_own(struct pf_settings *settings)
{
    const struct pf_command *command = settings->own_command;

    for (const struct pf_option_group *const *group = command ? command->groups : NULL; group && *group; group++)
        for (const struct pf_option *option = (*group)->options; option->name; option++)
            if (option->offset >= PF_OWN_OFFSET && option->kind == PF_OPTION_LINES)
                free(*(char **)pf_option_target(option, settings));
    free(settings->own);
    settings->own = NULL;
    settings->own_command = NULL;
}

void pf_settings_free(struct pf_settings *settings)
{
    free(settings->fields);
    free(settings->record.events);
    free(settings->record.probes);
    for (size_t i = 0; i < settings->record.filter_count; i++)
        free(settings->record.filters[i]);
    free(settings->record.filters);
    free_own(settings);
    settings->fields = NULL;
}

const struct pf_command *pf_command_find(const char *name)
{
    for (const struct pf_command *const *command = pf_commands; *command; command++)
        if (!strcmp((*command)->name, name))
            return *command;
    return NULL;
}

bool pf_command_has_group(const struct pf_command *command, const struct pf_option_group *group)
{
    for (size_t i = 0; command->groups[i]; i++)
        if (command->groups[i] == group)
            return true;
    return false;
}

#define CANDIDATE_BYTES 400

/* ---- values ---------------------------------------------------------------------------------------------------- */

/* One option as it was given, for messages. */
struct passed {
    const struct pf_command *command;
    const struct pf_option *option;
    char spelling[64]; /* "-i" or "--input" */
};

/* A message about the command line. */
__attribute__((format(printf, 2, 3))) static int complain(const struct pf_command *command, const char *format, ...)
{
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    pf_message("%s%s%s", command->name, command->name[0] ? ": " : "", text);
    return PF_STATUS_USAGE;
}

static const char *where_to_read(const struct pf_command *command, char buffer[80])
{
    if (!command->name[0])
        snprintf(buffer, 80, "%s help lists the verbs", pf_program_name());
    else
        snprintf(buffer, 80, "%s help %s lists the options", pf_program_name(), command->name);
    return buffer;
}

static bool scale_of(const char *suffix, uint64_t *scale)
{
    static const char letters[] = "KMGT";
    const char *letter;

    *scale = 1;
    if (!*suffix)
        return true;
    letter = strchr(letters, *suffix >= 'a' ? *suffix - 'a' + 'A' : *suffix);
    if (!letter || suffix[1])
        return false;
    for (; letter >= letters; letter--)
        *scale *= 1024;
    return true;
}

static bool parse_number(const char *text, bool is_size, uint64_t *value)
{
    uint64_t scale = 1;
    size_t digits = strspn(text, "0123456789");

    if (is_size && !strcmp(text, "unlimited")) {
        *value = UINT64_MAX;
        return true;
    }
    *value = 0;
    for (size_t i = 0; i < digits; i++)
        if (__builtin_mul_overflow(*value, 10, value) || __builtin_add_overflow(*value, text[i] - '0', value))
            return false;
    if (!digits || (is_size ? !scale_of(text + digits, &scale) : text[digits] != 0))
        return false;
    /* A size of 0 means "the default" to the library, which users do not expect. */
    return !__builtin_mul_overflow(*value, scale, value) && (*value || !is_size);
}

static int set_number(const struct passed *passed, const char *text, void *to)
{
    bool is_size = passed->option->kind == PF_OPTION_SIZE;

    if (parse_number(text, is_size, to))
        return PF_STATUS_OK;
    return complain(passed->command, "invalid value \"%s\" for %s: expected %s", text, passed->spelling,
                    is_size ? "a positive number of bytes, such as 4096, 64K, 2G or unlimited"
                            : "an integer from 0 to 2^64 - 1");
}

/* The name of a fixed list of values, of an option or, without one, of an operand. */
static int check_choice(const struct pf_command *command, const struct pf_values *values, const char *option,
                        const char *text)
{
    struct pf_guess guess = pf_guess_start(text);
    char list[768] = "", suggestion[80];
    const char *value, *doc;

    for (size_t i = 0; (value = pf_value_at(values, command, i, &doc)); i++) {
        size_t used = strlen(list);

        if (!strcmp(value, text))
            return PF_STATUS_OK;
        pf_guess_offer(&guess, value);
        snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "", value);
    }
    return complain(command, "invalid %s \"%s\"%s%s%s (valid: %s)", option ? "value" : "argument", text,
                    option ? " for " : "", option ? option : "",
                    pf_guess_text(&guess, "", suggestion, sizeof(suggestion)), list);
}

static bool is_choice(const struct pf_command *command, const struct pf_values *values, const char *text)
{
    const char *value, *doc;

    for (size_t i = 0; (value = pf_value_at(values, command, i, &doc)); i++)
        if (!strcmp(value, text))
            return true;
    return false;
}

static int set_choice(const struct passed *passed, const char *text, const char **to)
{
    *to = text;
    return check_choice(passed->command, &passed->option->values, passed->spelling, text);
}

/* Several of them. */
static int set_words(const struct passed *passed, const char *text, const char **to)
{
    char word[CANDIDATE_BYTES];
    int status = PF_STATUS_OK;

    *to = text;
    for (size_t bytes; *text && !status; text += bytes + (text[bytes] != 0)) {
        bytes = strcspn(text, ",");
        snprintf(word, sizeof(word), "%.*s", (int)(bytes < sizeof(word) ? bytes : sizeof(word) - 1), text);
        status = check_choice(passed->command, &passed->option->values, passed->spelling, word);
    }
    return status;
}

/* An unreadable file is refused here: else the output would have no symbols, without any message. */
static int set_file(const struct passed *passed, const char *text, const char **to)
{
    struct stat about;
    const bool exists = stat(text, &about) == 0 && access(text, R_OK) == 0;

    *to = text;
    if (exists && !S_ISDIR(about.st_mode))
        return PF_STATUS_OK;
    complain(passed->command, "%s %s: %s", passed->spelling, text, strerror(exists ? EISDIR : errno));
    return PF_STATUS_UNREADABLE;
}

/* "s3://", "https://". */
static bool is_address(const char *text)
{
    const size_t bytes = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");

    return isalpha((unsigned char)*text) && !strncmp(text + bytes, "://", 3);
}

/* Refuses addresses as outputs, which are files or folders of this machine: a folder "s3:" would be created. */
static int set_text(const struct passed *passed, const char *text, const char **to)
{
    const struct pf_option *option = passed->option;
    const bool is_output = option->is_output || option->offset == offsetof(struct pf_settings, output);

    *to = text;
    if (!is_output || !is_address(text))
        return PF_STATUS_OK;
    return complain(passed->command,
                    "%s %s: outputs are files of this machine; write there, then copy with rclone or "
                    "aws s3 sync (of a dataset _perfile last)",
                    passed->spelling, text);
}

int pf_text_join(char **list, const char *separator, const char *text)
{
    char *joined = NULL;

    if (asprintf(&joined, "%s%s%s", *list ? *list : "", *list ? separator : "", text) < 0)
        return pf_out_of_memory(NULL);
    free(*list);
    *list = joined;
    return PF_STATUS_OK;
}

/*
 * perf takes -F several times: "+a" and "-b" change what was chosen, "sw:LIST" and "trace:LIST" choose by kind of
 * event. Changes are joined with commas, complete requests with semicolons.
 */
static int add_fields(const char *text, char **fields)
{
    const bool changes = *fields && strchr("+-", **fields) && strchr("+-", *text) && !strchr(*fields, ';');

    return pf_text_join(fields, changes ? "," : ";", text);
}

static int set_option(const struct passed *passed, const char *text, struct pf_settings *settings)
{
    const struct pf_option *option = passed->option;
    void *to = pf_option_target(option, settings);

    if (option->set)
        return option->set(option, text, settings);
    switch (option->kind) {
    case PF_OPTION_FLAG:
        *(bool *)to = true;
        return PF_STATUS_OK;
    case PF_OPTION_BITS:
        *(unsigned *)to |= option->bits;
        return PF_STATUS_OK;
    case PF_OPTION_TEXT:
    case PF_OPTION_LIST:
        return set_text(passed, text, to);
    case PF_OPTION_FILE:
        return set_file(passed, text, to);
    case PF_OPTION_CHOICE:
        return set_choice(passed, text, to);
    case PF_OPTION_WORDS:
        return set_words(passed, text, to);
    case PF_OPTION_FIELDS:
        return add_fields(text, to);
    case PF_OPTION_EVENTS:
        return pf_text_join(to, ",", text);
    case PF_OPTION_LINES:
        return pf_text_join(to, "\n", text);
    case PF_OPTION_NUMBER:
    case PF_OPTION_SIZE:
        return set_number(passed, text, to);
    default:
        return PF_STATUS_OK;
    }
}

/* ---- the command line ------------------------------------------------------------------------------------------ */

struct parse {
    const struct pf_command *command;
    struct pf_settings *settings;
    char **next; /* NULL-terminated */
};

static const struct pf_option *find_option(const struct pf_command *command, const char *name, size_t bytes,
                                           char letter)
{
    for (const struct pf_option_group *const *group = command->groups; *group; group++)
        for (const struct pf_option *option = (*group)->options; option->name; option++)
            if (letter ? option->letter == letter : !strncmp(option->name, name, bytes) && !option->name[bytes])
                return option;
    return NULL;
}

char pf_option_letter(const struct pf_command *command, const struct pf_option *option)
{
    return option->letter && find_option(command, NULL, 0, option->letter) == option ? option->letter : 0;
}

/* As in perf and other programs, a name may be cut off when no other option begins so. `list` names those that do. */
static const struct pf_option *find_beginning(const struct pf_command *command, const char *name, size_t bytes,
                                              char list[CANDIDATE_BYTES])
{
    const struct pf_option *found = NULL;
    size_t count = 0, used = 0;

    list[0] = 0;
    for (const struct pf_option_group *const *group = command->groups; *group; group++)
        for (const struct pf_option *option = (*group)->options; option->name; option++) {
            if (!bytes || option->hidden || strncmp(option->name, name, bytes) != 0)
                continue;
            found = option;
            if (used < CANDIDATE_BYTES)
                used +=
                    (size_t)snprintf(list + used, CANDIDATE_BYTES - used, "%s--%s", count ? ", " : "", option->name);
            count++;
        }
    return count == 1 ? found : NULL;
}

/* ", but report has it": the option may have been meant for another verb. */
static const char *verbs_with(const char *name, size_t bytes, char buffer[80])
{
    for (const struct pf_command *const *command = pf_commands; *command; command++)
        if (find_option(*command, name, bytes, 0)) {
            snprintf(buffer, 80, ", but %s %s has it", pf_program_name(), (*command)->name);
            return buffer;
        }
    return "";
}

static int unknown_long(const struct pf_command *command, const char *name, size_t bytes)
{
    char wanted[PF_GUESS_BYTES], suggestion[80], advice[80];
    struct pf_guess guess;

    snprintf(wanted, sizeof(wanted), "%.*s", (int)bytes, name);
    guess = pf_guess_start(wanted);
    for (const struct pf_option_group *const *group = command->groups; *group; group++)
        for (const struct pf_option *option = (*group)->options; option->name; option++)
            if (!option->hidden)
                pf_guess_offer(&guess, option->name);
    return complain(command, "unknown option --%s%s (%s)", wanted,
                    guess.best ? pf_guess_text(&guess, "--", suggestion, sizeof(suggestion))
                               : verbs_with(name, bytes, suggestion),
                    where_to_read(command, advice));
}

/* Options that only perf has; options of the verb are found before. */
static const struct perf_option {
    const char *verbs, *name;
    char letter;
    const char *argument, *instead;
} perf_options[] = {
#define PF_PERF_OPTION(verbs, name, letter, argument, instead) {verbs, name, letter, argument, instead},
#include "perf_options.def"
#undef PF_PERF_OPTION
};

/* Finds an option of perf by its name, or by its letter if that is not 0. */
static const struct perf_option *find_perfs(const struct pf_command *command, const char *name, size_t bytes,
                                            char letter)
{
    char verb[PF_GUESS_BYTES];

    snprintf(verb, sizeof(verb), " %s ", command->name);
    for (size_t i = 0; i < sizeof(perf_options) / sizeof(perf_options[0]); i++) {
        const struct perf_option *option = &perf_options[i];
        const bool is_meant =
            letter ? option->letter == letter : !strncmp(option->name, name, bytes) && !option->name[bytes];
        if (is_meant && strstr(option->verbs, verb))
            return option;
    }
    return NULL;
}

/* `value` is the text after the option in the same argument, or NULL. */
static int take_perfs(struct parse *parse, const struct perf_option *option, const char *spelling, const char *value)
{
    static const char nothing[] = "nothing: ";
    const bool has_way = option->instead && strncmp(option->instead, nothing, sizeof(nothing) - 1) != 0;
    char advice[80];

    if (option->instead)
        return complain(parse->command, "unknown option %s%s%s (%s)", spelling, has_way ? "; instead: " : ": ",
                        option->instead + (has_way ? 0 : sizeof(nothing) - 1), where_to_read(parse->command, advice));
    if (value && !option->argument)
        return complain(parse->command, "%s takes no value", spelling);
    if (!value && option->argument && option->argument[0] != '[' && !*parse->next)
        return complain(parse->command, "%s needs a value: %s %s", spelling, spelling, option->argument);
    if (!value && option->argument && option->argument[0] != '[')
        parse->next++;
    return PF_STATUS_OK;
}

/* Whether the argument after an option with an optional value is its value, not an option, a recording or a command. */
static bool is_value(const struct passed *passed, const char *argument)
{
    if (!argument || argument[0] == '-')
        return false;
    if (passed->option->kind == PF_OPTION_NUMBER)
        return *argument && !argument[strspn(argument, "0123456789")];
    if (passed->command->takes_command)
        return (argument[0] >= '0' && argument[0] <= '9') || !strcmp(argument, passed->option->usual);
    return access(argument, F_OK) != 0;
}

/* `value` is the text after the option in the same argument, or NULL. */
static int apply(struct parse *parse, struct passed *passed, const char *value)
{
    if (!value && passed->option->usual && !is_value(passed, *parse->next))
        value = passed->option->usual;
    if (passed->option->argument && !value)
        value = *parse->next ? *parse->next++ : NULL;
    if (passed->option->argument && !value)
        return complain(passed->command, "%s needs a value: %s %s", passed->spelling, passed->spelling,
                        passed->option->argument);
    return set_option(passed, value, parse->settings);
}

static int parse_long(struct parse *parse, const char *name)
{
    size_t bytes = strcspn(name, "=");
    const char *value = name[bytes] ? name + bytes + 1 : NULL;
    struct passed passed = {parse->command, find_option(parse->command, name, bytes, 0), ""};
    char candidates[CANDIDATE_BYTES] = "";
    const struct perf_option *perfs = passed.option ? NULL : find_perfs(parse->command, name, bytes, 0);

    if (perfs) {
        snprintf(passed.spelling, sizeof(passed.spelling), "--%s", perfs->name);
        return take_perfs(parse, perfs, passed.spelling, value);
    }
    if (!passed.option)
        passed.option = find_beginning(parse->command, name, bytes, candidates);
    if (!passed.option && candidates[0])
        return complain(parse->command, "ambiguous option --%.*s; valid: %s", (int)bytes, name, candidates);
    if (!passed.option)
        return unknown_long(parse->command, name, bytes);
    snprintf(passed.spelling, sizeof(passed.spelling), "--%s", passed.option->name);
    if (value && !passed.option->argument)
        return complain(parse->command, "%s takes no value", passed.spelling);
    return apply(parse, &passed, value);
}

/* "-q", "-qv", "-j2": letters without a value, then at most one with a value. */
static int parse_short(struct parse *parse, const char *letters)
{
    int status = PF_STATUS_OK;

    for (; *letters && !status; letters++) {
        struct passed passed = {parse->command, find_option(parse->command, NULL, 0, *letters), {'-', *letters, 0}};
        const struct perf_option *perfs = passed.option ? NULL : find_perfs(parse->command, NULL, 0, *letters);
        char advice[80];

        if (perfs && perfs->argument)
            return take_perfs(parse, perfs, passed.spelling, letters[1] ? letters + 1 : NULL);
        if (perfs) {
            status = take_perfs(parse, perfs, passed.spelling, NULL);
            continue;
        }
        if (!passed.option)
            return complain(parse->command, "unknown option -%c (%s)", *letters, where_to_read(parse->command, advice));
        if (passed.option->argument)
            return apply(parse, &passed, letters[1] ? letters + 1 : NULL);
        status = apply(parse, &passed, NULL);
    }
    return status;
}

/* A recording stands where a view is expected. */
static int choose_view(const struct pf_command *command, const char *file)
{
    return command->shows_usual_view
               ? PF_STATUS_OK
               : complain(command, "which view? %s %s %s %s (all views: %s %s --help)", pf_program_name(),
                          command->name, command->usual_view, file, pf_program_name(), command->name);
}

static int check_operands(const struct parse *parse)
{
    const struct pf_command *command = parse->command;
    struct pf_settings *settings = parse->settings;

    if (settings->operand_count > command->operand_max) {
        pf_message("%s: unexpected argument \"%s\" (usage: %s %s [OPTIONS]%s%s)", command->name,
                   settings->operands[command->operand_max], pf_program_name(), command->name,
                   command->operand ? " " : "", command->operand ? command->operand : "");
        return PF_STATUS_USAGE;
    }
    if (!pf_has_values(&command->operand_values) || command->operand_is_free || !settings->operand_count)
        return PF_STATUS_OK;
    const char *first = settings->operands[0];
    if (command->usual_view && !is_choice(command, &command->operand_values, first) && access(first, F_OK) == 0)
        return choose_view(command, first);
    return check_choice(command, &command->operand_values, NULL, first);
}

/* --all is not an option of the verb's own. */
static bool is_of_help(const struct pf_command *command)
{
    return find_option(command, "all", 3, 0)->hidden && strcmp(command->name, "help") != 0;
}

/* Allocates the settings of the verb, unless another part of the command line already did. */
static int make_own(const struct pf_command *command, struct pf_settings *settings)
{
    if (settings->own || !command->own_bytes)
        return PF_STATUS_OK;
    settings->own = calloc(1, command->own_bytes);
    settings->own_command = settings->own ? command : NULL;
    if (!settings->own)
        pf_message("out of memory");
    return settings->own ? PF_STATUS_OK : PF_STATUS_MEMORY;
}

/* From here on all is the command line of a program, which the verb records itself. */
static void take_workload(struct parse *parse)
{
    struct pf_settings *settings = parse->settings;
    char **to = settings->operands + settings->operand_count;

    settings->workload = *parse->next ? to : NULL;
    while (*parse->next)
        *to++ = *parse->next++;
    if (settings->workload)
        *to = NULL;
}

static bool is_workload(const struct parse *parse, const char *argument)
{
    const struct pf_command *command = parse->command;

    return command->is_command && !parse->settings->operand_count && command->is_command(argument);
}

int pf_options_parse(const struct pf_command *command, char **arguments, struct pf_settings *settings)
{
    struct parse parse = {command, settings, arguments};
    int status = make_own(command, settings);

    settings->operands = arguments; /* operands move to the front, over arguments that were read already */
    while (*parse.next && !status) {
        char *argument = *parse.next++;

        if (!strcmp(argument, "--") && command->shows_command) {
            take_workload(&parse);
        } else if (!strcmp(argument, "--") ||
                   ((!command->name[0] || command->takes_command) && (argument[0] != '-' || !argument[1]))) {
            parse.next -= strcmp(argument, "--") != 0;
            while (*parse.next)
                settings->operands[settings->operand_count++] = *parse.next++;
        } else if (argument[0] == '-' && argument[1] == '-') {
            status = parse_long(&parse, argument + 2);
        } else if (argument[0] == '-' && argument[1]) {
            status = parse_short(&parse, argument + 1);
        } else if (is_workload(&parse, argument)) {
            parse.next--;
            take_workload(&parse);
        } else {
            settings->operands[settings->operand_count++] = argument;
        }
    }
    settings->print.fields = settings->fields;
    if (!status && settings->all && !settings->help && command->run && is_of_help(command))
        return complain(command, "--all belongs to --help");
    return status || settings->help || !command->name[0] ? status : check_operands(&parse);
}

/* ---- lists that the library refused ---------------------------------------------------------------------------- */

/* The token is a word of the list: "+a", "-a", "TYPE:a" and "a" are all about a. */
static const char *suggest_of_list(const struct pf_command *command, const struct pf_option *option, const char *list,
                                   const char *token, char buffer[80])
{
    struct pf_guess guess = pf_guess_start(token);
    const char *value, *doc;

    for (size_t i = 0; (value = pf_value_at(&option->values, command, i, &doc)); i++)
        pf_guess_offer(&guess, value);
    return *token && strstr(list, token) && guess.distance ? pf_guess_text(&guess, "", buffer, 80) : "";
}

const char *pf_options_suggest(const struct pf_command *command, struct pf_settings *settings, const char *token,
                               char buffer[80])
{
    const char *text = "";

    for (const struct pf_option_group *const *group = command->groups; *group && !*text; group++)
        for (const struct pf_option *option = (*group)->options; option->name && !*text; option++)
            if (pf_option_is_list(option) && *(const char **)pf_option_target(option, settings))
                text =
                    suggest_of_list(command, option, *(const char **)pf_option_target(option, settings), token, buffer);
    return text;
}
