/* SPDX-License-Identifier: MIT */
#include "analysis/annotate_direct.h"

#include <string.h>

#include "base/bytes.h"
#include "base/files.h"
#include "base/pairs.h"

enum { SLOT_BITS = 14, KERNEL_PID = PF_DIRECT_KERNEL };

static const size_t slot_count = (size_t)1 << SLOT_BITS;
static const size_t slots_bytes = sizeof(struct pf_direct_slot) << SLOT_BITS;

bool pf_direct_open(struct pf_direct *direct, const struct perfile_reader *reader,
                    const struct perfile_allocator *allocator)
{
    *direct = (struct pf_direct){.allocator = allocator, .reader = reader, .slots = pf_new(allocator, slots_bytes)};
    pf_map_open(&direct->by_pid, allocator);
    return direct->slots;
}

void pf_direct_close(struct pf_direct *direct)
{
    pf_free(direct->allocator, direct->slots, direct->slots ? slots_bytes : 0);
    pf_free(direct->allocator, direct->spaces, direct->room * sizeof(*direct->spaces));
    pf_map_close(&direct->by_pid);
}

/* ---- spaces ------------------------------------------------------------------------------------------------------ */

/* NULL: nothing was said of it so far. */
static struct pf_direct_space *space_of(struct pf_direct *direct, int32_t pid)
{
    struct pf_direct_recent *recent =
        &direct->recent[(uint32_t)pid % (sizeof(direct->recent) / sizeof(direct->recent[0]))];
    uint64_t index;
    if (PF_LIKELY(recent->space && recent->pid == pid))
        return &direct->spaces[recent->space - 1];
    if (!pf_map_get(&direct->by_pid, (uint32_t)pid, &index))
        return NULL;
    *recent = (struct pf_direct_recent){.pid = pid, .space = (uint32_t)index + 1};
    return &direct->spaces[index];
}

/* NULL when out of memory. */
static struct pf_direct_space *make_space(struct pf_direct *direct, int32_t pid)
{
    struct pf_direct_space *known = space_of(direct, pid);
    if (known)
        return known;
    if (direct->count == UINT32_MAX - 1 ||
        !pf_grow(direct->allocator, &direct->spaces, &direct->room, direct->count + 1, sizeof(*direct->spaces)) ||
        !pf_map_put(&direct->by_pid, (uint32_t)pid, direct->count))
        return NULL;
    direct->spaces[direct->count] = (struct pf_direct_space){0};
    return &direct->spaces[direct->count++];
}

/* ---- changes of spaces ------------------------------------------------------------------------------------------- */

struct change {
    int32_t pid;
    uint64_t first, bytes;
    bool of_kernel;
    bool of_jit; /* code that is made later is mapped without further records */
    bool at_end; /* of the process: nothing is mapped that was not */
};

static int32_t mode_of(const struct perfile_record *record)
{
    return record->misc & PERFILE_MISC_CPUMODE_MASK;
}

static bool change_of_mapping(const struct pf_direct *direct, const struct perfile_record *record,
                              struct change *change)
{
    union {
        struct perfile_mmap mmap;
        struct perfile_mmap2 mmap2;
    } r;
    const bool old = record->type == PERFILE_RECORD_MMAP;
    if (perfile_record_decode(direct->reader, record, &r, old ? sizeof(r.mmap) : sizeof(r.mmap2), NULL) < 0)
        return false;
    *change = (struct change){.pid = old ? r.mmap.pid : r.mmap2.pid,
                              .first = old ? r.mmap.addr : r.mmap2.addr,
                              .bytes = old ? r.mmap.len : r.mmap2.len,
                              .of_kernel = mode_of(record) != PERFILE_MISC_USER,
                              .of_jit = pf_is_jitdump(old ? r.mmap.filename : r.mmap2.filename)};
    return true;
}

static bool change_of_process(const struct pf_direct *direct, const struct perfile_record *record,
                              struct change *change)
{
    struct perfile_fork fork;
    struct perfile_exit gone;
    *change = (struct change){.bytes = UINT64_MAX, .at_end = record->type == PERFILE_RECORD_EXIT};
    if (change->at_end) {
        const bool known = perfile_record_decode(direct->reader, record, &gone, sizeof(gone), NULL) == 0;
        change->pid = known ? gone.pid : 0;
        return known && gone.pid == gone.tid;
    }
    if (perfile_record_decode(direct->reader, record, &fork, sizeof(fork), NULL) < 0)
        return false;
    change->pid = fork.pid;
    return fork.pid != fork.ppid;
}

static bool change_of_symbol(const struct pf_direct *direct, const struct perfile_record *record, struct change *change)
{
    struct perfile_ksymbol r;
    if (perfile_record_decode(direct->reader, record, &r, sizeof(r), NULL) < 0)
        return false;
    *change = (struct change){.pid = KERNEL_PID, .first = r.addr, .bytes = r.len, .of_kernel = true};
    return true;
}

