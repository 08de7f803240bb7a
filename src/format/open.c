/* SPDX-License-Identifier: MIT */
/* Opening: which container it is, what its header says, and where its records are. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/locale.h"
#include "base/sized.h"
#include "format/attr.h"
#include "format/reader.h"

enum {
    HEADER_V2 = 104,
    HEADER_NO_BITMAP = 72, /* before the feature bitmap */
    HEADER_PIPE = 16,
    ATTR_BYTES_MAX = 64 * 1024,
    DIRECTORY_FILES_MAX = 65536,
};

static const char magic_v1[8] = {'P', 'E', 'R', 'F', 'F', 'I', 'L', 'E'};
static const char magic_v2_little[8] = {'P', 'E', 'R', 'F', 'I', 'L', 'E', '2'};
static const char magic_v2_big[8] = {'2', 'E', 'L', 'I', 'F', 'R', 'E', 'P'};

/* ---- construction ---- */

static void fill_limits(struct perfile_open_options *options)
{
    const struct {
        uint64_t *limit;
        uint64_t standard;
    } limits[] = {
        {&options->limit_events, 65536},
        {&options->limit_ids, 1 << 24},
        {&options->limit_feature_bytes, 256 << 20},
        {&options->limit_queue_bytes, 512 << 20},
        {&options->limit_record_bytes, 256 << 20},
    };
    for (size_t i = 0; i < PF_COUNT(limits); i++)
        if (*limits[i].limit == 0)
            *limits[i].limit = limits[i].standard;
}

static int make_reader(const struct perfile_open_options *options, struct perfile_reader **reader,
                       struct perfile_error *error)
{
    struct perfile_open_options all = PERFILE_OPEN_OPTIONS_INIT;
    *reader = NULL;
    int result = pf_sized_take(&all, sizeof(all), options, "open options", error);
    if (result < 0)
        return result;
    fill_limits(&all);
    const struct perfile_allocator *allocator = pf_allocator_or_default(all.allocator);
    struct perfile_reader *made = pf_new(allocator, sizeof(*made));
    struct pf_part *part = made ? pf_new(allocator, sizeof(*part)) : NULL;
    if (!part) {
        pf_free(allocator, made, sizeof(*made));
        return pf_fail_memory(error, "reader");
    }
    made->options = all;
    made->allocator = allocator;
    made->directory = -1;
    made->parts = part;
    made->part_count = 1;
    part->reader = made;
    part->source.fd = -1;
    pf_arena_open(&made->arena, allocator);
    pf_map_open(&made->ids, allocator);
    pf_map_open(&made->kinds, allocator);
    *reader = made;
    return 0;
}

static void close_part(struct pf_part *part)
{
    pf_inflate_close(part->inflate);
    pf_window_close(&part->inflated);
    pf_window_close(&part->window);
    pf_source_close(&part->source);
    pf_free(part->reader->allocator, part->kept, part->kept_capacity);
}

void perfile_close(struct perfile_reader *reader)
{
    if (!reader)
        return;
    perfile_reader_attach(reader, NULL, NULL);
    if (reader->follower.closed)
        reader->follower.closed(reader->follower.context);
    for (uint32_t i = 0; i < reader->part_count; i++)
        close_part(&reader->parts[i]);
    if (reader->directory >= 0)
        close(reader->directory);
    const struct perfile_allocator *allocator = reader->allocator;
    pf_free(allocator, reader->parts, reader->part_count * sizeof(*reader->parts));
    pf_free(allocator, reader->events, reader->event_capacity * sizeof(struct pf_event *));
    pf_features_free(reader);
    pf_free(allocator, reader->diagnostics, reader->diagnostic_capacity * sizeof(*reader->diagnostics));
    pf_tracing_close(reader->tracing);
    pf_map_close(&reader->ids);
    pf_map_close(&reader->kinds);
    pf_arena_close(&reader->arena);
    pf_free(allocator, reader, sizeof(*reader));
}

/* ---- where the records are ---- */

