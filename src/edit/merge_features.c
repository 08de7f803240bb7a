/* SPDX-License-Identifier: MIT */
/* Header features of several recordings as those of one. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "base/text.h"
#include "edit/merge.h"

void pf_merge_note(const struct pf_merge *merge, const struct pf_merge_input *input, const char *rule, uint32_t feature,
                   const char *format, ...)
{
    char message[256];
    if (!merge->options.note)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    const struct perfile_merge_note note = {
        .input = input->number, .rule = rule, .feature = feature, .message = message};
    merge->options.note(merge->options.note_context, &note);
}

/* ---- the list ---- */

static struct pf_merge_feature *find_feature(const struct pf_merge *merge, uint32_t number)
{
    for (size_t i = 0; i < merge->feature_count; i++)
        if (merge->features[i].number == number)
            return &merge->features[i];
    return NULL;
}

static bool append(const struct pf_merge *merge, struct pf_merge_feature *feature, const void *data, size_t bytes)
{
    if (!bytes)
        return true;
    if (!pf_grow(merge->allocator, &feature->data, &feature->capacity, feature->bytes + bytes, 1))
        return false;
    memcpy(feature->data + feature->bytes, data, bytes);
    feature->bytes += bytes;
    return true;
}

static struct pf_merge_feature *add_feature(struct pf_merge *merge, const struct pf_merge_input *input, uint32_t number)
{
    if (!pf_grow(merge->allocator, &merge->features, &merge->feature_capacity, merge->feature_count + 1,
                 sizeof(*merge->features)))
        return NULL;
    struct pf_merge_feature *feature = &merge->features[merge->feature_count++];
    *feature = (struct pf_merge_feature){.number = number, .input = input->number};
    return feature;
}

void pf_merge_close_features(struct pf_merge *merge)
{
    for (size_t i = 0; i < merge->feature_count; i++)
        pf_free(merge->allocator, merge->features[i].data, merge->features[i].capacity);
    pf_free(merge->allocator, merge->features, merge->feature_capacity * sizeof(*merge->features));
    pf_free(merge->allocator, merge->added, merge->added_capacity * sizeof(*merge->added));
    pf_map_close(&merge->build_ids);
    pf_map_close(&merge->files);
}

/* ---- two of the same number ---- */

struct pair {
    struct pf_merge *merge;
    struct pf_merge_input *input;
    struct pf_merge_feature *feature; /* what the output has so far */
    struct perfile_bytes body;        /* what comes, in the output's byte order */
};

static uint64_t word_at(const struct pair *pair, const uint8_t *data)
{
    return pf_load64(data, pair->merge->writer->swap);
}

static void put_word(const struct pair *pair, uint8_t *data, uint64_t value)
{
    value = pf_load64(&value, pair->merge->writer->swap);
    memcpy(data, &value, sizeof(value));
}

static bool is_equal(const struct pair *pair)
{
    return pair->feature->bytes == pair->body.bytes &&
           (!pair->body.bytes || memcmp(pair->feature->data, pair->body.data, pair->feature->bytes) == 0);
}

static int keep_first(struct pair *pair)
{
    const struct pf_merge *merge = pair->merge;
    const char *name = perfile_feature_name(pair->feature->number);
    if (is_equal(pair))
        return 0;
    pair->input->counts->features_dropped++;
    pf_merge_note(merge, pair->input, "feature-differs", pair->feature->number,
                  "feature %s differs: that of %s is kept", name ? name : "of unknown number",
                  merge->inputs[pair->feature->input].name);
    return 0;
}

static int keep_greater_word(struct pair *pair)
{
    if (pair->feature->bytes < 8 || pair->body.bytes < 8)
        return keep_first(pair);
    if (word_at(pair, pair->body.data) > word_at(pair, pair->feature->data))
        memcpy(pair->feature->data, pair->body.data, 8);
    return 0;
}

/* Spans and clocks are put together when all of them are known. */
static int keep_for_later(struct pair *pair)
{
    (void)pair;
    return 0;
}

/* ---- GROUP_DESC: u32 count, each: text, u32 leader, u32 members ---- */

struct group {
    struct perfile_bytes name; /* with its length word */
    uint32_t leader, members;
};

