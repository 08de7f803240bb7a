/* SPDX-License-Identifier: MIT */
#include "view/profiled.h"

#include <stdio.h>

int pf_profiled_open(struct pf_profiled *profiled, struct perfile_table *table, uint32_t flags,
                     struct perfile_error *error)
{
    const struct perfile_profile_options how = {.size = sizeof(how),
                                                .filter = table->options.filter,
                                                .symbols = &table->symbols,
                                                .flags = flags,
                                                .threads = table->options.threads,
                                                .progress = table->options.progress,
                                                .progress_context = table->options.progress_context,
                                                .keys = table->options.keys,
                                                .unmatched = table->options.unmatched,
                                                .unmatched_context = table->options.unmatched_context,
                                                .allocator = table->allocator};
    profiled->table = table;
    return perfile_profile_open(table->reader, &how, &profiled->profile, error);
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
    for (uint32_t i = 0; i < module->build_id_bytes; i++)
        snprintf(digits + 2 * i, sizeof(digits) - 2 * i, "%02x", module->build_id[i]);
    pf_set_text(vector, digits);
}
