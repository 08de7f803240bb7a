/* SPDX-License-Identifier: MIT */
/*
 * Events that were recorded as a group share one table: each row has what it weighs for every event of the group, side
 * by side. The rows are those of the leader, and those that only a member has.
 */
#include "analysis/report/report.h"
#include "base/bytes.h"
#include "base/pairs.h"

/* Events side by side; larger groups keep a table for each event, as such rows cannot be read and cost memory. */
enum { MAX_MEMBERS = 64 };

/* ---- which events are a group ---- */

static const char anonymous[] = "{anon_group}";

/* One group of the feature GROUP_DESC while it is visited. */
struct reading {
    struct pf_report *report;
    size_t event_count;
    const char *name;
    size_t name_bytes;
    uint64_t leader, members;
    bool enough;
};

static int begin_group(void *context, const char *name, bool list)
{
    struct reading *reading = context;
    (void)name;
    if (!list)
        *reading = (struct reading){reading->report, reading->event_count, NULL, 0, UINT64_MAX, 0, reading->enough};
    return 0;
}

static int see_member(void *context, const struct perfile_value *value)
{
    struct reading *reading = context;
    if (!value->name)
        return 0;
    if (strcmp(value->name, "leader_idx") == 0)
        reading->leader = value->number.u;
    else if (strcmp(value->name, "nr_members") == 0)
        reading->members = value->number.u;
    else if (strcmp(value->name, "name") == 0) {
        reading->name = (const char *)value->data;
        reading->name_bytes = value->bytes;
    }
    return 0;
}

static bool note_group(struct pf_report *report, size_t first, size_t count, const char *name)
{
    struct pf_report_group group = {.first = (uint32_t)first, .count = (uint32_t)count, .name = name};
    return PF_APPEND(report->allocator, report->groups.items, report->groups.count, report->groups.capacity, group);
}

/* Groups stand in the order of their events; what overlaps or lies outside is a lie and no group. */
static int end_group(void *context, bool list)
{
    struct reading *reading = context;
    struct pf_report *report = reading->report;
    const struct pf_report_group *last = report->groups.count ? &report->groups.items[report->groups.count - 1] : NULL;
    const bool named = reading->name_bytes && (reading->name_bytes != sizeof(anonymous) - 1 ||
                                               memcmp(reading->name, anonymous, sizeof(anonymous) - 1) != 0);
    const size_t free_from = last ? (size_t)last->first + last->count : 0;
    if (list || reading->leader >= reading->event_count || reading->leader < free_from || reading->members < 2 ||
        reading->members > reading->event_count - reading->leader)
        return 0;
    const char *name = named ? pf_arena_text(&report->texts.arena, reading->name, reading->name_bytes) : "anon group";
    reading->enough = name && note_group(report, (size_t)reading->leader, (size_t)reading->members, name);
    return !reading->enough;
}

static bool read_groups(struct pf_report *report)
{
    struct reading reading = {.report = report, .event_count = perfile_event_count(report->reader), .enough = true};
    const struct perfile_visitor visitor = {
        .size = sizeof(visitor), .context = &reading, .begin = begin_group, .end = end_group, .value = see_member};
    if (pf_memory_check(report->allocator,
                        perfile_feature_visit(report->reader, PERFILE_FEATURE_GROUP_DESC, &visitor, NULL)) < 0 &&
        !reading.enough)
        return false; /* all else: the feature is absent or damaged, and the groups before the damage count */
    if (!report->groups.count && report->options->report->flags & PERFILE_REPORT_GROUP && reading.event_count > 1)
        return note_group(report, 0, reading.event_count, NULL);
    return true;
}

/* ---- rows ---- */

/* Gives each member that has samples its position. */
static bool position_members(struct pf_report *report, struct pf_report_group *group)
{
    group->members = report->groups.member_count;
    for (uint32_t i = group->first; i < group->first + group->count; i++) {
        const struct perfile_event *event = perfile_event_get(report->reader, i);
        if (!event || !pf_report_note_event(report, event) ||
            !pf_grow(report->allocator, &report->groups.members, &report->groups.member_capacity,
                     report->groups.member_count + 1, sizeof(*report->groups.members)))
            return false;
        struct pf_report_event *member = &report->events.items[i];
        if (!member->samples)
            continue;
        member->position = group->shown++;
        report->groups.members[report->groups.member_count++] = i;
    }
    for (uint32_t i = group->first; i < group->first + group->count; i++)
        report->events.items[i].group = group->shown && group->shown <= MAX_MEMBERS ? group : NULL;
    return true;
}

bool pf_report_give_parts(struct pf_report *report, struct pf_report_row *row, uint32_t count)
{
    struct pf_report_groups *groups = &report->groups;
    const size_t used = groups->part_count, classes = report->layout.by_class ? PF_REPORT_CLASSES : 0;
    if (used > UINT32_MAX ||
        !pf_grow(report->allocator, &groups->parts, &groups->part_capacity, used + count, sizeof(*groups->parts)) ||
        !pf_grow(report->allocator, &groups->classes, &groups->class_capacity, (used + count) * classes,
                 sizeof(*groups->classes)))
        return false;
    memset(groups->parts + used, 0, count * sizeof(*groups->parts));
    if (classes)
        memset(groups->classes + used * classes, 0, count * classes * sizeof(*groups->classes));
    row->parts = (uint32_t)used;
    report->groups.part_count += count;
    return true;
}

