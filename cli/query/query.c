/* SPDX-License-Identifier: MIT */
#include "query.h"
#include "../guess.h"
#include "vtab.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A result is a table of typed columns, but SQLite has types per value. A result column that is a column of a table has
 * the type of that; the type of any other is derived from the first rows, which are buffered.
 */
enum { FIRST_ROWS = 4096 };

struct field {
    struct perfile_column column;
    char *name; /* owned */
};

struct result {
    const struct pf_sources *sources;
    sqlite3 *db;
    sqlite3_stmt *statement;
    struct field *fields;
    const struct perfile_column **columns;
    size_t column_count;
    sqlite3_value **first; /* row by row; owned */
    size_t first_count;    /* rows */
    size_t row;            /* that is given, plus 1 */
    int code;              /* of the last step */
};

/* ---- what a statement may do ------------------------------------------------------------------------------------- */

/* load_extension loads code; fts3_tokenizer reveals, and once set, addresses of code. */
static bool is_denied(const char *function)
{
    return function && (!sqlite3_stricmp(function, "load_extension") || !sqlite3_stricmp(function, "fts3_tokenizer"));
}

static int authorize(void *context, int action, const char *first, const char *second, const char *database,
                     const char *trigger)
{
    (void)first;
    (void)database;
    (void)trigger;
    if (((const struct pf_sources *)context)->is_declaring)
        return SQLITE_OK;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        return is_denied(second) ? SQLITE_DENY : SQLITE_OK;
    default:
        return SQLITE_DENY;
    }
}

static int handle_interrupt(void *context)
{
    return *((const struct pf_sources *)context)->stopped != 0;
}

/* Half of the machine's memory; what SQLite sorts and joins is in memory. */
static void limit_memory(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);

    if (pages > 0 && page_bytes > 0)
        sqlite3_hard_heap_limit64((sqlite3_int64)pages / 2 * page_bytes);
}

