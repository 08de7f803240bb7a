/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/bytes.h"
#include "made_cfi.h"
#include "symbol/unwind/unwind.h"

enum { STACK = 0x7f000, STACK_WORDS = 96 };

static int open_blob(const struct blob *file, const struct perfile_allocator *allocator, struct pf_cfi **cfi,
                     struct perfile_error *error)
{
    char path[] = "/tmp/perfile-unwind-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, file->data, file->used), (ssize_t)file->used);
    close(fd);
    int result = pf_cfi_open(path, NULL, allocator, cfi, error);
    unlink(path);
    return result;
}

/* ---- a process to unwind ----------------------------------------------------------------------------------------- */

struct process {
    struct pf_cfi *cfi;
    struct perfile_sample sample;
    uint64_t registers[64];
    uint8_t stack[STACK_WORDS * 8];
    bool big;
    uint64_t addresses[32];
    size_t count;
};

static bool locate(void *context, uint64_t address, struct pf_unwind_location *location)
{
    struct process *p = context;
    *location = (struct pf_unwind_location){.cfi = p->cfi, .elf_address = address, .executable = true};
    return address >= CODE && address < CODE + CODE_BYTES;
}

static uint64_t as_recorded(const struct process *p, uint64_t value)
{
    return p->big != PF_NATIVE_BIG_ENDIAN ? __builtin_bswap64(value) : value;
}

static void start(struct process *p, struct pf_cfi *cfi, bool big)
{
    memset(p, 0, sizeof(*p));
    p->cfi = cfi;
    p->big = big;
    p->sample = (struct perfile_sample)PERFILE_SAMPLE_INIT;
    p->sample.present = PERFILE_SAMPLE_REGS_USER | PERFILE_SAMPLE_STACK_USER;
    p->sample.regs_user = (struct perfile_regs){.abi = 2, .mask = UINT64_MAX};
    p->sample.regs_user.values =
        (struct perfile_u64s){.data = (uint8_t *)p->registers, .count = 64, .swapped = big != PF_NATIVE_BIG_ENDIAN};
    p->sample.stack_user = (struct perfile_stack){p->stack, sizeof(p->stack), sizeof(p->stack), sizeof(p->stack)};
}

static void set_register(struct process *p, unsigned bit, uint64_t value)
{
    p->registers[bit] = as_recorded(p, value);
}

static void set_word64(struct process *p, unsigned index, uint64_t value)
{
    value = as_recorded(p, value);
    memcpy(p->stack + 8 * index, &value, 8);
}

static void set_word32(struct process *p, unsigned index, uint32_t value)
{
    value = p->big != PF_NATIVE_BIG_ENDIAN ? __builtin_bswap32(value) : value;
    memcpy(p->stack + 4 * index, &value, 4);
}

static int unwind(struct process *p, const char *arch)
{
    struct pf_unwound unwound = {.addresses = p->addresses, .capacity = PF_COUNT(p->addresses)};
    const int end = pf_unwind_sample(&p->sample, arch, locate, p, &unwound);
    p->count = unwound.count;
    return end;
}

