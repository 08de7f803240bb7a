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

/* The blocks that wait stand in a ring, and behind them, but for the thread not there, the one that is filled. */
struct pf_writer_thread {
    const struct perfile_allocator *allocator;
    struct perfile_writer *writer;
    pthread_t thread;
    pthread_mutex_t mutex; /* of all that follows */
    pthread_cond_t ready;  /* for the thread: there is something to do */
    pthread_cond_t room;   /* for the caller: something was done */
    struct block blocks[PF_WRITER_THREAD_BLOCKS];
    size_t first, count; /* those that wait, or are being written */
    bool filling;        /* the next one has something in it */
    bool flush;          /* wanted, and not yet begun */
    bool busy;
    bool stop;
    int result; /* of the first failure */
    struct perfile_error error;
    uint64_t written;
};

static struct block *last_block(struct pf_writer_thread *behind)
{
    return &behind->blocks[(behind->first + behind->count) % PF_WRITER_THREAD_BLOCKS];
}

/* ---- the thread ---- */

/* Lets go of the lock while it writes; NULL: only flushes. */
static void use_writer(struct pf_writer_thread *behind, const struct block *block)
{
    struct perfile_error error;
    const bool failed = behind->result < 0;
    behind->busy = true;
    pthread_mutex_unlock(&behind->mutex);
    int result = 0;
    if (!failed)
        result = block ? perfile_writer_records(behind->writer, block->data, block->used, &error)
                       : perfile_writer_flush(behind->writer, &error);
    const uint64_t written = perfile_writer_progress(behind->writer)->bytes;
    pthread_mutex_lock(&behind->mutex);
    behind->busy = false;
    behind->written = written;
    if (result < 0) {
        behind->result = result;
        behind->error = error;
    }
    pthread_cond_signal(&behind->room);
}

static void write_first(struct pf_writer_thread *behind)
{
    struct block *block = &behind->blocks[behind->first];
    use_writer(behind, block);
    block->used = 0;
    behind->first = (behind->first + 1) % PF_WRITER_THREAD_BLOCKS;
    behind->count--;
}

/* A block that is not full is taken only when there is nothing else to do: else small ones would fill the ring. */
static void *run(void *context)
{
    struct pf_writer_thread *behind = context;
    pthread_mutex_lock(&behind->mutex);
    while (!behind->stop) {
        if (behind->count) {
            write_first(behind);
        } else if (behind->flush && behind->filling) {
            behind->filling = false;
            behind->count++;
        } else if (behind->flush) {
            behind->flush = false;
            use_writer(behind, NULL);
        } else {
            pthread_cond_wait(&behind->ready, &behind->mutex);
        }
    }
    pthread_mutex_unlock(&behind->mutex);
    return NULL;
}

/* ---- the caller ---- */

/* Signals are for the threads of the caller. */
static bool start_thread(struct pf_writer_thread *behind)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(&behind->thread, NULL, run, behind) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

struct pf_writer_thread *pf_writer_thread_open(struct perfile_writer *writer, const struct perfile_allocator *allocator)
{
    struct pf_writer_thread *behind = pf_new(allocator, sizeof(*behind));
    if (!behind)
        return NULL;
    behind->allocator = allocator;
    behind->writer = writer;
    pthread_mutex_init(&behind->mutex, NULL);
    pthread_cond_init(&behind->ready, NULL);
    pthread_cond_init(&behind->room, NULL);
    if (start_thread(behind))
        return behind;
    pf_free(allocator, behind, sizeof(*behind));
    return NULL;
}

void pf_writer_thread_close(struct pf_writer_thread *behind)
{
    if (!behind)
        return;
    pthread_mutex_lock(&behind->mutex);
    behind->stop = true;
    pthread_cond_signal(&behind->ready);
    pthread_mutex_unlock(&behind->mutex);
    pthread_join(behind->thread, NULL);
    pthread_cond_destroy(&behind->ready);
    pthread_cond_destroy(&behind->room);
    pthread_mutex_destroy(&behind->mutex);
    for (size_t i = 0; i < PF_WRITER_THREAD_BLOCKS; i++)
        pf_free(behind->allocator, behind->blocks[i].data, PF_WRITER_THREAD_BLOCK_BYTES);
    pf_free(behind->allocator, behind, sizeof(*behind));
}

