/* SPDX-License-Identifier: MIT */
#include "sandbox.h"
#include "message.h"
#include "reach.h"
#include "stream.h"
#include "writing.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The leak finder attaches to us when we end, and reports are made readable by another program. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED SANITIZERS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED SANITIZERS
#endif
#endif
#ifndef SANITIZED
#define SANITIZED NO_ONE
#endif

/* The counts of a coverage build are written at the end, beside its objects. */
#ifdef PF_COVERAGE
#define COVERAGE true
#else
#define COVERAGE false
#endif

/* ---- system calls ---------------------------------------------------------------------------------------------- */

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__i386__)
#define ARCHITECTURE AUDIT_ARCH_I386
#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__arm__) && defined(__ARM_EABI__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ARCHITECTURE AUDIT_ARCH_ARM
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#elif defined(__s390x__)
#define ARCHITECTURE AUDIT_ARCH_S390X
#elif defined(__powerpc64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ARCHITECTURE AUDIT_ARCH_PPC64LE
#endif

/* The offset of an argument's lower half, which is all that the kernel uses of a 32-bit number. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ARGUMENT_OFFSET(number) (offsetof(struct seccomp_data, args) + 8 * (number))
#else
#define ARGUMENT_OFFSET(number) (offsetof(struct seccomp_data, args) + 8 * (number) + 4)
#endif

/* Since 5.1 new calls have the same number everywhere. Those of this list are newer than some headers. */
enum {
    OPEN_TREE = 428,
    MOVE_MOUNT = 429,
    FSOPEN = 430,
    FSCONFIG = 431,
    FSMOUNT = 432,
    FSPICK = 433,
    PIDFD_GETFD = 438,
    PROCESS_MADVISE = 440,
    MOUNT_SETATTR = 442,
    QUOTACTL_FD = 443, /* 5.14 */
    LANDLOCK_CREATE_RULESET = 444,
    LANDLOCK_ADD_RULE = 445,
    LANDLOCK_RESTRICT_SELF = 446,
    PROCESS_MRELEASE = 448, /* 5.15 */
    FCHMODAT2 = 452,        /* 6.6 */
    SETXATTRAT = 463,       /* 6.13 */
    REMOVEXATTRAT = 466,    /* 6.13 */
    OPEN_TREE_ATTR = 467,   /* 6.15 */
    FILE_SETATTR = 469,     /* 6.17 */
    UNKNOWN_CALLS = 470,    /* the numbers from here on are not assigned yet */
};

/* The users that may make the call all the same. */
enum { NO_ONE = 0, NETWORK = 1 << 0, SANITIZERS = 1 << 1 };

struct denied_call {
    long number;
    unsigned allowed;
};

