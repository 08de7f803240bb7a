/* SPDX-License-Identifier: MIT */
/* What becomes of a record when a recording is cut. */
#include "base/error.h"
#include "base/filter.h"
#include "base/sort.h"
#include "edit/cut.h"

/* ---- samples ---- */

int pf_cut_open_cgroups(struct pf_cut *cut, struct perfile_error *error)
{
    const char *list = cut->options.cgroups;
    while (list && *list) {
        size_t bytes = strcspn(list, ",");
        char *path = pf_arena_text(&cut->count.arena, list, bytes);
        if (!path || !pf_grow(cut->allocator, &cut->survey.cgroups.items, &cut->survey.cgroups.capacity,
                              cut->survey.cgroups.count + 1, sizeof(*cut->survey.cgroups.items)))
            return pf_fail_memory(error, "filter");
        if (*path != '/')
            return pf_about(error, path, strlen(path),
                            pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "cgroup list",
                                    "invalid path \"%.64s\": it does not begin with a slash", path));
        while (bytes && path[bytes - 1] == '/')
            path[--bytes] = 0;
        cut->survey.cgroups.items[cut->survey.cgroups.count++] = path;
        list += strcspn(list, ",");
        list += *list == ',';
    }
    return 0;
}

int pf_cut_select_open(struct pf_cut *cut, struct perfile_error *error)
{
    const struct pf_range *span = cut->survey.span.last ? &cut->survey.span : NULL;
    struct pf_clock clock;
    pf_filter_close(&cut->filter);
    if (pf_filter_clock(cut->reader, &clock) < 0)
        return pf_fail_memory(error, "filter");
    const int result = pf_filter_open_dated(&cut->filter, &cut->wanted, span, &clock, cut->allocator, error);
    cut->first_time = result < 0 ? 0 : pf_filter_first_time(&cut->filter);
    cut->last_time = result < 0 ? UINT64_MAX : pf_filter_last_time(&cut->filter);
    return result;
}

void pf_cut_end_early(const struct pf_cut *cut, struct pf_edit *edit)
{
    edit->last_time = cut->last_time;
    edit->has_last_time = cut->last_time != UINT64_MAX && !pf_edit_defers_callchains(cut->reader) &&
                          !cut->trace.queues.count; /* traces are written later than what happened meanwhile */
}

static bool is_unwanted(void *context, const struct perfile_block *block)
{
    struct pf_cut *cut = context;
    const struct pf_filter_block asked = {.block = block,
                                          .times = perfile_block_times,
                                          .may_have = perfile_block_may_have,
                                          .event_at = perfile_event_get,
                                          .reader = cut->reader};
    return pf_filter_leaves_out(&cut->filter, &asked, false);
}

/*
 * Returns whether all earlier samples must be read: they do not pass by time, but filters that report values without
 * matches need to see them.
 */
static bool sees_history(const struct pf_cut *cut)
{
    return (cut->filter.unmatched & ~(unsigned)PF_FILTER_TIMES) != 0;
}

/* Of control groups blocks say nothing, and names may go by the number of the record. */
void pf_cut_pass_over(struct pf_cut *cut, struct pf_edit *edit,
                      void (*passed_over)(void *context, uint64_t records, uint64_t samples))
{
    edit->passed_over = passed_over;
    edit->unwanted_context = cut;
    if (cut->filter.active && !cut->options.cgroups && !cut->survey.line_known)
        edit->unwanted = is_unwanted;
    if (!cut->living.history.reader || (cut->count.done && sees_history(cut)))
        return;
    edit->history = &cut->living.history;
    edit->from_mark = !cut->count.done;
    cut->filter.noted |= cut->filter.unmatched != 0;
}

void pf_cut_select_rewind(struct pf_cut *cut)
{
    memset(cut->filter.silent, 0, sizeof(cut->filter.silent));
    pf_name_line_rewind(&cut->survey.line);
    cut->bytes = 0;
    for (size_t i = 0; i < cut->count.thinning_count; i++)
        cut->count.thinnings[i].seen = cut->count.thinnings[i].kept = cut->count.thinnings[i].period = 0;
}

bool pf_cut_cgroup_add(struct pf_cut *cut, const struct perfile_cgroup *cgroup)
{
    bool passes = false;
    for (size_t i = 0; i < cut->survey.cgroups.count && !passes; i++) {
        const size_t bytes = strlen(cut->survey.cgroups.items[i]);
        passes = strncmp(cut->survey.cgroups.items[i], cgroup->path, bytes) == 0 &&
                 (cgroup->path[bytes] == 0 || cgroup->path[bytes] == '/');
    }
    return pf_map_put(&cut->survey.cgroup_passes, cgroup->id, passes);
}

