/* SPDX-License-Identifier: MIT */
/* Where bytes come from: memory, a descriptor or callbacks that can seek, or ones that cannot. */
#ifndef PF_IO_SOURCE_H
#define PF_IO_SOURCE_H

#include "base/error.h"

struct pf_source {
    const uint8_t *memory;           /* NULL: a descriptor, or callbacks */
    struct perfile_source callbacks; /* when `read` is not NULL */
    int fd;
    bool owned; /* close the descriptor at the end */
    bool seekable;
    bool growing;      /* it may still be written: its size is not known, and no bytes are no end */
    uint64_t base;     /* seekable: where the recording starts in the file */
    uint64_t bytes;    /* memory and seekable: size of the recording; else 0 */
    uint64_t position; /* stream: how much was read; callbacks: where they stand */
};

void pf_source_from_memory(struct pf_source *source, const void *data, size_t bytes);
/* Finds out whether the descriptor can seek; it stays the caller's. */
int pf_source_from_fd(struct pf_source *source, int fd, struct perfile_error *error);
/* Opens a file, not a directory. "-" is standard input. */
int pf_source_from_path(struct pf_source *source, const char *path, struct perfile_error *error);
/* The file `name` in the directory `directory`; symbolic links are not followed. */
int pf_source_from_directory(struct pf_source *source, int directory, const char *name, struct perfile_error *error);
/* The caller's callbacks. ARGUMENT: `read` is missing, or one of `seek` and `bytes` without the other. */
int pf_source_from_callbacks(struct pf_source *source, const struct perfile_source *callbacks,
                             struct perfile_error *error);
/* It grows no more: its size is what it has now. */
int pf_source_settle(struct pf_source *source, struct perfile_error *error);
void pf_source_close(struct pf_source *source);

/*
 * Reads up to `bytes` at `offset`; *got is less only at the end of the input, or where a growing one has got to. A
 * stream must be read in order.
 */
int pf_source_read(struct pf_source *source, uint64_t offset, void *to, size_t bytes, size_t *got,
                   struct perfile_error *error);

/* A file without a name in this folder, -1: in $TMPDIR; below 0: none could be made. OPEN. */
int pf_open_unlinked(int folder, struct perfile_error *error);

/*
 * Makes a stream seekable by copying it, `head` (the bytes already read) first, to the file `temporary`, which stays
 * the caller's; 0: to an unlinked one in $TMPDIR.
 */
int pf_source_spool(struct pf_source *source, const void *head, size_t head_bytes, int temporary,
                    struct perfile_error *error);

#endif
