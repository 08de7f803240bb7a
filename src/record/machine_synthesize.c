/* SPDX-License-Identifier: MIT */
/* Synthesizes records of what ran before: which processes, and in which order. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "record/machine_kernel.h"
#include "record/machine_walk.h"

/* ---- which processes ---- */

static int add_pid(struct pf_walk *walk, int32_t pid, struct perfile_error *error)
{
    const struct perfile_allocator *allocator = pf_allocator_or_default(walk->options->allocator);
    if (!PF_APPEND(allocator, walk->pids, walk->count, walk->capacity, pid))
        return pf_fail_memory(error, "processes");
    return 0;
}

static int add_all(struct pf_walk *walk, int root, struct perfile_error *error)
{
    struct pf_listing names;
    int result = 0;
    bool read = pf_listing_open(&names, walk->options->allocator, root, "proc");
    if (!read)
        result = pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, "/proc", "cannot be read");
    for (size_t i = 0; result == 0 && i < names.count; i++) {
        char *end;
        long pid = strtol(names.items[i], &end, 10);
        if (*end == 0 && pid > 0 && pid <= INT32_MAX)
            result = add_pid(walk, (int32_t)pid, error);
    }
    pf_listing_close(&names);
    return result;
}

/* The process of a thread; 0: it has ended. */
static int32_t process_of(const struct pf_walk *walk, int32_t tid)
{
    char path[64], text[4096];
    int pid;
    if (!pf_path(path, sizeof(path), "%d/status", tid) || pf_read_at(walk->proc, path, text, sizeof(text)) <= 0)
        return 0;
    const char *line = strstr(text, "\nTgid:");
    return line && sscanf(line, "\nTgid: %d", &pid) == 1 && pid > 0 ? pid : 0;
}

static int compare_pids(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Each once, in the order of their numbers. */
static void sort_pids(struct pf_walk *walk)
{
    size_t kept = 0;
    if (walk->count)
        qsort(walk->pids, walk->count, sizeof(*walk->pids), compare_pids);
    for (size_t i = 0; i < walk->count; i++)
        if (kept == 0 || walk->pids[kept - 1] != walk->pids[i])
            walk->pids[kept++] = walk->pids[i];
    walk->count = kept;
}

static int find_pids(struct pf_walk *walk, int root, struct perfile_error *error)
{
    const struct pf_machine_options *options = walk->options;
    int result = options->tids ? 0 : add_all(walk, root, error);
    for (size_t i = 0; options->tids && i < options->tid_count && result == 0; i++) {
        int32_t pid = process_of(walk, options->tids[i]);
        if (pid)
            result = add_pid(walk, pid, error);
    }
    sort_pids(walk);
    return result;
}

/* ---- all of it ---- */

static int synthesize_machine(struct pf_walk *walk, struct perfile_error *error)
{
    const struct pf_machine_options *options = walk->options;
    const struct pf_kernel kernel = {.options = options,
                                     .synthesis = walk->synthesis,
                                     .allocator = pf_allocator_or_default(options->allocator),
                                     .root = pf_root_open(options->root)};
    int result = pf_kernel_synthesize(&kernel, error);
    if (result == 0 && !options->root) /* a system call knows of no other folder */
        result = pf_bpf_synthesize(&kernel, error);
    if (result == 0 && options->cgroups)
        result = pf_cgroups_synthesize(&kernel, error);
    if (kernel.root >= 0)
        close(kernel.root);
    return result;
}

static void find_hugetlbfs(struct pf_walk *walk, int root)
{
    char where[PF_PATH_CAPACITY];
    if (!pf_find_mount(walk->options->allocator, root, "hugetlbfs", NULL, where) ||
        !pf_path(walk->huge, sizeof(walk->huge), "/%s/", where))
        walk->huge[0] = 0;
}

static void note_forbidden(const struct pf_walk *walk)
{
    char sentence[128];
    if (!walk->forbidden || !walk->options->note)
        return;
    snprintf(sentence, sizeof(sentence), "the mappings of %u process%s cannot be read%s", walk->forbidden,
             walk->forbidden == 1 ? "" : "es", geteuid() == 0 ? "" : ": root can");
    walk->options->note(walk->options->note_context, sentence);
}

static int synthesize_from(struct pf_walk *walk, int root, struct perfile_error *error)
{
    const struct perfile_allocator *allocator = pf_allocator_or_default(walk->options->allocator);
    struct pf_build_ids *ids = pf_resize(allocator, NULL, 0, sizeof(*ids));
    if (!ids)
        return pf_fail_memory(error, "build ids");
    pf_build_ids_open(ids);
    walk->build_ids = ids;
    find_hugetlbfs(walk, root);
    int result = find_pids(walk, root, error);
    if (result == 0)
        result = pf_walk_all(walk, walk->options->threads, synthesize_machine, error);
    if (result == 0)
        note_forbidden(walk);
    pf_free(allocator, walk->pids, walk->capacity * sizeof(*walk->pids));
    pf_build_ids_close(ids);
    pf_free(allocator, ids, sizeof(*ids));
    return result;
}

int pf_machine_synthesize(const struct pf_machine_options *options, const struct pf_synthesis *synthesis,
                          struct perfile_error *error)
{
    struct pf_walk walk = {.options = options, .synthesis = synthesis};
    int result, root = pf_root_open(options->root);
    walk.proc = root < 0 ? -1 : openat(root, "proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (walk.proc < 0)
        result = pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, "/proc", "cannot be read; is it mounted?");
    else
        result = synthesize_from(&walk, root, error);
    if (walk.proc >= 0)
        close(walk.proc);
    if (root >= 0)
        close(root);
    return result;
}
