/* SPDX-License-Identifier: MIT */
#include "analysis/tasks.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/error.h"
#include "platform/platform.h"

/* ---- reading ---- */

static struct pf_task *find_task(const struct pf_tasks *tasks, int32_t tid)
{
    uint64_t position;
    return pf_map_get(&tasks->positions, (uint32_t)tid, &position) ? &tasks->tasks[position] : NULL;
}

/* A new one at the end; NULL when out of memory. */
static struct pf_task *add_task(struct pf_tasks *tasks, int32_t pid, int32_t tid)
{
    if (tasks->count >= UINT32_MAX - 1 ||
        !pf_grow(tasks->allocator, &tasks->tasks, &tasks->capacity, tasks->count + 1, sizeof(*tasks->tasks)))
        return NULL;
    tasks->tasks[tasks->count] = (struct pf_task){.pid = pid, .tid = tid, .ppid = -1, .parent_pid = -1};
    return &tasks->tasks[tasks->count++];
}

/* The task with this thread id, a new one when there is none. NULL when out of memory. */
static struct pf_task *note_task(struct pf_tasks *tasks, int32_t pid, int32_t tid)
{
    struct pf_task *known = find_task(tasks, tid);
    if (known)
        return known;
    struct pf_task *made = add_task(tasks, pid, tid);
    return made && pf_map_put(&tasks->positions, (uint32_t)tid, tasks->count - 1) ? made : NULL;
}

struct pf_task *pf_tasks_of(struct pf_tasks *tasks, int32_t pid, int32_t tid)
{
    const uint64_t key = (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;
    struct pf_task *known = note_task(tasks, pid, tid);
    uint64_t position;
    tasks->idle_reported |= tid == 0;
    if (!known || known->pid == pid)
        return known;
    if (pf_map_get(&tasks->others, key, &position))
        return &tasks->tasks[position];
    struct pf_task *made = add_task(tasks, pid, tid);
    if (!made || !pf_map_put(&tasks->others, key, tasks->count - 1))
        return NULL;
    made->earlier = true; /* not in the order, which is by thread id */
    return made;
}

static bool name_task(struct pf_tasks *tasks, struct pf_task *task, const char *comm)
{
    if (!task || (task->comm && strcmp(task->comm, comm) == 0))
        return task;
    task->comm = pf_map_text(&tasks->comms, &tasks->arena, comm, strlen(comm));
    task->first_comm = task->first_comm ? task->first_comm : task->comm;
    return task->comm;
}

/* An id that is used again is another task; the earlier one goes to the end. False when out of memory. */
static bool replace(struct pf_tasks *tasks, int32_t tid, int32_t pid)
{
    struct pf_task *copy = add_task(tasks, pid, tid), *task = find_task(tasks, tid);
    if (!copy)
        return false;
    *copy = *task;
    copy->earlier = true;
    *task = (struct pf_task){.pid = pid, .tid = tid, .ppid = -1, .parent_pid = -1};
    tasks->replaced++;
    return true;
}

/*
 * A thread that started just before the recorder looked at threads may have two records: one of the recorder, which
 * has no time, and one of the kernel.
 */
static bool is_known(const struct pf_task *task, const struct perfile_fork *fork)
{
    return task->pid == fork->pid && task->ppid == fork->ptid && task->parent_pid == fork->ppid && !task->start &&
           !task->end;
}

static bool fork_task(struct pf_tasks *tasks, const struct perfile_fork *fork)
{
    struct pf_task *child = find_task(tasks, fork->tid), *parent;
    if (child && !is_known(child, fork) && !replace(tasks, fork->tid, fork->pid))
        return false;
    if (!note_task(tasks, fork->ppid, fork->ptid) || !note_task(tasks, fork->pid, fork->tid))
        return false;
    if (find_task(tasks, fork->ptid)->pid != fork->ppid && !replace(tasks, fork->ptid, fork->ppid))
        return false;
    child = find_task(tasks, fork->tid);
    parent = find_task(tasks, fork->ptid);
    child->ppid = fork->ptid;
    child->parent_pid = fork->ppid;
    child->start = fork->time;
    child->comm = parent->comm;
    child->first_comm = child->first_comm ? child->first_comm : parent->comm;
    tasks->idle_reported |= fork->tid == 0 || fork->ptid == 0;
    return true;
}

static void end_task(struct pf_tasks *tasks, const struct perfile_exit *gone)
{
    struct pf_task *task = find_task(tasks, gone->tid);
    if (task && task->pid == gone->pid)
        task->end = gone->time;
}

bool pf_tasks_take(struct pf_tasks *tasks, const struct perfile_record *record)
{
    struct perfile_fork fork;
    struct perfile_exit gone;
    struct perfile_comm comm;
    if (record->type == PERFILE_RECORD_EXIT &&
        perfile_record_decode(tasks->reader, record, &gone, sizeof(gone), NULL) >= 0)
        end_task(tasks, &gone);
    if (record->type == PERFILE_RECORD_FORK &&
        perfile_record_decode(tasks->reader, record, &fork, sizeof(fork), NULL) >= 0)
        return fork_task(tasks, &fork);
    if (record->type == PERFILE_RECORD_COMM &&
        perfile_record_decode(tasks->reader, record, &comm, sizeof(comm), NULL) >= 0) {
        tasks->idle_reported |= comm.tid == 0;
        return name_task(tasks, note_task(tasks, comm.pid, comm.tid), comm.comm);
    }
    return true;
}

/* ---- mappings ---- */

static bool add_map(struct pf_tasks *tasks, const struct perfile_map *map)
{
    const struct pf_task_map made = {
        .start = map->start,
        .end = map->end,
        .pgoff = map->pgoff,
        .inode = map->inode,
        .prot = map->prot,
        .flags = map->flags,
        .filename = pf_map_text(&tasks->comms, &tasks->arena, map->filename, strlen(map->filename))};
    return made.filename && PF_APPEND(tasks->allocator, tasks->maps, tasks->map_count, tasks->map_capacity, made);
}

static void reverse(struct pf_task_map *maps, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        const struct pf_task_map other = maps[i];
        maps[i] = maps[count - 1 - i];
        maps[count - 1 - i] = other;
    }
}

