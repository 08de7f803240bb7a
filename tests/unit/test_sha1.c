/* SPDX-License-Identifier: MIT */
#include "base/sha1.h"

#include <stdio.h>

#include "made.h"

static void expect(const void *data, size_t bytes, const char *digest)
{
    uint8_t found[PF_SHA1_BYTES];
    char text[2 * PF_SHA1_BYTES + 1];
    uint8_t *block = made_block(data, bytes);
    pf_sha1(block, bytes, found);
    for (size_t i = 0; i < PF_SHA1_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", found[i]);
    assert_string_equal(text, digest);
    free(block);
}

/* Of FIPS 180-4 and its examples, and lengths around that of a block (by sha1sum). */
static void test_digests(void **state)
{
    static const char long_text[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    static uint8_t many[1000000];
    (void)state;
    memset(many, 'a', sizeof(many));
    expect("", 0, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    expect("abc", 3, "a9993e364706816aba3e25717850c26c9cd0d89d");
    expect(long_text, sizeof(long_text) - 1, "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    expect(many, sizeof(many), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    expect(many, 55, "c1c8bbdc22796e28c0e15163d20899b65621d65a");
    expect(many, 63, "03f09f5b158a7a8cdad920bddc29b81c18a551f5");
    expect(many, 64, "0098ba824b5c16427bd7a1122a5a442a25ec644d");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_digests)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
