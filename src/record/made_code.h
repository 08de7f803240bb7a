/* SPDX-License-Identifier: MIT */
/* Code that processes have made themselves (JIT), and whether they say what it is. */
#ifndef PF_RECORD_MADE_CODE_H
#define PF_RECORD_MADE_CODE_H

#include "base/bytes.h"
#include "base/note.h"

enum { PF_MADE_CODE_REGIONS = 64, PF_MADE_CODE_NAME = 16, PF_MADE_CODE_PATH = 256 };

struct pf_made_code {
    struct pf_made_code_region {
        uint64_t start, end;
        uint64_t samples;
        uint32_t pid;
        char comm[PF_MADE_CODE_NAME];
    } regions[PF_MADE_CODE_REGIONS];
    size_t count;
    struct pf_made_code_dump {
        uint32_t pid;
        char name[PF_MADE_CODE_PATH];
    } dumps[PF_MADE_CODE_REGIONS]; /* jitdump files that processes write */
    size_t dump_count;
    uint32_t mapped[PF_MADE_CODE_REGIONS]; /* processes whose perf map or jitdump file was seen */
    size_t mapped_count;
};

/* A mapping, as MMAP2 records have it. */
void pf_made_code_map(struct pf_made_code *code, uint32_t pid, uint64_t start, uint64_t bytes, const char *name);

/* A perf map or jitdump file of the process was seen. */
void pf_made_code_note_map(struct pf_made_code *code, uint32_t pid);
/* No region before it belongs to the same process. */
bool pf_made_code_is_first(const struct pf_made_code *code, size_t index);

static inline void pf_made_code_sample(struct pf_made_code *code, uint32_t pid, uint64_t ip)
{
    for (size_t i = 0; i < code->count; i++)
        if (PF_UNLIKELY(ip - code->regions[i].start < code->regions[i].end - code->regions[i].start) &&
            code->regions[i].pid == pid)
            code->regions[i].samples++;
}

/*
 * Says of each process with more than a hundredth of all samples in such code what would give it names, unless there is
 * a perf map or a jitdump file.
 */
void pf_made_code_notify(const struct pf_made_code *code, uint64_t samples, pf_on_note *note, void *context);

#endif
