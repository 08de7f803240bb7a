/* SPDX-License-Identifier: MIT */
/* What a recording says of itself, for its profile. */
#include "analysis/profile/aggregate.h"
#include "base/bytes.h"

/* The text of a feature; NULL where there is none. False when out of memory. */
static bool take_text(struct pf_aggregate *aggregate, struct perfile_reader *reader, uint32_t feature,
                      const char **text)
{
    const char *found = NULL;
    const int result = perfile_feature_text(reader, feature, NULL, &found, NULL);
    *text = result >= 0 && found && *found ? found : NULL;
    return result != PERFILE_ERROR_MEMORY && pf_aggregate_text(aggregate, text);
}

/* ---- the command line ---- */

struct words {
    struct pf_aggregate *aggregate;
    const char **list;
    size_t count, capacity;
};

static int take_word(void *context, const struct perfile_value *value)
{
    struct words *words = context;
    char *copy = pf_text_copy(words->aggregate->allocator, (const char *)value->data, value->bytes);
    const char *text = copy;
    const bool fine =
        copy && pf_aggregate_text(words->aggregate, &text) &&
        pf_grow(words->aggregate->allocator, &words->list, &words->capacity, words->count + 1, sizeof(*words->list));
    pf_text_free(words->aggregate->allocator, copy);
    if (fine)
        words->list[words->count++] = text;
    return !fine;
}

static bool take_cmdline(struct pf_aggregate *aggregate, struct perfile_reader *reader,
                         struct pf_aggregate_recording *recording)
{
    struct words words = {.aggregate = aggregate};
    const struct perfile_visitor visitor = {.size = sizeof(visitor), .context = &words, .value = take_word};
    const int result = perfile_feature_visit(reader, PERFILE_FEATURE_CMDLINE, &visitor, NULL);
    bool fine = result != PERFILE_ERROR_MEMORY && result != PERFILE_ERROR_STOPPED;
    if (fine && words.count) {
        recording->cmdline = pf_arena_new(&aggregate->profile->arena, words.count * sizeof(*words.list));
        fine = recording->cmdline;
    }
    if (fine && words.count) {
        memcpy(recording->cmdline, words.list, words.count * sizeof(*words.list));
        recording->cmdline_count = words.count;
    }
    pf_free(aggregate->allocator, words.list, words.capacity * sizeof(*words.list));
    return fine;
}

/* ---- the clock ---- */

/* Returns false when out of memory; a number that the recording does not have stays as it is. */
static bool take_number(struct perfile_reader *reader, const char *member, uint64_t *number)
{
    const uint32_t feature = PERFILE_FEATURE_CLOCK_DATA;
    return perfile_feature_number(reader, feature, member, number, NULL) != PERFILE_ERROR_MEMORY;
}

/* Events that the recorder chose a clock for say which. */
static bool take_clocks(struct perfile_reader *reader, struct pf_aggregate_recording *recording)
{
    const struct perfile_event *event = perfile_event_get(reader, 0);
    uint64_t clock = (uint64_t)(event && event->attr->use_clockid ? event->attr->clockid : -1);
    const bool enough = take_number(reader, "clockid", &clock);
    recording->clock = (int32_t)clock;
    return enough && take_number(reader, "wall_clock_ns", &recording->wall_time) &&
           take_number(reader, "clockid_time_ns", &recording->clock_time);
}

bool pf_aggregate_facts(struct pf_aggregate *aggregate, struct perfile_reader *reader,
                        struct pf_aggregate_recording *recording)
{
    const struct {
        uint32_t feature;
        const char **text;
    } texts[] = {{PERFILE_FEATURE_HOSTNAME, &recording->hostname},
                 {PERFILE_FEATURE_OSRELEASE, &recording->os_release},
                 {PERFILE_FEATURE_ARCH, &recording->arch},
                 {PERFILE_FEATURE_CPUDESC, &recording->cpu},
                 {PERFILE_FEATURE_VERSION, &recording->version}};
    for (size_t i = 0; i < PF_COUNT(texts); i++)
        if (!take_text(aggregate, reader, texts[i].feature, texts[i].text))
            return false;
    return pf_aggregate_text(aggregate, &recording->path) && take_cmdline(aggregate, reader, recording) &&
           take_clocks(reader, recording) &&
           pf_aggregate_append(aggregate, PF_AGGREGATE_RECORDINGS, recording) != PF_AGGREGATE_NONE;
}
