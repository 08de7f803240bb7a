/* SPDX-License-Identifier: MIT */
#include "symbol/dwarf/units.h"

#include <stdlib.h>

#include "base/cursor.h"
#include "base/sort.h"
#include "symbol/dwarf/names.h"

struct pf_abbreviation {
    uint64_t code;
    const uint8_t *specifications;
    uint32_t tag;
    uint32_t bytes; /* of an entry, its code apart; VARIABLE: they depend on the entry */
    uint16_t count; /* of its specifications */
    bool has_children, has_sibling;
};
#define VARIABLE UINT32_MAX

struct pf_abbreviations {
    struct pf_abbreviation *items;
    size_t count, capacity;
    bool is_dense; /* their codes are 1, 2, 3 ... */
};

/* ---- forms ------------------------------------------------------------------------------------------------------ */

/* Bytes that a value takes; those above OF_ADDRESS depend on the unit. */
enum { OF_ADDRESS = 32, OF_OFFSET, OF_REFERENCE, OF_ITSELF };
static const uint8_t form_bytes[] = {
    [DW_FORM_addr] = OF_ADDRESS,
    [DW_FORM_data1] = 1,
    [DW_FORM_data2] = 2,
    [DW_FORM_data4] = 4,
    [DW_FORM_data8] = 8,
    [DW_FORM_data16] = 16,
    [DW_FORM_flag] = 1,
    [DW_FORM_ref1] = 1,
    [DW_FORM_ref2] = 2,
    [DW_FORM_ref4] = 4,
    [DW_FORM_ref8] = 8,
    [DW_FORM_ref_sig8] = 8,
    [DW_FORM_ref_sup4] = 4,
    [DW_FORM_ref_sup8] = 8,
    [DW_FORM_strx1] = 1,
    [DW_FORM_strx2] = 2,
    [DW_FORM_strx3] = 3,
    [DW_FORM_strx4] = 4,
    [DW_FORM_addrx1] = 1,
    [DW_FORM_addrx2] = 2,
    [DW_FORM_addrx3] = 3,
    [DW_FORM_addrx4] = 4,
    [DW_FORM_strp] = OF_OFFSET,
    [DW_FORM_line_strp] = OF_OFFSET,
    [DW_FORM_strp_sup] = OF_OFFSET,
    [DW_FORM_sec_offset] = OF_OFFSET,
    [DW_FORM_ref_addr] = OF_REFERENCE,
    [DW_FORM_string] = OF_ITSELF,
    [DW_FORM_block] = OF_ITSELF,
    [DW_FORM_block1] = OF_ITSELF,
    [DW_FORM_block2] = OF_ITSELF,
    [DW_FORM_block4] = OF_ITSELF,
    [DW_FORM_exprloc] = OF_ITSELF,
    [DW_FORM_sdata] = OF_ITSELF,
    [DW_FORM_udata] = OF_ITSELF,
    [DW_FORM_ref_udata] = OF_ITSELF,
    [DW_FORM_strx] = OF_ITSELF,
    [DW_FORM_addrx] = OF_ITSELF,
    [DW_FORM_loclistx] = OF_ITSELF,
    [DW_FORM_rnglistx] = OF_ITSELF,
    [DW_FORM_indirect] = OF_ITSELF,
};

static unsigned bytes_of_kind(const struct pf_unit *unit, unsigned kind)
{
    switch (kind) {
    case OF_ADDRESS:
        return unit->address_bytes;
    case OF_OFFSET:
        return unit->offset_bytes;
    case OF_REFERENCE: /* DWARF 2 has them as long as addresses */
        return unit->version < 3 ? unit->address_bytes : unit->offset_bytes;
    default:
        return kind;
    }
}

/* False: the form is unknown, or its bytes depend on the value. */
static bool fixed_bytes(const struct pf_unit *unit, uint64_t form, unsigned *bytes)
{
    if (form == DW_FORM_GNU_ref_alt || form == DW_FORM_GNU_strp_alt) {
        *bytes = unit->offset_bytes;
        return true;
    }
    const unsigned kind = form < PF_COUNT(form_bytes) ? form_bytes[form] : 0;
    *bytes = bytes_of_kind(unit, kind);
    return (kind && kind != OF_ITSELF) || form == DW_FORM_flag_present || form == DW_FORM_implicit_const;
}

