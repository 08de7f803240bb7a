/* SPDX-License-Identifier: MIT */
/*
 * Tables as a consumer has them, for each view of the recordings on the command line: what the Arrow C data interface
 * demands, whatever is released first; the same rows in batches of any size and any columns; as many of them as the
 * reader counts.
 */
#include <perfile/table.h>

#include <stdio.h>

#include "made.h"
#include "view/dictionary.h"

static char **recordings;

/* Nothing of this machine takes part. */
static const struct perfile_symbol_options symbols = {
    .size = sizeof(symbols), .symfs = "/nonexistent", .kallsyms = "/dev/null", .buildid_dir = "/nonexistent"};

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static struct perfile_reader *open_reader(const char *path)
{
    struct perfile_reader *reader;
    struct perfile_error error;
    if (perfile_open_path(path, NULL, &reader, &error) < 0)
        fail_msg("%s", error.message);
    return reader;
}

static struct perfile_table *open_table(struct perfile_reader *reader, const char *view, const char *columns,
                                        uint64_t batch_rows)
{
    struct perfile_table_options options = PERFILE_TABLE_OPTIONS_INIT;
    struct perfile_table *table;
    struct perfile_error error;
    options.symbols = &symbols;
    options.columns = columns;
    options.batch_rows = batch_rows;
    if (perfile_table_open(reader, view, &options, &table, &error) < 0)
        fail_msg("%s: %s", view, error.message);
    return table;
}

/* ---- what the specification demands ------------------------------------------------------------------------------ */

static bool is_valid(const struct ArrowArray *array, int64_t row)
{
    const uint8_t *bits = array->buffers[0];
    return !bits || bits[row / 8] >> row % 8 & 1;
}

static void check_validity(const struct ArrowArray *array)
{
    int64_t nulls = 0;
    for (int64_t i = 0; i < array->length; i++)
        nulls += !is_valid(array, i);
    assert_int_equal(array->null_count, nulls);
    assert_int_equal(array->offset, 0);
}

static void check_offsets(const int32_t *offsets, int64_t length, int64_t max)
{
    assert_int_equal(offsets[0], 0);
    for (int64_t i = 0; i < length; i++)
        assert_true(offsets[i] <= offsets[i + 1]);
    assert_true(offsets[length] <= max);
}

static void check_utf8(const uint8_t *text, int64_t bytes)
{
    for (int64_t i = 0; i < bytes;) {
        const int more = text[i] < 0x80 ? 0 : text[i] < 0xc2 ? -1 : text[i] < 0xe0 ? 1 : text[i] < 0xf0 ? 2 : 3;
        assert_true(more >= 0 && text[i] < 0xf5 && i + more < bytes);
        for (int k = 1; k <= more; k++)
            assert_int_equal(text[i + k] & 0xc0, 0x80);
        i += more + 1;
    }
}

static void check_dictionary(const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    const struct ArrowArray *texts = array->dictionary;
    const int32_t *codes = array->buffers[1];
    assert_non_null(texts);
    assert_string_equal(schema->dictionary->format, "u");
    assert_string_equal(schema->format, "i");
    assert_int_equal(texts->n_buffers, 3);
    assert_int_equal(texts->null_count, 0);
    if (texts->length) {
        const int32_t *offsets = texts->buffers[1];
        check_offsets(offsets, texts->length, INT32_MAX);
        for (int64_t i = 0; i < texts->length; i++)
            check_utf8((const uint8_t *)texts->buffers[2] + offsets[i], offsets[i + 1] - offsets[i]);
    }
    for (int64_t i = 0; i < array->length; i++)
        if (is_valid(array, i))
            assert_true(codes[i] >= 0 && codes[i] < texts->length);
}

static void touch(const void *data, size_t bytes)
{
    const uint8_t *p = data;
    uint8_t all = 0;
    for (size_t i = 0; i < bytes; i++)
        all ^= p[i];
    __asm__ volatile("" : : "r"(all)); /* it is used, says this */
}

static void check_values(const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    const size_t length = (size_t)array->length;
    const char kind = schema->format[0];
    assert_int_equal(array->n_buffers, 2);
    if (length)
        assert_non_null(array->buffers[1]);
    touch(array->buffers[1], kind == 'b' ? (length + 7) / 8 : kind == 'i' || kind == 'I' ? 4 * length : 8 * length);
    assert_int_equal(schema->dictionary != NULL, array->dictionary != NULL);
    if (array->dictionary)
        check_dictionary(schema, array);
}

