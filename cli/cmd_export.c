/* SPDX-License-Identifier: MIT */
#include "dataset/dataset.h"
#include "message.h"
#include "options.h"
#include "profile_file.h"
#include "sandbox.h"
#include "stream.h"
#include "viewer.h"

#include <perfile/table.h>

#include <stdio.h>

/* ---- formats ----------------------------------------------------------------------------------------------------- */

/* The formats of exports, then the binary formats of tables, and CTF, which also is a folder. */
static const char *format_at(const struct pf_command *command, size_t index, const char **doc)
{
    const char *name;
    size_t of_exports = 0;

    while ((name = pf_format_at(command, of_exports, doc)) != NULL && of_exports++ != index)
        ;
    if (name)
        return name;
    index -= of_exports;
    for (size_t i = 0; (name = perfile_table_format_at(i, doc)) != NULL; i++)
        if (perfile_table_format_is_binary(name) && index-- == 0)
            return name;
    *doc = "a trace in the Common Trace Format 1.8, for Babeltrace and Trace Compass: a folder";
    return index ? NULL : "ctf";
}

static int refuse_without_format(const struct pf_command *command)
{
    char known[256] = "";
    const char *doc, *name;

    for (size_t i = 0; (name = format_at(command, i, &doc)) != NULL; i++)
        snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s", i ? ", " : "", name);
    pf_message("%s: no --format given; valid: %s", command->name, known);
    return PF_STATUS_USAGE;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* A recording as tables that join: see the man page. */
static const struct pf_part parts[] = {
    {.view = "samples", .columns = "+stack_id"},
    {.view = "stacks", .keys = "stack"},
    {.view = "frames", .keys = "function"},
    {.view = "threads", .complete = true},
    {.view = "maps", .complete = true},
    {.view = "events", .complete = true},
    {.view = "meta", .complete = true},
    {.view = "losses", .complete = true},
    {0},
};

static int choose_tables(const struct pf_command *command, struct pf_settings *settings)
{
    const bool tables = perfile_table_format_is_binary(settings->format);
    const bool is_ctf = !strcmp(settings->format, "ctf");
    const char *why = settings->view && !tables ? "--view is for parquet and arrow"
                      : settings->view && settings->operand_count > 1
                          ? "--view takes one recording; without it each has a folder in OUT"
                      : is_ctf && !settings->output ? "the trace needs a folder: -o FOLDER"
                      : tables && !settings->view && !settings->output
                          ? "the tables need a folder: -o FOLDER, or --view VIEW for one of them"
                          : NULL;

    if ((tables && !settings->view) || is_ctf)
        settings->parts = is_ctf ? pf_ctf_parts : parts;
    if (why)
        pf_message("%s: %s", command->name, why);
    return why ? PF_STATUS_USAGE : PF_STATUS_OK;
}

/* ---- viewers ----------------------------------------------------------------------------------------------------- */

static const struct {
    const char *format;
    struct pf_viewer viewer;
} viewers[] = {
    {"speedscope", {"speedscope", "open it at https://www.speedscope.app"}},
    {"callgrind", {"kcachegrind", "open it with KCachegrind, or read it with callgrind_annotate"}},
    {"firefox",
     {.advice = "load it at https://profiler.firefox.com (Load a profile from file)",
      .page = "https://profiler.firefox.com"}},
    {"chrome", {.advice = "load it at https://ui.perfetto.dev (Open trace file)", .page = "https://ui.perfetto.dev"}},
};

static int choose_viewer(const struct pf_command *command, struct pf_settings *settings)
{
    if (!settings->shows)
        return PF_STATUS_OK;
    for (size_t i = 0; i < sizeof(viewers) / sizeof(viewers[0]); i++)
        if (!strcmp(viewers[i].format, settings->format))
            settings->viewer = &viewers[i].viewer;
    if (settings->viewer && settings->output)
        return PF_STATUS_OK;
    pf_message(settings->viewer ? "%s: --open needs -o OUT" : "%s: --open knows no program for this format",
               command->name);
    return PF_STATUS_USAGE;
}

/* ---- profiles ---------------------------------------------------------------------------------------------------- */

/* Writes the profile that is the only operand. */
static int write_profile(const struct pf_command *command, struct pf_settings *settings)
{
    struct perfile_profile *profile = NULL;
    int status = pf_profile_check_filter(command, settings);

    if (status)
        return status;
    if (settings->viewer)
        pf_viewer_prepare(settings->viewer, settings->output);
    pf_sandbox_enter(command, settings);
    status = pf_profile_load(settings->operands[0], &profile);
    settings->exports.profile = profile;
    if (!status)
        status = pf_profile_output(command, settings, settings->operands[0]);
    perfile_profile_close(profile);
    if (status <= PF_STATUS_FINDINGS)
        pf_viewer_show();
    return status;
}

/* ---- the verb ---------------------------------------------------------------------------------------------------- */

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    int status;

    settings->filter.calls = settings->calls ? "stacks" : NULL;
    if (!settings->format)
        return refuse_without_format(command);
    if (settings->partition)
        return pf_dataset_add(command, settings);
    if (pf_stream_is_standard(settings->output))
        settings->output = NULL;
    if ((status = choose_tables(command, settings)) || (status = choose_viewer(command, settings)))
        return status;
    if (settings->operand_count == 1 && pf_is_profile(settings->operands[0]))
        return write_profile(command, settings);
    return pf_run_output(command, settings);
}

