/* SPDX-License-Identifier: MIT */
/* Hardware traces of an input become samples before any verb reads it. */
#ifndef PF_CLI_ITRACE_H
#define PF_CLI_ITRACE_H

#include <perfile/perfile.h>

/*
 * Writes the recording with samples instead of its trace, as perfile inject --itrace does, to the file `to`, which stays
 * the caller's, and opens that instead: *reader is another one then. Nothing happens to a recording without a trace.
 */
int pf_itrace_apply(struct perfile_reader **reader, const char *letters, int to,
                    const struct perfile_open_options *options, struct perfile_error *error);

#endif
