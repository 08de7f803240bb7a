/* SPDX-License-Identifier: MIT */
#include "source.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct pf_distinct pf_distinct[PF_DISTINCT] = {
    {"distinct_stacks", "stacks", "stack", "stack_id", "each stack once, for joins by stack_id"},
    {"distinct_functions", "frames", "function", "function_id", "each function once, for joins by function_id"},
};

/* ---- sources ----------------------------------------------------------------------------------------------------- */

int pf_sources_fail(struct pf_sources *sources, const struct pf_source *source, int code,
                    const struct perfile_error *error)
{
    sources->code = code;
    sources->failed = source;
    if (error)
        sources->error = *error;
    else
        snprintf(sources->error.message, sizeof(sources->error.message), "out of memory");
    return code;
}

static int fail_memory(struct pf_sources *sources)
{
    return pf_sources_fail(sources, NULL, PERFILE_ERROR_MEMORY, NULL);
}

int pf_sources_complain(const struct pf_sources *sources)
{
    const int code = sources->code;

    if (!sources->failed || code == PERFILE_ERROR_MEMORY)
        return pf_out_of_memory(sources->inputs.command->name);
    if (sources->failed->lent)
        pf_message("%s: %s", sources->failed->argument, sources->error.message);
    else /* the message names the file */
        pf_message("%s", sources->error.message);
    return code == PERFILE_ERROR_ARGUMENT || code == PERFILE_ERROR_ABSENT ? PF_STATUS_USAGE : PF_STATUS_UNREADABLE;
}

const struct pf_relation *pf_relation_find(const struct pf_sources *sources, const char *name)
{
    for (size_t i = 0; i < sources->relation_count; i++)
        if (!strcasecmp(sources->relations[i].name, name))
            return &sources->relations[i];
    return NULL;
}

bool pf_key_add(struct pf_sources *sources, const char *name)
{
    struct pf_key *keys = realloc(sources->keys, (sources->key_count + 1) * sizeof(*keys));

    if (!keys)
        return false;
    sources->keys = keys;
    keys[sources->key_count] = (struct pf_key){.name = strdup(name)};
    return keys[sources->key_count++].name;
}

bool pf_source_init(struct pf_sources *sources, struct pf_source *source, const char *argument)
{
    source->argument = argument;
    source->keys = calloc(sources->key_count, sizeof(*source->keys));
    for (size_t i = 0; source->keys && i < sources->key_count; i++)
        source->keys[i].kind = PF_CELL_OTHER;
    return source->keys;
}

bool pf_source_set_key(struct pf_source *source, size_t key, const char *text)
{
    struct pf_cell *cell = &source->keys[key];

    *cell = (struct pf_cell){.kind = PF_CELL_NULL};
    if (!text)
        return true;
    cell->kind = PF_CELL_TEXT;
    cell->bytes = strlen(text);
    return (cell->text = strdup(text)) != NULL;
}

static void free_source(const struct pf_sources *sources, struct pf_source *source)
{
    for (struct pf_lent *lent = source->lent, *next; lent; lent = next) {
        next = lent->next;
        perfile_close(lent->input.reader);
        free(lent);
    }
    for (size_t i = 0; source->keys && i < sources->key_count; i++)
        free((char *)source->keys[i].text);
    for (size_t i = 0; i < source->path_count; i++)
        free(source->paths[i]);
    free(source->keys);
    free(source->paths);
}

void pf_sources_free(struct pf_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++)
        free_source(sources, &sources->each[i]);
    for (size_t i = 0; i < sources->relation_count; i++)
        free(sources->relations[i].name);
    for (size_t i = 0; i < sources->key_count; i++)
        free(sources->keys[i].name);
    for (size_t i = 0; i < sources->path_count; i++)
        free(sources->paths[i]);
    free(sources->each);
    free(sources->relations);
    free(sources->keys);
    free(sources->paths);
    pf_inputs_close(&sources->inputs);
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

static size_t find_field(const struct pf_fields *fields, const char *name)
{
    size_t i = 0;

    while (i < fields->count && strcasecmp(fields->all[i].name, name) != 0) /* as SQL compares names */
        i++;
    return i;
}

