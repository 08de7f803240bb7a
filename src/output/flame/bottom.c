/* SPDX-License-Identifier: MIT */
#include "output/flame/bottom.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/filter.h"

/* What frames of a level are; not all keys are levels. */
static const struct {
    bool is_level;
    uint8_t kind, by;
} levels[PF_KEYS] = {
    [PF_KEY_comm] = {true, PF_FLAME_THREAD, PF_FLAME_BY_COMM},
    [PF_KEY_pid] = {true, PF_FLAME_THREAD, PF_FLAME_BY_PID},
    [PF_KEY_tid] = {true, PF_FLAME_THREAD, PF_FLAME_BY_TID},
    [PF_KEY_cpu] = {true, PF_FLAME_CPU, 0},
    [PF_KEY_time] = {true, PF_FLAME_TIME, 0},
};

static const uint64_t second_ns = 1000000000, default_quantum_ns = 100000000;

/* ---- options ---- */

static int fail_level(const struct pf_bottom_options *options, const char *word, size_t bytes,
                      struct perfile_error *error)
{
    char known[96];
    unsigned set = 0;
    for (unsigned i = 0; i < PF_KEYS; i++)
        set |= levels[i].is_level ? 1u << i : 0;
    return pf_about(error, word, bytes,
                    pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "by", "unknown level '%.*s'; valid: %s%s",
                            (int)pf_min(bytes, 80), word, pf_key_list(set, known, sizeof(known)),
                            options->reader    ? ", and columns of reports that describe samples"
                            : options->profile ? ", and what else the profile keeps"
                                               : ""));
}

/* Also the control group, which is a key of profiles, and a column of reports. */
static bool has_tag(const struct perfile_profile *profile, const char *name)
{
    struct perfile_profile_tag tag = PERFILE_PROFILE_TAG_INIT;
    for (size_t i = 0; perfile_profile_tag_at(profile, i, &tag) == 0; i++)
        if (strcmp(tag.name, name) == 0)
            return true;
    return strcmp(name, pf_key_name(PF_KEY_cgroup)) == 0;
}

static int add_profile_tag(struct pf_bottom *bottom, const struct pf_bottom_options *options, const char *word,
                           size_t bytes, struct perfile_error *error)
{
    char *name = pf_arena_text(&bottom->arena, word, bytes);
    if (!name)
        return pf_fail_memory(error, "flame graph");
    if (bottom->name_count == PF_TAGS_MAX || !has_tag(options->profile, name))
        return fail_level(options, word, bytes, error);
    bottom->levels[bottom->level_count++] = PF_KEYS + (unsigned)bottom->name_count;
    bottom->names[bottom->name_count++] = name;
    return 0;
}

static int add_tag(struct pf_bottom *bottom, const struct pf_bottom_options *options, const char *word, size_t bytes,
                   struct perfile_error *error)
{
    if (options->profile)
        return add_profile_tag(bottom, options, word, bytes, error);
    if (!options->reader)
        return fail_level(options, word, bytes, error);
    if (!bottom->tags && !(bottom->tags = pf_tags_open(options->reader, bottom->allocator, false)))
        return pf_fail_memory(error, "flame graph");
    const int tag = pf_tags_add(bottom->tags, word, bytes, error);
    if (tag == PERFILE_ERROR_ARGUMENT)
        return fail_level(options, word, bytes, error);
    if (tag < 0)
        return tag;
    bottom->levels[bottom->level_count++] = PF_KEYS + (unsigned)tag;
    return 0;
}

static int add_level(struct pf_bottom *bottom, const struct pf_bottom_options *options, const char *word, size_t bytes,
                     struct perfile_error *error)
{
    const enum pf_key level = pf_key_find(word, bytes);
    const bool is_key = level != PF_KEYS && levels[level].is_level;
    if (options->only == (is_key ? PF_BOTTOM_TAGS : PF_BOTTOM_KEYS))
        return 0;
    if (!is_key)
        return add_tag(bottom, options, word, bytes, error);
    for (size_t i = 0; i < bottom->level_count; i++)
        if (bottom->levels[i] == level)
            return pf_about(error, word, bytes,
                            pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "by", "'%s' is given twice",
                                    pf_key_name(level)));
    bottom->levels[bottom->level_count++] = level;
    return 0;
}

