/* SPDX-License-Identifier: MIT */
#include "advice.h"
#include "event_filters.h"
#include "live.h"
#include "message.h"
#include "profile_table.h"
#include "record_rows.h"
#include "sandbox.h"
#include "tui/tui.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct pf_top_settings *own(const struct pf_settings *settings)
{
    return settings->own;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static int print_all(const struct pf_live *live, const struct pf_profile_columns *chosen)
{
    const size_t count = perfile_profile_event_count(live->sum);
    char prefix[64];
    const struct pf_profile_table table = {"top", prefix, live->settings->report.top};
    int status = PF_STATUS_OK;

    snprintf(prefix, sizeof(prefix), "%.1f s to %.1f s: ", (double)(live->sum_ms - live->start_ms) / 1e3,
             (double)(live->part_ms - live->start_ms) / 1e3);
    if (!count)
        printf("# %sno samples\n\n", prefix);
    for (uint32_t i = 0; i < count && !status; i++)
        status = pf_profile_table_print(live->sum, i, chosen, &table);
    if (status || (fflush(stdout) == 0 && !ferror(stdout)))
        return status;
    if (errno == EPIPE)
        return PF_STATUS_OK; /* the reader has seen enough */
    pf_message("top: cannot write: %s", strerror(errno));
    return PF_STATUS_OUTPUT;
}

/* ---- the verb ---------------------------------------------------------------------------------------------------- */

static void fill_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
}

/* Whether a signal that ends the command is pending: these signals are blocked. */
static bool is_signalled(void)
{
    const struct timespec none = {0, 0};
    sigset_t set;

    fill_signals(&set);
    return sigtimedwait(&set, NULL, &none) > 0;
}

static int run_text(struct pf_live *live, const struct pf_profile_columns *chosen)
{
    int going = 1, status = PF_STATUS_OK;

    live->is_stopped = is_signalled;
    while (going > 0 && !status && !ferror(stdout)) {
        going = pf_live_next(live);
        status = going < 0 ? pf_live_failure(live, going) : print_all(live, chosen);
    }
    return status;
}

static int read_frequency(struct pf_settings *settings)
{
    const char *text = own(settings)->frequency;
    char *end;

    if (!text)
        return PF_STATUS_OK;
    errno = 0;
    const uint64_t number = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    if (!number || *end || errno || settings->record.options.period) {
        pf_message(settings->record.options.period
                       ? "top: --count and --freq cannot both be given: a sample every N events, or N samples a second"
                       : "top: invalid value \"%s\" for --freq: expected a number of samples per second",
                   text);
        return PF_STATUS_USAGE;
    }
    settings->record.options.frequency = number;
    return PF_STATUS_OK;
}

/* Of the first interval, as each one has the same causes. */
static int advise(void *context)
{
    pf_advice_give(context, "top");
    return PF_STATUS_OK;
}

static int start_and_show(const struct pf_command *command, struct pf_settings *settings,
                          const struct pf_profile_columns *chosen)
{
    struct pf_input input;
    struct pf_live live;
    struct pf_advice advice = {.over = !settings->tui};
    const struct pf_tui_end end = {advise, &advice};
    sigset_t set;

    if (!settings->tui) {
        fill_signals(&set);
        sigprocmask(SIG_BLOCK, &set, NULL);
    }
    pf_input_set(&input, command, settings, "top");
    settings->symbols.trouble = pf_advice_take;
    settings->symbols.trouble_context = &advice;
    int status = pf_live_start(&live, settings);
    if (!status) {
        pf_sandbox_enter(command, settings); /* the programs that are looked at are not trusted */
        status = settings->tui ? pf_tui_run_live(&input, &live, &end) : run_text(&live, chosen);
    }
    pf_live_close(&live);
    perfile_close(input.reader);
    pf_message_release(); /* when the view could not begin */
    return status;
}

static bool shows_children(const struct pf_settings *settings)
{
    const bool chains = settings->record.frame_pointers || settings->record.options.call_graph;

    return !(settings->report.flags & PERFILE_REPORT_NO_CHILDREN) &&
           (chains || settings->report.flags & PERFILE_REPORT_CHILDREN);
}

