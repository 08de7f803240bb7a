/* SPDX-License-Identifier: MIT */
#include "model/lifetimes.h"

#include <stdlib.h>

#include "base/varint.h"

/* ---- kinds of records -------------------------------------------------------------------------------------------- */

enum pf_record_kind pf_record_kind(uint32_t type)
{
    static const uint8_t kinds[] = {
        [PERFILE_RECORD_MMAP] = PF_KIND_PROCESS,         [PERFILE_RECORD_LOST] = PF_KIND_MOMENT,
        [PERFILE_RECORD_COMM] = PF_KIND_PROCESS,         [PERFILE_RECORD_EXIT] = PF_KIND_PROCESS,
        [PERFILE_RECORD_THROTTLE] = PF_KIND_MOMENT,      [PERFILE_RECORD_UNTHROTTLE] = PF_KIND_MOMENT,
        [PERFILE_RECORD_FORK] = PF_KIND_PROCESS,         [PERFILE_RECORD_READ] = PF_KIND_RUNNING,
        [PERFILE_RECORD_MMAP2] = PF_KIND_PROCESS,        [PERFILE_RECORD_AUX] = PF_KIND_MOMENT,
        [PERFILE_RECORD_ITRACE_START] = PF_KIND_PROCESS, [PERFILE_RECORD_LOST_SAMPLES] = PF_KIND_MOMENT,
        [PERFILE_RECORD_SWITCH] = PF_KIND_RUNNING,       [PERFILE_RECORD_SWITCH_CPU_WIDE] = PF_KIND_RUNNING,
        [PERFILE_RECORD_NAMESPACES] = PF_KIND_PROCESS,   [PERFILE_RECORD_CALLCHAIN_DEFERRED] = PF_KIND_DEFERRED,
    };
    if (type == PERFILE_RECORD_AUXTRACE)
        return PF_KIND_AUX_DATA;
    if (type >= PERFILE_RECORD_HEADER_ATTR)
        return PF_KIND_OTHER;
    return type < PF_COUNT(kinds) && kinds[type] ? (enum pf_record_kind)kinds[type] : PF_KIND_STATE;
}

/* ---- what a record says ------------------------------------------------------------------------------------------ */

static bool is_task(uint32_t type)
{
    return type == PERFILE_RECORD_FORK || type == PERFILE_RECORD_EXIT;
}

/* All of them begin with pid and tid, but these with pid, ppid, tid, ptid. */
struct pf_life_note pf_life_note_of(const struct perfile_record *record, const union pf_any_record *body)
{
    const bool task = is_task(record->type);
    return (struct pf_life_note){
        .time = record->time,
        .type = record->type,
        .exec = record->type == PERFILE_RECORD_COMM && record->misc & PERFILE_MISC_COMM_EXEC,
        .pid = (uint32_t)(task ? body->fork.pid : body->mmap.pid),
        .tid = (uint32_t)(task ? body->fork.tid : body->mmap.tid),
        .ppid = task ? (uint32_t)body->fork.ppid : 0,
        .ptid = task ? (uint32_t)body->fork.ptid : 0,
    };
}

bool pf_life_note_is_of_thread(const struct pf_life_note *note)
{
    return note->tid != note->pid && (is_task(note->type) || note->type == PERFILE_RECORD_COMM);
}

/* ---- sets -------------------------------------------------------------------------------------------------------- */

enum { POSITIONS_MIN = 1024 };

static struct pf_life *find(const struct pf_life_set *set, uint32_t id)
{
    uint64_t position;
    return pf_map_get(&set->positions, id, &position) && position ? &set->items[position - 1] : NULL;
}

/* Rebuilds the map of positions without the ids of entries that were freed. */
static bool renew_positions(struct pf_lifetimes *lifetimes, struct pf_life_set *set)
{
    struct pf_map positions;
    bool enough = true;
    if (set->positions.used < POSITIONS_MIN || set->positions.used < 2 * set->used)
        return true;
    pf_map_open(&positions, lifetimes->allocator);
    for (size_t i = 0; i < set->count && enough; i++)
        enough = set->items[i].is_free || pf_map_put(&positions, set->items[i].id, i + 1);
    if (!enough) {
        pf_map_close(&positions);
        return false;
    }
    pf_map_close(&set->positions);
    set->positions = positions;
    return true;
}

