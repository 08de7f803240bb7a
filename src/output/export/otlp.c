/* SPDX-License-Identifier: MIT */
/*
 * A profile as OpenTelemetry has it: the message ProfilesData. Samples refer to tables of a dictionary, which are
 * numbered from 1 on; number 0 is the zero value, and means that there is no entry.
 *
 * Where a recording's clock can be converted to wall-clock time, samples keep their times: the profile has a row for
 * each time, and rows of one stack and the same attributes become one sample with all of its times. So memory holds
 * what is distinct and, for each sample, a row and its key; the file has 8 bytes for the time, and the value.
 *
 * With several recordings each has profiles of its own, on its own clock, below the resource of its machine; all of
 * them share the dictionary.
 */
#include "analysis/report/tags.h"
#include "base/bytes.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/sort.h"
#include "base/protobuf.h"
#include "output/export/tables.h"

#include <inttypes.h>
#include <stdio.h>

/* The version whose profiles/v1development/profiles.proto this is; its fields still move from one to the next. */
#define PROTO_VERSION "1.11.0"

enum data_field { DATA_RESOURCE_PROFILES = 1, DATA_DICTIONARY = 2 };
enum resource_profiles_field { RESOURCE_PROFILES_RESOURCE = 1, RESOURCE_PROFILES_SCOPE_PROFILES = 2 };
enum resource_field { RESOURCE_ATTRIBUTE = 1 };
enum key_value_field { KEY_VALUE_KEY = 1, KEY_VALUE_VALUE = 2, KEY_VALUE_UNIT = 3 };
enum value_field { VALUE_TEXT = 1, VALUE_NUMBER = 3 };
enum scope_profiles_field { SCOPE_PROFILES_SCOPE = 1, SCOPE_PROFILES_PROFILE = 2 };
enum scope_field { SCOPE_NAME = 1, SCOPE_VERSION = 2 };
enum profile_field {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_TIME = 3,
    PROFILE_DURATION = 4,
    PROFILE_PERIOD_TYPE = 5,
    PROFILE_PERIOD = 6,
    PROFILE_ATTRIBUTE = 11,
};
enum value_type_field { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT = 2 };
enum sample_field { SAMPLE_STACK = 1, SAMPLE_ATTRIBUTE = 2, SAMPLE_VALUE = 4, SAMPLE_TIME = 5 };
enum dictionary_field {
    TABLE_MAPPING = 1,
    TABLE_LOCATION = 2,
    TABLE_FUNCTION = 3,
    TABLE_LINK = 4,
    TABLE_TEXT = 5,
    TABLE_ATTRIBUTE = 6,
    TABLE_STACK = 7,
};
enum mapping_field {
    MAPPING_START = 1,
    MAPPING_LIMIT = 2,
    MAPPING_OFFSET = 3,
    MAPPING_NAME = 4,
    MAPPING_ATTRIBUTE = 5
};
enum location_field { LOCATION_MAPPING = 1, LOCATION_ADDRESS = 2, LOCATION_LINE = 3, LOCATION_ATTRIBUTE = 4 };
enum line_field { LINE_FUNCTION = 1, LINE_LINE = 2 };
enum function_field { FUNCTION_NAME = 1, FUNCTION_SYSTEM_NAME = 2, FUNCTION_FILE = 3, FUNCTION_LINE = 4 };
enum link_field { LINK_TRACE = 1, LINK_SPAN = 2 };
enum stack_field { STACK_LOCATION = 1 };

enum { ATTRIBUTES_MAX = 5 + PF_TAGS_MAX };

/* What samples of one stack share: the keys of the profile but for the time. */
struct set {
    uint32_t attributes[ATTRIBUTES_MAX];
    uint32_t count;
};

/* A row, and what makes it part of a sample: its recording and event, as a number, and its identity. */
struct entry {
    uint64_t identity;
    uint32_t row;
};

