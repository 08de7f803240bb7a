/* SPDX-License-Identifier: MIT */
/* Several profiles into one: each thing gets the number that equal ones have there already, or the next one. */
#include "analysis/profile/aggregate_merge.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/sized.h"

static bool take_event(struct pf_merge *m, void *item)
{
    struct pf_aggregate_event *event = item;
    return pf_aggregate_text(m->into, &event->name) && pf_aggregate_text(m->into, &event->unit);
}

static bool take_module(struct pf_merge *m, void *item)
{
    struct pf_aggregate_module *module = item;
    return pf_aggregate_text(m->into, &module->name) && pf_aggregate_text(m->into, &module->short_name) &&
           pf_aggregate_text(m->into, &module->path);
}

static bool take_function(struct pf_merge *m, void *item)
{
    struct pf_aggregate_function *function = item;
    if (function->module != PERFILE_NO_ID)
        function->module = m->numbers[PF_AGGREGATE_MODULES][function->module];
    return pf_aggregate_text(m->into, &function->name) && pf_aggregate_text(m->into, &function->raw_name) &&
           pf_aggregate_text(m->into, &function->label) && pf_aggregate_text(m->into, &function->file);
}

static bool take_frame(struct pf_merge *m, void *item)
{
    struct pf_aggregate_frame *frame = item;
    frame->function = m->numbers[PF_AGGREGATE_FUNCTIONS][frame->function];
    return pf_aggregate_text(m->into, &frame->file);
}

static bool take_thread(struct pf_merge *m, void *item)
{
    struct pf_aggregate_thread *thread = item;
    thread->comms = NULL;
    thread->comm_count = 0;
    return pf_aggregate_text(m->into, &thread->comm);
}

static bool take_comm(struct pf_merge *m, void *item)
{
    struct pf_aggregate_comm *comm = item;
    comm->thread = m->numbers[PF_AGGREGATE_THREADS][comm->thread];
    return pf_aggregate_text(m->into, &comm->text);
}

static bool take_tag(struct pf_merge *m, void *item)
{
    struct pf_aggregate_tag *tag = item;
    if (tag->next != PERFILE_NO_ID)
        tag->next = m->numbers[PF_AGGREGATE_TAGS][tag->next];
    return pf_aggregate_text(m->into, &tag->name) && pf_aggregate_text(m->into, &tag->text);
}

static bool take_key(struct pf_merge *m, void *item)
{
    struct pf_aggregate_key *key = item;
    key->event = m->numbers[PF_AGGREGATE_EVENTS][key->event];
    if (key->tags != PERFILE_NO_ID)
        key->tags = m->numbers[PF_AGGREGATE_TAGS][key->tags];
    if (key->recording != PERFILE_NO_ID) /* recordings of this profile come after those that are there */
        key->recording += (uint32_t)pf_aggregate_count(m->into->profile, PF_AGGREGATE_RECORDINGS);
    return pf_aggregate_text(m->into, &key->comm) && pf_aggregate_text(m->into, &key->cgroup);
}

/* Parents stand before their children. */
static bool take_node(struct pf_merge *m, void *item)
{
    struct pf_tree_link *node = item;
    if (node->parent != PERFILE_NO_ID)
        node->parent = m->numbers[PF_AGGREGATE_NODES][node->parent];
    node->frame = m->numbers[PF_AGGREGATE_FRAMES][node->frame];
    return true;
}

static bool take_row(struct pf_merge *m, void *item)
{
    struct pf_aggregate_row *row = item;
    if (row->node != PERFILE_NO_ID)
        row->node = m->numbers[PF_AGGREGATE_NODES][row->node];
    row->key = m->numbers[PF_AGGREGATE_KEYS][row->key];
    row->leaf = m->numbers[PF_AGGREGATE_FRAMES][row->leaf];
    return true;
}

/* What an item of the profile is here: its texts and the numbers in it. False when out of memory. */
static bool (*const takes[PF_AGGREGATE_INDEXED])(struct pf_merge *m, void *item) = {
    [PF_AGGREGATE_EVENTS] = take_event, [PF_AGGREGATE_MODULES] = take_module, [PF_AGGREGATE_FUNCTIONS] = take_function,
    [PF_AGGREGATE_FRAMES] = take_frame, [PF_AGGREGATE_THREADS] = take_thread, [PF_AGGREGATE_COMMS] = take_comm,
    [PF_AGGREGATE_TAGS] = take_tag,     [PF_AGGREGATE_KEYS] = take_key,       [PF_AGGREGATE_NODES] = take_node,
    [PF_AGGREGATE_ROWS] = take_row,
};

uint32_t pf_merge_item(struct pf_merge *m, enum pf_aggregate_kind kind, size_t number)
{
    const size_t bytes = pf_aggregate_bytes(kind);
    union pf_aggregate_item item;
    memcpy(&item, (const char *)m->from->lists[kind].items + number * bytes, bytes);
    return takes[kind](m, &item) ? pf_aggregate_number(m->into, kind, &item) : PF_AGGREGATE_NONE;
}

