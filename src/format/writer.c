/* SPDX-License-Identifier: MIT */
/* Making recordings: the container, its events, and records from structs. */
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/sized.h"
#include "format/attr.h"
#include "format/layout.h"
#include "format/writer.h"
#include "schema/schema.h"

enum {
    PIPE_HEADER_BYTES = 16,
    ATTR_BYTES_USUAL = 112, /* of Linux 4.1: all readers that matter know it */
    LEVEL_MAX = 22,
    IDS_OF_RECORD = 4000,
};

/* ---- failures ---- */

int pf_writer_keep(struct perfile_writer *writer, int result, const struct perfile_error *error)
{
    if (result < 0 && !writer->failure.code)
        writer->failure = *error;
    return result;
}

int pf_writer_failed(const struct perfile_writer *writer, struct perfile_error *error)
{
    if (writer->failure.code)
        *error = writer->failure;
    return writer->failure.code;
}

void pf_writer_diagnose(const struct perfile_writer *writer, const char *rule, const char *message)
{
    const struct perfile_diagnostic diagnostic = {
        .rule = rule, .severity = PERFILE_LOSS, .offset = PERFILE_NO_OFFSET, .message = message};
    if (writer->options.diagnostic)
        writer->options.diagnostic(writer->options.diagnostic_context, &diagnostic);
}

/* ---- opening ---- */

static int check_options(const struct perfile_writer_options *options, struct perfile_error *error)
{
    const char *what = NULL;
    if (options->mode < PERFILE_MODE_FILE || options->mode > PERFILE_MODE_DIRECTORY)
        what = "mode is not one of enum perfile_mode";
    else if (options->byte_order < PERFILE_ORDER_NATIVE || options->byte_order > PERFILE_ORDER_BIG)
        what = "byte_order is not one of enum perfile_byte_order";
    else if (options->live && options->mode != PERFILE_MODE_FILE)
        what = "only a file can be live";
    else if (options->compression < 0 || options->compression > LEVEL_MAX)
        what = "compression levels are 1 to 22, 0 for none";
    return what ? pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "writer options", "%s", what) : 0;
}

static int make_writer(const struct perfile_writer_options *options, struct perfile_writer **writer,
                       struct perfile_error *error)
{
    struct perfile_writer_options all = PERFILE_WRITER_OPTIONS_INIT;
    *writer = NULL;
    int result = pf_sized_take(&all, sizeof(all), options, "writer options", error);
    if (result == 0)
        result = check_options(&all, error);
    if (result < 0)
        return result;
    const struct perfile_allocator *allocator = pf_allocator_or_default(all.allocator);
    struct perfile_writer *made = pf_new(allocator, sizeof(*made));
    if (!made)
        return pf_fail_memory(error, "writer");
    made->options = all;
    made->allocator = allocator;
    made->big_endian =
        all.byte_order == PERFILE_ORDER_NATIVE ? PF_NATIVE_BIG_ENDIAN : all.byte_order == PERFILE_ORDER_BIG;
    made->swap = made->big_endian != PF_NATIVE_BIG_ENDIAN;
    made->folder = (struct pf_folder){.parent = -1, .directory = -1};
    pf_arena_open(&made->arena, allocator);
    result = pf_writer_open_streams(made, 1, error);
    if (result < 0) {
        perfile_writer_close(made);
        return result;
    }
    *writer = made;
    return 0;
}

static int end_opening(struct perfile_writer **writer, int result, struct perfile_error *error)
{
    struct pf_writer_stream *stream = &(*writer)->streams[0];
    stream->open = result == 0;
    if (result == 0 && (*writer)->options.mode != PERFILE_MODE_PIPE && !stream->sink.seekable)
        result = pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "output",
                         "only pipe mode can be written to an output that cannot seek");
    /* a stream begins at once: what it is made in is not needed for anything else yet */
    if (result == 0 && pf_writer_describes_now(*writer))
        result = pf_writer_start(*writer, error);
    if (result < 0) {
        perfile_writer_close(*writer);
        *writer = NULL;
    }
    return result;
}

