/* SPDX-License-Identifier: MIT */
/* Events: their attrs, ids and names, and which one a record belongs to. */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "format/attr.h"
#include "format/encode.h"
#include "format/reader.h"

static uint64_t type_key(uint64_t type, uint64_t config)
{
    return config ^ type << 32;
}

/* More layouts of one kind than this are not distinguished. */
enum { LAYOUTS_MAX = 16 };

static bool same_kind(const struct pf_event *a, const struct pf_event *b)
{
    return a->attr.type == b->attr.type && a->attr.config == b->attr.config;
}

/* Appends the event to those of its kind when its layout is a new one. */
static bool add_to_kind(struct perfile_reader *reader, struct pf_event *event)
{
    const struct perfile_attr *attr = &event->attr;
    const uint64_t key = type_key(attr->type, attr->config);
    uint64_t first;
    event->first_of_kind = event;
    if (!pf_map_get(&reader->kinds, key, &first))
        return pf_map_put(&reader->kinds, key, event->public.index);
    struct pf_event *last = reader->events[first];
    if (!same_kind(last, event))
        return true;
    event->first_of_kind = last;
    unsigned layouts = 1;
    for (; !pf_plan_equal(&last->plan, &event->plan) && last->next_layout; last = last->next_layout)
        layouts++;
    if (!pf_plan_equal(&last->plan, &event->plan) && layouts < LAYOUTS_MAX)
        last->next_layout = event;
    return true;
}

int pf_events_add(struct perfile_reader *reader, const uint8_t *data, uint32_t bytes, uint64_t offset,
                  struct perfile_error *error)
{
    if (reader->event_count >= reader->options.limit_events)
        return pf_fail(error, PERFILE_ERROR_LIMIT, offset, "attr", "more events than limit_events, %" PRIu64,
                       reader->options.limit_events);
    struct pf_event *event = pf_arena_new(&reader->arena, sizeof(*event));
    char *copy = pf_arena_text(&reader->arena, data, bytes);
    if (!event || !copy ||
        !pf_grow(reader->allocator, &reader->events, &reader->event_capacity, reader->event_count + 1,
                 sizeof(*reader->events)))
        return pf_fail_memory(error, "events");
    event->public = (struct perfile_event){.index = (uint32_t)reader->event_count,
                                           .attr = &event->attr,
                                           .attr_offset = offset,
                                           .attr_data = (const uint8_t *)copy,
                                           .attr_bytes = bytes,
                                           .name = "unknown",
                                           .scale = 1};
    const struct perfile_file *file = &reader->file;
    pf_attr_decode(data, bytes, file->swapped, file->big_endian, &event->attr);
    pf_plan_make(&event->plan, &event->attr, file->swapped, file->big_endian);
    reader->events[reader->event_count++] = event;
    if (!add_to_kind(reader, event))
        return pf_fail_memory(error, "events");
    if (event->plan.known)
        return 0;
    char message[128];
    snprintf(message, sizeof(message),
             "event %u: its sample_type 0x%" PRIx64 " has bits that are not known: its samples cannot be read",
             event->public.index, event->attr.sample_type);
    const struct perfile_diagnostic warning = {
        .rule = "sample-type", .severity = PERFILE_WARNING, .offset = offset, .message = message};
    return pf_diagnose(reader, NULL, &warning, error);
}

/* Makes the capacity of the event's ids at least `count`; doubles it, because simpleperf's ids come one by one. */
static uint64_t *reserve_ids(struct perfile_reader *reader, struct pf_event *event, size_t count)
{
    uint64_t *ids = (uint64_t *)(uintptr_t)event->public.ids;
    if (count <= event->ids_capacity)
        return ids;
    size_t capacity = event->ids_capacity ? (size_t)pf_max(count, 2 * event->ids_capacity) : count;
    uint64_t *all = pf_arena_new(&reader->arena, capacity * sizeof(*all));
    if (!all)
        return NULL;
    if (event->public.id_count)
        memcpy(all, ids, event->public.id_count * sizeof(*all));
    event->ids_capacity = capacity;
    return all;
}

