/* SPDX-License-Identifier: MIT */
/* RFC 4180: a header line, a line for each row. */
#include "output/report/csv.h"
#include "output/table/format.h"

static void begin(struct pf_sheet *sheet)
{
    for (size_t i = 0; i < sheet->table->shown; i++) {
        const char *name = sheet->table->columns[i].column.name;
        pf_put_string(sheet->out, i ? "," : "");
        pf_csv_put(sheet->out, ",", name, strlen(name));
    }
    pf_put_string(sheet->out, "\n");
}

static void put_row(struct pf_sheet *sheet, size_t row)
{
    for (size_t i = 0; i < sheet->table->shown; i++) {
        sheet->cell.used = 0;
        pf_table_put_plain(&sheet->cell, &sheet->table->columns[i], row, false);
        pf_put_string(sheet->out, i ? "," : "");
        pf_csv_put(sheet->out, ",", sheet->cell.data, sheet->cell.used);
    }
    pf_put_string(sheet->out, "\n");
}

static void end(struct pf_sheet *sheet)
{
    (void)sheet;
}

const struct pf_table_format pf_table_format_csv = {
    .name = "csv",
    .doc = "a header line and a line for each row; lists have ; between their items",
    .escapes = true,
    .begin = begin,
    .row = put_row,
    .end = end};
