/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/counted.h"
#include "format/attr.h"
#include "format/features.h"
#include "format/features_walk.h"
#include "format/tracing.h"

/* ---- the walk ----------------------------------------------------------------------------------------------- */

/* Keeps the cursor's failure as the damage. */
static void settle(struct pf_feature_walk *w)
{
    if (w->c->failed && !w->result)
        w->result = pf_cursor_error(w->c, w->what, w->error);
}

/* Keeps the damage that is found at the cursor; the walk goes on. */
__attribute__((format(printf, 2, 3))) static void note_damage(struct pf_feature_walk *w, const char *format, ...)
{
    settle(w);
    if (w->result)
        return;
    char text[sizeof(w->error->message)];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    w->result = pf_fail(w->error, PERFILE_ERROR_DAMAGED, pf_cursor_offset(w->c), w->what, "%s", text);
}

/* Ends the walk for another reason than missing bytes. */
static void give_up(struct pf_feature_walk *w)
{
    pf_cursor_fail(w->c, 0);
}

/* perf counts padding (to 64) into the length; the NUL may be missing. No writer states a length of 0. */
static const char *take_text(struct pf_feature_walk *w, size_t *bytes)
{
    uint32_t length = pf_cursor_u32(w->c);
    if (!w->c->failed && length == 0) {
        note_damage(w, "a text of 0 bytes");
        give_up(w);
    }
    const uint8_t *text = pf_cursor_take(w->c, length);
    *bytes = text ? pf_text_length(text, length) : 0;
    return (const char *)text;
}

uint64_t pf_feature_show_member(struct pf_feature_walk *w, const struct pf_feature_member *member)
{
    struct perfile_value value = {.name = member->name, .meaning = member->meaning};
    switch (member->kind) {
    case PF_FEATURE_U32:
        value.number.u = pf_cursor_u32(w->c);
        break;
    case PF_FEATURE_U64:
        value.number.u = pf_cursor_u64(w->c);
        break;
    case PF_FEATURE_TEXT:
        value.kind = PERFILE_VALUE_TEXT;
        value.data = (const uint8_t *)take_text(w, &value.bytes);
        break;
    case PF_FEATURE_NAME:
        value.kind = PERFILE_VALUE_TEXT;
        value.data = (const uint8_t *)pf_cursor_text(w->c, &value.bytes);
        break;
    }
    if (!w->c->failed)
        pf_emit_value(w->e, &value);
    return value.number.u;
}

static void show_members(struct pf_feature_walk *w, const struct pf_feature_member *members)
{
    for (; members->name && pf_feature_goes_on(w); members++)
        pf_feature_show_member(w, members);
}

void pf_feature_show_object(struct pf_feature_walk *w, const struct pf_feature_element *self)
{
    pf_emit_begin(w->e, NULL, false);
    show_members(w, self->members);
    pf_emit_end(w->e, false);
}

static uint64_t min_bytes(const struct pf_feature_element *element)
{
    static const uint8_t bytes[] = {
        [PF_FEATURE_U32] = 4, [PF_FEATURE_U64] = 8, [PF_FEATURE_TEXT] = 5, [PF_FEATURE_NAME] = 1};
    uint64_t sum = element->min_bytes;
    for (const struct pf_feature_member *m = element->members; m && m->name; m++)
        sum += bytes[m->kind];
    return sum;
}

/* A list, though it be empty because its count could not be read. */
static void show_list(struct pf_feature_walk *w, const char *name, uint64_t count, const struct pf_feature_element *of)
{
    size_t left = pf_cursor_left(w->c);
    uint64_t min = min_bytes(of);
    uint64_t shown = pf_min(count, left / min);
    bool too_many = !w->c->failed && count > shown;
    char text[PF_COUNTED_BYTES], each[PF_COUNTED_BYTES];
    if (too_many)
        note_damage(w, "entries of at least %s in %s: %" PRIu64, pf_count_of(min, "bytes", each),
                    pf_count_of(left, "bytes", text), count);
    pf_emit_begin(w->e, name, true);
    for (uint64_t i = 0; i < shown && pf_feature_goes_on(w); i++)
        of->show(w, of);
    pf_emit_end(w->e, true);
    if (too_many)
        give_up(w);
}