static int parse_levels(struct pf_bottom *bottom, const struct pf_bottom_options *options, struct perfile_error *error)
{
    int result = 0;
    for (const char *by = options->by; by && result == 0;) {
        const size_t bytes = strcspn(by, ",");
        result = add_level(bottom, options, by, bytes, error);
        if (!by[bytes])
            break;
        by += bytes + 1;
    }
    return result < 0 || !bottom->tags ? result : pf_tags_begin(bottom->tags, error);
}

static bool has_time(const struct pf_bottom *bottom)
{
    for (size_t i = 0; i < bottom->level_count; i++)
        if (bottom->levels[i] == PF_KEY_time)
            return true;
    return false;
}

int pf_bottom_open(struct pf_bottom *bottom, const struct pf_bottom_options *options, struct perfile_error *error)
{
    const struct perfile_allocator *allocator = options->allocator;
    const char *quantum = options->quantum;
    *bottom = (struct pf_bottom){.allocator = allocator, .quantum_ns = default_quantum_ns, .profile = options->profile};
    pf_arena_open(&bottom->arena, allocator);
    for (size_t i = 0; i < PF_BOTTOM_LEVELS; i++)
        pf_pairs_open(&bottom->positions[i], allocator);
    int result = parse_levels(bottom, options, error);
    if (result == 0 && quantum)
        result = pf_parse_duration(quantum, &bottom->quantum_ns, error);
    if (result == 0 && quantum && !has_time(bottom))
        result = pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "time quantum",
                         "it needs stacks by time, such as by \"time\"");
    return result;
}

const char *pf_bottom_list(const struct pf_bottom *bottom, char *text)
{
    size_t used = 0;
    snprintf(text, PF_BOTTOM_LIST, "none");
    for (size_t i = 0; i < bottom->level_count; i++)
        if (bottom->levels[i] < PF_KEYS)
            used += (size_t)snprintf(text + used, PF_BOTTOM_LIST - used, "%s%s", used ? "," : "",
                                     pf_key_name(bottom->levels[i]));
    return text;
}

void pf_bottom_set_threads(struct pf_bottom *bottom)
{
    bottom->levels[0] = PF_KEY_tid;
    bottom->level_count = 1;
}

void pf_bottom_close(struct pf_bottom *bottom)
{
    pf_free(bottom->allocator, bottom->frames, bottom->frame_capacity * sizeof(*bottom->frames));
    pf_free(bottom->allocator, bottom->numbers, bottom->number_capacity * sizeof(*bottom->numbers));
    for (size_t i = 0; i < PF_BOTTOM_LEVELS; i++)
        pf_pairs_close(&bottom->positions[i]);
    pf_tags_close(bottom->tags);
    pf_arena_close(&bottom->arena);
}

/* ---- frames ---- */

/* What distinguishes the frames of a level: a text and a number. A tag without text: out of memory. */
struct owner {
    const char *name;
    uint64_t number;
};

static struct owner owner_of_row(const struct pf_bottom *bottom, const char *name)
{
    const char *text = strcmp(name, pf_key_name(PF_KEY_cgroup)) == 0 ? bottom->row->cgroup : NULL;
    struct perfile_profile_tag tag = PERFILE_PROFILE_TAG_INIT;
    for (uint32_t i = bottom->row->tags; !text && perfile_profile_tag_at(bottom->profile, i, &tag) == 0; i = tag.next)
        if (strcmp(tag.name, name) == 0)
            text = tag.text;
    return (struct owner){text ? text : "[unknown]", 0};
}

static struct owner owner_of_tag(const struct pf_bottom *bottom, unsigned tag, const struct pf_profile_sample *sample)
{
    if (bottom->profile)
        return owner_of_row(bottom, bottom->names[tag]);
    const uint32_t number = pf_tags_number(bottom->tags, sample);
    return (struct owner){number == UINT32_MAX ? NULL : pf_tags_text(bottom->tags, number, tag), 0};
}

static struct owner owner_at(const struct pf_bottom *bottom, unsigned level, const struct pf_profile_sample *sample)
{
    const uint64_t parts = sample->event->attr->sample_type;
    if (level >= PF_KEYS)
        return owner_of_tag(bottom, level - PF_KEYS, sample);
    switch (level) {
    case PF_KEY_cpu:
        return (struct owner){NULL, parts & PERFILE_SAMPLE_CPU ? sample->cpu : UINT64_MAX};
    case PF_KEY_time:
        return (struct owner){NULL, parts & PERFILE_SAMPLE_TIME ? sample->time / bottom->quantum_ns : UINT64_MAX};
    case PF_KEY_pid:
        return (struct owner){sample->comm, (uint64_t)(uint32_t)sample->pid << 32};
    case PF_KEY_tid:
        return (struct owner){sample->comm, (uint64_t)(uint32_t)sample->pid << 32 | (uint32_t)sample->tid};
    default:
        return (struct owner){sample->comm, 0};
    }
}

