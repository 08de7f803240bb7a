/* SPDX-License-Identifier: MIT */
/* Which tasks had the CPUs: a row for each task. */
#include "analysis/events/kwork_top.h"

#include "view/gathered.h"

struct kwork_top {
    struct pf_gathered gathered; /* first */
    struct pf_kwork_top top;
    const struct pf_kwork_task *task; /* in hand */
};

#define TASK const struct pf_kwork_task *task = ((const struct kwork_top *)state)->task
#define PUT_AS(name, set, value) PF_PUT_AS(name, TASK, set, value)

static void set_cpu(struct pf_vector *vector, const struct pf_kwork_task *task)
{
    if (task->tid)
        pf_set_null(vector);
    else
        pf_set_u32(vector, task->cpu);
}

PUT_AS(tid, pf_set_i32, task->tid)
PUT_AS(comm, pf_set_text, *task->name ? task->name : NULL)
PUT_AS(cpu, set_cpu, task)
PUT_AS(share, pf_set_f64, (double)task->share / 100)
PUT_AS(run_ns, pf_set_u64, task->times[PF_KWORK_TASK])
PUT_AS(irq_ns, pf_set_u64, task->times[PF_KWORK_IN_IRQ])
PUT_AS(softirq_ns, pf_set_u64, task->times[PF_KWORK_IN_SOFTIRQ])

static const struct pf_column columns[] = {
    PF_REQUIRED(tid, I32, "", "Thread id; 0: the idle task of a CPU."),
    PF_COLUMN(comm, TEXT, "", "The last name of the thread; null: not known."),
    PF_EXTRA(cpu, U32, "", "Of an idle task: its CPU."),
    PF_REQUIRED(share, F64, "percent", "Its share of the time that is known of its CPUs; two full CPUs are 200."),
    PF_REQUIRED(run_ns, DURATION, "ns", "How long it ran itself."),
    PF_REQUIRED(irq_ns, DURATION, "ns", "How long it was interrupted by handlers of interrupts."),
    PF_REQUIRED(softirq_ns, DURATION, "ns", "How long softirqs ran meanwhile, without the interrupts in them."),
};

static bool take(void *state, const struct pf_delivered *item)
{
    return pf_kwork_top_take(&((struct kwork_top *)state)->top, item);
}

static int next_row(void *state, struct perfile_error *error)
{
    struct kwork_top *top = state;
    if (pf_gathered_read(&top->gathered, take, top))
        pf_kwork_top_sort(&top->top);
    const int result = pf_table_row(top->gathered.table, pf_table_rows(top->gathered.table, top->top.count), error);
    if (result > 0)
        top->task = &top->top.tasks[top->gathered.table->all.row];
    return result;
}

static int open_top(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct kwork_top *top = state;
    pf_kwork_top_open(&top->top, table->reader, table->allocator);
    top->top.classes = table->options.events->classes;
    top->top.name = table->options.events->work;
    const int result = pf_kwork_top_order(&top->top, table->options.events->sort, error);
    return result < 0 ? result : pf_gathered_open(&top->gathered, table, error);
}

static void close_top(void *state)
{
    pf_kwork_top_close(&((struct kwork_top *)state)->top);
}

static void notes(void *state, pf_on_note *notify, void *context)
{
    pf_kwork_top_notify(&((struct kwork_top *)state)->top, notify, context);
}

const struct pf_view pf_view_kwork_top = {
    .info = {"kwork_top", "which tasks had the CPUs, and how long interrupts and softirqs took of that"},
    .events = &pf_kwork_top_events,
    .lists = {PF_COLUMNS(columns)},
    .not_filtered = PF_FILTER_EVENTS | PF_FILTER_PIDS | PF_FILTER_TIDS | PF_FILTER_COMMS,
    .state_bytes = sizeof(struct kwork_top),
    .open = open_top,
    .next = next_row,
    .close = close_top,
    .notes = notes,
};
