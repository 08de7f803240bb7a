/* SPDX-License-Identifier: MIT */
#include "model/history.h"

#include "base/error.h"
#include "base/varint.h"

/* ---- for the code that writes an index --------------------------------------------------------------------------- */

/* A recording in which more records than ENTRIES_MAX matter at one time gets no history. */
enum { ENTRIES_RENEWED = 1 << 16, ENTRIES_MAX = 1 << 20 };

enum what { ALWAYS, ROUND, LIFE };

struct pf_history_entry {
    uint64_t offset;
    uint64_t time;
    uint32_t pid, tid;
    uint32_t bytes;
    uint16_t type;
    uint16_t what;
};

void pf_history_maker_open(struct pf_history_maker *maker, const struct perfile_allocator *allocator)
{
    *maker = (struct pf_history_maker){.allocator = allocator, .renew_at = ENTRIES_RENEWED};
    pf_lifetimes_open(&maker->lifetimes, allocator);
}

void pf_history_maker_close(struct pf_history_maker *maker)
{
    pf_free(maker->allocator, maker->entries, maker->capacity * sizeof(*maker->entries));
    pf_lifetimes_close(&maker->lifetimes);
}

static void turn_off(struct pf_history_maker *maker)
{
    const struct perfile_allocator *allocator = maker->allocator;
    pf_history_maker_close(maker);
    pf_history_maker_open(maker, allocator);
    maker->off = true;
}

static bool decode(struct perfile_reader *reader, const struct perfile_record *record, struct pf_life_note *note)
{
    union pf_any_record body;
    if (pf_record_kind(record->type) != PF_KIND_PROCESS || record->damaged ||
        perfile_record_decode(reader, record, &body, pf_layout_struct_bytes(record->type), NULL) < 0)
        return false;
    *note = pf_life_note_of(record, &body);
    return true;
}

/*
 * Returns whether a history can describe the record. It cannot for samples that a filter by time could not judge, for
 * compressed data, and for callchains that come later.
 */
static bool can_be_reported(const struct pf_history_maker *maker, const struct perfile_reader *reader,
                            const struct perfile_record *record)
{
    const uint32_t type = record->type;
    if (type == PERFILE_RECORD_SAMPLE || type == PERFILE_RECORD_CALLCHAIN_DEFERRED || record->compressed ||
        type == PERFILE_RECORD_COMPRESSED || type == PERFILE_RECORD_COMPRESSED2)
        return false;
    if (type >= PERFILE_RECORD_HEADER_ATTR)
        return true;
    if (!reader->event_count || !reader->events[0]->plan.sample_id_all || record->time == UINT64_MAX)
        return false;
    /* a process's record without a time takes effect where it is: marks know that only before the first round ends */
    return record->time || pf_record_kind(type) != PF_KIND_PROCESS || !maker->round_ended;
}

static enum what what_is(enum pf_record_kind kind, bool decoded, uint32_t type)
{
    if (type == PERFILE_RECORD_FINISHED_ROUND)
        return ROUND;
    return kind == PF_KIND_PROCESS && decoded ? LIFE : ALWAYS;
}

void pf_history_note(struct pf_history_maker *maker, struct perfile_reader *reader, const struct perfile_record *record)
{
    const enum pf_record_kind kind = pf_record_kind(record->type);
    struct pf_life_note note = {.pid = 0};
    if (maker->off)
        return;
    if (!can_be_reported(maker, reader, record) || maker->count >= 2 * (size_t)ENTRIES_MAX) {
        turn_off(maker);
        return;
    }
    if (record->type == PERFILE_RECORD_SAMPLE || (record->time && (kind == PF_KIND_MOMENT || kind == PF_KIND_RUNNING)))
        return;
    const bool decoded = decode(reader, record, &note);
    maker->failed |=
        !pf_grow(maker->allocator, &maker->entries, &maker->capacity, maker->count + 1, sizeof(*maker->entries));
    if (!maker->failed)
        maker->entries[maker->count++] = (struct pf_history_entry){record->offset,
                                                                   record->time,
                                                                   note.pid,
                                                                   note.tid,
                                                                   record->bytes,
                                                                   (uint16_t)record->type,
                                                                   (uint16_t)what_is(kind, decoded, record->type)};
}

/* A map of a process that is known says nothing new: nearly all are. */
static bool is_known(const struct pf_history_maker *maker, const struct perfile_reader *reader,
                     const struct perfile_record *record)
{
    const bool swap = reader->file.swapped;
    return (record->type == PERFILE_RECORD_MMAP || record->type == PERFILE_RECORD_MMAP2) && record->bytes >= 16 &&
           pf_lifetimes_process(&maker->lifetimes, pf_load32(record->data + 8, swap)) &&
           pf_lifetimes_thread(&maker->lifetimes, pf_load32(record->data + 12, swap));
}

void pf_history_delivered(struct pf_history_maker *maker, struct perfile_reader *reader,
                          const struct perfile_record *record)
{
    struct pf_life_note note;
    if (maker->off || pf_record_kind(record->type) != PF_KIND_PROCESS)
        return;
    pf_lifetimes_advance(&maker->lifetimes, record->time);
    if (!is_known(maker, reader, record) && decode(reader, record, &note))
        pf_lifetimes_follow(&maker->lifetimes, &note);
    maker->failed |= maker->lifetimes.failed;
}

static bool matters(const struct pf_history_maker *maker, const struct pf_history_entry *entry)
{
    const struct pf_life_note note = {.time = entry->time, .type = entry->type, .pid = entry->pid, .tid = entry->tid};
    return entry->what == ALWAYS || pf_lifetimes_matters(&maker->lifetimes, &note);
}

