/* SPDX-License-Identifier: MIT */
#include "symbol/dwarf/locations.h"

#include "symbol/dwarf/names.h"

/* ---- lists ------------------------------------------------------------------------------------------------------ */

static void open_list(struct pf_die_ranges *ranges, const struct pf_debug *debug, unsigned section, uint64_t offset)
{
    const struct pf_section *data = &debug->sections[section];
    ranges->c = pf_cursor_make(data->data, data->bytes, 0, debug->swap);
    pf_cursor_take(&ranges->c, offset);
}

/* By a number in the table of offsets, or by the offset itself. */
static bool offset_of(const struct pf_attribute *attribute, unsigned section, uint64_t base, uint64_t *offset)
{
    const struct pf_unit *unit = attribute->unit;
    uint64_t index;
    if (!pf_attribute_index(attribute, &index))
        return pf_attribute_number(attribute, offset);
    return pf_debug_number(unit->debug, section, base, index, unit->offset_bytes, offset) &&
           pf_add(*offset, base, offset);
}

static struct pf_die_ranges list_of(const struct pf_unit *unit)
{
    return (struct pf_die_ranges){.unit = unit, .steps = &unit->debug->steps_left, .base = unit->low};
}

/* Before DWARF 5 those of split units are in the main file. */
struct pf_die_ranges pf_attribute_ranges(const struct pf_attribute *attribute)
{
    const struct pf_unit *unit = attribute->unit;
    struct pf_die_ranges ranges = list_of(unit);
    uint64_t offset;
    ranges.is_old = unit->version < 5;
    if (!offset_of(attribute, PF_DEBUG_RNGLISTS, unit->ranges_base, &offset))
        ranges.failed = ranges.is_done = true;
    else if (!ranges.is_old)
        open_list(&ranges, unit->debug, PF_DEBUG_RNGLISTS, offset);
    else if (unit->skeleton)
        open_list(&ranges, unit->skeleton->debug, PF_DEBUG_RANGES, offset + unit->ranges_base);
    else
        open_list(&ranges, unit->debug, PF_DEBUG_RANGES, offset);
    return ranges;
}

struct pf_die_ranges pf_attribute_locations(const struct pf_attribute *attribute)
{
    const struct pf_unit *unit = attribute->unit;
    struct pf_die_ranges ranges = list_of(unit);
    uint64_t offset;
    ranges.is_location = true;
    ranges.is_old = unit->version < 5 && !unit->debug->is_split;
    ranges.has_only = pf_attribute_block(attribute, &ranges.only.expression);
    if (ranges.has_only)
        ranges.only.high = UINT64_MAX;
    else if (offset_of(attribute, PF_DEBUG_LOCLISTS, unit->locations_base, &offset))
        open_list(&ranges, unit->debug, unit->version < 5 ? PF_DEBUG_LOC : PF_DEBUG_LOCLISTS, offset);
    else
        ranges.failed = ranges.is_done = true;
    return ranges;
}

/* Since DWARF 4 DW_AT_high_pc may be a length. */
struct pf_die_ranges pf_die_ranges(const struct pf_die *die)
{
    struct pf_die_ranges ranges = list_of(die->unit);
    struct pf_attributes attributes = pf_die_attributes(die);
    struct pf_attribute attribute, low = {.name = 0}, high = low, list = low;
    uint64_t bytes;
    ranges.is_done = true;
    while (pf_next_attribute(&attributes, &attribute))
        if (attribute.name == DW_AT_low_pc)
            low = attribute;
        else if (attribute.name == DW_AT_high_pc)
            high = attribute;
        else if (attribute.name == DW_AT_ranges)
            list = attribute;
    if (!low.name || !high.name)
        return list.name ? pf_attribute_ranges(&list) : ranges;
    ranges.has_only = pf_attribute_address(&low, &ranges.only.low);
    if (ranges.has_only && !pf_attribute_address(&high, &ranges.only.high))
        ranges.only.high = ranges.only.low + (pf_attribute_number(&high, &bytes) ? bytes : 0);
    ranges.is_done = !ranges.has_only;
    return ranges;
}