static const struct pf_option options[] = {
    PF_OPTION_ITRACE,
    PF_OPTION_FORMAT_OF(.of_verb = format_at),
    PF_VALUES(CHOICE, "view", 0, "VIEW", PF_AT(view), .known = pf_view_at,
              "parquet, arrow: write this view alone, to a file instead of a folder."),
    PF_VALUES(LIST, "partition", 0, "KEYS", PF_AT(partition), .table = pf_dataset_keys_known,
              "parquet: add the recordings to the dataset OUT, a folder for SQL engines that is divided by these keys, "
              "such as host,date."),
    PF_VALUES(LIST, "by", 0, "KEYS", PF_AT(exports.keys), .known = perfile_profile_key_at,
              "pprof, otlp, profile: separate and label samples by these keys [pid,tid,comm,cpu,cgroup], columns of "
              "report that "
              "describe samples and fields of tracepoints among them. Fewer keys make a "
              "smaller file; samples are always separated by event, so that event alone means none of the others."),
    PF_OPTION_OFF_CPU,
    PF_OPTION_CALLS("firefox and chrome have all of them, with their begin and end."),
    PF_OPTION_NO_INLINE,
    PF_OPTION_UNWIND,
    PF_OPTION_STITCH,
    PF_FLAG("addresses", 0, PF_AT(exports.addresses),
            "callgrind: write the cost of each instruction, not of each source line."),
    PF_ROW(TEXT, "output", 'o', "OUT", PF_AT(output),
           "Write to OUT, which appears when it is complete, instead of standard output, which is -. OUT is "
           "compressed when its name ends in .gz; - is standard output. Of parquet and arrow, OUT is a folder with a "
           "file for each view, of several recordings with a folder for each; --view does not compress them, since "
           "they are compressed themselves."),
    PF_FLAG("open", 0, PF_AT(shows),
            "speedscope, callgrind: open OUT with speedscope or KCachegrind, if they are installed. firefox, chrome: "
            "open the page of their viewer in the browser, and say how to load OUT there."),
    {0},
};

const struct pf_command pf_command_export = {
    .name = "export",
    .summary = "write a profile for other programs",
    .doc = "Writes the samples of a recording with their stacks in the format of another program. Weights, inlined "
           "functions, source lines, build ids, threads and times are kept where the format can hold them; what it "
           "cannot hold is reported on standard error. The profiles of several recordings become one. Instead of a "
           "recording it takes a profile, a file of --format profile or of a program of your own.",
    .operand = "[FILE...]",
    .operand_max = SIZE_MAX,
    .groups = {PF_GROUP("Options", options), PF_SAMPLE_GROUPS},
    .run = run,
};
