/* SPDX-License-Identifier: MIT */
/* Writing an index while a recording is read. */
#include <perfile/index.h>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "base/varint.h"
#include "io/deflate.h"
#include "model/index.h"
#include "model/session.h"
#include "model/history.h"

/* How far marks are apart at least, in bytes of the recording, or in bytes of a state. */
enum { MARK_BYTES = 64 << 20, MARK_STATES = 32 };
enum { INFLATING = 4 }; /* as many times as dear it is to read what is compressed */
enum { BLOCK_BYTES = 1 << 20, GAP_BYTES = 4096, GAP_MAX_BYTES = 1 << 30 };

/* Where a round begins, and what the reader had counted there. */
struct round {
    struct pf_entry entry; /* offset 0: it is the first one, */
    bool can_enter;        /* or reading cannot begin there */
    struct perfile_counts counts;
};

struct builder {
    const struct perfile_allocator *allocator;
    struct perfile_sink sink;
    void (*ended)(void *context, bool complete); /* NULL: no notice is required */
    void *end_context;
    struct perfile_reader *reader;
    struct perfile_session *session; /* the last one that was opened, until one starts that reads everything */
    bool started;
    struct round round, round_before; /* that is read, and the one before it */
    struct pf_index_tail tail;
    struct pf_threads threads; /* as in a session that needs the name of each sample and discards ended threads */
    bool exit_pending;
    int32_t exit_tid;
    int result; /* below 0: there will be none, as `error` says */
    bool complete;
    struct perfile_error error;
    uint64_t written;     /* bytes */
    struct pf_text marks; /* struct pf_index_mark */
    struct pf_text texts; /* that are new since the last mark, ... */
    struct pf_text gone;
    uint64_t text_count; /* ... and of these the first */
    uint64_t new_texts;
    struct pf_map numbers; /* of texts, by their hash; looked up as struct pf_index_name in `known` */
    struct pf_arena arena;
    struct pf_map known;      /* number of a text to the text, a pointer */
    struct pf_text parts[10]; /* of a state */
    struct pf_index_counts has;
    struct pf_history_maker history;
    struct pf_map map_numbers; /* of this state, by their addresses */
    struct pf_map space_numbers;
    struct pf_index_sizes sizes;
    uint64_t next_mark;           /* not before so long a way */
    struct perfile_block block;   /* that grows; its gaps begin at gaps.at of ... */
    struct pf_text gaps;          /* struct pf_index_gap */
    struct pf_text packed;        /* those of a block as they are written */
    struct pf_text ready, blocks; /* struct perfile_block: that have ended, and of them those whose gaps are written */
    struct pf_index_gap gap;      /* that grows; no samples: none does */
    uint64_t queue_bytes;         /* the most that waited */
    int32_t last_pid, last_tid;   /* the last ones that went into the sets of the block, */
    bool last_known;              /* if any did */
    bool compressed;              /* a compressed record was there */
    uint32_t of_space;            /* maps */
    bool failed;                  /* out of memory */
};

enum { COUNTS, NAMES, GROUPS, MAPS, SPACES, PROCESSES, ALIVE, ENDED, EXECS, EXEC_TIMES };

/* The number of a text. */
static uint32_t number_of(struct builder *b, const char *text)
{
    const uint64_t hash = pf_hash_text(text);
    uint64_t number, known;
    if (pf_map_get(&b->numbers, hash, &number) && pf_map_get(&b->known, number, &known) &&
        strcmp((const char *)(uintptr_t)known, text) == 0)
        return (uint32_t)number;
    const size_t bytes = strlen(text);
    const char *copy = pf_arena_text(&b->arena, text, bytes);
    number = b->text_count + b->new_texts++;
    b->failed |= !copy || number >= PF_INDEX_NO_TEXT || !pf_map_put(&b->numbers, hash, number) ||
                 !pf_map_put(&b->known, number, (uintptr_t)copy);
    pf_put(&b->texts, text, bytes + 1);
    return (uint32_t)number;
}

/* ---- a state ----------------------------------------------------------------------------------------------------- */

static void put_name(void *context, uint32_t tid, const char *text)
{
    struct builder *b = context;
    const struct pf_index_name name = {tid, number_of(b, text)};
    pf_put(&b->parts[NAMES], &name, sizeof(name));
    b->has.names++;
}

