/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/locale.h"
#include "record/event_parts.h"

#define PATH_BYTES 1024
#define FILE_BYTES 4096 /* a file of sysfs is a page at most */
#define SYSFS "/sys"
#define DEVICES "bus/event_source/devices"

void pf_sys_open(struct pf_sys *sys, struct pf_arena *arena, const char *root, struct perfile_error *error)
{
    *sys = (struct pf_sys){.allocator = arena->allocator, .arena = arena, .root = root ? root : SYSFS, .error = error};
}

void pf_sys_close(struct pf_sys *sys)
{
    for (size_t i = 0; i < sys->pmu_count; i++)
        pf_free(sys->allocator, sys->pmus[i].formats, sys->pmus[i].format_capacity * sizeof(*sys->pmus[i].formats));
    pf_free(sys->allocator, sys->pmus, sys->pmu_capacity * sizeof(*sys->pmus));
    sys->pmus = NULL;
    sys->pmu_count = sys->pmu_capacity = 0;
}

int pf_sys_memory(struct pf_sys *sys)
{
    return pf_fail_memory(sys->error, "events");
}

const char *pf_sys_path(struct pf_sys *sys, const char *format, ...)
{
    char path[PATH_BYTES];
    va_list arguments;
    int start = snprintf(path, sizeof(path), "%s/", sys->root);
    if (start < 0 || (size_t)start >= sizeof(path))
        return NULL;
    va_start(arguments, format);
    const int more = vsnprintf(path + start, sizeof(path) - (size_t)start, format, arguments);
    va_end(arguments);
    if (more < 0 || (size_t)(start + more) >= sizeof(path))
        return NULL;
    return pf_arena_text(sys->arena, path, (size_t)(start + more));
}

const char *pf_sys_read(struct pf_sys *sys, const char *path, int *reason)
{
    char data[FILE_BYTES];
    const int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    size_t used = 0;
    *reason = path ? errno : ENOMEM;
    if (fd < 0)
        return NULL;
    for (ssize_t got; used < sizeof(data) && (got = read(fd, data + used, sizeof(data) - used)) != 0;) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            *reason = errno;
            close(fd);
            return NULL;
        }
        used += (size_t)got;
    }
    close(fd);
    const struct pf_piece complete = pf_piece_trim((struct pf_piece){data, used});
    const char *text = pf_arena_text(sys->arena, complete.text, complete.bytes);
    *reason = text ? 0 : ENOMEM;
    return text;
}

/* ---- folders ----------------------------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

int pf_sys_list(struct pf_sys *sys, const char *path, struct pf_names *names)
{
    const struct dirent *entry;
    DIR *folder = path ? opendir(path) : NULL;
    int result = path ? errno : ENOMEM;
    if (!folder)
        return result;
    for (result = 0; !result && (entry = readdir(folder));) {
        const char *name;
        if (entry->d_name[0] == '.')
            continue;
        if (!(name = pf_arena_text(sys->arena, entry->d_name, strlen(entry->d_name))) ||
            !pf_grow(sys->allocator, &names->items, &names->capacity, names->count + 1, sizeof(*names->items)))
            result = ENOMEM;
        else
            names->items[names->count++] = name;
    }
    closedir(folder);
    if (names->count)
        qsort(names->items, names->count, sizeof(*names->items), compare_names);
    return result;
}

void pf_names_close(struct pf_sys *sys, struct pf_names *names)
{
    pf_free(sys->allocator, names->items, names->capacity * sizeof(*names->items));
    *names = (struct pf_names){0};
}

/* ---- PMUs -------------------------------------------------------------------------------------------------------- */

/* 0, or an error number: without a type it is not a PMU. */
static int read_pmu(struct pf_sys *sys, const char *name, struct pf_pmu *pmu)
{
    int reason, ignored;
    uint64_t type;
    const char *text = pf_sys_read(sys, pf_sys_path(sys, DEVICES "/%s/type", name), &reason);
    if (!text)
        return reason;
    if (!pf_piece_digits(pf_piece_of(text), 10, &type) || type > INT32_MAX)
        return EINVAL;
    *pmu = (struct pf_pmu){.name = name, .type = (uint32_t)type};
    pmu->cpus = pf_sys_read(sys, pf_sys_path(sys, DEVICES "/%s/cpus", name), &reason);
    pmu->core = pmu->cpus || !strcmp(name, "cpu"); /* what is beside the processors has a cpumask instead */
    if (!pmu->cpus && reason != ENOMEM)
        pmu->cpus = pf_sys_read(sys, pf_sys_path(sys, DEVICES "/%s/cpumask", name), &ignored);
    if (pmu->cpus && !*pmu->cpus)
        pmu->cpus = NULL;
    return reason == ENOMEM ? reason : 0;
}