static bool has_cgroup(const struct perfile_record *record)
{
    return record->event && record->event->attr->sample_type & PERFILE_SAMPLE_CGROUP;
}

static bool cgroup_passes(struct pf_cut *cut, struct pf_item *item)
{
    uint64_t passes;
    if (!cut->options.cgroups || !has_cgroup(item->record))
        return true;
    const bool matches = pf_item_decode(item, NULL) == 0 &&
                         pf_map_get(&cut->survey.cgroup_passes, item->sample.cgroup, &passes) && passes;
    cut->survey.cgroups_asked = true;
    cut->survey.cgroups_matched |= matches;
    return matches;
}

/* Only the time is asked for: it stands in the record already. */
static bool time_alone(const struct pf_cut *cut)
{
    const struct pf_filter *filter = &cut->filter;
    return !filter->has_cpus && !filter->has_pids && !filter->has_tids && !filter->has_comms && !filter->has_events &&
           !cut->options.cgroups;
}

static bool has_time(const struct perfile_record *record)
{
    return record->event && record->event->attr->sample_type & PERFILE_SAMPLE_TIME;
}

/* NULL: the event is not known, or has no such part. */
static const uint8_t *position_of(const struct perfile_record *record, uint16_t at)
{
    return at && record->bytes >= at + 8u ? record->data + at : NULL;
}

static const struct pf_plan *plan_of(const struct perfile_record *record)
{
    static const struct pf_plan none;
    return record->event ? &((const struct pf_event *)(const void *)record->event)->plan : &none;
}

bool pf_cut_thread(const struct perfile_record *record, int32_t *pid, int32_t *tid)
{
    const struct pf_plan *plan = plan_of(record);
    const uint8_t *at = position_of(record, plan->tid_at);
    *pid = at ? (int32_t)pf_load32(at, plan->swap) : -1;
    *tid = at ? (int32_t)pf_load32(at + 4, plan->swap) : -1;
    return at;
}

static int32_t cpu_of(const struct perfile_record *record)
{
    uint32_t cpu;
    return pf_plan_cpu(plan_of(record), record, &cpu) ? (int32_t)cpu : PF_NO_NUMBER;
}

static uint64_t time_of(const struct perfile_record *record)
{
    return has_time(record) ? record->time : PF_NO_TIME;
}

static struct pf_filter_subject subject_of(struct pf_cut *cut, const struct perfile_record *record)
{
    struct pf_filter_subject subject = {.time = time_of(record), .cpu = cpu_of(record), .event = record->event};
    if (!pf_cut_thread(record, &subject.pid, &subject.tid))
        subject.pid = subject.tid = PF_NO_NUMBER;
    else if (cut->filter.has_comms)
        subject.comm = pf_name_line_at(&cut->survey.line, subject.tid, cut->moment);
    return subject;
}

bool pf_cut_passes(struct pf_cut *cut, struct pf_item *item)
{
    const struct perfile_record *record = item->record;
    if (PF_UNLIKELY(cut->filter.unmatched)) {
        const struct pf_filter_subject seen = subject_of(cut, record);
        pf_filter_note(&cut->filter, &seen);
    }
    if (!pf_filter_time(&cut->filter, time_of(record)))
        return false;
    if (time_alone(cut) && has_time(record))
        return true;
    if (!cgroup_passes(cut, item) || (!record->event && cut->filter.has_events))
        return false;
    const struct pf_filter_subject subject = subject_of(cut, record);
    const bool passes = pf_filter_passes(&cut->filter, &subject);
    cut->filter.silent[PF_FILTER_CGROUP] += passes && cut->options.cgroups && !has_cgroup(record);
    return passes;
}

static uint64_t window_of(const struct pf_cut *cut, uint64_t time)
{
    return time > cut->survey.span.first ? (time - cut->survey.span.first) / cut->split.step : 0;
}

