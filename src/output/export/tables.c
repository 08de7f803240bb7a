/* SPDX-License-Identifier: MIT */
#include "output/export/tables.h"

#include "analysis/label.h"
#include "base/bytes.h"
#include "base/escape.h"
#include "base/map.h"
#include "base/siphash.h"
#include "base/protobuf.h"

/* ---- texts ------------------------------------------------------------------------------------------------------- */

uint32_t pf_tables_text_now(struct pf_tables *tables, const char *text)
{
    const size_t bytes = strlen(text);
    if (PF_LIKELY(pf_printable_run(text, bytes) == bytes))
        return pf_dictionary_put(&tables->texts, text, bytes);
    tables->scratch.used = 0;
    pf_put_name_bytes(&tables->scratch, text, bytes);
    return pf_dictionary_put(&tables->texts, tables->scratch.data, tables->scratch.used);
}

uint32_t pf_tables_text(struct pf_tables *tables, const char *text)
{
    struct pf_tables_recent *recent = &tables->recent[(uintptr_t)text / 8 % PF_TABLES_RECENT];
    if (!text)
        return 0;
    if (PF_UNLIKELY(recent->text != text))
        *recent = (struct pf_tables_recent){text, pf_tables_text_now(tables, text)};
    return recent->number;
}

/* ---- stacks as locations ----------------------------------------------------------------------------------------- */

/* Locations of the frames that are no inlined functions; those that are have none of their own. */
enum { NOT_YET = INT32_MAX, INLINED = INT32_MAX - 1 };

/* Of a node whose location is that of a stack; frames are less than this. */
static const uint32_t is_used = (uint32_t)1 << 31;

/* NULL when out of memory. */
static uint32_t *kinds_of_frames(const struct pf_tables *tables, size_t count)
{
    uint32_t *of_frame = pf_new(tables->allocator, (count + 1) * sizeof(*of_frame));
    struct perfile_profile_frame frame = PERFILE_PROFILE_FRAME_INIT;
    for (size_t i = 0; of_frame && i < count; i++) {
        (void)!perfile_profile_frame_at(tables->profile, i, &frame); /* numbers of the profile are valid */
        of_frame[i] = frame.kind == PERFILE_FRAME_INLINED ? INLINED : NOT_YET;
    }
    return of_frame;
}

/* NOT_YET when out of memory. */
static uint32_t add_location(struct pf_tables *tables, uint32_t frame, uint32_t within)
{
    if (tables->location_count >= INLINED || !pf_grow(tables->allocator, &tables->locations, &tables->location_capacity,
                                                      tables->location_count + 1, sizeof(*tables->locations)))
        return NOT_YET;
    tables->locations[tables->location_count] = (struct pf_tables_location){.frame = frame, .within = within};
    return (uint32_t)tables->location_count++;
}

static uint32_t inlined_location(struct pf_tables *tables, uint32_t frame, uint32_t within)
{
    uint32_t location;
    if (pf_pairs_get(&tables->inlined, within, frame, &location))
        return location;
    location = add_location(tables, frame, within);
    return location != NOT_YET && pf_pairs_put(&tables->inlined, within, frame, location) ? location : NOT_YET;
}

/*
 * Locates a node. A function and those that are inlined in it are one location, whose caller is the caller of the
 * function.
 */
static bool locate_node(struct pf_tables *tables, uint32_t *of_frame, size_t number)
{
    struct perfile_profile_stack stack = PERFILE_PROFILE_STACK_INIT;
    struct pf_tables_node *node = &tables->nodes[number];
    (void)!perfile_profile_stack_at(tables->profile, number, &stack);
    *node = (struct pf_tables_node){.caller = stack.parent};
    if (of_frame[stack.frame] != INLINED) {
        if (of_frame[stack.frame] == NOT_YET)
            of_frame[stack.frame] = add_location(tables, stack.frame, PERFILE_NO_ID);
        node->location = of_frame[stack.frame];
        return node->location != NOT_YET;
    }
    const struct pf_tables_node *within = stack.parent == PERFILE_NO_ID ? NULL : &tables->nodes[stack.parent];
    if (within)
        node->caller = within->caller;
    node->location = inlined_location(tables, stack.frame, within ? within->location : PERFILE_NO_ID);
    return node->location != NOT_YET;
}