int pf_events_add_ids(struct perfile_reader *reader, struct pf_event *event, const struct perfile_u64s *ids,
                      struct perfile_error *error)
{
    size_t count = event->public.id_count;
    if (ids->count > reader->options.limit_ids || count + ids->count > reader->options.limit_ids)
        return pf_fail(error, PERFILE_ERROR_LIMIT, event->public.attr_offset, "ids", "more than limit_ids, %" PRIu64,
                       reader->options.limit_ids);
    if (ids->count == 0)
        return 0;
    uint64_t *all = reserve_ids(reader, event, count + (size_t)ids->count);
    if (!all)
        return pf_fail_memory(error, "ids");
    for (uint64_t i = 0; i < ids->count; i++) {
        all[count + i] = perfile_u64_at(ids, i);
        if (!pf_map_put(&reader->ids, all[count + i], event->public.index))
            return pf_fail_memory(error, "ids");
    }
    event->public.ids = all;
    event->public.id_count = count + (size_t)ids->count;
    memset(reader->recent, 0, sizeof(reader->recent));
    return 0;
}

size_t perfile_event_count(const struct perfile_reader *reader)
{
    return reader->event_count;
}

const struct perfile_event *perfile_event_get(const struct perfile_reader *reader, size_t index)
{
    return index < reader->event_count ? &reader->events[index]->public : NULL;
}

const struct perfile_event *perfile_event_find(const struct perfile_reader *reader, uint64_t id)
{
    uint64_t index;
    return pf_map_get(&reader->ids, id, &index) ? &reader->events[index]->public : NULL;
}

struct pf_event *pf_event_of(struct perfile_reader *reader, uint32_t type, const uint8_t *data, uint32_t bytes)
{
    if (PF_LIKELY(reader->event_count <= 1))
        return reader->event_count ? reader->events[0] : NULL;
    struct pf_event *first = reader->events[0];
    const struct pf_plan *plan = &first->plan;
    const uint8_t *at;
    if (type == PERFILE_RECORD_SAMPLE) {
        if (!plan->id_at || bytes < plan->id_at + 8u)
            return plan->id_at ? NULL : first;
        at = data + plan->id_at;
    } else {
        if (!plan->id_back || bytes < 8u + plan->trailer_bytes)
            return first;
        at = data + bytes - plan->id_back;
    }
    uint64_t id = pf_load64(at, plan->swap), index;
    struct pf_recent_id *recent = &reader->recent[id % PF_RECENT_IDS];
    if (PF_LIKELY(id == recent->id && recent->event))
        return recent->event;
    if (id == 0)
        return first; /* what the recorder made itself */
    if (!pf_map_get(&reader->ids, id, &index))
        return NULL;
    *recent = (struct pf_recent_id){id, reader->events[index]};
    return recent->event;
}

struct pf_event *pf_event_fitting(struct pf_event *stamped, const uint8_t *data, uint32_t bytes, uint32_t *asked)
{
    struct pf_event *best = stamped;
    const bool fits = *asked;
    for (struct pf_event *event = stamped->first_of_kind; event && *asked != bytes; event = event->next_layout) {
        if (!event->plan.known || event->plan.id_at != stamped->plan.id_at)
            continue;
        const uint32_t measured = pf_plan_measure(&event->plan, data, bytes);
        if (measured == bytes || (!fits && measured && (!*asked || measured < *asked))) {
            best = event;
            *asked = measured;
        }
    }
    return best;
}

/* ---- names ---- */

static int set_name(struct perfile_reader *reader, struct pf_event *event, const void *text, size_t bytes,
                    struct perfile_error *error)
{
    const char *name = pf_arena_text(&reader->arena, text, bytes);
    if (!name)
        return pf_fail_memory(error, "event name");
    event->public.file_name = event->public.name = name;
    return 0;
}

/* The `:u`-like tail that perf gives to names: modes that are not excluded, precision, host and guest. */
static void put_modifiers(char *text, size_t capacity, const struct perfile_attr *attr)
{
    char modifiers[16];
    size_t n = 0;
    if (attr->exclude_kernel || attr->exclude_user || attr->exclude_hv) {
        if (!attr->exclude_kernel)
            modifiers[n++] = 'k';
        if (!attr->exclude_user)
            modifiers[n++] = 'u';
        if (!attr->exclude_hv)
            modifiers[n++] = 'h';
    }
    for (unsigned i = 0; i < attr->precise_ip; i++)
        modifiers[n++] = 'p';
    if (attr->exclude_host != attr->exclude_guest)
        modifiers[n++] = attr->exclude_host ? 'G' : 'H';
    size_t used = strlen(text);
    if (n)
        snprintf(text + used, capacity - used, ":%.*s", (int)n, modifiers);
}

