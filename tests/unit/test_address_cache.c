/* SPDX-License-Identifier: MIT */
#include "analysis/address_cache.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/bytes.h"

#include "counting.h"

/* Looks up the value of an address, and fills it in when it is not there or was discarded. False when out of memory. */
static bool ask(struct pf_address_cache *positions, const void *space, uint64_t ip, uint32_t value, size_t *found_out)
{
    const uint32_t number = pf_address_cache_number(positions, space);
    if (number == UINT32_MAX)
        return false;
    pf_address_cache_ask(positions, number);
    struct pf_address_slot *position = pf_address_cache_find(positions, number, ip);
    if (!position)
        return false;
    if (!position->value) {
        pf_address_cache_fill(positions, number, position, value);
        ++*found_out;
    }
    assert_int_equal(position->value - 1, value);
    return true;
}

static void each_space_has_its_own(void **state)
{
    enum { ADDRESSES = 5000 };
    (void)state;
    struct counting c;
    struct pf_address_cache positions;
    const char spaces[3] = {0};
    size_t found_out = 0;
    counting_open(&c, -1);
    pf_address_cache_open(&positions, &c.allocator);
    for (int again = 0; again < 2; again++)
        for (uint32_t i = 0; i < ADDRESSES; i++)
            for (uint32_t space = 0; space < 3; space++) /* also those of no address space */
                assert_true(
                    ask(&positions, space ? &spaces[space] : NULL, i * (uint64_t)4096, space << 16 | i, &found_out));
    assert_int_equal(found_out, 3 * ADDRESSES);
    const size_t tables = ((size_t)1 << PF_SEGMENT_FIRST_BITS) * sizeof(struct pf_address_table);
    assert_true(positions.bytes == c.live_bytes - tables - positions.numbers.size * sizeof(*positions.numbers.slots));
    pf_address_cache_close(&positions);
    counting_close(&c);
}

/* Spaces that come and go cost no more than those that are there. */
static void old_spaces_are_discarded(void **state)
{
    enum { SPACES = 2000, ADDRESSES = 1000 };
    (void)state;
    struct pf_address_cache positions;
    static const char spaces[SPACES];
    size_t found_out = 0, max = 0;
    pf_address_cache_open(&positions, pf_allocator_or_default(NULL));
    for (uint32_t space = 0; space < SPACES; space++)
        for (uint32_t i = 0; i < ADDRESSES; i++) {
            assert_true(ask(&positions, &spaces[space], i, i ^ space, &found_out));
            assert_true(ask(&positions, &spaces[0], i, i, &found_out)); /* always there, as the kernel is */
            max = pf_max(max, positions.bytes);
        }
    assert_int_equal(found_out, SPACES * ADDRESSES);
    assert_true(max < SPACES * ADDRESSES * sizeof(struct pf_address_slot) / 4);
    for (uint32_t i = 0; i < ADDRESSES; i++)
        assert_true(ask(&positions, &spaces[1], i, i ^ 1, &found_out));
    assert_int_equal(found_out, (SPACES + 1) * ADDRESSES);
    pf_address_cache_close(&positions);
}

/* ---- others look meanwhile ---- */

enum { SHARED_SPACES = 300, SHARED_ADDRESSES = 2000, PASSES_AFTER = 2 };

struct looking {
    struct pf_address_cache *positions;
    atomic_uint pass; /* the reading thread may be PASSES_AFTER passes before this one */
    atomic_uint seen; /* the pass that the reading thread began last */
    atomic_bool ended;
    bool wrong;
};

static void *look_all(void *context)
{
    struct looking *looking = context;
    while (!atomic_load(&looking->ended)) {
        const unsigned pass = atomic_load(&looking->pass);
        atomic_store(&looking->seen, pass);
        for (uint32_t space = 0; space < pass; space++) {
            const struct pf_address_slots *slots = pf_address_cache_look(looking->positions, space);
            for (uint32_t ip = 0; slots && ip < SHARED_ADDRESSES; ip += 7) {
                const size_t first = pf_address_slots_first(looking->positions, slots, ip);
                const uint32_t value = pf_address_slots_value(slots, first, ip);
                looking->wrong |= value && value - 1 != (ip ^ space);
            }
        }
    }
    return NULL;
}

