/* SPDX-License-Identifier: MIT */
/*
 * What outputs and views do at the limits of numbers: sums end at 2^64-1, all of them at the same, and rows with equal
 * sums have an order that does not depend on the order of the samples.
 */
#include <perfile/analysis.h>
#include <perfile/table.h>

#include <stdio.h>

#include "base/text.h"
#include "recording.h"

enum { IP = PERFILE_SAMPLE_IP, TID = PERFILE_SAMPLE_TID, TIME = PERFILE_SAMPLE_TIME, PERIOD = PERFILE_SAMPLE_PERIOD };
enum { ATTR_AT = 112, CONFIG_AT = ATTR_AT + 8, SOFTWARE = 1, PAGE_FAULTS = 2 };

static struct recording made;
static struct pf_text written;

/* Nothing of this machine takes part. */
static const struct perfile_symbol_options symbols = {
    .size = sizeof(symbols), .symfs = "/nonexistent", .kallsyms = "/dev/null", .buildid_dir = "/nonexistent"};

/* ---- recordings of page faults ----------------------------------------------------------------------------------- */

static void start(void)
{
    static const struct recording_map maps[] = {{2, 1, 0x1000, 0x1000, 0, "/none/b"},
                                                {2, 1, 0x3000, 0x1000, 0, "/none/a"}};
    const uint32_t type = pf_load32(&(uint32_t){SOFTWARE}, false);
    recording_open(&made, IP | TID | TIME | PERIOD | PERFILE_SAMPLE_ADDR, false);
    memcpy(made.data + ATTR_AT, &type, sizeof(type));
    recording_store64(&made, CONFIG_AT, PAGE_FAULTS);
    recording_comm(&made, 1, "one", 1);
    recording_comm(&made, 2, "two", 1);
    for (size_t i = 0; i < PF_COUNT(maps); i++)
        recording_map(&made, &maps[i], 1);
}

static void sample(int32_t tid, uint64_t ip, uint64_t period)
{
    const size_t at = made.bytes;
    recording_header(&made, PERFILE_RECORD_SAMPLE, 2, 0);
    recording_u64(&made, ip);
    recording_u32(&made, 1); /* one process */
    recording_u32(&made, (uint32_t)tid);
    recording_u64(&made, 2);
    recording_u64(&made, ip);
    recording_u64(&made, period);
    recording_store16(&made, at + 6, (uint16_t)(made.bytes - at));
}

/* ---- what is written about them ---------------------------------------------------------------------------------- */

static int append(void *context, const void *data, size_t bytes)
{
    pf_put(context, data, bytes);
    return 0;
}

static const struct perfile_sink sink = {&written, append};

static void begin(struct perfile_reader *reader)
{
    assert_int_equal(perfile_reader_rewind(reader, NULL), 0);
    pf_text_close(&written);
    assert_int_equal(pf_text_open(&written, pf_allocator_or_default(NULL), NULL, NULL), 0);
}

static const char *text_of_all(int result, const struct perfile_error *error)
{
    if (result < 0)
        fail_msg("%s", error->message);
    pf_put_char(&written, '\0');
    return written.data;
}

static const char *output(struct perfile_reader *reader, const char *kind, const char *format)
{
    struct perfile_output_options options = PERFILE_OUTPUT_OPTIONS_INIT;
    struct perfile_report_options report = PERFILE_REPORT_OPTIONS_INIT;
    struct perfile_error error;
    report.sort = "dso,comm";
    options.report = &report;
    options.symbols = &symbols;
    begin(reader);
    return text_of_all(perfile_output_write(reader, kind, format, &options, &sink, &error), &error);
}

static const char *table(struct perfile_reader *reader, const char *view, const char *columns, const char *keys)
{
    struct perfile_table_options options = PERFILE_TABLE_OPTIONS_INIT;
    struct perfile_table *opened;
    struct perfile_error error;
    options.symbols = &symbols;
    options.columns = columns;
    options.keys = keys;
    begin(reader);
    int result = perfile_table_open(reader, view, &options, &opened, &error);
    if (result == 0)
        result = perfile_table_write(opened, "csv", &sink, &error);
    perfile_table_close(opened);
    return text_of_all(result, &error);
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

#define LARGEST "18446744073709551615"

static void sums_end_at_the_largest_number(void **state)
{
    struct perfile_reader *reader;
    uint8_t *block;
    (void)state;
    start();
    for (int i = 0; i < 3; i++)
        sample(1, 0x1000, (uint64_t)1 << 63);
    recording_finish(&made);
    reader = recording_read(&made, &block);
    assert_non_null(strstr(output(reader, "report", "csv"), ",3," LARGEST "," LARGEST ","));
    assert_non_null(strstr(output(reader, "flame", "folded"), " " LARGEST "\n"));
    assert_non_null(strstr(output(reader, "flame", "svg"), "18,446,744,073,709,551,615"));
    assert_non_null(strstr(output(reader, "flame", "html"), "{\"total\":" LARGEST ","));
    assert_non_null(strstr(output(reader, "export", "callgrind"), LARGEST));
    assert_string_equal(table(reader, "functions", "samples,self", NULL), "samples,self\n3," LARGEST "\n");
    assert_string_equal(table(reader, "lines", "samples,period", NULL), "samples,period\n3," LARGEST "\n");
    assert_string_equal(table(reader, "page_faults", "faults", "mapping"), "faults\n" LARGEST "\n");
    perfile_close(reader);
    free(block);
    recording_close(&made);
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

/* Two threads in two modules, each pair as often as the others. */
static void make_equal(bool reversed)
{
    static const struct {
        int32_t tid;
        uint64_t ip;
    } samples[] = {{1, 0x1000}, {1, 0x3000}, {2, 0x1000}, {2, 0x3000}};
    start();
    for (size_t i = 0; i < PF_COUNT(samples); i++) {
        const size_t k = reversed ? PF_COUNT(samples) - 1 - i : i;
        sample(samples[k].tid, samples[k].ip, 5);
    }
    recording_finish(&made);
}

static void equal_rows_have_an_order_of_their_own(void **state)
{
    static const char *const outputs[][2] = {{"report", "csv"}, {"report", "jsonl"}, {"flame", "folded"}};
    static const char *const views[][3] = {{"functions", "dso,symbol,self", NULL},
                                           {"page_faults", "dso,faults", "caller"},
                                           {"page_faults", "mapping,faults", "mapping"},
                                           {"page_faults", "page,faults", "page"}};
    (void)state;
    char *before[PF_COUNT(outputs) + PF_COUNT(views)];
    for (int reversed = 0; reversed < 2; reversed++) {
        uint8_t *block;
        make_equal(reversed);
        struct perfile_reader *reader = recording_read(&made, &block);
        for (size_t i = 0; i < PF_COUNT(before); i++) {
            const size_t v = i - PF_COUNT(outputs);
            const char *text = i < PF_COUNT(outputs) ? output(reader, outputs[i][0], outputs[i][1])
                                                     : table(reader, views[v][0], views[v][1], views[v][2]);
            if (reversed)
                assert_string_equal(text, before[i]);
            else
                assert_non_null(before[i] = strdup(text));
        }
        perfile_close(reader);
        free(block);
        recording_close(&made);
    }
    for (size_t i = 0; i < PF_COUNT(before); i++)
        free(before[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_end_at_the_largest_number),
                                       cmocka_unit_test(equal_rows_have_an_order_of_their_own)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pf_text_close(&written);
    return failed;
}
