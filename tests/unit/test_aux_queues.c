/* SPDX-License-Identifier: MIT */
/* Queues of hardware traces: which buffers continue each other, what snapshots repeat, what was lost, and clocks. */
#include "hwtrace/queues.h"

#include <string.h>

#include "counting.h"

enum { BTS_BYTES = 24 };

static const struct perfile_allocator *allocator(void)
{
    return pf_allocator_or_default(NULL);
}

static void take(struct pf_aux_queues *queues, uint32_t type, const void *body, int32_t cpu)
{
    const struct perfile_record record = {.type = type};
    assert_true(pf_aux_queues_take(queues, &(struct pf_aux_record){&record, body, -1, cpu}, NULL));
}

static void take_info(struct pf_aux_queues *queues, uint32_t type, const uint64_t *priv, uint64_t count)
{
    const struct perfile_auxtrace_info info = {
        .auxtrace_type = type, .priv = {.data = (const uint8_t *)priv, .count = count, .swapped = false}};
    take(queues, PERFILE_RECORD_AUXTRACE_INFO, &info, -1);
}

/* A payload that stands at `position` of the bytes that read_memory reads, and at `offset` of its AUX area. */
static void take_payload(struct pf_aux_queues *queues, uint64_t position, uint64_t bytes, uint64_t offset)
{
    const struct perfile_record record = {
        .type = PERFILE_RECORD_AUXTRACE, .payload_offset = position, .payload_bytes = bytes};
    const struct perfile_auxtrace body = {
        .data_size = bytes, .offset = offset, .reference = position, .idx = 3, .tid = 7, .cpu = 1};
    struct pf_aux_queue *queue;
    assert_true(pf_aux_queues_take(queues, &(struct pf_aux_record){&record, &body, -1, -1}, &queue));
    assert_ptr_equal(queue, queues->items);
}

static int read_memory(void *context, const struct pf_aux_buffer *buffer, uint64_t at, uint8_t *to, size_t *bytes,
                       struct perfile_error *error)
{
    (void)error;
    *bytes = (size_t)pf_min(*bytes, 5); /* short reads are no end */
    memcpy(to, (const uint8_t *)context + buffer->position + at, *bytes);
    return 0;
}

/* Reads all runs; a blank stands between two. */
static void read_all(struct pf_aux_queues *queues, const char *bytes, char *out)
{
    struct pf_aux_stream stream;
    const uint8_t *data;
    size_t count;
    assert_true(pf_aux_stream_open(&stream, queues, queues->items));
    stream.read = read_memory;
    stream.context = (void *)(uintptr_t)bytes;
    while (pf_aux_stream_next_run(&stream)) {
        if (stream.first)
            *out++ = ' ';
        while (pf_aux_stream_more(&stream, &data, &count, NULL) > 0) {
            memcpy(out, data, count);
            out += count;
        }
    }
    *out = '\0';
    pf_aux_stream_close(&stream);
}

static void test_buffers_that_follow_each_other_are_one_run(void **state)
{
    struct pf_aux_queues queues;
    char out[64];
    (void)state;
    pf_aux_queues_open(&queues, allocator());
    take_payload(&queues, 0, 6, 100);
    take_payload(&queues, 6, 0, 106);
    take_payload(&queues, 6, 6, 106);
    take_payload(&queues, 12, 4, 120);
    read_all(&queues, "abcdefghijklmnop", out);
    assert_string_equal(out, "abcdefghijkl mnop");
    assert_int_equal(queues.items[0].missing, 8);
    assert_int_equal(queues.items[0].bytes, 16);
    assert_false(queues.items[0].conflicts);
    pf_aux_queues_close(&queues);
}

static void test_buffer_of_a_byte_of_a_run(void **state)
{
    struct pf_aux_queues queues;
    struct pf_aux_stream stream;
    const uint8_t *data;
    size_t count;
    (void)state;
    pf_aux_queues_open(&queues, allocator());
    take_payload(&queues, 0, 6, 0);
    take_payload(&queues, 6, 6, 6);
    assert_true(pf_aux_stream_open(&stream, &queues, queues.items));
    stream.read = read_memory;
    stream.context = (void *)(uintptr_t) "abcdefghijkl";
    assert_true(pf_aux_stream_next_run(&stream));
    while (pf_aux_stream_more(&stream, &data, &count, NULL) > 0)
        continue;
    assert_int_equal(pf_aux_stream_buffer(&stream, 0)->position, 0);
    assert_int_equal(pf_aux_stream_buffer(&stream, 5)->position, 0);
    assert_int_equal(pf_aux_stream_buffer(&stream, 6)->position, 6);
    assert_int_equal(pf_aux_stream_buffer(&stream, 11)->position, 6);
    pf_aux_stream_close(&stream);
    pf_aux_queues_close(&queues);
}

