/* SPDX-License-Identifier: MIT */
/* A file in memory that targets write what they make to. */
#ifndef PF_TESTS_FUZZ_OUTPUT_FILE_H
#define PF_TESTS_FUZZ_OUTPUT_FILE_H

#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

/* Its descriptor, at the start of the file. */
static inline int fuzz_output_file(void)
{
    static int fd = -1;
    if (fd < 0)
        fd = memfd_create("out", MFD_CLOEXEC);
    FUZZ_REQUIRE(fd >= 0 && lseek(fd, 0, SEEK_SET) == 0);
    return fd;
}

#endif
