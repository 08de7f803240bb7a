/* SPDX-License-Identifier: MIT */
#include "output/sched/sched.h"

#include <inttypes.h>

int pf_sched_text_open(struct pf_sched *sched, struct perfile_reader *reader,
                       const struct perfile_output_options *options, size_t max_frames, struct perfile_error *error)
{
    const struct pf_sched_options how = {.allocator = options->allocator,
                                         .filter = options->filter,
                                         .progress = options->progress,
                                         .progress_context = options->progress_context,
                                         .threads = options->threads,
                                         .symbols = max_frames ? options->symbols : NULL,
                                         .max_frames = max_frames,
                                         .with_priorities = options->events->sched & PERFILE_SCHED_PRIORITY,
                                         .priorities = options->events ? options->events->priorities : NULL};
    return pf_sched_open(sched, reader, &how, error);
}

void pf_sched_text_close(struct pf_sched *sched, const struct perfile_output_options *options)
{
    pf_sched_stop(sched); /* it may not have come to the end */
    if (sched->session || sched->stacks.profile) {
        pf_sched_notify_unmatched(sched, options->unmatched, options->unmatched_context);
        pf_switches_notify(&sched->switches, options->symbols->note, options->symbols->note_context);
    }
    pf_sched_close(sched);
}

/* Millions of these are printed: printf would take most of the time. */
static char *put_blanks(char *at, int count)
{
    for (; count > 0; count--)
        *at++ = ' ';
    return at;
}

enum { CAPACITY = 128 }; /* for a number, and the blanks before it */

void pf_put_sched_time(struct pf_text *out, uint64_t ns, int width)
{
    char *at = pf_text_reserve(out, CAPACITY);
    at = put_blanks(at, width - 7 - (int)pf_digit_count(ns / 1000000000));
    at = pf_digits(at, ns / 1000000000);
    *at++ = '.';
    pf_text_commit(out, pf_digits_fixed(at, ns % 1000000000 / 1000, 6));
}

void pf_put_sched_ms(struct pf_text *out, uint64_t ns, int width)
{
    char *at = pf_text_reserve(out, CAPACITY);
    at = put_blanks(at, width - (int)pf_digit_count(ns / 1000000));
    at = pf_digits(at, ns / 1000000);
    *at++ = '.';
    at = pf_digits_fixed(at, ns % 1000000 / 1000, 3);
    *at++ = ' ';
    pf_text_commit(out, at);
}

void pf_put_sched_padded(struct pf_text *out, const char *text, size_t bytes, int width)
{
    pf_put(out, text, bytes);
    for (size_t at = bytes; at < (size_t)width; at += CAPACITY)
        pf_text_commit(out, put_blanks(pf_text_reserve(out, CAPACITY), (int)pf_min((size_t)width - at, CAPACITY)));
}

void pf_put_sched_cpu(struct pf_text *out, uint32_t cpu)
{
    char *at = pf_text_reserve(out, CAPACITY);
    *at++ = ' ';
    *at++ = '[';
    at = cpu < 10000 ? pf_digits_fixed(at, cpu, 4) : pf_digits(at, cpu);
    *at++ = ']';
    *at++ = ' ';
    pf_text_commit(out, at);
}

void pf_put_sched_losses(struct pf_text *out, const struct pf_sched *sched, uint64_t wakings)
{
    const struct pf_switches *switches = &sched->switches;
    const uint64_t records = switches->reading.record_count;
    if (switches->lost_count && records)
        pf_put_format(out, "  INFO: %.3f%% lost events (%" PRIu64 " out of %" PRIu64 ", in %" PRIu64 " chunks)\n",
                      (double)switches->lost_count / (double)records * 100, switches->lost_count, records,
                      switches->lost_chunks);
    if (switches->mismatch_count && wakings)
        pf_put_format(out, "  INFO: %.3f%% context switch bugs (%" PRIu64 " out of %" PRIu64 ")%s\n",
                      (double)switches->mismatch_count / (double)wakings * 100, switches->mismatch_count, wakings,
                      switches->lost_count ? " (due to lost events?)" : "");
}
