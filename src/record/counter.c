/* SPDX-License-Identifier: MIT */
/* Counting without samples: events, and a writer that gets what they counted. */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/event_name.h"
#include "base/locale.h"
#include "base/sized.h"
#include "base/text.h"
#include "format/writer.h"
#include "record/event_cgroups.h"
#include "record/events.h"
#include "record/machine.h"
#include "schema/since.h"

enum { THREADS_MAX = 2700 }; /* that a THREAD_MAP record holds */

struct perfile_counter {
    const struct perfile_allocator *allocator;
    struct perfile_counter_options options;
    struct perfile_recorder_options what;
    struct perfile_writer *writer;
    struct pf_event_list chosen;
    struct pf_target target;
    struct pf_opened_set opened;
    bool by_thread; /* counts of threads are kept apart */
};

/* ---- what is counted --------------------------------------------------------------------------------------------- */

/* The usual ones, and by how much detail is asked for, those of the caches. */
static const char *const usual[] = {
    "context-switches,cpu-migrations,page-faults,cycles,instructions,branches,branch-misses",
    "L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses",
    "L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,iTLB-loads,iTLB-load-misses",
    "L1-dcache-prefetches,L1-dcache-prefetch-misses",
};

static int choose_usual(struct perfile_counter *counter, struct perfile_error *error)
{
    int result = pf_event_list_parse(&counter->chosen, counter->target.everybody ? "cpu-clock" : "task-clock", error);
    for (size_t i = 0; i < PF_COUNT(usual) && i <= counter->options.detail && result == 0; i++)
        result = pf_event_list_parse(&counter->chosen, usual[i], error);
    return result;
}

static int choose(struct perfile_counter *counter, struct perfile_error *error)
{
    const int result = counter->what.events ? pf_event_list_parse(&counter->chosen, counter->what.events, error)
                                            : choose_usual(counter, error);
    if (result == PERFILE_ERROR_ABSENT && error)
        error->code = PERFILE_ERROR_ARGUMENT;
    return result == PERFILE_ERROR_ABSENT ? PERFILE_ERROR_ARGUMENT : result;
}

/* perf's own event of this name counts nothing: the first counter of the first processor gets the time, in ns. */
static bool is_duration(const struct pf_listed_event *event)
{
    return event->attr.type == PERFILE_TYPE_SOFTWARE && event->attr.config == PERFILE_COUNT_SW_DUMMY && event->name &&
           !strcmp(event->name, "duration_time");
}

static void configure(struct perfile_counter *counter, struct pf_listed_event *event)
{
    const unsigned flags = counter->what.flags;
    struct perfile_attr *attr = &event->attr;
    pf_event_take_filter(event, &counter->what);
    attr->sample_period_or_freq = 0;
    attr->freq = 0;
    attr->sample_type = PERFILE_SAMPLE_IDENTIFIER;
    attr->read_format = PERFILE_FORMAT_TOTAL_TIME_ENABLED | PERFILE_FORMAT_TOTAL_TIME_RUNNING;
    attr->disabled = 1;
    attr->inherit = !(flags & PERFILE_RECORDER_NO_INHERIT) && !counter->target.everybody;
    attr->enable_on_exec = (flags & PERFILE_RECORDER_ENABLE_ON_EXEC) != 0;
    if (!event->exclude_is_explicit && flags & PERFILE_RECORDER_ALL_USER)
        attr->exclude_kernel = attr->exclude_hv = 1;
    if (!event->exclude_is_explicit && flags & PERFILE_RECORDER_ALL_KERNEL)
        attr->exclude_user = 1;
    if (is_duration(event))
        event->unit = "ns";
    if (attr->type == PERFILE_TYPE_SOFTWARE && attr->config <= PERFILE_COUNT_SW_TASK_CLOCK && !event->unit) {
        event->unit = "msec"; /* as perf has it */
        event->scale = 1e-6;
    }
}

