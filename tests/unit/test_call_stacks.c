/* SPDX-License-Identifier: MIT */
/* Stacks of calls, from branches by hand: functions are 256 bytes long, and instructions of branches 2 bytes. */
#include "analysis/calls/stacks.h"
#include "hwtrace/flow.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

enum { BRANCH_BYTES = 2, FUNCTION_BYTES = 256, STEPS = 20000, WALKED_DEPTH = 40, FUNCTIONS = 30 };

#define CALL (PF_FLOW_IS_BRANCH | PF_FLOW_IS_CALL)
#define RETURN (PF_FLOW_IS_BRANCH | PF_FLOW_IS_RETURN)
#define JUMP PF_FLOW_IS_BRANCH
#define BEGIN (PF_FLOW_IS_BRANCH | PF_FLOW_IS_BEGIN)
#define END (PF_FLOW_IS_BRANCH | PF_FLOW_IS_END)
#define SYSCALL (CALL | PF_FLOW_IS_SYSTEM)
#define SYSRET (RETURN | PF_FLOW_IS_SYSTEM)
#define INTERRUPT (CALL | PF_FLOW_IS_ASYNC | PF_FLOW_IS_INTERRUPT)
#define IRET (RETURN | PF_FLOW_IS_INTERRUPT)
#define KERNEL (UINT64_C(0xffffffff) << 32)

static struct pf_call_function function_at(void *context, int32_t pid, uint64_t address)
{
    const uint64_t start = address & ~(uint64_t)(FUNCTION_BYTES - 1);
    (void)context;
    (void)pid;
    return (struct pf_call_function){start, start + FUNCTION_BYTES};
}

struct bench {
    struct pf_call_stacks stacks;
    char seen[4096]; /* the calls that ended since the last look */
    uint64_t time;
    int32_t tid;
};

static void set_up(struct bench *bench)
{
    *bench = (struct bench){.tid = 1};
    pf_call_stacks_open(&bench->stacks, pf_allocator_or_default(NULL));
    bench->stacks.function = function_at;
}

/* Each branch comes 10 ns after the one before, and ends 3 instructions. */
static void go(struct bench *bench, uint32_t flags, uint64_t from, uint64_t to)
{
    const struct pf_call_branch branch = {.time = bench->time += 10,
                                          .from = from,
                                          .to = to,
                                          .insns = 3,
                                          .cycles = 5,
                                          .flags = flags,
                                          .insn_bytes = from && !(flags & PF_FLOW_IS_ASYNC) ? BRANCH_BYTES : 0,
                                          .pid = 1,
                                          .tid = bench->tid};
    struct pf_call_thread *thread = pf_call_stacks_thread(&bench->stacks, 1, bench->tid);
    const struct pf_call_change change = pf_call_stacks_plan(&bench->stacks, thread, &branch);
    assert_true(pf_call_stacks_apply(&bench->stacks, thread, &branch, &change));
}

/* A thread whose trace began in the function at 0x100. */
static int begin(void **state)
{
    static struct bench bench;
    set_up(&bench);
    go(&bench, BEGIN, 0, 0x110);
    *state = &bench;
    return 0;
}

static int clean_up(void **state)
{
    struct bench *bench = *state;
    pf_call_stacks_close(&bench->stacks);
    return 0;
}

static void end_all(struct bench *bench, enum pf_call_ending ending)
{
    for (struct pf_call_thread *thread = bench->stacks.first; thread; thread = thread->next)
        assert_true(pf_call_stacks_end(&bench->stacks, thread, bench->time, ending));
}

/* "100@10+20 d1 cr" is the function at 0x100, from 10 ns on, 20 ns long, one call around it, called, returned. */
static void check(struct bench *bench, const char *wanted)
{
    static const char kinds[] = "bctsiog", endings[] = "rluxeTd";
    size_t used = 0;
    bench->seen[0] = '\0';
    for (size_t i = 0; i < bench->stacks.ended_count; i++) {
        const struct pf_call *call = &bench->stacks.ended[i];
        used += (size_t)snprintf(bench->seen + used, sizeof(bench->seen) - used,
                                 "%s%" PRIx64 "@%" PRIu64 "+%" PRIu64 " d%u %c%c", i ? ", " : "",
                                 call->address & 0xffffff, call->begin, call->end - call->begin, call->depth,
                                 kinds[call->kind], endings[call->ending]);
    }
    bench->stacks.ended_count = 0;
    assert_string_equal(bench->seen, wanted);
}

static void finish(struct bench *bench, const char *wanted)
{
    end_all(bench, PF_CALL_TRACE_ENDED);
    check(bench, wanted);
}

