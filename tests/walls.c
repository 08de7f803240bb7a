/* SPDX-License-Identifier: MIT */
/*
 * To be preloaded into programs of tests: they see the files that a test needs, and nothing of the machine. hermetic.py
 * does so for every test but those whose line in meson.build says `machine`.
 *
 * A file exists if it is below a folder of WALLS (separated by colons), the build folder (two above this library) or
 * TMPDIR, or is one of `always`. All others are missing. WALLS_LOG names a file that gets a line for each that was
 * refused. Only programs below the build folder are inside, and those with WALLS_INSIDE in their environment: shells
 * and the like go on as they are.
 *
 * What the C library opens by itself is not seen here. So the time zone is UTC unless TZ says otherwise without a file.
 */
#include <stdlib.h>

#ifdef __GLIBC__
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FOLDERS_MAX = 16 };

/* Devices and files of every machine that say nothing of it. */
static const char *const always[] = {
    "/dev/null",     "/dev/zero",         "/dev/full",           "/dev/random",
    "/dev/urandom",  "/dev/tty",          "/dev/ptmx",           "/dev/pts",
    "/dev/shm",      "/dev/fd",           "/dev/stdin",          "/dev/stdout",
    "/dev/stderr",   "/proc/self",        "/proc/thread-self",   "/etc/terminfo",
    "/lib/terminfo", "/usr/lib/terminfo", "/usr/share/terminfo", "/sys/devices/system/cpu/online",
};

static char folders[FOLDERS_MAX][PATH_MAX];
static unsigned folder_count;
static bool is_inside;
static int log_fd = -1;
static const char *zone_file; /* that the C library would read; NULL: none */

/* ---- which files there are ---- */

static bool is_below(const char *path, const char *folder)
{
    const size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || !path[length]);
}

static bool is_permitted(const char *path)
{
    bool permitted = strncmp(path, "/tmp/perfile-", strlen("/tmp/perfile-")) == 0; /* plain_folder() in hermetic.py */
    for (size_t i = 0; !permitted && i < sizeof(always) / sizeof(always[0]); i++)
        permitted = is_below(path, always[i]);
    for (unsigned i = 0; !permitted && i < folder_count; i++)
        permitted = is_below(path, folders[i]);
    return permitted;
}

/* `path` without "//", "." and ".."; false: it is too long. */
static bool normalize(char normal[PATH_MAX], const char *path)
{
    size_t end = 0;
    while (*path) {
        const size_t length = strcspn(path, "/");
        if (length == 2 && strncmp(path, "..", length) == 0) {
            while (end > 0 && normal[--end] != '/')
                ;
        } else if (length > 1 || (length == 1 && *path != '.')) {
            if (end + 1 + length >= PATH_MAX)
                return false;
            normal[end++] = '/';
            memcpy(normal + end, path, length);
            end += length;
        }
        path += length + (path[length] == '/');
    }
    normal[end] = '\0';
    return true;
}

/* The path as the program means it; NULL: it is too long, which the system may say. */
static const char *absolute(char normal[PATH_MAX], const char *path)
{
    char joined[2 * PATH_MAX];
    if (path[0] == '/')
        return normalize(normal, path) ? normal : NULL;
    if (!getcwd(joined, PATH_MAX) || strlen(path) >= PATH_MAX)
        return NULL;
    strcat(strcat(joined, "/"), path);
    return normalize(normal, joined) ? normal : NULL;
}

static void note_refused(const char *path)
{
    if (log_fd >= 0)
        dprintf(log_fd, "%s: %s\n", program_invocation_short_name, path);
}

/* What is below an open folder was seen with it. */
static bool is_seen(int folder, const char *path)
{
    char normal[PATH_MAX];
    if (!is_inside || !path || !*path || (path[0] != '/' && folder != AT_FDCWD && !strstr(path, "..")))
        return true;
    const char *meant = absolute(normal, path);
    if (!meant || is_permitted(meant))
        return true;
    note_refused(meant);
    errno = ENOENT;
    return false;
}

