/* SPDX-License-Identifier: MIT */
#include "output/report/tasks.h"

#include <inttypes.h>

#include "analysis/tasks.h"
#include "base/json.h"
#include "output/report/csv.h"

struct page {
    const struct pf_tasks *tasks;
    struct pf_text *out;
    const char *separator;
};

/* As perf has it: threads without a name are called by their number. */
static void put_comm(const struct pf_task *task, struct pf_text *out)
{
    if (task->comm)
        pf_put_name(out, task->comm);
    else
        pf_put_format(out, ":%d", (int)task->tid);
}

/* ---- text, as perf prints it ---- */

static void begin_text(const struct page *page)
{
    pf_put_format(page->out, "# %8s %8s %8s  %s\n", "pid", "tid", "ppid", "comm");
}

static void put_text(const struct page *page, const struct pf_task *task)
{
    enum { MOST = 200 }; /* deeper ones are indented no more */
    const unsigned level = task->level < MOST ? task->level : MOST;
    pf_put_format(page->out, "  %8d %8d %8d |%*s", (int)task->pid, (int)task->tid, (int)task->ppid, (int)level, "");
    put_comm(task, page->out);
    pf_put_char(page->out, '\n');
}

static void end_text(const struct page *page)
{
    if (page->tasks->replaced)
        pf_put_format(page->out, "# Not shown: %" PRIu64 " earlier tasks whose ids were reused\n",
                      page->tasks->replaced);
}

/* ---- for programs ---- */

static void begin_csv(const struct page *page)
{
    static const char *const names[] = {"pid", "tid", "ppid", "comm"};
    for (size_t i = 0; i < PF_COUNT(names); i++) {
        pf_put_string(page->out, i ? page->separator : "");
        pf_put_string(page->out, names[i]);
    }
    pf_put_char(page->out, '\n');
}

static void put_csv(const struct page *page, const struct pf_task *task)
{
    const int32_t numbers[] = {task->pid, task->tid, task->ppid};
    for (size_t i = 0; i < PF_COUNT(numbers); i++) {
        pf_put_signed(page->out, numbers[i]);
        pf_put_string(page->out, page->separator);
    }
    if (task->comm)
        pf_csv_put(page->out, page->separator, task->comm, strlen(task->comm));
    pf_put_char(page->out, '\n');
}

static void begin_json(const struct page *page)
{
    pf_put_format(page->out, "{\"replaced\": %" PRIu64 ", \"tasks\": [", page->tasks->replaced);
}

static void put_json(const struct page *page, const struct pf_task *task)
{
    pf_put_format(page->out, "%s\n  {\"pid\": %d, \"tid\": %d, \"ppid\": %d, \"comm\": ",
                  task == &page->tasks->tasks[page->tasks->order[0]] ? "" : ",", (int)task->pid, (int)task->tid,
                  (int)task->ppid);
    if (task->comm)
        pf_put_json_string(page->out, task->comm, strlen(task->comm));
    else
        pf_put_string(page->out, "null");
    pf_put_char(page->out, '}');
}

static void end_json(const struct page *page)
{
    pf_put_string(page->out, "\n]}\n");
}

static const struct {
    void (*begin)(const struct page *page);
    void (*put)(const struct page *page, const struct pf_task *task);
    void (*end)(const struct page *page); /* or NULL */
} forms[] = {
    [PF_TASKS_TEXT] = {begin_text, put_text, end_text},
    [PF_TASKS_CSV] = {begin_csv, put_csv, NULL},
    [PF_TASKS_JSON] = {begin_json, put_json, end_json},
};

int pf_tasks_write(struct perfile_reader *reader, const struct perfile_output_options *options, enum pf_tasks_form form,
                   struct pf_text *out, struct perfile_error *error)
{
    struct pf_tasks tasks;
    const char *separator = options->report->separator;
    const struct page page = {&tasks, out, separator && *separator ? separator : ","};
    const int result = pf_tasks_open(&tasks, reader, out->allocator, error);
    if (tasks.order_count) {
        forms[form].begin(&page);
        for (size_t i = 0; i < tasks.order_count; i++)
            forms[form].put(&page, &tasks.tasks[tasks.order[i]]);
        if (forms[form].end)
            forms[form].end(&page);
    }
    pf_tasks_close(&tasks);
    return result;
}
