/* SPDX-License-Identifier: MIT */
/* Markers: what happened to threads between their samples. */
#include "output/export/firefox.h"

#include <string.h>

#include "base/bytes.h"

/* ---- markers ----------------------------------------------------------------------------------------------------- */

static const char *const kind_names[PF_TIMELINE_KINDS] = {[PF_TIMELINE_FORK] = "fork",
                                                          [PF_TIMELINE_EXEC] = "exec",
                                                          [PF_TIMELINE_EXIT] = "exit",
                                                          [PF_TIMELINE_TRACE] = "tracepoint",
                                                          [PF_TIMELINE_LOST] = "lost records",
                                                          [PF_TIMELINE_THROTTLE] = "throttled",
                                                          [PF_TIMELINE_UNTHROTTLE] = "unthrottled"};
static const char off_name[] = "off CPU";

/* A marker: a mark, or the time that a thread was off the processor, from the switch `out` to the next switch `in`. */
struct marker {
    const struct pf_timeline_mark *mark;
    const struct pf_timeline_switch *out, *in; /* `in` NULL: the thread did not run again */
};

/* Walks the markers of a thread by time. */
struct markers {
    const struct pf_timeline_marks *marks;
    const struct pf_timeline_thread *thread; /* NULL: marks alone */
    size_t mark, change;
};

static bool next_marker(struct markers *walk, struct marker *marker)
{
    const struct pf_timeline_thread *thread = walk->thread;
    while (thread && walk->change < thread->switch_count && thread->switches[walk->change].in)
        walk->change++;
    const struct pf_timeline_switch *out =
        thread && walk->change < thread->switch_count ? &thread->switches[walk->change] : NULL;
    const struct pf_timeline_mark *mark = walk->mark < walk->marks->count ? &walk->marks->items[walk->mark] : NULL;
    *marker = (struct marker){0};
    if (out && (!mark || out->time < mark->time)) {
        walk->change++;
        marker->out = out;
        marker->in = walk->change < thread->switch_count && out[1].in ? out + 1 : NULL;
        return true;
    }
    walk->mark++;
    marker->mark = mark;
    return mark;
}

static const char *name_of_marker(const struct marker *marker)
{
    return marker->out                               ? off_name
           : marker->mark->kind == PF_TIMELINE_TRACE ? marker->mark->event->name
                                                     : kind_names[marker->mark->kind];
}

/* The format's own members. */
static bool is_used(const char *name)
{
    return strcmp(name, "type") == 0 || strcmp(name, "cause") == 0;
}

static void put_field_key(struct pf_firefox *firefox, const char *name)
{
    struct pf_text *scratch = &firefox->scratch;
    scratch->used = 0;
    pf_put_string(scratch, name);
    if (is_used(name))
        pf_put_char(scratch, '_');
    pf_put_json_string(firefox->out, scratch->data, scratch->used);
}

static void put_field(void *context, const struct perfile_tracepoint_field *field, const struct perfile_bytes *bytes)
{
    struct pf_firefox *firefox = context;
    pf_firefox_put(firefox, ",");
    put_field_key(firefox, field->name);
    pf_firefox_put(firefox, ":");
    pf_timeline_put_value(&firefox->timeline, field, bytes, &firefox->scratch, firefox->out);
}

/* Names what markers of a tracepoint are: "event 3", of further recordings "event 1.3". With quotes. */
static void put_event_type(struct pf_firefox *firefox, const struct perfile_event *event)
{
    pf_firefox_put(firefox, "\"event ");
    if (firefox->number)
        pf_put_format(firefox->out, "%u.", firefox->number);
    pf_put_format(firefox->out, "%u\"", (unsigned)event->index);
}

static void put_trace(struct pf_firefox *firefox, const struct pf_timeline_mark *mark)
{
    pf_firefox_put(firefox, "{\"type\":");
    put_event_type(firefox, mark->event);
    pf_firefox_put(firefox, ",\"cause\":{\"time\":");
    pf_firefox_put_moment(firefox, mark->time);
    pf_put_format(firefox->out, ",\"stack\":%u}", (unsigned)pf_firefox_stack_of(firefox, mark->node));
    pf_timeline_fields(&firefox->timeline, mark, put_field, firefox);
    pf_firefox_put(firefox, "}");
}

