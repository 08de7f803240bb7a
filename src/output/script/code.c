/* SPDX-License-Identifier: MIT */
/* Machine code: the sampled instruction, and the instructions between the branches of a stack. */
#include "output/script/script.h"

#include <stdio.h>

enum {
    BLOCK_BYTES = 16384, /* perf shows no longer blocks */
    INSN_BYTES = 15,     /* what is read after the last address of a block */
    INSN_WIDTH = 30,     /* of the last instruction of a block, before what is known of its branch */
    SCAN_BYTES = 128,    /* after the last branch, when the sample is before it */
};

/* ---- the sampled instruction ------------------------------------------------------------------------------------- */

/* Code as it was read. */
struct code {
    struct pf_insn_machine machine;
    const uint8_t *data;
    size_t bytes;
    uint64_t address;
};

/*
 * Puts the instruction at the start of the code as text; a jump's target by name, and as number when `width`, the width
 * of the text, is required, as in blocks. Returns the instruction's length, or 0 when capstone does not know it.
 */
static unsigned put_words(struct pf_script *script, struct pf_text *text, const struct perfile_space *space,
                          const struct code *code, size_t *width)
{
    struct pf_insn_words words;
    char target[24] = "";
    if (!script->disassembler && !(script->disassembler = pf_disassembler_open(script->out->allocator))) {
        pf_script_fail(script, PERFILE_ERROR_MEMORY, "script", "out of memory");
        return 0;
    }
    if (!pf_disassemble(script->disassembler, &code->machine, code->data, code->bytes, code->address, &words))
        return 0;
    pf_put_string(text, words.mnemonic);
    pf_put_char(text, ' ');
    size_t after = words.has_target ? pf_script_put_function(script, text, space, words.target) : 0;
    if (!after) {
        pf_put_string(text, words.operands);
        after = strlen(words.operands);
    } else if (width) {
        after += (size_t)snprintf(target, sizeof(target), " [0x%" PRIx64 "]", words.target);
        pf_put_string(text, target);
    }
    if (width)
        *width = strlen(words.mnemonic) + 1 + after;
    return words.bytes;
}

/* Bytes in hexadecimal, with what stands before each of them. */
static void put_bytes(struct pf_text *text, const uint8_t *bytes, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        pf_put_format(text, i ? " %02x" : "%02x", bytes[i]);
}

void pf_script_put_code_at(struct pf_script *script, struct pf_text *text, const struct perfile_space *space,
                           const struct pf_script_location *location, unsigned style)
{
    uint8_t data[PF_INSN_BYTES_MAX];
    struct code code = {.data = data, .address = location->address};
    struct pf_insn insn;
    const size_t got =
        pf_symbols_code(script->symbols, location->map, location->address, data, sizeof(data), &code.machine);
    if (!pf_insn_decode(&code.machine, data, got, &insn))
        insn.bytes = 0;
    code.bytes = insn.bytes;
    if (style & SCRIPT_LOCATION_INSNLEN)
        pf_put_format(text, " ilen: %u", insn.bytes);
    if (!insn.bytes)
        return;
    if (style & SCRIPT_LOCATION_INSN) {
        pf_put_string(text, " insn: ");
        put_bytes(text, data, insn.bytes);
    }
    if (style & SCRIPT_LOCATION_DISASM) {
        pf_put_string(text, "\t\t");
        if (!put_words(script, text, space, &code, NULL))
            put_bytes(text, data, insn.bytes);
    }
}

char *pf_script_put_code(struct pf_script *script, char *at)
{
    pf_script_leave(script, at);
    pf_script_put_ip_text(script, script->plan->code_locations);
    return pf_script_enter(script);
}

/* ---- the instructions between branches --------------------------------------------------------------------------- */

/* The code of a block, and the state that its earlier lines leave for the later ones. */
struct blocks {
    struct pf_script *script;
    struct code code;
    unsigned mode;
    struct pf_location last; /* the symbol that was named last */
    unsigned total_cycles;
    bool shows_bytes;
    bool shows_lines;
    bool shows_source;
    bool shows_words;
    bool shows_counters;
    uint64_t counter; /* of the block that ends at the current branch */
};

/* Addresses of the upper half are the kernel's on all machines that record branches. */
static bool is_kernel(uint64_t address)
{
    return address >> 63;
}

enum { BLOCK_NONE, BLOCK_READ, BLOCK_CROSSES };

