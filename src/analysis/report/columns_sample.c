/* SPDX-License-Identifier: MIT */
/* Columns of what a sample says beside its stack. */
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/report/columns.h"
#include "analysis/data_src.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/locale.h"

enum { DEFAULT_QUANTUM_NS = 100000000 };

/* ---- texts ---- */

/* A text with its length before it. Values are the addresses of `text`. */
struct interned {
    uint32_t bytes;
    char text[];
};

static const struct interned *interned_of(uint64_t value)
{
    return (const struct interned *)(const void *)((const char *)(uintptr_t)value - offsetof(struct interned, text));
}

/* Eight bytes at a time: texts of tracepoints are long, and there may be one for each sample. */
static uint64_t hash_text(const char *text, size_t bytes, uint64_t hash)
{
    for (; bytes >= sizeof(uint64_t); text += sizeof(uint64_t), bytes -= sizeof(uint64_t)) {
        hash = (hash ^ pf_load64(text, false)) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 29;
    }
    return pf_hash_bytes(hash, text, bytes);
}

static char *keep_text(struct pf_report *report, const char *text, size_t bytes)
{
    struct interned *kept = bytes < UINT32_MAX ? pf_arena_new(&report->texts.arena, sizeof(*kept) + bytes + 1) : NULL;
    if (!kept)
        return NULL;
    kept->bytes = (uint32_t)bytes;
    if (bytes)
        memcpy(kept->text, text, bytes);
    return kept->text;
}

uint64_t pf_report_intern(struct pf_report *report, const char *text, size_t bytes)
{
    bytes = pf_text_length(text, bytes);
    uint64_t known, hash = hash_text(text, bytes, (uintptr_t)report); /* the makers of files do not know the seed */
    for (; pf_map_get(&report->texts.interned, hash, &known); hash++)
        if (interned_of(known)->bytes == bytes && memcmp(interned_of(known)->text, text, bytes) == 0)
            return known;
    const char *copy = keep_text(report, text, bytes);
    if (copy && pf_map_put(&report->texts.interned, hash, (uintptr_t)copy))
        return (uintptr_t)copy;
    report->texts.short_of_memory = true;
    return 0;
}

uint64_t pf_report_intern_scratch(struct pf_report *report)
{
    report->texts.short_of_memory |= report->texts.scratch.failed != 0;
    return pf_report_intern(report, report->texts.scratch.data, report->texts.scratch.used);
}

void pf_put_interned(struct pf_text *text, uint64_t value)
{
    if (value)
        pf_put(text, interned_of(value)->text, interned_of(value)->bytes);
}

/* ---- cgroup ---- */

void pf_take_cgroup(struct pf_report *report, struct pf_report_keyed *taken, const struct pf_profile_sample *sample)
{
    (void)report;
    taken->values[PF_VALUE_cgroup] = sample->decoded->cgroup;
}

void pf_text_cgroup(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    const uint64_t id = pf_report_value(report, row, PF_VALUE_cgroup);
    pf_put_string(text, id ? pf_profile_cgroup(report->profile, id) : "N/A");
}

void pf_take_cgroup_id(struct pf_report *report, struct pf_report_keyed *taken, const struct pf_profile_sample *sample)
{
    static const uint64_t none[2];
    const uint64_t *link = sample->cgroup_link ? sample->cgroup_link : none;
    report->texts.scratch.used = 0;
    pf_put_format(&report->texts.scratch, "%" PRIu64 "/0x%" PRIx64, link[0], link[1]);
    taken->values[PF_VALUE_cgroup_id] = pf_report_intern_scratch(report);
}

void pf_text_cgroup_id(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    pf_put_interned(text, pf_report_value(report, row, PF_VALUE_cgroup_id));
}

/* ---- comm_nodigit ---- */

static uint64_t without_digits(struct pf_report *report, const char *comm)
{
    static const char digits[] = "0123456789";
    report->texts.scratch.used = 0;
    while (*comm) {
        const size_t number = strspn(comm, digits), bytes = number ? number : strcspn(comm, digits);
        pf_put(&report->texts.scratch, number ? "<N>" : comm, number ? 3 : bytes);
        comm += bytes;
    }
    return pf_report_intern_scratch(report);
}

