/* SPDX-License-Identifier: MIT */
#include "views.h"

static const struct pf_subview views[] = {
    {"report", "kwork", true, "how often and how long each ran, and how long it waited", "kwork_report"},
    {"latency", "kwork_latency", true, "how often and how long each waited, and how long it ran", NULL},
    {"timehist", "kwork_timehist", true, "every run", NULL, true},
    {"top", "kwork_top", true, "which tasks, interrupts and softirqs had the CPUs", NULL},
    {0},
};

static const struct pf_value keys[] = {
    {"runtime", "how long it ran"},
    {"avg", "average wait"},
    {"max", "longest run, or wait"},
    {"count", "how often"},
    {"rate", "share of its CPUs"},
    {"tid", "thread id"},
    {0},
};

static const struct pf_value classes[] = {
    {"irq", "interrupts"},
    {"softirq", "softirqs"},
    {"workqueue", "works of workqueues"},
    {"sched", "tasks; of top"},
    {0},
};

static const struct pf_option options[] = {
    PF_OPTIONS_OF_VIEWS,
    PF_OPTION_DUMP,
    PF_VALUES(WORDS, "kwork", 'k', "LIST", PF_AT(events.classes), .table = classes,
              "Only these: irq,softirq,workqueue; top: sched,irq,softirq."),
    PF_ROW(TEXT, "name", 'n', "NAME", PF_AT(events.work),
           "Only work of this name: RCU, or the function of a work; top: only tasks of this name."),
    PF_ROW(NUMBER, "entries", 'E', "N", PF_AT(events.rows), "At most N rows; not for timehist."),
    PF_VALUES(LIST, "sort", 's', "KEYS", PF_AT(events.sort), .table = keys,
              "Sort by these: report runtime, max, count [all]; latency avg, max, count [all]; top rate, runtime, tid "
              "[rate,runtime]."),
    PF_OPTION_OUTPUT,
    {0},
};

static const struct pf_option perf_options[] = {
    PF_BITS("with-summary", 'S', PF_AT(events.flags), PERFILE_EVENTS_WITH_SUMMARY,
            "report: also print the sums of all."),
    {0},
};

/* -k is perf's for the kinds of work, so --vmlinux has no letter here. */
static const struct pf_option symbols[] = {
    PF_ROW(FILE, "kallsyms", 0, "FILE", PF_AT(symbols.kallsyms),
           "A copy of /proc/kallsyms of the machine that made the recording."),
    PF_ROW(FILE, "vmlinux", 0, "FILE", PF_AT(symbols.vmlinux), "The kernel's ELF file with symbols."),
    PF_ROW(TEXT, "symfs", 0, "DIR", PF_AT(symbols.symfs),
           "Look for the kernel below DIR, as if it were the root of the file system."),
    {0},
};

const struct pf_command pf_command_kwork = {
    .name = "kwork",
    .summary = "show how long interrupts, softirqs and works ran and waited",
    .doc =
        "Prints how often and how long interrupts, softirqs and works of workqueues ran on each CPU, and how long they "
        "had waited since they were raised. perfile kwork record records the events, with the options of perfile "
        "record." PF_SHOWS_COMMAND,
    PF_SUBVIEWS_USUAL(views, 2, "report"),
    .groups = {PF_GROUP("Options", options), PF_GROUP(PF_PERF_TEXT, perf_options, true), &pf_filter_group,
               PF_GROUP("Symbols", symbols), &pf_input_group, &pf_limit_group, &pf_common_group},
    .run = pf_run_subview,
};
