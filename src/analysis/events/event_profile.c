/* SPDX-License-Identifier: MIT */
#include "analysis/events/event_profile.h"

#include "base/error.h"

struct pf_profile_options pf_event_profile_options(const struct perfile_filter *filter,
                                                   const struct perfile_symbol_options *symbols,
                                                   const struct perfile_allocator *allocator,
                                                   const struct pf_event_needs *needs)
{
    return (struct pf_profile_options){.filter = filter,
                                       .find = pf_find_options_of(symbols, allocator),
                                       .decoded = true,
                                       .keeps_comms = true,
                                       .stacks_of = "",
                                       .wants = needs->only ? pf_events_want : NULL,
                                       .wants_context = needs->only,
                                       .take = needs->take_record,
                                       .take_context = needs->state,
                                       .frames = {.by_address = true}};
}

int pf_event_profile_read(struct pf_profile *profile, bool (*take)(void *state, const struct pf_profile_sample *sample),
                          void *state, struct perfile_error *error)
{
    const struct pf_profile_sample *sample;
    int result;
    while ((result = pf_profile_next(profile, &sample, error)) > 0)
        if (!take(state, sample))
            return pf_fail_memory(error, "events");
    return result;
}
