/* SPDX-License-Identifier: MIT */
#include "output/flame/times.h"

#include <perfile/records.h>
#include <stdlib.h>

#include "base/bytes.h"

enum {
    MAX_WAITS = 1 << 19,
    MAX_STACKS = 1 << 21, /* of waits that may be left out later */
    MAX_MARKS = 20000,
    MAX_LOSSES = 20000
};

/* ---- opening ---- */

static uint64_t clock_number(const struct pf_flame_times *times, const char *member)
{
    uint64_t number = 0;
    (void)pf_memory_check(times->allocator,
                          perfile_feature_number(times->reader, PERFILE_FEATURE_CLOCK_DATA, member, &number, NULL));
    return number;
}

static void find_wall(struct pf_flame_times *times)
{
    const uint64_t wall = clock_number(times, "wall_clock_ns");
    const struct perfile_event *event = perfile_event_get(times->reader, 0);
    times->wall_ahead_ns = wall ? wall - clock_number(times, "clockid_time_ns") : 0;
    times->has_wall = wall || (event && event->attr->use_clockid && event->attr->clockid == 0);
}

/* Returns whether the recording has switches; for a stream this is known since its first sample. */
static bool has_switches(const struct perfile_reader *reader)
{
    const struct perfile_event *event;
    for (size_t i = 0; (event = perfile_event_get(reader, i)); i++)
        if (event->attr->context_switch || strcmp(event->name, "sched:sched_switch") == 0)
            return true;
    return false;
}

int pf_flame_times_open(struct pf_flame_times *times, struct perfile_reader *reader, enum pf_waits waits,
                        enum pf_offcpu_what what, const struct perfile_allocator *allocator)
{
    *times = (struct pf_flame_times){
        .allocator = allocator, .reader = reader, .lanes = {.allocator = allocator}, .mark_stride = 1};
    pf_flame_parallel_open(&times->parallel, reader, allocator);
    times->unsure = waits == PF_WAITS_IF_ANY && perfile_reader_file(reader)->mode == PERFILE_MODE_PIPE;
    times->takes_stacks =
        times->unsure || waits == PF_WAITS_REQUIRED || (waits == PF_WAITS_IF_ANY && has_switches(reader));
    /* A page of blocked threads has preempted ones, too: which are counted is chosen there. */
    what = what == PF_OFFCPU_BOTH ? PF_OFFCPU_BOTH : PF_OFFCPU_ALL;
    if (times->takes_stacks && !(times->offcpu = pf_offcpu_open(reader, what, allocator)))
        return PERFILE_ERROR_MEMORY;
    return 0;
}

void pf_flame_times_close(struct pf_flame_times *times)
{
    if (!times->allocator)
        return;
    pf_offcpu_close(times->offcpu);
    pf_flame_lanes_close(&times->lanes);
    pf_flame_parallel_close(&times->parallel);
    pf_free(times->allocator, times->waits, times->wait_capacity * sizeof(*times->waits));
    pf_free(times->allocator, times->marks, times->mark_capacity * sizeof(*times->marks));
    pf_free(times->allocator, times->losses, times->loss_capacity * sizeof(*times->losses));
    pf_free(times->allocator, times->stacks, times->stack_capacity * sizeof(*times->stacks));
}

/* ---- times off CPU ---- */

static void leave_short(struct pf_flame_times *times)
{
    size_t kept = 0;
    for (size_t i = 0; i < times->wait_count; i++) {
        const uint64_t length = times->waits[i].to - times->waits[i].from;
        if (length >= times->min_ns) {
            times->waits[kept++] = times->waits[i];
            continue;
        }
        times->waits_left++;
        times->waits_left_ns += length;
    }
    times->wait_count = kept;
}

void pf_flame_times_leave(struct pf_flame_times *times, uint64_t min_ns)
{
    if (min_ns <= times->min_ns)
        return;
    times->min_ns = min_ns;
    leave_short(times);
}

void pf_flame_times_thin(struct pf_flame_times *times, size_t max)
{
    while (times->wait_count > max) {
        pf_flame_times_leave(times, times->min_ns > UINT64_MAX / 2 ? UINT64_MAX : pf_max(2 * times->min_ns, 1000));
        if (times->min_ns == UINT64_MAX)
            times->wait_count = pf_min(times->wait_count, max);
    }
}

