/* SPDX-License-Identifier: MIT */
/* From options to attrs: what the kernel is asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_sysfs.h"
#include "record/events.h"

static char guest[] = "/tmp/perfile-sys-XXXXXX";
static struct pf_event_list chosen;
static struct perfile_error error;
static uint32_t version; /* of perf that is to read it */
static bool everybody = true;

/* The attrs of a list of events, on a machine without a PMU. */
static int configure(const char *events, const struct perfile_recorder_options *options)
{
    const struct pf_target target = {.everybody = everybody};
    pf_event_list_close(&chosen);
    pf_event_list_open(&chosen, NULL);
    chosen.sysfs = guest;
    chosen.version = version;
    const int result = pf_event_list_parse(&chosen, events, &error);
    return result < 0 ? result : pf_events_configure(&chosen, &target, options, &error);
}

static const struct perfile_attr *attr_of(const char *events, const struct perfile_recorder_options *options)
{
    assert_int_equal(configure(events, options), 0);
    return &chosen.items[0].attr;
}

static void bpf_output_has_a_sample_for_each(void **state)
{
    const struct perfile_recorder_options options = PERFILE_RECORDER_OPTIONS_INIT;
    (void)state;
    const struct perfile_attr *attr = attr_of("bpf-output", &options);
    assert_int_equal(attr->freq, 0);
    assert_int_equal(attr->sample_period_or_freq, 1);
    attr = attr_of("cpu-clock", &options);
    assert_int_equal(attr->freq, 1);
    assert_int_equal(attr->sample_period_or_freq, 4000);
}

static void terms_of_branches_are_used(void **state)
{
    struct perfile_recorder_options options = PERFILE_RECORDER_OPTIONS_INIT;
    (void)state;
    const struct perfile_attr *attr = attr_of("cpu-clock/branch_type=any_call/", &options);
    assert_true(attr->sample_type & PERFILE_SAMPLE_BRANCH_STACK);
    assert_true(attr->branch_sample_type & 1 << 4);
    options.branch_filter = "any";
    attr = attr_of("cpu-clock/branch_type=any_call/", &options);
    assert_true(attr->branch_sample_type & 1 << 4);
    assert_false(attr->branch_sample_type & 1 << 3);
    assert_int_equal(configure("cpu-clock/branch_type=nonsense/", &options), PERFILE_ERROR_ARGUMENT);
    assert_int_equal(configure("cpu-clock/nr=3/", &options), PERFILE_ERROR_UNSUPPORTED);
}

#if defined(__x86_64__)
static void user_regs_add_to_those_of_the_unwinder(void **state)
{
    struct perfile_recorder_options options = PERFILE_RECORDER_OPTIONS_INIT;
    (void)state;
    options.call_graph = "dwarf";
    options.user_regs = "ip";
    assert_int_equal(attr_of("cpu-clock", &options)->sample_regs_user, 0xff0fff);
    options.call_graph = NULL;
    assert_int_equal(attr_of("cpu-clock", &options)->sample_regs_user, 0x100);
}

/* What "auto" becomes: dumps for a stage, dumps for the recording, or chains by the kernel. */
static void stacks_are_dumped_for_a_stage(void **state)
{
    static const struct perfile_recorder_stage stage = {.size = sizeof(stage)};
    struct perfile_recorder_options options = PERFILE_RECORDER_OPTIONS_INIT;
    (void)state;
    options.call_graph = "auto";
    assert_int_equal(configure("cpu-clock", &options), PERFILE_ERROR_ARGUMENT); /* there is no stage */
    options.stage = &stage;
    const struct perfile_attr *attr = attr_of("cpu-clock", &options);
    assert_true(chosen.unwinds && !attr->exclude_callchain_user); /* which continues what a dump cuts */
    assert_int_equal(attr->sample_stack_user, 32768);
    options.call_graph = "auto,8192";
    options.max_stack = 500; /* more than the kernel allows */
    assert_int_equal(attr_of("cpu-clock", &options)->sample_stack_user, 8192);
    assert_int_equal(chosen.items[0].attr.sample_max_stack, 127);
    assert_int_equal(configure("cpu-clock/call-graph=dwarf/,cpu-clock", &options), 0);
    assert_false(chosen.unwinds);
    assert_int_equal(chosen.items[1].attr.sample_stack_user, 8192);
    options.user_regs = "ip";
    attr = attr_of("cpu-clock", &options);
    assert_true(!chosen.unwinds && attr->sample_type & PERFILE_SAMPLE_CALLCHAIN && !attr->exclude_callchain_user);
    assert_false(attr->sample_type & PERFILE_SAMPLE_STACK_USER);
}
#endif

static void clocks_are_those_of_perf(void **state)
{
    static const struct {
        const char *name;
        int clock; /* -1: none */
    } rows[] = {
        {"realtime", 0},       {"monotonic", 1}, {"CLOCK_MONOTONIC_RAW", 4},
        {"boot", 7},           {"Tai", 11},      {"4", 4},
        {"monotonic,tai", -1}, {"", -1},         {"4x", -1},
    };
    struct perfile_recorder_options options = PERFILE_RECORDER_OPTIONS_INIT;
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        options.clock = rows[i].name;
        const int result = configure("cpu-clock", &options);
        assert_int_equal(result, rows[i].clock < 0 ? PERFILE_ERROR_ARGUMENT : 0);
        if (result < 0)
            continue;
        assert_int_equal(chosen.items[0].attr.use_clockid, 1);
        assert_int_equal(chosen.items[0].attr.clockid, rows[i].clock);
    }
}

