/* SPDX-License-Identifier: MIT */
/* Source lines and inlined functions of programs in Go, from the table that they have without debug info, too. */
#include <sys/stat.h>

#include "symbol/dwarf/inlines_tables.h"
#include "base/sort.h"
#include "symbol/go_elf.h"

/* From the end of the one before to `end`. */
struct value {
    uint64_t end;
    int32_t value;
};

struct values {
    struct value *items;
    size_t count, capacity;
};

/* Nodes of one function by their numbers in its tree; 0: not made yet, else 1 more than its node. */
struct numbered {
    uint32_t *items;
    size_t capacity;
};

enum { NUMBERS_MAX = 1 << 16, DEPTH_MAX = 64 };

struct reading {
    struct pf_inlines_builder builder;
    const struct pf_go_table *table;
    struct pf_go_function function;
    struct values files;
    struct values lines;
    struct values inlined;
    struct numbered nodes;
    uint32_t base; /* the node of the function itself */
};

/* ---- what changes with the address ---- */

static void read_values(struct reading *r, struct values *values, uint64_t offset)
{
    struct pf_go_steps steps = pf_go_steps_of(r->table, &r->function, offset);
    struct pf_inlines_builder *b = &r->builder;
    values->count = 0;
    while (!b->failed && pf_builder_step(b) && pf_go_steps_next(&steps)) {
        if (!pf_grow(b->allocator, &values->items, &values->capacity, values->count + 1, sizeof(*values->items)))
            b->failed = true;
        else
            values->items[values->count++] = (struct value){pf_min(steps.end, r->function.end), steps.value};
        if (steps.end >= r->function.end)
            return;
    }
}

static int32_t value_at(const struct values *values, uint64_t address)
{
    const size_t first = PF_COUNT_BEFORE(values->count, i, values->items[i].end <= address);
    return first < values->count ? values->items[first].value : -1;
}

static uint32_t path_of(struct reading *r, int32_t number)
{
    return pf_builder_text(&r->builder, pf_go_table_file(r->table, &r->function, number));
}

/* ---- lines ---- */

static void add_row(struct reading *r, uint64_t address, int32_t file, int32_t line)
{
    struct pf_inlines_builder *b = &r->builder;
    const struct pf_built_row row = {address, {path_of(r, file), line > 0 ? (uint32_t)line : 0, 0}, 0};
    if (b->failed || !pf_grow(b->allocator, &b->rows, &b->row_capacity, b->row_count + 1, sizeof(row)))
        b->failed = true;
    else
        b->rows[b->row_count++] = row;
}

static void add_span(struct reading *r, size_t first, uint64_t end)
{
    struct pf_inlines_builder *b = &r->builder;
    const struct pf_claim claim = {.low = r->function.start, .high = end, .owner = (uint32_t)b->span_count};
    if (b->failed || !pf_grow(b->allocator, &b->spans, &b->span_capacity, b->span_count + 1, sizeof(*b->spans))) {
        b->failed = true;
        return;
    }
    b->spans[b->span_count++] = (struct pf_line_span){first, b->row_count - first};
    pf_builder_claim(b, &b->span_claims, &claim);
}

/* The file and the line change at addresses of their own. */
static void add_lines(struct reading *r)
{
    const size_t first = r->builder.row_count;
    uint64_t address = r->function.start;
    for (size_t f = 0, l = 0; f < r->files.count && l < r->lines.count && !r->builder.failed;) {
        const struct value *file = &r->files.items[f], *line = &r->lines.items[l];
        add_row(r, address, file->value, line->value);
        address = pf_min(file->end, line->end);
        f += file->end == address;
        l += line->end == address;
    }
    if (r->builder.row_count > first && address > r->function.start)
        add_span(r, first, address);
}

/* ---- inlined functions ---- */

static bool is_numbered(struct reading *r, int32_t number)
{
    if (number < 0 || number >= NUMBERS_MAX)
        return false;
    const bool fits = PF_HAS_ELEMENT(r->builder.allocator, r->nodes.items, r->nodes.capacity, number);
    r->builder.failed |= !fits;
    return fits;
}

static uint32_t make_node(struct reading *r, const struct pf_go_inlined *inlined, uint32_t parent)
{
    const int32_t line = value_at(&r->lines, inlined->call);
    const struct pf_inline_node node = {.parent = parent,
                                        .function = pf_builder_text(&r->builder, inlined->name),
                                        .call_file = path_of(r, value_at(&r->files, inlined->call)),
                                        .call_line = line > 0 ? (uint32_t)line : 0};
    return pf_builder_node(&r->builder, &node);
}