static void test_a_return_ends_the_call(void **state)
{
    struct bench *bench = *state;
    go(bench, CALL, 0x120, 0x200);
    go(bench, CALL, 0x210, 0x300);
    go(bench, RETURN, 0x320, 0x212);
    check(bench, "300@30+10 d2 cr");
    go(bench, RETURN, 0x220, 0x122);
    check(bench, "200@20+30 d1 cr");
    finish(bench, "110@10+40 d0 bT");
}

static void test_recursion_is_a_call_each(void **state)
{
    struct bench *bench = *state;
    for (unsigned i = 0; i < 3; i++)
        go(bench, CALL, 0x110, 0x100);
    for (unsigned i = 0; i < 3; i++)
        go(bench, RETURN, 0x120, 0x112);
    check(bench, "100@40+10 d3 cr, 100@30+30 d2 cr, 100@20+50 d1 cr");
    finish(bench, "110@10+60 d0 bT");
}

/* What the caller executed is not in the call, and what the callee did is in both. */
static void test_instructions_are_those_with_callees(void **state)
{
    struct bench *bench = *state;
    go(bench, CALL, 0x120, 0x200);
    go(bench, JUMP, 0x210, 0x220);
    go(bench, CALL, 0x230, 0x300);
    go(bench, RETURN, 0x320, 0x232);
    go(bench, RETURN, 0x240, 0x122);
    assert_int_equal(bench->stacks.ended[0].insns, 3);
    assert_int_equal(bench->stacks.ended[0].cycles, 5);
    assert_int_equal(bench->stacks.ended[1].insns, 12);
    assert_int_equal(bench->stacks.ended[1].number, 2);
    assert_int_equal(bench->stacks.ended[0].parent, 2);
    assert_int_equal(bench->stacks.ended[1].parent, 1);
    check(bench, "300@40+10 d2 cr, 200@20+40 d1 cr");
    finish(bench, "110@10+50 d0 bT");
}

/* An unwinder enters the function that catches, not where its call would have returned. */
static void test_an_exception_unwinds(void **state)
{
    struct bench *bench = *state;
    go(bench, CALL, 0x120, 0x200);
    go(bench, CALL, 0x210, 0x300);
    go(bench, CALL, 0x310, 0x900);
    go(bench, RETURN, 0x980, 0x280);
    check(bench, "900@40+10 d3 cu, 300@30+20 d2 cu");
    go(bench, RETURN, 0x290, 0x122);
    check(bench, "200@20+40 d1 cr");
    finish(bench, "110@10+50 d0 bT");
}

static void test_longjmp_unwinds(void **state)
{
    struct bench *bench = *state;
    go(bench, CALL, 0x120, 0x200); /* setjmp returns */
    go(bench, RETURN, 0x210, 0x122);
    check(bench, "200@20+10 d1 cr");
    go(bench, CALL, 0x130, 0x300);
    go(bench, CALL, 0x310, 0x400);
    go(bench, JUMP, 0x420, 0x122);
    finish(bench, "400@50+10 d2 cu, 300@40+20 d1 cu, 110@10+50 d0 bT");
}

/* Further out than the innermost call: what is between did not return. */
static void test_a_return_further_out_unwinds(void **state)
{
    struct bench *bench = *state;
    go(bench, CALL, 0x120, 0x200);
    go(bench, CALL, 0x210, 0x300);
    go(bench, CALL, 0x310, 0x400);
    go(bench, RETURN, 0x420, 0x212);
    finish(bench, "400@40+10 d3 cu, 300@30+20 d2 cr, 200@20+30 d1 cT, 110@10+40 d0 bT");
}

static void test_tail_calls_return_together(void **state)
{
    struct bench *bench = *state;
    go(bench, CALL, 0x120, 0x200);
    go(bench, JUMP, 0x210, 0x300);
    go(bench, JUMP, 0x310, 0x400);
    go(bench, RETURN, 0x420, 0x122);
    finish(bench, "400@40+10 d3 tr, 300@30+20 d2 tr, 200@20+30 d1 cr, 110@10+40 d0 bT");
}

/* Functions that go on in each other for ever are not called deeper and deeper. */
static void test_tail_calls_in_a_circle_stay_shallow(void **state)
{
    struct bench *bench = *state;
    go(bench, CALL, 0x120, 0x200);
    go(bench, JUMP, 0x210, 0x300);
    go(bench, JUMP, 0x310, 0x200);
    go(bench, JUMP, 0x210, 0x300);
    check(bench, "300@30+10 d2 tl");
    for (unsigned i = 0; i < 1000; i++)
        go(bench, JUMP, i % 2 ? 0x210 : 0x310, i % 2 ? 0x300 : 0x200);
    assert_true(bench->stacks.first->count <= 4);
}

