/* SPDX-License-Identifier: MIT */
/*
 * dataset compact: small files of a folder become one, in the order of time. What is joined is written under a hidden name, and what it is
 * made of is told before it appears; then the small ones are removed. Who is killed in between leaves rows twice, which the next one removes
 * first. Files of recordings that are added meanwhile are not touched.
 */
#include "dataset.h"

#include "../message.h"
#include "../stream.h"

#include <perfile/table.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct compact {
    const struct pf_command *command;
    struct pf_settings *settings;
    const struct pf_dataset *dataset;
    struct pf_dataset_files files;
    struct pf_all_added all;
    uint64_t joined_files, made_files, old_bytes, new_bytes, unfinished_files;
    bool damaged; /* a file was left */
};

/* A file that is joined, and what it has. */
struct source {
    struct pf_dataset_file *file;
    struct pf_joined joined; /* of one recording: that */
    uint64_t time_ns;
    const char *sum; /* digest of the file */
};

static int fail(const char *path)
{
    pf_message("%s: cannot write: %s", path, strerror(errno));
    return errno == ENOMEM ? PF_STATUS_MEMORY : PF_STATUS_OUTPUT;
}

static int fail_memory(const struct compact *compact)
{
    pf_message("%s: out of memory", compact->command->name);
    return PF_STATUS_MEMORY;
}

/* ---- what was left ------------------------------------------------------------------------------------------------- */

static bool has_id(const char *ids, size_t count, const char *id)
{
    return bsearch(id, ids, count, PF_DIGEST_TEXT, pf_compare_digests) != NULL;
}

static void drop(struct compact *compact, struct pf_dataset_file *file)
{
    unlink(file->path);
    if (file->kind == PF_FILE_JOINED)
        pf_joined_remove(compact->dataset, file->table, file->id);
    file->kind = PF_FILE_OTHER; /* it is none of ours any more */
}

static bool is_taken_in(const struct pf_joined *joined, const struct pf_dataset_file *file)
{
    if (file->kind == PF_FILE_RECORDING)
        return has_id(joined->ids, joined->count, file->id);
    for (size_t i = 0; file->kind == PF_FILE_JOINED && i < joined->replaced_count; i++)
        if (!strcmp(joined->replaced + i * PF_DIGEST_TEXT, file->id))
            return true;
    return false;
}

/* Files [from, to) are of one folder. */
static void drop_doubles(struct compact *compact, size_t from, size_t to)
{
    struct pf_dataset_file *list = compact->files.list;

    for (size_t i = from; i < to; i++) {
        struct pf_joined joined;
        if (list[i].kind != PF_FILE_JOINED)
            continue;
        if (pf_joined_read(compact->dataset, list[i].table, list[i].id, &joined) > 0)
            for (size_t k = from; k < to; k++)
                if (k != i && is_taken_in(&joined, &list[k]))
                    drop(compact, &list[k]);
        pf_joined_free(&joined);
    }
}

static bool is_day_old(const char *path)
{
    enum { DAY_SECONDS = 24 * 60 * 60 };
    struct stat status;

    return lstat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_mtim.tv_sec < time(NULL) - DAY_SECONDS;
}

/* Of commands that were killed. Who adds a recording has it locked, and who joins has what we have locked. */
static void drop_unfinished(struct compact *compact)
{
    for (size_t i = 0; i < compact->files.count; i++) {
        const struct pf_dataset_file *file = &compact->files.list[i];
        if (!file->unfinished || !is_day_old(file->path))
            continue;
        const int fd = *file->id ? pf_lock_recording(compact->dataset, file->id, false) : -1;
        if (*file->id && fd < 0)
            continue;
        compact->unfinished_files += is_day_old(file->path) && unlink(file->path) == 0;
        if (fd >= 0)
            pf_unlock_recording(compact->dataset, file->id, fd);
    }
}

/* ---- joining ------------------------------------------------------------------------------------------------------- */

static void free_sources(struct source *sources, size_t count)
{
    for (size_t i = 0; sources && i < count; i++)
        pf_joined_free(&sources[i].joined);
    free(sources);
}

static bool is_damaged(const struct source *source)
{
    const bool is_ok = pf_file_has_sum(source->file->path, source->sum);

    if (!is_ok)
        pf_message("%s: it has other bytes than were written, and is not joined", source->file->path);
    return !is_ok;
}

