/* SPDX-License-Identifier: MIT */
/* The Firefox Profiler's processed format: what its parts share. */
#ifndef PF_OUTPUT_EXPORT_FIREFOX_H
#define PF_OUTPUT_EXPORT_FIREFOX_H

#include "output/export/timeline.h"

#define PF_FIREFOX_NONE UINT32_MAX

enum pf_firefox_category {
    PF_FIREFOX_OTHER, /* and all that is not known */
    PF_FIREFOX_USER,
    PF_FIREFOX_KERNEL,
    PF_FIREFOX_INLINED,
    PF_FIREFOX_JIT,
};

/* An address in a function: a frame of the profile, and how deep it is inlined. */
struct pf_firefox_frame {
    uint32_t function, symbol; /* the latter PF_FIREFOX_NONE: none */
    uint32_t line;             /* 0: not known */
    uint32_t depth;
    uint64_t address; /* in its library; UINT64_MAX: it has none, or JSON cannot hold it */
    uint8_t category;
};

struct pf_firefox_function {
    uint32_t name, file; /* texts; file PF_FIREFOX_NONE: not known */
    uint32_t library;    /* PF_FIREFOX_NONE: nothing is mapped there */
    uint32_t start_line; /* where it begins in that file; 0: not known */
};

struct pf_firefox_symbol {
    uint32_t library, name;
    uint64_t address, bytes; /* bytes 0: not known */
};

/*
 * What stacks are made of, for all threads. Each thread of the format has tables of its own: they are numbered anew for
 * each.
 */
struct pf_firefox_tables {
    const struct perfile_allocator *allocator;
    struct pf_timeline *timeline;
    struct pf_map texts_of;
    const char **texts;
    size_t text_count, text_capacity;
    uint32_t *frame_of; /* by node of the tree */
    size_t node_count;
    struct pf_firefox_frame *frames;
    size_t frame_count, frame_capacity;
    struct pf_firefox_function *functions;
    size_t function_count, function_capacity;
    struct pf_firefox_symbol *symbols;
    size_t symbol_count, symbol_capacity;
    uint32_t *libraries; /* modules */
    size_t library_count, library_capacity;
    uint64_t *bases; /* by library: the address of its first byte, as its symbols count */
    size_t base_capacity;
    uint32_t *files;       /* by frame of the profile: the file of a function ... */
    uint32_t *start_lines; /* ... and the line where it begins there; 0: not known */
    struct pf_pairs frames_of, functions_of, symbols_of;
    struct pf_map libraries_of;
    struct pf_arena arena; /* names of functions without one */
};

/* False: out of memory; close them then, too. */
bool pf_firefox_tables_open(struct pf_firefox_tables *tables, struct pf_timeline *timeline);
void pf_firefox_tables_close(struct pf_firefox_tables *tables);
/* The number of a text that lives as long as the tables; PF_FIREFOX_NONE: out of memory. */
uint32_t pf_firefox_text(struct pf_firefox_tables *tables, const char *text);

/* ---- what is written --------------------------------------------------------------------------------------------- */

/* Numbers anew: those that are used get new ones, in the order in which they come. */
struct pf_firefox_numbering {
    uint32_t *numbers; /* plus one; 0: not used */
    size_t size;
    uint32_t *used;
    size_t count, capacity;
};

enum {
    PF_FIREFOX_NODES,
    PF_FIREFOX_FRAMES,
    PF_FIREFOX_FUNCTIONS,
    PF_FIREFOX_SYMBOLS,
    PF_FIREFOX_LIBRARIES,
    PF_FIREFOX_TEXTS,
    PF_FIREFOX_NUMBERINGS
};

/* A thread of the format. */
struct pf_firefox_track {
    const struct pf_timeline_thread *thread;
    const struct pf_timeline_series *series; /* NULL: no samples */
    bool first;                              /* of its thread: what happened stands here */
    bool counts_cpu;                         /* so does how long it ran */
};

struct pf_firefox {
    struct pf_timeline timeline;
    struct pf_firefox_tables tables;
    struct pf_text *out;
    struct pf_text scratch;
    struct pf_firefox_numbering numberings[PF_FIREFOX_NUMBERINGS];
    struct pf_firefox_track *tracks;
    size_t track_count, track_capacity;
    size_t event_count;  /* that have samples */
    const char *name;    /* of the recording, one of several; NULL: the only one */
    unsigned number;     /* so many recordings are before it */
    size_t library_base; /* and have so many libraries */
    bool failed;         /* out of memory */
    bool comma;
};

static inline void pf_firefox_put(struct pf_firefox *firefox, const char *text)
{
    pf_put_string(firefox->out, text);
}
void pf_firefox_put_text(struct pf_firefox *firefox, const char *text);
/* A moment in ms, counted from the first. */
void pf_firefox_put_moment(struct pf_firefox *firefox, uint64_t time);
void pf_firefox_begin_column(struct pf_firefox *firefox, const char *name);
/* Before the i-th value of a list. */
void pf_firefox_put_comma(struct pf_firefox *firefox, size_t i);
/* The number of a text in the thread that is written. */
uint32_t pf_firefox_use_text(struct pf_firefox *firefox, const char *text);
/* The number of a stack of the thread that is written. */
static inline uint32_t pf_firefox_stack_of(const struct pf_firefox *firefox, uint32_t node)
{
    return firefox->numberings[PF_FIREFOX_NODES].numbers[node] - 1;
}

/* --- firefox_markers.c --- */

/* The markers of a thread with its switches, or marks alone; both may be NULL. */
void pf_firefox_put_markers(struct pf_firefox *firefox, const struct pf_timeline_thread *thread,
                            const struct pf_timeline_marks *marks);
/* What markers there are: of all recordings, and of the tracepoints of this one, with a comma before each. */
void pf_firefox_put_schemas(struct pf_firefox *firefox);
void pf_firefox_put_trace_schemas(struct pf_firefox *firefox);

#endif
