/* SPDX-License-Identifier: MIT */
/* Types and their members, each made when it is first asked for. */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "symbol/dwarf/names.h"
#include "symbol/dwarf/types_parts.h"

const struct pf_type pf_type_stack_operation = {.name = "(stack operation)"};
const struct pf_type pf_type_stack_canary = {.name = "(stack canary)", .bytes = sizeof(uint64_t)};

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

static uint8_t kind_of(uint32_t tag)
{
    static const struct {
        uint32_t tag;
        uint8_t kind;
    } kinds[] = {{DW_TAG_base_type, PF_TYPE_VALUE},
                 {DW_TAG_enumeration_type, PF_TYPE_VALUE},
                 {DW_TAG_pointer_type, PF_TYPE_POINTER},
                 {DW_TAG_reference_type, PF_TYPE_POINTER},
                 {DW_TAG_rvalue_reference_type, PF_TYPE_POINTER},
                 {DW_TAG_ptr_to_member_type, PF_TYPE_VALUE},
                 {DW_TAG_unspecified_type, PF_TYPE_OTHER},
                 {DW_TAG_array_type, PF_TYPE_ARRAY},
                 {DW_TAG_structure_type, PF_TYPE_RECORD},
                 {DW_TAG_class_type, PF_TYPE_RECORD},
                 {DW_TAG_union_type, PF_TYPE_RECORD}};
    for (size_t i = 0; i < PF_COUNT(kinds); i++)
        if (kinds[i].tag == tag)
            return kinds[i].kind;
    return PF_TYPE_OTHER;
}

static const struct pf_type_node *node_of(struct pf_types *types, const struct pf_die *named)
{
    uint64_t known;
    struct pf_die real;
    if (pf_map_get(&types->nodes, (uintptr_t)named->at, &known))
        return (const struct pf_type_node *)(uintptr_t)known;
    if (!pf_die_unqualified(named, true, &real))
        return NULL;
    const uint8_t kind = kind_of(pf_die_tag(&real));
    struct pf_type_node made = {
        .named = *named, .real = real, .public = {.name = "", .kind = kind, .is_described = true}};
    if (kind == PF_TYPE_OTHER || !pf_die_bytes(&real, &made.public.bytes) || made.public.bytes > PF_TYPES_BYTES_MAX)
        made.public.bytes = 0;
    struct pf_type_node *node = pf_arena_new(&types->arena, sizeof(*node));
    if (!node || !pf_map_put(&types->nodes, (uintptr_t)named->at, (uintptr_t)node))
        return NULL;
    *node = made;
    return node;
}

const struct pf_type_node *pf_types_type_of(struct pf_types *types, const struct pf_die *die)
{
    struct pf_die type;
    return pf_die_type(die, false, &type) ? node_of(types, &type) : NULL;
}

const struct pf_type_node *pf_types_result_of(struct pf_types *types, const struct pf_types_unit *unit,
                                              uint64_t address)
{
    const struct pf_die *function = unit ? pf_types_function_in(unit, address) : NULL;
    return function ? pf_types_type_of(types, function) : NULL;
}

const struct pf_type_node *pf_types_target(struct pf_types *types, const struct pf_type_node *type)
{
    struct pf_type_node *node = (struct pf_type_node *)type;
    const bool has_one = type && (type->public.kind == PF_TYPE_POINTER || type->public.kind == PF_TYPE_ARRAY);
    if (!has_one)
        return NULL;
    if (!node->has_target) {
        node->has_target = true;
        node->target = pf_types_type_of(types, &node->real);
    }
    return node->target;
}

const struct pf_type *pf_types_named(struct pf_types *types, const struct pf_type_node *type)
{
    struct pf_type_node *node = (struct pf_type_node *)type;
    struct pf_die_name name;
    if (node->has_name)
        return &node->public;
    node->has_name = true;
    pf_die_name(&node->named, &name);
    const size_t bytes = strlen(name.prefix) + strlen(name.name) + strlen(name.marks);
    char *text = pf_arena_new(&types->arena, bytes + 1);
    if (text) {
        snprintf(text, bytes + 1, "%s%s%s", name.prefix, name.name, name.marks);
        node->public.name = text;
    }
    return &node->public;
}

/* ---- members ----------------------------------------------------------------------------------------------------- */

/* "flags:3" of a bit-field. NULL: out of memory. */
static const char *name_of(struct pf_types *types, const struct pf_die *die, const struct pf_die_bits *bits)
{
    const char *name = pf_die_text(die, DW_AT_name);
    if (!bits || !name)
        return name ? name : "";
    const size_t bytes = strlen(name) + sizeof(":65535");
    char *text = pf_arena_new(&types->arena, bytes);
    if (text)
        snprintf(text, bytes, "%s:%u", name, bits->width);
    return text;
}

/* False: what it describes is not in the structure, or its offset is not known. */
static bool read_member(struct pf_types *types, const struct pf_die *die, struct pf_type_member *member)
{
    struct pf_die_bits bits;
    int64_t offset;
    if (pf_die_has(die, DW_AT_external) || pf_die_has(die, DW_AT_declaration) || !pf_die_member_offset(die, &offset))
        return false;
    const struct pf_type_node *type = pf_types_type_of(types, die);
    if (!type)
        return false;
    const bool is_bits = pf_die_bit_field(die, &bits);
    *member = (struct pf_type_member){.name = name_of(types, die, is_bits ? &bits : NULL),
                                      .offset = (uint64_t)offset,
                                      .bytes = type->public.bytes,
                                      .type = &type->public};
    if (is_bits) {
        member->offset = (is_bits && offset ? (uint64_t)offset : bits.container_offset) + bits.shift / 8;
        member->bytes = (bits.shift % 8 + bits.width + 7) / 8;
    }
    return member->name;
}

