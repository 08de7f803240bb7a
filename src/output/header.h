/* SPDX-License-Identifier: MIT */
/*
 * The header of a recording in perf's words, with "# " before each line: for script and report with --header, and info.
 *
 *     header.c          which lines, in which order
 *     header_walk.c     a feature as rows of named values
 *     header_machine.c  processors, caches, memory, PMUs
 *     header_event.c    events with their attributes
 *     header_bpf.c      BPF programs and their names
 */
#ifndef PF_OUTPUT_HEADER_H
#define PF_OUTPUT_HEADER_H

#include "base/text.h"

struct pf_header_options {
    const char *path; /* of the recording, whose time is that of its end; NULL: unknown */
    bool full;        /* perf's -I: topology, caches and memory blocks, too */
};

/*
 * The header as `perf report --header-only` prints it. The features of streams come as records: those that are known by
 * now are printed, which are all when the first sample has come. 0, or MEMORY.
 */
int pf_header_put(struct perfile_reader *reader, const struct pf_header_options *options, struct pf_text *out,
                  struct perfile_error *error);
/*
 * The same, for readers at their start; of a stream, the records up to the first sample are read. Other errors: those
 * of reading.
 */
int pf_header_put_only(struct perfile_reader *reader, const struct pf_header_options *options, struct pf_text *out,
                       struct perfile_error *error);
/* The lines of one feature; nothing of one that has none. 0, or MEMORY. */
int pf_header_put_feature(struct perfile_reader *reader, uint32_t number, struct pf_text *out,
                          struct perfile_error *error);

/* Puts the names of the features that perf knows and the recording does not have, each with a blank before it. */
void pf_header_put_missing(const struct perfile_reader *reader, struct pf_text *out);
/* Finds when the recording was written to its end: seconds since 1970. False: that is not known. */
bool pf_header_time(const char *path, int64_t *seconds);

/* A part of a BPF program. */
struct pf_header_bpf {
    uint64_t id; /* of the program */
    const char *name;
    uint64_t address;
    uint32_t bytes;
    uint64_t index, count; /* of the parts of its program */
};
/* All that the recording names. `out` is where it goes in the end. 0, or MEMORY. */
int pf_header_each_bpf(struct perfile_reader *reader, struct pf_text *out,
                       void (*each)(void *context, const struct pf_header_bpf *part), void *context,
                       struct perfile_error *error);

#endif
