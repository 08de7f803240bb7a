/* SPDX-License-Identifier: MIT */
/* Who is related to whom, and who lives when a cut begins. */
#include <stdlib.h>

#include "base/error.h"
#include "edit/cut.h"

enum { NOTES_MAX = 1 << 20 };

/* ---- who made whom ---- */

static bool put_fork(struct pf_cut *cut, const struct pf_cut_fork *fork)
{
    uint32_t found;
    const uint64_t child = (uint32_t)fork->child, parent = (uint32_t)fork->parent;
    if (pf_pairs_get(&cut->forked, child, parent, &found))
        return true;
    if (cut->fork_count >= UINT32_MAX ||
        !pf_grow(cut->allocator, &cut->forks, &cut->fork_capacity, cut->fork_count + 1, sizeof(*cut->forks)) ||
        !pf_pairs_put(&cut->forked, child, parent, (uint32_t)cut->fork_count))
        return false;
    cut->forks[cut->fork_count++] = *fork;
    return true;
}

bool pf_cut_add_fork(struct pf_cut *cut, const struct perfile_record *record, const struct perfile_fork *fork)
{
    const struct pf_cut_fork made = {.child = fork->pid, .parent = fork->ppid};
    const bool reported = cut->drops_ended && record->time < cut->first_time; /* by its life */
    return reported || fork->pid == fork->ppid || put_fork(cut, &made);
}

static int compare_forks(const void *left, const void *right)
{
    const struct pf_cut_fork *a = left, *b = right;
    return a->child < b->child ? -1 : a->child > b->child;
}

static void sort_forks(struct pf_cut *cut)
{
    if (cut->fork_count)
        qsort(cut->forks, cut->fork_count, sizeof(*cut->forks), compare_forks);
}

