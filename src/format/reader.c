/* SPDX-License-Identifier: MIT */
#include "format/reader.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/counted.h"
#include "base/error.h"
#include "base/sized.h"
#include "base/text.h"
#include "format/attr.h"

enum { DIAGNOSTICS_KEPT = 4096 };

/* Keeps a copy; a diagnostic that cannot be kept was counted all the same. */
static void keep_diagnostic(struct perfile_reader *reader, const struct perfile_diagnostic *seen)
{
    if (reader->diagnostic_count >= DIAGNOSTICS_KEPT ||
        !pf_grow(reader->allocator, &reader->diagnostics, &reader->diagnostic_capacity, reader->diagnostic_count + 1,
                 sizeof(*reader->diagnostics)))
        return;
    struct perfile_diagnostic kept = *seen;
    kept.message = pf_arena_text(&reader->arena, seen->message, strlen(seen->message));
    if (kept.message)
        reader->diagnostics[reader->diagnostic_count++] = kept;
}

const struct perfile_diagnostic *perfile_diagnostic_get(const struct perfile_reader *reader, size_t index)
{
    return index < reader->diagnostic_count ? &reader->diagnostics[index] : NULL;
}

int pf_diagnose(struct perfile_reader *reader, const struct pf_part *part, const struct perfile_diagnostic *diagnostic,
                struct perfile_error *error)
{
    struct perfile_diagnostic seen = *diagnostic;
    seen.file = part && part->number ? part->name : NULL;
    uint64_t *const counters[] = {&reader->counts.notes, &reader->counts.warnings, &reader->counts.losses};
    (*counters[seen.severity])++;
    keep_diagnostic(reader, &seen);
    if (reader->options.diagnostic && !reader->muted)
        reader->options.diagnostic(reader->options.diagnostic_context, &seen);
    if (!reader->options.strict || seen.severity != PERFILE_LOSS)
        return 0;
    /* the message of a diagnostic begins with its offset already */
    pf_fail(error, PERFILE_ERROR_DAMAGED, PERFILE_NO_OFFSET, seen.rule, "%s", seen.message);
    if (error)
        error->offset = seen.offset;
    return PERFILE_ERROR_DAMAGED;
}

struct pf_layout pf_layout_of(const struct perfile_reader *reader, const struct perfile_record *record)
{
    const struct pf_event *event = (const struct pf_event *)(const void *)record->event;
    struct pf_layout layout = {.plan = event ? &event->plan : NULL,
                               .feature = {.allocator = reader->allocator, .big_endian = reader->file.big_endian},
                               .swap = reader->file.swapped};
    return layout;
}

/* ---- compressed records ---- */

/* Where the compressed bytes of a record are. */
static bool compressed_bytes(const struct perfile_reader *reader, const struct perfile_record *record, size_t *at,
                             size_t *bytes)
{
    if (record->type == PERFILE_RECORD_COMPRESSED) {
        *at = 8;
        *bytes = record->bytes - 8;
        return true;
    }
    *at = 16;
    uint64_t stated = record->bytes >= 16 ? pf_load64(record->data + 8, reader->file.swapped) : 0;
    /* writers that never set data_size (6.15 to 7.1 with --aio) mean all of the record */
    *bytes = stated ? (size_t)pf_min(stated, record->bytes - 16) : record->bytes - 16;
    return record->bytes >= 16 && stated <= record->bytes - 16;
}

static int fill_inflated(void *context, uint64_t offset, void *to, size_t bytes, size_t *got,
                         struct perfile_error *error)
{
    struct pf_part *part = context;
    (void)offset; /* the window asks for one byte after the other */
    *got = 0;
    if (part->broken)
        return 0;
    int result = pf_inflate_pull(part->inflate, to, bytes, got, error);
    if (result == PERFILE_ERROR_COMPRESSION) {
        part->broken = true;
        return 0;
    }
    part->inflated_of_record += *got;
    return result;
}

static int open_inflated(struct perfile_reader *reader, struct pf_part *part, struct perfile_error *error)
{
    int result = pf_inflate_open(&part->inflate, reader->allocator, error);
    if (result < 0)
        return result;
    if (pf_window_open(&part->inflated, reader->allocator, fill_inflated, part, false) < 0)
        return pf_fail_memory(error, "compressed records");
    part->inflated_frame = (struct pf_frame){
        .window = &part->inflated, .end = UINT64_MAX, .compressed = true, .open_ended = true, .step = 8};
    return 0;
}