/* Before DWARF 5: pairs that end with zeros. */
static bool take_pair(struct pf_die_ranges *ranges, struct pf_die_range *range)
{
    const unsigned bytes = ranges->unit->address_bytes;
    const uint64_t mask = bytes == 4 ? UINT32_MAX : UINT64_MAX;
    for (;;) {
        const uint64_t low = pf_debug_take(&ranges->c, bytes), high = pf_debug_take(&ranges->c, bytes);
        if (ranges->c.failed || (!low && !high))
            return false;
        range->low = (ranges->base + low) & mask;
        range->high = (ranges->base + high) & mask;
        if (low != mask)
            return true;
        ranges->base = high;
    }
}

static uint64_t take_indexed(struct pf_die_ranges *ranges)
{
    uint64_t address = 0;
    ranges->failed |= !pf_unit_address(ranges->unit, pf_cursor_leb(&ranges->c, false), &address);
    return address;
}

static uint64_t take_plain(struct pf_die_ranges *ranges)
{
    return pf_debug_take(&ranges->c, ranges->unit->address_bytes);
}

/* Ranges have the kinds of locations, but for the default one. GNU's in split units are the first of them. */
static unsigned take_kind(struct pf_die_ranges *ranges)
{
    const unsigned kind = pf_cursor_u8(&ranges->c);
    if (!ranges->is_location)
        return kind < DW_LLE_default_location ? kind : kind + 1;
    return ranges->unit->version < 5 && kind > DW_LLE_startx_length ? UINT8_MAX : kind;
}

static uint64_t take_length(struct pf_die_ranges *ranges)
{
    return ranges->unit->version < 5 ? pf_cursor_u32(&ranges->c) : pf_cursor_leb(&ranges->c, false);
}

/* The addresses of an entry of this kind; false: it has none, or is damaged. */
static bool take_addresses(struct pf_die_ranges *ranges, unsigned kind, struct pf_die_range *range)
{
    switch (kind) {
    case DW_LLE_startx_endx:
        range->low = take_indexed(ranges);
        range->high = take_indexed(ranges);
        return true;
    case DW_LLE_startx_length:
        range->low = take_indexed(ranges);
        range->high = range->low + take_length(ranges);
        return true;
    case DW_LLE_offset_pair:
        range->low = ranges->base + pf_cursor_leb(&ranges->c, false);
        range->high = ranges->base + pf_cursor_leb(&ranges->c, false);
        return true;
    case DW_LLE_default_location:
        range->high = UINT64_MAX;
        return true;
    case DW_LLE_start_end:
        range->low = take_plain(ranges);
        range->high = take_plain(ranges);
        return true;
    case DW_LLE_start_length:
        range->low = take_plain(ranges);
        range->high = range->low + pf_cursor_leb(&ranges->c, false);
        return true;
    default:
        return false;
    }
}

/* An entry that has no addresses changes how the next ones are read. */
static void take_base(struct pf_die_ranges *ranges, unsigned kind)
{
    switch (kind) {
    case DW_LLE_base_addressx:
        ranges->base = take_indexed(ranges);
        break;
    case DW_LLE_base_address:
        ranges->base = take_plain(ranges);
        break;
    case DW_LLE_GNU_view_pair: /* which of several states at an address is meant */
        (void)pf_cursor_leb(&ranges->c, false);
        (void)pf_cursor_leb(&ranges->c, false);
        break;
    default:
        ranges->failed = true;
        break;
    }
}

static bool take_entry(struct pf_die_ranges *ranges, struct pf_die_range *range)
{
    while (!ranges->failed && !ranges->c.failed) {
        const unsigned kind = take_kind(ranges);
        if (kind == DW_LLE_end_of_list)
            return false;
        if (take_addresses(ranges, kind, range))
            return true;
        take_base(ranges, kind);
    }
    return false;
}

