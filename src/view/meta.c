/* SPDX-License-Identifier: MIT */
/* The recording in one row, so that a table of many recordings has a row for each. */
#include "view/reading.h"

enum { TEXTS = 6 };

struct meta {
    struct pf_reading reading; /* first */
    struct pf_arena arena;
    const char *texts[TEXTS]; /* by the index of their columns; NULL: the recording does not say */
    uint64_t samples, first_time, last_time;
    uint64_t wall_time, clock_time; /* 0: not known */
    struct pf_vector *words;        /* where those of the command go */
};

#define META const struct meta *meta = state

PF_PUT_AS(recording, META, pf_set_text, meta->reading.table->complete.symbols.recording)

PF_PUT(mode)
{
    META;
    static const char *const modes[] = {"file", "pipe", "directory"};
    pf_set_lasting(vector, modes[perfile_reader_file(meta->reading.table->reader)->mode]);
}

PF_PUT_AS(text, META, pf_set_text, meta->texts[vector->column.index])

static int put_word(void *context, const struct perfile_value *value)
{
    struct meta *meta = context;
    if (value->kind == PERFILE_VALUE_TEXT)
        pf_add_code(meta->words, pf_dictionary_put(&meta->words->dictionary, (const char *)value->data, value->bytes));
    return 0;
}

PF_PUT(command)
{
    struct meta *meta = state;
    const struct perfile_visitor visitor = {.size = sizeof(visitor), .context = meta, .value = put_word};
    struct perfile_table *table = meta->reading.table;
    meta->words = vector;
    const int result = perfile_feature_visit(table->reader, PERFILE_FEATURE_CMDLINE, &visitor, NULL);
    if (pf_memory_check(table->allocator, result) < 0 && !vector->item_count)
        pf_set_null(vector);
    else
        pf_end_list(vector);
}

PF_PUT_AS(samples, META, pf_set_u64, meta->samples)

static void put_known(struct pf_vector *vector, uint64_t value, bool known)
{
    if (known)
        pf_set_u64(vector, value);
    else
        pf_set_null(vector);
}

PF_PUT_AS(first_time, META, put_known, meta->first_time, meta->first_time <= meta->last_time)
PF_PUT_AS(last_time, META, put_known, meta->last_time, meta->first_time <= meta->last_time)

PF_PUT(clock)
{
    META;
    const struct perfile_event *event = perfile_event_get(meta->reading.table->reader, 0);
    if (event && event->attr->use_clockid)
        pf_set_i32(vector, event->attr->clockid);
    else
        pf_set_null(vector);
}

PF_PUT_AS(clock_time, META, put_known, meta->clock_time, meta->wall_time)
PF_PUT_AS(wall_time, META, put_known, meta->wall_time, meta->wall_time)

PF_PUT(perfile_version)
{
    (void)state;
    pf_set_lasting(vector, perfile_version());
}

#define OF_HEADER(field, text_index, text)                                                                             \
    {                                                                                                                  \
        .name = field, .type = PERFILE_COLUMN_TEXT, .unit = "", .doc = text, .put = put_text, .index = text_index      \
    }
static const uint32_t features[TEXTS] = {PERFILE_FEATURE_HOSTNAME, PERFILE_FEATURE_OSRELEASE, PERFILE_FEATURE_ARCH,
                                         PERFILE_FEATURE_CPUDESC,  PERFILE_FEATURE_CPUID,     PERFILE_FEATURE_VERSION};
static const struct pf_column columns[] = {
    PF_COLUMN(recording, TEXT, "", "Path of the recording; null: it came from a pipe."),
    PF_REQUIRED(mode, TEXT, "", "What it is: file, pipe, directory."),
    OF_HEADER("host", 0, "Name of the machine."),
    OF_HEADER("kernel", 1, "Release of the kernel."),
    OF_HEADER("arch", 2, "The machine, as uname -m."),
    OF_HEADER("cpu", 3, "Name of the processor."),
    OF_HEADER("cpu_id", 4, "Vendor, family, model and stepping of the processor."),
    OF_HEADER("recorded_with", 5, "Version of the recorder."),
    PF_COLUMN(command, TEXTS, "", "Command line of the recorder."),
    PF_REQUIRED(samples, U64, "samples", "Samples in the recording, damaged ones not counted."),
    PF_COLUMN(first_time, TIME, "ns", "The earliest sample."),
    PF_COLUMN(last_time, TIME, "ns", "The latest sample."),
    PF_COLUMN(clock, I32, "", "The clock that was asked for: CLOCK_* of Linux; null: perf's own."),
    PF_COLUMN(clock_time, TIME, "ns", "A time on the recording's clock ..."),
    PF_COLUMN(wall_time, U64, "ns", "... and the same since 1970; null: not known."),
    PF_REQUIRED(perfile_version, TEXT, "", "Version of perfile that made the table."),
};

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static int take_record(void *state, const struct perfile_record *record, struct perfile_error *error)
{
    struct meta *meta = state;
    struct perfile_sample_id id;
    (void)error;
    if (record->type != PERFILE_RECORD_SAMPLE || record->damaged)
        return 0;
    meta->samples++;
    pf_reading_decode_id(&meta->reading, record, &id);
    if (id.present & PERFILE_SAMPLE_TIME) {
        meta->first_time = pf_min(meta->first_time, id.time);
        meta->last_time = pf_max(meta->last_time, id.time);
    }
    return 0;
}

static void take_number(struct meta *meta, const char *member, uint64_t *number)
{
    const struct perfile_table *table = meta->reading.table;
    (void)pf_memory_check(table->allocator,
                          perfile_feature_number(table->reader, PERFILE_FEATURE_CLOCK_DATA, member, number, NULL));
}

/* A feature that cannot be read is one that says nothing. */
static void take_features(struct meta *meta)
{
    const struct perfile_table *table = meta->reading.table;
    for (size_t i = 0; i < TEXTS; i++) {
        const char *text;
        const int result = perfile_feature_text(table->reader, features[i], NULL, &text, NULL);
        if (pf_memory_check(table->allocator, result) == 0)
            meta->texts[i] = pf_arena_text(&meta->arena, text, strlen(text));
    }
    take_number(meta, "wall_clock_ns", &meta->wall_time);
    take_number(meta, "clockid_time_ns", &meta->clock_time);
}

static int next_recording(void *state, struct perfile_error *error)
{
    struct meta *meta = state;
    if (!meta->reading.table->all.read) {
        pf_reading_all(&meta->reading, take_record, meta);
        take_features(meta);
    }
    return pf_table_row(meta->reading.table, 1, error);
}

static int open_meta(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct meta *meta = state;
    meta->first_time = UINT64_MAX;
    pf_arena_open(&meta->arena, table->allocator);
    return pf_reading_open(&meta->reading, table, PF_BY_FILE, error);
}

static void close_meta(void *state)
{
    struct meta *meta = state;
    pf_reading_close(&meta->reading);
    pf_arena_close(&meta->arena);
}

const struct pf_view pf_view_meta = {
    .info = {"meta", "the recording, in one row: machine, recorder, command, clock, first and last sample"},
    .lists = {PF_COLUMNS(columns)},
    .not_filtered = ~0u,
    .state_bytes = sizeof(struct meta),
    .open = open_meta,
    .next = next_recording,
    .close = close_meta,
};
