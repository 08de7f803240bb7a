/* SPDX-License-Identifier: MIT */
/*
 * Makes the profile of a recording. While samples are read, stacks are a tree of the frames of pf_profile, and for each
 * node the row of its last sample is known: a sample with the same keys costs no search. The names of frames are looked
 * up once for each frame, at the end.
 */
#include <stdlib.h>

#include "analysis/profile/aggregate_names.h"
#include "analysis/profile/aggregate_snapshot.h"
#include "analysis/describe.h"
#include "analysis/keys.h"
#include "analysis/report/tags.h"
#include "analysis/profile.h"
#include "analysis/stacks.h"
#include "analysis/complete_options.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/map.h"
#include "base/sized.h"

static const uint64_t default_quantum_ns = 100000000;

/* What a sample adds to the row of its stack, once it is known where that is. */
struct arriving {
    uint32_t key;
    uint32_t leaf;
    uint64_t values[PF_AGGREGATE_VALUES];
};

struct sums {
    uint64_t period, weight;
};

/* A thread that had a sample not long ago: processors take turns. */
enum { RECENT = 256 };
struct recent {
    const char *stated; /* the name that its sample had, and the profile's text */
    const char *comm;
    uint32_t thread; /* plus one; 0: empty */
    uint32_t key;    /* of its last sample, of this event; NONE: another one's may be another */
    const struct perfile_event *event;
};

struct reading {
    struct pf_aggregate *aggregate;
    const struct perfile_profile_options *options;
    struct pf_profile *profile;
    unsigned keys;        /* PF_KEY_BIT */
    struct pf_tags *tags; /* what else keeps samples apart; NULL: nothing */
    uint32_t *tag_of;     /* by number of the tags: the item of the first one, plus one; 0: not made yet */
    size_t tag_capacity;
    uint64_t quantum_ns;
    struct pf_tree tree; /* of links */
    struct pf_stacks stacks;
    uint32_t *row_of; /* by node of the tree: see ONLY_ROW */
    size_t row_of_count, row_of_capacity;
    struct arriving last; /* whose stack is not in the tree yet */
    bool has_last;
    struct sums *sums; /* of what came, by the index of the event */
    size_t sum_capacity;
    uint64_t full;        /* samples that did not fit into them */
    struct pf_map events; /* of struct perfile_event, pointers */
    struct pf_map texts;  /* of texts of the recording to those of the profile, pointers */
    struct pf_aggregate_key key;
    uint32_t key_number; /* NONE: there was no sample */
    struct recent recent[RECENT];
    struct pf_aggregate_recording recording;
    struct pf_aggregate_named named;
    struct pf_arrivals *arrivals; /* or NULL */
    bool frames_only;
    uint8_t *seen; /* of these, by number: that it is there (a leaf need not be in its stack) */
    size_t seen_capacity;
    struct pf_snapshot_clock clock;
};

void pf_arrivals_close(struct pf_arrivals *arrivals)
{
    pf_free(arrivals->allocator, arrivals->all, arrivals->capacity * sizeof(*arrivals->all));
    arrivals->all = NULL;
    arrivals->count = arrivals->capacity = 0;
}

/* ---- options ---- */

static int fail_key(const char *text, size_t bytes, struct perfile_error *error)
{
    char known[96];
    return pf_about(error, text, bytes,
                    pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "keys",
                            "unknown key '%.*s'; there are %s, and columns of reports that describe samples",
                            (int)pf_min(bytes, 80), text, pf_key_list(~0u, known, sizeof(known))));
}

static int add_tag(struct reading *r, struct perfile_reader *reader, const char *text, size_t bytes,
                   struct perfile_error *error)
{
    if (!r->tags && !(r->tags = pf_tags_open(reader, r->aggregate->allocator, true)))
        return pf_fail_memory(error, "profile");
    const int result = pf_tags_add(r->tags, text, bytes, error);
    return result == PERFILE_ERROR_ARGUMENT ? fail_key(text, bytes, error) : result;
}

/* A thread is one of a process. */
static int parse_keys(struct reading *r, struct perfile_reader *reader, struct perfile_error *error)
{
    const char *text = r->options->keys;
    int result = 0;
    for (size_t bytes; text && *text && result >= 0; text += bytes + (text[bytes] == ',')) {
        bytes = strcspn(text, ",");
        const enum pf_key key = pf_key_find(text, bytes);
        if (key == PF_KEYS)
            result = add_tag(r, reader, text, bytes, error);
        else
            r->keys |= 1u << key | (key == PF_KEY_tid ? PF_KEY_BIT(pid) : 0);
    }
    if (result >= 0)
        result = r->tags ? pf_tags_begin(r->tags, error) : 0;
    return result;
}

