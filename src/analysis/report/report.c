/* SPDX-License-Identifier: MIT */
#include "analysis/report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/events/advice.h"
#include "analysis/events/lines.h"
#include "base/bytes.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/locale.h"
#include "base/parts.h"
#include "base/stages.h"

enum {
    NO_NUMBER = UINT32_MAX,
    NO_DSO = 1,           /* not the address of any text */
    THREAD_NODES = 65536, /* below that threads take longer to start than to work */
};

/* ---- options ---- */

static bool parse_percent(const char *text, double *percent)
{
    char *end;
    double value = pf_parse_double(text, &end);
    if (end == text || (*end && strcmp(end, "%") != 0) || !(value >= 0.0 && value <= 100.0))
        return false;
    *percent = value;
    return true;
}

/* One word of perf's -g; words of its defaults are taken and change nothing. */
static int set_graph_word(struct pf_report *report, const char *word, struct perfile_error *error)
{
    static const char *const usual[] = {"function", "percent", "period", ""};
    static const char *const later[] = {"flat", "folded", "address", "srcline", "count", "value", "branch"};
    char *end;
    if (strcmp(word, "none") == 0)
        report->order = PF_GRAPH_NONE;
    else if (strcmp(word, "caller") == 0)
        report->order = PF_GRAPH_CALLER;
    else if (strcmp(word, "callee") == 0)
        report->order = PF_GRAPH_CALLEE;
    else if (strcmp(word, "graph") == 0 || strcmp(word, "fractal") == 0)
        report->fractal = word[0] == 'f';
    else if (parse_percent(word, &report->graph_limit_percent))
        return 0;
    else {
        for (size_t i = 0; i < PF_COUNT(usual); i++)
            if (strcmp(word, usual[i]) == 0)
                return 0;
        for (size_t i = 0; i < PF_COUNT(later); i++)
            if (strcmp(word, later[i]) == 0)
                return pf_about(error, word, strlen(word),
                                pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, "call-graph",
                                        "'%s' is not supported yet", word));
        (void)pf_parse_double(word, &end);
        return pf_about(
            error, word, strlen(word),
            pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "call-graph",
                    *end || end == word
                        ? "unknown value '%.40s'; valid: none, caller, callee, graph, fractal, and a least percentage"
                        : "invalid percentage %.40s",
                    word));
    }
    return 0;
}

static int parse_graph(struct pf_report *report, const char *text, struct perfile_error *error)
{
    char word[48];
    int result = 0;
    for (; result == 0; text++) {
        size_t bytes = strcspn(text, ",");
        size_t kept = pf_min(bytes, sizeof(word) - 1);
        memcpy(word, text, kept);
        word[kept] = '\0';
        result = set_graph_word(report, word, error);
        text += bytes;
        if (!*text)
            break;
    }
    return result;
}

static int parse_limits(struct pf_report *report, struct perfile_error *error)
{
    const struct perfile_report_options *options = report->options->report;
    report->graph_limit_percent = 0.5;
    report->max_stack = options->max_stack ? options->max_stack : UINT64_MAX;
    if (options->percent_limit) {
        if (!parse_percent(options->percent_limit, &report->limit_percent))
            return pf_about(error, options->percent_limit, strlen(options->percent_limit),
                            pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "percent-limit",
                                    "invalid percentage \"%.40s\" (expected 0 to 100)", options->percent_limit));
        report->graph_limit_percent = report->limit_percent; /* as perf has it; -g may say more */
    }
    return 0;
}

/* By default graphs go from caller to callee with children, and from callee to caller without, as in perf. */
static int parse_graph_options(struct pf_report *report, struct perfile_error *error)
{
    const struct perfile_report_options *options = report->options->report;
    report->children = !(options->flags & (PERFILE_REPORT_NO_CHILDREN | PERFILE_REPORT_MEMORY));
    report->order = options->flags & PERFILE_REPORT_NO_CHILDREN ? PF_GRAPH_CALLEE : PF_GRAPH_CALLER;
    if (options->flags & PERFILE_REPORT_INVERTED)
        report->order = PF_GRAPH_CALLER;
    else if (options->columns && !options->call_graph)
        report->order = PF_GRAPH_NONE;
    int result = options->call_graph ? parse_graph(report, options->call_graph, error) : 0;
    report->relative = options->percentage && strcmp(options->percentage, "relative") == 0;
    report->hides_unresolved = options->flags & PERFILE_REPORT_RESOLVED;
    if (result == 0)
        result = pf_report_choose_branches(report, error);
    report->by_weight = options->flags & PERFILE_REPORT_MEMORY;
    if (report->branches) {
        report->children = false;
        report->order = PF_GRAPH_NONE;
    }
    report->stacks = report->children || report->order != PF_GRAPH_NONE;
    report->arriving.limit = report->stacks ? (size_t)pf_min(options->max_nodes, SIZE_MAX) : 0;
    return result;
}

_Static_assert(sizeof(struct pf_tree_node) + 2 * sizeof(struct pf_tree_slot) + sizeof(uint64_t) <=
                   PERFILE_REPORT_NODE_BYTES,
               "a node, its slot in a table that is half empty, and its total");

static bool filters_by_name(const struct pf_report *report)
{
    return report->names.active || report->options->report->symbol_filter;
}

static int open_filters(struct pf_report *report, struct perfile_error *error)
{
    const struct perfile_filter *wanted = report->options->filter;
    const struct perfile_filter threads = {.pids = wanted->pids, .tids = wanted->tids, .comms = wanted->comms};
    int result = pf_filter_open(&report->threads, &threads, NULL, report->allocator, error);
    if (result == 0)
        result = pf_names_filter_open(&report->dsos, report->options->report->dsos, false, report->allocator, error);
    if (result == 0)
        result = pf_names_filter_open(&report->names, report->options->report->symbols, true, report->allocator, error);
    report->filters = report->threads.active || report->dsos.active || filters_by_name(report);
    return result;
}