/* Whether the kernel may know such an event: there are instruction caches to load and prefetch, and so on. */
static bool is_cache_event(uint64_t cache, uint64_t op)
{
    enum { LOAD = 1, STORE = 2, PREFETCH = 4, ALL = LOAD | STORE | PREFETCH };
    static const uint8_t ops[] = {ALL, LOAD | PREFETCH, ALL, ALL, LOAD, LOAD, ALL};
    return cache >= PF_COUNT(ops) || ops[cache] >> op & 1;
}

static void name_cache_event(char *text, size_t capacity, uint64_t config)
{
    const uint64_t number = config & 0xff, operation = config >> 8 & 0xff, result = config >> 16 & 0xff;
    const char *cache = perfile_enum_name("cache", number);
    const char *op = perfile_enum_name("cache_op", operation);
    if (!cache || !op || result > PERFILE_COUNT_HW_CACHE_RESULT_MISS)
        snprintf(text, capacity, "unknown-ext-hardware-cache-%s", !cache ? "type" : !op ? "op" : "result");
    else if (!is_cache_event(number, operation))
        snprintf(text, capacity, "invalid-cache");
    else if (result)
        snprintf(text, capacity, "%s-%s-misses", cache, op);
    else
        snprintf(text, capacity, "%s-%s%s", cache, op, strcmp(op, "prefetch") == 0 ? "es" : "s");
}

static void name_breakpoint(char *text, size_t capacity, const struct perfile_attr *attr)
{
    int n = snprintf(text, capacity, "mem:0x%" PRIx64 ":", attr->bp_addr_or_config1);
    snprintf(text + n, capacity - (size_t)n, "%s%s%s", attr->bp_type & PERFILE_BREAKPOINT_R ? "r" : "",
             attr->bp_type & PERFILE_BREAKPOINT_W ? "w" : "", attr->bp_type & PERFILE_BREAKPOINT_X ? "x" : "");
}

static int name_by_attr(struct perfile_reader *reader, struct pf_event *event, struct perfile_error *error)
{
    const struct perfile_attr *attr = &event->attr;
    const struct perfile_tracing *tracing;
    const struct perfile_tracepoint *tracepoint;
    char text[512] = "";
    const char *known = NULL;
    switch (attr->type) {
    case PERFILE_TYPE_HARDWARE:
        known = perfile_enum_name("hardware_event", attr->config & UINT32_MAX); /* the upper half is the PMU */
        snprintf(text, sizeof(text), "%s", known ? known : "unknown-hardware");
        put_modifiers(text, sizeof(text), attr);
        break;
    case PERFILE_TYPE_SOFTWARE:
        known = perfile_enum_name("software_event", attr->config);
        snprintf(text, sizeof(text), "%s", known ? known : "unknown-software");
        put_modifiers(text, sizeof(text), attr);
        break;
    case PERFILE_TYPE_TRACEPOINT:
        if (perfile_tracing_get(reader, &tracing, error) == PERFILE_ERROR_MEMORY)
            return PERFILE_ERROR_MEMORY;
        tracepoint = perfile_tracepoint_find(reader, &event->public);
        if (tracepoint)
            snprintf(text, sizeof(text), "%s:%s", tracepoint->system, tracepoint->name);
        else
            snprintf(text, sizeof(text), "unknown tracepoint");
        break;
    case PERFILE_TYPE_HW_CACHE:
        name_cache_event(text, sizeof(text), attr->config);
        put_modifiers(text, sizeof(text), attr);
        break;
    case PERFILE_TYPE_RAW:
        snprintf(text, sizeof(text), "raw 0x%" PRIx64, attr->config);
        put_modifiers(text, sizeof(text), attr);
        break;
    case PERFILE_TYPE_BREAKPOINT:
        name_breakpoint(text, sizeof(text), attr);
        put_modifiers(text, sizeof(text), attr);
        break;
    default:
        snprintf(text, sizeof(text), "unknown event PMU=%" PRId32 " config=%s%" PRIx64, (int32_t)attr->type,
                 attr->config ? "0x" : "", attr->config);
    }
    const char *name = pf_arena_text(&reader->arena, text, strlen(text));
    if (!name)
        return pf_fail_memory(error, "event name");
    event->public.name = name;
    return 0;
}

