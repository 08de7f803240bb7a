/* SPDX-License-Identifier: MIT */
/* The arguments of probes: variables by DWARF, and what the kernel evaluates itself. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "symbol/dwarf/names.h"
#include "symbol/probe/probe_parts.h"
#include "symbol/unwind/cfi_rules.h"

struct reading {
    struct pf_probe_target *target;
    const struct pf_probe_definition *definition;
    struct pf_probe_site *site;
    const struct pf_probe_argument *argument;
    struct pf_text *text;
    struct pf_probe_frame frame;
    struct pf_probe_location location;
    struct pf_die die;  /* of the variable, and then of its members */
    const char *symbol; /* name of a variable at a fixed address */
};

static int fail_argument(const struct reading *r, const char *why)
{
    return pf_probe_fail(r->target, PERFILE_ERROR_UNSUPPORTED, "the argument %.80s of %.200s: %s",
                         r->argument->variable, r->definition->point.text, why);
}

/* ---- finding variables ------------------------------------------------------------------------------------------- */

struct search {
    struct reading *reading;
    const char *name;
    bool is_global;
    struct pf_die *found;
};

static bool is_variable(const struct pf_die *die)
{
    const uint32_t tag = pf_die_tag(die);
    return tag == DW_TAG_variable || tag == DW_TAG_formal_parameter;
}

static bool has_value(const struct pf_die *die)
{
    return pf_die_has(die, DW_AT_location) || pf_die_has(die, DW_AT_const_value);
}

static enum pf_walk look_for_name(void *context, const struct pf_die *die)
{
    const struct search *s = context;
    const char *name = is_variable(die) && has_value(die) ? pf_die_text(die, DW_AT_name) : NULL;
    if (name && strcmp(name, s->name) == 0) {
        *s->found = *die;
        return PF_WALK_END;
    }
    if (s->is_global)
        return pf_die_tag(die) == DW_TAG_namespace ? PF_WALK_INTO : PF_WALK_SKIP;
    return pf_probe_holds(s->reading->target, die, s->reading->site->address) ? PF_WALK_INTO : PF_WALK_SKIP;
}

/* In the function, then among the variables of its unit. */
static bool find_variable(struct reading *r, const char *name)
{
    struct search s = {r, name, false, &r->die};
    if (pf_probe_walk(r->target, &r->site->scope, look_for_name, &s))
        return true;
    s.is_global = true;
    return pf_probe_walk(r->target, &r->site->unit->top, look_for_name, &s);
}

/* ---- locations --------------------------------------------------------------------------------------------------- */

/* False: it has none at the address. */
static bool location_at(const struct reading *r, const struct pf_attribute *attribute, struct pf_section *expression)
{
    struct pf_die_ranges all = pf_attribute_locations(attribute);
    struct pf_die_range range;
    const bool is_list = !all.has_only;
    while (pf_die_next_range(&all, &range) && pf_probe_step(r->target)) {
        *expression = range.expression;
        if (r->site->address >= range.low && r->site->address < range.high)
            return is_list || expression->bytes;
    }
    return false;
}

/* The canonical frame address is a register and an offset, or an expression after the number of its bytes. */
static void use_call_frame(struct pf_probe_target *target, uint64_t address, struct pf_probe_frame *frame)
{
    if (!target->frames)
        (void)pf_cfi_open(target->path, target->found.debug_path, target->allocator, &target->frames, NULL);
    const struct pf_cfi_rule *rule = target->frames ? pf_cfi_find(target->frames, address) : NULL;
    *frame = (struct pf_probe_frame){.is_known = rule};
    if (rule && rule->cfa_slot == PF_UNWIND_NO_SLOT) {
        const uint8_t *kept = target->frames->pool + rule->cfa_value;
        frame->expression = (struct pf_section){kept + sizeof(uint32_t), pf_load32(kept, false)};
    } else if (rule) {
        frame->is_register = true;
        frame->number = rule->cfa_slot;
        frame->offset = rule->cfa_value;
    }
}

static void open_frame(struct reading *r)
{
    const struct pf_die *function = &r->site->function;
    struct pf_attribute attribute;
    struct pf_operation only;
    if (!pf_die_integrated(function, DW_AT_frame_base, &attribute) || !location_at(r, &attribute, &r->frame.expression))
        return;
    r->frame.is_known = true;
    if (pf_only_operation(function->unit, r->frame.expression, &only) && only.code == DW_OP_call_frame_cfa)
        use_call_frame(r->target, r->site->address, &r->frame);
}

static const char *locate_constant(struct reading *r, const struct pf_attribute *attribute)
{
    int64_t value;
    if (!pf_attribute_signed(attribute, &value))
        return "its constant value is not a number";
    r->location = (struct pf_probe_location){.base = pf_probe_text(r->target, "\\%" PRId64, value)};
    return NULL;
}

