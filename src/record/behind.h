/* SPDX-License-Identifier: MIT */
/*
 * A thread that writes behind the one that empties the buffers, for writers that take their time: compression, slow disks.
 * What waits for it is bounded; then whoever empties the buffers waits, too. Records keep their order.
 */
#ifndef PF_RECORD_BEHIND_H
#define PF_RECORD_BEHIND_H

#include <perfile/writer.h>

#include "base/memory.h"

enum { PF_BEHIND_BLOCKS = 32, PF_BEHIND_BLOCK_BYTES = 1 << 20 }; /* so much may wait */

struct pf_behind;

/* NULL: memory or threads are short. The allocator is used by the caller's thread only, the writer's by both. */
struct pf_behind *pf_behind_open(struct perfile_writer *writer, const struct perfile_allocator *allocator);
/* Drops what waits. NULL is allowed. */
void pf_behind_close(struct pf_behind *behind);
/* Whole records, which are copied. Failures of the writer come out here or in the calls below, and stay. */
int pf_behind_put(struct pf_behind *behind, const uint8_t *records, size_t bytes, struct perfile_error *error);
/* What was put goes to the writer, and from there to the system as soon as nothing else waits. */
int pf_behind_flush(struct pf_behind *behind, struct perfile_error *error);
/* Waits until all that was put is written; then the writer is the caller's until he puts something again. */
int pf_behind_settle(struct pf_behind *behind, struct perfile_error *error);
/* From now on another writer; between _settle and _put only. */
void pf_behind_switch(struct pf_behind *behind, struct perfile_writer *writer);
/* What perfile_writer_progress said of the writer's bytes after it was used last. */
uint64_t pf_behind_written(struct pf_behind *behind);

#endif
