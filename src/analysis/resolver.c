/* SPDX-License-Identifier: MIT */
/* <perfile/profile.h>: resolves single addresses for callers that walk a session. */
#include <perfile/profile.h>

#include "analysis/describe.h"
#include "analysis/complete_options.h"
#include "analysis/stack.h"
#include "base/error.h"
#include "base/sized.h"

struct perfile_resolver {
    struct pf_watch watch;
    struct perfile_session *session;
    struct pf_symbols *symbols;
    struct pf_frames frames;
    struct pf_labels labels;
    const char *arch; /* of the recording; NULL: not known */
    enum pf_unwind_policy policy;
};

static int open_parts(struct perfile_resolver *made, struct perfile_reader *reader,
                      const struct perfile_resolver_options *options, struct perfile_error *error)
{
    struct pf_find_options find = pf_find_options_of(options->symbols, &made->watch.allocator);
    const struct pf_frames_options frames = pf_describe_options(options->flags, options->symbols);
    int result = pf_unwind_policy_parse(options->symbols->unwind, PF_UNWIND_FP, &made->policy, error);
    if (result == 0)
        result = pf_symbols_open(reader, &find, &made->symbols, error);
    if (result < 0)
        return result;
    if (perfile_feature_text(reader, PERFILE_FEATURE_ARCH, NULL, &made->arch, NULL) < 0)
        made->arch = NULL;
    pf_frames_open(&made->frames, made->symbols, &frames, &made->watch.allocator);
    perfile_session_follow_maps(made->session);
    return 0;
}

int perfile_resolver_open(struct perfile_reader *reader, struct perfile_session *session,
                          const struct perfile_resolver_options *options, struct perfile_resolver **resolver,
                          struct perfile_error *error)
{
    struct perfile_resolver_options all = PERFILE_RESOLVER_OPTIONS_INIT;
    const uint32_t known = PERFILE_STREAM_ADDRESSES | PERFILE_STREAM_NO_INLINES | PERFILE_STREAM_JOIN_UNNAMED;
    *resolver = NULL;
    struct pf_complete_options complete;
    int result = pf_sized_take(&all, sizeof(all), options, "resolver options", error);
    if (result == 0)
        result = pf_complete_options_take(&complete, reader, NULL, all.symbols, error);
    if (result == 0)
        result = pf_check_known_flags(all.flags, known, error);
    if (result < 0)
        return result;
    all.symbols = &complete.symbols;
    struct perfile_resolver *made = pf_new(pf_allocator_or_default(all.allocator), sizeof(*made));
    if (!made)
        return pf_fail_memory(error, "resolver");
    pf_watch_open(&made->watch, all.allocator);
    pf_labels_open(&made->labels, &made->watch.allocator);
    made->session = session;
    result = open_parts(made, reader, &all, error);
    if (result == 0)
        *resolver = made;
    else
        perfile_resolver_close(made);
    return result;
}

void perfile_resolver_close(struct perfile_resolver *resolver)
{
    if (!resolver)
        return;
    pf_frames_close(&resolver->frames);
    pf_symbols_close(resolver->symbols);
    pf_labels_close(&resolver->labels);
    pf_free(resolver->watch.below, resolver, sizeof(*resolver));
}

int perfile_resolver_frames(struct perfile_resolver *resolver, const struct perfile_location *location,
                            uint32_t *frames, size_t capacity, struct perfile_error *error)
{
    struct perfile_location all = PERFILE_LOCATION_INIT;
    const uint32_t *list;
    if (!location)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "place", "is NULL");
    const int result = pf_sized_take(&all, sizeof(all), location, "place", error);
    if (result < 0)
        return result;
    const struct perfile_space *space =
        all.cpumode == PERFILE_MISC_KERNEL ? perfile_session_space(resolver->session, -1)
        : all.cpumode == PERFILE_MISC_USER ? perfile_session_space(resolver->session, all.pid)
                                           : NULL;
    const uint32_t found = pf_frames_resolve(&resolver->frames, space, all.address, all.flags & PERFILE_RESOLVE_RETURN);
    if (found == PF_NO_FRAME || pf_memory_was_short(&resolver->watch.allocator))
        return pf_fail_memory(error, "resolver");
    const size_t count = pf_frames_of(&resolver->frames, &found, &list);
    for (size_t i = 0; i < count && i < capacity; i++)
        frames[i] = list[i];
    return (int)count;
}

