/* SPDX-License-Identifier: MIT */
/* Finds and prints the entries of the blocks. */
#include "hwtrace/s390_sampling.h"

#include <perfile/records.h>

#include <inttypes.h>
#include <limits.h>

enum { BLOCK_BYTES = 4096, TRAILER_BYTES = 64, ENTRIES_BYTES = BLOCK_BYTES - TRAILER_BYTES, BASIC_BYTES = 32 };

struct state {
    size_t at;         /* of the next packet in the block */
    size_t diag_bytes; /* of a diagnostic entry, 0: none are recorded */
    bool diagnostic;   /* the next entry is one */
    uint64_t time;     /* of the block, in nanoseconds */
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

/*
 * When the block was filled: the time of its trailer in 4096ths of a microsecond, less the clock's base. 0: not known.
 */
static uint64_t time_of(const uint8_t *trailer)
{
    enum { EXTENDED_CLOCK = 0x20, BASE_IS_VALID = 0x80, FRACTION_BITS = 9, NANOSECONDS = 125 };
    const uint8_t *time = trailer + 16 + (trailer[0] & EXTENDED_CLOCK ? 1 : 0);
    const uint64_t clock = pf_load64(time, PF_AUX_BIG) - pf_load64(trailer + 56, PF_AUX_BIG);
    const uint64_t fraction = clock & ((1 << FRACTION_BITS) - 1);
    return trailer[48] & BASE_IS_VALID
               ? (clock >> FRACTION_BITS) * NANOSECONDS + (fraction * NANOSECONDS >> FRACTION_BITS)
               : 0;
}

static void begin_block(const struct pf_aux_machine *machine, struct state *s, const uint8_t *block)
{
    s->diag_bytes = diagnostic_bytes(machine, block);
    s->time = time_of(block + ENTRIES_BYTES);
}

static unsigned kind_at(const struct state *s, const struct pf_aux_packet *packet)
{
    if (s->at == ENTRIES_BYTES)
        return PF_S390_TRAILER;
    const size_t left = ENTRIES_BYTES - s->at;
    const unsigned number = left >= 2 ? pf_load16(packet->data, PF_AUX_BIG) : 0;
    if (s->diagnostic)
        return number > 0x8000 && left >= s->diag_bytes ? PF_S390_DIAGNOSTIC : PF_S390_UNUSED;
    return number == 1 && left >= BASIC_BYTES ? PF_S390_BASIC : PF_S390_UNUSED;
}

static void read_entry(const struct pf_aux_machine *machine, void *state, struct pf_aux_packet *packet)
{
    struct state *s = state;
    if (s->at == 0 && packet->bytes < BLOCK_BYTES)
        return; /* a bad packet as long as what is left */
    if (s->at == 0)
        begin_block(machine, s, packet->data);
    packet->payload = s->time;
    packet->detail = s->at == ENTRIES_BYTES ? (unsigned)pf_min(pf_load64(packet->data + 8, PF_AUX_BIG), UINT_MAX) : 0;
    packet->kind = kind_at(s, packet);
    packet->bytes = packet->kind == PF_S390_TRAILER      ? TRAILER_BYTES
                    : packet->kind == PF_S390_BASIC      ? BASIC_BYTES
                    : packet->kind == PF_S390_DIAGNOSTIC ? s->diag_bytes
                                                         : ENTRIES_BYTES - s->at;
    s->diagnostic = packet->kind == PF_S390_BASIC && s->diag_bytes >= 2;
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

static const struct pf_aux_kind kinds[PF_S390_KINDS] = {
    [PF_AUX_BAD] = {"Bad block!", NULL, 0},
    [PF_AUX_PAD] = {"padding", NULL, 0},
    [PF_S390_BASIC] = {"Basic", put_basic, PF_AUX_RECORD | PF_AUX_TIME},
    [PF_S390_DIAGNOSTIC] = {"Diag", put_diagnostic, 0},
    [PF_S390_TRAILER] = {"Trailer", put_trailer, PF_AUX_OVERFLOWS | PF_AUX_ENTRY_AFTER},
    [PF_S390_UNUSED] = {"Unused", NULL, 0},
};

const struct pf_aux_format pf_aux_s390_sampling = {
    .type = PERFILE_AUXTRACE_S390_CPUMSF,
    .heading = "s390 AUX",
    .kinds = kinds,
    .kind_count = PF_S390_KINDS,
    .values_only = true,
    .state_bytes = sizeof(struct state),
    .max_bytes = BLOCK_BYTES,
    .read = read_entry,
};
