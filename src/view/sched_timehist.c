/* SPDX-License-Identifier: MIT */
/* A row for each time that a task left its CPU: how long it had run, and waited before. */
#include "base/error.h"
#include "view/ids.h"
#include "view/sched.h"

#define NOW const struct pf_switch *now = &((const struct pf_sched_view *)state)->sched.now
#define PUT_AS(name, set, value) PF_PUT_AS(name, NOW, set, value)
#define PUT_KNOWN(name, known, value) PF_PUT_IF(name, NOW, known, pf_set_u64, value)

PUT_AS(time, pf_set_u64, now->end_time)
PUT_AS(cpu, pf_set_u32, now->cpu)
PUT_AS(comm, pf_set_task_name, now->prev)
PUT_AS(pid, pf_set_task_pid, now->prev)
PUT_AS(tid, pf_set_i32, now->prev->tid)
PUT_KNOWN(wait_ns, now->wait_known, now->wait_inside)
PUT_KNOWN(delay_ns, now->delay_known, now->delay_inside)
PUT_KNOWN(run_ns, now->run_known, now->run)
PUT_KNOWN(pre_migration_ns, now->delay_known, now->pre_migration)
PUT_AS(state, pf_set_letter, now->state)
PUT_AS(preempted, pf_set_bool, now->preempted)
PUT_AS(wait_state, pf_set_letter, now->wait_known ? now->wait_state : 0)
PUT_AS(next_comm, pf_set_task_name, now->next)
PUT_AS(next_tid, pf_set_i32, now->next->tid)
PUT_AS(cut, pf_set_bool, now->cut || now->mismatched)

static void set_priority(struct pf_vector *vector, int32_t priority)
{
    if (priority == PF_NO_PRIORITY)
        pf_set_null(vector);
    else
        pf_set_i32(vector, priority);
}

PUT_AS(priority, set_priority, now->priority)
PUT_AS(in_priority, set_priority, now->in_priority)

PF_PUT(stack)
{
    const struct pf_sched_stacks *stacks = &((const struct pf_sched_view *)state)->sched.stacks;
    for (size_t i = 0; i < stacks->frame_count; i++)
        pf_add_code(vector, pf_frame_code(stacks->profile, stacks->frames[i], vector));
    pf_end_list(vector);
}

static const struct pf_column columns[] = {
    PF_REQUIRED(time, TIME, "ns", "When the task left the CPU; not after the end of the time that is asked for."),
    PF_REQUIRED(cpu, U32, "", "The CPU."),
    PF_COLUMN(comm, TEXT, "", "Name of the task; swapper/N is the idle task of CPU N."),
    PF_COLUMN(pid, I32, "", "Its process; null: not known."),
    PF_REQUIRED(tid, I32, "", "Its thread id; 0: idle."),
    PF_COLUMN(wait_ns, DURATION, "ns", "From when it left a CPU to when it came to this one; null: not known."),
    PF_COLUMN(delay_ns, DURATION, "ns",
              "The part of it from when it was woken or preempted: how long it waited for a CPU; null: not known."),
    PF_COLUMN(run_ns, DURATION, "ns", "How long it ran then; null: not known."),
    PF_COLUMN(state, TEXT, "",
              "Its state now, as in the kernel's format: R could run on, S sleeps, D is not interruptible, ..."),
    PF_REQUIRED(preempted, BOOL, "", "It was preempted: it did not give the CPU away."),
    PF_EXTRA(wait_state, TEXT, "", "The state in which it waited."),
    PF_EXTRA(pre_migration_ns, DURATION, "ns", "The part of the delay before it was moved to another CPU."),
    PF_EXTRA(next_comm, TEXT, "", "Name of the task that came."),
    PF_REQUIRED_EXTRA(next_tid, I32, "", "Its thread id."),
    PF_REQUIRED(cut, BOOL, "", "Records are missing, so that its times are not known."),
    PF_EXTRA(priority, I32, "",
             "Its priority now, as the kernel counts: 0 to 99 are real-time, 120 is nice 0; null: not known."),
    PF_EXTRA(in_priority, I32, "", "The one with which it came to the CPU; null: that was not seen."),
    PF_REQUIRED_EXTRA(stack, TEXTS, "",
                      "With which it left the CPU, innermost first; empty where it was not recorded."),
};

static int next_row(void *state, struct perfile_error *error)
{
    struct pf_sched_view *view = state;
    int result;
    while ((result = pf_sched_next(&view->sched, error)) > 0) {
        const struct pf_switch *now = &view->sched.now;
        if (now->kind == PF_SWITCHED && now->shown && pf_sched_passes_run(&view->sched))
            return 1;
    }
    return result;
}

static int open_timehist(struct perfile_table *table, void *state, struct perfile_error *error)
{
    return pf_sched_view_open(state, table, pf_table_may_show(table, "stack"), error);
}

const struct pf_view pf_view_sched_timehist = {
    .info = {"sched_timehist", "every time that a task left its CPU: how long it ran, and waited before"},
    .events = &pf_switches_events,
    .not_filtered = PF_FILTER_EVENTS,
    .lists = {PF_COLUMNS(columns)},
    .answers = "comm,run_ns",
    .state_bytes = sizeof(struct pf_sched_view),
    .open = open_timehist,
    .next = next_row,
    .close = pf_sched_rows_close,
    .losses = pf_sched_view_losses,
    .unmatched = pf_sched_view_unmatched,
    .notes = pf_sched_view_notes,
};
