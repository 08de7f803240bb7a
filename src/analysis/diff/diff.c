/* SPDX-License-Identifier: MIT */
/* Two sets of profiles, compared row by row. */
#include "analysis/diff/match.h"
#include "analysis/diff/statistics.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/function_name.h"
#include "base/locale.h"
#include "base/sized.h"

enum { UNIT = 96 };

struct perfile_diff {
    struct pf_diff diff;
    struct perfile_diff_options options;
    struct perfile_diff_row *rows; /* in their order */
    size_t row_count, row_capacity;
    struct perfile_diff_row total;
    const char **notes;
    size_t note_count, note_capacity;
    const char *event; /* NULL: none */
    char event_name[PF_EVENT_NAME_BYTES];
    char unit[UNIT];
    bool sampling_only;
    double alpha, limit_alpha, margin;
    size_t family, failing;
    bool has_tags;
};

/* ---- what is asked for ------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    unsigned parts;
} keys[] = {
    {"function", 1 << PF_DIFF_FUNCTION | 1 << PF_DIFF_MODULE},
    {"symbol", 1 << PF_DIFF_FUNCTION | 1 << PF_DIFF_MODULE},
    {"sym", 1 << PF_DIFF_FUNCTION | 1 << PF_DIFF_MODULE},
    {"module", 1 << PF_DIFF_MODULE},
    {"dso", 1 << PF_DIFF_MODULE},
    {"line", 1 << PF_DIFF_LINE | 1 << PF_DIFF_FUNCTION | 1 << PF_DIFF_MODULE},
    {"srcline", 1 << PF_DIFF_LINE | 1 << PF_DIFF_FUNCTION | 1 << PF_DIFF_MODULE},
    {"thread", 1 << PF_DIFF_THREAD},
    {"comm", 1 << PF_DIFF_THREAD},
    {"path", 1 << PF_DIFF_PATH},
    {"srcfile", 1 << PF_DIFF_FILE},
};

static int fail(struct perfile_error *error, const char *what, const char *text)
{
    return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, what, "%s", text);
}

static int fail_key(const char *word, size_t bytes, struct perfile_error *error)
{
    return pf_about(error, word, bytes,
                    pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "keys",
                            "unknown '%.*s'; valid: function, module, line, srcfile, thread, path, and columns of "
                            "report that describe samples",
                            (int)bytes, word));
}

/* What is unknown here may be a tag of the profiles. */
static int parse_keys(const char *list, unsigned *parts, struct pf_diff_tags *tags, struct perfile_error *error)
{
    *parts = 0;
    tags->count = 0;
    for (const char *at = list ? list : "function"; *at;) {
        const size_t bytes = strcspn(at, ",");
        size_t i = 0;
        while (i < PF_COUNT(keys) && (strlen(keys[i].name) != bytes || strncmp(keys[i].name, at, bytes) != 0))
            i++;
        if (i == PF_COUNT(keys) && tags->count == PF_DIFF_TAGS_MAX)
            return fail_key(at, bytes, error);
        if (i == PF_COUNT(keys)) {
            tags->words[tags->count].name = at;
            tags->words[tags->count++].bytes = bytes;
        }
        *parts |= i < PF_COUNT(keys) ? keys[i].parts : 1 << PF_DIFF_TAGS;
        at += bytes + (at[bytes] == ',');
    }
    return *parts ? 0 : fail(error, "keys", "there are none");
}

static bool is_fraction(double value)
{
    return value >= 0 && value < 1;
}

static int check(const struct perfile_diff_options *o, struct perfile_error *error)
{
    if (!o->before_count || !o->after_count || !o->before || !o->after)
        return fail(error, "profiles", "there must be one on each side");
    for (size_t i = 0; i < o->before_count + o->after_count; i++) {
        if (!(i < o->before_count ? o->before[i] : o->after[i - o->before_count]))
            return fail(error, "profiles", "a profile is NULL");
        if (o->work && !(o->work[i] > 0 && o->work[i] < INFINITY))
            return fail(error, "work", "it must be above 0");
    }
    if (!is_fraction(o->alpha) || !is_fraction(o->noise) || !is_fraction(o->margin))
        return fail(error, "alpha, noise and margin", "they must be from 0 to below 1");
    if (!(o->limit >= 0 && o->limit < INFINITY && o->limit_weight >= 0 && o->limit_weight < INFINITY))
        return fail(error, "limit", "it must not be below 0");
    if ((o->per || o->work) && o->flags & PERFILE_DIFF_RELATIVE)
        return fail(error, "relative", "shares have no unit of work");
    for (size_t i = 0; i < o->map_count; i++)
        if (!o->maps[i] || !strrchr(o->maps[i], '=') || o->maps[i][0] == '=' || !strrchr(o->maps[i], '=')[1])
            return fail(error, "maps", "each must be OLD=NEW");
    return 0;
}

