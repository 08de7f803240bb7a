/* SPDX-License-Identifier: MIT */
/*
 * Flame graphs: what they are made of, and the three forms they are written in: folded stacks, SVG, and a page with a
 * viewer. Whoever fills a pf_flame_set owns all of it; the writers keep nothing.
 */
#ifndef PF_OUTPUT_FLAME_FLAME_H
#define PF_OUTPUT_FLAME_FLAME_H

#include "analysis/tree.h"
#include "base/text.h"

struct pf_page;        /* page.h */
struct pf_flame_times; /* times.h */

enum pf_flame_kind {
    PF_FLAME_USER,
    PF_FLAME_KERNEL,
    PF_FLAME_INLINED,
    PF_FLAME_JIT,
    PF_FLAME_UNKNOWN, /* no symbol: the module is all there is to say */
    /* Frames at the bottom of stacks, which are not functions. */
    PF_FLAME_THREAD, /* a comm */
    PF_FLAME_CPU,
    PF_FLAME_TIME,
};
enum { PF_FLAME_KINDS = PF_FLAME_TIME + 1 };

/* How much of a thread its frame distinguishes. */
enum pf_flame_by {
    PF_FLAME_BY_COMM, /* "make" */
    PF_FLAME_BY_PID,  /* "make-12" */
    PF_FLAME_BY_TID,  /* "make-12/13" */
};

struct pf_flame_frame {
    const char *name;   /* NULL or "[unknown]": no symbol */
    const char *module; /* as perf prints it: a path, "[kernel.kallsyms]" ...; NULL: unknown */
    const char *file;   /* source file, or NULL */
    uint32_t line;
    uint32_t pid; /* of a PF_FLAME_THREAD */
    uint32_t tid;
    uint8_t kind; /* enum pf_flame_kind */
    uint8_t by;   /* enum pf_flame_by, of a PF_FLAME_THREAD: `pid` and `tid` count only as far as this says */
    char verdicts
        [2]; /* of a comparison of several recordings, itself and with callees: unsure, same, more, less; 0: none */
};

struct pf_flame_event {
    const char *name;
    const struct pf_tree
        *tree;        /* node 0 is the root; frames index pf_flame_set.frames; pf_tree_sum was called for html.
                                   NULL: for the page */
    uint64_t total;   /* what is 100 %; less than the tree's total (0): the tree's */
    const char *unit; /* NULL: the set's */
    bool lasts;       /* each sample of the page stands for its period, which begins at its time */
};

/* What the picture shows, in words. */
struct pf_flame_fact {
    const char *label; /* NULL: a remark, which is always seen */
    const char *value;
};

/* A tree may have other numbers of frames: those with this bit follow pf_flame_set.plain_count others. */
#define PF_FLAME_BOTTOM ((uint32_t)1 << 31)

struct pf_flame_set {
    const char *title;
    const char *subtitle; /* or NULL */
    const char *unit;     /* "samples", "ns", "events" */
    uint32_t event_count;
    uint32_t first_event; /* which the page shows when it opens */
    const struct pf_flame_event *events;
    const struct pf_flame_frame *frames;
    size_t frame_count, plain_count;
    /* The page has these instead of trees: threads that distinguish the rows of `page` are not frames of it. */
    struct pf_page *page;
    const struct pf_flame_frame *threads;
    size_t thread_count;
    struct pf_flame_times *times;      /* of `page`; NULL: none */
    const struct pf_flame_fact *facts; /* the most important first */
    size_t fact_count;
};

struct pf_flame_names {
    bool raw;      /* names as they are; else without parameters and quotes, as pf_label_tidy makes them */
    bool annotate; /* _[k], _[i] and _[j] after kernel, inlined and JIT frames */
};

/* Another set to compare with: what is drawn is the set, and how it differs from this one. */
struct pf_flame_before {
    const struct pf_flame_set *set; /* NULL: nothing is compared */
    uint32_t event;                 /* not for the page, which takes the events of the same names */
    bool normalized;                /* as if both events had the same total */
};
/* Finds the event of this name; false when there is none. */
bool pf_flame_event_find(const struct pf_flame_set *set, const char *name, uint32_t *event);

/* What a writer of one event may use. */
struct pf_flame_means {
    unsigned threads;     /* the caller's included; 0 is 1 */
    struct pf_tree *tree; /* the event's, when it is not needed any more: it is left empty then. NULL: it stays */
};
/* For trees with fewer nodes threads take longer to start than to work. */
enum { PF_FLAME_THREAD_NODES = 65536 };

struct pf_folded_options {
    struct pf_flame_names names;
    struct pf_flame_before before;
    struct pf_flame_means means;
};

/*
 * One line for each stack: comm;root;...;leaf weight, in the order of stackcollapse-perf.pl. With `before` the two
 * columns of difffolded.pl, before and now. All three writers return 0, PERFILE_ERROR_MEMORY or text->failed.
 */
