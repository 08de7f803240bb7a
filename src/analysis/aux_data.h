/* SPDX-License-Identifier: MIT */
/*
 * AUX data while a recording is read: the payload of the AUXTRACE record in hand, or the part of a sample, and what all
 * of them add up to. dump, info and the views of traces use them.
 */
#ifndef PF_ANALYSIS_AUX_DATA_H
#define PF_ANALYSIS_AUX_DATA_H

#include "hwtrace/queues.h"

/* The AUX data of one record. */
struct pf_aux_payload {
    struct perfile_reader *reader;
    bool in_sample;
    struct perfile_bytes sample; /* what is left of it */
    struct pf_aux_walk walk;     /* its format is NULL where packets are not decoded */
    bool is_open;
};

/* Returns whether the record may have AUX data: an AUXTRACE record, or a sample of an event whose samples have them. */
bool pf_aux_payload_is_in(const struct perfile_record *record);
/* Starts the walk over the packets of the record, which must be the last one that was read. 0, or an error. */
int pf_aux_payload_open(struct pf_aux_payload *payload, struct perfile_reader *reader,
                        const struct perfile_record *record, const struct perfile_allocator *allocator,
                        struct perfile_error *error);
/* All zeros may be closed, too. */
void pf_aux_payload_close(struct pf_aux_payload *payload);
/* The next packet: 1, 0 at the end, which may be that of the file, or an error. */
int pf_aux_payload_next(struct pf_aux_payload *payload, struct pf_aux_packet *packet, struct perfile_error *error);

/* What all records say of traces. */
struct pf_aux_collector {
    struct perfile_reader *reader;
    struct pf_aux_queues queues;
};
void pf_aux_collector_open(struct pf_aux_collector *collector, struct perfile_reader *reader,
                           const struct perfile_allocator *allocator);
/* All zeros may be closed, too. */
void pf_aux_collector_close(struct pf_aux_collector *collector);
/* Adds the record, which must be the last one that was read. 0, or an error. */
int pf_aux_collector_take(struct pf_aux_collector *collector, const struct perfile_record *record,
                          struct perfile_error *error);

#endif
