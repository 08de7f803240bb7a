/* SPDX-License-Identifier: MIT */
/*
 * To be preloaded into the command, which then is tried with too little memory again and again: SHORT_MEMORY is "FROM,TO", two
 * descriptors. A line "NUMBER ALL BYTES" that can be read from the first is one attempt: the allocation of that number fails
 * (0: none), with ALL 1 also all behind it, and the address space may grow by at most so many bytes (0: no limit). What
 * comes of it is a line of the second: the exit status (negative: the signal), how many allocations there were and by how
 * many bytes the address space grew (0 without an end), '=' if it printed the same as the first attempt, '<' if the
 * beginning of that and '!' otherwise, and what it said.
 *
 * Each attempt is a child that was forked before main() begins: it takes much longer to load a program than to run it.
 */
#include <errno.h>

#ifdef __GLIBC__
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIMEOUT_SECONDS 60
#define KNOWN 256

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *pointer, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

struct attempt {
    long first, from_then_on, room;
};

struct need {
    long allocations, bytes;
};

static atomic_long allocations;
static struct attempt attempt;
static struct need *need; /* shared with the child */
static int status_file;
static long bytes_before;
static _Thread_local struct known {
    const void *caller;
    bool spared;
} known[KNOWN];

static void require(bool fine)
{
    if (!fine)
        abort();
}

/* A line of /proc/self/status, which was opened before there was a sandbox. */
static long bytes_of(const char *name)
{
    char text[4096];
    const ssize_t bytes = pread(status_file, text, sizeof(text) - 1, 0);
    text[bytes > 0 ? bytes : 0] = 0;
    const char *line = strstr(text, name);
    return line ? strtol(line + strlen(name), NULL, 10) * 1024 : 0;
}

__attribute__((destructor)) static void tell(void)
{
    if (need)
        *need = (struct need){allocations, bytes_of("VmPeak:") - bytes_before};
}

/* What a child printed, from the beginning. */
struct text {
    char *data;
    size_t bytes;
};

static struct text read_all(int fd)
{
    const off_t bytes = lseek(fd, 0, SEEK_END);
    struct text text = {malloc((size_t)bytes + 1), (size_t)bytes};
    require(text.data && pread(fd, text.data, text.bytes, 0) == bytes);
    text.data[bytes] = 0;
    return text;
}

static void become(struct attempt what, int out, int err, int to)
{
    status_file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    bytes_before = bytes_of("VmSize:");
    const struct rlimit limit = {(rlim_t)(bytes_before + what.room), (rlim_t)(bytes_before + what.room)};
    require(status_file >= 0 && bytes_before > 0 && dup2(out, 1) == 1 && dup2(err, 2) == 2);
    close(out);
    close(err);
    close(to);
    alarm(TIMEOUT_SECONDS);
    require(!what.room || setrlimit(RLIMIT_AS, &limit) == 0);
    allocations = 0;
    attempt = what;
    memset(known, 0, sizeof(known));
}

static char compare(struct text printed, struct text right)
{
    if (printed.bytes > right.bytes || memcmp(printed.data, right.data, printed.bytes) != 0)
        return '!';
    return printed.bytes == right.bytes ? '=' : '<';
}

/* Returns false in the child, which goes on to main(). */
static bool try_once(struct attempt what, int to, struct text *right)
{
    const int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC);
    int status = 0;
    require(out >= 0 && err >= 0);
    *need = (struct need){0};
    const pid_t child = fork();
    if (child == 0) {
        become(what, out, err, to);
        return false;
    }
    require(child > 0 && waitpid(child, &status, 0) == child);
    struct text printed = read_all(out), said = read_all(err);
    if (!right->data)
        *right = printed;
    dprintf(to, "%d %ld %ld %c %.*s\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), need->allocations,
            need->bytes, compare(printed, *right), (int)strcspn(said.data, "\n"), said.data);
    if (printed.data != right->data)
        free(printed.data);
    free(said.data);
    close(out);
    close(err);
    return true;
}

__attribute__((constructor)) static void try_all(void)
{
    const char *text = getenv("SHORT_MEMORY");
    int from, to;
    if (!text || sscanf(text, "%d,%d", &from, &to) != 2)
        return;
    struct text lines = read_all(from), right = {0};
    close(from);
    need = mmap(NULL, sizeof(*need), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    require(need != MAP_FAILED);
    for (char *line = strtok(lines.data, "\n"); line; line = strtok(NULL, "\n")) {
        struct attempt what;
        require(sscanf(line, "%ld %ld %ld", &what.first, &what.from_then_on, &what.room) == 3);
        if (!try_once(what, to, &right))
            return;
    }
    _exit(0);
}

/*
 * The dynamic linker ends the process when out of memory, and capstone uses what it did not get. So does libdw for the
 * tables of units, where only a look at what is left comes before (has_reserve in inlines_read.c): one allocation alone does
 * not fail there.
 */
static bool look_up(const void *caller)
{
    Dl_info info;
    return dladdr(caller, &info) && info.dli_fname &&
           (strstr(info.dli_fname, "/ld-") || strstr(info.dli_fname, "/libcapstone") ||
            (!attempt.from_then_on && strstr(info.dli_fname, "/libdw")));
}

/* A look takes long, and the callers are few. */
static bool is_spared(const void *caller)
{
    static _Thread_local bool looking;
    struct known *slot = &known[((uintptr_t)caller >> 2) % KNOWN];
    if (looking)
        return true;
    looking = true;
    if (slot->caller != caller)
        *slot = (struct known){caller, look_up(caller)};
    looking = false;
    return slot->spared;
}

static bool fails(const void *caller)
{
    if (attempt.room || is_spared(caller))
        return false;
    const long number = atomic_fetch_add(&allocations, 1) + 1;
    const bool failing = attempt.first && (attempt.from_then_on ? number >= attempt.first : number == attempt.first);
    if (failing)
        errno = ENOMEM;
    return failing;
}

void *malloc(size_t bytes)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *pointer, size_t bytes)
{
    const bool frees = pointer && !bytes;
    return !frees && fails(__builtin_return_address(0)) ? NULL : __libc_realloc(pointer, bytes);
}

void *memalign(size_t alignment, size_t bytes);

void *memalign(size_t alignment, size_t bytes)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, bytes);
}

int posix_memalign(void **pointer, size_t alignment, size_t bytes)
{
    void *made = fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, bytes);
    if (made)
        *pointer = made;
    return made ? 0 : ENOMEM;
}
#else
typedef int nothing; /* other C libraries: the test sees no allocations, and is skipped */
#endif
