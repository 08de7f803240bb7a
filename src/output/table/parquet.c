/* SPDX-License-Identifier: MIT */
/*
 * Apache Parquet: row groups of columns, each with its range of values, and the schema in a footer. Whether a column
 * can be null depends on the view alone, not on the recording: files of many recordings have equal schemas, but for the
 * columns that are missing.
 */
#include "output/table/parquet.h"

#include <stdio.h>

#include "base/stages.h"

enum {
    GROUP_ROWS = 1 << 20,  /* queries of many small ones take longer, and so do the files */
    GROUP_BYTES = 1 << 27, /* before they are compressed */
};

/* What a batch becomes. */
struct part {
    struct pf_parquet_pages pages;
    uint64_t group_rows;             /* of the row group that ends with it; 0: none does */
    struct pf_parquet_facts *chunks; /* of its columns */
};

struct parquet {
    const struct perfile_allocator *allocator;
    struct pf_fields fields;
    struct pf_parquet_column *columns;
    size_t column_count;             /* that are open */
    ZSTD_CCtx *zstd[PF_THREADS_MAX]; /* of each thread, as far as it had something to compress */

    /* for the encoding thread */
    struct pf_parquet_press press;
    uint64_t group_rows;

    /* for the writing thread */
    struct part part;       /* without other threads */
    struct pf_block groups; /* what the footer has of the row groups */
    struct pf_block footer;
    size_t group_count;
    uint64_t rows;
    uint64_t offset; /* in the file */
};

static void put(struct pf_sheet *sheet, const struct pf_block *block)
{
    struct parquet *parquet = sheet->state;
    if (block->used)
        pf_put_through(sheet->out, block->data, block->used);
    parquet->offset += block->used;
}

/* ---- row groups -------------------------------------------------------------------------------------------------- */

static ZSTD_CCtx *zstd_of(struct parquet *parquet, unsigned worker)
{
    if (!parquet->zstd[worker] && !(parquet->zstd[worker] = ZSTD_createCCtx()))
        pf_memory_note_short(parquet->allocator);
    return parquet->zstd[worker];
}

static void end_group(const struct pf_sheet *sheet, struct part *part)
{
    struct parquet *parquet = sheet->state;
    for (size_t i = 0; i < parquet->column_count; i++) {
        struct pf_parquet_column *column = &parquet->columns[i];
        pf_parquet_column_end(column, &sheet->columns[column->field->index], &parquet->press, &part->chunks[i]);
    }
    part->group_rows = parquet->group_rows;
    parquet->group_rows = 0;
    parquet->press.raw_bytes = 0;
}

static void encode(struct pf_sheet *sheet, void *state)
{
    struct parquet *parquet = sheet->state;
    struct part *part = state;
    part->group_rows = 0;
    for (size_t i = 0; i < parquet->column_count; i++) {
        struct pf_parquet_column *column = &parquet->columns[i];
        pf_parquet_column_add(column, &sheet->columns[column->field->index], &parquet->press, sheet->row_count);
    }
    parquet->group_rows += sheet->row_count;
    if (parquet->group_rows >= GROUP_ROWS || parquet->press.raw_bytes >= GROUP_BYTES)
        end_group(sheet, part);
}

static void write_group(struct pf_sheet *sheet, const struct part *part)
{
    struct parquet *parquet = sheet->state;
    struct pf_thrift thrift = {.to = &parquet->groups};
    const uint64_t start = parquet->offset;
    uint64_t raw = 0;
    pf_thrift_begin(&thrift, 0);
    pf_thrift_list(&thrift, 1, PF_THRIFT_STRUCT, parquet->column_count);
    for (size_t i = 0; i < parquet->column_count; i++) {
        struct pf_parquet_column *column = &parquet->columns[i];
        pf_parquet_column_describe(column, &part->chunks[i], &thrift, parquet->offset);
        put(sheet, &column->dictionary_page);
        put(sheet, &column->pages);
        raw += column->raw_bytes;
        pf_parquet_column_drop(column);
    }
    pf_thrift_number(&thrift, 2, PF_THRIFT_I64, (int64_t)raw);
    pf_thrift_number(&thrift, 3, PF_THRIFT_I64, (int64_t)part->group_rows);
    pf_thrift_number(&thrift, 5, PF_THRIFT_I64, (int64_t)start);
    pf_thrift_number(&thrift, 6, PF_THRIFT_I64, (int64_t)(parquet->offset - start));
    pf_thrift_end(&thrift);
    parquet->group_count++;
    parquet->rows += part->group_rows;
}

