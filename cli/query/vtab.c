/* SPDX-License-Identifier: MIT */
#include "vtab.h"
#include "pushed.h"
#include "store.h"

#include <stdlib.h>
#include <string.h>

/*
 * SQLite asks in xBestIndex how dear a way of reading would be, and says in xFilter which it takes. The three ways:
 *
 *     scan    the sources are read from the beginning, batch by batch; what a filter can leave out is left out.
 *             From the second time on the rows are kept
 *     group   the rows are kept, and come in the order of some columns: GROUP BY needs no sorting then
 *     lookup  the same, and only those of one value: the inner side of joins
 *
 * In all of them conditions on keys (a recording, a host, a folder's name) leave out sources, which are not opened
 * then. All conditions are checked by SQLite once more: a filter may let too much pass, never too little.
 */
enum way { SCAN, GROUP, LOOKUP };

/* ---- tables ------------------------------------------------------------------------------------------------------ */

struct kept {
    struct pf_store *store;
    struct kept *next;
};

struct module {
    const struct pf_relation *relation;
    struct pf_sources *sources;
};

struct table {
    sqlite3_vtab base; /* first: SQLite knows nothing else */
    const struct module *module;
    struct pf_fields fields;
    bool was_read;
    struct kept *kept;
};

static char *declaration_of(const struct pf_fields *fields)
{
    sqlite3_str *text = sqlite3_str_new(NULL);

    sqlite3_str_appendall(text, "CREATE TABLE x(");
    for (size_t i = 0; i < fields->count; i++) {
        const uint32_t type = fields->all[i].type;
        const bool is_list = type == PERFILE_COLUMN_TEXTS || type == PERFILE_COLUMN_ADDRESSES;
        sqlite3_str_appendf(text, "%s\"%w\" %s%s", i ? ", " : "", fields->all[i].name,
                            is_list ? "json_text" : perfile_column_type_name(type),
                            fields->all[i].shown ? "" : " HIDDEN");
    }
    sqlite3_str_appendall(text, ")");
    return sqlite3_str_finish(text);
}

static int declare(sqlite3 *db, struct table *table)
{
    char *declaration = declaration_of(&table->fields);
    int result = SQLITE_NOMEM;

    table->module->sources->is_declaring = true;
    if (declaration)
        result = sqlite3_declare_vtab(db, declaration);
    table->module->sources->is_declaring = false;
    sqlite3_free(declaration);
    return result;
}

static int disconnect(sqlite3_vtab *base)
{
    struct table *table = (struct table *)base;

    for (struct kept *kept = table->kept, *next; kept; kept = next) {
        next = kept->next;
        pf_store_free(kept->store);
        free(kept);
    }
    pf_fields_free(&table->fields);
    free(table);
    return SQLITE_OK;
}

static int code_of(const struct pf_sources *sources)
{
    return sources->code == PERFILE_ERROR_MEMORY    ? SQLITE_NOMEM
           : sources->code == PERFILE_ERROR_STOPPED ? SQLITE_INTERRUPT
                                                    : SQLITE_ERROR;
}

static int connect_table(sqlite3 *db, void *context, int argument_count, const char *const *arguments,
                         sqlite3_vtab **base, char **message)
{
    const struct module *module = context;
    struct table *table = calloc(1, sizeof(*table));
    int result = SQLITE_NOMEM;

    (void)argument_count;
    (void)arguments;
    if (table) {
        table->module = module;
        result = pf_fields_find(module->sources, module->relation, &table->fields) < 0 ? code_of(module->sources)
                                                                                       : declare(db, table);
        if (result == SQLITE_ERROR)
            *message =
                sqlite3_mprintf("%s", module->sources->code ? module->sources->error.message : sqlite3_errmsg(db));
    }
    if (result) {
        if (table)
            disconnect(&table->base);
        return result;
    }
    *base = &table->base;
    return SQLITE_OK;
}

/* ---- plans ------------------------------------------------------------------------------------------------------- */

/* -1: none that rows are left out for. */
static int comparison_of(unsigned char operation)
{
    switch (operation) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
        return PF_EQUAL;
    case SQLITE_INDEX_CONSTRAINT_GE:
        return PF_AT_LEAST;
    case SQLITE_INDEX_CONSTRAINT_GT:
        return PF_ABOVE;
    case SQLITE_INDEX_CONSTRAINT_LE:
        return PF_AT_MOST;
    case SQLITE_INDEX_CONSTRAINT_LT:
        return PF_BELOW;
    default:
        return -1;
    }
}

