/* SPDX-License-Identifier: MIT */
#include "output/events/events.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"

int pf_event_profile_open(const struct perfile_output_options *options, struct perfile_reader *reader,
                          const struct pf_event_needs *needs, struct pf_profile **profile, struct perfile_error *error)
{
    struct pf_profile_options how = {.filter = options->filter,
                                     .find = pf_find_options_of(options->symbols, options->allocator),
                                     .decoded = true,
                                     .keeps_comms = true,
                                     .stacks_of = "",
                                     .wants = needs->only ? pf_events_want : NULL,
                                     .wants_context = needs->only,
                                     .take = needs->take_record,
                                     .take_context = needs->state,
                                     .frames = {.by_address = true},
                                     .drive = {1, options->progress, options->progress_context}};
    return pf_profile_open(reader, &how, profile, error);
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

void pf_put_rule(struct pf_text *out, unsigned dashes)
{
    while (dashes--)
        pf_put_char(out, '-');
    pf_put_char(out, '\n');
}

void pf_put_event_time(struct pf_text *out, uint64_t ns, int width)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRIu64 ".%06" PRIu64, ns / 1000000000, ns % 1000000000 / 1000);
    pf_put_format(out, "%*s", width, text);
}
