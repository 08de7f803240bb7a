/* SPDX-License-Identifier: MIT */
/*
 * DWARF in bulk: every unit is walked once, in the order of its bytes, so that the cost does not depend on how deep the
 * tree is nor on DW_AT_sibling (which LLVM does not write). libdw decodes, and is let go before the first look-up.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <gelf.h>
#include <setjmp.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/locale.h"
#include "base/sort.h"
#include "symbol/dwarf/dwarf_file.h"
#include "symbol/dwarf/inlines_dwp.h"
#include "symbol/dwarf/inlines_tables.h"

#ifndef DW_AT_GNU_discriminator
#define DW_AT_GNU_discriminator 0x2136 /* of LLVM; elfutils does not name it */
#endif

static const uint32_t no_node = (uint32_t)PF_INLINES_NONE;

struct reading {
    const struct pf_inlines_request *request;
    struct pf_inlines_builder builder;
    struct pf_inlines_files made_of;
    struct pf_dwarf_file file;
    struct pf_dwarf_file alternate;
    struct pf_line_sections sections;
    struct pf_section addresses, ranges; /* .debug_addr, .debug_ranges */
    size_t abbreviation_bytes;
    struct pf_dwp package;
    struct pf_dwp_unit *packed; /* the unit that is read comes from the package: it is the next member; else NULL */
    struct pf_dwp_unit packed_unit;
    struct pf_dwp object;       /* that is read */
    struct pf_line_files files; /* of the current unit */
    struct pf_map declarations; /* address of a DIE in memory -> line and name of its function */
    struct pf_map line_tables;  /* offset -> 1: its rows are taken */
    uint32_t unit;
    uint32_t *enclosing; /* for each depth of the tree the node around it */
    size_t depth_capacity;
};

static void note_failure(const struct reading *r)
{
    (void)pf_memory_note_failure(r->builder.allocator);
}

/* ---- names ---------------------------------------------------------------------------------------------------- */

/* What matters of a DIE; members that it does not have are all zero. */
struct attributes {
    Dwarf_Attribute low, high, ranges;
    Dwarf_Attribute linkage, name, origin, specification, declared;
    Dwarf_Attribute call_file, call_line, call_column, discriminator;
};

static Dwarf_Attribute *member_for(struct attributes *a, unsigned code)
{
    switch (code) {
    case DW_AT_low_pc:
        return &a->low;
    case DW_AT_high_pc:
        return &a->high;
    case DW_AT_ranges:
        return &a->ranges;
    case DW_AT_linkage_name:
    case DW_AT_MIPS_linkage_name:
        return &a->linkage;
    case DW_AT_name:
        return &a->name;
    case DW_AT_abstract_origin:
        return &a->origin;
    case DW_AT_specification:
        return &a->specification;
    case DW_AT_decl_line:
        return &a->declared;
    case DW_AT_call_file:
        return &a->call_file;
    case DW_AT_call_line:
        return &a->call_line;
    case DW_AT_call_column:
        return &a->call_column;
    case DW_AT_GNU_discriminator:
        return &a->discriminator;
    default:
        return NULL;
    }
}

static int keep_attribute(Dwarf_Attribute *attribute, void *context)
{
    Dwarf_Attribute *member = member_for(context, attribute->code);
    if (member)
        *member = *attribute;
    return DWARF_CB_OK;
}

static const char *text_of(Dwarf_Attribute *attribute)
{
    return attribute->code ? dwarf_formstring(attribute) : NULL;
}

static uint64_t number_of(Dwarf_Attribute *attribute)
{
    Dwarf_Word value;
    return attribute->code && dwarf_formudata(attribute, &value) == 0 ? value : 0;
}

/* What a function is called, and the line where it is declared. */
struct declaration {
    uint32_t name; /* in the text of the tables */
    uint32_t line; /* 0 unless the tables are detailed */
};

/*
 * The linkage name may stand at this DIE or at one that it refers to; only when none has one, the plain name counts. Of
 * the lines the first one counts.
 */
