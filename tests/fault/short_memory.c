/* SPDX-License-Identifier: MIT */
/*
 * To be preloaded into the command, which then is tried with too little memory again and again: SHORT_MEMORY is
 * "FROM,TO", two descriptors. A line "NUMBER ALL BYTES" that can be read from the first is one attempt: the allocation
 * of that number fails (0: none), with ALL 1 also all after it, and the address space may grow by at most so many bytes
 * (0: no limit). Its result is a line of the second: the exit status (negative: the signal), how many allocations there
 * were and by how many bytes the address space grew (0 without an end), a hash of the addresses that requested them,
 * '=' if it printed the same as the first attempt, '<' if the beginning of that and '!' otherwise, and its messages.
 *
 * Each attempt is a child that was forked before main() begins: it takes much longer to load a program than to run it.
 * An attempt that would repeat an earlier run is answered with the result of that run: an allocation that fails with all
 * after it, when it failed alone and no other was requested after it.
 *
 * It also takes longer to load a library that the command opens than all the rest: SHORT_LOADED names one that is
 * loaded before. Without that variable only allocations of libraries that the command opens itself fail; to others the
 * answer is a line with '-'.
 */
#include <errno.h>

#ifdef __GLIBC__
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
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
#define NUMBERS (1 << 20)
#define LIBRARIES 64

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *pointer, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

struct attempt {
    long first, from_then_on, capacity;
};

struct need {
    long allocations, bytes;
    unsigned long positions;
};

static atomic_long allocations;
static atomic_ulong positions;
/* By the numbers of the first attempt, which writes it; shared with the children. */
static bool *is_opened;
static const void *libraries[LIBRARIES]; /* that are there before main() */
static size_t library_count;
static struct attempt attempt;
static struct need *need; /* shared with the child */
static int status_file;
static long bytes_before;
static _Thread_local struct known {
    const void *caller;
    unsigned long position; /* in its library: where that lies changes */
    bool spared, opened;
} known[KNOWN];
static struct known *found; /* by the first attempt */

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

__attribute__((destructor)) static void report_notes(void)
{
    if (need)
        *need = (struct need){allocations, bytes_of("VmPeak:") - bytes_before, positions};
    if (found && !attempt.first && !attempt.capacity)
        memcpy(found, known, sizeof(known));
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
    const struct rlimit limit = {(rlim_t)(bytes_before + what.capacity), (rlim_t)(bytes_before + what.capacity)};
    require(status_file >= 0 && bytes_before > 0 && dup2(out, 1) == 1 && dup2(err, 2) == 2);
    close(out);
    close(err);
    close(to);
    alarm(TIMEOUT_SECONDS);
    require(!what.capacity || setrlimit(RLIMIT_AS, &limit) == 0);
    allocations = 0;
    positions = 0;
    attempt = what;
}

static char compare(struct text printed, struct text right)
{
    if (printed.bytes > right.bytes || memcmp(printed.data, right.data, printed.bytes) != 0)
        return '!';
    return printed.bytes == right.bytes ? '=' : '<';
}

/* What came of an attempt, as a line. */
static void put(char **line, int status, char compared, const char *stated)
{
    free(*line);
    require(asprintf(line, "%d %ld %ld %lx %c %.*s\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status),
                     need->allocations, need->bytes, need->positions, compared, (int)strcspn(stated, "\n"),
                     stated) > 0);
}

/* Returns false in the child, which goes on to main(). */
static bool try_once(struct attempt what, int to, struct text *right, char **line)
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
    struct text printed = read_all(out), stated = read_all(err);
    if (!right->data)
        *right = printed;
    put(line, status, compare(printed, *right), stated.data);
    if (printed.data != right->data)
        free(printed.data);
    free(stated.data);
    close(out);
    close(err);
    return true;
}

/* The line of a run that is this one, or NULL. */
static const char *known_line(struct attempt what, struct attempt before, const char *last)
{
    if (!what.first)
        return NULL;
    require(what.first < NUMBERS);
    if (!found && !is_opened[what.first])
        return "0 0 0 0 - \n";
    const bool was_last = before.first == what.first && !before.from_then_on && need->allocations == what.first;
    return what.from_then_on && was_last ? last : NULL;
}

static void *share(size_t bytes)
{
    void *capacity = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    require(capacity != MAP_FAILED);
    return capacity;
}

static int add_library(struct dl_phdr_info *info, size_t size, void *context)
{
    Dl_info found_there;
    (void)size;
    (void)context;
    for (int i = 0; i < info->dlpi_phnum && library_count < LIBRARIES; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC &&
            dladdr((void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr), &found_there)) {
            libraries[library_count++] = found_there.dli_fbase;
            break;
        }
    return 0;
}

/* What the children need not do again. */
static void prepare(void)
{
    const char *library = getenv("SHORT_LOADED");
    need = share(sizeof(*need));
    is_opened = share(NUMBERS * sizeof(*is_opened));
    dl_iterate_phdr(add_library, NULL);
    if (library) {
        dlopen(library, RTLD_NOW);
        found = share(sizeof(known));
    }
}

__attribute__((constructor)) static void try_all(void)
{
    const char *text = getenv("SHORT_MEMORY");
    int from, to;
    if (!text || sscanf(text, "%d,%d", &from, &to) != 2)
        return;
    struct text lines = read_all(from), right = {0};
    struct attempt before = {0};
    char *first = NULL, *last = NULL;
    close(from);
    prepare();
    for (char *line = strtok(lines.data, "\n"); line; line = strtok(NULL, "\n")) {
        struct attempt what;
        require(sscanf(line, "%ld %ld %ld", &what.first, &what.from_then_on, &what.capacity) == 3);
        const char *same = known_line(what, before, last);
        if (!same && !try_once(what, to, &right, &last))
            return;
        if (!first) {
            first = strdup(last);
            if (found)
                memcpy(known, found, sizeof(known));
        }
        before = what;
        dprintf(to, "%s", same ? same : last);
    }
    _exit(0);
}

/* The dynamic linker ends the process when out of memory, and capstone uses what it did not get. */
static struct known look_up(const void *caller)
{
    Dl_info info;
    if (!dladdr(caller, &info) || !info.dli_fname)
        return (struct known){.caller = caller};
    bool opened = true;
    for (size_t i = 0; i < library_count; i++)
        opened = opened && libraries[i] != info.dli_fbase;
    return (struct known){caller, (uintptr_t)caller - (uintptr_t)info.dli_fbase,
                          strstr(info.dli_fname, "/ld-") || strstr(info.dli_fname, "/libcapstone"), opened};
}

/* A look takes long, and the callers are few. NULL: the look itself. */
static const struct known *know(const void *caller)
{
    static _Thread_local bool looking;
    struct known *slot = &known[((uintptr_t)caller >> 2) % KNOWN];
    if (looking)
        return NULL;
    looking = true;
    if (slot->caller != caller)
        *slot = look_up(caller);
    looking = false;
    return slot;
}

static bool fails(const void *caller)
{
    const struct known *from = attempt.capacity ? NULL : know(caller);
    if (!from || from->spared)
        return false;
    const long number = atomic_fetch_add(&allocations, 1) + 1;
    atomic_fetch_add(&positions, (from->position + 1) * (2 * (unsigned long)number + 1));
    if (is_opened && !attempt.first && number < NUMBERS)
        is_opened[number] = from->opened;
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