/* Shows a list of `count` elements, but at most as many as fit into the bytes that are left. */
static void feature_show_list(struct pf_feature_walk *w, const char *name, uint64_t count,
                              const struct pf_feature_element *of)
{
    if (pf_feature_goes_on(w))
        show_list(w, name, count, of);
}

void pf_feature_show_counted(struct pf_feature_walk *w, const char *name, const struct pf_feature_element *of)
{
    if (pf_feature_goes_on(w))
        show_list(w, name, pf_cursor_u32(w->c), of);
}

void pf_feature_show_within(struct pf_feature_walk *w, struct pf_cursor part, void (*show)(struct pf_feature_walk *w))
{
    struct pf_cursor *complete = w->c;
    part.mirror = complete->mirror;
    w->c = &part;
    show(w);
    settle(w);
    w->c = complete;
}

void pf_feature_show_part(struct pf_feature_walk *w, uint64_t bytes, void (*show)(struct pf_feature_walk *w))
{
    uint64_t offset = pf_cursor_offset(w->c);
    const uint8_t *data = pf_cursor_take(w->c, bytes);
    if (!w->c->failed)
        pf_feature_show_within(w, pf_cursor_make(data, (size_t)bytes, offset, w->c->swap), show);
}

static void show_text(struct pf_feature_walk *w, const struct pf_feature_element *self)
{
    (void)self;
    SHOW(w, TEXT(NULL));
}

void pf_feature_show_u64(struct pf_feature_walk *w, const struct pf_feature_element *self)
{
    pf_feature_show_member(w, &(struct pf_feature_member){NULL, PF_FEATURE_U64, (int)self->argument});
}

static void show_bytes(struct pf_feature_walk *w, const char *name, uint64_t bytes)
{
    const uint8_t *data = pf_cursor_take(w->c, bytes);
    if (!w->c->failed)
        pf_emit_bytes(w->e, name, data, (size_t)bytes);
}

static const struct pf_feature_element text_element = {.show = show_text, .min_bytes = 5};

/* ---- shared layouts ----------------------------------------------------------------------------------------- */

static void show_scalar(struct pf_feature_walk *w, const char *name, int kind)
{
    pf_feature_show_member(w, &(struct pf_feature_member){name, kind, PERFILE_MEANS_NUMBER});
    if (w->c->failed)
        pf_emit_null(w->e, name);
}

/* perf 3.8 left the section empty when it did not find the text (CPUDESC on ARM). */
static void feature_text(struct pf_feature_walk *w, const char *name)
{
    if (pf_cursor_left(w->c))
        show_scalar(w, name, PF_FEATURE_TEXT);
    else
        pf_emit_text(w->e, name, "", 0);
}

static void feature_texts(struct pf_feature_walk *w, const char *name)
{
    pf_feature_show_counted(w, name, &text_element);
}

static void feature_u32(struct pf_feature_walk *w, const char *name)
{
    show_scalar(w, name, PF_FEATURE_U32);
}

static void feature_u64(struct pf_feature_walk *w, const char *name)
{
    show_scalar(w, name, PF_FEATURE_U64);
}

static void feature_flag(struct pf_feature_walk *w, const char *name)
{
    pf_emit_bool(w->e, name, true);
}

static void feature_hex(struct pf_feature_walk *w, const char *name)
{
    show_bytes(w, name, pf_cursor_left(w->c));
}

/* ---- plain objects and lists of them -------------------------------------------------------------------------- */

#define OBJECT_FEATURE(layout, ...)                                                                                    \
    static void feature_##layout(struct pf_feature_walk *w, const char *name)                                          \
    {                                                                                                                  \
        static const struct pf_feature_member members[] = {__VA_ARGS__, {NULL, 0, 0}};                                 \
        pf_emit_begin(w->e, name, false);                                                                              \
        show_members(w, members);                                                                                      \
        pf_emit_end(w->e, false);                                                                                      \
    }

#define LIST_FEATURE(layout, ...)                                                                                      \
    static void feature_##layout(struct pf_feature_walk *w, const char *name)                                          \
    {                                                                                                                  \
        PF_FEATURE_OBJECT(element, __VA_ARGS__);                                                                       \
        pf_feature_show_counted(w, name, &element);                                                                    \
    }

