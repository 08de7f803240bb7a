/* SPDX-License-Identifier: MIT */
/*
 * Decodes Intel PT: Intel's Software Developer's Manual, volume 3, "Intel Processor Trace". A packet says where the
 * next branch goes that the code does not determine. So code is only walked up to what a packet explains: after the
 * last packet nothing is known of what was executed. After an error decoding goes on with the next packet that has an
 * address; after bytes that are not a packet, with the next PSB.
 */
#include "hwtrace/intel_pt_flow.h"

#include "base/error.h"

enum {
    RETURNS = 64,      /* the processor remembers so many calls */
    MAX_IDLE = 100000, /* blocks that no packet explains */
    MAX_EVENTS = 4,    /* that wait to be delivered */
    PSB_BYTES = 16,
};

/* What the code is walked to. */
enum goal {
    GOAL_NONE,
    GOAL_RESULT, /* a conditional branch or a return, as TNT packets have the results of */
    GOAL_TARGET, /* a branch whose target the packet has */
    GOAL_END,    /* the branch that ends tracing */
    GOAL_IP,     /* an address */
};

/* What the address of the next FUP packet is for. */
enum purpose { FOR_ASYNC, FOR_TRANSACTION, FOR_EVENT, FOR_NOTHING, FOR_PSB };

struct waiting {
    uint8_t event;
    bool has_ip;
    uint64_t ip, payload;
};

struct pf_pt_flow {
    struct pf_aux_walk *walk;
    struct pf_flow_code *code;
    struct pf_pt_clock clock;
    struct pf_flow_bytes *bytes;
    bool synced; /* a PSB was read, and only valid packets since */
    bool lost;   /* the address is not known */
    bool on;     /* branches are traced */
    bool is_64, next_is_64;
    bool in_psb, psb_has_ip;
    uint64_t psb_ip, psb_offset;
    uint64_t last_ip; /* that the bits of addresses add to */
    bool has_last_ip;
    uint64_t ip;
    uint64_t returns[RETURNS];
    unsigned call_count, return_count; /* of all calls; of them those that are remembered */
    enum goal goal;
    uint64_t results;
    unsigned result_count;
    uint64_t goal_ip;
    bool goal_has_ip;
    enum purpose purpose;
    bool async; /* the address before an asynchronous branch was reached */
    bool aborts;
    unsigned transaction; /* payload of MODE.TSX */
    bool in_transaction;
    unsigned idle;    /* blocks since a packet was used, */
    uint64_t idle_ip; /* and the address of one of them */
    unsigned cbr_reported;
    struct waiting event; /* that waits for its address */
    struct waiting events[MAX_EVENTS];
    unsigned event_count;
    struct pf_flow_step step; /* that a packet alone has made, */
    bool made;                /* and that waits */
    bool has_no_code;         /* that was the last error, and nothing was walked since */
    bool no_block;            /* the code is a view without the block that comes next */
    int failed;               /* reading failed */
    uint64_t stop;            /* packets from this offset on are not read */
    bool ip_unknown;          /* the state was guessed, and tracing was off, */
    bool unsure;              /* but the address mattered, or packets did not end where they should */
};

/* ---- events ------------------------------------------------------------------------------------------------------ */

static void add_event(struct pf_pt_flow *flow, struct waiting event)
{
    if (flow->event_count < MAX_EVENTS)
        flow->events[flow->event_count++] = event;
}

static bool put_event(struct pf_flow_step *step, const struct waiting *event)
{
    step->event = event->event;
    step->event_has_ip = event->has_ip;
    step->event_ip = event->ip;
    step->payload = event->payload;
    return true;
}

static bool take_event(struct pf_pt_flow *flow, struct pf_flow_step *step)
{
    put_event(step, &flow->events[0]);
    flow->event_count--;
    memmove(flow->events, flow->events + 1, flow->event_count * sizeof(flow->events[0]));
    return true;
}

/* Nothing that depends on the address is known. */
static void lose(struct pf_pt_flow *flow)
{
    flow->lost = true;
    flow->goal = GOAL_NONE;
    flow->result_count = flow->return_count = 0;
    flow->purpose = FOR_ASYNC;
    flow->async = flow->aborts = flow->in_transaction = false;
}

