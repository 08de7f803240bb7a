/* SPDX-License-Identifier: MIT */
/*
 * <perfile/annotate.h> from the inside.
 *
 *     annotate_read.c  one pass: what was sampled at each address of each function
 *     annotate_direct.c  which samples need not wait there for their turn
 *     annotate.c       functions and events for others
 *     annotate_code.c  the instructions of one function
 *     sources.c        lines of source files
 */
#ifndef PF_ANALYSIS_ANNOTATE_H
#define PF_ANALYSIS_ANNOTATE_H

#include <perfile/annotate.h>

#include "analysis/data_types.h"
#include "analysis/delivery.h"
#include "analysis/sources.h"
#include "analysis/complete_options.h"
#include "base/map.h"
#include "symbol/disassembler.h"
#include "symbol/symbols.h"

/* What was sampled at an address of a function, of one event. */
struct pf_annotation_hit {
    uint64_t address; /* as the module's symbol table counts */
    uint64_t samples;
    uint64_t period;
    uint64_t cost; /* what the accesses cost: the first part of their weights */
    uint32_t function;
    uint32_t event;
};

/* Branches from or to an address of a function. */
struct pf_annotation_branches {
    uint64_t address;
    uint64_t taken, mispredicted, reached, cycles, cycle_count;
    uint32_t function;
};

/* Of one event in one function. */
struct pf_annotation_sum {
    uint32_t event;
    uint64_t samples;
    uint64_t period;
};

struct pf_annotation_function {
    uint32_t module;  /* PF_NO_SYMBOL: nothing is mapped */
    uint32_t symbol;  /* PF_NO_SYMBOL: all of the module that has none */
    uint64_t samples; /* of all events */
    uint64_t first_period;
    size_t hits, hit_count;        /* in `hits` of the annotation, by address, then event */
    size_t sums, sum_count;        /* in `sums`, by event */
    size_t branches, branch_count; /* in `branches`, by address */
    const char *label;             /* NULL: not made yet */
};

struct pf_annotation_event {
    const struct perfile_event *event; /* NULL: samples of no known event */
    char unit[64];
    uint64_t samples;
    uint64_t period;
};

/* Sees each sample in their order: where it counts. False: out of memory. */
struct pf_annotation_watcher {
    bool (*see)(void *context, uint64_t ip, uint32_t function, uint64_t address);
    void *context;
};

struct perfile_annotation {
    struct pf_watch watch;
    const struct perfile_allocator *allocator; /* the watch's */
    struct perfile_annotation_options options;
    struct pf_complete_options complete;
    struct pf_find_options find;
    struct pf_symbols *symbols;
    struct pf_delivery *delivery; /* its mappings and code of JITs stay in use */
    struct pf_arena arena;
    struct pf_map short_names; /* of pointers to names, pointers */
    struct pf_annotation_function *functions;
    size_t function_count, function_capacity;
    uint32_t *order; /* functions with samples, by rank */
    size_t ranked_count, order_capacity;
    struct pf_annotation_event *events;
    size_t event_count, event_capacity;
    struct pf_annotation_hit *hits;
    size_t hit_count, hit_capacity;
    struct pf_annotation_sum *sums;
    size_t sum_count, sum_capacity;
    struct pf_annotation_branches *branches;
    size_t branch_count, branch_capacity;
    struct perfile_losses losses;
    struct pf_sources sources;
    struct pf_disassembler *disassembler; /* NULL: not needed so far */
    struct pf_annotation_watcher watcher; /* zeroes: none */
    struct pf_data_types *data_types;     /* NULL: not needed so far */
};

/* perfile_annotation_open with a watcher; NULL: none. */
int pf_annotation_open(struct perfile_reader *reader, const struct perfile_annotation_options *options,
                       const struct pf_annotation_watcher *watcher, struct perfile_annotation **annotation,
                       struct perfile_error *error);

/* The types of data that its instructions access; NULL: out of memory. */
struct pf_data_types *pf_annotation_data_types(struct perfile_annotation *annotation);

/* annotate_read.c: counts all samples of the delivery. */
int pf_annotation_read(struct perfile_annotation *annotation, struct perfile_error *error);

/* As struct perfile_annotation_function has it; NULL: out of memory. */
const char *pf_annotation_label(struct perfile_annotation *annotation, struct pf_annotation_function *function);

/* A demangled name without its parameters, made once; NULL of NULL, or out of memory. */
const char *pf_annotation_short_name(struct perfile_annotation *annotation, const char *name);
/* Writes the source frames at an address of a function, innermost first, and returns how many, at most `capacity`. */
size_t pf_annotation_frames(const struct perfile_annotation *annotation, const struct pf_annotation_function *function,
                            uint64_t address, struct pf_source_frame *frames, size_t capacity);
/* The function's own name is that one, as perfile_annotation_find has it; there is a function of that rank. */
bool pf_annotation_is_called(struct perfile_annotation *annotation, size_t rank, const char *name);
/* A demangled name is the wanted one, or as people type it, or matches the pattern. */
bool pf_annotation_is_name(const char *name, const char *wanted);
/* Whether `is_wanted` accepts the name of a function that is inlined at a sampled address of the ranked function. */
bool pf_annotation_inlines(struct perfile_annotation *annotation, size_t rank,
                           bool (*is_wanted)(void *context, const char *name), void *context);

/* The function of that rank, or NULL. */
static inline struct pf_annotation_function *pf_annotation_ranked(const struct perfile_annotation *annotation,
                                                                  size_t rank)
{
    return rank < annotation->ranked_count ? &annotation->functions[annotation->order[rank]] : NULL;
}

#endif