static void test_buffers_of_two_processors_in_a_queue_conflict(void **state)
{
    const struct perfile_record record = {.type = PERFILE_RECORD_AUXTRACE};
    const struct perfile_auxtrace body = {.idx = 3, .tid = 7, .cpu = 2};
    struct pf_aux_queues queues;
    (void)state;
    pf_aux_queues_open(&queues, allocator());
    take_payload(&queues, 0, 0, 0);
    assert_false(queues.items[0].conflicts);
    assert_true(pf_aux_queues_take(&queues, &(struct pf_aux_record){&record, &body, -1, -1}, NULL));
    assert_true(queues.items[0].conflicts);
    pf_aux_queues_close(&queues);
}

/* How many bytes the second of two snapshots repeats. */
static uint64_t repeated(uint32_t type, const uint8_t *bytes, size_t first, size_t second)
{
    const struct perfile_aux overwrite = {.flags = PERFILE_AUX_FLAG_OVERWRITE};
    struct pf_aux_queues queues;
    pf_aux_queues_open(&queues, allocator());
    take_info(&queues, type, NULL, 0);
    take(&queues, PERFILE_RECORD_AUX, &overwrite, 1);
    take_payload(&queues, 0, first, 0);
    take_payload(&queues, first, second, 0);
    assert_int_equal(pf_aux_queue_find_repeated(&queues, queues.items, read_memory, (void *)(uintptr_t)bytes, NULL), 0);
    const uint64_t result = queues.items[0].buffers[1].repeated;
    pf_aux_queues_close(&queues);
    return result;
}

static void test_snapshots_of_bts_repeat_records(void **state)
{
    uint8_t bytes[8 * BTS_BYTES] = {0};
    (void)state;
    for (uint8_t i = 0; i < 8; i++)
        bytes[i * BTS_BYTES] = (uint8_t[]){1, 2, 3, 4, 3, 4, 5, 6}[i];
    assert_int_equal(repeated(PERFILE_AUXTRACE_INTEL_BTS, bytes, 4 * BTS_BYTES, 4 * BTS_BYTES), 2 * BTS_BYTES);
    bytes[3 * BTS_BYTES + 1] = 1;
    assert_int_equal(repeated(PERFILE_AUXTRACE_INTEL_BTS, bytes, 4 * BTS_BYTES, 4 * BTS_BYTES), 0);
}

/* Bytes before a PSB, PSB, TSC. */
static size_t put_psb(uint8_t *to, uint8_t before, uint8_t time)
{
    static const uint8_t psb[] = {0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
                                  0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82};
    const uint8_t tsc[] = {0x19, time, 0, 0, 0, 0, 0, 0};
    to[0] = before;
    memcpy(to + 1, psb, sizeof(psb));
    memcpy(to + 1 + sizeof(psb), tsc, sizeof(tsc));
    return 1 + sizeof(psb) + sizeof(tsc);
}

static void test_snapshots_of_pt_repeat_from_a_psb(void **state)
{
    enum { PIECE = 25 };
    uint8_t bytes[6 * PIECE];
    size_t at = 0;
    (void)state;
    for (size_t i = 0; i < 6; i++)
        at += put_psb(bytes + at, 0x10, (uint8_t[]){1, 2, 3, 2, 3, 4}[i]);
    /* the second snapshot starts with the byte before the PSB of time 2, or in the middle of the PSB of time 1 */
    assert_int_equal(repeated(PERFILE_AUXTRACE_INTEL_PT, bytes, 3 * PIECE, 3 * PIECE), 2 * PIECE);
    at = 3 * PIECE;
    at += put_psb(bytes + at, 0x10, 9);
    assert_int_equal(repeated(PERFILE_AUXTRACE_INTEL_PT, bytes, 3 * PIECE, 3 * PIECE), 0);
}

