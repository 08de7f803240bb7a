/* SPDX-License-Identifier: MIT */
#include "source.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- recordings ---------------------------------------------------------------------------------------------------- */

static int fail(struct pf_sources *sources, const struct pf_source *source, int code, const struct perfile_error *error)
{
    sources->code = code;
    sources->failed = source;
    if (error)
        sources->error = *error;
    else
        snprintf(sources->error.message, sizeof(sources->error.message), "out of memory");
    return code;
}

static char *host_of(struct perfile_reader *reader)
{
    const char *text;

    return perfile_feature_text(reader, PERFILE_FEATURE_HOSTNAME, NULL, &text, NULL) == 0 ? strdup(text) : NULL;
}

int pf_recordings_open(struct pf_sources *sources, const struct pf_settings *settings)
{
    const size_t count = sources->inputs.count;

    sources->settings = settings;
    sources->each = calloc(count ? count : 1, sizeof(*sources->each));
    for (size_t i = 0; sources->each && i < count; i++) {
        struct pf_source *source = &sources->each[sources->count++];
        source->name = sources->inputs.paths[i];
        source->host = host_of(sources->inputs.readers[i]);
        source->readers = calloc(1, sizeof(*source->readers));
        if (!source->readers)
            break;
        source->readers->input = sources->inputs.inputs[i];
        source->readers->input.reader = NULL; /* that of the inputs is used, and closed by them */
    }
    if (sources->each && (!sources->count || sources->each[sources->count - 1].readers))
        return PF_STATUS_OK;
    pf_message("%s: out of memory", sources->inputs.command->name);
    return PF_STATUS_MEMORY;
}

int pf_sources_complain(const struct pf_sources *sources)
{
    const int code = sources->code;

    if (!sources->failed || code == PERFILE_ERROR_MEMORY) {
        pf_message("%s: out of memory", sources->inputs.command->name);
        return PF_STATUS_MEMORY;
    }
    pf_message("%s: %s", sources->failed->name, sources->error.message);
    return code == PERFILE_ERROR_ARGUMENT || code == PERFILE_ERROR_ABSENT ? PF_STATUS_USAGE : PF_STATUS_UNREADABLE;
}

void pf_recordings_close(struct pf_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        for (struct pf_lent *lent = sources->each[i].readers, *next; lent; lent = next) {
            next = lent->next;
            perfile_close(lent->input.reader);
            free(lent);
        }
        free(sources->each[i].host);
    }
    free(sources->each);
    for (size_t i = 0; i < sources->path_count; i++)
        free(sources->paths[i]);
    free(sources->paths);
    pf_inputs_close(&sources->inputs);
}

static struct perfile_reader *reader_of(const struct pf_sources *sources, const struct pf_source *source,
                                        const struct pf_lent *lent)
{
    return lent->input.reader ? lent->input.reader : sources->inputs.readers[source - sources->each];
}

static struct pf_lent *open_another(struct pf_source *source)
{
    struct pf_lent *lent = calloc(1, sizeof(*lent));

    if (!lent)
        return NULL;
    if (pf_input_open_again(&lent->input, &source->readers->input)) {
        free(lent);
        return NULL;
    }
    lent->next = source->readers->next;
    source->readers->next = lent;
    return lent;
}

static int lend(struct pf_sources *sources, struct pf_source *source, struct pf_lent **lent)
{
    struct perfile_error error;
    int result = 0;

    for (*lent = source->readers; *lent && (*lent)->busy;)
        *lent = (*lent)->next;
    if (!*lent && !(*lent = open_another(source)))
        return fail(sources, source, PERFILE_ERROR_MEMORY, NULL);
    if ((*lent)->used) {
        result = perfile_reader_rewind(reader_of(sources, source, *lent), &error);
        sources->inputs.inputs[source - sources->each].log.over = true;
    }
    if (result < 0)
        return fail(sources, source, result, &error);
    (*lent)->busy = true;
    return 0;
}

/* ---- tables of one recording --------------------------------------------------------------------------------------- */

static void update_progress(void *context, uint64_t done, uint64_t total)
{
    struct pf_sources *sources = context;

    if (sources->shows_progress)
        pf_progress_update(&sources->progress, done, total);
    if (*sources->stopped)
        for (size_t i = 0; i < sources->count; i++)
            for (struct pf_lent *lent = sources->each[i].readers; lent; lent = lent->next)
                if (lent->busy)
                    perfile_reader_stop(reader_of(sources, &sources->each[i], lent));
}

static void fill_options(struct pf_sources *sources, struct pf_source *source, const struct pf_relation *relation,
                         struct perfile_table_options *options)
{
    struct perfile_symbol_options *symbols = (struct perfile_symbol_options *)&sources->settings->symbols;

