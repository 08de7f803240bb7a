/* SPDX-License-Identifier: MIT */
/* The layouts of header features. */
#ifndef PF_FORMAT_FEATURES_H
#define PF_FORMAT_FEATURES_H

#include "base/cursor.h"
#include "format/emit.h"

/* What the bitmap of a header can state; 0 means no feature. Records of streams can state any number. */
enum { PF_FEATURE_NUMBER_MAX = 255 };

static inline bool pf_feature_is_valid(uint64_t number)
{
    return number != 0 && number <= PF_FEATURE_NUMBER_MAX;
}

/* What a layout needs to know besides its own bytes. */
struct pf_feature_context {
    const struct perfile_allocator *allocator;
    bool big_endian; /* byte order of the recording */
    bool has_cpu_count;
    uint32_t cpus_available; /* NRCPUS, which CPU_TOPOLOGY counts on */
};

/*
 * Visits the feature's body as one value, object or list called `name`; the cursor stands at its start and ends where
 * the layout ends (the caller decides about what is left). Returns 0, or DAMAGED with *error; what was shown until then
 * is closed properly.
 */
int pf_feature_emit(uint32_t number, const char *name, struct pf_cursor *c, const struct pf_feature_context *context,
                    struct pf_emit *e, struct perfile_error *error);

#endif
