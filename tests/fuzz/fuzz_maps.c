/* SPDX-License-Identifier: MIT */
/*
 * Which mapping names an address: the input has changes of two address spaces, the map that the process 7 wrote, and a
 * program. Memory of any name is put over the program's code and over other memory. After each change the addresses at
 * all borders are looked up.
 */
#include "made.h"
#include "symbol/symbols.h"

enum { OP_BYTES = 5, MAX_OPS = 16, OP_WORDS = 16, PAGE = 0x1000, PID = 7, CHILD = 8, MAX_FOUND = 64 };
#define BASE UINT64_C(0x400000)

static const char *const names[] = {
    "/x",
    "//anon",
    "[anon:v8 code]",
    "/memfd:doublemapper (deleted)",
    "/dev/zero (deleted)",
    "/x (deleted)",
    "/y",
    "/anon_hugepage",
    "/dev/shm/code",
    "[anon_shmem:x]",
    "[stack]",
    "[vdso]",
    "/SYSV0 (deleted)",
    "/tmp/perf-7.map",
    "[heap]",
    "/opt/gone.so (deleted)",
};
/* Kinds of changes: records, as perf numbers them, with the bits of `misc`. */
static const struct kind {
    uint8_t type, prot;
    uint16_t misc;
} kinds[] = {
    {PERFILE_RECORD_MMAP, 0, PERFILE_MISC_USER},
    {PERFILE_RECORD_MMAP, 0, PERFILE_MISC_USER | PERFILE_MISC_MMAP_DATA},
    {PERFILE_RECORD_MMAP2, 5, PERFILE_MISC_USER},
    {PERFILE_RECORD_MMAP2, 3, PERFILE_MISC_USER},
    {PERFILE_RECORD_MMAP2, 5, PERFILE_MISC_USER | PERFILE_MISC_MMAP_BUILD_ID},
    {PERFILE_RECORD_FORK, 0, 0},
    {PERFILE_RECORD_COMM, 0, PERFILE_MISC_COMM_EXEC},
    {PERFILE_RECORD_EXIT, 0, 0},
};

static void remove_folder(void)
{
    static const char *const made[] = {"x", "tmp/perf-7.map", "tmp", ""};
    char path[256];
    for (size_t i = 0; i < PF_COUNT(made); i++) {
        snprintf(path, sizeof(path), "%s/%s", fuzz_folder(remove_folder), made[i]);
        remove(path);
    }
}

/* ---- the recording ----------------------------------------------------------------------------------------------- */

static uint64_t start_of(const uint8_t *op)
{
    return BASE + (op[1] & 31u) * PAGE;
}

static uint64_t length_of(const uint8_t *op)
{
    return (op[2] & 7u) * PAGE + (op[2] >> 7) * (PAGE / 2);
}

static int32_t pid_of(const uint8_t *op)
{
    return op[0] & 0x80 ? CHILD : PID;
}

static size_t put_name(uint64_t *to, const char *name)
{
    const size_t words = strlen(name) / sizeof(*to) + 1;
    memset(to, 0, words * sizeof(*to));
    memcpy(to, name, strlen(name));
    return words;
}

/* The body of MMAP and MMAP2: process, address, length, offset; device, inode and protection, or a build id. */
static size_t put_mapping(uint64_t *to, const uint8_t *op, const struct kind *kind)
{
    const uint64_t process = fuzz_pair((uint32_t)pid_of(op), (uint32_t)pid_of(op));
    const uint64_t body[] = {process, start_of(op), length_of(op), (op[3] & 31u) * PAGE};
    const uint64_t file[] = {fuzz_pair(8, 1), op[3] >> 5, 0};
    uint64_t *at = (uint64_t *)memcpy(to, body, sizeof(body)) + PF_COUNT(body);
    if (kind->type == PERFILE_RECORD_MMAP2) {
        at = (uint64_t *)memcpy(at, file, sizeof(file)) + PF_COUNT(file);
        if (kind->misc & PERFILE_MISC_MMAP_BUILD_ID)
            memset(at - PF_COUNT(file), 20, 1);
        *at++ = fuzz_pair(kind->prot, 2);
    }
    return (size_t)(at - to) + put_name(at, names[op[4] % PF_COUNT(names)]);
}

static size_t put_body(uint64_t *to, const uint8_t *op, const struct kind *kind)
{
    const uint64_t process = fuzz_pair((uint32_t)pid_of(op), (uint32_t)pid_of(op));
    const uint64_t family = fuzz_pair(CHILD, PID);
    if (kind->type == PERFILE_RECORD_MMAP || kind->type == PERFILE_RECORD_MMAP2)
        return put_mapping(to, op, kind);
    to[0] = kind->type == PERFILE_RECORD_FORK ? family : process;
    if (kind->type == PERFILE_RECORD_COMM)
        return 1 + put_name(to + 1, "next");
    to[1] = to[0];
    to[2] = 1;
    return 3;
}

static size_t make_recording(uint64_t *words, const uint8_t *ops, size_t count)
{
    const uint64_t start[] = {PF_NATIVE_BIG_ENDIAN ? 0x50455246494c4532u : 0x32454c4946524550u, 16};
    const uint64_t attr[] = {fuzz_header(64, 0, 9), fuzz_pair(1, 64), 0, 1, PERFILE_SAMPLE_IP, 0, 0, 0, 0};
    uint64_t *to = (uint64_t *)memcpy(words, start, sizeof(start)) + PF_COUNT(start);
    to = (uint64_t *)memcpy(to, attr, sizeof(attr)) + PF_COUNT(attr);
    for (size_t i = 0; i < count; i++) {
        const struct kind *kind = &kinds[ops[i * OP_BYTES] % PF_COUNT(kinds)];
        const size_t body = put_body(to + 1, ops + i * OP_BYTES, kind);
        *to = fuzz_header(kind->type, kind->misc, body + 1);
        to += body + 1;
    }
    return (size_t)(to - words) * sizeof(*words);
}

