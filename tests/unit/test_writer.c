/* SPDX-License-Identifier: MIT */
/* What is written is what is read again, and what cannot be written is refused. */
#include "counting.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include <perfile/writer.h>

#include "base/out.h"
#include "base/text.h"

/* ---- a recording in memory ---- */

struct writing {
    uint8_t *data;
    size_t bytes;
    size_t capacity;
    struct perfile_writer *writer;
    struct perfile_reader *reader;
    struct perfile_error error;
};

static int keep(void *context, const void *data, size_t bytes)
{
    struct writing *made = context;
    assert_true(pf_grow(pf_allocator_or_default(NULL), &made->data, &made->capacity, made->bytes + bytes, 1));
    memcpy(made->data + made->bytes, data, bytes);
    made->bytes += bytes;
    return 0;
}

static void begin_stream(struct writing *made, int byte_order)
{
    struct perfile_writer_options options = PERFILE_WRITER_OPTIONS_INIT;
    const struct perfile_sink sink = {made, keep};
    *made = (struct writing){.bytes = 0};
    options.mode = PERFILE_MODE_PIPE;
    options.byte_order = byte_order;
    assert_int_equal(perfile_writer_open_sink(&sink, &options, &made->writer, &made->error), 0);
}

static void end_stream(struct writing *made)
{
    assert_int_equal(perfile_writer_finish(made->writer, &made->error), 0);
    perfile_writer_close(made->writer);
    assert_int_equal(perfile_open_memory(made->data, made->bytes, NULL, &made->reader, &made->error), 0);
}

static void discard(struct writing *made)
{
    perfile_close(made->reader);
    pf_free(pf_allocator_or_default(NULL), made->data, made->capacity);
}

static const uint64_t id = 7;

static const struct perfile_attr some_attr = {.type = 1,
                                              .sample_type = PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_IP |
                                                             PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME,
                                              .sample_id_all = 1};

static struct perfile_event_spec some_event(void)
{
    struct perfile_event_spec event = PERFILE_EVENT_SPEC_INIT;
    event.attr = &some_attr;
    event.attr_bytes = sizeof(some_attr);
    event.ids = &id;
    event.id_count = 1;
    event.name = "made up";
    return event;
}

static void add_event(struct writing *made)
{
    const struct perfile_event_spec event = some_event();
    assert_int_equal(perfile_writer_add_event(made->writer, &event, NULL, &made->error), 0);
}

/* The next record of a type. */
static const struct perfile_record *next_of(struct writing *made, uint32_t type)
{
    const struct perfile_record *record;
    while (perfile_reader_next(made->reader, &record, &made->error) > 0)
        if (record->type == type)
            return record;
    fail();
    return NULL;
}

/* ---- from structs ---- */

static void test_records_and_samples(void **state)
{
    (void)state;
    struct writing made;
    struct perfile_mmap2 map = {.pid = 3, .tid = 4, .addr = 0x1000, .len = 0x2000, .prot = 5, .filename = "/bin/true"};
    const struct perfile_sample_id trailer = {.size = sizeof(trailer), .pid = 3, .tid = 4, .time = 99, .identifier = 7};
    struct perfile_sample sample = PERFILE_SAMPLE_INIT, seen = PERFILE_SAMPLE_INIT;
    for (int order = PERFILE_ORDER_LITTLE; order <= PERFILE_ORDER_BIG; order++) {
        struct perfile_mmap2 map_seen;
        struct perfile_sample_id trailer_seen = PERFILE_SAMPLE_ID_INIT;
        begin_stream(&made, order);
        add_event(&made);
        assert_int_equal(
            perfile_writer_record(made.writer, PERFILE_RECORD_MMAP2, 2, &map, sizeof(map), &trailer, &made.error), 0);
        sample.identifier = id;
        sample.ip = 0x1234;
        sample.pid = -1;
        sample.time = 100;
        assert_int_equal(perfile_writer_sample(made.writer, 0, 0x4002, &sample, &made.error), 0);
        end_stream(&made);
        const struct perfile_record *record = next_of(&made, PERFILE_RECORD_MMAP2);
        assert_int_equal(record->misc, 2);
        assert_int_equal(record->bytes % 8, 0);
        assert_int_equal(perfile_record_decode(made.reader, record, &map_seen, sizeof(map_seen), NULL), 0);
        assert_int_equal(map_seen.len, 0x2000);
        assert_string_equal(map_seen.filename, "/bin/true");
        assert_int_equal(perfile_sample_id_decode(made.reader, record, &trailer_seen, NULL), 0);
        assert_int_equal(trailer_seen.time, 99);
        record = next_of(&made, PERFILE_RECORD_SAMPLE);
        assert_int_equal(record->misc, 0x4002);
        assert_string_equal(record->event->name, "made up");
        assert_int_equal(perfile_sample_decode(record, &seen, NULL), 0);
        assert_int_equal(seen.ip, 0x1234);
        assert_int_equal(seen.pid, -1);
        assert_int_equal(seen.time, 100);
        discard(&made);
    }
}

