/* SPDX-License-Identifier: MIT */
#include "record/event_cgroups.h"

#include <fcntl.h>
#include <inttypes.h>
#include <regex.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "record/event_parts.h"

enum { DEPTH_MAX = 128 };

/* ---- the hierarchy ----------------------------------------------------------------------------------------------- */

static bool is_folder(int root, const char *path)
{
    struct stat status;
    return fstatat(root, path, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

static int walk_folder(struct pf_cgroup_walk *walk, unsigned depth, struct perfile_error *error)
{
    struct pf_listing names;
    const size_t length = strlen(walk->path);
    int result = walk->each(walk, walk->path + walk->mount, error);
    if (result < 0 || depth >= DEPTH_MAX)
        return result;
    const bool read = pf_listing_open(&names, walk->allocator, walk->root, walk->path);
    for (size_t i = 0; read && i < names.count && result == 0; i++) {
        if (pf_path(walk->path + length, sizeof(walk->path) - length, "/%s", names.items[i]) &&
            is_folder(walk->root, walk->path))
            result = walk_folder(walk, depth + 1, error);
        walk->path[length] = 0;
    }
    pf_listing_close(&names);
    return result;
}

bool pf_cgroup_walk_begin(struct pf_cgroup_walk *walk)
{
    const bool found = pf_find_cgroups(walk->allocator, walk->root, walk->path);
    walk->mount = found ? strlen(walk->path) : 0;
    return found;
}

int pf_cgroup_walk_all(struct pf_cgroup_walk *walk, struct perfile_error *error)
{
    return walk_folder(walk, 0, error);
}

/* ---- those of events --------------------------------------------------------------------------------------------- */

/* Where paths begin. */
static int open_hierarchy(struct pf_cgroup_walk *walk, const struct pf_event_list *chosen, struct perfile_error *error)
{
    *walk = (struct pf_cgroup_walk){.allocator = chosen->allocator, .root = pf_root_open(NULL)};
    if (walk->root >= 0 && pf_cgroup_walk_begin(walk))
        return 0;
    if (walk->root >= 0)
        close(walk->root);
    return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, "control group",
                   "neither cgroup v2 nor the perf_event hierarchy of v1 is mounted");
}

/* *number: its index in the list, plus one. */
static int add_cgroup(struct pf_event_list *chosen, const struct pf_cgroup_walk *walk, struct pf_piece path,
                      uint32_t *number, struct perfile_error *error)
{
    char complete[PF_PATH_CAPACITY];
    for (*number = 1; *number <= chosen->cgroup_count; ++*number)
        if (strlen(chosen->cgroups[*number - 1].path) == path.bytes &&
            !memcmp(chosen->cgroups[*number - 1].path, path.text, path.bytes))
            return 0;
    const char *kept = pf_arena_text(&chosen->arena, path.text, path.bytes);
    if (!kept || !pf_grow(chosen->allocator, &chosen->cgroups, &chosen->cgroup_capacity, chosen->cgroup_count + 1,
                          sizeof(*chosen->cgroups)))
        return pf_fail_memory(error, "control groups");
    const int fd = pf_path(complete, sizeof(complete), "%.*s/%s", (int)walk->mount, walk->path, kept)
                       ? openat(walk->root, complete, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                       : -1;
    if (fd < 0)
        return pf_about(error, path.text, path.bytes,
                        pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, "control group",
                                "no %.100s below /%.*s", kept, (int)pf_min(walk->mount, 100), walk->path));
    chosen->cgroups[chosen->cgroup_count++] = (struct pf_cgroup){.path = kept, .fd = fd};
    return 0;
}

/* The text before the next comma; false at the end. */
static bool next_path(const char **list, struct pf_piece *path)
{
    if (!*list)
        return false;
    *path = (struct pf_piece){*list, strcspn(*list, ",")};
    *list = (*list)[path->bytes] ? *list + path->bytes + 1 : NULL;
    return true;
}

int pf_event_cgroups_check(const struct pf_target *target, struct perfile_error *error)
{
    return target->everybody
               ? 0
               : pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "control group",
                         "it is recorded instead of processes, threads or a command of its own: record all processors");
}

int pf_event_cgroups_of_all(struct pf_event_list *chosen, const char *path, struct perfile_error *error)
{
    struct pf_cgroup_walk walk;
    uint32_t number = 0;
    int result = open_hierarchy(&walk, chosen, error);
    if (result < 0)
        return result;
    result = add_cgroup(chosen, &walk, (struct pf_piece){path, strlen(path)}, &number, error);
    close(walk.root);
    for (size_t i = 0; i < chosen->count && result == 0; i++)
        chosen->items[i].cgroup = number;
    return result;
}

