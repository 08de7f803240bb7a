/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "analysis/profile.h"
#include "base/error.h"
#include "base/filter.h"
#include "base/sized.h"
#include "view/arrow.h"
#include "view/view.h"

enum { BATCH_ROWS = 65536, MAX_BATCH_ROWS = 1 << 24, FIRST_ROWS = 512, BATCH_ITEMS = 1 << 24, BATCH_TEXT = 1 << 26 };

#define VIEW(name) extern const struct pf_view pf_view_##name;
#include "view/views.def"
#undef VIEW

static const struct pf_view *const views[] = {
#define VIEW(name) &pf_view_##name,
#include "view/views.def"
#undef VIEW
};

extern const struct pf_view pf_view_diff; /* not of a recording: perfile_table_of_diff */

const struct perfile_view_info *perfile_view_at(size_t index)
{
    return index < PF_COUNT(views) ? &views[index]->info : NULL;
}

const struct perfile_view_event *perfile_view_event_at(const char *view, size_t index)
{
    for (size_t i = 0; i < PF_COUNT(views); i++)
        if (strcmp(views[i]->info.name, view) == 0)
            return views[i]->events && index < views[i]->events->count ? &views[i]->events->items[index].event : NULL;
    return NULL;
}

static int fail(struct perfile_error *error, int code, const char *text)
{
    return pf_fail(error, code, PERFILE_NO_OFFSET, "table", "%s", text);
}

/* Adds a word to the list; words that do not fit are left out. */
static void add_word(char *list, size_t capacity, const char *word)
{
    const size_t used = strlen(list);
    if (used + strlen(word) + sizeof(", ") <= capacity)
        snprintf(list + used, capacity - used, "%s%s", used ? ", " : "", word);
}

static int find_view(const char *name, const struct pf_view **view, struct perfile_error *error)
{
    char known[192] = "";
    for (size_t i = 0; i < PF_COUNT(views); i++) {
        *view = views[i];
        if (strcmp(views[i]->info.name, name) == 0)
            return 0;
        add_word(known, sizeof(known), views[i]->info.name);
    }
    return pf_about(error, name, strlen(name),
                    pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "view",
                            "unknown view '%.40s'; there are %s", name, known));
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

bool pf_table_add(struct perfile_table *table, const struct pf_column *column)
{
    return PF_APPEND(table->allocator, table->columns, table->column_count, table->column_capacity,
                     (struct pf_vector){.column = *column, .allocator = table->allocator, .shown = !column->extra});
}

bool pf_table_add_all(struct perfile_table *table, const struct pf_column *columns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!pf_table_add(table, &columns[i]))
            return false;
    return true;
}

static bool has_one_list(const struct pf_view *view)
{
    return view->lists[0].count && !view->lists[1].count && !view->column_at;
}

/* The state of the view, and its columns where they are one list. False when out of memory. */
static bool make_state(struct perfile_table *table)
{
    const struct pf_view *view = table->view;
    void *state = pf_new(table->allocator, view->state_bytes);
    if (!state)
        return false;
    if (has_one_list(view) && !pf_table_add_all(table, view->lists[0].items, view->lists[0].count)) {
        pf_free(table->allocator, state, view->state_bytes);
        return false;
    }
    memcpy(state, &table, sizeof(table)); /* a pointer to what begins with it is one to it */
    table->state = state;
    return true;
}

void pf_table_hide(struct perfile_table *table, const char *names)
{
    for (const char *at = names; *at; at += strspn(at, ",")) {
        const size_t bytes = strcspn(at, ",");
        for (size_t i = 0; i < table->column_count; i++) {
            struct pf_vector *vector = &table->columns[i];
            if (strlen(vector->column.name) == bytes && strncmp(vector->column.name, at, bytes) == 0) {
                vector->column.extra = true;
                vector->shown = false;
            }
        }
        at += bytes;
    }
}

int pf_table_by_second(const struct perfile_table *table, const char *what, const char *const keys[2], bool *second,
                       struct perfile_error *error)
{
    const char *wanted = table->options.keys;
    *second = wanted && strcmp(wanted, keys[1]) == 0;
    return !wanted || !*wanted || *second || strcmp(wanted, keys[0]) == 0
               ? 0
               : pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "keys",
                         "%s are added up by %s or %s, not by '%.40s'", what, keys[0], keys[1], wanted);
}