/* Where code is missing that is reported once, until some is there again. */
static bool fail(struct pf_pt_flow *flow, struct pf_flow_step *step, enum pf_flow_error code)
{
    const bool reported = code == PF_FLOW_ERROR_NO_CODE && flow->has_no_code;
    const bool is_at_psb = flow->goal == GOAL_IP && flow->purpose == FOR_PSB;
    flow->unsure |= flow->ip_unknown;
    *step = (struct pf_flow_step){.event = reported ? PF_FLOW_NOTHING : PF_FLOW_ERROR,
                                  .event_has_ip = !flow->lost,
                                  .event_ip = flow->ip,
                                  .payload = code};
    flow->has_no_code = code == PF_FLOW_ERROR_NO_CODE;
    lose(flow);
    if (is_at_psb) {
        flow->lost = false;
        flow->ip = flow->psb_ip;
    }
    return true;
}

/* ---- branches ---------------------------------------------------------------------------------------------------- */

static void remember_call(struct pf_pt_flow *flow, const struct pf_flow_block *block)
{
    if (block->flow == PF_X86_CALL && block->target == block->next)
        return; /* that only asks for the address */
    flow->returns[flow->call_count++ % RETURNS] = block->next;
    flow->return_count += flow->return_count < RETURNS;
}

/* False: the processor does not know where the call was, either. */
static bool take_return(struct pf_pt_flow *flow, uint64_t *target)
{
    if (!flow->return_count)
        return false;
    *target = flow->returns[--flow->call_count % RETURNS];
    flow->return_count--;
    return true;
}

static bool branch(struct pf_pt_flow *flow, struct pf_flow_step *step, uint64_t to, uint32_t flags)
{
    step->flags = step->block->flags | flags | (flow->in_transaction ? PF_FLOW_IN_TRANSACTION : 0);
    step->from = step->block->last;
    step->to = to;
    flow->ip = to ? to : step->from;
    return true;
}

/* The branch that ends tracing; where it goes may not be known. */
static bool end_with(struct pf_pt_flow *flow, struct pf_flow_step *step)
{
    branch(flow, step, flow->goal_has_ip ? flow->goal_ip : 0, PF_FLOW_IS_END);
    flow->goal = GOAL_NONE;
    flow->on = false;
    return true;
}

/* A branch whose target the packet has. */
static bool go_to_target(struct pf_pt_flow *flow, struct pf_flow_step *step)
{
    flow->goal = GOAL_NONE;
    if (!flow->goal_has_ip) {
        branch(flow, step, 0, PF_FLOW_IS_END);
        lose(flow);
        return true;
    }
    flow->is_64 = flow->next_is_64;
    return branch(flow, step, flow->goal_ip, 0);
}

static bool take_result(struct pf_pt_flow *flow)
{
    const bool taken = flow->results >> --flow->result_count & 1;
    flow->idle = 0;
    if (!flow->result_count)
        flow->goal = GOAL_NONE;
    return taken;
}

static bool take_target_packet(struct pf_pt_flow *flow);

/* The target of an indirect branch may come after results of later branches. */
static bool go_to_late_target(struct pf_pt_flow *flow, struct pf_flow_step *step)
{
    return take_target_packet(flow) ? branch(flow, step, flow->last_ip, 0) : fail(flow, step, PF_FLOW_ERROR_MISMATCH);
}

static bool leave_on(struct pf_pt_flow *flow, struct pf_flow_step *step)
{
    flow->ip = step->block->next;
    return true;
}

static bool leave_conditional(struct pf_pt_flow *flow, struct pf_flow_step *step)
{
    const struct pf_flow_block *block = step->block;
    if (flow->goal == GOAL_END)
        return end_with(flow, step);
    if (flow->goal != GOAL_RESULT)
        return fail(flow, step, PF_FLOW_ERROR_MISMATCH);
    if (!take_result(flow))
        return leave_on(flow, step);
    return branch(flow, step, block->target, 0);
}

static bool leave_direct(struct pf_pt_flow *flow, struct pf_flow_step *step)
{
    const struct pf_flow_block *block = step->block;
    if (block->flow == PF_X86_CALL)
        remember_call(flow, block);
    if (flow->goal == GOAL_END && flow->goal_has_ip && flow->goal_ip == block->target)
        return end_with(flow, step);
    return branch(flow, step, block->target, 0);
}

static bool leave_indirect(struct pf_pt_flow *flow, struct pf_flow_step *step)
{
    if (step->block->flow == PF_X86_CALL_INDIRECT)
        remember_call(flow, step->block);
    switch (flow->goal) {
    case GOAL_TARGET:
        return go_to_target(flow, step);
    case GOAL_END:
        return end_with(flow, step);
    case GOAL_RESULT:
        return go_to_late_target(flow, step);
    default:
        return fail(flow, step, PF_FLOW_ERROR_MISMATCH);
    }
}

