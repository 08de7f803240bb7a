/* SPDX-License-Identifier: MIT */
/* Line tables, DWARF 2 to 5. */
#include "base/cursor.h"
#include "symbol/dwarf/inlines_tables.h"
#include "symbol/dwarf/names.h"

/* What one line table says of itself. */
struct line_header {
    uint16_t version;
    uint8_t offset_bytes;
    uint8_t instruction_bytes;
    uint8_t operations; /* of one instruction; not 1 on VLIW machines only */
    bool is_statement;  /* rows are, unless the program says otherwise */
    int8_t line_base;
    uint8_t line_range;
    uint8_t opcode_base;
    const uint8_t *opcode_lengths;
    struct pf_cursor program;
};

static uint64_t take_offset(struct pf_cursor *c, unsigned bytes)
{
    return bytes == 8 ? pf_cursor_u64(c) : pf_cursor_u32(c);
}

/* ---- files ---------------------------------------------------------------------------------------------------- */

void pf_line_files_close(struct pf_line_files *files)
{
    const struct perfile_allocator *allocator = files->builder->allocator;
    pf_free(allocator, files->directories, files->directory_capacity * sizeof(*files->directories));
    pf_free(allocator, files->files, files->file_capacity * sizeof(*files->files));
    *files = (struct pf_line_files){.builder = files->builder};
}

static void add_directory(struct pf_line_files *files, const char *name)
{
    const struct perfile_allocator *allocator = files->builder->allocator;
    if (!pf_grow(allocator, &files->directories, &files->directory_capacity, files->directory_count + 1,
                 sizeof(char *)))
        files->builder->failed = true;
    else
        files->directories[files->directory_count++] = name ? name : "";
}

static void add_file(struct pf_line_files *files, const struct pf_line_file *file)
{
    const struct perfile_allocator *allocator = files->builder->allocator;
    if (!pf_grow(allocator, &files->files, &files->file_capacity, files->file_count + 1, sizeof(*file)))
        files->builder->failed = true;
    else
        files->files[files->file_count++] = *file;
}

static const char *directory_of(const struct pf_line_files *files, const struct pf_line_file *file)
{
    if (files->version < 5) /* there 0 is the compilation directory, and not in the table */
        return file->directory && file->directory <= files->directory_count ? files->directories[file->directory - 1]
                                                                            : "";
    return file->directory < files->directory_count ? files->directories[file->directory] : "";
}

static char *append_path(char *at, const char *end, const char *before, const char *name)
{
    size_t length = strlen(name);
    if (!length || length + 2 > (size_t)(end - at))
        return at;
    if (at != before && at[-1] != '/')
        *at++ = '/';
    memcpy(at, name, length);
    return at + length;
}

static void make_path(const struct pf_line_files *files, const struct pf_line_file *file, char path[PF_LINE_PATH_BYTES])
{
    char *at = path, *end = path + PF_LINE_PATH_BYTES - 1;
    const char *directory = directory_of(files, file);
    bool in_compilation_directory = files->version < 5 || file->directory != 0;
    if (file->name[0] != '/') {
        if (files->compilation_directory && directory[0] != '/' && in_compilation_directory)
            at = append_path(at, end, path, files->compilation_directory);
        at = append_path(at, end, path, directory);
    }
    at = append_path(at, end, path, file->name);
    *at = '\0';
}

/* Returns NULL when the table has no file of that number, or no name for it. */
static struct pf_line_file *file_of(const struct pf_line_files *files, uint64_t index)
{
    if (files->version < 5 && index-- == 0)
        return NULL;
    return index < files->file_count && files->files[index].name ? &files->files[index] : NULL;
}

bool pf_line_file_path(const struct pf_line_files *files, uint64_t index, char path[PF_LINE_PATH_BYTES])
{
    const struct pf_line_file *file = file_of(files, index);
    if (file)
        make_path(files, file, path);
    return file;
}

uint32_t pf_line_files_path(struct pf_line_files *files, uint64_t index)
{
    char path[PF_LINE_PATH_BYTES];
    struct pf_line_file *file = file_of(files, index);
    if (file && !file->has_text) {
        make_path(files, file, path);
        file->text = pf_builder_text(files->builder, path);
        file->has_text = true;
    }
    return file ? file->text : 0;
}

/* ---- headers -------------------------------------------------------------------------------------------------- */