static struct pf_cursor cursor_of(const struct pf_unit *unit, const uint8_t *at)
{
    return pf_cursor_make(at, (size_t)(unit->end - at), 0, unit->debug->swap);
}

/* False: the form is not that of a block. */
static bool take_block_bytes(struct pf_cursor *c, uint64_t form, uint64_t *bytes)
{
    switch (form) {
    case DW_FORM_block1:
        *bytes = pf_cursor_u8(c);
        return true;
    case DW_FORM_block2:
        *bytes = pf_cursor_u16(c);
        return true;
    case DW_FORM_block4:
        *bytes = pf_cursor_u32(c);
        return true;
    case DW_FORM_block:
    case DW_FORM_exprloc:
        *bytes = pf_cursor_leb(c, false);
        return true;
    default:
        return false;
    }
}

static void take_itself(struct pf_cursor *c, uint64_t form)
{
    size_t length;
    uint64_t bytes;
    switch (form) {
    case DW_FORM_string:
        (void)pf_cursor_text(c, &length);
        break;
    case DW_FORM_sdata:
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index:
        (void)pf_cursor_leb(c, false);
        break;
    default:
        if (take_block_bytes(c, form, &bytes))
            pf_cursor_take(c, bytes);
        else
            pf_cursor_fail(c, 0);
        break;
    }
}

/* What follows the value; NULL when it does not end in the unit, or has an unknown form. */
static const uint8_t *after_value(const struct pf_unit *unit, uint64_t form, const uint8_t *at)
{
    unsigned bytes;
    if (PF_LIKELY(fixed_bytes(unit, form, &bytes)))
        return bytes <= (size_t)(unit->end - at) ? at + bytes : NULL;
    struct pf_cursor c = cursor_of(unit, at);
    take_itself(&c, form);
    return c.failed ? NULL : c.at;
}

/* ---- abbreviations ---------------------------------------------------------------------------------------------- */

/* A number that is nearly always one byte. */
static inline uint64_t take_leb(const uint8_t **at, const uint8_t *end)
{
    if (PF_LIKELY(*at < end && **at < 0x80))
        return *(*at)++;
    struct pf_cursor c = pf_cursor_make(*at, (size_t)(end - *at), 0, false);
    const uint64_t value = pf_cursor_leb(&c, false);
    *at = c.failed ? end : c.at;
    return value;
}

/* Skips the specifications, and adds up what the values take. */
static void take_specifications(const struct pf_unit *unit, struct pf_cursor *c, struct pf_abbreviation *abbreviation)
{
    enum { SPECIFICATIONS_MAX = 1024 }; /* each entry is read through all of them */
    uint64_t name, form;
    unsigned bytes, count = 0;
    abbreviation->specifications = c->at;
    abbreviation->bytes = 0;
    do {
        name = pf_cursor_leb(c, false);
        form = pf_cursor_leb(c, false);
        if (form == DW_FORM_implicit_const)
            (void)pf_cursor_leb(c, true);
        if (++count > SPECIFICATIONS_MAX)
            pf_cursor_fail(c, 0);
        abbreviation->count = (uint16_t)count;
        abbreviation->has_sibling |= name == DW_AT_sibling;
        if (abbreviation->bytes < 1 << 20 && fixed_bytes(unit, form, &bytes))
            abbreviation->bytes += bytes;
        else if (name || form)
            abbreviation->bytes = VARIABLE;
    } while (!c->failed && (name || form));
}

static bool take_abbreviation(const struct pf_unit *unit, struct pf_cursor *c, struct pf_abbreviation *abbreviation)
{
    *abbreviation = (struct pf_abbreviation){.code = pf_cursor_leb(c, false)};
    if (!abbreviation->code)
        return false;
    abbreviation->tag = (uint32_t)pf_cursor_leb(c, false);
    abbreviation->has_children = pf_cursor_u8(c) == DW_CHILDREN_yes;
    take_specifications(unit, c, abbreviation);
    return !c->failed;
}

static int compare_codes(const void *a, const void *b)
{
    const struct pf_abbreviation *x = a, *y = b;
    if (x->code != y->code)
        return x->code < y->code ? -1 : 1;
    return x->specifications < y->specifications ? -1 : x->specifications > y->specifications;
}

