/* SPDX-License-Identifier: MIT */
/*
 * What the queues of traces take from a recording: its records decoded, its processor, and the bytes of buffers.
 * inject, cut, info, dump and the views of traces use it.
 */
#ifndef PF_HWTRACE_RECORDS_H
#define PF_HWTRACE_RECORDS_H

#include "hwtrace/queues.h"

/* The decoded records that say something about traces. */
union pf_aux_body {
    struct perfile_auxtrace_info auxtrace_info;
    struct perfile_auxtrace auxtrace;
    struct perfile_aux aux;
    struct perfile_time_conv time_conv;
    struct perfile_auxtrace_error auxtrace_error;
};

/*
 * Decodes a record for pf_aux_queues_take; *decoded points to the record and to *body. Returns false where the record
 * is damaged, or of a type that says nothing about traces.
 */
bool pf_aux_record_decode(const struct perfile_reader *reader, const struct perfile_record *record,
                          union pf_aux_body *body, struct pf_aux_record *decoded);
/* Returns whether the record is a sample of an event whose samples may have AUX data. */
bool pf_aux_record_is_sample(const struct perfile_record *record);
/* Collects the AUX data of such a sample. *queue is NULL where it has none. Returns false when out of memory. */
bool pf_aux_queues_take_sample(struct pf_aux_queues *queues, const struct perfile_record *record,
                               struct pf_aux_queue **queue);

/*
 * Collects what an AUX_OUTPUT_HW_ID record says: of CoreSight its number has that of a source in its low bits, whose
 * processor is that of the record. Returns false when out of memory.
 */
bool pf_aux_take_source(struct pf_map *source_cpus, const struct perfile_reader *reader,
                        const struct perfile_record *record);

/* The feature CPUID, or NULL. */
const char *pf_aux_cpuid(struct perfile_reader *reader);
struct pf_aux_machine pf_aux_machine_in(struct perfile_reader *reader);
/* A pf_aux_read, whose context is the reader. */
int pf_aux_read_buffer(void *reader, const struct pf_aux_buffer *buffer, uint64_t at, uint8_t *to, size_t *bytes,
                       struct perfile_error *error);

#endif
