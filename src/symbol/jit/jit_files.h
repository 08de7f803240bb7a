/* SPDX-License-Identifier: MIT */
/* The pieces of code of a jitdump file as ELF files. */
#ifndef PF_SYMBOL_JIT_JIT_FILES_H
#define PF_SYMBOL_JIT_JIT_FILES_H

#include "symbol/jit/jitdump.h"

/* Where the files of a dump are, or are to be; both texts are owned (pf_text_free), or NULL. */
struct pf_jit_folder {
    char *real;  /* as it is */
    char *named; /* as readers with the same symfs will look for it */
};

/*
 * Writes the code to `path`, over an older file of that name; it appears complete or not at all. Errors: TRUNCATED (the
 * dump does not hold it), LIMIT (it is larger than code can be), MEMORY, WRITE.
 */
int pf_jit_file_write(struct pf_jitdump *dump, const struct pf_jitdump_code *code, const char *path,
                      uint8_t build_id[20], struct perfile_error *error);
/* Of the dump's allocator. `folder` without an end slash; `symfs` is "" or a folder. Errors: MEMORY, WRITE. */
int pf_jit_files_folder(const struct pf_jitdump *dump, const char *folder, const char *symfs,
                        struct pf_jit_folder *made, struct perfile_error *error);

#endif
