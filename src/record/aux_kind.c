/* SPDX-License-Identifier: MIT */
#include "record/aux_kind.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"

#define DEVICES "bus/event_source/devices"

/* What a PMU says of itself, as words of AUXTRACE_INFO. */
struct description {
    const struct pf_aux_setting *setting;
    const struct pf_listed_event *event; /* the first that writes AUX data */
    struct pf_sys *sys;
    struct pf_pmu *pmu; /* its PMU */
    uint64_t *words;
    size_t count, capacity;
    int result;
};

/* A term that is set unless the user sets it. `if_file`: only where this file of the PMU has the bit. */
struct usual_term {
    const char *name;
    uint64_t value;
    const char *if_file;
    uint64_t bit;
};

struct pf_aux_kind {
    const char *pmu; /* how the names of its PMUs begin */
    uint32_t type;   /* of AUXTRACE_INFO */
    uint32_t alignment;
    const char *period_file; /* of the PMU: the period; NULL: it is `period` */
    uint64_t period;
    const struct usual_term *usual;
    size_t usual_count;
    void (*describe)(struct description *d);
};

/* ---- files of a PMU ---------------------------------------------------------------------------------------------- */

static const char *read_file(struct pf_sys *sys, const char *pmu, const char *file)
{
    int reason;
    return pf_sys_read(sys, pf_sys_path(sys, DEVICES "/%s/%s", pmu, file), &reason);
}

/* 0 also where the file is missing. */
static uint64_t read_number(struct pf_sys *sys, const char *pmu, const char *file, int base)
{
    const char *text = read_file(sys, pmu, file);
    return text ? strtoull(text, NULL, base) : 0;
}

static uint64_t bits_of(const struct description *d, const char *format)
{
    const struct pf_format *found = pf_pmu_format(d->pmu, pf_piece_of(format));
    return found && found->word == 0 ? found->bits : 0;
}

static void put(struct description *d, uint64_t word)
{
    if (d->result == 0 && !pf_grow(d->sys->allocator, &d->words, &d->capacity, d->count + 1, sizeof(*d->words)))
        d->result = pf_sys_memory(d->sys);
    if (d->result == 0)
        d->words[d->count++] = word;
}

static void put_all(struct description *d, const uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put(d, words[i]);
}

/* The number of the PMU, and how its clock becomes time. */
static void put_clock(struct description *d)
{
    const struct perfile_time_conv *time = &d->setting->time;
    put_all(
        d,
        (const uint64_t[]){d->pmu->type, time->time_shift, time->time_mult, time->time_zero, time->cap_user_time_zero},
        5);
}

/* ---- Intel PT and BTS -------------------------------------------------------------------------------------------- */

/* The filter's bytes, filled up to a word, after their number. */
static void put_text(struct description *d, const char *text)
{
    const size_t bytes = text ? strlen(text) : 0;
    put(d, bytes);
    for (size_t at = 0; bytes && at <= bytes; at += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, text + at, pf_min_size(sizeof(word), bytes - at));
        put(d, word);
    }
}

static void describe_pt(struct description *d)
{
    enum { OF_THREADS = 2, OF_CPUS = 3 };
    const struct pf_target *target = d->setting->target;
    const char *ratio = read_file(d->sys, d->pmu->name, "tsc_art_ratio");
    unsigned long numerator = 0, denominator = 0;
    if (ratio && sscanf(ratio, "%lu:%lu", &numerator, &denominator) != 2)
        numerator = denominator = 0;
    put_clock(d);
    put_all(d,
            (const uint64_t[]){bits_of(d, "tsc"), bits_of(d, "noretcomp"), target->everybody ? OF_CPUS : OF_THREADS,
                               d->setting->snapshot, target->cpus[0] >= 0, bits_of(d, "mtc"), bits_of(d, "mtc_period"),
                               numerator, denominator, bits_of(d, "cyc"),
                               read_number(d->sys, d->pmu->name, "max_nonturbo_ratio", 10)},
            11);
    put_text(d, d->event->filter);
    put(d, read_number(d->sys, d->pmu->name, "caps/event_trace", 10));
}