uint64_t pf_cut_key(struct pf_cut *cut, const struct perfile_record *record, const char **name)
{
    *name = NULL;
    switch (cut->split.by) {
    case PERFILE_SPLIT_TIME:
        return has_time(record) ? window_of(cut, record->time) : 0;
    case PERFILE_SPLIT_SIZE:
        return cut->bytes / cut->split.step;
    case PERFILE_SPLIT_EVENT:
        *name = record->event ? record->event->name : NULL;
        return record->event ? record->event->index : PF_CUT_NO_KEY;
    default:
        break;
    }
    int32_t pid, tid;
    uint32_t cpu;
    if (cut->split.by == PERFILE_SPLIT_CPU)
        return pf_plan_cpu(plan_of(record), record, &cpu) ? cpu : PF_CUT_NO_KEY;
    if (!pf_cut_thread(record, &pid, &tid))
        return PF_CUT_NO_KEY;
    if (cut->split.by == PERFILE_SPLIT_COMM) {
        *name = pf_name_line_at(&cut->survey.line, tid, cut->moment);
        return (uintptr_t)*name;
    }
    return (uint32_t)(cut->split.by == PERFILE_SPLIT_PID ? pid : tid);
}

bool pf_cut_part_of(const struct pf_cut *cut, uint64_t key, uint64_t *part)
{
    /* events of a stream may follow samples, which were counted without a key */
    return pf_map_get(&cut->count.part_of, key, part) || pf_map_get(&cut->count.part_of, PF_CUT_NO_KEY, part);
}

/* ---- thinning ---- */

/* Every Nth counts from the last one back, so that the last one is kept and none is left over after it. */
static bool is_kept(const struct pf_cut *cut, const struct pf_cut_thinning *thinning)
{
    const uint64_t left = thinning->total - thinning->seen; /* after this one */
    if (!cut->options.samples)
        return left % cut->options.every == 0;
    /* the `kept + 1`th of `wanted` stands at its share of the way */
    return pf_product_within(thinning->kept + 1, thinning->total, thinning->seen, thinning->wanted);
}

static bool add_period(struct pf_item *item, struct pf_cut_thinning *thinning)
{
    const struct perfile_event *event = item->record->event;
    if (!(event->attr->sample_type & PERFILE_SAMPLE_PERIOD) || pf_item_decode(item, NULL) < 0)
        return false;
    if (!pf_add(item->sample.period, thinning->period, &item->sample.period))
        item->sample.period = UINT64_MAX;
    item->changed |= thinning->period != 0;
    return true;
}

bool pf_cut_thin(struct pf_cut *cut, struct pf_item *item, bool *unscaled)
{
    const struct perfile_event *event = item->record->event;
    *unscaled = false;
    if (!event || event->index >= cut->count.thinning_count)
        return true;
    struct pf_cut_thinning *thinning = &cut->count.thinnings[event->index];
    if (thinning->wanted == thinning->total)
        return true;
    thinning->seen++;
    if (is_kept(cut, thinning)) {
        thinning->kept++;
        *unscaled = !add_period(item, thinning);
        thinning->period = 0;
        return true;
    }
    const struct pf_plan *plan = plan_of(item->record);
    const uint8_t *at = position_of(item->record, plan->period_at);
    if (at && !pf_add(thinning->period, pf_load64(at, plan->swap), &thinning->period))
        thinning->period = UINT64_MAX;
    return false;
}

/* ---- other records ---- */

bool pf_cut_process_of(struct pf_item *item, int32_t pids[2])
{
    const struct perfile_record *record = item->record;
    const enum pf_record_kind kind = pf_record_kind(record->type);
    if ((kind != PF_KIND_PROCESS && kind != PF_KIND_RUNNING) || pf_item_decode(item, NULL) < 0)
        return false;
    if (record->type != PERFILE_RECORD_SWITCH && record->type != PERFILE_RECORD_SWITCH_CPU_WIDE) {
        pids[0] = pids[1] = item->body.mmap.pid; /* all of them begin with it */
        return true;
    }
    if (!item->has_id || !(item->id.present & PERFILE_SAMPLE_TID))
        return false;
    pids[0] = pids[1] = item->id.pid;
    if (record->type == PERFILE_RECORD_SWITCH_CPU_WIDE)
        pids[1] = item->body.switch_cpu_wide.next_prev_pid;
    return true;
}

bool pf_cut_cookie(struct pf_item *item, uint64_t *cookie)
{
    if (!item->record->event || !item->record->event->attr->defer_callchain || pf_item_decode(item, NULL) < 0)
        return false;
    const struct perfile_u64s *chain = &item->sample.callchain;
    for (uint64_t i = 0; i + 1 < chain->count; i++)
        if (perfile_u64_at(chain, i) == PERFILE_CONTEXT_USER_DEFERRED) {
            *cookie = perfile_u64_at(chain, i + 1);
            return true;
        }
    return false;
}

