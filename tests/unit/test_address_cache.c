/* SPDX-License-Identifier: MIT */
#include "analysis/address_cache.h"

#include "base/bytes.h"

#include "counting.h"

/* What is stored for an address, which is found out again when it was forgotten. False when out of memory. */
static bool ask(struct pf_address_cache *places, const void *space, uint64_t ip, uint32_t value, size_t *found_out)
{
    struct pf_address_slot *place;
    if (pf_address_cache_number(places, space) == UINT32_MAX || !(place = pf_address_cache_find(places, ip)))
        return false;
    if (!place->value) {
        pf_address_cache_fill(places, place, value);
        ++*found_out;
    }
    assert_int_equal(place->value - 1, value);
    return true;
}

static void each_space_has_its_own(void **state)
{
    enum { ADDRESSES = 5000 };
    (void)state;
    struct counting c;
    struct pf_address_cache places;
    const char spaces[3] = {0};
    size_t found_out = 0;
    counting_open(&c, -1);
    pf_address_cache_open(&places, &c.allocator);
    for (int again = 0; again < 2; again++)
        for (uint32_t i = 0; i < ADDRESSES; i++)
            for (uint32_t space = 0; space < 3; space++) /* also those of no address space */
                assert_true(
                    ask(&places, space ? &spaces[space] : NULL, i * (uint64_t)4096, space << 16 | i, &found_out));
    assert_int_equal(found_out, 3 * ADDRESSES);
    assert_true(places.bytes == c.live_bytes - places.room * sizeof(*places.tables) -
                                    places.numbers.size * sizeof(*places.numbers.slots));
    pf_address_cache_close(&places);
    counting_close(&c);
}

/* Spaces that come and go cost no more than those that are there. */
static void old_spaces_are_forgotten(void **state)
{
    enum { SPACES = 2000, ADDRESSES = 1000 };
    (void)state;
    struct pf_address_cache places;
    static const char spaces[SPACES];
    size_t found_out = 0, most = 0;
    pf_address_cache_open(&places, pf_allocator_or_default(NULL));
    for (uint32_t space = 0; space < SPACES; space++)
        for (uint32_t i = 0; i < ADDRESSES; i++) {
            assert_true(ask(&places, &spaces[space], i, i ^ space, &found_out));
            assert_true(ask(&places, &spaces[0], i, i, &found_out)); /* always there, as the kernel is */
            most = pf_max(most, places.bytes);
        }
    assert_int_equal(found_out, SPACES * ADDRESSES);
    assert_true(most < SPACES * ADDRESSES * sizeof(struct pf_address_slot) / 4);
    for (uint32_t i = 0; i < ADDRESSES; i++)
        assert_true(ask(&places, &spaces[1], i, i ^ 1, &found_out));
    assert_int_equal(found_out, (SPACES + 1) * ADDRESSES);
    pf_address_cache_close(&places);
}

static void memory_may_be_short(void **state)
{
    (void)state;
    bool enough = false;
    for (int left = 0; !enough; left++) {
        struct counting c;
        struct pf_address_cache places;
        const char spaces[50] = {0};
        size_t found_out = 0;
        counting_open(&c, left);
        pf_address_cache_open(&places, &c.allocator);
        enough = true;
        for (uint32_t i = 0; i < 1000 && enough; i++)
            enough = ask(&places, &spaces[i % 50], i, i, &found_out);
        pf_address_cache_close(&places);
        counting_close(&c);
        assert_true(left < 200);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_space_has_its_own),
        cmocka_unit_test(old_spaces_are_forgotten),
        cmocka_unit_test(memory_may_be_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
