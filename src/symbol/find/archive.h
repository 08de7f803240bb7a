/* SPDX-License-Identifier: MIT */
/* Archives of binaries, as `perf archive` makes them: read as one more build-id cache. */
#ifndef PF_SYMBOL_FIND_ARCHIVE_H
#define PF_SYMBOL_FIND_ARCHIVE_H

#include <sys/stat.h>

#include "symbol/find/find.h"

/*
 * The build-id cache that `path` stands for: itself when it is a folder; else the folder in the user's cache where a
 * tar file (plain, or compressed by gzip, bzip2, xz or zstd) is unpacked, once. *directory is owned (pf_text_free);
 * NULL when there is nothing, which a note of `options` explains. Of an archive only files that a build-id cache has
 * are taken, under names made of their build ids: its own names and links lead nowhere. Errors: MEMORY.
 */
int pf_archive_open(const struct pf_find_options *options, const char *path, char **directory);

/* What a file holds is unpacked once into the user's cache. */
struct pf_unpack {
    const struct pf_find_options *options;
    const char *path;   /* of the file, for notes */
    bool has_other_way; /* a missing folder needs no note */
    /* Fills the empty folder; false: there was nothing for it, which was noted. */
    bool (*fill)(void *context, const struct pf_find_options *options, const char *folder);
    void *context;
};
/* The folder (owned) for the file that `about` describes; NULL when it would be empty, which was noted. MEMORY. */
int pf_unpack_cached(const struct pf_unpack *how, const struct stat *about, char **directory);

#endif