static bool fill_set(const struct pf_unit *unit, struct pf_abbreviations *set)
{
    struct pf_debug *debug = unit->debug;
    const struct pf_section *section = &debug->sections[PF_DEBUG_ABBREV];
    struct pf_cursor c = pf_cursor_make(section->data, section->bytes, 0, debug->swap);
    struct pf_abbreviation next;
    pf_cursor_take(&c, unit->abbreviation_offset);
    set->is_dense = true;
    while (debug->abbreviations_left && take_abbreviation(unit, &c, &next)) {
        debug->abbreviations_left--;
        set->is_dense = set->is_dense && next.code == set->count + 1;
        if (!PF_APPEND(debug->allocator, set->items, set->count, set->capacity, next))
            return false;
    }
    if (!set->is_dense)
        qsort(set->items, set->count, sizeof(*set->items), compare_codes);
    return true;
}

static void close_set(struct pf_debug *debug, struct pf_abbreviations *set)
{
    pf_free(debug->allocator, set->items, set->capacity * sizeof(*set->items));
    pf_free(debug->allocator, set, sizeof(*set));
}

static const struct pf_abbreviations *read_set(const struct pf_unit *unit, uint64_t key)
{
    struct pf_debug *debug = unit->debug;
    struct pf_abbreviations *set = pf_new(debug->allocator, sizeof(*set));
    if (!set)
        return NULL;
    if (!fill_set(unit, set) || !pf_map_put(&debug->set_numbers, key, debug->set_count) ||
        !PF_APPEND(debug->allocator, debug->sets, debug->set_count, debug->set_capacity, set)) {
        close_set(debug, set);
        return NULL;
    }
    return set;
}

/* Those at one offset differ by the bytes of their values, too. */
static const struct pf_abbreviations *set_of(const struct pf_unit *unit)
{
    struct pf_debug *debug = unit->debug;
    const uint64_t key = unit->abbreviation_offset << 8 | (unsigned)unit->address_bytes << 2 |
                         (unsigned)(unit->offset_bytes == 8) << 1 | (unit->version < 3);
    uint64_t number;
    if (pf_map_get(&debug->set_numbers, key, &number) && number < debug->set_count)
        return debug->sets[number];
    const struct pf_abbreviations *set = read_set(unit, key);
    if (!set)
        debug->failed = true;
    return set;
}

static const struct pf_abbreviation *find_abbreviation(const struct pf_abbreviations *set, uint64_t code)
{
    if (PF_LIKELY(set->is_dense))
        return code - 1 < set->count ? &set->items[code - 1] : NULL;
    const size_t before = PF_COUNT_BEFORE(set->count, i, set->items[i].code < code);
    return before < set->count && set->items[before].code == code ? &set->items[before] : NULL;
}

/* ---- entries ---------------------------------------------------------------------------------------------------- */

static bool entry_at(struct pf_unit *unit, const uint8_t *at, struct pf_die *die)
{
    const uint8_t *attributes = at;
    if (at < unit->first || at >= unit->end)
        return false;
    const uint64_t code = take_leb(&attributes, unit->end);
    *die = (struct pf_die){unit, at, code ? find_abbreviation(unit->abbreviations, code) : NULL, attributes};
    return die->abbreviation;
}

/* Numbers of the top that others need. An address may be an index, which another attribute gives a base. */
static void take_bases(struct pf_unit *unit, const struct pf_die *top)
{
    struct pf_attributes attributes = pf_die_attributes(top);
    struct pf_attribute a, low = {.name = 0};
    while (pf_next_attribute(&attributes, &a)) {
        if (a.name == DW_AT_str_offsets_base)
            pf_attribute_number(&a, &unit->text_base);
        else if (a.name == DW_AT_addr_base || a.name == DW_AT_GNU_addr_base)
            pf_attribute_number(&a, &unit->address_base);
        else if (a.name == DW_AT_rnglists_base || a.name == DW_AT_GNU_ranges_base)
            pf_attribute_number(&a, &unit->ranges_base);
        else if (a.name == DW_AT_loclists_base)
            pf_attribute_number(&a, &unit->locations_base);
        else if (a.name == DW_AT_GNU_dwo_id && unit->version < 5)
            pf_attribute_number(&a, &unit->id);
        else if (a.name == DW_AT_low_pc)
            low = a;
        if (a.name == DW_AT_GNU_dwo_id && unit->version < 5 && top->abbreviation->tag == DW_TAG_compile_unit)
            unit->type = unit->debug->is_split ? DW_UT_split_compile : DW_UT_skeleton;
    }
    pf_attribute_address(&low, &unit->low);
}