/* NULL: `failed`. */
static struct pf_life *add(struct pf_lifetimes *lifetimes, struct pf_life_set *set, uint32_t id, uint64_t begin)
{
    const struct perfile_allocator *allocator = lifetimes->allocator;
    lifetimes->failed |= !renew_positions(lifetimes, set);
    if (!set->free_count) {
        lifetimes->failed |= !pf_grow(allocator, &set->items, &set->capacity, set->count + 1, sizeof(*set->items)) ||
                             !pf_grow(allocator, &set->free, &set->free_capacity, set->count + 1, sizeof(*set->free));
        if (lifetimes->failed)
            return NULL;
        set->items[set->count].is_free = true;
        set->free[set->free_count++] = (uint32_t)set->count++;
    }
    const uint32_t position = set->free[set->free_count - 1];
    lifetimes->failed |= !pf_map_put(&set->positions, id, (uint64_t)position + 1);
    if (lifetimes->failed)
        return NULL;
    set->free_count--;
    set->used++;
    set->items[position] = (struct pf_life){.id = id, .begin = begin, .end = UINT64_MAX};
    return &set->items[position];
}

static void take_out(struct pf_life_set *set, struct pf_life *life)
{
    (void)pf_map_put(&set->positions, life->id, 0); /* the key is there already */
    life->is_free = true;
    set->free[set->free_count++] = (uint32_t)(life - set->items);
    set->used--;
}

/* Removes the link to `up`. An `up` that was kept only for this last heir is removed with its own link, and so on. */
static void disinherit(struct pf_life_set *set, struct pf_life *life)
{
    while (life && life->has_up) {
        struct pf_life *up = find(set, life->up);
        life->has_up = false;
        if (up && --up->heirs == 0 && up->late && up != life)
            take_out(set, up);
        else
            up = NULL;
        life = up;
    }
}

static void inherit(struct pf_life_set *set, struct pf_life *life, uint32_t id)
{
    struct pf_life *up = find(set, id);
    if (up && up->heirs < UINT32_MAX)
        up->heirs++; /* before another one is left, which may be the same */
    disinherit(set, life);
    life->has_up = up != NULL;
    life->up = id;
}

/* Nothing of it is alive; since when is not known where records have no times: then it is never over. */
static void note_end(struct pf_lifetimes *lifetimes, struct pf_life_set *set, struct pf_life *life, uint64_t time)
{
    life->end = time ? time : UINT64_MAX;
    if (life->end == UINT64_MAX)
        return;
    if (set->first_end == set->end_count)
        set->first_end = set->end_count = 0;
    lifetimes->failed |=
        !pf_grow(lifetimes->allocator, &set->ends, &set->end_capacity, set->end_count + 1, sizeof(*set->ends));
    if (!lifetimes->failed)
        set->ends[set->end_count++] = (struct pf_life_end){time, life->id};
}

static void discard(struct pf_life_set *set, uint32_t id, uint64_t end)
{
    struct pf_life *life = find(set, id);
    if (!life || life->alive || life->end != end)
        return; /* it lives again */
    life->late = true;
    if (life->heirs)
        return;
    disinherit(set, life);
    take_out(set, life);
}

static void advance(struct pf_life_set *set, uint64_t now)
{
    enum { ENDS_MIN = 256 };
    while (set->first_end < set->end_count && set->ends[set->first_end].time < now &&
           now - set->ends[set->first_end].time > PF_LATE_NS) {
        const struct pf_life_end end = set->ends[set->first_end++];
        discard(set, end.id, end.time);
    }
    if (set->first_end < ENDS_MIN || set->first_end < set->end_count / 2)
        return;
    set->end_count -= set->first_end;
    memmove(set->ends, set->ends + set->first_end, set->end_count * sizeof(*set->ends));
    set->first_end = 0;
}

static void open_set(struct pf_lifetimes *lifetimes, struct pf_life_set *set)
{
    *set = (struct pf_life_set){.items = NULL};
    pf_map_open(&set->positions, lifetimes->allocator);
}

static void close_set(struct pf_lifetimes *lifetimes, struct pf_life_set *set)
{
    pf_map_close(&set->positions);
    pf_free(lifetimes->allocator, set->items, set->capacity * sizeof(*set->items));
    pf_free(lifetimes->allocator, set->free, set->free_capacity * sizeof(*set->free));
    pf_free(lifetimes->allocator, set->ends, set->end_capacity * sizeof(*set->ends));
}

/* ---- lifetimes -------------------------------------------------------------------------------------------------- */

void pf_lifetimes_open(struct pf_lifetimes *lifetimes, const struct perfile_allocator *allocator)
{
    *lifetimes = (struct pf_lifetimes){.allocator = allocator};
    open_set(lifetimes, &lifetimes->threads);
    open_set(lifetimes, &lifetimes->processes);
}

void pf_lifetimes_close(struct pf_lifetimes *lifetimes)
{
    if (!lifetimes->allocator) /* never opened */
        return;
    close_set(lifetimes, &lifetimes->threads);
    close_set(lifetimes, &lifetimes->processes);
}

