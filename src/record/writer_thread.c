/* SPDX-License-Identifier: MIT */
#include "record/writer_thread.h"

#include <pthread.h>
#include <signal.h>

#include "base/bytes.h"
#include "base/error.h"

struct block {
    uint8_t *data; /* NULL: not needed so far */
    size_t used;
};

/* A ring of waiting blocks, followed by the one being filled, which the thread does not see yet. */
struct pf_writer_thread {
    const struct perfile_allocator *allocator;
    struct perfile_writer *writer;
    pthread_t thread;
    pthread_mutex_t mutex;   /* of all that follows */
    pthread_cond_t ready;    /* for the thread: there is something to do */
    pthread_cond_t capacity; /* for the caller: something was done */
    struct block blocks[PF_WRITER_THREAD_BLOCKS];
    size_t first, count; /* those that wait, or are being written */
    bool filling;        /* the next one has something in it */
    bool flush;          /* requested, and not started yet */
    bool busy;
    bool stop;
    int result; /* of the first failure */
    struct perfile_error error;
    uint64_t written;
};

static struct block *last_block(struct pf_writer_thread *worker)
{
    return &worker->blocks[(worker->first + worker->count) % PF_WRITER_THREAD_BLOCKS];
}

/* ---- the thread ---- */

/* Lets go of the lock while it writes; NULL: only flushes. */
static void use_writer(struct pf_writer_thread *worker, const struct block *block)
{
    struct perfile_error error;
    const bool failed = worker->result < 0;
    worker->busy = true;
    pthread_mutex_unlock(&worker->mutex);
    int result = 0;
    if (!failed)
        result = block ? perfile_writer_records(worker->writer, block->data, block->used, &error)
                       : perfile_writer_flush(worker->writer, &error);
    const uint64_t written = perfile_writer_progress(worker->writer)->bytes;
    pthread_mutex_lock(&worker->mutex);
    worker->busy = false;
    worker->written = written;
    if (result < 0) {
        worker->result = result;
        worker->error = error;
    }
    pthread_cond_signal(&worker->capacity);
}

static void write_first(struct pf_writer_thread *worker)
{
    struct block *block = &worker->blocks[worker->first];
    use_writer(worker, block);
    block->used = 0;
    worker->first = (worker->first + 1) % PF_WRITER_THREAD_BLOCKS;
    worker->count--;
}

/* A block that is not full is taken only when there is nothing else to do: else small ones would fill the ring. */
static void *run(void *context)
{
    struct pf_writer_thread *worker = context;
    pthread_mutex_lock(&worker->mutex);
    while (!worker->stop) {
        if (worker->count) {
            write_first(worker);
        } else if (worker->flush && worker->filling) {
            worker->filling = false;
            worker->count++;
        } else if (worker->flush) {
            worker->flush = false;
            use_writer(worker, NULL);
        } else {
            pthread_cond_wait(&worker->ready, &worker->mutex);
        }
    }
    pthread_mutex_unlock(&worker->mutex);
    return NULL;
}

/* ---- the caller ---- */

/* Signals are for the threads of the caller. */
static bool start_thread(struct pf_writer_thread *worker)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(&worker->thread, NULL, run, worker) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

struct pf_writer_thread *pf_writer_thread_open(struct perfile_writer *writer, const struct perfile_allocator *allocator)
{
    struct pf_writer_thread *worker = pf_new(allocator, sizeof(*worker));
    if (!worker)
        return NULL;
    worker->allocator = allocator;
    worker->writer = writer;
    pthread_mutex_init(&worker->mutex, NULL);
    pthread_cond_init(&worker->ready, NULL);
    pthread_cond_init(&worker->capacity, NULL);
    if (start_thread(worker))
        return worker;
    pf_free(allocator, worker, sizeof(*worker));
    return NULL;
}

