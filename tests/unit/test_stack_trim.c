/* SPDX-License-Identifier: MIT */
/* Samples without the unused end of their stack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "record/stack_trim.h"

static void the_unused_end_is_cut_off(void **state)
{
    struct pf_listed_event event = {
        .attr = {.sample_type = PERFILE_SAMPLE_IP | PERFILE_SAMPLE_STACK_USER | PERFILE_SAMPLE_TRANSACTION,
                 .sample_stack_user = 32}};
    const struct pf_event_list chosen = {.allocator = pf_allocator_or_default(NULL), .items = &event, .count = 1};
    const struct {
        uint32_t type;
        uint16_t misc, bytes;
        uint64_t ip, size, stack[4], used, transaction;
    } sample = {PERFILE_RECORD_SAMPLE, 2, sizeof(sample), 0x1000, 32, {1, 2, 3, 4}, 13, 99};
    const uint64_t expected[] = {0x1000, 16, 1, 2, 13, 99};
    struct pf_stack_trim trim;
    uint64_t copy[16];
    (void)state;
    assert_true(pf_stack_trim_open(&trim, &chosen));
    assert_int_equal(pf_stack_trim_sample(&trim, 0, (const uint8_t *)&sample, (uint8_t *)copy), 8 + sizeof(expected));
    assert_memory_equal(copy + 1, expected, sizeof(expected));
    assert_int_equal(pf_stack_trim_sample(&trim, 1, (const uint8_t *)&sample, (uint8_t *)copy), 0); /* no such event */
    pf_stack_trim_close(&trim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_unused_end_is_cut_off)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