void pf_lifetimes_advance(struct pf_lifetimes *lifetimes, uint64_t now)
{
    if (lifetimes->keeps_ended)
        return;
    advance(&lifetimes->threads, now);
    advance(&lifetimes->processes, now);
}

static void end_thread(struct pf_lifetimes *lifetimes, struct pf_life *thread, uint64_t time)
{
    struct pf_life *process = find(&lifetimes->processes, thread->of);
    thread->alive = 0;
    if (process && process->alive && --process->alive == 0)
        note_end(lifetimes, &lifetimes->processes, process, time);
}

/* Marks the thread as alive and as one of this process. Returns NULL when out of memory (`failed`). */
static struct pf_life *see(struct pf_lifetimes *lifetimes, const struct pf_life_note *note, uint32_t pid, uint32_t tid)
{
    struct pf_life *thread = find(&lifetimes->threads, tid), *process = find(&lifetimes->processes, pid);
    if (thread && thread->alive && thread->of == pid)
        return thread;
    thread = thread ? thread : add(lifetimes, &lifetimes->threads, tid, note->time);
    process = process ? process : add(lifetimes, &lifetimes->processes, pid, note->time);
    if (lifetimes->failed)
        return NULL;
    if (thread->alive)
        end_thread(lifetimes, thread, note->time); /* of the other process */
    thread->of = pid;
    thread->alive = 1;
    process->alive++;
    thread->late = process->late = false;
    thread->end = process->end = UINT64_MAX;
    return thread;
}

static void follow_fork(struct pf_lifetimes *lifetimes, const struct pf_life_note *note)
{
    if (!find(&lifetimes->threads, note->ptid) || !find(&lifetimes->processes, note->ppid))
        (void)see(lifetimes, note, note->ppid, note->ptid);
    struct pf_life *thread = lifetimes->failed ? NULL : see(lifetimes, note, note->pid, note->tid);
    if (!thread)
        return;
    if (note->tid != note->ptid)
        inherit(&lifetimes->threads, thread, note->ptid);
    if (note->pid != note->ppid)
        inherit(&lifetimes->processes, find(&lifetimes->processes, note->pid), note->ppid);
}

static void follow_comm(struct pf_lifetimes *lifetimes, const struct pf_life_note *note)
{
    struct pf_life *thread = see(lifetimes, note, note->pid, note->tid);
    if (!thread)
        return;
    disinherit(&lifetimes->threads, thread);
    if (note->exec)
        disinherit(&lifetimes->processes, find(&lifetimes->processes, note->pid));
}

static void follow_exit(struct pf_lifetimes *lifetimes, const struct pf_life_note *note)
{
    struct pf_life *thread = find(&lifetimes->threads, note->tid);
    if (!thread || !thread->alive)
        return;
    end_thread(lifetimes, thread, note->time);
    note_end(lifetimes, &lifetimes->threads, thread, note->time);
}

void pf_lifetimes_follow(struct pf_lifetimes *lifetimes, const struct pf_life_note *note)
{
    if (lifetimes->failed)
        return;
    pf_lifetimes_advance(lifetimes, note->time);
    if (note->type == PERFILE_RECORD_FORK)
        follow_fork(lifetimes, note);
    else if (note->type == PERFILE_RECORD_COMM)
        follow_comm(lifetimes, note);
    else if (note->type == PERFILE_RECORD_EXIT)
        follow_exit(lifetimes, note);
    else if (!find(&lifetimes->threads, note->tid) || !find(&lifetimes->processes, note->pid))
        (void)see(lifetimes, note, note->pid, note->tid);
}

const struct pf_life *pf_lifetimes_thread(const struct pf_lifetimes *lifetimes, uint32_t tid)
{
    return find(&lifetimes->threads, tid);
}

const struct pf_life *pf_lifetimes_process(const struct pf_lifetimes *lifetimes, uint32_t pid)
{
    return find(&lifetimes->processes, pid);
}

bool pf_lifetimes_matters(const struct pf_lifetimes *lifetimes, const struct pf_life_note *note)
{
    if ((int32_t)note->pid <= 0)
        return true;
    const struct pf_life *process = find(&lifetimes->processes, note->pid);
    if (!process || note->time < process->begin)
        return false;
    if (!pf_life_note_is_of_thread(note))
        return true;
    const struct pf_life *thread = find(&lifetimes->threads, note->tid);
    return thread && note->time >= thread->begin;
}

/* ---- as bytes ---------------------------------------------------------------------------------------------------- */

