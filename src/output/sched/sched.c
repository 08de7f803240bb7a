/* SPDX-License-Identifier: MIT */
#include "output/sched/sched.h"

#include <inttypes.h>
#include <stdio.h>

int pf_sched_text_open(struct pf_sched *sched, struct perfile_reader *reader,
                       const struct perfile_output_options *options, struct perfile_error *error)
{
    const struct pf_sched_options how = {.allocator = options->allocator,
                                         .filter = options->filter,
                                         .progress = options->progress,
                                         .progress_context = options->progress_context};
    return pf_sched_open(sched, reader, &how, error);
}

void pf_sched_text_close(struct pf_sched *sched, const struct perfile_output_options *options)
{
    if (sched->session)
        pf_switches_tell(&sched->switches, options->symbols->note, options->symbols->note_context);
    pf_sched_close(sched);
}

void pf_put_sched_time(struct pf_text *out, uint64_t ns, int width)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRIu64 ".%06" PRIu64, ns / 1000000000, ns % 1000000000 / 1000);
    pf_put_format(out, "%*s", width, text);
}

void pf_put_sched_ms(struct pf_text *out, uint64_t ns, int width)
{
    pf_put_format(out, "%*" PRIu64 ".%03" PRIu64 " ", width, ns / 1000000, ns % 1000000 / 1000);
}

void pf_put_sched_losses(struct pf_text *out, const struct pf_sched *sched, uint64_t wakings)
{
    const struct pf_switches *switches = &sched->switches;
    const uint64_t records = switches->record_count;
    if (switches->lost_count && records)
        pf_put_format(out, "  INFO: %.3f%% lost events (%" PRIu64 " out of %" PRIu64 ", in %" PRIu64 " chunks)\n",
                      (double)switches->lost_count / (double)records * 100, switches->lost_count, records,
                      switches->lost_chunks);
    if (switches->mismatch_count && wakings)
        pf_put_format(out, "  INFO: %.3f%% context switch bugs (%" PRIu64 " out of %" PRIu64 ")%s\n",
                      (double)switches->mismatch_count / (double)wakings * 100,
                      switches->mismatch_count, wakings,
                      switches->lost_count ? " (due to lost events?)" : "");
}
