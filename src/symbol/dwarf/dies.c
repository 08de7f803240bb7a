/* SPDX-License-Identifier: MIT */
#include "symbol/dwarf/dies.h"

#include <string.h>

#include "base/bytes.h"
#include "symbol/dwarf/locations.h"
#include "symbol/dwarf/names.h"

static bool is_qualifier(uint32_t tag, bool through)
{
    return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type || tag == DW_TAG_restrict_type ||
           tag == DW_TAG_atomic_type || (through && tag == DW_TAG_typedef);
}

/* The complete type that is in a unit of its own, if the entry only declares it. */
static void complete(struct pf_die *type)
{
    struct pf_attribute signature;
    struct pf_die definition;
    if (pf_die_attribute(type, DW_AT_signature, &signature) && pf_attribute_die(&signature, &definition))
        *type = definition;
}

bool pf_die_unqualified(const struct pf_die *die, bool through, struct pf_die *type)
{
    struct pf_attribute attribute;
    *type = *die;
    for (unsigned i = 0; i < PF_DIE_CHAIN_MAX && is_qualifier(pf_die_tag(type), through); i++)
        if (!pf_die_integrated(type, DW_AT_type, &attribute) || !pf_attribute_die(&attribute, type))
            return false;
    complete(type);
    return !is_qualifier(pf_die_tag(type), through);
}

bool pf_die_type(const struct pf_die *die, bool through, struct pf_die *type)
{
    struct pf_attribute attribute;
    struct pf_die first;
    return pf_die_integrated(die, DW_AT_type, &attribute) && pf_attribute_die(&attribute, &first) &&
           pf_die_unqualified(&first, through, type);
}

static const char *prefix_of(uint32_t tag)
{
    static const struct {
        uint32_t tag;
        const char *prefix;
    } prefixes[] = {
        {DW_TAG_structure_type, "struct "}, {DW_TAG_union_type, "union "}, {DW_TAG_enumeration_type, "enum "}};
    for (size_t i = 0; i < PF_COUNT(prefixes); i++)
        if (prefixes[i].tag == tag)
            return prefixes[i].prefix;
    return "";
}

