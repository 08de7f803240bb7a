/* SPDX-License-Identifier: MIT */
/* The recorder: events, ring buffers, and a writer that gets what is in them. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/locale.h"
#include "base/map.h"
#include "base/sized.h"
#include "format/writer.h"
#include "record/aux_kind.h"
#include "record/aux_set.h"
#include "record/writer_thread.h"
#include "record/event_cgroups.h"
#include "record/events.h"
#include "record/machine.h"
#include "record/kept_files.h"
#include "record/made_code.h"
#include "record/mapped_ids.h"
#include "record/pids.h"
#include "record/ring.h"
#include "record/stack_trim.h"
#include "schema/since.h"

enum {
    EVENTS_AT_ONCE = 64,
    RING_BYTES_MIN = 512 * 1024, /* what ordinary users may lock for each processor, by default */
    RING_BYTES_MAX = 4 << 20,
    RING_BYTES_UNWINDING = 8 << 20, /* the same, with dumped stacks: the kernel clears each page at the start */
    RINGS_BYTES = 256 << 20,        /* of all together, */
    MEMORY_PART = 64,               /* and this part of the memory of the machine, with dumped stacks */
    STACK_BYTES_MIN = 4096,         /* that are dumped for unwinding, */
    STACK_BYTES_SMALL = 4096,       /* or these, where no stack is larger */
    STACK_BYTES_USUAL = 8192,       /* or these, */
    STACKS_OF_RING = 64,            /* where a buffer holds so many */
};

/* When dumps are made smaller: after so many stacks, and so much time, in which smaller ones would have been enough. */
enum { NS_OF_SECOND = 1000000000, SHALLOW_STACKS = 200, SHALLOW_SECONDS = 30, SHALLOW_FACTOR = 4 };

/* What a read of a group of so many events can give. */
#define LOSS_WORDS(events) (3 + 3 * (events))

/* How large the dumps are, and what is known of the stacks. */
struct stack_sizes {
    bool varies;           /* there are events with smaller dumps */
    bool small;            /* they are what samples now */
    uint64_t unwound;      /* when it was looked at last, */
    uint64_t larger;       /* and of these */
    uint64_t shallow;      /* stacks since the last larger one, */
    uint64_t shallow_from; /* which was then, */
    uint64_t patience_ns;  /* and so much time is to pass */
};

struct perfile_recorder {
    const struct perfile_allocator *allocator;
    struct perfile_recorder_options options;
    struct perfile_writer *output;              /* the caller's */
    struct perfile_writer *writer;              /* the same, or the input of the stage that ends there */
    const struct perfile_recorder_stage *stage; /* NULL means none, or it is not needed */
    struct perfile_recorder_stage own_stage;    /* the same: what the caller's build knows of it */
    struct pf_stack_trim trim;                  /* of what it reads */
    struct stack_sizes stack_sizes;
    uint8_t changed[1 << 16];               /* a record that is written in place of another */
    struct pf_writer_thread *writer_thread; /* NULL: records go straight to the writer */
    struct perfile_writer *other;           /* gets the synthesized records, too; NULL means none */
    struct pf_event_list chosen;
    struct pf_target target;
    struct pf_opened_set opened;
    struct pf_ring *rings;
    size_t ring_count, ring_capacity;
    size_t rings_alive;
    struct pf_aux_set aux;
    int poll;
    struct pf_map opened_of_id; /* index */
    uint64_t *lost;             /* of each event */
    bool reported_something;    /* in this round */
    bool synthesized_before;    /* what runs */
    bool stopping;              /* the last snapshot */
    struct pf_pids pids;        /* of processes that were started meanwhile; unless everybody is recorded */
    struct pf_made_code made_code;
    struct pf_kept_files kept_files;
    struct pf_mapped_ids mapped_ids;
    bool has_maps;    /* the records at hand */
    uint16_t time_at; /* of samples; the same for all events */
    uint16_t tid_at;
    uint64_t first_time, last_time;
    struct perfile_recorder_counts counts;
};

/* The event that was opened to record maps goes on all the time. */
static bool only_tracks(const struct perfile_recorder *recorder, uint32_t event)
{
    return recorder->chosen.tracking && event == recorder->chosen.tracking;
}

/* ---- ring buffers ---- */

static size_t ring_positions(const struct perfile_recorder *recorder)
{
    const struct pf_target *target = &recorder->target;
    return target->cpus[0] < 0 ? target->tid_count : target->cpu_count;
}

/* A power of two that is not above `bytes`. */
static uint64_t floor_of(uint64_t bytes)
{
    return bytes ? 1ull << (63 - __builtin_clzll(bytes)) : 0;
}

/* Large enough for bursts, and not too much on machines with many processors or little memory. */
static uint64_t usual_ring_bytes(const struct perfile_recorder *recorder)
{
    const bool unwinds = recorder->chosen.unwinds;
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const uint64_t memory = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / MEMORY_PART : 0,
                   most = unwinds && memory ? pf_min(RINGS_BYTES, memory) : RINGS_BYTES,
                   max = unwinds ? RING_BYTES_UNWINDING : RING_BYTES_MAX;
    if (recorder->chosen.has_aux && geteuid() != 0) /* AUX data needs the other half of what may be locked */
        return RING_BYTES_MIN / 2;
    return pf_max(RING_BYTES_MIN,
                  pf_min(max, unwinds ? floor_of(most / ring_positions(recorder)) : most / ring_positions(recorder)));
}

/* The event that records maps must not be overwritten by samples: then it has buffers of its own. */
static bool is_apart(const struct perfile_recorder *recorder, uint32_t event)
{
    return recorder->chosen.overwrite && event == recorder->chosen.tracking;
}

static bool is_at(const struct perfile_recorder *recorder, const struct pf_opened *one, size_t position, bool apart)
{
    const bool per_thread = recorder->target.cpus[0] < 0;
    return one->fd >= 0 && (per_thread ? one->tid : one->cpu) == position && is_apart(recorder, one->event) == apart;
}

static bool writes_aux(const struct perfile_recorder *recorder, const struct pf_opened *one)
{
    return recorder->chosen.items[one->event].aux != NULL;
}

/* The event with the buffer that all events of a position share: only one that writes AUX data has buffers for that. */
static const struct pf_opened *find_owner(const struct perfile_recorder *recorder, size_t position, bool apart)
{
    const struct pf_opened *owner = NULL;
    for (size_t i = 0; i < recorder->opened.count; i++) {
        const struct pf_opened *one = &recorder->opened.items[i];
        if (is_at(recorder, one, position, apart) &&
            (!owner || (writes_aux(recorder, one) && !writes_aux(recorder, owner))))
            owner = one;
    }
    return owner;
}

