/* SPDX-License-Identifier: MIT */
/* Info: what the header says of the machine and of the events, in groups. */
#ifndef PF_OUTPUT_INFO_HEADER_H
#define PF_OUTPUT_INFO_HEADER_H

#include "base/json.h"

/* Each group with its title, and what the recording lacks. 0, or MEMORY. */
int pf_info_put_groups(struct perfile_reader *reader, struct pf_text *out, struct perfile_error *error);
/* The member bpf_programs: parts of programs with their names; nothing where the recording has none. 0, or MEMORY. */
int pf_info_put_bpf(struct perfile_reader *reader, struct pf_json *json, struct perfile_error *error);

#endif
