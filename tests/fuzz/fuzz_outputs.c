/* SPDX-License-Identifier: MIT */
/*
 * Every output of a recording: `script` with many fields and filters, `report` as a tree, every view as a table, and
 * all of these with options that come from the recording's bytes, so that flags meet which no other test combines. And
 * what is written of a profile of the recording, without the reader.
 */
#include "fuzz.h"

#include <perfile/profile.h>
#include <perfile/table.h>

/* ---- options by chance ---- */

enum kind { FLAGS, YES, NUMBER, TEXT };

/* A member of a struct of options: the highest flag, or values that are separated by '|'. */
struct member {
    size_t offset;
    enum kind kind;
    uint64_t highest;
    const char *values;
};

#define MEMBER(of, name, ...)                                                                                          \
    {                                                                                                                  \
        offsetof(struct perfile_##of, name), __VA_ARGS__                                                               \
    }
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TIMES "10ms|1us|1ns|0|50%|x"
#define NAMES "perf|swapper,make|[unknown]|0x0||*"

static const struct member filter_members[] = {
    MEMBER(filter, time, TEXT, 0, "10%-90%|,|0,1|5%/3|+0.1,+1|x"),
    MEMBER(filter, cpus, TEXT, 0, "0|0-3|1,7|x"),
    MEMBER(filter, comms, TEXT, 0, NAMES),
    MEMBER(filter, events, TEXT, 0, "cycles|cpu-clock|sched:*|x"),
    MEMBER(filter, off_cpu, TEXT, 0, "blocked|all|both|wakers|x"),
    MEMBER(filter, calls, TEXT, 0, "each|stacks|x"),
    MEMBER(filter, stitches_calls, YES, 0, NULL),
};
static const struct member flame_members[] = {
    MEMBER(flame_options, by, TEXT, 0, "mem,dso|comm|tid|pid,cpu|time,cpu,pid|x"),
    MEMBER(flame_options, time_quantum, TEXT, 0, TIMES),
    MEMBER(flame_options, event, TEXT, 0, "cycles|cpu-clock|x"),
    MEMBER(flame_options, title, TEXT, 0, "<b>|\xff|"),
    MEMBER(flame_options, colors, TEXT, 0, "hot|java|mem|x"),
    MEMBER(flame_options, min_width, TEXT, 0, "0|3|50%|x"),
    MEMBER(flame_options, width, NUMBER, 0, NULL),
    MEMBER(flame_options, negate, YES, 0, NULL),
    MEMBER(flame_options, count_samples, YES, 0, NULL),
    MEMBER(flame_options, inverted, YES, 0, NULL),
    MEMBER(flame_options, reverse, YES, 0, NULL),
    MEMBER(flame_options, annotate, YES, 0, NULL),
    MEMBER(flame_options, page_bytes, NUMBER, 0, NULL),
    MEMBER(flame_options, max_nodes, NUMBER, 0, NULL),
};
static const struct member report_members[] = {
    MEMBER(report_options, flags, FLAGS, PERFILE_REPORT_STATS, NULL),
    MEMBER(report_options, sort, TEXT, 0,
           "comm|dso,symbol|+cpu,trace|symbol_from,mispredict|mem,symbol_daddr,dcacheline|srcline,parent|time|x"),
    MEMBER(report_options, call_graph, TEXT, 0, "none|caller|callee,fractal,2|flat|folded,address,count|x"),
    MEMBER(report_options, dsos, TEXT, 0, NAMES),
    MEMBER(report_options, symbols, TEXT, 0, NAMES),
    MEMBER(report_options, percent_limit, TEXT, 0, "0|0.5|100|x"),
    MEMBER(report_options, separator, TEXT, 0, ",|;|\t"),
    MEMBER(report_options, max_stack, NUMBER, 0, NULL),
    MEMBER(report_options, time_quantum, TEXT, 0, TIMES),
    MEMBER(report_options, symbol_filter, TEXT, 0, NAMES),
    MEMBER(report_options, percentage, TEXT, 0, "relative|absolute|x"),
    MEMBER(report_options, widths, TEXT, 0, "0|10,20|1,1,1,1|x"),
    MEMBER(report_options, parent, TEXT, 0, ".|^a|["),
    MEMBER(report_options, columns, NUMBER, 0, NULL),
    MEMBER(report_options, top, NUMBER, 0, NULL),
    MEMBER(report_options, ignore_callees, TEXT, 0, ".|^a|["),
    MEMBER(report_options, max_nodes, NUMBER, 0, NULL),
};
static const struct member event_members[] = {
    MEMBER(event_options, flags, FLAGS, PERFILE_EVENTS_CUT, NULL),
    MEMBER(event_options, calls, TEXT, 0, "openat,read*,%file|!poll,futex|x"),
    MEMBER(event_options, minimum_ns, NUMBER, 0, NULL),
    MEMBER(event_options, classes, TEXT, 0, "irq,softirq|workqueue|rwsem,mutex|x"),
    MEMBER(event_options, sort, TEXT, 0, "max|avg,max|bytes,hit|runtime|count|x"),
    MEMBER(event_options, fields, TEXT, 0, "contended,wait_max|avg_wait|x"),
    MEMBER(event_options, rows, NUMBER, 0, NULL),
    MEMBER(event_options, stack_skip, NUMBER, 0, NULL),
    MEMBER(event_options, separator, TEXT, 0, ",|;"),
    MEMBER(event_options, locks, TEXT, 0, NAMES),
    MEMBER(event_options, callers, TEXT, 0, NAMES),
    MEMBER(event_options, stack_depth, NUMBER, 0, NULL),
    MEMBER(event_options, tasks, TEXT, 0, NAMES),
    MEMBER(event_options, cpus, TEXT, 0, "0|0-3,7|x"),
    MEMBER(event_options, work, TEXT, 0, NAMES),
    MEMBER(event_options, priorities, TEXT, 0, "0-99|120|x"),
    MEMBER(event_options, lines, NUMBER, 0, NULL),
    MEMBER(event_options, min_stack, NUMBER, 0, NULL),
    MEMBER(event_options, sched, FLAGS, PERFILE_SCHED_PRIORITY, NULL),
    MEMBER(event_options, keys, TEXT, 0, "lock|thread|total|tot,iaddr|x"),
    MEMBER(event_options, events, TEXT, 0, "sched:*|sched:sched_switch/max-stack=2/,block:*|x"),
    MEMBER(event_options, not_pids, TEXT, 0, "0|1,2|x"),
};
static const struct member annotate_members[] = {
    MEMBER(annotate_options, symbol, TEXT, 0, NAMES),
    MEMBER(annotate_options, dsos, TEXT, 0, NAMES),
    MEMBER(annotate_options, percent_limit, TEXT, 0, "0|50|x"),
    MEMBER(annotate_options, top, NUMBER, 0, NULL),
    MEMBER(annotate_options, flags, FLAGS, PERFILE_ANNOTATE_CODE_TYPES, NULL),
    MEMBER(annotate_options, syntax, TEXT, 0, "att|intel|x"),
    MEMBER(annotate_options, width, NUMBER, 0, NULL),
    MEMBER(annotate_options, data_type, TEXT, 0, "*|node|struct *"),
};
static const struct member script_members[] = {
    MEMBER(script_options, show, FLAGS, 1 << 16, NULL),
    MEMBER(script_options, times, FLAGS, PERFILE_TIMES_SINCE_FIRST, NULL),
    MEMBER(script_options, max_stack, NUMBER, 0, NULL),
    MEMBER(script_options, no_callchain, YES, 0, NULL),
    MEMBER(script_options, latency, YES, 0, NULL),
    MEMBER(script_options, escape_names, YES, 0, NULL),
    MEMBER(script_options, stop_at, TEXT, 0, NAMES),
    MEMBER(script_options, graph_function, TEXT, 0, NAMES),
};
static const struct member dump_members[] = {
    MEMBER(dump_options, max_bytes, NUMBER, 0, NULL),
    MEMBER(dump_options, header_only, YES, 0, NULL),
};
static const struct member stat_members[] = {
    MEMBER(stat_options, flags, FLAGS, PERFILE_STAT_CLEAR, NULL),
    MEMBER(stat_options, per, TEXT, 0, "all|cpu|socket|thread|L3|x"),
    MEMBER(stat_options, title, TEXT, 0, "title|\x1b["),
    MEMBER(stat_options, metrics, TEXT, 0, "a=cycles/instructions|b=1/0|x=(|c=min(a, b) if d else 1"),
};
static const struct member changes_members[] = {
    MEMBER(changes_options, flags, FLAGS, PERFILE_CHANGES_FORMULA, NULL),
};
static const struct member export_members[] = {
    MEMBER(export_options, keys, TEXT, 0, "comm|pid,tid|mem,trace|tot|stack|x"),
    MEMBER(export_options, addresses, YES, 0, NULL),
};
static const struct member symbol_members[] = {
    MEMBER(symbol_options, no_demangle, YES, 0, NULL),
    MEMBER(symbol_options, no_names, YES, 0, NULL),
};
static const struct member output_members[] = {
    MEMBER(output_options, fields, TEXT, 0, "comm,tid,ip|+addr,-period|trace:comm,trace|overhead,comm|x"),
    MEMBER(output_options, header, FLAGS, PERFILE_HEADER_ONLY, NULL),
    MEMBER(output_options, nanoseconds, YES, 0, NULL),
    MEMBER(output_options, count, YES, 0, NULL),
    MEMBER(output_options, color, YES, 0, NULL),
    MEMBER(output_options, gzip, YES, 0, NULL),
    MEMBER(output_options, code, YES, 0, NULL),
};

/* One of the values, at a position of its own among the texts of these options. */
static const char *pick(const char *values, uint64_t *chance)
{
    static char texts[128][64];
    static size_t used;
    uint64_t skipped = fuzz_next_chance(chance) % 8;
    const char *at = values, *bar;
    while ((bar = strchr(at, '|')) && skipped--)
        at = bar + 1;
    char *text = texts[used++ % COUNT(texts)];
    snprintf(text, sizeof(texts[0]), "%.*s", (int)strcspn(at, "|"), at);
    return text;
}

static void set_member(void *options, const struct member *member, uint64_t *chance)
{
    static const uint64_t numbers[] = {0, 1, 2, 3, 40, 100, 4096, UINT32_MAX, UINT64_MAX};
    uint8_t *to = (uint8_t *)options + member->offset;
    const unsigned flags =
        (unsigned)((fuzz_next_chance(chance) & fuzz_next_chance(chance)) & (2 * member->highest - 1));
    const uint64_t number = numbers[fuzz_next_chance(chance) % COUNT(numbers)];
    const bool yes = true;
    const char *text = member->values ? pick(member->values, chance) : NULL;
    if (member->kind == FLAGS)
        memcpy(to, &flags, sizeof(flags));
    else if (member->kind == YES)
        memcpy(to, &yes, sizeof(yes));
    else if (member->kind == NUMBER)
        memcpy(to, &number, sizeof(number));
    else
        memcpy(to, &text, sizeof(text));
}

/* Flags always, of other members one in four. */
static void set_members(void *options, const struct member *members, size_t count, uint64_t *chance)
{
    for (size_t i = 0; i < count; i++)
        if (members[i].kind == FLAGS || fuzz_next_chance(chance) % 4 == 0)
            set_member(options, &members[i], chance);
}

/* ---- outputs ---- */

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
    static const struct perfile_script_options all_records = {.size = sizeof(all_records), .show = UINT32_MAX};
    struct perfile_output_options options = PERFILE_OUTPUT_OPTIONS_INIT;
    options.symbols = &fuzz_no_symbols;
    options.fields = all_fields();
    options.script = &all_records;
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
    options.symbols = &fuzz_no_symbols;
    options.report = &report;
    write_output(data, bytes, info, &options);
}

