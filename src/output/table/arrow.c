/* SPDX-License-Identifier: MIT */
/*
 * The Arrow IPC file format. Batches are written as the vectors have them, without compression: files are mapped into
 * memory, and the readers of some languages know no compression. Each column of texts has one dictionary, which is
 * complete when all batches are written, and follows them: files, other than streams, are read from their footer.
 */
#include "output/table/block.h"
#include "output/table/fields.h"
#include "output/table/flat.h"

enum {
    ALIGNMENT = 8,
    BUFFERS = 4,          /* of a column, at most: validity and offsets, validity and values of the items */
    BATCH_TEXT = 1 << 26, /* bytes of texts without a dictionary in a batch */
    VERSION = 4,          /* of the metadata: V5 */
    SCHEMA = 1,           /* what messages are: */
    DICTIONARY_BATCH = 2,
    RECORD_BATCH = 3,
};

/* Numbers of `width` bytes. */
struct buffer {
    const void *data;
    size_t bytes, width;
};

/* A column in the batch at hand. */
struct column {
    const struct pf_field *field;
    const struct pf_vector *vector;
    struct pf_block numbers, texts; /* what the vector has not as it is needed */
    struct buffer buffers[BUFFERS];
    size_t buffer_count;
    uint64_t nodes[4]; /* length and number of nulls, of the column and of its items */
    size_t node_count;
};

/* Where messages stand. */
struct positions {
    uint64_t *list; /* three numbers each, as the footer has them */
    size_t count, capacity;
};

struct arrow {
    const struct perfile_allocator *allocator;
    struct pf_fields fields;
    struct column *columns;
    struct pf_flat flat;
    struct pf_block swapped;
    struct positions batches, dictionaries;
    size_t *list; /* positions of metadata, for as many as there are fields */
    uint64_t offset;
};

/* ---- the schema -------------------------------------------------------------------------------------------------- */

enum { INT = 2, FLOAT = 3, UTF8 = 5, BOOL = 6, TIMESTAMP = 10, LIST = 12 };

static size_t put_int(struct pf_flat *flat, unsigned bits, bool is_signed)
{
    pf_flat_begin(flat);
    pf_flat_number(flat, 0, bits, 4);
    pf_flat_number(flat, 1, is_signed, 1);
    return pf_flat_end(flat);
}

static size_t put_empty(struct pf_flat *flat)
{
    pf_flat_begin(flat);
    return pf_flat_end(flat);
}

static size_t put_timestamp(struct pf_flat *flat)
{
    enum { MICROSECOND = 2 };
    const size_t zone = pf_flat_text(flat, "UTC", 3);
    pf_flat_begin(flat);
    pf_flat_point(flat, 1, zone);
    pf_flat_number(flat, 0, MICROSECOND, 2);
    return pf_flat_end(flat);
}

static size_t put_float(struct pf_flat *flat)
{
    enum { DOUBLE = 2 };
    pf_flat_begin(flat);
    pf_flat_number(flat, 0, DOUBLE, 2);
    return pf_flat_end(flat);
}

/* The type of values; of lists, of the items. */
static size_t put_type(struct pf_flat *flat, const struct pf_field *field, unsigned *type)
{
    const struct pf_column *column = field->column;
    if (field->is_wall) {
        *type = TIMESTAMP;
        return put_timestamp(flat);
    }
    switch (column->type) {
    case PERFILE_COLUMN_BOOL:
        *type = BOOL;
        return put_empty(flat);
    case PERFILE_COLUMN_F64:
        *type = FLOAT;
        return put_float(flat);
    case PERFILE_COLUMN_TEXT:
    case PERFILE_COLUMN_TEXTS:
        *type = UTF8;
        return put_empty(flat);
    default:
        *type = INT;
        return put_int(flat, 8 * (unsigned)pf_column_width(column),
                       column->type == PERFILE_COLUMN_I32 || column->type == PERFILE_COLUMN_I64);
    }
}

static bool has_dictionary(const struct pf_field *field)
{
    return pf_column_is_text(field->column) && !field->column->fresh;
}