static int open_part(struct perfile_reader *reader, struct pf_part *part, struct perfile_error *error)
{
    if (part->source.memory) {
        pf_window_open_memory(&part->window, part->source.memory, (size_t)part->source.bytes);
        return 0;
    }
    if (pf_window_open(&part->window, reader->allocator, pf_follow_fill, part, part->source.seekable) < 0)
        return pf_fail_memory(error, "window");
    return 0;
}

static void position_records(struct pf_part *part, uint64_t start, uint64_t end)
{
    part->start = start;
    part->frame = (struct pf_frame){.window = &part->window, .at = start, .end = end, .step = 8};
}

int pf_diagnose_file(struct perfile_reader *reader, const char *rule, int severity, uint64_t offset,
                     const char *message, struct perfile_error *error)
{
    const struct perfile_diagnostic diagnostic = {
        .rule = rule, .severity = severity, .offset = offset, .message = message};
    return pf_diagnose(reader, NULL, &diagnostic, error);
}

/* ---- file mode ---- */

/* v1 does not say its byte order; the size of its attrs does. */
static bool v1_is_swapped(const uint8_t *header)
{
    for (uint64_t size = 64; size <= 256; size += 8) {
        if (pf_load64(header + 16, false) == size + 16)
            return false;
        if (pf_load64(header + 16, true) == size + 16)
            return true;
    }
    return pf_load64(header + 8, false) > UINT32_MAX;
}

static struct perfile_section section_at(const uint8_t *data, bool swap)
{
    return (struct perfile_section){pf_load64(data, swap), pf_load64(data + 8, swap)};
}

/*
 * The bitmap is an array of the writer's unsigned long: on little-endian machines the same bytes for every size. On
 * big-endian ones the words are 64 or 32 bits wide; the bit of HOSTNAME, which every recorder writes, shows which.
 */
static void read_bitmap(struct perfile_file *file, const uint8_t *data)
{
    for (unsigned word = 0; word < 4; word++)
        file->feature_bits[word] = pf_load64(data + 8 * (size_t)word, file->swapped);
    const uint64_t hostname = 1ull << PERFILE_FEATURE_HOSTNAME;
    if (!file->big_endian || file->feature_bits[0] & hostname)
        return;
    uint64_t words[4];
    for (unsigned word = 0; word < 4; word++)
        words[word] = file->feature_bits[word] >> 32 | file->feature_bits[word] << 32;
    if (words[0] & hostname) {
        memcpy(file->feature_bits, words, sizeof(words));
        file->feature_words_32 = true;
    }
}

void pf_file_header_read(struct perfile_file *file, const uint8_t *header, size_t bytes)
{
    file->header_size = pf_load64(header + 8, file->swapped);
    file->attr_size = pf_load64(header + 16, file->swapped);
    file->attrs = section_at(header + 24, file->swapped);
    file->data = section_at(header + 40, file->swapped);
    file->event_types = section_at(header + 56, file->swapped);
    if (file->header_size >= HEADER_V2 && bytes >= HEADER_V2)
        read_bitmap(file, header + HEADER_NO_BITMAP);
}

/* The bytes in which sections can be; for a file that grows there is no limit. */
static uint64_t bytes_there(const struct perfile_reader *reader)
{
    return reader->parts[0].source.growing ? UINT64_MAX : reader->parts[0].source.bytes;
}

/* The ids of the attr whose section is given. */
static int read_ids(struct perfile_reader *reader, struct pf_event *event, const struct perfile_section *section,
                    struct perfile_error *error)
{
    event->public.ids_section = *section;
    const uint64_t size = bytes_there(reader);
    uint64_t end;
    if (section->bytes == 0)
        return 0;
    if (!pf_add(section->offset, section->bytes, &end) || end > size)
        return pf_diagnose_file(reader, "ids-outside", PERFILE_LOSS, event->public.attr_offset,
                                "the ids of an event lie outside the file", error);
    reader->ids_bytes += section->bytes;
    if (reader->ids_bytes > size)
        return pf_diagnose_file(reader, "ids-overlap", PERFILE_LOSS, event->public.attr_offset,
                                "the ids of the events are more than the file holds", error);
    if (section->bytes / 8 > reader->options.limit_ids)
        return pf_fail(error, PERFILE_ERROR_LIMIT, section->offset, "ids", "more than limit_ids, %" PRIu64,
                       reader->options.limit_ids);
    uint8_t *data = pf_resize(reader->allocator, NULL, 0, (size_t)section->bytes);
    if (!data)
        return pf_fail_memory(error, "ids");
    size_t got;
    int result = pf_follow_read(&reader->parts[0], section->offset, data, (size_t)section->bytes, &got, error);
    const struct perfile_u64s ids = {.data = data, .count = got / 8, .swapped = reader->file.swapped};
    if (result == 0)
        result = pf_events_add_ids(reader, event, &ids, error);
    pf_free(reader->allocator, data, (size_t)section->bytes);
    return result;
}

