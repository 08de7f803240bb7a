/* SPDX-License-Identifier: MIT */
/* Loading the state of a session from an index. Everything in the index is checked, as its writer is not known. */
#include "base/error.h"
#include "io/inflate.h"
#include "model/index.h"
#include "model/session.h"

/* Bytes of the index that were not looked at yet. */
struct input {
    const uint8_t *at;
    size_t left;
};

struct loading {
    struct perfile_session *session;
    const struct perfile_allocator *allocator;
    struct pf_index_mark mark;
    const char **texts; /* they stand in the index */
    size_t text_count, text_capacity;
    const struct perfile_map **maps;
    const struct perfile_space **spaces;
    struct pf_index_counts has;
    struct pf_threads names;
    struct pf_maps into;
    struct pf_cgroups groups;
    bool damaged;
    bool failed; /* out of memory */
};

static bool take(struct input *input, void *to, size_t bytes)
{
    if (input->left < bytes)
        return false;
    memcpy(to, input->at, bytes);
    input->at += bytes;
    input->left -= bytes;
    return true;
}

/* The bytes of a piece, if it is what it was. */
static bool open_piece(const struct perfile_reader *reader, const struct pf_index_piece *piece, struct input *input)
{
    const uint8_t *at = pf_index_piece_at(reader, piece);
    *input = (struct input){at, at ? (size_t)piece->bytes : 0};
    return at;
}

struct pf_index_mark pf_index_mark_at(const struct perfile_reader *reader, const struct pf_index_tail *tail,
                                      uint64_t number)
{
    struct pf_index_mark mark;
    memcpy(&mark, reader->index.data + tail->marks.at + number * sizeof(mark), sizeof(mark));
    return mark;
}

/* ---- texts and names --------------------------------------------------------------------------------------------- */

static void load_texts(struct loading *l, const struct pf_index_piece *piece)
{
    struct input input;
    l->damaged |= !open_piece(l->session->reader, piece, &input);
    for (uint64_t i = 0; i < piece->count && !l->damaged && !l->failed; i++) {
        const uint8_t *end = memchr(input.at, 0, input.left);
        l->damaged |= !end;
        l->failed |= !pf_grow(l->allocator, &l->texts, &l->text_capacity, l->text_count + 1, sizeof(*l->texts));
        if (l->damaged || l->failed)
            return;
        l->texts[l->text_count++] = (const char *)input.at;
        input.left -= (size_t)(end + 1 - input.at);
        input.at = end + 1;
    }
}

static const char *text_at(struct loading *l, uint64_t number)
{
    l->damaged |= number >= l->text_count;
    return l->damaged ? "" : l->texts[number];
}

static void load_names(struct loading *l, struct input *input, uint64_t count)
{
    struct pf_index_name name;
    for (uint64_t i = 0; i < count && !l->damaged && !l->failed; i++) {
        l->damaged |= !take(input, &name, sizeof(name));
        if (l->damaged)
            return;
        const char *text = name.text == PF_INDEX_NO_TEXT ? NULL : text_at(l, name.text);
        l->failed |= !pf_threads_set_name(&l->names, (int32_t)name.tid, text);
    }
}

/* Loads the texts and the names of the marks up to this one. */
static void load_before(struct loading *l, const struct pf_index_tail *tail, uint64_t last)
{
    struct input input;
    for (uint64_t i = 0; i <= last && !l->damaged && !l->failed; i++) {
        const struct pf_index_mark mark = pf_index_mark_at(l->session->reader, tail, i);
        load_texts(l, &mark.texts);
        if (!l->session->state.keeps_comms || l->damaged)
            continue;
        l->damaged |= !open_piece(l->session->reader, &mark.gone, &input);
        load_names(l, &input, mark.gone.count);
    }
}

/* ---- the state --------------------------------------------------------------------------------------------------- */

static void load_groups(struct loading *l, struct input *input)
{
    struct pf_index_group group;
    for (uint32_t i = 0; i < l->has.groups && !l->damaged && !l->failed; i++) {
        l->damaged |= !take(input, &group, sizeof(group));
        const char *path = l->damaged ? "" : text_at(l, group.text);
        l->failed |= !l->damaged && !pf_map_put(&l->groups.paths, group.id, (uintptr_t)path);
    }
}

static bool is_map(const struct loading *l, const struct pf_index_map *map, uint32_t number)
{
    return map->replaced <= number && map->start < map->end && map->id < l->has.next_map &&
           map->build_id_bytes <= sizeof(map->build_id);
}

