/* SPDX-License-Identifier: MIT */
#include "options.h"

#define AT(member) offsetof(struct pf_settings, print.flame.member)

static const struct pf_option options[] = {
    PF_OPTION_FORMAT,
    {.name = "event",
     .kind = PF_OPTION_TEXT,
     .argument = "NAME",
     .offset = AT(event),
     .doc = "Which event's samples an svg or folded output shows; without it the event with the most samples. The page "
            "holds all events."},
    {.name = "by-pid",
     .kind = PF_OPTION_BITS,
     .offset = AT(threads),
     .bits = PERFILE_FLAME_BY_PID,
     .doc = "Keep processes of one name apart."},
    {.name = "by-tid",
     .kind = PF_OPTION_BITS,
     .offset = AT(threads),
     .bits = PERFILE_FLAME_BY_TID,
     .doc = "Keep threads of one name apart."},
    {.name = "count-samples",
     .kind = PF_OPTION_FLAG,
     .offset = AT(count_samples),
     .doc = "Let every sample weigh 1 instead of its period."},
    {.name = "inverted",
     .letter = 'G',
     .kind = PF_OPTION_FLAG,
     .offset = AT(inverted),
     .doc = "svg: put the root on top (an icicle graph)."},
    {.name = "reverse",
     .kind = PF_OPTION_FLAG,
     .offset = AT(reverse),
     .doc = "svg: start from the functions that were running, and show who called them."},
    {.name = "annotate",
     .kind = PF_OPTION_FLAG,
     .offset = AT(annotate),
     .doc = "folded: put _[k], _[i] or _[j] behind kernel, inlined and JIT functions."},
    {.name = "title", .kind = PF_OPTION_TEXT, .argument = "TEXT", .offset = AT(title), .doc = "What stands on top."},
    PF_OPTION_NO_INLINE,
    PF_OPTION_OUTPUT,
    {0},
};
static const struct pf_option_group group = {"Options", options};

const struct pf_command pf_command_flame = {
    .name = "flame",
    .summary = "where the time went, as a flame graph: svg, offline page, or folded stacks",
    .doc = "Draws the callchains of a recording as a flame graph: an svg to look at in a browser, one html page that "
           "needs "
           "no network, or a line for each stack for other tools.",
    .operand = "[FILE]",
    .operand_max = 1,
    .groups = {&group, &pf_filter_group, &pf_symbol_group, &pf_input_group, &pf_limit_group, &pf_common_group},
    .run = pf_run_output,
};
