/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/filter.h"
#include "base/function_name.h"

static const struct pf_range span = {1000000000, 2000000000};
static struct pf_filter filter;
static struct perfile_error error;

static int compile(const struct perfile_filter *wanted, const struct pf_range *complete)
{
    error.message[0] = '\0';
    return pf_filter_open(&filter, wanted, complete, NULL, &error);
}

static bool passes_time(uint64_t time)
{
    return pf_filter_passes(&filter, &(struct pf_filter_subject){.time = time, .comm = "", .event = NULL});
}

static bool passes_cpu(int32_t cpu)
{
    return pf_filter_passes(&filter, &(struct pf_filter_subject){.cpu = cpu, .comm = ""});
}

static void refuses(const struct perfile_filter *wanted, int code, const char *words)
{
    assert_int_equal(compile(wanted, &span), code);
    assert_non_null(strstr(error.message, words));
    pf_filter_close(&filter);
}

static void nothing_wanted_passes_all(void **state)
{
    (void)state;
    assert_int_equal(compile(&(struct perfile_filter){0}, NULL), 0);
    assert_false(filter.active);
    assert_true(passes_time(0));
    assert_true(passes_time(UINT64_MAX));
    pf_filter_close(&filter);
}

static void close_without_open(void **state)
{
    (void)state;
    struct pf_filter never = {0};
    pf_filter_close(&never);
}

static void time_ranges_include_both_ends(void **state)
{
    (void)state;
    assert_int_equal(compile(&(struct perfile_filter){.time = "1.5,1.75"}, NULL), 0);
    assert_false(passes_time(1499999999));
    assert_true(passes_time(1500000000));
    assert_true(passes_time(1750000000));
    assert_false(passes_time(1750000001));
    pf_filter_close(&filter);
}

static void times_below_a_second_need_no_zero(void **state)
{
    (void)state;
    assert_int_equal(compile(&(struct perfile_filter){.time = ".25,.75"}, NULL), 0);
    assert_false(passes_time(249999999));
    assert_true(passes_time(250000000));
    assert_true(passes_time(750000000));
    assert_false(passes_time(750000001));
    pf_filter_close(&filter);
    assert_true(compile(&(struct perfile_filter){.time = ".,1"}, NULL) < 0);
}

static void time_ranges_may_be_open(void **state)
{
    (void)state;
    assert_int_equal(compile(&(struct perfile_filter){.time = "1.000000001,"}, NULL), 0);
    assert_false(passes_time(1000000000));
    assert_true(passes_time(UINT64_MAX - 1));
    pf_filter_close(&filter);
    assert_int_equal(compile(&(struct perfile_filter){.time = ",2"}, NULL), 0);
    assert_true(passes_time(0));
    assert_false(passes_time(2000000001));
    pf_filter_close(&filter);
}

static void several_time_ranges(void **state)
{
    (void)state;
    assert_int_equal(compile(&(struct perfile_filter){.time = "5,6 1,2"}, NULL), 0);
    assert_true(passes_time(1500000000));
    assert_false(passes_time(3000000000));
    assert_true(passes_time(6000000000));
    pf_filter_close(&filter);
}

static void percents_are_of_the_recording(void **state)
{
    (void)state;
    assert_int_equal(compile(&(struct perfile_filter){.time = "10%-20%"}, &span), 0);
    assert_false(passes_time(1099999999));
    assert_true(passes_time(1100000000));
    assert_true(passes_time(1199999999));
    assert_false(passes_time(1200000000)); /* the next share's */
    pf_filter_close(&filter);
    assert_int_equal(compile(&(struct perfile_filter){.time = "30%/2"}, &span), 0);
    assert_false(passes_time(1299999999));
    assert_true(passes_time(1300000000));
    assert_false(passes_time(1600000000));
    pf_filter_close(&filter);
}

