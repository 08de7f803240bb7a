/* SPDX-License-Identifier: MIT */
#include "format/plan.h"

#include "made.h"

enum {
    HW_INDEX = 1 << 17,
    COUNTERS = 1 << 19,
    ALL_BITS = (1 << 24) - 1, /* WEIGHT_STRUCT is in the position of WEIGHT */
};

static const struct perfile_attr attr_of_parts = {
    .sample_regs_user = 0x8000000000000005, .sample_regs_intr = 0x2, .read_format = 31};

/* ---- samples with known content: a part is made and checked by its layout ---------------------------------------- */

static uint64_t word_of(unsigned bit)
{
    return 0x0102030405060708ull * (bit + 1);
}

static void make_read(struct made *m)
{
    static const uint64_t words[] = {2, 100, 90, 7, 70, 1, 8, 80, 0}; /* nr, enabled, running, {value, id, lost} */
    for (size_t i = 0; i < PF_COUNT(words); i++)
        made_u64(m, words[i]);
}

static void check_read(const struct perfile_sample *s)
{
    struct perfile_read_value value;
    assert_int_equal(s->read.count, 2);
    assert_int_equal(s->read.time_enabled, 100);
    assert_int_equal(s->read.time_running, 90);
    perfile_read_at(&s->read, 1, &value, sizeof(value));
    assert_true(value.value == 8 && value.id == 80 && value.lost == 0);
    perfile_read_at(&s->read, 0, &value, sizeof(value));
    assert_true(value.value == 7 && value.id == 70 && value.lost == 1);
}

static void make_callchain(struct made *m)
{
    made_u64(m, 3);
    for (unsigned i = 0; i < 3; i++)
        made_u64(m, word_of(i));
}

static void check_callchain(const struct perfile_sample *s)
{
    assert_int_equal(s->callchain.count, 3);
    for (unsigned i = 0; i < 3; i++)
        assert_true(perfile_u64_at(&s->callchain, i) == word_of(i));
}

static void make_raw(struct made *m)
{
    made_u32(m, 12);
    made_bytes(m, "raw data....", 12);
}

static void check_raw(const struct perfile_sample *s)
{
    assert_int_equal(s->raw.bytes, 12);
    assert_memory_equal(s->raw.data, "raw data....", 12);
}

/* mispred, in_tx, cycles 0x1234, type 4, spec 2, new_type 5, priv 6, reserved 1 */
static uint64_t branch_flags(bool big)
{
    return big ? 1ull << 63 | 1ull << 61 | 0x1234ull << 44 | 4ull << 40 | 2ull << 38 | 5ull << 34 | 6ull << 31 | 1
               : 1 | 4 | 0x1234 << 4 | 4 << 20 | 2 << 24 | 5 << 26 | 6ull << 30 | 1ull << 33;
}

static void make_branch_entries(struct made *m, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        made_u64(m, 0x1000 + i);
        made_u64(m, 0x2000 + i);
        made_u64(m, branch_flags(m->swap != PF_NATIVE_BIG_ENDIAN));
    }
}

static void make_branch_stack(struct made *m)
{
    made_u64(m, 2);
    make_branch_entries(m, 2);
}

static void check_branch_stack(const struct perfile_sample *s)
{
    struct perfile_branch b;
    assert_int_equal(s->branch_stack.count, 2);
    assert_false(s->branch_stack.has_hw_idx);
    assert_int_equal(s->branch_stack.counters.count, 0);
    perfile_branch_at(&s->branch_stack, 1, &b, sizeof(b));
    assert_int_equal(b.from, 0x1001);
    assert_int_equal(b.to, 0x2001);
    assert_true(b.mispred && !b.predicted && b.in_tx && !b.abort);
    assert_true(b.cycles == 0x1234 && b.type == 4 && b.spec == 2 && b.new_type == 5 && b.priv == 6 && b.reserved == 1);
}

static void make_regs_user(struct made *m)
{
    made_u64(m, 2);
    for (unsigned i = 0; i < 3; i++)
        made_u64(m, word_of(i));
}

