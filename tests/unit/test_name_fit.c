/* SPDX-License-Identifier: MIT */
#include <perfile/analysis.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"

static const struct {
    const char *name, *expected;
} simplified[] = {
    {"", ""},
    {"main", "main"},
    {STRING, "std::string"},
    {STRING "::basic_string(char const*)", "std::string::basic_string(char const*)"},
    {"std::__1::basic_string<wchar_t, std::__1::char_traits<wchar_t>, std::__1::allocator<wchar_t>>::size() const",
     "std::wstring::size() const"},
    {"std::basic_string<char, my::traits, std::allocator<char> >", "std::basic_string<char, my::traits>"},
    {"std::basic_string_view<char16_t, std::char_traits<char16_t> >::data", "std::u16string_view::data"},
    {"std::__cxx11::basic_ostringstream<char, std::char_traits<char>, std::allocator<char> >::str() const",
     "std::ostringstream::str() const"},
    {"std::ostream& std::operator<< <std::char_traits<char> >(std::basic_ostream<char, std::char_traits<char> >&, char "
     "const*)",
     "std::ostream& std::operator<< <std::char_traits<char>>(std::ostream&, char const*)"},
    {"std::vector<" STRING ", std::allocator<" STRING " > >::push_back(" STRING "&&)",
     "std::vector<std::string>::push_back(std::string&&)"},
    {"std::vector<int, pool::allocator<int> >::size()", "std::vector<int, pool::allocator<int>>::size()"},
    {"std::vector<int, std::allocator<long> >", "std::vector<int, std::allocator<long>>"},
    {"my::vector<int, std::allocator<int> >", "my::vector<int, std::allocator<int>>"},
    {"std::map<int, std::vector<A, std::allocator<A> >, std::less<int>, std::allocator<std::pair<int const, "
     "std::vector<A, std::allocator<A> > > > >::find(int const&)",
     "std::map<int, std::vector<A>>::find(int const&)"},
    {"std::map<int, A, std::greater<int>, std::allocator<std::pair<int const, A> > >",
     "std::map<int, A, std::greater<int>>"},
    {"std::set<int, std::greater<int>, std::allocator<int> >", "std::set<int, std::greater<int>>"},
    {"std::unordered_map<int, A, std::hash<int>, std::equal_to<int>, std::allocator<std::pair<int const, A> > >::at",
     "std::unordered_map<int, A>::at"},
    {"std::priority_queue<int, std::vector<int, std::allocator<int> >, std::less<int> >", "std::priority_queue<int>"},
    {"std::unique_ptr<A, std::default_delete<A> >::~unique_ptr()", "std::unique_ptr<A>::~unique_ptr()"},
    {"std::chrono::_V2::steady_clock::now()", "std::chrono::steady_clock::now()"},
    {"f(std::chrono::duration<long, std::ratio<1l, 1000l> >)", "f(std::chrono::milliseconds)"},
    {"ns::to_string[abi:cxx11](int)", "ns::to_string(int)"},
    {"alloc::vec::Vec<u8, alloc::alloc::Global>::push", "alloc::vec::Vec<u8>::push"},
    {"bool operator<(A const&, A const&)", "bool operator<(A const&, A const&)"},
    {"A::operator->() const", "A::operator->() const"},
    {"bool ns::operator><int>(A<int> const&)", "bool ns::operator><int>(A<int> const&)"},
    {"(anonymous namespace)::f(int)", "(anonymous namespace)::f(int)"},
    {"g<(x)0>(std::enable_if<((1)>(0)), int>::type)", "g<(x)0>(std::enable_if<((1)>(0)), int>::type)"},
    {"fmt.(*pp).doPrintf", "fmt.(*pp).doPrintf"},
    {"a<b<c", "a<b<c"},
    {">>>", ">>>"},
    {"std::vector<int, std::allocator<int>", "std::vector<int, std::allocator<int>"},
};