static bool add_field(struct pf_fields *fields, const char *name, uint32_t type, bool shown, size_t sources)
{
    struct pf_field *all = realloc(fields->all, (fields->count + 1) * sizeof(*all));
    uint8_t *types;

    if (!all)
        return false;
    fields->all = all;
    types = realloc(fields->types, (fields->count + 1) * sources + 1); /* a row for each field while they are found */
    if (!types)
        return false;
    fields->types = types;
    memset(types + fields->count * sources, PF_NO_FIELD, sources);
    all[fields->count] = (struct pf_field){strdup(name), type, shown};
    return all[fields->count].name && ++fields->count;
}

static bool add_keys(struct pf_fields *fields, const struct pf_sources *sources, const struct pf_relation *relation)
{
    for (size_t i = 0; i < relation->key_count; i++)
        if (!add_field(fields, sources->keys[i].name,
                       sources->keys[i].is_number ? PERFILE_COLUMN_I64 : PERFILE_COLUMN_TEXT, true,
                       relation->source_count))
            return false;
    return true;
}

static int add_fields(struct pf_fields *fields, const struct perfile_table *table, size_t source, size_t sources)
{
    struct perfile_column column = PERFILE_COLUMN_INIT;
    int result = 0;

    for (size_t i = 0; i < perfile_table_column_count(table) && !result; i++) {
        if ((result = perfile_table_column(table, i, &column)) < 0)
            continue;
        const size_t at = find_field(fields, column.name);
        if (at == fields->count && !add_field(fields, column.name, column.type, column.shown, sources))
            return PERFILE_ERROR_MEMORY;
        fields->types[at * sources + source] = (uint8_t)column.type;
    }
    return result;
}

/* Transposes the table: from a row for each field to a row for each source. */
static bool turn(struct pf_fields *fields, size_t sources)
{
    uint8_t *types = malloc(fields->count * sources + 1);

    if (!types)
        return false;
    for (size_t i = 0; i < fields->count; i++)
        for (size_t j = 0; j < sources; j++)
            types[j * fields->count + i] = fields->types[i * sources + j];
    free(fields->types);
    fields->types = types;
    return true;
}

/* The types of one source are those of all. */
static void repeat_types(struct pf_fields *fields, size_t source, size_t sources)
{
    for (size_t i = 0; i < fields->count; i++)
        memset(fields->types + i * sources, fields->types[i * sources + source], sources);
}

/* 1: it has columns; 0: it cannot be read, which is an error once its rows are; or an error. */
static int find_of_source(struct pf_sources *sources, const struct pf_relation *relation, size_t source,
                          struct pf_fields *fields)
{
    struct pf_opened opened = {.source = &relation->sources[source]};
    int result = sources->kind->open(sources, relation, NULL, &opened);

    if (result < 0 && result != PERFILE_ERROR_MEMORY && sources->kind->has_files)
        return 0;
    if (result < 0)
        return result;
    result = add_fields(fields, opened.table, source, relation->source_count);
    sources->kind->close(&opened);
    return result < 0 ? result : 1;
}

int pf_fields_find(struct pf_sources *sources, const struct pf_relation *relation, struct pf_fields *fields)
{
    bool any = false;
    int result = 0;

    *fields = (struct pf_fields){0};
    if (!add_keys(fields, sources, relation))
        return fail_memory(sources);
    for (size_t i = 0; i < relation->source_count && result >= 0 && !(any && relation->is_uniform); i++) {
        result = find_of_source(sources, relation, i, fields);
        any |= result > 0;
        if (result > 0 && relation->is_uniform)
            repeat_types(fields, i, relation->source_count);
    }
    if (result >= 0 && !any && relation->source_count)
        return sources->code;
    if (result >= 0 && !turn(fields, relation->source_count))
        result = PERFILE_ERROR_MEMORY;
    if (result == PERFILE_ERROR_MEMORY)
        return fail_memory(sources);
    if (result >= 0)
        sources->code = 0;
    return result < 0 ? result : 0;
}

