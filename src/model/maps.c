/* SPDX-License-Identifier: MIT */
#include "model/maps.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory_name.h"

enum { KERNEL_PID = -1, LATER_MAX = 1 << 19 };

/* A treap by start address, ordered as a heap by random priorities: its depth is logarithmic whatever the addresses. */
struct perfile_space {
    const struct perfile_map *map;
    const struct perfile_space *left;
    const struct perfile_space *right;
    uint64_t priority;
    uint64_t id;    /* as perfile_space_id; 0: not assigned yet */
    uint64_t epoch; /* of maps: as long as that is the same, the node is not shared */
};

/* How long a process that ended may still be asked for. */
static const uint64_t REMEMBERED_NS = 1000000000;
enum { TRIM_MIN = 8 << 20 };

void pf_maps_open(struct pf_maps *maps, const struct perfile_allocator *allocator)
{
    *maps = (struct pf_maps){.random = (uintptr_t)maps | 1, .next_time = UINT64_MAX, .epoch = 1, .trim_at = TRIM_MIN};
    pf_arena_open(&maps->arena, allocator);
    pf_arena_open(&maps->retired, allocator);
    pf_map_open(&maps->spaces, allocator);
    pf_map_open(&maps->alive, allocator);
    pf_map_open(&maps->ended, allocator);
    pf_map_open(&maps->execs, allocator);
    pf_map_open(&maps->exec_times, allocator);
    pf_named_ids_open(&maps->stated, allocator);
    pf_map_open(&maps->overlaid, allocator);
    pf_heap_open(&maps->later, allocator);
}

void pf_maps_close(struct pf_maps *maps)
{
    pf_arena_close(&maps->arena);
    pf_arena_close(&maps->retired);
    pf_map_close(&maps->spaces);
    pf_map_close(&maps->alive);
    pf_map_close(&maps->ended);
    pf_map_close(&maps->execs);
    pf_map_close(&maps->exec_times);
    pf_named_ids_close(&maps->stated);
    pf_map_close(&maps->overlaid);
    pf_heap_close(&maps->later);
}

/* ---- trees: every function returns new nodes and does not change those that callers may hold ---- */

/* An insertion in progress: memory that runs short is noted and looked at once, at the end. */
struct build {
    struct pf_maps *maps;
    bool failed;
};

static void *new_part(struct pf_maps *maps, size_t bytes)
{
    maps->bytes += bytes;
    return pf_arena_new(&maps->arena, bytes);
}

static struct perfile_space *new_node(struct build *b)
{
    struct perfile_space *node = new_part(b->maps, sizeof(*node));
    if (node)
        node->epoch = b->maps->epoch;
    else
        b->failed = true;
    return node;
}

/* Returns the node with other children. A node that is not shared is changed in place. */
static const struct perfile_space *make_node(struct build *b, const struct perfile_space *like,
                                             const struct perfile_space *left, const struct perfile_space *right)
{
    struct perfile_space *node = like->epoch == b->maps->epoch ? (struct perfile_space *)(uintptr_t)like : new_node(b);
    if (!node)
        return NULL;
    node->map = like->map;
    node->priority = like->priority;
    node->left = left;
    node->right = right;
    return node;
}

static const struct perfile_space *make_leaf(struct build *b, const struct perfile_map *map)
{
    b->maps->random ^= b->maps->random << 13; /* xorshift */
    b->maps->random ^= b->maps->random >> 7;
    b->maps->random ^= b->maps->random << 17;
    struct perfile_space *leaf = map ? new_node(b) : NULL;
    if (leaf) {
        leaf->map = map;
        leaf->priority = b->maps->random;
    }
    return leaf;
}

/* Maps that start before `address` go to *low, the others to *high. */
static void split(struct build *b, const struct perfile_space *tree, uint64_t address, const struct perfile_space **low,
                  const struct perfile_space **high)
{
    const struct perfile_space *part;
    if (!tree || b->failed) {
        *low = *high = NULL;
    } else if (tree->map->start < address) {
        split(b, tree->right, address, &part, high);
        *low = make_node(b, tree, tree->left, part);
    } else {
        split(b, tree->left, address, low, &part);
        *high = make_node(b, tree, part, tree->right);
    }
}