static void check_column(const struct ArrowSchema *schema, const struct ArrowArray *array, int64_t rows)
{
    assert_int_equal(array->length, rows);
    assert_true(schema->flags & ARROW_FLAG_NULLABLE || !array->null_count);
    assert_true(schema->name && *schema->name && schema->metadata);
    assert_int_equal(schema->n_children, array->n_children);
    check_validity(array);
    if (strcmp(schema->format, "+l") != 0) {
        assert_non_null(strchr("biIlLg", schema->format[0]));
        check_values(schema, array);
        return;
    }
    const struct ArrowArray *items = array->children[0];
    const int32_t *offsets = array->buffers[1];
    assert_int_equal(array->n_children, 1);
    check_offsets(offsets, rows, items->length);
    check_validity(items);
    check_values(schema->children[0], items);
}

static void check_batch(const struct ArrowSchema *schema, const struct ArrowArray *batch)
{
    assert_string_equal(schema->format, "+s");
    assert_true(batch->length > 0);
    assert_int_equal(batch->null_count, 0);
    assert_int_equal(batch->n_buffers, 1);
    assert_int_equal(batch->n_children, schema->n_children);
    for (int64_t i = 0; i < batch->n_children; i++)
        check_column(schema->children[i], batch->children[i], batch->length);
}

/* ---- whatever is released first ---------------------------------------------------------------------------------- */

/* A consumer may move a child elsewhere, which then lives longer than what it came from. */
static void move_array(struct ArrowArray *from, struct ArrowArray *to)
{
    *to = *from;
    from->release = NULL;
}

static void release_in_disorder(const struct ArrowSchema *schema, struct ArrowArray *batch)
{
    const int64_t count = batch->n_children, rows = batch->length;
    struct ArrowArray *moved = malloc((size_t)count * sizeof(*moved));
    assert_non_null(moved);
    for (int64_t i = 0; i < count; i += 2)
        move_array(batch->children[i], &moved[i]);
    batch->release(batch);
    assert_null(batch->release);
    for (int64_t i = (count - 1) / 2 * 2; i >= 0; i -= 2) {
        struct ArrowArray items = {0}, texts = {0};
        check_column(schema->children[i], &moved[i], rows);
        if (moved[i].n_children)
            move_array(moved[i].children[0], &items);
        else if (moved[i].dictionary)
            move_array(moved[i].dictionary, &texts);
        moved[i].release(&moved[i]);
        assert_null(moved[i].release);
        if (items.release) {
            touch(items.buffers[1], (size_t)items.length * (items.dictionary ? 4 : 8));
            items.release(&items);
        }
        if (texts.release) {
            const int32_t *offsets = texts.buffers[1];
            touch(texts.buffers[2], texts.length ? (size_t)offsets[texts.length] : 0);
            texts.release(&texts);
        }
    }
    free(moved);
}

static void take_stream(struct perfile_reader *reader, const char *view, uint64_t batch_rows)
{
    struct ArrowArrayStream stream;
    struct ArrowSchema schema, column;
    struct ArrowArray batch, last = {0};
    perfile_table_stream(open_table(reader, view, "all", batch_rows), &stream);
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    for (;;) {
        if (stream.get_next(&stream, &batch) != 0)
            fail_msg("%s: %s", view, stream.get_last_error(&stream));
        if (!batch.release)
            break;
        assert_true((uint64_t)batch.length <= batch_rows);
        check_batch(&schema, &batch);
        if (last.release)
            release_in_disorder(&schema, &last);
        last = batch; /* outlives the next batch */
    }
    stream.release(&stream);
    assert_null(stream.release);
    if (last.release)
        release_in_disorder(&schema, &last); /* and the table */
    column = *schema.children[0];
    schema.children[0]->release = NULL;
    schema.release(&schema);
    assert_true(*column.name);
    column.release(&column);
}

static void each_view_as_a_stream(void **state)
{
    const struct perfile_view_info *info;
    (void)state;
    for (char **path = recordings; *path; path++)
        for (size_t i = 0; (info = perfile_view_at(i)) != NULL; i++) {
            struct perfile_reader *reader = open_reader(*path);
            take_stream(reader, info->name, 100);
            perfile_close(reader);
        }
}

/* ---- what views are made of -------------------------------------------------------------------------------------- */

