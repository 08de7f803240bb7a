/* SPDX-License-Identifier: MIT */
/* Samples in code of a JIT without names cause the advice to record its names; others do not. */
#include "counting.h"

#include <stdio.h>
#include <unistd.h>

#include "record/made_code.h"

enum { START = 0x10000, BYTES = 0x1000 };

struct notes {
    int count;
    char last[256];
};

static void take(void *context, const char *text)
{
    struct notes *notes = context;
    notes->count++;
    snprintf(notes->last, sizeof(notes->last), "%s", text);
}

static struct notes report_notes(const struct pf_made_code *code, uint64_t samples)
{
    struct notes notes = {0};
    pf_made_code_notify(code, samples, take, &notes);
    return notes;
}

static void add_samples(struct pf_made_code *code, uint32_t pid, uint64_t ip, int count)
{
    while (count-- > 0)
        pf_made_code_sample(code, pid, ip);
}

static void test_reported_once(void **state)
{
    struct pf_made_code code = {0};
    const uint32_t pid = (uint32_t)getpid();
    (void)state;
    pf_made_code_map(&code, pid, START, BYTES, "//anon");
    pf_made_code_map(&code, pid, START + BYTES, BYTES, "//anon"); /* it grows */
    pf_made_code_map(&code, pid, START + 8 * BYTES, BYTES, "[anon:code]");
    assert_int_equal(code.count, 2);
    add_samples(&code, pid, START + BYTES, 2);
    add_samples(&code, pid, START + 8 * BYTES, 1);
    add_samples(&code, pid, START - 1, 5);     /* beside it */
    add_samples(&code, pid + 1, START + 1, 5); /* of another process */
    struct notes notes = report_notes(&code, 100);
    assert_int_equal(notes.count, 1);
    assert_non_null(strstr(notes.last, "3 samples"));
    assert_int_equal(report_notes(&code, 300).count, 0); /* not worth a word */
}

static void test_advice(void **state)
{
    struct pf_made_code code = {0};
    (void)state;
    pf_made_code_map(&code, (uint32_t)getpid(), START, BYTES, "//anon");
    add_samples(&code, (uint32_t)getpid(), START, 1);
    snprintf(code.regions[0].comm, sizeof(code.regions[0].comm), "java");
    assert_non_null(
        strstr(report_notes(&code, 1).last, "start it as java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit"));
}

static void test_names(void **state)
{
    struct pf_made_code code = {0};
    const uint32_t pid = (uint32_t)getpid();
    (void)state;
    pf_made_code_map(&code, pid, START, BYTES, "/usr/lib/libc.so.6");
    assert_int_equal(code.count, 0);
    pf_made_code_map(&code, pid, START, BYTES, "//anon");
    pf_made_code_map(&code, pid, UINT64_MAX, BYTES, "//anon"); /* no such memory */
    pf_made_code_map(&code, pid, START + 4 * BYTES, BYTES, "/home/me/.debug/jit/jit-1.dump");
    add_samples(&code, pid, START, 10);
    assert_int_equal(report_notes(&code, 10).count, 0);
}

static void test_too_many(void **state)
{
    struct pf_made_code code = {0};
    (void)state;
    for (uint64_t i = 0; i < 3 * PF_MADE_CODE_REGIONS; i++) {
        pf_made_code_map(&code, (uint32_t)getpid(), START + i * 2 * BYTES, BYTES, "//anon");
        pf_made_code_map(&code, (uint32_t)getpid(), START + i * 2 * BYTES, BYTES, "jit-1.dump");
    }
    assert_int_equal(code.count, PF_MADE_CODE_REGIONS);
    assert_int_equal(code.dump_count, PF_MADE_CODE_REGIONS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reported_once),
        cmocka_unit_test(test_advice),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
