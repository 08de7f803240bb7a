/* SPDX-License-Identifier: MIT */
/* Records and features about the events as they were opened. */
#include <ctype.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "record/machine.h"
#include "record/machine_files.h"
#include "schema/since.h"

static int put(const struct pf_synthesis *synthesis, uint32_t type, const void *record, size_t bytes,
               struct perfile_error *error)
{
    return synthesis->put(synthesis->context, type, 0, record, bytes, error);
}

/* ---- ids ---- */

int pf_synthesize_id_index(const struct pf_opened_id *ids, size_t count, const struct pf_synthesis *synthesis,
                           struct perfile_error *error)
{
    enum { ENTRIES = 1024 }; /* 32 bytes each: a record holds 2,047 */
    uint64_t words[ENTRIES][4];
    int result = 0;
    for (size_t at = 0, n; at < count && result == 0; at += n) {
        n = pf_min(count - at, (size_t)ENTRIES);
        for (size_t i = 0; i < n; i++) {
            const struct pf_opened_id *id = &ids[at + i];
            words[i][0] = id->id;
            words[i][1] = id->buffer;
            words[i][2] = (uint64_t)(int64_t)id->cpu;
            words[i][3] = (uint64_t)(int64_t)id->tid;
        }
        const struct perfile_id_index record = {.nr = n, .entries = {.data = (const uint8_t *)words, .count = n}};
        result = put(synthesis, PERFILE_RECORD_ID_INDEX, &record, sizeof(record), error);
    }
    return result;
}

/* ---- CPUs ---- */

enum { MASK_CPUS = 65536 - 2048 }; /* that fit into the mask of one record */

struct cpu_words {
    const struct perfile_allocator *allocator;
    struct perfile_cpu_set set;
    uint32_t *words;
    size_t capacity; /* bytes */
};

/* Readers before perf 6.1 get each CPU by itself: masks have another layout there. */
static int list_cpus(const char *cpus, struct cpu_words *made, struct perfile_error *error)
{
    unsigned first, last;
    size_t capacity = (made->set.end_cpu / 2 + 1) * sizeof(*made->words);
    uint16_t *list = pf_new(made->allocator, capacity);
    if (!list)
        return pf_fail_memory(error, "list of CPUs");
    made->words = (uint32_t *)(void *)list;
    made->capacity = capacity;
    made->set = (struct perfile_cpu_set){.map_type = 0, .data = (const uint8_t *)list};
    for (const char *at = cpus; pf_next_range(&at, &first, &last);)
        for (unsigned cpu = first; cpu <= last && made->set.count < capacity / 2; cpu++)
            list[made->set.count++] = (uint16_t)cpu;
    return 0;
}

/* Ranges as such, all else as a mask. */
static int make_set(const char *cpus, const struct pf_synthesis *synthesis, struct cpu_words *made,
                    struct perfile_error *error)
{
    const char *at = cpus;
    unsigned first, last, ranges = 0, highest = 0;
    *made = (struct cpu_words){.allocator = pf_allocator_or_default(synthesis->allocator)};
    for (; pf_next_range(&at, &first, &last); ranges++) {
        if (ranges == 0)
            made->set.start_cpu = (uint16_t)first;
        highest = last > highest ? last : highest;
    }
    if (!ranges || !(*at == 0 || *at == '\n') || highest >= MASK_CPUS)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "list of CPUs", "invalid list '%s'", cpus);
    made->set.end_cpu = (uint16_t)highest;
    if (synthesis->version && synthesis->version < PF_VERSION(6, 1))
        return list_cpus(cpus, made, error);
    made->set.map_type = 2;
    if (ranges == 1)
        return 0;
    made->set.map_type = 1;
    made->set.long_size = 4;
    made->set.count = highest / 32 + 1;
    made->capacity = made->set.count * sizeof(*made->words);
    made->words = pf_new(made->allocator, made->capacity);
    if (!made->words)
        return pf_fail_memory(error, "list of CPUs");
    for (at = cpus; pf_next_range(&at, &first, &last);)
        for (unsigned cpu = first; cpu <= last; cpu++)
            made->words[cpu / 32] |= 1u << cpu % 32;
    made->set.data = (const uint8_t *)made->words;
    return 0;
}

static void free_set(struct cpu_words *made)
{
    pf_free(made->allocator, made->words, made->capacity);
}

