/* SPDX-License-Identifier: MIT */
/*
 * unzstd: frames on stdin, each after its compressed and its decompressed size (32 bits, little-endian), become one
 * stream.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

static size_t number(const unsigned char *bytes)
{
    return bytes[0] | (size_t)bytes[1] << 8 | (size_t)bytes[2] << 16 | (size_t)bytes[3] << 24;
}

static int unpack(size_t packed, size_t plain)
{
    char *from = malloc(packed + 1), *to = malloc(plain + 1);
    const int wrong = !from || !to || fread(from, 1, packed, stdin) != packed ||
                      ZSTD_decompress(to, plain, from, packed) != plain || fwrite(to, 1, plain, stdout) != plain;
    free(from);
    free(to);
    return wrong;
}

int main(void)
{
    unsigned char sizes[8];
    while (fread(sizes, 1, sizeof(sizes), stdin) == sizeof(sizes))
        if (unpack(number(sizes), number(sizes + 4)))
            return 1;
    return 0;
}
