/* SPDX-License-Identifier: MIT */
/* Types, configs and bits are what perf 7.2 hands to perf_event_open on the same trees (SYSFS_PATH). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "counting.h"
#include "made_sysfs.h"
#include "record/event_list.h"
#include "record/event_known.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static char server[] = "/tmp/perfile-sys-XXXXXX", hybrid[] = "/tmp/perfile-sys-XXXXXX",
            arm[] = "/tmp/perfile-sys-XXXXXX", guest[] = "/tmp/perfile-sys-XXXXXX";
static struct pf_event_list chosen;
static struct perfile_error error;

static int choose(const char *root, const char *list)
{
    pf_event_list_close(&chosen);
    pf_event_list_open(&chosen, NULL);
    chosen.sysfs = root;
    error.message[0] = '\0';
    return pf_event_list_parse(&chosen, list, &error);
}

static const struct pf_listed_event *one(const char *root, const char *text)
{
    if (choose(root, text) < 0)
        print_message("%s: %s\n", text, error.message);
    assert_int_equal(chosen.count, 1);
    return &chosen.items[0];
}

static void refuses(const char *root, const char *list, int code, const char *message)
{
    if (choose(root, list) != code || strcmp(error.message, message) != 0)
        print_message("%s: %d %s\n", list, error.code, error.message);
    assert_int_equal(error.code, code);
    assert_string_equal(error.message, message);
    assert_int_equal(chosen.count, 0);
}

/* ---- what the text means ----------------------------------------------------------------------------------------- */

