/* SPDX-License-Identifier: MIT */
#include "analysis/events/locks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/events/advice.h"
#include "base/counted.h"
#include "base/locale.h"
#include "platform/platform.h"

struct pf_lock_wait {
    uint64_t start, order;
    uint32_t cpu, row;
    bool active;
    bool ignored; /* it began, but was not asked for */
};

enum required {
#define PF_LOCKS(id, ...) id,
#include "analysis/events/events.def"
};
enum { LOCK, FLAGS, NAME = 1 };

static const struct pf_required_event required[] = {
#define PF_LOCKS PF_REQUIRED_EVENT
#include "analysis/events/events.def"
};
const struct pf_required_events pf_locks_events = {required, PF_COUNT(required)};

bool pf_locks_by_parse(const char *text, enum pf_locks_by *by)
{
    static const char *const names[] = {"caller", "lock", "thread"};
    const int found = pf_sort_number(names, PF_COUNT(names), text);
    *by = found < 0 ? PF_LOCKS_BY_CALLER : (enum pf_locks_by)found;
    return found >= 0;
}

void pf_locks_open(struct pf_locks *locks, struct perfile_reader *reader, const struct perfile_event_options *options,
                   const struct perfile_allocator *allocator)
{
    *locks = (struct pf_locks){.reader = reader, .options = options, .allocator = allocator};
    pf_bound_events_open(&locks->events, reader, &pf_locks_events, allocator);
    pf_event_losses_open(&locks->losses, allocator);
    pf_arena_open(&locks->arena, allocator);
    pf_pairs_open(&locks->waiting, allocator);
    pf_pairs_open(&locks->index, allocator);
}

static bool wants_names(const struct pf_locks *locks)
{
    return locks->by == PF_LOCKS_BY_LOCK || locks->options->locks;
}

void pf_locks_use(struct pf_locks *locks, struct pf_profile *profile)
{
    locks->profile = profile;
    if (profile && wants_names(locks))
        pf_symbols_take_data(pf_profile_symbols(profile));
}

