/* SPDX-License-Identifier: MIT */
/* Finds how processes are related, and which threads live when a cut begins. */
#include <stdlib.h>

#include "edit/cut.h"

#include "base/sort.h"

enum { NOTES_MAX = 1 << 20 };

void pf_cut_living_open(struct pf_cut_living *living, const struct perfile_allocator *allocator)
{
    living->allocator = allocator;
    pf_lifetimes_open(&living->lifetimes, allocator);
    pf_map_open(&living->sampled, allocator);
    pf_map_open(&living->named, allocator);
}

void pf_cut_living_close(struct pf_cut_living *living)
{
    if (!living->allocator)
        return;
    pf_lifetimes_close(&living->lifetimes);
    pf_history_close(&living->history);
    pf_map_close(&living->sampled);
    pf_map_close(&living->named);
    pf_free(living->allocator, living->notes, living->note_capacity * sizeof(*living->notes));
}

/* ---- parents of threads ---- */

static bool put_fork(struct pf_cut_count *count, const struct pf_cut_fork *fork)
{
    uint32_t found;
    const uint64_t child = (uint32_t)fork->child, parent = (uint32_t)fork->parent;
    if (pf_pairs_get(&count->forked, child, parent, &found))
        return true;
    if (count->fork_count >= UINT32_MAX ||
        !pf_grow(count->allocator, &count->forks, &count->fork_capacity, count->fork_count + 1,
                 sizeof(*count->forks)) ||
        !pf_pairs_put(&count->forked, child, parent, (uint32_t)count->fork_count))
        return false;
    count->forks[count->fork_count++] = *fork;
    return true;
}

bool pf_cut_add_fork(struct pf_cut *cut, const struct perfile_record *record, const struct perfile_fork *fork)
{
    const struct pf_cut_fork made = {.child = fork->pid, .parent = fork->ppid};
    const bool reported = cut->drops_ended && record->time < cut->first_time; /* by its life */
    return reported || fork->pid == fork->ppid || put_fork(&cut->count, &made);
}

static int compare_forks(const void *left, const void *right)
{
    const struct pf_cut_fork *a = left, *b = right;
    return PF_COMPARE(a->child, b->child);
}

static void sort_forks(struct pf_cut_count *count)
{
    if (count->fork_count)
        qsort(count->forks, count->fork_count, sizeof(*count->forks), compare_forks);
}

/* The first of a child. */
static size_t first_fork(const struct pf_cut_count *count, int32_t child)
{
    return PF_COUNT_BEFORE(count->fork_count, i, count->forks[i].child < child);
}

/* Links the parent of a process; that of a process from before the first time that passes is in its lifetime. */
static bool link_maker(struct pf_cut *cut, const struct pf_cut_link *link)
{
    const struct pf_life *life =
        cut->drops_ended ? pf_lifetimes_process(&cut->living.lifetimes, (uint32_t)link->pid) : NULL;
    return !life || !life->has_up || (int32_t)life->up <= 0 ||
           pf_cut_add_link(&cut->count, (int32_t)life->up, link->part);
}

/*
 * Links parents. A process begins with the maps of its parent, so that a part with the one needs the other. New links
 * are handled in turn.
 */
bool pf_cut_link_parents(struct pf_cut *cut)
{
    sort_forks(&cut->count);
    for (size_t i = 0; i < cut->count.link_count; i++) {
        const struct pf_cut_link link = cut->count.links[i];
        if (!link_maker(cut, &link))
            return false;
        for (size_t at = first_fork(&cut->count, link.pid);
             at < cut->count.fork_count && cut->count.forks[at].child == link.pid; at++)
            if (!pf_cut_add_link(&cut->count, cut->count.forks[at].parent, link.part))
                return false;
    }
    return true;
}

/* ---- living threads ---- */

static int compare_notes(const void *left, const void *right)
{
    const struct pf_cut_note *a = left, *b = right;
    return PF_COMPARE(a->note.time, b->note.time) ?: PF_COMPARE(a->number, b->number);
}

/* A filter by time keeps samples without a time, whenever they are; a stream reports its events before all else. */
bool pf_cut_have_times(const struct pf_cut *cut)
{
    bool have = true;
    for (size_t i = 0; i < cut->reader->event_count; i++)
        have &= (cut->reader->events[i]->public.attr->sample_type & PERFILE_SAMPLE_TIME) != 0;
    return have;
}

