/* SPDX-License-Identifier: MIT */
/*
 * test_pt_rounds [SEEDS]: random walks over random programs, encoded as Intel PT in pieces that end anywhere, decode to
 * exactly the instructions that were walked. Damaged traces, with flipped bytes or cut, are read to their end: each
 * byte is counted once, and what comes later than the second PSB after a damage decodes as before. What is decoded
 * ahead, on other threads, is what one thread decodes, whether damaged or not.
 */
#include <stdlib.h>
#include <string.h>

#include "any.h"
#include "flow_run.h"
#include "hwtrace/flow_spans.h"

#ifdef PF_HAVE_IPT
#include <intel-pt.h>
#endif

enum {
    CODE_BYTES = 2048,
    BLOCKS = 40,
    MAX_TRACE = 32 * 1024,
    MAX_WALKED = 16 * 1024,
    MAX_PSBS = 64,
    STEPS = 600,
    SEEDS = 300,
    STACK = 64
};
#define BASE UINT64_C(0x401000)

static unsigned seeds = SEEDS;

/* ---- programs ---------------------------------------------------------------------------------------------------- */

enum ending { CONDITIONAL, JUMP, CALL, RETURN, JUMP_INDIRECT, CALL_INDIRECT, SYSTEM_CALL, ENDINGS };

struct block {
    uint32_t start, last, next; /* offsets in the code */
    uint32_t insns[8];
    unsigned count;
    enum ending ending;
    unsigned target; /* a block */
};

struct program {
    uint8_t code[CODE_BYTES];
    struct block blocks[BLOCKS];
};

static uint32_t put_code(struct program *program, uint32_t at, const char *bytes, size_t count)
{
    memcpy(program->code + at, bytes, count);
    return at + (uint32_t)count;
}

static uint32_t put_plain(struct program *program, uint32_t at)
{
    static const struct {
        const char *bytes;
        size_t count;
    } insns[] = {{"\x90", 1}, {"\xb9\x03\0\0\0", 5}, {"\xf7\xc1\x01\0\0\0", 6}, {"\x48\x89\xc8", 3}, {"\xff\xc9", 2}};
    const size_t i = any(PF_COUNT(insns));
    return put_code(program, at, insns[i].bytes, insns[i].count);
}

static void make_block(struct program *program, unsigned index, uint32_t start)
{
    static const char endings[ENDINGS][8] = {"\x0f\x85", "\xe9", "\xe8", "\xc3", "\xff\xe0", "\xff\xd0", "\x0f\x05"};
    static const uint8_t bytes[ENDINGS] = {6, 5, 5, 1, 2, 2, 2};
    struct block *block = &program->blocks[index];
    *block = (struct block){.start = start, .target = (unsigned)any(BLOCKS)};
    uint32_t at = start;
    for (unsigned i = (unsigned)any(4); i > 0; i--) {
        block->insns[block->count++] = at;
        at = put_plain(program, at);
    }
    block->ending = index + 1 == BLOCKS ? JUMP_INDIRECT : (enum ending)any(ENDINGS);
    block->last = block->insns[block->count++] = at;
    block->next = put_code(program, at, endings[block->ending], bytes[block->ending]);
}

/* The displacements, where all blocks are known. */
static void link_blocks(struct program *program)
{
    for (unsigned i = 0; i < BLOCKS; i++) {
        const struct block *block = &program->blocks[i];
        const uint32_t displacement = program->blocks[block->target].start - block->next;
        if (block->ending <= CALL)
            for (unsigned k = 0; k < 4; k++)
                program->code[block->next - 4 + k] = (uint8_t)(displacement >> (8 * k));
    }
}

static void make_program(struct program *program)
{
    uint32_t at = 0;
    memset(program, 0, sizeof(*program));
    for (unsigned i = 0; i < BLOCKS; i++) {
        make_block(program, i, at);
        at = program->blocks[i].next;
    }
    link_blocks(program);
}

/* ---- traces ------------------------------------------------------------------------------------------------------ */

