/* SPDX-License-Identifier: MIT */
/*
 * x86 instructions, from the opcode maps of the processor manuals (Intel SDM volume 2, appendix A; AMD APM
 * volume 3, appendix A): one letter an opcode says what follows it.
 */
#include "base/x86.h"

#include <stddef.h>
#include <string.h>

/*
 * .  nothing               M  ModRM                 X  no instruction
 * B  1 byte                b  ModRM and 1 byte      P  a prefix
 * W  2 bytes               T  another map
 * Z  2 or 4 bytes          z  ModRM and 2 or 4 bytes
 * V  2, 4 or 8 bytes       J  a displacement of 2 or 4 bytes, in 64-bit code always 4
 * A  an address            F  2 or 4 bytes and a segment
 * E  3 bytes               f, g  ModRM, and as b or z when its middle field is 0 or 1
 */
static const char one_byte[] = "MMMMBZ..MMMMBZ.T"
                               "MMMMBZ..MMMMBZ.."
                               "MMMMBZP.MMMMBZP."
                               "MMMMBZP.MMMMBZP."
                               "................"
                               "................"
                               "..MMPPPPZzBb...."
                               "BBBBBBBBBBBBBBBB"
                               "bzbbMMMMMMMMMMMM"
                               "..........F....."
                               "AAAA....BZ......"
                               "BBBBBBBBVVVVVVVV"
                               "bbW.MMbzE.W..B.."
                               "MMMMBB..MMMMMMMM"
                               "BBBBBBBBJJFB...."
                               "P.PP..fg......MM";
/* after 0f */
static const char two_bytes[] = "MMMMX.....X.XM.b"
                                "MMMMMMMMMMMMMMMM"
                                "MMMMMXMXMMMMMMMM"
                                "......X.TXTXXXXX"
                                "MMMMMMMMMMMMMMMM"
                                "MMMMMMMMMMMMMMMM"
                                "MMMMMMMMMMMMMMMM"
                                "bbbbMMM.MMMMMMMM"
                                "JJJJJJJJJJJJJJJJ"
                                "MMMMMMMMMMMMMMMM"
                                "...MbMMM...MbMMM"
                                "MMMMMMMMMMbMMMMM"
                                "MMbMbbbM........"
                                "MMMMMMMMMMMMMMMM"
                                "MMMMMMMMMMMMMMMM"
                                "MMMMMMMMMMMMMMMM";
/* Of the first map, and only of 32-bit code: in 64-bit code the processor does not look further. */
static const uint8_t only_32[] = {0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, 0x27, 0x2f, 0x37,
                                  0x3f, 0x60, 0x61, 0x82, 0x9a, 0xce, 0xd4, 0xd5, 0xd6, 0xea};

enum { X86_BYTES_MAX = 15 };

enum map { MAP_ONE, MAP_0F, MAP_0F38, MAP_0F3A, MAP_XOP8 = 8, MAP_XOP9, MAP_XOPA };

/* A cursor that remembers when it ran over the end. */
struct decoder {
    const uint8_t *code;
    unsigned capacity;
    unsigned at;
    bool is_64;
    bool short_operand; /* prefix 66 */
    bool other_address; /* prefix 67 */
    bool wide;          /* REX.W */
    bool is_vector;     /* after VEX, EVEX or XOP: all opcodes but one have a ModRM */
    bool ends_here;     /* nothing follows the opcode, whatever the map says */
    bool repeats;       /* prefix f3, */
    bool repeats_not;   /* and f2 */
    bool is_apx;        /* after the prefix REX2 */
    bool bad;
    int map;
    uint8_t opcode;
    uint8_t modrm;
    uint8_t modrm_at; /* 0 in instructions without one */
    uint8_t rex;
};

static uint8_t peek(const struct decoder *d, unsigned ahead)
{
    return d->at + ahead < d->capacity ? d->code[d->at + ahead] : 0;
}

static uint8_t take(struct decoder *d)
{
    d->bad |= d->at >= d->capacity;
    return d->bad ? 0 : d->code[d->at++];
}

static void skip(struct decoder *d, unsigned bytes)
{
    d->bad |= d->capacity - d->at < bytes;
    d->at += d->bad ? 0 : bytes;
}

/* It has the bits of REX, and says whether the opcode is one of those after 0f, which is left out then. */
static void take_rex2(struct decoder *d)
{
    enum { WIDE = 0x08, AFTER_0F = 0x80 };
    skip(d, 1);
    const uint8_t bits = take(d);
    d->is_apx = true;
    d->wide = bits & WIDE;
    d->map = bits & AFTER_0F ? MAP_0F : MAP_ONE;
}

static void take_prefixes(struct decoder *d)
{
    while (!d->bad && d->at < d->capacity && one_byte[peek(d, 0)] == 'P') {
        const uint8_t prefix = take(d);
        d->short_operand |= prefix == 0x66;
        d->other_address |= prefix == 0x67;
        d->repeats |= prefix == 0xf3;
        d->repeats_not |= prefix == 0xf2;
    }
    if (d->is_64 && (peek(d, 0) & 0xf0) == 0x40)
        d->rex = take(d);
    else if (d->is_64 && peek(d, 0) == 0xd5)
        take_rex2(d);
    d->wide |= d->rex & 8;
}