static int check_options(struct reading *r, struct perfile_reader *reader, struct perfile_error *error)
{
    const uint32_t known = PERFILE_STREAM_ADDRESSES | PERFILE_STREAM_NO_INLINES | PERFILE_STREAM_JOIN_UNNAMED;
    r->quantum_ns = r->options->time_quantum ? r->options->time_quantum : default_quantum_ns;
    int result = pf_check_known_flags(r->options->flags, known, error);
    if (result == 0)
        result = parse_keys(r, reader, error);
    if (result == 0 && r->options->time_quantum && !(r->keys & PF_KEY_BIT(time)))
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "time quantum", "needs the key time");
    return result;
}

/* ---- events ---- */

static bool is_event_of(const struct pf_aggregate_event *event, const struct pf_aggregate_event *other)
{
    return event->name == other->name && event->unit == other->unit;
}

static uint32_t add_event(struct reading *r, const struct perfile_event *event)
{
    enum { WEIGHTS = PERFILE_SAMPLE_WEIGHT | PERFILE_SAMPLE_WEIGHT_STRUCT };
    char unit[64] = "events";
    if (event)
        perfile_event_unit(event, unit, sizeof(unit));
    struct pf_aggregate_event made = {.name = event ? event->name : "[unknown]", .unit = unit};
    if (!pf_aggregate_text(r->aggregate, &made.name) || !pf_aggregate_text(r->aggregate, &made.unit))
        return PF_AGGREGATE_NONE;
    if (event) {
        made.type = event->attr->type;
        made.config = event->attr->config;
        made.has_weight = event->attr->sample_type & WEIGHTS;
    }
    const size_t count = pf_aggregate_count(r->aggregate->profile, PF_AGGREGATE_EVENTS);
    for (size_t i = 0; i < count; i++)
        made.nth += is_event_of(pf_aggregate_event(r->aggregate->profile, i), &made);
    return pf_aggregate_number(r->aggregate, PF_AGGREGATE_EVENTS, &made);
}

static uint32_t event_of(struct reading *r, const struct perfile_event *event)
{
    uint64_t known;
    if (pf_map_get(&r->events, (uintptr_t)event, &known))
        return (uint32_t)known;
    const uint32_t number = add_event(r, event);
    const bool fine = number != PF_AGGREGATE_NONE && pf_map_put(&r->events, (uintptr_t)event, number);
    return fine ? number : PF_AGGREGATE_NONE;
}

/* ---- threads and keys ---- */

/* The profile's text; NULL when out of memory. */
static const char *text_of(struct reading *r, const char *stated)
{
    uint64_t known;
    if (pf_map_get(&r->texts, (uintptr_t)stated, &known))
        return (const char *)(uintptr_t)known;
    const char *text = stated ? stated : "[unknown]";
    const bool fine =
        pf_aggregate_text(r->aggregate, &text) && pf_map_put(&r->texts, (uintptr_t)stated, (uintptr_t)text);
    return fine ? text : NULL;
}

static struct pf_aggregate_thread *thread_at(const struct reading *r, uint32_t number)
{
    return (struct pf_aggregate_thread *)r->aggregate->profile->lists[PF_AGGREGATE_THREADS].items + number;
}

static bool find_thread(struct reading *r, const struct pf_profile_sample *sample, struct recent *recent)
{
    const char *text = text_of(r, sample->comm);
    const struct pf_aggregate_thread like = {
        .pid = sample->pid, .tid = sample->tid, .comm = text, .first_time = UINT64_MAX};
    const uint32_t thread = text ? pf_aggregate_number(r->aggregate, PF_AGGREGATE_THREADS, &like) : PF_AGGREGATE_NONE;
    const struct pf_aggregate_comm comm = {thread, text};
    *recent = (struct recent){.stated = sample->comm, .comm = text, .thread = thread + 1, .key = PF_AGGREGATE_NONE};
    return thread != PF_AGGREGATE_NONE &&
           pf_aggregate_number(r->aggregate, PF_AGGREGATE_COMMS, &comm) != PF_AGGREGATE_NONE;
}

