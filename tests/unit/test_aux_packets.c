/* SPDX-License-Identifier: MIT */
/*
 * test_aux_packets FOLDER: packets of hardware traces. Each file in FOLDER has the packets of a format in hexadecimal,
 * one on a line, with the words that perf prints for it; "-" begins another payload.
 */
#include "hwtrace/packets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <perfile/records.h>

#include "counting.h"

static const char *folder;

enum { MAX_BYTES = 64 * 1024, MAX_LINE = 8 * 1024 + 256 };

struct payload {
    uint8_t bytes[MAX_BYTES];
    size_t count;
    char *lines; /* what is expected, a line for each packet */
};

/* "OFFSET LENGTH WORDS" for each packet. */
struct seen {
    struct pf_text text;
    const struct pf_aux_format *format;
    uint64_t offset; /* that the next packet should have */
};

static void see(struct seen *seen, const struct pf_aux_packet *packet)
{
    assert_int_equal(packet->offset, seen->offset);
    assert_true(packet->bytes > 0);
    assert_true(packet->kind < seen->format->kind_count);
    seen->offset += packet->bytes;
    pf_put_format(&seen->text, "%" PRIu64 " ", packet->offset);
    const size_t start = seen->text.used;
    pf_aux_put(&seen->text, seen->format, packet);
    while (seen->text.used > start && seen->text.data[seen->text.used - 1] == ' ')
        seen->text.used--;
    pf_put_char(&seen->text, '\n');
}

/* Bytes that arrive in pieces of one size. */
struct source {
    const uint8_t *bytes;
    size_t count, at, piece;
};

static int next_piece(void *context, const uint8_t **data, size_t *bytes, struct perfile_error *error)
{
    struct source *source = context;
    (void)error;
    *data = source->bytes + source->at;
    *bytes = (size_t)pf_min(source->piece, source->count - source->at);
    source->at += *bytes;
    return *bytes > 0;
}

/* Walks over the payload in pieces of this size. */
static void check_pieces(struct pf_aux_walk *walk, struct seen *seen, const struct payload *payload, size_t piece)
{
    struct source source = {payload->bytes, payload->count, .piece = piece};
    struct pf_aux_packet packet;
    seen->text.used = 0;
    seen->offset = 0;
    walk->context = &source;
    pf_aux_walk_restart(walk);
    while (pf_aux_walk_next(walk, &packet, NULL) > 0)
        see(seen, &packet);
    assert_int_equal(seen->offset, payload->count);
    pf_put_char(&seen->text, '\0');
    assert_string_equal(seen->text.data, payload->lines);
}

static void check_damage(struct pf_aux_walk *walk, const uint8_t *payload, size_t count, bool finds_shifted);

/* The bytes of headers of HiSilicon PTT and entries of the dispatch trace log; 1 where packets have several sizes. */
static size_t record_bytes(uint32_t type)
{
    return type == PERFILE_AUXTRACE_HISI_PTT ? 32 : type == PERFILE_AUXTRACE_VPA_DTL ? 48 : 1;
}

static void check_payload(struct pf_aux_walk *walk, struct seen *seen, struct payload *payload)
{
    const uint32_t type = seen->format->type;
    const size_t complete = payload->count - payload->count % record_bytes(type);
    if (complete)
        check_damage(walk, payload->bytes, complete,
                     type == PERFILE_AUXTRACE_INTEL_PT || type == PERFILE_AUXTRACE_ARM_SPE);
    static const size_t pieces[] = {1, 2, 3, 7, 16, 17, 4095, 4096, MAX_BYTES};
    for (size_t i = 0; i < PF_COUNT(pieces) && payload->count; i++)
        check_pieces(walk, seen, payload, pieces[i]);
    payload->count = 0;
}

static void add_packet(struct payload *payload, struct pf_text *expected, const char *line)
{
    const char *words = strchr(line, ' ');
    pf_put_format(expected, "%zu %s", payload->count, words + 1);
    for (; line < words; line += 2) {
        const char digits[] = {line[0], line[1], '\0'};
        assert_true(payload->count < MAX_BYTES);
        payload->bytes[payload->count++] = (uint8_t)strtoul(digits, NULL, 16);
    }
}