/* Conditions that are used, as letters: those of filters, and from 'A' on, for the first keys, those on sources. */
enum { LETTERS_MAX = 16, ONE_OF = PF_BELOW + 1, KEY_LETTERS, KEYS_MAX = 4 };
_Static_assert(KEY_LETTERS *KEYS_MAX <= 'Z' - 'A' + 1, "keys have no letters");

static bool is_key_letter(char letter)
{
    return letter >= 'A' && letter <= 'Z';
}

static char letter_of(const struct table *table, const struct sqlite3_index_constraint *condition)
{
    const size_t field = (size_t)condition->iColumn;
    const int comparison = comparison_of(condition->op);

    if (condition->iColumn < 0 || comparison < 0)
        return 0;
    if (field < table->module->relation->key_count)
        return field < KEYS_MAX ? (char)('A' + field * KEY_LETTERS + (size_t)comparison) : '\0';
    return pf_pushed_letter(table->module->relation, table->fields.all[field].name, (enum pf_comparison)comparison);
}

/* Equal values of SQL are the same value of the field: of one type in all sources, an integer or a text. */
static bool has_groups(const struct table *table, int column)
{
    const struct pf_fields *fields = &table->fields;
    const struct pf_relation *relation = table->module->relation;
    const size_t field = (size_t)column;

    if (column < 0 || fields->all[field].type == PERFILE_COLUMN_F64 || fields->all[field].type > PERFILE_COLUMN_TEXT)
        return false;
    for (size_t i = 0; i < relation->source_count; i++) {
        const uint8_t type = fields->types[i * fields->count + field];
        if (type != PF_NO_FIELD && type != fields->all[field].type)
            return false;
    }
    return true;
}

struct plan {
    enum way way;
    size_t columns[PF_GROUP_FIELDS_MAX];
    size_t column_count;
    bool is_reversed;
    char letters[LETTERS_MAX + 1];
    int count;
};

static void use(sqlite3_index_info *info, int condition, struct plan *plan, char letter)
{
    plan->letters[plan->count++] = letter;
    info->aConstraintUsage[condition].argvIndex = plan->count;
}

/*
 * Plans a lookup for one side of a join: an equality with a value that is not known yet. IN is checked row by row, and
 * an equality of a key finds too many rows.
 */
static void plan_lookup(const struct table *table, sqlite3_index_info *info, struct plan *plan)
{
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *condition = &info->aConstraint[i];
        sqlite3_value *value;
        if (!condition->usable || condition->op != SQLITE_INDEX_CONSTRAINT_EQ || sqlite3_vtab_in(info, i, -1) ||
            condition->iColumn < (int)table->module->relation->key_count || !has_groups(table, condition->iColumn) ||
            sqlite3_vtab_rhs_value(info, i, &value) == SQLITE_OK ||
            sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY") != 0)
            continue;
        plan->way = LOOKUP;
        plan->columns[plan->column_count++] = (size_t)condition->iColumn;
        use(info, i, plan, 'k');
        return;
    }
}

static bool is_constant(sqlite3_index_info *info, int condition)
{
    sqlite3_value *value;

    return sqlite3_vtab_rhs_value(info, condition, &value) == SQLITE_OK;
}