static void put_mark(struct pf_firefox *firefox, const struct pf_timeline_mark *mark)
{
    if (mark->kind == PF_TIMELINE_TRACE) {
        put_trace(firefox, mark);
        return;
    }
    pf_put_format(firefox->out, "{\"type\":\"%s\"", kind_names[mark->kind]);
    if (mark->kind == PF_TIMELINE_FORK)
        pf_put_format(firefox->out, ",\"thread\":%d", (int)(int32_t)mark->number);
    if (mark->kind == PF_TIMELINE_LOST)
        pf_put_format(firefox->out, ",\"records\":%llu", (unsigned long long)mark->number);
    if (mark->kind == PF_TIMELINE_EXEC && mark->text) {
        pf_firefox_put(firefox, ",\"name\":");
        pf_firefox_put_text(firefox, mark->text);
    }
    if (mark->kind >= PF_TIMELINE_LOST && mark->cpu >= 0)
        pf_put_format(firefox->out, ",\"cpu\":%d", (int)mark->cpu);
    if (mark->kind >= PF_TIMELINE_LOST && mark->event) {
        pf_firefox_put(firefox, ",\"event\":");
        pf_firefox_put_text(firefox, mark->event->name);
    }
    pf_firefox_put(firefox, "}");
}

static void put_marker_data(struct pf_firefox *firefox, const struct marker *marker)
{
    if (marker->mark) {
        put_mark(firefox, marker->mark);
        return;
    }
    const char *state = pf_timeline_state(marker->out);
    pf_put_format(firefox->out, "{\"type\":\"%s\",\"state\":\"%s\"", off_name, state ? state : "");
    if (marker->out->cpu >= 0)
        pf_put_format(firefox->out, ",\"cpu\":%d", (int)marker->out->cpu);
    pf_firefox_put(firefox, "}");
}

static void put_marker_name(struct pf_firefox *firefox, const struct marker *marker)
{
    pf_put_unsigned(firefox->out, pf_firefox_use_text(firefox, name_of_marker(marker)));
}

static void put_marker_start(struct pf_firefox *firefox, const struct marker *marker)
{
    pf_firefox_put_moment(firefox, marker->out ? marker->out->time : marker->mark->time);
}

static void put_marker_end(struct pf_firefox *firefox, const struct marker *marker)
{
    if (marker->in)
        pf_firefox_put_moment(firefox, marker->in->time);
    else
        pf_firefox_put(firefox, "null");
}

static void put_marker_phase(struct pf_firefox *firefox, const struct marker *marker)
{
    pf_firefox_put(firefox, marker->in ? "1" : "0");
}

static void put_marker_category(struct pf_firefox *firefox, const struct marker *marker)
{
    (void)marker;
    pf_put_unsigned(firefox->out, PF_FIREFOX_OTHER);
}

void pf_firefox_put_markers(struct pf_firefox *firefox, const struct pf_timeline_thread *thread,
                            const struct pf_timeline_marks *marks)
{
    static const struct {
        const char *name;
        void (*put)(struct pf_firefox *firefox, const struct marker *marker);
    } columns[] = {{"data", put_marker_data},   {"name", put_marker_name},   {"startTime", put_marker_start},
                   {"endTime", put_marker_end}, {"phase", put_marker_phase}, {"category", put_marker_category}};
    static const struct pf_timeline_marks none = {0};
    const struct markers start = {.marks = marks ? marks : &none, .thread = thread};
    struct marker marker;
    size_t count = 0;
    for (struct markers walk = start; next_marker(&walk, &marker);)
        count++;
    pf_put_format(firefox->out, ",\"markers\":{\"length\":%zu", count);
    for (size_t i = 0; i < PF_COUNT(columns); i++) {
        struct markers walk = start;
        pf_firefox_begin_column(firefox, columns[i].name);
        for (size_t k = 0; next_marker(&walk, &marker); k++) {
            pf_firefox_put_comma(firefox, k);
            columns[i].put(firefox, &marker);
        }
        pf_firefox_put(firefox, "]");
    }
    pf_firefox_put(firefox, "}");
}

/* ---- what markers are -------------------------------------------------------------------------------------------- */

struct schema {
    const char *name, *label, *description;
    struct {
        const char *key, *label, *format;
    } fields[4];
};

static const struct schema schemas[] = {
    {"fork", "{marker.data.thread}", "A thread or process was made.", {{"thread", "New thread", "integer"}}},
    {"exec", "{marker.data.name}", "Another program was started.", {{"name", "Name", "string"}}},
    {"exit", "", "The thread ended.", {{0}}},
    {"lost records",
     "{marker.data.records}",
     "The recorder was too slow: records are missing.",
     {{"records", "Records", "integer"}, {"cpu", "CPU", "integer"}, {"event", "Event", "string"}}},
    {"throttled",
     "{marker.data.event}",
     "The kernel stopped an event that interrupted too often.",
     {{"cpu", "CPU", "integer"}, {"event", "Event", "string"}}},
    {"unthrottled",
     "{marker.data.event}",
     "A throttled event went on.",
     {{"cpu", "CPU", "integer"}, {"event", "Event", "string"}}},
    {"off CPU",
     "{marker.data.state}",
     "The thread did not run.",
     {{"state", "Why", "string"}, {"cpu", "Last CPU", "integer"}}},
};