static void put_groups(struct builder *b)
{
    const struct pf_map *paths = &b->session->state.cgroups.paths;
    for (size_t i = 0; i < paths->size; i++) {
        const struct pf_map_slot *slot = &paths->slots[i];
        if (!slot->value)
            continue;
        const struct pf_index_group group = {slot->key, number_of(b, (const char *)(uintptr_t)(slot->value - 1))};
        pf_put(&b->parts[GROUPS], &group, sizeof(group));
        b->has.groups++;
    }
}

static void put_map(struct builder *b, const struct perfile_map *map, uint32_t replaced)
{
    struct pf_index_map put = {.start = map->start,
                               .end = map->end,
                               .pgoff = map->pgoff,
                               .text = number_of(b, map->filename),
                               .id = map->id,
                               .prot = map->prot,
                               .flags = map->flags,
                               .pid = map->pid,
                               .build_id_bytes = map->build_id_bytes,
                               .kernel = map->kernel,
                               .data = map->data,
                               .symbol = map->symbol,
                               .replaced = replaced,
                               .inode = map->inode,
                               .executed = map->executed,
                               .device_major = map->device_major,
                               .device_minor = map->device_minor};
    memcpy(put.build_id, map->build_id, sizeof(put.build_id));
    pf_put(&b->parts[MAPS], &put, sizeof(put));
}

/* One more than the number of the map, which is written when it has none yet. */
static uint32_t number_of_map(struct builder *b, const struct perfile_map *map)
{
    uint64_t number;
    if (pf_map_get(&b->map_numbers, (uintptr_t)map, &number))
        return (uint32_t)number + 1;
    const uint32_t replaced = map->replaced ? number_of_map(b, map->replaced) : 0;
    number = b->has.maps++;
    b->failed |= !pf_map_put(&b->map_numbers, (uintptr_t)map, number);
    put_map(b, map, replaced);
    return (uint32_t)number + 1;
}

static bool put_map_of_space(void *context, const struct perfile_map *map)
{
    struct builder *b = context;
    const uint32_t put = number_of_map(b, map) - 1;
    pf_put(&b->parts[SPACES], &put, sizeof(put));
    b->of_space++;
    return true;
}

/* Processes that have one space share it. */
static uint32_t put_space(struct builder *b, const struct perfile_space *space)
{
    uint64_t number;
    if (pf_map_get(&b->space_numbers, (uintptr_t)space, &number))
        return (uint32_t)number;
    const size_t at = b->parts[SPACES].used;
    b->of_space = 0;
    pf_put(&b->parts[SPACES], &b->of_space, sizeof(b->of_space));
    pf_maps_walk(space, put_map_of_space, b);
    if (!b->parts[SPACES].failed)
        memcpy(b->parts[SPACES].data + at, &b->of_space, sizeof(b->of_space));
    b->failed |= !pf_map_put(&b->space_numbers, (uintptr_t)space, b->has.spaces);
    return b->has.spaces++;
}

static void put_spaces(struct builder *b)
{
    const struct pf_map *spaces = &b->session->state.maps.spaces;
    for (size_t i = 0; i < spaces->size; i++) {
        const struct pf_map_slot *slot = &spaces->slots[i];
        if (slot->value <= 1 || pf_maps_is_over(&b->session->state.maps, slot->key))
            continue;
        const struct pf_index_process process = {
            (uint32_t)slot->key, put_space(b, (const struct perfile_space *)(uintptr_t)(slot->value - 1))};
        pf_put(&b->parts[PROCESSES], &process, sizeof(process));
        b->has.processes++;
    }
}

static uint32_t put_lifetimes(const struct pf_maps *maps, struct pf_text *to, const struct pf_map *lifetimes)
{
    uint32_t count = 0;
    for (size_t i = 0; i < lifetimes->size; i++) {
        const struct pf_map_slot *slot = &lifetimes->slots[i];
        if (!slot->value || pf_maps_is_over(maps, slot->key))
            continue;
        const struct pf_index_life life = {slot->key, slot->value - 1};
        pf_put(to, &life, sizeof(life));
        count++;
    }
    return count;
}