/* False: it is left as it is. */
static bool take_source(struct compact *compact, struct pf_dataset_file *file, struct source *source)
{
    const uint64_t limit = compact->settings->dataset_size ? compact->settings->dataset_size : (uint64_t)64 << 20;
    const struct pf_added *added;

    *source = (struct source){.file = file};
    if (file->bytes >= limit)
        return false;
    if (file->kind == PF_FILE_RECORDING) {
        source->joined = (struct pf_joined){.ids = strdup(file->id), .count = 1};
        if (!source->joined.ids)
            return false;
    } else if (file->kind != PF_FILE_JOINED ||
               pf_joined_read(compact->dataset, file->table, file->id, &source->joined) <= 0 || !source->joined.count) {
        return false;
    }
    added = pf_all_added_find(&compact->all, source->joined.ids);
    if (!added) /* nobody said that it is complete */
        return false;
    source->time_ns = added->time_ns;
    source->sum = file->kind == PF_FILE_RECORDING ? added->sums[file->table] : source->joined.sum;
    const bool damaged = is_damaged(source);
    compact->damaged |= damaged;
    return !damaged;
}

static int by_time(const void *a, const void *b)
{
    const struct source *x = a, *y = b;

    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return strcmp(x->file->id, y->file->id);
}

/* All recordings of the sources, and the name that follows from them. */
static bool gather(const struct source *sources, size_t count, struct pf_joined *joined)
{
    struct pf_digest digest;
    size_t ids = 0, replaced = 0;

    for (size_t i = 0; i < count; i++)
        ids += sources[i].joined.count;
    *joined =
        (struct pf_joined){.ids = malloc((ids + 1) * PF_DIGEST_TEXT), .replaced = malloc((count + 1) * PF_DIGEST_TEXT)};
    if (!joined->ids || !joined->replaced)
        return false;
    for (size_t i = 0; i < count; i++) {
        memcpy(joined->ids + joined->count * PF_DIGEST_TEXT, sources[i].joined.ids,
               sources[i].joined.count * PF_DIGEST_TEXT);
        joined->count += sources[i].joined.count;
        if (sources[i].file->kind == PF_FILE_JOINED)
            memcpy(joined->replaced + replaced++ * PF_DIGEST_TEXT, sources[i].file->id, PF_DIGEST_TEXT);
    }
    joined->replaced_count = replaced;
    qsort(joined->ids, joined->count, PF_DIGEST_TEXT, pf_compare_digests);
    pf_digest_start(&digest);
    pf_digest_add(&digest, joined->ids, joined->count * PF_DIGEST_TEXT);
    pf_digest_add(&digest, &count, sizeof(count)); /* another than that of a file with the same recordings */
    pf_digest_text(&digest, joined->name);
    return true;
}

static int write_rows(struct compact *compact, const struct source *sources, size_t count, struct pf_stream *stream)
{
    const struct perfile_sink sink = {stream, pf_stream_write};
    struct perfile_parquet_options options = PERFILE_PARQUET_OPTIONS_INIT;
    const char **paths = calloc(count, sizeof(*paths));
    struct perfile_table *table = NULL;
    struct perfile_error error;
    int result;

    if (!paths)
        return fail_memory(compact);
    for (size_t i = 0; i < count; i++)
        paths[i] = sources[i].file->path;
    options.paths = paths;
    options.path_count = count;
    options.distinct = pf_dataset_tables[sources->file->table].distinct;
    result = perfile_table_of_parquet(&options, &table, &error);
    if (result == 0)
        result = perfile_table_write(table, "parquet", &sink, &error);
    perfile_table_close(table);
    free(paths);
    if (result >= 0 || result == PERFILE_ERROR_WRITE)
        return PF_STATUS_OK; /* closing says it */
    pf_message("%s", error.message);
    return pf_status_of_error(result, PF_STATUS_FINDINGS);
}

static int write_hidden(struct compact *compact, const struct source *sources, size_t count, const char *path)
{
    struct pf_stream stream;
    char *temporary = NULL;
    int status, closed;

    if (asprintf(&temporary, "%s.%ld.tmp", path, (long)getpid()) >= 0)
        unlink(temporary); /* of who was killed with this id */
    free(temporary);
    if ((status = pf_stream_open(&stream, path)))
        return status;
    status = write_rows(compact, sources, count, &stream);
    closed = pf_stream_close(&stream, !status);
    return status ? status : closed;
}

static int place(struct compact *compact, const struct source *sources, struct pf_joined *joined, const char *hidden,
                 const char *path)
{
    const size_t table = sources->file->table;
    struct perfile_parquet_info info = PERFILE_PARQUET_INFO_INIT;
    struct perfile_error error;

    if (!pf_digest_path(hidden, joined->sum, &info.bytes))
        return fail(hidden);
    if (!pf_joined_write(compact->dataset, table, joined))
        return fail(compact->dataset->path);
    if (rename(hidden, path) != 0) {
        const int status = fail(path);
        pf_joined_remove(compact->dataset, table, joined->name);
        return status;
    }
    if (perfile_parquet_look(path, &info, &error) == 0)
        compact->new_bytes += info.bytes;
    return PF_STATUS_OK;
}