/* ---- the beginning ---- */

/* Nothing here allocates memory: tests count allocations, and make them fail. */
static void permit(const char *folder)
{
    if (folder[0] == '/' && folder[1] && strlen(folder) < PATH_MAX && folder_count < FOLDERS_MAX)
        strcpy(folders[folder_count++], folder);
}

/* The folder and, where links lead to it, the one that is meant. */
static void permit_both(const char *folder)
{
    char real[PATH_MAX];
    permit(folder);
    if (realpath(folder, real) && strcmp(real, folder) != 0)
        permit(real);
}

static void permit_list(const char *list)
{
    char folder[PATH_MAX];
    for (size_t length; *list; list += length + (list[length] == ':')) {
        length = strcspn(list, ":");
        if (length < sizeof(folder)) {
            snprintf(folder, sizeof(folder), "%.*s", (int)length, list);
            permit_both(folder);
        }
    }
}

/* Of BUILD/tests/walls.so; "" if it has no such path. */
static void find_build(char build[PATH_MAX])
{
    Dl_info about;
    if (!dladdr((void *)folders, &about) || !realpath(about.dli_fname, build))
        *build = '\0';
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(build, '/');
        if (slash)
            *slash = '\0';
    }
}

static bool is_own_program(const char *build)
{
    char program[PATH_MAX] = "";
    return *build && readlink("/proc/self/exe", program, sizeof(program) - 1) > 0 && is_below(program, build);
}

/* A TZ with an offset in it needs no file. */
static void settle_zone(void)
{
    const char *zone = getenv("TZ");
    if (zone && zone[0] != ':' && (!*zone || strcmp(zone, "UTC") == 0 || strpbrk(zone, "0123456789")))
        return;
    zone_file = zone ? "/usr/share/zoneinfo" : "/etc/localtime";
    setenv("TZ", "UTC0", 1);
}

static const char *variable(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value ? value : otherwise;
}

