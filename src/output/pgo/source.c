/* SPDX-License-Identifier: MIT */
#include "output/pgo/source.h"

#include "base/error.h"

static int read_lines(const struct pf_pgo_writing *writing, const struct pf_pgo_lines_request *request,
                      struct pf_pgo_lines *lines, struct perfile_error *error)
{
    const char *name = writing->profile->debug_path ? writing->profile->debug_path : writing->profile->path;
    const int result = pf_pgo_lines_open(request, writing->counts, writing->allocator, lines, error);
    if (result == PERFILE_ERROR_ABSENT)
        return pf_fail(error, result, PERFILE_NO_OFFSET, "profile",
                       "empty because %s has no debug info for the code that ran: build it with -g", name);
    if (result == 0 && !lines->function_count) {
        pf_pgo_lines_close(lines);
        return 1;
    }
    return result;
}

int pf_pgo_read_lines(struct pf_pgo_writing *writing, enum pf_pgo_discriminators discriminators,
                      struct pf_pgo_lines *lines, struct perfile_error *error)
{
    struct pf_pgo_code *code;
    int result = pf_pgo_code_open(writing->profile->path, writing->allocator, &code, error);
    if (result < 0)
        return result;
    const struct pf_pgo_lines_request request = {
        .profile = writing->profile, .code = code, .discriminators = discriminators};
    pf_pgo_count_functions(writing, code);
    result = pf_pgo_has_instructions(code)
                 ? read_lines(writing, &request, lines, error)
                 : pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, "profile",
                           "the instructions of this machine are not known; use the format autofdo or bolt");
    pf_pgo_code_close(code);
    return result;
}