    symbols->recording = source->name;
    symbols->note = pf_log_note;
    symbols->note_context = &sources->inputs.inputs[source - sources->each].log;
    options->symbols = symbols;
    options->keys = relation->keys;
    options->threads = pf_thread_count(sources->settings);
    options->progress = update_progress;
    options->progress_context = sources;
}

struct opening {
    struct pf_source *source;
    struct pf_lent *lent;
    struct perfile_table *table;
};

static int open_view(struct pf_sources *sources, const char *view, const struct perfile_table_options *options,
                     struct opening *opening)
{
    struct perfile_error error;
    int result = lend(sources, opening->source, &opening->lent);

    if (result < 0)
        return result;
    result =
        perfile_table_open(reader_of(sources, opening->source, opening->lent), view, options, &opening->table, &error);
    opening->lent->used = true;
    if (result < 0) {
        opening->lent->busy = false;
        return fail(sources, opening->source, result, &error);
    }
    return 0;
}

static void close_view(struct opening *opening)
{
    perfile_table_close(opening->table);
    opening->lent->busy = false;
}

/* ---- fields -------------------------------------------------------------------------------------------------------- */

static size_t find_field(const struct pf_fields *fields, const char *name)
{
    size_t i = 0;

    while (i < fields->count && strcasecmp(fields->all[i].name, name) != 0) /* as SQL compares names */
        i++;
    return i;
}

/* The module's own come first. */
static bool is_ours(const char *name)
{
    return !strcasecmp(name, "recording") || !strcasecmp(name, "host");
}

static int add_field(struct pf_fields *fields, const struct perfile_column *column, size_t sources)
{
    struct pf_field *all = realloc(fields->all, (fields->count + 1) * sizeof(*all));
    uint8_t *types;

    if (!all)
        return PERFILE_ERROR_MEMORY;
    fields->all = all;
    types = realloc(fields->types, (fields->count + 1) * sources); /* a row for each field while they are found */
    if (!types)
        return PERFILE_ERROR_MEMORY;
    fields->types = types;
    memset(types + fields->count * sources, PF_NO_FIELD, sources);
    all[fields->count] = (struct pf_field){strdup(column->name), column->type, column->shown};
    if (!all[fields->count].name)
        return PERFILE_ERROR_MEMORY;
    fields->count++;
    return 0;
}

static int add_fields(struct pf_fields *fields, const struct perfile_table *table, size_t source, size_t sources)
{
    struct perfile_column column = PERFILE_COLUMN_INIT;
    int result = 0;

    for (size_t i = 0; i < perfile_table_column_count(table) && !result; i++) {
        if ((result = perfile_table_column(table, i, &column)) < 0 || is_ours(column.name))
            continue;
        size_t at = find_field(fields, column.name);
        if (at == fields->count)
            result = add_field(fields, &column, sources);
        if (!result)
            fields->types[at * sources + source] = (uint8_t)column.type;
    }
    return result;
}

/* From a row for each field to one for each recording. */
static int turn(struct pf_fields *fields, size_t sources)
{
    uint8_t *types = malloc(fields->count * sources + 1);

    if (!types)
        return PERFILE_ERROR_MEMORY;
    for (size_t i = 0; i < fields->count; i++)
        for (size_t j = 0; j < sources; j++)
            types[j * fields->count + i] = fields->types[i * sources + j];
    free(fields->types);
    fields->types = types;
    return 0;
}

int pf_fields_find(struct pf_sources *sources, const struct pf_relation *relation, struct pf_fields *fields)
{
    int result = 0;

    *fields = (struct pf_fields){0};
    for (size_t i = 0; i < sources->count && !result; i++) {
        struct perfile_table_options options = PERFILE_TABLE_OPTIONS_INIT;
        struct opening opening = {.source = &sources->each[i]};
        fill_options(sources, opening.source, relation, &options);
        if ((result = open_view(sources, relation->view, &options, &opening)) < 0)
            break;
        result = add_fields(fields, opening.table, i, sources->count);
        close_view(&opening);
    }
    if (!result)
        result = turn(fields, sources->count);
    if (result == PERFILE_ERROR_MEMORY)
        fail(sources, NULL, result, NULL);
    return result;
}

void pf_fields_free(struct pf_fields *fields)
{
    for (size_t i = 0; i < fields->count; i++)
        free(fields->all[i].name);
    free(fields->all);
    free(fields->types);
    *fields = (struct pf_fields){0};
}

/* ---- rows ---------------------------------------------------------------------------------------------------------- */

void pf_scan_start(struct pf_scan *scan, struct pf_sources *sources, const struct pf_request *request)
{
    *scan = (struct pf_scan){.sources = sources, .request = request};
}