bool pf_merge_list(struct pf_merge *m, enum pf_aggregate_kind kind)
{
    const size_t count = m->from->lists[kind].count;
    if (!pf_merge_open(m, kind))
        return false;
    for (size_t i = 0; i < count; i++)
        if ((m->numbers[kind][i] = pf_merge_item(m, kind, i)) == PF_AGGREGATE_NONE)
            return false;
    return true;
}

bool pf_merge_open(struct pf_merge *m, enum pf_aggregate_kind kind)
{
    const size_t count = m->from->lists[kind].count;
    m->numbers[kind] = pf_new(m->into->allocator, (count + 1) * sizeof(*m->numbers[kind]));
    for (size_t i = 0; m->numbers[kind] && i < count; i++)
        m->numbers[kind][i] = PF_AGGREGATE_NONE;
    return m->numbers[kind];
}

void pf_merge_close(struct pf_merge *m)
{
    for (size_t kind = 0; kind < PF_AGGREGATE_INDEXED; kind++)
        pf_free(m->into->allocator, m->numbers[kind], (m->from->lists[kind].count + 1) * sizeof(*m->numbers[kind]));
}

bool pf_merge_recordings(struct pf_merge *m)
{
    const struct pf_aggregate_list *list = &m->from->lists[PF_AGGREGATE_RECORDINGS];
    for (size_t i = 0; i < list->count; i++) {
        struct pf_aggregate_recording recording = ((const struct pf_aggregate_recording *)list->items)[i];
        const char **texts[] = {&recording.path, &recording.hostname, &recording.os_release,
                                &recording.arch, &recording.cpu,      &recording.version};
        const char *const *words = recording.cmdline;
        for (size_t k = 0; k < PF_COUNT(texts); k++)
            if (!pf_aggregate_text(m->into, texts[k]))
                return false;
        recording.cmdline =
            pf_arena_new(&m->into->profile->arena, (recording.cmdline_count + 1) * sizeof(*recording.cmdline));
        for (size_t k = 0; k < recording.cmdline_count && recording.cmdline; k++) {
            recording.cmdline[k] = words[k];
            if (!pf_aggregate_text(m->into, &recording.cmdline[k]))
                return false;
        }
        if (!recording.cmdline ||
            pf_aggregate_append(m->into, PF_AGGREGATE_RECORDINGS, &recording) == PF_AGGREGATE_NONE)
            return false;
    }
    return true;
}

static void add_losses(struct perfile_losses *sum, const struct perfile_losses *more)
{
    sum->samples += more->samples;
    sum->filtered += more->filtered;
    sum->lost += more->lost;
    sum->unmapped += more->unmapped;
    sum->unresolved += more->unresolved;
    sum->truncated += more->truncated;
    sum->guessed += more->guessed;
}

static void renumber(struct pf_arrivals *arrivals, const uint32_t *rows)
{
    for (size_t i = 0; i < arrivals->count; i++)
        arrivals->all[i].row = rows[arrivals->all[i].row];
}

bool pf_aggregate_add(struct pf_aggregate *aggregate, const struct perfile_profile *from)
{
    struct pf_merge m = {.into = aggregate, .from = from};
    bool fine = true;
    for (size_t kind = 0; fine && kind < PF_AGGREGATE_INDEXED; kind++)
        fine = pf_merge_list(&m, (enum pf_aggregate_kind)kind);
    fine = fine && pf_merge_recordings(&m);
    if (fine && aggregate->arrivals)
        renumber(aggregate->arrivals, m.numbers[PF_AGGREGATE_ROWS]);
    add_losses(&aggregate->profile->losses, &from->losses);
    pf_merge_close(&m);
    return fine;
}

static bool add_all(struct pf_aggregate *into, const struct perfile_profile *const *profiles, size_t count)
{
    bool fine = true;
    for (size_t i = 0; fine && i < count; i++)
        fine = pf_aggregate_add(into, profiles[i]);
    return fine && pf_aggregate_finish(into);
}

int perfile_profile_merge(const struct perfile_profile *const *profiles, size_t count,
                          const struct perfile_profile_merge_options *options, struct perfile_profile **merged,
                          struct perfile_error *error)
{
    struct perfile_profile_merge_options all = PERFILE_PROFILE_MERGE_OPTIONS_INIT;
    struct pf_aggregate into;
    *merged = NULL;
    const int result = pf_sized_take(&all, sizeof(all), options, "merge options", error);
    if (result < 0)
        return result;
    for (size_t i = 0; i < count; i++)
        if (!profiles || !profiles[i])
            return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "profiles", "a profile is NULL");
    const bool fine = pf_aggregate_open(&into, all.allocator) && add_all(&into, profiles, count);
    if (fine) {
        *merged = into.profile;
        return 0;
    }
    pf_aggregate_close(&into);
    return pf_fail_memory(error, "profile");
}
