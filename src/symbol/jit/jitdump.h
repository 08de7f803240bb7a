/* SPDX-License-Identifier: MIT */
/*
 * jitdump files, which JITs write beside their code: tools/perf/Documentation/jitdump-specification.txt of the kernel.
 * They have their own byte order and may end anywhere, as their process did.
 */
#ifndef PF_SYMBOL_JIT_JITDUMP_H
#define PF_SYMBOL_JIT_JITDUMP_H

#include <perfile/perfile.h>

#include "base/memory.h"

/* One piece of code that was made (a name) or moved (no name). */
struct pf_jitdump_code {
    uint64_t time; /* ns, or ticks of the TSC */
    uint64_t address;
    uint64_t bytes;
    uint64_t code_offset;      /* in the file, of its `bytes` bytes */
    uint64_t mapped_bytes;     /* with the tables for unwinding that follow it */
    uint64_t unwinding_offset; /* in the file, of .eh_frame and .eh_frame_hdr; 0: there is none */
    uint64_t unwinding_bytes;
    uint64_t unwinding_header_bytes; /* of them, .eh_frame_hdr at the end */
    uint64_t index;                  /* the same when it moves */
    const char *name;                /* NULL: it moved here; valid until the next call */
    uint64_t lines_offset;           /* in the file, of the entries of DEBUG_INFO; 0: there are none */
    uint64_t lines_bytes;
    uint64_t lines_count;
};

struct pf_jitdump {
    const struct perfile_allocator *allocator;
    int fd;              /* -1: the file is in memory */
    const uint8_t *data; /* then all of its file_bytes */
    bool swap;
    bool has_ticks;   /* times are ticks of the TSC */
    bool is_cut;      /* it ends within a record */
    uint64_t damaged; /* records of code that cannot be understood */
    uint32_t machine; /* EM_* */
    uint32_t pid;
    uint64_t file_bytes;
    uint64_t at; /* the next record */
    uint8_t *buffer;
    uint64_t buffer_at; /* where in the file it begins */
    size_t buffered;
    struct pf_jitdump_code pending; /* what is known before the code itself: lines, mapped_bytes */
};

/* Errors: OPEN, READ, FORMAT (no jitdump), MEMORY. */
int pf_jitdump_open(struct pf_jitdump *dump, const struct perfile_allocator *allocator, const char *path,
                    struct perfile_error *error);
/* A file that a recording has itself. */
struct pf_jitdump_content {
    const char *name;    /* for errors */
    const uint8_t *data; /* NULL: the recording does not have it */
    size_t bytes;
};
/* The same of such a file, whose data has to stay. */
int pf_jitdump_open_memory(struct pf_jitdump *dump, const struct perfile_allocator *allocator,
                           const struct pf_jitdump_content *content, struct perfile_error *error);
void pf_jitdump_close(struct pf_jitdump *dump);
/* 1 and *code, or 0 at the end of what is complete. */
int pf_jitdump_next(struct pf_jitdump *dump, struct pf_jitdump_code *code);

/* Bytes of the file, such as those of code; false when they are not all there. */
bool pf_jitdump_read(const struct pf_jitdump *dump, uint64_t offset, void *to, size_t bytes);

/* A row of the lines of one piece of code. */
struct pf_jitdump_line {
    uint64_t address;
    uint32_t line;
    const char *file;
};
/*
 * The lines of one piece of code, in the order of the file; memory of the arena. Returns how many, 0 also when they
 * cannot be read.
 */
size_t pf_jitdump_lines(struct pf_jitdump *dump, const struct pf_jitdump_code *code, struct pf_arena *arena,
                        struct pf_jitdump_line **lines);

#endif
