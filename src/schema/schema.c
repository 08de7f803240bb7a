/* SPDX-License-Identifier: MIT */
#include "schema/schema.h"

#include "base/bytes.h"

/* ---- record types ---- */

/* The least size of a record: the sum of what always is there. Bodies that depend on something count as nothing. */
#define U8(...) +1
#define U16(...) +2
#define U32(...) +4
#define U64(...) +8
#define S32(...) +4
#define S64(...) +8
#define F64(...) +8
#define PAD(bytes) +(bytes)
#define TEXT(field, bytes, doc) +(bytes)
#define STRING(...) +1
#define BYTES(field, capacity, shown, doc) +(capacity)
#define DATA(...)
#define LIST(...)
#define REST(...)
#define WHEN(condition) +0 * (0
#define OTHERWISE()
#define END_WHEN() )
#define MORE() +0 * (0
#define END_MORE() )
#define COMPUTED(...)
#define SKIP()
#define CUSTOM(...)
#define RECORD(number_, NAME, name_, class, since_, doc_)                                                              \
    {                                                                                                                  \
        .number = number_, .name = #NAME, .record_class = PF_CLASS_##class, .since = since_, .doc = doc_, .min_bytes = 8
#define END_RECORD(name)                                                                                               \
    }                                                                                                                  \
    ,
#define BARE(number_, NAME, class, since_, doc_)                                                                       \
    {.number = number_,                                                                                                \
     .name = #NAME,                                                                                                    \
     .record_class = PF_CLASS_##class,                                                                                 \
     .since = since_,                                                                                                  \
     .doc = doc_,                                                                                                      \
     .min_bytes = 8,                                                                                                   \
     .bare = true},

static const struct pf_record_info record_infos[] = {
#include "schema/records.def"
};

const struct pf_record_info *pf_record_info(uint32_t type)
{
    /* the common types stand at the start of the table, without a gap */
    if (type - 1 < PF_COUNT(record_infos) && record_infos[type - 1].number == type)
        return &record_infos[type - 1];
    for (size_t i = 0; i < PF_COUNT(record_infos); i++)
        if (record_infos[i].number == type)
            return &record_infos[i];
    return NULL;
}

const char *perfile_record_name(uint32_t type)
{
    const struct pf_record_info *info = pf_record_info(type);
    return info ? info->name : NULL;
}

const char *perfile_record_doc(uint32_t type)
{
    const struct pf_record_info *info = pf_record_info(type);
    return info ? info->doc : NULL;
}

uint32_t perfile_record_type_at(size_t index)
{
    return index < PF_COUNT(record_infos) ? record_infos[index].number : 0;
}

/* ---- features ---- */

static const struct {
    uint32_t number;
    const char *name;
    const char *since;
    const char *doc;
} features[] = {
#define FEATURE(number, NAME, layout, since, doc) {number, #NAME, since, doc},
#include "schema/features.def"
};

const char *perfile_feature_name(uint32_t number)
{
    for (size_t i = 0; i < PF_COUNT(features); i++)
        if (features[i].number == number)
            return features[i].name;
    return NULL;
}

const char *pf_feature_since(uint32_t number)
{
    for (size_t i = 0; i < PF_COUNT(features); i++)
        if (features[i].number == number)
            return features[i].since;
    return NULL;
}

const char *perfile_feature_doc(uint32_t number)
{
    for (size_t i = 0; i < PF_COUNT(features); i++)
        if (features[i].number == number)
            return features[i].doc;
    return NULL;
}

uint32_t perfile_feature_number_at(size_t index)
{
    return index < PF_COUNT(features) ? features[index].number : 0;
}

/* ---- the parts of a sample ---- */

const char *perfile_sample_field_name(uint64_t bit)
{
    switch (bit) {
#define WORD(number, NAME, field, meaning, doc)                                                                        \
    case 1ull << number:                                                                                               \
        return #field;
#define PAIR(number, NAME, type1, field1, type2, field2, doc)                                                          \
    case 1ull << number:                                                                                               \
        return #field1;
#define PART(number, NAME, field, type, layout, doc)                                                                   \
    case 1ull << number:                                                                                               \
        return #field;
#define TAIL(number, NAME, field, meaning, doc)                                                                        \
    case 1ull << number:                                                                                               \
        return #field;
#include "schema/sample.def"
    default:
        return NULL;
    }
}

/* ---- values ---- */

static const struct {
    const char *which;
    uint64_t value;
    const char *name;
    const char *constant;
} enums[] = {
#define ENUMS(which, doc)
#define ENUM(which, value, NAME, name) {#which, value, name, #NAME},
#define END_ENUMS(which)
#include "schema/enums.def"
};

const char *perfile_enum_name(const char *which, uint64_t value)
{
    for (size_t i = 0; i < PF_COUNT(enums); i++)
        if (enums[i].value == value && strcmp(enums[i].which, which) == 0)
            return enums[i].name;
    return NULL;
}

static const char *sample_constant(uint64_t bit)
{
    switch (bit) {
#undef WORD
#undef PAIR
#undef PART
#undef TAIL
#define WORD(number, NAME, field, meaning, doc)                                                                        \
    case 1ull << number:                                                                                               \
        return "SAMPLE_" #NAME;
#define PAIR(number, NAME, type1, field1, type2, field2, doc)                                                          \
    case 1ull << number:                                                                                               \
        return "SAMPLE_" #NAME;
#define PART(number, NAME, field, type, layout, doc)                                                                   \
    case 1ull << number:                                                                                               \
        return "SAMPLE_" #NAME;
#define TAIL(number, NAME, field, meaning, doc)                                                                        \
    case 1ull << number:                                                                                               \
        return "SAMPLE_" #NAME;
#include "schema/sample.def"
    default:
        return NULL;
    }
}

const char *perfile_enum_constant(const char *which, uint64_t value)
{
    if (strcmp(which, "sample_type") == 0)
        return sample_constant(value);
    for (size_t i = 0; i < PF_COUNT(enums); i++)
        if (enums[i].value == value && strcmp(enums[i].which, which) == 0)
            return enums[i].constant;
    return NULL;
}

bool pf_enum_value(const char *which, const char *name, size_t bytes, uint64_t *value)
{
    for (size_t i = 0; i < PF_COUNT(enums); i++)
        if (strlen(enums[i].name) == bytes && memcmp(enums[i].name, name, bytes) == 0 &&
            strcmp(enums[i].which, which) == 0) {
            *value = enums[i].value;
            return true;
        }
    return false;
}

/* ---- registers ---- */

const char *perfile_register_name(const char *arch, unsigned number)
{
    static const struct {
        const char *arch;
        const char *names[64];
    } machines[] = {
#define MACHINE(arch, ...) {arch, {__VA_ARGS__}},
#include "schema/registers.def"
    };
    for (size_t i = 0; i < PF_COUNT(machines); i++)
        if (strcmp(machines[i].arch, arch) == 0)
            return number < PF_COUNT(machines[i].names) ? machines[i].names[number] : NULL;
    return NULL;
}

/* ---- the library itself ---- */

const char *perfile_version(void)
{
    return PF_VERSION_TEXT;
}

uint32_t perfile_version_number(void)
{
    return PERFILE_VERSION;
}

const char *perfile_code_name(int code)
{
    static const char *const names[] = {"ok",     "argument", "memory",    "open",        "read",  "write",
                                        "format", "damaged",  "truncated", "compression", "limit", "unsupported",
                                        "absent", "event",    "stopped",   "again"};
    return code <= 0 && -code < (int)PF_COUNT(names) ? names[-code] : "unknown";
}
