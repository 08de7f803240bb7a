/* SPDX-License-Identifier: MIT */
/*
 * Headers of PCIe packets as HiSilicon's tracer writes them: Documentation/trace/hisi-ptt.rst of Linux. A trace
 * consists of words of 32 bits, of which each is a packet here: four to a header, or eight when bits 31 to 11 of the
 * first word are all set. That does not change within a trace: where it seems to, from four to eight, the words before
 * are damaged.
 */
#include "hwtrace/packets.h"

#include <perfile/records.h>

#include <inttypes.h>

enum { HIDDEN = PF_AUX_PAD + 1, SUMMARY, HEADER, PREFIX, TIME, KINDS, WORD_BYTES = 4 };

struct state {
    unsigned words; /* of the header: 4 or 8 */
    unsigned at;    /* the word of the header that comes next */
};

static const unsigned char kinds_of_4[] = {SUMMARY, HEADER, HEADER, HEADER};
static const unsigned char kinds_of_8[] = {HIDDEN, PREFIX, HEADER, HEADER, HEADER, HEADER, HIDDEN, TIME};

static void read_word(const struct pf_aux_machine *machine, void *state, struct pf_aux_packet *packet)
{
    struct state *s = state;
    (void)machine;
    if (packet->bytes < WORD_BYTES)
        return;
    packet->bytes = WORD_BYTES;
    packet->payload = pf_load32(packet->data, PF_AUX_LITTLE);
    if (!s->at && s->words != PF_COUNT(kinds_of_8))
        s->words = packet->payload >> 11 == 0x1fffff ? PF_COUNT(kinds_of_8) : PF_COUNT(kinds_of_4);
    packet->kind = s->words == PF_COUNT(kinds_of_8) ? kinds_of_8[s->at] : kinds_of_4[s->at];
    packet->detail = s->words == PF_COUNT(kinds_of_8) ? s->at - 2 : s->at;
    s->at = (s->at + 1) % s->words;
}

static void put_summary(struct pf_text *text, const struct pf_aux_packet *packet)
{
    const unsigned word = (unsigned)packet->payload;
    pf_put_format(text, "Format %x Type %x T9 %x T8 %x TH %x SO %x Length %x Time %x", word >> 30, word >> 25 & 0x1f,
                  word >> 24 & 1, word >> 23 & 1, word >> 22 & 1, word >> 21 & 1, word >> 11 & 0x3ff, word & 0x7ff);
}

static void put_header(struct pf_text *text, const struct pf_aux_packet *packet)
{
    pf_put_format(text, "Header DW%u", packet->detail);
}

static const struct pf_aux_kind kinds[KINDS] = {
    [PF_AUX_BAD] = {"Bad packet!", NULL, 0},
    [PF_AUX_PAD] = {"padding", NULL, 0},
    [HIDDEN] = {"Reserved", NULL, 0},
    [SUMMARY] = {"Format", put_summary, 0},
    [HEADER] = {"Header", put_header, 0},
    [PREFIX] = {"Prefix", NULL, 0},
    [TIME] = {"Time", NULL, 0},
};

const struct pf_aux_format pf_aux_hisi_ptt = {
    .type = PERFILE_AUXTRACE_HISI_PTT,
    .heading = "HISI PTT",
    .kinds = kinds,
    .kind_count = KINDS,
    .values_only = true,
    .state_bytes = sizeof(struct state),
    .max_bytes = WORD_BYTES,
    .read = read_word,
};
