/* SPDX-License-Identifier: MIT */
/* Info: what the header says of the machine and of the events, in groups. */
#ifndef PF_OUTPUT_INFO_HEADER_H
#define PF_OUTPUT_INFO_HEADER_H

#include "base/json.h"

/* Puts each group with its title, and the features that the recording does not have. Returns 0, or MEMORY. */
int pf_info_put_groups(struct perfile_reader *reader, struct pf_text *out, struct perfile_error *error);
/*
 * Puts the member bpf_programs: programs and their names; nothing where the recording has none. Returns 0, or MEMORY.
 */
int pf_info_put_bpf(struct perfile_reader *reader, struct pf_json *json, struct perfile_error *error);

#endif
