/* SPDX-License-Identifier: MIT */
#include "analysis/pgo/code.h"

#include "base/error.h"

int pf_pgo_code_open(const char *path, const struct perfile_allocator *allocator, struct pf_pgo_code **code,
                     struct perfile_error *error)
{
    (void)path;
    (void)allocator;
    *code = NULL;
    return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, "code", "not yet");
}
