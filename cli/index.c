/* SPDX-License-Identifier: MIT */
#include "index.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <perfile/analysis.h>
#include <perfile/index.h>

/* By device and inode: what is in it says of which contents it is. */
bool pf_index_cached(const char *recording, char *path, size_t room, bool make)
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
    return snprintf(path, room, "%s/%llx-%llx.index", folder, (unsigned long long)status.st_dev,
                    (unsigned long long)status.st_ino) < (int)room;
}

int pf_index_find(const char *recording)
{
    char path[4096];
    int fd = -1;

    if (snprintf(path, sizeof(path), "%s.pfi", recording) < (int)sizeof(path))
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && pf_index_cached(recording, path, sizeof(path), false))
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return fd;
}

/* The memory is the process's to its end. */
void pf_index_use(struct perfile_reader *reader, int fd)
{
    struct perfile_error error;
    struct stat status;

    if (fd < 0)
        return;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        void *data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data != MAP_FAILED && perfile_index_use(reader, data, (size_t)status.st_size, &error) < 0)
            munmap(data, (size_t)status.st_size);
    }
    close(fd);
}
