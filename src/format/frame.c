/* SPDX-License-Identifier: MIT */
/*
 * Framing: where one record ends and the next begins, also when something is wrong.
 *
 * A record whose size is what its content asks for is believed at once. Any other size is checked against what follows:
 * whichever of the two ends starts a chain of plausible records wins. When neither does, the following bytes are
 * searched for the next position that starts such a chain; the bytes before it are lost and reported.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/counted.h"
#include "base/error.h"
#include "format/reader.h"
#include "schema/schema.h"

enum {
    LOOK_AGAIN = 2,  /* result: the recording has grown, or its end is known now */
    CHAIN = 3,       /* so many plausible records in a row are believed */
    RUN = 16,        /* and so many headers in a row, whatever their types are */
    TYPE_MAX = 1024, /* in such a row: numbers of records grow slowly */
    SEARCH_STEP = 64 * 1024,
    RECORD_MAX = 65535,
};

static const uint64_t DAY_NS = 86400ull * 1000000000;

/* The bytes at a position: the header, and as many bytes of the record as there are. */
struct position {
    const uint8_t *data;
    size_t got; /* bytes from here to the end of the frame that can be had; at least `bytes` unless the frame ends */
    uint32_t type;
    uint16_t misc;
    uint32_t bytes; /* the stated size */
};

static int look(struct pf_frame *frame, uint64_t at, size_t bytes, struct position *position,
                struct perfile_error *error)
{
    uint64_t capacity = frame->end > at ? frame->end - at : 0;
    if (bytes > capacity)
        bytes = (size_t)capacity;
    position->got = 0;
    int result = pf_window_get(frame->window, at, bytes, &position->data, &position->got, error);
    capacity = frame->end > at ? frame->end - at : 0; /* the end of a growing file may be known by now */
    if (position->got > capacity)
        position->got = (size_t)capacity;
    return result;
}

static void read_header(struct position *position, bool swap)
{
    position->type = pf_load32(position->data, swap);
    position->misc = pf_load16(position->data + 4, swap);
    position->bytes = pf_load16(position->data + 6, swap);
    if (PF_UNLIKELY(pf_record_is_android(position->type))) {
        position->bytes |= (uint32_t)position->misc << 16;
        position->misc = 0;
    }
}

/* Reads the header at `at` and its complete record, as far as the frame goes. */
static int look_at_record(const struct perfile_reader *reader, struct pf_frame *frame, uint64_t at,
                          struct position *position, struct perfile_error *error)
{
    int result = look(frame, at, 8, position, error);
    if (result < 0 || position->got < 8)
        return result;
    read_header(position, reader->file.swapped);
    if (PF_LIKELY(position->bytes <= position->got))
        return 0;
    struct position header = *position;
    result = look(frame, at, header.bytes, position, error);
    position->type = header.type;
    position->misc = header.misc;
    position->bytes = header.bytes;
    return result;
}

static void fill_record(struct perfile_record *record, const struct pf_part *part, const struct pf_frame *frame,
                        const struct position *position)
{
    record->type = position->type;
    record->misc = position->misc;
    record->compressed = frame->compressed;
    record->damaged = false;
    record->bytes = position->bytes;
    record->stated_bytes = position->bytes;
    record->part = part->number;
    record->offset = frame->at;
    record->container = frame->compressed ? part->container : PERFILE_NO_OFFSET;
    record->data = position->data;
    record->event = NULL;
    record->time = 0;
    record->payload_offset = 0;
    record->payload_bytes = 0;
}

/* Finds the event and the time of the record, and the size that its content asks for; 0: it does not fit. */
static uint32_t identify(struct perfile_reader *reader, struct perfile_record *record, bool *padded)
{
    *padded = false;
    const struct pf_record_info *info = pf_record_info(record->type);
    if (record->type == PERFILE_RECORD_SAMPLE) {
        const struct pf_event *event = pf_event_of(reader, record->type, record->data, record->bytes);
        if (PF_UNLIKELY(!event))
            return reader->event_count ? 0 : record->bytes;
        record->event = &event->public;
        const struct pf_plan *plan = &event->plan;
        if (PF_UNLIKELY(record->bytes < plan->fixed_bytes))
            return 0;
        if (plan->time_at)
            record->time = pf_load64(record->data + plan->time_at, plan->swap);
        return plan->known ? pf_plan_measure(plan, record->data, record->bytes) : record->bytes;
    }
    if (record->type < 64) {
        const struct pf_event *event = pf_event_of(reader, record->type, record->data, record->bytes);
        if (event) {
            record->event = &event->public;
            uint32_t min = (info ? info->min_bytes : 8u) + event->plan.trailer_bytes;
            if (event->plan.time_back && record->bytes >= min)
                record->time = pf_load64(record->data + record->bytes - event->plan.time_back, event->plan.swap);
        }
    }
    if (!info)
        return record->bytes;
    if (record->bytes < info->min_bytes)
        return 0;
    if (record->type == PERFILE_RECORD_COMPRESSED2 && record->bytes >= 16) {
        uint64_t data = pf_load64(record->data + 8, reader->file.swapped);
        /* writers that never set data_size (6.15 to 7.1 with --aio) mean all of the record */
        return data == 0 || data > record->bytes ? record->bytes : 16 + (uint32_t)pf_align8(data);
    }
    const struct pf_layout layout = pf_layout_of(reader, record);
    uint32_t asked = pf_layout_measure(record, &layout, padded);
    /* before the first event is known the trailer's length is unknown */
    return asked && record->type < 64 && !reader->event_count ? record->bytes : asked;
}

