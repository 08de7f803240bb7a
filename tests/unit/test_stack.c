/* SPDX-License-Identifier: MIT */
#include "analysis/stack.h"

#include "made_cfi.h"
#include "made_elf.h"
#include "recording.h"

/* Returns the addresses as "MODE:IP", with a "<" after return addresses. */
static const char *addresses(const struct pf_stack *stack)
{
    static char text[256];
    struct pf_stack_address address;
    size_t used = 0;
    text[0] = '\0';
    for (struct pf_stack_walk walk = pf_stack_start(stack); pf_stack_next(&walk, &address);)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u:%x%s", used ? " " : "", address.mode,
                                 (unsigned)address.ip, address.returns ? "<" : "");
    return text;
}

/* The first address of each context is where it was interrupted; a user part that comes later follows. */
static void return_addresses(void **state)
{
    const uint64_t chain[] = {PERFILE_CONTEXT_KERNEL, 1, 2, 3, PERFILE_CONTEXT_USER, 4, 5},
                   later[] = {PERFILE_CONTEXT_USER, 6, 7};
    const struct perfile_record record = {.misc = PERFILE_MISC_KERNEL};
    struct pf_delivered item = {.record = &record};
    struct pf_stack stack;
    (void)state;
    item.sample.callchain = (struct perfile_u64s){.data = (const uint8_t *)chain, .count = PF_COUNT(chain)};
    pf_stack_gather(&stack, &item, &(struct pf_stack_options){0});
    assert_string_equal(addresses(&stack), "1:1 1:2< 1:3< 2:4 2:5<");
    item.sample.callchain.count = 3;
    item.user_chain = (struct perfile_u64s){.data = (const uint8_t *)later, .count = PF_COUNT(later)};
    pf_stack_gather(&stack, &item, &(struct pf_stack_options){0});
    assert_string_equal(addresses(&stack), "1:1 1:2< 2:6 2:7<");
}

static void unwind_policies(void **state)
{
    enum pf_unwind_policy policy;
    struct perfile_error error;
    (void)state;
    assert_int_equal(pf_unwind_policy_parse(NULL, PF_UNWIND_FP, &policy, &error), 0);
    assert_int_equal(policy, PF_UNWIND_FP);
    assert_int_equal(pf_unwind_policy_parse("cfi", PF_UNWIND_FP, &policy, &error), 0);
    assert_int_equal(policy, PF_UNWIND_CFI);
    assert_int_equal(pf_unwind_policy_parse("orc", PF_UNWIND_FP, &policy, &error), PERFILE_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "'orc'"));
}

/* ---- the leaf's caller ------------------------------------------------------------------------------------------- */

enum { START = 0x400000, ARM_LINK = 30 };

static struct perfile_reader *reader;
static struct perfile_session *session;
static struct pf_symbols *symbols;
static uint8_t *block;

/* A process with a binary that has this call frame information, mapped at START. */
static const struct perfile_space *open_process(uint16_t machine, const struct blob *cfi)
{
    const struct recording_map map = {.misc = 2, .pid = 7, .start = START, .bytes = CODE_BYTES, .name = "/bin/program"};
    const struct pf_find_options find = {.symfs = made_directory, .buildid_dir = made_directory};
    const struct perfile_record *record;
    const struct blob file = make_elf(machine, cfi, ".eh_frame", NULL);
    struct recording r;
    made_file("bin/program", file.data, file.used);
    recording_open(&r, PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME, false);
    recording_map(&r, &map, 1);
    recording_sample(&r, START, 7, 10);
    recording_finish(&r);
    reader = recording_read(&r, &block);
    recording_close(&r);
    assert_int_equal(perfile_session_open(reader, &session, NULL), 0);
    perfile_session_follow_maps(session);
    assert_int_equal(pf_symbols_open(reader, &find, &symbols, NULL), 0);
    while (perfile_session_next(session, &record, NULL) > 0)
        ;
    return perfile_session_space(session, 7);
}

static void close_process(void)
{
    pf_symbols_close(symbols);
    perfile_session_close(session);
    perfile_close(reader);
    free(block);
}

/* The stack of a sample at an address of the file, whose chain goes on with 3 and 5. */
static const char *stack_at(struct pf_delivered *item, const char *arch, uint64_t address)
{
    static struct pf_stack stack;
    const uint64_t chain[] = {PERFILE_CONTEXT_USER, START - CODE + address, 3, 5};
    item->sample.callchain = (struct perfile_u64s){.data = (const uint8_t *)chain, .count = PF_COUNT(chain)};
    assert_true(pf_stack_asks_binaries(item, arch));
    pf_stack_gather(&stack, item, &(struct pf_stack_options){.symbols = symbols, .arch = arch});
    return addresses(&stack);
}

/* The kernel of arm64 leaves out the caller of a leaf that has not stored its link register. */
static void caller_in_the_link_register(void **state)
{
    const struct perfile_record record = {.misc = PERFILE_MISC_USER};
    const uint64_t link = 0x7f00000000009008; /* signed */
    struct pf_delivered item = {.record = &record};
    struct blob b = {.is_64 = true};
    (void)state;
    size_t cie = put_cie(&b, "zRB", 30, PROGRAM(0x0c, 31, 0));
    put_fde(&b, cie, 0x1200, 0x20, PROGRAM(0x44, 0x0e, 32, 0x9d, 4, 0x9e, 3));
    item.user_space = open_process(EM_AARCH64, &b);
    item.sample.present = PERFILE_SAMPLE_CALLCHAIN | PERFILE_SAMPLE_REGS_USER;
    item.sample.regs_user = (struct perfile_regs){.abi = 2, .mask = UINT64_C(1) << ARM_LINK};
    item.sample.regs_user.values = (struct perfile_u64s){.data = (const uint8_t *)&link, .count = 1};
    assert_string_equal(stack_at(&item, "aarch64", 0x1200), "2:400200 2:9007 2:3< 2:5<");
    assert_string_equal(stack_at(&item, "aarch64", 0x1204), "2:400204 2:3< 2:5<"); /* stored */
    assert_string_equal(stack_at(&item, "aarch64", 0x1300), "2:400300 2:3< 2:5<"); /* not known */
    close_process();
}

/* That of ppc64 always has the link register second in the chain. */
static void link_register_that_was_stored(void **state)
{
    const struct perfile_record record = {.misc = PERFILE_MISC_USER};
    struct pf_delivered item = {.record = &record};
    struct blob b = {.is_64 = true};
    (void)state;
    size_t cie = put_cie(&b, "zR", 65, PROGRAM(0x0c, 1, 0));
    put_fde(&b, cie, 0x1100, 0x40, PROGRAM(0x44, 0x0e, 32, 0x44, 0x11, 65, 0x7e));
    item.user_space = open_process(EM_PPC64, &b);
    item.sample.present = PERFILE_SAMPLE_CALLCHAIN;
    assert_string_equal(stack_at(&item, "ppc64le", 0x1100), "2:400100 2:3< 2:5<");
    assert_string_equal(stack_at(&item, "ppc64le", 0x1104), "2:400104 2:3<");
    assert_string_equal(stack_at(&item, "ppc64le", 0x1108), "2:400108 2:5<");
    close_process();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(return_addresses),
        cmocka_unit_test(unwind_policies),
        cmocka_unit_test_setup_teardown(caller_in_the_link_register, made_directory_open, made_directory_close),
        cmocka_unit_test_setup_teardown(link_register_that_was_stored, made_directory_open, made_directory_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
