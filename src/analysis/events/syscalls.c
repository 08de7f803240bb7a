/* SPDX-License-Identifier: MIT */
#include "analysis/events/syscalls.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/events/advice.h"
#include "analysis/trace/trace_format.h"
#include "base/bytes.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/locale.h"

enum required {
#define PF_SYSCALLS(id, ...) id,
#include "analysis/events/events.def"
};
static const struct pf_required_event required[] = {
#define PF_SYSCALLS PF_REQUIRED_EVENT
#include "analysis/events/events.def"
};
const struct pf_required_events pf_syscalls_events = {required, PF_COUNT(required)};

/* How the data of an event is read. */
struct binding {
    enum pf_syscall_step step; /* NOTHING: not one of these events */
    const struct perfile_tracepoint_field *number, *result;
    const struct perfile_tracepoint_field *list; /* raw_syscalls: all arguments in one array */
    const struct perfile_tracepoint_field *arguments[PF_SYSCALL_ARGUMENTS];
    const struct perfile_tracepoint_field *texts[PF_SYSCALL_ARGUMENTS]; /* what they point at */
    const struct pf_syscall *named;                                     /* by the tracepoint's name */
};

static const struct binding unbound;

void pf_syscalls_open(struct pf_syscalls *syscalls, struct pf_delivery *delivery, struct perfile_reader *reader,
                      const struct perfile_allocator *allocator)
{
    *syscalls = (struct pf_syscalls){.reader = reader, .allocator = allocator, .delivery = delivery};
    pf_arena_open(&syscalls->arena, allocator);
    pf_map_open(&syscalls->bound, allocator);
    pf_map_open(&syscalls->tids, allocator);
    pf_map_open(&syscalls->widths, allocator);
    pf_event_losses_open(&syscalls->losses, allocator);
    pf_map_open(&syscalls->texts, allocator);
    pf_map_open(&syscalls->files, allocator);
    pf_map_open(&syscalls->not_of, allocator);
}

/* "1,2"; false: there is something else in it, or no memory (*is_short). */
static bool read_processes(struct pf_syscalls *syscalls, const char *list, bool *is_short)
{
    for (*is_short = false; *list; list += *list == ',') {
        const size_t digits = strspn(list, "0123456789");
        uint64_t pid = 0;
        for (size_t i = 0; i < digits; i++)
            pid = pid * 10 + (uint64_t)(list[i] - '0');
        if (!digits || digits > 10 || (list[digits] && list[digits] != ','))
            return false;
        if (!pf_map_put(&syscalls->not_of, (uint32_t)pid, 0)) {
            *is_short = true;
            return false;
        }
        list += digits;
    }
    return true;
}

int pf_syscalls_choose(struct pf_syscalls *syscalls, const struct perfile_event_options *options,
                       struct perfile_error *error)
{
    bool is_short;
    syscalls->wanted = options->calls;
    syscalls->is_cut = options->flags & PERFILE_EVENTS_CUT;
    if (!options->not_pids || read_processes(syscalls, options->not_pids, &is_short))
        return 0;
    if (is_short)
        return pf_fail_memory(error, "system calls");
    return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "not_pids",
                   "invalid list of processes '%.40s'; valid: numbers with commas", options->not_pids);
}

