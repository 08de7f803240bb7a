/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into the command by sandbox.py: what code could do that took the process over. It tries that when the first
 * recording is opened, and writes a line for each attempt to standard error: "tried NAME: " and the error, or "done".
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
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
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <perfile/perfile.h>

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

static void try_all(void)
{
    const char *wanted = getenv("TRY");
    for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
        if (wanted && strcmp(wanted, attempts[i].name) != 0)
            continue;
        errno = 0;
        const bool done = attempts[i].function() >= 0;
        fprintf(stderr, "tried %s: %s\n", attempts[i].name, done ? "done" : strerror(errno));
    }
}

int perfile_open_path(const char *path, const struct perfile_open_options *options, struct perfile_reader **reader,
                      struct perfile_error *error)
{
    static bool tried;
    int (*real)(const char *, const struct perfile_open_options *, struct perfile_reader **, struct perfile_error *);
    void *symbol = dlsym(RTLD_NEXT, "perfile_open_path");
    if (!tried)
        try_all();
    tried = true;
    memcpy(&real, &symbol, sizeof(real));
    return real(path, options, reader, error);
}
