/* SPDX-License-Identifier: MIT */
#include "analysis/delivery.h"

#include <perfile/index.h>

#include "analysis/counters.h"
#include "analysis/stitching.h"
#include "analysis/switching.h"
#include "analysis/synthesizers.h"
#include "analysis/trace_samples.h"
#include "base/error.h"
#include "base/filter.h"

/* Which synthesizer gave a sample. */
struct origin {
    const struct pf_synthesizer *synthesizer; /* NULL: it stands in the recording */
    const uint64_t *note;               /* what it noted of the sample: in what it made, or, of one that waited, */
    uint64_t kept[PF_SYNTHESIZED_NOTE]; /* here */
    uint64_t parallelism;               /* at its time */
};

struct pf_delivery {
    const struct perfile_allocator *allocator;
    struct pf_delivery_options options;
    struct perfile_reader *reader;
    struct perfile_session *session;
    struct pf_jit *jit; /* NULL: maps are not followed */
    struct pf_filter filter;
    struct pf_switching switching;
    struct pf_stitching stitching;
    bool filters; /* one of them is active */
    bool follows_maps;
    uint64_t filtered;
    const char *arch;
    bool arch_known; /* whether the recording says it or not: a stream may do so in its next feature */
    int64_t running; /* threads, with options.counts_parallelism */
    uint64_t cpus;   /* of the machine; UINT64_MAX: not known */
    bool cpus_known; /* as arch_known */

    struct pf_counters counters;
    uint64_t next_value; /* of the counters of the current sample; their count or more: none is left */
    bool delivered;      /* a counter of it */
    bool gave;           /* any item */

    struct pf_held_list held;                /* samples that wait for the user part of their callchains */
    struct pf_held *released;                /* the current sample is this one; NULL: it is that of the last record */
    struct perfile_callchain_deferred later; /* such a part, of the thread whose samples go now */
    int32_t later_tid;
    enum { HELD_WAIT, HELD_GO_THREAD, HELD_GO_ALL } release;

    struct pf_synthesizer own;           /* that of the filter */
    struct pf_synthesizer trace;         /* that of the reader's trace */
    struct pf_synthesizer *synthesizers; /* all that there are */
    size_t synthesizer_count;
    bool replaces;                        /* one of them replaces the samples of the recording */
    struct pf_synthesized made;           /* what one of them gave last */
    bool gives;                           /* they may have samples that come before the record that waits */
    bool at_end;                          /* all records were read: synthesizers give what is left */
    struct origin origin;                 /* of the current sample */
    const struct perfile_record *waiting; /* while synthesizers give what comes before it; NULL means none */
    unsigned until_progress;
};

_Static_assert(sizeof(struct origin) <= PF_HELD_NOTE * sizeof(uint64_t), "it is kept with samples that wait");

#define NO_VALUE UINT64_MAX

enum { PROGRESS_RECORDS = 256, OWN = 2 /* synthesizers that the delivery opens itself */ };

static bool time_of_header(struct perfile_reader *reader, const struct perfile_allocator *allocator, const char *member,
                           uint64_t *time)
{
    return pf_memory_check(allocator,
                           perfile_feature_number(reader, PERFILE_FEATURE_SAMPLE_TIME, member, time, NULL)) == 0;
}

const struct pf_range *pf_recording_span(struct perfile_reader *reader, const struct perfile_allocator *allocator,
                                         struct pf_range *span)
{
    const bool known = time_of_header(reader, allocator, "first", &span->first) &&
                       time_of_header(reader, allocator, "last", &span->last);
    /* perf record -z writes zeros */
    return known && span->first <= span->last && span->last ? span : NULL;
}

int pf_recording_filter(struct perfile_reader *reader, const struct perfile_filter *wanted,
                        const struct perfile_allocator *allocator, struct pf_filter *filter,
                        struct perfile_error *error)
{
    struct pf_range span;
    struct pf_clock clock;
    const int known = pf_filter_needs_span(wanted) ? perfile_reader_span(reader, &span.first, &span.last, error) : 0;
    if (known < 0)
        return known;
    return pf_filter_clock(reader, &clock) < 0
               ? pf_fail_memory(error, "filter")
               : pf_filter_open_dated(filter, wanted, known ? &span : NULL, &clock, allocator, error);
}

