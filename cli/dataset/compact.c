/* SPDX-License-Identifier: MIT */
/*
 * dataset compact: joins the small files of a folder, in the order of time, in a new folder that replaces the old one
 * atomically (stage.c). Readers that list the folder find each row once, also when the command is killed. Recordings
 * may be added meanwhile.
 */
#include "dataset.h"

#include "../message.h"

#include <perfile/table.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Files below this size are joined. */
static uint64_t limit_of(const struct pf_settings *settings)
{
    const struct pf_dataset_settings *own = settings->own;

    return own->joined_bytes ? own->joined_bytes : (uint64_t)64 << 20;
}

struct compact {
    const struct pf_command *command;
    struct pf_settings *settings;
    const struct pf_dataset *dataset;
    struct pf_dataset_files files;
    struct pf_all_added all;
    uint64_t joined_files, made_files, old_bytes, new_bytes, unfinished_files;
    bool damaged; /* a file was left */
    struct pf_swaps swaps;
};

/* A file that is joined, and what it has. */
struct source {
    struct pf_dataset_file *file;
    struct pf_joined joined; /* for a file of one recording, that recording */
    uint64_t time_ns;
    const char *sum; /* digest of the file */
};

static int fail_memory(const struct compact *compact)
{
    return pf_out_of_memory(compact->command->name);
}

/* ---- what was left ----------------------------------------------------------------------------------------------- */

static void drop(struct compact *compact, struct pf_dataset_file *file)
{
    unlink(file->path);
    if (file->kind == PF_FILE_JOINED)
        pf_joined_remove(compact->dataset, file->table, file->id);
    file->kind = PF_FILE_OTHER; /* it is not a file of the dataset any more */
}

static bool is_part_of(const struct pf_joined *joined, const struct pf_dataset_file *file)
{
    if (file->kind == PF_FILE_RECORDING)
        return pf_joined_has(joined, file->id);
    for (size_t i = 0; file->kind == PF_FILE_JOINED && i < joined->replaced_count; i++)
        if (!strcmp(joined->replaced + i * PF_DIGEST_TEXT, file->id))
            return true;
    return false;
}

/* Whether it takes in any of files [from, to) but itself, and has all of its own bytes: they are not needed then. */
static bool replaces_any(struct compact *compact, const struct pf_joined *joined, size_t self, size_t from, size_t to)
{
    const struct pf_dataset_file *list = compact->files.list;

    for (size_t i = from; i < to; i++)
        if (i != self && is_part_of(joined, &list[i]))
            return pf_file_has_sum(list[self].path, joined->sum);
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
        if (pf_joined_read(compact->dataset, list[i].table, list[i].id, &joined) > 0 &&
            replaces_any(compact, &joined, i, from, to))
            for (size_t k = from; k < to; k++)
                if (k != i && is_part_of(&joined, &list[k]))
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

/* Removes files of commands that were killed. A file of a recording that is being added is protected by a lock. */
static void drop_unfinished(struct compact *compact)
{
    for (size_t i = 0; i < compact->files.count; i++) {
        const struct pf_dataset_file *file = &compact->files.list[i];
        const bool is_ours = pf_file_is_half_list(file);
        if (!file->unfinished || !(is_ours || is_day_old(file->path)))
            continue;
        const int fd = *file->id ? pf_lock_recording(compact->dataset, file->id, false) : -1;
        if (*file->id && fd < 0)
            continue;
        compact->unfinished_files += (is_ours || is_day_old(file->path)) && unlink(file->path) == 0;
        if (fd >= 0)
            pf_unlock_recording(compact->dataset, file->id, fd);
    }
}

/* ---- joining ----------------------------------------------------------------------------------------------------- */

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
        pf_message("%s: its content has changed since it was written, and it is not joined", source->file->path);
    return !is_ok;
}