static bool locate_nodes(struct pf_tables *tables)
{
    const size_t frame_count = perfile_profile_frame_count(tables->profile);
    uint32_t *of_frame = kinds_of_frames(tables, frame_count);
    bool fine = of_frame;
    tables->node_count = perfile_profile_stack_count(tables->profile);
    tables->nodes = pf_new(tables->allocator, (tables->node_count + 1) * sizeof(*tables->nodes));
    fine = fine && tables->nodes;
    for (size_t i = 0; fine && i < tables->node_count; i++)
        fine = locate_node(tables, of_frame, i);
    pf_free(tables->allocator, of_frame, (frame_count + 1) * sizeof(*of_frame));
    return fine;
}

static void use_stack(struct pf_tables *tables, uint32_t stack)
{
    while (stack != PERFILE_NO_ID && !(tables->nodes[stack].location & is_used)) {
        struct pf_tables_location *location = &tables->locations[tables->nodes[stack].location];
        if (!location->number)
            location->number = (uint32_t)tables->entry_count++;
        tables->nodes[stack].location |= is_used;
        stack = tables->nodes[stack].caller;
    }
}

/* Numbers the locations of rows, and lets nodes have the numbers. */
static void number_locations(struct pf_tables *tables)
{
    struct perfile_profile_sample row = PERFILE_PROFILE_SAMPLE_INIT;
    const size_t count = perfile_profile_sample_count(tables->profile);
    tables->entry_count = 1;
    for (size_t i = 0; i < count; i++) {
        (void)!perfile_profile_sample_at(tables->profile, i, &row);
        use_stack(tables, row.stack);
    }
    for (size_t i = 0; i < tables->node_count; i++) {
        uint32_t *location = &tables->nodes[i].location;
        *location = *location & is_used ? tables->locations[*location & ~is_used].number : 0;
    }
}