static void load_map(struct loading *l, const struct pf_index_map *from, uint32_t number)
{
    struct perfile_map map = {.size = sizeof(map),
                              .start = from->start,
                              .end = from->end,
                              .pgoff = from->pgoff,
                              .filename = text_at(l, from->text),
                              .pid = from->pid,
                              .id = from->id,
                              .prot = from->prot,
                              .flags = from->flags,
                              .build_id_bytes = from->build_id_bytes,
                              .kernel = from->kernel != 0,
                              .data = from->data != 0,
                              .symbol = from->symbol != 0,
                              .replaced = from->replaced ? l->maps[from->replaced - 1] : NULL,
                              .inode = from->inode,
                              .device_major = from->device_major,
                              .device_minor = from->device_minor,
                              .executed = from->executed};
    memcpy(map.build_id, from->build_id, sizeof(map.build_id));
    l->maps[number] = pf_maps_copy(&l->into, &map);
    l->failed |= !l->maps[number];
}

static void load_maps(struct loading *l, struct input *input)
{
    struct pf_index_map map;
    for (uint32_t i = 0; i < l->has.maps && !l->damaged && !l->failed; i++) {
        l->damaged |= !take(input, &map, sizeof(map)) || !is_map(l, &map, i);
        if (!l->damaged)
            load_map(l, &map, i);
    }
}

static void load_space(struct loading *l, struct input *input, uint32_t number)
{
    const struct perfile_space *space = NULL;
    uint64_t end = 0;
    uint32_t count = 0, map = 0;
    l->damaged |= !take(input, &count, sizeof(count));
    for (uint32_t i = 0; i < count && !l->damaged && !l->failed; i++) {
        l->damaged |= !take(input, &map, sizeof(map)) || map >= l->has.maps || l->maps[map]->start < end;
        if (l->damaged)
            return;
        end = l->maps[map]->end;
        space = pf_maps_append(&l->into, space, l->maps[map]);
        l->failed |= !space;
    }
    l->spaces[number] = space;
}

static void load_processes(struct loading *l, struct input *input)
{
    struct pf_index_process process;
    for (uint32_t i = 0; i < l->has.processes && !l->damaged && !l->failed; i++) {
        l->damaged |= !take(input, &process, sizeof(process)) || process.space >= l->has.spaces;
        l->failed |= !l->damaged && !pf_maps_set_space(&l->into, (int32_t)process.pid, l->spaces[process.space]);
    }
}

static void load_lifetimes(struct loading *l, struct input *input, struct pf_map *into, uint32_t count)
{
    struct pf_index_life life;
    for (uint32_t i = 0; i < count && !l->damaged && !l->failed; i++) {
        l->damaged |= !take(input, &life, sizeof(life)) || life.value >= UINT64_MAX;
        l->failed |= !l->damaged && !pf_map_put(into, life.pid, life.value);
    }
}

/* Each of them takes some bytes: there cannot be more than these. */
static bool are_possible(const struct pf_index_counts *has, size_t bytes)
{
    const uint64_t min =
        (uint64_t)has->names * sizeof(struct pf_index_name) + (uint64_t)has->groups * sizeof(struct pf_index_group) +
        (uint64_t)has->maps * sizeof(struct pf_index_map) + (uint64_t)has->spaces * sizeof(uint32_t) +
        (uint64_t)has->processes * sizeof(struct pf_index_process) +
        ((uint64_t)has->alive + has->ended + has->execs + has->exec_times) * sizeof(struct pf_index_life);
    return min <= bytes;
}

static void take_state(struct loading *l, struct input *input)
{
    l->damaged |= !take(input, &l->has, sizeof(l->has)) || !are_possible(&l->has, input->left);
    if (l->damaged || l->failed)
        return;
    const size_t maps = l->has.maps * sizeof(*l->maps), spaces = l->has.spaces * sizeof(*l->spaces);
    l->maps = pf_new(l->allocator, maps + 1);
    l->spaces = pf_new(l->allocator, spaces + 1);
    l->failed |= !l->maps || !l->spaces;
    load_names(l, input, l->has.names);
    load_groups(l, input);
    load_maps(l, input);
    for (uint32_t i = 0; i < l->has.spaces && !l->damaged && !l->failed; i++)
        load_space(l, input, i);
    load_processes(l, input);
    load_lifetimes(l, input, &l->into.alive, l->has.alive);
    load_lifetimes(l, input, &l->into.ended, l->has.ended);
    load_lifetimes(l, input, &l->into.execs, l->has.execs);
    load_lifetimes(l, input, &l->into.exec_times, l->has.exec_times);
    pf_free(l->allocator, l->maps, maps + 1);
    pf_free(l->allocator, l->spaces, spaces + 1);
}

/* The bytes of the frame, `count` of them; 0 when it is damaged. */
static int inflate_all(const struct perfile_allocator *allocator, const struct input *packed, uint8_t *to, size_t count)
{
    struct pf_inflate *inflate;
    size_t done = 0, got = 0;
    if (pf_inflate_open(&inflate, allocator, NULL) < 0)
        return PERFILE_ERROR_MEMORY;
    int result = pf_inflate_push(inflate, packed->at, packed->left, NULL);
    do {
        result = result < 0 ? result : pf_inflate_pull(inflate, to + done, count - done, &got, NULL);
        done += result < 0 ? 0 : got;
    } while (result == 0 && got && done < count);
    pf_inflate_close(inflate);
    if (result == PERFILE_ERROR_MEMORY)
        return result;
    return result == 0 && done == count;
}