static struct pf_cut_target all_parts(const struct pf_cut_count *count)
{
    return (struct pf_cut_target){.count = count->part_count};
}

static struct pf_cut_target no_part(void)
{
    return (struct pf_cut_target){.count = 0};
}

static struct pf_cut_target part_of_key(const struct pf_cut_count *count, uint64_t key)
{
    uint64_t part;
    if (!pf_map_get(&count->part_of, key, &part))
        return all_parts(count);
    return (struct pf_cut_target){.first = (size_t)part, .count = 1};
}

/* The first part that ends at or after a time. */
static size_t part_until(const struct pf_cut_count *count, uint64_t time)
{
    return PF_COUNT_BEFORE(count->part_count, i, count->parts[i].until < time);
}

/* By size: the piece of the samples around it. */
static struct pf_cut_target part_of_position(const struct pf_cut *cut)
{
    const uint64_t key = cut->bytes / cut->split.step;
    size_t part = (size_t)pf_min(key, cut->count.part_count - 1);
    while (part && cut->count.parts[part].key > key)
        part--;
    return (struct pf_cut_target){.first = part, .count = 1};
}

/* Returns all parts that end at or after the time of the record. */
static struct pf_cut_target later_parts(const struct pf_cut *cut, const struct perfile_record *record)
{
    if (!record->time)
        return all_parts(&cut->count);
    if (record->time > cut->last_time)
        return no_part();
    const size_t first = part_until(&cut->count, record->time);
    return (struct pf_cut_target){.first = first, .count = cut->count.part_count - first};
}

/* The first link of the process to that part or a later one, among all of them. */
static size_t first_link(const struct pf_cut_count *count, int32_t pid, uint64_t part)
{
    const struct pf_cut_link *links = count->links;
    return PF_COUNT_BEFORE(count->link_count, i,
                           (PF_COMPARE(links[i].pid, pid) ?: PF_COMPARE(links[i].part, part)) < 0);
}

static struct pf_cut_target links_between(const struct pf_cut_count *count, int32_t pid, uint64_t first, uint64_t end)
{
    const size_t from = first_link(count, pid, first);
    return (struct pf_cut_target){.count = first_link(count, pid, end) - from,
                                  .links = count->links ? count->links + from : NULL};
}

static struct pf_cut_target parts_of_process(const struct pf_cut_count *count, int32_t pid)
{
    return links_between(count, pid, 0, UINT64_MAX);
}

struct pf_cut_target pf_cut_clip(const struct pf_cut *cut, struct pf_cut_target target, size_t first, size_t count)
{
    if (!target.count || target.links)
        return target.count ? links_between(&cut->count, target.links->pid, first, first + count) : target;
    const size_t from = pf_max(target.first, first), end = pf_min(target.first + target.count, first + count);
    return (struct pf_cut_target){.first = from, .count = from < end ? end - from : 0};
}

/* `target`, and of these only the parts that the process is in; of no part: the first when all must be somewhere. */
static struct pf_cut_target narrow_to_process(struct pf_cut *cut, struct pf_item *item, struct pf_cut_target target)
{
    int32_t pids[2];
    if (!target.count || !cut->prunes || !cut->count.done || !pf_cut_process_of(item, pids) || pids[0] <= 0 ||
        pids[1] <= 0)
        return target; /* 0 and -1 are the kernel's */
    if (pf_cut_is_over(cut, item))
        return no_part();
    struct pf_cut_target parts = parts_of_process(&cut->count, pids[0]);
    if (!parts.count && pids[1] != pids[0])
        parts = parts_of_process(&cut->count, pids[1]);
    if (!parts.count && cut->splits && cut->count.part_count)
        parts = (struct pf_cut_target){.count = 1};
    return parts;
}

/* LOST and the like name an event; others have one only because their trailer needs it. */
static bool names_event(uint32_t type)
{
    return type == PERFILE_RECORD_LOST || type == PERFILE_RECORD_LOST_SAMPLES || type == PERFILE_RECORD_READ ||
           type == PERFILE_RECORD_THROTTLE || type == PERFILE_RECORD_UNTHROTTLE;
}

