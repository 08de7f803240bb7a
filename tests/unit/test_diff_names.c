/* SPDX-License-Identifier: MIT */
/* Names of functions, modules and threads that stay when a program is built and run again. */
#include "analysis/diff/names.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct pair {
    const char *name, *wanted;
};

static void expect(const struct pair *pairs, size_t count, size_t (*normalize)(const char *name, char *text))
{
    char text[256];
    for (size_t i = 0; i < count; i++) {
        const size_t bytes = normalize(pairs[i].name, text);
        assert_string_equal(text, pairs[i].wanted);
        assert_int_equal(bytes, strlen(text));
    }
}

static void test_functions(void **state)
{
    static const struct pair pairs[] = {
        {"", ""},
        {"main", "main"},
        {"finish_task_switch.isra.0", "finish_task_switch"},
        {"msort_with_tmp.part.0", "msort_with_tmp"},
        {"f.constprop.0.isra.12.cold", "f"},
        {"f.llvm.1234567890123456", "f"},
        {"f.lto_priv.0.part.1", "f"},
        {"f.party", "f.party"},
        {".cold", ".cold"},
        {"main.main.func1", "main.main.func1"},
        {"pthread_mutex_lock@@GLIBC_2.2.5", "pthread_mutex_lock"},
        {"memcpy@GLIBC_2.14", "memcpy"},
        {"malloc@plt", "malloc@plt"},
        {"foo(int) [clone .isra.0]", "foo(int)"},
        {"foo(int) [clone .part.0] [clone .cold]", "foo(int)"},
        {"core::fmt::write::h0123456789abcdef", "core::fmt::write"},
        {"core::fmt::write::h0123456789abcdef.llvm.77", "core::fmt::write"},
        {"core::fmt::write::habc", "core::fmt::write::habc"},
        {"core[846817f741e54dfd]::fmt::write", "core::fmt::write"},
        {"std::vector<int>::size() const", "std::vector<int>::size() const"},
        {"main::{lambda()#2}::operator()", "main::{lambda()#2}::operator()"},
        {"to_string[abi:cxx11](int)", "to_string[abi:cxx11](int)"},
    };
    (void)state;
    expect(pairs, PF_COUNT(pairs), pf_diff_function_name);
}

static void test_plain(void **state)
{
    static const struct pair pairs[] = {
        {"f<int>(std::vector<A<int>>)", "f(std::vector)"},
        {"A<int>::operator<(B<int>)", "A::operator<(B)"},
        {"a->b", "a->b"},
        {"f<", "f"},
        {">f", ">f"},
    };
    (void)state;
    expect(pairs, PF_COUNT(pairs), pf_diff_plain_name);
}

static void test_threads(void **state)
{
    static const struct pair pairs[] = {
        {"worker-12", "worker-12"}, {"job-4711", "job-N"}, {"12345:a:999", "N:a:N"}, {"ab", "ab"}, {"", ""}};
    (void)state;
    expect(pairs, PF_COUNT(pairs), pf_diff_thread_name);
}

static size_t of_file(const char *name, char *text)
{
    const struct perfile_module module = {.name = name, .short_name = name, .kind = PERFILE_MODULE_FILE};
    return pf_diff_module_name(&module, text);
}

static void test_modules(void **state)
{
    static const struct pair pairs[] = {
        {"prog", "prog"},           {"/usr/bin/prog (deleted)", "prog"}, {"libx.so.1.2.3", "libx.so.1"},
        {"libx.so.1", "libx.so.1"}, {"libx-2.31.so", "libx-2.31.so"},    {"[vdso]", "[vdso]"},
        {"dir/", "dir/"},
    };
    struct perfile_module module = {.name = "[kernel.kallsyms]", .short_name = "x", .kind = PERFILE_MODULE_KERNEL};
    char text[64];
    (void)state;
    expect(pairs, PF_COUNT(pairs), of_file);
    pf_diff_module_name(&module, text);
    assert_string_equal(text, "[kernel]");
    module.kind = PERFILE_MODULE_JIT;
    pf_diff_module_name(&module, text);
    assert_string_equal(text, "[jit]");
    pf_diff_module_name(NULL, text);
    assert_string_equal(text, "[unknown]");
}

static void test_alike(void **state)
{
    char long_name[600];
    (void)state;
    assert_true(pf_diff_names_alike("f4_float", "f4_float"));
    assert_true(pf_diff_names_alike("f4_floats", "f4_float_v2"));
    assert_true(pf_diff_names_alike("parse_line", "parse_lines"));
    assert_false(pf_diff_names_alike("f4_float", "f4_float_v2_fast"));
    assert_false(pf_diff_names_alike("parse", "write"));
    assert_false(pf_diff_names_alike("", ""));
    memset(long_name, 'a', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = 0;
    assert_false(pf_diff_names_alike(long_name, long_name));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions), cmocka_unit_test(test_plain), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_modules),   cmocka_unit_test(test_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