/* A return to where the last call was made has a result instead of a target. */
static bool leave_return(struct pf_pt_flow *flow, struct pf_flow_step *step)
{
    uint64_t target;
    const bool known = take_return(flow, &target);
    if (flow->goal != GOAL_RESULT)
        return leave_indirect(flow, step);
    if (!known || !take_result(flow))
        return fail(flow, step, PF_FLOW_ERROR_MISMATCH);
    return branch(flow, step, target, 0);
}

/* ---- walking ----------------------------------------------------------------------------------------------------- */

/* The address that a packet named is reached. True: the step says something. */
static bool arrive(struct pf_pt_flow *flow, struct pf_flow_step *step)
{
    const enum purpose purpose = flow->purpose;
    flow->goal = GOAL_NONE;
    flow->purpose = FOR_ASYNC;
    if (purpose == FOR_ASYNC) {
        flow->async = true;
    } else if (purpose == FOR_TRANSACTION) {
        flow->aborts = flow->async = flow->transaction >> 1 & 1;
        flow->in_transaction = flow->transaction & 1;
        return put_event(
            step, &(struct waiting){PF_FLOW_TRANSACTION, .has_ip = true, .ip = flow->ip, .payload = flow->transaction});
    } else if (purpose == FOR_EVENT) {
        flow->event.has_ip = true;
        flow->event.ip = flow->ip;
        return put_event(step, &flow->event);
    } else if (purpose == FOR_PSB) {
        flow->call_count = flow->return_count = 0; /* the processor has cleared its own, too */
    }
    return step->count != 0;
}

/* Instructions of the block before an address; the count of all when it is not in there. */
static uint32_t count_before(const struct pf_flow_block *block, uint64_t address)
{
    uint64_t at = block->start;
    uint32_t count = 0;
    if (address < block->start || address >= block->next)
        return block->count;
    while (count < block->count && at != address)
        at += block->bytes[count++];
    return count;
}

/*
 * Until a packet or a result is used only the code says where it goes on: where it comes to an address again, it never
 * leaves the loop. One address is compared with, and after twice as many blocks a later one.
 */
static bool is_endless(struct pf_pt_flow *flow)
{
    if (flow->idle && flow->ip == flow->idle_ip)
        return true;
    if (!(flow->idle & (flow->idle - 1)))
        flow->idle_ip = flow->ip;
    return flow->idle++ > MAX_IDLE;
}

static bool walk_on(struct pf_pt_flow *flow, struct pf_flow_step *step)
{
    static bool (*const leaves[])(struct pf_pt_flow * flow, struct pf_flow_step * step) = {
        [PF_X86_ON] = leave_on,
        [PF_X86_CONDITIONAL] = leave_conditional,
        [PF_X86_JUMP] = leave_direct,
        [PF_X86_CALL] = leave_direct,
        [PF_X86_JUMP_INDIRECT] = leave_indirect,
        [PF_X86_CALL_INDIRECT] = leave_indirect,
        [PF_X86_RETURN] = leave_return,
        [PF_X86_SYSTEM_CALL] = leave_indirect,
        [PF_X86_SYSTEM_RETURN] = leave_indirect,
        [PF_X86_INTERRUPT] = leave_indirect,
        [PF_X86_INTERRUPT_RETURN] = leave_indirect,
        [PF_X86_FAR_CALL] = leave_indirect,
        [PF_X86_FAR_JUMP] = leave_indirect,
        [PF_X86_FAR_RETURN] = leave_indirect,
        [PF_X86_VM_ENTRY] = leave_indirect,
        [PF_X86_PTWRITE] = leave_on,
    };
    if (flow->goal == GOAL_IP && flow->ip == flow->goal_ip)
        return arrive(flow, step);
    struct pf_flow_block *block = pf_flow_code_find(flow->code, flow->ip, flow->is_64);
    if (PF_UNLIKELY(!block)) {
        flow->no_block = flow->code->missed;
        return flow->no_block || fail(flow, step, PF_FLOW_ERROR_NO_CODE);
    }
    if (is_endless(flow))
        return fail(flow, step, PF_FLOW_ERROR_ENDLESS);
    flow->has_no_code = false;
    step->block = block;
    step->count = block->count;
    if (flow->goal == GOAL_IP && (step->count = count_before(block, flow->goal_ip)) < block->count) {
        flow->ip = flow->goal_ip;
        return arrive(flow, step);
    }
    return leaves[block->flow](flow, step);
}

/* ---- packets with addresses -------------------------------------------------------------------------------------- */

