/* SPDX-License-Identifier: MIT */
#include "symbol/go_table.h"

enum { HEADER_BYTES = 8, ABSENT = -1 };

/* What the header and its functions look like. Numbers of words count in pointers after the first eight bytes. */
struct pf_go_layout {
    uint32_t magic;
    int8_t text, names, units, files, steps, functions;
    bool is_relative;     /* addresses are offsets of 32 bits */
    uint8_t unit_at;      /* in a function, after its address; 0: its files have the numbers of the table */
    uint8_t counts_at;    /* ID, flag, a byte, and how many pieces of data there are */
    uint8_t inlined_step; /* which steps are those of inlined functions, and which data; 0: not used */
    uint8_t inlined_data;
    uint8_t inlined_bytes; /* of a node, and where its name and its call are */
    uint8_t inlined_name_at;
    uint8_t inlined_call_at;
};

/* The parts of a function that all layouts have, after its address. */
enum { FILE_STEPS_AT = 16, LINE_STEPS_AT = 20, STEPS_COUNT_AT = 24 };

static const struct pf_go_layout layouts[] = {
    {0xfffffffb, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, false, 0, 28, 0, 0, 0, 0, 0},
    {0xfffffffa, ABSENT, 2, 3, 4, 5, 6, false, 28, 32, 0, 0, 0, 0, 0},
    {0xfffffff0, 2, 3, 4, 5, 6, 7, true, 28, 32, 2, 3, 20, 12, 16},
    {0xfffffff1, 2, 3, 4, 5, 6, 7, true, 28, 36, 2, 3, 16, 4, 8},
};

/* ---- numbers at offsets ---- */

static struct pf_cursor cursor_at(const struct pf_go_table *table, uint64_t offset)
{
    const size_t start = (size_t)pf_min(offset, (uint64_t)table->bytes);
    return pf_cursor_make(table->data + start, table->bytes - start, start, table->swap);
}

static uint64_t take_pointer(const struct pf_go_table *table, struct pf_cursor *c)
{
    return table->pointer_bytes == 8 ? pf_cursor_u64(c) : pf_cursor_u32(c);
}

static bool read_u32(const struct pf_go_table *table, uint64_t offset, uint32_t *value)
{
    struct pf_cursor c = cursor_at(table, offset);
    *value = pf_cursor_u32(&c);
    return !c.failed;
}

/* NULL when it is missing or empty. */
static const char *text_at(const struct pf_go_table *table, uint64_t start, uint64_t offset)
{
    uint64_t at;
    size_t bytes;
    if (!pf_add(start, offset, &at))
        return NULL;
    struct pf_cursor c = cursor_at(table, at);
    const char *text = pf_cursor_text(&c, &bytes);
    return text && *text ? text : NULL;
}

/* ---- the header ---- */

static const struct pf_go_layout *layout_of(uint32_t magic)
{
    for (size_t i = 0; i < PF_COUNT(layouts); i++)
        if (layouts[i].magic == magic)
            return &layouts[i];
    return NULL;
}

static bool read_word(const struct pf_go_table *table, int word, uint64_t *value)
{
    if (word == ABSENT)
        return true;
    struct pf_cursor c = cursor_at(table, HEADER_BYTES + (uint64_t)word * table->pointer_bytes);
    *value = take_pointer(table, &c);
    return !c.failed;
}

static uint64_t entry_bytes(const struct pf_go_table *table)
{
    return table->layout->is_relative ? 4 : table->pointer_bytes;
}

/* The index has two entries for each function, and the end of the last one. Before Go 1.16 the files follow it. */
static bool find_index(struct pf_go_table *table)
{
    uint64_t bytes, end;
    uint32_t files;
    const bool is_first = table->layout->functions == ABSENT;
    table->index = is_first ? HEADER_BYTES + (uint64_t)table->pointer_bytes : table->functions;
    if (!pf_multiply(table->count, 2 * entry_bytes(table), &bytes) || !pf_add(table->index, bytes, &end) ||
        !pf_add(end, entry_bytes(table), &end) || end > table->bytes)
        return false;
    if (is_first && read_u32(table, end, &files))
        table->files = files;
    return true;
}

bool pf_go_table_open(struct pf_go_table *table, const uint8_t *data, size_t bytes, bool swap)
{
    *table = (struct pf_go_table){.data = data, .bytes = bytes, .swap = swap};
    struct pf_cursor c = cursor_at(table, 0);
    const struct pf_go_layout *layout = table->layout = layout_of(pf_cursor_u32(&c));
    const uint16_t zeros = pf_cursor_u16(&c);
    table->quantum = pf_cursor_u8(&c);
    table->pointer_bytes = pf_cursor_u8(&c);
    if (c.failed || !layout || zeros || (table->quantum != 1 && table->quantum != 2 && table->quantum != 4) ||
        (table->pointer_bytes != 4 && table->pointer_bytes != 8))
        return false;
    return read_word(table, 0, &table->count) && read_word(table, layout->text, &table->text) &&
           read_word(table, layout->names, &table->names) && read_word(table, layout->units, &table->units) &&
           read_word(table, layout->files, &table->files) && read_word(table, layout->steps, &table->steps) &&
           read_word(table, layout->functions, &table->functions) && table->count && find_index(table);
}

bool pf_go_table_is_relative(const struct pf_go_table *table)
{
    return table->layout->is_relative;
}

/* ---- functions ---- */

static uint64_t take_address(const struct pf_go_table *table, struct pf_cursor *c)
{
    return table->layout->is_relative ? table->text + pf_cursor_u32(c) : take_pointer(table, c);
}