struct trace {
    struct program program;
    uint8_t bytes[MAX_TRACE];
    size_t used;
    uint32_t walked[MAX_WALKED]; /* offsets of the instructions that the packets explain */
    size_t walked_count, explained;
    size_t psbs[MAX_PSBS], walked_at[MAX_PSBS]; /* where a PSB is, and what was walked before its address */
    size_t psb_count;
    unsigned results, result_count;
    unsigned returns[STACK];
    unsigned return_count;
    size_t overflows;
};

static void put(struct trace *trace, uint8_t header, uint64_t payload, size_t bytes)
{
    trace->bytes[trace->used++] = header;
    for (size_t i = 0; i < bytes; i++)
        trace->bytes[trace->used++] = (uint8_t)(payload >> (8 * i));
}

static void put_address(struct trace *trace, uint8_t kind, uint32_t offset)
{
    if (any(2) || kind == 0x1d)
        put(trace, (uint8_t)(kind | 6 << 5), BASE + offset, 8);
    else
        put(trace, (uint8_t)(kind | 3 << 5), BASE + offset, 6);
}

static void flush_results(struct trace *trace)
{
    if (trace->result_count)
        put(trace, (uint8_t)(((1u << trace->result_count) | trace->results) << 1), 0, 0);
    trace->results = trace->result_count = 0;
}

static void add_result(struct trace *trace, bool taken)
{
    trace->results = trace->results << 1 | taken;
    trace->result_count++;
    trace->explained = trace->walked_count;
    if (trace->result_count == 6 || any(8) == 0)
        flush_results(trace);
}

/* Cycles, a time, or how fast the processor is. */
static void put_timing(struct trace *trace)
{
    flush_results(trace);
    if (any(3) == 0)
        put(trace, 0x19, 1000000 + trace->used, 7);
    else if (any(3) == 0)
        put(trace, 0x02, 0x03 | (20 + any(3)) << 8, 3);
    else
        put(trace, (uint8_t)(any(32) << 3 | 3), 0, 0);
}

static void put_target(struct trace *trace, unsigned block)
{
    flush_results(trace);
    put_address(trace, 0x0d, trace->program.blocks[block].start);
    trace->explained = trace->walked_count;
}

static void put_psb(struct trace *trace, uint32_t offset)
{
    flush_results(trace);
    if (trace->psb_count < MAX_PSBS) {
        trace->psbs[trace->psb_count] = trace->used;
        trace->walked_at[trace->psb_count++] = trace->walked_count;
    }
    trace->explained = trace->walked_count;
    for (unsigned i = 0; i < 8; i++)
        put(trace, 0x02, 0x82, 1);
    put(trace, 0x19, 1000000 + trace->used, 7);
    if (any(2))
        put(trace, 0x02, 0x1503, 3);
    put(trace, 0x99, 1, 1);
    put_address(trace, 0x1d, offset);
    put(trace, 0x02, 0x23, 1);
    trace->return_count = 0;
}

/* Nothing is known of what follows, up to the address where the program is then. */
static void put_overflow(struct trace *trace, uint32_t offset)
{
    flush_results(trace);
    trace->walked_count = trace->explained;
    put(trace, 0x02, 0xf3, 1);
    put_address(trace, 0x1d, offset);
    trace->return_count = 0;
    trace->overflows++;
}

static void walk_insns(struct trace *trace, const struct block *block)
{
    for (unsigned i = 0; i < block->count && trace->walked_count < MAX_WALKED; i++)
        trace->walked[trace->walked_count++] = block->insns[i];
}

static unsigned after(const struct block *block, const struct trace *trace)
{
    return (unsigned)(block - trace->program.blocks) + 1;
}

static unsigned go_indirect(struct trace *trace)
{
    const unsigned target = (unsigned)any(BLOCKS);
    put_target(trace, target);
    return target;
}

static unsigned go_back(struct trace *trace)
{
    if (!trace->return_count)
        return go_indirect(trace);
    add_result(trace, true);
    return trace->returns[--trace->return_count];
}

static void note_call(struct trace *trace, const struct block *block)
{
    if (trace->return_count == STACK) /* the processor discards the oldest one */
        memmove(trace->returns, trace->returns + 1, --trace->return_count * sizeof(*trace->returns));
    trace->returns[trace->return_count++] = after(block, trace);
}

