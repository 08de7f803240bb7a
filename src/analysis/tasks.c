/* SPDX-License-Identifier: MIT */
#include "analysis/tasks.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/error.h"

/* ---- reading ---- */

static struct pf_task *find_task(const struct pf_tasks *tasks, int32_t tid)
{
    uint64_t place;
    return pf_map_get(&tasks->places, (uint32_t)tid, &place) ? &tasks->tasks[place] : NULL;
}

/* The task with this thread id, a new one when there is none. NULL when out of memory. */
static struct pf_task *note_task(struct pf_tasks *tasks, int32_t pid, int32_t tid)
{
    struct pf_task *known = find_task(tasks, tid);
    if (known)
        return known;
    if (tasks->count >= UINT32_MAX - 1 ||
        !pf_grow(tasks->allocator, &tasks->tasks, &tasks->room, tasks->count + 1, sizeof(*tasks->tasks)) ||
        !pf_map_put(&tasks->places, (uint32_t)tid, tasks->count))
        return NULL;
    tasks->tasks[tasks->count] = (struct pf_task){.pid = pid, .tid = tid, .ppid = -1};
    return &tasks->tasks[tasks->count++];
}

static bool name_task(struct pf_tasks *tasks, struct pf_task *task, const char *comm)
{
    if (!task || (task->comm && strcmp(task->comm, comm) == 0))
        return task;
    task->comm = pf_arena_text(&tasks->arena, comm, strlen(comm));
    return task->comm;
}

/* An id that is used again is another task. */
static void replace(struct pf_tasks *tasks, struct pf_task *task, int32_t pid)
{
    *task = (struct pf_task){.pid = pid, .tid = task->tid, .ppid = -1};
    tasks->replaced++;
}

static bool fork_task(struct pf_tasks *tasks, const struct perfile_fork *fork)
{
    struct pf_task *child = find_task(tasks, fork->tid);
    if (child)
        replace(tasks, child, fork->pid);
    if (!note_task(tasks, fork->ppid, fork->ptid) || !(child = note_task(tasks, fork->pid, fork->tid)))
        return false;
    struct pf_task *parent = find_task(tasks, fork->ptid);
    if (parent->pid != fork->ppid)
        replace(tasks, parent, fork->ppid);
    child->ppid = fork->ptid;
    child->comm = parent->comm;
    return true;
}

/* False when out of memory. */
static bool take_record(struct pf_tasks *tasks, const struct perfile_record *record)
{
    struct perfile_fork fork;
    struct perfile_comm comm;
    if (record->type == PERFILE_RECORD_FORK &&
        perfile_record_decode(tasks->reader, record, &fork, sizeof(fork), NULL) >= 0)
        return fork_task(tasks, &fork);
    if (record->type == PERFILE_RECORD_COMM &&
        perfile_record_decode(tasks->reader, record, &comm, sizeof(comm), NULL) >= 0)
        return name_task(tasks, note_task(tasks, comm.pid, comm.tid), comm.comm);
    return true;
}

static int read_tasks(struct pf_tasks *tasks, struct perfile_error *error)
{
    const struct perfile_record *record;
    struct perfile_session *session;
    int result = perfile_session_open(tasks->reader, &session, error);
    if (result < 0)
        return result;
    while ((result = perfile_session_next(session, &record, error)) > 0)
        if (!take_record(tasks, record)) {
            result = pf_fail_memory(error, "tasks");
            break;
        }
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

/* Who was started by nobody that is known was started by the idle task. */
static uint32_t parent_of(const struct pf_tasks *tasks, const struct pf_task *task)
{
    if (task->tid == 0)
        return 0;
    const struct pf_task *parent = task->ppid > 0 ? find_task(tasks, task->ppid) : NULL;
    return parent ? (uint32_t)(parent - tasks->tasks) + 1 : 1;
}

/* Children by thread id. */
static void link_tasks(struct pf_tasks *tasks)
{
    for (size_t i = tasks->count; i-- > 0;) {
        struct pf_task *task = &tasks->tasks[tasks->order[i]];
        task->parent = parent_of(tasks, task);
        if (!task->parent)
            continue;
        task->sibling = tasks->tasks[task->parent - 1].child;
        tasks->tasks[task->parent - 1].child = tasks->order[i] + 1;
    }
}

static void list_task(struct pf_tasks *tasks, uint32_t place, unsigned level)
{
    tasks->tasks[place].listed = true;
    tasks->tasks[place].level = level;
    tasks->order[tasks->order_count++] = place;
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
    size_t room = 0;
    if (!pf_grow(tasks->allocator, &by_tid, &room, tasks->count, sizeof(*by_tid)) ||
        !pf_grow(tasks->allocator, &tasks->order, &tasks->order_room, tasks->count, sizeof(*tasks->order))) {
        pf_free(tasks->allocator, by_tid, room * sizeof(*by_tid));
        return false;
    }
    for (uint32_t i = 0; i < tasks->count; i++)
        tasks->order[i] = i;
    qsort_r(tasks->order, tasks->count, sizeof(*tasks->order), compare_tids, tasks->tasks);
    link_tasks(tasks);
    memcpy(by_tid, tasks->order, tasks->count * sizeof(*by_tid));
    list_family(tasks, 0, 0);
    for (size_t i = 0; i < tasks->count; i++)
        if (!tasks->tasks[by_tid[i]].listed)
            list_family(tasks, by_tid[i], 1);
    pf_free(tasks->allocator, by_tid, room * sizeof(*by_tid));
    return true;
}

/* ---- all of it ---- */

int pf_tasks_open(struct pf_tasks *tasks, struct perfile_reader *reader, const struct perfile_allocator *allocator,
                  struct perfile_error *error)
{
    *tasks = (struct pf_tasks){.reader = reader, .allocator = pf_allocator_or_default(allocator)};
    pf_arena_open(&tasks->arena, tasks->allocator);
    pf_map_open(&tasks->places, tasks->allocator);
    int result = name_task(tasks, note_task(tasks, 0, 0), "swapper") ? 0 : pf_fail_memory(error, "tasks");
    if (result == 0)
        result = read_tasks(tasks, error);
    if (!tasks->count || !list_tasks(tasks))
        return pf_fail_memory(error, "tasks");
    return result;
}

void pf_tasks_close(struct pf_tasks *tasks)
{
    pf_free(tasks->allocator, tasks->tasks, tasks->room * sizeof(*tasks->tasks));
    pf_free(tasks->allocator, tasks->order, tasks->order_room * sizeof(*tasks->order));
    pf_map_close(&tasks->places);
    pf_arena_close(&tasks->arena);
}
