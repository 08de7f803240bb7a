/* SPDX-License-Identifier: MIT */
/* What targets make besides their input: files that have it, and a recording whose samples are in a file. */
#ifndef PF_TESTS_FUZZ_MADE_H
#define PF_TESTS_FUZZ_MADE_H

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

/* The path of the one file in memory that has the input until the next one is written. */
static inline const char *fuzz_memory_file(const void *data, size_t bytes)
{
    static char path[64];
    static int fd = -1;
    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_REQUIRE(fd >= 0 && ftruncate(fd, (off_t)bytes) == 0 && pwrite(fd, data, bytes, 0) == (ssize_t)bytes);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return path;
}

/* A folder of this process, which its end removes; for what is not looked for below /proc. */
static inline const char *fuzz_folder(void (*remove_it)(void))
{
    static char folder[128];
    if (!*folder) {
        const char *below = getenv("TMPDIR");
        snprintf(folder, sizeof(folder), "%s/perfile-fuzz-XXXXXX", below && *below ? below : "/tmp");
        FUZZ_REQUIRE(mkdtemp(folder) && atexit(remove_it) == 0);
    }
    return folder;
}

static inline void fuzz_write_file(const char *folder, const char *name, const void *data, size_t bytes)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FUZZ_REQUIRE(fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes);
    close(fd);
}

enum { FUZZ_SAMPLES = 16, FUZZ_ADDRESS = 0x400000, FUZZ_WORDS = 2 + 9 + 8 + FUZZ_SAMPLES * 8 };

static inline uint64_t fuzz_pair(uint64_t first, uint64_t second)
{
    return PF_NATIVE_BIG_ENDIAN ? first << 32 | second : second << 32 | first;
}

static inline uint64_t fuzz_header(uint64_t type, uint64_t misc, uint64_t words)
{
    return PF_NATIVE_BIG_ENDIAN ? type << 32 | misc << 16 | words * 8 : words * 8 << 48 | misc << 32 | type;
}

/*
 * A stream of a process that has mapped "/x", a file of so many bytes, at FUZZ_ADDRESS. Samples are all over it, each
 * called by the one before.
 */
static inline size_t fuzz_recording(uint64_t words[FUZZ_WORDS], size_t file_bytes)
{
    const uint64_t type = PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_CALLCHAIN;
    const uint64_t pages = (file_bytes + 4095) & ~(uint64_t)4095, step = file_bytes / FUZZ_SAMPLES + 1;
    const uint64_t process = fuzz_pair(7, 7);
    const uint64_t start[] = {PF_NATIVE_BIG_ENDIAN ? 0x50455246494c4532u : 0x32454c4946524550u, 16};
    const uint64_t attr[] = {fuzz_header(64, 0, 9), fuzz_pair(1, 64), 0, 1, type, 0, 0, 0, 0};
    const uint64_t map[] = {fuzz_header(1, 2, 6), process, FUZZ_ADDRESS, pages, 0, 0};
    uint64_t *to = words;
    to = (uint64_t *)memcpy(to, start, sizeof(start)) + PF_COUNT(start);
    to = (uint64_t *)memcpy(to, attr, sizeof(attr)) + PF_COUNT(attr);
    to = (uint64_t *)memcpy(to, map, sizeof(map)) + PF_COUNT(map);
    memcpy(to - 1, "/x", 2);
    for (uint64_t i = 0; i < FUZZ_SAMPLES; i++) {
        const uint64_t ip = FUZZ_ADDRESS + i * step;
        const uint64_t sample[] = {fuzz_header(9, 2, 7), ip, process, 3, (uint64_t)-512, ip, ip - (i ? step : 0) + 1};
        to = (uint64_t *)memcpy(to, sample, sizeof(sample)) + PF_COUNT(sample);
    }
    return (size_t)(to - words) * sizeof(*words);
}

#endif
