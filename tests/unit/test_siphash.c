/* SPDX-License-Identifier: MIT */
#include "base/siphash.h"

#include "made.h"

/* Of the paper (appendix A) and the vectors of its reference implementation: the bytes count up from 0. */
static void test_vectors(void **state)
{
    static const struct {
        size_t bytes;
        uint64_t hash;
    } vectors[] = {{0, 0x726fdb47dd0e0e31}, {8, 0x93f5f5799a932462}, {15, 0xa129ca6149be45e5}};
    const uint64_t key[2] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
    uint8_t data[16];
    (void)state;
    for (uint8_t i = 0; i < sizeof(data); i++)
        data[i] = i;
    for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
        uint8_t *block = made_block(data, vectors[i].bytes);
        assert_int_equal(pf_siphash(key, block, vectors[i].bytes), vectors[i].hash);
        free(block);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
