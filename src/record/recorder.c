/* SPDX-License-Identifier: MIT */
/* The recorder: events, ring buffers, and a writer that gets what is in them. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/map.h"
#include "format/plan.h"
#include "record/events.h"
#include "record/machine.h"
#include "record/ring.h"
#include "schema/schema.h"

enum {
    EVENTS_AT_ONCE = 64,
    RING_BYTES_LEAST = 512 * 1024, /* what ordinary users may lock for each processor, by default */
    RING_BYTES_MOST = 4 << 20,
    RINGS_BYTES = 256 << 20, /* of all together */
};

/* What a read of a group of so many events can give. */
#define LOSS_WORDS(events) (3 + 3 * (events))

struct perfile_recorder {
    const struct perfile_allocator *allocator;
    struct perfile_recorder_options options;
    struct perfile_writer *writer;
    struct pf_chosen chosen;
    struct pf_target target;
    struct pf_opened_set opened;
    struct pf_ring *rings;
    size_t ring_count, ring_room;
    size_t rings_alive;
    int poll;
    struct pf_map event_of_id;
    uint64_t *lost;      /* of each event */
    bool said_something; /* in this round */
    uint16_t time_at;    /* of samples; the same for all events */
    uint64_t first_time, last_time;
    struct perfile_recorder_counts counts;
};

/* ---- ring buffers ---- */

/* Large enough for bursts, and not too much on machines with many processors. */
static uint64_t usual_ring_bytes(const struct perfile_recorder *recorder)
{
    const struct pf_target *target = &recorder->target;
    const size_t rings = target->cpus[0] < 0 ? target->tid_count : target->cpu_count;
    return pf_max(RING_BYTES_LEAST, pf_min(RING_BYTES_MOST, RINGS_BYTES / rings));
}

/* Powers of two of whole pages, and what the system lets this user lock in memory. */
static int open_ring(struct perfile_recorder *recorder, struct pf_ring *ring, int fd, struct perfile_error *error)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const bool backward = recorder->chosen.items[0].attr.write_backward;
    const uint64_t wanted = recorder->options.mmap_bytes ? recorder->options.mmap_bytes : usual_ring_bytes(recorder);
    size_t bytes = page;
    while (bytes < wanted && bytes < (size_t)1 << 30)
        bytes *= 2;
    const size_t first = bytes;
    for (; pf_ring_open(ring, fd, bytes, backward) < 0; bytes /= 2)
        if ((errno != EPERM && errno != ENOMEM && errno != EINVAL) || bytes == page)
            return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, "ring buffer",
                           "%s: the limit is /proc/sys/kernel/perf_event_mlock_kb, or ulimit -l", strerror(errno));
    if (bytes < first && !recorder->ring_count && (recorder->options.mmap_bytes || bytes < RING_BYTES_LEAST))
        pf_events_note(&recorder->options,
                       "the buffers have %zu KiB, not %zu: /proc/sys/kernel/perf_event_mlock_kb allows no more",
                       bytes / 1024, first / 1024);
    return 0;
}

/* All events of a processor (of a thread, when it has none) share the buffer of the first. */
static int open_rings(struct perfile_recorder *recorder, struct perfile_error *error)
{
    const struct pf_target *target = &recorder->target;
    const bool per_thread = target->cpus[0] < 0;
    const size_t places = per_thread ? target->tid_count : target->cpu_count;
    if (!pf_grow(recorder->allocator, &recorder->rings, &recorder->ring_room, places, sizeof(*recorder->rings)))
        return pf_fail_memory(error, "ring buffers");
    for (size_t place = 0; place < places; place++) {
        struct pf_ring *ring = NULL;
        for (size_t i = 0; i < recorder->opened.count; i++) {
            const struct pf_opened *one = &recorder->opened.items[i];
            if (one->fd < 0 || (per_thread ? one->tid : one->cpu) != place)
                continue;
            int result = 0;
            if (ring) {
                if (ioctl(one->fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) < 0)
                    result =
                        pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, "ring buffer", "%s", strerror(errno));
            } else {
                ring = &recorder->rings[recorder->ring_count];
                *ring = (struct pf_ring){.fd = -1};
                result = open_ring(recorder, ring, one->fd, error);
                recorder->ring_count += result == 0;
            }
            if (result < 0)
                return result;
        }
    }
    return 0;
}

