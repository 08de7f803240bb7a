/* SPDX-License-Identifier: MIT */
#include "base/range_cache.h"

#include <pthread.h>

#include "counting.h"

enum { PAGES = 40, STEP = 64, PAGE_BYTES = PF_RANGE_PAGE_OFFSET + 1 };

/* The pointer is never followed. */
static struct pf_range_value value_of(uint64_t first)
{
    return (struct pf_range_value){(const void *)(uintptr_t)(first + 1), first};
}

static bool is_value_of(const struct pf_range_value *value, uint64_t first)
{
    return value && value->of == value_of(first).of && value->origin == first;
}

/* Every second piece of STEP bytes of each page. */
static bool fill(struct pf_range_cache *cache, uint64_t space)
{
    bool added = true;
    for (uint64_t first = 0; added && first < PAGES * PAGE_BYTES; first += 2 * STEP) {
        const struct pf_range_value value = value_of(first);
        added = pf_range_cache_add(cache, space, first, first + STEP - 1, &value);
    }
    return added;
}

static void open_cache(struct pf_range_cache *cache, const struct perfile_allocator *allocator)
{
    pf_text_cache_open(&cache->pages, allocator, true);
}

static const struct pf_range_value *find(const struct pf_range_cache *cache, uint64_t space, uint64_t address)
{
    bool marked;
    return pf_range_cache_find(cache, space, address, &marked);
}

static void test_ranges_are_found_to_their_bounds(void **state)
{
    (void)state;
    struct counting counting;
    struct pf_range_cache cache;
    const struct pf_range_value last = value_of(7);
    counting_open(&counting, -1);
    open_cache(&cache, &counting.allocator);
    assert_null(find(&cache, 1, 0));
    assert_true(fill(&cache, 1));
    for (uint64_t first = 0; first < PAGES * PAGE_BYTES; first += 2 * STEP) {
        assert_true(is_value_of(find(&cache, 1, first), first));
        assert_true(is_value_of(find(&cache, 1, first + STEP - 1), first));
        assert_null(find(&cache, 1, first + STEP));
        assert_null(find(&cache, 1, first + 2 * STEP - 1));
    }
    assert_null(find(&cache, 2, 0));
    assert_true(pf_range_cache_add(&cache, 2, UINT64_MAX - PF_RANGE_PAGE_OFFSET, UINT64_MAX, &last));
    assert_true(is_value_of(find(&cache, 2, UINT64_MAX), 7));
    assert_null(find(&cache, 1, UINT64_MAX));
    pf_text_cache_close(&cache.pages);
    counting_close(&counting);
}

static void test_marks_stay_when_a_page_grows(void **state)
{
    (void)state;
    struct pf_range_cache cache;
    const struct pf_range_value value = value_of(0);
    bool marked = true;
    open_cache(&cache, pf_allocator_or_default(NULL));
    assert_false(pf_range_cache_mark(&cache, 1, 0));
    assert_true(pf_range_cache_add(&cache, 1, 0, 99, &value));
    assert_non_null(pf_range_cache_find(&cache, 1, 40, &marked));
    assert_false(marked);
    assert_true(pf_range_cache_mark(&cache, 1, 40));
    assert_false(pf_range_cache_mark(&cache, 1, 47));
    for (uint64_t first = 100; first < 2000; first += 100)
        assert_true(pf_range_cache_add(&cache, 1, first, first + 99, &value));
    assert_non_null(pf_range_cache_find(&cache, 1, 32, &marked));
    assert_true(marked);
    assert_non_null(pf_range_cache_find(&cache, 1, 31, &marked));
    assert_false(marked);
    assert_non_null(pf_range_cache_find(&cache, 1, 48, &marked));
    assert_false(marked);
    pf_text_cache_close(&cache.pages);
}

static void test_short_memory(void **state)
{
    (void)state;
    for (int allocations = 0; allocations < 3; allocations++) {
        struct counting counting;
        struct pf_range_cache cache;
        counting_open(&counting, allocations);
        open_cache(&cache, &counting.allocator);
        assert_false(fill(&cache, 1));
        pf_text_cache_close(&cache.pages);
        counting_close(&counting);
    }
}

/* What was found once is found from then on, while pages and their table grow. */
static void *look(void *context)
{
    const struct pf_range_cache *cache = context;
    for (uint64_t first = 0; first < PAGES * PAGE_BYTES;) {
        const struct pf_range_value *value = find(cache, 3, first + STEP / 2);
        if (value && (!is_value_of(value, first) || find(cache, 3, first + STEP)))
            return context;
        first += value ? 2 * STEP : 0;
    }
    return NULL;
}

static void test_others_look_while_one_adds(void **state)
{
    (void)state;
    pthread_t threads[2];
    struct pf_range_cache cache;
    void *wrong;
    open_cache(&cache, pf_allocator_or_default(NULL));
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, look, &cache), 0);
    assert_true(fill(&cache, 3));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    pf_text_cache_close(&cache.pages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges_are_found_to_their_bounds),
        cmocka_unit_test(test_marks_stay_when_a_page_grows),
        cmocka_unit_test(test_short_memory),
        cmocka_unit_test(test_others_look_while_one_adds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
