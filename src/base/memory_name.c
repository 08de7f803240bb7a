/* SPDX-License-Identifier: MIT */
#include "base/memory_name.h"

#include "base/bytes.h"

bool pf_is_memory_name(const char *name)
{
    static const char *const starts[] = {
        "//anon", "[anon:", "[anon_shmem:", "/memfd:", "/anon_hugepage", "/dev/zero",
    };
    for (size_t i = 0; i < PF_COUNT(starts); i++)
        if (pf_starts_with(name, starts[i]))
            return true;
    return false;
}
