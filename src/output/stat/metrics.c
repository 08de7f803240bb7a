/* SPDX-License-Identifier: MIT */
/* What counts say beside others: clocks beside the time that went by, events beside clocks, misses beside hits. */
#include "output/stat/sheet.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/event_name.h"
#include "base/locale.h"

/* In hundreds and so on a second: the unit of rates. */
static const struct {
    double from;
    const char *unit;
} rates[] = {{1e9, "G/sec"}, {1e6, "M/sec"}, {1e3, "K/sec"}, {0, "/sec"}};

static const struct {
    enum pf_stat_kind of;
    double factor;
    const char *unit;
    enum pf_stat_form form;
} relations[PF_STAT_OTHER] = {
    [PF_STAT_CYCLES] = {PF_STAT_CLOCK, 1, "GHz", PF_STAT_RATIO},
    [PF_STAT_INSTRUCTIONS] = {PF_STAT_CYCLES, 1, "insn per cycle", PF_STAT_HUNDREDTHS},
    [PF_STAT_CACHE_MISSES] = {PF_STAT_CACHE_REFERENCES, 100, "of all cache refs", PF_STAT_PERCENT},
    [PF_STAT_BRANCH_MISSES] = {PF_STAT_BRANCHES, 100, "of all branches", PF_STAT_PERCENT},
    [PF_STAT_STALLED_FRONTEND] = {PF_STAT_CYCLES, 100, "frontend cycles idle", PF_STAT_PERCENT},
    [PF_STAT_STALLED_BACKEND] = {PF_STAT_CYCLES, 100, "backend cycles idle", PF_STAT_PERCENT},
    [PF_STAT_L1D_MISSES] = {PF_STAT_L1D, 100, "of all L1-dcache accesses", PF_STAT_PERCENT},
    [PF_STAT_L1I_MISSES] = {PF_STAT_L1I, 100, "of all L1-icache accesses", PF_STAT_PERCENT},
    [PF_STAT_LL_MISSES] = {PF_STAT_LL, 100, "of all LL-cache accesses", PF_STAT_PERCENT},
    [PF_STAT_DTLB_MISSES] = {PF_STAT_DTLB, 100, "of all dTLB cache accesses", PF_STAT_PERCENT},
    [PF_STAT_ITLB_MISSES] = {PF_STAT_ITLB, 100, "of all iTLB cache accesses", PF_STAT_PERCENT},
};

/* Loads of the caches that come in pairs of kinds; the upper half says which PMU of several. */
static enum pf_stat_kind kind_of_cache(uint32_t config)
{
    const uint32_t cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16;
    return cache <= PERFILE_COUNT_HW_CACHE_ITLB && op == PERFILE_COUNT_HW_CACHE_OP_READ &&
                   result <= PERFILE_COUNT_HW_CACHE_RESULT_MISS
               ? (enum pf_stat_kind)(PF_STAT_L1D + 2 * cache + result)
               : PF_STAT_OTHER;
}

enum pf_stat_kind pf_stat_kind_of(const struct perfile_event *event)
{
    static const uint8_t hardware[] = {PF_STAT_CYCLES,       PF_STAT_INSTRUCTIONS,     PF_STAT_CACHE_REFERENCES,
                                       PF_STAT_CACHE_MISSES, PF_STAT_BRANCHES,         PF_STAT_BRANCH_MISSES,
                                       PF_STAT_OTHER,        PF_STAT_STALLED_FRONTEND, PF_STAT_STALLED_BACKEND};
    const struct perfile_attr *attr = event->attr;
    if (attr->type == PERFILE_TYPE_SOFTWARE && attr->config <= PERFILE_COUNT_SW_TASK_CLOCK)
        return PF_STAT_CLOCK;
    /* the upper half says which PMU of several */
    if (attr->type == PERFILE_TYPE_HARDWARE && (uint32_t)attr->config < PF_COUNT(hardware))
        return (enum pf_stat_kind)hardware[(uint32_t)attr->config];
    if (attr->type == PERFILE_TYPE_HW_CACHE)
        return kind_of_cache((uint32_t)attr->config);
    return PF_STAT_OTHER;
}

