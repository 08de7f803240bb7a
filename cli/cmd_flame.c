/* SPDX-License-Identifier: MIT */
#include "file_text.h"
#include "message.h"
#include "options.h"
#include "picture.h"
#include "profile_file.h"
#include "sandbox.h"
#include "viewer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct settings {
    unsigned by; /* --by under its older names */
};

#define AT(member) PF_AT(flame.member)
#define TEXT(option, value, member, ...) PF_ROW(TEXT, option, 0, value, AT(member), __VA_ARGS__)
#define FLAG(option, short_option, member, ...) PF_FLAG(option, short_option, AT(member), __VA_ARGS__)

enum { BY_PID = 1, BY_TID = 2 };

static const struct pf_option options[] = {
    PF_OPTION_ITRACE,
    PF_OPTION_FORMAT,
    TEXT("event", "NAME", event,
         "The event to draw in svg and folded output; the default is the event with the most samples. The html page "
         "has all events and starts with this one. Where a processor has several kinds of cores, cpu_core/cycles/ and "
         "cpu_atom/cycles/ are one event, cycles; --events cpu_atom/cycles/ leaves one of them.",
         .first = true),
    PF_OPTION_OFF_CPU,
    PF_OPTION_CALLS("html has all of them, in the stack chart and in tracks of threads."),
    TEXT("by", "LIST", by,
         "Grouping levels above the root function, outermost first: comm (thread name), pid (name and process), tid "
         "(name, process and thread), cpu, time (slices of --time-quantum), or several, such as cpu,comm. Also columns "
         "of "
         "report that describe samples, such as mem or dso, and fields of tracepoints: in a page these are below all "
         "other levels, as the outermost functions. The default is comm; the html page can also show the threads of "
         "one name separately.",
         .first = true),
    TEXT("time-quantum", "TIME", time_quantum, "With --by time: the length of a slice, in s, ms, us or ns [100ms]."),
    PF_BITS("by-pid", 0, PF_OWN(by), BY_PID, "The same as --by pid: show processes with the same name separately."),
    PF_BITS("by-tid", 0, PF_OWN(by), BY_TID, "The same as --by tid: show threads with the same name separately."),
    PF_ROW(TEXT, "from-folded", 0, "STACKS", PF_AT(from_folded),
           "Draw the folded stacks of the file STACKS, of standard input with -, instead of a recording: lines such as "
           "main;work 12, as queries and other tools make them. With two numbers in each line, the weights before and "
           "now, the picture shows what changed."),
    FLAG("count-samples", 0, count_samples, "Count each sample as 1 instead of its period."),
    FLAG("reverse", 0, reverse,
         "svg, html: start from the functions that were running and show their callers. The html page can switch this "
         "itself."),
    FLAG("annotate", 0, annotate, "folded: append _[k], _[i] or _[j] to kernel, inlined and JIT functions."),
    PF_ROW(SIZE, "page-size", 0, "SIZE", AT(page_bytes),
           "html: how large the recording in the page may be [16M]. In a larger one, samples are joined into slices "
           "of time, then the lightest stacks are left out; the page says so."),
    PF_ROW(NUMBER, "max-nodes", 0, "N", AT(max_nodes),
           "Keep at most N nodes in the graph of an event (functions below their callers), about 64 bytes each. "
           "Samples in further nodes are then drawn without the callers between their thread and their function; the "
           "picture, and a note, say how many. The default is as many as fit into three quarters of the machine's "
           "memory."),
    PF_OPTION_CODE,
    PF_OPTION_SOURCE_DIR,
    TEXT("title", "TEXT", title, "The title of the picture.", .first = true),
    PF_OPTION_NO_INLINE,
    PF_OPTION_UNWIND,
    PF_OPTION_STITCH,
    PF_ROW(
        TEXT, "output", 'o', "FILE", PF_AT(output),
        "Write to FILE instead of standard output, which is -. FILE appears when it is complete, compressed when its "
        "name ends in .gz. Without --format, x.html and x.folded have the format of their names. Without FILE, svg and "
        "html go to flame.svg and flame.html in the current folder when standard output is a terminal; a file that is "
        "there is renamed to flame.svg.old or flame.html.old.",
        .first = true),
    PF_OPTION_FAIL_EMPTY,
    PF_FLAG(
        "open", 0, PF_AT(shows),
        "svg, html: open the file in a browser: $BROWSER, or what xdg-open finds. Without --output it is flame.svg or "
        "flame.html, also when standard output is not a terminal.",
        .first = true),
    {0},
};

static const struct pf_option compare_options[] = {
    PF_ROW(TEXT, "before", 0, "OLD", PF_AT(before),
           "Compare with the recording OLD. The widths are FILE's; increases are red and decreases blue. folded: two "
           "columns, OLD's and FILE's, as difffolded.pl prints them. Filters apply to both.",
           .first = true),
    FLAG("normalize", 'n', normalize, "Scale both recordings to the same total, for recordings of different length."),
    FLAG("negate", 0, negate,
         "svg: swap red and blue. With the recordings swapped (--before NEW OLD) it shows what will change, including "
         "stacks that disappeared."),
    {0},
};