static struct pf_cut_target parts_of_moment(struct pf_cut *cut, struct pf_item *item)
{
    const struct perfile_record *record = item->record;
    const struct perfile_event *event = names_event(record->type) ? record->event : NULL;
    if (record->time && !pf_filter_time(&cut->filter, record->time))
        return no_part();
    if (event && !pf_filter_event(&cut->filter, event))
        return no_part();
    const bool by_cpu = cut->filter.has_cpus || (cut->splits && cut->split.by == PERFILE_SPLIT_CPU);
    const bool has_cpu =
        by_cpu && pf_item_decode(item, NULL) == 0 && item->has_id && item->id.present & PERFILE_SAMPLE_CPU;
    if (has_cpu && !pf_filter_cpu(&cut->filter, (int32_t)item->id.cpu))
        return no_part();
    if (!cut->splits || !cut->count.part_count)
        return all_parts(&cut->count);
    if (cut->split.by == PERFILE_SPLIT_SIZE)
        return part_of_position(cut);
    if (has_cpu && cut->split.by == PERFILE_SPLIT_CPU)
        return part_of_key(&cut->count, item->id.cpu);
    if (event && cut->split.by == PERFILE_SPLIT_EVENT)
        return part_of_key(&cut->count, event->index);
    if (record->time && cut->split.by == PERFILE_SPLIT_TIME)
        return (struct pf_cut_target){.first = part_until(&cut->count, record->time), .count = 1};
    return all_parts(&cut->count);
}

/* Where the last samples before it went. */
static struct pf_cut_target parts_of_deferred(struct pf_cut *cut, struct pf_item *item)
{
    uint64_t part;
    if (pf_item_decode(item, NULL) < 0)
        return all_parts(&cut->count);
    if (!cut->count.done)
        return item->record->time && !pf_filter_time(&cut->filter, item->record->time) ? no_part()
                                                                                       : all_parts(&cut->count);
    if (!pf_map_get(&cut->count.cookies, item->body.callchain_deferred.cookie, &part))
        return cut->keeps_all ? (struct pf_cut_target){.count = cut->count.part_count > 0} : no_part();
    return part ? (struct pf_cut_target){.first = (size_t)part - 1, .count = 1} : all_parts(&cut->count);
}

static struct pf_cut_target parts_of_aux_data(struct pf_cut *cut, struct pf_item *item)
{
    const struct pf_filter *filter = &cut->filter;
    if (pf_item_decode(item, NULL) < 0)
        return all_parts(&cut->count);
    const int32_t cpu = item->body.auxtrace.cpu, tid = item->body.auxtrace.tid;
    if (cpu >= 0) {
        if (!pf_filter_cpu(filter, cpu))
            return no_part();
        return cut->splits && cut->split.by == PERFILE_SPLIT_CPU ? part_of_key(&cut->count, (uint32_t)cpu)
                                                                 : all_parts(&cut->count);
    }
    if (tid < 0)
        return all_parts(&cut->count);
    if (filter->has_tids && !pf_ranges_hold(&filter->tids, (uint32_t)tid))
        return no_part();
    return cut->splits && cut->split.by == PERFILE_SPLIT_TID ? part_of_key(&cut->count, (uint32_t)tid)
                                                             : all_parts(&cut->count);
}

/* The record belongs to one processor, and so does the part. */
static bool is_of_one_cpu(const struct pf_cut *cut, const struct pf_cut_target *target)
{
    const struct perfile_filter *filter = &cut->wanted;
    return cut->splits && cut->split.by == PERFILE_SPLIT_CPU && target->count == 1 && !filter->pids && !filter->tids &&
           !filter->comms;
}

static struct pf_cut_target parts_of_running(struct pf_cut *cut, struct pf_item *item)
{
    const struct pf_cut_target target = parts_of_moment(cut, item);
    return is_of_one_cpu(cut, &target) ? target : narrow_to_process(cut, item, target);
}

struct pf_cut_target pf_cut_target(struct pf_cut *cut, struct pf_item *item)
{
    switch (pf_record_kind(item->record->type)) {
    case PF_KIND_STATE:
        return later_parts(cut, item->record);
    case PF_KIND_PROCESS:
        return narrow_to_process(cut, item, later_parts(cut, item->record));
    case PF_KIND_MOMENT:
        return parts_of_moment(cut, item);
    case PF_KIND_RUNNING:
        return parts_of_running(cut, item);
    case PF_KIND_DEFERRED:
        return parts_of_deferred(cut, item);
    case PF_KIND_AUX_DATA:
        return parts_of_aux_data(cut, item);
    default:
        return all_parts(&cut->count);
    }
}
