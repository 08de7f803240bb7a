/* SPDX-License-Identifier: MIT */
#include "counting.h"

#include "output/flame/bottom.h"

static const struct perfile_event with_all = {
    .attr = &(const struct perfile_attr){.sample_type = PERFILE_SAMPLE_CPU | PERFILE_SAMPLE_TIME}};
static const struct perfile_event with_nothing = {.attr = &(const struct perfile_attr){0}};

static int open_bottom(struct pf_bottom *bottom, const char *by, const char *quantum)
{
    struct perfile_error error;
    return pf_bottom_open(bottom, &(struct pf_bottom_options){pf_allocator_or_default(NULL), by, quantum, NULL},
                          &error);
}

static const struct pf_flame_frame *frame_of(struct pf_bottom *bottom, size_t level,
                                             const struct pf_profile_sample *sample)
{
    const uint32_t frame = pf_bottom_frame(bottom, level, sample);
    assert_true(frame < bottom->frame_count);
    return &bottom->frames[frame];
}

static void test_options(void **state)
{
    static const char *const wrong[][2] = {
        {"", NULL},
        {"comm,", NULL},
        {",comm", NULL},
        {"comms", NULL},
        {"comm,cpu,comm", NULL},
        {"comm", "1s"},
        {"time", ""},
        {"time", "10"},
        {"time", "0ms"},
        {"time", "1m"},
        {"time", "1.5s"},
        {"time", "-1s"},
        {"time", "1s "},
        {"time", "ms"},
        {"time", "18446744074s"},
        {"time", "99999999999999999999ns"},
    };
    (void)state;
    for (size_t i = 0; i < PF_COUNT(wrong); i++) {
        struct pf_bottom bottom;
        assert_int_equal(open_bottom(&bottom, wrong[i][0], wrong[i][1]), PERFILE_ERROR_ARGUMENT);
        pf_bottom_close(&bottom);
    }
    struct pf_bottom bottom;
    assert_int_equal(open_bottom(&bottom, "time,cpu,tid,pid,comm", "50us"), 0);
    assert_int_equal(bottom.level_count, 5);
    assert_int_equal(bottom.quantum_ns, 50000);
    pf_bottom_close(&bottom);
}

static void test_threads(void **state)
{
    (void)state;
    struct pf_bottom bottom;
    const struct pf_profile_sample one = {.event = &with_all, .comm = "make", .pid = 12, .tid = 13};
    struct pf_profile_sample other = one;
    other.tid = 14;
    assert_int_equal(open_bottom(&bottom, "comm,pid,tid", NULL), 0);
    for (size_t level = 0; level < 3; level++) {
        const uint32_t frame = pf_bottom_frame(&bottom, level, &one);
        assert_int_equal(bottom.frames[frame].by, level);
        assert_int_equal(bottom.frames[frame].kind, PF_FLAME_THREAD);
        assert_string_equal(bottom.frames[frame].name, "make");
        assert_int_equal(pf_bottom_frame(&bottom, level, &one), frame);
        assert_int_equal(pf_bottom_frame(&bottom, level, &other) == frame, level < 2);
    }
    assert_int_equal(bottom.frame_count, 4);
    pf_bottom_close(&bottom);
}

static void test_positions(void **state)
{
    (void)state;
    struct pf_bottom bottom;
    const struct pf_profile_sample early = {.event = &with_all, .comm = "a", .cpu = 3, .time = 9950000000};
    const struct pf_profile_sample late = {.event = &with_all, .comm = "b", .cpu = 1234, .time = 100000000000};
    const struct pf_profile_sample nowhere = {.event = &with_nothing, .comm = "c"};
    assert_int_equal(open_bottom(&bottom, "cpu,time", NULL), 0);
    assert_string_equal(frame_of(&bottom, 0, &early)->name, "cpu003");
    assert_string_equal(frame_of(&bottom, 0, &late)->name, "cpu1234");
    assert_string_equal(frame_of(&bottom, 0, &nowhere)->name, "[no cpu]");
    frame_of(&bottom, 1, &early);
    frame_of(&bottom, 1, &late);
    frame_of(&bottom, 1, &nowhere);
    assert_true(pf_bottom_finish(&bottom));
    assert_string_equal(frame_of(&bottom, 1, &early)->name, "009.9s"); /* in the order of the times */
    assert_string_equal(frame_of(&bottom, 1, &late)->name, "100.0s");
    assert_string_equal(frame_of(&bottom, 1, &nowhere)->name, "[no time]");
    assert_int_equal(bottom.frame_count, 6);
    pf_bottom_close(&bottom);
}

static void test_quantum(void **state)
{
    static const char *const names[][2] = {
        {"1s", "1s"}, {"250ms", "1.25s"}, {"1us", "1.300000s"}, {"7ns", "1.299999995s"}, {"3s", "0s"}};
    (void)state;
    for (size_t i = 0; i < PF_COUNT(names); i++) {
        struct pf_bottom bottom;
        const struct pf_profile_sample sample = {.event = &with_all, .comm = "a", .time = 1300000000};
        assert_int_equal(open_bottom(&bottom, "time", names[i][0]), 0);
        frame_of(&bottom, 0, &sample);
        assert_true(pf_bottom_finish(&bottom));
        assert_string_equal(frame_of(&bottom, 0, &sample)->name, names[i][1]);
        pf_bottom_close(&bottom);
    }
}

/* Whatever allocation fails, all the others are given back. */
static void test_memory_short(void **state)
{
    const struct pf_profile_sample sample = {.event = &with_all, .comm = "make", .time = 1};
    bool fine = false;
    (void)state;
    for (int left = 0; !fine; left++) {
        struct counting c;
        struct pf_bottom bottom;
        assert_true(left < 100);
        counting_open(&c, left);
        fine = pf_bottom_open(&bottom, &(struct pf_bottom_options){&c.allocator, .by = "comm,cpu,time"}, NULL) == 0;
        for (size_t level = 0; fine && level < 3; level++)
            fine = pf_bottom_frame(&bottom, level, &sample) != UINT32_MAX;
        fine = fine && pf_bottom_finish(&bottom);
        pf_bottom_close(&bottom);
        counting_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options), cmocka_unit_test(test_threads),      cmocka_unit_test(test_positions),
        cmocka_unit_test(test_quantum), cmocka_unit_test(test_memory_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