/* Bytes outside the record: AUXTRACE and TRACING_DATA. */
static uint64_t payload_of(const struct perfile_reader *reader, const struct position *position)
{
    bool swap = reader->file.swapped;
    if (position->type == PERFILE_RECORD_AUXTRACE && position->bytes >= 16)
        return pf_load64(position->data + 8, swap);
    if (position->type == PERFILE_RECORD_HEADER_TRACING_DATA && position->bytes >= 12 && position->bytes <= 16)
        return pf_align8(pf_load32(position->data + 8, swap));
    return 0;
}

/* ---- plausibility ---- */

/* A SAMPLE that is laid out as another event of its kind becomes that one's. The size that its content asks for. */
static uint32_t fit(const struct perfile_reader *reader, struct perfile_record *record, uint32_t asked)
{
    if (record->type != PERFILE_RECORD_SAMPLE || !record->event)
        return asked;
    struct pf_event *stamped = reader->events[record->event->index];
    const struct pf_event *event = pf_event_fitting(stamped, record->data, record->bytes, &asked);
    if (event == stamped)
        return asked;
    record->event = &event->public;
    record->time = event->plan.time_at ? pf_load64(record->data + event->plan.time_at, event->plan.swap) : 0;
    return asked;
}

static bool plausible_time(const struct pf_frame *frame, uint64_t time)
{
    if (time == 0 || time == UINT64_MAX || frame->last_time == 0)
        return true;
    uint64_t distance = time > frame->last_time ? time - frame->last_time : frame->last_time - time;
    return distance < DAY_NS;
}

/*
 * How much is asked of a record. Exact: what its content asks for is what the header states, nearly. Longer: it may
 * have any number of bytes more, as records of later versions do.
 */
enum demand { EXACT, LONGER };

/* Whether the record is known, all there, and large enough for its content. */
static bool has_content(struct perfile_reader *reader, struct pf_part *part, struct pf_frame *frame,
                        const struct position *position, enum demand demand)
{
    const struct pf_record_info *info = pf_record_info(position->type);
    if (!info || position->bytes < info->min_bytes)
        return false;
    if (position->bytes % 4 && position->type != PERFILE_RECORD_COMPRESSED)
        return false;
    struct perfile_record record;
    fill_record(&record, part, frame, position);
    bool padded;
    uint32_t asked = identify(reader, &record, &padded);
    if (asked != position->bytes)
        asked = fit(reader, &record, asked);
    if (asked == 0 || asked > position->bytes || !plausible_time(frame, record.time))
        return false;
    if (position->type < 64 && reader->event_count && !record.event)
        return false;
    if (demand == LONGER || asked == position->bytes)
        return true;
    return position->type != PERFILE_RECORD_SAMPLE && (position->bytes - asked < 16 || padded || record.time);
}

/* The end of the record at `at` and its payload if it is plausible; 0: it is not, or bytes of the frame are missing. */
static uint64_t plausible_record(struct perfile_reader *reader, struct pf_part *part, struct pf_frame *frame,
                                 uint64_t at, enum demand demand)
{
    struct position position;
    if (look_at_record(reader, frame, at, &position, NULL) < 0 || position.got < 8 || position.bytes < 8 ||
        position.bytes > position.got || !has_content(reader, part, frame, &position, demand))
        return 0;
    uint64_t next;
    return pf_add(at + position.bytes, payload_of(reader, &position), &next) && next <= frame->end ? next : 0;
}

/* Known, or one of the next. */
static bool may_be_type(uint32_t type)
{
    return pf_record_info(type) || (type > 0 && type < TYPE_MAX) || pf_record_is_android(type);
}

enum outlook { GOES_ON, ENDS_WELL, ENDS_BADLY };

/*
 * What a chain of records comes to at `at`. The end of the frame ends it well, and so do bytes that are still to come.
 */
static enum outlook outlook(const struct perfile_reader *reader, struct pf_frame *frame, uint64_t at)
{
    struct position position;
    if (look(frame, at, 8, &position, NULL) < 0)
        return ENDS_BADLY;
    if (position.got == 0)
        return at == frame->end || frame->end == UINT64_MAX ? ENDS_WELL : ENDS_BADLY;
    if (!frame->open_ended || position.got >= RECORD_MAX)
        return GOES_ON;
    if (look_at_record(reader, frame, at, &position, NULL) < 0)
        return ENDS_BADLY;
    if (position.got >= 8 && position.bytes <= position.got)
        return GOES_ON;
    return position.got < 8 || may_be_type(position.type) ? ENDS_WELL
                                                          : ENDS_BADLY; /* the rest has not been inflated yet */
}

/* Whether a chain of plausible records starts at `at`. */
static bool plausible_chain(struct perfile_reader *reader, struct pf_part *part, struct pf_frame *frame, uint64_t at,
                            unsigned length)
{
    for (unsigned i = 0; i < length; i++) {
        const enum outlook ahead = outlook(reader, frame, at);
        if (ahead != GOES_ON)
            return ahead == ENDS_WELL;
        at = plausible_record(reader, part, frame, at, EXACT);
        if (!at)
            return false;
    }
    return true;
}

