/* SPDX-License-Identifier: MIT */
/* From claims that may overlap and rows in any order to the sorted tables of one block. */
#include <stdlib.h>

#include "base/error.h"
#include "base/sort.h"
#include "base/work_parts.h"
#include "symbol/dwarf/inlines_tables.h"

static const char what[] = "debug info";

void pf_builder_open(struct pf_inlines_builder *builder, const struct perfile_allocator *allocator)
{
    *builder = (struct pf_inlines_builder){.allocator = allocator};
    pf_map_open(&builder->text_by_hash, allocator);
    builder->failed = !pf_grow(allocator, &builder->text, &builder->text_capacity, 64 * 1024, 1);
    if (!builder->failed)
        builder->text[builder->text_used++] = '\0';
}

void pf_builder_close(struct pf_inlines_builder *builder)
{
    const struct perfile_allocator *allocator = builder->allocator;
    pf_map_close(&builder->text_by_hash);
    pf_free(allocator, builder->text, builder->text_capacity);
    pf_free(allocator, builder->rows, builder->row_capacity * sizeof(*builder->rows));
    pf_free(allocator, builder->spans, builder->span_capacity * sizeof(*builder->spans));
    pf_free(allocator, builder->span_claims.items, builder->span_claims.capacity * sizeof(struct pf_claim));
    pf_free(allocator, builder->nodes, builder->node_capacity * sizeof(*builder->nodes));
    pf_free(allocator, builder->details, builder->detail_capacity * sizeof(*builder->details));
    pf_free(allocator, builder->node_claims.items, builder->node_claims.capacity * sizeof(struct pf_claim));
    pf_free(allocator, builder->code.items, builder->code.capacity * sizeof(struct pf_claim));
    pf_free(allocator, builder->moved, builder->moved_capacity * sizeof(*builder->moved));
}

/* ---- texts ---------------------------------------------------------------------------------------------------- */

static uint64_t hash_of(const char *text, size_t bytes)
{
    uint64_t hash = bytes * 0x9e3779b97f4a7c15ull;
    for (; bytes >= 8; bytes -= 8, text += 8) {
        hash = (hash ^ pf_load64(text, false)) * 0xbf58476d1ce4e5b9ull;
        hash ^= hash >> 29;
    }
    uint64_t tail = 0;
    memcpy(&tail, text, bytes);
    hash = (hash ^ tail) * 0x94d049bb133111ebull;
    return hash ^ hash >> 32;
}

static uint32_t append_text(struct pf_inlines_builder *b, const char *text, size_t bytes)
{
    if (b->text_used + bytes > UINT32_MAX ||
        !pf_grow(b->allocator, &b->text, &b->text_capacity, b->text_used + bytes, 1)) {
        b->failed = true;
        return 0;
    }
    memcpy(b->text + b->text_used, text, bytes);
    b->text_used += bytes;
    return (uint32_t)(b->text_used - bytes);
}

uint32_t pf_builder_text(struct pf_inlines_builder *b, const char *text)
{
    if (!text || !*text || b->failed)
        return 0;
    enum { PROBES_MAX = 64 }; /* no file has more texts of one hash but those made to be slow: they lose the text */
    const size_t bytes = strnlen(text, PF_DEBUG_TEXT_MAX) + 1;
    const uint64_t hash = hash_of(text, bytes);
    uint64_t key = hash, at;
    if (bytes > PF_DEBUG_TEXT_MAX)
        return 0;
    for (; pf_map_get(&b->text_by_hash, key, &at); key++)
        if (key - hash == PROBES_MAX)
            return 0;
        else if (b->text_used - at >= bytes && memcmp(b->text + at, text, bytes) == 0)
            return (uint32_t)at;
    uint32_t offset = append_text(b, text, bytes);
    if (!pf_map_put(&b->text_by_hash, key, offset))
        b->failed = true;
    return offset;
}

/* ---- nodes and claims ----------------------------------------------------------------------------------------- */

uint32_t pf_builder_node(struct pf_inlines_builder *b, const struct pf_inline_node *node)
{
    if (b->node_count >= UINT32_MAX - 1 ||
        !pf_grow(b->allocator, &b->nodes, &b->node_capacity, b->node_count + 1, sizeof(*b->nodes)) ||
        (b->detailed &&
         !pf_grow(b->allocator, &b->details, &b->detail_capacity, b->node_count + 1, sizeof(*b->details)))) {
        b->failed = true;
        return (uint32_t)PF_INLINES_NONE;
    }
    if (b->detailed)
        b->details[b->node_count] = (struct pf_node_detail){0};
    b->nodes[b->node_count] = *node;
    return (uint32_t)b->node_count++;
}

