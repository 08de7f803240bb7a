/* SPDX-License-Identifier: MIT */
#include "io/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/locale.h"
#include "base/memory.h"
#include "io/sink.h"
#include "platform/platform.h"

enum { NAME_TRIES = 64, MODE = 0700 };

static int fail(const struct pf_folder *folder, int code, int error_number, struct perfile_error *error)
{
    return pf_fail(error, code, PERFILE_NO_OFFSET, folder->path, "%s", pf_error_text(error_number));
}

/* Splits the path; slashes at its end do not count. */
static int open_parent(struct pf_folder *folder, const char *path, struct perfile_error *error)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    size_t start = length;
    while (start && path[start - 1] != '/')
        start--;
    folder->path = pf_text_copy(folder->allocator, path, strlen(path));
    folder->name = pf_text_copy(folder->allocator, path + start, length - start);
    char *parent = pf_text_copy(folder->allocator, start ? path : ".", start ? start : 1);
    int result = folder->path && folder->name && parent ? 0 : pf_fail_memory(error, "output");
    if (result == 0) {
        folder->parent = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (folder->parent < 0)
            result = fail(folder, PERFILE_ERROR_OPEN, errno, error);
    }
    pf_text_free(folder->allocator, parent);
    return result;
}

/* Only a directory recording, or nothing, is replaced by one. */
static int check_target(const struct pf_folder *folder, struct perfile_error *error)
{
    struct stat there;
    char data[NAME_MAX + 8];
    if (fstatat(folder->parent, folder->name, &there, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : fail(folder, PERFILE_ERROR_OPEN, errno, error);
    if (!S_ISDIR(there.st_mode))
        return fail(folder, PERFILE_ERROR_OPEN, ENOTDIR, error);
    snprintf(data, sizeof(data), "%s/data", folder->name);
    if (fstatat(folder->parent, data, &there, AT_SYMLINK_NOFOLLOW) < 0)
        return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, folder->path,
                       "a directory that is not a recording is in the way");
    return 0;
}

static int make_temporary(struct pf_folder *folder, struct perfile_error *error)
{
    for (int i = 0; i < NAME_TRIES; i++) {
        char text[NAME_MAX + 1];
        pf_temporary_name(text, folder->name);
        if (mkdirat(folder->parent, text, MODE) == 0) {
            folder->temporary = pf_text_copy(folder->allocator, text, strlen(text));
            if (!folder->temporary) {
                unlinkat(folder->parent, text, AT_REMOVEDIR);
                return pf_fail_memory(error, "output");
            }
            return 0;
        }
        if (errno != EEXIST)
            break;
    }
    return fail(folder, PERFILE_ERROR_OPEN, errno, error);
}

int pf_folder_open(struct pf_folder *folder, const struct perfile_allocator *allocator, const char *path,
                   struct perfile_error *error)
{
    *folder = (struct pf_folder){.allocator = pf_allocator_or_default(allocator), .parent = -1, .directory = -1};
    int result = open_parent(folder, path, error);
    if (result == 0)
        result = check_target(folder, error);
    if (result == 0)
        result = make_temporary(folder, error);
    if (result < 0)
        return result;
    folder->directory = openat(folder->parent, folder->temporary, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return folder->directory >= 0 ? 0 : fail(folder, PERFILE_ERROR_OPEN, errno, error);
}

/* A directory with the files and one level of directories (kcore_dir) in it. */
static void remove_tree(int parent, const char *name, int depth)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
    if (!list) {
        if (fd >= 0)
            close(fd);
        return;
    }
    for (const struct dirent *entry; (entry = readdir(list));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (unlinkat(fd, entry->d_name, 0) < 0 && depth < 1)
            remove_tree(fd, entry->d_name, depth + 1);
    }
    closedir(list);
    unlinkat(parent, name, AT_REMOVEDIR);
}

/* ---- what stands beside the files of records ---- */

static int copy_bytes(int from, struct pf_sink *to, const char *name, struct perfile_error *error)
{
    uint8_t bytes[64 * 1024];
    for (;;) {
        const ssize_t got = read(from, bytes, sizeof(bytes));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return pf_fail(error, PERFILE_ERROR_READ, PERFILE_NO_OFFSET, name, "%s", pf_error_text(errno));
        if (got == 0)
            return 0;
        int result = pf_sink_put(to, bytes, (size_t)got, error);
        if (result < 0)
            return result;
    }
}

static int copy_file(const struct pf_folder *folder, int from, int to, const char *name, struct perfile_error *error)
{
    struct pf_sink sink = {.fd = -1, .directory = -1};
    const int fd = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) {
        const int number = errno;
        const bool other = fd >= 0;
        if (other)
            close(fd);
        return other ? 0 : pf_fail(error, PERFILE_ERROR_READ, PERFILE_NO_OFFSET, name, "%s", pf_error_text(number));
    }
    int result = pf_sink_open_in(&sink, folder->allocator, to, name, error);
    if (result == 0) {
        result = copy_bytes(fd, &sink, name, error);
        if (result == 0)
            result = pf_sink_commit(&sink, false, error);
        pf_sink_close(&sink);
    }
    close(fd);
    return result;
}

