/* SPDX-License-Identifier: MIT */
/* For property tests: the recordings of the command line, and those of the corpus. */
#ifndef PF_TESTS_WALK_H
#define PF_TESTS_WALK_H

#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* `try_all` gets each path; of the corpus only those that `wants` (may be NULL) says true of. */
static struct {
    void (*try_all)(const char *path);
    bool (*wants)(const char *path, const struct stat *status);
} walk;

/*
 * About every third path, by its name; all of them when a further corpus is given or `./dev test full` asks for them.
 */
static inline bool walk_chooses(const char *path)
{
    const char *more = getenv("PERFILE_CORPUS"), *all = getenv("PERFILE_WHOLE_CORPUS");
    unsigned int hash = 5381;

    if ((more && *more) || (all && *all))
        return true;
    for (const char *name = strrchr(path, '/'); name && *name; name++)
        hash = hash * 33 ^ (unsigned char)*name;
    return hash % 3 == 0;
}

static inline int walk_entry(const char *path, const struct stat *status, int flag, struct FTW *at)
{
    (void)at;
    if (flag == FTW_F && status->st_size > 16 && !strstr(path, "/expect/") && walk_chooses(path) &&
        (!walk.wants || walk.wants(path, status)))
        walk.try_all(path);
    return 0;
}

static inline int walk_corpora(void)
{
    static const char *const names[] = {"PERFILE_TREE_CORPUS", "PERFILE_CORPUS"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *folder = getenv(names[i]);
        if (folder && *folder && nftw(folder, walk_entry, 16, FTW_PHYS) < 0)
            return 1;
    }
    return 0;
}

/* Each argument is a path, or --corpus for recordings of the tree's corpus and of $PERFILE_CORPUS. */
static inline int walk_arguments(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--corpus") != 0)
            walk.try_all(argv[i]);
        else if (walk_corpora() != 0)
            return 1;
    }
    return 0;
}

/* Flipped bits can damage the content of a valid frame, whose size is then judged by the records around it. */
static inline bool walk_without_flips(const char *path, const struct stat *status)
{
    (void)status;
    return !strstr(path, "/flip-");
}

/* ---- what the tests write ---- */

static inline int walk_remove_entry(const char *path, const struct stat *status, int flag, struct FTW *at)
{
    (void)status, (void)flag, (void)at;
    return remove(path);
}

/* A path for what this program writes, of 4096 bytes: TMPDIR may be long. */
static inline void walk_temporary(char path[4096], const char *name)
{
    const char *folder = getenv("TMPDIR");
    const int length = snprintf(path, 4096, "%s/%s-%ld", folder && *folder ? folder : "/tmp", name, (long)getpid());
    if (length >= 4000) /* the names of files follow */
        snprintf(path, 4096, "/tmp/%s-%ld", name, (long)getpid());
}

/* A file, or a folder with all in it. */
static inline void walk_remove(const char *path)
{
    nftw(path, walk_remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
