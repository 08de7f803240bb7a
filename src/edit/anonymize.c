/* SPDX-License-Identifier: MIT */
/* Recordings for strangers: the options, the key, the events. */
#include "edit/anonymize.h"

#include <stdio.h>

#include "base/error.h"
#include "base/sized.h"

static const char what[] = "perfile_anonymize";

/* ---- categories ---- */

enum { KEEP = PF_ANON_KEEP, CHANGE = PF_ANON_CHANGE, DROP = PF_ANON_DROP };

static const struct {
    const char *name, *doc;
    uint8_t standard, allowed;
} categories[] = {
#define CATEGORY(name, text, standard, allowed, doc) {text, doc, standard, allowed},
#include "edit/anonymize.def"
#undef CATEGORY
};

const char *perfile_anonymize_category(size_t index, const char **doc)
{
    if (index >= PF_COUNT(categories))
        return NULL;
    if (doc)
        *doc = categories[index].doc;
    return categories[index].name;
}

static const char *action_name(unsigned action)
{
    return action == KEEP ? "keep" : action == CHANGE ? "change" : "drop";
}

void pf_anon_count(struct pf_anonymizer *a, enum pf_anonymize_category category, enum pf_anonymize_action done)
{
    struct perfile_anonymized *counted = &a->counted[category];
    if (done == PF_ANON_CHANGE)
        counted->changed++;
    else if (done == PF_ANON_DROP)
        counted->removed++;
    else
        counted->kept++;
}

static int choose_one(struct pf_anonymizer *a, const char *name, size_t bytes, uint8_t action,
                      struct perfile_error *error)
{
    for (size_t i = 0; i < PF_COUNT(categories); i++) {
        if (strlen(categories[i].name) != bytes || memcmp(categories[i].name, name, bytes) != 0)
            continue;
        if (!(categories[i].allowed & action))
            return pf_about(error, name, bytes,
                            pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, what,
                                    "%s: not supported for '%s'", action_name(action), categories[i].name));
        a->action[i] = action;
        return 0;
    }
    return pf_about(error, name, bytes,
                    pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, what, "%s: unknown category '%.*s'",
                            action_name(action), (int)pf_min(bytes, (size_t)64), name));
}

static int choose(struct pf_anonymizer *a, const char *list, uint8_t action, struct perfile_error *error)
{
    int result = 0;
    while (list && *list && result == 0) {
        const char *comma = strchr(list, ',');
        const size_t bytes = comma ? (size_t)(comma - list) : strlen(list);
        if (bytes)
            result = choose_one(a, list, bytes, action, error);
        list += bytes + (comma != NULL);
    }
    return result;
}

static int choose_all(struct pf_anonymizer *a, const struct perfile_anonymize_options *options,
                      struct perfile_error *error)
{
    for (size_t i = 0; i < PF_COUNT(categories); i++)
        a->action[i] = categories[i].standard;
    int result = choose(a, options->keep, KEEP, error);
    if (result == 0)
        result = choose(a, options->change, CHANGE, error);
    return result < 0 ? result : choose(a, options->drop, DROP, error);
}

/* ---- the key ---- */

static int make_key(struct pf_anonymizer *a, const struct perfile_anonymize_options *options,
                    struct perfile_error *error)
{
    if (options->key) {
        uint64_t made[2];
        for (uint8_t i = 0; i < 2; i++)
            made[i] = pf_anon_hash(a, i, options->key, options->key_bytes);
        memcpy(a->key, made, sizeof(made));
        return 0;
    }
    FILE *random = fopen("/dev/urandom", "rb");
    const size_t got = random ? fread(a->key, sizeof(a->key), 1, random) : 0;
    if (random)
        fclose(random);
    return got ? 0
               : pf_fail(error, PERFILE_ERROR_READ, PERFILE_NO_OFFSET, what, "no key can be read from /dev/urandom");
}

/* ---- events ---- */

enum { FIRST_DYNAMIC_TYPE = PERFILE_TYPE_BREAKPOINT + 1, ATTR_BYTES_KNOWN = 144 };

static void drop_part(struct pf_anonymizer *a, struct perfile_attr *attr, uint64_t bit,
                      enum pf_anonymize_category category)
{
    if (!pf_anon_keeps(a, category) && !pf_anon_changes(a, category))
        attr->sample_type &= ~bit;
}

static void drop_parts(struct pf_anonymizer *a, struct perfile_attr *attr)
{
    drop_part(a, attr, PERFILE_SAMPLE_REGS_USER, PF_ANON_REGISTERS);
    drop_part(a, attr, PERFILE_SAMPLE_REGS_INTR, PF_ANON_REGISTERS);
    drop_part(a, attr, PERFILE_SAMPLE_STACK_USER, PF_ANON_STACKS);
    drop_part(a, attr, PERFILE_SAMPLE_AUX, PF_ANON_AUX);
    drop_part(a, attr, PERFILE_SAMPLE_RAW, PF_ANON_RAW);
    if (!(attr->sample_type & PERFILE_SAMPLE_REGS_USER))
        attr->sample_regs_user = 0;
    if (!(attr->sample_type & PERFILE_SAMPLE_REGS_INTR))
        attr->sample_regs_intr = 0;
    if (!(attr->sample_type & PERFILE_SAMPLE_STACK_USER))
        attr->sample_stack_user = 0;
    if (!(attr->sample_type & PERFILE_SAMPLE_AUX))
        attr->aux_sample_size = 0;
}