static struct group take_group(struct pf_cursor *c)
{
    struct group group = {{c->at, 0}, 0, 0};
    uint32_t capacity = pf_cursor_u32(c);
    pf_cursor_take(c, capacity);
    group.name.bytes = (uint64_t)(c->at - group.name.data);
    group.leader = pf_cursor_u32(c);
    group.members = pf_cursor_u32(c);
    return group;
}

/* The members of a group stand side by side: is it so in the output? */
static bool route_group(const struct pair *pair, struct group *group)
{
    const struct pf_merge_input *input = pair->input;
    if (group->members > input->route_count || group->leader > input->route_count - group->members || !group->members)
        return false;
    const uint32_t first = input->routes[group->leader].event;
    for (uint32_t i = 0; i < group->members; i++)
        if (input->routes[group->leader + i].event != first + i)
            return false;
    group->leader = first;
    return true;
}

static bool has_group(const struct pair *pair, const struct group *wanted)
{
    struct pf_cursor c = pf_cursor_make(pair->feature->data, pair->feature->bytes, 0, pair->merge->writer->swap);
    uint32_t count = pf_cursor_u32(&c);
    for (uint32_t i = 0; i < count && !c.failed; i++) {
        const struct group group = take_group(&c);
        if (!c.failed && group.leader == wanted->leader && group.members == wanted->members)
            return true;
    }
    return false;
}

static int add_group(struct pair *pair, const struct group *group)
{
    const bool swap = pair->merge->writer->swap;
    uint8_t tail[8];
    struct pf_out o = pf_out_make(tail, sizeof(tail), swap);
    pf_out_u32(&o, group->leader);
    pf_out_u32(&o, group->members);
    if (!append(pair->merge, pair->feature, group->name.data, (size_t)group->name.bytes) ||
        !append(pair->merge, pair->feature, tail, sizeof(tail)))
        return PERFILE_ERROR_MEMORY;
    o = pf_out_make(pair->feature->data, 4, swap);
    pf_out_u32(&o, pf_load32(pair->feature->data, swap) + 1);
    return 0;
}

static int keep_groups(struct pair *pair)
{
    struct pf_cursor c = pf_cursor_make(pair->body.data, (size_t)pair->body.bytes, 0, pair->merge->writer->swap);
    uint32_t count = pf_cursor_u32(&c);
    if (pair->feature->bytes < 4)
        return keep_first(pair);
    for (uint32_t i = 0; i < count && !c.failed; i++) {
        struct group group = take_group(&c);
        if (c.failed)
            break;
        if (!route_group(pair, &group))
            pf_merge_note(pair->merge, pair->input, "group-lost", PERFILE_FEATURE_GROUP_DESC,
                          "event group %u is dropped: its events are not adjacent in the output", i);
        else if (!has_group(pair, &group) && add_group(pair, &group) < 0)
            return PERFILE_ERROR_MEMORY;
    }
    return 0;
}

/* ---- BUILD_ID ---- */

/* No input had the very same. `result` is that of noting it. */
static bool is_new_entry(struct pf_merge *merge, const struct pf_merge_feature *feature, const uint8_t *data,
                         size_t bytes, int *result)
{
    const uint64_t hash = (uint64_t)pf_crc32(0, data + 4, bytes - 4) << 16 | bytes;
    uint64_t at;
    if (pf_map_get(&merge->build_ids, hash, &at))
        return bytes > feature->bytes - at || memcmp(feature->data + at + 4, data + 4, bytes - 4) != 0;
    *result = pf_map_put(&merge->build_ids, hash, feature->bytes) ? 0 : PERFILE_ERROR_MEMORY;
    return true;
}

/* Counts the files that had another build id in an earlier input: readers know one for each path. */
static int note_file(struct pf_merge *merge, struct pf_merge_input *input, const uint8_t *data, size_t bytes)
{
    enum { NAME_AT = 36 };
    if (bytes <= NAME_AT)
        return 0;
    const size_t length = pf_text_length(data + NAME_AT, bytes - NAME_AT);
    const uint64_t hash = (uint64_t)pf_crc32(pf_load32(data + 8, false), data + NAME_AT, length) << 16 | length;
    uint64_t owner;
    if (!pf_map_get(&merge->files, hash, &owner))
        return pf_map_put(&merge->files, hash, input->number) ? 0 : PERFILE_ERROR_MEMORY;
    input->other_files += owner != input->number;
    return 0;
}