/* One member of an entry of a DWARF 5 table; text or number. */
static uint64_t take_form(struct pf_cursor *c, const struct pf_line_sections *sections, unsigned offset_bytes,
                          uint64_t form, const char **text)
{
    switch (form) {
    case DW_FORM_string:
        *text = pf_cursor_text(c, &(size_t){0});
        return 0;
    case DW_FORM_line_strp:
        *text = pf_section_text(&sections->line_str, take_offset(c, offset_bytes));
        return 0;
    case DW_FORM_strp:
        *text = pf_section_text(&sections->str, take_offset(c, offset_bytes));
        return 0;
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_strp_alt:
        *text = pf_section_text(&sections->alternate_str, take_offset(c, offset_bytes));
        return 0;
    case DW_FORM_udata:
        return pf_cursor_leb(c, false);
    case DW_FORM_data1:
        return pf_cursor_u8(c);
    case DW_FORM_data2:
        return pf_cursor_u16(c);
    case DW_FORM_data4:
        return pf_cursor_u32(c);
    case DW_FORM_data8:
        return pf_cursor_u64(c);
    case DW_FORM_data16:
        pf_cursor_take(c, 16);
        return 0;
    case DW_FORM_block:
        pf_cursor_take(c, pf_cursor_leb(c, false));
        return 0;
    default:
        pf_cursor_fail(c, 1); /* of unknown size: nothing after it can be found */
        return 0;
    }
}

struct entry_format {
    uint64_t content[256];
    uint64_t form[256];
    unsigned count;
};

static struct pf_line_file take_entry(struct pf_cursor *c, const struct pf_line_sections *sections,
                                      unsigned offset_bytes, const struct entry_format *format)
{
    struct pf_line_file file = {NULL, 0, 0, false};
    for (unsigned i = 0; i < format->count; i++) {
        const char *text = NULL;
        uint64_t number = take_form(c, sections, offset_bytes, format->form[i], &text);
        if (format->content[i] == DW_LNCT_path)
            file.name = text;
        else if (format->content[i] == DW_LNCT_directory_index)
            file.directory = number;
    }
    return file;
}

/* A table of DWARF 5: how its entries look, how many, and the entries. */
static void take_table(struct pf_cursor *c, const struct pf_line_sections *sections, unsigned offset_bytes,
                       struct pf_line_files *files, bool directories)
{
    struct entry_format format = {.count = pf_cursor_u8(c)};
    for (unsigned i = 0; i < format.count; i++) {
        format.content[i] = pf_cursor_leb(c, false);
        format.form[i] = pf_cursor_leb(c, false);
    }
    uint64_t count = pf_cursor_leb(c, false);
    if (!format.count)
        return;
    while (count-- && !c->failed && !files->builder->failed && pf_builder_step(files->builder)) {
        struct pf_line_file file = take_entry(c, sections, offset_bytes, &format);
        if (c->failed)
            return;
        if (directories)
            add_directory(files, file.name);
        else
            add_file(files, &file);
    }
}

static struct pf_line_file take_old_file(struct pf_cursor *c, const char *name)
{
    struct pf_line_file file = {.name = name, .directory = pf_cursor_leb(c, false)};
    pf_cursor_leb(c, false); /* time */
    pf_cursor_leb(c, false); /* size */
    return file;
}

static void take_old_tables(struct pf_cursor *c, struct pf_line_files *files)
{
    size_t bytes;
    const char *name;
    while ((name = pf_cursor_text(c, &bytes)) && *name && pf_builder_step(files->builder))
        add_directory(files, name);
    while (!c->failed && (name = pf_cursor_text(c, &bytes)) && *name && pf_builder_step(files->builder)) {
        struct pf_line_file file = take_old_file(c, name);
        add_file(files, &file);
    }
}

/* The bytes of the unit after its length. */
static struct pf_cursor take_unit(const struct pf_line_sections *sections, uint64_t offset, uint8_t *offset_bytes)
{
    struct pf_cursor c = pf_cursor_make(sections->line.data, sections->line.bytes, 0, sections->swap);
    pf_cursor_take(&c, offset);
    uint64_t length = pf_cursor_u32(&c);
    *offset_bytes = 4;
    if (length == 0xffffffff) {
        length = pf_cursor_u64(&c);
        *offset_bytes = 8;
    }
    const uint8_t *start = pf_cursor_take(&c, length);
    struct pf_cursor unit = pf_cursor_make(start, start ? (size_t)length : 0, 0, sections->swap);
    unit.failed = c.failed;
    return unit;
}

