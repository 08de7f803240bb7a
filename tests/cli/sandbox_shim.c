/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into the command by sandbox.py: what code could do that took the process over. It tries that when the first
 * recording is opened, or a file is added to the build-id cache, and writes a line for each attempt to standard error:
 * "tried NAME: " and the error, or "done". TRY names one attempt, TRY_LIST all to be listed, and none to be made.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <perfile/analysis.h>

/* $TRY_FOLDER/NAME */
static const char *planted(const char *name)
{
    static char paths[2][4096];
    static unsigned next;
    const char *folder = getenv("TRY_FOLDER");
    char *path = paths[next++ % 2];
    snprintf(path, sizeof(paths[0]), "%s/%s", folder ? folder : "/nowhere", name);
    return path;
}

static int try_create(void)
{
    return open(planted("created"), O_CREAT | O_WRONLY, 0600);
}

static int try_write(void)
{
    return open(planted("there"), O_WRONLY | O_APPEND);
}

static int try_truncate(void)
{
    return truncate(planted("there"), 0);
}

static int try_unlink(void)
{
    return unlink(planted("there"));
}

static int try_rename(void)
{
    return rename(planted("there"), planted("renamed"));
}

static int try_link(void)
{
    return link(planted("there"), planted("linked"));
}

static int try_symlink(void)
{
    return symlink("there", planted("symlinked"));
}

static int try_mkdir(void)
{
    return mkdir(planted("folder"), 0700);
}

static int try_chmod(void)
{
    return chmod(planted("there"), 0777);
}

static int try_exec(void)
{
    char *words[] = {"/bin/true", NULL};
    return execv(words[0], words) < 0 ? -1 : 0;
}

static int try_spawn(void)
{
    char *words[] = {"/bin/true", NULL};
    pid_t pid;
    errno = posix_spawn(&pid, words[0], NULL, NULL, words, NULL);
    return errno || waitpid(pid, NULL, 0) < 0 ? -1 : 0;
}

static int try_connect(void)
{
    const char *port = getenv("TRY_PORT");
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)atoi(port ? port : "9")),
                                   .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    return fd < 0 ? -1 : connect(fd, (const struct sockaddr *)&to, sizeof(to));
}

static int try_ptrace(void)
{
    return (int)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

static int try_process_vm_readv(void)
{
    char from = 0, to;
    const struct iovec there = {&from, 1}, here = {&to, 1};
    return (int)process_vm_readv(getpid(), &here, 1, &there, 1, 0);
}

static int try_kill(void)
{
    return kill(getppid(), 0);
}

static int try_unshare(void)
{
    return unshare(CLONE_NEWUSER);
}

static int try_mount(void)
{
    return mount("none", planted(""), "tmpfs", 0, NULL);
}

static int try_bpf(void)
{
    return (int)syscall(__NR_bpf, 0, NULL, 0);
}

static int try_io_uring(void)
{
    return (int)syscall(425, 1, NULL);
}

static int try_unknown_call(void)
{
    return (int)syscall(999);
}

static int try_terminal_input(void)
{
    return ioctl(STDIN_FILENO, TIOCSTI, "x");
}

#ifdef __x86_64__
/* getpid with the number that it has for 32-bit programs; kernels without these end the process. */
static int try_32_bit_call(void)
{
    long result = -ENOSYS;
    const pid_t pid = fork();
    int status = 0;
    if (pid == 0) {
        __asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory", "r8", "r9", "r10", "r11");
        _exit(result > 0 ? 0 : (int)-result);
    }
    waitpid(pid, &status, 0);
    errno = WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
    return errno ? -1 : 0;
}
#endif

static int try_fifo(void)
{
    return mkfifo(planted("fifo"), 0600);
}

static int try_rmdir(void)
{
    return rmdir(planted("empty"));
}

static int try_shared_memory(void)
{
    return open("/dev/shm/perfile-sandbox-attempt", O_CREAT | O_RDWR, 0600);
}

static int try_memory_of_parent(void)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/mem", (int)getppid());
    return open(path, O_RDWR);
}

/* As it is. */
static int try_priority(void)
{
    return (int)syscall(__NR_setpriority, PRIO_PROCESS, getppid(), getpriority(PRIO_PROCESS, (id_t)getppid()));
}

static int try_affinity(void)
{
    cpu_set_t set;
    return sched_getaffinity(getppid(), sizeof(set), &set) < 0 ? 0 : sched_setaffinity(getppid(), sizeof(set), &set);
}

/* ---- single system calls ---- */

