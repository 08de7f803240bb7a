/* SPDX-License-Identifier: MIT */
#include "index.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <perfile/analysis.h>
#include <perfile/index.h>

static const char suffix[] = ".index";

/* The name has the device and inode; the index itself identifies the contents that it belongs to. */
bool pf_index_cached(const char *recording, char *path, size_t capacity, bool make)
{
    struct stat status;
    char folder[3000];

    if (stat(recording, &status) != 0 || !S_ISREG(status.st_mode) || perfile_cache_folder(folder, sizeof(folder)) != 0)
        return false;
    if (make) {
        char *last = strrchr(folder, '/');
        if (last && last != folder) { /* ~/.cache */
            *last = '\0';
            (void)mkdir(folder, 0700);
            *last = '/';
        }
        (void)mkdir(folder, 0700);
    }
    return snprintf(path, capacity, "%s/%llx-%llx%s", folder, (unsigned long long)status.st_dev,
                    (unsigned long long)status.st_ino, suffix) < (int)capacity;
}

void pf_index_trim_cache(const char *made)
{
    const char *slash = strrchr(made, '/');

    perfile_cache_trim(suffix, slash ? slash + 1 : made, (uint64_t)1 << 30);
}

int pf_index_find(const char *recording, enum pf_index_position position)
{
    char path[4096];
    const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | (position == PF_INDEX_CACHED ? O_NOFOLLOW : 0);
    const bool known = position == PF_INDEX_BESIDE
                           ? snprintf(path, sizeof(path), "%s.pfi", recording) < (int)sizeof(path)
                           : pf_index_cached(recording, path, sizeof(path), false);

    return known ? open(path, flags) : -1;
}

/* The memory is the process's to its end. */
bool pf_index_use(struct perfile_reader *reader, int fd, enum pf_index_position position)
{
    struct perfile_error error;
    struct stat status;
    bool used = false;

    if (fd < 0)
        return false;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        void *data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        used = data != MAP_FAILED && perfile_index_use(reader, data, (size_t)status.st_size, &error) == 0;
        if (data != MAP_FAILED && !used)
            munmap(data, (size_t)status.st_size);
    }
    if (used && position == PF_INDEX_CACHED)
        (void)futimens(fd, NULL); /* its time says when it was used last */
    close(fd);
    return used;
}

static int write_all(void *context, const void *data, size_t bytes)
{
    return fwrite(data, 1, bytes, context) == bytes ? 0 : -1;
}

/* ---- making one -------------------------------------------------------------------------------------------------- */

struct making {
    char path[4096], made[4096 + 8];
    FILE *file;
};

/* Opens the unfinished index and locks it. -1 when another process that reads the same recording is writing it. */
static int open_locked(const char *made)
{
    struct stat opened, named;
    const int fd = open(made, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd < 0)
        return -1;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &opened) == 0 && stat(made, &named) == 0 &&
        opened.st_ino == named.st_ino && opened.st_dev == named.st_dev && ftruncate(fd, 0) == 0)
        return fd;
    close(fd);
    return -1;
}

static struct making *begin(const char *recording)
{
    struct making *making = malloc(sizeof(*making));

    if (!making || !pf_index_cached(recording, making->path, sizeof(making->path), true)) {
        free(making);
        return NULL;
    }
    snprintf(making->made, sizeof(making->made), "%s.new", making->path);
    const int fd = open_locked(making->made);
    making->file = fd < 0 ? NULL : fdopen(fd, "w");
    if (making->file)
        return making;
    if (fd >= 0)
        close(fd);
    free(making);
    return NULL;
}

/* Replaces the old index, which stays readable for processes that have it open. */
static bool end(struct making *making, bool complete)
{
    const bool fine =
        complete && fflush(making->file) == 0 && !ferror(making->file) && rename(making->made, making->path) == 0;

    if (!fine)
        (void)unlink(making->made);
    else
        pf_index_trim_cache(making->path);
    fclose(making->file); /* and with it the lock */
    free(making);
    return fine;
}

static void ended(void *context, bool complete)
{
    (void)end(context, complete);
}

void pf_index_leave(struct perfile_reader *reader, const char *recording)
{
    struct perfile_error error;
    struct making *making = begin(recording);

    if (making &&
        perfile_index_follow(reader, &(struct perfile_sink){making->file, write_all}, ended, making, &error) != 0)
        (void)end(making, false);
}

bool pf_index_renew(struct perfile_reader *reader, const char *recording)
{
    char path[4096];
    struct perfile_error error;
    struct making *making = begin(recording);

    if (!making)
        return false;
    memcpy(path, making->path, sizeof(path));
    const int result = perfile_index_write(reader, &(struct perfile_sink){making->file, write_all}, &error);
    const bool fine = end(making, result == 0);
    if (result == PERFILE_ERROR_UNSUPPORTED) /* the recording cannot have an index any more */
        (void)unlink(path);
    return fine && pf_index_use(reader, pf_index_find(recording, PF_INDEX_CACHED), PF_INDEX_CACHED);
}
