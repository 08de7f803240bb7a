/* SPDX-License-Identifier: MIT */
/*
 * Code that JITs made: a recording that mapped `jit-PID.dump` gets a mapping for each piece of code, from the time on
 * at which it was made, as `perf inject --jit` writes them.
 */
#ifndef PF_SYMBOL_JIT_JIT_H
#define PF_SYMBOL_JIT_JIT_H

#include <perfile/perfile.h>

#include "symbol/find/find.h"
#include "symbol/dwarf/inlines.h"
#include "symbol/unwind/insn.h"

/* The offset of the code in the files that perf inject makes: pgoff of the mapping of all of the code. */
enum { PF_JIT_TEXT_OFFSET = 0x80 };

/* One piece of code; perfile_map.code is its number. */
struct pf_jit_code {
    const char *name; /* as the JIT wrote it */
    uint64_t address; /* where it was made */
    uint64_t bytes;
};

struct pf_jit;

/* What became of code that is written to files. */
struct pf_jit_counts {
    uint64_t dumps; /* that were used */
    uint64_t files;
};

/* Everything must outlive it. */
int pf_jit_open(struct perfile_reader *reader, struct perfile_session *session, const struct pf_find_options *find,
                struct pf_jit **jit, struct perfile_error *error);
void pf_jit_close(struct pf_jit *jit);
/*
 * To be called before the first record: instead of the session, `take` gets each mapping with the time that it holds
 * from, and the code is written to files, jitted-PID-INDEX.so in the folder, which the mappings name. No name of the
 * recording decides where.
 */
void pf_jit_write_files(struct pf_jit *jit, const char *folder,
                        int (*take)(void *context, uint64_t time, const struct perfile_map *map,
                                    struct perfile_error *error),
                        void *context);
const struct pf_jit_counts *pf_jit_counts(const struct pf_jit *jit);
/* The record that was followed last maps a jitdump file that is used. */
bool pf_jit_is_used(const struct pf_jit *jit);
/* To be called with each record but samples as the session delivers it. Only memory can fail, writing files and `take`;
 * what else does is a note of the find options. */
int pf_jit_follow(struct pf_jit *jit, const struct perfile_record *record, struct perfile_error *error);
/* NULL when there is no such number. */
const struct pf_jit_code *pf_jit_code(const struct pf_jit *jit, uint32_t number);
/* The jitdump file that the code is from, or NULL. */
const char *pf_jit_path(const struct pf_jit *jit, uint32_t number);
/* At most `count` bytes of the code from an address of it on, where it was made; how many there were. */
size_t pf_jit_read(struct pf_jit *jit, uint32_t number, uint64_t address, uint8_t *to, size_t count,
                   struct pf_insn_machine *machine);
/* The line at an address of the code where it was made; false when it is not known. */
bool pf_jit_line(struct pf_jit *jit, uint32_t number, uint64_t address, struct pf_source_frame *frame);

#endif