/* Each filter sees what those before it let pass. */
static void report_unmatched(const struct pf_report *report)
{
    const struct perfile_output_options *options = report->options;
    if (!options->unmatched)
        return;
    pf_profile_notify_unmatched(report->profile, options->unmatched, options->unmatched_context);
    if (report->threads.active)
        pf_filter_notify_unmatched(&report->threads, NULL, NULL, options->unmatched, options->unmatched_context);
    pf_names_filter_notify_unmatched(&report->dsos, "dsos", options->unmatched, options->unmatched_context);
    pf_names_filter_notify_unmatched(&report->names, "symbols", options->unmatched, options->unmatched_context);
    if (report->filters_part && !report->part_matched)
        options->unmatched(
            options->unmatched_context,
            &(struct perfile_unmatched){.filter = "symbol_filter", .value = options->report->symbol_filter});
}

/* ---- keys ---- */

static bool is_same_key(const struct pf_report_key *a, const struct pf_report_key *b)
{
    return a->comm == b->comm && a->event == b->event && a->pid == b->pid && a->tid == b->tid && a->cpu == b->cpu;
}

static uint64_t *values_of(const struct pf_report *report, uint32_t key)
{
    return report->values + key * report->kept_count;
}

uint64_t pf_report_key_value(const struct pf_report *report, uint32_t key, unsigned position)
{
    for (size_t i = 0; i < report->kept_count; i++)
        if (report->kept[i] == position)
            return values_of(report, key)[i];
    return 0;
}

static bool is_key(const struct pf_report *report, uint32_t key, const struct pf_report_keyed *keyed)
{
    bool same = is_same_key(&report->keys[key], &keyed->key);
    for (size_t i = 0; i < report->kept_count && same; i++)
        same = values_of(report, key)[i] == keyed->values[report->kept[i]];
    return same;
}

static uint32_t add_key(struct pf_report *report, const struct pf_report_keyed *keyed)
{
    const size_t number = report->key_count;
    if (!pf_grow(report->allocator, &report->keys, &report->key_capacity, number + 1, sizeof(*report->keys)) ||
        !pf_grow(report->allocator, &report->values, &report->value_capacity, (number + 1) * report->kept_count,
                 sizeof(*report->values)) ||
        number >= NO_NUMBER - 1)
        return NO_NUMBER;
    report->keys[number] = keyed->key;
    for (size_t i = 0; i < report->kept_count; i++)
        values_of(report, (uint32_t)number)[i] = keyed->values[report->kept[i]];
    report->key_count++;
    return (uint32_t)number;
}

static struct pf_report_key_words words_of(const struct pf_report *report, const struct pf_report_keyed *keyed)
{
    const struct pf_report_key *key = &keyed->key;
    uint64_t a = (uintptr_t)key->comm * 0x9e3779b97f4a7c15ull ^ ((uint64_t)key->event << 32 | key->cpu);
    for (size_t i = 0; i < report->kept_count; i++)
        a = (a ^ keyed->values[report->kept[i]] ^ a >> 29) * 0x9e3779b97f4a7c15ull + (uintptr_t)report;
    return (struct pf_report_key_words){a, (uint64_t)(uint32_t)key->pid << 32 | (uint32_t)key->tid};
}

/* The key, or the words that a new one is entered by. */
static bool is_known(const struct pf_report *report, const struct pf_report_keyed *keyed,
                     struct pf_report_key_words *words, uint32_t *number)
{
    for (; pf_pairs_get(&report->key_index, words->a, words->b, number); words->a++)
        if (is_key(report, *number, keyed))
            return true;
    return false;
}

bool pf_report_look_up_key(const struct pf_report *report, const struct pf_report_keyed *keyed,
                           struct pf_report_key_words *words, uint32_t *number)
{
    *words = words_of(report, keyed);
    return is_known(report, keyed, words, number);
}

static uint32_t find_key(struct pf_report *report, const struct pf_report_keyed *keyed,
                         struct pf_report_key_words words)
{
    uint32_t number;
    if (is_known(report, keyed, &words, &number))
        return number;
    number = add_key(report, keyed);
    return number != NO_NUMBER && pf_pairs_put(&report->key_index, words.a, words.b, number) ? number : NO_NUMBER;
}

uint32_t pf_report_find_key(struct pf_report *report, const struct pf_report_keyed *keyed)
{
    return find_key(report, keyed, words_of(report, keyed));
}

static uint32_t key_of(struct pf_report *report, const struct pf_profile_sample *sample)
{
    struct pf_report_keyed keyed;
    keyed.key = (struct pf_report_key){.event = sample->event->index};
    for (size_t i = 0; i < report->key_count_of; i++)
        if (report->keys_of[i]->take)
            report->keys_of[i]->take(report, &keyed, sample);
    const struct pf_report_key_words words = words_of(report, &keyed);
    uint32_t *recent =
        &report->recent_keys[(words.a ^ words.b * 0x9e3779b97f4a7c15ull) >> (64 - PF_REPORT_RECENT_BITS)];
    if (PF_UNLIKELY(*recent >= report->key_count || !is_key(report, *recent, &keyed)))
        *recent = find_key(report, &keyed, words);
    return *recent;
}

/* ---- samples ---- */

struct pf_report_event *pf_report_note_event(struct pf_report *report, const struct perfile_event *event)
{
    const size_t capacity = report->event_capacity;
    if (event->index >= report->event_count) {
        if (!pf_grow(report->allocator, &report->events, &report->event_capacity, (size_t)event->index + 1,
                     sizeof(*report->events)))
            return NULL;
        memset(report->events + capacity, 0, (report->event_capacity - capacity) * sizeof(*report->events));
        report->event_count = (size_t)event->index + 1;
    }
    report->events[event->index].event = event;
    return &report->events[event->index];
}

