/* SPDX-License-Identifier: MIT */
/* Columns of fields of tracepoints: "next_pid" of all that have it, "sched:sched_switch.next_pid" of one. */
#include "analysis/report/columns.h"
#include "analysis/trace/trace_format.h"
#include "base/bytes.h"

static bool is_tracepoint_called(const struct perfile_event *event, const char *name)
{
    const char *colon = strchr(event->name, ':');
    return strcmp(event->name, name) == 0 || (colon && strcmp(colon + 1, name) == 0);
}

static const struct perfile_tracepoint_field *find_field(const struct pf_report *report,
                                                         const struct perfile_event *event, const char *name)
{
    const struct perfile_tracing *tracing;
    if (pf_memory_check(report->allocator, perfile_tracing_get(report->reader, &tracing, NULL)) < 0)
        return NULL;
    const struct perfile_tracepoint *tracepoint = perfile_tracepoint_find(report->reader, event);
    return tracepoint ? pf_trace_field(tracepoint, name) : NULL;
}

/* The field of the current event, looked up once for neighbours of one event. */
static const struct perfile_tracepoint_field *field_of(struct pf_report *report, struct pf_report_field *field,
                                                       const struct perfile_event *event)
{
    if (field->seen == event)
        return field->found;
    const bool wanted = !field->event || is_tracepoint_called(event, field->event);
    field->seen = event;
    field->found = wanted ? find_field(report, event, field->name) : NULL;
    return field->found;
}

/* Finds the word after "NAME=" in the event's text, which is nicer than the bare value: "flags=A|B" rather than 3. */
static bool take_word(const struct pf_text *text, const char *name, const char **word, size_t *bytes)
{
    const size_t length = strlen(name);
    const char *at = text->data, *end = text->data + text->used;
    while (at < end) {
        const char *blank = memchr(at, ' ', (size_t)(end - at));
        const char *next = blank ? blank : end;
        if ((size_t)(next - at) > length && memcmp(at, name, length) == 0 && at[length] == '=') {
            *word = at + length + 1;
            *bytes = (size_t)(next - *word);
            return true;
        }
        at = next + 1;
    }
    return false;
}

static uint64_t take_text(struct pf_report *report, const struct pf_report_field *field,
                          const struct pf_profile_sample *sample)
{
    const struct perfile_bytes *raw = &sample->decoded->raw;
    const bool swap = perfile_reader_file(report->reader)->swapped;
    struct perfile_bytes bytes;
    const char *word;
    size_t word_bytes;
    struct pf_text *text = &report->texts.scratch;
    text->used = 0;
    report->texts.short_of_memory |= !pf_trace_texts_put(&report->texts.traces, sample->event, raw, text);
    if (take_word(text, field->name, &word, &word_bytes))
        return pf_report_intern(report, word, word_bytes);
    text->used = 0;
    if (pf_trace_bytes(field->found, raw, swap, &bytes))
        pf_trace_put_value(field->found, &bytes, swap, text);
    return pf_report_intern_scratch(report);
}

static void take(struct pf_report *report, struct pf_report_keyed *keyed, const struct pf_profile_sample *sample,
                 unsigned number)
{
    static const char none[] = "N/A";
    struct pf_report_field *field = &report->layout.fields[number];
    keyed->values[PF_VALUE_FIELDS + number] = field_of(report, field, sample->event)
                                                  ? take_text(report, field, sample)
                                                  : pf_report_intern(report, none, sizeof(none) - 1);
}

static const char *text_of(const struct pf_report *report, const struct pf_report_row *row, unsigned number)
{
    const uint64_t value = pf_report_value(report, row, PF_VALUE_FIELDS + number);
    return value ? (const char *)(uintptr_t)value : "";
}

/* Numbers by their value, all else as text; the greater first, as in perf. */
static int compare(const char *a, const char *b)
{
    const size_t x = strspn(a, "0123456789"), y = strspn(b, "0123456789");
    if (x && y && !a[x] && !b[y] && x != y)
        return x > y ? -1 : 1;
    return strcmp(b, a);
}

