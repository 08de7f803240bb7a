/* SPDX-License-Identifier: MIT */
/*
 * A profile in pprof's profile.proto. Each row of the aggregated profile is a sample: its stack, the values of its
 * event beside zeros for those of others, and labels for the keys that kept it apart.
 */
#include "base/bytes.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/map.h"
#include "base/protobuf.h"
#include "output/export/tables.h"

#include <inttypes.h>

enum profile_field {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_TIME = 9,
    PROFILE_DURATION = 10,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD = 12,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_TYPE = 14,
};
enum value_type_field { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT = 2 };
enum sample_field { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum label_field { LABEL_KEY = 1, LABEL_TEXT = 2, LABEL_NUMBER = 3, LABEL_UNIT = 4 };
enum mapping_field {
    MAPPING_ID = 1,
    MAPPING_START = 2,
    MAPPING_LIMIT = 3,
    MAPPING_OFFSET = 4,
    MAPPING_NAME = 5,
    MAPPING_BUILD_ID = 6,
    MAPPING_HAS_FUNCTIONS = 7,
    MAPPING_HAS_FILES = 8,
    MAPPING_HAS_LINES = 9,
    MAPPING_HAS_INLINES = 10,
};
enum location_field { LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_ADDRESS = 3, LOCATION_LINE = 4 };
enum line_field { LINE_FUNCTION = 1, LINE_LINE = 2 };
enum function_field {
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILE = 4,
    FUNCTION_LINE = 5
};

/* All samples have the values of all events. */
enum { EVENTS_MAX = 1000 };

struct event {
    const char *name;
    uint32_t first_value, value_count;
};

struct pprof {
    const struct perfile_output_options *options;
    struct perfile_reader *reader;
    struct perfile_profile *profile;
    struct pf_tables tables;
    struct event *events;
    size_t event_count;
    size_t value_count; /* of all events */
    uint32_t main_event;
    uint32_t *type_names;  /* texts, by value type */
    struct pf_text part;   /* a message, or a text */
    struct pf_text labels; /* of the last row */
    struct perfile_profile_sample last;
    bool has_last;
    bool has_times; /* samples have */
    struct pf_text *out;
};

static uint32_t text_of(struct pprof *p, const char *constant)
{
    return pf_tables_text(&p->tables, constant);
}

/* The part is a message, and comes out. */
static void put_part(struct pprof *p, unsigned field)
{
    pf_proto_put_bytes(p->out, field, p->part.data, p->part.used);
    p->part.used = 0;
}

/* ---- value types ------------------------------------------------------------------------------------------------- */

/*
 * Names a value type. Names of value types must differ: the second event of a name becomes NAME#2. False when out of
 * memory.
 */
static bool name_type(struct pprof *p, struct pf_map *used, uint32_t *number)
{
    uint64_t count;
    pf_put_char(&p->part, '\0');
    *number = pf_tables_text_now(&p->tables, p->part.data);
    const size_t bytes = p->part.used - 1;
    const uint32_t plain = *number;
    if (pf_map_get(used, plain, &count)) {
        uint64_t other;
        do {
            p->part.used = bytes;
            pf_put_format(&p->part, "#%" PRIu64, ++count);
            pf_put_char(&p->part, '\0');
            *number = pf_tables_text_now(&p->tables, p->part.data);
        } while (*number && pf_map_get(used, *number, &other)); /* 0: out of memory */
        if (!*number || !pf_map_put(used, plain, count))
            return false;
    }
    p->part.used = 0;
    return !p->part.failed && pf_map_put(used, *number, 1);
}

/* Of one event "samples", its name and "weight"; of several "samples:cycles", "cycles" and "weight:cycles". */
static void put_type_name(struct pprof *p, const struct perfile_profile_value_type *type)
{
    const struct event *event = &p->events[type->event];
    const bool is_period = strcmp(type->name, event->name) == 0;
    pf_put_string(&p->part, type->name);
    if (!is_period && p->event_count > 1)
        pf_put_format(&p->part, ":%s", event->name);
}

static bool name_types(struct pprof *p)
{
    struct perfile_profile_value_type type = PERFILE_PROFILE_VALUE_TYPE_INIT;
    struct pf_map used;
    bool fine = true;
    pf_map_open(&used, p->tables.allocator);
    for (size_t i = 0; fine && i < p->value_count; i++) {
        (void)!perfile_profile_value_type_at(p->profile, i, &type);
        put_type_name(p, &type);
        fine = name_type(p, &used, &p->type_names[i]);
    }
    pf_map_close(&used);
    return fine;
}

/* Puts a value type with its unit. Readers scale units that they know, and print others after each number. */
static void put_type(struct pprof *p, unsigned field, size_t index)
{
    struct perfile_profile_value_type type = PERFILE_PROFILE_VALUE_TYPE_INIT;
    (void)!perfile_profile_value_type_at(p->profile, index, &type);
    pf_proto_put_number(&p->part, VALUE_TYPE_TYPE, p->type_names[index]);
    pf_proto_put_number(&p->part, VALUE_TYPE_UNIT, text_of(p, strcmp(type.unit, "ns") ? "count" : "nanoseconds"));
    put_part(p, field);
}

/* A profile without samples has one type, too: readers want one. */
static void put_no_types(struct pprof *p)
{
    pf_proto_put_number(&p->part, VALUE_TYPE_TYPE, text_of(p, "samples"));
    pf_proto_put_number(&p->part, VALUE_TYPE_UNIT, text_of(p, "count"));
    put_part(p, PROFILE_SAMPLE_TYPE);
}

static void put_types(struct pprof *p)
{
    for (size_t i = 0; i < p->value_count; i++)
        put_type(p, PROFILE_SAMPLE_TYPE, i);
    if (!p->value_count) {
        put_no_types(p);
        return;
    }
    const uint32_t period = p->events[p->main_event].first_value + 1;
    struct perfile_profile_event event = PERFILE_PROFILE_EVENT_INIT;
    (void)!perfile_profile_event_at(p->profile, p->main_event, &event);
    const uint64_t fixed = p->reader ? pf_tables_fixed_period(p->reader, p->options, &event) : 0;
    pf_proto_put_number(p->out, PROFILE_DEFAULT_TYPE, p->type_names[period]);
    if (fixed)
        put_type(p, PROFILE_PERIOD_TYPE, period);
    pf_proto_put_number(p->out, PROFILE_PERIOD, fixed);
}

/* ---- where and when ---------------------------------------------------------------------------------------------- */

/*
 * When the first of the recordings began, if all know that, and how long they took together: as pprof merges profiles.
 */
static void put_times(struct pprof *p)
{
    struct perfile_profile_recording recording = PERFILE_PROFILE_RECORDING_INIT;
    uint64_t begin = UINT64_MAX, duration = 0;
    for (size_t i = 0; perfile_profile_recording_at(p->profile, i, &recording) == 0; i++) {
        if (recording.first_time == UINT64_MAX)
            continue;
        begin = pf_min(begin, pf_tables_wall_time(&recording, recording.first_time)); /* 0: not known */
        duration += recording.last_time - recording.first_time;
    }
    pf_proto_put_number(p->out, PROFILE_TIME, begin == UINT64_MAX ? 0 : begin);
    pf_proto_put_number(p->out, PROFILE_DURATION, duration);
    p->has_times = begin != UINT64_MAX;
}

static void put_comment(struct pprof *p)
{
    struct perfile_losses losses = {.size = sizeof(losses)};
    char lost[PF_COUNTED_BYTES];
    (void)!perfile_profile_losses(p->profile, &losses);
    pf_put_format(&p->part, "perfile %s", perfile_version());
    if (losses.lost)
        pf_put_format(&p->part, "; %s", pf_count_of(losses.lost, "samples were lost while recording", lost));
    pf_put_char(&p->part, '\0');
    const uint32_t text = pf_tables_text_now(&p->tables, p->part.data);
    p->part.used = 0;
    pf_proto_put_number(p->out, PROFILE_COMMENT, text);
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

/*
 * Puts a label; `number` is its value or the number of its text. Readers ignore a 0 without a unit. Numbers of texts
 * are small.
 */
static void put_label(struct pprof *p, uint32_t key, enum label_field field, uint64_t number, uint32_t unit)
{
    enum { CAPACITY = 64, HEAD = 2 };
    char *head = pf_text_reserve(&p->labels, CAPACITY), *at = head + HEAD;
    *at++ = LABEL_KEY << 3;
    at = pf_proto_varint(at, key);
    *at++ = (char)(field << 3);
    at = pf_proto_varint(at, number);
    if (unit) {
        *at++ = LABEL_UNIT << 3;
        at = pf_proto_varint(at, unit);
    }
    head[0] = SAMPLE_LABEL << 3 | 2;
    head[1] = (char)(at - head - HEAD);
    pf_text_commit(&p->labels, at);
}

static void put_label_text(struct pprof *p, const char *key, const char *text)
{
    if (!text || !*text)
        return;
    const uint32_t value = text_of(p, text);
    put_label(p, text_of(p, key), LABEL_TEXT, value, 0);
}

static void put_label_time(struct pprof *p, uint64_t time)
{
    const uint32_t unit = text_of(p, "nanoseconds");
    put_label(p, text_of(p, "time"), LABEL_NUMBER, time, unit);
}

static void put_label_id(struct pprof *p, const char *key, int32_t id)
{
    if (id != -1)
        put_label(p, text_of(p, key), LABEL_NUMBER, (uint64_t)(int64_t)id, text_of(p, key));
}

static bool has_labels_of_last(const struct pprof *p, const struct perfile_profile_sample *row)
{
    const struct perfile_profile_sample *last = &p->last;
    return p->has_last && row->event == last->event && row->pid == last->pid && row->tid == last->tid &&
           row->cpu == last->cpu && row->comm == last->comm && row->cgroup == last->cgroup && row->time == last->time &&
           row->recording == last->recording && row->tags == last->tags;
}

static const char *path_of(const struct pprof *p, uint32_t number)
{
    struct perfile_profile_recording recording = PERFILE_PROFILE_RECORDING_INIT;
    (void)!perfile_profile_recording_at(p->profile, number, &recording); /* numbers of the profile are valid */
    return recording.path;
}

static void make_labels(struct pprof *p, const struct perfile_profile_sample *row)
{
    if (has_labels_of_last(p, row))
        return;
    p->last = *row;
    p->has_last = true;
    p->labels.used = 0;
    put_label_text(p, "comm", row->comm);
    put_label_id(p, "pid", row->pid);
    put_label_id(p, "tid", row->tid);
    put_label_id(p, "cpu", row->cpu);
    put_label_text(p, "cgroup", row->cgroup);
    if (p->event_count > 1)
        put_label_text(p, "event", p->events[row->event].name);
    if (row->recording != PERFILE_NO_ID)
        put_label_text(p, "recording", path_of(p, row->recording));
    if (row->time != UINT64_MAX)
        put_label_time(p, row->time);
    struct perfile_profile_tag tag = PERFILE_PROFILE_TAG_INIT;
    for (uint32_t i = row->tags; perfile_profile_tag_at(p->profile, i, &tag) == 0; i = tag.next)
        put_label_text(p, tag.name, tag.text);
}

static void put_zeros(struct pprof *p, size_t count)
{
    memset(pf_text_reserve(p->out, count), 0, count);
    pf_text_commit(p->out, pf_text_reserve(p->out, count) + count);
}

static void put_values(struct pprof *p, const struct perfile_profile_sample *row, const struct event *event)
{
    put_zeros(p, event->first_value);
    for (uint32_t i = 0; i < event->value_count; i++)
        pf_proto_put_varint(p->out, row->values[i]);
    put_zeros(p, p->value_count - event->first_value - event->value_count);
}

static size_t list_bytes(size_t bytes)
{
    return bytes ? 1 + pf_proto_varint_bytes(bytes) + bytes : 0;
}

static void put_row(struct pprof *p, const struct perfile_profile_sample *row)
{
    const struct event *event = &p->events[row->event];
    size_t value_bytes = p->value_count - event->value_count;
    for (uint32_t i = 0; i < event->value_count; i++)
        value_bytes += pf_proto_varint_bytes(row->values[i]);
    make_labels(p, row);
    p->part.used = 0;
    pf_tables_put_locations(&p->tables, row->stack, &p->part);
    pf_proto_put_head(p->out, PROFILE_SAMPLE, list_bytes(p->part.used) + list_bytes(value_bytes) + p->labels.used);
    if (p->part.used)
        pf_proto_put_bytes(p->out, SAMPLE_LOCATION, p->part.data, p->part.used);
    pf_proto_put_head(p->out, SAMPLE_VALUE, value_bytes);
    put_values(p, row, event);
    pf_put(p->out, p->labels.data, p->labels.used);
}

static void put_samples(struct pprof *p)
{
    struct perfile_profile_sample row = PERFILE_PROFILE_SAMPLE_INIT;
    const size_t count = perfile_profile_sample_count(p->profile);
    for (size_t i = 0; i < count && !p->out->failed; i++) {
        (void)!perfile_profile_sample_at(p->profile, i, &row);
        put_row(p, &row);
    }
    p->part.used = 0;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static void put_mappings(struct pprof *p)
{
    for (size_t i = 1; i < p->tables.mapping_count; i++) {
        const struct pf_tables_mapping *mapping = &p->tables.mappings[i];
        const uint64_t numbers[] = {[MAPPING_ID] = i,
                                    [MAPPING_START] = mapping->start,
                                    [MAPPING_LIMIT] = mapping->limit,
                                    [MAPPING_OFFSET] = mapping->offset,
                                    [MAPPING_NAME] = mapping->name,
                                    [MAPPING_BUILD_ID] = pf_tables_text_now(&p->tables, mapping->build_id),
                                    [MAPPING_HAS_FUNCTIONS] = mapping->has_functions, /* readers need not look for it */
                                    [MAPPING_HAS_FILES] = mapping->has_files,
                                    [MAPPING_HAS_LINES] = mapping->has_lines,
                                    [MAPPING_HAS_INLINES] = mapping->has_inlines};
        for (unsigned field = MAPPING_ID; field < PF_COUNT(numbers); field++)
            pf_proto_put_number(&p->part, field, numbers[field]);
        put_part(p, PROFILE_MAPPING);
    }
}

static void put_entry(struct pprof *p, size_t number)
{
    const struct pf_tables_entry *entry = &p->tables.entries[number];
    pf_proto_put_number(&p->part, LOCATION_ID, number);
    pf_proto_put_number(&p->part, LOCATION_MAPPING, entry->mapping);
    pf_proto_put_number(&p->part, LOCATION_ADDRESS, entry->address);
    for (uint32_t i = 0; i < entry->line_count; i++) {
        const struct pf_tables_line *line = &p->tables.lines[entry->first_line + i];
        const size_t start = pf_proto_begin(&p->part, LOCATION_LINE);
        pf_proto_put_number(&p->part, LINE_FUNCTION, line->function);
        pf_proto_put_number(&p->part, LINE_LINE, line->line);
        pf_proto_end(&p->part, start);
    }
    put_part(p, PROFILE_LOCATION);
}

static void put_functions(struct pprof *p)
{
    for (size_t i = 1; i < p->tables.function_count; i++) {
        const struct pf_tables_function *function = &p->tables.functions[i];
        pf_proto_put_number(&p->part, FUNCTION_ID, i);
        pf_proto_put_number(&p->part, FUNCTION_NAME, function->name);
        pf_proto_put_number(&p->part, FUNCTION_SYSTEM_NAME, function->system_name);
        pf_proto_put_number(&p->part, FUNCTION_FILE, function->file);
        pf_proto_put_number(&p->part, FUNCTION_LINE, function->start_line);
        put_part(p, PROFILE_FUNCTION);
    }
}

static void put_texts(struct pprof *p)
{
    for (size_t i = 0; i < p->tables.texts.count; i++) {
        size_t bytes;
        const char *text = pf_dictionary_at(&p->tables.texts, (uint32_t)i, &bytes);
        pf_proto_put_bytes(p->out, PROFILE_STRING, text, bytes);
    }
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static void put_all(struct pprof *p)
{
    put_types(p);
    put_times(p);
    put_comment(p);
    put_mappings(p);
    put_samples(p);
    for (size_t i = 1; i < p->tables.entry_count; i++)
        put_entry(p, i);
    put_functions(p);
    put_texts(p); /* last: all the others add some */
}

static void report_notes(const struct pprof *p)
{
    if (p->has_times)
        pf_export_notify(p->options, "pprof does not store the times of samples: they are added up");
    pf_export_notify_elsewhere(p->options, p->profile, "pprof");
}

static bool take_events(struct pprof *p)
{
    struct perfile_profile_event event = PERFILE_PROFILE_EVENT_INIT;
    p->value_count = perfile_profile_value_type_count(p->profile);
    p->main_event = pf_export_main_event(p->profile);
    p->events = pf_new(p->tables.allocator, (p->event_count + 1) * sizeof(*p->events));
    p->type_names = pf_new(p->tables.allocator, (p->value_count + 1) * sizeof(*p->type_names));
    for (size_t i = 0; p->events && i < p->event_count; i++) {
        (void)!perfile_profile_event_at(p->profile, i, &event);
        p->events[i] = (struct event){event.name, event.first_value, event.value_count};
    }
    return p->events && p->type_names && name_types(p);
}

static bool open_parts(struct pprof *p)
{
    const struct perfile_allocator *allocator = p->options->allocator;
    bool fine = pf_tables_open(&p->tables, p->options, p->profile);
    fine &= pf_text_open(&p->part, allocator, NULL, NULL) == 0; /* all are closed, even if the first is not open */
    fine &= pf_text_open(&p->labels, allocator, NULL, NULL) == 0;
    return fine && take_events(p);
}

static void close_parts(struct pprof *p)
{
    const struct perfile_allocator *allocator = p->options->allocator;
    pf_free(allocator, p->events, (p->event_count + 1) * sizeof(*p->events));
    pf_free(allocator, p->type_names, (p->value_count + 1) * sizeof(*p->type_names));
    pf_text_close(&p->part);
    pf_text_close(&p->labels);
    pf_tables_close(&p->tables);
}

static int write_profile(struct pprof *p, struct perfile_error *error)
{
    p->event_count = perfile_profile_event_count(p->profile);
    if (p->event_count > EVENTS_MAX)
        return pf_fail(error, PERFILE_ERROR_LIMIT, PERFILE_NO_OFFSET, "pprof",
                       "%zu events are too many for one profile: choose at most %d", p->event_count, EVENTS_MAX);
    const bool fine = open_parts(p);
    if (fine) {
        put_all(p);
        report_notes(p);
    }
    const bool failed = !fine || p->part.failed || p->labels.failed || p->tables.scratch.failed || p->tables.texts.full;
    close_parts(p);
    return failed ? pf_fail_memory(error, "pprof") : 0;
}

static int write_pprof(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                       struct perfile_error *error)
{
    struct pprof p = {.options = options, .reader = reader, .out = out};
    int result = pf_export_profile(reader, options, pf_export_keys(options), &p.profile, error);
    if (result < 0)
        return result;
    result = write_profile(&p, error);
    perfile_profile_close(p.profile);
    return result;
}

const struct pf_output pf_output_export_pprof = {
    .info = {"export", "pprof", "profile of pprof, for go tool pprof, Pyroscope, Parca and others", true},
    .write = write_pprof,
    .takes_a_profile = true,
    .merges = true,
    .reports_omissions = true,
};
