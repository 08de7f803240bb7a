/* SPDX-License-Identifier: MIT */
#include "symbol/unwind/callchain.h"

#include "counting.h"

static struct perfile_u64s numbers(const uint64_t *values, uint64_t count)
{
    return (struct perfile_u64s){.data = (const uint8_t *)values, .count = count};
}

static void markers_are_no_addresses(void **state)
{
    (void)state;
    const uint64_t values[] = {PERFILE_CONTEXT_KERNEL,
                               0xffffffff81000000,
                               PERFILE_CONTEXT_USER,
                               0x1000,
                               (uint64_t)-2048,
                               0x2000,
                               PERFILE_CONTEXT_USER_DEFERRED,
                               77};
    const unsigned modes[] = {PERFILE_MISC_KERNEL, PERFILE_MISC_USER, 0};
    const uint64_t addresses[] = {0xffffffff81000000, 0x1000, 0x2000};
    const struct perfile_u64s ips = numbers(values, PF_COUNT(values));
    struct pf_callchain_walk walk = pf_callchain_start(&ips);
    size_t count = 0;
    for (uint64_t ip; pf_callchain_next(&walk, &ip); count++) {
        assert_true(count < PF_COUNT(modes));
        assert_int_equal(ip, addresses[count]);
        assert_int_equal(walk.mode, modes[count]);
    }
    assert_int_equal(count, PF_COUNT(modes));
}

static void cookie_is_consumed_off(void **state)
{
    (void)state;
    const uint64_t values[] = {0x1000, PERFILE_CONTEXT_USER_DEFERRED, 77};
    struct perfile_u64s ips = numbers(values, 3), none = numbers(values, 2);
    uint64_t cookie = 0;
    assert_true(pf_held_take_cookie(&ips, &cookie));
    assert_int_equal(cookie, 77);
    assert_int_equal(ips.count, 1);
    assert_false(pf_held_take_cookie(&ips, &cookie));
    assert_false(pf_held_take_cookie(&none, &cookie));
}

static void branches_are_the_user_part(void **state)
{
    (void)state;
    const uint64_t chain[] = {PERFILE_CONTEXT_KERNEL, 0xffffffff81000000, PERFILE_CONTEXT_USER, 0x1000};
    const uint64_t branches[] = {0x1800, 0x2000, 0, 0x900, 0x1700, 0};
    struct perfile_sample sample = {.size = sizeof(sample), .ip = 0x1004, .callchain = numbers(chain, 4)};
    uint64_t addresses[4];
    sample.branch_stack = (struct perfile_branch_stack){.count = 2, .entries = numbers(branches, 6)};
    assert_int_equal(pf_callchain_branches(&sample, &sample.callchain, addresses, 4), 3);
    assert_int_equal(addresses[0], 0x1004);
    assert_int_equal(addresses[1], 0x1800);
    assert_int_equal(addresses[2], 0x900);
    assert_int_equal(sample.callchain.count, 2);
    assert_int_equal(pf_callchain_branches(&sample, &sample.callchain, addresses, 4), 0); /* no user part is left */
    sample.callchain.count = 4;
    assert_int_equal(pf_callchain_branches(&sample, &sample.callchain, addresses, 2), 2);
    sample.callchain.count = 4;
    sample.branch_stack.count = 0;
    assert_int_equal(pf_callchain_branches(&sample, &sample.callchain, addresses, 4), 0);
    assert_int_equal(sample.callchain.count, 4);
}

static void held_samples_go_by_thread_oldest_first(void **state)
{
    (void)state;
    struct counting c;
    struct pf_held_list list;
    uint8_t data[8] = {1};
    struct perfile_record record = {.data = data, .bytes = sizeof(data)};
    const int32_t first = 1, second = 2;
    counting_open(&c, -1);
    pf_held_open(&list, &c.allocator);
    for (uint64_t i = 0; i < 4; i++)
        assert_true(pf_held_add(&list, &record, i % 2 ? second : first, i));
    memset(data, 0, sizeof(data)); /* what is held is a copy */
    struct pf_held *held = pf_held_take(&list, &second);
    assert_int_equal(held->cookie, 1);
    assert_int_equal(held->record.data[0], 1);
    pf_held_free(&list, held);
    pf_held_free(&list, held = pf_held_take(&list, &second));
    assert_null(pf_held_take(&list, &second));
    assert_true(pf_held_add(&list, &record, second, 9)); /* after the last that is left */
    held = pf_held_take(&list, NULL);
    assert_int_equal(held->cookie, 0);
    pf_held_free(&list, held);
    held = pf_held_take(&list, NULL);
    assert_int_equal(held->cookie, 2);
    pf_held_free(&list, held);
    assert_false(pf_held_is_full(&list));
    pf_held_close(&list);
    counting_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markers_are_no_addresses),
        cmocka_unit_test(cookie_is_consumed_off),
        cmocka_unit_test(branches_are_the_user_part),
        cmocka_unit_test(held_samples_go_by_thread_oldest_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
