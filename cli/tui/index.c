/* SPDX-License-Identifier: MIT */
#include "index.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Texts in blocks. */
struct pf_tui_text {
    struct pf_tui_text *next;
    size_t used, capacity;
    char bytes[];
};

enum { BLOCK_BYTES = 64 << 10 };

static char *new_text(struct pf_tui_index *index, size_t bytes)
{
    struct pf_tui_text *block = index->texts;

    if (!block || block->capacity - block->used < bytes) {
        const size_t capacity = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        if (capacity > SIZE_MAX - sizeof(*block) || !(block = malloc(sizeof(*block) + capacity)))
            return NULL;
        *block = (struct pf_tui_text){.next = index->texts, .capacity = capacity};
        index->texts = block;
    }
    char *text = block->bytes + block->used;
    block->used += bytes;
    return text;
}

/* A copy that is valid as long as the index; NULL stays NULL, and is also what comes when out of memory. */
static const char *index_text(struct pf_tui_index *index, const char *text)
{
    const size_t bytes = text ? strlen(text) + 1 : 0;
    char *copy = text ? new_text(index, bytes) : NULL;

    return copy ? memcpy(copy, text, bytes) : NULL;
}

static void free_keys(struct pf_tui_keys *keys)
{
    pf_tui_texts_free(&keys->samples);
    pf_tui_texts_free(&keys->functions);
    perfile_calls_close(keys->calls);
    free(keys->function_of);
    free(keys->first);
    free(keys->order);
    free(keys->starts);
}