/* "available" are the CPUs present; 7.2 writes the highest one plus 1. */
OBJECT_FEATURE(cpu_counts, U32("nr_cpus_available"), U32("nr_cpus_online"))
OBJECT_FEATURE(sample_time, ROW("first", U64, INSTANT), ROW("last", U64, INSTANT))
OBJECT_FEATURE(clockid, ROW("clockid_res_ns", U64, DURATION))
OBJECT_FEATURE(dir_format, U64("version"))
OBJECT_FEATURE(compressed, U32("version"), U32("type"), U32("level"), U32("ratio"), ROW("mmap_len", U32, BYTES))
OBJECT_FEATURE(clock_data, U32("version"), U32("clockid"), ROW("wall_clock_ns", U64, INSTANT),
               ROW("clockid_time_ns", U64, INSTANT))
OBJECT_FEATURE(e_machine, U32("e_machine"), ROW("e_flags", U32, FLAGS))

LIST_FEATURE(numa_topology, U32("nodenr"), U64("mem_total"), U64("mem_free"), TEXT("cpus"))
LIST_FEATURE(pmu_mappings, U32("type"), TEXT("name"))
LIST_FEATURE(group_desc, TEXT("name"), U32("leader_idx"), U32("nr_members"))
LIST_FEATURE(hybrid_topology, TEXT("pmu_name"), TEXT("cpus"))

/* ---- events ------------------------------------------------------------------------------------------------- */

static const struct pf_feature_element id_element = {
    .show = pf_feature_show_u64, .min_bytes = 8, .argument = PERFILE_MEANS_ID};

/* The number of ids is before the name, the ids are after it. */
static void show_event(struct pf_feature_walk *w, const struct pf_feature_element *self)
{
    pf_emit_begin(w->e, NULL, false);
    const uint8_t *attr = pf_cursor_take(w->c, self->argument);
    if (attr) {
        uint64_t bytes = pf_min(pf_attr_stated_bytes(attr, w->c->swap), self->argument);
        pf_attr_emit(w->e, "attr", attr, (size_t)bytes, w->c->swap, w->context->big_endian);
    }
    uint32_t id_count = pf_cursor_u32(w->c);
    SHOW(w, TEXT("name"));
    feature_show_list(w, "ids", id_count, &id_element);
    pf_emit_end(w->e, false);
}

static void feature_event_desc(struct pf_feature_walk *w, const char *name)
{
    uint32_t count = pf_cursor_u32(w->c);
    uint32_t attr_bytes = pf_cursor_u32(w->c);
    char text[PF_COUNTED_BYTES];
    if (!w->c->failed && attr_bytes < PF_ATTR_SIZE_MIN) {
        note_damage(w, "attributes of %s", pf_count_of(attr_bytes, "bytes", text));
        give_up(w);
    }
    struct pf_feature_element event = {
        .show = show_event, .min_bytes = (uint64_t)attr_bytes + 4 + 5, .argument = attr_bytes};
    show_list(w, name, count, &event);
}

/* ---- CPUs, caches, memory ------------------------------------------------------------------------------------- */

static void show_die(struct pf_feature_walk *w, const struct pf_feature_element *self)
{
    (void)self;
    SHOW(w, U32(NULL));
}

/*
 * The per-CPU ids came in 4.4, the dies in 5.3, and a writer that fails stops anywhere; so each part is there only
 * if bytes are. Fewer than 8 are the padding of a pipe record. An unknown id is all ones.
 */
static void feature_cpu_topology(struct pf_feature_walk *w, const char *name)
{
    PF_FEATURE_OBJECT(cpu, U32("core_id"), U32("socket_id"));
    static const struct pf_feature_element die = {.show = show_die, .min_bytes = 4};
    bool counted = w->context->has_cpu_count;
    uint32_t count = w->context->cpus_available;
    pf_emit_begin(w->e, name, false);
    pf_feature_show_counted(w, "sibling_cores", &text_element);
    pf_feature_show_counted(w, "sibling_threads", &text_element);
    if (counted && pf_cursor_left(w->c) >= 8)
        feature_show_list(w, "cpus", count, &cpu);
    if (counted && pf_cursor_left(w->c) >= 8) {
        pf_feature_show_counted(w, "sibling_dies", &text_element);
        feature_show_list(w, "die_id", count, &die);
    }
    pf_emit_end(w->e, false);
}

