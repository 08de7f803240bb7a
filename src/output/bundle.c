/* SPDX-License-Identifier: MIT */
/*
 * Writes the recording with its bundle, or the list of the files that the bundle would have. Everything that can be
 * shown of the recording is resolved once, and each file that is looked up meanwhile is appended to the recording.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <perfile/table.h>

#include "base/bytes.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/map.h"
#include "base/sized.h"
#include "output/output.h"
#include "symbol/find/bundle.h"

enum { BLOCK_BYTES = 1 << 16, FUNCTIONS_MAX = 1 << 20 };

struct bundling {
    const struct perfile_output_options *options;
    struct pf_text *out;
    struct pf_text *list; /* NULL: there is none */
    struct pf_bundle_writer *writer;
    struct pf_map missed; /* hashes of names */
    uint64_t files, bytes, stored, missing;
    char first_missing[96];
    int failure;
};

/* ---- what is used ---- */

static void miss(struct bundling *b, const struct perfile_used_file *file)
{
    uint64_t seen;
    const uint64_t hash = pf_hash_text(file->name);
    if (*file->name != '/' || pf_map_get(&b->missed, hash, &seen))
        return;
    if (!pf_map_put(&b->missed, hash, b->missing))
        b->failure = PERFILE_ERROR_MEMORY;
    if (!b->missing++)
        snprintf(b->first_missing, sizeof(b->first_missing), "%s", file->name);
    if (b->list) {
        pf_put_format(b->list, "%12s %12s  %-8s ", "-", "-", file->kind);
        pf_put_name(b->list, file->name);
        pf_put_string(b->list, " (not found)\n");
    }
}

static void take(void *context, const struct perfile_used_file *file)
{
    struct bundling *b = context;
    struct pf_bundle_added added;
    if (b->failure)
        return;
    if (!file->path && strcmp(file->kind, "elf") == 0)
        miss(b, file);
    if (!file->path)
        return;
    b->failure = pf_bundle_writer_add(b->writer, file, &added);
    if (b->failure || added.known || added.missing)
        return;
    b->files++;
    b->bytes += added.bytes;
    b->stored += added.stored;
    if (b->list) {
        pf_put_format(b->list, "%12" PRIu64 " %12" PRIu64 "  %-8s ", added.stored, added.bytes, file->kind);
        pf_put_name(b->list, file->name);
        pf_put_char(b->list, '\n');
    }
}

/* ---- all that is shown ---- */

static int throw_away(void *context, const void *data, size_t bytes)
{
    (void)context, (void)data, (void)bytes;
    return 0;
}

/* How many events have samples with that field. */
static size_t with_field(const struct perfile_reader *reader, uint64_t field)
{
    size_t count = 0;
    for (size_t i = 0; i < perfile_event_count(reader); i++)
        count += (perfile_event_get(reader, i)->attr->sample_type & field) != 0;
    return count;
}

/* Of all events: else script would not print them. */
static bool has_branches(const struct perfile_reader *reader)
{
    const size_t count = perfile_event_count(reader);
    return count && with_field(reader, PERFILE_SAMPLE_BRANCH_STACK) == count;
}

/* Stacks, source lines and what memory accesses name, as far as the recording has them. */
static int look_at_samples(struct perfile_reader *reader, const struct perfile_output_options *how,
                           const struct perfile_sink *sink, struct perfile_error *error)
{
    static const char *const columns[] = {"symbol,srcline,stack,data_symbol", "symbol,srcline,stack",
                                          "symbol,srcline,data_symbol", "symbol,srcline", NULL};
    struct perfile_table_options options = PERFILE_TABLE_OPTIONS_INIT;
    struct perfile_table *table = NULL;
    int result = PERFILE_ERROR_ARGUMENT;
    options.symbols = how->symbols;
    options.allocator = how->allocator;
    options.progress = how->progress;
    options.progress_context = how->progress_context;
    for (size_t i = 0; i < PF_COUNT(columns) && result == PERFILE_ERROR_ARGUMENT; i++) {
        options.columns = columns[i];
        const int rewound = i ? perfile_reader_rewind(reader, error) : 0;
        result = rewound < 0 ? rewound : perfile_table_open(reader, "samples", &options, &table, error);
    }
    if (result < 0)
        return result;
    result = perfile_table_write(table, "csv", sink, error);
    perfile_table_close(table);
    return result;
}

static int look_again(struct perfile_reader *reader, const char *kind, const struct perfile_output_options *how,
                      const struct perfile_sink *sink, struct perfile_error *error)
{
    const int result = perfile_reader_rewind(reader, error);
    return result < 0 ? result : perfile_output_write(reader, kind, "text", how, sink, error);
}

static int look(struct bundling *b, struct perfile_reader *reader, struct perfile_error *error)
{
    struct perfile_output_options how = PERFILE_OUTPUT_OPTIONS_INIT;
    struct perfile_symbol_options symbols = *b->options->symbols;
    struct perfile_annotate_options annotate = PERFILE_ANNOTATE_OPTIONS_INIT;
    const struct perfile_sink sink = {NULL, throw_away};
    symbols.used = take;
    symbols.used_context = b;
    symbols.trouble = NULL;
    how.symbols = &symbols;
    how.allocator = b->options->allocator;
    how.progress = b->options->progress;
    how.progress_context = b->options->progress_context;
    int result = look_at_samples(reader, &how, &sink, error);
    how.fields = "+brstacksym";
    if (result >= 0 && has_branches(reader))
        result = look_again(reader, "script", &how, &sink, error);
    how.fields = NULL;
    annotate.top = FUNCTIONS_MAX;
    annotate.percent_limit = "0";
    how.annotate = &annotate;
    if (result >= 0 && b->options->code)
        result = look_again(reader, "annotate", &how, &sink, error);
    return result;
}