struct otlp {
    const struct perfile_output_options *options;
    struct perfile_reader *reader;
    struct perfile_profile *profile;
    struct perfile_profile_recording recording; /* whose profiles are written, and its number */
    uint32_t number;
    size_t recording_count;
    struct pf_tables tables;
    struct pf_text dictionary, body; /* messages; the former without its own head */
    struct pf_text name;
    uint32_t *stacks; /* by node: the number in the table; 0: not there yet */
    uint32_t stack_count;
    struct pf_pairs attributes; /* a key, and the number or the text's address with its kind, to the number */
    uint32_t attribute_count;
    struct pf_pairs threads, tagged, keyed; /* what sets consist of */
    uint32_t thread_count, tagged_count;
    struct set *sets;
    size_t set_count, set_capacity;
    struct pf_pairs identities; /* event and set, stack */
    uint32_t identity_count;
    struct entry *entries; /* by identity; twice as many as rows */
    const struct entry *sorted;
    size_t row_count;
    size_t *ends; /* by recording: of its rows in sorted */
    bool *timed;  /* by recording and event: all of its rows have a wall-clock time */
    size_t event_count, part_count;
    bool failed; /* out of memory */
};

/* ---- the dictionary ---------------------------------------------------------------------------------------------- */

static void put_zero_values(struct otlp *o)
{
    static const char no_trace[16], no_span[8];
    for (unsigned table = TABLE_MAPPING; table <= TABLE_STACK; table++) {
        if (table == TABLE_TEXT) /* texts come last, and have it */
            continue;
        const size_t start = pf_proto_begin(&o->dictionary, table);
        if (table == TABLE_LINK) {
            pf_proto_put_bytes(&o->dictionary, LINK_TRACE, no_trace, sizeof(no_trace));
            pf_proto_put_bytes(&o->dictionary, LINK_SPAN, no_span, sizeof(no_span));
        }
        pf_proto_end(&o->dictionary, start);
    }
}

static void put_text_value(struct pf_text *text, unsigned field, const char *value)
{
    const size_t start = pf_proto_begin(text, field);
    const size_t inner = pf_proto_begin(text, VALUE_TEXT);
    pf_put_name(text, value);
    pf_proto_end(text, inner);
    pf_proto_end(text, start);
}

/* The number is put even when it is 0: it is one of several kinds of values. */
static void put_number_value(struct pf_text *text, unsigned field, int64_t value)
{
    const size_t start = pf_proto_begin(text, field);
    pf_proto_put_varint(text, VALUE_NUMBER << 3);
    pf_proto_put_varint(text, (uint64_t)value);
    pf_proto_end(text, start);
}

/* An attribute of the dictionary: a text, or NULL and a number. 0 when out of memory. */
static uint32_t attribute_of(struct otlp *o, const char *key, const char *text, int64_t number)
{
    const uint64_t a = (uint64_t)pf_tables_text(&o->tables, key) << 1 | !!text,
                   b = text ? (uintptr_t)text : (uint64_t)number;
    uint32_t known;
    if (pf_pairs_get(&o->attributes, a, b, &known))
        return known;
    if (!pf_pairs_put(&o->attributes, a, b, ++o->attribute_count)) {
        o->failed = true;
        return 0;
    }
    const size_t start = pf_proto_begin(&o->dictionary, TABLE_ATTRIBUTE);
    pf_proto_put_number(&o->dictionary, KEY_VALUE_KEY, a >> 1);
    if (text)
        put_text_value(&o->dictionary, KEY_VALUE_VALUE, text);
    else
        put_number_value(&o->dictionary, KEY_VALUE_VALUE, number);
    pf_proto_end(&o->dictionary, start);
    return o->attribute_count;
}

static void put_attribute(struct pf_text *text, unsigned field, uint32_t attribute)
{
    const size_t start = pf_proto_begin(text, field);
    pf_proto_put_varint(text, attribute);
    pf_proto_end(text, start);
}

static void put_mappings(struct otlp *o)
{
    for (size_t i = 1; i < o->tables.mapping_count; i++) {
        const struct pf_tables_mapping *mapping = &o->tables.mappings[i];
        const uint32_t build_id =
            *mapping->build_id ? attribute_of(o, "process.executable.build_id.gnu", mapping->build_id, 0) : 0;
        const size_t start = pf_proto_begin(&o->dictionary, TABLE_MAPPING);
        pf_proto_put_number(&o->dictionary, MAPPING_START, mapping->start);
        pf_proto_put_number(&o->dictionary, MAPPING_LIMIT, mapping->limit);
        pf_proto_put_number(&o->dictionary, MAPPING_OFFSET, mapping->offset);
        pf_proto_put_number(&o->dictionary, MAPPING_NAME, mapping->name);
        if (build_id)
            put_attribute(&o->dictionary, MAPPING_ATTRIBUTE, build_id);
        pf_proto_end(&o->dictionary, start);
    }
}