int perfile_writer_open_path(const char *path, const struct perfile_writer_options *options,
                             struct perfile_writer **writer, struct perfile_error *error)
{
    int result = make_writer(options, writer, error);
    if (result < 0)
        return result;
    struct pf_sink *sink = &(*writer)->streams[0].sink;
    if ((*writer)->options.mode == PERFILE_MODE_DIRECTORY && strcmp(path, "-") == 0) {
        result = pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "output",
                         "a directory cannot be written to standard output");
    } else if ((*writer)->options.mode == PERFILE_MODE_DIRECTORY) {
        result = pf_folder_open(&(*writer)->folder, (*writer)->allocator, path, error);
        if (result == 0)
            result = pf_sink_open_in(sink, (*writer)->allocator, (*writer)->folder.directory, "data", error);
    } else {
        result = pf_sink_open_path(sink, (*writer)->allocator, path, error);
    }
    return end_opening(writer, result, error);
}

int perfile_writer_open_fd(int fd, const struct perfile_writer_options *options, struct perfile_writer **writer,
                           struct perfile_error *error)
{
    int result = make_writer(options, writer, error);
    if (result < 0)
        return result;
    if ((*writer)->options.mode == PERFILE_MODE_DIRECTORY)
        result = pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "perfile_writer_open_fd",
                         "a directory needs a path");
    else
        result = pf_sink_open_fd(&(*writer)->streams[0].sink, (*writer)->allocator, fd, error);
    return end_opening(writer, result, error);
}

int perfile_writer_open_sink(const struct perfile_sink *sink, const struct perfile_writer_options *options,
                             struct perfile_writer **writer, struct perfile_error *error)
{
    int result = make_writer(options, writer, error);
    if (result < 0)
        return result;
    if (sink && sink->write)
        result =
            pf_sink_open_callback(&(*writer)->streams[0].sink, (*writer)->allocator, sink->write, sink->context, error);
    else
        result = pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "perfile_writer_open_sink", "no sink given");
    return end_opening(writer, result, error);
}

/* A live file whose disk is full ends somewhere in a record: read it to find out where. */
static void cut_to_complete(const struct perfile_writer *writer)
{
    const struct pf_sink *sink = &writer->streams[0].sink;
    const struct perfile_record *record;
    struct perfile_reader *reader;
    uint64_t end = 0;
    if (lseek(sink->fd, 0, SEEK_SET) < 0 || perfile_open_fd(sink->fd, NULL, &reader, NULL) < 0)
        return;
    while (perfile_reader_next(reader, &record, NULL) > 0)
        if (!record->damaged && !record->compressed)
            end = record->offset + record->bytes + record->payload_bytes;
    perfile_close(reader);
    if (end && ftruncate(sink->fd, (off_t)end) < 0)
        return; /* readers find the end all the same */
}

void perfile_writer_close(struct perfile_writer *writer)
{
    if (!writer)
        return;
    const struct perfile_allocator *allocator = writer->allocator;
    if (writer->options.live && writer->failure.code && writer->streams[0].sink.fd >= 0 &&
        !writer->streams[0].sink.sealed)
        cut_to_complete(writer);
    pf_writer_close_streams(writer);
    pf_folder_close(&writer->folder);
    for (size_t i = 0; i < writer->feature_count; i++)
        pf_free(allocator, writer->features[i].data, writer->features[i].capacity);
    pf_free(allocator, writer->features, writer->feature_capacity * sizeof(*writer->features));
    pf_free(allocator, writer->events, writer->event_capacity * sizeof(*writer->events));
    pf_free(allocator, writer->auxtrace, writer->auxtrace_capacity * sizeof(*writer->auxtrace));
    pf_arena_close(&writer->arena);
    pf_free(allocator, writer, sizeof(*writer));
}

const struct perfile_writer_counts *perfile_writer_progress(const struct perfile_writer *writer)
{
    struct perfile_writer_counts *counts = (struct perfile_writer_counts *)(uintptr_t)&writer->counts;
    counts->bytes = 0;
    for (size_t i = 0; i < writer->stream_count; i++)
        counts->bytes += writer->streams[i].sink.bytes;
    return counts;
}

/* ---- events ---- */