/* False: the packet has none, or not enough of it. */
static bool take_address(struct pf_pt_flow *flow, const struct pf_aux_packet *packet)
{
    static const uint8_t bits_of[] = {0, 16, 32, 48, 48, 0, 64, 0};
    const unsigned kind = packet->detail & 7, bits = bits_of[kind];
    const uint64_t mask = bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;
    if (!bits)
        return false;
    flow->has_last_ip |= kind == 3 || kind == 6;
    flow->last_ip = kind == 3 ? (uint64_t)((int64_t)(packet->payload << 16) >> 16)
                              : (flow->last_ip & ~mask) | (packet->payload & mask);
    return flow->has_last_ip;
}

/* Tracing begins or is found again. */
static bool begin_at(struct pf_pt_flow *flow, struct pf_flow_step *step, uint64_t ip)
{
    flow->lost = flow->ip_unknown = false;
    flow->on = true;
    flow->async = flow->aborts = false;
    flow->purpose = FOR_ASYNC;
    flow->is_64 = flow->next_is_64;
    flow->return_count = 0;
    flow->ip = step->to = ip;
    step->flags = PF_FLOW_IS_BRANCH | PF_FLOW_IS_BEGIN;
    return true;
}

static bool branch_async(struct pf_pt_flow *flow, struct pf_flow_step *step, uint64_t to, uint32_t flags)
{
    step->flags = PF_FLOW_IS_BRANCH | flags |
                  (flow->aborts ? PF_FLOW_IS_ABORT
                   : to         ? PF_FLOW_IS_CALL | PF_FLOW_IS_ASYNC | PF_FLOW_IS_INTERRUPT
                                : PF_FLOW_IS_ASYNC);
    step->from = flow->ip;
    step->to = to;
    flow->ip = to;
    flow->async = flow->aborts = false;
    flow->is_64 = flow->next_is_64;
    return true;
}

static bool take_tip(struct pf_pt_flow *flow, const struct pf_aux_packet *packet, struct pf_flow_step *step)
{
    const bool has_ip = take_address(flow, packet);
    if (flow->lost || !flow->on)
        return has_ip && begin_at(flow, step, flow->last_ip);
    if (flow->async) {
        if (has_ip)
            return branch_async(flow, step, flow->last_ip, 0);
        branch_async(flow, step, 0, PF_FLOW_IS_END);
        lose(flow);
        return true;
    }
    flow->goal = GOAL_TARGET;
    flow->goal_has_ip = has_ip;
    flow->goal_ip = flow->last_ip;
    return false;
}

static bool take_tip_pge(struct pf_pt_flow *flow, const struct pf_aux_packet *packet, struct pf_flow_step *step)
{
    if (take_address(flow, packet))
        return begin_at(flow, step, flow->last_ip);
    lose(flow);
    flow->on = true;
    return false;
}

static bool take_tip_pgd(struct pf_pt_flow *flow, const struct pf_aux_packet *packet, struct pf_flow_step *step)
{
    const bool has_ip = take_address(flow, packet);
    if (flow->lost || !flow->on) {
        flow->on = false;
        return false;
    }
    if (flow->async) {
        flow->on = false;
        return branch_async(flow, step, has_ip ? flow->last_ip : 0, PF_FLOW_IS_END);
    }
    flow->goal = GOAL_END;
    flow->goal_has_ip = has_ip;
    flow->goal_ip = flow->last_ip;
    return false;
}

static bool take_fup(struct pf_pt_flow *flow, const struct pf_aux_packet *packet, struct pf_flow_step *step)
{
    if (!take_address(flow, packet))
        return false;
    if (flow->in_psb) {
        flow->psb_has_ip = true;
        flow->psb_ip = flow->last_ip;
        return false;
    }
    if (flow->lost)
        return begin_at(flow, step, flow->last_ip);
    if (!flow->on)
        return false;
    flow->goal = GOAL_IP;
    flow->goal_ip = flow->last_ip;
    flow->async = false;
    return false;
}

static bool take_tnt(struct pf_pt_flow *flow, const struct pf_aux_packet *packet, struct pf_flow_step *step)
{
    (void)step;
    if (flow->lost || !flow->on || !packet->detail)
        return false;
    flow->async = flow->aborts = false;
    flow->results = packet->payload;
    flow->result_count = packet->detail;
    flow->goal = GOAL_RESULT;
    return false;
}

/* ---- other packets ----------------------------------------------------------------------------------------------- */

static bool take_nothing(struct pf_pt_flow *flow, const struct pf_aux_packet *packet, struct pf_flow_step *step)
{
    (void)flow, (void)packet, (void)step;
    return false;
}

static bool take_bad(struct pf_pt_flow *flow, const struct pf_aux_packet *packet, struct pf_flow_step *step)
{
    (void)packet;
    fail(flow, step, PF_FLOW_ERROR_BAD_PACKET);
    flow->synced = flow->in_psb = false;
    return true;
}

