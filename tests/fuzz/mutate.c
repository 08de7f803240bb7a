/* SPDX-License-Identifier: MIT */
/*
 * Most mutants of bytes end where the framing of records does. These keep the framing, and what the header says of the
 * rest, and change the rest: types, sizes, attributes, features, the contents of records and their order.
 */
#include "mutate.h"

#include <string.h>
#include <zstd.h>

#include "base/bytes.h"

enum {
    RECORDS_MAX = 1024,
    BODY_MAX = 4096,
    FILE_HEADER = 104,
    STREAM_HEADER = 16,
    ATTR_MIN = 64,
    TRACING_DATA = 66,
    HEADER_ATTR = 64,
    HEADER_FEATURE = 80,
    AUXTRACE = 71,
    COMPRESSED = 81,
    COMPRESSED2 = 83,
};

struct span {
    size_t at, bytes;
};

/* ---- chance ---- */

static uint64_t draw(struct mutant *m)
{
    uint64_t x = m->chance += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static size_t below(struct mutant *m, size_t count)
{
    return count ? (size_t)(draw(m) % count) : 0;
}

static uint64_t interesting(struct mutant *m)
{
    static const uint64_t values[] = {0,          1,          2,          7,          8,          16,
                                      24,         63,         64,         255,        256,        4095,
                                      0x7fff,     0x8000,     0xfff8,     0xffff,     0x10000,    0x100000e,
                                      0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff, 1ull << 32, 1ull << 48,
                                      1ull << 60, INT64_MAX,  1ull << 63, -8ull,      -512ull,    UINT64_MAX};
    switch (below(m, 4)) {
    case 0:
        return draw(m);
    case 1:
        return m->bytes + below(m, 33) - 16;
    case 2:
        return below(m, 64);
    default:
        return values[below(m, PF_COUNT(values))];
    }
}

/* ---- bytes ---- */

static bool is_swapped(const uint8_t *data, size_t bytes)
{
    return (bytes >= 8 && memcmp(data, "2ELIFREP", 8) == 0) != PF_NATIVE_BIG_ENDIAN;
}

static bool swaps(const struct mutant *m)
{
    return is_swapped(m->data, m->bytes);
}

static bool is_stream(const uint8_t *data, size_t bytes)
{
    return bytes < FILE_HEADER || pf_load64(data + 8, is_swapped(data, bytes)) == STREAM_HEADER;
}

static bool holds(const struct mutant *m, size_t at, size_t bytes)
{
    return at <= m->bytes && bytes <= m->bytes - at;
}

static void store(struct mutant *m, size_t at, size_t width, uint64_t value)
{
    uint8_t bytes[8];
    if (!holds(m, at, width))
        return;
    for (size_t i = 0; i < width; i++)
        bytes[swaps(m) == PF_NATIVE_BIG_ENDIAN ? i : width - 1 - i] = (uint8_t)(value >> 8 * i);
    memcpy(m->data + at, bytes, width);
}

static uint64_t load64(const struct mutant *m, size_t at)
{
    return holds(m, at, 8) ? pf_load64(m->data + at, swaps(m)) : 0;
}

/* ---- what the header of a file says about the rest ---- */

static void move_features(struct mutant *m, uint64_t table, uint64_t from, uint64_t by)
{
    for (size_t bit = 0, at = (size_t)table; bit < 256 && at + 16 <= m->bytes; bit++) {
        if (!(load64(m, 72 + bit / 64 * 8) >> bit % 64 & 1))
            continue;
        const uint64_t offset = load64(m, at);
        if (offset >= from)
            store(m, at, 8, offset + by);
        at += 16;
    }
}

/* The size of the data, and where features stand, as they are when `by` bytes more are at `at`. */
static void follow(struct mutant *m, size_t at, uint64_t by)
{
    const uint64_t start = load64(m, 40), size = load64(m, 48);
    if (is_stream(m->data, m->bytes) || at < start || at > start + size)
        return;
    store(m, 48, 8, size + by);
    move_features(m, start + size + by, at, by);
}

static bool replace(struct mutant *m, struct span old, const void *fresh, size_t bytes)
{
    if (!holds(m, old.at, old.bytes) || bytes > m->capacity - (m->bytes - old.bytes))
        return false;
    memmove(m->data + old.at + bytes, m->data + old.at + old.bytes, m->bytes - old.at - old.bytes);
    if (bytes)
        memcpy(m->data + old.at, fresh, bytes);
    m->bytes += bytes - old.bytes;
    if (below(m, 8))
        follow(m, old.at, (uint64_t)bytes - old.bytes);
    return true;
}

static void insert(struct mutant *m, size_t at, const void *fresh, size_t bytes)
{
    (void)replace(m, (struct span){at, 0}, fresh, bytes);
}

/* ---- records ---- */

struct records {
    struct span all[RECORDS_MAX]; /* with the payloads after them */
    size_t count;
    size_t end; /* of the last */
};

static uint64_t payload_of(const uint8_t *record, uint32_t type, size_t size, bool swap)
{
    if (type == AUXTRACE && size >= 16)
        return pf_load64(record + 8, swap);
    return type == TRACING_DATA && size >= 12 && size <= 16 ? pf_align8(pf_load32(record + 8, swap)) : 0;
}

static void find_records(const uint8_t *data, size_t bytes, struct records *records)
{
    const bool swap = is_swapped(data, bytes), stream = is_stream(data, bytes);
    size_t at = stream ? STREAM_HEADER : (size_t)pf_load64(data + 40, swap);
    uint64_t end = stream ? bytes : at + pf_load64(data + 48, swap);
    end = end > bytes || end <= at ? bytes : end;
    records->count = 0;
    while (at < end && end - at >= 8 && records->count < RECORDS_MAX) {
        const size_t size = pf_load16(data + at + 6, swap);
        if (size < 8 || size > end - at)
            break;
        const uint64_t payload = payload_of(data + at, pf_load32(data + at, swap), size, swap);
        const size_t complete = payload > end - at - size ? (size_t)(end - at) : size + (size_t)payload;
        records->all[records->count++] = (struct span){at, complete};
        at += complete;
    }
    records->end = at < bytes ? at : bytes;
}

/* Any record; empty at the end when there is none. */
static struct span pick(struct mutant *m)
{
    static struct records records;
    find_records(m->data, m->bytes, &records);
    return records.count ? records.all[below(m, records.count)] : (struct span){records.end, 0};
}

static size_t pick_position(struct mutant *m)
{
    const struct span record = pick(m);
    return record.at + (below(m, 4) ? 0 : record.bytes);
}

static size_t pick_of_other(struct mutant *m, const uint8_t **record)
{
    static struct records records;
    if (!m->other)
        return 0;
    find_records(m->other, m->other_bytes, &records);
    if (!records.count)
        return 0;
    const struct span span = records.all[below(m, records.count)];
    *record = m->other + span.at;
    return span.bytes;
}

static void put_header(struct mutant *m, uint8_t *record, uint32_t type, size_t size)
{
    const uint16_t misc = (uint16_t)(below(m, 4) ? 0 : draw(m)), stated = (uint16_t)size;
    const bool swap = swaps(m);
    const uint32_t type_there = pf_load32(&type, swap);
    const uint16_t misc_there = pf_load16(&misc, swap), size_there = pf_load16(&stated, swap);
    memcpy(record, &type_there, 4);
    memcpy(record + 4, &misc_there, 2);
    memcpy(record + 6, &size_there, 2);
}

static void put64(const struct mutant *m, uint8_t *to, uint64_t value)
{
    value = pf_load64(&value, swaps(m));
    memcpy(to, &value, sizeof(value));
}

/*
 * Puts bytes from anywhere in this recording or the other, and replaces up to two words by other interesting numbers.
 */
static void put_body(struct mutant *m, uint8_t *to, size_t bytes)
{
    const bool others = m->other && below(m, 2);
    const uint8_t *from = others ? m->other : m->data;
    const size_t all = others ? m->other_bytes : m->bytes, at = below(m, all) & ~(size_t)3;
    const size_t there = bytes < all - at ? bytes : all - at;
    memset(to, 0, bytes);
    memcpy(to, from + at, there);
    for (size_t i = below(m, 3); i && bytes >= 8; i--)
        put64(m, to + (below(m, bytes - 7) & ~(size_t)3), interesting(m));
}

/* ---- mutations of records ---- */

static void change_word(struct mutant *m)
{
    const struct span record = pick(m);
    const size_t width = below(m, 3) ? 8 : 4;
    if (record.bytes > 8)
        store(m, record.at + 8 + (below(m, record.bytes - 8) & ~(size_t)3), width, interesting(m));
}

static void flip_bit(struct mutant *m)
{
    const struct span record = pick(m);
    if (record.bytes)
        m->data[record.at + below(m, record.bytes)] ^= (uint8_t)(1u << below(m, 8));
}

static void copy_word(struct mutant *m)
{
    const struct span from = pick(m), to = pick(m);
    if (from.bytes >= 16 && to.bytes >= 16)
        memmove(m->data + to.at + 8 + (below(m, to.bytes - 15) & ~(size_t)3),
                m->data + from.at + 8 + (below(m, from.bytes - 15) & ~(size_t)3), 8);
}

static uint32_t some_type(struct mutant *m)
{
    static const uint32_t odd[] = {0, 23, 50, 63, 200, 32768, 32769, 32775, 32780, 0x7fffffff, UINT32_MAX};
    switch (below(m, 4)) {
    case 0:
        return 64 + (uint32_t)below(m, 26);
    case 1:
        return odd[below(m, PF_COUNT(odd))];
    default:
        return 1 + (uint32_t)below(m, 22);
    }
}

static void change_type(struct mutant *m)
{
    const struct span record = pick(m);
    if (record.bytes)
        store(m, record.at, 4, some_type(m));
}

static void change_misc(struct mutant *m)
{
    const struct span record = pick(m);
    if (record.bytes)
        store(m, record.at + 4, 2, 1u << below(m, 16) | below(m, 8));
}

/* What it states, not what there is. */
static void change_size(struct mutant *m)
{
    const struct span record = pick(m);
    if (record.bytes)
        store(m, record.at + 6, 2, below(m, 2) ? record.bytes + 8 * below(m, 5) - 16 : interesting(m));
}

/* Both. */
static void resize(struct mutant *m)
{
    uint8_t fresh[256];
    const struct span record = pick(m);
    const size_t size = record.bytes >= 8 ? pf_load16(m->data + record.at + 6, swaps(m)) : 0;
    if (size < 8 || size > record.bytes)
        return;
    const size_t at = 8 + (below(m, size - 7) & ~(size_t)3), less = below(m, 2) ? below(m, size - at + 1) : 0;
    const size_t more = less ? 0 : 4 * (1 + below(m, sizeof(fresh) / 4));
    put_body(m, fresh, more);
    if (size - less + more <= UINT16_MAX && replace(m, (struct span){record.at + at, less}, fresh, more))
        store(m, record.at + 6, 2, size - less + more);
}

static void drop(struct mutant *m)
{
    (void)replace(m, pick(m), NULL, 0);
}

static void repeat(struct mutant *m)
{
    uint8_t copy[BODY_MAX];
    const struct span record = pick(m);
    const size_t position = pick_position(m);
    if (record.bytes > sizeof(copy))
        return;
    memcpy(copy, m->data + record.at, record.bytes);
    for (size_t i = below(m, 8) ? 1 : below(m, 40); i; i--)
        insert(m, position, copy, record.bytes);
}

static void move(struct mutant *m)
{
    uint8_t copy[BODY_MAX];
    const struct span record = pick(m);
    if (record.bytes > sizeof(copy))
        return;
    memcpy(copy, m->data + record.at, record.bytes);
    if (replace(m, record, NULL, 0))
        insert(m, pick_position(m), copy, record.bytes);
}

/* A record of the other recording, in its own byte order but for the header. */
static void splice(struct mutant *m)
{
    uint8_t copy[BODY_MAX];
    const uint8_t *record = NULL;
    const size_t bytes = pick_of_other(m, &record);
    if (bytes < 8 || bytes > sizeof(copy))
        return;
    const bool swap = is_swapped(m->other, m->other_bytes);
    memcpy(copy, record, bytes);
    if (swap != swaps(m))
        put_header(m, copy, pf_load32(record, swap), pf_load16(record + 6, swap));
    if (below(m, 2))
        insert(m, pick_position(m), copy, bytes);
    else
        (void)replace(m, pick(m), copy, bytes);
}

static void put_text(struct mutant *m)
{
    static const char *const texts[] = {"",        "/",    "..",           "[kernel.kallsyms]_text", "[vdso]", "//anon",
                                        "\x1b[2J", "a\nb", "\xff\xfe\xfd", "/tmp/perf-1.map",        "%s%n",   "x ☃"};
    const struct span record = pick(m);
    const char *text = texts[below(m, PF_COUNT(texts))];
    const size_t bytes = strlen(text) + below(m, 2); /* with its NUL, or without */
    if (record.bytes > 8 + bytes)
        memcpy(m->data + record.at + 8 + below(m, record.bytes - 8 - bytes), text, bytes);
}

/* ---- records that describe the recording ---- */

static void add_feature(struct mutant *m)
{
    static const uint64_t numbers[] = {0,         35,         100,        128,        129, 130, 132,
                                       254,       255,        256,        257,        300, 511, 4096,
                                       0x100000e, UINT32_MAX, 1ull << 32, UINT64_MAX, 2,   12,  27};
    uint8_t record[16 + BODY_MAX];
    const size_t bytes = below(m, 8) ? 8 * below(m, 40) : below(m, BODY_MAX);
    put_header(m, record, HEADER_FEATURE, 16 + bytes);
    put64(m, record + 8, below(m, 2) ? below(m, 36) : numbers[below(m, PF_COUNT(numbers))]);
    put_body(m, record + 16, bytes);
    insert(m, pick_position(m), record, 16 + bytes);
}

/* Where an attr stands: in the section of a file, or in a HEADER_ATTR record; 0: none was met. */
static size_t pick_attr(struct mutant *m)
{
    const uint64_t each = load64(m, 16), at = load64(m, 24), all = load64(m, 32);
    if (!is_stream(m->data, m->bytes) && each >= ATTR_MIN && all >= each && at < m->bytes)
        return (size_t)(at + each * below(m, (size_t)(all / each)));
    for (unsigned i = 0; i < 32; i++) {
        const struct span record = pick(m);
        if (record.bytes >= 8 + ATTR_MIN && pf_load32(m->data + record.at, swaps(m)) == HEADER_ATTR)
            return record.at + 8;
    }
    return 0;
}

static void change_attr(struct mutant *m)
{
    /* offset and width: type, size, config, sample_type, read_format, flags, branches, registers, stack, clock, aux */
    static const uint8_t members[][2] = {{0, 4},  {4, 4},  {8, 8},  {24, 8}, {24, 8},  {32, 8},  {40, 8},
                                         {40, 8}, {72, 8}, {80, 8}, {88, 4}, {104, 4}, {112, 8}, {96, 8}};
    const size_t attr = pick_attr(m), row = below(m, PF_COUNT(members)), width = members[row][1];
    const size_t at = attr + members[row][0];
    if (!attr || !holds(m, at, 8))
        return;
    if (below(m, 3))
        m->data[at + below(m, width)] ^= (uint8_t)(1u << below(m, 8));
    else
        store(m, at, width, interesting(m));
}

static void add_attr(struct mutant *m)
{
    uint8_t record[8 + 136 + 64];
    const size_t attr = pick_attr(m), attr_bytes = below(m, 2) ? 64 : 136, ids = 8 * below(m, 9);
    if (!attr || !holds(m, attr, attr_bytes))
        return;
    put_header(m, record, HEADER_ATTR, 8 + attr_bytes + ids);
    memcpy(record + 8, m->data + attr, attr_bytes);
    put_body(m, record + 8 + attr_bytes, ids);
    if (below(m, 2))
        record[8 + 24 + below(m, 8)] ^= (uint8_t)(1u << below(m, 8));
    insert(m, pick_position(m), record, 8 + attr_bytes + ids);
}

/* Adds a record with a payload, which may be shorter or longer than the record states. */
static void add_payload(struct mutant *m)
{
    uint8_t record[48 + 512];
    const bool aux = below(m, 2);
    const size_t size = aux ? 48 : 16, bytes = 8 * below(m, 64);
    const uint64_t stated = below(m, 4) ? bytes : interesting(m);
    put_body(m, record, sizeof(record));
    put_header(m, record, aux ? AUXTRACE : TRACING_DATA, size);
    put64(m, record + 8, aux || !swaps(m) == !PF_NATIVE_BIG_ENDIAN ? stated : stated << 32);
    insert(m, pick_position(m), record, size + bytes);
}

/* Records as a compressed one, whose stream ends there or goes on. */
static void compress(struct mutant *m)
{
    static struct records records;
    static uint8_t record[16 + 65536];
    const size_t header = below(m, 2) ? 8 : 16, capacity = UINT16_MAX - header - 7;
    find_records(m->data, m->bytes, &records);
    if (!records.count)
        return;
    const size_t first = below(m, records.count), last = first + below(m, records.count - first);
    const struct span all = {records.all[first].at,
                             records.all[last].at + records.all[last].bytes - records.all[first].at};
    const size_t bytes = ZSTD_compress(record + header, capacity, m->data + all.at, all.bytes, 1);
    if (ZSTD_isError(bytes))
        return;
    const size_t padding = header == 8 ? 0 : (size_t)(-bytes & 7), size = header + bytes + padding;
    memset(record + header + bytes, 0, padding);
    put_header(m, record, header == 8 ? COMPRESSED : COMPRESSED2, size);
    if (header == 16)
        put64(m, record + 8, bytes);
    (void)replace(m, all, record, size);
}

/* ---- the frame of all ---- */

static void change_header(struct mutant *m)
{
    store(m, 8 + 8 * below(m, 12), 8, interesting(m));
}

/* An entry of the table of features, or a bit that says that there is one. */
static void change_table(struct mutant *m)
{
    const uint64_t table = load64(m, 40) + load64(m, 48);
    if (is_stream(m->data, m->bytes) || table >= m->bytes)
        return;
    if (below(m, 2))
        m->data[72 + below(m, 32)] ^= (uint8_t)(1u << below(m, 8));
    else
        store(m, (size_t)table + 8 * below(m, 60), 8, below(m, 2) ? below(m, m->bytes) : interesting(m));
}

/* Changes the features, and everything else that is not a record. */
static void change_rest(struct mutant *m)
{
    const uint64_t end = load64(m, 40) + load64(m, 48);
    const size_t from = is_stream(m->data, m->bytes) || end >= m->bytes ? 0 : (size_t)end;
    const size_t at = from + (below(m, m->bytes - from) & ~(size_t)3);
    if (below(m, 2) && at < m->bytes)
        m->data[at] ^= (uint8_t)(1u << below(m, 8));
    else
        store(m, at, below(m, 2) ? 4 : 8, interesting(m));
}

static void cut(struct mutant *m)
{
    const size_t at = below(m, 2) ? pick_position(m) : below(m, m->bytes);
    if (at >= STREAM_HEADER && below(m, 4) == 0)
        m->bytes = at;
}

static void (*const mutations[])(struct mutant *m) = {
    change_word, change_word, change_word, flip_bit,     copy_word,   change_type,  change_misc,
    change_size, resize,      resize,      drop,         repeat,      move,         splice,
    splice,      put_text,    add_feature, add_feature,  change_attr, change_attr,  add_attr,
    add_payload, compress,    cut,         change_table, change_rest, change_header};

void mutate(struct mutant *mutant)
{
    for (size_t i = 1 + below(mutant, 2) * below(mutant, 6); i && mutant->bytes >= STREAM_HEADER; i--)
        mutations[below(mutant, PF_COUNT(mutations))](mutant);
}