static void check_lines(FILE *file, struct pf_aux_walk *walk, struct seen *seen)
{
    static struct payload payload;
    static char line[MAX_LINE];
    struct pf_text expected;
    bool more = true;
    assert_int_equal(pf_text_open(&expected, pf_allocator_or_default(NULL), NULL, NULL), 0);
    payload.count = 0;
    while (more) {
        more = fgets(line, sizeof(line), file);
        if (more && line[0] != '#' && line[0] != '-') {
            add_packet(&payload, &expected, line);
        } else if (!more || line[0] == '-') {
            pf_put_char(&expected, '\0');
            payload.lines = expected.data;
            check_payload(walk, seen, &payload);
            expected.used = 0;
        }
    }
    pf_text_close(&expected);
}

static void check_file(const char *name, uint32_t type)
{
    struct seen seen = {.format = pf_aux_format_find(type)};
    struct pf_aux_walk walk = {.format = seen.format, .more = next_piece};
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(seen.format);
    assert_int_equal(pf_text_open(&seen.text, pf_allocator_or_default(NULL), NULL, NULL), 0);
    assert_true(pf_aux_walk_open(&walk, pf_allocator_or_default(NULL)));
    check_lines(file, &walk, &seen);
    pf_aux_walk_close(&walk);
    pf_text_close(&seen.text);
    fclose(file);
}

static void test_formats(void **state)
{
    (void)state;
    check_file("intel_pt.txt", PERFILE_AUXTRACE_INTEL_PT);
    check_file("intel_bts.txt", PERFILE_AUXTRACE_INTEL_BTS);
    check_file("arm_spe.txt", PERFILE_AUXTRACE_ARM_SPE);
    check_file("hisi_ptt4.txt", PERFILE_AUXTRACE_HISI_PTT);
    check_file("hisi_ptt8.txt", PERFILE_AUXTRACE_HISI_PTT);
    check_file("vpa_dtl.txt", PERFILE_AUXTRACE_VPA_DTL);
    check_file("s390_sampling.txt", PERFILE_AUXTRACE_S390_CPUMSF);
    assert_null(pf_aux_format_find(99));
}

/* ---- any bytes --------------------------------------------------------------------------------------------------- */

static void check_any(struct pf_aux_walk *walk, struct seen *seen, struct source *source)
{
    struct pf_aux_packet packet;
    seen->offset = 0;
    walk->context = source;
    pf_aux_walk_restart(walk);
    while (pf_aux_walk_next(walk, &packet, NULL) > 0) {
        seen->text.used = 0;
        see(seen, &packet);
    }
    assert_int_equal(seen->offset, source->count);
}

/* Random bytes, cut at any length, are covered by packets without a gap. */
static void test_random_bytes(void **state)
{
    static uint8_t bytes[5000];
    uint64_t random = 88172645463325252u;
    (void)state;
    for (uint32_t type = 1; type < 8; type++) {
        struct seen seen = {.format = pf_aux_format_find(type)};
        struct pf_aux_walk walk = {.format = seen.format, .more = next_piece};
        if (!seen.format)
            continue;
        assert_int_equal(pf_text_open(&seen.text, pf_allocator_or_default(NULL), NULL, NULL), 0);
        assert_true(pf_aux_walk_open(&walk, pf_allocator_or_default(NULL)));
        for (unsigned round = 0; round < 200; round++) {
            const size_t count = sizeof(bytes) - round * 7;
            for (size_t i = 0; i < count; i++) {
                random ^= random << 13, random ^= random >> 7, random ^= random << 17;
                bytes[i] = (uint8_t)(round % 2 && random >> 60 ? 0 : random >> 32);
            }
            check_any(&walk, &seen, &(struct source){bytes, count, .piece = 1 + round});
        }
        pf_aux_walk_close(&walk);
        pf_text_close(&seen.text);
    }
}

