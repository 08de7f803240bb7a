/* SPDX-License-Identifier: MIT */
#include "duckdb.h"
#include "pushed.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* ---- the library --------------------------------------------------------------------------------------------------- */

/* Types of its values, as it numbers them. */
enum {
    BOOLEAN = 1,
    TINYINT,
    SMALLINT,
    INTEGER,
    BIGINT,
    UTINYINT,
    USMALLINT,
    UINTEGER,
    UBIGINT,
    FLOAT,
    DOUBLE,
    HUGEINT = 16,
    VARCHAR = 17,
    DECIMAL = 19,
    LIST = 24,
    UHUGEINT = 32,
};
enum { STATEMENT_SELECT = 1 };

struct result {
    uint64_t deprecated_counts[3];
    void *deprecated_columns;
    char *deprecated_error;
    void *internal;
};

typedef void *handle; /* of a database, a connection, a vector ... */
typedef void destroy(void *data);
typedef void called(handle info);
typedef void called_with(handle info, handle chunk);

#define FUNCTIONS                                                                                                      \
    F(int, create_config, (handle * config))                                                                           \
    F(int, set_config, (handle config, const char *name, const char *value))                                           \
    F(void, destroy_config, (handle * config))                                                                         \
    F(int, open_ext, (const char *path, handle *db, handle config, char **error))                                      \
    F(void, free, (void *data))                                                                                        \
    F(void, close, (handle * db))                                                                                      \
    F(int, connect, (handle db, handle * connection))                                                                  \
    F(void, disconnect, (handle * connection))                                                                         \
    F(void, interrupt, (handle connection))                                                                            \
    F(int, query, (handle connection, const char *sql, struct result *result))                                         \
    F(const char *, result_error, (struct result * result))                                                            \
    F(void, destroy_result, (struct result * result))                                                                  \
    F(int, prepare, (handle connection, const char *sql, handle *statement))                                           \
    F(const char *, prepare_error, (handle statement))                                                                 \
    F(int, prepared_statement_type, (handle statement))                                                                \
    F(int, execute_prepared, (handle statement, struct result * result))                                               \
    F(void, destroy_prepare, (handle * statement))                                                                     \
    F(uint64_t, column_count, (struct result * result))                                                                \
    F(const char *, column_name, (struct result * result, uint64_t column))                                            \
    F(int, column_type, (struct result * result, uint64_t column))                                                     \
    F(handle, fetch_chunk, (struct result result))                                                                     \
    F(void, destroy_data_chunk, (handle * chunk))                                                                      \
    F(uint64_t, data_chunk_get_size, (handle chunk))                                                                   \
    F(void, data_chunk_set_size, (handle chunk, uint64_t rows))                                                        \
    F(handle, data_chunk_get_vector, (handle chunk, uint64_t column))                                                  \
    F(void *, vector_get_data, (handle vector))                                                                        \
    F(uint64_t *, vector_get_validity, (handle vector))                                                                \
    F(void, vector_ensure_validity_writable, (handle vector))                                                          \
    F(void, validity_set_row_invalid, (uint64_t * validity, uint64_t row))                                             \
    F(void, vector_assign_string_element_len, (handle vector, uint64_t row, const char *text, uint64_t bytes))         \
    F(handle, create_vector, (handle type, uint64_t rows))                                                             \
    F(void, destroy_vector, (handle * vector))                                                                         \
    F(void, vector_reference_vector, (handle vector, handle from))                                                     \
    F(void, vector_reference_value, (handle vector, handle value))                                                     \
    F(void, slice_vector, (handle vector, handle selection, uint64_t rows))                                            \
    F(handle, create_selection_vector, (uint64_t rows))                                                                \
    F(void, destroy_selection_vector, (handle selection))                                                              \
    F(uint32_t *, selection_vector_get_data_ptr, (handle selection))                                                   \
    F(handle, create_varchar_length, (const char *text, uint64_t bytes))                                               \
    F(void, destroy_value, (handle * value))                                                                           \
    F(handle, create_logical_type, (int type))                                                                         \
    F(void, destroy_logical_type, (handle * type))                                                                     \
    F(handle, create_table_function, (void))                                                                           \
    F(void, destroy_table_function, (handle * function))                                                               \
    F(void, table_function_set_name, (handle function, const char *name))                                              \
    F(void, table_function_set_extra_info, (handle function, void *data, destroy *end))                                \
    F(void, table_function_set_bind, (handle function, called * bind))                                                 \
    F(void, table_function_set_init, (handle function, called * init))                                                 \
    F(void, table_function_set_function, (handle function, called_with * run))                                         \
    F(void, table_function_supports_projection_pushdown, (handle function, bool does))                                 \
    F(int, register_table_function, (handle connection, handle function))                                              \
    F(void *, bind_get_extra_info, (handle info))                                                                      \
    F(void, bind_add_result_column, (handle info, const char *name, handle type))                                      \
    F(void, bind_set_bind_data, (handle info, void *data, destroy *end))                                               \
    F(void *, init_get_bind_data, (handle info))                                                                       \
    F(void, init_set_init_data, (handle info, void *data, destroy *end))                                               \
    F(uint64_t, init_get_column_count, (handle info))                                                                  \
    F(uint64_t, init_get_column_index, (handle info, uint64_t position))                                               \
    F(void, init_set_max_threads, (handle info, uint64_t threads))                                                     \
    F(void, init_set_error, (handle info, const char *text))                                                           \
    F(void *, function_get_bind_data, (handle info))                                                                   \
    F(void *, function_get_init_data, (handle info))                                                                   \
    F(void, function_set_error, (handle info, const char *text))

