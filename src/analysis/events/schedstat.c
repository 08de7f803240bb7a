/* SPDX-License-Identifier: MIT */
#include "analysis/events/schedstat.h"

#include <string.h>

#include "analysis/events/advice.h"
#include "base/bytes.h"
#include "base/counted.h"
#include "base/error.h"
#include "platform/platform.h"

#define BALANCE(prefix, of, when)                                                                                      \
    {prefix "_lb_count", of, NULL, true, "Attempts to balance load on a CPU that was " when "."},                      \
        {prefix "_lb_balanced", of, NULL, true, "Of these, those that found nothing to do."},                          \
        {prefix "_lb_failed", of, NULL, true, "Of these, those that could not move a task."},                          \
        {prefix "_lb_imbalance", of, NULL, false, "Sum of the imbalances that were found."},                           \
        {prefix "_lb_imbalance_load", of, NULL, false, "Sum of the imbalances of load."},                              \
        {prefix "_lb_imbalance_util", of, NULL, false, "Sum of the imbalances of utilization."},                       \
        {prefix "_lb_imbalance_task", of, NULL, false, "Sum of the imbalances of numbers of tasks."},                  \
        {prefix "_lb_imbalance_misfit", of, NULL, false, "Sum of the imbalances of tasks on too small CPUs."},         \
        {prefix "_lb_gained", of, NULL, false, "Tasks that were moved here."},                                         \
        {prefix "_lb_hot_gained", of, NULL, false, "Of these, those whose data was still in a cache."},                \
        {prefix "_lb_nobusyq", of, NULL, true, "Attempts that found no busier run queue."},                            \
    {                                                                                                                  \
        prefix "_lb_nobusyg", of, NULL, true, "Attempts that found no busier group of CPUs."                           \
    }

static const struct pf_schedstat_kind kinds[] = {
    {"yld_count", PF_SCHEDSTAT_CPU, NULL, false, "Calls of sched_yield."},
    {"array_exp", PF_SCHEDSTAT_CPU, NULL, false, "Of an older scheduler; 0 today."},
    {"sched_count", PF_SCHEDSTAT_CPU, NULL, false, "Calls of schedule."},
    {"sched_goidle", PF_SCHEDSTAT_CPU, "sched_count", false, "Of these, those after which the CPU was idle."},
    {"ttwu_count", PF_SCHEDSTAT_CPU, NULL, false, "Tasks that were woken."},
    {"ttwu_local", PF_SCHEDSTAT_CPU, "ttwu_count", false, "Of these, those that were woken by this CPU."},
    {"rq_cpu_time", PF_SCHEDSTAT_CPU, NULL, false, "Time that tasks ran, in ns."},
    {"run_delay", PF_SCHEDSTAT_CPU, "rq_cpu_time", false, "Time that tasks waited for the CPU, in ns."},
    {"pcount", PF_SCHEDSTAT_CPU, NULL, false, "Time slices that tasks had."},
    BALANCE("busy", PF_SCHEDSTAT_BUSY, "busy"),
    BALANCE("idle", PF_SCHEDSTAT_IDLE, "idle"),
    BALANCE("newidle", PF_SCHEDSTAT_NEWIDLE, "about to become idle"),
    {"alb_count", PF_SCHEDSTAT_ACTIVE, NULL, false, "Times that a CPU was asked to give away the task that it ran."},
    {"alb_failed", PF_SCHEDSTAT_ACTIVE, NULL, false, "Of these, those without a task to give away."},
    {"alb_pushed", PF_SCHEDSTAT_ACTIVE, NULL, false, "Of these, those that moved a task."},
    {"sbe_count", PF_SCHEDSTAT_EXEC, NULL, false, "Not used by the kernel."},
    {"sbe_balanced", PF_SCHEDSTAT_EXEC, NULL, false, "Not used by the kernel."},
    {"sbe_pushed", PF_SCHEDSTAT_EXEC, NULL, false, "Not used by the kernel."},
    {"sbf_count", PF_SCHEDSTAT_FORK, NULL, false, "Not used by the kernel."},
    {"sbf_balanced", PF_SCHEDSTAT_FORK, NULL, false, "Not used by the kernel."},
    {"sbf_pushed", PF_SCHEDSTAT_FORK, NULL, false, "Not used by the kernel."},
    {"ttwu_wake_remote", PF_SCHEDSTAT_WAKEUP, NULL, false, "Tasks that were woken and had run on another CPU."},
    {"ttwu_move_affine", PF_SCHEDSTAT_WAKEUP, NULL, false, "Of these, those moved to the CPU that woke them."},
    {"ttwu_move_balance", PF_SCHEDSTAT_WAKEUP, NULL, false, "Of these, those moved to balance load."},
};

const char *pf_schedstat_category_name(enum pf_schedstat_category category)
{
    static const char *const names[] = {"cpu", "busy", "idle", "newidle", "active", "exec", "fork", "wakeup"};
    return names[category];
}

static const struct pf_schedstat_kind *find_kind(const char *name)
{
    for (size_t i = 0; name && i < PF_COUNT(kinds); i++)
        if (!strcmp(kinds[i].name, name))
            return &kinds[i];
    return NULL;
}

