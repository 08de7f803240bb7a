/* SPDX-License-Identifier: MIT */
/* perf_event_open for each event, processor and thread, without features that this kernel does not have or forbids. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/locale.h"
#include "base/out.h"
#include "format/encode.h"
#include "record/events.h"
#include "record/machine_files.h"
#include "schema/schema.h"

enum {
    ATTR_CAPACITY = 256,
    ATTR_MIN = 112,
    SMALLER_MAX = 400, /* events that are opened once more: descriptors are for the files of programs, too */
};

static const uint64_t DUMPS = PERFILE_SAMPLE_REGS_USER | PERFILE_SAMPLE_STACK_USER;

/* ---- the call ---- */

/* `pid` is a thread, or with PERF_FLAG_PID_CGROUP the descriptor of a control group. */
static int open_one(const struct perfile_attr *attr, int32_t pid, int32_t cpu, int group, unsigned long flags)
{
    uint8_t bytes[ATTR_CAPACITY] = {0};
    struct pf_out o = pf_out_make(bytes, sizeof(bytes), false);
    uint32_t size = ATTR_CAPACITY;
    pf_encode_attr(attr, size, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, &o);
    while (size > ATTR_MIN && !bytes[size - 1])
        size--;
    size = (size + 7) & ~7u; /* an old kernel refuses members that it does not know only when they are set */
    memcpy(bytes + 4, &size, sizeof(size));
    return (int)syscall(SYS_perf_event_open, bytes, pid, cpu, group, flags | PERF_FLAG_FD_CLOEXEC);
}

/* ---- doing without ---- */

/* What kernels learned late, newest first: the first that helps when the call is not understood is left out. */
struct step {
    const char *what;
    const char *since;
    bool (*drop)(struct perfile_attr *attr); /* true: it was there */
};

static bool drop_lost(struct perfile_attr *attr)
{
    const bool there = attr->read_format & PERFILE_FORMAT_LOST;
    attr->read_format &= ~(uint64_t)PERFILE_FORMAT_LOST;
    return there;
}
#define DROP(name)                                                                                                     \
    static bool drop_##name(struct perfile_attr *attr)                                                                 \
    {                                                                                                                  \
        const bool there = attr->name;                                                                                 \
        attr->name = 0;                                                                                                \
        return there;                                                                                                  \
    }
DROP(build_id)
DROP(cgroup)
DROP(bpf_event)
DROP(ksymbol)
DROP(namespaces)
DROP(mmap2)
DROP(exclude_guest)
DROP(precise_ip)

static const struct step steps[] = {
    {"counts of lost samples", "6.0", drop_lost},
    {"build ids of mappings", "5.12", drop_build_id},
    {"control groups", "5.7", drop_cgroup},
    {"BPF programs", "5.1", drop_bpf_event},
    {"names of generated kernel code", "5.1", drop_ksymbol},
    {"namespaces", "4.12", drop_namespaces},
    {"the difference of host and guest", "3.3", drop_exclude_guest},
    {"precise sampling", NULL, drop_precise_ip},
    {"identities of mapped files", "3.16", drop_mmap2},
};

/* Leaves out one more thing; false: there is nothing left to leave out. */
static bool relax(struct pf_event_list *chosen, size_t *next, const struct perfile_recorder_options *options)
{
    for (; *next < PF_COUNT(steps); (*next)++) {
        bool there = false;
        for (size_t i = 0; i < chosen->count; i++)
            there |= steps[*next].drop(&chosen->items[i].attr);
        if (!there)
            continue;
        pf_events_note(options, "recorded without %s: not supported by this kernel or CPU%s%s%s", steps[*next].what,
                       steps[*next].since ? " (Linux has it since " : "", steps[*next].since ? steps[*next].since : "",
                       steps[*next].since ? ")" : "");
        (*next)++;
        return true;
    }
    return false;
}

/* ---- stacks that are unwound while recording ---- */

