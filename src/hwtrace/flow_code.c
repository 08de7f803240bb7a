/* SPDX-License-Identifier: MIT */
/* The program's code as blocks, each decoded once. */
#include "hwtrace/flow.h"

enum {
    SLOT_BITS = 4,        /* at first; doubled as often as there are more blocks */
    MAX_BLOCKS = 1 << 20, /* more than this many are discarded, and decoded again */
    MAX_INSNS = 64,       /* of a block: longer ones are divided */
    MAX_INSN_BYTES = 15,
    KERNEL_PID = -1,
};

bool pf_flow_code_open(struct pf_flow_code *code, const struct perfile_allocator *allocator,
                       const struct pf_code_source *source)
{
    *code = (struct pf_flow_code){.allocator = allocator, .source = *source, .slot_bits = SLOT_BITS, .pid = KERNEL_PID};
    pf_arena_open(&code->arena, allocator);
    code->slots = pf_new(allocator, sizeof(*code->slots) << code->slot_bits);
    return code->slots;
}

void pf_flow_code_close(struct pf_flow_code *code)
{
    pf_arena_close(&code->arena);
    pf_free(code->allocator, code->slots, sizeof(*code->slots) << code->slot_bits);
    code->slots = NULL;
}

static void discard_all(struct pf_flow_code *code)
{
    pf_arena_close(&code->arena);
    pf_arena_open(&code->arena, code->allocator);
    memset(code->slots, 0, sizeof(*code->slots) << code->slot_bits);
    code->block_count = 0;
}

void pf_flow_code_enter(struct pf_flow_code *code, int32_t pid)
{
    const struct pf_code_source *source = &code->source;
    code->pid = pid;
    code->user = source->space ? source->space(source->context, pid) : 0;
    code->kernel = source->space ? source->space(source->context, KERNEL_PID) : 0;
    if (code->block_count > MAX_BLOCKS)
        discard_all(code);
}

/* Addresses of the upper half are the kernel's. */
static bool is_kernel(uint64_t address)
{
    return address >> 63;
}

/* Decodes instructions up to one that goes elsewhere, or to the end of the bytes. */
static void decode_block(struct pf_flow_block *block, const uint8_t *code, size_t bytes, uint8_t *insn_bytes)
{
    struct pf_x86_insn insn = {.flow = PF_X86_ON};
    size_t at = 0;
    while (block->count < MAX_INSNS && insn.flow == PF_X86_ON &&
           pf_x86_decode(block->is_64, code + at, bytes - at, &insn)) {
        block->last = block->start + at;
        insn_bytes[block->count++] = (uint8_t)insn.bytes;
        at += insn.bytes;
    }
    block->next = block->start + at;
    block->target = block->next + (uint64_t)insn.displacement;
    block->flow = block->count ? (uint8_t)insn.flow : PF_X86_ON;
}

static struct pf_flow_block *make_block(struct pf_flow_code *code, uint64_t space, uint64_t address, bool is_64)
{
    uint8_t bytes[MAX_INSNS * MAX_INSN_BYTES], insn_bytes[MAX_INSNS];
    const int32_t pid = is_kernel(address) ? KERNEL_PID : code->pid;
    const struct pf_code_source *source = &code->source;
    struct pf_flow_block made = {.space = space, .start = address, .is_64 = is_64};
    const size_t got = source->read ? source->read(source->context, pid, address, bytes, sizeof(bytes)) : 0;
    decode_block(&made, bytes, got, insn_bytes);
    struct pf_flow_block *block = made.count ? pf_arena_new(&code->arena, sizeof(*block) + made.count) : NULL;
    if (block) {
        *block = made;
        memcpy(block->bytes, insn_bytes, made.count);
    }
    return block;
}

static struct pf_flow_block **slot_of(const struct pf_flow_code *code, uint64_t space, uint64_t address)
{
    return &code->slots[(address ^ space << 40) * 0x9e3779b97f4a7c15U >> (64 - code->slot_bits)];
}

/* Without memory for it, finding takes longer. */
static void grow(struct pf_flow_code *code)
{
    struct pf_flow_block **old = code->slots;
    const size_t count = (size_t)1 << code->slot_bits;
    struct pf_flow_block **slots = pf_new(code->allocator, 2 * count * sizeof(*slots));
    if (!slots)
        return;
    code->slots = slots;
    code->slot_bits++;
    for (size_t i = 0; i < count; i++)
        for (struct pf_flow_block *block = old[i], *next; block; block = next) {
            struct pf_flow_block **slot = slot_of(code, block->space, block->start);
            next = block->chained;
            block->chained = *slot;
            *slot = block;
        }
    pf_free(code->allocator, old, count * sizeof(*old));
}

static struct pf_flow_block *add_block(struct pf_flow_code *code, struct pf_flow_block *block)
{
    if (!block)
        return NULL;
    if (code->block_count++ >> code->slot_bits)
        grow(code);
    struct pf_flow_block **slot = slot_of(code, block->space, block->start);
    block->chained = *slot;
    *slot = block;
    return block;
}

struct pf_flow_block *pf_flow_code_find(struct pf_flow_code *code, uint64_t address, bool is_64)
{
    const uint64_t space = is_kernel(address) ? code->kernel : code->user;
    struct pf_flow_block *block = *slot_of(code, space, address);
    while (block && (block->start != address || block->space != space || block->is_64 != is_64))
        block = block->chained;
    return PF_LIKELY(block != NULL) ? block : add_block(code, make_block(code, space, address, is_64));
}
