/* SPDX-License-Identifier: MIT */
/*
 * Limits the size of a folder of files that can be made again. Those of one kind are named HEX-HEX and a suffix; while
 * one is written, ".new" or "-XXXXXX" follows. Their time of modification is that of their last use.
 */
#ifndef PF_BASE_CACHE_TRIM_H
#define PF_BASE_CACHE_TRIM_H

#include <stdint.h>

#include <perfile/perfile.h>

/*
 * Deletes the files of the kind that were used longest ago until all take at most `limit_bytes`, but never the one
 * named `kept` (NULL: no such file); and unfinished files that are older than an hour and not locked (flock). All else
 * in the folder stays: links, folders, other names. Failures are ignored: the next call tries again.
 */
void pf_cache_trim(const struct perfile_allocator *allocator, const char *folder, const char *suffix, const char *kept,
                   uint64_t limit_bytes);

#endif