/* ---- stacks ------------------------------------------------------------------------------------------------------ */

/* Ids that are written as far as there is capacity for them. */
struct written {
    uint32_t *frames;
    size_t count, capacity;
};

/* False: out of memory. */
static bool write_position(struct perfile_resolver *resolver, const struct perfile_space *space,
                           const struct pf_stack_address *address, struct written *to)
{
    const uint32_t *list, found = pf_frames_resolve(&resolver->frames, space, address->ip, address->returns);
    if (found == PF_NO_FRAME)
        return false;
    const size_t count = pf_frames_of(&resolver->frames, &found, &list);
    for (size_t i = 0; i < count; i++, to->count++)
        if (to->count < to->capacity)
            to->frames[to->count] = list[i];
    return true;
}

static bool write_stack(struct perfile_resolver *resolver, const struct pf_delivered *item, struct written *to)
{
    const struct pf_stack_options options = {
        .symbols = resolver->symbols, .arch = resolver->arch, .policy = resolver->policy};
    struct pf_stack stack;
    struct pf_stack_address address;
    bool enough = true;
    pf_stack_gather(&stack, item, &options);
    for (struct pf_stack_walk walk = pf_stack_start(&stack); enough && pf_stack_next(&walk, &address);)
        enough = write_position(resolver, pf_delivered_space(item, address.mode), &address, to);
    if (!enough || to->count)
        return enough;
    address = (struct pf_stack_address){.ip = item->sample.ip, .mode = item->record->misc & PERFILE_MISC_CPUMODE_MASK};
    return write_position(resolver, pf_delivered_space(item, address.mode), &address, to);
}

int perfile_resolver_stack(struct perfile_resolver *resolver, const struct perfile_record *record,
                           const struct perfile_sample *sample, uint32_t *frames, size_t capacity,
                           struct perfile_error *error)
{
    struct pf_delivered item = {.record = record, .is_sample = true};
    struct written to = {frames, 0, capacity};
    item.sample = (struct perfile_sample)PERFILE_SAMPLE_INIT;
    if (!record || !sample || record->type != PERFILE_RECORD_SAMPLE)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "sample", "is not a decoded SAMPLE record");
    const int result = pf_sized_take(&item.sample, sizeof(item.sample), sample, "sample", error);
    if (result < 0)
        return result;
    pf_delivered_fill_absent(&item.sample, item.sample.present);
    item.event = record->event;
    item.kernel_space = perfile_session_space(resolver->session, -1);
    item.user_space = perfile_session_space(resolver->session, item.sample.pid);
    if (!write_stack(resolver, &item, &to) || pf_memory_was_short(&resolver->watch.allocator))
        return pf_fail_memory(error, "resolver");
    return (int)to.count;
}

/* NULL: there is no such frame. */
static const struct pf_frame_info *frame_at(const struct perfile_resolver *resolver, uint32_t id)
{
    return id < resolver->frames.count ? pf_frames_at(&resolver->frames, id) : NULL;
}

int perfile_resolver_frame(const struct perfile_resolver *resolver, uint32_t id, struct perfile_frame *frame)
{
    return pf_describe_frame(frame_at(resolver, id), resolver->frames.options.by_address, frame);
}

const char *perfile_resolver_label(struct perfile_resolver *resolver, uint32_t id)
{
    return pf_labels_get(&resolver->labels, resolver->symbols, id, frame_at(resolver, id));
}

int perfile_resolver_module(const struct perfile_resolver *resolver, uint32_t id, struct perfile_module *module)
{
    return pf_describe_module(resolver->symbols, id, module);
}