/* Sets the group of the events at this position in the text: a wildcard makes several. */
static bool give(struct pf_event_list *chosen, uint32_t position, uint32_t number)
{
    bool found = false;
    for (size_t i = 0; i < chosen->count; i++)
        if (chosen->items[i].position == position) {
            chosen->items[i].cgroup = number;
            found = true;
        }
    return found;
}

int pf_event_cgroups_of_each(struct pf_event_list *chosen, const char *paths, struct perfile_error *error)
{
    struct pf_cgroup_walk walk;
    struct pf_piece path;
    uint32_t position = 0;
    const char *rest = paths;
    if (!strchr(paths, ','))
        return pf_event_cgroups_of_all(chosen, paths, error);
    int result = open_hierarchy(&walk, chosen, error);
    if (result < 0)
        return result;
    for (; result == 0 && next_path(&rest, &path); position++) {
        uint32_t number = 0;
        result = path.bytes ? add_cgroup(chosen, &walk, path, &number, error) : 0;
        if (result == 0 && !give(chosen, position, number) && number)
            result = pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "control group",
                             "%.*s is the control group of event %" PRIu32 ", and there are %" PRIu32, PF_SHOW(path),
                             position + 1, chosen->positions);
    }
    close(walk.root);
    return result;
}

/* ---- each event in each of them ---------------------------------------------------------------------------------- */

struct match {
    struct pf_event_list *chosen;
    regex_t expression;
    size_t found;
};

static int take_match(const struct pf_cgroup_walk *walk, const char *inner, struct perfile_error *error)
{
    struct match *match = walk->context;
    uint32_t number;
    const char *path = *inner == '/' ? inner + 1 : inner;
    if (!*path || strchr(path, ',') || regexec(&match->expression, path, 0, NULL, 0) != 0)
        return 0;
    match->found++;
    const int result = add_cgroup(match->chosen, walk, (struct pf_piece){path, strlen(path)}, &number, error);
    return result == PERFILE_ERROR_ABSENT ? 0 : result; /* it has ended meanwhile */
}

static int add_matches(struct pf_event_list *chosen, struct pf_cgroup_walk *walk, struct pf_piece expression,
                       struct perfile_error *error)
{
    struct match match = {.chosen = chosen};
    const char *text = pf_arena_text(&chosen->arena, expression.text, expression.bytes);
    if (!text)
        return pf_fail_memory(error, "control groups");
    if (regcomp(&match.expression, text, REG_EXTENDED | REG_NOSUB) != 0)
        return pf_about(error, text, expression.bytes,
                        pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "control group",
                                "invalid regular expression %.100s", text));
    walk->each = take_match;
    walk->context = &match;
    walk->path[walk->mount] = 0;
    const int result = pf_cgroup_walk_all(walk, error);
    regfree(&match.expression);
    return result < 0 || match.found ? result
                                     : pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, "control group",
                                               "none matches %.100s below /%.100s", text, walk->path);
}

static int list_all(struct pf_event_list *chosen, const char *paths, struct perfile_error *error)
{
    struct pf_cgroup_walk walk;
    struct pf_piece path;
    uint32_t number;
    int result = open_hierarchy(&walk, chosen, error);
    if (result < 0)
        return result;
    while (result == 0 && next_path(&paths, &path))
        if (path.bytes && strcspn(path.text, "{}[]()|*+?^$") < path.bytes)
            result = add_matches(chosen, &walk, path, error);
        else if (path.bytes)
            result = add_cgroup(chosen, &walk, path, &number, error);
    close(walk.root);
    return result;
}

int pf_event_cgroups_times_all(struct pf_event_list *chosen, const char *paths, struct perfile_error *error)
{
    const size_t once = chosen->count;
    const int result = list_all(chosen, paths, error);
    if (result < 0 || !chosen->cgroup_count)
        return result < 0 ? result
                          : pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "control group", "none is given");
    if (!pf_grow(chosen->allocator, &chosen->items, &chosen->capacity, once * chosen->cgroup_count,
                 sizeof(*chosen->items)))
        return pf_fail_memory(error, "events");
    for (uint32_t number = 1; number <= chosen->cgroup_count; number++)
        for (size_t i = 0; i < once; i++) {
            const size_t before = (number - 1) * once;
            struct pf_listed_event *made = &chosen->items[before + i];
            *made = chosen->items[i];
            made->leader += (uint32_t)(number > 1 ? before : 0);
            made->cgroup = number;
        }
    chosen->count = once * chosen->cgroup_count;
    return 0;
}
