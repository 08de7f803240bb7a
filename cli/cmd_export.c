/* SPDX-License-Identifier: MIT */
#include "message.h"
#include "options.h"
#include "viewer.h"
#include <stdio.h>

static bool ends_in(const char *text, const char *end)
{
    const size_t bytes = strlen(text), wanted = strlen(end);

    return bytes >= wanted && !strcmp(text + bytes - wanted, end);
}

static int refuse_without_format(const struct pf_command *command)
{
    char known[256] = "";
    const char *doc, *name;

    for (size_t i = 0; (name = pf_format_at(command, i, &doc)) != NULL; i++)
        snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s", i ? ", " : "", name);
    pf_message("%s: no --format given; valid: %s", command->name, known);
    return PF_STATUS_USAGE;
}

static const struct {
    const char *format;
    struct pf_viewer viewer;
} viewers[] = {
    {"speedscope", {"speedscope", "open it at https://www.speedscope.app"}},
    {"callgrind", {"kcachegrind", "open it with KCachegrind, or read it with callgrind_annotate"}},
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

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    int status;

    if (!settings->format)
        return refuse_without_format(command);
    if (settings->output && !strcmp(settings->output, "-"))
        settings->output = NULL;
    settings->print.gzip = settings->output && ends_in(settings->output, ".gz");
    status = choose_viewer(command, settings);
    return status ? status : pf_run_output(command, settings);
}

static const char *key_at(const struct pf_command *command, size_t index, const char **doc)
{
    static const char *const keys[][2] = {
        {"event", "none of the others"}, {"pid", "process"},   {"tid", "thread, and process"},
        {"comm", "name of the thread"},  {"cpu", "processor"}, {"cgroup", "control group"},
        {"time", "steps of 100 ms"}};
    (void)command;
    if (index >= sizeof(keys) / sizeof(*keys))
        return NULL;
    *doc = keys[index][1];
    return keys[index][0];
}

static const struct pf_option options[] = {
    PF_OPTION_FORMAT,
    {.name = "by",
     .kind = PF_OPTION_LIST,
     .argument = "KEYS",
     .offset = offsetof(struct pf_settings, print.keys),
     .value_at = key_at,
     .doc = "pprof, otlp: keep samples apart by these, and label them so [pid,tid,comm,cpu,cgroup]. Fewer keys make a "
            "smaller file; "
            "event, which all samples are kept apart by, stands for none of the others."},
    PF_OPTION_NO_INLINE,
    PF_OPTION_UNWIND,
    {.name = "addresses",
     .kind = PF_OPTION_FLAG,
     .offset = offsetof(struct pf_settings, print.addresses),
     .doc = "callgrind: write the cost of each instruction, not of each source line."},
    {.name = "output",
     .letter = 'o',
     .kind = PF_OPTION_TEXT,
     .argument = "OUT",
     .offset = offsetof(struct pf_settings, output),
     .doc =
         "Write to OUT, which appears when it is complete, instead of standard output. OUT is compressed when its name "
         "ends in .gz; - is standard output."},
    {.name = "open",
     .kind = PF_OPTION_FLAG,
     .offset = offsetof(struct pf_settings, shows),
     .doc = "speedscope, callgrind: open OUT with speedscope or KCachegrind, if they are installed."},
    {0},
};
static const struct pf_option_group group = {"Options", options};

const struct pf_command pf_command_export = {
    .name = "export",
    .summary = "write a profile for other programs",
    .doc = "Writes the samples of a recording with their stacks in the format of another program. Weights, inlined "
           "functions, source lines, build ids, threads and times are kept where the format has room for them; what it "
           "has no room for is said on standard error. The profiles of several recordings become one.",
    .operand = "[FILE...]",
    .operand_max = SIZE_MAX,
    .groups = {&group, &pf_filter_group, &pf_symbol_group, &pf_input_group, &pf_limit_group, &pf_common_group},
    .run = run,
};