static bool can_open(const struct perfile_attr *attr)
{
    const int fd = open_one(attr, 0, -1, -1, 0);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* Whether an event that counts nothing can be opened, but not with copies of registers and stacks. */
static bool refuses_dumps(const struct pf_event_list *chosen)
{
    enum { DUMMY = 9 };
    struct perfile_attr attr = {.type = PERFILE_TYPE_SOFTWARE, .config = DUMMY, .exclude_kernel = 1, .exclude_hv = 1};
    if (!chosen->unwinds || !can_open(&attr))
        return false;
    for (size_t i = 0; i < chosen->count; i++) {
        const struct perfile_attr *event = &chosen->items[i].attr;
        attr.sample_type = event->sample_type & DUMPS;
        attr.sample_regs_user = event->sample_regs_user;
        attr.sample_stack_user = event->sample_stack_user;
        if (attr.sample_type && !can_open(&attr))
            return true;
    }
    return false;
}

/* The kernel makes the callchains then. False: it does so anyway. */
static bool leave_dumps_out(struct pf_event_list *chosen)
{
    if (!chosen->unwinds)
        return false;
    for (size_t i = 0; i < chosen->count; i++) {
        struct perfile_attr *attr = &chosen->items[i].attr;
        if (!(attr->sample_type & PERFILE_SAMPLE_STACK_USER))
            continue;
        attr->sample_type &= ~DUMPS;
        attr->sample_regs_user = 0;
        attr->sample_stack_user = 0;
        attr->exclude_callchain_user = 0;
    }
    chosen->unwinds = false;
    return true;
}

static bool leave_kernel_out_of(struct pf_listed_event *event)
{
    if (event->attr.exclude_kernel || event->exclude_is_explicit || event->attr.type == PERFILE_TYPE_TRACEPOINT)
        return false;
    event->attr.exclude_kernel = event->attr.exclude_hv = 1;
    return true;
}

/* "page-faults:u", "cpu/cycles/u": perf calls it so, too. */
static bool name_for_user(struct pf_event_list *chosen, struct pf_listed_event *event)
{
    struct pf_text text;
    if (!event->name)
        return true;
    if (pf_text_open(&text, chosen->allocator, NULL, NULL) < 0)
        return false;
    pf_put_format(&text, "%s%su", event->name, strpbrk(event->name, "/:") ? "" : ":");
    event->name = text.failed ? NULL : pf_arena_text(&chosen->arena, text.data, text.used);
    pf_text_close(&text);
    return event->name != NULL;
}

/*
 * Ordinary users may look at user space only: perf_event_paranoid 2. 1: the kernel is left out; 0: there is nothing to
 * leave out; MEMORY.
 */
static int leave_kernel_out(struct pf_event_list *chosen, const struct perfile_recorder_options *options, bool counting)
{
    bool changed = false;
    for (size_t i = 0; i < chosen->count; i++) {
        const bool now = leave_kernel_out_of(&chosen->items[i]);
        if (now && !name_for_user(chosen, &chosen->items[i]))
            return PERFILE_ERROR_MEMORY;
        changed |= now;
    }
    if (changed)
        pf_events_note(options,
                       "only %s user space: no permission to %s the kernel "
                       "(/proc/sys/kernel/perf_event_paranoid is above 1)",
                       counting ? "counting" : "recording", counting ? "count in" : "record");
    return changed;
}

/* Without a PMU, as in many virtual machines, time is what can be sampled. */
static bool take_clock_instead(struct pf_listed_event *event, const struct perfile_recorder_options *options)
{
    if (event->attr.type != PERFILE_TYPE_HARDWARE || event->attr.config != 0 || event->leader != 0)
        return false;
    pf_events_note(options,
                   "cpu-clock is recorded instead of %s, which this machine cannot count (no PMU: a virtual "
                   "machine?)",
                   event->name);
    event->attr.type = PERFILE_TYPE_SOFTWARE;
    event->attr.precise_ip = 0;
    event->name = event->attr.exclude_kernel == event->attr.exclude_user ? "cpu-clock"
                  : event->attr.exclude_kernel                           ? "cpu-clock:u"
                                                                         : "cpu-clock:k";
    return true;
}

/* The event that only tracks needs as many descriptors as any other: the first one can do it, but starts later. */
static bool track_with_first(struct pf_event_list *chosen, const struct perfile_recorder_options *options)
{
    if (!chosen->tracking || chosen->overwrite || options->flags & PERFILE_RECORDER_TRACK)
        return false;
    const struct perfile_attr *from = &chosen->items[chosen->tracking].attr;
    struct perfile_attr *to = &chosen->items[0].attr;
#define MOVE(flag) to->flag = from->flag
    MOVE(mmap), MOVE(mmap2), MOVE(mmap_data), MOVE(comm), MOVE(comm_exec), MOVE(task), MOVE(build_id);
    MOVE(ksymbol), MOVE(bpf_event), MOVE(namespaces), MOVE(cgroup), MOVE(context_switch);
#undef MOVE
    chosen->count = chosen->tracking;
    chosen->tracking = 0;
    pf_events_note(
        options, "few file descriptors are left (ulimit -n): processes that are started while the recorder starts may "
                 "have no names");
    return true;
}

/* As many descriptors as the administrator allows. */
static bool raise_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= limit.rlim_max)
        return false;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

