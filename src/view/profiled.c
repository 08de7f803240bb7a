/* SPDX-License-Identifier: MIT */
#include "view/profiled.h"

#include "analysis/profile/aggregate.h"
#include "base/text.h"
#include "view/ids.h"

int pf_profiled_open(struct pf_profiled *profiled, struct perfile_table *table, uint32_t flags,
                     struct perfile_error *error)
{
    const bool own_key = table->view->own_key && pf_profiled_is_by(table, table->view->own_key);
    const struct perfile_profile_options how = {.size = sizeof(how),
                                                .filter = table->options.filter,
                                                .symbols = &table->complete.symbols,
                                                .flags = flags,
                                                .threads = table->options.threads,
                                                .progress = table->options.progress,
                                                .progress_context = table->options.progress_context,
                                                .keys = own_key ? NULL : table->options.keys,
                                                .unmatched = table->options.unmatched,
                                                .unmatched_context = table->options.unmatched_context,
                                                .allocator = table->allocator};
    profiled->table = table;
    return profiled->frames_only ? pf_profile_open_frames(table->reader, &how, &profiled->profile, error)
                                 : perfile_profile_open(table->reader, &how, &profiled->profile, error);
}

bool pf_profiled_is_by(const struct perfile_table *table, const char *key)
{
    return table->options.keys && strcmp(table->options.keys, key) == 0;
}

uint64_t *pf_profiled_function_ids(const struct pf_profiled *profiled, size_t *count)
{
    const struct perfile_profile *profile = profiled->profile;
    *count = perfile_profile_function_count(profile);
    uint64_t *ids = pf_new(profiled->table->allocator, (*count + 1) * sizeof(*ids));
    for (size_t i = 0; ids && i < *count; i++) {
        struct perfile_profile_function function = PERFILE_PROFILE_FUNCTION_INIT;
        struct perfile_module module = PERFILE_MODULE_INIT;
        (void)!perfile_profile_function_at(profile, i, &function); /* it exists */
        const bool mapped = perfile_profile_module_at(profile, function.module, &module) == 0;
        ids[i] = pf_function_id_in(mapped ? &module : NULL, function.name, function.kind == PERFILE_FRAME_INLINED);
    }
    return ids;
}

void pf_profiled_close(struct pf_profiled *profiled)
{
    perfile_profile_close(profiled->profile);
}

void pf_profiled_losses(const void *state, struct perfile_losses *losses)
{
    const struct pf_profiled *profiled = state;
    losses->size = sizeof(*losses);
    (void)!perfile_profile_losses(profiled->profile, losses); /* the size is set */
}

void pf_profiled_put_build_id(struct pf_vector *vector, const struct perfile_module *module)
{
    char digits[2 * sizeof(module->build_id) + 1];
    if (!module->build_id_bytes) {
        pf_set_null(vector);
        return;
    }
    *pf_hex_bytes(digits, module->build_id, module->build_id_bytes) = '\0';
    pf_set_text(vector, digits);
}
