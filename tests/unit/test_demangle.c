/* SPDX-License-Identifier: MIT */
#include "symbol/demangle/demangle.h"

#include <errno.h>
#include <stdio.h>

#include "counting.h"

static const struct perfile_allocator *allocator; /* malloc's */

static char *demangle(const char *name)
{
    allocator = pf_allocator_or_default(NULL);
    return pf_demangle(allocator, name);
}

static int spared; /* allocations before the one that fails */

static void *resize_but_one(void *context, void *pointer, size_t old, size_t size)
{
    return size && !spared-- ? NULL : counting_resize(context, pointer, old, size);
}

/* Without one allocation: no name, and the reason; true when there are no more. */
static bool check_without(int number, const char *name, const char *expected)
{
    struct counting c;
    counting_open(&c, -1);
    c.allocator.resize = resize_but_one;
    spared = number;
    errno = 0;
    char *text = pf_demangle(&c.allocator, name);
    const bool is_enough = text;
    if (text)
        assert_string_equal(text, expected);
    else
        assert_int_equal(errno, ENOMEM);
    pf_text_free(&c.allocator, text);
    counting_close(&c);
    return is_enough;
}

static void check(const char *name, const char *expected)
{
    char *text = demangle(name);
    if (!expected) {
        assert_null(text);
        return;
    }
    assert_non_null(text);
    assert_string_equal(text, expected);
    pf_text_free(allocator, text);
    for (int number = 0; !check_without(number, name, expected);)
        number++;
}

/* The runtime library's own names, and what only starts like one of OCaml, stay. */
static void test_ocaml(void **state)
{
    (void)state;
    check("camlStdlib__List__map_236", "Stdlib.List.map_236");
    check("camlT__$3e$3e$3d$3d_84", "T.>>==_84");
    check("camlStdlib__List.map_236", "Stdlib.List.map_236");
    check("camlT__f$27_1", "T.f'_1");
    check("camlT__odd$0a$", "T.odd$0a$");
    check("caml_alloc", NULL);
    check("caml__x", NULL);
    check("camlThing", NULL);
    check("camlrunX__y", NULL);
    check("camel__Case", NULL);
    check("compute", NULL);
}

static void test_plain(void **state)
{
    (void)state;
    check("", NULL);
    check("main", NULL);
    check("_", NULL);
    check("_start", NULL);
    check("_Z", NULL);
    check("_R", NULL);
    check("_Rust", NULL);
    check("i", NULL); /* a type, to the C++ runtime library */
    check("_ZZ", NULL);
}

static void test_cxx(void **state)
{
    (void)state;
    char *text = demangle("_Z3foov");
    if (!text)
        skip(); /* no libstdc++ here */
    pf_text_free(allocator, text);
    check("_Z3foov", "foo()");
    check("_ZN3foo3barEi", "foo::bar(int)");
    check("_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int> >::push_back(int&&)");
    check("_Z3foov.cold", "foo() [clone .cold]");
    check("_Z3foov@plt", "foo()@plt");
    check("_ZNSolsEi@@GLIBCXX_3.4", "std::ostream::operator<<(int)@@GLIBCXX_3.4");
    check("_ZN3foo17h0123456789abcdefEv", "foo::h0123456789abcdef()"); /* has parameters */
    check("_ZN3foo17h0000000000000000E", "foo::h0000000000000000");    /* no hash: it would look like chance */
}

static void test_rust_legacy(void **state)
{
    (void)state;
    check("_ZN3foo17h05af221e174051e9E", "foo");
    check("_ZN3foo3bar17h05af221e174051e9E", "foo::bar");
    check("_ZN28_$u7b$$u7b$closure$u7d$$u7d$17h05af221e174051e9E", "{{closure}}");
    check("_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE",
          "<Test + 'static as foo::Bar<Test>>::bar");
    check("_ZN4test1.1a17h05af221e174051e9E", "test::.::a");
    check("_ZN9test$XX$a3foo17h05af221e174051e9E", "test$XX$a::foo");
    check("_ZN8$u1f600$3foo17h05af221e174051e9E", "\xf0\x9f\x98\x80::foo");
    check("_ZN3foo17h05af221e174051e9E.llvm.A5310EB9", "foo");
    check("_ZN3foo17h05af221e174051e9E.0.llvm.12345", "foo.0");
    check("_ZN3foo17h05af221e174051e9E.cold.1", "foo.cold.1");
    check("_ZN3foo17h05af221e174051e9E@plt", "foo@plt");
}