static void events_are_those_of_perf(void **state)
{
    static const struct {
        const char *root;
        const char *text;
        uint32_t type;
        uint64_t config;
        uint64_t config1;
    } rows[] = {
        {guest, "cpu-cycles", 0, 0, 0},
        {guest, "cycles", 0, 0, 0},
        {guest, "branches", 0, 4, 0},
        {guest, "idle-cycles-backend", 0, 8, 0},
        {guest, "CPU-CLOCK", 1, 0, 0},
        {guest, "faults", 1, 2, 0},
        {guest, "cs", 1, 3, 0},
        {guest, "cgroup-switches", 1, 11, 0},
        {guest, "software/task-clock/", 1, 1, 0},
        {guest, "software/config=4/", 1, 4, 0},
        {guest, "1:0x3", 1, 3, 0},
        {guest, "L1-dcache-load-misses", 3, 0x10000, 0},
        {guest, "l1d-loads", 3, 0, 0},
        {guest, "LLC-stores", 3, 0x102, 0},
        {guest, "L2-misses-store", 3, 0x10102, 0},
        {guest, "d-tlb-speculative-read-miss", 3, 0x10203, 0},
        {guest, "Data-TLB", 3, 3, 0},
        {guest, "branch-loads", 3, 5, 0},
        {guest, "node-prefetch-misses", 3, 0x10206, 0},
        {guest, "r1A8", 4, 0x1a8, 0},
        {server, "r1a8", 4, 0x1a8, 0},
        {server, "cycles", 0, 0, 0},
        {server, "cpu-cycles", 4, 0x3c, 0},
        {server, "instructions", 4, 0xc0, 0},
        {server, "mem-loads", 4, 0x1cd, 3},
        {server, "cpu/cycles/", 0, 0, 0},
        {server, "cpu/LLC-loads/", 3, 2, 0},
        {server, "cpu/event=0x3c,umask=1,edge/", 4, 0x4013c, 0},
        {server, "cpu/r1a8/", 4, 0x1a8, 0},
        {server, "cpu/config=0x1ff,config1=7/", 4, 0x1ff, 7},
        {server, "cpu/mem-loads,ldlat=30/P", 4, 0x1cd, 30}, /* perf 7.2 has 31: it ors */
        {server, "mem-loads/ldlat=30/", 4, 0x1cd, 30},
        {server, "cpu/offcore_rsp=0xffffffffffffffff/", 4, 0, UINT64_MAX},
        {server, "energy-pkg", 30, 2, 0},
        {server, "uncore_imc_0/umask=0x12345/", 20, 0x12300004500, 0},
        {server, "uncore_imc_free_running/event=1/", 24, 1, 0},
        {server, "intel_pt/tsc,psb_period=3/u", 31, 0x3000400, 0},
        {server, "hv_24x7/ticks,core=2/", 32, 0x1800020000, 0},
        {arm, "cpu_cycles", 41, 0x11, 0},
        {arm, "cycles", 0, 0, 0},
        {arm, "arm_spe/ts_enable=1,load_filter/", 42, 0x200000001, 0},
        {arm, "arm_spe_0//", 42, 1, 0}, /* ts_enable, as perf record sets it later */
        {server, "sched:sched_switch", 2, 300, 0},
        {server, "probe_bash:readline__return", 2, 500, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct pf_listed_event *event = one(rows[i].root, rows[i].text);
        if (event->attr.type != rows[i].type || event->attr.config != rows[i].config)
            print_message("%s: type %u config %#llx\n", rows[i].text, event->attr.type,
                          (unsigned long long)event->attr.config);
        assert_int_equal(event->attr.type, rows[i].type);
        assert_int_equal(event->attr.config, rows[i].config);
        assert_int_equal(event->attr.bp_addr_or_config1, rows[i].config1);
    }
}

static void modifiers_are_those_of_perf(void **state)
{
    static const struct {
        const char *text;
        int user, kernel, hv, idle, host, guest, precise;
    } rows[] = {
        {"cycles", 0, 0, 0, 0, 0, 0, 0},     {"cycles:u", 0, 1, 1, 0, 0, 0, 0},   {"cycles:k", 1, 0, 1, 0, 0, 0, 0},
        {"cycles:uk", 0, 0, 1, 0, 0, 0, 0},  {"cycles:h", 1, 1, 0, 0, 0, 0, 0},   {"cycles:hu", 0, 1, 0, 0, 0, 0, 0},
        {"cycles:ukh", 0, 0, 0, 0, 0, 0, 0}, {"cycles:G", 0, 0, 0, 0, 1, 0, 0},   {"cycles:H", 0, 0, 0, 0, 0, 1, 0},
        {"cycles:HG", 0, 0, 0, 0, 0, 0, 0},  {"cycles:I", 0, 0, 0, 1, 0, 0, 0},   {"cycles:p", 0, 0, 0, 0, 0, 0, 1},
        {"cycles:upp", 0, 1, 1, 0, 0, 0, 2}, {"cycles:ppp", 0, 0, 0, 0, 0, 0, 3}, {"cycles:P", 0, 0, 0, 0, 0, 0, 3},
        {"cycles//u", 0, 1, 1, 0, 0, 0, 0},  {"cycles//:u", 0, 1, 1, 0, 0, 0, 0}, {"cycles:uG", 0, 1, 1, 0, 1, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct pf_listed_event *event = one(guest, rows[i].text);
        assert_int_equal(event->attr.exclude_user, rows[i].user);
        assert_int_equal(event->attr.exclude_kernel, rows[i].kernel);
        assert_int_equal(event->attr.exclude_hv, rows[i].hv);
        assert_int_equal(event->attr.exclude_idle, rows[i].idle);
        assert_int_equal(event->attr.exclude_host, rows[i].host);
        assert_int_equal(event->attr.exclude_guest, rows[i].guest);
        assert_int_equal(event->attr.precise_ip, rows[i].precise);
        assert_int_equal(event->exclude_is_explicit, rows[i].user || rows[i].kernel || rows[i].hv || i == 6);
        assert_string_equal(event->name, rows[i].text);
    }
    assert_true(one(guest, "cycles:P")->precise_max);
    assert_false(one(guest, "cycles:ppp")->precise_max);
    const struct pf_listed_event *event = one(guest, "cpu-clock:DeS");
    assert_true(event->attr.pinned && event->attr.exclusive && event->sample_read);
}

static void breakpoints(void **state)
{
    static const struct {
        const char *text;
        uint64_t length;
        uint32_t type;
        bool user_only;
    } rows[] = {
        {"mem:0x1000", 4, 3, false},       {"mem:4096:rw", 4, 3, false},          {"mem:0x1000/4:w", 4, 2, false},
        {"mem:0x1000/8:rwx", 8, 7, false}, {"mem:0x1000:wu", 4, 2, true},         {"mem:0x1000/1:r:u", 1, 1, true},
        {"mem:0x1000:u", 4, 3, true},      {"mem:0x1000/2/name=x/u", 2, 3, true},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct pf_listed_event *event = one(guest, rows[i].text);
        assert_int_equal(event->attr.type, 5);
        assert_int_equal(event->attr.bp_addr_or_config1, 0x1000);
        assert_int_equal(event->attr.bp_len_or_config2, rows[i].length);
        assert_int_equal(event->attr.bp_type, rows[i].type);
        assert_int_equal(event->attr.exclude_kernel, rows[i].user_only);
        assert_int_equal(event->attr.sample_period_or_freq, 1);
    }
}

static void terms_of_every_event(void **state)
{
    (void)state;
    const struct pf_listed_event *event =
        one(guest, "cpu-clock/period=1000,call-graph=dwarf,stack-size=4096,max-stack=3,no-inherit,time=0,overwrite,"
                   "branch_type=any,cpu=3,name='a, b/c'/u");
    assert_int_equal(event->period, 1000);
    assert_string_equal(event->call_graph, "dwarf");
    assert_int_equal(event->stack_bytes, 4096);
    assert_int_equal(event->max_stack, 3);
    assert_int_equal(event->inherit, 0);
    assert_int_equal(event->time, 0);
    assert_int_equal(event->overwrite, 1);
    assert_string_equal(event->branch_filter, "any");
    assert_string_equal(event->cpus, "3");
    assert_string_equal(event->name, "a, b/c");
    event = one(guest, "cpu-clock/freq=0x32,aux-action=resume,aux-output,no-overwrite/");
    assert_int_equal(event->frequency, 50);
    assert_true(event->attr.aux_resume && event->attr.aux_output);
    assert_int_equal(event->overwrite, 0);
    assert_int_equal(event->inherit, -1);
    assert_int_equal(one(server, "sched:sched_switch/call-graph=no/:u")->attr.exclude_kernel, 1);
    assert_int_equal(one(guest, "bpf-output")->attr.sample_period_or_freq, 1);
    assert_int_equal(one(guest, "cycles:R")->attr.sample_type, 1 << 24);
}

static void several_lists_are_joined(void **state)
{
    (void)state;
    assert_int_equal(choose(guest, " cpu-clock , faults:u\n"), 0);
    assert_int_equal(pf_event_list_parse(&chosen, "{cs,dummy}", &error), 0);
    assert_int_equal(chosen.count, 4);
    assert_string_equal(chosen.items[1].name, "faults:u");
    assert_int_equal(chosen.items[1].leader, 1);
    assert_int_equal(chosen.items[3].leader, 2);
    assert_int_equal(pf_event_list_parse(&chosen, "cs,nonsense", &error), PERFILE_ERROR_ABSENT);
    assert_int_equal(chosen.count, 4); /* all or none */
}

static void groups(void **state)
{
    (void)state;
    assert_int_equal(choose(guest, "g{cpu-clock:u,faults}:kSW,cs"), 0);
    assert_int_equal(chosen.count, 3);
    const struct pf_listed_event *event = chosen.items;
    assert_int_equal(event[0].attr.exclude_user, 0); /* those of the group add to its own */
    assert_int_equal(event[0].attr.exclude_kernel, 0);
    assert_int_equal(event[0].attr.exclude_hv, 1);
    assert_int_equal(event[1].attr.exclude_user, 1);
    assert_int_equal(event[1].leader, 0);
    assert_true(event[0].sample_read && event[1].sample_read && event[1].weak);
    assert_false(event[2].sample_read);
    assert_int_equal(event[2].leader, 2);
    assert_string_equal(event[0].name, "cpu-clock:u");
    assert_int_equal(choose(guest, "{cycles,cs}:De"), 0);
    assert_true(chosen.items[0].attr.pinned && chosen.items[0].attr.exclusive);
    assert_false(chosen.items[1].attr.pinned || chosen.items[1].attr.exclusive);
}

static void groups_are_parted_by_hardware(void **state)
{
    static const char *const names[] = {"cpu-clock", "cpu_atom/cycles/", "cpu_atom/instructions/", "cpu_core/cycles/",
                                        "cpu_core/instructions/"};
    static const uint32_t leaders[] = {0, 0, 0, 3, 3};
    (void)state;
    assert_int_equal(choose(hybrid, "{cpu-clock,cycles,instructions}"), 0);
    assert_int_equal(chosen.count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(chosen.items[i].name, names[i]);
        assert_int_equal(chosen.items[i].leader, leaders[i]);
    }
    assert_int_equal(choose(arm, "{cycles,cpu_cycles}"), 0); /* two types, one PMU */
    assert_int_equal(chosen.items[1].leader, 0);
    assert_int_equal(choose(server, "{cycles,instructions,LLC-loads,r1}"), 0);
    assert_int_equal(chosen.items[3].leader, 0);
}

static void a_hybrid_machine_has_each_event_twice(void **state)
{
    (void)state;
    assert_int_equal(choose(hybrid, "cycles:u"), 0);
    assert_int_equal(chosen.count, 2);
    assert_int_equal(chosen.items[0].attr.config, UINT64_C(40) << 32);
    assert_int_equal(chosen.items[1].attr.config, UINT64_C(4) << 32);
    assert_string_equal(chosen.items[0].name, "cpu_atom/cycles/u");
    assert_string_equal(chosen.items[1].cpus, "0-7");
    assert_string_equal(one(hybrid, "slots")->name, "cpu_core/slots/");
    assert_string_equal(one(hybrid, "r1a8")->name, "cpu_core/r1a8/");
    assert_string_equal(one(hybrid, "cpu_atom/event=0x3c/k")->name, "cpu_atom/event=0x3c/k");
    assert_int_equal(choose(hybrid, "cycles/period=7/"), 0);
    assert_string_equal(chosen.items[1].name, "cpu_core/cycles,period=7/");
    assert_int_equal(chosen.items[1].period, 7);
    assert_int_equal(choose(hybrid, "cpu*/event=1/"), 0);
    assert_int_equal(chosen.count, 2);
    assert_string_equal(chosen.items[0].name, "cpu_atom/event=1/");
}

static void one_name_for_many_pmus(void **state)
{
    static const char *const all[] = {"uncore_imc/cas_count_read/", "imc/cas_count_read/", "cas_count_read",
                                      "uncore_imc*/cas_count_read/", "uncore_imc_[0-9]*/cas_count_read/"};
    (void)state;
    for (size_t i = 0; i < COUNT(all); i++) {
        assert_int_equal(choose(server, all[i]), 0);
        assert_int_equal(chosen.count, 3);
        assert_int_equal(chosen.items[2].attr.type, 22); /* _10 after _1 */
        assert_int_equal(chosen.items[0].attr.config, 0x304);
        assert_string_equal(chosen.items[0].unit, "MiB");
        assert_true(chosen.items[0].scale > 6.1e-5 && chosen.items[0].scale < 6.2e-5);
        assert_string_equal(chosen.items[0].cpus, "0,4");
        assert_string_equal(chosen.items[0].name, all[i]);
    }
}

static void wildcards_of_tracepoints(void **state)
{
    (void)state;
    assert_int_equal(choose(server, "sched:*"), 0);
    assert_int_equal(chosen.count, 2);
    assert_string_equal(chosen.items[0].name, "sched:sched_switch");
    assert_int_equal(choose(server, "syscalls:sys_enter_*"), 0);
    assert_int_equal(chosen.count, 2);
    assert_int_equal(choose(server, "s*:*:u"), 0);
    assert_int_equal(chosen.count, 5);
    assert_int_equal(chosen.items[4].attr.exclude_kernel, 1);
    assert_string_equal(chosen.items[4].name, "syscalls:sys_exit_read");
    assert_int_equal(chosen.items[4].attr.sample_period_or_freq, 1);
    assert_int_equal(choose(server, "cpu-clock,sched:*,page-faults"), 0);
    assert_int_equal(chosen.count, 4);
    for (size_t i = 0; i < chosen.count; i++)
        assert_int_equal(chosen.items[i].position, "\0\1\1\2"[i]);
}

/* ---- what there is not ------------------------------------------------------------------------------------------- */

static void messages_name_the_piece(void **state)
{
    enum { A = PERFILE_ERROR_ARGUMENT, NONE = PERFILE_ERROR_ABSENT };
    static const struct {
        const char *text;
        int code;
        const char *message;
    } rows[] = {
        {"cpu-clok", NONE, "events: unknown event cpu-clok; did you mean cpu-clock?"},
        {"cs,cycels:u", NONE, "events: unknown event cycels; did you mean cycles?"},
        {"shced_switch", NONE, "events: unknown event shced_switch; did you mean sched:sched_switch?"},
        {"qwertyuiop", NONE, "events: unknown event qwertyuiop"},
        {"L1-icache-stores", NONE,
         "events: unknown event L1-icache-stores; did you mean "
         "L1-dcache-stores?"},
        {"cpuu/event=1/", NONE, "events: unknown PMU or event cpuu; did you mean cpu?"},
        {"cpu/evnt=1/", A, "events: the PMU cpu has no term or event evnt; did you mean event?"},
        {"msr/tcs/", A, "events: the PMU msr has no term or event tcs; did you mean tsc?"},
        {"cpu/umask=0x1ff/", A, "events: umask=0x1ff is too large: at most 255"},
        {"cpu/event=x/", A, "events: event=x needs a number: event=N"},
        {"cpu/cpu-cycles,instructions/", A, "events: cpu-cycles and instructions are two events of cpu"},
        {"cpu/=1/", A, "events: =1 has no name in front of the ="},
        {"hv_24x7/ticks/", A, "events: this event of hv_24x7 needs a value of yours: core=N"},
        {"strange/broken/", A, "events: the PMU strange has no term or event nothing"},
        {"strange/bad=1/", A, "events: the PMU strange has no term or event bad"},
        {"msr", A, "events: msr is a PMU; name its event: msr/.../"},
        {"shed:sched_switch", NONE, "events: no tracepoints of shed, as in shed:sched_switch; did you mean sched?"},
        {"sched:sched_swich", NONE, "events: sched has no tracepoint sched_swich; did you mean sched_switch?"},
        {"cs:x", A, "events: invalid modifier \"x\" of cs; valid: u k h (modes), G H (guest, host), I p P S D W e"},
        {"cs:uu", A, "events: the modifiers uu have a letter twice"},
        {"cs:pppp", A, "events: the modifiers pppp have more than three p"},
        {"cs:pP", A, "events: the modifiers pP have both p and P"},
        {"cs:W", A, "events: cs:W: W is only valid for groups"},
        {"cs:", A, "events: missing text after the colon of cs"},
        {"", A, "events: missing event at the end"},
        {"cs,", A, "events: missing event at the end"},
        {",cs", A, "events: missing event before \",cs\""},
        {"{cs", A, "events: missing } after the last event of a group"},
        {"{cs,faults}:x", A,
         "events: invalid modifier \"x\" of the group; valid: u k h (modes), G H (guest, host), I p P S D W e"},
        {"cs}", A, "events: missing comma before \"}\""},
        {"cs/period=1", A, "events: missing / after the terms of cs/period=1"},
        {"cs/period=1,freq=2/", A, "events: period=1,freq=2: period and freq exclude each other"},
        {"cs/max-stack=0x100000000/", A, "events: max-stack=0x100000000 is too large: at most 4294967295"},
        {"cs/name=/", A, "events: name= needs a value: name=..."},
        {"cs/ratio-to-prev=2/", PERFILE_ERROR_UNSUPPORTED, "events: ratio-to-prev cannot be recorded"},
        {"mem:abc", A, "events: mem:abc: the address is not a number"},
        {"mem:0x10/3", A, "events: mem:0x10/3: the length is not 1, 2, 4 or 8"},
        {"1:x", A, "events: 1:x is not TYPE:CONFIG, two numbers"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        refuses(server, rows[i].text, rows[i].code, rows[i].message);
}

static void a_guest_without_pmu_and_tracefs(void **state)
{
    char message[256];
    (void)state;
    refuses(guest, "cpu/event=1/", PERFILE_ERROR_ABSENT,
            "events: unknown PMU or event cpu; this machine has no CPU PMU, like many virtual machines");
    snprintf(message, sizeof(message),
             "tracepoints: tracefs is not mounted; as root: mount -t tracefs tracefs %s/kernel/tracing", guest);
    refuses(guest, "sched:sched_switch", PERFILE_ERROR_OPEN, message);
}

static void tracefs_that_is_closed(void **state)
{
    char path[256];
    (void)state;
    if (geteuid() == 0)
        skip(); /* root may read everything */
    snprintf(path, sizeof(path), "%s/kernel/tracing/events/sched/sched_switch/id", server);
    assert_int_equal(chmod(path, 0), 0);
    assert_int_equal(choose(server, "sched:sched_switch"), PERFILE_ERROR_OPEN);
    assert_non_null(strstr(error.message, "remount,mode=750,gid="));
    assert_int_equal(chmod(path, 0644), 0);
    snprintf(path, sizeof(path), "%s/kernel/tracing", server);
    assert_int_equal(chmod(path, 0), 0);
    assert_int_equal(choose(server, "sched:sched_switch"), PERFILE_ERROR_OPEN);
    assert_non_null(strstr(error.message, "remount,mode=750,gid="));
    assert_int_equal(chmod(path, 0755), 0);
}

static void too_many_events(void **state)
{
    enum { TIMES = 65537 };
    char *list = malloc(TIMES * 3 + 1);
    (void)state;
    assert_non_null(list);
    for (size_t i = 0; i < TIMES; i++)
        memcpy(list + i * 3, "r1,", 3);
    list[TIMES * 3 - 1] = '\0';
    refuses(guest, list, PERFILE_ERROR_LIMIT, "events: more than 65536");
    free(list);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void memory_short_anywhere(void **state)
{
    static const char list[] = "{cycles,instructions/period=1/}:u,uncore_imc/cas_count_read/,sched:*,cpu-cycels";
    bool failed = true;
    (void)state;
    for (int left = 0; failed; left++) {
        struct counting memory;
        struct pf_event_list short_of;
        counting_open(&memory, left);
        pf_event_list_open(&short_of, &memory.allocator);
        short_of.sysfs = server;
        const int result = pf_event_list_parse(&short_of, list, &error);
        failed = memory.left <= 0;
        if (!failed)
            assert_int_equal(result, PERFILE_ERROR_ABSENT);
        else
            assert_true(result == PERFILE_ERROR_MEMORY || result == PERFILE_ERROR_ABSENT);
        assert_int_equal(short_of.count, 0);
        pf_event_list_close(&short_of);
        counting_close(&memory);
        assert_true(left < 2000);
    }
}

/* ---- listing ----------------------------------------------------------------------------------------------------- */

struct seen {
    size_t count;
    size_t stop_at;
    char names[4096];
};

static int see(void *context, const struct perfile_known_event *event)
{
    struct seen *seen = context;
    const size_t used = strlen(seen->names);
    seen->count++;
    snprintf(seen->names + used, sizeof(seen->names) - used, "%s %s%s\n", event->kind, event->name,
             event->works ? "" : " -");
    return seen->count == seen->stop_at;
}

static int list_events(struct seen *seen, const char *root, const char *pattern)
{
    seen->count = 0;
    seen->names[0] = '\0';
    return pf_known_events(&(struct pf_known_options){.sysfs = root}, pattern, see, seen, &error);
}

static void known_events(void **state)
{
    struct seen seen = {0};
    (void)state;
    assert_int_equal(list_events(&seen, server, "CYCLES"), 0);
    assert_string_equal(seen.names,
                        "hardware cpu-cycles\nhardware bus-cycles\nhardware stalled-cycles-frontend\nhardware "
                        "stalled-cycles-backend\nhardware ref-cycles\npmu cpu/cpu-cycles/\n");
    assert_int_equal(list_events(&seen, server, "imc"), 0);
    assert_string_equal(seen.names, "pmu uncore_imc/cas_count_read/\npmu uncore_imc/clockticks/\nraw "
                                    "uncore_imc/TERM=VALUE,.../\nraw uncore_imc_free_running/TERM=VALUE,.../\n");
    assert_int_equal(list_events(&seen, server, "s*:*"), 0);
    assert_string_equal(seen.names, "tracepoint sched:sched_switch\ntracepoint sched:sched_wakeup\ntracepoint "
                                    "syscalls:sys_enter_read\ntracepoint syscalls:sys_enter_readv\ntracepoint "
                                    "syscalls:sys_exit_read\n");
    assert_int_equal(list_events(&seen, server, "broken"), 0);
    assert_string_equal(seen.names, "pmu strange/broken/ -\n");
    assert_int_equal(list_events(&seen, server, "none of this name"), 0);
    assert_int_equal(seen.count, 0);
    seen.stop_at = 2;
    assert_int_equal(list_events(&seen, server, NULL), PERFILE_ERROR_STOPPED);
    assert_int_equal(seen.count, 2);
    seen.stop_at = 0;
    assert_int_equal(list_events(&seen, guest, "clock"), PERFILE_ERROR_OPEN); /* no tracefs: after all the others */
    assert_string_equal(seen.names, "software cpu-clock\nsoftware task-clock\n");
}

/* Each name that the list has can be chosen. */
static int choose_it(void *context, const struct perfile_known_event *event)
{
    const bool fill = strchr(event->name, '?') || strstr(event->name, "TERM=") || strchr(event->name, '[') ||
                      !strcmp(event->name, "rHEX");
    if (fill || !event->works)
        return 0;
    if (choose(context, event->name) < 0)
        print_message("%s: %s\n", event->name, error.message);
    assert_true(chosen.count > 0);
    return 0;
}

static void what_is_known_can_be_chosen(void **state)
{
    char *const roots[] = {server, hybrid, arm};
    (void)state;
    for (size_t i = 0; i < COUNT(roots); i++)
        assert_int_equal(
            pf_known_events(&(struct pf_known_options){.sysfs = roots[i]}, NULL, choose_it, roots[i], &error), 0);
}

static int make_trees(void **state)
{
    (void)state;
    return made_sysfs(server, made_server) && made_sysfs(hybrid, made_hybrid) && made_sysfs(arm, made_arm) &&
                   made_sysfs(guest, made_guest)
               ? 0
               : -1;
}

static int remove_trees(void **state)
{
    (void)state;
    pf_event_list_close(&chosen);
    made_remove(server);
    made_remove(hybrid);
    made_remove(arm);
    made_remove(guest);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_those_of_perf),
        cmocka_unit_test(modifiers_are_those_of_perf),
        cmocka_unit_test(breakpoints),
        cmocka_unit_test(terms_of_every_event),
        cmocka_unit_test(several_lists_are_joined),
        cmocka_unit_test(groups),
        cmocka_unit_test(groups_are_parted_by_hardware),
        cmocka_unit_test(a_hybrid_machine_has_each_event_twice),
        cmocka_unit_test(one_name_for_many_pmus),
        cmocka_unit_test(wildcards_of_tracepoints),
        cmocka_unit_test(messages_name_the_piece),
        cmocka_unit_test(a_guest_without_pmu_and_tracefs),
        cmocka_unit_test(tracefs_that_is_closed),
        cmocka_unit_test(too_many_events),
        cmocka_unit_test(memory_short_anywhere),
        cmocka_unit_test(known_events),
        cmocka_unit_test(what_is_known_can_be_chosen),
    };
    return cmocka_run_group_tests(tests, make_trees, remove_trees);
}
