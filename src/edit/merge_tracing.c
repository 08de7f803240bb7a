/* SPDX-License-Identifier: MIT */
/*
 * TRACING_DATA of several recordings: the first is copied as it is, and the formats that only others use are added to
 * it. One recording cannot state that an id means one tracepoint for some events and another one for others.
 */
#include <inttypes.h>

#include "base/error.h"
#include "edit/merge.h"

static bool bytes_of(struct perfile_reader *reader, struct perfile_bytes *blob)
{
    size_t bytes = reader->tracing_bytes;
    blob->data = reader->tracing_data;
    if (!blob->data && pf_feature_look(reader, PERFILE_FEATURE_TRACING_DATA, &blob->data, &bytes, NULL) < 0)
        return false;
    blob->bytes = bytes;
    return true;
}

static bool same_tracepoint(const struct perfile_tracepoint *a, const struct perfile_tracepoint *b)
{
    return strcmp(a->system, b->system) == 0 && strcmp(a->name, b->name) == 0 && strcmp(a->format, b->format) == 0;
}

/* What the output says about the id so far; NULL: nothing. */
static const struct perfile_tracepoint *find_known(const struct pf_merge *merge, uint64_t id, const char **owner)
{
    const struct perfile_tracing *unused;
    *owner = merge->tracing->name;
    for (size_t i = 0; i < merge->added_count; i++)
        if (merge->added[i].tracepoint->id == id) {
            *owner = merge->inputs[merge->added[i].input].name;
            return merge->added[i].tracepoint;
        }
    if (perfile_tracing_get(merge->tracing->reader, &unused, NULL) < 0)
        return NULL;
    return pf_tracing_find(merge->tracing->reader->tracing, id);
}

static int add_tracepoint(struct pf_merge *merge, const struct pf_merge_input *input,
                          const struct perfile_tracepoint *tracepoint, struct perfile_error *error)
{
    const char *owner;
    const struct perfile_tracepoint *known = find_known(merge, tracepoint->id, &owner);
    if (known && same_tracepoint(known, tracepoint))
        return 0;
    if (known)
        return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, "merge",
                       "tracepoint %" PRIu32 " is %s:%s in %s and %s:%s%s in %s: one recording cannot have both",
                       tracepoint->id, known->system, known->name, owner, tracepoint->system, tracepoint->name,
                       strcmp(known->name, tracepoint->name) ? "" : " with other fields", input->name);
    if (!PF_APPEND(merge->allocator, merge->added, merge->added_count, merge->added_capacity,
                   (struct pf_merge_added){tracepoint, input->number}))
        return pf_fail_memory(error, "tracing data");
    return 0;
}

static int fail_layout(const struct pf_merge *merge, const struct pf_merge_input *input, struct perfile_error *error)
{
    return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, "merge",
                   "the tracepoints of %s and %s have different byte orders or sizes of long, which one recording "
                   "cannot have, or their tracing data is damaged",
                   merge->tracing->name, input->name);
}

int pf_merge_take_tracing(struct pf_merge *merge, struct pf_merge_input *input, struct perfile_error *error)
{
    struct perfile_bytes base, blob;
    struct pf_tracing_systems in_base, in_blob;
    if (!bytes_of(input->reader, &blob))
        return 0;
    if (!merge->tracing) {
        merge->tracing = input;
        return 0;
    }
    if (merge->tracing == input || !bytes_of(merge->tracing->reader, &base) ||
        (base.bytes == blob.bytes && memcmp(base.data, blob.data, (size_t)blob.bytes) == 0))
        return 0;
    const bool complete = pf_tracing_find_systems(base.data, (size_t)base.bytes, &in_base) &&
                          pf_tracing_find_systems(blob.data, (size_t)blob.bytes, &in_blob);
    int result = 0;
    for (size_t i = 0; i < input->reader->event_count && result == 0; i++) {
        const struct perfile_event *event = &input->reader->events[i]->public;
        const struct perfile_tracepoint *tracepoint = perfile_tracepoint_find(input->reader, event);
        if (!tracepoint)
            continue;
        if (!complete || in_base.big_endian != in_blob.big_endian || in_base.long_bytes != in_blob.long_bytes)
            return fail_layout(merge, input, error);
        result = add_tracepoint(merge, input, tracepoint, error);
    }
    return result;
}

/* ---- the blob with more formats ---- */

static size_t added_bytes(const struct pf_merge *merge)
{
    size_t bytes = 0;
    for (size_t i = 0; i < merge->added_count; i++) {
        const struct perfile_tracepoint *tracepoint = merge->added[i].tracepoint;
        bytes += strlen(tracepoint->system) + 1 + 4 + 8 + strlen(tracepoint->format);
    }
    return bytes;
}

static void build_blob(const struct pf_merge *merge, const struct perfile_bytes *base,
                       const struct pf_tracing_systems *systems, struct pf_out *o)
{
    o->swap = systems->swap;
    pf_out_put(o, base->data, systems->start);
    pf_out_u32(o, systems->count + (uint32_t)merge->added_count);
    pf_out_put(o, base->data + systems->start + 4, systems->end - systems->start - 4);
    for (size_t i = 0; i < merge->added_count; i++) {
        const struct perfile_tracepoint *tracepoint = merge->added[i].tracepoint;
        pf_out_put(o, tracepoint->system, strlen(tracepoint->system) + 1);
        pf_out_u32(o, 1);
        pf_out_u64(o, strlen(tracepoint->format));
        pf_out_put(o, tracepoint->format, strlen(tracepoint->format));
    }
    pf_out_put(o, base->data + systems->end, base->bytes - systems->end);
}

int pf_merge_put_tracing(struct pf_merge *merge, struct perfile_error *error)
{
    struct perfile_bytes base;
    struct pf_tracing_systems systems;
    if (!merge->tracing || !bytes_of(merge->tracing->reader, &base))
        return 0;
    if (!merge->added_count)
        return pf_writer_set_feature(merge->writer, PERFILE_FEATURE_TRACING_DATA, base.data, (size_t)base.bytes, error);
    if (!pf_tracing_find_systems(base.data, (size_t)base.bytes, &systems))
        return pf_fail(error, PERFILE_ERROR_DAMAGED, PERFILE_NO_OFFSET, "tracing data", "that of %s is damaged",
                       merge->tracing->name);
    const size_t bytes = (size_t)base.bytes + added_bytes(merge);
    uint8_t *data = pf_new(merge->allocator, bytes);
    if (!data)
        return pf_fail_memory(error, "tracing data");
    struct pf_out o = pf_out_make(data, bytes, false);
    build_blob(merge, &base, &systems, &o);
    int result = pf_writer_set_feature(merge->writer, PERFILE_FEATURE_TRACING_DATA, data, bytes, error);
    pf_free(merge->allocator, data, bytes);
    return result;
}
