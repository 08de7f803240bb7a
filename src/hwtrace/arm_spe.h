/* SPDX-License-Identifier: MIT */
/*
 * Packets of Arm's Statistical Profiling Extension: Arm Architecture Reference Manual (DDI 0487), "Statistical
 * Profiling Extension Sample Record Specification". A record is a row of packets that ends with END or TIMESTAMP.
 */
#ifndef PF_HWTRACE_ARM_SPE_H
#define PF_HWTRACE_ARM_SPE_H

#include "hwtrace/packets.h"

/* The kinds of packets. Payloads are as recorded. */
enum pf_spe_kind {
    PF_SPE_BAD = PF_AUX_BAD,
    PF_SPE_PAD = PF_AUX_PAD,
    PF_SPE_END,
    PF_SPE_TIMESTAMP,
    PF_SPE_PC,              /* addresses */
    PF_SPE_TARGET,          /* of the branch */
    PF_SPE_VIRTUAL,         /* of the data */
    PF_SPE_PHYSICAL,        /* of the data */
    PF_SPE_PREVIOUS_TARGET, /* of the branch taken before */
    PF_SPE_ADDRESS,         /* of another kind: detail is its number */
    PF_SPE_LATENCY,         /* a counter: detail is 0 total, 1 issue, 2 translation, or another number */
    PF_SPE_CONTEXT,         /* detail 1 or 2 says which exception level's */
    PF_SPE_EVENTS,
    PF_SPE_DATA_SOURCE,
    PF_SPE_OTHER, /* operations: detail is the number of the class */
    PF_SPE_SVE_OTHER,
    PF_SPE_SME_OTHER,
    PF_SPE_LOAD,
    PF_SPE_STORE,
    PF_SPE_BRANCH,
    PF_SPE_OPERATION,
    PF_SPE_KINDS
};

/* ---- finding packets --------------------------------------------------------------------------------------------- */

/*
 * Finds packets of Arm SPE: each header, of one byte or two, has a class, by its last byte. It is inlined in the
 * decoder, which reads some ten packets for a sample.
 */
enum pf_spe_class {
    PF_SPE_CLASS_NONE, /* a header that Arm SPE does not define */
    PF_SPE_CLASS_EVENTS,
    PF_SPE_CLASS_SOURCE,
    PF_SPE_CLASS_TIMESTAMP,
    PF_SPE_CLASS_CONTEXT,
    PF_SPE_CLASS_OPERATION,
    PF_SPE_CLASS_ADDRESS, /* of this one and the next, two bits more of the number may stand in a byte before */
    PF_SPE_CLASS_COUNTER,
};

#define PF_SPE_4(at, class) [at] = class, [(at) + 1] = class, [(at) + 2] = class, [(at) + 3] = class
#define PF_SPE_8(at, class) PF_SPE_4(at, class), PF_SPE_4((at) + 4, class)
#define PF_SPE_OF_SIZES(at, class) [at] = class, [(at) + 0x10] = class, [(at) + 0x20] = class, [(at) + 0x30] = class
static const uint8_t pf_spe_classes[256] = {
    PF_SPE_OF_SIZES(0x42, PF_SPE_CLASS_EVENTS),
    PF_SPE_OF_SIZES(0x43, PF_SPE_CLASS_SOURCE),
    [0x71] = PF_SPE_CLASS_TIMESTAMP,
    PF_SPE_4(0x64, PF_SPE_CLASS_CONTEXT),
    PF_SPE_4(0x48, PF_SPE_CLASS_OPERATION),
    PF_SPE_8(0xb0, PF_SPE_CLASS_ADDRESS),
    PF_SPE_8(0x98, PF_SPE_CLASS_COUNTER),
};

static inline void pf_spe_set_address(struct pf_aux_packet *packet, unsigned index)
{
    static const uint8_t named[] = {PF_SPE_PC, PF_SPE_TARGET, PF_SPE_VIRTUAL, PF_SPE_PHYSICAL, PF_SPE_PREVIOUS_TARGET};
    packet->detail = index;
    packet->kind = index < PF_COUNT(named) ? named[index] : PF_SPE_ADDRESS;
}