/* Of split units the bases are those of the only table, after its header. */
static void prepare(struct pf_unit *unit)
{
    struct pf_die top;
    const bool has_tables = unit->version >= 5 && unit->debug->is_split;
    unit->is_prepared = true;
    unit->abbreviations = set_of(unit);
    unit->text_base = has_tables ? unit->offset_bytes == 8 ? 16 : 8 : 0;
    unit->ranges_base = unit->locations_base = has_tables ? unit->offset_bytes == 8 ? 20 : 12 : 0;
    if (unit->abbreviations && entry_at(unit, unit->first, &top))
        take_bases(unit, &top);
}

bool pf_die_at(struct pf_unit *unit, const uint8_t *at, struct pf_die *die)
{
    if (PF_UNLIKELY(!unit->is_prepared))
        prepare(unit);
    return unit->abbreviations && entry_at(unit, at, die);
}

bool pf_unit_top(struct pf_unit *unit, struct pf_die *die)
{
    return pf_die_at(unit, unit->first, die);
}

uint32_t pf_die_tag(const struct pf_die *die)
{
    return die->abbreviation->tag;
}

unsigned pf_die_steps(const struct pf_die *die)
{
    return 1 + die->abbreviation->count / 4u;
}

bool pf_die_has_children(const struct pf_die *die)
{
    return die->abbreviation->has_children;
}

struct pf_attributes pf_die_attributes(const struct pf_die *die)
{
    const struct pf_section *section = &die->unit->debug->sections[PF_DEBUG_ABBREV];
    return (struct pf_attributes){die->unit, die->abbreviation->specifications, section->data + section->bytes,
                                  die->attributes, false};
}

/* The form of a value may stand before the value itself. */
static void follow_indirect(struct pf_attributes *attributes, struct pf_attribute *attribute)
{
    for (unsigned i = 0; i < 4 && attribute->form == DW_FORM_indirect; i++)
        attribute->form = (uint32_t)take_leb(&attributes->at, attributes->unit->end);
    if (attribute->form == DW_FORM_implicit_const)
        attribute->form = 0;
}

static int64_t take_implicit(struct pf_attributes *attributes)
{
    struct pf_cursor c = pf_cursor_make(attributes->specification,
                                        (size_t)(attributes->specifications_end - attributes->specification), 0, false);
    const uint64_t value = pf_cursor_leb(&c, true);
    attributes->specification = c.at;
    return (int64_t)value;
}

bool pf_next_attribute(struct pf_attributes *attributes, struct pf_attribute *attribute)
{
    attribute->unit = attributes->unit;
    attribute->name = (uint32_t)take_leb(&attributes->specification, attributes->specifications_end);
    attribute->form = (uint32_t)take_leb(&attributes->specification, attributes->specifications_end);
    if (!attribute->name && !attribute->form)
        return false;
    if (PF_UNLIKELY(attribute->form == DW_FORM_implicit_const))
        attribute->implicit = take_implicit(attributes);
    else if (PF_UNLIKELY(attribute->form == DW_FORM_indirect))
        follow_indirect(attributes, attribute);
    attribute->at = attributes->at;
    const uint8_t *after = after_value(attributes->unit, attribute->form, attributes->at);
    attributes->failed = !after;
    attributes->at = after;
    return after;
}

const uint8_t *pf_die_end(const struct pf_die *die)
{
    const uint32_t bytes = die->abbreviation->bytes;
    if (bytes != VARIABLE)
        return bytes <= (size_t)(die->unit->end - die->attributes) ? die->attributes + bytes : NULL;
    struct pf_attributes attributes = pf_die_attributes(die);
    struct pf_attribute attribute;
    while (pf_next_attribute(&attributes, &attribute))
        continue;
    return attributes.failed ? NULL : attributes.at;
}

bool pf_die_attribute(const struct pf_die *die, uint32_t name, struct pf_attribute *attribute)
{
    struct pf_attributes attributes = pf_die_attributes(die);
    while (pf_next_attribute(&attributes, attribute))
        if (attribute->name == name)
            return true;
    attribute->name = 0;
    return false;
}

