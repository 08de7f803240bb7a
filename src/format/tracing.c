/* SPDX-License-Identifier: MIT */
#include "format/tracing.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/map.h"

/* ---- the blob ------------------------------------------------------------------------------------------------- */

struct blob {
    struct pf_cursor c;
    struct pf_emit *e;
    const char *version;
    bool big_endian;
    uint8_t long_bytes;
    uint32_t page_bytes;
    struct perfile_error *error;
    int result;
};

static const char blob_name[] = "tracing data";

static void damage(struct blob *b, const char *text)
{
    if (!b->c.failed && !b->result)
        b->result = pf_fail(b->error, PERFILE_ERROR_DAMAGED, pf_cursor_offset(&b->c), blob_name, "%s", text);
    pf_cursor_fail(&b->c, 0);
}

static bool goes_on(const struct blob *b)
{
    return !b->c.failed && !b->e->stopped;
}

/* The bytes must be these. */
static void take_mark(struct blob *b, const char *mark, size_t bytes)
{
    const uint8_t *there = pf_cursor_take(&b->c, bytes);
    if (!there || memcmp(there, mark, bytes) == 0)
        return;
    b->c.at = there;
    damage(b, "magic missing here");
}

/* The blob has a byte order of its own, whatever that of the file. */
static void take_header(struct blob *b)
{
    static const char magic[] = "\x17\x08\x44tracing";
    size_t bytes;
    take_mark(b, magic, sizeof(magic) - 1);
    b->version = pf_cursor_text(&b->c, &bytes);
    uint8_t endian = pf_cursor_u8(&b->c);
    if (endian > 1)
        damage(b, "its byte order is neither 0 nor 1");
    b->big_endian = endian == 1;
    b->c.swap = b->big_endian != PF_NATIVE_BIG_ENDIAN;
    b->long_bytes = pf_cursor_u8(&b->c);
    b->page_bytes = pf_cursor_u32(&b->c);
}

static void show_text(struct blob *b, const char *name, uint64_t bytes)
{
    const uint8_t *text = goes_on(b) ? pf_cursor_take(&b->c, bytes) : NULL;
    if (text)
        pf_emit_text(b->e, name, text, (size_t)bytes);
}

static void show_marked_text(struct blob *b, const char *name)
{
    take_mark(b, name, strlen(name) + 1);
    show_text(b, name, pf_cursor_u64(&b->c));
}

/* Shows a u32 count and as many texts, each with a u64 size. */
static void show_texts(struct blob *b, const char *name)
{
    if (!goes_on(b))
        return;
    pf_emit_begin(b->e, name, true);
    uint32_t count = pf_cursor_u32(&b->c);
    for (uint32_t i = 0; i < count && goes_on(b); i++)
        show_text(b, NULL, pf_cursor_u64(&b->c));
    pf_emit_end(b->e, true);
}

static void show_system(struct blob *b)
{
    size_t bytes;
    const char *name = pf_cursor_text(&b->c, &bytes);
    if (b->c.failed)
        return;
    pf_emit_begin(b->e, NULL, false);
    pf_emit_text(b->e, "name", name, bytes);
    show_texts(b, "formats");
    pf_emit_end(b->e, false);
}

static void show_systems(struct blob *b)
{
    if (!goes_on(b))
        return;
    pf_emit_begin(b->e, "systems", true);
    uint32_t count = pf_cursor_u32(&b->c);
    for (uint32_t i = 0; i < count && goes_on(b); i++)
        show_system(b);
    pf_emit_end(b->e, true);
}

/* Names of threads are there since version 0.6. */
static bool has_saved_cmdlines(const struct blob *b)
{
    unsigned major = 0, minor = 0;
    return pf_take_version(b->version, &major, &minor) && (major > 0 || minor >= 6);
}

