/* SPDX-License-Identifier: MIT */
#include <perfile/index.h>

#include "model/index.h"
#include "model/session.h"

/* After the last required time, pf_limits_end_early decides whether to read on; it must see the records. */
static bool is_unwanted(void *context, const struct perfile_block *block)
{
    struct perfile_session *session = context;
    const struct pf_skipping *skipping = &session->skipping;
    const bool waits_for_name = session->state.keeps_comms && session->state.threads.nameless_count;
    if (block->last_time < session->limits.first)
        return true;
    if (block->first_time > session->limits.last && !waits_for_name)
        return false;
    if (skipping->unwanted && skipping->unwanted(skipping->context, block))
        return true;
    const struct pf_filter_block asked = {.block = block,
                                          .times = perfile_block_times,
                                          .may_have = perfile_block_may_have,
                                          .event_at = perfile_event_get,
                                          .reader = session->reader};
    return session->filtering.active && pf_filter_leaves_out(&session->filtering.filter, &asked, false);
}

void pf_skipping_open(struct pf_skipping *skipping, struct perfile_session *session)
{
    skipping->session = session;
    if (!skipping->skips.blocks)
        pf_skips_open(&skipping->skips, session->reader, is_unwanted, session);
}

void perfile_session_skip(struct perfile_session *session,
                          bool (*unwanted)(void *context, const struct perfile_block *block), void *context)
{
    if (session->started)
        return;
    session->skipping.unwanted = unwanted;
    session->skipping.context = context;
    pf_skipping_open(&session->skipping, session);
}

/* What is passed over counts as if it had been read and then left out. */
static void pass_over(struct pf_skipping *skipping)
{
    struct perfile_session *session = skipping->session;
    struct pf_index_gap gap;
    while (pf_skips_take(&skipping->skips, &gap)) {
        session->sorting.order.max_time = pf_max(session->sorting.order.max_time, gap.last_time);
        session->left_out += gap.samples;
    }
}

int pf_skipping_next(void *context, const struct perfile_record **record, struct perfile_error *error)
{
    struct pf_skipping *skipping = context;
    if (PF_UNLIKELY(pf_skips_due(&skipping->skips, skipping->session->reader)))
        pass_over(skipping);
    return pf_record_next(&skipping->before, record, error);
}