static int open_poll(struct perfile_recorder *recorder, struct perfile_error *error)
{
    recorder->poll = epoll_create1(EPOLL_CLOEXEC);
    if (recorder->poll < 0)
        return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, "epoll", "%s", strerror(errno));
    for (size_t i = 0; i < recorder->opened.count; i++) {
        const int fd = recorder->opened.items[i].fd;
        struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint64_t)i};
        if (fd < 0)
            continue;
        if (epoll_ctl(recorder->poll, EPOLL_CTL_ADD, fd, &event) < 0)
            return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, "epoll", "%s", strerror(errno));
        recorder->rings_alive++;
    }
    return 0;
}

/* ---- what the writer is told at the start ---- */

static int tell_event(struct perfile_recorder *recorder, uint32_t index, struct perfile_error *error)
{
    const struct pf_chosen_event *event = &recorder->chosen.items[index];
    struct perfile_event_spec spec = PERFILE_EVENT_SPEC_INIT;
    uint64_t *ids = pf_new(recorder->allocator, recorder->opened.count * sizeof(*ids) + 1);
    if (!ids)
        return pf_fail_memory(error, "ids");
    for (size_t i = 0; i < recorder->opened.count; i++) {
        const struct pf_opened *one = &recorder->opened.items[i];
        if (one->event != index || one->fd < 0)
            continue;
        ids[spec.id_count++] = one->id;
        if (!pf_map_put(&recorder->event_of_id, one->id, index)) {
            pf_free(recorder->allocator, ids, recorder->opened.count * sizeof(*ids) + 1);
            return pf_fail_memory(error, "ids");
        }
    }
    spec.attr = event->attr;
    spec.attr.size = 0;
    spec.ids = ids;
    spec.name = event->name;
    int result = perfile_writer_add_event(recorder->writer, &spec, NULL, error);
    pf_free(recorder->allocator, ids, recorder->opened.count * sizeof(*ids) + 1);
    return result;
}

static int put_told(void *context, uint32_t type, uint16_t misc, const void *record, size_t bytes,
                    struct perfile_error *error)
{
    struct perfile_recorder *recorder = context;
    recorder->counts.records++;
    return perfile_writer_record(recorder->writer, type, misc, record, bytes, NULL, error);
}

static int tell_machine(struct perfile_recorder *recorder, struct perfile_error *error)
{
    const struct perfile_recorder_options *options = &recorder->options;
    const struct pf_told told = {.put = put_told, .context = recorder};
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    const struct perfile_attr *tracking = &recorder->chosen.items[recorder->chosen.tracking].attr;
    const struct pf_machine_options machine = {.tids = recorder->target.everybody ? NULL : recorder->target.tids,
                                               .tid_count = recorder->target.tid_count,
                                               .build_ids = tracking->build_id,
                                               .data_maps = tracking->mmap_data,
                                               .namespaces = tracking->namespaces,
                                               .cgroups = tracking->cgroup,
                                               .threads = options->threads ? options->threads
                                                          : online > 8     ? 8
                                                                           : (unsigned)online,
                                               .allocator = options->allocator,
                                               .note = options->note,
                                               .note_context = options->note_context};
    int result = pf_machine_tell(&machine, &told, error);
    return result < 0 ? result
                      : perfile_writer_record(recorder->writer, PERFILE_RECORD_FINISHED_INIT, 0, NULL, 0, NULL, error);
}

/* Which buffer, processor and thread each id belongs to, and the first id of each event. */
static int tell_ids(struct perfile_recorder *recorder, struct pf_opened_id *ids, uint64_t *first_ids,
                    struct perfile_error *error)
{
    const struct pf_told told = {.put = put_told, .context = recorder};
    const struct pf_target *target = &recorder->target;
    size_t count = 0;
    for (size_t i = recorder->opened.count; i-- > 0;) {
        const struct pf_opened *one = &recorder->opened.items[i];
        if (one->fd >= 0)
            first_ids[one->event] = one->id;
    }
    for (size_t i = 0; i < recorder->opened.count; i++) {
        const struct pf_opened *one = &recorder->opened.items[i];
        const int32_t cpu = target->cpus[one->cpu];
        if (one->fd >= 0)
            ids[count++] = (struct pf_opened_id){
                .id = one->id, .buffer = cpu < 0 ? one->tid : one->cpu, .cpu = cpu, .tid = target->tids[one->tid]};
    }
    int result = pf_tell_id_index(ids, count, &told, error);
    return result < 0 ? result : pf_tell_event_updates(&recorder->chosen, first_ids, false, &told, error);
}

