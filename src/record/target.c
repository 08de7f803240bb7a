/* SPDX-License-Identifier: MIT */
#include "record/target.h"

#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "record/machine_files.h"

enum { NUMBER_MAX = 1 << 22, STAT_BYTES_MAX = 16 << 20 };

static int add(const struct pf_target *target, int32_t **items, size_t *count, size_t *capacity, int32_t item)
{
    if (!pf_grow(target->allocator, items, capacity, *count + 1, sizeof(**items)))
        return PERFILE_ERROR_MEMORY;
    (*items)[(*count)++] = item;
    return 0;
}

static int add_tid(struct pf_target *target, int32_t tid)
{
    return add(target, &target->tids, &target->tid_count, &target->tid_capacity, tid);
}

static int add_cpu(struct pf_target *target, int32_t cpu)
{
    return add(target, &target->cpus, &target->cpu_count, &target->cpu_capacity, cpu);
}

/* ---- lists of numbers ---- */

/* The next range of "0-3,7"; false at the end. *bad: it is not a valid range. */
static bool next_range(const char **list, int32_t *first, int32_t *last, bool *bad)
{
    char *end;
    *bad = false;
    if (!**list || **list == '\n')
        return false;
    long from = strtol(*list, &end, 10), to = from;
    *bad = end == *list || from < 0 || from > NUMBER_MAX;
    if (!*bad && *end == '-') {
        const char *second = end + 1;
        to = strtol(second, &end, 10);
        *bad = end == second || to < from || to > NUMBER_MAX;
    }
    *bad |= *end && *end != ',' && *end != '\n';
    *list = *end == ',' ? end + 1 : end;
    *first = (int32_t)from;
    *last = (int32_t)to;
    return true;
}

bool pf_list_holds(const char *list, int32_t number)
{
    int32_t first, last;
    bool bad = false;
    if (!list)
        return true;
    while (!bad && next_range(&list, &first, &last, &bad))
        if (!bad && number >= first && number <= last)
            return true;
    return false;
}

static int refuse_list(const char *what, const char *list, struct perfile_error *error)
{
    return pf_about(error, list, strlen(list),
                    pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, what,
                            "invalid list \"%.64s\": expected numbers and ranges such as 1,4-6", list));
}

static int add_cpus(struct pf_target *target, const char *list, struct perfile_error *error)
{
    const char *rest = list;
    int32_t first, last;
    bool bad = false;
    int result = 0;
    while (result == 0 && !bad && next_range(&rest, &first, &last, &bad))
        for (int32_t cpu = first; cpu <= last && !bad && result == 0; cpu++)
            result = add_cpu(target, cpu);
    if (result < 0)
        return pf_fail_memory(error, "CPU list");
    return bad || !target->cpu_count ? refuse_list("CPU list", list, error) : 0;
}

/* ---- threads ---- */

static int add_threads_of(struct pf_target *target, int32_t pid, struct perfile_error *error)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/task", pid);
    DIR *tasks = opendir(path);
    if (!tasks)
        return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, "process", "no process %d", pid);
    int result = 0;
    for (const struct dirent *entry; result == 0 && (entry = readdir(tasks));)
        if (entry->d_name[0] != '.')
            result = add_tid(target, (int32_t)strtol(entry->d_name, NULL, 10));
    closedir(tasks);
    return result < 0 ? pf_fail_memory(error, "threads") : 0;
}

static int refuse_ids(const char *list, bool processes, struct perfile_error *error)
{
    return pf_about(error, list, strlen(list),
                    pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET,
                            processes ? "process list" : "thread list",
                            "invalid list \"%.64s\": expected numbers such as 12,34; %s finds those of a program", list,
                            processes ? "pgrep -d, NAME" : "pgrep -w -d, NAME"));
}

static int add_listed(struct pf_target *target, const char *list, bool processes, struct perfile_error *error)
{
    const char *rest = list;
    int32_t first, last;
    bool bad = false;
    int result = 0;
    while (result == 0 && !bad && next_range(&rest, &first, &last, &bad)) {
        if (bad || first != last || first == 0)
            return refuse_ids(list, processes, error);
        result = processes ? add_threads_of(target, first, error) : add_tid(target, first);
    }
    if (result == PERFILE_ERROR_MEMORY)
        return pf_fail_memory(error, "threads");
    return result == 0 && bad ? refuse_ids(list, processes, error) : result;
}

#ifdef PF_STATIC

/* getpwnam_r of a static program loads parts of the C library of the machine, mostly of another version. */
static bool find_named_user(const char *user, uid_t *uid)
{
    struct passwd entry, *found = NULL;
    char text[4096];
    bool is_found = false;
    FILE *file = fopen("/etc/passwd", "re");
    while (file && !is_found && fgetpwent_r(file, &entry, text, sizeof(text), &found) == 0) {
        is_found = strcmp(found->pw_name, user) == 0;
        *uid = found->pw_uid;
    }
    if (file)
        fclose(file);
    return is_found;
}

#else

static bool find_named_user(const char *user, uid_t *uid)
{
    struct passwd entry, *found = NULL;
    char text[4096];
    if (getpwnam_r(user, &entry, text, sizeof(text), &found) != 0 || !found)
        return false;
    *uid = found->pw_uid;
    return true;
}

#endif

static int find_user(const char *user, uid_t *uid, struct perfile_error *error)
{
    char *end;
    const unsigned long number = strtoul(user, &end, 10);
    if (*user && !*end) {
        *uid = (uid_t)number;
        return 0;
    }
    if (!find_named_user(user, uid))
        return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, "user", "unknown user %s", user);
    return 0;
}