static struct declaration find_declaration(struct reading *r, const struct attributes *own)
{
    enum { LONGEST_CHAIN = 16 };
    struct attributes a = *own;
    const char *plain = NULL, *linkage = NULL;
    uint64_t line = 0;
    for (unsigned i = 0; i < LONGEST_CHAIN && (!linkage || (r->builder.detailed && !line)); i++) {
        linkage = linkage ? linkage : text_of(&a.linkage);
        plain = plain ? plain : text_of(&a.name);
        line = line ? line : number_of(&a.declared);
        Dwarf_Attribute *reference = a.origin.code ? &a.origin : &a.specification;
        Dwarf_Die next;
        if (!reference->code || !dwarf_formref_die(reference, &next))
            break;
        memset(&a, 0, sizeof(a));
        dwarf_getattrs(&next, keep_attribute, &a, 0);
    }
    return (struct declaration){pf_builder_text(&r->builder, linkage ? linkage : plain), (uint32_t)line};
}

/* Through the cache when all of it stands elsewhere: many bodies share one origin. */
static struct declaration declaration_of(struct reading *r, struct attributes *a)
{
    Dwarf_Attribute *reference = a->origin.code ? &a->origin : &a->specification;
    Dwarf_Die origin;
    uint64_t cached;
    if (a->linkage.code || (r->builder.detailed && a->declared.code) || !reference->code ||
        !dwarf_formref_die(reference, &origin))
        return find_declaration(r, a);
    if (pf_map_get(&r->declarations, (uintptr_t)origin.addr, &cached) && cached)
        return (struct declaration){(uint32_t)cached, (uint32_t)(cached >> 32)};
    const struct declaration found = find_declaration(r, a);
    if (!pf_map_put(&r->declarations, (uintptr_t)origin.addr, (uint64_t)found.line << 32 | found.name))
        r->builder.failed = true;
    return found;
}

/* ---- functions ------------------------------------------------------------------------------------------------ */

/* The first range of a subprogram begins with its entry. */
static void claim_range(struct reading *r, uint32_t node, uint64_t low, uint64_t high)
{
    struct pf_claim claim = {low, high, (uint64_t)(UINT32_MAX - r->unit) << 32 | node, node};
    if (low >= high || !pf_builder_is_code(&r->builder, low))
        return;
    pf_builder_claim(&r->builder, &r->builder.node_claims, &claim);
    if (r->builder.detailed && !r->builder.details[node].entry)
        r->builder.details[node].entry = low;
}

static bool address_of(struct reading *r, Dwarf_Attribute *attribute, uint64_t *address)
{
    Dwarf_Addr value;
    if (r->packed)
        return pf_dwp_address(r->packed, attribute, address);
    if (dwarf_formaddr(attribute, &value) != 0)
        return false;
    *address = value;
    return true;
}

struct claimant {
    struct reading *reading;
    uint32_t node;
};

static bool claim_packed(void *context, uint64_t low, uint64_t high)
{
    const struct claimant *c = context;
    claim_range(c->reading, c->node, low, high);
    return !c->reading->builder.failed && pf_builder_step(&c->reading->builder);
}

