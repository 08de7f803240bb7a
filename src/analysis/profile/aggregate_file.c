/* SPDX-License-Identifier: MIT */
/*
 * A profile as a file: lines of text, so that they can be compressed, compared and kept in a repository. The first line
 * names the format; each other line has a letter and values with tabs between them. Items are numbered in the order of
 * their lines, and an item stands after those that it refers to.
 */
#include "analysis/profile/aggregate.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/text.h"

#define HEADER "perfile-profile 2\n"

enum value { TEXT, OPTIONAL_TEXT, BYTES, FLAG, U32, I32, U64, NUMBER, OPTIONAL_NUMBER, LAST_NUMBER };

enum { MAX_FIELDS = 12, BUILD_ID = 20 };

/*
 * NUMBER: of an item of the kind `max`; LAST_NUMBER, which can be NO_ID, too, is left out where it and all after it are
 * that. U32: at most `max`, 0: any number.
 */
struct field {
    size_t offset;
    enum value value;
    uint32_t max;
};

#define AT(type, member) offsetof(struct pf_aggregate_##type, member)
static const struct layout {
    enum pf_aggregate_kind kind;
    char letter;
    struct field fields[MAX_FIELDS];
    size_t count;
} layouts[] = {
    {PF_AGGREGATE_EVENTS,
     'E',
     {{AT(event, name), TEXT, 0},
      {AT(event, unit), TEXT, 0},
      {AT(event, nth), U32, 0},
      {AT(event, type), U32, 0},
      {AT(event, config), U64, 0},
      {AT(event, has_weight), FLAG, 0}},
     6},
    {PF_AGGREGATE_MODULES,
     'M',
     {{AT(module, name), TEXT, 0},
      {AT(module, short_name), TEXT, 0},
      {AT(module, path), OPTIONAL_TEXT, 0},
      {AT(module, build_id), BYTES, 0},
      {AT(module, build_id_bytes), U32, BUILD_ID},
      {AT(module, state), U32, PERFILE_MODULE_SYMBOLS},
      {AT(module, kind), U32, PERFILE_MODULE_JIT},
      {AT(module, kernel), FLAG, 0},
      {AT(module, jit), FLAG, 0}},
     9},
    {PF_AGGREGATE_FUNCTIONS,
     'F',
     {{AT(function, name), OPTIONAL_TEXT, 0},
      {AT(function, raw_name), OPTIONAL_TEXT, 0},
      {AT(function, label), TEXT, 0},
      {AT(function, file), OPTIONAL_TEXT, 0},
      {AT(function, address), U64, 0},
      {AT(function, bytes), U64, 0},
      {AT(function, module), OPTIONAL_NUMBER, PF_AGGREGATE_MODULES},
      {AT(function, kind), U32, PERFILE_FRAME_UNKNOWN},
      {AT(function, start_line), U32, 0}},
     9},
    {PF_AGGREGATE_FRAMES,
     'P',
     {{AT(frame, file), OPTIONAL_TEXT, 0},
      {AT(frame, offset), U64, 0},
      {AT(frame, address), U64, 0},
      {AT(frame, file_offset), U64, 0},
      {AT(frame, function), NUMBER, PF_AGGREGATE_FUNCTIONS},
      {AT(frame, kind), U32, PERFILE_FRAME_UNKNOWN},
      {AT(frame, line), U32, 0}},
     7},
    {PF_AGGREGATE_THREADS,
     'T',
     {{AT(thread, pid), I32, 0},
      {AT(thread, tid), I32, 0},
      {AT(thread, comm), TEXT, 0},
      {AT(thread, first_time), U64, 0},
      {AT(thread, last_time), U64, 0},
      {AT(thread, samples), U64, 0},
      {AT(thread, comm_time), U64, 0}},
     7},
    {PF_AGGREGATE_COMMS, 'C', {{AT(comm, thread), NUMBER, PF_AGGREGATE_THREADS}, {AT(comm, text), TEXT, 0}}, 2},
    {PF_AGGREGATE_TAGS,
     'A',
     {{AT(tag, name), TEXT, 0}, {AT(tag, text), TEXT, 0}, {AT(tag, next), OPTIONAL_NUMBER, PF_AGGREGATE_TAGS}},
     3},
    {PF_AGGREGATE_RECORDINGS,
     'D',
     {{AT(recording, path), OPTIONAL_TEXT, 0},
      {AT(recording, hostname), OPTIONAL_TEXT, 0},
      {AT(recording, os_release), OPTIONAL_TEXT, 0},
      {AT(recording, arch), OPTIONAL_TEXT, 0},
      {AT(recording, cpu), OPTIONAL_TEXT, 0},
      {AT(recording, version), OPTIONAL_TEXT, 0},
      {AT(recording, first_time), U64, 0},
      {AT(recording, last_time), U64, 0},
      {AT(recording, clock), I32, 0},
      {AT(recording, wall_time), U64, 0},
      {AT(recording, clock_time), U64, 0}},
     11},
    {PF_AGGREGATE_KEYS,
     'K',
     {{AT(key, event), NUMBER, PF_AGGREGATE_EVENTS},
      {AT(key, pid), I32, 0},
      {AT(key, tid), I32, 0},
      {AT(key, cpu), I32, 0},
      {AT(key, comm), OPTIONAL_TEXT, 0},
      {AT(key, cgroup), OPTIONAL_TEXT, 0},
      {AT(key, time), U64, 0},
      {AT(key, tags), LAST_NUMBER, PF_AGGREGATE_TAGS},
      {AT(key, recording), LAST_NUMBER, PF_AGGREGATE_RECORDINGS}},
     9},
    {PF_AGGREGATE_NODES,
     'S',
     {{offsetof(struct pf_tree_link, parent), OPTIONAL_NUMBER, PF_AGGREGATE_NODES},
      {offsetof(struct pf_tree_link, frame), NUMBER, PF_AGGREGATE_FRAMES}},
     2},
    {PF_AGGREGATE_ROWS,
     'R',
     {{AT(row, node), OPTIONAL_NUMBER, PF_AGGREGATE_NODES},
      {AT(row, key), NUMBER, PF_AGGREGATE_KEYS},
      {AT(row, leaf), NUMBER, PF_AGGREGATE_FRAMES},
      {AT(row, values[0]), U64, 0},
      {AT(row, values[1]), U64, 0},
      {AT(row, values[2]), U64, 0}},
     6},
};
static const size_t losses[] = {
    offsetof(struct perfile_losses, samples),    offsetof(struct perfile_losses, filtered),
    offsetof(struct perfile_losses, lost),       offsetof(struct perfile_losses, unmapped),
    offsetof(struct perfile_losses, unresolved), offsetof(struct perfile_losses, truncated),
    offsetof(struct perfile_losses, guessed),
};

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* Writes \N for NULL; tabs, line feeds and backslashes are escaped. */
static void put_escaped(struct pf_text *to, const char *text)
{
    static const char special[] = "\t\n\\", letters[] = "tn\\";
    if (!text) {
        pf_put_string(to, "\\N");
        return;
    }
    for (;;) {
        const size_t bytes = strcspn(text, special);
        pf_put(to, text, bytes);
        if (!text[bytes])
            return;
        pf_put_char(to, '\\');
        pf_put_char(to, letters[strchr(special, text[bytes]) - special]);
        text += bytes + 1;
    }
}

