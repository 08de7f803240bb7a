/* SPDX-License-Identifier: MIT */
/*
 * Replaces folders atomically. The new folder is made below _perfile/joining, where engines do not look (they do see
 * names that begin with a dot), and one call exchanges both: a reader that lists the folder finds all files of the old
 * one or all of the new one. _perfile/joining has the old folder then; readers that have it open have time to list it
 * before its files are removed.
 */
#include "dataset.h"

#include "../message.h"
#include "platform.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char joining[] = "/_perfile/joining";
/* The name of the old folder between two renames, on file systems without an exchange. No key has a colon. */
static const char old_mark[] = ":old";

char *pf_stage_path(const struct pf_dataset *dataset, const char *folder)
{
    char *path = NULL;

    return asprintf(&path, "%s%s%s", dataset->path, joining, folder + strlen(dataset->path)) < 0 ? NULL : path;
}

/* To be freed. */
static char *join_path(const char *folder, const char *name)
{
    char *path = NULL;

    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

static bool sync_folder(const char *path)
{
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool is_ok = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL); /* some file systems cannot */

    if (fd >= 0)
        close(fd);
    return is_ok;
}

static bool sync_parent(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *parent = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    const bool is_ok = parent && sync_folder(parent);

    free(parent);
    return is_ok;
}

bool pf_stage_make(const char *stage, const char *folder)
{
    char *parent = strdup(stage), *slash = parent ? strrchr(parent, '/') : NULL;
    struct stat status;

    if (slash)
        *slash = 0;
    bool is_ok = slash && stat(folder, &status) == 0 && pf_dataset_make_folders(parent);
    if (is_ok) {
        const mode_t mask = umask(0);
        is_ok = mkdir(stage, status.st_mode & 07777) == 0;
        umask(mask);
    }
    free(parent);
    return is_ok;
}

/* ---- exchanging -------------------------------------------------------------------------------------------------- */

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool pf_swap_replaces(const struct pf_swap *swap, const char *path)
{
    return bsearch(&path, swap->replaced, swap->replaced_count, sizeof(*swap->replaced), compare_paths);
}

static bool link_into(const char *stage, const char *path, const char *name)
{
    char *to = join_path(stage, name);
    struct stat status;
    bool is_ok = to && lstat(path, &status) == 0;

    if (is_ok && S_ISDIR(status.st_mode)) {
        errno = EISDIR;
        is_ok = false;
    }
    is_ok = is_ok && linkat(AT_FDCWD, path, AT_FDCWD, to, 0) == 0;
    free(to);
    return is_ok;
}

/* Links all files that are not replaced into the new folder, including foreign ones. */
static bool link_others(const struct pf_swap *swap)
{
    struct dirent **entries = NULL;
    const int count = scandir(swap->folder, &entries, NULL, NULL);
    bool is_ok = count >= 0;

    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        if (is_ok && strcmp(name, ".") && strcmp(name, "..")) {
            char *path = join_path(swap->folder, name);
            is_ok = path && (pf_swap_replaces(swap, path) || link_into(swap->stage, path, name));
            free(path);
        }
        free(entries[i]);
    }
    free(entries);
    return is_ok;
}

static bool replace_in_steps(const struct pf_swap *swap)
{
    char *old = NULL;
    bool is_ok = asprintf(&old, "%s%s", swap->stage, old_mark) >= 0 && rename(swap->folder, old) == 0;

    if (is_ok && rename(swap->stage, swap->folder) != 0) {
        const int error = errno;
        (void)rename(old, swap->folder);
        errno = error;
        is_ok = false;
    }
    free(old);
    return is_ok;
}

bool pf_stage_swap(const struct pf_dataset *dataset, struct pf_swap *swap)
{
    const int fd = pf_lock_placing(dataset, true);
    bool is_ok;

    qsort(swap->replaced, swap->replaced_count, sizeof(*swap->replaced), compare_paths);
    is_ok = fd >= 0 && link_others(swap) && sync_folder(swap->stage);
    swap->in_steps = false;
    if (is_ok && pf_platform_exchange(AT_FDCWD, swap->stage, swap->folder) != 0) {
        swap->in_steps = errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
        is_ok = swap->in_steps && replace_in_steps(swap);
    }
    const int error = errno;
    if (is_ok) { /* before a file of the old one is removed */
        (void)sync_parent(swap->folder);
        (void)sync_parent(swap->stage);
    }
    if (fd >= 0)
        pf_unlock_dataset(fd);
    errno = error;
    return is_ok;
}