static void expect(const struct process *p, const uint64_t *addresses, size_t count)
{
    assert_int_equal(p->count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(p->addresses[i], addresses[i]);
}

#define EXPECT(process, ...)                                                                                           \
    expect(process, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* ---- x86-64 ------------------------------------------------------------------------------------------------------ */

enum { X86_BX = 1, X86_BP = 6, X86_SP = 7, X86_IP = 8 };

/* CFA = rsp + 8, return address at CFA - 8 */
#define X86_ENTRY 0x0c, 7, 8, 0x90, 1

/*
 * 0x1100 a leaf; 0x1200 push rbp at 4, push rbx at 8; 0x1300 the outermost; 0x1400 a signal's trampoline (registers 80
 * bytes above); 0x1500 CFA by expression: what rbp points at; 0x1600 saves its state for an early return; 0x1700 pops
 * rbx at 7, rbp at 8; 0x1800 CFA by rbp, which it pops at 9; 0x1900 keeps rbp below the stack pointer.
 */
static struct blob x86_cfi(void)
{
    struct blob b = {.is_64 = true};
    size_t cie = put_cie(&b, "zR", 16, PROGRAM(X86_ENTRY));
    size_t signal = put_cie(&b, "zRS", 16, PROGRAM(X86_ENTRY));
    put_fde(&b, cie, 0x1200, 0x20, PROGRAM(0x44, 0x0e, 16, 0x86, 2, 0x44, 0x0e, 24, 0x83, 3));
    put_fde(&b, cie, 0x1100, 0x20, NULL, 0); /* not in order */
    put_fde(&b, cie, 0x1300, 0x20, PROGRAM(0x07, 16));
    /* def_cfa_expression breg7 0 plus_uconst 80 deref; rip expression breg7 88; rbx val_expression lit5 */
    put_fde(&b, signal, 0x13ff, 0x20,
            PROGRAM(0x0f, 5, 0x77, 0, 0x23, 80, 0x06, 0x10, 16, 3, 0x77, 0xd8, 0x00, 0x16, 3, 1, 0x35));
    put_fde(&b, cie, 0x1500, 0x20, PROGRAM(0x0f, 3, 0x76, 0, 0x06));
    put_fde(&b, cie, 0x1600, 0x20, PROGRAM(0x41, 0x0e, 16, 0x0a, 0x47, 0x0e, 8, 0x48, 0x0b));
    put_fde(&b, cie, 0x1700, 0x20,
            PROGRAM(0x41, 0x0e, 16, 0x86, 2, 0x41, 0x0e, 24, 0x83, 3, 0x46, 0x0e, 16, 0x41, 0x0e, 8));
    put_fde(&b, cie, 0x1800, 0x20, PROGRAM(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x83, 3, 0x46, 0x0c, 7, 8));
    put_fde(&b, cie, 0x1900, 0x20, PROGRAM(0x44, 0x86, 2));
    return b;
}

static struct pf_cfi *open_x86(struct counting *c)
{
    struct blob cfi = x86_cfi(), file = make_elf(EM_X86_64, &cfi, ".eh_frame", NULL);
    struct pf_cfi *opened;
    counting_open(c, -1);
    assert_int_equal(open_blob(&file, &c->allocator, &opened, NULL), 0);
    return opened;
}

static void start_x86(struct process *p, struct pf_cfi *cfi, uint64_t ip)
{
    start(p, cfi, PF_NATIVE_BIG_ENDIAN);
    set_register(p, X86_SP, STACK);
    set_register(p, X86_IP, ip);
}

static void test_chain(void **state)
{
    (void)state;
    struct counting c;
    struct process p;
    struct pf_cfi *cfi = open_x86(&c);
    start_x86(&p, cfi, 0x1105);
    set_word64(&p, 0, 0x1210); /* the leaf's caller, after its pushes */
    set_word64(&p, 1, 7);
    set_word64(&p, 2, 8);
    set_word64(&p, 3, 0x1204); /* a call that is the last before a push: the row of the call counts */
    set_word64(&p, 4, 0x1310);
    assert_int_equal(unwind(&p, "x86_64"), PF_UNWIND_DONE);
    EXPECT(&p, 0x1105, 0x1210, 0x1204, 0x1310);
    pf_cfi_close(cfi);
    counting_close(&c);
}

static void test_signal_frame(void **state)
{
    (void)state;
    struct counting c;
    struct process p;
    struct pf_cfi *cfi = open_x86(&c);
    start_x86(&p, cfi, 0x1105);
    set_word64(&p, 0, 0x1400);          /* the handler returns to the trampoline's first instruction */
    set_word64(&p, 11, STACK + 8 * 20); /* rsp + 80: the interrupted stack pointer */
    set_word64(&p, 12, 0x1100);         /* it was interrupted at a function's first instruction */
    set_word64(&p, 20, 0x1310);
    assert_int_equal(unwind(&p, "x86_64"), PF_UNWIND_DONE);
    EXPECT(&p, 0x1105, 0x1401, 0x1101, 0x1310); /* both are one more than they are, so that 1 can be taken off */
    pf_cfi_close(cfi);
    counting_close(&c);
}

static void test_expression_and_states(void **state)
{
    (void)state;
    struct counting c;
    struct process p;
    struct pf_cfi *cfi = open_x86(&c);
    start_x86(&p, cfi, 0x1500);
    set_register(&p, X86_BP, STACK + 8 * 5);
    set_word64(&p, 5, STACK + 8 * 9); /* the CFA */
    set_word64(&p, 8, 0x160a);        /* within the early return */
    set_word64(&p, 9, 0x1612);        /* after it: the state is back */
    set_word64(&p, 11, 0x1301);
    assert_int_equal(unwind(&p, "x86_64"), PF_UNWIND_DONE);
    EXPECT(&p, 0x1500, 0x160a, 0x1612, 0x1301);
    pf_cfi_close(cfi);
    counting_close(&c);
}

/* After its pop a register has the caller's value, though the rule still names its word of the stack. */
static void test_popped_in_epilogue(void **state)
{
    (void)state;
    static const uint64_t after_pop[] = {0x1709, 0x180a};
    struct counting c;
    struct process p;
    struct pf_cfi *cfi = open_x86(&c);
    for (size_t i = 0; i < PF_COUNT(after_pop); i++) {
        start_x86(&p, cfi, after_pop[i]);
        set_register(&p, X86_BP, STACK + 8 * 4);
        set_word64(&p, 0, 0x1808);
        set_word64(&p, 5, 0x1310);
        assert_int_equal(unwind(&p, "x86_64"), PF_UNWIND_DONE);
        EXPECT(&p, after_pop[i], 0x1808, 0x1310);
    }
    set_register(&p, X86_IP, 0x1904); /* it may have changed what it keeps there */
    assert_int_equal(unwind(&p, "x86_64"), PF_UNWIND_NO_RULE);
    EXPECT(&p, 0x1904, 0x1808);
    pf_cfi_close(cfi);
    counting_close(&c);
}

static void test_ends(void **state)
{
    (void)state;
    struct counting c;
    struct process p;
    struct pf_cfi *cfi = open_x86(&c);
    start_x86(&p, cfi, 0x1105); /* a return address of 0 */
    assert_int_equal(unwind(&p, "x86_64"), PF_UNWIND_DONE);
    EXPECT(&p, 0x1105);
    set_word64(&p, 0, 0x9999); /* nothing is mapped there */
    assert_int_equal(unwind(&p, "x86_64"), PF_UNWIND_NO_RULE);
    EXPECT(&p, 0x1105);
    for (unsigned i = 0; i < STACK_WORDS; i++)
        set_word64(&p, i, 0x1110);
    assert_int_equal(unwind(&p, "x86_64"), PF_UNWIND_LIMIT);
    assert_int_equal(p.count, PF_COUNT(p.addresses));
    p.sample.stack_user.used = 24;
    assert_int_equal(unwind(&p, "x86_64"), PF_UNWIND_TRUNCATED);
    EXPECT(&p, 0x1105, 0x1110, 0x1110, 0x1110);
    set_register(&p, X86_IP, 0x77); /* an unknown address is returned, too */
    assert_int_equal(unwind(&p, "x86_64"), PF_UNWIND_NO_RULE);
    EXPECT(&p, 0x77);
    pf_cfi_close(cfi);
    counting_close(&c);
}

static void test_absent(void **state)
{
    (void)state;
    struct process p;
    start_x86(&p, NULL, 0x1105);
    assert_int_equal(unwind(&p, "vax"), PERFILE_ERROR_UNSUPPORTED);
    p.sample.regs_user.abi = 0;
    assert_int_equal(unwind(&p, "x86_64"), PERFILE_ERROR_ABSENT);
    p.sample.regs_user.abi = 2;
    p.sample.regs_user.mask = 1 << X86_SP;
    assert_int_equal(unwind(&p, "x86_64"), PERFILE_ERROR_ABSENT);
    p.sample.present = PERFILE_SAMPLE_REGS_USER;
    assert_int_equal(unwind(&p, "x86_64"), PERFILE_ERROR_ABSENT);
    assert_int_equal(p.count, 0);
}

static void test_frame_pointers(void **state)
{
    (void)state;
    struct process p;
    start_x86(&p, NULL, 0x1105);
    set_register(&p, X86_BP, STACK + 8 * 4);
    set_word64(&p, 4, STACK + 8 * 8);
    set_word64(&p, 5, 0x1205);
    set_word64(&p, 9, 0x1305);
    assert_int_equal(unwind(&p, "x86_64"), PF_UNWIND_DONE);
    EXPECT(&p, 0x1105, 0x1205, 0x1305);
    set_word64(&p, 8, STACK + 8 * 4); /* a ring */
    assert_int_equal(unwind(&p, "x86_64"), PF_UNWIND_NO_RULE);
    EXPECT(&p, 0x1105, 0x1205, 0x1305);
    set_register(&p, X86_BP, 0); /* not a frame pointer at all */
    assert_int_equal(unwind(&p, "x86_64"), PF_UNWIND_NO_RULE);
    EXPECT(&p, 0x1105);
}

/* ---- other machines ---------------------------------------------------------------------------------------------- */

static struct pf_cfi *open_cfi(uint16_t machine, const struct blob *cfi, const char *name, const struct blob *exidx)
{
    struct blob file = make_elf(machine, cfi, name, exidx);
    struct pf_cfi *opened;
    assert_int_equal(open_blob(&file, NULL, &opened, NULL), 0);
    return opened;
}

static void test_i386(void **state)
{
    (void)state;
    struct process p;
    struct blob b = {.is_64 = false};
    size_t cie = put_cie(&b, "zR", 8, PROGRAM(0x0c, 4, 4, 0x88, 1));
    put_fde(&b, cie, 0x1100, 0x20, PROGRAM(0x41, 0x0e, 8, 0x85, 2));
    put_fde(&b, cie, 0x1300, 0x20, PROGRAM(0x07, 8));
    struct pf_cfi *cfi = open_cfi(EM_386, &b, ".eh_frame", NULL);
    start(&p, cfi, PF_NATIVE_BIG_ENDIAN);
    set_register(&p, X86_SP, STACK);
    set_register(&p, X86_IP, 0x1108);
    set_word32(&p, 1, 0x1108);
    set_word32(&p, 3, 0x1308);
    assert_int_equal(unwind(&p, "i686"), PF_UNWIND_DONE);
    EXPECT(&p, 0x1108, 0x1108, 0x1308);
    p.sample.regs_user.abi = 1; /* a 32-bit program on a 64-bit kernel */
    assert_int_equal(unwind(&p, "x86_64"), PF_UNWIND_DONE);
    EXPECT(&p, 0x1108, 0x1108, 0x1308);
    p.sample.regs_user.abi = 2; /* another machine's rules are not used */
    assert_int_equal(unwind(&p, "x86_64"), PF_UNWIND_NO_RULE);
    pf_cfi_close(cfi);
}

/* x29 and x30 below the CFA, the return addresses signed */
static void test_aarch64(void **state)
{
    (void)state;
    struct process p;
    struct blob b = {.is_64 = true};
    size_t cie = put_cie(&b, "zRB", 30, PROGRAM(0x0c, 31, 0));
    put_fde(&b, cie, 0x1100, 0x20, NULL, 0);
    put_fde(&b, cie, 0x1200, 0x20, PROGRAM(0x2d, 0x44, 0x0e, 32, 0x9d, 4, 0x9e, 3));
    put_fde(&b, cie, 0x1300, 0x20, PROGRAM(0x07, 30));
    struct pf_cfi *cfi = open_cfi(EM_AARCH64, &b, ".eh_frame", NULL);
    start(&p, cfi, PF_NATIVE_BIG_ENDIAN);
    set_register(&p, 31, STACK);
    set_register(&p, 32, 0x1104);
    set_register(&p, 30, 0x7f00000000001210);
    set_word64(&p, 1, 0x0042000000001214);
    set_word64(&p, 5, 0x003a000000001310);
    assert_int_equal(unwind(&p, "aarch64"), PF_UNWIND_DONE);
    EXPECT(&p, 0x1104, 0x1210, 0x1214, 0x1310);
    set_register(&p, 32, 0x1204); /* returns into a leaf, which calls no function: the link register is not believed */
    set_register(&p, 30, 0x1110);
    set_word64(&p, 1, 0x1110);
    assert_int_equal(unwind(&p, "aarch64"), PF_UNWIND_NO_RULE);
    EXPECT(&p, 0x1204, 0x1110);
    pf_cfi_close(cfi);
}

/* Where callchains of frame pointers have to be looked after. */
static void test_return_at(void **state)
{
    (void)state;
    struct blob b = {.is_64 = true};
    size_t cie = put_cie(&b, "zR", 65, PROGRAM(0x0c, 1, 0));
    put_fde(&b, cie, 0x1100, 0x40, PROGRAM(0x44, 0x0e, 32, 0x44, 0x11, 65, 0x7e));
    put_fde(&b, cie, 0x1200, 0x40, PROGRAM(0x07, 65));
    struct pf_cfi *cfi = open_cfi(EM_PPC64, &b, ".eh_frame", NULL);
    assert_int_equal(pf_unwind_return_at(cfi, 0x1100), PF_RETURN_IN_REGISTER);
    assert_int_equal(pf_unwind_return_at(cfi, 0x1104), PF_RETURN_IN_REGISTER_STILL);
    assert_int_equal(pf_unwind_return_at(cfi, 0x1108), PF_RETURN_ON_STACK);
    assert_int_equal(pf_unwind_return_at(cfi, 0x1200), PF_RETURN_UNKNOWN); /* the outermost */
    assert_int_equal(pf_unwind_return_at(cfi, 0x1300), PF_RETURN_UNKNOWN);
    pf_cfi_close(cfi);
}

/* The trampoline of aarch64 has no rules; the kernel's frame is known by its layout. */
static void test_aarch64_signal(void **state)
{
    (void)state;
    struct process p;
    struct blob b = {.is_64 = true};
    size_t cie = put_cie(&b, "zR", 30, PROGRAM(0x0c, 31, 0));
    put_fde(&b, cie, 0x1100, 0x20, NULL, 0);
    put_fde(&b, cie, 0x1300, 0x20, PROGRAM(0x07, 30));
    struct pf_cfi *cfi = open_cfi(EM_AARCH64, &b, ".eh_frame", NULL);
    start(&p, cfi, PF_NATIVE_BIG_ENDIAN);
    set_register(&p, 31, STACK);
    set_register(&p, 32, 0x1104);
    set_register(&p, 30, 0x1500);
    set_word64(&p, 39 + 30, 0x1310); /* x30 of the interrupted leaf */
    set_word64(&p, 39 + 31, STACK + 600);
    set_word64(&p, 39 + 32, 0x1100);
    assert_int_equal(unwind(&p, "aarch64"), PF_UNWIND_DONE);
    EXPECT(&p, 0x1104, 0x1501, 0x1101, 0x1310);
    set_word64(&p, 17, 1); /* uc_link: not such a frame */
    set_register(&p, 29, STACK);
    assert_int_equal(unwind(&p, "aarch64"), PF_UNWIND_DONE); /* saved frame pointer and return address are 0 */
    EXPECT(&p, 0x1104, 0x1500);
    pf_cfi_close(cfi);
}

/* Big-endian; a leaf that keeps its caller's r11 in f4 (18); the stack pointer is 160 below the CFA. */
static void test_s390x(void **state)
{
    (void)state;
    struct process p;
    struct blob b = {.is_64 = true, .big = true};
    size_t cie = put_cie(&b, "zR", 14, PROGRAM(0x0c, 15, 0xa0, 0x01));
    put_fde(&b, cie, 0x1100, 0x20, PROGRAM(0x09, 11, 18));
    put_fde(&b, cie, 0x1200, 0x20, PROGRAM(0x0c, 11, 0xb0, 0x01, 0x8e, 20, 0x8f, 19, 0x8b, 21));
    put_fde(&b, cie, 0x1300, 0x20, PROGRAM(0x07, 14));
    struct pf_cfi *cfi = open_cfi(EM_S390, &b, ".eh_frame", NULL);
    start(&p, cfi, true);
    set_register(&p, 15, STACK);
    set_register(&p, 33, 0x1104);
    set_register(&p, 14, 0x1210);
    set_register(&p, 16 + 4, STACK + 8); /* f4; the caller's CFA is 176 above */
    set_word64(&p, 1 + 22 - 20, 0x1310);
    assert_int_equal(unwind(&p, "s390x"), PF_UNWIND_DONE);
    EXPECT(&p, 0x1104, 0x1210, 0x1310);
    pf_cfi_close(cfi);
}

/* The return address column 65 is the link register. .debug_frame, version 4. */
static void test_ppc64le(void **state)
{
    (void)state;
    struct process p;
    struct blob b = {.is_64 = true};
    size_t start_of = begin_entry(&b);
    put_bytes(&b, PROGRAM(0xff, 0xff, 0xff, 0xff, 4, 0, 8, 0, 4, 0x78, 65, 0x0c, 1, 0));
    end_entry(&b, start_of);
    for (unsigned i = 0; i < 2; i++) {
        start_of = begin_entry(&b);
        put(&b, 0, 4);
        put(&b, 0x1100 + 0x100 * i, 8);
        put(&b, 0x40, 8);
        if (i == 0)
            put_bytes(&b, PROGRAM(0x44, 0x0e, 32, 0x11, 65, 0x7e));
        else
            put_bytes(&b, PROGRAM(0x07, 65));
        end_entry(&b, start_of);
    }
    struct pf_cfi *cfi = open_cfi(EM_PPC64, &b, ".debug_frame", NULL);
    start(&p, cfi, false);
    set_register(&p, 1, STACK);
    set_register(&p, 32, 0x1108);
    set_register(&p, 36, 0x1120);
    assert_int_equal(unwind(&p, "ppc64le"), PF_UNWIND_DONE); /* after 4 instructions: not yet saved */
    EXPECT(&p, 0x1108, 0x1120);
    set_register(&p, 32, 0x1120);
    set_word64(&p, 4 + 2, 0x1220); /* CFA + 16 */
    assert_int_equal(unwind(&p, "ppc64le"), PF_UNWIND_DONE);
    EXPECT(&p, 0x1120, 0x1220);
    pf_cfi_close(cfi);
}

static void put_prel31(struct blob *b, uint32_t address)
{
    put(b, (address - (EXIDX + b->used)) & 0x7fffffff, 4);
}

/* 0x1100: .debug_frame knows; 0x1200: pop {r4, lr}, inline; 0x1300: cannot be unwound. */
static void test_exidx(void **state)
{
    (void)state;
    struct process p;
    struct blob b = {.is_64 = false}, exidx = {.is_64 = false};
    size_t cie = put_cie(&b, "zR", 14, PROGRAM(0x0c, 13, 0));
    put_fde(&b, cie, 0x1100, 0x20, PROGRAM(0x0e, 8, 0x8e, 1));
    put_prel31(&exidx, 0x1100);
    put(&exidx, 1, 4); /* less than the other source knows */
    put_prel31(&exidx, 0x1200);
    put(&exidx, 0x8001a8b0, 4); /* vsp += 8; pop {r4, lr} */
    put_prel31(&exidx, 0x1300);
    put(&exidx, 1, 4);
    struct pf_cfi *cfi = open_cfi(EM_ARM, &b, ".eh_frame", &exidx);
    start(&p, cfi, PF_NATIVE_BIG_ENDIAN);
    p.sample.regs_user.mask = 0xffff;
    set_register(&p, 13, STACK);
    set_register(&p, 15, 0x1108);
    set_word32(&p, 1, 0x1211); /* bit 0: Thumb */
    set_word32(&p, 2 + 3, 0x1308);
    assert_int_equal(unwind(&p, "armv7l"), PF_UNWIND_DONE);
    EXPECT(&p, 0x1108, 0x1210, 0x1308);
    pf_cfi_close(cfi);
}

/* ---- hostile and unlucky ----------------------------------------------------------------------------------------- */

static void test_not_elf(void **state)
{
    (void)state;
    struct pf_cfi *cfi;
    struct perfile_error error;
    struct blob text = {.used = 100};
    assert_int_equal(open_blob(&text, NULL, &cfi, &error), PERFILE_ERROR_FORMAT);
    assert_int_equal(pf_cfi_open("/nowhere/at/all", NULL, NULL, &cfi, &error), PERFILE_ERROR_OPEN);
    assert_int_equal(pf_cfi_open("/dev/null", NULL, NULL, &cfi, &error), PERFILE_ERROR_FORMAT);
    struct blob empty = {.is_64 = true}, file = make_elf(EM_68K, &empty, ".eh_frame", NULL);
    assert_int_equal(open_blob(&file, NULL, &cfi, &error), PERFILE_ERROR_UNSUPPORTED);
    pf_cfi_close(NULL);
}

/* DW_OP_skip to itself must end. */
static void test_endless_expression(void **state)
{
    (void)state;
    struct process p;
    struct blob b = {.is_64 = true};
    size_t cie = put_cie(&b, "zR", 16, PROGRAM(X86_ENTRY));
    put_fde(&b, cie, 0x1100, 0x20, PROGRAM(0x0f, 3, 0x2f, 0xfd, 0xff));
    struct pf_cfi *cfi = open_cfi(EM_X86_64, &b, ".eh_frame", NULL);
    start_x86(&p, cfi, 0x1108);
    assert_int_equal(unwind(&p, "x86_64"), PF_UNWIND_NO_RULE);
    EXPECT(&p, 0x1108);
    pf_cfi_close(cfi);
}

/* Where two overlap, the one that starts first counts; a rule that is not understood is ignored, and no other. */
static void test_overlap_and_unknown(void **state)
{
    (void)state;
    struct process p;
    struct blob b = {.is_64 = true};
    size_t cie = put_cie(&b, "zR", 16, PROGRAM(X86_ENTRY));
    put_fde(&b, cie, 0x1100, 0x20, PROGRAM(0x0e, 16));
    put_fde(&b, cie, 0x1110, 0x40, PROGRAM(0x0e, 24));
    put_fde(&b, cie, 0x1200, 0x20, PROGRAM(0x48, 0x3f, 0x0e, 64)); /* 0x3f is not an instruction */
    struct pf_cfi *cfi = open_cfi(EM_X86_64, &b, ".eh_frame", NULL);
    start_x86(&p, cfi, 0x1118);
    set_register(&p, X86_BP, 1);
    set_word64(&p, 1, 0x1121);     /* 0x1100's rule: CFA - 8 is word 1 */
    set_word64(&p, 2 + 2, 0x1205); /* 0x1110's: word 2 above */
    set_word64(&p, 5, 0x1210);
    assert_int_equal(unwind(&p, "x86_64"), PF_UNWIND_NO_RULE);
    EXPECT(&p, 0x1118, 0x1121, 0x1205, 0x1210);
    pf_cfi_close(cfi);
}

static void test_memory_short(void **state)
{
    (void)state;
    struct blob cfi = x86_cfi(), file = make_elf(EM_X86_64, &cfi, ".eh_frame", NULL);
    for (int left = 0;; left++) {
        struct counting c;
        struct pf_cfi *opened = NULL;
        struct perfile_error error;
        counting_open(&c, left);
        int result = open_blob(&file, &c.allocator, &opened, &error);
        pf_cfi_close(result == 0 ? opened : NULL);
        counting_close(&c);
        if (result == 0)
            break;
        assert_int_equal(result, PERFILE_ERROR_MEMORY);
        assert_true(left < 100);
    }
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* Whatever the bytes are: it ends, and stays within its memory. */
static void test_mutants(void **state)
{
    (void)state;
    struct blob cfi = x86_cfi(), file = make_elf(EM_X86_64, &cfi, ".eh_frame", NULL);
    uint32_t seed = 1;
    for (unsigned i = 0; i < 300; i++) {
        struct blob mutant = file;
        struct counting c;
        struct process p;
        struct pf_cfi *opened = NULL;
        for (unsigned k = next_random(&seed) % 6; k-- > 0;)
            mutant.data[120 + next_random(&seed) % cfi.used] = (uint8_t)next_random(&seed);
        mutant.data[next_random(&seed) % mutant.used] = (uint8_t)next_random(&seed);
        counting_open(&c, -1);
        int result = open_blob(&mutant, &c.allocator, &opened, NULL);
        for (uint64_t at = 0x1100; result == 0 && at < 0x1700; at += 0x41) {
            start_x86(&p, opened, at);
            for (unsigned k = 0; k < STACK_WORDS; k++)
                set_word64(&p, k, k % 3 ? 0x1100 + next_random(&seed) % 0x600 : STACK + next_random(&seed) % 512);
            set_register(&p, X86_BP, STACK + next_random(&seed) % 512);
            assert_true(unwind(&p, "x86_64") >= 0);
            assert_true(p.count <= PF_COUNT(p.addresses));
        }
        pf_cfi_close(opened);
        counting_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_signal_frame),
        cmocka_unit_test(test_expression_and_states),
        cmocka_unit_test(test_popped_in_epilogue),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_absent),
        cmocka_unit_test(test_frame_pointers),
        cmocka_unit_test(test_i386),
        cmocka_unit_test(test_aarch64),
        cmocka_unit_test(test_aarch64_signal),
        cmocka_unit_test(test_s390x),
        cmocka_unit_test(test_ppc64le),
        cmocka_unit_test(test_return_at),
        cmocka_unit_test(test_exidx),
        cmocka_unit_test(test_not_elf),
        cmocka_unit_test(test_endless_expression),
        cmocka_unit_test(test_overlap_and_unknown),
        cmocka_unit_test(test_memory_short),
        cmocka_unit_test(test_mutants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