static const uint8_t *types_of(const struct pf_request *request, size_t source)
{
    return request->fields->types + source * request->fields->count;
}

/* Rows have one column at least; the first is cheap. */
static bool is_read(const struct pf_request *request, const uint8_t *types, size_t field)
{
    bool any = false;

    if (types[field] == PF_NO_FIELD)
        return false;
    if (request->wanted[field])
        return true;
    for (size_t i = 0; i < request->fields->count; i++) {
        if (types[i] == PF_NO_FIELD)
            continue;
        if (request->wanted[i])
            return false;
        if (!any && i != field && i < field)
            any = true;
    }
    return !any;
}

/* "time,pid"; NULL: out of memory. */
static char *names_of(const struct pf_request *request, const uint8_t *types)
{
    size_t bytes = 1, used = 0;
    char *names;

    for (size_t i = 0; i < request->fields->count; i++)
        bytes += strlen(request->fields->all[i].name) + 1;
    if (!(names = malloc(bytes)))
        return NULL;
    *names = 0;
    for (size_t i = 0; i < request->fields->count; i++)
        if (is_read(request, types, i))
            used += (size_t)snprintf(names + used, bytes - used, "%s%s", used ? "," : "", request->fields->all[i].name);
    return names;
}

/* The log is over when a recording is read again, and it may be the first time that rows are. */
static void tell_unmatched(void *context, const struct perfile_unmatched *unmatched)
{
    struct pf_log log = *(const struct pf_log *)context;

    log.over = false;
    pf_log_unmatched(&log, unmatched);
}

static int open_source(struct pf_scan *scan, size_t at)
{
    struct perfile_table_options options = PERFILE_TABLE_OPTIONS_INIT;
    struct opening opening = {.source = &scan->sources->each[at]};
    char *names = names_of(scan->request, types_of(scan->request, at));
    int result;

    if (!names)
        return fail(scan->sources, opening.source, PERFILE_ERROR_MEMORY, NULL);
    fill_options(scan->sources, opening.source, scan->request->relation, &options);
    options.columns = names;
    options.filter = &scan->request->filter;
    if (!scan->request->is_pushed && !opening.source->was_asked) {
        options.unmatched = tell_unmatched;
        options.unmatched_context = &scan->sources->inputs.inputs[at].log;
    }
    result = open_view(scan->sources, scan->request->relation->view, &options, &opening);
    free(names);
    if (result < 0)
        return result;
    scan->lent = opening.lent;
    scan->table = opening.table;
    return 0;
}

static void close_source(struct pf_scan *scan)
{
    if (!scan->table)
        return;
    perfile_table_close(scan->table);
    scan->table = NULL;
    scan->lent->busy = false;
}

static int take(struct pf_scan *scan, size_t at, struct pf_batch *batch)
{
    const struct pf_request *request = scan->request;
    size_t child = 0;

    batch->source = &scan->sources->each[at];
    batch->types = types_of(request, at);
    batch->columns = calloc(request->fields->count + 1, sizeof(*batch->columns));
    if (!batch->columns) {
        batch->array.release(&batch->array);
        return fail(scan->sources, batch->source, PERFILE_ERROR_MEMORY, NULL);
    }
    for (size_t i = 0; i < request->fields->count; i++)
        if (is_read(request, batch->types, i) && child < (size_t)batch->array.n_children)
            batch->columns[i] = batch->array.children[child++];
    return 1;
}

int pf_scan_next(struct pf_scan *scan, struct pf_batch *batch)
{
    struct pf_sources *sources = scan->sources;
    struct perfile_error error;
    int result = 0;

    for (;;) {
        if (!scan->table && scan->next == sources->count)
            return 0;
        if (!scan->table) {
            const char *only = scan->request->recording;
            if (only && strcmp(only, sources->each[scan->next++].name) != 0)
                continue;
            scan->next -= only != NULL;
            if ((result = open_source(scan, scan->next++)) < 0)
                return result;
        }
        *batch = (struct pf_batch){0};
        result = perfile_table_next(scan->table, &batch->array, &error);
        if (result > 0)
            return take(scan, scan->next - 1, batch);
        close_source(scan);
        sources->each[scan->next - 1].was_asked |= !scan->request->is_pushed;
        if (result < 0)
            return fail(sources, &sources->each[scan->next - 1], result, &error);
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

/* ---- values -------------------------------------------------------------------------------------------------------- */

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

void pf_batch_cell(const struct pf_batch *batch, size_t field, int64_t row, struct pf_cell *cell)
{
    const struct ArrowArray *array = batch->columns[field];

    cell->kind = PF_CELL_NULL;
    if (array && !is_null(array, array->offset + row))
        put(array, batch->types[field], array->offset + row, cell);
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
