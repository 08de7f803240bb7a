/* SPDX-License-Identifier: MIT */
/*
 * What records say of hardware traces: packets, after the AUXTRACE record whose payload they are or the sample that has
 * them, and the words of AUXTRACE_INFO by their names.
 */
#ifndef PF_OUTPUT_DUMP_AUX_H
#define PF_OUTPUT_DUMP_AUX_H

#include "base/json.h"
#include "hwtrace/decoder.h"
#include "hwtrace/queues.h"
#include "output/output.h"

/* What records say about the traces that follow them, and the packets in packets that were found so far. */
struct pf_dump_traces {
    struct perfile_reader *reader;
    struct pf_aux_queues queues;
    struct pf_map source_cpus;
    struct pf_aux_recording recording;
    const struct pf_aux_unpacker *unpacker; /* NULL before the first packet that needs one */
    void *unpacked;                         /* its state */
};
void pf_dump_traces_open(struct pf_dump_traces *traces, struct perfile_reader *reader,
                         const struct perfile_allocator *allocator);
void pf_dump_traces_close(struct pf_dump_traces *traces);
/* Collects what the record says. Returns false when out of memory. */
bool pf_dump_traces_take(struct pf_dump_traces *traces, const struct perfile_record *record);

/*
 * A record to be printed. Those of the kernel may be copies, of which several threads print one each while another
 * reads on.
 */
struct pf_dumped {
    const struct perfile_record *record;
    const struct perfile_tracepoint *tracepoint; /* of a sample; NULL: none */
    struct pf_dump_traces *traces;               /* NULL where packets are not printed, and with copies */
};

/* Returns whether the record has something to print here. Its payload has then to be left unread. */
bool pf_dump_has_packets(const struct perfile_output_options *options, const struct perfile_record *record);

/*
 * Prints a line for each packet or word, as perf report -D does, or a member "packets" or "metadata". Returns 0, or an
 * error: the packets before it are printed, and a payload that is truncated is not an error.
 */
int pf_dump_packets_text(struct perfile_reader *reader, const struct pf_dumped *dumped, struct pf_text *text,
                         struct perfile_error *error);
int pf_dump_packets_json(struct perfile_reader *reader, const struct pf_dumped *dumped, struct pf_json *json,
                         struct perfile_error *error);

#endif
