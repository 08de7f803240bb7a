/* SPDX-License-Identifier: MIT */
/*
 * Decodes ETMv4 and ETE (Arm's Embedded Trace Macrocell Architecture Specification, IHI 0064) through libopencsd. The
 * bytes of each source go to a decoder of its own, so that damage to one of them does not matter to the others. The
 * library delivers ranges of instructions, and is stopped after each one: what follows may be of another process, and
 * what is not delivered needs no memory. Where a range goes to is known only with the next one, until which it is held.
 */
#include "base/error.h"
#include "hwtrace/cs_etm.h"
#include "hwtrace/cs_etm_units.h"
#include "hwtrace/decoder.h"
#include "hwtrace/flow.h"

#ifdef PF_HAVE_OPENCSD

#include <perfile/records.h>

enum {
    MAX_INSNS = 64,    /* of a step */
    MAX_ELEMENTS = 16, /* that wait */
    SOURCES = PF_CS_SOURCES,
    SYNC_BYTES = 12, /* eleven zeros and 0x80 begin a synchronization */
    SYNC_END = 0x80,
};

struct range {
    uint64_t start, end, last; /* last: the address of the last instruction */
    uint32_t flags;            /* of the last instruction, where it is a branch */
    bool taken, returns_from_exception, is_thumb;
};

struct source {
    struct pf_cs_flow *flow;
    dcd_tree_handle_t tree;
    bool tried, waits; /* until what it delivered is used */
    bool synced;
    unsigned zeros;   /* the last bytes, while it is not synchronized */
    uint64_t pending; /* bytes since it was */
    bool has_held, has_no_code;
    struct range held;
    uint64_t user, kernel; /* spaces of the code that the library may have kept */
    uint64_t config;       /* TRCCONFIGR */
    int32_t tid;           /* that runs; 0: the trace does not say */
    int32_t cpu;           /* -1: not known */
};

/* What is to be delivered: the instructions of a range, and what comes after them. */
struct output {
    bool active;
    uint64_t at; /* the next instruction */
    struct range range;
    struct pf_flow_step last; /* apart from instructions */
    int32_t cpu;
};

struct element {
    struct source *source;
    ocsd_generic_trace_elem element;
};

struct pf_cs_flow {
    struct pf_opencsd csd;
    struct pf_aux_walk *walk;
    struct pf_flow_code *code;
    struct pf_flow_bytes *bytes;
    const struct pf_aux_recording *recording;
    int32_t cpu; /* of the queue */
    int32_t tid; /* the thread that code is read of, as far as the trace says */
    struct source sources[SOURCES];
    struct source *waiting;
    uint8_t data[PF_CS_FRAME_BYTES], source_of[PF_CS_FRAME_BYTES]; /* the frame's bytes */
    unsigned count, at;
    struct element elements[MAX_ELEMENTS];
    unsigned element_count;
    struct output output;
    bool begins;
    uint64_t begin; /* where the trace begins after that */
    bool ended;
    union {
        struct pf_flow_block block;
        uint8_t bytes[sizeof(struct pf_flow_block) + MAX_INSNS];
    } made;
};

/* ---- the library ------------------------------------------------------------------------------------------------- */

static uint32_t read_memory(const void *context, const ocsd_vaddr_t address, const ocsd_mem_space_acc_t space,
                            const uint32_t count, uint8_t *bytes)
{
    const struct source *source = context;
    const struct pf_flow_code *code = source->flow->code;
    const struct pf_code_source *from = &code->source;
    (void)space;
    return from->read ? (uint32_t)from->read(from->context, address >> 63 ? -1 : code->pid, address, bytes, count) : 0;
}

static ocsd_datapath_resp_t take_element(const void *context, const ocsd_trc_index_t index, const uint8_t id,
                                         const ocsd_generic_trace_elem *element)
{
    struct source *source = (struct source *)(uintptr_t)context;
    struct pf_cs_flow *flow = source->flow;
    (void)index, (void)id;
    if (flow->element_count == MAX_ELEMENTS)
        return OCSD_RESP_FATAL_SYS_ERR;
    flow->elements[flow->element_count++] = (struct element){source, *element};
    return OCSD_RESP_WAIT;
}

/* ---- sources ----------------------------------------------------------------------------------------------------- */

static bool add_memory(const struct source *source)
{
    return source->flow->csd.dt_add_callback_mem_acc(source->tree, 0, UINT64_MAX, OCSD_MEM_SPACE_ANY, read_memory,
                                                     source) == OCSD_OK;
}

