/* SPDX-License-Identifier: MIT */
/*
 * Writes a recording from nothing: what a profiler does that has samples of its own and wants all tools for perf.data
 * to read them. The samples here are made up, but their addresses are those of functions of this program, so that
 *
 *     ./write_profile made.data && perfile report made.data      (or: perf report -i made.data)
 *
 * shows a call graph with names.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <perfile/writer.h>

enum { SAMPLES = 1000, PERIOD_NS = 1000000, EVENT_ID = 1 };

/* The functions that were "running": main called compute, and compute called parse. */
static volatile int work;

static __attribute__((noinline)) void parse(void)
{
    work *= 3;
}

static __attribute__((noinline)) void compute(void)
{
    parse();
    work += 7;
}

int main(int count, char **arguments);

static int check(int result, const struct perfile_error *error)
{
    if (result == 0)
        return 0;
    fprintf(stderr, "write_profile: %s\n", error->message);
    exit(1);
}

/* Which file is mapped where, as the kernel would say it. */
static void write_maps(struct perfile_writer *writer, int32_t pid)
{
    struct perfile_error error;
    char line[8192], prot[8];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof(line), maps)) {
        struct perfile_mmap2 map = {.pid = pid, .tid = pid};
        uint64_t end;
        int path = 0; /* where in the line: it is all that remains, for a path may have spaces */
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %" SCNx32 ":%" SCNx32 " %" SCNu64 " %n", &map.addr,
                   &end, prot, &map.pgoff, &map.maj, &map.min, &map.ino, &path) != 7 ||
            !strchr(prot, 'x') || !line[path])
            continue;
        line[strcspn(line, "\n")] = '\0';
        map.filename = line + path;
        map.len = end - map.addr;
        map.prot = 5;  /* PROT_READ | PROT_EXEC */
        map.flags = 2; /* MAP_PRIVATE */
        check(perfile_writer_record(writer, PERFILE_RECORD_MMAP2, 2, &map, sizeof(map), NULL, &error), &error);
    }
    if (maps)
        fclose(maps);
}

static void write_samples(struct perfile_writer *writer, int32_t pid)
{
    struct perfile_error error;
    for (uint64_t i = 0; i < SAMPLES; i++) {
        /* every third sample was in parse, called by compute, called by main; the others in compute */
        uint64_t chain[4] = {PERFILE_CONTEXT_USER, (uintptr_t)parse + 2, (uintptr_t)compute + 2, (uintptr_t)main + 2};
        const bool in_parse = i % 3 == 0;
        struct perfile_sample sample = PERFILE_SAMPLE_INIT;
        if (!in_parse)
            memmove(chain + 1, chain + 2, 2 * sizeof(*chain));
        sample.identifier = EVENT_ID;
        sample.ip = chain[1];
        sample.pid = sample.tid = pid;
        sample.time = 1000000000 + i * PERIOD_NS;
        sample.period = PERIOD_NS;
        sample.callchain = (struct perfile_u64s){(const uint8_t *)chain, in_parse ? 4 : 3, false};
        check(perfile_writer_sample(writer, 0, 2, &sample, &error), &error);
    }
}

int main(int count, char **arguments)
{
    struct perfile_writer *writer;
    struct perfile_error error;
    struct perfile_event_spec event = PERFILE_EVENT_SPEC_INIT;
    struct perfile_attr attr = {.type = 1}; /* PERF_TYPE_SOFTWARE, and config 0 is PERF_COUNT_SW_CPU_CLOCK */
    const uint64_t id = EVENT_ID;
    const int32_t pid = (int32_t)getpid();
    const struct perfile_comm comm = {.pid = pid, .tid = pid, .comm = "made-up"};

    compute();
    check(perfile_writer_open_path(count > 1 ? arguments[1] : "made.data", NULL, &writer, &error), &error);
    attr.sample_period_or_freq = PERIOD_NS;
    attr.sample_type = PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME |
                       PERFILE_SAMPLE_PERIOD | PERFILE_SAMPLE_CALLCHAIN;
    attr.sample_id_all = 1; /* the other records have a time, too */
    event.attr = &attr;
    event.attr_bytes = sizeof(attr);
    event.ids = &id;
    event.id_count = 1;
    event.name = "cpu-clock";
    check(perfile_writer_add_event(writer, &event, NULL, &error), &error);
    check(perfile_writer_feature_text(writer, PERFILE_FEATURE_HOSTNAME, "example", &error), &error);
    check(perfile_writer_feature_texts(writer, PERFILE_FEATURE_CMDLINE, (const char *const *)arguments, (size_t)count,
                                       &error),
          &error);
    check(perfile_writer_record(writer, PERFILE_RECORD_COMM, 0, &comm, sizeof(comm), NULL, &error), &error);
    write_maps(writer, pid);
    write_samples(writer, pid);
    check(perfile_writer_finish(writer, &error), &error);
    perfile_writer_close(writer);
    return 0;
}
