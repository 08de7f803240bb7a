/* SPDX-License-Identifier: MIT */
#include "output/events/events.h"

#include <inttypes.h>
#include <stdio.h>

int pf_event_profile_open(const struct perfile_output_options *options, struct perfile_reader *reader,
                          const struct pf_event_needs *needs, struct pf_profile **profile, struct perfile_error *error)
{
    struct pf_profile_options how =
        pf_event_profile_options(options->filter, options->symbols, options->allocator, needs);
    how.drive = (struct pf_profile_drive){1, options->progress, options->progress_context};
    return pf_profile_open(reader, &how, profile, error);
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