/* A name that no event has is a mistake. The events of a stream are known only at its end. */
static int check_events(const struct pf_delivery *delivery, bool at_end, struct perfile_error *error)
{
    const bool stream = perfile_reader_file(delivery->reader)->mode == PERFILE_MODE_PIPE;
    int result = 0;
    if (stream != at_end)
        return 0;
    if (delivery->filter.has_events)
        result = pf_filter_check_events(&delivery->filter, delivery->reader, perfile_event_get, error);
    return result < 0 ? result : pf_switching_check(&delivery->switching, delivery->reader, error);
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

/* Those of the options, and that of the filter. */
static int open_synthesizers(struct pf_delivery *delivery, struct perfile_error *error)
{
    const struct pf_delivery_options *options = &delivery->options;
    const size_t count = options->synthesizer_count;
    const struct pf_synthesizer_options own = {.reader = delivery->reader,
                                               .wanted = options->filter,
                                               .filter = &delivery->filter,
                                               .find = options->find,
                                               .allocator = delivery->allocator};
    const int result = options->filter ? pf_synthesizer_open(&delivery->own, &own, error) : 0;
    if (!options->filter || !options->filter->calls)
        pf_trace_samples_synthesizer(delivery->reader, &delivery->trace);
    if (result < 0 || (!count && !delivery->own.context && !delivery->trace.context))
        return result;
    delivery->synthesizers = pf_new(delivery->allocator, (count + OWN) * sizeof(*delivery->synthesizers));
    if (!delivery->synthesizers)
        return pf_fail_memory(error, "samples");
    for (size_t i = 0; i < count; i++)
        delivery->synthesizers[i] = options->synthesizers[i];
    delivery->synthesizer_count = count;
    if (delivery->own.context)
        delivery->synthesizers[delivery->synthesizer_count++] = delivery->own;
    if (delivery->trace.context)
        delivery->synthesizers[delivery->synthesizer_count++] = delivery->trace;
    for (size_t i = 0; i < delivery->synthesizer_count; i++)
        delivery->replaces |= delivery->synthesizers[i].replaces;
    return 0;
}

/*
 * What is synthesized has times of its own, counters are differences from sample to sample, the user part of a callchain
 * comes later, and a call stack may continue the one before.
 */
static bool looks_at_each_alone(const struct pf_delivery *delivery)
{
    const struct perfile_event *event;
    const struct pf_delivery_options *options = &delivery->options;
    bool alone = !options->reads_all && !options->counts_parallelism && !delivery->synthesizer_count &&
                 !delivery->stitching.active;
    for (size_t i = 0; alone && (event = perfile_event_get(delivery->reader, i)); i++)
        alone = !event->attr->defer_callchain && !(event->attr->sample_type & PERFILE_SAMPLE_READ);
    return alone;
}

/* Whether the filter leaves out all samples of the block, which need not be read then. */
static bool is_unwanted(void *context, const struct perfile_block *block)
{
    struct pf_delivery *delivery = context;
    const struct pf_filter_block asked = {.block = block,
                                          .times = perfile_block_times,
                                          .may_have = perfile_block_may_have,
                                          .event_at = perfile_event_get,
                                          .reader = delivery->reader};
    return !pf_switching_may_be_in(&delivery->switching, &asked) &&
           pf_filter_leaves_out(&delivery->filter, &asked, true);
}

/* Samples of counters are of all the counters that they read. */
static bool take_unwanted(void *context, const struct perfile_record *record)
{
    const struct pf_delivery *delivery = context;
    const struct perfile_event *event = record->event;
    return record->type == PERFILE_RECORD_SAMPLE && event && !(event->attr->sample_type & PERFILE_SAMPLE_READ) &&
           !delivery->options.wants(delivery->options.wants_context, event);
}

/* They need not wait for their turn. */
static void leave_out_unwanted(struct pf_delivery *delivery)
{
    const bool needs_all = delivery->filters || delivery->synthesizer_count || delivery->stitching.active;
    if (delivery->options.wants && !needs_all)
        perfile_session_preview(delivery->session, take_unwanted, delivery);
}

static void limit_session(struct pf_delivery *delivery)
{
    const struct pf_delivery_options *options = &delivery->options;
    if (!delivery->filter.active || !looks_at_each_alone(delivery))
        return;
    if (delivery->filter.has_times)
        perfile_session_limit(delivery->session, options->reads_before ? 0 : pf_filter_first_time(&delivery->filter),
                              options->reads_to_end ? UINT64_MAX : pf_filter_last_time(&delivery->filter));
    perfile_session_skip(delivery->session, is_unwanted, delivery);
}

/* Returns whether one of them needs mappings. */
static bool start_synthesizers(struct pf_delivery *delivery)
{
    const struct pf_delivery_options *options = &delivery->options;
    const bool has_times = delivery->filter.has_times;
    const struct pf_synthesizer_use use = {.first = has_times ? pf_filter_first_time(&delivery->filter) : 0,
                                           .last = has_times ? pf_filter_last_time(&delivery->filter) : UINT64_MAX,
                                           .merges = options->merges && !has_times && !delivery->switching.active,
                                           .with_history = options->with_history || options->reads_all,
                                           .threads = options->threads};
    bool any = false;
    for (size_t i = 0; i < delivery->synthesizer_count; i++) {
        const struct pf_synthesizer *synthesizer = &delivery->synthesizers[i];
        if (!synthesizer->start)
            continue;
        synthesizer->start(synthesizer->context, delivery->session, delivery->jit, &use);
        any = true;
    }
    return any;
}

/* What switches is not of the filter, which many others use, too. */
static int open_filter(struct pf_delivery *delivery, struct perfile_error *error)
{
    struct perfile_filter wanted = *delivery->options.filter;
    int result = pf_switching_open(&delivery->switching, &wanted, delivery->allocator, error);
    wanted.switch_on = wanted.switch_off = NULL;
    pf_stitching_open(&delivery->stitching, &wanted, delivery->allocator);
    wanted.stitches_calls = false;
    if (result == 0)
        result = pf_recording_filter(delivery->reader, &wanted, delivery->allocator, &delivery->filter, error);
    delivery->filters = delivery->filter.active || delivery->switching.active;
    return result;
}

static int open_parts(struct pf_delivery *delivery, struct perfile_error *error)
{
    const struct pf_delivery_options *options = &delivery->options;
    int result = 0;
    if (options->filter && options->filter->calls && !options->takes_calls)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "filter", "calls are not shown here");
    if (options->filter)
        result = open_filter(delivery, error);
    if (result == 0)
        result = open_synthesizers(delivery, error);
    if (result == 0)
        result = check_events(delivery, false, error);
    if (result == 0)
        result = perfile_session_open(delivery->reader, &delivery->session, error);
    if (result == 0 && options->find)
        result = pf_jit_open(delivery->reader, delivery->session, options->find, &delivery->jit, error);
    if (result == 0 && (start_synthesizers(delivery) || delivery->follows_maps))
        perfile_session_follow_maps(delivery->session);
    if (result == 0)
        limit_session(delivery);
    if (result == 0)
        leave_out_unwanted(delivery);
    if (result == 0 && options->keeps_comms)
        perfile_session_keep_comms(delivery->session);
    return result;
}

