/* SPDX-License-Identifier: MIT */
/* Tables of rows that the caller has: every type, and its absence, in the formats; little memory; what is refused. */
#include <perfile/table.h>

#include <stdio.h>

#include "made.h"
#include "counting.h"

#define COLUMN(what, as)                                                                                               \
    &(const struct perfile_column)                                                                                     \
    {                                                                                                                  \
        .size = sizeof(struct perfile_column), .name = what, .type = as, .doc = "A " what "."                          \
    }
static const struct perfile_column *const columns[] = {
    COLUMN("text", PERFILE_COLUMN_TEXT), COLUMN("bool", PERFILE_COLUMN_BOOL),       COLUMN("i32", PERFILE_COLUMN_I32),
    COLUMN("u64", PERFILE_COLUMN_U64),   COLUMN("address", PERFILE_COLUMN_ADDRESS), COLUMN("f64", PERFILE_COLUMN_F64)};
static const struct perfile_column *const lists[] = {COLUMN("list", PERFILE_COLUMN_TEXTS)};

enum { ROWS = 3 }; /* values, none, such as do not suit */

struct source {
    int row, failing; /* the row that is an error */
};

static int next(void *context, struct perfile_error *error)
{
    struct source *source = context;
    if (++source->row == source->failing) {
        snprintf(error->message, sizeof(error->message), "mine");
        return PERFILE_ERROR_READ;
    }
    return source->row <= ROWS;
}

static void set_value(size_t column, struct perfile_value *value)
{
    static const int kinds[] = {PERFILE_VALUE_TEXT,     PERFILE_VALUE_BOOL,     PERFILE_VALUE_SIGNED,
                                PERFILE_VALUE_UNSIGNED, PERFILE_VALUE_UNSIGNED, PERFILE_VALUE_DOUBLE};
    value->kind = kinds[column];
    switch (value->kind) {
    case PERFILE_VALUE_TEXT:
        value->data = (const uint8_t *)"a,\"b\"";
        value->bytes = 5;
        break;
    case PERFILE_VALUE_BOOL:
        value->number.u = 1;
        break;
    case PERFILE_VALUE_SIGNED:
        value->number.s = -7;
        break;
    case PERFILE_VALUE_DOUBLE:
        value->number.d = 0.1;
        break;
    default:
        value->number.u = UINT64_MAX;
    }
}

static void put_value(void *context, size_t column, struct perfile_value *value)
{
    const struct source *source = context;
    if (source->row == 1)
        set_value(column, value);
    else if (source->row == ROWS)
        value->kind = column ? PERFILE_VALUE_TEXT : PERFILE_VALUE_UNSIGNED;
}

static int append(void *context, const void *data, size_t bytes)
{
    struct pf_text *text = context;
    pf_put(text, data, bytes);
    return 0;
}

static int write_rows(struct source *source, const char *format, const struct perfile_allocator *allocator,
                      struct pf_text *out)
{
    struct perfile_rows rows = PERFILE_ROWS_INIT;
    const struct perfile_sink sink = {out, append};
    struct perfile_table *table;
    struct perfile_error error = {0};
    rows.view = "made";
    rows.columns = columns;
    rows.column_count = sizeof(columns) / sizeof(columns[0]);
    rows.next = next;
    rows.value = put_value;
    rows.context = source;
    rows.allocator = allocator;
    int result = perfile_table_of_rows(&rows, &table, &error);
    if (result == 0)
        result = perfile_table_write(table, format, &sink, &error);
    if (result == PERFILE_ERROR_READ)
        assert_string_equal(error.message, "mine");
    perfile_table_close(table);
    return result;
}

static void expect(const char *format, const char *expected)
{
    struct source source = {0};
    struct pf_text out;
    assert_int_equal(pf_text_open(&out, pf_allocator_or_default(NULL), NULL, NULL), 0);
    assert_int_equal(write_rows(&source, format, NULL, &out), 0);
    pf_put_char(&out, '\0');
    assert_string_equal(out.data, expected);
    pf_text_close(&out);
}

static void each_type_in_the_formats(void **state)
{
    (void)state;
    expect("csv", "text,bool,i32,u64,address,f64\n"
                  "\"a,\"\"b\"\"\",true,-7,18446744073709551615,18446744073709551615,0.1\n"
                  ",,,,,\n"
                  ",,,,,\n");
    expect("jsonl", "{\"text\":\"a,\\\"b\\\"\",\"bool\":true,\"i32\":-7,\"u64\":18446744073709551615,"
                    "\"address\":18446744073709551615,\"f64\":0.1}\n"
                    "{\"text\":null,\"bool\":null,\"i32\":null,\"u64\":null,\"address\":null,\"f64\":null}\n"
                    "{\"text\":null,\"bool\":null,\"i32\":null,\"u64\":null,\"address\":null,\"f64\":null}\n");
}

static void an_error_comes_after_the_rows_before_it(void **state)
{
    struct source source = {.failing = 2};
    struct pf_text out;
    (void)state;
    assert_int_equal(pf_text_open(&out, pf_allocator_or_default(NULL), NULL, NULL), 0);
    assert_int_equal(write_rows(&source, "json", NULL, &out), PERFILE_ERROR_READ);
    pf_put_char(&out, '\0');
    assert_non_null(
        strstr(out.data, "{\"version\":1,\"view\":\"made\",\"recording\":{},\"columns\":[{\"name\":\"text\","));
    assert_non_null(strstr(out.data, ",0.1]\n],\"losses\":{},\"notes\":[]}\n"));
    pf_text_close(&out);
}

static int write_format(void *format, const struct perfile_allocator *allocator)
{
    struct source source = {0};
    struct pf_text out;
    assert_int_equal(pf_text_open(&out, pf_allocator_or_default(NULL), NULL, NULL), 0);
    const int result = write_rows(&source, format, allocator, &out);
    pf_text_close(&out);
    return result;
}

static void every_allocation_may_fail_in_each_format(void **state)
{
    const char *format;
    (void)state;
    for (size_t i = 0; (format = perfile_table_format_at(i, NULL)) != NULL; i++)
        counting_exhaust(write_format, (void *)format, 1000);
}

static void what_is_refused(void **state)
{
    struct perfile_rows rows = {
        .size = sizeof(rows), .view = "made", .columns = lists, .next = next, .value = put_value};
    struct perfile_table *table = (void *)&rows;
    (void)state;
    assert_int_equal(perfile_table_of_rows(&rows, &table, NULL), PERFILE_ERROR_ARGUMENT); /* no columns */
    assert_null(table);
    rows.column_count = 1;
    assert_int_equal(perfile_table_of_rows(&rows, &table, NULL), PERFILE_ERROR_ARGUMENT); /* a list */
    rows.columns = columns;
    assert_int_equal(perfile_table_of_rows(&rows, NULL, NULL), PERFILE_ERROR_ARGUMENT);
    rows.next = NULL;
    assert_int_equal(perfile_table_of_rows(&rows, &table, NULL), PERFILE_ERROR_ARGUMENT);
    rows.next = next;
    rows.size = 0;
    assert_int_equal(perfile_table_of_rows(&rows, &table, NULL), PERFILE_ERROR_ARGUMENT);
    assert_null(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_type_in_the_formats),
        cmocka_unit_test(an_error_comes_after_the_rows_before_it),
        cmocka_unit_test(every_allocation_may_fail_in_each_format),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
