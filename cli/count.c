/* SPDX-License-Identifier: MIT */
#include "count.h"
#include "array.h"
#include "litter.h"
#include "message.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

static const struct pf_stat_settings *own(const struct pf_settings *settings)
{
    return settings->own;
}

enum { NS_PER_MS = 1000000, LOOK_MS = 100 };

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int failure(struct pf_count *count, int result)
{
    return pf_workload_failure("stat", result, &count->error);
}

/* ---- starting ---------------------------------------------------------------------------------------------------- */

static int keep(void *context, const void *data, size_t bytes)
{
    struct pf_count *count = context;

    if (!pf_array_grow(&count->data, &count->capacity, count->used + bytes, 1))
        return -1;
    memcpy(count->data + count->used, data, bytes);
    count->used += bytes;
    return 0;
}

static int open_writer(struct pf_count *count, const char *path)
{
    const struct perfile_sink sink = {count, keep};
    struct perfile_writer_options options = PERFILE_WRITER_OPTIONS_INIT;

    options.mode = path && strcmp(path, "-") != 0 ? PERFILE_MODE_FILE : PERFILE_MODE_PIPE;
    options.live = options.mode == PERFILE_MODE_FILE; /* what was counted by then is there whatever happens */
    if (path)
        pf_litter_sweep(path);
    return path ? perfile_writer_open_path(path, &options, &count->writer, &count->error)
                : perfile_writer_open_sink(&sink, &options, &count->writer, &count->error);
}

static int open_counter(struct pf_count *count)
{
    const struct pf_stat_settings *stat = own(count->settings);
    struct perfile_counter_options options = PERFILE_COUNTER_OPTIONS_INIT;

    options.what = &count->what;
    options.per = count->settings->stat.per;
    options.interval_ms = stat->interval_ms;
    options.unscaled = stat->unscaled;
    options.detail = stat->detail;
    options.cgroups = stat->cgroups;
    options.for_each_cgroup = stat->for_each_cgroup;
    return perfile_counter_open(&options, count->writer, &count->counter, &count->error);
}

/* The command is there, held back, when its counters are opened. */
static int prepare_command(struct pf_count *count)
{
    int status;

    if (!count->settings->operand_count)
        return PF_STATUS_OK;
    if ((status = pf_workload_prepare(&count->workload, count->settings->operands, false, &count->mask)))
        return status;
    snprintf(count->pid, sizeof(count->pid), "%d", (int)count->workload.pid);
    if (!count->targets) {
        count->what.tids = count->pid;
        if (!own(count->settings)->delay_ms && !own(count->settings)->start_disabled)
            count->what.flags |= PERFILE_RECORDER_ENABLE_ON_EXEC;
    }
    return PF_STATUS_OK;
}

/* Its time begins now. */
static int enable(struct pf_count *count)
{
    const struct pf_stat_settings *stat = own(count->settings);

    if (!(count->what.flags & PERFILE_RECORDER_ENABLE_ON_EXEC) && !stat->start_disabled &&
        (count->failed = perfile_counter_enable(count->counter, &count->error)) < 0)
        return failure(count, count->failed);
    count->enable_ns = 0;
    count->start_ns = now_ns();
    count->next_ns = stat->interval_ms ? count->start_ns + (int64_t)stat->interval_ms * NS_PER_MS : 0;
    count->end_ns = stat->timeout_ms ? count->start_ns + (int64_t)stat->timeout_ms * NS_PER_MS : 0;
    return PF_STATUS_OK;
}

int pf_count_start(struct pf_count *count, const struct pf_settings *settings, struct pf_control *control,
                   const char *path)
{
    const struct perfile_recorder_options *what = &settings->record.options;
    int result, status;

    *count = PF_COUNT_INIT;
    count->settings = settings;
    count->control = control;
    count->what = *what;
    count->targets = what->pids || what->tids || what->user || what->cpus || what->flags & PERFILE_RECORDER_ALL_CPUS;
    sigprocmask(SIG_BLOCK, NULL, &count->mask);
    if ((status = prepare_command(count)) || (status = pf_workload_signals("stat", false, &count->signals)))
        return status;
    if ((result = open_writer(count, path)) < 0 || (result = open_counter(count)) < 0) {
        if (pf_called_perf())
            pf_message("stat: No supported events found."); /* perf's words, which scripts look for */
        return failure(count, result);
    }
    getrusage(RUSAGE_CHILDREN, &count->before);
    if (own(settings)->delay_ms) {
        count->enable_ns = now_ns() + (int64_t)own(settings)->delay_ms * NS_PER_MS;
        count->start_ns = count->enable_ns;
    } else if ((status = enable(count))) {
        return status;
    }
    if (count->workload.pid && (status = pf_workload_start(&count->workload)))
        return status;
    result = path && strcmp(path, "-") != 0 ? perfile_writer_publish(count->writer, &count->error) : 0;
    return result < 0 ? failure(count, result) : PF_STATUS_OK;
}

/* ---- counting ---------------------------------------------------------------------------------------------------- */

