/* SPDX-License-Identifier: MIT */
/* `perf sched timehist`: a line for each time that a task left its CPU, and sums of each task. */
#include <inttypes.h>
#include <stdio.h>

#include "base/counted.h"
#include "base/error.h"
#include "output/sched/idle_stacks.h"
#include "output/sched/sched.h"

enum { FIRST_NAME_WIDTH = 30 };

struct timehist {
    struct pf_sched sched;
    struct pf_sched_lifetimes lifetimes;
    struct pf_text *out;
    struct pf_text name; /* without a sink */
    struct pf_idle_stacks idle;
    unsigned flags;     /* enum perfile_sched_flags */
    int name_width;     /* that of the longest so far */
    size_t cpu_count;   /* of the machine */
    uint64_t unknown;   /* values that rows show as "-" */
    uint64_t gone;      /* rows of tasks that ended */
    size_t stack_depth; /* at most so many frames of a stack are looked at */
};

static bool asks(const struct timehist *timehist, unsigned flag)
{
    return timehist->flags & flag;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* "A[10]", "A[11/10]" of a thread, "<idle>"; in timehist->name. */
static const char *name_of(struct timehist *timehist, const struct pf_sched_task *task)
{
    struct pf_text *name = &timehist->name;
    char text[16];
    name->used = 0;
    if (!task || task->tid == 0) {
        pf_put_string(name, "<idle>");
    } else {
        pf_put_name(name, pf_sched_task_comm(task, text));
        pf_put_char(name, '[');
        pf_put_signed(name, task->tid);
        if (task->pid >= 0 && task->pid != task->tid) {
            pf_put_char(name, '/');
            pf_put_signed(name, task->pid);
        }
        pf_put_char(name, ']');
    }
    if (name->used > (size_t)timehist->name_width && name->used < 1000)
        timehist->name_width = (int)name->used;
    pf_put_char(name, '\0');
    return name->failed ? "" : name->data;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static void put_many(struct pf_text *out, char c, size_t count)
{
    while (count--)
        pf_put_char(out, c);
}

static void put_dashes(struct pf_text *out, const char *before, size_t count, const char *after)
{
    pf_put_string(out, before);
    put_many(out, '-', count);
    pf_put_string(out, after);
}

static void put_header(struct timehist *timehist)
{
    struct pf_text *out = timehist->out;
    const bool cpus = asks(timehist, PERFILE_SCHED_CPUS), pre = asks(timehist, PERFILE_SCHED_PRE_MIGRATION);
    const size_t width = timehist->cpu_count + 1;
    pf_put_format(out, "%15s %6s ", "time", "cpu");
    if (cpus) {
        pf_put_char(out, ' ');
        for (size_t i = 0; i < width; i++)
            pf_put_format(out, "%x", (unsigned)(i % 16));
        pf_put_char(out, ' ');
    }
    pf_put_format(out, " %-*s", timehist->name_width, "task name");
    pf_put_string(out, asks(timehist, PERFILE_SCHED_PRIORITY) ? "  prio    " : "");
    pf_put_format(out, "  %9s  %9s  %9s", "wait time", "sch delay", "run time");
    pf_put_string(out, pre ? "  pre-mig time" : "");
    pf_put_string(out, asks(timehist, PERFILE_SCHED_STATE) ? "  state\n" : "\n");
    pf_put_format(out, "%15s %-6s ", "", "");
    if (cpus)
        pf_put_format(out, " %*s ", (int)width, "");
    pf_put_format(out, " %-*s", timehist->name_width, "[tid/pid]");
    pf_put_string(out, asks(timehist, PERFILE_SCHED_PRIORITY) ? "          " : "");
    pf_put_format(out, "  %9s  %9s  %9s", "(msec)", "(msec)", "(msec)");
    pf_put_string(out, pre ? "     (msec)\n" : "\n");
    put_dashes(out, "", 15, " ");
    put_dashes(out, "", 6, " ");
    if (cpus)
        put_dashes(out, " ", width, " ");
    put_dashes(out, " ", (size_t)timehist->name_width, asks(timehist, PERFILE_SCHED_PRIORITY) ? "  --------" : "");
    for (int i = 0; i < (pre ? 4 : 3); i++)
        put_dashes(out, "  ", 9, "");
    pf_put_string(out, asks(timehist, PERFILE_SCHED_STATE) ? "  -----\n" : "\n");
}

static void put_position(struct timehist *timehist, uint64_t time, uint32_t cpu)
{
    pf_put_sched_time(timehist->out, time, 15);
    pf_put_sched_cpu(timehist->out, cpu);
}

/* The letter in the column of the CPU. */
static void put_cpu(struct timehist *timehist, uint32_t cpu, char letter)
{
    if (!asks(timehist, PERFILE_SCHED_CPUS))
        return;
    pf_put_char(timehist->out, ' ');
    for (uint32_t i = 0; i < timehist->cpu_count + 1; i++)
        pf_put_char(timehist->out, i == cpu ? letter : ' ');
    pf_put_char(timehist->out, ' ');
}

/* Puts a time in ms. A time that is neither known nor 0 is shown as "-", and counted. */
static void put_ms(struct timehist *timehist, uint64_t ns, bool known, bool missing)
{
    if (known || !missing) {
        pf_put_sched_ms(timehist->out, ns, 6);
    } else {
        pf_put_format(timehist->out, "%10s ", "-");
        timehist->unknown++;
    }
}

/* As the event calls it, whatever its records say. */
static void put_next(struct timehist *timehist, const struct pf_sched_task *next, uint32_t cpu)
{
    struct pf_text *text = &timehist->name;
    text->used = 0;
    pf_put_string(text, "next: ");
    if (next->tid)
        pf_put_name_bytes(text, next->name, strnlen(next->name, sizeof(next->name)));
    else
        pf_put_format(text, "swapper/%" PRIu32, cpu);
    pf_put_format(text, "[%" PRId32 "]", next->tid);
    pf_put_char(timehist->out, ' ');
    pf_put_sched_padded(timehist->out, text->data, text->used, timehist->name_width);
}

/* perf counts the scheduler's own functions, which it does not print, and has two more for them. */
static void put_functions(const struct timehist *timehist, struct pf_text *out, const char *before, bool addresses)
{
    const struct pf_sched_stacks *stacks = &timehist->sched.stacks;
    for (size_t i = 0; i < pf_min(stacks->frame_count, timehist->stack_depth); i++) {
        const char *function = pf_sched_function(&timehist->sched, i);
        if (function && pf_sched_is_own(function))
            continue;
        const uint64_t address = function || !addresses ? 0 : pf_sched_address(&timehist->sched, i);
        pf_put_string(out, before);
        if (address)
            pf_put_format(out, "0x%" PRIx64, address);
        else
            pf_put_name(out, function);
        before = " <- ";
    }
}

static void put_priority(struct timehist *timehist, const struct pf_switch *now)
{
    char text[32] = "-";
    if (!asks(timehist, PERFILE_SCHED_PRIORITY))
        return;
    if (now->in_priority != PF_NO_PRIORITY && now->in_priority != -1 && now->in_priority != now->priority)
        snprintf(text, sizeof(text), "%" PRId32 "->%" PRId32, now->in_priority, now->priority);
    else if (now->priority != PF_NO_PRIORITY)
        snprintf(text, sizeof(text), "%" PRId32, now->priority);
    pf_put_format(timehist->out, "  %-8s", text);
}

static void put_row(struct timehist *timehist, const struct pf_switch *now)
{
    struct pf_text *out = timehist->out;
    const bool idle = now->prev->tid == 0, missing = now->cut || now->mismatched;
    put_position(timehist, now->end_time, now->cpu);
    put_cpu(timehist, now->cpu, idle ? 'i' : 's');
    const char *name = name_of(timehist, now->prev);
    pf_put_char(out, ' ');
    pf_put_sched_padded(out, name, strlen(name), timehist->name_width);
    put_priority(timehist, now);
    pf_put_char(out, ' ');
    put_ms(timehist, now->wait, now->wait_known, missing && now->wait_state);
    put_ms(timehist, now->delay, now->delay_known, missing && now->wait_state);
    put_ms(timehist, now->run, now->run_known, missing);
    if (asks(timehist, PERFILE_SCHED_PRE_MIGRATION))
        pf_put_sched_ms(out, now->pre_migration, 6);
    if (asks(timehist, PERFILE_SCHED_STATE))
        pf_put_format(out, " %5c ", idle ? 'I' : now->state ? now->state : '?');
    if (asks(timehist, PERFILE_SCHED_NEXT)) {
        put_next(timehist, now->next, now->cpu);
    } else if (asks(timehist, PERFILE_SCHED_WAKEUPS)) {
        pf_put_format(out, "  %-*s", timehist->name_width, "");
    }
    if (timehist->sched.stacks.profile && !idle) {
        pf_put_string(out, "  ");
        put_functions(timehist, out, " ", false);
    }
    pf_put_char(out, '\n');
}

/* Puts the line of an event of another task, with the task that caused it. */
static void put_event(struct timehist *timehist, const struct pf_switch *now, const char *what, char letter)
{
    const struct pf_sched_task *by = now->prev;
    put_position(timehist, now->time, now->cpu);
    put_cpu(timehist, now->cpu + 1, letter); /* so perf has it */
    if (now->kind == PF_MIGRATED && asks(timehist, PERFILE_SCHED_CPUS))
        pf_put_string(timehist->out, "  ");
    const char *name = by && by->tid ? name_of(timehist, by) : "swapper";
    pf_put_format(timehist->out, " %-*s %33s %s: ", timehist->name_width, name, "", what);
    pf_put_string(timehist->out, name_of(timehist, now->next));
}

static void put_lost(struct timehist *timehist, const struct pf_switch *now)
{
    pf_put_sched_time(timehist->out, now->time, 15);
    pf_put_format(timehist->out, " lost %" PRIu64 " events on cpu %" PRId32 "\n", now->value, (int32_t)now->cpu);
}

static bool is_row_shown(struct timehist *timehist)
{
    const struct pf_switch *now = &timehist->sched.now;
    if (!now->shown || !pf_sched_passes_run(&timehist->sched))
        return false;
    return !asks(timehist, PERFILE_SCHED_IDLE) || now->idle_after;
}

static bool is_event_shown(struct timehist *timehist)
{
    const struct pf_switch *now = &timehist->sched.now;
    return pf_sched_in_time(&timehist->sched, now->time) &&
           (now->kind == PF_LOST_HERE || pf_sched_passes(&timehist->sched, now->next, now->cpu));
}

static void put_line(struct timehist *timehist)
{
    const struct pf_switch *now = &timehist->sched.now;
    switch (now->kind) {
    case PF_SWITCHED:
        if (is_row_shown(timehist))
            put_row(timehist, now);
        break;
    case PF_WOKEN:
        if (asks(timehist, PERFILE_SCHED_WAKEUPS) && is_event_shown(timehist)) {
            put_event(timehist, now, "awakened", ' ');
            pf_put_char(timehist->out, '\n');
        }
        break;
    case PF_MIGRATED:
        if (asks(timehist, PERFILE_SCHED_MIGRATIONS) && is_event_shown(timehist)) {
            put_event(timehist, now, "migrated", 'm');
            pf_put_format(timehist->out, " cpu %" PRIu32 " => %" PRIu32 "\n", now->from_cpu, now->to_cpu);
        }
        break;
    case PF_LOST_HERE:
        if (is_event_shown(timehist))
            put_lost(timehist, now);
        break;
    default:
        break;
    }
}

/* ---- the summary ------------------------------------------------------------------------------------------------- */

static void put_summary_header(struct timehist *timehist)
{
    struct pf_text *out = timehist->out;
    const bool idle = asks(timehist, PERFILE_SCHED_IDLE);
    const int width = timehist->name_width;
    pf_put_string(out, idle                                  ? "\nIdle-time summary\n"
                       : asks(timehist, PERFILE_SCHED_STATE) ? "\nWait-time summary\n"
                                                             : "\nRuntime summary\n");
    const bool states = asks(timehist, PERFILE_SCHED_STATE) && !idle;
    static const char *const titles[3][5] = {{"run-time", "min-run", "avg-run", "max-run", "  stddev  migrations"},
                                             {"idle-time", "min-idle", "avg-idle", "max-idle", "  stddev  migrations"},
                                             {"run-time", "sleep", "iowait", "preempt", "       delay"}};
    const char *const *title = titles[states ? 2 : idle];
    pf_put_format(out, "%*s  parent  %9s", width, "comm", idle ? "sched-out" : "sched-in");
    pf_put_format(out, "%13s%11s%12s%12s%s\n", title[0], title[1], title[2], title[3], title[4]);
    pf_put_format(out, "%*s  %6s  %9s", width, "", "", "(count)");
    pf_put_format(out, "%13s%11s%12s%12s%s\n", "(msec)", "(msec)", "(msec)", "(msec)",
                  states ? "       (msec)" : "       %");
    put_dashes(out, "", 117, "\n");
}

static void put_times(struct timehist *timehist, const struct pf_stats *stats, uint64_t migrations)
{
    struct pf_text *out = timehist->out;
    pf_put_sched_ms(out, stats->sum, 8);
    pf_put_sched_ms(out, stats->min, 6);
    pf_put_sched_ms(out, (uint64_t)stats->mean, 7);
    pf_put_sched_ms(out, stats->max, 7);
    pf_put_format(out, "  %5.2f   %5" PRIu64 "\n", pf_stats_error_percent(stats), migrations);
}

static void put_states(struct timehist *timehist, const struct pf_sched_life *life)
{
    struct pf_text *out = timehist->out;
    pf_put_sched_ms(out, life->run_as_perf.sum, 8);
    pf_put_sched_ms(out, life->sleep, 6);
    pf_put_sched_ms(out, life->iowait, 7);
    pf_put_sched_ms(out, life->preempt, 7);
    pf_put_sched_ms(out, life->delays.stats.sum, 7);
    pf_put_char(out, '\n');
}

static void put_task(struct timehist *timehist, const struct pf_sched_life *life)
{
    const bool idle = asks(timehist, PERFILE_SCHED_IDLE);
    const bool migrations = asks(timehist, PERFILE_SCHED_MIGRATIONS) || asks(timehist, PERFILE_SCHED_PRE_MIGRATION);
    const char *name = name_of(timehist, life->task);
    pf_put_format(timehist->out, "%*s   %5" PRId32 "  %9" PRIu64 " ", timehist->name_width, name, life->task->parent,
                  idle ? life->idle_rows : life->rows);
    if (asks(timehist, PERFILE_SCHED_STATE) && !idle)
        put_states(timehist, life);
    else
        put_times(timehist, idle ? &life->idle : &life->run_as_perf, migrations ? life->migrations : 0);
}

/* Columns of CPUs are of all that the machine has, and of those that were seen. */
static void put_idle(struct timehist *timehist)
{
    const struct pf_switches *switches = &timehist->sched.switches;
    const uint64_t span = pf_switches_span(switches);
    pf_put_string(timehist->out, "\nIdle stats:\n");
    for (size_t i = 0; i < pf_max(timehist->cpu_count, timehist->lifetimes.cpu_count); i++) {
        const struct pf_sched_cpu_life *cpu = i < timehist->lifetimes.cpu_count ? &timehist->lifetimes.cpus[i] : NULL;
        if (!cpu || !cpu->idle_rows) {
            pf_put_format(timehist->out, "    CPU %2zu idle entire time window\n", i);
            continue;
        }
        pf_put_format(timehist->out, "    CPU %2zu idle for ", i);
        pf_put_sched_ms(timehist->out, cpu->idle, 6);
        pf_put_format(timehist->out, " msec  (%6.2f%%)\n", span ? 100.0 * (double)cpu->idle / (double)span : 0.0);
    }
}

/* ---- idle times by callchain ------------------------------------------------------------------------------------- */

/* False: out of memory. */
static bool take_idle(struct timehist *timehist)
{
    const struct pf_switch *now = &timehist->sched.now;
    struct pf_text *text = &timehist->name;
    if (!timehist->sched.stacks.profile || now->kind != PF_SWITCHED)
        return true;
    if (!now->prev->tid) {
        if (now->run_known && is_row_shown(timehist))
            pf_idle_stacks_add(&timehist->idle, now->cpu, now->run);
        return true;
    }
    if (now->next->tid)
        return true;
    text->used = 0;
    put_functions(timehist, text, "", true);
    pf_put_char(text, '\0');
    return !text->failed &&
           pf_idle_stacks_begin(&timehist->idle, now->cpu, timehist->sched.stacks.frame_count ? text->data : NULL);
}

static void put_idle_stacks(struct timehist *timehist)
{
    struct pf_text *out = timehist->out;
    size_t at = 0;
    pf_idle_stacks_sort(&timehist->idle);
    pf_put_string(out, "\nIdle stats by callchain:\n");
    for (size_t i = 0; i < pf_max(timehist->cpu_count, timehist->lifetimes.cpu_count); i++) {
        pf_put_format(out, "  CPU %2zu:", i);
        pf_put_sched_ms(out, i < timehist->lifetimes.cpu_count ? timehist->lifetimes.cpus[i].idle : 0, 6);
        pf_put_format(out, " msec\n  %16s  %8s  %s\n  ", "Idle time (msec)", "Count", "Callchains");
        put_dashes(out, "", 16, "  ");
        put_dashes(out, "", 8, "  ");
        put_dashes(out, "", 50, "\n");
        for (; at < timehist->idle.count && timehist->idle.rows[at].cpu == i; at++) {
            const struct pf_idle_row *row = &timehist->idle.rows[at];
            if (!row->count)
                continue;
            pf_put_sched_ms(out, row->sum, 14);
            pf_put_format(out, " %8" PRIu64 "  %s\n", row->count, row->stack);
        }
        pf_put_char(out, '\n');
    }
}

struct totals {
    uint64_t tasks, switches, run;
};

static void put_totals(struct timehist *timehist, const struct totals *totals)
{
    const struct pf_switches *switches = &timehist->sched.switches;
    struct pf_text *out = timehist->out;
    pf_put_format(out, "\n    Total number of unique tasks: %" PRIu64 "\n", totals->tasks);
    pf_put_format(out, "Total number of context switches: %" PRIu64 "\n", totals->switches);
    pf_put_string(out, "           Total run time (msec): ");
    pf_put_sched_ms(out, totals->run, 2);
    pf_put_string(out, "\n    Total scheduling time (msec): ");
    pf_put_sched_ms(out, pf_switches_span(switches), 2);
    pf_put_format(out, " (x %zu)\n", timehist->cpu_count);
}

static bool put_summary(struct timehist *timehist)
{
    const bool idle = asks(timehist, PERFILE_SCHED_IDLE);
    size_t count;
    struct totals totals = {0};
    uint32_t *order = pf_sched_lifetimes_order(&timehist->lifetimes, &timehist->sched, idle, &count);
    if (!order)
        return false;
    put_summary_header(timehist);
    for (size_t i = 0; i < count; i++) {
        const struct pf_sched_life *life = timehist->lifetimes.tasks[order[i]];
        const uint64_t rows = idle && life->task->tid ? life->idle_rows : life->rows;
        totals.switches += rows;
        if (!life->task->tid || !rows)
            continue;
        put_task(timehist, life);
        totals.tasks++;
        totals.run += idle ? life->idle.sum : life->run_as_perf.sum;
        timehist->gone += life->task->ended;
    }
    if (!totals.tasks)
        pf_put_string(timehist->out, "<no still running tasks>\n");
    put_idle(timehist);
    if (idle && timehist->sched.stacks.profile)
        put_idle_stacks(timehist);
    put_totals(timehist, &totals);
    pf_free(timehist->sched.options.allocator, order, (timehist->lifetimes.task_capacity + 1) * sizeof(*order));
    return true;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static int put_lines(struct timehist *timehist, struct perfile_error *error)
{
    const bool lines = !asks(timehist, PERFILE_SCHED_SUMMARY);
    const bool sums = asks(timehist, PERFILE_SCHED_SUMMARY | PERFILE_SCHED_WITH_SUMMARY);
    const bool idle = asks(timehist, PERFILE_SCHED_IDLE);
    int result;
    if (lines)
        put_header(timehist);
    while ((result = pf_sched_next(&timehist->sched, error)) > 0) {
        if (lines)
            put_line(timehist);
        if (sums &&
            !(pf_sched_lifetimes_take(&timehist->lifetimes, &timehist->sched) && (!idle || take_idle(timehist))))
            return pf_fail_memory(error, "scheduler events");
        if (timehist->out->failed)
            return 0;
    }
    if (!timehist->cpu_count) /* of a stream it comes with the records */
        timehist->cpu_count = (size_t)pf_switches_machine_cpus(&timehist->sched.switches);
    if (sums && result != PERFILE_ERROR_MEMORY && !put_summary(timehist))
        return pf_fail_memory(error, "scheduler events");
    return result;
}

static void report_notes(const struct timehist *timehist, const struct perfile_output_options *options)
{
    char text[320], count[PF_COUNTED_BYTES];
    if (!options->symbols->note)
        return;
    if (timehist->gone) {
        snprintf(text, sizeof(text),
                 "the summary has %s that ended; perf leaves them out, or sums them up as thread -1",
                 pf_count_of(timehist->gone, "tasks", count));
        options->symbols->note(options->symbols->note_context, text);
    }
    if (timehist->unknown) {
        snprintf(text, sizeof(text), "%s; perf makes them of what is left",
                 pf_count_of(timehist->unknown, "times that are not known are shown as -", count));
        options->symbols->note(options->symbols->note_context, text);
    }
}

static size_t stack_depth_of(const struct perfile_output_options *options)
{
    enum { USUAL = 5, OWN = 2 };
    const uint64_t asked = options->events ? options->events->stack_depth : 0;
    return pf_min(asked ? asked : USUAL, UINT32_MAX) + OWN;
}

static int write_timehist(struct perfile_reader *reader, const struct perfile_output_options *options,
                          struct pf_text *out, struct perfile_error *error)
{
    struct timehist timehist = {.out = out,
                                .flags = options->events->sched,
                                .name_width = FIRST_NAME_WIDTH,
                                .stack_depth = stack_depth_of(options)};
    const bool sums_alone =
        (options->events->sched & (PERFILE_SCHED_SUMMARY | PERFILE_SCHED_IDLE)) == PERFILE_SCHED_SUMMARY;
    const bool with_stacks = !(options->events->sched & PERFILE_SCHED_NO_STACKS) && !sums_alone;
    int result = pf_sched_text_open(&timehist.sched, reader, options, with_stacks ? timehist.stack_depth : 0, error);
    pf_sched_lifetimes_open(&timehist.lifetimes, options->allocator);
    pf_idle_stacks_open(&timehist.idle, options->allocator);
    timehist.lifetimes.as_perf = true;
    if (pf_text_open(&timehist.name, options->allocator, NULL, NULL) < 0 && result == 0)
        result = pf_fail_memory(error, "scheduler events");
    timehist.name.escapes = out->escapes;
    if (result == 0) {
        timehist.cpu_count = (size_t)pf_switches_machine_cpus(&timehist.sched.switches);
        result = put_lines(&timehist, error);
        report_notes(&timehist, options);
    }
    pf_text_close(&timehist.name);
    pf_idle_stacks_close(&timehist.idle);
    pf_sched_lifetimes_close(&timehist.lifetimes);
    pf_sched_text_close(&timehist.sched, options);
    return result;
}

const struct pf_output pf_output_sched_timehist = {
    .info = {"sched_timehist", "stdio", "how long tasks waited and ran, as perf sched timehist prints it"},
    .write = write_timehist,
};