static bool open_source(struct source *source, const struct pf_cs_unit *unit)
{
    const struct pf_cs_flow *flow = source->flow;
    const struct pf_opencsd *csd = &flow->csd;
    unsigned char id;
    source->tree = pf_cs_open_tree(csd, unit, OCSD_CREATE_FLG_FULL_DECODER, &id);
    if (!source->tree)
        return false;
    source->cpu = unit->cpu;
    source->config = unit->config;
    if (csd->dt_set_gen_elem_outfn(source->tree, take_element, source) == OCSD_OK && add_memory(source))
        return true;
    csd->destroy_dcd_tree(source->tree);
    source->tree = NULL;
    return false;
}

/* NULL: its bytes cannot be decoded. */
static struct source *source_at(struct pf_cs_flow *flow, unsigned id)
{
    struct source *source = &flow->sources[id];
    if (!source->tried) {
        struct pf_cs_unit unit;
        *source = (struct source){.flow = flow, .tried = true, .cpu = -1};
        if (pf_cs_find_unit(flow->recording, flow->cpu, id, &unit))
            open_source(source, &unit);
    }
    return source->tree ? source : NULL;
}

static void reset_source(struct source *source)
{
    uint32_t used;
    source->flow->bytes->skipped += source->pending;
    source->pending = 0;
    source->zeros = 0;
    source->synced = source->waits = false;
    (void)source->flow->csd.dt_process_data(source->tree, OCSD_OP_RESET, 0, 0, NULL, &used);
}

static void reset_sources(struct pf_cs_flow *flow)
{
    for (unsigned i = 0; i < SOURCES; i++)
        if (flow->sources[i].tree)
            reset_source(&flow->sources[i]);
    flow->waiting = NULL;
}

