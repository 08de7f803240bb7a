/* SPDX-License-Identifier: MIT */
#include "litter.h"

#include "platform.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ENTRIES = 16, DEPTH_MAX = 3, TRIES = 100, PATH_BYTES = 4096, RANDOM_DIGITS = 8, NAME_BYTES_KEPT = 200 };

/* Outputs that are named so: `before`, any text, `after`; without any text when there is no `after`. */
struct outputs {
    const char *before, *after;
};

struct entry {
    char path[PATH_BYTES]; /* the unfinished file or folder; of writers: the folder, and after its end the names */
    bool of_writer;
    struct outputs outputs;
    volatile sig_atomic_t used;
};

static struct entry entries[ENTRIES];

static bool remove_at(int folder, const char *name, int depth);

/* ---- names of unfinished files ----------------------------------------------------------------------------------- */

/*
 * The process that made an unfinished file or folder: ".NAME.PID.xxxxxxxx" of the library's writers, "NAME.PID.tmp" of
 * others. 0: the name has another form.
 */
static long maker_of(const char *left, const char **name, size_t *bytes)
{
    const size_t all = strlen(left);
    const bool is_visible = all > 4 && !strcmp(left + all - 4, ".tmp");
    const size_t end = is_visible ? all - 4 : all > 1 + RANDOM_DIGITS ? all - 1 - RANDOM_DIGITS : 0;
    size_t dot = end;
    long pid = 0;

    if (!end || (!is_visible &&
                 (*left != '.' || left[end] != '.' || strspn(left + end + 1, "0123456789abcdef") != RANDOM_DIGITS)))
        return 0;
    while (dot && left[dot - 1] >= '0' && left[dot - 1] <= '9' && end - dot < 10)
        dot--;
    for (size_t i = dot; i < end; i++)
        pid = 10 * pid + left[i] - '0';
    *name = left + !is_visible;
    if (dot == end || left[dot] == '0' || dot < 2 || left[dot - 1] != '.' || left + dot - 1 <= *name)
        return 0;
    *bytes = (size_t)(left + dot - 1 - *name);
    return pid;
}

/* Long names are cut off. */
static bool is_of(const struct outputs *outputs, const char *name, size_t bytes)
{
    const size_t before = strlen(outputs->before), after = outputs->after ? strlen(outputs->after) : 0;
    const bool is_cut = bytes == NAME_BYTES_KEPT;

    if (is_cut && before >= bytes)
        return !memcmp(name, outputs->before, bytes);
    if (bytes < before || memcmp(name, outputs->before, before) != 0)
        return false;
    return is_cut || (outputs->after ? bytes >= before + after && !memcmp(name + bytes - after, outputs->after, after)
                                     : bytes == before);
}

/* Whether the process has ended; a file with the number of this process is from an earlier one. */
static bool is_over(long pid)
{
    return pid == getpid() || (getpgid((pid_t)pid) < 0 && errno == ESRCH);
}