static size_t put_dictionary_type(struct pf_flat *flat, uint64_t id)
{
    const size_t index = put_int(flat, 32, true);
    pf_flat_begin(flat);
    pf_flat_number(flat, 0, id, 8);
    pf_flat_point(flat, 1, index);
    return pf_flat_end(flat);
}

static size_t put_pair(struct pf_flat *flat, const char *name, const char *value, size_t bytes)
{
    const size_t key = pf_flat_text(flat, name, strlen(name)), text = pf_flat_text(flat, value, bytes);
    pf_flat_begin(flat);
    pf_flat_point(flat, 0, key);
    pf_flat_point(flat, 1, text);
    return pf_flat_end(flat);
}

/* What a field has beside its type. */
struct field_parts {
    const char *name;
    bool nullable;
    size_t type, dictionary, children, facts;
    unsigned type_of;
};

static size_t put_field_parts(struct pf_flat *flat, const struct field_parts *parts)
{
    const size_t name = pf_flat_text(flat, parts->name, strlen(parts->name));
    const size_t children = parts->children ? parts->children : pf_flat_list(flat, NULL, 0);
    pf_flat_begin(flat);
    pf_flat_point(flat, 0, name);
    pf_flat_point(flat, 3, parts->type);
    pf_flat_point(flat, 4, parts->dictionary);
    pf_flat_point(flat, 5, children);
    pf_flat_point(flat, 6, parts->facts);
    pf_flat_number(flat, 1, parts->nullable, 1);
    pf_flat_number(flat, 2, parts->type_of, 1);
    return pf_flat_end(flat);
}

static size_t put_field_facts(struct pf_flat *flat, const struct pf_field *field)
{
    struct pf_field_fact facts[PF_FIELD_FACTS];
    size_t positions[PF_FIELD_FACTS];
    pf_field_facts(field, facts);
    for (size_t i = 0; i < PF_FIELD_FACTS; i++)
        positions[i] = put_pair(flat, facts[i].name, facts[i].text, strlen(facts[i].text));
    return pf_flat_list(flat, positions, PF_FIELD_FACTS);
}

static size_t put_field(struct pf_flat *flat, const struct pf_field *field, uint64_t id)
{
    struct field_parts parts = {.name = field->name, .nullable = !pf_field_is_required(field)};
    if (has_dictionary(field))
        parts.dictionary = put_dictionary_type(flat, id);
    parts.type = put_type(flat, field, &parts.type_of);
    if (pf_column_is_list(field->column)) {
        struct field_parts list = {.name = field->name, .nullable = parts.nullable, .type_of = LIST};
        parts.name = "item";
        parts.nullable = false;
        const size_t item = put_field_parts(flat, &parts);
        list.children = pf_flat_list(flat, &item, 1);
        list.type = put_empty(flat);
        parts = list;
    }
    parts.facts = put_field_facts(flat, field);
    return put_field_parts(flat, &parts);
}

