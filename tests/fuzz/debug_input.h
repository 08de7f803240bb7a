/* SPDX-License-Identifier: MIT */
/*
 * The input of the targets for debug info: a binary, which also is each of the other files that it may name: the package
 * and the object file of split DWARF, and the file of dwz.
 */
#ifndef PF_TESTS_FUZZ_DEBUG_INPUT_H
#define PF_TESTS_FUZZ_DEBUG_INPUT_H

#include "base/elf_names.h"
#include "made.h"

static char debug_input_paths[3][160];

static void debug_input_remove(void)
{
    for (unsigned i = 0; i < PF_COUNT(debug_input_paths); i++)
        unlink(debug_input_paths[i]);
    rmdir(fuzz_folder(NULL));
}

/* Writes the input to the one file that all these names mean. */
static inline const char *debug_input_write(const uint8_t *data, size_t bytes)
{
    static const char *const names[] = {"x", "x.dwp", "x.dwo"};
    static int fd = -1;
    const char *folder = fuzz_folder(debug_input_remove);
    char(*paths)[160] = debug_input_paths;
    for (unsigned i = 0; fd < 0 && i < PF_COUNT(names); i++)
        snprintf(paths[i], sizeof(paths[i]), "%s/%s", folder, names[i]);
    if (fd < 0) {
        fd = open(paths[0], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        FUZZ_REQUIRE(fd >= 0 && link(paths[0], paths[1]) == 0 && link(paths[0], paths[2]) == 0);
    }
    FUZZ_REQUIRE(ftruncate(fd, (off_t)bytes) == 0 && pwrite(fd, data, bytes, 0) == (ssize_t)bytes);
    return paths[0];
}

/* What is done with the input: a byte of the header that means nothing says so. Mutants of an input thus keep it. */
enum {
    DEBUG_INPUT_ALTERNATE = 1, /* it is the file of dwz, too */
    DEBUG_INPUT_DETAILED = 2,
    DEBUG_INPUT_WANTED = 4, /* a part of the addresses */
    DEBUG_INPUT_NO_ENTRIES = 8,
    DEBUG_INPUT_NO_USES = 16,
};

static inline unsigned debug_input_choice(const uint8_t *data, size_t bytes)
{
    return bytes > EI_NIDENT ? data[EI_NIDENT - 1] : 0;
}

#endif