static bool take_psb(struct pf_pt_flow *flow, const struct pf_aux_packet *packet, struct pf_flow_step *step)
{
    (void)step;
    flow->in_psb = true;
    flow->psb_has_ip = false;
    flow->psb_offset = packet->offset;
    flow->last_ip = 0;
    flow->has_last_ip = true;
    flow->return_count = 0;
    return false;
}

static bool take_psbend(struct pf_pt_flow *flow, const struct pf_aux_packet *packet, struct pf_flow_step *step)
{
    (void)packet, (void)step;
    if (!flow->in_psb)
        return false;
    flow->in_psb = false;
    add_event(flow, (struct waiting){PF_FLOW_PSB, .payload = flow->psb_offset});
    if (flow->clock.ratio != flow->cbr_reported)
        add_event(flow, (struct waiting){PF_FLOW_CBR, .payload = flow->clock.ratio});
    flow->cbr_reported = flow->clock.ratio;
    if (flow->lost && flow->psb_has_ip) {
        flow->lost = flow->ip_unknown = false;
        flow->on = true;
        flow->ip = flow->psb_ip;
        flow->is_64 = flow->next_is_64;
    } else if (flow->on && flow->psb_has_ip) {
        flow->goal = GOAL_IP; /* the walk has to get there without further packets: else it went another way */
        flow->goal_ip = flow->psb_ip;
        flow->purpose = FOR_PSB;
    }
    return false;
}

static bool take_overflow(struct pf_pt_flow *flow, const struct pf_aux_packet *packet, struct pf_flow_step *step)
{
    (void)packet;
    fail(flow, step, PF_FLOW_ERROR_OVERFLOW);
    flow->in_psb = false;
    return true;
}

static bool take_stop(struct pf_pt_flow *flow, const struct pf_aux_packet *packet, struct pf_flow_step *step)
{
    (void)packet, (void)step;
    flow->on = false;
    return false;
}

static bool take_mode(struct pf_pt_flow *flow, const struct pf_aux_packet *packet, struct pf_flow_step *step)
{
    (void)step;
    flow->next_is_64 = packet->payload & 1;
    return false;
}

static bool take_transaction(struct pf_pt_flow *flow, const struct pf_aux_packet *packet, struct pf_flow_step *step)
{
    (void)step;
    flow->transaction = (unsigned)packet->payload;
    if (flow->in_psb)
        flow->in_transaction = packet->payload & 1;
    else
        flow->purpose = FOR_TRANSACTION;
    return false;
}

static bool take_tsc(struct pf_pt_flow *flow, const struct pf_aux_packet *packet, struct pf_flow_step *step)
{
    (void)step;
    pf_pt_clock_tsc(&flow->clock, packet->payload);
    return false;
}

static bool take_tma(struct pf_pt_flow *flow, const struct pf_aux_packet *packet, struct pf_flow_step *step)
{
    (void)step;
    pf_pt_clock_tma(&flow->clock, packet->payload, packet->detail);
    return false;
}

static bool take_mtc(struct pf_pt_flow *flow, const struct pf_aux_packet *packet, struct pf_flow_step *step)
{
    (void)step;
    pf_pt_clock_mtc(&flow->clock, packet->payload);
    return false;
}

static bool take_cyc(struct pf_pt_flow *flow, const struct pf_aux_packet *packet, struct pf_flow_step *step)
{
    (void)step;
    pf_pt_clock_cyc(&flow->clock, packet->payload);
    return false;
}

static bool take_cbr(struct pf_pt_flow *flow, const struct pf_aux_packet *packet, struct pf_flow_step *step)
{
    flow->clock.ratio = (unsigned)packet->payload & 0xff;
    if (flow->in_psb || flow->clock.ratio == flow->cbr_reported)
        return false;
    flow->cbr_reported = flow->clock.ratio;
    return put_event(step, &(struct waiting){PF_FLOW_CBR, .payload = flow->clock.ratio});
}

/* An event; that of a packet with the bit for an address waits for it. */
static bool take_noted(struct pf_pt_flow *flow, const struct pf_aux_packet *packet, struct pf_flow_step *step)
{
    static const uint8_t events[PF_PT_KINDS] = {[PF_PT_PTWRITE] = PF_FLOW_PTWRITE,
                                                [PF_PT_EXSTOP] = PF_FLOW_EXSTOP,
                                                [PF_PT_MWAIT] = PF_FLOW_MWAIT,
                                                [PF_PT_PWRE] = PF_FLOW_PWRE,
                                                [PF_PT_PWRX] = PF_FLOW_PWRX};
    const bool may_have_ip = packet->kind == PF_PT_PTWRITE || packet->kind == PF_PT_EXSTOP;
    const struct waiting event = {events[packet->kind],
                                  .payload = packet->kind == PF_PT_EXSTOP ? packet->detail : packet->payload};
    if (!may_have_ip || !packet->detail)
        return put_event(step, &event);
    flow->event = event;
    flow->purpose = FOR_EVENT;
    return false;
}