/* Code that was made at run time may be of any language. */
static const char *frame_type_of(uint32_t kind)
{
    return kind == PERFILE_FRAME_USER ? "native" : kind == PERFILE_FRAME_KERNEL ? "kernel" : NULL;
}

static void put_location(struct otlp *o, const struct pf_tables_entry *entry)
{
    const char *type = frame_type_of(entry->kind);
    const uint32_t attribute = type ? attribute_of(o, "profile.frame.type", type, 0) : 0;
    const size_t start = pf_proto_begin(&o->dictionary, TABLE_LOCATION);
    pf_proto_put_number(&o->dictionary, LOCATION_MAPPING, entry->mapping);
    pf_proto_put_number(&o->dictionary, LOCATION_ADDRESS, entry->address);
    for (uint32_t i = 0; i < entry->line_count; i++) {
        const struct pf_tables_line *line = &o->tables.lines[entry->first_line + i];
        const size_t inner = pf_proto_begin(&o->dictionary, LOCATION_LINE);
        pf_proto_put_number(&o->dictionary, LINE_FUNCTION, line->function);
        pf_proto_put_number(&o->dictionary, LINE_LINE, line->line);
        pf_proto_end(&o->dictionary, inner);
    }
    if (attribute)
        put_attribute(&o->dictionary, LOCATION_ATTRIBUTE, attribute);
    pf_proto_end(&o->dictionary, start);
}

static void put_functions(struct otlp *o)
{
    for (size_t i = 1; i < o->tables.function_count; i++) {
        const struct pf_tables_function *function = &o->tables.functions[i];
        const size_t start = pf_proto_begin(&o->dictionary, TABLE_FUNCTION);
        pf_proto_put_number(&o->dictionary, FUNCTION_NAME, function->name);
        pf_proto_put_number(&o->dictionary, FUNCTION_SYSTEM_NAME, function->system_name);
        pf_proto_put_number(&o->dictionary, FUNCTION_FILE, function->file);
        pf_proto_put_number(&o->dictionary, FUNCTION_LINE, function->start_line);
        pf_proto_end(&o->dictionary, start);
    }
}

static void put_texts(struct otlp *o)
{
    for (size_t i = 0; i < o->tables.texts.count; i++) {
        size_t bytes;
        const char *text = pf_dictionary_at(&o->tables.texts, (uint32_t)i, &bytes);
        pf_proto_put_bytes(&o->dictionary, TABLE_TEXT, text, bytes);
    }
}

static uint32_t stack_of(struct otlp *o, uint32_t node)
{
    if (node == PERFILE_NO_ID)
        return 0;
    if (!o->stacks[node]) {
        o->stacks[node] = ++o->stack_count;
        const size_t start = pf_proto_begin(&o->dictionary, TABLE_STACK);
        const size_t inner = pf_proto_begin(&o->dictionary, STACK_LOCATION);
        pf_tables_put_locations(&o->tables, node, &o->dictionary);
        pf_proto_end(&o->dictionary, inner);
        pf_proto_end(&o->dictionary, start);
    }
    return o->stacks[node];
}

/* ---- identities of samples --------------------------------------------------------------------------------------- */

static void add_attribute(struct otlp *o, struct set *set, const char *key, int32_t number)
{
    if (number != -1)
        set->attributes[set->count++] = attribute_of(o, key, NULL, number);
}

static void add_text_attribute(struct otlp *o, struct set *set, const char *key, const char *text)
{
    if (text && *text)
        set->attributes[set->count++] = attribute_of(o, key, text, 0);
}

static bool add_set(struct otlp *o, const struct perfile_profile_sample *row)
{
    struct set set = {.count = 0};
    add_attribute(o, &set, "process.pid", row->pid);
    add_attribute(o, &set, "thread.id", row->tid);
    add_text_attribute(o, &set, "thread.name", row->comm);
    add_attribute(o, &set, "cpu.logical_number", row->cpu);
    add_text_attribute(o, &set, "process.linux.cgroup", row->cgroup);
    struct perfile_profile_tag tag = PERFILE_PROFILE_TAG_INIT;
    for (uint32_t i = row->tags; set.count < ATTRIBUTES_MAX && perfile_profile_tag_at(o->profile, i, &tag) == 0;
         i = tag.next)
        add_text_attribute(o, &set, tag.name, tag.text);
    return PF_APPEND(o->options->allocator, o->sets, o->set_count, o->set_capacity, set);
}