/* Ids of an event from `first` on, which do not fit into the record of the event, in simpleperf's records. */
static int put_id_records(struct perfile_writer *writer, size_t index, size_t first, struct perfile_error *error)
{
    const struct pf_writer_event *event = &writer->events[index];
    int result = 0;
    for (size_t count; first < event->id_count && result == 0; first += count) {
        struct pf_out o = pf_out_make(writer->record, PF_RECORD_CAPACITY, writer->swap);
        count = (size_t)pf_min(event->id_count - first, IDS_OF_RECORD);
        pf_out_u32(&o, PERFILE_RECORD_SIMPLEPERF_EVENT_ID);
        pf_out_u16(&o, 0);
        pf_out_u16(&o, (uint16_t)(16 + 16 * count));
        pf_out_u64(&o, count);
        for (size_t i = 0; i < count; i++) {
            pf_out_u64(&o, index);
            pf_out_u64(&o, event->ids[first + i]);
        }
        result = pf_writer_put_plain(writer, writer->record, pf_out_bytes_used(&o), error);
    }
    return result;
}

static int put_event_record(struct perfile_writer *writer, size_t index, struct perfile_error *error)
{
    const struct pf_writer_event *event = &writer->events[index];
    struct pf_out o = pf_out_make(writer->record, PF_RECORD_CAPACITY, writer->swap);
    const size_t before = 8 + (size_t)pf_align8(event->attr_bytes),
                 fitting = (size_t)pf_min(event->id_count, (UINT16_MAX - before) / 8), bytes = before + 8 * fitting;
    if (fitting < event->id_count && writer->options.mode == PERFILE_MODE_PIPE && !writer->keeps_large)
        return pf_fail(error, PERFILE_ERROR_LIMIT, PERFILE_NO_OFFSET, "event",
                       "%zu ids do not fit in a record of pipe mode", event->id_count);
    pf_out_u32(&o, PERFILE_RECORD_HEADER_ATTR);
    pf_out_u16(&o, 0);
    pf_out_u16(&o, (uint16_t)bytes);
    pf_out_put(&o, event->attr, event->attr_bytes);
    pf_out_align(&o, 8);
    for (size_t i = 0; i < fitting; i++)
        pf_out_u64(&o, event->ids[i]);
    int result = pf_writer_put_plain(writer, writer->record, bytes, error);
    if (result == 0 && event->name)
        result = pf_writer_put_name(writer, event, error);
    return result < 0 ? result : put_id_records(writer, index, fitting, error);
}

int pf_writer_add_ids(struct perfile_writer *writer, size_t index, const uint64_t *ids, size_t count,
                      struct perfile_error *error)
{
    struct pf_writer_event *event = &writer->events[index];
    const size_t before = event->id_count;
    uint64_t *all = pf_arena_new(&writer->arena, (before + count) * sizeof(*all));
    if (!all)
        return pf_fail_memory(error, "ids");
    if (before)
        memcpy(all, event->ids, before * sizeof(*all));
    memcpy(all + before, ids, count * sizeof(*all));
    event->ids = all;
    event->id_count += count;
    writer->events_in_front = 0; /* what stands there has other ids */
    return pf_writer_describes_now(writer) ? put_id_records(writer, index, before, error) : 0;
}

int pf_writer_put_name(struct perfile_writer *writer, const struct pf_writer_event *event, struct perfile_error *error)
{
    if (!event->id_count)
        return 0; /* such a record needs one */
    const struct perfile_event_update update = {.update_type = 2, .id = event->ids[0], .name = event->name};
    const struct pf_encoding encoding = {.type = PERFILE_RECORD_EVENT_UPDATE, .body_bytes = PF_ENCODE_ALL};
    struct pf_out o = pf_out_make(writer->record, PF_RECORD_CAPACITY, writer->swap);
    if (!pf_encode_record(&encoding, &update, &o))
        return pf_fail(error, PERFILE_ERROR_LIMIT, PERFILE_NO_OFFSET, "event", "name too long");
    return pf_writer_put_plain(writer, writer->record, pf_out_bytes_used(&o), error);
}

static bool copy_event(struct perfile_writer *writer, const struct pf_writer_event *from, struct pf_writer_event *to)
{
    *to = *from;
    to->attr = (uint8_t *)pf_arena_text(&writer->arena, from->attr, from->attr_bytes);
    to->ids = pf_arena_new(&writer->arena, from->id_count * sizeof(*to->ids) + 1);
    to->name = from->name ? pf_arena_text(&writer->arena, from->name, strlen(from->name)) : NULL;
    if (!to->attr || !to->ids || (from->name && !to->name))
        return false;
    if (from->id_count)
        memcpy(to->ids, from->ids, from->id_count * sizeof(*to->ids));
    /* readers go by the size that is stated */
    struct pf_out size = pf_out_make(to->attr + 4, 4, writer->swap);
    if (pf_attr_stated_bytes(to->attr, writer->swap) != to->attr_bytes)
        pf_out_u32(&size, to->attr_bytes);
    return true;
}