static bool put_note(void *context, const char *text)
{
    struct perfile_diff *d = context;
    if (!pf_grow(d->diff.allocator, &d->notes, &d->note_capacity, d->note_count + 1, sizeof(*d->notes)))
        return false;
    d->notes[d->note_count] = pf_arena_text(&d->diff.arena, text, strlen(text));
    return d->notes[d->note_count] && ++d->note_count;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static uint64_t value_total(const struct perfile_profile *profile, uint32_t index)
{
    struct perfile_profile_value_type type = PERFILE_PROFILE_VALUE_TYPE_INIT;
    return perfile_profile_value_type_at(profile, index, &type) == 0 ? type.total : 0;
}

/* Of all that are one with the chosen event: `which` is 0 for samples, 1 for periods. */
static uint64_t chosen_total(const struct pf_diff_profile *of, uint32_t which)
{
    struct perfile_profile_event event = PERFILE_PROFILE_EVENT_INIT;
    uint64_t total = 0;
    for (uint32_t i = 0; perfile_profile_event_at(of->profile, i, &event) == 0; i++)
        if (pf_event_is_chosen(of->profile, i, &of->event))
            total += value_total(of->profile, event.first_value + which);
    return total;
}

/* The one with the most samples of a recording. */
static void choose_event(struct perfile_diff *d)
{
    uint64_t max = 0;
    d->event = d->options.event;
    for (size_t i = 0; !d->options.event && i < d->diff.profile_count; i++) {
        const struct perfile_profile *profile = d->diff.profiles[i].profile;
        const struct pf_event_choice choice = pf_event_choose(profile, NULL);
        if (choice.samples <= max)
            continue;
        max = choice.samples;
        pf_event_choice_name(profile, &choice, d->event_name);
        d->event = d->event_name;
    }
}

static int fail_event(const struct pf_diff_profile *of, const char *name, struct perfile_error *error)
{
    struct perfile_profile_event event = PERFILE_PROFILE_EVENT_INIT;
    char list[256] = "";
    for (size_t i = 0; perfile_profile_event_at(of->profile, i, &event) == 0 && strlen(list) < sizeof(list) - 2; i++)
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "", event.name);
    return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "event",
                   "'%.64s' is not in all recordings; one has %.200s", name, *list ? list : "none");
}

/* How weights of the recording are scaled: to shares, and by its work. */
static int choose_scale(struct perfile_diff *d, size_t index, struct perfile_error *error)
{
    struct pf_diff_profile *of = &d->diff.profiles[index];
    of->scale = 1;
    if (d->options.flags & PERFILE_DIFF_RELATIVE)
        of->scale = of->total ? 100.0 / (double)of->total : 0;
    if (d->options.work)
        of->scale /= d->options.work[index];
    if (!d->options.per)
        return 0;
    const struct pf_diff_profile per = {.profile = of->profile, .event = pf_event_choose(of->profile, d->options.per)};
    if (per.event.first == PERFILE_NO_ID)
        return fail_event(of, d->options.per, error);
    const uint64_t units = chosen_total(&per, 1);
    of->scale = units ? of->scale / (double)units : 0;
    return 0;
}

static int open_profile(struct perfile_diff *d, size_t index, struct perfile_error *error)
{
    const struct perfile_diff_options *o = &d->options;
    struct pf_diff_profile *of = &d->diff.profiles[index];
    struct perfile_profile_event event = PERFILE_PROFILE_EVENT_INIT;
    of->event = (struct pf_event_choice){.first = PERFILE_NO_ID};
    if (d->event)
        of->event = pf_event_choose(of->profile, d->event);
    if (of->event.first == PERFILE_NO_ID)
        return o->event ? fail_event(of, d->event, error) : 0;
    (void)!perfile_profile_event_at(of->profile, of->event.first, &event); /* it exists */
    of->value = chosen_total(of, 1) ? 1 : 0;
    of->total = chosen_total(of, of->value);
    if (!d->unit[0])
        snprintf(d->unit, sizeof(d->unit), "%s%s%.40s",
                 o->flags & PERFILE_DIFF_RELATIVE ? "%"
                 : of->value                      ? event.unit
                                                  : "samples",
                 o->per || o->work ? "/" : "",
                 o->per    ? o->per
                 : o->work ? "work"
                           : "");
    return choose_scale(d, index, error);
}

