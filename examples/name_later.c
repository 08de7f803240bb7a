/* SPDX-License-Identifier: MIT */
/*
 * name_later FILE SYMFS: the agent and the server of a fleet in one program. The agent reads the recording without any
 * binary: its profile has build ids and offsets. The server, which has the binaries below SYMFS, reads that profile,
 * looks up names and lines, and prints folded stacks.
 */
#include <perfile/symbolize.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
    char *data;
    size_t count;
};

static int take(void *context, const void *data, size_t count)
{
    struct bytes *bytes = context;
    char *more = realloc(bytes->data, bytes->count + count);

    if (!more)
        return -1;
    memcpy(more + bytes->count, data, count);
    bytes->data = more;
    bytes->count += count;
    return 0;
}

/* What an agent sends. */
static int collect(const char *path, struct bytes *bytes, struct perfile_error *error)
{
    struct perfile_symbol_options symbols = PERFILE_SYMBOL_OPTIONS_INIT;
    struct perfile_profile_options options = PERFILE_PROFILE_OPTIONS_INIT;
    const struct perfile_sink sink = {bytes, take};
    struct perfile_reader *reader = NULL;
    struct perfile_profile *profile = NULL;

    symbols.no_names = true;
    options.symbols = &symbols;
    options.flags = PERFILE_STREAM_ADDRESSES;
    options.keys = "comm";
    options.path = path;
    int result = perfile_open_path(path, NULL, &reader, error);
    if (result == 0)
        result = perfile_profile_open(reader, &options, &profile, error);
    if (result == 0)
        result = perfile_profile_write(profile, &sink, error);
    perfile_profile_close(profile);
    perfile_close(reader);
    return result;
}

/* What a server makes of it. */
static int look_up(const struct bytes *bytes, const char *symfs, struct perfile_profile **named,
                   struct perfile_error *error)
{
    struct perfile_symbol_options symbols = PERFILE_SYMBOL_OPTIONS_INIT;
    struct perfile_symbolizer_options options = PERFILE_SYMBOLIZER_OPTIONS_INIT;
    struct perfile_symbolizer *symbolizer = NULL; /* a server keeps it for all profiles */
    struct perfile_profile *profile = NULL;

    symbols.symfs = symfs;
    options.symbols = &symbols;
    int result = perfile_profile_read(bytes->data, bytes->count, NULL, &profile, error);
    if (result == 0)
        result = perfile_symbolizer_open(&options, &symbolizer, error);
    if (result == 0)
        result = perfile_profile_symbolize(profile, symbolizer, named, error);
    perfile_symbolizer_close(symbolizer);
    perfile_profile_close(profile);
    return result;
}

static int print(void *context, const void *data, size_t bytes)
{
    return fwrite(data, 1, bytes, context) == bytes ? 0 : -1;
}

int main(int argc, char **argv)
{
    struct perfile_output_options options = PERFILE_OUTPUT_OPTIONS_INIT;
    struct perfile_export_options exports = PERFILE_EXPORT_OPTIONS_INIT;
    const struct perfile_sink sink = {stdout, print};
    struct perfile_profile *named = NULL;
    struct bytes bytes = {0};
    struct perfile_error error;

    if (argc != 3)
        return 2;
    int result = collect(argv[1], &bytes, &error);
    if (result == 0)
        result = look_up(&bytes, argv[2], &named, &error);
    exports.profile = named;
    options.exports = &exports;
    if (result == 0)
        result = perfile_output_write(NULL, "export", "folded", &options, &sink, &error);
    perfile_profile_close(named);
    free(bytes.data);
    if (result < 0)
        fprintf(stderr, "name_later: %s\n", error.message);
    return result < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
