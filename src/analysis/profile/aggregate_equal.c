/* SPDX-License-Identifier: MIT */
/* What makes things of profiles equal, and what becomes of the rest when they are. */
#include "analysis/profile/aggregate.h"
#include "base/bytes.h"

static uint64_t word_of(const char *text)
{
    return (uintptr_t)text; /* equal texts are equal pointers */
}

/* The events of one name in a recording differ by their order. */
static size_t event_words(const void *item, uint64_t *words)
{
    const struct pf_aggregate_event *event = item;
    words[0] = word_of(event->name);
    words[1] = word_of(event->unit);
    words[2] = event->nth;
    return 3;
}

static void join_events(void *known, const void *item)
{
    struct pf_aggregate_event *event = known;
    const struct pf_aggregate_event *other = item;
    event->has_weight |= other->has_weight;
    if (other->type > event->type || (other->type == event->type && other->config >= event->config))
        return;
    event->type = other->type; /* which came first makes no difference */
    event->config = other->config;
}

static bool has_build_id(const struct pf_aggregate_module *module)
{
    for (uint32_t i = 0; i < module->build_id_bytes; i++)
        if (module->build_id[i])
            return true;
    return false;
}

/*
 * Modules are compared by the build id, as the same binary may be in another folder elsewhere. Copies under other file
 * names stay apart, since reports show file names.
 */
static size_t module_words(const void *item, uint64_t *words)
{
    const struct pf_aggregate_module *module = item;
    words[0] = (uint64_t)module->kind << 32 | (has_build_id(module) ? module->build_id_bytes : 0);
    words[1] = word_of(has_build_id(module) ? module->short_name : module->name);
    words[2] = words[3] = words[4] = 0;
    if (has_build_id(module))
        memcpy(&words[2], module->build_id, sizeof(module->build_id));
    return 5;
}

/* The first of both in byte order, so that it makes no difference which came first. */
static bool is_before(const char *a, const char *b)
{
    return a && (!b || strcmp(a, b) < 0);
}

static void join_modules(void *known, const void *item)
{
    struct pf_aggregate_module *module = known;
    const struct pf_aggregate_module *other = item;
    if (is_before(other->name, module->name))
        module->name = other->name;
    if (other->state > module->state || (other->state == module->state && is_before(other->path, module->path))) {
        module->state = other->state;
        module->path = other->path;
    }
}

/* Functions without names differ by what stands for the name: the module can have several. */
static size_t function_words(const void *item, uint64_t *words)
{
    const struct pf_aggregate_function *function = item;
    words[0] = (uint64_t)function->module << 32 | (function->kind == PERFILE_FRAME_INLINED ? 2u : 0u) |
               (function->name ? 0u : 1u);
    words[1] = word_of(function->name ? function->name : function->label);
    words[2] = function->address;
    return 3;
}

static void join_functions(void *known, const void *item)
{
    struct pf_aggregate_function *function = known;
    const struct pf_aggregate_function *other = item;
    if (is_before(other->raw_name, function->raw_name))
        function->raw_name = other->raw_name;
    function->bytes = pf_max(function->bytes, other->bytes);
    if (!is_before(other->file, function->file))
        return;
    function->file = other->file;
    function->start_line = other->start_line;
}

static size_t frame_words(const void *item, uint64_t *words)
{
    const struct pf_aggregate_frame *frame = item;
    words[0] = (uint64_t)frame->function << 32 | frame->kind;
    words[1] = frame->offset;
    words[2] = frame->address;
    words[3] = word_of(frame->file);
    words[4] = frame->line;
    words[5] = frame->file_offset;
    return 6;
}

static size_t thread_words(const void *item, uint64_t *words)
{
    const struct pf_aggregate_thread *thread = item;
    words[0] = (uint64_t)(uint32_t)thread->pid << 32 | (uint32_t)thread->tid;
    return 1;
}