static void test_features(void **state)
{
    (void)state;
    static const char *const words[] = {"perf", "record", ""};
    struct writing made;
    struct perfile_header_build_id entry = {.pid = -1, .build_id = {1, 2, 3}, .build_id_size = 3, .filename = "[k]"};
    struct perfile_header_build_id seen;
    const char *text;
    begin_stream(&made, PERFILE_ORDER_BIG);
    add_event(&made);
    assert_int_equal(perfile_writer_feature_text(made.writer, PERFILE_FEATURE_HOSTNAME, "here", &made.error), 0);
    assert_int_equal(perfile_writer_feature_texts(made.writer, PERFILE_FEATURE_CMDLINE, words, 3, &made.error), 0);
    assert_int_equal(perfile_writer_build_id(made.writer, 1, &entry, sizeof(entry), &made.error), 0);
    end_stream(&made);
    const struct perfile_record *record = next_of(&made, PERFILE_RECORD_HEADER_BUILD_ID);
    assert_int_equal(record->misc, 1 | PERFILE_MISC_BUILD_ID_SIZE);
    assert_int_equal(perfile_record_decode(made.reader, record, &seen, sizeof(seen), NULL), 0);
    assert_int_equal(seen.build_id_size, 3);
    assert_string_equal(seen.filename, "[k]");
    assert_int_equal(perfile_feature_text(made.reader, PERFILE_FEATURE_HOSTNAME, NULL, &text, NULL), 0);
    assert_string_equal(text, "here");
    discard(&made);
}

/* ---- every type, with any content ---- */

enum { RECORD_MAX = 1024 };

static uint32_t random_state = 1;

static uint32_t random_number(void)
{
    random_state = random_state * 1664525 + 1013904223;
    return random_state >> 8;
}

/* Mostly small numbers: counts and sizes that can be. */
static size_t random_record(uint32_t type, uint8_t *data)
{
    size_t bytes = 8 + 8 * (size_t)(random_number() % (random_number() % 4 ? 24 : RECORD_MAX / 8));
    memset(data, 0, bytes);
    for (size_t at = 8; at < bytes; at++)
        if (random_number() % 4 == 0)
            data[at] = (uint8_t)(random_number() % 8 ? random_number() % 4 : random_number());
    struct pf_out o = pf_out_make(data, 8, false);
    pf_out_u32(&o, type);
    pf_out_u16(&o, (uint16_t)(random_number() % 3 * 0x4000));
    pf_out_u16(&o, (uint16_t)bytes);
    return bytes;
}

static int say_begin(void *context, const char *name, bool list)
{
    pf_put_format(context, "%s%c", name ? name : "", list ? '[' : '{');
    return 0;
}

static int say_end(void *context, bool list)
{
    pf_put_string(context, list ? "]" : "}");
    return 0;
}

static int say_value(void *context, const struct perfile_value *value)
{
    pf_put_format(context, "%s=%" PRIu64 " ", value->name ? value->name : "", value->number.u);
    if (value->bytes)
        pf_put_hex_bytes(context, value->data, value->bytes);
    return 0;
}