static void names_have_short_spellings(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(simplified); i++) {
        char text[512];
        const size_t bytes = perfile_name_fit(simplified[i].name, SIZE_MAX, text, sizeof(text));
        assert_string_equal(text, simplified[i].expected);
        assert_int_equal(bytes, strlen(text));
    }
}

static const struct {
    size_t columns;
    const char *name, *expected;
} fitted[] = {
    {10, "compute", "compute"},
    {7, "compute", "compute"},
    {60, "ns::Tree<std::pair<long, long>, ns::Less<long> >::insert(int)",
     "ns::Tree<std::pair<long, long>, ns::Less<long>>::insert(int)"},
    {54, "ns::Tree<std::pair<long, long>, ns::Less<long> >::insert(int)",
     "ns::Tree<std::pair<...>, ns::Less<long>>::insert(int)"},
    {40, "ns::Tree<std::pair<long, long>, ns::Less<long> >::insert(int)", "ns::Tree<...>::insert(int)"},
    {40, "ns::Tree<float>::insert(std::pair<long, long>, unsigned long)", "ns::Tree<float>::insert(...)"},
    {30, "ns::Tree<long double>::insert(std::pair<long, long>, unsigned long)", "ns::Tree<...>::insert(...)"},
    {20, "ns::Tree<long double>::insert(std::pair<long, long>, unsigned long)", "Tree<...>::insert"},
    {11, "double geometry::Mesh<int>::fill(unsigned int)", "fill"},
    {23, "geometry::Mesh<int>::fill_row(unsigned int)", "Mesh<int>::fill_row"},
    {24, "geometry::Mesh<int>::fill_row_of_points(unsigned int)", "geometr..._row_of_points"},
    {9, "a::b::operator::new", "new"},
    {30, "std::operator<< <std::char_traits<char> >(std::ostream&)", "std::operator<< <...>(...)"},
    {36, "A::operator-><long long int>(unsigned long long) const", "A::operator-><...>(...) const"},
    {50, "run(std::vector<unsigned long>)::{lambda(unsigned long)#1}::operator()(unsigned long) const",
     "run(...)::{lambda(...)#1}::operator()(...) const"},
    {40, "(anonymous namespace)::compute(unsigned long, unsigned long)", "(anonymous namespace)::compute(...)"},
    {52, "<alloc::vec::Vec<core::option::Option<u64>> as core::iter::Iterator>::next",
     "<alloc::vec::Vec<...> as core::iter::Iterator>::next"},
    {40, "<alloc::vec::Vec<core::option::Option<u64>> as core::iter::Iterator>::next",
     "<alloc::vec:...re::iter::Iterator>::next"},
    {31, "core::ptr::drop_in_place::<alloc::string::String>", "core::ptr::drop_in_place::<...>"},
    {30, "slices.SortFunc[go.shape.string,go.shape.int]", "slices.SortFunc[...]"},
    {30, "net/http.(*conn).serve.func1.deferwrap2", "net/http...e.func1.deferwrap2"},
    {30, "java.util.HashMap.<init>(int, java.util.Map)", "java.util.HashMap.<init>(...)"},
    {40, "sort(std::vector<long, pool>) [clone .isra.0] [clone .cold]", "sort(std::vector<long, pool>)"},
    {12, "vector<unsigned long", "vec...d long"},
    {12, ">>>)))]]]}}}<<<(((", ">>>...<<<((("},
    {8, "compute_all", "c..._all"},
    {7, "compute_all", "compute"},
    {0, "compute", ""},
    {8, "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2", "...\xe5\xad\x97\xe6\xbc\xa2"},
    {3, "\xe6\xbc\xa2\xe5\xad\x97", "\xe6\xbc\xa2"},
    {8,
     "abce\xcc\x81"
     "fghij\xcc\x81",
     "a...ghij\xcc\x81"},
};

