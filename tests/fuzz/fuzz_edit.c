/* SPDX-License-Identifier: MIT */
/* Recordings that are written from hostile ones: repaired and converted, in every mode that needs no file. */
#include "fuzz.h"

#include <perfile/edit.h>

static void convert(const uint8_t *data, size_t bytes, const struct perfile_writer_options *options, bool repair)
{
    struct perfile_open_options open = fuzz_options();
    struct perfile_edit_report report;
    struct perfile_reader *reader;
    struct perfile_writer *writer;
    struct perfile_error error;
    if (perfile_open_memory(data, bytes, &open, &reader, &error) < 0)
        return;
    FUZZ_REQUIRE(perfile_writer_open_sink(&fuzz_sink, options, &writer, &error) == 0);
    int result = repair ? perfile_repair(reader, writer, NULL, &report, &error)
                        : perfile_convert(reader, writer, NULL, &report, &error);
    FUZZ_REQUIRE(result != PERFILE_ERROR_WRITE && result != PERFILE_ERROR_ARGUMENT);
    if (result == 0)
        FUZZ_REQUIRE(perfile_writer_finish(writer, &error) == 0);
    FUZZ_REQUIRE(report.records_kept >= report.samples_kept);
    perfile_writer_close(writer);
    perfile_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct perfile_writer_options options = PERFILE_WRITER_OPTIONS_INIT;
    options.mode = PERFILE_MODE_PIPE;
    for (int order = PERFILE_ORDER_LITTLE; order <= PERFILE_ORDER_BIG; order++) {
        options.byte_order = order;
        options.compression = order == PERFILE_ORDER_LITTLE ? 1 : 0;
        convert(data, bytes, &options, order == PERFILE_ORDER_LITTLE);
    }
    return 0;
}
