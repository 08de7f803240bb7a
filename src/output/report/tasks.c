/* SPDX-License-Identifier: MIT */
#include "output/report/lists.h"

#include <inttypes.h>

#include "analysis/tasks.h"
#include "base/counted.h"

/* As perf has it: threads without a name are called by their number. */
static void put_comm(const struct pf_task *task, struct pf_text *out)
{
    if (task->comm)
        pf_put_name(out, task->comm);
    else
        pf_put_format(out, ":%d", (int)task->tid);
}

static void put_task(const struct pf_task *task, struct pf_text *out)
{
    enum { MAX = 200 }; /* deeper ones are indented no more */
    const unsigned level = task->level < MAX ? task->level : MAX;
    pf_put_format(out, "  %8d %8d %8d |%*s", (int)task->pid, (int)task->tid, (int)task->ppid, (int)level, "");
    put_comm(task, out);
    pf_put_char(out, '\n');
}

static void put_map(const struct pf_task *task, const struct pf_task_map *map, struct pf_text *out)
{
    enum { INDENT = 32 };
    pf_put_format(out, "%*s%" PRIx64 "-%" PRIx64 " %c%c%c%c %08" PRIx64 " %" PRIu64 " ", INDENT + (int)task->level, "",
                  map->start, map->end, map->prot & 1 ? 'r' : '-', map->prot & 2 ? 'w' : '-', map->prot & 4 ? 'x' : '-',
                  map->flags & 1 ? 's' : 'p', map->pgoff, map->inode);
    pf_put_name(out, map->filename);
    pf_put_char(out, '\n');
}

static void put_maps(const struct pf_tasks *tasks, const struct pf_task *task, struct pf_text *out)
{
    size_t count;
    const struct pf_task_map *maps = pf_tasks_maps(tasks, task, &count);
    for (size_t i = 0; i < count; i++)
        put_map(task, &maps[i], out);
}

int pf_tasks_write(struct perfile_reader *reader, bool maps, struct pf_text *out, struct perfile_error *error)
{
    struct pf_tasks tasks;
    char count[PF_COUNTED_BYTES];
    const int result = pf_tasks_open(&tasks, reader, out->allocator, maps, error);
    if (tasks.order_count) {
        pf_put_format(out, "# %8s %8s %8s  %s\n", "pid", "tid", "ppid", "comm");
        for (size_t i = 0; i < tasks.order_count; i++) {
            put_task(&tasks.tasks[tasks.order[i]], out);
            put_maps(&tasks, &tasks.tasks[tasks.order[i]], out);
        }
        if (tasks.replaced)
            pf_put_format(out, "# Not shown: %s whose ids were reused\n",
                          pf_count_of(tasks.replaced, "earlier tasks", count));
    }
    pf_tasks_close(&tasks);
    return result;
}
