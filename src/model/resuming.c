/* SPDX-License-Identifier: MIT */
#include "model/index.h"
#include "model/session.h"

/* After the session has gone on elsewhere: the state that it took over includes the record. */
static bool was_delivered(struct pf_resuming *resuming, const struct perfile_record *record)
{
    struct perfile_session *session = resuming->session;
    if ((record->compressed ? record->container : record->offset) >= resuming->until) {
        resuming->until = 0;
        return false;
    }
    if (record->type == PERFILE_RECORD_FINISHED_ROUND ||
        (pf_sorting_must_wait(session->reader, record) && record->time > session->sorting.settled))
        return false;
    session->left_out += record->type == PERFILE_RECORD_SAMPLE;
    return true;
}

int pf_resuming_next(void *context, const struct perfile_record **record, struct perfile_error *error)
{
    struct pf_resuming *resuming = context;
    int result = 0;
    if (PF_UNLIKELY(resuming->round_over) && !resuming->tried) { /* sorting reads on only when all is delivered */
        resuming->tried = true;
        result = pf_index_resume(resuming->session, error);
        if (result < 0)
            return result;
    }
    do
        result = pf_record_next(&resuming->before, record, error);
    while (PF_UNLIKELY(resuming->until != 0) && result > 0 && was_delivered(resuming, *record));
    resuming->round_over = result > 0 && (*record)->type == PERFILE_RECORD_FINISHED_ROUND;
    return result;
}