void pf_builder_claim(struct pf_inlines_builder *b, struct pf_claims *claims, const struct pf_claim *claim)
{
    if (!pf_grow(b->allocator, &claims->items, &claims->capacity, claims->count + 1, sizeof(*claims->items)))
        b->failed = true;
    else
        claims->items[claims->count++] = *claim;
}

bool pf_builder_is_code(const struct pf_inlines_builder *b, uint64_t address)
{
    const struct pf_claims *code = b->total ? &b->total->code : &b->code;
    const size_t after = PF_COUNT_BEFORE(code->count, i, code->items[i].low <= address);
    return after && address < code->items[after - 1].high;
}

/* ---- the owners of addresses ------------------------------------------------------------------------------------ */

/* Low ends and numbers of claims, sorted, and memory for as many; NULL when out of memory. */
static struct pf_sort_item *sort_claims(const struct perfile_allocator *allocator, const struct pf_claims *claims)
{
    struct pf_sort_item *items =
        claims->count <= UINT32_MAX ? pf_new(allocator, 2 * claims->count * sizeof(*items) + 1) : NULL;
    for (size_t i = 0; items && i < claims->count; i++)
        items[i] = (struct pf_sort_item){claims->items[i].low, (uint32_t)i};
    if (items)
        pf_sort_words(items, items + claims->count, claims->count);
    return items;
}

static int compare_lows(const void *a, const void *b)
{
    const struct pf_claim *x = a, *y = b;
    return PF_COMPARE(x->low, y->low);
}

void pf_builder_sort_code(struct pf_inlines_builder *b)
{
    struct pf_claim *items = b->code.items;
    size_t count = 0;
    if (b->code.count)
        qsort(items, b->code.count, sizeof(*items), compare_lows);
    for (size_t i = 0; i < b->code.count; i++) {
        if (count && items[i].low <= items[count - 1].high)
            items[count - 1].high = pf_max(items[count - 1].high, items[i].high);
        else
            items[count++] = items[i];
    }
    b->code.count = count;
}

/* A heap of the claims that are open at the current address, the highest priority at the root. */
struct open_claims {
    const struct pf_claim **items;
    size_t count, capacity;
};

static bool open_claim(const struct perfile_allocator *allocator, struct open_claims *open,
                       const struct pf_claim *claim)
{
    if (!pf_grow(allocator, &open->items, &open->capacity, open->count + 1, sizeof(*open->items)))
        return false;
    size_t i = open->count++;
    for (; i && open->items[(i - 1) / 2]->priority < claim->priority; i = (i - 1) / 2)
        open->items[i] = open->items[(i - 1) / 2];
    open->items[i] = claim;
    return true;
}

static void close_root(struct open_claims *open)
{
    const struct pf_claim *last = open->items[--open->count];
    size_t i = 0, child;
    while ((child = 2 * i + 1) < open->count) {
        if (child + 1 < open->count && open->items[child + 1]->priority > open->items[child]->priority)
            child++;
        if (open->items[child]->priority <= last->priority)
            break;
        open->items[i] = open->items[child];
        i = child;
    }
    open->items[i] = last;
}

typedef void deliver_piece(void *context, uint64_t low, uint64_t high, uint32_t owner);

/* Cuts the claims at each other's ends and delivers the owner of each piece, ascending and without overlap. */
static bool settle_claims(const struct perfile_allocator *allocator, const struct pf_claims *claims,
                          deliver_piece *deliver, void *context)
{
    struct open_claims open = {NULL, 0, 0};
    struct pf_sort_item *sorted = sort_claims(allocator, claims);
    uint64_t at = 0;
    size_t next = 0;
    bool fine = sorted;
    while (fine && (next < claims->count || open.count)) {
        if (!open.count)
            at = sorted[next].word;
        while (fine && next < claims->count && sorted[next].word == at)
            fine = open_claim(allocator, &open, &claims->items[sorted[next++].number]);
        while (open.count && open.items[0]->high <= at)
            close_root(&open);
        if (!open.count || !fine)
            continue;
        uint64_t end = open.items[0]->high;
        if (next < claims->count && sorted[next].word < end)
            end = sorted[next].word;
        deliver(context, at, end, open.items[0]->owner);
        at = end;
    }
    pf_free(allocator, open.items, open.capacity * sizeof(*open.items));
    pf_free(allocator, sorted, 2 * claims->count * sizeof(*sorted) + 1);
    return fine;
}

/* ---- segments and rows ---------------------------------------------------------------------------------------- */