static void take_expression(struct pf_die_ranges *ranges, struct pf_section *expression)
{
    const uint64_t bytes = ranges->unit->version < 5 ? pf_cursor_u16(&ranges->c) : pf_cursor_leb(&ranges->c, false);
    *expression = (struct pf_section){pf_cursor_take(&ranges->c, bytes), (size_t)bytes};
}

bool pf_die_next_range(struct pf_die_ranges *ranges, struct pf_die_range *range)
{
    *range = ranges->only;
    if (ranges->is_done || !pf_take_step(ranges->steps))
        return false;
    ranges->is_done = ranges->has_only;
    if (ranges->has_only)
        return true;
    const bool is_there = ranges->is_old ? take_pair(ranges, range) : take_entry(ranges, range);
    if (is_there && ranges->is_location)
        take_expression(ranges, &range->expression);
    ranges->failed = ranges->failed || ranges->c.failed;
    ranges->is_done = !is_there || ranges->failed;
    return !ranges->is_done;
}

/* ---- expressions ------------------------------------------------------------------------------------------------ */

enum operand { NONE, U8, S8, U16, S16, U32, S32, U64, ULEB, SLEB, ADDRESS, REFERENCE, BLOCK, SHORT_BLOCK };
#define BOTH(a, b) ((a) | (b) << 4)

/* Operations that are not here have no operands, up to the last of the standard. */
static const uint8_t operands[UINT8_MAX + 1] = {
    [DW_OP_addr] = ADDRESS,
    [DW_OP_const1u] = U8,
    [DW_OP_const1s] = S8,
    [DW_OP_const2u] = U16,
    [DW_OP_const2s] = S16,
    [DW_OP_const4u] = U32,
    [DW_OP_const4s] = S32,
    [DW_OP_const8u] = U64,
    [DW_OP_const8s] = U64,
    [DW_OP_constu] = ULEB,
    [DW_OP_consts] = SLEB,
    [DW_OP_pick] = U8,
    [DW_OP_plus_uconst] = ULEB,
    [DW_OP_bra] = S16,
    [DW_OP_skip] = S16,
    [DW_OP_regx] = ULEB,
    [DW_OP_fbreg] = SLEB,
    [DW_OP_bregx] = BOTH(ULEB, SLEB),
    [DW_OP_piece] = ULEB,
    [DW_OP_deref_size] = U8,
    [DW_OP_xderef_size] = U8,
    [DW_OP_call2] = U16,
    [DW_OP_call4] = U32,
    [DW_OP_call_ref] = REFERENCE,
    [DW_OP_bit_piece] = BOTH(ULEB, ULEB),
    [DW_OP_implicit_value] = BLOCK,
    [DW_OP_implicit_pointer] = BOTH(REFERENCE, SLEB),
    [DW_OP_addrx] = ULEB,
    [DW_OP_constx] = ULEB,
    [DW_OP_entry_value] = BLOCK,
    [DW_OP_const_type] = BOTH(ULEB, SHORT_BLOCK),
    [DW_OP_regval_type] = BOTH(ULEB, ULEB),
    [DW_OP_deref_type] = BOTH(U8, ULEB),
    [DW_OP_xderef_type] = BOTH(U8, ULEB),
    [DW_OP_convert] = ULEB,
    [DW_OP_reinterpret] = ULEB,
    [DW_OP_GNU_implicit_pointer] = BOTH(REFERENCE, SLEB),
    [DW_OP_GNU_entry_value] = BLOCK,
    [DW_OP_GNU_const_type] = BOTH(ULEB, SHORT_BLOCK),
    [DW_OP_GNU_regval_type] = BOTH(ULEB, ULEB),
    [DW_OP_GNU_deref_type] = BOTH(U8, ULEB),
    [DW_OP_GNU_convert] = ULEB,
    [DW_OP_GNU_reinterpret] = ULEB,
    [DW_OP_GNU_parameter_ref] = U32,
    [DW_OP_GNU_addr_index] = ULEB,
    [DW_OP_GNU_const_index] = ULEB,
    [DW_OP_GNU_variable_value] = REFERENCE,
};

