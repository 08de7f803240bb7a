/* SPDX-License-Identifier: MIT */
/* Tables as text: batch by batch through one of the formats. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "output/gzip.h"
#include "output/table/format.h"
#include "output/table/formats.h"

#define DECLARE(name, ...) extern const struct pf_table_format pf_table_format_##name;
PF_TABLE_FORMATS(DECLARE, )

#define ROW(name, is_binary, doc, ...) {&pf_table_format_##name, doc, is_binary},
static const struct {
    const struct pf_table_format *of;
    const char *doc;
    bool is_binary;
} formats[] = {PF_TABLE_FORMATS(ROW, )};

const char *perfile_table_format_at(size_t index, const char **doc)
{
    if (index >= PF_COUNT(formats))
        return NULL;
    if (doc)
        *doc = formats[index].doc;
    return formats[index].of->name;
}

/* The first format where `name` is NULL; PF_COUNT(formats) where it is unknown. */
static size_t find(const char *name)
{
    size_t i = 0;
    while (name && i < PF_COUNT(formats) && strcmp(formats[i].of->name, name) != 0)
        i++;
    return i;
}

static int fail_format(const char *name, struct perfile_error *error)
{
    char valid[160] = "";
    for (size_t i = 0, used = 0; i < PF_COUNT(formats) && used < sizeof(valid); i++)
        used += (size_t)snprintf(valid + used, sizeof(valid) - used, "%s%s", i ? ", " : "", formats[i].of->name);
    return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "table", "unknown format '%.40s'; valid: %s", name,
                   valid);
}

bool perfile_table_format_is_binary(const char *name)
{
    const size_t found = find(name);
    return found < PF_COUNT(formats) && formats[found].is_binary;
}

/* ---- values as plain text ---------------------------------------------------------------------------------------- */

/* JSON, which has no word for what is not finite, does without this. */
static void put_number(struct pf_text *out, double value)
{
    if (isfinite(value))
        pf_put_double(out, value);
    else
        pf_put_string(out, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
}

void pf_table_put_item(struct pf_text *out, const struct pf_vector *vector, size_t at)
{
    const uint64_t *wide = vector->values;
    const uint32_t *narrow = vector->values;
    size_t bytes;
    switch (vector->column.type) {
    case PERFILE_COLUMN_BOOL:
        pf_put_string(out, ((const uint8_t *)vector->values)[at / 8] >> at % 8 & 1 ? "true" : "false");
        break;
    case PERFILE_COLUMN_I32:
        pf_put_signed(out, (int32_t)narrow[at]);
        break;
    case PERFILE_COLUMN_U32:
        pf_put_unsigned(out, narrow[at]);
        break;
    case PERFILE_COLUMN_I64:
        pf_put_signed(out, (int64_t)wide[at]);
        break;
    case PERFILE_COLUMN_F64:
        put_number(out, ((const double *)vector->values)[at]);
        break;
    case PERFILE_COLUMN_TEXT:
    case PERFILE_COLUMN_TEXTS: {
        const char *text = pf_dictionary_at(&vector->dictionary, narrow[at], &bytes);
        pf_put_name_bytes(out, text, bytes);
        break;
    }
    default:
        pf_put_unsigned(out, wide[at]);
    }
}

void pf_table_put_value(struct pf_text *out, const struct pf_vector *vector, size_t row, pf_table_item *put)
{
    if (pf_vector_is_null(vector, row))
        return;
    if (!pf_column_is_list(&vector->column)) {
        put(out, vector, row);
        return;
    }
    for (int32_t i = vector->offsets[row]; i < vector->offsets[row + 1]; i++) {
        pf_put_string(out, i > vector->offsets[row] ? ";" : "");
        put(out, vector, (size_t)i);
    }
}

/* ---- all rows ---------------------------------------------------------------------------------------------------- */

void pf_table_put_rows(struct pf_sheet *sheet, const struct pf_table_format *format)
{
    if (format->batch) {
        format->batch(sheet);
        sheet->rows += sheet->row_count;
        return;
    }
    for (size_t row = 0; row < sheet->row_count; row++, sheet->rows++)
        format->row(sheet, row);
}

/* The next rows are in hand. As pf_table_fill. */
static int fill(struct pf_sheet *sheet, struct perfile_error *error)
{
    const int result = pf_table_fill(sheet->table, error);
    sheet->columns = sheet->table->columns;
    sheet->row_count = result == 1 ? sheet->table->rows : 0;
    return result;
}

static int put_some(struct pf_sheet *sheet, const struct pf_table_format *format, struct perfile_error *error)
{
    pf_table_put_rows(sheet, format);
    pf_table_drop_rows(sheet->table);
    return sheet->table->options.threads > 1 ? pf_table_team_write(sheet, format, error) : fill(sheet, error);
}

static void report_notes(const struct perfile_table *table)
{
    const struct perfile_symbol_options *symbols = &table->complete.symbols;
    if (table->view->notes && symbols->note)
        table->view->notes(table->state, symbols->note, symbols->note_context);
}

static int write_rows(struct pf_sheet *sheet, const struct pf_table_format *format, struct perfile_error *error)
{
    int result = fill(sheet, error);
    if (result < 0)
        return result;
    format->begin(sheet);
    while (result == 1 && !sheet->out->failed)
        result = put_some(sheet, format, error);
    if (result != PERFILE_ERROR_MEMORY) /* what was read until an error is valid, too */
        format->end(sheet);
    report_notes(sheet->table);
    if (result < 0)
        return result;
    return sheet->table->view->found && sheet->table->view->found(sheet->table->state);
}

static int write_sheet(struct pf_sheet *sheet, const struct pf_table_format *format, struct perfile_error *error)
{
    sheet->cell.escapes = format->escapes;
    const int result = write_rows(sheet, format, error);
    if (format->close)
        format->close(sheet);
    return result;
}

int pf_table_write(struct perfile_table *table, const char *format, const struct pf_sheet_style *style,
                   struct pf_text *out, struct perfile_error *error)
{
    const size_t index = find(format);
    struct pf_sheet sheet = {.table = table, .out = out, .style = style};
    if (index == PF_COUNT(formats))
        return fail_format(format, error);
    const struct pf_table_format *found = formats[index].of;
    out->escapes = found->escapes;
    int result = pf_text_open(&sheet.cell, table->allocator, NULL, NULL);
    if (result == 0)
        result = write_sheet(&sheet, found, error);
    pf_text_close(&sheet.cell);
    return result == PERFILE_ERROR_MEMORY || pf_memory_was_short(table->allocator) ? pf_fail_memory(error, "table")
                                                                                   : result;
}

int pf_table_check_gzip(bool gzip, const char *format, struct perfile_error *error)
{
    return !gzip || !format || !perfile_table_format_is_binary(format)
               ? 0
               : pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "format",
                         "%s is compressed itself, and no reader takes it as a gzip file", format);
}

