/* SPDX-License-Identifier: MIT */
#include "format/layout.h"

#include <stdio.h>

#include "base/sized.h"
#include "format/attr.h"
#include "schema/schema.h"

/* ---- lists ---- */

/* Bytes of an element: the sum of its fields. */
#define U64(...) +8
#define S64(...) +8
#define TEXT(field, bytes, doc) +(bytes)
#define ELEMENT(name, doc) bytes_of_##name = 0
#define END_ELEMENT(name) ,
enum {
#include "schema/elements.def"
    bytes_of_word = 8
};
#include "schema/undef.h"

static void copy_text(char *to, size_t capacity, const uint8_t *from)
{
    size_t length = from ? pf_text_length(from, capacity) : 0;
    memcpy(to, from ? from : (const uint8_t *)"", length);
    memset(to + length, 0, capacity + 1 - length);
}

#define U64(field, meaning, doc) made.field = pf_cursor_u64(&c);
#define S64(field, meaning, doc) made.field = (int64_t)pf_cursor_u64(&c);
#define TEXT(field, bytes, doc) copy_text(made.field, bytes, pf_cursor_take(&c, bytes));
#define ELEMENT(name, doc)                                                                                             \
    void perfile_##name##_at(const struct perfile_list *list, uint64_t index, struct perfile_##name *out,              \
                             size_t out_bytes)                                                                         \
    {                                                                                                                  \
        struct pf_cursor c = pf_cursor_make(list->data + index * bytes_of_##name, bytes_of_##name, 0, list->swapped);  \
        struct perfile_##name made;
#define END_ELEMENT(name)                                                                                              \
    pf_measured_give(out, out_bytes, &made, sizeof(made));                                                             \
    }
#include "schema/elements.def"
#include "schema/undef.h"

#define U64(field, meaning, doc) pf_emit_unsigned(e, #field, PERFILE_MEANS_##meaning, element.field);
#define S64(field, meaning, doc) pf_emit_signed(e, #field, PERFILE_MEANS_##meaning, element.field);
#define TEXT(field, bytes, doc) pf_emit_text(e, #field, element.field, strlen(element.field));
#define ELEMENT(name, doc)                                                                                             \
    static void show_list_##name(struct pf_emit *e, const char *field, const struct perfile_list *list)                \
    {                                                                                                                  \
        pf_emit_begin(e, field, true);                                                                                 \
        for (uint64_t i = 0; i < list->count && !e->stopped; i++) {                                                    \
            struct perfile_##name element;                                                                             \
            perfile_##name##_at(list, i, &element, sizeof(element));                                                   \
            pf_emit_begin(e, NULL, false);
#define END_ELEMENT(name)                                                                                              \
    pf_emit_end(e, false);                                                                                             \
    }                                                                                                                  \
    pf_emit_end(e, true);                                                                                              \
    }
#include "schema/elements.def"
#include "schema/undef.h"

static void show_words(struct pf_emit *e, const char *field, const struct perfile_u64s *words)
{
    pf_emit_begin(e, field, true);
    for (uint64_t i = 0; i < words->count && !e->stopped; i++)
        pf_emit_unsigned(e, NULL, PERFILE_MEANS_ADDRESS, perfile_u64_at(words, i));
    pf_emit_end(e, true);
}

static void show_list_word(struct pf_emit *e, const char *field, const struct perfile_u64s *words)
{
    show_words(e, field, words);
}

static struct perfile_list take_list(struct pf_cursor *c, uint64_t count, uint64_t stride)
{
    const uint8_t *data = pf_cursor_take_array(c, count, stride);
    return (struct perfile_list){.data = data, .count = data ? count : 0, .swapped = c->swap};
}

/* Into a struct perfile_list or struct perfile_u64s, which are alike. */
#define TAKE_LIST(c, field, count_, element)                                                                           \
    {                                                                                                                  \
        const struct perfile_list list = take_list(c, count_, bytes_of_##element);                                     \
        (field).data = list.data;                                                                                      \
        (field).count = list.count;                                                                                    \
        (field).swapped = list.swapped;                                                                                \
    }

/* ---- custom layouts ---- */

static void read_read(struct pf_cursor *c, const struct pf_layout *layout, struct perfile_read *out)
{
    if (layout->plan)
        pf_read_take(c, layout->plan->read_format, out);
    else
        pf_cursor_fail(c, 8);
}

static void show_read_value(struct pf_emit *e, const struct perfile_read *read, uint64_t index)
{
    struct perfile_read_value value;
    perfile_read_at(read, index, &value, sizeof(value));
    pf_emit_unsigned(e, "value", PERFILE_MEANS_NUMBER, value.value);
    if (read->format & 4)
        pf_emit_unsigned(e, "id", PERFILE_MEANS_ID, value.id);
    if (read->format & 16)
        pf_emit_unsigned(e, "lost", PERFILE_MEANS_NUMBER, value.lost);
}

static void show_read(struct pf_emit *e, const char *field, const struct perfile_read *read)
{
    bool group = read->format & 8;
    pf_emit_begin(e, field, false);
    if (group)
        pf_emit_unsigned(e, "nr", PERFILE_MEANS_NUMBER, read->count);
    if (read->format & 1)
        pf_emit_unsigned(e, "time_enabled", PERFILE_MEANS_DURATION, read->time_enabled);
    if (read->format & 2)
        pf_emit_unsigned(e, "time_running", PERFILE_MEANS_DURATION, read->time_running);
    if (group) {
        pf_emit_begin(e, "values", true);
        for (uint64_t i = 0; i < read->count && !e->stopped; i++) {
            pf_emit_begin(e, NULL, false);
            show_read_value(e, read, i);
            pf_emit_end(e, false);
        }
        pf_emit_end(e, true);
    } else {
        show_read_value(e, read, 0);
    }
    pf_emit_end(e, false);
}

/* The attr stands with its own size in front of the ids. */
static void read_attr(struct pf_cursor *c, const struct pf_layout *layout, struct perfile_attr *out)
{
    const uint8_t *at = c->at;
    uint32_t bytes = pf_cursor_left(c) >= 8 ? pf_attr_stated_bytes(at, c->swap) : PF_ATTR_SIZE_MIN;
    if (pf_cursor_take(c, bytes < 8 ? 8 : bytes))
        pf_attr_decode(at, bytes, c->swap, layout->feature.big_endian, out);
}

static void show_attr(struct pf_emit *e, const struct pf_layout *layout, const struct pf_cursor *c, const uint8_t *at)
{
    pf_attr_emit(e, "attr", at, (size_t)(c->at - at), c->swap, layout->feature.big_endian);
}

/*
 * A set of CPUs: u16 type, then 0: u16 count, u16 each; 1: u16 count, u16 word size, words (of 8 bytes: at 10, as a
 * 64-bit writer aligned them); 2: u8 any, u8 0, u16 start, u16 end.
 */
static void read_cpu_map(struct pf_cursor *c, const struct pf_layout *layout, struct perfile_cpu_set *out)
{
    (void)layout;
    *out = (struct perfile_cpu_set){.map_type = pf_cursor_u16(c), .swapped = c->swap};
    if (out->map_type == PERFILE_CPU_MAP_CPUS) {
        out->count = pf_cursor_u16(c);
        out->data = pf_cursor_take_array(c, out->count, 2);
    } else if (out->map_type == PERFILE_CPU_MAP_MASK) {
        out->count = pf_cursor_u16(c);
        out->long_size = pf_cursor_u16(c);
        if (out->long_size == 8)
            pf_cursor_take(c, 4);
        if (out->long_size != 4 && out->long_size != 8)
            pf_cursor_fail(c, out->long_size);
        out->data = pf_cursor_take_array(c, out->count, out->long_size);
    } else if (out->map_type == PERFILE_CPU_MAP_RANGE_CPUS) {
        out->any_cpu = pf_cursor_u8(c);
        pf_cursor_take(c, 1);
        out->start_cpu = pf_cursor_u16(c);
        out->end_cpu = pf_cursor_u16(c);
    }
    if (c->failed)
        out->count = 0;
}

static void read_cpus(struct pf_cursor *c, const struct pf_layout *layout, struct perfile_cpu_set *out)
{
    read_cpu_map(c, layout, out);
}

static uint64_t mask_word(const struct perfile_cpu_set *set, uint32_t index)
{
    const uint8_t *p = set->data + (size_t)index * set->long_size;
    return set->long_size == 8 ? pf_load64(p, set->swapped) : pf_load32(p, set->swapped);
}

static void show_mask(struct pf_emit *e, const struct perfile_cpu_set *set)
{
    pf_emit_unsigned(e, "long_size", PERFILE_MEANS_BYTES, set->long_size);
    pf_emit_begin(e, "mask", true);
    for (uint32_t i = 0; i < set->count; i++)
        pf_emit_unsigned(e, NULL, PERFILE_MEANS_FLAGS, mask_word(set, i));
    pf_emit_end(e, true);
    pf_emit_begin(e, "cpus", true);
    for (uint32_t i = 0; i < set->count; i++)
        for (uint32_t bit = 0; bit < set->long_size * 8u; bit++)
            if (mask_word(set, i) >> bit & 1)
                pf_emit_unsigned(e, NULL, PERFILE_MEANS_CPU, i * set->long_size * 8u + bit);
    pf_emit_end(e, true);
}

static void show_cpu_map(struct pf_emit *e, const char *field, const struct perfile_cpu_set *set)
{
    (void)field;
    pf_emit_unsigned(e, "map_type", PERFILE_MEANS_NUMBER, set->map_type);
    if (set->map_type == PERFILE_CPU_MAP_CPUS) {
        pf_emit_begin(e, "cpus", true);
        for (uint32_t i = 0; i < set->count; i++)
            pf_emit_signed(e, NULL, PERFILE_MEANS_CPU, (int16_t)pf_load16(set->data + 2 * i, set->swapped));
        pf_emit_end(e, true);
    } else if (set->map_type == PERFILE_CPU_MAP_MASK) {
        show_mask(e, set);
    } else if (set->map_type == PERFILE_CPU_MAP_RANGE_CPUS) {
        pf_emit_unsigned(e, "any_cpu", PERFILE_MEANS_NUMBER, set->any_cpu);
        pf_emit_unsigned(e, "start_cpu", PERFILE_MEANS_CPU, set->start_cpu);
        pf_emit_unsigned(e, "end_cpu", PERFILE_MEANS_CPU, set->end_cpu);
    }
}

static void show_cpus(struct pf_emit *e, const char *field, const struct perfile_cpu_set *set)
{
    pf_emit_begin(e, field, false);
    show_cpu_map(e, field, set);
    pf_emit_end(e, false);
}

/* Text to the end of the record, or to its first NUL. */
static void read_unended_text(struct pf_cursor *c, const struct pf_layout *layout, struct perfile_bytes *out)
{
    (void)layout;
    size_t left = pf_cursor_left(c);
    out->bytes = pf_text_length(c->at, left);
    out->data = pf_cursor_take(c, left);
}

static void show_unended_text(struct pf_emit *e, const char *field, const struct perfile_bytes *text)
{
    pf_emit_text(e, field, text->data, (size_t)text->bytes);
}

static void read_feature(struct pf_cursor *c, const struct pf_layout *layout, struct perfile_feature_body *out)
{
    (void)layout;
    out->bytes = pf_cursor_left(c);
    out->data = pf_cursor_take(c, out->bytes);
}

/* The body of a pipe-mode feature has the layout of the section; empty ones are flags, or the end mark of the writer.
 */
static void show_feature(struct pf_emit *e, const struct pf_layout *layout, struct pf_cursor *c, uint64_t number)
{
    const char *name = number <= UINT32_MAX ? perfile_feature_name((uint32_t)number) : NULL;
    if (name)
        pf_emit_text(e, "feat", name, strlen(name));
    else
        pf_emit_null(e, "feat");
    if (pf_cursor_left(c) == 0) {
        pf_emit_bool(e, "empty", true);
        return;
    }
    struct perfile_error error;
    if (pf_feature_emit(number <= UINT32_MAX ? (uint32_t)number : 0, "data", c, &layout->feature, e, &error) < 0)
        pf_emit_text(e, "error", error.message, strlen(error.message));
}

static const char *const balance_v15[] = {"count",  "balanced",   "failed",  "imbalance",
                                          "gained", "hot_gained", "nobusyq", "nobusyg"};
static const char *const balance_v17[] = {"count",          "balanced",       "failed",           "imbalance_load",
                                          "imbalance_util", "imbalance_task", "imbalance_misfit", "gained",
                                          "hot_gained",     "nobusyq",        "nobusyg"};
static const char *const balance_tail[] = {"alb_count",    "alb_failed",       "alb_pushed",       "sbe_count",
                                           "sbe_balanced", "sbe_pushed",       "sbf_count",        "sbf_balanced",
                                           "sbf_pushed",   "ttwu_wake_remote", "ttwu_move_affine", "ttwu_move_balance"};

static void read_schedstat(struct pf_cursor *c, const struct pf_layout *layout, struct perfile_schedstat_counters *out)
{
    (void)layout;
    out->count = (uint32_t)(pf_cursor_left(c) / 4);
    out->data = pf_cursor_take_array(c, out->count, 4);
    out->swapped = c->swap;
}

static void show_counter(struct pf_emit *e, const char *group, const char *name, uint32_t value)
{
    char text[64];
    snprintf(text, sizeof(text), "%s%s", group, name);
    pf_emit_unsigned(e, text, PERFILE_MEANS_NUMBER, value);
}

/* v15: idle, busy, newidle; v16: busy first; v17: more kinds of imbalance. Then the same twelve counters in all. */
static void show_schedstat(struct pf_emit *e, const struct perfile_schedstat_counters *counters, uint16_t version)
{
    static const char *const v15[] = {"idle_lb_", "busy_lb_", "newidle_lb_"};
    static const char *const v16[] = {"busy_lb_", "idle_lb_", "newidle_lb_"};
    const char *const *groups = version < 16 ? v15 : v16;
    const char *const *names = version < 17 ? balance_v15 : balance_v17;
    uint32_t each = version < 17 ? PF_COUNT(balance_v15) : PF_COUNT(balance_v17);
    for (uint32_t i = 0; i < counters->count; i++) {
        uint32_t value = pf_load32(counters->data + 4 * (size_t)i, counters->swapped);
        if (i < 3 * each)
            show_counter(e, groups[i / each], names[i % each], value);
        else if (i - 3 * each < PF_COUNT(balance_tail))
            show_counter(e, "", balance_tail[i - 3 * each], value);
    }
}

/* ---- the trailer ---- */

static void sample_id_take(struct pf_cursor *c, uint64_t type, struct perfile_sample_id *out)
{
    *out = (struct perfile_sample_id)PERFILE_SAMPLE_ID_INIT;
#define WORD(bit, NAME, field_, meaning, doc)                                                                          \
    if (type & 1 << bit) {                                                                                             \
        out->field_ = pf_cursor_u64(c);                                                                                \
        out->present |= 1 << bit;                                                                                      \
    }
#define PAIR(bit, NAME, type1, field1, type2, field2, doc)                                                             \
    if (type & 1 << bit) {                                                                                             \
        out->field1 = (__typeof__(out->field1))pf_cursor_u32(c);                                                       \
        out->field2 = (__typeof__(out->field2))pf_cursor_u32(c);                                                       \
        out->present |= 1 << bit;                                                                                      \
    }
#include "schema/sample_id.def"
#include "schema/undef.h"
}

#define EMIT_U32(field) pf_emit_unsigned(e, #field, PERFILE_MEANS_NUMBER, id->field);
#define EMIT_S32(field) pf_emit_signed(e, #field, PERFILE_MEANS_PID, id->field);

static void show_sample_id(struct pf_emit *e, const struct perfile_sample_id *id)
{
    pf_emit_begin(e, "sample_id", false);
#define WORD(bit, NAME, field, meaning, doc)                                                                           \
    if (id->present & 1 << bit)                                                                                        \
        pf_emit_unsigned(e, #field, PERFILE_MEANS_##meaning, id->field);
#define PAIR(bit, NAME, type1, field1, type2, field2, doc)                                                             \
    if (id->present & 1 << bit) {                                                                                      \
        EMIT_##type1(field1) EMIT_##type2(field2)                                                                      \
    }
#include "schema/sample_id.def"
#include "schema/undef.h"
    pf_emit_end(e, false);
}

uint32_t pf_layout_trailer_bytes(const struct perfile_record *record, const struct pf_layout *layout)
{
    const struct pf_record_info *info = pf_record_info(record->type);
    if (!layout->plan || (info && info->record_class != PF_CLASS_KERNEL) || record->type >= 64)
        return 0;
    uint32_t min = info ? info->min_bytes : 8;
    /* a recorder may leave the trailer out of what it makes itself */
    return record->bytes >= min + layout->plan->trailer_bytes ? layout->plan->trailer_bytes : 0;
}

int perfile_sample_id_decode(const struct perfile_reader *reader, const struct perfile_record *record,
                             struct perfile_sample_id *out, struct perfile_error *error)
{
    struct perfile_sample_id made;
    (void)reader;
    int result = pf_sized_check(out, "sample_id", error);
    if (result == 0)
        result = pf_layout_trailer(record, &made, error);
    return result < 0 ? result : pf_sized_give(out, &made, sizeof(made));
}

int pf_layout_trailer(const struct perfile_record *record, struct perfile_sample_id *out, struct perfile_error *error)
{
    const struct pf_event *event = (const struct pf_event *)(const void *)record->event;
    const struct pf_layout layout = {.plan = event ? &event->plan : NULL};
    uint32_t bytes = record->type == PERFILE_RECORD_SAMPLE ? 0 : pf_layout_trailer_bytes(record, &layout);
    if (!bytes)
        return pf_fail(error, PERFILE_ERROR_ABSENT, record->offset, "sample_id", "this record has none");
    struct pf_cursor c = pf_cursor_make(record->data + record->bytes - bytes, bytes, record->offset, layout.plan->swap);
    sample_id_take(&c, layout.plan->sample_type, out);
    return 0;
}

/* ---- decoding ---- */

/* Text up to its NUL and the zeros that pad it to a multiple of 8 in the record. */
static const char *take_string(struct pf_cursor *c, size_t *bytes)
{
    *bytes = 0;
    if (!c->failed && pf_cursor_left(c) == 0)
        return ""; /* early versions of a record may end before its text */
    const char *text = pf_cursor_text(c, bytes);
    if (c->failed)
        return "";
    size_t offset = (size_t)(c->at - c->start) & 7; /* the cursor starts after the header: aligned as the record is */
    size_t pad = offset ? 8 - offset : 0;
    if (pad <= pf_cursor_left(c))
        c->at += pad;
    return text;
}

#define U8(field, meaning, doc) r->field = pf_cursor_u8(c);
#define U16(field, meaning, doc) r->field = pf_cursor_u16(c);
#define U32(field, meaning, doc) r->field = pf_cursor_u32(c);
#define U64(field, meaning, doc) r->field = pf_cursor_u64(c);
#define S32(field, meaning, doc) r->field = (int32_t)pf_cursor_u32(c);
#define F64(field, doc) r->field = take_double(c);
#define PAD(bytes) pf_cursor_take(c, bytes);
#define TEXT(field, bytes, doc) copy_text(r->field, bytes, pf_cursor_take(c, bytes));
#define STRING(field, doc) r->field = take_string(c, &length);
#define BYTES(field, capacity, shown, doc)                                                                             \
    {                                                                                                                  \
        const uint8_t *bytes = pf_cursor_take(c, capacity);                                                            \
        if (bytes)                                                                                                     \
            memcpy(r->field, bytes, capacity);                                                                         \
    }
#define DATA(field, length, doc) r->field = pf_cursor_take(c, length);
#define LIST(field, count, element, doc) TAKE_LIST(c, r->field, count, element)
#define REST(field, element, doc) TAKE_LIST(c, r->field, pf_cursor_left(c) / bytes_of_##element, element)
#define MORE() if (pf_cursor_left(c)) {
#define COMPUTED(field, value, doc) r->field = value;
#define SKIP() *opaque = true;
#define CUSTOM(field, type, layout_, doc) read_##layout_(c, layout, &r->field);
#define RECORD(number, NAME, name, class, since, doc)                                                                  \
    static void decode_##name(struct pf_cursor *c, const struct pf_layout *layout, uint16_t misc, void *out,           \
                              bool *opaque)                                                                            \
    {                                                                                                                  \
        struct perfile_##name *r = out;                                                                                \
        size_t length = 0;                                                                                             \
        (void)layout, (void)misc, (void)opaque, (void)length, (void)r;
#define END_RECORD(name) }
#define BARE(number, NAME, class, since, doc)

static double take_double(struct pf_cursor *c)
{
    uint64_t bits = pf_cursor_u64(c);
    double d;
    memcpy(&d, &bits, sizeof(d));
    return d;
}

#include "schema/when.h"
#include "schema/records.def"
#include "schema/undef.h"

/* ---- showing: decodes the same way and hands each field on ---- */

#define SHOWN(field, taken, emit, ...)                                                                                 \
    r->field = taken;                                                                                                  \
    if (!c->failed)                                                                                                    \
        emit(e, #field, __VA_ARGS__);
#define U8(field, meaning, doc) SHOWN(field, pf_cursor_u8(c), pf_emit_unsigned, PERFILE_MEANS_##meaning, r->field)
#define U16(field, meaning, doc) SHOWN(field, pf_cursor_u16(c), pf_emit_unsigned, PERFILE_MEANS_##meaning, r->field)
#define U32(field, meaning, doc) SHOWN(field, pf_cursor_u32(c), pf_emit_unsigned, PERFILE_MEANS_##meaning, r->field)
#define U64(field, meaning, doc) SHOWN(field, pf_cursor_u64(c), pf_emit_unsigned, PERFILE_MEANS_##meaning, r->field)
#define S32(field, meaning, doc)                                                                                       \
    SHOWN(field, (int32_t)pf_cursor_u32(c), pf_emit_signed, PERFILE_MEANS_##meaning, r->field)
#define F64(field, doc) SHOWN(field, take_double(c), pf_emit_double, r->field)
#define PAD(bytes) pf_cursor_take(c, bytes);
#define TEXT(field, bytes, doc)                                                                                        \
    copy_text(r->field, bytes, pf_cursor_take(c, bytes));                                                              \
    if (!c->failed)                                                                                                    \
        pf_emit_text(e, #field, r->field, strlen(r->field));
#define STRING(field, doc) SHOWN(field, take_string(c, &length), pf_emit_text, r->field, length)
#define BYTES(field, capacity, shown, doc)                                                                             \
    {                                                                                                                  \
        const uint8_t *bytes = pf_cursor_take(c, capacity);                                                            \
        if (bytes)                                                                                                     \
            pf_emit_bytes(e, #field, bytes, pf_min(shown, capacity));                                                  \
    }
#define DATA(field, length, doc) SHOWN(field, pf_cursor_take(c, length), pf_emit_bytes, r->field, length)
#define LIST(field, count, element, doc)                                                                               \
    TAKE_LIST(c, r->field, count, element)                                                                             \
    if (!c->failed)                                                                                                    \
        show_list_##element(e, #field, &r->field);
#define REST(field, element, doc)                                                                                      \
    TAKE_LIST(c, r->field, pf_cursor_left(c) / bytes_of_##element, element)                                            \
    if (!c->failed)                                                                                                    \
        show_list_##element(e, #field, &r->field);
#define MORE() if (pf_cursor_left(c)) {
#define COMPUTED(field, value, doc) pf_emit_unsigned(e, #field, PERFILE_MEANS_NUMBER, value);
#define SKIP() *opaque = true;
#define CUSTOM(field, type, layout_, doc) CUSTOM_##layout_(field)
/* custom layouts that are shown from what was decoded, and those that need the bytes */
#define SHOW_DECODED(field, layout_)                                                                                   \
    read_##layout_(c, layout, &r->field);                                                                              \
    if (!c->failed)                                                                                                    \
        show_##layout_(e, #field, &r->field);
#define CUSTOM_read(field) SHOW_DECODED(field, read)
#define CUSTOM_unended_text(field) SHOW_DECODED(field, unended_text)
#define CUSTOM_cpu_map(field) SHOW_DECODED(field, cpu_map)
#define CUSTOM_cpus(field) SHOW_DECODED(field, cpus)
#define CUSTOM_feature(field) show_feature(e, layout, c, r->feat_id);
#define CUSTOM_schedstat(field)                                                                                        \
    read_schedstat(c, layout, &r->field);                                                                              \
    show_schedstat(e, &r->field, r->version);
#define CUSTOM_attr(field)                                                                                             \
    const uint8_t *attr_at = c->at;                                                                                    \
    read_attr(c, layout, &r->field);                                                                                   \
    if (!c->failed)                                                                                                    \
        show_attr(e, layout, c, attr_at);
#define RECORD(number, NAME, name, class, since, doc)                                                                  \
    static void show_record_##name(struct pf_emit *e, struct pf_cursor *c, const struct pf_layout *layout,             \
                                   uint16_t misc, bool *opaque)                                                        \
    {                                                                                                                  \
        struct perfile_##name decoded = {0}, *r = &decoded;                                                            \
        size_t length = 0;                                                                                             \
        (void)layout, (void)misc, (void)opaque, (void)length, (void)r;
#define END_RECORD(name) }
#define BARE(number, NAME, class, since, doc)
#include "schema/when.h"
#include "schema/records.def"
#include "schema/undef.h"

/* ---- by type ---- */

typedef void decoder(struct pf_cursor *c, const struct pf_layout *layout, uint16_t misc, void *out, bool *opaque);
typedef void shower(struct pf_emit *e, struct pf_cursor *c, const struct pf_layout *layout, uint16_t misc,
                    bool *opaque);

#include "schema/no_fields.h"
#define BARE(number, NAME, class, since, doc)
#define RECORD(number, NAME, name, class, since, doc)                                                                  \
    {number, sizeof(struct perfile_##name), decode_##name, show_record_##name},
#define END_RECORD(name)

static const struct record_layout {
    uint32_t number;
    uint32_t struct_bytes;
    decoder *decode;
    shower *show;
} layouts[] = {
#include "schema/records.def"
};
#include "schema/undef.h"

static const struct record_layout *layout_of(uint32_t type)
{
    for (size_t i = 0; i < PF_COUNT(layouts); i++)
        if (layouts[i].number == type)
            return &layouts[i];
    return NULL;
}

/* The least that a program can know of structs that have grown. */
static const struct {
    uint32_t number, bytes;
} first_bytes[] = {
#define GREW(NAME, name, member) {PERFILE_RECORD_##NAME, offsetof(struct perfile_##name, member)},
#include "schema/grown.def"
#undef GREW
    {0, 0}};

size_t pf_layout_min_bytes(uint32_t type)
{
    for (size_t i = 0; first_bytes[i].number; i++)
        if (first_bytes[i].number == type)
            return first_bytes[i].bytes;
    return pf_layout_struct_bytes(type);
}

size_t pf_layout_struct_bytes(uint32_t type)
{
    const struct record_layout *layout = layout_of(type);
    return layout ? layout->struct_bytes : 0;
}

int pf_layout_take(union pf_any_record *any, uint32_t type, const void *theirs, size_t bytes,
                   struct perfile_error *error)
{
    const size_t known = pf_layout_struct_bytes(type), min = pf_layout_min_bytes(type);
    const char *name = perfile_record_name(type);
    if (bytes < min || (!known && bytes))
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, name, "%zu bytes given, its struct has %zu%s",
                       bytes, min, known ? " or more" : "");
    memset(any, 0, sizeof(*any));
    if (!known)
        return 0;
    return pf_measured_take(any, known, theirs, bytes, name, error);
}

static struct pf_cursor body_of(const struct perfile_record *record, const struct pf_layout *layout, uint32_t trailer)
{
    return pf_cursor_make(record->data + 8, record->bytes - 8 - trailer, record->offset + 8, layout->swap);
}

/* Recorders pad with zeros, some more generously than to the next multiple of 8. */
static bool all_zero(const struct pf_cursor *c)
{
    for (const uint8_t *p = c->at; p < c->end; p++)
        if (*p)
            return false;
    return true;
}

static bool decode_body(const struct record_layout *known, struct pf_cursor *c, const struct pf_layout *layout,
                        uint16_t misc, void *out)
{
    bool opaque = false;
    memset(out, 0, known->struct_bytes);
    known->decode(c, layout, misc, out, &opaque);
    if (opaque && !c->failed)
        c->at = c->end;
    return !c->failed;
}

int pf_layout_decode(const struct perfile_record *record, const struct pf_layout *layout, void *out,
                     struct perfile_error *error)
{
    const struct record_layout *known = layout_of(record->type);
    const char *name = perfile_record_name(record->type);
    if (!known)
        return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, record->offset, name ? name : "record", "has no struct");
    struct pf_cursor c = body_of(record, layout, pf_layout_trailer_bytes(record, layout));
    return decode_body(known, &c, layout, record->misc, out) ? 0 : pf_cursor_error(&c, name, error);
}

uint32_t pf_layout_measure(const struct perfile_record *record, const struct pf_layout *layout, bool *padded)
{
    const struct record_layout *known = layout_of(record->type);
    uint32_t trailer = pf_layout_trailer_bytes(record, layout);
    struct pf_cursor c = body_of(record, layout, trailer);
    union pf_any_record any;
    *padded = false;
    if (known && !decode_body(known, &c, layout, record->misc, &any))
        return 0;
    *padded = all_zero(&c);
    return 8 + (uint32_t)(c.at - c.start) + trailer;
}

/* ---- samples ---- */

static void show_branch(struct pf_emit *e, const struct perfile_branch_stack *stack, uint64_t index)
{
    struct perfile_branch b;
    perfile_branch_at(stack, index, &b, sizeof(b));
    pf_emit_begin(e, NULL, false);
    pf_emit_unsigned(e, "from", PERFILE_MEANS_ADDRESS, b.from);
    pf_emit_unsigned(e, "to", PERFILE_MEANS_ADDRESS, b.to);
    pf_emit_unsigned(e, "mispred", PERFILE_MEANS_NUMBER, b.mispred);
    pf_emit_unsigned(e, "predicted", PERFILE_MEANS_NUMBER, b.predicted);
    pf_emit_unsigned(e, "in_tx", PERFILE_MEANS_NUMBER, b.in_tx);
    pf_emit_unsigned(e, "abort", PERFILE_MEANS_NUMBER, b.abort);
    pf_emit_unsigned(e, "cycles", PERFILE_MEANS_NUMBER, b.cycles);
    pf_emit_unsigned(e, "type", PERFILE_MEANS_NUMBER, b.type);
    pf_emit_unsigned(e, "spec", PERFILE_MEANS_NUMBER, b.spec);
    pf_emit_unsigned(e, "new_type", PERFILE_MEANS_NUMBER, b.new_type);
    pf_emit_unsigned(e, "priv", PERFILE_MEANS_NUMBER, b.priv);
    pf_emit_unsigned(e, "reserved", PERFILE_MEANS_FLAGS, b.reserved);
    pf_emit_end(e, false);
}

static void show_part_branch_stack(struct pf_emit *e, const char *field, const struct perfile_branch_stack *stack)
{
    pf_emit_begin(e, field, false);
    pf_emit_unsigned(e, "nr", PERFILE_MEANS_NUMBER, stack->count);
    if (stack->has_hw_idx)
        pf_emit_unsigned(e, "hw_idx", PERFILE_MEANS_NUMBER, stack->hw_idx);
    pf_emit_begin(e, "entries", true);
    for (uint64_t i = 0; i < stack->count && !e->stopped; i++)
        show_branch(e, stack, i);
    pf_emit_end(e, true);
    if (stack->counters.count)
        show_words(e, "counters", &stack->counters);
    pf_emit_end(e, false);
}

static void show_part_callchain(struct pf_emit *e, const char *field, const struct perfile_u64s *chain)
{
    pf_emit_begin(e, field, false);
    pf_emit_unsigned(e, "nr", PERFILE_MEANS_NUMBER, chain->count);
    show_words(e, "ips", chain);
    pf_emit_end(e, false);
}

static void show_part_raw(struct pf_emit *e, const char *field, const struct perfile_bytes *raw)
{
    pf_emit_begin(e, field, false);
    pf_emit_unsigned(e, "size", PERFILE_MEANS_BYTES, raw->bytes);
    pf_emit_bytes(e, "data", raw->data, (size_t)raw->bytes);
    pf_emit_end(e, false);
}

static void show_part_regs(struct pf_emit *e, const char *field, const struct perfile_regs *regs)
{
    pf_emit_begin(e, field, false);
    pf_emit_unsigned(e, "abi", PERFILE_MEANS_NUMBER, regs->abi);
    if (regs->abi) {
        pf_emit_unsigned(e, "mask", PERFILE_MEANS_FLAGS, regs->mask);
        pf_emit_begin(e, "regs", true);
        for (uint64_t i = 0; i < regs->values.count && !e->stopped; i++)
            pf_emit_unsigned(e, NULL, PERFILE_MEANS_REGISTER, perfile_u64_at(&regs->values, i));
        pf_emit_end(e, true);
    }
    pf_emit_end(e, false);
}

/* Parts of the same types. */
#define show_part_read show_read
#define show_part_aux show_part_raw
#define show_part_regs_user show_part_regs
#define show_part_regs_intr show_part_regs

static void show_part_stack(struct pf_emit *e, const char *field, const struct perfile_stack *stack)
{
    pf_emit_begin(e, field, false);
    pf_emit_unsigned(e, "size", PERFILE_MEANS_BYTES, stack->bytes);
    if (stack->bytes) {
        pf_emit_bytes(e, "data", stack->data, (size_t)stack->bytes);
        pf_emit_unsigned(e, "dyn_size", PERFILE_MEANS_BYTES, stack->dyn_size);
    }
    pf_emit_end(e, false);
}

static void show_weight(struct pf_emit *e, const struct perfile_sample *sample)
{
    if (!(sample->present & PERFILE_SAMPLE_WEIGHT_STRUCT)) {
        pf_emit_unsigned(e, "weight", PERFILE_MEANS_NUMBER, sample->weight);
        return;
    }
    pf_emit_begin(e, "weight", false);
    pf_emit_unsigned(e, "var1_dw", PERFILE_MEANS_NUMBER, sample->weight & 0xffffffff);
    pf_emit_unsigned(e, "var2_w", PERFILE_MEANS_NUMBER, sample->weight >> 32 & 0xffff);
    pf_emit_unsigned(e, "var3_w", PERFILE_MEANS_NUMBER, sample->weight >> 48);
    pf_emit_end(e, false);
}

#define SHOW_U32(field) pf_emit_unsigned(e, #field, PERFILE_MEANS_NUMBER, sample->field);
#define SHOW_S32(field) pf_emit_signed(e, #field, PERFILE_MEANS_PID, sample->field);

static void show_sample(struct pf_emit *e, const struct perfile_sample *sample)
{
#define WORD(bit, NAME, field, meaning, doc)                                                                           \
    if (sample->present & 1 << bit)                                                                                    \
        pf_emit_unsigned(e, #field, PERFILE_MEANS_##meaning, sample->field);
#define PAIR(bit, NAME, type1, field1, type2, field2, doc)                                                             \
    if (sample->present & 1 << bit) {                                                                                  \
        SHOW_##type1(field1) SHOW_##type2(field2)                                                                      \
    }
#define PART(bit, NAME, field, type, layout, doc)                                                                      \
    if (sample->present & 1 << bit)                                                                                    \
        show_part_##layout(e, #field, &sample->field);
#define TAIL(bit, NAME, field, meaning, doc)                                                                           \
    if (sample->present & 1 << bit) {                                                                                  \
        if (PERFILE_SAMPLE_##NAME & (PERFILE_SAMPLE_WEIGHT | PERFILE_SAMPLE_WEIGHT_STRUCT))                            \
            show_weight(e, sample);                                                                                    \
        else                                                                                                           \
            pf_emit_unsigned(e, #field, PERFILE_MEANS_##meaning, sample->field);                                       \
    }
#include "schema/sample.def"
#include "schema/undef.h"
}

/* ---- showing a record ---- */

static void show_error(struct pf_emit *e, const char *message)
{
    pf_emit_text(e, "error", message, strlen(message));
}

static void show_left(struct pf_emit *e, const struct pf_cursor *c)
{
    if (!all_zero(c))
        pf_emit_bytes(e, "__extra", c->at, pf_cursor_left(c));
}

static void emit_sample(const struct perfile_record *record, const struct pf_layout *layout, struct pf_emit *e)
{
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    struct perfile_error error;
    if (perfile_sample_decode(record, &sample, &error) == 0) {
        const struct perfile_bytes tail = pf_plan_tail(layout->plan, record);
        const struct pf_cursor left = pf_cursor_make(tail.data, (size_t)tail.bytes, 0, layout->swap);
        show_sample(e, &sample);
        show_left(e, &left);
        return;
    }
    show_error(e, error.message);
    pf_emit_bytes(e, "payload", record->data + 8, record->bytes - 8);
}

void pf_layout_emit(const struct perfile_record *record, const struct pf_layout *layout, struct pf_emit *e)
{
    if (record->bytes < 8 || (record->damaged && record->bytes != record->stated_bytes)) {
        show_error(e, record->stated_bytes < 8 ? "record size below 8" : "record does not fit in its container");
        pf_emit_unsigned(e, "left", PERFILE_MEANS_BYTES, record->payload_bytes);
        return;
    }
    if (record->type == PERFILE_RECORD_SAMPLE) {
        emit_sample(record, layout, e);
        return;
    }
    const struct record_layout *known = layout_of(record->type);
    uint32_t trailer = pf_layout_trailer_bytes(record, layout);
    struct pf_cursor c = body_of(record, layout, trailer);
    struct perfile_error error;
    bool opaque = false;
    if (known) {
        known->show(e, &c, layout, record->misc, &opaque);
    } else if (!perfile_record_name(record->type)) {
        pf_emit_bytes(e, "payload", c.at, pf_cursor_left(&c));
        opaque = true;
    }
    if (c.failed && pf_cursor_error(&c, perfile_record_name(record->type), &error) < 0)
        show_error(e, error.message);
    else if (!opaque)
        show_left(e, &c);
    if (trailer) {
        struct perfile_sample_id id;
        struct pf_cursor end = pf_cursor_make(record->data + record->bytes - trailer, trailer, 0, layout->swap);
        sample_id_take(&end, layout->plan->sample_type, &id);
        show_sample_id(e, &id);
    }
}
