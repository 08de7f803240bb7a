/* SPDX-License-Identifier: MIT */
/* For tests of files: a folder of their own, and the files and commands in it. */
#ifndef PF_TESTS_MADE_FOLDER_H
#define PF_TESTS_MADE_FOLDER_H

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "counting.h"

static char made_directory[64];

static inline int made_directory_open(void **state)
{
    (void)state;
    snprintf(made_directory, sizeof(made_directory), "/tmp/perfile-test-XXXXXX");
    return mkdtemp(made_directory) ? 0 : -1;
}

static inline int made_directory_close(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof(command), "rm -rf '%s'", made_directory);
    return system(command) == 0 ? 0 : -1;
}

/* The path of a file in the directory; the folders above it are made. Valid until the fourth call from now. */
static inline const char *made_path(const char *name)
{
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof(paths[0]), "%s/%s", made_directory, name);
    for (char *slash = path + strlen(made_directory) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = 0;
        mkdir(path, 0755);
        *slash = '/';
    }
    return path;
}

static inline const char *made_file(const char *name, const void *data, size_t bytes)
{
    const char *path = made_path(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
    return path;
}

/* Runs commands of the shell in the directory; false when they fail. */
static inline bool made_run(const char *commands)
{
    char command[1024];
    assert_true(snprintf(command, sizeof(command), "cd '%s' && (%s) 2>/dev/null", made_directory, commands) <
                (int)sizeof(command));
    return system(command) == 0;
}

#endif