void pf_fields_free(struct pf_fields *fields)
{
    for (size_t i = 0; i < fields->count; i++)
        free(fields->all[i].name);
    free(fields->all);
    free(fields->types);
    *fields = (struct pf_fields){0};
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

void pf_scan_start(struct pf_scan *scan, struct pf_sources *sources, const struct pf_request *request)
{
    *scan = (struct pf_scan){.sources = sources, .request = request};
}

/* The column of a source has another type than when the columns were looked for. */
static int fail_type(struct pf_scan *scan, const char *name)
{
    struct perfile_error error = {0};
    const struct pf_source *source = scan->opened.source;

    snprintf(error.message, sizeof(error.message), "%.140s: its column %.60s has another type than in other files",
             source->path_count ? source->paths[0] : source->argument, name);
    return pf_sources_fail(scan->sources, source, PERFILE_ERROR_UNSUPPORTED, &error);
}

/* The columns of the batch by field. */
static int match_columns(struct pf_scan *scan, struct pf_batch *batch)
{
    const struct pf_fields *fields = scan->request->fields;
    const uint8_t *known = fields->types + (scan->next - 1) * fields->count;
    struct perfile_column column = PERFILE_COLUMN_INIT;

    memset(batch->types, PF_NO_FIELD, fields->count);
    for (size_t i = 0; i < (size_t)batch->array.n_children; i++) {
        const int result = perfile_table_column(scan->opened.table, i, &column);
        const size_t field = result < 0 ? fields->count : find_field(fields, column.name);
        if (field == fields->count)
            continue;
        if (column.type != (known[field] == PF_NO_FIELD ? fields->all[field].type : known[field]))
            return fail_type(scan, column.name);
        batch->columns[field] = batch->array.children[i];
        batch->types[field] = (uint8_t)column.type;
    }
    return 1;
}

static int fill_batch(struct pf_scan *scan, struct pf_batch *batch)
{
    const size_t count = scan->request->fields->count;
    int result;

    batch->source = scan->opened.source;
    batch->key_count = scan->request->relation->key_count;
    batch->columns = calloc(count + 1, sizeof(*batch->columns) + 1);
    batch->types = (uint8_t *)(batch->columns + count + 1);
    result = batch->columns ? match_columns(scan, batch) : fail_memory(scan->sources);
    if (result < 0)
        pf_batch_free(batch);
    return result;
}

static void close_source(struct pf_scan *scan)
{
    if (scan->opened.table)
        scan->sources->kind->close(&scan->opened);
    scan->opened = (struct pf_opened){0};
}

/* 1, or 0 after the last source. */
static int open_next(struct pf_scan *scan)
{
    const struct pf_request *request = scan->request;
    const struct pf_relation *relation = request->relation;

    while (scan->next < relation->source_count && request->selected && !request->selected[scan->next])
        scan->next++;
    if (scan->next == relation->source_count)
        return 0;
    if (scan->sources->shows_progress && scan->sources->kind->has_files)
        pf_progress_update(&scan->sources->progress, scan->next, relation->source_count);
    scan->opened.source = &relation->sources[scan->next++];
    const int result = scan->sources->kind->open(scan->sources, relation, request, &scan->opened);
    return result < 0 ? result : 1;
}

int pf_scan_next(struct pf_scan *scan, struct pf_batch *batch)
{
    struct perfile_error error = {0};
    int result;

    for (;;) {
        if (*scan->sources->stopped)
            return pf_sources_fail(scan->sources, NULL, PERFILE_ERROR_STOPPED, &error);
        if (!scan->opened.table && (result = open_next(scan)) <= 0)
            return result;
        *batch = (struct pf_batch){0};
        result = perfile_table_next(scan->opened.table, &batch->array, &error);
        if (result > 0)
            return fill_batch(scan, batch);
        struct pf_source *source = scan->opened.source;
        close_source(scan);
        source->was_asked |= !scan->request->is_pushed;
        if (result < 0)
            return pf_sources_fail(scan->sources, source, result, &error);
    }
}

void pf_scan_end(struct pf_scan *scan)
{
    close_source(scan);
}

void pf_batch_free(struct pf_batch *batch)
{
    if (batch->array.release)
        batch->array.release(&batch->array);
    free(batch->columns);
    *batch = (struct pf_batch){0};
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static bool is_null(const struct ArrowArray *array, int64_t at)
{
    const uint8_t *valid = array->buffers[0];

    return valid && !(valid[at / 8] >> (at % 8) & 1);
}

static void put_text(const struct ArrowArray *array, int64_t at, struct pf_cell *cell)
{
    const struct ArrowArray *words = array->dictionary;
    const int32_t word = ((const int32_t *)array->buffers[1])[at];
    const int32_t *offsets = (const int32_t *)words->buffers[1] + words->offset;

    cell->kind = PF_CELL_TEXT;
    cell->text = (const char *)words->buffers[2] + offsets[word];
    cell->bytes = (size_t)(offsets[word + 1] - offsets[word]);
}

static void put(const struct ArrowArray *array, uint8_t type, int64_t at, struct pf_cell *cell)
{
    const void *values = array->buffers[1];

    cell->kind = PF_CELL_INTEGER;
    switch (type) {
    case PERFILE_COLUMN_BOOL:
        cell->integer = ((const uint8_t *)values)[at / 8] >> (at % 8) & 1;
        return;
    case PERFILE_COLUMN_I32:
        cell->integer = ((const int32_t *)values)[at];
        return;
    case PERFILE_COLUMN_U32:
        cell->integer = ((const uint32_t *)values)[at];
        return;
    case PERFILE_COLUMN_F64:
        cell->kind = PF_CELL_REAL;
        cell->real = ((const double *)values)[at];
        return;
    case PERFILE_COLUMN_TEXT:
        put_text(array, at, cell);
        return;
    case PERFILE_COLUMN_TEXTS:
    case PERFILE_COLUMN_ADDRESSES:
        cell->kind = PF_CELL_LIST;
        return;
    default:
        cell->integer = ((const int64_t *)values)[at];
    }
}

/* A folder decides before a column of the file; without both a source is called as on the command line. */
static void put_key(const struct pf_batch *batch, size_t key, struct pf_cell *cell)
{
    const struct pf_cell *value = &batch->source->keys[key];
    const char *argument = batch->source->argument;

    if (value->kind != PF_CELL_OTHER)
        *cell = *value;
    else if (!batch->columns[key] && key == PF_KEY_RECORDING && argument)
        *cell = (struct pf_cell){.kind = PF_CELL_TEXT, .text = argument, .bytes = strlen(argument)};
}

void pf_batch_cell(const struct pf_batch *batch, size_t field, int64_t row, struct pf_cell *cell)
{
    const struct ArrowArray *array = batch->columns[field];

    cell->kind = PF_CELL_NULL;
    if (array && !is_null(array, array->offset + row))
        put(array, batch->types[field], array->offset + row, cell);
    if (field < batch->key_count)
        put_key(batch, field, cell);
}

bool pf_batch_element(const struct pf_batch *batch, size_t field, int64_t row, int64_t nth, struct pf_cell *cell)
{
    const struct ArrowArray *list = batch->columns[field], *items = list->children[0];
    const int32_t *offsets = (const int32_t *)list->buffers[1] + list->offset + row;
    const bool texts = batch->types[field] == PERFILE_COLUMN_TEXTS;

    if (offsets[0] + nth >= offsets[1])
        return false;
    cell->kind = PF_CELL_NULL;
    if (!is_null(items, items->offset + offsets[0] + nth))
        put(items, texts ? PERFILE_COLUMN_TEXT : PERFILE_COLUMN_ADDRESS, items->offset + offsets[0] + nth, cell);
    return true;
}

int pf_cell_compare(const struct pf_cell *a, const struct pf_cell *b)
{
    int order;

    if (a->kind == PF_CELL_INTEGER)
        return (a->integer > b->integer) - (a->integer < b->integer);
    if (a->kind != PF_CELL_TEXT)
        return 0;
    order = memcmp(a->text, b->text, a->bytes < b->bytes ? a->bytes : b->bytes);
    return order ? order : (a->bytes > b->bytes) - (a->bytes < b->bytes);
}