/* Whether it has an `up` is in the last bit of the number before; its times count from the one before. */
static void put_life(struct pf_text *text, const struct pf_life *life, uint64_t *time)
{
    uint8_t *at = (uint8_t *)pf_text_reserve(text, 6 * PF_LEB128_BYTES);
    at = pf_leb128_put(at, (uint64_t)life->id << 2 | (uint64_t)(life->alive == 0) << 1 | life->has_up);
    at = pf_leb128_put(at, pf_zigzag((int32_t)(life->of - life->id)));
    at = pf_leb128_put(at, pf_zigzag((int64_t)(life->begin - *time)));
    if (life->has_up)
        at = pf_leb128_put(at, pf_zigzag((int32_t)(life->up - life->id)));
    if (!life->alive)
        at = pf_leb128_put(at, life->end - life->begin);
    pf_text_commit(text, (char *)at);
    *time = life->begin;
}

static void put_set(const struct pf_life_set *set, struct pf_text *text)
{
    uint64_t time = 0;
    char *at = pf_text_reserve(text, PF_LEB128_BYTES);
    pf_text_commit(text, (char *)pf_leb128_put((uint8_t *)at, set->used));
    for (size_t i = 0; i < set->count; i++)
        if (!set->items[i].is_free)
            put_life(text, &set->items[i], &time);
}

void pf_lifetimes_put(const struct pf_lifetimes *lifetimes, struct pf_text *text)
{
    put_set(&lifetimes->processes, text);
    put_set(&lifetimes->threads, text);
}

/* Reads one entry. Links to `up` are resolved by join when all entries are there. */
static bool take_life(struct pf_lifetimes *lifetimes, struct pf_life_set *set, const uint8_t **at, const uint8_t *end,
                      uint64_t *time)
{
    uint64_t id, of, begin, up = 0, lasted = 0;
    if (!pf_leb128_take(at, end, &id) || !pf_leb128_take(at, end, &of) || !pf_leb128_take(at, end, &begin) ||
        (id & 1 && !pf_leb128_take(at, end, &up)) || (id & 2 && !pf_leb128_take(at, end, &lasted)) ||
        find(set, (uint32_t)(id >> 2)))
        return false;
    *time += (uint64_t)pf_unzigzag(begin);
    struct pf_life *life = add(lifetimes, set, (uint32_t)(id >> 2), *time);
    if (!life)
        return false;
    life->of = life->id + (uint32_t)pf_unzigzag(of);
    life->has_up = id & 1;
    life->up = life->id + (uint32_t)pf_unzigzag(up);
    life->alive = !(id & 2);
    life->end = life->alive ? UINT64_MAX : *time + lasted;
    return true;
}

static bool take_set(struct pf_lifetimes *lifetimes, struct pf_life_set *set, const uint8_t **at, const uint8_t *end)
{
    uint64_t count, time = 0;
    if (!pf_leb128_take(at, end, &count))
        return false;
    while (count && take_life(lifetimes, set, at, end, &time))
        count--;
    return !count;
}

static int compare_ends(const void *left, const void *right)
{
    const struct pf_life_end *a = left, *b = right;
    return PF_COMPARE(a->time, b->time) ?: PF_COMPARE(a->id, b->id);
}

/* Computes what follows from all entries: the numbers of heirs, and the order in which threads and processes ended. */
static void join(struct pf_lifetimes *lifetimes, struct pf_life_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        struct pf_life *life = &set->items[i], *up = life->has_up ? find(set, life->up) : NULL;
        life->has_up = up != NULL;
        if (up)
            up->heirs++;
        if (!life->alive)
            note_end(lifetimes, set, life, life->end);
    }
    if (set->end_count)
        qsort(set->ends, set->end_count, sizeof(*set->ends), compare_ends);
}

static void count_threads(struct pf_lifetimes *lifetimes)
{
    for (size_t i = 0; i < lifetimes->processes.count; i++)
        lifetimes->processes.items[i].alive = 0;
    for (size_t i = 0; i < lifetimes->threads.count; i++) {
        struct pf_life *process = find(&lifetimes->processes, lifetimes->threads.items[i].of);
        if (process)
            process->alive += lifetimes->threads.items[i].alive;
    }
}

bool pf_lifetimes_take(struct pf_lifetimes *lifetimes, const uint8_t **at, const uint8_t *end)
{
    if (!take_set(lifetimes, &lifetimes->processes, at, end) || !take_set(lifetimes, &lifetimes->threads, at, end))
        return false;
    count_threads(lifetimes);
    join(lifetimes, &lifetimes->processes);
    join(lifetimes, &lifetimes->threads);
    return !lifetimes->failed;
}