static void check_regs_user(const struct perfile_sample *s)
{
    assert_int_equal(s->regs_user.abi, 2);
    assert_true(s->regs_user.mask == attr_of_parts.sample_regs_user);
    assert_int_equal(s->regs_user.values.count, 3);
    assert_true(perfile_u64_at(&s->regs_user.values, 2) == word_of(2));
}

static void make_regs_intr(struct made *m)
{
    made_u64(m, 1);
    made_u64(m, 99);
}

static void check_regs_intr(const struct perfile_sample *s)
{
    assert_int_equal(s->regs_intr.values.count, 1);
    assert_int_equal(perfile_u64_at(&s->regs_intr.values, 0), 99);
}

static void make_stack(struct made *m)
{
    made_u64(m, 16);
    made_bytes(m, "0123456789abcdef", 16);
    made_u64(m, 10);
}

static void check_stack(const struct perfile_sample *s)
{
    assert_int_equal(s->stack_user.bytes, 16);
    assert_int_equal(s->stack_user.used, 10);
    assert_memory_equal(s->stack_user.data, "0123456789abcdef", 16);
}

static void make_aux(struct made *m)
{
    made_u64(m, 8);
    made_bytes(m, "aux data", 8);
}

static void check_aux(const struct perfile_sample *s)
{
    assert_int_equal(s->aux.bytes, 8);
    assert_memory_equal(s->aux.data, "aux data", 8);
}

static void make_sample(struct made *m, uint64_t type)
{
    made_u32(m, PERFILE_RECORD_SAMPLE);
    made_u16(m, 2);
    made_u16(m, 0); /* the size stands in the record view */
#define WORD(bit, NAME, field, meaning, doc)                                                                           \
    if (type & 1ull << (bit))                                                                                          \
        made_u64(m, word_of(bit));
#define PAIR(bit, NAME, type1, field1, type2, field2, doc)                                                             \
    if (type & 1ull << (bit)) {                                                                                        \
        made_u32(m, 0xfffffff0 + (bit));                                                                               \
        made_u32(m, (bit)*3);                                                                                          \
    }
#define PART(bit, NAME, field, part, layout, doc)                                                                      \
    if (type & 1ull << (bit))                                                                                          \
        make_##layout(m);
#define TAIL(bit, NAME, field, meaning, doc) WORD(bit, NAME, field, meaning, doc)
#include "schema/sample.def"
#undef WORD
#undef PAIR
#undef PART
#undef TAIL
}

static void check_sample(const struct perfile_sample *s, uint64_t type)
{
    assert_true(s->present == type);
#define WORD(bit, NAME, field, meaning, doc)                                                                           \
    if (type & 1ull << (bit))                                                                                          \
        assert_true(s->field == word_of(bit));
#define PAIR(bit, NAME, type1, field1, type2, field2, doc)                                                             \
    if (type & 1ull << (bit)) {                                                                                        \
        assert_true((uint32_t)s->field1 == 0xfffffff0 + (bit));                                                        \
        assert_true((uint32_t)s->field2 == (bit)*3);                                                                   \
    }
#define PART(bit, NAME, field, part, layout, doc)                                                                      \
    if (type & 1ull << (bit))                                                                                          \
        check_##layout(s);
#define TAIL(bit, NAME, field, meaning, doc) WORD(bit, NAME, field, meaning, doc)
#include "schema/sample.def"
#undef WORD
#undef PAIR
#undef PART
#undef TAIL
}

static void make_event(struct pf_event *event, const struct perfile_attr *attr, bool swap)
{
    *event = (struct pf_event){.attr = *attr};
    event->public.attr = &event->attr;
    pf_plan_make(&event->plan, attr, swap, swap != PF_NATIVE_BIG_ENDIAN);
}

