/* SPDX-License-Identifier: MIT */
#include "model/state.h"

#include "base/error.h"

void pf_state_open(struct pf_state *state, struct pf_sorting *before)
{
    const struct perfile_allocator *allocator = before->reader->allocator;
    state->before = before;
    pf_threads_open(&state->threads, allocator);
    pf_maps_open(&state->maps, allocator);
    pf_cgroups_open(&state->cgroups, allocator);
}

void pf_state_close(struct pf_state *state)
{
    pf_threads_close(&state->threads);
    pf_maps_close(&state->maps);
    pf_cgroups_close(&state->cgroups);
}

static void note_exit(struct pf_state *state, const struct perfile_record *record)
{
    struct perfile_exit gone;
    if (record->damaged || perfile_record_decode(state->before->reader, record, &gone, sizeof(gone), NULL) < 0)
        return;
    state->exit_pending = true;
    state->exit_tid = gone.tid;
}

/* The record is not a sample. 1, or an error. */
static int follow(struct pf_state *state, const struct perfile_record *record, struct perfile_error *error)
{
    struct perfile_reader *reader = state->before->reader;
    const uint32_t type = record->type;
    if (type == PERFILE_RECORD_EXIT && !state->keeps_comms)
        note_exit(state, record);
    else if ((type == PERFILE_RECORD_COMM || type == PERFILE_RECORD_FORK) &&
             !pf_threads_follow(&state->threads, reader, record))
        return pf_fail_memory(error, "threads");
    else if (type == PERFILE_RECORD_CGROUP && !pf_cgroups_follow(&state->cgroups, reader, record))
        return pf_fail_memory(error, "control groups");
    if (state->follows_maps && !pf_maps_follow(&state->maps, reader, record))
        return pf_maps_fail(&state->maps, error);
    return 1;
}

int pf_state_next(void *context, const struct perfile_record **record, struct perfile_error *error)
{
    struct pf_state *state = context;
    if (PF_UNLIKELY(state->exit_pending)) {
        state->exit_pending = false;
        pf_threads_discard(&state->threads, state->exit_tid);
    }
    const int result = pf_sorting_next(state->before, record, error);
    if (PF_UNLIKELY(result <= 0))
        return result;
    const struct perfile_record *now = *record;
    if (PF_UNLIKELY(now->time >= state->maps.next_time) && now->time != UINT64_MAX &&
        !pf_maps_advance(&state->maps, now->time))
        return pf_fail_memory(error, "maps");
    return PF_LIKELY(now->type == PERFILE_RECORD_SAMPLE) ? 1 : follow(state, now, error);
}