/* What perf says about the events, in the same order. */
static int tell_setting(struct perfile_recorder *recorder, struct perfile_error *error)
{
    const struct pf_told told = {.put = put_told, .context = recorder};
    const struct pf_target *target = &recorder->target;
    const size_t id_bytes = recorder->opened.count * sizeof(struct pf_opened_id);
    const size_t first_bytes = recorder->chosen.count * sizeof(uint64_t);
    struct pf_opened_id *ids = pf_new(recorder->allocator, id_bytes);
    uint64_t *first_ids = pf_new(recorder->allocator, first_bytes);
    int result = ids && first_ids ? 0 : pf_fail_memory(error, "ids");
    if (result == 0)
        result = pf_tell_time_conv(recorder->rings[0].pages, &told, error);
    if (result == 0)
        result = tell_ids(recorder, ids, first_ids, error);
    if (result == 0)
        result = pf_tell_thread_map(NULL, target->tids, target->everybody ? 0 : target->tid_count, &told, error);
    if (result == 0)
        result = pf_tell_cpu_map(recorder->options.cpus, &told, error);
    pf_free(recorder->allocator, ids, id_bytes);
    pf_free(recorder->allocator, first_ids, first_bytes);
    return result;
}

static int tell(struct perfile_recorder *recorder, struct perfile_error *error)
{
    int result = 0;
    for (uint32_t i = 0; i < recorder->chosen.count && result == 0; i++)
        result = tell_event(recorder, i, error);
    if (result == 0)
        result = pf_machine_features(recorder->writer, &recorder->chosen, error);
    if (result == 0)
        result = pf_machine_tracing(recorder->writer, &recorder->chosen, error);
    if (result == 0 && recorder->chosen.items[0].attr.use_clockid)
        result = pf_machine_clock(recorder->writer, recorder->chosen.items[0].attr.clockid, error);
    if (result == 0)
        result = tell_setting(recorder, error);
    if (result == 0 && !(recorder->options.flags & (PERFILE_RECORDER_NO_SYNTHESIZE | PERFILE_RECORDER_TAIL_SYNTHESIZE)))
        result = tell_machine(recorder, error);
    return result < 0 ? result : perfile_writer_flush(recorder->writer, error);
}

/* ---- opening ---- */

/* A name that nobody knows is a mistake of the caller. */
static int choose(struct perfile_recorder *recorder, struct perfile_error *error)
{
    const char *events = recorder->options.events ? recorder->options.events : "cycles:P";
    int result = pf_choose_events(&recorder->chosen, events, error);
    if (result == PERFILE_ERROR_ABSENT && error)
        error->code = PERFILE_ERROR_ARGUMENT;
    return result == PERFILE_ERROR_ABSENT ? PERFILE_ERROR_ARGUMENT : result;
}

/* Where all samples have their time; 0: not at one place. */
static uint16_t find_time(const struct pf_chosen *chosen)
{
    uint16_t at = 0;
    for (size_t i = 0; i < chosen->count; i++) {
        struct pf_plan plan;
        pf_plan_make(&plan, &chosen->items[i].attr, false, PF_NATIVE_BIG_ENDIAN);
        if (i && plan.time_at != at)
            return 0;
        at = plan.time_at;
    }
    return at;
}

static int open_recorder(struct perfile_recorder *recorder, struct perfile_error *error)
{
    const struct perfile_recorder_options *options = &recorder->options;
    int result = pf_target_open(&recorder->target, options, error);
    if (result == 0)
        result = choose(recorder, error);
    if (result == 0)
        result = pf_events_configure(&recorder->chosen, &recorder->target, options, error);
    if (result == 0)
        result = pf_events_open(&recorder->opened, &recorder->chosen, &recorder->target, options, error);
    if (result == 0)
        result = open_rings(recorder, error);
    if (result == 0)
        result = open_poll(recorder, error);
    if (result == 0)
        result = tell(recorder, error);
    recorder->time_at = find_time(&recorder->chosen);
    recorder->first_time = UINT64_MAX;
    return result;
}

int perfile_recorder_open(const struct perfile_recorder_options *options, struct perfile_writer *writer,
                          struct perfile_recorder **recorder, struct perfile_error *error)
{
    struct perfile_recorder_options all = PERFILE_RECORDER_OPTIONS_INIT;
    *recorder = NULL;
    if (!options || options->size < sizeof(size_t))
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "recorder options", "size is not set");
    memcpy(&all, options, pf_min(options->size, sizeof(all)));
    const struct perfile_allocator *allocator = pf_allocator_or_default(all.allocator);
    struct perfile_recorder *made = pf_new(allocator, sizeof(*made));
    if (!made)
        return pf_fail_memory(error, "recorder");
    made->allocator = allocator;
    made->options = all;
    made->writer = writer;
    made->poll = -1;
    pf_chosen_open(&made->chosen, allocator);
    pf_map_open(&made->event_of_id, allocator);
    int result = open_recorder(made, error);
    if (result == 0 && !(made->lost = pf_new(allocator, made->chosen.count * sizeof(*made->lost))))
        result = pf_fail_memory(error, "recorder");
    if (result < 0) {
        perfile_recorder_close(made);
        return result;
    }
    *recorder = made;
    return 0;
}