/* Reads the code from `start` up to and with the instruction at `end`. */
static int read_block(struct blocks *b, uint64_t start, uint64_t end)
{
    struct pf_script_location location;
    b->code.bytes = 0;
    if (!start || !end)
        return BLOCK_NONE;
    b->mode = is_kernel(start) ? PERFILE_MISC_KERNEL : PERFILE_MISC_USER;
    if (is_kernel(start) != is_kernel(end))
        return BLOCK_CROSSES;
    if (end - start > BLOCK_BYTES - INSN_BYTES || !pf_script_locate(b->script, b->mode, start, &location))
        return BLOCK_NONE;
    b->code.data = b->script->block;
    b->code.bytes = pf_symbols_code(b->script->symbols, location.map, start, b->script->block,
                                    (size_t)(end - start) + INSN_BYTES, &b->code.machine);
    return b->code.bytes ? BLOCK_READ : BLOCK_NONE;
}

/* "\tFUNCTION+OFFSET:" where another function begins. */
static void put_function(struct blocks *b, uint64_t address)
{
    struct pf_text *out = b->script->out;
    struct pf_script_location location;
    if (!pf_script_locate(b->script, b->mode, address, &location) || !location.map ||
        location.location.symbol == PF_NO_SYMBOL ||
        (location.location.module == b->last.module && location.location.symbol == b->last.symbol))
        return;
    b->last = location.location;
    pf_put_char(out, '\t');
    pf_put_name(out, pf_symbols_name(b->script->symbols, location.location.module, location.location.symbol));
    if (location.location.offset)
        pf_put_format(out, "+%" PRIu64, location.location.offset);
    pf_put_char(out, ':');
    if (b->shows_lines)
        pf_script_put_source_line(b->script, &location, "\t");
    pf_put_char(out, '\n');
}

/* Puts "\tADDRESS\tinsn: BYTES ", or the instruction's text. Returns the width of what follows the address. */
static size_t put_insn(struct blocks *b, uint64_t address, size_t at, struct pf_insn *insn)
{
    struct pf_text *out = b->script->out;
    struct code code = b->code;
    code.data += at;
    code.bytes -= at;
    code.address = address;
    pf_put_format(out, "\t%016" PRIx64 "\t", address);
    const bool known = pf_insn_decode(&code.machine, code.data, code.bytes, insn);
    size_t width;
    unsigned words = 0;
    if (b->shows_words)
        words = put_words(b->script, out, pf_script_space(b->script, b->mode), &code, &width);
    if (words) {
        insn->bytes = words;
        return width;
    }
    pf_put_string(out, known ? "insn: " : "<bad>");
    put_bytes(out, code.data, insn->bytes);
    pf_put_string(out, known ? " " : "");
    return known ? 6 + 3 * (size_t)insn->bytes : 5;
}

static void put_source(struct blocks *b, uint64_t address)
{
    if (b->shows_source)
        pf_script_put_source_code(b->script, b->mode, address, "", "\n");
}

/* Puts a line within a block. False when the bytes are not an instruction. */
static bool put_insn_line(struct blocks *b, uint64_t address, size_t at, struct pf_insn *insn)
{
    put_insn(b, address, at, insn);
    if (b->shows_bytes)
        pf_put_format(b->script->out, "\tilen: %u", insn->bytes);
    pf_put_char(b->script->out, '\n');
    return insn->bytes;
}

static void put_outcome(struct blocks *b, const struct perfile_branch *branch, unsigned insns)
{
    struct pf_text *out = b->script->out;
    if (b->shows_counters)
        pf_script_put_branch_counter(b->script, b->counter);
    pf_put_format(out, "%s%s%s%s%s", b->shows_counters ? "" : "#", branch->predicted ? " PRED" : "",
                  branch->mispred ? " MISPRED" : "", branch->in_tx ? " INTX" : "", branch->abort ? " ABORT" : "");
    if (branch->cycles) {
        b->total_cycles += branch->cycles;
        pf_put_format(out, " %u cycles [%u]", branch->cycles, b->total_cycles);
        if (insns)
            pf_put_format(out, " %.2f IPC", (double)((float)insns / (float)branch->cycles));
    }
    pf_put_char(out, '\n');
}

/* The line of the instruction that branches; `insns` of its block, with it; 0: not known. */
static void put_branch_line(struct blocks *b, size_t at, const struct perfile_branch *branch, unsigned insns)
{
    struct pf_text *out = b->script->out;
    struct pf_script_location location;
    struct pf_insn insn;
    for (size_t width = put_insn(b, branch->from, at, &insn); width < INSN_WIDTH; width++)
        pf_put_char(out, ' ');
    pf_put_char(out, '\t');
    if (b->shows_bytes)
        pf_put_format(out, "ilen: %u\t", insn.bytes);
    if (b->shows_lines && pf_script_locate(b->script, b->mode, branch->from, &location)) {
        pf_script_put_source_line(b->script, &location, " srcline: ");
        pf_put_char(out, '\t');
    }
    put_outcome(b, branch, insns);
    put_source(b, branch->from);
}

