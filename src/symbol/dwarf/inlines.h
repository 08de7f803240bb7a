/* SPDX-License-Identifier: MIT */
/*
 * Source lines and inlined functions of one module, from its DWARF, as flat sorted tables: made once in bulk, then only
 * read, from any number of threads. Per address a look-up is two binary searches; nothing is parsed then.
 */
#ifndef PF_SYMBOL_DWARF_INLINES_H
#define PF_SYMBOL_DWARF_INLINES_H

#include <perfile/perfile.h>

#include "base/files.h"
#include "base/memory.h"

/* One frame of source code at an address. */
struct pf_source_frame {
    const char *function; /* linkage name (or name) as in DWARF, not demangled; NULL: unknown */
    const char *file;     /* as in the line table, directory included; NULL: unknown */
    uint32_t line;        /* 0: unknown */
    uint32_t column;
    bool inlined; /* into the frame that follows */
};

/* A frame as profiles for compilers name it: by the function and a line counted from where that is declared. */
struct pf_counted_frame {
    const char *function; /* as above */
    uint32_t line;        /* 0: unknown */
    uint32_t declared;    /* DW_AT_decl_line of the function; 0: unknown */
    uint32_t discriminator;
};

/* Code of a function without a gap. A function may have several, as the cold part of one has a range of its own. */
struct pf_function_range {
    uint64_t low, high;
    const char *function; /* as above; equal names are equal pointers */
    bool is_entry;        /* the function is entered at `low` */
};

/* Addresses from low on, before high. */
struct pf_wanted_range {
    uint64_t low, high;
};

/* What to read. */
struct pf_inlines_request {
    const char *path;           /* the file with the debug info: the binary itself or its separate debug file */
    const char *alternate_path; /* dwz file; may be NULL */
    unsigned threads;           /* that may be used, the caller's included; 0 is 1. The tables are the same for any */
    uint64_t share_bytes; /* of debug info that a thread reads at a time; 0: many, and a small file on one thread */
    /*
     * With what profiles for compilers need besides: discriminators, lines of declarations and entries of functions.
     * Such tables are not kept in the cache.
     */
    bool detailed;
    /* Ascending and without overlap: units without code there are passed over. Its count 0: all units are read. */
    const struct pf_wanted_range *wanted;
    size_t wanted_count;
};

struct pf_inlines;

/*
 * Reads the DWARF of the file, split DWARF (.dwo, .dwp) and the dwz file included, in bulk. ABSENT when there is
 * none. The allocator is called by one thread at a time.
 */
int pf_inlines_read(const struct pf_inlines_request *request, const struct perfile_allocator *allocator,
                    struct pf_inlines **inlines, struct perfile_error *error);
/* The same on one thread. */
int pf_inlines_open(const char *path, const char *alternate_path, const struct perfile_allocator *allocator,
                    struct pf_inlines **inlines, struct perfile_error *error);
/* The same from .gopclntab of a binary that Go's linker made: also where DWARF is missing, but without columns. */
int pf_inlines_open_go(const char *path, const struct perfile_allocator *allocator, struct pf_inlines **inlines,
                       struct perfile_error *error);
struct pf_go_table;
int pf_inlines_from_go(const struct pf_go_table *table, const struct perfile_allocator *allocator,
                       struct pf_inlines **inlines, struct perfile_error *error);
void pf_inlines_close(struct pf_inlines *inlines);
/*
 * The frames at an address (an ELF virtual address), innermost first, at most `capacity`; returns how many there are in
 * all (0: nothing known). Texts are valid as long as the tables.
 */
size_t pf_inlines_find(const struct pf_inlines *inlines, uint64_t address, struct pf_source_frame *frames,
                       size_t capacity);
/* Whether the first of these frames is inlined: without a look at the lines, which are the larger table. */
bool pf_inlines_any(const struct pf_inlines *inlines, uint64_t address);

/*
 * The frames of detailed tables at an address, innermost first. `*end` is the first address after it where they may be
 * others. 0: nothing is known, or there are more than `capacity`.
 */
size_t pf_inlines_count(const struct pf_inlines *inlines, uint64_t address, struct pf_counted_frame *frames,
                        size_t capacity, uint64_t *end);
/*
 * The function range that begins at or after the segment number *at, which is moved after it. Returns false after the
 * last.
 */
bool pf_inlines_next_range(const struct pf_inlines *inlines, size_t *at, struct pf_function_range *range);

/* ---- the same tables on disk ---- */

/* The files that tables are made of: with debug info, of dwz, a package of split DWARF. */
struct pf_inlines_files {
    struct pf_file_identity debug;
    struct pf_file_identity alternate;
    struct pf_file_identity package;
};

/*
 * The key under which tables are kept. Anyone can make a file with the build id of another one, so a build id alone
 * does not prove which files the tables belong to: the identities of the files do.
 */
struct pf_inlines_key {
    struct pf_inlines_files files;
    uint8_t build_id[20];
    uint32_t build_id_bytes;
};

/* What pf_inlines_open would read now; false when there is no build id: such tables are not kept. */
bool pf_inlines_key_of(const struct perfile_allocator *allocator, const char *path, const char *alternate_path,
                       struct pf_inlines_key *key);
/* Whether the tables were made of these files, and not of others that replaced them in between. */
bool pf_inlines_are_of(const struct pf_inlines *inlines, const struct pf_inlines_key *key);

/* XDG_CACHE_HOME/perfile, or ~/.cache/perfile; NULL when there is neither. Owned by the caller. */
char *pf_cache_directory(const struct perfile_allocator *allocator);
/* Written to a temporary file and renamed; a full cache (over `limit_bytes`) loses what was used longest ago. */
int pf_inlines_save(const struct pf_inlines *inlines, const char *directory, const struct pf_inlines_key *key,
                    uint64_t limit_bytes, struct perfile_error *error);
/* ABSENT when the cache has none, or a damaged or older one (which is then removed). The file is mapped. */
int pf_inlines_load(const char *directory, const struct pf_inlines_key *key, const struct perfile_allocator *allocator,
                    struct pf_inlines **inlines, struct perfile_error *error);

#endif