static struct pf_stat_metric rate_of(double count, double clock)
{
    const double rate = count / clock * 1e9;
    size_t i = 0;
    while (rate < rates[i].from)
        i++;
    return (struct pf_stat_metric){rates[i].from > 0 ? rate / rates[i].from : rate, rates[i].unit, PF_STAT_RATIO};
}

/* The metrics of perf 7.2: those of counts beside clocks are per second, whatever they are. */
static const struct {
    uint32_t type, config;
    enum pf_stat_kind of;
    double factor;
    const char *unit;
} perf_metrics[] = {
    {PERFILE_TYPE_SOFTWARE, PERFILE_COUNT_SW_CONTEXT_SWITCHES, PF_STAT_CLOCK, 1e9, "cs/sec  cs_per_second"},
    {PERFILE_TYPE_SOFTWARE, PERFILE_COUNT_SW_CPU_MIGRATIONS, PF_STAT_CLOCK, 1e9,
     "migrations/sec  migrations_per_second"},
    {PERFILE_TYPE_SOFTWARE, PERFILE_COUNT_SW_PAGE_FAULTS, PF_STAT_CLOCK, 1e9, "faults/sec  page_faults_per_second"},
    {PERFILE_TYPE_HARDWARE, PERFILE_COUNT_HW_CPU_CYCLES, PF_STAT_CLOCK, 1, "GHz  cycles_frequency"},
    {PERFILE_TYPE_HARDWARE, PERFILE_COUNT_HW_INSTRUCTIONS, PF_STAT_CYCLES, 1, "instructions  insn_per_cycle"},
    {PERFILE_TYPE_HARDWARE, PERFILE_COUNT_HW_BRANCH_INSTRUCTIONS, PF_STAT_CLOCK, 1e3, "M/sec  branch_frequency"},
    {PERFILE_TYPE_HARDWARE, PERFILE_COUNT_HW_BRANCH_MISSES, PF_STAT_BRANCHES, 100, "%  branch_miss_rate"},
    {PERFILE_TYPE_HARDWARE, PERFILE_COUNT_HW_STALLED_CYCLES_FRONTEND, PF_STAT_CYCLES, 1, "frontend_cycles_idle"},
    {PERFILE_TYPE_HARDWARE, PERFILE_COUNT_HW_STALLED_CYCLES_BACKEND, PF_STAT_CYCLES, 1, "backend_cycles_idle"},
};

/* A unit of NULL: perf has no metric of that event. */
static struct pf_stat_metric perf_metric_of(const struct pf_stat_group *group, const struct pf_stat_line *line)
{
    const struct perfile_attr *attr = line->event->attr;
    for (size_t i = 0; i < PF_COUNT(perf_metrics); i++) {
        const double of = group->counts[perf_metrics[i].of];
        if (attr->type == perf_metrics[i].type && (uint32_t)attr->config == perf_metrics[i].config && of > 0)
            return (struct pf_stat_metric){perf_metrics[i].factor * (double)line->count / of, perf_metrics[i].unit,
                                           PF_STAT_TENTHS};
    }
    return (struct pf_stat_metric){0, NULL, PF_STAT_RATIO};
}

/* duration_time counts nothing. */
static bool is_of_nothing(const struct perfile_attr *attr)
{
    return attr->type == PERFILE_TYPE_SOFTWARE && attr->config == PERFILE_COUNT_SW_DUMMY;
}

static struct pf_stat_metric utilization_of(const struct pf_stat_sheet *sheet, const struct pf_stat_line *line,
                                            bool as_perf)
{
    return sheet->elapsed ? (struct pf_stat_metric){(double)line->count / (double)sheet->elapsed,
                                                    as_perf ? "CPUs  CPUs_utilized" : "CPUs utilized",
                                                    as_perf ? PF_STAT_TENTHS : PF_STAT_RATIO}
                          : (struct pf_stat_metric){0, NULL, PF_STAT_RATIO};
}