/* One entry of the attrs: the attr, then the section of its ids. */
static int read_attr_entry(struct perfile_reader *reader, const uint8_t *entry, uint32_t bytes, uint64_t offset,
                           struct perfile_error *error)
{
    uint32_t stated = pf_attr_stated_bytes(entry, reader->file.swapped), capacity = bytes - 16;
    if (stated < PF_ATTR_SIZE_MIN || stated > capacity) {
        int result = pf_diagnose_file(reader, "attr-size", PERFILE_LOSS, offset,
                                      "an attr states a size that does not fit into its entry", error);
        if (result < 0)
            return result;
        stated = capacity;
    }
    int result = pf_events_add(reader, entry, stated, offset, error);
    if (result < 0)
        return result;
    /* the ids follow the attr of the stated size: some writers leave a gap after them */
    const struct perfile_section ids = section_at(entry + stated, reader->file.swapped);
    return read_ids(reader, reader->events[reader->event_count - 1], &ids, error);
}

/* The bytes of the attrs: they end with the file at the latest, and the records begin after the last attr. */
static uint64_t bytes_of_attrs(const struct perfile_reader *reader)
{
    const struct perfile_file *file = &reader->file;
    uint64_t end;
    const bool inside = pf_add(file->attrs.offset, file->attrs.bytes, &end) && end <= bytes_there(reader);
    if (inside || file->data.offset <= file->attrs.offset)
        return file->attrs.bytes;
    return pf_min(file->attrs.bytes, file->data.offset - file->attrs.offset);
}

static int read_attrs(struct perfile_reader *reader, struct perfile_error *error)
{
    const struct perfile_file *file = &reader->file;
    const uint64_t stride = file->attr_size, bytes = bytes_of_attrs(reader);
    uint8_t *entry;
    if (stride < PF_ATTR_SIZE_MIN + 16 || stride > ATTR_BYTES_MAX)
        return pf_diagnose_file(reader, "attr-size", PERFILE_LOSS, 16, "the header states an impossible size of attrs",
                                error);
    entry = pf_resize(reader->allocator, NULL, 0, (size_t)stride);
    if (!entry)
        return pf_fail_memory(error, "attrs");
    int result = 0;
    if (bytes != file->attrs.bytes)
        result = pf_diagnose_file(reader, "attrs-outside", PERFILE_LOSS, file->attrs.offset,
                                  "the attrs extend beyond the end of the file: those before the data are read", error);
    for (uint64_t done = 0; result == 0 && bytes - done >= stride; done += stride) {
        size_t got = 0;
        uint64_t offset;
        if (pf_add(file->attrs.offset, done, &offset))
            result = pf_follow_read(&reader->parts[0], offset, entry, (size_t)stride, &got, error);
        if (result == 0 && got < stride) {
            result = pf_diagnose_file(reader, "attrs-outside", PERFILE_LOSS, file->attrs.offset,
                                      "the attrs lie outside the file", error);
            break;
        }
        if (result == 0)
            result = read_attr_entry(reader, entry, (uint32_t)stride, offset, error);
    }
    pf_free(reader->allocator, entry, (size_t)stride);
    return result;
}

enum { EVENT_TYPE_BYTES = 72, EVENT_TYPES_MAX = 4096 };