/* Those up to this time have their turn. False when out of memory. */
static bool follow_notes(struct pf_cut *cut, uint64_t limit)
{
    size_t done = 0;
    cut->living.lifetimes.keeps_ended = !pf_cut_have_times(cut);
    if (cut->living.note_count)
        qsort(cut->living.notes, cut->living.note_count, sizeof(*cut->living.notes), compare_notes);
    for (; done < cut->living.note_count && cut->living.notes[done].note.time <= limit; done++)
        pf_lifetimes_follow(&cut->living.lifetimes, &cut->living.notes[done].note);
    cut->living.note_count -= done;
    if (done)
        memmove(cut->living.notes, cut->living.notes + done, cut->living.note_count * sizeof(*cut->living.notes));
    return !cut->living.lifetimes.failed;
}

/* What has no time was there from the start. */
static bool note_life(struct pf_cut *cut, const struct pf_life_note *note)
{
    if (!note->time) {
        pf_lifetimes_follow(&cut->living.lifetimes, note);
        return !cut->living.lifetimes.failed;
    }
    if (!PF_APPEND(cut->allocator, cut->living.notes, cut->living.note_count, cut->living.note_capacity,
                   (struct pf_cut_note){*note, cut->living.notes_made++}))
        return false;
    return cut->living.note_count < NOTES_MAX || follow_notes(cut, UINT64_MAX);
}

/* Links the processes of a record from the first time that passes on, and notes the lifetimes before that. */
bool pf_cut_note_process(struct pf_cut *cut, const struct pf_item *item, const int32_t pids[2])
{
    const struct perfile_record *record = item->record;
    if (record->time >= cut->first_time)
        return (pids[0] <= 0 || pf_cut_add_link(&cut->count, pids[0], 0)) &&
               (pids[1] <= 0 || pf_cut_add_link(&cut->count, pids[1], 0));
    if (pf_record_kind(record->type) != PF_KIND_PROCESS || pf_history_knows(&cut->living.history, record))
        return true;
    const struct pf_life_note note = pf_life_note_of(record, &item->body);
    return note_life(cut, &note);
}

bool pf_cut_note_round(struct pf_cut *cut, const struct perfile_record *record)
{
    if (PF_LIKELY(record->type != PERFILE_RECORD_FINISHED_ROUND)) {
        if (record->time != UINT64_MAX && record->type < PERFILE_RECORD_HEADER_ATTR)
            cut->living.seen_time = pf_max(cut->living.seen_time, record->time);
        return true;
    }
    const uint64_t settled = cut->living.round_time;
    cut->living.round_time = cut->living.seen_time;
    return follow_notes(cut, settled);
}

bool pf_cut_note_thread(struct pf_cut *cut, int32_t pid, int32_t tid)
{
    if (!cut->drops_ended || tid == pid || tid == cut->living.last_sampled)
        return true;
    cut->living.last_sampled = tid;
    return pf_map_put(&cut->living.sampled, (uint32_t)tid, 0);
}

/* Adds the thread to `named`, and the threads from which it inherited its name. */
static bool name(struct pf_cut_living *living, uint32_t tid)
{
    const struct pf_life *thread;
    uint64_t known;
    while (!pf_map_get(&living->named, tid, &known)) {
        if (!pf_map_put(&living->named, tid, 0))
            return false;
        thread = pf_lifetimes_thread(&living->lifetimes, tid);
        if (!thread || !thread->has_up)
            break;
        tid = thread->up;
    }
    return true;
}

bool pf_cut_link_living(struct pf_cut *cut)
{
    const struct pf_life_set *threads = &cut->living.lifetimes.threads;
    if (!cut->drops_ended)
        return true;
    bool enough = follow_notes(cut, UINT64_MAX);
    pf_lifetimes_advance(&cut->living.lifetimes, cut->first_time);
    for (size_t i = 0; i < threads->count && enough; i++) {
        const struct pf_life *thread = &threads->items[i];
        if (!thread->is_free && thread->alive)
            enough = name(&cut->living, thread->id) &&
                     ((int32_t)thread->of <= 0 || pf_cut_add_link(&cut->count, (int32_t)thread->of, 0));
    }
    for (size_t i = 0; i < cut->living.sampled.size && enough; i++)
        enough = !cut->living.sampled.slots[i].value || name(&cut->living, (uint32_t)cut->living.sampled.slots[i].key);
    return enough;
}

bool pf_cut_is_over(const struct pf_cut *cut, const struct pf_item *item)
{
    const struct perfile_record *record = item->record;
    uint64_t known;
    if (!cut->drops_ended || record->time >= cut->first_time || pf_record_kind(record->type) != PF_KIND_PROCESS)
        return false;
    const struct pf_life_note note = pf_life_note_of(record, &item->body);
    return !pf_lifetimes_matters(&cut->living.lifetimes, &note) ||
           (pf_life_note_is_of_thread(&note) && !pf_map_get(&cut->living.named, note.tid, &known));
}
