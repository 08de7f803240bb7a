/* SPDX-License-Identifier: MIT */
#include "model/session.h"

void perfile_session_preview(struct perfile_session *session,
                             bool (*take)(void *context, const struct perfile_record *record), void *context)
{
    if (session->started)
        return;
    session->preview = (struct pf_preview){.session = session, .take = take, .context = context};
}

static bool is_used(struct pf_preview *preview, const struct perfile_record *record)
{
    if (!preview->take(preview->context, record) || record->type != PERFILE_RECORD_SAMPLE ||
        !pf_sorting_must_wait(preview->session->reader, record))
        return false;
    pf_sorting_note_kept(&preview->session->sorting, record);
    preview->consumed++;
    return true;
}

int pf_preview_next(void *context, const struct perfile_record **record, struct perfile_error *error)
{
    struct pf_preview *preview = context;
    int result;
    do
        result = pf_record_next(&preview->before, record, error);
    while (result > 0 && is_used(preview, *record));
    return result;
}