static void put_value(struct pf_text *to, const struct field *field, const void *item)
{
    const char *at = (const char *)item + field->offset;
    uint32_t number;
    switch (field->value) {
    case TEXT:
    case OPTIONAL_TEXT:
        put_escaped(to, *(const char *const *)at);
        return;
    case BYTES:
        pf_put_hex_bytes(to, at, BUILD_ID);
        return;
    case FLAG:
        pf_put_unsigned(to, *(const bool *)at);
        return;
    case I32:
        pf_put_signed(to, *(const int32_t *)at);
        return;
    case U64:
        pf_put_unsigned(to, *(const uint64_t *)at);
        return;
    default:
        memcpy(&number, at, sizeof(number));
        if ((field->value == OPTIONAL_NUMBER || field->value == LAST_NUMBER) && number == PERFILE_NO_ID)
            pf_put_char(to, '-');
        else
            pf_put_unsigned(to, number);
    }
}

static bool is_left_out(const struct layout *layout, size_t first, const void *item)
{
    for (size_t i = first; i < layout->count; i++)
        if (layout->fields[i].value != LAST_NUMBER ||
            *(const uint32_t *)(const void *)((const char *)item + layout->fields[i].offset) != PERFILE_NO_ID)
            return false;
    return true;
}

static void put_list(struct pf_text *to, const struct perfile_profile *profile, const struct layout *layout)
{
    const struct pf_aggregate_list *list = &profile->lists[layout->kind];
    for (size_t i = 0; i < list->count && !to->failed; i++) {
        const void *item = (const char *)list->items + i * pf_aggregate_bytes(layout->kind);
        pf_put_char(to, layout->letter);
        for (size_t k = 0; k < layout->count && !is_left_out(layout, k, item); k++) {
            pf_put_char(to, '\t');
            put_value(to, &layout->fields[k], item);
        }
        pf_put_char(to, '\n');
    }
}

