/* SPDX-License-Identifier: MIT */
#include "message.h"
#include "options.h"

#define AT(member) offsetof(struct pf_settings, flame.member)
#define TEXT(option, value, member, text)                                                                              \
    {                                                                                                                  \
        .name = option, .kind = PF_OPTION_TEXT, .argument = value, .offset = AT(member), .doc = text                   \
    }
#define FLAG(option, short_option, member, text)                                                                       \
    {                                                                                                                  \
        .name = option, .letter = short_option, .kind = PF_OPTION_FLAG, .offset = AT(member), .doc = text              \
    }

enum { BY_PID = 1, BY_TID = 2 };

static const char *palette_at(const struct pf_command *command, size_t index, const char **doc)
{
    (void)command;
    return perfile_flame_palette_at(index, doc);
}

static const struct pf_option options[] = {
    PF_OPTION_FORMAT,
    TEXT("event", "NAME", event,
         "Which event's samples an svg or folded output shows; without it the event with the most samples. The page "
         "holds all events and begins with this one."),
    TEXT("by", "LIST", by,
         "What stands at the bottom of the stacks, from the root on: comm (the thread's name), pid (name and process), "
         "tid (name, process and thread), cpu, time (pieces of --time-quantum), or several of them, such as cpu,comm. "
         "The default is comm; the page keeps threads apart and joins those of one name until asked."),
    TEXT("time-quantum", "TIME", time_quantum, "With --by time: how long a piece is, in s, ms, us or ns [100ms]."),
    {.name = "by-pid",
     .kind = PF_OPTION_BITS,
     .offset = offsetof(struct pf_settings, flame_bits),
     .bits = BY_PID,
     .doc = "The same as --by pid: keep processes of one name apart."},
    {.name = "by-tid",
     .kind = PF_OPTION_BITS,
     .offset = offsetof(struct pf_settings, flame_bits),
     .bits = BY_TID,
     .doc = "The same as --by tid: keep threads of one name apart."},
    FLAG("count-samples", 0, count_samples, "Let every sample weigh 1 instead of its period."),
    FLAG("reverse", 0, reverse,
         "svg, html: start from the functions that were running, and show who called them. The page can change that "
         "itself."),
    FLAG("annotate", 0, annotate, "folded: put _[k], _[i] or _[j] behind kernel, inlined and JIT functions."),
    TEXT("title", "TEXT", title, "What stands on top."),
    PF_OPTION_NO_INLINE,
    PF_OPTION_UNWIND,
    PF_OPTION_OUTPUT,
    {0},
};
static const struct pf_option_group group = {"Options", options};

static const struct pf_option compare_options[] = {
    {.name = "before",
     .kind = PF_OPTION_TEXT,
     .argument = "OLD",
     .offset = offsetof(struct pf_settings, before),
     .doc = "Compare with the recording OLD. The widths are FILE's; what became more is red and what became less is "
            "blue. folded: two columns, OLD's and FILE's, as difffolded.pl makes them. Filters hold for both."},
    FLAG("normalize", 'n', normalize,
         "Compare as if both recordings had the same total: for recordings of different length."),
    FLAG("negate", 0, negate,
         "svg: change red and blue. With the recordings exchanged (--before NEW OLD) it shows what will change, and "
         "also "
         "the stacks that are no more."),
    {0},
};
static const struct pf_option_group compare_group = {"Comparing", compare_options};

static const struct pf_option svg_options[] = {
    FLAG("inverted", 'G', inverted,
         "Put the root on top (an icicle graph). The page does so anyway, and can be flipped."),
    {.name = "colors",
     .kind = PF_OPTION_CHOICE,
     .argument = "PALETTE",
     .offset = AT(colors),
     .value_at = palette_at,
     .doc = "What the frames are coloured with [kind]."},
    {.name = "width",
     .kind = PF_OPTION_NUMBER,
     .argument = "PIXELS",
     .offset = AT(width),
     .doc = "How wide it is [1200]."},
    TEXT(
        "min-width", "WIDTH", min_width,
        "Leave out frames that are narrower: in pixels, or with % as a share of everything [0.1]. The picture says how "
        "many these are."),
    {0},
};
static const struct pf_option_group svg_group = {"Drawing (svg)", svg_options};

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    if (settings->flame_bits && settings->flame.by) {
        pf_message("%s: --by says already what stacks are kept apart by", command->name);
        return PF_STATUS_USAGE;
    }
    if (settings->flame_bits)
        settings->flame.by = settings->flame_bits & BY_TID ? "tid" : "pid";
    return pf_run_output(command, settings);
}

const struct pf_command pf_command_flame = {
    .name = "flame",
    .summary = "where the time went, as a flame graph: svg, offline page, or folded stacks",
    .doc =
        "Draws the callchains of a recording as a flame graph: an svg to look at in a browser, one html page that "
        "needs no network, or a line for each stack for other tools. With --before it shows what changed between two "
        "recordings.",
    .operand = "[FILE]",
    .operand_max = 1,
    .groups = {&group, &compare_group, &svg_group, &pf_filter_group, &pf_symbol_group, &pf_input_group, &pf_limit_group,
               &pf_common_group},
    .run = run,
};