/* Nothing is written of what memory was short for. */
static void put_part(struct pf_sheet *sheet, void *state)
{
    struct parquet *parquet = sheet->state;
    struct part *part = state;
    pf_parquet_pages_collect(&part->pages);
    if (part->group_rows && !pf_memory_was_short(parquet->allocator))
        write_group(sheet, part);
}

static void put_batch(struct pf_sheet *sheet)
{
    struct parquet *parquet = sheet->state;
    if (!parquet || pf_memory_was_short(parquet->allocator))
        return;
    encode(sheet, &parquet->part);
    put_part(sheet, &parquet->part);
}

/* ---- with other threads ------------------------------------------------------------------------------------------ */

static void close_part(struct parquet *parquet, struct part *part)
{
    pf_parquet_pages_close(&part->pages, parquet->allocator);
    pf_free(parquet->allocator, part->chunks, parquet->fields.count * sizeof(*part->chunks));
}

static void close_step(struct pf_sheet *sheet, void *part)
{
    struct parquet *parquet = sheet->state;
    if (!part)
        return;
    close_part(parquet, part);
    pf_free(parquet->allocator, part, sizeof(struct part));
}

static void *open_step(struct pf_sheet *sheet)
{
    struct parquet *parquet = sheet->state;
    struct part *part = parquet ? pf_new(parquet->allocator, sizeof(*part)) : NULL;
    if (part && !(part->chunks = pf_new(parquet->allocator, parquet->fields.count * sizeof(*part->chunks)))) {
        close_step(sheet, part);
        part = NULL;
    }
    return part;
}

static void encode_step(struct pf_sheet *sheet, void *state)
{
    struct parquet *parquet = sheet->state;
    struct part *part = state;
    parquet->press.later = &part->pages;
    if (!pf_memory_was_short(parquet->allocator))
        encode(sheet, part);
    parquet->press.later = NULL;
}

static void compress_step(struct pf_sheet *sheet, void *state, unsigned worker)
{
    struct parquet *parquet = sheet->state;
    struct part *part = state;
    ZSTD_CCtx *zstd = zstd_of(parquet, worker);
    if (zstd)
        pf_parquet_pages_compress(&part->pages, zstd);
}

static const struct pf_table_steps steps = {
    .open = open_step, .encode = encode_step, .compress = compress_step, .put = put_part, .close = close_step};

/* ---- the footer -------------------------------------------------------------------------------------------------- */

enum { REQUIRED = 0, OPTIONAL = 1, REPEATED = 2 };

/*
 * Puts an element of the schema with `children` that follow, or a column (`type` at least 0). It stays open, so that
 * more members may follow.
 */
static void begin_element(struct pf_thrift *thrift, const char *name, int type, int repetition, size_t children)
{
    pf_thrift_begin(thrift, 0);
    if (type >= 0)
        pf_thrift_number(thrift, 1, PF_THRIFT_I32, type);
    if (repetition >= 0)
        pf_thrift_number(thrift, 3, PF_THRIFT_I32, repetition);
    pf_thrift_text(thrift, 4, name);
    if (children)
        pf_thrift_number(thrift, 5, PF_THRIFT_I32, (int64_t)children);
}

