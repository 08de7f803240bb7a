/* SPDX-License-Identifier: MIT */
#include "output/table/parquet.h"

enum {
    LEVEL = 3,            /* of zstd: more costs time and hardly saves bytes */
    PAGE_ITEMS = 1 << 17, /* of lists */
    PAGE_TEXT = 1 << 20,  /* bytes, where texts have no dictionary */
    MAX_VALUES = 1 << 17, /* of a dictionary */
    MAX_TEXT = 1 << 24,   /* bytes of its texts */
    MANY_TEXT = 1 << 28,  /* bytes of all texts, which could be too many for a page */
    DATA_PAGE = 0,
    DICTIONARY_PAGE = 2,
};

/* ---- what pages are made in -------------------------------------------------------------------------------------- */

void pf_parquet_press_open(struct pf_parquet_press *press, const struct perfile_allocator *allocator)
{
    *press = (struct pf_parquet_press){.allocator = allocator,
                                       .page = pf_block_make(allocator),
                                       .small = pf_block_make(allocator),
                                       .other = pf_block_make(allocator)};
}

void pf_parquet_press_close(struct pf_parquet_press *press)
{
    pf_block_close(&press->page);
    pf_block_close(&press->small);
    pf_block_close(&press->other);
    pf_free(press->allocator, press->numbers, press->number_capacity * sizeof(*press->numbers));
    pf_free(press->allocator, press->codes, press->code_capacity * sizeof(*press->codes));
}

/* False when out of memory. */
static bool squeeze(ZSTD_CCtx *zstd, const struct pf_block *page, struct pf_block *small)
{
    small->used = 0;
    uint8_t *to = pf_block_reserve(small, ZSTD_compressBound(page->used));
    if (!to || page->failed)
        return false;
    const size_t bytes = ZSTD_compressCCtx(zstd, to, small->capacity, page->data, page->used, LEVEL);
    if (ZSTD_isError(bytes)) {
        pf_memory_note_short(small->allocator); /* the capacity suffices, so that memory is the only cause */
        return false;
    }
    small->used = bytes;
    return true;
}

/* Its header, which `kind` and what follows it are members of, and the compressed page. */
static void collect(struct pf_parquet_column *column, const struct pf_block *page, const struct pf_block *small,
                    int kind, const int64_t facts[2])
{
    struct pf_block *to = kind == DATA_PAGE ? &column->pages : &column->dictionary_page;
    const size_t start = to->used;
    struct pf_thrift thrift = {.to = to};
    pf_thrift_begin(&thrift, 0);
    pf_thrift_number(&thrift, 1, PF_THRIFT_I32, kind);
    pf_thrift_number(&thrift, 2, PF_THRIFT_I32, (int64_t)page->used);
    pf_thrift_number(&thrift, 3, PF_THRIFT_I32, (int64_t)small->used);
    pf_thrift_begin(&thrift, kind == DATA_PAGE ? 5 : 7);
    for (int i = 0; i < (kind == DATA_PAGE ? 4 : 2);
         i++) /* how many values, and how they and their levels are encoded */
        pf_thrift_number(&thrift, i + 1, PF_THRIFT_I32, i < 2 ? facts[i] : PF_PARQUET_RLE);
    pf_thrift_end(&thrift);
    pf_thrift_end(&thrift);
    column->raw_bytes += to->used - start + page->used;
    pf_block_put(to, small->data, small->used);
}

/* ---- pages that are compressed later ----------------------------------------------------------------------------- */

/* The next page, with the memory of one that was collected; NULL when out of memory. */
static struct pf_parquet_page *add_later(struct pf_parquet_pages *pages, const struct perfile_allocator *allocator)
{
    const size_t old = pages->capacity;
    if (!pf_grow(allocator, &pages->list, &pages->capacity, pages->count + 1, sizeof(*pages->list)))
        return NULL;
    for (size_t i = old; i < pages->capacity; i++)
        pages->list[i] = (struct pf_parquet_page){.raw = pf_block_make(allocator), .small = pf_block_make(allocator)};
    return &pages->list[pages->count++];
}

