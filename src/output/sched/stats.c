/* SPDX-License-Identifier: MIT */
/* The counters of /proc/schedstat as `perf sched stats report` and `diff` print them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/delivery.h"
#include "analysis/events/schedstat.h"
#include "base/error.h"
#include "output/events/events.h"
#include "output/output.h"

enum { WIDTH = 100 };

/* What a page of the text shows: all CPUs on average, or one. */
struct page {
    struct pf_text *out;
    const struct pf_schedstat *stats, *before; /* `before` NULL: nothing to compare with */
    const struct pf_schedstat_row *row;        /* the counters of this row, or of an average row like this */
    bool is_average;
};

/* The count of a counter in one of the recordings, 0 where it has none. */
static uint64_t number_of(const struct page *page, const struct pf_schedstat *stats, const char *name)
{
    uint64_t number = 0;
    if (page->is_average)
        (void)pf_schedstat_average(stats, page->row->domain, name, &number);
    else
        (void)pf_schedstat_number(stats, page->row, name, &number);
    return number;
}

static double ratio(double part, double total)
{
    return total != 0 ? part / total : 0;
}

static double change(double before, double after)
{
    return ratio(after - before, before) * 100;
}

static void put_text(const struct page *page, const char *text)
{
    pf_put_string(page->out, text);
}

static void put_title(const struct page *page)
{
    const struct pf_schedstat_row *row = page->row;
    pf_put_rule(page->out, WIDTH);
    if (page->is_average)
        put_text(page, "CPU: <ALL CPUS SUMMARY>");
    else
        pf_put_format(page->out, "CPU: %" PRIu32, row->cpu);
    if (row->domain >= 0) {
        put_text(page, " | DOMAIN: ");
        if (row->name)
            pf_put_name(page->out, row->name);
        else
            pf_put_signed(page->out, row->domain);
        if (!page->is_average && row->cpus) {
            put_text(page, " | DOMAIN_CPUS: ");
            pf_put_name(page->out, row->cpus);
        }
    }
    put_text(page, "\n");
    pf_put_rule(page->out, WIDTH);
}

static void put_header(const struct page *page)
{
    const bool of_domain = page->row->domain >= 0;
    if (page->before)
        pf_put_format(page->out, "%-65s %12s %11s   PCT_CHANGE    %s\n", "DESC", "COUNT1", "COUNT2",
                      of_domain ? " AVG_JIFFIES1 AVG_JIFFIES2" : "PCT_CHANGE1 PCT_CHANGE2");
    else
        pf_put_format(page->out, "%-65s %12s   %s\n", "DESC", "COUNT", of_domain ? " AVG_JIFFIES" : "PCT_CHANGE");
}