/* All events of a processor (of a thread, when it has none) share one buffer. 0, or errno. */
static int open_rings_at(struct perfile_recorder *recorder, size_t position, bool apart, size_t bytes)
{
    const struct pf_opened *owner = find_owner(recorder, position, apart);
    struct pf_ring *ring = &recorder->rings[recorder->ring_count];
    if (!owner)
        return 0;
    if (pf_ring_open(ring, owner->fd, bytes, recorder->chosen.overwrite) < 0)
        return errno;
    ring->allocator = recorder->allocator;
    recorder->ring_count++;
    for (size_t i = 0; i < recorder->opened.count; i++) {
        const struct pf_opened *one = &recorder->opened.items[i];
        if (one != owner && is_at(recorder, one, position, apart) &&
            ioctl(one->fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) < 0)
            return errno;
    }
    return writes_aux(recorder, owner)
               ? pf_aux_set_add(&recorder->aux, ring, owner, &recorder->target, recorder->options.aux_bytes)
               : 0;
}

static void close_rings(struct perfile_recorder *recorder)
{
    pf_aux_set_close(&recorder->aux); /* before the rings that they belong to */
    while (recorder->ring_count)
        pf_ring_close(&recorder->rings[--recorder->ring_count]);
}

static int try_rings(struct perfile_recorder *recorder, size_t bytes, size_t bytes_apart)
{
    const size_t positions = ring_positions(recorder);
    int why = 0;
    for (size_t position = 0; position < positions && !why && recorder->chosen.overwrite; position++)
        why = open_rings_at(recorder, position, true, bytes_apart);
    for (size_t position = 0; position < positions && !why; position++)
        why = open_rings_at(recorder, position, false, bytes);
    return why;
}

/* Maps the rings: powers of two of full pages, as far as the system lets this user lock memory. */
static int open_rings(struct perfile_recorder *recorder, struct perfile_error *error)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), asked = (size_t)recorder->options.mmap_bytes;
    const size_t wanted = asked ? asked : (size_t)usual_ring_bytes(recorder);
    size_t bytes = page;
    int why;
    if (!pf_grow(recorder->allocator, &recorder->rings, &recorder->ring_capacity, 2 * ring_positions(recorder),
                 sizeof(*recorder->rings)))
        return pf_fail_memory(error, "ring buffers");
    while (bytes < wanted && bytes < (size_t)1 << 30)
        bytes *= 2;
    const size_t first = bytes;
    while ((why = try_rings(recorder, bytes, bytes == first ? pf_max(bytes, RING_BYTES_MIN) : bytes))) {
        close_rings(recorder);
        if ((why != EPERM && why != ENOMEM && why != EINVAL) || bytes == page)
            return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, "ring buffer",
                           "%s: the limit is /proc/sys/kernel/perf_event_mlock_kb, or ulimit -l", pf_error_text(why));
        bytes /= 2;
    }
    if (bytes < first && (asked || bytes < RING_BYTES_MIN / (recorder->chosen.has_aux ? 2 : 1)))
        pf_events_note(&recorder->options,
                       "the buffers have %zu KiB, not %zu: /proc/sys/kernel/perf_event_mlock_kb allows no more",
                       bytes / 1024, first / 1024);
    return 0;
}

/*
 * How much of a stack is dumped for unwinding, so that a buffer holds the samples of an eighth of a second; at least
 * the usual size, as long as it holds some of them.
 */
static uint32_t fitting_stack(const struct perfile_recorder *recorder, const struct perfile_attr *attr)
{
    const uint64_t ring = recorder->rings[0].bytes, rate = attr->freq ? attr->sample_period_or_freq : 0,
                   of_moment = rate ? 8 * ring / rate : 0; /* of events without a rate there may be any number */
    const uint64_t bytes = pf_min(ring / STACKS_OF_RING, pf_max(of_moment, STACK_BYTES_USUAL));
    return (uint32_t)pf_max(STACK_BYTES_MIN, bytes & ~(uint64_t)7);
}

/* Makes the dumps smaller where that is needed: true. */
static bool reduce_stacks(const struct perfile_recorder *recorder)
{
    bool reduced = false;
    for (size_t i = 0; i < recorder->chosen.count && recorder->chosen.unwinds; i++) {
        struct pf_listed_event *event = &recorder->chosen.items[i];
        const uint32_t fitting = fitting_stack(recorder, &event->attr);
        if (!event->stack_is_usual || event->attr.sample_stack_user <= fitting)
            continue;
        event->attr.sample_stack_user = fitting;
        reduced = true;
    }
    return reduced;
}

/* How large the buffers can be shows only when they are opened. */
static int open_events(struct perfile_recorder *recorder, struct perfile_error *error)
{
    const struct perfile_recorder_options *options = &recorder->options;
    int result = pf_events_open(&recorder->opened, &recorder->chosen, &recorder->target, options, error);
    if (result == 0)
        result = open_rings(recorder, error);
    if (result < 0 || !reduce_stacks(recorder))
        return result;
    close_rings(recorder);
    pf_events_close(&recorder->opened);
    result = pf_events_open(&recorder->opened, &recorder->chosen, &recorder->target, options, error);
    return result < 0 ? result : open_rings(recorder, error);
}

/* Dumps are large at first, so that no stack is cut; smaller ones cost less. */
static void prepare_small_stacks(struct perfile_recorder *recorder)
{
    struct stack_sizes *sizes = &recorder->stack_sizes;
    sizes->patience_ns = (uint64_t)SHALLOW_SECONDS * NS_OF_SECOND;
    sizes->varies = recorder->chosen.unwinds && !recorder->chosen.overwrite && recorder->own_stage.unwound &&
                    pf_events_open_smaller(&recorder->opened, &recorder->chosen, &recorder->target, STACK_BYTES_SMALL);
}

static int open_poll(struct perfile_recorder *recorder, struct perfile_error *error)
{
    recorder->poll = epoll_create1(EPOLL_CLOEXEC);
    if (recorder->poll < 0)
        return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, "epoll", "%s", pf_error_text(errno));
    for (size_t i = 0; i < recorder->opened.count; i++) {
        const int fd = recorder->opened.items[i].fd;
        struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint64_t)i};
        if (fd < 0)
            continue;
        if (epoll_ctl(recorder->poll, EPOLL_CTL_ADD, fd, &event) < 0)
            return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, "epoll", "%s", pf_error_text(errno));
        recorder->rings_alive++;
    }
    return 0;
}

/* ---- what is written at the start ---- */

static int write_event(struct perfile_recorder *recorder, uint32_t index, struct perfile_error *error)
{
    const struct pf_listed_event *event = &recorder->chosen.items[index];
    struct perfile_event_spec spec = PERFILE_EVENT_SPEC_INIT;
    uint64_t *ids = pf_new(recorder->allocator, recorder->opened.count * sizeof(*ids) + 1);
    if (!ids)
        return pf_fail_memory(error, "ids");
    for (size_t i = 0; i < recorder->opened.count; i++) {
        const struct pf_opened *one = &recorder->opened.items[i];
        if (one->event != index || one->fd < 0)
            continue;
        ids[spec.id_count++] = one->id;
        if (!pf_map_put(&recorder->opened_of_id, one->id, i)) {
            pf_free(recorder->allocator, ids, recorder->opened.count * sizeof(*ids) + 1);
            return pf_fail_memory(error, "ids");
        }
    }
    struct perfile_attr attr = event->attr;
    attr.size = 0;
    if (recorder->chosen.version)
        pf_since_clear_flags(recorder->chosen.version, &attr);
    spec.attr = &attr;
    spec.attr_bytes = sizeof(attr);
    spec.ids = ids;
    spec.name = event->name;
    int result = perfile_writer_add_event(recorder->writer, &spec, NULL, error);
    pf_free(recorder->allocator, ids, recorder->opened.count * sizeof(*ids) + 1);
    return result;
}

