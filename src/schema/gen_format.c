/* SPDX-License-Identifier: MIT */
/* Writes doc/format.md from the schema. `./dev format` runs it; a test fails when the file is not current. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static int offset; /* of the next field; -1: it depends on what was before */

/* A meaning in small letters; that of plain numbers goes without saying. */
static void print_meaning(const char *meaning)
{
    if (strcmp(meaning, "NUMBER") != 0)
        for (; *meaning; meaning++)
            putchar(tolower((unsigned char)*meaning));
}

static void row(const char *name, const char *type, const char *meaning, int bytes, const char *doc)
{
    if (offset >= 0)
        printf("| %d ", offset);
    else
        printf("| ");
    printf("| %s | ", type);
    print_meaning(meaning);
    printf(" | %s | %s |\n", name, doc);
    if (bytes < 0)
        offset = -1;
    else if (offset >= 0)
        offset += bytes;
}

static void condition(const char *text)
{
    printf("| | | | *%s* | |\n", text);
}

static void table(int start)
{
    offset = start;
    printf("\n| offset | type | meaning | field | |\n|---|---|---|---|---|\n");
}

#define U8(field, meaning, doc) row(#field, "u8", #meaning, 1, doc);
#define U16(field, meaning, doc) row(#field, "u16", #meaning, 2, doc);
#define U32(field, meaning, doc) row(#field, "u32", #meaning, 4, doc);
#define U64(field, meaning, doc) row(#field, "u64", #meaning, 8, doc);
#define S32(field, meaning, doc) row(#field, "s32", #meaning, 4, doc);
#define S64(field, meaning, doc) row(#field, "s64", #meaning, 8, doc);
#define F64(field, doc) row(#field, "double", "", 8, doc);
#define PAD(bytes) row("", #bytes " bytes", "", bytes, "padding");
#define TEXT(field, bytes, doc) row(#field, "char[" #bytes "]", "", bytes, doc);
#define STRING(field, doc) row(#field, "text, NUL, padded to 8", "", -1, doc);
#define BYTES(field, capacity, shown, doc) row(#field, "u8[" #capacity "]", "", capacity, doc);
#define DATA(field, length, doc) row(#field, "bytes", "", -1, doc);
#define LIST(field, count, element, doc) row(#field, #element "[]", "", -1, doc);
#define REST(field, element, doc) row(#field, #element "[] to the end", "", -1, doc);
#define WHEN(when)                                                                                                     \
    condition("when " #when);                                                                                          \
    before = offset;
#define OTHERWISE()                                                                                                    \
    condition("otherwise");                                                                                            \
    offset = before;
#define END_WHEN() condition("in any case");
#define MORE() condition("while bytes remain");
#define END_MORE()
#define COMPUTED(field, value, doc)
#define SKIP() row("", "bytes", "", -1, "opaque here");
#define CUSTOM(field, type, layout, doc) row(#field, #layout, "", -1, doc);

static void elements(void)
{
    printf("\n## Elements of lists\n");
#define ELEMENT(name, doc)                                                                                             \
    printf("\n### %s\n\n%s\n", #name, doc);                                                                            \
    table(0);
#define END_ELEMENT(name)
#include "schema/elements.def"
}

static void records(void)
{
    int before = 0;
    printf("\n## Records\n\nEvery record starts with u32 type, u16 misc, u16 size. Those of class KERNEL end with the "
           "sample_id when\nattr.sample_id_all is set. Of times, an instant is in ns on the clock of the records, a "
           "duration in ns, and jiffies\nare ticks of the kernel.\n");
#define RECORD(number, NAME, name, class, since, doc)                                                                  \
    printf("\n### %d %s\n\n%s Class %s, since %s.\n", number, #NAME, doc, #class, since);                              \
    table(8);
#define END_RECORD(name)
#define BARE(number, NAME, class, since, doc)                                                                          \
    printf("\n### %d %s\n\n%s Class %s, since %s.\n", number, #NAME, doc, #class, since);
#include "schema/records.def"
    (void)before;
}

#undef U16
#undef U32
#undef U64
#undef S32
#define ATTR_ROW(at, type, field, doc) printf("| %d | %s | %s | %s |\n", at, type, #field, doc);
#define U16(at, field, meaning, doc) ATTR_ROW(at, "u16", field, doc)
#define U32(at, field, meaning, doc) ATTR_ROW(at, "u32", field, doc)
#define U64(at, field, meaning, doc) ATTR_ROW(at, "u64", field, doc)
#define S32(at, field, meaning, doc) ATTR_ROW(at, "s32", field, doc)
#define FLAGS(at, bits) printf("| %d | u%d | | |\n", at, bits);
#define BITS(first, width, field, doc)                                                                                 \
    printf((width) > 1 ? "| | bits %d-%d | %s | %s |\n" : "| | bit %d%.0d | %s | %s |\n", first,                       \
           (width) > 1 ? (first) + (width)-1 : 0, #field, doc);
#define END_FLAGS()

static void attr(void)
{
    printf("\n## perf_event_attr\n\nBits count from the lowest on little-endian machines and from the highest on "
           "big-endian ones.\n\n| offset | type | field | |\n|---|---|---|---|\n");
#include "schema/attr.def"
}

static void word(int bit, const char *name, const char *field, const char *meaning, const char *doc)
{
    printf("| %d | %s | u64 %s | ", bit, name, field);
    print_meaning(meaning);
    printf(" | %s |\n", doc);
}

#define WORD(bit, NAME, field, meaning, doc) word(bit, #NAME, #field, #meaning, doc);
#define PAIR(bit, NAME, type1, field1, type2, field2, doc)                                                             \
    printf("| %d | %s | %s %s, %s %s | | %s |\n", bit, #NAME, #type1, #field1, #type2, #field2, doc);
#define PART(bit, NAME, field, type, layout, doc) printf("| %d | %s | %s | | %s |\n", bit, #NAME, #field, doc);
#define TAIL(bit, NAME, field, meaning, doc) word(bit, #NAME, #field, #meaning, doc);

static void samples(void)
{
    printf("\n## SAMPLE\n\nIn the order of the bytes.\n\n| bit of sample_type | name | content | meaning | "
           "|\n|---|---|---|---|---|\n");
#include "schema/sample.def"
    printf("\n## sample_id\n\n| bit of sample_type | name | content | meaning | |\n|---|---|---|---|---|\n");
#include "schema/sample_id.def"
}

static void features(void)
{
    printf("\n## Header features\n\n| number | name | since | |\n|---|---|---|---|\n");
#define FEATURE(number, NAME, layout, since, doc) printf("| %d | %s | %s | %s |\n", number, #NAME, since, doc);
#include "schema/features.def"
}

static void values(void)
{
    printf("\n## Values\n\nIn C: PERFILE_ before the name; perfile_enum_name() gives the word.\n");
#define ENUMS(which, doc) printf("\n### %s\n\n%s.\n\n| value | name | word |\n|---|---|---|\n", #which, doc);
#define ENUM(which, value, NAME, name) printf("| %s | %s | %s |\n", #value, #NAME, name);
#define END_ENUMS(which)
#include "schema/enums.def"
}

int main(void)
{
    printf(
        "# The format\n\nWritten by src/schema/gen_format.c from the schema that the library is made of; do not edit."
        "\n");
    records();
    elements();
    samples();
    attr();
    features();
    values();
    return fflush(stdout) != 0;
}
