/* SPDX-License-Identifier: MIT */
#include "perf_config.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* As perf: a file that another user may have written is not read. */
static FILE *open_config(const char *path)
{
    struct stat about;
    if (stat(path, &about) < 0 || !S_ISREG(about.st_mode) || (about.st_uid != 0 && about.st_uid != geteuid()))
        return NULL;
    return fopen(path, "re");
}

static char *trimmed(char *text)
{
    text += strspn(text, " \t");
    size_t bytes = strlen(text);
    while (bytes && strchr(" \t\r\n", text[bytes - 1]))
        bytes--;
    text[bytes] = '\0';
    return text;
}

/* The value of a line "KEY = VALUE", without quotes and comments; NULL: it has another key. */
static char *value_of(char *line, const char *key)
{
    char *equals = strchr(line, '=');
    if (!equals)
        return NULL;
    *equals = '\0';
    if (strcasecmp(trimmed(line), key) != 0)
        return NULL;
    char *value = trimmed(equals + 1);
    if (*value != '"') {
        value[strcspn(value, "#;")] = '\0';
        return trimmed(value);
    }
    value[1 + strcspn(value + 1, "\"")] = '\0';
    return value + 1;
}

/* A folder of the user begins with "~/". Returns false when it is missing, or when its path is too long. */
static bool put_folder(char path[PATH_MAX], const char *value)
{
    const char *home = getenv("HOME");
    const bool is_below_home = strncmp(value, "~/", 2) == 0;
    if (!*value || (is_below_home && !home))
        return false;
    return snprintf(path, PATH_MAX, "%s%s", is_below_home ? home : "", value + is_below_home) < PATH_MAX;
}

static bool read_config(const char *file, char path[PATH_MAX])
{
    char line[PATH_MAX + 64];
    bool is_section = false, is_found = false;
    FILE *config = open_config(file);
    while (config && fgets(line, sizeof(line), config)) {
        char *text = trimmed(line);
        if (*text == '[') {
            is_section = strncasecmp(text, "[buildid]", 9) == 0;
            continue;
        }
        const char *value = is_section && *text != '#' && *text != ';' ? value_of(text, "dir") : NULL;
        if (value)
            is_found = put_folder(path, value);
    }
    if (config)
        fclose(config);
    return is_found;
}

const char *pf_perf_config_build_ids(void)
{
    static char path[PATH_MAX], user[PATH_MAX];
    const char *only = getenv("PERF_CONFIG"), *home = getenv("HOME");
    if (*path)
        return path;
    if (only && *only)
        return read_config(only, path) ? path : NULL;
    if (home && snprintf(user, sizeof(user), "%s/.perfconfig", home) < (int)sizeof(user) && read_config(user, path))
        return path;
    return read_config("/etc/perfconfig", path) ? path : NULL;
}