static bool knows(const struct perfile_recorder *recorder, const char *since)
{
    return !recorder->chosen.version || pf_since_knows(recorder->chosen.version, since);
}

static bool knows_record(const struct perfile_recorder *recorder, uint32_t type)
{
    return knows(recorder, pf_record_info(type)->since);
}

static int put_reported(void *context, uint32_t type, uint16_t misc, const void *record, size_t bytes,
                        struct perfile_error *error)
{
    struct perfile_recorder *recorder = context;
    if (!knows_record(recorder, type))
        return 0;
    recorder->counts.records++;
    if (type == PERFILE_RECORD_MMAP2) {
        const struct perfile_mmap2 *map = record;
        if (map->prot & PERFILE_PROT_EXEC)
            pf_made_code_map(&recorder->made_code, (uint32_t)map->pid, map->addr, map->len, map->filename);
    }
    int result = perfile_writer_record(recorder->writer, type, misc, record, bytes, NULL, error);
    if (result == 0 && recorder->other)
        result = perfile_writer_record(recorder->other, type, misc, record, bytes, NULL, error);
    return result;
}

static struct pf_synthesis synthesis_of(struct perfile_recorder *recorder)
{
    return (struct pf_synthesis){.put = put_reported,
                                 .context = recorder,
                                 .version = recorder->chosen.version,
                                 .allocator = recorder->allocator};
}

/* The threads that were asked for, and the processes that they have started since; the caller frees them. */
static int list_threads(const struct perfile_recorder *recorder, int32_t **tids, size_t *count,
                        struct perfile_error *error)
{
    const struct pf_target *target = &recorder->target;
    *count = target->tid_count + pf_pids_list(&recorder->pids, NULL);
    *tids = pf_new(recorder->allocator, *count * sizeof(**tids));
    if (!*tids)
        return pf_fail_memory(error, "threads");
    memcpy(*tids, target->tids, target->tid_count * sizeof(**tids));
    pf_pids_list(&recorder->pids, *tids + target->tid_count);
    return 0;
}

static bool records_kernel(const struct perfile_recorder *recorder)
{
    for (uint32_t i = 0; i < recorder->chosen.count; i++)
        if (!recorder->chosen.items[i].attr.exclude_kernel && !only_tracks(recorder, i))
            return true;
    return false;
}

static int write_machine(struct perfile_recorder *recorder, struct perfile_error *error)
{
    const struct perfile_recorder_options *options = &recorder->options;
    const struct pf_synthesis synthesis = synthesis_of(recorder);
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    const struct perfile_attr *tracking = &recorder->chosen.items[recorder->chosen.tracking].attr;
    int32_t *tids;
    size_t count;
    if (options->flags & PERFILE_RECORDER_NO_SYNTHESIZE)
        return 0;
    int result = list_threads(recorder, &tids, &count, error);
    if (result < 0)
        return result;
    const struct pf_machine_options machine = {.tids = recorder->target.everybody ? NULL : tids,
                                               .tid_count = count,
                                               .build_ids = recorder->chosen.build_ids,
                                               .data_maps = tracking->mmap_data,
                                               .namespaces = tracking->namespaces,
                                               .cgroups = tracking->cgroup,
                                               .user_only = !records_kernel(recorder),
                                               .threads = options->threads ? options->threads
                                                          : online > 8     ? 8
                                                                           : (unsigned)online,
                                               .allocator = options->allocator,
                                               .again = recorder->synthesized_before,
                                               .note = recorder->synthesized_before ? NULL : options->note,
                                               .note_context = options->note_context};
    result = pf_machine_synthesize(&machine, &synthesis, error);
    pf_free(recorder->allocator, tids, count * sizeof(*tids));
    recorder->synthesized_before = true;
    return result < 0 ? result : put_reported(recorder, PERFILE_RECORD_FINISHED_INIT, 0, NULL, 0, error);
}

/* Which buffer, processor and thread each id belongs to, and the first id of each event. */
static int write_ids(struct perfile_recorder *recorder, struct pf_opened_id *ids, uint64_t *first_ids,
                     struct perfile_error *error)
{
    const struct pf_synthesis synthesis = synthesis_of(recorder);
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
    int result = pf_synthesize_id_index(ids, count, &synthesis, error);
    return result < 0 ? result : pf_synthesize_event_updates(&recorder->chosen, first_ids, false, &synthesis, error);
}

/* What decoders need. */
static int write_aux_info(struct perfile_recorder *recorder, struct perfile_error *error)
{
    const struct pf_synthesis synthesis = synthesis_of(recorder);
    struct pf_aux_setting setting = {.chosen = &recorder->chosen,
                                     .target = &recorder->target,
                                     .snapshot = recorder->options.aux_mode != PERFILE_RECORDER_AUX_ALL};
    (void)pf_time_conv_of(recorder->rings[0].pages, &setting.time);
    return pf_aux_put_info(&setting, &synthesis, error);
}

/* What perf says about the events, in the same order. */
static int write_setting(struct perfile_recorder *recorder, struct perfile_error *error)
{
    const struct pf_synthesis synthesis = synthesis_of(recorder);
    const struct pf_target *target = &recorder->target;
    const size_t id_bytes = recorder->opened.count * sizeof(struct pf_opened_id);
    const size_t first_bytes = recorder->chosen.count * sizeof(uint64_t);
    struct pf_opened_id *ids = pf_new(recorder->allocator, id_bytes);
    uint64_t *first_ids = pf_new(recorder->allocator, first_bytes);
    int result = ids && first_ids ? 0 : pf_fail_memory(error, "ids");
    if (result == 0)
        result = pf_synthesize_time_conv(recorder->rings[0].pages, &synthesis, error);
    if (result == 0 && recorder->chosen.has_aux) /* after TIME_CONV, which readers then have */
        result = write_aux_info(recorder, error);
    if (result == 0)
        result = write_ids(recorder, ids, first_ids, error);
    if (result == 0)
        result = pf_synthesize_thread_map(NULL, target->tids, target->everybody ? 0 : target->tid_count, true,
                                          &synthesis, error);
    if (result == 0)
        result = pf_synthesize_cpu_map(recorder->options.cpus, &synthesis, error);
    pf_free(recorder->allocator, ids, id_bytes);
    pf_free(recorder->allocator, first_ids, first_bytes);
    return result;
}

/* What the older perf does not read of what the caller wants written. */
static int check_output(struct perfile_recorder *recorder, struct perfile_error *error)
{
    struct perfile_writer_options *options = &recorder->output->options;
    const uint32_t version = recorder->chosen.version;
    const char *unknown = !version ? NULL
                                   : pf_since_output(version, options->mode == PERFILE_MODE_PIPE,
                                                     options->mode == PERFILE_MODE_DIRECTORY, options->compression);
    if (unknown)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "output", "perf %u.%u cannot read %s",
                       version / 1000, version % 1000, unknown);
    options->compressed_v1 |= version && version < PF_VERSION(6, 16);
    return 0;
}

