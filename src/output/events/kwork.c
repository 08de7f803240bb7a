/* SPDX-License-Identifier: MIT */
/* Interrupts, softirqs and works as `perf kwork report`, `latency` and `timehist` print them. */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/events/kwork.h"
#include "output/events/events.h"

struct kwork {
    struct pf_text *out;
    const struct perfile_output_options *options;
    struct perfile_reader *reader;
    struct pf_kwork kwork;
    struct pf_profile *profile;
    bool prints; /* each run */
};

enum { NAME_CAPACITY = 30 };

static void put_line(struct pf_text *out)
{
    pf_put_char(out, ' ');
    pf_put_rule(out, 128);
}

static void put_label(struct pf_text *out, const struct pf_kwork_row *row)
{
    char text[NAME_CAPACITY]; /* longer names are cut */
    pf_kwork_label(row, text, sizeof(text));
    const size_t start = out->used;
    pf_put_name(out, text);
    for (size_t i = strlen(text); out->used >= start && i < NAME_CAPACITY; i++)
        pf_put_char(out, ' ');
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

static void put_row(const struct kwork *kwork, const struct pf_kwork_row *row, const struct pf_kwork_sums *sums,
                    double first)
{
    struct pf_text *out = kwork->out;
    pf_put_string(out, "  ");
    put_label(out, row);
    pf_put_format(out, " | %04" PRIu32 " | %10.3f ms | %9" PRIu64 " | %10.3f ms | ", row->cpu, first / 1e6,
                  sums->stats.count, (double)sums->stats.max / 1e6);
    pf_put_event_time(out, sums->max_start, 17);
    pf_put_string(out, " s | ");
    pf_put_event_time(out, sums->max_end, 17);
    pf_put_string(out, " s |\n");
}

static void put_summary(const struct kwork *kwork)
{
    uint64_t count = 0, total = 0;
    const uint64_t span = kwork->kwork.last_time - kwork->kwork.first_time;
    for (size_t i = 0; i < kwork->kwork.count; i++) {
        count += kwork->kwork.rows[i]->runs.stats.count;
        total += kwork->kwork.rows[i]->runs.stats.sum;
    }
    pf_put_format(kwork->out, "  Total count            : %9" PRIu64 "\n", count);
    pf_put_format(kwork->out, "  Total runtime   (msec) : %9.3f (%.3f%% load average)\n", (double)total / 1e6,
                  span ? (double)total / (double)span : 0);
    pf_put_format(kwork->out, "  Total time span (msec) : %9.3f\n", (double)span / 1e6);
    put_line(kwork->out);
}

static void put_skipped(const struct kwork *kwork, uint64_t raises, uint64_t entries, uint64_t exits)
{
    const struct perfile_counts *counts = perfile_reader_counts(kwork->reader);
    const uint64_t all = raises + entries + exits;
    if (all && counts->records)
        pf_put_format(kwork->out,
                      "  INFO: %.3f%% skipped events (%" PRIu64 " including %" PRIu64 " raise, %" PRIu64
                      " entry, %" PRIu64 " exit)\n",
                      (double)all / (double)counts->records * 100, all, raises, entries, exits);
    if (counts->lost_reported && counts->records)
        pf_put_format(kwork->out, "  INFO: %.3f%% lost events (%" PRIu64 " out of %" PRIu64 ")\n",
                      (double)counts->lost_reported / (double)counts->records * 100, counts->lost_reported,
                      counts->records);
}

static uint64_t count_open(const struct kwork *kwork, bool raises)
{
    uint64_t open = 0;
    for (size_t i = 0; i < kwork->kwork.count; i++)
        open += (raises ? kwork->kwork.rows[i]->raise : kwork->kwork.rows[i]->entry) != 0;
    return open;
}

static bool fits(const struct kwork *kwork, uint64_t printed)
{
    const uint64_t rows = kwork->options->events->rows;
    return !rows || printed < rows;
}

static void put_report(struct kwork *kwork)
{
    struct pf_kwork *of = &kwork->kwork;
    uint64_t printed = 0;
    pf_kwork_sort(of);
    pf_put_string(kwork->out, "\n  Kwork Name                     | Cpu  | Total Runtime | Count     | Max runtime   | "
                              "Max runtime start   | Max runtime end     |\n");
    put_line(kwork->out);
    for (size_t i = 0; i < of->count && fits(kwork, printed); i++)
        if (of->rows[i]->runs.stats.count) {
            put_row(kwork, of->rows[i], &of->rows[i]->runs, (double)of->rows[i]->runs.stats.sum);
            printed++;
        }
    put_line(kwork->out);
    if (kwork->options->events->flags & PERFILE_EVENTS_WITH_SUMMARY)
        put_summary(kwork);
    put_skipped(kwork, 0, of->entries_alone + count_open(kwork, false), of->exits_alone);
    pf_put_char(kwork->out, '\n');
}

static void put_latency(struct kwork *kwork)
{
    struct pf_kwork *of = &kwork->kwork;
    uint64_t printed = 0;
    pf_kwork_sort(of);
    pf_put_string(kwork->out, "\n  Kwork Name                     | Cpu  | Avg delay     | Count     | Max delay     | "
                              "Max delay start     | Max delay end       |\n");
    put_line(kwork->out);
    for (size_t i = 0; i < of->count && fits(kwork, printed); i++) {
        const struct pf_kwork_sums *delays = &of->rows[i]->delays;
        if (!delays->stats.count)
            continue;
        put_row(kwork, of->rows[i], delays, (double)delays->stats.sum / (double)delays->stats.count);
        printed++;
    }
    put_line(kwork->out);
    put_skipped(kwork, of->raises_alone + count_open(kwork, true), of->entries_unraised, 0);
    pf_put_char(kwork->out, '\n');
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static void put_runs_title(struct kwork *kwork)
{
    pf_put_string(
        kwork->out,
        " Runtime start      Runtime end        Cpu     Kwork name                      Runtime     Delaytime \n"
        "                                               (TYPE)NAME:NUM                  (msec)      (msec)    \n"
        " -----------------  -----------------  ------  ------------------------------  ----------  ----------\n");
}

static void put_run(struct kwork *kwork, const struct pf_kwork_run *run)
{
    struct pf_text *out = kwork->out;
    pf_put_char(out, ' ');
    pf_put_event_time(out, run->start, 17);
    pf_put_string(out, "  ");
    pf_put_event_time(out, run->end, 17);
    pf_put_format(out, "  [%04" PRIu32 "]  ", run->row->cpu);
    put_label(out, run->row);
    pf_put_format(out, "  %10.3f", (double)(run->end - pf_min(run->start, run->end)) / 1e6);
    if (run->delayed)
        pf_put_format(out, "  %10.3f \n", (double)run->delay / 1e6);
    else
        pf_put_format(out, "  %10s \n", "");
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static bool take(void *state, const struct pf_profile_sample *sample)
{
    struct kwork *kwork = state;
    struct pf_kwork_run run;
    const int ended = pf_kwork_take(&kwork->kwork, sample, &run);
    if (ended > 0 && kwork->prints)
        put_run(kwork, &run);
    return ended >= 0;
}

struct layout {
    void (*begin)(struct kwork *kwork); /* called before the runs are printed; NULL: runs are not printed */
    void (*end)(struct kwork *kwork);   /* or NULL */
    enum pf_kwork_order order;
};

static int write_kwork(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                       const struct layout *layout, struct perfile_error *error)
{
    struct kwork kwork = {.out = out, .options = options, .reader = reader, .prints = layout->begin};
    pf_kwork_open(&kwork.kwork, reader, options->allocator);
    kwork.kwork.classes = options->events->classes;
    kwork.kwork.name = options->events->work;
    int result = pf_kwork_order(&kwork.kwork, layout->order, layout->begin ? NULL : options->events->sort, error);
    if (result == 0)
        result = pf_event_profile_open(
            options, reader, &(struct pf_event_needs){&kwork.kwork.events, pf_kwork_take_record, &kwork.kwork},
            &kwork.profile, error);
    kwork.kwork.profile = kwork.profile;
    if (result == 0) {
        if (layout->begin)
            layout->begin(&kwork);
        result = pf_event_profile_read(kwork.profile, take, &kwork, error);
        if (result != PERFILE_ERROR_MEMORY && layout->end)
            layout->end(&kwork);
        pf_kwork_notify(&kwork.kwork, options->symbols->note, options->symbols->note_context);
        pf_profile_notify_unmatched(kwork.profile, options->unmatched, options->unmatched_context);
    }
    pf_kwork_close(&kwork.kwork);
    pf_profile_close(kwork.profile);
    return result;
}

#define KWORK_OUTPUT(name, first, last, by, text)                                                                      \
    static int write_##name(struct perfile_reader *reader, const struct perfile_output_options *options,               \
                            struct pf_text *out, struct perfile_error *error)                                          \
    {                                                                                                                  \
        static const struct layout layout = {first, last, by};                                                         \
        return write_kwork(reader, options, out, &layout, error);                                                      \
    }                                                                                                                  \
    const struct pf_output pf_output_kwork_##name = {.info = {"kwork_" #name, "stdio", text}, .write = write_##name};

KWORK_OUTPUT(report, NULL, put_report, PF_KWORK_BY_RUN,
             "how long interrupts, softirqs and works ran, as perf kwork report prints it")
KWORK_OUTPUT(latency, NULL, put_latency, PF_KWORK_BY_DELAY,
             "how long softirqs and works waited, as perf kwork latency prints it")
KWORK_OUTPUT(timehist, put_runs_title, NULL, PF_KWORK_BY_RUN, "each of their runs, as perf kwork timehist prints it")
