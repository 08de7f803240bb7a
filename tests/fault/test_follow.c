/* SPDX-License-Identifier: MIT */
/*
 * Recordings that are read while they are written, in pieces of any size. The records, the counts and in the end the
 * features and names are those of the finished recording; if the writer was killed, they are what the file contains.
 */
#include "fault.h"

#include <perfile/profile.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TRACE_MAX = 20000, HEADER = 104, DATA_OFFSET = 40, DATA_BYTES = 48, FEATURES = 72 };

/* What came out of a reader. */
struct trace {
    int failure;
    size_t count;
    uint64_t records[TRACE_MAX]; /* a hash of each */
    struct perfile_counts counts;
    uint64_t features, names;
};

static uint64_t hash(uint64_t sum, const void *data, size_t bytes)
{
    const uint8_t *from = data;
    for (size_t i = 0; i < bytes; i++)
        sum = (sum ^ from[i]) * 0x100000001b3;
    return sum;
}

static void add(struct trace *trace, struct perfile_reader *reader, const struct perfile_record *record)
{
    uint64_t sum = hash(record->offset, record->data, record->damaged ? 0 : record->bytes);
    const uint8_t *data;
    size_t bytes;
    while (perfile_reader_payload(reader, &data, &bytes, NULL) > 0)
        sum = hash(sum, data, bytes);
    assert_true(trace->count < TRACE_MAX);
    trace->records[trace->count++] = hash(sum, &record->type, sizeof(record->type)) + record->damaged;
}

static void finish(struct trace *trace, struct perfile_reader *reader)
{
    const uint8_t *data;
    size_t bytes;
    trace->counts = *perfile_reader_counts(reader);
    for (size_t i = 0; i < perfile_feature_count(reader); i++)
        if (perfile_feature_bytes(reader, perfile_feature_get(reader, i)->number, &data, &bytes, NULL) == 0)
            trace->features = hash(trace->features, data, bytes);
    for (size_t i = 0; i < perfile_event_count(reader); i++)
        trace->names =
            hash(trace->names, perfile_event_get(reader, i)->name, strlen(perfile_event_get(reader, i)->name));
    perfile_close(reader);
}

static void trace_plain(struct trace *trace, const uint8_t *data, size_t bytes)
{
    struct perfile_reader *reader;
    const struct perfile_record *record;
    *trace = (struct trace){.failure = perfile_open_memory(data, bytes, NULL, &reader, NULL)};
    if (trace->failure)
        return;
    while ((trace->failure = perfile_reader_next(reader, &record, NULL)) > 0)
        add(trace, reader, record);
    finish(trace, reader);
}

/* ---- a recording that grows ---- */

enum how { WAIT, AGAIN };

struct growing {
    uint8_t *data; /* as it will be at the end */
    size_t bytes;
    size_t records_at;  /* file mode: where they begin */
    size_t records_end; /* file mode: where the records end; 0: the header is as it will be from the start */
    bool killed;        /* the header stays as it was */
    size_t there;       /* so much has been written */
    bool headed;        /* the header is final */
    size_t first;       /* bytes of the first piece */
    size_t step;        /* bytes of each later piece */
    size_t at;          /* where the reader stands */
    enum how how;
    bool stream;
};

static bool is_pipe(const struct growing *g)
{
    return g->bytes >= 16 && (g->data[8] == 16 || g->data[15] == 16);
}

static void grow(struct growing *g)
{
    const size_t more = g->there ? g->step : g->first;
    if (g->there == g->bytes)
        g->headed = !g->killed;
    g->there += more < g->bytes - g->there ? more : g->bytes - g->there;
}

static bool is_over(const struct growing *g)
{
    return g->there == g->bytes && (g->headed || g->killed);
}

static int more(void *context)
{
    struct growing *g = context;
    if (is_over(g))
        return 0;
    if (g->how == AGAIN)
        return -1;
    grow(g);
    return 1;
}

static int64_t read_growing(void *context, void *to, size_t bytes)
{
    struct growing *g = context;
    const size_t there = g->there > g->at ? g->there - g->at : 0, got = bytes < there ? bytes : there;
    memcpy(to, g->data + g->at, got);
    for (size_t i = 0; i < got && g->records_end && !g->headed; i++) { /* not known yet: the size, the features */
        const size_t at = g->at + i;
        if ((at >= DATA_BYTES && at < DATA_BYTES + 8) || (at >= FEATURES && at < HEADER))
            ((uint8_t *)to)[i] = 0;
    }
    g->at += got;
    return (int64_t)got;
}