/* The node of a number, after those that it was inlined into. The function's own when one of them is not valid. */
static uint32_t node_of(struct reading *r, int32_t number)
{
    struct pf_go_inlined inlined[DEPTH_MAX];
    int32_t numbers[DEPTH_MAX];
    size_t depth = 0;
    for (; number != -1 && is_numbered(r, number) && !r->nodes.items[number]; depth++) {
        if (depth == DEPTH_MAX || !pf_builder_step(&r->builder) ||
            !pf_go_table_inlined(r->table, &r->function, number, &inlined[depth]))
            return r->base;
        numbers[depth] = number;
        number = value_at(&r->inlined, inlined[depth].call);
    }
    if (r->builder.failed || (number != -1 && !is_numbered(r, number)))
        return r->base;
    uint32_t node = number == -1 ? r->base : r->nodes.items[number] - 1;
    while (depth--) {
        node = make_node(r, &inlined[depth], node);
        r->nodes.items[numbers[depth]] = node + 1;
    }
    return node;
}

static void add_nodes(struct reading *r)
{
    struct pf_inlines_builder *b = &r->builder;
    const struct pf_go_function *f = &r->function;
    const struct pf_inline_node base = {.parent = (uint32_t)PF_INLINES_NONE, .function = pf_builder_text(b, f->name)};
    uint64_t address = f->start;
    if (r->nodes.items)
        memset(r->nodes.items, 0, r->nodes.capacity * sizeof(*r->nodes.items));
    r->base = pf_builder_node(b, &base);
    for (size_t i = 0; i < r->inlined.count && !b->failed; i++) {
        const struct value *value = &r->inlined.items[i];
        const struct pf_claim claim = {.low = address, .high = value->end, .owner = node_of(r, value->value)};
        pf_builder_claim(b, &b->node_claims, &claim);
        address = value->end;
    }
    const struct pf_claim rest = {.low = address, .high = f->end, .owner = r->base};
    if (address < f->end)
        pf_builder_claim(b, &b->node_claims, &rest);
}

/* ---- all functions ---- */

static void read_functions(struct reading *r)
{
    for (uint64_t i = 0; i < r->table->count && !r->builder.failed; i++) {
        if (!pf_builder_step(&r->builder) || !pf_go_table_function(r->table, i, &r->function))
            continue;
        read_values(r, &r->files, r->function.file_steps);
        read_values(r, &r->lines, r->function.line_steps);
        read_values(r, &r->inlined, r->function.tree == UINT64_MAX ? 0 : r->function.inline_steps);
        add_lines(r);
        add_nodes(r);
    }
}

static void close_values(const struct reading *r, struct values *values)
{
    pf_free(r->builder.allocator, values->items, values->capacity * sizeof(*values->items));
}

static void close_reading(struct reading *r)
{
    close_values(r, &r->files);
    close_values(r, &r->lines);
    close_values(r, &r->inlined);
    pf_free(r->builder.allocator, r->nodes.items, r->nodes.capacity * sizeof(*r->nodes.items));
    pf_builder_close(&r->builder);
}

int pf_inlines_from_go(const struct pf_go_table *table, const struct perfile_allocator *allocator,
                       struct pf_inlines **inlines, struct perfile_error *error)
{
    struct reading r = {.table = table};
    *inlines = NULL;
    pf_builder_open(&r.builder, pf_allocator_or_default(allocator));
    r.builder.steps = 64 * (uint64_t)table->bytes + (1 << 20);
    read_functions(&r);
    const int code = pf_builder_finish(&r.builder, inlines, error);
    close_reading(&r);
    return code;
}

int pf_inlines_open_go(const char *path, const struct perfile_allocator *allocator, struct pf_inlines **inlines,
                       struct perfile_error *error)
{
    struct pf_elf elf;
    struct pf_go_elf go;
    *inlines = NULL;
    allocator = pf_allocator_or_default(allocator);
    int code = pf_elf_open(&elf, path, allocator, error);
    if (code < 0)
        return code;
    code = pf_elf_check(&elf, pf_go_elf_open(&go, &elf));
    if (code == 0)
        code = pf_inlines_from_go(&go.table, allocator, inlines, error);
    if (code == 0)
        (*inlines)->files.debug = elf.identity;
    pf_go_elf_close(&go);
    pf_elf_close(&elf);
    return code;
}
