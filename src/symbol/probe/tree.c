/* SPDX-License-Identifier: MIT */
#include <dwarf.h>
#include <string.h>

#include "symbol/probe/probe_parts.h"

enum { DEPTH_MAX = 64 };

static bool walk(struct pf_probe_target *target, Dwarf_Die *top, pf_visit *visit, void *context, unsigned depth)
{
    Dwarf_Die die;
    if (depth > DEPTH_MAX || dwarf_child(top, &die) != 0)
        return false;
    do {
        if (!pf_probe_step(target))
            return false;
        const enum pf_walk next = visit(context, &die);
        if (next == PF_WALK_END || (next == PF_WALK_INTO && walk(target, &die, visit, context, depth + 1)))
            return true;
    } while (dwarf_siblingof(&die, &die) == 0);
    return false;
}

bool pf_probe_walk(struct pf_probe_target *target, Dwarf_Die *top, pf_visit *visit, void *context)
{
    return walk(target, top, visit, context, 0);
}

int pf_probe_units(struct pf_probe_target *target, int (*visit)(void *context, Dwarf_Die *unit), void *context)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die top, split;
    uint8_t type;
    int result = 0;
    while (result == 0 && pf_probe_step(target) &&
           dwarf_get_units(target->debug.dwarf, unit, &unit, NULL, &type, &top, &split) == 0) {
        Dwarf_Die *die = split.addr ? &split : &top;
        if (split.addr)
            dwarf_new_oom_handler(dwarf_cu_getdwarf(split.cu), pf_dwarf_leave);
        if (dwarf_tag(die) == DW_TAG_compile_unit)
            result = visit(context, die);
    }
    return result;
}

/* ---- functions ------------------------------------------------------------------------------------------------- */

struct at {
    Dwarf_Addr address;
    int tag;
    Dwarf_Die *found;
};

static enum pf_walk look_at_function(void *context, Dwarf_Die *die)
{
    const struct at *at = context;
    const int tag = dwarf_tag(die);
    if (tag == at->tag && dwarf_haspc(die, at->address) > 0) {
        *at->found = *die;
        return PF_WALK_END;
    }
    const bool has_own_code = tag == DW_TAG_lexical_block || tag == DW_TAG_subprogram;
    return tag == DW_TAG_namespace || tag == DW_TAG_module || (has_own_code && dwarf_haspc(die, at->address) > 0)
               ? PF_WALK_INTO
               : PF_WALK_SKIP;
}

bool pf_probe_function_at(struct pf_probe_target *target, Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die *function)
{
    struct at at = {address, DW_TAG_subprogram, function};
    return pf_probe_walk(target, unit, look_at_function, &at);
}

bool pf_probe_inlined_at(struct pf_probe_target *target, Dwarf_Die *function, Dwarf_Addr address, Dwarf_Die *inlined)
{
    struct at at = {address, DW_TAG_inlined_subroutine, inlined};
    return pf_probe_walk(target, function, look_at_function, &at);
}

bool pf_probe_entry(Dwarf_Die *die, Dwarf_Addr *address)
{
    Dwarf_Addr base, end;
    if (dwarf_entrypc(die, address) == 0)
        return true;
    return dwarf_hasattr(die, DW_AT_ranges) && dwarf_ranges(die, 0, &base, address, &end) > 0;
}

struct unit_at {
    struct pf_probe_target *target;
    Dwarf_Addr address;
    Dwarf_Die *unit, *function;
};

static int look_at_unit(void *context, Dwarf_Die *unit)
{
    const struct unit_at *at = context;
    *at->unit = *unit;
    return pf_probe_function_at(at->target, unit, at->address, at->function);
}

bool pf_probe_unit_at(struct pf_probe_target *target, Dwarf_Addr address, Dwarf_Die *unit, Dwarf_Die *function)
{
    struct unit_at at = {target, address, unit, function};
    return pf_probe_units(target, look_at_unit, &at) > 0;
}

/* Some versions of dwarf_decl_file know no file 0, which is the unit's own in DWARF 5. */
const char *pf_probe_decl_file(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Die unit;
    Dwarf_Word index;
    Dwarf_Files *files;
    size_t count;
    if (!dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) || dwarf_formudata(&attribute, &index) != 0 ||
        !dwarf_cu_die(attribute.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) ||
        dwarf_getsrcfiles(&unit, &files, &count) != 0)
        return NULL;
    return dwarf_filesrc(files, index, NULL, NULL);
}

bool pf_probe_is_file(const char *path, const char *wanted)
{
    const size_t all = path ? strlen(path) : 0, bytes = strlen(wanted);
    if (all < bytes || strcmp(path + all - bytes, wanted) != 0)
        return false;
    return all == bytes || path[all - bytes - 1] == '/' || wanted[0] == '/';
}
