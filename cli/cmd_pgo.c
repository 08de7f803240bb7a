/* SPDX-License-Identifier: MIT */
/* Profiles for optimisers: recordings are added up by binary, and written in the format of one of them. */
#include "build_ids.h"
#include "inputs.h"
#include "sandbox.h"
#include "stream.h"

#include <perfile/pgo.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct settings {
    const char *binary;   /* NULL: not given */
    const char *build_id; /* NULL: not given */
    const char *gcc;      /* NULL: not given */
    bool kernel;
    bool force;
    uint64_t max_traces;
};

static const char *format_at(size_t index, const char **doc)
{
    const struct perfile_pgo_format *format = perfile_pgo_format_at(index);

    *doc = format ? format->doc : NULL;
    return format ? format->name : NULL;
}

/* The format counts branches by the calls that led to them. */
static bool needs_contexts(const char *name)
{
    const struct perfile_pgo_format *format;

    for (size_t i = 0; (format = perfile_pgo_format_at(i)) != NULL; i++)
        if (!strcmp(format->name, name))
            return format->needs_contexts;
    return false;
}

static const struct pf_value gcc_versions[] = {
    {"11", "GCC up to 11", 11},
    {"12", "GCC 12 and later", 12},
    {0},
};

static const struct pf_option output_options[] = {
    PF_VALUES(CHOICE, "format", 0, "FORMAT", PF_AT(format), .known = format_at,
              "The profile, which is named after the program that reads it.", .first = true),
    PF_ROW(FILE, "binary", 0, "FILE", PF_OWN(binary),
           "The binary to be optimised. Its build id must be the recorded one; without one, its name decides.",
           .first = true),
    PF_ROW(TEXT, "buildid", 0, "ID", PF_OWN(build_id),
           "The binary with this build id, which is searched where symbols would be."),
    PF_ROW(TEXT, "output", 'o', "OUT", PF_AT(output),
           "Write to OUT, which appears when it is complete. Without --binary and --buildid, OUT is a folder with a "
           "profile for each binary that was found, named after it.",
           .first = true),
    PF_VALUES(CHOICE, "gcc", 0, "VERSION", PF_OWN(gcc), .table = gcc_versions,
              "gcov: the version of GCC that reads it [12]."),
    PF_FLAG("kernel", 0, PF_OWN(kernel), "Of the kernel, whose vmlinux is --binary, instead of processes."),
    PF_FLAG("force", 'f', PF_OWN(force), "Use --binary even if its build id differs from the recorded one."),
    PF_ROW(NUMBER, "limit-traces", 0, "N", PF_OWN(max_traces),
           "Keep at most N distinct branches with the code after them [16777216]; more are an error."),
    PF_OPTION_ITRACE,
    {0},
};

struct run {
    const struct pf_command *command;
    struct pf_settings *settings;
    struct pf_inputs inputs;
    struct pf_log log;
    struct pf_progress progress;
    struct perfile_pgo *pgo;
    struct perfile_error error;
    size_t written; /* profiles */
};

static int usage(const struct run *run, const char *text)
{
    pf_message("%s: %s", run->command->name, text);
    return PF_STATUS_USAGE;
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

static bool is_folder_output(const struct run *run)
{
    const struct settings *own = pf_own(run->settings);

    return !own->binary && !own->build_id;
}

static int refuse_without_format(const struct run *run)
{
    char known[256] = "";
    const char *doc, *name;

    for (size_t i = 0; (name = format_at(i, &doc)) != NULL; i++)
        snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s", i ? ", " : "", name);
    pf_message("%s: no --format given; valid: %s", run->command->name, known);
    return PF_STATUS_USAGE;
}

/* Refuses options that do not go together. */
static int check(struct run *run)
{
    const struct pf_settings *settings = run->settings;
    const struct settings *own = pf_own(settings);

    if (!settings->format)
        return refuse_without_format(run);
    if (own->binary && own->build_id)
        return usage(run, "--binary and --buildid exclude each other");
    if (own->kernel && !own->binary)
        return usage(run, "--kernel needs --binary VMLINUX");
    if (needs_contexts(settings->format) && (!own->binary || own->kernel))
        return usage(run, "contexts are counted of one program: --binary FILE, without --kernel");
    if (own->gcc && strcmp(settings->format, "gcov"))
        return usage(run, "--gcc is for --format gcov");
    if (is_folder_output(run) && (!settings->output || pf_stream_is_standard(settings->output)))
        return usage(run, "all binaries need a folder: -o FOLDER; of one: --binary FILE or --buildid ID");
    return PF_STATUS_OK;
}

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;

    return at ? (int)(at - digits) : -1;
}

