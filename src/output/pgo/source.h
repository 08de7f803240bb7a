/* SPDX-License-Identifier: MIT */
/* What the formats by source line have in common. */
#ifndef PF_OUTPUT_PGO_SOURCE_H
#define PF_OUTPUT_PGO_SOURCE_H

#include "analysis/pgo/lines.h"
#include "output/pgo/pgo.h"

/*
 * Reads the code and the debug info of the binary. 0; 1: nothing is usable; or an error. Only after 0 there are lines,
 * to be closed.
 */
int pf_pgo_read_lines(struct pf_pgo_writing *writing, enum pf_pgo_discriminators discriminators,
                      struct pf_pgo_lines *lines, struct perfile_error *error);
/* Whether clang finds the code of the binary by probes (-fpseudo-probe-for-profiling). */
bool pf_pgo_has_probes(const struct pf_pgo_writing *writing);
/* Returns ABSENT. */
int pf_pgo_fail_no_debug_info(const struct pf_pgo_profile *profile, struct perfile_error *error);

#endif