static void gather(struct builder *b)
{
    const struct pf_maps *maps = &b->session->state.maps;
    b->has = (struct pf_index_counts){.next_map = maps->count};
    pf_threads_walk(&b->threads, put_name, b);
    put_groups(b);
    put_spaces(b);
    b->has.alive = put_lifetimes(maps, &b->parts[ALIVE], &maps->alive);
    b->has.ended = put_lifetimes(maps, &b->parts[ENDED], &maps->ended);
    b->has.execs = put_lifetimes(maps, &b->parts[EXECS], &maps->execs);
    b->has.exec_times = put_lifetimes(maps, &b->parts[EXEC_TIMES], &maps->exec_times);
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

static int write_bytes(struct builder *b, const void *data, size_t bytes, struct pf_index_piece *piece,
                       struct perfile_error *error)
{
    if (bytes && b->sink.write(b->sink.context, data, bytes) != 0)
        return pf_fail(error, PERFILE_ERROR_WRITE, PERFILE_NO_OFFSET, "index", "it cannot be written");
    piece->crc = pf_crc32((uint32_t)piece->crc, data, bytes);
    piece->bytes += bytes;
    b->written += bytes;
    return 0;
}

/* What was gathered in a text, which is empty afterwards. */
static int write_text(struct builder *b, struct pf_text *text, struct pf_index_piece *piece,
                      struct perfile_error *error)
{
    const int result = text->failed || b->failed ? pf_fail_memory(error, "index")
                                                 : write_bytes(b, text->data, text->used, piece, error);
    text->used = 0;
    return result;
}

static struct pf_index_piece piece_here(const struct builder *b, uint64_t count)
{
    return (struct pf_index_piece){.at = b->written, .count = count};
}

/* All that comes out of it now. */
static int write_deflated(struct builder *b, struct pf_deflate *deflate, struct pf_index_piece *piece,
                          struct perfile_error *error)
{
    uint8_t out[16384];
    size_t got;
    int result;
    do {
        result = pf_deflate_pull(deflate, out, sizeof(out), &got, error);
        result = result < 0 ? result : write_bytes(b, out, got, piece, error);
    } while (result == 0 && got);
    return result;
}

/* What was gathered in texts, which are empty afterwards. */
static int write_packed(struct builder *b, struct pf_text *parts, size_t count, struct pf_index_piece *piece,
                        struct perfile_error *error)
{
    struct pf_deflate *deflate;
    *piece = piece_here(b, 0);
    int result = pf_deflate_open(&deflate, b->allocator, 1, error);
    if (result < 0)
        return result;
    for (size_t i = 0; i < count && result == 0; i++) {
        piece->count += parts[i].used;
        pf_deflate_push(deflate, parts[i].data, parts[i].used);
        result =
            parts[i].failed || b->failed ? pf_fail_memory(error, "index") : write_deflated(b, deflate, piece, error);
        parts[i].used = 0;
    }
    pf_deflate_end(deflate);
    if (result == 0)
        result = write_deflated(b, deflate, piece, error);
    pf_deflate_close(deflate);
    return result;
}

/* Consecutive states are similar, and each contains many names and maps: compressed they take a fifth. */
static int write_state(struct builder *b, struct pf_index_piece *piece, struct perfile_error *error)
{
    pf_put(&b->parts[COUNTS], &b->has, sizeof(b->has));
    return write_packed(b, b->parts, PF_COUNT(b->parts), piece, error);
}

static int write_history(struct builder *b, const struct pf_index_mark *mark, struct pf_index_piece *piece,
                         struct perfile_error *error)
{
    pf_history_put(&b->history, mark->settled, mark->resume.offset, &b->packed);
    b->failed |= b->history.failed;
    return b->packed.used || b->failed ? write_packed(b, &b->packed, 1, piece, error) : 0;
}

/* How far it is to there, in bytes that are looked at. */
static uint64_t way_of(const struct pf_entry *entry)
{
    return entry->offset + entry->inflated;
}

static int write_mark(struct builder *b)
{
    struct perfile_error *error = &b->error;
    struct pf_index_mark mark = {.settled = b->session->sorting.settled,
                                 .resume = b->round_before.entry,
                                 .end = b->round.entry.offset,
                                 .counts = b->round_before.counts};
    pf_map_open(&b->map_numbers, b->allocator);
    pf_map_open(&b->space_numbers, b->allocator);
    gather(b);
    pf_map_close(&b->map_numbers);
    pf_map_close(&b->space_numbers);
    int result = write_state(b, &mark.state, error);
    if (result == 0)
        result = write_history(b, &mark, &mark.history, error);
    mark.texts = piece_here(b, b->new_texts);
    if (result == 0)
        result = write_text(b, &b->texts, &mark.texts, error);
    mark.gone = piece_here(b, b->gone.used / sizeof(struct pf_index_name));
    if (result == 0)
        result = write_text(b, &b->gone, &mark.gone, error);
    b->text_count += b->new_texts;
    b->new_texts = 0;
    pf_put(&b->marks, &mark, sizeof(mark));
    const uint64_t states =
        b->sizes.mark_bytes < MARK_BYTES ? 0 : MARK_STATES * (mark.state.bytes + mark.history.bytes);
    const uint64_t apart = b->compressed ? b->sizes.mark_bytes / INFLATING : b->sizes.mark_bytes;
    b->next_mark = way_of(&b->round.entry) + pf_max(apart, states);
    return result;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* Ends a gap and drops it if it is too small to be useful. */
static void end_gap(struct builder *b)
{
    const size_t of_block = b->gaps.used - (size_t)b->block.gaps.at;
    if (b->gap.samples && b->gap.bytes >= b->sizes.gap_bytes) {
        b->block.at = of_block ? b->block.at : b->gap.at;
        b->block.end = b->gap.at + b->gap.bytes;
        b->block.gaps.count++;
        pf_put(&b->gaps, &b->gap, sizeof(b->gap));
    }
    b->gap = (struct pf_index_gap){0};
}

static void begin_block(struct builder *b)
{
    b->block = (struct perfile_block){.first_time = UINT64_MAX, .gaps = {.at = b->gaps.used}};
    b->last_known = false;
}

static void end_block(struct builder *b)
{
    end_gap(b);
    if (!b->block.gaps.count)
        return; /* it goes on */
    pf_put(&b->ready, &b->block, sizeof(b->block));
    begin_block(b);
}

/* The gaps of a block, as struct pf_index_gaps has them. */
static void pack_gaps(struct builder *b, const struct perfile_block *block)
{
    const char *from = b->gaps.data + block->gaps.at;
    uint64_t end = block->at, time = block->first_time;
    struct pf_index_gap gap;
    for (uint64_t i = 0; i < block->gaps.count; i++) {
        memcpy(&gap, from + i * sizeof(gap), sizeof(gap));
        uint8_t *at = (uint8_t *)pf_text_reserve(&b->packed, 4 * PF_LEB128_BYTES);
        at = pf_leb128_put(at, gap.at - end);
        at = pf_leb128_put(at, gap.bytes);
        at = pf_leb128_put(at, gap.samples);
        at = pf_leb128_put(at, pf_zigzag((int64_t)(gap.last_time - time)));
        pf_text_commit(&b->packed, (char *)at);
        end = gap.at + gap.bytes;
        time = gap.last_time;
    }
}

/* The gaps of blocks that have ended; those of the block that grows stay. */
static int write_ready(struct builder *b, struct perfile_error *error)
{
    struct perfile_block block;
    int result = b->gaps.failed || b->ready.failed ? pf_fail_memory(error, "index") : 0;
    for (size_t at = 0; at < b->ready.used && result == 0; at += sizeof(block)) {
        memcpy(&block, b->ready.data + at, sizeof(block));
        pack_gaps(b, &block);
        block.gaps = piece_here(b, block.gaps.count);
        result = write_text(b, &b->packed, &block.gaps, error);
        pf_put(&b->blocks, &block, sizeof(block));
    }
    if (result < 0)
        return result;
    b->ready.used = 0;
    b->gaps.used -= (size_t)b->block.gaps.at;
    memmove(b->gaps.data, b->gaps.data + b->block.gaps.at, b->gaps.used);
    b->block.gaps.at = 0;
    return 0;
}

static void note_thread(struct builder *b, const struct pf_plan *plan, const uint8_t *data)
{
    if (!plan->tid_at) {
        b->block.missing |= PF_INDEX_NO_THREAD;
        return;
    }
    const int32_t pid = (int32_t)pf_load32(data + plan->tid_at, plan->swap);
    const int32_t tid = (int32_t)pf_load32(data + plan->tid_at + 4, plan->swap);
    if (b->last_known && pid == b->last_pid && tid == b->last_tid)
        return;
    b->last_pid = pid;
    b->last_tid = tid;
    b->last_known = true;
    pf_index_set_add(&b->block.pids, (uint32_t)pid);
    pf_index_set_add(&b->block.tids, (uint32_t)tid);
}

static void note_sample(struct builder *b, const struct perfile_record *record)
{
    const struct pf_plan *plan = &((const struct pf_event *)(const void *)record->event)->plan;
    struct perfile_block *block = &b->block;
    uint32_t cpu;
    block->first_time = pf_min(block->first_time, record->time);
    block->last_time = pf_max(block->last_time, record->time);
    block->events |= UINT64_C(1) << record->event->index % 64;
    if (pf_plan_cpu(plan, record, &cpu))
        block->cpus |= UINT64_C(1) << cpu % 64;
    else
        block->missing |= PF_INDEX_NO_CPU;
    note_thread(b, plan, record->data);
    if (!b->gap.samples)
        b->gap.at = record->offset;
    b->gap.bytes += record->bytes;
    b->gap.samples++;
    b->gap.last_time = pf_max(b->gap.last_time, record->time);
}

/* A sample of which no more need be known than the block says. */
static bool is_usual(const struct pf_sorting *sorting, const struct perfile_record *record)
{
    const struct pf_event *event = (const struct pf_event *)(const void *)record->event;
    return record->type == PERFILE_RECORD_SAMPLE && !record->damaged && !record->compressed && event &&
           event->plan.known && event->plan.time_at && pf_sorting_must_wait(sorting->reader, record) &&
           record->time >= sorting->settled && record->bytes == record->stated_bytes;
}

static void note(struct builder *b, const struct perfile_record *record)
{
    const bool usual = is_usual(&b->session->sorting, record);
    b->queue_bytes = pf_max(b->queue_bytes, b->session->sorting.order.bytes);
    b->compressed |= record->compressed;
    if (b->gap.samples && (!usual || record->offset != b->gap.at + b->gap.bytes || b->gap.bytes >= GAP_MAX_BYTES))
        end_gap(b);
    if (usual)
        note_sample(b, record);
    if (b->gap.samples &&
        b->gap.at + b->gap.bytes - (b->block.gaps.count ? b->block.at : b->gap.at) >= b->sizes.block_bytes)
        end_block(b);
}

/*
 * A thread without a name that gets one later gives it to its samples, but not to those of another one with its number
 * (pf_threads_name): so these must be asked for all the same.
 */
static void mark_needed(struct builder *b)
{
    const struct pf_map *asked = &b->threads.asked;
    struct perfile_block block;
    for (size_t i = 0; i < asked->size; i++) {
        if (asked->slots[i].value != 1) /* itself stored plus one: it has got its name */
            continue;
        for (size_t at = 0; at < b->blocks.used && !b->blocks.failed; at += sizeof(block)) {
            memcpy(&block, b->blocks.data + at, sizeof(block));
            block.missing |= pf_index_set_has(&block.tids, (uint32_t)asked->slots[i].key) ? PF_INDEX_NEEDED : 0;
            memcpy(b->blocks.data + at, &block, sizeof(block));
        }
    }
}

/* ---- what it has of the recording -------------------------------------------------------------------------------- */

static int open_texts(struct builder *b)
{
    struct pf_text *const texts[] = {&b->marks, &b->texts, &b->gone, &b->gaps, &b->packed, &b->ready, &b->blocks};
    int result = 0;
    for (size_t i = 0; i < PF_COUNT(texts); i++)
        result |= pf_text_open(texts[i], b->allocator, NULL, NULL);
    for (size_t i = 0; i < PF_COUNT(b->parts); i++)
        result |= pf_text_open(&b->parts[i], b->allocator, NULL, NULL);
    return result;
}

static int open_contents(struct builder *b, struct perfile_error *error)
{
    b->next_mark = b->reader->parts[0].start + b->sizes.mark_bytes;
    b->text_count = b->new_texts = 0;
    b->queue_bytes = 0;
    b->gap = (struct pf_index_gap){0};
    b->started = b->exit_pending = b->compressed = false;
    b->round = b->round_before = (struct round){.can_enter = false};
    pf_map_open(&b->numbers, b->allocator);
    pf_map_open(&b->known, b->allocator);
    pf_arena_open(&b->arena, b->allocator);
    pf_threads_open(&b->threads, b->allocator);
    pf_history_maker_open(&b->history, b->allocator);
    const int result = open_texts(b) < 0 ? pf_fail_memory(error, "index") : 0;
    begin_block(b);
    return result;
}

static void close_contents(struct builder *b)
{
    pf_text_close(&b->marks);
    pf_text_close(&b->texts);
    pf_text_close(&b->gone);
    pf_text_close(&b->gaps);
    pf_text_close(&b->packed);
    pf_text_close(&b->ready);
    pf_text_close(&b->blocks);
    for (size_t i = 0; i < PF_COUNT(b->parts); i++)
        pf_text_close(&b->parts[i]);
    pf_map_close(&b->numbers);
    pf_map_close(&b->known);
    pf_arena_close(&b->arena);
    pf_threads_close(&b->threads);
    pf_history_maker_close(&b->history);
}

/* ---- the pass ---------------------------------------------------------------------------------------------------- */

static const char one_stream[] = "its records are compressed as one stream, which can be read from its beginning only";

static int fail_unsupported(struct perfile_error *error, const char *why)
{
    const char *what = why == one_stream ? "compression" : "index";
    return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, what,
                   "reading cannot begin in the middle of this recording: %s", why);
}

/* No index can be written; the session continues without it. */
static void give_up(struct builder *b, int result)
{
    b->result = result;
    b->session->following.follower = NULL;
}

static void refuse(struct builder *b, const char *why)
{
    give_up(b, fail_unsupported(&b->error, why));
}

static bool is_one_stream(const struct builder *b)
{
    const struct pf_inflate *inflate = b->reader->parts[0].inflate;
    return b->compressed && inflate && !pf_inflate_ended(inflate);
}

static void take_round(void *context)
{
    struct builder *b = context;
    const struct round *before = &b->round_before;
    const uint64_t settled = b->session->sorting.settled;
    const bool can_enter = before->can_enter && before->entry.offset && settled;
    const bool due = can_enter && way_of(&b->round.entry) >= b->next_mark;
    if (b->round.entry.inflated > MARK_BYTES && is_one_stream(b)) {
        refuse(b, one_stream);
        return;
    }
    if (can_enter && !due)
        pf_history_round(&b->history, settled, before->entry.offset);
    const int result = due ? write_mark(b) : 0;
    if (result < 0)
        give_up(b, result);
}

static void note_gone(struct builder *b, int32_t tid, const char *name)
{
    const struct pf_index_name gone = {(uint32_t)tid, name ? number_of(b, name) : PF_INDEX_NO_TEXT};
    pf_put(&b->gone, &gone, sizeof(gone));
}

/* The names of threads that end are kept by some. */
static void take_task(struct builder *b, const struct perfile_record *record)
{
    struct perfile_fork r;
    if (record->damaged || perfile_record_decode(b->reader, record, &r, sizeof(r), NULL) < 0)
        return;
    if (record->type == PERFILE_RECORD_FORK)
        b->failed |= !pf_threads_follow(&b->threads, b->reader, record);
    const char *name = pf_threads_known_name(&b->threads, r.tid);
    if (record->type == PERFILE_RECORD_EXIT || !name)
        note_gone(b, r.tid, name);
    b->exit_pending = record->type == PERFILE_RECORD_EXIT;
    b->exit_tid = r.tid;
}

static void take_map(struct builder *b, const struct perfile_record *record)
{
    union {
        struct perfile_mmap mmap;
        struct perfile_mmap2 mmap2;
    } r;
    const size_t bytes = record->type == PERFILE_RECORD_MMAP ? sizeof(r.mmap) : sizeof(r.mmap2);
    if (record->damaged || perfile_record_decode(b->reader, record, &r, bytes, NULL) < 0)
        return;
    if (pf_is_jitdump(record->type == PERFILE_RECORD_MMAP ? r.mmap.filename : r.mmap2.filename))
        refuse(b, "it has code of JITs, whose files are read from their beginning");
}

/* A session that reads the recording asks for the name of each sample's thread. */
static void take_sample(struct builder *b, const struct perfile_record *record)
{
    const struct pf_event *event = (const struct pf_event *)(const void *)record->event;
    if (event && event->plan.tid_at && !record->damaged)
        (void)pf_threads_name(&b->threads, (int32_t)pf_load32(record->data + event->plan.tid_at + 4, event->plan.swap));
}

/* Records that describe the recording come at its start, which every session reads. */
static void take_other(struct builder *b, const struct perfile_record *record)
{
    const bool harmless = record->type == PERFILE_RECORD_FINISHED_ROUND || record->type == PERFILE_RECORD_FINISHED_INIT;
    if (record->type == PERFILE_RECORD_COMPRESSED || record->type == PERFILE_RECORD_COMPRESSED2)
        b->compressed = true;
    else if (record->type == PERFILE_RECORD_FINISHED_ROUND && record->compressed)
        refuse(b, "its rounds are compressed");
    else if (record->type >= PERFILE_RECORD_HEADER_ATTR && !harmless && b->round.entry.offset)
        refuse(b, "records in the middle of it describe the recording");
}

static void take_delivered(void *context, const struct perfile_record *record)
{
    struct builder *b = context;
    if (PF_UNLIKELY(b->exit_pending)) {
        b->exit_pending = false;
        pf_threads_discard(&b->threads, b->exit_tid);
    }
    if (PF_LIKELY(record->type == PERFILE_RECORD_SAMPLE)) {
        take_sample(b, record);
        return;
    }
    pf_history_delivered(&b->history, b->reader, record);
    switch (record->type) {
    case PERFILE_RECORD_COMM:
        b->failed |= !pf_threads_follow(&b->threads, b->reader, record);
        return;
    case PERFILE_RECORD_FORK:
    case PERFILE_RECORD_EXIT:
        take_task(b, record);
        return;
    case PERFILE_RECORD_MMAP:
    case PERFILE_RECORD_MMAP2:
        take_map(b, record);
        return;
    default:
        take_other(b, record);
    }
}

static bool reads_all(const struct perfile_session *session)
{
    return session->state.follows_maps && !session->limits.first && session->limits.last == UINT64_MAX;
}

/* Whether the session reads all is known when its first record is asked for. */
static bool take_start(void *context)
{
    struct builder *b = context;
    b->started = reads_all(b->session);
    return b->started;
}

static void begin_round(struct builder *b)
{
    b->round_before = b->round;
    b->round.can_enter = pf_reader_entry(b->reader, &b->round.entry);
    b->round.counts = b->reader->counts;
    b->history.round_ended = true;
}

static void take_read(void *context, const struct perfile_record *record)
{
    struct builder *b = context;
    note(b, record);
    pf_history_read(&b->history, b->reader, record);
    if (record->type == PERFILE_RECORD_FINISHED_ROUND)
        begin_round(b);
    if (PF_UNLIKELY(b->ready.used)) {
        const int result = write_ready(b, &b->error);
        if (result < 0)
            give_up(b, result);
    }
}

static bool has_damage(const struct perfile_reader *reader)
{
    const struct perfile_counts *counts = &reader->counts, *opening = &reader->opening_counts;
    return counts->losses || counts->damaged || counts->unknown || counts->bytes_lost ||
           counts->warnings != opening->warnings || counts->notes != opening->notes;
}

static const char *why_not(const struct builder *b)
{
    const struct pf_sorting *sorting = &b->session->sorting;
    if (is_one_stream(b))
        return one_stream;
    if (b->reader->counts.aux_type || b->reader->counts.aux_bytes)
        return "it has AUX data";
    if (has_damage(b->reader))
        return "it has damage, or causes warnings or notes";
    return sorting->unordered || sorting->relieved ? "its records are out of order" : NULL;
}

static int finish(struct builder *b)
{
    struct pf_index_tail *tail = &b->tail;
    struct perfile_error *error = &b->error;
    tail->counts = b->reader->counts;
    tail->queue_bytes = b->queue_bytes;
    end_block(b);
    int result = write_ready(b, error);
    if (result < 0)
        return result;
    mark_needed(b);
    tail->marks = piece_here(b, b->marks.used / sizeof(struct pf_index_mark));
    result = write_text(b, &b->marks, &tail->marks, error);
    tail->blocks = piece_here(b, b->blocks.used / sizeof(struct perfile_block));
    if (result == 0)
        result = write_text(b, &b->blocks, &tail->blocks, error);
    struct pf_index_piece unused = {0};
    tail->crc = pf_crc32(0, tail, offsetof(struct pf_index_tail, crc));
    return result < 0 ? result : write_bytes(b, tail, sizeof(*tail), &unused, error);
}

static void take_end(void *context)
{
    struct builder *b = context;
    const char *why = why_not(b);
    if (why) {
        refuse(b, why);
        return;
    }
    const int result = finish(b);
    give_up(b, result);
    b->complete = result == 0;
    if (b->complete && b->ended)
        b->ended(b->end_context, true);
}

static const struct pf_follower follower = {take_start, take_round, take_read, take_delivered, take_end};

/* ---- opening ----------------------------------------------------------------------------------------------------- */

/* Follows the session, if no session before it has written anything: those that read only the beginning have not. */
static void take_session(void *context, struct perfile_session *session)
{
    struct builder *b = context;
    if (b->result < 0 || b->complete || b->written)
        return;
    if (b->started) {
        close_contents(b);
        b->result = open_contents(b, &b->error);
        if (b->result < 0)
            return;
    }
    b->session = session;
    session->following.follower = &follower;
    session->following.context = b;
}

static void take_close(void *context)
{
    struct builder *b = context;
    b->reader->follower.opened = NULL;
    b->reader->follower.closed = NULL;
    if (b->ended && !b->complete)
        b->ended(b->end_context, false);
    close_contents(b);
    pf_free(b->allocator, b, sizeof(*b));
}

static int open_builder(struct perfile_reader *reader, const struct perfile_sink *sink,
                        const struct pf_index_sizes *sizes, struct builder **builder, struct perfile_error *error)
{
    struct builder *b = *builder = pf_new(reader->allocator, sizeof(*b));
    if (!b)
        return pf_fail_memory(error, "index");
    b->allocator = reader->allocator;
    b->reader = reader;
    b->sink = *sink;
    b->sizes = *sizes;
    int result = open_contents(b, error);
    if (result == 0 && !pf_index_describe(reader, &b->tail))
        result = fail_unsupported(error, "not a regular file, or a stream in one");
    if (result < 0) {
        close_contents(b);
        pf_free(b->allocator, b, sizeof(*b));
        return result;
    }
    reader->follower.opened = take_session;
    reader->follower.closed = take_close;
    reader->follower.context = b;
    return 0;
}

static const struct pf_index_sizes usual = {MARK_BYTES, BLOCK_BYTES, GAP_BYTES};

int perfile_index_follow(struct perfile_reader *reader, const struct perfile_sink *sink,
                         void (*ended)(void *context, bool complete), void *context, struct perfile_error *error)
{
    struct builder *b;
    if (reader->stops & PF_READER_DRIVEN || reader->follower.closed || reader->index.data)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "index",
                       "a session drives the reader, or it has an index");
    const int result = open_builder(reader, sink, &usual, &b, error);
    if (result < 0)
        return result;
    b->ended = ended;
    b->end_context = context;
    return 0;
}

