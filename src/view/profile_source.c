/* SPDX-License-Identifier: MIT */
#include "view/profile_source.h"

int pf_profiled_events_open(struct pf_profiled_events *events, struct perfile_table *table,
                            const struct pf_event_needs *needs, struct perfile_error *error)
{
    struct pf_profile_options how =
        pf_event_profile_options(table->options.filter, &table->complete.symbols, table->allocator, needs);
    how.drive = (struct pf_profile_drive){1, table->options.progress, table->options.progress_context};
    events->table = table;
    const int result = pf_profile_open(table->reader, &how, &events->profile, error);
    table->profile = events->profile;
    return result;
}

void pf_profiled_events_close(struct pf_profiled_events *events)
{
    pf_profile_close(events->profile);
}

bool pf_profiled_events_read(struct pf_profiled_events *events,
                             bool (*take)(void *state, const struct pf_profile_sample *sample), void *state)
{
    struct pf_all_rows *all = &events->table->all;
    if (all->read)
        return false;
    all->read = true;
    all->result = pf_event_profile_read(events->profile, take, state, &all->error);
    return true;
}