static int parse_build_id(const struct run *run, const char *text, struct perfile_pgo_options *options)
{
    size_t count = 0;

    for (const char *at = text; at && *at; at += 2, count++) {
        const int high = hex_digit(at[0]), low = high < 0 ? -1 : hex_digit(at[1]);
        if (low < 0 || count == sizeof(options->build_id)) {
            pf_message("%s: invalid value \"%s\" for --buildid: expected up to 40 hexadecimal digits, two a byte",
                       run->command->name, text);
            return PF_STATUS_USAGE;
        }
        options->build_id[count] = (uint8_t)(high * 16 + low);
    }
    options->build_id_bytes = (uint8_t)count;
    return PF_STATUS_OK;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* How to record what a profile could not be made without. */
static void advise(const char *message)
{
    static const char branches[] = "perfile record -b -- COMMAND records all branches that were taken";
    static const struct {
        const char *reason, *advice;
    } advices[] = {
        {"empty because no sample has a branch stack", branches},
        {"empty because the branch stacks are call stacks", branches},
        {"empty because only some kinds of branches were recorded", branches},
        {"empty because no sample has a callchain",
         "perfile record -b --call-graph fp -- COMMAND records callchains beside the branches"},
    };

    for (size_t i = 0; i < sizeof(advices) / sizeof(advices[0]); i++)
        if (strstr(message, advices[i].reason))
            pf_message_advice("%s", advices[i].advice);
}

static int failure(const struct run *run, int code)
{
    pf_message("%s: %s", run->command->name, pf_error_sentence(&run->error, run->command->name));
    if (code == PERFILE_ERROR_ABSENT)
        advise(run->error.message);
    if (code == PERFILE_ERROR_ARGUMENT || code == PERFILE_ERROR_UNSUPPORTED)
        return PF_STATUS_USAGE;
    if (code == PERFILE_ERROR_ABSENT || code == PERFILE_ERROR_LIMIT)
        return PF_STATUS_FINDINGS;
    return pf_status_of_error(code, code == PERFILE_ERROR_WRITE ? PF_STATUS_OUTPUT : PF_STATUS_UNREADABLE);
}

static int open_pgo(struct run *run)
{
    const struct settings *own = pf_own(run->settings);
    struct perfile_pgo_options options = PERFILE_PGO_OPTIONS_INIT;
    const int status = parse_build_id(run, own->build_id, &options);

    if (status)
        return status;
    run->settings->symbols.note = pf_log_note;
    run->settings->symbols.note_context = &run->log;
    options.filter = &run->settings->filter;
    options.symbols = &run->settings->symbols;
    options.binary = own->binary;
    options.any_build = own->force;
    options.kernel = own->kernel;
    options.contexts = needs_contexts(run->settings->format);
    options.max_traces = own->max_traces;
    options.unmatched = pf_log_unmatched;
    options.unmatched_context = &run->log;
    if (pf_progress_start(&run->progress, run->command->name)) {
        options.progress = pf_progress_update;
        options.progress_context = &run->progress;
    }
    const int result = perfile_pgo_open(&options, &run->pgo, &run->error);
    return result < 0 ? failure(run, result) : PF_STATUS_OK;
}

/* What is damaged is counted as far as it can be read. */
static int read_all(struct run *run)
{
    int status = PF_STATUS_OK;

    for (size_t i = 0; i < run->inputs.count; i++) {
        struct pf_input *input = &run->inputs.inputs[i];
        const int result = perfile_pgo_add(run->pgo, input->reader, &input->error);
        pf_progress_clear();
        pf_log_finish(&input->log);
        if (result < 0)
            status = pf_input_failure(input, result);
        if (status > PF_STATUS_FINDINGS || result == PERFILE_ERROR_LIMIT)
            return status;
        if (pf_input_losses(input))
            status = PF_STATUS_FINDINGS;
    }
    const int result = perfile_pgo_end(run->pgo, &run->error);
    return result < 0 ? failure(run, result) : status;
}

/* ---- what became of the data ------------------------------------------------------------------------------------- */

static const char *match_text(const struct perfile_pgo_binary *binary)
{
    return binary->match == PERFILE_PGO_MATCH_BUILD_ID ? "its build id matches"
           : binary->match == PERFILE_PGO_MATCH_FORCED ? "its build id differs (--force)"
                                                       : "matched by its name: no build id was recorded";
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

static void report_used(const struct perfile_pgo_binary *binary, const struct perfile_pgo_counts *counts)
{
    char samples[PF_COUNTED_BYTES], branches[PF_COUNTED_BYTES], functions[80] = "";
    char used[PF_GROUPED_BYTES];

    if (counts->functions)
        snprintf(functions, sizeof(functions), "; functions reached: %llu of %llu",
                 (unsigned long long)counts->functions_reached, (unsigned long long)counts->functions);
    pf_message_advice("%s: %s of %s used, %s%s; %s", base_name(binary->path), pf_grouped(counts->samples_used, used),
                      pf_counted(counts->samples, "samples", samples),
                      pf_counted(counts->branches, "records of branches", branches), functions, match_text(binary));
}

/* A line for each cause that took something away. */
static void report_drops(const struct perfile_pgo_binary *binary, const struct perfile_pgo_counts *counts)
{
    const struct {
        uint64_t count;
        const char *what;
    } causes[] = {
        {counts->samples - counts->samples_used, "samples elsewhere"},
        {binary->has_branches ? counts->samples_without_branches : 0, "samples without a branch stack"},
        {counts->samples_of_calls, "samples with call stacks, which are not branches that were taken"},
        {counts->samples_filtered, "samples without all kinds of branches: no ranges are made of them"},
        {counts->branches_outside, "records of branches from or to other code"},
        {counts->branches_wrong_path, "records of branches that the processor took back; they do not count"},
        {counts->branches_no_code, "records of branches dropped: an end is not an instruction"},
        {counts->ranges_backwards, "ranges dropped: the end is before the start"},
        {counts->ranges_long, "ranges dropped: longer than 1 MiB"},
        {counts->ranges_no_code, "ranges dropped: an end is not an instruction"},
        {counts->ranges_jumps, "ranges dropped: an unconditional jump lies between the ends"},
        {counts->functions_unnamed, "functions left out: no debug info"},
        {counts->samples_without_callers, "samples without a callchain: the callers are not known"},
        {counts->samples_between_frames, "samples left out: functions begin or end there, and callers are not known"},
        {counts->contexts_unknown, "records of branches without callers: code before them cannot have run"},
    };
    char text[PF_COUNTED_BYTES];

    for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
        if (causes[i].count)
            pf_message_advice("%s: %s", base_name(binary->path), pf_counted(causes[i].count, causes[i].what, text));
    if (!binary->has_branches)
        pf_message_advice("%s: addresses of %s alone, the weaker kind of profile; branch stacks (record -b) say more",
                          base_name(binary->path), binary->event);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* PF_STATUS_FINDINGS: nothing was usable, which is reported unless `quiet`. */
static int write_one(struct run *run, size_t index, const char *path, bool quiet)
{
    const struct settings *own = pf_own(run->settings);
    struct perfile_pgo_write_options options = PERFILE_PGO_WRITE_OPTIONS_INIT;
    struct perfile_pgo_counts counts = PERFILE_PGO_COUNTS_INIT;
    struct perfile_pgo_binary binary = PERFILE_PGO_BINARY_INIT;
    struct pf_stream stream;
    const struct perfile_sink sink = {&stream, pf_stream_write};
    int status = pf_stream_open(&stream, path);

    if (status)
        return status;
    options.format = run->settings->format;
    options.gcc = own->gcc ? pf_value_number(gcc_versions, own->gcc) : 0;
    options.counts = &counts;
    const int result = perfile_pgo_write(run->pgo, index, &options, &sink, &run->error);
    status = pf_stream_close(&stream, result == 0);
    if (result == PERFILE_ERROR_ABSENT && quiet)
        return PF_STATUS_FINDINGS;
    if (result < 0)
        return failure(run, result);
    if (perfile_pgo_binary_at(run->pgo, index, &binary) == 0) {
        report_used(&binary, &counts);
        report_drops(&binary, &counts);
    }
    run->written++;
    return status;
}

/* Recordings without any sample of the binary do not have it among their binaries. */
static int write_asked(struct run *run)
{
    const struct settings *own = pf_own(run->settings);
    struct perfile_pgo_counts counts = PERFILE_PGO_COUNTS_INIT;

    if (perfile_pgo_binary_count(run->pgo))
        return write_one(run, 0, run->settings->output, false);
    if (perfile_pgo_counts_get(run->pgo, SIZE_MAX, &counts) < 0 || !counts.samples)
        pf_message("%s: empty because there are no samples", run->command->name);
    else
        pf_message("%s: empty because no sample is in %s", run->command->name,
                   own->binary ? own->binary : own->build_id);
    return PF_STATUS_FINDINGS;
}

/* FOLDER/NAME.FORMAT; of several binaries of a name, those after the first have the start of their build id, too. */
static char *path_in_folder(const struct run *run, const struct perfile_pgo_binary *binary, size_t index)
{
    char id[PF_BUILD_ID_TEXT], *path = NULL;
    bool again = false;

    for (size_t i = 0; i < index; i++) {
        struct perfile_pgo_binary other = PERFILE_PGO_BINARY_INIT;
        again |= perfile_pgo_binary_at(run->pgo, i, &other) == 0 && other.path &&
                 !strcmp(base_name(other.name), base_name(binary->name));
    }
    pf_build_id_text(binary->build_id, binary->build_id_bytes, id);
    if (again && !*id)
        snprintf(id, sizeof(id), "%zu", index);
    return asprintf(&path, "%s/%s%s%.12s.%s", run->settings->output, base_name(binary->name), again ? "-" : "",
                    again ? id : "", run->settings->format) < 0
               ? NULL
               : path;
}

static int write_into_folder(struct run *run, size_t index)
{
    struct perfile_pgo_binary binary = PERFILE_PGO_BINARY_INIT;

    if (perfile_pgo_binary_at(run->pgo, index, &binary) < 0 || !binary.path)
        return PF_STATUS_OK;
    char *path = path_in_folder(run, &binary, index);
    const int status = path ? write_one(run, index, path, true) : PF_STATUS_MEMORY;
    free(path);
    return status > PF_STATUS_FINDINGS ? status : PF_STATUS_OK;
}

static int write_all(struct run *run)
{
    const char *folder = run->settings->output;
    const bool made = mkdir(folder, 0777) == 0;
    int status = PF_STATUS_OK;

    if (!made && errno != EEXIST) {
        pf_message("%s: cannot write: %s", folder, strerror(errno));
        return PF_STATUS_OUTPUT;
    }
    for (size_t i = 0; i < perfile_pgo_binary_count(run->pgo) && !status; i++)
        status = write_into_folder(run, i);
    if (run->written || status)
        return status;
    if (made)
        rmdir(folder);
    pf_message("%s: empty because no binary was found that branches or samples are in (see --symfs, --buildid-dir)",
               run->command->name);
    return PF_STATUS_FINDINGS;
}

/* ---- the verb ---------------------------------------------------------------------------------------------------- */

static int open_inputs(struct run *run)
{
    static char *usual[] = {"perf.data"};
    const struct pf_settings *settings = run->settings;
    char **paths = settings->operand_count ? settings->operands : usual;
    const size_t count = settings->operand_count ? settings->operand_count : 1;
    int status = pf_inputs_check(run->command, paths, count);

    if (!status)
        status = pf_inputs_set(&run->inputs, run->command, run->settings, paths, count);
    if (status)
        return status;
    if (settings->output && pf_inputs_have(&run->inputs, settings->output))
        return usage(run, "--output is one of the input recordings");
    pf_sandbox_enter(run->command, run->settings);
    return pf_inputs_open(&run->inputs);
}

static int run_pgo(const struct pf_command *command, struct pf_settings *settings)
{
    struct run run = {.command = command, .settings = settings, .log.input = command->name};
    int status = check(&run);

    if (!status)
        status = open_inputs(&run);
    if (!status)
        status = open_pgo(&run);
    const int read = status ? status : read_all(&run);
    status = read > PF_STATUS_FINDINGS || !run.pgo ? read
             : is_folder_output(&run)              ? write_all(&run)
                                                   : write_asked(&run);
    perfile_pgo_close(run.pgo);
    pf_inputs_close(&run.inputs);
    return status ? status : read;
}

const struct pf_command pf_command_pgo = {
    .name = "pgo",
    .summary = "write profiles for compilers and binary optimisers",
    .doc = "Adds up the taken branches of recordings by binary (record -b; or --itrace for traces), and writes what "
           "BOLT, LLVM, AutoFDO or GCC optimise the binary by. All processes and recordings of the binary are counted, "
           "wherever it was loaded. What was used and what was dropped is reported on standard error; with nothing "
           "usable there is no output, and the exit status is 1; with another build of the binary it is 2. "
           "doc/pgo.md leads from a recording to a faster program.",
    .operand = "[FILE...]",
    .operand_max = SIZE_MAX,
    .own_bytes = sizeof(struct settings),
    .groups = {PF_GROUP("Output", output_options), &pf_filter_group, &pf_symbol_group, &pf_forceless_group,
               &pf_limit_group, &pf_common_group},
    .run = run_pgo,
};