static bool is_recent(const struct reading *r, const struct recent *recent, const struct pf_profile_sample *sample)
{
    if (!recent->thread || recent->stated != sample->comm)
        return false;
    const struct pf_aggregate_thread *thread = thread_at(r, recent->thread - 1);
    return thread->tid == sample->tid && thread->pid == sample->pid;
}

/* ":TID" stands for a name that the recording does not have: before the first COMM, and after EXIT. */
static bool has_name(const struct recent *recent, int32_t tid)
{
    char *end;
    return recent->comm[0] != ':' || strtol(recent->comm + 1, &end, 10) != tid || *end;
}

/* Notes that the thread had this sample. NULL when out of memory. */
static struct recent *note_thread(struct reading *r, const struct pf_profile_sample *sample)
{
    struct recent *recent = &r->recent[(uint32_t)sample->tid % RECENT];
    if (!is_recent(r, recent, sample) && !find_thread(r, sample, recent))
        return NULL;
    struct pf_aggregate_thread *thread = thread_at(r, recent->thread - 1);
    const bool named = has_name(recent, sample->tid);
    if (named)
        thread->comm = recent->comm;
    thread->samples++;
    if (sample->event && !(sample->event->attr->sample_type & PERFILE_SAMPLE_TIME))
        return recent;
    if (named)
        thread->comm_time = pf_max(thread->comm_time, sample->time);
    thread->first_time = pf_min(thread->first_time, sample->time);
    thread->last_time = pf_max(thread->last_time, sample->time);
    return recent;
}

/* What of the sample keeps it apart. */
static struct pf_aggregate_key key_of(const struct reading *r, const struct pf_profile_sample *sample, uint32_t event,
                                      const char *comm)
{
    const uint64_t parts = sample->event ? sample->event->attr->sample_type : 0;
    const bool timed = r->keys & PF_KEY_BIT(time) && parts & PERFILE_SAMPLE_TIME;
    return (struct pf_aggregate_key){.event = event,
                                     .pid = r->keys & PF_KEY_BIT(pid) ? sample->pid : -1,
                                     .tid = r->keys & PF_KEY_BIT(tid) ? sample->tid : -1,
                                     .cpu = r->keys & PF_KEY_BIT(cpu) && sample->has_cpu ? (int32_t)sample->cpu : -1,
                                     .comm = r->keys & PF_KEY_BIT(comm) ? comm : NULL,
                                     .time = timed ? sample->time - sample->time % r->quantum_ns : UINT64_MAX,
                                     .recording = r->keys & PF_KEY_BIT(recording) ? 0 : PERFILE_NO_ID,
                                     .tags = PERFILE_NO_ID};
}

static bool is_same_key(const struct pf_aggregate_key *a, const struct pf_aggregate_key *b)
{
    return a->event == b->event && a->pid == b->pid && a->tid == b->tid && a->cpu == b->cpu && a->comm == b->comm &&
           a->cgroup == b->cgroup && a->time == b->time && a->tags == b->tags; /* of one recording */
}

/* The first of the items that say what the tags of this number are. NONE: out of memory. */
static uint32_t make_tags(struct reading *r, uint32_t number)
{
    struct pf_aggregate_tag tag = {.next = PERFILE_NO_ID};
    for (size_t i = pf_tags_count(r->tags); i-- > 0;) {
        tag.name = pf_tags_name(r->tags, i);
        tag.text = pf_tags_text(r->tags, number, i);
        if (!pf_aggregate_text(r->aggregate, &tag.name) || !pf_aggregate_text(r->aggregate, &tag.text) ||
            (tag.next = pf_aggregate_number(r->aggregate, PF_AGGREGATE_TAGS, &tag)) == PF_AGGREGATE_NONE)
            return PF_AGGREGATE_NONE;
    }
    return tag.next;
}

/* NONE: out of memory. */
static uint32_t number_tags(struct reading *r, const struct pf_profile_sample *sample)
{
    const uint32_t number = pf_tags_number(r->tags, sample);
    if (number == UINT32_MAX)
        return PF_AGGREGATE_NONE;
    uint32_t *tag = PF_ELEMENT(r->aggregate->allocator, r->tag_of, r->tag_capacity, number);
    if (!tag)
        return PF_AGGREGATE_NONE;
    if (!*tag)
        *tag = make_tags(r, number) + 1;
    return *tag - 1;
}