static void feature_cache(struct pf_feature_walk *w, const char *name)
{
    PF_FEATURE_OBJECT(level, U32("level"), ROW("line_size", U32, BYTES), U32("sets"), U32("ways"), TEXT("type"),
                      TEXT("size"), TEXT("map"));
    pf_emit_begin(w->e, name, false);
    SHOW(w, U32("version"));
    pf_feature_show_counted(w, "levels", &level);
    pf_emit_end(w->e, false);
}

/* Bit i of word w stands for memory block 64 * w + i; as text because hexadecimal is what people read it in. */
static void show_bitmap_word(struct pf_feature_walk *w, const struct pf_feature_element *self)
{
    (void)self;
    char text[17];
    uint64_t word = pf_cursor_u64(w->c);
    snprintf(text, sizeof(text), "%016" PRIx64, word);
    pf_emit_text(w->e, NULL, text, 16);
}

static void show_memory_node(struct pf_feature_walk *w, const struct pf_feature_element *self)
{
    static const struct pf_feature_element word = {.show = show_bitmap_word, .min_bytes = 8};
    (void)self;
    pf_emit_begin(w->e, NULL, false);
    SHOW(w, U64("node_id"));
    SHOW(w, U64("size"));
    uint64_t bits = SHOW(w, U64("bitmapsize"));
    feature_show_list(w, "entries", bits / 64 + (bits % 64 != 0), &word);
    pf_emit_end(w->e, false);
}

static void feature_mem_topology(struct pf_feature_walk *w, const char *name)
{
    static const struct pf_feature_element node = {.show = show_memory_node, .min_bytes = 24};
    pf_emit_begin(w->e, name, false);
    SHOW(w, U64("version"));
    SHOW(w, ROW("block_size_bytes", U64, BYTES));
    feature_show_list(w, "nodes", pf_cursor_u64(w->c), &node);
    pf_emit_end(w->e, false);
}

static void show_cap(struct pf_feature_walk *w, const struct pf_feature_element *self)
{
    pf_emit_begin(w->e, NULL, true);
    show_text(w, self);
    show_text(w, self);
    pf_emit_end(w->e, true);
}

static const struct pf_feature_element cap_element = {.show = show_cap, .min_bytes = 10};

static void feature_cpu_pmu_caps(struct pf_feature_walk *w, const char *name)
{
    pf_emit_begin(w->e, name, false);
    pf_feature_show_counted(w, "caps", &cap_element);
    pf_emit_end(w->e, false);
}

static void show_pmu(struct pf_feature_walk *w, const struct pf_feature_element *self)
{
    (void)self;
    pf_emit_begin(w->e, NULL, false);
    pf_feature_show_counted(w, "caps", &cap_element);
    SHOW(w, TEXT("pmu_name"));
    pf_emit_end(w->e, false);
}

static void feature_pmu_caps(struct pf_feature_walk *w, const char *name)
{
    static const struct pf_feature_element pmu = {.show = show_pmu, .min_bytes = 9};
    pf_feature_show_counted(w, name, &pmu);
}

/* Domains have a name since version 17 of schedstat (6.14). */
static void show_cpu_domains(struct pf_feature_walk *w, uint64_t schedstat_version)
{
    PF_FEATURE_OBJECT(named, U32("domain"), TEXT("dname"), TEXT("cpumask"), TEXT("cpulist"));
    PF_FEATURE_OBJECT(nameless, U32("domain"), TEXT("cpumask"), TEXT("cpulist"));
    pf_emit_begin(w->e, NULL, false);
    SHOW(w, ROW("cpu", U32, CPU));
    pf_feature_show_counted(w, "domains", schedstat_version >= 17 ? &named : &nameless);
    pf_emit_end(w->e, false);
}