void pf_schedstat_open(struct pf_schedstat *stats, struct perfile_reader *reader,
                       const struct perfile_allocator *allocator)
{
    *stats = (struct pf_schedstat){.reader = reader, .allocator = allocator};
    pf_arena_open(&stats->arena, allocator);
    pf_map_open(&stats->index, allocator);
}

void pf_schedstat_close(struct pf_schedstat *stats)
{
    if (!stats->reader)
        return;
    pf_free(stats->allocator, stats->rows, stats->capacity * sizeof(*stats->rows));
    pf_free(stats->allocator, stats->counters, stats->counter_capacity * sizeof(*stats->counters));
    pf_map_close(&stats->index);
    pf_arena_close(&stats->arena);
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

/* What a visit of a record sees. */
struct seen {
    uint32_t cpu;
    int32_t domain;
    uint16_t version;
    uint64_t timestamp, unknown;
    struct pf_schedstat_counter counters[PF_SCHEDSTAT_COUNTERS_MAX];
    size_t count;
};

static void take_counter(struct seen *seen, const struct pf_schedstat_kind *kind, uint64_t number)
{
    if (!kind || seen->count == PF_COUNT(seen->counters))
        seen->unknown++;
    else
        seen->counters[seen->count++] = (struct pf_schedstat_counter){.kind = kind, .first = number};
}

static int take_value(void *context, const struct perfile_value *value)
{
    struct seen *seen = context;
    const uint64_t number = value->number.u;
    if (value->kind != PERFILE_VALUE_UNSIGNED || !value->name)
        return 0;
    if (!strcmp(value->name, "timestamp"))
        seen->timestamp = number;
    else if (!strcmp(value->name, "cpu"))
        seen->cpu = (uint32_t)number;
    else if (!strcmp(value->name, "domain"))
        seen->domain = (int32_t)number;
    else if (!strcmp(value->name, "version"))
        seen->version = (uint16_t)number;
    else
        take_counter(seen, find_kind(value->name), number);
    return 0;
}

static uint64_t row_key(uint32_t cpu, int32_t domain)
{
    return (uint64_t)cpu << 32 | (uint32_t)(domain + 1);
}

static bool add_row(struct pf_schedstat *stats, const struct seen *seen)
{
    if (!pf_grow(stats->allocator, &stats->rows, &stats->capacity, stats->count + 1, sizeof(*stats->rows)) ||
        !pf_grow(stats->allocator, &stats->counters, &stats->counter_capacity, stats->counter_count + seen->count,
                 sizeof(*stats->counters)) ||
        !pf_map_put(&stats->index, row_key(seen->cpu, seen->domain), stats->count))
        return false;
    stats->rows[stats->count++] = (struct pf_schedstat_row){.cpu = seen->cpu,
                                                            .domain = seen->domain,
                                                            .version = seen->version,
                                                            .start = seen->timestamp,
                                                            .records = 1,
                                                            .first_counter = stats->counter_count,
                                                            .counter_count = seen->count};
    for (size_t i = 0; i < seen->count; i++)
        stats->counters[stats->counter_count++] = seen->counters[i];
    return true;
}

/* Times and slices have 64 bits; the other counters have 32, and may have wrapped. */
static bool is_wide(const struct pf_schedstat_kind *kind)
{
    return !strcmp(kind->name, "rq_cpu_time") || !strcmp(kind->name, "run_delay") || !strcmp(kind->name, "pcount");
}

static void update_row(struct pf_schedstat *stats, struct pf_schedstat_row *row, const struct seen *seen)
{
    row->records++;
    row->elapsed = seen->timestamp - row->start;
    for (size_t i = 0; i < row->counter_count && i < seen->count; i++) {
        struct pf_schedstat_counter *counter = &stats->counters[row->first_counter + i];
        const uint64_t count = seen->counters[i].first - counter->first;
        if (counter->kind == seen->counters[i].kind)
            counter->count = is_wide(counter->kind) ? count : (uint32_t)count;
    }
}

static bool passes(struct pf_filter *filter, uint32_t cpu)
{
    const struct pf_filter_subject subject = {
        .time = PF_NO_TIME, .cpu = (int32_t)cpu, .pid = PF_NO_NUMBER, .tid = PF_NO_NUMBER};
    return !filter->active || pf_filter_passes(filter, &subject);
}

/* Records of other types are passed over. */
static int take_record(struct pf_schedstat *stats, const struct perfile_record *record, struct pf_filter *filter,
                       struct perfile_error *error)
{
    struct seen seen = {.domain = -1};
    const struct perfile_visitor visitor = {.size = sizeof(visitor), .context = &seen, .value = take_value};
    uint64_t known;
    if (record->damaged ||
        (record->type != PERFILE_RECORD_SCHEDSTAT_CPU && record->type != PERFILE_RECORD_SCHEDSTAT_DOMAIN))
        return 0;
    const int result = perfile_record_visit(stats->reader, record, &visitor, error);
    if (result < 0 || !passes(filter, seen.cpu))
        return result;
    stats->unknown += seen.unknown;
    if (pf_map_get(&stats->index, row_key(seen.cpu, seen.domain), &known))
        update_row(stats, &stats->rows[known], &seen);
    else if (!add_row(stats, &seen))
        return pf_fail_memory(error, "counters of the scheduler");
    return 0;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* What a visit of the feature is at. */
struct domains {
    struct pf_schedstat *stats;
    uint32_t cpu;
    uint64_t known; /* the row of the domain; UINT64_MAX: none */
    bool failed;    /* out of memory */
};

static void take_name(struct domains *domains, const char **name, const struct perfile_value *value)
{
    if (*name || value->kind != PERFILE_VALUE_TEXT)
        return;
    *name = pf_arena_text(&domains->stats->arena, value->data, value->bytes);
    domains->failed |= !*name;
}

static int take_domain(void *context, const struct perfile_value *value)
{
    struct domains *domains = context;
    const char *name = value->name ? value->name : "";
    if (!strcmp(name, "cpu"))
        domains->cpu = (uint32_t)value->number.u;
    if (!strcmp(name, "domain") &&
        !pf_map_get(&domains->stats->index, row_key(domains->cpu, (int32_t)value->number.u), &domains->known))
        domains->known = UINT64_MAX;
    if (domains->known == UINT64_MAX)
        return 0;
    if (!strcmp(name, "dname"))
        take_name(domains, &domains->stats->rows[domains->known].name, value);
    if (!strcmp(name, "cpulist"))
        take_name(domains, &domains->stats->rows[domains->known].cpus, value);
    return domains->failed;
}

static int compare(const void *left, const void *right, void *context)
{
    const struct pf_schedstat_row *a = left, *b = right;
    (void)context;
    return PF_COMPARE(a->cpu, b->cpu) ?: PF_COMPARE(a->domain, b->domain);
}

/* After the last record: names of domains, and the order of rows. */
static int end_rows(struct pf_schedstat *stats, struct perfile_error *error)
{
    struct domains domains = {.stats = stats, .known = UINT64_MAX};
    const struct perfile_visitor visitor = {.size = sizeof(visitor), .context = &domains, .value = take_domain};
    const int result = perfile_feature_visit(stats->reader, PERFILE_FEATURE_CPU_DOMAIN_INFO, &visitor, NULL);
    if (result == PERFILE_ERROR_MEMORY || domains.failed)
        return pf_fail_memory(error, "counters of the scheduler");
    if (stats->count)
        pf_platform_sort(stats->rows, stats->count, sizeof(*stats->rows), compare, NULL);
    for (size_t i = 0; i < stats->count; i++)
        if (!pf_map_put(&stats->index, row_key(stats->rows[i].cpu, stats->rows[i].domain), i))
            return pf_fail_memory(error, "counters of the scheduler");
    return 0;
}

int pf_schedstat_read(struct pf_schedstat *stats, struct pf_filter *filter, struct perfile_error *error)
{
    const struct perfile_record *record;
    int result;
    while ((result = perfile_reader_next(stats->reader, &record, error)) > 0)
        if ((result = take_record(stats, record, filter, error)) < 0)
            return result;
    const int ended = end_rows(stats, error);
    return result < 0 ? result : ended;
}

const struct pf_schedstat_row *pf_schedstat_find(const struct pf_schedstat *stats, uint32_t cpu, int32_t domain)
{
    uint64_t known;
    return pf_map_get(&stats->index, row_key(cpu, domain), &known) ? &stats->rows[known] : NULL;
}

bool pf_schedstat_number(const struct pf_schedstat *stats, const struct pf_schedstat_row *row, const char *name,
                         uint64_t *count)
{
    for (size_t i = 0; i < row->counter_count; i++) {
        const struct pf_schedstat_counter *counter = &stats->counters[row->first_counter + i];
        if (!strcmp(counter->kind->name, name)) {
            *count = counter->count;
            return true;
        }
    }
    return false;
}

bool pf_schedstat_average(const struct pf_schedstat *stats, int32_t domain, const char *name, uint64_t *count)
{
    uint64_t sum = 0, rows = 0, one;
    for (size_t i = 0; i < stats->count; i++)
        if (stats->rows[i].domain == domain && pf_schedstat_number(stats, &stats->rows[i], name, &one)) {
            sum += one;
            rows++;
        }
    *count = rows ? sum / rows : 0;
    return rows;
}

void pf_schedstat_notify(const struct pf_schedstat *stats, pf_on_note *notify, void *context)
{
    char text[PF_COUNTED_BYTES];
    uint64_t open = 0;
    for (size_t i = 0; i < stats->count; i++)
        open += stats->rows[i].records == 1;
    if (!notify)
        return;
    if (!stats->count)
        notify(context, "the recording has no counters of the scheduler; record with: " PF_RECORD_SCHEDSTAT);
    if (open)
        notify(context, pf_count_of(open, "rows have only one record, which is the start of counting", text));
    if (stats->unknown)
        notify(context, pf_count_of(stats->unknown, "counters are of an unknown version of /proc/schedstat", text));
}