/* A cold part of a function has a symbol of its own. */
static void test_a_cold_part_returns(void **state)
{
    struct bench *bench = *state;
    go(bench, CALL, 0x120, 0x200);
    go(bench, JUMP, 0x210, 0x800);
    go(bench, JUMP, 0x810, 0x220);
    check(bench, "800@30+10 d2 tr");
    finish(bench, "200@20+20 d1 cT, 110@10+30 d0 bT");
}

static void test_the_caller_was_entered_before_the_trace(void **state)
{
    struct bench *bench = *state;
    go(bench, RETURN, 0x120, 0x250);
    check(bench, "110@10+10 d0 br");
    go(bench, CALL, 0x260, 0x100);
    go(bench, RETURN, 0x120, 0x262);
    finish(bench, "100@30+10 d1 cr, 250@20+20 d0 bT");
}

/* A call that only finds its own address returns nowhere; one into the same function may be a retpoline. */
static void test_calls_that_are_not(void **state)
{
    struct bench *bench = *state;
    go(bench, CALL, 0x120, 0x122);
    go(bench, CALL, 0x130, 0x200);
    go(bench, CALL, 0x204, 0x220);
    go(bench, RETURN, 0x228, 0x300);
    go(bench, RETURN, 0x310, 0x132);
    finish(bench, "300@50+10 d2 tr, 200@30+30 d1 cr, 110@10+50 d0 bT");
}

static void test_the_kernel_is_called_and_returns(void **state)
{
    struct bench *bench = *state;
    go(bench, SYSCALL, 0x120, KERNEL | 0x1000);
    go(bench, CALL, KERNEL | 0x1010, KERNEL | 0x1100);
    go(bench, RETURN, KERNEL | 0x1120, KERNEL | 0x1012);
    go(bench, SYSRET, KERNEL | 0x1020, 0x122);
    check(bench, "1100@30+10 d2 cr, 1000@20+30 d1 sr");
    go(bench, INTERRUPT, 0x130, KERNEL | 0x1200);
    go(bench, IRET, KERNEL | 0x1220, 0x130);
    check(bench, "1200@60+10 d1 ir");
    go(bench, INTERRUPT, 0x138, KERNEL | 0x1200);
    go(bench, CALL, KERNEL | 0x1210, KERNEL | 0x1300);
    go(bench, IRET, KERNEL | 0x1320, 0x177); /* where nothing was interrupted: a signal moved it */
    finish(bench, "1300@90+10 d2 cu, 1200@80+20 d1 iu, 110@10+90 d0 bT");
}

static void test_what_is_not_traced_is_a_call(void **state)
{
    struct bench *bench = *state;
    go(bench, SYSCALL | END, 0x120, 0);
    bench->time += 100;
    go(bench, BEGIN, 0, 0x122);
    check(bench, "0@20+110 d1 or");
    go(bench, INTERRUPT | END, 0x130, 0);
    go(bench, BEGIN, 0, 0x700); /* the handler of a signal, which returns by a system call */
    go(bench, SYSCALL | END, 0x720, 0);
    go(bench, BEGIN, 0, 0x130);
    check(bench, "0@160+10 d3 ou, 700@150+20 d2 iu, 0@140+30 d1 or");
    finish(bench, "110@10+160 d0 bT");
}

/* With a filter of addresses, a library that is not traced may call back. */
static void test_what_is_not_traced_calls_back(void **state)
{
    struct bench *bench = *state;
    go(bench, CALL | END, 0x120, 0);
    go(bench, BEGIN, 0, 0x700);
    go(bench, RETURN | END, 0x720, 0);
    go(bench, BEGIN, 0, 0x700);
    go(bench, RETURN | END, 0x720, 0);
    go(bench, BEGIN, 0, 0x122);
    check(bench, "700@30+10 d2 cr, 700@50+10 d2 cr, 0@20+50 d1 or");
    finish(bench, "110@10+60 d0 bT");
}

/* As through a PLT, where libraries are not traced. */
static void test_a_jump_to_what_is_not_traced_returns_with_it(void **state)
{
    struct bench *bench = *state;
    go(bench, CALL, 0x120, 0x800);
    go(bench, END, 0x806, 0);
    go(bench, BEGIN, 0, 0x700);
    go(bench, RETURN | END, 0x720, 0);
    go(bench, BEGIN, 0, 0x122);
    check(bench, "700@40+10 d3 cr, 0@30+30 d2 or, 800@20+40 d1 cr");
    finish(bench, "110@10+50 d0 bT");
}