/* What older readers and newer ones look at: `kind` is the member of the union for these. */
static void begin_meaning(struct pf_thrift *thrift, int converted, int kind)
{
    pf_thrift_number(thrift, 6, PF_THRIFT_I32, converted);
    pf_thrift_begin(thrift, 10);
    pf_thrift_begin(thrift, kind);
}

static void end_meaning(struct pf_thrift *thrift)
{
    pf_thrift_end(thrift);
    pf_thrift_end(thrift);
}

static void put_list_element(struct pf_thrift *thrift, const char *name, int repetition)
{
    enum { CONVERTED = 3, LOGICAL = 3 };
    begin_element(thrift, name, -1, repetition, 1);
    begin_meaning(thrift, CONVERTED, LOGICAL);
    end_meaning(thrift);
    pf_thrift_end(thrift);
    begin_element(thrift, "list", -1, REPEATED, 1);
    pf_thrift_end(thrift);
}

static void put_text_meaning(struct pf_thrift *thrift)
{
    enum { CONVERTED = 0, LOGICAL = 1 };
    begin_meaning(thrift, CONVERTED, LOGICAL);
    end_meaning(thrift);
}

/* TIMESTAMP(MICROS, UTC): nanoseconds are lost or refused by some readers. */
static void put_time_meaning(struct pf_thrift *thrift)
{
    enum { CONVERTED = 10, LOGICAL = 8, MICROS = 2 };
    begin_meaning(thrift, CONVERTED, LOGICAL);
    pf_thrift_bool(thrift, 1, true);
    pf_thrift_begin(thrift, 2);
    pf_thrift_begin(thrift, MICROS);
    pf_thrift_end(thrift);
    pf_thrift_end(thrift);
    end_meaning(thrift);
}

static void put_column_element(struct pf_thrift *thrift, const struct pf_parquet_column *column)
{
    int repetition = pf_field_is_required(column->field) ? REQUIRED : OPTIONAL;
    const char *name = column->field->name;
    if (column->is_list) {
        put_list_element(thrift, name, repetition);
        name = "element";
        repetition = REQUIRED;
    }
    begin_element(thrift, name, (int)column->type, repetition, 0);
    if (column->type == PF_PARQUET_BYTE_ARRAY)
        put_text_meaning(thrift);
    else if (column->field->is_wall)
        put_time_meaning(thrift);
    pf_thrift_end(thrift);
}

static void put_schema(const struct parquet *parquet, struct pf_thrift *thrift)
{
    size_t elements = 1;
    for (size_t i = 0; i < parquet->column_count; i++)
        elements += parquet->columns[i].is_list ? 3 : 1;
    pf_thrift_list(thrift, 2, PF_THRIFT_STRUCT, elements);
    begin_element(thrift, "schema", -1, -1, parquet->column_count);
    pf_thrift_end(thrift);
    for (size_t i = 0; i < parquet->column_count; i++)
        put_column_element(thrift, &parquet->columns[i]);
}

static void put_facts(const struct pf_sheet *sheet, struct pf_thrift *thrift, struct pf_text *value)
{
    const struct parquet *parquet = sheet->state;
    pf_thrift_list(thrift, 5, PF_THRIFT_STRUCT, PF_TABLE_FACTS);
    for (size_t i = 0; i < PF_TABLE_FACTS; i++) {
        value->used = 0;
        const char *name = pf_fields_table_fact(&parquet->fields, sheet->table, i, value);
        pf_thrift_begin(thrift, 0);
        pf_thrift_text(thrift, 1, name);
        pf_thrift_bytes(thrift, 2, value->data, value->used);
        pf_thrift_end(thrift);
    }
}

/* Ranges of texts are in the order of their bytes, of numbers in theirs. */
static void put_orders(const struct parquet *parquet, struct pf_thrift *thrift)
{
    pf_thrift_list(thrift, 7, PF_THRIFT_STRUCT, parquet->column_count);
    for (size_t i = 0; i < parquet->column_count; i++) {
        pf_thrift_begin(thrift, 0);
        pf_thrift_begin(thrift, 1);
        pf_thrift_end(thrift);
        pf_thrift_end(thrift);
    }
}

