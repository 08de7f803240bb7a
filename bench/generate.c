/* SPDX-License-Identifier: MIT */
/*
 * Writes perf.data files of any size for measurements: as perf 7.2 would have recorded them system-wide, but the same
 * bytes on every machine and without a kernel. Stands alone on purpose: it shares no code with what it measures.
 *
 *     generate KIND BYTES [options] -o FILE        (see usage() below)
 *
 * What makes the files like real ones: each CPU has its own ring buffer, and the buffers are drained one after the
 * other, so records of one round must be merged by time and some are older than the round before; processes fork,
 * exec, map files, start threads and exit; synthesized records stand first and carry no time.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

enum {
    MMAP2 = 10,
    COMM = 3,
    EXIT = 4,
    FORK = 7,
    SAMPLE = 9,
    HEADER_ATTR = 64,
    HEADER_TRACING_DATA = 66,
    FINISHED_ROUND = 68,
    ID_INDEX = 69,
    THREAD_MAP = 73,
    CPU_MAP = 74,
    HEADER_FEATURE = 80,
    FINISHED_INIT = 82,
    COMPRESSED2 = 83,
};

enum {
    BY_KERNEL = 1,
    BY_USER = 2,
    COMM_EXEC = 1 << 13,
    FORK_SYNTHESIZED = 1 << 13,
    MMAP_BUILD_ID = 1 << 14,
};

enum {
    HAS_IP = 1 << 0,
    HAS_TID = 1 << 1,
    HAS_TIME = 1 << 2,
    HAS_CALLCHAIN = 1 << 5,
    HAS_CPU = 1 << 7,
    HAS_PERIOD = 1 << 8,
    HAS_RAW = 1 << 10,
    HAS_IDENTIFIER = 1 << 16,
};

enum {
    CAPACITY = 65535,        /* the largest record */
    RING_BYTES = 512 * 1024, /* perf's default; in COMPRESSED.mmap_len together with its control page */
    PAGE = 4096,
    MAX_CPUS = 256,
    MAX_TASKS = 24, /* per CPU */
    MAX_FRAMES = 27,
    MIN_FRAMES = 12,
    FUNCTIONS = 64,
    LIBRARIES = 2,
    CHURN_LIBRARIES = 8,
};

static const uint64_t KERNEL_TEXT = 0xffffffff81000000;
static const uint64_t IN_KERNEL = (uint64_t)-128;
static const uint64_t IN_USER = (uint64_t)-512;

static void die(const char *what)
{
    fprintf(stderr, "generate: %s%s%s\n", what, errno ? ": " : "", errno ? strerror(errno) : "");
    exit(1);
}

/* ---- random numbers: xorshift64*, one state per CPU ---- */

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1d;
}

static bool random_one_in(uint64_t *state, uint32_t n)
{
    return (uint32_t)(random_next(state) >> 32) < UINT32_MAX / n;
}

/* A value that depends on `seed` alone, for addresses and build ids. */
static uint64_t scramble(uint64_t seed)
{
    seed += 0x9e3779b97f4a7c15;
    seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9;
    seed = (seed ^ seed >> 27) * 0x94d049bb133111eb;
    return seed ^ seed >> 31;
}

/* ---- bytes in memory, in the order of this machine: so is perf.data ---- */

struct buffer {
    uint8_t *data;
    size_t bytes, capacity;
};

/* Reserves `bytes` more, which count from now on. */
static uint8_t *extend(struct buffer *buffer, size_t bytes)
{
    if (buffer->capacity - buffer->bytes < bytes) {
        buffer->capacity = buffer->capacity * 2 + bytes + CAPACITY;
        buffer->data = realloc(buffer->data, buffer->capacity);
        if (!buffer->data)
            die("no memory");
    }
    buffer->bytes += bytes;
    return buffer->data + buffer->bytes - bytes;
}

static uint8_t *put_u64(uint8_t *at, uint64_t value)
{
    memcpy(at, &value, sizeof(value));
    return at + sizeof(value);
}

static uint8_t *put_u32s(uint8_t *at, uint32_t first, uint32_t second)
{
    memcpy(at, &first, sizeof(first));
    memcpy(at + sizeof(first), &second, sizeof(second));
    return at + sizeof(first) + sizeof(second);
}

static uint8_t *put_header(uint8_t *at, uint32_t type, uint16_t misc, size_t size)
{
    uint16_t short_size = (uint16_t)size;

    memcpy(at, &type, sizeof(type));
    memcpy(at + 4, &misc, sizeof(misc));
    memcpy(at + 6, &short_size, sizeof(short_size));
    return at + 8;
}

static void add_bytes(struct buffer *buffer, const void *data, size_t bytes)
{
    memcpy(extend(buffer, bytes), data, bytes);
}

static void add_u8(struct buffer *buffer, uint8_t value)
{
    add_bytes(buffer, &value, sizeof(value));
}

static void add_u16(struct buffer *buffer, uint16_t value)
{
    add_bytes(buffer, &value, sizeof(value));
}

static void add_u32(struct buffer *buffer, uint32_t value)
{
    add_bytes(buffer, &value, sizeof(value));
}

static void add_u64(struct buffer *buffer, uint64_t value)
{
    add_bytes(buffer, &value, sizeof(value));
}

static void pad(struct buffer *buffer, size_t start, size_t multiple)
{
    size_t rest = (buffer->bytes - start) % multiple;

    if (rest)
        memset(extend(buffer, multiple - rest), 0, multiple - rest);
}

/* Text with its NUL, filled up with zeros. */
static void add_text(struct buffer *buffer, const char *text, size_t multiple)
{
    size_t start = buffer->bytes;

    add_bytes(buffer, text, strlen(text) + 1);
    pad(buffer, start, multiple);
}

/* A string of a header feature: its length, then the text filled up to 64. */
static void add_string(struct buffer *buffer, const char *text)
{
    add_u32(buffer, (uint32_t)((strlen(text) + 1 + 63) / 64 * 64));
    add_text(buffer, text, 64);
}

/* ---- the kinds of recordings and their events ---- */

struct program {
    const char *comm;
    const char *path;
    uint64_t text_bytes;
};

static const struct program programs[] = {
    {"make", "/opt/bench/bin/make", 0x3a000},
    {"cc1", "/opt/bench/libexec/cc1", 0x1400000},
    {"as", "/opt/bench/bin/as", 0x61000},
    {"ld", "/opt/bench/bin/ld", 0x12c000},
    {"gzip", "/opt/bench/bin/gzip", 0x10000},
    {"sort", "/opt/bench/bin/sort", 0x15000},
    {"python3", "/opt/bench/bin/python3.11", 0x2c5000},
    {"lua", "/opt/bench/bin/lua", 0x30000},
    {"sqlite3", "/opt/bench/bin/sqlite3", 0x120000},
    {"openssl", "/opt/bench/bin/openssl", 0x86000},
};
enum { PROGRAMS = sizeof(programs) / sizeof(programs[0]) };

static const struct program libraries[LIBRARIES] = {
    {NULL, "/opt/bench/lib/x86_64-linux-gnu/libc.so.6", 0x168000},
    {NULL, "/opt/bench/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", 0x29000},
};