/* Probes have pointers there, into the memory of the recorder; so large are no settings. */
static uint64_t without_pointer(uint64_t value)
{
    return value >= 1ull << 44 ? 0 : value;
}

static void hide_numbers(struct pf_anonymizer *a, struct perfile_attr *attr)
{
    if (pf_anon_keeps(a, PF_ANON_ADDRESSES))
        return;
    if (attr->type == PERFILE_TYPE_BREAKPOINT) {
        a->user = a->kernel = NULL; /* whether it is an address of the kernel is not known */
        attr->bp_addr_or_config1 = pf_anon_address(a, attr->bp_addr_or_config1);
    } else if (attr->type >= FIRST_DYNAMIC_TYPE || attr->type == PERFILE_TYPE_TRACEPOINT) {
        attr->bp_addr_or_config1 = without_pointer(attr->bp_addr_or_config1);
        attr->bp_len_or_config2 = without_pointer(attr->bp_len_or_config2);
    }
    attr->config3 = without_pointer(attr->config3);
    attr->config4 = without_pointer(attr->config4);
    attr->sig_data = 0;
}

/* What a damaged file calls an attr may be anything: no kernel would have taken this one. */
static bool is_plausible(const struct perfile_attr *attr)
{
    enum { LAST_SAMPLE_BIT = 24, LAST_READ_BIT = 4, LAST_BRANCH_BIT = 20, TYPE_MAX = 65535 };
    const bool own_config = attr->type == PERFILE_TYPE_RAW || attr->type >= PERFILE_TYPE_BREAKPOINT;
    return attr->sample_type >> (LAST_SAMPLE_BIT + 1) == 0 && attr->read_format >> (LAST_READ_BIT + 1) == 0 &&
           attr->branch_sample_type >> (LAST_BRANCH_BIT + 1) == 0 && attr->type <= TYPE_MAX &&
           attr->sample_period_or_freq >> 56 == 0 && (own_config || attr->config >> 48 == 0);
}

static bool is_same(const struct perfile_event *read, const struct pf_event_spec *event)
{
    return read->ids == event->ids && read->attr_bytes == event->attr.size &&
           read->attr->config == event->attr.config && read->attr->type == event->attr.type &&
           read->attr->sample_type == event->attr.sample_type;
}

/* It states the size that it has; they are asked about in the order of the recording, over and over. */
static bool states_size(struct pf_anonymizer *a, const struct pf_event_spec *event)
{
    const struct perfile_reader *reader = a->edit->reader;
    for (size_t i = 0; i < reader->event_count; i++, a->event_at++) {
        const struct perfile_event *read = &reader->events[a->event_at % reader->event_count]->public;
        if (!is_same(read, event))
            continue;
        const uint32_t stated = pf_load32(read->attr_data + 4, reader->file.swapped);
        a->event_at++;
        return stated == 0 || stated == read->attr_bytes;
    }
    return true;
}

/* Older perfs refuse files with larger attrs than theirs, whatever is in them. */
static uint32_t size_wanted(const struct perfile_attr *attr)
{
    const uint32_t known = (uint32_t)pf_min(attr->size, (uint32_t)ATTR_BYTES_KNOWN);
    return attr->config4 || known < 136 ? known : attr->config3 ? 136 : 128;
}

/* The kernel counts them; numbers that large were something else. */
static bool has_ids(const struct pf_event_spec *event)
{
    for (size_t i = 0; i < event->id_count; i++)
        if (event->ids[i] >> 48)
            return false;
    return true;
}

static void wipe(struct pf_anonymizer *a, struct pf_event_spec *event)
{
    struct perfile_attr *attr = &event->attr;
    const uint32_t size = attr->size;
    event->id_count = 0;
    pf_anon_count(a, PF_ANON_OTHER, PF_ANON_DROP);
    *attr = (struct perfile_attr){.type = attr->type <= FIRST_DYNAMIC_TYPE ? attr->type : 0, .size = size};
}

static int change_event(void *context, struct pf_event_spec *event, struct perfile_error *error)
{
    struct pf_anonymizer *a = context;
    struct perfile_attr *attr = &event->attr;
    (void)error;
    if (!is_plausible(attr) || !has_ids(event) || !states_size(a, event))
        wipe(a, event);
    drop_parts(a, attr);
    hide_numbers(a, attr);
    attr->__reserved_1 = 0;
    attr->__reserved_2 = 0;
    attr->__reserved_3 = 0;
    if (!pf_anon_keeps(a, PF_ANON_AUX))
        attr->aux_output = attr->aux_start_paused = attr->aux_pause = attr->aux_resume = 0;
    attr->size = size_wanted(attr);
    event->name = pf_anon_event_name(a, event->name);
    return 0;
}

