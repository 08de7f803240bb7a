/* SPDX-License-Identifier: MIT */
/* Streams: their files have paths as long as those of descriptors, and may be texts in memory. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

FILE *pf_windows_fdopen(int fd, const char *mode)
{
    const char plain[] = {mode[0], 'b', strchr(mode, '+') ? '+' : 0, 0};
    return _fdopen(fd, plain);
}

static int flags_of(const char *mode)
{
    const int way = strchr(mode, '+') ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;
    return way | O_CLOEXEC | (*mode == 'r' ? 0 : O_CREAT) | (*mode == 'w' ? O_TRUNC : 0) |
           (*mode == 'a' ? O_APPEND : 0) | (strchr(mode, 'x') ? O_EXCL : 0);
}

FILE *pf_windows_fopen(const char *path, const char *mode)
{
    struct stat status;
    const int fd = open(path, flags_of(mode), 0666);
    FILE *file = fd < 0 ? NULL : pf_windows_fdopen(fd, mode);
    if (fd >= 0 && !file)
        close(fd);
    if (file && fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
        pf_windows_fclose(file);
        file = NULL;
        errno = EISDIR;
    }
    return file;
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

/* The C library has no streams of other kinds: this one is a nameless file, which becomes the text at the end. */
static struct text {
    struct text *next;
    FILE *file;
    char **text;
    size_t *bytes;
} * texts;
static pthread_mutex_t texts_lock = PTHREAD_MUTEX_INITIALIZER;

static struct text *find_text(const FILE *file, bool removes)
{
    struct text *found = NULL;
    pthread_mutex_lock(&texts_lock);
    for (struct text **at = &texts; *at && !found; at = found ? at : &(*at)->next)
        if ((*at)->file == file) {
            found = *at;
            *at = removes ? found->next : found;
        }
    pthread_mutex_unlock(&texts_lock);
    return found;
}

FILE *open_memstream(char **text, size_t *bytes)
{
    struct text *made = malloc(sizeof(*made));
    const int fd = made ? pf_windows_nameless() : -1;
    FILE *file = fd < 0 ? NULL : pf_windows_fdopen(fd, "w+");
    if (!file) {
        if (fd >= 0)
            close(fd);
        free(made);
        return NULL;
    }
    *text = NULL;
    *bytes = 0;
    *made = (struct text){.file = file, .text = text, .bytes = bytes};
    pthread_mutex_lock(&texts_lock);
    made->next = texts;
    texts = made;
    pthread_mutex_unlock(&texts_lock);
    return file;
}

static int read_back(const struct text *text)
{
    const int fd = fileno(text->file);
    const off_t bytes = lseek(fd, 0, SEEK_END);
    char *grown = bytes < 0 ? NULL : realloc(*text->text, (size_t)bytes + 1);
    if (!grown)
        return EOF;
    *text->text = grown;
    if (pread(fd, grown, (size_t)bytes, 0) != bytes)
        return EOF;
    grown[bytes] = 0;
    *text->bytes = (size_t)bytes;
    return 0;
}

#undef fflush
#undef fclose

int pf_windows_fflush(FILE *file)
{
    const struct text *text = file ? find_text(file, false) : NULL;
    const int result = fflush(file);
    return result == 0 && text ? read_back(text) : result;
}

int pf_windows_fclose(FILE *file)
{
    struct text *text = find_text(file, true);
    int result = text && (fflush(file) != 0 || read_back(text) != 0) ? EOF : 0;
    if (fclose(file) != 0)
        result = EOF;
    free(text);
    return result;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

ssize_t getdelim(char **line, size_t *capacity, int end, FILE *file)
{
    size_t used = 0;
    int c = 0;
    *capacity = *line ? *capacity : 0;
    while (c != end && (c = getc(file)) != EOF) {
        if (used + 2 > *capacity) {
            char *grown = realloc(*line, 2 * used + 128);
            if (!grown)
                return pf_windows_fail_with(ENOMEM);
            *line = grown;
            *capacity = 2 * used + 128;
        }
        (*line)[used++] = (char)c;
    }
    if (!used)
        return -1;
    (*line)[used] = 0;
    return (ssize_t)used;
}

ssize_t getline(char **line, size_t *capacity, FILE *file)
{
    return getdelim(line, capacity, '\n', file);
}
