/* SPDX-License-Identifier: MIT */
/* Prints how much of each CPU the tasks had, as `perf kwork top` does. */
#include "analysis/events/kwork_top.h"

#include <inttypes.h>

#include "base/error.h"
#include "output/events/events.h"

enum { BAR = 30 };

static double percent(uint64_t part, uint64_t total)
{
    return total ? (double)part / ((double)total / 100) : 0;
}

static void put_load(struct pf_text *out, size_t number, const struct pf_kwork_top_cpu *cpu)
{
    const uint64_t total = pf_kwork_top_total(cpu);
    const uint64_t load = (uint64_t)((double)cpu->load * 10000 / (double)total);
    pf_put_format(out, "%%Cpu%-4zu[", number);
    for (uint64_t i = 0; i < BAR; i++)
        pf_put_char(out, i < load * BAR / 10000 ? '|' : ' ');
    pf_put_format(out, " %6.2f%%]\n", (double)load / 100);
}

static void put_cpus(struct pf_text *out, const struct pf_kwork_top *top)
{
    uint64_t total = 0, idle = 0, irq = 0, softirq = 0, count = 0;
    for (size_t i = 0; i < top->cpu_count; i++) {
        const struct pf_kwork_top_cpu *cpu = &top->cpus[i];
        total += pf_kwork_top_total(cpu);
        idle += cpu->idle;
        irq += cpu->times[PF_KWORK_IN_IRQ];
        softirq += cpu->times[PF_KWORK_IN_SOFTIRQ];
        count += pf_kwork_top_total(cpu) != 0;
    }
    pf_put_format(out, "\nTotal  : %10.3f ms, %" PRIu64 " cpus\n", (double)total / 1e6, count);
    pf_put_format(out, "%%Cpu(s): %6.2f%% id, %6.2f%% hi, %6.2f%% si\n", percent(idle, total), percent(irq, total),
                  percent(softirq, total));
    for (size_t i = 0; i < top->cpu_count; i++)
        if (pf_kwork_top_total(&top->cpus[i]))
            put_load(out, i, &top->cpus[i]);
}

static void put_tasks(struct pf_text *out, const struct pf_kwork_top *top, uint64_t max)
{
    pf_put_format(out, "\n%9s  %6s  %16s  %-16s\n  ", "PID", "%CPU", "RUNTIME", "COMMAND");
    pf_put_rule(out, 52);
    for (size_t i = 0; i < top->count && (!max || i < max); i++) {
        const struct pf_kwork_task *task = &top->tasks[i];
        pf_put_format(out, "%9" PRId32 "  %6.2f  %13.3f ms  ", task->tid, (double)task->share / 100,
                      (double)task->times[PF_KWORK_TASK] / 1e6);
        pf_put_name(out, task->name);
        for (size_t width = strlen(task->name); width < 16; width++)
            pf_put_char(out, ' ');
        pf_put_char(out, '\n');
    }
    pf_put_char(out, '\n');
}

static int read_all(struct pf_kwork_top *top, struct pf_delivery *delivery, struct perfile_error *error)
{
    struct pf_delivered item;
    int result;
    while ((result = pf_delivery_next(delivery, &item, error)) > 0)
        if (!pf_kwork_top_take(top, &item))
            return pf_fail_memory(error, "kernel work");
    return result;
}

/* The end of a run is an event of the next task. */
static int refuse_tasks(const struct perfile_filter *filter, struct perfile_error *error)
{
    if (!filter || (!filter->pids && !filter->tids && !filter->comms))
        return 0;
    return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "filter",
                   "the rows of kwork_top cannot be chosen by tasks");
}

static int write_top(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                     struct perfile_error *error)
{
    const struct pf_event_source source = {options->allocator, options->filter, options->progress,
                                           options->progress_context};
    struct pf_delivery *delivery = NULL;
    struct pf_kwork_top top;
    pf_kwork_top_open(&top, reader, options->allocator);
    top.classes = options->events->classes;
    top.name = options->events->work;
    int result = refuse_tasks(options->filter, error);
    if (result == 0)
        result = pf_kwork_top_order(&top, options->events->sort, error);
    if (result == 0)
        result = pf_event_source_open(&source, reader, &delivery, error);
    if (result == 0)
        result = read_all(&top, delivery, error);
    if (delivery && result != PERFILE_ERROR_MEMORY) {
        pf_kwork_top_sort(&top);
        put_cpus(out, &top);
        put_tasks(out, &top, options->events->rows);
        pf_kwork_top_notify(&top, options->symbols->note, options->symbols->note_context);
        pf_delivery_notify_unmatched(delivery, options->unmatched, options->unmatched_context);
    }
    pf_kwork_top_close(&top);
    pf_delivery_close(delivery);
    return result;
}

const struct pf_output pf_output_kwork_top = {
    .info = {"kwork_top", "stdio", "which tasks, interrupts and softirqs had the CPUs, as perf kwork top prints it"},
    .write = write_top,
};