static int report_broken(struct perfile_reader *reader, struct pf_part *part, const struct perfile_record *record,
                         struct perfile_error *error)
{
    char message[160];
    snprintf(message, sizeof(message), "0x%" PRIx64 ": a compressed record of %u bytes cannot be inflated",
             record->offset, record->bytes);
    const struct perfile_diagnostic loss = {.rule = "compressed-data",
                                            .severity = PERFILE_LOSS,
                                            .offset = record->offset,
                                            .length = record->bytes,
                                            .message = message};
    reader->counts.bytes_lost += record->bytes;
    return pf_diagnose(reader, part, &loss, error);
}

/* Hands a compressed record to the stream of its part. */
static int start_inflating(struct perfile_reader *reader, struct pf_part *part, const struct perfile_record *record,
                           struct perfile_error *error)
{
    size_t at, bytes;
    if (part->broken || !compressed_bytes(reader, record, &at, &bytes)) {
        part->broken = true; /* a piece of the stream is missing from here on */
        return report_broken(reader, part, record, error);
    }
    int result = part->inflate ? 0 : open_inflated(reader, part, error);
    if (result == 0)
        result = pf_inflate_push(part->inflate, record->data + at, bytes, error);
    part->container = record->offset;
    part->container_bytes = record->bytes;
    part->inflated_of_record = 0;
    part->inflating = result == 0;
    return result;
}

/* The next record of what the last compressed record inflates to; 0: another one is needed. */
static int next_inflated(struct perfile_reader *reader, struct pf_part *part, struct perfile_record *record,
                         struct perfile_error *error)
{
    bool was_broken = part->broken;
    int result = pf_frame_next(reader, part, &part->inflated_frame, record, error);
    if (part->inflated_of_record > reader->options.limit_record_bytes)
        return pf_fail(error, PERFILE_ERROR_LIMIT, part->container, "compressed record",
                       "it inflates to more than limit_record_bytes, %" PRIu64, reader->options.limit_record_bytes);
    if (part->broken && !was_broken) {
        const struct perfile_record container = {.offset = part->container, .bytes = part->container_bytes};
        int reported = report_broken(reader, part, &container, error);
        if (reported < 0)
            return reported;
    }
    if (result == 0) {
        part->inflating = false;
        reader->counts.inflated_bytes += part->inflated_of_record;
    }
    return result;
}

/* What is left of the inflated stream when no more compressed records follow. */
static int finish_inflated(struct perfile_reader *reader, struct pf_part *part, struct perfile_record *record,
                           struct perfile_error *error)
{
    if (!part->inflate || !part->inflated_frame.open_ended)
        return 0;
    part->inflated_frame.open_ended = false;
    part->inflated_frame.end = part->inflated.offset + part->inflated.bytes;
    if (part->inflated_frame.at >= part->inflated_frame.end)
        return pf_frame_finish(reader, part, &part->inflated_frame, error);
    part->inflating = true;
    return next_inflated(reader, part, record, error);
}

/* ---- parts ---- */

/*
 * The record and its payload come from one window, which moves and grows while the payload is read: the bytes of the
 * record itself are kept elsewhere until the next record of this part.
 */
static int keep_record(struct perfile_reader *reader, struct pf_part *part, struct perfile_record *record,
                       struct perfile_error *error)
{
    if (!record->payload_bytes || part->source.memory)
        return 0;
    if (!pf_grow(reader->allocator, &part->kept, &part->kept_capacity, record->bytes, 1))
        return pf_fail_memory(error, "record");
    memcpy(part->kept, record->data, record->bytes);
    record->data = part->kept;
    return 0;
}

static int follow(struct perfile_reader *reader, struct pf_part *part, struct perfile_record *record,
                  struct perfile_error *error)
{
    const int result = keep_record(reader, part, record, error);
    return result < 0 ? result : pf_events_follow(reader, part, record, error);
}

/* Handles records that the reader needs itself: compressed ones contain others, some describe events and features. */
static __attribute__((noinline)) int take_in(struct perfile_reader *reader, struct pf_part *part,
                                             struct perfile_record *record, struct perfile_error *error)
{
    part->payload_at = record->payload_offset;
    part->payload_left = record->payload_bytes;
    const bool holds_others = record->type == PERFILE_RECORD_COMPRESSED || record->type == PERFILE_RECORD_COMPRESSED2;
    const int result =
        holds_others ? start_inflating(reader, part, record, error) : follow(reader, part, record, error);
    return result < 0 ? result : 1;
}

