/* SPDX-License-Identifier: MIT */
/* Every output of a recording, `script` with many fields and filters, and `report` as a tree. */
#include "fuzz.h"

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
    return 0;
}
