/* SPDX-License-Identifier: MIT */
#include "output/feature_json.h"

#include <stdio.h>

#include "base/error.h"

int pf_json_features(struct perfile_reader *reader, struct pf_json *json, const char *name,
                     bool (*wanted)(uint32_t number), struct perfile_error *error)
{
    const struct perfile_visitor visitor = pf_json_visitor(json);
    pf_json_begin(json, name, false);
    for (size_t i = 0; i < perfile_feature_count(reader); i++) {
        const struct perfile_feature *feature = perfile_feature_get(reader, i);
        struct perfile_error damage;
        if (wanted && !wanted(feature->number))
            continue;
        const int result = perfile_feature_visit(reader, feature->number, &visitor, &damage);
        if (result == PERFILE_ERROR_STOPPED || result == PERFILE_ERROR_MEMORY)
            return pf_fail(error, result, PERFILE_NO_OFFSET, "features", "%s", damage.message);
        if (result < 0) {
            char key[48];
            snprintf(key, sizeof(key), "%.30s error", feature->name ? feature->name : "unknown feature");
            pf_json_string(json, key, damage.message);
        }
    }
    pf_json_end(json, false);
    return 0;
}
