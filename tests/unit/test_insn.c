/* SPDX-License-Identifier: MIT */
#include "symbol/unwind/insn.h"

#include <elf.h>

#include "made.h"

struct known {
    const char *code; /* with what follows it */
    unsigned capacity;
    unsigned bytes; /* 0: not an instruction */
    bool jumps;
};

#define CODE(text, bytes, jumps)                                                                                       \
    {                                                                                                                  \
        text, sizeof(text) - 1, bytes, jumps                                                                           \
    }
#define REST "\x90\x90\x90\x90\x90\x90\x90\x90"

static void check(const struct pf_insn_machine *machine, const struct known *known, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct pf_insn insn;
        const bool found = pf_insn_decode(machine, (const uint8_t *)known[i].code, known[i].capacity, &insn);
        if (found != (known[i].bytes != 0) || insn.bytes != known[i].bytes || insn.jumps != known[i].jumps)
            fail_msg("row %zu: %u bytes", i, insn.bytes);
    }
}

static void x86_64(void **state)
{
    static const struct pf_insn_machine machine = {EM_X86_64, true, false};
    static const struct known known[] = {
        CODE("\x90" REST, 1, false),
        CODE("\xc3" REST, 1, true),
        CODE("\xe8\1\2\3\4" REST, 5, true),
        CODE("\x66\xe9\1\2\3\4" REST, 6, true), /* the prefix does not shorten it */
        CODE("\xeb\xfe" REST, 2, true),
        CODE("\x75\xfe" REST, 2, false),                   /* conditional */
        CODE("\xff\xd0" REST, 2, true),                    /* call *%rax */
        CODE("\xff\xc0" REST, 2, false),                   /* inc %eax */
        CODE("\x0f\x05" REST, 2, true),                    /* syscall */
        CODE("\x48\xb8\1\2\3\4\5\6\7\x8" REST, 10, false), /* movabs */
        CODE("\x66\xb8\1\2" REST, 4, false),
        CODE("\xa1\1\2\3\4\5\6\7\x8" REST, 9, false), /* movabs, moffs */
        CODE("\x67\xa1\1\2\3\4" REST, 6, false),
        CODE("\x8b\x04\x25\1\2\3\4" REST, 7, false),          /* mov 0x..., no base */
        CODE("\x8b\x84\x24\1\2\3\4" REST, 7, false),          /* mov 0x...(%rsp) */
        CODE("\x8b\x05\1\2\3\4" REST, 6, false),              /* %rip */
        CODE("\xf7\xc0\1\2\3\4" REST, 6, false),              /* test */
        CODE("\xf7\xd0" REST, 2, false),                      /* not */
        CODE("\xf6\x45\xfc\1" REST, 4, false),                /* testb */
        CODE("\x66\xc7\x00\1\2" REST, 5, false),              /* movw */
        CODE("\xc8\1\2\3" REST, 4, false),                    /* enter */
        CODE("\x66\x0f\x3a\x0f\xc1\4" REST, 6, false),        /* palignr */
        CODE("\x0f\xba\xe0\4" REST, 4, false),                /* bt */
        CODE("\xc5\xf8\x77" REST, 3, false),                  /* vzeroupper */
        CODE("\xc4\xe3\x7d\x39\xc1\1" REST, 6, false),        /* vextracti128 */
        CODE("\x62\xf1\x7c\x48\x28\x00" REST, 6, false),      /* vmovaps %zmm */
        CODE("\xd5\x00\xa1\1\2\3\4\5\6\7\x8" REST, 11, true), /* jmpabs */
        CODE("\xd5\x08\x8b\x05\1\2\3\4" REST, 8, false),      /* with the prefix REX2, */
        CODE("\xd5\x80\xba\xe0\4" REST, 5, false),            /* and of the opcodes after 0f */
        CODE("\xf3\x0f\x01\xca" REST, 4, true),               /* eretu */
        CODE("\xf2\x0f\x01\xca" REST, 4, true),               /* erets */
        CODE("\x0f\x01\xca" REST, 3, false),                  /* clac */
        CODE("\xf3\x0f\x01\xec" REST, 4, true),               /* uiret */
        CODE("\x62\xf3\x75\x48\x03\xc2\1" REST, 7, false),    /* valignd */
        CODE("\x8f\xe9\x78\x01\xc8" REST, 5, false),          /* XOP */
        CODE("\xea\1\2\3\4\5\6" REST, 1, false),              /* not in 64-bit code: nothing follows */
        CODE("\x0f\x04" REST, 0, false),
        CODE("\xe8\1\2\3", 0, false), /* cut off */
        CODE("\x48", 0, false),
        CODE("", 0, false),
        CODE("\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x90", 0, false), /* too long */
    };
    (void)state;
    check(&machine, known, PF_COUNT(known));
}