static int open_profiles(struct perfile_diff *d, struct perfile_error *error)
{
    struct pf_diff *diff = &d->diff;
    int result = 0;
    diff->profile_count = d->options.before_count + d->options.after_count;
    diff->profiles = pf_new(diff->allocator, diff->profile_count * sizeof(*diff->profiles));
    diff->used_maps = pf_new(diff->allocator, d->options.map_count + 1);
    if (!diff->profiles || !diff->used_maps)
        return pf_fail_memory(error, "diff");
    for (size_t i = 0; i < diff->profile_count; i++) {
        const bool is_before = i < d->options.before_count;
        diff->profiles[i].is_before = is_before;
        diff->profiles[i].profile = is_before ? d->options.before[i] : d->options.after[i - d->options.before_count];
    }
    choose_event(d);
    for (size_t i = 0; result == 0 && i < diff->profile_count; i++)
        result = open_profile(d, i, error);
    return result;
}

/* ---- names of rows ----------------------------------------------------------------------------------------------- */

static const char *function_text(const struct pf_diff *diff, uint32_t function)
{
    return diff->texts[pf_diff_function_at(diff, function)->name];
}

static size_t path_bytes(const struct pf_diff *diff, uint32_t path)
{
    size_t bytes = 0;
    for (uint32_t at = path; at != PERFILE_NO_ID; at = pf_diff_path_at(diff, at)->parent)
        bytes += strlen(function_text(diff, pf_diff_path_at(diff, at)->function)) + 1;
    return bytes;
}

/* NULL: out of memory. Semicolons separate functions, so names have none. */
static const char *path_text(struct pf_diff *diff, uint32_t path)
{
    size_t left = path_bytes(diff, path);
    char *text = pf_arena_new(&diff->arena, left);
    for (uint32_t at = path; text && at != PERFILE_NO_ID; at = pf_diff_path_at(diff, at)->parent) {
        const char *name = function_text(diff, pf_diff_path_at(diff, at)->function);
        const size_t bytes = strlen(name);
        text[--left] = at == path ? 0 : ';';
        left -= bytes;
        for (size_t i = 0; i < bytes; i++)
            text[left + i] = name[i] == ';' ? ':' : name[i];
    }
    return text;
}

static bool name_row(struct pf_diff *diff, size_t index, struct perfile_diff_row *row)
{
    const struct pf_diff_key *key = pf_diff_key_at(diff, index);
    const uint32_t *parts = key->parts;
    uint32_t function = parts[PF_DIFF_FUNCTION];
    if (parts[PF_DIFF_MODULE])
        row->module = diff->texts[parts[PF_DIFF_MODULE] - 1];
    if (parts[PF_DIFF_LINE])
        row->line = diff->texts[parts[PF_DIFF_LINE] - 1];
    if (parts[PF_DIFF_TAGS])
        row->tags = diff->texts[parts[PF_DIFF_TAGS] - 1];
    if (parts[PF_DIFF_THREAD])
        row->thread = diff->texts[parts[PF_DIFF_THREAD] - 1];
    if (parts[PF_DIFF_PATH]) {
        function = pf_diff_path_at(diff, parts[PF_DIFF_PATH] - 1)->function + 1;
        row->module = diff->texts[pf_diff_module_of(diff, pf_diff_function_at(diff, function - 1)->module)];
        if (!(row->path = path_text(diff, parts[PF_DIFF_PATH] - 1)))
            return false;
    }
    if (function) {
        const struct pf_diff_alias *alias = &diff->aliases[function - 1];
        row->function = function_text(diff, function - 1);
        row->other = alias->other ? diff->texts[alias->other - 1] : NULL;
        row->state = alias->state;
    }
    return true;
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

static void fill(const struct perfile_diff *d, const struct pf_comparison *c, struct perfile_diff_row *row)
{
    struct pf_difference result;
    pf_compare(c, &result);
    row->before = result.before;
    row->after = result.after;
    row->difference = result.difference;
    row->low = result.low;
    row->high = result.high;
    row->p = row->q = result.p;
    row->df = result.df;
    row->detectable = result.detectable;
    row->samples_before = (uint64_t)c->before.samples;
    row->samples_after = (uint64_t)c->after.samples;
    row->limit_q = 1;
    if (!row->samples_before != !row->samples_after)
        row->state = row->samples_before ? PERFILE_DIFF_GONE : PERFILE_DIFF_NEW;
    if (d->options.flags & PERFILE_DIFF_GATE) {
        row->limit = d->options.limit > 0 ? d->options.limit * result.before : d->options.limit_weight;
        row->limit_q = result.sampling_only ? 1 : pf_compare_above(&result, row->limit);
    }
    const double margin = fmax(d->margin * fmax(result.before, result.after), d->margin / 10 * d->total.before);
    row->verdict = !result.sampling_only && result.inner_low > -margin && result.inner_high < margin
                       ? PERFILE_DIFF_SAME
                       : PERFILE_DIFF_UNSURE;
}

static void judge(const struct perfile_diff *d, struct perfile_diff_row *row)
{
    if (row->verdict == PERFILE_DIFF_UNSURE && row->in_family && !d->sampling_only && row->q < d->alpha)
        row->verdict = row->difference > 0 ? PERFILE_DIFF_MORE : PERFILE_DIFF_LESS;
}

static bool is_listed(const char *const *list, size_t count, const struct perfile_diff_row *row)
{
    const char *const names[] = {row->function, row->module, row->thread};
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < PF_COUNT(names); k++)
            if (names[k] && pf_function_is_called(names[k], list[i]))
                return true;
    return false;
}