struct tables {
    struct pf_inlines_builder *builder;
    /* Segments and lines are made by two threads: neither looks at what the other one changes. */
    uint64_t *segment_addresses;
    uint32_t *segment_nodes;
    size_t segment_count, address_capacity, node_capacity;
    uint64_t segments_end; /* of the last piece */
    bool segments_failed;
    bool lines_failed;
    uint64_t lines_end;
    uint64_t *line_addresses;
    struct pf_line_row *rows;
    uint32_t *discriminators; /* of detailed tables */
    size_t row_count, line_capacity, row_capacity, discriminator_capacity;
    struct pf_built_row last; /* of the rows */
};

static void add_segment(struct tables *t, uint64_t address, uint32_t node)
{
    const struct perfile_allocator *allocator = t->builder->allocator;
    if (t->segment_count && t->segment_nodes[t->segment_count - 1] == node)
        return;
    if (!pf_grow(allocator, &t->segment_addresses, &t->address_capacity, t->segment_count + 1, sizeof(uint64_t)) ||
        !pf_grow(allocator, &t->segment_nodes, &t->node_capacity, t->segment_count + 1, sizeof(uint32_t))) {
        t->segments_failed = true;
        return;
    }
    t->segment_addresses[t->segment_count] = address;
    t->segment_nodes[t->segment_count++] = node;
}

static void take_segment(void *context, uint64_t low, uint64_t high, uint32_t node)
{
    struct tables *t = context;
    if (t->segment_count && t->segments_end < low)
        add_segment(t, t->segments_end, (uint32_t)PF_INLINES_NONE);
    add_segment(t, low, node);
    t->segments_end = high;
}

static bool grow_rows(struct tables *t)
{
    const struct perfile_allocator *allocator = t->builder->allocator;
    return pf_grow(allocator, &t->line_addresses, &t->line_capacity, t->row_count + 1, sizeof(uint64_t)) &&
           pf_grow(allocator, &t->rows, &t->row_capacity, t->row_count + 1, sizeof(*t->rows)) &&
           (!t->builder->detailed || pf_grow(allocator, &t->discriminators, &t->discriminator_capacity,
                                             t->row_count + 1, sizeof(*t->discriminators)));
}

static void add_row(struct tables *t, uint64_t address, const struct pf_built_row *row)
{
    if (t->row_count && pf_same_line(&t->last, row))
        return;
    if (!grow_rows(t)) {
        t->lines_failed = true;
        return;
    }
    if (t->builder->detailed)
        t->discriminators[t->row_count] = row->discriminator;
    t->line_addresses[t->row_count] = address;
    t->rows[t->row_count++] = row->row;
    t->last = *row;
}

static const struct pf_built_row no_row = {0, {0, 0, 0}, 0};

/* The rows of a span that are in force from low to high. */
static void take_span(void *context, uint64_t low, uint64_t high, uint32_t owner)
{
    struct tables *t = context;
    const struct pf_line_span *span = &t->builder->spans[owner];
    const struct pf_built_row *rows = t->builder->rows + span->first;
    if (t->row_count && t->lines_end < low)
        add_row(t, t->lines_end, &no_row);
    t->lines_end = high;
    const size_t after = PF_COUNT_BEFORE(span->count, i, rows[i].address <= low);
    for (size_t i = after ? after - 1 : 0; i < span->count && rows[i].address < high; i++)
        add_row(t, pf_max(rows[i].address, low), &rows[i]);
}

static void close_tables(struct tables *t)
{
    const struct perfile_allocator *allocator = t->builder->allocator;
    pf_free(allocator, t->segment_addresses, t->address_capacity * sizeof(uint64_t));
    pf_free(allocator, t->segment_nodes, t->node_capacity * sizeof(uint32_t));
    pf_free(allocator, t->line_addresses, t->line_capacity * sizeof(uint64_t));
    pf_free(allocator, t->rows, t->row_capacity * sizeof(*t->rows));
    pf_free(allocator, t->discriminators, t->discriminator_capacity * sizeof(*t->discriminators));
}

/* Only nodes that some address leads to are kept; the order stays, so that parents still come first. */
static bool drop_unused_nodes(struct tables *t)
{
    struct pf_inlines_builder *b = t->builder;
    size_t bytes = (b->node_count + 1) * sizeof(uint32_t);
    uint32_t *number = pf_new(b->allocator, bytes);
    if (!number)
        return false;
    for (size_t i = 0; i < t->segment_count; i++)
        if (t->segment_nodes[i] < b->node_count)
            number[t->segment_nodes[i]] = 1;
    for (size_t i = b->node_count; i-- > 0;)
        if (number[i] && b->nodes[i].parent < i)
            number[b->nodes[i].parent] = 1;
    uint32_t count = 0;
    for (size_t i = 0; i < b->node_count; i++) {
        if (!number[i])
            continue;
        number[i] = count;
        struct pf_inline_node node = b->nodes[i];
        if (node.parent < i)
            node.parent = number[node.parent];
        if (b->detailed)
            b->details[count] = b->details[i];
        b->nodes[count++] = node;
    }
    for (size_t i = 0; i < t->segment_count; i++)
        if (t->segment_nodes[i] < b->node_count)
            t->segment_nodes[i] = number[t->segment_nodes[i]];
    pf_free(b->allocator, number, bytes);
    b->node_count = count;
    return true;
}