int perfile_profile_write(const struct perfile_profile *profile, const struct perfile_sink *sink,
                          struct perfile_error *error)
{
    struct pf_text text;
    if (!profile || !sink || !sink->write)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "profile", "there is none, or no sink");
    int result = pf_text_open(&text, profile->watch.below, sink->write, sink->context);
    if (result == 0) {
        pf_put_string(&text, HEADER);
        for (size_t i = 0; i < PF_COUNT(layouts); i++)
            put_list(&text, profile, &layouts[i]);
        pf_put_char(&text, 'L');
        for (size_t i = 0; i < PF_COUNT(losses); i++) {
            pf_put_char(&text, '\t');
            pf_put_unsigned(&text, *(const uint64_t *)((const char *)&profile->losses + losses[i]));
        }
        pf_put_char(&text, '\n');
        result = pf_text_flush(&text);
    }
    pf_text_close(&text);
    return result < 0 ? pf_fail(error, result, PERFILE_NO_OFFSET, "profile",
                                result == PERFILE_ERROR_MEMORY ? "out of memory" : "cannot be written")
                      : 0;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

struct reading {
    struct pf_aggregate into;
    const char *at, *end;
    uint64_t line;
    uint32_t *numbers[PF_AGGREGATE_KINDS]; /* of the things of lines, which may be equal */
    size_t counts[PF_AGGREGATE_KINDS], capacities[PF_AGGREGATE_KINDS];
    char *text; /* the last value, without escapes */
    size_t text_capacity;
    bool complete; /* the line of losses was there */
};

/* Returns the value after the next tab; NULL at the end of the line. */
static const char *next_value(struct reading *r, size_t *bytes)
{
    if (r->at == r->end || *r->at != '\t')
        return NULL;
    const char *start = ++r->at;
    while (r->at < r->end && *r->at != '\t' && *r->at != '\n')
        r->at++;
    *bytes = (size_t)(r->at - start);
    return start;
}

