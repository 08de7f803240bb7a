/* SPDX-License-Identifier: MIT */
/* Whether a recording has a header feature. */
#ifndef PF_BASE_FEATURE_H
#define PF_BASE_FEATURE_H

#include <perfile/perfile.h>

static inline bool pf_has_feature(const struct perfile_reader *reader, uint32_t number)
{
    const struct perfile_feature *feature;
    for (size_t i = 0; (feature = perfile_feature_get(reader, i)) != NULL; i++)
        if (feature->number == number)
            return true;
    return false;
}

#endif