int pf_writer_add_event(struct perfile_writer *writer, const struct pf_writer_event *event,
                        const struct perfile_attr *attr, bool in_stream, struct perfile_error *error)
{
    struct pf_writer_event copy;
    if (!copy_event(writer, event, &copy) || !pf_grow(writer->allocator, &writer->events, &writer->event_capacity,
                                                      writer->event_count + 1, sizeof(*writer->events)))
        return pf_fail_memory(error, "event");
    pf_plan_make(&copy.plan, attr, writer->swap, writer->big_endian);
    writer->events[writer->event_count++] = copy;
    return in_stream || !pf_writer_describes_now(writer) ? 0 : put_event_record(writer, writer->event_count - 1, error);
}

/* The smallest attr that holds all that is set. */
static uint32_t attr_bytes_of(const struct perfile_attr *attr)
{
    uint8_t complete[256];
    struct pf_out o = pf_out_make(complete, sizeof(complete), false);
    pf_encode_attr(attr, sizeof(complete), PF_NATIVE_BIG_ENDIAN, &o);
    uint32_t bytes = sizeof(complete);
    while (bytes > ATTR_BYTES_USUAL && !complete[bytes - 1])
        bytes--;
    return (uint32_t)pf_align8(bytes);
}

int perfile_writer_add_event(struct perfile_writer *writer, const struct perfile_event_spec *event, uint32_t *index,
                             struct perfile_error *error)
{
    struct perfile_error here;
    error = error ? error : &here;
    struct perfile_event_spec all = PERFILE_EVENT_SPEC_INIT;
    struct perfile_attr wanted = {0};
    int result = pf_writer_failed(writer, error);
    if (result < 0)
        return result;
    result = event ? pf_sized_take(&all, sizeof(all), event, "event", error)
                   : pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "event", "missing");
    if (result == 0 && !all.attr)
        result = pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "event", "there is no attr");
    if (result == 0)
        result = pf_measured_take(&wanted, sizeof(wanted), all.attr, all.attr_bytes, "attr", error);
    if (result < 0)
        return pf_writer_keep(writer, result, error);
    uint8_t attr[256];
    struct pf_out o = pf_out_make(attr, sizeof(attr), writer->swap);
    uint32_t bytes = wanted.size ? wanted.size : attr_bytes_of(&wanted);
    if (bytes < PF_ATTR_SIZE_MIN || bytes > sizeof(attr) || bytes % 8) {
        result = pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "event", "attr.size is %u", bytes);
        return pf_writer_keep(writer, result, error);
    }
    pf_encode_attr(&wanted, bytes, writer->big_endian, &o);
    const struct pf_writer_event made = {.attr = attr,
                                         .attr_bytes = bytes,
                                         .ids = (uint64_t *)(uintptr_t)all.ids,
                                         .id_count = all.id_count,
                                         .name = all.name};
    result = pf_writer_add_event(writer, &made, &wanted, false, error);
    if (result == 0 && index)
        *index = (uint32_t)writer->event_count - 1;
    return pf_writer_keep(writer, result, error);
}

/* Readers take one attr after the other by its own size: all have the size of the largest. */
static int level_attrs(struct perfile_writer *writer, struct perfile_error *error)
{
    uint32_t max = 0;
    for (size_t i = 0; i < writer->event_count; i++)
        max = (uint32_t)pf_max(max, writer->events[i].attr_bytes);
    for (size_t i = 0; i < writer->event_count; i++) {
        struct pf_writer_event *event = &writer->events[i];
        if (event->attr_bytes == max)
            continue;
        uint8_t *longer = pf_arena_new(&writer->arena, max);
        if (!longer)
            return pf_fail_memory(error, "event");
        memcpy(longer, event->attr, event->attr_bytes);
        struct pf_out o = pf_out_make(longer + 4, 4, writer->swap);
        pf_out_u32(&o, max);
        event->attr = longer;
        event->attr_bytes = max;
    }
    return 0;
}

