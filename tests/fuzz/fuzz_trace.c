/* SPDX-License-Identifier: MIT */
/*
 * Recordings with hardware traces: samples of the trace as text, in a report, as packets, and written by inject. The
 * code is that of the program that the environment names (FUZZ_PROGRAM), in every second run with damage; letters and
 * damage depend on the bytes of the recording.
 */
#include "made.h"

#include <perfile/edit.h>

#include "output_file.h"
#include "opencsd_quirks.h"

enum { PROGRAM_MAX = 1 << 20 };

static const char *const paths[] = {"synthetic/prog", "data/local/tmp/etm_test_loop"};
static const char *const letters[] = {
    "", "i1ibxwpye", "i1il", "i5il4e", "i3ig", "i100nsgl2", "cre", "s5bl1024", "i2tye-o", "i0nsg1024l", "fmtaM", "qZbe",
};

static const char *folder(void);

static void remove_folder(void)
{
    static const char *const made[] = {
        "synthetic/prog", "synthetic", "data/local/tmp/etm_test_loop", "data/local/tmp", "data/local", "data", ""};
    char path[256];
    for (size_t i = 0; i < PF_COUNT(made); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder(), made[i]);
        remove(path);
    }
}

static const char *folder(void)
{
    static const char *const made[] = {"synthetic", "data", "data/local", "data/local/tmp"};
    static const char *is_made;
    char path[256];
    for (size_t i = 0; !is_made && i < PF_COUNT(made); i++) {
        snprintf(path, sizeof(path), "%s/%s", fuzz_folder(remove_folder), made[i]);
        FUZZ_REQUIRE(mkdir(path, 0700) == 0);
    }
    is_made = fuzz_folder(remove_folder);
    return is_made;
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

static size_t read_program(uint8_t *program)
{
    const char *path = getenv("FUZZ_PROGRAM");
    FILE *file = path ? fopen(path, "rb") : NULL;
    if (!file)
        return 0;
    const size_t bytes = fread(program, 1, PROGRAM_MAX, file);
    fclose(file);
    return bytes;
}

static void put_program(uint64_t *chance)
{
    static uint8_t program[PROGRAM_MAX], damaged[PROGRAM_MAX];
    static size_t bytes;
    static bool is_read, is_damaged = true;
    bytes = is_read ? bytes : read_program(program);
    is_read = true;
    const size_t changes = bytes && fuzz_next_chance(chance) % 2 ? 1 + fuzz_next_chance(chance) % 4 : 0;
    if (!changes && !is_damaged)
        return; /* as it is there */
    memcpy(damaged, program, bytes);
    for (size_t i = 0; i < changes; i++)
        damaged[fuzz_next_chance(chance) % (fuzz_next_chance(chance) % 2 ? pf_min(bytes, (size_t)512) : bytes)] =
            (uint8_t)fuzz_next_chance(chance);
    is_damaged = changes;
    for (size_t i = 0; i < PF_COUNT(paths); i++)
        fuzz_write_file(folder(), paths[i], damaged, bytes);
}

static const struct perfile_symbol_options *symbols(void)
{
    static struct perfile_symbol_options options = PERFILE_SYMBOL_OPTIONS_INIT;
    options.symfs = folder();
    options.kallsyms = "/dev/null";
    options.buildid_dir = "/nonexistent";
    return &options;
}

/* ---- what is made of a recording --------------------------------------------------------------------------------- */

static struct perfile_reader *open_trace(const uint8_t *data, size_t bytes, const char *itrace)
{
    const struct perfile_open_options open = fuzz_options();
    struct perfile_trace_options trace = PERFILE_TRACE_OPTIONS_INIT;
    struct perfile_reader *reader;
    trace.itrace = itrace;
    trace.symbols = symbols();
    if (perfile_open_memory(data, bytes, &open, &reader, NULL) < 0)
        return NULL;
    if (!itrace || perfile_trace_open(reader, &trace, NULL) == 0)
        return reader;
    perfile_close(reader);
    return NULL;
}

static void touch_loss(void *context, const char *text)
{
    (void)context;
    fuzz_touch_text(text);
}

/* Without `itrace` of the recording as it is. */
static void write_output(struct perfile_reader *reader, const char *kind, const char *format, const char *fields)
{
    struct perfile_output_options options = PERFILE_OUTPUT_OPTIONS_INIT;
    struct perfile_dump_options dump = PERFILE_DUMP_OPTIONS_INIT;
    if (!reader)
        return;
    dump.aux = true;
    options.dump = &dump;
    options.fields = fields;
    options.symbols = symbols();
    const int result = perfile_output_write(reader, kind, format, &options, &fuzz_sink, NULL);
    FUZZ_REQUIRE(result != PERFILE_ERROR_WRITE && result <= 1);
    perfile_trace_losses(reader, touch_loss, NULL);
    perfile_close(reader);
}

/* What was written opens, and all of it can be read. */
static void read_again(void)
{
    const struct perfile_open_options open = fuzz_options();
    struct perfile_reader *reader;
    FUZZ_REQUIRE(perfile_open_fd(fuzz_output_file(), &open, &reader, NULL) == 0);
    fuzz_walk(reader, true);
    perfile_close(reader);
}

static void write_samples(struct perfile_reader *reader, const char *itrace)
{
    const struct perfile_writer_options how = {.size = sizeof(how), .mode = PERFILE_MODE_FILE, .no_sync = true};
    struct perfile_inject_options options = PERFILE_INJECT_OPTIONS_INIT;
    struct perfile_edit_report report = PERFILE_EDIT_REPORT_INIT;
    struct perfile_code_reader *code;
    struct perfile_writer *writer;
    if (!reader)
        return;
    FUZZ_REQUIRE(ftruncate(fuzz_output_file(), 0) == 0 &&
                 perfile_writer_open_fd(fuzz_output_file(), &how, &writer, NULL) == 0);
    FUZZ_REQUIRE(perfile_code_open(reader, symbols(), &code, NULL) == 0);
    options.itrace = itrace;
    options.read_code = perfile_code_read;
    options.read_code_context = code;
    const int result = perfile_inject(reader, writer, &options, &report, NULL);
    FUZZ_REQUIRE(result != PERFILE_ERROR_WRITE);
    const bool is_written = result == 0 && perfile_writer_finish(writer, NULL) == 0;
    perfile_writer_close(writer);
    perfile_code_close(code);
    perfile_close(reader);
    if (is_written)
        read_again();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const char *const fields[] = {NULL, "comm,tid,time,ip,sym,addr,flags,insn,brstackinsn",
                                         "event,period,ip,ipc"};
    uint64_t chance = fuzz_chance_of(data, bytes);
    put_program(&chance);
    const char *itrace = letters[fuzz_next_chance(&chance) % PF_COUNT(letters)];
    write_output(open_trace(data, bytes, itrace), "script", "text",
                 fields[fuzz_next_chance(&chance) % PF_COUNT(fields)]);
    write_output(open_trace(data, bytes, itrace), "report", fuzz_next_chance(&chance) % 2 ? "text" : "json", NULL);
    write_output(open_trace(data, bytes, NULL), "dump", fuzz_next_chance(&chance) % 2 ? "text" : "json", NULL);
    write_samples(open_trace(data, bytes, NULL), itrace);
    return 0;
}