/* All of `low` lies before all of `high`. */
static const struct perfile_space *join(struct build *b, const struct perfile_space *low,
                                        const struct perfile_space *high)
{
    if (!low || !high || b->failed)
        return low ? low : high;
    if (low->priority > high->priority)
        return make_node(b, low, low->left, join(b, low->right, high));
    return make_node(b, high, join(b, low, high->left), high->right);
}

static const struct perfile_map *last_of(const struct perfile_space *tree)
{
    while (tree && tree->right)
        tree = tree->right;
    return tree ? tree->map : NULL;
}

/* The part [start, end) of a map. */
static const struct perfile_map *piece_of(struct build *b, const struct perfile_map *map, uint64_t start, uint64_t end)
{
    struct perfile_map *piece = new_part(b->maps, sizeof(*piece));
    if (!piece) {
        b->failed = true;
        return NULL;
    }
    *piece = *map;
    piece->start = start;
    piece->end = end;
    piece->pgoff += start - map->start;
    return piece;
}

/* Puts a map in; what it covers is cut away from the maps that were there. */
static const struct perfile_space *insert(struct build *b, const struct perfile_space *tree,
                                          const struct perfile_map *map)
{
    const struct perfile_space *low, *covered, *high, *back = NULL;
    split(b, tree, map->start, &low, &high);
    split(b, high, map->end, &covered, &high);
    const struct perfile_map *before = last_of(low), *inside = last_of(covered);
    if (before && before->end > map->start) {
        const struct perfile_space *cut;
        split(b, low, before->start, &low, &cut);
        low = join(b, low, make_leaf(b, piece_of(b, before, before->start, map->start)));
        if (before->end > map->end)
            back = make_leaf(b, piece_of(b, before, map->end, before->end));
    }
    if (inside && inside->end > map->end)
        back = make_leaf(b, piece_of(b, inside, map->end, inside->end));
    return join(b, join(b, low, make_leaf(b, map)), join(b, back, high));
}

const struct perfile_map *perfile_space_below(const struct perfile_space *space, uint64_t address)
{
    const struct perfile_map *found = NULL;
    while (space) {
        if (space->map->start <= address) {
            found = space->map;
            space = space->right;
        } else {
            space = space->left;
        }
    }
    return found;
}

const struct perfile_map *perfile_space_find(const struct perfile_space *space, uint64_t address)
{
    const struct perfile_map *found = perfile_space_below(space, address);
    return found && address < found->end ? found : NULL;
}

/* ---- records ---- */

#define ALIVE (UINT64_MAX - 1)

static struct pf_recent_space *recent_of(struct pf_maps *maps, int32_t pid)
{
    return &maps->recent[(uint32_t)pid % PF_COUNT(maps->recent)];
}

static const struct perfile_space *space_of(struct pf_maps *maps, int32_t pid)
{
    struct pf_recent_space *recent = recent_of(maps, pid);
    uint64_t root, ended;
    if (PF_LIKELY(recent->known && recent->pid == pid))
        return recent->space;
    const bool found = pf_map_get(&maps->spaces, (uint32_t)pid, &root);
    if (PF_UNLIKELY(pf_map_get(&maps->ended, (uint32_t)pid, &ended) && ended != ALIVE)) {
        (void)pf_map_put(&maps->ended, (uint32_t)pid, pf_min(maps->now, ALIVE - 1)); /* the key is there already */
        return found ? (const struct perfile_space *)(uintptr_t)root : NULL;
    }
    *recent = (struct pf_recent_space){found ? (const struct perfile_space *)(uintptr_t)root : NULL, pid, true};
    return recent->space;
}

