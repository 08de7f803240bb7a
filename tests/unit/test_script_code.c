/* SPDX-License-Identifier: MIT */
/*
 * Source lines and machine code in script's text, of a program that is assembled here. What is expected perf 7.2 prints
 * of the same recording.
 */
#include "script_text.h"

#include <stdio.h>
#include <stdlib.h>

#include "symbol/disassembler.h"

enum {
    PROGRAM = 0x401000,
    TID = 7,
    BRANCH_TYPE_AT = 112 + 72,
    BRANCH_ANY = 1 << 3,
    PREDICTED = 1 << 1,
    CYCLES_4 = 4 << 4
};

static char directory[] = "/tmp/perfile-code-XXXXXX";
static bool has_program;

/* Lines 3 to 6 are spin: mov at 401000, sub at 401005, jne at 401008, ret at 40100a; then the call at 40100b. */
static const char source[] = ".globl _start\n.type spin, @function\n"
                             "spin: movl $10, %ecx\n"
                             "1: subl $1, %ecx\n"
                             "  jne 1b\n"
                             "  ret\n"
                             ".size spin, . - spin\n.type _start, @function\n"
                             "_start: call spin\n"
                             "  jmp _start\n"
                             ".size _start, . - _start\n";

static const char *program(void)
{
    static char path[64];
    snprintf(path, sizeof(path), "%s/prog", directory);
    return path;
}

static int set_up(void **state)
{
    char text[320];
    (void)state;
    if (!mkdtemp(directory))
        return -1;
    snprintf(text, sizeof(text), "%s.s", program());
    FILE *file = fopen(text, "w");
    if (!file || fputs(source, file) < 0 || fclose(file) != 0)
        return -1;
    snprintf(
        text, sizeof(text),
        "cd %s && cc -g -static -no-pie -nostdlib -Wl,-Ttext=0x401000 -Wl,--build-id=none prog.s -o prog 2>/dev/null "
        "&& objdump -d prog 2>/dev/null | grep -q '40100b:.*call.*401000 <spin>'",
        directory);
    has_program = system(text) == 0;
    return 0;
}

static int tear_down(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    return system(command);
}

/* ---- a recording ------------------------------------------------------------------------------------------------- */

static void put_map(struct recording *r, const char *name)
{
    size_t at = r->bytes, length = strlen(name) + 1;
    recording_header(r, PERFILE_RECORD_MMAP, 2, 0);
    recording_u32(r, TID);
    recording_u32(r, TID);
    recording_u64(r, PROGRAM);
    recording_u64(r, 0x1000);
    recording_u64(r, 0x1000);
    recording_bytes(r, name, length);
    recording_bytes(r, "\0\0\0\0\0\0\0", (8 - length % 8) % 8);
    recording_trailer(r, at, TID, 1);
}

static void open_recording(struct recording *r, uint64_t more, const char *name)
{
    recording_open(r, PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME | more, false);
    recording_store64(r, BRANCH_TYPE_AT, more & PERFILE_SAMPLE_BRANCH_STACK ? BRANCH_ANY : 0);
    put_map(r, name);
}

/* What follows the fixed part: a callchain with its count, or a branch stack. */
static void put_sample(struct recording *r, uint64_t ip, const uint64_t *words, size_t count)
{
    size_t at = recording_sample(r, ip, TID, 1000);
    for (size_t i = 0; i < count; i++) {
        const bool is_flags = r->sample_type & PERFILE_SAMPLE_BRANCH_STACK && i && i % 3 == 0;
        recording_u64(r, is_flags ? recording_branch_flags(r, words[i]) : words[i]);
    }
    recording_store16(r, at + 6, (uint16_t)(r->bytes - at));
}

/* ---- its text ---------------------------------------------------------------------------------------------------- */

static const struct perfile_symbol_options symbols = {.size = sizeof(symbols), .kallsyms = "/no/such/file"};