/* A synchronization while tracing is off; perhaps packets are lost then. */
static void put_psb_outside(struct trace *trace)
{
    for (unsigned i = 0; i < 8; i++)
        put(trace, 0x02, 0x82, 1);
    put(trace, 0x19, 1000000 + trace->used, 7);
    put(trace, 0x99, 1, 1);
    put(trace, 0x02, 0x23, 1);
    if (any(3))
        return;
    put(trace, 0x02, 0xf3, 1);
    trace->overflows++;
}

/* Tracing ends, and begins again elsewhere. */
static unsigned go_outside(struct trace *trace)
{
    const unsigned target = (unsigned)any(BLOCKS);
    flush_results(trace);
    put(trace, 0x01, 0, 0);
    trace->explained = trace->walked_count;
    if (any(6) == 0)
        put_psb_outside(trace);
    put_address(trace, 0x11, trace->program.blocks[target].start);
    trace->return_count = 0;
    return target;
}

/* Takes the branch at the end of the block; returns the next one. */
static unsigned leave(struct trace *trace, const struct block *block)
{
    bool taken;
    switch (block->ending) {
    case CONDITIONAL:
        taken = any(2);
        add_result(trace, taken);
        return taken ? block->target : after(block, trace);
    case CALL:
        if (trace->program.blocks[block->target].start != block->next)
            note_call(trace, block);
        return block->target;
    case JUMP:
        return block->target;
    case RETURN:
        return go_back(trace);
    case CALL_INDIRECT:
        note_call(trace, block);
        return go_indirect(trace);
    case SYSTEM_CALL:
        return go_outside(trace);
    default:
        return go_indirect(trace);
    }
}

/* Direct jumps may go in circles that no packet explains. */
static bool goes_on(const struct trace *trace, unsigned block)
{
    for (unsigned i = 0; i < BLOCKS; i++) {
        const struct block *at = &trace->program.blocks[block];
        if (at->ending != JUMP && at->ending != CALL)
            return true;
        block = at->target;
    }
    return false;
}

static void encode(struct trace *trace)
{
    unsigned at = 0;
    memset(trace, 0, sizeof(*trace));
    do
        make_program(&trace->program);
    while (!goes_on(trace, at));
    put_psb(trace, 0);
    for (unsigned i = 0; i < STEPS && trace->used + 256 < MAX_TRACE && trace->walked_count + 16 < MAX_WALKED; i++) {
        const struct block *block = &trace->program.blocks[at];
        walk_insns(trace, block);
        at = leave(trace, block);
        if (!goes_on(trace, at))
            break;
        if (any(6) == 0)
            put_timing(trace);
        if (any(40) == 0)
            put_psb(trace, trace->program.blocks[at].start);
        else if (any(100) == 0)
            put_overflow(trace, trace->program.blocks[at].start);
    }
    flush_results(trace);
    trace->walked_count = trace->explained;
}

/* ---- decoding ---------------------------------------------------------------------------------------------------- */

struct decoded {
    uint32_t insns[4 * MAX_WALKED];
    size_t count;
    size_t errors;
    struct pf_flow_bytes bytes;
};

struct pieces {
    const struct trace *trace;
    size_t at;
};

static int next_piece(void *context, const uint8_t **data, size_t *bytes, struct perfile_error *error)
{
    struct pieces *pieces = context;
    (void)error;
    *data = pieces->trace->bytes + pieces->at;
    *bytes = (size_t)pf_min(1 + any(200), pieces->trace->used - pieces->at);
    pieces->at += *bytes;
    return *bytes > 0;
}

static size_t read_code(void *context, int32_t pid, uint64_t address, uint8_t *bytes, size_t count)
{
    const struct program *program = context;
    (void)pid;
    if (address < BASE || address >= BASE + CODE_BYTES)
        return 0;
    const size_t got = (size_t)pf_min(count, BASE + CODE_BYTES - address);
    memcpy(bytes, program->code + (address - BASE), got);
    return got;
}

