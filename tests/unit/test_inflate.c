/* SPDX-License-Identifier: MIT */
#include "io/inflate.h"

#include <zstd.h>

#include "counting.h"

enum { TEXT_BYTES = 300000, PIECES_MAX = 64 };

/* One frame that is flushed after every piece and never ended, as recorders make it. */
struct frame {
    uint8_t text[TEXT_BYTES];
    uint8_t data[2 * TEXT_BYTES];
    size_t ends[PIECES_MAX];
    size_t count;
};

static void make_frame(struct frame *f, size_t pieces)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_outBuffer out = {f->data, sizeof(f->data), 0};
    for (size_t i = 0; i < TEXT_BYTES; i++)
        f->text[i] = (uint8_t)(i / 100 * 7 + i % 13);
    for (size_t i = 0; i < pieces; i++) {
        size_t from = TEXT_BYTES / pieces * i, to = i + 1 < pieces ? TEXT_BYTES / pieces * (i + 1) : TEXT_BYTES;
        ZSTD_inBuffer in = {f->text + from, to - from, 0};
        assert_int_equal(ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush), 0);
        f->ends[i] = out.pos;
    }
    f->count = pieces;
    ZSTD_freeCCtx(context);
}

/* Checks that all is decompressed, `capacity` bytes at a time, as soon as its piece is there. */
static void check_frame(struct pf_inflate *inflate, const struct frame *f, size_t capacity)
{
    static uint8_t to[TEXT_BYTES + 1];
    size_t total = 0, got;
    for (size_t i = 0; i < f->count; i++) {
        size_t from = i ? f->ends[i - 1] : 0;
        uint8_t *block = made_block(f->data + from, f->ends[i] - from);
        assert_int_equal(pf_inflate_push(inflate, block, f->ends[i] - from, NULL), 0);
        free(block); /* it was copied */
        do {
            assert_int_equal(pf_inflate_pull(inflate, to + total, pf_min(capacity, sizeof(to) - total), &got, NULL), 0);
            total += got;
        } while (got);
        assert_int_equal(total, i + 1 < f->count ? TEXT_BYTES / f->count * (i + 1) : TEXT_BYTES);
    }
    assert_memory_equal(to, f->text, TEXT_BYTES);
}

static void test_pieces(void **state)
{
    (void)state;
    static const size_t capacities[] = {1000, 4096, TEXT_BYTES + 1};
    static struct frame f;
    for (size_t pieces = 1; pieces <= PIECES_MAX; pieces *= 4) {
        make_frame(&f, pieces);
        for (size_t i = 0; i < PF_COUNT(capacities); i++) {
            struct counting c;
            struct pf_inflate *inflate;
            counting_open(&c, -1);
            assert_int_equal(pf_inflate_open(&inflate, &c.allocator, NULL), 0);
            check_frame(inflate, &f, capacities[i]);
            pf_inflate_restart(inflate);
            check_frame(inflate, &f, capacities[i]);
            pf_inflate_close(inflate);
            counting_close(&c);
        }
    }
    pf_inflate_close(NULL);
}

static void test_nothing_to_pull(void **state)
{
    (void)state;
    struct pf_inflate *inflate;
    uint8_t to[8];
    size_t got = 7;
    assert_int_equal(pf_inflate_open(&inflate, pf_allocator_or_default(NULL), NULL), 0);
    assert_int_equal(pf_inflate_pull(inflate, to, sizeof(to), &got, NULL), 0);
    assert_int_equal(got, 0);
    assert_int_equal(pf_inflate_push(inflate, "\x28\xb5", 2, NULL), 0); /* the start of a magic */
    assert_int_equal(pf_inflate_pull(inflate, to, sizeof(to), &got, NULL), 0);
    assert_int_equal(got, 0);
    pf_inflate_close(inflate);
}

static void test_garbage(void **state)
{
    (void)state;
    static struct frame f;
    struct perfile_error error;
    struct pf_inflate *inflate;
    uint8_t to[1000];
    size_t got;
    int result;
    assert_int_equal(pf_inflate_open(&inflate, pf_allocator_or_default(NULL), NULL), 0);
    assert_int_equal(pf_inflate_push(inflate, "no zstd at all", 14, NULL), 0);
    assert_int_equal(pf_inflate_pull(inflate, to, sizeof(to), &got, &error), PERFILE_ERROR_COMPRESSION);
    assert_int_equal(got, 0);
    assert_string_equal(error.what, "zstd stream");
    pf_inflate_restart(inflate);
    make_frame(&f, 4);
    memset(f.data + f.ends[0] + 3, 0xff, 40); /* the second piece */
    pf_inflate_push(inflate, f.data, f.ends[3], NULL);
    while ((result = pf_inflate_pull(inflate, to, sizeof(to), &got, NULL)) == 0 && got)
        ;
    assert_true(result == 0 || result == PERFILE_ERROR_COMPRESSION);
    pf_inflate_close(inflate);
}

static void test_memory_short(void **state)
{
    (void)state;
    struct counting c;
    struct pf_inflate *inflate;
    counting_open(&c, 0);
    assert_int_equal(pf_inflate_open(&inflate, &c.allocator, NULL), PERFILE_ERROR_MEMORY);
    counting_close(&c);
    counting_open(&c, 1);
    assert_int_equal(pf_inflate_open(&inflate, &c.allocator, NULL), 0);
    assert_int_equal(pf_inflate_push(inflate, "x", 1, NULL), PERFILE_ERROR_MEMORY);
    pf_inflate_close(inflate);
    counting_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_nothing_to_pull),
        cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_memory_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