static bool take_header(struct pf_cursor *c, const struct pf_line_sections *sections, struct line_header *h,
                        struct pf_line_files *files)
{
    h->version = pf_cursor_u16(c);
    if (h->version < 2 || h->version > 5)
        return false;
    if (h->version >= 5)
        pf_cursor_take(c, 2); /* sizes of an address and of a segment */
    uint64_t header_bytes = take_offset(c, h->offset_bytes);
    struct pf_cursor rest = *c;
    pf_cursor_take(&rest, header_bytes);
    h->program = rest;
    h->instruction_bytes = pf_cursor_u8(c);
    h->operations = h->version >= 4 ? pf_cursor_u8(c) : 1;
    h->is_statement = pf_cursor_u8(c);
    h->line_base = (int8_t)pf_cursor_u8(c);
    h->line_range = pf_cursor_u8(c);
    h->opcode_base = pf_cursor_u8(c);
    h->opcode_lengths = pf_cursor_take(c, h->opcode_base ? h->opcode_base - 1u : 0);
    files->version = h->version;
    if (h->version < 5) {
        take_old_tables(c, files);
    } else {
        take_table(c, sections, h->offset_bytes, files, true);
        take_table(c, sections, h->offset_bytes, files, false);
    }
    return !rest.failed && h->opcode_lengths;
}

/* ---- programs ------------------------------------------------------------------------------------------------- */

struct machine {
    struct pf_inlines_builder *builder;
    struct pf_line_files *files;
    const struct line_header *header;
    uint32_t unit;
    struct pf_line_state now;
    uint64_t operation; /* within the instruction, on VLIW machines */
    uint64_t column;
    uint32_t discriminator;
    size_t first_row; /* of the sequence */
    bool dropped;     /* the sequence describes code that the linker removed */
    uint64_t path_of; /* the last file whose path was asked for, and that */
    uint32_t path;
};

static void start_sequence(struct machine *m)
{
    m->now = (struct pf_line_state){.file = 1, .line = 1, .is_statement = m->header->is_statement};
    m->operation = m->column = m->discriminator = 0;
    m->first_row = m->builder->row_count;
    m->dropped = false;
}

static uint32_t path_now(struct machine *m)
{
    if (m->path_of != m->now.file) {
        m->path = pf_line_files_path(m->files, m->now.file);
        m->path_of = m->now.file;
    }
    return m->path;
}

/* Of rows at one address only the last one counts; a row that says the same as the one before says nothing. */
static void keep_row(struct machine *m)
{
    struct pf_inlines_builder *b = m->builder;
    const uint32_t discriminator = b->detailed ? m->discriminator : 0;
    m->discriminator = 0;
    if (b->row_count == m->first_row)
        m->dropped = !pf_builder_is_code(b, m->now.address);
    if (m->dropped || b->failed)
        return;
    struct pf_built_row row = {
        m->now.address, {path_now(m), (uint32_t)m->now.line, (uint32_t)m->column}, discriminator};
    struct pf_built_row *last = b->row_count > m->first_row ? &b->rows[b->row_count - 1] : NULL;
    if (last && last->address >= row.address) {
        row.address = last->address;
        *last = row;
        return;
    }
    if (last && pf_same_line(last, &row))
        return;
    (void)pf_take_steps(&b->steps, PF_KEPT_STEPS);
    if (!pf_grow(b->allocator, &b->rows, &b->row_capacity, b->row_count + 1, sizeof(row)))
        b->failed = true;
    else
        b->rows[b->row_count++] = row;
}

static void add_row(struct machine *m)
{
    if (m->files->take)
        m->files->take(m->files->context, &m->now);
    else
        keep_row(m);
    m->now.ends_prologue = false;
}

static void keep_sequence(struct machine *m)
{
    struct pf_inlines_builder *b = m->builder;
    size_t count = b->row_count - m->first_row;
    if (count && m->now.address > b->rows[m->first_row].address && !b->failed) {
        struct pf_claim claim = {.low = b->rows[m->first_row].address,
                                 .high = m->now.address,
                                 .priority = (uint64_t)(UINT32_MAX - m->unit) << 32 | (uint32_t)~b->span_count,
                                 .owner = (uint32_t)b->span_count};
        if (!pf_grow(b->allocator, &b->spans, &b->span_capacity, b->span_count + 1, sizeof(*b->spans))) {
            b->failed = true;
            return;
        }
        b->spans[b->span_count++] = (struct pf_line_span){m->first_row, count};
        pf_builder_claim(b, &b->span_claims, &claim);
    } else {
        b->row_count = m->first_row;
    }
}