static uint32_t find_key(struct reading *r, const struct pf_profile_sample *sample, const char *comm)
{
    const uint32_t event = event_of(r, sample->event);
    if (event == PF_AGGREGATE_NONE)
        return event;
    struct pf_aggregate_key key = key_of(r, sample, event, comm);
    if (r->keys & PF_KEY_BIT(cgroup) && sample->cgroup && !(key.cgroup = text_of(r, sample->cgroup)))
        return PF_AGGREGATE_NONE;
    if (r->tags && (key.tags = number_tags(r, sample)) == PF_AGGREGATE_NONE)
        return PF_AGGREGATE_NONE;
    if (r->key_number != PF_AGGREGATE_NONE && is_same_key(&key, &r->key))
        return r->key_number;
    r->key = key;
    return r->key_number = pf_aggregate_number(r->aggregate, PF_AGGREGATE_KEYS, &key);
}

/*
 * Returns the number of the key of a sample; NONE: out of memory. Without processor, control group, time and tags, a
 * thread and an event have one key.
 */
static uint32_t number_key(struct reading *r, const struct pf_profile_sample *sample)
{
    struct recent *recent = note_thread(r, sample);
    if (!recent)
        return PF_AGGREGATE_NONE;
    if (recent->key != PF_AGGREGATE_NONE && recent->event == sample->event)
        return recent->key;
    const uint32_t key = find_key(r, sample, recent->comm);
    const bool of_thread = !r->tags && !(r->keys & (PF_KEY_BIT(cpu) | PF_KEY_BIT(cgroup) | PF_KEY_BIT(time)));
    recent->key = of_thread ? key : PF_AGGREGATE_NONE;
    recent->event = sample->event;
    return key;
}

/* ---- samples ---- */

/*
 * What is known of a node: the number of the row of its last sample, plus one, and ONLY_ROW when the node has no other
 * row. Most nodes have one row, which need not be in the index.
 */
#define ONLY_ROW ((uint32_t)1 << 31)

static uint32_t known_row(uint32_t known)
{
    return (known & ~ONLY_ROW) - 1;
}

static bool is_row_of_last(const struct reading *r, const struct pf_aggregate_row *row)
{
    return row->key == r->last.key && row->leaf == r->last.leaf;
}

/* The number of the row of the last sample, which is not the one that is known of its node. NONE: out of memory. */
static uint32_t number_row(struct reading *r, uint32_t known)
{
    struct pf_aggregate_row made = {.node = r->stacks.entered, .key = r->last.key, .leaf = r->last.leaf};
    memcpy(made.values, r->last.values, sizeof(made.values));
    if (pf_aggregate_count(r->aggregate->profile, PF_AGGREGATE_ROWS) >= ONLY_ROW - 1)
        return PF_AGGREGATE_NONE;
    if (!known)
        return pf_aggregate_append(r->aggregate, PF_AGGREGATE_ROWS, &made);
    if (known & ONLY_ROW && !pf_aggregate_list(r->aggregate, PF_AGGREGATE_ROWS, known_row(known)))
        return PF_AGGREGATE_NONE;
    return pf_aggregate_number(r->aggregate, PF_AGGREGATE_ROWS, &made);
}

/* What is known of nodes up to this one; NULL when out of memory. */
static uint32_t *known_of(struct reading *r, uint32_t node)
{
    const size_t count = (size_t)node + 1, before = r->row_of_count;
    if (PF_LIKELY(count <= before))
        return &r->row_of[node];
    if (!pf_grow(r->aggregate->allocator, &r->row_of, &r->row_of_capacity, count, sizeof(*r->row_of)))
        return NULL;
    memset(r->row_of + before, 0, (count - before) * sizeof(*r->row_of));
    r->row_of_count = count;
    return &r->row_of[node];
}

/* The last sample goes to its row, which is known of its node then. */
static bool enter_row(struct reading *r, uint32_t *known)
{
    struct pf_aggregate_row *rows = r->aggregate->profile->lists[PF_AGGREGATE_ROWS].items;
    struct pf_aggregate_row *row = PF_LIKELY(*known) ? &rows[known_row(*known)] : NULL;
    if (PF_LIKELY(row && is_row_of_last(r, row))) {
        for (size_t i = 0; i < PF_AGGREGATE_VALUES; i++)
            row->values[i] += r->last.values[i];
        return true;
    }
    const uint32_t number = number_row(r, *known);
    *known = (number + 1) | (*known ? 0 : ONLY_ROW);
    return number != PF_AGGREGATE_NONE;
}