static inline __attribute__((always_inline)) int next_of_part(struct perfile_reader *reader, struct pf_part *part,
                                                              struct perfile_record *record,
                                                              struct perfile_error *error)
{
    int result;
    if (PF_UNLIKELY(part->inflating)) {
        result = next_inflated(reader, part, record, error);
        if (result != 0)
            return result;
    }
    part->payload_left = 0;
    uint64_t from = part->frame.at;
    result = pf_frame_next(reader, part, &part->frame, record, error);
    if (result <= 0)
        return result < 0 ? result : finish_inflated(reader, part, record, error);
    reader->counts.data_bytes += part->frame.at - from;
    if (PF_LIKELY(record->type < PERFILE_RECORD_HEADER_ATTR) || record->damaged)
        return 1;
    return take_in(reader, part, record, error);
}

int pf_part_next(struct perfile_reader *reader, struct pf_part *part, struct perfile_record *record,
                 struct perfile_error *error)
{
    return next_of_part(reader, part, record, error);
}

int pf_reader_check_stopped(const struct perfile_reader *reader, struct perfile_error *error)
{
    if (PF_LIKELY(!(reader->stops & PF_READER_STOPPED)))
        return 0;
    return pf_fail(error, PERFILE_ERROR_STOPPED, PERFILE_NO_OFFSET, "reader", "the caller stopped it");
}

static inline __attribute__((always_inline)) int next_unless(struct perfile_reader *reader, unsigned stops,
                                                             const struct perfile_record **record,
                                                             struct perfile_error *error)
{
    while (!(reader->stops & stops) && reader->part_now < reader->part_count) {
        struct pf_part *part = &reader->parts[reader->part_now];
        int result = next_of_part(reader, part, &reader->record, error);
        if (PF_LIKELY(result > 0)) {
            *record = &reader->record;
            return 1;
        }
        if (result == 0)
            result = pf_follow_finish(reader, error);
        if (result == 0)
            result = pf_frame_finish_events(reader, error);
        if (result < 0) {
            reader->stops |= result == PERFILE_ERROR_AGAIN ? 0u : PF_READER_FAILED;
            return result;
        }
        reader->part_now++;
    }
    *record = NULL;
    return pf_reader_check_stopped(reader, error);
}

int pf_reader_next(struct perfile_reader *reader, const struct perfile_record **record, struct perfile_error *error)
{
    return next_unless(reader, PF_READER_FAILED | PF_READER_STOPPED, record, error);
}

static int fail_driven(struct perfile_error *error)
{
    return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "reader",
                   "a session drives it until it is closed");
}

int perfile_reader_next(struct perfile_reader *reader, const struct perfile_record **record,
                        struct perfile_error *error)
{
    int result = next_unless(reader, PF_READER_FAILED | PF_READER_STOPPED | PF_READER_DRIVEN, record, error);
    if (PF_LIKELY(result != 0))
        return result;
    return reader->stops & PF_READER_DRIVEN ? fail_driven(error) : 0;
}

void perfile_reader_mute(struct perfile_reader *reader, bool mute)
{
    reader->muted = mute;
}

void perfile_reader_stop(struct perfile_reader *reader)
{
    reader->stops |= PF_READER_STOPPED;
}

static void rewind_part(struct pf_part *part)
{
    part->frame = (struct pf_frame){.window = &part->window, .at = part->start, .end = part->frame.end, .step = 8};
    part->inflating = part->broken = false;
    if (part->inflate) {
        pf_inflate_restart(part->inflate);
        pf_window_reset(&part->inflated);
        part->inflated_frame = (struct pf_frame){
            .window = &part->inflated, .end = UINT64_MAX, .compressed = true, .open_ended = true, .step = 8};
    }
}

bool pf_reader_entry(const struct perfile_reader *reader, struct pf_entry *entry)
{
    const struct pf_part *part = &reader->parts[0];
    const struct pf_window *window = &part->inflated;
    *entry = (struct pf_entry){.offset = part->frame.at};
    if (!part->inflate)
        return true;
    entry->inflated = part->inflated_frame.at;
    return !part->inflating && !part->broken && pf_inflate_is_between(part->inflate) &&
           entry->inflated == window->offset + window->bytes;
}

void pf_reader_rest(struct perfile_reader *reader)
{
    for (uint32_t i = 0; i < reader->part_count; i++)
        pf_window_rest(&reader->parts[i].window);
}

void pf_reader_go_to(struct perfile_reader *reader, const struct pf_entry *entry, const struct perfile_counts *counts)
{
    struct pf_part *part = &reader->parts[0];
    rewind_part(part);
    part->frame.at = entry->offset;
    if (part->inflate)
        part->inflated.offset = part->inflated_frame.at = entry->inflated;
    reader->counts = *counts;
}