int pf_flame_folded(const struct pf_flame_set *set, uint32_t event, const struct pf_folded_options *options,
                    struct pf_text *text);

struct pf_svg_options {
    struct pf_flame_names names;
    uint32_t width;   /* pixels; 0: 1200 */
    double min_width; /* frames narrower than this many pixels are left out ... */
    double min_share; /* ... and those below this share of everything; both 0: 0.1 pixels */
    bool inverted;    /* the root on top: an icicle graph */
    bool reverse;     /* the leaf is at the root, then its callers */
    unsigned palette; /* of perfile_flame_palette_at (svg.c); 0: by kind of frame */
    /*
     * Differential: widths are the set's, colours show by how much a frame's own weight changed, as flamegraph.pl's do;
     * with `reverse` its total weight, since there the own weight is all at the threads.
     */
    struct pf_flame_before before;
    bool negated; /* what grew since `before` is blue */
    struct pf_flame_means means;
};

int pf_flame_svg(const struct pf_flame_set *set, uint32_t event, const struct pf_svg_options *options,
                 struct pf_text *text);

struct pf_html_options {
    bool reverse;           /* it opens with the leaf at the root */
    size_t page_bytes;      /* of data, as they stand in the page; 0: there is no limit ... */
    size_t max_nodes;       /* ... and of stacks; 0: as many as browsers take */
    const char *by;         /* levels below the stacks, as perfile_flame_options has it; NULL: threads by name */
    const char *measure;    /* it opens with times off CPU: "blocked", "all" or "both"; NULL: with samples */
    bool samples_are_waits; /* each sample is a time off CPU, at its end */
    uint64_t quantum_ns;
    struct pf_flame_before before;
    bool has_verdicts;    /* the set's frames do: changes of what is neither more nor less are noise, and grey */
    const char *report;   /* it opens with the rows of a report: an object, see outputs.c; NULL: no report */
    const char *branches; /* it opens with these rows, see branches.h; NULL: none */
    size_t branch_bytes;
    const char *memory; /* rows of memory accesses; NULL: none */
    size_t memory_bytes;
    const char *code; /* of functions, as code.h makes it; NULL: none */
    size_t code_bytes;
    const struct perfile_annotate_options *code_choice; /* it opens with the code of these; NULL: with the graph */
    unsigned threads;                                   /* the caller's included; 0 is 1 */
};

/*
 * The page holds all samples of all events; it needs no network. Both sets have a `page`, which is joined and cut when
 * there is too much of it.
 */
int pf_flame_html(const struct pf_flame_set *set, const struct pf_html_options *options, struct pf_text *text);

/* --- what the writers share: view.c --- */

/* A tree whose frames are names, equal ones merged, with its children in order. */
struct pf_flame_view {
    const struct perfile_allocator *allocator;
    struct pf_arena arena;
    struct pf_tree tree; /* frame: an index of names and kinds; with totals if they were asked for */
    const char **names;
    uint8_t *kinds;
    bool *shared; /* by several frames */
    size_t name_count;
    /* Two for each name: its position in byte order when a line ends there, and when ';' follows. */
    uint32_t *ranks;
    uint32_t *children;    /* those of node p are children[first[p]] up to first[p + 1], by ranks[2 * name + 1] */
    uint32_t *first;       /* one more than nodes */
    uint32_t *sizes;       /* of nodes: how many there are with all below; NULL: not asked for, or one thread */
    uint64_t *before;      /* differential: total of each node in `before`; else NULL ... */
    uint64_t *before_self; /* ... and what of it is its own */
    uint64_t total;        /* what is 100 % */
    uint64_t before_total;
    unsigned threads; /* what is worth it, of those it was opened with */
};

struct pf_flame_view_options {
    struct pf_flame_names names;
    bool one_line; /* names hold no ';' and no control bytes, even raw ones */
    bool by_kind;  /* the same name of another kind is another frame */
    bool reverse;
    bool sums;  /* the totals of nodes are needed */
    bool sizes; /* for several threads their sizes are */
    struct pf_flame_before before;
    struct pf_flame_means means;
};

int pf_flame_view_open(struct pf_flame_view *view, const struct perfile_allocator *allocator,
                       const struct pf_flame_set *set, uint32_t event, const struct pf_flame_view_options *options);
void pf_flame_view_close(struct pf_flame_view *view);
/* The children of all nodes by ranks[2 * name]; goes with view->first. NULL when out of memory. */
uint32_t *pf_flame_view_leaves(const struct pf_flame_view *view);
/* What the weights of `before` are multiplied with before they are compared. */
double pf_flame_view_scale(const struct pf_flame_view *view, const struct pf_flame_before *before);

#endif