/* In which control groups. */
static int choose_cgroups(struct perfile_counter *counter, struct perfile_error *error)
{
    const struct perfile_counter_options *options = &counter->options;
    const char *all = counter->what.cgroup, *each = options->cgroups, *times = options->for_each_cgroup;
    const int passed = (all != NULL) + (each != NULL) + (times != NULL);
    if (passed > 1)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "control group",
                       "events are given their control groups in one way");
    if (passed && counter->by_thread)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "control group",
                       "the counts of a control group are not kept apart by thread");
    const int result = passed ? pf_event_cgroups_check(&counter->target, error) : 0;
    if (result < 0 || !passed)
        return result;
    return all    ? pf_event_cgroups_of_all(&counter->chosen, all, error)
           : each ? pf_event_cgroups_of_each(&counter->chosen, each, error)
                  : pf_event_cgroups_times_all(&counter->chosen, times, error);
}

/* Processors matter where everything is counted; a thread takes its counters with it. */
static int choose_target(struct perfile_counter *counter, struct perfile_error *error)
{
    int result = pf_target_open(&counter->target, &counter->what, error);
    if (result == 0 && counter->what.cpus)
        result = pf_target_check_online(&counter->target, error);
    if (result == 0 && counter->target.everybody && counter->by_thread && !counter->what.cpus)
        result = pf_target_split(&counter->target, error);
    if (result < 0 || counter->target.everybody || counter->what.cpus)
        return result;
    counter->target.cpus[0] = -1;
    counter->target.cpu_count = 1;
    return 0;
}

/* ---- what is written at the start -------------------------------------------------------------------------------- */

static int put_record(void *context, uint32_t type, uint16_t misc, const void *record, size_t bytes,
                      struct perfile_error *error)
{
    struct perfile_counter *counter = context;
    return perfile_writer_record(counter->writer, type, misc, record, bytes, NULL, error);
}

/* Those of the event; *count of them. */
static void list_ids(const struct perfile_counter *counter, uint32_t event, uint64_t *ids, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < counter->opened.count; i++)
        if (counter->opened.items[i].event == event && counter->opened.items[i].fd >= 0)
            ids[(*count)++] = counter->opened.items[i].id;
}

/* With its control group, of which perf's recordings have nothing. */
static const char *name_of(struct perfile_counter *counter, const struct pf_listed_event *event)
{
    struct pf_text text;
    if (!event->cgroup || !event->name)
        return event->name;
    if (pf_text_open(&text, counter->allocator, NULL, NULL) < 0)
        return NULL;
    pf_put_format(&text, "%s" PF_EVENT_CGROUP "%s", event->name, counter->chosen.cgroups[event->cgroup - 1].path);
    const char *name = text.failed ? NULL : pf_arena_text(&counter->chosen.arena, text.data, text.used);
    pf_text_close(&text);
    return name;
}

static int write_event(struct perfile_counter *counter, uint32_t index, uint64_t *ids, struct perfile_error *error)
{
    struct perfile_event_spec spec = PERFILE_EVENT_SPEC_INIT;
    const struct pf_listed_event *event = &counter->chosen.items[index];
    struct perfile_attr attr = event->attr;
    attr.size = 0;
    if (counter->chosen.version)
        pf_since_clear_flags(counter->chosen.version, &attr);
    list_ids(counter, index, ids, &spec.id_count);
    spec.attr = &attr;
    spec.attr_bytes = sizeof(attr);
    spec.ids = ids;
    spec.name = name_of(counter, event);
    if (event->name && !spec.name)
        return pf_fail_memory(error, "names");
    return perfile_writer_add_event(counter->writer, &spec, NULL, error);
}