/* The number of a pair, `*count` for a new one. UINT32_MAX: out of memory. */
static uint32_t number_pair(struct pf_pairs *pairs, uint64_t a, uint64_t b, uint32_t *count)
{
    uint32_t number;
    if (pf_pairs_get(pairs, a, b, &number))
        return number;
    return pf_pairs_put(pairs, a, b, *count) ? (*count)++ : UINT32_MAX;
}

static uint32_t set_of(struct otlp *o, const struct perfile_profile_sample *row)
{
    const uint64_t task = (uint64_t)(uint32_t)row->pid << 32 | (uint32_t)row->tid;
    const uint32_t thread = number_pair(&o->threads, task, (uintptr_t)row->comm, &o->thread_count);
    uint32_t count = (uint32_t)o->set_count;
    const uint32_t tagged = number_pair(&o->tagged, (uintptr_t)row->cgroup, row->tags, &o->tagged_count);
    if (thread == UINT32_MAX || tagged == UINT32_MAX)
        return UINT32_MAX;
    const uint64_t entry = (uint64_t)thread << 32 | (uint32_t)row->cpu;
    const uint32_t set = number_pair(&o->keyed, entry, tagged, &count);
    if (set == UINT32_MAX || (set == o->set_count && !add_set(o, row)))
        return UINT32_MAX;
    return set;
}

static uint64_t identity_of(const void *entry)
{
    return ((const struct entry *)entry)->identity;
}

/* Of an event in a recording. */
static size_t part_of(const struct otlp *o, uint32_t recording, uint32_t event)
{
    return recording * o->event_count + event;
}

/*
 * Rows side by side that are one sample, those of one event in a recording, and those of a recording. False when out of
 * memory.
 */
