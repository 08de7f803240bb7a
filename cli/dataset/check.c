/* SPDX-License-Identifier: MIT */
/* dataset check: whether each recording that is in has all of its files, and what is there besides. */
#include "dataset.h"

#include "../message.h"
#include "../rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct finding {
    const char *problem;
    char *path, *detail; /* owned */
    bool removed;
};

/* Flags of a recording: it has a separate file, it is in a joined file, and the joined file can be read. */
enum { SEEN_OWN = 1, SEEN_JOINED = 2, SEEN_INTACT = 4 };

struct check {
    const struct pf_dataset *dataset;
    bool removes;
    struct pf_dataset_files files;
    struct pf_all_added all;
    uint8_t *seen; /* of each recording, where tables were found (SEEN_...); a row of PF_DATASET_TABLES */
    struct finding *findings;
    size_t count, capacity;
    bool is_short; /* of memory */
};

/* ---- findings ---------------------------------------------------------------------------------------------------- */

static struct finding *add(struct check *check, const char *problem, const char *path, const char *detail)
{
    if (check->count == check->capacity) {
        const size_t capacity = check->capacity ? 2 * check->capacity : 64;
        struct finding *more = realloc(check->findings, capacity * sizeof(*more));
        if (!more) {
            check->is_short = true;
            return NULL;
        }
        check->findings = more;
        check->capacity = capacity;
    }
    struct finding *made = &check->findings[check->count++];
    *made = (struct finding){.problem = problem, .path = strdup(path), .detail = strdup(detail)};
    check->is_short |= !made->path || !made->detail;
    return made;
}

/* Reports a file that is not needed, and removes it if the user asked for that. */
static void leave(struct check *check, const char *problem, const char *path, const char *detail)
{
    struct finding *made = add(check, problem, path, detail);

    if (made && check->removes)
        made->removed = unlink(path) == 0;
}

