/* SPDX-License-Identifier: MIT */
#include "message.h"
#include "views.h"

#include <stdio.h>
#include <string.h>

struct settings {
    const char *display, *coalesce; /* NULL: not given */
    bool doubled;                   /* lines are pairs of lines */
};

static const struct pf_subview views[] = {
    {"report", "cache_lines", true, "cache lines with their loads and stores, the most contended first"},
    {"accesses", "cache_line_accesses", false, "which code accessed which bytes of the lines"},
    {0},
};

static const struct pf_value displays[] = {
    {"tot", "by loads of modified lines; the default"},
    {"lcl", "by those within a memory node"},
    {"rmt", "by those from another node"},
    {"peer", "by loads that other caches answered, for processors that do not report modified lines"},
    {0},
};

static const struct pf_value parts[] = {
    {"pid", "process"},
    {"tid", "thread"},
    {"iaddr", "address of the instruction; the default"},
    {"dso", "file that holds it"},
    {0},
};

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    const char *display = pf_own(settings)->display, *coalesce = pf_own(settings)->coalesce;
    char keys[128];

    if (display || coalesce || pf_own(settings)->doubled) {
        snprintf(keys, sizeof(keys), "%s,%s%s", display ? display : "tot", coalesce ? coalesce : "iaddr",
                 pf_own(settings)->doubled ? ",double" : "");
        settings->keys = keys;
        settings->events.keys = keys;
    }
    return pf_run_subview(command, settings);
}

static const struct pf_option options[] = {
    PF_OPTIONS_OF_VIEWS,
    PF_VALUES(CHOICE, "display", 'd', "HOW", PF_OWN(display), .table = displays, "The order of the lines."),
    PF_VALUES(LIST, "coalesce", 'c', "LIST", PF_OWN(coalesce), .table = parts,
              "What distinguishes rows within a line, besides the offset: pid, tid, iaddr, dso [iaddr]."),
    PF_FLAG("double-cl", 0, PF_OWN(doubled), "Lines are pairs of neighbours, which some processors fetch together."),
    PF_OPTION_ITRACE,
    PF_OPTION_OUTPUT,
    {0},
};

#define FLAG(option, bit, text) PF_BITS(option, 0, PF_AT(events.flags), bit, text)
static const struct pf_option perf_options[] = {
    FLAG("stats", PERFILE_EVENTS_SUMMARY, "report: only the sums."),
    FLAG("show-all", PERFILE_EVENTS_ALL_LINES, "report: also the lines without contention."),
    FLAG("no-source", PERFILE_EVENTS_NO_SOURCE, "report: without source lines."),
    PF_IGNORED("full-symbols", 0, NULL, "Ignored, for compatibility with perf: no name is cut."),
    {0},
};

const struct pf_command pf_command_c2c = {
    .name = "c2c",
    .summary = "show contended cache lines, and the code that accesses them",
    .doc = "Adds up sampled memory accesses by cache line: report is a row for each line, with its loads by where they "
           "were answered, its stores, and whether threads share bytes of it (true sharing) or only the line (false "
           "sharing); accesses is a row for each offset and instruction. perfile c2c record "
           "records them if the processor supports it, with the options of perfile record; best with -a. "
           "VIEW may be left out: report." PF_SHOWS_COMMAND,
    PF_SUBVIEWS_USUAL(views, 2, "report"),
    .own_bytes = sizeof(struct settings),
    .groups = {PF_GROUP("Options", options), PF_GROUP(PF_PERF_TEXT, perf_options, true), PF_SAMPLE_GROUPS},
    .run = run,
};