void pf_tables_put_locations(const struct pf_tables *tables, uint32_t stack, struct pf_text *text)
{
    enum { CAPACITY = 4096, NUMBER_BYTES = 5 };
    const struct pf_tables_node *nodes = tables->nodes;
    while (stack != PERFILE_NO_ID) {
        char *at = pf_text_reserve(text, CAPACITY), *max = at + CAPACITY - NUMBER_BYTES;
        for (; stack != PERFILE_NO_ID && at <= max; stack = nodes[stack].caller)
            at = pf_proto_varint(at, nodes[stack].location);
        pf_text_commit(text, at);
    }
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

/*
 * Where it equals the name, some readers take the name for one that they have to demangle, and cut off what looks like
 * arguments: only what looks like a word of C may be the same.
 */
static const char *system_name_of(const struct perfile_profile_function *function)
{
    static const char word[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.$@";
    const char *name = function->raw_name;
    const bool same = name && function->name && strcmp(name, function->name) == 0;
    return same && name[strspn(name, word)] ? NULL : name;
}

/* 0 when out of memory. */
static uint32_t add_function(struct pf_tables *tables, const struct pf_tables_function *function)
{
    const uint64_t names = (uint64_t)function->name << 32 | function->system_name;
    const uint64_t entry = (uint64_t)function->file << 32 | function->start_line;
    uint32_t number;
    if (pf_pairs_get(&tables->known_functions, names, entry, &number))
        return number;
    number = (uint32_t)tables->function_count;
    if (!pf_pairs_put(&tables->known_functions, names, entry, number) ||
        !pf_grow(tables->allocator, &tables->functions, &tables->function_capacity, (size_t)number + 1,
                 sizeof(*tables->functions)))
        return 0;
    tables->functions[tables->function_count++] = *function;
    return number;
}

/* The number of the function of a frame. 0 when out of memory. */
static uint32_t number_function(struct pf_tables *tables, const struct perfile_profile_frame *frame,
                                const struct perfile_profile_function *function)
{
    const char *file = frame->file ? frame->file : function->file;
    const struct pf_tables_function made = {.name = pf_tables_text(tables, pf_label_or_name(function)),
                                            .system_name = pf_tables_text(tables, system_name_of(function)),
                                            .file = pf_tables_text(tables, file),
                                            .start_line = file == function->file ? function->start_line : 0,
                                            .kind = function->kind};
    return add_function(tables, &made);
}

/* ---- locations --------------------------------------------------------------------------------------------------- */

static bool add_line(struct pf_tables *tables, uint32_t function, uint32_t line)
{
    if (!function || !pf_grow(tables->allocator, &tables->lines, &tables->line_capacity, tables->line_count + 1,
                              sizeof(*tables->lines)))
        return false;
    tables->lines[tables->line_count++] = (struct pf_tables_line){function, line};
    return true;
}

/* What of its binary is used. */
static void note_entry(struct pf_tables_mapping *mapping, const struct pf_tables_entry *entry, uint64_t file_offset)
{
    if (!mapping->is_used || entry->address < mapping->start) {
        mapping->start = entry->address;
        mapping->offset = file_offset;
    }
    mapping->limit = pf_max(mapping->limit, entry->address);
    mapping->is_used = true;
    mapping->has_inlines |= entry->line_count > 1;
}

/* Adds what is known of a frame to its location. */
static bool add_frame(struct pf_tables *tables, const struct perfile_profile_frame *frame,
                      struct pf_tables_entry *entry)
{
    struct perfile_profile_function function = PERFILE_PROFILE_FUNCTION_INIT;
    (void)!perfile_profile_function_at(tables->profile, frame->function, &function);
    entry->mapping = function.module + 1; /* PERFILE_NO_ID: 0 */
    if (tables->options->symbols->no_names && !function.name)
        return true;
    struct pf_tables_mapping *mapping = &tables->mappings[entry->mapping];
    const uint32_t number = number_function(tables, frame, &function);
    if (!add_line(tables, number, frame->line))
        return false;
    mapping->has_functions = true;
    mapping->has_files |= tables->functions[number].file != 0;
    mapping->has_lines |= frame->line != 0;
    return true;
}

/* Makes the entry of a location; its mapping is the number of the module plus one for now. */
static bool make_entry(struct pf_tables *tables, const struct pf_tables_location *location)
{
    struct perfile_profile_frame frame = PERFILE_PROFILE_FRAME_INIT;
    struct pf_tables_entry *entry = &tables->entries[location->number];
    *entry = (struct pf_tables_entry){.first_line = (uint32_t)tables->line_count};
    for (;; location = &tables->locations[location->within]) {
        (void)!perfile_profile_frame_at(tables->profile, location->frame, &frame);
        if (!add_frame(tables, &frame, entry))
            return false;
        if (location->within == PERFILE_NO_ID)
            break;
    }
    entry->address = frame.address;
    entry->kind = frame.kind;
    entry->line_count = (uint32_t)tables->line_count - entry->first_line;
    note_entry(&tables->mappings[entry->mapping], entry, frame.file_offset);
    return true;
}

static bool make_entries(struct pf_tables *tables)
{
    static const struct pf_tables_function none = {0};
    bool fine = pf_grow(tables->allocator, &tables->functions, &tables->function_capacity, 1, sizeof(none));
    tables->mapping_count = perfile_profile_module_count(tables->profile) + 1;
    tables->mappings = pf_new(tables->allocator, tables->mapping_count * sizeof(*tables->mappings));
    tables->entries = pf_new(tables->allocator, tables->entry_count * sizeof(*tables->entries));
    if (!fine || !tables->mappings || !tables->entries)
        return false;
    tables->functions[tables->function_count++] = none;
    for (size_t i = 0; fine && i < tables->location_count; i++)
        fine = !tables->locations[i].number || make_entry(tables, &tables->locations[i]);
    return fine;
}

/* ---- mappings ---------------------------------------------------------------------------------------------------- */

enum { COMM_BYTES = 15 }; /* of the name of a program that its threads begin with */

static uint64_t hash_of_comm(const struct pf_tables *tables, const char *name)
{
    /* the author of a recording cannot know this key */
    const uint64_t key[2] = {(uintptr_t)tables, (uintptr_t)tables->profile};
    size_t bytes = 0;
    while (bytes < COMM_BYTES && name[bytes])
        bytes++;
    return pf_siphash(key, name, bytes);
}

/* The binaries by what their threads are called. False when out of memory. */
static bool map_programs(const struct pf_tables *tables, struct pf_map *programs)
{
    uint64_t known;
    for (size_t i = 1; i < tables->mapping_count; i++) {
        const struct pf_tables_mapping *mapping = &tables->mappings[i];
        if (!mapping->is_used || mapping->module.kind != PERFILE_MODULE_FILE)
            continue;
        const uint64_t hash = hash_of_comm(tables, mapping->module.short_name);
        if (!pf_map_get(programs, hash, &known) && !pf_map_put(programs, hash, i))
            return false;
    }
    return true;
}

/* Returns the number of a mapped binary that is not a library; 0: there is not any. */
static size_t any_program(const struct pf_tables *tables)
{
    size_t any = 0;
    for (size_t i = tables->mapping_count; i-- > 1;) {
        const struct perfile_module *module = &tables->mappings[i].module;
        if (tables->mappings[i].is_used && module->kind == PERFILE_MODULE_FILE && !strstr(module->short_name, ".so"))
            any = i;
    }
    return any;
}

/* The binary whose name the threads with the most samples have. False when out of memory. */
static bool find_program(const struct pf_tables *tables, size_t *program)
{
    struct perfile_profile_thread thread = PERFILE_PROFILE_THREAD_INIT;
    struct pf_map programs;
    uint64_t *samples = pf_new(tables->allocator, tables->mapping_count * sizeof(*samples)), number;
    pf_map_open(&programs, tables->allocator);
    const bool fine = samples && map_programs(tables, &programs);
    *program = 0;
    for (size_t i = 0; fine && i < perfile_profile_thread_count(tables->profile); i++) {
        (void)!perfile_profile_thread_at(tables->profile, i, &thread);
        if (!pf_map_get(&programs, hash_of_comm(tables, thread.comm), &number))
            continue;
        samples[number] += thread.samples;
        if (samples[number] > samples[*program])
            *program = (size_t)number;
    }
    if (!*program)
        *program = any_program(tables);
    pf_map_close(&programs);
    pf_free(tables->allocator, samples, tables->mapping_count * sizeof(*samples));
    return fine;
}

/* Extends the mapping to page boundaries, and adapts its offset in the file. */
static void finish_mapping(struct pf_tables *tables, struct pf_tables_mapping *mapping)
{
    enum { PAGE_BYTES = 4096 };
    const uint64_t lead = mapping->start % PAGE_BYTES;
    if (mapping->offset && mapping->offset < lead) {
        mapping->start -= mapping->offset;
        mapping->offset = 0;
    } else {
        mapping->start -= lead;
        mapping->offset -= mapping->offset ? lead : 0;
    }
    mapping->limit = mapping->limit < UINT64_MAX - PAGE_BYTES ? (mapping->limit | (PAGE_BYTES - 1)) + 1 : UINT64_MAX;
    *pf_hex_bytes(mapping->build_id, mapping->module.build_id, mapping->module.build_id_bytes) =
        '\0'; /* of 20 at most */
    mapping->name = pf_tables_text(tables, mapping->module.name);
}

/* Those that are used, the program first. */
static bool order_mappings(struct pf_tables *tables)
{
    const size_t count = tables->mapping_count;
    size_t program, used = 1;
    if (!find_program(tables, &program))
        return false;
    uint32_t *numbers = pf_new(tables->allocator, count * sizeof(*numbers));
    if (!numbers)
        return false;
    if (program)
        numbers[program] = (uint32_t)used++;
    for (size_t i = 1; i < count; i++)
        if (tables->mappings[i].is_used && !numbers[i])
            numbers[i] = (uint32_t)used++;
    for (size_t i = 1; i < tables->entry_count; i++)
        tables->entries[i].mapping = numbers[tables->entries[i].mapping];
    struct pf_tables_mapping *ordered = pf_new(tables->allocator, used * sizeof(*ordered));
    for (size_t i = 1; ordered && i < count; i++)
        if (numbers[i])
            ordered[numbers[i]] = tables->mappings[i];
    pf_free(tables->allocator, numbers, count * sizeof(*numbers));
    if (!ordered)
        return false;
    pf_free(tables->allocator, tables->mappings, tables->mapping_count * sizeof(*tables->mappings));
    tables->mappings = ordered;
    tables->mapping_count = used;
    for (size_t i = 1; i < used; i++)
        finish_mapping(tables, &ordered[i]);
    return true;
}

/* ---- opening and closing ----------------------------------------------------------------------------------------- */

static void take_modules(struct pf_tables *tables)
{
    for (size_t i = 1; i < tables->mapping_count; i++) {
        tables->mappings[i].module.size = sizeof(tables->mappings[i].module);
        (void)!perfile_profile_module_at(tables->profile, i - 1, &tables->mappings[i].module);
    }
}

bool pf_tables_open(struct pf_tables *tables, const struct perfile_output_options *options,
                    const struct perfile_profile *profile)
{
    const struct perfile_allocator *allocator = options->allocator;
    *tables = (struct pf_tables){.allocator = allocator, .options = options, .profile = profile};
    pf_dictionary_open(&tables->texts, allocator, allocator);
    pf_pairs_open(&tables->inlined, allocator);
    pf_pairs_open(&tables->known_functions, allocator);
    if (pf_text_open(&tables->scratch, allocator, NULL, NULL) < 0)
        return false;
    tables->scratch.escapes = true;
    (void)pf_dictionary_put(&tables->texts, "", 0);
    if (!locate_nodes(tables))
        return false;
    number_locations(tables);
    if (!make_entries(tables))
        return false;
    take_modules(tables);
    return order_mappings(tables);
}

void pf_tables_close(struct pf_tables *tables)
{
    const struct perfile_allocator *allocator = tables->allocator;
    pf_dictionary_close(&tables->texts);
    pf_pairs_close(&tables->inlined);
    pf_pairs_close(&tables->known_functions);
    pf_text_close(&tables->scratch);
    pf_free(allocator, tables->nodes, (tables->node_count + 1) * sizeof(*tables->nodes));
    pf_free(allocator, tables->locations, tables->location_capacity * sizeof(*tables->locations));
    pf_free(allocator, tables->entries, tables->entry_count * sizeof(*tables->entries));
    pf_free(allocator, tables->lines, tables->line_capacity * sizeof(*tables->lines));
    pf_free(allocator, tables->functions, tables->function_capacity * sizeof(*tables->functions));
    pf_free(allocator, tables->mappings, tables->mapping_count * sizeof(*tables->mappings));
}

/* ---- of the recording -------------------------------------------------------------------------------------------- */

uint64_t pf_tables_wall_time(const struct perfile_profile_recording *recording, uint64_t time)
{
    enum { REALTIME = 0 };
    if (time == UINT64_MAX || (!recording->wall_time && recording->clock != REALTIME))
        return 0;
    return recording->clock == REALTIME ? time : recording->wall_time + (time - recording->clock_time);
}

/* False: the events of this name are not all of one fixed period, or not of `*period`, when that is not 0. */
static bool has_period(const struct perfile_reader *reader, const struct perfile_profile_event *event, uint64_t *period)
{
    for (size_t i = 0; i < perfile_event_count(reader); i++) {
        const struct perfile_event *recorded = perfile_event_get(reader, i);
        const struct perfile_attr *attr = recorded->attr;
        if (attr->type != event->type || attr->config != event->config || strcmp(recorded->name, event->name) != 0)
            continue;
        if (attr->freq || (*period && *period != attr->sample_period_or_freq))
            return false;
        *period = attr->sample_period_or_freq;
    }
    return true;
}

uint64_t pf_tables_fixed_period(const struct perfile_reader *reader, const struct perfile_output_options *options,
                                const struct perfile_profile_event *event)
{
    uint64_t period = 0;
    bool fixed = has_period(reader, event, &period);
    for (size_t i = 0; fixed && i < options->more_count; i++)
        fixed = has_period(options->more[i], event, &period);
    return fixed ? period : 0;
}