static char *make_name(struct pf_bottom *bottom, const char *text)
{
    return pf_arena_text(&bottom->arena, text, strlen(text));
}

/* As perf script prints processors, so that their order is that of their names. */
static char *cpu_name(struct pf_bottom *bottom, uint64_t cpu)
{
    char name[32];
    snprintf(name, sizeof(name), "cpu%03" PRIu64, cpu);
    return make_name(bottom, cpu == UINT64_MAX ? "[no cpu]" : name);
}

static bool add_frame(struct pf_bottom *bottom, unsigned level, struct owner owner,
                      const struct pf_profile_sample *sample)
{
    const size_t position = bottom->frame_count;
    const char *name = level == PF_KEY_cpu ? cpu_name(bottom, owner.number) : owner.name;
    const bool is_tag = level >= PF_KEYS;
    if (((is_tag || level == PF_KEY_cpu) && !name) ||
        !pf_grow(bottom->allocator, &bottom->frames, &bottom->frame_capacity, position + 1, sizeof(*bottom->frames)) ||
        !pf_grow(bottom->allocator, &bottom->numbers, &bottom->number_capacity, position + 1,
                 sizeof(*bottom->numbers)) ||
        !pf_pairs_put(&bottom->positions[level], (uintptr_t)owner.name, owner.number, (uint32_t)position))
        return false;
    bottom->numbers[position] = owner.number;
    bottom->frames[position] = (struct pf_flame_frame){.name = name,
                                                       .pid = (uint32_t)sample->pid,
                                                       .tid = (uint32_t)sample->tid,
                                                       .kind = is_tag ? PF_FLAME_THREAD : levels[level].kind,
                                                       .by = is_tag ? PF_FLAME_BY_COMM : levels[level].by};
    bottom->frame_count++;
    return true;
}

uint32_t pf_bottom_frame(struct pf_bottom *bottom, size_t level, const struct pf_profile_sample *sample)
{
    const unsigned which = bottom->levels[level];
    const struct owner owner = owner_at(bottom, which, sample);
    uint32_t position;
    if (pf_pairs_get(&bottom->positions[which], (uintptr_t)owner.name, owner.number, &position))
        return position;
    return add_frame(bottom, which, owner, sample) ? (uint32_t)(bottom->frame_count - 1) : UINT32_MAX;
}

/* ---- names of times ---- */

/* Returns how many digits after the point distinguish multiples of the quantum. */
static unsigned fraction_digits(uint64_t quantum_ns)
{
    unsigned digits = 9;
    for (; digits && quantum_ns % 10 == 0; quantum_ns /= 10)
        digits--;
    return digits;
}

/* When the piece begins, in seconds: "4711.3s". */
static char *time_name(struct pf_bottom *bottom, uint64_t piece, unsigned seconds_digits)
{
    const unsigned digits = fraction_digits(bottom->quantum_ns);
    const uint64_t ns = piece * bottom->quantum_ns;
    char name[64], fraction[16];
    if (piece == UINT64_MAX)
        return make_name(bottom, "[no time]");
    snprintf(fraction, sizeof(fraction), ".%09" PRIu64, ns % second_ns);
    snprintf(name, sizeof(name), "%0*" PRIu64 "%.*ss", (int)seconds_digits, ns / second_ns,
             digits ? (int)digits + 1 : 0, fraction);
    return make_name(bottom, name);
}

bool pf_bottom_finish(struct pf_bottom *bottom)
{
    uint64_t last = 0;
    for (size_t i = 0; i < bottom->frame_count; i++)
        if (bottom->frames[i].kind == PF_FLAME_TIME && bottom->numbers[i] != UINT64_MAX)
            last = pf_max(last, bottom->numbers[i]);
    const unsigned digits = pf_digit_count(last * bottom->quantum_ns / second_ns);
    for (size_t i = 0; i < bottom->frame_count; i++)
        if (bottom->frames[i].kind == PF_FLAME_TIME &&
            !(bottom->frames[i].name = time_name(bottom, bottom->numbers[i], digits)))
            return false;
    return true;
}