/* ---- for its own sake -------------------------------------------------------------------------------------------- */

static int read_all(struct builder *b, struct perfile_error *error)
{
    const struct perfile_record *record;
    struct perfile_session *session;
    int result = perfile_session_open(b->reader, &session, error);
    if (result < 0)
        return result;
    perfile_session_follow_maps(session);
    while (b->result == 0 && (result = perfile_session_next(session, &record, error)) > 0)
        if (record->type == PERFILE_RECORD_FINISHED_ROUND)
            (void)perfile_session_trim(session);
    perfile_session_close(session);
    return result < 0 ? result : b->result;
}

/* Reads without diagnostics: the caller's own reading of the recording reports them. */
static int read_quietly(struct builder *b, struct perfile_error *error)
{
    struct perfile_open_options *options = &b->reader->options;
    void (*diagnostic)(void *context, const struct perfile_diagnostic *diagnostic) = options->diagnostic;
    options->diagnostic = NULL;
    const int result = read_all(b, error);
    if (result < 0 && b->result < 0 && error)
        *error = b->error;
    options->diagnostic = diagnostic;
    return result;
}

int pf_index_write(struct perfile_reader *reader, const struct perfile_sink *sink, const struct pf_index_sizes *sizes,
                   struct perfile_error *error)
{
    struct builder *b;
    int result = open_builder(reader, sink, sizes, &b, error);
    if (result == 0) {
        result = read_quietly(b, error);
        take_close(b);
    }
    const int rewound = perfile_reader_rewind(reader, result < 0 ? NULL : error);
    return result < 0 ? result : rewound;
}

int perfile_index_write(struct perfile_reader *reader, const struct perfile_sink *sink, struct perfile_error *error)
{
    return pf_index_write(reader, sink, &usual, error);
}
