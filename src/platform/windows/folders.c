/* SPDX-License-Identifier: MIT */
/* Folders, and what changes names. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "internal.h"

enum { NAME_TRIES = 64, SUFFIX = 6 /* the X of templates */ };

/* ---- reading ----------------------------------------------------------------------------------------------------- */

struct pf_windows_folder {
    HANDLE search;
    WIN32_FIND_DATAW found;
    bool has_found; /* not delivered yet */
    int fd;
    struct dirent entry;
};

static bool start_search(DIR *folder)
{
    wchar_t *path = pf_windows_path_of(folder->fd);
    wchar_t *all = path ? malloc((wcslen(path) + 3) * sizeof(*all)) : NULL;
    if (all) {
        wcscpy(all, path);
        wcscat(all, path[wcslen(path) - 1] == L'\\' ? L"*" : L"\\*"); /* of a drive there is a backslash already */
        folder->search = FindFirstFileW(all, &folder->found);
        folder->has_found = folder->search != INVALID_HANDLE_VALUE;
    }
    const bool started = folder->has_found || (all && GetLastError() == ERROR_FILE_NOT_FOUND);
    if (!started && all)
        pf_windows_fail();
    free(all);
    free(path);
    return started;
}

DIR *fdopendir(int fd)
{
    struct stat status;
    DIR *folder = NULL;
    if (fstat(fd, &status) < 0)
        return NULL;
    if (!S_ISDIR(status.st_mode))
        errno = ENOTDIR;
    else
        folder = calloc(1, sizeof(*folder));
    if (!folder)
        return NULL;
    folder->search = INVALID_HANDLE_VALUE;
    folder->fd = fd;
    if (start_search(folder))
        return folder;
    free(folder);
    return NULL;
}

DIR *opendir(const char *path)
{
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    const int why = errno;
    if (fd >= 0 && !folder)
        close(fd);
    errno = why;
    return folder;
}

int closedir(DIR *folder)
{
    const int fd = folder->fd;
    if (folder->search != INVALID_HANDLE_VALUE)
        FindClose(folder->search);
    free(folder);
    return close(fd);
}

int dirfd(DIR *folder)
{
    return folder->fd;
}

/* Names that are not UTF-16 cannot be opened by a text, and are left out. */
struct dirent *readdir(DIR *folder)
{
    struct dirent *entry = &folder->entry;
    while (folder->has_found) {
        const DWORD kind = folder->found.dwFileAttributes;
        const int bytes = WideCharToMultiByte(CP_UTF8, WC_ERR_INVALID_CHARS, folder->found.cFileName, -1, entry->d_name,
                                              sizeof(entry->d_name), NULL, NULL);
        folder->has_found = FindNextFileW(folder->search, &folder->found);
        entry->d_type = kind & FILE_ATTRIBUTE_REPARSE_POINT ? DT_UNKNOWN
                        : kind & FILE_ATTRIBUTE_DIRECTORY   ? DT_DIR
                                                            : DT_REG;
        if (bytes > 0)
            return entry;
    }
    return NULL;
}