int pf_table_row(struct perfile_table *table, size_t count, struct perfile_error *error)
{
    struct pf_all_rows *all = &table->all;
    if (all->result < 0 && error)
        *error = all->error;
    if (all->result == PERFILE_ERROR_MEMORY || all->next >= count)
        return all->result;
    all->row = all->next++;
    return 1;
}

size_t pf_table_rows(const struct perfile_table *table, size_t count)
{
    const uint64_t max = table->options.events->rows;
    return max && max < count ? (size_t)max : count;
}

struct word {
    const char *text;
    size_t bytes;
    char sign; /* '+', '-' or 0 */
};

/* The next word of a list; false at its end. */
static bool next_word(const char **list, struct word *word)
{
    const char *at = *list + strspn(*list, ", ");
    word->sign = *at == '+' || *at == '-' ? *at++ : '\0';
    word->text = at;
    word->bytes = strcspn(at, ", ");
    *list = at + word->bytes;
    return word->bytes || word->sign;
}

static bool word_is(const struct word *word, const char *name)
{
    return name && strlen(name) == word->bytes && memcmp(word->text, name, word->bytes) == 0;
}

static bool word_names(const struct word *word, const struct pf_column *column)
{
    return word_is(word, column->name) || word_is(word, column->alias);
}

bool pf_table_may_show(const struct perfile_table *table, const char *name)
{
    struct word word;
    const char *list = table->options.columns;
    while (list && next_word(&list, &word))
        if (word.sign != '-' && (word_is(&word, name) || word_is(&word, "all")))
            return true;
    return false;
}

bool pf_table_shows(const struct perfile_table *table, const char *name)
{
    for (size_t i = 0; i < table->shown; i++)
        if (strcmp(table->columns[i].column.name, name) == 0)
            return true;
    return false;
}

static int fail_column(const struct perfile_table *table, const struct word *word, struct perfile_error *error)
{
    char known[160] = "";
    for (size_t i = 0; i < table->column_count; i++)
        add_word(known, sizeof(known), table->columns[i].column.name);
    return pf_about(error, word->text, word->bytes,
                    pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "columns",
                            "unknown column '%.*s' of %s; it has %s", (int)pf_min(word->bytes, 40), word->text,
                            table->view->info.name, known));
}

/* Puts a column after those that are shown so far. */
static void show(struct perfile_table *table, size_t index)
{
    const struct pf_vector column = table->columns[index];
    for (; index > table->shown; index--)
        table->columns[index] = table->columns[index - 1];
    table->columns[table->shown] = column;
    table->columns[table->shown++].shown = true;
}

static void hide(struct perfile_table *table, size_t index)
{
    const struct pf_vector column = table->columns[index];
    for (table->shown--; index < table->shown; index++)
        table->columns[index] = table->columns[index + 1];
    table->columns[index] = column;
    table->columns[index].shown = false;
}

static void show_usual(struct perfile_table *table, bool all)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (!table->columns[i].column.extra || all)
            if (i >= table->shown)
                show(table, i);
}

PF_PUT(constant)
{
    (void)state;
    pf_set_lasting(vector, vector->column.constant);
}

static bool add_constants(struct perfile_table *table)
{
    for (size_t i = 0; i < table->options.constant_count; i++) {
        const struct perfile_constant *one = &table->options.constants[i];
        const struct pf_column column = {.name = one->name,
                                         .type = PERFILE_COLUMN_TEXT,
                                         .unit = "",
                                         .doc = one->doc,
                                         .put = put_constant,
                                         .required = one->text != NULL,
                                         .constant = one->text};
        if (!pf_table_add(table, &column))
            return false;
    }
    return true;
}

static bool column_of_view(const struct pf_view *view, size_t index, struct pf_column *column);

/* A column of the view that this recording does not have. */
static int add_missing(struct perfile_table *table, const struct word *word, struct perfile_error *error)
{
    struct pf_column column;
    for (size_t i = 0; table->options.fills && column_of_view(table->view, i, &column); i++)
        if (word_names(word, &column)) {
            column.put = put_constant;
            column.constant = NULL;
            return pf_table_add(table, &column) ? 0 : pf_fail_memory(error, "table");
        }
    return fail_column(table, word, error);
}