static bool frame_matches(struct pf_report *report, const struct pf_frame_info *info)
{
    const struct pf_module *module = pf_symbols_module(report->symbols, info->module);
    const bool in_dso = pf_names_filter_passes(&report->dsos, module ? module->short_name : "[unknown]") ||
                        pf_names_filter_passes(&report->dsos, module ? module->name : "");
    const char *part = report->options->report->symbol_filter;
    const bool has_part = !part || (info->name && strstr(info->name, part));
    report->filters_part |= in_dso && part;
    report->part_matched |= in_dso && has_part;
    return in_dso && has_part && pf_names_filter_passes(&report->names, info->name);
}

/* The answers are kept: 0: the frame was not asked for yet. */
static bool frame_passes(struct pf_report *report, uint32_t frame)
{
    enum { NO = 1, YES };
    const size_t capacity = report->pass_capacity;
    if (frame >= capacity) {
        if (!pf_grow(report->allocator, &report->passes, &report->pass_capacity, (size_t)frame + 1, 1))
            return true; /* shows too much rather than too little; out of memory for what follows, too */
        memset(report->passes + capacity, 0, report->pass_capacity - capacity);
    }
    if (!report->passes[frame])
        report->passes[frame] = frame_matches(report, pf_profile_frame(report->profile, frame)) ? YES : NO;
    return report->passes[frame] == YES;
}

/* --dsos, --symbols and --symbol-filter look at the sampled address: at its function and those inlined there. */
static bool address_passes(struct pf_report *report, const struct pf_profile_sample *sample)
{
    if (!report->dsos.active && !filters_by_name(report))
        return true;
    if (frame_passes(report, sample->leaf))
        return true;
    for (size_t i = 0; i < sample->frame_count; i++) {
        if (pf_profile_frame(report->profile, sample->frames[i])->kind != PF_FRAME_INLINED)
            break;
        if (frame_passes(report, sample->frames[i]))
            return report->inlined_passed = true;
    }
    return false;
}

static bool sample_passes(struct pf_report *report, const struct pf_profile_sample *sample)
{
    const bool has_thread = sample->event->attr->sample_type & PERFILE_SAMPLE_TID;
    const struct pf_filter_subject subject = {.pid = has_thread ? sample->pid : PF_NO_NUMBER,
                                              .tid = has_thread ? sample->tid : PF_NO_NUMBER,
                                              .comm = has_thread ? sample->comm : NULL};
    return (!report->threads.active || pf_filter_passes(&report->threads, &subject)) && address_passes(report, sample);
}

static inline bool passes(struct pf_report *report, const struct pf_profile_sample *sample)
{
    return PF_LIKELY(!report->filters) || sample_passes(report, sample);
}

static bool add_stack(struct pf_report *report, uint32_t key, const struct pf_profile_sample *sample, size_t count)
{
    const bool apart = !count || sample->frames[0] != sample->leaf;
    const uint32_t mark = report->stacks ? PF_REPORT_APART : 0;
    const struct pf_stack_frames stack = {.bottom = &key,
                                          .bottom_count = 1,
                                          .frames = sample->frames,
                                          .frame_count = count,
                                          .leaf = apart ? sample->leaf | mark : PF_STACK_NO_LEAF,
                                          .alone = sample->leaf | mark,
                                          .weight = sample->period,
                                          .note = pf_report_maker(sample),
                                          .own = ~0u << PF_REPORT_TID_BITS,
                                          .owner = (uint32_t)sample->tid};
    return pf_stacks_add(&report->arriving, &report->tree, &stack);
}

/* A stack of no other frame. */
static inline bool add_leaf(struct pf_report *report, uint32_t key, const struct pf_profile_sample *sample,
                            size_t count)
{
    const uint32_t alone = sample->leaf | (report->stacks ? PF_REPORT_APART : 0);
    const struct pf_stack_leaf leaf = {.bottom = key,
                                       .frame = count ? sample->leaf : alone,
                                       .alone = alone,
                                       .note = pf_report_maker(sample),
                                       .own = ~0u << PF_REPORT_TID_BITS,
                                       .weight = sample->period};
    return pf_stacks_add_leaf(&report->arriving, &report->tree, &leaf);
}

static inline bool add_frames(struct pf_report *report, uint32_t key, const struct pf_profile_sample *sample)
{
    const size_t count = report->stacks ? (size_t)pf_min(sample->frame_count, report->max_stack) : 0;
    if (PF_UNLIKELY(count > 1 || (count && sample->frames[0] != sample->leaf)))
        return add_stack(report, key, sample, count);
    return add_leaf(report, key, sample, count);
}

/* One sample that is to be shown, or one branch of it. */
static bool add_row(struct pf_report *report, const struct pf_profile_sample *sample)
{
    struct pf_report_event *event = &report->events[sample->event->index];
    const bool counts = passes(report, sample);
    const uint64_t part = counts || !report->relative ? pf_add_to_sum(&event->period, sample->period) : 0;
    if (!counts)
        return true;
    struct pf_profile_sample less;
    if (PF_UNLIKELY(part != sample->period)) {
        less = *sample;
        less.period = part;
        report->full++;
        sample = &less;
    }
    const uint32_t key = key_of(report, sample);
    if (report->short_of_memory || key == NO_NUMBER)
        return false;
    if (report->options->report->flags & PERFILE_REPORT_ONLY_PARENT &&
        !pf_report_key_value(report, key, PF_VALUE_parent))
        return true;
    report->passed++;
    if (report->taker)
        return report->taker->take(report->taker->context, sample);
    return (!report->by_cost || pf_report_note_cost(report, key, sample)) && add_frames(report, key, sample);
}