int alphasort(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int compare_entries(const void *a, const void *b)
{
    return alphasort((const struct dirent **)(uintptr_t)a, (const struct dirent **)(uintptr_t)b);
}

static bool add_entry(struct dirent ***list, int *count, const struct dirent *entry)
{
    struct dirent **grown = realloc(*list, ((size_t)*count + 1) * sizeof(*grown)), *copy = malloc(sizeof(*copy));
    *list = grown ? grown : *list;
    if (!grown || !copy) {
        free(copy);
        return false;
    }
    *copy = *entry;
    grown[(*count)++] = copy;
    return true;
}

int scandir(const char *path, struct dirent ***list, int (*choose)(const struct dirent *),
            int (*compare)(const struct dirent **, const struct dirent **))
{
    DIR *folder = opendir(path);
    int count = 0;
    bool added = true;
    *list = NULL;
    if (!folder)
        return -1;
    for (const struct dirent *entry; added && (entry = readdir(folder));)
        added = (choose && !choose(entry)) || add_entry(list, &count, entry);
    closedir(folder);
    if (compare && count)
        qsort(*list, (size_t)count, sizeof(**list), compare_entries);
    if (added && (*list || (*list = malloc(1))))
        return count;
    while (count > 0)
        free((*list)[--count]);
    free(*list);
    return pf_windows_fail_with(ENOMEM);
}

typedef int each_function(const char *path, const struct stat *status, int kind, struct FTW *position);

static int walk(const char *path, each_function *each, int level);

static int walk_entries(const char *path, each_function *each, int level)
{
    DIR *folder = opendir(path);
    int result = folder ? 0 : -1;
    for (const struct dirent *entry; result == 0 && (entry = readdir(folder));) {
        char *name = NULL;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        result = asprintf(&name, "%s/%s", path, entry->d_name) < 0 ? -1 : walk(name, each, level);
        free(name);
    }
    if (folder)
        closedir(folder);
    return result;
}

static int walk(const char *path, each_function *each, int level)
{
    const char *slash = strrchr(path, '/');
    struct FTW position = {.base = slash ? (int)(slash + 1 - path) : 0, .level = level};
    struct stat status;
    if (lstat(path, &status) < 0)
        return level ? each(path, &status, FTW_NS, &position) : -1;
    if (!S_ISDIR(status.st_mode))
        return each(path, &status, FTW_F, &position);
    const int result = walk_entries(path, each, level + 1);
    return result ? result : each(path, &status, FTW_DP, &position);
}

int nftw(const char *path, each_function *each, int descriptors, int flags)
{
    (void)descriptors;
    (void)flags; /* of which FTW_DEPTH is all that is used */
    return walk(path, each, 0);
}

/* ---- making and removing ----------------------------------------------------------------------------------------- */

/* Frees the path. */
static int finish(wchar_t *path, BOOL done)
{
    const int result = done ? 0 : pf_windows_fail();
    free(path);
    return result;
}

int mkdirat(int folder, const char *path, mode_t mode)
{
    wchar_t *wide = pf_windows_path(folder, path);
    (void)mode;
    return wide ? finish(wide, CreateDirectoryW(wide, NULL)) : -1;
}

int mkdir(const char *path, mode_t mode)
{
    return mkdirat(AT_FDCWD, path, mode);
}

int unlinkat(int folder, const char *path, int flags)
{
    wchar_t *wide = pf_windows_path(folder, path);
    if (!wide)
        return -1;
    return finish(wide, flags & AT_REMOVEDIR ? RemoveDirectoryW(wide) : DeleteFileW(wide));
}

int unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

int rmdir(const char *path)
{
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

int pf_windows_remove(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) ? rmdir(path) : unlink(path);
}

/* Since Windows 10, in one step, and also where the other file is open. */
static BOOL replace(const wchar_t *path, const wchar_t *to)
{
    enum { RENAME_INFO_EX = 22, REPLACES = 1, AS_POSIX = 2 };
    const size_t bytes = wcslen(to) * sizeof(*to);
    FILE_RENAME_INFO *change = calloc(1, sizeof(*change) + bytes);
    HANDLE handle = pf_windows_open(path, DELETE | SYNCHRONIZE, OPEN_EXISTING, FILE_FLAG_OPEN_REPARSE_POINT);
    BOOL done = FALSE;
    if (change && handle != INVALID_HANDLE_VALUE) {
        *(DWORD *)change = REPLACES | AS_POSIX; /* its first member in newer headers */
        change->FileNameLength = (DWORD)bytes;
        memcpy(change->FileName, to, bytes);
        done = SetFileInformationByHandle(handle, (FILE_INFO_BY_HANDLE_CLASS)RENAME_INFO_EX, change,
                                          (DWORD)(sizeof(*change) + bytes));
    }
    if (handle != INVALID_HANDLE_VALUE)
        CloseHandle(handle);
    free(change);
    return done;
}

/* ".NAME.PID.tmp" beside the path; to be freed. */
static wchar_t *other_name(const wchar_t *path)
{
    const size_t capacity = wcslen(path) + 32;
    wchar_t *other = malloc(capacity * sizeof(*other));
    const wchar_t *name = wcsrchr(path, L'\\');
    if (other && name)
        swprintf(other, capacity, L"%.*ls\\.%ls.%lu.tmp", (int)(name - path), path, name + 1, GetCurrentProcessId());
    return other;
}

/* Where an open file cannot be replaced, it changes its name first; it gets it back if the other one cannot have it. */
static BOOL make_way(const wchar_t *path, const wchar_t *to)
{
    wchar_t *aside = other_name(to);
    BOOL done = FALSE;
    if (aside && MoveFileExW(to, aside, MOVEFILE_REPLACE_EXISTING)) {
        done = MoveFileExW(path, to, 0);
        const DWORD why = GetLastError();
        if (done)
            DeleteFileW(aside);
        else
            MoveFileExW(aside, to, 0);
        SetLastError(why);
    }
    free(aside);
    return done;
}

static bool is_folder(const wchar_t *path)
{
    const DWORD kind = GetFileAttributesW(path);
    return kind != INVALID_FILE_ATTRIBUTES && kind & FILE_ATTRIBUTE_DIRECTORY;
}

/* An empty folder is replaced by a folder, as in POSIX. */
static BOOL move(const wchar_t *path, const wchar_t *to)
{
    if (is_folder(path))
        return (!is_folder(to) || RemoveDirectoryW(to)) && MoveFileExW(path, to, 0);
    if (replace(path, to) || MoveFileExW(path, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH))
        return TRUE;
    return GetLastError() == ERROR_ACCESS_DENIED && !is_folder(to) && make_way(path, to);
}

int renameat(int folder, const char *path, int to_folder, const char *to)
{
    wchar_t *from = pf_windows_path(folder, path), *wide = from ? pf_windows_path(to_folder, to) : NULL;
    const BOOL done = wide && move(from, wide);
    const int result = done ? 0 : wide ? pf_windows_fail() : -1;
    free(from);
    free(wide);
    return result;
}

int pf_windows_rename(const char *path, const char *to)
{
    return renameat(AT_FDCWD, path, AT_FDCWD, to);
}

/* ---- temporary names --------------------------------------------------------------------------------------------- */

static bool fill_in(char *path)
{
    static const char digits[] = "abcdefghijklmnopqrstuvwxyz012345";
    unsigned char random[SUFFIX];
    const size_t bytes = strlen(path);
    if (bytes < SUFFIX || getrandom(random, sizeof(random), 0) < 0)
        return false;
    for (int i = 0; i < SUFFIX; i++)
        path[bytes - SUFFIX + (size_t)i] = digits[random[i] % 32];
    return true;
}

int mkostemp(char *path, int flags)
{
    int fd = -1;
    for (int i = 0; i < NAME_TRIES && fd < 0 && fill_in(path); i++) {
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | flags, 0600);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return fd;
}

char *mkdtemp(char *path)
{
    for (int i = 0; i < NAME_TRIES && fill_in(path); i++) {
        if (mkdir(path, 0700) == 0)
            return path;
        if (errno != EEXIST)
            break;
    }
    return NULL;
}

/* ---- questions about paths --------------------------------------------------------------------------------------- */

int faccessat(int folder, const char *path, int mode, int flags)
{
    struct stat status;
    if (fstatat(folder, path, &status, flags & AT_SYMLINK_NOFOLLOW) < 0)
        return -1;
    return mode & W_OK && !(status.st_mode & S_IWUSR) ? pf_windows_fail_with(EACCES) : 0;
}

int access(const char *path, int mode)
{
    return faccessat(AT_FDCWD, path, mode, 0);
}

int utimensat(int folder, const char *path, const struct timespec times[2], int flags)
{
    wchar_t *wide = pf_windows_path(folder, path);
    HANDLE handle = wide ? pf_windows_open(wide, FILE_WRITE_ATTRIBUTES, OPEN_EXISTING,
                                           flags & AT_SYMLINK_NOFOLLOW ? FILE_FLAG_OPEN_REPARSE_POINT : 0)
                         : INVALID_HANDLE_VALUE;
    const int result = handle == INVALID_HANDLE_VALUE ? -1 : pf_windows_set_times(handle, times);
    if (handle != INVALID_HANDLE_VALUE)
        CloseHandle(handle);
    free(wide);
    return result;
}

/* Gives `text`, or a copy in `to`, which it frees the text for. */
static char *deliver(char *text, char *to, size_t capacity)
{
    if (!text || !to)
        return text;
    const bool fits = strlen(text) < capacity;
    if (fits)
        strcpy(to, text);
    else
        errno = ERANGE;
    free(text);
    return fits ? to : NULL;
}

char *realpath(const char *path, char *to)
{
    wchar_t *wide = pf_windows_path(AT_FDCWD, path), *found = NULL;
    HANDLE handle = wide ? pf_windows_open(wide, FILE_READ_ATTRIBUTES, OPEN_EXISTING, 0) : INVALID_HANDLE_VALUE;
    char *text = NULL;
    if (handle != INVALID_HANDLE_VALUE) {
        found = pf_windows_final_path(handle);
        text = found || errno == ENOTDIR ? pf_windows_text(found ? found : wide) : NULL;
        CloseHandle(handle);
    }
    free(found);
    free(wide);
    return deliver(text, to, PATH_MAX);
}

char *getcwd(char *path, size_t capacity)
{
    wchar_t *wide = pf_windows_path(AT_FDCWD, ".");
    char *text = wide ? pf_windows_text(wide) : NULL;
    free(wide);
    return deliver(text, path, capacity);
}

int chdir(const char *path)
{
    wchar_t *wide = pf_windows_path(AT_FDCWD, path);
    return wide ? finish(wide, SetCurrentDirectoryW(wide)) : -1;
}

static int refuse_link(const char *path, int folder)
{
    struct stat status;
    return fstatat(folder, path, &status, AT_SYMLINK_NOFOLLOW) < 0 ? -1 : pf_windows_fail_with(EINVAL);
}

/* Links are followed by the system; where they lead is not known here. */
ssize_t readlink(const char *path, char *to, size_t capacity)
{
    (void)to;
    (void)capacity;
    return refuse_link(path, AT_FDCWD);
}

ssize_t readlinkat(int folder, const char *path, char *to, size_t capacity)
{
    (void)to;
    (void)capacity;
    return refuse_link(path, folder);
}