static int read_event_types(struct perfile_reader *reader, struct perfile_error *error)
{
    struct perfile_file *file = &reader->file;
    size_t count = (size_t)pf_min(file->event_types.bytes / EVENT_TYPE_BYTES, EVENT_TYPES_MAX);
    struct perfile_event_type *types = NULL;
    for (size_t i = 0; i < count; i++) {
        uint8_t entry[EVENT_TYPE_BYTES];
        size_t got;
        int result = pf_follow_read(&reader->parts[0], file->event_types.offset + i * EVENT_TYPE_BYTES, entry,
                                    sizeof(entry), &got, error);
        if (result < 0 || got < sizeof(entry))
            return result;
        if (!types)
            file->event_type_entries = types = pf_arena_new(&reader->arena, count * sizeof(*types));
        const char *name = pf_arena_text(&reader->arena, entry + 8, pf_text_length(entry + 8, sizeof(entry) - 8));
        if (!types || !name)
            return pf_fail_memory(error, "event types");
        types[file->event_type_count++] = (struct perfile_event_type){pf_load64(entry, file->swapped), name};
    }
    return 0;
}

/* Finds where the records end, and whether the table of features can follow them. */
static int position_data(struct perfile_reader *reader, bool *has_table, struct perfile_error *error)
{
    struct perfile_file *file = &reader->file;
    uint64_t size = reader->parts[0].source.bytes, end;
    *has_table = false;
    reader->following = reader->parts[0].source.growing;
    if (reader->following && pf_add(file->data.offset, file->data.bytes, &end)) {
        reader->parts[0].endless = file->data.bytes == 0;
        position_records(&reader->parts[0], file->data.offset, file->data.bytes ? end : UINT64_MAX);
        return 0;
    }
    file->finished = true;
    if (file->data.bytes == 0 || file->data.offset > size) {
        file->finished = false;
        uint64_t start = file->data.offset > size ? pf_min(HEADER_V2, size) : file->data.offset;
        position_records(&reader->parts[0], start, size);
        if (file->data.bytes)
            return pf_diagnose_file(reader, "data-outside", PERFILE_LOSS, 40, "the data lies outside the file", error);
        return pf_diagnose_file(
            reader, "data-size-zero", PERFILE_LOSS, 48,
            "the size of the data is 0: the recorder did not come to its end; reading to the end of the file", error);
    }
    if (!pf_add(file->data.offset, file->data.bytes, &end) || end > size) {
        file->finished = false;
        position_records(&reader->parts[0], file->data.offset, size);
        return pf_diagnose_file(reader, "data-cut", PERFILE_LOSS, size,
                                "the file is truncated: it ends before its data section", error);
    }
    position_records(&reader->parts[0], file->data.offset, end);
    *has_table = true;
    return 0;
}

static int open_file(struct perfile_reader *reader, const uint8_t *header, size_t bytes, struct perfile_error *error)
{
    struct perfile_file *file = &reader->file;
    bool has_table;
    file->mode = PERFILE_MODE_FILE;
    file->file_bytes = reader->parts[0].source.growing ? 0 : reader->parts[0].source.bytes;
    if (bytes < HEADER_NO_BITMAP) {
        position_records(&reader->parts[0], bytes, bytes);
        return pf_diagnose_file(reader, "header-cut", PERFILE_LOSS, bytes, "the file ends within its header", error);
    }
    pf_file_header_read(file, header, bytes);
    int result = 0;
    if (file->header_size != HEADER_V2 && file->header_size != HEADER_NO_BITMAP)
        result =
            pf_diagnose_file(reader, "header-size", PERFILE_WARNING, 8, "the header states an unusual size", error);
    if (result == 0)
        result = read_attrs(reader, error);
    if (result == 0)
        result = read_event_types(reader, error);
    if (result == 0)
        result = position_data(reader, &has_table, error);
    if (result == 0 && has_table)
        result = pf_feature_table_read(reader, file->data.offset + file->data.bytes, error);
    return result < 0 ? result : pf_events_name(reader, error);
}

/* ---- which container ---- */

