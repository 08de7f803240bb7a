/* SPDX-License-Identifier: MIT */
/*
 * For people: times and sizes with one unit and fixed decimals in each column, columns as wide as the first rows need,
 * numbers to the right. On a terminal a row takes its width: long names are shortened, a stack comes below its row, and
 * the last columns are left out and named at the end.
 */
#include <inttypes.h>

#include "base/columns.h"
#include "output/table/format.h"

enum {
    MAX_WIDTH = 60,  /* longer values push what follows */
    MIN_NAME = 12,   /* names are not shortened below this width */
    GAP = 2,         /* between columns */
    INDENT = 4,      /* of a stack below its row */
    MEASURED = 1000, /* rows that decide on the widths */
    MIN_SCREEN = 20, /* narrower terminals wrap */
    FITTED = 4096    /* bytes of names that are shortened well; longer ones are cut */
};

/* ---- units ------------------------------------------------------------------------------------------------------- */

struct unit {
    const char *name;
    uint64_t size;
    uint64_t from; /* columns whose largest value is at least this have the unit */
};

static const struct unit durations[] = {
    {"ns", 1, 0}, {"us", 1000, 1000}, {"ms", 1000000, 1000000}, {"s", 1000000000, 100000000000}};
static const struct unit sizes[] = {
    {"B", 1, 0}, {"kB", 1000, 10000}, {"MB", 1000000, 1000000}, {"GB", 1000000000, 10000000000}};

static const struct unit *choose(const struct unit *units, size_t count, uint64_t largest)
{
    while (count > 1 && largest < units[count - 1].from)
        count--;
    return &units[count - 1];
}

static uint64_t largest_of(const struct pf_sheet *sheet, const struct pf_vector *vector)
{
    uint64_t largest = 0;
    for (size_t row = 0; row < sheet->row_count; row++)
        if (!pf_vector_is_null(vector, row))
            largest = pf_max(largest, ((const uint64_t *)vector->values)[row]);
    return largest;
}

/* NULL: the values of the column have no unit. */
static const struct unit *unit_of(const struct pf_sheet *sheet, const struct pf_vector *vector)
{
    if (vector->column.type == PERFILE_COLUMN_DURATION)
        return choose(durations, PF_COUNT(durations), largest_of(sheet, vector));
    if (vector->column.type == PERFILE_COLUMN_BYTES)
        return choose(sizes, PF_COUNT(sizes), largest_of(sheet, vector));
    return NULL;
}

