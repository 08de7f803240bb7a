/* SPDX-License-Identifier: MIT */
/* The files that tables of debug info are made of. They are closed before the first look-up. */
#include "base/elf_names.h"
#include "base/error.h"
#include "base/shared_allocator.h"
#include "symbol/dwarf/debug_module.h"
#include "symbol/dwarf/inlines_units.h"

struct reading {
    const struct pf_inlines_request *request;
    struct pf_inlines_builder builder;
    struct pf_inlines_files made_of;
    struct pf_debug_module module;
};

/* ---- files ---------------------------------------------------------------------------------------------------- */

/* Where code lies: what is elsewhere was thrown away by the linker. */
static void claim_code(struct reading *r)
{
    const struct pf_elf *elf = &r->module.file.elf;
    for (size_t i = 1; i < elf->section_count; i++) {
        const struct pf_elf_section *section = &elf->sections[i];
        struct pf_claim code = {.low = section->header.sh_addr};
        if (section->header.sh_flags & SHF_EXECINSTR && pf_add(code.low, section->header.sh_size, &code.high))
            pf_builder_claim(&r->builder, &r->builder.code, &code);
    }
    pf_builder_sort_code(&r->builder);
}

static void read_units(struct reading *r)
{
    const struct pf_line_sections sections = pf_debug_line_sections(&r->module.file.debug);
    struct pf_units units = {
        .request = r->request, .module = &r->module, .debug = &r->module.file.debug, .sections = &sections};
    pf_units_read(&units, &r->builder);
    r->builder.failed = r->builder.failed || pf_debug_module_failed(&r->module);
}

static int read_module(struct reading *r, struct perfile_error *error)
{
    const char *path = r->request->path;
    struct pf_debug_module *module = &r->module;
    const struct pf_debug_opening opening = {.allocator = r->builder.allocator, .threads = r->request->threads};
    const int result = pf_debug_module_open(module, path, r->request->alternate_path, &opening, error);
    if (result < 0)
        return result;
    if (module->file.elf.header.e_type == ET_REL)
        return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, path, "debug info of an unlinked file");
    r->builder.steps = 64 * module->file.elf.identity.bytes + (1 << 20);
    claim_code(r);
    r->made_of = (struct pf_inlines_files){.debug = module->file.elf.identity,
                                           .alternate = module->alternate.elf.identity,
                                           .package = module->package.elf.identity};
    read_units(r);
    return 0;
}

static void close_reading(struct reading *r)
{
    pf_debug_module_close(&r->module);
    pf_builder_close(&r->builder);
}

int pf_inlines_read(const struct pf_inlines_request *request, const struct perfile_allocator *allocator,
                    struct pf_inlines **inlines, struct perfile_error *error)
{
    struct pf_shared_allocator shared;
    struct reading r = {.request = request};
    *inlines = NULL;
    allocator = pf_allocator_or_default(allocator);
    pf_builder_open(&r.builder, pf_shared_allocator_open(&shared, allocator));
    r.builder.detailed = request->detailed;
    int result = read_module(&r, error);
    if (result == 0)
        result = pf_builder_finish(&r.builder, inlines, error);
    close_reading(&r);
    pf_shared_allocator_close(&shared);
    if (*inlines) {
        (*inlines)->allocator = allocator;
        (*inlines)->files = r.made_of;
    }
    if (result == 0 && pf_memory_was_short(allocator)) { /* something is missing: the tables must not be kept */
        pf_inlines_close(*inlines);
        *inlines = NULL;
        result = pf_fail_memory(error, request->path);
    }
    return result;
}

int pf_inlines_open(const char *path, const char *alternate_path, const struct perfile_allocator *allocator,
                    struct pf_inlines **inlines, struct perfile_error *error)
{
    const struct pf_inlines_request request = {.path = path, .alternate_path = alternate_path};
    return pf_inlines_read(&request, allocator, inlines, error);
}