/* 0, DAMAGED or MEMORY. */
static int take_text(struct reading *r, const char *value, size_t bytes, const char **text)
{
    size_t used = 0;
    *text = NULL;
    if (bytes == 2 && memcmp(value, "\\N", 2) == 0)
        return 0;
    if (!pf_grow(r->into.allocator, &r->text, &r->text_capacity, bytes + 1, 1))
        return PERFILE_ERROR_MEMORY;
    for (size_t i = 0; i < bytes; i++) {
        char c = value[i];
        if (c == '\\') {
            c = ++i < bytes ? value[i] : 0;
            c = c == 't' ? '\t' : c == 'n' ? '\n' : c == '\\' ? c : 0;
        }
        if (!c)
            return PERFILE_ERROR_DAMAGED;
        r->text[used++] = c;
    }
    r->text[used] = 0;
    *text = r->text;
    return pf_aggregate_text(&r->into, text) ? 0 : PERFILE_ERROR_MEMORY;
}

static bool take_digits(const char *value, size_t bytes, uint64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < bytes; i++)
        if (value[i] < '0' || value[i] > '9' || __builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, (uint64_t)(value[i] - '0'), number))
            return false;
    return bytes > 0;
}

static bool take_hex(const char *value, size_t bytes, uint8_t to[BUILD_ID])
{
    static const char digits[] = "0123456789abcdef";
    if (bytes != 2 * (size_t)BUILD_ID)
        return false;
    for (size_t i = 0; i < bytes; i++) {
        const char *digit = value[i] ? strchr(digits, value[i]) : NULL;
        if (!digit)
            return false;
        to[i / 2] = (uint8_t)(to[i / 2] << 4 | (digit - digits));
    }
    return true;
}

static bool take_signed(const char *value, size_t bytes, int32_t *to)
{
    uint64_t number;
    const bool negative = bytes && *value == '-';
    if (!take_digits(value + negative, bytes - negative, &number) || number > (uint64_t)INT32_MAX + negative)
        return false;
    *to = (int32_t)(negative ? -(int64_t)number : (int64_t)number);
    return true;
}

static bool take_u32(const struct reading *r, const struct field *field, const char *value, size_t bytes, uint32_t *to)
{
    uint64_t number;
    if ((field->value == OPTIONAL_NUMBER || field->value == LAST_NUMBER) && bytes == 1 && *value == '-') {
        *to = PERFILE_NO_ID;
        return true;
    }
    if (!take_digits(value, bytes, &number) || number > UINT32_MAX)
        return false;
    *to = (uint32_t)number;
    if (field->value == U32)
        return !field->max || number <= field->max;
    if (number >= r->counts[field->max])
        return false;
    *to = r->numbers[field->max][number];
    return true;
}

/* 0, DAMAGED or MEMORY. */
static int take_value(struct reading *r, const struct field *field, void *item)
{
    size_t bytes = 0;
    char *at = (char *)item + field->offset;
    const char *value = next_value(r, &bytes);
    uint64_t number;
    bool fine = false;
    if (!value && field->value == LAST_NUMBER) {
        *(uint32_t *)(void *)at = PERFILE_NO_ID;
        return 0;
    }
    if (!value)
        return PERFILE_ERROR_DAMAGED;
    if (field->value == TEXT || field->value == OPTIONAL_TEXT) {
        const int result = take_text(r, value, bytes, (const char **)at);
        return result || field->value == OPTIONAL_TEXT || *(const char **)at ? result : PERFILE_ERROR_DAMAGED;
    }
    if (field->value == BYTES)
        fine = take_hex(value, bytes, (uint8_t *)at);
    else if (field->value == I32)
        fine = take_signed(value, bytes, (int32_t *)at);
    else if (field->value == U64)
        fine = take_digits(value, bytes, (uint64_t *)at);
    else if (field->value != FLAG)
        fine = take_u32(r, field, value, bytes, (uint32_t *)at);
    else if ((fine = take_digits(value, bytes, &number) && number < 2))
        *(bool *)at = number;
    return fine ? 0 : PERFILE_ERROR_DAMAGED;
}

static uint32_t number_item(struct reading *r, enum pf_aggregate_kind kind, union pf_aggregate_item *item)
{
    if (kind != PF_AGGREGATE_RECORDINGS)
        return pf_aggregate_number(&r->into, kind, item);
    item->recording.cmdline = pf_arena_new(&r->into.profile->arena, sizeof(*item->recording.cmdline));
    return item->recording.cmdline ? pf_aggregate_append(&r->into, kind, item) : PF_AGGREGATE_NONE;
}