const struct perfile_space *pf_maps_space(struct pf_maps *maps, int32_t pid)
{
    const struct perfile_space *space = space_of(maps, pid);
    maps->seen = true;
    if (space && PF_UNLIKELY(!space->id))
        ((struct perfile_space *)(uintptr_t)space)->id = ++maps->last_id;
    return space;
}

uint64_t perfile_space_id(const struct perfile_space *space)
{
    return space ? space->id : 0;
}

/* Starts a change: trees that a caller may hold must stay as they are. */
static void begin_change(struct pf_maps *maps)
{
    maps->epoch += maps->seen;
    maps->seen = false;
}

static bool set_space(struct pf_maps *maps, int32_t pid, const struct perfile_space *space)
{
    recent_of(maps, pid)->known = false;
    return pf_map_put(&maps->spaces, (uint32_t)pid, (uintptr_t)space);
}

static bool is_kernel(const struct perfile_record *record)
{
    unsigned mode = record->misc & PERFILE_MISC_CPUMODE_MASK;
    return mode == PERFILE_MISC_KERNEL || mode == PERFILE_MISC_GUEST_KERNEL;
}

/* NULL when out of memory, or pf_maps_is_full. */
static struct perfile_map *make_map(struct pf_maps *maps, const struct perfile_map *like, uint64_t end)
{
    struct perfile_map *map = pf_maps_is_full(maps) ? NULL : new_part(maps, sizeof(*map));
    if (!map)
        return NULL;
    *map = *like;
    map->end = end;
    map->id = maps->count++;
    maps->bytes += strlen(like->filename);
    map->filename = pf_arena_text(&maps->arena, like->filename, strlen(like->filename));
    return map->filename ? map : NULL;
}

/* The code of a file that is at the addresses of a map, or was there before memory was put over it; or NULL. */
static const struct perfile_map *code_of(const struct perfile_map *map)
{
    const bool is_code = !map->data && (map->prot == 0 || map->prot & PERFILE_PROT_EXEC);
    return map->replaced || pf_is_memory_name(map->filename) || map->code || !is_code ? map->replaced : map;
}

/* The code of one file that all addresses of the map had since the process executed its program; or NULL. */
static const struct perfile_map *find_replaced(struct pf_maps *maps, int32_t pid, const struct perfile_map *map)
{
    const struct perfile_space *space = space_of(maps, pid);
    const struct perfile_map *first = NULL;
    uint64_t min_id = 0;
    (void)pf_map_get(&maps->execs, (uint32_t)pid, &min_id);
    for (uint64_t at = map->start; at < map->end;) {
        const struct perfile_map *held = perfile_space_find(space, at), *code = held ? code_of(held) : NULL;
        if (!code || code->id < min_id || (first && code->id != first->id))
            return NULL;
        first = first ? first : code;
        at = held->end;
    }
    return first;
}

static bool put_map(struct pf_maps *maps, int32_t pid, const struct perfile_map *map)
{
    struct build b = {.maps = maps};
    begin_change(maps);
    const struct perfile_space *space = insert(&b, space_of(maps, pid), map);
    return !b.failed && set_space(maps, pid, space);
}

int pf_maps_fail(const struct pf_maps *maps, struct perfile_error *error)
{
    return pf_maps_is_full(maps) ? pf_fail(error, PERFILE_ERROR_LIMIT, PERFILE_NO_OFFSET, "maps", "more than 2^32")
                                 : pf_fail_memory(error, "maps");
}

static bool add(struct pf_maps *maps, int32_t pid, const struct perfile_map *like)
{
    uint64_t end, overlaid;
    if (!pf_add(like->start, like->end, &end)) /* `end` holds the length so far */
        end = UINT64_MAX;
    if (end <= like->start)
        return true; /* empty */
    if (PF_UNLIKELY(maps->overlaid.used) && pf_is_memory_name(like->filename) &&
        pf_map_get(&maps->overlaid, (uint32_t)pid, &overlaid))
        return true; /* the protection of memory changed that holds code */
    struct perfile_map *map = make_map(maps, like, end);
    if (map)
        (void)pf_map_get(&maps->exec_times, (uint32_t)pid, &map->executed);
    if (map && pf_is_memory_name(map->filename))
        map->replaced = find_replaced(maps, pid, map);
    return map && put_map(maps, pid, map);
}