static void describe_bts(struct description *d)
{
    put_clock(d);
    put(d, d->setting->snapshot);
}

/* ---- what has words for each processor --------------------------------------------------------------------------- */

/* The first event that writes AUX data on the processor, or NULL. */
static const struct pf_listed_event *event_on(const struct description *d, int32_t cpu)
{
    const struct pf_event_list *chosen = d->setting->chosen;
    const bool is_recorded = pf_list_holds(d->setting->target->sampled_cpus, cpu);
    for (size_t i = 0; i < chosen->count && is_recorded; i++)
        if (chosen->items[i].aux && pf_list_holds(chosen->items[i].cpus, cpu))
            return &chosen->items[i];
    return NULL;
}

static size_t count_processors(const struct pf_target *target)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return target->cpus[0] >= 0 ? target->cpu_count : online > 0 ? (size_t)online : 1;
}

static int32_t processor_at(const struct pf_target *target, size_t index)
{
    return target->cpus[0] >= 0 ? target->cpus[index] : (int32_t)index;
}

static void for_processors(struct description *d, void (*describe)(struct description *d, int32_t cpu))
{
    for (size_t i = 0; i < count_processors(d->setting->target); i++)
        describe(d, processor_at(d->setting->target, i));
}

/* Those that a PMU of this kind has, and a word for how many they are. */
static void put_processors(struct description *d, uint64_t high, void (*describe)(struct description *d, int32_t cpu))
{
    uint64_t count = 0;
    for (size_t i = 0; i < count_processors(d->setting->target); i++)
        count += event_on(d, processor_at(d->setting->target, i)) != NULL;
    put(d, high << 32 | count);
    if (high)
        put(d, d->setting->snapshot);
    for_processors(d, describe);
}

/* ---- Arm SPE ----------------------------------------------------------------------------------------------------- */

static void describe_spe_processor(struct description *d, int32_t cpu)
{
    enum { PARAMETERS = 4 };
    static const uint64_t magic = 0x1010101010101010;
    const struct pf_listed_event *event = event_on(d, cpu);
    if (!event)
        return;
    int reason;
    const char *midr =
        pf_sys_read(d->sys, pf_sys_path(d->sys, "devices/system/cpu/cpu%d/regs/identification/midr_el1", cpu), &reason);
    put_all(d,
            (const uint64_t[]){magic, (uint64_t)cpu, PARAMETERS, midr ? strtoull(midr, NULL, 16) : 0, event->attr.type,
                               read_number(d->sys, event->aux, "caps/min_interval", 10),
                               read_number(d->sys, event->aux, "caps/event_filter", 0)},
            7);
}

static void describe_spe(struct description *d)
{
    enum { VERSION = 2, HEAD = 4 };
    put_all(d, (const uint64_t[]){VERSION, HEAD, d->pmu->type}, 3);
    put_processors(d, 0, describe_spe_processor);
}

/* ---- CoreSight --------------------------------------------------------------------------------------------------- */

static uint64_t read_register(const struct description *d, int32_t cpu, const char *name)
{
    char file[64];
    snprintf(file, sizeof(file), "cpu%d/%s", cpu, name);
    return read_number(d->sys, d->pmu->name, file, 16);
}

/* What the options of the event are in TRCCONFIGR. */
static uint64_t configuration_of(uint64_t config)
{
    static const struct {
        uint64_t option, bits;
    } options[] = {{1 << 12, 1 << 4},  {1 << 14, 1 << 6},  {1 << 15, 1 << 15 | 1 << 7},
                   {1 << 28, 1 << 11}, {1 << 29, 1 << 12}, {1 << 8, 1 << 3}};
    uint64_t bits = 0;
    for (size_t i = 0; i < PF_COUNT(options); i++)
        bits |= config & options[i].option ? options[i].bits : 0;
    return bits;
}

/* The trace id of kernels before 6.2, and a mark that records of newer ones have others. */
static uint64_t trace_id_of(int32_t cpu)
{
    enum { FIRST = 0x10, MASK = 0x7f };
    return (1u << 31) | ((FIRST + (uint64_t)cpu * 2) & MASK);
}