/* ---- from end to end ---- */

static bool get_memory(struct pf_anonymizer *a)
{
    a->text = pf_new(a->allocator, PF_ANON_TEXT_CAPACITY);
    a->chain = pf_new(a->allocator, PF_ANON_SCRATCH);
    a->branches = pf_new(a->allocator, PF_ANON_SCRATCH);
    a->raw = pf_new(a->allocator, PF_ANON_SCRATCH);
    a->list = pf_new(a->allocator, PF_ANON_SCRATCH);
    a->cache = pf_new(a->allocator, PF_ANON_CACHE_COUNT * sizeof(*a->cache));
    return a->text && a->chain && a->branches && a->raw && a->list && a->cache && pf_anon_load_words(a);
}

static void release_memory(struct pf_anonymizer *a)
{
    pf_free(a->allocator, a->text, PF_ANON_TEXT_CAPACITY);
    pf_free(a->allocator, a->chain, PF_ANON_SCRATCH);
    pf_free(a->allocator, a->branches, PF_ANON_SCRATCH);
    pf_free(a->allocator, a->raw, PF_ANON_SCRATCH);
    pf_free(a->allocator, a->list, PF_ANON_SCRATCH);
    pf_free(a->allocator, a->cache, PF_ANON_CACHE_COUNT * sizeof(*a->cache));
    pf_free(a->allocator, a->body, a->body_capacity);
    pf_free(a->allocator, a->moves, a->move_capacity * sizeof(*a->moves));
    pf_map_close(&a->words);
}

static int run(struct pf_anonymizer *a, struct pf_edit *edit, struct perfile_error *error)
{
    const struct pf_edit_step step = {
        .context = a, .event = change_event, .feature = pf_anon_feature, .record = pf_anon_record};
    a->edit = edit;
    edit->steps = &step;
    edit->step_count = 1;
    edit->follows_maps = true;
    edit->no_kernel_copy = true; /* it names the kernel's own addresses */
    pf_anon_open_addresses(a);
    return pf_edit_run(edit, a->total, error);
}

/* What the report points at, which lives as long as the writer. */
static int open_report(struct pf_anonymizer *a, struct perfile_writer *writer, struct perfile_anonymize_report *report,
                       struct perfile_error *error)
{
    const struct perfile_anonymized **all = pf_arena_new(&writer->arena, PF_COUNT(categories) * sizeof(*all));
    a->counted = pf_arena_new(&writer->arena, PF_COUNT(categories) * sizeof(*a->counted));
    a->total = pf_arena_new(&writer->arena, sizeof(*a->total));
    if (!all || !a->counted || !a->total)
        return pf_fail_memory(error, what);
    *a->total = (struct perfile_edit_report)PERFILE_EDIT_REPORT_INIT;
    for (size_t i = 0; i < PF_COUNT(categories); i++) {
        a->counted[i] = (struct perfile_anonymized){
            .name = categories[i].name, .doc = categories[i].doc, .action = action_name(a->action[i])};
        all[i] = &a->counted[i];
    }
    report->edit = a->total;
    report->categories = all;
    report->category_count = PF_COUNT(categories);
    return 0;
}

static int prepare(struct pf_anonymizer *a, const struct perfile_anonymize_options *options,
                   struct perfile_error *error)
{
    int result = choose_all(a, options, error);
    a->strict = options->strict;
    a->keep_public = options->keep_public;
    if (result == 0)
        result = make_key(a, options, error);
    if (result == 0 && !get_memory(a))
        result = pf_fail_memory(error, what);
    return result;
}

static int anonymize(struct perfile_reader *reader, struct perfile_writer *writer,
                     const struct perfile_anonymize_options *options, struct perfile_anonymize_report *report,
                     struct perfile_error *error)
{
    struct perfile_anonymize_options all = PERFILE_ANONYMIZE_OPTIONS_INIT;
    struct pf_edit edit;
    int result = pf_sized_take(&all, sizeof(all), options, "anonymize options", error);
    if (result == 0)
        result = pf_edit_open(&edit, reader, writer, all.edit, error);
    struct pf_anonymizer a = {.allocator = reader->allocator};
    pf_map_open(&a.words, a.allocator);
    if (result == 0)
        result = prepare(&a, &all, error);
    if (result == 0)
        result = open_report(&a, writer, report, error);
    if (result == 0)
        result = run(&a, &edit, error);
    release_memory(&a);
    return result;
}

int perfile_anonymize(struct perfile_reader *reader, struct perfile_writer *writer,
                      const struct perfile_anonymize_options *options, struct perfile_anonymize_report *report,
                      struct perfile_error *error)
{
    struct perfile_anonymize_report counts = PERFILE_ANONYMIZE_REPORT_INIT;
    int result = pf_sized_check(report, "anonymize report", error);
    if (result < 0)
        return result;
    result = anonymize(reader, writer, options, &counts, error);
    pf_sized_give(report, &counts, sizeof(counts));
    return result;
}