static void put_category(const struct page *page, enum pf_schedstat_category category)
{
    static const char *const names[] = {[PF_SCHEDSTAT_BUSY] = "<Category busy>",
                                        [PF_SCHEDSTAT_IDLE] = "<Category idle>",
                                        [PF_SCHEDSTAT_NEWIDLE] = "<Category newidle>",
                                        [PF_SCHEDSTAT_ACTIVE] = "<Category active_load_balance()>",
                                        [PF_SCHEDSTAT_EXEC] = "<Category sched_balance_exec()>",
                                        [PF_SCHEDSTAT_FORK] = "<Category sched_balance_fork()>",
                                        [PF_SCHEDSTAT_WAKEUP] = "<Wakeup Info>"};
    const char *name = names[category];
    const size_t free = WIDTH - strlen(name) - 2;
    for (size_t i = 0; i < free / 2; i++)
        pf_put_char(page->out, '-');
    pf_put_format(page->out, " %s ", name);
    pf_put_rule(page->out, (unsigned)(free - free / 2));
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static void put_counts(const struct page *page, const char *prefix, const char *name, uint64_t before, uint64_t after)
{
    char text[80];
    snprintf(text, sizeof(text), "%s%s", prefix, name);
    if (page->before)
        pf_put_format(page->out, "%-65s: %11" PRIu64 ",%11" PRIu64 "  | %8.2f%% |", text, before, after,
                      change((double)before, (double)after));
    else
        pf_put_format(page->out, "%-65s: %11" PRIu64, text, after);
}

static void put_share(const struct page *page, const char *total, uint64_t before, uint64_t after)
{
    const double share = ratio((double)after, (double)number_of(page, page->stats, total)) * 100;
    if (page->before)
        pf_put_format(page->out, "  (%9.2f%%, %9.2f%% )",
                      ratio((double)before, (double)number_of(page, page->before, total)) * 100, share);
    else
        pf_put_format(page->out, "  (%9.2f%% )", share);
}

static uint64_t elapsed_of(const struct pf_schedstat *stats)
{
    return stats->count ? stats->rows[0].elapsed : 0;
}

/* Of single precision, whose digits perf prints. */
static double interval_of(const struct pf_schedstat *stats, uint64_t count)
{
    return (double)(float)ratio((double)elapsed_of(stats), (double)count);
}

static void put_interval(const struct page *page, uint64_t before, uint64_t after)
{
    if (page->before)
        pf_put_format(page->out, "  $%12.2f,%12.2f $", interval_of(page->before, before),
                      interval_of(page->stats, after));
    else
        pf_put_format(page->out, "  $%12.2f $", interval_of(page->stats, after));
}

static void put_counter(const struct page *page, const struct pf_schedstat_kind *kind)
{
    const uint64_t before = page->before ? number_of(page, page->before, kind->name) : 0;
    const uint64_t after = number_of(page, page->stats, kind->name);
    put_counts(page, "", kind->name, before, after);
    if (kind->part_of)
        put_share(page, kind->part_of, before, after);
    else if (kind->is_rare)
        put_interval(page, before, after);
    put_text(page, "\n");
}

/* What is computed of the counters of balancing. */
struct balance {
    uint32_t success; /* as perf has it: of 32 bits, also below 0 */
    double pulled;    /* tasks for each of these */
};

static struct balance balance_of(const struct page *page, const struct pf_schedstat *stats, const char *category)
{
    static const char *const parts[] = {"count", "balanced", "failed", "gained"};
    uint64_t numbers[PF_COUNT(parts)];
    char name[40];
    for (size_t i = 0; i < PF_COUNT(parts); i++) {
        snprintf(name, sizeof(name), "%s_lb_%s", category, parts[i]);
        numbers[i] = number_of(page, stats, name);
    }
    const uint32_t success = (uint32_t)(numbers[0] - numbers[1] - numbers[2]);
    return (struct balance){success, (double)(float)ratio((double)numbers[3], success)};
}

static void put_balance(const struct page *page, enum pf_schedstat_category category)
{
    const char *name = pf_schedstat_category_name(category);
    char text[40];
    const struct balance after = balance_of(page, page->stats, name);
    const struct balance before = page->before ? balance_of(page, page->before, name) : after;
    snprintf(text, sizeof(text), "%s_lb_success_count", name);
    put_counts(page, "*", text, before.success, after.success);
    snprintf(text, sizeof(text), "*%s_lb_avg_pulled", name);
    if (page->before)
        pf_put_format(page->out, "\n%-65s: %11.2f,%11.2f  | %8.2f%% |\n", text, before.pulled, after.pulled,
                      change(before.pulled, after.pulled));
    else
        pf_put_format(page->out, "\n%-65s: %11.2f\n", text, after.pulled);
}

static void put_page(const struct page *page)
{
    const struct pf_schedstat_counter *counters = &page->stats->counters[page->row->first_counter];
    put_title(page);
    put_header(page);
    if (page->row->domain < 0)
        pf_put_rule(page->out, WIDTH);
    for (size_t i = 0; i < page->row->counter_count; i++) {
        const enum pf_schedstat_category category = counters[i].kind->category;
        if (category != PF_SCHEDSTAT_CPU && (i == 0 || counters[i - 1].kind->category != category))
            put_category(page, category);
        put_counter(page, counters[i].kind);
        const bool is_last = i + 1 == page->row->counter_count || counters[i + 1].kind->category != category;
        if (is_last && category >= PF_SCHEDSTAT_BUSY && category <= PF_SCHEDSTAT_NEWIDLE)
            put_balance(page, category);
    }
}

static void put_all(struct pf_text *out, const struct pf_schedstat *stats, const struct pf_schedstat *before)
{
    struct page page = {out, stats, before, NULL, true};
    pf_put_string(out, "Description\n");
    pf_put_rule(out, WIDTH);
    pf_put_string(out, "DESC                          -> Description of the field\n"
                       "COUNT                         -> Value of the field\n"
                       "PCT_CHANGE                    -> Percent change with corresponding base value\n"
                       "AVG_JIFFIES                   -> Avg time in jiffies between two consecutive occurrence of "
                       "event\n");
    pf_put_rule(out, WIDTH);
    pf_put_format(out, "\n%-65s: %11" PRIu64, "Time elapsed (in jiffies)", elapsed_of(before ? before : stats));
    if (before)
        pf_put_format(out, ",%11" PRIu64, elapsed_of(stats));
    pf_put_char(out, '\n');
    for (size_t i = 0; i < stats->count; i++) {
        page.row = &stats->rows[i];
        page.is_average = page.row->cpu == stats->rows[0].cpu;
        if (page.is_average)
            put_page(&page);
    }
    pf_put_rule(out, WIDTH);
    page.is_average = false;
    for (size_t i = 0; i < stats->count && !before; i++) {
        page.row = &stats->rows[i];
        if (page.row->domain < 0 && i)
            pf_put_rule(out, WIDTH);
        put_page(&page);
    }
    if (stats->count && !before)
        pf_put_rule(out, WIDTH);
}

/* Reads a recording; does nothing when the reader is NULL. */
static int read_stats(struct pf_schedstat *stats, struct perfile_reader *reader,
                      const struct perfile_output_options *options, struct perfile_error *error)
{
    struct pf_filter filter = {0};
    *stats = (struct pf_schedstat){0};
    if (!reader)
        return 0;
    pf_schedstat_open(stats, reader, options->allocator);
    int result = pf_recording_filter(reader, options->filter, options->allocator, &filter, error);
    if (result == 0)
        result = pf_schedstat_read(stats, &filter, error);
    if (result >= 0 && filter.active)
        pf_filter_notify_unmatched(&filter, reader, perfile_event_get, options->unmatched, options->unmatched_context);
    pf_filter_close(&filter);
    return result;
}

static int write_stats(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                       struct perfile_error *error)
{
    struct pf_schedstat stats, before;
    struct perfile_reader *other = options->events->before;
    int result = read_stats(&before, other, options, error);
    const int read = read_stats(&stats, reader, options, result < 0 ? NULL : error);
    result = result < 0 ? result : read;
    if (result != PERFILE_ERROR_MEMORY && stats.count)
        put_all(out, &stats, other ? &before : NULL);
    pf_schedstat_notify(&stats, options->symbols->note, options->symbols->note_context);
    pf_schedstat_close(&before);
    pf_schedstat_close(&stats);
    return result;
}

const struct pf_output pf_output_sched_stats = {
    .info = {"sched_stats", "stdio", "the scheduler's counters as perf sched stats prints them"},
    .write = write_stats,
};
