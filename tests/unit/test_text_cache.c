/* SPDX-License-Identifier: MIT */
#include "base/text_cache.h"

#include <pthread.h>
#include <stdio.h>

#include "counting.h"

enum { COUNT = 5000 };

static bool add(struct pf_text_cache *kept, uint64_t a, uint64_t b)
{
    char bytes[48];
    const int length = snprintf(bytes, sizeof(bytes), "%llu %llu", (unsigned long long)a, (unsigned long long)b);
    const struct pf_text_cache_text head = {a, b, (uint32_t)length, (uint32_t)(a + b)};
    return pf_text_cache_add(kept, &head, bytes);
}

static void check(const struct pf_text_cache_text *text, uint64_t a, uint64_t b)
{
    char bytes[48];
    const int length = snprintf(bytes, sizeof(bytes), "%llu %llu", (unsigned long long)a, (unsigned long long)b);
    assert_non_null(text);
    assert_int_equal(text->mark, (uint32_t)(a + b));
    assert_int_equal(text->bytes, length);
    assert_memory_equal(pf_text_cache_bytes(text), bytes, (size_t)length);
}

static void test_what_was_kept_is_found(void **state)
{
    (void)state;
    for (int shared = 0; shared < 2; shared++) {
        struct counting counting;
        struct pf_text_cache kept;
        counting_open(&counting, -1);
        pf_text_cache_open(&kept, &counting.allocator, shared);
        assert_null(pf_text_cache_find(&kept, 1, 2));
        for (uint64_t i = 0; i < COUNT; i++)
            assert_true(add(&kept, i % 7, i));
        for (uint64_t i = 0; i < COUNT; i++)
            check(pf_text_cache_find(&kept, i % 7, i), i % 7, i);
        assert_null(pf_text_cache_find(&kept, 7, 1));
        assert_null(pf_text_cache_find(&kept, 0, COUNT + 2));
        assert_true(kept.bytes > COUNT * sizeof(struct pf_text_cache_text));
        pf_text_cache_discard(&kept);
        assert_int_equal(kept.bytes, 0);
        assert_null(pf_text_cache_find(&kept, 0, 0));
        assert_true(add(&kept, 0, 0));
        check(pf_text_cache_find(&kept, 0, 0), 0, 0);
        pf_text_cache_close(&kept);
        counting_close(&counting);
    }
}

static void test_short_memory(void **state)
{
    (void)state;
    for (int allocations = 0; allocations < 4; allocations++) {
        struct counting counting;
        struct pf_text_cache kept;
        uint64_t added = 0;
        counting_open(&counting, allocations);
        pf_text_cache_open(&kept, &counting.allocator, true);
        while (added < COUNT && add(&kept, 1, added))
            added++;
        assert_true(added < COUNT);
        for (uint64_t i = 0; i < added; i++)
            check(pf_text_cache_find(&kept, 1, i), 1, i);
        pf_text_cache_close(&kept);
        counting_close(&counting);
    }
}

/* What is there is there for good, while the table grows. */
static void *look(void *context)
{
    const struct pf_text_cache *kept = context;
    for (uint64_t found = 0; found < COUNT;) {
        const struct pf_text_cache_text *text = pf_text_cache_find(kept, 3, found);
        if (text && (text->b != found || text->mark != (uint32_t)(3 + found)))
            return context;
        found += text != NULL;
    }
    return NULL;
}

static void test_others_look_while_one_adds(void **state)
{
    (void)state;
    pthread_t threads[2];
    struct pf_text_cache kept;
    void *wrong;
    pf_text_cache_open(&kept, pf_allocator_or_default(NULL), true);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, look, &kept), 0);
    for (uint64_t i = 0; i < COUNT; i++)
        assert_true(add(&kept, 3, i));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    pf_text_cache_close(&kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_kept_is_found),
        cmocka_unit_test(test_short_memory),
        cmocka_unit_test(test_others_look_while_one_adds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