bool pf_go_table_address(const struct pf_go_table *table, uint64_t number, uint64_t *address)
{
    if (number > table->count)
        return false;
    struct pf_cursor c = cursor_at(table, table->index + number * 2 * entry_bytes(table));
    *address = take_address(table, &c);
    return !c.failed;
}

/* Where a function is described. */
static bool find_function(const struct pf_go_table *table, uint64_t number, uint64_t *at)
{
    struct pf_cursor c = cursor_at(table, table->index + (number * 2 + 1) * entry_bytes(table));
    const uint64_t offset = table->layout->is_relative ? pf_cursor_u32(&c) : take_pointer(table, &c);
    return !c.failed && pf_add(table->functions, offset, at) && *at < table->bytes;
}

/* The steps and the tree of inlined functions, from what follows the fixed part of a function. */
static void find_inlined(const struct pf_go_table *table, uint64_t parts, struct pf_go_function *f)
{
    const struct pf_go_layout *layout = table->layout;
    uint32_t step_count, steps = 0, tree = UINT32_MAX;
    if (!layout->inlined_step || !table->trees || !read_u32(table, parts + STEPS_COUNT_AT, &step_count) ||
        step_count <= layout->inlined_step || step_count > table->bytes / 4)
        return;
    struct pf_cursor c = cursor_at(table, parts + layout->counts_at + 3);
    const uint8_t data_count = pf_cursor_u8(&c);
    const uint64_t lists = parts + layout->counts_at + 4;
    if (c.failed || data_count <= layout->inlined_data ||
        !read_u32(table, lists + 4 * (uint64_t)layout->inlined_step, &steps) || !steps ||
        !read_u32(table, lists + 4 * ((uint64_t)step_count + layout->inlined_data), &tree) || tree == UINT32_MAX)
        return;
    f->inline_steps = table->steps + steps;
    f->tree = tree;
}

bool pf_go_table_function(const struct pf_go_table *table, uint64_t number, struct pf_go_function *f)
{
    uint64_t at;
    *f = (struct pf_go_function){.tree = UINT64_MAX};
    if (number >= table->count || !pf_go_table_address(table, number, &f->start) ||
        !pf_go_table_address(table, number + 1, &f->end) || f->start >= f->end || !find_function(table, number, &at))
        return false;
    struct pf_cursor c = cursor_at(table, at);
    const bool agrees = take_address(table, &c) == f->start;
    const uint64_t parts = pf_cursor_offset(&c);
    const uint32_t name = pf_cursor_u32(&c);
    uint32_t file_steps, line_steps;
    if (c.failed || !agrees || (!name && !table->names) || !read_u32(table, parts + FILE_STEPS_AT, &file_steps) ||
        !read_u32(table, parts + LINE_STEPS_AT, &line_steps))
        return false;
    f->name = text_at(table, table->names, name);
    f->file_steps = file_steps ? table->steps + file_steps : 0;
    f->line_steps = line_steps ? table->steps + line_steps : 0;
    if (table->layout->unit_at)
        (void)read_u32(table, parts + table->layout->unit_at, &f->unit);
    find_inlined(table, parts, f);
    return f->name;
}

const char *pf_go_table_file(const struct pf_go_table *table, const struct pf_go_function *function, int32_t number)
{
    const bool has_units = table->layout->unit_at;
    const uint64_t index = has_units ? (uint64_t)function->unit + (uint32_t)number : (uint32_t)number;
    uint32_t offset;
    if (number < 0 || !table->files || !read_u32(table, (has_units ? table->units : table->files) + 4 * index, &offset))
        return NULL;
    return offset == UINT32_MAX ? NULL : text_at(table, has_units ? table->files : 0, offset);
}

bool pf_go_table_inlined(const struct pf_go_table *table, const struct pf_go_function *function, int32_t number,
                         struct pf_go_inlined *inlined)
{
    const struct pf_go_layout *layout = table->layout;
    uint64_t at;
    if (number < 0 || function->tree == UINT64_MAX ||
        !pf_add(function->tree, (uint64_t)number * layout->inlined_bytes, &at) || at > table->tree_bytes)
        return false;
    struct pf_cursor c = pf_cursor_make(table->trees + at, table->tree_bytes - (size_t)at, at, table->swap);
    const uint8_t *node = pf_cursor_take(&c, layout->inlined_bytes);
    if (!node)
        return false;
    const uint32_t name = pf_load32(node + layout->inlined_name_at, table->swap);
    inlined->name = text_at(table, table->names, name);
    inlined->call = function->start + pf_load32(node + layout->inlined_call_at, table->swap);
    /* names follow each other: one starts after the end of another */
    return inlined->name && (!name || inlined->name[-1] == '\0') && inlined->call < function->end;
}

/* ---- steps ---- */

struct pf_go_steps pf_go_steps_of(const struct pf_go_table *table, const struct pf_go_function *function,
                                  uint64_t offset)
{
    return (struct pf_go_steps){.at = cursor_at(table, offset ? offset : table->bytes),
                                .end = function->start,
                                .value = -1,
                                .quantum = table->quantum};
}

bool pf_go_steps_next(struct pf_go_steps *steps)
{
    const uint32_t change = (uint32_t)pf_cursor_leb(&steps->at, false);
    const uint32_t units = (uint32_t)pf_cursor_leb(&steps->at, false);
    if (steps->at.failed || (!change && steps->started) || !units)
        return false;
    const uint32_t difference = change & 1 ? ~(change >> 1) : change >> 1;
    steps->started = true;
    steps->value = (int32_t)((uint32_t)steps->value + difference);
    return pf_add(steps->end, (uint64_t)units * steps->quantum, &steps->end);
}