/* Three decimals, rounded; numbers of the smallest unit have none. */
static void put_in_unit(struct pf_text *out, uint64_t value, const struct unit *unit)
{
    const uint64_t step = unit->size / 1000;
    if (!step) {
        pf_put_format(out, "%" PRIu64 " %s", value, unit->name);
        return;
    }
    const uint64_t thousandths = value / step + (value % step >= (step + 1) / 2);
    pf_put_format(out, "%" PRIu64 ".%03u %s", thousandths / 1000, (unsigned)(thousandths % 1000), unit->name);
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

struct text_column {
    const struct unit *unit; /* NULL: none */
    size_t width;
    bool below;    /* a line of its own, after that of the row */
    bool omitted;  /* the terminal is not wide enough */
    bool complete; /* addresses, which are not shortened */
};

struct text_state {
    size_t screen; /* the width of the terminal; 0: any */
    size_t last;   /* the column that ends a line */
    size_t spare;  /* what the columns leave of the terminal: the last one may have it */
    struct text_column columns[];
};

static bool is_left(const struct pf_vector *vector)
{
    return pf_column_is_text(&vector->column) || pf_column_is_list(&vector->column);
}

static void put_item(struct pf_text *out, const struct pf_vector *vector, size_t at)
{
    const uint64_t *wide = vector->values;
    switch (vector->column.type) {
    case PERFILE_COLUMN_ADDRESS:
    case PERFILE_COLUMN_ADDRESSES:
        pf_put_hex(out, wide[at]);
        break;
    case PERFILE_COLUMN_TIME:
        pf_put_format(out, "%" PRIu64 ".%06u", wide[at] / 1000000000, (unsigned)(wide[at] % 1000000000 / 1000));
        break;
    case PERFILE_COLUMN_F64:
        if (strcmp(vector->column.unit, "percent") == 0) {
            pf_put_hundredths(out, ((const double *)vector->values)[at], 0);
            pf_put_char(out, '%');
            break;
        }
        /* fall through */
    default:
        pf_table_put_item(out, vector, at);
    }
}

/* Sets sheet->cell; null is empty. */
static void make_cell(struct pf_sheet *sheet, size_t column, size_t row)
{
    const struct text_state *state = sheet->state;
    const struct pf_vector *vector = &sheet->columns[column];
    sheet->cell.used = 0;
    if (state->columns[column].unit && !pf_vector_is_null(vector, row))
        put_in_unit(&sheet->cell, ((const uint64_t *)vector->values)[row], state->columns[column].unit);
    else
        pf_table_put_value(&sheet->cell, vector, row, put_item);
}

/* Without the "_ns" of the name, as the values have a unit of their own. A query names its columns itself. */
static void make_heading(struct pf_sheet *sheet, size_t column, size_t row)
{
    static const char end[] = "_ns";
    const struct text_state *state = sheet->state;
    const size_t bytes = strlen(end);
    (void)row;
    sheet->cell.used = 0;
    pf_put_name(&sheet->cell, sheet->columns[column].column.name);
    if (state->columns[column].unit && sheet->cell.used > bytes &&
        memcmp(sheet->cell.data + sheet->cell.used - bytes, end, bytes) == 0)
        sheet->cell.used -= bytes;
}

/* ---- what fits the terminal -------------------------------------------------------------------------------------- */

static size_t cell_width(const struct pf_sheet *sheet)
{
    return pf_columns(sheet->cell.data, sheet->cell.used);
}

static void measure(struct pf_sheet *sheet, size_t column)
{
    struct text_state *state = sheet->state;
    const size_t most = state->screen && pf_column_is_list(&sheet->columns[column].column) ? SIZE_MAX : MAX_WIDTH;
    state->columns[column].unit = unit_of(sheet, &sheet->columns[column]);
    make_heading(sheet, column, 0);
    size_t width = cell_width(sheet);
    for (size_t row = 0; row < sheet->row_count && row < MEASURED; row++) {
        make_cell(sheet, column, row);
        if (sheet->cell.used > 2 && !memcmp(sheet->cell.data, "0x", 2))
            state->columns[column].complete = true;
        width = pf_max_size(width, pf_min_size(cell_width(sheet), most));
    }
    state->columns[column].width = width;
}

static bool is_in_line(const struct text_column *column)
{
    return !column->below && !column->omitted;
}

static bool is_shortened(const struct pf_sheet *sheet, size_t column)
{
    const struct text_state *state = sheet->state;
    return is_left(&sheet->columns[column]) && !state->columns[column].complete;
}

/* `max_name`: names count with at most so many columns. */
static size_t line_width(const struct pf_sheet *sheet, size_t max_name)
{
    const struct text_state *state = sheet->state;
    size_t width = 0;
    for (size_t i = 0; i < sheet->table->shown; i++) {
        const struct text_column *column = &state->columns[i];
        if (is_in_line(column))
            width +=
                (width ? GAP : 0) + (is_shortened(sheet, i) ? pf_min_size(column->width, max_name) : column->width);
    }
    return width;
}

/* Short lists, such as those of nodes, stay in the row. */
static void move_stacks_below(struct pf_sheet *sheet)
{
    struct text_state *state = sheet->state;
    for (size_t i = 1; i < sheet->table->shown; i++)
        state->columns[i].below = pf_column_is_list(&sheet->columns[i].column) && state->columns[i].width > MIN_NAME;
}

static bool has_values(const struct pf_sheet *sheet, size_t column)
{
    return sheet->columns[column].nulls < sheet->row_count;
}

/* A name of a list that is separated by commas. */
static bool is_listed(const char *list, const char *name)
{
    const size_t bytes = strlen(name);
    while (list) {
        if (!strncmp(list, name, bytes) && (!list[bytes] || list[bytes] == ','))
            return true;
        list = strchr(list, ',');
        list += list != NULL;
    }
    return false;
}

/* The columns that most rows are looked at for: those that the view names, or the first time or size. */
static bool is_answer(const struct pf_sheet *sheet, size_t column)
{
    const struct text_state *state = sheet->state;
    if (sheet->table->view->answers)
        return is_listed(sheet->table->view->answers, sheet->columns[column].column.name);
    for (size_t i = 0; i < column; i++)
        if (state->columns[i].unit)
            return false;
    return state->columns[column].unit;
}

static bool is_too_long(const struct pf_sheet *sheet)
{
    const struct text_state *state = sheet->state;
    return line_width(sheet, MIN_NAME) > state->screen;
}

/* From the last column to the second, as long as lines are too long even with short names. */
static void omit_columns(struct pf_sheet *sheet, bool (*stays)(const struct pf_sheet *sheet, size_t column))
{
    struct text_state *state = sheet->state;
    for (size_t i = sheet->table->shown; i-- > 1 && is_too_long(sheet);)
        if (is_in_line(&state->columns[i]) && !stays(sheet, i))
            state->columns[i].omitted = true;
}

static void shorten_names(struct pf_sheet *sheet)
{
    struct text_state *state = sheet->state;
    size_t longest = MAX_WIDTH;
    while (longest > MIN_NAME && line_width(sheet, longest) > state->screen)
        longest--;
    for (size_t i = 0; i < sheet->table->shown; i++)
        if (is_shortened(sheet, i))
            state->columns[i].width = pf_min_size(state->columns[i].width, longest);
}

static void find_last(struct pf_sheet *sheet)
{
    struct text_state *state = sheet->state;
    const size_t line = line_width(sheet, SIZE_MAX);
    state->spare = state->screen > line ? state->screen - line : 0;
    for (size_t i = 0; i < sheet->table->shown; i++)
        if (is_in_line(&state->columns[i]))
            state->last = i;
}

static void fit(struct pf_sheet *sheet)
{
    struct text_state *state = sheet->state;
    if (line_width(sheet, SIZE_MAX) > state->screen)
        move_stacks_below(sheet);
    omit_columns(sheet, has_values);
    omit_columns(sheet, is_answer);
    shorten_names(sheet);
}

static const char dots[] = "..."; /* for what is left out */

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* Returns how many bytes are dropped of a path: what is left begins with a "/" and fits, or is the file's name. */
static size_t path_excess(const struct pf_text *path, size_t columns)
{
    size_t name = 0;
    for (size_t i = 0; i < path->used; i++)
        if (path->data[i] == '/') {
            if (i && pf_columns(path->data + i, path->used - i) + strlen(dots) <= columns)
                return i;
            name = i + 1;
        }
    return name;
}

/* Names are shortened on a terminal, numbers never. */
static void shorten_cell(struct pf_sheet *sheet, size_t columns)
{
    char fitted[FITTED];
    if (cell_width(sheet) <= columns)
        return;
    pf_put_char(&sheet->cell, '\0');
    const size_t excess = sheet->cell.data[0] == '/' ? path_excess(&sheet->cell, columns) : 0;
    const size_t bytes = perfile_name_fit(sheet->cell.data + excess, columns, fitted, sizeof(fitted));
    sheet->cell.used = 0;
    pf_put_string(&sheet->cell, excess && *fitted == '/' ? dots : "");
    pf_put(&sheet->cell, fitted, bytes);
}

static void put_cell(struct pf_sheet *sheet, size_t column)
{
    const struct text_state *state = sheet->state;
    const bool left = is_left(&sheet->columns[column]);
    if (state->screen && left)
        shorten_cell(sheet, state->columns[column].width + (column == state->last ? state->spare : 0));
    const size_t width = cell_width(sheet), least = state->columns[column].width;
    const unsigned pad = least > width ? (unsigned)(least - width) : 0;
    pf_put_format(sheet->out, "%*s", column ? GAP : 0, "");
    if (!left)
        pf_put_format(sheet->out, "%*s", pad, "");
    pf_put(sheet->out, sheet->cell.data, sheet->cell.used);
    if (left && column != state->last)
        pf_put_format(sheet->out, "%*s", pad, "");
}

/* Makes the cell of one item, which takes at most half of a line. Returns its width with the ";" before it. */
static size_t make_item(struct pf_sheet *sheet, const struct pf_vector *vector, int32_t at)
{
    const struct text_state *state = sheet->state;
    static const char kernel[] = "[[kernel.kallsyms]]";
    sheet->cell.used = 0;
    put_item(&sheet->cell, vector, (size_t)at);
    if (sheet->cell.used == strlen(kernel) && !memcmp(sheet->cell.data, kernel, strlen(kernel))) {
        sheet->cell.used = 0;
        pf_put_string(&sheet->cell, "[kernel]");
    }
    shorten_cell(sheet, state->screen / 2);
    return cell_width(sheet) + 1;
}

struct stack {
    const struct pf_vector *vector;
    int32_t from, to; /* its items, the innermost frame first */
};

/* Code without names after code of the same file, which adds nothing to the line. */
static bool repeats(struct pf_sheet *sheet, const struct stack *stack, int32_t at)
{
    if (at == stack->from)
        return false;
    sheet->cell.used = 0;
    put_item(&sheet->cell, stack->vector, (size_t)at - 1);
    const size_t bytes = sheet->cell.used;
    put_item(&sheet->cell, stack->vector, (size_t)at);
    const char *data = sheet->cell.data;
    return bytes && data[0] == '[' && sheet->cell.used == 2 * bytes && !memcmp(data, data + bytes, bytes);
}

/* How many items from `at` on, in steps of `step` and before `end`, fit in *left columns, which become fewer. */
static int32_t count_fitting(struct pf_sheet *sheet, const struct stack *stack, int32_t at, int32_t end, size_t *left)
{
    const int32_t step = at <= end ? 1 : -1;
    int32_t count = 0;
    for (; at != end; at += step, count++) {
        const size_t width = repeats(sheet, stack, at) ? 0 : make_item(sheet, stack->vector, at);
        if (width > *left)
            break;
        *left -= width;
    }
    return count;
}

static void put_items(struct pf_sheet *sheet, const struct stack *stack, int32_t from, int32_t to)
{
    for (int32_t i = from; i < to; i++) {
        if (repeats(sheet, stack, i))
            continue;
        make_item(sheet, stack->vector, i);
        pf_put_string(sheet->out, i > from ? ";" : "");
        pf_put(sheet->out, sheet->cell.data, sheet->cell.used);
    }
}

/* Of stacks that are too long what fits of the innermost frames, which come first, and of the outermost. */
static void put_ends(struct pf_sheet *sheet, const struct stack *stack)
{
    const struct text_state *state = sheet->state;
    size_t left = (state->screen - INDENT + 1) * 2 / 3;
    const int32_t inner = count_fitting(sheet, stack, stack->from, stack->to, &left);
    left = pf_max_size(state->screen / 3 + left, INDENT + 4) - INDENT - 4;
    int32_t outer = count_fitting(sheet, stack, stack->to - 1, stack->from + inner - 1, &left);
    while (outer && repeats(sheet, stack, stack->to - outer)) /* its first one is left out */
        outer--;
    put_items(sheet, stack, stack->from, stack->from + inner);
    pf_put_string(sheet->out, outer ? ";...;" : ";...");
    put_items(sheet, stack, stack->to - outer, stack->to);
}

/* On one line. */
static void put_below(struct pf_sheet *sheet, size_t column, size_t row)
{
    const struct text_state *state = sheet->state;
    const struct pf_vector *vector = &sheet->columns[column];
    const struct stack stack = {vector, vector->offsets[row], vector->offsets[row + 1]};
    if (stack.from == stack.to)
        return;
    size_t left = state->screen - INDENT + 1;
    pf_put_format(sheet->out, "%*s", INDENT, "");
    if (count_fitting(sheet, &stack, stack.from, stack.to, &left) == stack.to - stack.from)
        put_items(sheet, &stack, stack.from, stack.to);
    else
        put_ends(sheet, &stack);
    pf_put_string(sheet->out, "\n");
}

static void put_line(struct pf_sheet *sheet, void (*make)(struct pf_sheet *sheet, size_t column, size_t row),
                     size_t row)
{
    const struct text_state *state = sheet->state;
    for (size_t i = 0; i < sheet->table->shown; i++)
        if (is_in_line(&state->columns[i])) {
            make(sheet, i, row);
            put_cell(sheet, i);
        }
    pf_put_string(sheet->out, "\n");
}

static void put_row(struct pf_sheet *sheet, size_t row)
{
    const struct text_state *state = sheet->state;
    if (!state)
        return;
    put_line(sheet, make_cell, row);
    for (size_t i = 0; i < sheet->table->shown; i++)
        if (state->columns[i].below && !pf_vector_is_null(&sheet->columns[i], row))
            put_below(sheet, i, row);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static size_t state_bytes(const struct pf_sheet *sheet)
{
    return sizeof(struct text_state) + sheet->table->shown * sizeof(struct text_column);
}

static void begin(struct pf_sheet *sheet)
{
    struct text_state *state = pf_new(sheet->table->allocator, state_bytes(sheet));
    sheet->state = state;
    if (!state)
        return;
    if (sheet->table->options.text_width)
        state->screen = (size_t)pf_max(pf_min(sheet->table->options.text_width, SIZE_MAX), MIN_SCREEN);
    for (size_t i = 0; i < sheet->table->shown; i++)
        measure(sheet, i);
    if (state->screen)
        fit(sheet);
    find_last(sheet);
    put_line(sheet, make_heading, 0);
}

static size_t count_omitted(const struct pf_sheet *sheet, size_t from)
{
    const struct text_state *state = sheet->state;
    size_t count = 0;
    for (size_t i = from; state && i < sheet->table->shown; i++)
        count += state->columns[i].omitted;
    return count;
}

/* Names the columns that are left out, as many as fit on a line. */
static void end(struct pf_sheet *sheet)
{
    const struct text_state *state = sheet->state;
    const size_t more = strlen(", 99 more");
    if (!count_omitted(sheet, 0))
        return;
    pf_put_format(sheet->out, "not shown:");
    size_t width = strlen("not shown:");
    for (size_t i = 0; i < sheet->table->shown; i++) {
        const char *name = sheet->columns[i].column.name;
        const size_t rest = count_omitted(sheet, i + 1), wide = width + pf_columns(name, strlen(name)) + 2;
        if (!state->columns[i].omitted)
            continue;
        if (wide + (rest ? more : 0) > state->screen) {
            pf_put_format(sheet->out, " %zu more", rest + 1);
            break;
        }
        pf_put_char(sheet->out, ' ');
        pf_put_name(sheet->out, name);
        pf_put_string(sheet->out, rest ? "," : "");
        width = wide;
    }
    pf_put_string(sheet->out, "\n");
}

static void close_state(struct pf_sheet *sheet)
{
    pf_free(sheet->table->allocator, sheet->state, state_bytes(sheet));
}

const struct pf_table_format pf_table_format_text = {
    .name = "text", .escapes = true, .begin = begin, .row = put_row, .end = end, .close = close_state};