/* Comparisons with constants, and for keys with what is in a list or a subquery. */
static void plan_filter(const struct table *table, sqlite3_index_info *info, struct plan *plan)
{
    for (int i = 0; i < info->nConstraint && plan->count < LETTERS_MAX; i++) {
        const struct sqlite3_index_constraint *condition = &info->aConstraint[i];
        const char letter = condition->usable ? letter_of(table, condition) : 0;
        const bool is_list = is_key_letter(letter) && sqlite3_vtab_in(info, i, -1);
        if (!letter || (!is_list && !is_constant(info, i)) || (plan->way == LOOKUP && !is_key_letter(letter)) ||
            strchr(plan->letters, letter) || sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY") != 0)
            continue;
        if (is_list)
            (void)sqlite3_vtab_in(info, i, 1); /* all at once */
        use(info, i, plan, is_list ? (char)(letter + ONE_OF) : letter);
    }
}

static void plan_groups(const struct table *table, sqlite3_index_info *info, struct plan *plan)
{
    bool is_of_rows = false; /* keys alone are few: SQLite keeps no rows for DISTINCT */

    if (plan->way != SCAN || info->nOrderBy < 1 || info->nOrderBy > PF_GROUP_FIELDS_MAX || !sqlite3_vtab_distinct(info))
        return;
    for (int i = 0; i < info->nOrderBy; i++) {
        if (!has_groups(table, info->aOrderBy[i].iColumn) || info->aOrderBy[i].desc != info->aOrderBy[0].desc)
            return;
        plan->columns[i] = (size_t)info->aOrderBy[i].iColumn;
        is_of_rows |= plan->columns[i] >= table->module->relation->key_count;
    }
    if (!is_of_rows)
        return;
    plan->way = GROUP;
    plan->column_count = (size_t)info->nOrderBy;
    plan->is_reversed = info->aOrderBy[0].desc;
    info->orderByConsumed = 1;
}

/* "used columns, in hexadecimal digits; order; letters", as filter() reads it. NULL: out of memory. */
static char *put_plan(const sqlite3_index_info *info, const struct plan *plan)
{
    sqlite3_str *text = sqlite3_str_new(NULL);

    sqlite3_str_appendf(text, "%llx %d %d", (unsigned long long)info->colUsed, plan->is_reversed,
                        (int)plan->column_count);
    for (size_t i = 0; i < plan->column_count; i++)
        sqlite3_str_appendf(text, " %d", (int)plan->columns[i]);
    sqlite3_str_appendf(text, " %s", plan->letters);
    return sqlite3_str_finish(text);
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const struct table *table = (const struct table *)base;
    struct plan plan = {.way = SCAN};
    double rows = 1e6;

    plan_lookup(table, info, &plan);
    plan_filter(table, info, &plan);
    plan_groups(table, info, &plan);
    for (int i = 0; i < plan.count; i++)
        rows /= 10;
    info->estimatedRows = plan.way == LOOKUP ? 8 : (sqlite3_int64)rows + 1;
    info->estimatedCost = plan.way == LOOKUP ? 20 : 1e7 + rows;
    info->idxNum = (int)plan.way;
    info->idxStr = put_plan(info, &plan);
    info->needToFreeIdxStr = 1;
    return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- cursors ----------------------------------------------------------------------------------------------------- */

struct cursor {
    sqlite3_vtab_cursor base;
    struct pf_request request;
    struct pf_pushed pushed;
    size_t columns[PF_GROUP_FIELDS_MAX], column_count; /* of the order or the value */
    bool *wanted, *selected;                           /* by field and by source */
    const char *selected_by;                           /* a plan, or NULL */
    /* scan */
    struct pf_scan scan;
    bool is_scanning;
    struct pf_batch batch;
    /* of what is kept */
    struct pf_store *store;
    bool is_own;                    /* the store */
    const struct pf_groups *groups; /* NULL: in the order of the rows */
    bool is_reversed;
    size_t at_batch;
    uint32_t at, end; /* of groups->rows */
    /* where it is */
    const struct pf_batch *current; /* NULL: at the end */
    int64_t row;
    sqlite3_int64 number;
};

static void free_cursor(struct cursor *cursor)
{
    if (cursor) {
        free(cursor->wanted);
        free(cursor->selected);
    }
    free(cursor);
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **made)
{
    const struct table *table = (const struct table *)base;
    struct cursor *cursor = calloc(1, sizeof(*cursor));

    if (cursor) {
        cursor->wanted = calloc(table->fields.count + 1, sizeof(*cursor->wanted));
        cursor->selected = calloc(table->module->relation->source_count + 1, sizeof(*cursor->selected));
    }
    if (!cursor || !cursor->wanted || !cursor->selected) {
        free_cursor(cursor);
        return SQLITE_NOMEM;
    }
    *made = &cursor->base;
    return SQLITE_OK;
}

static void reset(struct cursor *cursor)
{
    if (cursor->is_scanning) {
        pf_batch_free(&cursor->batch);
        pf_scan_end(&cursor->scan);
    }
    if (cursor->is_own)
        pf_store_free(cursor->store);
    pf_pushed_free(&cursor->pushed);
    *cursor = (struct cursor){.base = cursor->base,
                              .wanted = cursor->wanted,
                              .selected = cursor->selected,
                              .selected_by = cursor->selected_by};
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;

    reset(cursor);
    free_cursor(cursor);
    return SQLITE_OK;
}

static int complain(struct cursor *cursor)
{
    struct table *table = (struct table *)cursor->base.pVtab;
    const struct pf_sources *sources = table->module->sources;

    cursor->current = NULL;
    if (code_of(sources) == SQLITE_ERROR) {
        sqlite3_free(table->base.zErrMsg);
        table->base.zErrMsg = sqlite3_mprintf("%s", sources->error.message);
    }
    return code_of(sources);
}

/* Batches without rows are passed over. */
static int next_batch(struct cursor *cursor)
{
    int result;

    do {
        pf_batch_free(&cursor->batch);
        result = pf_scan_next(&cursor->scan, &cursor->batch);
    } while (result > 0 && !cursor->batch.array.length);
    cursor->row = 0;
    cursor->current = result > 0 ? &cursor->batch : NULL;
    return result < 0 ? complain(cursor) : SQLITE_OK;
}

static void next_kept(struct cursor *cursor)
{
    const struct pf_store *store = cursor->store;

    if (cursor->groups) {
        const uint32_t at = cursor->at >= cursor->end ? UINT32_MAX : cursor->is_reversed ? --cursor->end : cursor->at++;
        const struct pf_row *row = at != UINT32_MAX ? &cursor->groups->rows[at] : NULL;
        cursor->current = row ? &store->batches[row->batch] : NULL;
        cursor->row = row ? row->row : 0;
        return;
    }
    if (cursor->current)
        cursor->row++;
    while (cursor->at_batch < store->batch_count && cursor->row >= store->batches[cursor->at_batch].array.length) {
        cursor->at_batch++;
        cursor->row = 0;
    }
    cursor->current = cursor->at_batch < store->batch_count ? &store->batches[cursor->at_batch] : NULL;
}

static int next(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;

    cursor->number++;
    if (cursor->store)
        next_kept(cursor);
    else if (++cursor->row == cursor->batch.array.length)
        return next_batch(cursor);
    return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
    return !((const struct cursor *)base)->current;
}

/* ---- filters ----------------------------------------------------------------------------------------------------- */

static struct pf_cell cell_of(sqlite3_value *value)
{
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        return (struct pf_cell){.kind = PF_CELL_INTEGER, .integer = sqlite3_value_int64(value)};
    case SQLITE_TEXT:
        return (struct pf_cell){.kind = PF_CELL_TEXT,
                                .text = (const char *)sqlite3_value_text(value),
                                .bytes = (size_t)sqlite3_value_bytes(value)};
    case SQLITE_NULL:
        return (struct pf_cell){.kind = PF_CELL_NULL};
    default:
        return (struct pf_cell){.kind = PF_CELL_OTHER};
    }
}

/* SQLite compares values of different kinds by itself. */
static bool may_match(const struct pf_cell *key, enum pf_comparison comparison, const struct pf_cell *value)
{
    if (key->kind == PF_CELL_OTHER)
        return true;
    if (key->kind == PF_CELL_NULL || value->kind == PF_CELL_NULL)
        return false;
    if (key->kind != value->kind)
        return true;
    const int order = pf_cell_compare(key, value);
    const bool matches[] = {[PF_EQUAL] = !order,
                            [PF_AT_LEAST] = order >= 0,
                            [PF_AT_MOST] = order <= 0,
                            [PF_ABOVE] = order > 0,
                            [PF_BELOW] = order < 0};
    return matches[comparison];
}

static bool is_in_list(const struct pf_cell *key, sqlite3_value *list)
{
    sqlite3_value *item = NULL;

    for (int result = sqlite3_vtab_in_first(list, &item); result == SQLITE_OK && item;
         result = sqlite3_vtab_in_next(list, &item)) {
        const struct pf_cell value = cell_of(item);
        if (may_match(key, PF_EQUAL, &value))
            return true;
    }
    return false;
}

static void select_by(struct cursor *cursor, const struct pf_relation *relation, char letter, sqlite3_value *value)
{
    const size_t key = (size_t)(letter - 'A') / KEY_LETTERS;
    const unsigned comparison = (unsigned)(letter - 'A') % KEY_LETTERS;

    for (size_t i = 0; i < relation->source_count; i++) {
        const struct pf_cell *of = &relation->sources[i].keys[key], cell = cell_of(value);
        cursor->selected[i] =
            cursor->selected[i] &&
            (comparison == ONE_OF ? is_in_list(of, value) : may_match(of, (enum pf_comparison)comparison, &cell));
    }
}

/* Constants are the same each time; lists need not be. */
static void select_sources(struct cursor *cursor, const struct pf_relation *relation, const char *plan,
                           const char *letters, sqlite3_value **values)
{
    bool any = false, is_same = cursor->selected_by == plan;

    for (const char *at = letters; *at; at++) {
        any |= is_key_letter(*at);
        is_same &= !is_key_letter(*at) || (*at - 'A') % KEY_LETTERS != ONE_OF;
    }
    cursor->request.selected = any ? cursor->selected : NULL;
    if (!any || is_same)
        return;
    cursor->selected_by = plan;
    memset(cursor->selected, true, relation->source_count);
    for (size_t i = 0; letters[i]; i++)
        if (is_key_letter(letters[i]))
            select_by(cursor, relation, letters[i], values[i]);
}

/* ---- ways -------------------------------------------------------------------------------------------------------- */

/* The store has all columns of the request, and the rows of the same sources. */
static bool suits(const struct pf_store *store, const struct pf_request *request)
{
    for (size_t i = 0; i < request->fields->count; i++)
        if (request->wanted[i] && !store->wanted[i])
            return false;
    if (!request->selected || !store->selected)
        return !request->selected && !store->selected;
    return !memcmp(request->selected, store->selected, request->relation->source_count);
}

/* Rows that were kept before; else they are read. NULL: an error. */
static struct pf_store *kept_rows(struct table *table, const struct pf_request *request)
{
    struct kept *kept = table->kept;

    while (kept && !suits(kept->store, request))
        kept = kept->next;
    if (kept)
        return kept->store;
    if (!(kept = calloc(1, sizeof(*kept)))) {
        table->module->sources->code = PERFILE_ERROR_MEMORY;
        return NULL;
    }
    if (!(kept->store = pf_store_read(table->module->sources, request))) {
        free(kept);
        return NULL;
    }
    kept->next = table->kept;
    table->kept = kept;
    return kept->store;
}

static void find_value(struct cursor *cursor, sqlite3_value *value)
{
    const struct pf_cell cell = cell_of(value);
    size_t group;

    if (cell.kind == PF_CELL_OTHER) /* 1.0 = 1: SQLite compares all */
        return;
    if (cell.kind == PF_CELL_NULL) { /* equals nothing */
        cursor->end = 0;
        return;
    }
    group = pf_groups_find(cursor->groups, &cell);
    cursor->at = group < cursor->groups->count ? cursor->groups->starts[group] : 0;
    cursor->end = group < cursor->groups->count ? cursor->groups->starts[group + 1] : 0;
}

static int start_kept(struct cursor *cursor, enum way way, sqlite3_value *value)
{
    struct table *table = (struct table *)cursor->base.pVtab;
    const bool is_part = pf_pushed_any(&cursor->pushed);

    cursor->is_own = is_part;
    cursor->store =
        is_part ? pf_store_read(table->module->sources, &cursor->request) : kept_rows(table, &cursor->request);
    if (!cursor->store)
        return complain(cursor);
    if (way != SCAN) {
        cursor->groups = pf_store_group(cursor->store, cursor->columns, cursor->column_count);
        if (!cursor->groups)
            return SQLITE_NOMEM;
        cursor->end = cursor->store->row_count;
    }
    if (way == LOOKUP)
        find_value(cursor, value);
    next_kept(cursor);
    return SQLITE_OK;
}

/* What put_plan() made; the letters of its conditions. */
static const char *take_plan(struct cursor *cursor, const struct table *table, const char *plan)
{
    char *rest;
    const unsigned long long used = strtoull(plan, &rest, 16);

    cursor->is_reversed = strtol(rest, &rest, 10) != 0;
    cursor->column_count = (size_t)strtol(rest, &rest, 10);
    for (size_t i = 0; i < table->fields.count; i++)
        cursor->wanted[i] = used >> (i < 63 ? i : 63) & 1;
    for (size_t i = 0; i < cursor->column_count; i++) {
        cursor->columns[i] = (size_t)strtol(rest, &rest, 10);
        cursor->wanted[cursor->columns[i]] = true;
    }
    return rest + 1;
}

static int filter(sqlite3_vtab_cursor *base, int way, const char *plan, int count, sqlite3_value **values)
{
    struct cursor *cursor = (struct cursor *)base;
    struct table *table = (struct table *)base->pVtab;
    struct pf_sources *sources = table->module->sources;

    reset(cursor);
    const char *letters = take_plan(cursor, table, plan);
    for (int i = 0; way != LOOKUP && (way == GROUP || !table->was_read) && i < count; i++) {
        const struct pf_cell cell = cell_of(values[i]);
        if (!is_key_letter(letters[i]))
            pf_pushed_take(&cursor->pushed, sources, letters[i], &cell);
    }
    cursor->request.relation = table->module->relation;
    cursor->request.fields = &table->fields;
    cursor->request.wanted = cursor->wanted;
    select_sources(cursor, table->module->relation, plan, letters, values);
    pf_pushed_set(&cursor->pushed, sources, &cursor->request);
    if (way != SCAN || table->was_read)
        return start_kept(cursor, (enum way)way, count ? values[0] : NULL);
    table->was_read = true;
    cursor->is_scanning = true;
    pf_scan_start(&cursor->scan, sources, &cursor->request);
    return next_batch(cursor);
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static void append_quoted(sqlite3_str *text, const char *from, size_t bytes)
{
    sqlite3_str_appendchar(text, 1, '"');
    for (size_t i = 0; i < bytes; i++) {
        const unsigned char c = (unsigned char)from[i];
        if (c < ' ')
            sqlite3_str_appendf(text, "\\u%04x", c);
        else if (c == '"' || c == '\\')
            sqlite3_str_appendf(text, "\\%c", c);
        else
            sqlite3_str_append(text, from + i, 1);
    }
    sqlite3_str_appendchar(text, 1, '"');
}

/* A list is a JSON text, for json_each(). */
static void put_list(sqlite3_context *to, const struct cursor *cursor, size_t field)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    struct pf_cell item;

    sqlite3_str_appendchar(text, 1, '[');
    for (int64_t i = 0; pf_batch_element(cursor->current, field, cursor->row, i, &item); i++) {
        if (i)
            sqlite3_str_appendchar(text, 1, ',');
        if (item.kind == PF_CELL_TEXT)
            append_quoted(text, item.text, item.bytes);
        else if (item.kind == PF_CELL_INTEGER)
            sqlite3_str_appendf(text, "%lld", (long long)item.integer);
        else
            sqlite3_str_appendall(text, "null");
    }
    sqlite3_str_appendchar(text, 1, ']');
    const int bytes = sqlite3_str_length(text);
    char *made = sqlite3_str_finish(text);
    if (made)
        sqlite3_result_text(to, made, bytes, sqlite3_free);
    else
        sqlite3_result_error_nomem(to);
}

/* Stored values stay valid until the statement has ended. */
static void put_field(sqlite3_context *to, const struct cursor *cursor, size_t field)
{
    struct pf_cell cell;

    pf_batch_cell(cursor->current, field, cursor->row, &cell);
    switch (cell.kind) {
    case PF_CELL_NULL:
    case PF_CELL_OTHER:
        return;
    case PF_CELL_INTEGER:
        sqlite3_result_int64(to, cell.integer);
        return;
    case PF_CELL_REAL:
        sqlite3_result_double(to, cell.real);
        return;
    case PF_CELL_LIST:
        put_list(to, cursor, field);
        return;
    case PF_CELL_TEXT:
        sqlite3_result_text(to, cell.text, (int)cell.bytes,
                            cursor->store && !cursor->is_own ? SQLITE_STATIC : SQLITE_TRANSIENT);
    }
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *to, int index)
{
    put_field(to, (const struct cursor *)base, (size_t)index);
    return SQLITE_OK;
}

static int row_number(sqlite3_vtab_cursor *base, sqlite3_int64 *number)
{
    *number = ((const struct cursor *)base)->number;
    return SQLITE_OK;
}

/* Without xCreate: the table is there by its name. */
static const sqlite3_module methods = {
    .iVersion = 1,
    .xConnect = connect_table,
    .xBestIndex = best_index,
    .xDisconnect = disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next,
    .xEof = is_at_end,
    .xColumn = column,
    .xRowid = row_number,
};

int pf_vtab_register(sqlite3 *db, struct pf_sources *sources)
{
    int result = SQLITE_OK;

    for (size_t i = 0; !result && i < sources->relation_count; i++) {
        struct module *module = malloc(sizeof(*module));
        if (!module)
            return SQLITE_NOMEM;
        *module = (struct module){&sources->relations[i], sources};
        result = sqlite3_create_module_v2(db, module->relation->name, &methods, module, free);
    }
    return result;
}