/* `facts`: the position of a list of pairs; 0: there is no list. */
static size_t put_schema(struct arrow *arrow, size_t facts)
{
    struct pf_flat *flat = &arrow->flat;
    for (size_t i = 0; i < arrow->fields.count; i++)
        arrow->list[i] = put_field(flat, &arrow->fields.list[i], i);
    const size_t fields = pf_flat_list(flat, arrow->list, arrow->fields.count);
    pf_flat_begin(flat);
    pf_flat_point(flat, 1, fields);
    pf_flat_point(flat, 2, facts);
    return pf_flat_end(flat);
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static void put_bytes(struct pf_sheet *sheet, const void *data, size_t bytes)
{
    struct arrow *arrow = sheet->state;
    if (bytes)
        pf_put_through(sheet->out, data, bytes);
    arrow->offset += bytes;
}

static void put_u32(struct pf_sheet *sheet, uint32_t value)
{
    value = pf_load32(&value, PF_NATIVE_BIG_ENDIAN);
    put_bytes(sheet, &value, sizeof(value));
}

static void put_padding(struct pf_sheet *sheet, size_t bytes)
{
    static const uint8_t zeros[ALIGNMENT] = {0};
    put_bytes(sheet, zeros, (ALIGNMENT - bytes % ALIGNMENT) % ALIGNMENT);
}

/* The numbers as a machine with the other byte order has them. */
static const void *swap(struct pf_block *to, const struct buffer *buffer)
{
    to->used = 0;
    for (size_t at = 0; at < buffer->bytes; at += buffer->width) {
        const uint8_t *from = (const uint8_t *)buffer->data + at;
        if (buffer->width == 8)
            pf_block_u64(to, pf_load64(from, false));
        else
            pf_block_u32(to, pf_load32(from, false));
    }
    return to->used == buffer->bytes ? to->data : NULL;
}

static void put_buffer(struct pf_sheet *sheet, const struct buffer *buffer)
{
    struct arrow *arrow = sheet->state;
    const void *data = buffer->data;
    if (PF_NATIVE_BIG_ENDIAN && buffer->width > 1)
        data = swap(&arrow->swapped, buffer);
    if (data)
        put_bytes(sheet, data, buffer->bytes);
    put_padding(sheet, buffer->bytes);
}

/* The metadata of a message, with the header at `header`; its body has to follow. How many bytes it takes. */
static size_t put_message(struct pf_sheet *sheet, unsigned kind, size_t header, uint64_t body)
{
    struct arrow *arrow = sheet->state;
    struct pf_flat *flat = &arrow->flat;
    size_t bytes;
    pf_flat_begin(flat);
    pf_flat_number(flat, 3, body, 8);
    pf_flat_point(flat, 2, header);
    pf_flat_number(flat, 0, VERSION, 2);
    pf_flat_number(flat, 1, kind, 1);
    const uint8_t *data = pf_flat_finish(flat, pf_flat_end(flat), &bytes);
    put_u32(sheet, UINT32_MAX);
    put_u32(sheet, (uint32_t)bytes);
    if (data)
        put_bytes(sheet, data, bytes);
    return bytes + 2 * sizeof(uint32_t);
}

/* Of a message that began at `start`: 32 bits and padding are as good as 64, as numbers are little-endian. */
static void note_position(const struct arrow *arrow, struct positions *positions, uint64_t start,
                          const uint64_t sizes[2])
{
    const uint64_t position[3] = {start, sizes[0], sizes[1]};
    if (pf_grow(arrow->allocator, &positions->list, &positions->capacity, 3 * (positions->count + 1),
                sizeof(*positions->list)))
        memcpy(positions->list + 3 * positions->count++, position, sizeof(position));
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

static void add_node(struct column *column, size_t length, size_t nulls)
{
    column->nodes[2 * column->node_count] = length;
    column->nodes[2 * column->node_count++ + 1] = nulls;
}

static void add_buffer(struct column *column, const void *data, size_t bytes, size_t width)
{
    column->buffers[column->buffer_count++] = (struct buffer){data, bytes, width};
}

/* The rows [from, from + count), of which the first is a multiple of 8. */
struct rows {
    size_t from, count;
};

static bool is_valid(const struct pf_vector *vector, size_t row)
{
    return !pf_vector_is_null(vector, row);
}

static void add_validity(struct column *column, const struct rows *rows)
{
    const struct pf_vector *vector = column->vector;
    size_t nulls = 0;
    for (size_t i = 0; vector->nulls && i < rows->count; i++)
        nulls += !is_valid(vector, rows->from + i);
    add_node(column, rows->count, nulls);
    add_buffer(column, nulls ? vector->valid + rows->from / 8 : NULL, nulls ? (rows->count + 7) / 8 : 0, 1);
}

static void add_wall_times(const struct arrow *arrow, struct column *column, const struct rows *rows)
{
    const uint64_t *times = column->vector->values;
    for (size_t i = 0; i < rows->count; i++) {
        const int64_t time = pf_fields_wall_time(&arrow->fields, times[rows->from + i]);
        pf_block_put(&column->numbers, &time, sizeof(time));
    }
    add_buffer(column, column->numbers.data, column->numbers.used, sizeof(int64_t));
}

static size_t text_bytes(const struct pf_vector *vector, size_t row)
{
    size_t bytes = 0;
    if (is_valid(vector, row))
        (void)pf_dictionary_at(&vector->dictionary, ((const uint32_t *)vector->values)[row], &bytes);
    return bytes;
}

/* Without a dictionary. */
static void add_texts(struct column *column, const struct rows *rows)
{
    const struct pf_vector *vector = column->vector;
    const uint32_t *codes = vector->values;
    int32_t end = 0;
    pf_block_put(&column->numbers, &end, sizeof(end));
    for (size_t row = rows->from; row < rows->from + rows->count; row++) {
        size_t bytes = 0;
        const char *text = is_valid(vector, row) ? pf_dictionary_at(&vector->dictionary, codes[row], &bytes) : NULL;
        pf_block_put(&column->texts, text, bytes);
        end += (int32_t)bytes;
        pf_block_put(&column->numbers, &end, sizeof(end));
    }
    add_buffer(column, column->numbers.data, column->numbers.used, sizeof(int32_t));
    add_buffer(column, column->texts.data, column->texts.used, 1);
}

static void add_lists(struct column *column, const struct rows *rows)
{
    const struct pf_vector *vector = column->vector;
    const int32_t *offsets = vector->offsets + rows->from, first = offsets[0];
    const size_t width = pf_column_width(&vector->column), count = (size_t)(offsets[rows->count] - first);
    for (size_t i = 0; i <= rows->count; i++) {
        const int32_t offset = offsets[i] - first;
        pf_block_put(&column->numbers, &offset, sizeof(offset));
    }
    add_buffer(column, column->numbers.data, column->numbers.used, sizeof(int32_t));
    add_node(column, count, 0);
    add_buffer(column, NULL, 0, 1);
    add_buffer(column, (const uint8_t *)vector->values + (size_t)first * width, count * width, width);
}

static void add_column(const struct arrow *arrow, struct column *column, const struct rows *rows)
{
    const struct pf_vector *vector = column->vector;
    const size_t width = pf_column_width(&vector->column);
    const uint8_t *values = vector->values;
    column->numbers.used = column->texts.used = 0;
    column->buffer_count = column->node_count = 0;
    add_validity(column, rows);
    if (column->field->is_wall)
        add_wall_times(arrow, column, rows);
    else if (pf_column_is_list(&vector->column))
        add_lists(column, rows);
    else if (pf_column_is_text(&vector->column) && !has_dictionary(column->field))
        add_texts(column, rows);
    else if (width)
        add_buffer(column, values + rows->from * width, rows->count * width, width);
    else
        add_buffer(column, values + rows->from / 8, (rows->count + 7) / 8, 1);
}

/* Puts the record batch of one or more columns that were added. Returns its position, and the bytes of its body. */
static size_t put_record_batch(struct arrow *arrow, const struct column *columns, size_t count, size_t length,
                               uint64_t *body)
{
    uint64_t *values = pf_new(arrow->allocator, count * 2 * BUFFERS * sizeof(*values));
    size_t used = 0;
    *body = 0;
    if (!values)
        return 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < columns[i].buffer_count; k++) {
            values[used++] = *body;
            values[used++] = columns[i].buffers[k].bytes;
            *body += pf_align8(columns[i].buffers[k].bytes);
        }
    const size_t buffers = pf_flat_structs(&arrow->flat, values, used / 2, 2);
    used = 0;
    for (size_t i = 0; i < count; i++) {
        memcpy(values + used, columns[i].nodes, columns[i].node_count * 2 * sizeof(*values));
        used += 2 * columns[i].node_count;
    }
    const size_t nodes = pf_flat_structs(&arrow->flat, values, used / 2, 2);
    pf_free(arrow->allocator, values, count * 2 * BUFFERS * sizeof(*values));
    pf_flat_begin(&arrow->flat);
    pf_flat_number(&arrow->flat, 0, length, 8);
    pf_flat_point(&arrow->flat, 1, nodes);
    pf_flat_point(&arrow->flat, 2, buffers);
    return pf_flat_end(&arrow->flat);
}

static void put_body(struct pf_sheet *sheet, const struct column *columns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < columns[i].buffer_count; k++)
            put_buffer(sheet, &columns[i].buffers[k]);
}