static void take_step(void *context, const struct pf_flow_step *step)
{
    struct decoded *decoded = context;
    uint64_t at = step->block ? step->block->start : 0;
    for (uint32_t i = 0; i < step->count && decoded->count < PF_COUNT(decoded->insns); i++) {
        decoded->insns[decoded->count++] = (uint32_t)(at - BASE);
        at += step->block->bytes[i];
    }
    decoded->errors += step->event == PF_FLOW_ERROR;
}

static void decode(const struct trace *trace, struct decoded *decoded)
{
    struct pieces pieces = {.trace = trace};
    struct flow_run run = {.decoder = pf_aux_decoder_find(PERFILE_AUXTRACE_INTEL_PT),
                           .walk = {.more = next_piece, .context = &pieces},
                           .source = {.read = read_code, .context = (void *)(uintptr_t)&trace->program},
                           .bytes = &decoded->bytes,
                           .take = take_step,
                           .context = decoded};
    memset(decoded, 0, sizeof(*decoded));
    flow_run(&run);
}

static void check_bytes(const struct trace *trace, const struct decoded *decoded)
{
    assert_int_equal(decoded->bytes.decoded + decoded->bytes.skipped + decoded->bytes.bad, trace->used);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static struct trace trace, damaged;
static struct decoded decoded;

static void start(unsigned seed)
{
    state_of_random = UINT64_C(0x9e3779b97f4a7c15) * (seed + 1);
    encode(&trace);
}

static void test_walks(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < seeds; seed++) {
        start(seed);
        decode(&trace, &decoded);
        if (decoded.count != trace.walked_count || decoded.errors != trace.overflows ||
            memcmp(decoded.insns, trace.walked, trace.walked_count * sizeof(uint32_t)) != 0)
            fail_msg("seed %u: %zu instructions instead of %zu, %zu errors instead of %zu", seed, decoded.count,
                     trace.walked_count, decoded.errors, trace.overflows);
        check_bytes(&trace, &decoded);
    }
}

static void test_cut(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < seeds; seed++) {
        start(seed);
        trace.used = any(trace.used + 1);
        decode(&trace, &decoded);
        assert_true(decoded.count <= trace.walked_count);
        assert_memory_equal(decoded.insns, trace.walked, decoded.count * sizeof(uint32_t));
        check_bytes(&trace, &decoded);
    }
}

/* The first PSB but one after a byte; SIZE_MAX after the last. */
static size_t psb_after(size_t at)
{
    for (size_t i = 0; i + 1 < trace.psb_count; i++)
        if (trace.psbs[i] > at)
            return i + 1;
    return SIZE_MAX;
}

static void test_damage(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < seeds; seed++) {
        start(seed);
        const size_t at = any(trace.used), psb = psb_after(at);
        damaged = trace;
        damaged.bytes[at] ^= (uint8_t)(1 << any(8));
        decode(&damaged, &decoded);
        check_bytes(&damaged, &decoded);
        if (psb == SIZE_MAX || decoded.count == PF_COUNT(decoded.insns))
            continue;
        const size_t left = trace.walked_count - (size_t)pf_min(trace.walked_at[psb], trace.walked_count);
        if (decoded.count < left || memcmp(decoded.insns + decoded.count - left,
                                           trace.walked + trace.walked_count - left, left * sizeof(uint32_t)) != 0)
            fail_msg("seed %u: damage at %zu of %zu, not found again at the PSB at %zu", seed, at, trace.used,
                     trace.psbs[psb]);
    }
}

/* ---- decoding ahead ---------------------------------------------------------------------------------------------- */

enum { MAX_STEPS = 64 * 1024, BUFFERS = 4 };

/* One of the ways to decode a trace that is in some buffers, and what came of it. */
struct way {
    const struct trace *trace;
    uint64_t space; /* of the process: it changes while the trace is decoded */
    struct line {
        struct pf_flow_step step;
        uint64_t start, time, offset; /* of the step's block; what `seek` came to before the step */
    } lines[MAX_STEPS];
    size_t count;
    struct pf_flow_bytes bytes;
    uint64_t bad_bytes;
};