/* Calls on this list fail with EPERM; calls that are not on it are allowed. */
static const struct denied_call denied_calls[] = {
    /* programs, other processes */
    {__NR_execve, SANITIZERS},
    {__NR_execveat, SANITIZERS},
    {__NR_ptrace, SANITIZERS},
    {__NR_process_vm_readv, NO_ONE},
    {__NR_process_vm_writev, NO_ONE},
    {PROCESS_MADVISE, NO_ONE},
    {PROCESS_MRELEASE, NO_ONE},
    {__NR_migrate_pages, NO_ONE},
    {__NR_move_pages, NO_ONE},
    {PIDFD_GETFD, NO_ONE},
    {__NR_kcmp, NO_ONE},
    {__NR_kill, NO_ONE},
    {__NR_tkill, NO_ONE},
    {__NR_rt_sigqueueinfo, NO_ONE},
    {__NR_rt_tgsigqueueinfo, NO_ONE},
    {424 /* pidfd_send_signal */, NO_ONE},
    {__NR_setpriority, NO_ONE}, /* also of all processes of a user */
    {__NR_ioprio_set, NO_ONE},
    {__NR_sched_setscheduler, NO_ONE},
    {__NR_sched_setparam, NO_ONE},
    {__NR_sched_setattr, NO_ONE},
/* what programs of the same user have in common: they can be removed */
#ifdef __NR_shmctl
    {__NR_shmctl, NO_ONE},
    {__NR_semctl, NO_ONE},
    {__NR_msgctl, NO_ONE},
#endif
#ifdef __NR_ipc
    {__NR_ipc, NO_ONE},
#endif
    {__NR_mq_unlink, NO_ONE},
    /* the network */
    {__NR_socket, NETWORK},
    {__NR_connect, NETWORK},
    {__NR_bind, NETWORK},
    {__NR_listen, NETWORK},
    {__NR_accept4, NETWORK},
#ifdef __NR_accept
    {__NR_accept, NETWORK},
#endif
#ifdef __NR_socketcall
    {__NR_socketcall, NETWORK},
#endif
/* calls that Landlock lets pass: owners and modes of files */
#ifdef __NR_chmod
    {__NR_chmod, NO_ONE},
    {__NR_chown, NO_ONE},
    {__NR_lchown, NO_ONE},
#endif
#ifdef __NR_chown32
    {__NR_chown32, NO_ONE},
    {__NR_lchown32, NO_ONE},
    {__NR_fchown32, NO_ONE},
#endif
    {__NR_fchmod, NO_ONE},
    {__NR_fchmodat, NO_ONE},
    {FCHMODAT2, NO_ONE},
    {__NR_fchown, NO_ONE},
    {__NR_fchownat, NO_ONE},
    {__NR_setxattr, NO_ONE},
    {__NR_lsetxattr, NO_ONE},
    {__NR_fsetxattr, NO_ONE},
    {SETXATTRAT, NO_ONE},
    {__NR_removexattr, NO_ONE},
    {__NR_lremovexattr, NO_ONE},
    {__NR_fremovexattr, NO_ONE},
    {REMOVEXATTRAT, NO_ONE},
    {FILE_SETATTR, NO_ONE},
    {__NR_open_by_handle_at, NO_ONE},
    /* ways round what is looked at here, and large parts of the kernel that nothing of ours needs */
    {425 /* io_uring_setup */, NO_ONE},
    {426 /* io_uring_enter */, NO_ONE},
    {427 /* io_uring_register */, NO_ONE},
    {__NR_bpf, NO_ONE},
    {__NR_perf_event_open, NO_ONE},
    {__NR_userfaultfd, NO_ONE},
    {__NR_add_key, NO_ONE},
    {__NR_request_key, NO_ONE},
    {__NR_keyctl, NO_ONE},
    {__NR_fanotify_init, NO_ONE},
    {__NR_personality, NO_ONE},
#ifdef __NR_modify_ldt
    {__NR_modify_ldt, NO_ONE},
    {__NR_iopl, NO_ONE},
    {__NR_ioperm, NO_ONE},
#endif
    /* the machine */
    {__NR_unshare, NO_ONE},
    {__NR_setns, NO_ONE},
    {__NR_chroot, NO_ONE},
    {__NR_pivot_root, NO_ONE},
    {__NR_mount, NO_ONE},
    {__NR_umount2, NO_ONE},
    {OPEN_TREE, NO_ONE},
    {OPEN_TREE_ATTR, NO_ONE},
    {MOVE_MOUNT, NO_ONE},
    {FSOPEN, NO_ONE},
    {FSCONFIG, NO_ONE},
    {FSMOUNT, NO_ONE},
    {FSPICK, NO_ONE},
    {MOUNT_SETATTR, NO_ONE},
    {__NR_swapon, NO_ONE},
    {__NR_swapoff, NO_ONE},
    {__NR_quotactl, NO_ONE},
    {QUOTACTL_FD, NO_ONE},
    {__NR_acct, NO_ONE},
    {__NR_init_module, NO_ONE},
    {__NR_finit_module, NO_ONE},
    {__NR_delete_module, NO_ONE},
    {__NR_kexec_load, NO_ONE},
#ifdef __NR_kexec_file_load
    {__NR_kexec_file_load, NO_ONE},
#endif
    {__NR_reboot, NO_ONE},
    {__NR_sethostname, NO_ONE},
    {__NR_setdomainname, NO_ONE},
    {__NR_settimeofday, NO_ONE},
    {__NR_clock_settime, NO_ONE},
    {__NR_adjtimex, NO_ONE},
    {__NR_clock_adjtime, NO_ONE},
#ifdef __NR_clock_settime64
    {__NR_clock_settime64, NO_ONE},
    {__NR_clock_adjtime64, NO_ONE},
#endif
    {__NR_syslog, NO_ONE},
    {__NR_vhangup, NO_ONE},
};

