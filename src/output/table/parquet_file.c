/* SPDX-License-Identifier: MIT */
#include "output/table/parquet_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "base/locale.h"

enum { MAX_FOOTER = 1 << 28, TAIL = 8 };

/* An element of the schema, as far as it matters. */
struct element {
    int64_t type, repetition, children, converted; /* -1: it does not say */
    const char *name;
    size_t name_bytes;
};

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

bool pf_parquet_file_read(const struct pf_parquet_file *file, uint64_t offset, void *to, size_t bytes)
{
    return pf_read_from(file->fd, offset, to, bytes) == bytes;
}

int pf_parquet_fail(struct perfile_error *error, int code, const char *path, const char *why)
{
    const size_t bytes = strlen(path), fits = error ? sizeof(error->message) - strlen(why) - sizeof("...: ") : 0;
    (void)pf_fail(error, code, PERFILE_NO_OFFSET, path, "%s", why);
    if (error)
        snprintf(error->message, sizeof(error->message), "%s%s: %s", bytes > fits ? "..." : "",
                 path + (bytes > fits ? bytes - fits : 0), why);
    return code;
}

/* ---- schema ------------------------------------------------------------------------------------------------------ */

static struct element take_element(struct pf_bytes *from)
{
    struct element made = {-1, -1, -1, -1, "", 0};
    struct pf_thrift_reader reader = pf_thrift_open(from);
    while (pf_thrift_next(&reader)) {
        int64_t *const numbers[] = {
            [1] = &made.type, [3] = &made.repetition, [5] = &made.children, [6] = &made.converted};
        if (reader.field == 4)
            made.name = pf_thrift_take_text(&reader, &made.name_bytes);
        else if (reader.field > 0 && reader.field < (int)PF_COUNT(numbers) && numbers[reader.field])
            *numbers[reader.field] = pf_thrift_take_number(&reader);
        else
            pf_thrift_skip(&reader);
    }
    return made;
}

/* A list is three elements. */
static bool take_leaf(struct pf_parquet_file *file, struct pf_bytes *from, size_t *left, bool *enough)
{
    enum { REQUIRED = 0, REPEATED = 2, TIMESTAMP_MICROS = 10 };
    struct pf_parquet_leaf *leaf = &file->leaves[file->leaf_count];
    struct element element = take_element(from);
    leaf->is_required = element.repetition == REQUIRED;
    leaf->name = pf_arena_text(&file->arena, element.name, element.name_bytes);
    *enough = leaf->name != NULL;
    leaf->is_list = element.children == 1 && element.type < 0;
    if (leaf->is_list) {
        if (*left < 3)
            return false;
        const struct element list = take_element(from);
        element = take_element(from);
        *left -= 2;
        if (list.children != 1 || list.repetition != REPEATED || element.repetition != REQUIRED)
            return false;
    }
    (*left)--;
    leaf->type = (int)element.type;
    leaf->is_wall = element.converted == TIMESTAMP_MICROS;
    file->leaf_count++;
    return element.type >= 0 && element.type <= PF_PARQUET_BYTE_ARRAY && element.children <= 0;
}

static bool take_schema(struct pf_parquet_file *file, struct pf_thrift_reader *reader, bool *enough)
{
    size_t left = pf_thrift_take_list(reader, PF_THRIFT_STRUCT);
    const struct element root = left ? take_element(reader->from) : (struct element){.children = -1};
    if (file->leaves || root.children <= 0 || root.children > PF_PARQUET_MAX_LEAVES || left > 3 * PF_PARQUET_MAX_LEAVES)
        return false;
    file->leaves = pf_arena_new(&file->arena, (size_t)root.children * sizeof(*file->leaves));
    if (!file->leaves)
        return *enough = false;
    for (left--; left && file->leaf_count < (size_t)root.children && *enough;)
        if (!take_leaf(file, reader->from, &left, enough))
            return false;
    return !left && file->leaf_count == (size_t)root.children;
}