/* The row of the leader that is like this one, a new one when there is none. False when out of memory. */
static bool find_leader_row(struct pf_report *report, struct pf_pairs *index, uint32_t member,
                            const struct pf_report_group *group, uint32_t *row)
{
    struct pf_report_keyed keyed = {.key = *pf_report_key(report, &report->rows.items[member])};
    keyed.key.event = group->first;
    for (size_t i = 0; i < report->keys.kept_count; i++)
        keyed.values[report->keys.kept[i]] = pf_report_value(report, &report->rows.items[member], report->keys.kept[i]);
    const uint32_t number = pf_report_find_key(&report->keys, &keyed);
    if (number == UINT32_MAX)
        return false;
    const struct pf_report_row like = report->rows.items[member];
    if (pf_pairs_get(index, number, like.frame, row))
        return true;
    if (!pf_grow(report->allocator, &report->rows.items, &report->rows.capacity, report->rows.count + 1,
                 sizeof(*report->rows.items)) ||
        report->rows.count >= UINT32_MAX - 1)
        return false;
    *row = (uint32_t)report->rows.count++;
    report->rows.items[*row] = (struct pf_report_row){.key = number, .frame = like.frame, .first = like.first};
    return pf_pairs_put(index, number, like.frame, *row) &&
           pf_report_give_parts(report, &report->rows.items[*row], group->shown);
}

static struct pf_report_part own_part(const struct pf_report *report, const struct pf_report_row *row)
{
    struct pf_report_part part = {
        .children = row->children, .self = row->self, .samples = row->samples, .nodes = row->nodes};
    uint64_t *const by_mode[] = {NULL, &part.sys, &part.us, NULL, &part.guest_sys, &part.guest_us, NULL, NULL};
    for (uint32_t node = report->layout.by_mode ? row->nodes : 0; node; node = report->chains.links[node].next) {
        uint64_t *sum = by_mode[report->chains.tree.nodes[node].note >> PF_REPORT_TID_BITS];
        if (sum)
            *sum += report->chains.tree.nodes[node].self;
    }
    const struct pf_report_cost *cost = report->layout.by_cost ? pf_report_cost_of(report, row) : NULL;
    if (cost)
        memcpy(part.costs, cost->sums, sizeof(part.costs));
    if (report->layout.by_latency)
        pf_report_add_latencies(report, row->nodes, &part);
    return part;
}

static void fill_part(struct pf_report *report, uint32_t number, const struct pf_report_row *row)
{
    const uint64_t *classes = report->layout.by_class ? pf_report_classes_of(report, row) : NULL;
    report->groups.parts[number] = own_part(report, row);
    if (classes)
        memcpy(report->groups.classes + (size_t)number * PF_REPORT_CLASSES, classes,
               PF_REPORT_CLASSES * sizeof(*classes));
}

static bool join_row(struct pf_report *report, struct pf_pairs *index, uint32_t member)
{
    const struct pf_report_event *event = pf_report_event(report, &report->rows.items[member]);
    uint32_t row = member;
    if (!event->group)
        return true;
    if (event->event->index != event->group->first && !find_leader_row(report, index, member, event->group, &row))
        return false;
    fill_part(report, report->rows.items[row].parts + event->position, &report->rows.items[member]);
    return true;
}

static bool index_leaders(struct pf_report *report, struct pf_pairs *index)
{
    for (uint32_t i = 0; i < report->rows.count; i++) {
        const struct pf_report_event *event = pf_report_event(report, &report->rows.items[i]);
        if (event->group && event->event->index == event->group->first &&
            (!pf_pairs_put(index, report->rows.items[i].key, report->rows.items[i].frame, i) ||
             !pf_report_give_parts(report, &report->rows.items[i], event->group->shown)))
            return false;
    }
    return true;
}

static void drop_members(struct pf_report *report)
{
    size_t kept = 0;
    for (size_t i = 0; i < report->rows.count; i++) {
        const struct pf_report_event *event = pf_report_event(report, &report->rows.items[i]);
        if (!event->group || event->event->index == event->group->first)
            report->rows.items[kept++] = report->rows.items[i];
    }
    report->rows.count = kept;
}

bool pf_report_join_groups(struct pf_report *report)
{
    struct pf_pairs index;
    bool enough = read_groups(report);
    for (size_t i = 0; i < report->groups.count && enough; i++)
        enough = position_members(report, &report->groups.items[i]);
    if (!enough || !report->groups.count)
        return enough;
    const size_t count = report->rows.count;
    pf_pairs_open(&index, report->allocator);
    enough = index_leaders(report, &index);
    for (uint32_t i = 0; i < count && enough; i++)
        enough = join_row(report, &index, i);
    pf_pairs_close(&index);
    drop_members(report);
    return enough;
}

bool pf_report_keep_modes(struct pf_report *report)
{
    bool enough = true;
    for (uint32_t i = 0; pf_report_keeps_parts(report) && i < report->rows.count && enough; i++) {
        if (pf_report_event(report, &report->rows.items[i])->group)
            continue;
        enough = pf_report_give_parts(report, &report->rows.items[i], 1);
        if (enough)
            fill_part(report, report->rows.items[i].parts, &report->rows.items[i]);
    }
    return enough;
}

struct pf_report_part pf_report_part(const struct pf_report *report, const struct pf_report_row *row, uint32_t position)
{
    const struct pf_report_event *event = pf_report_event(report, row);
    if (event->group || pf_report_keeps_parts(report))
        return report->groups.parts[row->parts + position];
    return own_part(report, row);
}

const struct pf_report_event *pf_report_member(const struct pf_report *report, const struct pf_report_event *event,
                                               uint32_t position)
{
    return event->group ? &report->events.items[report->groups.members[event->group->members + position]] : event;
}