static void join_threads(void *known, const void *item)
{
    struct pf_aggregate_thread *thread = known;
    const struct pf_aggregate_thread *other = item;
    const bool is_later = other->comm_time > thread->comm_time;
    if (is_later || (other->comm_time == thread->comm_time && is_before(other->comm, thread->comm)))
        thread->comm = other->comm;
    thread->comm_time = pf_max(thread->comm_time, other->comm_time);
    thread->first_time = pf_min(thread->first_time, other->first_time);
    thread->last_time = pf_max(thread->last_time, other->last_time);
    thread->samples += other->samples;
}

static size_t comm_words(const void *item, uint64_t *words)
{
    const struct pf_aggregate_comm *comm = item;
    words[0] = comm->thread;
    words[1] = word_of(comm->text);
    return 2;
}

static size_t tag_words(const void *item, uint64_t *words)
{
    const struct pf_aggregate_tag *tag = item;
    words[0] = word_of(tag->name);
    words[1] = word_of(tag->text);
    words[2] = tag->next;
    return 3;
}

static size_t key_words(const void *item, uint64_t *words)
{
    const struct pf_aggregate_key *key = item;
    words[0] = (uint64_t)(uint32_t)key->pid << 32 | (uint32_t)key->tid;
    words[1] = (uint64_t)(uint32_t)key->cpu << 32 | key->event;
    words[2] = word_of(key->comm);
    words[3] = key->time;
    words[4] = word_of(key->cgroup);
    words[5] = (uint64_t)key->tags << 32 | key->recording;
    return 6;
}

static size_t node_words(const void *item, uint64_t *words)
{
    const struct pf_tree_link *node = item;
    words[0] = (uint64_t)node->parent << 32 | node->frame;
    return 1;
}

static size_t row_words(const void *item, uint64_t *words)
{
    const struct pf_aggregate_row *row = item;
    words[0] = (uint64_t)row->node << 32 | row->key;
    words[1] = row->leaf;
    return 2;
}

static void join_rows(void *known, const void *item)
{
    struct pf_aggregate_row *row = known;
    for (size_t i = 0; i < PF_AGGREGATE_VALUES; i++)
        (void)pf_add_to_sum(&row->values[i], ((const struct pf_aggregate_row *)item)->values[i]);
}

static const struct rule {
    size_t bytes;
    size_t (*words)(const void *item, uint64_t *words);
    void (*join)(void *known, const void *item); /* NULL: all that they say is equal */
} rules[PF_AGGREGATE_KINDS] = {
    [PF_AGGREGATE_EVENTS] = {sizeof(struct pf_aggregate_event), event_words, join_events},
    [PF_AGGREGATE_MODULES] = {sizeof(struct pf_aggregate_module), module_words, join_modules},
    [PF_AGGREGATE_FUNCTIONS] = {sizeof(struct pf_aggregate_function), function_words, join_functions},
    [PF_AGGREGATE_FRAMES] = {sizeof(struct pf_aggregate_frame), frame_words, NULL},
    [PF_AGGREGATE_THREADS] = {sizeof(struct pf_aggregate_thread), thread_words, join_threads},
    [PF_AGGREGATE_COMMS] = {sizeof(struct pf_aggregate_comm), comm_words, NULL},
    [PF_AGGREGATE_TAGS] = {sizeof(struct pf_aggregate_tag), tag_words, NULL},
    [PF_AGGREGATE_KEYS] = {sizeof(struct pf_aggregate_key), key_words, NULL},
    [PF_AGGREGATE_NODES] = {sizeof(struct pf_tree_link), node_words, NULL},
    [PF_AGGREGATE_ROWS] = {sizeof(struct pf_aggregate_row), row_words, join_rows},
    [PF_AGGREGATE_VALUE_TYPES] = {sizeof(struct pf_aggregate_value_type), NULL, NULL},
    [PF_AGGREGATE_RECORDINGS] = {sizeof(struct pf_aggregate_recording), NULL, NULL},
};

size_t pf_aggregate_bytes(enum pf_aggregate_kind kind)
{
    return rules[kind].bytes;
}

size_t pf_aggregate_words(enum pf_aggregate_kind kind, const void *item, uint64_t words[PF_AGGREGATE_WORDS])
{
    return rules[kind].words(item, words);
}

void pf_aggregate_join(enum pf_aggregate_kind kind, void *known, const void *item)
{
    if (rules[kind].join)
        rules[kind].join(known, item);
}