static void show_rest(struct blob *b)
{
    pf_emit_text(b->e, "version", b->version, strlen(b->version));
    pf_emit_bool(b->e, "bigendian", b->big_endian);
    pf_emit_unsigned(b->e, "long_size", PERFILE_MEANS_BYTES, b->long_bytes);
    pf_emit_unsigned(b->e, "page_size", PERFILE_MEANS_BYTES, b->page_bytes);
    show_marked_text(b, "header_page");
    show_marked_text(b, "header_event");
    show_texts(b, "ftrace");
    show_systems(b);
    show_text(b, "kallsyms", pf_cursor_u32(&b->c));
    show_text(b, "printk", pf_cursor_u32(&b->c));
    if (goes_on(b) && has_saved_cmdlines(b))
        show_text(b, "saved_cmdline", pf_cursor_u64(&b->c));
}

/* Shows the members; false when the bytes are not a blob at all. b->result says whether it is complete. */
static bool show_blob(struct blob *b)
{
    take_header(b);
    bool is_blob = !b->c.failed;
    if (is_blob)
        show_rest(b);
    if (b->c.failed && !b->result)
        b->result = pf_cursor_error(&b->c, blob_name, b->error);
    return is_blob;
}

size_t pf_tracing_emit(const uint8_t *data, size_t bytes, uint64_t offset, const char *name, struct pf_emit *e)
{
    struct perfile_error error = {0};
    struct blob b = {.c = pf_cursor_make(data, bytes, offset, false), .e = e, .error = &error};
    pf_emit_begin(e, name, false);
    show_blob(&b);
    if (b.result)
        pf_emit_text(e, "error", error.message, strlen(error.message));
    pf_emit_end(e, false);
    return pf_cursor_left(&b.c);
}

bool pf_tracing_find_systems(const uint8_t *data, size_t bytes, struct pf_tracing_systems *systems)
{
    const struct perfile_visitor none = {.size = sizeof(none)};
    struct pf_emit e = {.visitor = &none};
    struct perfile_error error = {0};
    struct blob b = {.c = pf_cursor_make(data, bytes, 0, false), .e = &e, .error = &error};
    take_header(&b);
    show_marked_text(&b, "header_page");
    show_marked_text(&b, "header_event");
    show_texts(&b, "ftrace");
    systems->start = (size_t)pf_cursor_offset(&b.c);
    struct pf_cursor count = b.c;
    systems->count = pf_cursor_u32(&count);
    show_systems(&b);
    systems->end = (size_t)pf_cursor_offset(&b.c);
    systems->long_bytes = b.long_bytes;
    systems->big_endian = b.big_endian;
    systems->swap = b.c.swap;
    return !b.c.failed;
}

/* ---- format texts --------------------------------------------------------------------------------------------- */

struct span {
    const char *at;
    const char *end;
};

static size_t span_length(struct span s)
{
    return (size_t)(s.end - s.at);
}

/* Cuts off what stands before `separator`, which goes too; without one, everything. */
static struct span span_cut(struct span *rest, char separator)
{
    const char *found = span_length(*rest) ? memchr(rest->at, separator, span_length(*rest)) : NULL;
    struct span piece = {rest->at, found ? found : rest->end};
    rest->at = found ? found + 1 : rest->end;
    return piece;
}

static struct span span_trim(struct span s)
{
    while (s.at < s.end && (*s.at == ' ' || *s.at == '\t'))
        s.at++;
    while (s.at < s.end && (s.end[-1] == ' ' || s.end[-1] == '\t' || s.end[-1] == '\r'))
        s.end--;
    return s;
}

static bool span_skip(struct span *s, const char *start)
{
    size_t length = strlen(start);
    if (span_length(*s) < length || memcmp(s->at, start, length) != 0)
        return false;
    s->at += length;
    return true;
}

static bool span_is(struct span s, const char *text)
{
    return span_skip(&s, text) && s.at == s.end;
}