static void test_a_loss_is_a_gap(void **state)
{
    struct bench *bench = *state;
    go(bench, CALL, 0x120, 0x200);
    assert_true(pf_call_stacks_lose(&bench->stacks, bench->stacks.first, 25, PF_FLOW_ERROR_OVERFLOW));
    assert_true(pf_call_stacks_lose(&bench->stacks, bench->stacks.first, 27, PF_FLOW_ERROR_LOST));
    assert_int_equal(bench->stacks.ended[1].error, PF_FLOW_ERROR_OVERFLOW);
    check(bench, "200@20+5 d1 cx, 110@10+15 d0 bx");
    bench->time = 40;
    go(bench, BEGIN, 0, 0x210);
    assert_int_equal(bench->stacks.ended[0].error, PF_FLOW_ERROR_OVERFLOW);
    check(bench, "0@25+25 d0 gr");
    finish(bench, "210@50+0 d0 bT");
}

static void test_a_gap_at_the_end(void **state)
{
    struct bench *bench = *state;
    assert_true(pf_call_stacks_lose(&bench->stacks, bench->stacks.first, 30, PF_FLOW_ERROR_LOST));
    bench->time = 90;
    finish(bench, "110@10+20 d0 bx, 0@30+60 d0 gT");
}

/* A switch of contexts: each thread has its stack, and goes on where it was. */
static void test_threads_have_their_stacks(void **state)
{
    struct bench *bench = *state;
    go(bench, CALL, 0x120, 0x200);
    bench->tid = 2;
    go(bench, BEGIN, 0, 0x510);
    go(bench, CALL, 0x520, 0x200);
    bench->tid = 1;
    go(bench, RETURN, 0x220, 0x122);
    assert_int_equal(bench->stacks.ended[0].tid, 1);
    bench->tid = 2;
    go(bench, RETURN, 0x220, 0x522);
    assert_int_equal(bench->stacks.ended[1].tid, 2);
    check(bench, "200@20+30 d1 cr, 200@40+20 d1 cr");
    finish(bench, "110@10+50 d0 bT, 510@30+30 d0 bT");
}

static void test_an_endless_recursion_loses_its_outermost_half(void **state)
{
    struct bench *bench = *state;
    for (unsigned i = 0; i < 1024; i++)
        go(bench, CALL, 0x110, 0x100);
    assert_int_equal(bench->stacks.ended_count, 512);
    assert_int_equal(bench->stacks.ended[0].ending, PF_CALL_TOO_DEEP);
    assert_int_equal(bench->stacks.ended[0].depth, 511);
    assert_int_equal(bench->stacks.first->count, 513);
    end_all(bench, PF_CALL_THREAD_ENDED);
    assert_int_equal(bench->stacks.ended_count, 1025);
}

/* ---- random walks ------------------------------------------------------------------------------------------------ */

static uint64_t any(uint64_t *random, uint64_t below)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return *random % below;
}

struct walk {
    unsigned function[WALKED_DEPTH], site[WALKED_DEPTH]; /* that it was called at */
    unsigned depth;
    uint64_t calls[FUNCTIONS], insns[FUNCTIONS], branches;
};

static uint64_t address_of(unsigned function, unsigned offset)
{
    return 0x10000 + (uint64_t)function * FUNCTION_BYTES + offset;
}

/* Calls, returns and jumps within functions; `insns` of a function are those of its calls, with callees. */
static void walk(struct bench *bench, struct walk *walk, uint64_t *random)
{
    const unsigned inside = walk->function[walk->depth], at = 0x10 + 2 * (unsigned)any(random, 100);
    const unsigned what = (unsigned)any(random, 4);
    for (unsigned i = 1; i <= walk->depth; i++)
        walk->insns[walk->function[i]] += 3;
    walk->branches++;
    if (what == 0 && walk->depth) {
        walk->depth--;
        go(bench, RETURN, address_of(inside, at),
           address_of(walk->function[walk->depth], walk->site[walk->depth + 1] + BRANCH_BYTES));
    } else if (what == 1 && walk->depth + 1 < WALKED_DEPTH) {
        const unsigned to = 1 + (unsigned)any(random, FUNCTIONS - 1);
        walk->function[++walk->depth] = to;
        walk->site[walk->depth] = at;
        walk->calls[to]++;
        go(bench, CALL, address_of(inside, at), address_of(to, 0));
    } else {
        go(bench, JUMP, address_of(inside, at), address_of(inside, 2 + 2 * (unsigned)any(random, 100)));
    }
}