static struct way ways[2];

static uint64_t space_of(void *context, int32_t pid)
{
    const struct way *way = context;
    return pid == -1 ? 1 : way->space;
}

static size_t read_way(void *context, int32_t pid, uint64_t address, uint8_t *bytes, size_t count)
{
    const struct way *way = context;
    return read_code((void *)(uintptr_t)&way->trace->program, pid, address, bytes, count);
}

static int read_buffer(void *context, const struct pf_aux_buffer *buffer, uint64_t at, uint8_t *to, size_t *bytes,
                       struct perfile_error *error)
{
    const struct way *way = context;
    (void)error;
    *bytes = (size_t)pf_min(*bytes, buffer->bytes - at);
    memcpy(to, way->trace->bytes + buffer->offset + at, *bytes);
    return 0;
}

/* The buffers continue each other, all but perhaps one. */
static void divide(struct pf_aux_queue *queue, size_t bytes)
{
    const size_t each = bytes / BUFFERS;
    const bool has_gap = any(3) == 0;
    queue->count = BUFFERS;
    queue->bytes = bytes;
    for (size_t i = 0; i < BUFFERS; i++)
        queue->buffers[i] = (struct pf_aux_buffer){.offset = i * each,
                                                   .bytes = i + 1 < BUFFERS ? each : bytes - i * each,
                                                   .reference = 1000000,
                                                   .cut = has_gap && i == BUFFERS / 2};
}

/* The decoder of the queue, and what else is needed to run it. */
struct decoder_run {
    struct way *way;
    struct pf_aux_stream stream;
    struct pf_aux_walk walk;
    struct pf_flow_code code;
    struct pf_flow_spans *spans; /* NULL: one thread decodes */
    void *flow;
    const struct pf_flow_decoder *decoder;
    bool looks; /* the code is decoded, and nothing is compared */
};

/* The steps of a position; sometimes what is mapped changes before them, and rarely decoding ahead ends. */
static void take_steps(struct decoder_run *run, uint64_t time)
{
    struct way *way = run->way;
    struct pf_flow_step step;
    const size_t seen = way->count;
    const uint64_t offset = run->walk.offset;
    if (seen % 97 == 0 && seen) {
        way->space ^= 1;
        pf_flow_code_enter(&run->code, 1);
    }
    if (seen % 511 == 0 && run->spans)
        pf_flow_spans_settle(run->spans);
    while ((run->spans ? pf_flow_spans_next(run->spans, &step, NULL) : run->decoder->next(run->flow, &step, NULL)) ==
           1) {
        if (run->looks)
            continue;
        assert_true(way->count < MAX_STEPS);
        way->lines[way->count++] = (struct line){step, step.block ? step.block->start : 0, time, offset};
        way->lines[way->count - 1].step.block = NULL;
    }
}

static void run_all(struct decoder_run *run)
{
    uint64_t time = 0;
    while (pf_aux_stream_next_run(&run->stream)) {
        pf_aux_walk_restart(&run->walk);
        run->decoder->restart(run->flow, 1000000);
        if (run->spans)
            pf_flow_spans_start_run(run->spans);
        while ((run->spans ? pf_flow_spans_seek(run->spans, &time, NULL) : run->decoder->seek(run->flow, &time, NULL)) >
               0)
            take_steps(run, time);
    }
}