struct pf_stat_metric pf_stat_metric_of(const struct pf_stat_sheet *sheet, const struct pf_stat_line *line)
{
    const bool has_only_metrics = pf_stat_has_only_metrics(sheet);
    const bool as_perf = has_only_metrics || sheet->options->stat->flags & PERFILE_STAT_PERF_METRICS;
    const struct pf_stat_metric nothing = {0, NULL, PF_STAT_RATIO};
    const struct pf_stat_group *group = &sheet->groups[line->group];
    const enum pf_stat_kind kind = pf_stat_kind_of(line->event);
    if (pf_stat_missing(line) || is_of_nothing(line->event->attr))
        return nothing;
    if (kind == PF_STAT_CLOCK)
        return utilization_of(sheet, line, as_perf);
    const struct pf_stat_metric of_perf = as_perf ? perf_metric_of(group, line) : nothing;
    if (of_perf.unit)
        return of_perf;
    if (kind != PF_STAT_OTHER && relations[kind].unit && group->counts[relations[kind].of] > 0)
        return (struct pf_stat_metric){relations[kind].factor * (double)line->count / group->counts[relations[kind].of],
                                       relations[kind].unit, relations[kind].form};
    return group->counts[PF_STAT_CLOCK] > 0 && !has_only_metrics
               ? rate_of((double)line->count, group->counts[PF_STAT_CLOCK])
               : nothing;
}

/* ---- those that were asked for ----------------------------------------------------------------------------------- */

#define DURATION UINT32_MAX

/* All of a name: "cycles" is not meant where "cycles_idle" stands, but it is in "cycles/2". */
static size_t matched(const char *text, const char *name, size_t bytes)
{
    const char after = strncmp(text, name, bytes) == 0 ? text[bytes] : 'x';
    const bool goes_on = (after >= 'a' && after <= 'z') || (after >= 'A' && after <= 'Z') ||
                         (after >= '0' && after <= '9') || after == '_' || after == ':';
    return goes_on ? 0 : bytes;
}

static size_t find_name(const void *context, const char *text, uint32_t *number)
{
    const struct pf_stat_sheet *sheet = context;
    static const char duration[] = "duration_time";
    const struct perfile_event *event;
    size_t longest = matched(text, duration, sizeof(duration) - 1);
    *number = DURATION;
    for (size_t i = 0; (event = perfile_event_get(sheet->reader, i)) != NULL; i++) {
        const size_t all = pf_event_name_bytes(event->name), max = all ? matched(text, event->name, all) : 0,
                     short_name = pf_event_name_bare_bytes(event->name),
                     bytes = max || !short_name ? max : matched(text, event->name, short_name);
        if (bytes > longest) {
            longest = bytes;
            *number = event->index;
        }
    }
    return longest;
}

static void close_last_wanted(struct pf_stat_sheet *sheet)
{
    struct pf_stat_wanted *last = &sheet->wanted[--sheet->wanted_count];
    pf_expression_close(&last->expression);
    if (last->text)
        pf_free(sheet->allocator, last->text, strlen(last->text) + 1);
}

