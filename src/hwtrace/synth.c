/* SPDX-License-Identifier: MIT */
#include "hwtrace/synth.h"

#include "hwtrace/decoder.h"
#include "hwtrace/vpa_dtl.h"

static const struct {
    uint64_t config;
    size_t min_bytes;
    void (*put)(struct pf_text *text, const uint8_t *raw);
} kinds[] = {
    {PF_AUX_SYNTH_VPA_DTL, PF_VPA_ENTRY_BYTES, pf_vpa_put_sample},
};

void pf_aux_put_synth(struct pf_text *text, uint64_t config, const struct perfile_bytes *raw)
{
    for (size_t i = 0; i < PF_COUNT(kinds); i++)
        if (kinds[i].config == config && raw->bytes >= kinds[i].min_bytes)
            kinds[i].put(text, raw->data);
}
