/* SPDX-License-Identifier: MIT */
#include "model/session.h"

#include "base/error.h"
#include "base/sized.h"

/* ---- the chain --------------------------------------------------------------------------------------------------- */

static int next_of_reader(void *context, const struct perfile_record **record, struct perfile_error *error)
{
    const int result = pf_reader_next(context, record, error);
    if (PF_UNLIKELY(result == 0))
        pf_reader_rest(context);
    return result;
}

static void add(struct pf_record_source *chain, pf_next_record *next, void *link, struct pf_record_source *before)
{
    *before = *chain;
    *chain = (struct pf_record_source){next, link};
}

/* Sources in the order of the file. */
static struct pf_record_source build_start(struct perfile_session *session)
{
    const bool is_directory = session->parts.heads != NULL;
    struct pf_record_source chain = {next_of_reader, session->reader};
    if (is_directory)
        chain = (struct pf_record_source){pf_parts_next, &session->parts};
    if (session->skipping.skips.blocks)
        add(&chain, pf_skipping_next, &session->skipping, &session->skipping.before);
    if (session->following.follower)
        add(&chain, pf_following_read, &session->following, &session->following.before_read);
    if (session->reader->index.data && session->limits.first)
        add(&chain, pf_resuming_next, &session->resuming, &session->resuming.before);
    if (session->preview.take && !is_directory)
        add(&chain, pf_preview_next, &session->preview, &session->preview.before);
    if (session->limits.first)
        add(&chain, pf_limits_leave_out, &session->limits, &session->limits.before_first);
    return chain;
}

static void build(struct perfile_session *session)
{
    struct pf_following *following = &session->following;
    struct pf_record_source chain = {pf_sorting_next, &session->sorting};
    session->started = true;
    if (following->follower && !following->follower->started(following->context))
        following->follower = NULL;
    session->sorting.before = build_start(session);
    if (!session->leaves_names)
        chain = (struct pf_record_source){pf_state_next, &session->state};
    if (session->limits.last != UINT64_MAX)
        add(&chain, pf_limits_end_early, &session->limits, &session->limits.before_last);
    if (following->follower)
        add(&chain, pf_following_delivered, following, &following->before_delivered);
    if (session->filtering.active)
        add(&chain, pf_filtering_next, &session->filtering, &session->filtering.before);
    session->chain = chain;
}

static int start(void *context, const struct perfile_record **record, struct perfile_error *error)
{
    struct perfile_session *session = context;
    build(session);
    return pf_record_next(&session->chain, record, error);
}

int perfile_session_next(struct perfile_session *session, const struct perfile_record **record,
                         struct perfile_error *error)
{
    return pf_record_next(&session->chain, record, error);
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

int perfile_session_open(struct perfile_reader *reader, struct perfile_session **session, struct perfile_error *error)
{
    *session = NULL;
    int result = pf_reader_drive(reader, error);
    if (result < 0)
        return result;
    struct perfile_session *made = pf_new(reader->allocator, sizeof(*made));
    if (!made) {
        reader->stops &= ~(unsigned)PF_READER_DRIVEN;
        return pf_fail_memory(error, "session");
    }
    *made = (struct perfile_session){.reader = reader,
                                     .chain = {start, made},
                                     .sorting = {.reader = reader},
                                     .resuming = {.session = made},
                                     .limits = {.session = made, .last = UINT64_MAX}};
    pf_order_open(&made->sorting.order, reader->allocator);
    pf_state_open(&made->state, &made->sorting);
    result = pf_parts_open(&made->parts, reader, error);
    if (result < 0) {
        perfile_session_close(made);
        return result;
    }
    made->sorting.lateness = made->parts.heads ? PF_SORTING_LATENESS_NS : 0;
    *session = made;
    if (reader->follower.opened)
        reader->follower.opened(reader->follower.context, made);
    return 0;
}

void perfile_session_close(struct perfile_session *session)
{
    if (!session)
        return;
    struct perfile_reader *reader = session->reader;
    reader->stops &= ~(unsigned)PF_READER_DRIVEN;
    pf_order_close(&session->sorting.order);
    pf_state_close(&session->state);
    pf_parts_close(&session->parts);
    if (session->filtering.active)
        pf_filter_close(&session->filtering.filter);
    pf_free(reader->allocator, session, sizeof(*session));
}

void pf_session_leave_names(struct perfile_session *session)
{
    session->leaves_names = true;
}

/* ---- the state --------------------------------------------------------------------------------------------------- */

const char *perfile_session_comm(struct perfile_session *session, int32_t pid, int32_t tid)
{
    (void)pid;
    return pf_threads_name(&session->state.threads, tid);
}

const char *perfile_session_later_comm(const struct perfile_session *session, const char *comm)
{
    return pf_threads_later_name(&session->state.threads, comm);
}

const char *perfile_session_cgroup(const struct perfile_session *session, uint64_t id)
{
    return pf_cgroups_path(&session->state.cgroups, id);
}

void perfile_session_keep_comms(struct perfile_session *session)
{
    session->state.keeps_comms = true;
}

bool perfile_session_trim(struct perfile_session *session)
{
    return session->state.follows_maps && pf_maps_trim(&session->state.maps);
}

void perfile_session_follow_maps(struct perfile_session *session)
{
    session->state.follows_maps = true;
}

int perfile_session_add_map(struct perfile_session *session, uint64_t time, const struct perfile_map *map,
                            struct perfile_error *error)
{
    struct perfile_map all = PERFILE_MAP_INIT;
    const int result = pf_sized_take(&all, sizeof(all), map, "map", error);
    session->following.follower = NULL; /* an index has the mappings of the recording only */
    return result < 0 ? result : pf_maps_add_later(&session->state.maps, time, &all, error);
}

const struct perfile_space *perfile_session_space(struct perfile_session *session, int32_t pid)
{
    return pf_maps_space(&session->state.maps, pid);
}

uint64_t perfile_session_unordered(const struct perfile_session *session)
{
    return session->sorting.unordered;
}