/* The end of the record at `at` when its type is one that later versions may define; else 0. */
static uint64_t unknown_record(struct perfile_reader *reader, struct pf_frame *frame, uint64_t at)
{
    struct position position;
    if (look(frame, at, 8, &position, NULL) < 0 || position.got < 8)
        return 0;
    read_header(&position, reader->file.swapped);
    const uint64_t next = at + position.bytes;
    if (position.type == 0 || pf_record_info(position.type) || position.bytes < 8 || position.bytes % 8 ||
        next > frame->end)
        return 0;
    return may_be_type(position.type) || next == frame->end ? next : 0;
}

/*
 * The same for recordings of later versions, whose records may be longer and of types that are not known: `known` of
 * the known types are enough. *until is where the last one that was looked at ends.
 */
static bool valid_headers(struct perfile_reader *reader, struct pf_part *part, struct pf_frame *frame, uint64_t *until,
                          unsigned known)
{
    for (unsigned i = 0; i < RUN; i++) {
        const enum outlook ahead = outlook(reader, frame, *until);
        if (ahead != GOES_ON)
            return ahead == ENDS_WELL;
        uint64_t next = unknown_record(reader, frame, *until);
        if (!next) {
            next = plausible_record(reader, part, frame, *until, LONGER);
            known--;
        }
        if (!next)
            return false;
        if (!known)
            return true;
        *until = next;
    }
    return true;
}

/* ---- damage ---- */

/* Moves *found ahead to the next position that starts a chain, or to the end of what there is. */
static int search(struct perfile_reader *reader, struct pf_part *part, struct pf_frame *frame, uint64_t *found,
                  struct perfile_error *error)
{
    uint64_t at = *found;
    for (;;) {
        struct position position;
        frame->window->keep = at;
        int result = look(frame, at, SEARCH_STEP + 8, &position, error);
        if (result < 0)
            return result;
        if (position.got < 8) {
            *found = frame->open_ended ? at : at + position.got; /* what is not inflated yet will be looked at then */
            return 0;
        }
        size_t offered = position.got - 7 < SEARCH_STEP ? position.got - 7 : SEARCH_STEP;
        uint64_t batch = at;
        while (at < batch + offered) {
            /* a look at the header first: it rejects nearly all positions without moving the window */
            const uint8_t *header;
            size_t got;
            if (pf_window_get(frame->window, at, 8, &header, &got, NULL) < 0 || got < 8)
                break;
            struct position candidate = {.data = header, .got = got};
            read_header(&candidate, reader->file.swapped);
            /* a sample of exactly its size, with a sensible time, is proof enough */
            unsigned length = candidate.type == PERFILE_RECORD_SAMPLE && frame->last_time ? 1 : CHAIN;
            if (at != frame->at && candidate.bytes >= 8 && pf_record_info(candidate.type) &&
                plausible_chain(reader, part, frame, at, length)) {
                *found = at;
                return 0;
            }
            at += frame->step;
        }
    }
}

static int report_loss(struct perfile_reader *reader, struct pf_part *part, struct pf_frame *frame,
                       const struct perfile_diagnostic *loss, struct perfile_error *error)
{
    struct perfile_diagnostic diagnostic = *loss;
    diagnostic.severity = PERFILE_LOSS;
    if (frame->compressed)
        diagnostic.offset = part->container; /* offsets in the inflated stream mean nothing to a hex editor */
    reader->counts.bytes_lost += loss->length;
    return pf_diagnose(reader, part, &diagnostic, error);
}

/* Makes the record that stands for bytes that cannot be read: the header as found, and nothing else. */
static void fill_damaged(struct perfile_record *record, struct pf_part *part, const struct pf_frame *frame,
                         const struct position *position, size_t held)
{
    memset(part->damaged_header, 0, sizeof(part->damaged_header));
    memcpy(part->damaged_header, position->data, held);
    struct position seen = *position;
    seen.data = part->damaged_header;
    if (held < 8)
        seen.type = seen.misc = 0;
    fill_record(record, part, frame, &seen);
    record->stated_bytes = held < 8 ? 0 : position->bytes;
    record->bytes = (uint32_t)held;
    record->payload_bytes = position->got;
    record->damaged = true;
}

/*
 * In a file that grows, its features may follow the records, or bytes that will be overwritten: damage cannot be
 * recognised before the end is known.
 */
static bool end_is_open(const struct pf_part *part, const struct pf_frame *frame)
{
    return frame->end != frame->end_before || (part->endless && part->source.growing && !frame->compressed);
}

static int wait_for_end(struct pf_part *part, const struct pf_frame *frame, struct perfile_error *error)
{
    if (frame->end != frame->end_before)
        return LOOK_AGAIN; /* it came to be known while the bytes ahead were looked at */
    pf_window_reset(&part->window);
    int result = pf_follow_wait(part, error);
    return result < 0 ? result : LOOK_AGAIN;
}

/* What was looked for ahead and not found may still come. */
static int fail_undecided(const struct pf_frame *frame, struct perfile_error *error)
{
    return pf_fail(error, PERFILE_ERROR_AGAIN, frame->at, "record", "what follows it has not been written yet");
}

