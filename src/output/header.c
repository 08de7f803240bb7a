/* SPDX-License-Identifier: MIT */
#include "output/header.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <time.h>

#include "base/error.h"
#include "base/feature.h"
#include "output/header_walk.h"

enum { NS_PER_SECOND = 1000000000, NS_PER_USECOND = 1000 };

#define PUT(...) pf_put_format(walk->out, __VA_ARGS__)
#define NUMBER(name) pf_header_number(walk, name)

/* ---- single facts ------------------------------------------------------------------------------------------------ */

static void put_total_memory(struct pf_header_walk *walk)
{
    PUT("# total memory : %" PRIu64 " kB\n", NUMBER("TOTAL_MEM"));
}

static void put_cpu_counts(struct pf_header_walk *walk)
{
    PUT("# nrcpus online : %" PRIu64 "\n# nrcpus avail : %" PRIu64 "\n", NUMBER("nr_cpus_online"),
        NUMBER("nr_cpus_available"));
}

static void put_branch_stack(struct pf_header_walk *walk)
{
    PUT("# contains samples with branch stack\n");
}

static void put_auxtrace(struct pf_header_walk *walk)
{
    PUT("# contains AUX area data (e.g. instruction trace)\n");
}

static void put_stat(struct pf_header_walk *walk)
{
    PUT("# contains stat data\n");
}

static void put_microseconds(struct pf_header_walk *walk, const char *label, uint64_t ns)
{
    PUT("# %s : %" PRIu64 ".%06" PRIu64 "\n", label, ns / NS_PER_SECOND, ns % NS_PER_SECOND / NS_PER_USECOND);
}

static void put_sample_time(struct pf_header_walk *walk)
{
    const uint64_t first = NUMBER("first"), last = NUMBER("last");
    put_microseconds(walk, "time of first sample", first);
    put_microseconds(walk, "time of last sample", last);
    PUT("# sample duration : %10.3f ms\n", (double)(last - first) / 1e6);
}

static void put_clock_frequency(struct pf_header_walk *walk)
{
    const uint64_t ns = NUMBER("clockid_res_ns");
    PUT("# clockid frequency: %g MHz\n", ns ? 1000 / (double)ns : 0);
}

static void put_directory(struct pf_header_walk *walk)
{
    PUT("# directory data version : %" PRIu64 "\n", NUMBER("version"));
}

static void put_compression(struct pf_header_walk *walk)
{
    PUT("# compressed : %s, level = %" PRIu64 ", ratio = %" PRIu64 "\n", NUMBER("type") == 1 ? "Zstd" : "Unknown",
        NUMBER("level"), NUMBER("ratio"));
}

static const char *clock_name(uint64_t clock)
{
    static const char *const names[] = {[0] = "realtime",          [1] = "monotonic",     [2] = "process_cputime_id",
                                        [3] = "thread_cputime_id", [4] = "monotonic_raw", [5] = "realtime_coarse",
                                        [6] = "monotonic_coarse",  [7] = "boottime",      [11] = "tai"};
    return clock < PF_COUNT(names) && names[clock] ? names[clock] : "unknown";
}

/* Both clocks at one moment. */
static void put_clock(struct pf_header_walk *walk)
{
    const uint64_t clock = NUMBER("clockid"), wall = NUMBER("wall_clock_ns"), own = NUMBER("clockid_time_ns");
    const time_t seconds = (time_t)(wall / NS_PER_SECOND);
    char date[32] = "?";
    struct tm tm;
    if (localtime_r(&seconds, &tm))
        strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm);
    const uint64_t us = wall % NS_PER_SECOND / NS_PER_USECOND;
    PUT("# clockid: %s (%" PRIu64 ")\n", clock_name(clock), clock);
    PUT("# reference time: %s.%06" PRIu64 " = %" PRIu64 ".%06" PRIu64 " (TOD) = %" PRIu64 ".%09" PRIu64 " (%s)\n", date,
        us, wall / NS_PER_SECOND, us, own / NS_PER_SECOND, own % NS_PER_SECOND, clock_name(clock));
}

static void put_machine(struct pf_header_walk *walk)
{
    PUT("# e_machine : %" PRIu64 "\n#   e_flags : %" PRIx64 "\n", NUMBER("e_machine"), NUMBER("e_flags"));
}