static bool arrive(struct pf_arrivals *arrivals, uint32_t row, uint64_t period)
{
    if (arrivals->count == arrivals->max) {
        pf_arrivals_close(arrivals);
        arrivals->too_many = true;
    }
    if (arrivals->too_many)
        return true;
    return PF_APPEND(arrivals->allocator, arrivals->all, arrivals->count, arrivals->capacity,
                     (struct pf_arrival){period, row});
}

/* The sample before the last one has come into the tree. */
static bool enter(struct reading *r)
{
    uint32_t *known = known_of(r, r->stacks.entered);
    return known && enter_row(r, known) && (!r->arrivals || arrive(r->arrivals, known_row(*known), r->last.values[1]));
}

static struct sums *sums_of(struct reading *r, const struct perfile_event *event)
{
    return PF_ELEMENT(r->aggregate->allocator, r->sums, r->sum_capacity, event ? event->index : 0);
}

/* The values of a sample, cut to what fits into the sums of its event: so no sum of rows overflows. */
static bool take_values(struct reading *r, const struct pf_profile_sample *sample, uint64_t *values)
{
    struct sums *sums = sums_of(r, sample->event);
    if (!sums)
        return false;
    values[0] = 1;
    values[1] = pf_add_to_sum(&sums->period, sample->period);
    values[2] = pf_add_to_sum(&sums->weight, sample->weight);
    r->full += values[1] != sample->period || values[2] != sample->weight;
    return true;
}

static bool add_stack(struct reading *r, const struct pf_profile_sample *sample, const struct pf_stack_frames *stack)
{
    if (!pf_stacks_add(&r->stacks, &r->tree, stack) || (r->has_last && !enter(r)))
        return false;
    r->last = (struct arriving){.key = number_key(r, sample), .leaf = sample->leaf};
    r->has_last = true;
    return take_values(r, sample, r->last.values) && r->last.key != PF_AGGREGATE_NONE;
}

enum { IN_STACK = 1, AS_LEAF = 2 };

/* Those that none had before, as stacks of their own; in the order in which they would come into the tree. */
static bool add_frames(struct reading *r, const struct pf_profile_sample *sample)
{
    if (!pf_grow_zeroed(r->aggregate->allocator, &r->seen, &r->seen_capacity, pf_profile_frame_count(r->profile),
                        sizeof(*r->seen)))
        return false;
    for (size_t i = sample->frame_count; i-- > 0;) {
        const struct pf_stack_frames stack = {
            .frames = &sample->frames[i], .frame_count = 1, .leaf = PF_STACK_NO_LEAF, .owner = (uint32_t)sample->tid};
        if (!(r->seen[sample->frames[i]] & IN_STACK) && !add_stack(r, sample, &stack))
            return false;
        r->seen[sample->frames[i]] |= IN_STACK;
    }
    const bool had_leaf = r->seen[sample->leaf];
    r->seen[sample->leaf] |= AS_LEAF;
    const struct pf_stack_frames none = {.leaf = PF_STACK_NO_LEAF, .owner = (uint32_t)sample->tid};
    return had_leaf || add_stack(r, sample, &none);
}

static bool add_sample(struct reading *r, const struct pf_profile_sample *sample)
{
    if (r->frames_only)
        return add_frames(r, sample);
    const uint64_t max = r->options->max_frames ? r->options->max_frames : UINT64_MAX;
    const struct pf_stack_frames stack = {.frames = sample->frames,
                                          .frame_count = (size_t)pf_min(sample->frame_count, max),
                                          .leaf = PF_STACK_NO_LEAF,
                                          .owner = (uint32_t)sample->tid};
    return add_stack(r, sample, &stack);
}

static void discard_rows(struct reading *r)
{
    pf_free(r->aggregate->allocator, r->row_of, r->row_of_capacity * sizeof(*r->row_of));
    r->row_of = NULL;
    r->row_of_count = r->row_of_capacity = 0;
}

static bool end_samples(struct reading *r)
{
    const bool fine = pf_stacks_end(&r->stacks, &r->tree) && (!r->has_last || enter(r));
    discard_rows(r);
    return fine;
}

/* ---- the profile ---- */