static bool add_wait(struct pf_flame_times *times, const struct pf_wait *wait)
{
    if (wait->from >= wait->to)
        return true;
    if (wait->to - wait->from < times->min_ns) {
        times->waits_left++;
        times->waits_left_ns += wait->to - wait->from;
        return true;
    }
    if (times->wait_count >= MAX_WAITS)
        pf_flame_times_thin(times, MAX_WAITS / 2);
    return PF_APPEND(times->allocator, times->waits, times->wait_count, times->wait_capacity, *wait);
}

/* First it could not run, then it could: two of them. */
static bool take_wait(struct pf_flame_times *times, const struct perfile_record *record)
{
    struct pf_off off;
    const struct perfile_record *sample;
    const int ended = pf_offcpu_take(times->offcpu, record, &off, &sample, NULL);
    if (ended <= 0)
        return ended == 0;
    const struct pf_sched_task *task = off.task;
    struct pf_wait wait = {.from = off.from,
                           .to = off.to,
                           .stack_time = sample ? sample->time : 0,
                           .has_stack = sample,
                           .comm = task->comm    ? task->comm
                                   : *task->name ? task->name
                                                 : NULL,
                           .pid = task->pid,
                           .tid = task->tid,
                           .waker_tid = off.waker && off.waker->tid > 0 ? off.waker->tid : -1,
                           .state = off.preempted ? PF_WAIT_READY : PF_WAIT_BLOCKED};
    if (off.preempted || !off.delay_known)
        return add_wait(times, &wait);
    wait.to -= off.delay;
    if (!add_wait(times, &wait))
        return false;
    wait.from = wait.to;
    wait.to = off.to;
    wait.state = PF_WAIT_WOKEN;
    return add_wait(times, &wait);
}

/* ---- marks and losses ---- */

/* All of them, every second one, every fourth one ... */
static bool add_mark(struct pf_flame_times *times, const struct pf_mark *mark)
{
    if (times->marks_seen++ % times->mark_stride) {
        times->marks_left++;
        return true;
    }
    if (times->mark_count >= MAX_MARKS) {
        for (size_t i = 0; i < times->mark_count / 2; i++)
            times->marks[i] = times->marks[2 * i];
        times->marks_left += times->mark_count - times->mark_count / 2;
        times->mark_count /= 2;
        times->mark_stride *= 2;
    }
    return PF_APPEND(times->allocator, times->marks, times->mark_count, times->mark_capacity, *mark);
}

/* Adds a loss. When there are too many, it is added to the last one. */
static bool add_loss(struct pf_flame_times *times, uint64_t time, uint64_t count)
{
    if (times->loss_count >= MAX_LOSSES) {
        times->losses[times->loss_count - 1].count += count;
        return true;
    }
    return PF_APPEND(times->allocator, times->losses, times->loss_count, times->loss_capacity,
                     (struct pf_loss){time, count});
}

union any {
    struct perfile_lost lost;
    struct perfile_lost_samples lost_samples;
    struct perfile_fork fork;
    struct perfile_exit exit;
    struct perfile_comm comm;
    struct perfile_throttle throttle;
    struct perfile_unthrottle unthrottle;
};

static bool take_decoded(struct pf_flame_times *times, const struct perfile_record *record, const union any *any,
                         const struct perfile_sample_id *id)
{
    const uint64_t time = id->time;
    struct pf_mark mark = {.time = time, .tid = id->present & PERFILE_SAMPLE_TID ? id->tid : -1};
    switch (record->type) {
    case PERFILE_RECORD_LOST:
        return add_loss(times, time, any->lost.lost);
    case PERFILE_RECORD_LOST_SAMPLES:
        return add_loss(times, time, any->lost_samples.lost);
    case PERFILE_RECORD_FORK:
        mark.kind = PF_MARK_FORK;
        mark.tid = any->fork.ptid;
        mark.value = (uint32_t)any->fork.tid;
        break;
    case PERFILE_RECORD_EXIT:
        mark.kind = PF_MARK_EXIT;
        mark.tid = any->exit.tid;
        break;
    case PERFILE_RECORD_COMM:
        mark.kind = PF_MARK_EXEC;
        mark.tid = any->comm.tid;
        break;
    default:
        mark.kind = PF_MARK_THROTTLED;
        mark.value = record->type == PERFILE_RECORD_UNTHROTTLE;
        break;
    }
    return mark.tid < 0 || add_mark(times, &mark);
}