static void end_sequence(struct machine *m)
{
    m->now.ends_sequence = true;
    if (m->files->take)
        m->files->take(m->files->context, &m->now);
    else
        keep_sequence(m);
    start_sequence(m);
}

static void advance(struct machine *m, uint64_t operations)
{
    const struct line_header *h = m->header;
    if (h->operations <= 1) {
        m->now.address += operations * h->instruction_bytes;
        return;
    }
    m->now.address += h->instruction_bytes * ((m->operation + operations) / h->operations);
    m->operation = (m->operation + operations) % h->operations;
}

static void advance_special(struct machine *m, uint8_t opcode)
{
    if (m->header->line_range)
        advance(m, (uint64_t)(opcode - m->header->opcode_base) / m->header->line_range);
}

static void run_extended(struct machine *m, struct pf_cursor *c)
{
    uint64_t bytes = pf_cursor_leb(c, false);
    const uint8_t *start = pf_cursor_take(c, bytes);
    if (!start || !bytes)
        return;
    struct pf_cursor body = pf_cursor_make(start, (size_t)bytes, 0, c->swap);
    uint8_t opcode = pf_cursor_u8(&body);
    if (opcode == DW_LNE_end_sequence) {
        end_sequence(m);
    } else if (opcode == DW_LNE_set_address) {
        m->now.address = bytes == 9 ? pf_cursor_u64(&body) : bytes == 5 ? pf_cursor_u32(&body) : 0;
        m->operation = 0;
    } else if (opcode == DW_LNE_set_discriminator) {
        m->discriminator = (uint32_t)pf_cursor_leb(&body, false);
    } else if (opcode == DW_LNE_define_file && m->header->version < 5) {
        const char *name = pf_cursor_text(&body, &(size_t){0});
        struct pf_line_file file = take_old_file(&body, name);
        add_file(m->files, &file);
        m->files->has_grown = true;
    }
}

static void run_standard(struct machine *m, struct pf_cursor *c, uint8_t opcode)
{
    switch (opcode) {
    case DW_LNS_copy:
        add_row(m);
        break;
    case DW_LNS_advance_pc:
        advance(m, pf_cursor_leb(c, false));
        break;
    case DW_LNS_advance_line:
        m->now.line += (uint64_t)(int64_t)pf_cursor_leb(c, true);
        break;
    case DW_LNS_set_file:
        m->now.file = pf_cursor_leb(c, false);
        break;
    case DW_LNS_set_column:
        m->column = pf_cursor_leb(c, false);
        break;
    case DW_LNS_negate_stmt:
        m->now.is_statement = !m->now.is_statement;
        break;
    case DW_LNS_set_prologue_end:
        m->now.ends_prologue = true;
        break;
    case DW_LNS_const_add_pc:
        advance_special(m, 255);
        break;
    case DW_LNS_fixed_advance_pc:
        m->now.address += pf_cursor_u16(c);
        m->operation = 0;
        break;
    default:
        for (unsigned i = m->header->opcode_lengths[opcode - 1]; i; i--)
            pf_cursor_leb(c, false);
    }
}

static void run_program(struct machine *m)
{
    struct pf_cursor c = m->header->program;
    start_sequence(m);
    while (pf_cursor_left(&c) && !c.failed && !m->builder->failed && pf_builder_step(m->builder)) {
        uint8_t opcode = pf_cursor_u8(&c);
        if (opcode >= m->header->opcode_base) {
            advance_special(m, opcode);
            if (m->header->line_range)
                m->now.line +=
                    (uint64_t)(m->header->line_base + (opcode - m->header->opcode_base) % m->header->line_range);
            add_row(m);
        } else if (opcode == 0) {
            run_extended(m, &c);
        } else {
            run_standard(m, &c, opcode);
        }
    }
    m->builder->row_count = m->first_row; /* a sequence without an end covers nothing */
}

void pf_line_table_read(struct pf_inlines_builder *builder, const struct pf_line_sections *sections, uint64_t offset,
                        uint32_t unit, bool with_rows, struct pf_line_files *files)
{
    struct line_header header = {0};
    struct pf_cursor c = take_unit(sections, offset, &header.offset_bytes);
    if (c.failed || !take_header(&c, sections, &header, files) || !with_rows)
        return;
    struct machine machine = {
        .builder = builder, .files = files, .header = &header, .unit = unit, .path_of = UINT64_MAX};
    run_program(&machine);
}
