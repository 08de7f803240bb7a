/* SPDX-License-Identifier: MIT */
#include "message.h"
#include "views.h"

#include <string.h>

struct settings {
    bool by_thread, by_lock;
};

static const struct pf_subview views[] = {
    {"contention", "lock_contention", true, "waits for locks of the kernel, and how long they took"},
    {"report", "lock_contention", true, "the same by lock", "lock_report"},
    {0},
};

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    const bool report = settings->operand_count && !strcmp(settings->operands[0], "report");

    if (pf_own(settings)->by_thread && pf_own(settings)->by_lock) {
        pf_message("%s: --threads and --lock-addr cannot be combined", command->name);
        return PF_STATUS_USAGE;
    }
    settings->keys = pf_own(settings)->by_thread ? "thread" : pf_own(settings)->by_lock || report ? "lock" : NULL;
    settings->events.keys = settings->keys;
    return pf_run_subview(command, settings);
}

static const struct pf_value keys[] = {
    {"wait_total", "how long all waits were"},
    {"wait_max", "the longest"},
    {"wait_min", "the shortest"},
    {"avg_wait", "their average"},
    {"contended", "how many began"},
    {"acquired", "how many ended"},
    {0},
};

static const struct pf_option options[] = {
    PF_OPTIONS_OF_VIEWS,
    PF_OPTION_DUMP,
    PF_FLAG("threads", 't', PF_OWN(by_thread), "A row for each thread."),
    PF_FLAG("lock-addr", 'l', PF_OWN(by_lock), "A row for each lock."),
    PF_ROW(TEXT, "type-filter", 'Y', "TYPES", PF_AT(events.classes),
           "Only locks of these types: rwsem,mutex,spinlock,rwlock:W."),
    PF_ROW(NUMBER, "stack-skip", 0, "N", PF_AT(events.stack_skip),
           "Skip the first N frames of the stack, and the functions of locks, to find the caller [0]; perf skips 4, "
           "which are too many where a lock has fewer."),
    PF_ROW(TEXT, "lock-filter", 'L', "LIST", PF_AT(events.locks),
           "Only locks with these addresses or names: of lockdep, or of variables of the kernel."),
    PF_ROW(TEXT, "callstack-filter", 'S', "LIST", PF_AT(events.callers),
           "Only waits with a function of the kernel in their stack that has one of these texts in its name."),
    PF_ROW(NUMBER, "max-stack", 0, "N", PF_AT(events.stack_depth), "Compare only the first N frames of stacks [8]."),
    PF_VALUES(LIST, "key", 'k', "KEYS", PF_AT(events.sort), .table = keys,
              "Sort by these: contended, wait_total, wait_max, wait_min, avg_wait, acquired [wait_total; the text of "
              "report: acquired, which that of contention does not have]."),
    PF_ROW(NUMBER, "entries", 'E', "N", PF_AT(events.rows), "At most N rows."),
    PF_OPTION_OUTPUT_WITHOUT_LETTER, /* perf's -o is --lock-owner */
    {0},
};

static const struct pf_option perf_options[] = {
    PF_ROW(TEXT, "field", 'F', "LIST", PF_AT(events.fields),
           "The columns, in this order: contended,wait_total,wait_max,wait_min,avg_wait, of report also acquired."),
    PF_ROW(TEXT, "field-separator", 'x', "TEXT", PF_AT(events.separator),
           "contention: print values with TEXT between them."),
    {0},
};

const struct pf_command pf_command_lock = {
    .name = "lock",
    .summary = "show which threads waited for locks of the kernel",
    .doc =
        "Prints how often and how long threads waited for locks of the kernel: by caller, with -t by thread, with -l "
        "by lock. Waits that did not end are counted apart. perfile lock record records the events, with callchains "
        "and with the options of perfile record (kernel 5.19 and later). "
        "VIEW may be left out: contention." PF_SHOWS_COMMAND,
    PF_SUBVIEWS_USUAL(views, 2, "contention"),
    .own_bytes = sizeof(struct settings),
    .groups = {PF_GROUP("Options", options), PF_GROUP(PF_PERF_TEXT, perf_options, true), &pf_cpu_filter_group,
               &pf_symbol_group, &pf_input_group, &pf_limit_group, &pf_common_group},
    .run = run,
};
