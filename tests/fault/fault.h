/* SPDX-License-Identifier: MIT */
/* What the tests of failing surroundings share: the recordings they are run with, and all that can be done with one. */
#ifndef PF_TESTS_FAULT_H
#define PF_TESTS_FAULT_H

#include <stdio.h>

#include "../unit/counting.h"

#include <perfile/analysis.h>

/* The paths on the command line. */
static char **recordings __attribute__((unused));

/* The file as bytes; the caller's to free. */
static inline uint8_t *recording_load(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *bytes = (size_t)ftell(file);
    rewind(file);
    uint8_t *data = malloc(*bytes);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *bytes, file), *bytes);
    fclose(file);
    return data;
}

static inline int ignore_begin(void *context, const char *name, bool list)
{
    (void)context;
    (void)name;
    (void)list;
    return 0;
}

static inline int ignore_end(void *context, bool list)
{
    (void)context;
    (void)list;
    return 0;
}

static inline int ignore_value(void *context, const struct perfile_value *value)
{
    (void)context;
    (void)value;
    return 0;
}

/* The first failure of the calls made so far wins. */
static inline bool keep_failure(int *failure, int result)
{
    if (result < 0 && !*failure)
        *failure = result;
    return result >= 0;
}

static inline void read_headers(struct perfile_reader *reader, int *failure)
{
    const struct perfile_visitor visitor = {sizeof(visitor), NULL, ignore_begin, ignore_end, ignore_value};
    const struct perfile_tracing *tracing;
    struct perfile_error error;
    for (size_t i = 0; i < perfile_feature_count(reader); i++)
        keep_failure(failure, perfile_feature_visit(reader, perfile_feature_get(reader, i)->number, &visitor, &error));
    int result = perfile_tracing_get(reader, &tracing, &error);
    keep_failure(failure, result == PERFILE_ERROR_ABSENT ? 0 : result);
}

static inline void read_record(struct perfile_reader *reader, const struct perfile_record *record, int *failure)
{
    static struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    const struct perfile_visitor visitor = {sizeof(visitor), NULL, ignore_begin, ignore_end, ignore_value};
    struct perfile_error error;
    keep_failure(failure, perfile_record_visit(reader, record, &visitor, &error));
    if (record->type == PERFILE_RECORD_SAMPLE)
        keep_failure(failure, perfile_sample_decode(record, &sample, &error));
}

/* Reads the complete recording in time order, with the names of the threads; returns 0, or the first failure. */
static inline int read_all(struct perfile_reader *reader)
{
    struct perfile_session *session;
    const struct perfile_record *record;
    struct perfile_error error;
    int failure = 0, result = 1;
    read_headers(reader, &failure);
    if (!keep_failure(&failure, perfile_session_open(reader, &session, &error)))
        return failure;
    while (result > 0) {
        result = perfile_session_next(session, &record, &error);
        if (result > 0) {
            read_record(reader, record, &failure);
            assert_non_null(perfile_session_comm(session, 7, (int32_t)(record->offset & 15)));
        }
    }
    keep_failure(&failure, result);
    perfile_session_close(session);
    return failure;
}

#endif
