/* SPDX-License-Identifier: MIT */
/* Finds and prints packets of Arm SPE. Each header, of one byte or two, is one row of a table. */
#include "hwtrace/arm_spe.h"

#include <perfile/records.h>

#include <inttypes.h>

/* ---- reading ----------------------------------------------------------------------------------------------------- */

struct row {
    uint8_t kind;
    uint8_t index_mask; /* of the header's bits that number the packet among those of its kind */
    bool extended;      /* two bits more of that number may stand in a byte before */
    void (*read)(struct pf_aux_packet *packet, unsigned index);
};

static void read_index(struct pf_aux_packet *packet, unsigned index)
{
    packet->detail = index;
}

static void read_address(struct pf_aux_packet *packet, unsigned index)
{
    static const uint8_t named[] = {PF_SPE_PC, PF_SPE_TARGET, PF_SPE_VIRTUAL, PF_SPE_PHYSICAL, PF_SPE_PREVIOUS_TARGET};
    packet->detail = index;
    if (index < PF_COUNT(named))
        packet->kind = named[index];
}

static void read_context(struct pf_aux_packet *packet, unsigned index)
{
    packet->detail = index + 1;
}

static void read_operation(struct pf_aux_packet *packet, unsigned index)
{
    const unsigned payload = (unsigned)packet->payload;
    packet->detail = index;
    if (index == 0)
        packet->kind = (payload & 0x88) == 0x08   ? PF_SPE_SVE_OTHER
                       : (payload & 0x88) == 0x88 ? PF_SPE_SME_OTHER
                                                  : PF_SPE_OTHER;
    else if (index == 1)
        packet->kind = payload & 1 ? PF_SPE_STORE : PF_SPE_LOAD;
    else if (index == 2)
        packet->kind = PF_SPE_BRANCH;
}

enum { NONE, EVENTS, SOURCE, TIMESTAMP, CONTEXT, OPERATION, ADDRESS, COUNTER };

static const struct row rows[] = {
    [EVENTS] = {PF_SPE_EVENTS, 0, false, NULL},
    [SOURCE] = {PF_SPE_DATA_SOURCE, 0, false, NULL},
    [TIMESTAMP] = {PF_SPE_TIMESTAMP, 0, false, NULL},
    [CONTEXT] = {PF_SPE_CONTEXT, 3, false, read_context},
    [OPERATION] = {PF_SPE_OPERATION, 3, false, read_operation},
    [ADDRESS] = {PF_SPE_ADDRESS, 7, true, read_address},
    [COUNTER] = {PF_SPE_LATENCY, 7, true, read_index},
};

/* The row of each header, by its last byte. */
#define ROWS_4(at, row) [at] = row, [(at) + 1] = row, [(at) + 2] = row, [(at) + 3] = row
#define ROWS_8(at, row) ROWS_4(at, row), ROWS_4((at) + 4, row)
#define ROWS_OF_SIZES(at, row) [at] = row, [(at) + 0x10] = row, [(at) + 0x20] = row, [(at) + 0x30] = row
static const uint8_t headers[256] = {
    ROWS_OF_SIZES(0x42, EVENTS), ROWS_OF_SIZES(0x43, SOURCE), [0x71] = TIMESTAMP,    ROWS_4(0x64, CONTEXT),
    ROWS_4(0x48, OPERATION),     ROWS_8(0xb0, ADDRESS),       ROWS_8(0x98, COUNTER),
};

/* Returns NULL for a header that Arm SPE does not define. */
static const struct row *row_of(uint8_t header, bool extended)
{
    const struct row *row = &rows[headers[header]];
    return headers[header] != NONE && (row->extended || !extended) ? row : NULL;
}

static uint64_t number_of(const uint8_t *data, size_t bytes)
{
    return bytes == 8   ? pf_load64(data, PF_AUX_LITTLE)
           : bytes == 4 ? pf_load32(data, PF_AUX_LITTLE)
           : bytes == 2 ? pf_load16(data, PF_AUX_LITTLE)
                        : *data;
}

/* Bits 5 and 4 of a header say how large the payload is: one, two, four or eight bytes. */
static void read_payload(struct pf_aux_packet *packet, size_t header_bytes)
{
    const uint8_t header = packet->data[header_bytes - 1];
    const struct row *row = row_of(header, header_bytes > 1);
    const size_t bytes = (size_t)1 << (header >> 4 & 3);
    if (!row || packet->bytes < header_bytes + bytes)
        return;
    packet->payload = number_of(packet->data + header_bytes, bytes);
    packet->kind = row->kind;
    packet->bytes = header_bytes + bytes;
    if (row->read)
        row->read(packet, (header & row->index_mask) | (header_bytes > 1 ? (packet->data[0] & 3u) << 3 : 0));
}

static void read_padding(struct pf_aux_packet *packet)
{
    size_t bytes = 1;
    while (bytes < packet->bytes && bytes < 16 && packet->data[bytes] == 0)
        bytes++;
    packet->kind = PF_SPE_PAD;
    packet->bytes = bytes;
}