/* The page that the press has is complete. */
static void end_page(struct pf_parquet_press *press, struct pf_parquet_column *column, int kind, const int64_t facts[2])
{
    press->raw_bytes += press->page.used;
    if (!press->later) {
        if (squeeze(press->zstd, &press->page, &press->small))
            collect(column, &press->page, &press->small, kind, facts);
        return;
    }
    struct pf_parquet_page *page = add_later(press->later, press->allocator);
    if (!page)
        return;
    const struct pf_block spare = page->raw;
    page->raw = press->page;
    press->page = spare;
    page->column = column;
    page->kind = kind;
    memcpy(page->facts, facts, sizeof(page->facts));
}

void pf_parquet_pages_compress(struct pf_parquet_pages *pages, ZSTD_CCtx *zstd)
{
    for (size_t i = 0; i < pages->count; i++)
        if (!squeeze(zstd, &pages->list[i].raw, &pages->list[i].small))
            return;
}

void pf_parquet_pages_collect(struct pf_parquet_pages *pages)
{
    for (size_t i = 0; i < pages->count; i++) {
        const struct pf_parquet_page *page = &pages->list[i];
        collect(page->column, &page->raw, &page->small, page->kind, page->facts);
    }
    pages->count = 0;
}

void pf_parquet_pages_close(struct pf_parquet_pages *pages, const struct perfile_allocator *allocator)
{
    for (size_t i = 0; i < pages->capacity; i++) {
        pf_block_close(&pages->list[i].raw);
        pf_block_close(&pages->list[i].small);
    }
    pf_free(allocator, pages->list, pages->capacity * sizeof(*pages->list));
    *pages = (struct pf_parquet_pages){.count = 0};
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

static enum pf_parquet_type type_of(const struct pf_field *field)
{
    switch (field->column->type) {
    case PERFILE_COLUMN_BOOL:
        return PF_PARQUET_BOOLEAN;
    case PERFILE_COLUMN_I32:
        return PF_PARQUET_INT32;
    case PERFILE_COLUMN_F64:
        return PF_PARQUET_DOUBLE;
    case PERFILE_COLUMN_TEXT:
    case PERFILE_COLUMN_TEXTS:
        return PF_PARQUET_BYTE_ARRAY;
    default:
        return PF_PARQUET_INT64;
    }
}

static bool wants_dictionary(const struct pf_parquet_column *column)
{
    const struct pf_column *of = column->field->column;
    if (column->type == PF_PARQUET_BYTE_ARRAY)
        return !of->fresh;
    return column->type != PF_PARQUET_BOOLEAN && column->type != PF_PARQUET_DOUBLE && of->type != PERFILE_COLUMN_TIME;
}

void pf_parquet_column_open(struct pf_parquet_column *column, const struct pf_fields *fields,
                            const struct pf_field *field)
{
    *column = (struct pf_parquet_column){.allocator = fields->allocator,
                                         .fields = fields,
                                         .field = field,
                                         .type = type_of(field),
                                         .is_list = pf_column_is_list(field->column),
                                         .pages = pf_block_make(fields->allocator),
                                         .dictionary_page = pf_block_make(fields->allocator)};
    column->max_defined = !pf_field_is_required(field) + column->is_list;
    pf_map_open(&column->numbers, column->allocator);
    column->has_dictionary = wants_dictionary(column);
}

static size_t dictionary_width(const struct pf_parquet_column *column)
{
    return column->type == PF_PARQUET_BYTE_ARRAY ? sizeof(*column->texts) : sizeof(*column->values);
}

void pf_parquet_column_close(struct pf_parquet_column *column)
{
    pf_map_close(&column->numbers);
    pf_free(column->allocator, column->type == PF_PARQUET_BYTE_ARRAY ? (void *)column->texts : column->values,
            column->dictionary_capacity * dictionary_width(column));
    pf_free(column->allocator, column->number_of, column->number_of_capacity * sizeof(*column->number_of));
    pf_block_close(&column->pages);
    pf_block_close(&column->dictionary_page);
}

void pf_parquet_column_drop(struct pf_parquet_column *column)
{
    column->pages.used = column->dictionary_page.used = 0;
    column->raw_bytes = 0;
}

static void clear(struct pf_parquet_column *column)
{
    for (size_t i = 0; i < column->dictionary_count && column->texts; i++)
        column->number_of[column->texts[i]] = 0;
    pf_map_close(&column->numbers);
    pf_map_open(&column->numbers, column->allocator);
    column->has_dictionary = wants_dictionary(column);
    column->dictionary_count = 0;
    column->dictionary_bytes = 0;
    column->chunk = (struct pf_parquet_facts){.encodings = 0};
}

/* ---- least and greatest ------------------------------------------------------------------------------------------ */

static void keep_text(struct pf_parquet_range *range, struct pf_parquet_text *kept, const char *text, size_t bytes)
{
    if (bytes > sizeof(kept->data)) {
        range->no_range = true;
        return;
    }
    memcpy(kept->data, text, bytes);
    kept->bytes = bytes;
}

static int compare_text(const char *text, size_t bytes, const struct pf_parquet_text *other)
{
    const int order = memcmp(text, other->data, pf_min_size(bytes, other->bytes));
    return order ? order : (bytes > other->bytes) - (bytes < other->bytes);
}

static void see_text(struct pf_parquet_range *range, const char *text, size_t bytes)
{
    if (range->no_range)
        return;
    if (!range->known || compare_text(text, bytes, &range->min_text) < 0)
        keep_text(range, &range->min_text, text, bytes);
    if (!range->known || compare_text(text, bytes, &range->max_text) > 0)
        keep_text(range, &range->max_text, text, bytes);
    range->known = true;
}

static void see_numbers(struct pf_parquet_range *range, const int64_t *numbers, size_t count)
{
    if (!count)
        return;
    int64_t min = range->known ? range->min : numbers[0], max = range->known ? range->max : numbers[0];
    for (size_t i = 0; i < count; i++) {
        min = numbers[i] < min ? numbers[i] : min;
        max = numbers[i] > max ? numbers[i] : max;
    }
    range->min = min;
    range->max = max;
    range->known = true;
}

/* ---- the values of a page ---------------------------------------------------------------------------------------- */

/* Rows [from, to) of the vector, and their values or items. */
struct page {
    const struct pf_vector *vector;
    size_t from, to;
    size_t first, count; /* values in the vector, with nulls; or items */
    size_t passed;       /* values without nulls */
    const int64_t *numbers;
    const uint32_t *codes;
};

static bool is_set(const uint8_t *bits, size_t at)
{
    return bits[at / 8] >> at % 8 & 1;
}

static int64_t number_at(const struct pf_parquet_column *column, const struct pf_vector *vector, size_t at)
{
    switch (vector->column.type) {
    case PERFILE_COLUMN_BOOL:
        return is_set(vector->values, at);
    case PERFILE_COLUMN_I32:
        return ((const int32_t *)vector->values)[at];
    case PERFILE_COLUMN_U32:
        return ((const uint32_t *)vector->values)[at];
    default:
        return column->field->is_wall ? pf_fields_wall_time(column->fields, ((const uint64_t *)vector->values)[at])
                                      : ((const int64_t *)vector->values)[at];
    }
}

/* 64-bit values without gaps stand in the vector as they are needed. */
static bool gather_numbers(const struct pf_parquet_column *column, struct pf_parquet_press *press, struct page *page)
{
    const struct pf_vector *vector = page->vector;
    const bool gaps = !column->is_list && vector->nulls;
    if (!gaps && !column->field->is_wall && pf_column_width(&vector->column) == sizeof(int64_t)) {
        page->numbers = (const int64_t *)vector->values + page->first;
        page->passed = page->count;
        return true;
    }
    if (!pf_grow(press->allocator, &press->numbers, &press->number_capacity, page->count, sizeof(*press->numbers)))
        return false;
    size_t passed = 0;
    for (size_t i = page->first; i < page->first + page->count; i++)
        if (!gaps || is_set(vector->valid, i))
            press->numbers[passed++] = number_at(column, vector, i);
    page->numbers = press->numbers;
    page->passed = passed;
    return true;
}

static bool gather_codes(struct pf_parquet_press *press, struct page *page, bool gaps)
{
    const struct pf_vector *vector = page->vector;
    const uint32_t *codes = vector->values;
    if (!pf_grow(press->allocator, &press->codes, &press->code_capacity, page->count, sizeof(*press->codes)))
        return false;
    size_t passed = 0;
    for (size_t i = page->first; i < page->first + page->count; i++)
        if (!gaps || is_set(vector->valid, i))
            press->codes[passed++] = codes[i];
    page->codes = press->codes;
    page->passed = passed;
    return true;
}

static bool gather(const struct pf_parquet_column *column, struct pf_parquet_press *press, struct page *page)
{
    if (column->type == PF_PARQUET_BYTE_ARRAY)
        return gather_codes(press, page, !column->is_list && page->vector->nulls);
    return gather_numbers(column, press, page);
}

/* ---- dictionaries ------------------------------------------------------------------------------------------------ */

static bool grow_dictionary(struct pf_parquet_column *column)
{
    void *list = column->type == PF_PARQUET_BYTE_ARRAY ? (void *)&column->texts : &column->values;
    return pf_grow(column->allocator, list, &column->dictionary_capacity, column->dictionary_count + 1,
                   dictionary_width(column));
}

static bool add_text(struct pf_parquet_column *column, uint32_t code)
{
    size_t bytes;
    if (!grow_dictionary(column))
        return false;
    const char *text = pf_dictionary_at(&column->vector->dictionary, code, &bytes);
    see_text(&column->chunk.range, text, bytes);
    column->dictionary_bytes += bytes;
    column->texts[column->dictionary_count++] = code;
    column->number_of[code] = (uint32_t)column->dictionary_count;
    return true;
}

/* Codes of the vector become those of the row group. */
static bool number_texts(struct pf_parquet_column *column, struct page *page, uint32_t *codes)
{
    if (!pf_grow_zeroed(column->allocator, &column->number_of, &column->number_of_capacity,
                        column->vector->dictionary.count, sizeof(*column->number_of)))
        return false;
    for (size_t i = 0; i < page->passed; i++) {
        if (PF_UNLIKELY(!column->number_of[codes[i]]) && !add_text(column, codes[i]))
            return false;
        codes[i] = column->number_of[codes[i]] - 1;
    }
    return true;
}

static bool add_number(struct pf_parquet_column *column, int64_t value, uint64_t *number)
{
    *number = column->dictionary_count;
    if (!grow_dictionary(column) || !pf_map_put(&column->numbers, (uint64_t)value, *number))
        return false;
    column->values[column->dictionary_count++] = value;
    return true;
}

static bool number_numbers(struct pf_parquet_column *column, const struct page *page, uint32_t *codes)
{
    uint64_t number = 0;
    for (size_t i = 0; i < page->passed; i++) {
        if (i == 0 || page->numbers[i] != page->numbers[i - 1])
            if (!pf_map_get(&column->numbers, (uint64_t)page->numbers[i], &number) &&
                !add_number(column, page->numbers[i], &number))
                return false;
        codes[i] = (uint32_t)number;
    }
    return true;
}

static void put_codes(struct pf_parquet_column *column, struct pf_parquet_press *press, struct page *page)
{
    const bool texts = column->type == PF_PARQUET_BYTE_ARRAY;
    if (!pf_grow(press->allocator, &press->codes, &press->code_capacity, page->passed, sizeof(*press->codes)) ||
        !(texts ? number_texts(column, page, press->codes) : number_numbers(column, page, press->codes)))
        return;
    const unsigned width = pf_bits_of(column->dictionary_count - 1);
    pf_block_u8(&press->page, width);
    pf_encode_runs(&press->page, press->codes, page->passed, width);
    if (column->dictionary_count > MAX_VALUES || column->dictionary_bytes > MAX_TEXT)
        column->has_dictionary = false; /* from the next page on */
}

/* ---- values without a dictionary --------------------------------------------------------------------------------- */

static void put_texts(struct pf_parquet_column *column, struct pf_parquet_press *press, const struct page *page)
{
    for (size_t i = 0; i < page->passed; i++) {
        size_t bytes;
        const char *text = pf_dictionary_at(&page->vector->dictionary, page->codes[i], &bytes);
        see_text(&column->chunk.range, text, bytes);
        pf_block_u32(&press->page, (uint32_t)bytes);
        pf_block_put(&press->page, text, bytes);
    }
}

/* Steps where they are shorter than the numbers. */
static enum pf_parquet_encoding put_wide(struct pf_parquet_press *press, const struct page *page)
{
    press->other.used = 0;
    pf_encode_deltas(&press->other, page->numbers, page->passed);
    if (press->other.used / 3 * 4 > page->passed * sizeof(int64_t)) {
        pf_encode_plain(&press->page, page->numbers, page->passed, sizeof(int64_t));
        return PF_PARQUET_PLAIN;
    }
    pf_block_put(&press->page, press->other.data, press->other.used);
    return PF_PARQUET_DELTA_BINARY_PACKED;
}

static enum pf_parquet_encoding put_values(struct pf_parquet_column *column, struct pf_parquet_press *press,
                                           struct page *page)
{
    if (column->type != PF_PARQUET_BYTE_ARRAY && column->type != PF_PARQUET_DOUBLE)
        see_numbers(&column->chunk.range, page->numbers, page->passed);
    if (!page->passed)
        return PF_PARQUET_PLAIN;
    if (column->has_dictionary) {
        put_codes(column, press, page);
        return PF_PARQUET_RLE_DICTIONARY;
    }
    switch (column->type) {
    case PF_PARQUET_BOOLEAN:
        pf_encode_bits(&press->page, page->numbers, page->passed);
        return PF_PARQUET_PLAIN;
    case PF_PARQUET_BYTE_ARRAY:
        put_texts(column, press, page);
        return PF_PARQUET_PLAIN;
    case PF_PARQUET_INT64:
        return put_wide(press, page);
    default:
        pf_encode_plain(&press->page, page->numbers, page->passed,
                        column->type == PF_PARQUET_INT32 ? sizeof(int32_t) : sizeof(int64_t));
        return PF_PARQUET_PLAIN;
    }
}

/* ---- levels ------------------------------------------------------------------------------------------------------ */

/* Puts levels after their length. */
static void put_levels(struct pf_block *to, const uint32_t *levels, size_t count, unsigned max)
{
    const size_t at = to->used;
    pf_block_u32(to, 0);
    pf_encode_runs(to, levels, count, pf_bits_of(max));
    const uint32_t bytes = (uint32_t)(to->used - at - sizeof(uint32_t));
    if (!to->failed)
        memcpy(to->data + at, &(uint32_t){pf_load32(&bytes, PF_NATIVE_BIG_ENDIAN)}, sizeof(bytes));
}

static size_t level_count(const struct page *page)
{
    size_t count = page->count;
    for (size_t row = page->from; row < page->to; row++)
        count += page->vector->offsets[row] == page->vector->offsets[row + 1];
    return count;
}

/* Lists: whether a value begins a row, and whether there is one. How many levels, 0 when out of memory. */
static size_t put_list_levels(const struct pf_parquet_column *column, struct pf_parquet_press *press,
                              const struct page *page)
{
    const struct pf_vector *vector = page->vector;
    const size_t count = level_count(page);
    if (!pf_grow(press->allocator, &press->codes, &press->code_capacity, 2 * count, sizeof(*press->codes)))
        return 0;
    uint32_t *repeated = press->codes, *defined = press->codes + count;
    for (size_t row = page->from; row < page->to; row++) {
        const size_t items = (size_t)(vector->offsets[row + 1] - vector->offsets[row]);
        *repeated++ = 0;
        for (size_t i = 1; i < items; i++)
            *repeated++ = 1;
        for (size_t i = 0; i < items; i++)
            *defined++ = column->max_defined;
        if (!items)
            *defined++ = column->max_defined - 1 - !is_set(vector->valid, row);
    }
    put_levels(&press->page, press->codes, count, 1);
    put_levels(&press->page, press->codes + count, count, column->max_defined);
    return count;
}

static size_t put_row_levels(const struct pf_parquet_column *column, struct pf_parquet_press *press,
                             const struct page *page)
{
    if (!column->max_defined)
        return page->count;
    if (!pf_grow(press->allocator, &press->codes, &press->code_capacity, page->count, sizeof(*press->codes)))
        return 0;
    for (size_t i = 0; i < page->count; i++)
        press->codes[i] = !page->vector->nulls || is_set(page->vector->valid, page->from + i);
    put_levels(&press->page, press->codes, page->count, 1);
    return page->count;
}

/* ---- pages ------------------------------------------------------------------------------------------------------- */

static void add_page(struct pf_parquet_column *column, struct pf_parquet_press *press, struct page *page)
{
    press->page.used = 0;
    const size_t levels = column->is_list ? put_list_levels(column, press, page) : put_row_levels(column, press, page);
    if (!gather(column, press, page))
        return;
    const enum pf_parquet_encoding encoding = put_values(column, press, page);
    column->chunk.encodings |= 1u << encoding;
    column->chunk.value_count += levels;
    column->chunk.null_count += levels - page->passed;
    end_page(press, column, DATA_PAGE, (const int64_t[]){(int64_t)levels, encoding});
}

/* Where the page that begins with row `from` ends: it is not too large, but has at least one row. */
static size_t page_end(const struct pf_parquet_column *column, size_t from, size_t rows)
{
    const struct pf_vector *vector = column->vector;
    const bool long_texts =
        column->type == PF_PARQUET_BYTE_ARRAY && (!column->has_dictionary || vector->dictionary.text_used > MANY_TEXT);
    size_t row = from, text = 0;
    if (!column->is_list && !long_texts)
        return rows;
    while (row < rows && text < PAGE_TEXT) {
        size_t first = row, end = row + 1;
        if (column->is_list) {
            first = (size_t)vector->offsets[row];
            end = (size_t)vector->offsets[row + 1];
            if (row > from && end - (size_t)vector->offsets[from] > PAGE_ITEMS)
                break;
        }
        for (size_t i = first; long_texts && i < end && (column->is_list || is_set(vector->valid, row)); i++) {
            size_t bytes;
            (void)pf_dictionary_at(&vector->dictionary, ((const uint32_t *)vector->values)[i], &bytes);
            text += bytes;
        }
        row++;
    }
    return row;
}

void pf_parquet_column_add(struct pf_parquet_column *column, const struct pf_vector *vector,
                           struct pf_parquet_press *press, size_t rows)
{
    column->vector = vector;
    for (size_t from = 0, to; from < rows; from = to) {
        to = page_end(column, from, rows);
        struct page page = {.vector = vector, .from = from, .to = to, .first = from, .count = to - from};
        if (column->is_list) {
            page.first = (size_t)vector->offsets[from];
            page.count = (size_t)vector->offsets[to] - page.first;
        }
        add_page(column, press, &page);
    }
}

static void add_dictionary(struct pf_parquet_column *column, struct pf_parquet_press *press)
{
    press->page.used = 0;
    if (column->type == PF_PARQUET_BYTE_ARRAY) {
        const struct page all = {.vector = column->vector, .passed = column->dictionary_count, .codes = column->texts};
        put_texts(column, press, &all);
    } else {
        pf_encode_plain(&press->page, column->values, column->dictionary_count,
                        column->type == PF_PARQUET_INT32 ? sizeof(int32_t) : sizeof(int64_t));
    }
    end_page(press, column, DICTIONARY_PAGE, (const int64_t[]){(int64_t)column->dictionary_count, PF_PARQUET_PLAIN});
}

void pf_parquet_column_end(struct pf_parquet_column *column, const struct pf_vector *vector,
                           struct pf_parquet_press *press, struct pf_parquet_facts *chunk)
{
    column->vector = vector;
    column->chunk.has_dictionary = column->dictionary_count;
    if (column->dictionary_count)
        add_dictionary(column, press);
    *chunk = column->chunk;
    clear(column);
}

/* ---- the footer -------------------------------------------------------------------------------------------------- */

static void describe_number(const struct pf_parquet_column *column, struct pf_thrift *thrift, int field, int64_t value)
{
    uint8_t bytes[sizeof(value)];
    const size_t width = column->type == PF_PARQUET_BOOLEAN ? 1 : column->type == PF_PARQUET_INT32 ? 4 : 8;
    const uint64_t stored = pf_load64(&value, PF_NATIVE_BIG_ENDIAN);
    memcpy(bytes, &stored, sizeof(bytes));
    pf_thrift_bytes(thrift, field, bytes, width);
}

static void describe_range(const struct pf_parquet_column *column, const struct pf_parquet_facts *chunk,
                           struct pf_thrift *thrift)
{
    enum { STATISTICS = 12, NULLS = 3, MAX = 5, MIN = 6 };
    const struct pf_parquet_range *range = &chunk->range;
    pf_thrift_begin(thrift, STATISTICS);
    pf_thrift_number(thrift, NULLS, PF_THRIFT_I64, (int64_t)chunk->null_count);
    if (range->known && !range->no_range && column->type == PF_PARQUET_BYTE_ARRAY) {
        pf_thrift_bytes(thrift, MAX, range->max_text.data, range->max_text.bytes);
        pf_thrift_bytes(thrift, MIN, range->min_text.data, range->min_text.bytes);
    } else if (range->known && !range->no_range) {
        describe_number(column, thrift, MAX, range->max);
        describe_number(column, thrift, MIN, range->min);
    }
    pf_thrift_end(thrift);
}

static void describe_encodings(const struct pf_parquet_column *column, const struct pf_parquet_facts *chunk,
                               struct pf_thrift *thrift)
{
    const unsigned levels = column->max_defined ? 1u << PF_PARQUET_RLE : 0;
    const unsigned dictionary = chunk->has_dictionary ? 1u << PF_PARQUET_PLAIN : 0;
    const unsigned all = chunk->encodings | levels | dictionary;
    pf_thrift_list(thrift, 2, PF_THRIFT_I32, (size_t)__builtin_popcount(all));
    for (int i = 0; i <= PF_PARQUET_RLE_DICTIONARY; i++)
        if (all >> i & 1)
            pf_thrift_item_number(thrift, i);
}

void pf_parquet_column_describe(const struct pf_parquet_column *column, const struct pf_parquet_facts *chunk,
                                struct pf_thrift *thrift, uint64_t offset)
{
    const size_t dictionary = column->dictionary_page.used;
    static const char *const list_path[] = {"list", "element"};
    pf_thrift_begin(thrift, 0);
    pf_thrift_number(thrift, 2, PF_THRIFT_I64, 0); /* nothing follows the column */
    pf_thrift_begin(thrift, 3);
    pf_thrift_number(thrift, 1, PF_THRIFT_I32, column->type);
    describe_encodings(column, chunk, thrift);
    pf_thrift_list(thrift, 3, PF_THRIFT_BINARY, column->is_list ? 3 : 1);
    pf_thrift_item_text(thrift, column->field->name);
    for (size_t i = 0; i < 2 && column->is_list; i++)
        pf_thrift_item_text(thrift, list_path[i]);
    pf_thrift_number(thrift, 4, PF_THRIFT_I32, PF_PARQUET_ZSTD);
    pf_thrift_number(thrift, 5, PF_THRIFT_I64, (int64_t)chunk->value_count);
    pf_thrift_number(thrift, 6, PF_THRIFT_I64, (int64_t)column->raw_bytes);
    pf_thrift_number(thrift, 7, PF_THRIFT_I64, (int64_t)(column->pages.used + dictionary));
    pf_thrift_number(thrift, 9, PF_THRIFT_I64, (int64_t)(offset + dictionary));
    if (dictionary)
        pf_thrift_number(thrift, 11, PF_THRIFT_I64, (int64_t)offset);
    describe_range(column, chunk, thrift);
    pf_thrift_end(thrift);
    pf_thrift_end(thrift);
}
