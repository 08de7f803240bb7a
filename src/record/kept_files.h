/* SPDX-License-Identifier: MIT */
/*
 * What JITs in containers write for profilers: perf-PID.map in a /tmp of their own, and jitdump files. Both are gone
 * when the container is. They are kept open while their processes run, and written into the recording: as the feature
 * FILE2, where readers find them under the number that the process has outside.
 */
#ifndef PF_RECORD_KEPT_FILES_H
#define PF_RECORD_KEPT_FILES_H

#include "base/text.h"
#include "record/made_code.h"

struct pf_kept_file {
    uint32_t pid;
    int folder; /* of a map: the process's own /tmp, in which it may appear as late as at the end; -1: of a dump */
    int file;   /* -1: it does not exist yet */
    char name[PF_MADE_CODE_PATH]; /* of a dump: the path as the process has it; of a map: the name in the folder */
};

struct pf_kept_files {
    const struct perfile_allocator *allocator;
    struct pf_kept_file items[2 * PF_MADE_CODE_REGIONS];
    size_t count;
    uint64_t looked_ns; /* when processes were looked at last */
};

void pf_kept_files_close(struct pf_kept_files *files);
/* Opens what the processes with code of their own have; unless it is the last time, a few times a second at most. */
void pf_kept_files_look(struct pf_kept_files *files, struct pf_made_code *code, bool is_last);
/* Whether there is something to write. */
bool pf_kept_files_exist(const struct pf_kept_files *files);
/* Appends the body of the feature FILE2. Files that are too large are counted instead. False: out of memory. */
bool pf_kept_files_put(const struct pf_kept_files *files, struct pf_text *body, unsigned *left_out);

#endif