static void put_rows(struct pf_sheet *sheet, const struct rows *rows)
{
    struct arrow *arrow = sheet->state;
    const uint64_t start = arrow->offset;
    uint64_t sizes[2];
    for (size_t i = 0; i < arrow->fields.count; i++) {
        arrow->columns[i].vector = &sheet->columns[arrow->fields.list[i].index];
        add_column(arrow, &arrow->columns[i], rows);
    }
    const size_t header = put_record_batch(arrow, arrow->columns, arrow->fields.count, rows->count, &sizes[1]);
    if (pf_memory_was_short(arrow->allocator))
        return;
    sizes[0] = put_message(sheet, RECORD_BATCH, header, sizes[1]);
    put_body(sheet, arrow->columns, arrow->fields.count);
    note_position(arrow, &arrow->batches, start, sizes);
}

/* Texts that have no dictionary are bounded, too. */
static size_t rows_that_fit(const struct pf_sheet *sheet, size_t from)
{
    const struct arrow *arrow = sheet->state;
    size_t bytes = 0, row = from;
    while (row < sheet->row_count && bytes < BATCH_TEXT) {
        for (size_t end = row + 8; row < sheet->row_count && row < end; row++)
            for (size_t i = 0; i < arrow->fields.count; i++) {
                const struct pf_field *field = &arrow->fields.list[i];
                if (field->column->fresh && pf_column_is_text(field->column))
                    bytes += text_bytes(&sheet->columns[field->index], row);
            }
    }
    return row - from;
}

