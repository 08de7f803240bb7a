/* SPDX-License-Identifier: MIT */
/*
 * The code of functions, for the page: their instructions and source lines with what was sampled at each, as JSON. It
 * is read in a pass of its own, before the stacks.
 */
#ifndef PF_OUTPUT_FLAME_CODE_H
#define PF_OUTPUT_FLAME_CODE_H

#include "base/text.h"
#include "output/flame/numbers.h"
#include "output/output.h"

/* What a page has at most: functions, and bytes of JSON before they are deflated. */
enum { PF_FLAME_CODE_FUNCTIONS = 200, PF_FLAME_CODE_BYTES = 4000000 };

/* Of a function of the recording. */
struct pf_flame_code_function {
    uint32_t number; /* in the text + 1; 0: it is not there */
    uint64_t base;   /* what offsets count from */
};

/* Where the samples are, in their order. */
struct pf_flame_code_samples {
    const struct perfile_allocator *allocator;
    struct pf_numbers functions, addresses; /* zigzag of what was added to the address before */
    struct pf_numbers_reading at_function, at_address;
    uint64_t address, last_address;
    size_t read;
    uint64_t ips, read_ips; /* of all, and of those that were read: a hash */
    struct pf_flame_code_function *numbers;
    size_t capacity;
};

struct pf_flame_code {
    const struct perfile_annotate_options *choice; /* set before it is opened: which functions; NULL: the heaviest */
    struct pf_text text;
    struct pf_flame_code_samples samples;
    size_t function_count; /* in the text ... */
    size_t listed_count;   /* ... and those of them whose instructions are there */
    size_t left_count;     /* with samples, but too light or too long for the page */
    size_t chosen_count;   /* by the choice */
    char missing[256];     /* why the first one without instructions has none; "" */
};

/*
 * The heaviest functions first. The reader is at its start, and is there again. 0; ARGUMENT for times off CPU and for
 * what cannot be read twice; MEMORY, and those of perfile_annotation_open. Close it after failures, too.
 */
int pf_flame_code_open(struct pf_flame_code *code, struct perfile_reader *reader,
                       const struct perfile_output_options *options, struct perfile_error *error);
/*
 * Where the next sample is, as rows of pages have it. All samples must be read in the same order, which _is_read checks
 * at the end.
 */
void pf_flame_code_next(struct pf_flame_code_samples *samples, uint64_t ip, uint32_t *code, uint64_t *offset);
bool pf_flame_code_is_read(const struct pf_flame_code_samples *samples);
void pf_flame_code_close(struct pf_flame_code *code);
/* Reports to the caller that code is in the page, and how much of it. */
void pf_flame_code_notify(const struct pf_flame_code *code, const struct perfile_output_options *options);

#endif
