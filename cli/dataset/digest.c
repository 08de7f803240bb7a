/* SPDX-License-Identifier: MIT */
#include "digest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- BLAKE2b ----------------------------------------------------------------------------------------------------- */

static const uint64_t start[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                                  0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

static const uint8_t order[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

static uint64_t turn(uint64_t value, unsigned bits)
{
    return value >> bits | value << (64 - bits);
}

static inline void mix(uint64_t v[16], const unsigned at[4], uint64_t x, uint64_t y)
{
    uint64_t a = v[at[0]], b = v[at[1]], c = v[at[2]], d = v[at[3]];

    a += b + x;
    d = turn(d ^ a, 32);
    c += d;
    b = turn(b ^ c, 24);
    a += b + y;
    d = turn(d ^ a, 16);
    c += d;
    b = turn(b ^ c, 63);
    v[at[0]] = a, v[at[1]] = b, v[at[2]] = c, v[at[3]] = d;
}

static void press(struct pf_digest *digest, bool last)
{
    static const unsigned positions[8][4] = {{0, 4, 8, 12},  {1, 5, 9, 13},  {2, 6, 10, 14}, {3, 7, 11, 15},
                                             {0, 5, 10, 15}, {1, 6, 11, 12}, {2, 7, 8, 13},  {3, 4, 9, 14}};
    uint64_t v[16], m[16];

    for (size_t i = 0; i < 16; i++) {
        m[i] = 0;
        for (size_t k = 8; k--;)
            m[i] = m[i] << 8 | digest->block[8 * i + k];
        v[i] = i < 8 ? digest->state[i] : start[i - 8];
    }
    v[12] ^= digest->count;
    v[14] ^= last ? UINT64_MAX : 0;
    for (size_t round = 0; round < 12; round++)
        for (size_t i = 0; i < 8; i++)
            mix(v, positions[i], m[order[round % 10][2 * i]], m[order[round % 10][2 * i + 1]]);
    for (size_t i = 0; i < 8; i++)
        digest->state[i] ^= v[i] ^ v[i + 8];
}

void pf_digest_start(struct pf_digest *digest)
{
    memset(digest, 0, sizeof(*digest));
    memcpy(digest->state, start, sizeof(start));
    digest->state[0] ^= 0x01010000 ^ PF_DIGEST_BYTES;
}

void pf_digest_add(struct pf_digest *digest, const void *data, size_t bytes)
{
    const uint8_t *at = data;

    while (bytes) {
        if (digest->used == sizeof(digest->block)) { /* the last block is another one */
            press(digest, false);
            digest->used = 0;
        }
        const size_t capacity = sizeof(digest->block) - digest->used, some = bytes < capacity ? bytes : capacity;
        memcpy(digest->block + digest->used, at, some);
        digest->used += some;
        digest->count += some;
        at += some;
        bytes -= some;
    }
}

void pf_digest_text(struct pf_digest *digest, char text[PF_DIGEST_TEXT])
{
    memset(digest->block + digest->used, 0, sizeof(digest->block) - digest->used);
    press(digest, true);
    for (size_t i = 0; i < PF_DIGEST_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", (unsigned)(digest->state[i / 8] >> 8 * (i % 8) & 255));
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static bool add_file(struct pf_digest *digest, int fd, uint64_t *bytes)
{
    enum { CAPACITY = 1 << 18 };
    uint8_t *buffer = malloc(CAPACITY);
    ssize_t got = buffer ? 1 : -1;

    while (buffer && (got = read(fd, buffer, CAPACITY)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            break;
        pf_digest_add(digest, buffer, (size_t)got);
        *bytes += (uint64_t)got;
    }
    free(buffer);
    return got == 0;
}

/* Adds the digest of a folder's entry when it is a file. */
static bool add_entry(struct pf_digest *digest, int folder, const char *name, uint64_t *bytes)
{
    const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    struct pf_digest own;
    char text[PF_DIGEST_TEXT];
    bool is_ok = fd >= 0 && fstat(fd, &status) == 0;

    if (is_ok && S_ISREG(status.st_mode)) {
        pf_digest_start(&own);
        is_ok = add_file(&own, fd, bytes);
        pf_digest_text(&own, text);
        pf_digest_add(digest, name, strlen(name) + 1);
        pf_digest_add(digest, text, strlen(text));
    }
    if (fd >= 0)
        close(fd);
    return is_ok;
}

static bool add_folder(struct pf_digest *digest, const char *path, uint64_t *bytes)
{
    struct dirent **entries;
    const int count = scandir(path, &entries, NULL, alphasort), fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_ok = count >= 0 && fd >= 0;

    for (int i = 0; i < count; i++) {
        if (is_ok && entries[i]->d_name[0] != '.')
            is_ok = add_entry(digest, fd, entries[i]->d_name, bytes);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    if (fd >= 0)
        close(fd);
    return is_ok;
}

bool pf_digest_path(const char *path, char text[PF_DIGEST_TEXT], uint64_t *bytes)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct pf_digest digest;
    struct stat status;
    bool is_ok = fd >= 0 && fstat(fd, &status) == 0;

    *bytes = 0;
    pf_digest_start(&digest);
    if (is_ok && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
        is_ok = false;
        errno = 0;
    }
    if (is_ok)
        is_ok = S_ISDIR(status.st_mode) ? add_folder(&digest, path, bytes) : add_file(&digest, fd, bytes);
    if (is_ok)
        pf_digest_text(&digest, text);
    if (fd >= 0)
        close(fd);
    return is_ok;
}