/* Decodes a copy of exactly `bytes` bytes. */
static int decode(const struct pf_event *event, const struct made *m, size_t bytes, struct perfile_sample *sample)
{
    uint8_t *block = made_block(m->data, bytes);
    const struct perfile_record record = {.type = PERFILE_RECORD_SAMPLE,
                                          .bytes = (uint32_t)bytes,
                                          .stated_bytes = (uint32_t)bytes,
                                          .data = block,
                                          .event = &event->public};
    int result = perfile_sample_decode(&record, sample, NULL);
    uint32_t asked = bytes >= 8 ? pf_plan_measure(&event->plan, block, (uint32_t)bytes) : 0;
    assert_int_equal(result == 0, asked != 0);
    if (result == 0) {
        const uint64_t known = pf_align8(asked);
        assert_int_equal(pf_plan_tail(&event->plan, &record).bytes, bytes > known ? bytes - known : 0);
        check_sample(sample, event->plan.sample_type);
    }
    free(block);
    return result;
}

static void check_type(uint64_t type, bool swap)
{
    struct made m = {.swap = swap};
    struct pf_event event;
    struct perfile_attr attr = attr_of_parts;
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    attr.sample_type = type;
    make_event(&event, &attr, swap);
    assert_true(event.plan.known);
    make_sample(&m, type);
    assert_int_equal(decode(&event, &m, m.bytes, &sample), 0);
    for (size_t bytes = 8; bytes < m.bytes; bytes++)
        assert_int_equal(decode(&event, &m, bytes, &sample), PERFILE_ERROR_DAMAGED);
    size_t complete = m.bytes;
    made_fill(&m, 0, 24);
    if (type & PERFILE_SAMPLE_BRANCH_STACK)
        return; /* what is too much could be counters, one per entry */
    for (size_t bytes = complete + 1; bytes <= complete + 24; bytes++)
        assert_int_equal(decode(&event, &m, bytes, &sample), 0); /* as of a later version */
}

static void test_every_bit_alone(void **state)
{
    (void)state;
    for (int bit = 0; bit <= 24; bit++) {
        check_type(1ull << bit, false);
        check_type(1ull << bit, true);
    }
}

static void test_bits_together(void **state)
{
    (void)state;
    check_type(0, false);
    check_type(ALL_BITS, false);
    check_type(ALL_BITS, true);
    uint64_t type = 1;
    for (int i = 0; i < 300; i++) {
        type = type * 6364136223846793005ull + 1442695040888963407ull;
        check_type(type >> 40, i % 2);
    }
}

static void test_unknown_bits(void **state)
{
    (void)state;
    struct made m = {.swap = false};
    struct pf_event event;
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    for (int bit = 25; bit < 64; bit++) {
        make_event(&event, &(struct perfile_attr){.sample_type = 1ull << bit | PERFILE_SAMPLE_TIME}, false);
        assert_false(event.plan.known);
        assert_int_equal(event.plan.time_at, 8); /* what stands in front is still found */
    }
    make_sample(&m, PERFILE_SAMPLE_TIME);
    const struct perfile_record record = {
        .type = PERFILE_RECORD_SAMPLE, .bytes = 16, .data = m.data, .event = &event.public};
    assert_int_equal(perfile_sample_decode(&record, &sample, NULL), PERFILE_ERROR_UNSUPPORTED);
}

/* What the sample before had is gone. */
static void test_one_struct_for_many_samples(void **state)
{
    (void)state;
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    static const uint64_t types[] = {ALL_BITS, PERFILE_SAMPLE_IP, PERFILE_SAMPLE_CALLCHAIN, 0};
    for (size_t i = 0; i < PF_COUNT(types); i++) {
        struct made m = {.swap = false};
        struct pf_event event;
        struct perfile_attr attr = attr_of_parts;
        attr.sample_type = types[i];
        attr.sample_period_or_freq = 4000;
        make_event(&event, &attr, false);
        make_sample(&m, types[i]);
        assert_int_equal(decode(&event, &m, m.bytes, &sample), 0);
    }
    assert_int_equal(sample.ip, 0);
    assert_int_equal(sample.callchain.count, 0);
    assert_int_equal(sample.raw.bytes, 0);
    assert_int_equal(sample.period, 4000); /* of the attr */
    assert_int_equal(sample.size, sizeof(sample));
}