static struct pf_event *event_of_description(struct perfile_reader *reader, const struct perfile_u64s *ids,
                                             uint64_t index)
{
    uint64_t found;
    if (ids->count && pf_map_get(&reader->ids, perfile_u64_at(ids, 0), &found))
        return reader->events[found];
    return index < reader->event_count ? reader->events[index] : NULL;
}

/* EVENT_DESC: u32 count, u32 attr size, each: attr, u32 ids, name, ids. */
static int name_by_event_desc(struct perfile_reader *reader, struct perfile_error *error)
{
    const uint8_t *data;
    size_t bytes;
    int result = pf_feature_look(reader, PERFILE_FEATURE_EVENT_DESC, &data, &bytes, error);
    if (result < 0)
        return result == PERFILE_ERROR_MEMORY ? result : 0; /* absent, or reported already */
    struct pf_cursor c = pf_cursor_make(data, bytes, 0, reader->file.swapped);
    uint32_t count = pf_cursor_u32(&c), attr_bytes = pf_cursor_u32(&c);
    for (uint32_t i = 0; i < count && !c.failed; i++) {
        const uint8_t *attr = pf_cursor_take(&c, attr_bytes);
        uint32_t id_count = pf_cursor_u32(&c), capacity = pf_cursor_u32(&c);
        const uint8_t *name = pf_cursor_take(&c, capacity);
        const struct perfile_u64s ids = {
            .data = pf_cursor_take_array(&c, id_count, 8), .count = id_count, .swapped = c.swap};
        if (c.failed)
            break;
        result = 0;
        if (reader->file.mode != PERFILE_MODE_PIPE && !reader->parts[0].followed && reader->event_count == i &&
            attr_bytes >= PF_ATTR_SIZE_MIN) {
            /* the attrs are gone, but here is a copy of them; a record that says the same comes too late */
            result = pf_events_add(reader, attr, attr_bytes, PERFILE_NO_OFFSET, error);
            if (result == 0)
                result = pf_events_add_ids(reader, reader->events[i], &ids, error);
        }
        struct pf_event *event = event_of_description(reader, &ids, i);
        if (result == 0 && event && capacity && *name && !event->public.file_name)
            result = set_name(reader, event, name, pf_text_length(name, capacity), error);
        if (result < 0)
            return result;
    }
    return 0;
}

/* A line "name,type,config" of simpleperf. */
struct type_line {
    size_t name_bytes;
    uint64_t type;
    uint64_t config;
};

static uint64_t take_number(const char **text)
{
    uint64_t number = 0;
    while (**text >= '0' && **text <= '9')
        number = number * 10 + (uint64_t)(*(*text)++ - '0');
    return number;
}

static bool parse_type_line(const char *text, struct type_line *line)
{
    const char *at = text;
    while (*at && *at != ',' && *at != '\n')
        at++;
    line->name_bytes = (size_t)(at - text);
    if (*at++ != ',')
        return false;
    line->type = take_number(&at);
    if (*at++ != ',')
        return false;
    line->config = take_number(&at);
    return true;
}

/*
 * Finds the offsets of the lines for the events' types and configs; the length of the text where the line is missing.
 */
static bool find_type_lines(const struct perfile_reader *reader, const char *text, struct pf_map *lines)
{
    uint64_t known, end = strlen(text);
    for (size_t i = 0; i < reader->event_count; i++) {
        const struct perfile_attr *attr = &reader->events[i]->attr;
        if (!pf_map_put(lines, type_key(attr->type, attr->config), end))
            return false;
    }
    for (const char *at = text; *at; at += *at == '\n') {
        struct type_line line;
        bool wanted = parse_type_line(at, &line) && pf_map_get(lines, type_key(line.type, line.config), &known);
        if (wanted && !pf_map_put(lines, type_key(line.type, line.config), (uint64_t)(at - text)))
            return false;
        const char *line_end = memchr(at, '\n', (size_t)(text + end - at));
        at = line_end ? line_end : text + end;
    }
    return true;
}