/* The library keeps code that it read: not when there is another one now. */
static void refresh_code(struct source *source)
{
    const struct pf_flow_code *code = source->flow->code;
    if (source->user == code->user && source->kernel == code->kernel)
        return;
    source->user = code->user;
    source->kernel = code->kernel;
    if (source->flow->csd.dt_remove_mem_acc(source->tree, 0, OCSD_MEM_SPACE_ANY) == OCSD_OK)
        (void)add_memory(source);
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

static void count_byte(struct source *source, uint8_t byte)
{
    struct pf_flow_bytes *bytes = source->flow->bytes;
    if (source->synced) {
        bytes->decoded++;
        return;
    }
    source->pending++;
    if (byte == SYNC_END && source->zeros >= SYNC_BYTES - 1) {
        source->synced = true;
        bytes->decoded += SYNC_BYTES;
        bytes->skipped += source->pending - SYNC_BYTES;
        source->pending = 0;
    }
    source->zeros = byte ? 0 : source->zeros + 1;
}

static void lose_sync(struct source *source)
{
    source->synced = false;
    source->zeros = 0;
}

/* As many of the next bytes as are of one source. */
static unsigned run_length(const struct pf_cs_flow *flow)
{
    unsigned end = flow->at;
    while (end < flow->count && flow->source_of[end] == flow->source_of[flow->at])
        end++;
    return end - flow->at;
}

static void put_error(struct pf_cs_flow *flow, struct source *source, enum pf_flow_error code, const uint64_t *ip);

/* The library cannot go on: it continues with the next synchronization. */
static void fail_source(struct pf_cs_flow *flow, struct source *source, unsigned bad)
{
    flow->bytes->bad += bad;
    flow->at += bad;
    flow->element_count = 0;
    reset_source(source);
    flow->waiting = NULL;
    put_error(flow, source, PF_FLOW_ERROR_BAD_PACKET, NULL);
}

/* Takes what the library did. */
static void note_response(struct pf_cs_flow *flow, struct source *source, ocsd_datapath_resp_t response, unsigned left)
{
    if (OCSD_DATA_RESP_IS_FATAL(response)) {
        fail_source(flow, source, left);
        return;
    }
    source->waits = OCSD_DATA_RESP_IS_WAIT(response);
    flow->waiting = source->waits ? source : NULL;
}

static void feed(struct pf_cs_flow *flow)
{
    const unsigned bytes = run_length(flow);
    struct source *source = source_at(flow, flow->source_of[flow->at]);
    uint32_t used = 0;
    if (!source) {
        flow->bytes->skipped += bytes;
        flow->at += bytes;
        return;
    }
    refresh_code(source);
    const ocsd_datapath_resp_t response =
        flow->csd.dt_process_data(source->tree, OCSD_OP_DATA, 0, bytes, flow->data + flow->at, &used);
    used = (uint32_t)pf_min(used, bytes);
    for (unsigned i = 0; i < used; i++)
        count_byte(source, flow->data[flow->at++]);
    const bool is_stuck = !used && !flow->element_count && OCSD_DATA_RESP_IS_CONT(response);
    note_response(flow, source, is_stuck ? OCSD_RESP_FATAL_SYS_ERR : response, bytes - used);
}

static void go_on(struct pf_cs_flow *flow)
{
    struct source *source = flow->waiting;
    uint32_t used = 0;
    refresh_code(source);
    const ocsd_datapath_resp_t response = flow->csd.dt_process_data(source->tree, OCSD_OP_FLUSH, 0, 0, NULL, &used);
    const bool is_stuck = !flow->element_count && OCSD_DATA_RESP_IS_WAIT(response);
    note_response(flow, source, is_stuck ? OCSD_RESP_FATAL_SYS_ERR : response, 0);
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

static uint32_t flags_of(const ocsd_generic_trace_elem *element)
{
    const bool links = element->last_i_subtype == OCSD_S_INSTR_BR_LINK;
    switch (element->last_i_subtype) {
    case OCSD_S_INSTR_V8_RET:
    case OCSD_S_INSTR_V7_IMPLIED_RET:
        return PF_FLOW_IS_BRANCH | PF_FLOW_IS_RETURN;
    case OCSD_S_INSTR_V8_ERET:
        return PF_FLOW_IS_BRANCH | PF_FLOW_IS_RETURN | PF_FLOW_IS_INTERRUPT;
    default:
        return PF_FLOW_IS_BRANCH | (links ? PF_FLOW_IS_CALL : element->last_instr_cond ? PF_FLOW_IS_CONDITIONAL : 0);
    }
}

static struct range range_of(const ocsd_generic_trace_elem *element)
{
    const ocsd_instr_type type = element->last_i_type;
    return (struct range){
        .start = element->st_addr,
        .end = element->en_addr,
        .last = element->en_addr - element->last_instr_sz,
        .flags = flags_of(element),
        .taken = (type == OCSD_INSTR_BR || type == OCSD_INSTR_BR_INDIRECT) && element->last_instr_exec,
        .returns_from_exception = element->last_i_subtype == OCSD_S_INSTR_V8_ERET,
        .is_thumb = element->isa == ocsd_isa_thumb2 || element->isa == ocsd_isa_tee,
    };
}

/* The range that is held is delivered, if there is one. */
static struct pf_flow_step *put_held(struct pf_cs_flow *flow, struct source *source)
{
    struct output *output = &flow->output;
    *output = (struct output){.active = true, .range = source->held, .at = source->held.start, .cpu = source->cpu};
    if (!source->has_held)
        output->range = (struct range){.start = 0};
    source->has_held = false;
    return &output->last;
}

/* The same, with the branch at its end. */
static struct pf_flow_step *put_branch(struct pf_cs_flow *flow, struct source *source, uint64_t to, uint32_t flags)
{
    const bool taken = source->has_held && source->held.taken;
    struct pf_flow_step *last = put_held(flow, source);
    if (!taken)
        return last;
    last->from = flow->output.range.last;
    last->to = to;
    last->flags = flow->output.range.flags | flags;
    return last;
}

static void put_error(struct pf_cs_flow *flow, struct source *source, enum pf_flow_error code, const uint64_t *ip)
{
    struct pf_flow_step *last = put_branch(flow, source, ip ? *ip : 0, ip ? 0 : PF_FLOW_IS_END);
    last->ends = true;
    if (code == PF_FLOW_ERROR_NO_CODE && source->has_no_code)
        return;
    source->has_no_code = code == PF_FLOW_ERROR_NO_CODE;
    last->event = PF_FLOW_ERROR;
    last->payload = code;
    last->event_has_ip = ip;
    last->event_ip = ip ? *ip : 0;
}

/* Where an exception returns to after the instruction of a system call, the call returns. */
static bool follows_system_call(const struct source *source, uint64_t address)
{
    enum { SVC = 0xd4000001, SVC_BITS = 0xffe0001f, BYTES = 4 };
    uint8_t bytes[BYTES];
    return read_memory(source, address - BYTES, OCSD_MEM_SPACE_ANY, BYTES, bytes) == BYTES &&
           (pf_load32(bytes, PF_AUX_LITTLE) & SVC_BITS) == SVC;
}

static void take_range(struct pf_cs_flow *flow, struct source *source, const ocsd_generic_trace_elem *element)
{
    struct range *held = &source->held;
    const struct range range = range_of(element);
    if (source->has_held && held->returns_from_exception && follows_system_call(source, range.start))
        held->flags = PF_FLOW_IS_BRANCH | PF_FLOW_IS_RETURN | PF_FLOW_IS_SYSTEM;
    flow->begins = !source->has_held;
    flow->begin = range.start;
    (void)put_branch(flow, source, range.start, 0);
    source->held = range;
    source->has_held = true;
    source->has_no_code = false;
}

/* Execution is not known to go on where the last range ended. */
static void take_gap(struct pf_cs_flow *flow, struct source *source, const ocsd_generic_trace_elem *element)
{
    const bool unsynced = element->elem_type == OCSD_GEN_TRC_ELEM_NO_SYNC;
    const bool is_bad = unsynced && element->unsync_eot_info == UNSYNC_BAD_PACKET;
    const bool overflows =
        unsynced ? element->unsync_eot_info == UNSYNC_OVERFLOW
                 : element->elem_type == OCSD_GEN_TRC_ELEM_TRACE_ON && element->trace_on_reason == TRACE_ON_OVERFLOW;
    if (is_bad)
        lose_sync(source);
    if (is_bad || overflows)
        put_error(flow, source, is_bad ? PF_FLOW_ERROR_BAD_PACKET : PF_FLOW_ERROR_OVERFLOW, NULL);
    else
        put_branch(flow, source, 0, PF_FLOW_IS_END)->ends = true;
}

static void take_no_code(struct pf_cs_flow *flow, struct source *source, const ocsd_generic_trace_elem *element)
{
    put_error(flow, source, PF_FLOW_ERROR_NO_CODE, &element->st_addr);
}

static void take_exception(struct pf_cs_flow *flow, struct source *source, const ocsd_generic_trace_elem *element)
{
    enum { FAULT = PF_FLOW_IS_CALL | PF_FLOW_IS_INTERRUPT, HARDWARE = FAULT | PF_FLOW_IS_ASYNC };
    enum { CALL = PF_FLOW_IS_CALL | PF_FLOW_IS_SYSTEM };
    static const uint32_t flags[] = {
        [0] = HARDWARE, [1] = HARDWARE, [2] = CALL,   [3] = FAULT,  [4] = HARDWARE,  [6] = FAULT,
        [7] = FAULT,    [10] = FAULT,   [11] = FAULT, [12] = FAULT, [14] = HARDWARE, [15] = HARDWARE};
    const uint32_t number = element->exception_number;
    (void)flow;
    source->held.taken = true;
    source->held.returns_from_exception = false;
    source->held.flags = PF_FLOW_IS_BRANCH | (number < PF_COUNT(flags) && flags[number] ? flags[number] : FAULT);
}

static void take_exception_return(struct pf_cs_flow *flow, struct source *source,
                                  const ocsd_generic_trace_elem *element)
{
    (void)flow, (void)element;
    source->held.taken = true;
    source->held.returns_from_exception = true;
    source->held.flags = PF_FLOW_IS_BRANCH | PF_FLOW_IS_RETURN | PF_FLOW_IS_INTERRUPT;
}

/* The kernel writes the thread into the register of the context, if it was built so. */
static void take_context(struct pf_cs_flow *flow, struct source *source, const ocsd_generic_trace_elem *element)
{
    enum { HAS_CONTEXT = 1 << 6, HAS_VIRTUAL_CONTEXT = 1 << 7 | 1 << 15 };
    const ocsd_pe_context *context = &element->context;
    const bool is_virtual = source->config & HAS_VIRTUAL_CONTEXT && context->vmid_valid;
    const bool is_known = is_virtual || (source->config & HAS_CONTEXT && context->ctxt_id_valid);
    (void)flow;
    if (is_known)
        source->tid = (int32_t)(is_virtual ? context->vmid : context->context_id);
}

/* The source that is decoded next; NULL: none. */
static const struct source *next_source(struct pf_cs_flow *flow)
{
    return flow->waiting ? flow->waiting : flow->at < flow->count ? source_at(flow, flow->source_of[flow->at]) : NULL;
}

/* Code is that of the thread which runs there. */
static bool put_thread(struct pf_cs_flow *flow, struct pf_flow_step *step)
{
    const struct source *source = next_source(flow);
    if (!source || source->tid <= 0 || source->tid == flow->tid)
        return false;
    flow->tid = source->tid;
    *step = (struct pf_flow_step){.has_thread = true, .tid = source->tid};
    return true;
}

/* Makes what is to be delivered of the next element. */
static void use_element(struct pf_cs_flow *flow)
{
    typedef void take(struct pf_cs_flow * flow, struct source * source, const ocsd_generic_trace_elem *element);
    static take *const takes[] = {
        [OCSD_GEN_TRC_ELEM_NO_SYNC] = take_gap,         [OCSD_GEN_TRC_ELEM_TRACE_ON] = take_gap,
        [OCSD_GEN_TRC_ELEM_EO_TRACE] = take_gap,        [OCSD_GEN_TRC_ELEM_PE_CONTEXT] = take_context,
        [OCSD_GEN_TRC_ELEM_INSTR_RANGE] = take_range,   [OCSD_GEN_TRC_ELEM_ADDR_NACC] = take_no_code,
        [OCSD_GEN_TRC_ELEM_EXCEPTION] = take_exception, [OCSD_GEN_TRC_ELEM_EXCEPTION_RET] = take_exception_return,
    };
    const struct element element = flow->elements[0];
    const unsigned type = element.element.elem_type;
    flow->element_count--;
    memmove(flow->elements, flow->elements + 1, flow->element_count * sizeof(flow->elements[0]));
    if (type < PF_COUNT(takes) && takes[type])
        takes[type](flow, element.source, &element.element);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static uint8_t insn_bytes(const struct pf_cs_flow *flow, const struct output *output)
{
    enum { LONG = 0xe8, SHORT_BYTES = 2, LONG_BYTES = 4 };
    const struct source source = {.flow = (struct pf_cs_flow *)(uintptr_t)flow};
    uint8_t bytes[SHORT_BYTES];
    const bool is_short = output->range.is_thumb &&
                          read_memory(&source, output->at, OCSD_MEM_SPACE_ANY, SHORT_BYTES, bytes) == SHORT_BYTES &&
                          bytes[1] < LONG;
    return is_short ? SHORT_BYTES : LONG_BYTES;
}

/* The next instructions of what is delivered. */
static void put_insns(struct pf_cs_flow *flow, struct pf_flow_step *step)
{
    struct output *output = &flow->output;
    struct pf_flow_block *block = &flow->made.block;
    *block = (struct pf_flow_block){.start = output->at, .flow = PF_X86_ON, .is_64 = true};
    while (block->count < MAX_INSNS && output->at < output->range.end) {
        block->last = output->at;
        block->bytes[block->count] = insn_bytes(flow, output);
        output->at += block->bytes[block->count++];
    }
    block->next = output->at;
    step->block = block;
    step->count = block->count;
}

static bool put_output(struct pf_cs_flow *flow, struct pf_flow_step *step)
{
    struct output *output = &flow->output;
    struct pf_flow_step insns = {0};
    if (output->at < output->range.end)
        put_insns(flow, &insns);
    output->active = output->at < output->range.end;
    *step = output->active ? (struct pf_flow_step){0} : output->last;
    step->block = insns.block;
    step->count = insns.count;
    step->has_cpu = output->cpu >= 0;
    step->cpu = output->cpu;
    return step->count || step->flags || step->event || step->ends;
}

static bool put_begin(struct pf_cs_flow *flow, struct pf_flow_step *step)
{
    flow->begins = false;
    *step = (struct pf_flow_step){.flags = PF_FLOW_IS_BRANCH | PF_FLOW_IS_BEGIN,
                                  .to = flow->begin,
                                  .ends = true, /* branch stacks do not have it */
                                  .has_cpu = flow->output.cpu >= 0,
                                  .cpu = flow->output.cpu};
    return true;
}

/* What the sources hold at the end. */
static bool put_rest(struct pf_cs_flow *flow)
{
    for (unsigned i = 0; flow->ended && i < SOURCES; i++)
        if (flow->sources[i].has_held) {
            put_held(flow, &flow->sources[i])->ends = true;
            return true;
        }
    return false;
}

static int next_step(void *state, struct pf_flow_step *step, struct perfile_error *error)
{
    struct pf_cs_flow *flow = state;
    (void)error;
    while (true) {
        if (flow->output.active) {
            if (put_output(flow, step))
                return 1;
        } else if (flow->begins) {
            return put_begin(flow, step);
        } else if (flow->element_count) {
            use_element(flow);
        } else if (put_thread(flow, step)) {
            return 1;
        } else if (flow->waiting) {
            go_on(flow);
        } else if (flow->at < flow->count) {
            feed(flow);
        } else if (!put_rest(flow)) {
            return 0;
        }
    }
}

/* ---- the decoder ------------------------------------------------------------------------------------------------- */

static void add_byte(void *context, unsigned source, uint8_t byte)
{
    struct pf_cs_flow *flow = context;
    if (!source || source >= SOURCES)
        return; /* it fills the frame */
    flow->data[flow->count] = byte;
    flow->source_of[flow->count++] = (uint8_t)source;
}

/* Only one source writes without frames: its number does not matter. */
static void add_raw(struct pf_cs_flow *flow, const struct pf_aux_packet *packet)
{
    memcpy(flow->data, packet->data, packet->bytes);
    memset(flow->source_of, 0, packet->bytes);
    flow->count = (unsigned)packet->bytes;
}

static void take_packet(struct pf_cs_flow *flow, const struct pf_aux_packet *packet)
{
    flow->at = flow->count = 0;
    if (packet->kind == PF_AUX_BAD) {
        flow->bytes->bad += packet->bytes;
        return;
    }
    if (packet->kind == PF_CS_RAW)
        add_raw(flow, packet);
    else if (packet->kind == PF_CS_FRAME)
        pf_cs_walk_frame(packet->data, (unsigned)packet->payload, add_byte, flow);
    else
        reset_sources(flow);
    flow->bytes->decoded += packet->bytes - flow->count;
}

static int seek_step(void *state, uint64_t *time, struct perfile_error *error)
{
    struct pf_cs_flow *flow = state;
    struct pf_aux_packet packet;
    int result = 1;
    *time = 0;
    flow->at = flow->count = 0;
    while (result > 0 && !flow->count && !flow->element_count)
        if ((result = pf_aux_walk_next(flow->walk, &packet, error)) > 0)
            take_packet(flow, &packet);
    if (result || flow->ended)
        return result;
    flow->ended = true;
    for (unsigned i = 0; i < SOURCES; i++) {
        flow->bytes->skipped += flow->sources[i].pending;
        flow->sources[i].pending = 0;
        result |= flow->sources[i].has_held;
    }
    return result;
}

static void restart(void *state, uint64_t reference)
{
    struct pf_cs_flow *flow = state;
    (void)reference;
    reset_sources(flow);
    flow->element_count = flow->at = flow->count = 0;
    flow->output.active = flow->begins = flow->ended = false;
    flow->tid = 0;
}

static void open_flow(void *state, const struct pf_flow_setup *setup)
{
    struct pf_cs_flow *flow = state;
    *flow = (struct pf_cs_flow){.walk = setup->walk,
                                .code = setup->code,
                                .bytes = setup->bytes,
                                .recording = setup->recording,
                                .cpu = setup->cpu};
    (void)pf_opencsd_open(&flow->csd);
}

static void close_flow(void *state)
{
    struct pf_cs_flow *flow = state;
    for (unsigned i = 0; i < SOURCES; i++)
        if (flow->sources[i].tree)
            flow->csd.destroy_dcd_tree(flow->sources[i].tree);
    pf_opencsd_close(&flow->csd);
}

static const struct pf_flow_decoder flow_decoder = {.state_bytes = sizeof(struct pf_cs_flow),
                                                    .branch_bits = PF_FLOW_STACK_PREDICTED,
                                                    .missing = pf_opencsd_missing,
                                                    .open = open_flow,
                                                    .close = close_flow,
                                                    .restart = restart,
                                                    .seek = seek_step,
                                                    .next = next_step};

#else

/* It only says what is missing. */
static const struct pf_flow_decoder flow_decoder = {.missing = pf_opencsd_missing};

#endif

static const struct pf_aux_event events[] = {
    {"branches", 'b', PERFILE_COUNT_HW_BRANCH_INSTRUCTIONS, PERFILE_SAMPLE_ADDR, 0, 0},
    {"instructions", 'i', PERFILE_COUNT_HW_INSTRUCTIONS, 0, 0, 0},
};

const struct pf_aux_decoder pf_aux_decode_cs_etm = {
    .format = &pf_aux_cs_etm,
    .events = events,
    .event_count = PF_COUNT(events),
    .without_clock = true,
    .flow = &flow_decoder,
};