static void read_signals(struct pf_count *count)
{
    struct signalfd_siginfo info;

    while (read(count->signals, &info, sizeof(info)) == sizeof(info))
        if (info.ssi_signo != SIGCHLD && !count->signal)
            count->signal = (int)info.ssi_signo;
}

/* Whether all processes or threads that --pid or --tid named have ended. */
static bool are_gone(const struct pf_count *count)
{
    const char *list = count->what.pids ? count->what.pids : count->what.tids;

    if (!list || count->workload.pid)
        return false;
    while (*list) {
        char *end;
        const long pid = strtol(list, &end, 10);
        if (end == list || pid <= 0 || kill((pid_t)pid, 0) == 0 || errno != ESRCH)
            return false;
        list = end + (*end == ',');
    }
    return true;
}

/* How long nothing is due, in ms; at most what it takes to see that a process has ended. */
static int wait_ms(const struct pf_count *count)
{
    const int64_t times[] = {count->next_ns, count->end_ns, count->enable_ns}, now = now_ns();
    int64_t wait = count->workload.pid ? INT32_MAX : (int64_t)LOOK_MS;

    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        const int64_t left = (times[i] - now + NS_PER_MS - 1) / NS_PER_MS;
        if (times[i] && left < wait)
            wait = left;
    }
    return wait < 0 ? 0 : (int)wait;
}

/* Writes the counts so far to the recording. */
static void write_round(struct pf_count *count, bool last)
{
    const int64_t since = now_ns() - count->start_ns;

    count->failed = perfile_counter_write(count->counter, since > 0 ? (uint64_t)since : 0, last, &count->error);
    if (count->failed == 0)
        count->failed = last ? perfile_writer_finish(count->writer, &count->error)
                             : perfile_writer_flush(count->writer, &count->error);
    count->intervals++;
    count->ended = last || count->failed < 0;
}

/* Runs a command of --control; true when it is to be answered. */
static bool obey(void *context, const char *command)
{
    struct pf_count *count = context;
    int result = 0;

    if (!strcmp(command, "enable")) {
        count->enable_ns = 0; /* do not enable again after the delay */
        result = perfile_counter_enable(count->counter, &count->error);
    } else if (!strcmp(command, "disable")) {
        result = perfile_counter_disable(count->counter, &count->error);
    } else if (!strcmp(command, "stop")) {
        count->stop_wanted = true;
    } else if (strcmp(command, "ping") != 0) {
        pf_message("stat: unknown control command \"%s\" (valid: enable, disable, ping, stop)", command);
        return false;
    }
    if (result < 0)
        pf_message("stat: %s: %s", command, count->error.message);
    return result == 0;
}

/* Waits until there is more to read, or counting has ended. */
static void advance(struct pf_count *count)
{
    const uint64_t max = own(count->settings)->interval_count, before = count->intervals;

    while (!count->ended && count->intervals == before) {
        struct pollfd fds[] = {{.fd = count->signals, .events = POLLIN}, {.fd = count->control->fd, .events = POLLIN}};
        poll(fds, 2, wait_ms(count));
        read_signals(count);
        pf_control_read(count->control, obey, count);
        if (count->enable_ns && now_ns() >= count->enable_ns && enable(count))
            count->ended = true;
        const bool over = count->signal || count->stop_wanted || (count->end_ns && now_ns() >= count->end_ns) ||
                          (count->workload.pid && pf_workload_ended(&count->workload)) || are_gone(count);
        const bool due = count->next_ns && now_ns() >= count->next_ns;
        if (over || due)
            write_round(count, over || (due && max && count->intervals + 1 == max));
        if (due)
            count->next_ns += (int64_t)own(count->settings)->interval_ms * NS_PER_MS;
    }
}

int pf_count_wait(struct pf_count *count)
{
    while (!count->ended)
        advance(count);
    return count->failed < 0 ? failure(count, count->failed) : PF_STATUS_OK;
}

int64_t pf_count_read(void *context, void *to, size_t bytes)
{
    struct pf_count *count = context;

    while (count->read == count->used && !count->ended) {
        count->read = count->used = 0;
        advance(count);
    }
    const size_t left = count->used - count->read, copied = left < bytes ? left : bytes;
    if (copied)
        memcpy(to, count->data + count->read, copied);
    count->read += copied;
    return (int64_t)copied;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* Ending the counting of a command ends the command, too. */
void pf_count_end(struct pf_count *count)
{
    struct pollfd signals = {.fd = count->signals, .events = POLLIN};

    while (count->workload.pid && !pf_workload_ended(&count->workload)) {
        kill(count->workload.pid, SIGTERM);
        poll(&signals, 1, LOOK_MS);
        read_signals(count);
    }
}

int pf_count_status(struct pf_count *count)
{
    if (count->failed < 0)
        return failure(count, count->failed);
    pf_count_end(count);
    return count->workload.pid ? pf_workload_status(&count->workload) : PF_STATUS_OK;
}

void pf_count_close(struct pf_count *count)
{
    perfile_counter_close(count->counter);
    perfile_writer_close(count->writer);
    pf_workload_close(&count->workload);
    if (count->signals >= 0)
        close(count->signals);
    free(count->data);
    *count = PF_COUNT_INIT;
}
