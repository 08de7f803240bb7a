/* SPDX-License-Identifier: MIT */
/*
 * A writer thread beside the one that empties the buffers, for slow writers: compression, slow disks. Its queue is
 * bounded; when it is full, the caller waits. Records keep their order.
 */
#ifndef PF_RECORD_WRITER_THREAD_H
#define PF_RECORD_WRITER_THREAD_H

#include <perfile/writer.h>

#include "base/memory.h"

enum { PF_WRITER_THREAD_BLOCKS = 32, PF_WRITER_THREAD_BLOCK_BYTES = 1 << 20 }; /* the bound of the queue */

struct pf_writer_thread;

/* NULL: out of memory or threads. The allocator is used by the caller's thread only, the writer's by both. */
struct pf_writer_thread *pf_writer_thread_open(struct perfile_writer *writer,
                                               const struct perfile_allocator *allocator);
/* Drops what waits. NULL is allowed. */
void pf_writer_thread_close(struct pf_writer_thread *worker);
/* Complete records, which are copied. Failures of the writer come out here or in the calls below, and stay. */
int pf_writer_thread_put(struct pf_writer_thread *worker, const uint8_t *records, size_t bytes,
                         struct perfile_error *error);
/* What was put goes to the writer, and from there to the system as soon as nothing else waits. */
int pf_writer_thread_flush(struct pf_writer_thread *worker, struct perfile_error *error);
/* Waits until all that was put is written; then the writer is the caller's until he puts something again. */
int pf_writer_thread_settle(struct pf_writer_thread *worker, struct perfile_error *error);
/* From now on another writer; between _settle and _put only. */
void pf_writer_thread_switch(struct pf_writer_thread *worker, struct perfile_writer *writer);
/* The bytes that perfile_writer_progress reported when the writer was used last. */
uint64_t pf_writer_thread_written(struct pf_writer_thread *worker);

#endif
