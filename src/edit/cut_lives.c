/* SPDX-License-Identifier: MIT */
/*
 * Who is related to whom, and who lives when a cut begins. What is known of those who are over and have left nobody is
 * forgotten: a build server has new ones all the time.
 */
#include <stdlib.h>

#include "base/error.h"
#include "edit/cut.h"

enum { LIVES_LEAST = 4096 };

/* ---- who made whom ---- */

static bool put_fork(struct pf_cut *cut, const struct pf_cut_fork *fork)
{
    uint32_t found;
    const uint64_t child = (uint32_t)fork->child, parent = (uint32_t)fork->parent;
    if (pf_pairs_get(&cut->forked, child, parent, &found)) {
        cut->forks[found].time = pf_max(cut->forks[found].time, fork->time);
        return true;
    }
    if (cut->fork_count >= UINT32_MAX ||
        !pf_grow(cut->allocator, &cut->forks, &cut->fork_room, cut->fork_count + 1, sizeof(*cut->forks)) ||
        !pf_pairs_put(&cut->forked, child, parent, (uint32_t)cut->fork_count))
        return false;
    cut->forks[cut->fork_count++] = *fork;
    return true;
}

bool pf_cut_add_fork(struct pf_cut *cut, const struct perfile_record *record, const struct perfile_fork *fork)
{
    const struct pf_cut_fork made = {.child = fork->pid, .parent = fork->ppid, .time = record->time};
    return fork->pid == fork->ppid || put_fork(cut, &made);
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

/* Another program has begun since: nothing that was the parent's is left. */
static bool is_past(const struct pf_cut *cut, const struct pf_cut_fork *fork)
{
    uint64_t exec;
    return pf_map_get(&cut->execs, (uint32_t)fork->child, &exec) && exec > fork->time;
}

/* A process begins with the maps of its parent: who has the one needs the other. New links are looked at in turn. */
bool pf_cut_link_parents(struct pf_cut *cut)
{
    sort_forks(cut);
    for (size_t i = 0; i < cut->link_count && cut->fork_count; i++) {
        const struct pf_cut_link link = cut->links[i];
        for (size_t at = first_fork(cut, link.pid); at < cut->fork_count && cut->forks[at].child == link.pid; at++)
            if (!is_past(cut, &cut->forks[at]) && !pf_cut_add_link(cut, cut->forks[at].parent, link.part))
                return false;
    }
    return true;
}

/* ---- who lives ---- */

/* A thread has the name of who made it until it gets one. */
static bool note_namer(struct pf_cut *cut, const struct pf_item *item, uint32_t tid)
{
    const bool named = item->record->type != PERFILE_RECORD_FORK;
    return pf_map_put(&cut->namers, tid, named ? 0 : (uint64_t)(uint32_t)item->body.fork.ptid + 1);
}

/* The tid, and those of whom its name is, into `named`. */
static bool name(const struct pf_cut *cut, struct pf_map *named, uint32_t tid)
{
    uint64_t known, namer;
    while (!pf_map_get(named, tid, &known)) {
        if (!pf_map_put(named, tid, 0))
            return false;
        if (!pf_map_get(&cut->namers, tid, &namer) || !namer)
            break;
        tid = (uint32_t)(namer - 1);
    }
    return true;
}

/* In the file a thread may end before it begins: the later one holds. */
static bool note_life(struct pf_cut *cut, const struct pf_item *item)
{
    const struct perfile_record *record = item->record;
    const uint32_t type = record->type,
                   tid = (uint32_t)item->body.mmap.tid; /* all of them have it there, but FORK and EXIT */
    const bool task = type == PERFILE_RECORD_FORK || type == PERFILE_RECORD_EXIT;
    const uint32_t of = task ? (uint32_t)item->body.fork.tid : tid;
    const uint64_t when = record->time < UINT64_MAX / 4 ? 2 * record->time : 0;
    const uint64_t life = when + (type != PERFILE_RECORD_EXIT);
    uint64_t known;
    const bool knows = pf_map_get(&cut->lives, of, &known);
    if (knows && (known / 2 > when / 2 || (!task && type != PERFILE_RECORD_COMM)))
        return true;
    return pf_map_put(&cut->lives, of, life) && pf_map_put(&cut->processes, of, (uint32_t)item->body.fork.pid) &&
           (type == PERFILE_RECORD_EXIT || note_namer(cut, item, of));
}

static bool note_exec(struct pf_cut *cut, const struct pf_item *item)
{
    const struct perfile_record *record = item->record;
    const uint32_t pid = (uint32_t)item->body.comm.pid;
    uint64_t known;
    if (record->type != PERFILE_RECORD_COMM || !(record->misc & PERFILE_MISC_COMM_EXEC) || record->time == UINT64_MAX ||
        (pf_map_get(&cut->execs, pid, &known) && known >= record->time))
        return true;
    return pf_map_put(&cut->execs, pid, record->time);
}

/* Who is there from the first time on that passes, or begins later. */
bool pf_cut_note_process(struct pf_cut *cut, const struct pf_item *item, const int32_t pids[2])
{
    if (item->record->time >= cut->first_time)
        return (pids[0] <= 0 || pf_cut_add_link(cut, pids[0], 0)) && (pids[1] <= 0 || pf_cut_add_link(cut, pids[1], 0));
    const uint32_t type = item->record->type;
    const bool running =
        type == PERFILE_RECORD_READ || type == PERFILE_RECORD_SWITCH || type == PERFILE_RECORD_SWITCH_CPU_WIDE;
    return running || (note_life(cut, item) && note_exec(cut, item));
}

bool pf_cut_link_living(struct pf_cut *cut)
{
    for (size_t i = 0; i < cut->lives.size; i++) {
        const struct pf_map_slot *slot = &cut->lives.slots[i];
        uint64_t pid;
        if (!slot->value || !((slot->value - 1) & 1))
            continue;
        if (!name(cut, &cut->named, (uint32_t)slot->key) ||
            (pf_map_get(&cut->processes, slot->key, &pid) && (int32_t)pid > 0 &&
             !pf_cut_add_link(cut, (int32_t)pid, 0)))
            return false;
    }
    return true;
}

bool pf_cut_note_thread(struct pf_cut *cut, int32_t pid, int32_t tid)
{
    if (!cut->drops_ended || tid == pid || tid == cut->last_named)
        return true;
    cut->last_named = tid;
    return name(cut, &cut->named, (uint32_t)tid);
}

bool pf_cut_is_over(const struct pf_cut *cut, const struct pf_item *item)
{
    const struct perfile_record *record = item->record;
    const bool task = record->type == PERFILE_RECORD_FORK || record->type == PERFILE_RECORD_EXIT;
    const int32_t tid = task ? item->body.fork.tid : item->body.mmap.tid;
    uint64_t known;
    return cut->drops_ended && (task || record->type == PERFILE_RECORD_COMM) && record->time < cut->first_time &&
           tid != item->body.fork.pid && !pf_map_get(&cut->named, (uint32_t)tid, &known);
}

/* ---- who is over ---- */

/* What stays of all that is known. */
struct kept {
    struct pf_map lives, processes, execs, namers;
    struct pf_map named;  /* tids of these, and of those whose names they have */
    struct pf_map wanted; /* pids of these, and of their parents */
    int32_t *pids;        /* the same */
    size_t pid_count, pid_room;
};

static bool want(struct kept *kept, int32_t pid)
{
    uint64_t known;
    if (pf_map_get(&kept->wanted, (uint32_t)pid, &known))
        return true;
    if (!pf_map_put(&kept->wanted, (uint32_t)pid, 0) ||
        !pf_grow(kept->wanted.allocator, &kept->pids, &kept->pid_room, kept->pid_count + 1, sizeof(*kept->pids)))
        return false;
    kept->pids[kept->pid_count++] = pid;
    return true;
}

/* Records of who ended before that were all read. */
static bool is_over(const struct pf_cut *cut, uint64_t life)
{
    return !(life & 1) && life / 2 < cut->over_time;
}

static bool keep_lives(const struct pf_cut *cut, struct kept *kept)
{
    for (size_t i = 0; i < cut->lives.size; i++) {
        const struct pf_map_slot *slot = &cut->lives.slots[i];
        uint64_t pid;
        if (!slot->value || is_over(cut, slot->value - 1) || !pf_map_get(&cut->processes, slot->key, &pid))
            continue;
        if (!pf_map_put(&kept->lives, slot->key, slot->value - 1) || !pf_map_put(&kept->processes, slot->key, pid) ||
            !want(kept, (int32_t)pid) || !name(cut, &kept->named, (uint32_t)slot->key))
            return false;
    }
    return true;
}

static bool keep_namers(const struct pf_cut *cut, struct kept *kept)
{
    uint64_t namer;
    for (size_t i = 0; i < kept->named.size; i++) {
        const struct pf_map_slot *slot = &kept->named.slots[i];
        if (slot->value && pf_map_get(&cut->namers, slot->key, &namer) && !pf_map_put(&kept->namers, slot->key, namer))
            return false;
    }
    return true;
}

static bool keep_parents(const struct pf_cut *cut, struct kept *kept)
{
    for (size_t i = 0; i < kept->pid_count; i++) {
        const int32_t pid = kept->pids[i];
        uint64_t exec;
        if (pf_map_get(&cut->execs, (uint32_t)pid, &exec) && !pf_map_put(&kept->execs, (uint32_t)pid, exec))
            return false;
        for (size_t at = first_fork(cut, pid); at < cut->fork_count && cut->forks[at].child == pid; at++)
            if (!is_past(cut, &cut->forks[at]) && !want(kept, cut->forks[at].parent))
                return false;
    }
    return true;
}

/* Forks that were not read before lie behind `over_time`, and so do those of the ones that they are of. */
static bool keep_forks(struct pf_cut *cut, const struct kept *kept)
{
    const size_t count = cut->fork_count;
    bool enough = true;
    pf_pairs_close(&cut->forked);
    pf_pairs_open(&cut->forked, cut->allocator);
    cut->fork_count = 0;
    for (size_t i = 0; i < count && enough; i++) {
        const struct pf_cut_fork fork = cut->forks[i];
        uint64_t wanted;
        if (fork.time >= cut->over_time ||
            (pf_map_get(&kept->wanted, (uint32_t)fork.child, &wanted) && !is_past(cut, &fork)))
            enough = put_fork(cut, &fork);
    }
    return enough;
}

static void take_over(struct pf_map *map, struct pf_map *kept)
{
    pf_map_close(map);
    *map = *kept;
    pf_map_open(kept, map->allocator);
}

static bool forget(struct pf_cut *cut)
{
    struct kept kept = {.pids = NULL};
    struct pf_map *const maps[] = {&kept.lives, &kept.processes, &kept.execs, &kept.namers, &kept.named, &kept.wanted};
    for (size_t i = 0; i < PF_COUNT(maps); i++)
        pf_map_open(maps[i], cut->allocator);
    sort_forks(cut);
    const bool enough =
        keep_lives(cut, &kept) && keep_namers(cut, &kept) && keep_parents(cut, &kept) && keep_forks(cut, &kept);
    if (enough) {
        take_over(&cut->lives, &kept.lives);
        take_over(&cut->processes, &kept.processes);
        take_over(&cut->execs, &kept.execs);
        take_over(&cut->namers, &kept.namers);
    }
    for (size_t i = 0; i < PF_COUNT(maps); i++)
        pf_map_close(maps[i]);
    pf_free(cut->allocator, kept.pids, kept.pid_room * sizeof(*kept.pids));
    cut->forget_at = 2 * pf_max(cut->lives.used, cut->namers.used);
    return enough;
}

bool pf_cut_note_round(struct pf_cut *cut, const struct perfile_record *record)
{
    if (PF_LIKELY(record->type != PERFILE_RECORD_FINISHED_ROUND)) {
        if (record->time != UINT64_MAX && record->type < PERFILE_RECORD_HEADER_ATTR)
            cut->seen_time = pf_max(cut->seen_time, record->time);
        return true;
    }
    cut->over_time = cut->round_time;
    cut->round_time = cut->seen_time;
    return pf_max(cut->lives.used, cut->namers.used) < pf_max(cut->forget_at, LIVES_LEAST) || forget(cut);
}