/* The end of a block of values, or a trigger: the address after it is only theirs. */
static bool take_block_end(struct pf_pt_flow *flow, const struct pf_aux_packet *packet, struct pf_flow_step *step)
{
    (void)step;
    if (packet->detail)
        flow->purpose = FOR_NOTHING;
    return false;
}

typedef bool take(struct pf_pt_flow *flow, const struct pf_aux_packet *packet, struct pf_flow_step *step);
static take *const takes[PF_PT_KINDS] = {
    [PF_PT_BAD] = take_bad,       [PF_PT_PAD] = take_nothing,     [PF_PT_TNT] = take_tnt,
    [PF_PT_TIP] = take_tip,       [PF_PT_TIP_PGE] = take_tip_pge, [PF_PT_TIP_PGD] = take_tip_pgd,
    [PF_PT_FUP] = take_fup,       [PF_PT_PSB] = take_psb,         [PF_PT_PSBEND] = take_psbend,
    [PF_PT_OVF] = take_overflow,  [PF_PT_TRACESTOP] = take_stop,  [PF_PT_TSC] = take_tsc,
    [PF_PT_TMA] = take_tma,       [PF_PT_MTC] = take_mtc,         [PF_PT_CYC] = take_cyc,
    [PF_PT_CBR] = take_cbr,       [PF_PT_PIP] = take_nothing,     [PF_PT_VMCS] = take_nothing,
    [PF_PT_MNT] = take_nothing,   [PF_PT_MODE_EXEC] = take_mode,  [PF_PT_MODE_TSX] = take_transaction,
    [PF_PT_PTWRITE] = take_noted, [PF_PT_EXSTOP] = take_noted,    [PF_PT_MWAIT] = take_noted,
    [PF_PT_PWRE] = take_noted,    [PF_PT_PWRX] = take_noted,      [PF_PT_BBP] = take_nothing,
    [PF_PT_BIP] = take_nothing,   [PF_PT_BEP] = take_block_end,   [PF_PT_CFE] = take_nothing,
    [PF_PT_EVD] = take_nothing,   [PF_PT_TRIG] = take_block_end,
};

/* Packets that may come between results and the target that belongs before them. */
static bool is_neutral(unsigned kind)
{
    return kind == PF_PT_PAD || kind == PF_PT_TSC || kind == PF_PT_TMA || kind == PF_PT_MTC || kind == PF_PT_CYC;
}

static void count_bytes(struct pf_pt_flow *flow, const struct pf_aux_packet *packet)
{
    uint64_t *count = packet->kind == PF_PT_BAD ? &flow->bytes->bad
                      : flow->lost && flow->on  ? &flow->bytes->skipped
                                                : &flow->bytes->decoded;
    *count += packet->bytes;
}

static bool take_target_packet(struct pf_pt_flow *flow)
{
    struct pf_aux_packet packet;
    struct pf_flow_step none = {0};
    int result;
    flow->unsure |= flow->walk->offset >= flow->stop;
    while ((result = pf_aux_walk_next(flow->walk, &packet, NULL)) > 0) {
        count_bytes(flow, &packet);
        flow->idle = 0;
        if (packet.kind == PF_PT_TIP)
            return take_address(flow, &packet);
        if (!is_neutral(packet.kind))
            return false;
        takes[packet.kind](flow, &packet, &none);
    }
    flow->failed = result;
    return false;
}

/* ---- the decoder ------------------------------------------------------------------------------------------------- */

/* Goes on to the next PSB. */
static int synchronize(struct pf_pt_flow *flow, struct perfile_error *error)
{
    uint8_t psb[PSB_BYTES];
    for (size_t i = 0; i < PSB_BYTES; i++)
        psb[i] = i % 2 ? 0x82 : 0x02;
    const int result = pf_aux_walk_find(flow->walk, psb, sizeof(psb), &flow->bytes->skipped, error);
    flow->synced = result > 0;
    return result;
}