/* Without workers by one thread. */
static void decode_way(struct way *way, const struct pf_aux_queue *queue, struct pf_workers *workers)
{
    static const uint64_t priv[16] = {[15] = 30};
    static const struct pf_aux_queues queues = {.allocator = NULL};
    const struct perfile_allocator *allocator = pf_allocator_or_default(NULL);
    const struct pf_aux_decoder *decoder = pf_aux_decoder_find(PERFILE_AUXTRACE_INTEL_PT);
    const struct pf_code_source source = {.space = space_of, .read = read_way, .context = way};
    const struct pf_aux_recording recording = {.priv = priv, .priv_count = PF_COUNT(priv)};
    struct pf_aux_queues all = queues;
    struct decoder_run run = {.way = way, .decoder = decoder->flow};
    all.allocator = allocator;
    run.walk = (struct pf_aux_walk){.format = decoder->format, .more = pf_aux_stream_more, .context = &run.stream};
    run.stream.read = read_buffer;
    run.stream.context = way;
    run.flow = pf_new(allocator, decoder->flow->state_bytes);
    assert_true(pf_aux_walk_open(&run.walk, allocator) && pf_aux_stream_open(&run.stream, &all, queue) &&
                pf_flow_code_open(&run.code, allocator, &source) && run.flow);
    const struct pf_flow_setup setup = {
        .walk = &run.walk, .code = &run.code, .bytes = &way->bytes, .recording = &recording, .cpu = 0};
    const struct pf_flow_spans_setup spans = {.allocator = allocator,
                                              .workers = workers,
                                              .decoder = decoder->flow,
                                              .queue = setup,
                                              .state = run.flow,
                                              .stream = &run.stream,
                                              .count = 3,
                                              .min_bytes = 1 + (size_t)any(400)};
    for (unsigned i = 0; i < 2; i++) {
        way->space ^= 1;
        run.looks = true;
        pf_flow_code_enter(&run.code, 1);
        decoder->flow->open(run.flow, &setup);
        run_all(&run);
        pf_aux_stream_close(&run.stream);
        run.stream = (struct pf_aux_stream){.read = read_buffer, .context = way};
        assert_true(pf_aux_stream_open(&run.stream, &all, queue));
    }
    run.looks = false;
    way->bytes = (struct pf_flow_bytes){0};
    run.walk.bad_bytes = 0;
    decoder->flow->open(run.flow, &setup);
    run.spans = workers ? pf_flow_spans_open(&spans) : NULL;
    assert_true(!workers == !run.spans);
    run_all(&run);
    way->bad_bytes = run.walk.bad_bytes;
    pf_flow_spans_close(run.spans);
    pf_free(allocator, run.flow, decoder->flow->state_bytes);
    pf_flow_code_close(&run.code);
    pf_aux_stream_close(&run.stream);
    pf_aux_walk_close(&run.walk);
}

static void damage(struct trace *of)
{
    for (unsigned i = (unsigned)any(4); i > 0; i--)
        of->bytes[any(of->used)] ^= (uint8_t)(1 << any(8));
    if (any(4) == 0)
        of->used = any(of->used) + BUFFERS;
}

static void test_ahead(void **state)
{
    struct pf_workers *workers = pf_workers_open(3, pf_allocator_or_default(NULL));
    struct pf_aux_buffer buffers[BUFFERS];
    struct pf_aux_queue queue = {.buffers = buffers, .tid = 1};
    (void)state;
    for (unsigned seed = 0; workers && seed < seeds; seed++) {
        start(seed);
        damaged = trace;
        if (seed & 1)
            damage(&damaged);
        divide(&queue, damaged.used);
        for (size_t i = 0; i < PF_COUNT(ways); i++) {
            memset(&ways[i], 0, sizeof(ways[i]));
            ways[i].trace = &damaged;
            ways[i].space = 2;
            decode_way(&ways[i], &queue, i ? workers : NULL);
        }
        if (ways[0].count != ways[1].count || ways[0].bad_bytes != ways[1].bad_bytes ||
            memcmp(&ways[0].bytes, &ways[1].bytes, sizeof(ways[0].bytes)) != 0 ||
            memcmp(ways[0].lines, ways[1].lines, ways[0].count * sizeof(*ways[0].lines)) != 0)
            fail_msg("seed %u: what is decoded ahead differs", seed);
    }
    pf_workers_close(workers);
}

/* ---- another decoder --------------------------------------------------------------------------------------------- */

#ifdef PF_HAVE_IPT
static int read_for_ipt(uint8_t *bytes, size_t count, const struct pt_asid *asid, uint64_t address, void *context)
{
    (void)asid;
    const size_t got = read_code(context, 1, address, bytes, count);
    return got ? (int)got : -pte_nomap;
}

