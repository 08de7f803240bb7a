/* SPDX-License-Identifier: MIT */
/*
 * assemble [OPTIONS] < DESCRIPTION > RECORDING: makes a perf.data of a text. What records, samples and attrs consist of
 * comes from src/schema, so that a new row is known here without a change.
 *
 *   attr FIELD=NUMBER... [ids=N,N] [name="TEXT"] [tail=ITEMS]   an event; sample_type may be IP|TID|...
 *   feature NAME|NUMBER ITEMS...                                a header feature; EVENT_DESC without items is made
 *   record NAME|NUMBER FIELD=VALUE... [| FIELD=VALUE...]        a record, and after the bar its sample_id
 *   sample FIELD=VALUE...                                       a SAMPLE record; parts are ITEMS, as on the wire
 *   round                                                       FINISHED_ROUND
 *   bytes ITEMS...                                              anything
 *
 * Every record also knows: misc=N, event=N (index; whose attr counts, default 0), size=N (what the header states),
 * extra=ITEMS (after the fields), payload=ITEMS (after the record), trailer=0 (no sample_id), bytes=ITEMS (the body
 * of an unknown type). An id that is not stated is the first id of the event.
 *
 * ITEMS: numbers of 8 bytes, u8:N u16:N u32:N u64:N s:"TEXT" (as features have it: length, text, padding to 64),
 * z:"TEXT" (with its NUL), hex:DIGITS, zeros:COUNT, attr:INDEX, branch:N (branch flags, bits counted from the lowest),
 * separated by commas. Elements of lists are their fields separated by colons: entries=1:"sh",2:"make".
 *
 * Options: --big-endian --pipe --compressed --compressed2 --stream (no header) --v1 --killed (data.size 0, no features)
 * --tail (with --pipe: what describes the recording follows its records) --attr-size N
 * --cut N (keep N bytes; negative: drop) --patch OFFSET=HEX
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <perfile/perfile.h>
#include <zstd.h>

#include "base/bytes.h"
#include "schema/schema.h"

enum { WORDS_MAX = 96, EVENTS_MAX = 64, FEATURES_MAX = 64, IDS_MAX = 64, PATCHES_MAX = 16, PIECE_BYTES = 160 };

struct out {
    uint8_t *data;
    size_t bytes;
    size_t capacity;
};

/* KEY=VALUE; words without a key are positional. */
struct word {
    const char *key;
    char *value;
    bool used;
};

struct words {
    struct word *list;
    int count;
};

struct event {
    struct out attr;
    uint64_t sample_type;
    bool sample_id_all;
    uint64_t ids[IDS_MAX];
    size_t id_count;
    char *name;
};

struct feature {
    uint32_t number;
    struct out body;
};

static struct {
    bool big_endian, pipe, tail, stream, v1, killed;
    uint32_t compressed; /* 0, or the type of the compressed records */
    uint32_t attr_size;
    const char *cut;
    char *patches[PATCHES_MAX];
    int patch_count;
} options;

static struct event events[EVENTS_MAX];
static size_t event_count;
static struct feature features[FEATURES_MAX];
static size_t feature_count;
static struct out records; /* as they go out */
static struct out pending; /* to be compressed */
static int line_number;

static _Noreturn void die(const char *what, const char *which)
{
    fprintf(stderr, "assemble: line %d: %s: %s\n", line_number, what, which);
    exit(2);
}

/* ---- bytes ---------------------------------------------------------------------------------------------------- */

static void put_bytes(struct out *o, const void *data, size_t bytes)
{
    if (o->capacity - o->bytes < bytes) {
        o->capacity = (o->bytes + bytes) * 2;
        o->data = realloc(o->data, o->capacity);
        if (!o->data)
            die("out of memory", "");
    }
    if (bytes)
        memcpy(o->data + o->bytes, data, bytes);
    o->bytes += bytes;
}

static void put_zeros(struct out *o, size_t count)
{
    while (count--)
        put_bytes(o, "", 1);
}