/* By type: what of it is decoded. */
static size_t decoded_bytes(const struct perfile_record *record)
{
    switch (record->type) {
    case PERFILE_RECORD_LOST:
        return sizeof(struct perfile_lost);
    case PERFILE_RECORD_LOST_SAMPLES:
        return sizeof(struct perfile_lost_samples);
    case PERFILE_RECORD_FORK:
        return sizeof(struct perfile_fork);
    case PERFILE_RECORD_EXIT:
        return sizeof(struct perfile_exit);
    case PERFILE_RECORD_COMM:
        return record->misc & PERFILE_MISC_COMM_EXEC ? sizeof(struct perfile_comm) : 0;
    case PERFILE_RECORD_THROTTLE:
        return sizeof(struct perfile_throttle);
    case PERFILE_RECORD_UNTHROTTLE:
        return sizeof(struct perfile_unthrottle);
    default:
        return 0;
    }
}

static bool take_fact(struct pf_flame_times *times, const struct perfile_record *record, size_t bytes)
{
    struct perfile_sample_id id = PERFILE_SAMPLE_ID_INIT;
    union any any = {0};
    if (perfile_sample_id_decode(times->reader, record, &id, NULL) < 0 || !(id.present & PERFILE_SAMPLE_TIME) ||
        !id.time) /* what was there before has none */
        return true;
    if (perfile_record_decode(times->reader, record, &any, bytes, NULL) < 0)
        return true;
    return take_decoded(times, record, &any, &id);
}

/* To look for switches that do not come costs a copy of each sample. */
static void look_at_stream(struct pf_flame_times *times)
{
    times->unsure = false;
    if (has_switches(times->reader))
        return;
    pf_offcpu_close(times->offcpu);
    times->offcpu = NULL;
}

/* Switches are in the page as times off CPU. */
static bool has_lane(const struct pf_flame_times *times, const struct perfile_record *record)
{
    return record->type == PERFILE_RECORD_SAMPLE && record->event &&
           record->event->attr->type == PERFILE_TYPE_TRACEPOINT &&
           !(times->offcpu && pf_offcpu_is_switch_event(record->event));
}

bool pf_flame_times_take(void *context, const struct perfile_record *record)
{
    struct pf_flame_times *times = context;
    if (times->unsure && record->type == PERFILE_RECORD_SAMPLE)
        look_at_stream(times);
    if (times->offcpu && !take_wait(times, record))
        return false;
    if (!pf_flame_parallel_take(&times->parallel, record))
        return false;
    if (has_lane(times, record) && !pf_flame_lanes_take(&times->lanes, times->reader, record))
        return false;
    const size_t bytes = record->damaged ? 0 : decoded_bytes(record);
    return !bytes || take_fact(times, record, bytes);
}

/* ---- stacks ---- */

bool pf_flame_times_add_stack(struct pf_flame_times *times, uint64_t time, int32_t tid, uint32_t stack)
{
    if (times->stack_count >= MAX_STACKS)
        return true;
    return PF_APPEND(times->allocator, times->stacks, times->stack_count, times->stack_capacity,
                     (struct pf_wait_stack){time, tid, stack});
}

static int compare_stacks(const void *left, const void *right)
{
    const struct pf_wait_stack *a = left, *b = right;
    return a->tid != b->tid ? (a->tid > b->tid) - (a->tid < b->tid) : (a->time > b->time) - (a->time < b->time);
}

/* The root: there is none. */
static uint32_t stack_of(const struct pf_flame_times *times, const struct pf_wait *wait)
{
    const struct pf_wait_stack wanted = {wait->stack_time, wait->tid, 0};
    const struct pf_wait_stack *found = NULL;
    if (wait->has_stack && times->stack_count)
        found = bsearch(&wanted, times->stacks, times->stack_count, sizeof(wanted), compare_stacks);
    return found ? found->stack : 0;
}