void pf_writer_thread_close(struct pf_writer_thread *worker)
{
    if (!worker)
        return;
    pthread_mutex_lock(&worker->mutex);
    worker->stop = true;
    pthread_cond_signal(&worker->ready);
    pthread_mutex_unlock(&worker->mutex);
    pthread_join(worker->thread, NULL);
    pthread_cond_destroy(&worker->ready);
    pthread_cond_destroy(&worker->capacity);
    pthread_mutex_destroy(&worker->mutex);
    for (size_t i = 0; i < PF_WRITER_THREAD_BLOCKS; i++)
        pf_free(worker->allocator, worker->blocks[i].data, PF_WRITER_THREAD_BLOCK_BYTES);
    pf_free(worker->allocator, worker, sizeof(*worker));
}

static int failure_of(const struct pf_writer_thread *worker, struct perfile_error *error)
{
    if (worker->result < 0 && error)
        *error = worker->error;
    return worker->result;
}

/* A block to fill. */
static int begin_block(struct pf_writer_thread *worker, struct perfile_error *error)
{
    while (worker->count == PF_WRITER_THREAD_BLOCKS)
        pthread_cond_wait(&worker->capacity, &worker->mutex);
    struct block *block = last_block(worker);
    if (!block->data && !(block->data = pf_resize(worker->allocator, NULL, 0, PF_WRITER_THREAD_BLOCK_BYTES)))
        return pf_fail_memory(error, "records that wait");
    worker->filling = true;
    return 0;
}

/* The bytes of as many complete records as fit. */
static size_t fitting(const uint8_t *records, size_t bytes, size_t capacity)
{
    size_t at = 0, size;
    if (bytes <= capacity)
        return bytes;
    while (at + 8 <= bytes && (size = pf_load16(records + at + 6, false)) >= 8 && at + size <= capacity)
        at += size;
    return at;
}

/* *taken 0: the block is full. */
static int fill(struct pf_writer_thread *worker, const uint8_t *records, size_t bytes, size_t *consumed,
                struct perfile_error *error)
{
    int result = worker->filling ? 0 : begin_block(worker, error);
    if (result < 0)
        return result;
    struct block *block = last_block(worker);
    *consumed = fitting(records, bytes, PF_WRITER_THREAD_BLOCK_BYTES - block->used);
    memcpy(block->data + block->used, records, *consumed);
    block->used += *consumed;
    if (*consumed)
        return 0;
    if (!block->used) /* no record is larger than a block */
        return pf_fail(error, PERFILE_ERROR_READ, PERFILE_NO_OFFSET, "ring buffer", "a record without a size");
    worker->filling = false;
    worker->count++;
    pthread_cond_signal(&worker->ready);
    return 0;
}

int pf_writer_thread_put(struct pf_writer_thread *worker, const uint8_t *records, size_t bytes,
                         struct perfile_error *error)
{
    int result;
    pthread_mutex_lock(&worker->mutex);
    result = failure_of(worker, error);
    for (size_t at = 0, consumed = 0; at < bytes && result == 0; at += consumed)
        result = fill(worker, records + at, bytes - at, &consumed, error);
    pthread_mutex_unlock(&worker->mutex);
    return result;
}

int pf_writer_thread_flush(struct pf_writer_thread *worker, struct perfile_error *error)
{
    pthread_mutex_lock(&worker->mutex);
    const int result = failure_of(worker, error);
    worker->flush = true;
    pthread_cond_signal(&worker->ready);
    pthread_mutex_unlock(&worker->mutex);
    return result;
}

int pf_writer_thread_settle(struct pf_writer_thread *worker, struct perfile_error *error)
{
    pthread_mutex_lock(&worker->mutex);
    worker->flush = true;
    pthread_cond_signal(&worker->ready);
    while (worker->count || worker->filling || worker->flush || worker->busy)
        pthread_cond_wait(&worker->capacity, &worker->mutex);
    const int result = failure_of(worker, error);
    pthread_mutex_unlock(&worker->mutex);
    return result;
}

void pf_writer_thread_switch(struct pf_writer_thread *worker, struct perfile_writer *writer)
{
    pthread_mutex_lock(&worker->mutex);
    worker->writer = writer;
    worker->written = perfile_writer_progress(writer)->bytes;
    pthread_mutex_unlock(&worker->mutex);
}

uint64_t pf_writer_thread_written(struct pf_writer_thread *worker)
{
    pthread_mutex_lock(&worker->mutex);
    const uint64_t written = worker->written;
    pthread_mutex_unlock(&worker->mutex);
    return written;
}
