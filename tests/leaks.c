/* SPDX-License-Identifier: MIT */
/*
 * Tries to see files in all ways that perfile and its libraries have: `leaks PATHS...` prints a line for each way and
 * path by which a file was there. "zone" is the local time of 1970, when it is not that of UTC.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool closed(int fd)
{
    return fd >= 0 && close(fd) == 0;
}

static bool opens(const char *path)
{
    return closed(open(path, O_RDONLY | O_CLOEXEC));
}

static bool opens_at(const char *path)
{
    return closed(openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC));
}

/* As a path that begins at the current folder, "/". */
static bool opens_relative(const char *path)
{
    return path[0] == '/' && chdir("/") == 0 && opens(path + strspn(path, "/"));
}

static bool opens_stream(const char *path)
{
    FILE *file = fopen(path, "r");
    return file && fclose(file) == 0;
}

static bool opens_folder(const char *path)
{
    DIR *folder = opendir(path);
    return folder && closedir(folder) == 0;
}

static bool lists(const char *path)
{
    struct dirent **entries;
    const int count = scandir(path, &entries, NULL, NULL);
    for (int i = 0; i < count; i++)
        free(entries[i]);
    if (count >= 0)
        free(entries);
    return count >= 0;
}

static bool has_stat(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0;
}

static bool has_lstat(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0;
}

static bool has_fstatat(const char *path)
{
    struct stat about;
    return fstatat(AT_FDCWD, path, &about, 0) == 0;
}

static bool has_statx(const char *path)
{
    struct statx about;
    return statx(AT_FDCWD, path, 0, STATX_SIZE, &about) == 0;
}

static bool has_access(const char *path)
{
    return access(path, F_OK) == 0;
}

static bool has_faccessat(const char *path)
{
    return faccessat(AT_FDCWD, path, F_OK, 0) == 0;
}

static bool is_link(const char *path)
{
    char target[PATH_MAX];
    return readlink(path, target, sizeof(target)) >= 0;
}

static bool is_link_at(const char *path)
{
    char target[PATH_MAX];
    return readlinkat(AT_FDCWD, path, target, sizeof(target)) >= 0;
}

static bool is_real(const char *path)
{
    char *real = realpath(path, NULL);
    free(real);
    return real != NULL;
}

static const struct {
    const char *name;
    bool (*sees)(const char *path);
} ways[] = {
    {"open", opens},           {"openat", opens_at},       {"relative", opens_relative}, {"fopen", opens_stream},
    {"opendir", opens_folder}, {"scandir", lists},         {"stat", has_stat},           {"lstat", has_lstat},
    {"fstatat", has_fstatat},  {"statx", has_statx},       {"access", has_access},       {"faccessat", has_faccessat},
    {"readlink", is_link},     {"readlinkat", is_link_at}, {"realpath", is_real},
};

int main(int count, char **words)
{
    struct tm local;
    const time_t zero = 0;
    for (int i = 1; i < count; i++)
        for (size_t way = 0; way < sizeof(ways) / sizeof(ways[0]); way++)
            if (ways[way].sees(words[i]))
                printf("%s %s\n", ways[way].name, words[i]);
    if (localtime_r(&zero, &local) && (local.tm_hour != 0 || local.tm_min != 0))
        printf("zone %02d:%02d\n", local.tm_hour, local.tm_min);
    return 0;
}
