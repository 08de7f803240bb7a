/* SPDX-License-Identifier: MIT */
#include "view/sched.h"

#include "base/error.h"

int pf_sched_view_open(struct pf_sched_view *view, struct perfile_table *table, bool with_stacks,
                       struct perfile_error *error)
{
    const struct pf_sched_options how = {.allocator = table->allocator,
                                         .filter = table->options.filter,
                                         .progress = table->options.progress,
                                         .progress_context = table->options.progress_context,
                                         .threads = table->options.threads,
                                         .symbols = with_stacks ? &table->complete.symbols : NULL,
                                         .with_priorities = pf_table_may_show(table, "priority") ||
                                                            pf_table_may_show(table, "in_priority"),
                                         .priorities = table->options.events->priorities};
    view->table = table;
    return pf_sched_open(&view->sched, table->reader, &how, error);
}

void pf_sched_view_read(struct pf_sched_view *view, bool (*take)(void *state, struct pf_sched *sched), void *state)
{
    struct pf_all_rows *all = &view->table->all;
    if (all->read)
        return;
    all->read = true;
    while ((all->result = pf_sched_next(&view->sched, &all->error)) > 0)
        if (!take(state, &view->sched)) {
            all->result = pf_fail_memory(&all->error, "scheduler events");
            break;
        }
    pf_sched_stop(&view->sched);
}

void pf_sched_view_losses(const void *state, struct perfile_losses *losses)
{
    const struct pf_sched *sched = &((const struct pf_sched_view *)state)->sched;
    *losses = (struct perfile_losses){.filtered = sched->filtered, .lost = pf_sched_lost(sched)};
}

void pf_sched_view_unmatched(const void *state, perfile_on_unmatched *notify, void *context)
{
    const struct pf_sched_view *view = state;
    pf_sched_notify_unmatched(&view->sched, notify, context);
}

void pf_sched_view_notes(void *state, pf_on_note *notify, void *context)
{
    struct pf_sched_view *view = state;
    pf_switches_notify(&view->sched.switches, notify, context);
}

void pf_sched_rows_close(void *state)
{
    struct pf_sched_view *view = state;
    pf_sched_close(&view->sched);
}

void pf_set_task_name(struct pf_vector *vector, const struct pf_sched_task *task)
{
    char text[16];
    pf_set_text(vector, task ? pf_sched_task_name(task, text) : NULL);
}

void pf_set_task_pid(struct pf_vector *vector, const struct pf_sched_task *task)
{
    if (!task || (task->tid && task->pid < 0))
        pf_set_null(vector);
    else
        pf_set_i32(vector, task->tid ? task->pid : 0);
}

void pf_set_letter(struct pf_vector *vector, char letter)
{
    const char text[2] = {letter};
    pf_set_text(vector, letter ? text : NULL);
}
