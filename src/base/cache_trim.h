/* SPDX-License-Identifier: MIT */
/*
 * Room in a folder of files that can be made again. Those of one kind are called HEX-HEX and a suffix; while one is made, it has ".new"
 * or "-XXXXXX" behind that. Their time of modification says when they were used last.
 */
#ifndef PF_BASE_CACHE_TRIM_H
#define PF_BASE_CACHE_TRIM_H

#include <stdint.h>

#include <perfile/perfile.h>

/*
 * What was used longest ago goes until all files of the kind take at most `limit_bytes`, but never the one named `kept` (NULL:
 * none); and what was not finished within an hour, unless somebody has it locked (flock). All else in the folder stays as it
 * is: links, folders, other names. Failures are not looked at: the next one who saves does it again.
 */
void pf_cache_trim(const struct perfile_allocator *allocator, const char *folder, const char *suffix, const char *kept,
                   uint64_t limit_bytes);

#endif