static void test_wrong_calls(void **state)
{
    (void)state;
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    uint8_t data[8] = {0};
    struct perfile_record record = {.type = PERFILE_RECORD_COMM, .bytes = 8, .data = data};
    assert_int_equal(perfile_sample_decode(&record, &sample, NULL), PERFILE_ERROR_ARGUMENT);
    record.type = PERFILE_RECORD_SAMPLE;
    assert_int_equal(perfile_sample_decode(&record, &sample, NULL), PERFILE_ERROR_EVENT);
    sample.size = sizeof(sample.size) - 1;
    assert_int_equal(perfile_sample_decode(&record, &sample, NULL), PERFILE_ERROR_ARGUMENT);
}

/*
 * ---- positions
 * -------------------------------------------------------------------------------------------------------
 */

static void check_positions(uint64_t type)
{
    struct made sample = {.swap = false}, trailer = {.swap = false};
    struct pf_plan plan;
    pf_plan_make(&plan, &(struct perfile_attr){.sample_type = type, .sample_id_all = 1}, false, false);
    make_sample(&sample, type & (ALL_BITS & ~(uint64_t)PERFILE_SAMPLE_READ));
#define WORD(bit, NAME, field, meaning, doc)                                                                           \
    if (type & 1ull << (bit))                                                                                          \
        made_u64(&trailer, word_of(bit));
#define PAIR(bit, NAME, type1, field1, type2, field2, doc) WORD(bit, NAME, field1, meaning, doc)
#include "schema/sample_id.def"
#undef WORD
#undef PAIR
    const unsigned id_bit = type & PERFILE_SAMPLE_IDENTIFIER ? 16 : 6;
    bool has_id = type & (PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_ID), has_time = type & PERFILE_SAMPLE_TIME;
    const uint8_t *end = trailer.data + trailer.bytes;
    assert_int_equal(plan.trailer_bytes, trailer.bytes);
    assert_true(has_time == (plan.time_at != 0) && has_time == (plan.time_back != 0));
    assert_true(has_id == (plan.id_at != 0) && has_id == (plan.id_back != 0));
    if (has_time) {
        assert_true(pf_load64(sample.data + plan.time_at, false) == word_of(2));
        assert_true(pf_load64(end - plan.time_back, false) == word_of(2));
    }
    if (has_id) {
        assert_true(pf_load64(sample.data + plan.id_at, false) == word_of(id_bit));
        assert_true(pf_load64(end - plan.id_back, false) == word_of(id_bit));
    }
}

static void test_positions_of_id_and_time(void **state)
{
    (void)state;
    struct pf_plan plan;
    for (uint64_t i = 0; i < 1 << 10; i++)
        check_positions((i & 0x1ff & ~0x30ull) | (i & 0x200 ? PERFILE_SAMPLE_IDENTIFIER : 0) |
                        (i & 0x10 ? PERFILE_SAMPLE_STREAM_ID : 0));
    pf_plan_make(&plan, &(struct perfile_attr){.sample_type = ALL_BITS}, false, false);
    assert_int_equal(plan.trailer_bytes, 0); /* no sample_id_all */
    assert_int_equal(plan.id_back, 0);
    assert_int_equal(plan.time_back, 0);
}

/* ---- read formats ------------------------------------------------------------------------------------------------ */

