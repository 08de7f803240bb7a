/* SPDX-License-Identifier: MIT */
#include "analysis/diff/gather.h"

#include "analysis/diff/names.h"
#include "base/bytes.h"
#include "base/siphash.h"
#include "base/text.h"

#include <stdio.h>

/* ---- distinct items ---------------------------------------------------------------------------------------------- */

void pf_distinct_open(struct pf_distinct *set, const struct perfile_allocator *allocator, size_t bytes)
{
    *set = (struct pf_distinct){.allocator = allocator, .bytes = bytes};
    set->seed[0] = (uintptr_t)set;
    set->seed[1] = (uintptr_t)allocator;
    pf_map_open(&set->map, allocator);
}

void pf_distinct_close(struct pf_distinct *set)
{
    pf_map_close(&set->map);
    pf_free(set->allocator, set->items, set->capacity * set->bytes);
    pf_distinct_open(set, set->allocator, set->bytes);
}

/* Finds an item. `hash` becomes the key under which the item is stored, or would be. */
static uint32_t find(const struct pf_distinct *set, const void *item, uint64_t *hash)
{
    uint64_t number;
    for (*hash = pf_siphash(set->seed, item, set->bytes); pf_map_get(&set->map, *hash, &number); ++*hash)
        if (memcmp(set->items + number * set->bytes, item, set->bytes) == 0)
            return (uint32_t)number;
    return PERFILE_NO_ID;
}

uint32_t pf_distinct_find(const struct pf_distinct *set, const void *item)
{
    uint64_t hash;
    return find(set, item, &hash);
}