/* A number of `bytes` bytes in the byte order of the recording. */
static void store(uint8_t *to, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        to[options.big_endian ? bytes - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

static void put(struct out *o, uint64_t value, unsigned bytes)
{
    uint8_t data[8];
    store(data, value, bytes);
    put_bytes(o, data, bytes);
}

static void align(struct out *o, size_t to)
{
    put_zeros(o, (to - o->bytes % to) % to);
}

/* ---- words ---------------------------------------------------------------------------------------------------- */

static const char *find(struct words *words, const char *key)
{
    for (int i = 0; i < words->count; i++) {
        if (words->list[i].key && strcmp(words->list[i].key, key) == 0) {
            words->list[i].used = true;
            return words->list[i].value;
        }
    }
    return NULL;
}

static void require_all_used(const struct words *words)
{
    for (int i = 0; i < words->count; i++)
        if (!words->list[i].used)
            die("there is no such field", words->list[i].key ? words->list[i].key : words->list[i].value);
}

/* Cuts at the first `separator` outside quotes; returns the piece after it, or NULL. */
static char *cut_at(char *text, char separator)
{
    bool quoted = false;
    for (; *text; text++) {
        if (*text == '\\' && quoted && text[1])
            text++;
        else if (*text == '"')
            quoted = !quoted;
        else if (*text == separator && !quoted) {
            *text = '\0';
            return text + 1;
        }
    }
    return NULL;
}

static struct words split(char *line, struct word *list)
{
    struct words words = {list, 0};
    for (char *next; line; line = next) {
        next = cut_at(line, ' ');
        if (!*line)
            continue;
        if (words.count == WORDS_MAX)
            die("too many words", line);
        size_t name = strspn(line, "abcdefghijklmnopqrstuvwxyz_0123456789");
        struct word word = {NULL, line, false};
        if (line[name] == '=' && name) {
            line[name] = '\0';
            word = (struct word){line, line + name + 1, false};
        }
        list[words.count++] = word;
    }
    return words;
}

/* ---- values --------------------------------------------------------------------------------------------------- */

static uint64_t sample_bit(const char *name)
{
#define BIT(bit, NAME)                                                                                                 \
    if (strcmp(name, #NAME) == 0)                                                                                      \
        return 1ull << (bit);
#define WORD(bit, NAME, ...) BIT(bit, NAME)
#define PAIR(bit, NAME, ...) BIT(bit, NAME)
#define PART(bit, NAME, ...) BIT(bit, NAME)
#define TAIL(bit, NAME, ...) BIT(bit, NAME)
#include "schema/sample.def"
#undef WORD
#undef PAIR
#undef PART
#undef TAIL
    die("neither a number nor a sample_type", name);
}

static uint64_t number(const char *text)
{
    uint64_t value = 0;
    char *copy = strdup(text), *next;
    for (char *at = copy; at; at = next) {
        next = cut_at(at, '|');
        char *end = at;
        uint64_t one = *at == '-' ? (uint64_t)strtoll(at, &end, 0) : strtoull(at, &end, 0);
        value |= *end || end == at ? sample_bit(at) : one;
    }
    free(copy);
    return value;
}

static uint64_t number_of(struct words *words, const char *key, uint64_t otherwise)
{
    const char *text = find(words, key);
    return text ? number(text) : otherwise;
}

/* "TEXT" with \n \t \e \\ \" \xNN, without a NUL. */
static void put_quoted(struct out *o, const char *text)
{
    size_t length = strlen(text);
    if (length < 2 || text[0] != '"' || text[length - 1] != '"')
        die("text in quotes expected", text);
    for (const char *p = text + 1; p < text + length - 1; p++) {
        static const char escapes[] = "nte", values[] = "\n\t\x1b";
        const char *escape;
        char c = *p;
        if (c == '\\' && *++p == 'x') {
            c = (char)strtoul((char[]){p[1], p[2], 0}, NULL, 16);
            p += 2;
        } else if (c == '\\') {
            escape = strchr(escapes, *p);
            c = escape ? values[escape - escapes] : *p;
        }
        put_bytes(o, &c, 1);
    }
}

static void put_hex(struct out *o, const char *digits)
{
    for (; digits[0] && digits[1]; digits += 2) {
        uint8_t byte = (uint8_t)strtoul((char[]){digits[0], digits[1], 0}, NULL, 16);
        put_bytes(o, &byte, 1);
    }
    if (*digits)
        die("pairs of hexadecimal digits expected", digits);
}

/* Branch flags are bit-fields: big-endian compilers lay them out from the highest bit. */
static uint64_t branch_flags(uint64_t little)
{
    static const unsigned widths[] = {1, 1, 1, 1, 16, 4, 2, 4, 3, 31};
    uint64_t big = 0;
    for (unsigned i = 0, at = 0; i < PF_COUNT(widths); at += widths[i++])
        big |= (little >> at & ((1ull << widths[i]) - 1)) << (64 - at - widths[i]);
    return options.big_endian ? big : little;
}

static void put_perf_string(struct out *o, const char *quoted)
{
    struct out text = {0};
    put_quoted(&text, quoted);
    put_zeros(&text, 1);
    align(&text, 64);
    put(o, text.bytes, 4);
    put_bytes(o, text.data, text.bytes);
    free(text.data);
}

static const char *after(const char *text, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

static void put_item(struct out *o, const char *item)
{
    const char *rest;
    if ((rest = after(item, "hex:")))
        put_hex(o, rest);
    else if ((rest = after(item, "s:")))
        put_perf_string(o, rest);
    else if ((rest = after(item, "z:"))) {
        put_quoted(o, rest);
        put_zeros(o, 1);
    } else if ((rest = after(item, "zeros:")))
        put_zeros(o, (size_t)number(rest));
    else if ((rest = after(item, "attr:")))
        put_bytes(o, events[number(rest) % EVENTS_MAX].attr.data, events[number(rest) % EVENTS_MAX].attr.bytes);
    else if ((rest = after(item, "branch:")))
        put(o, branch_flags(number(rest)), 8);
    else if ((rest = after(item, "u8:")))
        put(o, number(rest), 1);
    else if ((rest = after(item, "u16:")))
        put(o, number(rest), 2);
    else if ((rest = after(item, "u32:")))
        put(o, number(rest), 4);
    else if ((rest = after(item, "u64:")))
        put(o, number(rest), 8);
    else
        put(o, number(item), 8);
}

static void put_items(struct out *o, const char *items)
{
    char *copy = strdup(items ? items : ""), *next;
    for (char *at = copy; at && *at; at = next) {
        next = cut_at(at, ',');
        put_item(o, at);
    }
    free(copy);
}

/* ---- attrs ---------------------------------------------------------------------------------------------------- */

static void put_at(struct out *o, size_t offset, uint64_t value, unsigned bytes)
{
    if (offset + bytes <= o->bytes)
        store(o->data + offset, value, bytes);
}

static void add_attr(struct words *words)
{
    if (event_count == EVENTS_MAX)
        die("too many events", "");
    struct event *event = &events[event_count++];
    struct out *attr = &event->attr;
    uint32_t stated = options.attr_size ? options.attr_size : 144;
    uint64_t flags;
    unsigned flags_bits;
    size_t flags_at;
    put_zeros(attr, stated);
#define U16(offset, field, meaning, doc) put_at(attr, offset, number_of(words, #field, 0), 2);
#define U32(offset, field, meaning, doc) put_at(attr, offset, number_of(words, #field, (offset) == 4 ? stated : 0), 4);
#define U64(offset, field, meaning, doc) put_at(attr, offset, number_of(words, #field, 0), 8);
#define S32(offset, field, meaning, doc) put_at(attr, offset, number_of(words, #field, 0), 4);
#define FLAGS(offset, bits) flags = 0, flags_at = (offset), flags_bits = (bits);
#define BITS(first, width, field, doc)                                                                                 \
    flags |= number_of(words, #field, 0) << (options.big_endian ? flags_bits - (first) - (width) : (first));
#define END_FLAGS() put_at(attr, flags_at, flags, flags_bits / 8);
#include "schema/attr.def"
#include "schema/undef.h"
    struct out tail = {0};
    put_items(&tail, find(words, "tail"));
    if (tail.bytes && tail.bytes <= attr->bytes)
        memcpy(attr->data + attr->bytes - tail.bytes, tail.data, tail.bytes);
    free(tail.data);
    event->sample_type = number_of(words, "sample_type", 0);
    event->sample_id_all = number_of(words, "sample_id_all", 0);
    const char *name = find(words, "name");
    event->name = name ? strdup(name) : NULL;
    char *ids = strdup(find(words, "ids") ? find(words, "ids") : ""), *next;
    for (char *at = ids; at && *at && event->id_count < IDS_MAX; at = next) {
        next = cut_at(at, ',');
        event->ids[event->id_count++] = number(at);
    }
    free(ids);
    require_all_used(words);
}

static const struct event *event_of(struct words *words)
{
    static const struct event none;
    uint64_t index = number_of(words, "event", 0);
    return index < event_count ? &events[index] : &none;
}

/* ---- the stream of records ------------------------------------------------------------------------------------ */

static void put_compressed(const void *data, size_t bytes)
{
    struct out o = {0};
    bool padded = options.compressed == PERFILE_RECORD_COMPRESSED2;
    put_zeros(&o, 8);
    if (padded)
        put(&o, bytes, 8);
    put_bytes(&o, data, bytes);
    if (padded)
        align(&o, 8);
    put_at(&o, 0, options.compressed, 4);
    put_at(&o, 6, o.bytes, 2);
    put_bytes(&records, o.data, o.bytes);
    free(o.data);
}

/* One zstd frame over all pieces, which is never ended; pieces cut through records. */
static void flush_pending(void)
{
    static ZSTD_CCtx *context;
    if (!context)
        context = ZSTD_createCCtx();
    for (size_t done = 0; done < pending.bytes; done += PIECE_BYTES) {
        uint8_t capacity[4096];
        ZSTD_inBuffer in = {pending.data + done, (size_t)pf_min(PIECE_BYTES, pending.bytes - done), 0};
        ZSTD_outBuffer out = {capacity, sizeof(capacity), 0};
        if (ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush) != 0)
            die("zstd failed", "");
        put_compressed(capacity, out.pos);
    }
    pending.bytes = 0;
}

/* What ring buffers deliver is compressed, what the recorder writes is not. */
static void add_to_stream(uint32_t type, const struct out *o)
{
    if (options.compressed && type < PERFILE_RECORD_HEADER_ATTR) {
        put_bytes(&pending, o->data, o->bytes);
        return;
    }
    flush_pending();
    put_bytes(&records, o->data, o->bytes);
}

/* Fills in the header, and appends what any record may have after it. */
static void end_record(struct out *o, uint32_t type, struct words *words)
{
    uint64_t size = number_of(words, "size", o->bytes);
    put_at(o, 0, type, 4);
    put_at(o, 4, pf_record_is_android(type) ? size >> 16 : number_of(words, "misc", 0), 2);
    put_at(o, 6, size, 2);
    put_items(o, find(words, "payload"));
    require_all_used(words);
    add_to_stream(type, o);
    free(o->data);
}

/* ---- samples and trailers ------------------------------------------------------------------------------------- */

/* Ids that are not given are those of the event. */
static uint64_t word_of(struct words *words, const struct event *event, const char *field, uint64_t bit)
{
    bool is_id = bit == PERFILE_SAMPLE_ID || bit == PERFILE_SAMPLE_IDENTIFIER;
    return number_of(words, field, is_id && event->id_count ? event->ids[0] : 0);
}

#define WORD(bit, NAME, field, meaning, doc)                                                                           \
    if (event->sample_type & 1ull << (bit))                                                                            \
        put(o, word_of(words, event, #field, 1ull << (bit)), 8);
#define PAIR(bit, NAME, type1, field1, type2, field2, doc)                                                             \
    if (event->sample_type & 1ull << (bit)) {                                                                          \
        put(o, number_of(words, #field1, 0), 4);                                                                       \
        put(o, number_of(words, #field2, 0), 4);                                                                       \
    }
#define PART(bit, NAME, field, type, layout, doc)                                                                      \
    if (event->sample_type & 1ull << (bit))                                                                            \
        put_items(o, find(words, #field));
#define TAIL(bit, NAME, field, meaning, doc) WORD(bit, NAME, field, meaning, doc)

static void put_sample(struct out *o, const struct event *event, struct words *words)
{
#include "schema/sample.def"
}

static void put_sample_id(struct out *o, const struct event *event, struct words *words)
{
#include "schema/sample_id.def"
}

static void add_sample(struct words *words)
{
    struct out o = {0};
    put_zeros(&o, 8);
    put_sample(&o, event_of(words), words);
    put_items(&o, find(words, "extra"));
    end_record(&o, PERFILE_RECORD_SAMPLE, words);
}

/* ---- other records -------------------------------------------------------------------------------------------- */

/* Elements: fields separated by colons. */
static const char *field_of(char **element)
{
    const char *text = *element ? *element : "0";
    *element = *element ? cut_at(*element, ':') : NULL;
    return text;
}

static void put_text(struct out *o, const char *quoted, size_t capacity)
{
    size_t end = o->bytes + capacity;
    put_quoted(o, quoted ? quoted : "\"\"");
    if (o->bytes > end)
        o->bytes = end;
    put_zeros(o, end - o->bytes);
}

#define ELEMENT(name, doc)                                                                                             \
    static void put_element_##name(struct out *o, char *element)                                                       \
    {
#define U64(field, meaning, doc) put(o, number(field_of(&element)), 8);
#define TEXT(field, bytes, doc) put_text(o, field_of(&element), bytes);
#define END_ELEMENT(name) }
ELEMENT(word, "")
U64(word, , )
END_ELEMENT(word)
#include "schema/elements.def"
#undef U64
#undef TEXT

static void put_list(struct out *o, const char *list, void (*put_element)(struct out *o, char *element))
{
    char *copy = strdup(list ? list : ""), *next;
    for (char *at = copy; at && *at; at = next) {
        next = cut_at(at, ',');
        put_element(o, at);
    }
    free(copy);
}

/* Later fields are there when they are given. */
#define NUMBER(field, bytes)                                                                                           \
    if (!later || find(words, #field)) {                                                                               \
        r->field = (__typeof__(r->field))number_of(words, #field, 0);                                                  \
        put(o, (uint64_t)r->field, bytes);                                                                             \
    }
#define U8(field, ...) NUMBER(field, 1)
#define U16(field, ...) NUMBER(field, 2)
#define U32(field, ...) NUMBER(field, 4)
#define U64(field, ...) NUMBER(field, 8)
#define S32(field, ...) NUMBER(field, 4)
#define S64(field, ...) NUMBER(field, 8)
#define F64(field, doc)                                                                                                \
    {                                                                                                                  \
        const char *text = find(words, #field);                                                                        \
        uint64_t bits;                                                                                                 \
        memcpy(&bits, &(double){text ? strtod(text, NULL) : 0}, sizeof(bits));                                         \
        put(o, bits, 8);                                                                                               \
    }
#define PAD(bytes) put_zeros(o, bytes);
#define TEXT(field, bytes, doc) put_text(o, find(words, #field), bytes);
#define STRING(field, doc)                                                                                             \
    put_quoted(o, find(words, #field) ? find(words, #field) : "\"\"");                                                 \
    put_zeros(o, 1);                                                                                                   \
    align(o, 8);
#define BYTES(field, capacity, shown, doc)                                                                             \
    {                                                                                                                  \
        size_t end = o->bytes + (capacity);                                                                            \
        put_items(o, find(words, #field));                                                                             \
        put_zeros(o, end - o->bytes);                                                                                  \
    }
#define DATA(field, length, doc) put_items(o, find(words, #field));
#define LIST(field, count, element, doc) put_list(o, find(words, #field), put_element_##element);
#define REST(field, element, doc) put_list(o, find(words, #field), put_element_##element);
#define WHEN(condition) if (condition) {
#define OTHERWISE()                                                                                                    \
    }                                                                                                                  \
    else                                                                                                               \
    {
#define END_WHEN() }
#define MORE() later = true;
#define END_MORE() later = false;
#define COMPUTED(field, value, doc)
#define SKIP()
#define CUSTOM(field, type, layout, doc) put_items(o, find(words, #field));
#define BARE(number, NAME, class, since, doc)
#define RECORD(number, NAME, name, class, since, doc)                                                                  \
    static void put_fields_of_##name(struct out *o, struct words *words)                                               \
    {                                                                                                                  \
        struct perfile_##name decoded = {0}, *r = &decoded;                                                            \
        bool later = false;                                                                                            \
        const uint16_t misc = (uint16_t)number_of(words, "misc", 0);                                                   \
        (void)o, (void)r, (void)later, (void)misc;
#define END_RECORD(name) }
#include "schema/records.def"
#include "schema/undef.h"

#include "schema/no_fields.h"
#define BARE(number, NAME, class, since, doc) {number, NULL},
#define RECORD(number, NAME, name, class, since, doc) {number, put_fields_of_##name},
#define END_RECORD(name)

static const struct {
    uint32_t number;
    void (*put)(struct out *o, struct words *words);
} bodies[] = {
#include "schema/records.def"
};

static uint32_t record_type(const char *name)
{
    const char *known;
    for (size_t i = 0; perfile_record_type_at(i); i++)
        if ((known = perfile_record_name(perfile_record_type_at(i))) && strcmp(known, name) == 0)
            return perfile_record_type_at(i);
    if (!isdigit((unsigned char)*name))
        die("there is no such record", name);
    return (uint32_t)number(name);
}

static void add_record(uint32_t type, struct words *words, struct words *trailer)
{
    struct out o = {0};
    const struct event *event = event_of(words);
    put_zeros(&o, 8);
    for (size_t i = 0; i < PF_COUNT(bodies); i++)
        if (bodies[i].number == type && bodies[i].put)
            bodies[i].put(&o, words);
    put_items(&o, find(words, "bytes"));
    if (type != PERFILE_RECORD_COMPRESSED)
        align(&o, 8);
    put_items(&o, find(words, "extra"));
    bool wanted = number_of(words, "trailer", 1);
    if (type < PERFILE_RECORD_HEADER_ATTR && type != PERFILE_RECORD_SAMPLE && event->sample_id_all && wanted)
        put_sample_id(&o, event, trailer);
    require_all_used(trailer);
    end_record(&o, type, words);
}

/* ---- features ------------------------------------------------------------------------------------------------- */

static void put_event_desc(struct out *o)
{
    put(o, event_count, 4);
    put(o, event_count ? events[0].attr.bytes : 0, 4);
    for (const struct event *event = events; event < events + event_count; event++) {
        put_bytes(o, event->attr.data, event->attr.bytes);
        put(o, event->id_count, 4);
        put_perf_string(o, event->name ? event->name : "\"\"");
        for (size_t i = 0; i < event->id_count; i++)
            put(o, event->ids[i], 8);
    }
}

static uint32_t feature_number(const char *name)
{
    const char *known;
    for (size_t i = 0; perfile_feature_number_at(i); i++)
        if ((known = perfile_feature_name(perfile_feature_number_at(i))) && strcmp(known, name) == 0)
            return perfile_feature_number_at(i);
    if (!isdigit((unsigned char)*name))
        die("there is no such feature", name);
    return (uint32_t)number(name);
}

static void add_feature(const struct words *words)
{
    if (words->count == 0 || feature_count == FEATURES_MAX)
        die("a feature needs a name", "");
    struct feature *feature = &features[feature_count++];
    feature->number = feature_number(words->list[0].value);
    for (int i = 1; i < words->count; i++)
        put_items(&feature->body, words->list[i].value);
    if (feature->number == PERFILE_FEATURE_EVENT_DESC && words->count == 1)
        put_event_desc(&feature->body);
}

/* ---- containers ----------------------------------------------------------------------------------------------- */

static void put_magic(struct out *o)
{
    const char *magic = options.v1 ? "PERFFILE" : options.big_endian ? "2ELIFREP" : "PERFILE2";
    put_bytes(o, magic, 8);
}

static int by_number(const void *a, const void *b)
{
    const struct feature *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static void put_features(struct out *o)
{
    size_t table = o->bytes;
    qsort(features, feature_count, sizeof(features[0]), by_number);
    put_zeros(o, 16 * feature_count);
    for (size_t i = 0; i < feature_count; i++) {
        put_at(o, table + 16 * i, o->bytes, 8);
        put_at(o, table + 16 * i + 8, features[i].body.bytes, 8);
        put_bytes(o, features[i].body.data, features[i].body.bytes);
    }
}

static void put_bitmap(struct out *o)
{
    uint64_t words[4] = {0};
    for (size_t i = 0; i < feature_count && !options.killed; i++)
        words[features[i].number / 64 % 4] |= 1ull << features[i].number % 64;
    for (size_t i = 0; i < 4; i++)
        put_at(o, 72 + 8 * i, words[i], 8);
}

static void put_attrs(struct out *o)
{
    size_t ids_at[EVENTS_MAX];
    for (size_t i = 0; i < event_count; i++) {
        ids_at[i] = o->bytes;
        for (size_t id = 0; id < events[i].id_count; id++)
            put(o, events[i].ids[id], 8);
    }
    size_t start = o->bytes;
    for (size_t i = 0; i < event_count; i++) {
        put_bytes(o, events[i].attr.data, events[i].attr.bytes);
        put(o, ids_at[i], 8);
        put(o, 8 * events[i].id_count, 8);
    }
    put_at(o, 16, event_count ? events[0].attr.bytes + 16 : 160, 8);
    put_at(o, 24, start, 8);
    put_at(o, 32, o->bytes - start, 8);
}

static void put_file(struct out *o)
{
    put_magic(o);
    put(o, 104, 8);
    put_zeros(o, 104 - o->bytes);
    put_attrs(o);
    put_at(o, 40, o->bytes, 8);
    put_at(o, 48, options.killed ? 0 : records.bytes, 8);
    put_bitmap(o);
    put_bytes(o, records.data, records.bytes);
    if (!options.killed)
        put_features(o);
}

static void put_header(struct out *o, uint32_t type, uint64_t size)
{
    put(o, type, 4);
    put(o, 0, 2);
    put(o, size, 2);
}

static void put_pipe_event(struct out *o, const struct event *event)
{
    put_header(o, PERFILE_RECORD_HEADER_ATTR, 8 + event->attr.bytes + 8 * event->id_count);
    put_bytes(o, event->attr.data, event->attr.bytes);
    for (size_t i = 0; i < event->id_count; i++)
        put(o, event->ids[i], 8);
    if (!event->name || !event->id_count)
        return;
    struct out name = {0};
    put_quoted(&name, event->name);
    put_zeros(&name, 1);
    align(&name, 8);
    put_header(o, PERFILE_RECORD_EVENT_UPDATE, 24 + name.bytes);
    put(o, 2, 8);
    put(o, event->ids[0], 8);
    put_bytes(o, name.data, name.bytes);
    free(name.data);
}

/* The entries of BUILD_ID are records, but in files their type is 0. */
static void name_build_ids(struct out *o)
{
    for (size_t at = 0, size; at + 8 <= o->bytes; at += size) {
        put_at(o, at, PERFILE_RECORD_HEADER_BUILD_ID, 4);
        size = options.big_endian ? (size_t)(o->data[at + 6] << 8 | o->data[at + 7])
                                  : (size_t)(o->data[at + 7] << 8 | o->data[at + 6]);
        if (size < 8)
            die("a build id has no size", "");
    }
}

/* Tracing data has a record of its own, and the build ids are records already. */
static void put_pipe_feature(struct out *o, const struct feature *feature)
{
    struct out body = {0};
    put_bytes(&body, feature->body.data, feature->body.bytes);
    align(&body, 8);
    if (feature->number == PERFILE_FEATURE_TRACING_DATA) {
        put_header(o, PERFILE_RECORD_HEADER_TRACING_DATA, 16);
        put(o, body.bytes, 4);
        put(o, 0, 4);
    } else if (feature->number == PERFILE_FEATURE_BUILD_ID) {
        name_build_ids(&body);
    } else {
        put_header(o, PERFILE_RECORD_HEADER_FEATURE, 16 + body.bytes);
        put(o, feature->number, 8);
    }
    put_bytes(o, body.data, body.bytes);
    free(body.data);
}

static void put_pipe(struct out *o)
{
    put_magic(o);
    put(o, 16, 8);
    if (options.tail)
        put_bytes(o, records.data, records.bytes);
    for (size_t i = 0; i < event_count; i++)
        put_pipe_event(o, &events[i]);
    for (size_t i = 0; i < feature_count; i++)
        put_pipe_feature(o, &features[i]);
    if (!options.tail)
        put_bytes(o, records.data, records.bytes);
}

static void damage(struct out *o)
{
    for (int i = 0; i < options.patch_count; i++) {
        char *hex = cut_at(options.patches[i], '=');
        uint64_t offset = number(options.patches[i]);
        struct out bytes = {0};
        put_hex(&bytes, hex ? hex : "");
        if (offset > o->bytes || bytes.bytes > o->bytes - offset)
            die("nothing is there to patch", options.patches[i]);
        memcpy(o->data + offset, bytes.data, bytes.bytes);
        free(bytes.data);
    }
    if (options.cut) {
        long long cut = strtoll(options.cut, NULL, 0);
        uint64_t keep = cut < 0 ? o->bytes - pf_min((uint64_t)-cut, o->bytes) : (uint64_t)cut;
        o->bytes = (size_t)pf_min(keep, o->bytes);
    }
}

/* ---- the text ------------------------------------------------------------------------------------------------- */

static void assemble(char *line)
{
    struct word body_words[WORDS_MAX], trailer_words[WORDS_MAX];
    char *after_bar = cut_at(line, '|');
    while (after_bar && after_bar[0] != ' ') { /* a bar between flags */
        after_bar[-1] = '|';
        after_bar = cut_at(after_bar, '|');
    }
    char *rest = cut_at(line, ' ');
    struct words words = split(rest, body_words), trailer = split(after_bar, trailer_words);
    if (strcmp(line, "attr") == 0) {
        add_attr(&words);
    } else if (strcmp(line, "feature") == 0) {
        add_feature(&words);
    } else if (strcmp(line, "sample") == 0) {
        add_sample(&words);
    } else if (strcmp(line, "round") == 0) {
        add_record(PERFILE_RECORD_FINISHED_ROUND, &words, &trailer);
    } else if (strcmp(line, "record") == 0 && words.count) {
        uint32_t type = record_type(words.list[0].value);
        words.list[0].used = true;
        add_record(type, &words, &trailer);
    } else if (strcmp(line, "bytes") == 0) {
        struct out o = {0};
        for (int i = 0; i < words.count; i++)
            put_items(&o, words.list[i].value);
        add_to_stream(0, &o);
        free(o.data);
    } else {
        die("what is this", line);
    }
}

static void read_options(char **argv)
{
    for (; *argv; argv++) {
        const char *name = *argv;
        if (strcmp(name, "--big-endian") == 0)
            options.big_endian = true;
        else if (strcmp(name, "--pipe") == 0)
            options.pipe = true;
        else if (strcmp(name, "--tail") == 0)
            options.tail = true;
        else if (strcmp(name, "--compressed") == 0)
            options.compressed = PERFILE_RECORD_COMPRESSED;
        else if (strcmp(name, "--compressed2") == 0)
            options.compressed = PERFILE_RECORD_COMPRESSED2;
        else if (strcmp(name, "--stream") == 0)
            options.stream = true;
        else if (strcmp(name, "--v1") == 0)
            options.v1 = true;
        else if (strcmp(name, "--killed") == 0)
            options.killed = true;
        else if (strcmp(name, "--attr-size") == 0 && argv[1])
            options.attr_size = (uint32_t)number(*++argv);
        else if (strcmp(name, "--cut") == 0 && argv[1])
            options.cut = *++argv;
        else if (strcmp(name, "--patch") == 0 && argv[1] && options.patch_count < PATCHES_MAX)
            options.patches[options.patch_count++] = *++argv;
        else
            die("there is no such option", name);
    }
}

int main(int argc, char **argv)
{
    static char line[64 * 1024];
    (void)argc;
    read_options(argv + 1);
    while (fgets(line, sizeof(line), stdin)) {
        line_number++;
        line[strcspn(line, "\n")] = '\0';
        if (line[0] && line[0] != '#')
            assemble(line);
    }
    flush_pending();
    static struct out file;
    if (options.stream)
        put_bytes(&file, records.data, records.bytes);
    else if (options.pipe)
        put_pipe(&file);
    else
        put_file(&file);
    damage(&file);
    return fwrite(file.data, 1, file.bytes, stdout) != file.bytes || fflush(stdout) != 0;
}
