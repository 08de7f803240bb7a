/* SPDX-License-Identifier: MIT */
/*
 * grown_analysis RECORDING [refuses]: the structs of libperfile-analysis, see grown.h. Prints what it gets, which must
 * be the same with all versions; with a second argument the library must refuse members that it does not know.
 */
#include "grown.h"

#include <perfile/profile.h>
#include <perfile/table.h>

static const char *path;

/* Checks a struct that the library fills: it sets all members that it knows, and nothing after the struct. */
#define TAKE(type, init, name, call)                                                                                   \
    BESIDE(type, name);                                                                                                \
    name.it = (struct type)init;                                                                                       \
    SET_TAIL(name.it);                                                                                                 \
    expect((call) == 0, #type);                                                                                        \
    TAIL_IS_ZERO(name.it);                                                                                             \
    UNTOUCHED(name)

/* What is in another folder, so that nothing depends on this machine. */
static struct perfile_symbol_options symbols_nowhere(void)
{
    struct perfile_symbol_options symbols = PERFILE_SYMBOL_OPTIONS_INIT;
    symbols.symfs = symbols.buildid_dir = "/nonexistent";
    symbols.kallsyms = "/dev/null";
    return symbols;
}

static struct perfile_reader *open_recording(void)
{
    struct perfile_reader *reader;
    expect(perfile_open_path(path, NULL, &reader, &error) == 0, "perfile_open_path");
    return reader;
}

static int add_to_hash(void *context, const void *data, size_t bytes)
{
    uint64_t *hash = context;
    for (size_t i = 0; i < bytes; i++)
        *hash = (*hash ^ ((const uint8_t *)data)[i]) * 0x100000001b3ull;
    return 0;
}

/* ---- outputs ----------------------------------------------------------------------------------------------------- */

enum { COMPLETE, FILTER, SYMBOLS, FLAME, REPORT, PARTS };

/* With the member that `bad` counts to set. */
static int write_output(const char *kind, const char *format, int bad, uint64_t *hash)
{
    struct perfile_output_options options = PERFILE_OUTPUT_OPTIONS_INIT;
    struct perfile_filter filter = PERFILE_FILTER_INIT;
    struct perfile_symbol_options symbols = symbols_nowhere();
    struct perfile_flame_options flame = PERFILE_FLAME_OPTIONS_INIT;
    struct perfile_report_options report = PERFILE_REPORT_OPTIONS_INIT;
    const struct perfile_sink sink = {hash, add_to_hash};
    struct perfile_reader *reader = open_recording();
    options.filter = &filter;
    options.symbols = &symbols;
    options.flame = &flame;
    options.report = &report;
    flame.title = "grown";
    report.percent_limit = "1";
    if (bad == COMPLETE)
        SET_TAIL(options);
    if (bad == FILTER)
        SET_TAIL(filter);
    if (bad == SYMBOLS)
        SET_TAIL(symbols);
    if (bad == FLAME)
        SET_TAIL(flame);
    if (bad == REPORT)
        SET_TAIL(report);
    const int result = perfile_output_write(reader, kind, format, &options, &sink, &error);
    perfile_close(reader);
    return result;
}

static void write_outputs(void)
{
    const struct perfile_output_info *info;
    for (size_t i = 0; (info = perfile_output_at(i)); i++) {
        uint64_t hash = 0xcbf29ce484222325ull;
        if (strcmp(info->kind, "bundle") ==
            0) /* has what is found on the machine, and wants the path of the recording */
            continue;
        expect(write_output(info->kind, info->format, PARTS, &hash) == 0, "perfile_output_write");
        printf("%s %s %" PRIx64 "\n", info->kind, info->format, hash);
    }
    for (int bad = 0; refuses && bad < PARTS; bad++) {
        uint64_t hash = 0;
        const char *kind = bad == REPORT ? "report" : "flame";
        expect(write_output(kind, NULL, bad, &hash) == PERFILE_ERROR_ARGUMENT && !hash,
               "perfile_output_write: not refused");
    }
}

/* ---- streams ----------------------------------------------------------------------------------------------------- */

static void show_frame(const struct perfile_frame *frame, const struct perfile_module *module)
{
    printf("frame %s +%" PRIx64 " %" PRIx64 " %" PRIu32 " of %s %" PRIu32 "\n", frame->name ? frame->name : "-",
           frame->offset, frame->address, frame->kind, module->name, module->kind);
}

static void show_losses(const struct perfile_losses *losses)
{
    printf("losses %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", losses->samples, losses->unresolved, losses->guessed);
}

static void read_stream(void)
{
    struct perfile_stream_options options = PERFILE_STREAM_OPTIONS_INIT;
    struct perfile_symbol_options symbols = symbols_nowhere();
    struct perfile_reader *reader = open_recording();
    const struct perfile_stream_sample *sample;
    struct perfile_stream *stream;
    options.symbols = &symbols;
    options.flags = PERFILE_STREAM_ADDRESSES | PERFILE_STREAM_DECODED;
    if (refuses) {
        SET_TAIL(symbols);
        expect(perfile_stream_open(reader, &options, &stream, &error) == PERFILE_ERROR_ARGUMENT,
               "symbols: not refused");
        CLEAR_TAIL(symbols);
    }
    CALL("perfile_stream_open", options, perfile_stream_open(reader, &options, &stream, &error));
    while (perfile_stream_next(stream, &sample, &error) > 0) {
        TAKE(perfile_frame, PERFILE_FRAME_INIT, frame, perfile_stream_frame(stream, sample->leaf, &frame.it));
        BESIDE(perfile_module, module);
        module.it = (struct perfile_module)PERFILE_MODULE_INIT;
        SET_TAIL(module.it);
        module.it.name = "none";
        if (perfile_stream_module(stream, frame.it.module, &module.it) == 0)
            TAIL_IS_ZERO(module.it);
        UNTOUCHED(module);
        printf("sample %" PRIu64 " %s %s %" PRIu32 " %" PRIu64 "\n", sample->time, sample->event->name, sample->comm,
               sample->frame_count, sample->decoded->period);
        show_frame(&frame.it, &module.it);
    }
    TAKE(perfile_losses, PERFILE_LOSSES_INIT, losses, perfile_stream_losses(stream, &losses.it));
    show_losses(&losses.it);
    perfile_stream_close(stream);
    perfile_close(reader);
}

/* ---- profiles ---------------------------------------------------------------------------------------------------- */

static struct perfile_profile *open_profile(void)
{
    struct perfile_profile_options options = PERFILE_PROFILE_OPTIONS_INIT;
    struct perfile_symbol_options symbols = symbols_nowhere();
    struct perfile_reader *reader = open_recording();
    struct perfile_profile *profile;
    options.symbols = &symbols;
    options.keys = "comm,tid";
    options.path = "grown";
    CALL("perfile_profile_open", options, perfile_profile_open(reader, &options, &profile, &error));
    perfile_close(reader);
    return profile;
}

/* The last of each kind that a profile has. */
#define LAST(kind, init)                                                                                               \
    TAKE(perfile_profile_##kind, init, kind,                                                                           \
         perfile_profile_##kind##_at(profile, perfile_profile_##kind##_count(profile) - 1, &kind.it))

static void show_profile(const struct perfile_profile *profile)
{
    LAST(recording, PERFILE_PROFILE_RECORDING_INIT);
    printf("recording %s %s %zu %" PRIu64 "\n", recording.it.path, recording.it.arch, recording.it.cmdline_count,
           recording.it.clock_time);
    LAST(event, PERFILE_PROFILE_EVENT_INIT);
    printf("event %s %s %" PRIu32 "\n", event.it.name, event.it.unit, event.it.value_count);
    LAST(value_type, PERFILE_PROFILE_VALUE_TYPE_INIT);
    printf("value %s %s %" PRIu64 "\n", value_type.it.name, value_type.it.unit, value_type.it.total);
    LAST(function, PERFILE_PROFILE_FUNCTION_INIT);
    printf("function %s %" PRIx64 " %" PRIu32 "\n", function.it.label, function.it.address, function.it.kind);
    LAST(frame, PERFILE_PROFILE_FRAME_INIT);
    printf("frame %" PRIx64 " %" PRIu32 " %" PRIu32 "\n", frame.it.offset, frame.it.function, frame.it.kind);
    LAST(stack, PERFILE_PROFILE_STACK_INIT);
    printf("stack %" PRIu32 " %" PRIu32 "\n", stack.it.parent, stack.it.frame);
    LAST(thread, PERFILE_PROFILE_THREAD_INIT);
    printf("thread %d %d %s %zu\n", thread.it.pid, thread.it.tid, thread.it.comm, thread.it.comm_count);
    LAST(sample, PERFILE_PROFILE_SAMPLE_INIT);
    printf("row %" PRIu32 " %" PRIu64 " %s %" PRIu64 "\n", sample.it.stack, sample.it.values[1], sample.it.comm,
           sample.it.time);
    TAKE(perfile_module, PERFILE_MODULE_INIT, module,
         perfile_profile_module_at(profile, perfile_profile_module_count(profile) - 1, &module.it));
    printf("module %s %" PRIu32 "\n", module.it.name, module.it.kind);
    TAKE(perfile_losses, PERFILE_LOSSES_INIT, losses, perfile_profile_losses(profile, &losses.it));
    show_losses(&losses.it);
}

static void merge_profiles(void)
{
    struct perfile_profile_merge_options options = PERFILE_PROFILE_MERGE_OPTIONS_INIT;
    struct perfile_profile *profile = open_profile(), *merged;
    const struct perfile_profile *both[] = {profile, profile};
    CALL("perfile_profile_merge", options, perfile_profile_merge(both, 2, &options, &merged, &error));
    show_profile(profile);
    show_profile(merged);
    perfile_profile_close(profile);
    perfile_profile_close(merged);
}

static void weigh_calls(void)
{
    struct perfile_calls_options options = PERFILE_CALLS_OPTIONS_INIT;
    struct perfile_profile *profile = open_profile();
    struct perfile_calls *calls;
    CALL("perfile_calls_open", options, perfile_calls_open(profile, &options, &calls, &error));
    if (perfile_calls_start(calls, &error) < 0)
        return;
    for (size_t i = 0; perfile_calls_leaf(calls, i) != PERFILE_NO_ID; i++)
        perfile_calls_add(calls, i);
    perfile_calls_sum(calls);
    for (uint32_t i = 0; i < perfile_profile_function_count(profile); i++)
        printf("function %" PRIu32 " %" PRIu64 " %" PRIu64 "\n", i, perfile_calls_self(calls, i)[1],
               perfile_calls_total(calls, i)[1]);
    perfile_calls_close(calls);
    perfile_profile_close(profile);
}

/* ---- single addresses, unwinding, code made at run time ---------------------------------------------------------- */

static void resolve(void)
{
    struct perfile_resolver_options options = PERFILE_RESOLVER_OPTIONS_INIT;
    struct perfile_symbol_options symbols = symbols_nowhere();
    struct perfile_reader *reader = open_recording();
    struct perfile_location location = PERFILE_LOCATION_INIT;
    struct perfile_session *session;
    struct perfile_resolver *resolver;
    uint32_t id;
    expect(perfile_session_open(reader, &session, &error) == 0, "perfile_session_open");
    options.symbols = &symbols;
    CALL("perfile_resolver_open", options, perfile_resolver_open(reader, session, &options, &resolver, &error));
    location.address = 0x1234;
    location.cpumode = 2;
    if (refuses) {
        SET_TAIL(location);
        expect(perfile_resolver_frames(resolver, &location, &id, 1, &error) == PERFILE_ERROR_ARGUMENT,
               "location: not refused");
        CLEAR_TAIL(location);
    }
    expect(perfile_resolver_frames(resolver, &location, &id, 1, &error) == 1, "perfile_resolver_frames");
    TAKE(perfile_frame, PERFILE_FRAME_INIT, frame, perfile_resolver_frame(resolver, id, &frame.it));
    printf("at an address %s %" PRIu32 "\n", perfile_resolver_label(resolver, id), frame.it.kind);
    perfile_resolver_close(resolver);
    perfile_session_close(session);
    perfile_close(reader);
}

static void unwind(void)
{
    struct perfile_symbol_options symbols = symbols_nowhere();
    struct perfile_reader *reader = open_recording();
    struct perfile_unwinder *unwinder;
    struct perfile_jit *jit;
    CALL("perfile_unwinder_open", symbols, perfile_unwinder_open(reader, &symbols, &unwinder, &error));
    CALL("perfile_jit_open", symbols, perfile_jit_open(reader, &symbols, "/nonexistent", &jit, &error));
    perfile_unwinder_close(unwinder);
    perfile_jit_close(jit);
    perfile_close(reader);
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static void write_table(const char *view)
{
    struct perfile_table_options options = PERFILE_TABLE_OPTIONS_INIT;
    struct perfile_symbol_options symbols = symbols_nowhere();
    struct perfile_reader *reader = open_recording();
    uint64_t hash = 0xcbf29ce484222325ull;
    const struct perfile_sink sink = {&hash, add_to_hash};
    struct perfile_table *table;
    options.symbols = &symbols;
    CALL("perfile_table_open", options, perfile_table_open(reader, view, &options, &table, &error));
    for (size_t i = 0; i < perfile_table_column_count(table); i++) {
        TAKE(perfile_column, PERFILE_COLUMN_INIT, column, perfile_table_column(table, i, &column.it));
        printf("column %s %" PRIu32 " %d\n", column.it.name, column.it.type, column.it.shown);
    }
    expect(perfile_table_write(table, "csv", &sink, &error) >= 0, "perfile_table_write");
    TAKE(perfile_losses, PERFILE_LOSSES_INIT, losses, perfile_table_losses(table, &losses.it));
    printf("table %s %" PRIx64 "\n", view, hash);
    show_losses(&losses.it);
    perfile_table_close(table);
    perfile_close(reader);
}

int main(int count, char **arguments)
{
    const struct perfile_view_info *info;
    path = arguments[1];
    refuses = count > 2;
    write_outputs();
    read_stream();
    merge_profiles();
    weigh_calls();
    resolve();
    unwind();
    for (size_t i = 0; (info = perfile_view_at(i)); i++)
        write_table(info->name);
    return 0;
}
