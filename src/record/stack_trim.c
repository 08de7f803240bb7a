/* SPDX-License-Identifier: MIT */
#include "record/stack_trim.h"

#include "base/bytes.h"

bool pf_stack_trim_open(struct pf_stack_trim *trim, const struct pf_event_list *chosen)
{
    *trim = (struct pf_stack_trim){.allocator = chosen->allocator, .count = chosen->count};
    trim->plans = pf_new(trim->allocator, trim->count * sizeof(*trim->plans));
    for (size_t i = 0; trim->plans && i < trim->count; i++)
        pf_plan_make(&trim->plans[i], &chosen->items[i].attr, false, PF_NATIVE_BIG_ENDIAN);
    return trim->plans;
}

void pf_stack_trim_close(struct pf_stack_trim *trim)
{
    pf_free(trim->allocator, trim->plans, trim->count * sizeof(*trim->plans));
    trim->plans = NULL;
}

/* Around the stack are its size and, after it, how much of it is valid. */
size_t pf_stack_trim_sample(const struct pf_stack_trim *trim, size_t event, const uint8_t *record, uint8_t *copy)
{
    const uint16_t bytes = pf_load16(record + 6, false);
    const struct perfile_record complete = {
        .type = PERFILE_RECORD_SAMPLE, .bytes = bytes, .stated_bytes = bytes, .data = record};
    struct perfile_sample sample = {.size = sizeof(sample)};
    if (event >= trim->count || !(trim->plans[event].sample_type & PERFILE_SAMPLE_STACK_USER) ||
        pf_plan_decode(&trim->plans[event], &complete, &sample, NULL) < 0)
        return 0;
    const uint64_t used = pf_align8(pf_min(sample.stack_user.used, sample.stack_user.bytes));
    if (used >= sample.stack_user.bytes)
        return 0;
    const size_t before = (size_t)(sample.stack_user.data - record), after = before + sample.stack_user.bytes,
                 less = sample.stack_user.bytes - used;
    const uint16_t now = (uint16_t)(bytes - less);
    memcpy(copy, record, before + used);
    memcpy(copy + before + used, record + after, bytes - after);
    memcpy(copy + before - sizeof(used), &used, sizeof(used));
    memcpy(copy + 6, &now, sizeof(now));
    return now;
}
