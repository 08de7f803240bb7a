/* SPDX-License-Identifier: MIT */
#include "analysis/pgo/contexts.h"

#include "base/error.h"

#define OUTSIDE PERFILE_PGO_OUTSIDE

int pf_pgo_contexts_open(struct pf_pgo_contexts *contexts, const char *path, size_t max,
                         const struct perfile_allocator *allocator, struct perfile_error *error)
{
    *contexts = (struct pf_pgo_contexts){.allocator = allocator, .max = max, .counts = PERFILE_PGO_COUNTS_INIT};
    pf_pairs_open(&contexts->number_of, allocator);
    pf_tally_open(&contexts->ranges, max, allocator);
    pf_tally_open(&contexts->branches, max, allocator);
    const int result = pf_pgo_code_open(path, allocator, &contexts->code, error);
    if (result < 0)
        return result;
    if (!pf_pgo_has_instructions(contexts->code))
        return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, "contexts",
                       "the instructions of this machine are not known");
    return PF_APPEND(allocator, contexts->items, contexts->count, contexts->capacity, (struct pf_pgo_context){0})
               ? 0
               : pf_fail_memory(error, "contexts");
}

void pf_pgo_contexts_close(struct pf_pgo_contexts *contexts)
{
    const struct perfile_allocator *allocator = contexts->allocator;
    if (!allocator)
        return;
    pf_pgo_code_close(contexts->code);
    pf_free(allocator, contexts->items, contexts->capacity * sizeof(*contexts->items));
    pf_pairs_close(&contexts->number_of);
    pf_tally_close(&contexts->ranges);
    pf_tally_close(&contexts->branches);
    pf_free(allocator, contexts->frames, contexts->frame_capacity * sizeof(*contexts->frames));
    pf_free(allocator, contexts->steps, contexts->step_capacity * sizeof(*contexts->steps));
}

uint64_t pf_pgo_call_before(const struct pf_pgo_code *code, uint64_t address)
{
    uint64_t call;
    return pf_pgo_previous_instruction(code, address, &call) && pf_pgo_flow_at(code, call) == PF_INSN_CALL ? call : 0;
}

/* ---- walking a branch stack ---- */

struct walk {
    struct pf_pgo_contexts *contexts;
    uint32_t callers; /* the context */
    uint64_t address; /* OUTSIDE: in other code */
    bool is_lost;     /* the callers of what is still to come are not known */
    bool failed;      /* out of memory, or there are too many */
};

static uint32_t number_of(struct walk *w, uint32_t caller, uint64_t address);

/* The context without what is around the innermost call in other code. */
static uint32_t inner_of(struct walk *w, uint32_t caller, uint64_t address, uint32_t number)
{
    const uint32_t around = w->contexts->items[caller].inner;
    if (address == OUTSIDE)
        return 0;
    return !address ? around : around == caller ? number : number_of(w, around, address);
}

/* The context of a call. */
static uint32_t number_of(struct walk *w, uint32_t caller, uint64_t address)
{
    struct pf_pgo_contexts *contexts = w->contexts;
    uint32_t number;
    if (w->failed || pf_pairs_get(&contexts->number_of, caller, address, &number))
        return w->failed ? 0 : number;
    const struct pf_pgo_context made = {.address = address, .caller = caller};
    number = (uint32_t)contexts->count;
    w->failed = contexts->count >= contexts->max || !pf_pairs_put(&contexts->number_of, caller, address, number) ||
                !PF_APPEND(contexts->allocator, contexts->items, contexts->count, contexts->capacity, made);
    if (w->failed)
        return 0;
    const uint32_t inner = inner_of(w, caller, address, number);
    contexts->items[number].inner = inner;
    return number;
}

static void count(struct walk *w, struct pf_tally *tally, uint32_t context, uint64_t from, uint64_t to)
{
    struct pf_tally_row *row = w->failed ? NULL : pf_tally_row(tally, w->contexts->items[context].inner, from, to);
    if (row)
        row->count++;
    else
        w->failed = true;
}

/* Goes back over code that ran without a branch. Code outside is entered and left in pairs. */
static void undo_code(struct walk *w, uint64_t begin)
{
    const struct pf_pgo_range range = {begin, w->address, 1};
    if (begin == OUTSIDE && w->address == OUTSIDE)
        return;
    if (begin == OUTSIDE || w->address == OUTSIDE || begin > w->address ||
        !pf_pgo_range_is_usable(w->contexts->code, &range, &w->contexts->counts)) {
        w->is_lost = true;
        return;
    }
    count(w, &w->contexts->ranges, w->callers, begin, w->address);
    w->address = begin;
}

/* Before a call its caller is the function itself. Callchains may not have the call yet. */
static void undo_call(struct walk *w, uint64_t from)
{
    const struct pf_pgo_context *call = &w->contexts->items[w->callers];
    if (w->callers && call->address == from)
        w->callers = call->caller;
}

static void undo_return(struct walk *w, uint64_t to)
{
    w->callers = number_of(w, w->callers, to == OUTSIDE ? OUTSIDE : pf_pgo_call_before(w->contexts->code, to));
}

/* Other code either calls, or returns to what is after a call. */
static enum pf_insn_flow flow_of(const struct pf_pgo_code *code, const struct pf_pgo_step *step)
{
    if (step->from != OUTSIDE)
        return pf_pgo_flow_at(code, step->from);
    return pf_pgo_call_before(code, step->to) ? PF_INSN_RETURN : PF_INSN_CALL;
}

static void undo_branch(struct walk *w, const struct pf_pgo_step *step)
{
    const enum pf_insn_flow flow = flow_of(w->contexts->code, step);
    if (w->is_lost) {
        w->callers = 0;
        pf_add_to_sum(&w->contexts->counts.contexts_unknown, 1);
    } else if (flow == PF_INSN_CALL) {
        undo_call(w, step->from);
    } else if (flow == PF_INSN_RETURN) {
        undo_return(w, step->to);
    }
    w->address = step->from;
}

/* What comes from other code has no context: only how often functions are entered is known by it. */
static void count_branch(struct walk *w, const struct pf_pgo_step *step)
{
    if (step->to != OUTSIDE)
        count(w, &w->contexts->branches, step->from == OUTSIDE ? 0 : w->callers, step->from, step->to);
}

bool pf_pgo_contexts_count(struct pf_pgo_contexts *contexts)
{
    struct walk w = {.contexts = contexts, .address = contexts->steps[0].to};
    for (size_t i = contexts->frame_count; i-- > 1;)
        w.callers = number_of(&w, w.callers, contexts->frames[i]);
    for (size_t i = 0; i < contexts->step_count && !w.failed; i++) {
        if (i)
            undo_code(&w, contexts->steps[i].to);
        undo_branch(&w, &contexts->steps[i]);
        count_branch(&w, &contexts->steps[i]);
    }
    return !w.failed;
}
