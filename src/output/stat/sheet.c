/* SPDX-License-Identifier: MIT */
#include "output/stat/sheet.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/event_name.h"
#include "platform/platform.h"

/* Events that could not be opened have a line in each round; a hostile recording has many of both. */
enum { UNSUPPORTED_MAX = 1 << 20 };

/* ---- what is added up -------------------------------------------------------------------------------------------- */

static bool has_socket(enum pf_stat_per per)
{
    return per == PF_STAT_SOCKET || per == PF_STAT_DIE || per == PF_STAT_CORE || per == PF_STAT_CACHE;
}

/* The level that is asked for, or the last one that is there; 0: there is none. */
static uint32_t level_at(const struct pf_stat_sheet *sheet, const struct pf_cpu_location *at)
{
    uint32_t level = sheet->level ? sheet->level : PF_CACHE_LEVELS;
    while (level && at->caches[level - 1] < 0)
        level = sheet->level ? 0 : level - 1;
    return level;
}

/* Returns what the counters of a location have in common, and nothing else. */
static struct pf_stat_where where_is(const struct pf_stat_sheet *sheet, const struct pf_stat_cell *location)
{
    struct pf_stat_where where = {.location = PF_NOWHERE};
    const struct pf_cpu_location at = pf_topology_at(&sheet->topology, location->cpu);
    if (sheet->per == PF_STAT_CPU)
        where.number = location->cpu;
    else if (sheet->per == PF_STAT_THREAD)
        where.number = (int32_t)location->thread;
    else if (sheet->per == PF_STAT_NODE)
        where.location.node = at.node;
    if (has_socket(sheet->per))
        where.location.socket = at.socket;
    if (has_socket(sheet->per) && sheet->per != PF_STAT_SOCKET) /* perf before 5.4 does not write dies: there is one */
        where.location.die = at.socket >= 0 && at.die < 0 ? 0 : at.die;
    if (sheet->per == PF_STAT_CORE)
        where.location.core = at.core;
    if (sheet->per == PF_STAT_CACHE) {
        where.level = level_at(sheet, &at);
        where.number = where.level ? at.caches[where.level - 1] : -1;
    }
    return where;
}

/* Where there are cores and nodes, there are no threads, caches or processors: the numbers need 16 bits each. */
static uint64_t key_of_where(const struct pf_stat_where *where)
{
    const struct pf_cpu_location *location = &where->location;
    return (uint64_t)(uint32_t)where->number ^ (uint64_t)where->level << 28 ^
           (uint64_t)(uint16_t)(location->socket + 1) << 48 ^ (uint64_t)(uint16_t)(location->die + 1) << 32 ^
           (uint64_t)(uint16_t)(location->core + 1) << 16 ^ (uint64_t)(uint16_t)(location->node + 1);
}

/* UINT32_MAX: out of memory. */
static uint32_t find_where(struct pf_stat_sheet *sheet, const struct pf_stat_where *wanted)
{
    const uint64_t key = key_of_where(wanted);
    uint64_t index = sheet->where_count;
    if (pf_map_get(&sheet->where_of, key, &index))
        return (uint32_t)index;
    if (!pf_grow(sheet->allocator, &sheet->wheres, &sheet->where_capacity, index + 1, sizeof(*sheet->wheres)) ||
        !pf_map_put(&sheet->where_of, key, index))
        return UINT32_MAX;
    sheet->wheres[sheet->where_count++] = *wanted;
    return (uint32_t)index;
}

/* The same, and for `where`. */
static uint32_t find_group(struct pf_stat_sheet *sheet, uint32_t where, uint32_t cgroup)
{
    const uint64_t key = (uint64_t)where << 32 | cgroup;
    uint64_t index = sheet->group_count;
    if (where == UINT32_MAX)
        return UINT32_MAX;
    if (pf_map_get(&sheet->group_of, key, &index))
        return (uint32_t)index;
    if (!pf_grow(sheet->allocator, &sheet->groups, &sheet->group_capacity, index + 1, sizeof(*sheet->groups)) ||
        !pf_map_put(&sheet->group_of, key, index))
        return UINT32_MAX;
    sheet->groups[sheet->group_count++] = (struct pf_stat_group){.at = sheet->wheres[where], .cgroup = cgroup};
    return (uint32_t)index;
}

static uint64_t key_of_line(uint32_t event, uint32_t group)
{
    return (uint64_t)event << 32 | group;
}

