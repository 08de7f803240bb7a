/* SPDX-License-Identifier: MIT */
#include "writing.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FRAME_BYTES = 1 << 20 };

/* ---- options ---- */

static const struct pf_value modes[] = {
    {"file", "one file with an index, the default", PERFILE_MODE_FILE},
    {"pipe", "a stream, the default for -o -", PERFILE_MODE_PIPE},
    {"directory", "a directory with several files, as perf record --threads makes", PERFILE_MODE_DIRECTORY},
    {0},
};
static const struct pf_value orders[] = {
    {"same", "as in the input, the default", PERFILE_ORDER_NATIVE},
    {"little", "little endian", PERFILE_ORDER_LITTLE},
    {"big", "big endian", PERFILE_ORDER_BIG},
    {0},
};
static const struct pf_value compressions[] = {
    {"none", "the default", 0},
    {"zstd", "COMPRESSED2 records, which perf 6.16 and later read", 0},
    {"zstd-v1", "COMPRESSED records, which perf 5.2 and later read", 1},
    {0},
};

const char *pf_report_format_at(size_t index, const char **doc)
{
    static const struct pf_value own[] = {{"text", "human-readable"}, {"json", "one JSON object"}};
    const char *name;

    if (index < 2) {
        *doc = own[index].doc;
        return own[index].name;
    }
    for (size_t i = 0; (name = perfile_table_format_at(i, doc)) != NULL; i++)
        if (strcmp(name, "text") != 0 && strcmp(name, "json") != 0 && index-- == 2)
            return name;
    return NULL;
}

static const struct pf_option options[] = {
    PF_OPTION_RECORDING_OUTPUT,
    PF_VALUES(CHOICE, "mode", 0, "MODE", PF_AT(write.mode), .table = modes, "The kind of recording to write."),
    PF_VALUES(CHOICE, "byte-order", 0, "ORDER", PF_AT(write.order), .table = orders, "The byte order of the output."),
    PF_VALUES(CHOICE, "compress", 0, "HOW", PF_AT(write.compression), .table = compressions,
              "How the records are compressed."),
    PF_ROW(NUMBER, "compression-level", 'z', "N", PF_AT(write.level),
           "The compression level, from 1 (fast, the default) to 22 (small); implies --compress zstd.", .usual = "1"),
    PF_FLAG(
        "seekable", 0, PF_AT(write.seekable),
        "Compress so that perfile index can begin in the middle: restart about every MiB of records, which makes the "
        "output a few per cent larger; implies --compress zstd."),
    PF_FLAG("no-sync", 0, PF_AT(write.no_sync), "Do not wait until the output is on disk."),
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

    made.mode = settings->write.mode   ? (int)pf_value_number(modes, settings->write.mode)
                : !strcmp(output, "-") ? PERFILE_MODE_PIPE
                                       : PERFILE_MODE_FILE;
    made.byte_order = (int)pf_value_number(orders, settings->write.order);
    if (made.byte_order == PERFILE_ORDER_NATIVE)
        made.byte_order = file->big_endian ? PERFILE_ORDER_BIG : PERFILE_ORDER_LITTLE;
    made.compression = settings->write.level ? (int)(settings->write.level < 99 ? settings->write.level : 99) : named;
    if (settings->write.seekable) {
        made.compression = made.compression ? made.compression : 1;
        made.frame_bytes = FRAME_BYTES;
    }
    made.compressed_v1 = pf_value_number(compressions, settings->write.compression);
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
