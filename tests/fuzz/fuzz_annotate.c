/* SPDX-License-Identifier: MIT */
/* A recording of a program, which is the input: its functions with their code and source lines, and as text. */
#include "made.h"

#include <perfile/annotate.h>

static void remove_folder(void);

static const char *folder(void)
{
    return fuzz_folder(remove_folder);
}

static void remove_folder(void)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/x", folder());
    unlink(path);
    rmdir(folder());
}

static struct perfile_symbol_options symbols(void)
{
    struct perfile_symbol_options options = PERFILE_SYMBOL_OPTIONS_INIT;
    options.symfs = folder();
    options.kallsyms = "/dev/null";
    options.buildid_dir = "/nonexistent";
    return options;
}

static void touch_line(struct perfile_listing *listing, size_t index)
{
    struct perfile_listing_line line = PERFILE_LISTING_LINE_INIT;
    struct perfile_listing_frame frame = PERFILE_LISTING_FRAME_INIT;
    FUZZ_REQUIRE(perfile_listing_line_at(listing, index, &line) == 0);
    for (size_t i = 0; perfile_listing_frame_at(listing, index, i, &frame) == 0; i++)
        if (frame.file)
            (void)perfile_listing_source(listing, frame.file, frame.line);
}

static void list_functions(struct perfile_reader *reader)
{
    struct perfile_annotation_options options = PERFILE_ANNOTATION_OPTIONS_INIT;
    const struct perfile_symbol_options where = symbols();
    struct perfile_annotation *annotation;
    struct perfile_listing *listing;
    options.symbols = &where;
    options.threads = 1;
    FUZZ_REQUIRE(perfile_annotation_open(reader, &options, &annotation, NULL) == 0);
    for (size_t i = 0; i < perfile_annotation_function_count(annotation); i++) {
        FUZZ_REQUIRE(perfile_annotation_listing(annotation, i, &listing, NULL) == 0);
        for (size_t k = 0; k < perfile_listing_line_count(listing); k++)
            touch_line(listing, k);
        perfile_listing_close(listing);
    }
    perfile_annotation_close(annotation);
}

static void write_listing(struct perfile_reader *reader)
{
    struct perfile_output_options options = PERFILE_OUTPUT_OPTIONS_INIT;
    struct perfile_annotate_options annotate = PERFILE_ANNOTATE_OPTIONS_INIT;
    const struct perfile_symbol_options where = symbols();
    annotate.flags = ~0u;
    options.symbols = &where;
    options.annotate = &annotate;
    FUZZ_REQUIRE(perfile_reader_rewind(reader, NULL) == 0);
    int result = perfile_output_write(reader, "annotate", "stdio", &options, &fuzz_sink, NULL);
    FUZZ_REQUIRE(result != PERFILE_ERROR_WRITE && result <= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    uint64_t words[FUZZ_WORDS];
    const size_t recording_bytes = fuzz_recording(words, bytes);
    struct perfile_reader *reader;
    fuzz_write_file(folder(), "x", data, bytes);
    FUZZ_REQUIRE(perfile_open_memory(words, recording_bytes, NULL, &reader, NULL) == 0);
    list_functions(reader);
    write_listing(reader);
    perfile_close(reader);
    return 0;
}