/* All that the record says; false when it is damaged. */
static bool say(struct writing *made, const struct perfile_record *record, struct pf_text *text)
{
    const struct perfile_visitor visitor = {sizeof(visitor), text, say_begin, say_end, say_value};
    text->used = 0;
    pf_put_format(text, "%" PRIu32 " %u ", record->type, record->misc);
    assert_int_equal(perfile_record_visit(made->reader, record, &visitor, NULL), 0);
    pf_put(text, "", 1);
    return !record->damaged && record->bytes == record->stated_bytes && !strstr(text->data, "error=");
}

/* One record there and back again. */
static unsigned turn(uint32_t type, struct pf_text *texts)
{
    uint8_t data[RECORD_MAX];
    struct writing here, there, back;
    begin_stream(&here, PERFILE_ORDER_NATIVE);
    add_event(&here);
    assert_int_equal(perfile_writer_raw(here.writer, data, random_record(type, data), &here.error), 0);
    end_stream(&here);
    const struct perfile_record *record = NULL;
    while (perfile_reader_next(here.reader, &record, NULL) > 0 && record->type != type)
        continue;
    /* bytes that mean nothing cannot be turned, and may look like records then */
    if (!record || record->payload_bytes || !say(&here, record, &texts[0]) || strstr(texts[0].data, "__extra=")) {
        discard(&here);
        return 0;
    }
    begin_stream(&there, PF_NATIVE_BIG_ENDIAN ? PERFILE_ORDER_LITTLE : PERFILE_ORDER_BIG);
    add_event(&there);
    assert_int_equal(perfile_writer_copy(there.writer, here.reader, record, &there.error), 0);
    end_stream(&there);
    record = next_of(&there, type);
    assert_true(say(&there, record, &texts[1]));
    assert_string_equal(texts[0].data, texts[1].data);
    begin_stream(&back, PERFILE_ORDER_NATIVE);
    add_event(&back);
    assert_int_equal(perfile_writer_copy(back.writer, there.reader, record, &back.error), 0);
    end_stream(&back);
    record = next_of(&back, type);
    assert_true(say(&back, record, &texts[1]));
    assert_string_equal(texts[0].data, texts[1].data);
    discard(&here);
    discard(&there);
    discard(&back);
    return 1;
}

static bool is_no_plain_record(uint32_t type)
{
    return type == PERFILE_RECORD_AUXTRACE || type == PERFILE_RECORD_HEADER_ATTR ||
           type == PERFILE_RECORD_HEADER_EVENT_TYPE || type == PERFILE_RECORD_HEADER_FEATURE ||
           type == PERFILE_RECORD_HEADER_TRACING_DATA || type == PERFILE_RECORD_COMPRESSED ||
           type == PERFILE_RECORD_COMPRESSED2;
}

static void test_every_type_in_the_other_byte_order(void **state)
{
    (void)state;
    struct pf_text texts[2];
    uint32_t type;
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pf_text_open(&texts[i], pf_allocator_or_default(NULL), NULL, NULL), 0);
    for (size_t i = 0; (type = perfile_record_type_at(i)) != 0; i++) {
        unsigned turned = 0;
        if (is_no_plain_record(type))
            continue;
        for (unsigned n = 0; n < 1000; n++)
            turned += turn(type, texts);
        if (!turned)
            print_error("no %s record of 1000 could be decoded\n", perfile_record_name(type));
        assert_true(turned || type == PERFILE_RECORD_BPF_METADATA); /* texts of 320 bytes: they never fit by chance */
    }
    for (size_t i = 0; i < 2; i++)
        pf_text_close(&texts[i]);
}

/* ---- refusals ---- */