static void write_by_chance(const uint8_t *data, size_t bytes, const struct perfile_output_info *info, uint64_t *chance)
{
    struct perfile_filter filter = {.size = sizeof(filter)};
    struct perfile_flame_options flame = PERFILE_FLAME_OPTIONS_INIT;
    struct perfile_report_options report = PERFILE_REPORT_OPTIONS_INIT;
    struct perfile_event_options events = PERFILE_EVENT_OPTIONS_INIT;
    struct perfile_annotate_options annotate = PERFILE_ANNOTATE_OPTIONS_INIT;
    struct perfile_script_options script = PERFILE_SCRIPT_OPTIONS_INIT;
    struct perfile_dump_options dump = PERFILE_DUMP_OPTIONS_INIT;
    struct perfile_stat_options stat = PERFILE_STAT_OPTIONS_INIT;
    struct perfile_export_options exports = PERFILE_EXPORT_OPTIONS_INIT;
    struct perfile_changes_options changes = PERFILE_CHANGES_OPTIONS_INIT;
    struct perfile_symbol_options symbols = fuzz_no_symbols;
    struct perfile_output_options options = PERFILE_OUTPUT_OPTIONS_INIT;
    set_members(&symbols, symbol_members, COUNT(symbol_members), chance);
    set_members(&changes, changes_members, COUNT(changes_members), chance);
    set_members(&filter, filter_members, COUNT(filter_members), chance);
    set_members(&flame, flame_members, COUNT(flame_members), chance);
    set_members(&report, report_members, COUNT(report_members), chance);
    set_members(&events, event_members, COUNT(event_members), chance);
    set_members(&annotate, annotate_members, COUNT(annotate_members), chance);
    set_members(&script, script_members, COUNT(script_members), chance);
    set_members(&dump, dump_members, COUNT(dump_members), chance);
    set_members(&stat, stat_members, COUNT(stat_members), chance);
    set_members(&exports, export_members, COUNT(export_members), chance);
    set_members(&options, output_members, COUNT(output_members), chance);
    options.symbols = &symbols;
    options.filter = fuzz_next_chance(chance) % 4 ? NULL : &filter;
    options.flame = &flame;
    options.report = &report;
    options.events = &events;
    options.annotate = &annotate;
    options.script = &script;
    options.dump = &dump;
    options.stat = &stat;
    options.exports = &exports;
    changes.compute = (uint32_t)(fuzz_next_chance(chance) % (PERFILE_CHANGES_WEIGHTED + 1));
    options.changes = &changes;
    write_output(data, bytes, info, &options);
}