/* A decimal number that is all there is. */
static bool span_number(struct span s, uint32_t *number)
{
    uint64_t value = 0;
    s = span_trim(s);
    if (s.at == s.end)
        return false;
    for (; s.at < s.end; s.at++) {
        if (*s.at < '0' || *s.at > '9')
            return false;
        value = value * 10 + (uint64_t)(*s.at - '0');
        if (value > UINT32_MAX)
            return false;
    }
    *number = (uint32_t)value;
    return true;
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* "TYPE NAME[COUNT]..." in its parts. */
struct declaration {
    struct span type;
    struct span name;
    bool has_brackets;
    uint64_t count; /* of all elements; 0 when one count is an expression: "[TASK_COMM_LEN]" */
};

static bool split_declaration(struct span text, struct declaration *d)
{
    *d = (struct declaration){.type = span_trim(text), .count = 1};
    struct span *s = &d->type;
    while (s->at < s->end && s->end[-1] == ']') {
        const char *close = s->end - 1;
        while (s->end > s->at && s->end[-1] != '[')
            s->end--;
        if (s->at == s->end)
            return false;
        uint32_t count = 0;
        span_number((struct span){s->end, close}, &count);
        d->count = d->count > UINT32_MAX ? 0 : d->count * count;
        d->has_brackets = true;
        s->end--;
        *s = span_trim(*s);
    }
    d->name = (struct span){s->end, s->end};
    while (d->name.at > s->at && is_name_char(d->name.at[-1]))
        d->name.at--;
    s->end = d->name.at;
    *s = span_trim(*s);
    return span_length(d->name) && span_length(*s);
}

/* The size of the C types that the kernel's formats use for elements; 0 when unknown. */
static uint32_t type_bytes(struct span type, uint8_t long_bytes)
{
    static const struct {
        const char *name;
        uint8_t bytes; /* 0: that of a long */
    } types[] = {{"char", 1},     {"bool", 1},    {"_Bool", 1},     {"u8", 1},       {"s8", 1},     {"__u8", 1},
                 {"__s8", 1},     {"uint8_t", 1}, {"short", 2},     {"u16", 2},      {"s16", 2},    {"__u16", 2},
                 {"__s16", 2},    {"__le16", 2},  {"__be16", 2},    {"uint16_t", 2}, {"int", 4},    {"unsigned", 4},
                 {"u32", 4},      {"s32", 4},     {"__u32", 4},     {"__s32", 4},    {"__le32", 4}, {"__be32", 4},
                 {"uint32_t", 4}, {"pid_t", 4},   {"long long", 8}, {"u64", 8},      {"s64", 8},    {"__u64", 8},
                 {"__s64", 8},    {"__le64", 8},  {"__be64", 8},    {"uint64_t", 8}, {"long", 0},   {"size_t", 0},
                 {"uintptr_t", 0}};
    if (!span_skip(&type, "unsigned "))
        span_skip(&type, "signed ");
    if (type.at < type.end && type.end[-1] == '*')
        return long_bytes;
    for (size_t i = 0; i < PF_COUNT(types); i++)
        if (span_is(type, types[i].name))
            return types[i].bytes ? types[i].bytes : long_bytes;
    return 0;
}

/* The type of one element: "const __data_loc char[]" without all but "char". */
static struct span element_type(struct span type)
{
    static const char *const words[] = {"__data_loc ", "__rel_loc ", "const ", "volatile "};
    for (size_t i = 0; i < PF_COUNT(words); i++)
        if (span_skip(&type, words[i]))
            i = SIZE_MAX; /* they stand in any order */
    if (span_length(type) >= 2 && memcmp(type.end - 2, "[]", 2) == 0)
        type.end -= 2;
    return span_trim(type);
}

static uint32_t element_bytes(const struct perfile_tracepoint_field *field, const struct declaration *d,
                              uint8_t long_bytes)
{
    if (!field->is_dynamic && d->count && field->bytes % d->count == 0)
        return (uint32_t)(field->bytes / d->count);
    uint32_t bytes = type_bytes(element_type(d->type), long_bytes);
    return bytes ? bytes : 1;
}

/* "field:TYPE NAME[COUNT]; offset:N; size:N; signed:N;" without "field:". */
static bool parse_field(struct span line, uint8_t long_bytes, struct perfile_tracepoint_field *field,
                        struct declaration *d)
{
    if (!split_declaration(span_cut(&line, ';'), d))
        return false;
    uint32_t is_signed = 0;
    bool has_offset = false, has_size = false;
    *field = (struct perfile_tracepoint_field){0};
    while (line.at < line.end) {
        struct span part = span_trim(span_cut(&line, ';'));
        if (span_skip(&part, "offset:"))
            has_offset = span_number(part, &field->offset);
        else if (span_skip(&part, "size:"))
            has_size = span_number(part, &field->bytes);
        else if (span_skip(&part, "signed:")) /* since 2.6.33 */
            span_number(part, &is_signed);
    }
    struct span type = d->type, name = d->name;
    field->is_signed = is_signed != 0;
    field->is_relative = span_skip(&type, "__rel_loc ");
    field->is_dynamic = field->is_relative || span_skip(&type, "__data_loc ");
    field->is_array = d->has_brackets || field->is_dynamic;
    field->is_common = span_skip(&name, "common_");
    field->is_text = field->is_array && span_is(element_type(d->type), "char");
    field->element_bytes = field->is_array ? element_bytes(field, d, long_bytes) : field->bytes;
    return has_offset && has_size;
}

/* ---- keeping it ----------------------------------------------------------------------------------------------- */

struct pf_tracing {
    const struct perfile_allocator *allocator;
    struct pf_arena arena;
    struct pf_map by_id;
    struct perfile_tracing view;
    struct perfile_tracepoint *tracepoints;
    size_t capacity;
};

/* Listens to the walk over the blob and keeps what it hears. */
struct keeper {
    struct pf_tracing *tracing;
    const struct blob *blob;
    const char *system;
    bool in_formats;
    bool memory_short;
    bool bad_format;
};

static const char *keep_text(struct keeper *k, const void *text, size_t bytes)
{
    char *copy = pf_arena_text(&k->tracing->arena, text, bytes);
    if (!copy)
        k->memory_short = true;
    return copy;
}

static const char *keep_span(struct keeper *k, struct span s)
{
    return keep_text(k, s.at, span_length(s));
}

/* Parses the fields of a text into `fields`, which is large enough for all; NULL: only counts them. */
static size_t parse_fields(struct keeper *k, struct span text, struct perfile_tracepoint_field *fields)
{
    size_t count = 0;
    while (text.at < text.end) {
        struct perfile_tracepoint_field field;
        struct declaration d;
        struct span line = span_trim(span_cut(&text, '\n'));
        if (span_skip(&line, "print fmt:"))
            break;
        if (!span_skip(&line, "field:") || !parse_field(line, k->blob->long_bytes, &field, &d))
            continue;
        if (fields) {
            fields[count] = field;
            fields[count].name = keep_span(k, d.name);
            fields[count].type = keep_span(k, d.type);
        }
        count++;
    }
    return count;
}

/* The lines that are not fields. False without an id or a name. */
static bool parse_heading(struct keeper *k, struct span text, struct perfile_tracepoint *t)
{
    bool has_id = false;
    while (text.at < text.end) {
        struct span line = span_cut(&text, '\n');
        if (span_skip(&line, "name:") && !t->name)
            t->name = keep_span(k, span_trim(line));
        else if (span_skip(&line, "ID:"))
            has_id = span_number(line, &t->id);
        else if (span_skip(&line, "print fmt:")) {
            line = (struct span){line.at, text.end}; /* goes to the end, over several lines */
            while (line.at < line.end && line.end[-1] == '\n')
                line.end--;
            t->print_fmt = keep_span(k, span_trim(line));
            break;
        }
    }
    return has_id && t->name;
}

static void keep_format(struct keeper *k, struct span text)
{
    struct pf_tracing *tracing = k->tracing;
    size_t index = tracing->view.tracepoint_count;
    struct perfile_tracepoint t = {.system = k->system};
    if (!parse_heading(k, text, &t)) {
        k->bad_format = true;
        return;
    }
    t.format = keep_span(k, text);
    t.field_count = parse_fields(k, text, NULL);
    struct perfile_tracepoint_field *fields = pf_arena_new(&tracing->arena, t.field_count * sizeof(*fields));
    if (!fields || !pf_grow(tracing->allocator, &tracing->tracepoints, &tracing->capacity, index + 1, sizeof(t)) ||
        !pf_map_put(&tracing->by_id, t.id, index)) {
        k->memory_short = true;
        return;
    }
    parse_fields(k, text, fields);
    t.fields = fields;
    tracing->tracepoints[index] = t;
    tracing->view.tracepoint_count++;
}

static int keep_begin(void *context, const char *name, bool list)
{
    struct keeper *k = context;
    if (list && name)
        k->in_formats = strcmp(name, "formats") == 0;
    return 0;
}

static int keep_end(void *context, bool list)
{
    (void)context;
    (void)list;
    return 0;
}

static int keep_value(void *context, const struct perfile_value *value)
{
    struct keeper *k = context;
    struct perfile_tracing *view = &k->tracing->view;
    const struct {
        const char *name;
        const char **text;
        size_t *bytes;
    } kept[] = {{"version", &view->version, NULL},
                {"name", &k->system, NULL},
                {"kallsyms", &view->kallsyms, &view->kallsyms_bytes},
                {"printk", &view->printk_formats, &view->printk_formats_bytes},
                {"saved_cmdline", &view->saved_cmdlines, &view->saved_cmdlines_bytes}};
    if (!value->name && k->in_formats)
        keep_format(k, (struct span){(const char *)value->data, (const char *)value->data + value->bytes});
    for (size_t i = 0; value->name && i < PF_COUNT(kept); i++) {
        if (strcmp(value->name, kept[i].name) == 0) {
            *kept[i].text = keep_text(k, value->data, value->bytes);
            if (kept[i].bytes)
                *kept[i].bytes = value->bytes;
        }
    }
    return k->memory_short;
}

/* Returns 0, 1 (damaged after the header) or an error. */
static int keep_blob(struct pf_tracing *tracing, struct blob *b)
{
    struct keeper k = {.tracing = tracing, .blob = b};
    struct perfile_visitor visitor = {
        .size = sizeof(visitor), .context = &k, .begin = keep_begin, .end = keep_end, .value = keep_value};
    struct pf_emit e = {.visitor = &visitor};
    b->e = &e;
    bool is_blob = show_blob(b);
    if (k.memory_short)
        return pf_fail_memory(b->error, blob_name);
    if (!is_blob)
        return b->result;
    if (k.bad_format && !b->result)
        b->result = pf_fail(b->error, PERFILE_ERROR_DAMAGED, b->c.offset, blob_name, "format without name or ID");
    tracing->view.big_endian = b->big_endian;
    tracing->view.long_bytes = b->long_bytes;
    tracing->view.page_bytes = b->page_bytes;
    tracing->view.tracepoints = tracing->tracepoints;
    return b->result ? 1 : 0;
}

int pf_tracing_open(const uint8_t *data, size_t bytes, uint64_t offset, const struct perfile_allocator *allocator,
                    struct pf_tracing **tracing, struct perfile_error *error)
{
    allocator = pf_allocator_or_default(allocator);
    *tracing = NULL;
    struct pf_tracing *t = pf_new(allocator, sizeof(*t));
    if (!t)
        return pf_fail_memory(error, blob_name);
    t->allocator = allocator;
    t->view.kallsyms = t->view.printk_formats = t->view.saved_cmdlines = "";
    pf_arena_open(&t->arena, allocator);
    pf_map_open(&t->by_id, allocator);
    struct blob b = {.c = pf_cursor_make(data, bytes, offset, false), .error = error};
    int result = keep_blob(t, &b);
    if (result < 0)
        pf_tracing_close(t);
    else
        *tracing = t;
    return result;
}

void pf_tracing_close(struct pf_tracing *tracing)
{
    if (!tracing)
        return;
    pf_free(tracing->allocator, tracing->tracepoints, tracing->capacity * sizeof(*tracing->tracepoints));
    pf_map_close(&tracing->by_id);
    pf_arena_close(&tracing->arena);
    pf_free(tracing->allocator, tracing, sizeof(*tracing));
}

const struct perfile_tracing *pf_tracing_view(const struct pf_tracing *tracing)
{
    return &tracing->view;
}

const struct perfile_tracepoint *pf_tracing_find(const struct pf_tracing *tracing, uint64_t id)
{
    uint64_t index;
    return pf_map_get(&tracing->by_id, id, &index) ? &tracing->tracepoints[index] : NULL;
}
