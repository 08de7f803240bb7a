/* SPDX-License-Identifier: MIT */
#include "format/encode.h"

#include "schema/schema.h"

/* ---- attrs ---- */

static uint64_t position_bits(uint64_t value, unsigned word_bits, bool big_endian, unsigned first, unsigned width)
{
    unsigned shift = big_endian ? word_bits - first - width : first;
    return (value & ((1ull << width) - 1)) << shift;
}

static void put_flags(struct pf_out *o, uint64_t word, unsigned bits)
{
    if (bits == 64)
        pf_out_u64(o, word);
    else
        pf_out_u32(o, (uint32_t)word);
}

void pf_encode_attr(const struct perfile_attr *attr, uint32_t bytes, bool big_endian, struct pf_out *out)
{
    uint8_t complete[sizeof(struct perfile_attr) + 64] = {0};
    struct pf_out o = pf_out_make(complete, sizeof(complete), out->swap);
    uint64_t word = 0;
    unsigned word_bits = 0;
    struct perfile_attr sized = *attr;
    sized.size = bytes;
    attr = &sized;
#define U16(offset, field, meaning, doc) pf_out_u16(&o, attr->field);
#define U32(offset, field, meaning, doc) pf_out_u32(&o, attr->field);
#define U64(offset, field, meaning, doc) pf_out_u64(&o, attr->field);
#define S32(offset, field, meaning, doc) pf_out_u32(&o, (uint32_t)attr->field);
#define FLAGS(offset, bits)                                                                                            \
    word = 0;                                                                                                          \
    word_bits = bits;
#define BITS(first, width, field, doc) word |= position_bits(attr->field, word_bits, big_endian, first, width);
#define END_FLAGS() put_flags(&o, word, word_bits);
#include "schema/attr.def"
#include "schema/undef.h"
    size_t known = pf_out_bytes_used(&o);
    pf_out_put(out, complete, pf_min(bytes, known));
    if (bytes > known)
        pf_out_zeros(out, bytes - known);
}

/* ---- lists ---- */

#define U64(field, meaning, doc) pf_out_u64(o, element.field);
#define S64(field, meaning, doc) pf_out_u64(o, (uint64_t)element.field);
#define TEXT(field, bytes, doc) put_text(o, element.field, bytes);
#define ELEMENT(name, doc)                                                                                             \
    static void put_list_##name(struct pf_out *o, const struct perfile_list *list)                                     \
    {                                                                                                                  \
        for (uint64_t i = 0; i < list->count && !o->failed; i++) {                                                     \
            struct perfile_##name element;                                                                             \
            perfile_##name##_at(list, i, &element, sizeof(element));
#define END_ELEMENT(name)                                                                                              \
    }                                                                                                                  \
    }

static void put_text(struct pf_out *o, const char *text, size_t capacity)
{
    size_t length = pf_text_length(text, capacity);
    pf_out_put(o, text, length);
    pf_out_zeros(o, capacity - length);
}

static void put_words(struct pf_out *o, const struct perfile_u64s *words)
{
    if (words->swapped == o->swap) {
        pf_out_put(o, words->data, words->count * 8);
        return;
    }
    for (uint64_t i = 0; i < words->count && !o->failed; i++)
        pf_out_u64(o, perfile_u64_at(words, i));
}

static void put_list_word(struct pf_out *o, const struct perfile_u64s *words)
{
    put_words(o, words);
}

#include "schema/elements.def"
#include "schema/undef.h"

/* ---- custom layouts ---- */

static void put_read_value(struct pf_out *o, const struct perfile_read *read, uint64_t index, uint64_t format)
{
    struct perfile_read_value value = {0};
    if (index < read->count)
        perfile_read_at(read, index, &value, sizeof(value));
    pf_out_u64(o, value.value);
    if (!(format & PERFILE_FORMAT_GROUP)) {
        if (format & PERFILE_FORMAT_TOTAL_TIME_ENABLED)
            pf_out_u64(o, read->time_enabled);
        if (format & PERFILE_FORMAT_TOTAL_TIME_RUNNING)
            pf_out_u64(o, read->time_running);
    }
    if (format & PERFILE_FORMAT_ID)
        pf_out_u64(o, value.id);
    if (format & PERFILE_FORMAT_LOST)
        pf_out_u64(o, value.lost);
}

