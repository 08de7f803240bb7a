/* SPDX-License-Identifier: MIT */
/* Tracepoints: the texts that describe them, and the data that samples have of them. */
#include "base/error.h"
#include "edit/anonymize.h"
#include "format/tracing.h"

/* ---- the tracing data: a copy, in which texts are written over or left out ---- */

struct tracing {
    struct pf_anonymizer *a;
    uint8_t *copy;
    const uint8_t *original;
    size_t bytes;
    size_t consumed; /* of the copy, that is in a->body already */
    bool known_system;
    bool failed, memory_short;
    bool swap;
};

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void scrub_word(struct pf_anonymizer *a, char *word, size_t bytes)
{
    char token[256];
    size_t digits = 0;
    while (digits < bytes && word[digits] >= '0' && word[digits] <= '9')
        digits++;
    if ((digits == bytes && bytes <= 10) || pf_anon_is_word(a, PF_WORD_FORMAT, word, bytes))
        return;
    for (size_t i = 0; i < bytes; i += sizeof(token)) {
        const size_t piece = pf_min(bytes - i, sizeof(token));
        pf_anon_token(a, word + i, piece, token, piece);
        memcpy(word + i, token, piece);
    }
}

/* "%-16lx": what printf goes by stays. */
static size_t conversion_bytes(const char *text, size_t bytes)
{
    size_t i = 1;
    while (i < bytes && strchr("-+ #0123456789.*hlzjt", text[i]) && text[i])
        i++;
    return pf_min(i + 1, bytes);
}

/* The words that are not those of every format are written over; nothing changes its length. */
static void scrub(struct pf_anonymizer *a, char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes;) {
        size_t end = i;
        while (end < bytes && is_name_char(text[end]))
            end++;
        if (end > i)
            scrub_word(a, text + i, end - i);
        else if (text[i] == '%')
            end = i + conversion_bytes(text + i, bytes - i);
        else if ((unsigned char)text[i] >= 0x7f || ((unsigned char)text[i] < ' ' && !strchr("\n\t", text[i])))
            text[end++] = ' ';
        else
            end = i + 1;
        i = end;
    }
}

static void take(struct tracing *t, size_t to)
{
    if (to > t->consumed && !pf_anon_append(t->a, t->copy + t->consumed, to - t->consumed))
        t->memory_short = true;
    t->consumed = pf_max(t->consumed, to);
}

/* Leaves out a text, which follows its length of 4 or 8 bytes. */
static void leave_out(struct tracing *t, const struct perfile_value *value, size_t length_bytes)
{
    static const uint8_t zeros[8];
    const size_t at = (size_t)(value->data - t->original);
    if (!value->bytes)
        return;
    take(t, at - length_bytes);
    t->memory_short |= !pf_anon_append(t->a, zeros, length_bytes);
    t->consumed = at + value->bytes;
    pf_anon_count(t->a, PF_ANON_TRACING, PF_ANON_DROP);
}

static bool is_version(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if ((text[i] < '0' || text[i] > '9') && text[i] != '.')
            return false;
    return bytes > 0 && bytes < 8;
}

static void on_system_name(struct tracing *t, char *text, size_t bytes)
{
    struct pf_anonymizer *a = t->a;
    t->known_system =
        pf_anon_keeps(a, PF_ANON_EVENTS) || (!a->strict && pf_anon_is_word(a, PF_WORD_SYSTEM, text, bytes));
    if (t->known_system)
        return;
    char token[256];
    const size_t length = pf_min(bytes, sizeof(token));
    pf_anon_token(a, text, bytes, token, length);
    memcpy(text, token, length);
    if (bytes > length)
        memset(text + length, 'x', bytes - length);
}

static void on_format(struct tracing *t, char *text, size_t bytes)
{
    const bool stays = t->known_system || pf_anon_keeps(t->a, PF_ANON_EVENTS);
    pf_anon_count(t->a, PF_ANON_TRACING, stays ? PF_ANON_KEEP : PF_ANON_CHANGE);
    if (!stays)
        scrub(t->a, text, bytes);
}

static int on_begin(void *context, const char *name, bool list)
{
    struct tracing *t = context;
    if (list && name && strcmp(name, "ftrace") == 0)
        t->known_system = !t->a->strict;
    return 0;
}

