/* SPDX-License-Identifier: MIT */
#include "analysis/events/syscall_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char *name_of(enum pf_abi abi, uint64_t number)
{
    char label[32];
    const struct pf_syscall *call = pf_syscall_of(abi, number);
    return call ? pf_syscall_name(call) : strcmp(pf_syscall_label(call, number, label), "") ? NULL : "";
}

static const char *arguments_of(enum pf_abi abi, const char *name, const uint64_t arguments[PF_SYSCALL_ARGUMENTS],
                                const struct pf_syscall_names *names)
{
    static char text[512];
    struct pf_text out;
    assert_int_equal(pf_text_open(&out, pf_allocator_or_default(NULL), NULL, NULL), 0);
    pf_syscall_put_arguments(&out, abi, pf_syscall_named(name), arguments, names);
    assert_true(out.used < sizeof(text));
    memcpy(text, out.data, out.used);
    text[out.used] = '\0';
    pf_text_close(&out);
    return text;
}
#define ARGUMENTS(abi, name, ...) arguments_of(abi, name, (const uint64_t[PF_SYSCALL_ARGUMENTS]){__VA_ARGS__}, NULL)

static void numbers_are_those_of_the_machine(void **state)
{
    static const struct {
        const char *machine;
        bool narrow;
        uint64_t openat, exit_group;
    } known[] = {
        {"x86_64", false, 257, 231}, {"x86_64", true, 295, 252},  {"i686", false, 295, 252},
        {"aarch64", false, 56, 94},  {"aarch64", true, 322, 248}, {"armv7l", false, 322, 248},
        {"riscv64", false, 56, 94},  {"s390x", false, 288, 248},  {"ppc64le", false, 286, 234},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        const enum pf_abi abi = pf_abi_of(known[i].machine, known[i].narrow);
        assert_string_equal(name_of(abi, known[i].openat), "openat");
        assert_string_equal(name_of(abi, known[i].exit_group), "exit_group");
        assert_null(name_of(abi, 100000));
    }
    assert_int_equal(pf_abi_of("mips", false), PF_ABI_UNKNOWN);
    assert_int_equal(pf_abi_of(NULL, false), PF_ABI_UNKNOWN);
    assert_string_equal(name_of(PF_ABI_X86_64, 0x40000000 | 257), "openat"); /* of programs with 32-bit pointers */
    assert_null(name_of(PF_ABI_UNKNOWN, 1));
}

static void arguments_say_what_they_mean(void **state)
{
    (void)state;
    assert_string_equal(ARGUMENTS(PF_ABI_X86_64, "openat", (uint32_t)-100, 0x10, 02000101, 0644),
                        "dfd: CWD, filename: 0x10, flags: WRONLY|CREAT|CLOEXEC, mode: IRUSR|IWUSR|IRGRP|IROTH");
    assert_string_equal(ARGUMENTS(PF_ABI_X86_64, "openat", 3, 0x10, 0200000, 0644),
                        "dfd: 3, filename: 0x10, flags: RDONLY|DIRECTORY");
    assert_string_equal(ARGUMENTS(PF_ABI_ARM64, "openat", 3, 0x10, 040000, 0644),
                        "dfd: 3, filename: 0x10, flags: RDONLY|DIRECTORY");
    assert_string_equal(ARGUMENTS(PF_ABI_X86_64, "mmap", 0, 4096, 3, 0x22, (uint32_t)-1, 0),
                        "len: 4096, prot: READ|WRITE, flags: PRIVATE|ANONYMOUS");
    assert_string_equal(ARGUMENTS(PF_ABI_X86_64, "mmap", 0, 4096, 0, 2, 5, 0x1000),
                        "len: 4096, flags: PRIVATE, fd: 5, off: 0x1000");
    assert_string_equal(ARGUMENTS(PF_ABI_S390X, "mmap", 0x7000), "arg: 0x7000");
    assert_string_equal(ARGUMENTS(PF_ABI_X86_64, "futex", 0x10, 128, 2), "uaddr: 0x10, op: WAIT|PRIVATE_FLAG, val: 2");
    assert_string_equal(ARGUMENTS(PF_ABI_X86_64, "kill", 5, 9), "pid: 5, sig: KILL");
    assert_string_equal(ARGUMENTS(PF_ABI_X86_64, "lseek", 3, (uint64_t)-8, 2), "fd: 3, offset: -8, whence: END");
    assert_string_equal(ARGUMENTS(PF_ABI_I386, "lseek", 3, 0xfffffff8, 2), "fd: 3, offset: -8, whence: END");
    assert_string_equal(ARGUMENTS(PF_ABI_X86_64, "socket", 2, 02004001, 0),
                        "family: INET, type: STREAM|CLOEXEC|NONBLOCK");
    assert_string_equal(ARGUMENTS(PF_ABI_X86_64, "clone", 0x1200011, 0, 0, 0x10),
                        "clone_flags: CHILD_CLEARTID|CHILD_SETTID|SIGCHLD, child_tidptr: 0x10");
    assert_string_equal(ARGUMENTS(PF_ABI_ARM64, "clone", 0x1200011, 0, 0, 0, 0x10),
                        "clone_flags: CHILD_CLEARTID|CHILD_SETTID|SIGCHLD, child_tidptr: 0x10");
    assert_string_equal(ARGUMENTS(PF_ABI_X86_64, "mprotect", 0x1000, 8, 0x40000001),
                        "start: 0x1000, len: 8, prot: READ|0x40000000");
    assert_string_equal(ARGUMENTS(PF_ABI_X86_64, "afs_syscall", 0, 7), "arg1: 0x7");
}

static void names_of_files_stand_after_descriptors(void **state)
{
    const uint64_t of_read[PF_SYSCALL_ARGUMENTS] = {3, 0x10, 8}, of_open[PF_SYSCALL_ARGUMENTS] = {0x10};
    (void)state;
    assert_string_equal(arguments_of(PF_ABI_X86_64, "read", of_read, &(struct pf_syscall_names){{"/etc/motd"}}),
                        "fd: 3</etc/motd>, buf: 0x10, count: 8");
    assert_string_equal(arguments_of(PF_ABI_X86_64, "open", of_open, &(struct pf_syscall_names){{"/etc/motd"}}),
                        "filename: \"/etc/motd\"");
}

static void errors_have_names(void **state)
{
    (void)state;
    assert_string_equal(pf_errno_name(2), "ENOENT");
    assert_string_equal(pf_errno_text(2), "No such file or directory");
    assert_string_equal(pf_errno_text(133), "Memory page has hardware error");
    assert_string_equal(pf_errno_name(512), "ERESTARTSYS");
    assert_null(pf_errno_text(512));
    assert_null(pf_errno_name(4000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_those_of_the_machine),
        cmocka_unit_test(arguments_say_what_they_mean),
        cmocka_unit_test(names_of_files_stand_after_descriptors),
        cmocka_unit_test(errors_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