static void claim_ranges(struct reading *r, uint32_t node, Dwarf_Die *die, struct attributes *a)
{
    Dwarf_Addr base, start, end;
    uint64_t low, high;
    ptrdiff_t offset = 0;
    if (a->low.code && a->high.code) {
        if (!address_of(r, &a->low, &low))
            return;
        if (!address_of(r, &a->high, &high))
            high = low + number_of(&a->high); /* since DWARF 4 it may be a length */
        claim_range(r, node, low, high);
    } else if (r->packed) {
        pf_dwp_ranges(r->packed, &a->ranges, claim_packed, &(struct claimant){r, node});
    } else {
        while ((offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0 && !r->builder.failed &&
               pf_builder_step(&r->builder))
            claim_range(r, node, start, end);
    }
}

/* The node for what is inside this DIE. */
static uint32_t take_function(struct reading *r, Dwarf_Die *die, bool inlined, uint32_t outer)
{
    struct attributes a;
    memset(&a, 0, sizeof(a));
    dwarf_getattrs(die, keep_attribute, &a, 0);
    bool has_code = (a.low.code && a.high.code) || a.ranges.code;
    if (!has_code && (!inlined || outer == no_node))
        return no_node;
    const struct declaration declaration = declaration_of(r, &a);
    struct pf_inline_node node = {.parent = inlined ? outer : no_node, .function = declaration.name};
    if (inlined) {
        node.call_file = a.call_file.code ? pf_line_files_path(&r->files, number_of(&a.call_file)) : 0;
        node.call_line = (uint32_t)number_of(&a.call_line);
        node.call_column = (uint32_t)number_of(&a.call_column);
    }
    uint32_t number = pf_builder_node(&r->builder, &node);
    if (number == no_node)
        return no_node;
    if (r->builder.detailed)
        r->builder.details[number] = (struct pf_node_detail){.declared = declaration.line,
                                                             .discriminator = (uint32_t)number_of(&a.discriminator)};
    if (has_code)
        claim_ranges(r, number, die, &a);
    return number;
}

/* ---- the tree ------------------------------------------------------------------------------------------------- */

struct walk {
    struct reading *reading;
    Dwarf_Die die;
    const uint8_t *end; /* of the unit */
    size_t depth;
    bool is_c; /* where types hold no functions */
};

static bool may_hold_functions(const struct walk *w, int tag)
{
    switch (tag) {
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
        return !w->is_c;
    case DW_TAG_enumeration_type:
    case DW_TAG_array_type:
    case DW_TAG_subroutine_type:
    case DW_TAG_call_site:
    case DW_TAG_GNU_call_site:
        return false;
    default:
        return true;
    }
}

static bool is_ahead(const struct walk *w, const void *address)
{
    return (const uint8_t *)address > (const uint8_t *)w->die.addr && (const uint8_t *)address < w->end;
}

/* The DIE after the children according to DW_AT_sibling, when the children can be skipped; else NULL. */
static const void *after_children(struct walk *w, int tag)
{
    Dwarf_Attribute attribute;
    Dwarf_Die next;
    if (may_hold_functions(w, tag) || !dwarf_attr(&w->die, DW_AT_sibling, &attribute) ||
        !dwarf_formref_die(&attribute, &next) || !is_ahead(w, next.addr))
        return NULL;
    return next.addr;
}

/* Goes to the DIE at this address, after the ends of as many lists of children as end here. */
static bool go_to(struct walk *w, const void *address)
{
    const uint8_t *at = address;
    if (!is_ahead(w, at))
        return false;
    for (; at < w->end && *at == 0; at++)
        if (w->depth-- == 0)
            return false;
    if (at == w->end)
        return false;
    /* what dwarf_child and dwarf_siblingof make of an address, too */
    struct Dwarf_CU *unit = w->die.cu;
    memset(&w->die, 0, sizeof(w->die));
    w->die.addr = (void *)(uintptr_t)at;
    w->die.cu = unit;
    return true;
}

static bool go_down(struct walk *w, const Dwarf_Die *child, uint32_t node)
{
    struct reading *r = w->reading;
    if (!is_ahead(w, child->addr))
        return false;
    if (!pf_grow(r->builder.allocator, &r->enclosing, &r->depth_capacity, w->depth + 2, sizeof(*r->enclosing))) {
        r->builder.failed = true;
        return false;
    }
    r->enclosing[++w->depth] = node;
    w->die = *child;
    return true;
}

/* To the next DIE in the order of the bytes; false at the end of the unit, or where it is damaged. */
static bool go_on(struct walk *w, int tag, uint32_t node)
{
    Dwarf_Die next;
    memset(&next, 0, sizeof(next));
    if (dwarf_haschildren(&w->die) > 0) {
        const void *after = after_children(w, tag);
        if (after)
            return go_to(w, after);
        int result = dwarf_child(&w->die, &next);
        if (result < 0)
            return false;
        if (result == 0)
            return go_down(w, &next, node);
    }
    /* also when there is none libdw says where it looked: at the NUL that ends the list */
    return dwarf_siblingof(&w->die, &next) >= 0 && go_to(w, next.addr);
}

static void walk_tree(struct walk *w)
{
    struct reading *r = w->reading;
    bool more = true;
    while (more && !r->builder.failed && pf_builder_step(&r->builder)) {
        int tag = dwarf_tag(&w->die);
        uint32_t node = r->enclosing[w->depth];
        if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
            node = take_function(r, &w->die, tag == DW_TAG_inlined_subroutine, node);
        more = tag != DW_TAG_invalid && go_on(w, tag, node);
    }
}

static bool is_c_language(int language)
{
    return language == DW_LANG_C89 || language == DW_LANG_C || language == DW_LANG_C99 || language == DW_LANG_C11;
}

/* Where the unit of this DIE ends, in memory. */
static const uint8_t *end_of_unit(Dwarf_Die *top)
{
    Dwarf_Off offset = dwarf_dieoffset(top), next = 0;
    size_t header_bytes;
    Dwarf *dwarf = dwarf_cu_getdwarf(top->cu);
    if (dwarf_next_unit(dwarf, offset - dwarf_cuoffset(top), &next, &header_bytes, NULL, NULL, NULL, NULL, NULL,
                        NULL) != 0 ||
        next <= offset)
        return NULL;
    return (const uint8_t *)top->addr + (next - offset);
}

static void read_functions(struct reading *r, Dwarf_Die *top)
{
    struct walk w = {.reading = r, .die = *top, .end = end_of_unit(top), .is_c = is_c_language(dwarf_srclang(top))};
    Dwarf_Die child;
    if (!w.end || dwarf_child(top, &child) != 0 || !is_ahead(&w, child.addr))
        return;
    w.die = child;
    if (pf_grow(r->builder.allocator, &r->enclosing, &r->depth_capacity, 1, sizeof(*r->enclosing))) {
        r->enclosing[0] = no_node;
        walk_tree(&w);
    } else {
        r->builder.failed = true;
    }
}

/* ---- units ---------------------------------------------------------------------------------------------------- */

static void read_lines(struct reading *r, Dwarf_Die *top)
{
    Dwarf_Attribute attribute;
    Dwarf_Word offset;
    uint64_t consumed;
    if (!dwarf_attr(top, DW_AT_stmt_list, &attribute) || dwarf_formudata(&attribute, &offset) != 0)
        return;
    if (dwarf_attr(top, DW_AT_comp_dir, &attribute))
        r->files.compilation_directory = dwarf_formstring(&attribute);
    bool is_new = !pf_map_get(&r->line_tables, offset, &consumed);
    pf_line_table_read(&r->builder, &r->sections, offset, r->unit, is_new, &r->files);
    if (!pf_map_put(&r->line_tables, offset, 1))
        r->builder.failed = true;
}

/* The rest of a skeleton from that file; false when it is not there. */
static bool read_packed(struct reading *r, struct pf_dwp *from, Dwarf_Die *skeleton)
{
    struct pf_dwp_unit *unit = &r->packed_unit;
    uint64_t id;
    *unit = (struct pf_dwp_unit){.addresses = r->addresses, .ranges = r->ranges};
    errno = 0;
    if (dwarf_cu_info(skeleton->cu, NULL, NULL, NULL, NULL, &id, NULL, NULL) != 0 ||
        !pf_dwp_unit_open(from, skeleton, id, pf_dwarf_leave, unit)) {
        note_failure(r);
        return false;
    }
    r->packed = unit;
    read_functions(r, &unit->top);
    r->packed = NULL;
    pf_dwp_unit_close(unit);
    return true;
}

/* Where libdw finds no split unit, it is in the package or in the object file of the skeleton. */
static bool read_split(struct reading *r, Dwarf_Die *skeleton)
{
    if (read_packed(r, &r->package, skeleton))
        return true;
    pf_dwp_open_object(&r->object, skeleton);
    const bool is_read = read_packed(r, &r->object, skeleton);
    pf_dwp_close(&r->object);
    return is_read;
}

/* Whether an address from low on, before high, is wanted. */
static bool is_wanted(const struct pf_inlines_request *request, uint64_t low, uint64_t high)
{
    const size_t before = PF_COUNT_BEFORE(request->wanted_count, i, request->wanted[i].high <= low);
    return before < request->wanted_count && request->wanted[before].low < high;
}

/* Whether the unit says which code is in it, and none of that is wanted. */
static bool is_unwanted(struct reading *r, Dwarf_Die *top)
{
    Dwarf_Addr base, low, high;
    ptrdiff_t offset = 0;
    size_t count = 0;
    if (!r->request->wanted_count)
        return false;
    for (; (offset = dwarf_ranges(top, offset, &base, &low, &high)) > 0 && pf_builder_step(&r->builder); count++)
        if (is_wanted(r->request, low, high))
            return false;
    return count && offset == 0;
}

static void read_unit(struct reading *r, uint8_t type, Dwarf_Die *top, Dwarf_Die *split)
{
    if (type == DW_UT_type || type == DW_UT_split_type || is_unwanted(r, top))
        return;
    r->files = (struct pf_line_files){.builder = &r->builder};
    read_lines(r, top);
    if (split->addr) {
        dwarf_new_oom_handler(dwarf_cu_getdwarf(split->cu), pf_dwarf_leave);
        read_functions(r, split);
    } else if (type != DW_UT_skeleton || !read_split(r, top))
        read_functions(r, top);
    pf_line_files_close(&r->files);
}

/*
 * libdw checks all its allocations but those for the tables of abbreviations: when these fail, it ends the process by
 * an assertion or by a signal. A slot takes 16 bytes, and an abbreviation has 4 or more of them in the file; while a
 * table grows, the old one, which is half as large, exists as well. The reserve is enough for all units; others
 * allocate meanwhile, so it is checked again and again.
 */
static bool has_reserve(const struct reading *r)
{
    enum { RESERVE_MIN = 4 << 20, TABLE_BYTES = 12, UNITS = 64 };
    if (r->unit % UNITS)
        return true;
    const size_t bytes = RESERVE_MIN + TABLE_BYTES * pf_min(r->abbreviation_bytes, SIZE_MAX / 32);
    void *reserve = pf_resize(r->builder.allocator, NULL, 0, bytes);
    pf_free(r->builder.allocator, reserve, bytes);
    return reserve;
}

static void read_units(struct reading *r)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die top, split;
    uint8_t type;
    int result = 0;
    errno = 0;
    while (has_reserve(r) && (result = dwarf_get_units(r->file.dwarf, unit, &unit, NULL, &type, &top, &split)) == 0 &&
           !r->builder.failed && pf_builder_step(&r->builder)) {
        read_unit(r, type, &top, &split);
        r->unit++;
        errno = 0;
    }
    if (result < 0)
        note_failure(r);
}

