/* SPDX-License-Identifier: MIT */
/* Dumped user stacks become callchains. */
#include "base/error.h"
#include "edit/convert.h"

enum {
    FRAMES_USUAL = 127, /* what perf unwinds */
    FRAMES_MAX = 4096,
    RECORDED_MAX = 8192, /* addresses that a record holds */
    CHAIN_MAX = RECORDED_MAX + 1 + FRAMES_MAX,
};

struct pf_unwind_step {
    struct pf_edit *edit;
    int (*unwind)(void *context, struct perfile_session *session, const struct perfile_sample *sample,
                  uint64_t *addresses, size_t capacity);
    void *context;
    size_t max_frames;
    uint64_t chain[CHAIN_MAX];
};

int pf_unwind_open(const struct perfile_convert_options *options, struct pf_edit *edit, struct pf_unwind_step **unwind,
                   struct perfile_error *error)
{
    struct pf_unwind_step *made = pf_new(edit->reader->allocator, sizeof(*made));
    if (!made)
        return pf_fail_memory(error, "unwinding");
    made->edit = edit;
    made->unwind = options->unwind;
    made->context = options->unwind_context;
    made->max_frames = pf_min(options->unwind_frames ? (size_t)options->unwind_frames : FRAMES_USUAL, FRAMES_MAX);
    edit->by_time = edit->follows_maps = true;
    *unwind = made;
    return 0;
}

void pf_unwind_close(struct pf_unwind_step *unwind)
{
    if (unwind)
        pf_free(unwind->edit->reader->allocator, unwind, sizeof(*unwind));
}

static int take_stack(void *context, struct pf_event_spec *event, struct perfile_error *error)
{
    struct perfile_attr *attr = &event->attr;
    (void)context, (void)error;
    if (!(attr->sample_type & PERFILE_SAMPLE_STACK_USER))
        return 0;
    attr->sample_type &= ~(uint64_t)(PERFILE_SAMPLE_STACK_USER | PERFILE_SAMPLE_REGS_USER);
    attr->sample_type |= PERFILE_SAMPLE_CALLCHAIN;
    attr->sample_regs_user = 0;
    attr->sample_stack_user = 0;
    attr->exclude_callchain_user = 0;
    return 0;
}

/* How much of a chain comes before its part of user space. */
static uint64_t count_kernel(const struct perfile_u64s *chain)
{
    uint64_t count = 0;
    while (count < chain->count && count < RECORDED_MAX && perfile_u64_at(chain, count) != PERFILE_CONTEXT_USER)
        count++;
    return count;
}

/*
 * Makes a chain of the kernel's recorded part and the user's part after it. Where nothing can be unwound that is what
 * was recorded, at least the sampled instruction. Returns how many frames were unwound.
 */
static int make_chain(struct pf_unwind_step *unwind, struct perfile_sample *sample, uint16_t misc)
{
    const uint64_t recorded = count_kernel(&sample->callchain);
    uint64_t *user = unwind->chain + recorded;
    const int count = unwind->unwind(unwind->context, unwind->edit->session, sample, user + 1, unwind->max_frames);
    const bool in_user = (misc & PERFILE_MISC_CPUMODE_MASK) == PERFILE_MISC_USER;
    if (count < 0 || (count == 0 && (!in_user || recorded < sample->callchain.count)))
        return count;
    for (uint64_t i = 0; i < recorded; i++)
        unwind->chain[i] = perfile_u64_at(&sample->callchain, i);
    user[0] = PERFILE_CONTEXT_USER;
    if (count == 0)
        user[1] = sample->ip;
    sample->callchain = (struct perfile_u64s){.data = (const uint8_t *)unwind->chain,
                                              .count = recorded + 1 + (count ? (uint64_t)count : 1)};
    return count;
}

static int unwind_sample(void *context, struct pf_item *item, struct perfile_error *error)
{
    struct pf_unwind_step *unwind = context;
    const struct perfile_record *record = item->record;
    if (record->type == PERFILE_RECORD_FINISHED_ROUND)
        (void)perfile_session_trim(unwind->edit->session); /* a stream of many processes need not end */
    if (record->type != PERFILE_RECORD_SAMPLE || !record->event ||
        !(record->event->attr->sample_type & PERFILE_SAMPLE_STACK_USER))
        return PF_EDIT_KEEP;
    int result = pf_item_decode(item, error);
    if (result < 0)
        return result;
    result = make_chain(unwind, &item->sample, record->misc);
    if (result < 0)
        return pf_fail(error, result, record->offset, "SAMPLE record",
                       result == PERFILE_ERROR_MEMORY ? "out of memory" : "it cannot be unwound");
    item->changed = true;
    if (result)
        unwind->edit->report->samples_unwound++;
    else
        unwind->edit->report->samples_without++;
    return PF_EDIT_KEEP;
}

struct pf_edit_step pf_unwind_step(struct pf_unwind_step *unwind)
{
    return (struct pf_edit_step){.context = unwind, .event = take_stack, .record = unwind_sample};
}