/* True when the bytes start a perf.data; then version, byte order and pipe mode are known. */
static bool recognise(struct perfile_file *file, const uint8_t *head, size_t bytes)
{
    bool big = false;
    if (bytes < sizeof(magic_v2_little))
        return false;
    if (memcmp(head, magic_v1, sizeof(magic_v1)) == 0) {
        file->version = 1;
        if (bytes < HEADER_PIPE)
            file->swapped = false;
        else if (pf_load64(head + 8, false) == HEADER_PIPE || pf_load64(head + 8, true) == HEADER_PIPE)
            file->swapped = pf_load64(head + 8, true) == HEADER_PIPE;
        else
            file->swapped = bytes >= 24 && v1_is_swapped(head);
        big = file->swapped != PF_NATIVE_BIG_ENDIAN;
    } else {
        big = memcmp(head, magic_v2_big, sizeof(magic_v2_big)) == 0;
        if (!big && memcmp(head, magic_v2_little, sizeof(magic_v2_little)) != 0)
            return false;
        file->version = 2;
        file->swapped = big != PF_NATIVE_BIG_ENDIAN;
    }
    file->big_endian = big;
    return true;
}

/* The first bytes of a file without any that no text has. */
static bool is_text(const uint8_t *head, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if ((head[i] < ' ' && !strchr("\t\n\v\f\r\33", head[i])) || head[i] == 0 || head[i] == 0x7f)
            return false;
    return true;
}

static int fail_unknown(const uint8_t *head, size_t bytes, struct perfile_error *error)
{
    static const struct {
        const char *start;
        size_t bytes;
        const char *what;
    } others[] = {
        {"\x28\xb5\x2f\xfd", 4, "it is compressed with zstd: unpack it first"},
        {"\x1f\x8b", 2, "it is compressed with gzip: unpack it first"},
        {"\xfd"
         "7zXZ",
         5, "it is compressed with xz: unpack it first"},
        {"\x7f"
         "ELF",
         4, "it is an ELF file"},
        {"BZh", 3, "it is compressed with bzip2: unpack it first"},
        {"PK\3\4", 4, "it is a zip file: unpack it first"},
        {"<!DOCTYPE", 9, "it is an HTML page"},
        {"<!doctype", 9, "it is an HTML page"},
        {"<html", 5, "it is an HTML page"},
        {"<?xml", 5, "it is XML, perhaps an SVG image"},
        {"<svg", 4, "it is an SVG image"},
        {"{", 1, "it is JSON"},
        {"PAR1", 4, "it is a Parquet file"},
    };
    if (bytes == 0)
        return pf_fail(error, PERFILE_ERROR_FORMAT, PERFILE_NO_OFFSET, "input", "it is empty");
    for (size_t i = 0; i < PF_COUNT(others); i++)
        if (bytes >= others[i].bytes && memcmp(head, others[i].start, others[i].bytes) == 0)
            return pf_fail(error, PERFILE_ERROR_FORMAT, PERFILE_NO_OFFSET, "input", "not a perf.data: %s",
                           others[i].what);
    return pf_fail(error, PERFILE_ERROR_FORMAT, PERFILE_NO_OFFSET, "input", "not a perf.data: %s",
                   bytes >= 8 && is_text(head, bytes) ? "it is text, perhaps what a report or script has printed"
                                                      : "it does not start with PERFILE2 or PERFFILE");
}

/* Whether the file has no header yet: perf writes the ids of the events first, after 8 zeros or more. */
static bool fits(const uint8_t *header, size_t bytes)
{
    static const uint8_t zeros[8];
    return bytes >= sizeof(zeros) && memcmp(header, zeros, sizeof(zeros)) == 0;
}

static int see_header(struct pf_part *part, const uint8_t **seen, size_t *bytes, struct perfile_error *error)
{
    int result;
    while ((result = pf_window_get(&part->window, 0, HEADER_V2, seen, bytes, error)) == 0 && part->source.growing &&
           part->source.seekable && fits(*seen, *bytes)) {
        pf_window_reset(&part->window);
        result = pf_follow_wait(part, error);
        if (result < 0)
            break;
    }
    return result;
}