static int seek_growing(void *context, uint64_t offset)
{
    ((struct growing *)context)->at = (size_t)offset;
    return 0;
}

static int64_t bytes_growing(void *context)
{
    return (int64_t)((struct growing *)context)->there;
}

static int open_growing(struct growing *g, struct perfile_reader **reader)
{
    struct perfile_open_options options = PERFILE_OPEN_OPTIONS_INIT;
    const struct perfile_source source = {.size = sizeof(source),
                                          .context = g,
                                          .read = read_growing,
                                          .seek = g->stream ? NULL : seek_growing,
                                          .bytes = g->stream ? NULL : bytes_growing};
    options.follow = more;
    options.follow_context = g;
    int result;
    while ((result = perfile_open_source(&source, &options, reader, NULL)) == PERFILE_ERROR_AGAIN)
        grow(g);
    return result;
}

static void trace_growing(struct trace *trace, struct growing g)
{
    struct perfile_reader *reader;
    const struct perfile_record *record;
    *trace = (struct trace){.failure = open_growing(&g, &reader)};
    if (trace->failure)
        return;
    for (;;) {
        trace->failure = perfile_reader_next(reader, &record, NULL);
        if (trace->failure == PERFILE_ERROR_AGAIN)
            grow(&g);
        else if (trace->failure <= 0)
            break;
        else
            add(trace, reader, record);
    }
    assert_int_equal(perfile_reader_next(reader, &record, NULL), 0);
    finish(trace, reader);
}

static void expect_alike(const struct trace *expected, struct growing g)
{
    static struct trace seen;
    for (int how = WAIT; how <= AGAIN; how++) {
        g.how = (enum how)how;
        trace_growing(&seen, g);
        assert_int_equal(seen.failure, expected->failure);
        assert_int_equal(seen.count, expected->count);
        assert_memory_equal(seen.records, expected->records, seen.count * sizeof(*seen.records));
        assert_memory_equal(&seen.counts, &expected->counts, sizeof(seen.counts));
        assert_int_equal(seen.features, expected->features);
        assert_int_equal(seen.names, expected->names);
    }
}

static struct growing load(const char *path)
{
    struct growing g = {.step = SIZE_MAX};
    uint64_t offset, bytes;
    g.data = recording_load(path, &g.bytes);
    memcpy(&offset, g.data + DATA_OFFSET, sizeof(offset));
    memcpy(&bytes, g.data + DATA_BYTES, sizeof(bytes));
    const bool is_big = g.data[0] == '2';
    if (is_big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)) {
        offset = __builtin_bswap64(offset);
        bytes = __builtin_bswap64(bytes);
    }
    g.records_at = is_pipe(&g) ? HEADER : (size_t)offset;
    g.records_end = is_pipe(&g) ? 0 : (size_t)(offset + bytes);
    return g;
}

/* ---- tests ---- */

static struct trace expected;

/* As perf writes: the records, the features, the header; in two pieces, for each odd length of the first one. */
static void test_cut_at_every_odd_offset(void **state)
{
    (void)state;
    for (char **path = recordings; *path; path++) {
        struct growing g = load(*path);
        const size_t step = g.bytes > 16384 ? 2000 : 2;
        trace_plain(&expected, g.data, g.bytes);
        assert_true(expected.count > 5);
        for (g.first = 1; g.first < g.bytes; g.first += step)
            expect_alike(&expected, g);
        free(g.data);
    }
}

/* Many small pieces; also a stream, and a finished recording that is copied. */
static void test_pieces_of_every_odd_length(void **state)
{
    (void)state;
    for (char **path = recordings; *path; path++) {
        struct growing g = load(*path);
        const size_t end = g.records_end;
        trace_plain(&expected, g.data, g.bytes);
        for (g.step = g.bytes > 16384 ? 1001 : 1; g.step < g.bytes; g.step = g.step * 3 + 2) {
            g.first = g.step;
            g.stream = false;
            g.records_end = end;
            expect_alike(&expected, g);
            g.records_end = 0;
            expect_alike(&expected, g);
            g.stream = is_pipe(&g);
            g.first = HEADER + 1;
            expect_alike(&expected, g);
        }
        free(g.data);
    }
}

