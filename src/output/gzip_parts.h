/* SPDX-License-Identifier: MIT */
/*
 * A gzip file that several threads deflate: in parts, each of which knows what stood before it, so that nothing is
 * repeated that one thread alone would have found. The bytes are the same for every number of threads.
 */
#ifndef PF_OUTPUT_GZIP_PARTS_H
#define PF_OUTPUT_GZIP_PARTS_H

#include "output/gzip_zlib.h"

struct pf_gzip_parts;

/* As those of gzip.h; the sink is called by the caller's thread. `threads`: the caller's included; 0 is 1. */
int pf_gzip_parts_open(struct pf_gzip_parts **gzip, const struct perfile_allocator *allocator,
                       const struct perfile_sink *sink, unsigned threads);
void pf_gzip_parts_close(struct pf_gzip_parts *gzip);
int pf_gzip_parts_write(struct pf_gzip_parts *gzip, const void *data, size_t bytes);
/* What comes next. 0, or the sink has failed. */
int pf_gzip_parts_expect(struct pf_gzip_parts *gzip, enum pf_gzip_kind kind);
int pf_gzip_parts_finish(struct pf_gzip_parts *gzip);

#endif
