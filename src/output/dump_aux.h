/* SPDX-License-Identifier: MIT */
/* The packets of a hardware trace, after the AUXTRACE record whose payload they are. */
#ifndef PF_OUTPUT_DUMP_AUX_H
#define PF_OUTPUT_DUMP_AUX_H

#include "base/json.h"
#include "output/dump.h"

/* Whether the packets of this record are to be printed. Its payload has then to be left unread. */
bool pf_dump_has_packets(const struct perfile_output_options *options, const struct perfile_record *record);

/*
 * A line for each packet, as perf report -D prints them, or a member "packets". 0, or an error: the packets before it
 * are printed, and a payload that is truncated is not an error.
 */
int pf_dump_packets_text(struct perfile_reader *reader, struct pf_text *text, struct perfile_error *error);
int pf_dump_packets_json(struct perfile_reader *reader, struct pf_json *json, struct perfile_error *error);

#endif
