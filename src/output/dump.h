/* SPDX-License-Identifier: MIT */
/* The records of a dump, for every format the same walk. */
#ifndef PF_OUTPUT_DUMP_H
#define PF_OUTPUT_DUMP_H

#include "output/dump_aux.h"

/* Prints a record. 0, or an error: STOPPED when the text has failed. */
typedef int pf_dump_put(struct perfile_reader *reader, const struct perfile_output_options *options,
                        struct pf_text *out, const struct pf_dumped *dumped, struct perfile_error *error);

/* The bits as the file has them; record->misc is without one that only seems to be set. */
uint16_t pf_dump_misc(const struct perfile_reader *reader, const struct perfile_record *record);
/* The body of the record, and the fields of a tracepoint. 0, or an error. */
int pf_dump_visit(struct perfile_reader *reader, const struct pf_dumped *dumped, const struct perfile_visitor *visitor,
                  struct perfile_error *error);

/* All records in the order of the file, with options->threads. 0, or an error: WRITE when the text has failed. */
int pf_dump_records(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                    pf_dump_put *put, struct perfile_error *error);

#endif