int pf_delivery_open(struct perfile_reader *reader, const struct pf_delivery_options *options,
                     struct pf_delivery **delivery, struct perfile_error *error)
{
    const struct perfile_allocator *allocator = pf_allocator_or_default(options->allocator);
    struct pf_delivery *made = *delivery = pf_new(allocator, sizeof(*made));
    if (!made)
        return pf_fail_memory(error, "samples");
    made->allocator = allocator;
    made->options = *options;
    made->reader = reader;
    made->follows_maps = options->find || options->follows_maps;
    made->next_value = NO_VALUE;
    made->origin.parallelism = 1;
    made->running = 1; /* where a recording starts, its thread runs: no record of a switch says so */
    pf_counters_open(&made->counters, allocator);
    pf_held_open(&made->held, allocator);
    int result = open_parts(made, error);
    if (result < 0) {
        pf_delivery_close(made);
        *delivery = NULL;
    }
    return result;
}

void pf_delivery_close(struct pf_delivery *delivery)
{
    if (!delivery)
        return;
    if (delivery->released)
        pf_held_free(&delivery->held, delivery->released);
    pf_held_close(&delivery->held);
    pf_counters_close(&delivery->counters);
    if (delivery->own.context)
        delivery->own.close(delivery->own.context);
    pf_free(delivery->allocator, delivery->synthesizers,
            (delivery->options.synthesizer_count + OWN) * sizeof(*delivery->synthesizers));
    perfile_session_close(delivery->session);
    pf_jit_close(delivery->jit);
    pf_filter_close(&delivery->filter);
    pf_switching_close(&delivery->switching);
    pf_stitching_close(&delivery->stitching);
    pf_free(delivery->allocator, delivery, sizeof(*delivery));
}