static void check_read_format(unsigned format, unsigned count, bool swap)
{
    struct made m = {.swap = swap};
    struct perfile_read read;
    bool group = format & 8;
    if (group)
        made_u64(&m, count);
    for (unsigned i = 0; i < count; i++) {
        if (!group)
            made_u64(&m, 1000);
        if (i == 0 && format & 1)
            made_u64(&m, 200);
        if (i == 0 && format & 2)
            made_u64(&m, 100);
        if (group)
            made_u64(&m, 1000 + i);
        if (format & 4)
            made_u64(&m, 10 + i);
        if (format & 16)
            made_u64(&m, 50 + i);
    }
    for (size_t bytes = 0; bytes <= m.bytes; bytes++) {
        uint8_t *block = made_block(m.data, bytes);
        struct pf_cursor c = pf_cursor_make(block, bytes, 0, swap);
        assert_int_equal(pf_read_take(&c, format, &read), bytes == m.bytes);
        assert_int_equal(pf_cursor_left(&c), 0);
        if (bytes < m.bytes) {
            free(block);
            continue;
        }
        assert_int_equal(read.count, count);
        assert_int_equal(read.time_enabled, format & 1 ? 200 : 0);
        assert_int_equal(read.time_running, format & 2 ? 100 : 0);
        for (unsigned i = 0; i < count; i++) {
            struct perfile_read_value value;
            perfile_read_at(&read, i, &value, sizeof(value));
            assert_int_equal(value.value, 1000 + i);
            assert_int_equal(value.id, format & 4 ? 10 + i : 0);
            assert_int_equal(value.lost, format & 16 ? 50 + i : 0);
        }
        free(block);
    }
}

static void test_read_formats(void **state)
{
    (void)state;
    for (unsigned format = 0; format < 32; format++) {
        check_read_format(format, format & 8 ? 3 : 1, false);
        check_read_format(format, 1, true);
    }
}

static void test_read_counts_that_cannot_be(void **state)
{
    (void)state;
    static const uint64_t counts[] = {3, 1ull << 60, 1ull << 61, UINT64_MAX};
    for (size_t i = 0; i < PF_COUNT(counts); i++) {
        struct made m = {.swap = false};
        struct perfile_read read;
        made_u64(&m, counts[i]);
        made_fill(&m, 0, 16);
        struct pf_cursor c = pf_cursor_make(m.data, m.bytes, 0, false);
        assert_false(pf_read_take(&c, 8, &read));
    }
}

/* ---- branch stacks ----------------------------------------------------------------------------------------------- */

struct branches {
    uint64_t asked; /* attr.branch_sample_type */
    unsigned count;
    bool index, counters;
    bool after; /* a WEIGHT follows the stack */
};

static void check_branches(const struct branches *b, bool swap)
{
    struct made m = {.swap = swap};
    struct pf_event event;
    struct perfile_sample s = PERFILE_SAMPLE_INIT;
    uint64_t type = PERFILE_SAMPLE_BRANCH_STACK | (b->after ? PERFILE_SAMPLE_WEIGHT : 0);
    make_event(&event, &(struct perfile_attr){.sample_type = type, .branch_sample_type = b->asked}, swap);
    make_sample(&m, 0);
    made_u64(&m, b->count);
    if (b->index)
        made_u64(&m, 55);
    make_branch_entries(&m, b->count);
    for (unsigned i = 0; i < b->count && b->counters; i++)
        made_u64(&m, 70 + i);
    if (b->after)
        made_u64(&m, 33);
    const struct perfile_record record = {
        .type = PERFILE_RECORD_SAMPLE, .bytes = (uint32_t)m.bytes, .data = m.data, .event = &event.public};
    assert_int_equal(perfile_sample_decode(&record, &s, NULL), 0);
    assert_int_equal(pf_plan_measure(&event.plan, m.data, (uint32_t)m.bytes), m.bytes);
    assert_int_equal(s.branch_stack.count, b->count);
    assert_int_equal(s.branch_stack.has_hw_idx, b->index);
    assert_int_equal(s.branch_stack.hw_idx, b->index ? 55 : 0);
    assert_int_equal(s.branch_stack.counters.count, b->counters ? b->count : 0);
    for (unsigned i = 0; i < b->count && b->counters; i++)
        assert_int_equal(perfile_u64_at(&s.branch_stack.counters, i), 70 + i);
    assert_int_equal(s.weight, b->after ? 33 : 0);
}