static void test_options(void **state)
{
    (void)state;
    struct perfile_writer *writer;
    struct perfile_error error;
    struct perfile_writer_options options = PERFILE_WRITER_OPTIONS_INIT;
    const struct perfile_sink sink = {NULL, NULL};
    options.mode = 3;
    assert_int_equal(perfile_writer_open_sink(&sink, &options, &writer, &error), PERFILE_ERROR_ARGUMENT);
    options.mode = PERFILE_MODE_PIPE;
    options.compression = 23;
    assert_int_equal(perfile_writer_open_sink(&sink, &options, &writer, &error), PERFILE_ERROR_ARGUMENT);
    options.compression = 0;
    options.size = 0;
    assert_int_equal(perfile_writer_open_sink(&sink, &options, &writer, &error), PERFILE_ERROR_ARGUMENT);
    /* a stream cannot be given its header afterwards */
    assert_int_equal(perfile_writer_open_sink(&sink, NULL, &writer, &error), PERFILE_ERROR_ARGUMENT);
    assert_null(writer);
    assert_int_equal(perfile_writer_open_path("/dev/null/x", NULL, &writer, &error), PERFILE_ERROR_OPEN);
    assert_int_equal(perfile_writer_open_path("/tmp", NULL, &writer, &error), PERFILE_ERROR_OPEN);
    perfile_writer_close(NULL);
}

/* The call fails with this, and so does the end. */
#define REFUSES(code, call)                                                                                            \
    {                                                                                                                  \
        struct writing made;                                                                                           \
        begin_stream(&made, PERFILE_ORDER_NATIVE);                                                                     \
        add_event(&made);                                                                                              \
        assert_int_equal(call, code);                                                                                  \
        assert_int_equal(perfile_writer_finish(made.writer, &made.error), code);                                       \
        perfile_writer_close(made.writer);                                                                             \
        discard(&made);                                                                                                \
    }

static void test_refusals(void **state)
{
    (void)state;
    static char long_name[70000];
    const struct perfile_comm comm = {.comm = long_name};
    const struct perfile_lost lost = {0};
    const struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    const uint8_t bytes[8] = {1, 0, 0, 0, 0, 0, 9, 0};
    memset(long_name, 'x', sizeof(long_name) - 1);
#define IN made.writer
#define WHY &made.error
    REFUSES(PERFILE_ERROR_ARGUMENT, perfile_writer_feature(IN, PERFILE_FEATURE_EVENT_DESC, "", 1, WHY))
    REFUSES(PERFILE_ERROR_ARGUMENT, perfile_writer_feature(IN, 0, "", 1, WHY))
    REFUSES(PERFILE_ERROR_ARGUMENT, perfile_writer_feature(IN, 256, "", 1, WHY))
    REFUSES(PERFILE_ERROR_ARGUMENT, perfile_writer_raw(IN, bytes, sizeof(bytes), WHY))
    REFUSES(PERFILE_ERROR_ARGUMENT, perfile_writer_sample(IN, 1, 0, &sample, WHY))
    REFUSES(PERFILE_ERROR_ARGUMENT, perfile_writer_record(IN, 9, 0, NULL, 0, NULL, WHY))
    REFUSES(PERFILE_ERROR_ARGUMENT, perfile_writer_record(IN, 2, 0, &lost, sizeof(lost) - 1, NULL, WHY))
    REFUSES(PERFILE_ERROR_LIMIT, perfile_writer_record(IN, 3, 0, &comm, sizeof(comm), NULL, WHY))
    REFUSES(PERFILE_ERROR_ARGUMENT, perfile_writer_payload(IN, "", 1, WHY))
    REFUSES(PERFILE_ERROR_ARGUMENT, perfile_writer_part(IN, 1, WHY))
}

static void test_payload_must_be_complete(void **state)
{
    (void)state;
    struct writing made;
    const struct perfile_auxtrace aux = {.data_size = 16};
    begin_stream(&made, PERFILE_ORDER_NATIVE);
    add_event(&made);
    assert_int_equal(
        perfile_writer_record(made.writer, PERFILE_RECORD_AUXTRACE, 0, &aux, sizeof(aux), NULL, &made.error), 0);
    assert_int_equal(perfile_writer_payload(made.writer, "01234567", 8, &made.error), 0);
    assert_int_equal(perfile_writer_finish(made.writer, &made.error), PERFILE_ERROR_ARGUMENT);
    perfile_writer_close(made.writer);
    discard(&made);
}

/* ---- the file ---- */