static const struct perfile_column *const columns[] = {
    PF_COLUMN("problem", PERFILE_COLUMN_TEXT, "What is wrong."),
    PF_COLUMN("path", PERFILE_COLUMN_TEXT, "Of which file."),
    PF_COLUMN("detail", PERFILE_COLUMN_TEXT, "More of it."),
    PF_COLUMN("removed", PERFILE_COLUMN_BOOL, "The file was removed."),
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static void put_value(void *context, size_t row, size_t column, struct perfile_value *value)
{
    const struct check *check = context;
    const struct finding *one = &check->findings[row];
    const char *texts[] = {one->problem, one->path, one->detail};

    *value = column < sizeof(texts) / sizeof(texts[0]) ? pf_text_value(texts[column]) : pf_bool_value(one->removed);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Reads the marker again, as it may have been written after the list of all markers was read. 1: it is in. */
static int find_marker(const struct check *check, const char *id)
{
    struct pf_added added;
    const int found = pf_added_read(check->dataset, id, &added);

    pf_added_free(&added);
    return found > 0 ? pf_added_is_in(&added) : found;
}

/*
 * Handles a file of a command that was killed, unless another command writes it now or has finished since files were
 * listed. The file stays if there is an unreadable marker, as its recording may have been added.
 */
static void leave_unadded(struct check *check, const struct pf_dataset_file *file, const char *problem,
                          const char *detail)
{
    const int fd = *file->id ? pf_lock_recording(check->dataset, file->id, false) : -1;

    if (*file->id && fd < 0 && errno == EAGAIN)
        return;
    const int marker = file->kind == PF_FILE_HIDDEN ? 0 : find_marker(check, file->id);
    if (marker < 0)
        (void)add(check, "unknown", file->path, "the marker of its recording cannot be read");
    else if (!marker && access(file->path, F_OK) == 0)
        leave(check, problem, file->path, detail);
    if (fd >= 0)
        pf_unlock_recording(check->dataset, file->id, fd);
}

static void note_seen(struct check *check, const struct pf_added *added, size_t table, uint8_t how)
{
    check->seen[(size_t)(added - check->all.list) * PF_DATASET_TABLES + table] |= how;
}

/* False: what is wrong was noted. */
static bool look(struct check *check, const struct pf_dataset_file *file, const char *sum, uint64_t *rows)
{
    struct perfile_parquet_info info = PERFILE_PARQUET_INFO_INIT;
    struct perfile_error error;

    const int result = perfile_parquet_look(file->path, &info, &error);
    const bool is_ok = result == 0 && pf_file_has_sum(file->path, sum);

    *rows = info.rows;
    if (!is_ok)
        (void)add(check, "damaged", file->path,
                  result < 0 ? error.message : "its content has changed since it was written");
    return is_ok;
}

static void compare_rows(struct check *check, const struct pf_dataset_file *file, uint64_t rows, uint64_t expected)
{
    char text[96];

    if (rows == expected ||
        (pf_dataset_tables[file->table].distinct && file->kind == PF_FILE_JOINED && rows < expected))
        return;
    snprintf(text, sizeof(text), "rows: %llu; its recordings have %llu", (unsigned long long)rows,
             (unsigned long long)expected);
    (void)add(check, "rows", file->path, text);
}

static void check_recording(struct check *check, const struct pf_dataset_file *file)
{
    const struct pf_added *added = pf_all_added_find(&check->all, file->id);
    uint64_t rows;

    const struct pf_added *removed = pf_all_removed_find(&check->all, file->id);
    if (!added && removed && removed->state == PF_ADDED_REMOVING)
        return; /* reported with its marker */
    if (!added) {
        leave_unadded(check, file, "incomplete", "of a recording that was not added to its end");
        return;
    }
    note_seen(check, added, file->table, SEEN_OWN);
    if (look(check, file, added->sums[file->table], &rows))
        compare_rows(check, file, rows, added->rows[file->table]);
}

static void note_joined(struct check *check, size_t table, const struct pf_joined *joined, uint8_t how)
{
    for (size_t i = 0; i < joined->count; i++) {
        const struct pf_added *added = pf_all_added_find(&check->all, joined->ids + i * PF_DIGEST_TEXT);
        if (added)
            note_seen(check, added, table, how);
    }
}

/* Adds up the rows of its recordings. False, with a finding: not all of them are in. */
static bool add_up_joined(struct check *check, const struct pf_dataset_file *file, const struct pf_joined *joined,
                          uint64_t *rows)
{
    size_t unknown = 0, removed = 0;

    *rows = 0;
    for (size_t i = 0; i < joined->count; i++) {
        const char *id = joined->ids + i * PF_DIGEST_TEXT;
        const struct pf_added *added = pf_all_added_find(&check->all, id);
        unknown += !added && !pf_all_removed_find(&check->all, id);
        removed += !added && pf_all_removed_find(&check->all, id);
        *rows += added ? added->rows[file->table] : 0;
    }
    if (unknown)
        (void)add(check, "unknown", file->path, "it has a recording that is not in");
    if (removed)
        (void)add(check, "removed", file->path, "it has rows of a removed recording; compacting removes them");
    return !unknown && !removed;
}

static void check_joined(struct check *check, const struct pf_dataset_file *file)
{
    struct pf_joined joined;
    uint64_t rows, expected;

    if (pf_joined_read(check->dataset, file->table, file->id, &joined) <= 0) {
        (void)add(check, "unknown", file->path, "no record of which recordings it has");
    } else {
        const bool all_are_in = add_up_joined(check, file, &joined, &expected);
        const bool is_intact = look(check, file, joined.sum, &rows);
        note_joined(check, file->table, &joined, is_intact ? SEEN_JOINED | SEEN_INTACT : SEEN_JOINED);
        if (is_intact && all_are_in)
            compare_rows(check, file, rows, expected);
    }
    pf_joined_free(&joined);
}

static void check_file(struct check *check, const struct pf_dataset_file *file)
{
    switch (file->kind) {
    case PF_FILE_RECORDING:
        check_recording(check, file);
        break;
    case PF_FILE_JOINED:
        check_joined(check, file);
        break;
    default:
        if (file->unfinished)
            leave_unadded(check, file, "unfinished", "left by a command that was killed");
        else
            (void)add(check, "foreign", file->path, "not a file of this dataset");
    }
}

/* Joined files that can be read have their rows, too: they were copied here again. */
static void find_doubles(struct check *check)
{
    enum { DOUBLE = SEEN_OWN | SEEN_JOINED | SEEN_INTACT };

    for (size_t i = 0; i < check->files.count; i++) {
        const struct pf_dataset_file *file = &check->files.list[i];
        const struct pf_added *added =
            file->kind == PF_FILE_RECORDING ? pf_all_added_find(&check->all, file->id) : NULL;
        if (added && check->seen[(size_t)(added - check->all.list) * PF_DATASET_TABLES + file->table] == DOUBLE)
            leave(check, "double", file->path, "a joined file has the same rows");
    }
}

static void find_missing(struct check *check)
{
    char text[128];

    for (size_t i = 0; i < check->all.count; i++) {
        const struct pf_added *added = &check->all.list[i];
        for (size_t table = 0; table < PF_DATASET_TABLES && added->state != PF_ADDED_UNREADABLE; table++) {
            if (check->seen[i * PF_DATASET_TABLES + table])
                continue;
            char *path = pf_dataset_marker(check->dataset, added->id);
            snprintf(text, sizeof(text), "no %s; without this file the recording can be added again",
                     pf_dataset_tables[table].view);
            (void)add(check, "missing", path ? path : added->id, text);
            free(path);
        }
    }
}

/* Recordings of these are neither checked nor removed. */
static void find_bad_markers(struct check *check)
{
    size_t count = 0;
    char *ids = pf_added_list(check->dataset, &count);

    for (size_t i = 0; ids && i < count; i++) {
        const char *id = ids + i * PF_DIGEST_TEXT;
        if (pf_all_added_find(&check->all, id) || pf_all_removed_find(&check->all, id) || find_marker(check, id) >= 0)
            continue;
        char *path = pf_dataset_marker(check->dataset, id);
        (void)add(check, "marker", path ? path : id, "it cannot be read; adding the recording again writes it anew");
        free(path);
    }
    check->is_short |= !ids;
    free(ids);
}

/* A removal that was killed. Its files are not "incomplete": they were added to the end. */
static void find_removals(struct check *check)
{
    for (size_t i = 0; i < check->all.removed_count; i++) {
        const struct pf_added *added = &check->all.removed[i];
        char *path = added->state == PF_ADDED_REMOVING ? pf_dataset_marker(check->dataset, added->id) : NULL;
        if (path)
            (void)add(check, "removed", path, "its removal was not finished; compacting finishes it");
        free(path);
    }
}

/* Only whoever compacts makes them, and has the lock that we have now. */
static void find_stages(struct check *check)
{
    struct finding *finding;
    char *path = NULL;
    bool any;

    if (!pf_stages_any(check->dataset) || asprintf(&path, "%s/_perfile/joining", check->dataset->path) < 0)
        return;
    finding = add(check, "unfinished", path, "left by a compact that was killed");
    if (finding && check->removes)
        finding->removed = pf_stages_clear(check->dataset, &any);
    free(path);
}

/* ---- the verb ---------------------------------------------------------------------------------------------------- */

static void report_complete(const struct check *check, struct pf_stream *out)
{
    char recordings[PF_COUNTED_BYTES], files[PF_COUNTED_BYTES];

    pf_stream_print(out, "%s in %s: all is there\n", pf_counted(check->all.count, "recordings", recordings),
                    pf_counted(check->files.count, "files", files));
}

static int print(struct check *check, const struct pf_command *command, const struct pf_settings *settings)
{
    const struct pf_rows rows = {"findings",   columns,   check->removes ? COLUMNS : COLUMNS - 1,
                                 check->count, put_value, check};
    struct pf_stream out;
    int status = pf_stream_open(&out, NULL), written;

    if (status)
        return status;
    if (!check->count && (!settings->format || !strcmp(settings->format, "text")))
        report_complete(check, &out);
    else
        status = pf_rows_put(&rows, &out, command->name, settings->format);
    written = pf_stream_close(&out, !status);
    status = status ? status : written;
    return status ? status : check->count ? PF_STATUS_FINDINGS : PF_STATUS_OK;
}

static int run(struct check *check, const struct pf_command *command, const struct pf_settings *settings)
{
    /* in this order: all files of a recording that is in are there then */
    if (!pf_all_added_read(check->dataset, &check->all) || !pf_files_find(check->dataset, &check->files) ||
        !(check->seen = calloc(check->all.count + 1, PF_DATASET_TABLES))) {
        pf_message("%s: %s", check->dataset->path, strerror(errno));
        return errno == ENOMEM ? PF_STATUS_MEMORY : PF_STATUS_UNREADABLE;
    }
    for (size_t i = 0; i < check->files.count; i++)
        check_file(check, &check->files.list[i]);
    find_doubles(check);
    find_removals(check);
    find_missing(check);
    find_bad_markers(check);
    if (!check->is_short)
        return print(check, command, settings);
    return pf_out_of_memory(command->name);
}

int pf_dataset_check(const struct pf_command *command, struct pf_settings *settings, const struct pf_dataset *dataset)
{
    struct check check = {.dataset = dataset, .removes = ((const struct pf_dataset_settings *)settings->own)->remove};
    /* No other process may join files meanwhile. Without write access the check runs unlocked. */
    const int fd = pf_lock_dataset(dataset);

    if (fd >= 0)
        find_stages(&check);
    const int status = run(&check, command, settings);

    if (fd >= 0)
        pf_unlock_dataset(fd);
    for (size_t i = 0; i < check.count; i++) {
        free(check.findings[i].path);
        free(check.findings[i].detail);
    }
    free(check.findings);
    free(check.seen);
    pf_all_added_free(&check.all);
    pf_files_free(&check.files);
    return status;
}
