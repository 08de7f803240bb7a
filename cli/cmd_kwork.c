/* SPDX-License-Identifier: MIT */
#include "views.h"

static const struct pf_subview views[] = {
    {"report", "kwork", true, "how often and how long each ran, and how long it waited", "kwork_report"},
    {"latency", "kwork_latency", true, "how often and how long each waited, and how long it ran", NULL},
    {"timehist", "kwork_timehist", true, "every run", NULL, true},
    {"top", "kwork_top", true, "which tasks, interrupts and softirqs had the CPUs", NULL},
    {0},
};

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    return pf_run_subview(command, settings, views);
}

static const char *key_at(const struct pf_command *command, size_t index, const char **doc)
{
    static const struct pf_value values[] = {
        {"runtime", "how long it ran"},
        {"avg", "average wait"},
        {"max", "longest run, or wait"},
        {"count", "how often"},
        {"rate", "share of its CPUs"},
        {"tid", "thread id"},
        {0},
    };

    (void)command;
    return pf_value_of(values, index, doc);
}

static const char *class_at(const struct pf_command *command, size_t index, const char **doc)
{
    static const struct pf_value values[] = {
        {"irq", "interrupts"},
        {"softirq", "softirqs"},
        {"workqueue", "works of workqueues"},
        {"sched", "tasks; of top"},
        {0},
    };

    (void)command;
    return pf_value_of(values, index, doc);
}

#define AT(member) offsetof(struct pf_settings, member)
static const struct pf_option options[] = {
    PF_OPTION_FORMAT_OF(pf_table_format_at),
    PF_OPTION_COLUMNS,
    PF_OPTION_STDIO,
    {.name = "kwork",
     .letter = 'k',
     .kind = PF_OPTION_WORDS,
     .argument = "LIST",
     .offset = AT(events.classes),
     .value_at = class_at,
     .doc = "Only these: irq,softirq,workqueue; top: sched,irq,softirq."},
    {.name = "name",
     .letter = 'n',
     .kind = PF_OPTION_TEXT,
     .argument = "NAME",
     .offset = AT(events.work),
     .doc = "Only work of this name: RCU, or the function of a work; top: only tasks of this name."},
    {.name = "entries",
     .letter = 'E',
     .kind = PF_OPTION_NUMBER,
     .argument = "N",
     .offset = AT(events.rows),
     .doc = "At most N rows; not of timehist."},
    {.name = "sort",
     .letter = 's',
     .kind = PF_OPTION_LIST,
     .argument = "KEYS",
     .offset = AT(events.sort),
     .value_at = key_at,
     .doc = "Sort by these: report runtime, max, count [all]; latency avg, max, count [all]; top rate, runtime, tid "
            "[rate,runtime]."},
    PF_OPTION_OUTPUT,
    {0},
};
static const struct pf_option_group group = {"Options", options};

static const struct pf_option perf_options[] = {
    {.name = "with-summary",
     .letter = 'S',
     .kind = PF_OPTION_BITS,
     .offset = AT(events.flags),
     .bits = PERFILE_EVENTS_WITH_SUMMARY,
     .doc = "report: also print the sums of all."},
    {0},
};
static const struct pf_option_group perf_group = {PF_PERF_TEXT, perf_options, true};

/* -k is perf's for the kinds of work, so --vmlinux has no letter here. */
static const struct pf_option symbols[] = {
    {.name = "kallsyms",
     .kind = PF_OPTION_FILE,
     .argument = "FILE",
     .offset = AT(symbols.kallsyms),
     .doc = "A copy of /proc/kallsyms of the machine that made the recording."},
    {.name = "vmlinux",
     .kind = PF_OPTION_FILE,
     .argument = "FILE",
     .offset = AT(symbols.vmlinux),
     .doc = "The kernel's ELF file with symbols."},
    {.name = "symfs",
     .kind = PF_OPTION_TEXT,
     .argument = "DIR",
     .offset = AT(symbols.symfs),
     .doc = "Look for the kernel below DIR, as if it were the root of the file system."},
    {0},
};
static const struct pf_option_group symbol_group = {"Symbols", symbols};

const struct pf_command pf_command_kwork = {
    .name = "kwork",
    .summary = "show interrupts, softirqs and works of the kernel: how long they ran and waited",
    .doc =
        "Prints how often and how long interrupts, softirqs and works of workqueues ran on each CPU, and how long they "
        "had waited since they were raised: report, latency, or timehist for every run; top has the tasks that had the "
        "CPUs. perfile kwork record records "
        "the events, with the options of perfile record.",
    .operand = "VIEW [FILE] | record [COMMAND [ARGUMENT...]]",
    .operand_max = 2,
    .operand_at = pf_subview_at,
    .views = views,
    .pages = true,
    .groups = {&group, &perf_group, &pf_filter_group, &symbol_group, &pf_input_group, &pf_limit_group,
               &pf_common_group},
    .run = run,
};