static int take_build_ids(struct pf_merge *merge, struct pf_merge_input *input, struct pf_merge_feature *feature,
                          const struct perfile_bytes *body)
{
    const uint8_t *data = body->data;
    size_t bytes = (size_t)body->bytes;
    int result = 0;
    while (bytes >= 8 && result == 0) {
        const size_t size = pf_load16(data + 6, merge->writer->swap);
        if (size < 8 || size > bytes)
            break;
        /* one recording may have an entry twice, and keeps it */
        if (is_new_entry(merge, feature, data, size, &result) || merge->input_count == 1) {
            result = append(merge, feature, data, size) ? result : PERFILE_ERROR_MEMORY;
            result = result < 0 ? result : note_file(merge, input, data, size);
        }
        data += size;
        bytes -= size;
    }
    if (result == 0 && bytes && merge->input_count == 1) /* what follows is not an entry, but it was there */
        result = append(merge, feature, data, bytes) ? 0 : PERFILE_ERROR_MEMORY;
    return result;
}

static int keep_build_ids(struct pair *pair)
{
    return take_build_ids(pair->merge, pair->input, pair->feature, &pair->body);
}

/* ---- taking ---- */

typedef int keeper(struct pair *pair);

static keeper *keeper_of(uint32_t number)
{
    static const struct {
        uint32_t number;
        keeper *keep;
    } keepers[] = {
        {PERFILE_FEATURE_BUILD_ID, keep_build_ids},    {PERFILE_FEATURE_TOTAL_MEM, keep_greater_word},
        {PERFILE_FEATURE_SAMPLE_TIME, keep_for_later}, {PERFILE_FEATURE_CLOCK_DATA, keep_for_later},
        {PERFILE_FEATURE_GROUP_DESC, keep_groups},
    };
    for (size_t i = 0; i < PF_COUNT(keepers); i++)
        if (keepers[i].number == number)
            return keepers[i].keep;
    return keep_first;
}

/* What the features say that decides how the input is treated. */
static void look_inside(struct pf_merge *merge, struct pf_merge_input *input, uint32_t number,
                        const struct perfile_bytes *body)
{
    const bool swap = merge->writer->swap;
    if (number == PERFILE_FEATURE_SAMPLE_TIME && body->bytes >= 16) {
        input->first_time = pf_load64(body->data, swap);
        input->last_time = pf_load64(body->data + 8, swap);
        input->has_span = input->first_time && input->first_time <= input->last_time;
    }
    if (number == PERFILE_FEATURE_CLOCK_DATA && body->bytes >= 24) {
        input->has_clock = true;
        input->wall_ns = pf_load64(body->data + 8, swap);
        input->clock_ns = pf_load64(body->data + 16, swap);
    }
}

/* The first with its number. In a stream nothing can be added to what is written. */
static int take_first(struct pf_merge *merge, struct pf_merge_input *input, uint32_t number,
                      const struct perfile_bytes *body)
{
    struct pf_merge_feature *feature = add_feature(merge, input, number);
    if (!feature)
        return PERFILE_ERROR_MEMORY;
    struct pair pair = {merge, input, feature, *body};
    if (number == PERFILE_FEATURE_BUILD_ID)
        return keep_build_ids(&pair);
    if (number != PERFILE_FEATURE_GROUP_DESC || input->number == 0)
        return append(merge, feature, body->data, (size_t)body->bytes) ? 0 : PERFILE_ERROR_MEMORY;
    static const uint8_t none[4];
    return append(merge, feature, none, sizeof(none)) ? keep_groups(&pair) : PERFILE_ERROR_MEMORY;
}

/*
 * perf reads CPU_TOPOLOGY by the counts of NRCPUS, and refuses the file when these are of another machine: all of them
 * are those of the input with the most CPUs.
 */
static bool counts_cpus(uint32_t number)
{
    return number == PERFILE_FEATURE_NRCPUS || number == PERFILE_FEATURE_CPU_TOPOLOGY ||
           number == PERFILE_FEATURE_CPU_DOMAIN_INFO;
}

void pf_merge_choose_cpus(struct pf_merge *merge)
{
    uint64_t max = 0, count;
    merge->cpus = &merge->inputs[0];
    for (size_t i = 0; i < merge->input_count; i++) {
        struct pf_merge_input *input = &merge->inputs[i];
        if (perfile_feature_number(input->reader, PERFILE_FEATURE_NRCPUS, "nr_cpus_available", &count, NULL) < 0 ||
            count <= max)
            continue;
        max = count;
        merge->cpus = input;
    }
}

