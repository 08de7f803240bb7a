/* SPDX-License-Identifier: MIT */
#include "view/profile_source.h"

int pf_profiled_events_open(struct pf_profiled_events *events, struct perfile_table *table,
                            const struct pf_event_needs *needs, struct perfile_error *error)
{
    struct pf_profile_options how =
        pf_event_profile_options(table->options.filter, &table->complete.symbols, table->allocator, needs);
    how.drive = (struct pf_profile_drive){1, table->options.progress, table->options.progress_context};
    events->table = table;
    return pf_profile_open(table->reader, &how, &events->profile, error);
}

void pf_profiled_events_close(struct pf_profiled_events *events)
{
    pf_profile_close(events->profile);
}

bool pf_profiled_events_read(struct pf_profiled_events *events,
                             bool (*take)(void *state, const struct pf_profile_sample *sample), void *state)
{
    if (events->done)
        return false;
    events->done = true;
    events->result = pf_event_profile_read(events->profile, take, state, &events->error);
    return true;
}

int pf_profiled_events_row(struct pf_profiled_events *events, size_t count, struct perfile_error *error)
{
    if (events->result < 0 && error)
        *error = events->error;
    if (events->result == PERFILE_ERROR_MEMORY || events->next_row >= count)
        return events->result;
    events->row = events->next_row++;
    return 1;
}

void pf_profiled_events_losses(const void *state, struct perfile_losses *losses)
{
    const struct pf_profiled_events *events = state;
    pf_profile_losses(events->profile, losses);
}

void pf_profiled_events_unmatched(const void *state, perfile_on_unmatched *notify, void *context)
{
    pf_profile_notify_unmatched(((const struct pf_profiled_events *)state)->profile, notify, context);
}
