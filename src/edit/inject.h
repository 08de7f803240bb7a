/* SPDX-License-Identifier: MIT */
/* What the files of inject share. */
#ifndef PF_EDIT_INJECT_H
#define PF_EDIT_INJECT_H

#include "base/heap.h"
#include "base/map.h"
#include "base/pairs.h"
#include "edit/build_ids.h"
#include "edit/edit.h"

/* ---- inject_maps.c: build ids of files, and their mappings ---- */

struct pf_inject_file {
    const char *name;
    uint8_t build_id[20];
    uint8_t bytes; /* 0: it is not known */
};

struct pf_inject_maps {
    struct pf_edit *edit;
    const struct perfile_inject_options *options;
    struct pf_arena names;
    struct pf_map by_name; /* hash of the name to file */
    struct pf_inject_file *files;
    size_t file_count, file_capacity;
    struct pf_pairs written;      /* map and process, start */
    struct perfile_record record; /* the item's, with another type or misc */
    bool has_trace;
    bool kept_all; /* none can be left out */
    uint64_t added;
    uint64_t missing; /* files whose build id is not known */
};

/* Where a mapping goes that stands somewhere else than in the recording. */
struct pf_inject_location {
    int32_t pid;
    uint64_t time;
};

void pf_inject_maps_open(struct pf_inject_maps *maps, struct pf_edit *edit,
                         const struct perfile_inject_options *options);
void pf_inject_maps_close(struct pf_inject_maps *maps);
/* For pf_build_ids_each: what the recording says of its files. */
int pf_inject_maps_know(void *maps, const struct pf_build_id_file *file, struct perfile_error *error);
/* The build id of the file of a mapping; its length, 0 when it is not known or no file, errors. */
int pf_inject_add_build_id(struct pf_inject_maps *maps, struct pf_known_ids *ids, const struct perfile_map *map,
                           struct perfile_error *error);
/* Writes it as an MMAP2 record. */
int pf_inject_map(struct pf_inject_maps *maps, const struct pf_inject_location *location, const struct perfile_map *map,
                  struct perfile_error *error);
/* Before a sample that hits the mapping. */
int pf_inject_maps_hit(struct pf_inject_maps *maps, const struct pf_inject_location *location,
                       const struct perfile_map *map, struct perfile_error *error);
/* Any record but a sample; `ids` gets the build ids of all files, or is NULL. A verdict. */
int pf_inject_maps_record(struct pf_inject_maps *maps, struct pf_item *item, struct pf_known_ids *ids,
                          struct perfile_error *error);
/* What could not be done. */
void pf_inject_maps_notify(const struct pf_inject_maps *maps);

/* ---- inject_code.c: mappings of code that JIT compilers made ---- */

struct pf_code {
    struct pf_inject_maps *out;
    struct pf_edit *edit;
    const struct perfile_inject_options *options;
    struct pf_arena arena;
    struct pf_heap waiting; /* maps; at equal times what came first holds first */
    size_t count;           /* of all that came */
    struct pf_map pids;     /* whose anonymous memory is left out */
    uint64_t added;
    uint64_t untold; /* of them, those that the session does not know */
};

void pf_code_open(struct pf_code *code, struct pf_inject_maps *out);
void pf_code_close(struct pf_code *code);
struct pf_edit_step pf_code_step(struct pf_code *code);

#endif