/* Writes the ids of all events, then the attrs with the offsets of their ids. */
static int put_events(struct perfile_writer *writer, struct perfile_error *error)
{
    struct pf_sink *sink = &writer->streams[0].sink;
    uint64_t ids_at = sink->bytes;
    int result = level_attrs(writer, error);
    for (size_t i = 0; i < writer->event_count && result == 0; i++)
        for (size_t j = 0; j < writer->events[i].id_count && result == 0; j++) {
            uint64_t id = pf_load64(&writer->events[i].ids[j], writer->swap);
            result = pf_sink_put(sink, &id, sizeof(id), error);
        }
    writer->attrs.offset = sink->bytes;
    for (size_t i = 0; i < writer->event_count && result == 0; i++) {
        const struct pf_writer_event *event = &writer->events[i];
        uint8_t section[16];
        struct pf_out o = pf_out_make(section, sizeof(section), writer->swap);
        pf_out_u64(&o, ids_at);
        pf_out_u64(&o, 8 * event->id_count);
        ids_at += 8 * event->id_count;
        result = pf_sink_put(sink, event->attr, event->attr_bytes, error);
        if (result == 0)
            result = pf_sink_put(sink, section, sizeof(section), error);
    }
    writer->attrs.bytes = sink->bytes - writer->attrs.offset;
    writer->events_in_front = writer->event_count;
    return result;
}

int pf_writer_put_front(struct perfile_writer *writer, struct perfile_error *error)
{
    uint8_t header[8];
    struct pf_out o = pf_out_make(header, sizeof(header), writer->swap);
    size_t bytes = sizeof(header);
    int result = level_attrs(writer, error);
    for (size_t i = 0; i < writer->event_count; i++)
        bytes += writer->events[i].attr_bytes + sizeof(struct perfile_section) + 8 * writer->events[i].id_count;
    if (result < 0 || !writer->event_count || bytes > UINT16_MAX)
        return result; /* too many: they will stand at the end */
    pf_out_u32(&o, PERFILE_RECORD_FINISHED_ROUND);
    pf_out_u16(&o, 0);
    pf_out_u16(&o, (uint16_t)bytes);
    result = pf_sink_put(&writer->streams[0].sink, header, sizeof(header), error);
    return result < 0 ? result : put_events(writer, error);
}

/* ---- the container ---- */

static void make_header(const struct perfile_writer *writer, bool stream, uint64_t data_bytes, const uint64_t bitmap[4],
                        uint8_t header[PF_FILE_HEADER_BYTES])
{
    struct pf_out o = pf_out_make(header, PF_FILE_HEADER_BYTES, writer->swap);
    memset(header, 0, PF_FILE_HEADER_BYTES);
    pf_out_put(&o, writer->big_endian ? "2ELIFREP" : "PERFILE2", 8);
    pf_out_u64(&o, stream ? PIPE_HEADER_BYTES : PF_FILE_HEADER_BYTES);
    pf_out_u64(&o, (writer->event_count ? writer->events[0].attr_bytes : ATTR_BYTES_USUAL) + 16);
    pf_out_u64(&o, writer->attrs.offset);
    pf_out_u64(&o, writer->attrs.bytes);
    pf_out_u64(&o, writer->data_start);
    pf_out_u64(&o, data_bytes);
    pf_out_zeros(&o, 16); /* event types, long gone */
    for (size_t i = 0; i < 4; i++)
        pf_out_u64(&o, bitmap[i]);
}

int pf_writer_start(struct perfile_writer *writer, struct perfile_error *error)
{
    static const uint64_t nothing[4];
    uint8_t header[PF_FILE_HEADER_BYTES];
    struct pf_sink *sink = &writer->streams[0].sink;
    const bool stream = pf_writer_describes_now(writer);
    writer->started = true;
    make_header(writer, stream, 0, nothing, header);
    int result = pf_sink_put(sink, header, stream ? PIPE_HEADER_BYTES : PF_FILE_HEADER_BYTES, error);
    if (result == 0 && !stream)
        result = put_events(writer, error);
    writer->data_start = sink->bytes;
    return result;
}

/* Data of no fixed size is flushed, so the header can say where all things are. */
static int end_file(struct perfile_writer *writer, struct perfile_error *error)
{
    struct pf_sink *sink = &writer->streams[0].sink;
    uint64_t data_bytes = sink->bytes - writer->data_start, bitmap[4] = {0};
    uint8_t header[PF_FILE_HEADER_BYTES];
    int result = level_attrs(writer, error);
    if (result == 0)
        result = pf_writer_put_features(writer, bitmap, error);
    if (result == 0 && writer->events_in_front != writer->event_count)
        result = put_events(writer, error);
    make_header(writer, false, data_bytes, bitmap, header);
    return result < 0 ? result : pf_sink_patch(sink, 0, header, sizeof(header), error);
}