/* ---- damage ------------------------------------------------------------------------------------------------------ */

enum { COPIES = 3, CHANGES = 4, MAX_PACKETS = MAX_BYTES };

struct listed {
    uint64_t offset;
    size_t bytes;
    unsigned kind, detail;
    uint64_t payload;
};

struct list {
    struct listed packets[MAX_PACKETS];
    size_t count;
};

static void list_packets(struct pf_aux_walk *walk, const uint8_t *bytes, size_t count, struct list *list)
{
    struct source source = {bytes, count, .piece = count};
    struct pf_aux_packet packet;
    uint64_t offset = 0, bad_bytes = 0;
    list->count = 0;
    walk->context = &source;
    walk->bad_bytes = 0;
    pf_aux_walk_restart(walk);
    for (; pf_aux_walk_next(walk, &packet, NULL) > 0; offset += packet.bytes) {
        assert_int_equal(packet.offset, offset);
        assert_true(list->count < MAX_PACKETS);
        bad_bytes += packet.kind == PF_AUX_BAD ? packet.bytes : 0;
        list->packets[list->count++] =
            (struct listed){offset, packet.bytes, packet.kind, packet.detail, packet.payload};
    }
    assert_int_equal(offset, count);
    assert_int_equal(walk->bad_bytes, bad_bytes);
}

/* Where the packets begin that are the same in both, although `removed` bytes are missing before them in the second. */
static uint64_t same_from(const struct list *complete, const struct list *damaged, uint64_t removed)
{
    size_t i = complete->count, j = damaged->count;
    uint64_t from = UINT64_MAX;
    while (i > 0 && j > 0) {
        struct listed a = complete->packets[--i];
        const struct listed *b = &damaged->packets[--j];
        a.offset -= removed;
        if (a.offset != b->offset || a.bytes != b->bytes || a.kind != b->kind || a.detail != b->detail ||
            a.payload != b->payload)
            break;
        from = a.offset + removed;
    }
    return from;
}

/* Whether this word of HiSilicon PTT would begin a header of eight words, as that of its longer headers does. */
static bool seems_longer(const struct pf_aux_format *format, const uint8_t *word)
{
    return format->type == PERFILE_AUXTRACE_HISI_PTT && pf_load32(word, PF_AUX_LITTLE) >> 11 == 0x1fffff;
}

/*
 * Changes and removes each byte of the first of three copies: each byte belongs to a packet, and packets of the last
 * copy are the same. After a byte was removed this is true where packets can be found again: not of formats that
 * consist of records of one size, of which `payload` has complete ones.
 */
static void check_damage(struct pf_aux_walk *walk, const uint8_t *payload, size_t count, bool finds_shifted)
{
    static const uint8_t changes[CHANGES] = {0x01, 0x10, 0x80, 0xff};
    static uint8_t copies[COPIES * MAX_BYTES], damaged[COPIES * MAX_BYTES];
    static struct list complete, list;
    const size_t bytes = COPIES * count;
    for (size_t i = 0; i < bytes; i++)
        copies[i] = damaged[i] = payload[i % count];
    list_packets(walk, copies, bytes, &complete);
    for (size_t at = 0; at < count; at++) {
        for (unsigned i = 0; i < CHANGES; i++) {
            damaged[at] = copies[at] ^ changes[i];
            if (seems_longer(walk->format, damaged + at - at % 4))
                continue;
            list_packets(walk, damaged, bytes, &list);
            assert_true(same_from(&complete, &list, 0) <= (COPIES - 1) * count);
        }
        memmove(damaged + at, copies + at + 1, bytes - at - 1);
        list_packets(walk, damaged, bytes - 1, &list);
        assert_true(!finds_shifted || same_from(&complete, &list, 1) <= (COPIES - 1) * count);
        memcpy(damaged + at, copies + at, bytes - at);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_formats), cmocka_unit_test(test_random_bytes)};
    if (argc != 2)
        return 2;
    folder = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