static const struct pf_option svg_options[] = {
    FLAG("inverted", 'G', inverted,
         "Put the root on top (an icicle graph). The html page does so by default, and can be flipped.", .first = true),
    PF_VALUES(CHOICE, "colors", 0, "PALETTE", AT(colors), .known = perfile_flame_palette_at,
              "How frames of svg are coloured [kind]; with a palette of FlameGraph's, such as hot, the picture "
              "looks as flamegraph.pl's."),
    PF_ROW(NUMBER, "width", 0, "PIXELS", AT(width), "The width of the picture [1200]."),
    TEXT("min-width", "WIDTH", min_width,
         "Omit narrower frames: in pixels, or with % as a percentage of the total [0.1]. The picture says how many "
         "were omitted."),
    {0},
};

/* ---- folded stacks ----------------------------------------------------------------------------------------------- */

/* Reads the complete file. NULL: a message was printed, and *status is set. */
static char *read_stacks(FILE *file, const char *name, size_t *bytes, int *status)
{
    char *text = pf_file_text(file, (size_t)1 << 31, bytes);
    const int error = errno;

    if (text)
        return text;
    *status = error == ENOMEM ? PF_STATUS_MEMORY : PF_STATUS_UNREADABLE;
    pf_message("%s: %s", name,
               error == EFBIG    ? "more than 2 GiB of stacks"
               : error == ENOMEM ? "out of memory"
                                 : strerror(error));
    return NULL;
}

static int draw_folded(const struct pf_command *command, struct pf_settings *settings)
{
    const bool is_standard = !strcmp(settings->from_folded, "-");
    const char *name = is_standard ? "standard input" : settings->from_folded;
    char *text = NULL;
    int status = PF_STATUS_UNREADABLE;

    if (settings->operand_count || settings->input || settings->before || settings->flame.by) {
        pf_message("%s: --from-folded takes stacks as they are: no recording, no --before and no --by", command->name);
        return PF_STATUS_USAGE;
    }
    if (settings->viewer && settings->output)
        pf_viewer_prepare(settings->viewer, settings->output);
    pf_sandbox_enter(command, settings);
    FILE *file = is_standard ? stdin : fopen(settings->from_folded, "re");
    if (!file)
        pf_message("%s: %s", name, strerror(errno));
    else
        text = read_stacks(file, name, &settings->flame.folded_bytes, &status);
    if (text) {
        settings->flame.folded = text;
        status = pf_profile_output(command, settings, name);
    }
    if (file && !is_standard)
        fclose(file);
    free(text);
    if (status <= PF_STATUS_FINDINGS)
        pf_viewer_show();
    return status;
}

/* ---- profiles ---------------------------------------------------------------------------------------------------- */

static int load(const struct pf_command *command, const char *path, struct perfile_profile **profile)
{
    if (pf_is_profile(path))
        return pf_profile_load(path, profile);
    pf_message("%s: %s is a recording: a profile is compared with a profile", command->name, path);
    return PF_STATUS_USAGE;
}

/* Draws the profile that is the only operand. */
static int draw_profile(const struct pf_command *command, struct pf_settings *settings)
{
    struct perfile_profile *now = NULL, *before = NULL;
    int status = pf_profile_check_filter(command, settings);

    if (status)
        return status;
    if (settings->viewer && settings->output)
        pf_viewer_prepare(settings->viewer, settings->output);
    pf_sandbox_enter(command, settings);
    status = load(command, settings->operands[0], &now);
    if (!status && settings->before)
        status = load(command, settings->before, &before);
    settings->flame.profile = now;
    settings->flame.profile_before = before;
    if (!settings->flame.event)
        settings->flame.event = settings->filter.events;
    if (!status)
        status = pf_profile_output(command, settings, settings->operands[0]);
    perfile_profile_close(now);
    perfile_profile_close(before);
    if (status <= PF_STATUS_FINDINGS)
        pf_viewer_show();
    return status;
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    int status;

    if (pf_own(settings)->by && settings->flame.by) {
        pf_message("%s: --by-pid and --by-tid cannot be combined with --by", command->name);
        return PF_STATUS_USAGE;
    }
    if (pf_own(settings)->by)
        settings->flame.by = pf_own(settings)->by & BY_TID ? "tid" : "pid";
    settings->filter.calls = settings->calls ? "stacks" : NULL;
    if (!settings->flame.max_nodes)
        settings->flame.max_nodes = pf_nodes_that_fit(PERFILE_FLAME_NODE_BYTES);
    status = pf_picture_choose(command, settings);
    if (!status)
        status = settings->from_folded                                             ? draw_folded(command, settings)
                 : settings->operand_count && pf_is_profile(settings->operands[0]) ? draw_profile(command, settings)
                                                                                   : pf_run_output(command, settings);
    return pf_picture_notify(settings, status);
}

const struct pf_command pf_command_flame = {
    .name = "flame",
    .summary = "draw a flame graph: svg, offline html page, or folded stacks",
    .doc = "Draws the callchains of a recording as a flame graph: an svg, an html page that works offline, or folded "
           "stacks (one line per stack) for other tools. With --before it shows what changed between two recordings.",
    PF_ONE_RECORDING,
    .own_bytes = sizeof(struct settings),
    .groups = {PF_GROUP("Options", options), PF_GROUP("Comparing", compare_options),
               PF_GROUP("Drawing (svg)", svg_options), PF_SAMPLE_GROUPS},
    .run = run,
};