static void test_attrs_get_one_size(void **state)
{
    (void)state;
    char path[] = "/tmp/perfile-writer-XXXXXX";
    struct perfile_writer *writer;
    struct perfile_reader *reader;
    struct perfile_error error;
    struct perfile_event_spec event = some_event();
    struct perfile_attr attr = some_attr;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(perfile_writer_open_fd(fd, NULL, &writer, &error), 0);
    assert_int_equal(perfile_writer_add_event(writer, &event, NULL, &error), 0);
    attr.config3 = 5;
    event.attr = &attr;
    assert_int_equal(perfile_writer_add_event(writer, &event, NULL, &error), 0);
    assert_int_equal(perfile_writer_finish(writer, &error), 0);
    assert_int_equal(perfile_writer_finish(writer, &error), PERFILE_ERROR_ARGUMENT);
    perfile_writer_close(writer);
    assert_int_equal(perfile_open_path(path, NULL, &reader, &error), 0);
    assert_int_equal(perfile_event_count(reader), 2);
    assert_int_equal(perfile_event_get(reader, 0)->attr->size, 136);
    assert_int_equal(perfile_event_get(reader, 1)->attr->config3, 5);
    assert_true(perfile_reader_file(reader)->finished); /* although no record was written */
    assert_int_equal(perfile_reader_counts(reader)->losses, 0);
    perfile_close(reader);
    close(fd);
    unlink(path);
}

static uint64_t samples_in(const char *path, int *mode)
{
    struct perfile_reader *reader;
    struct perfile_error error;
    const struct perfile_record *record;
    assert_int_equal(perfile_open_path(path, NULL, &reader, &error), 0);
    while (perfile_reader_next(reader, &record, &error) > 0)
        continue;
    const uint64_t samples = perfile_reader_counts(reader)->samples;
    *mode = perfile_reader_file(reader)->mode;
    assert_int_equal(perfile_reader_counts(reader)->losses, 0);
    assert_int_equal(perfile_event_count(reader), 1);
    assert_string_equal(perfile_event_get(reader, 0)->name, "made up");
    perfile_close(reader);
    return samples;
}

/* Readable at every moment: a stream first, a file at last. */
static void test_live_file(void **state)
{
    (void)state;
    for (int compression = 0; compression < 2; compression++) {
        char folder[] = "/tmp/perfile-live-XXXXXX", path[64];
        struct perfile_writer_options options = PERFILE_WRITER_OPTIONS_INIT;
        const struct perfile_event_spec event = some_event();
        struct perfile_sample sample = PERFILE_SAMPLE_INIT;
        struct perfile_writer *writer;
        struct perfile_error error;
        int mode;
        assert_non_null(mkdtemp(folder));
        snprintf(path, sizeof(path), "%s/x", folder);
        options.live = true;
        options.compression = compression;
        sample.identifier = id;
        assert_int_equal(perfile_writer_open_path(path, &options, &writer, &error), 0);
        assert_int_equal(perfile_writer_add_event(writer, &event, NULL, &error), 0);
        assert_int_not_equal(access(path, F_OK), 0);
        assert_int_equal(perfile_writer_publish(writer, &error), 0);
        for (uint64_t n = 0; n < 3; n++) {
            assert_int_equal(samples_in(path, &mode), n);
            assert_int_equal(mode, PERFILE_MODE_PIPE);
            assert_int_equal(perfile_writer_sample(writer, 0, 2, &sample, &error), 0);
            assert_int_equal(perfile_writer_flush(writer, &error), 0);
        }
        assert_int_equal(perfile_writer_feature_text(writer, PERFILE_FEATURE_HOSTNAME, "late", &error), 0);
        assert_int_equal(perfile_writer_finish(writer, &error), 0);
        perfile_writer_close(writer);
        assert_int_equal(samples_in(path, &mode), 3);
        assert_int_equal(mode, PERFILE_MODE_FILE);
        unlink(path);
        rmdir(folder);
    }
}