static void an_older_perf_is_not_asked_too_much(void **state)
{
    struct perfile_recorder_options options = PERFILE_RECORDER_OPTIONS_INIT;
    const struct perfile_attr *attr;
    (void)state;
    everybody = false;
    options.flags = PERFILE_RECORDER_NO_INHERIT | PERFILE_RECORDER_KERNEL_BUILD_IDS | PERFILE_RECORDER_CGROUPS |
                    PERFILE_RECORDER_NAMESPACES | PERFILE_RECORDER_PHYS_ADDRESS;
    attr = attr_of("cpu-clock", &options);
    assert_true(attr->cgroup && attr->namespaces && attr->ksymbol && attr->build_id);
    assert_true(attr->read_format & 16 && attr->sample_type & PERFILE_SAMPLE_CGROUP);
    version = 5004;
    assert_true(chosen.build_ids);
    attr = attr_of("cpu-clock", &options);
    assert_true(attr->namespaces && attr->ksymbol && attr->mmap2 && !chosen.build_ids);
    assert_false(attr->cgroup || attr->build_id || attr->read_format & 16 || attr->sample_type & PERFILE_SAMPLE_CGROUP);
    version = 4001;
    attr = attr_of("cpu-clock", &options);
    assert_true(attr->mmap2 && attr->comm && attr->task);
    assert_false(attr->namespaces || attr->ksymbol || attr->bpf_event || attr->sample_type & PERFILE_SAMPLE_PHYS_ADDR);
    assert_int_equal(configure("cpu-clock/config3=1/", &options), PERFILE_ERROR_UNSUPPORTED);
    version = 6003;
    assert_int_equal(configure("cpu-clock/config3=1/", &options), 0);
    version = 0;
    everybody = true;
}

static void overwriting_is_for_all(void **state)
{
    struct perfile_recorder_options options = PERFILE_RECORDER_OPTIONS_INIT;
    (void)state;
    assert_int_equal(configure("cpu-clock/overwrite/,page-faults", &options), 0);
    assert_int_equal(chosen.count, 3);
    assert_int_equal(chosen.tracking, 2);
    for (size_t i = 0; i < chosen.count; i++) {
        assert_int_equal(chosen.items[i].attr.write_backward, 1);
        assert_int_equal(chosen.items[i].attr.mmap, i == 2);
        assert_int_equal(chosen.items[i].attr.disabled, i != 2);
    }
    assert_int_equal(configure("cpu-clock/overwrite/,page-faults/no-overwrite/", &options), PERFILE_ERROR_ARGUMENT);
}

/* What is forked while the recorder looks at /proc would have no name. */
static void all_that_runs_is_tracked_from_the_opening_on(void **state)
{
    const struct perfile_recorder_options options = {.size = sizeof(options), .flags = PERFILE_RECORDER_ALL_CPUS};
    (void)state;
    assert_int_equal(configure("cpu-clock", &options), 0);
    assert_int_equal(chosen.count, 2);
    assert_int_equal(chosen.tracking, 1);
    assert_false(chosen.items[1].attr.disabled);
    assert_true(chosen.items[1].attr.task && chosen.items[1].attr.comm && chosen.items[1].attr.mmap);
    assert_true(chosen.items[0].attr.disabled && !chosen.items[0].attr.task);
    /* the kernel would mark the records of other recorders, too */
    assert_true(chosen.build_ids && !chosen.items[1].attr.build_id);
}

static void options_for_all_events_change_each(void **state)
{
    struct perfile_recorder_options options = PERFILE_RECORDER_OPTIONS_INIT;
    (void)state;
    options.call_graph = "fp";
    options.flags = PERFILE_RECORDER_ALL_USER | PERFILE_RECORDER_USER_CALLCHAINS;
    const struct perfile_attr *attr = attr_of("cpu-clock:k", &options);
    assert_true(attr->exclude_kernel && !attr->exclude_user && attr->exclude_callchain_kernel);
    options.flags = PERFILE_RECORDER_ALL_KERNEL | PERFILE_RECORDER_KERNEL_CALLCHAINS;
    attr = attr_of("cpu-clock", &options);
    assert_true(attr->exclude_user && !attr->exclude_kernel && attr->exclude_callchain_user);
    assert_true(chosen.items[0].exclude_is_explicit); /* it is refused rather than recorded without the kernel */
    options.flags = PERFILE_RECORDER_NO_SAMPLES | PERFILE_RECORDER_NO_BUILD_IDS;
    attr = attr_of("cpu-clock", &options);
    assert_true(!attr->freq && !attr->sample_period_or_freq && !chosen.items[chosen.tracking].attr.build_id);
}

static int make_tree(void **state)
{
    (void)state;
    return made_sysfs(guest, made_guest) ? 0 : -1;
}

static int remove_tree(void **state)
{
    (void)state;
    pf_event_list_close(&chosen);
    made_remove(guest);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bpf_output_has_a_sample_for_each),
        cmocka_unit_test(terms_of_branches_are_used),
#if defined(__x86_64__)
        cmocka_unit_test(user_regs_add_to_those_of_the_unwinder),
        cmocka_unit_test(stacks_are_dumped_for_a_stage),
#endif
        cmocka_unit_test(clocks_are_those_of_perf),
        cmocka_unit_test(an_older_perf_is_not_asked_too_much),
        cmocka_unit_test(overwriting_is_for_all),
        cmocka_unit_test(all_that_runs_is_tracked_from_the_opening_on),
        cmocka_unit_test(options_for_all_events_change_each),
    };
    return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
