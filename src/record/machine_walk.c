/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <signal.h>

#include "base/error.h"
#include "record/machine_walk.h"

enum { SLOTS = 128, SLOT_BYTES = 128 * 1024, THREADS_MAX = 64 };

struct pf_walk_slot {
    uint8_t *data;
    size_t used;
    bool full; /* its thread waits */
    bool done; /* the process is complete */
};

struct pf_team {
    pthread_mutex_t mutex;
    pthread_cond_t ready;    /* for the caller: a slot is full or done */
    pthread_cond_t capacity; /* for the others: a slot is empty */
    struct pf_walk_slot slots[SLOTS];
    uint8_t *data;
    size_t next;   /* process that the next idle thread takes */
    size_t handed; /* processes that were handed on */
    bool stop;
    bool alone;
    int result; /* of the caller's functions */
    struct perfile_error *error;
};

/* ---- records in slots ---- */

struct stored {
    uint32_t type;
    uint32_t complete; /* bytes with this head and what follows, a multiple of 8 */
    uint16_t misc;
    uint16_t bytes;
    uint16_t pointer_at;
    uint16_t has_extra;
};

static int hand_on(struct pf_walk *walk, struct pf_walk_slot *slot, struct perfile_error *error)
{
    int result = 0;
    for (size_t at = 0; at < slot->used && result == 0;) {
        struct stored head;
        memcpy(&head, slot->data + at, sizeof(head));
        uint8_t *record = slot->data + at + sizeof(head), *extra = record + pf_align8(head.bytes);
        if (head.has_extra)
            memcpy(record + head.pointer_at, &extra, sizeof(extra));
        result = walk->synthesis->put(walk->synthesis->context, head.type, head.misc, record, head.bytes, error);
        at += head.complete;
    }
    slot->used = 0;
    return result;
}

/* Empties the slot; waits for the caller's thread to do so. */
static bool reserve(struct pf_walk *walk, struct pf_walk_slot *slot)
{
    struct pf_team *team = walk->team;
    if (team->alone) {
        if (team->result == 0)
            team->result = hand_on(walk, slot, team->error);
        return team->result == 0;
    }
    pthread_mutex_lock(&team->mutex);
    slot->full = true;
    pthread_cond_signal(&team->ready);
    while (slot->full && !team->stop)
        pthread_cond_wait(&team->capacity, &team->mutex);
    bool go_on = !team->stop;
    pthread_mutex_unlock(&team->mutex);
    return go_on;
}

bool pf_walk_put(struct pf_walker *walker, const struct pf_walk_item *item)
{
    struct pf_walk_slot *slot = walker->slot;
    struct stored head = {.type = item->type,
                          .misc = item->misc,
                          .bytes = item->bytes,
                          .pointer_at = item->pointer_at,
                          .has_extra = item->extra != NULL};
    size_t body = (size_t)pf_align8(item->bytes), extra = (size_t)pf_align8(item->extra_bytes);
    head.complete = (uint32_t)(sizeof(head) + body + extra);
    if (slot->used + head.complete > SLOT_BYTES && !reserve(walker->walk, slot))
        return false;
    uint8_t *to = slot->data + slot->used;
    memcpy(to, &head, sizeof(head));
    memcpy(to + sizeof(head), item->record, item->bytes);
    if (item->extra_bytes)
        memcpy(to + sizeof(head) + body, item->extra, item->extra_bytes);
    slot->used += head.complete;
    return true;
}

/* ---- the threads ---- */

/* The next process and its slot; false: there is none left. */
static bool take(struct pf_walk *walk, struct pf_walker *walker, size_t *index)
{
    struct pf_team *team = walk->team;
    pthread_mutex_lock(&team->mutex);
    while (!team->stop && team->next < walk->count && team->next >= team->handed + SLOTS)
        pthread_cond_wait(&team->capacity, &team->mutex);
    bool more = !team->stop && team->next < walk->count;
    if (more) {
        *index = team->next++;
        walker->slot = &team->slots[*index % SLOTS];
    }
    pthread_mutex_unlock(&team->mutex);
    return more;
}

static void *work(void *argument)
{
    struct pf_walker *walker = argument;
    struct pf_walk *walk = walker->walk;
    size_t index;
    while (take(walk, walker, &index)) {
        pf_process_synthesize(walker, walk->pids[index]);
        pthread_mutex_lock(&walk->team->mutex);
        walker->slot->done = true;
        if (index == walk->team->handed)
            pthread_cond_signal(&walk->team->ready);
        pthread_mutex_unlock(&walk->team->mutex);
    }
    return NULL;
}