static void fill_segments(struct tables *t)
{
    struct pf_inlines_builder *b = t->builder;
    const bool is_settled = settle_claims(b->allocator, &b->node_claims, take_segment, t);
    if (t->segment_count)
        add_segment(t, t->segments_end, (uint32_t)PF_INLINES_NONE);
    if (!is_settled || t->segments_failed || !drop_unused_nodes(t))
        t->segments_failed = true;
}

static void fill_lines(struct tables *t)
{
    const bool is_settled = settle_claims(t->builder->allocator, &t->builder->span_claims, take_span, t);
    if (t->row_count)
        add_row(t, t->lines_end, &no_row);
    if (!is_settled)
        t->lines_failed = true;
}

static void fill_part(void *context, size_t part)
{
    if (part == 0)
        fill_segments(context);
    else
        fill_lines(context);
}

static bool fill_tables(struct tables *t)
{
    const struct pf_work_parts parts = {fill_part, t, 2, t->builder->threads};
    pf_work_parts_do(&parts, t->builder->allocator);
    return !t->segments_failed && !t->lines_failed;
}

/* Parents come first; so one look at each node is enough, however deep they are. */
static void find_subprograms(struct pf_inlines_builder *b)
{
    for (uint32_t i = 0; b->detailed && i < b->node_count; i++) {
        const uint32_t parent = b->nodes[i].parent;
        b->details[i].subprogram = parent < i ? b->details[parent].subprogram : i;
    }
}

/* ---- the block ------------------------------------------------------------------------------------------------ */

struct piece {
    const void *data;
    size_t count;
};

static bool make_block(struct pf_inlines *inlines, const struct piece pieces[PF_PART_COUNT])
{
    struct pf_inlines_header header = {
        .magic = PF_INLINES_MAGIC, .version = PF_INLINES_VERSION, .byte_order = 1, .bytes = sizeof(header)};
    for (unsigned i = 0; i < PF_PART_COUNT; i++) {
        header.parts[i] = (struct pf_inlines_part){header.bytes, pieces[i].count};
        header.bytes += pf_align8(pieces[i].count * pf_inlines_element_bytes(i));
    }
    inlines->block = pf_new(inlines->allocator, (size_t)header.bytes);
    if (!inlines->block)
        return false;
    inlines->bytes = (size_t)header.bytes;
    memcpy(inlines->block, &header, sizeof(header));
    for (unsigned i = 0; i < PF_PART_COUNT; i++)
        if (pieces[i].count)
            memcpy((char *)inlines->block + header.parts[i].offset, pieces[i].data,
                   pieces[i].count * pf_inlines_element_bytes(i));
    return pf_inlines_attach(inlines);
}

static int finish_tables(struct tables *t, struct pf_inlines **result, struct perfile_error *error)
{
    struct pf_inlines_builder *b = t->builder;
    if (b->failed || !fill_tables(t))
        return pf_fail_memory(error, what);
    if (!t->segment_count && !t->row_count)
        return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, what, "no lines and no functions");
    find_subprograms(b);
    struct pf_inlines *inlines = pf_new(b->allocator, sizeof(*inlines));
    if (!inlines)
        return pf_fail_memory(error, what);
    inlines->allocator = b->allocator;
    const struct piece pieces[PF_PART_COUNT] = {
        [PF_PART_LINE_ADDRESSES] = {t->line_addresses, t->row_count},
        [PF_PART_SEGMENT_ADDRESSES] = {t->segment_addresses, t->segment_count},
        [PF_PART_ROWS] = {t->rows, t->row_count},
        [PF_PART_SEGMENT_NODES] = {t->segment_nodes, t->segment_count},
        [PF_PART_NODES] = {b->nodes, b->node_count},
        [PF_PART_TEXT] = {b->text, b->text_used},
        [PF_PART_NODE_DETAILS] = {b->details, b->detailed ? b->node_count : 0},
        [PF_PART_DISCRIMINATORS] = {t->discriminators, b->detailed ? t->row_count : 0},
    };
    if (!make_block(inlines, pieces)) {
        pf_inlines_close(inlines);
        return pf_fail_memory(error, what);
    }
    *result = inlines;
    return 0;
}

int pf_builder_finish(struct pf_inlines_builder *builder, struct pf_inlines **inlines, struct perfile_error *error)
{
    struct tables tables = {.builder = builder};
    int result = finish_tables(&tables, inlines, error);
    close_tables(&tables);
    return result;
}
