/* SPDX-License-Identifier: MIT */
/* What the files of inject share. */
#ifndef PF_EDIT_INJECT_H
#define PF_EDIT_INJECT_H

#include "base/map.h"
#include "edit/edit.h"

/* ---- inject_code.c: mappings of code that JIT compilers made ---- */

struct pf_code_map {
    uint64_t time;
    uint64_t sequence; /* at equal times what came first holds first */
    struct perfile_map map;
};

struct pf_code {
    struct pf_edit *edit;
    const struct perfile_inject_options *options;
    struct pf_arena names;
    struct pf_code_map *maps; /* those from `done` on wait for their time */
    size_t count, room, done;
    bool unsorted;
    struct pf_map pids; /* whose anonymous memory is left out */
    uint64_t added;
    uint64_t untold; /* of them, those that the session does not know */
};

void pf_code_open(struct pf_code *code, struct pf_edit *edit, const struct perfile_inject_options *options);
void pf_code_close(struct pf_code *code);
struct pf_edit_step pf_code_step(struct pf_code *code);

/* A mapping that no record of the recording tells of as it stands in the output. */
int pf_inject_map(struct pf_edit *edit, uint64_t time, const struct perfile_map *map, struct perfile_error *error);

#endif