/* Whoever says what is to read it has them all at once. */
static bool young_later(const struct perfile_recorder *recorder)
{
    const struct perfile_writer_options *options = &recorder->output->options;
    return !recorder->chosen.version && (options->live || options->mode == PERFILE_MODE_PIPE);
}

static int write_header(struct perfile_recorder *recorder, struct perfile_error *error)
{
    int result = check_output(recorder, error);
    for (uint32_t i = 0; i < recorder->chosen.count && result == 0; i++)
        result = write_event(recorder, i, error);
    if (result == 0 && recorder->output->options.mode == PERFILE_MODE_PIPE && young_later(recorder))
        result = pf_writer_describe_events(recorder->writer, error); /* for headers, which list events */
    if (result == 0)
        result = pf_machine_features(recorder->writer, &recorder->chosen,
                                     young_later(recorder) ? PF_MACHINE_COMMON : PF_MACHINE_ALL, error);
    if (result == 0)
        result = pf_machine_tracing(recorder->writer, &recorder->chosen, error);
    if (result == 0 && recorder->chosen.items[0].attr.use_clockid &&
        knows(recorder, pf_feature_since(PERFILE_FEATURE_CLOCK_DATA)))
        result = pf_machine_clock(recorder->writer, recorder->chosen.items[0].attr.clockid, error);
    return result < 0 ? result : write_setting(recorder, error);
}

static bool synthesizes_first(const struct perfile_recorder *recorder)
{
    return !(recorder->options.flags & PERFILE_RECORDER_TAIL_SYNTHESIZE);
}

/* ---- the stage before the output ---- */

/* From now on records go to *writer, which the stage reads, and from there to the output. */
static int start_stage(const struct perfile_recorder *recorder, struct perfile_writer *output,
                       struct perfile_writer **writer, struct perfile_error *error)
{
    *writer = output;
    const int result = recorder->stage ? recorder->stage->open(recorder->stage->context, output, writer, error) : 0;
    if (result == 0 && recorder->stage)
        pf_writer_prepare_for(*writer, output);
    return result;
}

/*
 * All that was written is in the output, and what is written from now on goes there directly; so do features that are
 * too large for the stream between.
 */
static int end_stage(struct perfile_recorder *recorder, struct perfile_error *error)
{
    struct perfile_writer *input = recorder->writer;
    struct pf_writer_features large;
    recorder->writer = recorder->output;
    if (!recorder->stage || input == recorder->output)
        return 0;
    pf_writer_take_features(input, &large);
    const int result = recorder->stage->close(recorder->stage->context, input, error),
              passed = pf_writer_give_features(&large, result < 0 ? NULL : recorder->output, error);
    return result < 0 ? result : passed;
}

/* Afterwards the output is not used by another thread, until buffers are emptied again. */
static int settle(const struct perfile_recorder *recorder, struct perfile_error *error)
{
    if (recorder->writer_thread)
        return pf_writer_thread_settle(recorder->writer_thread, error);
    return recorder->writer != recorder->output
               ? recorder->stage->settle(recorder->stage->context, recorder->writer, error)
               : 0;
}

/* A failure of the output shows in the stage's input, without its reason. */
static int explain(const struct perfile_recorder *recorder, int result, struct perfile_error *error)
{
    const int reason = result == PERFILE_ERROR_WRITE ? settle(recorder, error) : 0;
    return reason < 0 ? reason : result;
}

static uint64_t written(const struct perfile_recorder *recorder)
{
    if (recorder->writer_thread)
        return pf_writer_thread_written(recorder->writer_thread);
    return recorder->writer != recorder->output ? recorder->stage->written(recorder->stage->context, recorder->writer)
                                                : perfile_writer_progress(recorder->writer)->bytes;
}

/*
 * The next recording needs the processes that existed when the buffers were emptied for the last time. Some of them end
 * before they can be read from /proc: so they are read earlier, and what happens in between is written to both. *writer
 * is where its records go.
 */
static int begin_next(struct perfile_recorder *recorder, struct perfile_writer *output, struct perfile_writer **writer,
                      struct perfile_error *error)
{
    struct perfile_writer *former = recorder->writer, *former_output = recorder->output;
    int result = start_stage(recorder, output, writer, error);
    if (result < 0)
        return result;
    recorder->writer = *writer;
    recorder->output = output;
    result = write_header(recorder, error);
    if (result == 0 && synthesizes_first(recorder))
        result = write_machine(recorder, error);
    recorder->writer = former;
    recorder->output = former_output;
    return result;
}

/* What the scheduler counted so far: readers want the difference between the start and the end. */
static int write_schedstat(struct perfile_recorder *recorder, struct perfile_error *error)
{
    const struct pf_synthesis synthesis = synthesis_of(recorder);
    return recorder->options.schedstat ? pf_synthesize_schedstat(NULL, &synthesis, error) : 0;
}

static int write_start(struct perfile_recorder *recorder, struct perfile_error *error)
{
    struct perfile_writer *writer = recorder->output;
    int result = begin_next(recorder, recorder->output, &writer, error);
    recorder->writer = writer;
    if (result == 0)
        result = write_schedstat(recorder, error);
    if (result == 0)
        result = perfile_writer_flush(recorder->writer, error);
    return result < 0 ? result : settle(recorder, error);
}

/* ---- opening ---- */

/* Parses the list of events. An unknown name is an error in the caller's argument. */
static int choose(struct perfile_recorder *recorder, struct perfile_error *error)
{
    const char *events = recorder->options.events ? recorder->options.events : "cycles:P";
    int result = pf_event_list_parse(&recorder->chosen, events, error);
    if (recorder->chosen.mounted)
        pf_events_note(&recorder->options, "tracefs was not mounted; mounted it at /sys/kernel/tracing");
    if (result == PERFILE_ERROR_ABSENT && error)
        error->code = PERFILE_ERROR_ARGUMENT;
    return result == PERFILE_ERROR_ABSENT ? PERFILE_ERROR_ARGUMENT : result;
}

/* The offsets at which all samples have their process and their time; 0: the offsets differ. */
static void find_positions(struct perfile_recorder *recorder)
{
    for (size_t i = 0; i < recorder->chosen.count; i++) {
        struct pf_plan plan;
        pf_plan_make(&plan, &recorder->chosen.items[i].attr, false, PF_NATIVE_BIG_ENDIAN);
        recorder->time_at = i == 0 || plan.time_at == recorder->time_at ? plan.time_at : 0;
        recorder->tid_at = plan.tid_at; /* IP and TID have all of them */
    }
}

static int read_version(struct perfile_recorder *recorder, struct perfile_error *error)
{
    const char *text = recorder->options.for_perf;
    recorder->chosen.version = text ? pf_since_parse(text) : 0;
    return !text || recorder->chosen.version >= PF_VERSION(4, 1)
               ? 0
               : pf_about(error, text, strlen(text),
                          pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "version",
                                  "invalid perf version %.30s: expected 4.1 to 7.x, such as 6.1", text));
}

