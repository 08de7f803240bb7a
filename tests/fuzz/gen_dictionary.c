/* SPDX-License-Identifier: MIT */
/* Writes a dictionary for libFuzzer: the words of the format, from the schema, in little-endian order. */
#include <stdint.h>
#include <stdio.h>

static void put(const char *kind, const char *name, uint64_t value, unsigned bytes)
{
    printf("%s_%s=\"", kind, name);
    for (unsigned i = 0; i < bytes; i++)
        printf("\\x%02x", (unsigned)(value >> 8 * i & 0xff));
    printf("\"\n");
}

/* Headers of records: type, no misc, the size of an empty one. */
static void records(void)
{
#include "schema/no_fields.h"
#define RECORD(number, NAME, ...) put("record", #NAME, number | 8ull << 48, 8);
#define END_RECORD(name)
#define BARE(number, NAME, ...) put("record", #NAME, number | 8ull << 48, 8);
#include "schema/records.def"
#include "schema/undef.h"
}

static void features(void)
{
#define FEATURE(number, NAME, ...) put("feature", #NAME, number, 8);
#include "schema/features.def"
#include "schema/undef.h"
}

static void samples(void)
{
#define WORD(bit, NAME, ...) put("sample", #NAME, 1ull << bit, 8);
#define PAIR(bit, NAME, ...) put("sample", #NAME, 1ull << bit, 8);
#define PART(bit, NAME, ...) put("sample", #NAME, 1ull << bit, 8);
#define TAIL(bit, NAME, ...) put("sample", #NAME, 1ull << bit, 8);
#include "schema/sample.def"
#include "schema/undef.h"
}

int main(void)
{
    printf("magic_little=\"PERFILE2\"\nmagic_big=\"2ELIFREP\"\nmagic_1=\"PERFFILE\"\nzstd=\"\\x28\\xb5\\x2f\\xfd\"\n");
    put("header", "file", 104, 8);
    put("header", "pipe", 16, 8);
    for (unsigned i = 1; i <= 6; i++) {
        char name[] = {(char)('0' + i), '\0'};
        put("context", name, UINT64_MAX - 127 - 128 * i, 8);
    }
    records();
    features();
    samples();
    return 0;
}
