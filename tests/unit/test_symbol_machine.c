/* SPDX-License-Identifier: MIT */
#include "symbol/machine.h"

#include <perfile/analysis.h>

#include "made_elf.h"

enum { ID = 0xab, OTHER_ID = 0xcd };
#define HOST "host"
#define RELEASE "6.1.0"
#define ADDRESS 0xffffffff92000000
#define KALLSYMS "0000000000000000 A fixed\nffffffff92000000 T _text\nffffffff92000100 t run\n"
#define OTHER_BOOT "ffffffff81000000 T _text\n"
#define HIDDEN "0000000000000000 T _text\n"

static const struct perfile_allocator *allocator;

static int open_world(void **state)
{
    allocator = pf_allocator_or_default(NULL);
    return made_directory_open(state);
}

static void put_text(const char *name, const char *text)
{
    made_file(name, text, strlen(text));
}

/* Another note, then the build id, in this machine's byte order or the other one. */
static void put_notes_in_order(uint8_t id, uint32_t id_bytes, bool is_swapped)
{
    uint8_t notes[64] = {0};
    uint32_t words[] = {4, 8, 0x100, 0, 1, 2, 4, id_bytes, 3, 0};
    for (size_t i = 0; i < PF_COUNT(words); i++)
        words[i] = is_swapped ? __builtin_bswap32(words[i]) : words[i];
    memcpy(&words[3], "Xen", 4);
    memcpy(&words[9], "GNU", 4);
    memcpy(notes, words, sizeof(words));
    memset(notes + sizeof(words), id, id_bytes);
    made_file("sys/kernel/notes", notes, sizeof(words) + id_bytes);
}

static void put_notes(uint8_t id, uint32_t id_bytes)
{
    put_notes_in_order(id, id_bytes, false);
}

static void put_names(const char *host, const char *release)
{
    put_text("proc/sys/kernel/hostname", host);
    put_text("proc/sys/kernel/osrelease", release);
}

static void test_names(void **state)
{
    (void)state;
    assert_false(pf_machine_is_named(made_directory, HOST, RELEASE)); /* an empty folder */
    assert_false(pf_machine_is_named(made_directory, "", ""));
    put_names(HOST "\n", RELEASE "\n");
    assert_true(pf_machine_is_named(made_directory, HOST, RELEASE));
    assert_false(pf_machine_is_named(made_directory, HOST "2", RELEASE));
    assert_false(pf_machine_is_named(made_directory, HOST, RELEASE "-1"));
    assert_false(pf_machine_is_named(made_directory, NULL, RELEASE));
    assert_false(pf_machine_is_named(made_directory, HOST, NULL));
}

static void test_build_id(void **state)
{
    (void)state;
    uint8_t id[20] = {0};
    assert_int_equal(pf_machine_build_id(made_directory, id), 0);
    put_notes(ID, 20);
    assert_int_equal(pf_machine_build_id(made_directory, id), 20);
    assert_int_equal(id[0], ID);
    assert_int_equal(id[19], ID);
    put_notes_in_order(OTHER_ID, 20, true);
    assert_int_equal(pf_machine_build_id(made_directory, id), 20);
    assert_int_equal(id[0], OTHER_ID);
    unlink(made_path("sys/kernel/notes"));
    assert_int_equal(mkfifo(made_path("sys/kernel/notes"), 0600), 0);
    assert_int_equal(pf_machine_build_id(made_directory, id), 0); /* and it does not wait for a writer */
}

static void test_path_that_is_too_long(void **state)
{
    (void)state;
    static char root[5000];
    uint8_t id[20];
    memset(root, '/', sizeof(root) - 1);
    assert_int_equal(pf_machine_build_id(root, id), 0);
    assert_false(pf_machine_is_named(root, HOST, RELEASE));
}

static void test_own_pid(void **state)
{
    (void)state;
    assert_int_equal(pf_machine_own_pid(made_directory, 70), 70); /* it is gone */
    put_text("proc/70/status", "Name:\tNStgid:\t9\nNStgid:\t70\t8\t7\nNSpid:\t70\t8\t6\n");
    assert_int_equal(pf_machine_own_pid(made_directory, 70), 7);
    put_text("proc/70/status", "Name:\tjava\nNStgid:\t70\n");
    assert_int_equal(pf_machine_own_pid(made_directory, 70), 70);
    put_text("proc/70/status", "Name:\tjava\n");
    assert_int_equal(pf_machine_own_pid(made_directory, 70), 70);
}