static void the_last_percent_includes_the_last_sample(void **state)
{
    (void)state;
    assert_int_equal(compile(&(struct perfile_filter){.time = "50%/2"}, &span), 0);
    assert_true(passes_time(span.last));
    pf_filter_close(&filter);
    assert_int_equal(compile(&(struct perfile_filter){.time = "0%-10%,90%-100%"}, &span), 0);
    assert_true(passes_time(span.first));
    assert_false(passes_time(1500000000));
    assert_true(passes_time(span.last));
    pf_filter_close(&filter);
}

static void relative_times_count_from_the_first_sample(void **state)
{
    const struct perfile_filter wanted = {.time = "+0.25,+0.5"}, open = {.time = "+0.25,"},
                                mixed = {.time = "1.1,+0.5"};
    (void)state;
    assert_int_equal(compile(&wanted, &span), 0);
    assert_false(pf_filter_time(&filter, 1249999999));
    assert_true(pf_filter_time(&filter, 1250000000));
    assert_true(pf_filter_time(&filter, 1500000000));
    assert_false(pf_filter_time(&filter, 1500000001));
    pf_filter_close(&filter);
    assert_int_equal(compile(&open, &span), 0);
    assert_true(pf_filter_time(&filter, UINT64_MAX));
    pf_filter_close(&filter);
    assert_int_equal(compile(&mixed, &span), 0);
    assert_true(pf_filter_time(&filter, 1100000000));
    pf_filter_close(&filter);
    assert_int_equal(compile(&wanted, NULL), PERFILE_ERROR_ABSENT);
    pf_filter_close(&filter);
}

static void percents_need_the_span(void **state)
{
    (void)state;
    assert_int_equal(compile(&(struct perfile_filter){.time = "10%-20%"}, NULL), PERFILE_ERROR_ABSENT);
    assert_non_null(strstr(error.message, "SAMPLE_TIME"));
    pf_filter_close(&filter);
}

static void bad_times_are_named(void **state)
{
    static const char *const bad[] = {
        "1",        "a",       "5,4", "1,2,3",         "120%-130%", "20%-10%",
        "10%/0",    "10%/11",  "%",   "1.1234567890,", "1x,2",      "99999999999999999999,",
        "10%-20%x", "10%-20%,"};
    (void)state;
    for (size_t i = 0; i < PF_COUNT(bad); i++)
        refuses(&(struct perfile_filter){.time = bad[i]}, PERFILE_ERROR_ARGUMENT, "time range");
}

static void cpu_lists(void **state)
{
    (void)state;
    assert_int_equal(compile(&(struct perfile_filter){.cpus = "7,0-3"}, NULL), 0);
    assert_true(passes_cpu(0));
    assert_true(passes_cpu(3));
    assert_false(passes_cpu(4));
    assert_true(passes_cpu(7));
    assert_false(passes_cpu(-1));
    pf_filter_close(&filter);
}

static void bad_lists_are_named(void **state)
{
    (void)state;
    refuses(&(struct perfile_filter){.cpus = "1,x"}, PERFILE_ERROR_ARGUMENT, "\"x\"");
    refuses(&(struct perfile_filter){.cpus = "3-1"}, PERFILE_ERROR_ARGUMENT, "\"3-1\"");
    refuses(&(struct perfile_filter){.cpus = "3-"}, PERFILE_ERROR_ARGUMENT, "\"3-\"");
    refuses(&(struct perfile_filter){.cpus = ""}, PERFILE_ERROR_ARGUMENT, "CPU list");
    refuses(&(struct perfile_filter){.pids = "1-2"}, PERFILE_ERROR_ARGUMENT, "\"1-2\"");
    refuses(&(struct perfile_filter){.tids = "99999999999"}, PERFILE_ERROR_ARGUMENT, "process list");
    refuses(&(struct perfile_filter){.comms = ","}, PERFILE_ERROR_ARGUMENT, "empty");
}