/* Nothing sensible is at frame->at: continue at the next position that makes sense. */
static int skip_damage(struct perfile_reader *reader, struct pf_part *part, struct pf_frame *frame,
                       struct perfile_record *record, struct perfile_error *error)
{
    struct position position;
    if (PF_UNLIKELY(end_is_open(part, frame)))
        return wait_for_end(part, frame, error);
    int result = look_at_record(reader, frame, frame->at, &position, error);
    if (result < 0)
        return result;
    size_t held = position.got < 8 ? position.got : 8;
    fill_damaged(record, part, frame, &position, held);
    char why[PF_COUNTED_BYTES], count[PF_COUNTED_BYTES];
    if (held < 8)
        pf_count_of(held, "bytes are not a record", why);
    else if (position.bytes < 8)
        snprintf(why, sizeof(why), "a record states a size of %u", position.bytes);
    else if (position.bytes > position.got)
        snprintf(why, sizeof(why), "a record of %u bytes, %zu are there", position.bytes, position.got);
    else if (perfile_record_name(position.type))
        snprintf(why, sizeof(why), "%s (%u) of %u bytes: no valid record follows", perfile_record_name(position.type),
                 position.type, position.bytes);
    else
        snprintf(why, sizeof(why), "no valid record follows");
    bool cut = held < 8 || position.bytes > position.got;
    uint64_t at = frame->at, from = at + pf_min(frame->step, position.got);
    if (frame->previous_inexact && frame->previous + 8 < at && frame->previous + 8 >= frame->window->offset)
        from = frame->previous + 8; /* the record before may have swallowed the start of this one */
    uint64_t found = from;
    result = search(reader, part, frame, &found, error);
    if (result < 0 || frame->window->waits)
        return result < 0 ? result : fail_undecided(frame, error);
    frame->at = found;
    frame->previous_inexact = false;
    uint64_t lost = found > at ? found - at : 0;
    char message[384];
    snprintf(message, sizeof(message), "0x%" PRIx64 ": %s; %s", at, why, pf_count_of(lost, "bytes are skipped", count));
    const struct perfile_diagnostic loss = {
        .rule = cut ? "record-cut" : "record-size", .offset = at, .length = lost, .message = message};
    reader->counts.damaged++;
    result = report_loss(reader, part, frame, &loss, error);
    return result < 0 ? result : 1;
}

/*
 * The first position from `at` on, in steps of 8, from where plausible records fill the space up to `end`; `end` when
 * no position does. Searches backwards, so that each position is checked once, and not farther than the largest record.
 */
static uint64_t first_tiled(struct perfile_reader *reader, struct pf_part *part, struct pf_frame *frame, uint64_t at,
                            uint64_t end)
{
    bool tiled[RECORD_MAX / 8 + 1] = {true}; /* by the distance from the end, when that is a multiple of 8 */
    uint64_t first = end, steps = end > at ? pf_min((end - at) / 8, RECORD_MAX / 8) : 0;
    for (uint64_t i = 1; i <= steps; i++) {
        uint64_t position = end - 8 * i, next = plausible_record(reader, part, frame, position, EXACT);
        tiled[i] = next && next <= end && (end - next) % 8 == 0 && tiled[(end - next) / 8];
        if (tiled[i])
            first = position;
    }
    return first;
}

/*
 * A sample that is laid out as another event of its kind is longer than its content, and the kernel left the rest as it
 * was: records in there are of an earlier time, while records that a wrong size reaches over are of later ones.
 */
static bool is_left_over(struct perfile_reader *reader, const struct pf_part *part, struct pf_frame *frame,
                         const struct perfile_record *record, uint64_t at)
{
    const struct pf_event *event = (const struct pf_event *)(const void *)record->event;
    struct position position;
    if (record->type != PERFILE_RECORD_SAMPLE || !event || !event->first_of_kind->next_layout ||
        look_at_record(reader, frame, at, &position, NULL) < 0 || position.got < 8 || position.bytes > position.got)
        return false;
    struct perfile_record there;
    bool padded;
    fill_record(&there, part, frame, &position);
    const uint32_t asked = identify(reader, &there, &padded);
    if (asked != position.bytes)
        fit(reader, &there, asked);
    return there.time && there.time < record->time;
}

/* The content of the record asks for another size than the header states: find out which one is right. */
static int settle_size(struct perfile_reader *reader, struct pf_part *part, struct pf_frame *frame,
                       struct perfile_record *record, uint32_t asked)
{
    const uint64_t at = frame->at, end = at + record->bytes, after = at + pf_align8(asked);
    uint64_t from = end;
    const bool header_right = valid_headers(reader, part, frame, &from, CHAIN);
    if (asked && after < end) {
        uint64_t position = after;
        if (!plausible_chain(reader, part, frame, after, CHAIN))
            position = header_right || plausible_chain(reader, part, frame, end, 1)
                           ? first_tiled(reader, part, frame, after + 8, end)
                           : end;
        if (position < end && !(header_right && is_left_over(reader, part, frame, record, position))) {
            record->bytes = (uint32_t)(position - at);
            return 0; /* the size is wrong: it reaches over the records that follow */
        }
    }
    if (header_right || end == frame->end)
        return 1; /* the content is wrong, or has a part that is not known */
    return -1;
}

/* perf's records, of what it read of the counters at the end, have a zero for a time. */
static bool is_of_the_end(const struct perfile_record *record)
{
    const struct pf_event *event = (const struct pf_event *)(const void *)record->event;
    const uint16_t back = event ? event->plan.time_back : 0;
    return !back || record->bytes < back + 16u || pf_load64(record->data + record->bytes - back, false) == 0;
}