/* Until the trace has ended: what follows no packet explains. */
static void walk_ipt(struct pt_insn_decoder *decoder)
{
    struct pt_event event;
    struct pt_insn insn;
    int status = pt_insn_sync_forward(decoder);
    while (status >= 0 && decoded.count < PF_COUNT(decoded.insns)) {
        while (status >= 0 && status & pts_event_pending)
            status = pt_insn_event(decoder, &event, sizeof(event));
        if (status < 0 || status & pts_eos)
            break;
        status = pt_insn_next(decoder, &insn, sizeof(insn));
        if (status >= 0)
            decoded.insns[decoded.count++] = (uint32_t)(insn.ip - BASE);
    }
    decoded.errors = status < 0 && status != -pte_eos ? (size_t)-status : 0;
}

static void decode_by_ipt(void)
{
    struct pt_config config;
    struct pt_image *image = pt_image_alloc("program");
    pt_config_init(&config);
    config.begin = trace.bytes;
    config.end = trace.bytes + trace.used;
    struct pt_insn_decoder *decoder = pt_insn_alloc_decoder(&config);
    memset(&decoded, 0, sizeof(decoded));
    assert_int_equal(pt_image_set_callback(image, read_for_ipt, &trace.program), 0);
    assert_int_equal(pt_insn_set_image(decoder, image), 0);
    walk_ipt(decoder);
    pt_insn_free_decoder(decoder);
    pt_image_free(image);
}

/*
 * Intel's library says the same of these traces. It walks ahead of the packets, and may be at a branch that they do not
 * explain when they end: that is an error of the last blocks.
 */
static void test_libipt(void **state)
{
    enum { MAX_LEFT = 32 };
    (void)state;
    for (unsigned seed = 0; seed < seeds; seed++) {
        start(seed);
        if (trace.overflows)
            continue;
        decode_by_ipt();
        const size_t both = (size_t)pf_min(decoded.count, trace.walked_count);
        if (trace.walked_count - both > MAX_LEFT || memcmp(decoded.insns, trace.walked, both * sizeof(uint32_t)) != 0)
            fail_msg("seed %u: libipt has %zu instructions, of %zu, and the error %zu", seed, decoded.count,
                     trace.walked_count, decoded.errors);
    }
}
#else
static void test_libipt(void **state)
{
    (void)state;
    print_message("skipped: libipt: it was not there when this was built\n");
    skip();
}
#endif

/* A loop of so many jumps, to each of which comes the next one. */
static void make_loop(struct program *program, unsigned jumps)
{
    enum { JUMP_BYTES = 5 };
    for (unsigned i = 0; i < jumps; i++) {
        const uint32_t next = JUMP_BYTES * (i + 1), displacement = JUMP_BYTES * ((i + 1) % jumps) - next;
        program->code[next - JUMP_BYTES] = 0xe9;
        for (unsigned k = 0; k < 4; k++)
            program->code[next - 4 + k] = (uint8_t)(displacement >> (8 * k));
    }
}

/* Loops that no packet explains were walked 100,000 times for each packet that led into them. */
static void test_endless_loops(void **state)
{
    enum { ENTRIES = 100, MAX_ROUNDS = 4 };
    (void)state;
    for (unsigned jumps = 1; jumps <= BLOCKS; jumps += BLOCKS / 4) {
        state_of_random = jumps;
        memset(&trace, 0, sizeof(trace));
        make_loop(&trace.program, jumps);
        put_psb(&trace, 0);
        for (unsigned i = 0; i < ENTRIES; i++) {
            put_address(&trace, 0x11, 0);
            put(&trace, 0x06, 0, 0);
        }
        decode(&trace, &decoded);
        assert_int_equal(decoded.errors, ENTRIES);
        assert_true(decoded.count <= ENTRIES * MAX_ROUNDS * jumps);
        check_bytes(&trace, &decoded);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walks),  cmocka_unit_test(test_cut),           cmocka_unit_test(test_damage),
        cmocka_unit_test(test_libipt), cmocka_unit_test(test_endless_loops), cmocka_unit_test(test_ahead),
    };
    seeds = argc > 1 ? (unsigned)atoi(argv[1]) : SEEDS;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