int pf_swaps_replace(struct pf_swaps *swaps, struct pf_swap *swap)
{
    if (!pf_stage_swap(swaps->dataset, swap)) {
        pf_message("%s: cannot be replaced: %s", swap->folder, strerror(errno));
        return PF_STATUS_OUTPUT;
    }
    if (swap->in_steps && !swaps->reported_steps)
        pf_message("%s: its file system cannot exchange folders; readers may miss rows while they are replaced",
                   swaps->dataset->path);
    swaps->reported_steps |= swap->in_steps;
    (void)clock_gettime(CLOCK_MONOTONIC, &swaps->last);
    return PF_STATUS_OK;
}

/* Readers that opened a folder before it was replaced have this time to list it; later its files are removed. */
static void wait_for_listings(const struct pf_swaps *swaps)
{
    const struct timespec until = {swaps->last.tv_sec + 1, swaps->last.tv_nsec};

    if (swaps->last.tv_sec || swaps->last.tv_nsec)
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
            ;
}

int pf_swaps_finish(const struct pf_swaps *swaps, int status)
{
    wait_for_listings(swaps);
    if (pf_stages_clear(swaps->dataset, &(bool){false}))
        return status;
    pf_message("%s/_perfile/joining: cannot be removed: %s", swaps->dataset->path, strerror(errno));
    return status ? status : PF_STATUS_OUTPUT;
}

/* ---- leftovers --------------------------------------------------------------------------------------------------- */

/* Recordings whose rows joined files of a folder have. */
struct inside {
    char *ids; /* in blocks of PF_DIGEST_TEXT; owned */
    size_t count;
};

static bool add_joined(const struct pf_dataset *dataset, const struct pf_dataset_file *file, struct inside *inside)
{
    struct pf_joined joined;
    const int found = pf_joined_read(dataset, file->table, file->id, &joined);
    char *more = found > 0 ? realloc(inside->ids, (inside->count + joined.count + 1) * PF_DIGEST_TEXT) : NULL;

    if (more) {
        memcpy(more + inside->count * PF_DIGEST_TEXT, joined.ids, joined.count * PF_DIGEST_TEXT);
        inside->ids = more;
        inside->count += joined.count;
    }
    pf_joined_free(&joined);
    return more || found <= 0;
}

static bool find_inside(const struct pf_dataset *dataset, const struct pf_dataset_files *files, const char *folder,
                        struct inside *inside)
{
    bool is_ok = true;

    inside->count = 0;
    for (size_t i = 0; i < files->count && is_ok; i++)
        if (files->list[i].kind == PF_FILE_JOINED && !strcmp(files->list[i].folder, folder))
            is_ok = add_joined(dataset, &files->list[i], inside);
    if (inside->count)
        qsort(inside->ids, inside->count, PF_DIGEST_TEXT, pf_compare_digests);
    return is_ok;
}

static bool is_inside(const struct inside *inside, const struct pf_dataset_file *file)
{
    return file->kind == PF_FILE_RECORDING && inside->count &&
           bsearch(file->id, inside->ids, inside->count, PF_DIGEST_TEXT, pf_compare_digests);
}

/*
 * Removes a file of a folder that is not part of the dataset any more, or not yet. If the current folder does not have
 * the file's rows, the file moves there: its writer had no lock, as some file systems have none.
 */
static bool clear_file(const struct pf_dataset *dataset, const struct pf_dataset_file *file, const char *folder,
                       const struct inside *inside)
{
    char *there = join_path(folder, strrchr(file->path, '/') + 1);
    bool is_ok = there != NULL;

    if (is_ok && access(there, F_OK) != 0) {
        if (file->kind == PF_FILE_JOINED)
            pf_joined_remove(dataset, file->table, file->id);
        else if (file->kind != PF_FILE_HIDDEN && !is_inside(inside, file))
            is_ok = rename(file->path, there) == 0;
    }
    is_ok = is_ok && (unlink(file->path) == 0 || errno == ENOENT);
    free(there);
    return is_ok;
}

