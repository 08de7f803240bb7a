/* SPDX-License-Identifier: MIT */
/*
 * perfile/diff.h: what changed between two sets of recordings (libperfile-analysis).
 *
 *     perfile_profile_open for each recording -> perfile_diff_open -> perfile_diff_row_at ... -> perfile_diff_close
 *
 * The recording is the unit of observation: a row has one number for each, its weight in that run, and the two sets of
 * numbers are compared by Welch's test. Where one side has one recording, and the other fewer than three, the variation
 * between runs is unknown, and every verdict is UNSURE, unless perfile_diff_options.noise states that variation.
 *
 * Rows are matched by names: those of functions without what compilers append (".isra.0", ".cold", hashes of Rust,
 * versions of symbols) and those of binaries without folders and minor versions; addresses and build ids make no
 * difference. What is on one side only may be matched by a guess, which the row and a note say.
 */
#ifndef PERFILE_DIFF_H
#define PERFILE_DIFF_H

#include <perfile/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

enum perfile_diff_flags {
    PERFILE_DIFF_INCLUSIVE = 1 << 0,  /* weights are those of the functions with all that they call; rows overlap */
    PERFILE_DIFF_RELATIVE = 1 << 1,   /* weights are percentages of their recording */
    PERFILE_DIFF_NO_GUESSES = 1 << 2, /* no functions or binaries are taken for renamed, no functions for inlined */
    PERFILE_DIFF_GATE = 1 << 3,       /* rows are compared with `limit` */
    PERFILE_DIFF_GATE_TOTAL = 1 << 4, /* only the total is */
};

struct perfile_diff_options {
    size_t size;                                 /* sizeof(struct perfile_diff_options) */
    const struct perfile_profile *const *before; /* one for each recording; all must live for the call */
    size_t before_count;
    const struct perfile_profile *const *after;
    size_t after_count;
    /*
     * What rows are of: a list of function (and module), module, dso (the same), line, srcfile, thread (its name), path
     * (the functions of the stack), and of other keys that the profiles have: cpu, pid, tid, cgroup, tags. thread needs
     * profiles with the key comm, line and srcfile those with PERFILE_STREAM_ADDRESSES. NULL: "function".
     */
    const char *keys;
    const char *event;  /* NULL: that with the most samples */
    const char *per;    /* weights are divided by what this event counted in the recording; NULL: by nothing */
    const double *work; /* weights are divided by these, one for each recording, first those before; NULL: by nothing */
    unsigned flags;     /* enum perfile_diff_flags */
    double noise;       /* standard deviation of weights between runs, as a fraction of them, where it cannot be seen */
    double margin;      /* differences within this fraction of the row are SAME; 0: 0.05 */
    double alpha;       /* level of significance; 0: 0.05, of `limit` with one recording on a side 0.01 */
    double limit;       /* with GATE: more than this fraction of the weight before, or ... */
    double limit_weight;     /* ... if that is 0, more than this weight */
    const char *const *maps; /* "old=new": names of binaries, functions and threads before, and those after */
    size_t map_count;
    /*
     * With GATE: functions or binaries whose rows alone are compared with the limit, and such whose rows are not. A
     * function is given as in perfile_report_options.symbols, * and ? stand for any text and any character.
     */
    const char *const *only;
    size_t only_count;
    const char *const *ignore;
    size_t ignore_count;
    const struct perfile_allocator *allocator; /* must live as long as the diff; NULL: malloc */
};
#define PERFILE_DIFF_OPTIONS_INIT PERFILE_SIZED(struct perfile_diff_options)

struct perfile_diff;

/*
 * Errors: ARGUMENT (a side without profiles, an unknown key or event, numbers out of range: the message says which),
 * MEMORY.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_diff_open(const struct perfile_diff_options *options,
                                                     struct perfile_diff **diff, struct perfile_error *error);
/* NULL is allowed. */
PERFILE_API void perfile_diff_close(struct perfile_diff *diff);

enum perfile_diff_verdict {
    PERFILE_DIFF_UNSURE,
    PERFILE_DIFF_SAME, /* as far as the margin goes */
    PERFILE_DIFF_MORE,
    PERFILE_DIFF_LESS,
};

enum perfile_diff_state {
    PERFILE_DIFF_BOTH,
    PERFILE_DIFF_NEW,     /* no samples before */
    PERFILE_DIFF_GONE,    /* no samples after */
    PERFILE_DIFF_RENAMED, /* guessed; `other` is the name before */
    PERFILE_DIFF_INLINED, /* guessed: `other`, which is not there after, is part of the row on both sides */
    PERFILE_DIFF_SPLIT,   /* `other`, which is on one side only, is part of the row: what a compiler made of it, or a
                             guess */
};

