/* SPDX-License-Identifier: MIT */
/* <perfile/profile.h>: resolved samples for others. */
#include <perfile/profile.h>

#include "analysis/describe.h"
#include "analysis/profile.h"
#include "analysis/complete_options.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/sized.h"

struct perfile_stream {
    struct pf_watch watch;
    const struct perfile_allocator *allocator; /* of the stream itself, which has the watch */
    struct pf_profile *profile;
    struct perfile_stream_sample sample;
    struct pf_labels labels;
    perfile_on_unmatched *unmatched;
    void *unmatched_context;
};

/* ---- the stream -------------------------------------------------------------------------------------------------- */

int perfile_stream_open(struct perfile_reader *reader, const struct perfile_stream_options *options,
                        struct perfile_stream **stream, struct perfile_error *error)
{
    struct perfile_stream_options all = PERFILE_STREAM_OPTIONS_INIT;
    const uint32_t known =
        PERFILE_STREAM_ADDRESSES | PERFILE_STREAM_NO_INLINES | PERFILE_STREAM_JOIN_UNNAMED | PERFILE_STREAM_DECODED;
    struct pf_complete_options complete;
    *stream = NULL;
    int result = pf_sized_take(&all, sizeof(all), options, "stream options", error);
    if (result == 0)
        result = pf_complete_options_take(&complete, reader, all.filter, all.symbols, error);
    if (result == 0)
        result = pf_check_known_flags(all.flags, known, error);
    if (result < 0)
        return result;
    const struct perfile_allocator *allocator = pf_allocator_or_default(all.allocator);
    struct perfile_stream *made = pf_new(allocator, sizeof(*made));
    if (!made)
        return pf_fail_memory(error, "stream");
    made->allocator = allocator;
    made->unmatched = all.unmatched;
    made->unmatched_context = all.unmatched_context;
    pf_watch_open(&made->watch, allocator);
    pf_labels_open(&made->labels, &made->watch.allocator);
    struct pf_profile_options how = {.filter = &complete.filter,
                                     .find = pf_find_options_of(&complete.symbols, &made->watch.allocator),
                                     .unwind = complete.symbols.unwind,
                                     .decoded = all.flags & PERFILE_STREAM_DECODED,
                                     .frames = pf_describe_options(all.flags, &complete.symbols),
                                     .drive = {all.threads, all.progress, all.progress_context}};
    result = pf_profile_open(reader, &how, &made->profile, error);
    if (result < 0) {
        perfile_stream_close(made);
        return result;
    }
    *stream = made;
    return 0;
}

void perfile_stream_close(struct perfile_stream *stream)
{
    if (!stream)
        return;
    pf_profile_close(stream->profile);
    pf_labels_close(&stream->labels);
    pf_free(stream->allocator, stream, sizeof(*stream));
}

int perfile_stream_next(struct perfile_stream *stream, const struct perfile_stream_sample **sample,
                        struct perfile_error *error)
{
    const struct pf_profile_sample *next;
    const int result = pf_profile_next(stream->profile, &next, error);
    if (result == 0) {
        pf_profile_notify_unmatched(stream->profile, stream->unmatched, stream->unmatched_context);
        stream->unmatched = NULL; /* once */
    }
    if (result <= 0)
        return result;
    stream->sample = (struct perfile_stream_sample){.size = sizeof(stream->sample),
                                                    .event = next->event,
                                                    .time = next->time,
                                                    .period = next->period,
                                                    .pid = next->pid,
                                                    .tid = next->tid,
                                                    .cpu = next->has_cpu ? (int32_t)next->cpu : -1,
                                                    .frame_count = (uint32_t)next->frame_count,
                                                    .frames = next->frames,
                                                    .leaf = next->leaf,
                                                    .cpumode = next->cpumode,
                                                    .ip = next->ip,
                                                    .comm = next->comm,
                                                    .decoded = next->decoded};
    *sample = &stream->sample;
    return 1;
}

/* ---- what ids stand for ------------------------------------------------------------------------------------------ */

/* NULL: there is no such frame. */
static const struct pf_frame_info *frame_at(const struct perfile_stream *stream, uint32_t id)
{
    return id < pf_profile_frame_count(stream->profile) ? pf_profile_frame(stream->profile, id) : NULL;
}

int perfile_stream_frame(const struct perfile_stream *stream, uint32_t id, struct perfile_frame *frame)
{
    return pf_describe_frame(frame_at(stream, id), pf_profile_is_by_address(stream->profile), frame);
}

const char *perfile_stream_label(struct perfile_stream *stream, uint32_t id)
{
    return pf_labels_get(&stream->labels, pf_profile_symbols(stream->profile), id, frame_at(stream, id));
}

const char *perfile_stream_comm_label(struct perfile_stream *stream, const char *comm)
{
    return pf_labels_get_comm(&stream->labels, comm);
}

int perfile_stream_module(const struct perfile_stream *stream, uint32_t id, struct perfile_module *module)
{
    return pf_describe_module(pf_profile_symbols(stream->profile), id, module);
}

void pf_profile_losses(const struct pf_profile *profile, struct perfile_losses *losses)
{
    const struct pf_profile_totals *totals = pf_profile_totals(profile);
    *losses = (struct perfile_losses){.samples = totals->samples,
                                      .filtered = totals->filtered,
                                      .lost = totals->lost,
                                      .unmapped = totals->unmapped,
                                      .unresolved = totals->unresolved,
                                      .truncated = totals->truncated + totals->full,
                                      .guessed = totals->guessed};
}

int perfile_stream_losses(const struct perfile_stream *stream, struct perfile_losses *losses)
{
    struct perfile_losses all;
    pf_profile_losses(stream->profile, &all);
    return pf_sized_give(losses, &all, sizeof(all));
}

/* ---- units ------------------------------------------------------------------------------------------------------- */

/* "cycles" of "cycles:u" and of "cpu/cycles/u"; NULL for names that are no word, such as "cpu/event=0x3c/". */
static const char *plain_name(const char *name, size_t *bytes)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    const char *slash = strchr(name, '/');
    name = slash ? slash + 1 : name;
    *bytes = strspn(name, word);
    const char end = name[*bytes];
    return *bytes && (slash ? end == '/' : !end || (end == ':' && !strchr(name + *bytes + 1, '_'))) ? name : NULL;
}

const char *perfile_event_unit(const struct perfile_event *event, char *text, size_t capacity)
{
    const struct perfile_attr *attr = event->attr;
    size_t bytes;
    const char *name = plain_name(event->name, &bytes);
    if (attr->type == PERFILE_TYPE_SOFTWARE &&
        (attr->config == PERFILE_COUNT_SW_CPU_CLOCK || attr->config == PERFILE_COUNT_SW_TASK_CLOCK))
        name = "ns", bytes = 2;
    else if (attr->type == PERFILE_TYPE_TRACEPOINT || !name)
        name = "events", bytes = 6;
    if (!capacity)
        return text;
    bytes = pf_min(bytes, capacity - 1);
    memcpy(text, name, bytes);
    text[bytes] = '\0';
    return text;
}