static void views_name_their_events(void **state)
{
    const struct perfile_view_event *event;
    (void)state;
    assert_string_equal(perfile_view_event_at("sched_latency", 0)->name, "sched:sched_switch");
    assert_ptr_equal(perfile_view_event_at("sched_latency", 0), perfile_view_event_at("sched_map", 0));
    assert_string_equal((event = perfile_view_event_at("kwork", 3))->name, "irq:softirq_entry");
    assert_string_equal(event->kind, "softirq");
    assert_int_equal(event->need, PERFILE_EVENT_NEEDED);
    assert_int_equal(perfile_view_event_at("offcpu", 2)->need, PERFILE_EVENT_INSTEAD);
    assert_null(perfile_view_event_at("offcpu", 3));
    assert_null(perfile_view_event_at("samples", 0));
    assert_null(perfile_view_event_at("nosuch", 0));
}

/* ---- batches of any size, columns of any kind -------------------------------------------------------------------- */

struct text {
    char *data;
    size_t bytes, capacity;
};

static int keep(void *context, const void *data, size_t bytes)
{
    struct text *text = context;
    if (text->bytes + bytes > text->capacity) {
        text->capacity = 2 * (text->bytes + bytes);
        text->data = realloc(text->data, text->capacity);
        assert_non_null(text->data);
    }
    memcpy(text->data + text->bytes, data, bytes);
    text->bytes += bytes;
    return 0;
}

static struct text write_table(const char *path, const char *view, const char *columns, uint64_t batch_rows)
{
    struct text text = {0};
    const struct perfile_sink sink = {&text, keep};
    struct perfile_reader *reader = open_reader(path);
    struct perfile_table *table = open_table(reader, view, columns, batch_rows);
    struct perfile_error error;
    if (perfile_table_write(table, "jsonl", &sink, &error) < 0)
        fail_msg("%s: %s", view, error.message);
    perfile_table_close(table);
    perfile_close(reader);
    return text;
}

static void batches_of_any_size_have_the_same_rows(void **state)
{
    static const uint64_t sizes[] = {1, 7, 65536};
    const struct perfile_view_info *info;
    (void)state;
    for (char **path = recordings; *path; path++)
        for (size_t i = 0; (info = perfile_view_at(i)) != NULL; i++) {
            struct text first = {0};
            for (size_t k = 0; k < 3; k++) {
                struct text text = write_table(*path, info->name, "all", sizes[k]);
                if (k) {
                    assert_int_equal(text.bytes, first.bytes);
                    assert_true(!text.bytes || memcmp(text.data, first.data, text.bytes) == 0);
                    free(text.data);
                } else {
                    first = text;
                }
            }
            free(first.data);
        }
}

/* The names of the columns that are shown, and of all, as they stand. */
static void list_columns(const char *view, const char *columns, char *list, size_t capacity)
{
    struct perfile_reader *reader = open_reader(recordings[0]);
    struct perfile_table *table = open_table(reader, view, columns, 0);
    size_t used = 0;
    *list = '\0';
    for (size_t i = 0; i < perfile_table_column_count(table); i++) {
        struct perfile_column column = PERFILE_COLUMN_INIT;
        assert_int_equal(perfile_table_column(table, i, &column), 0);
        assert_true(*column.doc && column.unit);
        if (column.shown)
            used += (size_t)snprintf(list + used, capacity - used, "%s%s", used ? "," : "", column.name);
    }
    perfile_table_close(table);
    perfile_close(reader);
}

static void columns_come_as_they_are_asked_for(void **state)
{
    static const struct {
        const char *asked, *shown;
    } cases[] = {
        {NULL, "kind,count,unit,note"},          {"count,kind", "count,kind"},         {"-note,-unit", "kind,count"},
        {"-kind,+kind", "count,unit,note,kind"}, {"unit,all", "unit,kind,count,note"}, {"unit,unit", "unit"},
    };
    char list[256];
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        list_columns("losses", cases[i].asked, list, sizeof(list));
        assert_string_equal(list, cases[i].shown);
    }
}

/* Each column alone shows what it shows among all others. */
static void a_column_does_not_depend_on_others(void **state)
{
    static char list[1 << 14];
    const struct perfile_view_info *info;
    (void)state;
    for (size_t i = 0; (info = perfile_view_at(i)) != NULL; i++) {
        list_columns(info->name, "all", list, sizeof(list));
        struct text all = write_table(recordings[0], info->name, "all", 0);
        for (const char *name = strtok(list, ","); name; name = strtok(NULL, ",")) {
            struct text one = write_table(recordings[0], info->name, name, 0);
            const char *line_end = one.bytes ? memchr(one.data, '\n', one.bytes) : NULL;
            if (line_end) /* {"name":VALUE}: of the first row */
                assert_non_null(memmem(all.data, (size_t)((char *)memchr(all.data, '\n', all.bytes) - all.data),
                                       one.data + 1, (size_t)(line_end - one.data) - 2));
            free(one.data);
        }
        free(all.data);
    }
}