static bool add_sample(struct pf_report *report, const struct pf_profile_sample *sample)
{
    struct pf_report_event *event = pf_report_note_event(report, sample->event);
    if (!event)
        return false;
    if (report->hides_unresolved && !pf_profile_frame(report->profile, sample->leaf)->name)
        return true;
    if (report->branches && !pf_report_branch_count(sample)) {
        report->without_branches++;
        return true;
    }
    event->samples += !report->relative || passes(report, sample);
    if (report->branches)
        return pf_report_add_branches(report, sample, add_row);
    if (!report->by_weight)
        return add_row(report, sample);
    struct pf_profile_sample weighed = *sample;
    weighed.period = pf_max(pf_field_weight(sample->decoded), 1);
    return add_row(report, &weighed);
}

/* Out of memory, or the formats of tracepoints are larger than they may be. */
static int fail_samples(const struct pf_report *report, struct perfile_error *error)
{
    const struct perfile_error *why = &report->traces.error;
    return why->code == PERFILE_ERROR_LIMIT
               ? pf_fail(error, why->code, PERFILE_NO_OFFSET, why->what, "%s", why->message)
               : pf_fail_memory(error, "report");
}

static bool take_sample(struct pf_report *report, const struct pf_profile_sample *sample)
{
    struct pf_profile_sample cut;
    if (!report->ignored || !sample->event)
        return !sample->event || add_sample(report, sample);
    cut = *sample;
    return pf_report_ignore_callees(report, &cut) && add_sample(report, &cut);
}

/* Where exactness ended. */
static void report_cut(const struct pf_report *report)
{
    const struct perfile_symbol_options *symbols = report->options->symbols;
    char text[256], part[PF_COUNTED_BYTES];
    if (!report->arriving.cut || !symbols->note)
        return;
    snprintf(
        text, sizeof(text),
        "%s (the limit of nodes in call graphs is %zu). What functions cost themselves is exact, children and graphs "
        "are not",
        pf_part_of(report->arriving.cut, report->passed, "samples are counted without callers", part),
        report->arriving.limit);
    symbols->note(symbols->note_context, text);
}

static int read_samples(struct pf_report *report, struct perfile_error *error)
{
    const struct pf_profile_sample *sample;
    int result;
    while ((result = pf_profile_next(report->profile, &sample, error)) > 0)
        if (!take_sample(report, sample)) {
            pf_profile_stop(report->profile);
            return fail_samples(report, error);
        }
    const struct perfile_symbol_options *symbols = report->options->symbols;
    pf_filter_notify(&report->threads, symbols->note, symbols->note_context);
    if (report->by_weight && symbols->note && !pf_lines_recorded(report->reader))
        symbols->note(symbols->note_context,
                      "no event has the source of its data: where it came from is N/A; record memory accesses "
                      "with " PF_RECORD_MEMORY);
    return result;
}

/* ---- frames that are the same to the columns ---- */

/* What the column of symbols compares: the function of a frame, or its address without one. *kind says which. */
static uint64_t symbol_key(const struct pf_report *report, const struct pf_frame_info *info, uint64_t *kind)
{
    *kind = 0;
    if (!report->by_symbol)
        return 0;
    if (info->name) {
        *kind = 1;
        return info->function;
    }
    *kind = 2;
    return info->address;
}

/* A file by its short name, which others may have, too. */
struct dso {
    uint64_t name; /* interned */
    bool shared;
};

static bool name_dsos(struct pf_report *report, struct dso *dsos, size_t count)
{
    struct pf_map known;
    bool enough = true;
    pf_map_open(&known, report->allocator);
    for (uint32_t i = 0; i < count && enough; i++) {
        const char *name = pf_symbols_module(report->symbols, i)->short_name;
        uint64_t first;
        dsos[i] = (struct dso){.name = pf_report_intern(report, name, strlen(name))};
        if (pf_map_get(&known, dsos[i].name, &first))
            dsos[first].shared = dsos[i].shared = true;
        else
            enough = dsos[i].name && pf_map_put(&known, dsos[i].name, i);
    }
    pf_map_close(&known);
    return enough;
}

/* Nothing else can be the same: of functions there is one frame each, and of addresses one in each file. */
static bool is_alone(const struct pf_report *report, const struct pf_frame_info *info, bool only_file)
{
    return report->by_symbol && !report->by_address && (info->name || (report->by_dso && only_file));
}

static bool number_frames(struct pf_report *report, const struct dso *dsos)
{
    static const struct dso none = {NO_DSO, false};
    const size_t count = pf_profile_frame_count(report->profile);
    struct pf_pairs known;
    bool enough = true;
    pf_pairs_open(&known, report->allocator);
    for (uint32_t frame = 0; frame < count && enough; frame++) {
        const struct pf_frame_info *info = pf_profile_frame(report->profile, frame);
        const struct dso *dso = info->module == PF_NO_SYMBOL ? &none : &dsos[info->module];
        uint64_t kind, symbol = symbol_key(report, info, &kind);
        const uint64_t a = (report->by_dso ? dso->name : 0) << 2 | kind;
        if (is_alone(report, info, !dso->shared)) {
            report->same[frame] = frame;
        } else if (!pf_pairs_get(&known, a, symbol, &report->same[frame])) {
            report->same[frame] = frame;
            enough = pf_pairs_put(&known, a, symbol, frame);
        }
    }
    pf_pairs_close(&known);
    return enough;
}

/* Frames that were the same so far stay the same only if the column has the same value for them. */
static bool distinguish(struct pf_report *report, const struct pf_report_column *column)
{
    const size_t count = pf_profile_frame_count(report->profile);
    struct pf_pairs known;
    bool enough = true;
    pf_pairs_open(&known, report->allocator);
    for (uint32_t frame = 0; frame < count && enough; frame++) {
        const uint64_t value = column->distinguish(report, pf_profile_frame(report->profile, frame));
        const uint32_t same = report->same[frame];
        if (!pf_pairs_get(&known, same, value, &report->same[frame])) {
            report->same[frame] = frame;
            enough = pf_pairs_put(&known, same, value, frame);
        }
    }
    pf_pairs_close(&known);
    return enough && !report->short_of_memory;
}