void pf_reader_pass_over(struct perfile_reader *reader, uint64_t offset, uint64_t samples, uint64_t time)
{
    struct pf_frame *frame = &reader->parts[0].frame;
    reader->counts.records += samples;
    reader->counts.samples += samples;
    reader->counts.data_bytes += offset - frame->at;
    frame->at = offset;
    frame->previous_inexact = false;
    frame->last_time = time;
    pf_window_skip_to(frame->window, offset);
}

static uint64_t bytes_left(const struct perfile_reader *reader)
{
    uint64_t left = 0;
    for (uint32_t i = reader->part_now; i < reader->part_count; i++) {
        const struct pf_frame *frame = &reader->parts[i].frame;
        left += frame->end != UINT64_MAX && frame->end > frame->at ? frame->end - frame->at : 0;
    }
    return left;
}

bool pf_reader_leave_rest(struct perfile_reader *reader)
{
    enum { WORTH_BYTES = 1 << 20 };
    const struct perfile_counts *counts = &reader->counts;
    const bool must_read = reader->file.mode == PERFILE_MODE_PIPE || reader->options.follow || counts->losses ||
                           counts->aux_type || counts->aux_bytes;
    const uint64_t left = must_read ? 0 : bytes_left(reader);
    if (left < WORTH_BYTES)
        return false;
    reader->counts.unread_bytes = left;
    return true;
}

bool perfile_reader_is_at_start(const struct perfile_reader *reader)
{
    bool moved = reader->part_now != 0 || reader->stops;
    for (uint32_t i = 0; i < reader->part_count; i++)
        moved |= reader->parts[i].frame.at != reader->parts[i].start;
    return !moved;
}

int pf_reader_drive(struct perfile_reader *reader, struct perfile_error *error)
{
    if (reader->stops & PF_READER_DRIVEN)
        return fail_driven(error);
    if (!perfile_reader_is_at_start(reader))
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "reader",
                       "it is not at its start: perfile_reader_rewind");
    reader->stops |= PF_READER_DRIVEN;
    return 0;
}

void pf_reader_go_to_payload(struct perfile_reader *reader, const struct perfile_record *record)
{
    struct pf_part *part = &reader->parts[record->part];
    reader->record = *record;
    part->payload_at = record->payload_offset;
    part->payload_left = record->payload_bytes;
}

int perfile_reader_payload(struct perfile_reader *reader, const uint8_t **data, size_t *bytes,
                           struct perfile_error *error)
{
    struct pf_part *part = &reader->parts[reader->record.part];
    *bytes = 0;
    if (!part->payload_left)
        return 0;
    size_t wanted = (size_t)pf_min(part->payload_left, 64 * 1024), got;
    part->window.keep = part->payload_at;
    int result = pf_window_get(&part->window, part->payload_at, wanted, data, &got, error);
    if (result < 0)
        return result;
    char missing[PF_COUNTED_BYTES];
    if (got == 0)
        return pf_fail(error, PERFILE_ERROR_TRUNCATED, part->payload_at, "payload", "%s",
                       pf_count_of(part->payload_left, "bytes are missing", missing));
    *bytes = got < wanted ? got : wanted;
    part->payload_at += *bytes;
    part->payload_left -= *bytes;
    return 1;
}

int perfile_reader_rewind(struct perfile_reader *reader, struct perfile_error *error)
{
    if (reader->stops & PF_READER_DRIVEN)
        return fail_driven(error);
    for (uint32_t i = 0; i < reader->part_count; i++)
        if (!reader->parts[i].source.seekable)
            return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, "input", "a stream cannot be read twice");
    for (uint32_t i = 0; i < reader->part_count; i++)
        rewind_part(&reader->parts[i]);
    for (size_t i = 0; i < reader->event_count; i++)
        reader->events[i]->misfit_reported = false;
    reader->leaked_bit_reported = false;
    reader->undecoded_bytes = 0;
    reader->part_now = 0;
    reader->stops = 0;
    reader->counts = reader->opening_counts;
    reader->diagnostic_count = reader->opening_diagnostics;
    return 0;
}

int perfile_reader_read_at(struct perfile_reader *reader, uint32_t part, uint64_t offset, void *to, size_t bytes,
                           size_t *got, struct perfile_error *error)
{
    *got = 0;
    if (part >= reader->part_count || !reader->parts[part].source.seekable)
        return pf_fail(error, PERFILE_ERROR_ABSENT, offset, "input", "a stream cannot be read out of order");
    return pf_source_read(&reader->parts[part].source, offset, to, bytes, got, error);
}

