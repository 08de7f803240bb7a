/* SPDX-License-Identifier: MIT */
#include "symbol/dwarf/debug_module.h"

#include "base/error.h"
#include "symbol/dwarf/names.h"

struct pf_debug_split {
    struct pf_debug_split *next;
    const struct pf_unit *skeleton;
    struct pf_unit *unit;
    struct pf_debug_file file; /* closed when the unit belongs to the package, of which it has a part */
    struct pf_debug part;
};

static bool has_debug_info(const struct pf_debug *debug)
{
    bool is_there = false;
    for (unsigned i = 0; i < PF_DEBUG_SECTIONS; i++)
        is_there = is_there || debug->sections[i].data;
    return is_there;
}

int pf_debug_module_open(struct pf_debug_module *module, const char *path, const char *alternate,
                         const struct perfile_allocator *allocator, struct perfile_error *error)
{
    *module = (struct pf_debug_module){.allocator = allocator, .path = path};
    const int result = pf_debug_file_open(&module->file, path, false, allocator, error);
    if (result < 0)
        return result;
    if (!has_debug_info(&module->file.debug))
        return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, path, "no debug info");
    if (alternate && pf_debug_file_open(&module->alternate, alternate, false, allocator, NULL) == 0)
        (void)pf_debug_file_use_alternate(&module->file, &module->alternate);
    pf_package_open(&module->package, path, allocator);
    return 0;
}

void pf_debug_module_close_splits(struct pf_debug_module *module)
{
    for (struct pf_debug_split *split = module->splits, *next; split; split = next) {
        next = split->next;
        module->failed = module->failed || split->file.debug.failed || split->part.failed;
        pf_debug_file_close(&split->file);
        pf_debug_close(&split->part);
        pf_free(module->allocator, split, sizeof(*split));
    }
    module->splits = NULL;
}

void pf_debug_module_close(struct pf_debug_module *module)
{
    pf_debug_module_close_splits(module);
    pf_debug_file_close(&module->package);
    pf_debug_file_close(&module->alternate);
    pf_debug_file_close(&module->file);
}

/* From the file that the skeleton names, or from the package; else the skeleton itself. */
static struct pf_unit *open_split(struct pf_debug_module *module, struct pf_unit *skeleton,
                                  struct pf_debug_split *split)
{
    struct pf_die top;
    struct pf_unit *unit =
        pf_unit_top(skeleton, &top) ? pf_split_unit(&split->file, module->path, &top, module->allocator) : NULL;
    if (!unit && module->package.index.data)
        unit = pf_package_unit(&module->package, skeleton, &split->part);
    return unit ? unit : skeleton;
}

struct pf_unit *pf_debug_module_unit(struct pf_debug_module *module, struct pf_unit *unit)
{
    struct pf_die top;
    if (!pf_unit_top(unit, &top) || unit->type != DW_UT_skeleton)
        return unit;
    for (const struct pf_debug_split *split = module->splits; split; split = split->next)
        if (split->skeleton == unit)
            return split->unit;
    struct pf_debug_split *made = pf_new(module->allocator, sizeof(*made));
    if (!made) {
        module->failed = true;
        return unit;
    }
    *made = (struct pf_debug_split){.next = module->splits, .skeleton = unit};
    made->unit = open_split(module, unit, made);
    module->splits = made;
    return made->unit;
}

bool pf_debug_module_failed(const struct pf_debug_module *module)
{
    bool failed =
        module->failed || module->file.debug.failed || module->alternate.debug.failed || module->package.debug.failed;
    for (const struct pf_debug_split *split = module->splits; split; split = split->next)
        failed = failed || split->file.debug.failed || split->part.failed;
    return failed;
}
