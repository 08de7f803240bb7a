/* SPDX-License-Identifier: MIT */
/*
 * Code that is followed to where functions return: the input has code, an address in it and the words of a stack. The
 * exits are found, the stack is unwound by them, and once more with the code in memory of a running process, this one.
 */
#include "made.h"
#include "symbol/symbols.h"
#include "symbol/unwind/code_exit.h"
#include "symbol/unwind/unwind.h"

enum {
    HEAD_BYTES = 4,
    REGISTERS = 24,
    MAX_WORDS = 64,
    MAX_FRAMES = 40,
    PAGES = 4,
    PAGE = 4096,
    CODE_BYTES = PAGES * PAGE
};
#define CODE UINT64_C(0x20000000)
#define STACK UINT64_C(0x30000000)

struct input {
    const uint8_t *code;
    size_t code_bytes, at;
    bool is_64;
    uint64_t registers[REGISTERS];
    uint8_t stack[MAX_WORDS * 8];
    size_t stack_bytes;
    uint8_t *piece; /* of the code: what was located last */
};

/* Two bytes make a word: an address in the code, one on the stack, or a number. */
static uint64_t word_of(const uint8_t *from)
{
    const uint64_t value = pf_load16(from, PF_NATIVE_BIG_ENDIAN);
    return value >> 14 == 3 ? value & 0xff : value >> 15 ? STACK + (value & 0x3ff) : CODE + value % CODE_BYTES;
}

static void read_input(struct input *input, const uint8_t *data, size_t bytes)
{
    const unsigned word_bytes = data[0] & 1 ? 8 : 4;
    const size_t words = pf_min_size(data[3] % (MAX_WORDS + 1), (bytes - HEAD_BYTES) / 2);
    *input = (struct input){.is_64 = data[0] & 1, .stack_bytes = words * word_bytes};
    for (size_t i = 0; i < words; i++) {
        const uint64_t word = word_of(data + HEAD_BYTES + 2 * i);
        memcpy(input->stack + i * word_bytes + (PF_NATIVE_BIG_ENDIAN ? 8 - word_bytes : 0), &word, word_bytes);
    }
    for (size_t i = 0; i < REGISTERS; i++)
        input->registers[i] = STACK + 8 * (i + data[0] / 2u);
    input->code = data + HEAD_BYTES + 2 * words;
    input->code_bytes = pf_min_size(bytes - HEAD_BYTES - 2 * words, CODE_BYTES);
    input->at = pf_load16(data + 1, PF_NATIVE_BIG_ENDIAN) % (input->code_bytes + 1);
    input->registers[7] = STACK;
    input->registers[8] = CODE + input->at;
}

/* ---- exits ------------------------------------------------------------------------------------------------------- */

static void check_slot(const struct pf_code_slot *slot)
{
    FUZZ_REQUIRE(slot->is_known || slot->offset == 0);
    FUZZ_REQUIRE(slot->offset > -(1 << 25) && slot->offset < 1 << 25);
}

static void find_exits(const struct input *input)
{
    struct pf_code_walk walk;
    struct pf_code_exit exit;
    unsigned exits = 0;
    pf_code_walk_start(&walk, input->is_64, input->code, input->code_bytes, input->at);
    while (pf_code_walk_next(&walk, &exit)) {
        FUZZ_REQUIRE(exit.address.is_known && walk.exit.at < input->code_bytes && ++exits < 1000);
        check_slot(&exit.address);
        for (unsigned i = 0; i < PF_CODE_REGISTERS; i++)
            check_slot(&exit.saved[i]);
    }
    for (size_t at = 0; at < input->code_bytes + 2; at++)
        if (pf_code_is_called(input->is_64, input->code, input->code_bytes, at))
            FUZZ_REQUIRE(at >= 2 && at <= input->code_bytes);
}

/* ---- stacks ------------------------------------------------------------------------------------------------------ */

/* As code in memory is read: in pieces, which end before the code does. The one before must not be used any more. */
static bool locate(void *context, uint64_t address, struct pf_unwind_location *location)
{
    enum { STEP = PF_UNWIND_CODE_BYTES / 2 };
    struct input *input = context;
    const size_t at = (size_t)(address - CODE), start = (at < 8 ? 0 : at - 8) / STEP * STEP;
    const size_t end = pf_min_size(start + PF_UNWIND_CODE_BYTES, CODE_BYTES);
    *location = (struct pf_unwind_location){.executable = address >= CODE && at < CODE_BYTES};
    if (!location->executable)
        return false;
    free(input->piece);
    input->piece = calloc(1, end - start);
    FUZZ_REQUIRE(input->piece);
    if (start < input->code_bytes)
        memcpy(input->piece, input->code + start, pf_min_size(end, input->code_bytes) - start);
    location->code = input->piece;
    location->code_bytes = end - start;
    location->code_at = at - start;
    return true;
}