int pf_synthesize_cpu_map(const char *cpus, const struct pf_synthesis *synthesis, struct perfile_error *error)
{
    static const uint16_t any = UINT16_MAX;
    struct cpu_words made = {.set = {.map_type = 0, .data = (const uint8_t *)&any, .count = 1}};
    int result = cpus ? make_set(cpus, synthesis, &made, error) : 0;
    if (result == 0) {
        const struct perfile_cpu_map record = {.map = made.set};
        result = put(synthesis, PERFILE_RECORD_CPU_MAP, &record, sizeof(record), error);
    }
    free_set(&made);
    return result;
}

/* ---- EVENT_UPDATE ---- */

enum { UPDATE_UNIT, UPDATE_SCALE, UPDATE_NAME, UPDATE_CPUS };

static int synthesize_cpus(const char *cpus, uint64_t id, const struct pf_synthesis *synthesis,
                           struct perfile_error *error)
{
    struct cpu_words made;
    int result = make_set(cpus, synthesis, &made, error);
    if (result == 0) {
        const struct perfile_event_update record = {.update_type = UPDATE_CPUS, .id = id, .cpus = made.set};
        result = put(synthesis, PERFILE_RECORD_EVENT_UPDATE, &record, sizeof(record), error);
    }
    free_set(&made);
    return result;
}

static int synthesize_update(const struct pf_listed_event *event, uint64_t id, bool names,
                             const struct pf_synthesis *synthesis, struct perfile_error *error)
{
    struct perfile_event_update record = {.update_type = UPDATE_UNIT, .id = id, .unit = event->unit};
    int result = 0;
    if (event->unit && event->unit[0])
        result = put(synthesis, PERFILE_RECORD_EVENT_UPDATE, &record, sizeof(record), error);
    if (result == 0 && event->scale != 0 && event->scale != 1) {
        record = (struct perfile_event_update){.update_type = UPDATE_SCALE, .id = id, .scale = event->scale};
        result = put(synthesis, PERFILE_RECORD_EVENT_UPDATE, &record, sizeof(record), error);
    }
    if (result == 0 && event->cpus && event->cpus[0])
        result = synthesize_cpus(event->cpus, id, synthesis, error);
    if (result == 0 && names && event->name) {
        record = (struct perfile_event_update){.update_type = UPDATE_NAME, .id = id, .name = event->name};
        result = put(synthesis, PERFILE_RECORD_EVENT_UPDATE, &record, sizeof(record), error);
    }
    return result;
}

int pf_synthesize_event_updates(const struct pf_event_list *events, const uint64_t *first_ids, bool names,
                                const struct pf_synthesis *synthesis, struct perfile_error *error)
{
    int result = 0;
    for (size_t i = 0; i < events->count && result == 0; i++)
        result = synthesize_update(&events->items[i], first_ids[i], names, synthesis, error);
    return result;
}

/* ---- threads ---- */

enum { THREAD_BYTES = 24, COMM_BYTES = 16, THREADS_MAX = 65000 / THREAD_BYTES };

static void put_thread(uint8_t *entry, int folder, int32_t tid, bool named)
{
    char path[64], comm[64] = "";
    uint64_t number = (uint64_t)(int64_t)tid;
    memset(entry, 0, THREAD_BYTES);
    memcpy(entry, &number, sizeof(number));
    if (tid < 0 || !named || !pf_path(path, sizeof(path), "proc/%d/comm", tid) ||
        pf_read_at(folder, path, comm, sizeof(comm)) <= 0)
        return;
    size_t length = strlen(comm);
    length -= comm[length - 1] == '\n';
    memcpy(entry + 8, comm, pf_min(length, (size_t)COMM_BYTES - 1));
}

int pf_synthesize_thread_map(const char *root, const int32_t *tids, size_t count, bool named,
                             const struct pf_synthesis *synthesis, struct perfile_error *error)
{
    static const int32_t all = -1;
    const struct perfile_allocator *allocator = pf_allocator_or_default(synthesis->allocator);
    uint8_t *entries;
    if (!count) {
        tids = &all;
        count = 1;
    }
    if (count > THREADS_MAX)
        return 0; /* a record cannot hold them; readers of recordings do not need it */
    entries = pf_new(allocator, count * THREAD_BYTES);
    if (!entries)
        return pf_fail_memory(error, "THREAD_MAP");
    int folder = pf_root_open(root);
    for (size_t i = 0; i < count; i++)
        put_thread(entries + i * THREAD_BYTES, folder, tids[i], named);
    if (folder >= 0)
        close(folder);
    const struct perfile_thread_map record = {.nr = count, .entries = {.data = entries, .count = count}};
    int result = put(synthesis, PERFILE_RECORD_THREAD_MAP, &record, sizeof(record), error);
    pf_free(allocator, entries, count * THREAD_BYTES);
    return result;
}