static void put_footer(struct pf_sheet *sheet)
{
    struct parquet *parquet = sheet->state;
    struct pf_block *footer = &parquet->footer;
    struct pf_thrift thrift = {.to = footer};
    char writer[64];
    snprintf(writer, sizeof(writer), "perfile version %s", perfile_version());
    pf_thrift_begin(&thrift, 0);
    pf_thrift_number(&thrift, 1, PF_THRIFT_I32, 2);
    put_schema(parquet, &thrift);
    pf_thrift_number(&thrift, 3, PF_THRIFT_I64, (int64_t)parquet->rows);
    pf_thrift_list(&thrift, 4, PF_THRIFT_STRUCT, parquet->group_count);
    pf_block_put(footer, parquet->groups.data, parquet->groups.used);
    put_facts(sheet, &thrift, &sheet->cell);
    pf_thrift_text(&thrift, 6, writer);
    put_orders(parquet, &thrift);
    pf_thrift_end(&thrift);
    pf_block_u32(footer, (uint32_t)footer->used);
    pf_block_put(footer, "PAR1", 4);
    put(sheet, footer);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static bool open_parts(struct parquet *parquet, struct perfile_table *table)
{
    const struct perfile_allocator *allocator = table->allocator;
    parquet->allocator = allocator;
    parquet->groups = parquet->footer = pf_block_make(allocator);
    pf_parquet_press_open(&parquet->press, allocator);
    if (!pf_fields_open(&parquet->fields, table))
        return false;
    parquet->columns = pf_new(allocator, parquet->fields.count * sizeof(*parquet->columns));
    parquet->part.chunks = pf_new(allocator, parquet->fields.count * sizeof(*parquet->part.chunks));
    parquet->press.zstd = zstd_of(parquet, 0);
    if (!parquet->columns || !parquet->part.chunks || !parquet->press.zstd)
        return false;
    for (size_t i = 0; i < parquet->fields.count; i++)
        pf_parquet_column_open(&parquet->columns[parquet->column_count++], &parquet->fields, &parquet->fields.list[i]);
    return true;
}

static void close_file(struct pf_sheet *sheet)
{
    struct parquet *parquet = sheet->state;
    if (!parquet)
        return;
    for (size_t i = 0; i < parquet->column_count; i++)
        pf_parquet_column_close(&parquet->columns[i]);
    for (size_t i = 0; i < PF_COUNT(parquet->zstd); i++)
        ZSTD_freeCCtx(parquet->zstd[i]);
    close_part(parquet, &parquet->part);
    pf_free(parquet->allocator, parquet->columns, parquet->fields.count * sizeof(*parquet->columns));
    pf_parquet_press_close(&parquet->press);
    pf_block_close(&parquet->groups);
    pf_block_close(&parquet->footer);
    pf_fields_close(&parquet->fields);
    pf_free(parquet->allocator, parquet, sizeof(*parquet));
    sheet->state = NULL;
}

static void begin(struct pf_sheet *sheet)
{
    struct parquet *parquet = sheet->state = pf_new(sheet->table->allocator, sizeof(*parquet));
    if (!parquet)
        return;
    if (!open_parts(parquet, sheet->table)) {
        close_file(sheet);
        return;
    }
    pf_put_string(sheet->out, "PAR1");
    parquet->offset = 4;
}

static void end(struct pf_sheet *sheet)
{
    struct parquet *parquet = sheet->state;
    if (!parquet || pf_memory_was_short(parquet->allocator))
        return;
    sheet->columns = sheet->table->columns;
    if (parquet->group_rows) {
        end_group(sheet, &parquet->part);
        put_part(sheet, &parquet->part);
    }
    put_footer(sheet);
}

const struct pf_table_format pf_table_format_parquet = {
    .name = "parquet", .begin = begin, .batch = put_batch, .steps = &steps, .end = end, .close = close_file};
