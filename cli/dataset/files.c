/* SPDX-License-Identifier: MIT */
/* Lists the files in the folders of a dataset. */
#include "dataset.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- joined files ------------------------------------------------------------------------------------------------ */

static char *joined_path(const struct pf_dataset *dataset, size_t table, const char *name)
{
    char *path = NULL;

    return asprintf(&path, "%s/_perfile/joined/%s-%s", dataset->path, pf_dataset_tables[table].view, name) < 0 ? NULL
                                                                                                               : path;
}

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');

    return end ? end + 1 : line + strlen(line);
}

static void take_digests(const char *text, const char *key, char *to, size_t *count)
{
    const size_t bytes = strlen(key);

    for (const char *line = text; *line; line = next_line(line)) {
        char digest[PF_DIGEST_TEXT];
        if (strncmp(line, key, bytes) != 0)
            continue;
        snprintf(digest, sizeof(digest), "%s", line + bytes);
        if (pf_is_digest(digest))
            memcpy(to + (*count)++ * PF_DIGEST_TEXT, digest, PF_DIGEST_TEXT);
    }
}

static void take_sum(const char *text, char sum[PF_DIGEST_TEXT])
{
    static const char key[] = "\nsum ";
    const char *line = strstr(text, key);

    snprintf(sum, PF_DIGEST_TEXT, "%s", line ? line + strlen(key) : "");
    if (!pf_is_digest(sum))
        *sum = 0;
}

int pf_joined_read(const struct pf_dataset *dataset, size_t table, const char *name, struct pf_joined *joined)
{
    char *path = joined_path(dataset, table, name), *text = path ? pf_read_checked(path) : NULL;
    const size_t capacity = text ? strlen(text) + PF_DIGEST_TEXT : 0; /* a line is longer than a digest */

    *joined = (struct pf_joined){.ids = text ? malloc(capacity) : NULL, .replaced = text ? malloc(capacity) : NULL};
    snprintf(joined->name, sizeof(joined->name), "%s", name);
    free(path);
    if (!text)
        return errno == ENOENT ? 0 : -1;
    if (joined->ids && joined->replaced) {
        take_digests(text, "recording ", joined->ids, &joined->count);
        take_digests(text, "replaces ", joined->replaced, &joined->replaced_count);
        take_sum(text, joined->sum);
        qsort(joined->ids, joined->count, PF_DIGEST_TEXT, pf_compare_digests);
    }
    free(text);
    return joined->ids && joined->replaced ? 1 : -1;
}

bool pf_joined_write(const struct pf_dataset *dataset, size_t table, const struct pf_joined *joined)
{
    char *path = joined_path(dataset, table, joined->name), *slash = path ? strrchr(path, '/') : NULL, *text = NULL;
    size_t bytes = 0;
    FILE *file = path ? open_memstream(&text, &bytes) : NULL;

    for (size_t i = 0; file && i < joined->count; i++)
        fprintf(file, "recording %s\n", joined->ids + i * PF_DIGEST_TEXT);
    for (size_t i = 0; file && i < joined->replaced_count; i++)
        fprintf(file, "replaces %s\n", joined->replaced + i * PF_DIGEST_TEXT);
    if (file)
        fprintf(file, "sum %s\n", joined->sum);
    bool is_ok = file && fclose(file) == 0;
    if (is_ok) { /* datasets are made without this folder */
        *slash = 0;
        is_ok = pf_dataset_make_folders(path);
        *slash = '/';
    }
    is_ok = is_ok && pf_write_checked(path, text);
    free(text);
    free(path);
    return is_ok;
}

void pf_joined_remove(const struct pf_dataset *dataset, size_t table, const char *name)
{
    char *path = joined_path(dataset, table, name);

    if (path)
        unlink(path);
    free(path);
}

void pf_joined_free(struct pf_joined *joined)
{
    free(joined->ids);
    free(joined->replaced);
    joined->ids = joined->replaced = NULL;
    joined->count = joined->replaced_count = 0;
}