static void note_losses(struct perfile_reader *reader, const struct perfile_record *record)
{
    struct perfile_counts *counts = &reader->counts;
    const bool swap = reader->file.swapped;
    if (record->type == PERFILE_RECORD_LOST && record->bytes >= 24)
        counts->lost_reported += pf_load64(record->data + 16, swap);
    else if (record->type == PERFILE_RECORD_LOST_SAMPLES && record->bytes >= 16 &&
             !(record->misc & PERFILE_MISC_LOST_SAMPLES_BPF)) {
        const uint64_t lost = pf_load64(record->data + 8, swap);
        counts->lost_samples += lost;
        counts->lost_counted += is_of_the_end(record) ? lost : 0;
    }
    const uint64_t by_kernel = counts->lost_samples - counts->lost_counted;
    counts->lost_events =
        by_kernel + (counts->lost_reported > counts->lost_counted ? counts->lost_reported : counts->lost_counted);
}

static void count_record(struct perfile_reader *reader, const struct perfile_record *record)
{
    reader->counts.records++;
    reader->counts.samples += record->type == PERFILE_RECORD_SAMPLE;
    if (PF_UNLIKELY(record->type == PERFILE_RECORD_LOST || record->type == PERFILE_RECORD_LOST_SAMPLES))
        note_losses(reader, record);
    else if (PF_UNLIKELY(record->type == PERFILE_RECORD_AUXTRACE))
        reader->counts.aux_bytes += record->payload_bytes;
    else if (PF_UNLIKELY(record->type == PERFILE_RECORD_AUXTRACE_INFO && record->bytes >= 12))
        reader->counts.aux_type = pf_load32(record->data + 8, reader->file.swapped);
    else if (PF_UNLIKELY(record->type == PERFILE_RECORD_STAT))
        reader->counts.stat_counts++;
}

/* The record is delivered, but something is wrong with it: say what. `settled` as in settle_size. */
static int report_doubtful(struct perfile_reader *reader, struct pf_part *part, struct pf_frame *frame,
                           const struct perfile_record *record, int settled, struct perfile_error *error)
{
    const char *name = perfile_record_name(record->type);
    char message[192];
    struct perfile_diagnostic loss = {.rule = "record-size", .offset = record->offset, .message = message};
    if (settled == 0) {
        snprintf(message, sizeof(message), "0x%" PRIx64 ": %s record states %u bytes, its content has %u and is read",
                 record->offset, name ? name : "unknown", record->stated_bytes, record->bytes);
    } else {
        loss.rule = "record-content";
        loss.length = record->bytes;
        snprintf(message, sizeof(message), "0x%" PRIx64 ": invalid content of a %s record of %u bytes", record->offset,
                 name ? name : "unknown", record->bytes);
    }
    int result = report_loss(reader, part, frame, &loss, error);
    return result < 0 ? result : 1;
}

/* The content of a sample is not what its event says. Once for each event: nothing is lost. */
static int note_misfit(struct perfile_reader *reader, struct pf_part *part, const struct perfile_record *record,
                       const struct perfile_event *stamped, struct perfile_error *error)
{
    struct pf_event *event = reader->events[stamped->index];
    char message[256];
    const struct perfile_diagnostic note = {
        .rule = "sample-layout", .severity = PERFILE_NOTE, .offset = record->offset, .message = message};
    if (event->misfit_reported)
        return 0;
    event->misfit_reported = true;
    if (record->event != stamped)
        snprintf(message, sizeof(message),
                 "0x%" PRIx64
                 ": a sample has the id of event %u but the layout of event %u, and is read as one of these; "
                 "further ones of event %u are not reported",
                 record->offset, stamped->index, record->event->index, stamped->index);
    else
        snprintf(message, sizeof(message),
                 "0x%" PRIx64
                 ": a sample of event %u is longer than its layout, and the bytes after that are kept; further "
                 "ones are not reported",
                 record->offset, stamped->index);
    return pf_diagnose(reader, part, &note, error);
}

/* Fetches the bytes of the record again when the window has moved. */
static int look_again(struct pf_frame *frame, struct perfile_record *record, struct perfile_error *error)
{
    struct position position;
    int result = look(frame, frame->at, record->bytes, &position, error);
    record->data = position.data;
    return result;
}

/* As settle_size; a sample that another event of its kind explains is believed when something sensible follows. */
static int settle(struct perfile_reader *reader, struct pf_part *part, struct pf_frame *frame,
                  struct perfile_record *record, uint32_t *asked)
{
    const struct perfile_event *stamped = record->event;
    const uint64_t stamped_time = record->time;
    const uint32_t fitting = fit(reader, record, *asked);
    uint64_t end = frame->at + record->bytes;
    const bool exactly = fitting == record->bytes;
    if (exactly && (!plausible_time(frame, record->time) || !valid_headers(reader, part, frame, &end, 1))) {
        record->event = stamped;
        record->time = stamped_time;
    } else {
        *asked = fitting;
        if (exactly)
            return 1;
    }
    return settle_size(reader, part, frame, record, *asked);
}

