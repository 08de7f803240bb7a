/* SPDX-License-Identifier: MIT */
#include "analysis/delivered.h"

void pf_delivered_fill_absent(struct perfile_sample *sample, uint64_t recorded)
{
    if (!(recorded & PERFILE_SAMPLE_TID))
        sample->pid = sample->tid = -1;
    if (!(recorded & PERFILE_SAMPLE_TIME))
        sample->time = UINT64_MAX;
    if (!(recorded & PERFILE_SAMPLE_CPU))
        sample->cpu = UINT32_MAX;
}