static uint64_t take_block(struct pf_cursor *c, uint64_t bytes)
{
    pf_cursor_take(c, bytes);
    return bytes;
}

static uint64_t take_operand(struct pf_operations *e, unsigned operand)
{
    switch (operand) {
    case U8:
        return pf_cursor_u8(&e->c);
    case S8:
        return (uint64_t)(int8_t)pf_cursor_u8(&e->c);
    case U16:
        return pf_cursor_u16(&e->c);
    case S16:
        return (uint64_t)(int16_t)pf_cursor_u16(&e->c);
    case U32:
        return pf_cursor_u32(&e->c);
    case S32:
        return (uint64_t)(int32_t)pf_cursor_u32(&e->c);
    case U64:
        return pf_cursor_u64(&e->c);
    case ULEB:
    case SLEB:
        return pf_cursor_leb(&e->c, operand == SLEB);
    case ADDRESS:
        return pf_debug_take(&e->c, e->unit->address_bytes);
    case REFERENCE: /* DWARF 2 has them as long as addresses */
        return pf_debug_take(&e->c, e->unit->version < 3 ? e->unit->address_bytes : e->unit->offset_bytes);
    case BLOCK:
        return take_block(&e->c, pf_cursor_leb(&e->c, false));
    case SHORT_BLOCK:
        return take_block(&e->c, pf_cursor_u8(&e->c));
    default:
        return 0;
    }
}

static bool is_operation(unsigned code)
{
    return code <= DW_OP_reinterpret || operands[code] || code == DW_OP_GNU_push_tls_address ||
           code == DW_OP_GNU_uninit;
}

struct pf_operations pf_operations_of(const struct pf_unit *unit, struct pf_section expression)
{
    return (struct pf_operations){unit, pf_cursor_make(expression.data, expression.bytes, 0, unit->debug->swap)};
}

bool pf_next_operation(struct pf_operations *operations, struct pf_operation *operation)
{
    if (operations->c.failed || !pf_cursor_left(&operations->c))
        return false;
    *operation = (struct pf_operation){.code = pf_cursor_u8(&operations->c)};
    operation->numbers[0] = take_operand(operations, operands[operation->code] & 0xf);
    operation->numbers[1] = take_operand(operations, operands[operation->code] >> 4);
    if (operation->code >= DW_OP_breg0 && operation->code <= DW_OP_breg31)
        operation->numbers[0] = pf_cursor_leb(&operations->c, true);
    if (!is_operation(operation->code))
        pf_cursor_fail(&operations->c, 0);
    return !operations->c.failed;
}

bool pf_only_operation(const struct pf_unit *unit, struct pf_section expression, struct pf_operation *operation)
{
    struct pf_operations operations = pf_operations_of(unit, expression);
    return pf_next_operation(&operations, operation) && !pf_cursor_left(&operations.c);
}

bool pf_operation_address(const struct pf_unit *unit, const struct pf_operation *operation, uint64_t *address)
{
    *address = operation->numbers[0];
    return operation->code == DW_OP_addr ||
           ((operation->code == DW_OP_addrx || operation->code == DW_OP_GNU_addr_index) &&
            pf_unit_address(unit, operation->numbers[0], address));
}

bool pf_operation_register(const struct pf_operation *operation, uint64_t *number)
{
    const bool is_short = operation->code >= DW_OP_reg0 && operation->code <= DW_OP_reg31;
    *number = is_short ? (uint64_t)operation->code - DW_OP_reg0 : operation->numbers[0];
    return is_short || operation->code == DW_OP_regx;
}

bool pf_operation_based(const struct pf_operation *operation, uint64_t *number, int64_t *offset)
{
    const bool is_short = operation->code >= DW_OP_breg0 && operation->code <= DW_OP_breg31;
    *number = is_short ? (uint64_t)operation->code - DW_OP_breg0 : operation->numbers[0];
    *offset = (int64_t)operation->numbers[is_short ? 0 : 1];
    return is_short || operation->code == DW_OP_bregx;
}