static int open_db(struct pf_sources *sources, sqlite3 **db)
{
    enum { STEPS_BETWEEN_LOOKS = 100000 };
    int result = sqlite3_open_v2(":memory:", db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, NULL);

    if (!result)
        result = sqlite3_exec(*db, "PRAGMA temp_store=MEMORY; PRAGMA trusted_schema=OFF", NULL, NULL, NULL);
    if (!result)
        result = pf_vtab_register(*db, sources);
    if (result)
        return result;
    limit_memory();
    sqlite3_limit(*db, SQLITE_LIMIT_ATTACHED, 0);
    /* SQLite's own virtual tables are made at their first use, which is writing to it */
    (void)sqlite3_exec(*db, "SELECT 1 FROM json_each('[]'), json_tree('[]')", NULL, NULL, NULL);
    sqlite3_progress_handler(*db, STEPS_BETWEEN_LOOKS, handle_interrupt, sources);
    return sqlite3_set_authorizer(*db, authorize, sources);
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

/* " at 2:13", of the statement's lines and characters. */
static void put_position(const char *sql, int offset, char *text, size_t bytes)
{
    size_t line = 1, column = 1;

    *text = 0;
    if (offset < 0)
        return;
    for (int i = 0; i < offset && sql[i]; i++) {
        column = sql[i] == '\n' ? 1 : column + ((sql[i] & 0xc0) != 0x80);
        line += sql[i] == '\n';
    }
    snprintf(text, bytes, " at %zu:%zu", line, column);
}

/* Views are many, so that the one with a similar name is named; of files all. */
static const char *suggest_relation(const struct pf_sources *sources, const char *message, char *buffer, size_t bytes)
{
    static const char unknown[] = "no such table: ";
    const bool has_files = sources->kind->has_files;
    struct pf_guess guess;
    size_t used = 0;

    *buffer = 0;
    if (strncmp(message, unknown, strlen(unknown)) != 0)
        return buffer;
    guess = pf_guess_start(message + strlen(unknown));
    for (size_t i = 0; i < sources->relation_count; i++) {
        const char *name = sources->relations[i].name;
        pf_guess_offer(&guess, name);
        if (has_files && used + strlen(name) + sizeof("; there are , ...") < bytes)
            used += (size_t)snprintf(buffer + used, bytes - used, "%s%s", i ? ", " : "; there are ", name);
    }
    return has_files ? buffer : pf_guess_text(&guess, "", buffer, bytes);
}

/* The columns of `samples` depend on what was recorded, which a ready query cannot know. Others may be in any table. */
static const char *explain_column(const struct pf_sources *sources, const char *message, char buffer[80])
{
    static const char unknown[] = "no such column: ";
    const char *name = message + strlen(unknown), *dot;
    struct perfile_column column = PERFILE_COLUMN_INIT;
    struct pf_guess guess;

    if (strncmp(message, unknown, strlen(unknown)) != 0 || sources->kind->has_files)
        return "";
    name = (dot = strchr(name, '.')) ? dot + 1 : name;
    for (size_t i = 0; perfile_view_column("samples", i, &column) == 0; i++)
        if (!strcmp(column.name, name))
            return " (the samples do not record it)";
    guess = pf_guess_start(name);
    for (size_t i = 0; i < sources->relation_count; i++) {
        for (size_t k = 0; perfile_view_column(sources->relations[i].view, k, &column) == 0; k++)
            pf_guess_offer(&guess, column.name);
    }
    return pf_guess_text(&guess, "", buffer, 80);
}

static int complain(const struct pf_sources *sources, sqlite3 *db, const char *sql)
{
    const char *verb = sources->inputs.command->name, *message = db ? sqlite3_errmsg(db) : "out of memory";
    const int code = db ? sqlite3_errcode(db) : SQLITE_NOMEM;
    char position[64], table[400], other[80];

    pf_progress_clear();
    if (*sources->stopped) /* the signal says it */
        return PF_STATUS_OUTPUT;
    /* SQLite has no error where memory of the tables themselves was missing. */
    if (code == SQLITE_NOMEM || code == SQLITE_OK || sources->code == PERFILE_ERROR_MEMORY)
        return pf_out_of_memory(verb);
    if (sources->code && sources->failed)
        return pf_sources_complain(sources);
    if (code == SQLITE_AUTH) {
        pf_message("%s: refused: a statement can only read (SELECT)", verb);
        return PF_STATUS_USAGE;
    }
    const bool is_cut = !strcmp(message, "incomplete input");
    put_position(sql, is_cut ? (int)strlen(sql) : sqlite3_error_offset(db), position, sizeof(position));
    pf_message("%s: %s%s%s%s", verb, message, position, suggest_relation(sources, message, table, sizeof(table)),
               explain_column(sources, message, other));
    return PF_STATUS_USAGE;
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

/* The declared type of a result column; PERFILE_COLUMN_ADDRESSES, which no value has, when there is none. */
static uint32_t declared_type(sqlite3_stmt *statement, int column)
{
    const char *declared = sqlite3_column_decltype(statement, column), *name;

    for (uint32_t type = 0; declared && (name = perfile_column_type_name(type)) != NULL; type++)
        if (!sqlite3_stricmp(declared, name))
            return type;
    return PERFILE_COLUMN_ADDRESSES;
}

/* A value can be one of this type without loss. */
static bool suits(uint32_t type, sqlite3_value *value)
{
    const int kind = sqlite3_value_type(value);
    const sqlite3_int64 number = kind == SQLITE_INTEGER ? sqlite3_value_int64(value) : 0;

    if (kind == SQLITE_NULL || type == PERFILE_COLUMN_TEXT)
        return true;
    if (type == PERFILE_COLUMN_F64)
        return kind == SQLITE_FLOAT || (kind == SQLITE_INTEGER && number == (sqlite3_int64)(double)number);
    if (kind != SQLITE_INTEGER)
        return false;
    return type == PERFILE_COLUMN_BOOL  ? number == 0 || number == 1
           : type == PERFILE_COLUMN_I32 ? number >= INT32_MIN && number <= INT32_MAX
           : type == PERFILE_COLUMN_U32 ? number >= 0 && number <= UINT32_MAX
                                        : true;
}

static bool all_suit(const struct result *result, size_t column, uint32_t type)
{
    for (size_t row = 0; row < result->first_count; row++)
        if (!suits(type, result->first[row * result->column_count + column]))
            return false;
    return true;
}

static bool is_empty(const struct result *result, size_t column)
{
    for (size_t row = 0; row < result->first_count; row++)
        if (sqlite3_value_type(result->first[row * result->column_count + column]) != SQLITE_NULL)
            return false;
    return true;
}

static uint32_t choose_type(const struct result *result, size_t column)
{
    const uint32_t declared = declared_type(result->statement, (int)column);

    if (declared != PERFILE_COLUMN_ADDRESSES && declared != PERFILE_COLUMN_TEXTS && all_suit(result, column, declared))
        return declared;
    if (is_empty(result, column))
        return PERFILE_COLUMN_TEXT;
    if (all_suit(result, column, PERFILE_COLUMN_I64))
        return PERFILE_COLUMN_I64;
    return all_suit(result, column, PERFILE_COLUMN_F64) ? PERFILE_COLUMN_F64 : PERFILE_COLUMN_TEXT;
}

/* Names are keys in some formats: a second "count(*)" becomes "count(*)_2". */
static char *name_of(const struct result *result, size_t column)
{
    const char *name = sqlite3_column_name(result->statement, (int)column);
    size_t same = 1;
    char *made = NULL;

    for (size_t i = 0; name && i < column; i++)
        same += !strcmp(sqlite3_column_name(result->statement, (int)i), name);
    if (!name || (same == 1 ? asprintf(&made, "%s", name) : asprintf(&made, "%s_%zu", name, same)) < 0)
        return NULL;
    return made;
}

static bool set_columns(struct result *result)
{
    for (size_t i = 0; i < result->column_count; i++) {
        struct field *field = &result->fields[i];
        field->column = (struct perfile_column)PERFILE_COLUMN_INIT;
        if (!(field->name = name_of(result, i)))
            return false;
        field->column.name = field->name;
        field->column.unit = field->column.doc = "";
        field->column.type = choose_type(result, i);
        result->columns[i] = &field->column;
    }
    return true;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static bool keep_row(struct result *result)
{
    sqlite3_value **row = result->first + result->first_count * result->column_count;

    for (size_t i = 0; i < result->column_count; i++)
        if (!(row[i] = sqlite3_value_dup(sqlite3_column_value(result->statement, (int)i))))
            return false;
    result->first_count++;
    return true;
}

static bool read_first(struct result *result)
{
    result->column_count = (size_t)sqlite3_column_count(result->statement);
    result->fields = calloc(result->column_count, sizeof(*result->fields));
    result->columns = calloc(result->column_count, sizeof(*result->columns));
    result->first = calloc(FIRST_ROWS * result->column_count, sizeof(sqlite3_value *));
    if (!result->fields || !result->columns || !result->first)
        return false;
    while (result->first_count < FIRST_ROWS && (result->code = sqlite3_step(result->statement)) == SQLITE_ROW)
        if (!keep_row(result))
            return false;
    return true;
}

static void free_result(struct result *result)
{
    for (size_t i = 0; result->first && i < FIRST_ROWS * result->column_count; i++)
        sqlite3_value_free(result->first[i]);
    for (size_t i = 0; result->fields && i < result->column_count; i++)
        free(result->fields[i].name);
    free(result->first);
    free(result->columns);
    free(result->fields);
    sqlite3_finalize(result->statement);
    sqlite3_close(result->db);
}

static sqlite3_value *value_at(const struct result *result, size_t column)
{
    return result->row <= result->first_count ? result->first[(result->row - 1) * result->column_count + column]
                                              : sqlite3_column_value(result->statement, (int)column);
}

/* Refuses a row whose value does not suit the type that was derived from the first rows. */
static int check_row(const struct result *result, struct perfile_error *error)
{
    for (size_t i = 0; i < result->column_count; i++)
        if (!suits(result->fields[i].column.type, value_at(result, i))) {
            snprintf(error->message, sizeof(error->message),
                     "row %zu of column %s has another type than those before; CAST(... AS TEXT) takes all",
                     result->row, result->fields[i].name);
            return PERFILE_ERROR_ARGUMENT;
        }
    return 1;
}

static int next_row(void *context, struct perfile_error *error)
{
    struct result *result = context;

    if (++result->row <= result->first_count)
        return 1;
    if (result->code == SQLITE_ROW)
        result->code = sqlite3_step(result->statement);
    if (result->code == SQLITE_ROW)
        return check_row(result, error);
    if (result->code == SQLITE_DONE)
        return 0;
    snprintf(error->message, sizeof(error->message), "%s", *result->sources->stopped ? "" : sqlite3_errmsg(result->db));
    return PERFILE_ERROR_STOPPED;
}

static void put_value(void *context, size_t column, struct perfile_value *value)
{
    const struct result *result = context;
    sqlite3_value *from = value_at(result, column);
    const uint32_t type = result->fields[column].column.type;

    *value = (struct perfile_value){.kind = PERFILE_VALUE_NULL};
    if (sqlite3_value_type(from) == SQLITE_NULL)
        return;
    if (type == PERFILE_COLUMN_TEXT) {
        value->kind = PERFILE_VALUE_TEXT;
        value->data = sqlite3_value_text(from);
        value->bytes = (size_t)sqlite3_value_bytes(from);
    } else if (type == PERFILE_COLUMN_F64) {
        value->kind = PERFILE_VALUE_DOUBLE;
        value->number.d = sqlite3_value_double(from);
    } else {
        value->kind = type == PERFILE_COLUMN_BOOL                                ? PERFILE_VALUE_BOOL
                      : type == PERFILE_COLUMN_I32 || type == PERFILE_COLUMN_I64 ? PERFILE_VALUE_SIGNED
                                                                                 : PERFILE_VALUE_UNSIGNED;
        value->number.s = sqlite3_value_int64(from);
    }
}

static int write_rows(struct pf_sources *sources, struct result *result, const char *sql, struct pf_stream *out)
{
    struct perfile_rows rows = PERFILE_ROWS_INIT;
    int status;

    rows.view = "query";
    rows.columns = result->columns;
    rows.column_count = result->column_count;
    rows.next = next_row;
    rows.value = put_value;
    rows.context = result;
    if (result->code != SQLITE_ROW && result->code != SQLITE_DONE)
        return complain(sources, result->db, sql);
    status = pf_stream_put_rows(out, sources->inputs.command->name, &rows, sources->settings->format);
    return status;
}

/* ---- statements -------------------------------------------------------------------------------------------------- */

static bool is_more(const char *tail)
{
    while (*tail == ';' || *tail == ' ' || *tail == '\t' || *tail == '\r' || *tail == '\n')
        tail++;
    return *tail != 0;
}

static int run(struct pf_sources *sources, struct result *result, const char *sql, struct pf_stream *out)
{
    const char *verb = sources->inputs.command->name, *tail;

    if (open_db(sources, &result->db) || sqlite3_prepare_v2(result->db, sql, -1, &result->statement, &tail))
        return complain(sources, result->db, sql);
    if (!result->statement) {
        pf_message("%s: the statement is empty", verb);
        return PF_STATUS_USAGE;
    }
    if (is_more(tail)) {
        sqlite3_stmt *rest;
        if (sqlite3_prepare_v2(result->db, tail, -1, &rest, NULL) || rest) {
            sqlite3_finalize(rest);
            pf_message("%s: more than one statement", verb);
            return PF_STATUS_USAGE;
        }
    }
    if (!sqlite3_stmt_readonly(result->statement) || !sqlite3_column_count(result->statement)) {
        pf_message("%s: refused: a statement can only read (SELECT)", verb);
        return PF_STATUS_USAGE;
    }
    if (!read_first(result) || !set_columns(result))
        return pf_out_of_memory(verb);
    return write_rows(sources, result, sql, out);
}

int pf_query_run(struct pf_sources *sources, const char *sql, struct pf_stream *out)
{
    struct result result = {.sources = sources};
    const int status = run(sources, &result, sql, out);

    pf_progress_clear();
    free_result(&result);
    return status;
}