/* The record counts, and its time is held against those that follow. */
static void take(struct perfile_reader *reader, struct pf_frame *frame, const struct perfile_record *record)
{
    count_record(reader, record);
    if (record->type == PERFILE_RECORD_SAMPLE && record->event && plausible_time(frame, record->time))
        frame->last_time = record->time;
}

/* A record whose size or content is doubtful. 1: it is delivered, or the damage in its place; negative: an error. */
static int deliver_doubtful(struct perfile_reader *reader, struct pf_part *part, struct pf_frame *frame,
                            struct perfile_record *record, uint32_t asked, struct perfile_error *error)
{
    const uint64_t at = frame->at;
    const struct perfile_event *stamped = record->event;
    const uint32_t stated = record->bytes;
    const int settled = settle(reader, part, frame, record, &asked);
    if (frame->window->waits)
        return fail_undecided(frame, error);
    if (settled != 1 && end_is_open(part, frame))
        return wait_for_end(part, frame, error);
    if (settled < 0)
        return skip_damage(reader, part, frame, record, error);
    int result = look_again(frame, record, error);
    if (result < 0)
        return result;
    bool padded;
    if (settled == 0)
        identify(reader, record, &padded); /* the trailer stands elsewhere than it seemed */
    frame->previous = at;
    frame->previous_inexact = true;
    frame->at = at + record->bytes;
    /* a known record that later versions made longer is valid */
    const bool grown = settled == 1 && asked;
    record->stated_bytes = stated;
    record->damaged = settled == 1 && !grown;
    if (record->damaged)
        reader->counts.damaged++;
    else
        take(reader, frame, record);
    if (!grown)
        return report_doubtful(reader, part, frame, record, settled, error);
    if (record->type == PERFILE_RECORD_SAMPLE && stamped)
        result = note_misfit(reader, part, record, stamped, error);
    return result < 0 ? result : 1;
}

/* A record of an unknown type is believed when a plausible record or the end follows it, or follows others like it. */
static bool sensible_unknown(struct perfile_reader *reader, struct pf_part *part, struct pf_frame *frame,
                             const struct position *position)
{
    uint64_t until = frame->at + position->bytes;
    if (frame->at < frame->believed)
        return true;
    if (position->type == 0 || !valid_headers(reader, part, frame, &until, 1))
        return false;
    frame->believed = until;
    return true;
}

/* Up to 7 bytes and any zeros after the content are padding; but sizes of the kernel's records are multiples of 8. */
static bool doubtful(const struct position *position, uint32_t asked, bool padded)
{
    if (asked == 0 || asked > position->bytes || (position->type < 64 && position->bytes % 8))
        return true;
    return !padded && (position->bytes - asked >= 8 || position->bytes % 8);
}

/* ---- bytes outside of records ---- */

static int report_payload_cut(struct perfile_reader *reader, const struct pf_part *part, const struct pf_frame *frame,
                              uint64_t missing, struct perfile_error *error)
{
    char message[320], count[PF_COUNTED_BYTES];
    snprintf(message, sizeof(message), "0x%" PRIx64 ": %s record: %" PRIu64 " of %s missing", frame->previous,
             perfile_record_name(frame->payload_type), missing,
             pf_count_of(frame->payload, "bytes that follow it are", count));
    const struct perfile_diagnostic loss = {.rule = "payload-cut",
                                            .severity = PERFILE_LOSS,
                                            .offset = frame->compressed ? part->container : frame->previous,
                                            .length = missing,
                                            .message = message};
    return pf_diagnose(reader, part, &loss, error);
}

/* Where a stream ends is known when it has ended. */
int pf_frame_finish(struct perfile_reader *reader, struct pf_part *part, struct pf_frame *frame,
                    struct perfile_error *error)
{
    const uint64_t end = frame->window->offset + frame->window->bytes;
    const uint64_t missing = frame->at > end ? frame->at - end : 0;
    if (frame->open_ended || !frame->payload || !missing || missing > frame->payload)
        return 0;
    frame->at = end;
    if (!frame->compressed)
        reader->counts.data_bytes -= pf_min(missing, reader->counts.data_bytes);
    return report_payload_cut(reader, part, frame, missing, error);
}

/* The bytes after the record, as far as they are there, belong to it. */
static int take_payload(struct perfile_reader *reader, struct pf_part *part, struct pf_frame *frame,
                        struct perfile_record *record, uint64_t payload, struct perfile_error *error)
{
    const uint64_t at = record->offset + record->bytes, there = pf_min(payload, frame->end - at);
    record->payload_offset = at;
    record->payload_bytes = there;
    frame->payload = payload;
    frame->payload_type = record->type;
    frame->at = at + there;
    if (there == payload)
        return 0;
    int result = report_payload_cut(reader, part, frame, payload - there, error);
    frame->payload = 0; /* it was reported */
    return result;
}

/* A growing recording: the record comes when all is there that it has, as far as that can be skipped or held. */
static int await_payload(const struct perfile_reader *reader, struct pf_frame *frame, struct perfile_record *record,
                         uint64_t payload, struct perfile_error *error)
{
    const uint64_t after = frame->at + record->bytes, there = pf_min(payload, frame->end - after);
    struct pf_window *window = frame->window;
    const uint8_t *data;
    size_t got;
    if (!window->can_skip && there > reader->options.limit_record_bytes)
        return pf_fail(error, PERFILE_ERROR_LIMIT, frame->at, perfile_record_name(record->type),
                       "the bytes after it are more than limit_record_bytes, %" PRIu64,
                       reader->options.limit_record_bytes);
    window->keep = window->can_skip ? UINT64_MAX : frame->at;
    const uint64_t from = window->can_skip && there ? after + there - 1 : after;
    int result = pf_window_get(window, from, (size_t)(after + there - from), &data, &got, error);
    window->keep = frame->at;
    return result < 0 ? result : look_again(frame, record, error);
}

