/* SPDX-License-Identifier: MIT */
#include <dwarf.h>
#include <string.h>

#include "base/bytes.h"
#include "symbol/probe/parts.h"

/* A type that refers to itself ends somewhere. */
enum { CHAIN_MAX = 64 };

static bool is_qualifier(int tag, bool through)
{
    return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type || tag == DW_TAG_restrict_type ||
           tag == DW_TAG_atomic_type || (through && tag == DW_TAG_typedef);
}

bool pf_probe_type(Dwarf_Die *die, bool through, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    Dwarf_Die at = *die;
    for (unsigned i = 0; i < CHAIN_MAX; i++) {
        if (!dwarf_attr_integrate(&at, DW_AT_type, &attribute) || !dwarf_formref_die(&attribute, type))
            return false;
        if (!is_qualifier(dwarf_tag(type), through))
            return true;
        at = *type;
    }
    return false;
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

/* From the variable inwards "*" and "[]" are collected, which follow the name of the innermost type. */
const char *pf_probe_type_name(struct pf_probe_target *target, Dwarf_Die *die)
{
    char marks[2 * CHAIN_MAX + 1];
    size_t first = sizeof(marks) - 1;
    Dwarf_Die at = *die, type;
    marks[first] = '\0';
    while (first > 2 && pf_probe_type(&at, false, &type)) {
        const int tag = dwarf_tag(&type);
        if (tag == DW_TAG_subroutine_type)
            return pf_probe_text(target, "(function_type)%s", marks + first);
        if (tag != DW_TAG_array_type && tag != DW_TAG_pointer_type) {
            const char *name = dwarf_diename(&type);
            return pf_probe_text(target, "%s%s%s", prefix_of(tag), name ? name : "", marks + first);
        }
        const size_t bytes = tag == DW_TAG_array_type ? 2 : 1;
        memcpy(marks + first - bytes, tag == DW_TAG_array_type ? "[]" : "*", bytes);
        first -= bytes;
        at = type;
    }
    return pf_probe_text(target, "void%s", marks + first);
}

static bool is_signed(Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    Dwarf_Word encoding;
    return dwarf_tag(type) == DW_TAG_base_type && dwarf_attr(type, DW_AT_encoding, &attribute) &&
           dwarf_formudata(&attribute, &encoding) == 0 &&
           (encoding == DW_ATE_signed || encoding == DW_ATE_signed_char || encoding == DW_ATE_signed_fixed);
}

static bool read_number(Dwarf_Die *die, unsigned name, Dwarf_Word *value)
{
    Dwarf_Attribute attribute;
    return dwarf_attr_integrate(die, name, &attribute) && dwarf_formudata(&attribute, value) == 0;
}

/* Until DWARF 4 the offset counts from the highest bit of a container at the member's own offset. */
bool pf_probe_bit_field(Dwarf_Die *member, struct pf_probe_bits *bits)
{
    Dwarf_Word width, offset, from_top;
    Dwarf_Die type;
    if (!read_number(member, DW_AT_bit_size, &width) || !pf_probe_type(member, true, &type))
        return false;
    const int bytes = dwarf_bytesize(&type);
    if (bytes < 1 || bytes > 8 || width < 1 || width > 8 * (unsigned)bytes)
        return false;
    *bits = (struct pf_probe_bits){.container_bits = 8 * (unsigned)bytes, .width = (unsigned)width};
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

bool pf_probe_member_offset(Dwarf_Die *member, int64_t *offset)
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

/* clang does not state the size of pointers. */
int pf_probe_type_bytes(const struct pf_probe_target *target, Dwarf_Die *type)
{
    const int bytes = dwarf_bytesize(type);
    return bytes < 0 && dwarf_tag(type) == DW_TAG_pointer_type ? (target->elf.is_64 ? 8 : 4) : bytes;
}

/* The sizes that the kernel has. */
static unsigned fitting_bits(int bytes)
{
    unsigned bits = 64;
    while (bits > 8 && bits / 8 > (unsigned)bytes)
        bits /= 2;
    return bits;
}

const char *pf_probe_kernel_type(struct pf_probe_target *target, Dwarf_Die *variable)
{
    struct pf_probe_bits field;
    Dwarf_Die type;
    if (pf_probe_bit_field(variable, &field))
        return pf_probe_text(target, "b%u@%u/%u", field.width, field.shift, field.container_bits);
    const int bytes = pf_probe_type(variable, true, &type) ? pf_probe_type_bytes(target, &type) : 0;
    if (bytes < 1)
        return "";
    if (bytes > 8)
        pf_probe_note(target, "%s has more than 64 bits: the first 64 are recorded",
                      dwarf_diename(variable) ? dwarf_diename(variable) : "an argument");
    return pf_probe_text(target, "%c%u", is_signed(&type) ? 's' : 'x', fitting_bits(bytes));
}