static bool is_left_out(const struct perfile_diff_options *o, const struct perfile_diff_row *row)
{
    return !(o->flags & PERFILE_DIFF_GATE) || o->flags & PERFILE_DIFF_GATE_TOTAL ||
           (o->only_count && !is_listed(o->only, o->only_count, row)) || is_listed(o->ignore, o->ignore_count, row);
}

/* What each recording has in all; returns the sum. */
static double add_up(const struct perfile_diff *d, double *totals, struct pf_comparison *c)
{
    const struct pf_diff *diff = &d->diff;
    const size_t before = d->options.before_count;
    double sum = 0;
    *c = (struct pf_comparison){
        {totals, before, 0}, {totals + before, diff->profile_count - before, 0}, 0, d->options.noise};
    for (size_t i = 0; i < diff->profile_count; i++) {
        const struct pf_diff_profile *of = &diff->profiles[i];
        totals[i] = (double)of->total * of->scale;
        sum += totals[i];
        *(i < before ? &c->before.samples : &c->after.samples) += (double)of->event.samples;
    }
    c->unit = c->before.samples + c->after.samples > 0 ? sum / (c->before.samples + c->after.samples) : 0;
    return sum;
}

static double sum_of(const struct pf_comparison *c)
{
    double sum = 0;
    for (size_t i = 0; i < c->before.count; i++)
        sum += c->before.weights[i];
    for (size_t i = 0; i < c->after.count; i++)
        sum += c->after.weights[i];
    return sum;
}

/* Sums of the scaled weights of the other rows; `c` is that of the total. */
static bool compare_rows(struct perfile_diff *d, double *weights, const struct pf_comparison *total, double sum)
{
    struct pf_diff *diff = &d->diff;
    for (size_t i = 0; i < diff->keys.count; i++) {
        struct perfile_diff_row *row = &d->rows[d->row_count];
        struct pf_comparison c;
        *row = (struct perfile_diff_row)PERFILE_DIFF_ROW_INIT;
        row->parent = PERFILE_NO_ID;
        pf_diff_observe(diff, i, weights, &c);
        c.noise = d->options.noise;
        c.unit = c.unit > 0 ? c.unit : total->unit;
        if (c.before.samples + c.after.samples <= 0)
            continue;
        if (!name_row(diff, i, row))
            return false;
        fill(d, &c, row);
        row->share_before = d->total.before > 0 ? 100 * row->before / d->total.before : 0;
        row->share_after = d->total.after > 0 ? 100 * row->after / d->total.after : 0;
        row->in_family = sum > 0 && sum_of(&c) / sum >= 0.005;
        row->left_out = is_left_out(&d->options, row);
        row->parent = (uint32_t)i; /* its number in the matrix, until the rows are in order */
        d->row_count++;
    }
    return true;
}

static bool is_member(const struct perfile_diff_row *row, bool of_limit)
{
    return row->in_family && !(of_limit && row->left_out);
}

/* p of the rows of the family become q: those of differences, or of what is above the limit. */
static bool adjust(struct perfile_diff *d, bool of_limit)
{
    const struct perfile_allocator *allocator = d->diff.allocator;
    const size_t max = d->row_count + 1;
    double *p = pf_new(allocator, max * sizeof(*p));
    size_t *order = pf_new(allocator, max * sizeof(*order)), count = 0;
    const bool fine = p && order;
    for (size_t i = 0; fine && i < d->row_count; i++)
        if (is_member(&d->rows[i], of_limit))
            p[count++] = of_limit ? d->rows[i].limit_q : d->rows[i].q;
    if (fine)
        pf_adjust(p, order, count);
    if (!of_limit)
        d->family = count;
    count = 0;
    for (size_t i = 0; fine && i < d->row_count; i++)
        if (is_member(&d->rows[i], of_limit))
            *(of_limit ? &d->rows[i].limit_q : &d->rows[i].q) = p[count++];
    pf_free(allocator, p, p ? max * sizeof(*p) : 0);
    pf_free(allocator, order, order ? max * sizeof(*order) : 0);
    return fine;
}