static void x86_32(void **state)
{
    static const struct pf_insn_machine machine = {EM_386, false, false};
    static const struct known known[] = {
        CODE("\x40" REST, 1, false),            /* inc, no REX */
        CODE("\xea\1\2\3\4\5\6" REST, 7, true), /* ljmp */
        CODE("\x66\xe9\1\2" REST, 4, true),
        CODE("\xa1\1\2\3\4" REST, 5, false),
        CODE("\x67\xa1\1\2" REST, 4, false),
        CODE("\x67\x8b\x06\1\2" REST, 5, false), /* 16-bit addressing */
        CODE("\x67\x8b\x46\1" REST, 4, false),
        CODE("\xc4\x00" REST, 2, false),     /* les */
        CODE("\xc5\xf8\x77" REST, 3, false), /* vzeroupper */
        CODE("\x62\x00" REST, 2, false),     /* bound */
    };
    (void)state;
    check(&machine, known, PF_COUNT(known));
}

static void others(void **state)
{
    static const struct known s390[] = {CODE("\x18\x12" REST, 2, false), CODE("\xb9\x08" REST, 4, false),
                                        CODE("\xeb\x01" REST, 6, false), CODE("\xeb\x01\x90\x90", 0, false)};
    static const struct known riscv[] = {CODE("\x7d\x55" REST, 2, false), CODE("\x17\x25\0\0" REST, 4, false)};
    static const struct known power[] = {CODE("\0\0\0\x60" REST, 4, false), CODE("\0\0\0\x06" REST, 8, false)};
    static const struct known four[] = {CODE("\x02\x00\x40\xb9" REST, 4, false), CODE("\x02\x00", 0, false)};
    static const struct known thumb[] = {CODE("\x70\x47" REST, 0, false)};
    (void)state;
    check(&(struct pf_insn_machine){EM_S390, true, true}, s390, PF_COUNT(s390));
    check(&(struct pf_insn_machine){EM_RISCV, true, false}, riscv, PF_COUNT(riscv));
    check(&(struct pf_insn_machine){EM_PPC64, true, false}, power, PF_COUNT(power));
    check(&(struct pf_insn_machine){EM_AARCH64, true, false}, four, PF_COUNT(four));
    check(&(struct pf_insn_machine){EM_ARM, false, false}, thumb, PF_COUNT(thumb));
}

/* Every start of bytes is an instruction or none, and none is longer than what is there. */
static void any_bytes(void **state)
{
    uint8_t code[17];
    struct pf_insn insn;
    uint64_t random = 1;
    (void)state;
    for (int round = 0; round < 200000; round++) {
        for (size_t i = 0; i < sizeof(code); i++)
            code[i] = (uint8_t)((random = random * 6364136223846793005ull + 1442695040888963407ull) >> 56);
        const size_t capacity = (size_t)round % sizeof(code);
        if (pf_insn_decode_x86(round & 1, code, capacity, &insn))
            assert_true(insn.bytes >= 1 && insn.bytes <= capacity && insn.bytes <= 15);
        else
            assert_int_equal(insn.bytes, 0);
    }
}

/* Where control goes after an instruction. */
static void flow(void **state)
{
    static const struct pf_insn_machine x86 = {EM_X86_64, true, false}, arm = {EM_AARCH64, true, false};
    static const struct {
        const struct pf_insn_machine *machine;
        const char *code;
        enum pf_insn_flow flow;
    } known[] = {
        {&x86, "\x75\xfe", PF_INSN_NEXT},           /* jne */
        {&x86, "\xeb\xfe", PF_INSN_JUMP},           /* jmp */
        {&x86, "\xff\xe0", PF_INSN_JUMP},           /* jmp *%rax */
        {&x86, "\xff\xd0", PF_INSN_CALL},           /* call *%rax */
        {&x86, "\xff\xc0", PF_INSN_NEXT},           /* inc %eax */
        {&x86, "\xe8\1\2\3\4", PF_INSN_CALL},       /* call */
        {&x86, "\xc3", PF_INSN_RETURN},             /* ret */
        {&x86, "\x0f\xc3\x00\x00", PF_INSN_NEXT},   /* movnti: another map */
        {&arm, "\x02\x00\x00\x14", PF_INSN_JUMP},   /* b */
        {&arm, "\x02\x00\x00\x94", PF_INSN_CALL},   /* bl */
        {&arm, "\x00\x02\x1f\xd6", PF_INSN_JUMP},   /* br x16 */
        {&arm, "\x00\x02\x3f\xd6", PF_INSN_CALL},   /* blr x16 */
        {&arm, "\xc0\x03\x5f\xd6", PF_INSN_RETURN}, /* ret */
        {&arm, "\x40\x00\x00\x54", PF_INSN_NEXT},   /* b.eq */
    };
    (void)state;
    for (size_t i = 0; i < PF_COUNT(known); i++) {
        struct pf_insn insn;
        uint8_t code[PF_INSN_BYTES_MAX] = {0};
        memcpy(code, known[i].code, known[i].code[0] == '\x0f' || known[i].machine == &arm ? 4 : strlen(known[i].code));
        assert_true(pf_insn_decode(known[i].machine, code, sizeof(code), &insn));
        if (insn.flow != known[i].flow)
            fail_msg("row %zu: %d", i, (int)insn.flow);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(x86_64), cmocka_unit_test(flow),      cmocka_unit_test(x86_32),
        cmocka_unit_test(others), cmocka_unit_test(any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
