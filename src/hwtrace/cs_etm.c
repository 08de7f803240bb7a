/* SPDX-License-Identifier: MIT */
/*
 * Frames of Arm CoreSight (Arm CoreSight Architecture Specification, IHI 0029, "Trace formatter"): 16 bytes with the
 * bytes of several sources. A byte at an even position with bit 0 set is the number of the source whose bytes follow;
 * else it is a byte whose bit 0 is in byte 15. The bit of byte 15 for a number says that the new source follows only
 * after the next byte. What sources write (ETMv4, ETE) is decoded in cs_etm_flow.c. Areas that are not formatted have
 * bytes of one source.
 */
#include "hwtrace/cs_etm.h"

#include <perfile/records.h>

#include <inttypes.h>

enum { FRAME_BYTES = PF_CS_FRAME_BYTES, FLAGS_AT = 15 };

struct state {
    uint8_t source; /* whose bytes come next; 0: not known */
};

unsigned pf_cs_walk_frame(const uint8_t *frame, unsigned source, pf_cs_add *add, void *context)
{
    unsigned next = source;
    for (unsigned i = 0; i < FLAGS_AT; i++) {
        const bool even = i % 2 == 0, delayed = frame[FLAGS_AT] >> (i / 2) & 1;
        if (even && frame[i] & 1) {
            next = frame[i] >> 1;
            source = delayed ? source : next;
        } else {
            add(context, source, even ? (uint8_t)(frame[i] | delayed) : frame[i]);
            source = next;
        }
    }
    return next;
}

static void count_byte(void *context, unsigned source, uint8_t byte)
{
    (void)byte;
    uint64_t *bytes = context;
    bytes[source]++;
}

static void ignore_byte(void *context, unsigned source, uint8_t byte)
{
    (void)context;
    (void)source;
    (void)byte;
}

/* Four words that synchronize the formatter are not a frame. */
static bool is_barrier(const uint8_t *data)
{
    enum { SYNCHRONIZATION = 0x7fffffff };
    for (unsigned i = 0; i < FRAME_BYTES; i += 4)
        if (pf_load32(data + i, PF_AUX_LITTLE) != SYNCHRONIZATION)
            return false;
    return true;
}

static void read_frame(const struct pf_aux_machine *machine, void *state, struct pf_aux_packet *packet)
{
    struct state *s = state;
    if (machine->unformatted) {
        packet->kind = PF_CS_RAW;
        packet->bytes = (size_t)pf_min(packet->bytes, FRAME_BYTES);
        return;
    }
    if (packet->bytes < FRAME_BYTES)
        return; /* a bad packet as long as what is left */
    packet->bytes = FRAME_BYTES;
    packet->kind = is_barrier(packet->data) ? PF_CS_BARRIER : PF_CS_FRAME;
    packet->payload = s->source;
    s->source =
        packet->kind == PF_CS_BARRIER ? 0 : (uint8_t)pf_cs_walk_frame(packet->data, s->source, ignore_byte, NULL);
}

static void add_sources(const struct pf_aux_packet *packet, uint64_t bytes[PF_AUX_SOURCES])
{
    if (packet->kind == PF_CS_FRAME)
        (void)pf_cs_walk_frame(packet->data, (unsigned)packet->payload, count_byte, bytes);
}

static void put_frame(struct pf_text *text, const struct pf_aux_packet *packet)
{
    uint64_t bytes[PF_AUX_SOURCES] = {0};
    add_sources(packet, bytes);
    for (unsigned i = 0; i < PF_AUX_SOURCES; i++)
        if (bytes[i])
            pf_put_format(text, " ID:%x (%" PRIu64 ")", i, bytes[i]);
}

static const struct pf_aux_kind kinds[PF_CS_KINDS] = {
    [PF_AUX_BAD] = {"Bad frame!", NULL, 0},  [PF_AUX_PAD] = {"padding", NULL, 0},
    [PF_CS_FRAME] = {"Frame", put_frame, 0}, [PF_CS_BARRIER] = {"Barrier", NULL, PF_AUX_SYNC},
    [PF_CS_RAW] = {"Bytes", NULL, 0},
};

const struct pf_aux_format pf_aux_cs_etm = {
    .type = PERFILE_AUXTRACE_CS_ETM,
    .heading = "CoreSight",
    .kinds = kinds,
    .kind_count = PF_CS_KINDS,
    .state_bytes = sizeof(struct state),
    .max_bytes = FRAME_BYTES,
    .snapshot_at = 2,
    .read = read_frame,
    .add_sources = add_sources,
#ifdef PF_HAVE_OPENCSD
    .unpacker = &pf_aux_unpack_cs_etm,
#endif
};
