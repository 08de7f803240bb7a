/* SPDX-License-Identifier: MIT */
#include "base/build_id.h"

#include "made.h"

static const uint8_t id[20] = {1, 2, 3, 4, 5, 6, 7, 8};

static void put_note(struct made *m, uint32_t type, const char *name, uint32_t bytes)
{
    const uint32_t name_bytes = (uint32_t)strlen(name) + 1;
    made_u32(m, name_bytes);
    made_u32(m, bytes);
    made_u32(m, type);
    made_name(m, name);
    made_fill(m, 0, -name_bytes & 3);
    made_fill(m, 0xab, bytes);
    made_fill(m, 0, -bytes & 3);
}

/* After notes of other types and names, with lengths that need padding; in both byte orders. */
static void test_notes(void **state)
{
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        struct made m = {.swap = swap};
        uint8_t found[20] = {0};
        put_note(&m, 3, "Linux", 5);
        put_note(&m, 1, "GNU", 16);
        put_note(&m, 3, "GNU", 0);
        put_note(&m, 3, "GNU", 18);
        assert_int_equal(pf_notes_build_id(m.data, m.bytes, swap, found), 18);
        assert_int_equal(found[17], 0xab);
        assert_int_equal(found[18], 0);
        assert_int_equal(pf_notes_build_id(m.data, m.bytes - 2, swap, found), 18); /* padding that is missing */
        assert_int_equal(pf_notes_build_id(m.data, m.bytes, !swap, found), 0);
        for (size_t bytes = 0; bytes < m.bytes - 2; bytes++)
            assert_int_equal(pf_notes_build_id(m.data, bytes, swap, found), 0);
    }
}

static void test_long_id(void **state)
{
    (void)state;
    struct made m = {0};
    uint8_t found[20];
    put_note(&m, 3, "GNU", 32);
    assert_int_equal(pf_notes_build_id(m.data, m.bytes, false, found), 20);
}

/* Recordings pad short ids with zeros. */
static void test_same(void **state)
{
    (void)state;
    uint8_t other[20];
    memcpy(other, id, sizeof(id));
    assert_int_equal(pf_build_id_length(id, 20), 8);
    assert_int_equal(pf_build_id_length(id, 3), 3);
    assert_int_equal(pf_build_id_length(id + 8, 12), 0);
    assert_true(pf_build_id_is_same(id, 20, other, 8));
    assert_false(pf_build_id_is_same(id, 20, other, 7));
    other[19] = 1;
    assert_false(pf_build_id_is_same(id, 20, other, 20));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_long_id),
        cmocka_unit_test(test_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