bool pf_die_integrated(const struct pf_die *die, uint32_t name, struct pf_attribute *attribute)
{
    enum { LONGEST_CHAIN = 16 };
    struct pf_die at = *die;
    unsigned steps = 0;
    for (unsigned i = 0; i < LONGEST_CHAIN && steps < PF_CHAIN_STEPS_MAX; i++, steps += pf_die_steps(&at)) {
        struct pf_attribute origin = {.name = 0}, specification = origin;
        struct pf_attributes attributes = pf_die_attributes(&at);
        while (pf_next_attribute(&attributes, attribute)) {
            if (attribute->name == name)
                return true;
            if (attribute->name == DW_AT_abstract_origin)
                origin = *attribute;
            else if (attribute->name == DW_AT_specification)
                specification = *attribute;
        }
        if (!pf_attribute_die(origin.name ? &origin : &specification, &at))
            break;
    }
    attribute->name = 0;
    return false;
}

bool pf_die_has(const struct pf_die *die, uint32_t name)
{
    struct pf_attribute attribute;
    return pf_die_attribute(die, name, &attribute);
}

const char *pf_die_text(const struct pf_die *die, uint32_t name)
{
    struct pf_attribute attribute;
    return pf_die_integrated(die, name, &attribute) ? pf_attribute_text(&attribute) : NULL;
}

bool pf_die_number(const struct pf_die *die, uint32_t name, uint64_t *number)
{
    struct pf_attribute attribute;
    return pf_die_integrated(die, name, &attribute) && pf_attribute_number(&attribute, number);
}

/* ---- the tree --------------------------------------------------------------------------------------------------- */

bool pf_die_child(const struct pf_die *die, struct pf_die *child)
{
    const uint8_t *at = pf_die_has_children(die) ? pf_die_end(die) : NULL;
    return at && entry_at(die->unit, at, child);
}

const uint8_t *pf_die_after_children(const struct pf_die *die)
{
    struct pf_attribute attribute;
    struct pf_die next;
    return die->abbreviation->has_sibling && pf_die_attribute(die, DW_AT_sibling, &attribute) &&
                   pf_attribute_die(&attribute, &next) && next.unit == die->unit && next.at > die->at
               ? next.at
               : NULL;
}

bool pf_die_sibling(const struct pf_die *die, struct pf_die *sibling)
{
    struct pf_unit *unit = die->unit;
    struct pf_die at = *die;
    for (uint64_t depth = 0;;) {
        const uint8_t *next = pf_die_has_children(&at) ? pf_die_after_children(&at) : NULL;
        depth += pf_die_has_children(&at) && !next;
        next = next ? next : pf_die_end(&at);
        for (; depth && next && next < unit->end && *next == 0; next++)
            depth--;
        if (!next || !pf_take_steps(&unit->debug->steps_left, pf_die_steps(&at)) ||
            !entry_at(unit, next, depth ? &at : sibling))
            return false;
        if (!depth)
            return true;
    }
}

/* ---- units ------------------------------------------------------------------------------------------------------ */

static bool has_id(const struct pf_unit *unit)
{
    return unit->type == DW_UT_skeleton || unit->type == DW_UT_split_compile || unit->type == DW_UT_type ||
           unit->type == DW_UT_split_type;
}

static void take_header(struct pf_cursor *c, struct pf_unit *unit, bool is_type)
{
    const bool is_5 = unit->version >= 5;
    unit->type = is_5 ? pf_cursor_u8(c) : is_type ? DW_UT_type : DW_UT_compile;
    if (is_5)
        unit->address_bytes = pf_cursor_u8(c);
    unit->abbreviation_offset = unit->offset_bytes == 8 ? pf_cursor_u64(c) : pf_cursor_u32(c);
    if (!is_5)
        unit->address_bytes = pf_cursor_u8(c);
    if (has_id(unit))
        unit->id = pf_cursor_u64(c);
    if (unit->type == DW_UT_type || unit->type == DW_UT_split_type)
        unit->type_offset = unit->offset_bytes == 8 ? pf_cursor_u64(c) : pf_cursor_u32(c);
}