int pf_index_unpack(const struct perfile_reader *reader, const struct pf_index_piece *piece, uint8_t **bytes)
{
    const struct perfile_allocator *allocator = reader->allocator;
    struct input packed;
    const uint64_t count = piece->count;
    *bytes = NULL;
    if (!open_piece(reader, piece, &packed) || count / PF_INDEX_INFLATES > packed.left || count > SIZE_MAX / 2)
        return 0;
    uint8_t *unpacked = pf_new(allocator, (size_t)count + 1);
    const int result = unpacked ? inflate_all(allocator, &packed, unpacked, (size_t)count) : PERFILE_ERROR_MEMORY;
    if (result > 0)
        *bytes = unpacked;
    else
        pf_free(allocator, unpacked, (size_t)count + 1);
    return result;
}

static void load_state(struct loading *l)
{
    const size_t count = (size_t)l->mark.state.count;
    uint8_t *state = NULL;
    const int got = l->damaged || l->failed ? 0 : pf_index_unpack(l->session->reader, &l->mark.state, &state);
    l->failed |= got < 0;
    l->damaged |= got == 0;
    if (got <= 0)
        return;
    struct input input = {state, count};
    take_state(l, &input);
    pf_free(l->allocator, state, count + 1);
}

/* ---- the session ------------------------------------------------------------------------------------------------- */

/* The last mark before the times that are wanted, which is further than the session is; false when none is left. */
static bool choose(const struct perfile_session *session, const struct pf_index_tail *tail, uint64_t *chosen)
{
    const struct pf_frame *frame = &session->reader->parts[0].frame;
    bool found = false;
    for (uint64_t i = 0; i < tail->marks.count; i++) {
        const struct pf_index_mark mark = pf_index_mark_at(session->reader, tail, i);
        if (mark.settled >= session->limits.first || mark.resume.offset >= mark.end || mark.end > frame->end)
            break;
        found |= mark.resume.offset > frame->at;
        *chosen = i;
    }
    return found;
}

/* Exchanges a part of the session with the part that was loaded. */
#define EXCHANGE(type, left, right)                                                                                    \
    do {                                                                                                               \
        const type kept = *(left);                                                                                     \
        *(left) = *(right);                                                                                            \
        *(right) = kept;                                                                                               \
    } while (0)

static void take_over(struct loading *l)
{
    struct perfile_session *session = l->session;
    l->into.count = l->has.next_map;
    l->into.now = l->mark.settled;
    EXCHANGE(struct pf_threads, &session->state.threads, &l->names);
    EXCHANGE(struct pf_maps, &session->state.maps, &l->into);
    EXCHANGE(struct pf_cgroups, &session->state.cgroups, &l->groups);
    pf_order_close(&session->sorting.order);
    session->sorting.order.max_time = session->sorting.round_limit = l->mark.settled;
    session->sorting.settled = session->sorting.last_time = l->mark.settled;
    session->state.exit_pending = false;
    session->left_out = l->mark.counts.samples;
    session->resuming.until = l->mark.end;
    pf_reader_go_to(session->reader, &l->mark.resume, &l->mark.counts);
}

static int finish(struct loading *l, struct perfile_error *error)
{
    if (!l->damaged && !l->failed)
        take_over(l);
    pf_threads_close(&l->names);
    pf_maps_close(&l->into);
    pf_cgroups_close(&l->groups);
    pf_free(l->allocator, l->texts, l->text_capacity * sizeof(*l->texts));
    return l->failed ? pf_fail_memory(error, "index") : 0;
}

int pf_index_resume(struct perfile_session *session, struct perfile_error *error)
{
    struct loading l = {.session = session, .allocator = session->reader->allocator};
    const struct pf_index_tail tail = pf_index_tail_of(session->reader);
    uint64_t chosen = 0;
    if (session->sorting.unordered || session->sorting.relieved || !choose(session, &tail, &chosen))
        return 0;
    l.mark = pf_index_mark_at(session->reader, &tail, chosen);
    pf_threads_open(&l.names, l.allocator);
    pf_maps_open(&l.into, l.allocator);
    pf_cgroups_open(&l.groups, l.allocator);
    load_before(&l, &tail, chosen);
    load_state(&l);
    return finish(&l, error);
}

uint64_t pf_index_count_rest(struct perfile_reader *reader, uint64_t seen)
{
    const struct pf_index_tail tail = pf_index_tail_of(reader);
    reader->counts = tail.counts;
    return tail.counts.samples - pf_min(seen, tail.counts.samples);
}
