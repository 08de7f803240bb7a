/* SPDX-License-Identifier: MIT */
/* For people: columns as wide as the first rows need, numbers to the right. */
#include "output/table/format.h"

enum { MAX_WIDTH = 60 }; /* longer values push what follows */

static bool is_left(const struct pf_vector *vector)
{
    return pf_column_is_text(&vector->column) || pf_column_is_list(&vector->column);
}

/* Characters, not bytes. */
static size_t width_of(const char *text, size_t bytes)
{
    size_t width = 0;
    for (size_t i = 0; i < bytes; i++)
        width += (text[i] & 0xc0) != 0x80;
    return width;
}

static void put_padded(struct pf_sheet *sheet, size_t column, const char *text, size_t bytes)
{
    const size_t width = width_of(text, bytes), wanted = sheet->widths[column];
    const unsigned pad = wanted > width ? (unsigned)(wanted - width) : 0;
    const bool left = is_left(&sheet->columns[column]), last = column + 1 == sheet->table->shown;
    pf_put_string(sheet->out, column ? "  " : "");
    if (!left)
        pf_put_format(sheet->out, "%*s", pad, "");
    pf_put(sheet->out, text, bytes);
    if (left && !last)
        pf_put_format(sheet->out, "%*s", pad, "");
}

static void put_value(struct pf_sheet *sheet, size_t column, size_t row)
{
    sheet->cell.used = 0;
    pf_table_put_plain(&sheet->cell, &sheet->columns[column], row, true);
}

/* A query names its columns itself. */
static void put_name(struct pf_sheet *sheet, size_t column)
{
    sheet->cell.used = 0;
    pf_put_name(&sheet->cell, sheet->columns[column].column.name);
}

static void measure(struct pf_sheet *sheet, size_t column)
{
    put_name(sheet, column);
    size_t width = width_of(sheet->cell.data, sheet->cell.used);
    for (size_t row = 0; row < sheet->row_count && row < 1000; row++) {
        put_value(sheet, column, row);
        width = pf_max(width, pf_min(width_of(sheet->cell.data, sheet->cell.used), MAX_WIDTH));
    }
    sheet->widths[column] = width;
}

static void begin(struct pf_sheet *sheet)
{
    for (size_t i = 0; i < sheet->table->shown; i++) {
        measure(sheet, i);
        put_name(sheet, i);
        put_padded(sheet, i, sheet->cell.data, sheet->cell.used);
    }
    pf_put_string(sheet->out, "\n");
}

static void put_row(struct pf_sheet *sheet, size_t row)
{
    for (size_t i = 0; i < sheet->table->shown; i++) {
        put_value(sheet, i, row);
        put_padded(sheet, i, sheet->cell.data, sheet->cell.used);
    }
    pf_put_string(sheet->out, "\n");
}

static void end(struct pf_sheet *sheet)
{
    (void)sheet;
}

const struct pf_table_format pf_table_format_text = {
    .name = "text", .escapes = true, .begin = begin, .row = put_row, .end = end};