/* The folder that a folder below _perfile/joining replaces, or was replaced by. To be freed. */
static char *position_of(const struct pf_dataset *dataset, const char *stage)
{
    char *path = NULL;

    if (asprintf(&path, "%s%s", dataset->path, stage + strlen(dataset->path) + strlen(joining)) < 0)
        return NULL;
    const size_t bytes = strlen(path), end = strlen(old_mark);
    if (bytes > end && !strcmp(path + bytes - end, old_mark))
        path[bytes - end] = 0;
    return path;
}

/* A command that was killed between two steps left no folder at the path: the old one is moved back. */
static bool put_back(const struct pf_dataset *dataset, const struct pf_dataset_files *staged)
{
    bool any = false;

    for (size_t i = 0; i < staged->count; i++) {
        const char *folder = staged->list[i].folder;
        char *position = position_of(dataset, folder);
        if (position && access(position, F_OK) != 0 && strlen(folder) > strlen(old_mark) &&
            !strcmp(folder + strlen(folder) - strlen(old_mark), old_mark))
            any |= rename(folder, position) == 0;
        free(position);
    }
    return any;
}

static bool clear_files(const struct pf_dataset *dataset, const struct pf_dataset_files *staged,
                        const struct pf_dataset_files *files)
{
    struct inside inside = {0};
    char *position = NULL;
    bool is_ok = true;

    for (size_t i = 0; i < staged->count && is_ok; i++) {
        const struct pf_dataset_file *file = &staged->list[i];
        if (!i || strcmp(file->folder, staged->list[i - 1].folder) != 0) {
            free(position);
            position = position_of(dataset, file->folder);
            is_ok = position && find_inside(dataset, files, position, &inside);
        }
        is_ok = is_ok && clear_file(dataset, file, position, &inside);
    }
    free(inside.ids);
    free(position);
    return is_ok;
}

/* Removes empty folders only. */
static void remove_folders(const char *folder, unsigned depth)
{
    enum { DEEPEST = 8 };
    struct dirent **entries = NULL;
    const int count = depth < DEEPEST ? scandir(folder, &entries, NULL, NULL) : 0;

    for (int i = 0; i < count; i++) {
        char *path = strcmp(entries[i]->d_name, ".") && strcmp(entries[i]->d_name, "..")
                         ? join_path(folder, entries[i]->d_name)
                         : NULL;
        struct stat status;
        if (path && lstat(path, &status) == 0 && S_ISDIR(status.st_mode))
            remove_folders(path, depth + 1);
        free(path);
        free(entries[i]);
    }
    free(entries);
    (void)rmdir(folder);
}

bool pf_stages_clear(const struct pf_dataset *dataset, bool *any)
{
    struct pf_dataset_files staged, files = {0};
    char *root = join_path(dataset->path, joining + 1);
    bool is_ok = pf_files_find_below(dataset, joining, &staged) && root;

    if (is_ok && put_back(dataset, &staged)) {
        pf_files_free(&staged);
        is_ok = pf_files_find_below(dataset, joining, &staged);
    }
    *any = is_ok && access(root, F_OK) == 0;
    if (*any) {
        is_ok = pf_files_find_below(dataset, "", &files) && clear_files(dataset, &staged, &files);
        remove_folders(root, 0);
    }
    pf_files_free(&files);
    pf_files_free(&staged);
    free(root);
    return is_ok;
}

void pf_folders_tidy(const struct pf_dataset *dataset)
{
    const int fd = pf_lock_placing(dataset, true);

    for (size_t i = 0; i < 2 * PF_DATASET_TABLES && fd >= 0; i++) {
        char *folder = NULL;
        if (asprintf(&folder, "%s/%s%s", dataset->path, i < PF_DATASET_TABLES ? "" : "damaged/",
                     pf_dataset_tables[i % PF_DATASET_TABLES].view) < 0)
            break;
        remove_folders(folder, 0);
        free(folder);
    }
    char *damaged = join_path(dataset->path, "damaged");
    if (fd >= 0 && damaged)
        (void)rmdir(damaged);
    free(damaged);
    if (fd >= 0)
        pf_unlock_dataset(fd);
}

bool pf_stages_any(const struct pf_dataset *dataset)
{
    char *root = join_path(dataset->path, joining + 1);
    const bool any = root && access(root, F_OK) == 0;

    free(root);
    return any;
}
