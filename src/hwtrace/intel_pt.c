/* SPDX-License-Identifier: MIT */
/*
 * Packets of Intel PT: Intel's Software Developer's Manual, volume 3, "Intel Processor Trace", packet definitions. Most
 * packets are named by their first byte, those that begin with 0x02 by the second one; two tables have a row for each.
 */
#include "hwtrace/intel_pt.h"

#include <perfile/records.h>

#include <inttypes.h>

struct state {
    unsigned block_bytes; /* of the values in the block that BBP began: 4 or 8; 0 outside of blocks */
};

/* Packets within which a block of BIP packets goes on. */
static bool keeps_block(unsigned kind)
{
    static const bool keeps[PF_PT_KINDS] = {
        [PF_PT_PAD] = true, [PF_PT_FUP] = true, [PF_PT_TSC] = true,    [PF_PT_TMA] = true,  [PF_PT_CBR] = true,
        [PF_PT_MTC] = true, [PF_PT_CYC] = true, [PF_PT_EXSTOP] = true, [PF_PT_PWRE] = true, [PF_PT_PWRX] = true,
        [PF_PT_BBP] = true, [PF_PT_BIP] = true, [PF_PT_MNT] = true,    [PF_PT_BAD] = true};
    return keeps[kind];
}

/* ---- packets that begin with 0x02 -------------------------------------------------------------------------------- */

static void read_long_tnt(struct pf_aux_packet *packet)
{
    packet->detail = packet->payload ? 63 - (unsigned)__builtin_clzll(packet->payload) : 0;
    if (packet->detail == 0)
        packet->kind = PF_PT_BAD; /* no result is below the bit that ends them */
}

static void read_tma(struct pf_aux_packet *packet)
{
    enum { FAST_BITS = 9 };
    packet->detail = (unsigned)(packet->payload >> 24) & ((1 << FAST_BITS) - 1);
    packet->payload &= 0xffff;
}

static void read_psb(struct pf_aux_packet *packet)
{
    for (size_t i = 0; i < packet->bytes; i++)
        if (packet->data[i] != (i % 2 ? 0x82 : 0x02))
            packet->kind = PF_PT_BAD;
}

static void read_mnt(struct pf_aux_packet *packet)
{
    if (packet->data[2] != 0x88)
        packet->kind = PF_PT_BAD;
}

/* Bit 7 of the second byte: an address follows. */
static void read_ip_bit(struct pf_aux_packet *packet)
{
    packet->detail = packet->data[1] >> 7;
}

static void read_block(struct pf_aux_packet *packet)
{
    packet->detail = packet->data[2] & 0x80 ? 4 : 8;
    packet->payload &= 0x1f;
}

static void read_event_data(struct pf_aux_packet *packet)
{
    packet->detail = packet->data[2] & 0x3f;
}

struct row {
    uint8_t mask, value; /* of the byte that names the packet */
    uint8_t kind;
    uint8_t bytes;                              /* of the packet */
    uint8_t payload_at;                         /* where its payload begins, which goes on to its end; 0: it has none */
    void (*read)(struct pf_aux_packet *packet); /* may be NULL */
};

static const struct row extended[] = {
    {0xff, 0xa3, PF_PT_TNT, 8, 2, read_long_tnt},
    {0xff, 0x43, PF_PT_PIP, 8, 2, NULL},
    {0xff, 0x03, PF_PT_CBR, 4, 2, NULL},
    {0xff, 0x83, PF_PT_TRACESTOP, 2, 0, NULL},
    {0xff, 0xf3, PF_PT_OVF, 2, 0, NULL},
    {0xff, 0x23, PF_PT_PSBEND, 2, 0, NULL},
    {0xff, 0x82, PF_PT_PSB, 16, 0, read_psb},
    {0xff, 0x73, PF_PT_TMA, 7, 2, read_tma},
    {0xff, 0xc8, PF_PT_VMCS, 7, 2, NULL},
    {0xff, 0xc3, PF_PT_MNT, 11, 3, read_mnt},
    {0x7f, 0x12, PF_PT_PTWRITE, 6, 2, read_ip_bit},
    {0x7f, 0x32, PF_PT_PTWRITE, 10, 2, read_ip_bit},
    {0x7f, 0x62, PF_PT_EXSTOP, 2, 0, read_ip_bit},
    {0xff, 0xc2, PF_PT_MWAIT, 10, 2, NULL},
    {0xff, 0x22, PF_PT_PWRE, 4, 2, NULL},
    {0xff, 0xa2, PF_PT_PWRX, 7, 2, NULL},
    {0xff, 0x63, PF_PT_BBP, 3, 2, read_block},
    {0x7f, 0x33, PF_PT_BEP, 2, 0, read_ip_bit},
    {0xff, 0x13, PF_PT_CFE, 4, 2, NULL},
    {0xff, 0x53, PF_PT_EVD, 11, 3, read_event_data},
};