void pf_tui_index_free(struct pf_tui_index *index)
{
    if (!index)
        return;
    for (struct pf_tui_text *block = index->texts, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    free(index->events);
    free(index->modules);
    free(index->functions);
    free(index->threads);
    free(index->combos);
    perfile_calls_close(index->calls);
    free(index->rows);
    free(index->event_samples);
    free_keys(&index->keys);
    free(index);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static bool take_events(struct pf_tui_index *index, const struct perfile_profile *profile)
{
    struct perfile_profile_event event = PERFILE_PROFILE_EVENT_INIT;

    for (size_t i = 0; i < index->event_count; i++) {
        if (perfile_profile_event_at(profile, i, &event) < 0)
            return false;
        index->events[i] = (struct pf_tui_event){index_text(index, event.name), index_text(index, event.unit)};
        if (!index->events[i].name || !index->events[i].unit)
            return false;
    }
    return true;
}

static bool take_modules(struct pf_tui_index *index, const struct perfile_profile *profile)
{
    struct perfile_module module = PERFILE_MODULE_INIT;

    for (size_t i = 0; i < index->module_count; i++) {
        if (perfile_profile_module_at(profile, i, &module) < 0)
            return false;
        index->modules[i] = (struct pf_tui_module){.name = index_text(index, module.name),
                                                   .short_name = index_text(index, module.short_name),
                                                   .kernel = module.kernel};
        if (!index->modules[i].name || !index->modules[i].short_name)
            return false;
    }
    return true;
}

static bool take_functions(struct pf_tui_index *index, const struct perfile_profile *profile)
{
    struct perfile_profile_function function = PERFILE_PROFILE_FUNCTION_INIT;
    char number[24];

    for (size_t i = 0; i < index->function_count; i++) {
        if (perfile_profile_function_at(profile, i, &function) < 0)
            return false;
        snprintf(number, sizeof(number), "0x%" PRIx64, function.address);
        index->functions[i] = (struct pf_tui_function){
            .name = index_text(index, function.name ? function.name : number),
            .module = function.module,
            .kind = function.kind,
            .address = function.address,
            .named = function.name,
        };
        if (!index->functions[i].name || (function.module != PERFILE_NO_ID && function.module >= index->module_count))
            return false;
    }
    return true;
}

static bool take_threads(struct pf_tui_index *index, const struct perfile_profile *profile)
{
    struct perfile_profile_thread thread = PERFILE_PROFILE_THREAD_INIT;

    for (size_t i = 0; i < index->thread_count; i++) {
        if (perfile_profile_thread_at(profile, i, &thread) < 0)
            return false;
        index->threads[i] = (struct pf_tui_thread){thread.pid, thread.tid, index_text(index, thread.comm)};
        if (thread.comm && !index->threads[i].comm)
            return false;
    }
    return true;
}

/*
 * Counts all addresses outside of mappings as one function, as broken stacks have many of them. Fills `groups` with the
 * function that each function is counted as.
 */
static void join_unknown_functions(struct pf_tui_index *index, uint32_t *groups)
{
    uint32_t joined[PERFILE_FRAME_UNKNOWN + 1];

    memset(joined, 0xff, sizeof(joined)); /* NONE */
    for (uint32_t i = 0; i < index->function_count; i++) {
        struct pf_tui_function *function = &index->functions[i];
        groups[i] = i;
        if (function->named || function->module != PERFILE_NO_ID || function->kind > PERFILE_FRAME_UNKNOWN)
            continue;
        if (joined[function->kind] == PF_TUI_NONE)
            joined[function->kind] = i;
        groups[i] = joined[function->kind];
        function->name = "[unknown]";
        function->address = 0;
    }
}

/* ---- stacks ------------------------------------------------------------------------------------------------------ */

static bool take_calls(struct pf_tui_index *index, const struct perfile_profile *profile)
{
    struct perfile_calls_options options = PERFILE_CALLS_OPTIONS_INIT;
    uint32_t *groups = calloc(index->function_count + 1, sizeof(*groups));

    if (!groups)
        return false;
    join_unknown_functions(index, groups);
    options.groups = groups;
    options.group_count = (uint32_t)index->function_count;
    const bool fine = perfile_calls_open(profile, &options, &index->calls, NULL) == 0;
    free(groups);
    for (uint32_t i = 0; fine && i < perfile_calls_node_count(index->calls) && !index->has_stacks; i++)
        index->has_stacks = perfile_calls_parent(index->calls, i) != PERFILE_NO_ID;
    return fine;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* What rows have in common, while they are numbered. */
struct found {
    struct pf_tui_combo combo; /* the comm is still the profile's text */
    uint64_t time;             /* this and the next two only where columns show them: else all are equal */
    const char *cgroup;
    uint32_t tags;
    char *text; /* of the columns that describe samples; NULL: there are none, or out of memory */
};

/* Numbers what is equal: open addressing. */
struct combos {
    struct pf_tui_index *index;
    struct pf_profile_location location;
    struct found *all;
    size_t count;
    uint32_t *slots; /* number plus one */
    size_t size, capacity;
};

static bool is_found(const struct found *x, const struct found *y)
{
    const struct pf_tui_combo *a = &x->combo, *b = &y->combo;

    return a->event == b->event && a->pid == b->pid && a->tid == b->tid && a->cpu == b->cpu && a->comm == b->comm &&
           x->time == y->time && x->cgroup == y->cgroup && x->tags == y->tags;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    return (hash ^ word ^ hash >> 29) * 0x9e3779b97f4a7c15ull;
}

static size_t hash_of(const struct found *found)
{
    const struct pf_tui_combo *combo = &found->combo;
    uint64_t hash = mix((uintptr_t)combo->comm, (uint32_t)combo->tid);

    hash = mix(hash, (uint32_t)combo->pid);
    hash = mix(hash, (uint32_t)combo->cpu ^ (uint64_t)combo->event << 32);
    hash = mix(hash, found->time ^ found->tags);
    return (size_t)(mix(hash, (uintptr_t)found->cgroup) >> 32);
}

static uint32_t *combo_slot(const struct combos *combos, const struct found *found)
{
    size_t at = hash_of(found) & (combos->size - 1);

    while (combos->slots[at] && !is_found(&combos->all[combos->slots[at] - 1], found))
        at = (at + 1) & (combos->size - 1);
    return &combos->slots[at];
}

static bool grow_combos(struct combos *combos)
{
    const size_t capacity = combos->capacity ? 2 * combos->capacity : 256;
    void *grown = realloc(combos->all, capacity * sizeof(*combos->all));

    if (!grown)
        return false;
    combos->all = grown;
    free(combos->slots);
    combos->slots = calloc(2 * capacity, sizeof(*combos->slots));
    if (!combos->slots)
        return false;
    combos->capacity = capacity;
    combos->size = 2 * capacity;
    for (size_t i = 0; i < combos->count; i++)
        *combo_slot(combos, &combos->all[i]) = (uint32_t)i + 1;
    return true;
}

/* NONE: out of memory. */
static uint32_t number_combo(struct combos *combos, const struct found *found)
{
    const struct pf_profile_columns *columns = combos->index->keys.columns;

    if (combos->count == combos->capacity && !grow_combos(combos))
        return PF_TUI_NONE;
    uint32_t *slot = combo_slot(combos, found);
    if (!*slot) {
        struct found *made = &combos->all[combos->count++];
        *made = *found;
        made->text = columns ? pf_profile_columns_texts(columns, &combos->location, PF_PROFILE_OF_SAMPLES) : NULL;
        *slot = (uint32_t)combos->count;
    }
    return *slot - 1;
}

/* Texts of equal threads are equal pointers: each is copied once for a run of them. */
static bool keep_combos(struct pf_tui_index *index, const struct combos *combos)
{
    const char *stated = NULL, *kept = NULL;

    index->combo_count = combos->count;
    index->combos = calloc(combos->count + 1, sizeof(*index->combos));
    for (size_t i = 0; i < combos->count; i++) {
        if (!index->combos)
            return false;
        struct pf_tui_combo *combo = &index->combos[i];
        *combo = combos->all[i].combo;
        if (!combo->comm)
            continue;
        if (combo->comm != stated) {
            stated = combo->comm;
            if (!(kept = index_text(index, stated)))
                return false;
        }
        combo->comm = kept;
    }
    return index->combos;
}

/* Takes over the texts of the combos. */
static bool keep_keys(struct pf_tui_index *index, struct combos *combos)
{
    const struct pf_profile_columns *columns = index->keys.columns;
    char **texts = calloc(combos->count + 1, sizeof(*texts));
    uint32_t *numbers = calloc(combos->count + 1, sizeof(*numbers));
    size_t of_samples = 0;
    bool fine = texts && numbers;

    for (size_t i = 0; i < columns->count; i++)
        of_samples += !columns->columns[i].of_functions;
    for (size_t i = 0; i < combos->count && fine; i++) {
        texts[i] = combos->all[i].text;
        combos->all[i].text = NULL;
    }
    fine = fine && pf_tui_texts_make(&index->keys.samples, of_samples, texts, combos->count, numbers);
    for (size_t i = 0; i < combos->count && fine; i++)
        index->combos[i].key = numbers[i];
    free(texts);
    free(numbers);
    return fine;
}

static bool take_row(struct combos *combos, size_t i)
{
    struct pf_tui_index *index = combos->index;
    struct perfile_profile_sample *sample = &combos->location.sample;
    const struct pf_profile_columns *columns = index->keys.columns;

    if (perfile_profile_sample_at(combos->location.profile, i, sample) < 0)
        return false;
    struct found found = {.combo = {sample->event, sample->pid, sample->tid, sample->cpu, sample->comm, 0}};
    if (columns) {
        found.tags = sample->tags;
        found.cgroup = sample->cgroup;
        found.time = columns->has_times ? sample->time : 0;
    }
    const uint64_t step =
        sample->time == UINT64_MAX ? UINT64_MAX : (sample->time - index->first_time) / index->quantum_ns;
    index->rows[i] = (struct pf_tui_row){.combo = number_combo(combos, &found),
                                         .step = step < index->step_count ? (uint32_t)step : PF_TUI_NONE};
    index->event_samples[sample->event] += sample->values[0];
    return index->rows[i].combo != PF_TUI_NONE;
}

/* Hostile times may be far apart: what is too many steps becomes longer ones. */
static void choose_steps(struct pf_tui_index *index, const struct perfile_profile *profile, uint64_t quantum_ns)
{
    enum { MAX_STEPS = 2000 };
    struct perfile_profile_sample sample = PERFILE_PROFILE_SAMPLE_INIT;
    uint64_t first = UINT64_MAX, last = 0;

    for (size_t i = 0; i < index->row_count; i++) {
        if (perfile_profile_sample_at(profile, i, &sample) < 0 || sample.time == UINT64_MAX)
            continue;
        first = sample.time < first ? sample.time : first;
        last = sample.time > last ? sample.time : last;
    }
    index->quantum_ns = quantum_ns ? quantum_ns : 1;
    if (first > last)
        return;
    index->first_time = first;
    while ((last - first) / index->quantum_ns >= MAX_STEPS)
        index->quantum_ns *= 2;
    index->step_count = (uint32_t)((last - first) / index->quantum_ns) + 1;
}

static bool take_rows(struct pf_tui_index *index, const struct perfile_profile *profile)
{
    struct combos combos = {.index = index,
                            .location = {profile, PERFILE_PROFILE_SAMPLE_INIT, PERFILE_PROFILE_FUNCTION_INIT}};
    bool fine = true;

    for (size_t i = 0; i < index->row_count && fine; i++)
        fine = take_row(&combos, i);
    fine = fine && keep_combos(index, &combos) && (!index->keys.columns || keep_keys(index, &combos));
    for (size_t i = 0; i < combos.count; i++)
        free(combos.all[i].text);
    free(combos.all);
    free(combos.slots);
    return fine;
}

/* ---- rows by keys ------------------------------------------------------------------------------------------------ */

static bool name_functions(struct pf_tui_index *index, const struct perfile_profile *profile)
{
    struct pf_tui_keys *keys = &index->keys;
    struct pf_profile_location location = {profile, PERFILE_PROFILE_SAMPLE_INIT, PERFILE_PROFILE_FUNCTION_INIT};
    char **texts = calloc(index->function_count + 1, sizeof(*texts));
    size_t of_functions = 0;
    bool fine = texts;

    for (size_t i = 0; i < keys->columns->count; i++)
        of_functions += keys->columns->columns[i].of_functions;
    for (uint32_t i = 0; i < index->function_count && fine; i++) {
        fine = perfile_profile_function_at(profile, i, &location.function) == 0;
        if (index->functions[i].module == PF_TUI_NONE && !location.function.name) /* those are one function */
            location.function.name = index->functions[i].name;
        texts[i] = pf_profile_columns_texts(keys->columns, &location, PF_PROFILE_OF_FUNCTIONS);
    }
    keys->function_of = calloc(index->function_count + 1, sizeof(*keys->function_of));
    fine = texts && keys->function_of &&
           pf_tui_texts_make(&keys->functions, of_functions, texts, index->function_count, keys->function_of) && fine;
    free(texts);
    return fine;
}

static bool find_first_functions(struct pf_tui_index *index)
{
    struct pf_tui_keys *keys = &index->keys;

    keys->first = malloc((keys->functions.count + 1) * sizeof(*keys->first));
    for (size_t i = 0; i < index->function_count && keys->first; i++) {
        const uint32_t last_first = (uint32_t)(index->function_count - 1 - i);
        keys->first[keys->function_of[last_first]] = keys->functions.columns ? last_first : PF_TUI_NONE;
    }
    return keys->first;
}

static bool sort_rows(struct pf_tui_index *index)
{
    struct pf_tui_keys *keys = &index->keys;
    uint32_t *starts = keys->starts = calloc(keys->samples.count + 2, sizeof(*starts));

    keys->order = calloc(index->row_count + 1, sizeof(*keys->order));
    if (!starts || !keys->order)
        return false;
    for (size_t i = 0; i < index->row_count; i++)
        starts[index->combos[index->rows[i].combo].key + 2]++;
    for (size_t i = 2; i < keys->samples.count + 2; i++)
        starts[i] += starts[i - 1];
    for (size_t i = 0; i < index->row_count; i++)
        keys->order[starts[index->combos[index->rows[i].combo].key + 1]++] = (uint32_t)i;
    return true;
}

static bool open_calls(struct pf_tui_index *index, const struct perfile_profile *profile)
{
    struct perfile_calls_options options = PERFILE_CALLS_OPTIONS_INIT;

    options.groups = index->keys.function_of;
    options.group_count = (uint32_t)index->keys.functions.count;
    return !index->keys.functions.columns || perfile_calls_open(profile, &options, &index->keys.calls, NULL) == 0;
}

static bool take_keys(struct pf_tui_index *index, const struct perfile_profile *profile)
{
    return !index->keys.columns || (name_functions(index, profile) && find_first_functions(index) && sort_rows(index) &&
                                    open_calls(index, profile));
}

/* ---- facts ------------------------------------------------------------------------------------------------------- */

/* While recording, each interval is a recording of the same machine. */
static void print_facts(const struct perfile_profile *profile, FILE *to)
{
    struct perfile_profile_recording recording = PERFILE_PROFILE_RECORDING_INIT;

    if (perfile_profile_recording_at(profile, 0, &recording) == 0) {
        const struct {
            const char *name, *text;
        } facts[] = {{"Recording", recording.path},    {"Host", recording.hostname},
                     {"Kernel", recording.os_release}, {"Architecture", recording.arch},
                     {"CPU", recording.cpu},           {"Recorded with", recording.version}};
        for (size_t k = 0; k < sizeof(facts) / sizeof(facts[0]); k++)
            if (facts[k].text)
                fprintf(to, "%-14s %s\n", facts[k].name, facts[k].text);
        for (size_t k = 0; k < recording.cmdline_count; k++)
            fprintf(to, "%-14s %s\n", k ? "" : "Command line", recording.cmdline[k]);
        if (recording.first_time <= recording.last_time)
            fprintf(to, "%-14s %.6f to %.6f s, %.6f s in all\n", "Samples", (double)recording.first_time / 1e9,
                    (double)recording.last_time / 1e9, (double)(recording.last_time - recording.first_time) / 1e9);
    }
}

static bool take_facts(struct pf_tui_index *index, const struct perfile_profile *profile)
{
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);

    if (!to)
        return false;
    print_facts(profile, to);
    if (fclose(to) == 0)
        index->facts = index_text(index, text);
    free(text);
    return index->facts;
}

/* ---- the complete index ------------------------------------------------------------------------------------------ */

static bool make_buffers(struct pf_tui_index *index)
{
    index->events = calloc(index->event_count + 1, sizeof(*index->events));
    index->event_samples = calloc(index->event_count + 1, sizeof(*index->event_samples));
    index->modules = calloc(index->module_count + 1, sizeof(*index->modules));
    index->functions = calloc(index->function_count + 1, sizeof(*index->functions));
    index->threads = calloc(index->thread_count + 1, sizeof(*index->threads));
    index->rows = calloc(index->row_count + 1, sizeof(*index->rows));
    return index->rows && index->events && index->event_samples && index->modules && index->functions && index->threads;
}

static bool take_all(struct pf_tui_index *index, const struct perfile_profile *profile, uint64_t quantum_ns)
{
    index->event_count = perfile_profile_event_count(profile);
    index->module_count = perfile_profile_module_count(profile);
    index->function_count = perfile_profile_function_count(profile);
    index->thread_count = perfile_profile_thread_count(profile);
    index->row_count = perfile_profile_sample_count(profile);
    index->losses.size = sizeof(index->losses);
    if (!make_buffers(index) || perfile_profile_losses(profile, &index->losses) < 0 || !take_events(index, profile) ||
        !take_modules(index, profile) || !take_functions(index, profile) || !take_threads(index, profile) ||
        !take_facts(index, profile))
        return false;
    choose_steps(index, profile, quantum_ns);
    return take_rows(index, profile) && take_calls(index, profile) && take_keys(index, profile);
}

struct pf_tui_index *pf_tui_index_make(const struct perfile_profile *profile, uint64_t quantum_ns,
                                       const struct pf_profile_columns *columns, bool partial)
{
    struct pf_tui_index *index = calloc(1, sizeof(*index));

    if (!index)
        return NULL;
    index->partial = partial;
    index->keys.columns = columns;
    if (take_all(index, profile, quantum_ns))
        return index;
    pf_tui_index_free(index);
    return NULL;
}