static struct perfile_profile *read_profile(const uint8_t *data, size_t bytes, uint64_t *chance)
{
    struct perfile_open_options open = fuzz_options();
    struct perfile_symbol_options symbols = fuzz_no_symbols;
    struct perfile_profile_options options = PERFILE_PROFILE_OPTIONS_INIT;
    struct perfile_profile *profile = NULL;
    struct perfile_reader *reader;
    if (perfile_open_memory(data, bytes, &open, &reader, NULL) < 0)
        return NULL;
    symbols.no_names = fuzz_next_chance(chance) % 2;
    options.symbols = &symbols;
    options.keys = pick("comm|pid,tid,cpu|time,cgroup|mem,trace|x", chance);
    options.threads = 1;
    (void)!perfile_profile_open(reader, &options, &profile, NULL);
    perfile_close(reader);
    return profile;
}

/* All exports and flame graphs of a profile; those that need a recording say so. */
static void write_profile(const uint8_t *data, size_t bytes, uint64_t *chance)
{
    struct perfile_profile *profile = read_profile(data, bytes, chance);
    struct perfile_flame_options flame = PERFILE_FLAME_OPTIONS_INIT;
    struct perfile_export_options exports = PERFILE_EXPORT_OPTIONS_INIT;
    struct perfile_output_options options = PERFILE_OUTPUT_OPTIONS_INIT;
    const struct perfile_output_info *info;
    if (fuzz_next_chance(chance) % 2) /* few of these are for profiles */
        set_members(&flame, flame_members, COUNT(flame_members), chance);
    exports.addresses = fuzz_next_chance(chance) % 2;
    exports.profile = flame.profile = profile;
    options.flame = &flame;
    options.exports = &exports;
    for (size_t i = 0; profile && (info = perfile_output_at(i)); i++)
        if (strcmp(info->kind, "export") == 0 || strcmp(info->kind, "flame") == 0) {
            int result = perfile_output_write(NULL, info->kind, info->format, &options, &fuzz_sink, NULL);
            FUZZ_REQUIRE(result != PERFILE_ERROR_WRITE && result <= 1);
        }
    perfile_profile_close(profile);
}

static struct perfile_table *open_table(const uint8_t *data, size_t bytes, const char *view,
                                        struct perfile_reader **reader)
{
    struct perfile_open_options open = fuzz_options();
    struct perfile_table_options options = PERFILE_TABLE_OPTIONS_INIT;
    struct perfile_table *table = NULL;
    options.symbols = &fuzz_no_symbols;
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
    uint64_t chance = fuzz_chance_of(data, bytes);
    options.count = true;
    options.symbols = &fuzz_no_symbols;
    for (size_t i = 0; (info = perfile_output_at(i)); i++) {
        write_output(data, bytes, info, &options);
        if (strcmp(info->kind, "script") == 0)
            write_scripts(data, bytes, info);
        if (strcmp(info->kind, "report") == 0)
            write_hierarchy(data, bytes, info);
        if (fuzz_next_chance(&chance) % 2)
            write_by_chance(data, bytes, info, &chance);
    }
    write_profile(data, bytes, &chance);
    const struct perfile_view_info *view;
    for (size_t i = 0; (view = perfile_view_at(i)); i++) {
        write_tables(data, bytes, view->name);
        take_batches(data, bytes, view->name);
    }
    return 0;
}