/* Where the variable r->die is at the address. */
static const char *locate(struct reading *r)
{
    struct pf_attribute attribute;
    struct pf_section expression;
    r->symbol = pf_die_text(&r->die, DW_AT_name);
    if (pf_die_attribute(&r->die, DW_AT_const_value, &attribute))
        return locate_constant(r, &attribute);
    if (!pf_die_attribute(&r->die, DW_AT_location, &attribute) || !location_at(r, &attribute, &expression))
        return "it has no value at this address: perhaps it has been optimized out";
    return pf_probe_locate(r->target, r->die.unit, expression, &r->frame, &r->location);
}

/* ---- members ----------------------------------------------------------------------------------------------------- */

enum { BASES_MAX = 16 };

/* Also in unnamed structures and base classes; *offset is where it begins. */
static bool find_member(struct pf_probe_target *target, const struct pf_die *type, const char *name,
                        struct pf_die *member, int64_t *offset, unsigned depth)
{
    struct pf_die die, inner;
    bool is_found = false;
    int64_t own;
    if (depth == BASES_MAX || !pf_die_child(type, &die))
        return false;
    do {
        const char *text = pf_die_text(&die, DW_AT_name);
        const uint32_t tag = pf_die_tag(&die);
        const bool is_named = tag == DW_TAG_member && text;
        if (is_named && strcmp(text, name) == 0 && pf_die_member_offset(&die, offset)) {
            *member = die;
            is_found = true;
        } else if (!is_named && (tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
                   pf_die_member_offset(&die, &own) && pf_die_type(&die, true, &inner) &&
                   find_member(target, &inner, name, member, offset, depth + 1)) {
            *offset += own;
            is_found = true;
        }
    } while (!is_found && pf_probe_step(target) && pf_die_sibling(&die, &die));
    return is_found;
}

static bool is_structure(const struct pf_die *type)
{
    const uint32_t tag = pf_die_tag(type);
    return tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_class_type;
}

static const char *use_element(struct reading *r, const struct pf_die *type, int64_t index)
{
    struct pf_die element;
    const uint32_t tag = pf_die_tag(type);
    if (tag != DW_TAG_pointer_type && tag != DW_TAG_array_type)
        return "[] needs a pointer or an array";
    if (!pf_die_type(type, true, &element))
        return "its elements have no type";
    const int bytes = pf_probe_type_bytes(r->target, &element);
    if (bytes < 1 || (tag == DW_TAG_array_type && !r->location.count))
        return "the size of its elements is not known";
    if (tag == DW_TAG_pointer_type && !pf_probe_dereference(&r->location, 0))
        return "it has too many members";
    pf_probe_move(&r->location, index * bytes);
    r->die = *type; /* whose type is that of the element */
    return NULL;
}

static const char *use_member(struct reading *r, const struct pf_die *type, const struct pf_probe_field *field)
{
    struct pf_die inner = *type, member;
    int64_t offset;
    const bool is_pointer = pf_die_tag(type) == DW_TAG_pointer_type;
    if (is_pointer != field->is_arrow)
        return is_pointer ? "-> is used for members of what a pointer points to"
                          : ". is used for members of a structure that is not a pointer";
    if (is_pointer && !pf_die_type(type, true, &inner))
        return "the type that it points to is not known";
    if (!is_structure(&inner))
        return "it is not a structure";
    if (is_pointer ? !pf_probe_dereference(&r->location, 0) : !r->location.count)
        return is_pointer ? "it has too many members" : "it is a structure in registers";
    if (!find_member(r->target, &inner, field->name, &member, &offset, 0))
        return pf_probe_text(r->target, "there is no member %.80s in %.80s", field->name,
                             pf_probe_type_name(r->target, &r->die));
    struct pf_die_bits bits;
    if (pf_die_bit_field(&member, &bits))
        offset += (int64_t)bits.container_offset;
    pf_probe_move(&r->location, offset);
    r->die = member;
    return NULL;
}

static const char *use_fields(struct reading *r)
{
    const char *why = NULL;
    struct pf_die type;
    for (size_t i = 0; i < r->argument->field_count && !why; i++) {
        const struct pf_probe_field *field = &r->argument->fields[i];
        if (!pf_die_type(&r->die, true, &type))
            return "it has no type";
        why = field->name ? use_member(r, &type, field) : use_element(r, &type, field->index);
    }
    return why;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static bool is_string(const char *type)
{
    return type && (strcmp(type, "string") == 0 || strcmp(type, "ustring") == 0);
}

/* The string that a pointer points to, or that an array of characters holds. */
static const char *use_string(struct reading *r)
{
    struct pf_die type, element;
    const char *name = NULL;
    const uint32_t tag = pf_die_type(&r->die, true, &type) ? pf_die_tag(&type) : 0;
    if (tag != DW_TAG_pointer_type && tag != DW_TAG_array_type)
        return "only pointers to characters and arrays of them are strings";
    if (pf_die_type(&type, true, &element))
        name = pf_die_text(&element, DW_AT_name);
    if (!name || (strcmp(name, "char") != 0 && strcmp(name, "unsigned char") != 0))
        return "only pointers to characters and arrays of them are strings";
    return tag == DW_TAG_array_type || pf_probe_dereference(&r->location, 0) ? NULL : "it has too many members";
}

/* Of a fixed address: in programs as an offset that the kernel adds to where the file is mapped. */
static void put_fixed(const struct reading *r)
{
    const struct pf_probe_location *location = &r->location;
    uint64_t offset;
    if (!r->target->options->file)
        pf_put_format(r->text, "@%s%+" PRId64, r->symbol, location->references[0]);
    else if (pf_probe_file_offset(r->target, r->site->address, &offset))
        pf_put_format(r->text, "@+0x%" PRIx64,
                      location->address - (r->site->address - offset) + (uint64_t)location->references[0]);
}

static void put_location(const struct reading *r)
{
    const struct pf_probe_location *location = &r->location;
    const size_t first = location->base ? 0 : 1; /* the innermost one of a fixed address is a part of it */
    const char *user = r->argument->is_user ? "u" : "";
    for (size_t i = location->count; i > first; i--) {
        const int64_t offset = location->references[i - 1];
        pf_put_format(r->text, "%c%s%" PRIu64 "(", offset < 0 ? '-' : '+', user,
                      offset < 0 ? -(uint64_t)offset : (uint64_t)offset);
    }
    if (location->base)
        pf_put_string(r->text, location->base);
    else
        put_fixed(r);
    for (size_t i = location->count; i > first; i--)
        pf_put_char(r->text, ')');
}

/* perf calls what has a type but no name after both. */
static void put_name(struct pf_text *text, const struct pf_probe_argument *argument)
{
    if (argument->name)
        pf_put_string(text, argument->name);
    else
        pf_put_format(text, "%s%s%s", argument->variable, argument->type ? "_" : "",
                      argument->type ? argument->type : "");
    pf_put_char(text, '=');
}

static int put_variable(struct reading *r)
{
    const char *why = locate(r), *type = r->argument->type;
    if (!why)
        why = use_fields(r);
    if (!why && is_string(type))
        why = use_string(r);
    if (why)
        return fail_argument(r, why);
    if (!type)
        type = pf_probe_kernel_type(r->target, &r->die);
    pf_put_char(r->text, ' ');
    put_name(r->text, r->argument);
    put_location(r);
    if (type && *type)
        pf_put_format(r->text, ":%s", type);
    return 0;
}

static void put_plain(struct pf_text *text, const struct pf_probe_argument *argument)
{
    pf_put_format(text, " %s%s%s%s%s", argument->name ? argument->name : "", argument->name ? "=" : "",
                  argument->variable, argument->type ? ":" : "", argument->type ? argument->type : "");
}

/* ---- $vars and $params ------------------------------------------------------------------------------------------- */

struct collection {
    struct reading *reading;
    bool only_parameters;
    const char **names;
    size_t count, capacity;
};

static bool is_known(const struct collection *c, const char *name)
{
    for (size_t i = 0; i < c->count && pf_probe_step(c->reading->target); i++)
        if (strcmp(c->names[i], name) == 0)
            return true;
    return false;
}

/* What a probe cannot read is not among them. */
static enum pf_walk collect(void *context, const struct pf_die *die)
{
    struct collection *c = context;
    struct reading *r = c->reading;
    const char *name = is_variable(die) ? pf_die_text(die, DW_AT_name) : NULL;
    if (name && has_value(die) && (!c->only_parameters || pf_die_tag(die) == DW_TAG_formal_parameter) &&
        !is_known(c, name)) {
        r->die = *die;
        (void)(!locate(r) && PF_PROBE_APPEND(r->target, c->names, c->count, c->capacity, name));
    }
    return pf_probe_holds(r->target, die, r->site->address) ? PF_WALK_INTO : PF_WALK_SKIP;
}

static int put_argument(struct reading *r, const struct pf_probe_argument *argument);

static int put_all(struct reading *r, bool only_parameters)
{
    struct collection c = {.reading = r, .only_parameters = only_parameters};
    int result = 0;
    pf_probe_walk(r->target, &r->site->scope, collect, &c);
    for (size_t i = 0; i < c.count && result == 0; i++)
        result = put_argument(r, &(struct pf_probe_argument){.variable = c.names[i]});
    return result;
}

static int put_argument(struct reading *r, const struct pf_probe_argument *argument)
{
    const bool is_vars = strcmp(argument->variable, "$vars") == 0;
    r->argument = argument;
    if (is_vars || strcmp(argument->variable, "$params") == 0)
        return put_all(r, !is_vars);
    if (!pf_probe_is_variable(argument->variable)) {
        put_plain(r->text, argument);
        return 0;
    }
    if (find_variable(r, argument->variable))
        return put_variable(r);
    return fail_argument(r, "it is not known there");
}

int pf_probe_put_arguments(struct pf_probe_target *target, const struct pf_probe_definition *definition,
                           struct pf_probe_site *site, struct pf_text *text)
{
    struct reading r = {.target = target, .definition = definition, .site = site, .text = text};
    int result = 0;
    open_frame(&r);
    for (size_t i = 0; i < definition->argument_count && result == 0; i++)
        result = put_argument(&r, &definition->arguments[i]);
    return result;
}

int pf_probe_put_plain_arguments(struct pf_probe_target *target, const struct pf_probe_definition *definition,
                                 struct pf_text *text)
{
    for (size_t i = 0; i < definition->argument_count; i++) {
        const char *variable = definition->arguments[i].variable;
        if (pf_probe_is_variable(variable) || strcmp(variable, "$vars") == 0 || strcmp(variable, "$params") == 0)
            return pf_probe_no_debug(target);
        put_plain(text, &definition->arguments[i]);
    }
    return 0;
}

/* ---- what there is ----------------------------------------------------------------------------------------------- */

struct showing {
    struct reading reading;
    bool externs; /* the variables of the unit are shown now */
    size_t count;
    int (*take)(void *context, const struct perfile_probe_variable *variable);
    void *context;
    int result;
};

/* "[0-29,29-52]" from the start of the function; all of the function where the location is always the same. */
static const char *ranges_of(const struct reading *r, const struct pf_die *die)
{
    uint64_t entry = 0;
    struct pf_attribute attribute;
    struct pf_die_range range;
    const char *text = NULL;
    pf_probe_entry(&r->site->function, &entry);
    if (!pf_die_attribute(die, DW_AT_location, &attribute))
        return "";
    struct pf_die_ranges all = pf_attribute_locations(&attribute);
    while (pf_die_next_range(&all, &range)) {
        if (range.low == 0 && range.high == UINT64_MAX && !pf_probe_bounds(&r->site->scope, &range.low, &range.high))
            break;
        text = pf_probe_text(r->target, "%s%s%" PRIu64 "-%" PRIu64, text ? text : "", text ? "," : "",
                             range.low - entry, range.high - entry);
        if (!text || !pf_probe_steps(r->target, 4 * strlen(text)))
            break;
    }
    return text ? text : "";
}

/* A probe can read it, or at least it is in a register. */
static bool is_there(struct reading *r)
{
    struct pf_attribute attribute;
    struct pf_section expression;
    struct pf_operation op;
    uint64_t number;
    if (!locate(r))
        return true;
    if (!pf_die_attribute(&r->die, DW_AT_location, &attribute) || !location_at(r, &attribute, &expression))
        return false;
    struct pf_operations operations = pf_operations_of(r->die.unit, expression);
    return pf_next_operation(&operations, &op) && pf_operation_register(&op, &number);
}

static enum pf_walk show(void *context, const struct pf_die *die)
{
    struct showing *s = context;
    struct reading *r = &s->reading;
    const char *name = is_variable(die) && has_value(die) ? pf_die_text(die, DW_AT_name) : NULL;
    r->die = *die;
    if (name && (s->externs || is_there(r))) {
        const struct perfile_probe_variable variable = {
            .size = sizeof(variable),
            .name = name,
            .type = pf_probe_type_name(r->target, die),
            .ranges = s->externs ? "" : ranges_of(r, die),
            .is_external = s->externs,
        };
        s->count++;
        s->result = pf_memory_was_short(r->target->allocator) ? PERFILE_ERROR_MEMORY : s->take(s->context, &variable);
    }
    if (s->result)
        return PF_WALK_END;
    return !s->externs && pf_probe_holds(r->target, die, r->site->address) ? PF_WALK_INTO : PF_WALK_SKIP;
}

int pf_probe_show_variables(struct pf_probe_target *target, struct pf_probe_site *site, bool externs,
                            int (*take)(void *context, const struct perfile_probe_variable *variable), void *context)
{
    struct showing s = {.reading = {.target = target, .site = site}, .take = take, .context = context};
    open_frame(&s.reading);
    pf_probe_walk(target, &site->scope, show, &s);
    s.externs = true;
    if (externs && !s.result)
        pf_probe_walk(target, &site->unit->top, show, &s);
    if (!s.count && !s.result)
        s.result = take(context, &(struct perfile_probe_variable){.size = sizeof(struct perfile_probe_variable)});
    return s.result;
}