void perfile_reader_attach(struct perfile_reader *reader, void *attachment, void (*close)(void *attachment))
{
    if (reader->attachment)
        reader->close_attachment(reader->attachment);
    reader->attachment = attachment;
    reader->close_attachment = close;
}

void *perfile_reader_attachment(const struct perfile_reader *reader)
{
    return reader->attachment;
}

const struct perfile_file *perfile_reader_file(const struct perfile_reader *reader)
{
    return &reader->file;
}

const struct perfile_allocator *perfile_reader_allocator(const struct perfile_reader *reader)
{
    return reader->allocator;
}

const struct perfile_counts *perfile_reader_counts(const struct perfile_reader *reader)
{
    return &reader->counts;
}

/* ---- decoding ---- */

int perfile_record_decode(const struct perfile_reader *reader, const struct perfile_record *record, void *out,
                          size_t out_bytes, struct perfile_error *error)
{
    const struct pf_layout layout = pf_layout_of(reader, record);
    const size_t known = pf_layout_struct_bytes(record->type);
    if (!known || out_bytes == known)
        return pf_layout_decode(record, &layout, out, error);
    const size_t min = pf_layout_min_bytes(record->type);
    if (out_bytes < min)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, record->offset, "perfile_record_decode",
                       "%zu bytes given, the struct of this record has %zu or more", out_bytes, min);
    union pf_any_record any;
    const int result = pf_layout_decode(record, &layout, &any, error);
    if (result == 0)
        pf_measured_give(out, out_bytes, &any, known);
    return result;
}

int pf_visitor_take(struct perfile_visitor *all, const struct perfile_visitor *visitor, struct perfile_error *error)
{
    *all = (struct perfile_visitor){.size = sizeof(*all)};
    return visitor ? pf_sized_take(all, sizeof(*all), visitor, "visitor", error)
                   : pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "visitor", "there is none");
}

static int fail_stopped(struct perfile_error *error)
{
    return pf_fail(error, PERFILE_ERROR_STOPPED, PERFILE_NO_OFFSET, "visitor", "stopped by the caller");
}

/* AUX data may be large: what identifies it is its checksum. */
static int emit_payload_crc(struct perfile_reader *reader, struct pf_emit *e, struct perfile_error *error)
{
    const uint8_t *data;
    size_t bytes;
    uint32_t crc = 0;
    int result;
    while ((result = perfile_reader_payload(reader, &data, &bytes, error)) > 0)
        crc = pf_crc32(crc, data, bytes);
    char text[16];
    snprintf(text, sizeof(text), "%08x", crc);
    pf_emit_text(e, "auxtrace_crc32", text, strlen(text));
    return result == PERFILE_ERROR_TRUNCATED ? 0 : result;
}

int perfile_record_visit(struct perfile_reader *reader, const struct perfile_record *record,
                         const struct perfile_visitor *visitor, struct perfile_error *error)
{
    struct perfile_visitor all;
    struct pf_emit e = {.visitor = &all};
    int result = pf_visitor_take(&all, visitor, error);
    if (result < 0)
        return result;
    struct pf_layout layout = pf_layout_of(reader, record);
    uint64_t cpus;
    if (record->type == PERFILE_RECORD_HEADER_FEATURE &&
        perfile_feature_number(reader, PERFILE_FEATURE_NRCPUS, "nr_cpus_available", &cpus, NULL) == 0) {
        layout.feature.has_cpu_count = true;
        layout.feature.cpus_available = (uint32_t)cpus;
    }
    pf_layout_emit(record, &layout, &e);
    if (record->type == PERFILE_RECORD_AUXTRACE && !record->damaged && !all.leaves_payload)
        result = emit_payload_crc(reader, &e, error);
    if (record->type == PERFILE_RECORD_HEADER_TRACING_DATA && reader->tracing_data && !record->damaged)
        pf_emit_unsigned(
            &e, "tracing_padding", PERFILE_MEANS_BYTES,
            pf_tracing_emit(reader->tracing_data, reader->tracing_bytes, reader->tracing_offset, "tracing", &e));
    return e.stopped ? fail_stopped(error) : result;
}

int perfile_attr_visit(const struct perfile_event *event, const struct perfile_visitor *visitor,
                       struct perfile_error *error)
{
    struct perfile_visitor all;
    struct pf_emit e = {.visitor = &all};
    int result = pf_visitor_take(&all, visitor, error);
    if (result < 0)
        return result;
    const struct pf_plan *plan = &((const struct pf_event *)(const void *)event)->plan;
    pf_attr_emit(&e, "attr", event->attr_data, event->attr_bytes, plan->swap, plan->big_endian);
    return e.stopped ? fail_stopped(error) : 0;
}