static void test_branch_stacks(void **state)
{
    (void)state;
    for (int after = 0; after < 2; after++) {
        const struct branches cases[] = {
            {0, 0, false, false, after},
            {0, 2, false, false, after},
            {HW_INDEX, 2, true, false, after},
            {HW_INDEX, 0, false, false, after}, /* the kernel leaves it out */
            {HW_INDEX, 0, true, false, after},  /* or not */
            {COUNTERS, 2, false, true, after},
            {COUNTERS, 0, false, false, after},
            {0, 2, false, true, after},         /* another event of the group asked for them */
            {COUNTERS, 2, false, false, after}, /* or none got them */
            {HW_INDEX | COUNTERS, 3, true, true, after},
            {HW_INDEX, 3, true, true, after},
        };
        for (size_t i = 0; i < 2 * PF_COUNT(cases); i++)
            check_branches(&cases[i / 2], i % 2);
    }
}

/* ---- counts and sizes that cannot be ----------------------------------------------------------------------------- */

static void test_parts_that_cannot_be(void **state)
{
    (void)state;
    static const uint64_t parts[] = {PERFILE_SAMPLE_CALLCHAIN, PERFILE_SAMPLE_BRANCH_STACK, PERFILE_SAMPLE_STACK_USER,
                                     PERFILE_SAMPLE_AUX,       PERFILE_SAMPLE_RAW,          PERFILE_SAMPLE_REGS_USER};
    static const uint64_t counts[] = {17, 1ull << 32, 1ull << 61, UINT64_MAX / 24 + 1, UINT64_MAX};
    for (size_t i = 0; i < PF_COUNT(parts) * PF_COUNT(counts) * 2; i++) {
        struct made m = {.swap = false};
        struct pf_event event;
        struct perfile_sample sample = PERFILE_SAMPLE_INIT;
        uint64_t type = parts[i / 2 / PF_COUNT(counts)] | (i % 2 ? PERFILE_SAMPLE_WEIGHT : 0);
        make_event(&event, &(struct perfile_attr){.sample_type = type, .sample_regs_user = UINT64_MAX}, false);
        make_sample(&m, 0);
        if (type & PERFILE_SAMPLE_RAW)
            made_u32(&m, UINT32_MAX - (uint32_t)i);
        else
            made_u64(&m, counts[i / 2 % PF_COUNT(counts)]);
        made_fill(&m, 0xff, 16);
        uint8_t *block = made_block(m.data, m.bytes);
        const struct perfile_record record = {
            .type = PERFILE_RECORD_SAMPLE, .bytes = (uint32_t)m.bytes, .data = block, .event = &event.public};
        assert_int_equal(perfile_sample_decode(&record, &sample, NULL), PERFILE_ERROR_DAMAGED);
        assert_int_equal(pf_plan_measure(&event.plan, block, (uint32_t)m.bytes), 0);
        free(block);
    }
}

/* A stack that says more is valid than there is. */
static void test_stack_that_lies(void **state)
{
    (void)state;
    struct made m = {.swap = false};
    struct pf_event event;
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    make_event(&event, &(struct perfile_attr){.sample_type = PERFILE_SAMPLE_STACK_USER}, false);
    make_sample(&m, 0);
    made_u64(&m, 8);
    made_u64(&m, 0);
    made_u64(&m, UINT64_MAX);
    const struct perfile_record record = {
        .type = PERFILE_RECORD_SAMPLE, .bytes = (uint32_t)m.bytes, .data = m.data, .event = &event.public};
    assert_int_equal(perfile_sample_decode(&record, &sample, NULL), 0);
    assert_int_equal(sample.stack_user.used, 8);
    assert_true(sample.stack_user.dyn_size == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_bit_alone), cmocka_unit_test(test_bits_together),
        cmocka_unit_test(test_unknown_bits),    cmocka_unit_test(test_one_struct_for_many_samples),
        cmocka_unit_test(test_wrong_calls),     cmocka_unit_test(test_positions_of_id_and_time),
        cmocka_unit_test(test_read_formats),    cmocka_unit_test(test_read_counts_that_cannot_be),
        cmocka_unit_test(test_branch_stacks),   cmocka_unit_test(test_parts_that_cannot_be),
        cmocka_unit_test(test_stack_that_lies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