/* ---- row groups -------------------------------------------------------------------------------------------------- */

static bool take_column_facts(struct pf_bytes *from, const struct pf_parquet_leaf *leaf, struct pf_parquet_chunk *chunk)
{
    int64_t codec = -1, type = -1, values = -1, bytes = -1, data = -1, dictionary = 0;
    int64_t *const numbers[] = {
        [1] = &type, [4] = &codec, [5] = &values, [7] = &bytes, [9] = &data, [11] = &dictionary};
    struct pf_thrift_reader reader = pf_thrift_open(from);
    while (pf_thrift_next(&reader))
        if (reader.field > 0 && reader.field < (int)PF_COUNT(numbers) && numbers[reader.field])
            *numbers[reader.field] = pf_thrift_take_number(&reader);
        else
            pf_thrift_skip(&reader);
    *chunk = (struct pf_parquet_chunk){(uint64_t)(dictionary > 0 && dictionary < data ? dictionary : data),
                                       (uint64_t)bytes, (uint64_t)values};
    return codec == PF_PARQUET_ZSTD && type == leaf->type && values >= 0 && bytes >= 0 && data >= 0;
}

static bool take_chunk(struct pf_bytes *from, const struct pf_parquet_leaf *leaf, struct pf_parquet_chunk *chunk)
{
    struct pf_thrift_reader reader = pf_thrift_open(from);
    bool is_good = false;
    while (pf_thrift_next(&reader))
        if (reader.field == 3 && reader.type == PF_THRIFT_STRUCT)
            is_good = take_column_facts(from, leaf, chunk);
        else
            pf_thrift_skip(&reader);
    return is_good;
}

static bool take_group(struct pf_parquet_file *file, struct pf_bytes *from, size_t group)
{
    struct pf_thrift_reader reader = pf_thrift_open(from);
    size_t count = 0;
    uint64_t left = file->bytes; /* the columns of a group are in memory together: they share no bytes */
    bool is_good = true;
    while (is_good && pf_thrift_next(&reader)) {
        if (reader.field == 1) {
            count = pf_thrift_take_list(&reader, PF_THRIFT_STRUCT);
            is_good = count == file->leaf_count;
            for (size_t i = 0; is_good && i < count; i++) {
                struct pf_parquet_chunk *chunk = &file->chunks[group * count + i];
                is_good = take_chunk(from, &file->leaves[i], chunk) && chunk->offset <= file->bytes &&
                          chunk->bytes <= file->bytes - chunk->offset && chunk->bytes <= left;
                left -= is_good ? chunk->bytes : 0;
            }
        } else if (reader.field == 3) {
            file->group_rows[group] = (uint64_t)pf_thrift_take_number(&reader);
        } else {
            pf_thrift_skip(&reader);
        }
    }
    return is_good && count && file->group_rows[group] <= INT64_MAX;
}

static bool take_groups(struct pf_parquet_file *file, struct pf_thrift_reader *reader, bool *enough)
{
    const size_t count = pf_thrift_take_list(reader, PF_THRIFT_STRUCT);
    uint64_t rows = 0;
    if (!file->leaf_count || file->chunks || count > MAX_FOOTER / (file->leaf_count * sizeof(*file->chunks)))
        return false;
    file->chunks = pf_arena_new(&file->arena, (count * file->leaf_count + 1) * sizeof(*file->chunks));
    file->group_rows = pf_arena_new(&file->arena, (count + 1) * sizeof(*file->group_rows));
    if (!file->chunks || !file->group_rows)
        return *enough = false;
    for (; file->group_count < count; file->group_count++)
        if (!take_group(file, reader->from, file->group_count) ||
            !pf_add(rows, file->group_rows[file->group_count], &rows))
            return false;
    return rows == file->rows;
}

/* ---- the rest ---------------------------------------------------------------------------------------------------- */