/* Data of size 0 is what recorders leave that were killed: a recording without records gets one that says nothing. */
static int avoid_emptiness(struct perfile_writer *writer, struct perfile_error *error)
{
    struct pf_out o = pf_out_make(writer->record, PF_RECORD_CAPACITY, writer->swap);
    if (writer->options.mode == PERFILE_MODE_PIPE || writer->streams[0].sink.bytes != writer->data_start ||
        writer->streams[0].batch_bytes)
        return 0;
    pf_out_u32(&o, PERFILE_RECORD_FINISHED_ROUND);
    pf_out_u16(&o, 0);
    pf_out_u16(&o, 8);
    return pf_sink_put(&writer->streams[0].sink, writer->record, 8, error);
}

static int finish(struct perfile_writer *writer, struct perfile_error *error)
{
    const bool sync = !writer->options.no_sync;
    int result = writer->started ? 0 : pf_writer_start(writer, error);
    if (result == 0 && writer->options.live && !writer->data_started)
        result = pf_writer_begin_data(writer, error);
    if (result == 0)
        result = avoid_emptiness(writer, error);
    /* perf opens no directory that has only `data` */
    if (result == 0 && writer->options.mode == PERFILE_MODE_DIRECTORY && writer->stream_count < 2)
        result = perfile_writer_part(writer, 1, error);
    if (result == 0 && writer->payload_left)
        result = pf_writer_fail_payload(writer, error);
    for (size_t i = 0; i < writer->stream_count && result == 0; i++)
        result = pf_writer_flush_frame(&writer->streams[i], writer, error);
    /* a live file that cannot be finished stays the stream that it is */
    if (result == 0)
        result = pf_sink_flush(&writer->streams[0].sink, error);
    if (result == 0)
        writer->streams[0].sink.sealed = writer->streams[0].sink.bytes;
    if (result == 0 && writer->options.mode != PERFILE_MODE_PIPE)
        result = end_file(writer, error);
    for (size_t i = writer->stream_count; i-- > 0 && result == 0;)
        if (writer->streams[i].open)
            result = pf_sink_commit(&writer->streams[i].sink, sync, error);
    if (result == 0 && writer->options.mode == PERFILE_MODE_DIRECTORY)
        result = pf_folder_commit(&writer->folder, sync, error);
    return result;
}

int perfile_writer_flush(struct perfile_writer *writer, struct perfile_error *error)
{
    struct perfile_error here;
    error = error ? error : &here;
    int result = pf_writer_failed(writer, error);
    for (size_t i = 0; i < writer->stream_count && result == 0; i++) {
        result = pf_writer_flush(&writer->streams[i], writer, error);
        if (result == 0 && writer->streams[i].open)
            result = pf_sink_flush(&writer->streams[i].sink, error);
    }
    return pf_writer_keep(writer, result, error);
}

int perfile_writer_publish(struct perfile_writer *writer, struct perfile_error *error)
{
    struct perfile_error here;
    error = error ? error : &here;
    int result = pf_writer_failed(writer, error);
    if (result == 0 && !writer->options.live)
        result = pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "perfile_writer_publish",
                         "the writer is not live");
    if (result == 0)
        result = perfile_writer_flush(writer, error);
    if (result == 0)
        result = pf_sink_name(&writer->streams[0].sink, error);
    return pf_writer_keep(writer, result, error);
}

int perfile_writer_finish(struct perfile_writer *writer, struct perfile_error *error)
{
    struct perfile_error here;
    error = error ? error : &here;
    int result = pf_writer_failed(writer, error);
    if (result == 0 && writer->finished)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "perfile_writer_finish", "called twice");
    writer->finished = true;
    return pf_writer_keep(writer, result < 0 ? result : finish(writer, error), error);
}

/* ---- records ---- */

int perfile_writer_records(struct perfile_writer *writer, const void *data, size_t bytes, struct perfile_error *error)
{
    struct perfile_error here;
    error = error ? error : &here;
    int result = pf_writer_failed(writer, error);
    return result < 0 ? result : pf_writer_keep(writer, pf_writer_put_many(writer, data, bytes, error), error);
}

