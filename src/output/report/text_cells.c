/* SPDX-License-Identifier: MIT */
/* Cells of the text of a report, and how wide its columns are. */
#include <stdlib.h>

#include "output/report/text.h"
#include "base/columns.h"

enum { WIDEST = 4096 }; /* column width that an option may require */

static void put_spaces(struct pf_text *text, size_t count)
{
    memset(pf_text_reserve(text, count), ' ', count);
    text->used += count;
}

void pf_report_text_dots(struct pf_text *text, size_t count)
{
    for (; count; count--)
        pf_put_char(text, '.');
}

/* Wide cells are rare, but a name may have any length. */
void pf_report_text_pad(struct pf_text *text, size_t count)
{
    for (; count > 4096; count -= 4096)
        put_spaces(text, 4096);
    put_spaces(text, count);
}

const struct pf_text *pf_report_text_cell(struct pf_report_text *table, const struct pf_report_column *column,
                                          const struct pf_report_row *row)
{
    table->cell.used = 0;
    column->text(table->report, row, &table->cell);
    pf_text_escape(&table->cell, 0);
    return &table->cell;
}

/* Shortens "0x00000000000011a0" to "0x11a0" in narrow columns. */
static void drop_zeros(struct pf_text *cell, size_t mark)
{
    char *digits = cell->data + mark + 2;
    if (cell->used < mark + 3 || digits[-2] != '0' || digits[-1] != 'x')
        return;
    const size_t zeros = pf_min(strspn(digits, "0"), strlen(digits) - 1);
    memmove(digits, digits + zeros, cell->used - mark - 2 - zeros);
    cell->used -= zeros;
}

static void shorten_kernel(struct pf_text *cell, size_t columns)
{
    static const char name[] = "[kernel.kallsyms]";
    if (cell->used == sizeof(name) - 1 && columns < cell->used && memcmp(cell->data, name, cell->used) == 0) {
        cell->used = 0;
        pf_put_string(cell, "[kernel]");
    }
}

/* What stands in the cell, in that many columns. "[k] " and the like before a name stay. */
const struct pf_text *pf_report_text_fit(struct pf_report_text *table, size_t columns)
{
    struct pf_text *from = &table->cell, *to = &table->fitted;
    const size_t mark = from->used > 4 && from->data[0] == '[' && from->data[3] == ' ' ? 4 : 0;
    to->used = 0;
    shorten_kernel(from, columns);
    pf_put_char(from, '\0');
    if (!from->failed)
        drop_zeros(from, mark);
    if (!from->failed && table->screen == PF_REPORT_ANY_WIDTH)
        from->used--;                   /* the NUL */
    pf_put(to, from->data, from->used); /* the fitted text is not longer */
    if (!from->failed && !to->failed && table->screen != PF_REPORT_ANY_WIDTH)
        to->used =
            mark + perfile_name_fit(from->data + mark, columns == SIZE_MAX ? columns : columns - pf_min(columns, mark),
                                    to->data + mark, to->capacity - mark);
    return to;
}

const struct pf_text *pf_report_text_fitted_cell(struct pf_report_text *table, size_t i,
                                                 const struct pf_report_row *row, size_t columns)
{
    const struct pf_text *cell = pf_report_text_cell(table, table->columns[i], row);
    return table->screen && !pf_report_text_is_weight(table, i) ? pf_report_text_fit(table, columns) : cell;
}

static const char *header_of(const struct pf_report_text *table, const struct pf_report_column *column)
{
    if (table->report->settings.children && column == &pf_report_columns[PF_COLUMN_overhead])
        return "Self";
    return pf_report_header(table->report, column);
}

/* How many numbers stand in a cell. */
static size_t events_in(const struct pf_report_text *table, const struct pf_report_column *column)
{
    return column->of == PF_COLUMN_OF_VALUE ? pf_report_shown(table->event) : 1;
}

void pf_report_text_prefetch(const struct pf_report_text *table, const struct pf_report_row *row)
{
    enum { AHEAD = 12 };
    const size_t left = table->event->row_count - (size_t)(row - table->event->rows);
    if (left > AHEAD)
        __builtin_prefetch(pf_report_frame(table->report, row + AHEAD));
}

static size_t width_of(const struct pf_report_text *table, const struct pf_text *text)
{
    return table->screen ? pf_columns(text->data, text->used) : text->used;
}

/* Returns how important a column is when not all fit: functions are more important than files and threads. */
static size_t importance(const struct pf_report_text *table, size_t i)
{
    const struct pf_report_column *column = table->columns[i];
    const bool is_name = column == &pf_report_columns[PF_COLUMN_symbol] || column->position == PF_VALUE_trace ||
                         column->position == PF_VALUE_symbol_from || column->position == PF_VALUE_symbol_to;
    return pf_report_text_is_weight(table, i)                              ? 0
           : is_name && (column->kept || column->of == PF_COLUMN_OF_FRAME) ? 3
                                                                           : 1;
}