/* ---- packets that are named by their first byte ------------------------------------------------------------------ */

/* The top three bits of the first byte say how many bytes of the address follow. */
static void read_address(struct pf_aux_packet *packet)
{
    static const uint8_t address_bytes[] = {0, 2, 4, 6, 6, 0, 8, 0};
    packet->detail = packet->data[0] >> 5;
    const size_t bytes = address_bytes[packet->detail];
    if ((bytes == 0 && packet->detail) || packet->bytes < 1 + bytes) {
        packet->kind = PF_PT_BAD;
        return;
    }
    packet->payload = pf_aux_number(packet->data + 1, bytes);
    packet->bytes = 1 + bytes;
}

/* Execution mode: bits 0 and 1 are CS.L and CS.D, which are not both set. */
static void read_mode(struct pf_aux_packet *packet)
{
    const unsigned type = packet->data[1] >> 5;
    packet->kind = type == 0 ? PF_PT_MODE_EXEC : type == 1 ? PF_PT_MODE_TSX : PF_PT_BAD;
    packet->payload = packet->data[1] & 0x1f;
    if ((packet->payload & 3) == 3)
        packet->kind = PF_PT_BAD;
}

/* Which triggers fired; if bit 6 says so, how many instructions after the last address. */
static void read_trigger(struct pf_aux_packet *packet)
{
    enum { HAS_COUNT = 0x40, BYTES = 3, COUNT_BYTES = 2 };
    const bool has_count = packet->bytes > 1 && packet->data[1] & HAS_COUNT;
    const size_t bytes = BYTES + (has_count ? COUNT_BYTES : 0);
    if (packet->bytes < bytes) {
        packet->kind = PF_PT_BAD;
        return;
    }
    packet->bytes = bytes;
    packet->payload = packet->data[2];
    read_ip_bit(packet);
}

static const struct row simple[] = {
    {0x1f, 0x0d, PF_PT_TIP, 0, 0, read_address},
    {0x1f, 0x11, PF_PT_TIP_PGE, 0, 0, read_address},
    {0x1f, 0x01, PF_PT_TIP_PGD, 0, 0, read_address},
    {0x1f, 0x1d, PF_PT_FUP, 0, 0, read_address},
    {0xff, 0x99, PF_PT_MODE_EXEC, 2, 0, read_mode},
    {0xff, 0x19, PF_PT_TSC, 8, 1, NULL},
    {0xff, 0x59, PF_PT_MTC, 2, 1, NULL},
    {0xff, 0xd9, PF_PT_TRIG, 0, 0, read_trigger},
};

/* Reads by the row of the byte at `at`; without such a row, or when bytes are missing, the packet is a bad one. */
static void read_row(struct pf_aux_packet *packet, const struct row *rows, size_t count, size_t at)
{
    const struct row *row = rows;
    while (row < rows + count && (packet->data[at] & row->mask) != row->value)
        row++;
    if (row == rows + count || packet->bytes < row->bytes)
        return;
    packet->kind = row->kind;
    if (row->bytes)
        packet->bytes = row->bytes;
    if (row->payload_at)
        packet->payload = pf_aux_number(packet->data + row->payload_at, (size_t)row->bytes - row->payload_at);
    if (row->read)
        row->read(packet);
}

/* Five bits in the first byte, whose bit 2 says that more follow; then seven bits a byte, with bit 0 for more. */
static void read_cycles(struct pf_aux_packet *packet)
{
    enum { MAX_BYTES = 10 };
    packet->payload = packet->data[0] >> 3;
    bool more = packet->data[0] & 4;
    size_t bytes = 1;
    for (unsigned shift = 5; more && bytes < packet->bytes && bytes < MAX_BYTES; shift += 7, bytes++) {
        if (shift < 64)
            packet->payload |= (uint64_t)(packet->data[bytes] >> 1) << shift;
        more = packet->data[bytes] & 1;
    }
    packet->kind = more ? PF_PT_BAD : PF_PT_CYC;
    packet->bytes = bytes;
}

static void read_short_tnt(struct pf_aux_packet *packet)
{
    packet->kind = PF_PT_TNT;
    packet->bytes = 1;
    packet->detail = 30 - (unsigned)__builtin_clz(packet->data[0]); /* the results are below the highest bit set, */
    packet->payload = packet->data[0] >> 1;                         /* and above bit 0 */
}

static void read_block_item(struct pf_aux_packet *packet, unsigned value_bytes)
{
    if (packet->bytes < 1 + value_bytes)
        return;
    packet->kind = PF_PT_BIP;
    packet->bytes = 1 + value_bytes;
    packet->detail = packet->data[0] >> 3;
    packet->payload = pf_aux_number(packet->data + 1, value_bytes);
}