static void take_facts(struct pf_parquet_file *file, struct pf_thrift_reader *reader)
{
    static const char wanted[] = "perfile.view";
    for (size_t left = pf_thrift_take_list(reader, PF_THRIFT_STRUCT); left && !reader->from->bad; left--) {
        struct pf_thrift_reader pair = pf_thrift_open(reader->from);
        const char *texts[3] = {"", "", ""};
        size_t bytes[3] = {0, 0, 0};
        while (pf_thrift_next(&pair))
            if (pair.field == 1 || pair.field == 2)
                texts[pair.field] = pf_thrift_take_text(&pair, &bytes[pair.field]);
            else
                pf_thrift_skip(&pair);
        if (bytes[1] == strlen(wanted) && memcmp(texts[1], wanted, bytes[1]) == 0)
            file->view = pf_arena_text(&file->arena, texts[2], bytes[2]);
    }
}

static bool take_footer(struct pf_parquet_file *file, struct pf_bytes *from, bool *enough)
{
    struct pf_thrift_reader reader = pf_thrift_open(from);
    bool is_good = true;
    while (is_good && *enough && pf_thrift_next(&reader)) {
        if (reader.field == 2)
            is_good = take_schema(file, &reader, enough);
        else if (reader.field == 3)
            file->rows = (uint64_t)pf_thrift_take_number(&reader);
        else if (reader.field == 4)
            is_good = take_groups(file, &reader, enough);
        else if (reader.field == 5)
            take_facts(file, &reader);
        else
            pf_thrift_skip(&reader);
    }
    *enough = *enough && file->view;
    return is_good && !from->bad && file->chunks;
}

static int read_footer(struct pf_parquet_file *file, const char *path, size_t bytes, struct perfile_error *error)
{
    uint8_t *footer = pf_new(file->allocator, bytes);
    struct pf_bytes from = {footer, footer + bytes, false};
    bool enough = footer != NULL, is_good = false;
    const bool was_read = footer && pf_parquet_file_read(file, file->bytes - TAIL - bytes, footer, bytes);
    if (was_read)
        is_good = take_footer(file, &from, &enough);
    pf_free(file->allocator, footer, bytes);
    if (!enough)
        return pf_fail_memory(error, "table");
    if (!was_read)
        return pf_parquet_fail(error, PERFILE_ERROR_READ, path, "cannot be read");
    return is_good ? 0
                   : pf_parquet_fail(error, PERFILE_ERROR_UNSUPPORTED, path,
                                     "the metadata is damaged, or not as perfile writes it");
}

int pf_parquet_file_open(struct pf_parquet_file *file, const struct perfile_allocator *allocator, const char *path,
                         struct perfile_error *error)
{
    struct stat status;
    uint8_t tail[TAIL];
    *file = (struct pf_parquet_file){.allocator = allocator, .fd = open(path, O_RDONLY | O_CLOEXEC)};
    pf_arena_open(&file->arena, allocator);
    if (!(file->view = pf_arena_text(&file->arena, "", 0)))
        return pf_fail_memory(error, "table");
    if (file->fd < 0 || fstat(file->fd, &status) != 0)
        return pf_parquet_fail(error, PERFILE_ERROR_OPEN, path, pf_error_text(errno));
    file->bytes = S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
    if (file->bytes < TAIL + 4 || !pf_parquet_file_read(file, file->bytes - TAIL, tail, TAIL) ||
        memcmp(tail + 4, "PAR1", 4) != 0)
        return pf_parquet_fail(error, PERFILE_ERROR_FORMAT, path, "not a complete Parquet file");
    const uint32_t bytes = pf_load32(tail, PF_NATIVE_BIG_ENDIAN);
    if (!bytes || bytes > MAX_FOOTER || bytes > file->bytes - TAIL)
        return pf_parquet_fail(error, PERFILE_ERROR_FORMAT, path, "not a complete Parquet file");
    return read_footer(file, path, bytes, error);
}

void pf_parquet_file_close(struct pf_parquet_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    pf_arena_close(&file->arena);
    file->fd = -1;
}