/* ---- files ---------------------------------------------------------------------------------------------------- */

static int open_module(const struct reading *r, struct pf_dwarf_file *m, const char *path, struct perfile_error *error)
{
    errno = 0;
    const int result = pf_dwarf_file_open(m, path, error);
    return result < 0 && pf_memory_note_failure(r->builder.allocator) ? pf_fail_memory(error, path) : result;
}

static void open_alternate(struct reading *r, const char *path)
{
    const char *name;
    const void *wanted;
    struct stat status;
    if (!path || dwelf_dwarf_gnu_debugaltlink(r->file.dwarf, &name, &wanted) <= 0 ||
        open_module(r, &r->alternate, path, NULL) != 0)
        return;
    if (fstat(r->alternate.fd, &status) == 0)
        r->made_of.alternate = pf_file_identity_of(&status);
    pf_dwarf_file_use_alternate(&r->file, &r->alternate);
}

static struct pf_section section_data(const struct reading *r, Elf_Scn *section)
{
    errno = 0;
    Elf_Data *data = elf_rawdata(section, NULL); /* libdw has inflated the debug sections in place */
    if (!data || !data->d_buf)
        note_failure(r);
    return data && data->d_buf ? (struct pf_section){data->d_buf, data->d_size} : (struct pf_section){NULL, 0};
}