/* Newer C libraries ask in this way; its size is a part of the request, and <asm/termbits.h> cannot be included. */
#ifdef TCGETS2
struct termios2 {
    unsigned char bytes[44];
};
#else
#define TCGETS2 TCGETS
#define TCSETS2 TCSETS
#define TCSETSW2 TCSETSW
#define TCSETSF2 TCSETSF
#endif

enum { VALUES_MAX = 20, OWN_PROCESS = INT_MAX /* stands for the number of this process; no other one has it */ };

/* Denied or not by what one of its arguments is. */
struct checked_call {
    long number;
    unsigned argument;
    bool denies; /* these values are denied, not all others */
    unsigned char count;
    unsigned values[VALUES_MAX];
};

#define VALUES(...) .count = COUNT(((const unsigned[]){__VA_ARGS__})), .values = {__VA_ARGS__}

static const struct checked_call checked_calls[] = {
    /* Terminals, descriptors, the events of `top`. Other requests change the attributes of files that are only open for
       reading, or push input into the terminal. */
    {__NR_ioctl, 1,
     VALUES(TCGETS, TCSETS, TCSETSW, TCSETSF, TCGETS2, TCSETS2, TCSETSW2, TCSETSF2, TCSBRK, TCXONC, TCFLSH, TIOCGWINSZ,
            TIOCGPGRP, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX, PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE,
            PERF_EVENT_IOC_PAUSE_OUTPUT)},
    /* This process alone: 0 is the caller. */
    {__NR_prlimit64, 0, VALUES(0)},
    {__NR_sched_setaffinity, 0, VALUES(0)},
    {__NR_tgkill, 0, VALUES(OWN_PROCESS)},
/* A descriptor that can be read would signal to any process. */
#ifdef __NR_fcntl
    {__NR_fcntl, 1, .denies = true, VALUES(F_SETOWN, F_SETOWN_EX, F_SETSIG)},
#endif
#ifdef __NR_fcntl64
    {__NR_fcntl64, 1, .denies = true, VALUES(F_SETOWN, F_SETOWN_EX, F_SETSIG)},
#endif
};

#ifdef ARCHITECTURE

/* A jump reaches 255 instructions. */
_Static_assert(COUNT(denied_calls) + 10 < 256, "the filter is too long for its jumps");

struct filter {
    struct sock_filter code[COUNT(denied_calls) + COUNT(checked_calls) * (VALUES_MAX + 4) + 12];
    unsigned short used;
};

enum { GO_ON, TO_EPERM = 255 };

static void add(struct filter *f, unsigned code, unsigned operand, unsigned if_true, unsigned if_false)
{
    f->code[f->used++] = (struct sock_filter){(__u16)code, (__u8)if_true, (__u8)if_false, operand};
}

static void load(struct filter *f, size_t offset)
{
    add(f, BPF_LD | BPF_W | BPF_ABS, (unsigned)offset, 0, 0);
}

static void end(struct filter *f, unsigned result)
{
    add(f, BPF_RET | BPF_K, result, 0, 0);
}

/* Points the jumps so far to the next instruction. */
static void aim_jumps(struct filter *f)
{
    for (unsigned short i = 0; i < f->used; i++) {
        const bool is_jump = BPF_CLASS(f->code[i].code) == BPF_JMP;
        if (is_jump && f->code[i].jt == TO_EPERM)
            f->code[i].jt = (__u8)(f->used - 1 - i);
        if (is_jump && f->code[i].jf == TO_EPERM)
            f->code[i].jf = (__u8)(f->used - 1 - i);
    }
    end(f, SECCOMP_RET_ERRNO | EPERM);
}

/* Continues where it begins if the call is another one. */
static void add_check(struct filter *f, const struct checked_call *call)
{
    add(f, BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call->number, GO_ON, call->count + 3U);
    load(f, ARGUMENT_OFFSET(call->argument));
    for (unsigned i = 0; i < call->count; i++) {
        const unsigned value = call->values[i] == OWN_PROCESS ? (unsigned)getpid() : call->values[i];
        add(f, BPF_JMP | BPF_JEQ | BPF_K, value, call->count - i, GO_ON);
    }
    end(f, call->denies ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | EPERM); /* none of the values */
    end(f, call->denies ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_ALLOW);
}