/* Fills the source for a file. False: the file is not joined. */
static bool take_source(struct compact *compact, struct pf_dataset_file *file, struct source *source)
{
    const uint64_t limit = limit_of(compact->settings);
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
    if (!added) /* without a marker it may be incomplete */
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

/* Collects the recordings of all sources, and derives the name of the joined file from them. */
static bool gather(const struct source *sources, size_t count, struct pf_joined *joined)
{
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
    pf_joined_set_name(joined, count);
    return true;
}

static int write_file(struct compact *compact, const struct source *sources, size_t count, const char *path)
{
    struct perfile_parquet_options options = PERFILE_PARQUET_OPTIONS_INIT;
    const char **paths = calloc(count, sizeof(*paths));

    if (!paths)
        return fail_memory(compact);
    for (size_t i = 0; i < count; i++)
        paths[i] = sources[i].file->path;
    options.paths = paths;
    options.path_count = count;
    options.distinct = pf_dataset_tables[sources->file->table].distinct;
    const int status = pf_rows_copy(&options, path);
    free(paths);
    return status;
}

/* The folder that is compacted, and what takes its place. */
struct folder {
    struct compact *compact;
    struct source *sources;
    size_t count;
    struct pf_swap swap;
    size_t made;
    uint64_t new_bytes;
};

/* Writes the list of recordings of a joined file before the file becomes visible. */
static int note_joined(struct folder *folder, size_t table, struct pf_joined *joined, const char *path)
{
    uint64_t bytes = 0;

    if (!pf_digest_path(path, joined->sum, &bytes))
        return pf_dataset_fail(path);
    if (!pf_joined_write(folder->compact->dataset, table, joined))
        return pf_dataset_fail(folder->compact->dataset->path);
    folder->new_bytes += bytes;
    return PF_STATUS_OK;
}

/* The files of `sources` become one of the new folder. */
static int join(struct folder *folder, const struct source *sources, size_t count)
{
    struct pf_swap *swap = &folder->swap;
    struct pf_joined joined;
    char *path = NULL;
    int status =
        gather(sources, count, &joined) && asprintf(&path, "%s/joined-%s.parquet", swap->stage, joined.name) >= 0
            ? PF_STATUS_OK
            : fail_memory(folder->compact);

    if (!status)
        status = write_file(folder->compact, sources, count, path);
    if (!status)
        status = note_joined(folder, sources->file->table, &joined, path);
    for (size_t i = 0; i < count && !status; i++)
        swap->replaced[swap->replaced_count++] = sources[i].file->path;
    folder->made += !status;
    free(path);
    pf_joined_free(&joined);
    return status;
}

/* Files up to the size of a large one go together. */
static int join_all(struct folder *folder)
{
    const struct pf_settings *settings = folder->compact->settings;
    const uint64_t limit = limit_of(settings);
    const struct source *sources = folder->sources;
    int status = PF_STATUS_OK;

    for (size_t from = 0, to; from < folder->count && status <= PF_STATUS_FINDINGS; from = to) {
        uint64_t bytes = 0;
        for (to = from; to < folder->count && (to == from || bytes + sources[to].file->bytes <= 2 * limit); to++)
            bytes += sources[to].file->bytes;
        const int made = to - from > 1 ? join(folder, sources + from, to - from) : PF_STATUS_OK;
        status = made > status ? made : status;
    }
    return status;
}

static void count_replaced(struct folder *folder)
{
    struct compact *compact = folder->compact;
    const struct pf_swap *swap = &folder->swap;

    for (size_t i = 0; i < folder->count; i++) {
        const struct pf_dataset_file *file = folder->sources[i].file;
        if (!pf_swap_replaces(swap, file->path))
            continue;
        compact->old_bytes += file->bytes;
        compact->joined_files++;
        if (file->kind == PF_FILE_JOINED)
            pf_joined_remove(compact->dataset, file->table, file->id);
    }
    compact->made_files += folder->made;
    compact->new_bytes += folder->new_bytes;
}

static int join_folder(struct folder *folder)
{
    struct pf_swap *swap = &folder->swap;
    char *stage = pf_stage_path(folder->compact->dataset, swap->folder);
    int status = stage && (swap->replaced = calloc(folder->count, sizeof(*swap->replaced)))
                     ? PF_STATUS_OK
                     : fail_memory(folder->compact);

    swap->stage = stage;
    if (!status && !pf_stage_make(stage, swap->folder))
        status = pf_dataset_fail(stage);
    if (!status)
        status = join_all(folder);
    if (status <= PF_STATUS_FINDINGS && folder->made) {
        const int replaced = pf_swaps_replace(&folder->compact->swaps, swap);
        if (!replaced)
            count_replaced(folder);
        status = replaced ? replaced : status;
    }
    free(swap->replaced);
    free(stage);
    return status;
}

static int compact_folder(struct compact *compact, size_t from, size_t to)
{
    struct folder folder = {.compact = compact, .sources = calloc(to - from, sizeof(*folder.sources))};
    int status = PF_STATUS_OK;

    if (!folder.sources)
        return fail_memory(compact);
    folder.swap.folder = compact->files.list[from].folder;
    drop_doubles(compact, from, to);
    for (size_t i = from; i < to; i++) {
        if (take_source(compact, &compact->files.list[i], &folder.sources[folder.count]))
            folder.count++;
        else
            pf_joined_free(&folder.sources[folder.count].joined);
    }
    qsort(folder.sources, folder.count, sizeof(*folder.sources), by_time);
    if (folder.count > 1)
        status = join_folder(&folder);
    free_sources(folder.sources, folder.count);
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

static void report_notes(const struct compact *compact)
{
    char files[PF_COUNTED_BYTES];

    pf_message("%s: %s became %llu, %llu bytes became %llu", compact->dataset->path,
               pf_counted(compact->joined_files, "files", files), (unsigned long long)compact->made_files,
               (unsigned long long)compact->old_bytes, (unsigned long long)compact->new_bytes);
    if (compact->unfinished_files)
        pf_message("%s: removed %s", compact->dataset->path,
                   pf_counted(compact->unfinished_files, "unfinished files of commands that were killed", files));
}

static void report_bad_markers(const struct compact *compact)
{
    if (compact->all.broken)
        pf_message("%s: markers that cannot be read: %zu; their recordings were left as they are (%s dataset check)",
                   compact->dataset->path, compact->all.broken, pf_program_name());
}

static int compact_locked(struct compact *compact)
{
    const struct pf_dataset *dataset = compact->dataset;
    struct pf_removal removal = {0};

    if (!pf_stages_clear(dataset, &(bool){false}) || !pf_all_added_read(dataset, &compact->all)) {
        pf_message("%s: %s", dataset->path, strerror(errno));
        return PF_STATUS_OUTPUT;
    }
    int status = pf_removal_finish(compact->command, dataset, &compact->all, &removal);
    if (status > PF_STATUS_FINDINGS)
        return status;
    if (!pf_files_find(dataset, &compact->files)) {
        pf_message("%s: %s", dataset->path, strerror(errno));
        return PF_STATUS_OUTPUT;
    }
    drop_unfinished(compact);
    pf_removal_drop_markers(dataset, &compact->all);
    const int compacted = compact_all(compact);
    report_bad_markers(compact);
    status = compacted > status ? compacted : status;
    status = !status && (compact->damaged || compact->all.broken) ? PF_STATUS_FINDINGS : status;
    status = pf_swaps_finish(&compact->swaps, status);
    if (!compact->settings->quiet)
        report_notes(compact);
    return status;
}

int pf_dataset_compact(const struct pf_command *command, struct pf_settings *settings, const struct pf_dataset *dataset)
{
    struct compact compact = {.command = command, .settings = settings, .dataset = dataset, .swaps.dataset = dataset};
    const int fd = pf_lock_dataset(dataset);
    const int status = fd < 0 ? pf_dataset_fail(dataset->path) : compact_locked(&compact);

    if (fd >= 0)
        pf_unlock_dataset(fd);
    pf_all_added_free(&compact.all);
    pf_files_free(&compact.files);
    return status;
}