static bool sort_rows(struct otlp *o)
{
    struct perfile_profile_sample row = PERFILE_PROFILE_SAMPLE_INIT;
    for (size_t i = 0; i < o->row_count; i++) {
        (void)!perfile_profile_sample_at(o->profile, i, &row);
        const uint32_t set = set_of(o, &row);
        const uint64_t keys = (uint64_t)row.event << 32 | set;
        const uint32_t identity =
            set == UINT32_MAX ? set : number_pair(&o->identities, keys, row.stack, &o->identity_count);
        if (identity == UINT32_MAX)
            return false;
        const uint32_t recording = row.recording == PERFILE_NO_ID ? 0 : row.recording; /* of profiles */
        const size_t part = part_of(o, recording, row.event);
        o->entries[i] = (struct entry){(uint64_t)part << 32 | identity, (uint32_t)i};
        o->timed[part] &= row.time != UINT64_MAX && o->reader;
        o->ends[recording]++;
    }
    for (size_t i = 1; i < o->recording_count; i++)
        o->ends[i] += o->ends[i - 1];
    o->sorted = pf_sort(o->entries, o->entries + o->row_count, o->row_count, sizeof(*o->entries), identity_of);
    return true;
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

/* A profile: one value of an event. */
struct part {
    size_t first, end; /* in sorted */
    uint32_t event;
    uint32_t value; /* 0 samples, 1 periods, 2 weights */
    bool timed;
};

/* Several samples of one time are one row; its value is shared between them, so that there are as many. */
static uint64_t share_of(const struct perfile_profile_sample *row, uint32_t value, uint64_t index)
{
    const uint64_t count = row->values[0], all = row->values[value];
    return all / count + (index == 0 ? all % count : 0);
}

static void put_timed_values(struct otlp *o, const struct part *part, size_t first, size_t end)
{
    struct perfile_profile_sample row = PERFILE_PROFILE_SAMPLE_INIT;
    const size_t start = pf_proto_begin(&o->body, SAMPLE_VALUE);
    for (size_t i = first; i < end; i++) {
        (void)!perfile_profile_sample_at(o->profile, o->sorted[i].row, &row);
        for (uint64_t k = 0; k < row.values[0]; k++)
            pf_proto_put_varint(&o->body, share_of(&row, part->value, k));
    }
    pf_proto_end(&o->body, start);
}

static void put_times(struct otlp *o, size_t first, size_t end)
{
    struct perfile_profile_sample row = PERFILE_PROFILE_SAMPLE_INIT;
    const size_t start = pf_proto_begin(&o->body, SAMPLE_TIME);
    for (size_t i = first; i < end; i++) {
        (void)!perfile_profile_sample_at(o->profile, o->sorted[i].row, &row);
        const uint64_t time = pf_tables_wall_time(&o->recording, row.time);
        for (uint64_t k = 0; k < row.values[0]; k++)
            pf_proto_put_packed_fixed(&o->body, time);
    }
    pf_proto_end(&o->body, start);
}

static void put_sum(struct otlp *o, const struct part *part, size_t first, size_t end)
{
    struct perfile_profile_sample row = PERFILE_PROFILE_SAMPLE_INIT;
    uint64_t sum = 0;
    for (size_t i = first; i < end; i++) {
        (void)!perfile_profile_sample_at(o->profile, o->sorted[i].row, &row);
        sum += row.values[part->value];
    }
    const size_t start = pf_proto_begin(&o->body, SAMPLE_VALUE);
    pf_proto_put_varint(&o->body, sum);
    pf_proto_end(&o->body, start);
}

/* A sample, of rows side by side. */
static void put_sample(struct otlp *o, const struct part *part, size_t first, size_t end)
{
    struct perfile_profile_sample row = PERFILE_PROFILE_SAMPLE_INIT;
    (void)!perfile_profile_sample_at(o->profile, o->sorted[first].row, &row);
    const struct set *set = &o->sets[set_of(o, &row)]; /* it is there */
    const size_t start = pf_proto_begin(&o->body, PROFILE_SAMPLE);
    pf_proto_put_number(&o->body, SAMPLE_STACK, stack_of(o, row.stack));
    if (set->count) {
        const size_t inner = pf_proto_begin(&o->body, SAMPLE_ATTRIBUTE);
        for (uint32_t i = 0; i < set->count; i++)
            pf_proto_put_varint(&o->body, set->attributes[i]);
        pf_proto_end(&o->body, inner);
    }
    if (part->timed) {
        put_timed_values(o, part, first, end);
        put_times(o, first, end);
    } else {
        put_sum(o, part, first, end);
    }
    pf_proto_end(&o->body, start);
}

/* ---- profiles ---------------------------------------------------------------------------------------------------- */

/* A value of an event: its periods have its name, others say of which of several events they are. */
static void put_type(struct otlp *o, unsigned field, const struct perfile_profile_event *event, uint32_t value)
{
    struct perfile_profile_value_type type = PERFILE_PROFILE_VALUE_TYPE_INIT;
    (void)!perfile_profile_value_type_at(o->profile, event->first_value + value, &type);
    o->name.used = 0;
    pf_put_string(&o->name, type.name);
    if (value != 1 && o->event_count > 1)
        pf_put_format(&o->name, ":%s", event->name);
    pf_put_char(&o->name, '\0');
    const size_t start = pf_proto_begin(&o->body, field);
    pf_proto_put_number(&o->body, VALUE_TYPE_TYPE, pf_tables_text_now(&o->tables, o->name.data));
    pf_proto_put_number(&o->body, VALUE_TYPE_UNIT, pf_tables_text(&o->tables, strcmp(type.unit, "ns") ? "1" : "ns"));
    pf_proto_end(&o->body, start);
}

static void put_facts(struct otlp *o, const struct perfile_profile_event *event)
{
    const struct perfile_profile_recording *recording = &o->recording;
    struct perfile_symbol_options symbols;
    struct perfile_output_options of_it;
    const struct perfile_reader *reader =
        o->reader ? pf_export_nth(o->reader, o->options, o->number, &of_it, &symbols) : NULL;
    const uint64_t period = reader ? pf_tables_fixed_period(reader, &of_it, event) : 0;
    if (recording->first_time != UINT64_MAX) { /* the last time is within */
        pf_proto_put_fixed(&o->body, PROFILE_TIME, pf_tables_wall_time(recording, recording->first_time));
        pf_proto_put_number(&o->body, PROFILE_DURATION, recording->last_time - recording->first_time + 1);
    }
    if (period)
        put_type(o, PROFILE_PERIOD_TYPE, event, 1);
    pf_proto_put_number(&o->body, PROFILE_PERIOD, period);
    if (recording->lost)
        put_attribute(&o->body, PROFILE_ATTRIBUTE,
                      attribute_of(o, "perfile.lost_samples", NULL, (int64_t)recording->lost));
    if (o->recording_count > 1 && recording->path)
        put_attribute(&o->body, PROFILE_ATTRIBUTE, attribute_of(o, "perfile.recording", recording->path, 0));
}

static void put_profile(struct otlp *o, const struct part *part)
{
    struct perfile_profile_event event = PERFILE_PROFILE_EVENT_INIT;
    (void)!perfile_profile_event_at(o->profile, part->event, &event);
    const size_t start = pf_proto_begin(&o->body, SCOPE_PROFILES_PROFILE);
    put_type(o, PROFILE_SAMPLE_TYPE, &event, part->value);
    put_facts(o, &event);
    for (size_t first = part->first, end; first < part->end && !o->body.failed; first = end) {
        end = first + 1;
        while (end < part->end && o->sorted[end].identity == o->sorted[first].identity)
            end++;
        put_sample(o, part, first, end);
    }
    pf_proto_end(&o->body, start);
}

/*
 * Its periods first, which readers show when they show one; how many samples there were is in the times, if they are
 * there.
 */
static void put_event(struct otlp *o, uint32_t number, size_t first, size_t end)
{
    static const uint32_t values[] = {1, 0, 2};
    struct perfile_profile_event event = PERFILE_PROFILE_EVENT_INIT;
    (void)!perfile_profile_event_at(o->profile, number, &event);
    for (size_t i = 0; i < PF_COUNT(values); i++) {
        const struct part part = {first, end, number, values[i], o->timed[part_of(o, o->number, number)]};
        if (part.value < event.value_count && !(part.timed && part.value == 0))
            put_profile(o, &part);
    }
}

/* The main event first: what readers show when they show one. */
static void put_events(struct otlp *o)
{
    const uint32_t main_event = pf_export_main_event(o->profile);
    const size_t rows_end = o->ends[o->number];
    for (int others = 0; others < 2; others++)
        for (size_t first = o->number ? o->ends[o->number - 1] : 0, end; first < rows_end; first = end) {
            const uint64_t part = o->sorted[first].identity >> 32;
            const uint32_t event = (uint32_t)(part - part_of(o, o->number, 0));
            for (end = first; end < rows_end && o->sorted[end].identity >> 32 == part;)
                end++;
            if ((event != main_event) == others)
                put_event(o, event, first, end);
        }
}

static void choose_recording(struct otlp *o, size_t number)
{
    o->number = (uint32_t)number;
    o->recording.first_time = UINT64_MAX;
    (void)!perfile_profile_recording_at(o->profile, number, &o->recording); /* there is one, but in profiles */
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static void put_resource_attribute(struct otlp *o, const char *key, const char *value)
{
    if (!value || !*value)
        return;
    const size_t start = pf_proto_begin(&o->body, RESOURCE_ATTRIBUTE);
    pf_proto_put_bytes(&o->body, KEY_VALUE_KEY, key, strlen(key));
    put_text_value(&o->body, KEY_VALUE_VALUE, value);
    pf_proto_end(&o->body, start);
}

/* As the conventions call machines. */
static const char *arch_of(const char *machine)
{
    static const char *const known[][2] = {{"x86_64", "amd64"}, {"aarch64", "arm64"}, {"i686", "x86"},
                                           {"i586", "x86"},     {"i386", "x86"},      {"armv7l", "arm32"},
                                           {"armv6l", "arm32"}, {"ppc64le", "ppc64"}};
    for (size_t i = 0; machine && i < PF_COUNT(known); i++)
        if (strcmp(machine, known[i][0]) == 0)
            return known[i][1];
    return machine;
}

static void put_resource(struct otlp *o)
{
    const size_t start = pf_proto_begin(&o->body, RESOURCE_PROFILES_RESOURCE);
    put_resource_attribute(o, "host.name", o->recording.hostname);
    put_resource_attribute(o, "host.arch", arch_of(o->recording.arch));
    put_resource_attribute(o, "host.cpu.model.name", o->recording.cpu);
    put_resource_attribute(o, "os.type", "linux");
    put_resource_attribute(o, "os.version", o->recording.os_release);
    pf_proto_end(&o->body, start);
}

static void put_scope(struct otlp *o)
{
    static const char name[] = "perfile";
    const size_t start = pf_proto_begin(&o->body, SCOPE_PROFILES_SCOPE);
    pf_proto_put_bytes(&o->body, SCOPE_NAME, name, sizeof(name) - 1);
    const size_t inner = pf_proto_begin(&o->body, SCOPE_VERSION);
    pf_put_format(&o->body, "%s (opentelemetry-proto " PROTO_VERSION ")", perfile_version());
    pf_proto_end(&o->body, inner);
    pf_proto_end(&o->body, start);
}

/* Texts of a profile that are equal are equal pointers. */
static bool is_same_machine(const struct perfile_profile_recording *a, const struct perfile_profile_recording *b)
{
    return a->hostname == b->hostname && a->os_release == b->os_release && a->arch == b->arch && a->cpu == b->cpu;
}

/* The machine of the recording, with the profiles of all recordings of it. */
static void put_machine(struct otlp *o, bool *done, size_t number)
{
    struct perfile_profile_recording machine = PERFILE_PROFILE_RECORDING_INIT;
    choose_recording(o, number);
    machine = o->recording;
    const size_t start = pf_proto_begin(&o->body, DATA_RESOURCE_PROFILES);
    put_resource(o);
    const size_t inner = pf_proto_begin(&o->body, RESOURCE_PROFILES_SCOPE_PROFILES);
    put_scope(o);
    for (size_t i = number; i < o->recording_count; i++) {
        choose_recording(o, i);
        if (done[i] || !is_same_machine(&o->recording, &machine))
            continue;
        done[i] = true;
        put_events(o);
    }
    pf_proto_end(&o->body, inner);
    pf_proto_end(&o->body, start);
}

static bool put_machines(struct otlp *o)
{
    bool *done = pf_new(o->options->allocator, o->recording_count * sizeof(*done));
    for (size_t i = 0; done && i < o->recording_count; i++)
        if (!done[i])
            put_machine(o, done, i);
    pf_free(o->options->allocator, done, o->recording_count * sizeof(*done));
    return done;
}

static bool has_failed(const struct otlp *o)
{
    return o->failed || o->body.failed || o->dictionary.failed || o->name.failed || o->tables.scratch.failed ||
           o->tables.texts.full;
}

static void put_all(struct otlp *o, struct pf_text *out)
{
    put_mappings(o);
    for (size_t i = 1; i < o->tables.entry_count; i++)
        put_location(o, &o->tables.entries[i]);
    put_functions(o);
    o->failed |= !put_machines(o);
    put_texts(o); /* last: all the others add some */
    if (has_failed(o))
        return;
    pf_put_through(out, o->body.data, o->body.used);
    pf_proto_put_head(out, DATA_DICTIONARY, o->dictionary.used);
    pf_put_through(out, o->dictionary.data, o->dictionary.used);
}

static bool is_timeless(struct otlp *o, size_t number)
{
    bool timeless = false;
    choose_recording(o, number);
    for (size_t i = 0; i < o->event_count; i++)
        timeless |= !o->timed[part_of(o, o->number, (uint32_t)i)];
    return timeless && o->recording.first_time != UINT64_MAX;
}

static void report_notes(struct otlp *o)
{
    char which[PF_COUNTED_BYTES] = "the recording does";
    size_t timeless = 0;
    for (size_t i = 0; i < o->recording_count; i++)
        timeless += o->reader && is_timeless(o, i);
    if (o->recording_count > 1)
        pf_part_of(timeless, o->recording_count, "recordings do", which);
    if (timeless)
        pf_export_notify(
            o->options,
            "%s not say what the wall-clock time was, and OTLP has no other: the times of samples are left "
            "out, and they are added up",
            which);
    pf_export_notify_elsewhere(o->options, o->profile, "OTLP");
}

/* Returns whether times of the recording can be converted to wall-clock times. In a stream this is known at its end. */
static bool may_have_wall_clock(const struct perfile_reader *reader)
{
    const struct perfile_file *file = perfile_reader_file(reader);
    const struct perfile_event *event = perfile_event_get(reader, 0);
    return file->mode == PERFILE_MODE_PIPE || (event && event->attr->use_clockid && event->attr->clockid == 0) ||
           file->feature_bits[PERFILE_FEATURE_CLOCK_DATA / 64] >> PERFILE_FEATURE_CLOCK_DATA % 64 & 1;
}

/* A profile has the sums of samples, and may have them for steps of time, but not one time for each. */
static bool any_may_have_wall_clock(const struct otlp *o)
{
    if (!o->reader)
        return false;
    bool may = may_have_wall_clock(o->reader);
    for (size_t i = 0; i < o->options->more_count; i++)
        may |= may_have_wall_clock(o->options->more[i]);
    return may;
}

static int open_profile(struct otlp *o, struct perfile_error *error)
{
    const bool timed = any_may_have_wall_clock(o);
    pf_put_format(&o->body, "%s,recording%s", pf_export_keys(o->options), timed ? ",time" : "");
    pf_put_char(&o->body, '\0');
    if (o->body.failed)
        return pf_fail_memory(error, "otlp");
    const struct perfile_profile_options how = {
        .keys = o->body.data, .time_quantum = timed, .flags = PERFILE_STREAM_ADDRESSES};
    const int result = pf_export_profile_as(o->reader, o->options, &how, &o->profile, error);
    o->body.used = 0;
    return result;
}

static bool open_parts(struct otlp *o)
{
    const struct perfile_allocator *allocator = o->options->allocator;
    const bool fine = pf_tables_open(&o->tables, o->options, o->profile);
    o->row_count = perfile_profile_sample_count(o->profile);
    o->event_count = perfile_profile_event_count(o->profile);
    o->recording_count = pf_max(perfile_profile_recording_count(o->profile), 1); /* profiles may know of none */
    o->part_count = o->recording_count * o->event_count;
    o->stacks = pf_new(allocator, (o->tables.node_count + 1) * sizeof(*o->stacks));
    o->entries = pf_new(allocator, (2 * o->row_count + 1) * sizeof(*o->entries));
    o->timed = pf_new(allocator, (o->part_count + 1) * sizeof(*o->timed));
    o->ends = pf_new(allocator, o->recording_count * sizeof(*o->ends));
    if (!fine || !o->stacks || !o->entries || !o->timed || !o->ends || o->part_count > UINT32_MAX)
        return false;
    for (size_t i = 0; i < o->part_count; i++) {
        choose_recording(o, i / o->event_count);
        o->timed[i] = o->reader && pf_tables_wall_time(&o->recording, o->recording.first_time) != 0;
    }
    put_zero_values(o); /* before anything that has numbers */
    return sort_rows(o);
}

static void close_parts(struct otlp *o)
{
    const struct perfile_allocator *allocator = o->options->allocator;
    pf_free(allocator, o->stacks, (o->tables.node_count + 1) * sizeof(*o->stacks));
    pf_free(allocator, o->entries, (2 * o->row_count + 1) * sizeof(*o->entries));
    pf_free(allocator, o->timed, (o->part_count + 1) * sizeof(*o->timed));
    pf_free(allocator, o->ends, o->recording_count * sizeof(*o->ends));
    pf_free(allocator, o->sets, o->set_capacity * sizeof(*o->sets));
    pf_tables_close(&o->tables);
    perfile_profile_close(o->profile);
}

static int write_data(struct otlp *o, struct pf_text *out, struct perfile_error *error)
{
    int result = open_profile(o, error);
    if (result < 0)
        return result;
    const bool fine = open_parts(o);
    if (fine) {
        put_all(o, out);
        report_notes(o);
    }
    if (!fine || has_failed(o))
        result = pf_fail_memory(error, "otlp");
    close_parts(o);
    return result;
}

static int write_otlp(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                      struct perfile_error *error)
{
    struct otlp o = {.options = options, .reader = reader, .recording = PERFILE_PROFILE_RECORDING_INIT};
    struct pf_pairs *const pairs[] = {&o.attributes, &o.threads, &o.tagged, &o.keyed, &o.identities};
    for (size_t i = 0; i < PF_COUNT(pairs); i++)
        pf_pairs_open(pairs[i], options->allocator);
    struct pf_text *const texts[] = {&o.body, &o.dictionary, &o.name};
    bool fine = true;
    for (size_t i = 0; i < PF_COUNT(texts); i++) /* all are closed, even if one is not open */
        fine &= pf_text_open(texts[i], options->allocator, NULL, NULL) == 0;
    o.body.escapes = o.dictionary.escapes = true;
    const int result = fine ? write_data(&o, out, error) : pf_fail_memory(error, "otlp");
    for (size_t i = 0; i < PF_COUNT(texts); i++)
        pf_text_close(texts[i]);
    for (size_t i = 0; i < PF_COUNT(pairs); i++)
        pf_pairs_close(pairs[i]);
    return result;
}

const struct pf_output pf_output_export_otlp = {
    .info = {"export", "otlp",
             "OpenTelemetry profiles as protobuf; experimental: opentelemetry-proto " PROTO_VERSION ", v1development",
             true},
    .write = write_otlp,
    .takes_a_profile = true,
    .merges = true,
    .reports_omissions = true,
};