static void test_random_walks(void **state)
{
    uint64_t random = 1;
    (void)state;
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct bench bench;
        struct walk walked = {0};
        random = seed * UINT64_C(0x9e3779b97f4a7c15);
        set_up(&bench);
        go(&bench, BEGIN, 0, address_of(0, 8));
        for (unsigned i = 0; i < STEPS; i++)
            walk(&bench, &walked, &random);
        end_all(&bench, PF_CALL_TRACE_ENDED);
        for (size_t i = 0; i + 1 < bench.stacks.ended_count; i++) { /* the last one began before */
            const struct pf_call *call = &bench.stacks.ended[i];
            const unsigned function = (unsigned)((call->address - 0x10000) / FUNCTION_BYTES);
            assert_true(call->ending == PF_CALL_RETURNED || call->ending == PF_CALL_TRACE_ENDED);
            walked.calls[function]--;
            walked.insns[function] -= call->insns;
        }
        for (unsigned i = 0; i < FUNCTIONS; i++) {
            assert_int_equal(walked.calls[i], 0);
            assert_int_equal(walked.insns[i], 0);
        }
        assert_int_equal(bench.stacks.ended[bench.stacks.ended_count - 1].insns, 3 * walked.branches);
        pf_call_stacks_close(&bench.stacks);
    }
}

/* Branches of any kind from anywhere to anywhere: each call ends once, after it began, inside of its parent. */
static void test_random_branches(void **state)
{
    static const uint32_t kinds[] = {CALL,          RETURN,    JUMP, BEGIN,        END,  SYSCALL, SYSRET,
                                     SYSCALL | END, INTERRUPT, IRET, RETURN | END, JUMP, CALL,    RETURN};
    struct bench bench;
    uint64_t random = 7;
    (void)state;
    set_up(&bench);
    for (unsigned i = 0; i < STEPS; i++) {
        const uint32_t flags = kinds[any(&random, PF_COUNT(kinds))];
        const uint64_t mode = any(&random, 8) ? 0 : KERNEL, from = mode | (0x100 + any(&random, 0x800));
        const uint64_t to = (any(&random, 8) ? 0 : KERNEL) | (0x100 + (any(&random, 2) ? any(&random, 0x800) : 0x200));
        bench.tid = 1 + (int32_t)any(&random, 2);
        go(&bench, flags, flags & PF_FLOW_IS_BEGIN ? 0 : from, flags & PF_FLOW_IS_END ? 0 : to);
        if (any(&random, 100) == 0)
            assert_true(pf_call_stacks_lose(&bench.stacks, pf_call_stacks_thread(&bench.stacks, 1, bench.tid),
                                            bench.time, PF_FLOW_ERROR_OVERFLOW));
    }
    end_all(&bench, PF_CALL_TRACE_ENDED);
    bool *ended = test_calloc(bench.stacks.numbers + 1, sizeof(*ended));
    for (size_t i = 0; i < bench.stacks.ended_count; i++) {
        const struct pf_call *call = &bench.stacks.ended[i];
        assert_false(ended[call->number]);
        assert_false(ended[call->parent]);
        assert_true(call->begin <= call->end);
        ended[call->number] = true;
    }
    assert_int_equal(bench.stacks.ended_count, bench.stacks.numbers);
    test_free(ended);
    pf_call_stacks_close(&bench.stacks);
}

#define STARTED(test) cmocka_unit_test_setup_teardown(test, begin, clean_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STARTED(test_a_return_ends_the_call),
        STARTED(test_recursion_is_a_call_each),
        STARTED(test_instructions_are_those_with_callees),
        STARTED(test_an_exception_unwinds),
        STARTED(test_longjmp_unwinds),
        STARTED(test_a_return_further_out_unwinds),
        STARTED(test_tail_calls_return_together),
        STARTED(test_tail_calls_in_a_circle_stay_shallow),
        STARTED(test_a_cold_part_returns),
        STARTED(test_the_caller_was_entered_before_the_trace),
        STARTED(test_calls_that_are_not),
        STARTED(test_the_kernel_is_called_and_returns),
        STARTED(test_what_is_not_traced_is_a_call),
        STARTED(test_what_is_not_traced_calls_back),
        STARTED(test_a_jump_to_what_is_not_traced_returns_with_it),
        STARTED(test_a_loss_is_a_gap),
        STARTED(test_a_gap_at_the_end),
        STARTED(test_threads_have_their_stacks),
        STARTED(test_an_endless_recursion_loses_its_outermost_half),
        cmocka_unit_test(test_random_walks),
        cmocka_unit_test(test_random_branches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
