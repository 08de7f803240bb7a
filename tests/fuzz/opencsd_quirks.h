/* SPDX-License-Identifier: MIT */
/* What sanitizers must know about libopencsd 1.3.3; for one file of a program. */
#ifndef PF_TESTS_FUZZ_OPENCSD_H
#define PF_TESTS_FUZZ_OPENCSD_H

const char *__lsan_default_suppressions(void);
const char *__asan_default_options(void);

/* Each decoder loses 32 bytes. */
const char *__lsan_default_suppressions(void)
{
    return "leak:libstdc++";
}

/* And it may count down from a number that it has not set, which takes seconds where that is not zero. */
const char *__asan_default_options(void)
{
    return "malloc_fill_byte=0:max_malloc_fill_size=65536";
}

#endif