/* A row alone that changes must be as significant as that of the family's first one. */
static void find_detectable(const struct perfile_diff *d, struct perfile_diff_row *row)
{
    const double tail = d->alpha / 2 / (double)(d->family > 1 ? d->family : 1);
    const double error = (row->high - row->low) / 2 / pf_t_quantile(0.975, row->df);
    if (!d->sampling_only)
        row->detectable = (pf_t_quantile(1 - tail, row->df) + pf_t_quantile(0.8, row->df)) * error;
}

static void judge_rows(struct perfile_diff *d)
{
    const unsigned flags = d->options.flags;
    for (size_t i = 0; i < d->row_count; i++) {
        struct perfile_diff_row *row = &d->rows[i];
        judge(d, row);
        find_detectable(d, row);
        row->fails = is_member(row, true) && row->limit_q < d->limit_alpha;
        d->failing += row->fails;
    }
    d->total.fails = flags & PERFILE_DIFF_GATE_TOTAL && d->total.limit_q < d->limit_alpha;
    d->failing += d->total.fails;
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

static bool is_after(const struct perfile_diff_row *row, const struct perfile_diff_row *other)
{
    const double a = fabs(row->difference), b = fabs(other->difference);
    const double weight = row->before + row->after, weight_of_other = other->before + other->after;
    return a != b ? a < b : weight != weight_of_other ? weight < weight_of_other : row->parent > other->parent;
}

static void sink_row(struct perfile_diff_row *rows, size_t at, size_t count)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && is_after(&rows[child + 1], &rows[child]))
            child++;
        if (!is_after(&rows[child], &rows[at]))
            return;
        const struct perfile_diff_row other = rows[at];
        rows[at] = rows[child];
        rows[child] = other;
    }
}

/* The largest difference first: the smallest one is the root of the heap. */
static void sort_rows(struct perfile_diff_row *rows, size_t count)
{
    for (size_t i = count / 2; i-- > 0;)
        sink_row(rows, i, count);
    for (size_t left = count; left > 1;) {
        const struct perfile_diff_row last = rows[--left];
        rows[left] = rows[0];
        rows[0] = last;
        sink_row(rows, 0, left);
    }
}

/* Numbers in the matrix become those of callers' rows. */
static bool find_parents(struct perfile_diff *d)
{
    struct pf_diff *diff = &d->diff;
    const size_t count = diff->keys.count + 1;
    uint32_t *positions = pf_new(diff->allocator, count * sizeof(*positions));
    for (size_t i = 0; positions && i < d->row_count; i++)
        positions[d->rows[i].parent] = (uint32_t)i + 1;
    for (size_t i = 0; positions && i < d->row_count; i++) {
        struct pf_diff_key key = *pf_diff_key_at(diff, d->rows[i].parent);
        const uint32_t path = key.parts[PF_DIFF_PATH];
        const uint32_t above = path ? pf_diff_path_at(diff, path - 1)->parent : PERFILE_NO_ID;
        key.parts[PF_DIFF_PATH] = above + 1;
        const uint32_t row = above == PERFILE_NO_ID ? above : pf_distinct_find(&diff->keys, &key);
        d->rows[i].parent = row == PERFILE_NO_ID || !positions[row] ? PERFILE_NO_ID : positions[row] - 1;
    }
    pf_free(diff->allocator, positions, positions ? count * sizeof(*positions) : 0);
    return positions != NULL;
}

/* ---- notes ------------------------------------------------------------------------------------------------------- */

static double variation(const double *values, size_t count)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    const double mean = sum / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return count > 1 && mean > 0 ? sqrt(squares / (double)(count - 1)) / mean : 0;
}

static bool note_totals(struct perfile_diff *d, const struct pf_comparison *total)
{
    const double cv = fmax(variation(total->before.weights, total->before.count),
                           variation(total->after.weights, total->after.count));
    char text[256];
    if (cv <= 0.2 || d->options.flags & PERFILE_DIFF_RELATIVE)
        return true;
    pf_format(
        text, sizeof(text),
        "totals of one side differ by %.0f%% (standard deviation): the runs seem not to do the same work; compare "
        "shares, or weights per unit of work",
        100 * cv);
    return put_note(d, text);
}

/* What has no say in the rows. */
static bool note_others(struct perfile_diff *d)
{
    uint32_t others = 0;
    char text[256];
    for (size_t i = 0; i < d->diff.profile_count; i++)
        if (d->diff.profiles[i].event.others > others)
            others = d->diff.profiles[i].event.others;
    snprintf(text, sizeof(text), "1 of %" PRIu32 " events is compared: %.100s", others + 1, d->event);
    return !others || !d->event || d->options.event || put_note(d, text);
}