/* ---- why not ---- */

static int paranoid(void)
{
    char text[16];
    return pf_read_line(AT_FDCWD, "/proc/sys/kernel/perf_event_paranoid", text, sizeof(text)) ? atoi(text) : 0;
}

/* The highest perf_event_paranoid that lets an ordinary user do it. */
static int paranoid_needed(const struct pf_listed_event *event, const struct pf_target *target)
{
    if (event->attr.type == PERFILE_TYPE_TRACEPOINT && event->attr.sample_type & PERFILE_SAMPLE_RAW)
        return -1;
    return target->everybody ? 0 : event->attr.exclude_kernel ? 2 : 1;
}

static int explain_refusal(const struct pf_listed_event *event, const struct pf_target *target, const char *name,
                           struct perfile_error *error)
{
    const char *what = event->attr.sample_period_or_freq ? "recording" : "counting";
    const char *subject = target->everybody ? "everything that runs" : "this";
    const int level = paranoid(), needed = paranoid_needed(event, target);
    if (event->attr.namespaces && geteuid() != 0)
        return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, name,
                       "recording namespaces needs root or CAP_PERFMON");
    if (target->tids[0] > 0 && kill(target->tids[0], 0) < 0 && errno == EPERM)
        return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, name,
                       "process %d is another user's: run as that user, as root or with CAP_PERFMON and CAP_SYS_PTRACE",
                       target->tids[0]);
    if (geteuid() == 0 || level <= needed)
        return pf_fail(
            error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, name,
            "%s %s is not allowed here, although this user may (/proc/sys/kernel/perf_event_paranoid is %d): a "
            "container or a security policy forbids it (in Docker the capability PERFMON is missing)",
            what, subject, level);
    return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, name,
                   "%s %s is not allowed for this user: run as root, with CAP_PERFMON, or lower "
                   "/proc/sys/kernel/perf_event_paranoid (now %d) to %d",
                   what, subject, level, needed);
}

