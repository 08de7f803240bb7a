/* SPDX-License-Identifier: MIT */
#include "base/byte_queue.h"

#include <pthread.h>

#include "base/bytes.h"

enum { CAPACITY_MIN = 1 << 20 };

/* A ring: `used` bytes from `first` on. */
struct pf_byte_queue {
    const struct perfile_allocator *allocator;
    pthread_mutex_t mutex; /* of all that follows */
    pthread_cond_t filled; /* for the reader */
    pthread_cond_t read;   /* for the writer */
    uint8_t *data;
    size_t capacity, first, used, limit;
    bool ended;   /* by the writer */
    bool left;    /* by the reader */
    bool waiting; /* the reader has read all */
};

struct pf_byte_queue *pf_byte_queue_open(size_t limit, const struct perfile_allocator *allocator)
{
    struct pf_byte_queue *queue = pf_new(allocator, sizeof(*queue));
    if (!queue)
        return NULL;
    queue->allocator = allocator;
    queue->limit = limit;
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_cond_init(&queue->filled, NULL);
    pthread_cond_init(&queue->read, NULL);
    return queue;
}

void pf_byte_queue_close(struct pf_byte_queue *queue)
{
    if (!queue)
        return;
    pthread_cond_destroy(&queue->filled);
    pthread_cond_destroy(&queue->read);
    pthread_mutex_destroy(&queue->mutex);
    pf_free(queue->allocator, queue->data, queue->capacity);
    pf_free(queue->allocator, queue, sizeof(*queue));
}

/* Copies `bytes` bytes that are in the queue, from `skip` after the first on. */
static void copy_out(const struct pf_byte_queue *queue, size_t skip, void *to, size_t bytes)
{
    const size_t at = (queue->first + skip) % queue->capacity, straight = pf_min(bytes, queue->capacity - at);
    memcpy(to, queue->data + at, straight);
    memcpy((uint8_t *)to + straight, queue->data, bytes - straight);
}

static void copy_in(struct pf_byte_queue *queue, const uint8_t *data, size_t bytes)
{
    const size_t at = (queue->first + queue->used) % queue->capacity, straight = pf_min(bytes, queue->capacity - at);
    memcpy(queue->data + at, data, straight);
    memcpy(queue->data, data + straight, bytes - straight);
    queue->used += bytes;
}

/* Makes it large enough for so many more bytes, as far as the limit allows. False when out of memory. */
static bool grow(struct pf_byte_queue *queue, size_t bytes)
{
    const size_t needed = pf_min(queue->used + bytes, queue->limit);
    size_t capacity = pf_max(queue->capacity, pf_min((size_t)CAPACITY_MIN, queue->limit));
    if (needed <= queue->capacity)
        return true;
    while (capacity < needed)
        capacity = pf_min(2 * capacity, queue->limit);
    uint8_t *larger = pf_resize(queue->allocator, NULL, 0, capacity);
    if (!larger)
        return false;
    if (queue->used)
        copy_out(queue, 0, larger, queue->used);
    pf_free(queue->allocator, queue->data, queue->capacity);
    queue->data = larger;
    queue->capacity = capacity;
    queue->first = 0;
    return true;
}

bool pf_byte_queue_put(struct pf_byte_queue *queue, const void *data, size_t bytes)
{
    const uint8_t *at = data;
    pthread_mutex_lock(&queue->mutex);
    while (bytes && !queue->left && grow(queue, bytes)) {
        const size_t now = pf_min(bytes, queue->capacity - queue->used);
        if (!now) {
            pthread_cond_wait(&queue->read, &queue->mutex);
            continue;
        }
        copy_in(queue, at, now);
        at += now;
        bytes -= now;
        queue->waiting = false;
        pthread_cond_signal(&queue->filled);
    }
    const bool accepted = !bytes;
    pthread_mutex_unlock(&queue->mutex);
    return accepted;
}

bool pf_byte_queue_settle(struct pf_byte_queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    while (!queue->waiting && !queue->left)
        pthread_cond_wait(&queue->read, &queue->mutex);
    const bool left = queue->left;
    pthread_mutex_unlock(&queue->mutex);
    return left;
}

void pf_byte_queue_end(struct pf_byte_queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    queue->ended = true;
    pthread_cond_signal(&queue->filled);
    pthread_mutex_unlock(&queue->mutex);
}

/* The reader has nothing to do until more comes. */
static void wait_for_more(struct pf_byte_queue *queue)
{
    while (!queue->used && !queue->ended && !queue->left) {
        queue->waiting = true;
        pthread_cond_signal(&queue->read);
        pthread_cond_wait(&queue->filled, &queue->mutex);
    }
}

size_t pf_byte_queue_take(struct pf_byte_queue *queue, void *to, size_t capacity, bool waits)
{
    pthread_mutex_lock(&queue->mutex);
    if (waits)
        wait_for_more(queue);
    const size_t bytes = pf_min(capacity, queue->used);
    if (bytes) {
        copy_out(queue, 0, to, bytes);
        queue->used -= bytes;
        queue->first = (queue->first + bytes) % queue->capacity;
        pthread_cond_signal(&queue->read);
    }
    pthread_mutex_unlock(&queue->mutex);
    return bytes;
}

void pf_byte_queue_leave(struct pf_byte_queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    queue->left = true;
    pthread_cond_signal(&queue->read);
    pthread_mutex_unlock(&queue->mutex);
}