static int write_events(struct perfile_counter *counter, struct perfile_error *error)
{
    const size_t capacity = counter->opened.count * sizeof(uint64_t) + 1;
    uint64_t *ids = pf_new(counter->allocator, capacity);
    int result = ids ? 0 : pf_fail_memory(error, "ids");
    for (uint32_t i = 0; i < counter->chosen.count && result == 0; i++)
        result = write_event(counter, i, ids, error);
    pf_free(counter->allocator, ids, capacity);
    /* in streams names stand beside ids, which events without counters do not have */
    return result == 0 && counter->writer->options.mode == PERFILE_MODE_PIPE
               ? pf_writer_describe_events(counter->writer, error)
               : result;
}

/* Units and the like, of the events that there are. */
static int write_updates(struct perfile_counter *counter, const struct pf_synthesis *synthesis,
                         struct perfile_error *error)
{
    const size_t bytes = counter->chosen.count * sizeof(uint64_t);
    uint64_t *first = pf_new(counter->allocator, bytes);
    if (!first)
        return pf_fail_memory(error, "ids");
    for (size_t i = counter->opened.count; i-- > 0;)
        if (counter->opened.items[i].fd >= 0)
            first[counter->opened.items[i].event] = counter->opened.items[i].id;
    for (size_t i = 0; i < counter->chosen.count; i++)
        if (!first[i]) {
            counter->chosen.items[i].unit = counter->chosen.items[i].cpus = NULL;
            counter->chosen.items[i].scale = 1;
        }
    const int result = pf_synthesize_event_updates(&counter->chosen, first, false, synthesis, error);
    pf_free(counter->allocator, first, bytes);
    return result;
}

static int write_cpus(struct perfile_counter *counter, const struct pf_synthesis *synthesis,
                      struct perfile_error *error)
{
    const struct pf_target *target = &counter->target;
    struct pf_text list;
    if (target->cpus[0] < 0)
        return pf_synthesize_cpu_map(NULL, synthesis, error);
    if (pf_text_open(&list, counter->allocator, NULL, NULL) < 0)
        return pf_fail_memory(error, "CPU_MAP");
    for (size_t i = 0; i < target->cpu_count; i++)
        pf_put_format(&list, "%s%d", i ? "," : "", target->cpus[i]);
    pf_put_char(&list, 0);
    const int result =
        list.failed ? pf_fail_memory(error, "CPU_MAP") : pf_synthesize_cpu_map(list.data, synthesis, error);
    pf_text_close(&list);
    return result;
}

enum { CACHE_LEVELS = 4, LAST_LEVEL };

/* "L2": 2; 0: no level of caches. */
static uint32_t level_of(const char *per)
{
    const bool is_level = per && *per == 'L' && per[1] >= '1' && per[1] <= '0' + CACHE_LEVELS && !per[2];
    return is_level ? (uint32_t)(per[1] - '0') : 0;
}

static int number_of(const char *per)
{
    static const char *const names[] = {"cpu",   "all",  "socket", "die", "cluster",
                                        "cache", "core", "thread", "",    "node"};
    const char *name = level_of(per) ? "cache" : per;
    for (int i = 0; name && i < (int)PF_COUNT(names); i++)
        if (!strcmp(name, names[i]))
            return i;
    return per ? -1 : 1;
}

static int write_config(struct perfile_counter *counter, struct perfile_error *error)
{
    enum { MODE, INTERVAL, SCALE, LEVEL, TAGS };
    const uint32_t level = level_of(counter->options.per);
    const uint64_t words[TAGS][2] = {{MODE, (uint64_t)number_of(counter->options.per)},
                                     {INTERVAL, counter->options.interval_ms},
                                     {SCALE, !counter->options.unscaled},
                                     {LEVEL, level ? level : LAST_LEVEL}};
    const uint64_t tags = level ? TAGS : LEVEL; /* perf before 6.5 does not know it */
    const struct perfile_stat_config record = {.nr = tags, .data = {.data = (const uint8_t *)words, .count = tags}};
    return put_record(counter, PERFILE_RECORD_STAT_CONFIG, 0, &record, sizeof(record), error);
}