/* ---- a sample ---------------------------------------------------------------------------------------------------- */

static bool passes(struct pf_delivery *delivery, const struct pf_delivered *item)
{
    const struct perfile_sample *sample = &item->sample;
    const bool has_thread = sample->present & PERFILE_SAMPLE_TID;
    const struct pf_filter_subject subject = {
        .time = sample->present & PERFILE_SAMPLE_TIME ? sample->time : PF_NO_TIME,
        .cpu = sample->present & PERFILE_SAMPLE_CPU ? (int32_t)sample->cpu : PF_NO_NUMBER,
        .pid = has_thread ? sample->pid : PF_NO_NUMBER,
        .tid = has_thread ? sample->tid : PF_NO_NUMBER,
        .comm = has_thread ? item->comm : NULL,
        .event = delivery->origin.synthesizer ? item->record->event : item->event};
    const bool counts = !delivery->switching.active || !pf_filter_time(&delivery->filter, subject.time) ||
                        pf_switching_passes(&delivery->switching, subject.event);
    return pf_filter_passes(&delivery->filter, &subject) && counts;
}

/* The record's time is enough to leave its sample out. */
static bool is_out_of_time(struct pf_delivery *delivery, const struct perfile_record *record)
{
    const uint64_t type = record->event ? record->event->attr->sample_type : 0;
    const bool out =
        !pf_filter_time(&delivery->filter, record->time) && !(type & PERFILE_SAMPLE_READ) && type & PERFILE_SAMPLE_TIME;
    delivery->filter.timed_out |= out;
    return out;
}

/* The user space of pid -1 would be the kernel's: so the kernel calls tasks that are gone. */
static void find_spaces(struct pf_delivery *delivery, struct pf_delivered *item)
{
    const int32_t pid = item->sample.pid;
    item->kernel_space = delivery->follows_maps ? perfile_session_space(delivery->session, PF_KERNEL_PID) : NULL;
    item->user_space = delivery->follows_maps && pid >= 0 ? perfile_session_space(delivery->session, pid) : NULL;
}

/* ---- parallelism ------------------------------------------------------------------------------------------------- */

/* A thread that ends leaves its processor without a SWITCH record. */
static void count_running(struct pf_delivery *delivery, const struct perfile_record *record)
{
    const bool switched = record->type == PERFILE_RECORD_SWITCH || record->type == PERFILE_RECORD_SWITCH_CPU_WIDE;
    if (switched)
        delivery->running += record->misc & PERFILE_MISC_SWITCH_OUT ? -1 : 1;
    else if (record->type == PERFILE_RECORD_EXIT)
        delivery->running--;
}

static uint64_t machine_cpus(struct pf_delivery *delivery)
{
    if (PF_LIKELY(delivery->cpus_known))
        return delivery->cpus;
    delivery->cpus_known = true;
    const int result =
        pf_memory_check(delivery->allocator, perfile_feature_number(delivery->reader, PERFILE_FEATURE_NRCPUS,
                                                                    "nr_cpus_available", &delivery->cpus, NULL));
    if (result < 0 || !delivery->cpus)
        delivery->cpus = UINT64_MAX;
    return delivery->cpus;
}

static void note_parallelism(struct pf_delivery *delivery)
{
    const uint64_t running = delivery->running > 1 ? (uint64_t)delivery->running : 1;
    delivery->origin.parallelism = pf_min(running, pf_min(machine_cpus(delivery), UINT32_MAX));
}

/* ---- counters ---------------------------------------------------------------------------------------------------- */

/* The counters of a group without ids are not known. */
static bool has_counters(const struct perfile_sample *sample)
{
    const uint64_t format = sample->read.format;
    return sample->present & PERFILE_SAMPLE_READ && (format & PERFILE_FORMAT_ID || !(format & PERFILE_FORMAT_GROUP));
}

