/* SPDX-License-Identifier: MIT */
#include "symbol/probe/dies_libdw.h"

#include <dwarf.h>
#include <string.h>

#include "base/bytes.h"

static bool is_qualifier(int tag, bool through)
{
    return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type || tag == DW_TAG_restrict_type ||
           tag == DW_TAG_atomic_type || (through && tag == DW_TAG_typedef);
}

bool pf_die_unqualified(Dwarf_Die *die, bool through, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    Dwarf_Die at = *die;
    for (unsigned i = 0; i < PF_DIE_CHAIN_MAX; i++) {
        *type = at;
        if (!is_qualifier(dwarf_tag(&at), through))
            return true;
        if (!dwarf_attr_integrate(type, DW_AT_type, &attribute) || !dwarf_formref_die(&attribute, &at))
            return false;
    }
    return false;
}

bool pf_die_type(Dwarf_Die *die, bool through, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    Dwarf_Die first;
    return dwarf_attr_integrate(die, DW_AT_type, &attribute) && dwarf_formref_die(&attribute, &first) &&
           pf_die_unqualified(&first, through, type);
}

static const char *prefix_of(int tag)
{
    static const struct {
        int tag;
        const char *prefix;
    } prefixes[] = {
        {DW_TAG_structure_type, "struct "}, {DW_TAG_union_type, "union "}, {DW_TAG_enumeration_type, "enum "}};
    for (size_t i = 0; i < PF_COUNT(prefixes); i++)
        if (prefixes[i].tag == tag)
            return prefixes[i].prefix;
    return "";
}

static const char *mark_of(int tag)
{
    static const struct {
        int tag;
        const char *mark;
    } marks[] = {{DW_TAG_pointer_type, "*"},
                 {DW_TAG_array_type, "[]"},
                 {DW_TAG_reference_type, "&"},
                 {DW_TAG_rvalue_reference_type, "&&"}};
    for (size_t i = 0; i < PF_COUNT(marks); i++)
        if (marks[i].tag == tag)
            return marks[i].mark;
    return NULL;
}

/* From the type inwards "*" and "[]" are collected, which follow the name of the innermost type. */
void pf_die_name(Dwarf_Die *type, struct pf_die_name *name)
{
    Dwarf_Die at, inner = *type;
    size_t first = sizeof(name->text) - 1;
    bool is_known;
    *name = (struct pf_die_name){.prefix = "", .name = "void"};
    do {
        at = inner;
        const char *mark = mark_of(dwarf_tag(&at));
        if (!mark) {
            const char *text = dwarf_diename(&at);
            const bool is_function = dwarf_tag(&at) == DW_TAG_subroutine_type;
            name->prefix = is_function ? "" : prefix_of(dwarf_tag(&at));
            name->name = is_function ? "(function_type)" : text ? text : "";
            break;
        }
        const size_t bytes = strlen(mark);
        memcpy(name->text + first - bytes, mark, bytes);
        first -= bytes;
        is_known = pf_die_type(&at, false, &inner);
    } while (is_known && first > 2);
    name->marks = name->text + first;
}

/* ---- members ----------------------------------------------------------------------------------------------------- */

static bool read_number(Dwarf_Die *die, unsigned name, Dwarf_Word *value)
{
    Dwarf_Attribute attribute;
    return dwarf_attr_integrate(die, name, &attribute) && dwarf_formudata(&attribute, value) == 0;
}

/* Until DWARF 4 the offset counts from the highest bit of a container at the member's own offset. */
bool pf_die_bit_field(Dwarf_Die *member, struct pf_die_bits *bits)
{
    Dwarf_Word width, offset, from_top;
    Dwarf_Die type;
    if (!read_number(member, DW_AT_bit_size, &width) || !pf_die_type(member, true, &type))
        return false;
    const int bytes = dwarf_bytesize(&type);
    if (bytes < 1 || bytes > 8 || width < 1 || width > 8 * (unsigned)bytes)
        return false;
    *bits = (struct pf_die_bits){.container_bits = 8 * (unsigned)bytes, .width = (unsigned)width};
    if (read_number(member, DW_AT_data_bit_offset, &offset)) {
        bits->container_offset = offset / bits->container_bits * (unsigned)bytes;
        bits->shift = (unsigned)(offset % bits->container_bits);
    } else if (read_number(member, DW_AT_bit_offset, &from_top) && from_top <= bits->container_bits - width) {
        bits->shift = bits->container_bits - bits->width - (unsigned)from_top;
    } else {
        return false;
    }
    return bits->shift + bits->width <= bits->container_bits;
}

bool pf_die_member_offset(Dwarf_Die *member, int64_t *offset)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    Dwarf_Op *ops;
    size_t count;
    *offset = 0;
    if (!dwarf_attr_integrate(member, DW_AT_data_member_location, &attribute))
        return true; /* of unions, and first members */
    if (dwarf_formudata(&attribute, &value) != 0) {
        if (dwarf_getlocation(&attribute, &ops, &count) != 0 || count != 1 || ops[0].atom != DW_OP_plus_uconst)
            return false;
        value = ops[0].number;
    }
    *offset = (int64_t)value;
    return value <= INT32_MAX;
}