static int explain(const struct pf_listed_event *event, const struct pf_target *target, int why,
                   struct perfile_error *error)
{
    const char *name = event->name ? event->name : "event";
    switch (why) {
    case EACCES:
    case EPERM:
        return explain_refusal(event, target, name, error);
    case EMFILE:
        return pf_fail(
            error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, name,
            "too many descriptors are needed: raise the limit (ulimit -n), or record fewer events, threads or "
            "processors");
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        if (event->attr.sample_type & PERFILE_SAMPLE_BRANCH_STACK)
            return pf_fail(
                error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, name,
                "its samples cannot have taken branches (branches, or callchains by lbr) here: that needs an "
                "event of a PMU that records branches");
        return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, name,
                       event->attr.type == PERFILE_TYPE_SOFTWARE || event->attr.type == PERFILE_TYPE_TRACEPOINT
                           ? "this kernel does not have it"
                           : "this machine cannot count it (no PMU: a virtual machine?); cpu-clock and other software "
                             "events work everywhere");
    case EBUSY:
        return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, name, "the PMU is in use by another program");
    case EINVAL:
        return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, name,
                       "this kernel does not take it with these options");
    case EOVERFLOW:
        return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, name,
                       "callchains may not be so long: /proc/sys/kernel/perf_event_max_stack");
    case ESRCH:
        return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, name, "the process to record has ended");
    default:
        return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, name, "%s", pf_error_text(why));
    }
}

/* ---- all of them ---- */

static int fd_of_leader(const struct pf_opened_set *opened, const struct pf_event_list *chosen,
                        const struct pf_target *target, const struct pf_opened *wanted)
{
    const uint32_t leader = chosen->items[wanted->event].leader;
    if (leader == wanted->event)
        return -1;
    return opened->items[((size_t)leader * target->cpu_count + wanted->cpu) * target->tid_count + wanted->tid].fd;
}

/* A thread that has ended, or a processor that went offline and that was not asked for, is left out. */
static bool is_gone(const struct pf_target *target, int32_t cpu, int why)
{
    const bool asked = target->some_cpus && pf_list_holds(target->sampled_cpus, cpu);
    return why == ENODEV ? !asked : why == ESRCH && !target->everybody;
}

/* Whether the event is opened on that processor; -1: wherever its thread runs. */
static bool counts_on(const struct pf_event_list *chosen, const struct pf_target *target, uint32_t event, int32_t cpu)
{
    const bool tracks = chosen->tracking && event == chosen->tracking;
    return cpu < 0 ||
           (pf_list_holds(chosen->items[event].cpus, cpu) && (tracks || pf_list_holds(target->sampled_cpus, cpu)));
}

/* One event everywhere; errno when it cannot be opened, or nowhere because all that it is for is gone. */
static int open_event(struct pf_opened_set *opened, const struct pf_event_list *chosen, const struct pf_target *target,
                      uint32_t event)
{
    const struct pf_listed_event *one = &chosen->items[event];
    const struct pf_cgroup *cgroup = one->cgroup ? &chosen->cgroups[one->cgroup - 1] : NULL;
    size_t alive = 0;
    int gone = 0;
    for (uint32_t cpu = 0; cpu < target->cpu_count; cpu++)
        for (uint32_t tid = 0; tid < target->tid_count; tid++) {
            struct pf_opened *position = &opened->items[opened->count++];
            *position = (struct pf_opened){.fd = -1, .event = event, .cpu = cpu, .tid = tid};
            if (!counts_on(chosen, target, event, target->cpus[cpu]))
                continue;
            position->fd = open_one(&one->attr, cgroup ? cgroup->fd : target->tids[tid], target->cpus[cpu],
                                    fd_of_leader(opened, chosen, target, position), cgroup ? PERF_FLAG_PID_CGROUP : 0);
            if (position->fd < 0 && !is_gone(target, target->cpus[cpu], errno))
                return errno;
            gone = position->fd < 0 ? errno : gone;
            alive += position->fd >= 0;
        }
    return alive ? 0 : gone;
}

/* errno of the first that cannot be opened, and which event it is. */
static int open_all(struct pf_opened_set *opened, const struct pf_event_list *chosen, const struct pf_target *target,
                    uint32_t *event)
{
    opened->count = 0;
    for (*event = 0; *event < chosen->count; (*event)++) {
        const int why = open_event(opened, chosen, target, *event);
        if (why)
            return why;
    }
    *event = 0;
    for (size_t i = 0; i < opened->count; i++)
        if (opened->items[i].fd >= 0)
            return 0;
    return ESRCH;
}