static int parse_word(struct perfile_table *table, const struct word *word, struct perfile_error *error)
{
    size_t index = 0;
    if (word_is(word, "all")) {
        show_usual(table, true);
        return 0;
    }
    while (index < table->column_count && !word_names(word, &table->columns[index].column))
        index++;
    if (index == table->column_count) {
        const int result = add_missing(table, word, error);
        if (result < 0)
            return result;
    }
    if (word->sign == '-' && index < table->shown)
        hide(table, index);
    else if (word->sign != '-' && index >= table->shown)
        show(table, index);
    return 0;
}

static int choose_columns(struct perfile_table *table, struct perfile_error *error)
{
    struct word word;
    const char *list = table->options.columns;
    bool first = true;
    int result = 0;
    if (!list || !*list)
        show_usual(table, false);
    for (; result == 0 && list && next_word(&list, &word); first = false) {
        if (first && word.sign)
            show_usual(table, false);
        result = parse_word(table, &word, error);
    }
    if (result == 0 && !table->shown)
        result = fail(error, PERFILE_ERROR_ARGUMENT, "no column is left to be shown");
    for (size_t i = 0; i < table->shown; i++)
        pf_dictionary_open(&table->columns[i].dictionary, table->allocator, table->lasting);
    return result;
}

/*
 * Returns a column of the lists of a view, each name once: the second list is for other rows, but its columns mean the
 * same.
 */
static const struct pf_column *listed_column(const struct pf_view *view, size_t *index)
{
    for (size_t l = 0; l < PF_COUNT(view->lists); l++)
        for (size_t i = 0; i < view->lists[l].count; i++) {
            const struct pf_column *column = &view->lists[l].items[i];
            bool known = false;
            for (size_t k = 0; l && k < view->lists[0].count && !known; k++)
                known = strcmp(view->lists[0].items[k].name, column->name) == 0;
            if (!known && (*index)-- == 0)
                return column;
        }
    return NULL;
}

static bool column_of_view(const struct pf_view *view, size_t index, struct pf_column *column)
{
    const struct pf_column *listed = listed_column(view, &index);
    if (listed)
        *column = *listed;
    return listed || (view->column_at && view->column_at(index, column));
}

int perfile_view_column(const char *view, size_t index, struct perfile_column *column)
{
    const struct pf_view *found = NULL;
    struct pf_column made;
    const struct pf_column *one = &made;
    if (view && strcmp(pf_view_diff.info.name, view) == 0)
        found = &pf_view_diff;
    for (size_t i = 0; view && i < PF_COUNT(views) && !found; i++)
        found = strcmp(views[i]->info.name, view) == 0 ? views[i] : NULL;
    if (!found || !column_of_view(found, index, &made))
        return PERFILE_ERROR_ARGUMENT;
    const struct perfile_column all = {
        .name = one->name, .unit = one->unit, .doc = one->doc, .type = one->type, .shown = !one->extra};
    return pf_sized_give(column, &all, sizeof(all));
}

const char *perfile_column_type_name(uint32_t type)
{
    return type <= PERFILE_COLUMN_ADDRESSES ? pf_column_type_name(type) : NULL;
}

size_t perfile_table_column_count(const struct perfile_table *table)
{
    return table->column_count;
}

int perfile_table_column(const struct perfile_table *table, size_t index, struct perfile_column *column)
{
    if (index >= table->column_count)
        return PERFILE_ERROR_ARGUMENT;
    const struct pf_column *one = &table->columns[index].column;
    const struct perfile_column all = {
        .name = one->name, .unit = one->unit, .doc = one->doc, .type = one->type, .shown = index < table->shown};
    return pf_sized_give(column, &all, sizeof(all));
}

/* ---- opening and closing ----------------------------------------------------------------------------------------- */

