/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "base/memory.h"
#include "counting.h"

static void test_new_is_zeroed(void **state)
{
    (void)state;
    struct counting c;
    counting_open(&c, -1);
    uint8_t *p = pf_new(&c.allocator, 100);
    for (int i = 0; i < 100; i++)
        assert_int_equal(p[i], 0);
    p = pf_resize(&c.allocator, p, 100, 200);
    assert_non_null(p);
    pf_free(&c.allocator, p, 200);
    pf_free(&c.allocator, NULL, 0);
    counting_close(&c);
}

static void test_default_allocator(void **state)
{
    (void)state;
    const struct perfile_allocator *allocator = pf_allocator_or_default(NULL);
    void *p = pf_new(allocator, 1);
    assert_non_null(p);
    p = pf_resize(allocator, p, 1, 100000);
    assert_non_null(p);
    pf_free(allocator, p, 100000);
    assert_ptr_equal(pf_allocator_or_default(allocator), allocator);
}

static void test_grow(void **state)
{
    (void)state;
    struct counting c;
    counting_open(&c, -1);
    uint32_t *list = NULL;
    size_t capacity = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        assert_true(pf_grow(&c.allocator, &list, &capacity, i + 1, sizeof(*list)));
        assert_true(capacity > i);
        list[i] = i;
    }
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(list[i], i);
    assert_int_equal(c.live_bytes, capacity * sizeof(*list));
    assert_true(capacity < 2048); /* not more than doubled */
    pf_free(&c.allocator, list, capacity * sizeof(*list));
    counting_close(&c);
}

static void test_grow_too_far(void **state)
{
    (void)state;
    struct counting c;
    counting_open(&c, -1);
    uint64_t *list = NULL;
    size_t capacity = 0;
    assert_true(pf_grow(&c.allocator, &list, &capacity, 1, sizeof(*list)));
    const uint64_t *before = list;
    size_t capacity_before = capacity;
    assert_false(pf_grow(&c.allocator, &list, &capacity, SIZE_MAX, sizeof(*list)));
    assert_false(pf_grow(&c.allocator, &list, &capacity, SIZE_MAX / 8 + 1, sizeof(*list)));
    c.left = 0;
    assert_false(pf_grow(&c.allocator, &list, &capacity, capacity + 1, sizeof(*list)));
    assert_ptr_equal(list, before);
    assert_int_equal(capacity, capacity_before);
    pf_free(&c.allocator, list, capacity * sizeof(*list));
    counting_close(&c);
}

static void test_arena(void **state)
{
    (void)state;
    struct counting c;
    struct pf_arena arena;
    uint8_t *pieces[300];
    counting_open(&c, -1);
    pf_arena_open(&arena, &c.allocator);
    for (size_t i = 0; i < PF_COUNT(pieces); i++) {
        size_t size = i % 7 == 0 ? 5000 : i;
        pieces[i] = pf_arena_new(&arena, size);
        assert_int_equal((uintptr_t)pieces[i] % 16, 0);
        for (size_t k = 0; k < size; k++)
            assert_int_equal(pieces[i][k], 0);
        memset(pieces[i], (int)i, size);
    }
    for (size_t i = 1; i < PF_COUNT(pieces); i++)
        assert_int_equal(pieces[i][0], (uint8_t)i); /* no piece was overwritten by another */
    assert_non_null(pf_arena_new(&arena, 1 << 20)); /* larger than a chunk */
    pf_arena_close(&arena);
    counting_close(&c);
}

static void test_arena_text(void **state)
{
    (void)state;
    struct counting c;
    struct pf_arena arena;
    counting_open(&c, -1);
    pf_arena_open(&arena, &c.allocator);
    assert_string_equal(pf_arena_text(&arena, "hello world", 5), "hello");
    assert_string_equal(pf_arena_text(&arena, NULL, 0), "");
    assert_null(pf_arena_text(&arena, "x", SIZE_MAX));
    assert_null(pf_arena_new(&arena, SIZE_MAX));
    c.left = 0;
    assert_null(pf_arena_new(&arena, 1 << 20));
    assert_string_equal(pf_arena_text(&arena, "still", 5), "still"); /* it fits into the chunk */
    pf_arena_close(&arena);
    counting_close(&c);
}

static void test_watch(void **state)
{
    struct counting memory;
    struct pf_watch watch;
    (void)state;
    counting_open(&memory, 1);
    pf_watch_open(&watch, &memory.allocator);
    void *block = pf_new(&watch.allocator, 8);
    assert_non_null(block);
    assert_false(pf_memory_was_short(&watch.allocator));
    assert_null(pf_resize(&watch.allocator, block, 8, 16));
    assert_true(pf_memory_was_short(&watch.allocator));
    pf_free(&watch.allocator, block, 8);
    assert_true(pf_memory_was_short(&watch.allocator));
    assert_false(pf_memory_was_short(&memory.allocator));
    counting_close(&memory);
}

static void test_watch_is_reported(void **state)
{
    struct pf_watch watch;
    (void)state;
    pf_watch_open(&watch, NULL);
    errno = ENOENT;
    assert_false(pf_memory_note_failure(&watch.allocator));
    assert_int_equal(pf_memory_check(&watch.allocator, PERFILE_ERROR_DAMAGED), PERFILE_ERROR_DAMAGED);
    assert_false(pf_memory_was_short(&watch.allocator));
    errno = ENOMEM;
    assert_true(pf_memory_note_failure(&watch.allocator));
    assert_true(pf_memory_was_short(&watch.allocator));
    pf_watch_open(&watch, NULL);
    assert_int_equal(pf_memory_check(&watch.allocator, PERFILE_ERROR_MEMORY), PERFILE_ERROR_MEMORY);
    assert_true(pf_memory_was_short(&watch.allocator));
}

static void test_elements_by_index(void **state)
{
    struct counting c;
    uint32_t *items = NULL;
    size_t capacity = 0;
    (void)state;
    counting_open(&c, 2);
    *PF_ELEMENT(&c.allocator, items, capacity, 2) = 7;
    assert_true(capacity > 2 && !items[0] && !items[1] && items[2] == 7);
    const size_t before = capacity;
    assert_true(PF_HAS_ELEMENT(&c.allocator, items, capacity, before));
    for (size_t i = 0; i < capacity; i++)
        assert_int_equal(items[i], i == 2 ? 7 : 0);
    assert_null(PF_ELEMENT(&c.allocator, items, capacity, capacity)); /* and the array stays as it is */
    assert_int_equal(items[2], 7);
    pf_free(&c.allocator, items, capacity * sizeof(*items));
    counting_close(&c);
}

static void test_text_format(void **state)
{
    struct counting c;
    (void)state;
    counting_open(&c, 2);
    char *text = pf_text_format(&c.allocator, "%s/%.2s%d", "a", "bcd", 7),
         *none = pf_text_format(&c.allocator, "%s", "");
    assert_string_equal(text, "a/bc7");
    assert_string_equal(none, "");
    errno = 0;
    assert_null(pf_text_format(&c.allocator, "x"));
    assert_int_equal(errno, ENOMEM);
    pf_text_free(&c.allocator, text);
    pf_text_free(&c.allocator, none);
    counting_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_is_zeroed), cmocka_unit_test(test_default_allocator),
        cmocka_unit_test(test_grow),          cmocka_unit_test(test_grow_too_far),
        cmocka_unit_test(test_arena),         cmocka_unit_test(test_arena_text),
        cmocka_unit_test(test_watch),         cmocka_unit_test(test_watch_is_reported),
        cmocka_unit_test(test_text_format),   cmocka_unit_test(test_elements_by_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
