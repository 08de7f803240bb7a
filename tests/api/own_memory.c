/* SPDX-License-Identifier: MIT */
/*
 * own_memory RECORDING SYMFS ARCHIVE BUNDLED JITTED FOLDER: outputs, tables and a profile with symbols and inlined
 * functions, from SYMFS, from the archive and from the bundle of the recording's binaries, and with the code of a JIT,
 * of which files are made in FOLDER; all with an allocator of this program. The library must pass the right size of
 * each block, and free all of them.
 */
#include <perfile/analysis.h>
#include <perfile/edit.h>
#include <perfile/profile.h>
#include <perfile/table.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t blocks;

static void require(int fine, const char *what)
{
    if (fine)
        return;
    fprintf(stderr, "own_memory: %s\n", what);
    exit(1);
}

struct head {
    _Alignas(16) size_t bytes;
};

static void *resize(void *context, void *pointer, size_t old, size_t size)
{
    struct head *head = pointer ? (struct head *)pointer - 1 : NULL;
    require(context == &blocks && (!head || head->bytes == old), "the size of a block is another one");
    blocks += !pointer && size;
    blocks -= pointer && !size;
    if (!size) {
        free(head);
        return NULL;
    }
    head = realloc(head, sizeof(*head) + size);
    require(head != NULL, "out of memory");
    head->bytes = size;
    return head + 1;
}

static const struct perfile_allocator allocator = {&blocks, resize};

struct sum {
    unsigned long long bytes;
    int has_inlined;
};

static int take(void *context, const void *data, size_t bytes)
{
    struct sum *sum = context;
    sum->bytes += bytes;
    sum->has_inlined |= memmem(data, bytes, "(inlined)", 9) != NULL;
    return 0;
}

static struct perfile_reader *open_recording(const char *path)
{
    struct perfile_open_options options = PERFILE_OPEN_OPTIONS_INIT;
    struct perfile_reader *reader;
    struct perfile_error error;
    options.allocator = &allocator;
    const int result = perfile_open_path(path, &options, &reader, &error);
    require(result == 0, error.message);
    return reader;
}

static struct sum write_output(const char *path, const char *kind, const char *format,
                               const struct perfile_symbol_options *symbols)
{
    struct perfile_output_options options = PERFILE_OUTPUT_OPTIONS_INIT;
    struct perfile_reader *reader = open_recording(path);
    struct perfile_error error;
    struct sum sum = {0, 0};
    options.symbols = symbols;
    options.allocator = &allocator;
    const int result = perfile_output_write(reader, kind, format, &options, &(struct perfile_sink){&sum, take}, &error);
    require(result == 0, error.message);
    require(sum.bytes > 0, "nothing was written");
    perfile_close(reader);
    return sum;
}

static void read_table(const char *path, const char *view, const struct perfile_symbol_options *symbols)
{
    struct perfile_table_options options = PERFILE_TABLE_OPTIONS_INIT;
    struct perfile_reader *reader = open_recording(path);
    struct perfile_table *table;
    struct perfile_error error;
    struct ArrowArray batch;
    options.symbols = symbols;
    options.allocator = &allocator;
    options.columns = "all";
    int result = perfile_table_open(reader, view, &options, &table, &error);
    require(result == 0, error.message);
    while ((result = perfile_table_next(table, &batch, &error)) > 0)
        batch.release(&batch);
    require(result == 0, error.message);
    perfile_table_close(table);
    perfile_close(reader);
}

static void make_profile(const char *path, const struct perfile_symbol_options *symbols)
{
    struct perfile_profile_options options = PERFILE_PROFILE_OPTIONS_INIT;
    struct perfile_reader *reader = open_recording(path);
    struct perfile_profile *profile;
    struct perfile_error error;
    options.symbols = symbols;
    options.allocator = &allocator;
    options.flags = PERFILE_STREAM_ADDRESSES;
    options.keys = "tid,comm";
    const int result = perfile_profile_open(reader, &options, &profile, &error);
    require(result == 0, error.message);
    require(perfile_profile_function_count(profile) > 1, "no functions");
    perfile_profile_close(profile);
    perfile_close(reader);
}

/* As `perfile inject --jit`. */
static void add_code(const char *path, const char *folder, const struct perfile_symbol_options *symbols)
{
    struct perfile_writer_options options = PERFILE_WRITER_OPTIONS_INIT;
    struct perfile_inject_options how = PERFILE_INJECT_OPTIONS_INIT;
    struct perfile_edit_report report = {.size = sizeof(report)};
    struct perfile_reader *reader = open_recording(path);
    struct perfile_writer *writer;
    struct perfile_jit *jit;
    struct perfile_error error;
    char out[4096];
    snprintf(out, sizeof(out), "%s/made.perf.data", folder);
    options.allocator = &allocator;
    int result = perfile_writer_open_path(out, &options, &writer, &error);
    require(result == 0, error.message);
    result = perfile_jit_open(reader, symbols, folder, &jit, &error);
    require(result == 0, error.message);
    how.follow_code = perfile_jit_follow;
    how.code_context = jit;
    result = perfile_inject(reader, writer, &how, &report, &error);
    require(result == 0, error.message);
    require(perfile_jit_files(jit, NULL) > 0, "no code of the JIT");
    result = perfile_writer_finish(writer, &error);
    require(result == 0, error.message);
    perfile_jit_close(jit);
    perfile_writer_close(writer);
    perfile_close(reader);
}

int main(int argc, char **argv)
{
    static const char *const views[] = {"samples", "functions", "frames", "stacks"};
    require(argc == 7, "six arguments are needed");
    const char *path = argv[1], *bundled = argv[4], *jitted = argv[5], *folder = argv[6];
    struct perfile_symbol_options there = PERFILE_SYMBOL_OPTIONS_INIT, packed = there, beside = there;
    there.kallsyms = packed.kallsyms = beside.kallsyms = "/dev/null";
    there.symfs = argv[2];
    packed.symfs = folder;
    packed.archive = argv[3];
    for (size_t i = 0; i < 2; i++) { /* the second time what is kept in the cache is there */
        require(write_output(path, "script", "text", &there).has_inlined, "no inlined functions");
        (void)write_output(path, "script", "text", &packed);
        (void)write_output(path, "report", "json", &packed);
        (void)write_output(path, "flame", "folded", &there);
        require(write_output(bundled, "script", "text", &beside).has_inlined, "the bundle is not used");
        (void)write_output(jitted, "script", "text", &beside);
        (void)write_output(jitted, "report", "text", &beside);
    }
    for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++) {
        read_table(path, views[i], &there);
        read_table(jitted, views[i], &beside);
    }
    make_profile(path, &packed);
    add_code(jitted, folder, &beside);
    require(blocks == 0, "not all memory has come back");
    return 0;
}
