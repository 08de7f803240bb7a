/* SPDX-License-Identifier: MIT */
#include "analysis/events/syscall_stats.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/events/sort_keys.h"
#include "platform/platform.h"

bool pf_syscall_by_parse(const char *text, enum pf_syscall_by *by)
{
    static const char *const names[] = {"thread", "process", "cgroup", "fd", "total"};
    const int found = pf_sort_number(names, PF_COUNT(names), text);
    *by = found < 0 ? PF_CALLS_BY_THREAD : (enum pf_syscall_by)found;
    return found >= 0;
}

void pf_syscall_stats_open(struct pf_syscall_stats *stats, struct pf_syscalls *syscalls, enum pf_syscall_by by)
{
    *stats = (struct pf_syscall_stats){.syscalls = syscalls, .by = by};
    pf_arena_open(&stats->arena, syscalls->allocator);
    pf_pairs_open(&stats->index, syscalls->allocator);
    pf_map_open(&stats->group_index, syscalls->allocator);
}

void pf_syscall_stats_close(struct pf_syscall_stats *stats)
{
    if (!stats->syscalls)
        return;
    const struct perfile_allocator *allocator = stats->syscalls->allocator;
    pf_free(allocator, stats->rows, stats->capacity * sizeof(*stats->rows));
    pf_free(allocator, stats->groups, stats->group_capacity * sizeof(*stats->groups));
    pf_pairs_close(&stats->index);
    pf_map_close(&stats->group_index);
    pf_arena_close(&stats->arena);
}

/* ---- taking ------------------------------------------------------------------------------------------------------ */

static int64_t fd_of(const struct pf_syscall_call *call)
{
    const int fd = pf_syscall_find_fd(call->call);
    return fd < 0 || !call->entered ? -1 : (int32_t)call->arguments[fd];
}

static const char *path_of(const struct pf_syscall_call *call)
{
    const int fd = pf_syscall_find_fd(call->call);
    return fd < 0 ? NULL : call->names.of[fd];
}

/* Texts of one path are one pointer; descriptors of a process without one are below what pointers are. */
static uint64_t group_of(const struct pf_syscall_stats *stats, uint32_t thread, const struct pf_syscall_call *call)
{
    const struct pf_syscall_thread *of = &stats->syscalls->threads[thread];
    switch (stats->by) {
    case PF_CALLS_BY_THREAD:
        return thread;
    case PF_CALLS_BY_PROCESS:
        return (uint32_t)of->pid;
    case PF_CALLS_BY_CGROUP:
        return (uintptr_t)of->cgroup;
    case PF_CALLS_BY_FILE:
        return path_of(call) ? (uintptr_t)path_of(call) : (uint64_t)1 << 63 | ((uint64_t)fd_of(call) & UINT32_MAX);
    default:
        return 0;
    }
}

/* NULL: out of memory. */
static struct pf_syscall_group *find_group(struct pf_syscall_stats *stats, uint64_t group, uint32_t thread)
{
    uint64_t known;
    if (pf_map_get(&stats->group_index, group, &known))
        return &stats->groups[known];
    if (!pf_grow(stats->syscalls->allocator, &stats->groups, &stats->group_capacity, stats->group_count + 1,
                 sizeof(*stats->groups)) ||
        !pf_map_put(&stats->group_index, group, stats->group_count))
        return NULL;
    stats->groups[stats->group_count] =
        (struct pf_syscall_group){.group = group, .thread = thread, .cgroup = stats->syscalls->threads[thread].cgroup};
    return &stats->groups[stats->group_count++];
}

/* NULL: out of memory. */
static struct pf_syscall_row *find_row(struct pf_syscall_stats *stats, uint32_t thread,
                                       const struct pf_syscall_call *call)
{
    const uint64_t group = group_of(stats, thread, call), key = call->number ^ (uint64_t)call->abi << 56;
    uint32_t known;
    if (pf_pairs_get(&stats->index, group, key, &known))
        return stats->rows[known];
    struct pf_syscall_row *row = pf_arena_new(&stats->arena, sizeof(*row));
    if (!row ||
        !pf_grow(stats->syscalls->allocator, &stats->rows, &stats->capacity, stats->count + 1, sizeof(*stats->rows)) ||
        !pf_pairs_put(&stats->index, group, key, (uint32_t)stats->count))
        return NULL;
    *row = (struct pf_syscall_row){.group = group,
                                   .thread = thread,
                                   .call = call->call,
                                   .number = call->number,
                                   .abi = call->abi,
                                   .fd = stats->by == PF_CALLS_BY_FILE ? fd_of(call) : -1,
                                   .path = stats->by == PF_CALLS_BY_FILE ? path_of(call) : NULL,
                                   .cgroup = stats->syscalls->threads[thread].cgroup};
    stats->rows[stats->count++] = row;
    return row;
}