static int on_value(void *context, const struct perfile_value *value)
{
    struct tracing *t = context;
    const char *name = value->name;
    const bool inside =
        (uintptr_t)value->data >= (uintptr_t)t->original && (uintptr_t)value->data - (uintptr_t)t->original <= t->bytes;
    if (value->kind != PERFILE_VALUE_TEXT)
        return 0;
    if (name && strcmp(name, "error") == 0)
        t->failed = true;
    if (!inside)
        return 0; /* empty, or a message */
    char *text = (char *)t->copy + (value->data - t->original);
    if (!name)
        on_format(t, text, value->bytes);
    else if (strcmp(name, "name") == 0)
        on_system_name(t, text, value->bytes);
    else if (strcmp(name, "version") == 0)
        t->failed |= !is_version(text, value->bytes);
    else if (strcmp(name, "kallsyms") == 0 || strcmp(name, "printk") == 0)
        leave_out(t, value, 4);
    else if (strcmp(name, "saved_cmdline") == 0)
        leave_out(t, value, 8);
    else
        scrub(t->a, text, value->bytes); /* header_page, header_event */
    return t->memory_short;
}

static int rewrite(struct tracing *t, struct perfile_bytes *body, struct perfile_error *error)
{
    const struct perfile_visitor visitor = {
        .size = sizeof(visitor), .context = t, .begin = on_begin, .value = on_value};
    struct pf_emit e = {.visitor = &visitor};
    const size_t left = pf_tracing_emit(t->original, t->bytes, 0, NULL, &e);
    if (t->failed || left > t->bytes)
        return PF_EDIT_DROP;
    take(t, t->bytes - left);
    if (t->memory_short)
        return pf_fail_memory(error, "tracing data");
    *body = (struct perfile_bytes){t->a->body, t->a->body_bytes};
    return PF_EDIT_KEEP;
}

int pf_anon_tracing(struct pf_anonymizer *a, struct perfile_bytes *body, struct perfile_error *error)
{
    struct tracing t = {.a = a, .original = body->data, .bytes = (size_t)body->bytes};
    t.copy = pf_new(a->allocator, t.bytes + 1);
    if (!t.copy)
        return pf_fail_memory(error, "tracing data");
    memcpy(t.copy, body->data, t.bytes);
    int result = rewrite(&t, body, error);
    pf_free(a->allocator, t.copy, t.bytes + 1);
    return result;
}

/* ---- data of tracepoints ---- */

struct raw {
    struct pf_anonymizer *a;
    const uint8_t *from;
    uint8_t *to; /* zeros, until something is known to be harmless */
    uint32_t bytes;
    uint8_t long_bytes;
    bool swap;
};

static uint64_t load(const struct raw *raw, uint32_t at, uint32_t bytes)
{
    switch (bytes) {
    case 1:
        return raw->from[at];
    case 2:
        return pf_load16(raw->from + at, raw->swap);
    case 4:
        return pf_load32(raw->from + at, raw->swap);
    default:
        return pf_load64(raw->from + at, raw->swap);
    }
}

static void store(struct raw *raw, uint32_t at, uint32_t bytes, uint64_t value)
{
    struct pf_out o = pf_out_make(raw->to + at, bytes, raw->swap);
    if (bytes == 1)
        pf_out_u8(&o, (uint8_t)value);
    else if (bytes == 2)
        pf_out_u16(&o, (uint16_t)value);
    else if (bytes == 4)
        pf_out_u32(&o, (uint32_t)value);
    else
        pf_out_u64(&o, value);
}

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Addresses of networks, files and people. */
static bool is_private(const struct perfile_tracepoint_field *field)
{
    static const char *const names[] = {"ino",        "i_ino",     "dir",   "inode", "uid",   "gid",    "kuid",
                                        "kgid",       "euid",      "saddr", "daddr", "laddr", "raddr",  "cookie",
                                        "net_cookie", "sk_cookie", "netns", "sport", "dport", "ns_inum"};
    return strncmp(field->type, "__be", 4) == 0 || (field->bytes <= 4 && strcmp(field->name, "addr") == 0) ||
           is_one_of(field->name, names, PF_COUNT(names));
}

/* Numbers that are large without being addresses. */
static bool is_time(const struct perfile_tracepoint_field *field)
{
    static const char *const names[] = {"runtime", "vruntime", "delay",    "now",   "expires",   "softexpires",
                                        "time",    "duration", "deadline", "slack", "timestamp", "hrtimer_expires"};
    return is_one_of(field->name, names, PF_COUNT(names));
}

static bool is_pid(const struct perfile_tracepoint_field *field)
{
    const size_t length = strlen(field->name);
    return (length >= 3 &&
            (strcmp(field->name + length - 3, "pid") == 0 || strcmp(field->name + length - 3, "tid") == 0)) ||
           strcmp(field->type, "pid_t") == 0;
}