static bool name_by_type_line(struct perfile_reader *reader, struct pf_event *event, const char *text,
                              const struct pf_map *lines)
{
    const struct perfile_attr *attr = &event->attr;
    uint64_t at;
    struct type_line line;
    if (!pf_map_get(lines, type_key(attr->type, attr->config), &at) || !parse_type_line(text + at, &line) ||
        line.type != attr->type || line.config != attr->config)
        return true;
    return set_name(reader, event, text + at, line.name_bytes, NULL) == 0;
}

/* simpleperf: META_INFO has the key event_type_info with such lines. */
static int name_by_meta_info(struct perfile_reader *reader, struct perfile_error *error)
{
    const char *text;
    const int found = perfile_feature_text(reader, PERFILE_FEATURE_META_INFO, "event_type_info", &text, error);
    if (found < 0)
        return found == PERFILE_ERROR_MEMORY ? found : 0;
    struct pf_map lines;
    pf_map_open(&lines, reader->allocator);
    bool done = find_type_lines(reader, text, &lines);
    for (size_t i = 0; done && i < reader->event_count; i++)
        done = name_by_type_line(reader, reader->events[i], text, &lines);
    pf_map_close(&lines);
    return done ? 0 : pf_fail_memory(error, "event names");
}

int pf_events_name(struct perfile_reader *reader, struct perfile_error *error)
{
    int result = name_by_event_desc(reader, error);
    if (result == 0)
        result = name_by_meta_info(reader, error);
    for (size_t i = 0; result == 0 && i < reader->event_count; i++)
        if (!reader->events[i]->public.file_name)
            result = name_by_attr(reader, reader->events[i], error);
    return result;
}

/* ---- what records of pipe mode say ---- */

enum {
    PIPE_FEATURES_MAX = 4096,
};

static int follow_attr(struct perfile_reader *reader, const struct perfile_record *record, struct perfile_error *error)
{
    struct perfile_header_attr decoded;
    const struct pf_layout layout = pf_layout_of(reader, record);
    if (reader->file.mode != PERFILE_MODE_PIPE || pf_layout_decode(record, &layout, &decoded, NULL) < 0)
        return 0;
    const uint8_t *data = record->data + 8;
    uint32_t bytes = pf_attr_stated_bytes(data, reader->file.swapped);
    if (bytes < PF_ATTR_SIZE_MIN || bytes > record->bytes - 8)
        return 0; /* the visitor shows it, no event comes of it */
    int result = pf_events_add(reader, data, bytes, record->offset + 8, error);
    if (result < 0)
        return result;
    struct pf_event *event = reader->events[reader->event_count - 1];
    result = pf_events_add_ids(reader, event, &decoded.ids, error);
    /* as in perf, features name the events that stand before them in the stream */
    return result < 0 ? result : name_by_attr(reader, event, error);
}

static int follow_update(struct perfile_reader *reader, const struct perfile_record *record,
                         struct perfile_error *error)
{
    struct perfile_event_update update;
    const struct pf_layout layout = pf_layout_of(reader, record);
    uint64_t index;
    if (pf_layout_decode(record, &layout, &update, NULL) < 0 || !pf_map_get(&reader->ids, update.id, &index))
        return 0;
    struct pf_event *event = reader->events[index];
    if (update.update_type == PERFILE_EVENT_UPDATE_UNIT) {
        event->public.unit = pf_arena_text(&reader->arena, update.unit, strlen(update.unit));
        return event->public.unit ? 0 : pf_fail_memory(error, "event unit");
    }
    if (update.update_type == PERFILE_EVENT_UPDATE_SCALE)
        event->public.scale = update.scale;
    if (update.update_type == PERFILE_EVENT_UPDATE_NAME)
        return set_name(reader, event, update.name, strlen(update.name), error);
    return 0;
}

