/* SPDX-License-Identifier: MIT */
#include "format/plan.h"

#include "base/sized.h"

/* sample_type bits by the kind of their row: at a fixed offset, or after parts of any length */
#define WORD(bit, NAME, field, meaning, doc) | 1 << bit
#define PAIR(bit, NAME, type1, field1, type2, field2, doc) | 1 << bit
#define PART(bit, NAME, field, type, layout, doc)
#define TAIL(bit, NAME, field, meaning, doc)
enum {
    FIXED_BITS = 0
#include "schema/sample.def"
};
#include "schema/undef.h"
#define WORD(bit, NAME, field, meaning, doc)
#define PAIR(bit, NAME, type1, field1, type2, field2, doc)
#define PART(bit, NAME, field, type, layout, doc) | 1 << bit
#define TAIL(bit, NAME, field, meaning, doc) | 1 << bit
enum {
    PART_BITS = 0
#include "schema/sample.def"
};
#include "schema/undef.h"

static void position_fixed(struct pf_plan *plan)
{
    uint64_t type = plan->sample_type;
    uint16_t at = 8;
#define WORD(bit, NAME, field, meaning, doc)                                                                           \
    if (type & 1 << bit) {                                                                                             \
        if (PERFILE_SAMPLE_##NAME == PERFILE_SAMPLE_TIME)                                                              \
            plan->time_at = at;                                                                                        \
        if (PERFILE_SAMPLE_##NAME == PERFILE_SAMPLE_IDENTIFIER ||                                                      \
            (PERFILE_SAMPLE_##NAME == PERFILE_SAMPLE_ID && !plan->id_at))                                              \
            plan->id_at = at;                                                                                          \
        if (PERFILE_SAMPLE_##NAME == PERFILE_SAMPLE_PERIOD)                                                            \
            plan->period_at = at;                                                                                      \
        plan->words[plan->word_count++] = offsetof(struct perfile_sample, field);                                      \
        at = (uint16_t)(at + 8);                                                                                       \
    }
#define PAIR(bit, NAME, type1, field1, type2, field2, doc)                                                             \
    if (type & 1 << bit) {                                                                                             \
        *(PERFILE_SAMPLE_##NAME == PERFILE_SAMPLE_TID ? &plan->tid_at : &plan->cpu_at) = at;                           \
        _Static_assert(offsetof(struct perfile_sample, field2) == offsetof(struct perfile_sample, field1) + 4,         \
                       "both are one word");                                                                           \
        plan->words[plan->word_count++] = offsetof(struct perfile_sample, field1);                                     \
        at = (uint16_t)(at + 8);                                                                                       \
    }
#define PART(bit, NAME, field, type, layout, doc)
#define TAIL(bit, NAME, field, meaning, doc)
#include "schema/sample.def"
    plan->fixed_bytes = at;
}

/* In the trailer the id is found from the end: IDENTIFIER is last, ID stands before STREAM_ID and CPU. */
static void position_trailer(struct pf_plan *plan)
{
    uint64_t type = plan->sample_type;
    uint16_t at = 0, id_at = 0, time_at = 0;
    bool has_id = false, has_time = false;
#undef WORD
#undef PAIR
#define PAIR(bit, NAME, type1, field1, type2, field2, doc)                                                             \
    if (type & 1 << bit)                                                                                               \
        at = (uint16_t)(at + 8);
#define WORD(bit, NAME, field, meaning, doc)                                                                           \
    if (type & 1 << bit) {                                                                                             \
        if (PERFILE_SAMPLE_##NAME == PERFILE_SAMPLE_TIME) {                                                            \
            time_at = at;                                                                                              \
            has_time = true;                                                                                           \
        }                                                                                                              \
        if (PERFILE_SAMPLE_##NAME == PERFILE_SAMPLE_ID || PERFILE_SAMPLE_##NAME == PERFILE_SAMPLE_IDENTIFIER) {        \
            id_at = at;                                                                                                \
            has_id = true;                                                                                             \
        }                                                                                                              \
        at = (uint16_t)(at + 8);                                                                                       \
    }
#include "schema/sample_id.def"
    plan->trailer_bytes = plan->sample_id_all ? at : 0;
    plan->id_back = has_id && plan->sample_id_all ? (uint16_t)(at - id_at) : 0;
    plan->time_back = has_time && plan->sample_id_all ? (uint16_t)(at - time_at) : 0;
    if (type & PERFILE_SAMPLE_CPU && plan->sample_id_all) /* only IDENTIFIER follows */
        plan->cpu_back = type & PERFILE_SAMPLE_IDENTIFIER ? 16 : 8;
}
#include "schema/undef.h"

void pf_plan_make(struct pf_plan *plan, const struct perfile_attr *attr, bool swap, bool big_endian)
{
    *plan = (struct pf_plan){
        .sample_type = attr->sample_type,
        .parts = attr->sample_type & PART_BITS,
        .read_format = attr->read_format,
        .regs_user = attr->sample_regs_user,
        .regs_intr = attr->sample_regs_intr,
        .period = attr->sample_period_or_freq,
        .swap = swap,
        .big_endian = big_endian,
        .known = (attr->sample_type & ~(uint64_t)(FIXED_BITS | PART_BITS)) == 0,
        .sample_id_all = attr->sample_id_all,
        .hw_idx = attr->branch_sample_type & PERFILE_SAMPLE_BRANCH_HW_INDEX,
        .branch_counters = attr->branch_sample_type & PERFILE_SAMPLE_BRANCH_COUNTERS,
    };
    position_fixed(plan);
    position_trailer(plan);
}

bool pf_plan_cpu(const struct pf_plan *plan, const struct perfile_record *record, uint32_t *cpu)
{
    const bool sample = record->type == PERFILE_RECORD_SAMPLE;
    const uint32_t at = sample ? plan->cpu_at : record->bytes - plan->cpu_back;
    if (!(sample ? plan->cpu_at : plan->cpu_back) || record->type >= PERFILE_RECORD_HEADER_ATTR ||
        record->bytes < 8u + (sample ? plan->cpu_at : plan->trailer_bytes))
        return false;
    *cpu = pf_load32(record->data + at, plan->swap);
    return true;
}

bool pf_plan_equal(const struct pf_plan *a, const struct pf_plan *b)
{
    return a->sample_type == b->sample_type && a->read_format == b->read_format && a->regs_user == b->regs_user &&
           a->regs_intr == b->regs_intr && a->sample_id_all == b->sample_id_all && a->hw_idx == b->hw_idx &&
           a->branch_counters == b->branch_counters;
}

/* ---- parts ---- */

bool pf_read_take(struct pf_cursor *c, uint64_t format, struct perfile_read *read)
{
    uint32_t stride = 8u + (format & PERFILE_FORMAT_ID ? 8u : 0) + (format & PERFILE_FORMAT_LOST ? 8u : 0);
    *read = (struct perfile_read){.format = format, .count = 1, .stride = stride, .swapped = c->swap};
    if (format & PERFILE_FORMAT_GROUP) {
        read->count = pf_cursor_u64(c);
        if (format & PERFILE_FORMAT_TOTAL_TIME_ENABLED)
            read->time_enabled = pf_cursor_u64(c);
        if (format & PERFILE_FORMAT_TOTAL_TIME_RUNNING)
            read->time_running = pf_cursor_u64(c);
        read->values = pf_cursor_take_array(c, read->count, stride);
        return !c->failed;
    }
    /* one value has its times between the value and its id: look at it as it stands */
    read->values = c->at;
    pf_cursor_take(c, 8);
    if (format & PERFILE_FORMAT_TOTAL_TIME_ENABLED)
        read->time_enabled = pf_cursor_u64(c);
    if (format & PERFILE_FORMAT_TOTAL_TIME_RUNNING)
        read->time_running = pf_cursor_u64(c);
    pf_cursor_take(c, stride - 8);
    return !c->failed;
}

static struct perfile_read_value read_at(const struct perfile_read *read, uint64_t index)
{
    struct perfile_read_value made = {0};
    const uint8_t *p = read->values + index * read->stride;
    bool group = read->format & PERFILE_FORMAT_GROUP;
    made.value = pf_load64(p, read->swapped);
    p += 8;
    if (!group)
        p += 8 * ((read->format & PERFILE_FORMAT_TOTAL_TIME_ENABLED) != 0) +
             8 * ((read->format & PERFILE_FORMAT_TOTAL_TIME_RUNNING) != 0);
    made.id = read->format & PERFILE_FORMAT_ID ? pf_load64(p, read->swapped) : 0;
    p += read->format & PERFILE_FORMAT_ID ? 8 : 0;
    made.lost = read->format & PERFILE_FORMAT_LOST ? pf_load64(p, read->swapped) : 0;
    return made;
}

uint64_t perfile_u64s_copy(const struct perfile_u64s *numbers, uint64_t first, uint64_t *to, uint64_t capacity)
{
    const uint64_t rest = first < numbers->count ? numbers->count - first : 0;
    for (uint64_t i = 0; i < rest && i < capacity; i++)
        to[i] = perfile_u64_at(numbers, first + i);
    return rest;
}

void perfile_read_at(const struct perfile_read *read, uint64_t index, struct perfile_read_value *out, size_t out_bytes)
{
    const struct perfile_read_value made = read_at(read, index);
    pf_measured_give(out, out_bytes, &made, sizeof(made));
}

/* How the parts of a branch stack are there; what attr says is tried first. */
struct variant {
    bool index_of_empty; /* hw_idx stands also when there are no entries */
    bool counters;
};

static void take_read(struct pf_cursor *c, const struct pf_plan *plan, const struct variant *variant,
                      struct perfile_read *out)
{
    (void)variant;
    pf_read_take(c, plan->read_format, out);
}

static struct perfile_u64s take_words(struct pf_cursor *c, uint64_t count)
{
    const uint8_t *data = pf_cursor_take_array(c, count, 8);
    return (struct perfile_u64s){.data = data, .count = data ? count : 0, .swapped = c->swap};
}

static void take_callchain(struct pf_cursor *c, const struct pf_plan *plan, const struct variant *variant,
                           struct perfile_u64s *out)
{
    (void)plan;
    (void)variant;
    uint64_t count = pf_cursor_u64(c);
    *out = take_words(c, count);
}

static void take_raw(struct pf_cursor *c, const struct pf_plan *plan, const struct variant *variant,
                     struct perfile_bytes *out)
{
    (void)plan;
    (void)variant;
    out->bytes = pf_cursor_u32(c);
    out->data = pf_cursor_take(c, out->bytes);
}

static void take_branch_stack(struct pf_cursor *c, const struct pf_plan *plan, const struct variant *variant,
                              struct perfile_branch_stack *out)
{
    *out = (struct perfile_branch_stack){.count = pf_cursor_u64(c), .big_endian = plan->big_endian};
    if (plan->hw_idx && (out->count || variant->index_of_empty)) {
        out->has_hw_idx = true;
        out->hw_idx = pf_cursor_u64(c);
    }
    uint64_t words;
    if (!pf_multiply(out->count, 3, &words))
        words = UINT64_MAX;
    out->entries = take_words(c, words);
    if (variant->counters)
        out->counters = take_words(c, out->count);
}

static void take_regs(struct pf_cursor *c, uint64_t mask, struct perfile_regs *out)
{
    *out = (struct perfile_regs){.abi = pf_cursor_u64(c), .mask = mask};
    if (out->abi)
        out->values = take_words(c, (uint64_t)__builtin_popcountll(mask));
}

static void take_regs_user(struct pf_cursor *c, const struct pf_plan *plan, const struct variant *variant,
                           struct perfile_regs *out)
{
    (void)variant;
    take_regs(c, plan->regs_user, out);
}

static void take_regs_intr(struct pf_cursor *c, const struct pf_plan *plan, const struct variant *variant,
                           struct perfile_regs *out)
{
    (void)variant;
    take_regs(c, plan->regs_intr, out);
}

static void take_stack(struct pf_cursor *c, const struct pf_plan *plan, const struct variant *variant,
                       struct perfile_stack *out)
{
    (void)plan;
    (void)variant;
    *out = (struct perfile_stack){.bytes = pf_cursor_u64(c)};
    if (!out->bytes)
        return;
    out->data = pf_cursor_take(c, out->bytes);
    out->dyn_size = pf_cursor_u64(c);
    out->used = pf_min(out->dyn_size, out->bytes);
}

static void take_aux(struct pf_cursor *c, const struct pf_plan *plan, const struct variant *variant,
                     struct perfile_bytes *out)
{
    (void)plan;
    (void)variant;
    out->bytes = pf_cursor_u64(c);
    out->data = pf_cursor_take(c, out->bytes);
}

static void take_parts(struct pf_cursor *c, const struct pf_plan *plan, const struct variant *variant,
                       struct perfile_sample *sample)
{
#define WORD(bit, NAME, field, meaning, doc)
#define PAIR(bit, NAME, type1, field1, type2, field2, doc)
#define PART(bit, NAME, field, type, layout, doc)                                                                      \
    if (plan->parts & 1 << bit)                                                                                        \
        take_##layout(c, plan, variant, &sample->field);
#define TAIL(bit, NAME, field, meaning, doc)                                                                           \
    if (plan->parts & 1 << bit)                                                                                        \
        sample->field = pf_cursor_u64(c);
#include "schema/sample.def"
#include "schema/undef.h"
}

/*
 * Reads the parts in the way that uses up the record exactly. Only branch stacks leave a choice: the kernel leaves
 * hw_idx out when the stack is empty, and counters are there when any event of the group asks for them.
 */
static void take_parts_exactly(struct pf_cursor *c, const struct pf_plan *plan, struct perfile_sample *sample)
{
    const struct pf_cursor start = *c;
    struct variant variant = {.counters = plan->branch_counters};
    take_parts(c, plan, &variant, sample);
    if (PF_LIKELY(!c->failed && c->at == c->end) || !(plan->parts & PERFILE_SAMPLE_BRANCH_STACK))
        return;
    const struct pf_cursor first = *c;
    for (unsigned choice = 1; choice < 4; choice++) {
        *c = start;
        variant.index_of_empty = choice & 1;
        variant.counters = plan->branch_counters != ((choice & 2) != 0);
        take_parts(c, plan, &variant, sample);
        if (!c->failed && c->at == c->end)
            return;
    }
    *c = start;
    variant = (struct variant){.counters = plan->branch_counters};
    take_parts(c, plan, &variant, sample);
    *c = first;
}

uint32_t pf_plan_measure_parts(const struct pf_plan *plan, const uint8_t *data, uint32_t bytes)
{
    const uint32_t left = bytes - plan->fixed_bytes;
    if (plan->parts == PERFILE_SAMPLE_CALLCHAIN) {
        if (left < 8)
            return 0;
        uint64_t count = pf_load64(data + plan->fixed_bytes, plan->swap);
        return count <= (left - 8) / 8 ? plan->fixed_bytes + 8 + 8 * (uint32_t)count : 0;
    }
    struct perfile_sample sample;
    struct pf_cursor c = pf_cursor_make(data + plan->fixed_bytes, left, 0, plan->swap);
    take_parts_exactly(&c, plan, &sample);
    return c.failed ? 0 : plan->fixed_bytes + (uint32_t)(c.at - c.start);
}

/* ---- decoding ---- */

/* In the byte order of this machine. */
static inline void take_words_of(const struct pf_plan *plan, const uint8_t *p, struct perfile_sample *sample)
{
    for (const uint16_t *to = plan->words, *end = to + plan->word_count; to < end; to++, p += 8)
        memcpy((uint8_t *)sample + *to, p, 8);
}

static __attribute__((noinline)) void take_turned(const struct pf_plan *plan, const uint8_t *p,
                                                  struct perfile_sample *sample)
{
    const uint64_t type = plan->sample_type;
#define WORD(bit, NAME, field, meaning, doc)                                                                           \
    if (type & 1 << bit) {                                                                                             \
        sample->field = pf_load64(p, true);                                                                            \
        p += 8;                                                                                                        \
    }
#define PAIR(bit, NAME, type1, field1, type2, field2, doc)                                                             \
    if (type & 1 << bit) {                                                                                             \
        sample->field1 = (__typeof__(sample->field1))pf_load32(p, true);                                               \
        sample->field2 = (__typeof__(sample->field2))pf_load32(p + 4, true);                                           \
        p += 8;                                                                                                        \
    }
#define PART(bit, NAME, field, type, layout, doc)
#define TAIL(bit, NAME, field, meaning, doc)
#include "schema/sample.def"
}
#include "schema/undef.h"

/* Members that the last sample in this struct had and this one has not must not be seen again. */
static inline void discard_stale(struct perfile_sample *sample, uint64_t type)
{
    if (PF_UNLIKELY(sample->present & ~type)) {
        size_t size = sample->size;
        memset(sample, 0, sizeof(*sample));
        sample->size = size;
    }
    sample->present = type;
}

static __attribute__((noinline)) int fail_decode(const struct pf_plan *plan, const struct perfile_record *record,
                                                 struct perfile_error *error)
{
    if (!plan->known)
        return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, record->offset, "SAMPLE record",
                       "unknown bits in sample_type");
    return pf_fail(error, PERFILE_ERROR_DAMAGED, record->offset, "SAMPLE record", "%u bytes, but its event needs %u",
                   record->bytes, plan->fixed_bytes);
}

static __attribute__((noinline)) int decode_parts(const struct pf_plan *plan, const struct perfile_record *record,
                                                  struct perfile_sample *sample, struct perfile_error *error)
{
    struct pf_cursor c = pf_cursor_make(record->data + plan->fixed_bytes, record->bytes - plan->fixed_bytes,
                                        record->offset + plan->fixed_bytes, plan->swap);
    take_parts_exactly(&c, plan, sample);
    return c.failed ? pf_cursor_error(&c, "SAMPLE record", error) : 0;
}

/* The way of most samples needs nothing on the stack. */
static inline int decode(const struct pf_plan *plan, const struct perfile_record *record, struct perfile_sample *sample,
                         struct perfile_error *error)
{
    uint32_t raw;
    if (PF_LIKELY(plan->known))
        discard_stale(sample, plan->sample_type);
    if (PF_UNLIKELY(!plan->known || record->bytes < plan->fixed_bytes))
        return fail_decode(plan, record, error);
    if (PF_LIKELY(!plan->swap))
        take_words_of(plan, record->data + 8, sample);
    else
        take_turned(plan, record->data + 8, sample);
    if (!plan->period_at)
        sample->period = plan->period;
    if (PF_LIKELY(!plan->parts))
        return 0;
    if (plan->parts != PERFILE_SAMPLE_RAW || PF_UNLIKELY(!pf_plan_raw_fits(plan, record->data, record->bytes, &raw)))
        return decode_parts(plan, record, sample, error);
    sample->raw = (struct perfile_bytes){record->data + plan->fixed_bytes + 4, raw};
    return 0;
}

int pf_plan_decode(const struct pf_plan *plan, const struct perfile_record *record, struct perfile_sample *sample,
                   struct perfile_error *error)
{
    return decode(plan, record, sample, error);
}

struct perfile_bytes pf_plan_tail(const struct pf_plan *plan, const struct perfile_record *record)
{
    const uint32_t measured = plan->known ? pf_plan_measure(plan, record->data, record->bytes) : 0;
    const uint32_t known = (uint32_t)pf_align8(measured); /* fewer bytes than that are padding */
    if (!known || known >= record->bytes)
        return (struct perfile_bytes){0};
    return (struct perfile_bytes){record->data + known, record->bytes - known};
}

/* The caller was built with the header of another version. */
static int decode_for_other(const struct perfile_record *record, struct perfile_sample *sample,
                            struct perfile_error *error)
{
    struct perfile_sample all = PERFILE_SAMPLE_INIT;
    if (sample->size < sizeof(sample->size))
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, record->offset, "perfile_sample_decode",
                       "sample->size is not set");
    int result = perfile_sample_decode(record, &all, error);
    return result < 0 ? result : pf_sized_give(sample, &all, sizeof(all));
}

int perfile_sample_decode(const struct perfile_record *record, struct perfile_sample *sample,
                          struct perfile_error *error)
{
    if (PF_UNLIKELY(record->type != PERFILE_RECORD_SAMPLE))
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, record->offset, "perfile_sample_decode", "not a SAMPLE");
    if (PF_UNLIKELY(sample->size != sizeof(*sample)))
        return decode_for_other(record, sample, error);
    if (PF_UNLIKELY(!record->event))
        return pf_fail(error, PERFILE_ERROR_EVENT, record->offset, "SAMPLE record", "no event has its id");
    return decode(&((const struct pf_event *)(const void *)record->event)->plan, record, sample, error);
}

void perfile_branch_at(const struct perfile_branch_stack *stack, uint64_t index, struct perfile_branch *out,
                       size_t out_bytes)
{
    uint64_t flags = perfile_u64_at(&stack->entries, index * 3 + 2);
    const bool big = stack->big_endian;
#define FLAG_BITS(first, width) (flags >> (big ? 64 - (first) - (width) : (first)) & ((1u << (width)) - 1))
    const struct perfile_branch made = {
        .from = perfile_u64_at(&stack->entries, index * 3),
        .to = perfile_u64_at(&stack->entries, index * 3 + 1),
        .mispred = FLAG_BITS(0, 1),
        .predicted = FLAG_BITS(1, 1),
        .in_tx = FLAG_BITS(2, 1),
        .abort = FLAG_BITS(3, 1),
        .cycles = (uint16_t)FLAG_BITS(4, 16),
        .type = (uint8_t)FLAG_BITS(20, 4),
        .spec = (uint8_t)FLAG_BITS(24, 2),
        .new_type = (uint8_t)FLAG_BITS(26, 4),
        .priv = (uint8_t)FLAG_BITS(30, 3),
        .reserved = big ? flags & 0x7fffffff : flags >> 33,
    };
#undef FLAG_BITS
    pf_measured_give(out, out_bytes, &made, sizeof(made));
}