uint32_t pf_distinct_number(struct pf_distinct *set, const void *item)
{
    uint64_t hash;
    const uint32_t known = find(set, item, &hash);
    if (known != PERFILE_NO_ID)
        return known;
    if (set->count >= PERFILE_NO_ID - 1 ||
        !pf_grow(set->allocator, &set->items, &set->capacity, set->count + 1, set->bytes) ||
        !pf_map_put(&set->map, hash, set->count))
        return PERFILE_NO_ID;
    memcpy(set->items + set->count * set->bytes, item, set->bytes);
    return (uint32_t)set->count++;
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

uint32_t pf_diff_text(struct pf_diff *diff, const char *text)
{
    const size_t bytes = strlen(text);
    uint64_t hash = pf_siphash(diff->seed, text, bytes), number;
    for (; pf_map_get(&diff->text_map, hash, &number); hash++)
        if (strcmp(diff->texts[number], text) == 0)
            return (uint32_t)number;
    if (diff->text_count >= PERFILE_NO_ID - 1 ||
        !pf_grow(diff->allocator, &diff->texts, &diff->text_capacity, diff->text_count + 1, sizeof(*diff->texts)) ||
        !(diff->texts[diff->text_count] = pf_arena_text(&diff->arena, text, bytes)) ||
        !pf_map_put(&diff->text_map, hash, diff->text_count))
        return PERFILE_NO_ID;
    return (uint32_t)diff->text_count++;
}

/* The name before that the caller has given another one is that. */
static const char *mapped(struct pf_diff *diff, const char *name)
{
    for (size_t i = 0; i < diff->options->map_count; i++) {
        const char *map = diff->options->maps[i], *equals = strrchr(map, '=');
        const size_t bytes = equals ? (size_t)(equals - map) : 0;
        if (strlen(name) == bytes && memcmp(name, map, bytes) == 0) {
            diff->used_maps[i] = true;
            return equals + 1;
        }
    }
    return name;
}

/* The number of a name as `normalize` leaves it. */
static uint32_t name_text(struct pf_diff *diff, const struct pf_diff_profile *from, const char *name,
                          size_t (*normalize)(const char *name, char *text))
{
    enum { USUAL = 512 };
    char usual[USUAL];
    const size_t capacity = strlen(name) + 16;
    char *text = capacity <= USUAL ? usual : pf_new(diff->allocator, capacity);
    uint32_t number = PERFILE_NO_ID;
    if (text) {
        normalize(name, text);
        number = pf_diff_text(diff, from->is_before ? mapped(diff, text) : text);
    }
    if (text != usual)
        pf_free(diff->allocator, text, text ? capacity : 0);
    return number;
}

static size_t same_name(const char *name, char *text)
{
    const size_t bytes = strlen(name);
    memcpy(text, name, bytes + 1);
    return bytes;
}

static uint32_t module_text(struct pf_diff *diff, const struct pf_diff_profile *from, uint32_t index)
{
    struct perfile_module module = PERFILE_MODULE_INIT;
    const bool known = perfile_profile_module_at(from->profile, index, &module) == 0;
    const char *name = known && module.short_name ? module.short_name : known && module.name ? module.name : "";
    const size_t capacity = strlen(name) + 16;
    char *text = pf_new(diff->allocator, capacity);
    uint32_t number = PERFILE_NO_ID;
    if (text) {
        pf_diff_module_name(known ? &module : NULL, text);
        number = name_text(diff, from, text, same_name);
    }
    pf_free(diff->allocator, text, text ? capacity : 0);
    return number;
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

uint32_t pf_diff_function_number(struct pf_diff *diff, uint32_t module, uint32_t name)
{
    const struct pf_diff_function function = {module, name};
    if (module == PERFILE_NO_ID || name == PERFILE_NO_ID)
        return PERFILE_NO_ID;
    const uint32_t number = pf_distinct_number(&diff->functions, &function);
    if (number == PERFILE_NO_ID)
        return number;
    if (!pf_grow(diff->allocator, &diff->aliases, &diff->alias_capacity, number + 1u, sizeof(*diff->aliases)))
        return PERFILE_NO_ID;
    for (; diff->alias_count <= number; diff->alias_count++)
        diff->aliases[diff->alias_count] = (struct pf_diff_alias){.function = (uint32_t)diff->alias_count};
    return number;
}

static bool name_functions_of(struct pf_diff *diff, struct pf_diff_profile *of)
{
    const size_t modules = perfile_profile_module_count(of->profile);
    uint32_t *texts = pf_new(diff->allocator, (modules + 1) * sizeof(*texts));
    bool fine = texts != NULL;
    of->function_count = perfile_profile_function_count(of->profile);
    of->functions = pf_new(diff->allocator, (of->function_count + 1) * sizeof(*of->functions));
    fine = fine && of->functions;
    for (size_t i = 0; fine && i <= modules; i++)
        fine = (texts[i] = module_text(diff, of, i < modules ? (uint32_t)i : PERFILE_NO_ID)) != PERFILE_NO_ID;
    for (size_t i = 0; fine && i < of->function_count; i++) {
        struct perfile_profile_function function = PERFILE_PROFILE_FUNCTION_INIT;
        if (perfile_profile_function_at(of->profile, i, &function) < 0)
            continue;
        of->functions[i] = pf_diff_function_number(
            diff, texts[function.module < modules ? function.module : modules],
            name_text(diff, of, function.name ? function.name : PF_DIFF_UNKNOWN, pf_diff_function_name));
        fine = of->functions[i] != PERFILE_NO_ID;
    }
    pf_free(diff->allocator, texts, texts ? (modules + 1) * sizeof(*texts) : 0);
    return fine;
}

/* The function of the profile that was running; PERFILE_NO_ID: it is not known. */
static uint32_t leaf_of(const struct pf_diff_profile *of, const struct perfile_profile_sample *sample)
{
    struct perfile_profile_stack stack = PERFILE_PROFILE_STACK_INIT;
    struct perfile_profile_frame frame = PERFILE_PROFILE_FRAME_INIT;
    const bool has_stack = sample->stack != PERFILE_NO_ID;
    if ((has_stack && perfile_profile_stack_at(of->profile, sample->stack, &stack) < 0) ||
        perfile_profile_frame_at(of->profile, has_stack ? stack.frame : sample->leaf, &frame) < 0)
        return PERFILE_NO_ID;
    return frame.function < of->function_count ? frame.function : PERFILE_NO_ID;
}

/* Rows of functions and binaries are made of these, several times: samples are looked at once. */
static bool weigh_functions(struct pf_diff *diff, struct pf_diff_profile *of)
{
    const size_t count = perfile_profile_sample_count(of->profile);
    of->leaves = pf_new(diff->allocator, (of->function_count + 1) * sizeof(*of->leaves));
    for (size_t i = 0; of->leaves && of->event.first != PERFILE_NO_ID && i < count; i++) {
        struct perfile_profile_sample sample = PERFILE_PROFILE_SAMPLE_INIT;
        if (perfile_profile_sample_at(of->profile, i, &sample) < 0 ||
            !pf_event_is_chosen(of->profile, sample.event, &of->event))
            continue;
        const uint32_t function = leaf_of(of, &sample);
        if (function == PERFILE_NO_ID)
            continue;
        of->leaves[function].weight += sample.values[of->value];
        of->leaves[function].samples += sample.values[0];
    }
    return of->leaves != NULL;
}

bool pf_diff_name_functions(struct pf_diff *diff)
{
    for (size_t i = 0; i < diff->profile_count; i++)
        if (!name_functions_of(diff, &diff->profiles[i]) || !weigh_functions(diff, &diff->profiles[i]))
            return false;
    return true;
}

uint32_t pf_diff_module_of(const struct pf_diff *diff, uint32_t text)
{
    return text < diff->module_count ? diff->modules[text] : text;
}

/* The same in a binary of another name, by another name, and where that was inlined. */
uint32_t pf_diff_function_of(const struct pf_diff *diff, uint32_t function)
{
    enum { STEPS = 3 };
    for (int i = 0; i < STEPS; i++)
        function = diff->aliases[function].function;
    return function;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* While a profile is added. */
struct adding {
    struct pf_diff *diff;
    const struct pf_diff_profile *profile;
    size_t column;
    uint32_t *paths; /* by stack; NULL: not wanted */
    size_t path_count;
    uint32_t *lines; /* by frame: the text plus one, 0: not asked for yet; NULL */
    size_t line_count;
    const char *comm; /* of the last sample, and its text */
    uint32_t comm_text;
    struct perfile_profile_sample tagged; /* the last sample whose tags were made, and their text */
    uint32_t tags_text;                   /* plus one; 0: none was made */
    struct pf_text scratch;
    uint32_t stamp;
};

/* The function that a frame is counted for. */
static uint32_t function_of_frame(const struct adding *a, uint32_t index)
{
    struct perfile_profile_frame frame = PERFILE_PROFILE_FRAME_INIT;
    if (perfile_profile_frame_at(a->profile->profile, index, &frame) < 0 ||
        frame.function >= a->profile->function_count)
        return PERFILE_NO_ID;
    return pf_diff_function_of(a->diff, a->profile->functions[frame.function]);
}

static bool number_paths(struct adding *a)
{
    const struct perfile_profile *profile = a->profile->profile;
    a->path_count = perfile_profile_stack_count(profile);
    a->paths = pf_new(a->diff->allocator, (a->path_count + 1) * sizeof(*a->paths));
    for (size_t i = 0; a->paths && i < a->path_count; i++) {
        struct perfile_profile_stack stack = PERFILE_PROFILE_STACK_INIT;
        if (perfile_profile_stack_at(profile, i, &stack) < 0)
            continue;
        const struct pf_diff_path path = {stack.parent == PERFILE_NO_ID ? PERFILE_NO_ID : a->paths[stack.parent],
                                          function_of_frame(a, stack.frame)};
        const bool joined = a->diff->joins && path.parent != PERFILE_NO_ID &&
                            pf_diff_path_at(a->diff, path.parent)->function == path.function &&
                            a->diff->aliases[path.function].state >= PERFILE_DIFF_INLINED;
        a->paths[i] = joined ? path.parent : pf_distinct_number(&a->diff->paths, &path);
        if (a->paths[i] == PERFILE_NO_ID)
            return false;
    }
    return a->paths != NULL;
}

static bool wants(const struct pf_diff *diff, enum pf_diff_part part)
{
    return diff->wanted >> part & 1;
}

static bool wants_lines(const struct pf_diff *diff)
{
    return wants(diff, PF_DIFF_LINE) || wants(diff, PF_DIFF_FILE);
}

static size_t base_name(const char *name, char *text)
{
    const char *slash = strrchr(name, '/');
    return same_name(slash && slash[1] ? slash + 1 : name, text);
}

/* "file.c:12", or "file.c"; plus one. 0: out of memory. */
static uint32_t line_of_frame(struct adding *a, uint32_t index)
{
    struct perfile_profile_frame frame = PERFILE_PROFILE_FRAME_INIT;
    if (index >= a->line_count || perfile_profile_frame_at(a->profile->profile, index, &frame) < 0)
        return pf_diff_text(a->diff, "?") + 1;
    if (!a->lines[index] && !frame.file) {
        a->lines[index] = pf_diff_text(a->diff, "?") + 1;
    } else if (!a->lines[index]) {
        const size_t capacity = strlen(frame.file) + 16;
        char *text = pf_new(a->diff->allocator, capacity);
        if (!text)
            return 0;
        const size_t bytes = base_name(frame.file, text);
        if (wants(a->diff, PF_DIFF_LINE))
            snprintf(text + bytes, capacity - bytes, ":%u", frame.line);
        a->lines[index] = pf_diff_text(a->diff, text) + 1;
        pf_free(a->diff->allocator, text, capacity);
    }
    return a->lines[index];
}

static bool grow_matrix(struct pf_diff *diff, size_t rows)
{
    return pf_grow(diff->allocator, &diff->stamps, &diff->stamp_capacity, rows, sizeof(*diff->stamps)) &&
           pf_grow(diff->allocator, &diff->cells, &diff->cell_capacity, rows * diff->profile_count,
                   sizeof(*diff->cells));
}

/* The row, of which there may be none yet. PERFILE_NO_ID: out of memory. */
static uint32_t number_row(struct pf_diff *diff, const struct pf_diff_key *key)
{
    const size_t known = diff->keys.count;
    const uint32_t row = pf_distinct_number(&diff->keys, key);
    if (row == PERFILE_NO_ID || diff->keys.count == known)
        return row;
    if (!grow_matrix(diff, diff->keys.count))
        return PERFILE_NO_ID;
    diff->stamps[row] = 0;
    memset(pf_diff_cells(diff, row), 0, diff->profile_count * sizeof(*diff->cells));
    return row;
}

/* A sample counts once for each row, however often that is in its stack. */
static bool count(struct adding *a, const struct pf_diff_key *key, const struct perfile_profile_sample *sample)
{
    const uint32_t row = number_row(a->diff, key);
    if (row == PERFILE_NO_ID)
        return false;
    if (a->diff->stamps[row] == a->stamp)
        return true;
    struct pf_diff_cell *cell = &pf_diff_cells(a->diff, row)[a->column];
    a->diff->stamps[row] = a->stamp;
    cell->weight += (double)sample->values[a->profile->value] * a->profile->scale;
    cell->samples += sample->values[0];
    return true;
}

/* Without stacks, lines and threads. */
static bool add_functions(struct adding *a)
{
    struct pf_diff *diff = a->diff;
    for (size_t i = 0; i < a->profile->function_count; i++) {
        const struct pf_diff_leaf *leaf = &a->profile->leaves[i];
        const uint32_t function = pf_diff_function_of(diff, a->profile->functions[i]);
        struct pf_diff_key key = {{0}};
        if (!leaf->samples && !leaf->weight)
            continue;
        if (wants(diff, PF_DIFF_MODULE))
            key.parts[PF_DIFF_MODULE] = pf_diff_module_of(diff, pf_diff_function_at(diff, function)->module) + 1;
        if (wants(diff, PF_DIFF_FUNCTION))
            key.parts[PF_DIFF_FUNCTION] = function + 1;
        const uint32_t row = number_row(diff, &key);
        if (row == PERFILE_NO_ID)
            return false;
        struct pf_diff_cell *cell = &pf_diff_cells(diff, row)[a->column];
        cell->weight += (double)leaf->weight * a->profile->scale;
        cell->samples += leaf->samples;
    }
    return true;
}

static bool count_frame(struct adding *a, struct pf_diff_key key, uint32_t frame,
                        const struct perfile_profile_sample *sample)
{
    struct pf_diff *diff = a->diff;
    const uint32_t function = function_of_frame(a, frame);
    if (function == PERFILE_NO_ID)
        return true;
    if (wants(diff, PF_DIFF_MODULE))
        key.parts[PF_DIFF_MODULE] = pf_diff_module_of(diff, pf_diff_function_at(diff, function)->module) + 1;
    if (wants(diff, PF_DIFF_FUNCTION))
        key.parts[PF_DIFF_FUNCTION] = function + 1;
    if (wants_lines(diff) && !(key.parts[PF_DIFF_LINE] = line_of_frame(a, frame)))
        return false;
    return count(a, &key, sample);
}

static bool find_comm(struct adding *a, const struct perfile_profile_sample *sample)
{
    const char *comm = sample->comm ? sample->comm : "?";
    if (!wants(a->diff, PF_DIFF_THREAD) || comm == a->comm)
        return true;
    a->comm = comm;
    a->comm_text = name_text(a->diff, a->profile, comm, pf_diff_thread_name);
    if (a->comm_text != PERFILE_NO_ID) /* threads are called after their program */
        a->comm_text = pf_diff_module_of(a->diff, a->comm_text);
    return a->comm_text != PERFILE_NO_ID;
}

/* ---- tags ---- */

/* Keys of profiles that are not tags. */
static void put_number(struct pf_text *text, int32_t number)
{
    if (number == -1)
        pf_put_char(text, '?');
    else
        pf_put_signed(text, number);
}

static void put_cpu(struct pf_text *text, const struct perfile_profile_sample *sample)
{
    put_number(text, sample->cpu);
}

static void put_pid(struct pf_text *text, const struct perfile_profile_sample *sample)
{
    put_number(text, sample->pid);
}

static void put_tid(struct pf_text *text, const struct perfile_profile_sample *sample)
{
    put_number(text, sample->tid);
}

static void put_cgroup(struct pf_text *text, const struct perfile_profile_sample *sample)
{
    pf_put_string(text, sample->cgroup ? sample->cgroup : "?");
}

static const struct key {
    const char *name;
    void (*put)(struct pf_text *text, const struct perfile_profile_sample *sample);
} other_keys[] = {{"cpu", put_cpu}, {"pid", put_pid}, {"tid", put_tid}, {"cgroup", put_cgroup}};

static bool is_called(const char *name, const char *word, size_t bytes)
{
    return strlen(name) == bytes && memcmp(name, word, bytes) == 0;
}

/* NULL: not one of them. */
static const struct key *find_key(const char *word, size_t bytes)
{
    for (size_t i = 0; i < PF_COUNT(other_keys); i++)
        if (is_called(other_keys[i].name, word, bytes))
            return &other_keys[i];
    return NULL;
}

bool pf_diff_has_tag(const struct pf_diff *diff, const char *name, size_t bytes)
{
    struct perfile_profile_tag tag = PERFILE_PROFILE_TAG_INIT;
    bool any_rows = false;
    for (size_t i = 0; i < diff->profile_count; i++) {
        any_rows |= perfile_profile_sample_count(diff->profiles[i].profile) != 0;
        for (size_t k = 0; perfile_profile_tag_at(diff->profiles[i].profile, k, &tag) == 0; k++)
            if (is_called(tag.name, name, bytes))
                return true;
    }
    return find_key(name, bytes) || !any_rows;
}

static void put_tag(struct adding *a, const struct perfile_profile_sample *sample, const char *word, size_t bytes)
{
    struct perfile_profile_tag tag = PERFILE_PROFILE_TAG_INIT;
    const struct key *key = find_key(word, bytes);
    uint32_t at = sample->tags;
    if (key) {
        key->put(&a->scratch, sample);
        return;
    }
    for (; perfile_profile_tag_at(a->profile->profile, at, &tag) == 0; at = tag.next)
        if (is_called(tag.name, word, bytes)) {
            pf_put_string(&a->scratch, tag.text);
            return;
        }
    pf_put_char(&a->scratch, '?');
}

/* "mem=L1 hit, cpu=3": what tags the sample has. False when out of memory. */
static bool find_tags(struct adding *a, const struct perfile_profile_sample *sample)
{
    const struct pf_diff_tags *tags = a->diff->tags;
    const struct perfile_profile_sample *last = &a->tagged;
    if (!wants(a->diff, PF_DIFF_TAGS) ||
        (a->tags_text && last->tags == sample->tags && last->cpu == sample->cpu && last->pid == sample->pid &&
         last->tid == sample->tid && last->cgroup == sample->cgroup))
        return true;
    a->tagged = *sample;
    a->scratch.used = 0;
    for (size_t i = 0; i < tags->count; i++) {
        pf_put_string(&a->scratch, i ? ", " : "");
        pf_put(&a->scratch, tags->words[i].name, tags->words[i].bytes);
        pf_put_char(&a->scratch, '=');
        put_tag(a, sample, tags->words[i].name, tags->words[i].bytes);
    }
    pf_put_char(&a->scratch, 0);
    a->tags_text = a->scratch.failed ? 0 : pf_diff_text(a->diff, a->scratch.data) + 1;
    return a->tags_text != 0;
}

/* Without a stack the function that was running is all of the path. */
static bool count_leaf(struct adding *a, struct pf_diff_key key, const struct perfile_profile_sample *sample)
{
    const struct pf_diff_path path = {PERFILE_NO_ID, function_of_frame(a, sample->leaf)};
    if (a->paths && path.function != PERFILE_NO_ID) {
        const uint32_t number = pf_distinct_number(&a->diff->paths, &path);
        if (number == PERFILE_NO_ID)
            return false;
        key.parts[PF_DIFF_PATH] = number + 1;
    }
    return count_frame(a, key, sample->leaf, sample);
}

static bool add_sample(struct adding *a, const struct perfile_profile_sample *sample)
{
    struct pf_diff *diff = a->diff;
    struct pf_diff_key key = {{0}};
    struct perfile_profile_stack stack = PERFILE_PROFILE_STACK_INIT;
    uint32_t at = sample->stack;
    if (!find_comm(a, sample) || !find_tags(a, sample))
        return false;
    key.parts[PF_DIFF_TAGS] = a->tags_text;
    key.parts[PF_DIFF_THREAD] = wants(diff, PF_DIFF_THREAD) ? a->comm_text + 1 : 0;
    bool fine = at != PERFILE_NO_ID || count_leaf(a, key, sample);
    for (; fine && at != PERFILE_NO_ID && perfile_profile_stack_at(a->profile->profile, at, &stack) == 0;
         at = diff->inclusive ? stack.parent : PERFILE_NO_ID) {
        key.parts[PF_DIFF_PATH] = a->paths ? a->paths[at] + 1 : 0;
        fine = count_frame(a, key, stack.frame, sample);
    }
    return fine;
}

static bool add_samples(struct adding *a)
{
    const size_t count = perfile_profile_sample_count(a->profile->profile);
    for (size_t i = 0; i < count; i++) {
        struct perfile_profile_sample sample = PERFILE_PROFILE_SAMPLE_INIT;
        if (perfile_profile_sample_at(a->profile->profile, i, &sample) < 0 ||
            !pf_event_is_chosen(a->profile->profile, sample.event, &a->profile->event))
            continue;
        a->stamp = (uint32_t)i + 1;
        if (!add_sample(a, &sample))
            return false;
    }
    return true;
}

static bool add_profile(struct pf_diff *diff, size_t column)
{
    struct adding a = {.diff = diff, .profile = &diff->profiles[column], .column = column};
    bool fine = true;
    if (a.profile->event.first == PERFILE_NO_ID)
        return true;
    if (!diff->inclusive && !(diff->wanted & ~(1u << PF_DIFF_MODULE | 1u << PF_DIFF_FUNCTION)))
        return add_functions(&a);
    memset(diff->stamps, 0, diff->keys.count * sizeof(*diff->stamps));
    if (wants(diff, PF_DIFF_PATH))
        fine = number_paths(&a);
    if (wants_lines(diff)) {
        a.line_count = perfile_profile_frame_count(a.profile->profile);
        a.lines = pf_new(diff->allocator, (a.line_count + 1) * sizeof(*a.lines));
        fine = fine && a.lines;
    }
    if (wants(diff, PF_DIFF_TAGS))
        fine = pf_text_open(&a.scratch, diff->allocator, NULL, NULL) == 0 && fine;
    fine = fine && add_samples(&a);
    pf_text_close(&a.scratch);
    pf_free(diff->allocator, a.paths, a.paths ? (a.path_count + 1) * sizeof(*a.paths) : 0);
    pf_free(diff->allocator, a.lines, a.lines ? (a.line_count + 1) * sizeof(*a.lines) : 0);
    return fine;
}

bool pf_diff_gather(struct pf_diff *diff, unsigned wanted, bool inclusive)
{
    diff->wanted = wanted;
    diff->inclusive = inclusive;
    pf_distinct_close(&diff->keys);
    if (!grow_matrix(diff, 1))
        return false;
    for (size_t i = 0; i < diff->profile_count; i++)
        if (!add_profile(diff, i))
            return false;
    return true;
}