/* False: the record changes no space. */
static bool change_of(const struct pf_direct *direct, const struct perfile_record *record, struct change *change)
{
    bool changes = false;
    if (record->damaged)
        return false;
    if (record->type == PERFILE_RECORD_MMAP || record->type == PERFILE_RECORD_MMAP2)
        changes = change_of_mapping(direct, record, change);
    else if (record->type == PERFILE_RECORD_FORK || record->type == PERFILE_RECORD_EXIT)
        changes = change_of_process(direct, record, change);
    else if (record->type == PERFILE_RECORD_KSYMBOL)
        changes = change_of_symbol(direct, record, change);
    if (changes)
        change->of_kernel |= change->pid == KERNEL_PID;
    return changes;
}

/* A sample was counted that the change, which is from `time` on, comes before. */
static bool comes_too_late(const struct pf_direct *direct, uint32_t space, const struct change *change, uint64_t time)
{
    if (change->at_end || direct->spaces[space].last <= time)
        return false;
    bool late = direct->spaces[space].forgotten > time;
    for (size_t i = 0; i < slot_count && !late; i++) {
        const struct pf_direct_slot *slot = &direct->slots[i];
        late = slot->last > time && slot->space == space && slot->place.ip - change->first < change->bytes;
    }
    return late;
}

static bool read_change(struct pf_direct *direct, int32_t pid, const struct change *change, uint64_t time)
{
    struct pf_direct_space *space = make_space(direct, pid);
    if (!space)
        return false;
    direct->wrong |= comes_too_late(direct, (uint32_t)(space - direct->spaces), change, time);
    space->number = ++direct->numbers;
    space->pending += change->of_jit ? 2 : 1; /* of JITs nothing is learned any more */
    return true;
}

bool pf_direct_read(struct pf_direct *direct, const struct perfile_record *record)
{
    struct change change;
    if (!change_of(direct, record, &change))
        return true;
    return (!change.of_kernel || read_change(direct, KERNEL_PID, &change, record->time)) &&
           (change.pid == KERNEL_PID || read_change(direct, change.pid, &change, record->time));
}

bool pf_direct_turn(struct pf_direct *direct, const struct perfile_record *record)
{
    struct change change;
    if (!change_of(direct, record, &change))
        return true;
    struct pf_direct_space *kernel = change.of_kernel ? make_space(direct, KERNEL_PID) : NULL;
    if (kernel)
        kernel->pending--;
    struct pf_direct_space *space = change.pid != KERNEL_PID ? make_space(direct, change.pid) : NULL;
    if (space)
        space->pending--;
    return (kernel || !change.of_kernel) && (space || change.pid == KERNEL_PID);
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

static struct pf_direct_space *space_of_sample(struct pf_direct *direct, const struct perfile_record *record,
                                               const struct perfile_sample *sample)
{
    const int32_t mode = mode_of(record);
    if (mode == PERFILE_MISC_KERNEL)
        return space_of(direct, KERNEL_PID);
    return mode == PERFILE_MISC_USER && sample->pid >= 0 ? space_of(direct, sample->pid) : NULL;
}

struct pf_direct_place pf_direct_place_of(struct pf_direct *direct, const struct perfile_record *record,
                                          const struct perfile_sample *sample)
{
    const struct pf_direct_space *space = record->time ? space_of_sample(direct, record, sample) : NULL;
    const bool is_known = space && !space->pending && record->event;
    return (struct pf_direct_place){
        .ip = sample->ip, .space = is_known ? space->number : 0, .event = is_known ? record->event->index + 1 : 0};
}

static size_t slot_of(const struct pf_direct *direct, const struct pf_direct_place *place)
{
    return pf_pair_hash((uintptr_t)direct->slots, 64 - SLOT_BITS, place->ip,
                        (uint64_t)place->space << 32 | place->event);
}

static bool is_at(const struct pf_direct_slot *slot, const struct pf_direct_place *place)
{
    return slot->place.ip == place->ip && slot->place.space == place->space && slot->place.event == place->event;
}

struct pf_direct_slot *pf_direct_find(struct pf_direct *direct, const struct pf_direct_place *place)
{
    const size_t first = slot_of(direct, place);
    if (!place->space)
        return NULL;
    return is_at(&direct->slots[first], place)       ? &direct->slots[first]
           : is_at(&direct->slots[first ^ 1], place) ? &direct->slots[first ^ 1]
                                                     : NULL;
}

void pf_direct_count(struct pf_direct *direct, struct pf_direct_slot *slot, const struct perfile_record *record)
{
    struct pf_direct_space *space = &direct->spaces[slot->space];
    slot->last = pf_max(slot->last, record->time);
    space->last = pf_max(space->last, record->time);
}

void pf_direct_learn(struct pf_direct *direct, const struct pf_direct_place *place, int32_t pid, uint32_t hit)
{
    const struct pf_direct_space *space = place->space ? space_of(direct, pid) : NULL;
    if (!space || space->number != place->space || pf_direct_find(direct, place))
        return;
    const size_t first = slot_of(direct, place);
    struct pf_direct_slot *slot = &direct->slots[first];
    slot = slot->last <= direct->slots[first ^ 1].last ? slot : &direct->slots[first ^ 1];
    if (slot->place.space) {
        struct pf_direct_space *before = &direct->spaces[slot->space];
        before->forgotten = pf_max(before->forgotten, slot->last);
    }
    *slot = (struct pf_direct_slot){.place = *place, .hit = hit, .space = (uint32_t)(space - direct->spaces)};
}