static int open_recorder(struct perfile_recorder *recorder, struct perfile_error *error)
{
    const struct perfile_recorder_options *options = &recorder->options;
    int result = read_version(recorder, error);
    if (result == 0)
        result = pf_target_open(&recorder->target, options, error);
    if (result == 0 && options->cpus)
        result = pf_target_check_online(&recorder->target, error);
    if (result == 0 && !recorder->target.everybody && !pf_pids_open(&recorder->pids, recorder->allocator))
        result = pf_fail_memory(error, "processes");
    if (result == 0)
        result = choose(recorder, error);
    if (result == 0)
        result = pf_events_configure(&recorder->chosen, &recorder->target, options, error);
    if (result == 0 && options->cpus && recorder->chosen.tracking)
        result = pf_target_track_everywhere(&recorder->target, options->cpus, error);
    if (result == 0 && options->cgroup)
        result = pf_event_cgroups_check(&recorder->target, error);
    if (result == 0 && options->cgroup)
        result = pf_event_cgroups_of_all(&recorder->chosen, options->cgroup, error);
    recorder->aux.overwrite |= recorder->chosen.samples_aux;
    if (result == 0)
        result = open_events(recorder, error);
    if (result == 0)
        prepare_small_stacks(recorder);
    if (result == 0)
        result = open_poll(recorder, error);
    if (result == 0 && recorder->chosen.build_ids && !pf_mapped_ids_open(&recorder->mapped_ids, recorder->allocator))
        result = pf_fail_memory(error, "build ids");
    if (recorder->chosen.unwinds)
        recorder->stage = &recorder->own_stage;
    if (result == 0 && recorder->stage && !pf_stack_trim_open(&recorder->trim, &recorder->chosen))
        result = pf_fail_memory(error, "events");
    if (result == 0)
        result = write_start(recorder, error);
    find_positions(recorder);
    recorder->first_time = UINT64_MAX;
    if (result == 0 && recorder->writer->options.compression) /* a stage has a thread anyway */
        recorder->writer_thread = pf_writer_thread_open(recorder->writer, recorder->allocator);
    return result;
}

int perfile_recorder_open(const struct perfile_recorder_options *options, struct perfile_writer *writer,
                          struct perfile_recorder **recorder, struct perfile_error *error)
{
    struct perfile_recorder_options all = PERFILE_RECORDER_OPTIONS_INIT;
    *recorder = NULL;
    if (!options)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "recorder options", "missing");
    struct perfile_recorder_stage stage = {.size = sizeof(stage)};
    int result = pf_sized_take(&all, sizeof(all), options, "recorder options", error);
    if (result == 0)
        result = pf_sized_take(&stage, sizeof(stage), all.stage, "recorder stage", error);
    if (result < 0)
        return result;
    const struct perfile_allocator *allocator = pf_allocator_or_default(all.allocator);
    struct perfile_recorder *made = pf_new(allocator, sizeof(*made));
    if (!made)
        return pf_fail_memory(error, "recorder");
    made->allocator = allocator;
    made->kept_files.allocator = allocator;
    made->aux.allocator = allocator;
    made->aux.overwrite = all.aux_mode != PERFILE_RECORDER_AUX_ALL;
    made->options = all;
    made->output = made->writer = writer;
    made->own_stage = stage;
    made->poll = -1;
    pf_event_list_open(&made->chosen, allocator);
    pf_map_open(&made->opened_of_id, allocator);
    result = open_recorder(made, error);
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
    pf_writer_thread_close(recorder->writer_thread);
    (void)end_stage(recorder, NULL);
    pf_stack_trim_close(&recorder->trim);
    close_rings(recorder);
    pf_free(allocator, recorder->rings, recorder->ring_capacity * sizeof(*recorder->rings));
    if (recorder->poll >= 0)
        close(recorder->poll);
    pf_events_close(&recorder->opened);
    pf_free(allocator, recorder->lost, recorder->chosen.count * sizeof(*recorder->lost));
    pf_pids_close(&recorder->pids);
    pf_mapped_ids_close(&recorder->mapped_ids);
    pf_kept_files_close(&recorder->kept_files);
    pf_target_close(&recorder->target);
    pf_event_list_close(&recorder->chosen);
    pf_map_close(&recorder->opened_of_id);
    pf_free(allocator, recorder, sizeof(*recorder));
}

/* ---- on and off ---- */

/* An event that is idle follows when it is the one that samples. 0, or errno. */
static int switch_one(struct pf_opened *one, unsigned long request)
{
    one->is_still = request == PERF_EVENT_IOC_DISABLE;
    return one->is_idle || ioctl(one->fd, request, 0) == 0 ? 0 : errno;
}

static int switch_all(struct perfile_recorder *recorder, unsigned long request, struct perfile_error *error)
{
    for (size_t i = 0; i < recorder->opened.count; i++) {
        struct pf_opened *one = &recorder->opened.items[i];
        /* members of a group follow their leader */
        if (one->fd < 0 || recorder->chosen.items[one->event].leader != one->event || only_tracks(recorder, one->event))
            continue;
        const int why = switch_one(one, request);
        if (why)
            return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, "event", "%s", pf_error_text(why));
    }
    return 0;
}

int perfile_recorder_enable(struct perfile_recorder *recorder, struct perfile_error *error)
{
    return switch_all(recorder, PERF_EVENT_IOC_ENABLE, error);
}

int perfile_recorder_disable(struct perfile_recorder *recorder, struct perfile_error *error)
{
    const int result = switch_all(recorder, PERF_EVENT_IOC_DISABLE, error), settled = settle(recorder, error);
    return result < 0 ? result : settled;
}

/* "cpu-clock" is also what the kernel was left out of, "cpu-clock:u": so it was given. */
static bool is_named(const struct pf_listed_event *event, const char *name)
{
    const size_t bytes = event->name && !event->exclude_is_explicit ? strlen(name) : 0;
    return event->name && (!strcmp(event->name, name) ||
                           (bytes && !strncmp(event->name, name, bytes) && !strcmp(event->name + bytes, ":u")));
}

/* All events of this name. */
static int switch_named(struct perfile_recorder *recorder, const char *name, unsigned long request,
                        struct perfile_error *error)
{
    bool found = false;
    for (size_t i = 0; i < recorder->opened.count; i++) {
        struct pf_opened *one = &recorder->opened.items[i];
        if (one->fd < 0 || !is_named(&recorder->chosen.items[one->event], name))
            continue;
        found = true;
        const int why = switch_one(one, request);
        if (why)
            return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, name, "%s", pf_error_text(why));
    }
    return found ? 0
                 : pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, "event", "no recorded event is named %s",
                           name);
}

int perfile_recorder_enable_event(struct perfile_recorder *recorder, const char *name, struct perfile_error *error)
{
    return switch_named(recorder, name, PERF_EVENT_IOC_ENABLE, error);
}

int perfile_recorder_disable_event(struct perfile_recorder *recorder, const char *name, struct perfile_error *error)
{
    return switch_named(recorder, name, PERF_EVENT_IOC_DISABLE, error);
}

/* ---- sizes of dumps ---- */

/* The one that samples from now on is enabled first: what else it records may not be missing for a moment. */
static void exchange(struct pf_opened *from, struct pf_opened *to)
{
    from->is_idle = true;
    to->is_idle = false;
    if (!to->is_still)
        (void)ioctl(to->fd, PERF_EVENT_IOC_ENABLE, 0);
    (void)ioctl(from->fd, PERF_EVENT_IOC_DISABLE, 0);
}