/* False at the end of the section, or where it is damaged. */
static bool take_unit(struct pf_debug *debug, struct pf_cursor *c, bool is_type, struct pf_unit *unit)
{
    *unit = (struct pf_unit){.debug = debug, .start = c->at, .offset_bytes = 4};
    uint64_t bytes = pf_cursor_u32(c);
    if (bytes == UINT32_MAX) {
        bytes = pf_cursor_u64(c);
        unit->offset_bytes = 8;
    }
    struct pf_cursor inner = pf_cursor_make(c->at, pf_cursor_left(c), 0, debug->swap);
    if (c->failed || !bytes || !pf_cursor_take(c, bytes))
        return false;
    inner.end = unit->end = c->at;
    unit->version = (uint8_t)pf_min(pf_cursor_u16(&inner), UINT8_MAX);
    take_header(&inner, unit, is_type);
    unit->first = inner.at;
    return !inner.failed && unit->version >= 2 && unit->version <= 5 &&
           (unit->address_bytes == 4 || unit->address_bytes == 8);
}

static bool find_units(struct pf_debug *debug, const struct pf_section *section, bool is_type)
{
    struct pf_unit unit;
    struct pf_cursor c = pf_cursor_make(section->data, section->bytes, 0, debug->swap);
    while (pf_cursor_left(&c) && !(debug->is_part && debug->unit_count) && take_unit(debug, &c, is_type, &unit))
        if (!PF_APPEND(debug->allocator, debug->units, debug->unit_count, debug->unit_capacity, unit))
            return false;
    return true;
}

bool pf_debug_open(struct pf_debug *debug, const struct perfile_allocator *allocator)
{
    debug->allocator = allocator;
    debug->abbreviations_left = debug->sections[PF_DEBUG_ABBREV].bytes / 2;
    for (unsigned i = 0; i < PF_DEBUG_SECTIONS; i++)
        debug->steps_left += 64 * (uint64_t)debug->sections[i].bytes;
    for (size_t i = 0; i < debug->other_count; i++)
        debug->steps_left += 64 * (uint64_t)debug->others[i].section.bytes;
    pf_map_open(&debug->type_units, allocator);
    pf_map_open(&debug->set_numbers, allocator);
    bool done = find_units(debug, &debug->sections[PF_DEBUG_INFO], false);
    debug->info_count = debug->unit_count;
    done = done && find_units(debug, &debug->sections[PF_DEBUG_TYPES], true);
    for (size_t i = 0; i < debug->other_count && done; i++)
        done = find_units(debug, &debug->others[i].section, debug->others[i].is_types);
    debug->failed = !done;
    return done;
}

void pf_debug_close(struct pf_debug *debug)
{
    if (!debug->allocator)
        return;
    for (size_t i = 0; i < debug->set_count; i++)
        close_set(debug, debug->sets[i]);
    pf_free(debug->allocator, debug->sets, debug->set_capacity * sizeof(*debug->sets));
    pf_free(debug->allocator, debug->units, debug->unit_capacity * sizeof(*debug->units));
    pf_map_close(&debug->type_units);
    pf_map_close(&debug->set_numbers);
    *debug = (struct pf_debug){.allocator = NULL};
}

struct pf_line_sections pf_debug_line_sections(const struct pf_debug *debug)
{
    const struct pf_section *sections = debug->sections;
    return (struct pf_line_sections){.line = sections[PF_DEBUG_LINE],
                                     .line_str = sections[PF_DEBUG_LINE_STR],
                                     .str = sections[PF_DEBUG_STR],
                                     .alternate_str = debug->alternate ? debug->alternate->sections[PF_DEBUG_STR]
                                                                       : (struct pf_section){NULL, 0},
                                     .swap = debug->swap};
}