/* How many CPUs follow is not stored. Fewer than 8 bytes are the padding of a pipe record. */
static void feature_cpu_domain_info(struct pf_feature_walk *w, const char *name)
{
    pf_emit_begin(w->e, name, false);
    uint64_t version = SHOW(w, U32("schedstat_version"));
    SHOW(w, U32("max_sched_domains"));
    if (pf_feature_goes_on(w)) {
        pf_emit_begin(w->e, "cpus", true);
        while (pf_feature_goes_on(w) && pf_cursor_left(w->c) >= 8)
            show_cpu_domains(w, version);
        pf_emit_end(w->e, true);
    }
    pf_emit_end(w->e, false);
}

/* ---- files and programs --------------------------------------------------------------------------------------- */

static void feature_tracing_data(struct pf_feature_walk *w, const char *name)
{
    uint64_t offset = pf_cursor_offset(w->c);
    size_t bytes = pf_cursor_left(w->c);
    pf_tracing_emit(pf_cursor_take(w->c, bytes), bytes, offset, name, w->e);
}

enum {
    BUILD_ID_PID = 8, /* bytes of the record header, which the pid follows */
    BUILD_ID_CAPACITY = 24,
    BUILD_ID_MAX = 20,
    BUILD_ID_LENGTH_AT = 20, /* within the 24 bytes */
};

/* The build id itself; without a stated length all 20 bytes count. */
static void show_build_id(struct pf_feature_walk *w, uint16_t misc)
{
    const uint8_t *id = pf_cursor_take(w->c, BUILD_ID_CAPACITY);
    if (!id)
        return;
    size_t bytes = BUILD_ID_MAX;
    if (misc & PERFILE_MISC_BUILD_ID_SIZE) {
        bytes = id[BUILD_ID_LENGTH_AT];
        pf_emit_unsigned(w->e, "build_id_size", PERFILE_MEANS_BYTES, bytes);
        if (bytes > BUILD_ID_MAX)
            note_damage(w, "a build id of %zu bytes", bytes);
    }
    pf_emit_bytes(w->e, "build_id", id, (size_t)pf_min(bytes, BUILD_ID_MAX));
}

static void show_build_id_record(struct pf_feature_walk *w, bool with_pid)
{
    SHOW(w, U32("type"));
    uint16_t misc = pf_cursor_u16(w->c);
    pf_emit_unsigned(w->e, "misc", PERFILE_MEANS_FLAGS, misc);
    pf_emit_unsigned(w->e, "size", PERFILE_MEANS_BYTES, pf_cursor_u16(w->c));
    /* without a pid perf takes the host's kernel (-1) or the default guest (0) */
    int32_t pid = (misc & PERFILE_MISC_CPUMODE_MASK) >= PERFILE_MISC_GUEST_KERNEL ? 0 : -1;
    if (with_pid)
        pid = (int32_t)pf_cursor_u32(w->c);
    if (!w->c->failed)
        pf_emit_signed(w->e, "pid", PERFILE_MEANS_PID, pid);
    show_build_id(w, misc);
    size_t left = pf_cursor_left(w->c);
    const uint8_t *name = pf_cursor_take(w->c, left);
    if (!w->c->failed)
        pf_emit_text(w->e, "filename", name, pf_text_length(name, left));
}

static void show_record_with_pid(struct pf_feature_walk *w)
{
    show_build_id_record(w, true);
}

static void show_record_without_pid(struct pf_feature_walk *w)
{
    show_build_id_record(w, false);
}

/* 2.6.33 to 2.6.35 left out the pid: then the kernel's name, which comes first, starts 4 letters late. */
static bool has_no_pids(const struct pf_cursor *c)
{
    static const char shifted[] = "nel.kallsyms]";
    size_t name_at = BUILD_ID_PID + 4 + BUILD_ID_CAPACITY;
    return pf_cursor_left(c) >= name_at + sizeof(shifted) - 1 &&
           memcmp(c->at + name_at, shifted, sizeof(shifted) - 1) == 0;
}

