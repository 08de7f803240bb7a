/* SPDX-License-Identifier: MIT */
#include "counting.h"
#include "io/window.h"

enum { SOURCE_BYTES = 3 << 20, WINDOW_MAX = 1 << 20 };

/* A source whose byte at n follows from n, that delivers at most `piece` bytes at a time. */
struct source {
    size_t piece;
    uint64_t bytes;
    uint64_t next; /* what a stream gives next */
    bool stream;
    uint64_t fail_at; /* 0 = never */
    size_t calls;
};

static uint8_t byte_at(uint64_t offset)
{
    return (uint8_t)(offset * 0x9e3779b97f4a7c15ull >> 56);
}

static int fill(void *context, uint64_t offset, void *to, size_t bytes, size_t *got, struct perfile_error *error)
{
    struct source *source = context;
    (void)error;
    source->calls++;
    *got = 0;
    if (source->stream)
        assert_int_equal(offset, source->next);
    if (source->fail_at && offset + bytes > source->fail_at)
        return PERFILE_ERROR_READ;
    if (offset >= source->bytes)
        return 0;
    *got = (size_t)pf_min(pf_min(bytes, source->piece), source->bytes - offset);
    for (size_t i = 0; i < *got; i++)
        ((uint8_t *)to)[i] = byte_at(offset + i);
    source->next = offset + *got;
    return 0;
}

/* The piece is there and right; `less` when the source may end in it. */
static const uint8_t *get(struct pf_window *window, uint64_t offset, size_t bytes, size_t there)
{
    const uint8_t *piece;
    size_t got;
    assert_int_equal(pf_window_get(window, offset, bytes, &piece, &got, NULL), 0);
    assert_true(there < bytes ? got == there : got >= bytes);
    for (size_t i = 0; i<there; i += there> 4096 ? 61 : 1)
        assert_int_equal(piece[i], byte_at(offset + i));
    return piece;
}

static void open_window(struct pf_window *window, struct counting *c, struct source *source)
{
    counting_open(c, -1);
    assert_int_equal(pf_window_open(window, &c->allocator, fill, source, !source->stream), 0);
}

/* Records of all sizes one after the other, across all refills, however the source comes. */
static void test_records_cross_refills(void **state)
{
    (void)state;
    static const size_t pieces[] = {SIZE_MAX, 4096, 1000, 100000};
    for (size_t i = 0; i < 2 * PF_COUNT(pieces); i++) {
        struct source source = {.piece = pieces[i / 2], .bytes = SOURCE_BYTES, .stream = i % 2};
        struct pf_window window;
        struct counting c;
        open_window(&window, &c, &source);
        uint64_t offset = 0;
        for (size_t bytes = 8; offset + bytes <= SOURCE_BYTES; bytes = (bytes * 5 + 8) % 65535) {
            get(&window, offset, 8, 8);
            get(&window, offset, bytes, bytes);
            offset += bytes;
        }
        get(&window, offset, 65536, (size_t)(SOURCE_BYTES - offset));
        get(&window, SOURCE_BYTES, 1, 0);
        assert_true(c.live_bytes <= WINDOW_MAX); /* it does not grow with the source */
        pf_window_close(&window);
        counting_close(&c);
    }
}

static void test_one_byte_at_a_time(void **state)
{
    (void)state;
    struct source source = {.piece = 1, .bytes = 5000, .stream = true};
    struct pf_window window;
    struct counting c;
    open_window(&window, &c, &source);
    for (uint64_t offset = 0; offset < 4900; offset += 100)
        get(&window, offset, 100, 100);
    get(&window, 4900, 200, 100);
    pf_window_close(&window);
    counting_close(&c);
}

static void test_skipping(void **state)
{
    (void)state;
    for (int stream = 0; stream < 2; stream++) {
        struct source source = {.piece = SIZE_MAX, .bytes = SOURCE_BYTES, .stream = stream};
        struct pf_window window;
        struct counting c;
        open_window(&window, &c, &source);
        get(&window, 0, 8, 8);
        get(&window, 2000000, 100, 100);
        get(&window, SOURCE_BYTES - 8, 8, 8);
        get(&window, SOURCE_BYTES + 1000, 8, 0);
        get(&window, UINT64_MAX - 4, 8, 0);
        if (!stream) {
            assert_true(source.calls < 6); /* what is skipped is not read */
            pf_window_reset(&window);
            get(&window, 3, 8, 8);
        }
        pf_window_close(&window);
        counting_close(&c);
    }
}