static void put_line_size(struct pf_header_walk *walk)
{
    PUT("# cacheline size: %" PRIu64 "\n", NUMBER("CLN_SIZE"));
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

/* Puts a word and a blank, with a backslash before each quote. */
static void put_word(struct pf_header_walk *walk, const char *list, const struct perfile_value *value)
{
    size_t from = 0;
    (void)list;
    for (size_t i = 0; i < value->bytes; i++)
        if (value->data[i] == '\'') {
            pf_put_name_bytes(walk->out, value->data + from, i - from);
            pf_put_char(walk->out, '\\');
            from = i;
        }
    pf_put_name_bytes(walk->out, value->data + from, value->bytes - from);
    pf_put_char(walk->out, ' ');
}

static int put_command(struct pf_header_walk *walk, uint32_t feature, struct perfile_error *error)
{
    static const struct pf_header_rows rows = {.item = put_word};
    PUT("# cmdline : ");
    const int result = pf_header_walk(walk, feature, &rows, error);
    PUT("\n");
    return result;
}

static void put_group(struct pf_header_walk *walk, const char *list)
{
    const uint64_t first = NUMBER("leader_idx"), events = perfile_event_count(walk->reader);
    const uint64_t count = first < events ? pf_min(NUMBER("nr_members"), events - first) : 0;
    (void)list;
    pf_header_put_text(walk, &walk->scratch, "name");
    pf_put_char(&walk->scratch, 0);
    PUT("# group: ");
    if (!walk->scratch.failed && strcmp(walk->scratch.data, "{anon_group}") != 0)
        pf_put_string(walk->out, walk->scratch.data);
    walk->scratch.used = 0;
    PUT("{");
    for (uint64_t i = 0; i < count; i++) {
        PUT("%s", i ? "," : "");
        pf_put_name(walk->out, perfile_event_get(walk->reader, (size_t)(first + i))->name);
    }
    PUT("}\n");
}

static int put_groups(struct pf_header_walk *walk, uint32_t feature, struct perfile_error *error)
{
    static const struct pf_header_rows rows = {.object = put_group};
    return pf_header_walk(walk, feature, &rows, error);
}

/* ---- features ---------------------------------------------------------------------------------------------------- */

/* One of the last three. */
static const struct line {
    uint32_t feature;
    bool full_only;
    const char *label;
    void (*fact)(struct pf_header_walk *walk);
    pf_header_part *part;
} lines[] = {
    {PERFILE_FEATURE_HOSTNAME, .label = "hostname"},
    {PERFILE_FEATURE_OSRELEASE, .label = "os release"},
    {PERFILE_FEATURE_VERSION, .label = "perf version"},
    {PERFILE_FEATURE_ARCH, .label = "arch"},
    {PERFILE_FEATURE_NRCPUS, .fact = put_cpu_counts},
    {PERFILE_FEATURE_CPUDESC, .label = "cpudesc"},
    {PERFILE_FEATURE_CPUID, .label = "cpuid"},
    {PERFILE_FEATURE_TOTAL_MEM, .fact = put_total_memory},
    {PERFILE_FEATURE_CMDLINE, .part = put_command},
    {PERFILE_FEATURE_EVENT_DESC, .part = pf_header_put_events},
    {PERFILE_FEATURE_CPU_TOPOLOGY, .full_only = true, .part = pf_header_put_topology},
    {PERFILE_FEATURE_NUMA_TOPOLOGY, .full_only = true, .part = pf_header_put_numa},
    {PERFILE_FEATURE_BRANCH_STACK, .fact = put_branch_stack},
    {PERFILE_FEATURE_PMU_MAPPINGS, .part = pf_header_put_pmus},
    {PERFILE_FEATURE_GROUP_DESC, .part = put_groups},
    {PERFILE_FEATURE_AUXTRACE, .fact = put_auxtrace},
    {PERFILE_FEATURE_STAT, .fact = put_stat},
    {PERFILE_FEATURE_CACHE, .full_only = true, .part = pf_header_put_cache},
    {PERFILE_FEATURE_SAMPLE_TIME, .fact = put_sample_time},
    {PERFILE_FEATURE_MEM_TOPOLOGY, .full_only = true, .part = pf_header_put_memory},
    {PERFILE_FEATURE_CLOCKID, .fact = put_clock_frequency},
    {PERFILE_FEATURE_DIR_FORMAT, .fact = put_directory},
    {PERFILE_FEATURE_BPF_PROG_INFO, .part = pf_header_put_bpf_programs},
    {PERFILE_FEATURE_BPF_BTF, .part = pf_header_put_bpf_types},
    {PERFILE_FEATURE_COMPRESSED, .fact = put_compression},
    {PERFILE_FEATURE_CPU_PMU_CAPS, .part = pf_header_put_cpu_caps},
    {PERFILE_FEATURE_CLOCK_DATA, .fact = put_clock},
    {PERFILE_FEATURE_HYBRID_TOPOLOGY, .full_only = true, .part = pf_header_put_hybrid},
    {PERFILE_FEATURE_PMU_CAPS, .part = pf_header_put_pmu_caps},
    {PERFILE_FEATURE_CPU_DOMAIN_INFO, .full_only = true, .part = pf_header_put_domains},
    {PERFILE_FEATURE_E_MACHINE, .fact = put_machine},
    {PERFILE_FEATURE_CLN_SIZE, .fact = put_line_size},
};

static const struct line *line_of(uint32_t feature)
{
    for (size_t i = 0; i < PF_COUNT(lines); i++)
        if (lines[i].feature == feature)
            return &lines[i];
    return NULL;
}

static int put_fact(struct pf_header_walk *walk, const struct line *line, struct perfile_error *error)
{
    static const struct pf_header_rows nothing = {0};
    const int result = pf_header_walk(walk, line->feature, &nothing, error);
    if (result < 0 || walk->damage.code)
        return result;
    if (line->fact) {
        line->fact(walk);
        return 0;
    }
    PUT("# %s : ", line->label);
    pf_header_put_text(walk, walk->out, perfile_feature_name(line->feature));
    PUT("\n");
    return 0;
}

int pf_header_put_feature(struct perfile_reader *reader, uint32_t number, struct pf_text *out,
                          struct perfile_error *error)
{
    struct pf_header_walk walk = {.reader = reader, .out = out};
    const struct line *line = line_of(number);
    if (!line)
        return 0;
    if (pf_text_open(&walk.scratch, out->allocator, NULL, NULL) < 0)
        return pf_fail_memory(error, "header");
    walk.scratch.escapes = out->escapes;
    int result = line->part ? line->part(&walk, number, error) : put_fact(&walk, line, error);
    if (walk.damage.code) {
        pf_put_format(out, "# %s: ", perfile_feature_name(number));
        pf_put_name(out, walk.damage.message);
        pf_put_char(out, '\n');
    }
    if (result == 0 && walk.scratch.failed)
        result = pf_fail_memory(error, "header");
    pf_text_close(&walk.scratch);
    return result;
}

static int put_features(struct perfile_reader *reader, const struct pf_header_options *options, struct pf_text *out,
                        struct perfile_error *error)
{
    int result = 0;
    for (size_t i = 0; i < perfile_feature_count(reader) && result == 0; i++) {
        const uint32_t number = perfile_feature_get(reader, i)->number;
        const struct line *line = line_of(number);
        if (line && line->full_only && !options->full)
            pf_put_format(out, "# %s info available, use -I to display\n", perfile_feature_name(number));
        else
            result = pf_header_put_feature(reader, number, out, error);
    }
    return result;
}

/*
 * ---- the complete header
 * ---------------------------------------------------------------------------------------------
 */

/* Of a directory, its main file is what was written last; of a stream, standard input is looked at as perf does. */
bool pf_header_time(const char *path, int64_t *seconds)
{
    char data[4096];
    struct stat st;
    if (!path || (strcmp(path, "-") ? stat(path, &st) : fstat(STDIN_FILENO, &st)) < 0)
        return false;
    if (S_ISDIR(st.st_mode) &&
        (snprintf(data, sizeof(data), "%s/data", path) >= (int)sizeof(data) || stat(data, &st) < 0))
        return false;
    *seconds = (int64_t)st.st_mtime;
    return true;
}

/* As ctime has it, in any locale. */
static void put_capture_time(const char *path, struct pf_text *out)
{
    static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    int64_t seconds;
    struct tm tm;
    if (!pf_header_time(path, &seconds))
        return;
    const time_t time = (time_t)seconds;
    if (localtime_r(&time, &tm))
        pf_put_format(out, "# captured on    : %s %s %2d %02d:%02d:%02d %d\n", days[tm.tm_wday], months[tm.tm_mon],
                      tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, tm.tm_year + 1900);
}

void pf_header_put_missing(const struct perfile_reader *reader, struct pf_text *out)
{
    enum { SIMPLEPERF_FIRST = 128 };
    uint32_t number;
    for (size_t i = 0; (number = perfile_feature_number_at(i)) != 0; i++)
        if (number < SIMPLEPERF_FIRST && !pf_has_feature(reader, number))
            pf_put_format(out, " %s", perfile_feature_name(number));
}

int pf_header_put(struct perfile_reader *reader, const struct pf_header_options *options, struct pf_text *out,
                  struct perfile_error *error)
{
    const struct perfile_file *file = perfile_reader_file(reader);
    const bool stream = file->mode == PERFILE_MODE_PIPE;
    const struct perfile_section data = stream ? (struct perfile_section){0} : file->data;
    int result = 0;
    pf_put_string(out, "# ========\n");
    put_capture_time(options->path, out);
    pf_put_format(out, "# header version : %d\n", file->version - 1);
    pf_put_format(out, "# data offset    : %" PRIu64 "\n# data size      : %" PRIu64 "\n", data.offset, data.bytes);
    pf_put_format(out, "# feat offset    : %" PRIu64 "\n", data.offset + data.bytes);
    if (!stream) {
        result = put_features(reader, options, out, error);
        pf_put_string(out, "# missing features:");
        pf_header_put_missing(reader, out);
        pf_put_string(out, " \n");
    }
    pf_put_string(out, "# ========\n#\n");
    return stream ? put_features(reader, options, out, error) : result;
}

int pf_header_put_only(struct perfile_reader *reader, const struct pf_header_options *options, struct pf_text *out,
                       struct perfile_error *error)
{
    const struct perfile_record *record;
    int result = perfile_reader_file(reader)->mode == PERFILE_MODE_PIPE;
    while (result > 0 && (result = perfile_reader_next(reader, &record, error)) > 0)
        if (record->type == PERFILE_RECORD_SAMPLE)
            break;
    return result < 0 ? result : pf_header_put(reader, options, out, error);
}
