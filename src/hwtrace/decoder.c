/* SPDX-License-Identifier: MIT */
#include "hwtrace/decoder.h"

#define AUX(name) extern const struct pf_aux_decoder pf_aux_decode_##name;
#include "hwtrace/decoders.def"
#undef AUX

static const struct pf_aux_decoder *const decoders[] = {
#define AUX(name) &pf_aux_decode_##name,
#include "hwtrace/decoders.def"
#undef AUX
};

const struct pf_aux_decoder *pf_aux_decoder_find(uint32_t type)
{
    for (size_t i = 0; i < PF_COUNT(decoders); i++)
        if (decoders[i]->format->type == type)
            return decoders[i];
    return NULL;
}