static void take_totals(const struct reading *r, struct perfile_profile *profile,
                        struct pf_aggregate_recording *recording)
{
    pf_profile_losses(r->profile, &profile->losses);
    const struct pf_aggregate_thread *threads = profile->lists[PF_AGGREGATE_THREADS].items;
    recording->path = r->options->path;
    recording->lost = profile->losses.lost;
    recording->first_time = UINT64_MAX;
    for (size_t i = 0; i < pf_aggregate_count(profile, PF_AGGREGATE_THREADS); i++) {
        recording->first_time = pf_min(recording->first_time, threads[i].first_time);
        recording->last_time = pf_max(recording->last_time, threads[i].last_time);
    }
}

/*
 * Joins nodes that became equal, by merging the profile into an empty one: several frames of the recording are one
 * frame of the profile when modules of several names are one. False when out of memory.
 */
static bool join_equal_nodes(struct pf_aggregate *aggregate, struct pf_arrivals *arrivals)
{
    struct pf_aggregate other;
    bool fine = pf_aggregate_open(&other, aggregate->profile->watch.below);
    other.arrivals = arrivals;
    fine = fine && pf_aggregate_add(&other, aggregate->profile) && pf_aggregate_finish(&other);
    pf_aggregate_close(fine ? aggregate : &other);
    if (fine)
        *aggregate = other;
    return fine;
}

/* Whether frames are to be addresses in the profile, too, and not only for its tags. */
static bool has_addresses(const struct reading *r)
{
    return r->options->flags & PERFILE_STREAM_ADDRESSES;
}

/* The last sample, whose stack is on its way into the tree, comes with the next one. */
static bool make_snapshot(struct reading *r, struct pf_aggregate *copy)
{
    const struct pf_aggregate_named from = {r->aggregate, r->profile, &r->tree, NULL, has_addresses(r), false};
    struct pf_aggregate_recording recording = {.clock = -1};
    bool joined;
    if (!pf_aggregate_copy(copy, &from, &joined))
        return false;
    take_totals(r, copy->profile, &recording);
    return pf_aggregate_text(copy, &recording.path) &&
           pf_aggregate_append(copy, PF_AGGREGATE_RECORDINGS, &recording) != PF_AGGREGATE_NONE &&
           (joined ? join_equal_nodes(copy, NULL) : pf_aggregate_finish(copy));
}

static bool may_give_snapshot(struct reading *r)
{
    const uint64_t usual = 1000000, max = r->options->snapshot_rows ? r->options->snapshot_rows : usual;
    return pf_snapshot_is_due(&r->clock) && pf_aggregate_count(r->aggregate->profile, PF_AGGREGATE_ROWS) <= max;
}

static bool give_snapshot(struct reading *r)
{
    struct pf_aggregate copy;
    pf_snapshot_begin(&r->clock);
    const bool fine = pf_aggregate_open(&copy, r->aggregate->profile->watch.below) && make_snapshot(r, &copy);
    if (fine)
        r->options->snapshot(r->options->snapshot_context, copy.profile);
    pf_aggregate_close(&copy);
    pf_snapshot_end(&r->clock);
    return fine;
}

static int read_samples(struct reading *r, struct perfile_reader *reader, struct perfile_error *error)
{
    const struct pf_profile_sample *sample;
    int result;
    while ((result = pf_profile_next(r->profile, &sample, error)) > 0)
        if (!add_sample(r, sample) || (PF_UNLIKELY(r->options->snapshot && may_give_snapshot(r)) && !give_snapshot(r)))
            return pf_fail_memory(error, "profile");
    if (result < 0)
        return result;
    take_totals(r, r->aggregate->profile, &r->recording);
    r->named = (struct pf_aggregate_named){r->aggregate, r->profile, &r->tree, &r->tree, has_addresses(r), false};
    if (!end_samples(r) || !pf_aggregate_name(&r->named) || !pf_aggregate_facts(r->aggregate, reader, &r->recording))
        return pf_fail_memory(error, "profile");
    return 0;
}

static int open_profile(struct reading *r, struct perfile_reader *reader, struct perfile_error *error)
{
    const struct perfile_symbol_options *symbols = r->options->symbols;
    struct pf_profile_options how = {
        .filter = r->options->filter,
        .find = pf_find_options_of(symbols, r->aggregate->allocator),
        .unwind = symbols->unwind,
        .frames = pf_describe_options(r->options->flags, symbols),
        .in_blocks = true,
        .decoded = r->tags && pf_tags_need_decoded(r->tags),
        .parallelism = r->tags && pf_tags_need_parallelism(r->tags),
        .drive = {r->options->threads, r->options->progress, r->options->progress_context}};
    how.frames.by_location = how.frames.by_address;
    how.frames.by_address |= r->tags && pf_tags_need_addresses(r->tags);
    const int result = pf_profile_open(reader, &how, &r->profile, error);
    if (result == 0 && r->tags)
        pf_tags_attach(r->tags, r->profile);
    return result;
}

