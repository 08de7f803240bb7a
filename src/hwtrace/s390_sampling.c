/* SPDX-License-Identifier: MIT */
/*
 * Blocks of the CPU-measurement sampling facility of s390 (IBM, "The Load-Program-Parameter and the CPU-Measurement
 * Facilities", SA23-2260): 4096 bytes, big-endian, with basic entries, each followed by a diagnostic one where these are
 * recorded, and a trailer in the last 64 bytes, which says how large the entries are.
 */
#include "hwtrace/packets.h"

#include <perfile/records.h>

#include <inttypes.h>

enum {
    BASIC = PF_AUX_PAD + 1,
    DIAGNOSTIC,
    TRAILER,
    UNUSED,
    KINDS,
    BLOCK_BYTES = 4096,
    TRAILER_BYTES = 64,
    ENTRIES_BYTES = BLOCK_BYTES - TRAILER_BYTES,
    BASIC_BYTES = 32
};

struct state {
    size_t at;         /* of the next packet in the block */
    size_t diag_bytes; /* of a diagnostic entry, 0: none are recorded */
    bool diagnostic;   /* the next entry is one */
};

/* Machines whose trailers do not have the sizes, by their type. */
static size_t old_diagnostic_bytes(uint32_t machine)
{
    static const struct {
        uint32_t machine;
        size_t bytes;
    } old[] = {{2097, 64}, {2098, 64}, {2817, 74}, {2818, 74}, {2827, 85}, {2828, 85}};
    for (size_t i = 0; i < PF_COUNT(old); i++)
        if (old[i].machine == machine)
            return old[i].bytes;
    return 0;
}

/* The size of diagnostic entries, from the trailer of the block that begins at `block`. */
static size_t diagnostic_bytes(const struct pf_aux_machine *machine, const uint8_t *block)
{
    const size_t basic = pf_load16(block + ENTRIES_BYTES + 4, PF_AUX_BIG);
    const size_t diagnostic = pf_load16(block + ENTRIES_BYTES + 6, PF_AUX_BIG);
    return basic || diagnostic ? diagnostic : old_diagnostic_bytes(machine->s390_machine);
}

static unsigned kind_at(const struct state *s, const struct pf_aux_packet *packet)
{
    if (s->at == ENTRIES_BYTES)
        return TRAILER;
    const size_t left = ENTRIES_BYTES - s->at;
    const unsigned number = left >= 2 ? pf_load16(packet->data, PF_AUX_BIG) : 0;
    if (s->diagnostic)
        return number > 0x8000 && left >= s->diag_bytes ? DIAGNOSTIC : UNUSED;
    return number == 1 && left >= BASIC_BYTES ? BASIC : UNUSED;
}

static void read_entry(const struct pf_aux_machine *machine, void *state, struct pf_aux_packet *packet)
{
    struct state *s = state;
    if (s->at == 0 && packet->bytes < BLOCK_BYTES)
        return; /* a bad packet as long as what is left */
    if (s->at == 0)
        s->diag_bytes = diagnostic_bytes(machine, packet->data);
    packet->kind = kind_at(s, packet);
    packet->bytes = packet->kind == TRAILER      ? TRAILER_BYTES
                    : packet->kind == BASIC      ? BASIC_BYTES
                    : packet->kind == DIAGNOSTIC ? s->diag_bytes
                                                 : ENTRIES_BYTES - s->at;
    s->diagnostic = packet->kind == BASIC && s->diag_bytes >= 2;
    s->at = (s->at + packet->bytes) % BLOCK_BYTES;
}

static void put_basic(struct pf_text *text, const struct pf_aux_packet *packet)
{
    static const char letters[] = "TWPI";
    static const unsigned bits[] = {5, 4, 3, 0};
    const uint8_t *data = packet->data;
    pf_put_format(text, "Basic   Def:%04x Inst:%#04x ", pf_load16(data, PF_AUX_BIG), data[2] & 0xfu);
    for (size_t i = 0; i < PF_COUNT(bits); i++)
        pf_put_char(text, data[3] >> bits[i] & 1 ? letters[i] : ' ');
    pf_put_format(text, " AS:%u ASN:%#04x IA:%#018" PRIx64 " CL:%u HPP:%#018" PRIx64 " GPP:%#018" PRIx64,
                  data[3] >> 1 & 3u, pf_load16(data + 6, PF_AUX_BIG), pf_load64(data + 8, PF_AUX_BIG), data[4] >> 6u,
                  pf_load64(data + 24, PF_AUX_BIG), pf_load64(data + 16, PF_AUX_BIG));
}

static void put_diagnostic(struct pf_text *text, const struct pf_aux_packet *packet)
{
    pf_put_format(text, "Diag    Def:%04x", pf_load16(packet->data, PF_AUX_BIG));
}

static void put_trailer(struct pf_text *text, const struct pf_aux_packet *packet)
{
    const uint8_t *data = packet->data;
    const bool clock = data[0] >> 5 & 1; /* the time is a STORE CLOCK EXTENDED value: its second to ninth bytes */
    pf_put_format(text, "Trailer %c%c%c bsdes:%u dsdes:%u Overflow:%" PRIu64 " Time:%#" PRIx64,
                  data[0] & 0x80 ? 'F' : ' ', data[0] & 0x40 ? 'A' : ' ', clock ? 'T' : ' ',
                  pf_load16(data + 4, PF_AUX_BIG), pf_load16(data + 6, PF_AUX_BIG), pf_load64(data + 8, PF_AUX_BIG),
                  pf_load64(data + 16 + clock, PF_AUX_BIG));
    pf_put_format(text, " C:%u TOD:%#" PRIx64, data[48] >> 7u, pf_load64(data + 56, PF_AUX_BIG));
}

static const struct pf_aux_kind kinds[KINDS] = {
    [PF_AUX_BAD] = {"Bad block!", NULL},     [PF_AUX_PAD] = {"padding", NULL},     [BASIC] = {"Basic", put_basic},
    [DIAGNOSTIC] = {"Diag", put_diagnostic}, [TRAILER] = {"Trailer", put_trailer}, [UNUSED] = {"Unused", NULL},
};

const struct pf_aux_format pf_aux_s390_sampling = {
    .type = PERFILE_AUXTRACE_S390_CPUMSF,
    .heading = "s390 AUX",
    .kinds = kinds,
    .kind_count = KINDS,
    .values_only = true,
    .state_bytes = sizeof(struct state),
    .max_bytes = BLOCK_BYTES,
    .read = read_entry,
};
