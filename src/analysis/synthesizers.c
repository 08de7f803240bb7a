/* SPDX-License-Identifier: MIT */
#include "analysis/synthesizers.h"

#include "analysis/calls/calls.h"
#include "analysis/events/offcpu.h"
#include "base/error.h"

int pf_synthesizer_open(struct pf_synthesizer *synthesizer, const struct pf_synthesizer_options *options,
                        struct perfile_error *error)
{
    const struct perfile_filter *wanted = options->wanted;
    if (wanted->calls && wanted->off_cpu)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "filter",
                       "calls of a hardware trace and times off CPU cannot be combined");
    if (wanted->calls)
        return pf_calls_synthesizer(synthesizer, options, error);
    return wanted->off_cpu ? pf_offcpu_synthesizer(synthesizer, options->reader, wanted->off_cpu, options->filter,
                                                   options->allocator, error)
                           : 0;
}
