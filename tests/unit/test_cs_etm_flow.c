/* SPDX-License-Identifier: MIT */
/*
 * A small program's trace in ETMv4 packets and CoreSight frames, decoded through libopencsd: its branches and
 * instructions; with damage to any byte, after which the next synchronization is found, and each byte is accounted for.
 */
#include "flow_run.h"

#include <perfile/records.h>

enum { CODE = 0x10000, SOURCE = 0x10, FRAME = 16, MAX_STEPS = 64, PARTS = 3, MAX_TRACE = 512 };

/* What the program is, and what it does: the loop twice, then the function, then the last jump. */
static const uint32_t program[] = {
    0xd503201f, /* 10000: nop */
    0xd503201f, /* 10004: nop */
    0x54ffffc1, /* 10008: b.ne 10000 */
    0x94000003, /* 1000c: bl 10018 */
    0xd503201f, /* 10010: nop */
    0x14000000, /* 10014: b 10014 */
    0xd503201f, /* 10018: nop */
    0xd65f03c0, /* 1001c: ret */
};

static const uint8_t packets[] = {
    0,    0,    0,    0, 0, 0, 0, 0, 0, 0,    0, 0x80, /* A-Sync */
    0x01, 0x00,                                        /* trace info */
    0x04,                                              /* trace on */
    0x85, 0x00, 0x00, 1, 0, 0, 0, 0, 0, 0x30,          /* address 0x10000, context: 64 bits, not secure, EL0 */
    0xf7, 0xf6,                                        /* atoms: taken, not taken */
    0xf7, 0xf7,                                        /* the call, the return, */
    0x9d, 0x04, 0x00, 1, 0, 0, 0, 0, 0,                /* which goes to 0x10010 */
    0xf7,                                              /* the jump */
};

struct trace {
    uint8_t bytes[MAX_TRACE];
    size_t used, at;
};

/* A frame has the source, and up to 14 bytes of it; bytes at even positions have their lowest bit in the last byte. */
static void put_frames(struct trace *trace, const uint8_t *bytes, size_t count)
{
    for (size_t done = 0; done < count;) {
        uint8_t *frame = trace->bytes + trace->used;
        memset(frame, 0, FRAME);
        frame[0] = SOURCE << 1 | 1;
        for (unsigned i = 1; i < FRAME - 1 && done < count; i++, done++) {
            frame[i] = i % 2 ? bytes[done] : bytes[done] & 0xfe;
            frame[FRAME - 1] |= i % 2 ? 0 : (uint8_t)((bytes[done] & 1) << (i / 2));
        }
        trace->used += FRAME;
    }
}

/* Packets without a meaning for the flow fill the last frame. */
static void put_part(struct trace *trace)
{
    uint8_t bytes[sizeof(packets) + FRAME];
    size_t count = sizeof(packets);
    memcpy(bytes, packets, count);
    while (count % (FRAME - 2))
        bytes[count++] = 0x71; /* an event */
    put_frames(trace, bytes, count);
}

static int next_piece(void *context, const uint8_t **data, size_t *bytes, struct perfile_error *error)
{
    struct trace *trace = context;
    (void)error;
    *data = trace->bytes + trace->at;
    *bytes = trace->used - trace->at;
    trace->at = trace->used;
    return *bytes > 0;
}

static uint64_t space_of(void *context, int32_t pid)
{
    (void)context;
    return (uint64_t)(pid + 2);
}

static size_t read_code(void *context, int32_t pid, uint64_t address, uint8_t *bytes, size_t count)
{
    (void)context, (void)pid;
    if (address < CODE || address >= CODE + sizeof(program))
        return 0;
    const size_t got = (size_t)pf_min(count, CODE + sizeof(program) - address);
    memcpy(bytes, (const uint8_t *)program + (address - CODE), got);
    return got;
}

struct decoded {
    struct pf_flow_step steps[MAX_STEPS];
    size_t count, insns, errors;
    uint64_t last_insn;
    struct pf_flow_bytes bytes;
};

static void take(void *context, const struct pf_flow_step *step)
{
    struct decoded *decoded = context;
    decoded->errors += step->event == PF_FLOW_ERROR;
    decoded->insns += step->count;
    decoded->last_insn = step->count ? step->block->last : decoded->last_insn;
    if (step->flags && decoded->count < MAX_STEPS)
        decoded->steps[decoded->count++] = *step;
}