/* After 0x20 to 0x23 comes another header; zero there is padding that aligns the next packet. */
static void read_extended(struct pf_aux_packet *packet)
{
    if (packet->bytes < 2)
        return;
    if (packet->data[0] == 0x20 && packet->data[1] == 0) {
        packet->kind = PF_SPE_PAD;
        packet->bytes = 2;
    } else {
        read_payload(packet, 2);
    }
}

static void read_packet(const struct pf_aux_machine *machine, void *state, struct pf_aux_packet *packet)
{
    const uint8_t first = packet->data[0];
    (void)machine;
    (void)state;
    packet->kind = PF_SPE_BAD;
    if (first == 0) {
        read_padding(packet);
    } else if (first == 1) {
        packet->kind = PF_SPE_END;
        packet->bytes = 1;
    } else if ((first & 0xfc) == 0x20) {
        read_extended(packet);
    } else {
        read_payload(packet, 1);
    }
    if (packet->kind == PF_SPE_BAD)
        packet->bytes = 1;
}

/* ---- text: the words of perf ------------------------------------------------------------------------------------- */

static void put_number(struct pf_text *text, const struct pf_aux_packet *packet)
{
    pf_put_format(text, " %" PRIu64, packet->payload);
}

static void put_hex(struct pf_text *text, const struct pf_aux_packet *packet)
{
    pf_put_format(text, " 0x%" PRIx64, packet->payload);
}

static uint64_t address(const struct pf_aux_packet *packet)
{
    return packet->payload & (((uint64_t)1 << 56) - 1);
}

static void put_code_address(struct pf_text *text, const struct pf_aux_packet *packet)
{
    pf_put_format(text, " 0x%" PRIx64 " el%u ns=%u", address(packet), (unsigned)(packet->payload >> 61) & 3,
                  (unsigned)(packet->payload >> 63));
}

static void put_physical(struct pf_text *text, const struct pf_aux_packet *packet)
{
    pf_put_format(text, " 0x%" PRIx64 " ns=%u ch=%u pat=%x", address(packet), (unsigned)(packet->payload >> 63),
                  (unsigned)(packet->payload >> 62) & 1, (unsigned)(packet->payload >> 56) & 0xf);
}

static void put_address(struct pf_text *text, const struct pf_aux_packet *packet)
{
    pf_put_format(text, " 0x%" PRIx64 " (%u)", packet->payload, packet->detail);
}

static void put_latency(struct pf_text *text, const struct pf_aux_packet *packet)
{
    static const char *const names[] = {"TOT", "ISSUE", "XLAT"};
    pf_put_format(text, " %" PRIu64 " %s", packet->payload,
                  packet->detail < PF_COUNT(names) ? names[packet->detail] : "");
}

static void put_context(struct pf_text *text, const struct pf_aux_packet *packet)
{
    pf_put_format(text, " 0x%" PRIx64 " el%u", packet->payload, packet->detail);
}

/* Bits without a name are listed by number, after the others. */
static void put_events(struct pf_text *text, const struct pf_aux_packet *packet)
{
    static const struct {
        uint8_t bit;
        const char *name;
    } names[] = {{0, "EXCEPTION-GEN"}, {1, "RETIRED"},           {2, "L1D-ACCESS"},
                 {3, "L1D-REFILL"},    {4, "TLB-ACCESS"},        {5, "TLB-REFILL"},
                 {6, "NOT-TAKEN"},     {7, "MISPRED"},           {8, "LLC-ACCESS"},
                 {9, "LLC-REFILL"},    {10, "REMOTE-ACCESS"},    {11, "ALIGNMENT"},
                 {16, "TXN"},          {17, "SVE-PARTIAL-PRED"}, {18, "SVE-EMPTY-PRED"},
                 {19, "L2D-ACCESS"},   {20, "L2D-MISS"},         {21, "HITM"},
                 {22, "LFB"},          {23, "SNOOPED"},          {24, "STREAMING-SVE"},
                 {25, "SMCU"},         {12, "LATE-PREFETCH"}};
    uint64_t left = packet->payload;
    for (size_t i = 0; i < PF_COUNT(names); i++) {
        if (left >> names[i].bit & 1)
            pf_put_format(text, " %s", names[i].name);
        left &= ~((uint64_t)1 << names[i].bit);
    }
    for (const char *prefix = " IMPDEF:"; left; left &= left - 1, prefix = ",")
        pf_put_format(text, "%s%d", prefix, __builtin_ctzll(left));
}

struct word {
    uint8_t mask, value;
    const char *word;
};

/* The word of each row that the payload matches. */
static void put_words(struct pf_text *text, uint64_t payload, const struct word *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if ((payload & words[i].mask) == words[i].value)
            pf_put_format(text, " %s", words[i].word);
}

static void put_other(struct pf_text *text, const struct pf_aux_packet *packet)
{
    static const struct word words[] = {
        {0xfc, 0x04, "ASE"}, {0xfa, 0x02, "FP"}, {0xf9, 0x00, "INSN-OTHER"}, {0xf9, 0x01, "COND-SELECT"}};
    if (packet->payload & 0xf0)
        put_hex(text, packet);
    put_words(text, packet->payload, words, PF_COUNT(words));
}