#define F(type, name, arguments) type(*name) arguments;
static struct {
    void *library;
    FUNCTIONS
} duck;
#undef F

static handle volatile running; /* the connection whose statement runs */

static bool find_functions(void)
{
    void *found;

#define F(type, name, arguments)                                                                                       \
    if (!(found = dlsym(duck.library, "duckdb_" #name)))                                                               \
        return false;                                                                                                  \
    memcpy(&duck.name, &found, sizeof(found));
    FUNCTIONS
#undef F
    return true;
}

bool pf_duckdb_load(const char *verb)
{
    static const char *const names[] = {"libduckdb.so", "libduckdb.so.2.0", "libduckdb.so.1"};
    const char *given = getenv("PERFILE_DUCKDB");

    if (duck.library)
        return true;
    if (given && *given)
        duck.library = dlopen(given, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; !duck.library && !(given && *given) && i < sizeof(names) / sizeof(names[0]); i++)
        duck.library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (duck.library && find_functions())
        return true;
    if (verb && duck.library)
        pf_message("%s: this libduckdb is too old", verb);
    else if (verb && given && *given)
        pf_message("%s: DuckDB cannot be loaded: %s", verb, dlerror());
    else if (verb)
        pf_message("%s: DuckDB is not installed: no libduckdb.so (PERFILE_DUCKDB=PATH says where one is)", verb);
    return false;
}

void pf_duckdb_stop(void)
{
    if (running)
        duck.interrupt(running);
}

/* ---- views as table functions -------------------------------------------------------------------------------------- */

enum { OURS = 2, BATCH = 2048 /* rows of a chunk */ };

struct relation {
    const struct pf_relation *of;
    struct pf_sources *sources;
    struct pf_fields fields;
    int *types; /* of the fields; owned */
    struct pf_pushed pushed;
};

/* A dictionary of texts as a vector, which columns of chunks are slices of; behind the texts it has a NULL. */
struct words {
    handle vector; /* NULL: none */
    const void *offsets, *texts;
    int64_t count;
};

/* One time that a relation is read. */
struct reading {
    struct relation *relation;
    struct pf_request request;
    bool *wanted;
    uint64_t *columns; /* of the chunk: of the function */
    struct words *words;
    uint64_t column_count;
    struct pf_scan scan;
    struct pf_batch batch;
    int64_t row; /* of the batch, that is next */
    bool has_batch, has_scan;
};

static int type_of(uint32_t type)
{
    switch (type) {
    case PERFILE_COLUMN_BOOL:
        return BOOLEAN;
    case PERFILE_COLUMN_I32:
        return INTEGER;
    case PERFILE_COLUMN_U32:
        return UINTEGER;
    case PERFILE_COLUMN_I64:
        return BIGINT;
    case PERFILE_COLUMN_F64:
        return DOUBLE;
    case PERFILE_COLUMN_TEXT:
    case PERFILE_COLUMN_TEXTS:
    case PERFILE_COLUMN_ADDRESSES:
        return VARCHAR;
    default:
        return UBIGINT;
    }
}

/* For values of both; integers are those of SQLite then. */
static int wider_type(int one, int other)
{
    return one == other                         ? one
           : one == VARCHAR || other == VARCHAR ? VARCHAR
           : one == DOUBLE || other == DOUBLE   ? DOUBLE
                                                : BIGINT;
}

/* Fields of one name may be of several types in several recordings. */
static int type_of_field(const struct relation *relation, size_t field)
{
    const struct pf_fields *fields = &relation->fields;
    int type = type_of(fields->all[field].type);

    for (size_t i = 0; i < relation->sources->count; i++) {
        const uint8_t other = fields->types[i * fields->count + field];
        if (other != PF_NO_FIELD)
            type = wider_type(type, type_of(other));
    }
    return type;
}

static void add_column(handle info, const char *name, int type)
{
    handle made = duck.create_logical_type(type);

    duck.bind_add_result_column(info, name, made);
    duck.destroy_logical_type(&made);
}

static void bind(handle info)
{
    struct relation *relation = duck.bind_get_extra_info(info);

    add_column(info, "recording", VARCHAR);
    add_column(info, "host", VARCHAR);
    for (size_t i = 0; i < relation->fields.count; i++)
        add_column(info, relation->fields.all[i].name, relation->types[i]);
    duck.bind_set_bind_data(info, relation, NULL);
}

static void end_reading(void *data)
{
    struct reading *reading = data;

    if (!reading)
        return;
    if (reading->has_batch)
        pf_batch_free(&reading->batch);
    if (reading->has_scan)
        pf_scan_end(&reading->scan);
    for (uint64_t i = 0; reading->words && i < reading->column_count; i++)
        if (reading->words[i].vector)
            duck.destroy_vector(&reading->words[i].vector);
    free(reading->wanted);
    free(reading->columns);
    free(reading->words);
    free(reading);
}

static void init(handle info)
{
    struct relation *relation = duck.init_get_bind_data(info);
    struct reading *reading = calloc(1, sizeof(*reading));

    if (reading) {
        reading->relation = relation;
        reading->column_count = duck.init_get_column_count(info);
        reading->columns = calloc(reading->column_count + 1, sizeof(*reading->columns));
        reading->words = calloc(reading->column_count + 1, sizeof(*reading->words));
        reading->wanted = calloc(relation->fields.count + 1, sizeof(*reading->wanted));
    }
    if (!reading || !reading->columns || !reading->words || !reading->wanted) {
        end_reading(reading);
        duck.init_set_error(info, "out of memory");
        return;
    }
    for (uint64_t i = 0; i < reading->column_count; i++) {
        reading->columns[i] = duck.init_get_column_index(info, i);
        if (reading->columns[i] >= OURS && reading->columns[i] - OURS < relation->fields.count)
            reading->wanted[reading->columns[i] - OURS] = true;
    }
    reading->request =
        (struct pf_request){.relation = relation->of, .fields = &relation->fields, .wanted = reading->wanted};
    pf_pushed_set(&relation->pushed, relation->sources, &reading->request);
    duck.init_set_max_threads(info, 1);
    duck.init_set_init_data(info, reading, end_reading);
}

/* A list is a JSON text, as it is to SQLite. */
static void put_list(const struct reading *reading, size_t field, int64_t row, handle vector, uint64_t at)
{
    struct pf_cell item;
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);

    if (!file)
        return;
    fputc('[', file);
    for (int64_t i = 0; pf_batch_element(&reading->batch, field, row, i, &item); i++) {
        fputs(i ? "," : "", file);
        if (item.kind == PF_CELL_INTEGER)
            fprintf(file, "%lld", (long long)item.integer);
        else if (item.kind != PF_CELL_TEXT)
            fputs("null", file);
        else
            fputc('"', file);
        for (size_t k = 0; item.kind == PF_CELL_TEXT && k < item.bytes; k++) {
            const unsigned char c = (unsigned char)item.text[k];
            if (c < ' ')
                fprintf(file, "\\u%04x", c);
            else if (c == '"' || c == '\\')
                fprintf(file, "\\%c", c);
            else
                fputc(c, file);
        }
        fputs(item.kind == PF_CELL_TEXT ? "\"" : "", file);
    }
    fputc(']', file);
    if (fclose(file) == 0)
        duck.vector_assign_string_element_len(vector, at, text, bytes);
    free(text);
}

static void put_null(handle vector, uint64_t at)
{
    duck.vector_ensure_validity_writable(vector);
    duck.validity_set_row_invalid(duck.vector_get_validity(vector), at);
}

static void put_text_of(const struct pf_cell *cell, handle vector, uint64_t at)
{
    char number[32];
    const char *text = cell->kind == PF_CELL_TEXT ? cell->text : number;
    size_t bytes = cell->bytes;

    if (cell->kind == PF_CELL_REAL)
        bytes = (size_t)snprintf(number, sizeof(number), "%.17g", cell->real);
    else if (cell->kind == PF_CELL_INTEGER)
        bytes = (size_t)snprintf(number, sizeof(number), "%lld", (long long)cell->integer);
    duck.vector_assign_string_element_len(vector, at, text, bytes);
}

static void put_cell(const struct reading *reading, size_t field, int64_t row, handle vector, uint64_t at)
{
    const int type = reading->relation->types[field];
    void *data = duck.vector_get_data(vector);
    struct pf_cell cell;

    pf_batch_cell(&reading->batch, field, row, &cell);
    if (cell.kind == PF_CELL_NULL)
        put_null(vector, at);
    else if (cell.kind == PF_CELL_LIST)
        put_list(reading, field, row, vector, at);
    else if (type == VARCHAR)
        put_text_of(&cell, vector, at);
    else if (type == BOOLEAN)
        ((bool *)data)[at] = cell.integer != 0;
    else if (type == DOUBLE)
        ((double *)data)[at] = cell.kind == PF_CELL_REAL ? cell.real : (double)cell.integer;
    else
        ((int64_t *)data)[at] = cell.integer;
}

/* ---- columns of a chunk -------------------------------------------------------------------------------------------- */

static void put_nulls(handle vector, uint64_t rows)
{
    for (uint64_t i = 0; i < rows; i++)
        put_null(vector, i);
}

/* The same in all rows. */
static void put_name(const char *name, handle vector, uint64_t rows)
{
    handle value = name ? duck.create_varchar_length(name, strlen(name)) : NULL;

    if (!value) {
        put_nulls(vector, rows);
        return;
    }
    duck.vector_reference_value(vector, value);
    duck.destroy_value(&value);
}

/* Of values that stand in memory as DuckDB has them; 0: they do not. */
static size_t width_of(int type, uint8_t from)
{
    const int other = type_of(from);

    if (type != other && !(type == BIGINT && other == UBIGINT))
        return 0;
    return type == INTEGER || type == UINTEGER                   ? sizeof(int32_t)
           : type == BIGINT || type == UBIGINT || type == DOUBLE ? sizeof(int64_t)
                                                                 : 0;
}

static void put_numbers(const struct ArrowArray *array, int64_t from, size_t width, handle vector, uint64_t rows)
{
    const uint8_t *valid = array->null_count ? array->buffers[0] : NULL;

    memcpy(duck.vector_get_data(vector), (const char *)array->buffers[1] + (size_t)from * width, rows * width);
    for (uint64_t i = 0; valid && i < rows; i++)
        if (!(valid[((uint64_t)from + i) / 8] >> ((uint64_t)from + i) % 8 & 1))
            put_null(vector, i);
}

/* Where many rows share few texts, these are given once for all batches that have the same ones. */
static bool has_words(const struct ArrowArray *array)
{
    return array->dictionary && array->dictionary->length <= array->length;
}

static handle make_words(const struct ArrowArray *texts)
{
    const int32_t *offsets = (const int32_t *)texts->buffers[1] + texts->offset;
    const char *text = texts->buffers[2];
    handle type = duck.create_logical_type(VARCHAR), vector = duck.create_vector(type, (uint64_t)texts->length + 1);

    duck.destroy_logical_type(&type);
    for (int64_t i = 0; vector && i < texts->length; i++)
        duck.vector_assign_string_element_len(vector, (uint64_t)i, text + offsets[i],
                                              (uint64_t)(offsets[i + 1] - offsets[i]));
    if (vector)
        put_null(vector, (uint64_t)texts->length);
    return vector;
}

/* What has the same place as that of the batch before, which is there still, is the same. */
static void find_words(struct words *words, const struct ArrowArray *array)
{
    const struct ArrowArray *texts = array->dictionary;

    if (words->vector && words->count == texts->length && words->offsets == texts->buffers[1] &&
        words->texts == texts->buffers[2])
        return;
    if (words->vector)
        duck.destroy_vector(&words->vector);
    *words = (struct words){make_words(texts), texts->buffers[1], texts->buffers[2], texts->length};
}

static void put_words(const struct words *words, const struct ArrowArray *array, int64_t from, handle vector,
                      uint64_t rows)
{
    handle selection = duck.create_selection_vector(rows);
    uint32_t *to = duck.selection_vector_get_data_ptr(selection);
    const int32_t *codes = (const int32_t *)array->buffers[1] + from;
    const uint8_t *valid = array->null_count ? array->buffers[0] : NULL;

    for (uint64_t i = 0; i < rows; i++) {
        const uint64_t at = (uint64_t)from + i;
        to[i] = valid && !(valid[at / 8] >> at % 8 & 1) ? (uint32_t)words->count : (uint32_t)codes[i];
    }
    duck.vector_reference_vector(vector, words->vector);
    duck.slice_vector(vector, selection, rows);
    duck.destroy_selection_vector(selection);
}

static void put_field(const struct reading *reading, uint64_t column, handle vector, uint64_t rows)
{
    const size_t field = reading->columns[column] - OURS;
    const struct ArrowArray *array = reading->batch.columns[field];
    const size_t width = width_of(reading->relation->types[field], reading->batch.types[field]);

    if (!array)
        put_nulls(vector, rows);
    else if (reading->words[column].vector)
        put_words(&reading->words[column], array, array->offset + reading->row, vector, rows);
    else if (width)
        put_numbers(array, array->offset + reading->row, width, vector, rows);
    else
        for (uint64_t row = 0; row < rows; row++)
            put_cell(reading, field, reading->row + (int64_t)row, vector, row);
}

static void put_rows(const struct reading *reading, handle chunk, uint64_t rows)
{
    for (uint64_t i = 0; i < reading->column_count; i++) {
        const uint64_t column = reading->columns[i];
        if (column >= OURS + reading->relation->fields.count)
            continue; /* DuckDB asks for a number of rows alone */
        handle vector = duck.data_chunk_get_vector(chunk, i);
        if (column < OURS)
            put_name(column ? reading->batch.source->host : reading->batch.source->name, vector, rows);
        else
            put_field(reading, i, vector, rows);
    }
}

static void find_all_words(struct reading *reading)
{
    for (uint64_t i = 0; i < reading->column_count; i++) {
        const uint64_t field = reading->columns[i] - OURS;
        const bool is_field = reading->columns[i] >= OURS && field < reading->relation->fields.count;
        const struct ArrowArray *array = is_field ? reading->batch.columns[field] : NULL;
        if (array && has_words(array))
            find_words(&reading->words[i], array);
        else if (reading->words[i].vector)
            duck.destroy_vector(&reading->words[i].vector);
    }
}

/* 1, 0 at the end, or an error. */
static int next_batch(struct reading *reading)
{
    struct pf_batch before = reading->batch;
    const int result = pf_scan_next(&reading->scan, &reading->batch);

    reading->row = 0;
    if (result > 0)
        find_all_words(reading);
    if (reading->has_batch)
        pf_batch_free(&before);
    reading->has_batch = result > 0;
    return result;
}

static void give_rows(handle info, handle chunk)
{
    struct reading *reading = duck.function_get_init_data(info);
    struct pf_sources *sources = reading->relation->sources;
    int result = 1;

    if (!reading->has_scan)
        pf_scan_start(&reading->scan, sources, &reading->request);
    reading->has_scan = true;
    while (result > 0 && (!reading->has_batch || reading->row == reading->batch.array.length))
        result = next_batch(reading);
    if (result < 0)
        duck.function_set_error(info, sources->error.message);
    const int64_t left = reading->has_batch ? reading->batch.array.length - reading->row : 0;
    const uint64_t rows = left < BATCH ? (uint64_t)left : BATCH;
    if (rows)
        put_rows(reading, chunk, rows);
    reading->row += (int64_t)rows;
    duck.data_chunk_set_size(chunk, rows);
}

/* ---- tables -------------------------------------------------------------------------------------------------------- */

struct engine {
    struct pf_sources *sources;
    handle db, connection, statement;
    struct relation *relations; /* owned */
    size_t relation_count;
    struct result result;
    bool has_result;
    char error[512];
};

/*
 * Where in the statement it is: "LINE 1: SELECT a FROM samples", and in the next line a caret below it. Of a long line only some
 * is shown, with "..." before it: then nobody knows the column.
 */
static void put_position(const char *why, char *text, size_t bytes)
{
    const char *line = strstr(why, "\nLINE "), *shown = line ? strstr(line, ": ") : NULL;
    const char *next = shown ? strchr(shown, '\n') : NULL, *caret = next ? strchr(next, '^') : NULL;
    const long prefix = shown ? shown + 2 - (line + 1) : 0;

    *text = 0;
    if (caret && strncmp(shown + 2, "...", 3) != 0 && caret - next > prefix)
        snprintf(text, bytes, " at %d:%ld", atoi(line + strlen("\nLINE ")), caret - next - prefix);
}

/* What it shows of the statement is left out. */
static void take_error(struct engine *engine, const char *why)
{
    char position[64];

    if (!why || !*why)
        why = "DuckDB fails";
    put_position(why, position, sizeof(position));
    snprintf(engine->error, sizeof(engine->error), "%.*s%s", (int)strcspn(why, "\r\n"), why, position);
}

static bool run(struct engine *engine, const char *sql)
{
    struct result result = {0};
    const bool is_ok = duck.query(engine->connection, sql, &result) == 0;

    if (!is_ok)
        take_error(engine, duck.result_error(&result));
    duck.destroy_result(&result);
    return is_ok;
}

/* The statement has this word. */
static bool names(const char *sql, const char *word)
{
    const size_t bytes = strlen(word);

    for (const char *at = sql; *at; at++) {
        const bool begins = at == sql || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        if (begins && !strncasecmp(at, word, bytes) && !(isalnum((unsigned char)at[bytes]) || at[bytes] == '_'))
            return true;
    }
    return false;
}

/* SELECT * has the columns that are shown, and of the others those that the statement names. */
static char *make_view(const struct relation *relation, const char *sql)
{
    const struct pf_fields *fields = &relation->fields;
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);

    if (!file)
        return NULL;
    fprintf(file, "CREATE VIEW \"%s\" AS SELECT recording, host", relation->of->name);
    for (size_t i = 0; i < fields->count; i++)
        if (fields->all[i].shown || names(sql, fields->all[i].name))
            fprintf(file, ", \"%s\"", fields->all[i].name);
    fprintf(file, " FROM \"perfile_%s\"()", relation->of->name);
    if (fclose(file) == 0)
        return text;
    free(text);
    return NULL;
}

static bool add_relation(struct engine *engine, const struct pf_relation *of, const char *sql)
{
    struct relation *relation = &engine->relations[engine->relation_count];
    char name[64], *view;
    bool is_ok;

    *relation = (struct relation){.of = of, .sources = engine->sources};
    if (pf_fields_find(engine->sources, of, &relation->fields) < 0)
        return false;
    engine->relation_count++;
    if (!(relation->types = calloc(relation->fields.count + 1, sizeof(*relation->types))))
        return false;
    for (size_t i = 0; i < relation->fields.count; i++)
        relation->types[i] = type_of_field(relation, i);
    pf_pushed_parse(&relation->pushed, engine->sources, of, &relation->fields, sql);
    snprintf(name, sizeof(name), "perfile_%s", of->name);
    handle function = duck.create_table_function();
    duck.table_function_set_name(function, name);
    duck.table_function_set_extra_info(function, relation, NULL);
    duck.table_function_set_bind(function, bind);
    duck.table_function_set_init(function, init);
    duck.table_function_set_function(function, give_rows);
    duck.table_function_supports_projection_pushdown(function, true);
    is_ok = duck.register_table_function(engine->connection, function) == 0;
    duck.destroy_table_function(&function);
    view = is_ok ? make_view(relation, sql) : NULL;
    is_ok = view && run(engine, view);
    free(view);
    return is_ok;
}

/* Those that the statement names. */
static bool add_relations(struct engine *engine, const char *sql)
{
    const struct pf_relation *relation;
    size_t count = 0;

    while (pf_relation_at(count))
        count++;
    engine->relations = calloc(count + 1, sizeof(*engine->relations));
    for (size_t i = 0; engine->relations && (relation = pf_relation_at(i)) != NULL; i++)
        if (names(sql, relation->name) && !add_relation(engine, relation, sql))
            return false;
    return engine->relations;
}

/* ---- Parquet ------------------------------------------------------------------------------------------------------- */

static bool ends_in(const char *text, const char *end)
{
    const size_t bytes = strlen(text), wanted = strlen(end);

    return bytes > wanted && !strcmp(text + bytes - wanted, end);
}

static bool exists(const char *folder, const char *name)
{
    char *path = NULL;
    struct stat status;
    const bool is_there = asprintf(&path, "%s/%s", folder, name) >= 0 && stat(path, &status) == 0;

    free(path);
    return is_there;
}

/* A folder of export: its tables, or folders of recordings with them. */
static bool has_tables(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    bool any = exists(path, "_perfile/dataset");

    while (folder && !any && (entry = readdir(folder)) != NULL)
        any = ends_in(entry->d_name, ".parquet") || !strncmp(entry->d_name, "recording=", strlen("recording="));
    if (folder)
        closedir(folder);
    return any;
}

bool pf_duckdb_reads(const char *path)
{
    struct stat status;

    if (stat(path, &status) != 0)
        return false;
    return S_ISDIR(status.st_mode) ? has_tables(path) : ends_in(path, ".parquet");
}

/* 'it''s'. */
static void put_quoted(FILE *file, const char *path, const char *behind)
{
    fputc('\'', file);
    for (; *path; path++)
        fprintf(file, *path == '\'' ? "''" : strchr("*?[", *path) ? "[%c]" : "%c", *path);
    fprintf(file, "%s'", behind);
}

/* Of a table; false: `path` has it not. */
static bool put_pattern(FILE *file, const char *path, const char *table, bool first)
{
    char below[160], *name = NULL;
    struct stat status;
    bool has = false;

    if (stat(path, &status) != 0)
        return false;
    if (!S_ISDIR(status.st_mode)) {
        const char *slash = strrchr(path, '/'), *file_name = slash ? slash + 1 : path;
        has = strlen(file_name) == strlen(table) + strlen(".parquet") && !strncmp(file_name, table, strlen(table));
        *below = 0;
    } else if (exists(path, "_perfile/dataset")) {
        has = exists(path, table);
        snprintf(below, sizeof(below), "/%s/**/*.parquet", table);
    } else if (asprintf(&name, "%s.parquet", table) >= 0) {
        const bool is_flat = exists(path, name);
        has = is_flat || !exists(path, "samples.parquet"); /* else of several recordings */
        snprintf(below, sizeof(below), is_flat ? "/%s.parquet" : "/*/%s.parquet", table);
    }
    free(name);
    if (has) {
        fputs(first ? "" : ", ", file);
        put_quoted(file, path, below);
    }
    return has;
}

static bool add_files(struct engine *engine, char **paths, size_t count, const char *table)
{
    char *sql = NULL;
    size_t bytes = 0, found = 0;
    FILE *file = open_memstream(&sql, &bytes);

    if (!file)
        return false;
    fprintf(file, "CREATE VIEW \"%s\" AS SELECT * FROM read_parquet([", table);
    for (size_t i = 0; i < count; i++)
        found += put_pattern(file, paths[i], table, !found);
    fputs("], hive_partitioning = true, union_by_name = true)", file);
    const bool is_ok = fclose(file) == 0 && (!found || run(engine, sql));
    free(sql);
    return is_ok;
}

/* Tables that the statement names: those of views, and of files by their names. */
static bool add_all_files(struct engine *engine, char **paths, size_t count, const char *sql)
{
    const struct pf_relation *relation;

    for (size_t i = 0; (relation = pf_relation_at(i)) != NULL; i++)
        if (names(sql, relation->name) && !add_files(engine, paths, count, relation->name))
            return false;
    for (size_t i = 0; i < count; i++) {
        const char *slash = strrchr(paths[i], '/'), *name = slash ? slash + 1 : paths[i];
        char *table = ends_in(name, ".parquet") ? strndup(name, strlen(name) - strlen(".parquet")) : NULL;
        const bool is_new = table && !pf_relation_find(table) && names(sql, table);
        const bool is_ok = !is_new || add_files(engine, paths + i, 1, table);
        free(table);
        if (!is_ok)
            return false;
    }
    return true;
}

/* ---- results ------------------------------------------------------------------------------------------------------- */

struct field {
    struct perfile_column column;
    int type;
};

struct rows {
    struct engine *engine;
    struct field *fields;
    const struct perfile_column **columns;
    uint64_t count;
    handle chunk;
    uint64_t row, size; /* of the chunk: that is given, plus 1 */
};

static uint32_t column_type(int type)
{
    switch (type) {
    case BOOLEAN:
        return PERFILE_COLUMN_BOOL;
    case INTEGER:
        return PERFILE_COLUMN_I32;
    case UINTEGER:
        return PERFILE_COLUMN_U32;
    case BIGINT:
        return PERFILE_COLUMN_I64;
    case UBIGINT:
        return PERFILE_COLUMN_U64;
    case DOUBLE:
        return PERFILE_COLUMN_F64;
    default:
        return PERFILE_COLUMN_TEXT;
    }
}

static int next_row(void *context, struct perfile_error *error)
{
    struct rows *rows = context;

    while (rows->row == rows->size) {
        if (*rows->engine->sources->stopped) {
            *error->message = 0;
            return PERFILE_ERROR_STOPPED;
        }
        if (rows->chunk)
            duck.destroy_data_chunk(&rows->chunk);
        rows->chunk = duck.fetch_chunk(rows->engine->result);
        rows->row = 0;
        rows->size = rows->chunk ? duck.data_chunk_get_size(rows->chunk) : 0;
        if (!rows->chunk)
            return 0;
    }
    rows->row++;
    return 1;
}

static void put_text(const void *data, uint64_t row, struct perfile_value *value)
{
    enum { BYTES = 16, INLINED = 12 };
    const uint8_t *at = (const uint8_t *)data + row * BYTES;
    uint32_t bytes;

    memcpy(&bytes, at, sizeof(bytes));
    value->kind = PERFILE_VALUE_TEXT;
    value->bytes = bytes;
    if (bytes <= INLINED)
        value->data = at + sizeof(bytes);
    else
        memcpy(&value->data, at + 8, sizeof(value->data));
}

static void put_value(void *context, size_t column, struct perfile_value *value)
{
    const struct rows *rows = context;
    const uint64_t row = rows->row - 1;
    handle vector = duck.data_chunk_get_vector(rows->chunk, column);
    const uint64_t *valid = duck.vector_get_validity(vector);
    const void *data = duck.vector_get_data(vector);

    *value = (struct perfile_value){.kind = PERFILE_VALUE_NULL};
    if (valid && !(valid[row / 64] >> row % 64 & 1))
        return;
    switch (rows->fields[column].type) {
    case BOOLEAN:
        value->kind = PERFILE_VALUE_BOOL;
        value->number.u = ((const bool *)data)[row];
        return;
    case INTEGER:
        value->kind = PERFILE_VALUE_SIGNED;
        value->number.s = ((const int32_t *)data)[row];
        return;
    case UINTEGER:
        value->kind = PERFILE_VALUE_UNSIGNED;
        value->number.u = ((const uint32_t *)data)[row];
        return;
    case BIGINT:
    case UBIGINT:
        value->kind = rows->fields[column].type == BIGINT ? PERFILE_VALUE_SIGNED : PERFILE_VALUE_UNSIGNED;
        value->number.u = ((const uint64_t *)data)[row];
        return;
    case DOUBLE:
        value->kind = PERFILE_VALUE_DOUBLE;
        value->number.d = ((const double *)data)[row];
        return;
    default:
        put_text(data, row, value);
    }
}

/* Nothing of it runs before it is known to read alone. */
static bool prepare(struct engine *engine, const char *sql)
{
    if (engine->has_result)
        duck.destroy_result(&engine->result);
    if (engine->statement)
        duck.destroy_prepare(&engine->statement);
    engine->has_result = false;
    if (duck.prepare(engine->connection, sql, &engine->statement) != 0) {
        take_error(engine, duck.prepare_error(engine->statement));
        return false;
    }
    if (duck.prepared_statement_type(engine->statement) == STATEMENT_SELECT)
        return true;
    snprintf(engine->error, sizeof(engine->error), "refused: a statement can only read (SELECT)");
    return false;
}

static bool execute(struct engine *engine, const char *sql)
{
    if (!prepare(engine, sql))
        return false;
    engine->has_result = true;
    if (duck.execute_prepared(engine->statement, &engine->result) == 0)
        return true;
    take_error(engine, duck.result_error(&engine->result));
    return false;
}

/* What tables have no type for becomes one that they have; NULL: nothing has to. */
static const char *cast_of(int type)
{
    static const struct {
        int type;
        const char *to;
    } casts[] = {{TINYINT, "INTEGER"}, {SMALLINT, "INTEGER"}, {UTINYINT, "INTEGER"}, {USMALLINT, "INTEGER"},
                 {FLOAT, "DOUBLE"},    {HUGEINT, "BIGINT"},   {UHUGEINT, "UBIGINT"}, {DECIMAL, "DOUBLE"}};
    for (size_t i = 0; i < sizeof(casts) / sizeof(casts[0]); i++)
        if (casts[i].type == type)
            return casts[i].to;
    return column_type(type) == PERFILE_COLUMN_TEXT && type != VARCHAR ? "VARCHAR" : NULL;
}

/* The statement without rows, for its types; and with casts around its columns. NULL: out of memory. */
static char *make_around(struct engine *engine, const char *sql, bool is_for_types)
{
    const uint64_t count = is_for_types ? 0 : duck.column_count(&engine->result);
    size_t bytes = strlen(sql), room = 0;
    char *text = NULL;
    FILE *file = open_memstream(&text, &room);

    if (!file)
        return NULL;
    while (bytes && strchr("; \t\r\n", sql[bytes - 1]))
        bytes--;
    fputs(is_for_types ? "SELECT *" : "SELECT ", file);
    for (uint64_t i = 0; i < count; i++) {
        const char *to = cast_of(duck.column_type(&engine->result, i));
        fprintf(file, "%s%sc%llu%s%s%s", i ? ", " : "", to ? "CAST(" : "", (unsigned long long)i, to ? " AS " : "",
                to ? to : "", to ? ")" : "");
    }
    fprintf(file, " FROM (%.*s\n) AS statement%s", (int)bytes, sql, is_for_types ? " LIMIT 0" : "(");
    for (uint64_t i = 0; i < count; i++)
        fprintf(file, "%sc%llu%s", i ? ", " : "", (unsigned long long)i, i + 1 == count ? ")" : "");
    if (fclose(file) == 0)
        return text;
    free(text);
    return NULL;
}

static bool execute_around(struct engine *engine, const char *sql, bool is_for_types)
{
    char *around = make_around(engine, sql, is_for_types);
    const bool is_ok = around && execute(engine, around);

    free(around);
    return is_ok;
}

static void free_rows(struct rows *rows)
{
    if (rows->chunk)
        duck.destroy_data_chunk(&rows->chunk);
    for (uint64_t i = 0; rows->fields && i < rows->count; i++)
        free((char *)rows->fields[i].column.name);
    free(rows->fields);
    free(rows->columns);
}

/* "count(*)", and a second one of this name "count(*)_2". */
static char *name_of(struct engine *engine, uint64_t column)
{
    const char *name = duck.column_name(&engine->result, column);
    size_t same = 1;
    char *made = NULL;

    for (uint64_t i = 0; name && i < column; i++)
        same += !strcmp(duck.column_name(&engine->result, i), name);
    if (!name || (same == 1 ? asprintf(&made, "%s", name) : asprintf(&made, "%s_%zu", name, same)) < 0)
        return NULL;
    return made;
}

static bool name_columns(struct rows *rows)
{
    rows->count = duck.column_count(&rows->engine->result);
    rows->fields = calloc(rows->count + 1, sizeof(*rows->fields));
    rows->columns = calloc(rows->count + 1, sizeof(*rows->columns));
    for (uint64_t i = 0; rows->fields && rows->columns && i < rows->count; i++) {
        struct field *field = &rows->fields[i];
        field->column = (struct perfile_column)PERFILE_COLUMN_INIT;
        if (!(field->column.name = name_of(rows->engine, i)))
            return false;
        field->column.unit = field->column.doc = "";
        rows->columns[i] = &field->column;
    }
    return rows->fields && rows->columns;
}

static void type_columns(struct rows *rows)
{
    for (uint64_t i = 0; i < rows->count; i++) {
        rows->fields[i].type = duck.column_type(&rows->engine->result, i);
        rows->fields[i].column.type = column_type(rows->fields[i].type);
    }
}

static int complain(struct engine *engine)
{
    const struct pf_sources *sources = engine->sources;
    const char *verb = sources->inputs.command->name;

    pf_progress_clear();
    if (*sources->stopped)
        return PF_STATUS_OUTPUT; /* the signal says it */
    if (sources->code)
        return pf_sources_complain(sources);
    pf_message("%s: %s", verb, *engine->error ? engine->error : "out of memory");
    return *engine->error ? PF_STATUS_USAGE : PF_STATUS_MEMORY;
}

static int write_result(struct engine *engine, const char *sql, struct pf_stream *out)
{
    struct perfile_rows from = PERFILE_ROWS_INIT;
    struct rows rows = {.engine = engine};
    int status;

    if (prepare(engine, sql) && execute_around(engine, sql, true) && name_columns(&rows) &&
        execute_around(engine, sql, false)) {
        type_columns(&rows);
        from.view = "query";
        from.columns = rows.columns;
        from.column_count = rows.count;
        from.next = next_row;
        from.value = put_value;
        from.context = &rows;
        pf_progress_clear();
        status =
            pf_stream_put_rows(out, engine->sources->inputs.command->name, &from, engine->sources->settings->format);
    } else {
        status = complain(engine);
    }
    free_rows(&rows);
    return status;
}

/* ---- statements ---------------------------------------------------------------------------------------------------- */

/* One thread: the recordings are read by threads of their own. Nothing is fetched from elsewhere. */
static bool open_engine(struct engine *engine, bool reads_files)
{
    const char *const settings[][2] = {{"threads", "1"},
                                       {"autoinstall_known_extensions", "false"},
                                       {"autoload_known_extensions", "false"},
                                       {"enable_external_access", reads_files ? "true" : "false"},
                                       {"temp_directory", ""}};
    handle config = NULL;
    char *error = NULL;
    bool is_ok = duck.create_config(&config) == 0;

    for (size_t i = 0; is_ok && i < sizeof(settings) / sizeof(settings[0]); i++)
        (void)duck.set_config(config, settings[i][0], settings[i][1]);
    is_ok = is_ok && duck.open_ext(":memory:", &engine->db, config, &error) == 0;
    if (error) {
        take_error(engine, error);
        duck.free(error);
    }
    duck.destroy_config(&config);
    return is_ok && duck.connect(engine->db, &engine->connection) == 0;
}

static void close_engine(struct engine *engine)
{
    running = NULL;
    if (engine->has_result)
        duck.destroy_result(&engine->result);
    if (engine->statement)
        duck.destroy_prepare(&engine->statement);
    if (engine->connection)
        duck.disconnect(&engine->connection);
    if (engine->db)
        duck.close(&engine->db);
    for (size_t i = 0; i < engine->relation_count; i++) {
        pf_fields_free(&engine->relations[i].fields);
        pf_pushed_free(&engine->relations[i].pushed);
        free(engine->relations[i].types);
    }
    free(engine->relations);
}

int pf_duckdb_run_files(struct pf_sources *sources, char **paths, size_t count, const char *sql, struct pf_stream *out)
{
    struct engine engine = {.sources = sources};
    bool is_ok = open_engine(&engine, paths != NULL);
    int status;

    running = engine.connection;
    is_ok = is_ok && (paths ? add_all_files(&engine, paths, count, sql) : add_relations(&engine, sql));
    status = is_ok ? write_result(&engine, sql, out) : complain(&engine);
    close_engine(&engine);
    return status;
}

int pf_duckdb_run(struct pf_sources *sources, const char *sql, struct pf_stream *out)
{
    return pf_duckdb_run_files(sources, NULL, 0, sql, out);
}