/* The first of a child. */
static size_t first_fork(const struct pf_cut *cut, int32_t child)
{
    size_t low = 0, high = cut->fork_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (cut->forks[middle].child < child)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of those who were made before the first time that passes their lives say it. */
static bool link_maker(struct pf_cut *cut, const struct pf_cut_link *link)
{
    const struct pf_life *life = cut->drops_ended ? pf_lifetimes_process(&cut->lifetimes, (uint32_t)link->pid) : NULL;
    return !life || !life->has_up || (int32_t)life->up <= 0 || pf_cut_add_link(cut, (int32_t)life->up, link->part);
}

/* A process begins with the maps of its parent: who has the one needs the other. New links are looked at in turn. */
bool pf_cut_link_parents(struct pf_cut *cut)
{
    sort_forks(cut);
    for (size_t i = 0; i < cut->link_count; i++) {
        const struct pf_cut_link link = cut->links[i];
        if (!link_maker(cut, &link))
            return false;
        for (size_t at = first_fork(cut, link.pid); at < cut->fork_count && cut->forks[at].child == link.pid; at++)
            if (!pf_cut_add_link(cut, cut->forks[at].parent, link.part))
                return false;
    }
    return true;
}

/* ---- who lives ---- */

static int compare_notes(const void *left, const void *right)
{
    const struct pf_cut_note *a = left, *b = right;
    if (a->note.time != b->note.time)
        return a->note.time < b->note.time ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* A filter by time keeps samples that have none, of whenever they are; a stream tells of its events before all else. */
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
    cut->lifetimes.keeps_ended = !pf_cut_have_times(cut);
    if (cut->note_count)
        qsort(cut->notes, cut->note_count, sizeof(*cut->notes), compare_notes);
    for (; done < cut->note_count && cut->notes[done].note.time <= limit; done++)
        pf_lifetimes_follow(&cut->lifetimes, &cut->notes[done].note);
    cut->note_count -= done;
    if (done)
        memmove(cut->notes, cut->notes + done, cut->note_count * sizeof(*cut->notes));
    return !cut->lifetimes.failed;
}

/* What has no time was there from the start. */
static bool note_life(struct pf_cut *cut, const struct pf_life_note *note)
{
    if (!note->time) {
        pf_lifetimes_follow(&cut->lifetimes, note);
        return !cut->lifetimes.failed;
    }
    if (!pf_grow(cut->allocator, &cut->notes, &cut->note_capacity, cut->note_count + 1, sizeof(*cut->notes)))
        return false;
    cut->notes[cut->note_count++] = (struct pf_cut_note){*note, cut->notes_made++};
    return cut->note_count < NOTES_MAX || follow_notes(cut, UINT64_MAX);
}

/* Who is there from the first time on that passes, or begins later. */
bool pf_cut_note_process(struct pf_cut *cut, const struct pf_item *item, const int32_t pids[2])
{
    const struct perfile_record *record = item->record;
    if (record->time >= cut->first_time)
        return (pids[0] <= 0 || pf_cut_add_link(cut, pids[0], 0)) && (pids[1] <= 0 || pf_cut_add_link(cut, pids[1], 0));
    if (pf_record_kind(record->type) != PF_KIND_PROCESS || pf_history_knows(&cut->history, record))
        return true;
    const struct pf_life_note note = pf_life_note_of(record, &item->body);
    return note_life(cut, &note);
}

bool pf_cut_note_round(struct pf_cut *cut, const struct perfile_record *record)
{
    if (PF_LIKELY(record->type != PERFILE_RECORD_FINISHED_ROUND)) {
        if (record->time != UINT64_MAX && record->type < PERFILE_RECORD_HEADER_ATTR)
            cut->seen_time = pf_max(cut->seen_time, record->time);
        return true;
    }
    const uint64_t settled = cut->round_time;
    cut->round_time = cut->seen_time;
    return follow_notes(cut, settled);
}

bool pf_cut_note_thread(struct pf_cut *cut, int32_t pid, int32_t tid)
{
    if (!cut->drops_ended || tid == pid || tid == cut->last_sampled)
        return true;
    cut->last_sampled = tid;
    return pf_map_put(&cut->sampled, (uint32_t)tid, 0);
}

/* The tid, and those of whom its name is, into `named`. */
static bool name(struct pf_cut *cut, uint32_t tid)
{
    const struct pf_life *thread;
    uint64_t known;
    while (!pf_map_get(&cut->named, tid, &known)) {
        if (!pf_map_put(&cut->named, tid, 0))
            return false;
        thread = pf_lifetimes_thread(&cut->lifetimes, tid);
        if (!thread || !thread->has_up)
            break;
        tid = thread->up;
    }
    return true;
}

bool pf_cut_link_living(struct pf_cut *cut)
{
    const struct pf_life_set *threads = &cut->lifetimes.threads;
    if (!cut->drops_ended)
        return true;
    bool enough = follow_notes(cut, UINT64_MAX);
    pf_lifetimes_advance(&cut->lifetimes, cut->first_time);
    for (size_t i = 0; i < threads->count && enough; i++) {
        const struct pf_life *thread = &threads->items[i];
        if (!thread->is_free && thread->alive)
            enough =
                name(cut, thread->id) && ((int32_t)thread->of <= 0 || pf_cut_add_link(cut, (int32_t)thread->of, 0));
    }
    for (size_t i = 0; i < cut->sampled.size && enough; i++)
        enough = !cut->sampled.slots[i].value || name(cut, (uint32_t)cut->sampled.slots[i].key);
    return enough;
}

bool pf_cut_is_over(const struct pf_cut *cut, const struct pf_item *item)
{
    const struct perfile_record *record = item->record;
    uint64_t known;
    if (!cut->drops_ended || record->time >= cut->first_time || pf_record_kind(record->type) != PF_KIND_PROCESS)
        return false;
    const struct pf_life_note note = pf_life_note_of(record, &item->body);
    return !pf_lifetimes_matters(&cut->lifetimes, &note) ||
           (pf_life_note_is_of_thread(&note) && !pf_map_get(&cut->named, note.tid, &known));
}