struct reading_members {
    struct pf_types *types;
    struct pf_type_member *members;
    size_t count, capacity;
};

/* Members, base classes, and what variants of Rust's enumerations share the memory. */
static bool read_members(struct reading_members *r, const struct pf_die *of, unsigned depth)
{
    struct pf_type_member member;
    struct pf_die die;
    bool enough = true;
    if (depth == 4 || !pf_die_child(of, &die))
        return true;
    do {
        const uint32_t tag = pf_die_tag(&die);
        if (tag == DW_TAG_variant_part || tag == DW_TAG_variant)
            enough = read_members(r, &die, depth + 1);
        else if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) && read_member(r->types, &die, &member))
            enough = PF_APPEND(r->types->allocator, r->members, r->count, r->capacity, member);
    } while (enough && pf_die_sibling(&die, &die));
    return enough;
}

static const struct pf_type_node *read_all_members(struct pf_types *types, const struct pf_type *type)
{
    struct pf_type_node *node = (struct pf_type_node *)type; /* all types but those of the stack are nodes */
    struct reading_members r = {.types = types};
    if (node->has_members)
        return node;
    node->has_members = true;
    (void)read_members(&r, &node->real, 0);
    struct pf_type_member *members = r.count ? pf_arena_new(&types->arena, r.count * sizeof(*members)) : NULL;
    if (members) {
        memcpy(members, r.members, r.count * sizeof(*members));
        node->members = members;
        node->member_count = r.count;
    }
    pf_free(types->allocator, r.members, r.capacity * sizeof(*r.members));
    return node;
}

static size_t members_of(struct pf_types *types, const struct pf_type *type, const struct pf_type_member **members)
{
    if (type->kind != PF_TYPE_RECORD)
        return 0;
    const struct pf_type_node *node = read_all_members(types, type);
    *members = node->members;
    return node->member_count;
}

/* What is inside of more structures than PF_DIE_CHAIN_MAX counts as data. */
static bool is_empty_inside(struct pf_types *types, const struct pf_type *type, unsigned depth)
{
    struct pf_type_node *node = (struct pf_type_node *)type;
    const struct pf_type_member *members = NULL;
    if (type->kind != PF_TYPE_RECORD || type->bytes != 1 || node->has_content)
        return type->kind == PF_TYPE_RECORD && node->is_empty;
    if (depth == PF_DIE_CHAIN_MAX)
        return false;
    node->has_content = true;
    const size_t count = members_of(types, type, &members);
    bool is_one = true;
    for (size_t i = 0; i < count && is_one; i++)
        is_one = is_empty_inside(types, members[i].type, depth + 1);
    return node->is_empty = is_one;
}

/* Structures without data have one byte, which they share with what follows them: allocators and other base classes. */
static bool is_empty(struct pf_types *types, const struct pf_type *type)
{
    return is_empty_inside(types, type, 0);
}

/* The first one that holds the offset; one with data, if there is any. NULL: none holds it. */
static const struct pf_type_member *member_at(struct pf_types *types, const struct pf_type *type, uint64_t offset)
{
    const struct pf_type_member *members = NULL, *found = NULL;
    const size_t count = members_of(types, type, &members);
    for (size_t i = 0; i < count; i++) {
        const bool holds = members[i].offset <= offset && offset - members[i].offset < members[i].bytes;
        if (holds && !is_empty(types, members[i].type))
            return &members[i];
        found = holds && !found ? &members[i] : found;
    }
    return found;
}

const struct pf_type_node *pf_types_inner(struct pf_types *types, const struct pf_type_node *type, uint64_t *offset)
{
    for (unsigned depth = 0; depth < PF_DIE_CHAIN_MAX && type; depth++) {
        const struct pf_type_member *member = member_at(types, &type->public, *offset);
        const struct pf_type_node *element = type->public.kind == PF_TYPE_ARRAY ? pf_types_target(types, type) : NULL;
        if (member) {
            *offset -= member->offset;
            type = (const struct pf_type_node *)member->type;
        } else if (element && element->public.bytes) {
            *offset %= element->public.bytes;
            type = element;
        } else {
            break;
        }
    }
    return type;
}

const struct pf_type_node *pf_types_pointer(struct pf_types *types, const struct pf_type_node *type)
{
    uint64_t offset = 0;
    if (type->public.kind == PF_TYPE_RECORD && type->public.bytes == sizeof(uint64_t))
        type = pf_types_inner(types, type, &offset);
    return type && type->public.kind == PF_TYPE_POINTER ? type : NULL;
}

/* ---- for others -------------------------------------------------------------------------------------------------- */

bool pf_type_members(struct pf_types *types, const struct pf_type *type, const struct pf_type_member **members,
                     size_t *count)
{
    *members = NULL;
    *count = members_of(types, type, members);
    for (size_t i = 0; i < *count; i++)
        (void)pf_types_named(types, (const struct pf_type_node *)(*members)[i].type);
    return !pf_memory_was_short(types->allocator);
}

bool pf_type_path(struct pf_types *types, const struct pf_type *type, uint64_t offset, char *path, size_t capacity)
{
    const struct pf_type_member *member;
    size_t used = 0;
    path[0] = '\0';
    for (unsigned depth = 0; depth < PF_DIE_CHAIN_MAX && used < capacity; depth++) {
        if (!(member = member_at(types, type, offset)))
            break;
        if (member->name[0])
            used += (size_t)snprintf(path + used, capacity - used, "%s%s", used ? "." : "", member->name);
        offset -= member->offset;
        type = member->type;
    }
    return !pf_memory_was_short(types->allocator);
}
