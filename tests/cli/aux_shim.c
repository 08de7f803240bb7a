/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into the command by aux_record.py: a machine whose PMU writes a hardware trace. AUX_SYS is a folder
 * instead of /sys/bus/event_source/devices, AUX_PLAY a file with what the kernel writes to the first ring buffer, and
 * to the AUX area beside it: each time the recorder looks, the next part of it. AUX_LOG gets a line for each call that
 * matters.
 *
 * A part is {type, bytes, pid, tid, misc, flags, time}, then its bytes. Type 0: a pause until the recorder asks for a
 * snapshot; 11: AUX data, of which the record AUX is written; else the body of a record. Trailers are added.
 */
#undef _FILE_OFFSET_BITS /* the functions have their own names */
#undef _FORTIFY_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../syscall_shim.h"

enum { MAX_EVENTS = 64, PAGE = 4096, SOFTWARE = 1, RECORD_AUX = 11, AUX_TRUNCATED = 1, AUX_OVERWRITE = 2 };
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

struct part {
    uint32_t type, bytes, pid, tid;
    uint32_t misc, flags;
    uint64_t time;
};

struct event {
    int fd;
    struct perf_event_attr attr;
    bool on;
};

static struct event events[MAX_EVENTS];
static unsigned event_count;
static struct perf_event_mmap_page *control; /* of the ring that is played */
static uint8_t *ring, *area;
static uint64_t ring_bytes, area_bytes, aux_head;
static bool is_overwritten;
static const uint8_t *play;
static size_t play_bytes, play_at;
static bool waits_for_stop;

static void note(const char *format, ...)
{
    const char *path = getenv("AUX_LOG");
    FILE *file = path ? NEXT(fopen)(path, "a") : NULL;
    va_list list;
    if (!file)
        return;
    va_start(list, format);
    vfprintf(file, format, list);
    va_end(list);
    putc('\n', file);
    fclose(file);
}

static struct event *event_of(int fd)
{
    for (unsigned i = 0; i < event_count; i++)
        if (events[i].fd == fd)
            return &events[i];
    return NULL;
}

/* ---- files of sysfs ---------------------------------------------------------------------------------------------- */

static const char *redirect(const char *path, char *buffer, size_t capacity)
{
    static const char devices[] = "sys/bus/event_source/devices";
    const char *other = getenv("AUX_SYS"), *rest = path + (path[0] == '/');
    if (!other || strncmp(rest, devices, sizeof(devices) - 1) != 0)
        return path;
    snprintf(buffer, capacity, "%s%s", other, rest + sizeof(devices) - 1);
    return buffer;
}