static int check_arguments(const struct perfile_reader *reader, const char *view, struct perfile_table **table,
                           struct perfile_error *error)
{
    if (table)
        *table = NULL;
    if (!reader || !view || !table)
        return fail(error, PERFILE_ERROR_ARGUMENT,
                    !reader ? "no reader given"
                    : !view ? "no view given"
                            : "no pointer to the table given");
    if (!perfile_reader_is_at_start(reader))
        return fail(error, PERFILE_ERROR_ARGUMENT, "the reader is not at its start: perfile_reader_rewind");
    return 0;
}

/* A filter that could change nothing would look as if all had passed. */
static int check_filter(const struct pf_view *view, const struct perfile_filter *filter, struct perfile_error *error)
{
    for (size_t i = 0; i < PF_FILTER_PARTS; i++)
        if (pf_filter_text(filter, &pf_filter_parts[i]) && view->not_filtered & pf_filter_parts[i].bit)
            return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "filter",
                           "the rows of the view %s cannot be chosen by %s", view->info.name, pf_filter_parts[i].name);
    return 0;
}

static int open_view(struct perfile_table *table, struct perfile_error *error)
{
    int result = check_filter(table->view, table->options.filter, error);
    if (table->view->by_own_key && table->options.keys && strcmp(table->options.keys, table->view->own_key) == 0)
        table->view = table->view->by_own_key;
    if (result == 0 && (!add_constants(table) || (!table->state && !make_state(table))))
        result = pf_fail_memory(error, "table");
    if (result == 0)
        result = table->view->open(table, table->state, error);
    if (result == 0)
        result = choose_columns(table, error);
    return pf_memory_was_short(table->allocator) ? pf_fail_memory(error, "table") : result;
}

/* The options of the caller as views see them: nothing that they point at is NULL. */
static int take_options(struct perfile_table *table, const struct perfile_table_options *options,
                        struct perfile_error *error)
{
    int result = pf_complete_options_take(&table->complete, table->reader, options->filter, options->symbols, error);
    if (result == 0)
        result = pf_sized_take(&table->complete.report, sizeof(table->complete.report), options->report,
                               "report options", error);
    table->events = (struct perfile_event_options)PERFILE_EVENT_OPTIONS_INIT;
    if (result == 0)
        result = pf_sized_take(&table->events, sizeof(table->events), options->events, "event options", error);
    table->options = *options;
    table->options.events = &table->events;
    table->options.filter = &table->complete.filter;
    table->options.symbols = &table->complete.symbols;
    table->options.report = &table->complete.report;
    table->options.batch_rows = options->batch_rows ? pf_min(options->batch_rows, MAX_BATCH_ROWS) : BATCH_ROWS;
    return result;
}

int pf_table_make(struct perfile_reader *reader, const struct perfile_table_options *options,
                  struct perfile_table **table, struct perfile_error *error)
{
    const struct perfile_allocator *lasting = pf_allocator_or_default(options->allocator);
    struct perfile_table *made = *table = pf_new(lasting, sizeof(*made));
    if (!made)
        return pf_fail_memory(error, "table");
    made->reader = reader;
    const int result = take_options(made, options, error);
    made->lasting = lasting;
    made->allocator = &made->watch.allocator;
    made->pending = 1;
    made->max_rows = (size_t)made->options.batch_rows;
    made->max_items = BATCH_ITEMS;
    pf_watch_open(&made->watch, lasting);
    return result;
}

int pf_table_start(struct perfile_table **table, struct perfile_error *error)
{
    const int result = open_view(*table, error);
    if (result < 0) {
        perfile_table_close(*table);
        *table = NULL;
    }
    return result;
}

/* All but what the view does itself. */
static int make_table(struct perfile_reader *reader, const char *view, const struct perfile_table_options *options,
                      struct perfile_table **table, struct perfile_error *error)
{
    const struct pf_view *found;
    struct perfile_table_options all = PERFILE_TABLE_OPTIONS_INIT;
    int result = check_arguments(reader, view, table, error);
    if (result < 0 || (result = find_view(view, &found, error)) < 0 ||
        (result = pf_sized_take(&all, sizeof(all), options, "table options", error)) < 0)
        return result;
    result = pf_table_make(reader, &all, table, error);
    if (result < 0) {
        perfile_table_close(*table);
        *table = NULL;
        return result;
    }
    (*table)->view = found;
    return 0;
}