static void drop_cpus(const struct pf_merge *merge, const struct pf_merge_input *input, uint32_t number,
                      const struct perfile_bytes *body)
{
    const uint8_t *kept;
    size_t bytes;
    const bool same_order = input->reader->file.swapped == merge->cpus->reader->file.swapped;
    /* `body` is in the order of the output already */
    if (pf_feature_look(merge->cpus->reader, number, &kept, &bytes, NULL) == 0 && bytes == body->bytes &&
        (!same_order || merge->writer->swap != input->reader->file.swapped || !bytes ||
         memcmp(kept, body->data, bytes) == 0))
        return;
    input->counts->features_dropped++;
    pf_merge_note(merge, input, "feature-differs", number,
                  "feature %s differs: that of %s, which has the most CPUs, is kept", perfile_feature_name(number),
                  merge->cpus->name);
}

static int take_turned(struct pf_merge *merge, struct pf_merge_input *input, uint32_t number,
                       const struct perfile_bytes *body, struct perfile_error *error)
{
    struct pf_merge_feature *feature = find_feature(merge, number);
    struct pair pair = {merge, input, feature, *body};
    look_inside(merge, input, number, body);
    if (counts_cpus(number) && input != merge->cpus) {
        drop_cpus(merge, input, number, body);
        return 0;
    }
    const int result = feature ? keeper_of(number)(&pair) : take_first(merge, input, number, body);
    return result < 0 ? pf_fail_memory(error, "feature") : 0;
}

/* The empty HOSTNAME that a writer adds: it differs from nothing. */
static bool says_nothing(uint32_t number, const struct perfile_bytes *body)
{
    return number == PERFILE_FEATURE_HOSTNAME && body->bytes > 4 && !body->data[4];
}

bool pf_merge_refuses_feature(struct pf_merge *merge, struct pf_merge_input *input, uint64_t number)
{
    if (pf_feature_is_valid(number))
        return false;
    input->counts->features_dropped++;
    pf_merge_note(merge, input, "feature-number", 0, "invalid feature number %" PRIu64 ": dropped", number);
    return true;
}

int pf_merge_take_feature(struct pf_merge *merge, struct pf_merge_input *input, uint32_t number,
                          const struct perfile_bytes *body, struct perfile_error *error)
{
    if (pf_writer_owns_feature(number) || says_nothing(number, body))
        return 0;
    if (number == PERFILE_FEATURE_TRACING_DATA)
        return pf_merge_take_tracing(merge, input, error);
    if (input->reader->file.swapped == merge->writer->swap)
        return take_turned(merge, input, number, body, error);
    uint8_t *turned = pf_new(merge->allocator, (size_t)body->bytes + 1);
    if (!turned)
        return pf_fail_memory(error, "feature");
    if (!pf_feature_turn(input->reader, number, body->data, (size_t)body->bytes, turned))
        pf_merge_note(merge, input, "feature-order", number,
                      "feature %s is copied unchanged: its byte order cannot be turned",
                      perfile_feature_name(number) ? perfile_feature_name(number) : "of unknown number");
    const struct perfile_bytes complete = {turned, body->bytes};
    int result = take_turned(merge, input, number, &complete, error);
    pf_free(merge->allocator, turned, (size_t)body->bytes + 1);
    return result;
}

int pf_merge_take_features(struct pf_merge *merge, struct pf_merge_input *input, struct perfile_error *error)
{
    const struct perfile_feature *feature;
    for (size_t i = 0; (feature = perfile_feature_get(input->reader, i)); i++) {
        struct perfile_error why;
        const uint8_t *data;
        size_t bytes;
        if (pf_writer_owns_feature(feature->number) || pf_merge_refuses_feature(merge, input, feature->number))
            continue;
        int result = pf_feature_look(input->reader, feature->number, &data, &bytes, &why);
        if (result == PERFILE_ERROR_MEMORY) {
            *error = why;
            return result;
        }
        const struct perfile_bytes body = {data, bytes};
        if (result == 0) {
            result = pf_merge_take_feature(merge, input, feature->number, &body, error);
        } else {
            pf_writer_diagnose(merge->writer, "feature-lost", why.message);
            input->counts->features_dropped++;
            result = 0;
        }
        if (result < 0)
            return result;
    }
    const int found = perfile_feature_text(input->reader, PERFILE_FEATURE_HOSTNAME, NULL, &input->host, error);
    if (found == PERFILE_ERROR_MEMORY)
        return found;
    if (found < 0 || !*input->host)
        input->host = NULL;
    /* in a stream it is a record of its own */
    return input->reader->tracing_data ? pf_merge_take_tracing(merge, input, error) : 0;
}