/* A thread without a name keeps its digits, which distinguish it, as its name may come later. */
void pf_take_comm_nodigit(struct pf_report *report, struct pf_report_keyed *taken,
                          const struct pf_profile_sample *sample)
{
    const char *comm = sample->comm;
    taken->values[PF_VALUE_comm_nodigit] =
        comm[0] == ':' ? pf_report_intern(report, comm, strlen(comm)) : without_digits(report, comm);
}

uint64_t pf_report_later_comm_nodigit(struct pf_report *report, uint64_t value)
{
    const char *comm = (const char *)(uintptr_t)value;
    return comm[0] == ':' ? without_digits(report, pf_profile_later_comm(report->profile, comm)) : value;
}

void pf_text_comm_nodigit(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    pf_put_interned(text, pf_report_value(report, row, PF_VALUE_comm_nodigit));
}

/* ---- socket ---- */

static int see_socket(void *context, const struct perfile_value *value)
{
    struct pf_report *report = context;
    if (!value->name || strcmp(value->name, "socket_id") != 0)
        return 0;
    if (!PF_APPEND(report->allocator, report->sockets.by_cpu, report->sockets.count, report->sockets.capacity,
                   (int32_t)value->number.s))
        return report->texts.short_of_memory = true;
    return 0;
}

static void read_sockets(struct pf_report *report)
{
    const struct perfile_visitor visitor = {.size = sizeof(visitor), .context = report, .value = see_socket};
    if (pf_memory_check(report->allocator,
                        perfile_feature_visit(report->reader, PERFILE_FEATURE_CPU_TOPOLOGY, &visitor, NULL)) < 0)
        return; /* absent: sockets are not known */
}

void pf_take_socket(struct pf_report *report, struct pf_report_keyed *taken, const struct pf_profile_sample *sample)
{
    const bool has_cpu = sample->decoded->present & PERFILE_SAMPLE_CPU;
    const int32_t socket = has_cpu && sample->cpu < report->sockets.count ? report->sockets.by_cpu[sample->cpu] : -1;
    taken->values[PF_VALUE_socket] = (uint64_t)(int64_t)socket;
}

void pf_text_socket(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    pf_put_format(text, "%.3d", (int)pf_report_value(report, row, PF_VALUE_socket));
}

/* ---- parallelism ---- */

void pf_take_parallelism(struct pf_report *report, struct pf_report_keyed *taken,
                         const struct pf_profile_sample *sample)
{
    (void)report;
    taken->values[PF_VALUE_parallelism] = sample->parallelism;
}

/* ---- time ---- */

void pf_take_time(struct pf_report *report, struct pf_report_keyed *taken, const struct pf_profile_sample *sample)
{
    taken->values[PF_VALUE_time] = sample->time - sample->time % report->settings.quantum_ns;
}

void pf_text_time(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    const uint64_t time = pf_report_value(report, row, PF_VALUE_time);
    const bool exact = report->options->nanoseconds;
    pf_put_format(text, "%" PRIu64 ".%0*" PRIu64, time / 1000000000, exact ? 9 : 6,
                  time % 1000000000 / (exact ? 1 : 1000));
}

/* ---- numbers ---- */

void pf_take_phys_daddr(struct pf_report *report, struct pf_report_keyed *taken, const struct pf_profile_sample *sample)
{
    (void)report;
    taken->values[PF_VALUE_phys_daddr] = pf_field_phys_addr(sample->decoded);
}

void pf_text_phys_daddr(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    pf_report_put_level(row->level ? row->level : '.', text);
    pf_report_put_address(pf_report_value(report, row, PF_VALUE_phys_daddr), text);
}

void pf_take_code_page_size(struct pf_report *report, struct pf_report_keyed *taken,
                            const struct pf_profile_sample *sample)
{
    (void)report;
    taken->values[PF_VALUE_code_page_size] = pf_field_code_page_size(sample->decoded);
}

void pf_text_code_page_size(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    pf_put_page_size(text, pf_report_value(report, row, PF_VALUE_code_page_size));
}

void pf_take_data_page_size(struct pf_report *report, struct pf_report_keyed *taken,
                            const struct pf_profile_sample *sample)
{
    (void)report;
    taken->values[PF_VALUE_data_page_size] = pf_field_data_page_size(sample->decoded);
}

void pf_text_data_page_size(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    pf_put_page_size(text, pf_report_value(report, row, PF_VALUE_data_page_size));
}

