/* SPDX-License-Identifier: MIT */
/*
 * `perfile annotate`: functions with what was sampled at each instruction.
 *
 *     annotate.c  which functions, one after the other, and what is the same in all formats
 *     text.c      for people
 *     arrows.c    jumps, drawn
 *     stdio.c     in perf's layout
 *     types.c     types of data instead
 *     insn_stat.c  how often the instructions of each name access a known type
 */
#ifndef PF_OUTPUT_ANNOTATE_ANNOTATE_H
#define PF_OUTPUT_ANNOTATE_ANNOTATE_H

#include <perfile/annotate.h>

#include "analysis/annotate_choose.h"
#include "output/output.h"

enum { PF_ANNOTATE_EVENTS = 8 }; /* columns beside each other */

/* Where the instructions of a source line are, of all of a function. */
struct pf_annotate_location {
    const char *file;
    uint32_t line;
    double percent; /* of the first event of the function */
};

/* A function that is printed. */
struct pf_annotate_function {
    struct perfile_annotation_function about;
    struct perfile_module module; /* name NULL: nothing is mapped */
    struct perfile_listing *listing;
    size_t line_count;
    size_t events[PF_ANNOTATE_EVENTS]; /* those that it has samples of */
    size_t event_count;
    uint64_t totals[PF_ANNOTATE_EVENTS]; /* what shares are of */
};

enum { PF_ANNOTATE_VALUE_BYTES = 32 };

struct pf_annotate {
    const struct perfile_output_options *options;
    const struct perfile_annotate_options *how;
    struct perfile_reader *reader;
    struct pf_text *out;
    struct perfile_annotation *annotation;
    struct pf_annotation_choice choice;
};

/* How a format prints. */
struct pf_annotate_format {
    int (*begin)(struct pf_annotate *annotate, struct perfile_error *error); /* may be NULL, as `end` */
    int (*function)(struct pf_annotate *annotate, struct pf_annotate_function *function, struct perfile_error *error);
    void (*end)(struct pf_annotate *annotate);
};

/* All chosen functions; 1 where a function was asked for and none is there. */
int pf_annotate_write(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                      const struct pf_annotate_format *format, struct perfile_error *error);

/* Returns the weight of the line for the function's event in this column. */
struct perfile_weight pf_annotate_weight(const struct pf_annotate_function *function, size_t line, size_t column);
/* Whether columns have numbers of samples or periods, not shares. */
bool pf_annotate_counts(const struct pf_annotate *annotate);
/* The number, or the share with two decimals, in `width` characters. */
void pf_annotate_format_value(const struct pf_annotate *annotate, const struct pf_annotate_function *function,
                              size_t line, size_t column, int width, char text[PF_ANNOTATE_VALUE_BYTES]);
/* What the columns are called. */
const char *pf_annotate_title(const struct pf_annotate *annotate);
double pf_annotate_percent(const struct pf_annotate *annotate, const struct pf_annotate_function *function, size_t line,
                           size_t column);
struct perfile_annotation_event pf_annotate_event(const struct pf_annotate *annotate, size_t event);
/* How much of the event the function is. */
double pf_annotate_share(const struct pf_annotate *annotate, const struct pf_annotate_function *function,
                         size_t column);
/* There is such a line. */
struct perfile_listing_line pf_annotate_line(const struct pf_annotate_function *function, size_t index);
/* The `count` hottest source lines, as many as there are. */
size_t pf_annotate_hottest(const struct pf_annotate *annotate, const struct pf_annotate_function *function,
                           struct pf_annotate_location *lines, size_t count);
/* "branches: ..." of what was recorded of an instruction; false: nothing was. */
bool pf_annotate_put_branches(struct pf_text *text, const struct perfile_listing_line *line);
/* The last part of a path. */
const char *pf_annotate_file_name(const char *path);

/* ---- types.c ---- */

enum { PF_ANNOTATE_ABOUT_TYPES = PERFILE_ANNOTATE_TYPES | PERFILE_ANNOTATE_TYPE_STAT | PERFILE_ANNOTATE_INSN_STAT };
/* The types that samples accessed, of each event, and counts of what was found, as the options ask for them. */
int pf_annotate_write_types(struct pf_annotate *annotate, struct perfile_error *error);
/* insn_stat.c: false when out of memory. */
struct pf_data_types;
bool pf_annotate_put_insn_stat(struct pf_annotate *annotate, const struct pf_data_types *data);

/* ---- arrows.c ---- */

/* Jumps within a function, drawn from the line that jumps to the line where it leads. */
struct pf_arrows {
    const struct perfile_allocator *allocator;
    char *cells; /* `lanes` for each line, the outermost first, then what is beside the instruction */
    size_t bytes;
    size_t line_count;
    unsigned lanes;
};
/* False: out of memory. */
bool pf_arrows_open(struct pf_arrows *arrows, const struct pf_annotate_function *function,
                    const struct perfile_allocator *allocator);
void pf_arrows_close(struct pf_arrows *arrows);
/* `lanes` + 1 characters of a line; of what stands between that and the line before, only what goes through. */
void pf_arrows_put(const struct pf_arrows *arrows, size_t line, bool between, struct pf_text *text);

#endif