/* ---- writing ---- */

static int copy_recording(struct pf_text *out, int fd, uint64_t bytes, struct perfile_error *error)
{
    uint8_t block[BLOCK_BYTES];
    for (uint64_t done = 0; done < bytes;) {
        const ssize_t got = pread(fd, block, (size_t)pf_min(bytes - done, (uint64_t)sizeof(block)), (off_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return pf_fail(error, PERFILE_ERROR_READ, done, "bundle", "the recording cannot be read to its end");
        pf_put_through(out, block, (size_t)got);
        done += (uint64_t)got;
    }
    return 0;
}

/* Without the bundle that it has. */
static int put_recording(struct bundling *b, struct perfile_reader *reader, struct perfile_error *error)
{
    const char *path = b->options->symbols->recording;
    const off_t none = 0;
    struct pf_bundle old;
    if (b->list && !path)
        return 0;
    const int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    const off_t end = fd >= 0 ? lseek(fd, 0, SEEK_END) : none;
    int result = 0;
    if (perfile_reader_file(reader)->mode != PERFILE_MODE_FILE || end <= none)
        result = pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "bundle",
                         "a bundle needs a recording that is one file with an index; perfile convert makes one");
    else if (!b->list) {
        (void)pf_bundle_look(fd, &old);
        result = copy_recording(b->out, fd, old.bytes ? old.start : (uint64_t)end, error);
    }
    if (fd >= 0)
        close(fd);
    return result;
}

static void report_notes(const struct bundling *b)
{
    const struct perfile_symbol_options *symbols = b->options->symbols;
    char others[PF_COUNTED_BYTES + 8] = "", count[PF_COUNTED_BYTES], text[512];
    if (b->missing > 1)
        snprintf(others, sizeof(others), " and %s", pf_count_of(b->missing - 1, "others", count));
    if (!symbols->note || !b->missing)
        return;
    snprintf(text, sizeof(text), "not found, and not in the bundle: %s%s", b->first_missing, others);
    symbols->note(symbols->note_context, text);
}

static int bundle(struct bundling *b, struct perfile_reader *reader, struct perfile_error *error)
{
    char files[PF_COUNTED_BYTES];
    int result = put_recording(b, reader, error);
    if (result == 0 && b->list)
        pf_put_format(b->list, "%12s %12s  %-8s %s\n", "in bundle", "bytes", "kind", "file");
    if (result == 0)
        result = look(b, reader, error);
    if (result >= 0 && b->failure)
        result = pf_fail(error, b->failure, PERFILE_NO_OFFSET, "bundle", "%s",
                         b->failure == PERFILE_ERROR_MEMORY ? "out of memory" : "it cannot be written");
    if (result >= 0 && pf_bundle_writer_finish(b->writer) < 0)
        result = pf_fail_memory(error, "bundle");
    if (result >= 0 && b->list)
        pf_put_format(b->list, "%12" PRIu64 " %12" PRIu64 "  %s\n", b->stored, b->bytes,
                      pf_count_of(b->files, "files", files));
    if (result >= 0)
        report_notes(b);
    return result;
}

static int write_or_list(struct perfile_reader *reader, const struct perfile_output_options *options,
                         struct pf_text *out, struct pf_text *list, struct perfile_error *error)
{
    const struct perfile_allocator *allocator = pf_allocator_or_default(options->allocator);
    struct bundling b = {.options = options, .out = out, .list = list};
    pf_map_open(&b.missed, allocator);
    b.writer = pf_bundle_writer_open(list ? NULL : out, allocator, options->code);
    const int result = b.writer ? bundle(&b, reader, error) : pf_fail_memory(error, "bundle");
    pf_bundle_writer_close(b.writer);
    pf_map_close(&b.missed);
    return result;
}

static int write_data(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                      struct perfile_error *error)
{
    return write_or_list(reader, options, out, NULL, error);
}

static int write_text(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                      struct perfile_error *error)
{
    return write_or_list(reader, options, out, out, error);
}

const struct pf_output pf_output_bundle_data = {
    .info = {"bundle", "data", "the recording, followed by the files that its symbols need", true},
    .write = write_data,
};

const struct pf_output pf_output_bundle_text = {
    .info = {"bundle", "text", "the files that would be in the bundle"},
    .write = write_text,
};

int perfile_bundle_look(const char *path, struct perfile_bundle *bundle, struct perfile_error *error)
{
    struct pf_bundle found;
    if (!path || !bundle)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "bundle",
                       "no path, or no struct for the result");
    if (pf_sized_check(bundle, "bundle", error) < 0)
        return PERFILE_ERROR_ARGUMENT;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, "bundle", "it cannot be opened");
    const char *wrong = pf_bundle_look(fd, &found);
    close(fd);
    if (wrong)
        return pf_fail(error, PERFILE_ERROR_DAMAGED, PERFILE_NO_OFFSET, "bundle", "%s", wrong);
    const struct perfile_bundle all = {.start = found.start,
                                       .bytes = found.bytes,
                                       .files = found.members,
                                       .code = (found.flags & PF_BUNDLE_CODE) != 0};
    return pf_sized_give(bundle, &all, sizeof(all));
}
