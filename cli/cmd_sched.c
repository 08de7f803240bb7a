/* SPDX-License-Identifier: MIT */
#include "message.h"
#include "views.h"

#include <string.h>
#include <unistd.h>

static const struct pf_subview views[] = {
    {"timehist", "sched_timehist", true, "every time that a task left its CPU: how long it ran, and waited before",
     NULL, true},
    {"latency", "sched_latency", true, "how long the tasks of each name waited for a CPU"},
    {"map", "sched_map", true, "every switch of a CPU from one task to another", NULL, true},
    {"summary", "sched_summary", false, "what each task did, with percentiles", NULL, true},
    {"cpu", "sched_cpu", false, "what each CPU did", NULL, true},
    {"stats", "sched_stats", true, "what the scheduler counted of each CPU and domain: stats report, stats diff", NULL,
     true},
    {0},
};

/* "1,2" */
static bool is_ids(const char *text)
{
    return *text && !text[strspn(text, "0123456789,")];
}

/* "max,avg" */
static bool is_sort(const char *text)
{
    static const char *const keys[] = {"avg", "max", "switch", "count", "runtime", "pid"};
    bool known = true;

    for (; known && *text; text += strspn(text, ",")) {
        const size_t length = strcspn(text, ",");

        known = false;
        for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
            known |= strlen(keys[i]) == length && !strncmp(keys[i], text, length);
        text += length;
    }
    return known;
}

/* Removes the first operand after the view that is_value() accepts. Returns it, or NULL when none is accepted. */
static const char *take_operand(struct pf_settings *settings, bool (*is_value)(const char *text))
{
    for (size_t i = 1; i < settings->operand_count; i++)
        if (is_value(settings->operands[i])) {
            const char *value = settings->operands[i];

            for (size_t k = i + 1; k < settings->operand_count; k++)
                settings->operands[k - 1] = settings->operands[k];
            settings->operand_count--;
            return value;
        }
    return NULL;
}

/*
 * Removes and returns the first of two operands after the view. NULL when there is only one, or when it names a file.
 */
static const char *take_word(struct pf_settings *settings)
{
    const char *word = settings->operand_count > 2 ? settings->operands[1] : NULL;

    if (!word || access(word, F_OK) == 0)
        return NULL;
    settings->operands[1] = settings->operands[2];
    settings->operand_count--;
    return word;
}

/* Letters that mean something else for each view of perf: latency -s KEYS, timehist -p PIDS. */
static void take_letters(struct pf_settings *settings)
{
    const char *view = settings->operand_count ? settings->operands[0] : "", *value;

    if (!strcmp(view, "latency") && settings->events.sched & PERFILE_SCHED_SUMMARY &&
        ((value = take_operand(settings, is_sort)) || (value = take_word(settings))))
        settings->events.sort = value;
    if (!strcmp(view, "latency"))
        settings->events.sched &= ~(unsigned)PERFILE_SCHED_SUMMARY;
    if (!strcmp(view, "timehist") && settings->events.sched & PERFILE_SCHED_BY_TID &&
        (value = take_operand(settings, is_ids)))
        settings->filter.pids = value;
}

/* Removes the operand after the view if it is this word. */
static bool take_view_word(struct pf_settings *settings, const char *word)
{
    if (settings->operand_count < 2 || strcmp(settings->operands[1], word) != 0)
        return false;
    settings->operands[1] = settings->operands[0];
    settings->operands++;
    settings->operand_count--;
    return true;
}

/*
 * perf's "stats report [FILE]", "stats diff BEFORE AFTER" and "stats COMMAND", which records what it shows. A status,
 * after a message.
 */
static int take_stats(const struct pf_command *command, struct pf_settings *settings)
{
    const bool is_diff = take_view_word(settings, "diff");
    const bool is_report = !is_diff && take_view_word(settings, "report");

    if (is_diff) {
        if (settings->operand_count != 3) {
            pf_message("%s stats diff: two recordings are needed: BEFORE AFTER", command->name);
            return PF_STATUS_USAGE;
        }
        settings->before = settings->operands[1];
        settings->operands[1] = settings->operands[2];
        settings->operand_count--;
    } else if (!is_report && settings->operand_count > 1 && access(settings->operands[1], F_OK) != 0) {
        settings->operands[settings->operand_count] = NULL;
        settings->workload = settings->operands + 1;
        settings->operand_count = 1;
    }
    settings->record.options.schedstat = settings->workload != NULL;
    return PF_STATUS_OK;
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    const bool is_stats = settings->operand_count && !strcmp(settings->operands[0], "stats");
    const int status = is_stats ? take_stats(command, settings) : PF_STATUS_OK;

    take_letters(settings);
    if (status)
        return status;
    if (settings->operand_count > 2) {
        pf_message("%s: unexpected argument \"%s\"", command->name, settings->operands[2]);
        return PF_STATUS_USAGE;
    }
    if (settings->events.sched & PERFILE_SCHED_BY_TID)
        settings->keys = "tid";
    if (settings->report.time_quantum)
        settings->keys = "time";
    return pf_run_subview(command, settings);
}