static void use_small_stacks(struct perfile_recorder *recorder, bool small)
{
    for (size_t i = 0; i < recorder->opened.count; i++) {
        struct pf_opened *smaller = &recorder->opened.items[i];
        if (!smaller->other)
            continue;
        struct pf_opened *larger = &recorder->opened.items[smaller->other - 1];
        exchange(small ? larger : smaller, small ? smaller : larger);
    }
    recorder->stack_sizes.small = small;
}

static uint64_t now_ns(void)
{
    struct timespec now = {.tv_sec = 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_OF_SECOND + (uint64_t)now.tv_nsec;
}

/*
 * That a stack was cut shows only after up to half a second, in which others are cut, too: so smaller dumps are tried
 * late. Each time that they were not enough after all, they are tried again much later.
 */
static void adapt_stacks(struct perfile_recorder *recorder)
{
    struct stack_sizes *sizes = &recorder->stack_sizes;
    uint64_t larger;
    if (!sizes->varies || recorder->writer == recorder->output)
        return;
    const uint64_t now = now_ns(), unwound = recorder->stage->unwound(recorder->stage->context, recorder->writer,
                                                                      STACK_BYTES_SMALL, &larger);
    sizes->shallow = larger == sizes->larger ? sizes->shallow + (unwound - sizes->unwound) : 0;
    if (!sizes->shallow)
        sizes->shallow_from = now;
    if (sizes->small && larger > sizes->larger) {
        sizes->patience_ns *= SHALLOW_FACTOR;
        use_small_stacks(recorder, false);
    } else if (!sizes->small && sizes->shallow >= SHALLOW_STACKS && now - sizes->shallow_from >= sizes->patience_ns)
        use_small_stacks(recorder, true);
    sizes->unwound = unwound;
    sizes->larger = larger;
}

/* ---- draining ---- */

static void note_lost(struct perfile_recorder *recorder, uint64_t id, uint64_t lost)
{
    uint64_t opened;
    recorder->counts.lost += lost;
    if (pf_map_get(&recorder->opened_of_id, id, &opened))
        recorder->lost[recorder->opened.items[opened].event] += lost;
}

static inline void note_sample(struct perfile_recorder *recorder, const uint8_t *sample)
{
    recorder->counts.samples++;
    if (recorder->chosen.overwrite)
        pf_pids_set(&recorder->pids, pf_load32(sample + recorder->tid_at, false), true);
    if (recorder->made_code.count) /* the address stands before the process */
        pf_made_code_sample(&recorder->made_code, pf_load32(sample + recorder->tid_at, false),
                            pf_load64(sample + recorder->tid_at - 8, false));
    if (!recorder->time_at)
        return;
    const uint64_t time = pf_load64(sample + recorder->time_at, false);
    recorder->first_time = pf_min(recorder->first_time, time);
    recorder->last_time = pf_max(recorder->last_time, time);
}

/* AUX: where the data is, how much it is, and what the kernel says of it. */
static void note_aux(struct perfile_recorder *recorder, const uint8_t *record)
{
    enum { FLAGS_AT = 24 };
    const uint64_t gaps = PERFILE_AUX_FLAG_TRUNCATED | PERFILE_AUX_FLAG_PARTIAL | PERFILE_AUX_FLAG_COLLISION;
    recorder->counts.aux_truncated += (pf_load64(record + FLAGS_AT, false) & gaps) != 0;
}

/* FORK, EXIT: process, its parent, thread. */
static void note_task(struct perfile_recorder *recorder, const uint8_t *record, bool began)
{
    const uint32_t pid = pf_load32(record + 8, false), tid = pf_load32(record + 16, false);
    if (began || pid == tid)
        pf_pids_set(&recorder->pids, pid, began);
}

/* MMAP2: executable code whose names are not in a file. */
static void note_map(struct perfile_recorder *recorder, const uint8_t *record, size_t bytes)
{
    enum { PID_AT = 8, START_AT = 16, BYTES_AT = 24, PROT_AT = 64, NAME_AT = 72 };
    recorder->has_maps = true;
    if (bytes > NAME_AT && pf_load32(record + PROT_AT, false) & PERFILE_PROT_EXEC &&
        memchr(record + NAME_AT, 0, bytes - NAME_AT))
        pf_made_code_map(&recorder->made_code, pf_load32(record + PID_AT, false), pf_load64(record + START_AT, false),
                         pf_load64(record + BYTES_AT, false), (const char *)record + NAME_AT);
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
        else if (type == PERFILE_RECORD_AUX)
            note_aux(recorder, records + at);
        else if (type == PERFILE_RECORD_FORK || type == PERFILE_RECORD_EXIT)
            note_task(recorder, records + at, type == PERFILE_RECORD_FORK);
        else if (type == PERFILE_RECORD_MMAP2)
            note_map(recorder, records + at, pf_load16(records + at + 6, false));
        else
            recorder->counts.throttled += type == PERFILE_RECORD_THROTTLE;
    }
}

/* Whether records of this type describe processes, threads or mappings. */
static bool is_state(uint32_t type)
{
    const uint32_t types = 1u << PERFILE_RECORD_MMAP | 1u << PERFILE_RECORD_COMM | 1u << PERFILE_RECORD_EXIT |
                           1u << PERFILE_RECORD_FORK | 1u << PERFILE_RECORD_MMAP2 | 1u << PERFILE_RECORD_NAMESPACES |
                           1u << PERFILE_RECORD_KSYMBOL | 1u << PERFILE_RECORD_BPF_EVENT | 1u << PERFILE_RECORD_CGROUP;
    return type < 32 && types >> type & 1;
}

static int copy_state(struct perfile_writer *writer, const uint8_t *records, size_t bytes, struct perfile_error *error)
{
    int result = 0;
    uint16_t size;
    for (size_t at = 0; at < bytes && result == 0; at += size) {
        size = pf_load16(records + at + 6, false);
        if (is_state(pf_load32(records + at, false)))
            result = perfile_writer_records(writer, records + at, size, error);
    }
    return result;
}

static int put_records(struct perfile_recorder *recorder, const uint8_t *records, size_t bytes,
                       struct perfile_error *error)
{
    int result = recorder->writer_thread ? pf_writer_thread_put(recorder->writer_thread, records, bytes, error)
                                         : perfile_writer_records(recorder->writer, records, bytes, error);
    return result < 0 || !recorder->other ? result : copy_state(recorder->other, records, bytes, error);
}

/* The event of a sample by its id; without ids there is only one. */
static size_t event_of(const struct perfile_recorder *recorder, const uint8_t *record)
{
    const uint16_t id_at = recorder->trim.plans[0].id_at;
    uint64_t opened;
    if (!id_at)
        return 0;
    return pf_map_get(&recorder->opened_of_id, pf_load64(record + id_at, false), &opened)
               ? recorder->opened.items[opened].event
               : recorder->chosen.count;
}