/* Calls of another architecture, such as those of 32-bit programs, are denied: we make none. */
static void make_filter(struct filter *f, unsigned users)
{
    load(f, offsetof(struct seccomp_data, arch));
    add(f, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, GO_ON, TO_EPERM);
    load(f, offsetof(struct seccomp_data, nr));
#ifndef __arm__ /* has calls of its own far above */
    add(f, BPF_JMP | BPF_JGE | BPF_K, UNKNOWN_CALLS, GO_ON, 1);
    end(f, SECCOMP_RET_ERRNO | ENOSYS); /* and those of x32; libraries try older ones then */
#endif
    for (size_t i = 0; i < COUNT(denied_calls); i++)
        if (!(denied_calls[i].allowed & users))
            add(f, BPF_JMP | BPF_JEQ | BPF_K, (unsigned)denied_calls[i].number, TO_EPERM, GO_ON);
    add(f, BPF_JMP | BPF_JA, 1, 0, 0);
    aim_jumps(f);
    for (size_t i = 0; i < COUNT(checked_calls); i++)
        add_check(f, &checked_calls[i]);
    end(f, SECCOMP_RET_ALLOW);
}

/*
 * Kernels before 5.16 slow a filtered process down as a defence against foreign code in it. SPEC_ALLOW (since 4.17)
 * turns that off, as no such code is run. Returns 0, or the number of the error.
 */
static int filter_calls(unsigned users, bool all_threads)
{
    const unsigned threads = all_threads ? SECCOMP_FILTER_FLAG_TSYNC : 0;
    struct filter filter = {.used = 0};

    make_filter(&filter, users);
    const struct sock_fprog program = {filter.used, filter.code};
    if (syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, threads | SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) == 0 ||
        (errno == EINVAL && syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, threads, &program) == 0))
        return 0;
    return errno;
}

#else
static int filter_calls(unsigned users, bool all_threads)
{
    (void)users, (void)all_threads, (void)denied_calls, (void)checked_calls;
    return ENOSYS;
}
#endif

/* ---- files ----------------------------------------------------------------------------------------------------- */

/* Copied from <linux/landlock.h>, which headers before 5.13 do not have, and later ones only in part. */
enum {
    FS_EXECUTE = 1 << 0,
    FS_WRITE_FILE = 1 << 1,
    FS_REMOVE_DIR = 1 << 4,
    FS_REMOVE_FILE = 1 << 5,
    FS_MAKE_CHAR = 1 << 6,
    FS_MAKE_DIR = 1 << 7,
    FS_MAKE_REG = 1 << 8,
    FS_MAKE_SOCK = 1 << 9,
    FS_MAKE_FIFO = 1 << 10,
    FS_MAKE_BLOCK = 1 << 11,
    FS_MAKE_SYM = 1 << 12,
    FS_REFER = 1 << 13,     /* ABI 2, Linux 5.19 */
    FS_TRUNCATE = 1 << 14,  /* ABI 3, Linux 6.2 */
    FS_IOCTL_DEV = 1 << 15, /* ABI 5, Linux 6.10 */
    FS_ABI_1 = FS_EXECUTE | FS_WRITE_FILE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_CHAR | FS_MAKE_DIR | FS_MAKE_REG |
               FS_MAKE_SOCK | FS_MAKE_FIFO | FS_MAKE_BLOCK | FS_MAKE_SYM,
    NET_BIND_AND_CONNECT_TCP = 3, /* ABI 4, Linux 6.7 */
    SCOPE_ABSTRACT_SOCKETS = 1,   /* ABI 6, Linux 6.12 */
    SCOPE_SIGNALS = 2,
    VERSION = 1, /* a flag: the call returns the ABI version */
    PATH_BENEATH = 1,
    /* what an output needs: of its folder, and of what is written in place */
    FOLDER_ACCESS = FS_WRITE_FILE | FS_TRUNCATE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_DIR | FS_MAKE_REG,
    FILE_ACCESS = FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL_DEV,
};

struct ruleset {
    uint64_t files;
    uint64_t network; /* ABI 4 */
    uint64_t scoped;  /* ABI 6 */
};

struct rule {
    uint64_t access;
    int fd;
} __attribute__((packed));

/* The rules while they are made. */
struct fence {
    int fd;
    uint64_t files; /* what needs a rule */
};

/* The rights that each ABI version adds; rights that this kernel does not know must not be requested. */
static struct ruleset what_to_deny(long abi, unsigned users)
{
    struct ruleset made = {.files = FS_ABI_1};
    const bool online = users & NETWORK;