static bool has_mode(int flags)
{
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

int open(const char *path, int flags, ...)
{
    char buffer[PATH_MAX];
    va_list list;
    va_start(list, flags);
    const mode_t mode = has_mode(flags) ? va_arg(list, mode_t) : 0;
    va_end(list);
    return NEXT(open)(redirect(path, buffer, sizeof(buffer)), flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    char buffer[PATH_MAX];
    va_list list;
    va_start(list, flags);
    const mode_t mode = has_mode(flags) ? va_arg(list, mode_t) : 0;
    va_end(list);
    const char *other = redirect(path, buffer, sizeof(buffer));
    return NEXT(openat)(other == path ? folder : AT_FDCWD, other, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));
int openat64(int folder, const char *path, int flags, ...) __attribute__((alias("openat")));

DIR *opendir(const char *path)
{
    char buffer[PATH_MAX];
    return NEXT(opendir)(redirect(path, buffer, sizeof(buffer)));
}

/* ---- what the kernel writes -------------------------------------------------------------------------------------- */

static void put(const void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        ring[(control->data_head + i) & (ring_bytes - 1)] = ((const uint8_t *)data)[i];
    __atomic_store_n(&control->data_head, control->data_head + bytes, __ATOMIC_RELEASE);
}

/* A record with the parts of a sample that the event's records end with. */
static void put_record(const struct event *event, const struct part *part, uint32_t type, const void *body,
                       size_t bytes)
{
    const uint64_t wanted = event->attr.sample_type;
    uint64_t trailer[6];
    size_t count = 0;
    if (wanted & PERF_SAMPLE_TID)
        trailer[count++] = (uint64_t)part->tid << 32 | part->pid;
    if (wanted & PERF_SAMPLE_TIME)
        trailer[count++] = part->time;
    if (wanted & PERF_SAMPLE_ID)
        trailer[count++] = (uint64_t)(event - events) + 1;
    if (wanted & PERF_SAMPLE_CPU)
        trailer[count++] = 0;
    if (wanted & PERF_SAMPLE_IDENTIFIER)
        trailer[count++] = (uint64_t)(event - events) + 1;
    struct perf_event_header header = {.type = type, .misc = (uint16_t)part->misc};
    header.size = (uint16_t)(sizeof(header) + bytes + 8 * count);
    put(&header, sizeof(header));
    put(body, bytes);
    put(trailer, 8 * count);
}

/* What does not fit is lost, and reported as such. */
static void put_aux(const struct event *event, const struct part *part, const uint8_t *data)
{
    const uint64_t tail = __atomic_load_n(&control->aux_tail, __ATOMIC_ACQUIRE);
    const uint64_t free_bytes = is_overwritten ? UINT64_MAX : area_bytes - (aux_head - tail);
    const uint64_t bytes = part->bytes < free_bytes ? part->bytes : free_bytes;
    const uint64_t lost = bytes < part->bytes ? AUX_TRUNCATED : 0;
    const uint64_t body[] = {aux_head, bytes, part->flags | lost | (is_overwritten ? AUX_OVERWRITE : 0)};
    for (uint64_t i = 0; i < bytes; i++)
        area[(aux_head + i) & (area_bytes - 1)] = data[i];
    aux_head += bytes;
    __atomic_store_n(&control->aux_head, is_overwritten ? aux_head & (area_bytes - 1) : aux_head, __ATOMIC_RELEASE);
    put_record(event, part, RECORD_AUX, body, sizeof(body));
}

static const struct event *first_event(bool of_software)
{
    for (unsigned i = 0; i < event_count; i++)
        if ((events[i].attr.type == SOFTWARE) == of_software)
            return &events[i];
    return events;
}

static void load_play(void)
{
    struct stat about;
    const int fd = NEXT(open)(getenv("AUX_PLAY"), O_RDONLY);
    if (fd < 0 || fstat(fd, &about) < 0)
        abort();
    play_bytes = (size_t)about.st_size;
    play = NEXT(mmap)(NULL, play_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
}

/* The next part; false: there are no more. */
static bool play_one(void)
{
    struct part part;
    if (!play)
        load_play();
    if (waits_for_stop)
        return true;
    if (play_at == play_bytes)
        return false;
    memcpy(&part, play + play_at, sizeof(part));
    const uint8_t *body = play + play_at + sizeof(part);
    play_at += sizeof(part) + part.bytes;
    waits_for_stop = part.type == 0;
    if (waits_for_stop)
        note("paused");
    else if (part.type == RECORD_AUX)
        put_aux(first_event(false), &part, body);
    else
        put_record(first_event(part.type != PERF_RECORD_ITRACE_START), &part, part.type, body, part.bytes);
    return true;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static int open_event(const struct perf_event_attr *attr, long pid, long cpu)
{
    struct event *event = &events[event_count];
    if (event_count == MAX_EVENTS) {
        errno = EMFILE;
        return -1;
    }
    event->fd = eventfd(1, EFD_CLOEXEC);
    memcpy(&event->attr, attr, attr->size < sizeof(event->attr) ? attr->size : sizeof(event->attr));
    event_count++;
    note("open type=%u config=%#llx config2=%#llx period=%llu aux_sample=%u pid=%ld cpu=%ld", attr->type,
         (unsigned long long)attr->config, (unsigned long long)event->attr.config2,
         (unsigned long long)attr->sample_period, event->attr.aux_sample_size, pid, cpu);
    return event->fd;
}

long syscall(long number, ...)
{
    TAKE_SYSCALL_ARGUMENTS(arguments, number);
    if (number == SYS_perf_event_open)
        return open_event((const struct perf_event_attr *)arguments[0], arguments[1], (int)arguments[2]);
    return NEXT(syscall)(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}

static void control_event(struct event *event, unsigned long request, const char *filter)
{
    if (request == PERF_EVENT_IOC_SET_FILTER)
        note("filter %s", filter);
    if (request == PERF_EVENT_IOC_ENABLE || request == PERF_EVENT_IOC_DISABLE)
        event->on = request == PERF_EVENT_IOC_ENABLE;
    if (request == PERF_EVENT_IOC_DISABLE && event->attr.type != SOFTWARE) {
        note("stopped");
        waits_for_stop = false;
    }
}

int ioctl(int fd, unsigned long request, ...)
{
    struct event *event = event_of(fd);
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    if (!event)
        return NEXT(ioctl)(fd, request, argument);
    if (request == PERF_EVENT_IOC_ID)
        *(uint64_t *)argument = (uint64_t)(event - events) + 1;
    else
        control_event(event, request, argument);
    return 0;
}

ssize_t read(int fd, void *data, size_t bytes)
{
    return event_of(fd) ? 0 : NEXT(read)(fd, data, bytes);
}

ssize_t __read_chk(int fd, void *data, size_t bytes, size_t capacity);
ssize_t __read_chk(int fd, void *data, size_t bytes, size_t capacity)
{
    return bytes > capacity ? -1 : read(fd, data, bytes);
}

static void *map_ring(size_t bytes)
{
    void *memory = NEXT(mmap)(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return memory;
    struct perf_event_mmap_page *page = memory;
    page->cap_user_time_zero = page->cap_user_time = 1;
    page->time_mult = 1;
    if (!control) {
        control = page;
        ring = (uint8_t *)memory + PAGE;
        ring_bytes = bytes - PAGE;
    }
    return memory;
}

static void *map_area(size_t bytes, int protection)
{
    const char *limit = getenv("AUX_LIMIT");
    if (limit && bytes > strtoul(limit, NULL, 10)) {
        errno = EPERM;
        return MAP_FAILED;
    }
    void *memory = NEXT(mmap)(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    note("area %zu %s", bytes, protection & PROT_WRITE ? "kept" : "overwritten");
    if (!area) {
        area = memory;
        area_bytes = bytes;
        is_overwritten = !(protection & PROT_WRITE);
    }
    return memory;
}

void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    if (fd < 0 || !event_of(fd))
        return NEXT(mmap)(address, bytes, protection, flags, fd, offset);
    return offset ? map_area(bytes, protection) : map_ring(bytes);
}

void *mmap64(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
    __attribute__((alias("mmap")));

/* All that is recorded ends with the file. */
int epoll_wait(int poll, struct epoll_event *ready, int capacity, int timeout)
{
    const char *slow = getenv("AUX_SLOW"); /* microseconds between the parts */
    const bool goes_on = control && play_one();
    if (slow)
        usleep((useconds_t)strtoul(slow, NULL, 10));
    int count = NEXT(epoll_wait)(poll, ready, capacity, timeout);
    for (int i = 0; i < count && !goes_on; i++)
        ready[i].events |= EPOLLHUP;
    return count;
}