enum { MIN_TEXT = 12, GAP = 2 };

static bool is_settled(const struct pf_report_text *table, size_t i)
{
    return table->fixed[i] || pf_report_text_is_weight(table, i);
}

/* Of a line whose texts are as short as they may be. */
static size_t min_width(const struct pf_report_text *table)
{
    size_t width = 0;
    for (size_t i = 0; i < table->column_count; i++)
        width += GAP + (is_settled(table, i) ? table->widths[i] : pf_min_size(table->widths[i], MIN_TEXT));
    return width;
}

static void leave_out(struct pf_report_text *table, size_t at)
{
    table->omitted[table->omitted_count++] = table->columns[at];
    table->column_count--;
    for (size_t i = at; i < table->column_count; i++) {
        table->columns[i] = table->columns[i + 1];
        table->widths[i] = table->widths[i + 1];
        table->fixed[i] = table->fixed[i + 1];
    }
}

/* From the last one: first texts other than functions, then numbers, but not what rows are sorted by. */
static void leave_out_columns(struct pf_report_text *table)
{
    for (size_t level = 2; level-- > 0;)
        for (size_t i = table->column_count; i-- > 1 && min_width(table) > table->screen;)
            if (importance(table, i) == level)
                leave_out(table, i);
}

/* Columns of texts that are narrower than their share have what they need, and leave the rest to the others. */
static void share_screen(struct pf_report_text *table)
{
    bool settled[PF_REPORT_COLUMNS] = {false};
    size_t shares = 0, left = table->screen - pf_min(table->screen, GAP * table->column_count);
    for (size_t i = 0; i < table->column_count; i++) {
        settled[i] = is_settled(table, i);
        shares += settled[i] ? 0 : importance(table, i);
        left -= settled[i] ? pf_min(left, table->widths[i]) : 0;
    }
    for (bool more = true; more && shares;) {
        more = false;
        for (size_t i = 0; i < table->column_count && !more; i++) {
            more = !settled[i] && table->widths[i] <= left * importance(table, i) / shares;
            settled[i] |= more;
            left -= more ? table->widths[i] : 0;
            shares -= more ? importance(table, i) : 0;
        }
    }
    for (size_t i = 0; i < table->column_count; i++)
        if (!settled[i])
            table->widths[i] = pf_max(left * importance(table, i) / shares, MIN_TEXT);
}

/* As wide as what stands in them, also in rows that are not shown. */
void pf_report_text_fit_columns(struct pf_report_text *table)
{
    size_t asked[PF_REPORT_COLUMNS], count = 0; /* columns whose cells have to be looked at */
    for (size_t i = 0; i < table->column_count; i++) {
        const struct pf_report_column *column = table->columns[i];
        table->widths[i] = table->fixed[i] * events_in(table, column);
        if (table->widths[i])
            continue;
        table->widths[i] = strlen(header_of(table, column));
        pf_report_text_widen(&table->widths[i], (size_t)column->width * events_in(table, column));
        if (column->of != PF_COLUMN_OF_VALUE && (!column->only_header || table->screen))
            asked[count++] = i;
    }
    for (size_t r = 0; r < table->event->row_count && count; r++) {
        const struct pf_report_row *row = &table->event->rows[r];
        pf_report_text_prefetch(table, row);
        if (table->screen && !pf_report_shows(table->report, row))
            continue;
        for (size_t i = 0; i < count; i++) {
            const struct pf_report_column *column = table->columns[asked[i]];
            pf_report_text_widen(&table->widths[asked[i]],
                                 width_of(table, pf_report_text_fitted_cell(table, asked[i], row, SIZE_MAX)));
            if (column->min && !table->screen)
                pf_report_text_widen(&table->widths[asked[i]], column->min(table->report, row));
        }
    }
    if (!table->screen || table->screen == PF_REPORT_ANY_WIDTH)
        return;
    if (!table->report->settings.hierarchy)
        leave_out_columns(table);
    share_screen(table);
}

void pf_report_text_put_omitted(struct pf_report_text *table)
{
    const size_t more = strlen(", 99 more");
    size_t width = 0;
    for (size_t i = 0; i < table->omitted_count; i++) {
        const char *header = header_of(table, table->omitted[table->omitted_count - 1 - i]);
        const size_t rest = table->omitted_count - 1 - i;
        const char *before = i ? ", " : "# not shown: ";
        width += strlen(before) + strlen(header);
        if (width + (rest ? more : 0) > table->screen && i) {
            pf_put_format(table->out, ", %zu more", rest + 1);
            break;
        }
        pf_put_format(table->out, "%s%s", before, header);
    }
    pf_put_string(table->out, table->omitted_count ? "\n" : "");
}