struct field {
    const char *type, *name;
    unsigned offset, bytes;
    bool is_signed;
};

/* The raw data of a tracepoint; the format texts of TRACING_DATA are made of it. */
struct layout {
    const struct field *fields;
    const char *print;
    unsigned bytes;
};

static const struct field enter_fields[] = {
    {"long", "id", 8, 8, true}, {"unsigned long", "args[6]", 16, 48, false}, {NULL, NULL, 0, 0, false}};
static const struct field exit_fields[] = {
    {"long", "id", 8, 8, true}, {"long", "ret", 16, 8, true}, {NULL, NULL, 0, 0, false}};
static const struct field switch_fields[] = {
    {"char", "prev_comm[16]", 8, 16, false},  {"pid_t", "prev_pid", 24, 4, true},
    {"int", "prev_prio", 28, 4, true},        {"long", "prev_state", 32, 8, true},
    {"char", "next_comm[16]", 40, 16, false}, {"pid_t", "next_pid", 56, 4, true},
    {"int", "next_prio", 60, 4, true},        {NULL, NULL, 0, 0, false}};
static const struct field task_fields[] = {{"char", "comm[16]", 8, 16, false},
                                           {"pid_t", "pid", 24, 4, true},
                                           {"int", "prio", 28, 4, true},
                                           {"int", "target_cpu", 32, 4, true},
                                           {NULL, NULL, 0, 0, false}};
static const struct field runtime_fields[] = {{"char", "comm[16]", 8, 16, false},
                                              {"pid_t", "pid", 24, 4, true},
                                              {"u64", "runtime", 32, 8, false},
                                              {NULL, NULL, 0, 0, false}};

static const struct layout enter_layout = {
    enter_fields,
    "\"NR %ld (%lx, %lx, %lx, %lx, %lx, %lx)\", REC->id, REC->args[0], REC->args[1], REC->args[2], "
    "REC->args[3], REC->args[4], REC->args[5]",
    64};
static const struct layout exit_layout = {exit_fields, "\"NR %ld = %ld\", REC->id, REC->ret", 24};
static const struct layout switch_layout = {
    switch_fields,
    "\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d next_prio=%d\", "
    "REC->prev_comm, REC->prev_pid, REC->prev_prio, (REC->prev_state & 0xff) ? __print_flags(REC->prev_state & 0xff, "
    "\"|\", { 0x01, \"S\" }, { 0x02, \"D\" }, { 0x04, \"T\" }, { 0x08, \"t\" }, { 0x10, \"X\" }, { 0x20, \"Z\" }, "
    "{ 0x40, \"P\" }, { 0x80, \"I\" }) : \"R\", REC->prev_state & 0x100 ? \"+\" : \"\", REC->next_comm, REC->next_pid, "
    "REC->next_prio",
    64};
static const struct layout task_layout = {
    task_fields, "\"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, REC->prio, REC->target_cpu", 36};
static const struct layout runtime_layout = {
    runtime_fields, "\"comm=%s pid=%d runtime=%Lu [ns]\", REC->comm, REC->pid, (unsigned long long)REC->runtime", 40};

struct event {
    const char *system, *name;
    const struct layout *layout;
};

static const struct event clock_events[] = {{NULL, "cpu-clock", NULL}};

enum { SYS_ENTER, SYS_EXIT, SWITCH, RUNTIME, WAKING, WAKEUP, FIRST_RARE };
static const struct event trace_events[] = {
    {"raw_syscalls", "sys_enter", &enter_layout},
    {"raw_syscalls", "sys_exit", &exit_layout},
    {"sched", "sched_switch", &switch_layout},
    {"sched", "sched_stat_runtime", &runtime_layout},
    {"sched", "sched_waking", &task_layout},
    {"sched", "sched_wakeup", &task_layout},
    {"sched", "sched_wakeup_new", &task_layout},
    {"sched", "sched_migrate_task", &task_layout},
    {"sched", "sched_process_fork", &task_layout},
    {"sched", "sched_process_exec", &task_layout},
    {"sched", "sched_process_exit", &task_layout},
    {"sched", "sched_process_free", &task_layout},
    {"sched", "sched_process_wait", &task_layout},
    {"sched", "sched_process_hang", &task_layout},
    {"sched", "sched_prepare_exec", &task_layout},
    {"sched", "sched_pi_setprio", &task_layout},
    {"sched", "sched_move_numa", &task_layout},
    {"sched", "sched_stick_numa", &task_layout},
    {"sched", "sched_swap_numa", &task_layout},
    {"sched", "sched_wait_task", &task_layout},
    {"sched", "sched_kthread_stop", &task_layout},
    {"sched", "sched_kthread_stop_ret", &task_layout},
    {"sched", "sched_kthread_work_queue_work", &task_layout},
    {"sched", "sched_kthread_work_execute_start", &task_layout},
    {"sched", "sched_kthread_work_execute_end", &task_layout},
    {"sched", "sched_stat_wait", &runtime_layout},
    {"sched", "sched_stat_sleep", &runtime_layout},
    {"sched", "sched_stat_iowait", &runtime_layout},
    {"sched", "sched_stat_blocked", &runtime_layout},
};
enum { TRACE_EVENTS = sizeof(trace_events) / sizeof(trace_events[0]) };

struct recording;
struct cpu;

struct kind {
    const char *name;
    uint64_t sample_type;
    uint64_t period;
    uint32_t step_ns;       /* from one sample of a CPU to the next, on average */
    uint32_t round_samples; /* of one CPU in one round, on average */
    const struct event *events;
    uint32_t event_count;
    void (*step)(struct recording *, struct cpu *); /* writes what happens next */
};

/* ---- the state of a recording ---- */

struct task {
    uint32_t pid, tid;
    uint32_t program;
    uint32_t exec_in; /* samples until it execs; 0: it has */
    uint32_t exit_in; /* samples until it exits; 0: it stays */
    uint32_t next_program;
    uint64_t image, library; /* where its text and the libraries are mapped */
    uint64_t frames[MAX_FRAMES];
    uint32_t depth;
};

struct cpu {
    uint32_t number;
    uint64_t now;
    uint64_t random;
    struct task tasks[MAX_TASKS];
    uint32_t task_count, current;
    bool in_syscall;
    uint32_t syscall;
    struct buffer ring;
    uint64_t ring_position; /* all bytes that ever were in the ring */
};

struct section {
    uint64_t offset, bytes;
};

struct output {
    int fd;
    struct buffer pending;
    uint64_t position;
    ZSTD_CCtx *zstd;
};

struct recording {
    const struct kind *kind;
    uint64_t sample_type;
    bool pipe, compressed, churns, quiet;
    uint32_t attr_size;
    uint64_t wanted_bytes, record_bytes;
    uint64_t records, samples, rounds;
    uint64_t first_time, last_time;
    uint32_t next_pid;
    struct cpu *cpus;
    uint32_t cpu_count;
    struct output out;
};

/* ---- output ---- */

