/* SPDX-License-Identifier: MIT */
/* Every output of a recording, `script` with many fields and filters, `report` as a tree, and every view as a table. */
#include "fuzz.h"

#include <perfile/table.h>

/* What lies on this machine must not matter. */
static const struct perfile_symbol_options no_symbols = {
    .size = sizeof(no_symbols), .symfs = "/nonexistent", .kallsyms = "/dev/null", .buildid_dir = "/nonexistent"};

static void write_output(const uint8_t *data, size_t bytes, const struct perfile_output_info *info,
                         const struct perfile_output_options *options)
{
    struct perfile_open_options open = fuzz_options();
    struct perfile_reader *reader;
    struct perfile_error error;
    if (perfile_open_memory(data, bytes, &open, &reader, &error) < 0)
        return;
    int result = perfile_output_write(reader, info->kind, info->format, options, &fuzz_sink, &error);
    FUZZ_REQUIRE(result != PERFILE_ERROR_WRITE && result <= 1);
    perfile_close(reader);
}

/* All fields that this build knows, as one list. */
static const char *all_fields(void)
{
    static char fields[2048];
    const char *field;
    for (size_t i = 0, at = 0; (field = perfile_script_field_at(i, NULL)) && at < sizeof(fields); i++)
        at += (size_t)snprintf(fields + at, sizeof(fields) - at, "%s%s", i ? "," : "", field);
    return fields;
}

static void write_scripts(const uint8_t *data, size_t bytes, const struct perfile_output_info *info)
{
    static const struct perfile_filter filter = {
        .size = sizeof(filter), .time = "10%-90%", .cpus = "0-3", .comms = "perf,swapper"};
    struct perfile_output_options options = PERFILE_OUTPUT_OPTIONS_INIT;
    options.symbols = &no_symbols;
    options.fields = all_fields();
    options.show = UINT32_MAX;
    write_output(data, bytes, info, &options);
    options.fields = "comm,tid,time,ip,sym,trace,brstack,iregs,uregs";
    options.nanoseconds = true;
    options.filter = &filter;
    write_output(data, bytes, info, &options);
}

static void write_hierarchy(const uint8_t *data, size_t bytes, const struct perfile_output_info *info)
{
    static const struct perfile_report_options report = {.size = sizeof(report),
                                                         .flags = PERFILE_REPORT_HIERARCHY,
                                                         .sort = "dso,{comm,cpu},symbol,addr",
                                                         .percent_limit = "1"};
    struct perfile_output_options options = PERFILE_OUTPUT_OPTIONS_INIT;
    options.symbols = &no_symbols;
    options.report = &report;
    write_output(data, bytes, info, &options);
}

static struct perfile_table *open_table(const uint8_t *data, size_t bytes, const char *view,
                                        struct perfile_reader **reader)
{
    struct perfile_open_options open = fuzz_options();
    struct perfile_table_options options = PERFILE_TABLE_OPTIONS_INIT;
    struct perfile_table *table = NULL;
    options.symbols = &no_symbols;
    options.columns = "all";
    options.batch_rows = 256;
    if (perfile_open_memory(data, bytes, &open, reader, NULL) < 0)
        return NULL;
    if (perfile_table_open(*reader, view, &options, &table, NULL) == 0)
        return table;
    perfile_close(*reader);
    return NULL;
}

static void write_tables(const uint8_t *data, size_t bytes, const char *view)
{
    struct perfile_reader *reader;
    struct perfile_table *table;
    const char *format;
    for (size_t i = 0; (format = perfile_table_format_at(i, NULL)); i++) {
        if (!(table = open_table(data, bytes, view, &reader)))
            return;
        const int result = perfile_table_write(table, format, &fuzz_sink, NULL);
        FUZZ_REQUIRE(result != PERFILE_ERROR_WRITE && result != PERFILE_ERROR_ARGUMENT && result <= 1);
        perfile_table_close(table);
        perfile_close(reader);
    }
}

static void touch_texts(const struct ArrowArray *texts)
{
    const int32_t *offsets = texts->buffers[1];
    if (texts->length)
        fuzz_touch(texts->buffers[2], (uint64_t)offsets[texts->length]);
}

static void take_batches(const uint8_t *data, size_t bytes, const char *view)
{
    struct perfile_reader *reader;
    struct perfile_table *table = open_table(data, bytes, view, &reader);
    struct ArrowSchema schema;
    struct ArrowArray batch;
    if (!table || perfile_table_schema(table, &schema, NULL) < 0)
        return;
    while (perfile_table_next(table, &batch, NULL) > 0) {
        for (int64_t i = 0; i < batch.n_children; i++) {
            const struct ArrowArray *column = batch.children[i];
            FUZZ_REQUIRE(column->length == batch.length && column->null_count <= batch.length);
            FUZZ_REQUIRE(!column->null_count || schema.children[i]->flags & ARROW_FLAG_NULLABLE);
            const struct ArrowArray *values = column->n_children ? column->children[0] : column;
            fuzz_touch(values->buffers[1], (uint64_t)(values->length + 7) / 8);
            if (values->dictionary)
                touch_texts(values->dictionary);
        }
        batch.release(&batch);
    }
    schema.release(&schema);
    perfile_table_close(table);
    perfile_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct perfile_output_options options = PERFILE_OUTPUT_OPTIONS_INIT;
    const struct perfile_output_info *info;
    options.count = true;
    options.symbols = &no_symbols;
    for (size_t i = 0; (info = perfile_output_at(i)); i++) {
        write_output(data, bytes, info, &options);
        if (strcmp(info->kind, "script") == 0)
            write_scripts(data, bytes, info);
        if (strcmp(info->kind, "report") == 0)
            write_hierarchy(data, bytes, info);
    }
    const struct perfile_view_info *view;
    for (size_t i = 0; (view = perfile_view_at(i)); i++) {
        write_tables(data, bytes, view->name);
        take_batches(data, bytes, view->name);
    }
    return 0;
}