/* Zeros after a packet belong to it up to eight bytes: that is how perf prints them. */
static void add_padding(struct pf_aux_packet *packet, size_t bytes)
{
    enum { PADDED_BYTES = 8 };
    while (packet->bytes < PADDED_BYTES && packet->bytes < bytes && packet->data[packet->bytes] == 0)
        packet->bytes++;
}

static void read_packet(const struct pf_aux_machine *machine, void *state, struct pf_aux_packet *packet)
{
    struct state *s = state;
    const uint8_t first = packet->data[0];
    const size_t bytes = packet->bytes;
    (void)machine;
    packet->kind = PF_PT_BAD;
    if (first == 0) {
        packet->kind = PF_PT_PAD;
        packet->bytes = 1;
    } else if ((first & 7) == 4 && s->block_bytes) {
        read_block_item(packet, s->block_bytes);
    } else if ((first & 3) == 3) {
        read_cycles(packet);
    } else if (first == 2) {
        if (bytes > 1)
            read_row(packet, extended, PF_COUNT(extended), 1);
    } else if (first & 1) {
        read_row(packet, simple, PF_COUNT(simple), 0);
    } else {
        read_short_tnt(packet);
    }
    if (packet->kind == PF_PT_BAD)
        packet->bytes = 1;
    else
        add_padding(packet, bytes);
    if (packet->kind == PF_PT_BBP)
        s->block_bytes = packet->detail;
    else if (!keeps_block(packet->kind))
        s->block_bytes = 0;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static void put_tnt(struct pf_text *text, const struct pf_aux_packet *packet)
{
    pf_put_char(text, ' ');
    for (unsigned i = packet->detail; i-- > 0;)
        pf_put_char(text, packet->payload >> i & 1 ? 'T' : 'N');
    pf_put_format(text, " (%u)", packet->detail);
}

static void put_address(struct pf_text *text, const struct pf_aux_packet *packet)
{
    if (packet->detail == 0)
        pf_put_string(text, " no ip");
    else
        pf_put_format(text, " 0x%" PRIx64, packet->payload);
}

static void put_payload(struct pf_text *text, const struct pf_aux_packet *packet)
{
    pf_put_format(text, " 0x%" PRIx64, packet->payload);
}

static void put_pip(struct pf_text *text, const struct pf_aux_packet *packet)
{
    pf_put_format(text, " 0x%" PRIx64 " (NR=%u)", packet->payload >> 1, (unsigned)packet->payload & 1);
}

static void put_tma(struct pf_text *text, const struct pf_aux_packet *packet)
{
    pf_put_format(text, " CTC 0x%" PRIx64 " FC 0x%x", packet->payload, packet->detail);
}

static void put_exec(struct pf_text *text, const struct pf_aux_packet *packet)
{
    static const char *const widths[] = {"16", "64", "32", ""};
    pf_put_format(text, " IF:%u %s", (unsigned)packet->payload >> 2 & 1, widths[packet->payload & 3]);
}

static void put_tsx(struct pf_text *text, const struct pf_aux_packet *packet)
{
    pf_put_format(text, " TXAbort:%u InTX:%u", (unsigned)packet->payload >> 1 & 1, (unsigned)packet->payload & 1);
}

static void put_ptwrite(struct pf_text *text, const struct pf_aux_packet *packet)
{
    pf_put_format(text, " 0x%" PRIx64 " IP:%u", packet->payload, packet->detail);
}

static void put_ip_bit(struct pf_text *text, const struct pf_aux_packet *packet)
{
    pf_put_format(text, " IP:%u", packet->detail);
}

static void put_mwait(struct pf_text *text, const struct pf_aux_packet *packet)
{
    pf_put_format(text, " 0x%" PRIx64 " Hints 0x%x Extensions 0x%x", packet->payload, (unsigned)packet->payload & 0xff,
                  (unsigned)(packet->payload >> 32) & 3);
}

static unsigned nibble(const struct pf_aux_packet *packet, unsigned shift)
{
    return (unsigned)(packet->payload >> shift) & 0xf;
}

static void put_pwre(struct pf_text *text, const struct pf_aux_packet *packet)
{
    pf_put_format(text, " 0x%" PRIx64 " HW:%u CState:%u Sub-CState:%u", packet->payload, nibble(packet, 7) & 1,
                  nibble(packet, 12), nibble(packet, 8));
}

static void put_pwrx(struct pf_text *text, const struct pf_aux_packet *packet)
{
    pf_put_format(text, " 0x%" PRIx64 " Last CState:%u Deepest CState:%u Wake Reason 0x%x", packet->payload,
                  nibble(packet, 4), nibble(packet, 0), nibble(packet, 8));
}

static void put_bbp(struct pf_text *text, const struct pf_aux_packet *packet)
{
    pf_put_format(text, " SZ %u-byte Type 0x%" PRIx64, packet->detail, packet->payload);
}

static void put_bip(struct pf_text *text, const struct pf_aux_packet *packet)
{
    pf_put_format(text, " ID 0x%02x Value 0x%" PRIx64, packet->detail, packet->payload);
}

static void put_cfe(struct pf_text *text, const struct pf_aux_packet *packet)
{
    pf_put_format(text, " IP:%u Type 0x%02x Vector 0x%02x", packet->data[2] >> 7, packet->data[2] & 0x1f,
                  packet->data[3]);
}

static void put_evd(struct pf_text *text, const struct pf_aux_packet *packet)
{
    pf_put_format(text, " Type 0x%02x Payload 0x%" PRIx64, packet->detail, packet->payload);
}

/* Bit 5: more triggers fired than are named. The packet may have zeros after it, so its length says nothing. */
static void put_trigger(struct pf_text *text, const struct pf_aux_packet *packet)
{
    const uint8_t *data = packet->data;
    pf_put_format(text, " 0x%02x IP:%u Mult:%u", data[2], packet->detail, data[1] >> 5 & 1);
    if (data[1] & 0x40)
        pf_put_format(text, " ICNT %u", (unsigned)pf_aux_number(data + 3, 2));
}

static const struct pf_aux_kind kinds[PF_PT_KINDS] = {
    [PF_PT_BAD] = {"Bad packet!", NULL, 0},
    [PF_PT_PAD] = {"PAD", NULL, 0},
    [PF_PT_TNT] = {"TNT", put_tnt, 0},
    [PF_PT_TIP] = {"TIP", put_address, 0},
    [PF_PT_TIP_PGE] = {"TIP.PGE", put_address, 0},
    [PF_PT_TIP_PGD] = {"TIP.PGD", put_address, 0},
    [PF_PT_FUP] = {"FUP", put_address, 0},
    [PF_PT_PSB] = {"PSB", NULL, PF_AUX_SYNC},
    [PF_PT_PSBEND] = {"PSBEND", NULL, 0},
    [PF_PT_OVF] = {"OVF", NULL, PF_AUX_OVERFLOW},
    [PF_PT_TRACESTOP] = {"TraceSTOP", NULL, 0},
    [PF_PT_TSC] = {"TSC", put_payload, PF_AUX_TIME_56},
    [PF_PT_TMA] = {"TMA", put_tma, 0},
    [PF_PT_MTC] = {"MTC", put_payload, 0},
    [PF_PT_CYC] = {"CYC", put_payload, 0},
    [PF_PT_CBR] = {"CBR", put_payload, 0},
    [PF_PT_PIP] = {"PIP", put_pip, 0},
    [PF_PT_VMCS] = {"VMCS", put_payload, 0},
    [PF_PT_MNT] = {"MNT", put_payload, 0},
    [PF_PT_MODE_EXEC] = {"MODE.Exec", put_exec, 0},
    [PF_PT_MODE_TSX] = {"MODE.TSX", put_tsx, 0},
    [PF_PT_PTWRITE] = {"PTWRITE", put_ptwrite, 0},
    [PF_PT_EXSTOP] = {"EXSTOP", put_ip_bit, 0},
    [PF_PT_MWAIT] = {"MWAIT", put_mwait, 0},
    [PF_PT_PWRE] = {"PWRE", put_pwre, 0},
    [PF_PT_PWRX] = {"PWRX", put_pwrx, 0},
    [PF_PT_BBP] = {"BBP", put_bbp, 0},
    [PF_PT_BIP] = {"BIP", put_bip, 0},
    [PF_PT_BEP] = {"BEP", put_ip_bit, 0},
    [PF_PT_CFE] = {"CFE", put_cfe, 0},
    [PF_PT_EVD] = {"EVD", put_evd, 0},
    [PF_PT_TRIG] = {"TRIG", put_trigger, 0},
};

static const uint8_t psb[] = {0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
                              0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82};

const struct pf_aux_format pf_aux_intel_pt = {
    .type = PERFILE_AUXTRACE_INTEL_PT,
    .heading = "Intel Processor Trace",
    .kinds = kinds,
    .kind_count = PF_PT_KINDS,
    .state_bytes = sizeof(struct state),
    .max_bytes = sizeof(psb),
    .converts = true,
    .clock_at = 1,
    .snapshot_at = 8,
    .sync = psb,
    .sync_bytes = sizeof(psb),
    .read = read_packet,
};