static bool is_kind(int directory, const char *name, mode_t kind)
{
    struct stat status;
    return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && (status.st_mode & S_IFMT) == kind;
}

/* All files of the directory `from` into the new directory `to`. Closes both. */
static int copy_files(const struct pf_folder *folder, int from, int to, struct perfile_error *error)
{
    DIR *list = from >= 0 ? fdopendir(from) : NULL;
    int result = list && to >= 0 ? 0 : fail(folder, PERFILE_ERROR_OPEN, errno, error);
    for (const struct dirent *entry; result == 0 && (entry = readdir(list));)
        if (is_kind(from, entry->d_name, S_IFREG))
            result = copy_file(folder, from, to, entry->d_name, error);
    if (list)
        closedir(list);
    else if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
    return result;
}

static int take_directory(const struct pf_folder *folder, int from, const char *name, struct perfile_error *error)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    if (mkdirat(folder->directory, name, MODE) < 0)
        return fail(folder, PERFILE_ERROR_WRITE, errno, error);
    return copy_files(folder, openat(from, name, flags), openat(folder->directory, name, flags), error);
}

int pf_folder_take(const struct pf_folder *folder, int from, const char *prefix, size_t *count,
                   struct perfile_error *error)
{
    const int copy = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = copy >= 0 ? fdopendir(copy) : NULL;
    int result = 0;
    *count = 0;
    if (!list) {
        if (copy >= 0)
            close(copy);
        return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, "directory", "%s", pf_error_text(errno));
    }
    for (const struct dirent *entry; result == 0 && (entry = readdir(list));) {
        if (!pf_starts_with(entry->d_name, prefix) || !is_kind(from, entry->d_name, S_IFDIR))
            continue;
        ++*count;
        if (folder)
            result = take_directory(folder, from, entry->d_name, error);
    }
    closedir(list);
    return result;
}

int pf_folder_commit(struct pf_folder *folder, bool sync, struct perfile_error *error)
{
    if (sync && fsync(folder->directory) < 0 && errno != EINVAL)
        return fail(folder, PERFILE_ERROR_WRITE, errno, error);
    if (renameat(folder->parent, folder->temporary, folder->parent, folder->name) == 0) {
        pf_text_free(folder->allocator, folder->temporary);
        folder->temporary = NULL;
        if (sync)
            pf_sync_folder(folder->parent);
        return 0;
    }
    if (errno != ENOTEMPTY && errno != EEXIST)
        return fail(folder, PERFILE_ERROR_WRITE, errno, error);
    /* the old one changes names with the new one, and goes when this is closed */
    if (pf_platform_exchange(folder->parent, folder->temporary, folder->name) < 0)
        return fail(folder, PERFILE_ERROR_WRITE, errno, error);
    if (sync)
        pf_sync_folder(folder->parent);
    return 0;
}

void pf_folder_close(struct pf_folder *folder)
{
    if (!folder->allocator)
        return;
    if (folder->directory >= 0)
        close(folder->directory);
    if (folder->temporary)
        remove_tree(folder->parent, folder->temporary, 0);
    if (folder->parent >= 0)
        close(folder->parent);
    pf_text_free(folder->allocator, folder->path);
    pf_text_free(folder->allocator, folder->name);
    pf_text_free(folder->allocator, folder->temporary);
    *folder = (struct pf_folder){.parent = -1, .directory = -1};
}