const struct pf_stat_line *pf_stat_line_of(const struct pf_stat_sheet *sheet, uint32_t event, uint32_t group)
{
    uint64_t index;
    return pf_map_get(&sheet->line_of, key_of_line(event, group), &index) ? &sheet->lines[index] : NULL;
}

/* NULL: out of memory. */
static struct pf_stat_line *find_line(struct pf_stat_sheet *sheet, const struct perfile_event *event, uint32_t group)
{
    const uint64_t key = key_of_line(event->index, group);
    uint64_t index = sheet->line_count;
    if (pf_map_get(&sheet->line_of, key, &index))
        return &sheet->lines[index];
    if (!pf_grow(sheet->allocator, &sheet->lines, &sheet->line_capacity, index + 1, sizeof(*sheet->lines)) ||
        !pf_map_put(&sheet->line_of, key, index))
        return NULL;
    sheet->lines[sheet->line_count++] = (struct pf_stat_line){.event = event, .group = group};
    return &sheet->lines[index];
}

static bool add_cell(struct pf_stat_sheet *sheet, const struct pf_stat_cell *location,
                     const struct pf_stat_count *count)
{
    const struct pf_stat_where where = where_is(sheet, location);
    const uint32_t group = find_group(sheet, find_where(sheet, &where), sheet->names[location->event].cgroup);
    struct pf_stat_line *line =
        group == UINT32_MAX ? NULL : find_line(sheet, perfile_event_get(sheet->reader, location->event), group);
    if (!line)
        return false;
    line->supported = true;
    if (__builtin_add_overflow(line->count, pf_stat_scaled(&sheet->stat, count), &line->count))
        line->count = UINT64_MAX;
    line->enabled += count->enabled;
    line->running += count->running;
    line->cpus++;
    return true;
}

/* Events of which there is no counter anywhere: they have no ids, which one alone does not need. */
static bool add_unsupported(struct pf_stat_sheet *sheet)
{
    const bool is_alone = perfile_event_count(sheet->reader) == 1 && sheet->stat.position_count;
    const struct pf_stat_where all = {.location = PF_NOWHERE};
    const struct perfile_event *event;
    for (size_t i = 0; (event = perfile_event_get(sheet->reader, i)) != NULL; i++) {
        if (event->id_count || is_alone || sheet->unsupported >= UNSUPPORTED_MAX)
            continue;
        if (!sheet->where_count && find_where(sheet, &all) == UINT32_MAX)
            return false;
        const size_t wheres = sheet->per == PF_STAT_THREAD ? 1 : sheet->where_count;
        for (uint32_t where = 0; where < wheres && sheet->unsupported++ < UNSUPPORTED_MAX; where++) {
            const uint32_t group = find_group(sheet, where, sheet->names[i].cgroup);
            if (group == UINT32_MAX || !find_line(sheet, event, group))
                return false;
        }
    }
    return true;
}

/* ---- the order --------------------------------------------------------------------------------------------------- */