void pf_unit_attach(struct pf_unit *split, const struct pf_unit *skeleton)
{
    if (!split->is_prepared)
        prepare(split);
    split->skeleton = skeleton;
    split->address_base = skeleton->address_base;
    split->low = skeleton->low;
    if (split->version < 5)
        split->ranges_base = skeleton->ranges_base;
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

uint64_t pf_debug_take(struct pf_cursor *c, unsigned bytes)
{
    switch (bytes) {
    case 1:
        return pf_cursor_u8(c);
    case 2:
        return pf_cursor_u16(c);
    case 3: {
        const uint8_t *p = pf_cursor_take(c, 3);
        return !p                                ? 0
               : c->swap != PF_NATIVE_BIG_ENDIAN ? (uint64_t)p[0] << 16 | (uint64_t)p[1] << 8 | p[2]
                                                 : (uint64_t)p[2] << 16 | (uint64_t)p[1] << 8 | p[0];
    }
    case 4:
        return pf_cursor_u32(c);
    case 8:
        return pf_cursor_u64(c);
    default:
        pf_cursor_fail(c, bytes);
        return 0;
    }
}

/* The value of a form with a fixed number of bytes, or a LEB128 number. */
static bool raw_value(const struct pf_attribute *attribute, bool is_signed, uint64_t *value)
{
    unsigned bytes;
    struct pf_cursor c = cursor_of(attribute->unit, attribute->at);
    *value =
        fixed_bytes(attribute->unit, attribute->form, &bytes) ? pf_debug_take(&c, bytes) : pf_cursor_leb(&c, is_signed);
    return !c.failed;
}

bool pf_attribute_number(const struct pf_attribute *attribute, uint64_t *number)
{
    switch (attribute->name ? attribute->form : 0) {
    case DW_FORM_implicit_const:
        *number = (uint64_t)attribute->implicit;
        return true;
    case DW_FORM_data1:
    case DW_FORM_data2:
    case DW_FORM_data4:
    case DW_FORM_data8:
    case DW_FORM_sec_offset:
    case DW_FORM_udata:
        return raw_value(attribute, false, number);
    case DW_FORM_sdata:
        return raw_value(attribute, true, number);
    default:
        return false;
    }
}

bool pf_attribute_signed(const struct pf_attribute *attribute, int64_t *number)
{
    unsigned bytes = 8;
    uint64_t value;
    if (!pf_attribute_number(attribute, &value))
        return false;
    if (attribute->form == DW_FORM_data1 || attribute->form == DW_FORM_data2 || attribute->form == DW_FORM_data4)
        (void)fixed_bytes(attribute->unit, attribute->form, &bytes);
    const unsigned unused = 64 - 8 * bytes;
    *number = (int64_t)(value << unused) >> unused;
    return true;
}

bool pf_attribute_block(const struct pf_attribute *attribute, struct pf_section *block)
{
    struct pf_cursor c = cursor_of(attribute->unit, attribute->at);
    uint64_t bytes;
    if (!attribute->name || !take_block_bytes(&c, attribute->form, &bytes))
        return false;
    *block = (struct pf_section){pf_cursor_take(&c, bytes), (size_t)bytes};
    return !c.failed;
}

bool pf_attribute_index(const struct pf_attribute *attribute, uint64_t *index)
{
    return attribute->name && (attribute->form == DW_FORM_rnglistx || attribute->form == DW_FORM_loclistx) &&
           raw_value(attribute, false, index);
}

bool pf_debug_number(const struct pf_debug *debug, unsigned section, uint64_t base, uint64_t index, unsigned bytes,
                     uint64_t *number)
{
    uint64_t offset;
    struct pf_cursor c = pf_cursor_make(debug->sections[section].data, debug->sections[section].bytes, 0, debug->swap);
    if (!pf_multiply(index, bytes, &offset) || !pf_add(offset, base, &offset))
        return false;
    pf_cursor_take(&c, offset);
    *number = pf_debug_take(&c, bytes);
    return !c.failed;
}

bool pf_unit_address(const struct pf_unit *unit, uint64_t index, uint64_t *address)
{
    const struct pf_debug *debug = unit->skeleton ? unit->skeleton->debug : unit->debug;
    return pf_debug_number(debug, PF_DEBUG_ADDR, unit->address_base, index, unit->address_bytes, address);
}

bool pf_attribute_address(const struct pf_attribute *attribute, uint64_t *address)
{
    uint64_t index;
    switch (attribute->name ? attribute->form : 0) {
    case DW_FORM_addr:
        return raw_value(attribute, false, address);
    case DW_FORM_addrx:
    case DW_FORM_addrx1:
    case DW_FORM_addrx2:
    case DW_FORM_addrx3:
    case DW_FORM_addrx4:
    case DW_FORM_GNU_addr_index:
        return raw_value(attribute, false, &index) && pf_unit_address(attribute->unit, index, address);
    default:
        return false;
    }
}

static const char *text_at(const struct pf_debug *debug, unsigned section, uint64_t offset)
{
    return debug ? pf_section_text(&debug->sections[section], offset) : NULL;
}

static const char *text_number(const struct pf_unit *unit, uint64_t index)
{
    uint64_t offset;
    return pf_debug_number(unit->debug, PF_DEBUG_STR_OFFSETS, unit->text_base, index, unit->offset_bytes, &offset)
               ? text_at(unit->debug, PF_DEBUG_STR, offset)
               : NULL;
}

const char *pf_attribute_text(const struct pf_attribute *attribute)
{
    const struct pf_debug *debug = attribute->name ? attribute->unit->debug : NULL;
    uint64_t value = 0;
    if (!debug)
        return NULL;
    if (attribute->form == DW_FORM_string)
        return (const char *)attribute->at; /* its NUL was found when it was skipped */
    if (!raw_value(attribute, false, &value))
        return NULL;
    switch (attribute->form) {
    case DW_FORM_strp:
        return text_at(debug, PF_DEBUG_STR, value);
    case DW_FORM_line_strp:
        return text_at(debug, PF_DEBUG_LINE_STR, value);
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_strp_alt:
        return text_at(debug->alternate, PF_DEBUG_STR, value);
    case DW_FORM_strx:
    case DW_FORM_strx1:
    case DW_FORM_strx2:
    case DW_FORM_strx3:
    case DW_FORM_strx4:
    case DW_FORM_GNU_str_index:
        return text_number(attribute->unit, value);
    default:
        return NULL;
    }
}

/* ---- references ------------------------------------------------------------------------------------------------- */

static bool die_at_offset(struct pf_unit *unit, uint64_t offset, struct pf_die *die)
{
    return offset < (size_t)(unit->end - unit->start) && pf_die_at(unit, unit->start + offset, die);
}

static bool die_of_section(struct pf_debug *debug, uint64_t offset, struct pf_die *die)
{
    if (!debug || offset >= debug->sections[PF_DEBUG_INFO].bytes)
        return false;
    const uint8_t *at = debug->sections[PF_DEBUG_INFO].data + offset;
    const size_t before = PF_COUNT_BEFORE(debug->info_count, i, debug->units[i].end <= at);
    return before < debug->info_count && pf_die_at(&debug->units[before], at, die);
}

static void find_type_units(struct pf_debug *debug)
{
    for (size_t i = 0; i < debug->unit_count; i++) {
        const uint8_t type = debug->units[i].type;
        if ((type == DW_UT_type || type == DW_UT_split_type) && !pf_map_put(&debug->type_units, debug->units[i].id, i))
            debug->failed = true;
    }
    debug->has_type_units = true;
}

void pf_debug_prepare(struct pf_debug *debug)
{
    for (size_t i = 0; i < debug->unit_count; i++)
        if (!debug->units[i].is_prepared)
            prepare(&debug->units[i]);
    if (!debug->has_type_units)
        find_type_units(debug);
}

static bool die_of_type(struct pf_debug *debug, uint64_t id, struct pf_die *die)
{
    uint64_t number;
    if (!debug->has_type_units)
        find_type_units(debug);
    struct pf_unit *unit = pf_map_get(&debug->type_units, id, &number) ? &debug->units[number]
                           : debug->find_type                          ? debug->find_type(debug->types, id)
                                                                       : NULL;
    return unit && die_at_offset(unit, unit->type_offset, die);
}

bool pf_attribute_die(const struct pf_attribute *attribute, struct pf_die *die)
{
    struct pf_unit *unit = attribute->unit;
    uint64_t value;
    if (!attribute->name || !raw_value(attribute, false, &value))
        return false;
    switch (attribute->form) {
    case DW_FORM_ref1:
    case DW_FORM_ref2:
    case DW_FORM_ref4:
    case DW_FORM_ref8:
    case DW_FORM_ref_udata:
        return die_at_offset(unit, value, die);
    case DW_FORM_ref_addr:
        return die_of_section(unit->debug, value, die);
    case DW_FORM_ref_sup4:
    case DW_FORM_ref_sup8:
    case DW_FORM_GNU_ref_alt:
        return die_of_section(unit->debug->alternate, value, die);
    case DW_FORM_ref_sig8:
        return die_of_type(unit->debug, value, die);
    default:
        return false;
    }
}