static bool find_same_frames(struct pf_report *report)
{
    const size_t count = pf_symbols_module_count(report->symbols);
    size_t capacity = 0;
    struct dso *dsos = NULL;
    if (!report->by_frame)
        return true;
    bool enough = pf_grow(report->allocator, &dsos, &capacity, count + 1, sizeof(*dsos)) &&
                  pf_grow(report->allocator, &report->same, &report->same_capacity,
                          pf_profile_frame_count(report->profile) + 1, sizeof(*report->same)) &&
                  name_dsos(report, dsos, count) && number_frames(report, dsos);
    for (size_t i = 0; i < report->key_count_of && enough; i++)
        if (report->keys_of[i]->distinguish)
            enough = distinguish(report, report->keys_of[i]);
    pf_free(report->allocator, dsos, capacity * sizeof(*dsos));
    return enough;
}

/* ---- rows ---- */

/* Sums up the tree and links its nodes, both from the last one on: children in the order they were made. */
static bool link_nodes(struct pf_report *report)
{
    enum { NODES_AHEAD = 16 };
    struct pf_tree *tree = &report->tree;
    struct pf_report_link *links = report->links = pf_new(report->allocator, tree->count * sizeof(*links));
    uint64_t *totals = tree->totals = pf_new(report->allocator, tree->count * sizeof(*totals));
    report->link_count = links ? tree->count : 0;
    tree->total_capacity = totals ? tree->count : 0;
    if (!links || !totals)
        return false;
    for (uint32_t node = (uint32_t)tree->count - 1; node; node--) {
        const uint32_t parent = tree->nodes[node].parent, ahead = node > NODES_AHEAD ? node - NODES_AHEAD : 0;
        __builtin_prefetch(&totals[tree->nodes[ahead].parent], 1);
        __builtin_prefetch(&links[tree->nodes[ahead].parent], 1);
        totals[node] += tree->nodes[node].self;
        totals[parent] += totals[node];
        links[node].sibling = links[parent].child;
        links[parent].child = node;
    }
    totals[0] += tree->nodes[0].self;
    return true;
}

/* The heaviest children first, of one class in the order they were made. */
static void order_children(const struct pf_report *report, uint32_t parent)
{
    struct pf_report_link *links = report->links;
    uint32_t first[PF_REPORT_WEIGHTS] = {0}, last[PF_REPORT_WEIGHTS], *end = &links[parent].child;
    unsigned lowest = PF_REPORT_WEIGHTS, highest = 0;
    for (uint32_t node = *end; node; node = links[node].sibling) {
        const unsigned class = pf_report_weight_class(report->tree.totals[node]);
        *(first[class] ? &links[last[class]].sibling : &first[class]) = node;
        last[class] = node;
        lowest = class < lowest ? class : lowest;
        highest = class > highest ? class : highest;
    }
    for (unsigned class = highest + 1; class -- > lowest;) {
        if (!first[class])
            continue;
        *end = first[class];
        end = &links[last[class]].sibling;
    }
    *end = 0;
}

enum { ORDERED_PARENTS = 65536 }; /* in a part */

static void order_part(void *context, size_t part)
{
    const struct pf_report *report = context;
    const size_t end = pf_min_size((part + 1) * ORDERED_PARENTS, report->link_count);
    for (size_t parent = part * ORDERED_PARENTS; parent < end; parent++) {
        const uint32_t child = report->links[parent].child;
        if (child && report->links[child].sibling)
            order_children(report, (uint32_t)parent);
    }
}

static void order_nodes(struct pf_report *report, unsigned threads)
{
    const struct pf_parts parts = {order_part, report, (report->link_count + ORDERED_PARENTS - 1) / ORDERED_PARENTS,
                                   threads};
    pf_parts_do(&parts, report->allocator);
}

/* Where a walk over the tree stands, one of these for each frame of the way down. */
struct step {
    uint32_t row;
    uint32_t height; /* longest way on from here, in frames */
};

/* A walk over the stacks below one key: no other has to do with its rows. */
struct walk {
    struct pf_report *report;
    uint32_t key_node; /* 0: there is none */
    uint32_t node;
    uint32_t depth; /* in frames; 0 at the node of the key */
    struct pf_report_row *rows;
    size_t row_count, row_capacity;
    uint32_t *row_of; /* by frame: row + 1; the worker's */
    uint32_t *inner;  /* by row: its node that is entered, deepest */
    size_t inner_capacity;
    struct step *steps; /* by depth */
    size_t step_capacity;
    bool enough;
};

static size_t location_of_frame(const struct pf_report *report, uint32_t frame)
{
    return report->by_frame ? frame : 0;
}

static uint32_t row_at(struct walk *walk, uint32_t node)
{
    const struct pf_report *report = walk->report;
    const uint32_t frame =
        report->by_frame ? report->same[report->tree.nodes[node].frame & ~PF_REPORT_APART] : PF_NO_SYMBOL;
    uint32_t *number = &walk->row_of[location_of_frame(report, frame)];
    if (*number) {
        struct pf_report_row *known = &walk->rows[*number - 1];
        known->first = known->first < node ? known->first : node;
        return *number - 1;
    }
    if (!pf_grow(report->allocator, &walk->rows, &walk->row_capacity, walk->row_count + 1, sizeof(*walk->rows)) ||
        walk->row_count >= NO_NUMBER - 1)
        return NO_NUMBER;
    const uint32_t row = (uint32_t)walk->row_count++;
    walk->rows[row] =
        (struct pf_report_row){.key = report->tree.nodes[walk->key_node].frame, .frame = frame, .first = node};
    *number = row + 1;
    return row;
}

static void note_longest(struct pf_report_row *row, uint32_t depth)
{
    if (row->depth < depth)
        row->depth = depth & 0xffffff;
}

static uint32_t frames_in(const struct pf_report *report, uint32_t node)
{
    return !(report->tree.nodes[node].frame & PF_REPORT_APART);
}

