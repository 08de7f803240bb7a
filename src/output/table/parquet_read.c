/* SPDX-License-Identifier: MIT */
/*
 * Parquet files of ours as a table: rows of one file after the other, with the columns that any of them has. Columns are
 * read side by side, each page by page; what is in memory is a row group as it stands in the file, and a page of each
 * column.
 */
#include "base/error.h"
#include "base/sized.h"
#include "output/table/parquet_file.h"
#include "view/view.h"

enum {
    MAX_PAGE = 1 << 30,   /* bytes */
    MAX_VALUES = 1 << 22, /* of a page */
    DATA_PAGE = 0,
    DICTIONARY_PAGE = 2,
};

/* A column while its pages are read. */
struct cursor {
    struct pf_block chunk; /* as it stands in the file */
    struct pf_bytes rest;  /* pages of it that were not read */
    struct pf_block dictionary, page;
    /* of the dictionary: numbers, or where texts begin and the number that the vector has of them, plus one */
    int64_t *values;
    uint32_t *texts, *numbers;
    size_t value_capacity, text_capacity, number_capacity, dictionary_count;
    bool has_dictionary;
    /* of the page */
    uint32_t *repeated, *defined;
    int64_t *items;  /* numbers, or of a dictionary codes */
    uint32_t *codes; /* capacity for what is decoded */
    size_t repeated_capacity, defined_capacity, item_capacity, code_capacity;
    size_t level_count, level, item_count, item;
    bool coded;          /* the items are codes */
    struct pf_bytes raw; /* texts without a dictionary */
    /* of the row in hand */
    size_t first, count; /* items */
    bool is_null;
};

struct files {
    const struct perfile_allocator *allocator;
    const struct perfile_parquet_options *options; /* valid while the table is opened */
    char **paths;
    size_t path_count, next_path;
    struct pf_parquet_file file;
    bool is_open;
    size_t group;
    uint64_t left; /* rows of the group */
    struct cursor *cursors;
    struct pf_parquet_leaf *leaves; /* of all files; names are the arena's */
    size_t leaf_count, leaf_capacity;
    size_t *positions; /* of each leaf in the current file; the number of its leaves: it does not have this one */
    size_t *read;      /* the leaves that are read, in their order */
    size_t read_count;
    struct pf_arena arena;
    ZSTD_DCtx *zstd;
    size_t distinct; /* a column; leaf_count: all rows */
    struct pf_map seen;
    bool (*keeps)(void *context, const struct perfile_value *value);
    void *keeps_context;
    size_t keeps_leaf; /* the column whose values it is called with; leaf_count: all rows */
    bool failed;
    char *view;
};

/* ---- pages ------------------------------------------------------------------------------------------------------- */

struct head {
    int64_t kind, raw_bytes, bytes, values, encoding;
};

static void take_page_facts(struct pf_bytes *from, struct head *head)
{
    struct pf_thrift_reader reader = pf_thrift_open(from);
    while (pf_thrift_next(&reader))
        if (reader.field == 1)
            head->values = pf_thrift_take_number(&reader);
        else if (reader.field == 2)
            head->encoding = pf_thrift_take_number(&reader);
        else
            pf_thrift_skip(&reader);
}

static struct head take_head(struct pf_bytes *from)
{
    struct head head = {-1, -1, -1, -1, -1};
    struct pf_thrift_reader reader = pf_thrift_open(from);
    while (pf_thrift_next(&reader)) {
        int64_t *const numbers[] = {[1] = &head.kind, [2] = &head.raw_bytes, [3] = &head.bytes};
        if ((reader.field == 5 || reader.field == 7) && reader.type == PF_THRIFT_STRUCT)
            take_page_facts(from, &head);
        else if (reader.field > 0 && reader.field < (int)PF_COUNT(numbers))
            *numbers[reader.field] = pf_thrift_take_number(&reader);
        else
            pf_thrift_skip(&reader);
    }
    return head;
}

/* The page, decompressed. */
static bool take_page(struct files *files, struct cursor *cursor, struct head *head, struct pf_block *to)
{
    *head = take_head(&cursor->rest);
    if (cursor->rest.bad || head->bytes < 0 || head->raw_bytes < 0 || head->raw_bytes > MAX_PAGE || head->values < 0 ||
        head->values > MAX_VALUES)
        return false;
    const uint8_t *from = pf_bytes_take(&cursor->rest, (uint64_t)head->bytes);
    to->used = 0;
    uint8_t *at = from ? pf_block_reserve(to, (size_t)head->raw_bytes + 1) : NULL;
    if (!at)
        return false;
    to->used = (size_t)head->raw_bytes;
    const size_t got = ZSTD_decompressDCtx(files->zstd, at, to->used, from, (size_t)head->bytes);
    return !ZSTD_isError(got) && got == to->used;
}

