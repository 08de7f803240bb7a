/* SPDX-License-Identifier: MIT */
/*
 * Metrics without the counts that they come from: a row for each group, with a column for each metric. As in perf,
 * those that the user names come alone.
 */
#include <math.h>
#include <string.h>

#include "output/stat/sheet.h"

/* The columns are those of the first row; values of others have none. False: out of memory. */
static bool set_cell(struct pf_stat_sheet *sheet, const char *name, size_t bytes, double value)
{
    for (size_t i = 0; i < sheet->cell_count; i++) {
        struct pf_stat_column *cell = &sheet->cells[i];
        if (cell->bytes != bytes || memcmp(cell->name, name, bytes) != 0)
            continue;
        cell->value = isnan(cell->value) ? value : cell->value;
        return true;
    }
    if (sheet->cells_named)
        return true;
    return PF_APPEND(sheet->allocator, sheet->cells, sheet->cell_count, sheet->cell_capacity,
                     (struct pf_stat_column){name, bytes, value});
}

static bool set_cells(struct pf_stat_sheet *sheet, uint32_t group)
{
    bool is_fine = true;
    for (size_t i = 0; i < sheet->cell_count; i++)
        sheet->cells[i].value = NAN;
    for (size_t i = 0; i < sheet->line_count && !sheet->wanted_count && is_fine; i++) {
        const struct pf_stat_metric metric = pf_stat_metric_of(sheet, &sheet->lines[i]);
        if (sheet->lines[i].group == group && metric.unit)
            is_fine = set_cell(sheet, metric.unit, strlen(metric.unit), metric.value);
    }
    for (size_t i = 0; i < sheet->wanted_count && is_fine; i++)
        is_fine =
            set_cell(sheet, sheet->wanted[i].name, sheet->wanted[i].name_bytes, pf_stat_wanted_of(sheet, i, group));
    return is_fine;
}

void pf_stat_cells_put(struct pf_stat_sheet *sheet, const struct pf_stat_style *style)
{
    for (size_t i = 0; i < sheet->line_count; i++) {
        const struct pf_stat_line *line = &sheet->lines[i];
        if (line->hidden || sheet->groups[line->group].shown)
            continue;
        sheet->groups[line->group].shown = true;
        if (!set_cells(sheet, line->group)) {
            pf_memory_note_short(sheet->allocator);
            return;
        }
        if (!sheet->cells_named && style->names)
            style->names(sheet);
        sheet->cells_named = true;
        style->row(sheet, line);
    }
}