/* The text in the width of the column; to the left, nothing follows the last one. */
void pf_report_text_put_padded(struct pf_report_text *table, size_t i, const char *text, size_t bytes, bool right,
                               bool last)
{
    if ((table->fixed[i] || table->screen) && !pf_report_text_is_weight(table, i) && bytes > table->widths[i])
        bytes = table->screen ? pf_head_bytes(text, bytes, table->widths[i]) : table->widths[i];
    const size_t wide = table->screen ? pf_columns(text, bytes) : bytes;
    const size_t blanks = table->widths[i] > wide ? table->widths[i] - wide : 0;
    if (right)
        pf_report_text_pad(table->out, blanks);
    pf_put(table->out, text, bytes);
    if (!right && !last)
        pf_report_text_pad(table->out, blanks);
}

/* Columns below one title stand close together. */
bool pf_report_text_is_joined(const struct pf_report_text *table, size_t i)
{
    const char *title = i < table->column_count ? pf_report_title(table->columns[i]) : NULL;
    return i && title && title == pf_report_title(table->columns[i - 1]);
}

void pf_report_text_put_gap(struct pf_report_text *table, size_t i)
{
    if (i && !pf_report_text_is_joined(table, i))
        pf_put_string(table->out, "  ");
}

void pf_report_text_put_cell(struct pf_report_text *table, size_t i, const struct pf_text *cell, bool last)
{
    pf_report_text_put_gap(table, i);
    pf_report_text_put_padded(table, i, cell->data, cell->used, table->columns[i]->right, last);
}

void pf_report_text_parse_widths(struct pf_report_text *table)
{
    const char *list = table->report->options->report->widths;
    char *end;
    for (size_t i = 0; list && i < PF_REPORT_COLUMNS; i++) {
        const unsigned long width = strtoul(list, &end, 10);
        table->fixed[i] = width <= WIDEST ? width : WIDEST;
        if (*end != ',')
            break;
        list = end + 1;
    }
}

static void move_last(struct pf_report_text *table, const struct pf_report_column *column)
{
    for (size_t i = 0; i + 1 < table->column_count; i++)
        if (table->columns[i] == column) {
            table->columns[i] = table->columns[i + 1];
            table->columns[i + 1] = column;
        }
}

void pf_report_text_choose_columns(struct pf_report_text *table)
{
    const struct pf_report *report = table->report;
    table->column_count = table->omitted_count = 0;
    for (size_t i = 0; i < report->layout.column_count; i++)
        if (pf_report_column_applies(report, report->layout.columns[i], table->event->event))
            table->columns[table->column_count++] = report->layout.columns[i];
    if (table->screen == PF_REPORT_ANY_WIDTH)
        move_last(table, &pf_report_columns[PF_COLUMN_symbol]);
}

void pf_report_text_put_column_header(struct pf_report_text *table, size_t i)
{
    const char *header = header_of(table, table->columns[i]);
    pf_report_text_put_padded(table, i, header, strlen(header), table->columns[i]->right,
                              table->screen && i + 1 == table->column_count);
}

/* "--- Cache ---" above columns that belong together; above a single one, flush right, without dashes. */
static void put_title(struct pf_report_text *table, const char *title, size_t width, bool single)
{
    const size_t used = strlen(title) + (single ? 0 : 2), rest = width > used ? width - used : 0;
    if (single)
        pf_report_text_pad(table->out, rest);
    for (size_t i = 0; i < rest / 2 && !single; i++)
        pf_put_char(table->out, '-');
    pf_put_format(table->out, single ? "%s" : " %s ", title);
    for (size_t i = rest / 2; i < rest && !single; i++)
        pf_put_char(table->out, '-');
}

static bool has_titles(const struct pf_report_text *table)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (pf_report_title(table->columns[i]))
            return true;
    return false;
}

void pf_report_text_put_titles(struct pf_report_text *table, size_t indent)
{
    if (!has_titles(table))
        return;
    pf_report_text_pad(table->out, indent);
    for (size_t i = 0, next; i < table->column_count; i = next) {
        size_t width = table->widths[i];
        for (next = i + 1; pf_report_text_is_joined(table, next); next++)
            width += table->widths[next];
        pf_report_text_put_gap(table, i);
        if (pf_report_title(table->columns[i]))
            put_title(table, pf_report_title(table->columns[i]), width, next == i + 1);
        else
            pf_report_text_pad(table->out, width);
    }
    pf_put_string(table->out, "\n# ");
}

void pf_report_text_put_header(struct pf_report_text *table)
{
    pf_put_string(table->out, "# ");
    pf_report_text_put_titles(table, 0);
    for (size_t i = 0; i < table->column_count; i++) {
        pf_report_text_put_gap(table, i);
        pf_report_text_put_column_header(table, i);
    }
    pf_put_string(table->out, table->screen ? "\n" : "\n# ");
    for (size_t i = 0; i < table->column_count && !table->screen; i++) {
        pf_report_text_put_gap(table, i);
        pf_report_text_dots(table->out, table->widths[i]);
    }
    pf_put_string(table->out, table->screen ? "" : "\n#\n");
}
