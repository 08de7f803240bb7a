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

/* Numbers what is equal: open addressing. */
struct combos {
    struct pf_tui_index *index;
    uint32_t *slots; /* number plus one */
    size_t size, capacity;
};

static bool is_combo(const struct pf_tui_combo *a, const struct pf_tui_combo *b)
{
    return a->event == b->event && a->pid == b->pid && a->tid == b->tid && a->cpu == b->cpu && a->comm == b->comm;
}

static size_t combo_hash(const struct pf_tui_combo *combo)
{
    uint64_t hash = (uintptr_t)combo->comm;

    hash = (hash ^ (uint32_t)combo->tid) * 0x9e3779b97f4a7c15ull;
    hash = (hash ^ (uint32_t)combo->pid ^ hash >> 29) * 0x9e3779b97f4a7c15ull;
    hash = (hash ^ (uint32_t)combo->cpu ^ (uint64_t)combo->event << 32 ^ hash >> 29) * 0x9e3779b97f4a7c15ull;
    return (size_t)(hash >> 32);
}

static uint32_t *combo_slot(const struct combos *combos, const struct pf_tui_combo *combo)
{
    size_t at = combo_hash(combo) & (combos->size - 1);

    while (combos->slots[at] && !is_combo(&combos->index->combos[combos->slots[at] - 1], combo))
        at = (at + 1) & (combos->size - 1);
    return &combos->slots[at];
}

static bool grow_combos(struct combos *combos)
{
    struct pf_tui_index *index = combos->index;
    const size_t capacity = combos->capacity ? 2 * combos->capacity : 256;
    void *grown = realloc(index->combos, capacity * sizeof(*index->combos));

    if (!grown)
        return false;
    index->combos = grown;
    free(combos->slots);
    combos->slots = calloc(2 * capacity, sizeof(*combos->slots));
    if (!combos->slots)
        return false;
    combos->capacity = capacity;
    combos->size = 2 * capacity;
    for (size_t i = 0; i < index->combo_count; i++)
        *combo_slot(combos, &index->combos[i]) = (uint32_t)i + 1;
    return true;
}

/* NONE: out of memory. The comm is still the profile's text. */
static uint32_t number_combo(struct combos *combos, const struct pf_tui_combo *combo)
{
    if (combos->index->combo_count == combos->capacity && !grow_combos(combos))
        return PF_TUI_NONE;
    uint32_t *slot = combo_slot(combos, combo);
    if (!*slot) {
        combos->index->combos[combos->index->combo_count++] = *combo;
        *slot = (uint32_t)combos->index->combo_count;
    }
    return *slot - 1;
}

/* Texts of equal threads are equal pointers: each is copied once for a run of them. */
static bool keep_comms(struct pf_tui_index *index)
{
    const char *stated = NULL, *kept = NULL;

    for (size_t i = 0; i < index->combo_count; i++) {
        struct pf_tui_combo *combo = &index->combos[i];
        if (!combo->comm)
            continue;
        if (combo->comm != stated) {
            stated = combo->comm;
            if (!(kept = index_text(index, stated)))
                return false;
        }
        combo->comm = kept;
    }
    return true;
}

static bool take_row(struct combos *combos, const struct perfile_profile *profile, size_t i)
{
    struct pf_tui_index *index = combos->index;
    struct perfile_profile_sample sample = PERFILE_PROFILE_SAMPLE_INIT;

    if (perfile_profile_sample_at(profile, i, &sample) < 0)
        return false;
    const struct pf_tui_combo combo = {sample.event, sample.pid, sample.tid, sample.cpu, sample.comm};
    const uint64_t step =
        sample.time == UINT64_MAX ? UINT64_MAX : (sample.time - index->first_time) / index->quantum_ns;
    index->rows[i] = (struct pf_tui_row){.combo = number_combo(combos, &combo),
                                         .step = step < index->step_count ? (uint32_t)step : PF_TUI_NONE};
    index->event_samples[sample.event] += sample.values[0];
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
    struct combos combos = {.index = index};
    bool fine = true;

    for (size_t i = 0; i < index->row_count && fine; i++)
        fine = take_row(&combos, profile, i);
    free(combos.slots);
    return fine && keep_comms(index);
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
    return take_rows(index, profile) && take_calls(index, profile);
}

struct pf_tui_index *pf_tui_index_make(const struct perfile_profile *profile, uint64_t quantum_ns, bool partial)
{
    struct pf_tui_index *index = calloc(1, sizeof(*index));

    if (!index)
        return NULL;
    index->partial = partial;
    if (take_all(index, profile, quantum_ns))
        return index;
    pf_tui_index_free(index);
    return NULL;
}
