/* SPDX-License-Identifier: MIT */
#include "base/map.h"
#include "counting.h"

/* Every key there is, once: multiplication by an odd number is a permutation. */
static uint64_t key_of(uint64_t i)
{
    return i < 2 ? i - 1 : i * 0xbf58476d1ce4e5b9ull;
}

static void test_put_and_get(void **state)
{
    (void)state;
    enum { COUNT = 50000 };
    struct counting c;
    struct pf_map map;
    uint64_t value;
    counting_open(&c, -1);
    pf_map_open(&map, &c.allocator);
    assert_false(pf_map_get(&map, 0, &value));
    for (uint64_t i = 0; i < COUNT; i++)
        assert_true(pf_map_put(&map, key_of(i), i));
    assert_int_equal(map.used, COUNT);
    for (uint64_t i = 0; i < COUNT; i++) {
        assert_true(pf_map_get(&map, key_of(i), &value));
        assert_int_equal(value, i);
    }
    for (uint64_t i = COUNT; i < 2 * COUNT; i++)
        assert_false(pf_map_get(&map, key_of(i), &value));
    const size_t size = map.size;
    pf_map_clear(&map);
    assert_true(map.used == 0 && map.size == size);
    assert_false(pf_map_get(&map, key_of(7), &value));
    assert_true(pf_map_put(&map, key_of(7), 5) && pf_map_get(&map, key_of(7), &value) && value == 5);
    pf_map_close(&map);
    pf_map_clear(&map);
    assert_false(pf_map_get(&map, 0, &value)); /* empty again */
    counting_close(&c);
}

static void test_later_value_wins(void **state)
{
    (void)state;
    struct counting c;
    struct pf_map map;
    uint64_t value;
    counting_open(&c, -1);
    pf_map_open(&map, &c.allocator);
    assert_true(pf_map_put(&map, 7, 1));
    assert_true(pf_map_put(&map, 7, UINT64_MAX - 1));
    assert_true(pf_map_get(&map, 7, &value));
    assert_true(value == UINT64_MAX - 1);
    assert_int_equal(map.used, 1);
    pf_map_close(&map);
    counting_close(&c);
}

static void test_memory_short(void **state)
{
    (void)state;
    struct counting c;
    struct pf_map map;
    uint64_t i = 0, value;
    counting_open(&c, 2);
    pf_map_open(&map, &c.allocator);
    while (pf_map_put(&map, i, i))
        i++;
    for (uint64_t k = 0; k < i; k++)
        assert_true(pf_map_get(&map, k, &value) && value == k); /* what was there stays */
    assert_false(pf_map_get(&map, i, &value));
    pf_map_close(&map);
    counting_close(&c);
}

static void test_texts_once(void **state)
{
    (void)state;
    struct counting c;
    struct pf_map map;
    struct pf_arena arena;
    counting_open(&c, -1);
    pf_map_open(&map, &c.allocator);
    pf_arena_open(&arena, &c.allocator);
    const char *text = pf_map_text(&map, &arena, "name", 4), *shorter = pf_map_text(&map, &arena, "name", 3);
    assert_string_equal(text, "name");
    assert_string_equal(shorter, "nam");
    assert_ptr_equal(pf_map_text(&map, &arena, "name", 4), text);
    assert_ptr_equal(pf_map_text(&map, &arena, "nam", 3), shorter);
    pf_arena_close(&arena);
    pf_map_close(&map);
    counting_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_put_and_get),
        cmocka_unit_test(test_later_value_wins),
        cmocka_unit_test(test_memory_short),
        cmocka_unit_test(test_texts_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