/* What a process has mapped now. False when out of memory. */
static bool keep_maps(struct pf_tasks *tasks, struct perfile_session *session, int32_t pid)
{
    const struct perfile_space *space = perfile_session_space(session, pid);
    const size_t first = tasks->map_count;
    const struct perfile_map *map = space ? perfile_space_below(space, UINT64_MAX) : NULL;
    for (; map; map = map->start ? perfile_space_below(space, map->start - 1) : NULL)
        if (!add_map(tasks, map))
            return false;
    reverse(tasks->maps + first, tasks->map_count - first);
    return tasks->map_count < UINT32_MAX &&
           pf_map_put(&tasks->first_maps, (uint32_t)pid, (uint64_t)(tasks->map_count - first) << 32 | first);
}

/* Those of processes that did not end. */
static bool keep_last_maps(struct pf_tasks *tasks, struct perfile_session *session)
{
    bool enough = true;
    uint64_t known;
    for (size_t i = 0; i < tasks->count && enough; i++)
        if (tasks->tasks[i].pid > 0 && !pf_map_get(&tasks->first_maps, (uint32_t)tasks->tasks[i].pid, &known))
            enough = keep_maps(tasks, session, tasks->tasks[i].pid);
    return enough;
}

static bool keep_maps_at_end(struct pf_tasks *tasks, struct perfile_session *session,
                             const struct perfile_record *record)
{
    struct perfile_exit gone;
    if (record->type != PERFILE_RECORD_EXIT ||
        perfile_record_decode(tasks->reader, record, &gone, sizeof(gone), NULL) < 0 || gone.pid != gone.tid)
        return true;
    return keep_maps(tasks, session, gone.pid);
}

const struct pf_task_map *pf_tasks_maps(const struct pf_tasks *tasks, const struct pf_task *task, size_t *count)
{
    uint64_t found = 0;
    *count = pf_map_get(&tasks->first_maps, (uint32_t)task->pid, &found) ? (size_t)(found >> 32) : 0;
    return *count ? tasks->maps + (uint32_t)found : NULL;
}

static int read_tasks(struct pf_tasks *tasks, struct perfile_error *error)
{
    const struct perfile_record *record;
    struct perfile_session *session;
    int result = perfile_session_open(tasks->reader, &session, error);
    if (result < 0)
        return result;
    if (tasks->wants_maps)
        perfile_session_follow_maps(session);
    bool enough = true;
    while (enough && (result = perfile_session_next(session, &record, error)) > 0)
        enough = (!tasks->wants_maps || keep_maps_at_end(tasks, session, record)) && pf_tasks_take(tasks, record);
    if (!enough || (tasks->wants_maps && !keep_last_maps(tasks, session)))
        result = pf_fail_memory(error, "tasks");
    perfile_session_close(session);
    return result;
}

/* ---- order ---- */

static int compare_tids(const void *left, const void *right, void *context)
{
    const struct pf_task *tasks = context;
    const struct pf_task *a = &tasks[*(const uint32_t *)left], *b = &tasks[*(const uint32_t *)right];
    return (a->tid > b->tid) - (a->tid < b->tid);
}