static void feature_build_ids(struct pf_feature_walk *w, const char *name)
{
    void (*show)(struct pf_feature_walk *) = has_no_pids(w->c) ? show_record_without_pid : show_record_with_pid;
    pf_emit_begin(w->e, name, false);
    pf_emit_begin(w->e, "records", true);
    while (pf_feature_goes_on(w) && pf_cursor_left(w->c)) {
        struct pf_cursor header = *w->c;
        pf_cursor_take(&header, 6);
        uint16_t size = pf_cursor_u16(&header);
        char text[PF_COUNTED_BYTES], left[PF_COUNTED_BYTES];
        if (size < BUILD_ID_PID + BUILD_ID_CAPACITY || size > pf_cursor_left(w->c)) {
            note_damage(w, "a record of %s in %s", pf_count_of(size, "bytes", text),
                        pf_count_of(pf_cursor_left(w->c), "bytes", left));
            give_up(w);
            break;
        }
        pf_emit_begin(w->e, NULL, false);
        pf_feature_show_part(w, size, show);
        pf_emit_end(w->e, false);
    }
    pf_emit_end(w->e, true);
    pf_emit_end(w->e, false);
}

/* perf writes the number of entries first; simpleperf does not: only the size of the section distinguishes them. */
static void feature_auxtrace(struct pf_feature_walk *w, const char *name)
{
    PF_FEATURE_OBJECT(entry, ROW("file_offset", U64, ADDRESS), ROW("sz", U64, BYTES));
    size_t left = pf_cursor_left(w->c);
    uint64_t count = left % 16 ? pf_cursor_u64(w->c) : left / 16;
    show_list(w, name, count, &entry);
}

/* info and data are the writer's structs and arrays, in its byte order. */
static void show_bpf_program(struct pf_feature_walk *w, const struct pf_feature_element *self)
{
    (void)self;
    pf_emit_begin(w->e, NULL, false);
    uint64_t info_bytes = SHOW(w, ROW("info_len", U32, BYTES));
    uint64_t data_bytes = SHOW(w, ROW("data_len", U32, BYTES));
    SHOW(w, ROW("arrays", U64, FLAGS));
    show_bytes(w, "info", info_bytes);
    show_bytes(w, "data", data_bytes);
    pf_emit_end(w->e, false);
}

static void feature_bpf_prog_info(struct pf_feature_walk *w, const char *name)
{
    static const struct pf_feature_element program = {.show = show_bpf_program, .min_bytes = 16};
    pf_feature_show_counted(w, name, &program);
}

static void show_bpf_types(struct pf_feature_walk *w, const struct pf_feature_element *self)
{
    (void)self;
    pf_emit_begin(w->e, NULL, false);
    SHOW(w, U32("id"));
    show_bytes(w, "data", SHOW(w, ROW("data_size", U32, BYTES)));
    pf_emit_end(w->e, false);
}

static void feature_bpf_btf(struct pf_feature_walk *w, const char *name)
{
    static const struct pf_feature_element types = {.show = show_bpf_types, .min_bytes = 8};
    pf_feature_show_counted(w, name, &types);
}

/* ---- which layout --------------------------------------------------------------------------------------------- */

#define feature_simpleperf_file pf_feature_simpleperf_file
#define feature_simpleperf_file2 pf_feature_simpleperf_file2
#define feature_simpleperf_meta_info pf_feature_simpleperf_meta_info

struct layout {
    uint32_t number;
    const char *what;
    void (*show)(struct pf_feature_walk *w, const char *name);
};

static const struct layout layouts[] = {
#define FEATURE(number, NAME, layout, since, doc) {number, "feature " #NAME, feature_##layout},
#include "schema/features.def"
#undef FEATURE
};

static struct layout layout_of(uint32_t number)
{
    for (size_t i = 0; i < PF_COUNT(layouts); i++)
        if (layouts[i].number == number)
            return layouts[i];
    return (struct layout){number, "unknown feature", feature_hex};
}

int pf_feature_emit(uint32_t number, const char *name, struct pf_cursor *c, const struct pf_feature_context *context,
                    struct pf_emit *e, struct perfile_error *error)
{
    struct layout layout = layout_of(number);
    struct pf_feature_walk w = {.c = c, .e = e, .context = context, .what = layout.what, .error = error};
    layout.show(&w, name);
    settle(&w);
    return w.result;
}
