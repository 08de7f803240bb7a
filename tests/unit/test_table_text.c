/* SPDX-License-Identifier: MIT */
/* Tables for people: units of columns, and what is shown in the width of a terminal. */
#include <perfile/table.h>

#include "made.h"
#include "recording.h"

static int append(void *context, const void *data, size_t bytes)
{
    pf_put(context, data, bytes);
    return 0;
}

/* Writes and closes the table. */
static void expect(struct perfile_table *table, const char *expected)
{
    struct pf_text out;
    const struct perfile_sink sink = {&out, append};
    assert_int_equal(pf_text_open(&out, pf_allocator_or_default(NULL), NULL, NULL), 0);
    assert_int_equal(perfile_table_write(table, "text", &sink, NULL), 0);
    perfile_table_close(table);
    pf_put_char(&out, '\0');
    assert_string_equal(out.data, expected);
    pf_text_close(&out);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

enum { NAME, PATH, RUNS, TOTAL, WAIT, BYTES, TIME, COLUMNS };

#define COLUMN(what, as)                                                                                               \
    &(const struct perfile_column)                                                                                     \
    {                                                                                                                  \
        .size = sizeof(struct perfile_column), .name = what, .type = as, .doc = "A " what "."                          \
    }
static const struct perfile_column *const columns[COLUMNS] = {
    COLUMN("name", PERFILE_COLUMN_TEXT),        COLUMN("path", PERFILE_COLUMN_TEXT),
    COLUMN("runs", PERFILE_COLUMN_U64),         COLUMN("total_ns", PERFILE_COLUMN_DURATION),
    COLUMN("wait_ns", PERFILE_COLUMN_DURATION), COLUMN("live_bytes", PERFILE_COLUMN_BYTES),
    COLUMN("time", PERFILE_COLUMN_TIME),
};

struct row {
    const char *name, *path;
    uint64_t numbers[COLUMNS]; /* of the columns from RUNS on */
};

struct source {
    const struct row *rows;
    size_t count, next;
};

static int next(void *context, struct perfile_error *error)
{
    struct source *source = context;
    (void)error;
    return source->next++ < source->count;
}

static void put_value(void *context, size_t column, struct perfile_value *value)
{
    const struct source *source = context;
    const struct row *row = &source->rows[source->next - 1];
    const char *text = column == NAME ? row->name : row->path;
    value->kind = column < RUNS ? PERFILE_VALUE_TEXT : PERFILE_VALUE_UNSIGNED;
    value->number.u = row->numbers[column];
    if (column < RUNS) {
        value->data = (const uint8_t *)text;
        value->bytes = (uint32_t)strlen(text);
    }
}

static void expect_rows(const struct row *rows, size_t count, uint64_t width, const char *expected)
{
    struct source source = {rows, count, 0};
    const struct perfile_rows from = {.size = sizeof(from),
                                      .view = "made",
                                      .columns = columns,
                                      .column_count = COLUMNS,
                                      .next = next,
                                      .value = put_value,
                                      .context = &source,
                                      .text_width = width};
    struct perfile_table *table;
    assert_int_equal(perfile_table_of_rows(&from, &table, NULL), 0);
    expect(table, expected);
}

/* The largest value decides on the unit; halves are rounded up, and 2^64 - 1 does not overflow. */
static void each_column_has_one_unit(void **state)
{
    static const struct row small[] = {
        {"a", "/b", {[RUNS] = 1, [TOTAL] = 999, [WAIT] = 1000, [BYTES] = 9999, [TIME] = 1999999999}}};
    static const struct row large[] = {
        {"a", "/b", {[RUNS] = 1, [TOTAL] = 99999999999, [WAIT] = 100000000000, [BYTES] = 12345678, [TIME] = 0}},
        {"a", "/b", {[RUNS] = 2, [TOTAL] = 499, [WAIT] = 500000, [BYTES] = 500, [TIME] = 1}}};
    static const struct row largest[] = {
        {"a", "/b", {[TOTAL] = UINT64_MAX, [WAIT] = 999999, [BYTES] = UINT64_MAX, [TIME] = UINT64_MAX}}};
    (void)state;
    expect_rows(small, 1, 0,
                "name  path  runs   total      wait  live_bytes      time\n"
                "a     /b       1  999 ns  1.000 us      9999 B  1.999999\n");
    expect_rows(large, 2, 0,
                "name  path  runs          total       wait  live_bytes      time\n"
                "a     /b       1  100000.000 ms  100.000 s   12.346 MB  0.000000\n"
                "a     /b       2       0.000 ms    0.001 s    0.001 MB  0.000000\n");
    expect_rows(largest, 1, 0,
                "name  path  runs              total        wait          live_bytes                time\n"
                "a     /b       0  18446744073.710 s  999.999 us  18446744073.710 GB  18446744073.709551\n");
}

/* Names become short first, paths at their start; then the last columns are left out, the first time stays. */
static void rows_fit_a_terminal(void **state)
{
    static const struct row rows[] = {
        {"ns::function_with_a_long_name<int>(int)",
         "/usr/lib/x86_64-linux-gnu/libc.so.6",
         {[RUNS] = 1, [TOTAL] = 2000000, [WAIT] = 7, [BYTES] = 4096, [TIME] = 1000000000}},
        {"main", "/bin/x", {[RUNS] = 20, [TOTAL] = 1000000, [WAIT] = 70, [BYTES] = 0, [TIME] = 2000000000}}};
    (void)state;
    expect_rows(rows, 2, 80,
                "name              path              runs     total   wait  live_bytes      time\n"
                "func...name<int>  .../libc.so.6        1  2.000 ms   7 ns      4096 B  1.000000\n"
                "main              /bin/x              20  1.000 ms  70 ns         0 B  2.000000\n");
    expect_rows(rows, 2, 60,
                "name               path               runs     total   wait\n"
                "func..._name<int>  .../libc.so.6         1  2.000 ms   7 ns\n"
                "main               /bin/x               20  1.000 ms  70 ns\n"
                "not shown: live_bytes, time\n");
    expect_rows(rows, 2, 30,
                "name                     total\n"
                "funct...ng_name<int>  2.000 ms\n"
                "main                  1.000 ms\n"
                "not shown: path, 4 more\n");
    expect_rows(rows, 2, 1,
                "name             total\n"
                "fun...e<int>  2.000 ms\n"
                "main          1.000 ms\n"
                "not shown: 5 more\n");
}

/* Addresses are not shortened: other names become shorter. */
static void addresses_stay_complete(void **state)
{
    static const struct row rows[] = {{"0xffffffff8162184b", "/usr/lib/x86_64-linux-gnu/libc.so.6", {[TOTAL] = 5}}};
    (void)state;
    expect_rows(rows, 1, 50,
                "name                path               runs  total\n"
                "0xffffffff8162184b  .../libc.so.6         0   5 ns\n"
                "not shown: wait_ns, live_bytes, time\n");
}

/* ---- stacks ------------------------------------------------------------------------------------------------------ */

static void add_sample(struct recording *r, uint64_t time, uint64_t frames)
{
    const size_t at = recording_sample(r, 0x1000, 7, time);
    recording_u64(r, frames);
    for (uint64_t i = 0; i < frames; i++)
        recording_u64(r, 0x1000 * (i + 1));
    recording_store16(r, at + 6, (uint16_t)(r->bytes - at));
}

static void expect_stacks(uint64_t width, const char *expected)
{
    const struct perfile_table_options options = {
        .size = sizeof(options), .text_width = width, .columns = "time,stack"};
    struct perfile_table *table;
    struct recording r;
    uint8_t *block;
    recording_open(&r, PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_CALLCHAIN, false);
    add_sample(&r, 1000000000, 2);
    add_sample(&r, 2000000000, 20);
    add_sample(&r, 3000000000, 0);
    recording_finish(&r);
    struct perfile_reader *reader = recording_read(&r, &block);
    assert_int_equal(perfile_table_open(reader, "samples", &options, &table, NULL), 0);
    expect(table, expected);
    perfile_close(reader);
    free(block);
    recording_close(&r);
}

/* On a terminal, neighbours without a name are one; screens.py has stacks that are cut. */
static void stacks_are_below_their_rows(void **state)
{
    (void)state;
    expect_stacks(
        0, "    time  stack\n"
           "1.000000  [unknown];[unknown]\n"
           "2.000000  "
           "[unknown];[unknown];[unknown];[unknown];[unknown];[unknown];[unknown];[unknown];[unknown];[unknown];["
           "unknown];[unknown];[unknown];[unknown];[unknown];[unknown];[unknown];[unknown];[unknown];[unknown]\n"
           "3.000000  [unknown]\n");
    static const uint64_t columns_of_terminals[] = {80, 20, 1};
    for (size_t i = 0; i < PF_COUNT(columns_of_terminals); i++)
        expect_stacks(columns_of_terminals[i], "    time\n"
                                               "1.000000\n"
                                               "    [unknown]\n"
                                               "2.000000\n"
                                               "    [unknown]\n"
                                               "3.000000\n"
                                               "    [unknown]\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_column_has_one_unit),
        cmocka_unit_test(rows_fit_a_terminal),
        cmocka_unit_test(addresses_stay_complete),
        cmocka_unit_test(stacks_are_below_their_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
