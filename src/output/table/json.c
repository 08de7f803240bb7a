/* SPDX-License-Identifier: MIT */
/* One object with all rows, or an object for each row. Numbers are exact integers in base units. */
#include "output/notes.h"
#include "output/table/format.h"

static void put_item(struct pf_text *out, const struct pf_vector *vector, size_t at)
{
    size_t bytes;
    if (vector->column.type == PERFILE_COLUMN_F64) {
        pf_put_double(out, ((const double *)vector->values)[at]);
        return;
    }
    if (!pf_column_is_text(&vector->column)) {
        pf_table_put_item(out, vector, at);
        return;
    }
    const char *text = pf_dictionary_at(&vector->dictionary, ((const uint32_t *)vector->values)[at], &bytes);
    pf_put_json_string(out, text, bytes);
}

static void put_value(struct pf_text *out, const struct pf_vector *vector, size_t row)
{
    if (pf_vector_is_null(vector, row)) {
        pf_put_string(out, "null");
    } else if (pf_column_is_list(&vector->column)) {
        pf_put_char(out, '[');
        for (int32_t i = vector->offsets[row]; i < vector->offsets[row + 1]; i++) {
            pf_put_string(out, i > vector->offsets[row] ? "," : "");
            put_item(out, vector, (size_t)i);
        }
        pf_put_char(out, ']');
    } else {
        put_item(out, vector, row);
    }
}

/* ---- one object -------------------------------------------------------------------------------------------------- */

void pf_table_put_recording(struct pf_json *json, const char *name, struct perfile_table *table)
{
    static const char *const modes[] = {"file", "pipe", "directory"};
    enum { HOSTNAME = 3, OSRELEASE = 4, VERSION = 5, ARCH = 6 };
    static const struct {
        const char *name;
        uint32_t number;
    } facts[] = {{"host", HOSTNAME}, {"kernel", OSRELEASE}, {"recorded_with", VERSION}, {"arch", ARCH}};
    pf_json_begin(json, name, false);
    if (table->reader) {
        pf_json_string(json, "path", table->complete.symbols.recording);
        pf_json_string(json, "mode", modes[perfile_reader_file(table->reader)->mode]);
    }
    for (size_t i = 0; i < PF_COUNT(facts) && table->reader; i++) {
        const char *text;
        const int result = perfile_feature_text(table->reader, facts[i].number, NULL, &text, NULL);
        if (pf_memory_check(table->allocator, result) == 0)
            pf_json_string(json, facts[i].name, text);
    }
    pf_json_end(json, false);
}

static void begin_page(struct pf_sheet *sheet)
{
    struct pf_json json = {.text = sheet->out};
    pf_json_begin(&json, NULL, false);
    pf_json_unsigned(&json, "version", 1);
    pf_json_string(&json, "view", sheet->table->view->info.name);
    pf_table_put_recording(&json, "recording", sheet->table);
    pf_json_begin(&json, "columns", true);
    for (size_t i = 0; i < sheet->table->shown; i++) {
        const struct pf_column *column = &sheet->columns[i].column;
        pf_json_begin(&json, NULL, false);
        pf_json_string(&json, "name", column->name);
        pf_json_string(&json, "type", pf_column_type_name(column->type));
        pf_json_string(&json, "unit", column->unit);
        pf_json_string(&json, "doc", column->doc);
        pf_json_end(&json, false);
    }
    pf_json_end(&json, true);
    pf_json_begin(&json, "rows", true);
}

static void put_page_row(struct pf_sheet *sheet, size_t row)
{
    pf_put_string(sheet->out, sheet->rows ? ",\n[" : "\n[");
    for (size_t i = 0; i < sheet->table->shown; i++) {
        pf_put_string(sheet->out, i ? "," : "");
        put_value(sheet->out, &sheet->columns[i], row);
    }
    pf_put_char(sheet->out, ']');
}

static void put_loss_counts(struct pf_json *json, const struct perfile_table *table)
{
    struct perfile_losses losses = PERFILE_LOSSES_INIT;
    (void)!perfile_table_losses(table, &losses); /* the size is set */
    const struct perfile_counts *counts = perfile_reader_counts(table->reader);
    pf_json_unsigned(json, "filtered", losses.filtered);
    pf_json_unsigned(json, "lost", losses.lost);
    pf_json_unsigned(json, "unmapped", losses.unmapped);
    pf_json_unsigned(json, "unresolved", losses.unresolved);
    pf_json_unsigned(json, "truncated", losses.truncated);
    pf_json_unsigned(json, "guessed", losses.guessed);
    pf_json_unsigned(json, "damaged_records", counts->damaged);
    pf_json_unsigned(json, "damaged_bytes", counts->bytes_lost);
}

void pf_table_put_losses(struct pf_json *json, const char *name, const struct perfile_table *table)
{
    pf_json_begin(json, name, false);
    if (table->reader)
        put_loss_counts(json, table);
    pf_json_end(json, false);
}

static void put_note(void *context, const char *text)
{
    pf_json_string(context, NULL, text);
}

static void end_page(struct pf_sheet *sheet)
{
    struct pf_json json = {.text = sheet->out};
    char note[PF_NOTE_BYTES];
    pf_put_string(sheet->out, "\n");
    pf_json_end(&json, true);
    if (sheet->style->put_members)
        sheet->style->put_members(sheet->table, &json);
    pf_table_put_losses(&json, "losses", sheet->table);
    pf_json_begin(&json, "notes", true);
    if (sheet->table->reader && !sheet->table->view->reads_aux && pf_note_aux(sheet->table->reader, note))
        pf_json_string(&json, NULL, note);
    if (sheet->table->view->notes)
        sheet->table->view->notes(sheet->table->state, put_note, &json);
    if (sheet->style->put_notes)
        sheet->style->put_notes(sheet->table, &json);
    pf_json_end(&json, true);
    pf_json_end(&json, false);
    pf_put_string(sheet->out, "\n");
}

const struct pf_table_format pf_table_format_json = {
    .name = "json", .escapes = false, .begin = begin_page, .row = put_page_row, .end = end_page};

/* ---- an object for each row -------------------------------------------------------------------------------------- */

static void put_line(struct pf_sheet *sheet, size_t row)
{
    for (size_t i = 0; i < sheet->table->shown; i++) {
        const struct pf_vector *vector = &sheet->columns[i];
        pf_put_char(sheet->out, i ? ',' : '{');
        pf_put_json_string(sheet->out, vector->column.name, strlen(vector->column.name));
        pf_put_char(sheet->out, ':');
        put_value(sheet->out, vector, row);
    }
    pf_put_string(sheet->out, "}\n");
}

static void nothing(struct pf_sheet *sheet)
{
    (void)sheet;
}

const struct pf_table_format pf_table_format_jsonl = {
    .name = "jsonl", .escapes = false, .begin = nothing, .row = put_line, .end = nothing};
