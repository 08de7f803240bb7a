/* SPDX-License-Identifier: MIT */
/* Finds, uses and writes the index of a recording. */
#ifndef PERFILE_CLI_INDEX_H
#define PERFILE_CLI_INDEX_H

#include <stdbool.h>
#include <stddef.h>

#include <perfile/perfile.h>

/* The path in the cache; `make`: its folder is made. False: there is no cache, or no such file. */
bool pf_index_cached(const char *recording, char *path, size_t capacity, bool make);
/* The positions where an index is searched, in this order. */
enum pf_index_position { PF_INDEX_BESIDE, PF_INDEX_CACHED, PF_INDEX_POSITIONS };
/* A descriptor of the index there; below 0: there is none. Before the sandbox. */
int pf_index_find(const char *recording, enum pf_index_position position);
/* Gives it to the reader, if it is its, and marks one in the cache as used; `fd` may be below 0, and is closed. */
bool pf_index_use(struct perfile_reader *reader, int fd, enum pf_index_position position);
/* After an index was made at that path in the cache: removes the least recently used ones if all are too large. */
void pf_index_trim_cache(const char *made);
/* When this reader reads all of the recording, it silently writes an index to the cache. */
void pf_index_leave(struct perfile_reader *reader, const char *recording);
/*
 * Silently replaces an index in the cache that does not fit any more, and uses the new one. False: it cannot be made.
 */
bool pf_index_renew(struct perfile_reader *reader, const char *recording);

#endif
