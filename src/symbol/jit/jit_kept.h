/* SPDX-License-Identifier: MIT */
/* jitdump files that the recorder kept in the recording, because their containers would be gone. */
#ifndef PF_SYMBOL_JIT_JIT_KEPT_H
#define PF_SYMBOL_JIT_JIT_KEPT_H

#include "symbol/jit/jitdump.h"

/* Reads the file that the process had under `kept->name` into memory of the arena. Returns 0, or MEMORY. */
int pf_jit_kept_find(struct perfile_reader *reader, int32_t pid, struct pf_arena *arena,
                     struct pf_jitdump_content *kept);

#endif