/* ---- clocks ---- */

bool pf_time_conv_of(const struct perf_event_mmap_page *page, struct perfile_time_conv *conversion)
{
    struct perf_event_mmap_page copy;
    uint32_t before;
    do { /* the kernel makes `lock` odd while it writes */
        before = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
        copy.time_shift = __atomic_load_n(&page->time_shift, __ATOMIC_ACQUIRE);
        copy.time_mult = __atomic_load_n(&page->time_mult, __ATOMIC_ACQUIRE);
        copy.time_zero = __atomic_load_n(&page->time_zero, __ATOMIC_ACQUIRE);
        copy.time_cycles = __atomic_load_n(&page->time_cycles, __ATOMIC_ACQUIRE);
        copy.time_mask = __atomic_load_n(&page->time_mask, __ATOMIC_ACQUIRE);
        copy.capabilities = __atomic_load_n(&page->capabilities, __ATOMIC_ACQUIRE);
    } while (before & 1 || before != __atomic_load_n(&page->lock, __ATOMIC_RELAXED));
    *conversion = (struct perfile_time_conv){
        .time_shift = copy.time_shift,
        .time_mult = copy.time_mult,
        .time_zero = copy.time_zero,
        .time_cycles = copy.time_cycles,
        .time_mask = copy.time_mask,
        .cap_user_time_zero = copy.cap_user_time_zero,
        .cap_user_time_short = copy.cap_user_time_short,
    };
    return conversion->cap_user_time_zero;
}

int pf_synthesize_time_conv(const struct perf_event_mmap_page *page, const struct pf_synthesis *synthesis,
                            struct perfile_error *error)
{
    struct perfile_time_conv record;
    return pf_time_conv_of(page, &record) ? put(synthesis, PERFILE_RECORD_TIME_CONV, &record, sizeof(record), error)
                                          : 0;
}

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Both clocks at one time: the narrowest of some tries, the wall clock being read before and after the other. */
static void read_together(clockid_t clock, uint64_t *wall, uint64_t *time)
{
    uint64_t narrowest = UINT64_MAX;
    for (unsigned i = 0; i < 16; i++) {
        uint64_t before = now_ns(CLOCK_REALTIME), middle = now_ns(clock), after = now_ns(CLOCK_REALTIME);
        if (after < before || after - before >= narrowest)
            continue;
        narrowest = after - before;
        *wall = before + narrowest / 2;
        *time = middle;
    }
}

int pf_machine_clock(struct perfile_writer *writer, int32_t clockid, struct perfile_error *error)
{
    struct timespec resolution;
    uint8_t body[24];
    uint64_t wall = 0, time = 0;
    if (clock_getres(clockid, &resolution) < 0)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "clock", "the system has no clock %d",
                       clockid);
    uint64_t resolution_ns = (uint64_t)resolution.tv_sec * 1000000000u + (uint64_t)resolution.tv_nsec;
    int result = perfile_writer_feature(writer, PERFILE_FEATURE_CLOCKID, &resolution_ns, sizeof(resolution_ns), error);
    if (result < 0)
        return result;
    read_together(clockid, &wall, &time);
    const uint32_t head[2] = {1, (uint32_t)clockid}; /* version, clock */
    memcpy(body, head, sizeof(head));
    memcpy(body + 8, &wall, sizeof(wall));
    memcpy(body + 16, &time, sizeof(time));
    return perfile_writer_feature(writer, PERFILE_FEATURE_CLOCK_DATA, body, sizeof(body), error);
}

int pf_machine_sample_time(struct perfile_writer *writer, uint64_t first, uint64_t last, struct perfile_error *error)
{
    const uint64_t body[2] = {first, last};
    return perfile_writer_feature(writer, PERFILE_FEATURE_SAMPLE_TIME, body, sizeof(body), error);
}