/* On the way down a node counts for its row, once a stack. */
static void enter_node(struct pf_report *report, struct pf_report_row *row, uint32_t node, uint32_t outer,
                       uint32_t depth)
{
    const struct pf_tree_node *at = &report->tree.nodes[node];
    report->links[node].outer = outer;
    report->links[node].next = row->nodes;
    row->nodes = node;
    row->self += at->self;
    row->samples += at->samples;
    if (!outer)
        row->children += report->tree.totals[node];
    if (report->order == PF_GRAPH_CALLEE || at->samples)
        note_longest(row, depth - !frames_in(report, node));
}

static bool walk_in(struct walk *walk)
{
    struct pf_report *report = walk->report;
    const size_t capacity = walk->inner_capacity;
    if (walk->depth == 0)
        return true;
    const uint32_t row = row_at(walk, walk->node);
    if (row == NO_NUMBER ||
        !pf_grow(report->allocator, &walk->inner, &walk->inner_capacity, (size_t)row + 1, sizeof(*walk->inner)) ||
        !pf_grow(report->allocator, &walk->steps, &walk->step_capacity, (size_t)walk->depth + 1, sizeof(*walk->steps)))
        return false;
    memset(walk->inner + capacity, 0, (walk->inner_capacity - capacity) * sizeof(*walk->inner));
    walk->steps[walk->depth] = (struct step){.row = row, .height = frames_in(report, walk->node)};
    enter_node(report, &walk->rows[row], walk->node, walk->inner[row], walk->depth);
    walk->inner[row] = walk->node;
    return true;
}

static void walk_out(struct walk *walk)
{
    const struct pf_report *report = walk->report;
    const struct step *step = &walk->steps[walk->depth];
    walk->inner[step->row] = report->links[walk->node].outer;
    if (report->order == PF_GRAPH_CALLER)
        note_longest(&walk->rows[step->row], step->height);
    if (walk->depth > 1 && step[-1].height < step->height + 1)
        walk->steps[walk->depth - 1].height = step->height + 1;
}

/* To the next node, leaving those that are done. False at the end. */
static bool walk_on(struct walk *walk)
{
    const struct pf_report_link *links = walk->report->links;
    if (links[walk->node].child) {
        walk->node = links[walk->node].child;
        walk->depth++;
        return true;
    }
    while (walk->depth) {
        walk_out(walk);
        if (links[walk->node].sibling) {
            walk->node = links[walk->node].sibling;
            return true;
        }
        walk->depth--;
        walk->node = walk->report->tree.nodes[walk->node].parent;
    }
    return false;
}

/* The walks of all keys: those of several at a time. */
struct walks {
    struct pf_report *report;
    uint32_t next;                    /* node of a key; 0: there are no more */
    uint32_t *row_of[PF_THREADS_MAX]; /* by worker, zero between two walks */
    size_t positions;                 /* in each of them */
    struct walk *walks;
    unsigned count;
};

static bool choose_key(void *context, void *item, unsigned worker)
{
    struct walks *all = context;
    struct walk *walk = item;
    (void)worker;
    walk->report = all->report;
    walk->key_node = walk->node = all->next;
    walk->depth = 0;
    walk->row_count = 0;
    if (all->next)
        all->next = all->report->links[all->next].sibling;
    return all->next != 0;
}

static bool walk_key(void *context, void *item, unsigned worker)
{
    struct walks *all = context;
    struct walk *walk = item;
    const struct pf_report *report = all->report;
    if (!all->row_of[worker])
        all->row_of[worker] = pf_new(report->allocator, all->positions * sizeof(**all->row_of));
    walk->row_of = all->row_of[worker];
    walk->enough = walk->row_of;
    if (walk->key_node && walk->enough)
        do
            walk->enough = walk_in(walk);
        while (walk->enough && walk_on(walk));
    for (size_t i = 0; i < walk->row_count; i++)
        walk->row_of[location_of_frame(report, walk->rows[i].frame)] = 0;
    return true;
}

static void close_walks(struct walks *all)
{
    const struct perfile_allocator *allocator = all->report->allocator;
    for (unsigned i = 0; i < all->count; i++) {
        const struct walk *walk = &all->walks[i];
        pf_free(allocator, walk->rows, walk->row_capacity * sizeof(*walk->rows));
        pf_free(allocator, walk->inner, walk->inner_capacity * sizeof(*walk->inner));
        pf_free(allocator, walk->steps, walk->step_capacity * sizeof(*walk->steps));
    }
    for (size_t i = 0; i < PF_THREADS_MAX; i++)
        pf_free(allocator, all->row_of[i], all->positions * sizeof(**all->row_of));
    pf_free(allocator, all->walks, all->count * sizeof(*all->walks));
}

/* The smaller part moves to the larger one: most rows may be of one key. */
static void swap_rows(struct pf_report *report, struct walk *walk)
{
    struct pf_report_row *rows = report->rows;
    const size_t count = report->row_count, capacity = report->row_capacity;
    memmove(walk->rows + count, walk->rows, walk->row_count * sizeof(*walk->rows));
    if (count)
        memcpy(walk->rows, rows, count * sizeof(*rows));
    report->rows = walk->rows;
    report->row_capacity = walk->row_capacity;
    walk->rows = rows;
    walk->row_capacity = capacity;
}

static bool add_rows(struct pf_report *report, struct walk *walk)
{
    const size_t count = report->row_count + walk->row_count;
    if (!walk->enough || walk->row_count >= NO_NUMBER - report->row_count)
        return false;
    if (walk->row_count > report->row_count) {
        if (!pf_grow(report->allocator, &walk->rows, &walk->row_capacity, count, sizeof(*walk->rows)))
            return false;
        swap_rows(report, walk);
    } else if (walk->row_count) {
        if (!pf_grow(report->allocator, &report->rows, &report->row_capacity, count, sizeof(*report->rows)))
            return false;
        memcpy(report->rows + report->row_count, walk->rows, walk->row_count * sizeof(*walk->rows));
    }
    report->row_count = count;
    return true;
}

