/* SPDX-License-Identifier: MIT */
#include "symbol/dwarf/debug_module.h"

#include "base/error.h"
#include "symbol/dwarf/names.h"

static bool has_debug_info(const struct pf_debug *debug)
{
    bool is_there = false;
    for (unsigned i = 0; i < PF_DEBUG_SECTIONS; i++)
        is_there = is_there || debug->sections[i].data;
    return is_there;
}

int pf_debug_module_open(struct pf_debug_module *module, const char *path, const char *alternate,
                         const struct pf_debug_opening *opening, struct perfile_error *error)
{
    *module = (struct pf_debug_module){.opening = *opening, .path = path};
    const int result = pf_debug_file_open(&module->file, path, false, opening, error);
    if (result < 0)
        return result;
    if (!has_debug_info(&module->file.debug))
        return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, path, "no debug info");
    if (alternate && pf_debug_file_open(&module->alternate, alternate, false, opening, NULL) == 0)
        (void)pf_debug_file_use_alternate(&module->file, &module->alternate);
    pf_package_open(&module->package, path, opening);
    return 0;
}

void pf_debug_module_close(struct pf_debug_module *module)
{
    for (struct pf_debug_split *split = module->splits, *next; split; split = next) {
        next = split->next;
        pf_debug_split_close(split);
        pf_free(module->opening.allocator, split, sizeof(*split));
    }
    module->splits = NULL;
    pf_debug_file_close(&module->package);
    pf_debug_file_close(&module->alternate);
    pf_debug_file_close(&module->file);
}

struct pf_unit *pf_debug_module_unit(struct pf_debug_module *module, struct pf_unit *unit)
{
    struct pf_die top;
    if (!pf_unit_top(unit, &top) || unit->type != DW_UT_skeleton)
        return unit;
    if (unit->split)
        return unit->split;
    struct pf_debug_split *made = pf_new(module->opening.allocator, sizeof(*made));
    if (!made) {
        module->failed = true;
        return unit;
    }
    if (!pf_debug_split_open(made, module, unit))
        made->unit = unit;
    made->next = module->splits;
    module->splits = made;
    unit->split = made->unit;
    return made->unit;
}

bool pf_debug_module_failed(const struct pf_debug_module *module)
{
    bool failed =
        module->failed || module->file.debug.failed || module->alternate.debug.failed || module->package.debug.failed;
    for (const struct pf_debug_split *split = module->splits; split; split = split->next)
        failed = failed || pf_debug_split_failed(split);
    return failed;
}

struct pf_unit *pf_debug_split_open(struct pf_debug_split *split, const struct pf_debug_module *module,
                                    struct pf_unit *skeleton)
{
    struct pf_die top;
    struct pf_debug_opening opening = module->opening;
    opening.threads = 1; /* the others have split units of their own */
    *split = (struct pf_debug_split){.unit = NULL};
    if (pf_unit_top(skeleton, &top))
        split->unit = pf_split_unit(&split->file, module->path, &top, &opening);
    if (!split->unit && module->package.index.data)
        split->unit = pf_package_unit(&module->package, skeleton, &split->part);
    return split->unit;
}

void pf_debug_split_close(struct pf_debug_split *split)
{
    pf_debug_file_close(&split->file);
    pf_debug_close(&split->part);
}

bool pf_debug_split_failed(const struct pf_debug_split *split)
{
    return split->file.debug.failed || split->part.failed;
}
