/* SPDX-License-Identifier: MIT */
#include "writing.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT(member) offsetof(struct pf_settings, member)

enum { FRAME_BYTES = 1 << 20 };

/* ---- options ---- */

struct choice {
    const char *name;
    int value;
    const char *doc;
};

static const struct choice modes[] = {
    {"file", PERFILE_MODE_FILE, "one file with an index, the default"},
    {"pipe", PERFILE_MODE_PIPE, "a stream, the default for -o -"},
    {"directory", PERFILE_MODE_DIRECTORY, "a directory with several files, as perf record --threads makes"},
    {NULL, 0, NULL},
};
static const struct choice orders[] = {
    {"same", PERFILE_ORDER_NATIVE, "as in the input, the default"},
    {"little", PERFILE_ORDER_LITTLE, "little endian"},
    {"big", PERFILE_ORDER_BIG, "big endian"},
    {NULL, 0, NULL},
};
static const struct choice compressions[] = {
    {"none", 0, "the default"},
    {"zstd", 0, "COMPRESSED2 records, which perf 6.16 and later read"},
    {"zstd-v1", 1, "COMPRESSED records, which perf 5.2 and later read"},
    {NULL, 0, NULL},
};
static const struct choice formats[] = {
    {"text", 0, "human-readable"},
    {"json", 0, "one JSON object"},
    {"csv", 0, "a line for each recording, with a header line: what was written or, of merge, read"},
    {"jsonl", 0, "an object on a line for each of them"},
    {"parquet", 0, "these as a Parquet file"},
    {"arrow", 0, "these as an Arrow file"},
    {NULL, 0, NULL},
};

static const char *choice_at(const struct choice *choices, size_t index, const char **doc)
{
    for (size_t i = 0; choices[i].name; i++)
        if (i == index) {
            *doc = choices[i].doc;
            return choices[i].name;
        }
    return NULL;
}

static int value_of(const struct choice *choices, const char *name)
{
    for (size_t i = 0; name && choices[i].name; i++)
        if (!strcmp(choices[i].name, name))
            return choices[i].value;
    return choices[0].value;
}

static const char *mode_at(const struct pf_command *command, size_t index, const char **doc)
{
    (void)command;
    return choice_at(modes, index, doc);
}

static const char *order_at(const struct pf_command *command, size_t index, const char **doc)
{
    (void)command;
    return choice_at(orders, index, doc);
}

static const char *compression_at(const struct pf_command *command, size_t index, const char **doc)
{
    (void)command;
    return choice_at(compressions, index, doc);
}

const char *pf_report_format_at(const struct pf_command *command, size_t index, const char **doc)
{
    (void)command;
    return choice_at(formats, index, doc);
}

static const struct pf_option options[] = {
    PF_OPTION_RECORDING_OUTPUT,
    {.name = "mode",
     .kind = PF_OPTION_CHOICE,
     .argument = "MODE",
     .offset = AT(write.mode),
     .value_at = mode_at,
     .doc = "The kind of recording to write."},
    {.name = "byte-order",
     .kind = PF_OPTION_CHOICE,
     .argument = "ORDER",
     .offset = AT(write.order),
     .value_at = order_at,
     .doc = "The byte order of the output."},
    {.name = "compress",
     .kind = PF_OPTION_CHOICE,
     .argument = "HOW",
     .offset = AT(write.compression),
     .value_at = compression_at,
     .doc = "How the records are compressed."},
    {.name = "compression-level",
     .letter = 'z',
     .kind = PF_OPTION_NUMBER,
     .argument = "N",
     .usual = "1",
     .offset = AT(write.level),
     .doc = "The compression level, from 1 (fast, the default) to 22 (small); implies --compress zstd."},
    {.name = "seekable",
     .kind = PF_OPTION_FLAG,
     .offset = AT(write.seekable),
     .doc =
         "Compress so that perfile index can begin in the middle: restart about every MiB of records, which makes the "
         "output a few per cent larger; implies --compress zstd."},
    {.name = "no-sync",
     .kind = PF_OPTION_FLAG,
     .offset = AT(write.no_sync),
     .doc = "Do not wait until the output is on disk."},
    {0},
};
const struct pf_option_group pf_writing_group = {"Writing", options};

/* ---- what they mean ---- */

struct perfile_writer_options pf_writing_options(const struct pf_input *input, const char *output, struct pf_log *log)
{
    const struct pf_settings *settings = input->settings;
    const struct perfile_file *file = perfile_reader_file(input->reader);
    struct perfile_writer_options made = PERFILE_WRITER_OPTIONS_INIT;
    bool named = settings->write.compression && strcmp(settings->write.compression, "none");

    made.mode = settings->write.mode   ? value_of(modes, settings->write.mode)
                : !strcmp(output, "-") ? PERFILE_MODE_PIPE
                                       : PERFILE_MODE_FILE;
    made.byte_order = value_of(orders, settings->write.order);
    if (made.byte_order == PERFILE_ORDER_NATIVE)
        made.byte_order = file->big_endian ? PERFILE_ORDER_BIG : PERFILE_ORDER_LITTLE;
    made.compression = settings->write.level ? (int)(settings->write.level < 99 ? settings->write.level : 99) : named;
    if (settings->write.seekable) {
        made.compression = made.compression ? made.compression : 1;
        made.frame_bytes = FRAME_BYTES;
    }
    made.compressed_v1 = value_of(compressions, settings->write.compression);
    made.no_sync = settings->write.no_sync;
    made.diagnostic = pf_log_diagnostic;
    made.diagnostic_context = log;
    return made;
}

/* The target of a link is relative to the folder that the link is in. */
static bool follow(char output[PATH_MAX])
{
    char target[PATH_MAX], *slash = strrchr(output, '/');
    const ssize_t length = readlink(output, target, sizeof(target) - 1);
    const size_t kept = length > 0 && target[0] != '/' && slash ? (size_t)(slash - output) + 1 : 0;

    if (length <= 0 || kept + (size_t)length >= PATH_MAX)
        return false;
    memcpy(output + kept, target, (size_t)length);
    output[kept + (size_t)length] = 0;
    return true;
}

char *pf_output_target(const char *path)
{
    enum { LINKS_MAX = 40 };
    char output[PATH_MAX], *real = realpath(path, NULL);

    if (real || strlen(path) >= sizeof(output))
        return real ? real : strdup(path);
    memcpy(output, path, strlen(path) + 1);
    for (int i = 0; i < LINKS_MAX && follow(output); i++)
        ;
    return strdup(output);
}