static void close_all(struct pf_opened_set *opened)
{
    for (size_t i = 0; i < opened->count; i++)
        if (opened->items[i].fd >= 0)
            close(opened->items[i].fd);
    opened->count = 0;
}

void pf_events_close(struct pf_opened_set *opened)
{
    close_all(opened);
    pf_free(opened->allocator, opened->items, opened->capacity * sizeof(*opened->items));
    opened->items = NULL;
}

/* :P: as precise as it goes. */
static bool less_precise(struct pf_listed_event *event)
{
    if (!event->precise_max || !event->attr.precise_ip)
        return false;
    event->attr.precise_ip--;
    return true;
}

/* 1: it is worth another try; 0; MEMORY. */
static int adapt(struct pf_event_list *chosen, uint32_t event, int why, const struct perfile_recorder_options *options,
                 size_t *step)
{
    switch (why) {
    case EMFILE:
        return raise_limit() || track_with_first(chosen, options);
    case EACCES:
    case EPERM:
        /* of everything that runs user space is as forbidden */
        return options->flags & PERFILE_RECORDER_ALL_CPUS ? 0 : leave_kernel_out(chosen, options, false);
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        return less_precise(&chosen->items[event]) || take_clock_instead(&chosen->items[event], options);
    case EINVAL:
        return less_precise(&chosen->items[event]) || relax(chosen, step, options);
    default:
        return false;
    }
}

static int finish_one(struct pf_opened *one, const struct pf_listed_event *event, struct perfile_error *error)
{
    if (ioctl(one->fd, PERF_EVENT_IOC_ID, &one->id) < 0)
        return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, event->name, "%s", pf_error_text(errno));
    if (event->filter && ioctl(one->fd, PERF_EVENT_IOC_SET_FILTER, event->filter) < 0)
        return pf_about(error, event->filter, strlen(event->filter),
                        pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, event->name,
                                "the kernel does not take the filter \"%.80s\": %s", event->filter,
                                pf_error_text(errno)));
    return 0;
}

static int finish_opening(struct pf_opened_set *opened, const struct pf_event_list *chosen, struct perfile_error *error)
{
    int result = 0;
    for (size_t i = 0; i < opened->count && result == 0; i++)
        if (opened->items[i].fd >= 0)
            result = finish_one(&opened->items[i], &chosen->items[opened->items[i].event], error);
    return result;
}

/* Groups have one size: their counts go on only while they are not exchanged. */
static bool may_be_smaller(const struct pf_event_list *chosen, uint32_t event, uint32_t stack_bytes)
{
    const struct pf_listed_event *one = &chosen->items[event];
    if (!one->stack_is_usual || one->attr.sample_stack_user <= stack_bytes ||
        one->attr.sample_type & PERFILE_SAMPLE_READ)
        return false;
    for (uint32_t i = 0; i < chosen->count; i++)
        if ((i == event) != (chosen->items[i].leader == event))
            return false;
    return true;
}

static bool open_smaller(struct pf_opened_set *opened, size_t index, const struct pf_event_list *chosen,
                         const struct pf_target *target, uint32_t stack_bytes)
{
    const struct pf_opened larger = opened->items[index];
    const struct pf_listed_event *event = &chosen->items[larger.event];
    const struct pf_cgroup *cgroup = event->cgroup ? &chosen->cgroups[event->cgroup - 1] : NULL;
    struct pf_opened *made = &opened->items[opened->count];
    struct perfile_attr attr = event->attr;
    attr.sample_stack_user = stack_bytes;
    attr.disabled = 1;
    attr.enable_on_exec = 0;
    *made = larger;
    made->other = index + 1;
    made->is_idle = true;
    made->fd = open_one(&attr, cgroup ? cgroup->fd : target->tids[larger.tid], target->cpus[larger.cpu], -1,
                        cgroup ? PERF_FLAG_PID_CGROUP : 0);
    opened->count += made->fd >= 0;
    return made->fd >= 0 && ioctl(made->fd, PERF_EVENT_IOC_SET_OUTPUT, larger.fd) == 0 &&
           finish_one(made, event, NULL) == 0;
}