/*
 * Other threads see an entry completely or not at all, also in tables that are replaced or discarded while they read.
 */
static void others_may_look(void **state)
{
    (void)state;
    struct counting c;
    struct pf_address_cache positions;
    static const char spaces[SHARED_SPACES];
    counting_open(&c, -1);
    pf_address_cache_open(&positions, &c.allocator);
    positions.lag = PASSES_AFTER;
    struct looking looking = {.positions = &positions};
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, look_all, &looking), 0);
    for (uint32_t space = 0; space < SHARED_SPACES; space++) {
        while (atomic_load(&looking.seen) + PASSES_AFTER <= space)
            sched_yield();
        assert_int_equal(pf_address_cache_number(&positions, &spaces[space]), space);
        pf_address_cache_pass(&positions);
        pf_address_cache_ask(&positions, space);
        atomic_store(&looking.pass, space + 1);
        for (uint32_t ip = 0; ip < SHARED_ADDRESSES; ip++) {
            struct pf_address_slot *position = pf_address_cache_find(&positions, space, ip);
            assert_non_null(position);
            pf_address_cache_fill(&positions, space, position, ip ^ space);
        }
    }
    atomic_store(&looking.ended, true);
    pthread_join(other, NULL);
    assert_false(looking.wrong);
    assert_true(pf_address_cache_discarded(&positions) > 0);
    pf_address_cache_close(&positions);
    counting_close(&c);
}

static void memory_may_be_short(void **state)
{
    (void)state;
    bool enough = false;
    for (int left = 0; !enough; left++) {
        struct counting c;
        struct pf_address_cache positions;
        const char spaces[50] = {0};
        size_t found_out = 0;
        counting_open(&c, left);
        pf_address_cache_open(&positions, &c.allocator);
        enough = true;
        for (uint32_t i = 0; i < 1000 && enough; i++)
            enough = ask(&positions, &spaces[i % 50], i, i, &found_out);
        pf_address_cache_close(&positions);
        counting_close(&c);
        assert_true(left < 200);
    }
}

/* The number of a space that is over is given again, and what was known of that one is not known of the other. */
static void numbers_are_passed_again(void **state)
{
    (void)state;
    struct pf_address_cache positions;
    const char spaces[3] = {0};
    size_t found_out = 0;
    pf_address_cache_open(&positions, pf_allocator_or_default(NULL));
    for (uint32_t i = 0; i < 2; i++)
        assert_true(ask(&positions, &spaces[i], 1, i, &found_out));
    const uint32_t first = pf_address_cache_number(&positions, &spaces[0]);
    assert_true(pf_address_cache_retire(&positions, &first, 1));
    pf_address_cache_empty(&positions, first);
    assert_true(ask(&positions, &spaces[0], 1, 7, &found_out)); /* the number must not be passed to another space yet */
    assert_int_not_equal(pf_address_cache_number(&positions, &spaces[0]), first);
    assert_true(pf_address_cache_reuse(&positions, &first, 1));
    assert_true(ask(&positions, &spaces[2], 1, 8, &found_out));
    assert_int_equal(pf_address_cache_number(&positions, &spaces[2]), first);
    assert_true(ask(&positions, &spaces[1], 1, 1, &found_out));
    assert_int_equal(found_out, 4);
    assert_int_equal(positions.count, 3);
    pf_address_cache_close(&positions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_space_has_its_own),   cmocka_unit_test(others_may_look),
        cmocka_unit_test(old_spaces_are_discarded), cmocka_unit_test(memory_may_be_short),
        cmocka_unit_test(numbers_are_passed_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