void perfile_recorder_close(struct perfile_recorder *recorder)
{
    if (!recorder)
        return;
    const struct perfile_allocator *allocator = recorder->allocator;
    for (size_t i = 0; i < recorder->ring_count; i++)
        pf_ring_close(&recorder->rings[i]);
    pf_free(allocator, recorder->rings, recorder->ring_room * sizeof(*recorder->rings));
    if (recorder->poll >= 0)
        close(recorder->poll);
    pf_events_close(&recorder->opened);
    pf_free(allocator, recorder->lost, recorder->chosen.count * sizeof(*recorder->lost));
    pf_target_close(&recorder->target);
    pf_chosen_close(&recorder->chosen);
    pf_map_close(&recorder->event_of_id);
    pf_free(allocator, recorder, sizeof(*recorder));
}

/* ---- on and off ---- */

/* The event that was opened to tell of maps goes on all the time. */
static bool only_tracks(const struct perfile_recorder *recorder, uint32_t event)
{
    return recorder->options.flags & PERFILE_RECORDER_TRACK && event == recorder->chosen.tracking;
}

static int switch_all(const struct perfile_recorder *recorder, unsigned long request, struct perfile_error *error)
{
    for (size_t i = 0; i < recorder->opened.count; i++) {
        const struct pf_opened *one = &recorder->opened.items[i];
        /* members of a group follow their leader */
        if (one->fd < 0 || recorder->chosen.items[one->event].leader != one->event || only_tracks(recorder, one->event))
            continue;
        if (ioctl(one->fd, request, 0) < 0)
            return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, "event", "%s", strerror(errno));
    }
    return 0;
}

int perfile_recorder_enable(struct perfile_recorder *recorder, struct perfile_error *error)
{
    return switch_all(recorder, PERF_EVENT_IOC_ENABLE, error);
}

int perfile_recorder_disable(struct perfile_recorder *recorder, struct perfile_error *error)
{
    return switch_all(recorder, PERF_EVENT_IOC_DISABLE, error);
}

/* ---- draining ---- */

static void note_lost(struct perfile_recorder *recorder, uint64_t id, uint64_t lost)
{
    uint64_t event;
    recorder->counts.lost += lost;
    if (pf_map_get(&recorder->event_of_id, id, &event))
        recorder->lost[event] += lost;
}

static inline void note_sample(struct perfile_recorder *recorder, const uint8_t *sample)
{
    recorder->counts.samples++;
    if (!recorder->time_at)
        return;
    const uint64_t time = pf_load64(sample + recorder->time_at, false);
    recorder->first_time = pf_min(recorder->first_time, time);
    recorder->last_time = pf_max(recorder->last_time, time);
}

/* What the recorder itself wants to know. */
static void look_through(struct perfile_recorder *recorder, const uint8_t *records, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += pf_load16(records + at + 6, false)) {
        const uint32_t type = pf_load32(records + at, false);
        recorder->counts.records++;
        if (PF_LIKELY(type == PERFILE_RECORD_SAMPLE))
            note_sample(recorder, records + at);
        else if (type == PERFILE_RECORD_LOST)
            note_lost(recorder, pf_load64(records + at + 8, false), pf_load64(records + at + 16, false));
        else
            recorder->counts.throttled += type == PERFILE_RECORD_THROTTLE;
    }
}

static int take_records(void *context, const uint8_t *records, size_t bytes, struct perfile_error *error)
{
    struct perfile_recorder *recorder = context;
    look_through(recorder, records, bytes);
    recorder->said_something = true;
    recorder->counts.bytes += bytes;
    return perfile_writer_records(recorder->writer, records, bytes, error);
}

static int drain_all(struct perfile_recorder *recorder, struct perfile_error *error)
{
    int result = 0;
    recorder->said_something = false;
    for (size_t i = 0; i < recorder->ring_count && result == 0; i++)
        result = pf_ring_drain(&recorder->rings[i], take_records, recorder, error);
    if (result == 0 && recorder->said_something)
        result = perfile_writer_record(recorder->writer, PERFILE_RECORD_FINISHED_ROUND, 0, NULL, 0, NULL, error);
    return result < 0 ? result : perfile_writer_flush(recorder->writer, error);
}

