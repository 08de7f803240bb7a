/* SPDX-License-Identifier: MIT */
/* Functions of POSIX and glibc on texts, which the C library does not have. */
#include <stdlib.h>
#include <string.h>

void tdestroy(void *root, void (*free_key)(void *key));

char *stpcpy(char *to, const char *from)
{
    const size_t bytes = strlen(from);
    memcpy(to, from, bytes + 1);
    return to + bytes;
}

char *strchrnul(const char *text, int byte)
{
    const char *found = strchr(text, byte);
    return (char *)(size_t)(found ? found : text + strlen(text));
}

char *strndup(const char *text, size_t bytes)
{
    const size_t length = strnlen(text, bytes);
    char *copy = malloc(length + 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = 0;
    }
    return copy;
}

char *strsep(char **rest, const char *separators)
{
    char *part = *rest;
    if (!part)
        return NULL;
    char *end = part + strcspn(part, separators);
    *rest = *end ? end + 1 : NULL;
    *end = 0;
    return part;
}

const char *strsignal(int number)
{
    (void)number;
    return "Signal";
}

void *memmem(const void *data, size_t bytes, const void *part, size_t part_bytes)
{
    const char *at = data, *first = part;
    if (!part_bytes)
        return (void *)(size_t)data;
    while (bytes >= part_bytes) {
        const char *found = memchr(at, *first, bytes - part_bytes + 1);
        if (!found)
            break;
        if (memcmp(found, part, part_bytes) == 0)
            return (void *)(size_t)found;
        bytes -= (size_t)(found + 1 - at);
        at = found + 1;
    }
    return NULL;
}

void *memrchr(const void *data, int byte, size_t bytes)
{
    const unsigned char *start = data;
    while (bytes--)
        if (start[bytes] == (unsigned char)byte)
            return (void *)(size_t)(start + bytes);
    return NULL;
}

void *mempcpy(void *to, const void *from, size_t bytes)
{
    return (char *)memcpy(to, from, bytes) + bytes;
}

/* Both sets, that of the process and that of the C library, as texts in UTF-8; see start.c. */
int setenv(const char *name, const char *value, int replace)
{
    if (!replace && getenv(name))
        return 0;
    return _putenv_s(name, value) ? -1 : 0;
}

int unsetenv(const char *name)
{
    return _putenv_s(name, "") ? -1 : 0;
}

/* ---- trees, whose other functions are in the C library ----------------------------------------------------------- */

/* As in search.h, which hides it. */
struct tree_node {
    void *key;
    struct tree_node *left, *right;
};

void tdestroy(void *root, void (*free_key)(void *key))
{
    struct tree_node *node = root;
    if (!node)
        return;
    tdestroy(node->left, free_key);
    tdestroy(node->right, free_key);
    free_key(node->key);
    free(node);
}