    if (users & SANITIZERS)
        made.files &= ~(uint64_t)FS_EXECUTE;
    if (abi >= 2)
        made.files |= FS_REFER;
    if (abi >= 3)
        made.files |= FS_TRUNCATE;
    if (abi >= 4 && !online)
        made.network = NET_BIND_AND_CONNECT_TCP;
    if (abi >= 5)
        made.files |= FS_IOCTL_DEV;
    if (abi >= 6)
        made.scoped = SCOPE_SIGNALS | (online ? 0 : SCOPE_ABSTRACT_SOCKETS);
    return made;
}

static size_t ruleset_bytes(long abi)
{
    return abi >= 6 ? sizeof(struct ruleset) : abi >= 4 ? offsetof(struct ruleset, scoped) : sizeof(uint64_t);
}

/* Paths that do not exist, and files without a name, such as pipes, need no rule. */
static void allow(const struct fence *fence, const char *path, uint64_t access)
{
    struct rule rule = {.access = access & fence->files, .fd = open(path, O_PATH | O_CLOEXEC)};
    struct stat status;

    if (rule.fd < 0)
        return;
    if (fstat(rule.fd, &status) == 0 && !S_ISDIR(status.st_mode))
        rule.access &= FILE_ACCESS;
    (void)syscall(LANDLOCK_ADD_RULE, fence->fd, PATH_BENEATH, &rule, 0);
    close(rule.fd);
}

/* Allows the folder of a path, of which the first `bytes` bytes count. */
static void allow_folder_of(const struct fence *fence, const char *path, size_t bytes)
{
    char folder[PATH_MAX];

    while (bytes && path[bytes - 1] != '/')
        bytes--;
    if (bytes >= sizeof(folder))
        return;
    memcpy(folder, path, bytes);
    folder[bytes] = 0;
    allow(fence, bytes ? folder : ".", FOLDER_ACCESS);
}

/* Adjusts the umask so that the file that replaces `path` is created with the same mode: chmod is denied later. */
static void keep_mode(const char *path)
{
    struct stat status;
    const mode_t before = umask(0);

    (void)umask(stat(path, &status) == 0 && S_ISREG(status.st_mode) ? before & ~status.st_mode : before);
}

/* A file is replaced by another one in its folder, after following links; everything else is written in place. */
static void allow_output(const struct fence *fence, const char *path)
{
    struct stat status;
    char *target = pf_output_target(path);
    const bool exists = stat(path, &status) == 0;

    if (exists)
        allow(fence, path, FILE_ACCESS);
    if (target && (!exists || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)))
        allow_folder_of(fence, target, strlen(target));
    free(target);
}

static void make_folders(char *path, mode_t mode)
{
    for (char *slash = path + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = 0;
        (void)mkdir(path, mode);
        *slash = '/';
    }
    (void)mkdir(path, mode);
}

/* True for a dataset: its files are made in one of its folders and moved to others. */
static bool moves_files(const struct pf_command *command, const struct pf_settings *settings)
{
    return settings->partition || !strcmp(command->name, "dataset");
}

/* Landlock has no rules for folders that do not exist, so they are made now. */
static void allow_cache(const struct fence *fence, char *path)
{
    make_folders(path, 0700);
    allow(fence, path, FOLDER_ACCESS);
}

/* perf's, which has links, and which others may read. */
static void allow_build_ids(const struct fence *fence, const struct pf_settings *settings)
{
    const char *folder = settings->symbols.buildid_dir, *home = getenv("HOME");
    char path[PATH_MAX];

    if ((!folder && !home) ||
        snprintf(path, sizeof(path), "%s%s", folder ? folder : home, folder ? "" : "/.debug") >= (int)sizeof(path))
        return;
    if (settings->writes_build_ids)
        make_folders(path, 0755);
    allow(fence, path, FOLDER_ACCESS | FS_MAKE_SYM);
}

/* As its library looks for them. */
static const struct {
    const char *variable;
    const char *below;
} debuginfod_caches[] = {
    {"DEBUGINFOD_CACHE_PATH", ""},
    {"HOME", "/.debuginfod_client_cache"},
    {"XDG_CACHE_HOME", "/debuginfod_client"},
    {"HOME", "/.cache/debuginfod_client"},
};