static void names_fit(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(fitted); i++) {
        char text[256];
        perfile_name_fit(fitted[i].name, fitted[i].columns, text, sizeof(text));
        if (strcmp(text, fitted[i].expected) != 0)
            print_error("%zu columns: %s\n", fitted[i].columns, fitted[i].name);
        assert_string_equal(text, fitted[i].expected);
        assert_true(perfile_name_columns(text) <= fitted[i].columns);
    }
}

static void no_name_is_longer_than_asked(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(simplified); i++) {
        size_t previous = 0;
        for (size_t columns = 0; columns < 200; columns++) {
            char text[512];
            const size_t bytes = perfile_name_fit(simplified[i].name, columns, text, sizeof(text));
            assert_int_equal(strlen(text), bytes);
            assert_true(perfile_name_columns(text) <= columns);
            previous = bytes;
        }
        assert_int_equal(previous, strlen(simplified[i].expected));
    }
}

static void a_small_capacity_is_kept(void **state)
{
    (void)state;
    static const char name[] = "ab\xe6\xbc\xa2";
    char text[8];
    for (size_t capacity = 0; capacity <= sizeof(text); capacity++) {
        memset(text, 'x', sizeof(text));
        const size_t bytes = perfile_name_fit(name, 80, text, capacity);
        assert_int_equal(bytes, capacity == 0 ? 0 : capacity <= 3 ? capacity - 1 : capacity <= 5 ? 2 : 5);
        if (capacity) /* and nothing after it */
            assert_int_equal(text[bytes], 0);
        for (size_t i = capacity; i < sizeof(text); i++)
            assert_int_equal(text[i], 'x');
    }
}

/* Names of hostile recordings: any repetition of these. */
static void long_names_end_soon(void **state)
{
    (void)state;
    enum { BYTES = 64 << 10 };
    static const char *const parts[] = {
        "<",
        ">",
        "(",
        ")",
        "a<",
        "a<b>",
        "std::vector<int, ",
        "f(",
        "{",
        "[",
        "operator",
        "operator<",
        "::",
        ",",
        "std::__cxx11::",
        "a<b<c>,",
        "\xcc\x81",
        "\xff",
        "\xe6\xbc\xa2",
        "[abi:",
        "(anonymous namespace)",
        "std::basic_string<char, ",
        " > >",
        "f<long long>(long long)",
    };
    char *name = malloc(BYTES + 1), *text = malloc(BYTES + 1);
    assert_true(name && text);
    for (size_t i = 0; i < COUNT(parts) * COUNT(parts); i++) {
        const char *first = parts[i % COUNT(parts)], *second = parts[i / COUNT(parts)];
        const size_t half = first == second ? BYTES / 2 : 200;
        size_t used = 0;
        for (; used + strlen(first) <= half; used += strlen(first))
            memcpy(name + used, first, strlen(first));
        for (; used + strlen(second) <= half * 2; used += strlen(second))
            memcpy(name + used, second, strlen(second));
        name[used] = 0;
        perfile_name_fit(name, 80, text, BYTES + 1);
        assert_true(perfile_name_columns(text) <= 80);
    }
    free(name);
    free(text);
}

static void columns_are_those_of_a_terminal(void **state)
{
    (void)state;
    assert_int_equal(perfile_name_columns(NULL), 0);
    assert_int_equal(perfile_name_columns("abc"), 3);
    assert_int_equal(perfile_name_columns("\xc3\xa9"), 1);
    assert_int_equal(perfile_name_columns("e\xcc\x81"), 1);
    assert_int_equal(perfile_name_columns("\xe6\xbc\xa2\xe5\xad\x97"), 4);
    assert_int_equal(perfile_name_columns("\xf0\x9f\x98\x80"), 2);
    assert_int_equal(perfile_name_columns("\xff\xfe"), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_have_short_spellings),   cmocka_unit_test(names_fit),
        cmocka_unit_test(no_name_is_longer_than_asked), cmocka_unit_test(a_small_capacity_is_kept),
        cmocka_unit_test(long_names_end_soon),          cmocka_unit_test(columns_are_those_of_a_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