static void flush(struct output *out)
{
    for (size_t done = 0; done < out->pending.bytes;) {
        ssize_t wrote = write(out->fd, out->pending.data + done, out->pending.bytes - done);
        if (wrote < 0 && errno != EINTR)
            die("cannot write");
        done += wrote < 0 ? 0 : (size_t)wrote;
    }
    out->pending.bytes = 0;
}

static void output_write(struct output *out, const void *data, size_t bytes)
{
    add_bytes(&out->pending, data, bytes);
    out->position += bytes;
    if (out->pending.bytes >= 256 * 1024)
        flush(out);
}

/*
 * Writes compressed records of one push: pieces of the one frame that goes through the complete file, flushed after the
 * push.
 */
static void output_compressed(struct output *out, const void *data, size_t bytes)
{
    ZSTD_inBuffer in = {data, bytes, 0};
    size_t left = 1;

    while (left) {
        uint8_t record[CAPACITY / 8 * 8];
        ZSTD_outBuffer piece = {record + 16, sizeof(record) - 16, 0};
        left = ZSTD_compressStream2(out->zstd, &piece, &in, ZSTD_e_flush);
        if (ZSTD_isError(left))
            die(ZSTD_getErrorName(left));
        size_t size = (16 + piece.pos + 7) / 8 * 8;
        put_u64(put_header(record, COMPRESSED2, 0, size), piece.pos);
        memset(record + 16 + piece.pos, 0, size - 16 - piece.pos);
        output_write(out, record, size);
    }
}

/* Records that perf makes itself: never compressed. */
static void write_plain(struct recording *r, struct buffer *records, uint64_t count)
{
    output_write(&r->out, records->data, records->bytes);
    r->record_bytes += records->bytes;
    r->records += count;
    records->bytes = 0;
}

/* What a ring buffer holds. Where the ring wraps perf sees two pieces, and cuts a record there if need be. */
static void drain(struct recording *r, struct cpu *cpu)
{
    size_t to_wrap = RING_BYTES - (size_t)(cpu->ring_position % RING_BYTES);

    r->record_bytes += cpu->ring.bytes;
    cpu->ring_position += cpu->ring.bytes;
    for (size_t done = 0; done < cpu->ring.bytes;) {
        size_t piece = cpu->ring.bytes - done < to_wrap ? cpu->ring.bytes - done : to_wrap;
        (r->compressed ? output_compressed : output_write)(&r->out, cpu->ring.data + done, piece);
        done += piece;
        to_wrap = RING_BYTES;
    }
    cpu->ring.bytes = 0;
}

/* ---- samples ---- */

static uint64_t event_id(const struct recording *r, uint32_t event, uint32_t cpu)
{
    return 10 + (uint64_t)event * r->cpu_count + cpu;
}

/* Header and fixed part of a sample of `size` bytes in all; the current task's. */
static uint8_t *put_sample(struct recording *r, struct cpu *cpu, uint32_t event, uint64_t ip, size_t size)
{
    const struct task *task = &cpu->tasks[cpu->current];
    uint8_t *at = extend(&cpu->ring, size);

    at = put_header(at, SAMPLE, ip >> 63 ? BY_KERNEL : BY_USER, size);
    if (r->sample_type & HAS_IDENTIFIER)
        at = put_u64(at, event_id(r, event, cpu->number));
    at = put_u64(at, ip);
    at = put_u32s(at, task->pid, task->tid);
    at = put_u64(at, cpu->now);
    if (r->sample_type & HAS_CPU)
        at = put_u32s(at, cpu->number, 0);
    at = put_u64(at, r->kind->period);
    r->samples++;
    r->records++;
    return at;
}

static size_t fixed_bytes(const struct recording *r)
{
    return 8 + 8 * (size_t)__builtin_popcountll(r->sample_type &
                                                (HAS_IP | HAS_TID | HAS_TIME | HAS_CPU | HAS_PERIOD | HAS_IDENTIFIER));
}

/* Returns an address in one of FUNCTIONS functions, few of them hot, at one of 16 offsets each. */
static uint64_t code_address(uint64_t text, uint64_t number)
{
    uint64_t function = number & number >> 8 & (FUNCTIONS - 1);
    return text + 0x1000 + function * 0x340 + (number >> 16 & 15) * 0x15;
}

static uint64_t user_address(const struct task *task, uint64_t number)
{
    return code_address(number >> 60 < 4 ? task->library : task->image, number);
}

static void step_flat(struct recording *r, struct cpu *cpu)
{
    uint64_t number = random_next(&cpu->random);
    bool kernel = number >> 48 & 1 && number >> 49 & 1;

    put_sample(r, cpu, 0, kernel ? code_address(KERNEL_TEXT, number) : user_address(&cpu->tasks[cpu->current], number),
               fixed_bytes(r));
}

/* Some calls return, others are made: the outer frames stay, so chains share their ends but few are equal. */
static void walk_stack(struct cpu *cpu, struct task *task)
{
    uint64_t number = random_next(&cpu->random);
    uint32_t wanted = MIN_FRAMES + (uint32_t)(number >> 32) % (MAX_FRAMES - MIN_FRAMES);
    uint32_t kept = wanted < task->depth ? wanted : task->depth;

    if (kept > 2 + (uint32_t)(number & 7))
        kept -= (uint32_t)(number & 7);
    for (uint32_t i = kept; i < wanted; i++)
        task->frames[i] = user_address(task, random_next(&cpu->random)) + 5;
    task->depth = wanted;
}

static uint8_t *put_kernel_chain(uint8_t *at, struct cpu *cpu, uint64_t ip, uint32_t count)
{
    at = put_u64(at, IN_KERNEL);
    at = put_u64(at, ip);
    for (uint32_t i = 1; i < count; i++)
        at = put_u64(at, code_address(KERNEL_TEXT, random_next(&cpu->random)) + 5);
    return at;
}

static void step_callchain(struct recording *r, struct cpu *cpu)
{
    struct task *task = &cpu->tasks[cpu->current];
    uint64_t number = random_next(&cpu->random), user_ip = user_address(task, number);
    uint32_t kernel = (number >> 48 & 7) == 0 ? 4 + (number >> 51 & 3) : 0;
    uint64_t ip = kernel ? code_address(KERNEL_TEXT, number) : user_ip;

    walk_stack(cpu, task);
    uint64_t count = (kernel ? kernel + 1 : 0) + 2 + task->depth;
    uint8_t *at = put_sample(r, cpu, 0, ip, fixed_bytes(r) + 8 + (size_t)count * 8);
    at = put_u64(at, count);
    if (kernel)
        at = put_kernel_chain(at, cpu, ip, kernel);
    at = put_u64(at, IN_USER);
    at = put_u64(at, user_ip);
    for (uint32_t i = task->depth; i-- > 0;)
        at = put_u64(at, task->frames[i]);
}