/* ---- maps without a record ---- */

int pf_maps_add_later(struct pf_maps *maps, uint64_t time, const struct perfile_map *like, struct perfile_error *error)
{
    if (like->start >= like->end)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "map", "it is empty");
    if (maps->later_count >= LATER_MAX)
        return pf_fail(error, PERFILE_ERROR_LIMIT, PERFILE_NO_OFFSET, "map", "too many, at most %d", LATER_MAX);
    const struct perfile_map *map = make_map(maps, like, like->end);
    /* at equal times what was added first holds first */
    const struct pf_heap_item item = {.time = time, .number = maps->later_count, .value = (uintptr_t)map};
    if (!map || !pf_map_put(&maps->overlaid, (uint32_t)like->pid, 1) || !pf_heap_put(&maps->later, &item))
        return pf_maps_fail(maps, error);
    maps->later_count++;
    maps->next_time = pf_min(maps->next_time, time);
    return 0;
}

bool pf_maps_advance(struct pf_maps *maps, uint64_t time)
{
    const struct pf_heap_item *first;
    for (; (first = pf_heap_first(&maps->later)) && first->time <= time; pf_heap_take(&maps->later)) {
        const struct perfile_map *map = (const struct perfile_map *)first->value;
        if (!put_map(maps, map->pid, map))
            return false;
    }
    maps->next_time = first ? first->time : UINT64_MAX;
    return true;
}

/* ---- build ids that the header states, for mappings that have none ---- */

/* Reads what the feature says now. False when out of memory; an absent or damaged feature gives as much as it can. */
static bool read_stated_ids(struct pf_named_ids *ids, struct perfile_reader *reader)
{
    const struct perfile_visitor visitor = {.size = sizeof(visitor), .context = ids, .value = pf_named_ids_take};
    const int result = perfile_feature_visit(reader, PERFILE_FEATURE_BUILD_ID, &visitor, NULL);
    return result != PERFILE_ERROR_STOPPED && result != PERFILE_ERROR_MEMORY;
}

/* The kernel's mapping is called by the symbol that it was found by: "[kernel.kallsyms]_text". */
static size_t name_bytes(const struct perfile_map *map)
{
    const char *end = map->kernel && map->filename[0] == '[' ? strchr(map->filename, ']') : NULL;
    return end ? (size_t)(end - map->filename) + 1 : strlen(map->filename);
}

/* Fills the build id of a mapping that has none, if one is stated for its file. */
static void fill_build_id(const struct pf_named_ids *ids, struct perfile_map *map)
{
    if (map->build_id_bytes || pf_is_memory_name(map->filename))
        return;
    const struct pf_named_id *id = pf_named_ids_find(ids, map->filename, name_bytes(map));
    if (!id)
        return;
    map->build_id_bytes = id->count;
    memcpy(map->build_id, id->bytes, sizeof(map->build_id));
}

/* ---- records ---- */

/*
 * Recorders that are not allowed to read the kernel's addresses write 0. As in perf, the kernel itself, which may have
 * no length then either, covers what no other mapping has; modules would cover each other and are left out.
 */
static bool add_recorded(struct pf_maps *maps, struct perfile_map *map)
{
    fill_build_id(&maps->stated, map);
    if (map->kernel && !map->start) {
        if (!pf_starts_with(map->filename, "[kernel.kallsyms]") && !pf_starts_with(map->filename, "[guest.kernel."))
            return true;
        if (!map->end)
            map->end = UINT64_MAX;
    }
    return add(maps, map->kernel ? KERNEL_PID : map->pid, map);
}

