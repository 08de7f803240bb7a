/* SPDX-License-Identifier: MIT */
/* What a sample has, for all that show it: see fields.def. */
#ifndef PF_ANALYSIS_FIELDS_H
#define PF_ANALYSIS_FIELDS_H

#include <perfile/perfile.h>

#include "base/bytes.h"

/* One sentence each. */
#define PF_FIELD(id, ...) extern const char pf_field_doc_##id[];
#define PF_FIELD_SURE PF_FIELD
#define PF_FIELD_NUMBER PF_FIELD
#include "analysis/fields.def"

enum pf_field_needs {
#define PF_FIELD(id, alias, type, unit, needs, ...) PF_FIELD_NEEDS_##id = (needs),
#define PF_FIELD_SURE PF_FIELD
#define PF_FIELD_NUMBER PF_FIELD
#include "analysis/fields.def"
};

/* With WEIGHT_STRUCT the weight is three numbers, of 32, 16 and 16 bits; else it is the first one. */
static inline uint64_t pf_weight_part(const struct perfile_sample *sample, unsigned part)
{
    static const struct {
        unsigned shift;
        uint64_t mask;
    } parts[] = {{0, UINT32_MAX}, {32, UINT16_MAX}, {48, UINT16_MAX}};
    if (PF_LIKELY(!(sample->present & (PERFILE_SAMPLE_WEIGHT | PERFILE_SAMPLE_WEIGHT_STRUCT))))
        return 0;
    if (sample->present & PERFILE_SAMPLE_WEIGHT_STRUCT)
        return sample->weight >> parts[part].shift & parts[part].mask;
    return part ? 0 : sample->weight;
}

/* The values of those that are numbers; 0 where they were not recorded. */
#define PF_FIELD(...)
#define PF_FIELD_SURE(...)
#define PF_FIELD_NUMBER(id, alias, type, unit, needs, extra, value, doc)                                               \
    static inline uint64_t pf_field_##id(const struct perfile_sample *sample)                                          \
    {                                                                                                                  \
        return value;                                                                                                  \
    }
#include "analysis/fields.def"

#endif