static void decode_as(uint64_t id, struct trace *trace, struct decoded *decoded)
{
    const uint64_t priv[] = {
        1, (uint64_t)8 << 32 | 1, 0, 0x4040404040404040, 0, 7, 0x40, id, 0x28000ea1, 0x4100f422, 0x20001088, 0, 0x8c};
    struct flow_run run = {.decoder = pf_aux_decoder_find(PERFILE_AUXTRACE_CS_ETM),
                           .walk = {.more = next_piece, .context = trace},
                           .source = {.space = space_of, .read = read_code},
                           .recording = {.priv = priv, .priv_count = PF_COUNT(priv)},
                           .bytes = &decoded->bytes,
                           .take = take,
                           .context = decoded};
    *decoded = (struct decoded){.count = 0};
    flow_run(&run);
    assert_int_equal(decoded->bytes.decoded + decoded->bytes.skipped + decoded->bytes.bad, trace->used);
}

static void decode(struct trace *trace, struct decoded *decoded)
{
    decode_as(SOURCE, trace, decoded);
}

static void skip_without_library(void)
{
    const char *missing = pf_aux_decoder_find(PERFILE_AUXTRACE_CS_ETM)->flow->missing();
    if (!missing)
        return;
    print_message("skipped: %s\n", missing);
    skip();
}

static void test_flow(void **state)
{
    enum { JUMP = PF_FLOW_IS_BRANCH, BEGIN = JUMP | PF_FLOW_IS_BEGIN, CONDITIONAL = JUMP | PF_FLOW_IS_CONDITIONAL };
    enum { CALL = JUMP | PF_FLOW_IS_CALL, RETURN = JUMP | PF_FLOW_IS_RETURN, INSNS = 3 + 3 + 1 + 2 + 2 };
    static const struct {
        uint64_t from, to;
        uint32_t flags;
    } expected[] = {
        {0, 0x10000, BEGIN},
        {0x10008, 0x10000, CONDITIONAL},
        {0x1000c, 0x10018, CALL},
        {0x1001c, 0x10010, RETURN},
    };
    struct trace trace = {.used = 0};
    struct decoded decoded;
    (void)state;
    skip_without_library();
    put_part(&trace);
    decode(&trace, &decoded);
    for (size_t i = 0; i < decoded.count && i < PF_COUNT(expected); i++) {
        assert_int_equal(decoded.steps[i].from, expected[i].from);
        assert_int_equal(decoded.steps[i].to, expected[i].to);
        assert_int_equal(decoded.steps[i].flags, expected[i].flags);
    }
    assert_int_equal(decoded.count, PF_COUNT(expected));
    assert_int_equal(decoded.insns, INSNS);
    assert_int_equal(decoded.last_insn, 0x10014);
    assert_int_equal(decoded.errors, 0);
    assert_int_equal(decoded.bytes.decoded, trace.used);
}

/* Bit 31: where no record has another number of the source, it is that of kernels before 6.2. */
static void test_number_of_old_kernels(void **state)
{
    struct trace trace = {.used = 0};
    struct decoded decoded;
    (void)state;
    skip_without_library();
    put_part(&trace);
    decode_as(UINT64_C(1) << 31 | SOURCE, &trace, &decoded);
    assert_int_equal(decoded.last_insn, 0x10014);
    trace.at = 0;
    decode_as(UINT64_C(1) << 31 | (SOURCE + 2), &trace, &decoded);
    assert_int_equal(decoded.insns, 0);
}

/* The part after the one that is damaged is decoded to its end. */
static void test_damage(void **state)
{
    struct decoded decoded;
    (void)state;
    skip_without_library();
    for (size_t at = 0, size = SIZE_MAX; at < size; at++) {
        struct trace trace = {.used = 0};
        for (unsigned i = 0; i < PARTS; i++)
            put_part(&trace);
        size = trace.used / PARTS;
        trace.bytes[at] ^= 0xff;
        decode(&trace, &decoded);
        assert_int_equal(decoded.last_insn, 0x10014);
        assert_true(decoded.insns >= 11);
    }
}

/* What follows a byte that is missing is not in frames any more, but each byte is accounted for. */
static void test_missing_byte(void **state)
{
    struct decoded decoded;
    (void)state;
    skip_without_library();
    for (size_t at = 0, size = SIZE_MAX; at < size; at++) {
        struct trace trace = {.used = 0};
        put_part(&trace);
        size = trace.used--;
        memmove(trace.bytes + at, trace.bytes + at + 1, trace.used - at);
        decode(&trace, &decoded);
    }
}

/* A trace that ends anywhere. */
static void test_cut(void **state)
{
    struct decoded decoded;
    struct trace all = {.used = 0};
    (void)state;
    skip_without_library();
    put_part(&all);
    for (size_t used = 0; used < all.used; used++) {
        struct trace trace = all;
        trace.used = used;
        decode(&trace, &decoded);
        assert_true(decoded.insns <= 11);
        assert_int_equal(decoded.bytes.bad, used % FRAME);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flow),   cmocka_unit_test(test_number_of_old_kernels),
        cmocka_unit_test(test_damage), cmocka_unit_test(test_missing_byte),
        cmocka_unit_test(test_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