/* A recording, a machine, and whether the kernel of the one runs on the other. */
struct example {
    const char *why;
    const char *host, *release; /* recorded */
    const char *kallsyms;       /* of the machine; NULL: none */
    uint32_t recorded_bytes;    /* of the build id, whose bytes are `recorded` */
    uint32_t own_bytes;
    uint8_t recorded, own;
    bool has_reference, runs;
};

static const struct example examples[] = {
    {"the same id is proof", HOST, RELEASE, KALLSYMS, 20, 20, ID, ID, true, true},
    {"on every host", "other", RELEASE, KALLSYMS, 20, 20, ID, ID, true, true},
    {"without any names", NULL, NULL, KALLSYMS, 20, 20, ID, ID, true, true},
    {"in every boot", HOST, RELEASE, OTHER_BOOT, 20, 20, ID, ID, true, true},
    {"another id is another kernel, on the same host, too", HOST, RELEASE, KALLSYMS, 20, 20, ID, OTHER_ID, true, false},
    {"the machine does not report an id", HOST, RELEASE, KALLSYMS, 20, 0, ID, 0, true, false},
    {"the beginning of an id is another id", HOST, RELEASE, KALLSYMS, 8, 20, ID, ID, true, false},
    {"short ids are equal", HOST, RELEASE, KALLSYMS, 8, 8, ID, ID, true, true},
    {"no id: the names, and the same boot", HOST, RELEASE, KALLSYMS, 0, 20, 0, ID, true, true},
    {"zeros are not an id", HOST, RELEASE, KALLSYMS, 20, 20, 0, ID, true, true},
    {"no id: another host", "other", RELEASE, KALLSYMS, 0, 20, 0, ID, true, false},
    {"no id: another release", HOST, "6.1.1", KALLSYMS, 0, 20, 0, ID, true, false},
    {"no id: no host", NULL, RELEASE, KALLSYMS, 0, 20, 0, ID, true, false},
    {"no id: no release", HOST, NULL, KALLSYMS, 0, 20, 0, ID, true, false},
    {"no id: another boot", HOST, RELEASE, OTHER_BOOT, 0, 20, 0, ID, true, false},
    {"no id: there is no reference to compare", HOST, RELEASE, OTHER_BOOT, 0, 20, 0, ID, false, true},
    {"no id: addresses are hidden", HOST, RELEASE, HIDDEN, 0, 20, 0, ID, true, true},
    {"no id: there is no kallsyms to compare", HOST, RELEASE, NULL, 0, 20, 0, ID, true, true},
};

static void try_example(const struct example *example)
{
    uint8_t id[20];
    memset(id, example->recorded, sizeof(id));
    const struct pf_recorded_kernel kernel = {.build_id = id,
                                              .build_id_bytes = example->recorded_bytes,
                                              .host = example->host,
                                              .release = example->release,
                                              .reference = example->has_reference ? "_text" : NULL,
                                              .reference_address = ADDRESS};
    put_names(HOST "\n", RELEASE "\n");
    put_notes(example->own, example->own_bytes);
    if (example->kallsyms)
        put_text("proc/kallsyms", example->kallsyms);
    else
        unlink(made_path("proc/kallsyms"));
    if (pf_machine_runs_kernel(made_directory, &kernel, allocator) != example->runs)
        fail_msg("%s", example->why);
}

static void test_kernel(void **state)
{
    (void)state;
    for (size_t i = 0; i < PF_COUNT(examples); i++)
        try_example(&examples[i]);
}

static void test_empty_machine_runs_no_kernel(void **state)
{
    (void)state;
    uint8_t id[20];
    memset(id, ID, sizeof(id));
    struct pf_recorded_kernel kernel = {
        .build_id = id, .build_id_bytes = sizeof(id), .host = HOST, .release = RELEASE, .reference = "_text"};
    assert_int_equal(pf_machine_runs_kernel(made_directory, &kernel, allocator), 0);
    kernel.build_id_bytes = 0;
    assert_int_equal(pf_machine_runs_kernel(made_directory, &kernel, allocator), 0);
}