/* VEX, EVEX and XOP begin like instructions of 32-bit code whose ModRM would have to name memory. */
static bool begins_vector(const struct decoder *d, uint8_t opcode)
{
    const uint8_t next = peek(d, 0);
    if (opcode == 0x8f)
        return (next & 0x1f) >= MAP_XOP8;
    return (opcode == 0xc4 || opcode == 0xc5 || opcode == 0x62) && (d->is_64 || next >= 0xc0);
}

static void take_vector_prefix(struct decoder *d, uint8_t first)
{
    const uint8_t second = take(d);
    d->is_vector = true;
    d->map = first == 0xc5 ? MAP_0F : first == 0x62 ? second & 7 : second & 0x1f;
    skip(d, first == 0xc5 ? 0 : first == 0x62 ? 2 : 1);
    d->opcode = take(d);
}

static void take_opcode(struct decoder *d)
{
    d->opcode = take(d);
    if (d->is_apx)
        return;
    if (begins_vector(d, d->opcode)) {
        take_vector_prefix(d, d->opcode);
        return;
    }
    if (d->opcode != 0x0f) {
        d->ends_here = d->is_64 && memchr(only_32, d->opcode, sizeof(only_32));
        return;
    }
    d->map = MAP_0F;
    d->opcode = take(d);
    if (d->opcode != 0x38 && d->opcode != 0x3a)
        return;
    d->map = d->opcode == 0x38 ? MAP_0F38 : MAP_0F3A;
    d->opcode = take(d);
}

/* The letter of the opcode. */
static char what_follows(const struct decoder *d)
{
    switch (d->map) {
    case MAP_ONE:
        return d->ends_here ? '.' : one_byte[d->opcode];
    case MAP_0F:
        if (!d->is_vector)
            return two_bytes[d->opcode];
        return d->opcode == 0x77 ? '.' : two_bytes[d->opcode] == 'b' ? 'b' : 'M';
    case MAP_0F3A:
    case MAP_XOP8:
        return 'b';
    case 4: /* EVEX: instructions of the first map */
        return strchr("bzfg", one_byte[d->opcode]) ? one_byte[d->opcode] : 'M';
    case MAP_XOPA:
        return 'I';
    default:
        return 'M';
    }
}

static void take_modrm(struct decoder *d)
{
    d->modrm_at = (uint8_t)d->at;
    d->modrm = take(d);
    const unsigned mod = d->modrm >> 6, rm = d->modrm & 7;
    const bool moves_control = d->map == MAP_0F && !d->is_vector && d->opcode >= 0x20 && d->opcode <= 0x23;
    if (mod == 3 || moves_control)
        return;
    if (d->other_address && !d->is_64) {
        skip(d, mod == 1 ? 1 : mod == 2 || rm == 6 ? 2 : 0);
        return;
    }
    const unsigned base = rm == 4 ? take(d) & 7 : rm;
    skip(d, mod == 1 ? 1 : mod == 2 || base == 5 ? 4 : 0);
}

static void take_rest(struct decoder *d, char letter)
{
    const unsigned half = d->short_operand && !d->wide ? 2 : 4;
    if (strchr("MbzfgI", letter))
        take_modrm(d);
    if ((letter == 'f' || letter == 'g') && !(d->modrm & 0x30))
        letter = letter == 'f' ? 'b' : 'z';
    const struct {
        char letter;
        unsigned bytes;
    } sizes[] = {
        {'B', 1},
        {'b', 1},
        {'W', 2},
        {'E', 3},
        {'I', 4},
        {'Z', half},
        {'z', half},
        {'F', half + 2},
        {'V', d->wide ? 8 : half},
        {'J', d->is_64 ? 4 : half},
        {'A', d->is_64           ? d->other_address ? 4 : 8
              : d->other_address ? 2
                                 : 4},
    };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        if (sizes[i].letter == letter)
            skip(d, sizes[i].bytes);
    d->bad |= letter == 'X';
}

/* Opcodes that go elsewhere, of the first map and of the one after 0f. */
struct leap {
    uint8_t first, last;
    uint8_t flow;
};