static void describe_etm_processor(struct description *d, int32_t cpu)
{
    static const uint64_t magic_etm = 0x4040404040404040, magic_ete = 0x5050505050505050, unknown = UINT64_MAX;
    enum { PRESENT = 1 << 20, PART = 0xfff, ETE = 0xa13 };
    const struct pf_listed_event *event = event_on(d, cpu);
    if (!event)
        return;
    const uint64_t device = read_register(d, cpu, "mgmt/trcdevarch");
    const bool is_ete = device & PRESENT && (device & PART) == ETE && device >> 16 & 0xf;
    char file[64];
    snprintf(file, sizeof(file), "cpu%d/trcidr/trcidr0", cpu);
    if (!read_file(d->sys, d->pmu->name, file))
        d->result =
            pf_fail(d->sys->error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, d->pmu->name,
                    "the trace unit of processor %d is not an ETMv4 or ETE: its registers are not in /sys", cpu);
    put_all(d,
            (const uint64_t[]){is_ete ? magic_ete : magic_etm, (uint64_t)cpu, is_ete ? 9 : 8,
                               configuration_of(event->attr.config), trace_id_of(cpu),
                               read_register(d, cpu, "trcidr/trcidr0"), read_register(d, cpu, "trcidr/trcidr1"),
                               read_register(d, cpu, "trcidr/trcidr2"), read_register(d, cpu, "trcidr/trcidr8"),
                               read_register(d, cpu, "mgmt/trcauthstatus")},
            10);
    if (is_ete)
        put(d, device);
    snprintf(file, sizeof(file), "cpu%d/ts_source", cpu);
    put(d, read_file(d->sys, d->pmu->name, file) ? read_number(d->sys, d->pmu->name, file, 0) : unknown);
}

static void describe_etm(struct description *d)
{
    enum { VERSION = 1 };
    put(d, VERSION);
    put_processors(d, d->pmu->type, describe_etm_processor);
}

/* ---- HiSilicon PTT ----------------------------------------------------------------------------------------------- */

static void describe_ptt(struct description *d)
{
    put(d, d->pmu->type);
}

/* ---- the kinds --------------------------------------------------------------------------------------------------- */

static const struct usual_term usual_pt[] = {
    {.name = "tsc", .value = 1},
    {.name = "mtc", .value = 1, .if_file = "caps/mtc", .bit = 0},
    {.name = "mtc_period", .value = 3, .if_file = "caps/mtc_periods", .bit = 3},
    {.name = "psb_period", .value = 3, .if_file = "caps/psb_periods", .bit = 3},
    {.name = "pt", .value = 1},
    {.name = "branch", .value = 1},
};
static const struct usual_term usual_spe[] = {
    {.name = "ts_enable", .value = 1},
    {.name = "jitter", .value = 1},
};
static const struct usual_term usual_etm[] = {{.name = "timestamp", .value = 1}, {.name = "contextid", .value = 1}};

static const struct pf_aux_kind kinds[] = {
    {"intel_pt", 1, 1, NULL, 1, usual_pt, PF_COUNT(usual_pt), describe_pt},
    {"intel_bts", 2, 24, NULL, 1, NULL, 0, describe_bts},
    {"cs_etm", 3, 1, NULL, 1, usual_etm, PF_COUNT(usual_etm), describe_etm},
    {"arm_spe", 4, 1, "caps/min_interval", 4096, usual_spe, PF_COUNT(usual_spe), describe_spe},
    {"hisi_ptt", 6, 1, NULL, 1, NULL, 0, describe_ptt},
};

const struct pf_aux_kind *pf_aux_kind_of(const char *pmu)
{
    for (size_t i = 0; pmu && i < PF_COUNT(kinds); i++) {
        const size_t bytes = strlen(kinds[i].pmu);
        if (!strncmp(pmu, kinds[i].pmu, bytes) &&
            (!pmu[bytes] || (pmu[bytes] >= '0' && pmu[bytes] <= '9') || (pmu[bytes] == '_')))
            return &kinds[i];
    }
    return NULL;
}