/* 1: a packet was taken; *made: the step says something. */
static int read_packet(struct pf_pt_flow *flow, struct pf_flow_step *step, bool *made, struct perfile_error *error)
{
    struct pf_aux_packet packet;
    int result = flow->synced ? 1 : synchronize(flow, error);
    if (result > 0)
        result = pf_aux_walk_next(flow->walk, &packet, error);
    if (result <= 0)
        return result;
    flow->idle = 0;
    *made = takes[packet.kind](flow, &packet, step);
    count_bytes(flow, &packet);
    return 1;
}

static int seek_step(void *state, uint64_t *time, struct perfile_error *error)
{
    struct pf_pt_flow *flow = state;
    int result = 1;
    while (result > 0 && !flow->made && flow->goal == GOAL_NONE && !flow->event_count) {
        if (PF_UNLIKELY(flow->walk->offset >= flow->stop))
            return 0;
        flow->step = (struct pf_flow_step){0};
        result = read_packet(flow, &flow->step, &flow->made, error);
    }
    *time = flow->clock.now;
    return result;
}

static int next_step(void *state, struct pf_flow_step *step, struct perfile_error *error)
{
    struct pf_pt_flow *flow = state;
    bool made = false;
    *step = (struct pf_flow_step){0};
    flow->no_block = false;
    if (flow->made)
        *step = flow->step;
    made = flow->made;
    flow->made = false;
    while (!made && flow->goal != GOAL_NONE)
        made = walk_on(flow, step);
    if (PF_UNLIKELY(flow->no_block))
        return PF_FLOW_NO_BLOCK;
    if (!made && flow->event_count)
        made = take_event(flow, step);
    step->time = flow->clock.now;
    step->cycles = flow->clock.cycles;
    step->has_cycles = flow->clock.has_cycles;
    return flow->failed < 0 ? pf_fail(error, flow->failed, PERFILE_NO_OFFSET, "trace", "it cannot be read") : made;
}

static void restart(void *state, uint64_t reference)
{
    struct pf_pt_flow *flow = state;
    flow->clock.reference = reference;
    lose(flow);
    flow->synced = flow->in_psb = flow->on = false;
    flow->has_last_ip = false;
    flow->is_64 = flow->next_is_64 = true;
}

static void open_flow(void *state, const struct pf_flow_setup *setup)
{
    struct pf_pt_flow *flow = state;
    *flow = (struct pf_pt_flow){.walk = setup->walk, .code = setup->code, .bytes = setup->bytes, .stop = UINT64_MAX};
    pf_pt_clock_open(&flow->clock, setup->recording);
    restart(flow, 0);
}

/* ---- decoding ahead ---------------------------------------------------------------------------------------------- */

static void copy_state(void *to, const void *from)
{
    struct pf_pt_flow *flow = to;
    const struct pf_pt_flow own = *flow;
    memcpy(to, from, sizeof(*flow));
    flow->walk = own.walk;
    flow->code = own.code;
    flow->bytes = own.bytes;
    flow->stop = own.stop;
}

/* What a PSB does not say is as it was, or as it is after a PSB without an address: tracing is off. */
static void discard(struct pf_pt_flow *flow)
{
    struct pf_pt_clock *clock = &flow->clock;
    lose(flow);
    flow->synced = flow->lost = true;
    flow->on = flow->in_psb = flow->psb_has_ip = flow->made = flow->has_no_code = flow->unsure = false;
    flow->event_count = flow->call_count = 0;
    flow->failed = 0;
    clock->now = clock->tsc = clock->cycles = clock->cycles_since = clock->cycles_from = 0;
    clock->has_cycles = clock->has_tma = clock->went_back = false;
}

static bool guess(void *state, const void *known)
{
    enum { MAX_PACKETS = 64 };
    struct pf_pt_flow *flow = state;
    struct pf_flow_step step = {0};
    struct pf_aux_packet packet = {.kind = PF_PT_BAD};
    copy_state(flow, known);
    discard(flow);
    for (unsigned i = 0; i < MAX_PACKETS && packet.kind != PF_PT_PSBEND; i++) {
        if (pf_aux_walk_next(flow->walk, &packet, NULL) <= 0 || packet.kind == PF_PT_OVF || packet.kind == PF_PT_BAD ||
            takes[packet.kind](flow, &packet, &step) || (i == 0) != (packet.kind == PF_PT_PSB))
            return false;
    }
    flow->ip_unknown = !flow->psb_has_ip;
    flow->lost = false;
    flow->event_count = 0;
    return packet.kind == PF_PT_PSBEND && flow->goal == GOAL_NONE;
}