/* What MMAP and MMAP2 have in common. */
#define MAP_OF(record, r, ...)                                                                                         \
    {                                                                                                                  \
        .size = sizeof(struct perfile_map), .start = (r).addr, .end = (r).len, .pgoff = (r).pgoff,                     \
        .filename = (r).filename, .pid = (r).pid, .kernel = is_kernel(record),                                         \
        .data = (record)->misc & PERFILE_MISC_MMAP_DATA, __VA_ARGS__                                                   \
    }

static bool follow_mmap(struct pf_maps *maps, const struct perfile_reader *reader, const struct perfile_record *record)
{
    struct perfile_mmap r;
    if (perfile_record_decode(reader, record, &r, sizeof(r), NULL) < 0)
        return true;
    struct perfile_map map = MAP_OF(record, r);
    return add_recorded(maps, &map);
}

struct left_over {
    const struct perfile_mmap2 *of;
    bool is_known;
};

static bool compare_build_id(void *context, const struct perfile_map *map)
{
    struct left_over *search = context;
    const struct perfile_mmap2 *of = search->of;
    search->is_known = map->build_id_bytes && map->build_id_bytes == of->build_id_size &&
                       memcmp(map->build_id, of->build_id, map->build_id_bytes) == 0 &&
                       strcmp(map->filename, of->filename) != 0;
    return !search->is_known;
}

/*
 * perf 6.17 to 6.19 wrote the build id of the first kernel module for all others, too. Two files cannot have one: it is
 * that of the first.
 */
static bool is_left_over(struct pf_maps *maps, const struct perfile_mmap2 *of)
{
    struct left_over search = {.of = of};
    (void)pf_maps_walk(space_of(maps, KERNEL_PID), compare_build_id, &search);
    return search.is_known;
}

static bool follow_mmap2(struct pf_maps *maps, const struct perfile_reader *reader, const struct perfile_record *record)
{
    struct perfile_mmap2 r;
    if (perfile_record_decode(reader, record, &r, sizeof(r), NULL) < 0)
        return true;
    struct perfile_map map = MAP_OF(record, r, .prot = r.prot, .flags = r.flags);
    if (!(record->misc & PERFILE_MISC_MMAP_BUILD_ID)) {
        map.inode = r.ino;
        map.device_major = r.maj;
        map.device_minor = r.min;
    } else if (!map.kernel || !is_left_over(maps, &r)) {
        map.build_id_bytes = r.build_id_size < sizeof(map.build_id) ? r.build_id_size : sizeof(map.build_id);
        memcpy(map.build_id, r.build_id, map.build_id_bytes);
    }
    return add_recorded(maps, &map);
}

/* ---- processes that end ---- */

static bool begin_process(struct pf_maps *maps, int32_t pid)
{
    uint64_t ended;
    return pf_map_put(&maps->alive, (uint32_t)pid, 1) &&
           (!pf_map_get(&maps->ended, (uint32_t)pid, &ended) || pf_map_put(&maps->ended, (uint32_t)pid, ALIVE));
}

/* Notes a thread. With `is_new` a FORK has started it; else a COMM names it, and it may be known. */
static bool begin_thread(struct pf_maps *maps, int32_t pid, bool is_new)
{
    uint64_t count;
    if (!pf_map_get(&maps->alive, (uint32_t)pid, &count) || !count)
        return begin_process(maps, pid);
    return !is_new || pf_map_put(&maps->alive, (uint32_t)pid, count + 1);
}

/* What was mapped before stays, as samples of the call itself still have its addresses. */
static bool note_exec(struct pf_maps *maps, int32_t pid, uint64_t time)
{
    return pf_map_put(&maps->execs, (uint32_t)pid, maps->count) &&
           pf_map_put(&maps->exec_times, (uint32_t)pid, time != UINT64_MAX ? time : 0);
}

