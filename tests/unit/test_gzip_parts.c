/* SPDX-License-Identifier: MIT */
#include "output/gzip_parts.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "counting.h"

enum { PART = 128 << 10, MAX = 18 * PART, GZIP = 16 };

struct kept {
    uint8_t *data;
    size_t bytes, capacity;
};

static int keep(void *context, const void *data, size_t bytes)
{
    struct kept *kept = context;
    if (kept->bytes + bytes > kept->capacity)
        return -1;
    memcpy(kept->data + kept->bytes, data, bytes);
    kept->bytes += bytes;
    return 0;
}

/* Some of it comes again, some does not get smaller. */
static uint8_t *make_data(void)
{
    uint8_t *data = malloc(MAX);
    uint32_t random = 1;
    assert_non_null(data);
    for (size_t i = 0; i < MAX; i++) {
        random = random * 1664525 + 1013904223;
        data[i] = i / PART % 3 && i >= 1000 ? data[i - 1000] : (uint8_t)(random >> 24);
    }
    return data;
}

/* Pieces of odd sizes, each third of them of another kind. */
static int pack(struct pf_gzip_parts *gzip, const uint8_t *data, size_t bytes)
{
    int result = 0;
    for (size_t at = 0, i = 0; at < bytes && result == 0; i++) {
        const size_t now = bytes - at < 70001 ? bytes - at : 70001;
        result = pf_gzip_parts_expect(gzip, (enum pf_gzip_kind)(i / 3 % 3));
        if (result == 0)
            result = pf_gzip_parts_write(gzip, data + at, now);
        at += now;
    }
    return result == 0 ? pf_gzip_parts_finish(gzip) : result;
}

static int pack_all(const uint8_t *data, size_t bytes, unsigned threads, struct kept *kept,
                    const struct perfile_allocator *allocator)
{
    const struct perfile_sink sink = {kept, keep};
    struct pf_gzip_parts *gzip = NULL;
    int result = pf_gzip_parts_open(&gzip, allocator, &sink, threads);
    if (result == 0)
        result = pack(gzip, data, bytes);
    pf_gzip_parts_close(gzip);
    return result;
}

static void expect_data(const struct kept *kept, const uint8_t *data, size_t bytes)
{
    uint8_t *back = malloc(bytes + 1);
    z_stream stream = {
        .next_in = kept->data, .avail_in = (uInt)kept->bytes, .next_out = back, .avail_out = (uInt)bytes + 1};
    assert_non_null(back);
    assert_int_equal(inflateInit2(&stream, MAX_WBITS + GZIP), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.avail_in, 0);
    assert_int_equal(stream.total_out, bytes);
    assert_memory_equal(back, data, bytes);
    inflateEnd(&stream);
    free(back);
}

/* Makes a buffer with the capacity for all that is packed here. */
static struct kept make_kept(void)
{
    const size_t capacity = MAX + MAX / 100 + 4096;
    return (struct kept){malloc(capacity), 0, capacity};
}

static void same_bytes_for_all_threads(void **state)
{
    static const size_t sizes[] = {0, 1, PART - 1, PART, PART + 1, 16 * PART, MAX - 77};
    uint8_t *data = make_data();
    struct kept first = make_kept(), kept = make_kept();
    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        first.bytes = 0;
        assert_int_equal(pack_all(data, sizes[i], 1, &first, pf_allocator_or_default(NULL)), 0);
        expect_data(&first, data, sizes[i]);
        for (unsigned threads = 0; threads < 20; threads += 3) {
            kept.bytes = 0;
            assert_int_equal(pack_all(data, sizes[i], threads, &kept, pf_allocator_or_default(NULL)), 0);
            assert_int_equal(kept.bytes, first.bytes);
            assert_memory_equal(kept.data, first.data, kept.bytes);
        }
    }
    free(first.data);
    free(kept.data);
    free(data);
}

/* Without memory it fails, or the bytes are the same. */
static void memory_may_be_short(void **state)
{
    uint8_t *data = make_data();
    struct kept complete = make_kept(), kept = make_kept();
    int result = -1;
    (void)state;
    assert_int_equal(pack_all(data, 3 * PART, 1, &complete, pf_allocator_or_default(NULL)), 0);
    for (int allowed = 0; result != 0; allowed++) {
        struct counting c;
        counting_open(&c, allowed);
        kept.bytes = 0;
        result = pack_all(data, 3 * PART, 1, &kept, &c.allocator);
        counting_close(&c);
    }
    assert_int_equal(kept.bytes, complete.bytes);
    assert_memory_equal(kept.data, complete.data, kept.bytes);
    free(complete.data);
    free(kept.data);
    free(data);
}

static void sink_may_fail(void **state)
{
    uint8_t *data = make_data(), out[4096];
    struct kept kept = {out, 0, sizeof(out)};
    (void)state;
    assert_int_not_equal(pack_all(data, 3 * PART, 3, &kept, pf_allocator_or_default(NULL)), 0);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes_for_all_threads),
        cmocka_unit_test(memory_may_be_short),
        cmocka_unit_test(sink_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
