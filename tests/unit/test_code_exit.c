/* SPDX-License-Identifier: MIT */
/* Where return addresses are, as the code of functions shows it; the code is what assemblers make of the comments. */
#include "base/bytes.h"
#include "counting.h"
#include "symbol/unwind/code_exit.h"

enum { BX = 3, BP = 5, R12 = 12, NONE = -1 };

/* Where the first exit finds the return address, and one register. */
struct exit_of {
    const char *name, *code;
    size_t bytes, at;
    bool is_32;
    bool has_exit, by_fp, is_jump;
    int offset;
    int number, saved; /* NONE: no register is loaded */
};
#define CODE(text) text, sizeof(text) - 1

static const struct exit_of exits[] = {
    {"ret", CODE("\xc3"), .has_exit = true, .number = NONE},
    {"sub $24,%rsp; call; add $24,%rsp; pop %rbx; pop %r12; ret, after the call",
     CODE("\x48\x83\xec\x18\xe8\1\0\0\0\x48\x83\xc4\x18\x5b\x41\x5c\xc3"), .at = 9, .has_exit = true, .offset = 40,
     .number = R12, .saved = 32},
    {"the same, from its beginning: what it pushes itself it takes back",
     CODE("\x53\x48\x83\xec\x10\x48\x83\xc4\x10\x5b\xc3"), .has_exit = true, .number = BX, .saved = NONE},
    {"add $0x118,%rsp; ret", CODE("\x48\x81\xc4\x18\1\0\0\xc3"), .has_exit = true, .offset = 0x118, .number = NONE},
    {"lea 16(%rsp),%rsp; ret", CODE("\x48\x8d\x64\x24\x10\xc3"), .has_exit = true, .offset = 16, .number = NONE},
    {"mov 8(%rsp),%rbp; add $16,%rsp; ret", CODE("\x48\x8b\x6c\x24\x08\x48\x83\xc4\x10\xc3"), .has_exit = true,
     .offset = 16, .number = BP, .saved = 8},
    {"leave; ret", CODE("\xc9\xc3"), .has_exit = true, .by_fp = true, .offset = 8, .number = BP, .saved = 0},
    {"lea -8(%rbp),%rsp; pop %rbx; pop %rbp; ret", CODE("\x48\x8d\x65\xf8\x5b\x5d\xc3"), .has_exit = true,
     .by_fp = true, .offset = 8, .number = BX, .saved = -8},
    {"push %rbp; mov %rsp,%rbp; and $-32,%rsp; leave; ret", CODE("\x55\x48\x89\xe5\x48\x83\xe4\xe0\xc9\xc3"),
     .has_exit = true, .number = BP, .saved = NONE},
    {"sub %rax,%rsp; ret: by how much is not known", CODE("\x48\x29\xc4\xc3"), .number = NONE},
    {"mov (%rdi),%rsp; ret: another stack", CODE("\x48\x8b\x27\xc3"), .number = NONE},
    {"a loop, of which je leads out to ret", CODE("\x74\x02\xeb\xfc\xc3"), .has_exit = true, .number = NONE},
    {"a loop without end", CODE("\x90\xeb\xfd"), .number = NONE},
    {"je over ud2; ret", CODE("\x74\x02\x0f\x0b\xc3"), .has_exit = true, .number = NONE},
    {"hlt; ret", CODE("\xf4\xc3"), .number = NONE},
    {"jmp *(%rip): to a function elsewhere", CODE("\xff\x25\0\0\0\0"), .has_exit = true, .is_jump = true,
     .number = NONE},
    {"jmp out of the code", CODE("\xeb\x70"), .number = NONE},
    {"an instruction that is cut", CODE("\x48\x83"), .number = NONE},
    {"call of the next instruction; pop %ebx; ret, 32 bits", CODE("\xe8\0\0\0\0\x5b\xc3"), .is_32 = true,
     .has_exit = true, .number = BX, .saved = NONE},
    {"mov (%si),%bp at the end, an address of 16 bits", CODE("\x67\x8b\x2c"), .is_32 = true, .number = NONE},
    {"add $12,%esp; pop %ebx; ret, 32 bits", CODE("\x83\xc4\x0c\x5b\xc3"), .is_32 = true, .has_exit = true,
     .offset = 16, .number = BX, .saved = 12},
};

static void expect_exit(const struct exit_of *expected)
{
    struct pf_code_walk walk;
    struct pf_code_exit exit = {.is_jump = false};
    pf_code_walk_start(&walk, !expected->is_32, (const uint8_t *)expected->code, expected->bytes, expected->at);
    const bool has_exit = pf_code_walk_next(&walk, &exit);
    if (has_exit != expected->has_exit)
        fail_msg("%s: %d", expected->name, has_exit);
    if (!has_exit)
        return;
    if (!exit.address.is_known || exit.address.by_fp != expected->by_fp || exit.address.offset != expected->offset ||
        exit.is_jump != expected->is_jump)
        fail_msg("%s: at %d", expected->name, exit.address.offset);
    if (expected->number != NONE &&
        (exit.saved[expected->number].is_known != (expected->saved != NONE) ||
         (expected->saved != NONE && exit.saved[expected->number].offset != expected->saved)))
        fail_msg("%s: register at %d", expected->name, exit.saved[expected->number].offset);
}

static void test_exits(void **state)
{
    (void)state;
    for (size_t i = 0; i < PF_COUNT(exits); i++)
        expect_exit(&exits[i]);
}

/* cmp; je to the second ret, which is 8 bytes further up the stack */
static void test_further_exits(void **state)
{
    (void)state;
    static const uint8_t code[] = "\x74\x01\xc3\x58\xc3";
    struct pf_code_walk walk;
    struct pf_code_exit exit;
    pf_code_walk_start(&walk, true, code, sizeof(code) - 1, 0);
    assert_true(pf_code_walk_next(&walk, &exit));
    assert_int_equal(exit.address.offset, 0);
    assert_true(pf_code_walk_next(&walk, &exit));
    assert_int_equal(exit.address.offset, 8);
    assert_false(pf_code_walk_next(&walk, &exit));
}

static void test_called(void **state)
{
    (void)state;
    static const uint8_t code[] = "\xe8\0\0\0\0\x90\xff\xd0\x90\x90\xff\x55\x08";
    static const bool called[] = {0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1};
    for (size_t at = 0; at < sizeof(code); at++)
        assert_int_equal(pf_code_is_called(true, code, sizeof(code) - 1, at), called[at]);
    assert_false(pf_code_is_called(true, code, sizeof(code) - 1, sizeof(code) + 100));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exits),
        cmocka_unit_test(test_further_exits),
        cmocka_unit_test(test_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