static void expect(struct recording *r, const char *fields, const char *expected)
{
    const struct perfile_output_options options = script_text_options(fields, &symbols);
    script_text_expect(r, &options, expected);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static const uint64_t flat_ips[] = {PROGRAM, PROGRAM + 5, PROGRAM + 6, PROGRAM + 0xb, 0x1234};

static void make_flat(struct recording *r, const char *name)
{
    open_recording(r, 0, name);
    for (size_t i = 0; i < PF_COUNT(flat_ips); i++)
        recording_sample(r, flat_ips[i], TID, 1000);
}

static void lines_stand_below_addresses(void **state)
{
    struct recording r;
    (void)state;
    if (!has_program)
        skip();
    make_flat(&r, program());
    expect(&r, "ip,srcline",
           "           401000\n  prog.s:3\n           401005\n  prog.s:4\n           401006\n  prog.s:4\n"
           "           40100b\n  prog.s:9\n             1234\n");
}

static void lines_stand_below_each_frame(void **state)
{
    static const uint64_t chain[] = {3, (uint64_t)-512, PROGRAM + 8, PROGRAM + 0xf};
    struct recording r;
    (void)state;
    if (!has_program)
        skip();
    open_recording(&r, PERFILE_SAMPLE_CALLCHAIN, program());
    put_sample(&r, chain[2], chain, PF_COUNT(chain));
    expect(&r, "ip,sym,srcline", "\n\t          401008 spin\n  prog.s:5\n\t          40100f _start\n  prog.s:9\n\n");
}

/* Without the binary the module and the address in it are all that is known. */
static void unknown_lines_are_addresses(void **state)
{
    struct recording r;
    (void)state;
    make_flat(&r, "/no/such/program");
    expect(&r, "ip,srcline,srccode,insnlen,insn",
           "           401000\n  program[1000] ilen: 0\n           401005\n  program[1005] ilen: 0\n"
           "           401006\n  program[1006] ilen: 0\n           40100b\n  program[100b] ilen: 0\n"
           "             1234 ilen: 0\n");
}

/* A line is not repeated. */
static void source_code_follows_the_sample(void **state)
{
    struct recording r;
    (void)state;
    if (!has_program)
        skip();
    make_flat(&r, program());
    expect(&r, "ip,srccode",
           "           401000\n|3        spin: movl $10, %ecx\n           401005\n|4        1: subl $1, %ecx\n"
           "           401006\n           40100b\n|9        _start: call spin\n             1234\n");
}

static void instructions_come_from_the_binary(void **state)
{
    struct recording r;
    (void)state;
    if (!has_program)
        skip();
    make_flat(&r, program());
    expect(&r, "ip,insn,insnlen",
           "           401000 ilen: 5 insn: b9 0a 00 00 00\n           401005 ilen: 3 insn: 83 e9 01\n"
           "           401006 ilen: 5 insn: e9 01 75 fb c3\n           40100b ilen: 5 insn: e8 f0 ff ff ff\n"
           "             1234 ilen: 0\n");
}

static void instructions_have_names(void **state)
{
    struct recording r;
    (void)state;
    if (!has_program || !pf_disassembler_exists(pf_allocator_or_default(NULL)))
        skip();
    make_flat(&r, program());
    expect(&r, "ip,insnlen,disasm",
           "           401000 ilen: 5\t\tmovl $0xa, %ecx\n           401005 ilen: 3\t\tsubl $1, %ecx\n"
           "           401006 ilen: 5\t\tjmp 0xffffffffc43b850c\n           40100b ilen: 5\t\tcallq spin+0x0\n"
           "             1234 ilen: 0\n");
}

static void blocks_between_branches(void **state)
{
    static const uint64_t stack[] = {2,           PROGRAM + 8, PROGRAM + 5,         PREDICTED | CYCLES_4,
                                     PROGRAM + 8, PROGRAM + 5, PREDICTED | CYCLES_4};
    static const uint64_t wrong[] = {2, PROGRAM + 8, PROGRAM + 0xb, 0, PROGRAM + 8, PROGRAM + 6, 0};
    struct recording r;
    (void)state;
    if (!has_program)
        skip();
    open_recording(&r, PERFILE_SAMPLE_BRANCH_STACK, program());
    put_sample(&r, PROGRAM + 5, stack, PF_COUNT(stack));
    put_sample(&r, PROGRAM + 0x10, wrong, PF_COUNT(wrong));
    expect(&r, "ip,brstackinsn",
           "           401005\n\tspin+8:\n"
           "\t0000000000401008\tinsn: 75 fb                   \t# PRED 4 cycles [4]\n"
           "\t0000000000401005\tinsn: 83 e9 01 \n"
           "\t0000000000401008\tinsn: 75 fb                   \t# PRED 4 cycles [8] 0.50 IPC\n"
           "\t0000000000401005\tinsn: 83 e9 01 \n\n"
           "           401010\n\tspin+8:\n"
           "\t0000000000401008\tinsn: 75 fb                   \t#\n"
           "\t0000000000401006\tinsn: e9 01 75 fb c3 \n\t_start:\n\t000000000040100b\tinsn: e8 f0 ff ff ff \n"
           "\t0000000000401010\tinsn: eb f9 \n\t0000000000401012\tinsn: 00 00 \n\t0000000000401014\tinsn: 00 00 \n"
           "\t0000000000401016\t<bad>\n\tmismatch of LBR data and executable\n"
           "\t000000000040100b\tinsn: e8 f0 ff ff ff \n\t... not reaching sample ...\n\n");
}

static void blocks_have_names(void **state)
{
    static const uint64_t stack[] = {2, PROGRAM + 8, PROGRAM + 0xb, PREDICTED, PROGRAM + 8, PROGRAM + 5, PREDICTED};
    struct recording r;
    (void)state;
    if (!has_program || !pf_disassembler_exists(pf_allocator_or_default(NULL)))
        skip();
    open_recording(&r, PERFILE_SAMPLE_BRANCH_STACK, program());
    put_sample(&r, PROGRAM + 0xb, stack, PF_COUNT(stack));
    expect(&r, "ip,brstackdisasm,brstackinsnlen",
           "           40100b\n\tspin+8:\n"
           "\t0000000000401008\tjne spin+0x5 [0x401005]       \tilen: 2\t# PRED\n"
           "\t0000000000401005\tsubl $1, %ecx\tilen: 3\n"
           "\t0000000000401008\tjne spin+0x5 [0x401005]       \tilen: 2\t# PRED\n"
           "\t_start:\n\t000000000040100b\tcallq spin+0x0 [0x401000]\tilen: 5\n\n");
}

static void expect_failure(const char *fields, uint64_t more, const char *part)
{
    const struct perfile_output_options options = script_text_options(fields, &symbols);
    struct recording r;
    struct perfile_error error;
    struct pf_text out;
    open_recording(&r, more, "/no/such/program");
    recording_store64(&r, BRANCH_TYPE_AT, 0);
    assert_true(script_text(&r, &options, &out, &error) < 0);
    if (!strstr(error.message, part))
        fail_msg("\"%s\" is not in \"%s\"", part, error.message);
    pf_text_close(&out);
    recording_close(&r);
}

static void what_is_needed_is_stated(void **state)
{
    (void)state;
    expect_failure("sym,srcline", 0, "go with \"ip\"");
    expect_failure("time,srccode", 0, "go with \"ip\"");
    expect_failure("ip,brcntr", PERFILE_SAMPLE_BRANCH_STACK, "any,counter");
    expect_failure("ip,brstackinsn", PERFILE_SAMPLE_BRANCH_STACK, "record -b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_stand_below_addresses),       cmocka_unit_test(lines_stand_below_each_frame),
        cmocka_unit_test(unknown_lines_are_addresses),       cmocka_unit_test(source_code_follows_the_sample),
        cmocka_unit_test(instructions_come_from_the_binary), cmocka_unit_test(blocks_between_branches),
        cmocka_unit_test(instructions_have_names),           cmocka_unit_test(blocks_have_names),
        cmocka_unit_test(what_is_needed_is_stated),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
