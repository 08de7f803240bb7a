/* SPDX-License-Identifier: MIT */
/* The report as a table for programs: RFC 4180, a header line, one line for each row, the event in the first column. */
#include "output/report/csv.h"

#include "analysis/report/report.h"
#include "base/error.h"
#include "output/output.h"
#include "output/report/tasks.h"

struct sheet {
    const struct pf_report *report;
    struct pf_text *out;
    struct pf_text cell;
    const char *separator;
};

void pf_csv_put(struct pf_text *out, const char *separator, const char *text, size_t bytes)
{
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

/* Percentages and numbers bare, without what is there for people. */
static void put_cell(struct sheet *sheet, const struct pf_report_column *column, const struct pf_report_row *row)
{
    if (pf_report_column_is_number(column)) { /* "003" is for people */
        pf_put_string(sheet->out, sheet->separator);
        pf_put_signed(sheet->out, (int64_t)column->value(sheet->report, row));
        return;
    }
    sheet->cell.used = 0;
    column->text(sheet->report, row, &sheet->cell);
    pf_text_escape(&sheet->cell, 0);
    const char *text = sheet->cell.data;
    size_t bytes = sheet->cell.used;
    if (column->of != PF_COLUMN_OF_FRAME)
        for (; bytes > 1 && *text == ' '; bytes--)
            text++;
    if (column->of == PF_COLUMN_OF_VALUE && bytes && text[bytes - 1] == '%')
        bytes--;
    pf_put_string(sheet->out, sheet->separator);
    pf_csv_put(sheet->out, sheet->separator, text, bytes);
}

static void put_row(struct sheet *sheet, const struct pf_report_event *event, const struct pf_report_row *row)
{
    pf_csv_put(sheet->out, sheet->separator, event->event->name, strlen(event->event->name));
    for (size_t i = 0; i < sheet->report->column_count; i++)
        put_cell(sheet, sheet->report->columns[i], row);
    pf_put_string(sheet->out, "\n");
}

/* The columns of deeper levels are empty. */
static bool has_cell(const struct pf_report_line *line, const struct pf_report_column *column)
{
    return line->leaf || column->of == PF_COLUMN_OF_VALUE || pf_report_level_of(&line->levels, column) <= line->level;
}

static void put_hierarchy(struct sheet *sheet, const struct pf_report_event *event)
{
    const struct pf_report *report = sheet->report;
    struct pf_report_line line;
    pf_report_open_lines(report, event, &line);
    while (pf_report_next_line(report, event, &line)) {
        pf_csv_put(sheet->out, sheet->separator, event->event->name, strlen(event->event->name));
        pf_put_string(sheet->out, sheet->separator);
        pf_put_unsigned(sheet->out, line.level + 1);
        for (size_t i = 0; i < report->column_count; i++) {
            if (has_cell(&line, report->columns[i]))
                put_cell(sheet, report->columns[i], line.row);
            else
                pf_put_string(sheet->out, sheet->separator);
        }
        pf_put_string(sheet->out, "\n");
    }
}

static void put_rows(struct sheet *sheet, const struct pf_report_event *event)
{
    for (size_t i = 0; i < event->row_count; i++)
        if (pf_report_shows(sheet->report, &event->rows[i]))
            put_row(sheet, event, &event->rows[i]);
}

static void put_sheet(struct sheet *sheet)
{
    const struct pf_report *report = sheet->report;
    pf_put_string(sheet->out, "event");
    if (report->hierarchy) {
        pf_put_string(sheet->out, sheet->separator);
        pf_put_string(sheet->out, "level");
    }
    for (size_t i = 0; i < report->column_count; i++) {
        pf_put_string(sheet->out, sheet->separator);
        pf_put_string(sheet->out, report->columns[i]->name);
    }
    pf_put_string(sheet->out, "\n");
    for (size_t i = 0; i < report->event_count; i++)
        if (report->events[i].row_count)
            (report->hierarchy ? put_hierarchy : put_rows)(sheet, &report->events[i]);
}

static int write_report(struct perfile_reader *reader, const struct perfile_output_options *options,
                        struct pf_text *out, struct perfile_error *error)
{
    struct pf_report report;
    const char *separator = options->report->separator;
    struct sheet sheet = {.report = &report, .out = out, .separator = separator && *separator ? separator : ","};
    if (options->report->flags & PERFILE_REPORT_TASKS)
        return pf_tasks_write(reader, options, PF_TASKS_CSV, out, error);
    int result = pf_report_open(&report, reader, options, false, error);
    if (result == 0 || report.row_count) {
        if (pf_text_open(&sheet.cell, report.allocator, NULL, NULL) == 0)
            put_sheet(&sheet);
        else
            result = pf_fail_memory(error, "report");
        pf_text_close(&sheet.cell);
    }
    pf_report_close(&report);
    return result;
}

const struct pf_output pf_output_report_csv = {
    .info = {"report", "csv", "a line for each row, with a header line; -t chooses the separator"},
    .write = write_report,
    .tells = true,
};