bool pf_events_open_smaller(struct pf_opened_set *opened, const struct pf_event_list *chosen,
                            const struct pf_target *target, uint32_t stack_bytes)
{
    const size_t before = opened->count;
    bool done = before <= SMALLER_MAX &&
                pf_grow(opened->allocator, &opened->items, &opened->capacity, 2 * before, sizeof(*opened->items));
    for (size_t i = 0; i < before && done; i++)
        if (opened->items[i].fd >= 0 && may_be_smaller(chosen, opened->items[i].event, stack_bytes))
            done = open_smaller(opened, i, chosen, target, stack_bytes);
    while (!done && opened->count > before)
        close(opened->items[--opened->count].fd);
    return opened->count > before;
}

/*
 * The kernel refuses higher rates, and lowers its limit by itself when interrupts take long; perf goes down to it, too.
 */
static void limit_frequency(struct pf_event_list *chosen, const struct perfile_recorder_options *options)
{
    uint64_t max, asked = 0;
    if (!pf_read_number(AT_FDCWD, "/proc/sys/kernel/perf_event_max_sample_rate", 10, &max) || !max)
        return;
    for (size_t i = 0; i < chosen->count; i++) {
        struct pf_listed_event *event = &chosen->items[i];
        if (!event->attr.freq || event->attr.sample_period_or_freq <= max)
            continue;
        if (event->frequency || options->frequency)
            asked = pf_max(asked, event->attr.sample_period_or_freq);
        event->attr.sample_period_or_freq = max;
    }
    if (asked)
        pf_events_note(options,
                       "%llu samples a second, not %llu: /proc/sys/kernel/perf_event_max_sample_rate allows no more",
                       (unsigned long long)max, (unsigned long long)asked);
}

int pf_events_open(struct pf_opened_set *opened, struct pf_event_list *chosen, const struct pf_target *target,
                   const struct perfile_recorder_options *options, struct perfile_error *error)
{
    const size_t wanted = chosen->count * target->cpu_count * target->tid_count;
    uint32_t event;
    size_t step = 0;
    const bool unwound = chosen->unwinds;
    *opened = (struct pf_opened_set){.allocator = pf_allocator_or_default(options->allocator)};
    if (!pf_grow(opened->allocator, &opened->items, &opened->capacity, wanted, sizeof(*opened->items)))
        return pf_fail_memory(error, "events");
    limit_frequency(chosen, options);
    for (;;) {
        int why = open_all(opened, chosen, target, &event);
        if (why == 0 && unwound && !chosen->unwinds)
            pf_events_note(options, "callchains by frame pointers (call graph fp), not auto: copies of registers and "
                                    "stacks are refused here");
        if (why == 0)
            return finish_opening(opened, chosen, error);
        close_all(opened);
        int again = refuses_dumps(chosen) && leave_dumps_out(chosen);
        if (!again)
            again = adapt(chosen, event, why, options, &step);
        if (again < 0)
            return pf_fail_memory(error, "events");
        if (!again && !leave_dumps_out(chosen))
            return explain(&chosen->items[event], target, why, error);
    }
}

/* ---- counters ---- */

static bool needs_pmu(const struct pf_listed_event *event)
{
    return event->attr.type == PERFILE_TYPE_HARDWARE || event->attr.type == PERFILE_TYPE_HW_CACHE ||
           event->attr.type == PERFILE_TYPE_RAW;
}

/* In another control group. */
static bool is_again(const struct pf_event_list *chosen, size_t index)
{
    const char *name = chosen->items[index].name;
    for (size_t i = 0; i < index && name; i++)
        if (chosen->items[i].name && !strcmp(chosen->items[i].name, name))
            return true;
    return false;
}