static void put_read(struct pf_out *o, const struct perfile_read *read, uint64_t format)
{
    if (!(format & PERFILE_FORMAT_GROUP)) {
        put_read_value(o, read, 0, format);
        return;
    }
    pf_out_u64(o, read->count);
    if (format & PERFILE_FORMAT_TOTAL_TIME_ENABLED)
        pf_out_u64(o, read->time_enabled);
    if (format & PERFILE_FORMAT_TOTAL_TIME_RUNNING)
        pf_out_u64(o, read->time_running);
    for (uint64_t i = 0; i < read->count && !o->failed; i++)
        put_read_value(o, read, i, format);
}

static void write_read(struct pf_out *o, const struct pf_encoding *encoding, const struct perfile_read *read)
{
    put_read(o, read, encoding->plan ? encoding->plan->read_format : read->format);
}

static void write_attr(struct pf_out *o, const struct pf_encoding *encoding, const struct perfile_attr *attr)
{
    pf_encode_attr(attr, attr->size, encoding->big_endian, o);
}

static void write_cpu_map(struct pf_out *o, const struct pf_encoding *encoding, const struct perfile_cpu_set *set)
{
    (void)encoding;
    pf_out_u16(o, set->map_type);
    if (set->map_type == PERFILE_CPU_MAP_RANGE_CPUS) {
        pf_out_u8(o, set->any_cpu);
        pf_out_u8(o, 0);
        pf_out_u16(o, set->start_cpu);
        pf_out_u16(o, set->end_cpu);
    }
    if (set->map_type > 1)
        return; /* of other kinds nothing is known */
    pf_out_u16(o, (uint16_t)set->count);
    if (set->map_type == PERFILE_CPU_MAP_MASK) {
        pf_out_u16(o, set->long_size);
        if (set->long_size == 8)
            pf_out_zeros(o, 4);
    }
    for (uint32_t i = 0; i < set->count && !o->failed; i++) {
        if (set->map_type == PERFILE_CPU_MAP_CPUS)
            pf_out_u16(o, pf_load16(set->data + 2 * (size_t)i, set->swapped));
        else if (set->long_size == 8)
            pf_out_u64(o, pf_load64(set->data + 8 * (size_t)i, set->swapped));
        else
            pf_out_u32(o, pf_load32(set->data + 4 * (size_t)i, set->swapped));
    }
}

static void write_cpus(struct pf_out *o, const struct pf_encoding *encoding, const struct perfile_cpu_set *set)
{
    write_cpu_map(o, encoding, set);
}

static void write_unended_text(struct pf_out *o, const struct pf_encoding *encoding, const struct perfile_bytes *text)
{
    (void)encoding;
    pf_out_put(o, text->data, text->bytes);
    pf_out_u8(o, 0);
}

static void write_feature(struct pf_out *o, const struct pf_encoding *encoding,
                          const struct perfile_feature_body *feature)
{
    (void)encoding;
    pf_out_put(o, feature->data, feature->bytes);
}

static void write_schedstat(struct pf_out *o, const struct pf_encoding *encoding,
                            const struct perfile_schedstat_counters *counters)
{
    (void)encoding;
    for (uint32_t i = 0; i < counters->count && !o->failed; i++)
        pf_out_u32(o, pf_load32(counters->data + 4 * (size_t)i, counters->swapped));
}

/* ---- records ---- */

static void put_double(struct pf_out *o, double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof(bits));
    pf_out_u64(o, bits);
}

/* Writes the text with its NUL, and zeros up to a multiple of 8: the body is aligned as the record is. */
static void put_string(struct pf_out *o, const char *text)
{
    if (text)
        pf_out_put(o, text, strlen(text));
    pf_out_u8(o, 0);
    pf_out_align(o, 8);
}