/* The size of what is to be written in place of a record; 0: it stays. */
static size_t change(const struct perfile_recorder *recorder, const uint8_t *record, size_t bytes, uint8_t *changed)
{
    const uint32_t type = pf_load32(record, false);
    if (type == PERFILE_RECORD_SAMPLE && recorder->stage)
        return pf_stack_trim_sample(&recorder->trim, event_of(recorder, record), record, changed);
    return type == PERFILE_RECORD_MMAP2 && !recorder->chosen.items[recorder->chosen.tracking].attr.build_id &&
                   pf_mapped_ids_change(&recorder->mapped_ids, record, bytes, changed)
               ? bytes
               : 0;
}

/* Records as the kernel wrote them, but for build ids and the ends of stacks. */
static int put_changed(struct perfile_recorder *recorder, const uint8_t *records, size_t bytes,
                       struct perfile_error *error)
{
    uint8_t *changed = recorder->changed;
    size_t done = 0, size;
    int result = 0;
    for (size_t at = 0; at < bytes && result == 0; at += size) {
        size = pf_load16(records + at + 6, false);
        const size_t now = change(recorder, records + at, size, changed);
        if (!now)
            continue;
        if (at > done)
            result = put_records(recorder, records + done, at - done, error);
        if (result == 0)
            result = put_records(recorder, changed, now, error);
        done = at + size;
    }
    return result == 0 && done < bytes ? put_records(recorder, records + done, bytes - done, error) : result;
}

static int take_records(void *context, const uint8_t *records, size_t bytes, struct perfile_error *error)
{
    struct perfile_recorder *recorder = context;
    recorder->has_maps = false;
    look_through(recorder, records, bytes);
    recorder->reported_something = true;
    recorder->counts.bytes += bytes;
    return recorder->has_maps || recorder->stage ? put_changed(recorder, records, bytes, error)
                                                 : put_records(recorder, records, bytes, error);
}

/* Nothing older than the records before the previous one follows. */
static int put_round(struct perfile_recorder *recorder, struct perfile_error *error)
{
    static const struct {
        uint32_t type;
        uint16_t misc, size;
    } round = {PERFILE_RECORD_FINISHED_ROUND, 0, 8};
    return recorder->writer_thread
               ? pf_writer_thread_put(recorder->writer_thread, (const uint8_t *)&round, sizeof(round), error)
               : perfile_writer_records(recorder->writer, &round, sizeof(round), error);
}

/* AUX data goes to the output directly: a stage and other threads have nothing to do with it. */
static int write_aux(struct perfile_recorder *recorder, struct perfile_error *error)
{
    const struct pf_listed_event *event = recorder->chosen.items;
    if (recorder->chosen.samples_aux || !pf_aux_set_has_new(&recorder->aux))
        return 0;
    while (!event->aux)
        event++;
    int result = settle(recorder, error);
    if (result == 0)
        result = pf_aux_set_write(&recorder->aux, pf_aux_kind_alignment(pf_aux_kind_of(event->aux)), recorder->output,
                                  &recorder->counts.aux_bytes, error);
    return result < 0 ? result : perfile_writer_flush(recorder->output, error);
}

static int drain_all(struct perfile_recorder *recorder, struct perfile_error *error)
{
    /* only a second round makes the records of the first one final */
    const bool has_unfinished = recorder->reported_something;
    int result = 0;
    recorder->reported_something = false;
    for (size_t i = 0; i < recorder->ring_count && result == 0; i++)
        result = pf_ring_drain(&recorder->rings[i], take_records, recorder, error);
    /* a snapshot describes the machine after its records: readers must not deliver these before that */
    if (result == 0 && (recorder->reported_something || has_unfinished) && !recorder->chosen.overwrite)
        result = put_round(recorder, error);
    if (result < 0)
        return explain(recorder, result, error);
    if (recorder->writer_thread)
        result = pf_writer_thread_flush(recorder->writer_thread, error);
    else
        result = perfile_writer_flush(recorder->writer, error);
    if (result == 0 && recorder->options.aux_mode == PERFILE_RECORDER_AUX_ALL)
        result = write_aux(recorder, error);
    recorder->counts.written = written(recorder);
    return explain(recorder, result, error);
}

/* The kernel writes what it has, and stops. */
static void stop_aux(const struct perfile_recorder *recorder, bool stopped)
{
    const unsigned long request = stopped ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_ENABLE;
    for (size_t i = 0; i < recorder->opened.count; i++) {
        const struct pf_opened *one = &recorder->opened.items[i];
        if (one->fd >= 0 && writes_aux(recorder, one) && !one->is_still)
            (void)ioctl(one->fd, request, 0);
    }
}

static bool snaps_aux(const struct perfile_recorder *recorder)
{
    return recorder->aux.count && recorder->options.aux_mode >= (recorder->stopping ? PERFILE_RECORDER_AUX_LAST_SNAPSHOT
                                                                                    : PERFILE_RECORDER_AUX_SNAPSHOTS);
}

static void pause_all(const struct perfile_recorder *recorder, bool paused)
{
    for (size_t i = 0; i < recorder->ring_count; i++)
        pf_ring_pause(&recorder->rings[i], paused);
}

int perfile_recorder_snapshot(struct perfile_recorder *recorder, struct perfile_error *error)
{
    if (recorder->chosen.overwrite)
        pf_pids_clear(&recorder->pids); /* the records will show which processes are needed */
    const bool snaps = snaps_aux(recorder);
    pause_all(recorder, true);
    if (snaps)
        stop_aux(recorder, true);
    int result = drain_all(recorder, error);
    if (snaps && result == 0)
        result = write_aux(recorder, error);
    if (snaps && !recorder->stopping)
        stop_aux(recorder, false);
    pause_all(recorder, false);
    if (result == 0)
        result = settle(recorder, error);
    if (result == 0 && recorder->chosen.overwrite)
        result = write_machine(recorder, error);
    for (int i = 0; i < 2 && result == 0 && recorder->chosen.overwrite && recorder->stage; i++)
        result = put_round(recorder, error); /* else the stage waits for older records */
    if (result == 0)
        result = perfile_writer_flush(recorder->writer, error);
    return result < 0 ? explain(recorder, result, error) : settle(recorder, error);
}

/* Events whose threads have ended are not looked at any more. */
static void discard_ended(struct perfile_recorder *recorder, const struct epoll_event *events, int count)
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
        return pf_fail(error, PERFILE_ERROR_READ, PERFILE_NO_OFFSET, "epoll", "%s", pf_error_text(errno));
    recorder->counts.wakeups += count > 0;
    int result = recorder->chosen.overwrite ? 0 : drain_all(recorder, error);
    discard_ended(recorder, events, count);
    adapt_stacks(recorder);
    pf_kept_files_look(&recorder->kept_files, &recorder->made_code, false);
    return result < 0 ? result : recorder->rings_alive > 0;
}

int perfile_recorder_fd(const struct perfile_recorder *recorder)
{
    return recorder->poll;
}

/* ---- the end ---- */

/*
 * Writes the losses that the kernel counted for each event: also those after which no record came. A group is read
 * through its leader: number, times, then value, id and loss of each; alone: value, times, id, loss.
 */
