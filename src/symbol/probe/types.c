/* SPDX-License-Identifier: MIT */
#include "base/bytes.h"
#include "symbol/dwarf/names.h"
#include "symbol/probe/probe_parts.h"

const char *pf_probe_type_name(struct pf_probe_target *target, const struct pf_die *die)
{
    struct pf_die_name name;
    struct pf_die type;
    if (!pf_die_type(die, false, &type))
        return pf_probe_text(target, "void");
    pf_die_name(&type, &name);
    return pf_probe_text(target, "%s%s%s", name.prefix, name.name, name.marks);
}

static bool is_signed(const struct pf_die *type)
{
    uint64_t encoding;
    return pf_die_tag(type) == DW_TAG_base_type && pf_die_number(type, DW_AT_encoding, &encoding) &&
           (encoding == DW_ATE_signed || encoding == DW_ATE_signed_char || encoding == DW_ATE_signed_fixed);
}

/* clang does not state the size of pointers. */
int pf_probe_type_bytes(const struct pf_probe_target *target, const struct pf_die *type)
{
    uint64_t bytes;
    if (pf_die_number(type, DW_AT_byte_size, &bytes))
        return (int)pf_min(bytes, INT32_MAX);
    return pf_die_tag(type) == DW_TAG_pointer_type ? (target->elf.is_64 ? 8 : 4) : -1;
}

/* The sizes that the kernel has. */
static unsigned fitting_bits(int bytes)
{
    unsigned bits = 64;
    while (bits > 8 && bits / 8 > (unsigned)bytes)
        bits /= 2;
    return bits;
}

const char *pf_probe_kernel_type(struct pf_probe_target *target, const struct pf_die *variable)
{
    struct pf_die_bits field;
    struct pf_die type;
    if (pf_die_bit_field(variable, &field))
        return pf_probe_text(target, "b%u@%u/%u", field.width, field.shift, field.container_bits);
    const int bytes = pf_die_type(variable, true, &type) ? pf_probe_type_bytes(target, &type) : 0;
    const char *name = pf_die_text(variable, DW_AT_name);
    if (bytes < 1)
        return "";
    if (bytes > 8)
        pf_probe_note(target, "%s has more than 64 bits: the first 64 are recorded", name ? name : "an argument");
    return pf_probe_text(target, "%c%u", is_signed(&type) ? 's' : 'x', fitting_bits(bytes));
}