/* Events whose threads have ended are not looked at any more. */
static void forget_ended(struct perfile_recorder *recorder, const struct epoll_event *events, int count)
{
    for (int i = 0; i < count; i++)
        if (events[i].events & (EPOLLHUP | EPOLLERR) &&
            epoll_ctl(recorder->poll, EPOLL_CTL_DEL, recorder->opened.items[events[i].data.u64].fd, NULL) == 0)
            recorder->rings_alive--;
}

int perfile_recorder_drain(struct perfile_recorder *recorder, int timeout_ms, struct perfile_error *error)
{
    struct epoll_event events[EVENTS_AT_ONCE];
    int count = epoll_wait(recorder->poll, events, EVENTS_AT_ONCE, timeout_ms);
    if (count < 0 && errno != EINTR)
        return pf_fail(error, PERFILE_ERROR_READ, PERFILE_NO_OFFSET, "epoll", "%s", strerror(errno));
    recorder->counts.wakeups += count > 0;
    if (recorder->chosen.items[0].attr.write_backward)
        count = count < 0 ? 0 : count;
    else {
        int result = drain_all(recorder, error);
        if (result < 0)
            return result;
    }
    forget_ended(recorder, events, count);
    return recorder->rings_alive > 0;
}

int perfile_recorder_fd(const struct perfile_recorder *recorder)
{
    return recorder->poll;
}

/* ---- the end ---- */

/*
 * Losses as the kernel counts them for each event: also those behind which no record came any more. A group is read
 * through its leader: number, times, then value, id and loss of each; alone: value, times, id, loss.
 */
static int tell_losses_of(struct perfile_recorder *recorder, const struct pf_opened *one, uint64_t *values,
                          struct perfile_error *error)
{
    const struct pf_chosen_event *event = &recorder->chosen.items[one->event];
    const uint64_t format = event->attr.read_format;
    const bool group = format & PF_READ_GROUP;
    const size_t times = (format & PF_READ_ENABLED ? 1u : 0) + (format & PF_READ_RUNNING ? 1u : 0);
    if (!(format & PF_READ_LOST) || (group && event->leader != one->event))
        return 0;
    const ssize_t got = read(one->fd, values, LOSS_WORDS(recorder->chosen.count) * sizeof(*values));
    const size_t words = got < 0 ? 0 : (size_t)got / sizeof(*values);
    int result = 0;
    for (size_t at = 1 + times + group; at + 1 < words && result == 0; at += 3) {
        const struct perfile_lost_samples lost = {.lost = values[at + 1]};
        const struct perfile_sample_id id = {.id = values[at], .identifier = values[at]};
        if (lost.lost)
            result = perfile_writer_record(recorder->writer, PERFILE_RECORD_LOST_SAMPLES, 0, &lost, sizeof(lost), &id,
                                           error);
    }
    return result;
}

static int tell_losses(struct perfile_recorder *recorder, struct perfile_error *error)
{
    const size_t bytes = LOSS_WORDS(recorder->chosen.count) * sizeof(uint64_t);
    uint64_t *values = pf_new(recorder->allocator, bytes);
    int result = values ? 0 : pf_fail_memory(error, "losses");
    for (size_t i = 0; i < recorder->opened.count && result == 0; i++)
        if (recorder->opened.items[i].fd >= 0)
            result = tell_losses_of(recorder, &recorder->opened.items[i], values, error);
    pf_free(recorder->allocator, values, bytes);
    return result;
}

int perfile_recorder_stop(struct perfile_recorder *recorder, struct perfile_error *error)
{
    int result = perfile_recorder_disable(recorder, error);
    if (result == 0)
        result = drain_all(recorder, error);
    if (result == 0)
        result = tell_losses(recorder, error);
    if (result == 0 && recorder->options.flags & PERFILE_RECORDER_TAIL_SYNTHESIZE)
        result = tell_machine(recorder, error);
    if (result == 0 && recorder->last_time)
        result = pf_machine_sample_time(recorder->writer, recorder->first_time, recorder->last_time, error);
    return result < 0 ? result : perfile_writer_flush(recorder->writer, error);
}

const struct perfile_recorder_counts *perfile_recorder_counts_get(const struct perfile_recorder *recorder)
{
    return &recorder->counts;
}

const char *perfile_recorder_event_lost(const struct perfile_recorder *recorder, size_t index, uint64_t *lost)
{
    if (index >= recorder->chosen.count)
        return NULL;
    *lost = recorder->lost[index];
    return recorder->chosen.items[index].name;
}
