/* SPDX-License-Identifier: MIT */
/* A directory that appears under its name only when all of its files are complete. */
#ifndef PF_IO_FOLDER_H
#define PF_IO_FOLDER_H

#include "base/error.h"

struct pf_folder {
    const struct perfile_allocator *allocator;
    int parent;    /* descriptor of the directory that it will be in; -1: not open */
    int directory; /* of the files */
    char *path;    /* as the caller named it */
    char *name;
    char *temporary;
};

/* Errors: OPEN (also when something else than such a directory has the name), MEMORY. */
int pf_folder_open(struct pf_folder *folder, const struct perfile_allocator *allocator, const char *path,
                   struct perfile_error *error);
/*
 * Copies the directories of the directory `from` whose names begin with `prefix`, and the files in them, but no links
 * and nothing deeper. `folder` NULL: only counts. *count is how many there are. READ, WRITE, OPEN, MEMORY.
 */
int pf_folder_take(const struct pf_folder *folder, int from, const char *prefix, size_t *count,
                   struct perfile_error *error);
/* Gives the directory its name and removes what had the name before. WRITE. */
int pf_folder_commit(struct pf_folder *folder, bool sync, struct perfile_error *error);
/* What was not committed is removed. A zeroed folder is allowed. */
void pf_folder_close(struct pf_folder *folder);

#endif
