/* SPDX-License-Identifier: MIT */
/*
 * A profile by source line, for formats that compilers read: functions with what was inlined into them, and for each
 * the counts of its lines and of the functions that were called there.
 *
 * Lines count from the line where their function is declared, so that a profile outlives changes of other functions.
 */
#ifndef PF_ANALYSIS_PGO_LINES_H
#define PF_ANALYSIS_PGO_LINES_H

#include "analysis/pgo/code.h"
#include "analysis/pgo/pgo.h"
#include "base/pairs.h"
#include "symbol/dwarf/inlines.h"

/* How the discriminators of DWARF are to be read. */
enum pf_pgo_discriminators {
    PF_PGO_LLVM,    /* a base, a factor and a number of a copy are packed into them: the base counts */
    PF_PGO_NUMBERS, /* numbers as they are, of 16 bits */
};

/* A function that was called from a line. */
struct pf_pgo_target {
    const char *function;
    uint64_t count;
    uint32_t line; /* number of that */
};

struct pf_pgo_line {
    uint64_t location; /* line << 32 | discriminator; the line has 16 bits */
    uint64_t count;
    uint32_t instance; /* number of that */
    uint32_t number;   /* when it was first seen */
    uint32_t targets;  /* the first of them */
    uint32_t target_count;
    bool has_count; /* false: only calls are known */
};

/* A function, or a copy of it that was inlined. */
struct pf_pgo_instance {
    const char *function;
    uint64_t location; /* of the call in the function around it */
    uint64_t total;    /* of its instructions, and those of functions inlined into it */
    uint64_t head;     /* how often it was entered */
    uint32_t parent;   /* number of that; PF_PGO_TOP: it is not inlined */
    uint32_t number;   /* when it was first seen */
    uint32_t lines;    /* the first of them */
    uint32_t line_count;
    uint32_t inlined; /* the first of them */
    uint32_t inlined_count;
};
#define PF_PGO_TOP UINT32_MAX

/*
 * All arrays are sorted, so that what belongs together is adjacent: instances by location and name, after the functions
 * themselves by name; lines by location; targets by count, the largest first, then by name.
 */
struct pf_pgo_lines {
    const struct perfile_allocator *allocator;
    struct pf_pgo_instance *instances;
    size_t instance_count, instance_capacity;
    size_t function_count; /* the first instances, which are not inlined */
    struct pf_pgo_line *lines;
    size_t line_count, line_capacity;
    struct pf_pgo_target *targets;
    size_t target_count, target_capacity;
    struct pf_pairs instance_of; /* number of a line plus 1, or 0; name -> number of the instance */
    struct pf_pairs line_of;     /* number of an instance, location -> number of the line */
    struct pf_pairs target_of;   /* number of a line, name -> number of the target */
    struct pf_inlines *inlines;  /* holds the names */
    bool failed;                 /* out of memory */
};

/*
 * The line of a frame, counted from the declaration of its function, and its discriminator: as struct pf_pgo_line has
 * them.
 */
uint64_t pf_pgo_location_of(enum pf_pgo_discriminators discriminators, const struct pf_counted_frame *frame);
/* Whether the text formats can write the name of a function so that it is read back. NULL is allowed. */
bool pf_pgo_is_name(const char *name);
/* Sorts ranges of addresses, and joins those that touch. Returns how many there are then. */
size_t pf_pgo_join_wanted(struct pf_wanted_range *wanted, size_t count);

/* Where and how code is read. */
struct pf_pgo_lines_request {
    const struct pf_pgo_profile *profile;
    const struct pf_pgo_code *code;
    enum pf_pgo_discriminators discriminators;
};

/*
 * What is dropped is added to the counts. Errors: MEMORY, LIMIT, those of reading the debug info: ABSENT when there is
 * none.
 */
int pf_pgo_lines_open(const struct pf_pgo_lines_request *request, struct perfile_pgo_counts *counts,
                      const struct perfile_allocator *allocator, struct pf_pgo_lines *lines,
                      struct perfile_error *error);
void pf_pgo_lines_close(struct pf_pgo_lines *lines);

/* ---- lines_tree.c: how counts are added up; lines.c knows what --------------------------------------------------- */

void pf_pgo_lines_make(struct pf_pgo_lines *lines, const struct perfile_allocator *allocator);
/*
 * The instance of a function that is called on this line, or of one that is not inlined for PF_PGO_TOP. Returns its
 * number; UINT32_MAX when out of memory. Equal names must be equal pointers.
 */
uint32_t pf_pgo_lines_instance(struct pf_pgo_lines *lines, uint32_t line, const char *function);
/* The line of an instance; UINT32_MAX when out of memory. */
uint32_t pf_pgo_lines_line(struct pf_pgo_lines *lines, uint32_t instance, uint64_t location);
/* The line ran so often, or more often if it says so already. */
void pf_pgo_lines_raise(struct pf_pgo_lines *lines, uint32_t line, uint64_t count);
void pf_pgo_lines_call(struct pf_pgo_lines *lines, uint32_t line, const char *function, uint64_t count);
/* Sorts all; numbers are not valid any more. */
void pf_pgo_lines_sort(struct pf_pgo_lines *lines);

#endif