void pf_locks_close(struct pf_locks *locks)
{
    if (!locks->reader)
        return;
    pf_free(locks->allocator, locks->waits, locks->wait_capacity * sizeof(*locks->waits));
    pf_free(locks->allocator, locks->rows, locks->capacity * sizeof(*locks->rows));
    pf_bound_events_close(&locks->events);
    pf_event_losses_close(&locks->losses);
    pf_arena_close(&locks->arena);
    pf_pairs_close(&locks->waiting);
    pf_pairs_close(&locks->index);
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

static const struct {
    uint32_t flags;
    const char *name, *with_mode;
} types[] = {
    {0, "semaphore", "semaphore"}, {1, "spinlock", "spinlock"},    {3, "rwlock", "rwlock:R"},
    {5, "rwlock", "rwlock:W"},     {2, "rwsem", "rwsem:R"},        {4, "rwsem", "rwsem:W"},
    {8, "rt-mutex", "rt-mutex"},   {18, "pcpu-sem", "pcpu-sem:R"}, {20, "pcpu-sem", "pcpu-sem:W"},
    {32, "mutex", "mutex"},        {33, "mutex", "mutex"},
};

const char *pf_lock_type(uint32_t flags, bool with_mode)
{
    for (size_t i = 0; i < PF_COUNT(types); i++)
        if (types[i].flags == flags)
            return with_mode ? types[i].with_mode : types[i].name;
    return "unknown";
}

static bool is_type(const char *text, size_t bytes, const void *state)
{
    const uint32_t flags = *(const uint32_t *)state;
    const char *names[] = {pf_lock_type(flags, false), pf_lock_type(flags, true)};
    for (size_t i = 0; i < PF_COUNT(names); i++)
        if (strlen(names[i]) == bytes && strncmp(text, names[i], bytes) == 0)
            return true;
    return false;
}

/* Whether one of the list is; true of no list. */
static bool any_of(const char *list, bool (*is)(const char *text, size_t bytes, const void *state), const void *state)
{
    if (!list || !*list)
        return true;
    for (; *list; list += strspn(list, ", ")) {
        const size_t length = strcspn(list, ", ");
        if (length && is(list, length, state))
            return true;
        list += length;
    }
    return false;
}

/* ---- callers ----------------------------------------------------------------------------------------------------- */

static bool is_like(const char *name, const char *const *patterns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (pf_glob_matches(patterns[i], name, false))
            return true;
    return false;
}

static bool is_of_tracepoint(const char *name)
{
    static const char *const patterns[] = {"__traceiter_*", "trace_contention_*", "trace_lock_*", "__bpf_trace_*",
                                           "perf_trace_*"};
    return is_like(name, patterns, PF_COUNT(patterns));
}

/* Where nothing is known of the kernel's sections. */
static bool is_lock_name(const char *name)
{
    static const char *const patterns[] = {
        "down",
        "down_*",
        "__down*",
        "up",
        "up_read*",
        "up_write*",
        "__up*",
        "rwsem_*",
        "__rwsem_*",
        "mutex_*lock*",
        "__mutex_*",
        "ww_mutex_*",
        "__ww_mutex_*",
        "rt_mutex_*",
        "__rt_mutex_*",
        "rt_read_lock*",
        "rt_write_lock*",
        "rt_spin_*",
        "rtlock_*",
        "_raw_spin_*",
        "_raw_read_*",
        "_raw_write_*",
        "__raw_spin_*",
        "do_raw_spin_*",
        "do_raw_read_*",
        "do_raw_write_*",
        "native_queued_*",
        "queued_spin_*",
        "queued_read_*",
        "queued_write_*",
        "__pv_queued_*",
        "pv_queued_*",
        "percpu_down_*",
        "percpu_up_*",
        "__percpu_*",
        "percpu_rwsem_*",
        "osq_lock*",
        "schedule",
        "__schedule",
        "schedule_*",
        "preempt_schedule*",
        "__cond_resched*",
        "lock_acquire*",
        "lock_contended*",
        "lock_acquired*",
        "resilient_*",
        "rqspinlock*",
    };
    return is_like(name, patterns, PF_COUNT(patterns));
}

/* Functions of locks themselves, and of the tracepoint: the caller of a lock is the function that called these. */
static bool is_lock_code(const struct pf_locks *locks, const struct pf_frame_info *frame)
{
    if (!frame->name || is_of_tracepoint(frame->name))
        return frame->name;
    const struct pf_module *module = pf_symbols_module(pf_profile_symbols(locks->profile), frame->module);
    if (!module || !module->table || !module->table->sections[PF_TEXT_SCHED].end)
        return is_lock_name(frame->name);
    const uint64_t address = pf_frame_address(frame)->table_address;
    for (unsigned i = 0; i < PF_TEXT_SECTIONS; i++)
        if (address >= module->table->sections[i].start && address < module->table->sections[i].end)
            return true;
    return false;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

struct caller {
    uint64_t key, ip;
    uint32_t frame; /* PF_NO_FRAME: none */
};

/* Adds a frame. The first one after those of the lock is the caller. */
static void take_frame(const struct pf_locks *locks, struct caller *caller, uint64_t ip, bool of_kernel)
{
    const uint32_t frame = of_kernel || !caller->ip ? pf_profile_frame_at(locks->profile, ip) : PF_NO_FRAME;
    const struct pf_frame_info *info = frame == PF_NO_FRAME ? NULL : pf_profile_frame(locks->profile, frame);
    if (of_kernel && info && is_lock_code(locks, info))
        return;
    caller->key = mix(caller->key, ip);
    if (!caller->ip) {
        caller->ip = ip;
        caller->frame = frame;
    }
}

static struct caller find_caller(struct pf_locks *locks, const struct perfile_sample *sample)
{
    const struct perfile_u64s *chain = &sample->callchain;
    struct caller caller = {.frame = PF_NO_FRAME};
    bool of_kernel = true;
    uint64_t frames = 0;
    if (!(sample->present & PERFILE_SAMPLE_CALLCHAIN))
        return caller;
    locks->has_stacks = true;
    const struct perfile_event_options *options = locks->options;
    const uint64_t max = options->stack_depth ? options->stack_depth : PF_LOCK_STACK;
    for (uint64_t i = 0; i < chain->count && frames < max; i++) {
        const uint64_t ip = perfile_u64_at(chain, i);
        if (ip >= PERFILE_CONTEXT_MAX)
            of_kernel = ip != PERFILE_CONTEXT_USER;
        else if (frames++ >= options->stack_skip)
            take_frame(locks, &caller, ip, of_kernel);
    }
    return caller;
}

static bool name_caller(struct pf_locks *locks, struct pf_lock_row *row, const struct caller *caller)
{
    const struct pf_frame_info *info =
        caller->frame == PF_NO_FRAME ? NULL : pf_profile_frame(locks->profile, caller->frame);
    char text[256];
    row->caller = caller->ip;
    if (!caller->ip)
        return true;
    if (info && info->name) {
        snprintf(text, sizeof(text), "%s+0x%" PRIx64, info->name, info->address);
        row->function = pf_arena_text(&locks->arena, info->name, strlen(info->name));
    } else {
        snprintf(text, sizeof(text), "0x%" PRIx64, caller->ip);
    }
    row->name = pf_arena_text(&locks->arena, text, strlen(text));
    return row->name;
}

/* ---- filters ----------------------------------------------------------------------------------------------------- */

/* What an event says. */
struct notify {
    const struct pf_profile_sample *sample;
    uint64_t lock;
    uint32_t flags;
    char name[96];
};

/* The kernel's variable that the lock is, or is in. */
static void name_variable(const struct pf_locks *locks, struct notify *notify)
{
    const uint32_t frame = pf_profile_frame_at(locks->profile, notify->lock);
    const struct pf_frame_info *info = frame == PF_NO_FRAME ? NULL : pf_profile_frame(locks->profile, frame);
    if (info && info->name)
        snprintf(notify->name, sizeof(notify->name), "%s", info->name);
}

static bool is_lock(const char *text, size_t bytes, const void *state)
{
    const struct notify *notify = state;
    char *end;
    const uint64_t address = strtoull(text, &end, 0);
    if (end == text + bytes)
        return address == notify->lock;
    return strlen(notify->name) == bytes && strncmp(text, notify->name, bytes) == 0;
}

static bool is_in_name(const char *text, size_t bytes, const void *state)
{
    for (const char *name = state; *name; name++)
        if (strncmp(name, text, bytes) == 0)
            return true;
    return false;
}

/* Functions of the kernel in the stack are looked for. */
static bool is_called(struct pf_locks *locks, const struct perfile_sample *sample)
{
    const struct perfile_u64s *chain = &sample->callchain;
    if (!locks->options->callers || !*locks->options->callers)
        return true;
    for (uint64_t i = 0; sample->present & PERFILE_SAMPLE_CALLCHAIN && i < chain->count; i++) {
        const uint64_t ip = perfile_u64_at(chain, i);
        if (ip == PERFILE_CONTEXT_USER)
            break;
        const uint32_t frame = ip < PERFILE_CONTEXT_MAX ? pf_profile_frame_at(locks->profile, ip) : PF_NO_FRAME;
        const struct pf_frame_info *info = frame == PF_NO_FRAME ? NULL : pf_profile_frame(locks->profile, frame);
        if (info && info->name && any_of(locks->options->callers, is_in_name, info->name))
            return true;
    }
    return false;
}

static bool is_wanted(struct pf_locks *locks, const struct notify *notify)
{
    return any_of(locks->options->classes, is_type, &notify->flags) && any_of(locks->options->locks, is_lock, notify) &&
           is_called(locks, notify->sample->decoded);
}

/* ---- waits ------------------------------------------------------------------------------------------------------- */

static uint32_t add_row(struct pf_locks *locks, const struct notify *notify, const struct caller *caller, uint64_t key)
{
    struct pf_lock_row *row = pf_arena_new(&locks->arena, sizeof(*row));
    if (!row || !pf_grow(locks->allocator, &locks->rows, &locks->capacity, locks->count + 1, sizeof(*locks->rows)) ||
        !pf_pairs_put(&locks->index, key, 0, (uint32_t)locks->count))
        return UINT32_MAX;
    *row = (struct pf_lock_row){.key = key,
                                .lock = notify->lock,
                                .flags = notify->flags,
                                .pid = notify->sample->pid,
                                .tid = notify->sample->tid,
                                .comm = notify->sample->comm};
    if (locks->by == PF_LOCKS_BY_CALLER
            ? !name_caller(locks, row, caller)
            : *notify->name && !(row->name = pf_arena_text(&locks->arena, notify->name, strlen(notify->name))))
        return UINT32_MAX;
    locks->rows[locks->count] = row;
    return (uint32_t)locks->count++;
}

/* UINT32_MAX: out of memory. */
static uint32_t find_row(struct pf_locks *locks, const struct notify *notify)
{
    struct caller caller = {.frame = PF_NO_FRAME};
    uint64_t key = notify->lock;
    uint32_t row;
    if (locks->by == PF_LOCKS_BY_THREAD)
        key = (uint32_t)notify->sample->tid;
    if (locks->by == PF_LOCKS_BY_CALLER) {
        caller = find_caller(locks, notify->sample->decoded);
        key = caller.key;
    }
    return pf_pairs_get(&locks->index, key, 0, &row) ? row : add_row(locks, notify, &caller, key);
}

/* NULL: out of memory. */
static struct pf_lock_wait *find_wait(struct pf_locks *locks, const struct notify *notify)
{
    const uint64_t tid = (uint32_t)notify->sample->tid;
    uint32_t position;
    if (pf_pairs_get(&locks->waiting, tid, notify->lock, &position))
        return &locks->waits[position];
    if (!pf_grow(locks->allocator, &locks->waits, &locks->wait_capacity, locks->wait_count + 1,
                 sizeof(*locks->waits)) ||
        !pf_pairs_put(&locks->waiting, tid, notify->lock, (uint32_t)locks->wait_count))
        return NULL;
    locks->waits[locks->wait_count] = (struct pf_lock_wait){.row = UINT32_MAX};
    return &locks->waits[locks->wait_count++];
}

/* A wait that begins again while it lasts, as those of mutexes do after spinning, goes on. */
static bool begin_wait(struct pf_locks *locks, const struct notify *notify)
{
    struct pf_lock_wait *wait = find_wait(locks, notify);
    if (!wait || wait->active)
        return wait;
    wait->ignored = !is_wanted(locks, notify);
    if (wait->ignored)
        return true;
    const uint32_t row = find_row(locks, notify);
    if (row == UINT32_MAX)
        return false;
    *wait = (struct pf_lock_wait){.start = notify->sample->time,
                                  .order = locks->losses.order,
                                  .cpu = notify->sample->has_cpu ? notify->sample->cpu : UINT32_MAX,
                                  .row = row,
                                  .active = true};
    locks->rows[row]->contended++;
    return true;
}

static bool end_wait(struct pf_locks *locks, const struct notify *notify)
{
    struct pf_lock_wait *wait = find_wait(locks, notify);
    if (!wait)
        return false;
    if (!wait->active || notify->sample->time < wait->start) {
        locks->ends_alone += !wait->ignored;
        return true;
    }
    struct pf_lock_row *row = locks->rows[wait->row];
    const uint64_t time = notify->sample->time - wait->start;
    const uint32_t cpu = notify->sample->has_cpu ? notify->sample->cpu : UINT32_MAX;
    pf_stats_add(&row->waits, time);
    pf_histogram_add(&row->histogram, time);
    row->uncertain += pf_event_losses_since(&locks->losses, wait->order, wait->cpu, cpu);
    wait->active = false;
    return true;
}

bool pf_locks_take_record(void *state, const struct perfile_record *record)
{
    struct pf_locks *locks = state;
    return pf_event_losses_take(&locks->losses, locks->reader, record);
}

bool pf_locks_take(struct pf_locks *locks, const struct pf_profile_sample *sample)
{
    const struct pf_event_fields *event = pf_events_find(&locks->events, sample->event);
    struct notify notify = {.sample = sample};
    uint64_t flags = 0;
    locks->losses.order++;
    locks->last_time = sample->time;
    if (!event || !pf_event_number(&locks->events, event, LOCK, &sample->decoded->raw, &notify.lock))
        return true;
    const bool is_new = event->id == BEGIN || event->id == END;
    locks->has_new |= is_new;
    if (!is_new && locks->has_new)
        return true; /* both kinds would report each wait twice */
    if (event->id == BEGIN)
        pf_event_number(&locks->events, event, FLAGS, &sample->decoded->raw, &flags);
    notify.flags = (uint32_t)flags;
    if (!is_new)
        pf_event_text(&locks->events, event, NAME, &sample->decoded->raw, notify.name, sizeof(notify.name));
    if (!*notify.name && wants_names(locks))
        name_variable(locks, &notify);
    return event->id == BEGIN || event->id == CONTENDED ? begin_wait(locks, &notify) : end_wait(locks, &notify);
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

const struct pf_sort_names pf_lock_fields = {.names = {[PF_LOCK_CONTENDED] = "contended",
                                                       [PF_LOCK_TOTAL] = "wait_total",
                                                       [PF_LOCK_MAXIMUM] = "wait_max",
                                                       [PF_LOCK_MINIMUM] = "wait_min",
                                                       [PF_LOCK_AVERAGE] = "avg_wait",
                                                       [PF_LOCK_ACQUIRED] = "acquired"},
                                             .usual = "wait_total"};

int pf_locks_order(struct pf_locks *locks, const struct pf_sort_names *names, struct perfile_error *error)
{
    return pf_sort_keys_parse(&locks->keys, locks->options->sort, names, error);
}

uint64_t pf_lock_value(const struct pf_lock_row *row, enum pf_lock_field field)
{
    switch (field) {
    case PF_LOCK_ACQUIRED:
        return row->waits.count;
    case PF_LOCK_CONTENDED:
        return row->contended;
    case PF_LOCK_TOTAL:
        return row->waits.sum;
    case PF_LOCK_MAXIMUM:
        return row->waits.max;
    case PF_LOCK_MINIMUM:
        return row->waits.min;
    default:
        return pf_stats_average(&row->waits);
    }
}

static int by_field(unsigned field, const void *left, const void *right)
{
    return pf_sort_down(pf_lock_value(left, field), pf_lock_value(right, field));
}

static int compare(const void *left, const void *right, void *keys)
{
    const struct pf_lock_row *a = *(struct pf_lock_row *const *)left, *b = *(struct pf_lock_row *const *)right;
    int order = pf_sort_keys_compare(keys, a, b, by_field);
    order = order ? order : by_field(PF_LOCK_TOTAL, a, b);
    return order ? order : (a->key > b->key) - (a->key < b->key);
}

void pf_locks_end(struct pf_locks *locks)
{
    for (size_t i = 0; i < locks->wait_count; i++) {
        const struct pf_lock_wait *wait = &locks->waits[i];
        if (!wait->active)
            continue;
        struct pf_lock_row *row = locks->rows[wait->row];
        row->open++;
        row->open_ns = pf_max(row->open_ns, locks->last_time - pf_min(locks->last_time, wait->start));
    }
    for (size_t i = 0; locks->by == PF_LOCKS_BY_THREAD && i < locks->count; i++) {
        const char *comm = pf_profile_thread_comm(locks->profile, locks->rows[i]->tid);
        locks->rows[i]->comm = comm ? comm : locks->rows[i]->comm;
    }
    if (locks->count)
        pf_platform_sort(locks->rows, locks->count, sizeof(*locks->rows), compare, &locks->keys);
}

void pf_locks_notify(struct pf_locks *locks, pf_on_note *notify, void *context)
{
    char text[PF_COUNTED_BYTES];
    uint64_t open = 0, uncertain = 0;
    if (!notify)
        return;
    if (!pf_events_have(&locks->events, BEGIN) && !pf_events_have(&locks->events, CONTENDED)) {
        notify(context, "the recording has no events of locks; record with: " PF_RECORD_LOCKS);
        return;
    }
    if (locks->by == PF_LOCKS_BY_CALLER && locks->count && !locks->has_stacks)
        notify(context, "without callchains it is not known which code took the locks; record with: " PF_RECORD_LOCKS);
    for (size_t i = 0; i < locks->count; i++) {
        open += locks->rows[i]->open;
        uncertain += locks->rows[i]->uncertain;
    }
    const struct {
        uint64_t count;
        const char *what;
    } notes[] = {{open, "waits for locks that had not ended at the end are not in the sums"},
                 {locks->ends_alone, "waits for locks that ended without having started are not counted"},
                 {uncertain, "waits for locks around lost events may be several"}};
    for (size_t i = 0; i < PF_COUNT(notes); i++)
        if (notes[i].count)
            notify(context, pf_count_of(notes[i].count, notes[i].what, text));
}
