/* SPDX-License-Identifier: MIT */
/* What systems other than Linux cannot do, or do not need. */
#include "platform/platform.h"

void pf_platform_close_from(int first)
{
    (void)first;
}

long pf_platform_peek(int pipe, void *bytes, size_t count)
{
    (void)pipe;
    (void)bytes;
    (void)count;
    return -1;
}

void pf_platform_trim_memory(void)
{
}

void pf_platform_free_large_blocks(void)
{
}
