/* SPDX-License-Identifier: MIT */
#include "output/pgo/source.h"

#include "base/error.h"
#include "symbol/elf_file.h"

bool pf_pgo_has_probes(const struct pf_pgo_writing *writing)
{
    struct pf_elf elf;
    if (pf_elf_open(&elf, writing->profile->path, writing->allocator, NULL) < 0)
        return false;
    const bool found = pf_elf_section(&elf, ".pseudo_probe_desc");
    pf_elf_close(&elf);
    return found;
}

int pf_pgo_fail_no_debug_info(const struct pf_pgo_profile *profile, struct perfile_error *error)
{
    return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, "profile",
                   "empty because %s has no debug info for the code that ran: build it with -g",
                   profile->debug_path ? profile->debug_path : profile->path);
}

static int read_lines(const struct pf_pgo_writing *writing, const struct pf_pgo_lines_request *request,
                      struct pf_pgo_lines *lines, struct perfile_error *error)
{
    const int result = pf_pgo_lines_open(request, writing->counts, writing->allocator, lines, error);
    if (result == PERFILE_ERROR_ABSENT)
        return pf_pgo_fail_no_debug_info(writing->profile, error);
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