static bool count_error(struct pf_syscall_stats *stats, struct pf_syscall_row *row, uint32_t number)
{
    struct pf_syscall_errors **at = &row->by_error;
    while (*at && (*at)->number < number)
        at = &(*at)->next;
    if (!*at || (*at)->number != number) {
        struct pf_syscall_errors *made = pf_arena_new(&stats->arena, sizeof(*made));
        if (!made)
            return false;
        *made = (struct pf_syscall_errors){.next = *at, .number = number};
        *at = made;
    }
    (*at)->count++;
    return true;
}

static bool take_call(struct pf_syscall_stats *stats, uint32_t thread, const struct pf_syscall_call *call)
{
    enum { ERRORS = 4095 }; /* more below 0 are addresses and offsets */
    struct pf_syscall_row *row = find_row(stats, thread, call);
    if (!row)
        return false;
    row->calls++;
    if (call->entered) {
        const uint64_t time = call->end - call->start;
        pf_stats_add(&row->times, time);
        pf_histogram_add(&row->histogram, time);
        row->uncertain += call->uncertain;
        row->uncertain_ns += call->uncertain ? time : 0;
    } else {
        row->alone++;
    }
    if (call->result >= 0 || call->result < -ERRORS)
        return true;
    row->errors++;
    return count_error(stats, row, (uint32_t)-call->result);
}

bool pf_syscall_stats_take(struct pf_syscall_stats *stats, const struct pf_syscall_event *event)
{
    const uint64_t none = UINT64_MAX; /* of calls without a number, that only the kernel makes */
    if (event->step == PF_SYSCALL_NOTHING || (event->step == PF_SYSCALL_FAULT && stats->by == PF_CALLS_BY_FILE))
        return true;
    struct pf_syscall_group *group = find_group(stats, group_of(stats, event->thread, &event->call), event->thread);
    if (!group)
        return false;
    group->events++;
    group->minor_faults += event->step == PF_SYSCALL_FAULT && !event->major;
    group->major_faults += event->step == PF_SYSCALL_FAULT && event->major;
    return event->step != PF_SYSCALL_LEFT || event->call.number == none ||
           take_call(stats, event->thread, &event->call);
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

static bool take_open(struct pf_syscall_stats *stats, uint64_t time)
{
    for (uint32_t i = 0; i < stats->syscalls->thread_count; i++) {
        const struct pf_syscall_thread *thread = &stats->syscalls->threads[i];
        if (!thread->is_open || pf_syscall_never_returns(thread->open.call))
            continue;
        struct pf_syscall_row *row = find_row(stats, i, &thread->open);
        if (!row)
            return false;
        row->open++;
        row->open_ns = pf_max(row->open_ns, time - pf_min(time, thread->open.start));
    }
    return true;
}

/* By events, then by thread id, as perf. */
static int compare_groups(const void *left, const void *right, void *context)
{
    const struct pf_syscall_stats *stats = context;
    const struct pf_syscall_group *a = left, *b = right;
    if (a->events != b->events)
        return a->events < b->events ? -1 : 1;
    const int32_t i = stats->syscalls->threads[a->thread].tid, k = stats->syscalls->threads[b->thread].tid;
    return PF_COMPARE(i, k) ?: PF_COMPARE(a->thread, b->thread);
}

static double total_of(const struct pf_syscall_row *row)
{
    return (double)row->times.sum;
}

static int compare_rows(const void *left, const void *right, void *context)
{
    const struct pf_syscall_stats *stats = context;
    const struct pf_syscall_row *a = *(struct pf_syscall_row *const *)left;
    const struct pf_syscall_row *b = *(struct pf_syscall_row *const *)right;
    uint64_t i = 0, k = 0;
    pf_map_get(&stats->group_index, a->group, &i);
    pf_map_get(&stats->group_index, b->group, &k);
    const int order = PF_COMPARE(i, k) ?: PF_COMPARE(total_of(b), total_of(a));
    return order ?: PF_COMPARE(b->calls, a->calls) ?: PF_COMPARE(a->number, b->number);
}

bool pf_syscall_stats_end(struct pf_syscall_stats *stats, uint64_t time)
{
    if (!take_open(stats, time))
        return false;
    if (stats->group_count)
        pf_platform_sort(stats->groups, stats->group_count, sizeof(*stats->groups), compare_groups, stats);
    for (size_t i = 0; i < stats->group_count; i++)
        if (!pf_map_put(&stats->group_index, stats->groups[i].group, i))
            return false;
    if (stats->count)
        pf_platform_sort(stats->rows, stats->count, sizeof(*stats->rows), compare_rows, stats);
    for (size_t i = stats->count; i-- > 0;) {
        uint64_t group;
        if (!pf_map_get(&stats->group_index, stats->rows[i]->group, &group))
            continue;
        stats->groups[group].first = i;
        stats->groups[group].count++;
    }
    return true;
}