bool pf_aux_kind_has_period(const struct pf_aux_kind *kind)
{
    return kind->period_file != NULL;
}

size_t pf_aux_kind_alignment(const struct pf_aux_kind *kind)
{
    return kind->alignment;
}

static bool is_usual(struct pf_sys *sys, const struct pf_pmu *pmu, const struct usual_term *term)
{
    return !term->if_file || read_number(sys, pmu->name, term->if_file, 16) >> term->bit & 1;
}

int pf_aux_set_defaults(struct pf_sys *sys, struct pf_pmu *pmu, struct pf_listed_event *event)
{
    const struct pf_aux_kind *kind = pf_aux_kind_of(pmu->name);
    if (!kind)
        return 0;
    event->aux = pmu->name;
    const int result = pf_pmu_formats(sys, pmu);
    for (size_t i = 0; result == 0 && i < kind->usual_count; i++) {
        const struct pf_format *format = pf_pmu_format(pmu, pf_piece_of(kind->usual[i].name));
        if (format && is_usual(sys, pmu, &kind->usual[i]))
            pf_format_set(&event->attr, format, kind->usual[i].value);
    }
    const uint64_t least = kind->period_file ? read_number(sys, pmu->name, kind->period_file, 10) : 0;
    event->attr.sample_period_or_freq = least ? least : kind->period;
    return result;
}

int pf_aux_set_sink(struct pf_sys *sys, struct pf_pmu *pmu, struct pf_piece name, struct perfile_attr *attr)
{
    char file[128];
    const struct pf_format *format = pf_pmu_format(pmu, pf_piece_of("sinkid"));
    if (snprintf(file, sizeof(file), "sinks/%.*s", PF_SHOW(name)) >= (int)sizeof(file) || !format ||
        !read_file(sys, pmu->name, file))
        return pf_fail(sys->error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, pmu->name,
                       "has no sink %.*s; " DEVICES "/%s/sinks lists them", PF_SHOW(name), pmu->name);
    pf_format_set(attr, format, read_number(sys, pmu->name, file, 0));
    return 0;
}

static struct pf_pmu *pmu_of(struct pf_sys *sys, const char *name)
{
    for (size_t i = 0; i < sys->pmu_count; i++)
        if (!strcmp(sys->pmus[i].name, name))
            return &sys->pmus[i];
    return NULL;
}

static int put_description(struct description *d, const struct pf_synthesis *synthesis, struct perfile_error *error)
{
    const struct pf_aux_kind *kind = pf_aux_kind_of(d->event->aux);
    int result = pf_pmu_formats(d->sys, d->pmu);
    if (result == 0)
        kind->describe(d);
    result = result ? result : d->result;
    const struct perfile_auxtrace_info info = {
        .auxtrace_type = kind->type,
        .priv = {.data = (const uint8_t *)d->words, .count = d->count},
    };
    if (result == 0)
        result = synthesis->put(synthesis->context, PERFILE_RECORD_AUXTRACE_INFO, 0, &info, sizeof(info), error);
    pf_free(d->sys->allocator, d->words, d->capacity * sizeof(*d->words));
    return result;
}

int pf_aux_put_info(const struct pf_aux_setting *setting, const struct pf_synthesis *synthesis,
                    struct perfile_error *error)
{
    struct pf_event_list *chosen = setting->chosen;
    struct pf_sys sys;
    struct description d = {.setting = setting, .sys = &sys};
    for (size_t i = 0; i < chosen->count && !d.event; i++)
        d.event = chosen->items[i].aux ? &chosen->items[i] : NULL;
    if (!d.event)
        return 0;
    pf_sys_open(&sys, &chosen->arena, chosen->sysfs, error);
    int result = pf_sys_pmus(&sys);
    d.pmu = result == 0 ? pmu_of(&sys, d.event->aux) : NULL;
    if (d.pmu)
        result = put_description(&d, synthesis, error);
    pf_sys_close(&sys);
    return result;
}