static void all_that_is_passed_must_match(void **state)
{
    (void)state;
    struct perfile_event event = {.name = "sched:sched_switch"};
    struct perfile_event other = {.name = "cycles:u"};
    const struct perfile_filter wanted = {
        .cpus = "1", .pids = "10", .tids = "11,12", .comms = "make,cc1", .events = "sched:sched_switch,cycles"};
    const struct pf_filter_subject good = {.cpu = 1, .pid = 10, .tid = 12, .comm = "cc1", .event = &event};
    struct pf_filter_subject bad = good;
    assert_int_equal(compile(&wanted, NULL), 0);
    assert_true(pf_filter_passes(&filter, &good));
    bad.event = &other;
    assert_true(pf_filter_passes(&filter, &bad)); /* "cycles" */
    bad.comm = "cc";
    assert_false(pf_filter_passes(&filter, &bad));
    bad = good;
    bad.tid = 10;
    assert_false(pf_filter_passes(&filter, &bad));
    bad = good;
    bad.pid = -1;
    assert_false(pf_filter_passes(&filter, &bad));
    pf_filter_close(&filter);
}

static char notify[256];

static void report_notes(void *context, const char *text)
{
    (void)context;
    snprintf(notify + strlen(notify), sizeof(notify) - strlen(notify), "%s\n", text);
}

/* The filter cannot apply where a record does not state the value: the record passes, and that is reported. */
static void what_is_not_stated_passes(void **state)
{
    (void)state;
    const struct perfile_filter wanted = {.time = "1,2", .cpus = "1", .pids = "10", .tids = "11", .comms = "make"};
    const struct pf_filter_subject silent = {
        .time = PF_NO_TIME, .cpu = PF_NO_NUMBER, .pid = PF_NO_NUMBER, .tid = PF_NO_NUMBER};
    struct pf_filter_subject other = silent;
    assert_int_equal(compile(&wanted, NULL), 0);
    assert_true(pf_filter_passes(&filter, &silent));
    other.time = 5;
    assert_false(pf_filter_passes(&filter, &other));
    other = silent;
    other.cpu = 1;
    assert_true(pf_filter_passes(&filter, &other));
    notify[0] = 0;
    pf_filter_notify(&filter, report_notes, NULL);
    assert_string_equal(notify, "samples without a time, which the filter by time keeps: 2\n"
                                "samples without a CPU, which the filter by CPU keeps: 1\n"
                                "samples without a process and thread, which the filters by these keep: 2\n");
    pf_filter_close(&filter);
}

static void event_names_are_complete(void **state)
{
    (void)state;
    struct perfile_event event = {.name = "sched:sched_switch"};
    assert_int_equal(compile(&(struct perfile_filter){.events = "sched"}, NULL), 0);
    assert_false(pf_filter_event(&filter, &event));
    pf_filter_close(&filter);
}

static void commas_of_events(void **state)
{
    static const char *const names[] = {"cycles", "cpu/mem-loads,ldlat=30/P", "odd/name"};
    (void)state;
    assert_int_equal(compile(&(struct perfile_filter){.events = "cycles,cpu/mem-loads,ldlat=30/P,odd/name,"}, NULL), 0);
    assert_int_equal(filter.events.count, PF_COUNT(names));
    for (size_t i = 0; i < PF_COUNT(names); i++)
        assert_string_equal(filter.events.items[i], names[i]);
    pf_filter_close(&filter);
}

static void durations(void **state)
{
    static const struct {
        const char *text;
        uint64_t ns;
    } good[] = {{"1s", 1000000000}, {"100ms", 100000000}, {"20us", 20000}, {"500ns", 500}};
    static const char *const bad[] = {
        "", "5", "0s", "ms", "-1s", "1m", "1.5s", "1s ", "18446744073709551616ns", "18446744074s"};
    uint64_t ns;
    (void)state;
    for (size_t i = 0; i < PF_COUNT(good); i++) {
        assert_int_equal(pf_parse_duration(good[i].text, &ns, NULL), 0);
        assert_int_equal(ns, good[i].ns);
    }
    for (size_t i = 0; i < PF_COUNT(bad); i++) {
        assert_int_equal(pf_parse_duration(bad[i], &ns, &error), PERFILE_ERROR_ARGUMENT);
        assert_non_null(strstr(error.message, bad[i]));
    }
}