/* From where one branch went to where the next one was taken. */
static void put_block(struct blocks *b, uint64_t start, const struct perfile_branch *branch)
{
    struct pf_insn insn;
    size_t at = 0;
    for (unsigned insns = 1; at < b->code.bytes; at += insn.bytes, insns++) {
        put_function(b, start + at);
        if (start + at == branch->from) {
            put_branch_line(b, at, branch, insns);
            break;
        }
        if (!put_insn_line(b, start + at, at, &insn))
            break;
        put_source(b, start + at);
    }
    if (at != branch->from - start)
        pf_put_string(b->script->out, "\tmismatch of LBR data and executable\n");
}

/* From where the last branch went to the sample. */
static void put_last_block(struct blocks *b, uint64_t start, uint64_t ip)
{
    const uint64_t end = ip < start ? start + SCAN_BYTES : ip; /* a branch is missing */
    const int found = read_block(b, start, end);
    struct pf_insn insn;
    put_function(b, start);
    if (found != BLOCK_READ) {
        if (read_block(b, ip, ip) == BLOCK_READ) {
            put_insn_line(b, ip, 0, &insn);
            put_source(b, ip);
        }
        return;
    }
    for (size_t at = 0; at <= end - start && at < b->code.bytes; at += insn.bytes) {
        if (!put_insn_line(b, start + at, at, &insn))
            break;
        if (insn.jumps && start + at != ip) {
            pf_put_string(b->script->out, "\t... not reaching sample ...\n");
            break;
        }
        put_source(b, start + at);
    }
}

/* The branch at `index`, and its counter. */
static void get_branch(struct blocks *b, const struct perfile_branch_stack *stack, uint64_t index,
                       struct perfile_branch *branch)
{
    perfile_branch_at(stack, index, branch, sizeof(*branch));
    b->counter = index < stack->counters.count ? perfile_u64_at(&stack->counters, index) : 0;
}

static void put_blocks(struct blocks *b, const struct perfile_branch_stack *stack)
{
    struct perfile_branch branch, before;
    uint64_t i = stack->count - 1;
    get_branch(b, stack, i, &branch);
    if (read_block(b, branch.from, branch.from) == BLOCK_READ) { /* where its block began is not known */
        put_function(b, branch.from);
        put_branch_line(b, 0, &branch, 0);
    }
    while (i-- > 0 && !b->script->failed) {
        before = branch;
        get_branch(b, stack, i, &branch);
        int found = read_block(b, before.to, branch.from);
        if (found == BLOCK_CROSSES && i > 0) { /* the way into the kernel is not recorded, the way out is */
            get_branch(b, stack, --i, &branch);
            found = read_block(b, before.to, branch.from);
        }
        if (found == BLOCK_READ)
            put_block(b, before.to, &branch);
    }
    if (branch.from != b->script->item.sample.ip && !branch.abort)
        put_last_block(b, branch.to, b->script->item.sample.ip);
}

char *pf_script_put_brstackinsn(struct pf_script *script, char *at)
{
    const uint64_t fields = script->plan->fields;
    struct blocks b = {.script = script,
                       .last = {.module = PF_NO_SYMBOL, .symbol = PF_NO_SYMBOL},
                       .shows_bytes = fields & SCRIPT_BIT(SCRIPT_BRSTACKINSNLEN),
                       .shows_lines = fields & SCRIPT_BIT(SCRIPT_SRCLINE),
                       .shows_source = fields & SCRIPT_BIT(SCRIPT_SRCCODE),
                       .shows_counters = fields & SCRIPT_BIT(SCRIPT_BRCNTR),
                       .shows_words = fields & SCRIPT_BIT(SCRIPT_BRSTACKDISASM)};
    if (!script->item.sample.branch_stack.count)
        return at;
    pf_script_leave(script, at);
    if (!script->block)
        script->block = pf_arena_new(&script->arena, BLOCK_BYTES);
    pf_put_char(script->out, '\n');
    if (script->block && pf_script_open_symbols(script))
        put_blocks(&b, &script->item.sample.branch_stack);
    else
        pf_script_fail(script, PERFILE_ERROR_MEMORY, "script", "out of memory");
    return pf_script_enter(script);
}