static bool note_events(struct perfile_diff *d)
{
    size_t missing = 0;
    for (size_t i = 0; i < d->diff.profile_count; i++)
        missing += d->diff.profiles[i].event.first == PERFILE_NO_ID;
    char text[256], part[PF_COUNTED_BYTES];
    snprintf(text, sizeof(text), "%s of %s: counted as 0",
             pf_part_of(missing, d->diff.profile_count, "recordings have no samples", part),
             d->event ? d->event : "any event");
    return (!missing || put_note(d, text)) && note_others(d);
}

static bool note_lost(struct perfile_diff *d)
{
    uint64_t lost[2] = {0}, samples[2] = {0};
    char text[256];
    for (size_t i = 0; i < d->diff.profile_count; i++) {
        struct perfile_losses losses = PERFILE_LOSSES_INIT;
        if (perfile_profile_losses(d->diff.profiles[i].profile, &losses) == 0) {
            lost[!d->diff.profiles[i].is_before] += losses.lost;
            samples[!d->diff.profiles[i].is_before] += losses.samples;
        }
    }
    for (int side = 0; side < 2; side++) {
        const double all = (double)lost[side] + (double)samples[side];
        if (!lost[side] || (double)lost[side] <= 0.01 * all)
            continue;
        pf_format(text, sizeof(text),
                  "%.1f%% of the samples %s were lost while recording: weights are too small by that",
                  100 * (double)lost[side] / all, side ? "after" : "before");
        if (!put_note(d, text))
            return false;
    }
    return true;
}

/* Where symbols were found on one side only, every change of a function is one of names. */
static bool note_unknown(struct perfile_diff *d)
{
    char text[512];
    for (size_t i = 0; i < d->row_count; i++) {
        const struct perfile_diff_row *row = &d->rows[i];
        if (!row->function || strcmp(row->function, PF_DIFF_UNKNOWN) != 0 || row->path ||
            fabs(row->share_after - row->share_before) <= 2)
            continue;
        pf_format(
            text, sizeof(text),
            "functions of %.200s without a symbol have %.1f%% before and %.1f%% after: if its symbols were found on "
            "one side only, changes of its functions are of names",
            row->module ? row->module : "?", row->share_before, row->share_after);
        if (!put_note(d, text))
            return false;
    }
    return true;
}

static bool is_same_text(const char *text, const char *other)
{
    return text == other || (text && other && strcmp(text, other) == 0);
}

/* One has less, and the other one as much more: together they may be what they were. */
static bool may_have_moved(const struct perfile_diff *d, const struct perfile_diff_row *less,
                           const struct perfile_diff_row *more)
{
    const double sum = less->difference + more->difference, change = -less->difference;
    const double half = hypot(less->high - less->low, more->high - more->low) / 2;
    return is_same_text(less->module, more->module) &&
           (!less->thread || is_same_text(less->function, more->function)) && fabs(sum) <= 0.25 * change &&
           fabs(sum) <= half && 100 * change >= d->total.before;
}

static bool note_pair(struct perfile_diff *d, const struct perfile_diff_row *less, const struct perfile_diff_row *more)
{
    char text[512], names[2][128];
    perfile_name_fit(less->thread ? less->thread : less->function, 100, names[0], sizeof(names[0]));
    perfile_name_fit(more->thread ? more->thread : more->function, 100, names[1], sizeof(names[1]));
    snprintf(text, sizeof(text), "%s lost about as much as %s gained: %s", names[0], names[1],
             less->thread ? "work may have moved between these threads"
                          : "code may have moved from one to the other, by inlining or splitting");
    return put_note(d, text);
}

static bool note_moved(struct perfile_diff *d)
{
    enum { MAX = 64 }; /* the largest differences stand first */
    const size_t count = d->row_count < MAX ? d->row_count : MAX;
    const struct perfile_diff_row *rows = d->rows;
    if (!count || rows->path || rows->line || rows->tags || !(rows->function || rows->thread) ||
        d->options.flags & (PERFILE_DIFF_INCLUSIVE | PERFILE_DIFF_RELATIVE))
        return true;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++)
            if (rows[i].verdict == PERFILE_DIFF_LESS && rows[k].verdict == PERFILE_DIFF_MORE &&
                may_have_moved(d, &rows[i], &rows[k]) && !note_pair(d, &rows[i], &rows[k]))
                return false;
    return true;
}