static void keep_section(struct reading *r, Elf_Scn *section, const GElf_Shdr *header, const char *name)
{
    if (header->sh_flags & SHF_EXECINSTR) {
        struct pf_claim code = {.low = header->sh_addr};
        if (pf_add(header->sh_addr, header->sh_size, &code.high))
            pf_builder_claim(&r->builder, &r->builder.code, &code);
    }
    if (!name)
        return;
    if (strcmp(name, ".debug_line") == 0 || strcmp(name, ".zdebug_line") == 0)
        r->sections.line = section_data(r, section);
    else if (strcmp(name, ".debug_line_str") == 0)
        r->sections.line_str = section_data(r, section);
    else if (strcmp(name, ".debug_str") == 0 || strcmp(name, ".zdebug_str") == 0)
        r->sections.str = section_data(r, section);
    else if (strcmp(name, ".debug_abbrev") == 0 || strcmp(name, ".zdebug_abbrev") == 0)
        r->abbreviation_bytes = section_data(r, section).bytes;
    else if (strcmp(name, ".debug_addr") == 0)
        r->addresses = section_data(r, section);
    else if (strcmp(name, ".debug_ranges") == 0)
        r->ranges = section_data(r, section);
}

static void keep_sections(struct reading *r)
{
    Elf *elf = r->file.elf;
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return;
    while ((section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, &header))
            keep_section(r, section, &header, elf_strptr(elf, names, header.sh_name));
    pf_builder_sort_code(&r->builder);
    const char *identity = elf_getident(elf, NULL);
    r->sections.swap = (identity[EI_DATA] == ELFDATA2MSB) != PF_NATIVE_BIG_ENDIAN;
}

