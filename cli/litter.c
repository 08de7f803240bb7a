/* SPDX-License-Identifier: MIT */
#include "litter.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ENTRIES = 16, DEPTH_MAX = 3, TRIES = 100, PATH_BYTES = 4096 };

struct entry {
    char path[PATH_BYTES];
    bool prefix;
    volatile sig_atomic_t used;
};

static struct entry entries[ENTRIES];

/* As the kernel writes it: a handler of signals must not call readdir. */
struct kernel_dirent {
    uint64_t inode;
    int64_t next;
    uint16_t bytes;
    uint8_t type;
    char name[];
};

static bool remove_at(int folder, const char *name, int depth);

/* Everything in the folder whose name begins with `prefix`. */
static void remove_all_in(int fd, const char *prefix, int depth)
{
    _Alignas(8) char buffer[8192];
    long got;

    while ((got = syscall(SYS_getdents64, fd, buffer, sizeof(buffer))) > 0)
        for (long at = 0; at < got;) {
            const struct kernel_dirent *one = (const void *)(buffer + at);
            const bool is_link_to_folder = !strcmp(one->name, ".") || !strcmp(one->name, "..");

            if (!is_link_to_folder && !strncmp(one->name, prefix, strlen(prefix)))
                remove_at(fd, one->name, depth + 1);
            at += one->bytes;
        }
}

/* Other threads may still make files in it: it is tried until nothing is left. */
static bool remove_at(int folder, const char *name, int depth)
{
    bool is_gone = unlinkat(folder, name, 0) == 0;

    for (int i = 0; i < TRIES && !is_gone && depth < DEPTH_MAX; i++) {
        const int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
            return true;
        remove_all_in(fd, "", depth);
        close(fd);
        is_gone = unlinkat(folder, name, AT_REMOVEDIR) == 0;
    }
    return is_gone;
}

static void remove_prefixed(struct entry *entry)
{
    char *slash = strrchr(entry->path, '/');
    const char *name = slash ? slash + 1 : entry->path;

    if (slash)
        *slash = 0;
    const int fd = open(slash ? (*entry->path ? entry->path : "/") : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        remove_all_in(fd, name, 0);
    close(fd);
}

static void remove_and_die(int number)
{
    for (int i = 0; i < ENTRIES; i++) {
        if (entries[i].used && entries[i].prefix)
            remove_prefixed(&entries[i]);
        else if (entries[i].used)
            remove_at(AT_FDCWD, entries[i].path, 0);
    }
    signal(number, SIG_DFL);
    raise(number);
}

/* What ignores a signal, or has a handler, keeps it. */
static void catch_signals(void)
{
    static const int deadly[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction old, action = {.sa_handler = remove_and_die};

    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++) {
        sigaddset(&action.sa_mask, deadly[i]);
        if (sigaction(deadly[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(deadly[i], &action, NULL);
    }
}

void pf_litter_add(const char *path, bool prefix)
{
    catch_signals();
    for (int i = 0; i < ENTRIES; i++) {
        if (entries[i].used)
            continue;
        if (snprintf(entries[i].path, PATH_BYTES, "%s", path) < PATH_BYTES) {
            entries[i].prefix = prefix;
            entries[i].used = 1;
        }
        return;
    }
}

void pf_litter_drop(const char *path)
{
    for (int i = 0; i < ENTRIES; i++)
        if (entries[i].used && !strcmp(entries[i].path, path))
            entries[i].used = 0;
}

void pf_litter_add_recording(const char *path)
{
    char text[PATH_BYTES];
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    if (strcmp(path, "-") != 0 &&
        snprintf(text, sizeof(text), "%.*s.%.200s.%ld.", (int)(name - path), path, name, (long)getpid()) < PATH_BYTES)
        pf_litter_add(text, true);
}
