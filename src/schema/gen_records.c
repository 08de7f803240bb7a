/* SPDX-License-Identifier: MIT */
/*
 * Writes include/perfile/records.h from the schema. `./dev format` runs it; a test fails when the file is not current.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* One member of a struct, its comment in a column of its own. */
static void member(const char *type, const char *name, const char *doc)
{
    int width = printf("    %s%s%s;", type, type[strlen(type) - 1] == '*' ? "" : " ", name);
    if (*doc)
        printf("%*s/* %s */", width < 44 ? 44 - width : 1, "", doc);
    putchar('\n');
}

static void sized_member(const char *type, const char *name, int bytes, const char *doc)
{
    char sized[128];
    snprintf(sized, sizeof(sized), "%s[%d]", name, bytes);
    member(type, sized, doc);
}

static void list_member(const char *name, const char *element, const char *doc)
{
    char text[256];
    if (strcmp(element, "word") == 0) {
        member("struct perfile_u64s", name, doc);
        return;
    }
    snprintf(text, sizeof(text), "struct perfile_%s: %s", element, doc);
    member("struct perfile_list", name, text);
}

/* The attributes grow with the kernel: they come last, wherever the record has them. */
static const char *last_type, *last_name, *last_doc;

static void custom(const char *type, const char *name, const char *doc)
{
    if (strcmp(type, "struct perfile_attr") != 0) {
        member(type, name, doc);
        return;
    }
    last_type = type;
    last_name = name;
    last_doc = doc;
}

static void end_members(void)
{
    if (last_type)
        member(last_type, last_name, last_doc);
    last_type = NULL;
    printf("};\n\n");
}

#define U8(field, meaning, doc) member("uint8_t", #field, doc);
#define U16(field, meaning, doc) member("uint16_t", #field, doc);
#define U32(field, meaning, doc) member("uint32_t", #field, doc);
#define U64(field, meaning, doc) member("uint64_t", #field, doc);
#define S32(field, meaning, doc) member("int32_t", #field, doc);
#define S64(field, meaning, doc) member("int64_t", #field, doc);
#define F64(field, doc) member("double", #field, doc);
#define PAD(bytes)
#define TEXT(field, bytes, doc) sized_member("char", #field, (bytes) + 1, doc);
#define STRING(field, doc) member("const char *", #field, doc);
#define BYTES(field, capacity, shown, doc) sized_member("uint8_t", #field, capacity, doc);
#define DATA(field, length, doc) member("const uint8_t *", #field, doc);
#define LIST(field, count, element, doc) list_member(#field, #element, doc);
#define REST(field, element, doc) list_member(#field, #element, doc);
#define WHEN(condition)
#define OTHERWISE()
#define END_WHEN()
#define MORE()
#define END_MORE()
#define COMPUTED(field, value, doc) member("uint64_t", #field, doc);
#define SKIP()
#define CUSTOM(field, type, layout, doc) custom("struct perfile_" #type, #field, doc);

