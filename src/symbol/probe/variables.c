/* SPDX-License-Identifier: MIT */
/* The arguments of probes: variables by DWARF, and what the kernel evaluates itself. */
#include <dwarf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "symbol/probe/probe_parts.h"

struct reading {
    struct pf_probe_target *target;
    const struct pf_probe_definition *definition;
    struct pf_probe_site *site;
    const struct pf_probe_argument *argument;
    struct pf_text *text;
    struct pf_probe_frame frame;
    struct pf_probe_location location;
    Dwarf_Die die;      /* of the variable, and then of its members */
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
    Dwarf_Die *found;
};

static bool is_variable(Dwarf_Die *die)
{
    const int tag = dwarf_tag(die);
    return tag == DW_TAG_variable || tag == DW_TAG_formal_parameter;
}

static bool has_value(Dwarf_Die *die)
{
    return dwarf_hasattr(die, DW_AT_location) || dwarf_hasattr(die, DW_AT_const_value);
}

static enum pf_walk look_for_name(void *context, Dwarf_Die *die)
{
    const struct search *s = context;
    const char *name = is_variable(die) && has_value(die) ? dwarf_diename(die) : NULL;
    if (name && strcmp(name, s->name) == 0) {
        *s->found = *die;
        return PF_WALK_END;
    }
    if (s->is_global)
        return dwarf_tag(die) == DW_TAG_namespace ? PF_WALK_INTO : PF_WALK_SKIP;
    return dwarf_haspc(die, s->reading->site->address) > 0 ? PF_WALK_INTO : PF_WALK_SKIP;
}

/* In the function, then among the variables of its unit. */
static bool find_variable(struct reading *r, const char *name)
{
    struct search s = {r, name, false, &r->die};
    if (pf_probe_walk(r->target, &r->site->scope, look_for_name, &s))
        return true;
    s.is_global = true;
    return pf_probe_walk(r->target, &r->site->unit, look_for_name, &s);
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

/* The frame, which the operations belong to, is freed by the next one, and with the target. */
static bool find_frame(struct reading *r, Dwarf_CFI *from)
{
    Dwarf_Op *ops;
    free(r->target->frame);
    r->target->frame = NULL;
    if (!from || dwarf_cfi_addrframe(from, r->site->address, &r->target->frame) != 0 ||
        dwarf_frame_cfa(r->target->frame, &ops, &r->frame.count) != 0)
        return false;
    r->frame.base = ops;
    return true;
}

static void open_frame(struct reading *r)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *ops = NULL;
    size_t count = 0;
    const Dwarf_Addr address = r->site->address;
    struct pf_probe_frame *frame = &r->frame;
    if (!dwarf_attr_integrate(&r->site->function, DW_AT_frame_base, &attribute) ||
        dwarf_getlocation_addr(&attribute, address, &ops, &count, 1) < 1 || !count)
        return;
    frame->base = ops;
    frame->count = count;
    if (count != 1 || ops[0].atom != DW_OP_call_frame_cfa)
        return;
    frame->base = NULL;
    if (!find_frame(r, r->target->frames))
        find_frame(r, dwarf_getcfi(r->target->debug.dwarf));
}

/* ---- locations --------------------------------------------------------------------------------------------------- */

static const char *locate_constant(struct reading *r, Dwarf_Attribute *attribute)
{
    Dwarf_Sword value;
    if (dwarf_formsdata(attribute, &value) != 0)
        return "its constant value is not a number";
    r->location = (struct pf_probe_location){.base = pf_probe_text(r->target, "\\%" PRId64, (int64_t)value)};
    return r->location.base ? NULL : "out of memory";
}

/* An address may be an index into a table of addresses, which only libdw knows. */
static const char *locate_ops(struct reading *r, Dwarf_Attribute *attribute, const Dwarf_Op *ops, size_t count)
{
    Dwarf_Op address = {.atom = DW_OP_addr};
    Dwarf_Attribute entry;
    if (count == 1 && (ops[0].atom == DW_OP_addrx || ops[0].atom == DW_OP_GNU_addr_index) &&
        dwarf_getlocation_attr(attribute, ops, &entry) == 0 && dwarf_formaddr(&entry, &address.number) == 0)
        ops = &address;
    return pf_probe_locate(r->target->elf.header.e_machine, ops, count, &r->frame, &r->location);
}

/* Where the variable r->die is at the address. */
static const char *locate(struct reading *r)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *ops;
    size_t count;
    r->symbol = dwarf_diename(&r->die);
    if (dwarf_attr(&r->die, DW_AT_const_value, &attribute))
        return locate_constant(r, &attribute);
    if (!dwarf_attr(&r->die, DW_AT_location, &attribute) ||
        dwarf_getlocation_addr(&attribute, r->site->address, &ops, &count, 1) < 1)
        return "it has no value at this address: perhaps it has been optimized out";
    return locate_ops(r, &attribute, ops, count);
}

/* ---- members ----------------------------------------------------------------------------------------------------- */

enum { BASES_MAX = 16 };

/* Also in unnamed structures and base classes; *offset is where it begins. */
static bool find_member(struct pf_probe_target *target, Dwarf_Die *type, const char *name, Dwarf_Die *member,
                        int64_t *offset, unsigned depth)
{
    Dwarf_Die die, inner;
    bool is_found = false;
    int64_t own;
    if (depth == BASES_MAX || dwarf_child(type, &die) != 0)
        return false;
    do {
        const char *text = dwarf_diename(&die);
        const int tag = dwarf_tag(&die);
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
    } while (!is_found && pf_probe_step(target) && dwarf_siblingof(&die, &die) == 0);
    return is_found;
}