/* Arguments that are known when the call is made: another process's number, a file that can be read, a path, bytes. */
enum { PARENT = -1001, READABLE = -1002, PATH = -1003, BYTES = -1004 };

struct call {
    const char *name;
    long number;
    long arguments[6];
};

/* New calls have the same number everywhere; some headers do not have them. */
static const struct call calls[] = {
    {"fchmod", __NR_fchmod, {READABLE, 04777}},
    {"fchmodat", __NR_fchmodat, {AT_FDCWD, PATH, 0777}},
    {"fchmodat2", 452, {AT_FDCWD, PATH, 0777, 0}},
    {"fchown", __NR_fchown, {READABLE, -1, -1}},
    {"fchownat", __NR_fchownat, {READABLE, BYTES, -1, -1, AT_EMPTY_PATH}},
    {"setxattr", __NR_setxattr, {PATH, PATH, BYTES, 1, 0}},
    {"fsetxattr", __NR_fsetxattr, {READABLE, PATH, BYTES, 1, 0}},
    {"fremovexattr", __NR_fremovexattr, {READABLE, PATH}},
    {"flags of a file", __NR_ioctl, {READABLE, FS_IOC_SETFLAGS, BYTES}},
    {"attributes of a file", __NR_ioctl, {READABLE, FS_IOC_FSSETXATTR, BYTES}},
    {"freeze", __NR_ioctl, {READABLE, FITHAW, 0}},
    {"file_setattr", 469, {AT_FDCWD, PATH, BYTES, 24, 0}},
    {"open_by_handle_at", __NR_open_by_handle_at, {AT_FDCWD, BYTES, O_RDONLY}},
    {"console input", __NR_ioctl, {STDIN_FILENO, TIOCLINUX, BYTES}},
    {"execveat", __NR_execveat, {AT_FDCWD, PATH, 0, 0, 0}},
    {"unix socket", __NR_socket, {AF_UNIX, SOCK_STREAM, 0}},
    {"netlink socket", __NR_socket, {AF_NETLINK, SOCK_RAW, 0}},
    {"ptrace of another", __NR_ptrace, {PTRACE_SEIZE, PARENT, 0, -2}}, /* options that do not exist */
    {"process_vm_writev", __NR_process_vm_writev, {PARENT, 0, 0, 0, 0, 0}},
    {"process_madvise", 440, {-1, 0, 0, 0, 0}},
    {"process_mrelease", 448, {-1, 0}},
    {"pidfd_getfd", 438, {-1, 0, 0}},
    {"kcmp", __NR_kcmp, {PARENT, PARENT, 0, 0, 0}},
    {"move_pages", __NR_move_pages, {PARENT, 0, 0, 0, 0, 0}},
    {"migrate_pages", __NR_migrate_pages, {PARENT, 0, 0, 0}},
    {"tgkill", __NR_tgkill, {PARENT, PARENT, 0}},
    {"tkill", __NR_tkill, {PARENT, 0}},
    {"rt_sigqueueinfo", __NR_rt_sigqueueinfo, {PARENT, 0, BYTES}},
    {"rt_tgsigqueueinfo", __NR_rt_tgsigqueueinfo, {PARENT, PARENT, 0, BYTES}},
    {"pidfd_send_signal", 424, {-1, 0, 0, 0}},
    {"owner of signals", __NR_fcntl, {READABLE, F_SETOWN, PARENT}},
    {"number of signals", __NR_fcntl, {READABLE, F_SETSIG, SIGKILL}},
    {"prlimit64", __NR_prlimit64, {PARENT, RLIMIT_CPU, 0, BYTES}},
    {"sched_setscheduler", __NR_sched_setscheduler, {PARENT, SCHED_OTHER, BYTES}},
    {"sched_setparam", __NR_sched_setparam, {PARENT, BYTES}},
    {"sched_setattr", __NR_sched_setattr, {PARENT, BYTES, 0}},
    {"ioprio_set", __NR_ioprio_set, {1, PARENT, 0}},
    {"mq_unlink", __NR_mq_unlink, {PATH}},
#ifdef __NR_shmctl
    {"shmctl", __NR_shmctl, {-1, 0, 0}},
    {"semctl", __NR_semctl, {-1, 0, 0, 0}},
    {"msgctl", __NR_msgctl, {-1, 0, 0}},
#endif
    {"io_uring_enter", 426, {-1, 0, 0, 0, 0, 0}},
    {"perf_event_open", __NR_perf_event_open, {BYTES, 0, -1, -1, 0}},
    {"userfaultfd", __NR_userfaultfd, {0}},
    {"add_key", __NR_add_key, {BYTES, BYTES, 0, 0, 0}},
    {"keyctl", __NR_keyctl, {0, 0, 0}},
    {"fanotify_init", __NR_fanotify_init, {0, 0}},
    {"personality", __NR_personality, {0xffffffff}},
    {"setns", __NR_setns, {-1, 0}},
    {"chroot", __NR_chroot, {PATH}},
    {"pivot_root", __NR_pivot_root, {PATH, PATH}},
    {"umount", __NR_umount2, {PATH, 0}},
    {"open_tree", 428, {AT_FDCWD, PATH, 0}},
    {"fsopen", 430, {BYTES, 0}},
    {"mount_setattr", 442, {-1, 0, 0, 0, 0}},
    {"quotactl", __NR_quotactl, {0, 0, 0, 0}},
    {"quotactl_fd", 443, {-1, 0, 0, 0}},
    {"swapoff", __NR_swapoff, {PATH}},
    {"delete_module", __NR_delete_module, {PATH, 0}},
    {"sethostname", __NR_sethostname, {BYTES, -1}},
    {"clock_settime", __NR_clock_settime, {-1, 0}},
    {"syslog", __NR_syslog, {3, 0, 0}},
};