static bool follow_comm(struct pf_maps *maps, const struct perfile_reader *reader, const struct perfile_record *record)
{
    struct perfile_comm r;
    if (perfile_record_decode(reader, record, &r, sizeof(r), NULL) < 0)
        return true;
    return begin_thread(maps, r.pid, false) &&
           (!(record->misc & PERFILE_MISC_COMM_EXEC) || note_exec(maps, r.pid, record->time));
}

/* A process ends with the last of its known threads. Its maps stay for a while, as records may have been lost. */
static bool follow_exit(struct pf_maps *maps, const struct perfile_reader *reader, const struct perfile_record *record)
{
    struct perfile_exit r;
    uint64_t count;
    if (perfile_record_decode(reader, record, &r, sizeof(r), NULL) < 0 || r.pid <= 0 ||
        !pf_map_get(&maps->alive, (uint32_t)r.pid, &count) || !count)
        return true;
    if (!pf_map_put(&maps->alive, (uint32_t)r.pid, count - 1))
        return false;
    recent_of(maps, r.pid)->known &= count > 1;
    return count > 1 || pf_map_put(&maps->ended, (uint32_t)r.pid, pf_min(maps->now, ALIVE - 1));
}

static bool inherit(struct pf_map *values, int32_t parent, int32_t child)
{
    uint64_t value;
    return !pf_map_get(values, (uint32_t)parent, &value) || pf_map_put(values, (uint32_t)child, value);
}

/* A thread shares its process's maps; a new process starts with its parent's, unless its own follow as records. */
static bool follow_fork(struct pf_maps *maps, const struct perfile_reader *reader, const struct perfile_record *record)
{
    struct perfile_fork r;
    if (perfile_record_decode(reader, record, &r, sizeof(r), NULL) < 0)
        return true;
    if (r.pid == r.ppid)
        return begin_thread(maps, r.pid, true);
    if (!begin_process(maps, r.pid) || !inherit(&maps->execs, r.ppid, r.pid) ||
        !inherit(&maps->exec_times, r.ppid, r.pid))
        return false;
    bool fresh = record->misc & PERFILE_MISC_FORK_EXEC;
    /* the tree counts as seen: two processes share it */
    return set_space(maps, r.pid, fresh ? NULL : pf_maps_space(maps, r.ppid));
}

/* Takes the symbol that holds the address out of the kernel's space. */
static bool remove_symbol(struct pf_maps *maps, uint64_t address)
{
    struct build b = {.maps = maps};
    const struct perfile_space *space = space_of(maps, KERNEL_PID), *low, *covered, *high;
    const struct perfile_map *map = perfile_space_find(space, address);
    if (!map || !map->symbol)
        return true;
    begin_change(maps);
    split(&b, space, map->start, &low, &high);
    split(&b, high, map->end, &covered, &high);
    space = join(&b, low, high);
    return !b.failed && set_space(maps, KERNEL_PID, space);
}

static bool follow_ksymbol(struct pf_maps *maps, const struct perfile_reader *reader,
                           const struct perfile_record *record)
{
    struct perfile_ksymbol r;
    if (perfile_record_decode(reader, record, &r, sizeof(r), NULL) < 0 || r.len == 0)
        return true;
    if (r.flags & PERFILE_KSYMBOL_FLAGS_UNREGISTER)
        return remove_symbol(maps, r.addr);
    const struct perfile_map map = {.size = sizeof(map),
                                    .start = r.addr,
                                    .end = r.len,
                                    .filename = r.name,
                                    .pid = KERNEL_PID,
                                    .kernel = true,
                                    .symbol = true};
    return add(maps, KERNEL_PID, &map);
}

/* In a stream the features come first, as records. False when out of memory. */
static bool know_stated(struct pf_maps *maps, struct perfile_reader *reader)
{
    if (!maps->stated_known && !read_stated_ids(&maps->stated, reader))
        return false;
    maps->stated_known = true;
    return true;
}