static const char *mark_of(uint32_t tag)
{
    static const struct {
        uint32_t tag;
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
void pf_die_name(const struct pf_die *type, struct pf_die_name *name)
{
    struct pf_die at, inner = *type;
    size_t first = sizeof(name->text) - 1;
    bool is_known;
    *name = (struct pf_die_name){.prefix = "", .name = "void"};
    do {
        at = inner;
        const char *mark = mark_of(pf_die_tag(&at));
        if (!mark) {
            const char *text = pf_die_text(&at, DW_AT_name);
            const bool is_function = pf_die_tag(&at) == DW_TAG_subroutine_type;
            name->prefix = is_function ? "" : prefix_of(pf_die_tag(&at));
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

/* Until DWARF 4 the offset counts from the highest bit of a container at the member's own offset. */
bool pf_die_bit_field(const struct pf_die *member, struct pf_die_bits *bits)
{
    uint64_t width, offset, from_top, bytes;
    struct pf_die type;
    if (!pf_die_number(member, DW_AT_bit_size, &width) || !pf_die_type(member, true, &type) ||
        !pf_die_number(&type, DW_AT_byte_size, &bytes) || bytes < 1 || bytes > 8 || width < 1 || width > 8 * bytes)
        return false;
    *bits = (struct pf_die_bits){.container_bits = 8 * (unsigned)bytes, .width = (unsigned)width};
    if (pf_die_number(member, DW_AT_data_bit_offset, &offset)) {
        bits->container_offset = offset / bits->container_bits * bytes;
        bits->shift = (unsigned)(offset % bits->container_bits);
    } else if (pf_die_number(member, DW_AT_bit_offset, &from_top) && from_top <= bits->container_bits - width) {
        bits->shift = bits->container_bits - bits->width - (unsigned)from_top;
    } else {
        return false;
    }
    return bits->shift + bits->width <= bits->container_bits;
}

bool pf_die_member_offset(const struct pf_die *member, int64_t *offset)
{
    struct pf_attribute attribute;
    struct pf_section expression;
    struct pf_operation operation = {.code = 0};
    uint64_t value = 0;
    *offset = 0;
    if (!pf_die_integrated(member, DW_AT_data_member_location, &attribute))
        return true; /* of unions, and first members */
    if (!pf_attribute_number(&attribute, &value)) {
        if (!pf_attribute_block(&attribute, &expression) ||
            !pf_only_operation(attribute.unit, expression, &operation) || operation.code != DW_OP_plus_uconst)
            return false;
        value = operation.numbers[0];
    }
    *offset = (int64_t)value;
    return value <= INT32_MAX;
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

/* Whether the language counts elements from 1. */
static bool counts_from_one(struct pf_unit *unit)
{
    static const uint8_t languages[] = {DW_LANG_Ada83,     DW_LANG_Cobol74,  DW_LANG_Cobol85, DW_LANG_Fortran77,
                                        DW_LANG_Fortran90, DW_LANG_Pascal83, DW_LANG_Modula2, DW_LANG_Ada95,
                                        DW_LANG_Fortran95, DW_LANG_PLI,      DW_LANG_Modula3, DW_LANG_Julia,
                                        DW_LANG_Fortran03, DW_LANG_Fortran08};
    struct pf_die top;
    uint64_t language;
    return pf_unit_top(unit, &top) && pf_die_number(&top, DW_AT_language, &language) && language <= UINT8_MAX &&
           memchr(languages, (int)language, sizeof(languages));
}

/* A bound, which is signed unless its type says otherwise. */
static bool read_bound(const struct pf_die *subrange, uint32_t name, int64_t *bound)
{
    struct pf_attribute attribute;
    struct pf_die type;
    uint64_t encoding, value;
    const bool is_unsigned = pf_die_type(subrange, true, &type) && pf_die_number(&type, DW_AT_encoding, &encoding) &&
                             encoding != DW_ATE_signed && encoding != DW_ATE_signed_char;
    if (!pf_die_integrated(subrange, name, &attribute))
        return false;
    if (!is_unsigned)
        return pf_attribute_signed(&attribute, bound);
    if (!pf_attribute_number(&attribute, &value))
        return false;
    *bound = (int64_t)value;
    return true;
}

/* How many elements a dimension has; false: not known. */
static bool count_elements(const struct pf_die *subrange, uint64_t *count)
{
    int64_t upper, lower;
    if (pf_die_number(subrange, DW_AT_count, count))
        return true;
    if (!read_bound(subrange, DW_AT_upper_bound, &upper))
        return false;
    if (!read_bound(subrange, DW_AT_lower_bound, &lower))
        lower = counts_from_one(subrange->unit);
    *count = (uint64_t)upper - (uint64_t)lower + 1;
    return lower <= upper;
}

/* Bytes from one element of a dimension to the next, if they are stated. */
static bool read_stride(const struct pf_die *subrange, uint64_t *stride)
{
    if (pf_die_number(subrange, DW_AT_byte_stride, stride))
        return true;
    return pf_die_number(subrange, DW_AT_bit_stride, stride) && *stride % 8 == 0 && (*stride /= 8, true);
}

static bool array_bytes(const struct pf_die *array, uint64_t *bytes, unsigned depth);

static bool bytes_of(const struct pf_die *type, uint64_t *bytes, unsigned depth)
{
    struct pf_attribute attribute;
    if (pf_die_integrated(type, DW_AT_byte_size, &attribute))
        return pf_attribute_number(&attribute, bytes);
    *bytes = type->unit->address_bytes;
    if (pf_die_tag(type) == DW_TAG_array_type)
        return depth < PF_DIE_CHAIN_MAX && array_bytes(type, bytes, depth + 1);
    return mark_of(pf_die_tag(type)); /* clang does not state the size of pointers */
}

static bool array_bytes(const struct pf_die *array, uint64_t *bytes, unsigned depth)
{
    struct pf_die element, child;
    uint64_t count, stride;
    bool is_known = false;
    if (!pf_die_type(array, true, &element) || !bytes_of(&element, bytes, depth) || !pf_die_child(array, &child))
        return false;
    do {
        if (pf_die_tag(&child) != DW_TAG_subrange_type)
            continue;
        if (!count_elements(&child, &count))
            return false;
        is_known = pf_multiply(count, read_stride(&child, &stride) ? stride : *bytes, bytes);
    } while (pf_die_sibling(&child, &child));
    return is_known;
}

bool pf_die_bytes(const struct pf_die *type, uint64_t *bytes)
{
    struct pf_die real;
    return pf_die_unqualified(type, true, &real) && bytes_of(&real, bytes, 0);
}
