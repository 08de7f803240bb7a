/* SPDX-License-Identifier: MIT */
#include "parked.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

bool pf_parking_open(struct pf_parking *parking, size_t files, size_t open_max)
{
    *parking = (struct pf_parking){.files = calloc(files, sizeof(*parking->files)), .open_max = open_max};
    pthread_mutex_init(&parking->lock, NULL);
    return parking->files;
}

void pf_parking_close(struct pf_parking *parking)
{
    if (!parking->files)
        return;
    for (size_t i = 0; i < parking->count; i++)
        if (parking->files[i].fd >= 0)
            close(parking->files[i].fd);
    free(parking->files);
    pthread_mutex_destroy(&parking->lock);
    *parking = (struct pf_parking){0};
}

/* Closes the least recently read file when too many are open. */
static void reserve(struct pf_parking *parking)
{
    struct pf_parked *oldest = NULL;

    if (parking->open_count < parking->open_max)
        return;
    for (size_t i = 0; i < parking->count; i++) {
        struct pf_parked *file = &parking->files[i];
        if (file->fd >= 0 && (!oldest || file->used < oldest->used))
            oldest = file;
    }
    if (!oldest)
        return;
    close(oldest->fd);
    oldest->fd = -1;
    parking->open_count--;
}

static bool is_same(const struct stat *left, const struct stat *right)
{
    return left->st_dev == right->st_dev && left->st_ino == right->st_ino && left->st_size == right->st_size &&
           left->st_mtim.tv_sec == right->st_mtim.tv_sec && left->st_mtim.tv_nsec == right->st_mtim.tv_nsec;
}

/* 0, or an error number below 0. */
static int open_file(struct pf_parked *file, struct stat *status)
{
    reserve(file->in);
    file->fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file->fd < 0)
        return -errno;
    file->in->open_count++;
    return fstat(file->fd, status) == 0 ? 0 : -errno;
}

static int make_open(struct pf_parked *file)
{
    struct stat status;

    file->used = ++file->in->used;
    if (file->fd >= 0)
        return 0;
    const int result = open_file(file, &status);
    return result < 0 || is_same(&status, &file->status) ? result : -ESTALE;
}

static int64_t read_file(void *context, void *to, size_t bytes)
{
    struct pf_parked *file = context;

    pthread_mutex_lock(&file->in->lock);
    int64_t got = make_open(file);
    if (got == 0) {
        do
            got = pread(file->fd, to, bytes, (off_t)file->at);
        while (got < 0 && errno == EINTR);
        got = got < 0 ? -errno : got;
        file->at += got > 0 ? (uint64_t)got : 0;
    }
    pthread_mutex_unlock(&file->in->lock);
    return got;
}

static int seek_file(void *context, uint64_t offset)
{
    struct pf_parked *file = context;

    file->at = offset;
    return offset > INT64_MAX ? -1 : 0;
}

static int64_t bytes_of_file(void *context)
{
    const struct pf_parked *file = context;

    return file->status.st_size;
}

bool pf_parking_add(struct pf_parking *parking, const char *path, struct perfile_source *source)
{
    struct pf_parked *file = &parking->files[parking->count];

    *file = (struct pf_parked){.in = parking, .path = path, .fd = -1, .used = ++parking->used};
    if (stat(path, &file->status) < 0 || !S_ISREG(file->status.st_mode) || open_file(file, &file->status) < 0)
        return false;
    parking->count++;
    *source = (struct perfile_source)PERFILE_SOURCE_INIT;
    source->context = file;
    source->read = read_file;
    source->seek = seek_file;
    source->bytes = bytes_of_file;
    return true;
}