/* The next counter of the current sample that counted something: 1, 0 when none is left, or an error. */
static __attribute__((noinline)) int next_counter(struct pf_delivery *delivery, struct pf_delivered *item,
                                                  struct perfile_error *error)
{
    const struct perfile_read *read = &item->sample.read;
    while (delivery->next_value < read->count) {
        struct perfile_read_value value;
        perfile_read_at(read, delivery->next_value++, &value, sizeof(value));
        const bool has_id = read->format & PERFILE_FORMAT_ID;
        const struct perfile_event *event = has_id ? perfile_event_find(delivery->reader, value.id) : item->event;
        if (!event)
            continue;
        item->id = has_id ? value.id : item->id;
        item->event = event;
        const struct pf_counter_value now = {event, item->id, item->sample.tid, value.value};
        if (!pf_counters_advance(&delivery->counters, &now, &item->sample.period))
            return pf_fail_memory(error, "samples");
        if (item->sample.period)
            return 1;
    }
    delivery->next_value = NO_VALUE;
    return 0;
}

static void complete(const struct origin *origin, struct pf_delivered *item)
{
    if (origin->synthesizer->complete)
        origin->synthesizer->complete(origin->synthesizer->context, origin->note, item);
}

/* The sample was decoded: 1, 0 when nothing was counted for it, or an error. */
static inline int begin_sample(struct pf_delivery *delivery, struct pf_delivered *item, struct perfile_error *error)
{
    const struct perfile_sample *sample = &item->sample;
    item->is_sample = true;
    item->parallelism = (uint32_t)delivery->origin.parallelism;
    item->event = item->record->event;
    item->id = sample->present & PERFILE_SAMPLE_IDENTIFIER ? sample->identifier : sample->id;
    if (PF_UNLIKELY(delivery->origin.synthesizer != NULL))
        complete(&delivery->origin, item);
    item->comm = perfile_session_comm(delivery->session, sample->pid, sample->tid);
    find_spaces(delivery, item);
    delivery->delivered = false;
    if (PF_UNLIKELY(delivery->stitching.active) && !delivery->released &&
        !pf_stitching_take(&delivery->stitching, delivery->reader, item))
        return pf_fail_memory(error, "samples");
    if (PF_LIKELY(!has_counters(sample)))
        return 1;
    delivery->next_value = 0;
    return next_counter(delivery, item, error);
}

/* ---- samples whose user part of the stack comes later ------------------------------------------------------------ */

/* Makes the held sample the current one. Returns 1, 0 when it is damaged or counted nothing, or an error. */
static int take_held(struct pf_delivery *delivery, struct pf_held *held, struct pf_delivered *item,
                     struct perfile_error *error)
{
    uint64_t cookie;
    delivery->released = held;
    item->record = &held->record;
    if (!pf_delivered_decode(item))
        return 0;
    pf_held_take_cookie(&item->sample.callchain, &cookie);
    if (delivery->release == HELD_GO_THREAD && held->cookie == delivery->later.cookie)
        item->user_chain = delivery->later.ips;
    memcpy(&delivery->origin, held->note, sizeof(delivery->origin));
    delivery->origin.note = delivery->origin.kept;
    return begin_sample(delivery, item, error);
}

/* There is no current sample. */
static void put_back(struct pf_delivery *delivery, struct pf_delivered *item)
{
    if (PF_UNLIKELY(delivery->released != NULL))
        pf_held_free(&delivery->held, delivery->released);
    delivery->released = NULL;
    delivery->next_value = NO_VALUE;
    item->user_chain.count = 0;
}

/* The next held sample that may go. 1, 0: they wait, or an error. */
static __attribute__((noinline)) int release_held(struct pf_delivery *delivery, struct pf_delivered *item,
                                                  struct perfile_error *error)
{
    int result = 0;
    while (result == 0) {
        if (PF_LIKELY(delivery->release == HELD_WAIT && !pf_held_is_full(&delivery->held)))
            return 0;
        put_back(delivery, item);
        struct pf_held *held =
            pf_held_take(&delivery->held, delivery->release == HELD_GO_THREAD ? &delivery->later_tid : NULL);
        if (!held) {
            delivery->release = HELD_WAIT;
            return 0;
        }
        result = take_held(delivery, held, item, error);
    }
    return result;
}

