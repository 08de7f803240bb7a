/* SPDX-License-Identifier: MIT */
/*
 * Reads a recording through the public interface and says how long that took.
 *
 *     walk MODE FILE      MODE: next    every record
 *                               decode  every record, every field of each sample, every entry of its callchain
 *                               order   every record in time order, with the name of each sample's thread
 *
 * Prints one line of NAME=VALUE. `sum` depends on all that was decoded, so that nothing of it can be left out.
 */
#include <inttypes.h>
#include <perfile/perfile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

struct totals {
    uint64_t records, samples, bytes, sum;
};

/* The time of the day where there is no clock of processes, as in WebAssembly. */
static double cpu_seconds(void)
{
    struct timespec now;

    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now))
        clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static long peak_kb(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* Compressed records count as what comes out of them. */
static void count(struct totals *totals, const struct perfile_record *record)
{
    if (record->type == PERFILE_RECORD_COMPRESSED || record->type == PERFILE_RECORD_COMPRESSED2)
        return;
    totals->records++;
    totals->samples += record->type == PERFILE_RECORD_SAMPLE;
    totals->bytes += record->bytes;
}

static int walk_next(struct perfile_reader *reader, struct totals *totals, struct perfile_error *error)
{
    const struct perfile_record *record;
    int code;

    while ((code = perfile_reader_next(reader, &record, error)) > 0)
        count(totals, record);
    return code;
}

/* Not inlined: engines of WebAssembly optimize functions when they are called again, not loops that run. */
__attribute__((noinline)) static uint64_t sum_sample(const struct perfile_sample *sample)
{
    uint64_t sum = sample->ip ^ sample->time ^ sample->period ^ sample->cpu ^ (uint64_t)sample->tid;

    for (uint64_t i = 0; i < sample->callchain.count; i++)
        sum += perfile_u64_at(&sample->callchain, i);
    return sum + sample->raw.bytes;
}

/* Decodes the record if it is a sample; without a session the names of threads are not looked up. */
static int add_sample(const struct perfile_record *record, struct perfile_session *session,
                      struct perfile_sample *sample, struct totals *totals, struct perfile_error *error)
{
    if (record->type != PERFILE_RECORD_SAMPLE)
        return 0;
    const int code = perfile_sample_decode(record, sample, error);
    if (code < 0)
        return code;
    const char *comm = session ? perfile_session_comm(session, sample->pid, sample->tid) : "";
    totals->sum += sum_sample(sample) ^ (uint64_t)comm[0];
    return 0;
}

static int walk_decode(struct perfile_reader *reader, struct totals *totals, struct perfile_error *error)
{
    const struct perfile_record *record;
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    int code;

    while ((code = perfile_reader_next(reader, &record, error)) > 0) {
        count(totals, record);
        code = add_sample(record, NULL, &sample, totals, error);
        if (code < 0)
            return code;
    }
    return code;
}

static int order_session(struct perfile_session *session, struct totals *totals, struct perfile_error *error)
{
    const struct perfile_record *record;
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    int code;

    while ((code = perfile_session_next(session, &record, error)) > 0) {
        count(totals, record);
        code = add_sample(record, session, &sample, totals, error);
        if (code < 0)
            return code;
    }
    return code;
}

static int walk_order(struct perfile_reader *reader, struct totals *totals, struct perfile_error *error)
{
    struct perfile_session *session;
    int code = perfile_session_open(reader, &session, error);

    if (code < 0)
        return code;
    code = order_session(session, totals, error);
    perfile_session_close(session);
    return code;
}

static const struct mode {
    const char *name;
    int (*walk)(struct perfile_reader *, struct totals *, struct perfile_error *);
} modes[] = {{"next", walk_next}, {"decode", walk_decode}, {"order", walk_order}};

static const struct mode *find_mode(const char *name)
{
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
        if (strcmp(modes[i].name, name) == 0)
            return &modes[i];
    fprintf(stderr, "walk: there is no mode %s\n", name);
    exit(2);
}

static void print(const struct totals *totals, double seconds)
{
    double per_second = seconds > 0 ? 1 / seconds : 0;

    printf("records=%" PRIu64 " samples=%" PRIu64 " bytes=%" PRIu64 " sum=%" PRIx64, totals->records, totals->samples,
           totals->bytes, totals->sum);
    printf(" seconds=%.4f records/s=%.0f samples/s=%.0f MB/s=%.1f peak_kb=%ld\n", seconds,
           (double)totals->records * per_second, (double)totals->samples * per_second,
           (double)totals->bytes / 1e6 * per_second, peak_kb());
}

int main(int argc, char **argv)
{
    struct perfile_reader *reader = NULL;
    struct perfile_error error;
    struct totals totals = {0};

    if (argc != 3) {
        fputs("usage: walk next|decode|order FILE\n", stderr);
        return 2;
    }
    const struct mode *mode = find_mode(argv[1]);
    double start = cpu_seconds();
    int code = perfile_open_path(argv[2], NULL, &reader, &error);
    if (code >= 0)
        code = mode->walk(reader, &totals, &error);
    if (code < 0)
        fprintf(stderr, "walk: %s\n", error.message);
    perfile_close(reader);
    print(&totals, cpu_seconds() - start);
    return code < 0;
}