static int add_pmu(struct pf_sys *sys, const char *name)
{
    struct pf_pmu pmu;
    const int reason = read_pmu(sys, name, &pmu);
    if (reason)
        return reason == ENOMEM ? pf_sys_memory(sys) : 0;
    if (!PF_APPEND(sys->allocator, sys->pmus, sys->pmu_count, sys->pmu_capacity, pmu))
        return pf_sys_memory(sys);
    sys->core_count += pmu.core;
    return 0;
}

int pf_sys_pmus(struct pf_sys *sys)
{
    struct pf_names names = {0};
    int result = 0;
    if (pf_sys_list(sys, pf_sys_path(sys, DEVICES), &names) == ENOMEM)
        result = pf_sys_memory(sys);
    for (size_t i = 0; !result && i < names.count; i++)
        result = add_pmu(sys, names.items[i]);
    pf_names_close(sys, &names);
    return result;
}

static bool all_digits(struct pf_piece piece)
{
    uint64_t number;
    return pf_piece_digits(piece, 16, &number);
}

/* Whether `name` is `pattern`, or that followed by _0, _1 ... */
static bool names_pmu(const char *name, struct pf_piece pattern)
{
    const size_t bytes = strlen(name);
    if (bytes < pattern.bytes || memcmp(name, pattern.text, pattern.bytes) != 0)
        return false;
    if (bytes == pattern.bytes)
        return true;
    return name[pattern.bytes] == '_' &&
           all_digits((struct pf_piece){name + pattern.bytes + 1, bytes - pattern.bytes - 1});
}

static bool fits(const char *name, struct pf_piece pattern)
{
    char glob[128];
    if (!pf_has_wildcard(pattern))
        return names_pmu(name, pattern);
    if (pattern.bytes >= sizeof(glob))
        return false;
    memcpy(glob, pattern.text, pattern.bytes);
    glob[pattern.bytes] = '\0';
    return pf_glob_matches(glob, name, false);
}

bool pf_pmu_matches(const struct pf_pmu *pmu, struct pf_piece pattern)
{
    static const char prefix[] = "uncore_";
    if (!pattern.bytes)
        return false;
    return fits(pmu->name, pattern) ||
           (!strncmp(pmu->name, prefix, sizeof(prefix) - 1) && fits(pmu->name + sizeof(prefix) - 1, pattern));
}

/* ---- formats and events ------------------------------------------------------------------------------------------ */

/* "0-7" or "21" */
static bool parse_bits(struct pf_piece piece, uint64_t *bits)
{
    uint64_t first, last;
    struct pf_piece end;
    if (!pf_piece_next(&piece, '-', &end) || !pf_piece_digits(end, 10, &first))
        return false;
    last = first;
    if (piece.text && !pf_piece_digits(piece, 10, &last))
        return false;
    if (first > last || last > 63)
        return false;
    *bits |= (last - first == 63 ? UINT64_MAX : (UINT64_C(1) << (last - first + 1)) - 1) << first;
    return true;
}

/* "config:0-7,32-35" */
static bool parse_format(const char *text, struct pf_format *format)
{
    static const char *const words[] = {"config", "config1", "config2", "config3", "config4"};
    struct pf_piece rest = pf_piece_of(text), word, range;
    if (!pf_piece_next(&rest, ':', &word) || !rest.text)
        return false;
    for (format->word = 0; format->word < PF_COUNT(words) && !pf_piece_is(word, words[format->word]);)
        format->word++;
    if (format->word == PF_COUNT(words))
        return false;
    while (pf_piece_next(&rest, ',', &range))
        if (!parse_bits(pf_piece_trim(range), &format->bits))
            return false;
    return true;
}

