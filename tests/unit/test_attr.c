/* SPDX-License-Identifier: MIT */
#include "format/attr.h"

#include "made.h"

enum { KNOWN_BYTES = 144 };

/* Every member has a value of its own: numbers their offset, bits their position modulo their width. */
static uint64_t value_at(size_t offset, unsigned bytes)
{
    uint64_t value = 0x0102030405060708ull * (offset + 1);
    return bytes == 8 ? value : value & ((1ull << 8 * bytes) - 1);
}

static void check_number(uint64_t got, size_t offset, unsigned width, size_t bytes)
{
    assert_true(got == (offset + width <= bytes ? value_at(offset, width) : 0));
}

static uint64_t bits_value(unsigned first, unsigned width)
{
    return (first * 5 + 3) & ((1ull << width) - 1);
}

static void store(uint8_t *to, uint64_t value, unsigned bytes, bool big)
{
    for (unsigned i = 0; i < bytes; i++)
        to[big ? bytes - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

static void make_attr(uint8_t *data, bool big)
{
    uint64_t word;
    unsigned word_bits;
    size_t word_at;
#define U16(offset, field, meaning, doc) store(data + (offset), value_at(offset, 2), 2, big);
#define U32(offset, field, meaning, doc) store(data + (offset), value_at(offset, 4), 4, big);
#define U64(offset, field, meaning, doc) store(data + (offset), value_at(offset, 8), 8, big);
#define S32(offset, field, meaning, doc) store(data + (offset), value_at(offset, 4), 4, big);
#define FLAGS(offset, bits) word = 0, word_at = (offset), word_bits = (bits);
#define BITS(first, width, field, doc)                                                                                 \
    word |= bits_value(first, width) << (big ? word_bits - (first) - (width) : (first));
#define END_FLAGS() store(data + word_at, word, word_bits / 8, big);
#include "schema/attr.def"
#include "schema/undef.h"
    store(data + 4, KNOWN_BYTES, 4, big);
}

static void check_attr(const uint8_t *data, size_t bytes, bool big)
{
    struct perfile_attr a;
    bool there;
    uint8_t *block = made_block(data, bytes);
    pf_attr_decode(block, bytes, big != PF_NATIVE_BIG_ENDIAN, big, &a);
    free(block);
#define U16(offset, field, meaning, doc) check_number(a.field, offset, 2, bytes);
#define U32(offset, field, meaning, doc)                                                                               \
    if ((offset) != 4)                                                                                                 \
        check_number(a.field, offset, 4, bytes);
#define U64(offset, field, meaning, doc) check_number(a.field, offset, 8, bytes);
#define S32(offset, field, meaning, doc) check_number((uint32_t)a.field, offset, 4, bytes);
#define FLAGS(offset, bits) there = (offset) + (bits) / 8 <= bytes;
#define BITS(first, width, field, doc) assert_true(a.field == (there ? bits_value(first, width) : 0));
#define END_FLAGS()
#include "schema/attr.def"
    assert_int_equal(a.size, KNOWN_BYTES);
}

static void test_every_member_in_both_orders(void **state)
{
    (void)state;
    uint8_t data[256] = {0};
    for (int big = 0; big < 2; big++) {
        make_attr(data, big);
        for (size_t bytes = 8; bytes <= sizeof(data); bytes++)
            check_attr(data, bytes, big);
    }
}

static void test_stated_size(void **state)
{
    (void)state;
    uint8_t data[64] = {0};
    struct perfile_attr attr;
    assert_int_equal(pf_attr_stated_bytes(data, false), PF_ATTR_SIZE_MIN);
    pf_attr_decode(data, sizeof(data), false, false, &attr);
    assert_int_equal(attr.size, PF_ATTR_SIZE_MIN);
    store(data + 4, 136, 4, true);
    assert_int_equal(pf_attr_stated_bytes(data, !PF_NATIVE_BIG_ENDIAN), 136);
}

/* What is shown ends where the attr ends. */
static void test_emit(void **state)
{
    (void)state;
    static const struct {
        size_t bytes;
        const char *last;
        const char *next;
    } cases[] = {
        {64, "bp_addr_or_config1", "bp_len_or_config2"},
        {72, "bp_len_or_config2", "branch_sample_type"},
        {96, "clockid", "sample_regs_intr"},
        {112, "__reserved_2", "aux_sample_size"},
        {128, "sig_data", "config3"},
        {144, "config4", "\0"},
        {200, "config4", "\0"},
    };
    uint8_t data[256] = {0};
    for (size_t i = 0; i < 2 * PF_COUNT(cases); i++) {
        bool big = i % 2;
        struct shown s;
        shown_open(&s);
        make_attr(data, big);
        pf_attr_emit(&s.emit, "attr", data, cases[i / 2].bytes, big != PF_NATIVE_BIG_ENDIAN, big);
        const char *json = shown_json(&s);
        assert_memory_equal(json, "{\"type\":", 8);
        assert_non_null(strstr(json, cases[i / 2].last));
        assert_true(*cases[i / 2].next == '\0' || strstr(json, cases[i / 2].next) == NULL);
        assert_non_null(strstr(json, "\"precise_ip\":2,"));
        shown_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_member_in_both_orders),
        cmocka_unit_test(test_stated_size),
        cmocka_unit_test(test_emit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