/* Names of rustc and of rustc-demangle's tests. */
static void test_rust_v0(void **state)
{
    (void)state;
    check("_RNvC6_123foo3bar", "123foo::bar");
    check("_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
          "utf8_idents::\u10e1\u10d0\u10ed\u10db\u10d4\u10da\u10d0\u10d3_\u10d2\u10d4\u10db\u10e0\u10d8\u10d4"
          "\u10da\u10d8_\u10e1\u10d0\u10d3\u10d8\u10da\u10d8");
    check("_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_", "cc::spawn::{closure#0}::{closure#0}");
    check("_RNCINkXs25_NgCsbmNqQUJIY6D_4core5sliceINyB9_4IterhENuNgNoBb_4iter8iterator8Iterator9rpositionNCNgNpB9_"
          "6memchr7memrchrs_0E0Bb_",
          "<core::slice::Iter<u8> as core::iter::iterator::Iterator>::rposition::<core::slice::memchr::memrchr::"
          "{closure#1}>::{closure#0}");
    check("_RINbNbCskIICzLVDPPb_5alloc5alloc8box_freeDINbNiB4_5boxed5FnBoxuEp6OutputuEL_ECs1iopQbuBiw2_3std",
          "alloc::alloc::box_free::<dyn alloc::boxed::FnBox<(), Output = ()>>");
    check("_RMCs4fqI2P2rA04_13const_genericINtB0_6SignedKanb_E", "<const_generic::Signed<-11>>");
    check("_RMCs4fqI2P2rA04_13const_genericINtB0_4CharKca_E", "<const_generic::Char<'\\n'>>");
    check("_RMCs4fqI2P2rA04_13const_genericINtB0_4BoolKb1_E", "<const_generic::Bool<true>>");
    check("_RIC0KRe616263_E", "::<\"abc\">");
    check("_RIC0Ke616263_E", "::<{*\"abc\"}>");
    check("_RMC0FG_RL0_hEu", "<for<'a> fn(&'a u8)>");
    check("_RMC0FUKCmEh", "<unsafe extern \"C\" fn(u32) -> u8>");
    check("_RMC0ThE", "<(u8,)>");
    check("_RMC0QAhj3_", "<&mut [u8; 3]>");
    check("_RMC0AhKj3_", NULL);
    check("_RMC0QhE", NULL); /* E begins no path */
    check("_RNvC9backtrace3foo.llvm.A5310EB9", "backtrace::foo");
    check("_RNvC3foo3bar.0.0", "foo::bar.0.0");
    check("_RNvC3foo3bar\x01", NULL);
}

/* A name of this many bytes, then `tail`. */
static char *made_of(const char *start, char fill, size_t count, const char *tail)
{
    size_t bytes = strlen(start) + count + strlen(tail) + 1;
    char *name = malloc(bytes);
    assert_non_null(name);
    char *at = stpcpy(name, start);
    memset(at, fill, count);
    strcpy(at + count, tail);
    return name;
}

static void test_depth(void **state)
{
    (void)state;
    char *name = made_of("_RMC0", 'R', 400, "u");
    char *text = demangle(name);
    assert_non_null(text);
    assert_int_equal(strlen(text), 400 + strlen("<()>"));
    pf_text_free(allocator, text);
    free(name);
    name = made_of("_RMC0", 'R', 1000000, "u");
    check(name, NULL);
    free(name);
    name = made_of("_Z1f", 'P', 1000000, "v");
    check(name, NULL);
    free(name);
}

/* Every part is twice the one before: 30 of them would be gigabytes. */
static void test_doubling(void **state)
{
    (void)state;
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char name[1024] = "_Z1f1AIiiES_IS_S_E", *at = name + strlen(name);
    for (unsigned i = 0; i < 30; i++)
        at += sprintf(at, "S_IS%c_S%c_E", digits[i], digits[i]);
    check(name, NULL);
    char rust[256] = "_RMC0TTTTTTTTTTTTTTTTTTTTTTTTTTTTTTp";
    at = rust + strlen(rust);
    for (unsigned i = 32; i > 2; i--)
        at += sprintf(at, "B%c_E", i < 10 ? '0' + (int)i : 'a' + (int)i - 10);
    check(rust, NULL);
}

/* As perf 7.2 shows them. */
static void test_java(void **state)
{
    (void)state;
    check("Ljava/lang/Foo;baz(I)V", "java.lang.Foo.baz(int)");
    check("LA;b()V", "A.b()");
    check("LA;b(BCDFIJSZ)I", "A.b(byte, char, double, float, int, long, short, boolean)");
    check("LA;b([[ILjava/lang/String;[LB;)LC;", "A.b(int[][], java.lang.String, B[])");
    check("LA;<init>(I)V", "A<init>(int)");
    static const char *const others[] = {
        "L",        "LA",       "LA;",       "LA;b",   "LA;b(",  "LA;b(I",           "LA;b()",
        "LA;b(Q)V", "LA;b([)V", "LA;b(LB)V", "L;b()V", "LA;()V", "LoadIC:~f (eval)", "LazyCompile:f file.js:1"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        check(others[i], NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ocaml),       cmocka_unit_test(test_plain),   cmocka_unit_test(test_cxx),
        cmocka_unit_test(test_rust_legacy), cmocka_unit_test(test_rust_v0), cmocka_unit_test(test_depth),
        cmocka_unit_test(test_doubling),    cmocka_unit_test(test_java),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