/* Puts a tracepoint's sample; returns the address of its raw data after the common fields, with the rest set to 0. */
static uint8_t *put_trace(struct recording *r, struct cpu *cpu, uint32_t event)
{
    uint32_t bytes = trace_events[event].layout->bytes;
    uint32_t padded = (4 + bytes + 7) / 8 * 8;
    uint16_t id = (uint16_t)(300 + event);
    uint64_t ip = code_address(KERNEL_TEXT, (uint64_t)event << 16 | event << 8 | event);
    uint8_t *at = put_sample(r, cpu, event, ip, fixed_bytes(r) + padded);

    memset(at, 0, padded);
    bytes = padded - 4; /* the kernel counts the padding in */
    memcpy(at, &bytes, sizeof(bytes));
    memcpy(at + 4, &id, sizeof(id));
    memcpy(at + 8, &cpu->tasks[cpu->current].tid, 4);
    cpu->now += 200;
    return at + 12;
}

static void put_name(uint8_t *at, const struct task *task)
{
    memcpy(at, programs[task->program].comm, strlen(programs[task->program].comm));
}

static void trace_task(struct recording *r, struct cpu *cpu, uint32_t event, const struct task *task)
{
    uint8_t *raw = put_trace(r, cpu, event);

    put_name(raw, task);
    put_u32s(raw + 16, task->tid, 120);
    if (trace_events[event].layout == &runtime_layout)
        put_u64(raw + 24, random_next(&cpu->random) % 1000000);
    else
        memcpy(raw + 24, &cpu->number, sizeof(cpu->number));
}

static void trace_switch(struct recording *r, struct cpu *cpu)
{
    uint32_t next = (uint32_t)(random_next(&cpu->random) >> 32) % cpu->task_count;
    const struct task *from = &cpu->tasks[cpu->current], *to = &cpu->tasks[next];

    trace_task(r, cpu, RUNTIME, from);
    uint8_t *raw = put_trace(r, cpu, SWITCH);
    put_name(raw, from);
    put_u32s(raw + 16, from->tid, 120);
    put_u64(raw + 24, random_next(&cpu->random) & 1);
    put_name(raw + 32, to);
    put_u32s(raw + 48, to->tid, 120);
    cpu->current = next;
}

static void trace_syscall(struct recording *r, struct cpu *cpu)
{
    uint64_t number = random_next(&cpu->random);

    if (cpu->in_syscall) {
        put_u64(put_u64(put_trace(r, cpu, SYS_EXIT), cpu->syscall), number >> 56 ? number & 0xfff : (uint64_t)-2);
    } else {
        cpu->syscall = (uint32_t)(number & number >> 8 & 255);
        uint8_t *at = put_u64(put_trace(r, cpu, SYS_ENTER), cpu->syscall);
        at = put_u64(at, number >> 16 & 15);
        at = put_u64(at, cpu->tasks[cpu->current].image + (number >> 24 & 0xfff0));
        put_u64(at, number >> 40 & 0xfff);
    }
    cpu->in_syscall = !cpu->in_syscall;
}

static void step_trace(struct recording *r, struct cpu *cpu)
{
    uint32_t other = (uint32_t)(random_next(&cpu->random) >> 32) % 400;
    const struct task *task = &cpu->tasks[other % cpu->task_count];

    if (cpu->in_syscall || other > 30) {
        trace_syscall(r, cpu);
    } else if (other > 15) {
        trace_switch(r, cpu);
    } else if (other > 3) {
        trace_task(r, cpu, WAKING, task);
        trace_task(r, cpu, WAKEUP, task);
    } else {
        trace_task(r, cpu, FIRST_RARE + (uint32_t)(random_next(&cpu->random) >> 32) % (TRACE_EVENTS - FIRST_RARE),
                   task);
    }
}

/* A wakeup and a switch in turn. */
static void step_sched(struct recording *r, struct cpu *cpu)
{
    uint32_t other = (uint32_t)(random_next(&cpu->random) >> 32) % cpu->task_count;

    trace_task(r, cpu, WAKING, &cpu->tasks[other]);
    trace_switch(r, cpu);
}

static const struct kind kinds[] = {
    {"flat", HAS_IP | HAS_TID | HAS_TIME | HAS_CPU | HAS_PERIOD, 20000, 20000, 256, clock_events, 1, step_flat},
    {"callchain", HAS_IP | HAS_TID | HAS_TIME | HAS_CALLCHAIN | HAS_CPU | HAS_PERIOD, 20000, 20000, 256, clock_events,
     1, step_callchain},
    {"tracepoint", HAS_IP | HAS_TID | HAS_TIME | HAS_CPU | HAS_PERIOD | HAS_RAW | HAS_IDENTIFIER, 1, 1500, 5,
     trace_events, TRACE_EVENTS, step_trace},
    {"sched", HAS_IP | HAS_TID | HAS_TIME | HAS_CPU | HAS_PERIOD | HAS_RAW | HAS_IDENTIFIER, 1, 4000, 256, trace_events,
     TRACE_EVENTS, step_sched},
};

/* ---- processes ---- */

/* The id trailer of a record, then its size. `time` 0: perf made the record itself, and leaves the trailer empty. */
static void end_record(const struct recording *r, struct buffer *buffer, size_t start, const struct cpu *cpu,
                       const struct task *task)
{
    pad(buffer, start, 8);
    add_u32(buffer, task ? task->pid : 0);
    add_u32(buffer, task ? task->tid : 0);
    add_u64(buffer, task ? cpu->now : 0);
    if (r->sample_type & HAS_CPU)
        add_u64(buffer, 0);
    if (r->sample_type & HAS_CPU && task)
        put_u32s(buffer->data + buffer->bytes - 8, cpu->number, 0);
    if (r->sample_type & HAS_IDENTIFIER)
        add_u64(buffer, task ? event_id(r, 0, cpu->number) : 0);
    uint16_t size = (uint16_t)(buffer->bytes - start);
    memcpy(buffer->data + start + 6, &size, sizeof(size));
}

static size_t begin_record(struct buffer *buffer, uint32_t type, uint16_t misc)
{
    size_t start = buffer->bytes;

    put_header(extend(buffer, 8), type, misc, 0);
    return start;
}

static void add_mmap2(struct buffer *buffer, uint32_t pid, uint32_t tid, uint64_t addr, const struct program *file)
{
    uint64_t number = scramble(file->text_bytes);
    bool kernel = addr == KERNEL_TEXT;

    add_u32(buffer, pid);
    add_u32(buffer, tid);
    add_u64(buffer, addr);
    add_u64(buffer, file->text_bytes);
    add_u64(buffer, kernel ? addr : PAGE);
    add_u32(buffer, 20);
    add_u64(buffer, number);
    add_u64(buffer, scramble(number));
    add_u32(buffer, (uint32_t)number);
    add_u32(buffer, kernel ? 0 : 5); /* PROT_READ | PROT_EXEC */
    add_u32(buffer, kernel ? 0 : 2); /* MAP_PRIVATE */
    add_text(buffer, file->path, 8);
}