static bool is_structure(Dwarf_Die *type)
{
    const int tag = dwarf_tag(type);
    return tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_class_type;
}

static const char *use_element(struct reading *r, Dwarf_Die *type, int64_t index)
{
    Dwarf_Die element;
    const int tag = dwarf_tag(type);
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

static const char *use_member(struct reading *r, Dwarf_Die *type, const struct pf_probe_field *field)
{
    Dwarf_Die inner = *type, member;
    int64_t offset;
    const bool is_pointer = dwarf_tag(type) == DW_TAG_pointer_type;
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
    Dwarf_Die type;
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
    Dwarf_Die type, element;
    const char *name = NULL;
    const int tag = pf_die_type(&r->die, true, &type) ? dwarf_tag(&type) : DW_TAG_invalid;
    if (tag != DW_TAG_pointer_type && tag != DW_TAG_array_type)
        return "only pointers to characters and arrays of them are strings";
    if (pf_die_type(&type, true, &element))
        name = dwarf_diename(&element);
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
    if (!type)
        return pf_probe_no_memory(r->target);
    pf_put_char(r->text, ' ');
    put_name(r->text, r->argument);
    put_location(r);
    pf_put_format(r->text, "%s%s", *type ? ":" : "", type);
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
    bool failed;
};

static bool is_known(const struct collection *c, const char *name)
{
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(c->names[i], name) == 0)
            return true;
    return false;
}

/* What a probe cannot read is not among them. */
static enum pf_walk collect(void *context, Dwarf_Die *die)
{
    struct collection *c = context;
    struct reading *r = c->reading;
    const char *name = is_variable(die) ? dwarf_diename(die) : NULL;
    if (name && has_value(die) && (!c->only_parameters || dwarf_tag(die) == DW_TAG_formal_parameter) &&
        !is_known(c, name)) {
        r->die = *die;
        if (!locate(r) && !PF_PROBE_APPEND(r->target, c->names, c->count, c->capacity, name))
            c->failed = true;
    }
    return dwarf_haspc(die, r->site->address) > 0 ? PF_WALK_INTO : PF_WALK_SKIP;
}

static int put_argument(struct reading *r, const struct pf_probe_argument *argument);

static int put_all(struct reading *r, bool only_parameters)
{
    struct collection c = {.reading = r, .only_parameters = only_parameters};
    int result = 0;
    pf_probe_walk(r->target, &r->site->scope, collect, &c);
    for (size_t i = 0; i < c.count && result == 0; i++)
        result = put_argument(r, &(struct pf_probe_argument){.variable = c.names[i]});
    return c.failed ? pf_probe_no_memory(r->target) : result;
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
static const char *ranges_of(const struct reading *r, Dwarf_Die *die)
{
    Dwarf_Addr entry = 0, base, start, end, low, high;
    Dwarf_Attribute attribute;
    Dwarf_Op *ops;
    size_t count;
    ptrdiff_t at = 0;
    const char *text = NULL;
    pf_probe_entry(&r->site->function, &entry);
    if (!dwarf_attr(die, DW_AT_location, &attribute))
        return "";
    while ((at = dwarf_getlocations(&attribute, at, &base, &start, &end, &ops, &count)) > 0) {
        if (start == 0 && end == (Dwarf_Addr)-1) {
            if (dwarf_lowpc(&r->site->scope, &low) != 0 || dwarf_highpc(&r->site->scope, &high) != 0)
                break;
            start = low;
            end = high;
        }
        text = pf_probe_text(r->target, "%s%s%" PRIu64 "-%" PRIu64, text ? text : "", text ? "," : "", start - entry,
                             end - entry);
        if (!text || !pf_probe_step(r->target))
            break;
    }
    return text ? text : "";
}

/* A probe can read it, or at least it is in a register. */
static bool is_there(struct reading *r)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *ops;
    size_t count = 0;
    return !locate(r) || (dwarf_attr(&r->die, DW_AT_location, &attribute) &&
                          dwarf_getlocation_addr(&attribute, r->site->address, &ops, &count, 1) > 0 && count &&
                          ((ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31) || ops[0].atom == DW_OP_regx));
}

static enum pf_walk show(void *context, Dwarf_Die *die)
{
    struct showing *s = context;
    struct reading *r = &s->reading;
    const char *name = is_variable(die) && has_value(die) ? dwarf_diename(die) : NULL;
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
        s->result = variable.type && variable.ranges ? s->take(s->context, &variable) : PERFILE_ERROR_MEMORY;
    }
    if (s->result)
        return PF_WALK_END;
    return !s->externs && dwarf_haspc(die, r->site->address) > 0 ? PF_WALK_INTO : PF_WALK_SKIP;
}

int pf_probe_show_variables(struct pf_probe_target *target, struct pf_probe_site *site, bool externs,
                            int (*take)(void *context, const struct perfile_probe_variable *variable), void *context)
{
    struct showing s = {.reading = {.target = target, .site = site}, .take = take, .context = context};
    open_frame(&s.reading);
    pf_probe_walk(target, &site->scope, show, &s);
    s.externs = true;
    if (externs && !s.result)
        pf_probe_walk(target, &site->unit, show, &s);
    if (!s.count && !s.result)
        s.result = take(context, &(struct perfile_probe_variable){.size = sizeof(struct perfile_probe_variable)});
    return s.result;
}