static int write_to(struct perfile_table *table, const char *format, const struct perfile_sink *sink,
                    struct perfile_error *error)
{
    struct pf_text out;
    int result = PERFILE_ERROR_MEMORY;
    if (pf_text_open(&out, table->allocator, sink->write, sink->context) == 0) {
        result = pf_table_write(table, format, &(struct pf_sheet_style){0}, &out, error);
        const bool written = pf_text_flush(&out) == 0;
        if (!written && (result >= 0 || result == PERFILE_ERROR_WRITE))
            result = pf_fail(error, out.failed, PERFILE_NO_OFFSET, "table", "the sink failed");
    }
    pf_text_close(&out);
    return result == PERFILE_ERROR_MEMORY ? pf_fail_memory(error, "table") : result;
}

static int write_gzip(struct perfile_table *table, const char *format, const struct perfile_sink *sink,
                      struct perfile_error *error)
{
    struct pf_gzip *gzip;
    int result = pf_gzip_open(&gzip, table->allocator, sink, error);
    if (result < 0)
        return result;
    const struct perfile_sink within = {gzip, pf_gzip_write};
    result = write_to(table, format, &within, error);
    if (result >= 0 && pf_gzip_finish(gzip) != 0)
        result = pf_fail(error, PERFILE_ERROR_WRITE, PERFILE_NO_OFFSET, "table", "the sink failed");
    pf_gzip_close(gzip);
    return result;
}

int perfile_table_write(struct perfile_table *table, const char *format, const struct perfile_sink *sink,
                        struct perfile_error *error)
{
    if (!sink || !sink->write)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "table", "no sink given");
    const int result = pf_table_check_gzip(table->options.gzip, format, error);
    return result < 0 ? result : (table->options.gzip ? write_gzip : write_to)(table, format, sink, error);
}
