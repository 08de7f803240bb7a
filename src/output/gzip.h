/* SPDX-License-Identifier: MIT */
/* A gzip file around what an output writes. */
#ifndef PF_OUTPUT_GZIP_H
#define PF_OUTPUT_GZIP_H

#include "base/memory.h"

struct pf_gzip;

/* What is written goes to the sink. Errors: MEMORY. */
int pf_gzip_open(struct pf_gzip **gzip, const struct perfile_allocator *allocator, const struct perfile_sink *sink,
                 struct perfile_error *error);
/* NULL is allowed. */
void pf_gzip_close(struct pf_gzip *gzip);
/* For pf_text_open; the context is the gzip. 0, or the sink has failed. */
int pf_gzip_write(void *gzip, const void *data, size_t bytes);
/* Nothing more comes. 0, or the sink has failed. */
int pf_gzip_finish(struct pf_gzip *gzip);

#endif