static bool is_fact(uint32_t number)
{
    for (const uint32_t *fact = pf_merge_facts; *fact; fact++)
        if (*fact == number)
            return true;
    return false;
}

void pf_merge_discard_features(const struct pf_merge *merge, const struct pf_merge_input *input)
{
    const bool first = input->duplicate == input->number;
    const struct perfile_feature *feature;
    for (size_t i = 0; (feature = perfile_feature_get(input->reader, i)); i++)
        if (!(first && is_fact(feature->number)) && !(input == merge->cpus && counts_cpus(feature->number)) &&
            !(input == merge->tracing && feature->number == PERFILE_FEATURE_TRACING_DATA))
            pf_feature_discard(input->reader, feature->number);
}

/* In a stream the entry is a record; in the section its type is 0. */
int pf_merge_take_build_id(struct pf_merge *merge, struct pf_merge_input *input, const struct perfile_record *record,
                           struct perfile_error *error)
{
    uint8_t *entry = pf_new(merge->allocator, record->bytes);
    if (!entry)
        return pf_fail_memory(error, "build id");
    memcpy(entry + 4, record->data + 4, record->bytes - 4);
    const struct perfile_bytes body = {entry, record->bytes};
    struct pf_merge_feature *feature = find_feature(merge, PERFILE_FEATURE_BUILD_ID);
    const size_t before = feature ? feature->bytes : 0;
    int result = pf_merge_take_feature(merge, input, PERFILE_FEATURE_BUILD_ID, &body, error);
    pf_free(merge->allocator, entry, record->bytes);
    feature = find_feature(merge, PERFILE_FEATURE_BUILD_ID);
    if (result < 0 || merge->writer->options.mode != PERFILE_MODE_PIPE || !merge->settled || feature->bytes == before)
        return result;
    return pf_writer_set_feature(merge->writer, feature->number, feature->data + before, feature->bytes - before,
                                 error);
}

/* ---- putting ---- */

/* From the first sample of all to the last. */
static void join_spans(struct pf_merge *merge, struct pf_merge_feature *feature)
{
    const struct pair pair = {.merge = merge};
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t i = 0; i < merge->input_count; i++) {
        const struct pf_merge_input *input = &merge->inputs[i];
        if (!input->has_span)
            continue;
        first = pf_min(first, input->first_time);
        last = pf_max(last, input->last_time);
    }
    if (feature->bytes >= 16 && merge->input_count > 1 && last) {
        put_word(&pair, feature->data, first);
        put_word(&pair, feature->data + 8, last);
    }
}

/* What the output's times refer to: an input whose times stay. */
static void choose_clock(struct pf_merge *merge, struct pf_merge_feature *feature)
{
    const struct pair pair = {.merge = merge};
    if (!merge->report->clocks_aligned || feature->bytes < 24)
        return;
    for (size_t i = 0; i < merge->input_count; i++) {
        const struct pf_merge_input *input = &merge->inputs[i];
        if (input->shift_ns)
            continue;
        put_word(&pair, feature->data + 8, input->wall_ns);
        put_word(&pair, feature->data + 16, input->clock_ns);
        return;
    }
}

int pf_merge_put_features(struct pf_merge *merge, struct perfile_error *error)
{
    int result = pf_merge_put_tracing(merge, error);
    for (size_t i = 0; i < merge->feature_count && result == 0; i++) {
        struct pf_merge_feature *feature = &merge->features[i];
        if (feature->number == PERFILE_FEATURE_SAMPLE_TIME)
            join_spans(merge, feature);
        if (feature->number == PERFILE_FEATURE_CLOCK_DATA)
            choose_clock(merge, feature);
        result = pf_writer_set_feature(merge->writer, feature->number, feature->data, feature->bytes, error);
    }
    return result;
}