#define U8(field, meaning, doc) pf_out_u8(o, r->field);
#define U16(field, meaning, doc) pf_out_u16(o, r->field);
#define U32(field, meaning, doc) pf_out_u32(o, r->field);
#define U64(field, meaning, doc) pf_out_u64(o, r->field);
#define S32(field, meaning, doc) pf_out_u32(o, (uint32_t)r->field);
#define F64(field, doc) put_double(o, r->field);
#define PAD(bytes) pf_out_zeros(o, bytes);
#define TEXT(field, bytes, doc) put_text(o, r->field, bytes);
#define STRING(field, doc)                                                                                             \
    if (pf_out_bytes_used(o) - 8 < encoding->body_bytes)                                                               \
        put_string(o, r->field);
#define BYTES(field, capacity, shown, doc) pf_out_put(o, r->field, capacity);
#define DATA(field, length, doc) pf_out_put(o, r->field, length);
#define LIST(field, count, element, doc) put_list_##element(o, &r->field);
#define REST(field, element, doc) put_list_##element(o, &r->field);
#define MORE() if (pf_out_bytes_used(o) - 8 < encoding->body_bytes) {
#define COMPUTED(field, value, doc)
#define SKIP()
#define CUSTOM(field, type, layout, doc) write_##layout(o, encoding, &r->field);
#define RECORD(number, NAME, name, class, since, doc)                                                                  \
    static void encode_##name(struct pf_out *o, const struct pf_encoding *encoding, const void *record)                \
    {                                                                                                                  \
        const struct perfile_##name *r = record;                                                                       \
        const uint16_t misc = encoding->misc;                                                                          \
        (void)o, (void)r, (void)misc;
#define END_RECORD(name) }
#define BARE(number, NAME, class, since, doc)
#include "schema/when.h"
#include "schema/records.def"
#include "schema/undef.h"

typedef void encoder(struct pf_out *o, const struct pf_encoding *encoding, const void *record);

#include "schema/no_fields.h"
#define BARE(number, NAME, class, since, doc) {number, NULL},
#define RECORD(number, NAME, name, class, since, doc) {number, encode_##name},
#define END_RECORD(name)

static const struct {
    uint32_t number;
    encoder *encode; /* NULL: no fields */
} encoders[] = {
#include "schema/records.def"
};
#include "schema/undef.h"

/* ---- the trailer ---- */

static void put_trailer(struct pf_out *o, const struct pf_plan *plan, const struct perfile_sample_id *passed)
{
    const struct perfile_sample_id none = {0}, *id = passed ? passed : &none;
    const uint64_t type = plan->sample_type;
#define WORD(bit, NAME, field, meaning, doc)                                                                           \
    if (type & 1 << bit)                                                                                               \
        pf_out_u64(o, id->field);
#define PAIR(bit, NAME, type1, field1, type2, field2, doc)                                                             \
    if (type & 1 << bit) {                                                                                             \
        pf_out_u32(o, (uint32_t)id->field1);                                                                           \
        pf_out_u32(o, (uint32_t)id->field2);                                                                           \
    }
#include "schema/sample_id.def"
#include "schema/undef.h"
}

/* ---- by type ---- */

/* Fills in the header, for which the record was started with 8 zeros: its size is known when all of it is written. */
static bool end_record(struct pf_out *out, uint8_t *header, uint32_t type, uint16_t misc)
{
    if (out->failed)
        return false;
    size_t bytes = (size_t)(out->at - header);
    bool android = pf_record_is_android(type);
    if (!android && bytes > UINT16_MAX) {
        out->failed = true;
        return false;
    }
    uint8_t made[8];
    struct pf_out o = pf_out_make(made, sizeof(made), out->swap);
    pf_out_u32(&o, type);
    pf_out_u16(&o, android ? (uint16_t)(bytes >> 16) : misc);
    pf_out_u16(&o, (uint16_t)bytes);
    memcpy(header, made, sizeof(made));
    return true;
}

/* As long as where it comes from: what recorders wrote unaligned stays so. */
static void end_body(const struct pf_encoding *encoding, struct pf_out *o)
{
    if (encoding->body_bytes == PF_ENCODE_ALL) {
        pf_out_align(o, 8);
        return;
    }
    size_t known = pf_out_bytes_used(o) - 8;
    if (o->failed)
        return;
    if (known < encoding->body_bytes)
        pf_out_put(o, encoding->body + known, encoding->body_bytes - known);
    else
        o->at = o->start + 8 + encoding->body_bytes;
}

bool pf_encode_record(const struct pf_encoding *encoding, const void *record, struct pf_out *out)
{
    const struct pf_record_info *info = pf_record_info(encoding->type);
    uint8_t *header = pf_out_take(out, 8);
    struct pf_out body = pf_out_make(header, header ? (size_t)(out->end - header) : 0, out->swap);
    if (!header || !info || encoding->type == PERFILE_RECORD_SAMPLE)
        return false;
    body.at += 8;
    for (size_t i = 0; i < PF_COUNT(encoders); i++)
        if (encoders[i].number == encoding->type && encoders[i].encode)
            encoders[i].encode(&body, encoding, record);
    end_body(encoding, &body);
    if (info->record_class == PF_CLASS_KERNEL && encoding->plan && encoding->plan->trailer_bytes)
        put_trailer(&body, encoding->plan, encoding->id);
    out->failed = body.failed;
    out->at = body.at;
    return end_record(out, header, encoding->type, encoding->misc);
}

/* ---- samples ---- */

static void put_part_read(struct pf_out *o, const struct pf_plan *plan, const struct perfile_read *read)
{
    put_read(o, read, plan->read_format);
}

static void put_part_callchain(struct pf_out *o, const struct pf_plan *plan, const struct perfile_u64s *chain)
{
    (void)plan;
    pf_out_u64(o, chain->count);
    put_words(o, chain);
}

/* The kernel makes the raw data so long that what follows is aligned. */
static void put_part_raw(struct pf_out *o, const struct pf_plan *plan, const struct perfile_bytes *raw)
{
    (void)plan;
    uint64_t bytes = pf_align8(raw->bytes + 4) - 4;
    if (bytes > UINT16_MAX) {
        o->failed = true;
        return;
    }
    pf_out_u32(o, (uint32_t)bytes);
    pf_out_put(o, raw->data, raw->bytes);
    pf_out_zeros(o, bytes - raw->bytes);
}

static uint64_t branch_flags(const struct perfile_branch_stack *stack, uint64_t index, bool big)
{
    if (stack->big_endian == big)
        return perfile_u64_at(&stack->entries, index * 3 + 2);
    struct perfile_branch b;
    perfile_branch_at(stack, index, &b, sizeof(b));
    return position_bits(b.mispred, 64, big, 0, 1) | position_bits(b.predicted, 64, big, 1, 1) |
           position_bits(b.in_tx, 64, big, 2, 1) | position_bits(b.abort, 64, big, 3, 1) |
           position_bits(b.cycles, 64, big, 4, 16) | position_bits(b.type, 64, big, 20, 4) |
           position_bits(b.spec, 64, big, 24, 2) | position_bits(b.new_type, 64, big, 26, 4) |
           position_bits(b.priv, 64, big, 30, 3) | position_bits(b.reserved, 64, big, 33, 31);
}

static void put_part_branch_stack(struct pf_out *o, const struct pf_plan *plan,
                                  const struct perfile_branch_stack *stack)
{
    pf_out_u64(o, stack->count);
    if (plan->hw_idx && (stack->count || stack->has_hw_idx))
        pf_out_u64(o, stack->has_hw_idx ? stack->hw_idx : UINT64_MAX);
    for (uint64_t i = 0; i < stack->count && !o->failed; i++) {
        pf_out_u64(o, perfile_u64_at(&stack->entries, i * 3));
        pf_out_u64(o, perfile_u64_at(&stack->entries, i * 3 + 1));
        pf_out_u64(o, branch_flags(stack, i, plan->big_endian));
    }
    put_words(o, &stack->counters);
}

static uint64_t register_of(const struct perfile_regs *regs, unsigned number)
{
    uint64_t index = (uint64_t)__builtin_popcountll(regs->mask & ((1ull << number) - 1));
    return regs->mask >> number & 1 && index < regs->values.count ? perfile_u64_at(&regs->values, index) : 0;
}

static void put_regs(struct pf_out *o, uint64_t mask, const struct perfile_regs *regs)
{
    pf_out_u64(o, regs->abi);
    if (regs->abi && regs->mask == mask)
        put_words(o, &regs->values);
    else if (regs->abi)
        for (unsigned number = 0; number < 64; number++)
            if (mask >> number & 1)
                pf_out_u64(o, register_of(regs, number));
}

static void put_part_regs_user(struct pf_out *o, const struct pf_plan *plan, const struct perfile_regs *regs)
{
    put_regs(o, plan->regs_user, regs);
}

static void put_part_regs_intr(struct pf_out *o, const struct pf_plan *plan, const struct perfile_regs *regs)
{
    put_regs(o, plan->regs_intr, regs);
}

static void put_part_stack(struct pf_out *o, const struct pf_plan *plan, const struct perfile_stack *stack)
{
    (void)plan;
    uint64_t bytes = pf_align8(stack->bytes);
    pf_out_u64(o, bytes);
    if (!stack->bytes)
        return;
    pf_out_put(o, stack->data, stack->bytes);
    pf_out_zeros(o, bytes - stack->bytes);
    pf_out_u64(o, stack->dyn_size);
}

static void put_part_aux(struct pf_out *o, const struct pf_plan *plan, const struct perfile_bytes *aux)
{
    (void)plan;
    uint64_t bytes = pf_align8(aux->bytes);
    pf_out_u64(o, bytes);
    pf_out_put(o, aux->data, aux->bytes);
    pf_out_zeros(o, bytes - aux->bytes);
}

static void put_sample(const struct pf_plan *plan, const struct perfile_sample *sample, struct pf_out *out)
{
    const uint64_t type = plan->sample_type;
    struct pf_out body = *out, *o = &body;
#define WORD(bit, NAME, field, meaning, doc)                                                                           \
    if (type & 1 << bit)                                                                                               \
        pf_out_u64(o, sample->field);
#define PAIR(bit, NAME, type1, field1, type2, field2, doc)                                                             \
    if (type & 1 << bit) {                                                                                             \
        pf_out_u32(o, (uint32_t)sample->field1);                                                                       \
        pf_out_u32(o, (uint32_t)sample->field2);                                                                       \
    }
#define PART(bit, NAME, field, part, layout, doc)                                                                      \
    if (type & 1 << bit)                                                                                               \
        put_part_##layout(o, plan, &sample->field);
#define TAIL(bit, NAME, field, meaning, doc)                                                                           \
    if (type & 1 << bit)                                                                                               \
        pf_out_u64(o, sample->field);
#include "schema/sample.def"
#include "schema/undef.h"
    out->at = body.at;
    out->failed = body.failed;
}

bool pf_encode_sample(const struct pf_plan *plan, uint16_t misc, const struct perfile_sample *sample,
                      struct pf_out *out)
{
    uint8_t *header = pf_out_take(out, 8);
    if (!header)
        return false;
    put_sample(plan, sample, out);
    return end_record(out, header, PERFILE_RECORD_SAMPLE, misc);
}

bool pf_encode_sample_of(const struct pf_plan *plan, const struct perfile_record *record,
                         const struct perfile_sample *sample, struct pf_out *out)
{
    const struct pf_plan *from = &((const struct pf_event *)(const void *)record->event)->plan;
    const struct perfile_bytes tail = pf_plan_tail(from, record);
    uint8_t *header = pf_out_take(out, 8);
    if (!header)
        return false;
    put_sample(plan, sample, out);
    pf_out_put(out, tail.data, (size_t)tail.bytes);
    return end_record(out, header, PERFILE_RECORD_SAMPLE, record->misc);
}
