/* SPDX-License-Identifier: MIT */
/* What gzip files have in common. */
#ifndef PF_OUTPUT_GZIP_ZLIB_H
#define PF_OUTPUT_GZIP_ZLIB_H

#include <perfile/perfile.h>
#include <zlib.h>

enum pf_gzip_kind {
    PF_GZIP_TEXT,    /* until another is expected */
    PF_GZIP_NUMBERS, /* more work would not make much less of them */
    PF_GZIP_NOISE,   /* the same again is found, no more */
};

struct pf_gzip_way {
    int level, strategy;
};

struct pf_gzip_way pf_gzip_way(enum pf_gzip_kind kind);
/* A stream whose memory comes from the allocator. */
z_stream pf_gzip_stream(const struct perfile_allocator *allocator);

#endif