static const struct leap one_byte_leaps[] = {
    {0x70, 0x7f, PF_X86_CONDITIONAL}, {0x9a, 0x9a, PF_X86_FAR_CALL},  {0xc2, 0xc3, PF_X86_RETURN},
    {0xca, 0xcb, PF_X86_FAR_RETURN},  {0xcc, 0xce, PF_X86_INTERRUPT}, {0xcf, 0xcf, PF_X86_INTERRUPT_RETURN},
    {0xe0, 0xe3, PF_X86_CONDITIONAL}, {0xe8, 0xe8, PF_X86_CALL},      {0xe9, 0xe9, PF_X86_JUMP},
    {0xea, 0xea, PF_X86_FAR_JUMP},    {0xeb, 0xeb, PF_X86_JUMP},
};
static const struct leap two_byte_leaps[] = {
    {0x05, 0x05, PF_X86_SYSTEM_CALL},   {0x07, 0x07, PF_X86_SYSTEM_RETURN}, {0x34, 0x34, PF_X86_SYSTEM_CALL},
    {0x35, 0x35, PF_X86_SYSTEM_RETURN}, {0x80, 0x8f, PF_X86_CONDITIONAL},
};

static enum pf_x86_flow find_leap(const struct leap *leaps, size_t count, uint8_t opcode)
{
    for (size_t i = 0; i < count; i++)
        if (opcode >= leaps[i].first && opcode <= leaps[i].last)
            return leaps[i].flow;
    return PF_X86_ON;
}

/* Of ff, the middle field of whose ModRM says what it does. */
static enum pf_x86_flow flow_of_group(uint8_t modrm)
{
    static const uint8_t flows[8] = {
        [2] = PF_X86_CALL_INDIRECT, [3] = PF_X86_FAR_CALL, [4] = PF_X86_JUMP_INDIRECT, [5] = PF_X86_FAR_JUMP};
    return flows[modrm >> 3 & 7];
}

/*
 * 0f 01 c2 and c3 enter a virtual machine, ca with prefix f2 or f3 returns from events (ERETS, ERETU), and ec with f3
 * from those of user interrupts (UIRET); 0f ae /4 with prefix f3 and without 66 is a PTWRITE.
 */
static enum pf_x86_flow flow_of_0f(const struct decoder *d)
{
    enum { VMLAUNCH = 0xc2, VMRESUME = 0xc3, ERET = 0xca, UIRET = 0xec };
    if (d->opcode == 0x01 &&
        ((d->modrm == ERET && (d->repeats || d->repeats_not)) || (d->modrm == UIRET && d->repeats)))
        return PF_X86_INTERRUPT_RETURN;
    if (d->opcode == 0x01 && (d->modrm == VMLAUNCH || d->modrm == VMRESUME))
        return PF_X86_VM_ENTRY;
    if (d->opcode == 0xae && d->repeats && (d->modrm >> 3 & 7) == 4)
        return PF_X86_PTWRITE;
    return find_leap(two_byte_leaps, sizeof(two_byte_leaps) / sizeof(two_byte_leaps[0]), d->opcode);
}

static enum pf_x86_flow flow_of(const struct decoder *d)
{
    enum { JMPABS = 0xa1 };
    if (d->is_vector || d->ends_here)
        return PF_X86_ON;
    if (d->is_apx && d->map == MAP_ONE && d->opcode == JMPABS)
        return d->wide ? PF_X86_ON : PF_X86_JUMP_INDIRECT; /* its target is in the trace as those of indirect ones */
    if (d->map == MAP_ONE && d->opcode == 0xff)
        return flow_of_group(d->modrm);
    if (d->map == MAP_ONE)
        return find_leap(one_byte_leaps, sizeof(one_byte_leaps) / sizeof(one_byte_leaps[0]), d->opcode);
    return d->map == MAP_0F ? flow_of_0f(d) : PF_X86_ON;
}

/* The displacement of a direct branch is its last bytes. */
static int64_t displacement_of(const struct decoder *d, enum pf_x86_flow flow, char letter)
{
    const unsigned bytes = letter == 'B' ? 1 : !d->is_64 && d->short_operand && !d->wide ? 2 : 4;
    int32_t displacement = 0;
    if (flow != PF_X86_CALL && flow != PF_X86_JUMP && flow != PF_X86_CONDITIONAL)
        return 0;
    for (unsigned i = bytes; i > 0; i--)
        displacement = (int32_t)((uint32_t)displacement << 8 | d->code[d->at - bytes + i - 1]);
    return bytes == 1 ? (int8_t)displacement : bytes == 2 ? (int16_t)displacement : displacement;
}

bool pf_x86_decode(bool is_64, const uint8_t *code, size_t bytes, struct pf_x86_insn *insn)
{
    struct decoder d = {
        .code = code, .capacity = bytes < X86_BYTES_MAX ? (unsigned)bytes : X86_BYTES_MAX, .is_64 = is_64};
    take_prefixes(&d);
    take_opcode(&d);
    const char letter = what_follows(&d);
    take_rest(&d, letter);
    *insn = (struct pf_x86_insn){0};
    if (d.bad)
        return false;
    insn->bytes = d.at;
    insn->flow = flow_of(&d);
    insn->displacement = displacement_of(&d, insn->flow, letter);
    insn->is_plain = d.map == MAP_ONE && !d.is_vector && !d.is_apx;
    insn->opcode = d.opcode;
    insn->rex = d.rex;
    insn->modrm = d.modrm_at;
    return true;
}
