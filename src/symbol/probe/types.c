/* SPDX-License-Identifier: MIT */
#include <dwarf.h>
#include <string.h>

#include "base/bytes.h"
#include "symbol/probe/probe_parts.h"

const char *pf_probe_type_name(struct pf_probe_target *target, Dwarf_Die *die)
{
    struct pf_die_name name;
    Dwarf_Die type;
    if (!pf_die_type(die, false, &type))
        return pf_probe_text(target, "void");
    pf_die_name(&type, &name);
    return pf_probe_text(target, "%s%s%s", name.prefix, name.name, name.marks);
}

static bool is_signed(Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    Dwarf_Word encoding;
    return dwarf_tag(type) == DW_TAG_base_type && dwarf_attr(type, DW_AT_encoding, &attribute) &&
           dwarf_formudata(&attribute, &encoding) == 0 &&
           (encoding == DW_ATE_signed || encoding == DW_ATE_signed_char || encoding == DW_ATE_signed_fixed);
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
    struct pf_die_bits field;
    Dwarf_Die type;
    if (pf_die_bit_field(variable, &field))
        return pf_probe_text(target, "b%u@%u/%u", field.width, field.shift, field.container_bits);
    const int bytes = pf_die_type(variable, true, &type) ? pf_probe_type_bytes(target, &type) : 0;
    if (bytes < 1)
        return "";
    if (bytes > 8)
        pf_probe_note(target, "%s has more than 64 bits: the first 64 are recorded",
                      dwarf_diename(variable) ? dwarf_diename(variable) : "an argument");
    return pf_probe_text(target, "%c%u", is_signed(&type) ? 's' : 'x', fitting_bits(bytes));
}