/* The parent of a task without a known starter is the idle task. */
static uint32_t parent_of(const struct pf_tasks *tasks, const struct pf_task *task)
{
    if (task->tid == 0)
        return 0;
    const struct pf_task *parent = task->ppid > 0 ? find_task(tasks, task->ppid) : NULL;
    return parent ? (uint32_t)(parent - tasks->tasks) + 1 : 1;
}

/* Children by thread id. */
static void link_tasks(struct pf_tasks *tasks, const uint32_t *by_tid, size_t count)
{
    for (size_t i = count; i-- > 0;) {
        struct pf_task *task = &tasks->tasks[by_tid[i]];
        task->parent = parent_of(tasks, task);
        if (!task->parent)
            continue;
        task->sibling = tasks->tasks[task->parent - 1].child;
        tasks->tasks[task->parent - 1].child = by_tid[i] + 1;
    }
}

static void list_task(struct pf_tasks *tasks, uint32_t position, unsigned level)
{
    tasks->tasks[position].listed = true;
    tasks->tasks[position].level = level;
    tasks->order[tasks->order_count++] = position;
}

/* A task and all that it started. In a damaged recording a task may have started the one that started it. */
static void list_family(struct pf_tasks *tasks, uint32_t first, unsigned level)
{
    const struct pf_task *all = tasks->tasks;
    uint32_t at = first;
    list_task(tasks, first, level);
    for (uint32_t next = all[first].child;;) {
        while (next && all[next - 1].listed)
            next = all[next - 1].sibling;
        if (next) {
            at = next - 1;
            list_task(tasks, at, ++level);
            next = all[at].child;
        } else if (at == first) {
            return;
        } else {
            next = all[at].sibling;
            at = all[at].parent - 1;
            level--;
        }
    }
}

static bool list_tasks(struct pf_tasks *tasks)
{
    uint32_t *by_tid = NULL;
    size_t capacity = 0;
    if (!pf_grow(tasks->allocator, &by_tid, &capacity, tasks->count, sizeof(*by_tid)) ||
        !pf_grow(tasks->allocator, &tasks->order, &tasks->order_capacity, tasks->count, sizeof(*tasks->order))) {
        pf_free(tasks->allocator, by_tid, capacity * sizeof(*by_tid));
        return false;
    }
    size_t count = 0;
    for (uint32_t i = 0; i < tasks->count; i++)
        if (!tasks->tasks[i].earlier)
            by_tid[count++] = i;
    pf_platform_sort(by_tid, count, sizeof(*by_tid), compare_tids, tasks->tasks);
    link_tasks(tasks, by_tid, count);
    list_family(tasks, 0, 0);
    for (size_t i = 0; i < count; i++)
        if (!tasks->tasks[by_tid[i]].listed)
            list_family(tasks, by_tid[i], 1);
    pf_free(tasks->allocator, by_tid, capacity * sizeof(*by_tid));
    return true;
}

/* ---- all of it ---- */

bool pf_tasks_begin(struct pf_tasks *tasks, struct perfile_reader *reader, const struct perfile_allocator *allocator)
{
    *tasks = (struct pf_tasks){.reader = reader, .allocator = pf_allocator_or_default(allocator)};
    pf_arena_open(&tasks->arena, tasks->allocator);
    pf_map_open(&tasks->positions, tasks->allocator);
    pf_map_open(&tasks->others, tasks->allocator);
    pf_map_open(&tasks->comms, tasks->allocator);
    pf_map_open(&tasks->first_maps, tasks->allocator);
    return name_task(tasks, note_task(tasks, 0, 0), "swapper");
}

int pf_tasks_open(struct pf_tasks *tasks, struct perfile_reader *reader, const struct perfile_allocator *allocator,
                  bool wants_maps, struct perfile_error *error)
{
    int result = pf_tasks_begin(tasks, reader, allocator) ? 0 : pf_fail_memory(error, "tasks");
    tasks->wants_maps = wants_maps;
    if (result == 0)
        result = read_tasks(tasks, error);
    if (!tasks->count || !list_tasks(tasks))
        return pf_fail_memory(error, "tasks");
    return result;
}

void pf_tasks_close(struct pf_tasks *tasks)
{
    pf_free(tasks->allocator, tasks->tasks, tasks->capacity * sizeof(*tasks->tasks));
    pf_free(tasks->allocator, tasks->order, tasks->order_capacity * sizeof(*tasks->order));
    pf_map_close(&tasks->positions);
    pf_map_close(&tasks->others);
    pf_map_close(&tasks->comms);
    pf_map_close(&tasks->first_maps);
    pf_free(tasks->allocator, tasks->maps, tasks->map_capacity * sizeof(*tasks->maps));
    pf_arena_close(&tasks->arena);
}