/* Appends the rows of each key after those of the key before, in whatever order they are made. */
static bool walk_all(struct walks *all, unsigned threads)
{
    static const struct pf_stage stages[] = {{.work = choose_key}, {.work = walk_key, .parallel = true}};
    struct pf_report *report = all->report;
    const struct pf_stages_plan plan = {.stages = stages,
                                        .stage_count = PF_COUNT(stages),
                                        .threads = threads,
                                        .context = all,
                                        .items = all->walks,
                                        .item_bytes = sizeof(*all->walks),
                                        .item_count = all->count};
    struct pf_stages *running = pf_stages_open(&plan, report->allocator);
    struct walk *walk;
    bool enough = running;
    while (enough && (walk = pf_stages_next(running)))
        enough = add_rows(report, walk);
    pf_stages_close(running);
    return enough;
}

static bool make_rows(struct pf_report *report)
{
    const unsigned threads = report->tree.count < THREAD_NODES ? 1 : report->options->threads;
    struct walks all = {.report = report, .positions = 1};
    if (report->by_frame)
        all.positions += pf_profile_frame_count(report->profile);
    if (!link_nodes(report))
        return false;
    order_nodes(report, threads);
    all.next = report->links[0].child;
    all.walks = pf_new(report->allocator, pf_stages_items(threads) * sizeof(*all.walks));
    all.count = all.walks ? pf_stages_items(threads) : 0;
    const bool enough = all.walks && walk_all(&all, threads);
    close_walks(&all);
    return enough;
}

static bool is_kernel(const struct pf_report *report, const struct pf_frame_info *frame)
{
    const struct pf_module *module = pf_symbols_module(report->symbols, frame->module);
    return module && module->kernel;
}

/* Samples say in which mode they were taken; of the frames above them only the module is known. */
static unsigned level_of(const struct pf_report *report, uint32_t node)
{
    const struct pf_tree_node *at = &report->tree.nodes[node];
    const struct pf_frame_info *frame = pf_profile_frame(report->profile, at->frame & ~PF_REPORT_APART);
    if (!at->samples)
        return is_kernel(report, frame) ? 'k' : '.';
    switch (at->note >> PF_REPORT_TID_BITS) {
    case PERFILE_MISC_KERNEL:
        return 'k';
    case PERFILE_MISC_HYPERVISOR:
        return 'H';
    case PERFILE_MISC_GUEST_KERNEL:
        return 'g';
    case PERFILE_MISC_GUEST_USER:
        return 'u';
    default:
        return '.';
    }
}

static void set_levels(struct pf_report *report)
{
    for (size_t i = 0; i < report->row_count; i++)
        report->rows[i].level = level_of(report, report->rows[i].first) & 0xff;
}

/* Rows of frames that no sample was in are for children only. */
static void drop_rows(struct pf_report *report)
{
    size_t kept = 0;
    for (size_t i = 0; i < report->row_count; i++) {
        const struct pf_frame_info *frame = pf_report_frame(report, &report->rows[i]);
        const bool hidden = report->hides_unresolved && frame && !frame->name;
        if (!hidden && (report->children || report->rows[i].samples))
            report->rows[kept++] = report->rows[i];
    }
    report->row_count = kept;
}

/* ---- all of it ---- */

bool pf_report_has_graph(const struct pf_report *report, const struct pf_report_event *event)
{
    return report->order != PF_GRAPH_NONE && event->event && event->event->attr->sample_type & PERFILE_SAMPLE_CALLCHAIN;
}

bool pf_report_shows(const struct pf_report *report, const struct pf_report_row *row)
{
    return pf_report_percent(pf_report_weight(report, row), pf_report_event(report, row)->period) >=
           report->limit_percent;
}

static bool has_callchains(const struct pf_report *report)
{
    for (size_t i = 0; i < report->event_count; i++)
        if (report->events[i].event && report->events[i].event->attr->sample_type & PERFILE_SAMPLE_CALLCHAIN)
            return true;
    return false;
}

/* Whether any event has callchains; a stream may have events that are not known yet. */
static bool may_have_callchains(const struct pf_report *report)
{
    const struct perfile_event *event;
    bool may = !perfile_event_count(report->reader);
    for (size_t i = 0; !may && (event = perfile_event_get(report->reader, i)); i++)
        may = event->attr->sample_type & PERFILE_SAMPLE_CALLCHAIN;
    return may;
}

/* Whether a column, a filter or, with callchains, a graph is about the code that samples were in. */
static bool is_about_code(const struct pf_report *report, bool has_chains)
{
    return report->by_frame || report->by_stack || report->branches || (report->stacks && has_chains) ||
           report->dsos.active || filters_by_name(report) || report->hides_unresolved || report->ignored;
}

/* Only the text does without frames: tables for programs list the modules of all samples. */
static bool ignores_stacks(const struct pf_report *report)
{
    return report->for_text && !is_about_code(report, may_have_callchains(report)) && !report->options->filter->off_cpu;
}

static int make_table(struct pf_report *report, struct perfile_error *error)
{
    if (!pf_stacks_end(&report->arriving, &report->tree))
        return pf_fail_memory(error, "report");
    report_cut(report);
    pf_profile_notify_full(report->full, report->options->symbols);
    if (!pf_report_join_names(report))
        return pf_fail_memory(error, "report");
    const bool has_chains = has_callchains(report);
    report->about_code = is_about_code(report, has_chains);
    if (!has_chains) {
        report->children = false;
        report->order = PF_GRAPH_NONE;
    }
    if (!find_same_frames(report) || !pf_report_gather_costs(report) || !make_rows(report))
        return pf_fail_memory(error, "report");
    pf_report_drop_columns(report);
    drop_rows(report);
    if ((report->joins_groups && !pf_report_join_groups(report)) || !pf_report_keep_modes(report))
        return pf_fail_memory(error, "report");
    set_levels(report);
    return pf_report_sort(report) ? 0 : pf_fail_memory(error, "report");
}