static int write_losses_of(struct perfile_recorder *recorder, const struct pf_opened *one, uint64_t *values,
                           struct perfile_error *error)
{
    const struct pf_listed_event *event = &recorder->chosen.items[one->event];
    const uint64_t format = event->attr.read_format;
    const bool group = format & PERFILE_FORMAT_GROUP;
    const size_t times =
        (format & PERFILE_FORMAT_TOTAL_TIME_ENABLED ? 1u : 0) + (format & PERFILE_FORMAT_TOTAL_TIME_RUNNING ? 1u : 0);
    if (!(format & PERFILE_FORMAT_LOST) || (group && event->leader != one->event))
        return 0;
    const ssize_t got = read(one->fd, values, LOSS_WORDS(recorder->chosen.count) * sizeof(*values));
    const size_t words = got < 0 ? 0 : (size_t)got / sizeof(*values);
    int result = 0;
    for (size_t at = 1 + times + group; at + 1 < words && result == 0; at += 3) {
        uint64_t index;
        if (!pf_map_get(&recorder->opened_of_id, values[at], &index))
            continue;
        struct pf_opened *lossy = &recorder->opened.items[index];
        const struct perfile_lost_samples lost = {.lost = values[at + 1] - lossy->lost_reported};
        const struct perfile_sample_id id = {.size = sizeof(id), .id = lossy->id, .identifier = lossy->id};
        lossy->lost_reported = values[at + 1];
        if (lost.lost)
            result = perfile_writer_record(recorder->writer, PERFILE_RECORD_LOST_SAMPLES, 0, &lost, sizeof(lost), &id,
                                           error);
    }
    return result;
}

/*
 * Replaces the losses counted from LOST records by what the kernel counted for the events: LOST records come only with
 * the next record, and have the id of that record's event.
 */
static void take_losses(struct perfile_recorder *recorder)
{
    for (size_t i = 0; i < recorder->chosen.count; i++)
        if (!(recorder->chosen.items[i].attr.read_format & PERFILE_FORMAT_LOST))
            return;
    recorder->counts.lost = 0;
    memset(recorder->lost, 0, recorder->chosen.count * sizeof(*recorder->lost));
    for (size_t i = 0; i < recorder->opened.count; i++) {
        const struct pf_opened *one = &recorder->opened.items[i];
        recorder->counts.lost += one->lost_reported;
        recorder->lost[one->event] += one->lost_reported;
    }
}

static int write_losses(struct perfile_recorder *recorder, struct perfile_error *error)
{
    const size_t bytes = LOSS_WORDS(recorder->chosen.count) * sizeof(uint64_t);
    uint64_t *values = pf_new(recorder->allocator, bytes);
    int result = values ? 0 : pf_fail_memory(error, "losses");
    for (size_t i = 0; i < recorder->opened.count && result == 0; i++)
        if (recorder->opened.items[i].fd >= 0)
            result = write_losses_of(recorder, &recorder->opened.items[i], values, error);
    take_losses(recorder);
    pf_free(recorder->allocator, values, bytes);
    return result;
}

static void report_left_out(const struct perfile_recorder *recorder, const char *why)
{
    pf_events_note(&recorder->options, "names of code that JITs in containers made are left out: %s", why);
}

/* In streams perf must know a feature, and it has to fit into a record; an old perf gets what it knows. */
static int write_kept_files(struct perfile_recorder *recorder, struct perfile_error *error)
{
    struct pf_text body;
    unsigned left_out = 0;
    pf_kept_files_look(&recorder->kept_files, &recorder->made_code, true);
    if (!pf_kept_files_exist(&recorder->kept_files) || recorder->chosen.version)
        return 0;
    if (recorder->writer->options.mode == PERFILE_MODE_PIPE) {
        report_left_out(recorder, "streams cannot hold them");
        return 0;
    }
    if (pf_text_open(&body, recorder->allocator, NULL, NULL) < 0)
        return pf_fail_memory(error, "files of JITs");
    const int result =
        pf_kept_files_put(&recorder->kept_files, &body, &left_out)
            ? perfile_writer_feature(recorder->writer, PERFILE_FEATURE_FILE2, body.data, body.used, error)
            : pf_fail_memory(error, "files of JITs");
    pf_text_close(&body);
    if (left_out)
        report_left_out(recorder, "their files are too large");
    return result;
}

/* All that is left to say in a recording whose records are there. */
static int write_end(struct perfile_recorder *recorder, struct perfile_error *error)
{
    int result = write_losses(recorder, error);
    if (result == 0 && !synthesizes_first(recorder) && !recorder->chosen.overwrite)
        result = write_machine(recorder, error);
    if (result == 0 && recorder->last_time && knows(recorder, pf_feature_since(PERFILE_FEATURE_SAMPLE_TIME)))
        result = pf_machine_sample_time(recorder->writer, recorder->first_time, recorder->last_time, error);
    const int staged = end_stage(recorder, error);
    result = result < 0 ? result : staged;
    if (result == 0 && young_later(recorder) && recorder->writer->options.mode != PERFILE_MODE_PIPE)
        result = pf_machine_features(recorder->writer, &recorder->chosen, PF_MACHINE_YOUNG, error);
    if (result == 0)
        result = write_kept_files(recorder, error);
    return result < 0 ? result : perfile_writer_flush(recorder->writer, error);
}

int perfile_recorder_switch_output(struct perfile_recorder *recorder, struct perfile_writer *writer,
                                   struct perfile_error *error)
{
    struct perfile_writer *next = NULL;
    int result = begin_next(recorder, writer, &next, error);
    recorder->other = next;
    if (result == 0)
        result = perfile_recorder_snapshot(recorder, error);
    if (result == 0)
        result = write_end(recorder, error);
    recorder->other = NULL;
    if (result < 0 && recorder->stage && next)
        (void)recorder->stage->close(recorder->stage->context, next, NULL);
    if (result < 0)
        return result;
    result = perfile_writer_flush(next, error);
    recorder->output = writer;
    recorder->writer = next;
    recorder->stack_sizes.unwound = recorder->stack_sizes.larger = 0; /* the stage counts for each recording */
    if (result == 0)
        result = settle(recorder, error);
    if (result == 0 && recorder->writer_thread)
        pf_writer_thread_switch(recorder->writer_thread, writer);
    if (result == 0)
        recorder->counts.written = written(recorder);
    recorder->first_time = UINT64_MAX;
    recorder->last_time = 0;
    return result;
}

static int stop(struct perfile_recorder *recorder, struct perfile_error *error)
{
    int result = perfile_recorder_disable(recorder, error);
    recorder->stopping = true;
    if (result == 0)
        result = write_schedstat(recorder, error);
    if (result == 0)
        result = perfile_recorder_snapshot(recorder, error);
    pf_kept_files_look(&recorder->kept_files, &recorder->made_code, true);
    if (result == 0 && recorder->options.note)
        pf_made_code_notify(&recorder->made_code, recorder->counts.samples, recorder->options.note,
                            recorder->options.note_context);
    return result < 0 ? result : write_end(recorder, error);
}

int perfile_recorder_stop(struct perfile_recorder *recorder, struct perfile_error *error)
{
    const int result = stop(recorder, error);
    if (result < 0)
        (void)end_stage(recorder, NULL);
    return result;
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
