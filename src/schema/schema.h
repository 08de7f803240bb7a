/* SPDX-License-Identifier: MIT */
/* The schema as tables: what a record type, feature or sample part is called and how it must look at least. */
#ifndef PF_SCHEMA_SCHEMA_H
#define PF_SCHEMA_SCHEMA_H

#include <perfile/perfile.h>

enum pf_record_class {
    PF_CLASS_KERNEL, /* ends with the sample_id trailer */
    PF_CLASS_USER,
    PF_CLASS_ANDROID, /* header with a 32-bit size */
};

struct pf_record_info {
    uint32_t number;
    const char *name;
    uint8_t record_class; /* enum pf_record_class */
    bool bare;            /* no fields of its own */
    uint16_t min_bytes;   /* with the header, without the trailer */
    const char *since;
    const char *doc;
};

/* NULL for an unknown type. */
const struct pf_record_info *pf_record_info(uint32_t type);

/* The value of an enum of the schema by its name; false when there is none. */
bool pf_enum_value(const char *which, const char *name, size_t bytes, uint64_t *value);

/* The version of perf that brought a header feature, "simpleperf", or NULL for an unknown number. */
const char *pf_feature_since(uint32_t number);

/* simpleperf's records put the upper half of a 32-bit size where others have misc. */
static inline bool pf_record_is_android(uint32_t type)
{
    return type >= 32768 && type < 33024;
}

#endif