static int read_module(struct reading *r, struct perfile_error *error)
{
    const char *path = r->request->path;
    int result = open_module(r, &r->file, path, error);
    if (result < 0)
        return result;
    GElf_Ehdr header;
    if (!gelf_getehdr(r->file.elf, &header) || header.e_type == ET_REL)
        return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, path, "debug info of an unlinked file");
    struct stat status;
    if (fstat(r->file.fd, &status) < 0)
        return pf_fail(error, PERFILE_ERROR_READ, PERFILE_NO_OFFSET, path, "%s", pf_error_text(errno));
    r->builder.steps = 64 * (uint64_t)status.st_size + (1 << 20);
    open_alternate(r, r->request->alternate_path);
    keep_sections(r);
    pf_dwp_open(&r->package, path);
    r->made_of.debug = pf_file_identity_of(&status);
    r->made_of.package = r->package.identity;
    read_units(r);
    return 0;
}

/* What libdw was about when it left lies in the reading, so that it is closed with it. */
static int read_or_leave(struct reading *r, struct perfile_error *error)
{
    jmp_buf here;
    if (setjmp(here) != 0) {
        pf_dwarf_way_out(NULL);
        pf_memory_note_short(r->builder.allocator);
        return pf_fail_memory(error, r->request->path);
    }
    pf_dwarf_way_out(&here);
    const int result = read_module(r, error);
    pf_dwarf_way_out(NULL);
    return result;
}

static void close_reading(struct reading *r)
{
    const struct perfile_allocator *allocator = r->builder.allocator;
    pf_line_files_close(&r->files);
    pf_dwp_unit_close(&r->packed_unit);
    pf_map_close(&r->declarations);
    pf_map_close(&r->line_tables);
    pf_free(allocator, r->enclosing, r->depth_capacity * sizeof(*r->enclosing));
    pf_dwp_close(&r->package);
    pf_dwp_close(&r->object);
    pf_dwarf_file_close(&r->file);
    pf_dwarf_file_close(&r->alternate);
    pf_builder_close(&r->builder);
}

static int open_tables(const struct pf_inlines_request *request, bool detailed,
                       const struct perfile_allocator *allocator, struct pf_inlines **inlines,
                       struct perfile_error *error)
{
    struct reading r = {.request = request, .file = PF_DWARF_FILE_CLOSED, .alternate = PF_DWARF_FILE_CLOSED};
    *inlines = NULL;
    allocator = pf_allocator_or_default(allocator);
    pf_builder_open(&r.builder, allocator);
    r.builder.detailed = detailed;
    r.files.builder = &r.builder;
    pf_map_open(&r.declarations, allocator);
    pf_map_open(&r.line_tables, allocator);
    int result = read_or_leave(&r, error);
    if (result == 0)
        result = pf_builder_finish(&r.builder, inlines, error);
    if (result == 0 && pf_memory_was_short(allocator)) { /* something is missing: the tables must not be kept */
        pf_inlines_close(*inlines);
        *inlines = NULL;
        result = pf_fail_memory(error, request->path);
    }
    if (result == 0)
        (*inlines)->files = r.made_of;
    close_reading(&r);
    return result;
}

int pf_inlines_open(const char *path, const char *alternate_path, const struct perfile_allocator *allocator,
                    struct pf_inlines **inlines, struct perfile_error *error)
{
    const struct pf_inlines_request request = {.path = path, .alternate_path = alternate_path};
    return open_tables(&request, false, allocator, inlines, error);
}

int pf_inlines_open_detailed(const struct pf_inlines_request *request, const struct perfile_allocator *allocator,
                             struct pf_inlines **inlines, struct perfile_error *error)
{
    return open_tables(request, true, allocator, inlines, error);
}