/* The end of a round matters when something in it does. */
static void renew(struct pf_history_maker *maker, uint64_t settled, uint64_t resume)
{
    size_t kept = 0;
    bool in_round = false;
    pf_lifetimes_advance(&maker->lifetimes, settled);
    for (size_t i = 0; i < maker->count; i++) {
        const struct pf_history_entry *entry = &maker->entries[i];
        const bool round = entry->what == ROUND;
        const bool keep = entry->offset >= resume || (round ? in_round : matters(maker, entry));
        in_round = !round && (in_round || keep);
        if (keep)
            maker->entries[kept++] = *entry;
    }
    maker->count = kept;
    maker->renew_at = 2 * kept + ENTRIES_RENEWED;
    if (kept > ENTRIES_MAX)
        turn_off(maker);
}

void pf_history_round(struct pf_history_maker *maker, uint64_t settled, uint64_t resume)
{
    if (maker->count >= maker->renew_at)
        renew(maker, settled, resume);
}

static void put_range(struct pf_text *text, uint64_t distance, uint64_t bytes)
{
    uint8_t *at = (uint8_t *)pf_text_reserve(text, 2 * PF_LEB128_BYTES);
    at = pf_leb128_put(at, distance);
    at = pf_leb128_put(at, bytes);
    pf_text_commit(text, (char *)at);
}

/* Records without anything between them are one range. */
static void put_ranges(const struct pf_history_maker *maker, uint64_t resume, struct pf_text *text)
{
    uint64_t from = 0, until = 0, before = 0;
    for (size_t i = 0; i < maker->count && maker->entries[i].offset < resume; i++) {
        const struct pf_history_entry *entry = &maker->entries[i];
        if (entry->offset != until) {
            if (until > from)
                put_range(text, from - before, until - from);
            before = until;
            from = entry->offset;
        }
        until = entry->offset + entry->bytes;
    }
    if (until > from)
        put_range(text, from - before, until - from);
}

void pf_history_put(struct pf_history_maker *maker, uint64_t settled, uint64_t resume, struct pf_text *text)
{
    if (maker->off)
        return;
    renew(maker, settled, resume);
    if (maker->off)
        return;
    pf_lifetimes_put(&maker->lifetimes, text);
    put_ranges(maker, resume, text);
}

/* ---- for the code that edits ------------------------------------------------------------------------------------- */

/* Chooses the last mark with a history that is settled before `first`. Returns false when there is none. */
static bool choose(struct pf_history *history, uint64_t first)
{
    const struct pf_index_tail tail = pf_index_tail_of(history->reader);
    const struct pf_part *part = &history->reader->parts[0];
    bool found = false;
    for (uint64_t i = 0; i < tail.marks.count; i++) {
        const struct pf_index_mark mark = pf_index_mark_at(history->reader, &tail, i);
        if (mark.settled >= first || mark.resume.offset >= mark.end || mark.end > part->frame.end)
            break;
        if (!mark.history.bytes || mark.resume.inflated || mark.resume.offset < part->start)
            continue;
        history->mark = mark;
        found = true;
    }
    return found;
}

int pf_history_open(struct pf_history *history, struct perfile_reader *reader, uint64_t first,
                    struct pf_lifetimes *lifetimes, struct perfile_error *error)
{
    *history = (struct pf_history){.reader = reader};
    const int got = reader->index.data && choose(history, first)
                        ? pf_index_unpack(reader, &history->mark.history, &history->bytes)
                        : 0;
    if (got <= 0) {
        history->reader = NULL;
        return got < 0 ? pf_fail_memory(error, "index") : 0;
    }
    history->count = (size_t)history->mark.history.count;
    const uint8_t *at = history->bytes;
    const struct perfile_allocator *allocator = lifetimes->allocator;
    if (pf_lifetimes_take(lifetimes, &at, history->bytes + history->count)) {
        pf_lifetimes_advance(lifetimes, history->mark.settled);
        history->ranges_at = (size_t)(at - history->bytes);
        return 0;
    }
    const bool failed = lifetimes->failed;
    pf_history_close(history);
    pf_lifetimes_close(lifetimes);
    pf_lifetimes_open(lifetimes, allocator);
    return failed ? pf_fail_memory(error, "index") : 0;
}

void pf_history_close(struct pf_history *history)
{
    if (history->reader)
        pf_free(history->reader->allocator, history->bytes, history->count + 1);
    history->reader = NULL;
}

void pf_history_pass(const struct pf_history *history)
{
    pf_reader_go_to(history->reader, &history->mark.resume, &history->mark.counts);
}

void pf_history_walk(struct pf_history *history)
{
    history->walks = true;
    history->at = history->bytes + history->ranges_at;
    history->until = 0;
}

/* False: there is none, or it is damaged. */
static bool next_range(struct pf_history *history, uint64_t *from)
{
    const uint8_t *end = history->bytes + history->count;
    uint64_t distance, bytes, until;
    if (history->at == end || !pf_leb128_take(&history->at, end, &distance) ||
        !pf_leb128_take(&history->at, end, &bytes) || !pf_add(history->until, distance, from) ||
        !pf_add(*from, bytes, &until) || until > history->mark.resume.offset)
        return false;
    history->until = until;
    return true;
}

void pf_history_go_on(struct pf_history *history)
{
    const struct pf_frame *frame = &history->reader->parts[0].frame;
    const struct perfile_counts *counts = &history->mark.counts;
    uint64_t from;
    while (pf_history_is_due(history)) {
        history->walks = next_range(history, &from);
        if (history->walks && from > frame->at)
            pf_reader_pass_over(history->reader, from, 0, frame->last_time);
    }
    if (history->walks)
        return;
    history->records = counts->records - pf_min(counts->records, history->reader->counts.records);
    history->samples = counts->samples - pf_min(counts->samples, history->reader->counts.samples);
    pf_history_pass(history);
}