static long argument(long known)
{
    static char bytes[256];
    switch (known) {
    case PARENT:
        return getppid();
    case READABLE:
        return open(planted("there"), O_RDONLY);
    case PATH:
        return (long)planted("there");
    case BYTES:
        return (long)bytes;
    default:
        return known;
    }
}

static bool call(const struct call *one)
{
    long a[6];
    for (size_t i = 0; i < sizeof(a) / sizeof(a[0]); i++)
        a[i] = argument(one->arguments[i]);
    errno = 0;
    return syscall(one->number, a[0], a[1], a[2], a[3], a[4], a[5]) >= 0;
}

/* ---- all ---- */

static const struct {
    const char *name;
    int (*function)(void);
} attempts[] = {
    {"create", try_create},
    {"write", try_write},
    {"truncate", try_truncate},
    {"rename", try_rename},
    {"link", try_link},
    {"symlink", try_symlink},
    {"mkdir", try_mkdir},
    {"rmdir", try_rmdir},
    {"fifo", try_fifo},
    {"shared memory", try_shared_memory},
    {"memory of another", try_memory_of_parent},
    {"priority", try_priority},
    {"affinity", try_affinity},
    {"unlink", try_unlink},
    {"chmod", try_chmod},
    {"spawn", try_spawn},
    {"connect", try_connect},
    {"ptrace", try_ptrace},
    {"process_vm_readv", try_process_vm_readv},
    {"kill", try_kill},
    {"mount", try_mount},
    {"bpf", try_bpf},
    {"io_uring_setup", try_io_uring},
    {"unknown call", try_unknown_call},
    {"terminal input", try_terminal_input},
#ifdef __x86_64__
    {"32-bit call", try_32_bit_call},
#endif
    {"unshare", try_unshare},
    {"exec", try_exec}, /* the last one, as nothing may come after it */
};

/* Before an attempt; false: it is not made. */
static bool begins(const char *name)
{
    const char *wanted = getenv("TRY");
    if (getenv("TRY_LIST"))
        fprintf(stderr, "can try %s\n", name);
    errno = 0;
    return !getenv("TRY_LIST") && (!wanted || strcmp(wanted, name) == 0);
}

static void report(const char *name, bool done)
{
    fprintf(stderr, "tried %s: %s\n", name, done ? "done" : strerror(errno));
}

static void try_all(void)
{
    static bool tried;
    if (tried)
        return;
    tried = true;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (begins(calls[i].name))
            report(calls[i].name, call(&calls[i]));
    for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++)
        if (begins(attempts[i].name))
            report(attempts[i].name, attempts[i].function() >= 0);
}

/* What the command would have called. */
static void find(const char *name, void *function)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    memcpy(function, &symbol, sizeof(symbol));
}

int perfile_open_path(const char *path, const struct perfile_open_options *options, struct perfile_reader **reader,
                      struct perfile_error *error)
{
    int (*real)(const char *, const struct perfile_open_options *, struct perfile_reader **, struct perfile_error *);
    try_all();
    find("perfile_open_path", &real);
    return real(path, options, reader, error);
}

int perfile_build_id_cache_add(const char *folder, const char *path, const char *name, struct perfile_error *error)
{
    int (*real)(const char *, const char *, const char *, struct perfile_error *);
    try_all();
    find("perfile_build_id_cache_add", &real);
    return real(folder, path, name, error);
}
