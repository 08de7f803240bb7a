/* SPDX-License-Identifier: MIT */
/*
 * The writing side of inflate.h: one zstd frame for all that is pushed, flushed after each push, and closed on demand
 * only.
 */
#ifndef PF_IO_DEFLATE_H
#define PF_IO_DEFLATE_H

#include "base/memory.h"

struct pf_deflate;

/* `level` 1 to 22. */
int pf_deflate_open(struct pf_deflate **deflate, const struct perfile_allocator *allocator, int level,
                    struct perfile_error *error);
void pf_deflate_close(struct pf_deflate *deflate);
/* The bytes to be compressed next; they must stay until they are used up. */
void pf_deflate_push(struct pf_deflate *deflate, const void *data, size_t bytes);
/* Once all that was pushed is out the frame is over, and a new one begins with what is pushed next. */
void pf_deflate_end(struct pf_deflate *deflate);
/* Writes up to `capacity` compressed bytes; *got is 0 when all that was pushed is written. */
int pf_deflate_pull(struct pf_deflate *deflate, void *to, size_t capacity, size_t *got, struct perfile_error *error);

#endif