/* Weights are means over recordings, in perfile_diff_info.unit. Texts are valid as long as the diff. */
struct perfile_diff_row {
    size_t size;
    const char *function; /* NULL: rows are not of functions */
    const char *module;   /* NULL */
    const char *line;     /* file:line, or the file; NULL */
    const char *thread;   /* NULL */
    const char *path;     /* outermost;...;innermost; NULL */
    const char *other;    /* see enum perfile_diff_state; NULL */
    uint32_t state;       /* enum perfile_diff_state */
    uint32_t verdict;     /* enum perfile_diff_verdict */
    uint32_t parent;      /* of paths: the row of the caller's; PERFILE_NO_ID: there is none */
    bool in_family;       /* at least 0.5 % of all: only these can be MORE or LESS */
    bool fails;           /* significantly above the limit */
    bool left_out;        /* the limit is not for it */
    double before, after, difference;
    double low, high;      /* the 95 % interval of the difference */
    double p, q;           /* two-sided; and adjusted for the number of rows */
    double df;             /* degrees of freedom; INFINITY: of the normal distribution */
    double detectable;     /* the difference that would be found with 80 % probability, were it the only one */
    double limit, limit_q; /* of the gate: in weight, and adjusted; 0 and 1 without one */
    double share_before, share_after;       /* percent */
    uint64_t samples_before, samples_after; /* of all recordings */
    const char *tags;                       /* of the other keys: "mem=L1 hit, cpu=3"; NULL: none was asked for */
};
#define PERFILE_DIFF_ROW_INIT PERFILE_SIZED(struct perfile_diff_row)

/* By descending difference, whatever its sign; of paths callers stand before what they call. */
PERFILE_API size_t perfile_diff_row_count(const struct perfile_diff *diff);
/* ARGUMENT: there is no such row, or row->size is not set. */
PERFILE_API PERFILE_MUST_CHECK int perfile_diff_row_at(const struct perfile_diff *diff, size_t index,
                                                       struct perfile_diff_row *row);
/* The sum of all, without names. */
PERFILE_API PERFILE_MUST_CHECK int perfile_diff_total(const struct perfile_diff *diff, struct perfile_diff_row *row);

struct perfile_diff_info {
    size_t size;
    const char *event;
    const char *unit;   /* of weights: "ns", "%", "ns/instructions", "ns/work" */
    bool sampling_only; /* no verdict can be given: intervals are of sampling alone */
    bool assumed;       /* the noise is the caller's */
    double alpha, margin;
    double limit_alpha;
    size_t before_count, after_count;
    size_t family;  /* rows of it */
    size_t failing; /* rows, or the total, above the limit */
    bool has_limit; /* PERFILE_DIFF_GATE */
    bool has_tags;  /* rows have them */
};
#define PERFILE_DIFF_INFO_INIT PERFILE_SIZED(struct perfile_diff_info)
/* ARGUMENT: info->size is not set. */
PERFILE_API PERFILE_MUST_CHECK int perfile_diff_describe(const struct perfile_diff *diff,
                                                         struct perfile_diff_info *info);
/* What whoever reads the rows should know, a sentence each; NULL after the last. */
PERFILE_API const char *perfile_diff_note_at(const struct perfile_diff *diff, size_t index);

/*
 * A page of flame graphs that needs no network, of means over the recordings of each side. `paths` was opened with the
 * keys "path" and INCLUSIVE, and with neither RELATIVE nor units of work. Where `functions` (with the keys "function")
 * and `inclusive` (the same with INCLUSIVE) are given, functions that are neither MORE nor LESS are grey: their changes
 * are noise.
 */
struct perfile_diff_page_options {
    size_t size;
    const struct perfile_diff *paths;
    const struct perfile_diff *functions; /* or NULL */
    const struct perfile_diff *inclusive; /* or NULL */
    const char *title;                    /* NULL: "What changed" */
    bool normalized;                      /* it opens as if both sides had the same total */
    bool gzip;                            /* what is written is a gzip file */
    const struct perfile_allocator *allocator;
};
#define PERFILE_DIFF_PAGE_OPTIONS_INIT PERFILE_SIZED(struct perfile_diff_page_options)
/* Errors: ARGUMENT (invalid `paths`), WRITE, MEMORY. */
PERFILE_API PERFILE_MUST_CHECK int perfile_diff_page_write(const struct perfile_diff_page_options *page,
                                                           const struct perfile_sink *sink,
                                                           struct perfile_error *error);

#ifdef __cplusplus
}
#endif
#endif