/* ---- identities of mapped files ---- */

enum {
    MMAP2_IDENTITY_AT = 40,
    MMAP2_PROT_AT = 64,
    BUILD_ID_AT = 4,
    BUILD_ID_MAX = 20,
    UUID_BYTES = 16,
    MINOR_BITS = 20
};

/*
 * Whether the 24 bytes are a build id: its size, three zeros, the id, zeros. Those of a device and inode are read so
 * when the major number is that of a disk, 8, and the inode has no generation: a short id beginning with a possible
 * minor number is a device.
 */
static bool looks_like_build_id(const uint8_t *identity, bool swap)
{
    const uint8_t size = identity[0];
    uint8_t others = identity[1] | identity[2] | identity[3];
    for (size_t i = size; i < BUILD_ID_MAX; i++)
        others |= identity[BUILD_ID_AT + i];
    return size && size <= BUILD_ID_MAX && !others &&
           (size >= UUID_BYTES || pf_load32(identity + BUILD_ID_AT, swap) >> MINOR_BITS);
}

/*
 * Kernels since 5.12 set the bit in a header that all events share, for the first event with attr.build_id, and do not
 * clear it: the records of all other events, of any recorder, then have it over device and inode.
 */
static bool has_leaked_build_id_bit(const struct perfile_reader *reader, const struct perfile_record *record)
{
    return record->misc & PERFILE_MISC_MMAP_BUILD_ID && record->bytes >= MMAP2_PROT_AT && record->event &&
           !record->event->attr->build_id &&
           !looks_like_build_id(record->data + MMAP2_IDENTITY_AT, reader->file.swapped);
}

/* What reads the record sees a device and an inode; its bytes stay as they are. Reported once: nothing is lost. */
static int clear_leaked_build_id_bit(struct perfile_reader *reader, struct pf_part *part, struct perfile_record *record,
                                     struct perfile_error *error)
{
    char message[224];
    const struct perfile_diagnostic note = {
        .rule = "build-id-bit", .severity = PERFILE_NOTE, .offset = record->offset, .message = message};
    if (!has_leaked_build_id_bit(reader, record))
        return 0;
    record->misc &= (uint16_t)~PERFILE_MISC_MMAP_BUILD_ID;
    if (reader->leaked_bit_reported)
        return 0;
    reader->leaked_bit_reported = true;
    snprintf(message, sizeof(message),
             "0x%" PRIx64 ": an MMAP2 record is marked as having a build id, which its event did not ask for, and has "
             "device and inode (another recorder ran at that time); further ones are not reported",
             record->offset);
    return pf_diagnose(reader, part, &note, error);
}

/* No attr follows. In a stream one may follow until it has been read to its end: `perf record --tail-synthesize`. */
static bool has_all_events(const struct perfile_reader *reader)
{
    return reader->file.mode != PERFILE_MODE_PIPE;
}

static int report_lost_events(struct perfile_reader *reader, const struct pf_part *part,
                              const struct perfile_record *first, struct perfile_error *error)
{
    const struct perfile_diagnostic loss = {.rule = "events-lost",
                                            .severity = PERFILE_LOSS,
                                            .offset = first ? first->offset : PERFILE_NO_OFFSET,
                                            .length = reader->undecoded_bytes,
                                            .message =
                                                "the events are lost (there are no attrs): samples cannot be decoded"};
    return pf_diagnose(reader, part, &loss, error);
}

/*
 * Without the attr of its event the content of a sample cannot be decoded. Reported once: the loss is that of all
 * samples.
 */
static int lose_sample(struct perfile_reader *reader, struct pf_part *part, struct perfile_record *record,
                       struct perfile_error *error)
{
    const bool is_first = reader->undecoded_bytes == 0;
    reader->undecoded_bytes += record->bytes;
    if (!has_all_events(reader)) {
        count_record(reader, record);
        return 0;
    }
    record->damaged = true;
    reader->counts.damaged++;
    reader->counts.bytes_lost += record->bytes;
    return is_first ? report_lost_events(reader, part, record, error) : 0;
}

int pf_frame_finish_events(struct perfile_reader *reader, struct perfile_error *error)
{
    struct perfile_counts *counts = &reader->counts;
    if (PF_LIKELY(!reader->undecoded_bytes || reader->event_count || has_all_events(reader)))
        return 0;
    counts->damaged += counts->samples;
    counts->records -= counts->samples;
    counts->samples = 0;
    counts->bytes_lost += reader->undecoded_bytes;
    const int result = report_lost_events(reader, &reader->parts[0], NULL, error);
    reader->undecoded_bytes = 0;
    return result;
}

static void start_record(struct pf_frame *frame)
{
    frame->window->keep = PF_UNLIKELY(frame->previous_inexact) ? frame->previous : frame->at;
    frame->window->waits = false;
    frame->end_before = frame->end;
}

