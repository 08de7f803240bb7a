/* SPDX-License-Identifier: MIT */
/* One process: its threads with their names and namespaces; FORK, NAMESPACES and COMM of each, as perf has them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/machine_walk.h"

enum { COMM_CAPACITY = 16, KERNEL_THREAD = 0x00200000 }; /* PF_KTHREAD */

struct process {
    int folder;
    int32_t pid;
    int32_t ppid;
    unsigned long flags;
    char state;
    char comm[COMM_CAPACITY];
};

/* ---- records ---- */

static bool put_fork(struct pf_walker *walker, const struct process *process, int32_t tid)
{
    const int32_t parent = tid == process->pid ? process->ppid : process->pid;
    const struct perfile_fork record = {.pid = process->pid, .ppid = parent, .tid = tid, .ptid = parent};
    return pf_walk_put(walker, &(struct pf_walk_item){.type = PERFILE_RECORD_FORK,
                                                      .misc = PERFILE_MISC_FORK_EXEC,
                                                      .record = &record,
                                                      .bytes = sizeof(record)});
}

/* Names of work queues are longer in /proc than those that the kernel's own records have. */
static bool put_comm(struct pf_walker *walker, const struct process *process, int32_t tid, const char *comm)
{
    const struct perfile_comm record = {.pid = process->pid, .tid = tid};
    char name[COMM_CAPACITY] = "";
    memcpy(name, comm, strnlen(comm, sizeof(name) - 1));
    return pf_walk_put(walker, &(struct pf_walk_item){.type = PERFILE_RECORD_COMM,
                                                      .record = &record,
                                                      .bytes = sizeof(record),
                                                      .pointer_at = offsetof(struct perfile_comm, comm),
                                                      .extra = name,
                                                      .extra_bytes = strlen(name) + 1});
}

/* Nothing when we may not see any of them. */
static bool put_namespaces(struct pf_walker *walker, const struct process *process, int32_t tid)
{
    static const char *const names[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};
    uint64_t links[PF_COUNT(names)][2] = {{0}};
    char path[64];
    unsigned seen = 0;
    for (size_t i = 0; i < PF_COUNT(names); i++) {
        struct stat status;
        if (!pf_path(path, sizeof(path), "task/%d/ns/%s", tid, names[i]) ||
            fstatat(process->folder, path, &status, 0) < 0)
            continue;
        links[i][0] = status.st_dev;
        links[i][1] = status.st_ino;
        seen++;
    }
    const struct perfile_namespaces record = {
        .pid = process->pid,
        .tid = tid,
        .nr_namespaces = PF_COUNT(names),
        .link_info = {.count = PF_COUNT(names)},
    };
    return !seen || pf_walk_put(walker, &(struct pf_walk_item){
                                            .type = PERFILE_RECORD_NAMESPACES,
                                            .record = &record,
                                            .bytes = sizeof(record),
                                            .pointer_at = offsetof(struct perfile_namespaces, link_info.data),
                                            .extra = links,
                                            .extra_bytes = sizeof(links),
                                        });
}

static bool put_thread(struct pf_walker *walker, const struct process *process, int32_t tid, const char *comm)
{
    return put_fork(walker, process, tid) &&
           (!walker->walk->options->namespaces || put_namespaces(walker, process, tid)) &&
           put_comm(walker, process, tid, comm);
}

/* ---- /proc/PID ---- */

/* "4711 (any (name)) S 1 ...": the last parenthesis ends the name. */
static bool parse_stat(char *text, struct process *process)
{
    char *name = strchr(text, '('), *end = strrchr(text, ')');
    if (!name || !end || end < name)
        return false;
    *end = 0;
    memset(process->comm, 0, sizeof(process->comm));
    memcpy(process->comm, name + 1, strnlen(name + 1, sizeof(process->comm) - 1));
    return sscanf(end + 1, " %c %d %*d %*d %*d %*d %lu", &process->state, &process->ppid, &process->flags) == 3;
}

static void synthesize_maps(struct pf_walker *walker, const struct process *process, int32_t tid)
{
    char path[64];
    if (!pf_path(path, sizeof(path), "task/%d/maps", tid))
        return;
    int maps = openat(process->folder, path, O_RDONLY | O_CLOEXEC);
    if (maps < 0) {
        if (errno == EACCES || errno == EPERM)
            __atomic_fetch_add(&walker->walk->forbidden, 1, __ATOMIC_RELAXED);
        return;
    }
    pf_maps_synthesize(walker, process->folder, maps, process->pid);
    close(maps);
}

/* An entry of /proc/PID/task. */
static bool synthesize_thread(struct pf_walker *walker, struct process *process, int tasks, const char *name)
{
    char path[64], comm[64], *end;
    long tid = strtol(name, &end, 10);
    if (*end || tid <= 0 || tid > INT32_MAX || tid == process->pid)
        return true;
    if (!pf_path(path, sizeof(path), "%ld/comm", tid))
        return true;
    ssize_t bytes = pf_read_at(tasks, path, comm, sizeof(comm));
    if (bytes < 0)
        return true; /* it has ended */
    if (bytes && comm[bytes - 1] == '\n')
        comm[bytes - 1] = 0;
    if (!put_thread(walker, process, (int32_t)tid, comm))
        return false;
    if (process->state == 'Z') { /* the first thread has ended, and its mappings went with it */
        process->state = 'S';
        synthesize_maps(walker, process, (int32_t)tid);
    }
    return true;
}

/* An entry as getdents64 gives it. */
struct entry {
    uint64_t inode;
    int64_t next;
    uint16_t bytes;
    uint8_t type;
    char name[];
};

static void synthesize_threads(struct pf_walker *walker, struct process *process)
{
    bool go_on = true;
    int tasks = openat(process->folder, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (tasks < 0)
        return;
    for (long got; go_on && (got = syscall(SYS_getdents64, tasks, walker->entries, sizeof(walker->entries))) > 0;)
        for (long at = 0; at < got && go_on;) {
            const struct entry *entry = (const struct entry *)(const void *)(walker->entries + at);
            at += entry->bytes;
            if (entry->name[0] >= '0' && entry->name[0] <= '9')
                go_on = synthesize_thread(walker, process, tasks, entry->name);
        }
    close(tasks);
}

/* Whether it has no mappings any more: records of it would replace those that readers have. */
static bool has_ended(struct pf_walker *walker, const struct process *process)
{
    errno = 0;
    return !(process->flags & KERNEL_THREAD) &&
           pf_read_at(process->folder, "maps", walker->file, sizeof(walker->file)) <= 0 && errno != EACCES &&
           errno != EPERM;
}

void pf_process_synthesize(struct pf_walker *walker, int32_t pid)
{
    char path[32];
    struct process process = {.pid = pid};
    snprintf(path, sizeof(path), "%d", pid);
    process.folder = openat(walker->walk->proc, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (process.folder < 0)
        return;
    if (pf_read_at(process.folder, "stat", walker->file, sizeof(walker->file)) > 0 &&
        parse_stat(walker->file, &process) && !(walker->walk->options->again && has_ended(walker, &process)) &&
        put_thread(walker, &process, pid, process.comm)) {
        bool has_maps = !(process.flags & KERNEL_THREAD);
        if (has_maps && process.state != 'Z')
            synthesize_maps(walker, &process, pid);
        if (has_maps)
            synthesize_threads(walker, &process);
    }
    close(process.folder);
}