bool pf_maps_follow(struct pf_maps *maps, struct perfile_reader *reader, const struct perfile_record *record)
{
    if (record->damaged)
        return true;
    if (record->time && record->time != UINT64_MAX)
        maps->now = record->time;
    if ((record->type == PERFILE_RECORD_MMAP || record->type == PERFILE_RECORD_MMAP2) && !know_stated(maps, reader))
        return false;
    switch (record->type) {
    case PERFILE_RECORD_MMAP:
        return follow_mmap(maps, reader, record);
    case PERFILE_RECORD_MMAP2:
        return follow_mmap2(maps, reader, record);
    case PERFILE_RECORD_FORK:
        return follow_fork(maps, reader, record);
    case PERFILE_RECORD_COMM:
        return follow_comm(maps, reader, record);
    case PERFILE_RECORD_EXIT:
        return follow_exit(maps, reader, record);
    case PERFILE_RECORD_KSYMBOL:
        return follow_ksymbol(maps, reader, record);
    default:
        return true;
    }
}

/* ---- giving back ---- */

/* What is still needed moves into a new arena, and the old one is freed at once. */
struct move {
    struct pf_maps *from;
    struct pf_maps to;   /* arena, maps by process, bytes */
    struct pf_map nodes; /* where they have moved to, by where they were */
    struct pf_map maps;
    struct pf_map texts; /* by their hash */
};

static const char *move_text(struct move *m, const char *text)
{
    const size_t known = m->texts.used, bytes = strlen(text);
    const char *copy = pf_map_text(&m->texts, &m->to.arena, text, bytes);
    m->to.bytes += m->texts.used > known ? bytes : 0;
    return copy;
}

static const struct perfile_map *move_map(struct move *m, const struct perfile_map *map)
{
    uint64_t known;
    if (pf_map_get(&m->maps, (uintptr_t)map, &known))
        return (const struct perfile_map *)(uintptr_t)known;
    struct perfile_map *copy = new_part(&m->to, sizeof(*copy));
    if (!copy)
        return NULL;
    *copy = *map;
    copy->filename = move_text(m, map->filename);
    copy->replaced = map->replaced ? move_map(m, map->replaced) : NULL; /* which has not replaced any itself */
    return copy->filename && (copy->replaced || !map->replaced) && pf_map_put(&m->maps, (uintptr_t)map, (uintptr_t)copy)
               ? copy
               : NULL;
}

/* Trees are logarithmically deep. False: out of memory. */
static bool move_tree(struct move *m, const struct perfile_space *tree, const struct perfile_space **moved)
{
    uint64_t known;
    *moved = NULL;
    if (!tree)
        return true;
    if (pf_map_get(&m->nodes, (uintptr_t)tree, &known)) {
        *moved = (const struct perfile_space *)(uintptr_t)known;
        return true;
    }
    struct perfile_space *copy = new_part(&m->to, sizeof(*copy));
    if (!copy)
        return false;
    *copy = *tree;
    copy->epoch = 0; /* a caller may hold it */
    copy->map = move_map(m, tree->map);
    *moved = copy;
    return copy->map && move_tree(m, tree->left, &copy->left) && move_tree(m, tree->right, &copy->right) &&
           pf_map_put(&m->nodes, (uintptr_t)tree, (uintptr_t)copy);
}

bool pf_maps_is_over(const struct pf_maps *maps, uint64_t pid)
{
    uint64_t ended;
    return pf_map_get(&maps->ended, pid, &ended) && ended < maps->now && maps->now - ended > REMEMBERED_NS;
}

/* What is known of processes that are not over. */
static bool move_values(const struct pf_maps *from, const struct pf_map *values, struct pf_map *to)
{
    bool enough = true;
    for (size_t i = 0; enough && i < values->size; i++) {
        const struct pf_map_slot *slot = &values->slots[i];
        enough = !slot->value || pf_maps_is_over(from, slot->key) || pf_map_put(to, slot->key, slot->value - 1);
    }
    return enough;
}