/* Which events have no counters, and why; those that need a PMU and the others apart. */
static int report_missing(const struct pf_opened_set *opened, const struct pf_event_list *chosen, size_t positions,
                          bool of_pmu, const struct perfile_recorder_options *options)
{
    struct pf_text names;
    size_t count = 0;
    if (pf_text_open(&names, opened->allocator, NULL, NULL) < 0)
        return PERFILE_ERROR_MEMORY;
    for (size_t i = 0; i < chosen->count; i++) {
        bool is_counted = false;
        for (size_t k = 0; k < positions; k++)
            is_counted |= opened->items[i * positions + k].fd >= 0;
        if (!is_counted && needs_pmu(&chosen->items[i]) == of_pmu && !is_again(chosen, i))
            pf_put_format(&names, "%s%s", count++ ? ", " : "", chosen->items[i].name ? chosen->items[i].name : "event");
    }
    pf_put_char(&names, 0);
    const bool failed = names.failed;
    if (count && !failed)
        pf_events_note(options, "not counted: %s: %s", names.data,
                       of_pmu ? "this machine cannot (no PMU: a virtual machine?)" : "this kernel cannot");
    pf_text_close(&names);
    return failed ? PERFILE_ERROR_MEMORY : 0;
}

/* What may help after `why`: 1: the event is to be tried again; 0; MEMORY. */
static int try_otherwise(struct pf_event_list *chosen, const struct pf_target *target, int why,
                         const struct perfile_recorder_options *options)
{
    if (why == EMFILE)
        return raise_limit();
    return (why == EACCES || why == EPERM) && !target->everybody ? leave_kernel_out(chosen, options, true) : 0;
}

/* That the event is not there, as on a machine without a PMU: others can be counted for all that. */
static bool is_missing(int why)
{
    return why == ENOENT || why == ENODEV || why == ENXIO || why == EOPNOTSUPP || why == ENOSYS || why == EINVAL;
}

/* Of an event that cannot be opened everywhere nothing stays. */
static void discard(struct pf_opened_set *opened, size_t first, size_t count, uint32_t event)
{
    for (size_t i = first; i < opened->count; i++)
        if (opened->items[i].fd >= 0)
            close(opened->items[i].fd);
    for (size_t i = 0; i < count; i++)
        opened->items[first + i] = (struct pf_opened){.fd = -1, .event = event};
    opened->count = first + count;
}

int pf_events_open_counters(struct pf_opened_set *opened, struct pf_event_list *chosen, const struct pf_target *target,
                            const struct perfile_recorder_options *options, struct perfile_error *error)
{
    const size_t positions = target->cpu_count * target->tid_count;
    size_t first = 0, alive = 0;
    uint32_t failed = 0;
    int why = 0;
    *opened = (struct pf_opened_set){.allocator = pf_allocator_or_default(options->allocator)};
    if (!pf_grow(opened->allocator, &opened->items, &opened->capacity, chosen->count * positions,
                 sizeof(*opened->items)))
        return pf_fail_memory(error, "events");
    for (uint32_t event = 0; event < chosen->count;) {
        const int now = open_event(opened, chosen, target, event);
        if (now)
            discard(opened, first, positions, event);
        const int again = now ? try_otherwise(chosen, target, now, options) : 0;
        if (again < 0)
            return pf_fail_memory(error, "events");
        if (again) {
            opened->count = first;
            continue;
        }
        if (now && !is_missing(now))
            return explain(&chosen->items[event], target, now, error);
        failed = now ? event : failed;
        why = now ? now : why;
        alive += !now;
        first += positions;
        event++;
    }
    if (!alive)
        return explain(&chosen->items[failed], target, why, error);
    if (report_missing(opened, chosen, positions, true, options) < 0 ||
        report_missing(opened, chosen, positions, false, options) < 0)
        return pf_fail_memory(error, "events");
    return finish_opening(opened, chosen, error);
}