/* Until 3.11 pipes named their events by attr.config. */
static int follow_event_type(struct perfile_reader *reader, const struct perfile_record *record,
                             struct perfile_error *error)
{
    struct perfile_header_event_type type;
    const struct pf_layout layout = pf_layout_of(reader, record);
    if (pf_layout_decode(record, &layout, &type, NULL) < 0)
        return 0;
    for (size_t i = 0; i < reader->event_count; i++) {
        struct pf_event *event = reader->events[i];
        if (event->attr.config == type.event_id && !event->public.file_name &&
            event->attr.type == PERFILE_TYPE_TRACEPOINT &&
            set_name(reader, event, type.name.data, (size_t)type.name.bytes, error) < 0)
            return PERFILE_ERROR_MEMORY;
    }
    return 0;
}

static int rename_tracepoints(struct perfile_reader *reader, struct perfile_error *error)
{
    int result = 0;
    for (size_t i = 0; result == 0 && i < reader->event_count; i++)
        if (reader->events[i]->attr.type == PERFILE_TYPE_TRACEPOINT && !reader->events[i]->public.file_name)
            result = name_by_attr(reader, reader->events[i], error);
    return result;
}

static int keep_tracing(struct perfile_reader *reader, const uint8_t *data, size_t bytes, uint64_t offset,
                        struct perfile_error *error)
{
    if (reader->tracing_data)
        return 0;
    if (bytes > reader->options.limit_feature_bytes)
        return pf_fail(error, PERFILE_ERROR_LIMIT, offset, "tracing data", "more than limit_feature_bytes");
    reader->tracing_data = (const uint8_t *)pf_arena_text(&reader->arena, data, bytes);
    if (!reader->tracing_data)
        return pf_fail_memory(error, "tracing data");
    reader->tracing_bytes = bytes;
    reader->tracing_offset = offset;
    return rename_tracepoints(reader, error);
}

static int follow_tracing(struct perfile_reader *reader, struct pf_part *part, const struct perfile_record *record,
                          struct perfile_error *error)
{
    if (record->type == PERFILE_RECORD_SIMPLEPERF_TRACING_DATA) {
        if (record->bytes <= 12)
            return 0;
        uint32_t stated = pf_load32(record->data + 8, reader->file.swapped);
        return keep_tracing(reader, record->data + 12, (size_t)pf_min(stated, record->bytes - 12), record->offset + 12,
                            error);
    }
    if (record->bytes > 16) /* simpleperf put the data inside */
        return keep_tracing(reader, record->data + 12, record->bytes - 12, record->offset + 12, error);
    if (!record->payload_bytes || record->payload_bytes > reader->options.limit_feature_bytes)
        return 0;
    const uint8_t *data;
    size_t got;
    part->window.keep = record->offset;
    int result =
        pf_window_get(&part->window, record->payload_offset, (size_t)record->payload_bytes, &data, &got, error);
    if (result < 0)
        return result;
    return keep_tracing(reader, data, (size_t)pf_min(got, record->payload_bytes), record->payload_offset, error);
}

/* Reports a number that no header can state, so that readers do not use it as a feature. */
static int report_invalid_feature(struct perfile_reader *reader, const struct pf_part *part,
                                  const struct perfile_record *record, uint64_t number, struct perfile_error *error)
{
    char message[128];
    snprintf(message, sizeof(message), "0x%" PRIx64 ": invalid feature number %" PRIu64 ": 1 to %d are possible",
             record->offset, number, PF_FEATURE_NUMBER_MAX);
    const struct perfile_diagnostic invalid = {.rule = "feature-number",
                                               .severity = PERFILE_WARNING,
                                               .offset = record->offset,
                                               .length = record->bytes,
                                               .message = message};
    return pf_diagnose(reader, part, &invalid, error);
}