/* `cpu` NULL: perf found it in /proc. */
static void write_maps(struct recording *r, struct buffer *buffer, struct cpu *cpu, const struct task *task)
{
    const int count = r->churns ? CHURN_LIBRARIES : LIBRARIES;
    for (int i = -1; i < count; i++) {
        const struct program *file = i < 0 ? &programs[task->program] : &libraries[i % LIBRARIES];
        uint64_t addr = i < 0 ? task->image : task->library + (uint64_t)i * 0x1000000;
        size_t start = begin_record(buffer, MMAP2, BY_USER | MMAP_BUILD_ID);
        add_mmap2(buffer, task->pid, task->tid, addr, file);
        end_record(r, buffer, start, cpu, cpu ? task : NULL);
        r->records++;
        if (cpu)
            cpu->now += 40;
    }
}

static void write_comm(struct recording *r, struct buffer *buffer, const struct cpu *cpu, const struct task *task)
{
    size_t start = begin_record(buffer, COMM, cpu ? COMM_EXEC : 0);

    add_u32(buffer, task->pid);
    add_u32(buffer, task->tid);
    add_text(buffer, programs[task->program].comm, 8);
    end_record(r, buffer, start, cpu, cpu ? task : NULL);
    r->records++;
}

/* FORK or EXIT. The kernel writes a FORK in the name of the parent. */
static void write_task(struct recording *r, struct buffer *buffer, const struct cpu *cpu, uint32_t type,
                       const struct task *task, const struct task *parent)
{
    size_t start = begin_record(buffer, type, cpu ? 0 : FORK_SYNTHESIZED);

    add_u32(buffer, task->pid);
    add_u32(buffer, parent->pid);
    add_u32(buffer, task->tid);
    add_u32(buffer, parent->tid);
    add_u64(buffer, cpu ? cpu->now : 0);
    end_record(r, buffer, start, cpu, !cpu ? NULL : type == EXIT ? task : parent);
    r->records++;
}

/* Addresses of a new process image. */
static void task_position(struct task *task)
{
    uint64_t number = scramble(task->pid);

    task->image = 0x550000000000 + (number & 0xfffffff) * PAGE;
    task->library = 0x7f0000000000 + (number >> 32 & 0x7ffffff) * PAGE;
    task->depth = 0;
}

/* A child process that soon execs, or a thread. */
static void task_fork(struct recording *r, struct cpu *cpu)
{
    const struct task *parent = &cpu->tasks[cpu->current];
    struct task *child = &cpu->tasks[cpu->task_count];
    uint64_t number = random_next(&cpu->random);

    *child = *parent;
    child->tid = r->next_pid++;
    child->exit_in = r->churns ? 10 + (uint32_t)(number & 0x3f) : 200 + (uint32_t)(number & 0xfff);
    child->exec_in = 0;
    if (number >> 62) {
        child->pid = child->tid;
        child->exec_in = 3;
        child->next_program = (uint32_t)(number >> 32) % PROGRAMS;
    }
    write_task(r, &cpu->ring, cpu, FORK, child, parent);
    cpu->now += 100;
    cpu->current = cpu->task_count++;
}

static void task_exec(struct recording *r, struct cpu *cpu, struct task *task)
{
    task->program = task->next_program;
    task_position(task);
    write_comm(r, &cpu->ring, cpu, task);
    cpu->now += 100;
    write_maps(r, &cpu->ring, cpu, task);
}

static void task_exit(struct recording *r, struct cpu *cpu)
{
    struct task *task = &cpu->tasks[cpu->current];

    write_task(r, &cpu->ring, cpu, EXIT, task, &cpu->tasks[0]);
    cpu->now += 100;
    *task = cpu->tasks[--cpu->task_count];
    cpu->current = 0;
    cpu->in_syscall = false;
}

/* What happens around the samples: switches, forks, execs, exits. */
static void task_step(struct recording *r, struct cpu *cpu)
{
    struct task *task = &cpu->tasks[cpu->current];

    if (task->exec_in && --task->exec_in == 0)
        task_exec(r, cpu, task);
    else if (task->exit_in && --task->exit_in == 0)
        task_exit(r, cpu);
    else if (cpu->in_syscall)
        return;
    else if (random_one_in(&cpu->random, r->churns ? 60 : 3000) && cpu->task_count < MAX_TASKS)
        task_fork(r, cpu);
    else if (r->kind->events == clock_events && random_one_in(&cpu->random, 50))
        cpu->current = (uint32_t)(random_next(&cpu->random) >> 32) % cpu->task_count;
}

/* ---- the run ---- */

static void run_cpu(struct recording *r, struct cpu *cpu, uint64_t until)
{
    uint32_t step = r->kind->step_ns;

    while (cpu->now < until && cpu->ring.bytes < RING_BYTES / 2) {
        cpu->now += step / 2 + (random_next(&cpu->random) >> 40) % step;
        task_step(r, cpu);
        if (!r->first_time || cpu->now < r->first_time)
            r->first_time = cpu->now;
        r->kind->step(r, cpu);
        if (cpu->now > r->last_time)
            r->last_time = cpu->now;
    }
}

/*
 * One round: each buffer is drained a little later than the one before it, while all go on recording. So the last
 * buffer's records are younger than those that the first one gives in the next round.
 */
static void write_round(struct recording *r, uint64_t *now, struct buffer *scratch)
{
    uint64_t mean = (uint64_t)r->kind->step_ns * r->kind->round_samples;
    uint64_t before = r->record_bytes;

    *now += mean / 4 + scramble(r->rounds++) % (mean * 3 / 2);
    for (uint32_t i = 0; i < r->cpu_count; i++) {
        run_cpu(r, &r->cpus[i], *now);
        drain(r, &r->cpus[i]);
        *now += mean / (4 * r->cpu_count);
    }
    if (r->record_bytes == before)
        return;
    put_header(extend(scratch, 8), FINISHED_ROUND, 0, 8);
    write_plain(r, scratch, 1);
}

static void begin_cpus(struct recording *r, uint64_t seed)
{
    r->cpus = calloc(r->cpu_count, sizeof(*r->cpus));
    if (!r->cpus)
        die("no memory");
    for (uint32_t i = 0; i < r->cpu_count; i++) {
        struct cpu *cpu = &r->cpus[i];
        cpu->number = i;
        cpu->random = scramble(seed * MAX_CPUS + i) | 1;
        cpu->now = 1000000000;
        /* Every program runs on every CPU: the first as processes, the others as further threads of these. */
        cpu->task_count = PROGRAMS;
        for (uint32_t n = 0; n < PROGRAMS; n++) {
            struct task *task = &cpu->tasks[n];
            task->pid = 1000 + n;
            task->tid = i ? r->next_pid++ : task->pid;
            task->program = n;
            task_position(task);
        }
    }
}

/* ---- records before the samples ---- */

static void write_id_index(struct recording *r, struct buffer *buffer)
{
    for (uint32_t event = 0; event < r->kind->event_count; event++) {
        size_t size = 16 + (size_t)r->cpu_count * 32;
        put_u64(put_header(extend(buffer, 16), ID_INDEX, 0, size), r->cpu_count);
        for (uint32_t cpu = 0; cpu < r->cpu_count; cpu++) {
            add_u64(buffer, event_id(r, event, cpu));
            add_u64(buffer, cpu);
            add_u64(buffer, cpu);
            add_u64(buffer, UINT64_MAX);
        }
        write_plain(r, buffer, 1);
    }
}

