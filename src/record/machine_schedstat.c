/* SPDX-License-Identifier: MIT */
/* What the scheduler counted so far, line by line of /proc/schedstat. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/text.h"
#include "record/machine.h"
#include "record/machine_files.h"

enum { SCHEDSTAT_BYTES_MAX = 64 << 20, COUNTERS_MAX = 64 };

struct lines {
    const struct pf_synthesis *synthesis;
    struct perfile_error *error;
    uint16_t version;
    uint64_t timestamp;
    uint32_t cpu;
    bool has_cpu;
};

/* The numbers on the rest of the line; those above UINT32_MAX wrap as they do in the kernel. */
static size_t read_numbers(char *rest, uint64_t *numbers, size_t capacity)
{
    size_t count = 0;
    for (char *end; count < capacity; rest = end, count++) {
        numbers[count] = strtoull(rest, &end, 10);
        if (end == rest)
            break;
    }
    return count;
}

static int put_cpu(struct lines *lines, char *line)
{
    uint64_t n[9] = {0};
    char *rest;
    lines->cpu = (uint32_t)strtoul(line + strlen("cpu"), &rest, 10);
    lines->has_cpu = true;
    if (read_numbers(rest, n, PF_COUNT(n)) < PF_COUNT(n))
        return pf_fail(lines->error, PERFILE_ERROR_FORMAT, PERFILE_NO_OFFSET, "/proc/schedstat",
                       "a CPU has fewer than 9 counters");
    const struct perfile_schedstat_cpu record = {.timestamp = lines->timestamp,
                                                 .cpu = lines->cpu,
                                                 .version = lines->version,
                                                 .yld_count = (uint32_t)n[0],
                                                 .array_exp = (uint32_t)n[1],
                                                 .sched_count = (uint32_t)n[2],
                                                 .sched_goidle = (uint32_t)n[3],
                                                 .ttwu_count = (uint32_t)n[4],
                                                 .ttwu_local = (uint32_t)n[5],
                                                 .rq_cpu_time = n[6],
                                                 .run_delay = n[7],
                                                 .pcount = n[8]};
    return lines->synthesis->put(lines->synthesis->context, PERFILE_RECORD_SCHEDSTAT_CPU, 0, &record, sizeof(record),
                                 lines->error);
}

/* "domain0 SMT 00000003 ..." since version 17, "domain0 00000003 ..." before. */
static int put_domain(struct lines *lines, char *line)
{
    uint64_t numbers[COUNTERS_MAX];
    uint32_t counters[COUNTERS_MAX];
    char *rest;
    const unsigned long domain = strtoul(line + strlen("domain"), &rest, 10);
    char *word = strtok_r(rest, " \t", &rest);
    if (lines->version >= 17 && word)
        word = strtok_r(NULL, " \t", &rest);
    if (!word || !lines->has_cpu)
        return 0;
    const size_t count = read_numbers(rest, numbers, PF_COUNT(numbers));
    for (size_t i = 0; i < count; i++)
        counters[i] = (uint32_t)numbers[i];
    const struct perfile_schedstat_domain record = {
        .timestamp = lines->timestamp,
        .cpu = lines->cpu,
        .version = lines->version,
        .domain = (uint16_t)domain,
        .counters = {.data = (const uint8_t *)counters, .count = (uint32_t)count, .swapped = false}};
    return lines->synthesis->put(lines->synthesis->context, PERFILE_RECORD_SCHEDSTAT_DOMAIN, 0, &record, sizeof(record),
                                 lines->error);
}

static int put_line(struct lines *lines, char *line)
{
    if (pf_starts_with(line, "version "))
        lines->version = (uint16_t)strtoul(line + strlen("version "), NULL, 10);
    else if (pf_starts_with(line, "timestamp "))
        lines->timestamp = strtoull(line + strlen("timestamp "), NULL, 10);
    else if (pf_starts_with(line, "cpu"))
        return put_cpu(lines, line);
    else if (pf_starts_with(line, "domain"))
        return put_domain(lines, line);
    return 0;
}

static int fail_open(struct perfile_error *error)
{
    return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, "/proc/schedstat",
                   "cannot be read: this kernel was built without CONFIG_SCHEDSTATS");
}

static int put_lines(char *text, const struct pf_synthesis *synthesis, struct perfile_error *error)
{
    struct lines lines = {.synthesis = synthesis, .error = error};
    char *rest = NULL;
    int result = 0;
    for (char *line = strtok_r(text, "\n", &rest); line && result == 0; line = strtok_r(NULL, "\n", &rest))
        result = put_line(&lines, line);
    return result < 0 ? result : lines.has_cpu ? 0 : fail_open(error);
}

int pf_synthesize_schedstat(const char *root, const struct pf_synthesis *synthesis, struct perfile_error *error)
{
    struct pf_text text;
    const int folder = open(root ? root : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int result;
    if (pf_text_open(&text, pf_allocator_or_default(synthesis->allocator), NULL, NULL) < 0)
        result = pf_fail_memory(error, "counters of the scheduler");
    else if (folder < 0 || !pf_read_file(folder, "proc/schedstat", &text, SCHEDSTAT_BYTES_MAX))
        result = fail_open(error);
    else {
        pf_put_char(&text, 0);
        result =
            text.failed ? pf_fail_memory(error, "counters of the scheduler") : put_lines(text.data, synthesis, error);
    }
    pf_text_close(&text);
    if (folder >= 0)
        close(folder);
    return result;
}