/* Never as a standard file that is closed. */
static int open_log(const char *path)
{
    const int first = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    const int fd = fcntl(first, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (first >= 0)
        close(first);
    return fd;
}

__attribute__((constructor)) static void begin(void)
{
    const char *log = getenv("WALLS_LOG");
    char build[PATH_MAX];
    find_build(build);
    if (!is_own_program(build) && !getenv("WALLS_INSIDE"))
        return;
    log_fd = log ? open_log(log) : -1;
    permit_list(variable("WALLS", ""));
    permit_both(build);
    permit_both(variable("TMPDIR", "/tmp"));
    settle_zone();
    is_inside = true;
}

/* ---- the calls ---- */

/* Calls the next function of that name. */
#define NEXT(type, name, parameters, arguments)                                                                        \
    {                                                                                                                  \
        static type(*next) parameters;                                                                                 \
        void *found = next ? NULL : dlsym(RTLD_NEXT, #name);                                                           \
        if (found)                                                                                                     \
            memcpy(&next, &found, sizeof(next));                                                                       \
        return next arguments;                                                                                         \
    }

#define WALL_AT(type, refused, name, parameters, arguments, folder)                                                    \
    type name parameters                                                                                               \
    {                                                                                                                  \
        if (!is_seen(folder, path))                                                                                    \
            return refused;                                                                                            \
        NEXT(type, name, parameters, arguments)                                                                        \
    }

#define WALL(type, refused, name, parameters, arguments) WALL_AT(type, refused, name, parameters, arguments, AT_FDCWD)

/* A mode follows some flags. */
#define WALL_OPEN(name, parameters, arguments, folder)                                                                 \
    int name parameters                                                                                                \
    {                                                                                                                  \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        const mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;                                \
        va_end(rest);                                                                                                  \
        if (!is_seen(folder, path))                                                                                    \
            return -1;                                                                                                 \
        NEXT(int, name, parameters, arguments)                                                                         \
    }

int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int at, const char *path, int flags);
int __openat64_2(int at, const char *path, int flags);
char *__realpath_chk(const char *path, char *real, size_t bytes);
ssize_t __readlink_chk(const char *path, char *target, size_t count, size_t bytes);
ssize_t __readlinkat_chk(int at, const char *path, char *target, size_t count, size_t bytes);

WALL_OPEN(open, (const char *path, int flags, ...), (path, flags, mode), AT_FDCWD)
WALL_OPEN(open64, (const char *path, int flags, ...), (path, flags, mode), AT_FDCWD)
WALL_OPEN(openat, (int at, const char *path, int flags, ...), (at, path, flags, mode), at)
WALL_OPEN(openat64, (int at, const char *path, int flags, ...), (at, path, flags, mode), at)
WALL(int, -1, __open_2, (const char *path, int flags), (path, flags))
WALL(int, -1, __open64_2, (const char *path, int flags), (path, flags))
WALL_AT(int, -1, __openat_2, (int at, const char *path, int flags), (at, path, flags), at)
WALL_AT(int, -1, __openat64_2, (int at, const char *path, int flags), (at, path, flags), at)
WALL(FILE *, NULL, fopen, (const char *path, const char *mode), (path, mode))
WALL(FILE *, NULL, fopen64, (const char *path, const char *mode), (path, mode))
WALL(DIR *, NULL, opendir, (const char *path), (path))
WALL(int, -1, scandir,
     (const char *path, struct dirent ***list, int (*filter)(const struct dirent *),
      int (*compare)(const struct dirent **, const struct dirent **)),
     (path, list, filter, compare))
WALL(int, -1, scandir64,
     (const char *path, struct dirent64 ***list, int (*filter)(const struct dirent64 *),
      int (*compare)(const struct dirent64 **, const struct dirent64 **)),
     (path, list, filter, compare))
WALL(int, -1, stat, (const char *path, struct stat *about), (path, about))
WALL(int, -1, stat64, (const char *path, struct stat64 *about), (path, about))
WALL(int, -1, lstat, (const char *path, struct stat *about), (path, about))
WALL(int, -1, lstat64, (const char *path, struct stat64 *about), (path, about))
WALL_AT(int, -1, fstatat, (int at, const char *path, struct stat *about, int flags), (at, path, about, flags), at)
WALL_AT(int, -1, fstatat64, (int at, const char *path, struct stat64 *about, int flags), (at, path, about, flags), at)
WALL_AT(int, -1, statx, (int at, const char *path, int flags, unsigned mask, struct statx *about),
        (at, path, flags, mask, about), at)
WALL(int, -1, access, (const char *path, int mode), (path, mode))
WALL_AT(int, -1, faccessat, (int at, const char *path, int mode, int flags), (at, path, mode, flags), at)
WALL(ssize_t, -1, readlink, (const char *path, char *target, size_t bytes), (path, target, bytes))
WALL_AT(ssize_t, -1, readlinkat, (int at, const char *path, char *target, size_t bytes), (at, path, target, bytes), at)
WALL(ssize_t, -1, __readlink_chk, (const char *path, char *target, size_t count, size_t bytes),
     (path, target, count, bytes))
WALL_AT(ssize_t, -1, __readlinkat_chk, (int at, const char *path, char *target, size_t count, size_t bytes),
        (at, path, target, count, bytes), at)
WALL(char *, NULL, realpath, (const char *path, char *real), (path, real))
WALL(char *, NULL, __realpath_chk, (const char *path, char *real, size_t bytes), (path, real, bytes))

static struct tm *next_localtime_r(const time_t *when, struct tm *parts)
    NEXT(struct tm *, localtime_r, (const time_t *when, struct tm *parts), (when, parts))

        struct tm *localtime_r(const time_t *when, struct tm *parts)
{
    if (zone_file)
        note_refused(zone_file);
    return next_localtime_r(when, parts);
}
#else
typedef int nothing; /* other C libraries: tests see the machine */
#endif