static bool take_numbers(const struct pf_parquet_leaf *leaf, int64_t encoding, struct pf_bytes *from, int64_t *to,
                         size_t count)
{
    if (encoding == PF_PARQUET_DELTA_BINARY_PACKED && leaf->type == PF_PARQUET_INT64)
        return pf_decode_deltas(from, to, count);
    if (encoding != PF_PARQUET_PLAIN)
        return false;
    return leaf->type == PF_PARQUET_BOOLEAN
               ? pf_decode_bits(from, to, count)
               : pf_decode_plain(from, to, count, leaf->type == PF_PARQUET_INT32 ? sizeof(int32_t) : sizeof(int64_t));
}

static bool take_dictionary(struct files *files, struct cursor *cursor, const struct pf_parquet_leaf *leaf)
{
    struct head head;
    if (!take_page(files, cursor, &head, &cursor->dictionary))
        return false;
    struct pf_bytes from = {cursor->dictionary.data, cursor->dictionary.data + cursor->dictionary.used, false};
    const size_t count = (size_t)head.values;
    cursor->dictionary_count = count;
    cursor->has_dictionary = true;
    if (leaf->type != PF_PARQUET_BYTE_ARRAY)
        return pf_grow(files->allocator, &cursor->values, &cursor->value_capacity, count, sizeof(*cursor->values)) &&
               take_numbers(leaf, PF_PARQUET_PLAIN, &from, cursor->values, count);
    if (!pf_grow(files->allocator, &cursor->texts, &cursor->text_capacity, count, sizeof(*cursor->texts)) ||
        !pf_grow(files->allocator, &cursor->numbers, &cursor->number_capacity, count, sizeof(*cursor->numbers)))
        return false;
    for (size_t i = 0; i < count; i++) {
        cursor->texts[i] = (uint32_t)(from.at - cursor->dictionary.data);
        cursor->numbers[i] = 0;
        (void)pf_bytes_take(&from, pf_bytes_u32(&from));
    }
    return !from.bad;
}

/* Reads levels, which follow their length. */
static bool take_levels(struct files *files, struct pf_bytes *from, uint32_t **levels, size_t *capacity, size_t count,
                        unsigned max)
{
    const uint32_t bytes = pf_bytes_u32(from);
    const uint8_t *at = pf_bytes_take(from, bytes);
    struct pf_bytes own = {at, at ? at + bytes : NULL, !at};
    if (!at || !pf_grow(files->allocator, levels, capacity, count + 1, sizeof(**levels)) ||
        !pf_decode_runs(&own, *levels, count, pf_bits_of(max)))
        return false;
    for (size_t i = 0; i < count; i++)
        if ((*levels)[i] > max)
            return false;
    return true;
}

static unsigned max_defined(const struct pf_parquet_leaf *leaf)
{
    return !leaf->is_required + leaf->is_list;
}

static bool take_all_levels(struct files *files, struct cursor *cursor, const struct pf_parquet_leaf *leaf,
                            struct pf_bytes *from)
{
    const unsigned max = max_defined(leaf);
    const size_t count = cursor->level_count;
    if (leaf->is_list && !take_levels(files, from, &cursor->repeated, &cursor->repeated_capacity, count, 1))
        return false;
    cursor->item_count = count;
    if (!max)
        return true;
    if (!take_levels(files, from, &cursor->defined, &cursor->defined_capacity, count, max))
        return false;
    for (size_t i = 0; i < count; i++)
        cursor->item_count -= cursor->defined[i] != max;
    return true;
}

static bool take_codes(struct files *files, struct cursor *cursor, struct pf_bytes *from)
{
    const size_t count = cursor->item_count;
    const uint8_t *width = pf_bytes_take(from, 1);
    if (!cursor->has_dictionary || !width ||
        !pf_grow(files->allocator, &cursor->codes, &cursor->code_capacity, count + 1, sizeof(*cursor->codes)) ||
        !pf_decode_runs(from, cursor->codes, count, *width))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (cursor->codes[i] >= cursor->dictionary_count)
            return false;
        cursor->items[i] = cursor->codes[i];
    }
    return true;
}