static void report_unmatched(void *context, const struct perfile_unmatched *unmatched)
{
    const size_t used = strlen(notify);
    (void)context;
    snprintf(notify + used, sizeof(notify) - used, "%s=%s/%zu ", unmatched->filter ? unmatched->filter : "all",
             unmatched->value ? unmatched->value : "", unmatched->known_count);
}

static void expect_reported(const char *expected)
{
    notify[0] = '\0';
    pf_filter_notify_unmatched(&filter, NULL, NULL, report_unmatched, NULL);
    assert_string_equal(notify, expected);
}

static void what_nothing_matched_is_reported(void **state)
{
    (void)state;
    assert_int_equal(compile(&(struct perfile_filter){.cpus = "1,3", .comms = "make,cc1", .time = "1.5,"}, NULL), 0);
    expect_reported(""); /* there was no sample */
    assert_false(pf_filter_passes(&filter, &(struct pf_filter_subject){.cpu = 2, .comm = "as", .time = 1}));
    expect_reported("time=1.5,/0 cpus=1,3/0 comms=make/1 comms=cc1/1 ");
    assert_false(pf_filter_passes(&filter, &(struct pf_filter_subject){.cpu = 3, .comm = "make", .time = 1}));
    expect_reported("time=1.5,/0 comms=cc1/2 ");
    assert_false(pf_filter_passes(&filter, &(struct pf_filter_subject){.cpu = 2, .comm = "cc1", .time = 2000000000}));
    expect_reported("all=/0 ");
    assert_true(pf_filter_passes(&filter, &(struct pf_filter_subject){.cpu = 1, .comm = "cc1", .time = 2000000000}));
    expect_reported("");
    pf_filter_close(&filter);
}

static void functions_have_short_names(void **state)
{
    static const char *const same[][2] = {
        {"main", "main"},
        {"compute(double)", "compute"},
        {"double geometry::compute<int>(double) const", "compute"},
        {"double geometry::compute<int>(double) const", "compute<int>"},
        {"double geometry::compute<int>(double) const", "geometry::compute"},
        {"double geometry::compute<int>(double) const", "geometry::compute<int>(double) const"},
        {"std::vector<a::b, c<d> >::push_back(a::b const&)", "push_back"},
        {"(anonymous namespace)::run(int)", "run"},
        {"a::(anonymous namespace)::run(int)", "run"},
        {"a::operator()(int)", "operator()"},
        {"a::operator<<(int)", "operator<<"},
        {"A::operator bool() const", "operator bool"},
        {"run(int)::{lambda()#1}::operator()() const", "operator()"},
        {"compute(double) [clone .cold]", "compute"},
        {"a::operator<(int)", "a::operator<"},
        {"bool a::operator-><int>(int)", "operator->"},
        {"<T as core::fmt::Debug>::fmt", "fmt"},
        {"core::ops::function::FnOnce::call_once{{vtable.shim}}", "call_once{{vtable.shim}}"},
    };
    static const char *const others[][2] = {
        {"run(int)::{lambda()#1}::operator()() const", "run"},
        {"A::operator unsigned int() const", "int"},
        {"operator new[](unsigned long)", "operator new"},
        {"compute(double)", "comp"},
        {"compute(double)", "double"},
        {"compute", ""},
        {"a::compute(b)", "a"},
        {"f<compute>(int)", "compute"},
        {"compute.cold", "compute"},
        {"(", "x"},
        {"<", "x"},
        {"::", "x"},
        {">>>)))", "x"},
        {"operator", "op"},
        {"", "x"},
    };
    static const char *const like[][2] = {
        {"heavy(double)", "hea*"},          {"heavy(double)", "*"},         {"heavy(double)", "h?avy"},
        {"ns::heavy<int>(double)", "he*y"}, {"ns::heavy(double)", "ns::*"}, {"void ns::heavy(int)", "*eav*"},
    };
    static const char *const unlike[][2] = {
        {"heavy(double)", "he*x"},
        {"heavy(double)", "heavy?"},
        {"ns::operator+(A)", "operator*"},
        {"f(int)", "g(*)"},
    };
    (void)state;
    for (size_t i = 0; i < PF_COUNT(like); i++)
        assert_true(pf_function_is_called(like[i][0], like[i][1]));
    for (size_t i = 0; i < PF_COUNT(unlike); i++)
        assert_false(pf_function_is_called(unlike[i][0], unlike[i][1]));
    for (size_t i = 0; i < PF_COUNT(same); i++)
        assert_true(pf_function_is_called(same[i][0], same[i][1]));
    for (size_t i = 0; i < PF_COUNT(others); i++)
        assert_false(pf_function_is_called(others[i][0], others[i][1]));
}

