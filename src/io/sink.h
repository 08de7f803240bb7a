/* SPDX-License-Identifier: MIT */
/*
 * Where bytes go: a file that appears under its name only when it is complete, a descriptor, or the caller's function.
 * Bytes are gathered before they are written; the first failure is kept, and nothing more is written after it.
 */
#ifndef PF_IO_SINK_H
#define PF_IO_SINK_H

#include <limits.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"

struct pf_sink {
    const struct perfile_allocator *allocator;
    int (*write)(void *context, const void *data, size_t bytes); /* NULL: `fd` */
    void *context;
    int fd;
    bool owned;
    bool seekable;
    bool unnamed;    /* the file has no name yet at all */
    int directory;   /* of the target; -1: written in place */
    char *path;      /* as the caller named it, for messages; NULL: no path */
    char *name;      /* of the target within its directory */
    char *temporary; /* the name until then */
    uint64_t base;   /* where the descriptor stood */
    uint64_t bytes;  /* taken so far */
    uint64_t
        sealed; /* not 0: what follows only makes sense when all of it is there, else a named file is cut off here */
    uint8_t *buffer;
    size_t used;
    int failure; /* 0, or the code of the first failure */
    int error_number;
};

/* ".NAME.PID.xxxxxxxx", by which it is easy to see what a left-over file was meant to be. */
void pf_temporary_name(char text[NAME_MAX + 1], const char *name);
/* So that the names in it last; what is under them is complete also where a folder cannot be synced. */
void pf_sync_folder(int directory);
/*
 * A new file: it replaces `path` when it is committed, and never before. Devices and FIFOs are written in place; a
 * link stays, and its target is what is made or replaced. "-" is standard output. Errors: OPEN, MEMORY.
 */
int pf_sink_open_path(struct pf_sink *sink, const struct perfile_allocator *allocator, const char *path,
                      struct perfile_error *error);
/* The file `name` in a directory that is not seen under its own name yet. */
int pf_sink_open_in(struct pf_sink *sink, const struct perfile_allocator *allocator, int directory, const char *name,
                    struct perfile_error *error);
int pf_sink_open_fd(struct pf_sink *sink, const struct perfile_allocator *allocator, int fd,
                    struct perfile_error *error);
int pf_sink_open_callback(struct pf_sink *sink, const struct perfile_allocator *allocator,
                          int (*write)(void *context, const void *data, size_t bytes), void *context,
                          struct perfile_error *error);
/* Releases everything; what was not committed is gone. A zeroed sink is allowed. */
void pf_sink_close(struct pf_sink *sink);

/* Slow path of pf_sink_put. */
int pf_sink_write(struct pf_sink *sink, const void *data, size_t bytes, struct perfile_error *error);
/* Over bytes that were written before; the sink must be seekable. */
int pf_sink_patch(struct pf_sink *sink, uint64_t offset, const void *data, size_t bytes, struct perfile_error *error);
int pf_sink_flush(struct pf_sink *sink, struct perfile_error *error);
/* The file gets its name now; writing goes on. */
int pf_sink_name(struct pf_sink *sink, struct perfile_error *error);
/* Gives the file its name, with `sync` when it is on the disk. WRITE. */
int pf_sink_commit(struct pf_sink *sink, bool sync, struct perfile_error *error);

enum { PF_SINK_CAPACITY = 256 * 1024 };

static inline int pf_sink_put(struct pf_sink *sink, const void *data, size_t bytes, struct perfile_error *error)
{
    if (PF_UNLIKELY(bytes > PF_SINK_CAPACITY - sink->used || sink->failure))
        return pf_sink_write(sink, data, bytes, error);
    if (bytes)
        memcpy(sink->buffer + sink->used, data, bytes);
    sink->used += bytes;
    sink->bytes += bytes;
    return 0;
}

#endif