static void put_batch(struct pf_sheet *sheet)
{
    const struct arrow *arrow = sheet->state;
    for (struct rows rows = {0, 0}; arrow && rows.from < sheet->row_count; rows.from += rows.count) {
        rows.count = rows_that_fit(sheet, rows.from);
        put_rows(sheet, &rows);
        if (pf_memory_was_short(arrow->allocator))
            return;
    }
}

/* ---- dictionaries ------------------------------------------------------------------------------------------------ */

static void put_dictionary(struct pf_sheet *sheet, size_t id)
{
    static const int32_t no_offset = 0;
    struct arrow *arrow = sheet->state;
    const struct pf_dictionary *dictionary = &sheet->table->columns[arrow->fields.list[id].index].dictionary;
    struct column texts = {.buffer_count = 0};
    const uint64_t start = arrow->offset;
    uint64_t sizes[2];
    add_node(&texts, dictionary->count, 0);
    add_buffer(&texts, NULL, 0, 1);
    add_buffer(&texts, dictionary->count ? dictionary->offsets : &no_offset, (dictionary->count + 1) * sizeof(int32_t),
               sizeof(int32_t));
    add_buffer(&texts, dictionary->text, dictionary->text_used, 1);
    const size_t batch = put_record_batch(arrow, &texts, 1, dictionary->count, &sizes[1]);
    if (pf_memory_was_short(arrow->allocator))
        return;
    pf_flat_begin(&arrow->flat);
    pf_flat_number(&arrow->flat, 0, id, 8);
    pf_flat_point(&arrow->flat, 1, batch);
    sizes[0] = put_message(sheet, DICTIONARY_BATCH, pf_flat_end(&arrow->flat), sizes[1]);
    put_body(sheet, &texts, 1);
    note_position(arrow, &arrow->dictionaries, start, sizes);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static size_t put_table_facts(struct pf_sheet *sheet)
{
    struct arrow *arrow = sheet->state;
    size_t positions[PF_TABLE_FACTS];
    for (size_t i = 0; i < PF_TABLE_FACTS; i++) {
        sheet->cell.used = 0;
        const char *name = pf_fields_table_fact(&arrow->fields, sheet->table, i, &sheet->cell);
        positions[i] = put_pair(&arrow->flat, name, sheet->cell.data, sheet->cell.used);
    }
    return pf_flat_list(&arrow->flat, positions, PF_TABLE_FACTS);
}

static void put_footer(struct pf_sheet *sheet)
{
    struct arrow *arrow = sheet->state;
    struct pf_flat *flat = &arrow->flat;
    size_t bytes;
    put_u32(sheet, UINT32_MAX);
    put_u32(sheet, 0);
    const size_t facts = put_table_facts(sheet), schema = put_schema(arrow, facts);
    const size_t dictionaries = pf_flat_structs(flat, arrow->dictionaries.list, arrow->dictionaries.count, 3);
    const size_t batches = pf_flat_structs(flat, arrow->batches.list, arrow->batches.count, 3);
    pf_flat_begin(flat);
    pf_flat_point(flat, 1, schema);
    pf_flat_point(flat, 2, dictionaries);
    pf_flat_point(flat, 3, batches);
    pf_flat_number(flat, 0, VERSION, 2);
    const uint8_t *data = pf_flat_finish(flat, pf_flat_end(flat), &bytes);
    if (data)
        put_bytes(sheet, data, bytes);
    put_u32(sheet, (uint32_t)bytes);
    put_bytes(sheet, "ARROW1", 6);
}

static bool open_parts(struct arrow *arrow, struct perfile_table *table)
{
    arrow->allocator = arrow->flat.allocator = table->allocator;
    arrow->swapped = pf_block_make(table->allocator);
    if (!pf_fields_open(&arrow->fields, table))
        return false;
    arrow->list = pf_new(arrow->allocator, arrow->fields.count * sizeof(*arrow->list));
    arrow->columns = pf_new(arrow->allocator, arrow->fields.count * sizeof(*arrow->columns));
    for (size_t i = 0; arrow->columns && i < arrow->fields.count; i++)
        arrow->columns[i] = (struct column){.field = &arrow->fields.list[i],
                                            .numbers = pf_block_make(arrow->allocator),
                                            .texts = pf_block_make(arrow->allocator)};
    return arrow->list && arrow->columns;
}

static void close_file(struct pf_sheet *sheet)
{
    struct arrow *arrow = sheet->state;
    if (!arrow)
        return;
    const struct perfile_allocator *allocator = arrow->allocator;
    for (size_t i = 0; arrow->columns && i < arrow->fields.count; i++) {
        pf_block_close(&arrow->columns[i].numbers);
        pf_block_close(&arrow->columns[i].texts);
    }
    pf_free(allocator, arrow->columns, arrow->fields.count * sizeof(*arrow->columns));
    pf_free(allocator, arrow->list, arrow->fields.count * sizeof(*arrow->list));
    pf_free(allocator, arrow->batches.list, arrow->batches.capacity * sizeof(*arrow->batches.list));
    pf_free(allocator, arrow->dictionaries.list, arrow->dictionaries.capacity * sizeof(*arrow->dictionaries.list));
    pf_flat_close(&arrow->flat);
    pf_block_close(&arrow->swapped);
    pf_fields_close(&arrow->fields);
    pf_free(allocator, arrow, sizeof(*arrow));
    sheet->state = NULL;
}

static void begin(struct pf_sheet *sheet)
{
    struct arrow *arrow = sheet->state = pf_new(sheet->table->allocator, sizeof(*arrow));
    if (!arrow)
        return;
    if (!open_parts(arrow, sheet->table)) {
        close_file(sheet);
        return;
    }
    put_bytes(sheet, "ARROW1\0", 8);
    (void)put_message(sheet, SCHEMA, put_schema(arrow, 0), 0);
}

static void end(struct pf_sheet *sheet)
{
    const struct arrow *arrow = sheet->state;
    for (size_t i = 0; arrow && i < arrow->fields.count; i++)
        if (has_dictionary(&arrow->fields.list[i]))
            put_dictionary(sheet, i);
    if (arrow && !pf_memory_was_short(arrow->allocator))
        put_footer(sheet);
}

const struct pf_table_format pf_table_format_arrow = {
    .name = "arrow", .begin = begin, .batch = put_batch, .end = end, .close = close_file};