void pf_syscalls_close(struct pf_syscalls *syscalls)
{
    if (!syscalls->reader)
        return;
    pf_free(syscalls->allocator, syscalls->threads, syscalls->thread_capacity * sizeof(*syscalls->threads));
    pf_map_close(&syscalls->bound);
    pf_map_close(&syscalls->tids);
    pf_map_close(&syscalls->widths);
    pf_event_losses_close(&syscalls->losses);
    pf_map_close(&syscalls->texts);
    pf_map_close(&syscalls->files);
    pf_map_close(&syscalls->not_of);
    pf_arena_close(&syscalls->arena);
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static bool has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static enum pf_syscall_step step_of(const struct perfile_tracepoint *tracepoint)
{
    if (strcmp(tracepoint->system, "raw_syscalls") != 0 && strcmp(tracepoint->system, "syscalls") != 0)
        return PF_SYSCALL_NOTHING;
    return has_prefix(tracepoint->name, "sys_enter")  ? PF_SYSCALL_ENTERED
           : has_prefix(tracepoint->name, "sys_exit") ? PF_SYSCALL_LEFT
                                                      : PF_SYSCALL_NOTHING;
}

/*
 * Binds the fields after the number, in the order of the call. Newer kernels add what a pointer points at, as
 * __NAME_val.
 */
static void bind_arguments(struct binding *binding, const struct perfile_tracepoint *tracepoint)
{
    char text[128];
    size_t count = 0;
    for (size_t i = 0; i < tracepoint->field_count && count < PF_SYSCALL_ARGUMENTS; i++) {
        const struct perfile_tracepoint_field *field = &tracepoint->fields[i];
        if (field->is_common || has_prefix(field->name, "__") || field == binding->number || field->is_dynamic)
            continue;
        snprintf(text, sizeof(text), "__%s_val", field->name);
        binding->texts[count] = pf_trace_field(tracepoint, text);
        binding->arguments[count++] = field;
    }
}

/* "newstat" of a tracepoint is the call stat, which the number says, too. */
static const struct pf_syscall *name_of(const struct perfile_tracepoint *tracepoint, enum pf_syscall_step step)
{
    const char *name = tracepoint->name + strlen(step == PF_SYSCALL_ENTERED ? "sys_enter" : "sys_exit");
    return *name == '_' ? pf_syscall_named(name + 1) : NULL;
}

static void bind_fields(struct binding *binding, const struct perfile_tracepoint *tracepoint)
{
    const struct perfile_tracepoint_field *number = pf_trace_field(tracepoint, "id");
    const bool raw = strcmp(tracepoint->system, "raw_syscalls") == 0;
    if (!raw) {
        number = pf_trace_field(tracepoint, "__syscall_nr");
        number = number ? number : pf_trace_field(tracepoint, "nr");
        binding->named = name_of(tracepoint, binding->step);
    }
    binding->number = number;
    binding->result = pf_trace_field(tracepoint, "ret");
    if (raw)
        binding->list = pf_trace_field(tracepoint, "args");
    else if (binding->step == PF_SYSCALL_ENTERED)
        bind_arguments(binding, tracepoint);
}

/* Both kinds of events would report each call twice. */
static bool has_raw(struct perfile_reader *reader, enum pf_syscall_step step)
{
    const struct perfile_event *event;
    for (size_t i = 0; (event = perfile_event_get(reader, i)); i++) {
        const struct perfile_tracepoint *tracepoint = perfile_tracepoint_find(reader, event);
        if (tracepoint && strcmp(tracepoint->system, "raw_syscalls") == 0 && step_of(tracepoint) == step)
            return true;
    }
    return false;
}

/* NULL: out of memory. */
static const struct binding *bind(struct pf_syscalls *syscalls, const struct perfile_event *event)
{
    const struct perfile_tracing *tracing;
    uint64_t known;
    if (pf_map_get(&syscalls->bound, event->index, &known))
        return (const struct binding *)(uintptr_t)known;
    if (perfile_tracing_get(syscalls->reader, &tracing, NULL) == PERFILE_ERROR_MEMORY)
        return NULL;
    const struct perfile_tracepoint *tracepoint = perfile_tracepoint_find(syscalls->reader, event);
    if (!tracepoint)
        return &unbound; /* of a stream it may be known later */
    struct binding *made = pf_arena_new(&syscalls->arena, sizeof(*made));
    if (!made || !pf_map_put(&syscalls->bound, event->index, (uintptr_t)made))
        return NULL;
    made->step = step_of(tracepoint);
    if (strcmp(tracepoint->system, "syscalls") == 0 && has_raw(syscalls->reader, made->step))
        made->step = PF_SYSCALL_NOTHING;
    if (made->step)
        bind_fields(made, tracepoint);
    if (!made->number)
        made->step = PF_SYSCALL_NOTHING;
    return made;
}

static uint64_t load_at(const struct pf_syscalls *syscalls, const struct perfile_bytes *raw, uint64_t offset,
                        const struct perfile_tracepoint_field *field, uint32_t bytes)
{
    if (offset > raw->bytes || bytes > raw->bytes - offset)
        return 0;
    return pf_trace_load(raw->data + offset, bytes, field->is_signed, perfile_reader_file(syscalls->reader)->swapped);
}

static uint64_t load(const struct pf_syscalls *syscalls, const struct perfile_bytes *raw,
                     const struct perfile_tracepoint_field *field)
{
    return field ? load_at(syscalls, raw, field->offset, field, field->bytes) : 0;
}

/* The recording has events of system calls, as far as they are known. */
static bool have_syscalls(struct perfile_reader *reader)
{
    const struct perfile_event *event;
    for (size_t i = 0; (event = perfile_event_get(reader, i)); i++) {
        const struct perfile_tracepoint *tracepoint = perfile_tracepoint_find(reader, event);
        if (tracepoint && step_of(tracepoint))
            return true;
    }
    return false;
}

/* ---- threads and processes --------------------------------------------------------------------------------------- */

/* The thread of this id, a new one when there is none; UINT32_MAX: out of memory. */
static uint32_t thread_of(struct pf_syscalls *syscalls, int32_t pid, int32_t tid)
{
    uint64_t known;
    if (pf_map_get(&syscalls->tids, (uint32_t)tid, &known))
        return (uint32_t)known;
    if (syscalls->thread_count >= UINT32_MAX ||
        !pf_grow(syscalls->allocator, &syscalls->threads, &syscalls->thread_capacity, syscalls->thread_count + 1,
                 sizeof(*syscalls->threads)) ||
        !pf_map_put(&syscalls->tids, (uint32_t)tid, syscalls->thread_count))
        return UINT32_MAX;
    syscalls->threads[syscalls->thread_count] = (struct pf_syscall_thread){.pid = pid, .tid = tid};
    return (uint32_t)syscalls->thread_count++;
}

enum { HAS_LOW = 1, HAS_HIGH = 2 };

/*
 * A process without code above 4 GiB has 32-bit calls; [vdso] is above in all others. Stacks say nothing: that of a new
 * program is above until the kernel has moved it.
 */
static bool note_map(struct pf_syscalls *syscalls, int32_t pid, uint64_t start, const char *name)
{
    uint64_t bits = 0;
    const bool of_file = name[0] == '/' && name[1] != '/';
    if (!of_file && strcmp(name, "[vdso]") != 0)
        return true;
    pf_map_get(&syscalls->widths, (uint32_t)pid, &bits);
    return pf_map_put(&syscalls->widths, (uint32_t)pid, bits | (start >> 32 ? HAS_HIGH : HAS_LOW));
}

static bool take_fork(struct pf_syscalls *syscalls, const struct perfile_fork *fork)
{
    uint64_t bits = 0, known;
    if (fork->pid != fork->ppid && pf_map_get(&syscalls->widths, (uint32_t)fork->ppid, &bits) &&
        !pf_map_put(&syscalls->widths, (uint32_t)fork->pid, bits))
        return false;
    if (!pf_map_get(&syscalls->tids, (uint32_t)fork->tid, &known) || !syscalls->threads[known].events)
        return true;
    /* the id was used again */
    return pf_grow(syscalls->allocator, &syscalls->threads, &syscalls->thread_capacity, syscalls->thread_count + 1,
                   sizeof(*syscalls->threads)) &&
           pf_map_put(&syscalls->tids, (uint32_t)fork->tid, syscalls->thread_count) &&
           (syscalls->threads[syscalls->thread_count++] =
                (struct pf_syscall_thread){.pid = fork->pid, .tid = fork->tid},
            true);
}

static bool take_comm(struct pf_syscalls *syscalls, const struct perfile_record *record,
                      const struct perfile_comm *comm)
{
    uint64_t known;
    if (record->misc & PERFILE_MISC_COMM_EXEC && !pf_map_put(&syscalls->widths, (uint32_t)comm->pid, 0))
        return false;
    if (!pf_map_get(&syscalls->tids, (uint32_t)comm->tid, &known))
        return true;
    struct pf_syscall_thread *thread = &syscalls->threads[known];
    thread->comm = pf_map_text(&syscalls->texts, &syscalls->arena, comm->comm, strlen(comm->comm));
    return thread->comm;
}

static bool take_other(struct pf_syscalls *syscalls, const struct perfile_record *record)
{
    union {
        struct perfile_mmap mmap;
        struct perfile_mmap2 mmap2;
        struct perfile_fork fork;
        struct perfile_comm comm;
    } of;
    const bool of_user = (record->misc & PERFILE_MISC_CPUMODE_MASK) == PERFILE_MISC_USER;
    if (record->damaged || perfile_record_decode(syscalls->reader, record, &of, sizeof(of), NULL) < 0)
        return true;
    switch (record->type) {
    case PERFILE_RECORD_MMAP:
        return !of_user || note_map(syscalls, of.mmap.pid, of.mmap.addr, of.mmap.filename);
    case PERFILE_RECORD_MMAP2:
        return !of_user || note_map(syscalls, of.mmap2.pid, of.mmap2.addr, of.mmap2.filename);
    case PERFILE_RECORD_FORK:
        return take_fork(syscalls, &of.fork);
    case PERFILE_RECORD_COMM:
        return take_comm(syscalls, record, &of.comm);
    default:
        return true;
    }
}

static bool is_of_interest(const struct perfile_record *record)
{
    return record->type == PERFILE_RECORD_MMAP || record->type == PERFILE_RECORD_MMAP2 ||
           record->type == PERFILE_RECORD_FORK || record->type == PERFILE_RECORD_COMM;
}

static enum pf_abi abi_of(struct pf_syscalls *syscalls, int32_t pid)
{
    uint64_t bits = 0;
    pf_map_get(&syscalls->widths, (uint32_t)pid, &bits);
    return pf_abi_of(pf_delivery_arch(syscalls->delivery), bits == HAS_LOW);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static uint64_t file_key(int32_t pid, uint64_t fd)
{
    return (uint64_t)(uint32_t)pid << 32 | (uint32_t)fd;
}

static const char *file_of(const struct pf_syscalls *syscalls, int32_t pid, uint64_t fd)
{
    uint64_t path = 0;
    pf_map_get(&syscalls->files, file_key(pid, fd), &path);
    return (const char *)(uintptr_t)path;
}

/* False: out of memory. */
static bool name_arguments(struct pf_syscalls *syscalls, const struct binding *binding, const struct perfile_bytes *raw,
                           int32_t pid, struct pf_syscall_call *call)
{
    const bool swap = perfile_reader_file(syscalls->reader)->swapped;
    struct perfile_bytes bytes;
    for (int i = 0; i < PF_SYSCALL_ARGUMENTS; i++)
        if (binding->texts[i] && binding->texts[i]->is_text && pf_trace_bytes(binding->texts[i], raw, swap, &bytes) &&
            !(call->names.of[i] = pf_map_text(&syscalls->texts, &syscalls->arena, (const char *)bytes.data,
                                              strnlen((const char *)bytes.data, (size_t)bytes.bytes))))
            return false;
    const int fd = syscalls->files.used ? pf_syscall_find_fd(call->call) : -1;
    if (fd >= 0)
        call->names.of[fd] = file_of(syscalls, pid, call->arguments[fd]);
    return true;
}

/* A descriptor was made, copied or closed. False: out of memory. */
static bool follow_files(struct pf_syscalls *syscalls, int32_t pid, const struct pf_syscall_call *call)
{
    if (!call->call)
        return true;
    const char *name = pf_syscall_name(call->call), *path = NULL;
    const bool opens = has_prefix(name, "open") || strcmp(name, "creat") == 0, copies = has_prefix(name, "dup");
    if (strcmp(name, "close") == 0 && call->result == 0 && syscalls->files.used)
        return pf_map_put(&syscalls->files, file_key(pid, call->arguments[0]), 0);
    if ((!opens && !copies) || call->result < 0)
        return true;
    for (int i = 0; i < PF_SYSCALL_ARGUMENTS && !path; i++)
        path = call->names.of[i];
    if (!path && !syscalls->files.used)
        return true;
    return pf_map_put(&syscalls->files, file_key(pid, (uint64_t)call->result), (uintptr_t)path);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static void load_arguments(const struct pf_syscalls *syscalls, const struct binding *binding,
                           const struct perfile_bytes *raw, uint64_t arguments[PF_SYSCALL_ARGUMENTS])
{
    const struct perfile_tracepoint_field *list = binding->list;
    for (unsigned i = 0; i < PF_SYSCALL_ARGUMENTS; i++) {
        if (!list)
            arguments[i] = load(syscalls, raw, binding->arguments[i]);
        else if ((uint64_t)(i + 1) * list->element_bytes <= list->bytes)
            arguments[i] =
                load_at(syscalls, raw, (uint64_t)list->offset + i * list->element_bytes, list, list->element_bytes);
    }
}

/* A call that was entered before and is not left any more. */
static void give_up(struct pf_syscalls *syscalls, struct pf_syscall_thread *thread, struct pf_syscall_event *event)
{
    if (!thread->is_open)
        return;
    syscalls->enters_alone += !pf_syscall_returns_elsewhere(thread->open.call);
    event->unfinished = thread->open;
    event->has_unfinished = true;
    thread->is_open = false;
}

static int enter(struct pf_syscalls *syscalls, const struct pf_delivered *item, const struct binding *binding,
                 struct pf_syscall_event *event)
{
    struct pf_syscall_thread *thread = &syscalls->threads[event->thread];
    struct pf_syscall_call *call = &event->call;
    give_up(syscalls, thread, event);
    call->entered = true;
    call->start = item->sample.time;
    call->start_cpu = item->sample.cpu;
    call->order = syscalls->losses.order;
    load_arguments(syscalls, binding, &item->sample.raw, call->arguments);
    if (!name_arguments(syscalls, binding, &item->sample.raw, item->sample.pid, call))
        return PERFILE_ERROR_MEMORY;
    thread->open = *call;
    thread->is_open = true;
    return 0;
}

static int leave(struct pf_syscalls *syscalls, const struct pf_delivered *item, const struct binding *binding,
                 struct pf_syscall_event *event)
{
    struct pf_syscall_thread *thread = &syscalls->threads[event->thread];
    struct pf_syscall_call *call = &event->call;
    if (thread->is_open && thread->open.number == call->number && thread->open.abi == call->abi &&
        thread->open.start <= item->sample.time) {
        *call = thread->open;
        thread->is_open = false;
    } else {
        give_up(syscalls, thread, event);
        syscalls->exits_alone++;
    }
    call->left = true;
    call->end = item->sample.time;
    call->end_cpu = item->sample.cpu;
    call->result = (int64_t)load(syscalls, &item->sample.raw, binding->result);
    if (pf_abi_is_narrow(call->abi))
        call->result = (int32_t)call->result;
    call->uncertain =
        call->entered && pf_event_losses_since(&syscalls->losses, call->order, call->start_cpu, call->end_cpu);
    syscalls->uncertain += call->uncertain;
    return follow_files(syscalls, item->sample.pid, call) ? 0 : PERFILE_ERROR_MEMORY;
}

/* ---- which calls ------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *calls;
} groups[] = {
    {"%file", "open*,creat,stat*,lstat*,newfstatat,fstatat64,statx,access,faccessat*,unlink*,rename*,link*,symlink*,"
              "readlink*,mkdir*,rmdir,mknod*,chmod,fchmodat*,chown*,lchown*,fchownat,truncate*,utime*,execve*,chdir,"
              "chroot,mount,umount*,getcwd,*xattr*,name_to_handle_at,swapon,swapoff,uselib,acct"},
    {"%network", "socket*,bind,connect,listen,accept*,getsockname,getpeername,send,sendto,sendmsg,sendmmsg,recv,"
                 "recvfrom,recvmsg,recvmmsg*,shutdown,setsockopt,getsockopt"},
    {"%process", "fork,vfork,clone*,execve*,exit,exit_group,wait*,kill,tkill,tgkill,rt_sigqueueinfo,"
                 "rt_tgsigqueueinfo,unshare,setns,pidfd_*"},
    {"%memory", "mmap*,munmap,mprotect,pkey_mprotect,mremap,madvise,process_madvise,brk,mlock*,munlock*,msync,mincore,"
                "mbind,get_mempolicy,set_mempolicy*,migrate_pages,move_pages,shmat,shmdt,remap_file_pages"},
    {"%signal", "kill,tkill,tgkill,rt_sig*,sig*,sigaltstack,pause,signalfd*,pidfd_send_signal"},
    {"%desc", "read*,write*,pread*,pwrite*,close*,dup*,fcntl*,ioctl,poll*,ppoll*,select,pselect6*,epoll*,f*,lseek,"
              "_llseek,getdents*,splice,tee,vmsplice,sendfile*,copy_file_range,eventfd*,timerfd*,inotify*,pipe*"},
};

static bool is_listed(const char *list, const char *label)
{
    char pattern[96];
    while (*list) {
        const size_t length = strcspn(list, ", ");
        snprintf(pattern, sizeof(pattern), "%.*s", (int)pf_min(length, sizeof(pattern) - 1), list);
        if (length && pf_glob_matches(pattern, label, false))
            return true;
        for (size_t i = 0; i < PF_COUNT(groups); i++)
            if (strcmp(pattern, groups[i].name) == 0 && is_listed(groups[i].calls, label))
                return true;
        list += length;
        list += strspn(list, ", ");
    }
    return false;
}

/*
 * Whether the call is in a list of names with '*' and '?', and groups: %file, %network, %process, %memory, %signal. A
 * "!" before all inverts the list.
 */
static bool is_wanted(const char *wanted, const struct pf_syscall *call, const char *label)
{
    if (!wanted || !*wanted)
        return true;
    const bool not = *wanted == '!';
    return is_listed(wanted + not, call ? pf_syscall_name(call) : label) != not ;
}

static const char *own_machine(void)
{
#if defined(__x86_64__) || defined(__i386__)
    return "x86_64";
#elif defined(__aarch64__) || defined(__arm__)
    return "aarch64";
#elif defined(__riscv) && __riscv_xlen == 64
    return "riscv64";
#elif defined(__s390x__)
    return "s390x";
#elif defined(__powerpc64__)
    return "ppc64";
#else
    return NULL;
#endif
}

const char *perfile_syscall_name(const char *machine, bool narrow, uint64_t number, const char *list)
{
    const enum pf_abi abi = pf_abi_of(machine ? machine : own_machine(), narrow);
    const struct pf_syscall *call = pf_syscall_of(abi, number);

    return call && is_wanted(list, call, pf_syscall_name(call)) ? pf_syscall_name(call) : NULL;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static int take_event(struct pf_syscalls *syscalls, const struct pf_delivered *item, const struct binding *binding,
                      struct pf_syscall_event *event)
{
    char label[32];
    const uint64_t number = load(syscalls, &item->sample.raw, binding->number);
    struct pf_syscall_call *call = &event->call;
    call->number = number;
    call->abi = abi_of(syscalls, item->sample.pid);
    call->call = pf_syscall_of(call->abi, number);
    if (!call->call)
        call->call = binding->named;
    if (!is_wanted(syscalls->wanted, call->call, pf_syscall_label(call->call, number, label))) {
        syscalls->unwanted++;
        return 0;
    }
    event->thread = thread_of(syscalls, item->sample.pid, item->sample.tid);
    if (event->thread == UINT32_MAX)
        return PERFILE_ERROR_MEMORY;
    struct pf_syscall_thread *thread = &syscalls->threads[event->thread];
    event->step = binding->step;
    thread->comm = item->comm;
    thread->cgroup = pf_delivered_cgroup(item, syscalls->delivery);
    thread->events++;
    syscalls->events++;
    return (binding->step == PF_SYSCALL_ENTERED ? enter : leave)(syscalls, item, binding, event);
}

char pf_fault_kind(const struct perfile_event *event)
{
    const struct perfile_attr *attr = event->attr;
    if (attr->type != PERFILE_TYPE_SOFTWARE)
        return '\0';
    return attr->config == PERFILE_COUNT_SW_PAGE_FAULTS_MAJ                                                   ? 'M'
           : attr->config == PERFILE_COUNT_SW_PAGE_FAULTS || attr->config == PERFILE_COUNT_SW_PAGE_FAULTS_MIN ? 'm'
                                                                                                              : '\0';
}

static int take_fault(struct pf_syscalls *syscalls, const struct pf_delivered *item, struct pf_syscall_event *event)
{
    event->thread = thread_of(syscalls, item->sample.pid, item->sample.tid);
    if (event->thread == UINT32_MAX)
        return PERFILE_ERROR_MEMORY;
    struct pf_syscall_thread *thread = &syscalls->threads[event->thread];
    event->step = PF_SYSCALL_FAULT;
    event->major = pf_fault_kind(item->event) == 'M';
    thread->comm = item->comm;
    thread->major_faults += event->major;
    thread->minor_faults += !event->major;
    thread->events++;
    syscalls->events++;
    return 0;
}

static bool is_left_out(const struct pf_syscalls *syscalls, const struct pf_delivered *item)
{
    uint64_t unused;
    return syscalls->not_of.used && pf_map_get(&syscalls->not_of, (uint32_t)item->sample.pid, &unused);
}

/* Notes the first time. Returns false for records that are neither tracepoints nor page faults. */
static bool begin_times(struct pf_syscalls *syscalls, const struct pf_delivered *item)
{
    if (!item->event || (item->event->attr->type != PERFILE_TYPE_TRACEPOINT && !pf_fault_kind(item->event)))
        return false;
    if (!syscalls->timed)
        syscalls->first_time = item->sample.time;
    syscalls->timed = true;
    return true;
}

int pf_syscalls_take(struct pf_syscalls *syscalls, const struct pf_delivered *item, struct pf_syscall_event *event)
{
    event->step = PF_SYSCALL_NOTHING; /* the rest of it is large */
    event->has_unfinished = false;
    if (!pf_event_losses_take(&syscalls->losses, syscalls->reader, item->record))
        return PERFILE_ERROR_MEMORY;
    if (!item->is_sample)
        return !is_of_interest(item->record) || take_other(syscalls, item->record) ? 0 : PERFILE_ERROR_MEMORY;
    if (is_left_out(syscalls, item) || !begin_times(syscalls, item))
        return 0;
    if (item->event->attr->type != PERFILE_TYPE_TRACEPOINT)
        return syscalls->wanted && *syscalls->wanted ? 0 : take_fault(syscalls, item, event);
    const struct binding *binding = bind(syscalls, item->event);
    if (!binding)
        return PERFILE_ERROR_MEMORY;
    if (!binding->step)
        return 0;
    memset(&event->call, 0, sizeof(event->call));
    return take_event(syscalls, item, binding, event);
}

void pf_syscalls_notify(const struct pf_syscalls *syscalls, pf_on_note *notify, void *context)
{
    char text[256];
    uint64_t open = 0;
    if (!notify)
        return;
    if (!have_syscalls(syscalls->reader)) {
        notify(context, "the recording has no events of system calls; record with: " PF_RECORD_CALLS);
        return;
    }
    if (syscalls->unwanted && !syscalls->events) {
        snprintf(text, sizeof(text), "no system call passes the list \"%.200s\"", syscalls->wanted);
        notify(context, text);
    }
    for (size_t i = 0; i < syscalls->thread_count; i++)
        open += syscalls->threads[i].is_open && !pf_syscall_never_returns(syscalls->threads[i].open.call);
    const struct {
        uint64_t count;
        const char *text;
    } notes[] = {
        {syscalls->is_cut ? 0 : syscalls->exits_alone,
         "system calls without a recorded entry: counted, without a duration"},
        {syscalls->enters_alone, "system calls did not return, though their threads went on: not counted"},
        {syscalls->is_cut ? 0 : open, "system calls had not returned at the end: not counted"},
        {syscalls->uncertain, "system calls at lost events: their durations may be those of several calls"},
    };
    for (size_t i = 0; i < PF_COUNT(notes); i++)
        if (notes[i].count) {
            notify(context, pf_count_of(notes[i].count, notes[i].text, text));
        }
}