/*
 * 1: the record of an unknown type is counted as such; 0: it is damage, or more bytes are needed to say so; or an
 * error.
 */
static int count_unknown(struct perfile_reader *reader, struct pf_part *part, struct pf_frame *frame,
                         const struct position *position, struct perfile_record *record, struct perfile_error *error)
{
    if (!sensible_unknown(reader, part, frame, position))
        return 0;
    const int result = look_again(frame, record, error);
    reader->counts.unknown += result >= 0;
    return result < 0 ? result : 1;
}

static void set_step(struct pf_frame *frame, const struct position *position)
{
    if (PF_UNLIKELY(position->type == PERFILE_RECORD_COMPRESSED))
        frame->step = 1;
    else if (PF_UNLIKELY(position->bytes % 8) && frame->step == 8)
        frame->step = 4;
}

/* The next record, whatever it is. */
static __attribute__((noinline)) int next_of_any(struct perfile_reader *reader, struct pf_part *part,
                                                 struct pf_frame *frame, struct perfile_record *record,
                                                 struct perfile_error *error)
{
    struct position position;
    start_record(frame);
    int result = look_at_record(reader, frame, frame->at, &position, error);
    if (PF_UNLIKELY(result < 0))
        return result;
    if (PF_UNLIKELY(position.got < 8 || position.bytes < 8 || position.bytes > position.got)) {
        if (position.got == 0 || (frame->open_ended && (position.got < 8 || position.bytes >= 8)))
            return pf_frame_finish(reader, part, frame, error);
        return skip_damage(reader, part, frame, record, error);
    }
    fill_record(record, part, frame, &position);
    bool padded;
    uint32_t asked = identify(reader, record, &padded);
    if (PF_UNLIKELY(position.type == PERFILE_RECORD_MMAP2)) {
        result = clear_leaked_build_id_bit(reader, part, record, error);
        if (result < 0)
            return result;
    }
    if (PF_UNLIKELY(asked != position.bytes) && doubtful(&position, asked, padded))
        return deliver_doubtful(reader, part, frame, record, asked, error);
    if (PF_UNLIKELY(!pf_record_info(position.type))) {
        result = count_unknown(reader, part, frame, &position, record, error);
        if (result < 0)
            return result;
        if (!result)
            return frame->window->waits ? fail_undecided(frame, error)
                                        : skip_damage(reader, part, frame, record, error);
    }
    const uint64_t payload = payload_of(reader, &position);
    if (PF_UNLIKELY(payload && part->source.growing)) {
        result = await_payload(reader, frame, record, payload, error);
        if (result < 0)
            return result;
    }
    frame->previous = frame->at;
    frame->previous_inexact = asked != position.bytes;
    frame->at += position.bytes;
    if (PF_UNLIKELY(payload)) {
        result = take_payload(reader, part, frame, record, payload, error);
        if (result < 0)
            return result;
    }
    set_step(frame, &position);
    if (PF_UNLIKELY(position.type == PERFILE_RECORD_SAMPLE && !record->event)) {
        result = lose_sample(reader, part, record, error);
        return result < 0 ? result : 1;
    }
    count_record(reader, record);
    return 1;
}

/* The way of nearly every record: a complete SAMPLE in the window, of exactly the size that its content asks for. */
static inline bool take_sample(struct perfile_reader *reader, const struct pf_part *part, struct pf_frame *frame,
                               struct perfile_record *record)
{
    const struct pf_window *window = frame->window;
    const bool swap = reader->file.swapped;
    const uint64_t from = frame->at - window->offset;
    uint64_t capacity = frame->end - frame->at;
    if (PF_UNLIKELY(from > window->bytes || window->bytes - from < 8 || capacity < 8))
        return false;
    capacity = pf_min(capacity, window->bytes - from);
    struct position position = {.data = window->data + from, .got = (size_t)capacity};
    position.type = pf_load32(position.data, swap);
    position.misc = pf_load16(position.data + 4, swap);
    position.bytes = pf_load16(position.data + 6, swap);
    if (position.type != PERFILE_RECORD_SAMPLE || PF_UNLIKELY(position.bytes > capacity))
        return false;
    const struct pf_event *event = pf_event_of_sample(reader, position.data, position.bytes);
    if (PF_UNLIKELY(!event || !event->plan.known || position.bytes < event->plan.fixed_bytes ||
                    pf_plan_measure(&event->plan, position.data, position.bytes) != position.bytes))
        return false;
    fill_record(record, part, frame, &position);
    record->event = &event->public;
    if (PF_LIKELY(event->plan.time_at))
        record->time = pf_load64(position.data + event->plan.time_at, swap);
    frame->previous = frame->at;
    frame->previous_inexact = false;
    frame->at += position.bytes;
    if (PF_UNLIKELY(position.bytes % 8) && frame->step == 8)
        frame->step = 4;
    frame->last_time = record->time;
    reader->counts.records++;
    reader->counts.samples++;
    return true;
}

int pf_frame_next(struct perfile_reader *reader, struct pf_part *part, struct pf_frame *frame,
                  struct perfile_record *record, struct perfile_error *error)
{
    if (PF_LIKELY(take_sample(reader, part, frame, record)))
        return 1;
    int result;
    do
        result = next_of_any(reader, part, frame, record, error);
    while (PF_UNLIKELY(result == LOOK_AGAIN));
    return result;
}
