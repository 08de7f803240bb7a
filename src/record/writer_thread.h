/* SPDX-License-Identifier: MIT */
/*
 * A thread that writes behind the one that empties the buffers, for writers that take their time: compression, slow disks.
 * What waits for it is bounded; then whoever empties the buffers waits, too. Records keep their order.
 */
#ifndef PF_RECORD_WRITER_THREAD_H
#define PF_RECORD_WRITER_THREAD_H

#include <perfile/writer.h>

#include "base/memory.h"

enum { PF_WRITER_THREAD_BLOCKS = 32, PF_WRITER_THREAD_BLOCK_BYTES = 1 << 20 }; /* so much may wait */

struct pf_writer_thread;

/* NULL: memory or threads are short. The allocator is used by the caller's thread only, the writer's by both. */
struct pf_writer_thread *pf_writer_thread_open(struct perfile_writer *writer,
                                               const struct perfile_allocator *allocator);
/* Drops what waits. NULL is allowed. */
void pf_writer_thread_close(struct pf_writer_thread *behind);
/* Whole records, which are copied. Failures of the writer come out here or in the calls below, and stay. */
int pf_writer_thread_put(struct pf_writer_thread *behind, const uint8_t *records, size_t bytes,
                         struct perfile_error *error);
/* What was put goes to the writer, and from there to the system as soon as nothing else waits. */
int pf_writer_thread_flush(struct pf_writer_thread *behind, struct perfile_error *error);
/* Waits until all that was put is written; then the writer is the caller's until he puts something again. */
int pf_writer_thread_settle(struct pf_writer_thread *behind, struct perfile_error *error);
/* From now on another writer; between _settle and _put only. */
void pf_writer_thread_switch(struct pf_writer_thread *behind, struct perfile_writer *writer);
/* What perfile_writer_progress said of the writer's bytes after it was used last. */
uint64_t pf_writer_thread_written(struct pf_writer_thread *behind);

#endif