/* What comes through a pipe is copied to a file. */
static int spool(struct perfile_reader *reader, struct pf_part *part, struct perfile_error *error)
{
    const int result =
        pf_source_spool(&part->source, part->window.data, part->window.bytes, reader->options.temporary_fd, error);
    part->window.can_skip |= result == 0;
    return result;
}

static int open_container(struct perfile_reader *reader, struct perfile_error *error)
{
    struct pf_part *part = &reader->parts[0];
    uint8_t head[HEADER_V2] = {0};
    const uint8_t *seen;
    size_t bytes;
    int result = pf_follow_open(reader, error);
    if (result == 0)
        result = open_part(reader, part, error);
    if (result == 0)
        result = see_header(part, &seen, &bytes, error);
    if (result < 0)
        return result;
    if (bytes > sizeof(head))
        bytes = sizeof(head);
    memcpy(head, seen, bytes);
    if (!recognise(&reader->file, head, bytes))
        return fail_unknown(head, bytes, error);
    const bool is_pipe = bytes >= HEADER_PIPE && pf_load64(head + 8, reader->file.swapped) == HEADER_PIPE;
    if (!part->source.seekable && reader->following && !is_pipe)
        return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, "follow",
                       "a file-mode recording that comes through a stream has its header too early");
    if (!part->source.seekable && (!is_pipe || (reader->options.rereads && !reader->following)))
        result = spool(reader, part, error);
    if (result < 0)
        return result;
    if (is_pipe) {
        reader->file.mode = PERFILE_MODE_PIPE;
        reader->file.header_size = HEADER_PIPE;
        reader->file.file_bytes = part->source.growing ? 0 : part->source.bytes;
        reader->file.finished = true;
        position_records(part, HEADER_PIPE,
                         part->source.seekable && !part->source.growing ? part->source.bytes : UINT64_MAX);
        return 0;
    }
    return open_file(reader, head, bytes, error);
}

/* ---- directories ---- */

static int by_number(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    size_t nx = strlen(x), ny = strlen(y);
    return nx != ny ? (nx < ny ? -1 : 1) : strcmp(x, y); /* data.9 before data.10 */
}

/* The names that begin with "data.", in the order of their numbers, in the arena; NULL-terminated. */
static int list_parts(struct perfile_reader *reader, int directory, struct perfile_error *error)
{
    const char **names = NULL;
    size_t capacity = 0, count = 0;
    int copy = dup(directory);
    DIR *stream = copy < 0 ? NULL : fdopendir(copy);
    if (!stream) {
        if (copy >= 0)
            close(copy);
        return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, "directory", "%s", pf_error_text(errno));
    }
    int result = 0;
    for (struct dirent *entry; result == 0 && (entry = readdir(stream));) {
        struct stat status;
        if (strncmp(entry->d_name, "data.", 5) != 0 ||
            fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(status.st_mode))
            continue;
        if (count >= DIRECTORY_FILES_MAX || !pf_grow(reader->allocator, &names, &capacity, count + 1, sizeof(*names)) ||
            !(names[count] = pf_arena_text(&reader->arena, entry->d_name, strlen(entry->d_name))))
            result = pf_fail_memory(error, "directory");
        else
            count++;
    }
    closedir(stream);
    const char **kept = pf_arena_new(&reader->arena, (count + 1) * sizeof(*kept));
    if (!kept && result == 0)
        result = pf_fail_memory(error, "directory");
    if (result == 0 && count) {
        qsort(names, count, sizeof(*names), by_number);
        memcpy(kept, names, count * sizeof(*names));
    }
    pf_free(reader->allocator, names, capacity * sizeof(*names));
    reader->file.parts = kept;
    return result;
}

