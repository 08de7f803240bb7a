/* SPDX-License-Identifier: MIT */
/* platform.h on Windows. The other files here are the part of POSIX that the C library does not have. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "internal.h"
#include "platform/platform.h"

/* In three steps: another process can see that a name is missing for a moment. What fails is undone. */
int pf_platform_exchange(int folder, const char *a, const char *b)
{
    char third[64];
    snprintf(third, sizeof(third), ".exchanged.%d.tmp", (int)getpid());
    if (renameat(folder, b, folder, third) < 0)
        return -1;
    if (renameat(folder, a, folder, b) < 0) {
        const int why = errno;
        renameat(folder, third, folder, b);
        return pf_windows_fail_with(why);
    }
    return renameat(folder, third, folder, a);
}

int pf_platform_memory_file(const char *name)
{
    (void)name;
    return pf_windows_nameless();
}

void pf_platform_memory_path(int fd, char path[PF_PLATFORM_MEMORY_PATH_BYTES])
{
    snprintf(path, PF_PLATFORM_MEMORY_PATH_BYTES, "/dev/fd/%d", fd);
}

/* Also after a signal: its handler runs in a thread of its own. */
void pf_platform_list(int folder, void (*each)(void *context, const struct pf_platform_entry *entry), void *context)
{
    const int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    for (const struct dirent *entry; list && (entry = readdir(list));) {
        const struct pf_platform_entry one = {.name = entry->d_name};
        each(context, &one);
    }
    if (list)
        closedir(list);
    else if (fd >= 0)
        close(fd);
}

bool pf_platform_has_processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof(set), &set) != 0 || CPU_COUNT(&set) > 1;
}

static int compare_items(const void *a, const void *b, void *context)
{
    int (**compare)(const void *, const void *) = context;
    return (*compare)(a, b);
}

void pf_windows_qsort(void *items, size_t count, size_t bytes, int (*compare)(const void *a, const void *b))
{
    pf_platform_sort(items, count, bytes, compare_items, &compare);
}
