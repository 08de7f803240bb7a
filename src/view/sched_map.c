/* SPDX-License-Identifier: MIT */
/* A row for each switch: the task that left the CPU, and the task that came. */
#include "base/error.h"
#include "view/sched.h"

#define NOW const struct pf_switch *now = &((const struct pf_sched_view *)state)->sched.now
#define PUT_AS(name, set, value) PF_PUT_AS(name, NOW, set, value)

PUT_AS(time, pf_set_u64, now->time)
PUT_AS(cpu, pf_set_u32, now->cpu)
PUT_AS(prev_comm, pf_set_task_name, now->prev)
PUT_AS(prev_tid, pf_set_i32, now->prev->tid)
PUT_AS(prev_state, pf_set_letter, now->state)
PUT_AS(preempted, pf_set_bool, now->preempted)
PUT_AS(next_comm, pf_set_task_name, now->next)
PUT_AS(next_pid, pf_set_task_pid, now->next)
PUT_AS(next_tid, pf_set_i32, now->next->tid)
PUT_AS(moved, pf_set_bool, now->off_time && now->off_cpu != now->cpu)

static const struct pf_column columns[] = {
    PF_REQUIRED(time, TIME, "ns", "When."),
    PF_REQUIRED(cpu, U32, "", "The CPU."),
    PF_COLUMN(prev_comm, TEXT, "", "Name of the task that left; swapper/N is the idle task of CPU N."),
    PF_REQUIRED(prev_tid, I32, "", "Its thread id; 0: idle."),
    PF_COLUMN(prev_state, TEXT, "", "Its state, as in the kernel's format: R could run on, S sleeps ..."),
    PF_REQUIRED(preempted, BOOL, "", "It was preempted: it did not give the CPU away."),
    PF_COLUMN(next_comm, TEXT, "", "Name of the task that came."),
    PF_COLUMN(next_pid, I32, "", "Its process; null: not known."),
    PF_REQUIRED(next_tid, I32, "", "Its thread id."),
    PF_REQUIRED(moved, BOOL, "", "It had left another CPU."),
};

static int next_row(void *state, struct perfile_error *error)
{
    struct pf_sched_view *view = state;
    int result;
    while ((result = pf_sched_next(&view->sched, error)) > 0) {
        const struct pf_switch *now = &view->sched.now;
        if (now->kind == PF_SWITCHED && pf_sched_in_time(&view->sched, now->time) &&
            pf_sched_passes(&view->sched, now->next, now->cpu))
            return 1;
    }
    return result;
}

static int open_map(struct perfile_table *table, void *state, struct perfile_error *error)
{
    return pf_sched_view_open(state, table, false, error);
}

const struct pf_view pf_view_sched_map = {
    .info = {"sched_map", "every switch of a CPU from one task to another"},
    .events = &pf_switches_events,
    .not_filtered = PF_FILTER_EVENTS,
    .lists = {PF_COLUMNS(columns)},
    .answers = "next_comm",
    .state_bytes = sizeof(struct pf_sched_view),
    .open = open_map,
    .next = next_row,
    .close = pf_sched_rows_close,
    .losses = pf_sched_view_losses,
    .unmatched = pf_sched_view_unmatched,
    .notes = pf_sched_view_notes,
};
