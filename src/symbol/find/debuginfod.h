/* SPDX-License-Identifier: MIT */
/*
 * Files from debuginfod servers, through libdebuginfod where it is installed. Each question is asked on a thread of its
 * own, because the library may wait longer than its limit (for the name of a server); the caller never does.
 */
#ifndef PF_SYMBOL_FIND_DEBUGINFOD_H
#define PF_SYMBOL_FIND_DEBUGINFOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <perfile/perfile.h>

enum { PF_DEBUGINFOD_TOTAL_SECONDS = 90, PF_DEBUGINFOD_FILE_SECONDS = 20 };
#define PF_DEBUGINFOD_FILE_BYTES (2ull << 30) /* kernels with debug info have 1 GiB */

/* What the questions of one recording have cost. */
struct pf_debuginfod {
    int64_t left_ms;     /* for all that is still to be asked */
    uint64_t left_bytes; /* likewise */
    uint64_t file_bytes; /* of one file */
    unsigned asked;
    unsigned absent;  /* no server has it */
    unsigned failed;  /* servers that could not be reached, and the like */
    unsigned late;    /* given up */
    unsigned large;   /* more than file_bytes or left_bytes */
    unsigned skipped; /* not asked, because the time was used up */
    unsigned refused; /* not asked, because left_bytes were */
    int last_error;   /* errno of a failure */
    bool is_missing;  /* there is no libdebuginfod */
};

struct pf_debuginfod_question {
    const uint8_t *build_id;
    size_t build_id_bytes;
    bool wants_debug;            /* the debug file, else the binary */
    const char *source;          /* instead of these a source file, by its name in the debug info; NULL: none */
    int64_t limit_ms;            /* for this file */
    void (*slow)(void *context); /* called once when it takes longer than a second */
    void *context;
    const struct perfile_allocator *allocator; /* of the answer; NULL: malloc's */
};

/* 0: as by default. */
void pf_debuginfod_limit(struct pf_debuginfod *debuginfod, uint64_t total_seconds, uint64_t file_bytes);
/*
 * The path of the file in the library's cache, owned (pf_text_free); NULL: there is none in time, which is counted, or,
 * with ENOMEM in errno, no memory.
 */
char *pf_debuginfod_find(struct pf_debuginfod *debuginfod, const struct pf_debuginfod_question *question);

#endif