static int failure_of(const struct pf_writer_thread *behind, struct perfile_error *error)
{
    if (behind->result < 0 && error)
        *error = behind->error;
    return behind->result;
}

/* A block to fill. */
static int begin_block(struct pf_writer_thread *behind, struct perfile_error *error)
{
    while (behind->count == PF_WRITER_THREAD_BLOCKS)
        pthread_cond_wait(&behind->room, &behind->mutex);
    struct block *block = last_block(behind);
    if (!block->data && !(block->data = pf_resize(behind->allocator, NULL, 0, PF_WRITER_THREAD_BLOCK_BYTES)))
        return pf_fail_memory(error, "records that wait");
    behind->filling = true;
    return 0;
}

/* As many whole records as fit. */
static size_t fitting(const uint8_t *records, size_t bytes, size_t room)
{
    size_t at = 0, size;
    if (bytes <= room)
        return bytes;
    while (at + 8 <= bytes && (size = pf_load16(records + at + 6, false)) >= 8 && at + size <= room)
        at += size;
    return at;
}

/* *taken 0: the block is full. */
static int fill(struct pf_writer_thread *behind, const uint8_t *records, size_t bytes, size_t *taken,
                struct perfile_error *error)
{
    int result = behind->filling ? 0 : begin_block(behind, error);
    if (result < 0)
        return result;
    struct block *block = last_block(behind);
    *taken = fitting(records, bytes, PF_WRITER_THREAD_BLOCK_BYTES - block->used);
    memcpy(block->data + block->used, records, *taken);
    block->used += *taken;
    if (*taken)
        return 0;
    if (!block->used) /* no record is larger than a block */
        return pf_fail(error, PERFILE_ERROR_READ, PERFILE_NO_OFFSET, "ring buffer", "a record without a size");
    behind->filling = false;
    behind->count++;
    pthread_cond_signal(&behind->ready);
    return 0;
}

int pf_writer_thread_put(struct pf_writer_thread *behind, const uint8_t *records, size_t bytes,
                         struct perfile_error *error)
{
    int result;
    pthread_mutex_lock(&behind->mutex);
    result = failure_of(behind, error);
    for (size_t at = 0, taken = 0; at < bytes && result == 0; at += taken)
        result = fill(behind, records + at, bytes - at, &taken, error);
    pthread_mutex_unlock(&behind->mutex);
    return result;
}

int pf_writer_thread_flush(struct pf_writer_thread *behind, struct perfile_error *error)
{
    pthread_mutex_lock(&behind->mutex);
    const int result = failure_of(behind, error);
    behind->flush = true;
    pthread_cond_signal(&behind->ready);
    pthread_mutex_unlock(&behind->mutex);
    return result;
}

int pf_writer_thread_settle(struct pf_writer_thread *behind, struct perfile_error *error)
{
    pthread_mutex_lock(&behind->mutex);
    behind->flush = true;
    pthread_cond_signal(&behind->ready);
    while (behind->count || behind->filling || behind->flush || behind->busy)
        pthread_cond_wait(&behind->room, &behind->mutex);
    const int result = failure_of(behind, error);
    pthread_mutex_unlock(&behind->mutex);
    return result;
}

void pf_writer_thread_switch(struct pf_writer_thread *behind, struct perfile_writer *writer)
{
    pthread_mutex_lock(&behind->mutex);
    behind->writer = writer;
    behind->written = perfile_writer_progress(writer)->bytes;
    pthread_mutex_unlock(&behind->mutex);
}

uint64_t pf_writer_thread_written(struct pf_writer_thread *behind)
{
    pthread_mutex_lock(&behind->mutex);
    const uint64_t written = behind->written;
    pthread_mutex_unlock(&behind->mutex);
    return written;
}
