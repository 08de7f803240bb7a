/* SPDX-License-Identifier: MIT */
#include "analysis/synthesizers.h"

#include "analysis/events/offcpu.h"

int pf_synthesizer_open(struct pf_synthesizer *synthesizer, struct perfile_reader *reader,
                        const struct perfile_filter *wanted, const struct pf_filter *filter,
                        const struct perfile_allocator *allocator, struct perfile_error *error)
{
    return wanted->off_cpu ? pf_offcpu_synthesizer(synthesizer, reader, wanted->off_cpu, filter, allocator, error) : 0;
}
