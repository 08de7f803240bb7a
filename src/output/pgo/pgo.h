/* SPDX-License-Identifier: MIT */
/*
 * Profiles for optimisers: one file for each format, with its `const struct pf_pgo_format pf_pgo_format_<name>` and a
 * line in formats.def. All are made from a struct pf_pgo_profile (analysis/pgo/pgo.h); what needs instructions or
 * functions opens a struct pf_pgo_code (analysis/pgo/code.h).
 */
#ifndef PF_OUTPUT_PGO_PGO_H
#define PF_OUTPUT_PGO_PGO_H

#include "analysis/pgo/code.h"
#include "analysis/pgo/pgo.h"
#include "base/text.h"

struct pf_pgo_writing {
    const struct perfile_pgo *pgo; /* for pf_pgo_note */
    const struct pf_pgo_profile *profile;
    const struct perfile_pgo_write_options *options; /* complete */
    const struct perfile_allocator *allocator;
    /* A copy of the profile's: the format adds what it drops. Also says what was empty when nothing is usable. */
    struct perfile_pgo_counts *counts;
};

struct pf_pgo_format {
    struct perfile_pgo_format info;
    /*
     * Writes all of it to `out`; the caller flushes. 0; 1: nothing is usable, and nothing was written, for which
     * `counts` has the reason; or an error. A format whose info.is_weak is not set is called only where
     * profile->has_branches.
     */
    int (*write)(struct pf_pgo_writing *writing, struct pf_text *out, struct perfile_error *error);
};

/* "120-139:2573" and "207->120:3", for `arrow` "-" and "->". */
void pf_pgo_put_line(struct pf_text *out, uint64_t from, const char *arrow, uint64_t to, uint64_t count);
/* What the addresses of llvm-profgen count from: the page where the first executable segment begins. */
uint64_t pf_pgo_profgen_base(const struct pf_pgo_profile *profile);
/* How many functions the binary has, and in how many of them code ran. */
void pf_pgo_count_functions(const struct pf_pgo_writing *writing, const struct pf_pgo_code *code);

#endif