static void put_schema(struct pf_firefox *firefox, const struct schema *schema)
{
    pf_put_format(
        firefox->out,
        "{\"name\":\"%s\",\"tooltipLabel\":\"%s\",\"tableLabel\":\"%s\",\"chartLabel\":\"%s\",\"description\":"
        "\"%s\",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],\"fields\":[",
        schema->name, schema->name, schema->label, schema->name, schema->description);
    for (size_t i = 0; i < PF_COUNT(schema->fields) && schema->fields[i].key; i++)
        pf_put_format(firefox->out, "%s{\"key\":\"%s\",\"label\":\"%s\",\"format\":\"%s\"}", i ? "," : "",
                      schema->fields[i].key, schema->fields[i].label, schema->fields[i].format);
    pf_firefox_put(firefox, "]}");
}

static bool is_word(const char *name)
{
    return *name && name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] == '\0';
}

/* "prev_comm=gzip prev_pid=12 ...": the first fields. */
static void put_trace_label(struct pf_firefox *firefox, const struct perfile_tracepoint *tracepoint)
{
    enum { FIELDS = 6 };
    pf_firefox_put(firefox, "\"");
    for (size_t i = 0, count = 0; tracepoint && i < tracepoint->field_count && count < FIELDS; i++) {
        const char *name = tracepoint->fields[i].name;
        if (tracepoint->fields[i].is_common || !is_word(name))
            continue;
        pf_firefox_put(firefox, count++ ? " " : "");
        pf_firefox_put(firefox, name);
        pf_firefox_put(firefox, "={marker.data.");
        pf_firefox_put(firefox, name);
        pf_firefox_put(firefox, is_used(name) ? "_}" : "}");
    }
    pf_firefox_put(firefox, "\"");
}

/* Labels are templates: no braces of a name are theirs. */
static void put_plain_label(struct pf_firefox *firefox, const char *name)
{
    struct pf_text *scratch = &firefox->scratch;
    scratch->used = 0;
    for (; *name; name++)
        pf_put_char(scratch, *name == '{' ? '(' : *name == '}' ? ')' : *name);
    pf_put_json_string(firefox->out, scratch->data, scratch->used);
}

static void put_trace_schema(struct pf_firefox *firefox, const struct perfile_event *event)
{
    const struct perfile_tracepoint *tracepoint = pf_timeline_tracepoint(&firefox->timeline, event);
    bool comma = false;
    pf_firefox_put(firefox, ",{\"name\":");
    put_event_type(firefox, event);
    pf_firefox_put(firefox, ",\"tooltipLabel\":");
    put_plain_label(firefox, event->name);
    pf_firefox_put(firefox, ",\"chartLabel\":");
    put_plain_label(firefox, event->name);
    pf_firefox_put(firefox, ",\"tableLabel\":");
    put_trace_label(firefox, tracepoint);
    pf_firefox_put(firefox, ",\"display\":[\"marker-chart\",\"marker-table\"],\"fields\":[");
    for (size_t i = 0; tracepoint && i < tracepoint->field_count; i++) {
        const struct perfile_tracepoint_field *field = &tracepoint->fields[i];
        if (field->is_common)
            continue;
        pf_firefox_put(firefox, comma ? ",{\"key\":" : "{\"key\":");
        put_field_key(firefox, field->name);
        pf_firefox_put(firefox, ",\"label\":");
        pf_firefox_put_text(firefox, field->name);
        pf_put_format(firefox->out, ",\"format\":\"%s\"}", pf_timeline_is_number(field) ? "integer" : "string");
        comma = true;
    }
    pf_firefox_put(firefox, "]}");
}

void pf_firefox_put_schemas(struct pf_firefox *firefox)
{
    for (size_t i = 0; i < PF_COUNT(schemas); i++) {
        pf_firefox_put_comma(firefox, i);
        put_schema(firefox, &schemas[i]);
    }
}

void pf_firefox_put_trace_schemas(struct pf_firefox *firefox)
{
    const struct perfile_event *event;
    for (size_t i = 0; (event = perfile_event_get(firefox->timeline.reader, i)); i++)
        if (event->attr->type == PERFILE_TYPE_TRACEPOINT && pf_timeline_has_samples(&firefox->timeline, event))
            put_trace_schema(firefox, event);
}