void pf_take_transaction(struct pf_report *report, struct pf_report_keyed *taken,
                         const struct pf_profile_sample *sample)
{
    (void)report;
    taken->values[PF_VALUE_transaction] = pf_field_transaction(sample->decoded);
}

/* The words of the flags in the order of their bits, then the code of an abort. */
void pf_text_transaction(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    static const char *const words[] = {"EL ", "TX ", "SYNC ", "ASYNC ", "RETRY ", "CON ", "CAP-WRITE ", "CAP-READ "};
    enum { SYNC = 1 << 2, ASYNC = 1 << 3, ABORT_SHIFT = 32 };
    const uint64_t value = pf_report_value(report, row, PF_VALUE_transaction);
    for (size_t i = 0; i < PF_COUNT(words); i++)
        if (value >> i & 1)
            pf_put_string(text, words[i]);
    if (value && !(value & (SYNC | ASYNC)))
        pf_put_string(text, "NEITHER ");
    if (value >> ABORT_SHIFT)
        pf_put_format(text, ":%" PRIx64, value >> ABORT_SHIFT);
}

/* ---- where the data came from ---- */

static uint64_t describe(struct pf_report *report, const struct pf_profile_sample *sample,
                         void (*put)(struct pf_words *words, uint64_t data_src))
{
    static const uint64_t not_known = 1 | 1 << 5 | 1 << 19 | 1 << 24 | 1 << 26; /* PERF_MEM_*_NA */
    const bool known = sample->decoded->present & PERFILE_SAMPLE_DATA_SRC;
    struct pf_words words = {{0}, 0};
    put(&words, known ? pf_field_data_src(sample->decoded) : not_known);
    return pf_report_intern(report, words.text, words.used);
}

#define DATA_SRC(id, part)                                                                                             \
    void pf_take_##id(struct pf_report *report, struct pf_report_keyed *taken, const struct pf_profile_sample *sample) \
    {                                                                                                                  \
        taken->values[PF_VALUE_##id] = describe(report, sample, part);                                                 \
    }                                                                                                                  \
    void pf_text_##id(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)           \
    {                                                                                                                  \
        pf_put_interned(text, pf_report_value(report, row, PF_VALUE_##id));                                            \
    }
DATA_SRC(mem, pf_data_src_level)
DATA_SRC(snoop, pf_data_src_snoop)
DATA_SRC(tlb, pf_data_src_tlb)
DATA_SRC(locked, pf_data_src_lock)
DATA_SRC(blocked, pf_data_src_blocked)

/* ---- trace ---- */

void pf_take_trace(struct pf_report *report, struct pf_report_keyed *taken, const struct pf_profile_sample *sample)
{
    report->texts.scratch.used = 0;
    if (sample->event->attr->type != PERFILE_TYPE_TRACEPOINT)
        pf_put_string(&report->texts.scratch, "N/A");
    else if (!pf_trace_texts_put(&report->texts.traces, sample->event, &sample->decoded->raw, &report->texts.scratch))
        report->texts.short_of_memory = true;
    taken->values[PF_VALUE_trace] = pf_report_intern_scratch(report);
}

void pf_text_trace(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    pf_put_interned(text, pf_report_value(report, row, PF_VALUE_trace));
}

/* ---- all together ---- */

int pf_report_prepare(struct pf_report *report, struct perfile_error *error)
{
    const char *quantum = report->options->report->time_quantum;
    report->settings.quantum_ns = DEFAULT_QUANTUM_NS;
    int result = quantum ? pf_parse_duration(quantum, &report->settings.quantum_ns, error) : 0;
    if (result == 0)
        result = pf_report_check_parallelism(report, error);
    if (result == 0)
        result = pf_report_compile_patterns(report, error);
    if (result == 0 && (pf_text_open(&report->texts.scratch, report->allocator, NULL, NULL) < 0 ||
                        !pf_trace_texts_open(&report->texts.traces, report->reader, report->allocator)))
        result = pf_fail_memory(error, "report");
    if (result == 0)
        read_sockets(report);
    return result;
}

void pf_report_unprepare(struct pf_report *report)
{
    pf_report_close_patterns(report);
    pf_free(report->allocator, report->sockets.by_cpu, report->sockets.capacity * sizeof(*report->sockets.by_cpu));
    pf_text_close(&report->texts.scratch);
    pf_trace_texts_close(&report->texts.traces);
    pf_map_close(&report->texts.interned);
}
