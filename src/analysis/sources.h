/* SPDX-License-Identifier: MIT */
/* Lines of source files, from where debug info says that they are, or where the user has them. */
#ifndef PF_ANALYSIS_SOURCES_H
#define PF_ANALYSIS_SOURCES_H

#include <sys/stat.h>

#include "base/map.h"
#include "symbol/find/find.h"

struct pf_source {
    const char *name; /* as in the debug info */
    const char *path; /* where it was found; NULL: nowhere */
    struct timespec changed;
    char *text; /* lines end with NUL; NULL: none */
    size_t bytes;
    uint32_t *starts; /* where the lines begin */
    size_t line_count, line_capacity;
};

/* A file that is neither here nor where the debug info says; the path stays the callee's. NULL: there is none. */
typedef const char *pf_source_fetch(void *context, const char *name);

struct pf_sources {
    const struct perfile_allocator *allocator;
    const char *folders;                /* as perfile_symbol_options.source_dirs */
    const char *symfs;                  /* "" or NULL: none */
    const struct pf_find_options *find; /* the bundle, and the note function; NULL: neither */
    struct pf_arena arena;
    struct pf_map by_name; /* the debug info's pointer to a name, to its file */
    struct pf_map by_text; /* hash of a name, to the first file that has it */
    struct pf_source *files;
    size_t count, capacity;
    size_t kept_bytes;
};

/* The texts must outlive it. */
void pf_sources_open(struct pf_sources *sources, const char *folders, const char *symfs,
                     const struct perfile_allocator *allocator);
void pf_sources_close(struct pf_sources *sources);
/* A file by its name in debug info, which must stay. Holds until the next call. NULL: out of memory. */
const struct pf_source *pf_sources_find(struct pf_sources *sources, const char *name, pf_source_fetch *fetch,
                                        void *context);
/* Returns the text of a line, or NULL when the file does not have it. */
static inline const char *pf_source_line(const struct pf_source *source, uint32_t line)
{
    return source && line && line <= source->line_count ? source->text + source->starts[line - 1] : NULL;
}

#endif