static void write_targets(struct recording *r, struct buffer *buffer)
{
    put_u64(put_header(extend(buffer, 16), THREAD_MAP, 0, 40), 1);
    add_u64(buffer, UINT64_MAX);
    memset(extend(buffer, 16), 0, 16);
    put_header(extend(buffer, 8), CPU_MAP, 0, 16);
    add_u16(buffer, 2); /* a range */
    add_u16(buffer, 0);
    add_u16(buffer, 0);
    add_u16(buffer, (uint16_t)(r->cpu_count - 1));
    write_plain(r, buffer, 2);
}

static void write_kernel_map(struct recording *r, struct buffer *buffer)
{
    static const struct program kernel = {NULL, "[kernel.kallsyms]_text", 0x1200000};
    size_t start = begin_record(buffer, MMAP2, BY_KERNEL | MMAP_BUILD_ID);

    add_mmap2(buffer, UINT32_MAX, 0, KERNEL_TEXT, &kernel);
    end_record(r, buffer, start, NULL, NULL);
    write_plain(r, buffer, 1);
}

static void write_processes(struct recording *r, struct buffer *buffer)
{
    for (uint32_t n = 0; n < PROGRAMS; n++) {
        for (uint32_t i = 0; i < r->cpu_count; i++) {
            const struct task *leader = &r->cpus[0].tasks[n], *task = &r->cpus[i].tasks[n];
            static const struct task init = {.pid = 1, .tid = 1};
            write_task(r, buffer, NULL, FORK, task, i ? leader : &init);
            write_comm(r, buffer, NULL, task);
            if (i == 0)
                write_maps(r, buffer, NULL, task);
        }
    }
    put_header(extend(buffer, 8), FINISHED_INIT, 0, 8);
    write_plain(r, buffer, 1);
}

/* ---- events and header features ---- */

static bool big_endian(void)
{
    const uint16_t one = 1;

    return *(const uint8_t *)&one == 0;
}

/* Bit-fields of the kernel's struct: on big-endian machines they count from the other end. */
static uint64_t attr_flags(bool first, bool clock)
{
    uint64_t flags = 1 << 0 | 1 << 18, mirrored = 0; /* disabled, sample_id_all */

    if (first) /* mmap, comm, task, mmap2, comm_exec, build_id */
        flags |= 1 << 8 | 1 << 9 | 1 << 13 | 1 << 23 | 1 << 24 | 1ull << 34;
    if (clock)
        flags |= 1 << 10; /* freq */
    for (int bit = 0; bit < 64; bit++)
        mirrored |= (flags >> bit & 1) << (63 - bit);
    return big_endian() ? mirrored : flags;
}

static void add_attr(struct recording *r, struct buffer *buffer, uint32_t event)
{
    bool trace = r->kind->events[event].layout != NULL;
    size_t start = buffer->bytes;

    add_u32(buffer, trace ? 2 : 1);
    add_u32(buffer, r->attr_size);
    add_u64(buffer, trace ? 300 + event : 0);
    add_u64(buffer, trace ? 1 : 1000000000 / r->kind->step_ns); /* a period; a frequency */
    add_u64(buffer, r->sample_type);
    add_u64(buffer, 1 << 2 | 1 << 4); /* read_format: ID, LOST */
    add_u64(buffer, attr_flags(event == 0, !trace));
    memset(extend(buffer, r->attr_size - 48), 0, r->attr_size - 48);
    if (buffer->bytes - start != r->attr_size)
        die("attr size");
}

static void add_ids(const struct recording *r, struct buffer *buffer, uint32_t event)
{
    for (uint32_t cpu = 0; cpu < r->cpu_count; cpu++)
        add_u64(buffer, event_id(r, event, cpu));
}

static void event_name(const struct event *event, char *name, size_t bytes)
{
    snprintf(name, bytes, "%s%s%s", event->system ? event->system : "", event->system ? ":" : "", event->name);
}

static void add_event_desc(struct recording *r, struct buffer *buffer)
{
    char name[64];

    add_u32(buffer, r->kind->event_count);
    add_u32(buffer, r->attr_size);
    for (uint32_t i = 0; i < r->kind->event_count; i++) {
        add_attr(r, buffer, i);
        add_u32(buffer, r->cpu_count);
        event_name(&r->kind->events[i], name, sizeof(name));
        add_string(buffer, name);
        add_ids(r, buffer, i);
    }
}

static void add_nrcpus(struct recording *r, struct buffer *buffer)
{
    add_u32(buffer, r->cpu_count);
    add_u32(buffer, r->cpu_count);
}

static void add_total_mem(struct recording *r, struct buffer *buffer)
{
    (void)r;
    add_u64(buffer, 16 * 1024 * 1024);
}

static void add_cmdline(struct recording *r, struct buffer *buffer)
{
    static const char *const words[] = {"/usr/bin/perf", "record", "-a"};

    (void)r;
    add_u32(buffer, sizeof(words) / sizeof(words[0]));
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        add_string(buffer, words[i]);
}

/* One socket with one thread per core. */
static void add_topology(struct recording *r, struct buffer *buffer)
{
    char text[32];

    snprintf(text, sizeof(text), "0-%" PRIu32, r->cpu_count - 1);
    add_u32(buffer, 1);
    add_string(buffer, text);
    add_u32(buffer, r->cpu_count);
    for (uint32_t i = 0; i < r->cpu_count; i++) {
        snprintf(text, sizeof(text), "%" PRIu32, i);
        add_string(buffer, text);
    }
    for (uint32_t i = 0; i < r->cpu_count; i++) {
        add_u32(buffer, i);
        add_u32(buffer, 0);
    }
}

static void add_pmus(struct recording *r, struct buffer *buffer)
{
    static const struct {
        uint32_t type;
        const char *name;
    } pmus[] = {{4, "cpu"}, {1, "software"}, {2, "tracepoint"}};

    (void)r;
    add_u32(buffer, sizeof(pmus) / sizeof(pmus[0]));
    for (size_t i = 0; i < sizeof(pmus) / sizeof(pmus[0]); i++) {
        add_u32(buffer, pmus[i].type);
        add_string(buffer, pmus[i].name);
    }
}

static void add_sample_time(struct recording *r, struct buffer *buffer)
{
    if (r->pipe) /* the times are not known yet */
        return;
    add_u64(buffer, r->first_time);
    add_u64(buffer, r->last_time);
}

static void add_compressed(struct recording *r, struct buffer *buffer)
{
    if (!r->compressed)
        return;
    add_u32(buffer, 0);
    add_u32(buffer, 1); /* zstd */
    add_u32(buffer, 1); /* level */
    add_u32(buffer, r->pipe ? 1 : (uint32_t)(r->record_bytes / (r->out.position + 1) + 1));
    add_u32(buffer, RING_BYTES + PAGE);
}