/* "name=expression", or an expression that is its own name. */
static int add_wanted(struct pf_stat_sheet *sheet, const char *passed, size_t bytes, struct perfile_error *error)
{
    if (!pf_grow(sheet->allocator, &sheet->wanted, &sheet->wanted_capacity, sheet->wanted_count + 1,
                 sizeof(*sheet->wanted)))
        return pf_fail_memory(error, "metrics");
    struct pf_stat_wanted *made = &sheet->wanted[sheet->wanted_count++];
    *made = (struct pf_stat_wanted){.text = pf_text_copy(sheet->allocator, passed, bytes)};
    if (!made->text)
        return pf_fail_memory(error, "metrics");
    const size_t named = strspn(made->text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.%");
    const size_t equals = named + strspn(made->text + named, " ");
    const bool has_name = named && made->text[equals] == '=';
    made->name = made->text;
    made->name_bytes = has_name ? named : strlen(made->text);
    return pf_expression_open(&made->expression, has_name ? made->text + equals + 1 : made->text, find_name, sheet,
                              sheet->allocator, error);
}

/* "?name=expression" is left out where an event of it was not counted. */
static int add_possible(struct pf_stat_sheet *sheet, const char *passed, size_t bytes, struct perfile_error *error)
{
    struct perfile_error ignored;
    const size_t before = sheet->wanted_count;
    const int result = add_wanted(sheet, passed + 1, bytes - 1, &ignored);
    if (result == PERFILE_ERROR_ARGUMENT && sheet->wanted_count > before)
        close_last_wanted(sheet);
    if (result < 0 && result != PERFILE_ERROR_ARGUMENT)
        return pf_fail_memory(error, "metrics");
    return 0;
}

int pf_stat_wanted_open(struct pf_stat_sheet *sheet, struct perfile_error *error)
{
    int result = 0;
    for (const char *at = sheet->options->stat->metrics; at && *at && !sheet->wanted_done && result == 0;) {
        const size_t bytes = strcspn(at, "\n");
        if (bytes)
            result = (*at == '?' ? add_possible : add_wanted)(sheet, at, bytes, error);
        at += bytes + (at[bytes] == '\n');
    }
    sheet->wanted_done = true;
    const char *possible = sheet->options->stat->metrics ? strchr(sheet->options->stat->metrics, '?') : NULL;
    if (result == 0 && !sheet->wanted_count && possible)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "metrics",
                       "the events of %.*s were not counted", (int)strcspn(possible + 1, "=.\n"), possible + 1);
    return result;
}

void pf_stat_wanted_close(struct pf_stat_sheet *sheet)
{
    while (sheet->wanted_count)
        close_last_wanted(sheet);
    pf_free(sheet->allocator, sheet->wanted, sheet->wanted_capacity * sizeof(*sheet->wanted));
}

struct group_values {
    const struct pf_stat_sheet *sheet;
    uint32_t group;
};

static double value_of(const void *context, uint32_t number)
{
    const struct group_values *of = context;
    const struct pf_stat_sheet *sheet = of->sheet;
    uint64_t event;
    if (number == DURATION)
        return sheet->elapsed ? (double)sheet->elapsed / 1e9 : NAN;
    const uint64_t key = (uint64_t)sheet->names[number].alike << 32 | sheet->groups[of->group].cgroup;
    const struct pf_stat_line *line =
        pf_map_get(&sheet->event_of, key, &event) ? pf_stat_line_of(sheet, (uint32_t)event, of->group) : NULL;
    return line && !pf_stat_missing(line) ? pf_stat_value(line) : NAN;
}

double pf_stat_wanted_of(const struct pf_stat_sheet *sheet, size_t number, uint32_t group)
{
    const struct group_values values = {sheet, group};
    const double value = pf_expression_of(&sheet->wanted[number].expression, value_of, &values);
    return isfinite(value) ? value : NAN;
}

/* The first line of each group stands for it. */
void pf_stat_wanted_put(struct pf_stat_sheet *sheet, const struct pf_stat_style *style)
{
    for (size_t i = 0; i < sheet->line_count && sheet->wanted_count; i++) {
        const struct pf_stat_line *line = &sheet->lines[i];
        if (line->hidden || sheet->groups[line->group].shown)
            continue;
        sheet->groups[line->group].shown = true;
        for (size_t k = 0; k < sheet->wanted_count; k++)
            style->metric(sheet, line, &sheet->wanted[k], pf_stat_wanted_of(sheet, k, line->group));
    }
}

const char *pf_stat_missing(const struct pf_stat_line *line)
{
    return !line->supported ? "<not supported>" : !line->running ? "<not counted>" : NULL;
}

void pf_stat_format_value(const struct pf_stat_line *line, int digits, char text[PF_STAT_VALUE_BYTES])
{
    if (line->event->scale != 1)
        pf_format(text, PF_STAT_VALUE_BYTES, "%.*f", digits, pf_stat_value(line));
    else
        pf_format(text, PF_STAT_VALUE_BYTES, "%" PRIu64 "%s%.*s", line->count, digits ? "." : "", digits, "000000");
}