static void test_short_memory(void **state)
{
    (void)state;
    struct counting counting;
    const struct pf_recorded_kernel kernel = {
        .host = HOST, .release = RELEASE, .reference = "_text", .reference_address = ADDRESS};
    put_names(HOST, RELEASE);
    put_text("proc/kallsyms", KALLSYMS);
    for (int left = 0, runs = PERFILE_ERROR_MEMORY; runs < 0; left++) {
        counting_open(&counting, left);
        runs = pf_machine_runs_kernel(made_directory, &kernel, &counting.allocator);
        assert_true(left ? runs == 1 || runs == PERFILE_ERROR_MEMORY : runs == PERFILE_ERROR_MEMORY);
        counting_close(&counting);
    }
}

/* Recorders that were killed leave no names: the addresses and the times decide, and each alone is not enough. */
static void test_kernel_of_killed_recorder(void **state)
{
    enum { BOOT = 1700000000, RECORDED = 500, NS = 1000000000 };
    static const struct {
        const char *what, *host, *kallsyms;
        uint64_t address, last;
        int64_t written;
        int expected;
    } cases[] = {
        {"at once", NULL, KALLSYMS, ADDRESS, RECORDED, BOOT + RECORDED + 1, 1},
        {"a minute later", NULL, KALLSYMS, ADDRESS, RECORDED, BOOT + RECORDED + 60, 1},
        {"written too late: a copy", NULL, KALLSYMS, ADDRESS, RECORDED, BOOT + RECORDED + 61, 0},
        {"written before its records", NULL, KALLSYMS, ADDRESS, RECORDED, BOOT + RECORDED - 6, 0},
        {"of another boot", NULL, KALLSYMS, ADDRESS, RECORDED, BOOT - 86400, 0},
        {"no times", NULL, KALLSYMS, ADDRESS, 0, BOOT + 1, 0},
        {"a page off", NULL, KALLSYMS, ADDRESS + 4096, RECORDED, BOOT + RECORDED + 1, 0},
        {"no address to compare", NULL, "", ADDRESS, RECORDED, BOOT + RECORDED + 1, 0},
        {"a name of another host", "other", KALLSYMS, ADDRESS, RECORDED, BOOT + RECORDED + 1, 0},
    };
    (void)state;
    put_names(HOST, RELEASE);
    for (size_t i = 0; i < PF_COUNT(cases); i++) {
        const struct pf_recorded_kernel kernel = {.host = cases[i].host,
                                                  .release = cases[i].host ? RELEASE : NULL,
                                                  .reference = "_text",
                                                  .reference_address = cases[i].address,
                                                  .last_time_ns = cases[i].last * NS,
                                                  .written_s = cases[i].written};
        put_text("proc/kallsyms", cases[i].kallsyms);
        put_text("proc/stat", "cpu 1 2 3\nintr 1\n");
        assert_int_equal(pf_machine_runs_kernel(made_directory, &kernel, allocator), 0);
        put_text("proc/stat", "cpu 1 2 3\nintr 1\nbtime 1700000000\nprocesses 7\n");
        if (pf_machine_runs_kernel(made_directory, &kernel, allocator) != cases[i].expected)
            fail_msg("%s", cases[i].what);
    }
}

/* What it reports is the machine's; here only how. */
static void test_running_kernel(void **state)
{
    (void)state;
    struct perfile_running_kernel kernel = {0};
    assert_int_equal(perfile_running_kernel_read(&kernel), PERFILE_ERROR_ARGUMENT);
    kernel.size = sizeof(kernel);
    assert_int_equal(perfile_running_kernel_read(&kernel), 0);
    assert_string_equal(kernel.kallsyms, PF_MACHINE_KALLSYMS);
    assert_true(!*kernel.modules || kernel.modules[strlen(kernel.modules) - 1] == '/');
    assert_true(kernel.build_id_bytes <= sizeof(kernel.build_id));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_names, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_build_id, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_path_that_is_too_long, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_own_pid, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_kernel, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_kernel_of_killed_recorder, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_short_memory, open_world, made_directory_close),
        cmocka_unit_test(test_running_kernel),
        cmocka_unit_test_setup_teardown(test_empty_machine_runs_no_kernel, open_world, made_directory_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
