/* SPDX-License-Identifier: MIT */
/* Parquet files, as datasets are compacted and asked: what the footer says, all rows, some columns, rows of each id. */
#include <sys/mman.h>
#include <unistd.h>

#include <perfile/table.h>

#include "fuzz.h"

enum { MAX_BATCHES = 16, BATCH_ROWS = 65536 };

static void touch_array(const struct ArrowArray *array, const struct ArrowSchema *schema)
{
    const uint64_t rows = (uint64_t)array->length;
    const char kind = *schema->format;
    FUZZ_REQUIRE(array->length >= 0 && array->offset == 0 && array->null_count <= array->length);
    if (array->n_buffers && array->buffers[0])
        fuzz_touch(array->buffers[0], (rows + 7) / 8);
    if (kind == 'b')
        fuzz_touch(array->buffers[1], (rows + 7) / 8);
    else if (kind == 'l' || kind == 'L' || kind == 'g')
        fuzz_touch(array->buffers[1], rows * sizeof(uint64_t));
    else if (kind == 'i' || kind == 'I')
        fuzz_touch(array->buffers[1], rows * sizeof(uint32_t));
    if (kind == 'u' || !strcmp(schema->format, "+l")) {
        const int32_t *offsets = array->buffers[1];
        for (uint64_t i = 0; i < rows; i++)
            FUZZ_REQUIRE(offsets[i] >= 0 && offsets[i] <= offsets[i + 1]);
        if (kind == 'u' && rows)
            fuzz_touch(array->buffers[2], (uint64_t)offsets[rows]);
    }
    if (array->dictionary) {
        const int32_t *codes = array->buffers[1];
        const uint8_t *valid = array->buffers[0];
        touch_array(array->dictionary, schema->dictionary);
        for (uint64_t i = 0; i < rows; i++)
            FUZZ_REQUIRE((valid && !(valid[i / 8] >> i % 8 & 1)) ||
                         (codes[i] >= 0 && codes[i] < array->dictionary->length));
    }
    for (int64_t i = 0; i < array->n_children; i++)
        touch_array(array->children[i], schema->children[i]);
}

static void read_rows(const char *path, const char *distinct, bool some)
{
    static const char *const columns[] = {"timestamp", "stack", "comm", "period"};
    struct perfile_parquet_options options = PERFILE_PARQUET_OPTIONS_INIT;
    const char *const paths[] = {path, path};
    struct perfile_table *table;
    struct perfile_error error;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    options.paths = paths;
    options.path_count = PF_COUNT(paths);
    options.distinct = distinct;
    options.columns = some ? columns : NULL;
    options.column_count = some ? PF_COUNT(columns) : 0;
    if (perfile_table_of_parquet(&options, &table, &error) < 0)
        return;
    if (perfile_table_schema(table, &schema, &error) == 0) {
        for (unsigned left = MAX_BATCHES; left && perfile_table_next(table, &batch, &error) > 0; left--) {
            FUZZ_REQUIRE(batch.length > 0 && batch.length <= BATCH_ROWS);
            touch_array(&batch, &schema);
            batch.release(&batch);
        }
        schema.release(&schema);
    }
    perfile_table_close(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct perfile_parquet_info info = PERFILE_PARQUET_INFO_INIT;
    struct perfile_error error;
    char path[64];
    int fd = memfd_create("parquet", MFD_CLOEXEC);
    FUZZ_REQUIRE(fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (perfile_parquet_look(path, &info, &error) == 0) {
        FUZZ_REQUIRE(info.bytes == bytes);
        read_rows(path, NULL, false);
        read_rows(path, NULL, true);
        read_rows(path, "stack_id", true);
        read_rows(path, "function_id", false);
    }
    close(fd);
    return 0;
}