/* Neither rows nor graphs show addresses: all addresses of a file that have no symbol may be one frame. */
static bool hides_addresses(const struct pf_report *report, bool decoded)
{
    return !decoded && !report->by_symbol && !report->by_address && !(report->stacks && may_have_callchains(report));
}

static int open_profile(struct pf_report *report, struct perfile_error *error)
{
    const struct perfile_output_options *options = report->options;
    const struct pf_report_taker *taker = report->taker;
    const struct perfile_filter filter = {.time = options->filter->time,
                                          .cpus = options->filter->cpus,
                                          .events = options->filter->events,
                                          .off_cpu = options->filter->off_cpu};
    const bool any = filter.time || filter.cpus || filter.events || filter.off_cpu;
    const bool decoded = report->kept_count != 0 || report->branches || report->by_weight || report->by_cost;
    struct pf_profile_options how = {
        .filter = any ? &filter : NULL,
        .find = pf_find_options_of(options->symbols, report->allocator),
        .keeps_comms = true,
        .names_at_end = report->by_thread,
        .in_blocks = true,
        .decoded = decoded,
        .ignores_stacks = ignores_stacks(report),
        .unwind = options->symbols->unwind,
        .frames = {.by_address = report->by_address,
                   .joins_unnamed = taker || hides_addresses(report, decoded),
                   .inlines = (taker || report->stacks || filters_by_name(report)) && !options->symbols->no_inline,
                   .inlines_by_function = !taker},
        .drive = pf_profile_drive_of(options)};
    if (taker) {
        how.watch = taker->watch;
        how.watch_context = taker->watch_context;
        how.watches_all = taker->watches_all;
    }
    int result = pf_profile_open(report->reader, &how, &report->profile, error);
    if (result == 0) {
        report->symbols = pf_profile_symbols(report->profile);
        report->totals = pf_profile_totals(report->profile);
    }
    return result;
}

static void start(struct pf_report *report, struct perfile_reader *reader, const struct perfile_output_options *options)
{
    *report = (struct pf_report){
        .allocator = pf_allocator_or_default(options->allocator), .options = options, .reader = reader};
    report->hierarchy = options->report->flags & PERFILE_REPORT_HIERARCHY;
    pf_arena_open(&report->texts, report->allocator);
    pf_map_open(&report->interned, report->allocator);
    pf_pairs_open(&report->key_index, report->allocator);
    pf_pairs_open(&report->lines, report->allocator);
    pf_pairs_open(&report->cost_index, report->allocator);
}

static int read_all(struct pf_report *report, struct perfile_error *error)
{
    int result = open_filters(report, error);
    if (result == 0)
        result = parse_limits(report, error);
    if (result == 0)
        result = parse_graph_options(report, error);
    if (result == 0)
        result = pf_report_choose_columns(report, error);
    if (result == 0 && report->taker)
        result = report->taker->check(report, error);
    if (result == 0)
        result = pf_report_prepare(report, error);
    if (result == 0 && pf_tree_open(&report->tree, report->allocator) < 0)
        result = pf_fail_memory(error, "report");
    if (result == 0)
        result = open_profile(report, error);
    if (result == 0)
        result = read_samples(report, error);
    if (result == 0)
        report_unmatched(report);
    return result;
}

int pf_report_open(struct pf_report *report, struct perfile_reader *reader,
                   const struct perfile_output_options *options, bool for_text, struct perfile_error *error)
{
    start(report, reader, options);
    report->for_text = for_text;
    report->joins_groups = for_text && !(options->report->flags & PERFILE_REPORT_NO_GROUP);
    int result = read_all(report, error);
    if (result < 0 && !report->passed)
        return result;
    int table = make_table(report, error); /* also of what came before an error: the caller shows both */
    return table < 0 ? table : result;
}

int pf_report_take(struct pf_report *report, struct perfile_reader *reader,
                   const struct perfile_output_options *options, const struct pf_report_taker *taker,
                   struct perfile_error *error)
{
    start(report, reader, options);
    report->taker = taker;
    return read_all(report, error);
}

void pf_report_close(struct pf_report *report)
{
    const struct perfile_allocator *allocator = report->allocator;
    pf_filter_close(&report->threads);
    pf_names_filter_close(&report->dsos);
    pf_names_filter_close(&report->names);
    pf_free(allocator, report->events, report->event_capacity * sizeof(*report->events));
    pf_free(allocator, report->keys, report->key_capacity * sizeof(*report->keys));
    pf_free(allocator, report->values, report->value_capacity * sizeof(*report->values));
    pf_pairs_close(&report->key_index);
    pf_pairs_close(&report->lines);
    pf_pairs_close(&report->cost_index);
    pf_free(allocator, report->costs, report->cost_capacity * sizeof(*report->costs));
    pf_report_unprepare(report);
    pf_arena_close(&report->texts);
    pf_free(allocator, report->groups, report->group_capacity * sizeof(*report->groups));
    pf_free(allocator, report->members, report->member_capacity * sizeof(*report->members));
    pf_free(allocator, report->parts, report->part_capacity * sizeof(*report->parts));
    if (report->tree.allocator) {
        (void)pf_stacks_end(&report->arriving, &report->tree);
        pf_tree_close(&report->tree);
    }
    pf_free(allocator, report->same, report->same_capacity * sizeof(*report->same));
    pf_free(allocator, report->passes, report->pass_capacity);
    pf_free(allocator, report->rows, report->row_capacity * sizeof(*report->rows));
    pf_free(allocator, report->entries, report->entry_capacity * sizeof(*report->entries));
    pf_free(allocator, report->links, report->link_count * sizeof(*report->links));
    pf_profile_close(report->profile);
}