/* Of all processes, or with `uid` those of a user. */
static int add_processes(struct pf_target *target, const uid_t *uid, struct perfile_error *error)
{
    DIR *processes = opendir("/proc");
    int result = 0;
    if (!processes)
        return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, "/proc", "cannot be read");
    for (const struct dirent *entry; result == 0 && (entry = readdir(processes));) {
        struct stat status;
        char path[300];
        const int32_t pid = (int32_t)strtol(entry->d_name, NULL, 10);
        snprintf(path, sizeof(path), "/proc/%s", entry->d_name);
        if (pid <= 0 || stat(path, &status) < 0 || (uid && status.st_uid != *uid))
            continue;
        result = add_threads_of(target, pid, NULL);
        if (result == PERFILE_ERROR_ABSENT)
            result = 0; /* it ended meanwhile */
    }
    closedir(processes);
    return result < 0 ? pf_fail_memory(error, "threads") : 0;
}

static int add_user(struct pf_target *target, const char *user, struct perfile_error *error)
{
    uid_t uid = 0;
    int result = find_user(user, &uid, error);
    if (result == 0)
        result = add_processes(target, &uid, error);
    if (result == 0 && !target->tid_count)
        return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, "user", "%s has no processes", user);
    return result;
}

/* ---- processors ---- */

/* The lines of /proc/stat that begin with "cpu0", "cpu1" ... are those that are online. */
static int add_lines(struct pf_target *target, const char *line)
{
    int result = 0;
    for (; line && result == 0; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "cpu", 3) == 0 && line[3] >= '0' && line[3] <= '9')
            result = add_cpu(target, (int32_t)strtol(line + 3, NULL, 10));
    }
    return result;
}

static int add_of_stat(struct pf_target *target)
{
    struct pf_text text;
    int result = pf_text_open(&text, target->allocator, NULL, NULL);
    if (result < 0)
        return result;
    if (pf_read_file(AT_FDCWD, "/proc/stat", &text, STAT_BYTES_MAX)) {
        pf_put_char(&text, 0);
        result = text.failed ? PERFILE_ERROR_MEMORY : add_lines(target, text.data);
    }
    result = text.failed ? PERFILE_ERROR_MEMORY : result;
    pf_text_close(&text);
    return result;
}

/* Those that this process may run on are online. */
static int add_of_affinity(struct pf_target *target)
{
    cpu_set_t sets[16];
    int result = 0;
    if (sched_getaffinity(0, sizeof(sets), sets) < 0)
        return add_cpu(target, 0);
    for (size_t cpu = 0; cpu < 8 * sizeof(sets) && result == 0; cpu++)
        if (CPU_ISSET_S(cpu, sizeof(sets), sets))
            result = add_cpu(target, (int32_t)cpu);
    return result;
}

/* /sys is not mounted in many containers and chroots. */
static int add_online(struct pf_target *target, struct perfile_error *error)
{
    char list[4096];
    if (pf_read_line(AT_FDCWD, "/sys/devices/system/cpu/online", list, sizeof(list)))
        return add_cpus(target, list, error);
    int result = add_of_stat(target);
    if (result == 0 && !target->cpu_count)
        result = add_of_affinity(target);
    return result < 0 ? pf_fail_memory(error, "CPU list") : 0;
}

int pf_target_check_online(const struct pf_target *target, struct perfile_error *error)
{
    char list[4096];
    if (!pf_read_line(AT_FDCWD, "/sys/devices/system/cpu/online", list, sizeof(list)))
        return 0;
    for (size_t i = 0; i < target->cpu_count; i++)
        if (!pf_list_holds(list, target->cpus[i]))
            return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "CPU list",
                           "CPU %d is not online: those are %.*s", target->cpus[i], (int)strcspn(list, "\n"), list);
    return 0;
}

int pf_target_track_everywhere(struct pf_target *target, const char *sampled, struct perfile_error *error)
{
    const size_t asked = target->cpu_count;
    const int result = add_online(target, error);
    const size_t all = target->cpu_count;
    target->cpu_count = asked;
    for (size_t i = asked; i < all; i++)
        if (!pf_list_holds(sampled, target->cpus[i]))
            target->cpus[target->cpu_count++] = target->cpus[i];
    target->sampled_cpus = sampled;
    return result;
}

/* ---- all of it ---- */

int pf_target_split(struct pf_target *target, struct perfile_error *error)
{
    target->tid_count = 0;
    target->everybody = false;
    return add_processes(target, NULL, error);
}

int pf_target_open(struct pf_target *target, const struct perfile_recorder_options *options,
                   struct perfile_error *error)
{
    *target = (struct pf_target){.allocator = pf_allocator_or_default(options->allocator)};
    int result = 0;
    if (options->pids)
        result = add_listed(target, options->pids, true, error);
    if (result == 0 && options->tids)
        result = add_listed(target, options->tids, false, error);
    if (result == 0 && options->user)
        result = add_user(target, options->user, error);
    if (result < 0)
        return result;
    target->everybody = !target->tid_count;
    target->some_cpus = options->cpus != NULL;
    if (target->everybody && !(options->flags & PERFILE_RECORDER_ALL_CPUS) && !options->cpus)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "target", "nothing to record given");
    if (target->everybody && add_tid(target, -1) < 0)
        return pf_fail_memory(error, "threads");
    /* a buffer of a thread that children write to, too, must belong to one processor */
    if (options->cpus)
        return add_cpus(target, options->cpus, error);
    if (target->everybody || !(options->flags & PERFILE_RECORDER_NO_INHERIT))
        return add_online(target, error);
    return add_cpu(target, -1) < 0 ? pf_fail_memory(error, "CPU list") : 0;
}

void pf_target_close(struct pf_target *target)
{
    pf_free(target->allocator, target->tids, target->tid_capacity * sizeof(*target->tids));
    pf_free(target->allocator, target->cpus, target->cpu_capacity * sizeof(*target->cpus));
}