static void add_format(struct buffer *buffer, const struct event *event, uint32_t id)
{
    static const struct field common[] = {{"unsigned short", "common_type", 0, 2, false},
                                          {"unsigned char", "common_flags", 2, 1, false},
                                          {"unsigned char", "common_preempt_count", 3, 1, false},
                                          {"int", "common_pid", 4, 4, true},
                                          {NULL, NULL, 0, 0, false}};
    const struct field *parts[] = {common, event->layout->fields};
    char text[4096];
    size_t used = (size_t)snprintf(text, sizeof(text), "name: %s\nID: %" PRIu32 "\nformat:\n", event->name, id);

    for (size_t part = 0; part < 2; part++) {
        for (const struct field *f = parts[part]; f->name; f++)
            used +=
                (size_t)snprintf(text + used, sizeof(text) - used, "\tfield:%s %s;\toffset:%u;\tsize:%u;\tsigned:%d;\n",
                                 f->type, f->name, f->offset, f->bytes, f->is_signed);
        used += (size_t)snprintf(text + used, sizeof(text) - used, "\n");
    }
    used += (size_t)snprintf(text + used, sizeof(text) - used, "print fmt: %s\n", event->layout->print);
    add_u64(buffer, used);
    add_bytes(buffer, text, used);
}

static void add_system(struct recording *r, struct buffer *buffer, const char *system)
{
    size_t count_at = 0;
    uint32_t count = 0;

    add_text(buffer, system, 1);
    count_at = buffer->bytes;
    add_u32(buffer, 0);
    for (uint32_t i = 0; i < r->kind->event_count; i++) {
        if (strcmp(r->kind->events[i].system, system) != 0)
            continue;
        add_format(buffer, &r->kind->events[i], 300 + i);
        count++;
    }
    memcpy(buffer->data + count_at, &count, sizeof(count));
}

static void add_tracing(struct recording *r, struct buffer *buffer)
{
    static const char header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                                      "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
                                      "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
    static const char header_event[] = "# compressed entry header\n";

    if (!r->kind->events[0].layout)
        return;
    add_bytes(buffer, "\x17\x08\x44tracing", 10);
    add_text(buffer, "0.6", 1);
    add_u8(buffer, big_endian());
    add_u8(buffer, sizeof(long));
    add_u32(buffer, PAGE);
    add_text(buffer, "header_page", 1);
    add_u64(buffer, sizeof(header_page) - 1);
    add_bytes(buffer, header_page, sizeof(header_page) - 1);
    add_text(buffer, "header_event", 1);
    add_u64(buffer, sizeof(header_event) - 1);
    add_bytes(buffer, header_event, sizeof(header_event) - 1);
    add_u32(buffer, 0); /* ftrace formats */
    add_u32(buffer, 2);
    add_system(r, buffer, "raw_syscalls");
    add_system(r, buffer, "sched");
    add_u32(buffer, 0); /* kallsyms */
    add_u32(buffer, 0); /* printk formats */
    add_u64(buffer, 0); /* saved cmdlines */
}

/* In the order of the table. What has no text is made by a function; a feature that adds no bytes is left out. */
static const struct feature {
    uint32_t number;
    const char *text;
    void (*add)(struct recording *, struct buffer *);
} features[] = {
    {1, NULL, add_tracing},     {3, "bench", NULL},
    {4, "6.18.0", NULL},        {5, "7.2.0", NULL},
    {6, "x86_64", NULL},        {7, NULL, add_nrcpus},
    {8, "Generated CPU", NULL}, {9, "GenuineIntel,6,85,7", NULL},
    {10, NULL, add_total_mem},  {11, NULL, add_cmdline},
    {12, NULL, add_event_desc}, {13, NULL, add_topology},
    {16, NULL, add_pmus},       {21, NULL, add_sample_time},
    {27, NULL, add_compressed},
};
enum { FEATURES = sizeof(features) / sizeof(features[0]) };

static void add_feature(struct recording *r, struct buffer *buffer, const struct feature *feature)
{
    if (feature->text)
        add_string(buffer, feature->text);
    else
        feature->add(r, buffer);
}

/* ---- containers ---- */

/* Header, ids and attrs of a file; `bits` and data->bytes are known only at the end. */
static void add_file_header(struct recording *r, struct buffer *buffer, struct section *data, uint64_t bits)
{
    uint32_t count = r->kind->event_count;
    uint64_t ids_bytes = (uint64_t)count * r->cpu_count * 8;
    uint64_t attrs_bytes = (uint64_t)count * (r->attr_size + 16);

    data->offset = 104 + ids_bytes + attrs_bytes;
    add_u64(buffer, 0x32454c4946524550);
    add_u64(buffer, 104);
    add_u64(buffer, r->attr_size + 16);
    add_u64(buffer, 104 + ids_bytes);
    add_u64(buffer, attrs_bytes);
    add_u64(buffer, data->offset);
    add_u64(buffer, data->bytes);
    memset(extend(buffer, 16), 0, 16);
    add_u64(buffer, bits);
    memset(extend(buffer, 24), 0, 24);
    for (uint32_t i = 0; i < count; i++)
        add_ids(r, buffer, i);
    for (uint32_t i = 0; i < count; i++) {
        add_attr(r, buffer, i);
        add_u64(buffer, 104 + (uint64_t)i * r->cpu_count * 8);
        add_u64(buffer, (uint64_t)r->cpu_count * 8);
    }
}

/* Table and sections; returns the bitmap. */
static uint64_t write_features(struct recording *r)
{
    struct buffer table = {0}, bodies = {0};
    struct section sections[FEATURES];
    uint64_t bits = 0, count = 0;

    for (size_t i = 0; i < FEATURES; i++) {
        size_t start = bodies.bytes;
        add_feature(r, &bodies, &features[i]);
        if (bodies.bytes == start)
            continue;
        sections[count++] = (struct section){start, bodies.bytes - start};
        bits |= 1ull << features[i].number;
    }
    for (size_t i = 0; i < count; i++) {
        add_u64(&table, r->out.position + count * 16 + sections[i].offset);
        add_u64(&table, sections[i].bytes);
    }
    output_write(&r->out, table.data, table.bytes);
    output_write(&r->out, bodies.data, bodies.bytes);
    free(table.data);
    free(bodies.data);
    return bits;
}

static void begin_file(struct recording *r, struct buffer *buffer, struct section *data)
{
    add_file_header(r, buffer, data, 0);
    output_write(&r->out, buffer->data, buffer->bytes);
    buffer->bytes = 0;
}

static void finish_file(struct recording *r, struct buffer *buffer, struct section *data)
{
    data->bytes = r->out.position - data->offset;
    uint64_t bits = write_features(r);
    flush(&r->out);
    add_file_header(r, buffer, data, bits);
    if (pwrite(r->out.fd, buffer->data, buffer->bytes, 0) != (ssize_t)buffer->bytes)
        die("cannot write the header");
}