static int read_all(struct reading *r, struct perfile_reader *reader, struct perfile_error *error)
{
    int result = check_options(r, reader, error);
    if (result == 0 && pf_tree_open_links(&r->tree, r->aggregate->allocator) < 0)
        result = pf_fail_memory(error, "profile");
    if (result == 0)
        result = open_profile(r, reader, error);
    if (result == 0)
        result = read_samples(r, reader, error);
    if (result == 0)
        pf_profile_notify_full(r->full, r->options->symbols);
    if (result == 0 && r->options->unmatched)
        pf_profile_notify_unmatched(r->profile, r->options->unmatched, r->options->unmatched_context);
    if (r->tree.allocator) {
        (void)pf_stacks_end(&r->stacks, &r->tree);
        pf_tree_close(&r->tree);
        discard_rows(r);
    }
    pf_tags_close(r->tags); /* it has code that the symbols of the profile read */
    pf_profile_close(r->profile);
    pf_map_close(&r->events);
    pf_map_close(&r->texts);
    pf_free(r->aggregate->allocator, r->tag_of, r->tag_capacity * sizeof(*r->tag_of));
    pf_free(r->aggregate->allocator, r->seen, r->seen_capacity * sizeof(*r->seen));
    pf_free(r->aggregate->allocator, r->sums, r->sum_capacity * sizeof(*r->sums));
    return result;
}

/* What the public call does not ask for. */
struct manner {
    struct pf_arrivals *arrivals;
    bool frames_only;
};

static int open_in_manner(struct perfile_reader *reader, const struct perfile_profile_options *options,
                          const struct manner *manner, struct perfile_profile **profile, struct perfile_error *error)
{
    struct perfile_profile_options all = PERFILE_PROFILE_OPTIONS_INIT;
    struct pf_aggregate aggregate;
    *profile = NULL;
    struct pf_complete_options complete;
    int result = pf_sized_take(&all, sizeof(all), options, "profile options", error);
    if (result == 0)
        result = pf_complete_options_take(&complete, all.path ? NULL : reader, all.filter, all.symbols, error);
    if (result < 0)
        return result;
    if (!complete.symbols.recording)
        complete.symbols.recording = all.path;
    all.filter = &complete.filter;
    all.symbols = &complete.symbols;
    if (!pf_aggregate_open(&aggregate, all.allocator))
        return pf_fail_memory(error, "profile");
    struct reading r = {.aggregate = &aggregate,
                        .options = &all,
                        .key_number = PF_AGGREGATE_NONE,
                        .arrivals = manner->arrivals,
                        .frames_only = manner->frames_only,
                        .clock = {.interval_ms = all.snapshot_ms}};
    pf_map_open(&r.events, aggregate.allocator);
    pf_map_open(&r.texts, aggregate.allocator);
    result = read_all(&r, reader, error);
    if (result == 0 &&
        !(r.named.joined ? join_equal_nodes(&aggregate, manner->arrivals) : pf_aggregate_finish(&aggregate)))
        result = pf_fail_memory(error, "profile");
    if (result == 0)
        *profile = aggregate.profile;
    else
        pf_aggregate_close(&aggregate);
    return result;
}

int perfile_profile_open(struct perfile_reader *reader, const struct perfile_profile_options *options,
                         struct perfile_profile **profile, struct perfile_error *error)
{
    return open_in_manner(reader, options, &(struct manner){NULL, false}, profile, error);
}

int pf_profile_open_in_order(struct perfile_reader *reader, const struct perfile_profile_options *options,
                             struct pf_arrivals *arrivals, struct perfile_profile **profile,
                             struct perfile_error *error)
{
    return open_in_manner(reader, options, &(struct manner){arrivals, false}, profile, error);
}

int pf_profile_open_frames(struct perfile_reader *reader, const struct perfile_profile_options *options,
                           struct perfile_profile **profile, struct perfile_error *error)
{
    return open_in_manner(reader, options, &(struct manner){NULL, true}, profile, error);
}