static void elements(void)
{
#define ELEMENT(name, doc) printf("/* %s */\nstruct perfile_%s {\n", doc, #name);
#define END_ELEMENT(name)                                                                                              \
    printf("};\n/* The element at `index` < list->count; `out_bytes` is sizeof(*out). */\n"                            \
           "PERFILE_API void perfile_" #name "_at(const struct perfile_list *list, uint64_t index, "                   \
           "struct perfile_" #name " *out, size_t out_bytes);\n\n");
#include "schema/elements.def"
#undef ELEMENT
#undef END_ELEMENT
}

static void records(void)
{
#define RECORD(number, NAME, name, class, since, doc)                                                                  \
    printf("/* %d " #NAME ", since %s. %s */\nstruct perfile_%s {\n", number, since, doc, #name);
#define END_RECORD(name) end_members();
#define BARE(number, NAME, class, since, doc)
#include "schema/records.def"
#undef BARE
#undef RECORD
#undef END_RECORD
}

#undef U16
#undef U32
#undef U64
#undef S32
#define U16(offset, field, meaning, doc) member("uint16_t", #field, doc);
#define U32(offset, field, meaning, doc) member("uint32_t", #field, doc);
#define U64(offset, field, meaning, doc) member("uint64_t", #field, doc);
#define S32(offset, field, meaning, doc) member("int32_t", #field, doc);
#define FLAGS(offset, bits)
#define BITS(first, width, field, doc) member((width) > 8 ? "uint32_t" : "uint8_t", #field, doc);
#define END_FLAGS()

static void attr(void)
{
    printf("/* struct perf_event_attr; its fields are the kernel's */\nstruct perfile_attr {\n");
#include "schema/attr.def"
    printf("};\n\n");
}

#define WORD(bit, NAME, field, meaning, doc) member("uint64_t", #field, doc);
#define U32_TYPE "uint32_t"
#define S32_TYPE "int32_t"
#define PAIR(bit, NAME, type1, field1, type2, field2, doc)                                                             \
    member(type1##_TYPE, #field1, doc);                                                                                \
    member(type2##_TYPE, #field2, "");
#define PART(bit, NAME, field, type, layout, doc) member("struct perfile_" #type, #field, doc);
#define TAIL(bit, NAME, field, meaning, doc)                                                                           \
    if ((bit) != 24) /* WEIGHT_STRUCT has the position of WEIGHT */                                                    \
        member("uint64_t", #field, doc);

static void samples(void)
{
    printf("/* The trailer of kernel records; members that attr.sample_type does not name are 0. */\n"
           "struct perfile_sample_id {\n"
           "    size_t size;                            /* sizeof(struct perfile_sample_id), set by the caller */\n"
           "    uint64_t present;                       /* PERFILE_SAMPLE_* bits */\n");
#include "schema/sample_id.def"
    printf("};\n\n/* A decoded SAMPLE; members that are not `present` are 0, but period: attr.sample_period. */\n"
           "struct perfile_sample {\n"
           "    size_t size;                            /* sizeof(struct perfile_sample), set by the caller */\n"
           "    uint64_t present;                       /* PERFILE_SAMPLE_* bits */\n");
#include "schema/sample.def"
    printf("};\n\n");
}

#undef WORD
#undef PAIR
#undef PART
#undef TAIL
#define WORD(bit, NAME, field, meaning, doc) printf("    PERFILE_SAMPLE_" #NAME " = 1u << %d,\n", bit);
#define PAIR(bit, NAME, type1, field1, type2, field2, doc) printf("    PERFILE_SAMPLE_" #NAME " = 1u << %d,\n", bit);
#define PART(bit, NAME, field, type, layout, doc) printf("    PERFILE_SAMPLE_" #NAME " = 1u << %d,\n", bit);
#define TAIL(bit, NAME, field, meaning, doc) printf("    PERFILE_SAMPLE_" #NAME " = 1u << %d,\n", bit);

static void sample_bits(void)
{
    printf("/* attr.sample_type: the parts of a SAMPLE, in the order of their bytes. */\nenum perfile_sample_bit {\n");
#include "schema/sample.def"
    printf("};\n\n");
}

static void numbers(void)
{
    printf("enum perfile_record_type {\n");
#include "schema/undef.h"
#include "schema/no_fields.h"
#define RECORD(number, NAME, name, class, since, doc) printf("    PERFILE_RECORD_" #NAME " = %d,\n", number);
#define END_RECORD(name)
#define BARE(number, NAME, class, since, doc) printf("    PERFILE_RECORD_" #NAME " = %d,\n", number);
#include "schema/records.def"
    printf("};\n\nenum perfile_feature_id {\n");
#define FEATURE(number, NAME, layout, since, doc) printf("    PERFILE_FEATURE_" #NAME " = %d,\n", number);
#include "schema/features.def"
    printf("};\n\n");
}

/* Constants of an enum are ints; larger values become macros. */
static void value(const char *name, const char *text, unsigned long long number, int *opened, const char *which)
{
    if (number > INT32_MAX) {
        printf("#define PERFILE_%s 0x%llx\n", name, number); /* its type is uint64_t, and bindgen reads it */
        return;
    }
    if (!*opened)
        printf("enum perfile_%s {\n", which);
    *opened = 1;
    printf("    PERFILE_%s = %s,\n", name, text);
}

static void values(void)
{
    int opened;
#define ENUMS(which, doc)                                                                                              \
    opened = 0;                                                                                                        \
    printf("/* %s. */\n", doc);
#define ENUM(which, number, NAME, name) value(#NAME, #number, number, &opened, #which);
#define END_ENUMS(which) printf(opened ? "};\n\n" : "\n");
#include "schema/enums.def"
}

int main(void)
{
    printf("/* SPDX-License-Identifier: MIT */\n"
           "/* perfile/records.h: records, attributes and fields of samples (libperfile). "
           "Written by src/schema/gen_records.c. */\n"
           "#ifndef PERFILE_RECORDS_H\n#define PERFILE_RECORDS_H\n\n");
    numbers();
    sample_bits();
    values();
    attr();
    elements();
    samples();
    records();
    printf("#endif\n");
    return fflush(stdout) != 0;
}
