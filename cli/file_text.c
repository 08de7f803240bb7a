/* SPDX-License-Identifier: MIT */
#include "file_text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* Doubles the capacity, which has one byte for the 0. False with errno. */
static bool grow(char **text, size_t *capacity, size_t max)
{
    const size_t wanted = *capacity <= max / 2 ? 2 * *capacity : max + 1;
    char *more = NULL;

    if (*capacity > max)
        errno = EFBIG;
    else
        more = realloc(*text, wanted);
    if (!more)
        return false;
    *text = more;
    *capacity = wanted;
    return true;
}

char *pf_file_text(FILE *file, size_t max, size_t *bytes)
{
    size_t capacity = 1 << 16, used = 0;
    char *text = malloc(capacity);
    bool failed = !text;

    while (!failed && !feof(file)) {
        used += fread(text + used, 1, capacity - used, file);
        failed = ferror(file) || (used == capacity && !grow(&text, &capacity, max));
    }
    if (!failed && used > max) {
        errno = EFBIG;
        failed = true;
    }
    if (failed) {
        const int number = errno;
        free(text);
        errno = number;
        return NULL;
    }
    text[used] = '\0';
    if (bytes)
        *bytes = used;
    return text;
}

char *pf_file_text_of(const char *path, size_t max)
{
    FILE *file = fopen(path, "re");
    char *text = file ? pf_file_text(file, max, NULL) : NULL;
    const int number = errno;

    if (file)
        fclose(file);
    errno = number;
    return text;
}
