/* SPDX-License-Identifier: MIT */
/*
 * test_aux_rounds [SEEDS]: random traces of Arm SPE and Intel BTS, in buffers that end anywhere, decode to what was
 * encoded. Damaged ones, with flipped bytes or cut, are read to their end: each byte belongs to a packet or is counted
 * as bad, and what comes later than a damage decodes as before.
 */
#include "hwtrace/decoder.h"
#include "hwtrace/queues.h"

#include <stdlib.h>
#include <string.h>

#include "any.h"
#include "counting.h"

enum { MAX_RECORDS = 24, RECORD_BYTES = 64, BTS_BYTES = 24, SEEDS = 500 };

static unsigned seeds = SEEDS;

/* ---- what is encoded --------------------------------------------------------------------------------------------- */

struct expected {
    uint64_t ip, addr, phys_addr, weight, time;
    int32_t tid;
    bool memory, branch;
};

struct trace {
    uint32_t type;
    uint8_t bytes[MAX_RECORDS * RECORD_BYTES];
    size_t count, used, record_bytes;
    struct expected records[MAX_RECORDS];
};

static void put(uint8_t **at, unsigned header, uint64_t payload, size_t bytes)
{
    *(*at)++ = (uint8_t)header;
    for (size_t i = 0; i < bytes; i++)
        *(*at)++ = (uint8_t)(payload >> (8 * i));
}

static struct expected spe_record(uint8_t *at)
{
    enum { PC = 0xb0, TARGET, VIRTUAL, PHYSICAL, CONTEXT = 0x65, LATENCY = 0x98, ACCESS = 0x49, BRANCH, EVENTS = 0x62 };
    enum { TIMESTAMP = 0x71 };
    struct expected r = {.ip = any(1ull << 47),
                         .weight = any(4096),
                         .time = any(1ull << 60),
                         .tid = (int32_t)any(1 << 22) + 1,
                         .memory = any(2),
                         .branch = any(2)};
    r.branch &= !r.memory;
    put(&at, PC, r.ip, 8);
    put(&at, CONTEXT, (uint64_t)r.tid, 4);
    if (r.memory) {
        r.addr = any(1ull << 47);
        r.phys_addr = any(1ull << 40);
        put(&at, ACCESS, any(2), 1);
        put(&at, VIRTUAL, r.addr, 8);
        put(&at, PHYSICAL, r.phys_addr, 8);
    } else if (r.branch) {
        r.addr = any(1ull << 47);
        put(&at, BRANCH, any(4), 1);
        put(&at, TARGET, r.addr, 8);
    }
    put(&at, LATENCY, r.weight, 2);
    put(&at, EVENTS, any(1 << 16), 4);
    put(&at, TIMESTAMP, r.time, 8);
    return r;
}

static struct expected bts_record(uint8_t *at)
{
    const struct expected r = {.ip = any(1ull << 47), .addr = any(1ull << 47)};
    uint8_t *to = at;
    put(&to, (unsigned)r.ip & 0xff, r.ip >> 8, 7);
    put(&to, (unsigned)r.addr & 0xff, r.addr >> 8, 7);
    *to = (uint8_t)(any(2) << 4);
    return r;
}

static void encode(struct trace *trace, uint32_t type)
{
    const bool spe = type == PERFILE_AUXTRACE_ARM_SPE;
    memset(trace, 0, sizeof(*trace));
    trace->type = type;
    trace->record_bytes = spe ? RECORD_BYTES : BTS_BYTES;
    trace->count = 1 + any(MAX_RECORDS - 1);
    for (size_t i = 0; i < trace->count; i++) {
        uint8_t *at = trace->bytes + i * trace->record_bytes;
        trace->records[i] = spe ? spe_record(at) : bts_record(at);
    }
    trace->used = trace->count * trace->record_bytes;
}

/* ---- what is decoded --------------------------------------------------------------------------------------------- */

static int read_bytes(void *context, const struct pf_aux_buffer *buffer, uint64_t at, uint8_t *to, size_t *bytes,
                      struct perfile_error *error)
{
    const struct trace *trace = context;
    (void)error;
    *bytes = (size_t)pf_min(*bytes, 1 + any(40));
    memcpy(to, trace->bytes + buffer->position + at, *bytes);
    return 0;
}

/* The bytes as buffers of any size. */
static void fill(struct pf_aux_queues *queues, const struct trace *trace)
{
    const struct perfile_record info = {.type = PERFILE_RECORD_AUXTRACE_INFO};
    const struct perfile_auxtrace_info what = {.auxtrace_type = trace->type};
    pf_aux_queues_open(queues, pf_allocator_or_default(NULL));
    assert_true(pf_aux_queues_take(queues, &(struct pf_aux_record){&info, &what, -1, -1}, NULL));
    for (size_t at = 0, bytes; at < trace->used; at += bytes) {
        bytes = (size_t)pf_min(1 + any(200), trace->used - at);
        const struct perfile_record record = {
            .type = PERFILE_RECORD_AUXTRACE, .payload_offset = at, .payload_bytes = bytes};
        const struct perfile_auxtrace body = {.data_size = bytes, .offset = at, .cpu = 1, .tid = -1};
        assert_true(pf_aux_queues_take(queues, &(struct pf_aux_record){&record, &body, -1, -1}, NULL));
    }
}

