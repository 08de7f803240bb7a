/* SPDX-License-Identifier: MIT */
/*
 * Flame graphs: what they are made of, and the three forms they are written in: folded stacks, SVG, and a page with a
 * viewer. Whoever fills a pf_flame_set owns all of it; the writers keep nothing.
 */
#ifndef PF_OUTPUT_FLAME_H
#define PF_OUTPUT_FLAME_H

#include "analysis/tree.h"
#include "base/text.h"

enum pf_flame_kind {
    PF_FLAME_USER,
    PF_FLAME_KERNEL,
    PF_FLAME_INLINED,
    PF_FLAME_JIT,
    PF_FLAME_UNKNOWN, /* no symbol: the module is all there is to say */
    PF_FLAME_THREAD,  /* the comm at the bottom of a stack */
};
enum { PF_FLAME_KINDS = PF_FLAME_THREAD + 1 };

struct pf_flame_frame {
    const char *name;   /* NULL or "[unknown]": no symbol */
    const char *module; /* as perf prints it: a path, "[kernel.kallsyms]" ...; NULL: unknown */
    const char *file;   /* source file, or NULL */
    uint32_t line;
    uint32_t pid; /* of a PF_FLAME_THREAD */
    uint32_t tid;
    uint8_t kind; /* enum pf_flame_kind */
};

struct pf_flame_event {
    const char *name;
    const struct pf_tree *tree; /* node 0 is the root; pf_tree_sum was called; frames index pf_flame_set.frames */
    uint64_t total;             /* what is 100 %; less than the tree's total (0): the tree's */
    const char *unit;           /* NULL: the set's */
};

/* What one node weighed in one piece of time. */
struct pf_flame_slice {
    uint32_t event;
    uint32_t bucket; /* 0 .. bucket_count - 1 */
    uint32_t node;
    uint64_t weight;
};

struct pf_flame_set {
    const char *title;
    const char *subtitle; /* or NULL */
    const char *unit;     /* "samples", "ns", "events" */
    uint32_t event_count;
    uint32_t first_event; /* which the page shows when it opens */
    const struct pf_flame_event *events;
    const struct pf_flame_frame *frames;
    size_t frame_count;
    /* For the page's timeline; sorted by event, then bucket, then node. May be absent. */
    const struct pf_flame_slice *slices;
    size_t slice_count;
    uint32_t bucket_count;
    uint64_t start_ns; /* time of the first bucket's start */
    uint64_t bucket_ns;
};

/* How the bottom of a stack is named, and so which threads become one. */
enum pf_flame_threads {
    PF_FLAME_BY_COMM, /* "make" */
    PF_FLAME_BY_PID,  /* "make-12" */
    PF_FLAME_BY_TID,  /* "make-12/13" */
};

struct pf_flame_names {
    enum pf_flame_threads threads;
    bool raw;      /* names as they are; else as stackcollapse-perf.pl tidies them: no arguments, no quotes */
    bool annotate; /* _[k], _[i] and _[j] behind kernel, inlined and JIT frames */
};

struct pf_folded_options {
    struct pf_flame_names names;
};

/*
 * One line for each stack: comm;root;...;leaf weight, in the order of stackcollapse-perf.pl. All three writers return
 * 0, PERFILE_ERROR_MEMORY or text->failed.
 */
int pf_flame_folded(const struct pf_flame_set *set, uint32_t event, const struct pf_folded_options *options,
                    struct pf_text *text);

struct pf_svg_options {
    struct pf_flame_names names;
    uint32_t width;   /* pixels; 0: 1200 */
    double min_width; /* frames narrower than this many pixels are left out; 0: 0.1 */
    bool inverted;    /* the root on top: an icicle graph */
    bool reverse;     /* the leaf is at the root: who calls it */
    bool hot;         /* all frames in the hot palette, whatever their kind */
    /* Differential: widths are the set's, colours say what changed against this event of this set. NULL: none. */
    const struct pf_flame_set *before;
    uint32_t before_event;
};

int pf_flame_svg(const struct pf_flame_set *set, uint32_t event, const struct pf_svg_options *options,
                 struct pf_text *text);

/* The page holds all events and the timeline; it needs no network. */
int pf_flame_html(const struct pf_flame_set *set, struct pf_text *text);

/* --- what the writers share: flame_view.c --- */

/* A tree whose frames are names, equal ones merged, with its children in order. */
struct pf_flame_view {
    const struct perfile_allocator *allocator;
    struct pf_arena arena;
    struct pf_tree tree; /* frame: an index of names and kinds */
    const char **names;
    uint8_t *kinds;
    size_t name_count;
    /* Two a name: its place in byte order when a line ends there, and when ';' follows. */
    uint32_t *ranks;
    uint32_t *children; /* those of node p are children[first[p]] up to first[p + 1], by ranks[2 * name + 1] */
    uint32_t *first;    /* one more than nodes */
    uint64_t *before;   /* differential: total of each node in `before`; else NULL */
    uint64_t total;     /* what is 100 % */
    uint64_t before_total;
};

struct pf_flame_view_options {
    struct pf_flame_names names;
    bool one_line; /* names hold no ';' and no control bytes, even raw ones */
    bool by_kind;  /* the same name of another kind is another frame */
    bool reverse;
    const struct pf_flame_set *before;
    uint32_t before_event;
};

int pf_flame_view_open(struct pf_flame_view *view, const struct perfile_allocator *allocator,
                       const struct pf_flame_set *set, uint32_t event, const struct pf_flame_view_options *options);
void pf_flame_view_close(struct pf_flame_view *view);
/* The children of all nodes by ranks[2 * name + which]; goes with view->first. NULL when memory is short. */
uint32_t *pf_flame_view_sort(const struct pf_flame_view *view, unsigned which);

#endif