static void choose_rows(const struct pf_settings *settings, struct pf_profile_columns *chosen)
{
    const struct perfile_report_options *report = &settings->report;

    chosen->children = shows_children(settings);
    chosen->samples = report->flags & PERFILE_REPORT_SAMPLES;
    chosen->periods = report->flags & PERFILE_REPORT_PERIOD;
    chosen->relative = report->percentage && !strcmp(report->percentage, "relative");
    chosen->dsos = report->dsos;
    chosen->symbols = report->symbols;
    chosen->min_percent = report->percent_limit ? strtod(report->percent_limit, NULL) : 0;
    chosen->more_than = own(settings)->more_than;
}

static int check_and_show(const struct pf_command *command, struct pf_settings *settings,
                          struct pf_profile_columns *chosen)
{
    enum { MAX_SECONDS = 1000000 };
    const int status = read_frequency(settings);

    if (status)
        return status;
    if (own(settings)->interval_s > MAX_SECONDS || own(settings)->duration_s > MAX_SECONDS) {
        pf_message("top: --delay and --duration allow at most %d seconds", MAX_SECONDS);
        return PF_STATUS_USAGE;
    }
    choose_rows(settings, chosen);
    settings->symbols.no_inline = true; /* which takes too long to be looked up again each time */
    if (settings->tui)
        pf_tui_prepare();
    return start_and_show(command, settings, chosen);
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    const char *list = settings->report.sort ? settings->report.sort : "dso,symbol";
    struct pf_top_settings *own = settings->own;
    struct pf_profile_columns chosen;
    int status = pf_profile_columns_choose(&chosen, "top", list, NULL);

    own->keys = pf_profile_columns_keys(list);
    if (!status && !own->keys) {
        pf_message("top: out of memory");
        status = PF_STATUS_MEMORY;
    }
    if (!status)
        status = check_and_show(command, settings, &chosen);
    free(own->keys);
    free(chosen.names);
    return status;
}

static const struct pf_option what_options[] = {
    EVENTS("The events, as perfile record has them. The default is the best one for sampling."),
    PF_ROW(TEXT, "freq", 'F', "N", PF_OWN_OF(struct pf_top_settings, frequency),
           "Take N samples per second on each CPU [4000].", .first = true),
    NUMBER("count", 'c', "N", options.period, "Take a sample every N events."),
    FLAG("all-cpus", 'a', PERFILE_RECORDER_ALL_CPUS, "The entire system, which is the default."),
    TEXT("cpu", 'C', "LIST", options.cpus, "Only these CPUs: 0-3,7."),
    TEXT("pid", 'p', "LIST", options.pids,
         "These processes with all their threads. Recording ends with the last of them.", .first = true),
    TEXT("tid", 't', "LIST", options.tids, "These threads."),
    TEXT("uid", 'u', "USER", options.user, "All processes of a user."),
    TEXT("cgroup", 'G', "PATH", options.cgroup, "Only the processes of a cgroup; with --all-cpus."),
    PF_ROW(TEXT, "filter", 0, "FILTER", AT(filters),
           "Only the preceding tracepoint, or all that a wildcard matches, if its fields match: 'prev_pid != 0'.",
           .set = pf_add_event_filter),
    FLAG("no-inherit", 'i', PERFILE_RECORDER_NO_INHERIT,
         "Do not include child processes that are started from now on."),
    FLAG("namespaces", 0, PERFILE_RECORDER_NAMESPACES, "Also record the namespaces of processes."),
    FLAG("all-cgroups", 0, PERFILE_RECORDER_CGROUPS, "Also record the control groups of samples."),
    FLAG("hide_kernel_symbols", 'K', PERFILE_RECORDER_ALL_USER, "perf's name for --all-user.", .hidden = true),
    FLAG("hide_user_symbols", 'U', PERFILE_RECORDER_ALL_KERNEL, "perf's name for --all-kernel.", .hidden = true),
    FLAG("all-user", 0, PERFILE_RECORDER_ALL_USER, "Only user space, for all events."),
    FLAG("all-kernel", 0, PERFILE_RECORDER_ALL_KERNEL, "Only the kernel, for all events."),
    STACK_FRAMES("Callchains: --call-graph auto; called perf, fp."),
    TEXT("call-graph", 0, "HOW", options.call_graph,
         "Callchains: auto, auto,BYTES (unwound at once), fp (frame pointers), dwarf, dwarf,BYTES, lbr."),
    {0},
};