/* ---- threads ---- */

/* Threads of the page by their ids: the one that was met last, and from each to the one before. */
struct threads {
    struct pf_bottom *bottom;
    struct pf_map last;
    uint32_t *before;
    size_t count, capacity;
};

static bool list_threads(struct threads *threads)
{
    const struct pf_bottom *bottom = threads->bottom;
    if (!pf_grow(bottom->allocator, &threads->before, &threads->capacity, bottom->frame_count + 1,
                 sizeof(*threads->before)))
        return false;
    for (; threads->count < bottom->frame_count; threads->count++) {
        const uint32_t tid = bottom->frames[threads->count].tid;
        uint64_t found;
        threads->before[threads->count] = pf_map_get(&threads->last, tid, &found) ? (uint32_t)found : PF_PAGE_NONE;
        if (!pf_map_put(&threads->last, tid, threads->count))
            return false;
    }
    return true;
}

/* The one with this name, or the last one; NONE: there is none. */
static uint32_t find_thread(const struct threads *threads, int32_t tid, const char *comm)
{
    uint64_t last;
    if (tid < 0 || !pf_map_get(&threads->last, (uint32_t)tid, &last))
        return PF_PAGE_NONE;
    for (uint32_t i = (uint32_t)last; comm && i != PF_PAGE_NONE; i = threads->before[i])
        if (strcmp(threads->bottom->frames[i].name, comm) == 0)
            return i;
    return (uint32_t)last;
}

/* NONE: out of memory. */
static uint32_t add_thread(struct threads *threads, const struct perfile_event *event, const struct pf_wait *wait)
{
    const char *name = wait->comm ? wait->comm : "[unknown]";
    const struct pf_profile_sample sample = {
        .event = event,
        .comm = pf_arena_text(&threads->bottom->arena, name, strlen(name)),
        .pid = wait->pid >= 0 ? wait->pid : wait->tid,
        .tid = wait->tid,
    };
    const uint32_t position = sample.comm ? pf_bottom_frame(threads->bottom, 0, &sample) : UINT32_MAX;
    return position != UINT32_MAX && list_threads(threads) ? position : PF_PAGE_NONE;
}

/* ---- the end ---- */

/* All threads count in it: a page with some of them does not have it. */
static bool end_parallel(struct pf_flame_times *times, const struct pf_filter *filter, const struct pf_page *page)
{
    if (filter->active && (filter->has_cpus || filter->has_pids || filter->has_tids || filter->has_comms))
        times->parallel.width = 0;
    return pf_flame_parallel_end(&times->parallel, page->last);
}

/* As far from the first sample as times of samples may be. */
static bool is_near(const struct pf_page *page, uint64_t time)
{
    const uint64_t base = page->base_ns;
    return (time > base ? time - base : base - time) <= PF_PAGE_FAR_NS;
}

static bool passes(struct pf_filter *filter, const struct pf_wait *wait)
{
    const struct pf_filter_subject subject = {
        .time = wait->to, .cpu = PF_NO_NUMBER, .pid = wait->pid, .tid = wait->tid, .comm = wait->comm};
    return !filter->active || pf_filter_passes(filter, &subject);
}

static bool end_waits(struct pf_flame_times *times, const struct pf_filter *filter, struct threads *threads,
                      struct pf_page *page)
{
    const struct perfile_event *event = perfile_event_get(times->reader, 0);
    struct pf_filter mine = *filter;
    size_t kept = 0;
    mine.has_events = false; /* they are of none */
    for (size_t i = 0; event && i < times->wait_count; i++) {
        struct pf_wait wait = times->waits[i];
        wait.from = pf_max(wait.from, filter->has_times ? pf_filter_first_time(filter) : 0);
        wait.to = filter->has_times ? pf_min(wait.to, pf_filter_last_time(filter)) : wait.to;
        if (wait.from >= wait.to || !is_near(page, wait.from) || !is_near(page, wait.to) || !passes(&mine, &wait))
            continue;
        wait.thread = find_thread(threads, wait.tid, wait.comm);
        if (wait.thread == PF_PAGE_NONE && (wait.thread = add_thread(threads, event, &wait)) == PF_PAGE_NONE)
            return false;
        wait.stack = stack_of(times, &wait);
        page->first = pf_min(page->first, wait.from);
        page->last = pf_max(page->last, wait.to);
        times->waits[kept++] = wait;
    }
    times->wait_count = kept;
    for (size_t i = 0; i < kept; i++) /* all threads are known by now */
        times->waits[i].waker = find_thread(threads, times->waits[i].waker_tid, NULL);
    return true;
}