/* ---- as many as there are ---------------------------------------------------------------------------------------- */

struct totals {
    uint64_t rows, sum;
};

static int64_t find_column(const struct ArrowSchema *schema, const char *name)
{
    for (int64_t i = 0; i < schema->n_children; i++)
        if (strcmp(schema->children[i]->name, name) == 0)
            return i;
    fail_msg("no column %s", name);
    return -1;
}

/* Rows, and the sum of a column of 64 bits. */
static struct totals add_up(const char *path, const char *view, const char *name)
{
    struct totals totals = {0};
    struct perfile_reader *reader = open_reader(path);
    struct perfile_table *table = open_table(reader, view, "all", 0);
    struct perfile_error error;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    int result;
    assert_int_equal(perfile_table_schema(table, &schema, &error), 0);
    while ((result = perfile_table_next(table, &batch, &error)) > 0) {
        totals.rows += (uint64_t)batch.length;
        const struct ArrowArray *column = name ? batch.children[find_column(&schema, name)] : NULL;
        for (int64_t i = 0; column && i < batch.length; i++)
            totals.sum += is_valid(column, i) ? ((const uint64_t *)column->buffers[1])[i] : 0;
        batch.release(&batch);
    }
    assert_int_equal(result, 0);
    schema.release(&schema);
    perfile_table_close(table);
    perfile_close(reader);
    return totals;
}

struct counted {
    uint64_t records, samples, of_events, maps;
    struct perfile_counts counts;
    uint64_t events, features;
};

static struct counted count_records(const char *path)
{
    struct counted counted = {0};
    const struct perfile_record *record;
    struct perfile_reader *reader = open_reader(path);
    while (perfile_reader_next(reader, &record, NULL) > 0) {
        const bool is_sample = record->type == PERFILE_RECORD_SAMPLE && !record->damaged;
        counted.records++;
        counted.samples += is_sample;
        counted.of_events += is_sample && record->event;
        counted.maps += record->type == PERFILE_RECORD_MMAP || record->type == PERFILE_RECORD_MMAP2 ||
                        record->type == PERFILE_RECORD_KSYMBOL;
    }
    counted.counts = *perfile_reader_counts(reader);
    counted.events = perfile_event_count(reader);
    counted.features = perfile_feature_count(reader);
    perfile_close(reader);
    return counted;
}

static void rows_are_as_many_as_the_reader_counts(void **state)
{
    (void)state;
    for (char **path = recordings; *path; path++) {
        const struct counted counted = count_records(*path);
        const struct perfile_counts *counts = &counted.counts;
        assert_int_equal(add_up(*path, "records", NULL).rows, counted.records);
        assert_int_equal(add_up(*path, "events", NULL).rows, counted.events);
        assert_int_equal(add_up(*path, "events", "samples").sum, counted.of_events);
        assert_int_equal(add_up(*path, "features", NULL).rows, counted.features);
        assert_int_equal(add_up(*path, "threads", "samples").sum, counted.samples);
        assert_int_equal(add_up(*path, "maps", NULL).rows, counted.maps);
        assert_int_equal(add_up(*path, "diagnostics", NULL).rows, counts->notes + counts->warnings + counts->losses);
        assert_true(add_up(*path, "losses", "count").sum >= counts->damaged + counts->bytes_lost + counts->unknown);
    }
}

/* For UBSan: there were no bytes to point at. */
static void the_empty_text_alone(void **state)
{
    struct pf_dictionary dictionary;
    size_t bytes;
    (void)state;
    pf_dictionary_open(&dictionary, pf_allocator_or_default(NULL), pf_allocator_or_default(NULL));
    assert_int_equal(pf_dictionary_put(&dictionary, "", 0), 0);
    assert_int_equal(pf_dictionary_put(&dictionary, "", 0), 0);
    assert_non_null(pf_dictionary_at(&dictionary, 0, &bytes));
    struct pf_dictionary_copy *copy = pf_dictionary_copy(&dictionary);
    assert_non_null(copy);
    assert_int_equal(copy->count, 1);
    pf_dictionary_drop(copy);
    pf_dictionary_close(&dictionary);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_view_as_a_stream),
        cmocka_unit_test(views_name_their_events),
        cmocka_unit_test(batches_of_any_size_have_the_same_rows),
        cmocka_unit_test(columns_come_as_they_are_asked_for),
        cmocka_unit_test(a_column_does_not_depend_on_others),
        cmocka_unit_test(the_empty_text_alone),
        cmocka_unit_test(rows_are_as_many_as_the_reader_counts),
    };
    (void)count;
    recordings = arguments + 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
