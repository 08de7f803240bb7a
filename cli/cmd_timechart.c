/* SPDX-License-Identifier: MIT */
/* perf's timechart: the page of flame, with the tracks of what `timechart record` records. */
#include "message.h"
#include "options.h"
#include "picture.h"
#include "stream.h"

#include <string.h>

struct settings {
    const char *process; /* NULL: all */
};

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    const char *process = pf_own(settings)->process;

    if (process && strspn(process, "0123456789") == strlen(process))
        settings->filter.pids = process;
    else if (process)
        settings->filter.comms = process;
    settings->kind = "flame";
    settings->format = "html";
    settings->output = settings->output ? settings->output : "timechart.html";
    settings->flame.max_nodes = pf_nodes_that_fit(PERFILE_FLAME_NODE_BYTES);
    const int status = pf_picture_choose(command, settings);
    return pf_picture_notify(settings, status ? status : pf_run_output(command, settings));
}

static const struct pf_option options[] = {
    PF_ROW(TEXT, "output", 'o', "FILE", PF_AT(output), "The page to write, - for standard output [timechart.html].",
           .first = true),
    PF_ROW(TEXT, "process", 'p', "PROCESS", PF_OWN(process), "Only threads of this process, or of this name."),
    PF_IGNORED("power-only", 'P', NULL, "Ignored, for compatibility with perf: the page has what was recorded."),
    PF_IGNORED("tasks-only", 'T', NULL, "Ignored, for compatibility with perf: the page has what was recorded."),
    PF_IGNORED("topology", 't', NULL, "Ignored, for compatibility with perf: CPUs are sorted by number."),
    PF_IGNORED("width", 'w', "N", "Ignored, for compatibility with perf: the page fits the window."),
    PF_IGNORED("proc-num", 'n', "N", "Ignored, for compatibility with perf: the page has all threads."),
    PF_IGNORED("highlight", 0, "WHAT", "Ignored, for compatibility with perf: the page has a search."),
    PF_IGNORED("io-merge-dist", 0, "TIME", "Ignored, for compatibility with perf: the page is zoomed."),
    PF_IGNORED("io-min-time", 0, "TIME", "Ignored, for compatibility with perf: the page is zoomed."),
    PF_IGNORED("io-skip-eagain", 0, NULL, "Ignored, for compatibility with perf: all events are shown."),
    {0},
};

const struct pf_command pf_command_timechart = {
    .name = "timechart",
    .summary = "draw what CPUs and tasks did over time, as an offline html page",
    .doc =
        "Writes the page of perfile flame, for recordings of perfile timechart record or perf timechart record: "
        "tracks of CPUs and threads, when these ran, waited and blocked, the idle states and frequencies of CPUs, "
        "wake-ups and system calls. perfile timechart record records the events, with the options of perfile record.",
    .operand = "[FILE] | record [COMMAND [ARGUMENT...]]",
    .operand_max = 1,
    .own_bytes = sizeof(struct settings),
    .groups = {PF_GROUP("Options", options), PF_SAMPLE_GROUPS},
    .run = run,
};