/* Opens each file data.N as a part of its own, after the first part. */
static int open_parts(struct perfile_reader *reader, int directory, struct perfile_error *error)
{
    uint32_t count = 1;
    while (reader->file.parts[count - 1])
        count++;
    struct pf_part *parts = pf_new(reader->allocator, count * sizeof(*parts));
    if (!parts)
        return pf_fail_memory(error, "directory");
    parts[0] = reader->parts[0];
    parts[0].frame.window = &parts[0].window;
    parts[0].window.context = &parts[0];
    pf_free(reader->allocator, reader->parts, sizeof(*parts));
    reader->parts = parts;
    reader->part_count = count;
    for (uint32_t i = 1; i < count; i++) {
        parts[i].reader = reader;
        parts[i].source.fd = -1;
    }
    for (uint32_t i = 1; i < count; i++) {
        parts[i].number = i;
        parts[i].name = reader->file.parts[i - 1];
        int result = pf_source_from_directory(&parts[i].source, directory, parts[i].name, error);
        if (result == 0)
            result = open_part(reader, &parts[i], error);
        if (result < 0)
            return result;
        position_records(&parts[i], 0, parts[i].source.bytes);
    }
    return 0;
}

static int open_directory(struct perfile_reader *reader, int directory, struct perfile_error *error)
{
    if (reader->options.follow)
        return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, "follow",
                       "a directory recording cannot be followed");
    if (faccessat(directory, "data", F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
        return pf_fail(error, PERFILE_ERROR_FORMAT, PERFILE_NO_OFFSET, "input",
                       "not a perf.data: it is a directory without the file data");
    int result = pf_source_from_directory(&reader->parts[0].source, directory, "data", error);
    if (result == 0)
        result = open_container(reader, error);
    if (result == 0)
        result = list_parts(reader, directory, error);
    if (result == 0)
        result = open_parts(reader, directory, error);
    if (result == 0)
        reader->file.mode = PERFILE_MODE_DIRECTORY;
    return result;
}

/* ---- the public calls ---- */

static int finish_opening(int result, struct perfile_reader *made, struct perfile_reader **reader)
{
    if (result < 0) {
        perfile_close(made);
        return result;
    }
    made->opening_diagnostics = made->diagnostic_count;
    made->opening_counts = made->counts;
    *reader = made;
    return 0;
}

int perfile_open_memory(const void *bytes, size_t size, const struct perfile_open_options *options,
                        struct perfile_reader **reader, struct perfile_error *error)
{
    struct perfile_reader *made;
    *reader = NULL;
    int result = make_reader(options, &made, error);
    if (result < 0)
        return result;
    pf_source_from_memory(&made->parts[0].source, bytes ? bytes : "", bytes ? size : 0);
    return finish_opening(open_container(made, error), made, reader);
}

int perfile_open_source(const struct perfile_source *source, const struct perfile_open_options *options,
                        struct perfile_reader **reader, struct perfile_error *error)
{
    struct perfile_reader *made;
    *reader = NULL;
    int result = make_reader(options, &made, error);
    if (result < 0)
        return result;
    result = pf_source_from_callbacks(&made->parts[0].source, source, error);
    if (result == 0)
        result = open_container(made, error);
    return finish_opening(result, made, reader);
}

int perfile_open_fd(int fd, const struct perfile_open_options *options, struct perfile_reader **reader,
                    struct perfile_error *error)
{
    struct perfile_reader *made;
    *reader = NULL;
    int result = make_reader(options, &made, error);
    if (result < 0)
        return result;
    result = pf_source_from_fd(&made->parts[0].source, fd, error);
    if (result == 0)
        result = open_container(made, error);
    return finish_opening(result, made, reader);
}

int perfile_open_path(const char *path, const struct perfile_open_options *options, struct perfile_reader **reader,
                      struct perfile_error *error)
{
    struct perfile_reader *made;
    *reader = NULL;
    int result = make_reader(options, &made, error);
    if (result < 0)
        return result;
    made->file.path = pf_arena_text(&made->arena, path, strlen(path));
    if (!made->file.path)
        return finish_opening(pf_fail_memory(error, "reader"), made, reader);
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory >= 0) {
        made->directory = directory;
        result = open_directory(made, directory, error);
        return finish_opening(result, made, reader);
    }
    result = pf_source_from_path(&made->parts[0].source, path, error);
    if (result == 0)
        result = open_container(made, error);
    return finish_opening(result, made, reader);
}