/* What is in the recording then is what a reader finds that comes later, and the same is lost. */
static void test_the_writer_is_killed_anywhere(void **state)
{
    (void)state;
    for (char **path = recordings; *path; path++) {
        struct growing g = load(*path);
        const size_t complete = g.records_end ? g.records_end : g.bytes, step = complete > 16384 ? 1999 : 14;
        memset(g.data + DATA_BYTES, 0, g.records_end ? 8 : 0);
        memset(g.data + FEATURES, 0, g.records_end ? HEADER - FEATURES : 0);
        g.killed = true;
        g.first = g.step = 333;
        for (g.bytes = g.records_at + 1; g.bytes < complete; g.bytes += step) {
            trace_plain(&expected, g.data, g.bytes);
            expect_alike(&expected, g);
        }
        free(g.data);
    }
}

/* Damage is found where it is found in the finished recording. */
static void test_damage(void **state)
{
    (void)state;
    for (char **path = recordings; *path; path++) {
        struct growing g = load(*path);
        const size_t complete = g.records_end ? g.records_end : g.bytes;
        for (size_t at = 600; at<complete; at += complete> 16384 ? 4001 : 34) {
            const uint8_t before = g.data[at];
            g.data[at] = (uint8_t)(before ^ 0x5a);
            g.first = g.step = 1 + at % 255;
            trace_plain(&expected, g.data, g.bytes);
            expect_alike(&expected, g);
            g.data[at] = before;
        }
        free(g.data);
    }
}

/* A session also goes on after it was asked to come again. */
static void trace_session(struct trace *trace, struct perfile_reader *reader, struct growing *g)
{
    struct perfile_session *session;
    const struct perfile_record *record;
    assert_int_equal(perfile_session_open(reader, &session, NULL), 0);
    for (;;) {
        trace->failure = perfile_session_next(session, &record, NULL);
        if (trace->failure == PERFILE_ERROR_AGAIN)
            grow(g);
        else if (trace->failure <= 0)
            break;
        else
            trace->records[trace->count++] = hash(record->offset, record->data, record->bytes);
    }
    perfile_session_close(session);
    finish(trace, reader);
}

static void test_sessions(void **state)
{
    (void)state;
    static struct trace seen;
    for (char **path = recordings; *path; path++) {
        struct perfile_reader *reader;
        struct growing g = load(*path);
        g.how = AGAIN;
        g.first = g.step = 77;
        expected = seen = (struct trace){0};
        assert_int_equal(perfile_open_memory(g.data, g.bytes, NULL, &reader, NULL), 0);
        trace_session(&expected, reader, &g);
        assert_int_equal(open_growing(&g, &reader), 0);
        trace_session(&seen, reader, &g);
        assert_int_equal(seen.failure, 0);
        assert_int_equal(seen.count, expected.count);
        assert_memory_equal(seen.records, expected.records, seen.count * sizeof(*seen.records));
        free(g.data);
    }
}

/* The samples of each function in the order of their ids, and how often the stream had nothing more. */
struct heights {
    uint64_t samples[64];
    unsigned waits;
    int failure;
    uint32_t functions;
};

static void trace_stream(struct heights *heights, struct perfile_reader *reader, unsigned threads, struct growing *g)
{
    struct perfile_stream_options options = PERFILE_STREAM_OPTIONS_INIT;
    struct perfile_symbol_options symbols = PERFILE_SYMBOL_OPTIONS_INIT;
    struct perfile_stream *stream;
    const struct perfile_stream_sample *sample;
    *heights = (struct heights){0};
    symbols.symfs = "/nonexistent"; /* nothing of this machine takes part */
    symbols.kallsyms = "/dev/null";
    options.symbols = &symbols;
    options.threads = threads;
    options.flags = PERFILE_STREAM_JOIN_UNNAMED;
    assert_int_equal(perfile_stream_open(reader, &options, &stream, NULL), 0);
    while ((heights->failure = perfile_stream_next(stream, &sample, NULL)) > 0 ||
           heights->failure == PERFILE_ERROR_AGAIN) {
        if (heights->failure > 0) {
            assert_true(sample->leaf < sizeof(heights->samples) / sizeof(*heights->samples));
            heights->samples[sample->leaf]++;
            heights->functions = sample->leaf >= heights->functions ? sample->leaf + 1 : heights->functions;
        } else {
            heights->waits++;
            grow(g);
        }
    }
    perfile_stream_close(stream);
    perfile_close(reader);
}

