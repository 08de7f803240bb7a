/* SPDX-License-Identifier: MIT */
/* The line table of a unit, sorted by address, as libdw reads it. */
#include <dwarf.h>

#include "symbol/probe/probe_parts.h"

#include "base/sort.h"

bool pf_probe_rows_of(Dwarf_Die *unit, struct pf_probe_rows *rows)
{
    rows->unit = *unit;
    return dwarf_getsrclines(unit, &rows->lines, &rows->count) == 0;
}

bool pf_probe_read_row(const struct pf_probe_rows *rows, size_t index, struct pf_probe_row *row)
{
    Dwarf_Line *line = dwarf_onesrcline(rows->lines, index);
    bool is_end;
    if (!line || dwarf_lineaddr(line, &row->address) != 0 || dwarf_lineno(line, &row->line) != 0 ||
        dwarf_linebeginstatement(line, &row->is_statement) != 0 || dwarf_lineendsequence(line, &is_end) != 0 ||
        dwarf_lineprologueend(line, &row->ends_prologue) != 0)
        return false;
    row->is_statement = row->is_statement && !is_end;
    row->file = dwarf_linesrc(line, NULL, NULL);
    return row->file;
}

size_t pf_probe_find_row(const struct pf_probe_rows *rows, Dwarf_Addr address)
{
    struct pf_probe_row row;
    return PF_COUNT_BEFORE(rows->count, i, !pf_probe_read_row(rows, i, &row) || row.address < address);
}

bool pf_probe_line_at(struct pf_probe_target *target, const struct pf_probe_rows *rows, Dwarf_Addr address,
                      struct pf_probe_row *row)
{
    Dwarf_Die function, unit = rows->unit;
    Dwarf_Addr entry;
    if (pf_probe_function_at(target, &unit, address, &function) && pf_probe_entry(&function, &entry) &&
        entry == address && dwarf_decl_line(&function, &row->line) == 0 && (row->file = pf_probe_decl_file(&function)))
        return true;
    for (size_t i = pf_probe_find_row(rows, address);
         i < rows->count && pf_probe_read_row(rows, i, row) && row->address == address; i++)
        if (row->is_statement)
            return true;
    return false;
}
