/* SPDX-License-Identifier: MIT */
#include "output/named_samples.h"

#include "base/error.h"

int pf_named_samples_open(struct pf_named_samples *samples, struct perfile_reader *reader,
                          const struct pf_delivery_options *how, const struct pf_find_options *find,
                          struct perfile_error *error)
{
    int result = pf_delivery_open(reader, how, &samples->delivery, error);
    if (result == 0)
        result = pf_symbols_open(reader, find, &samples->symbols, error);
    if (result < 0)
        return result;
    pf_symbols_use_jit(samples->symbols, pf_delivery_jit(samples->delivery));
    return pf_trace_texts_open(&samples->traces, reader, find->allocator) ? 0 : pf_fail_memory(error, "samples");
}

void pf_named_samples_close(struct pf_named_samples *samples)
{
    pf_trace_texts_close(&samples->traces);
    pf_symbols_close(samples->symbols);
    pf_delivery_close(samples->delivery);
}