/* A function keeps its id when a stream continues after AGAIN, whatever number of threads the stream may use. */
static void test_streams(void **state)
{
    (void)state;
    struct heights complete, grown;
    for (char **path = recordings; *path; path++) {
        for (unsigned threads = 1; threads <= 3; threads += 2) {
            struct perfile_reader *reader;
            struct growing g = load(*path);
            g.how = AGAIN;
            g.first = g.step = g.bytes / 20;
            assert_int_equal(perfile_open_memory(g.data, g.bytes, NULL, &reader, NULL), 0);
            trace_stream(&complete, reader, threads, &g);
            assert_int_equal(open_growing(&g, &reader), 0);
            assert_true(perfile_reader_file(reader)->followed);
            trace_stream(&grown, reader, threads, &g);
            assert_int_equal(grown.failure, 0);
            assert_true(grown.waits > 1);
            assert_int_equal(grown.functions, complete.functions);
            assert_memory_equal(grown.samples, complete.samples, sizeof(complete.samples));
            free(g.data);
        }
    }
}

/* ---- another process writes a file ---- */

static void write_slowly(const struct growing *g, const char *path)
{
    static const uint8_t zeros[HEADER];
    int fd = open(path, O_WRONLY | O_APPEND);
    for (size_t at = 0, n; at < g->bytes; at += n) {
        n = at % 997 + 1 < g->bytes - at ? at % 997 + 1 : g->bytes - at;
        n = at < HEADER ? HEADER - at : n;
        /* perf leaves space for the header */
        const uint8_t *from = at < HEADER && g->records_end ? zeros : g->data + at;
        if (write(fd, from, n) != (ssize_t)n)
            _exit(1);
        if (at % 3 == 0)
            usleep(200);
    }
    close(fd);
    fd = open(path, O_WRONLY);
    _exit(pwrite(fd, g->data, HEADER, 0) != HEADER);
}

static int is_running(void *context)
{
    pid_t *child = context;
    int status;
    usleep(100);
    if (*child && waitpid(*child, &status, WNOHANG) == *child) {
        assert_int_equal(status, 0);
        *child = 0;
    }
    return *child != 0;
}

static void test_another_process_writes(void **state)
{
    (void)state;
    static struct trace seen;
    for (char **path = recordings; *path; path++) {
        char name[] = "/tmp/perfile-follow-XXXXXX";
        const struct growing g = load(*path);
        struct perfile_open_options options = PERFILE_OPEN_OPTIONS_INIT;
        struct perfile_reader *reader;
        const struct perfile_record *record;
        close(mkstemp(name));
        pid_t child = fork();
        if (child == 0)
            write_slowly(&g, name);
        options.follow = is_running;
        options.follow_context = &child;
        trace_plain(&expected, g.data, g.bytes);
        seen = (struct trace){.failure = perfile_open_path(name, &options, &reader, NULL)};
        assert_int_equal(seen.failure, 0);
        while ((seen.failure = perfile_reader_next(reader, &record, NULL)) > 0)
            add(&seen, reader, record);
        finish(&seen, reader);
        if (child)
            waitpid(child, NULL, 0);
        unlink(name);
        free(g.data);
        assert_int_equal(seen.failure, 0);
        assert_int_equal(seen.count, expected.count);
        assert_memory_equal(seen.records, expected.records, seen.count * sizeof(*seen.records));
        assert_int_equal(seen.features, expected.features);
        assert_int_equal(seen.names, expected.names);
    }
}

/* ---- what cannot be followed ---- */

static void test_what_cannot_grow(void **state)
{
    (void)state;
    struct growing g = load(recordings[0]);
    struct perfile_open_options options = PERFILE_OPEN_OPTIONS_INIT;
    struct perfile_reader *reader;
    struct perfile_error error;
    g.stream = true;
    g.first = g.bytes;
    assert_int_equal(open_growing(&g, &reader), PERFILE_ERROR_UNSUPPORTED);
    options.follow = more;
    options.follow_context = &g;
    assert_int_equal(perfile_open_memory(g.data, g.bytes, &options, &reader, &error), PERFILE_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "memory does not grow"));
    free(g.data);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_at_every_odd_offset),
        cmocka_unit_test(test_pieces_of_every_odd_length),
        cmocka_unit_test(test_the_writer_is_killed_anywhere),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_another_process_writes),
        cmocka_unit_test(test_what_cannot_grow),
        cmocka_unit_test(test_sessions),
        cmocka_unit_test(test_streams),
    };
    (void)count;
    recordings = arguments + 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