static struct perfile_sample sample_of(struct input *input)
{
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    sample.present = PERFILE_SAMPLE_REGS_USER | PERFILE_SAMPLE_STACK_USER;
    sample.regs_user = (struct perfile_regs){.abi = input->is_64 ? 2 : 1, .mask = 0xff01ff};
    sample.regs_user.values = (struct perfile_u64s){.data = (const uint8_t *)input->registers, .count = 17};
    sample.stack_user =
        (struct perfile_stack){input->stack, input->stack_bytes, input->stack_bytes, input->stack_bytes};
    return sample;
}

static void check_addresses(const struct input *input, const struct pf_unwound *unwound)
{
    FUZZ_REQUIRE(unwound->count >= 1 && unwound->count <= MAX_FRAMES && unwound->bytes <= input->stack_bytes);
    FUZZ_REQUIRE(unwound->addresses[0] == CODE + input->at);
    for (size_t i = 1; i < unwound->count; i++)
        FUZZ_REQUIRE(unwound->addresses[i] - 1 - CODE < CODE_BYTES);
}

/* ---- memory of a process ----------------------------------------------------------------------------------------- */

static size_t make_recording(uint64_t words[32])
{
    const uint64_t start[] = {PF_NATIVE_BIG_ENDIAN ? 0x50455246494c4532u : 0x32454c4946524550u, 16};
    const uint64_t attr[] = {fuzz_header(64, 0, 9), fuzz_pair(1, 64), 0, 1, PERFILE_SAMPLE_IP, 0, 0, 0, 0};
    const uint64_t pid = (uint64_t)getpid();
    const uint64_t map[] = {fuzz_header(1, 2, 6), fuzz_pair(pid, pid), CODE, CODE_BYTES, 0, 0};
    uint64_t *to = words;
    to = (uint64_t *)memcpy(to, start, sizeof(start)) + PF_COUNT(start);
    to = (uint64_t *)memcpy(to, attr, sizeof(attr)) + PF_COUNT(attr);
    to = (uint64_t *)memcpy(to, map, sizeof(map)) + PF_COUNT(map);
    memcpy(to - 1, "//anon", 6);
    return (size_t)(to - words) * sizeof(*words);
}

static void put_in_memory(const struct input *input)
{
    static uint8_t *memory;
    if (!memory)
        memory = mmap((void *)(uintptr_t)CODE, CODE_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    FUZZ_REQUIRE(memory == (uint8_t *)(uintptr_t)CODE);
    memset(memory, 0, CODE_BYTES);
    memcpy(memory, input->code, input->code_bytes);
}

/* The same stack, by the code in memory; its addresses of callers are those of their calls. */
static void unwind_live(struct input *input, const struct pf_unwound *expected, int expected_end)
{
    uint64_t words[32], addresses[MAX_FRAMES];
    const struct perfile_symbol_options wanted = {.size = sizeof(wanted), .kallsyms = "/dev/null"};
    struct pf_find_options options = pf_find_options_of(&wanted, NULL);
    const struct perfile_sample sample = sample_of(input);
    struct pf_unwound unwound = {.addresses = addresses, .capacity = MAX_FRAMES};
    const struct perfile_record *record;
    struct perfile_session *session;
    struct perfile_reader *reader;
    struct pf_symbols *symbols;
    options.live = true;
    FUZZ_REQUIRE(perfile_open_memory(words, make_recording(words), NULL, &reader, NULL) == 0);
    FUZZ_REQUIRE(perfile_session_open(reader, &session, NULL) == 0);
    FUZZ_REQUIRE(pf_symbols_open(reader, &options, &symbols, NULL) == 0);
    perfile_session_follow_maps(session);
    while (perfile_session_next(session, &record, NULL) > 0)
        continue;
    const struct pf_unwinding how = {.space = perfile_session_space(session, getpid()), .arch = "x86_64"};
    put_in_memory(input);
    FUZZ_REQUIRE(pf_symbols_unwind(symbols, &sample, &how, &unwound) == expected_end);
    FUZZ_REQUIRE(unwound.count == expected->count && unwound.guessed == expected->guessed);
    for (size_t i = 0; i < unwound.count; i++)
        FUZZ_REQUIRE(addresses[i] == expected->addresses[i] - (i != 0));
    pf_symbols_close(symbols);
    perfile_session_close(session);
    perfile_close(reader);
}

/* Flags and registers, the address in the code, the number of words of the stack; these words, the code. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    uint64_t addresses[MAX_FRAMES];
    struct pf_unwound unwound = {.addresses = addresses, .capacity = MAX_FRAMES};
    struct input input;
    if (bytes < HEAD_BYTES)
        return 0;
    read_input(&input, data, bytes);
    find_exits(&input);
    const struct perfile_sample sample = sample_of(&input);
    const int end = pf_unwind_sample(&sample, "x86_64", locate, &input, &unwound);
    FUZZ_REQUIRE(end >= PF_UNWIND_DONE && end <= PF_UNWIND_LIMIT);
    if (input.at < CODE_BYTES)
        check_addresses(&input, &unwound);
    if (input.stack_bytes)
        unwind_live(&input, &unwound, end);
    free(input.piece);
    return 0;
}
