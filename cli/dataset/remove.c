/* SPDX-License-Identifier: MIT */
/*
 * dataset remove: recordings leave a dataset. First their markers say so, then their files and their rows in joined
 * files are removed, last their markers say that no row is left. A command that was killed in between is finished by
 * the next remove or compact. Rows of other recordings are found once at any moment (stage.c).
 */
#include "dataset.h"

#include "../message.h"
#include "../rows.h"

#include <perfile/table.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- sets of ids ------------------------------------------------------------------------------------------------- */

/* Ids of stacks or functions; sorted when it is complete. */
struct ids {
    uint64_t *list; /* owned */
    size_t count, capacity;
};

static int compare_ids(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void sort_ids(struct ids *ids)
{
    size_t kept = 0;

    if (ids->count)
        qsort(ids->list, ids->count, sizeof(*ids->list), compare_ids);
    for (size_t i = 0; i < ids->count; i++)
        if (!i || ids->list[i] != ids->list[kept - 1])
            ids->list[kept++] = ids->list[i];
    ids->count = kept;
}

static bool add_id(struct ids *ids, uint64_t id)
{
    if (ids->count == ids->capacity)
        sort_ids(ids);
    if (ids->count >= ids->capacity / 2 + ids->capacity / 4) {
        const size_t capacity = ids->capacity ? 2 * ids->capacity : 4096;
        uint64_t *more = realloc(ids->list, capacity * sizeof(*more));
        if (!more)
            return false;
        ids->list = more;
        ids->capacity = capacity;
    }
    ids->list[ids->count++] = id;
    return true;
}

static bool has_id(const struct ids *ids, uint64_t id)
{
    return ids->count && bsearch(&id, ids->list, ids->count, sizeof(id), compare_ids);
}

/* ---- which rows stay --------------------------------------------------------------------------------------------- */

/* A perfile_parquet_options.keeps: the row belongs to one of these recordings. */
static bool is_of_recordings(void *context, const struct perfile_value *value)
{
    char id[PF_DIGEST_TEXT];

    if (value->kind != PERFILE_VALUE_TEXT || value->bytes != PF_DIGEST_TEXT - 1)
        return false;
    memcpy(id, value->data, value->bytes);
    id[value->bytes] = 0;
    return pf_joined_has(context, id);
}

/* Likewise: the row has one of these ids. */
static bool is_used(void *context, const struct perfile_value *value)
{
    return value->kind == PERFILE_VALUE_UNSIGNED && has_id(context, value->number.u);
}

/* Adds the ids of a column, which has numbers or lists of them. */
static bool add_column(struct ids *ids, const struct ArrowArray *column)
{
    const uint8_t *valid = column->buffers[0];
    const int32_t *ends = column->n_children ? column->buffers[1] : NULL;
    const uint64_t *values = ends ? column->children[0]->buffers[1] : column->buffers[1];
    bool is_ok = true;

    for (int64_t i = 0; i < (ends ? ends[column->length] : column->length) && is_ok; i++)
        if (ends || !valid || valid[i / 8] >> i % 8 & 1)
            is_ok = add_id(ids, values[i]);
    return is_ok;
}

static int add_rows(struct ids *ids, const struct perfile_parquet_options *options)
{
    struct perfile_table *table;
    struct perfile_error error;
    struct ArrowArray batch;
    int result = perfile_table_of_parquet(options, &table, &error);

    if (result == 0) {
        while ((result = perfile_table_next(table, &batch, &error)) > 0) {
            const bool is_ok = add_column(ids, batch.children[0]);
            batch.release(&batch);
            if (!is_ok)
                break;
        }
        perfile_table_close(table);
    }
    if (result > 0)
        return pf_out_of_memory("dataset");
    if (result < 0)
        pf_message("%s", error.message);
    return result < 0 ? pf_status_of_error(result, PF_STATUS_FINDINGS) : PF_STATUS_OK;
}

/* ---- the recordings that are removed ----------------------------------------------------------------------------- */

struct removing {
    const struct pf_command *command;
    const struct pf_dataset *dataset;
    struct pf_all_added *all;
    struct pf_dataset_files files;
    struct pf_swaps swaps;
    struct pf_removal *removal;
};

static bool is_removed(const struct removing *removing, const char *id)
{
    return pf_all_removed_find(removing->all, id) != NULL;
}

/* Adding the recording again fails meanwhile, so that all files of it are to be removed. */
static bool is_being_removed(const struct removing *removing, const char *id)
{
    const struct pf_added *added = pf_all_removed_find(removing->all, id);

    return added && added->state == PF_ADDED_REMOVING;
}

static int fail_memory(const struct removing *removing)
{
    return pf_out_of_memory(removing->command->name);
}

/* Marks those of `kept` that the file has rows of in `seen`, and returns whether there are any. */
static bool find_kept(const struct removing *removing, const struct pf_dataset_file *file, const struct pf_joined *kept,
                      bool *seen)
{
    struct pf_joined joined = {0};
    bool any = false;

    if (file->kind == PF_FILE_JOINED && pf_joined_read(removing->dataset, file->table, file->id, &joined) <= 0)
        return false;
    for (size_t i = 0; i < kept->count; i++) {
        const char *id = kept->ids + i * PF_DIGEST_TEXT;
        const bool is_here = file->kind == PF_FILE_JOINED ? pf_joined_has(&joined, id)
                                                          : file->kind == PF_FILE_RECORDING && !strcmp(file->id, id);
        any |= is_here;
        seen[i] |= is_here;
    }
    pf_joined_free(&joined);
    return any;
}

/* A table that a set of ids is read from. */
struct origin {
    const char *view, *column, *keeps_column;
    bool (*keeps)(void *context, const struct perfile_value *value);
};

/*
 * Collects the ids in the rows that the recordings `kept` have in a table. Fails if such rows are missing: what they
 * refer to must not be removed.
 */
static int collect(const struct removing *removing, const struct pf_dataset_file *of, const struct pf_joined *kept,
                   const struct origin *origin, void *context, struct ids *ids)
{
    bool *seen = calloc(kept->count, sizeof(*seen));
    struct perfile_parquet_options options = PERFILE_PARQUET_OPTIONS_INIT;
    int status = seen ? PF_STATUS_OK : fail_memory(removing);

    options.path_count = options.column_count = 1;
    options.columns = &origin->column;
    options.keeps = origin->keeps;
    options.keeps_context = context;
    options.keeps_column = origin->keeps_column;
    for (size_t i = 0; i < removing->files.count && !status; i++) {
        const struct pf_dataset_file *file = &removing->files.list[i];
        const char *const path = file->path;
        if (file->damaged != of->damaged || strcmp(pf_dataset_tables[file->table].view, origin->view) != 0 ||
            !find_kept(removing, file, kept, seen))
            continue;
        options.paths = &path;
        status = add_rows(ids, &options);
    }
    for (size_t i = 0; i < kept->count && !status; i++)
        if (!seen[i]) {
            pf_message("%s: it stays as it is: %s of recording %s are missing", of->path, origin->view,
                       kept->ids + i * PF_DIGEST_TEXT);
            status = PF_STATUS_FINDINGS;
        }
    sort_ids(ids);
    free(seen);
    return status;
}

/* The ids of a shared table that the recordings use: stacks are found by samples, and functions by stacks. */
static int collect_used(const struct removing *removing, const struct pf_dataset_file *file, struct pf_joined *kept,
                        struct ids *used)
{
    static const struct origin of_stacks = {"samples", "stack_id", "recording", is_of_recordings};
    static const struct origin of_functions = {"stacks", "function_ids", "stack_id", is_used};
    struct ids stacks = {0};
    int status = collect(removing, file, kept, &of_stacks, kept, &stacks);

    if (!strcmp(pf_dataset_tables[file->table].view, of_functions.view)) {
        *used = stacks;
        return status;
    }
    if (!status)
        status = collect(removing, file, kept, &of_functions, &stacks, used);
    free(stacks.list);
    return status;
}

/* ---- joined files ------------------------------------------------------------------------------------------------ */

/* A folder while its joined files are rewritten. */
struct folder {
    struct removing *removing;
    struct pf_swap swap;
    char *stage; /* owned; NULL: nothing is rewritten so far */
};

static int copy_kept(const struct removing *removing, const struct pf_dataset_file *file, struct pf_joined *kept,
                     const char *path)
{
    const char *distinct = pf_dataset_tables[file->table].distinct, *const source = file->path;
    struct perfile_parquet_options options = PERFILE_PARQUET_OPTIONS_INIT;
    struct ids used = {0};
    int status = distinct ? collect_used(removing, file, kept, &used) : PF_STATUS_OK;

    options.paths = &source;
    options.path_count = 1;
    options.keeps = distinct ? is_used : is_of_recordings;
    options.keeps_context = distinct ? (void *)&used : kept;
    options.keeps_column = distinct ? distinct : "recording";
    if (!status)
        status = pf_rows_copy(&options, path);
    free(used.list);
    return status;
}

static int open_stage(struct folder *folder)
{
    const struct removing *removing = folder->removing;

    if (folder->stage)
        return PF_STATUS_OK;
    folder->swap.stage = folder->stage = pf_stage_path(removing->dataset, folder->swap.folder);
    if (!folder->stage)
        return fail_memory(removing);
    return pf_stage_make(folder->stage, folder->swap.folder) ? PF_STATUS_OK : pf_dataset_fail(folder->stage);
}

/* The file without the removed recordings, in the folder that is to replace this one. */
static int write_kept(struct folder *folder, const struct pf_dataset_file *file, struct pf_joined *kept)
{
    const struct removing *removing = folder->removing;
    char *path = NULL;
    int status = open_stage(folder);

    if (!status && asprintf(&path, "%s/joined-%s.parquet", folder->stage, kept->name) < 0)
        return fail_memory(removing);
    if (!status)
        status = copy_kept(removing, file, kept, path);
    if (!status && !pf_digest_path(path, kept->sum, &(uint64_t){0}))
        status = pf_dataset_fail(path);
    if (!status && !pf_joined_write(removing->dataset, file->table, kept))
        status = pf_dataset_fail(removing->dataset->path);
    if (!status)
        folder->swap.replaced[folder->swap.replaced_count++] = file->path;
    free(path);
    return status;
}

/* Which of its recordings stay. `replaced` is the file itself. */
static bool find_staying(const struct removing *removing, const struct pf_joined *joined, struct pf_joined *kept)
{
    *kept = (struct pf_joined){
        .ids = malloc((joined->count + 1) * PF_DIGEST_TEXT), .replaced = strdup(joined->name), .replaced_count = 1};
    for (size_t i = 0; kept->ids && i < joined->count; i++) {
        const char *id = joined->ids + i * PF_DIGEST_TEXT;
        if (!is_removed(removing, id))
            memcpy(kept->ids + kept->count++ * PF_DIGEST_TEXT, id, PF_DIGEST_TEXT);
    }
    pf_joined_set_name(kept, 1);
    return kept->ids && kept->replaced;
}

static int remove_file(const struct removing *removing, const struct pf_dataset_file *file)
{
    if (unlink(file->path) != 0 && errno != ENOENT)
        return pf_dataset_fail(file->path);
    if (file->kind == PF_FILE_JOINED)
        pf_joined_remove(removing->dataset, file->table, file->id);
    removing->removal->removed_files++;
    return PF_STATUS_OK;
}

static int clean_joined(struct folder *folder, const struct pf_dataset_file *file)
{
    const struct removing *removing = folder->removing;
    struct pf_joined joined, kept = {0};
    int status = PF_STATUS_OK;

    if (pf_joined_read(removing->dataset, file->table, file->id, &joined) <= 0) {
        pf_joined_free(&joined);
        return PF_STATUS_OK; /* check reports it */
    }
    if (!find_staying(removing, &joined, &kept)) {
        status = fail_memory(removing);
    } else if (!kept.count) {
        status = remove_file(removing, file);
    } else if (kept.count < joined.count && !pf_file_has_sum(file->path, joined.sum)) {
        pf_message("%s: its content has changed since it was written, and it stays as it is", file->path);
        status = PF_STATUS_FINDINGS;
    } else if (kept.count < joined.count) {
        status = write_kept(folder, file, &kept);
    }
    pf_joined_free(&joined);
    pf_joined_free(&kept);
    return status;
}

static int replace_folder(struct folder *folder)
{
    struct removing *removing = folder->removing;
    const int status = pf_swaps_replace(&removing->swaps, &folder->swap);

    for (size_t i = 0; i < removing->files.count && !status; i++) {
        const struct pf_dataset_file *file = &removing->files.list[i];
        if (file->kind == PF_FILE_JOINED && pf_swap_replaces(&folder->swap, file->path)) {
            pf_joined_remove(removing->dataset, file->table, file->id);
            removing->removal->rewritten_files++;
        }
    }
    return status;
}

/* Files [from, to) are of one folder. */
static int clean_folder(struct removing *removing, size_t from, size_t to)
{
    const struct pf_dataset_file *list = removing->files.list;
    struct folder folder = {.removing = removing, .swap.folder = list[from].folder};
    int status = PF_STATUS_OK;

    folder.swap.replaced = calloc(to - from, sizeof(*folder.swap.replaced));
    if (!folder.swap.replaced)
        return fail_memory(removing);
    for (size_t i = from; i < to && status <= PF_STATUS_FINDINGS; i++) {
        int cleaned = PF_STATUS_OK;
        if (list[i].kind == PF_FILE_RECORDING && is_being_removed(removing, list[i].id))
            cleaned = remove_file(removing, &list[i]);
        else if (list[i].kind == PF_FILE_JOINED)
            cleaned = clean_joined(&folder, &list[i]);
        status = cleaned > status ? cleaned : status;
    }
    if (status <= PF_STATUS_FINDINGS && folder.swap.replaced_count) {
        const int replaced = replace_folder(&folder);
        status = replaced ? replaced : status;
    }
    free(folder.swap.replaced);
    free(folder.stage);
    return status;
}

/*
 * Files that a killed command left: lists of joined files, which only the holder of the dataset's lock writes, and
 * markers of removed recordings. A process that adds such a recording has its lock.
 */
static void drop_unfinished(const struct removing *removing)
{
    for (size_t i = 0; i < removing->files.count; i++) {
        const struct pf_dataset_file *file = &removing->files.list[i];
        if (pf_file_is_half_list(file))
            unlink(file->path);
        const bool is_half = file->unfinished && *file->id && is_removed(removing, file->id);
        const int fd = is_half ? pf_lock_recording(removing->dataset, file->id, false) : -1;
        if (fd < 0)
            continue;
        unlink(file->path);
        pf_unlock_recording(removing->dataset, file->id, fd);
    }
}

/* Tables whose rows others refer to come first: all files are read as they were listed. */
static int clean_all(struct removing *removing)
{
    const struct pf_dataset_file *list = removing->files.list;
    int status = PF_STATUS_OK;

    for (size_t from = 0, to; from < removing->files.count && status <= PF_STATUS_FINDINGS; from = to) {
        for (to = from + 1; to < removing->files.count && !strcmp(list[from].folder, list[to].folder);)
            to++;
        const int cleaned = clean_folder(removing, from, to);
        status = cleaned > status ? cleaned : status;
    }
    drop_unfinished(removing);
    status = pf_swaps_finish(&removing->swaps, status);
    pf_folders_tidy(removing->dataset);
    return status;
}

/* ---- markers ----------------------------------------------------------------------------------------------------- */

static int write_marker(const struct pf_dataset *dataset, const struct pf_added *added)
{
    const int fd = pf_lock_recording(dataset, added->id, true);
    const bool is_ok = fd >= 0 && pf_added_write(dataset, added);
    const int status = is_ok ? PF_STATUS_OK : pf_dataset_fail(dataset->path);

    if (fd >= 0)
        pf_unlock_recording(dataset, added->id, fd);
    return status;
}

/* Markers of removed recordings have no names. */
static int write_last_marker(const struct removing *removing, struct pf_added *added)
{
    static char empty[] = "";
    struct pf_added removed = {.state = PF_ADDED_REMOVED, .name = empty, .host = empty};

    memcpy(removed.id, added->id, sizeof(removed.id));
    removed.removed_s = added->removed_s;
    const int status = write_marker(removing->dataset, &removed);
    if (!status) {
        added->state = PF_ADDED_REMOVED;
        removing->removal->recordings++;
    }
    return status;
}

static int write_last_markers(const struct removing *removing)
{
    int status = PF_STATUS_OK;

    for (size_t i = 0; i < removing->all->removed_count && !status; i++)
        if (removing->all->removed[i].state == PF_ADDED_REMOVING)
            status = write_last_marker(removing, &removing->all->removed[i]);
    return status;
}

int pf_removal_finish(const struct pf_command *command, const struct pf_dataset *dataset, struct pf_all_added *all,
                      struct pf_removal *removal)
{
    struct removing removing = {
        .command = command, .dataset = dataset, .all = all, .swaps.dataset = dataset, .removal = removal};
    int status = PF_STATUS_OK;

    if (!all->removed_count)
        return PF_STATUS_OK;
    if (!pf_files_find(dataset, &removing.files)) {
        pf_message("%s: %s", dataset->path, strerror(errno));
        status = errno == ENOMEM ? PF_STATUS_MEMORY : PF_STATUS_UNREADABLE;
    }
    if (!status)
        status = clean_all(&removing);
    if (!status)
        status = write_last_markers(&removing);
    pf_files_free(&removing.files);
    return status;
}

void pf_removal_drop_markers(const struct pf_dataset *dataset, const struct pf_all_added *all)
{
    enum { KEPT_SECONDS = 30 * 24 * 60 * 60 };
    const uint64_t now = (uint64_t)time(NULL);

    for (size_t i = 0; i < all->removed_count; i++) {
        const struct pf_added *added = &all->removed[i];
        char *path = added->state == PF_ADDED_REMOVED && added->removed_s + KEPT_SECONDS < now
                         ? pf_dataset_marker(dataset, added->id)
                         : NULL;
        if (path)
            unlink(path);
        free(path);
    }
}

/* ---- the verb ---------------------------------------------------------------------------------------------------- */

/* Which recordings: all that are given must be true. */
struct choice {
    const char *host, *recording; /* NULL: any */
    uint64_t before_ns;
};

static bool is_chosen(const struct choice *choice, const struct pf_added *added)
{
    return added->time_ns < choice->before_ns && (!choice->host || !strcmp(choice->host, added->host)) &&
           (!choice->recording || !strcmp(choice->recording, added->id));
}

/* Since 1970, in the Gregorian calendar; the month 13 is January of the next year. */
static uint64_t days_until(uint64_t year, uint64_t month, uint64_t day)
{
    enum { DAYS_OF_YEAR_0 = 719468, DAYS_OF_400_YEARS = 146097 };
    const uint64_t from_march = (month + 9) % 12, years = year + (month > 12) - (month <= 2 || month > 12);
    const uint64_t of_400 = years % 400, day_of_year = (153 * from_march + 2) / 5 + day - 1;

    return years / 400 * DAYS_OF_400_YEARS + of_400 * 365 + of_400 / 4 - of_400 / 100 + day_of_year - DAYS_OF_YEAR_0;
}

/* Moves *at after `before` and a number of at most so many digits. Returns false when something else follows. */
static bool take_number(const char **at, const char *before, size_t most, unsigned long *number)
{
    const char *start = *at + strlen(before);
    const size_t digits = strncmp(*at, before, strlen(before)) == 0 ? strspn(start, "0123456789") : 0;

    if (!digits || digits > most)
        return false;
    *number = strtoul(start, NULL, 10);
    *at = start + digits;
    return true;
}

/* "2026-01-31", "2026-01-31T12" or "2026-01-31T12:30", in UTC. */
static bool take_date(const char *text, uint64_t *ns)
{
    unsigned long year, month, day, hour = 0, minute = 0;

    if (!take_number(&text, "", 4, &year) || !take_number(&text, "-", 2, &month) || !take_number(&text, "-", 2, &day))
        return false;
    if (take_number(&text, "T", 2, &hour))
        (void)take_number(&text, ":", 2, &minute);
    if (*text || year < 1970 || year > 2500 || month - 1 > 11 || hour > 23 || minute > 59 ||
        day - 1 >= days_until(year, month + 1, 1) - days_until(year, month, 1))
        return false;
    *ns = ((days_until(year, month, day) * 24 + hour) * 60 + minute) * 60 * 1000000000u;
    return true;
}

static int take_choice(const struct pf_command *command, const struct pf_settings *settings, struct choice *choice)
{
    const struct pf_dataset_settings *own = settings->own;

    *choice = (struct choice){own->host, own->recording, UINT64_MAX};
    if (!own->before && !own->host && !own->recording)
        pf_message("%s: remove needs --before DATE, --host NAME or --recording ID", command->name);
    else if (own->before && !take_date(own->before, &choice->before_ns))
        pf_message("%s: --before: '%s' is not a date such as 2026-01-31 or 2026-01-31T12:30 (UTC)", command->name,
                   own->before);
    else if (own->recording && !pf_is_digest(own->recording))
        pf_message("%s: --recording: '%s' is not an id of 32 hexadecimal digits", command->name, own->recording);
    else
        return PF_STATUS_OK;
    return PF_STATUS_USAGE;
}

static const struct perfile_column *const columns[] = {
    PF_COLUMN("recording", PERFILE_COLUMN_TEXT, "Digest of the recording."),
    PF_COLUMN("host", PERFILE_COLUMN_TEXT, "The machine that recorded it."),
    PF_COLUMN("began", PERFILE_COLUMN_TEXT, "When it began (UTC)."),
    PF_COLUMN("samples", PERFILE_COLUMN_U64, "Its samples."),
    PF_COLUMN("file", PERFILE_COLUMN_TEXT, "Name of its file."),
};

struct chosen {
    const struct pf_added **list; /* owned */
    size_t count;
};

static void put_value(void *context, size_t row, size_t column, struct perfile_value *value)
{
    static char began[PF_DATASET_TIME];
    const struct chosen *chosen = context;
    const struct pf_added *added = chosen->list[row];
    const char *texts[] = {added->id, added->host, pf_dataset_time(added->time_ns, began), NULL, added->name};

    *value = texts[column] ? pf_text_value(texts[column]) : pf_number_value(added->samples);
}

static int print_chosen(const struct pf_command *command, const struct pf_settings *settings,
                        const struct pf_all_added *all, const struct choice *choice)
{
    struct chosen chosen = {.list = calloc(all->count + 1, sizeof(*chosen.list))};

    if (!chosen.list)
        return pf_out_of_memory(command->name);
    for (size_t i = 0; i < all->count; i++)
        if (is_chosen(choice, &all->list[i]))
            chosen.list[chosen.count++] = &all->list[i];
    const struct pf_rows rows = {"chosen",     columns,   sizeof(columns) / sizeof(columns[0]),
                                 chosen.count, put_value, &chosen};
    const int status = pf_rows_print(&rows, command->name, NULL, settings->format);
    free(chosen.list);
    return status;
}

/* From the first marker on the recordings are not in any more. */
static int mark_chosen(const struct pf_dataset *dataset, struct pf_all_added *all, const struct choice *choice)
{
    int status = PF_STATUS_OK;

    for (size_t i = 0; i < all->count && !status; i++) {
        struct pf_added *added = &all->list[i];
        if (!is_chosen(choice, added))
            continue;
        added->state = PF_ADDED_REMOVING;
        added->removed_s = (uint64_t)time(NULL);
        status = write_marker(dataset, added);
    }
    return status;
}

static int report(const struct pf_settings *settings, const struct pf_dataset *dataset, const struct pf_all_added *all,
                  const struct pf_removal *removal)
{
    const char *recording = ((const struct pf_dataset_settings *)settings->own)->recording;
    char recordings[PF_COUNTED_BYTES], files[PF_COUNTED_BYTES], rewritten[PF_COUNTED_BYTES];

    if (!settings->quiet)
        pf_message("%s: removed %s and %s, rewrote %s", dataset->path,
                   pf_counted(removal->recordings, "recordings", recordings),
                   pf_counted(removal->removed_files, "files", files),
                   pf_counted(removal->rewritten_files, "files", rewritten));
    if (!recording || removal->recordings || pf_all_removed_find(all, recording))
        return PF_STATUS_OK;
    pf_message("%s: recording %s was not in", dataset->path, recording);
    return PF_STATUS_FINDINGS;
}

static int read_markers(const struct pf_dataset *dataset, struct pf_all_added *all)
{
    pf_all_added_free(all);
    if (pf_stages_clear(dataset, &(bool){false}) && pf_all_added_read(dataset, all))
        return PF_STATUS_OK;
    pf_message("%s: %s", dataset->path, strerror(errno));
    return errno == ENOMEM ? PF_STATUS_MEMORY : PF_STATUS_OUTPUT;
}

static int remove_locked(const struct pf_command *command, struct pf_settings *settings,
                         const struct pf_dataset *dataset, const struct choice *choice)
{
    struct pf_all_added all = {0};
    struct pf_removal removal = {0};
    int status = read_markers(dataset, &all);

    if (!status && !pf_dataset_upgrade(dataset))
        status = pf_dataset_fail(dataset->path);
    if (!status)
        status = mark_chosen(dataset, &all, choice);
    if (!status)
        status = read_markers(dataset, &all);
    if (!status)
        status = pf_removal_finish(command, dataset, &all, &removal);
    if (!status)
        status = report(settings, dataset, &all, &removal);
    pf_all_added_free(&all);
    return status;
}

static int preview(const struct pf_command *command, const struct pf_settings *settings,
                   const struct pf_dataset *dataset, const struct choice *choice)
{
    struct pf_all_added all;
    int status;

    if (pf_all_added_read(dataset, &all)) {
        status = print_chosen(command, settings, &all, choice);
    } else {
        pf_message("%s: %s", dataset->path, strerror(errno));
        status = PF_STATUS_UNREADABLE;
    }
    pf_all_added_free(&all);
    return status;
}

int pf_dataset_remove(const struct pf_command *command, struct pf_settings *settings, const struct pf_dataset *dataset)
{
    struct choice choice;
    int status = take_choice(command, settings, &choice);

    if (status)
        return status;
    if (((const struct pf_dataset_settings *)settings->own)->dry_run)
        return preview(command, settings, dataset, &choice);
    const int fd = pf_lock_dataset(dataset);
    status = fd < 0 ? pf_dataset_fail(dataset->path) : remove_locked(command, settings, dataset, &choice);
    if (fd >= 0)
        pf_unlock_dataset(fd);
    return status;
}