static void allow_debuginfod(const struct fence *fence)
{
    char path[PATH_MAX];

    for (size_t i = 0; i < COUNT(debuginfod_caches); i++) {
        const char *base = getenv(debuginfod_caches[i].variable);
        const bool is_old = i == 1; /* that is used where it is, and not made */
        if (!base || !*base ||
            snprintf(path, sizeof(path), "%s%s", base, debuginfod_caches[i].below) >= (int)sizeof(path) ||
            (is_old && access(path, F_OK) != 0))
            continue;
        allow_cache(fence, path);
        return;
    }
}

static void allow_caches(const struct fence *fence, const struct pf_settings *settings, unsigned users)
{
    char path[PATH_MAX];

    (void)settings;
    if (perfile_cache_folder(path, sizeof(path)) == 0) /* of debug info, and of what is unpacked */
        allow_cache(fence, path);
    if (users & NETWORK)
        allow_debuginfod(fence);
}

static void allow_outputs(const struct fence *fence, const struct pf_command *command,
                          const struct pf_settings *settings)
{
    const char *output = settings->output;

    if (output && settings->splits_output)
        allow_folder_of(fence, output, strcspn(output, "%"));
    else if (output && !pf_stream_is_standard(output))
        allow_output(fence, output);
    if (output && pf_command_has_group(command, &pf_writing_group))
        keep_mode(output);
    if (settings->per_event) { /* beside the recording */
        const char *input = settings->operand_count ? settings->operands[0]
                            : settings->input       ? settings->input
                                                    : "perf.data";
        allow_folder_of(fence, input, strlen(input));
    }
    if (settings->also_written)
        allow(fence, settings->also_written, FOLDER_ACCESS);
    if (!strcmp(command->name, "buildid-cache"))
        allow_build_ids(fence, settings);
}

/* 0, or the number of the error. */
static int fence_files(const struct pf_command *command, const struct pf_settings *settings, unsigned users)
{
    const long abi = syscall(LANDLOCK_CREATE_RULESET, NULL, 0, VERSION);

    if (abi < 1)
        return abi < 0 ? errno : ENOSYS;
    if (abi < 2 && moves_files(command, settings)) /* it allows no move between folders at all */
        return EOPNOTSUPP;
    const struct ruleset rules = what_to_deny(abi, users);
    const struct fence fence = {.fd = (int)syscall(LANDLOCK_CREATE_RULESET, &rules, ruleset_bytes(abi), 0),
                                .files = rules.files};
    if (fence.fd < 0)
        return errno;
    allow_outputs(&fence, command, settings);
    if (moves_files(command, settings))
        allow(&fence, settings->output, FOLDER_ACCESS | FS_REFER);
    if (pf_command_has_group(command, &pf_symbol_group))
        allow_caches(&fence, settings, users);
    const int error = syscall(LANDLOCK_RESTRICT_SELF, fence.fd, 0) == 0 ? 0 : errno;
    close(fence.fd);
    return error;
}

/* ---- both ------------------------------------------------------------------------------------------------------ */

static unsigned users_of(const struct pf_command *command)
{
    const char *servers = getenv("DEBUGINFOD_URLS");
    const bool asks = servers && *servers && pf_command_has_group(command, &pf_symbol_group);

    return (asks ? NETWORK : NO_ONE) | SANITIZED;
}

/* Inside of containers the calls may be missing or forbidden. That must not keep anybody from reading a recording. */
void pf_sandbox_enter(const struct pf_command *command, struct pf_settings *settings)
{
    const unsigned users = users_of(command);
    int error;

    if (settings->no_sandbox || COVERAGE)
        return;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        pf_note("no sandbox: %s", strerror(errno));
        return;
    }
    if (pf_command_has_group(command, &pf_symbol_group)) {
        pf_reach_start();
        settings->symbols.reach = pf_reach;
    }
    /* Landlock would keep it from /proc/PID/maps, which is read for each interval of a live view */
    if (!command->reads_processes && (error = fence_files(command, settings, users)) != 0)
        pf_note("the sandbox does not restrict file access (Landlock: %s)", strerror(error));
    if ((error = filter_calls(users, true)) != 0)
        pf_note("the sandbox does not filter system calls (seccomp: %s)", strerror(error));
}

/* Landlock would keep it from /proc/PID/root, where the files are. */
void pf_sandbox_enter_thread(const struct pf_settings *settings)
{
    if (settings->no_sandbox || COVERAGE || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return;
    const int error = filter_calls(SANITIZED, false);
    if (error)
        pf_note("no sandbox for system calls: %s", strerror(error));
}