static struct pf_aux_walk walk_of(struct pf_aux_stream *stream, const struct pf_aux_queues *queues, struct trace *trace)
{
    struct pf_aux_walk walk = {.format = queues->format, .more = pf_aux_stream_more, .context = stream};
    memset(stream, 0, sizeof(*stream));
    assert_true(pf_aux_stream_open(stream, queues, queues->items));
    stream->read = read_bytes;
    stream->context = trace;
    assert_true(pf_aux_walk_open(&walk, queues->allocator));
    return walk;
}

/* Each byte is in one packet, and bytes that are not a packet are counted. */
static void check_bytes(struct trace *trace)
{
    struct pf_aux_queues queues;
    struct pf_aux_stream stream;
    struct pf_aux_packet packet;
    uint64_t good = 0, bad = 0;
    fill(&queues, trace);
    struct pf_aux_walk walk = walk_of(&stream, &queues, trace);
    while (pf_aux_stream_next_run(&stream)) {
        pf_aux_walk_restart(&walk);
        while (pf_aux_walk_next(&walk, &packet, NULL) > 0) {
            *(packet.kind == PF_AUX_BAD ? &bad : &good) += packet.bytes;
            pf_aux_sums_add(queues.items, queues.format, &packet);
        }
    }
    assert_int_equal(good + bad, trace->used);
    assert_int_equal(bad, walk.bad_bytes);
    assert_int_equal(bad, queues.items[0].sums.bad_bytes);
    pf_aux_walk_close(&walk);
    pf_aux_stream_close(&stream);
    pf_aux_queues_close(&queues);
}

/* Of SPE each record makes a sample of the last event, which is all of them. */
static unsigned event_of(const struct pf_aux_decoder *decoder)
{
    return decoder->event_count - 1;
}

static bool equals(const struct trace *trace, size_t index, const struct pf_aux_sample *sample, uint64_t time)
{
    const struct expected *r = &trace->records[index];
    if (trace->type == PERFILE_AUXTRACE_INTEL_BTS)
        return sample->ip == r->ip && sample->addr == r->addr;
    return sample->ip == r->ip && sample->weight == r->weight && sample->tid == r->tid && time == r->time &&
           sample->has_branch == r->branch && sample->phys_addr == r->phys_addr &&
           (r->memory || sample->addr == (r->branch ? r->addr : 0));
}

/* How many records decode as they were encoded, in their order; *others counts what else is decoded. */
static size_t decode(struct trace *trace, size_t first, size_t *others)
{
    const struct pf_aux_decoder *decoder = pf_aux_decoder_find(trace->type);
    const struct pf_aux_recording recording = {.midr = 0};
    struct pf_aux_queues queues;
    struct pf_aux_stream stream;
    struct pf_aux_sample sample = {.ip = 0};
    uint64_t item[64], time = 0;
    size_t next = first;
    *others = 0;
    fill(&queues, trace);
    struct pf_aux_walk walk = walk_of(&stream, &queues, trace);
    assert_true(decoder->item_bytes <= sizeof(item));
    while (pf_aux_stream_next_run(&stream)) {
        pf_aux_walk_restart(&walk);
        while (decoder->next(&walk, item, &time, NULL) > 0) {
            const bool made = decoder->make(&recording, item, event_of(decoder), &sample);
            const bool known = made && next < trace->count && equals(trace, next, &sample, time);
            next += known;
            *others += !known;
        }
    }
    pf_aux_walk_close(&walk);
    pf_aux_stream_close(&stream);
    pf_aux_queues_close(&queues);
    return next - first;
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

static void check_round(uint32_t type, uint64_t seed)
{
    static struct trace trace, damaged;
    size_t others;
    state_of_random = seed * 0x9e3779b97f4a7c15ull + 1;
    encode(&trace, type);
    check_bytes(&trace);
    assert_int_equal(decode(&trace, 0, &others), trace.count);
    assert_int_equal(others, 0);

    damaged = trace; /* one record, in some of its bytes */
    const size_t hit = (size_t)any(trace.count);
    for (uint64_t i = 1 + any(8); i > 0; i--)
        damaged.bytes[hit * trace.record_bytes + any(trace.record_bytes)] = (uint8_t)any(256);
    check_bytes(&damaged);
    const size_t later = pf_min(hit + 2, trace.count);
    assert_int_equal(decode(&damaged, later, &others), trace.count - later);

    damaged = trace; /* cut anywhere */
    damaged.used = 1 + (size_t)any(trace.used);
    check_bytes(&damaged);
    const size_t complete = decode(&damaged, 0, &others);
    assert_true(complete >= damaged.used / trace.record_bytes && complete <= damaged.used / trace.record_bytes + 1);
    assert_int_equal(others, 0);
}

static void test_spe(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= seeds; seed++)
        check_round(PERFILE_AUXTRACE_ARM_SPE, seed);
}

static void test_bts(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= seeds; seed++)
        check_round(PERFILE_AUXTRACE_INTEL_BTS, seed);
}

/* Any bytes at all are read to their end, as every kind of trace. */
static void test_noise(void **state)
{
    static struct trace noise;
    (void)state;
    for (unsigned seed = 1; seed <= seeds; seed++) {
        state_of_random = seed;
        noise.type = (uint32_t)(1 + any(7));
        noise.used = 1 + (size_t)any(sizeof(noise.bytes) - 1);
        for (size_t i = 0; i < noise.used; i++)
            noise.bytes[i] = (uint8_t)any(any(4) ? 256 : 4);
        check_bytes(&noise);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spe),
        cmocka_unit_test(test_bts),
        cmocka_unit_test(test_noise),
    };
    if (argc > 1)
        seeds = (unsigned)strtoul(argv[1], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