static bool is_ours(int folder, const char *name)
{
    struct stat status;

    return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_uid == geteuid() &&
           (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
}

/* `pid` 0: of any process that is over. */
static bool is_left(int folder, const char *left, const struct outputs *outputs, long pid)
{
    const char *name;
    size_t bytes;
    const long maker = maker_of(left, &name, &bytes);

    return maker > 0 && is_of(outputs, name, bytes) && (pid ? maker == pid : is_over(maker)) && is_ours(folder, left);
}

/* ---- removing ---------------------------------------------------------------------------------------------------- */

struct removal {
    int folder;
    const struct outputs *outputs; /* NULL: everything in the folder is removed, */
    long pid;                      /* else what this process left of them */
    int depth;
};

static void remove_entry(void *context, const struct pf_platform_entry *entry)
{
    const struct removal *removal = context;
    const bool is_link_to_folder = !strcmp(entry->name, ".") || !strcmp(entry->name, "..");

    if (!is_link_to_folder &&
        (!removal->outputs || is_left(removal->folder, entry->name, removal->outputs, removal->pid)))
        remove_at(removal->folder, entry->name, removal->depth + 1);
}

/* Everything in the folder; with `outputs` what process `pid` left of them. */
static void remove_all_in(int fd, const struct outputs *outputs, long pid, int depth)
{
    struct removal removal = {fd, outputs, pid, depth};

    pf_platform_list(fd, remove_entry, &removal);
}

/* Other threads may still make files in it: it is tried until nothing is left. */
static bool remove_at(int folder, const char *name, int depth)
{
    bool is_gone = unlinkat(folder, name, 0) == 0;

    for (int i = 0; i < TRIES && !is_gone && depth < DEPTH_MAX; i++) {
        const int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
            return true;
        remove_all_in(fd, NULL, 0, depth);
        close(fd);
        is_gone = unlinkat(folder, name, AT_REMOVEDIR) == 0;
    }
    return is_gone;
}

static void remove_left_in(const char *folder, const struct outputs *outputs, long pid)
{
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return;
    remove_all_in(fd, outputs, pid, 0);
    close(fd);
}

static void remove_and_die(int number)
{
    for (int i = 0; i < ENTRIES; i++) {
        if (entries[i].used && entries[i].of_writer)
            remove_left_in(entries[i].path, &entries[i].outputs, getpid());
        else if (entries[i].used)
            remove_at(AT_FDCWD, entries[i].path, 0);
    }
    signal(number, SIG_DFL);
    raise(number);
}

/* Signals that are ignored or have a handler stay unchanged. */
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

/* NULL: there are too many. */
static struct entry *new_entry(void)
{
    catch_signals();
    for (int i = 0; i < ENTRIES; i++)
        if (!entries[i].used)
            return &entries[i];
    return NULL;
}

void pf_litter_add(const char *path)
{
    struct entry *entry = new_entry();

    if (!entry || snprintf(entry->path, PATH_BYTES, "%s", path) >= PATH_BYTES)
        return;
    entry->of_writer = false;
    entry->used = 1;
}

void pf_litter_drop(const char *path)
{
    for (int i = 0; i < ENTRIES; i++)
        if (entries[i].used && !strcmp(entries[i].path, path))
            entries[i].used = 0;
}

/* The folder, and after its end the name of the file that a link leads to. False: it is too long, or not a file. */
static bool take_apart(const char *path, char text[PATH_BYTES], char **name)
{
    char *real = realpath(path, NULL);
    const char *found = real ? real : path;
    const char *slash = strrchr(found, '/');
    const size_t folder = slash ? (size_t)(slash - found) + 1 : 2;
    const char *last = slash ? slash + 1 : found;
    const bool fits = *last && strcmp(path, "-") != 0 && folder + strlen(last) + 2 < PATH_BYTES;

    if (fits) {
        *name = text + folder + 1;
        snprintf(text, folder + 1, "%s", slash ? found : "./");
        strcpy(*name, last);
    }
    free(real);
    return fits;
}

void pf_litter_sweep(const char *path)
{
    char text[PATH_BYTES], *name;

    if (take_apart(path, text, &name))
        remove_left_in(text, &(struct outputs){.before = name}, 0);
}

/* Ends `name` where the first % stands for another text; what follows the last one. */
static const char *cut_at_positions(char *name)
{
    const char *after = NULL;
    char *to = name;

    for (const char *c = name; *c; c++) {
        const bool is_position = *c == '%' && c[1] != '%';
        c += *c == '%' && !is_position;
        *to++ = is_position ? 0 : *c;
        after = is_position ? to : after;
    }
    *to = 0;
    return after;
}

static void add_writer(const char *path, bool of_parts)
{
    struct entry *entry = new_entry();
    char *name;

    if (!entry || !take_apart(path, entry->path, &name))
        return;
    entry->outputs = (struct outputs){.before = name, .after = of_parts ? cut_at_positions(name) : NULL};
    entry->of_writer = true;
    remove_left_in(entry->path, &entry->outputs, 0);
    entry->used = 1;
}

void pf_litter_add_recording(const char *path)
{
    add_writer(path, false);
}

void pf_litter_add_parts(const char *pattern)
{
    add_writer(pattern, true);
}