static const struct pf_value keys[] = {
    {"avg", "average delay"},
    {"max", "longest delay"},
    {"switch", "how often it waited"},
    {"count", "the same"},
    {"runtime", "how long it ran"},
    {"pid", "thread id"},
    {0},
};

#define FLAG(option, short_option, bit, text) PF_BITS(option, short_option, PF_AT(events.sched), bit, text)
static const struct pf_option options[] = {
    PF_OPTIONS_OF_VIEWS,
    PF_OPTION_DUMP,
    PF_ROW(TEXT, "time-quantum", 0, "TIME", PF_AT(report.time_quantum),
           "cpu: a row for each CPU and this much time, such as 10ms or 1s: how busy it was, and how long tasks waited "
           "for it, over time."),
    FLAG("pids", 'p', PERFILE_SCHED_BY_TID,
         "latency: show tasks of the same name separately. timehist: -p PIDS is --pid, as in perf."),
    PF_VALUES(
        LIST, "sort", 0, "KEYS", PF_AT(events.sort), .table = keys,
        "latency: sort by these: avg, max, switch, runtime, pid; as in perf also -s KEYS [avg,max,switch,runtime]."),
    PF_ROW(TEXT, "prio", 0, "LIST", PF_AT(events.priorities),
           "timehist: only runs that began with these priorities: 0-99,120."),
    PF_OPTION_OUTPUT,
    {0},
};

static const struct pf_option perf_options[] = {
    FLAG("summary", 's', PERFILE_SCHED_SUMMARY, "timehist: print only the sums of each task and CPU."),
    FLAG("with-summary", 'S', PERFILE_SCHED_WITH_SUMMARY, "timehist: also print the sums of each task and CPU."),
    FLAG(
        "state", 0, PERFILE_SCHED_STATE,
        "timehist: also print the state in which a task left its CPU; the sums are of sleep, I/O wait and preemption."),
    FLAG("wakeups", 'w', PERFILE_SCHED_WAKEUPS, "timehist: also print wakeups."),
    FLAG("migrations", 'M', PERFILE_SCHED_MIGRATIONS, "timehist: also print migrations."),
    FLAG("pre-migrations", 'P', PERFILE_SCHED_PRE_MIGRATION,
         "timehist: also print how long a task waited before it was moved to another CPU."),
    FLAG("cpu-visual", 'V', PERFILE_SCHED_CPUS, "timehist: add a column with a character for each CPU."),
    FLAG("next", 'n', PERFILE_SCHED_NEXT, "timehist: also print the next task."),
    FLAG("show-prio", 0, PERFILE_SCHED_PRIORITY,
         "timehist: also print priorities, and both priorities of a task that came to its CPU with another one than it "
         "had left with."),
    FLAG("idle-hist", 'I', PERFILE_SCHED_IDLE,
         "timehist: print idle times only; the sums are of the tasks before them."),
    PF_ROW(TEXT, "cpus", 0, "LIST", PF_AT(events.cpus), "map: only switches of these CPUs."),
    PF_ROW(TEXT, "task-name", 0, "LIST", PF_AT(events.tasks),
           "map: only switches to and from tasks of these names; others are -."),
    FLAG("fuzzy-name", 0, PERFILE_SCHED_PARTS, "map: --task-name lists parts of names."),
    FLAG("compact", 0, PERFILE_SCHED_COMPACT, "map: only CPUs that have switches, in the order of their first one."),
    PF_IGNORED("color-cpus", 0, "LIST", "Ignored, for compatibility with perf: there are no colours."),
    PF_IGNORED("color-pids", 0, "LIST", "Ignored, for compatibility with perf: there are no colours."),
    PF_IGNORED("call-graph", 'g', NULL,
               "Ignored, for compatibility with perf: timehist prints callchains where they were recorded."),
    FLAG("no-call-graph", 0, PERFILE_SCHED_NO_STACKS, "timehist: without callchains."),
    PF_ROW(NUMBER, "max-stack", 0, "N", PF_AT(events.stack_depth),
           "timehist: callchains of at most N functions, besides two of the scheduler [5]."),
    {0},
};

const struct pf_command pf_command_sched = {
    .name = "sched",
    .summary = "show which tasks ran or waited for a CPU, and for how long",
    .doc = "Prints a view of the scheduler's events as a table, or with --stdio as perf prints it. Values that are "
           "unknown because records were lost are empty, and counted. perfile sched record records the events, with "
           "the options "
           "of perfile record." PF_SHOWS_COMMAND,
    PF_SUBVIEWS_USUAL(views, 4, "latency"),
    .groups = {PF_GROUP("Options", options), PF_GROUP(PF_PERF_TEXT, perf_options, true), &pf_tid_filter_group,
               &pf_symbol_group, &pf_input_group, &pf_limit_group, &pf_common_group},
    .run = run,
};