/* Looking ahead of `keep` leaves the bytes from `keep` on in the window, also in a stream. */
static void test_keep(void **state)
{
    (void)state;
    struct source source = {.piece = 70000, .bytes = SOURCE_BYTES, .stream = true};
    struct pf_window window;
    struct counting c;
    open_window(&window, &c, &source);
    for (uint64_t offset = 0; offset < 2000000; offset += 60000) {
        window.keep = offset;
        get(&window, offset, 8, 8);
        get(&window, offset + 300000, 1000, 1000);
        get(&window, offset + 600000, 1000, 1000); /* wider than the window */
        get(&window, offset, 60000, 60000);
    }
    pf_window_close(&window);
    counting_close(&c);
}

static void test_large_piece(void **state)
{
    (void)state;
    struct source source = {.piece = SIZE_MAX, .bytes = SOURCE_BYTES};
    struct pf_window window;
    struct counting c;
    open_window(&window, &c, &source);
    get(&window, 10, 2000000, 2000000);
    get(&window, 10, SIZE_MAX / 2, SOURCE_BYTES - 10); /* what a header states, not what is there */
    assert_true(c.live_bytes <= 2 * SOURCE_BYTES);
    pf_window_close(&window);
    counting_close(&c);
}

static void test_memory(void **state)
{
    (void)state;
    uint8_t data[100];
    struct pf_window window;
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = byte_at(i);
    pf_window_open_memory(&window, data, sizeof(data));
    assert_ptr_equal(get(&window, 0, 100, 100), data); /* nothing is copied */
    assert_ptr_equal(get(&window, 90, 10, 10), data + 90);
    get(&window, 90, 11, 10);
    get(&window, 100, 1, 0);
    get(&window, 101, 1, 0);
    get(&window, UINT64_MAX, 1, 0);
    pf_window_reset(&window);
    get(&window, 5, 5, 5); /* also backwards */
    pf_window_close(&window);
}

/* Recordings whose turn has not come take little, and those that wait or are over take nothing. */
static void test_rest(void **state)
{
    enum { LITTLE = 16 * 1024, LARGEST = 256 * 1024 };
    (void)state;
    struct source source = {.piece = SIZE_MAX, .bytes = SOURCE_BYTES};
    struct pf_window window;
    struct counting c;
    open_window(&window, &c, &source);
    get(&window, 0, 8, 8);
    assert_int_equal(c.live_bytes, LITTLE);
    for (uint64_t at = 0; at < SOURCE_BYTES; at += 1024)
        get(&window, at, 1024, 1024);
    assert_int_equal(c.live_bytes, LARGEST);
    pf_window_rest(&window);
    assert_int_equal(c.live_bytes, 0);
    get(&window, SOURCE_BYTES - 50000, 50000, 50000);
    pf_window_close(&window);
    counting_close(&c);
}

static void test_failures(void **state)
{
    (void)state;
    struct source source = {.piece = SIZE_MAX, .bytes = SOURCE_BYTES, .fail_at = 1000000};
    struct pf_window window;
    struct counting c;
    const uint8_t *piece;
    size_t got;
    open_window(&window, &c, &source);
    get(&window, 0, 8, 8);
    assert_int_equal(pf_window_get(&window, 990000, 8, &piece, &got, NULL), PERFILE_ERROR_READ);
    assert_int_equal(got, 0);
    source.fail_at = 0;
    c.left = 0;
    assert_int_equal(pf_window_get(&window, 0, WINDOW_MAX + 1, &piece, &got, NULL), PERFILE_ERROR_MEMORY);
    pf_window_close(&window);
    counting_close(&c);
    counting_open(&c, 0);
    assert_int_equal(pf_window_open(&window, &c.allocator, fill, &source, true), PERFILE_ERROR_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records_cross_refills),
        cmocka_unit_test(test_one_byte_at_a_time),
        cmocka_unit_test(test_skipping),
        cmocka_unit_test(test_keep),
        cmocka_unit_test(test_large_piece),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_rest),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