static int follow_feature(struct perfile_reader *reader, const struct pf_part *part,
                          const struct perfile_record *record, struct perfile_error *error)
{
    if (record->bytes < 16 || reader->feature_count >= PIPE_FEATURES_MAX)
        return 0;
    uint64_t number = pf_load64(record->data + 8, reader->file.swapped);
    const struct perfile_section section = {record->offset + 16, record->bytes - 16};
    if (section.bytes == 0)
        return 0; /* the end mark: the first feature that its writer does not know; flags do not occur in streams */
    if (!pf_feature_is_valid(number))
        return report_invalid_feature(reader, part, record, number, error);
    int result = pf_feature_add(reader, (uint32_t)number, &section, error);
    if (result < 0)
        return result;
    struct pf_feature *feature = &reader->features[reader->feature_count - 1];
    feature->data = (const uint8_t *)pf_arena_text(&reader->arena, record->data + 16, (size_t)section.bytes);
    feature->public.readable = feature->data != NULL;
    feature->from_record = true;
    if (!feature->data)
        return pf_fail_memory(error, "feature");
    if (number == PERFILE_FEATURE_EVENT_DESC)
        return name_by_event_desc(reader, error);
    return number == PERFILE_FEATURE_META_INFO ? name_by_meta_info(reader, error) : 0;
}

static int follow_event_ids(struct perfile_reader *reader, const struct perfile_record *record,
                            struct perfile_error *error)
{
    struct perfile_simpleperf_event_id ids;
    const struct pf_layout layout = pf_layout_of(reader, record);
    if (pf_layout_decode(record, &layout, &ids, NULL) < 0)
        return 0;
    for (uint64_t i = 0; i < ids.entries.count; i++) {
        struct perfile_simpleperf_event_id_entry entry;
        uint64_t known;
        perfile_simpleperf_event_id_entry_at(&ids.entries, i, &entry, sizeof(entry));
        if (entry.attr_index >= reader->event_count || pf_map_get(&reader->ids, entry.id, &known))
            continue;
        const struct perfile_u64s one = {.data = (const uint8_t *)&entry.id, .count = 1};
        int result = pf_events_add_ids(reader, reader->events[entry.attr_index], &one, error);
        if (result < 0)
            return result;
    }
    return 0;
}

int pf_events_follow(struct perfile_reader *reader, struct pf_part *part, const struct perfile_record *record,
                     struct perfile_error *error)
{
    int result = 0;
    if (record->offset < part->followed)
        return 0;
    part->followed = record->offset + 1;
    switch (record->type) {
    case PERFILE_RECORD_HEADER_ATTR:
        result = follow_attr(reader, record, error);
        break;
    case PERFILE_RECORD_EVENT_UPDATE:
        result = follow_update(reader, record, error);
        break;
    case PERFILE_RECORD_HEADER_EVENT_TYPE:
        result = follow_event_type(reader, record, error);
        break;
    case PERFILE_RECORD_HEADER_TRACING_DATA:
    case PERFILE_RECORD_SIMPLEPERF_TRACING_DATA:
        result = follow_tracing(reader, part, record, error);
        break;
    case PERFILE_RECORD_HEADER_FEATURE:
        result = follow_feature(reader, part, record, error);
        break;
    case PERFILE_RECORD_SIMPLEPERF_EVENT_ID:
        result = follow_event_ids(reader, record, error);
        break;
    default:
        break;
    }
    return result < 0 && result != PERFILE_ERROR_LIMIT ? result : 0;
}

/* ---- events that the recording does not have ---- */

enum { ATTR_BYTES = 136 };

int perfile_reader_add_event(struct perfile_reader *reader, const struct perfile_attr *attr,
                             const struct perfile_u64s *ids, const char *name, const struct perfile_event **event,
                             struct perfile_error *error)
{
    uint8_t data[ATTR_BYTES];
    const bool big_endian = reader->file.big_endian;
    struct pf_out out = pf_out_make(data, sizeof(data), big_endian != PF_NATIVE_BIG_ENDIAN);
    pf_encode_attr(attr, sizeof(data), big_endian, &out);
    int result = pf_events_add(reader, data, sizeof(data), PERFILE_NO_OFFSET, error);
    struct pf_event *added = result == 0 ? reader->events[reader->event_count - 1] : NULL;
    if (result == 0)
        result = pf_events_add_ids(reader, added, ids, error);
    if (result == 0)
        result = name ? set_name(reader, added, name, strlen(name), error) : name_by_attr(reader, added, error);
    *event = result == 0 ? &added->public : NULL;
    return result;
}
