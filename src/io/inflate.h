/* SPDX-License-Identifier: MIT */
/*
 * The zstd stream that runs through the compressed records of one data file: one frame, never closed by its writer, or
 * several frames one after the other.
 */
#ifndef PF_IO_INFLATE_H
#define PF_IO_INFLATE_H

#include "base/memory.h"

struct pf_inflate;

int pf_inflate_open(struct pf_inflate **inflate, const struct perfile_allocator *allocator,
                    struct perfile_error *error);
void pf_inflate_close(struct pf_inflate *inflate);
/* Back to the start of a stream; input that is waiting is dropped. */
void pf_inflate_restart(struct pf_inflate *inflate);
/* The next compressed piece; it is copied. The piece before must have been used up. */
int pf_inflate_push(struct pf_inflate *inflate, const void *data, size_t bytes, struct perfile_error *error);
/* Inflates up to `bytes` bytes; *got 0 when the input is used up. COMPRESSION: the stream is beyond repair. */
int pf_inflate_pull(struct pf_inflate *inflate, void *to, size_t bytes, size_t *got, struct perfile_error *error);
/* The input is used up, and no frame goes on: what is pushed next can be inflated without what came before. */
bool pf_inflate_is_between(const struct pf_inflate *inflate);
/* How many frames have ended so far. */
uint64_t pf_inflate_ended(const struct pf_inflate *inflate);

#endif