int pf_pmu_formats(struct pf_sys *sys, struct pf_pmu *pmu)
{
    struct pf_names names = {0};
    if (pmu->formats_read)
        return 0;
    int reason = pf_sys_list(sys, pf_sys_path(sys, DEVICES "/%s/format", pmu->name), &names);
    if (reason && reason != ENOMEM)
        names.count = 0; /* a PMU without terms */
    else if (!reason && names.count &&
             !pf_grow(sys->allocator, &pmu->formats, &pmu->format_capacity, names.count, sizeof(*pmu->formats)))
        reason = ENOMEM;
    for (size_t i = 0; i < names.count && !reason; i++) {
        struct pf_format format = {.name = names.items[i]};
        const char *path = pf_sys_path(sys, DEVICES "/%s/format/%s", pmu->name, names.items[i]);
        const char *text = pf_sys_read(sys, path, &reason);
        if (text && parse_format(text, &format))
            pmu->formats[pmu->format_count++] = format;
        reason = reason == ENOMEM ? reason : 0;
    }
    pmu->formats_read = reason != ENOMEM;
    pf_names_close(sys, &names);
    return reason == ENOMEM ? pf_sys_memory(sys) : 0;
}

const struct pf_format *pf_pmu_format(const struct pf_pmu *pmu, struct pf_piece name)
{
    for (size_t i = 0; i < pmu->format_count; i++)
        if (pf_piece_is(name, pmu->formats[i].name))
            return &pmu->formats[i];
    return NULL;
}

/* Beside NAME there may be NAME.scale and the like. */
static bool is_attribute(const char *name)
{
    static const char *const endings[] = {".scale", ".unit", ".per-pkg", ".snapshot"};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < PF_COUNT(endings); i++)
        if (!strcmp(dot, endings[i]))
            return true;
    return false;
}

int pf_pmu_events(struct pf_sys *sys, const struct pf_pmu *pmu, struct pf_names *names)
{
    const int result = pf_sys_list(sys, pf_sys_path(sys, DEVICES "/%s/events", pmu->name), names);
    size_t kept = 0;
    for (size_t i = 0; i < names->count; i++)
        if (!is_attribute(names->items[i]))
            names->items[kept++] = names->items[i];
    names->count = kept;
    return result;
}

const char *pf_pmu_event(struct pf_sys *sys, const struct pf_pmu *pmu, struct pf_piece wanted, const char **name)
{
    struct pf_names names = {0};
    const char *text = NULL;
    int reason = pf_pmu_events(sys, pmu, &names);
    for (size_t i = 0; i < names.count && !text; i++)
        if (pf_piece_like(wanted, names.items[i])) {
            *name = names.items[i];
            text = pf_sys_read(sys, pf_sys_path(sys, DEVICES "/%s/events/%s", pmu->name, *name), &reason);
        }
    pf_names_close(sys, &names);
    return text;
}

/* ---- tracefs ----------------------------------------------------------------------------------------------------- */

int pf_sys_closed(struct pf_sys *sys, const char *tracing, const char *path)
{
    /* mode=755, which perf advises, opens the folders only: the files are the group's */
    return pf_fail(sys->error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, "tracepoints",
                   "no permission to read %s; record with sudo, or allow your group: sudo mount -o remount,mode=750,"
                   "gid=$(id -g) %.*s; sudo sysctl kernel.perf_event_paranoid=-1",
                   path, (int)(strlen(tracing) - strlen("/events")), tracing);
}

int pf_sys_tracing(struct pf_sys *sys, const char **folder)
{
    static const char *const positions[] = {"kernel/tracing/events", "kernel/debug/tracing/events"};
    const char *closed = NULL;
    *folder = NULL;
    for (size_t i = 0; i < PF_COUNT(positions); i++) {
        const char *path = pf_sys_path(sys, "%s", positions[i]);
        if (!path)
            return pf_sys_memory(sys);
        if (access(path, R_OK | X_OK) == 0) {
            *folder = path;
            return 0;
        }
        if (errno == EACCES && !closed)
            closed = path;
    }
    if (closed)
        return pf_sys_closed(sys, closed, closed);
    return pf_fail(sys->error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, "tracepoints",
                   "tracefs is not mounted; as root: mount -t tracefs tracefs %s/kernel/tracing", sys->root);
}

bool pf_sys_mount_tracing(const struct pf_sys *sys)
{
    return strcmp(sys->root, SYSFS) == 0 && geteuid() == 0 &&
           mount("tracefs", SYSFS "/kernel/tracing", "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0;
}