int perfile_writer_raw(struct perfile_writer *writer, const void *data, size_t bytes, struct perfile_error *error)
{
    struct perfile_error here;
    error = error ? error : &here;
    int result = pf_writer_failed(writer, error);
    if (result < 0)
        return result;
    if (bytes < 8 || bytes > UINT16_MAX || pf_load16((const uint8_t *)data + 6, writer->swap) != bytes)
        result = pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "perfile_writer_raw",
                         "its size is not %zu bytes", bytes);
    else
        result = pf_writer_put(writer, data, bytes, error);
    return pf_writer_keep(writer, result, error);
}

static int encode(struct perfile_writer *writer, const struct pf_encoding *encoding, const void *record,
                  struct perfile_error *error)
{
    struct pf_out o = pf_out_make(writer->record, PF_RECORD_CAPACITY, writer->swap);
    const char *name = perfile_record_name(encoding->type);
    if (!pf_encode_record(encoding, record, &o))
        return pf_fail(error, PERFILE_ERROR_LIMIT, PERFILE_NO_OFFSET, name, "larger than 65,535 bytes");
    return pf_writer_put(writer, writer->record, pf_out_bytes_used(&o), error);
}

/* The caller was built with the header of another version. */
static int encode_other(struct perfile_writer *writer, const struct pf_encoding *encoding, const void *record,
                        size_t bytes, struct perfile_error *error)
{
    union pf_any_record any;
    const int result = pf_layout_take(&any, encoding->type, record, bytes, error);
    return result < 0 ? result : encode(writer, encoding, &any, error);
}

int perfile_writer_record(struct perfile_writer *writer, uint32_t type, uint16_t misc, const void *record, size_t bytes,
                          const struct perfile_sample_id *id, struct perfile_error *error)
{
    struct perfile_error here;
    error = error ? error : &here;
    const struct pf_record_info *info = pf_record_info(type);
    struct perfile_sample_id trailer = PERFILE_SAMPLE_ID_INIT;
    const struct pf_encoding encoding = {.type = type,
                                         .misc = misc,
                                         .plan = writer->event_count ? &writer->events[0].plan : NULL,
                                         .id = &trailer,
                                         .body_bytes = PF_ENCODE_ALL,
                                         .big_endian = writer->big_endian};
    int result = pf_writer_failed(writer, error);
    if (result < 0)
        return result;
    if (!info || type == PERFILE_RECORD_SAMPLE)
        result = pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "perfile_writer_record",
                         "records of type %u cannot be written from a struct", type);
    else
        result = pf_sized_take(&trailer, sizeof(trailer), id, "sample_id", error);
    if (result == 0)
        result = bytes == pf_layout_struct_bytes(type) ? encode(writer, &encoding, record, error)
                                                       : encode_other(writer, &encoding, record, bytes, error);
    return pf_writer_keep(writer, result, error);
}

static int put_sample(struct perfile_writer *writer, uint32_t index, uint16_t misc, const struct perfile_sample *sample,
                      struct perfile_error *error)
{
    struct pf_out o = pf_out_make(writer->record, PF_RECORD_CAPACITY, writer->swap);
    if (index >= writer->event_count)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "perfile_writer_sample", "no such event");
    if (!pf_encode_sample(&writer->events[index].plan, misc, sample, &o))
        return pf_fail(error, PERFILE_ERROR_LIMIT, PERFILE_NO_OFFSET, "SAMPLE record", "larger than 65,535 bytes");
    return pf_writer_put(writer, writer->record, pf_out_bytes_used(&o), error);
}

/* The caller was built with the header of another version. */
static int put_sample_of_other(struct perfile_writer *writer, uint32_t index, uint16_t misc,
                               const struct perfile_sample *sample, struct perfile_error *error)
{
    struct perfile_sample all = PERFILE_SAMPLE_INIT;
    int result = pf_sized_take(&all, sizeof(all), sample, "sample", error);
    return result < 0 ? result : put_sample(writer, index, misc, &all, error);
}

int perfile_writer_sample(struct perfile_writer *writer, uint32_t index, uint16_t misc,
                          const struct perfile_sample *sample, struct perfile_error *error)
{
    struct perfile_error here;
    error = error ? error : &here;
    int result = pf_writer_failed(writer, error);
    if (result < 0)
        return result;
    result = sample->size == sizeof(*sample) ? put_sample(writer, index, misc, sample, error)
                                             : put_sample_of_other(writer, index, misc, sample, error);
    return pf_writer_keep(writer, result, error);
}