/*
 * Writes the features by which perf recognises a file of counts, and the formats of tracepoints. A user that may count
 * tracepoints may not always read their formats.
 */
static int write_nature(struct perfile_counter *counter, struct perfile_error *error)
{
    if (counter->writer->options.mode == PERFILE_MODE_PIPE)
        return 0;
    const int traced = pf_machine_tracing(counter->writer, &counter->chosen, error);
    return traced < 0 && traced != PERFILE_ERROR_OPEN
               ? traced
               : perfile_writer_feature(counter->writer, PERFILE_FEATURE_STAT, NULL, 0, error);
}

static int write_start(struct perfile_counter *counter, struct perfile_error *error)
{
    const struct pf_synthesis synthesis = {
        .put = put_record, .context = counter, .version = counter->chosen.version, .allocator = counter->allocator};
    const struct pf_target *target = &counter->target;
    const size_t threads = target->everybody ? 0 : counter->by_thread ? target->tid_count : 1;
    const bool is_held = counter->what.flags & PERFILE_RECORDER_ENABLE_ON_EXEC; /* it has the caller's name still */
    int result = write_events(counter, error);
    if (result == 0)
        result = pf_machine_features(counter->writer, &counter->chosen, PF_MACHINE_COMMON, error);
    if (result == 0)
        result = write_nature(counter, error);
    if (result == 0)
        result = write_updates(counter, &synthesis, error);
    if (result == 0)
        result = pf_synthesize_thread_map(NULL, target->tids, threads, !is_held, &synthesis, error);
    if (result == 0)
        result = write_cpus(counter, &synthesis, error);
    return result == 0 ? write_config(counter, error) : result;
}

/* ---- the calls --------------------------------------------------------------------------------------------------- */

static int check(struct perfile_counter *counter, struct perfile_error *error)
{
    const char *per = counter->options.per, *version = counter->what.for_perf;
    if (number_of(per) < 0)
        return pf_about(
            error, per, strlen(per),
            pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "per",
                    "unknown unit %.30s: expected all, cpu, socket, die, cache, L1 to L4, core, node or thread", per));
    counter->chosen.version = version ? pf_since_parse(version) : 0;
    if (version && counter->chosen.version < PF_VERSION(4, 4))
        return pf_about(error, version, strlen(version),
                        pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "version",
                                "invalid perf version %.30s: expected 4.4 to 7.x, such as 6.1", version));
    counter->by_thread = per && !strcmp(per, "thread");
    return 0;
}

static int open_counter(struct perfile_counter *counter, struct perfile_error *error)
{
    int result = check(counter, error);
    if (result == 0)
        result = choose_target(counter, error);
    if (result == 0 && counter->by_thread && counter->target.tid_count > THREADS_MAX)
        result =
            pf_fail(error, PERFILE_ERROR_LIMIT, PERFILE_NO_OFFSET, "threads",
                    "a recording holds the counts of %d threads, not of %zu", THREADS_MAX, counter->target.tid_count);
    if (result == 0)
        result = choose(counter, error);
    if (result == 0)
        result = choose_cgroups(counter, error);
    for (size_t i = 0; i < counter->chosen.count && result == 0; i++)
        configure(counter, &counter->chosen.items[i]);
    if (result == 0)
        result = pf_events_open_counters(&counter->opened, &counter->chosen, &counter->target, &counter->what, error);
    return result == 0 ? write_start(counter, error) : result;
}

