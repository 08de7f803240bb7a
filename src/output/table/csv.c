/* SPDX-License-Identifier: MIT */
/* RFC 4180: a header line, a line for each row. */
#include "output/table/format.h"

static const char *separator_of(const struct pf_sheet *sheet)
{
    const char *separator = sheet->style->separator;
    return separator && *separator ? separator : ",";
}

static void put_field(const struct pf_sheet *sheet, const char *text, size_t bytes)
{
    struct pf_text *out = sheet->out;
    const char *separator = separator_of(sheet);
    if (!memchr(text, '"', bytes) && !memmem(text, bytes, separator, strlen(separator))) {
        pf_put_name_bytes(out, text, bytes);
        return;
    }
    pf_put_char(out, '"');
    for (const char *end = text + bytes, *quote; (quote = memchr(text, '"', (size_t)(end - text))); text = quote + 1) {
        pf_put_name_bytes(out, text, (size_t)(quote - text));
        pf_put_string(out, "\"\"");
        bytes = (size_t)(end - quote) - 1;
    }
    pf_put_name_bytes(out, text, bytes);
    pf_put_char(out, '"');
}

static void begin(struct pf_sheet *sheet)
{
    for (size_t i = 0; i < sheet->table->shown; i++) {
        const char *name = sheet->columns[i].column.name;
        pf_put_string(sheet->out, i ? separator_of(sheet) : "");
        put_field(sheet, name, strlen(name));
    }
    pf_put_string(sheet->out, "\n");
}

static void put_row(struct pf_sheet *sheet, size_t row)
{
    for (size_t i = 0; i < sheet->table->shown; i++) {
        sheet->cell.used = 0;
        pf_table_put_value(&sheet->cell, &sheet->columns[i], row, pf_table_put_item);
        pf_put_string(sheet->out, i ? separator_of(sheet) : "");
        put_field(sheet, sheet->cell.data, sheet->cell.used);
    }
    pf_put_string(sheet->out, "\n");
}

static void end(struct pf_sheet *sheet)
{
    (void)sheet;
}

const struct pf_table_format pf_table_format_csv = {
    .name = "csv", .escapes = true, .begin = begin, .row = put_row, .end = end};