/* ---- looking up -------------------------------------------------------------------------------------------------- */

struct found {
    const struct perfile_map *map;
    struct pf_location location;
};

static struct found find(struct pf_symbols *symbols, const struct perfile_space *space, uint64_t ip)
{
    struct found found = {.map = pf_symbols_map(symbols, space, ip)};
    FUZZ_REQUIRE(pf_symbols_locate(symbols, found.map, ip, &found.location));
    if (found.location.symbol != PF_NO_SYMBOL)
        fuzz_touch_text(pf_symbols_name(symbols, found.location.module, found.location.symbol));
    return found;
}

/* Another mapping than the one that holds the address names it only where it has a symbol, or where the code was. */
static void check_other(const struct perfile_map *held, const struct found *found)
{
    const struct perfile_map *map = found->map;
    if (map == held)
        return;
    FUZZ_REQUIRE(held && map);
    if (map != held->replaced)
        FUZZ_REQUIRE(map->pid == held->pid && found->location.symbol != PF_NO_SYMBOL);
}

/* What is stated to have the same name has it. */
static void check_extent(struct pf_symbols *symbols, const struct perfile_space *space, uint64_t ip,
                         const struct found *found)
{
    struct pf_extent extent;
    if (!pf_symbols_extent(symbols, space, found->map, ip, &found->location, &extent))
        return;
    FUZZ_REQUIRE(extent.first <= ip && ip <= extent.last);
    const uint64_t others[] = {extent.first, extent.last, extent.first + (extent.last - extent.first) / 2};
    for (size_t i = 0; i < PF_COUNT(others); i++) {
        const struct found other = find(symbols, space, others[i]);
        FUZZ_REQUIRE(other.map == found->map && other.location.module == found->location.module &&
                     other.location.symbol == found->location.symbol);
    }
}

static void look_up(struct pf_symbols *symbols, const struct perfile_space *space, uint64_t ip)
{
    const bool is_settled = pf_symbols_is_settled(symbols, space, ip, false);
    const struct found found = find(symbols, space, ip), again = find(symbols, space, ip);
    FUZZ_REQUIRE(found.map == again.map && found.location.symbol == again.location.symbol);
    FUZZ_REQUIRE(!is_settled || pf_symbols_is_settled(symbols, space, ip, false));
    check_other(perfile_space_find(space, ip), &found);
    check_extent(symbols, space, ip, &found);
}

static void look_around(struct pf_symbols *symbols, struct perfile_session *session, const uint8_t *op)
{
    const uint64_t start = start_of(op), end = start + length_of(op);
    const uint64_t addresses[] = {start - 1, start, start + PAGE - 1, start + op[3], end - 1, end};
    for (size_t i = 0; i < PF_COUNT(addresses); i++)
        for (int32_t pid = PID; pid <= CHILD; pid++)
            look_up(symbols, perfile_session_space(session, pid), addresses[i]);
}

static void walk(struct perfile_reader *reader, const uint8_t *ops, size_t count)
{
    const struct perfile_symbol_options wanted = {.size = sizeof(wanted),
                                                  .symfs = fuzz_folder(remove_folder),
                                                  .kallsyms = "/dev/null",
                                                  .buildid_dir = "/nonexistent"};
    const struct pf_find_options options = pf_find_options_of(&wanted, NULL);
    const struct perfile_record *record;
    struct perfile_session *session;
    struct pf_symbols *symbols;
    size_t at = 0;
    FUZZ_REQUIRE(perfile_session_open(reader, &session, NULL) == 0);
    FUZZ_REQUIRE(pf_symbols_open(reader, &options, &symbols, NULL) == 0);
    perfile_session_follow_maps(session);
    while (perfile_session_next(session, &record, NULL) > 0)
        if (record->type < PERFILE_RECORD_SAMPLE || record->type == PERFILE_RECORD_MMAP2)
            look_around(symbols, session, ops + at++ * OP_BYTES);
    FUZZ_REQUIRE(at == count);
    for (size_t i = 0; i < count; i++)
        look_around(symbols, session, ops + i * OP_BYTES);
    pf_symbols_close(symbols);
    perfile_session_close(session);
}

static void make_folder(const uint8_t *map, size_t map_bytes, const uint8_t *program, size_t program_bytes)
{
    const char *folder = fuzz_folder(remove_folder);
    char path[256];
    snprintf(path, sizeof(path), "%s/tmp", folder);
    (void)mkdir(path, 0700);
    fuzz_write_file(folder, "tmp/perf-7.map", map, map_bytes);
    fuzz_write_file(folder, "x", program, program_bytes);
}

/* The number of changes, bytes of the map by 16, the changes, the map, the program. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    uint64_t words[2 + 9 + MAX_OPS * OP_WORDS];
    struct perfile_reader *reader;
    if (bytes < 2)
        return 0;
    const size_t count = (size_t)pf_min(data[0] % (MAX_OPS + 1u), (bytes - 2) / OP_BYTES);
    const uint8_t *ops = data + 2, *map = ops + count * OP_BYTES, *end = data + bytes;
    const size_t map_bytes = (size_t)pf_min(data[1] * 16u, (size_t)(end - map));
    make_folder(map, map_bytes, map + map_bytes, (size_t)(end - map) - map_bytes);
    const size_t recording_bytes = make_recording(words, ops, count);
    FUZZ_REQUIRE(perfile_open_memory(words, recording_bytes, NULL, &reader, NULL) == 0);
    walk(reader, ops, count);
    perfile_close(reader);
    return 0;
}