static bool take_items(struct files *files, struct cursor *cursor, const struct pf_parquet_leaf *leaf, int64_t encoding,
                       struct pf_bytes *from)
{
    const size_t count = cursor->item_count;
    cursor->coded = encoding == PF_PARQUET_RLE_DICTIONARY;
    cursor->raw = *from;
    if (!count)
        return true;
    if (!pf_grow(files->allocator, &cursor->items, &cursor->item_capacity, count, sizeof(*cursor->items)))
        return false;
    if (cursor->coded)
        return take_codes(files, cursor, from);
    if (leaf->type == PF_PARQUET_BYTE_ARRAY)
        return encoding == PF_PARQUET_PLAIN;
    return take_numbers(leaf, encoding, from, cursor->items, count);
}

static bool next_page(struct files *files, struct cursor *cursor, const struct pf_parquet_leaf *leaf)
{
    struct pf_bytes ahead = cursor->rest;
    struct head head = take_head(&ahead);
    if (head.kind == DICTIONARY_PAGE) {
        if (cursor->has_dictionary || !take_dictionary(files, cursor, leaf))
            return false;
        ahead = cursor->rest;
        head = take_head(&ahead);
    }
    if (head.kind != DATA_PAGE || !take_page(files, cursor, &head, &cursor->page))
        return false;
    struct pf_bytes from = {cursor->page.data, cursor->page.data + cursor->page.used, false};
    cursor->level_count = (size_t)head.values;
    cursor->level = cursor->item = 0;
    return take_all_levels(files, cursor, leaf, &from) && take_items(files, cursor, leaf, head.encoding, &from);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Texts without a dictionary are read once, as they come: those of rows that are left out, too. */
static bool skip_texts(struct cursor *cursor, const struct pf_parquet_leaf *leaf)
{
    if (cursor->coded || leaf->type != PF_PARQUET_BYTE_ARRAY)
        return true;
    for (size_t i = 0; i < cursor->count; i++) {
        cursor->items[cursor->first + i] = cursor->raw.at - cursor->page.data;
        (void)pf_bytes_take(&cursor->raw, pf_bytes_u32(&cursor->raw));
    }
    return !cursor->raw.bad;
}

static bool next_of_column(struct files *files, struct cursor *cursor, const struct pf_parquet_leaf *leaf)
{
    const unsigned max = max_defined(leaf);
    while (cursor->level == cursor->level_count)
        if (!next_page(files, cursor, leaf))
            return false;
    const unsigned defined = max ? cursor->defined[cursor->level] : 0;
    cursor->first = cursor->item;
    cursor->is_null = leaf->is_list ? !leaf->is_required && !defined : defined < max;
    cursor->count = defined == max;
    cursor->level++;
    while (leaf->is_list && cursor->level < cursor->level_count && cursor->repeated[cursor->level]) {
        cursor->count += cursor->defined[cursor->level] == max;
        cursor->level++;
    }
    cursor->item += cursor->count;
    return cursor->item <= cursor->item_count && skip_texts(cursor, leaf);
}

static int64_t number_at(const struct cursor *cursor, size_t item)
{
    return cursor->coded ? cursor->values[cursor->items[item]] : cursor->items[item];
}

static const char *text_at(const struct cursor *cursor, size_t item, size_t *bytes)
{
    const uint8_t *at = cursor->coded ? cursor->dictionary.data + cursor->texts[cursor->items[item]]
                                      : cursor->page.data + cursor->items[item];
    *bytes = pf_load32(at, PF_NATIVE_BIG_ENDIAN);
    return (const char *)at + sizeof(uint32_t);
}

static uint32_t code_at(struct cursor *cursor, size_t item, struct pf_vector *vector)
{
    uint32_t *number = cursor->coded ? &cursor->numbers[cursor->items[item]] : NULL;
    size_t bytes;
    if (number && *number)
        return *number - 1;
    const char *text = text_at(cursor, item, &bytes);
    const uint32_t code = pf_dictionary_put(&vector->dictionary, text, bytes);
    if (number)
        *number = code + 1;
    return code;
}

static void put_number(struct pf_vector *vector, int64_t number, bool is_wall)
{
    const size_t width = pf_column_width(&vector->column);
    if (width == 0)
        pf_set_bool(vector, number != 0);
    else if (width == sizeof(uint32_t))
        pf_set_u32(vector, (uint32_t)number);
    else
        pf_set_u64(vector, is_wall ? (uint64_t)number * 1000 : (uint64_t)number); /* a double has the same bits */
}

PF_PUT(cell)
{
    struct files *files = state;
    const struct pf_parquet_leaf *leaf = &files->leaves[vector->column.index];
    struct cursor *cursor = &files->cursors[vector->column.index];
    if (cursor->is_null) {
        pf_set_null(vector);
    } else if (leaf->is_list) {
        for (size_t i = 0; i < cursor->count; i++)
            if (leaf->type == PF_PARQUET_BYTE_ARRAY)
                pf_add_code(vector, code_at(cursor, cursor->first + i, vector));
            else
                pf_add_address(vector, (uint64_t)number_at(cursor, cursor->first + i));
        pf_end_list(vector);
    } else if (leaf->type == PF_PARQUET_BYTE_ARRAY) {
        pf_set_u32(vector, code_at(cursor, cursor->first, vector));
    } else {
        put_number(vector, number_at(cursor, cursor->first), leaf->is_wall);
    }
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* The position in `leaves` of the one with this name, mostly `near`. Returns `count` when no leaf has the name. */
static size_t find_name(const struct pf_parquet_leaf *leaves, size_t count, const char *name, size_t near)
{
    if (near < count && strcmp(leaves[near].name, name) == 0)
        return near;
    size_t i = 0;
    while (i < count && strcmp(leaves[i].name, name) != 0)
        i++;
    return i;
}

static bool is_same_kind(const struct pf_parquet_leaf *a, const struct pf_parquet_leaf *b)
{
    return a->type == b->type && a->is_list == b->is_list && a->is_wall == b->is_wall;
}

static int fail(const struct files *files, int code, const char *why, struct perfile_error *error)
{
    return pf_parquet_fail(error, code, files->paths[files->next_path - 1], why);
}

static int open_next(struct files *files, struct perfile_error *error)
{
    pf_parquet_file_close(&files->file);
    files->is_open = true;
    files->group = 0;
    return pf_parquet_file_open(&files->file, files->allocator, files->paths[files->next_path++], error);
}

/* Files were compared when the table was opened, and may have been replaced since. */
static int locate_leaves(struct files *files, struct perfile_error *error)
{
    const struct pf_parquet_file *file = &files->file;
    size_t known = 0;
    for (size_t i = 0; i < files->leaf_count; i++) {
        const struct pf_parquet_leaf *leaf = &files->leaves[i];
        const size_t position = find_name(file->leaves, file->leaf_count, leaf->name, i);
        const bool is_there = position < file->leaf_count;
        files->positions[i] = position;
        known += is_there;
        if (is_there ? !is_same_kind(&file->leaves[position], leaf) : leaf->is_required)
            return fail(files, PERFILE_ERROR_UNSUPPORTED, "its columns have changed", error);
    }
    return known == file->leaf_count ? 0 : fail(files, PERFILE_ERROR_UNSUPPORTED, "its columns have changed", error);
}

static int begin_file(struct files *files, struct perfile_error *error)
{
    const int result = open_next(files, error);
    return result < 0 ? result : locate_leaves(files, error);
}

/* The leaf of the current file; NULL: it does not have it. */
static const struct pf_parquet_leaf *leaf_of_file(const struct files *files, size_t leaf)
{
    return files->positions[leaf] < files->file.leaf_count ? &files->file.leaves[files->positions[leaf]] : NULL;
}

static int begin_group(struct files *files, struct perfile_error *error)
{
    const struct pf_parquet_file *file = &files->file;
    for (size_t i = 0; i < files->read_count; i++) {
        const size_t leaf = files->read[i];
        if (!leaf_of_file(files, leaf))
            continue;
        const struct pf_parquet_chunk *chunk = &file->chunks[files->group * file->leaf_count + files->positions[leaf]];
        struct cursor *cursor = &files->cursors[leaf];
        cursor->chunk.used = 0;
        uint8_t *at = chunk->bytes < SIZE_MAX ? pf_block_reserve(&cursor->chunk, (size_t)chunk->bytes + 1) : NULL;
        if (!at)
            return pf_fail_memory(error, "table");
        if (!pf_parquet_file_read(file, chunk->offset, at, (size_t)chunk->bytes))
            return fail(files, PERFILE_ERROR_READ, "cannot be read", error);
        cursor->rest = (struct pf_bytes){at, at + chunk->bytes, false};
        cursor->has_dictionary = false;
        cursor->level = cursor->level_count = 0;
    }
    files->left = file->group_rows[files->group++];
    return 0;
}

/* Goes to a row group with rows: 1, or 0 at the end. */
static int find_rows(struct files *files, struct perfile_error *error)
{
    int result = 0;
    while (!files->left && result == 0) {
        if (files->is_open && files->group < files->file.group_count)
            result = begin_group(files, error);
        else if (files->next_path == files->path_count)
            return 0;
        else
            result = begin_file(files, error);
    }
    return result < 0 ? result : 1;
}

/* 1: the row is one that was not there yet. */
static int is_new(struct files *files, struct perfile_error *error)
{
    const struct cursor *cursor = &files->cursors[files->distinct];
    uint64_t known;
    if (cursor->is_null || !cursor->count)
        return 1;
    const uint64_t key = (uint64_t)number_at(cursor, cursor->first);
    if (pf_map_get(&files->seen, key, &known))
        return 0;
    return pf_map_put(&files->seen, key, 0) ? 1 : pf_fail_memory(error, "table");
}

static bool is_kept(const struct files *files)
{
    const struct cursor *cursor = &files->cursors[files->keeps_leaf];
    struct perfile_value value = {.name = files->leaves[files->keeps_leaf].name, .kind = PERFILE_VALUE_NULL};
    if (!cursor->is_null && files->leaves[files->keeps_leaf].type == PF_PARQUET_BYTE_ARRAY) {
        value.kind = PERFILE_VALUE_TEXT;
        value.data = (const uint8_t *)text_at(cursor, cursor->first, &value.bytes);
    } else if (!cursor->is_null) {
        value.kind = PERFILE_VALUE_UNSIGNED;
        value.number.u = (uint64_t)number_at(cursor, cursor->first);
    }
    return files->keeps(files->keeps_context, &value);
}

/* 1: the row is delivered; 0: it is left out. */
static int is_wanted(struct files *files, struct perfile_error *error)
{
    if (files->keeps_leaf < files->leaf_count && !is_kept(files))
        return 0;
    return files->distinct < files->leaf_count ? is_new(files, error) : 1;
}

/* Goes to the next value of each column that is read. */
static bool next_values(struct files *files)
{
    for (size_t i = 0; i < files->read_count; i++) {
        struct cursor *cursor = &files->cursors[files->read[i]];
        const struct pf_parquet_leaf *leaf = leaf_of_file(files, files->read[i]);
        if (!leaf) {
            cursor->is_null = true;
            cursor->count = 0;
        } else if (!next_of_column(files, cursor, leaf)) {
            return false;
        }
    }
    return true;
}

static int next_row(void *state, struct perfile_error *error)
{
    struct files *files = state;
    for (;;) {
        int result = find_rows(files, error);
        if (result <= 0)
            return result;
        files->left--;
        if (!next_values(files))
            return pf_memory_was_short(files->allocator)
                       ? pf_fail_memory(error, "table")
                       : fail(files, PERFILE_ERROR_DAMAGED, "a page is damaged", error);
        result = is_wanted(files, error);
        if (result)
            return result;
    }
}

static void close_cursor(struct files *files, struct cursor *cursor)
{
    const struct perfile_allocator *allocator = files->allocator;
    pf_block_close(&cursor->chunk);
    pf_block_close(&cursor->dictionary);
    pf_block_close(&cursor->page);
    pf_free(allocator, cursor->values, cursor->value_capacity * sizeof(*cursor->values));
    pf_free(allocator, cursor->texts, cursor->text_capacity * sizeof(*cursor->texts));
    pf_free(allocator, cursor->numbers, cursor->number_capacity * sizeof(*cursor->numbers));
    pf_free(allocator, cursor->repeated, cursor->repeated_capacity * sizeof(*cursor->repeated));
    pf_free(allocator, cursor->defined, cursor->defined_capacity * sizeof(*cursor->defined));
    pf_free(allocator, cursor->items, cursor->item_capacity * sizeof(*cursor->items));
    pf_free(allocator, cursor->codes, cursor->code_capacity * sizeof(*cursor->codes));
}

static void close_files(void *state)
{
    struct files *files = state;
    for (size_t i = 0; files->cursors && i < files->leaf_count; i++)
        close_cursor(files, &files->cursors[i]);
    pf_parquet_file_close(&files->file);
    pf_free(files->allocator, files->leaves, files->leaf_capacity * sizeof(*files->leaves));
    ZSTD_freeDCtx(files->zstd);
    pf_map_close(&files->seen);
    pf_arena_close(&files->arena);
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

/*
 * Finds the column of the view that a leaf belongs to: `timestamp` is the time of day of `time`. False: no column of
 * the view matches.
 */
static bool find_column(const struct files *files, const struct pf_parquet_leaf *leaf, const char *name,
                        struct perfile_column *column)
{
    for (size_t i = 0;
         *column = (struct perfile_column)PERFILE_COLUMN_INIT, perfile_view_column(files->view, i, column) == 0; i++)
        if (strcmp(column->name, name) == 0) {
            const bool is_list = column->type >= PERFILE_COLUMN_TEXTS;
            const bool is_text = column->type == PERFILE_COLUMN_TEXT || column->type == PERFILE_COLUMN_TEXTS;
            const int type = is_text                               ? PF_PARQUET_BYTE_ARRAY
                             : column->type == PERFILE_COLUMN_BOOL ? PF_PARQUET_BOOLEAN
                             : column->type == PERFILE_COLUMN_I32  ? PF_PARQUET_INT32
                             : column->type == PERFILE_COLUMN_F64  ? PF_PARQUET_DOUBLE
                                                                   : PF_PARQUET_INT64;
            return is_list == leaf->is_list && type == leaf->type;
        }
    return false;
}

static uint32_t plain_type(const struct pf_parquet_leaf *leaf)
{
    if (leaf->is_list)
        return leaf->type == PF_PARQUET_BYTE_ARRAY ? PERFILE_COLUMN_TEXTS : PERFILE_COLUMN_ADDRESSES;
    return leaf->is_wall                         ? PERFILE_COLUMN_TIME
           : leaf->type == PF_PARQUET_BOOLEAN    ? PERFILE_COLUMN_BOOL
           : leaf->type == PF_PARQUET_INT32      ? PERFILE_COLUMN_I32
           : leaf->type == PF_PARQUET_DOUBLE     ? PERFILE_COLUMN_F64
           : leaf->type == PF_PARQUET_BYTE_ARRAY ? PERFILE_COLUMN_TEXT
                                                 : PERFILE_COLUMN_I64;
}

/* Without a list all columns are, but for second names. */
static bool is_asked_for(const struct files *files, const char *name, bool is_second)
{
    const struct perfile_parquet_options *options = files->options;
    for (size_t i = 0; i < options->column_count; i++)
        if (strcmp(options->columns[i], name) == 0)
            return true;
    return !options->columns && !is_second;
}

static bool add_column(struct perfile_table *table, struct files *files, size_t index, const char *name, bool is_second)
{
    const struct pf_parquet_leaf *leaf = &files->leaves[index];
    struct perfile_column of;
    const bool is_known = find_column(files, leaf, name, &of), is_shown = is_asked_for(files, name, is_second);
    const struct pf_column column = {.name = name,
                                     .type = is_known ? of.type : plain_type(leaf),
                                     .unit = is_known ? of.unit : "",
                                     .doc = is_known ? of.doc : "",
                                     .put = put_cell,
                                     .extra = !is_shown,
                                     .required = leaf->is_required,
                                     .index = (uint32_t)index};
    if (is_shown && (!files->read_count || files->read[files->read_count - 1] != index))
        files->read[files->read_count++] = index;
    return pf_table_add(table, &column);
}

/* "time" of "timestamp" in a file without the former; else, and when memory is short, NULL. */
static char *name_of_time(struct files *files, const struct pf_parquet_leaf *leaf, bool *enough)
{
    static const char stamp[] = "stamp";
    const size_t bytes = strlen(leaf->name);
    if (!leaf->is_wall || bytes <= strlen(stamp) || strcmp(leaf->name + bytes - strlen(stamp), stamp) != 0)
        return NULL;
    char *name = pf_arena_text(&files->arena, leaf->name, bytes - strlen(stamp));
    *enough = name != NULL;
    for (size_t i = 0; name && i < files->leaf_count; i++)
        if (strcmp(files->leaves[i].name, name) == 0)
            return NULL;
    return name;
}

static bool add_leaf(struct perfile_table *table, struct files *files, size_t index)
{
    const struct pf_parquet_leaf *leaf = &files->leaves[index];
    bool enough = true;
    const char *time = name_of_time(files, leaf, &enough);
    return enough && (!time || add_column(table, files, index, time, false)) &&
           add_column(table, files, index, leaf->name, time != NULL);
}

/* Reads a column that is not necessarily shown; leaf_count: no column. */
static void read_too(struct files *files, size_t leaf)
{
    for (size_t i = 0; i < files->read_count; i++)
        if (files->read[i] == leaf)
            return;
    if (leaf < files->leaf_count)
        files->read[files->read_count++] = leaf;
}

/* What is read: the columns that are shown, one at least, and those that decide which rows are. */
static void choose_leaves(struct perfile_table *table, struct files *files)
{
    if (!files->read_count) {
        table->columns[0].column.extra = false;
        table->columns[0].shown = true;
        files->read[files->read_count++] = table->columns[0].column.index;
    }
    read_too(files, files->distinct);
    read_too(files, files->keeps_leaf);
}

/* The position of a column that is not a list; leaf_count: the file has no such column. */
static size_t find_leaf(const struct files *files, const char *name)
{
    size_t i = 0;
    while (i < files->leaf_count && (files->leaves[i].is_list || strcmp(files->leaves[i].name, name) != 0))
        i++;
    return i;
}

static int find_leaves(struct files *files, struct perfile_error *error)
{
    const struct perfile_parquet_options *options = files->options;
    files->distinct = files->keeps_leaf = files->leaf_count;
    if (options->distinct) {
        files->distinct = find_leaf(files, options->distinct);
        if (files->distinct == files->leaf_count || files->leaves[files->distinct].type != PF_PARQUET_INT64)
            return fail(files, PERFILE_ERROR_ARGUMENT, "it has no such column of ids", error);
    }
    if (options->keeps) {
        files->keeps = options->keeps;
        files->keeps_context = options->keeps_context;
        files->keeps_leaf = find_leaf(files, options->keeps_column ? options->keeps_column : "");
        if (files->keeps_leaf == files->leaf_count)
            return fail(files, PERFILE_ERROR_ARGUMENT, "it has no column whose values choose rows", error);
    }
    return 0;
}

static bool add_new_leaf(struct files *files, const struct pf_parquet_leaf *leaf)
{
    if (!pf_grow(files->allocator, &files->leaves, &files->leaf_capacity, files->leaf_count + 1,
                 sizeof(*files->leaves)))
        return false;
    struct pf_parquet_leaf *added = &files->leaves[files->leaf_count];
    *added = *leaf;
    added->is_required = leaf->is_required && files->next_path == 1;
    added->name = pf_arena_text(&files->arena, leaf->name, strlen(leaf->name));
    files->leaf_count += added->name != NULL;
    return added->name;
}

/* Takes the columns of the open file that files before it did not have. One that any file is without may be NULL. */
static int join_leaves(struct files *files, struct perfile_error *error)
{
    const struct pf_parquet_file *file = &files->file;
    const size_t before = files->leaf_count;
    for (size_t i = 0; i < before; i++)
        if (find_name(file->leaves, file->leaf_count, files->leaves[i].name, i) == file->leaf_count)
            files->leaves[i].is_required = false;
    for (size_t i = 0; i < file->leaf_count; i++) {
        const struct pf_parquet_leaf *leaf = &file->leaves[i];
        const size_t at = find_name(files->leaves, before, leaf->name, i);
        if (at < before && !is_same_kind(leaf, &files->leaves[at]))
            return fail(files, PERFILE_ERROR_UNSUPPORTED, "a column has another type in the files before it", error);
        if (at < before)
            files->leaves[at].is_required &= leaf->is_required;
        else if (files->leaf_count == PF_PARQUET_MAX_LEAVES)
            return fail(files, PERFILE_ERROR_UNSUPPORTED, "with it the files have too many columns", error);
        else if (!add_new_leaf(files, leaf))
            return pf_fail_memory(error, "table");
    }
    return 0;
}

/* The columns of all files. */
static int look_at_files(struct files *files, struct perfile_error *error)
{
    int result = 0;
    while (result == 0 && files->next_path < files->path_count) {
        result = open_next(files, error);
        if (result == 0)
            result = join_leaves(files, error);
        if (result == 0 && !files->view &&
            !(files->view = pf_arena_text(&files->arena, files->file.view, strlen(files->file.view))))
            result = pf_fail_memory(error, "table");
    }
    return result;
}

/* And the position before the first row: one file alone stays open, several are opened again. */
static int make_cursors(struct files *files, struct perfile_error *error)
{
    const size_t count = files->leaf_count;
    files->cursors = pf_arena_new(&files->arena, count * sizeof(*files->cursors));
    files->read = pf_arena_new(&files->arena, (count + 2) * sizeof(*files->read));
    files->positions = pf_arena_new(&files->arena, count * sizeof(*files->positions));
    if (!files->cursors || !files->read || !files->positions) {
        files->cursors = NULL;
        return pf_fail_memory(error, "table");
    }
    for (size_t i = 0; i < count; i++)
        files->cursors[i].chunk = files->cursors[i].dictionary = files->cursors[i].page =
            pf_block_make(files->allocator);
    if (files->path_count == 1)
        return locate_leaves(files, error);
    files->is_open = false;
    files->next_path = 0;
    return 0;
}

static bool copy_paths(struct files *files, const struct perfile_parquet_options *options)
{
    files->paths = pf_arena_new(&files->arena, options->path_count * sizeof(*files->paths));
    for (size_t i = 0; files->paths && i < options->path_count; i++)
        if (!(files->paths[i] = pf_arena_text(&files->arena, options->paths[i], strlen(options->paths[i]))))
            return false;
    files->path_count = options->path_count;
    files->zstd = ZSTD_createDCtx();
    return files->paths && files->zstd;
}

static int open_view(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct files *files = state;
    int result = 0;
    for (size_t i = 0; i < files->leaf_count && result == 0; i++)
        if (!add_leaf(table, files, i))
            result = pf_fail_memory(error, "table");
    if (result == 0)
        choose_leaves(table, files);
    files->options = NULL;
    return result;
}

static const struct pf_view view_of_files = {
    .open = open_view, .next = next_row, .close = close_files, .state_bytes = sizeof(struct files)};

static int make_files(struct perfile_table *table, const struct perfile_parquet_options *options,
                      struct perfile_error *error)
{
    struct files *files = pf_new(table->allocator, sizeof(*files));
    if (!files)
        return pf_fail_memory(error, "table");
    table->state = files;
    table->own = view_of_files;
    table->view = &table->own;
    files->options = options;
    files->allocator = table->allocator;
    files->file.allocator = table->allocator;
    files->file.fd = -1;
    pf_arena_open(&files->file.arena, table->allocator);
    pf_arena_open(&files->arena, table->allocator);
    pf_map_open(&files->seen, table->allocator);
    int result = copy_paths(files, options) ? look_at_files(files, error) : pf_fail_memory(error, "table");
    if (result == 0)
        result = find_leaves(files, error);
    if (result == 0)
        result = make_cursors(files, error);
    if (result == 0)
        table->own.info.name = files->view;
    return result;
}

int perfile_table_of_parquet(const struct perfile_parquet_options *passed, struct perfile_table **table,
                             struct perfile_error *error)
{
    struct perfile_parquet_options options = PERFILE_PARQUET_OPTIONS_INIT;
    struct perfile_table_options of_table = PERFILE_TABLE_OPTIONS_INIT;
    if (table)
        *table = NULL;
    int result = pf_sized_take(&options, sizeof(options), passed, "parquet options", error);
    if (result < 0)
        return result;
    if (!table || !options.paths || !options.path_count)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "table",
                       "Parquet files need a path, and a pointer for the table");
    of_table.allocator = options.allocator;
    of_table.wall_times = true;
    result = pf_table_make(NULL, &of_table, table, error);
    if (result == 0)
        result = make_files(*table, &options, error);
    if (result == 0)
        return pf_table_start(table, error);
    perfile_table_close(*table);
    *table = NULL;
    return result;
}

int perfile_parquet_look(const char *path, struct perfile_parquet_info *info, struct perfile_error *error)
{
    struct pf_parquet_file file;
    struct pf_watch watch;
    if (!path || !info)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "table",
                       "no path, or no struct for the result");
    if (pf_sized_check(info, "Parquet file", error) < 0)
        return PERFILE_ERROR_ARGUMENT;
    pf_watch_open(&watch, NULL);
    int result = pf_parquet_file_open(&file, &watch.allocator, path, error);
    const struct perfile_parquet_info all = {.rows = file.rows, .groups = file.group_count, .bytes = file.bytes};
    if (result == 0)
        result = pf_sized_give(info, &all, sizeof(all));
    pf_parquet_file_close(&file);
    return result;
}