static inline void pf_spe_set_operation(struct pf_aux_packet *packet, unsigned index)
{
    const unsigned payload = (unsigned)packet->payload;
    packet->detail = index;
    if (index == 0)
        packet->kind = (payload & 0x88) == 0x08   ? PF_SPE_SVE_OTHER
                       : (payload & 0x88) == 0x88 ? PF_SPE_SME_OTHER
                                                  : PF_SPE_OTHER;
    else if (index == 1)
        packet->kind = payload & 1 ? PF_SPE_STORE : PF_SPE_LOAD;
    else
        packet->kind = index == 2 ? PF_SPE_BRANCH : PF_SPE_OPERATION;
}

/* `number`: of the packet among those of its class, in the low bits of its header, and the bits above them. */
static inline void pf_spe_set_class(struct pf_aux_packet *packet, enum pf_spe_class class, unsigned header,
                                    unsigned above)
{
    switch (class) {
    case PF_SPE_CLASS_ADDRESS:
        pf_spe_set_address(packet, (header & 7) | above);
        break;
    case PF_SPE_CLASS_COUNTER:
        packet->kind = PF_SPE_LATENCY;
        packet->detail = (header & 7) | above;
        break;
    case PF_SPE_CLASS_OPERATION:
        pf_spe_set_operation(packet, header & 3);
        break;
    case PF_SPE_CLASS_CONTEXT:
        packet->kind = PF_SPE_CONTEXT;
        packet->detail = (header & 3) + 1;
        break;
    case PF_SPE_CLASS_EVENTS:
        packet->kind = PF_SPE_EVENTS;
        break;
    case PF_SPE_CLASS_SOURCE:
        packet->kind = PF_SPE_DATA_SOURCE;
        break;
    default:
        packet->kind = PF_SPE_TIMESTAMP;
        break;
    }
}

static inline uint64_t pf_spe_number(const uint8_t *data, size_t bytes)
{
    return bytes == 8   ? pf_load64(data, PF_AUX_LITTLE)
           : bytes == 4 ? pf_load32(data, PF_AUX_LITTLE)
           : bytes == 2 ? pf_load16(data, PF_AUX_LITTLE)
                        : *data;
}

/* Bits 5 and 4 of a header say how large the payload is: one, two, four or eight bytes. */
static inline void pf_spe_read_payload(struct pf_aux_packet *packet, size_t header_bytes)
{
    const uint8_t header = packet->data[header_bytes - 1];
    const enum pf_spe_class class = pf_spe_classes[header];
    const size_t bytes = (size_t)1 << (header >> 4 & 3);
    if (class == PF_SPE_CLASS_NONE || (header_bytes > 1 && class < PF_SPE_CLASS_ADDRESS) ||
        packet->bytes < header_bytes + bytes)
        return;
    packet->payload = pf_spe_number(packet->data + header_bytes, bytes);
    packet->bytes = header_bytes + bytes;
    pf_spe_set_class(packet, class, header, header_bytes > 1 ? (packet->data[0] & 3u) << 3 : 0);
}

static inline void pf_spe_read_padding(struct pf_aux_packet *packet)
{
    enum { MAX_PADDING = 16, WORD = 8 };
    size_t bytes = 1;
    if (packet->bytes >= MAX_PADDING && !pf_load64(packet->data, false) && !pf_load64(packet->data + WORD, false))
        bytes = MAX_PADDING;
    while (bytes < packet->bytes && bytes < MAX_PADDING && packet->data[bytes] == 0)
        bytes++;
    packet->kind = PF_SPE_PAD;
    packet->bytes = bytes;
}

/* After 0x20 to 0x23 comes another header; zero there is padding that aligns the next packet. */
static inline void pf_spe_read_extended(struct pf_aux_packet *packet)
{
    if (packet->bytes < 2)
        return;
    if (packet->data[0] == 0x20 && packet->data[1] == 0) {
        packet->kind = PF_SPE_PAD;
        packet->bytes = 2;
    } else {
        pf_spe_read_payload(packet, 2);
    }
}

/* The `read` of the format. */
static inline __attribute__((always_inline)) void pf_spe_read(const struct pf_aux_machine *machine, void *state,
                                                              struct pf_aux_packet *packet)
{
    const uint8_t first = packet->data[0];
    (void)machine;
    (void)state;
    packet->kind = PF_SPE_BAD;
    if (first == 0) {
        pf_spe_read_padding(packet);
    } else if (first == 1) {
        packet->kind = PF_SPE_END;
        packet->bytes = 1;
    } else if ((first & 0xfc) == 0x20) {
        pf_spe_read_extended(packet);
    } else {
        pf_spe_read_payload(packet, 1);
    }
    if (packet->kind == PF_SPE_BAD)
        packet->bytes = 1;
}

#endif