static uint64_t change_number(const struct raw *raw, const struct perfile_tracepoint_field *field, uint64_t value,
                              uint32_t bytes)
{
    const bool pointer = strchr(field->type, '*') != NULL;
    if (is_pid(field) && bytes == 4)
        return (uint32_t)pf_anon_pid(raw->a, (int32_t)value);
    if (is_private(field) && !pointer)
        return 0;
    if (bytes < raw->long_bytes || bytes < 4 || (is_time(field) && !pointer))
        return value;
    if (bytes == 4) /* of a 32-bit machine: it must fit */
        return value < 65536 || value >= UINT32_MAX - 4095 ? value : 0;
    return value < 1ull << 32 && !pointer ? value : pf_anon_address(raw->a, value);
}

static void copy_number(struct raw *raw, const struct perfile_tracepoint_field *field, uint32_t at, uint32_t bytes)
{
    store(raw, at, bytes, change_number(raw, field, load(raw, at, bytes), bytes));
}

static void copy_text(struct raw *raw, const struct perfile_tracepoint_field *field, uint32_t at, uint32_t bytes)
{
    const char *text = (const char *)raw->from + at;
    const size_t length = pf_text_length(text, bytes);
    const bool is_comm = strstr(field->name, "comm") != NULL;
    if (!bytes)
        return;
    if (is_comm)
        pf_anon_comm(raw->a, text, length, (char *)raw->to + at, bytes);
    else
        pf_anon_name(raw->a, text, length, (char *)raw->to + at, bytes);
}

/* Copies a row. Longs may be addresses; the meaning of other numbers is not known. */
static void copy_row(struct raw *raw, const struct perfile_tracepoint_field *field, uint32_t at, uint32_t bytes)
{
    if (field->is_text)
        copy_text(raw, field, at, bytes);
    else if (field->element_bytes == 8)
        for (uint32_t i = 0; i + 8 <= bytes; i += 8)
            copy_number(raw, field, at + i, 8);
}

/* The field says where the row is, and how long. */
static void copy_dynamic(struct raw *raw, const struct perfile_tracepoint_field *field)
{
    const uint32_t word = field->bytes == 4 ? pf_load32(raw->from + field->offset, raw->swap) : 0;
    uint64_t at = word & 0xffff;
    const uint32_t bytes = word >> 16;
    if (field->is_relative)
        at += (uint64_t)field->offset + field->bytes;
    if (field->bytes != 4 || at + bytes > raw->bytes)
        return;
    store(raw, field->offset, 4, word);
    copy_row(raw, field, (uint32_t)at, bytes);
}

static void copy_field(struct raw *raw, const struct perfile_tracepoint_field *field)
{
    const uint32_t bytes = field->bytes;
    if (field->offset > raw->bytes || raw->bytes - field->offset < bytes)
        return;
    if (field->is_dynamic)
        copy_dynamic(raw, field);
    else if (field->is_array)
        copy_row(raw, field, field->offset, bytes);
    else if (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8)
        copy_number(raw, field, field->offset, bytes);
}

void pf_anon_raw(struct pf_anonymizer *a, const struct perfile_event *event, struct perfile_bytes *raw)
{
    const struct perfile_tracing *tracing = NULL;
    struct perfile_reader *reader = a->edit->reader;
    const struct perfile_tracepoint *tracepoint = event ? perfile_tracepoint_find(reader, event) : NULL;
    if (pf_anon_keeps(a, PF_ANON_RAW)) {
        pf_anon_count(a, PF_ANON_RAW, PF_ANON_KEEP);
        return;
    }
    raw->bytes = pf_min(raw->bytes, PF_ANON_SCRATCH);
    memset(a->raw, 0, raw->bytes);
    if (tracepoint && perfile_tracing_get(reader, &tracing, NULL) >= 0) {
        struct raw r = {.a = a,
                        .from = raw->data,
                        .to = a->raw,
                        .bytes = (uint32_t)raw->bytes,
                        .long_bytes = tracing->long_bytes,
                        .swap = reader->file.swapped};
        for (size_t i = 0; i < tracepoint->field_count; i++)
            copy_field(&r, &tracepoint->fields[i]);
    }
    raw->data = a->raw;
    pf_anon_count(a, PF_ANON_RAW, tracepoint ? PF_ANON_CHANGE : PF_ANON_DROP);
}