static bool move_all(struct move *m)
{
    const struct pf_maps *from = m->from;
    bool enough = move_values(from, &from->alive, &m->to.alive) && move_values(from, &from->execs, &m->to.execs) &&
                  move_values(from, &from->exec_times, &m->to.exec_times);
    for (size_t i = 0; enough && i < from->spaces.size; i++) {
        const struct pf_map_slot *slot = &from->spaces.slots[i];
        const struct perfile_space *moved;
        if (slot->value > 1 && !pf_maps_is_over(from, slot->key))
            enough = move_tree(m, (const struct perfile_space *)(uintptr_t)(slot->value - 1), &moved) &&
                     pf_map_put(&m->to.spaces, slot->key, (uintptr_t)moved);
    }
    for (size_t i = 0; enough && i < from->ended.size; i++) {
        const struct pf_map_slot *slot = &from->ended.slots[i];
        enough = !slot->value || slot->value - 1 == ALIVE || pf_maps_is_over(from, slot->key) ||
                 pf_map_put(&m->to.ended, slot->key, slot->value - 1);
    }
    return enough;
}

/* Exchanges two maps. */
static void swap_maps(struct pf_map *left, struct pf_map *right)
{
    const struct pf_map kept = *left;
    *left = *right;
    *right = kept;
}

static void take_over(struct pf_maps *maps, struct pf_maps *moved)
{
    pf_arena_close(&maps->retired);
    maps->retired = maps->arena;
    maps->arena = moved->arena;
    pf_arena_open(&moved->arena, moved->arena.allocator);
    swap_maps(&maps->spaces, &moved->spaces);
    swap_maps(&maps->alive, &moved->alive);
    swap_maps(&maps->ended, &moved->ended);
    swap_maps(&maps->execs, &moved->execs);
    swap_maps(&maps->exec_times, &moved->exec_times);
    memset(maps->recent, 0, sizeof(maps->recent));
    maps->bytes = moved->bytes;
    maps->trim_at = 2 * maps->bytes + TRIM_MIN;
}

static __attribute__((noinline)) bool move_what_is_needed(struct pf_maps *maps)
{
    const struct perfile_allocator *allocator = maps->arena.allocator;
    struct move move = {.from = maps};
    pf_maps_open(&move.to, allocator);
    pf_map_open(&move.nodes, allocator);
    pf_map_open(&move.maps, allocator);
    pf_map_open(&move.texts, allocator);
    const bool moved = move_all(&move);
    if (moved)
        take_over(maps, &move.to);
    else
        maps->trim_at = 2 * maps->bytes; /* there was no memory for it: it stays where it is */
    pf_maps_close(&move.to);
    pf_map_close(&move.nodes);
    pf_map_close(&move.maps);
    pf_map_close(&move.texts);
    return moved;
}

/* It is called for every record: the large frame of a move is only set up for one. */
bool pf_maps_trim(struct pf_maps *maps)
{
    return PF_UNLIKELY(maps->bytes >= maps->trim_at) && !maps->overlaid.used && move_what_is_needed(maps);
}

/* ---- for code that stores trees elsewhere ---- */

bool pf_maps_walk(const struct perfile_space *space, bool (*take)(void *context, const struct perfile_map *map),
                  void *context)
{
    return !space || (pf_maps_walk(space->left, take, context) && take(context, space->map) &&
                      pf_maps_walk(space->right, take, context));
}

struct perfile_map *pf_maps_copy(struct pf_maps *maps, const struct perfile_map *map)
{
    struct perfile_map *copy = new_part(maps, sizeof(*copy));
    if (copy)
        *copy = *map;
    return copy;
}

const struct perfile_space *pf_maps_append(struct pf_maps *maps, const struct perfile_space *space,
                                           const struct perfile_map *map)
{
    struct build b = {.maps = maps};
    const struct perfile_space *made = join(&b, space, make_leaf(&b, map));
    return b.failed ? NULL : made;
}

bool pf_maps_set_space(struct pf_maps *maps, int32_t pid, const struct perfile_space *space)
{
    maps->seen = true; /* several processes may have it */
    return set_space(maps, pid, space);
}