static bool is_right(const void *guessed, const void *state)
{
    const struct pf_pt_flow *guess = guessed, *flow = state;
    const bool waits = flow->made || flow->event_count || flow->goal != GOAL_NONE || flow->result_count || flow->failed;
    return !waits && flow->synced && !flow->in_psb && flow->lost == guess->lost && flow->on == guess->on &&
           (flow->ip == guess->ip || !flow->on) && flow->is_64 == guess->is_64 &&
           flow->next_is_64 == guess->next_is_64 && flow->last_ip == guess->last_ip &&
           flow->has_last_ip == guess->has_last_ip && !flow->return_count && flow->purpose == guess->purpose &&
           flow->async == guess->async && flow->aborts == guess->aborts &&
           flow->in_transaction == guess->in_transaction && flow->has_no_code == guess->has_no_code &&
           flow->cbr_reported == guess->cbr_reported && pf_pt_clock_may_be(&flow->clock, &guess->clock);
}

static void stop_at(void *state, uint64_t offset)
{
    ((struct pf_pt_flow *)state)->stop = offset;
}

static bool is_unsure(const void *state)
{
    const struct pf_pt_flow *flow = state;
    return flow->unsure || flow->clock.went_back;
}

static uint64_t time_of(const void *state)
{
    return ((const struct pf_pt_flow *)state)->clock.now;
}

static uint64_t cycles_of(const void *state, bool *counts)
{
    const struct pf_pt_flow *flow = state;
    *counts = flow->clock.has_cycles;
    return flow->clock.cycles;
}

static void correct(void *end, uint64_t earliest, uint64_t more_cycles, bool counts)
{
    struct pf_pt_clock *clock = &((struct pf_pt_flow *)end)->clock;
    clock->now = pf_max(clock->now, earliest);
    clock->cycles += more_cycles;
    clock->has_cycles |= counts;
}

static const struct pf_flow_ahead ahead = {.guess = guess,
                                           .is_right = is_right,
                                           .copy = copy_state,
                                           .stop_at = stop_at,
                                           .is_unsure = is_unsure,
                                           .time = time_of,
                                           .cycles = cycles_of,
                                           .correct = correct};

static const struct pf_flow_decoder flow_decoder = {.state_bytes = sizeof(struct pf_pt_flow),
                                                    .keeps_blocks = true,
                                                    .ahead = &ahead,
                                                    .max_ratio = pf_pt_max_ratio,
                                                    .open = open_flow,
                                                    .restart = restart,
                                                    .seek = seek_step,
                                                    .next = next_step};

static const struct pf_aux_event events[] = {
    {"branches", 'b', PERFILE_COUNT_HW_BRANCH_INSTRUCTIONS, PERFILE_SAMPLE_ADDR, 0, 0},
    {"cycles", 'y', PERFILE_COUNT_HW_CPU_CYCLES, 0, 0, 0},
    {"instructions", 'i', PERFILE_COUNT_HW_INSTRUCTIONS, 0, 0, 0},
    {"transactions", 'x', PERFILE_COUNT_HW_INSTRUCTIONS, 0, 0, PF_FLOW_TRANSACTION},
    {"ptwrite", 'w', PF_AUX_SYNTH_PTWRITE, PERFILE_SAMPLE_RAW, PF_AUX_TYPE_SYNTH, PF_FLOW_PTWRITE},
    {"cbr", 'p', PF_AUX_SYNTH_CBR, PERFILE_SAMPLE_RAW, PF_AUX_TYPE_SYNTH, PF_FLOW_CBR},
    {"psb", 'p', PF_AUX_SYNTH_PSB, PERFILE_SAMPLE_RAW, PF_AUX_TYPE_SYNTH, PF_FLOW_PSB},
    {"mwait", 'p', PF_AUX_SYNTH_MWAIT, PERFILE_SAMPLE_RAW, PF_AUX_TYPE_SYNTH, PF_FLOW_MWAIT},
    {"pwre", 'p', PF_AUX_SYNTH_PWRE, PERFILE_SAMPLE_RAW, PF_AUX_TYPE_SYNTH, PF_FLOW_PWRE},
    {"exstop", 'p', PF_AUX_SYNTH_EXSTOP, PERFILE_SAMPLE_RAW, PF_AUX_TYPE_SYNTH, PF_FLOW_EXSTOP},
    {"pwrx", 'p', PF_AUX_SYNTH_PWRX, PERFILE_SAMPLE_RAW, PF_AUX_TYPE_SYNTH, PF_FLOW_PWRX},
};

extern const struct pf_aux_format pf_aux_intel_pt;

const struct pf_aux_decoder pf_aux_decode_intel_pt = {
    .format = &pf_aux_intel_pt,
    .events = events,
    .event_count = PF_COUNT(events),
    .flow = &flow_decoder,
};