static bool note_few(struct perfile_diff *d)
{
    char text[256];
    if (d->sampling_only)
        return put_note(
            d, "one run per side cannot show run-to-run noise: no verdicts, and intervals cover sampling error only; "
               "record three or more per side, or state the noise");
    if (isinf(d->total.df)) {
        pf_format(text, sizeof(text), "a noise of %.3g%% between runs is assumed", 100 * d->options.noise);
        return put_note(d, text);
    }
    return true;
}

static bool note_maps(struct perfile_diff *d)
{
    char text[512];
    for (size_t i = 0; i < d->options.map_count; i++) {
        snprintf(text, sizeof(text), "no row before has the name in '%.300s'", d->options.maps[i]);
        if (!d->diff.used_maps[i] && !put_note(d, text))
            return false;
    }
    return true;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static bool compare_all(struct perfile_diff *d, double *totals, double *weights)
{
    struct pf_comparison total;
    struct pf_difference overall;
    const double sum = add_up(d, totals, &total);
    pf_compare(&total, &overall);
    d->sampling_only = overall.sampling_only;
    d->total = (struct perfile_diff_row)PERFILE_DIFF_ROW_INIT;
    d->total.before = overall.before; /* what margins are of */
    fill(d, &total, &d->total);
    d->total.parent = PERFILE_NO_ID;
    d->total.in_family = true;
    d->total.share_before = d->total.share_after = 100;
    judge(d, &d->total);
    if (!pf_grow(d->diff.allocator, &d->rows, &d->row_capacity, d->diff.keys.count + 1, sizeof(*d->rows)) ||
        !compare_rows(d, weights, &total, sum) || !adjust(d, false) || !adjust(d, true))
        return false;
    judge_rows(d);
    sort_rows(d->rows, d->row_count);
    return find_parents(d) && note_few(d) && note_totals(d, &total) && note_events(d) && note_lost(d) &&
           note_unknown(d) && note_moved(d) && note_maps(d);
}

static bool work(struct perfile_diff *d, unsigned parts)
{
    struct pf_diff_match match = {&d->diff, put_note, d};
    const size_t bytes = 2 * d->diff.profile_count * sizeof(double);
    const bool guesses = !(d->options.flags & PERFILE_DIFF_NO_GUESSES);
    double *numbers = pf_new(d->diff.allocator, bytes);
    const bool fine = numbers && pf_diff_name_functions(&d->diff) &&
                      (!guesses || (pf_diff_guess(&match) && pf_diff_find_parts(&match))) &&
                      pf_diff_gather(&d->diff, parts, d->options.flags & PERFILE_DIFF_INCLUSIVE) &&
                      compare_all(d, numbers, numbers + d->diff.profile_count);
    pf_free(d->diff.allocator, numbers, numbers ? bytes : 0);
    return fine;
}

static void open_diff(struct perfile_diff *d, const struct perfile_diff_options *all)
{
    const struct perfile_allocator *allocator = pf_allocator_or_default(all->allocator);
    const bool one_sided = (all->before_count == 1) != (all->after_count == 1);
    d->options = *all;
    d->alpha = all->alpha > 0 ? all->alpha : 0.05;
    d->limit_alpha = all->alpha > 0 ? all->alpha : one_sided ? 0.01 : 0.05;
    d->margin = all->margin > 0 ? all->margin : 0.05;
    d->diff.allocator = allocator;
    d->diff.options = &d->options;
    d->diff.seed[0] = (uintptr_t)d;
    d->diff.seed[1] = (uintptr_t)allocator;
    pf_arena_open(&d->diff.arena, allocator);
    pf_map_open(&d->diff.text_map, allocator);
    pf_distinct_open(&d->diff.functions, allocator, sizeof(struct pf_diff_function));
    pf_distinct_open(&d->diff.paths, allocator, sizeof(struct pf_diff_path));
    pf_distinct_open(&d->diff.keys, allocator, sizeof(struct pf_diff_key));
}

/* The caller's lists are not looked at again. */
static int open_all(struct perfile_diff *d, unsigned parts, struct perfile_error *error)
{
    int result = open_profiles(d, error);
    for (size_t i = 0; result == 0 && i < d->diff.tags->count; i++)
        if (!pf_diff_has_tag(&d->diff, d->diff.tags->words[i].name, d->diff.tags->words[i].bytes))
            return fail_key(d->diff.tags->words[i].name, d->diff.tags->words[i].bytes, error);
    if (result < 0)
        return result;
    if (d->event && !(d->event = pf_arena_text(&d->diff.arena, d->event, strlen(d->event))))
        return pf_fail_memory(error, "diff");
    return work(d, parts) ? 0 : pf_fail_memory(error, "diff");
}

int perfile_diff_open(const struct perfile_diff_options *options, struct perfile_diff **diff,
                      struct perfile_error *error)
{
    struct perfile_diff_options all = PERFILE_DIFF_OPTIONS_INIT;
    struct pf_diff_tags tags;
    unsigned parts;
    *diff = NULL;
    int result = pf_sized_take(&all, sizeof(all), options, "diff options", error);
    if (result < 0 || (result = check(&all, error)) < 0 || (result = parse_keys(all.keys, &parts, &tags, error)) < 0)
        return result;
    const struct perfile_allocator *allocator = pf_allocator_or_default(all.allocator);
    struct perfile_diff *d = pf_new(allocator, sizeof(*d));
    if (!d)
        return pf_fail_memory(error, "diff");
    open_diff(d, &all);
    d->diff.tags = &tags; /* during the call */
    d->has_tags = tags.count;
    result = open_all(d, parts, error);
    if (result < 0)
        perfile_diff_close(d);
    else
        *diff = d;
    return result;
}

static void close_gathered(struct pf_diff *diff)
{
    const struct perfile_allocator *allocator = diff->allocator;
    for (size_t i = 0; diff->profiles && i < diff->profile_count; i++)
        if (diff->profiles[i].functions)
            pf_free(allocator, diff->profiles[i].functions,
                    (diff->profiles[i].function_count + 1) * sizeof(*diff->profiles[i].functions));
    for (size_t i = 0; diff->profiles && i < diff->profile_count; i++)
        if (diff->profiles[i].leaves)
            pf_free(allocator, diff->profiles[i].leaves,
                    (diff->profiles[i].function_count + 1) * sizeof(*diff->profiles[i].leaves));
    pf_free(allocator, diff->profiles, diff->profiles ? diff->profile_count * sizeof(*diff->profiles) : 0);
    pf_free(allocator, diff->aliases, diff->alias_capacity * sizeof(*diff->aliases));
    pf_free(allocator, diff->modules, diff->modules ? (diff->module_count + 1) * sizeof(*diff->modules) : 0);
    pf_free(allocator, diff->cells, diff->cell_capacity * sizeof(*diff->cells));
    pf_free(allocator, diff->stamps, diff->stamp_capacity * sizeof(*diff->stamps));
    pf_free(allocator, diff->texts, diff->text_capacity * sizeof(*diff->texts));
    pf_map_close(&diff->text_map);
    pf_distinct_close(&diff->functions);
    pf_distinct_close(&diff->paths);
    pf_distinct_close(&diff->keys);
}

void perfile_diff_close(struct perfile_diff *d)
{
    if (!d)
        return;
    const struct perfile_allocator *allocator = d->diff.allocator;
    pf_free(allocator, d->diff.used_maps, d->diff.used_maps ? d->options.map_count + 1 : 0);
    close_gathered(&d->diff);
    pf_free(allocator, d->rows, d->row_capacity * sizeof(*d->rows));
    pf_free(allocator, d->notes, d->note_capacity * sizeof(*d->notes));
    pf_arena_close(&d->diff.arena);
    pf_free(allocator, d, sizeof(*d));
}

/* ---- what is given out ------------------------------------------------------------------------------------------- */

size_t perfile_diff_row_count(const struct perfile_diff *diff)
{
    return diff->row_count;
}

int perfile_diff_row_at(const struct perfile_diff *diff, size_t index, struct perfile_diff_row *row)
{
    return index < diff->row_count ? pf_sized_give(row, &diff->rows[index], sizeof(*row)) : PERFILE_ERROR_ARGUMENT;
}

int perfile_diff_total(const struct perfile_diff *diff, struct perfile_diff_row *row)
{
    return pf_sized_give(row, &diff->total, sizeof(*row));
}

int perfile_diff_describe(const struct perfile_diff *d, struct perfile_diff_info *info)
{
    const struct perfile_diff_info known = {.event = d->event,
                                            .unit = d->unit,
                                            .sampling_only = d->sampling_only,
                                            .assumed = isinf(d->total.df) && !d->sampling_only,
                                            .alpha = d->alpha,
                                            .margin = d->margin,
                                            .limit_alpha = d->limit_alpha,
                                            .before_count = d->options.before_count,
                                            .after_count = d->options.after_count,
                                            .family = d->family,
                                            .failing = d->failing,
                                            .has_limit = d->options.flags & PERFILE_DIFF_GATE,
                                            .has_tags = d->has_tags};
    return pf_sized_give(info, &known, sizeof(known));
}

const char *perfile_diff_note_at(const struct perfile_diff *diff, size_t index)
{
    return index < diff->note_count ? diff->notes[index] : NULL;
}