static void test_losses_are_those_of_the_processor(void **state)
{
    const struct perfile_aux truncated = {.flags = PERFILE_AUX_FLAG_TRUNCATED};
    const struct perfile_aux both = {.flags = PERFILE_AUX_FLAG_PARTIAL | PERFILE_AUX_FLAG_COLLISION};
    struct pf_aux_queues queues;
    (void)state;
    pf_aux_queues_open(&queues, allocator());
    take(&queues, PERFILE_RECORD_AUX, &truncated, 1);
    take(&queues, PERFILE_RECORD_AUX, &truncated, 2);
    take(&queues, PERFILE_RECORD_AUX, &both, 1);
    take(&queues, PERFILE_RECORD_AUXTRACE_ERROR, NULL, -1);
    take_payload(&queues, 0, 0, 0);
    const struct pf_aux_losses own = pf_aux_queues_lost(&queues, queues.items);
    assert_int_equal(own.truncated, 1);
    assert_int_equal(own.partial, 1);
    assert_int_equal(own.collided, 1);
    assert_int_equal(pf_aux_queues_lost(&queues, NULL).truncated, 2);
    assert_int_equal(queues.errors, 1);
    pf_aux_queues_close(&queues);
}

static void test_clock_of_bts_is_in_auxtrace_info(void **state)
{
    static const uint64_t priv[] = {9, 1, 3, 1000, 1, 0}, invalid[] = {9, 1, 3, 1000, 0, 0};
    const struct perfile_time_conv conversion = {.time_mult = 7};
    struct perfile_time_conv clock;
    struct pf_aux_queues queues;
    (void)state;
    pf_aux_queues_open(&queues, allocator());
    take(&queues, PERFILE_RECORD_TIME_CONV, &conversion, -1);
    take_info(&queues, PERFILE_AUXTRACE_INTEL_BTS, priv, PF_COUNT(priv));
    clock = pf_aux_clock(&queues);
    assert_int_equal(pf_aux_time(&clock, 10), 1000 + 15);
    pf_aux_queues_close(&queues);
    pf_aux_queues_open(&queues, allocator());
    take_info(&queues, PERFILE_AUXTRACE_INTEL_BTS, invalid, PF_COUNT(invalid));
    clock = pf_aux_clock(&queues);
    assert_int_equal(pf_aux_time(&clock, 10), 10);
    pf_aux_queues_close(&queues);
    pf_aux_queues_open(&queues, allocator());
    take_info(&queues, PERFILE_AUXTRACE_ARM_SPE, NULL, 0);
    take(&queues, PERFILE_RECORD_TIME_CONV, &conversion, -1); /* after AUXTRACE_INFO: perf 7.2 crashes */
    clock = pf_aux_clock(&queues);
    assert_int_equal(pf_aux_time(&clock, 10), 70);
    pf_aux_queues_close(&queues);
}

static void test_sums_extend_times_of_pt(void **state)
{
    static const uint8_t bytes[] = {0};
    const struct pf_aux_format *format = pf_aux_format_find(PERFILE_AUXTRACE_INTEL_PT);
    struct pf_aux_queues queues;
    unsigned tsc = 0;
    (void)state;
    while (strcmp(format->kinds[tsc].name, "TSC") != 0)
        tsc++;
    pf_aux_queues_open(&queues, allocator());
    take_payload(&queues, 0x01ffffffffffff00, 0, 0);
    pf_aux_sums_add(queues.items, format, &(struct pf_aux_packet){bytes, 1, 0, tsc, 0, 0x00fffffffffffe00});
    pf_aux_sums_add(queues.items, format, &(struct pf_aux_packet){bytes, 1, 0, tsc, 0, 0x10});
    assert_int_equal(queues.items[0].sums.first_time, 0x01fffffffffffe00);
    assert_int_equal(queues.items[0].sums.last_time, 0x0200000000000010);
    assert_int_equal(pf_aux_queues_sum(&queues).packets, 2);
    pf_aux_queues_close(&queues);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buffers_that_follow_each_other_are_one_run),
        cmocka_unit_test(test_buffer_of_a_byte_of_a_run),
        cmocka_unit_test(test_buffers_of_two_processors_in_a_queue_conflict),
        cmocka_unit_test(test_snapshots_of_bts_repeat_records),
        cmocka_unit_test(test_snapshots_of_pt_repeat_from_a_psb),
        cmocka_unit_test(test_losses_are_those_of_the_processor),
        cmocka_unit_test(test_clock_of_bts_is_in_auxtrace_info),
        cmocka_unit_test(test_sums_extend_times_of_pt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