/* Writes a feature without padding, as perf does: after a short feature the stream goes on at 4 mod 8. */
static void write_pipe_feature(struct recording *r, struct buffer *buffer, const struct feature *feature)
{
    extend(buffer, 8);
    add_u64(buffer, feature->number);
    add_feature(r, buffer, feature);
    if (buffer->bytes > CAPACITY)
        die("a feature is too large for pipe mode");
    put_header(buffer->data, HEADER_FEATURE, 0, buffer->bytes);
    if (buffer->bytes > 16)
        write_plain(r, buffer, 1);
    buffer->bytes = 0;
}

static void write_pipe_tracing(struct recording *r, struct buffer *buffer)
{
    extend(buffer, 16);
    add_tracing(r, buffer);
    if (buffer->bytes == 16) {
        buffer->bytes = 0;
        return;
    }
    pad(buffer, 0, 8);
    put_u32s(put_header(buffer->data, HEADER_TRACING_DATA, 0, 16), (uint32_t)buffer->bytes - 16, 0);
    write_plain(r, buffer, 1);
}

static void begin_pipe(struct recording *r, struct buffer *buffer)
{
    const uint64_t end_of_features = 35; /* what perf 7.2 calls the first number it does not know */

    add_u64(buffer, 0x32454c4946524550);
    add_u64(buffer, 16);
    write_plain(r, buffer, 0);
    for (uint32_t i = 0; i < r->kind->event_count; i++) {
        extend(buffer, 8);
        add_attr(r, buffer, i);
        add_ids(r, buffer, i);
        put_header(buffer->data, HEADER_ATTR, 0, buffer->bytes);
        write_plain(r, buffer, 1);
    }
    for (size_t i = 0; i < FEATURES; i++)
        if (features[i].number > 1)
            write_pipe_feature(r, buffer, &features[i]);
    put_u64(put_header(extend(buffer, 16), HEADER_FEATURE, 0, 16), end_of_features);
    write_plain(r, buffer, 1);
    write_pipe_tracing(r, buffer);
    r->record_bytes = 0; /* so that the samples are those of the file with the same arguments */
}

static void write_recording(struct recording *r, uint64_t seed)
{
    struct buffer buffer = {0};
    struct section data = {0};
    uint64_t now = 1000000000;

    begin_cpus(r, seed);
    if (r->pipe)
        begin_pipe(r, &buffer);
    else
        begin_file(r, &buffer, &data);
    write_id_index(r, &buffer);
    write_kernel_map(r, &buffer);
    write_targets(r, &buffer);
    write_processes(r, &buffer);
    while (r->record_bytes < r->wanted_bytes)
        write_round(r, &now, &buffer);
    if (!r->pipe)
        finish_file(r, &buffer, &data);
    flush(&r->out);
    free(buffer.data);
}

/* ---- the command line ---- */

static void usage(void)
{
    fputs("usage: generate KIND BYTES [options] -o FILE\n"
          "KIND: flat, callchain, tracepoint. BYTES: of all records before compression; K, M, G (powers of 1000).\n"
          "  --compressed     as perf record -z1 does: COMPRESSED2 records\n"
          "  --pipe           as perf record -o - does; FILE may then be - for standard output\n"
          "  --seed N         another recording of the same kind [1]\n"
          "  --cpus N         ring buffers [4]\n"
          "  --attr-size N    128 for perf 6.1, 144 for perf 7.2 [144]\n"
          "  --churn          new processes all the time, as on a build server\n"
          "  --quiet          does not say how much it wrote\n"
          "  --no-cpu         flat, callchain: samples without their CPU, as perf record has them without -a\n",
          stderr);
    exit(2);
}

static uint64_t parse_number(const char *text)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 10);
    const char *units = "KMG", *unit = *end ? strchr(units, *end) : NULL;

    if (end == text || (*end && !unit) || (unit && end[1]))
        usage();
    for (long i = unit ? unit - units + 1 : 0; i > 0; i--)
        value *= 1000;
    return value;
}

static const struct kind *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    usage();
    return NULL;
}

struct settings {
    const char *path;
    uint64_t seed;
};

static bool parse_flag(struct recording *r, const char *name)
{
    if (strcmp(name, "--compressed") == 0)
        r->compressed = true;
    else if (strcmp(name, "--pipe") == 0)
        r->pipe = true;
    else if (strcmp(name, "--quiet") == 0)
        r->quiet = true;
    else if (strcmp(name, "--churn") == 0)
        r->churns = true;
    else if (strcmp(name, "--no-cpu") == 0)
        r->sample_type &= ~(uint64_t)HAS_CPU;
    else
        return false;
    return true;
}

static void parse_value(struct recording *r, struct settings *settings, const char *name, const char *value)
{
    if (!value)
        usage();
    if (strcmp(name, "-o") == 0)
        settings->path = value;
    else if (strcmp(name, "--seed") == 0)
        settings->seed = parse_number(value);
    else if (strcmp(name, "--cpus") == 0)
        r->cpu_count = (uint32_t)parse_number(value);
    else if (strcmp(name, "--attr-size") == 0)
        r->attr_size = (uint32_t)parse_number(value);
    else
        usage();
}

static void check_settings(const struct recording *r, const struct settings *settings)
{
    if (!settings->path || !r->cpu_count || r->cpu_count > MAX_CPUS || (r->attr_size != 128 && r->attr_size != 144))
        usage();
    if (r->kind->events == trace_events && !(r->sample_type & HAS_CPU))
        usage();
    if (strcmp(settings->path, "-") == 0 && !r->pipe)
        usage();
}

static void open_output(struct recording *r, const char *path)
{
    r->out.fd = strcmp(path, "-") == 0 ? STDOUT_FILENO : open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (r->out.fd < 0)
        die(path);
    r->out.zstd = r->compressed ? ZSTD_createCCtx() : NULL;
    if (r->compressed &&
        (!r->out.zstd || ZSTD_isError(ZSTD_CCtx_setParameter(r->out.zstd, ZSTD_c_compressionLevel, 1))))
        die("no compressor");
}

int main(int argc, char **argv)
{
    struct recording r = {.cpu_count = 4, .attr_size = 144, .next_pid = 2000};
    struct settings settings = {NULL, 1};

    if (argc < 3)
        usage();
    r.kind = find_kind(argv[1]);
    r.sample_type = r.kind->sample_type;
    r.wanted_bytes = parse_number(argv[2]);
    for (int i = 3; i < argc; i++)
        if (!parse_flag(&r, argv[i])) {
            parse_value(&r, &settings, argv[i], argv[i + 1]);
            i++;
        }
    check_settings(&r, &settings);
    open_output(&r, settings.path);
    write_recording(&r, settings.seed);
    if (close(r.out.fd) < 0)
        die("cannot close the file");
    ZSTD_freeCCtx(r.out.zstd);
    free(r.out.pending.data);
    for (uint32_t i = 0; i < r.cpu_count; i++)
        free(r.cpus[i].ring.data);
    free(r.cpus);
    if (!r.quiet)
        fprintf(stderr,
                "records=%" PRIu64 " samples=%" PRIu64 " rounds=%" PRIu64 " record_bytes=%" PRIu64
                " file_bytes=%" PRIu64 "\n",
                r.records, r.samples, r.rounds, r.record_bytes, r.out.position);
    return 0;
}
