/* SPDX-License-Identifier: MIT */
/* Prints packets of Arm SPE. */
#include "hwtrace/arm_spe.h"

#include <perfile/records.h>

#include <inttypes.h>

static void read_packet(const struct pf_aux_machine *machine, void *state, struct pf_aux_packet *packet)
{
    pf_spe_read(machine, state, packet);
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
