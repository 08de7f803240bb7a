/* SPDX-License-Identifier: MIT */
/*
 * The Arrow C data interface. All structs of a batch are in one block, which goes when the last of them is released:
 * the consumer may move a child elsewhere and release it last.
 */
#include "view/arrow.h"

#include <errno.h>

/* ---- schemas ----------------------------------------------------------------------------------------------------- */

/* Of one column: itself, the items of a list, the texts. */
enum { NODES = 3, PAIRS = 3 };

static const struct {
    const char *name, *format;
} types[] = {
    [PERFILE_COLUMN_BOOL] = {"bool", "b"},
    [PERFILE_COLUMN_I32] = {"i32", "i"},
    [PERFILE_COLUMN_U32] = {"u32", "I"},
    [PERFILE_COLUMN_I64] = {"i64", "l"},
    [PERFILE_COLUMN_U64] = {"u64", "L"},
    [PERFILE_COLUMN_F64] = {"f64", "g"},
    [PERFILE_COLUMN_TIME] = {"time", "L"},
    [PERFILE_COLUMN_DURATION] = {"duration", "L"},
    [PERFILE_COLUMN_BYTES] = {"bytes", "L"},
    [PERFILE_COLUMN_ADDRESS] = {"address", "L"},
    [PERFILE_COLUMN_TEXT] = {"text", "i"},
    [PERFILE_COLUMN_TEXTS] = {"texts", "+l"},
    [PERFILE_COLUMN_ADDRESSES] = {"addresses", "+l"},
};

const char *pf_column_type_name(unsigned type)
{
    return types[type].name;
}

struct schema_block {
    atomic_size_t holders;
    size_t bytes;
    const struct perfile_allocator *allocator;
    struct ArrowSchema *nodes;    /* NODES for each column */
    struct ArrowSchema **columns; /* the children of the table */
    struct ArrowSchema **items;   /* of lists, one for each column */
    char *text, *end;             /* names and metadata */
};

static void drop_schema(struct schema_block *block)
{
    if (atomic_fetch_sub(&block->holders, 1) == 1)
        pf_free(block->allocator, block, block->bytes);
}

static void release_schema(struct ArrowSchema *schema)
{
    struct schema_block *block = schema->private_data;
    for (int64_t i = 0; i < schema->n_children; i++)
        if (schema->children[i]->release)
            schema->children[i]->release(schema->children[i]);
    if (schema->dictionary && schema->dictionary->release)
        schema->dictionary->release(schema->dictionary);
    schema->release = NULL;
    drop_schema(block);
}

static const char *keep_text(struct schema_block *block, const char *text)
{
    char *at = block->text;
    block->text = stpcpy(at, text) + 1;
    return at;
}

static void put_int(struct schema_block *block, size_t value)
{
    const int32_t number = (int32_t)value;
    memcpy(block->text, &number, sizeof(number));
    block->text += sizeof(number);
}

static size_t pair_texts(const struct pf_column *column, const char *texts[2 * PAIRS])
{
    const char *const all[2 * PAIRS] = {"type", types[column->type].name, "unit", column->unit, "doc", column->doc};
    memcpy(texts, all, sizeof(all));
    size_t bytes = sizeof(int32_t);
    for (size_t i = 0; i < 2 * PAIRS; i++)
        bytes += sizeof(int32_t) + strlen(texts[i]);
    return bytes;
}

static const char *keep_metadata(struct schema_block *block, const struct pf_column *column)
{
    const char *texts[2 * PAIRS], *start = block->text;
    (void)pair_texts(column, texts);
    put_int(block, PAIRS);
    for (size_t i = 0; i < 2 * PAIRS; i++) {
        put_int(block, strlen(texts[i]));
        block->text = (char *)memcpy(block->text, texts[i], strlen(texts[i])) + strlen(texts[i]);
    }
    return start;
}