int perfile_counter_open(const struct perfile_counter_options *options, struct perfile_writer *writer,
                         struct perfile_counter **counter, struct perfile_error *error)
{
    struct perfile_counter_options all = PERFILE_COUNTER_OPTIONS_INIT;
    struct perfile_recorder_options what = PERFILE_RECORDER_OPTIONS_INIT;
    *counter = NULL;
    int result = options ? pf_sized_take(&all, sizeof(all), options, "counter options", error)
                         : pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "counter options", "missing");
    if (result == 0)
        result = all.what ? pf_sized_take(&what, sizeof(what), all.what, "recorder options", error)
                          : pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "recorder options", "missing");
    if (result < 0)
        return result;
    const struct perfile_allocator *allocator = pf_allocator_or_default(what.allocator);
    struct perfile_counter *made = pf_new(allocator, sizeof(*made));
    if (!made)
        return pf_fail_memory(error, "counter");
    *made = (struct perfile_counter){.allocator = allocator, .options = all, .what = what, .writer = writer};
    pf_event_list_open(&made->chosen, allocator);
    result = open_counter(made, error);
    if (result < 0)
        perfile_counter_close(made);
    else
        *counter = made;
    return result;
}

void perfile_counter_close(struct perfile_counter *counter)
{
    if (!counter)
        return;
    pf_events_close(&counter->opened);
    if (counter->target.allocator)
        pf_target_close(&counter->target);
    pf_event_list_close(&counter->chosen);
    pf_free(counter->allocator, counter, sizeof(*counter));
}

static int switch_all(const struct perfile_counter *counter, unsigned long request, struct perfile_error *error)
{
    for (size_t i = 0; i < counter->opened.count; i++)
        if (counter->opened.items[i].fd >= 0 && ioctl(counter->opened.items[i].fd, request, 0) < 0)
            return pf_fail(error, PERFILE_ERROR_READ, PERFILE_NO_OFFSET,
                           counter->chosen.items[counter->opened.items[i].event].name, "%s", pf_error_text(errno));
    return 0;
}

int perfile_counter_enable(struct perfile_counter *counter, struct perfile_error *error)
{
    return switch_all(counter, PERF_EVENT_IOC_ENABLE, error);
}

int perfile_counter_disable(struct perfile_counter *counter, struct perfile_error *error)
{
    return switch_all(counter, PERF_EVENT_IOC_DISABLE, error);
}

/* Threads of one processor are added up unless they are kept apart. False: there is no counter. */
static bool read_counts(const struct perfile_counter *counter, const struct pf_opened *first, size_t count,
                        struct perfile_stat *stat)
{
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        uint64_t words[3];
        if (first[i].fd < 0 || read(first[i].fd, words, sizeof(words)) != sizeof(words))
            continue; /* a pinned event that was not scheduled has nothing to read */
        stat->id = found ? stat->id : first[i].id;
        stat->val += words[0];
        stat->ena += words[1];
        stat->run += words[2];
        found = true;
    }
    stat->cpu = (uint32_t)counter->target.cpus[first->cpu];
    stat->thread = counter->by_thread ? first->tid : 0;
    return found;
}

int perfile_counter_write(struct perfile_counter *counter, uint64_t since_start, bool last, struct perfile_error *error)
{
    const struct perfile_stat_round round = {.round_type = last, .time = since_start};
    const size_t together = counter->by_thread ? 1 : counter->target.tid_count;
    int result = 0;
    for (size_t i = 0; i < counter->opened.count && result == 0; i += together) {
        struct perfile_stat stat = {0};
        const struct pf_opened *opened = &counter->opened.items[i];
        const bool is_found = read_counts(counter, opened, together, &stat);
        if (is_found && is_duration(&counter->chosen.items[opened->event]))
            stat = (struct perfile_stat){.id = stat.id,
                                         .cpu = stat.cpu,
                                         .thread = stat.thread,
                                         .val = opened->cpu || opened->tid ? 0 : since_start,
                                         .ena = since_start,
                                         .run = since_start};
        if (is_found)
            result = put_record(counter, PERFILE_RECORD_STAT, 0, &stat, sizeof(stat), error);
    }
    return result == 0 ? put_record(counter, PERFILE_RECORD_STAT_ROUND, 0, &round, sizeof(round), error) : result;
}