static unsigned vector_bits(const struct pf_aux_packet *packet)
{
    return 32u << (packet->payload >> 4 & 7);
}

static void put_sve_other(struct pf_text *text, const struct pf_aux_packet *packet)
{
    static const struct word words[] = {{0x02, 0x02, "FP"}, {0x04, 0x04, "PRED"}};
    pf_put_format(text, " EVLEN %u", vector_bits(packet));
    put_words(text, packet->payload, words, PF_COUNT(words));
}

/* Bits 6 to 4 and bit 2 are the logarithm of the size of a tile. */
static void put_sme_other(struct pf_text *text, const struct pf_aux_packet *packet)
{
    static const struct word words[] = {{0x02, 0x02, "FP"}};
    pf_put_format(text, " ETS %u", 128u << ((packet->payload >> 3 & 0xe) | (packet->payload >> 2 & 1)));
    put_words(text, packet->payload, words, PF_COUNT(words));
}

/* Registers of vectors have their size, accesses of memory in one step their order; others are one class. */
static void put_access(struct pf_text *text, const struct pf_aux_packet *packet)
{
    static const struct word words[] = {{0xfe, 0x00, "GP-REG"},    {0xfe, 0x04, "SIMD-FP"}, {0xfe, 0x10, "UNSPEC-REG"},
                                        {0xfe, 0x14, "MTE-TAG"},   {0xfe, 0x20, "MEMCPY"},  {0xff, 0x25, "MEMSET"},
                                        {0xfe, 0x30, "NV-SYSREG"}, {0xfe, 0x40, "GCS"},     {0xfe, 0x44, "GCS COMM"},
                                        {0xe6, 0x06, "AT"},        {0xea, 0x0a, "EXCL"},    {0xf2, 0x12, "AR"}};
    static const struct word vector_words[] = {{0x04, 0x04, "PRED"}, {0x80, 0x80, "SG"}};
    put_words(text, packet->payload, words, PF_COUNT(words));
    if ((packet->payload & 0x0a) == 0x08) {
        pf_put_format(text, " SVE-SME-REG EVLEN %u", vector_bits(packet));
        put_words(text, packet->payload, vector_words, PF_COUNT(vector_words));
    }
}

static void put_branch(struct pf_text *text, const struct pf_aux_packet *packet)
{
    static const struct word words[] = {{0x01, 0x01, "COND"},  {0x02, 0x02, "IND"},    {0x04, 0x04, "GCS"},
                                        {0x18, 0x08, "CR-BL"}, {0x18, 0x10, "CR-RET"}, {0x18, 0x18, "CR-NON-BL-RET"}};
    put_words(text, packet->payload, words, PF_COUNT(words));
}

static const struct pf_aux_kind kinds[PF_SPE_KINDS] = {
    [PF_SPE_BAD] = {"Bad packet!", NULL, 0},
    [PF_SPE_PAD] = {"PAD", NULL, 0},
    [PF_SPE_END] = {"END", NULL, PF_AUX_RECORD | PF_AUX_ENTRY_AFTER},
    [PF_SPE_TIMESTAMP] = {"TS", put_number, PF_AUX_RECORD | PF_AUX_ENTRY_AFTER | PF_AUX_TIME},
    [PF_SPE_PC] = {"PC", put_code_address, 0},
    [PF_SPE_TARGET] = {"TGT", put_code_address, 0},
    [PF_SPE_VIRTUAL] = {"VA", put_hex, 0},
    [PF_SPE_PHYSICAL] = {"PA", put_physical, 0},
    [PF_SPE_PREVIOUS_TARGET] = {"PBT", put_code_address, 0},
    [PF_SPE_ADDRESS] = {"ADDR", put_address, 0},
    [PF_SPE_LATENCY] = {"LAT", put_latency, 0},
    [PF_SPE_CONTEXT] = {"CONTEXT", put_context, 0},
    [PF_SPE_EVENTS] = {"EV", put_events, 0},
    [PF_SPE_DATA_SOURCE] = {"DATA-SOURCE", put_number, 0},
    [PF_SPE_OTHER] = {"OTHER", put_other, 0},
    [PF_SPE_SVE_OTHER] = {"SVE-OTHER", put_sve_other, 0},
    [PF_SPE_SME_OTHER] = {"SME-OTHER", put_sme_other, 0},
    [PF_SPE_LOAD] = {"LD", put_access, 0},
    [PF_SPE_STORE] = {"ST", put_access, 0},
    [PF_SPE_BRANCH] = {"B", put_branch, 0},
    [PF_SPE_OPERATION] = {"OP-TYPE", put_address, 0},
};

const struct pf_aux_format pf_aux_arm_spe = {
    .type = PERFILE_AUXTRACE_ARM_SPE,
    .heading = "ARM SPE",
    .kinds = kinds,
    .kind_count = PF_SPE_KINDS,
    .max_bytes = 16, /* of padding */
    .converts = true,
    .record_bytes = 64, /* what records are padded to, usually */
    .read = read_packet,
};