#define FIELD(n)                                                                                                       \
    static void take_##n(struct pf_report *report, struct pf_report_keyed *keyed,                                      \
                         const struct pf_profile_sample *sample)                                                       \
    {                                                                                                                  \
        take(report, keyed, sample, n);                                                                                \
    }                                                                                                                  \
    static int compare_##n(const struct pf_report *report, const struct pf_report_row *a,                              \
                           const struct pf_report_row *b)                                                              \
    {                                                                                                                  \
        return compare(text_of(report, a, n), text_of(report, b, n));                                                  \
    }                                                                                                                  \
    static void text_##n(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)        \
    {                                                                                                                  \
        pf_put_interned(text, pf_report_value(report, row, PF_VALUE_FIELDS + n));                                      \
    }
FIELD(0)
FIELD(1)
FIELD(2)
FIELD(3)
FIELD(4)
FIELD(5)
FIELD(6)
FIELD(7)

static const struct {
    void (*take)(struct pf_report *report, struct pf_report_keyed *keyed, const struct pf_profile_sample *sample);
    int (*compare)(const struct pf_report *report, const struct pf_report_row *a, const struct pf_report_row *b);
    void (*text)(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text);
} functions[PF_REPORT_FIELDS] = {
    {take_0, compare_0, text_0}, {take_1, compare_1, text_1}, {take_2, compare_2, text_2}, {take_3, compare_3, text_3},
    {take_4, compare_4, text_4}, {take_5, compare_5, text_5}, {take_6, compare_6, text_6}, {take_7, compare_7, text_7},
};

bool pf_report_column_applies(const struct pf_report *report, const struct pf_report_column *column,
                              const struct perfile_event *event)
{
    if (!pf_report_class_occurs(report, column, event))
        return false;
    for (size_t i = 0; i < report->layout.field_count; i++) {
        const struct pf_report_field *field = &report->layout.fields[i];
        if (&field->column == column)
            return (!field->event || is_tracepoint_called(event, field->event)) &&
                   find_field(report, event, field->name);
    }
    return true;
}

static bool any_has(struct pf_report *report, const char *event_name, const char *name)
{
    const struct perfile_event *event;
    for (size_t i = 0; (event = perfile_event_get(report->reader, i)) != NULL; i++)
        if ((!event_name || is_tracepoint_called(event, event_name)) && find_field(report, event, name))
            return true;
    return false;
}

static bool is_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* One that has its column already. */
static const struct pf_report_column *known_column(const struct pf_report *report, const char *event, const char *name)
{
    for (size_t i = 0; i < report->layout.field_count; i++)
        if (is_same(report->layout.fields[i].event, event) && strcmp(report->layout.fields[i].name, name) == 0)
            return &report->layout.fields[i].column;
    return NULL;
}

/* In pipe mode nothing is known of the events yet: then the event must be named. */
const struct pf_report_column *pf_report_field_column(struct pf_report *report, const char *word, size_t bytes)
{
    char *text = pf_arena_text(&report->texts.arena, word, bytes);
    char *dot = text ? strrchr(text, '.') : NULL;
    if (!text)
        return NULL;
    if (dot)
        *dot = '\0';
    const char *event = dot ? text : NULL, *name = dot ? dot + 1 : text;
    const struct pf_report_column *known = known_column(report, event, name);
    if (known)
        return known;
    if (report->layout.field_count == PF_REPORT_FIELDS ||
        (!(dot && !perfile_event_count(report->reader)) && !any_has(report, event, name)))
        return NULL;
    const size_t number = report->layout.field_count++;
    struct pf_report_field *field = &report->layout.fields[number];
    *field = (struct pf_report_field){.event = event, .name = name};
    field->column = (struct pf_report_column){.name = name,
                                              .header = name,
                                              .of = PF_COLUMN_OF_SAMPLE,
                                              .type = PERFILE_COLUMN_TEXT,
                                              .right = true,
                                              .kept = true,
                                              .position = (uint8_t)(PF_VALUE_FIELDS + number),
                                              .take = functions[number].take,
                                              .compare = functions[number].compare,
                                              .text = functions[number].text};
    return &field->column;
}