/* More ids than fit into the record of an event, and a feature of more than a record, while it grows and at the end. */
static void test_large_descriptions(void **state)
{
    enum { IDS = 20000, FEATURE = 100000 };
    (void)state;
    static uint64_t ids[IDS];
    static char text[FEATURE + 1];
    char folder[] = "/tmp/perfile-large-XXXXXX", path[64];
    struct perfile_writer_options options = PERFILE_WRITER_OPTIONS_INIT;
    struct perfile_event_spec event = some_event();
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    struct perfile_writer *writer;
    struct perfile_reader *reader;
    struct perfile_error error;
    const char *host;
    for (size_t i = 0; i < IDS; i++)
        ids[i] = i + 1;
    memset(text, 'x', FEATURE);
    event.ids = ids;
    event.id_count = IDS;
    sample.identifier = IDS;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/x", folder);
    options.live = true;
    assert_int_equal(perfile_writer_open_path(path, &options, &writer, &error), 0);
    assert_int_equal(perfile_writer_add_event(writer, &event, NULL, &error), 0);
    assert_int_equal(perfile_writer_feature_text(writer, PERFILE_FEATURE_HOSTNAME, text, &error), 0);
    assert_int_equal(perfile_writer_publish(writer, &error), 0);
    assert_int_equal(perfile_writer_sample(writer, 0, 2, &sample, &error), 0);
    for (int ended = 0; ended < 2; ended++) {
        assert_int_equal(ended ? perfile_writer_finish(writer, &error) : perfile_writer_flush(writer, &error), 0);
        int mode;
        assert_int_equal(samples_in(path, &mode), 1);
        assert_int_equal(mode, ended ? PERFILE_MODE_FILE : PERFILE_MODE_PIPE);
    }
    assert_int_equal(perfile_open_path(path, NULL, &reader, &error), 0);
    assert_int_equal(perfile_event_get(reader, 0)->id_count, IDS);
    assert_int_equal(perfile_feature_text(reader, PERFILE_FEATURE_HOSTNAME, NULL, &host, &error), 0);
    assert_string_equal(host, text);
    perfile_close(reader);
    perfile_writer_close(writer);
    unlink(path);
    rmdir(folder);
}

/* Also one that nothing was ever written into. */
static void test_empty_live_file(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        char folder[] = "/tmp/perfile-live-XXXXXX", path[64];
        struct perfile_writer_options options = PERFILE_WRITER_OPTIONS_INIT;
        const struct perfile_event_spec event = some_event();
        struct perfile_writer *writer;
        struct perfile_reader *reader;
        const struct perfile_record *record;
        struct perfile_error error;
        const char *host;
        assert_non_null(mkdtemp(folder));
        snprintf(path, sizeof(path), "%s/x", folder);
        options.live = true;
        options.compression = kind & 1;
        assert_int_equal(perfile_writer_open_path(path, &options, &writer, &error), 0);
        if (kind & 2)
            assert_int_equal(perfile_writer_add_event(writer, &event, NULL, &error), 0);
        assert_int_equal(perfile_writer_feature_text(writer, PERFILE_FEATURE_HOSTNAME, "here", &error), 0);
        assert_int_equal(perfile_writer_publish(writer, &error), 0);
        assert_int_equal(perfile_writer_finish(writer, &error), 0);
        perfile_writer_close(writer);
        assert_int_equal(perfile_open_path(path, NULL, &reader, &error), 0);
        while (perfile_reader_next(reader, &record, &error) > 0)
            continue;
        assert_int_equal(perfile_reader_counts(reader)->losses, 0);
        assert_int_equal(perfile_reader_file(reader)->mode, PERFILE_MODE_FILE);
        assert_int_equal(perfile_event_count(reader), kind / 2);
        assert_int_equal(perfile_feature_text(reader, PERFILE_FEATURE_HOSTNAME, NULL, &host, &error), 0);
        assert_string_equal(host, "here");
        perfile_close(reader);
        unlink(path);
        rmdir(folder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records_and_samples),
        cmocka_unit_test(test_features),
        cmocka_unit_test(test_every_type_in_the_other_byte_order),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_payload_must_be_complete),
        cmocka_unit_test(test_attrs_get_one_size),
        cmocka_unit_test(test_live_file),
        cmocka_unit_test(test_large_descriptions),
        cmocka_unit_test(test_empty_live_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