/* The sample of an event with such callchains waits, if it has to. 1, 0: it need not, or an error. */
static __attribute__((noinline)) int hold(struct pf_delivery *delivery, struct pf_delivered *item,
                                          struct perfile_error *error)
{
    uint64_t cookie;
    if (!pf_held_take_cookie(&item->sample.callchain, &cookie) || delivery->options.never_waits)
        return 0;
    struct pf_held *held = pf_held_add(&delivery->held, item->record, item->sample.tid, cookie);
    if (held && delivery->origin.synthesizer)
        memcpy(delivery->origin.kept, delivery->origin.note, sizeof(delivery->origin.kept));
    if (held)
        memcpy(held->note, &delivery->origin, sizeof(delivery->origin));
    return held ? 1 : pf_fail_memory(error, "samples");
}

/* The samples of its thread can go. */
static void take_deferred(struct pf_delivery *delivery, const struct perfile_record *record)
{
    struct perfile_sample_id id = PERFILE_SAMPLE_ID_INIT;
    if (perfile_record_decode(delivery->reader, record, &delivery->later, sizeof(delivery->later), NULL) < 0 ||
        perfile_sample_id_decode(delivery->reader, record, &id, NULL) < 0)
        return;
    delivery->later_tid = id.tid;
    delivery->release = HELD_GO_THREAD;
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static int follow_jit(struct pf_delivery *delivery, const struct perfile_record *record, struct perfile_error *error)
{
    const struct pf_delivery_options *options = &delivery->options;
    const bool counts = record->type == PERFILE_RECORD_MMAP || record->type == PERFILE_RECORD_MMAP2 ||
                        record->type == PERFILE_RECORD_TIME_CONV;
    if (!delivery->jit || !counts)
        return 0;
    if (options->lock)
        options->lock(options->lock_context);
    const int result = pf_jit_follow(delivery->jit, record, error);
    if (options->unlock)
        options->unlock(options->lock_context);
    return result;
}

/* 1: the record is the item, 0, or an error. */
static __attribute__((noinline)) int take_other(struct pf_delivery *delivery, struct pf_delivered *item,
                                                struct perfile_error *error)
{
    const struct perfile_record *record = item->record;
    const int result = follow_jit(delivery, record, error);
    if (result < 0)
        return result;
    if (record->type == PERFILE_RECORD_HEADER_FEATURE) {
        delivery->arch_known &= delivery->arch != NULL;
        delivery->cpus_known &= delivery->cpus != UINT64_MAX;
        pf_stitching_look_again(&delivery->stitching);
    }
    count_running(delivery, record);
    if (record->type == PERFILE_RECORD_CALLCHAIN_DEFERRED) {
        take_deferred(delivery, record);
        return 0;
    }
    item->is_sample = false;
    item->event = record->event;
    return delivery->options.gives_records;
}

/* The record is a sample. 1: it is the item, 0: it is not delivered now, or an error. */
static inline int take_sample(struct pf_delivery *delivery, struct pf_delivered *item, struct perfile_error *error)
{
    const struct perfile_event *event = item->record->event;
    if (item->record->damaged || !pf_delivered_decode(item))
        return 0;
    if (PF_UNLIKELY(delivery->options.counts_parallelism))
        note_parallelism(delivery);
    const int held = PF_UNLIKELY(event && event->attr->defer_callchain) ? hold(delivery, item, error) : 0;
    if (PF_UNLIKELY(held != 0))
        return held < 0 ? held : 0;
    return begin_sample(delivery, item, error);
}

/* 1: the record is the item, 0: it is not delivered now, or an error. */
static inline int take_record(struct pf_delivery *delivery, struct pf_delivered *item, struct perfile_error *error)
{
    item->off = NULL;
    item->traced = (struct pf_traced){.flags = 0};
    if (item->record->type != PERFILE_RECORD_SAMPLE)
        return take_other(delivery, item, error);
    if (PF_UNLIKELY(delivery->filter.has_times) && is_out_of_time(delivery, item->record)) {
        delivery->filtered++;
        return 0;
    }
    return take_sample(delivery, item, error);
}

/* The same of what a synthesizer has made. */
static int take_synthesized(struct pf_delivery *delivery, const struct pf_synthesizer *from, struct pf_delivered *item,
                            struct perfile_error *error)
{
    const struct pf_synthesized *made = &delivery->made;
    item->record = made->record;
    item->off = NULL;
    delivery->origin.synthesizer = from;
    delivery->origin.note = made->note;
    if (PF_UNLIKELY(made->record->type != PERFILE_RECORD_SAMPLE && !made->sample))
        return take_other(delivery, item, error);
    if (!made->sample)
        return take_sample(delivery, item, error);
    item->sample = *made->sample;
    if (PF_UNLIKELY(delivery->options.counts_parallelism))
        note_parallelism(delivery);
    return begin_sample(delivery, item, error);
}

/* ---- one after the other ----------------------------------------------------------------------------------------- */

static __attribute__((noinline)) void report_progress(struct pf_delivery *delivery)
{
    const struct pf_delivery_options *options = &delivery->options;
    delivery->until_progress = PROGRESS_RECORDS;
    if (!delivery->gave) /* no mapping is in use yet */
        perfile_session_trim(delivery->session);
    if (options->progress)
        options->progress(options->progress_context, perfile_reader_counts(delivery->reader)->data_bytes,
                          perfile_reader_file(delivery->reader)->file_bytes);
}

/* 1 and the next record of the session, 0 at the end, or an error. */
static inline int read_record(struct pf_delivery *delivery, const struct perfile_record **record,
                              struct perfile_error *error)
{
    const struct pf_delivery_options *options = &delivery->options;
    const int more = perfile_session_next(delivery->session, record, error);
    if (PF_UNLIKELY(more <= 0))
        return more;
    if (PF_UNLIKELY(delivery->until_progress-- == 0))
        report_progress(delivery);
    if (options->watch && !options->watch(options->watch_context, *record))
        return pf_fail_memory(error, "samples");
    return 1;
}

/* The synthesizers see the record that waits. 1: they have samples that come before it; 0: none; or an error. */
static int show_waiting(struct pf_delivery *delivery, struct perfile_error *error)
{
    int gives = 0;
    for (size_t i = 0; i < delivery->synthesizer_count; i++) {
        const struct pf_synthesizer *to = &delivery->synthesizers[i];
        const int result = to->take(to->context, delivery->waiting, error);
        if (result < 0)
            return result;
        gives |= result;
    }
    return gives;
}

static bool is_replaced(const struct pf_delivery *delivery, const struct perfile_record *record)
{
    return delivery->replaces && record->type == PERFILE_RECORD_SAMPLE;
}

/* 1: a record waits, to be delivered or after samples that come before it; 0 at the end, or an error. */
static int read_waiting(struct pf_delivery *delivery, struct perfile_error *error)
{
    int more, gives = 1; /* at the end: all that are left */
    do {
        more = read_record(delivery, &delivery->waiting, error);
        if (more <= 0)
            delivery->waiting = NULL;
        else if ((gives = show_waiting(delivery, error)) < 0)
            return gives;
    } while (more > 0 && !gives && is_replaced(delivery, delivery->waiting));
    delivery->gives = gives;
    delivery->at_end = more == 0;
    return more;
}

/* *found: a sample comes before the record that waits. As take_next. */
static int take_before(struct pf_delivery *delivery, struct pf_delivered *item, bool *found,
                       struct perfile_error *error)
{
    const uint64_t time = delivery->waiting ? delivery->waiting->time : UINT64_MAX;
    for (size_t i = 0; i < delivery->synthesizer_count; i++) {
        const struct pf_synthesizer *from = &delivery->synthesizers[i];
        const int result = from->next(from->context, time, &delivery->made, error);
        *found = result > 0;
        if (result != 0)
            return *found ? take_synthesized(delivery, from, item, error) : result;
    }
    return 0;
}

/* The next sample that comes before the record that waits, or that record. As take_next. */
static __attribute__((noinline)) int take_next_of_all(struct pf_delivery *delivery, struct pf_delivered *item,
                                                      bool *ended, struct perfile_error *error)
{
    bool found = false;
    int result = delivery->waiting || delivery->at_end ? 0 : read_waiting(delivery, error);
    if (result >= 0 && delivery->gives)
        result = take_before(delivery, item, &found, error);
    if (result < 0 || found)
        return result;
    item->record = delivery->waiting;
    delivery->waiting = NULL;
    delivery->at_end = false;
    delivery->origin.synthesizer = NULL;
    *ended = !item->record;
    return *ended || is_replaced(delivery, item->record) ? 0 : take_record(delivery, item, error);
}

/* 1: what comes next is the item; 0: it is not delivered now, or all *ended; or an error. */
static inline int take_next(struct pf_delivery *delivery, struct pf_delivered *item, bool *ended,
                            struct perfile_error *error)
{
    if (PF_UNLIKELY(delivery->synthesizer_count))
        return take_next_of_all(delivery, item, ended, error);
    const int more = read_record(delivery, &item->record, error);
    *ended = more == 0;
    return more <= 0 ? more : take_record(delivery, item, error);
}

/* The next counter of the current sample, or the next held sample that may go: 1, 0, or an error. */
static int next_known(struct pf_delivery *delivery, struct pf_delivered *item, struct perfile_error *error)
{
    const bool none = delivery->next_value == NO_VALUE && !delivery->released && delivery->release == HELD_WAIT;
    if (PF_LIKELY(none))
        return 0;
    const int result = next_counter(delivery, item, error);
    if (result != 0)
        return result;
    put_back(delivery, item);
    return release_held(delivery, item, error);
}

/* 1 and an item that no filter has seen, 0 at the end, or an error. */
static int next_item(struct pf_delivery *delivery, struct pf_delivered *item, struct perfile_error *error)
{
    int result = next_known(delivery, item, error);
    while (result == 0) {
        bool ended = false;
        result = take_next(delivery, item, &ended, error);
        if (PF_UNLIKELY(ended)) {
            delivery->release = HELD_GO_ALL;
            return release_held(delivery, item, error);
        }
        if (result == 0)
            result = release_held(delivery, item, error);
    }
    return result;
}

int pf_delivery_next(struct pf_delivery *delivery, struct pf_delivered *item, struct perfile_error *error)
{
    int result;
    while ((result = next_item(delivery, item, error)) > 0) {
        delivery->gave |= item->is_sample;
        if (!item->is_sample)
            return 1;
        if (PF_UNLIKELY(delivery->filters) && !passes(delivery, item)) {
            delivery->filtered += 1 + item->traced.alike;
            continue;
        }
        item->again = delivery->delivered;
        delivery->delivered = true;
        return 1;
    }
    /* what replaces samples looks at the times of the filter itself */
    delivery->filter.timed_out |= perfile_session_left_out(delivery->session) > 0 || delivery->replaces;
    return result == 0 ? check_events(delivery, true, error) : result;
}

/* ---- what there is ----------------------------------------------------------------------------------------------- */

uint64_t pf_delivery_filtered(const struct pf_delivery *delivery)
{
    return delivery->filtered + perfile_session_left_out(delivery->session);
}

const struct pf_filter *pf_delivery_filter(const struct pf_delivery *delivery)
{
    return &delivery->filter;
}

void pf_delivery_notify_unmatched(const struct pf_delivery *delivery, perfile_on_unmatched *notify, void *context)
{
    if (delivery->filter.active)
        pf_filter_notify_unmatched(&delivery->filter, delivery->reader, perfile_event_get, notify, context);
    pf_switching_notify(&delivery->switching, notify, context);
    pf_stitching_notify(&delivery->stitching, notify, context);
}

void pf_delivery_report_missing(const struct pf_delivery *delivery, pf_on_note *notify, void *context)
{
    for (size_t i = 0; i < delivery->synthesizer_count; i++)
        if (delivery->synthesizers[i].report_missing)
            delivery->synthesizers[i].report_missing(delivery->synthesizers[i].context, notify, context);
}

struct perfile_session *pf_delivery_session(const struct pf_delivery *delivery)
{
    return delivery->session;
}

struct pf_jit *pf_delivery_jit(const struct pf_delivery *delivery)
{
    return delivery->jit;
}

const char *pf_delivery_cgroup(const struct pf_delivery *delivery, uint64_t id)
{
    const char *path = perfile_session_cgroup(delivery->session, id);
    return path ? path : "unknown";
}

const char *pf_delivery_arch(struct pf_delivery *delivery)
{
    if (PF_LIKELY(delivery->arch_known))
        return delivery->arch;
    delivery->arch_known = true;
    if (pf_memory_check(delivery->allocator,
                        perfile_feature_text(delivery->reader, PERFILE_FEATURE_ARCH, NULL, &delivery->arch, NULL)) < 0)
        delivery->arch = NULL;
    return delivery->arch;
}
