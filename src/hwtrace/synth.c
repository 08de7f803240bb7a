/* SPDX-License-Identifier: MIT */
#include "hwtrace/synth.h"

#include <inttypes.h>
#include <stdio.h>

#include "hwtrace/decoder.h"
#include "hwtrace/vpa_dtl.h"

/* perf pads the texts of Intel PT to the same width. */
static void put_padded(struct pf_text *text, const char *words)
{
    enum { WIDTH = 34 };
    pf_put_format(text, "%-*s", WIDTH, words);
}

static uint64_t payload_of(const uint8_t *raw)
{
    return pf_aux_number(raw + 4, 8);
}

static void put_ptwrite(struct pf_text *text, const uint8_t *raw)
{
    char words[64];
    snprintf(words, sizeof(words), " IP: %u payload: %#" PRIx64 " ", raw[0] & 1u, payload_of(raw));
    put_padded(text, words);
}

static void put_mwait(struct pf_text *text, const uint8_t *raw)
{
    const uint64_t payload = payload_of(raw);
    char words[64];
    snprintf(words, sizeof(words), " hints: %#x extensions: %#x ", (unsigned)payload & 0xff,
             (unsigned)(payload >> 32) & 3);
    put_padded(text, words);
}

static void put_pwre(struct pf_text *text, const uint8_t *raw)
{
    const unsigned payload = (unsigned)payload_of(raw);
    char words[64];
    snprintf(words, sizeof(words), " hw: %u cstate: %u sub-cstate: %u ", payload >> 7 & 1, payload >> 12 & 0xf,
             payload >> 8 & 0xf);
    put_padded(text, words);
}

static void put_exstop(struct pf_text *text, const uint8_t *raw)
{
    char words[16];
    snprintf(words, sizeof(words), " IP: %u ", raw[0] & 1u);
    put_padded(text, words);
}

static void put_pwrx(struct pf_text *text, const uint8_t *raw)
{
    const unsigned payload = (unsigned)payload_of(raw);
    char words[80];
    snprintf(words, sizeof(words), " deepest cstate: %u last cstate: %u wake reason: %#x ", payload & 0xf,
             payload >> 4 & 0xf, payload >> 8 & 0xf);
    put_padded(text, words);
}

/* The percentage is that of the frequency at which the time-stamp counter counts. */
static void put_cbr(struct pf_text *text, const uint8_t *raw)
{
    const unsigned ratio = raw[0], max = raw[2], mhz = (unsigned)pf_aux_number(raw + 4, 4);
    char words[64];
    int bytes = snprintf(words, sizeof(words), " cbr: %2u freq: %4u MHz ", ratio, mhz);
    if (max)
        snprintf(words + bytes, sizeof(words) - (size_t)bytes, "(%3u%%) ", (5 + 1000 * ratio / max) / 10);
    put_padded(text, words);
}

static void put_psb(struct pf_text *text, const uint8_t *raw)
{
    char words[48];
    snprintf(words, sizeof(words), " psb offs: %#" PRIx64 " ", payload_of(raw));
    put_padded(text, words);
}

static const struct {
    uint64_t config;
    size_t min_bytes;
    void (*put)(struct pf_text *text, const uint8_t *raw);
} kinds[] = {
    {PF_AUX_SYNTH_PTWRITE, 12, put_ptwrite}, {PF_AUX_SYNTH_MWAIT, 12, put_mwait},
    {PF_AUX_SYNTH_PWRE, 12, put_pwre},       {PF_AUX_SYNTH_EXSTOP, 4, put_exstop},
    {PF_AUX_SYNTH_PWRX, 12, put_pwrx},       {PF_AUX_SYNTH_CBR, 12, put_cbr},
    {PF_AUX_SYNTH_PSB, 12, put_psb},         {PF_AUX_SYNTH_VPA_DTL, PF_VPA_ENTRY_BYTES, pf_vpa_put_sample},
};

void pf_aux_put_synth(struct pf_text *text, uint64_t config, const struct perfile_bytes *raw)
{
    for (size_t i = 0; i < PF_COUNT(kinds); i++)
        if (kinds[i].config == config && raw->bytes >= kinds[i].min_bytes)
            kinds[i].put(text, raw->data);
}