static struct ArrowSchema *set_schema(struct schema_block *block, struct ArrowSchema *schema, const char *format,
                                      const char *name)
{
    atomic_fetch_add(&block->holders, 1);
    *schema = (struct ArrowSchema){
        .format = format, .name = name, .flags = ARROW_FLAG_NULLABLE, .release = release_schema, .private_data = block};
    return schema;
}

static void set_column_schema(struct schema_block *block, size_t index, const struct pf_column *column)
{
    struct ArrowSchema *node = &block->nodes[NODES * index];
    struct ArrowSchema *values = set_schema(block, node, types[column->type].format, keep_text(block, column->name));
    node->metadata = keep_metadata(block, column);
    if (column->required)
        node->flags = 0;
    block->columns[index] = node;
    if (pf_column_is_list(column)) {
        values = set_schema(block, &node[1], pf_column_is_text(column) ? "i" : "L", "item");
        block->items[index] = values;
        node->children = &block->items[index];
        node->n_children = 1;
    }
    if (pf_column_is_text(column))
        values->dictionary = set_schema(block, &node[2], "u", "");
}

bool pf_arrow_schema(const struct perfile_table *table, struct ArrowSchema *schema)
{
    const char *texts[2 * PAIRS];
    const size_t count = table->shown, nodes = count * NODES * sizeof(struct ArrowSchema);
    size_t bytes = sizeof(struct schema_block) + nodes + 2 * count * sizeof(struct ArrowSchema *);
    for (size_t i = 0; i < count; i++)
        bytes += strlen(table->columns[i].column.name) + 1 + pair_texts(&table->columns[i].column, texts);
    struct schema_block *block = pf_new(table->lasting, bytes);
    *schema = (struct ArrowSchema){0};
    if (!block)
        return false;
    block->allocator = table->lasting;
    block->bytes = bytes;
    block->nodes = (struct ArrowSchema *)(block + 1);
    block->columns = (struct ArrowSchema **)((char *)block->nodes + nodes);
    block->items = block->columns + count;
    block->text = (char *)(block->items + count);
    set_schema(block, schema, "+s", "");
    schema->flags = 0;
    schema->children = block->columns;
    schema->n_children = (int64_t)count;
    for (size_t i = 0; i < count; i++)
        set_column_schema(block, i, &table->columns[i].column);
    return true;
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

enum { BUFFERS = 8 }; /* of one column: validity and values; of the items; of the texts validity, offsets and bytes */

struct batch_column {
    struct pf_vector vector; /* its rows; the dictionary is the table's */
    struct pf_dictionary_copy *texts;
    struct ArrowArray nodes[NODES];
    struct ArrowArray *item;
    const void *buffers[BUFFERS];
};

struct batch {
    atomic_size_t holders;
    const struct perfile_allocator *allocator;
    size_t column_count;
    const void *no_buffer[1];     /* of the table: no row is null */
    struct ArrowArray **children; /* after the columns */
    struct batch_column columns[];
};

static size_t batch_bytes(size_t columns)
{
    return sizeof(struct batch) + columns * (sizeof(struct batch_column) + sizeof(struct ArrowArray *));
}

static void drop_batch(struct batch *batch)
{
    if (atomic_fetch_sub(&batch->holders, 1) != 1)
        return;
    for (size_t i = 0; i < batch->column_count; i++) {
        pf_vector_end(&batch->columns[i].vector);
        pf_dictionary_drop(batch->columns[i].texts);
    }
    pf_free(batch->allocator, batch, batch_bytes(batch->column_count));
}

static void release_array(struct ArrowArray *array)
{
    struct batch *batch = array->private_data;
    for (int64_t i = 0; i < array->n_children; i++)
        if (array->children[i]->release)
            array->children[i]->release(array->children[i]);
    if (array->dictionary && array->dictionary->release)
        array->dictionary->release(array->dictionary);
    array->release = NULL;
    drop_batch(batch);
}

static void set_array(struct batch *batch, struct ArrowArray *array, size_t length, const void **buffers, int count)
{
    atomic_fetch_add(&batch->holders, 1);
    *array = (struct ArrowArray){.length = (int64_t)length,
                                 .n_buffers = count,
                                 .buffers = buffers,
                                 .release = release_array,
                                 .private_data = batch};
}

/* Validity and values of rows, or validity and offsets of lists with the values as their items. */
static void set_column_array(struct batch *batch, struct batch_column *one, size_t rows)
{
    const struct pf_vector *vector = &one->vector;
    const bool list = pf_column_is_list(&vector->column);
    struct ArrowArray *values = &one->nodes[0];
    one->buffers[0] = vector->nulls ? vector->valid : NULL;
    one->buffers[1] = list ? (const void *)vector->offsets : vector->values;
    set_array(batch, values, rows, one->buffers, 2);
    values->null_count = (int64_t)vector->nulls;
    if (list) {
        one->buffers[3] = vector->values;
        one->item = &one->nodes[1];
        values->children = &one->item;
        values->n_children = 1;
        values = one->item;
        set_array(batch, values, vector->item_count, one->buffers + 2, 2);
    }
    if (one->texts) {
        one->buffers[5] = one->texts->offsets;
        one->buffers[6] = one->texts->text;
        values->dictionary = &one->nodes[2];
        set_array(batch, values->dictionary, one->texts->count, one->buffers + 4, 3);
    }
}

/* The rows of a vector go into the batch; what stays is empty. False when out of memory. */
static bool take_rows(struct batch *batch, struct batch_column *one, struct pf_vector *vector)
{
    if (pf_column_is_text(&vector->column) && !(one->texts = pf_dictionary_copy(&vector->dictionary)))
        return false;
    one->vector = *vector;
    one->vector.allocator = batch->allocator;
    vector->valid = NULL;
    vector->values = NULL;
    vector->offsets = NULL;
    pf_vector_end(vector);
    return true;
}

bool pf_arrow_take(struct perfile_table *table, struct ArrowArray *array)
{
    const size_t count = table->shown;
    struct batch *batch = pf_new(table->lasting, batch_bytes(count));
    bool enough = true;
    *array = (struct ArrowArray){0};
    if (!batch)
        return false;
    batch->allocator = table->lasting;
    batch->column_count = count;
    batch->children = (struct ArrowArray **)&batch->columns[count];
    atomic_init(&batch->holders, 1);
    for (size_t i = 0; i < count; i++)
        enough &= take_rows(batch, &batch->columns[i], &table->columns[i]);
    if (enough) {
        for (size_t i = 0; i < count; i++) {
            set_column_array(batch, &batch->columns[i], table->rows);
            batch->children[i] = &batch->columns[i].nodes[0];
        }
        set_array(batch, array, table->rows, batch->no_buffer, 1);
        array->children = batch->children;
        array->n_children = (int64_t)count;
        table->rows = 0;
    }
    drop_batch(batch); /* from now on only the arrays hold it */
    return enough;
}

/* ---- the stream -------------------------------------------------------------------------------------------------- */

static int errno_of(int code)
{
    return code == PERFILE_ERROR_MEMORY ? ENOMEM : code == PERFILE_ERROR_ARGUMENT ? EINVAL : EIO;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *schema)
{
    struct perfile_table *table = stream->private_data;
    const int result = perfile_table_schema(table, schema, &table->error);
    return result < 0 ? errno_of(result) : 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *array)
{
    struct perfile_table *table = stream->private_data;
    const int result = perfile_table_next(table, array, &table->error);
    if (result <= 0)
        *array = (struct ArrowArray){0};
    return result < 0 ? errno_of(result) : 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    const struct perfile_table *table = stream->private_data;
    return *table->error.message ? table->error.message : NULL;
}

static void release_stream(struct ArrowArrayStream *stream)
{
    perfile_table_close(stream->private_data);
    stream->private_data = NULL;
    stream->release = NULL;
}

void perfile_table_stream(struct perfile_table *table, struct ArrowArrayStream *stream)
{
    *stream = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release_stream, table};
}