/* The processes in their order, as the threads get them done. */
static int collect(struct pf_walk *walk, struct perfile_error *error)
{
    struct pf_team *team = walk->team;
    int result = 0;
    while (team->handed < walk->count && result == 0) {
        struct pf_walk_slot *slot = &team->slots[team->handed % SLOTS];
        pthread_mutex_lock(&team->mutex);
        while (!slot->full && !slot->done)
            pthread_cond_wait(&team->ready, &team->mutex);
        pthread_mutex_unlock(&team->mutex);
        result = hand_on(walk, slot, error);
        pthread_mutex_lock(&team->mutex);
        team->handed += slot->done;
        slot->full = slot->done = false;
        pthread_cond_broadcast(&team->capacity);
        pthread_mutex_unlock(&team->mutex);
    }
    return result;
}

static void stop(struct pf_team *team)
{
    pthread_mutex_lock(&team->mutex);
    team->stop = true;
    pthread_cond_broadcast(&team->capacity);
    pthread_mutex_unlock(&team->mutex);
}

static int walk_alone(struct pf_walk *walk, struct pf_walker *walker, struct perfile_error *error)
{
    struct pf_team *team = walk->team;
    team->alone = true;
    team->error = error;
    walker->slot = &team->slots[0];
    for (size_t i = 0; i < walk->count && team->result == 0; i++) {
        pf_process_synthesize(walker, walk->pids[i]);
        if (team->result == 0)
            team->result = hand_on(walk, walker->slot, error);
    }
    return team->result;
}

/* ---- all of it ---- */

/* Signals are for the caller's thread. */
static unsigned start(struct pf_walker *walkers, pthread_t *ids, unsigned threads)
{
    sigset_t all, before;
    unsigned started = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (started < threads && pthread_create(&ids[started], NULL, work, &walkers[started]) == 0)
        started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static int walk_with(struct pf_walk *walk, struct pf_walker *walkers, unsigned threads,
                     int (*first)(struct pf_walk *walk, struct perfile_error *error), struct perfile_error *error)
{
    pthread_t ids[THREADS_MAX];
    unsigned started = threads > 1 ? start(walkers, ids, threads) : 0;
    int result = first(walk, error);
    if (result == 0)
        result = started ? collect(walk, error) : walk_alone(walk, &walkers[0], error);
    stop(walk->team);
    for (unsigned i = 0; i < started; i++)
        pthread_join(ids[i], NULL);
    return result;
}

int pf_walk_all(struct pf_walk *walk, unsigned threads, int (*first)(struct pf_walk *walk, struct perfile_error *error),
                struct perfile_error *error)
{
    const struct perfile_allocator *allocator = pf_allocator_or_default(walk->options->allocator);
    threads = threads > THREADS_MAX ? THREADS_MAX : threads > 0 ? threads : 1;
    struct pf_team *team = pf_new(allocator, sizeof(*team));
    /* not zeroed: most of it is never touched */
    uint8_t *data = pf_resize(allocator, NULL, 0, (size_t)SLOTS * SLOT_BYTES);
    struct pf_walker *walkers = pf_resize(allocator, NULL, 0, threads * sizeof(*walkers));
    int result = PERFILE_ERROR_MEMORY;
    if (team && data && walkers) {
        walk->team = team;
        for (size_t i = 0; i < SLOTS; i++)
            team->slots[i].data = data + i * SLOT_BYTES;
        for (unsigned i = 0; i < threads; i++)
            walkers[i].walk = walk;
        pthread_mutex_init(&team->mutex, NULL);
        pthread_cond_init(&team->ready, NULL);
        pthread_cond_init(&team->capacity, NULL);
        result = walk_with(walk, walkers, threads, first, error);
        pthread_cond_destroy(&team->capacity);
        pthread_cond_destroy(&team->ready);
        pthread_mutex_destroy(&team->mutex);
    } else {
        result = pf_fail_memory(error, "processes");
    }
    pf_free(allocator, walkers, threads * sizeof(*walkers));
    pf_free(allocator, data, (size_t)SLOTS * SLOT_BYTES);
    pf_free(allocator, team, sizeof(*team));
    return result;
}