static int compare_wheres(const struct pf_stat_where *a, const struct pf_stat_where *b)
{
    const int32_t left[] = {a->location.socket, a->location.die, a->location.core, a->location.node, a->number};
    const int32_t right[] = {b->location.socket, b->location.die, b->location.core, b->location.node, b->number};
    for (size_t i = 0; i < PF_COUNT(left); i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

static int compare_lines(const void *left, const void *right, void *context)
{
    const struct pf_stat_sheet *sheet = context;
    const struct pf_stat_line *a = left, *b = right;
    const bool by_group = sheet->per != PF_STAT_CPU && sheet->per != PF_STAT_THREAD;
    const int wheres = compare_wheres(&sheet->groups[a->group].at, &sheet->groups[b->group].at);
    if (by_group && wheres)
        return wheres;
    if (a->event->index != b->event->index)
        return a->event->index < b->event->index ? -1 : 1;
    if (sheet->per == PF_STAT_THREAD && a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return wheres;
}

/* What the groups counted, for metrics. */
static void sum_groups(struct pf_stat_sheet *sheet)
{
    for (size_t i = 0; i < sheet->group_count; i++) {
        memset(sheet->groups[i].counts, 0, sizeof(sheet->groups[i].counts));
        sheet->groups[i].clocks = 0;
        sheet->groups[i].shown = false;
    }
    for (size_t i = 0; i < sheet->line_count; i++) {
        const struct pf_stat_line *line = &sheet->lines[i];
        struct pf_stat_group *group = &sheet->groups[line->group];
        const enum pf_stat_kind kind = pf_stat_kind_of(line->event);
        if (kind == PF_STAT_OTHER || !line->running)
            continue;
        group->clocks += kind == PF_STAT_CLOCK;
        const double part = kind == PF_STAT_CLOCK ? 1.0 / group->clocks : 1;
        group->counts[kind] += ((double)line->count - (kind == PF_STAT_CLOCK ? group->counts[kind] : 0)) * part;
    }
}

/* Of many threads, those that never ran say nothing where others did. */
static void hide_idle(struct pf_stat_sheet *sheet)
{
    const struct pf_stat_line *first = NULL;
    for (size_t i = 0; i < sheet->line_count; i++) {
        struct pf_stat_line *line = &sheet->lines[i];
        first = first && first->event == line->event ? first : line;
        line->hidden = sheet->per == PF_STAT_THREAD && first->running && !line->running;
    }
}

static void put_lines(struct pf_stat_sheet *sheet, const struct pf_stat_style *style)
{
    if (sheet->line_count)
        pf_platform_sort(sheet->lines, sheet->line_count, sizeof(*sheet->lines), compare_lines, sheet);
    for (size_t i = 0; i < sheet->line_count; i++) /* where they are now: the keys are there, which needs no memory */
        (void)pf_map_put(&sheet->line_of, key_of_line(sheet->lines[i].event->index, sheet->lines[i].group), i);
    sum_groups(sheet);
    hide_idle(sheet);
    if (style->measure)
        style->measure(sheet);
    if (pf_stat_has_only_metrics(sheet)) {
        pf_stat_cells_put(sheet, style);
        return;
    }
    for (size_t i = 0; i < sheet->line_count && !(sheet->options->stat->flags & PERFILE_STAT_NO_COUNTS); i++)
        if (!sheet->lines[i].hidden)
            style->line(sheet, &sheet->lines[i]);
    pf_stat_wanted_put(sheet, style);
}

static void drop_lines(struct pf_stat_sheet *sheet)
{
    pf_map_close(&sheet->line_of);
    pf_map_open(&sheet->line_of, sheet->allocator);
    sheet->line_count = 0;
}

/* ---- names of events --------------------------------------------------------------------------------------------- */

static int compare_texts(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
    const int order = memcmp(a, b, pf_min(a_bytes, b_bytes));
    return order ? order : (a_bytes > b_bytes) - (a_bytes < b_bytes);
}

static int compare_names(const void *left, const void *right, void *context)
{
    const struct pf_stat_name *names = context;
    const uint32_t i = *(const uint32_t *)left, k = *(const uint32_t *)right;
    const int order = compare_texts(names[i].text, names[i].bytes, names[k].text, names[k].bytes);
    return order ? order : (i > k) - (i < k);
}

static int compare_cgroups(const void *left, const void *right, void *context)
{
    const struct pf_stat_name *names = context;
    const uint32_t i = *(const uint32_t *)left, k = *(const uint32_t *)right;
    const char *a = names[i].cgroup_text ? names[i].cgroup_text : "",
               *b = names[k].cgroup_text ? names[k].cgroup_text : "";
    const int order = strcmp(a, b);
    return order ? order : (i > k) - (i < k);
}

/* Names and control groups have the number of their first event, which stays when events are added. */
static bool number_names(struct pf_stat_sheet *sheet, uint32_t *order)
{
    struct pf_stat_name *names = sheet->names;
    const size_t count = sheet->name_count;
    uint64_t known;
    pf_platform_sort(order, count, sizeof(*order), compare_names, names);
    for (size_t i = 0, first = 0; i < count; i++) {
        const struct pf_stat_name *a = &names[order[first]], *b = &names[order[i]];
        first = compare_texts(a->text, a->bytes, b->text, b->bytes) ? i : first;
        names[order[i]].alike = order[first];
    }
    pf_platform_sort(order, count, sizeof(*order), compare_cgroups, names);
    for (size_t i = 0, first = 0; i < count; i++) {
        struct pf_stat_name *name = &names[order[i]];
        first = name->cgroup_text && names[order[first]].cgroup_text &&
                        !strcmp(names[order[first]].cgroup_text, name->cgroup_text)
                    ? first
                    : i;
        name->cgroup = name->cgroup_text ? order[first] + 1 : 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t key = (uint64_t)names[i].alike << 32 | names[i].cgroup;
        if (!pf_map_get(&sheet->event_of, key, &known) && !pf_map_put(&sheet->event_of, key, i))
            return false;
        sheet->has_cgroups |= names[i].cgroup != 0;
    }
    return true;
}

/* Of streams they appear one after the other. */
static bool take_names(struct pf_stat_sheet *sheet)
{
    const size_t count = perfile_event_count(sheet->reader);
    if (count == sheet->name_count)
        return true;
    uint32_t *order = pf_new(sheet->allocator, count * sizeof(*order));
    bool consumed =
        order && pf_grow(sheet->allocator, &sheet->names, &sheet->name_capacity, count, sizeof(*sheet->names));
    for (uint32_t i = 0; consumed && i < count; i++) {
        const char *text = perfile_event_get(sheet->reader, i)->name;
        order[i] = i;
        sheet->names[i] = (struct pf_stat_name){
            .text = text, .bytes = pf_event_name_bytes(text), .cgroup_text = pf_event_name_cgroup(text)};
    }
    sheet->name_count = consumed ? count : 0;
    consumed = consumed && number_names(sheet, order);
    pf_free(sheet->allocator, order, count * sizeof(*order));
    return consumed;
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

static bool add_round(struct pf_stat_sheet *sheet)
{
    if (!take_names(sheet))
        return false;
    for (uint32_t i = sheet->stat.first_delivered; i != UINT32_MAX; i = sheet->stat.positions[i].next_delivered) {
        const struct pf_stat_count added = pf_stat_added(&sheet->stat.positions[i]);
        if (!add_cell(sheet, &sheet->stat.positions[i], &added))
            return false;
    }
    return add_unsupported(sheet);
}

/* An interval on the screen takes the place of the one before. */
static bool clears(const struct pf_stat_sheet *sheet)
{
    return sheet->options->stat->flags & PERFILE_STAT_CLEAR && sheet->options->report->columns;
}

/* The last round of a command that ended in the middle of an interval has what is left. */
static int put_round(struct pf_stat_sheet *sheet, const struct pf_stat_style *style, struct perfile_error *error)
{
    const uint64_t before = sheet->time;
    sheet->time = sheet->stat.round.time;
    sheet->elapsed = sheet->time > before ? sheet->time - before : 0;
    if (!add_round(sheet))
        return pf_fail_memory(error, "counts");
    if (clears(sheet) && style->begin) {
        pf_put_string(sheet->out, "\33[H\33[2J");
        style->begin(sheet);
    }
    put_lines(sheet, style);
    drop_lines(sheet);
    pf_text_flush(sheet->out);
    return 0;
}

/* Whether the recording can say it of one of its processors. */
static bool knows_locations(const struct pf_stat_sheet *sheet)
{
    bool known = sheet->per == PF_STAT_CPU || sheet->per == PF_STAT_ALL || sheet->per == PF_STAT_THREAD;
    for (size_t i = 0; i < sheet->stat.cpu_count && !known; i++) {
        const struct pf_cpu_location at = pf_topology_at(&sheet->topology, sheet->stat.cpus[i]);
        known = sheet->per == PF_STAT_CACHE ? level_at(sheet, &at) != 0
                                            : (sheet->per == PF_STAT_NODE ? at.node : at.socket) >= 0;
    }
    return known;
}

/* Why counts cannot be kept apart as they were asked for; NULL: they can. */
static const char *why_together(const struct pf_stat_sheet *sheet)
{
    const struct pf_stat *stat = &sheet->stat;
    bool has_cpu = false, has_thread = false;
    for (size_t i = 0; i < stat->cpu_count; i++)
        has_cpu |= stat->cpus[i] >= 0;
    for (size_t i = 0; i < stat->thread_count; i++)
        has_thread |= stat->threads[i].tid >= 0;
    if (sheet->per == PF_STAT_THREAD && stat->thread_count && !has_thread)
        return "the system was counted, and not its threads: their counts are shown together";
    if (sheet->per == PF_STAT_ALL || sheet->per == PF_STAT_THREAD)
        return NULL;
    if (stat->cpu_count && !has_cpu)
        return "tasks were counted wherever they ran: the counts of all processors are shown together";
    if (sheet->per == PF_STAT_CACHE && !knows_locations(sheet))
        return "the recording does not say which processors share such a cache: their counts are shown together";
    return knows_locations(sheet)
               ? NULL
               : "the recording does not say where its processors are: their counts are shown together";
}

static void report_notes(const struct pf_stat_sheet *sheet, const char *note)
{
    const struct perfile_symbol_options *to = sheet->options->symbols;
    if (to && to->note)
        to->note(to->note_context, note);
}

/* How counts are shown depends on what stands before the first of them. */
static int settle(struct pf_stat_sheet *sheet, struct perfile_error *error)
{
    static const char *const names[] = {"cpu", "all", "socket", "die", "core", "thread", "node", "cache"};
    const char *per = sheet->options->stat->per;
    const struct perfile_event *event;
    sheet->per = pf_stat_per_of(&sheet->stat, sheet->reader);
    sheet->level = sheet->stat.level <= PF_CACHE_LEVELS && !per ? (uint32_t)sheet->stat.level : 0;
    for (size_t i = 0; per && i < PF_COUNT(names); i++)
        if (!strcmp(per, names[i]))
            sheet->per = (enum pf_stat_per)i;
    if (per && *per == 'L' && per[1] >= '1' && per[1] <= '0' + PF_CACHE_LEVELS && !per[2]) {
        sheet->per = PF_STAT_CACHE;
        sheet->level = (uint32_t)(per[1] - '0');
    }
    sheet->intervals = sheet->stat.interval_ms && !sheet->options->more_count;
    for (size_t i = 0; (event = perfile_event_get(sheet->reader, i)) != NULL; i++)
        if (event->unit)
            sheet->unit_width = (unsigned)pf_min(pf_max(sheet->unit_width, strlen(event->unit)), 32);
    int result = pf_stat_wanted_open(sheet, error);
    if (result == 0)
        result = pf_topology_open(&sheet->topology, sheet->reader, sheet->allocator, error);
    const char *why = result == 0 ? why_together(sheet) : NULL;
    if (why) {
        sheet->per = PF_STAT_ALL;
        report_notes(sheet, why);
    }
    if (sheet->intervals && !sheet->options->stat->title)
        report_notes(sheet,
                     "each interval has what was counted in it, not the sums since the start as perf 7 prints them");
    return result;
}

/* All of one recording; of intervals each is put. */
static int read_all(struct pf_stat_sheet *sheet, const struct pf_stat_style *style, bool first,
                    struct perfile_error *error)
{
    const struct perfile_record *record;
    bool settled = false;
    int result;
    while ((result = perfile_reader_next(sheet->reader, &record, error)) > 0) {
        result = record->damaged ? 0 : pf_stat_take(&sheet->stat, sheet->reader, record, error);
        if (result < 0)
            return result;
        if (record->type == PERFILE_RECORD_STAT && !settled) {
            settled = true;
            result = settle(sheet, error);
            if (first && result == 0 && sheet->intervals && style->begin && !clears(sheet))
                style->begin(sheet);
        }
        if (result > 0 && sheet->intervals)
            result = put_round(sheet, style, error);
        if (result < 0)
            return result;
    }
    const int started = settled || result < 0 ? 0 : settle(sheet, error);
    return started < 0 ? started : result;
}

/* ---- several recordings ------------------------------------------------------------------------------------------ */

/* The counts of one recording become one more number of each line. */
static bool add_totals(struct pf_stat_sheet *sheet)
{
    if (!take_names(sheet))
        return false;
    for (size_t i = 0; i < sheet->line_count; i++) {
        sheet->lines[i].count = sheet->lines[i].enabled = sheet->lines[i].running = 0;
        sheet->lines[i].cpus = 0;
    }
    for (size_t i = 0; i < sheet->stat.position_count; i++)
        if (!add_cell(sheet, &sheet->stat.positions[i], &sheet->stat.positions[i].now))
            return false;
    if (!add_unsupported(sheet))
        return false;
    for (size_t i = 0; i < sheet->line_count; i++)
        if (sheet->lines[i].running)
            pf_stats_add(&sheet->lines[i].spread, sheet->lines[i].count);
    if (!sheet->stat.round_count)
        return true;
    const size_t count = (size_t)sheet->walls.count;
    pf_stats_add(&sheet->walls, sheet->stat.round.time);
    if (!pf_grow(sheet->allocator, &sheet->times, &sheet->time_capacity, count + 1, sizeof(*sheet->times)))
        return false;
    sheet->times[count] = sheet->stat.round.time;
    return true;
}

static void close_recording(struct pf_stat_sheet *sheet)
{
    pf_stat_close(&sheet->stat);
    pf_topology_close(&sheet->topology);
}

/* Means are of the same events. */
static int check_events(const struct pf_stat_sheet *sheet, const struct perfile_reader *first,
                        struct perfile_error *error)
{
    const struct perfile_event *event, *other;
    for (size_t i = 0; (event = perfile_event_get(sheet->reader, i)) != NULL; i++)
        if (!(other = perfile_event_get(first, i)) || strcmp(event->name, other->name) != 0)
            return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "recordings",
                           "the recordings counted different events: %s is not event %zu of the first", event->name,
                           i + 1);
    return 0;
}

static int read_recording(struct pf_stat_sheet *sheet, const struct pf_stat_style *style,
                          const struct perfile_reader *first, struct perfile_error *error)
{
    close_recording(sheet);
    sheet->name_count = 0;
    pf_stat_open(&sheet->stat, sheet->allocator);
    const int result = read_all(sheet, style, sheet->reader == first, error);
    const int same = check_events(sheet, first, error);
    if (same < 0)
        return same;
    sheet->summary =
        sheet->intervals && sheet->options->stat->flags & (PERFILE_STAT_SUMMARY | PERFILE_STAT_PLAIN_SUMMARY);
    if ((!sheet->intervals || sheet->summary) && !add_totals(sheet))
        return pf_fail_memory(error, "counts");
    return result;
}

static uint64_t rounded_down(double mean)
{
    return mean < 0x1p64 ? (uint64_t)mean : UINT64_MAX;
}

static bool counts_anything(const struct pf_stat_sheet *sheet)
{
    for (size_t i = 0; i < sheet->line_count; i++)
        if (sheet->lines[i].supported)
            return true;
    return !sheet->line_count;
}

static void put_totals(struct pf_stat_sheet *sheet, const struct pf_stat_style *style)
{
    sheet->intervals = false;
    for (size_t i = 0; i < sheet->line_count; i++)
        if (sheet->lines[i].spread.count > 1) /* one alone is exact as it is */
            sheet->lines[i].count = rounded_down(sheet->lines[i].spread.mean);
    sheet->elapsed = rounded_down(sheet->walls.mean);
    sheet->time = sheet->elapsed;
    if (style->begin)
        style->begin(sheet);
    put_lines(sheet, style);
    if (style->end)
        style->end(sheet);
    if (sheet->options->stat->flags & PERFILE_STAT_PERF_METRICS && !counts_anything(sheet))
        report_notes(sheet, "No supported events found."); /* perf's words */
}

int pf_stat_write(struct perfile_reader *reader, const struct perfile_output_options *options,
                  const struct pf_stat_style *style, struct pf_text *out, struct perfile_error *error)
{
    struct pf_stat_sheet sheet = {.allocator = out->allocator, .options = options, .reader = reader, .out = out};
    pf_map_open(&sheet.where_of, sheet.allocator);
    pf_map_open(&sheet.group_of, sheet.allocator);
    pf_map_open(&sheet.event_of, sheet.allocator);
    pf_map_open(&sheet.line_of, sheet.allocator);
    int result = read_recording(&sheet, style, reader, error);
    for (size_t i = 0; i < options->more_count && result >= 0; i++) {
        sheet.reader = options->more[i];
        result = read_recording(&sheet, style, reader, error);
    }
    const bool can_show =
        result != PERFILE_ERROR_MEMORY && result != PERFILE_ERROR_ARGUMENT && (!sheet.intervals || sheet.summary);
    if (can_show && perfile_reader_counts(reader)->stat_counts)
        put_totals(&sheet, style);
    else if (can_show)
        report_notes(&sheet, "there are no counts: the recording was not made by perf stat record");
    close_recording(&sheet);
    pf_stat_wanted_close(&sheet);
    pf_map_close(&sheet.where_of);
    pf_map_close(&sheet.group_of);
    pf_map_close(&sheet.event_of);
    pf_map_close(&sheet.line_of);
    pf_free(sheet.allocator, sheet.cells, sheet.cell_capacity * sizeof(*sheet.cells));
    pf_free(sheet.allocator, sheet.times, sheet.time_capacity * sizeof(*sheet.times));
    pf_free(sheet.allocator, sheet.wheres, sheet.where_capacity * sizeof(*sheet.wheres));
    pf_free(sheet.allocator, sheet.names, sheet.name_capacity * sizeof(*sheet.names));
    pf_free(sheet.allocator, sheet.groups, sheet.group_capacity * sizeof(*sheet.groups));
    pf_free(sheet.allocator, sheet.lines, sheet.line_capacity * sizeof(*sheet.lines));
    return result;
}
