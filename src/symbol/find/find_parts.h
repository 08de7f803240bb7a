/* SPDX-License-Identifier: MIT */
/*
 * What the files find*.c share. Each calls only files that are named after it: find.c, find_process.c and find_kernel.c
 * are searches, find_debug.c looks for debug files, find_take.c has the candidates, find_options.c what is the same for
 * all searches, find_note.c what is reported.
 */
#ifndef PF_SYMBOL_FIND_FIND_PARTS_H
#define PF_SYMBOL_FIND_FIND_PARTS_H

#include "base/build_id.h"
#include "symbol/find/find.h"

struct pf_find_id {
    uint8_t bytes[PF_BUILD_ID_BYTES];
    size_t count; /* without zeros at its end; 0: not known */
    size_t shown; /* its length where it becomes a name */
    char hex[2 * PF_BUILD_ID_BYTES + 1];
};

/* One search. */
struct pf_search {
    const struct pf_find_options *options;
    const struct perfile_allocator *allocator;
    const char *root;      /* pf_find_root */
    char *cache;           /* perf's build-id cache, or NULL */
    const char *caches[2]; /* the archive's and this one */
    char *name;            /* without what the kernel adds to it */
    struct pf_find_id id;
    struct pf_found *found;
    int64_t debuginfod_ms; /* that it has taken */
    bool no_memory;
};

/* ---- find_take.c ---- */

void pf_find_id_set(struct pf_find_id *id, const uint8_t *bytes, size_t count);
bool pf_find_id_is_same(const struct pf_find_id *a, const struct pf_find_id *b);
/* Memory was short: what is looked for, and where it may be, is not known any more. */
void pf_search_note_short(struct pf_search *s);
/*
 * Returns `given`, which a function of the C library returned. NULL may be for memory that was short, else nothing is
 * there.
 */
void *pf_search_note_null(struct pf_search *s, void *result);
bool pf_search_is_file(const char *path);
bool pf_ends_with(const char *text, const char *end);
const char *pf_base_name(const char *path);
int pf_directory_length(const char *path);
/* The recorded name may be opened: it names no file of /proc, /sys or /dev. */
bool pf_search_may_open(const struct pf_search *s);
/* A path made as by printf; NULL when out of memory, which is remembered. */
char *pf_search_path(struct pf_search *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* False when out of memory. */
bool pf_search_open(struct pf_search *s, const struct pf_find_options *options, const char *name);

/*
 * All of these return true when a file is found; its path is then in *result, which is owned by the caller. `path`,
 * owned by the caller before, becomes *result or is freed. `found`, or NULL, gets the build id of a file that has
 * another one.
 */
bool pf_search_take(struct pf_search *s, char *path, const struct pf_find_id *wanted, char **result,
                    struct pf_found *found);
bool pf_search_take_any(struct pf_search *s, char *path, char **result);
bool pf_search_take_member(struct pf_search *s, const struct perfile_used_file *file, const struct pf_find_id *wanted,
                           char **result);
/* A file of the bundle that a build id proves. */
bool pf_search_take_member_of_id(struct pf_search *s, const char *kind, const struct pf_find_id *id,
                                 const struct pf_find_id *wanted, char **result);
/* CACHE/.build-id/xx/yyyy/LEAF, and CACHE/PATH/ID/LEAF, where `.build-id` has the link. */
bool pf_search_take_leaf(struct pf_search *s, const char *cache, const char *leaf, const struct pf_find_id *wanted,
                         char **result);
bool pf_search_take_from_cache(struct pf_search *s, const char *leaf, char **result);
bool pf_search_take_named(struct pf_search *s, const char *kind, char **result);
bool pf_search_take_old_cache(struct pf_search *s, char **result);
bool pf_search_take_from_tree(struct pf_search *s, char **result);
bool pf_search_take_debug_from_tree(struct pf_search *s, const struct pf_find_id *id, char **result);
bool pf_search_take_from_folder(struct pf_search *s, char **result);
/* The result is s->found->path, or ->debug_path. */
void pf_search_ask_debuginfod(struct pf_search *s, const struct pf_find_id *id, bool wants_debug);

/* ---- find_debug.c ---- */

/* The length of a file name without the ending of a compressed kernel module. */
int pf_search_plain_length(const char *name);
bool pf_search_take_by_name(struct pf_search *s, const struct pf_find_id *id, char **result);
/* The debug file of the binary that was found, or of none, and the file that debug files share. */
void pf_search_debug(struct pf_search *s);

/* ---- find_kernel.c ---- */

void pf_search_kernel(struct pf_search *s);
void pf_search_module(struct pf_search *s);

#endif