/* Those of threads that the page shows. */
static void end_marks(struct pf_flame_times *times, const struct threads *threads, const struct pf_page *page)
{
    size_t marks = 0, losses = 0;
    for (size_t i = 0; i < times->mark_count; i++) {
        struct pf_mark mark = times->marks[i];
        mark.thread = find_thread(threads, mark.tid, NULL);
        if (mark.thread != PF_PAGE_NONE && mark.time >= page->first && mark.time <= page->last)
            times->marks[marks++] = mark;
    }
    times->mark_count = marks;
    for (size_t i = 0; i < times->loss_count; i++)
        if (times->losses[i].time >= page->first && times->losses[i].time <= page->last)
            times->losses[losses++] = times->losses[i];
    times->loss_count = losses;
}

static bool point_passes(struct pf_filter *filter, const struct pf_lane *lane, const struct pf_lane_point *point,
                         const char *comm)
{
    const struct pf_filter_subject subject = {.time = point->time,
                                              .cpu = point->cpu,
                                              .pid = point->pid,
                                              .tid = point->tid,
                                              .comm = comm,
                                              .event = lane->event};
    return !filter->active || pf_filter_passes(filter, &subject);
}

/* Those of threads that the page shows. */
static void end_lane(struct pf_lane *lane, struct pf_filter *filter, const struct threads *threads,
                     const struct pf_page *page)
{
    size_t kept = 0;
    for (size_t i = 0; i < lane->count; i++) {
        struct pf_lane_point point = lane->points[i];
        point.thread = find_thread(threads, point.tid, NULL);
        if (point.thread != PF_PAGE_NONE && point.time >= page->first && point.time <= page->last &&
            point_passes(filter, lane, &point, threads->bottom->frames[point.thread].name))
            lane->points[kept++] = point;
    }
    lane->count = kept;
    lane->owner_thread = find_thread(threads, lane->owner, NULL);
}

static void end_lanes(struct pf_flame_times *times, const struct pf_filter *filter, const struct threads *threads,
                      const struct pf_page *page)
{
    struct pf_filter mine = *filter;
    mine.unmatched = 0;
    for (unsigned kind = 0; kind < PF_LANE_KINDS; kind++)
        for (size_t i = 0; i < times->lanes.lists[kind].count; i++)
            end_lane(&times->lanes.lists[kind].lanes[i], &mine, threads, page);
}

bool pf_flame_times_end(struct pf_flame_times *times, const struct pf_filter *filter, struct pf_bottom *bottom,
                        struct pf_page *page)
{
    struct threads threads = {.bottom = bottom};
    find_wall(times);
    if (page->timeless || (page->first > page->last && !times->wait_count)) {
        times->wait_count = times->mark_count = times->loss_count = 0;
        pf_flame_lanes_clear(&times->lanes);
        return true;
    }
    if (page->first > page->last) /* there are no samples with a time */
        page->base_ns = times->waits[0].from;
    if (times->stack_count)
        qsort(times->stacks, times->stack_count, sizeof(*times->stacks), compare_stacks);
    pf_map_open(&threads.last, bottom->allocator);
    const bool fine =
        list_threads(&threads) && end_waits(times, filter, &threads, page) && end_parallel(times, filter, page);
    if (fine) {
        end_marks(times, &threads, page);
        end_lanes(times, filter, &threads, page);
    }
    pf_map_close(&threads.last);
    pf_free(bottom->allocator, threads.before, threads.capacity * sizeof(*threads.before));
    return fine;
}