/* The files of `sources` become one. */
static int join(struct compact *compact, const struct source *sources, size_t count)
{
    const char *folder = sources->file->folder;
    struct pf_joined joined;
    char *hidden = NULL, *path = NULL;
    int status = gather(sources, count, &joined) &&
                         asprintf(&hidden, "%s/.joined-%s.parquet", folder, joined.name) >= 0 &&
                         asprintf(&path, "%s/joined-%s.parquet", folder, joined.name) >= 0
                     ? PF_STATUS_OK
                     : fail_memory(compact);

    if (!status)
        status = write_hidden(compact, sources, count, hidden);
    if (!status)
        status = place(compact, sources, &joined, hidden, path);
    if (status && hidden)
        unlink(hidden);
    for (size_t i = 0; i < count && !status; i++) {
        compact->old_bytes += sources[i].file->bytes;
        compact->joined_files++;
        drop(compact, sources[i].file);
    }
    compact->made_files += !status;
    free(hidden);
    free(path);
    pf_joined_free(&joined);
    return status;
}

/* Files up to the size of a large one go together. */
static int join_all(struct compact *compact, const struct source *sources, size_t count)
{
    const uint64_t limit = compact->settings->dataset_size ? compact->settings->dataset_size : (uint64_t)64 << 20;
    int status = PF_STATUS_OK;

    for (size_t from = 0, to; from < count && status <= PF_STATUS_FINDINGS; from = to) {
        uint64_t bytes = 0;
        for (to = from; to < count && (to == from || bytes + sources[to].file->bytes <= 2 * limit); to++)
            bytes += sources[to].file->bytes;
        const int made = to - from > 1 ? join(compact, sources + from, to - from) : PF_STATUS_OK;
        status = made > status ? made : status;
    }
    return status;
}

static int compact_folder(struct compact *compact, size_t from, size_t to)
{
    struct source *sources = calloc(to - from, sizeof(*sources));
    size_t count = 0;
    int status;

    if (!sources)
        return fail_memory(compact);
    drop_doubles(compact, from, to);
    for (size_t i = from; i < to; i++) {
        if (take_source(compact, &compact->files.list[i], &sources[count]))
            count++;
        else
            pf_joined_free(&sources[count].joined);
    }
    qsort(sources, count, sizeof(*sources), by_time);
    status = join_all(compact, sources, count);
    free_sources(sources, count);
    return status;
}

static int compact_all(struct compact *compact)
{
    const struct pf_dataset_file *list = compact->files.list;
    int status = PF_STATUS_OK;

    for (size_t from = 0, to; from < compact->files.count && status <= PF_STATUS_FINDINGS; from = to) {
        for (to = from + 1; to < compact->files.count && !strcmp(list[from].folder, list[to].folder);)
            to++;
        const int made = compact_folder(compact, from, to);
        status = made > status ? made : status;
    }
    return status;
}

static void tell(const struct compact *compact)
{
    pf_message("%s: %llu files became %llu, %llu bytes became %llu", compact->dataset->path,
               (unsigned long long)compact->joined_files, (unsigned long long)compact->made_files,
               (unsigned long long)compact->old_bytes, (unsigned long long)compact->new_bytes);
    if (compact->unfinished_files)
        pf_message("%s: %llu unfinished files of commands that were killed were removed", compact->dataset->path,
                   (unsigned long long)compact->unfinished_files);
}

int pf_dataset_compact(const struct pf_command *command, struct pf_settings *settings, const struct pf_dataset *dataset)
{
    struct compact compact = {.command = command, .settings = settings, .dataset = dataset};
    const int fd = pf_lock_dataset(dataset);
    int status = PF_STATUS_OUTPUT;

    if (fd < 0) {
        status = fail(dataset->path);
    } else if (!pf_files_find(dataset, &compact.files) || !pf_all_added_read(dataset, &compact.all)) {
        pf_message("%s: %s", dataset->path, strerror(errno));
    } else {
        drop_unfinished(&compact);
        status = compact_all(&compact);
        status = !status && compact.damaged ? PF_STATUS_FINDINGS : status;
        if (!settings->quiet)
            tell(&compact);
    }
    if (fd >= 0)
        pf_unlock_dataset(fd);
    pf_all_added_free(&compact.all);
    pf_files_free(&compact.files);
    return status;
}
