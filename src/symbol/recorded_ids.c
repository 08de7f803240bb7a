/* SPDX-License-Identifier: MIT */
#include "symbol/recorded_ids.h"

#include "base/bytes.h"
#include "base/error.h"

int pf_recorded_ids_open(struct pf_named_ids *ids, struct perfile_reader *reader,
                         const struct perfile_allocator *allocator, struct perfile_error *error)
{
    const struct perfile_visitor visitor = {.size = sizeof(visitor), .context = ids, .value = pf_named_ids_take};
    pf_named_ids_open(ids, allocator);
    const int visited = perfile_feature_visit(reader, PERFILE_FEATURE_BUILD_ID, &visitor, error);
    return visited == PERFILE_ERROR_STOPPED || visited == PERFILE_ERROR_MEMORY ? pf_fail_memory(error, "build ids") : 0;
}

bool pf_is_kernel_map(const char *filename)
{
    return pf_starts_with(filename, "[kernel.kallsyms]") || pf_starts_with(filename, "[guest.kernel.kallsyms");
}

const char *pf_kernel_name(const char *filename)
{
    return pf_starts_with(filename, "[guest") ? "[guest.kernel.kallsyms]" : "[kernel.kallsyms]";
}