bool pf_joined_has(const struct pf_joined *joined, const char *id)
{
    return bsearch(id, joined->ids, joined->count, PF_DIGEST_TEXT, pf_compare_digests) != NULL;
}

void pf_joined_set_name(struct pf_joined *joined, size_t source_count)
{
    struct pf_digest digest;

    pf_digest_start(&digest);
    pf_digest_add(&digest, joined->ids, joined->count * PF_DIGEST_TEXT);
    pf_digest_add(&digest, &source_count, sizeof(source_count)); /* another than that of a file with the same ones */
    pf_digest_text(&digest, joined->name);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* "ID.parquet", "joined-ID.parquet", "joined-ID.parquet.12.tmp", ".ID.parquet.12.tmp". */
static void name_file(struct pf_dataset_file *file, const char *name)
{
    static const char joined[] = "joined-", end[] = ".parquet";
    const bool is_hidden = *name == '.', is_joined = !strncmp(name + is_hidden, joined, strlen(joined));
    const char *digest = name + is_hidden + (is_joined ? strlen(joined) : 0);

    snprintf(file->id, sizeof(file->id), "%s", digest);
    if (!pf_is_digest(file->id))
        *file->id = 0;
    const char *rest = digest + strlen(file->id);
    const bool is_file = *file->id && !strcmp(rest, end);
    const bool is_temporary = *file->id && !is_file && !strncmp(rest, end, strlen(end)) && strstr(rest, ".tmp");
    file->unfinished = is_temporary || (is_hidden && is_file);
    file->kind = is_hidden || is_temporary ? PF_FILE_HIDDEN
                 : !is_file                ? PF_FILE_OTHER
                 : is_joined               ? PF_FILE_JOINED
                                           : PF_FILE_RECORDING;
    if (file->kind == PF_FILE_HIDDEN && is_joined)
        *file->id = 0;
}

static bool add_file(struct pf_dataset_files *files, const struct pf_dataset_file *like, const char *folder,
                     const char *name)
{
    struct pf_dataset_file file = *like;
    struct stat status;

    if (files->count == files->capacity) {
        const size_t capacity = files->capacity ? 2 * files->capacity : 256;
        struct pf_dataset_file *more = realloc(files->list, capacity * sizeof(*more));
        if (!more)
            return false;
        files->list = more;
        files->capacity = capacity;
    }
    file.folder = strdup(folder);
    if (!file.folder || asprintf(&file.path, "%s/%s", folder, name) < 0) {
        free(file.folder);
        return false;
    }
    name_file(&file, name);
    file.bytes = stat(file.path, &status) == 0 ? (uint64_t)status.st_size : 0;
    files->list[files->count++] = file;
    return true;
}

/* ".ID.12.tmp", ".samples-N.12.tmp", "ID-samples.parquet", "ID-samples.parquet.12.tmp". */
static bool is_left(const char *name)
{
    const char *end = strrchr(name, '.');

    return end && end != name && (!strcmp(end, ".parquet") || !strcmp(end, ".tmp"));
}

/* Adds the unfinished files that killed commands left. */
static bool add_left(struct pf_dataset_files *files, const struct pf_dataset *dataset, const char *name)
{
    struct dirent **entries = NULL;
    char *folder = NULL;
    const int count =
        asprintf(&folder, "%s/_perfile/%s", dataset->path, name) < 0 ? -1 : scandir(folder, &entries, NULL, alphasort);
    bool is_ok = count >= 0 || (folder && errno == ENOENT);

    for (int i = 0; i < count; i++) {
        const char *left = entries[i]->d_name;
        if (is_ok && is_left(left) && (is_ok = add_file(files, &(struct pf_dataset_file){0}, folder, left))) {
            files->list[files->count - 1].kind = PF_FILE_HIDDEN;
            files->list[files->count - 1].unfinished = true;
        }
        free(entries[i]);
    }
    free(entries);
    free(folder);
    return is_ok;
}

/* Folders in it are the keys, "host=a". */
static bool walk(struct pf_dataset_files *files, const struct pf_dataset_file *like, const char *folder, unsigned depth)
{
    enum { DEEPEST = 4 };
    struct dirent **entries;
    const int count = scandir(folder, &entries, NULL, alphasort);
    bool is_ok = count >= 0 || errno == ENOENT;

    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        char *path = NULL;
        struct stat status;
        if (is_ok && strcmp(name, ".") && strcmp(name, "..")) {
            is_ok = asprintf(&path, "%s/%s", folder, name) >= 0;
            const bool is_folder = is_ok && lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
            if (is_ok && is_folder && depth < DEEPEST)
                is_ok = walk(files, like, path, depth + 1);
            else if (is_ok && !is_folder)
                is_ok = add_file(files, like, folder, name);
            free(path);
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return is_ok;
}

bool pf_files_find_below(const struct pf_dataset *dataset, const char *below, struct pf_dataset_files *files)
{
    bool is_ok = true;

    *files = (struct pf_dataset_files){0};
    for (size_t i = 0; i < 2 * PF_DATASET_TABLES && is_ok; i++) {
        const struct pf_dataset_file like = {.table = i % PF_DATASET_TABLES, .damaged = i >= PF_DATASET_TABLES};
        char *folder = NULL;
        is_ok = asprintf(&folder, "%s%s/%s%s", dataset->path, below, like.damaged ? "damaged/" : "",
                         pf_dataset_tables[like.table].view) >= 0 &&
                walk(files, &like, folder, 0);
        free(folder);
    }
    return is_ok;
}

bool pf_files_find(const struct pf_dataset *dataset, struct pf_dataset_files *files)
{
    return pf_files_find_below(dataset, "", files) && add_left(files, dataset, "recordings") &&
           add_left(files, dataset, "joined") && add_left(files, dataset, "adding");
}

void pf_files_free(struct pf_dataset_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        free(files->list[i].path);
        free(files->list[i].folder);
    }
    free(files->list);
    *files = (struct pf_dataset_files){0};
}

bool pf_file_is_half_list(const struct pf_dataset_file *file)
{
    static const char end[] = "/_perfile/joined";
    const size_t bytes = strlen(file->folder);

    return file->unfinished && bytes > strlen(end) && !strcmp(file->folder + bytes - strlen(end), end);
}

/* ---- recordings -------------------------------------------------------------------------------------------------- */

bool pf_all_added_read(const struct pf_dataset *dataset, struct pf_all_added *all)
{
    size_t count;
    char *ids = pf_added_list(dataset, &count);

    *all = (struct pf_all_added){.list = ids ? calloc(count + 1, sizeof(*all->list)) : NULL,
                                 .removed = ids ? calloc(count + 1, sizeof(*all->removed)) : NULL};
    for (size_t i = 0; all->list && all->removed && i < count; i++) {
        struct pf_added added;
        const int found = pf_added_read(dataset, ids + i * PF_DIGEST_TEXT, &added);
        all->broken += found < 0;
        if (found > 0 && pf_added_is_in(&added))
            all->list[all->count++] = added;
        else if (found > 0)
            all->removed[all->removed_count++] = added;
    }
    free(ids);
    return all->list && all->removed;
}

static void free_markers(struct pf_added *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        pf_added_free(&list[i]);
    free(list);
}

void pf_all_added_free(struct pf_all_added *all)
{
    free_markers(all->list, all->count);
    free_markers(all->removed, all->removed_count);
    *all = (struct pf_all_added){0};
}

static int compare_marker(const void *id, const void *added)
{
    return strcmp(id, ((const struct pf_added *)added)->id);
}

struct pf_added *pf_all_added_find(const struct pf_all_added *all, const char *id)
{
    return all->count ? bsearch(id, all->list, all->count, sizeof(*all->list), compare_marker) : NULL;
}

struct pf_added *pf_all_removed_find(const struct pf_all_added *all, const char *id)
{
    return all->removed_count ? bsearch(id, all->removed, all->removed_count, sizeof(*all->removed), compare_marker)
                              : NULL;
}