static int take_item(struct reading *r, const struct layout *layout)
{
    const enum pf_aggregate_kind kind = layout->kind;
    union pf_aggregate_item item;
    memset(&item, 0, sizeof(item));
    for (size_t i = 0; i < layout->count; i++) {
        const int result = take_value(r, &layout->fields[i], &item);
        if (result < 0)
            return result;
    }
    const uint32_t number = number_item(r, kind, &item);
    if (number == PF_AGGREGATE_NONE ||
        !pf_grow(r->into.allocator, &r->numbers[kind], &r->capacities[kind], r->counts[kind] + 1, sizeof(uint32_t)))
        return PERFILE_ERROR_MEMORY;
    r->numbers[kind][r->counts[kind]++] = number;
    return 0;
}

static int take_losses(struct reading *r)
{
    r->complete = true;
    for (size_t i = 0; i < PF_COUNT(losses); i++) {
        const struct field field = {losses[i], U64, 0};
        const int result = take_value(r, &field, &r->into.profile->losses);
        if (result < 0)
            return result;
    }
    return 0;
}

static int take_line(struct reading *r)
{
    const char letter = *r->at++;
    int result = PERFILE_ERROR_DAMAGED;
    r->line++;
    if (letter == 'L' && !r->complete)
        result = take_losses(r);
    for (size_t i = 0; letter != 'L' && i < PF_COUNT(layouts) && !r->complete; i++)
        if (layouts[i].letter == letter)
            result = take_item(r, &layouts[i]);
    if (result < 0)
        return result;
    return r->at < r->end && *r->at++ == '\n' ? 0 : PERFILE_ERROR_DAMAGED;
}

static int take_all(struct reading *r)
{
    int result = 0;
    while (result == 0 && r->at < r->end)
        result = take_line(r);
    if (result == 0 && !r->complete)
        return PERFILE_ERROR_TRUNCATED;
    return result == 0 && !pf_aggregate_finish(&r->into) ? PERFILE_ERROR_MEMORY : result;
}

bool perfile_profile_is_file(const void *data, size_t bytes)
{
    return bytes >= sizeof(HEADER) - 1 && memcmp(data, HEADER, sizeof(HEADER) - 1) == 0;
}

int perfile_profile_read(const void *data, size_t bytes, const struct perfile_allocator *allocator,
                         struct perfile_profile **profile, struct perfile_error *error)
{
    struct reading r = {.line = 1};
    *profile = NULL;
    if (!data || !perfile_profile_is_file(data, bytes))
        return pf_fail(error, PERFILE_ERROR_FORMAT, PERFILE_NO_OFFSET, "profile", "it does not begin as one");
    r.at = (const char *)data + sizeof(HEADER) - 1;
    r.end = (const char *)data + bytes;
    const int result = pf_aggregate_open(&r.into, allocator) ? take_all(&r) : PERFILE_ERROR_MEMORY;
    for (size_t i = 0; r.into.profile && i < PF_AGGREGATE_KINDS; i++)
        pf_free(r.into.allocator, r.numbers[i], r.capacities[i] * sizeof(uint32_t));
    if (r.into.profile)
        pf_free(r.into.allocator, r.text, r.text_capacity);
    if (result == 0) {
        *profile = r.into.profile;
        r.into.profile = NULL;
    }
    pf_aggregate_close(&r.into);
    if (result == PERFILE_ERROR_MEMORY)
        return pf_fail_memory(error, "profile");
    return result < 0 ? pf_fail(error, result, PERFILE_NO_OFFSET, "profile",
                                result == PERFILE_ERROR_TRUNCATED ? "it ends too early" : "line %llu is invalid",
                                (unsigned long long)r.line)
                      : 0;
}