int perfile_table_open(struct perfile_reader *reader, const char *view, const struct perfile_table_options *options,
                       struct perfile_table **table, struct perfile_error *error)
{
    const int result = make_table(reader, view, options, table, error);
    return result < 0 ? result : pf_table_start(table, error);
}

int pf_table_open_for(const struct perfile_output_options *verb, struct perfile_reader *reader, const char *view,
                      struct perfile_table **table, struct perfile_error *error)
{
    const struct perfile_table_options options = {.size = sizeof(options),
                                                  .filter = verb->filter,
                                                  .symbols = verb->symbols,
                                                  .report = verb->report,
                                                  /* what report calls fields says what its rows are of, too */
                                                  .columns = strcmp(view, "samples") ? NULL : verb->fields,
                                                  .threads = verb->threads,
                                                  .progress = verb->progress,
                                                  .progress_context = verb->progress_context,
                                                  .unmatched = verb->unmatched,
                                                  .unmatched_context = verb->unmatched_context,
                                                  .allocator = verb->allocator,
                                                  .events = verb->events};
    const int result = make_table(reader, view, &options, table, error);
    if (result < 0)
        return result;
    (*table)->verb = verb;
    return pf_table_start(table, error);
}

void perfile_table_close(struct perfile_table *table)
{
    if (!table)
        return;
    if (table->view && table->state && table->view->close)
        table->view->close(table->state);
    pf_delivery_close(table->delivery);
    if (table->view)
        pf_free(table->allocator, table->state, table->view->state_bytes);
    for (size_t i = 0; i < table->column_count; i++) {
        pf_vector_end(&table->columns[i]);
        pf_dictionary_close(&table->columns[i].dictionary);
    }
    pf_free(table->allocator, table->columns, table->column_capacity * sizeof(*table->columns));
    pf_free(table->lasting, table, sizeof(*table));
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

void pf_table_drop_rows(struct perfile_table *table)
{
    for (size_t i = 0; i < table->shown; i++)
        pf_vector_end(&table->columns[i]);
    table->rows = 0;
}

void pf_table_limit(struct perfile_table *table, size_t rows, size_t items)
{
    table->max_rows = pf_min_size(table->max_rows, rows);
    table->max_items = pf_min_size(table->max_items, items);
}

void pf_table_keep_texts(struct perfile_table *table)
{
    for (size_t i = 0; i < table->shown; i++)
        table->columns[i].dictionary.stays = true;
}

/* What `to` has then is its own, but for texts that the table goes on with. */
static void take_rows(struct pf_vector *to, struct pf_vector *from)
{
    *to = *from;
    from->valid = NULL;
    from->values = NULL;
    from->offsets = NULL;
    pf_vector_end(from);
    if (!from->column.fresh)
        return;
    pf_dictionary_open(&from->dictionary, to->dictionary.allocator, to->dictionary.lasting);
    from->dictionary.stays = true;
}

bool pf_table_take(struct perfile_table *table, struct pf_batch *batch)
{
    if (!batch->columns) {
        batch->columns = pf_new(table->allocator, table->shown * sizeof(*batch->columns));
        batch->column_count = batch->columns ? table->shown : 0;
    }
    for (size_t i = 0; i < batch->column_count; i++)
        take_rows(&batch->columns[i], &table->columns[i]);
    batch->rows = batch->columns ? table->rows : 0;
    return batch->columns;
}

void pf_batch_end(struct pf_batch *batch)
{
    for (size_t i = 0; i < batch->column_count; i++) {
        struct pf_vector *vector = &batch->columns[i];
        if (!vector->allocator)
            continue;
        pf_vector_end(vector);
        if (vector->column.fresh)
            pf_dictionary_close(&vector->dictionary);
        vector->allocator = NULL;
    }
    batch->rows = 0;
}

void pf_batch_close(struct pf_batch *batch, const struct perfile_allocator *allocator)
{
    pf_batch_end(batch);
    pf_free(allocator, batch->columns, batch->column_count * sizeof(*batch->columns));
    *batch = (struct pf_batch){.rows = 0};
}

static bool has_much_text(const struct perfile_table *table)
{
    for (size_t i = 0; i < table->shown; i++)
        if (table->columns[i].column.fresh && table->columns[i].dictionary.text_used >= BATCH_TEXT)
            return true;
    return false;
}

/* Lists of all rows together are bounded, too. */
static void put_row(struct perfile_table *table)
{
    struct pf_vector *vector = table->columns;
    size_t max_items = 0;
    for (const struct pf_vector *end = vector + table->shown; vector < end; vector++) {
        vector->column.put(table->state, vector);
        max_items = pf_max(max_items, vector->item_count);
    }
    table->rows++;
    table->is_full = table->rows == table->capacity || max_items >= table->max_items ||
                     (PF_UNLIKELY(table->has_fresh) && has_much_text(table));
}

static int check_vectors(struct perfile_table *table, struct perfile_error *error)
{
    if (pf_memory_was_short(table->allocator))
        return pf_fail_memory(error, "table");
    for (size_t i = 0; i < table->shown; i++)
        if (table->columns[i].failed || table->columns[i].dictionary.full)
            return pf_fail(error, PERFILE_ERROR_LIMIT, PERFILE_NO_OFFSET, "table",
                           "the texts of column '%s' are more than 2 GiB", table->columns[i].column.name);
    return 0;
}

static void report_unmatched(struct perfile_table *table)
{
    perfile_on_unmatched *notify = table->options.unmatched;
    void *context = table->options.unmatched_context;
    if (table->reported_unmatched || !notify)
        return;
    if (table->view->unmatched)
        table->view->unmatched(table->state, notify, context);
    else if (table->profile)
        pf_profile_notify_unmatched(table->profile, notify, context);
    else if (table->delivery)
        pf_delivery_notify_unmatched(table->delivery, notify, context);
    table->reported_unmatched = true;
}

/* Begins a batch. When it is known that there are no more rows, no memory is reserved for them. */
static bool begin_rows(struct perfile_table *table)
{
    table->rows = 0;
    table->is_full = false;
    if (table->pending != 1)
        return true;
    table->capacity = pf_min_size(table->capacity ? table->max_rows : FIRST_ROWS, table->max_rows);
    for (size_t i = 0; i < table->shown; i++) {
        table->has_fresh |= table->columns[i].column.fresh;
        if (table->columns[i].column.fresh)
            pf_dictionary_clear(&table->columns[i].dictionary);
        if (!pf_vector_begin(&table->columns[i], table->capacity))
            return false;
    }
    return true;
}

int pf_table_fill(struct perfile_table *table, struct perfile_error *error)
{
    if (!begin_rows(table))
        return pf_fail_memory(error, "table");
    while (table->pending == 1 && !table->is_full) {
        table->pending = table->view->next(table->state, &table->error);
        if (table->pending == 1)
            put_row(table);
    }
    const int result = check_vectors(table, error);
    if (result < 0)
        return table->pending = result;
    if (table->rows)
        return 1;
    if (table->pending == 0)
        report_unmatched(table);
    else if (error)
        *error = table->error;
    return table->pending;
}

int perfile_table_schema(const struct perfile_table *table, struct ArrowSchema *schema, struct perfile_error *error)
{
    return pf_arrow_schema(table, schema) ? 0 : pf_fail_memory(error, "table");
}

int perfile_table_next(struct perfile_table *table, struct ArrowArray *batch, struct perfile_error *error)
{
    const int result = pf_table_fill(table, error);
    if (result == 1 && !pf_arrow_take(table, batch))
        return table->pending = pf_fail_memory(error, "table");
    return result;
}

void pf_table_count_losses(const struct perfile_table *table, uint64_t filtered, struct perfile_losses *losses)
{
    const struct perfile_counts *counts = perfile_reader_counts(table->reader);
    losses->filtered = filtered;
    losses->lost = counts->lost_samples ? counts->lost_samples : counts->lost_events;
}

int perfile_table_losses(const struct perfile_table *table, struct perfile_losses *losses)
{
    struct perfile_losses all = {0};
    if (table->view->losses)
        table->view->losses(table->state, &all);
    else if (table->profile)
        pf_profile_losses(table->profile, &all);
    else if (table->delivery)
        pf_table_count_losses(table, pf_delivery_filtered(table->delivery), &all);
    return pf_sized_give(losses, &all, sizeof(all));
}