static void only_parameters_at_the_end_are_dropped(void **state)
{
    static const char *const names[][2] = {
        {"main", "main"},
        {"run(int)", "run"},
        {"run(int)::{lambda()#1}::operator()() const", "run(int)::{lambda()#1}::operator()"},
        {"run(int)::{lambda()#2}::operator()() const &", "run(int)::{lambda()#2}::operator()"},
        {"main::{lambda(long)#2}", "main::{lambda(long)#2}"},
        {"std::function<void (int)>::operator()(int) const", "std::function<void (int)>::operator()"},
        {"std::_Function_handler<void (long), main::{lambda(long)#2}>::_M_invoke(std::_Any_data const&, long&&)",
         "std::_Function_handler<void (long), main::{lambda(long)#2}>::_M_invoke"},
        {"__invoke_r<void, main()::<lambda(long int)>&, long int>",
         "__invoke_r<void, main()::<lambda(long int)>&, long int>"},
        {"operator()", "operator()"},
        {"A::operator()<int>(int) volatile &&", "A::operator()<int>"},
        {"bool A::operator< <int>(A<(E)1> const&)", "bool A::operator< <int>"},
        {"bool A::operator->*(int) noexcept", "bool A::operator->*"},
        {"A::operator void (*)(int)() const", "A::operator void (*)(int)"},
        {"operator new[](unsigned long)", "operator new[]"},
        {"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
        {"a::(anonymous namespace)::f", "a::(anonymous namespace)::f"},
        {"f(A const&, void (*)(int)) [clone .isra.0] [clone .cold]", "f"},
        {"f(int)@plt", "f@plt"},
        {"f<(E)1>(B<(1)>(2)>)", "f<(E)1>"},
        {"str[abi:cxx11](int) const", "str[abi:cxx11]"},
        {"core::ptr::drop_in_place<(A, B)>", "core::ptr::drop_in_place<(A, B)>"},
        {"<(A, B) as core::fmt::Debug>::fmt", "<(A, B) as core::fmt::Debug>::fmt"},
        {"<fn(A) -> B as C>::call", "<fn(A) -> B as C>::call"},
        {"net/http.(*Client).Do", "net/http.(*Client).Do"},
        {"main.f[go.shape.int]", "main.f[go.shape.int]"},
        {"type:.eq.struct { F func(int); a int }", "type:.eq.struct { F func(int); a int }"},
        {"void Foo.bar(int, java.lang.String)", "void Foo.bar"},
        {"void [app] Foo::Bar(int32)[Tier0]", "void [app] Foo::Bar"},
        {"JS:~(anonymous) file.js:1:2", "JS:~(anonymous) file.js:1:2"},
        {"run (app.py:10)", "run (app.py:10)"},
        {"f(int", "f(int"},
        {"f)int(", "f)int("},
        {"(", "("},
        {"(a)", "(a)"},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < PF_COUNT(names); i++) {
        char name[128];
        strcpy(name, names[i][0]);
        pf_function_drop_parameters(name);
        assert_string_equal(name, names[i][1]);
    }
}

/* Brackets beyond the depth that is followed do not close those within it. */
static void parameters_after_deep_brackets_are_dropped(void **state)
{
    enum { DEEP = 100 };
    char name[4 * DEEP] = "", wanted[4 * DEEP];
    (void)state;
    for (unsigned i = 0; i < DEEP; i++)
        strcat(name, "a<");
    strcat(name, "b()");
    for (unsigned i = 0; i < DEEP; i++)
        strcat(name, ">");
    strcpy(wanted, name);
    strcat(name, "(int)");
    pf_function_drop_parameters(name);
    assert_string_equal(name, wanted);
}

/* Whatever a symbol is called: each name is a block of its own, so that a sanitizer sees what reads beyond it. */
static void any_name_is_looked_at_to_its_end(void **state)
{
    static const char *const pieces[] = {"<", ">",        "(", ")", "::", ":",
                                         " ", "operator", "a", "-", ".",  "(anonymous namespace)"};
    uint64_t noise = 1;
    (void)state;
    for (unsigned i = 0; i < 50000; i++) {
        char text[256] = "";
        for (unsigned count = 0; count < 11; count++) {
            noise = noise * 6364136223846793005u + 1442695040888963407u;
            if (noise >> 60)
                strcat(text, pieces[(noise >> 33) % PF_COUNT(pieces)]);
        }
        char *name = strdup(text);
        assert_non_null(name);
        assert_true(pf_function_is_called(name, text));
        (void)pf_function_is_called(name, "a");
        pf_function_drop_parameters(name);
        free(name);
    }
}

/* ---- lists of names ---- */

static void note_value(void *context, const struct perfile_unmatched *unmatched)
{
    assert_string_equal(unmatched->filter, "symbols");
    assert_string_equal(unmatched->value, "cube");
    assert_int_equal(unmatched->known_count, 2);
    ++*(int *)context;
}

static void lists_of_functions(void **state)
{
    static const char compute[] = "shapes::compute<int>(double)";
    struct pf_names_filter names;
    int notes = 0;
    (void)state;
    assert_int_equal(pf_names_filter_open(&names, "compute,,cube", true, NULL, &error), 0);
    pf_names_filter_notify_unmatched(&names, "symbols", note_value, &notes);
    assert_int_equal(notes, 0); /* nothing was compared */
    assert_true(pf_names_filter_passes(&names, compute));
    assert_false(pf_names_filter_passes(&names, "sphere"));
    assert_false(pf_names_filter_passes(&names, NULL));
    pf_names_filter_notify_unmatched(&names, "symbols", note_value, &notes);
    assert_int_equal(notes, 1);
    pf_names_filter_close(&names);
    assert_int_equal(pf_names_filter_open(&names, "compute", false, NULL, &error), 0);
    assert_false(pf_names_filter_passes(&names, compute));
    pf_names_filter_close(&names);
    assert_int_equal(pf_names_filter_open(&names, ",", false, NULL, &error), PERFILE_ERROR_ARGUMENT);
    pf_names_filter_close(&names);
    assert_int_equal(pf_names_filter_open(&names, NULL, false, NULL, &error), 0);
    assert_true(pf_names_filter_passes(&names, NULL));
    pf_names_filter_close(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_wanted_passes_all),
        cmocka_unit_test(what_nothing_matched_is_reported),
        cmocka_unit_test(functions_have_short_names),
        cmocka_unit_test(only_parameters_at_the_end_are_dropped),
        cmocka_unit_test(parameters_after_deep_brackets_are_dropped),
        cmocka_unit_test(any_name_is_looked_at_to_its_end),
        cmocka_unit_test(close_without_open),
        cmocka_unit_test(time_ranges_include_both_ends),
        cmocka_unit_test(times_below_a_second_need_no_zero),
        cmocka_unit_test(time_ranges_may_be_open),
        cmocka_unit_test(several_time_ranges),
        cmocka_unit_test(percents_are_of_the_recording),
        cmocka_unit_test(the_last_percent_includes_the_last_sample),
        cmocka_unit_test(percents_need_the_span),
        cmocka_unit_test(relative_times_count_from_the_first_sample),
        cmocka_unit_test(bad_times_are_named),
        cmocka_unit_test(cpu_lists),
        cmocka_unit_test(bad_lists_are_named),
        cmocka_unit_test(all_that_is_passed_must_match),
        cmocka_unit_test(what_is_not_stated_passes),
        cmocka_unit_test(event_names_are_complete),
        cmocka_unit_test(commas_of_events),
        cmocka_unit_test(durations),
        cmocka_unit_test(lists_of_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