static const struct pf_value percentages[] = {
    {"absolute", "of all samples of the event, including those that --dsos and --symbols leave out; the default"},
    {"relative", "of the samples that are shown"},
    {0},
};

static const struct pf_option show_options[] = {
    PF_BITS("children", 0, PF_AT(report.flags), PERFILE_REPORT_CHILDREN,
            "In the text, add each sample to all functions in its stack, not only to the one that was running. The "
            "default if there are callchains."),
    PF_BITS("no-children", 0, PF_AT(report.flags), PERFILE_REPORT_NO_CHILDREN,
            "In the text, only count the functions that were running."),
    PF_ROW(NUMBER, "delay", 'd', "SECONDS", PF_OWN_OF(struct pf_top_settings, interval_s),
           "The length of an interval in seconds, after which the display is refreshed [2].", .first = true),
    PF_ROW(NUMBER, "duration", 0, "SECONDS", PF_OWN_OF(struct pf_top_settings, duration_s),
           "Stop recording after this many seconds. The interactive view stays.", .first = true),
    PF_FLAG("zero", 'z', PF_OWN_OF(struct pf_top_settings, each),
            "Show each interval alone, not the sum since the start.", .first = true),
    PF_VALUES(LIST, "sort", 's', "LIST", PF_AT(report.sort), .known = pf_profile_column_at,
              "The columns; samples with the same values in them share a row [dso,symbol]. The columns of report that "
              "describe samples are among them, and fields of tracepoints: sched:sched_switch.prev_comm."),
    PF_ROW(NUMBER, "top", 'E', "N", PF_AT(report.top), "The text has the N hottest rows of each event [20].",
           .first = true),
    PF_ROW(NUMBER, "entries", 0, "N", PF_AT(report.top), "perf's name for --top.", .hidden = true),
    PF_BITS("show-nr-samples", 'n', PF_AT(report.flags), PERFILE_REPORT_SAMPLES,
            "In the text, also show the number of samples."),
    PF_BITS("show-total-period", 0, PF_AT(report.flags), PERFILE_REPORT_PERIOD,
            "In the text, also show the sum of the periods."),
    PF_ROW(NUMBER, "count-filter", 'f', "N", PF_OWN_OF(struct pf_top_settings, more_than),
           "In the text, only rows with more than N samples."),
    PF_ROW(TEXT, "percent-limit", 0, "PERCENT", PF_AT(report.percent_limit), "Hide rows below this percentage."),
    PF_VALUES(CHOICE, "percentage", 0, "HOW", PF_AT(report.percentage), .table = percentages,
              "What percentages of the text are relative to."),
    PF_ROW(TEXT, "comms", 0, "LIST", PF_AT(filter.comms), "Only threads with these names: make,cc1."),
    PF_OPTIONS_SWITCH,
    PF_ROW(TEXT, "dsos", 0, "LIST", PF_AT(report.dsos), "Only functions in these files: libc.so.6,make."),
    PF_ROW(TEXT, "symbols", 0, "LIST", PF_AT(report.symbols), "In the text, only these functions."),
    PF_ROW(NUMBER, "max-stack", 0, "N", PF_AT(report.max_stack), "Only use the N innermost frames of a stack."),
    PF_FLAG("stdio", 0, PF_AT(stdio), "Print text, also on a terminal.", .first = true),
    PF_FLAG("tui", 0, PF_AT(tui),
            "Show the interactive view, which is the default on a terminal, unless --top or the like asks for text; an "
            "error if it cannot be shown."),
    {0},
};

const struct pf_command pf_command_top = {
    .name = "top",
    .reads_processes = true,
    .summary = "show what runs now, by function, refreshed every two seconds",
    .doc =
        "Records the entire system, or running processes, into memory, and shows the functions that were running: on "
        "a terminal in the interactive view of perfile report, in a pipe as text, which is printed for each "
        "interval. Nothing is written to a file.",
    .interactive = true,
    .own_bytes = sizeof(struct pf_top_settings),
    .groups = {PF_GROUP("What is recorded", what_options), PF_GROUP("What is shown", show_options), &pf_symbol_group,
               &pf_common_group},
    .run = run,
};
