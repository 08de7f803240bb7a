/* SPDX-License-Identifier: MIT */
/* What the fuzz targets share: ends of the line that take everything, and a walk that touches all there is. */
#ifndef PF_TESTS_FUZZ_H
#define PF_TESTS_FUZZ_H

#include <stdio.h>
#include <stdlib.h>

#include <perfile/analysis.h>

#include "base/bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Says what does not hold and ends the process; unlike assert it is there in every build. */
#define FUZZ_REQUIRE(condition)                                                                                        \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                              \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

/* Reads every byte, so that a sanitizer sees those that are not there. */
static inline void fuzz_touch(const void *data, uint64_t bytes)
{
    const uint8_t *p = data;
    uint8_t all = 0;
    for (uint64_t i = 0; i < bytes; i++)
        all ^= p[i];
    __asm__ volatile("" : : "r"(all)); /* it is used, says this */
}

/* A choice that depends on the input alone. */
static inline uint64_t fuzz_next_chance(uint64_t *chance)
{
    *chance = *chance * 6364136223846793005 + 1442695040888963407;
    return *chance >> 33;
}

static inline uint64_t fuzz_chance_of(const uint8_t *data, size_t bytes)
{
    uint64_t chance = 14695981039346656037u;
    for (size_t i = 0; i < bytes; i++)
        chance = (chance ^ data[i]) * 1099511628211;
    return chance;
}

/* NULL is allowed. */
static inline void fuzz_touch_text(const char *text)
{
    if (text)
        fuzz_touch(text, strlen(text));
}

/* What lies on this machine must not matter. */
static const struct perfile_symbol_options __attribute__((unused)) fuzz_no_symbols = {
    .size = sizeof(fuzz_no_symbols), .symfs = "/nonexistent", .kallsyms = "/dev/null", .buildid_dir = "/nonexistent"};

static inline int fuzz_write(void *context, const void *data, size_t bytes)
{
    (void)context;
    fuzz_touch(data, bytes);
    return 0;
}

static const struct perfile_sink fuzz_sink = {NULL, fuzz_write};

/* A visitor that holds the library to its word: objects and lists are closed, names stand where they belong. */
struct fuzz_visit {
    unsigned depth;
    bool lists[64];
};

static inline void fuzz_named(const struct fuzz_visit *visit, const char *name)
{
    bool in_list = visit->depth && visit->lists[visit->depth - 1];
    FUZZ_REQUIRE(in_list == !name);
    if (name)
        fuzz_touch(name, strlen(name));
}

static inline int fuzz_begin(void *context, const char *name, bool list)
{
    struct fuzz_visit *visit = context;
    fuzz_named(visit, name);
    FUZZ_REQUIRE(visit->depth < PF_COUNT(visit->lists));
    visit->lists[visit->depth++] = list;
    return 0;
}

static inline int fuzz_end(void *context, bool list)
{
    struct fuzz_visit *visit = context;
    FUZZ_REQUIRE(visit->depth && visit->lists[visit->depth - 1] == list);
    visit->depth--;
    return 0;
}

static inline int fuzz_value(void *context, const struct perfile_value *value)
{
    const struct fuzz_visit *visit = context;
    fuzz_named(visit, value->name);
    if (value->kind == PERFILE_VALUE_TEXT || value->kind == PERFILE_VALUE_BYTES)
        fuzz_touch(value->data, value->bytes);
    return 0;
}

static inline struct perfile_visitor fuzz_visitor(struct fuzz_visit *visit)
{
    *visit = (struct fuzz_visit){0};
    return (struct perfile_visitor){sizeof(struct perfile_visitor), visit, fuzz_begin, fuzz_end, fuzz_value};
}

/* Limits that keep one input quick. */
static inline struct perfile_open_options fuzz_options(void)
{
    struct perfile_open_options options = PERFILE_OPEN_OPTIONS_INIT;
    options.limit_record_bytes = 1 << 20;
    options.limit_queue_bytes = 64 << 10;
    return options;
}

/* Touches all members of a sample that its `present` bits promise. */
static inline void fuzz_touch_sample(const struct perfile_sample *sample)
{
    if (sample->present & PERFILE_SAMPLE_READ) {
        struct perfile_read_value value;
        for (uint64_t i = 0; i < sample->read.count; i++)
            perfile_read_at(&sample->read, i, &value, sizeof(value));
    }
    if (sample->present & PERFILE_SAMPLE_CALLCHAIN)
        fuzz_touch(sample->callchain.data, sample->callchain.count * 8);
    if (sample->present & PERFILE_SAMPLE_RAW)
        fuzz_touch(sample->raw.data, sample->raw.bytes);
    if (sample->present & PERFILE_SAMPLE_BRANCH_STACK) {
        struct perfile_branch branch;
        for (uint64_t i = 0; i < sample->branch_stack.count; i++)
            perfile_branch_at(&sample->branch_stack, i, &branch, sizeof(branch));
        fuzz_touch(sample->branch_stack.counters.data, sample->branch_stack.counters.count * 8);
    }
    if (sample->present & PERFILE_SAMPLE_REGS_USER)
        fuzz_touch(sample->regs_user.values.data, sample->regs_user.values.count * 8);
    if (sample->present & PERFILE_SAMPLE_REGS_INTR)
        fuzz_touch(sample->regs_intr.values.data, sample->regs_intr.values.count * 8);
    if (sample->present & PERFILE_SAMPLE_STACK_USER) {
        FUZZ_REQUIRE(sample->stack_user.used <= sample->stack_user.bytes);
        fuzz_touch(sample->stack_user.data, sample->stack_user.bytes);
    }
    if (sample->present & PERFILE_SAMPLE_AUX)
        fuzz_touch(sample->aux.data, sample->aux.bytes);
}

/* Everything that can be asked about one record. */
static inline void fuzz_record(struct perfile_reader *reader, const struct perfile_record *record)
{
    static struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    _Alignas(16) uint8_t decoded[1024];
    struct perfile_sample_id id = PERFILE_SAMPLE_ID_INIT;
    struct perfile_error error;
    struct fuzz_visit visit;
    const struct perfile_visitor visitor = fuzz_visitor(&visit);
    fuzz_touch(record->data, record->bytes);
    if (record->type == PERFILE_RECORD_SAMPLE && perfile_sample_decode(record, &sample, &error) == 0)
        fuzz_touch_sample(&sample);
    int result = perfile_record_decode(reader, record, decoded, sizeof(decoded), &error);
    FUZZ_REQUIRE(result != PERFILE_ERROR_ARGUMENT);
    result = perfile_sample_id_decode(reader, record, &id, &error);
    FUZZ_REQUIRE(result <= 0);
    result = perfile_record_visit(reader, record, &visitor, &error);
    FUZZ_REQUIRE(result < 0 || visit.depth == 0);
}

/* All records; with `deeply` also everything about each of them. */
static inline uint64_t fuzz_walk(struct perfile_reader *reader, bool deeply)
{
    const struct perfile_record *record;
    const uint8_t *data;
    size_t bytes;
    uint64_t count = 0;
    while (perfile_reader_next(reader, &record, NULL) > 0) {
        count++;
        if (!deeply)
            continue;
        fuzz_record(reader, record);
        while (perfile_reader_payload(reader, &data, &bytes, NULL) > 0)
            fuzz_touch(data, bytes);
    }
    return count;
}

#endif
