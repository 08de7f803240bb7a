/* SPDX-License-Identifier: MIT */
#include "message.h"
#include "views.h"

#include <string.h>

struct settings {
    bool by_thread, by_lock;
};

static struct settings *own(const struct pf_settings *settings)
{
    return settings->own;
}

static const struct pf_subview views[] = {
    {"contention", "lock_contention", true, "waits for locks of the kernel, and how long they took"},
    {"report", "lock_contention", true, "the same by lock", "lock_report"},
    {0},
};

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    const bool report = settings->operand_count && !strcmp(settings->operands[0], "report");

    if (own(settings)->by_thread && own(settings)->by_lock) {
        pf_message("%s: --threads and --lock-addr cannot be combined", command->name);
        return PF_STATUS_USAGE;
    }
    settings->keys = own(settings)->by_thread ? "thread" : own(settings)->by_lock || report ? "lock" : NULL;
    settings->events.keys = settings->keys;
    return pf_run_subview(command, settings, views);
}

static const char *key_at(const struct pf_command *command, size_t index, const char **doc)
{
    static const struct pf_value values[] = {
        {"wait_total", "how long all waits were"},
        {"wait_max", "the longest"},
        {"wait_min", "the shortest"},
        {"avg_wait", "their average"},
        {"contended", "how many began"},
        {"acquired", "how many ended"},
        {0},
    };

    (void)command;
    return pf_value_of(values, index, doc);
}

#define AT(member) offsetof(struct pf_settings, member)
#define TEXT(option, short_option, value, member, text)                                                                \
    {                                                                                                                  \
        .name = option, .letter = short_option, .kind = PF_OPTION_TEXT, .argument = value, .offset = AT(member),       \
        .doc = text                                                                                                    \
    }
static const struct pf_option options[] = {
    PF_OPTION_FORMAT_OF(pf_table_format_at),
    PF_OPTION_COLUMNS,
    PF_OPTION_STDIO,
    {.name = "threads", .letter = 't', .kind = PF_OPTION_FLAG, PF_OWN(by_thread), .doc = "A row for each thread."},
    {.name = "lock-addr", .letter = 'l', .kind = PF_OPTION_FLAG, PF_OWN(by_lock), .doc = "A row for each lock."},
    TEXT("type-filter", 'Y', "TYPES", events.classes, "Only locks of these types: rwsem,mutex,spinlock,rwlock:W."),
    {.name = "stack-skip",
     .kind = PF_OPTION_NUMBER,
     .argument = "N",
     .offset = AT(events.stack_skip),
     .doc = "Skip the first N frames of the stack, and the functions of locks, to find the caller [0]; perf skips 4, "
            "which are too many where a lock has fewer."},
    TEXT("lock-filter", 'L', "LIST", events.locks,
         "Only locks with these addresses or names: of lockdep, or of variables of the kernel."),
    TEXT("callstack-filter", 'S', "LIST", events.callers,
         "Only waits with a function of the kernel in their stack that has one of these texts in its name."),
    {.name = "max-stack",
     .kind = PF_OPTION_NUMBER,
     .argument = "N",
     .offset = AT(events.stack_depth),
     .doc = "Compare only the first N frames of stacks [8]."},
    {.name = "key",
     .letter = 'k',
     .kind = PF_OPTION_LIST,
     .argument = "KEYS",
     .offset = AT(events.sort),
     .value_at = key_at,
     .doc = "Sort by these: contended, wait_total, wait_max, wait_min, avg_wait, acquired [wait_total; the text of "
            "report: acquired, which that of contention does not have]."},
    {.name = "entries",
     .letter = 'E',
     .kind = PF_OPTION_NUMBER,
     .argument = "N",
     .offset = AT(events.rows),
     .doc = "At most N rows."},
    PF_OPTION_OUTPUT_WITHOUT_LETTER, /* perf's -o is --lock-owner */
    {0},
};
static const struct pf_option_group group = {"Options", options};

static const struct pf_option perf_options[] = {
    TEXT("field", 'F', "LIST", events.fields,
         "The columns, in this order: contended,wait_total,wait_max,wait_min,avg_wait, of report also acquired."),
    TEXT("field-separator", 'x', "TEXT", events.separator, "contention: print values with TEXT between them."),
    {0},
};
static const struct pf_option_group perf_group = {PF_PERF_TEXT, perf_options, true};

const struct pf_command pf_command_lock = {
    .name = "lock",
    .summary = "show which threads waited for locks of the kernel",
    .doc =
        "Prints how often and how long threads waited for locks of the kernel: by caller, with -t by thread, with -l "
        "by lock. Waits that did not end are counted apart. perfile lock record records the events, with callchains "
        "and with the options of perfile record (kernel 5.19 and later).",
    .operand = "VIEW [FILE] | record [COMMAND [ARGUMENT...]]",
    .operand_max = 2,
    .operand_at = pf_subview_at,
    .views = views,
    .pages = true,
    .own_bytes = sizeof(struct settings),
    .groups = {&group, &perf_group, &pf_cpu_filter_group, &pf_symbol_group, &pf_input_group, &pf_limit_group,
               &pf_common_group},
    .run = run,
};
