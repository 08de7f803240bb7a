/* SPDX-License-Identifier: MIT */
/* The passes that find out what the last one must know. */
#include <stdlib.h>

#include "base/error.h"
#include "edit/cut.h"

void pf_cut_survey_open(struct pf_cut_survey *survey, const struct perfile_allocator *allocator)
{
    pf_map_open(&survey->cgroup_passes, allocator);
    pf_name_line_open(&survey->line, allocator);
}

void pf_cut_survey_close(struct pf_cut_survey *survey)
{
    if (!survey->line.allocator)
        return;
    pf_free(survey->line.allocator, survey->cgroups.items, survey->cgroups.capacity * sizeof(*survey->cgroups.items));
    pf_map_close(&survey->cgroup_passes);
    pf_name_line_close(&survey->line);
}

void pf_cut_count_open(struct pf_cut_count *count, const struct perfile_allocator *allocator)
{
    count->allocator = allocator;
    pf_arena_open(&count->arena, allocator);
    pf_map_open(&count->part_of, allocator);
    pf_map_open(&count->cookies, allocator);
    pf_pairs_open(&count->linked, allocator);
    pf_map_open(&count->process_bytes, allocator);
    pf_pairs_open(&count->forked, allocator);
}

void pf_cut_count_close(struct pf_cut_count *count)
{
    const struct perfile_allocator *allocator = count->allocator;
    if (!allocator)
        return;
    pf_map_close(&count->part_of);
    pf_map_close(&count->cookies);
    pf_pairs_close(&count->linked);
    pf_map_close(&count->process_bytes);
    pf_pairs_close(&count->forked);
    pf_arena_close(&count->arena);
    pf_free(allocator, count->parts, count->part_capacity * sizeof(*count->parts));
    pf_free(allocator, count->links, count->link_capacity * sizeof(*count->links));
    pf_free(allocator, count->forks, count->fork_capacity * sizeof(*count->forks));
    pf_free(allocator, count->thinnings, count->thinning_capacity * sizeof(*count->thinnings));
}

/* ---- names, cgroups, span ---- */

static int survey_record(void *context, struct pf_item *item, struct perfile_error *error)
{
    struct pf_cut *cut = context;
    const struct perfile_record *record = item->record;
    bool fits = true;
    if (record->type == PERFILE_RECORD_SAMPLE && record->time) {
        cut->survey.span.first = cut->survey.span.last ? pf_min(cut->survey.span.first, record->time) : record->time;
        cut->survey.span.last = pf_max(cut->survey.span.last, record->time);
    }
    if (cut->survey.line_known)
        fits = pf_name_line_follow(&cut->survey.line, cut->reader, record);
    if (record->type == PERFILE_RECORD_CGROUP && cut->survey.cgroups.count && !record->damaged &&
        pf_item_decode(item, NULL) == 0)
        fits &= pf_cut_cgroup_add(cut, &item->body.cgroup);
    return fits ? 0 : pf_fail_memory(error, "cut");
}

int pf_cut_survey(struct pf_cut *cut, struct perfile_error *error)
{
    struct pf_edit edit = {.reader = cut->reader, .options = cut->edit_options};
    cut->survey.span = (struct pf_range){0, 0};
    int result = pf_edit_walk(&edit, cut->survey.line_known || cut->by_time, survey_record, cut, error);
    pf_name_line_sort(&cut->survey.line);
    return result;
}

/* ---- parts ---- */

static bool add_part(struct pf_cut *cut, uint64_t key, const char *name, uint64_t *part)
{
    if (pf_map_get(&cut->count.part_of, key, part))
        return true;
    if (!pf_grow(cut->allocator, &cut->count.parts, &cut->count.part_capacity, cut->count.part_count + 1,
                 sizeof(*cut->count.parts)) ||
        !pf_map_put(&cut->count.part_of, key, cut->count.part_count))
        return false;
    *part = cut->count.part_count;
    cut->count.parts[cut->count.part_count++] =
        (struct pf_cut_part){.public = {.by = cut->split.by, .value = key, .name = name},
                             .key = key,
                             .until = UINT64_MAX,
                             .first_time = UINT64_MAX};
    return true;
}

bool pf_cut_add_link(struct pf_cut_count *count, int32_t pid, uint64_t part)
{
    struct pf_cut_link *last = &count->last_link;
    uint32_t found;
    if (last->pid == pid && last->part == part) /* pid 0 is never linked */
        return true;
    *last = (struct pf_cut_link){.pid = pid, .part = (uint32_t)part};
    if (pf_pairs_get(&count->linked, (uint32_t)pid, part, &found))
        return true;
    if (!pf_grow(count->allocator, &count->links, &count->link_capacity, count->link_count + 1,
                 sizeof(*count->links)) ||
        !pf_pairs_put(&count->linked, (uint32_t)pid, part, 0))
        return false;
    count->links[count->link_count++] = (struct pf_cut_link){.pid = pid, .part = (uint32_t)part};
    return true;
}

static bool note_cookie(struct pf_cut *cut, struct pf_item *item, uint64_t part)
{
    uint64_t cookie, known;
    if (!pf_cut_cookie(item, &cookie))
        return true;
    if (!pf_map_get(&cut->count.cookies, cookie, &known))
        return pf_map_put(&cut->count.cookies, cookie, part + 1);
    return known == part + 1 || pf_map_put(&cut->count.cookies, cookie, 0);
}

static bool note_thinning(struct pf_cut *cut, const struct perfile_event *event)
{
    if (!cut->thins || !event)
        return true;
    if (event->index >= cut->count.thinning_count) {
        if (!pf_grow(cut->allocator, &cut->count.thinnings, &cut->count.thinning_capacity, event->index + 1,
                     sizeof(*cut->count.thinnings)))
            return false;
        while (cut->count.thinning_count <= event->index)
            cut->count.thinnings[cut->count.thinning_count++] = (struct pf_cut_thinning){.total = 0};
    }
    cut->count.thinnings[event->index].total++;
    return true;
}

static bool count_sample(struct pf_cut *cut, struct pf_item *item)
{
    const struct perfile_record *record = item->record;
    const char *name = NULL;
    uint64_t part = 0;
    if (!pf_cut_passes(cut, item))
        return true;
    if (cut->splits) {
        const uint64_t key = pf_cut_key(cut, record, &name);
        if (!add_part(cut, key, name, &part))
            return false;
    }
    cut->bytes += record->bytes;
    struct pf_cut_part *to = &cut->count.parts[part];
    if (record->time) {
        to->first_time = pf_min(to->first_time, record->time);
        to->last_time = pf_max(to->last_time, record->time);
    }
    int32_t pid, tid;
    if (cut->prunes && pf_cut_thread(record, &pid, &tid) && pid > 0 &&
        (!pf_cut_add_link(&cut->count, pid, part) || !pf_cut_note_thread(cut, pid, tid)))
        return false;
    return note_cookie(cut, item, part) && note_thinning(cut, record->event);
}

/* Processes that are asked for by their number are wanted even without samples. */
static bool count_process(struct pf_cut *cut, struct pf_item *item)
{
    const struct pf_filter *filter = &cut->filter;
    int32_t pids[2];
    if (!cut->prunes || !pf_cut_process_of(item, pids))
        return true;
    if (item->record->type == PERFILE_RECORD_FORK && !pf_cut_add_fork(cut, item->record, &item->body.fork))
        return false;
    if (cut->drops_ended)
        return pf_cut_note_process(cut, item, pids);
    if (cut->splits || item->record->type >= PERFILE_RECORD_SAMPLE)
        return true;
    const bool wanted = (filter->has_pids && pids[0] >= 0 && pf_ranges_hold(&filter->pids, (uint32_t)pids[0])) ||
                        (filter->has_tids && pf_ranges_hold(&filter->tids, (uint32_t)item->body.mmap.tid));
    return !wanted || pf_cut_add_link(&cut->count, pids[0], 0);
}

/* Recordings with only AUX data have no samples that show which parts there are. */
static bool count_aux_data(struct pf_cut *cut, struct pf_item *item)
{
    uint64_t part;
    if (item->record->type != PERFILE_RECORD_AUXTRACE || pf_item_decode(item, NULL) < 0)
        return true;
    if (cut->splits && cut->split.by == PERFILE_SPLIT_CPU)
        cut->prunes = false; /* of which processes the data are is not known */
    const int32_t cpu = item->body.auxtrace.cpu, tid = item->body.auxtrace.tid;
    if (cut->splits && cut->split.by == PERFILE_SPLIT_CPU && cpu >= 0 && pf_filter_cpu(&cut->filter, cpu))
        return add_part(cut, (uint32_t)cpu, NULL, &part);
    if (cut->splits && cut->split.by == PERFILE_SPLIT_TID && cpu < 0 && tid >= 0)
        return add_part(cut, (uint32_t)tid, NULL, &part);
    return true;
}

/* What goes to several parts. */
static bool count_copies(struct pf_cut *cut, struct pf_item *item)
{
    const enum pf_record_kind kind = pf_record_kind(item->record->type);
    int32_t pids[2];
    uint64_t known = 0;
    if (!cut->splits || (kind != PF_KIND_STATE && kind != PF_KIND_PROCESS))
        return true;
    if (kind == PF_KIND_STATE || !cut->prunes || !pf_cut_process_of(item, pids) || pids[0] <= 0) {
        cut->count.shared_bytes += item->record->bytes;
        return true;
    }
    (void)pf_map_get(&cut->count.process_bytes, (uint32_t)pids[0], &known);
    return pf_map_put(&cut->count.process_bytes, (uint32_t)pids[0], known + item->record->bytes);
}

static int count_record(void *context, struct pf_item *item, struct perfile_error *error)
{
    struct pf_cut *cut = context;
    const struct perfile_record *record = item->record;
    cut->moment = pf_name_line_step(&cut->survey.line, cut->reader, record);
    if (record->damaged)
        return 0;
    const bool fits = record->type == PERFILE_RECORD_SAMPLE
                          ? count_sample(cut, item)
                          : count_process(cut, item) && count_aux_data(cut, item) && count_copies(cut, item);
    if (!fits || (cut->drops_ended && !pf_cut_note_round(cut, record)))
        return pf_fail_memory(error, "cut");
    if (cut->count.part_count > cut->split.limit_parts)
        return pf_fail(error, PERFILE_ERROR_LIMIT, record->offset, "split", "more than %llu parts (limit_parts)",
                       (unsigned long long)cut->split.limit_parts);
    return 0;
}

/* ---- when all is counted ---- */

static int compare_parts(const void *left, const void *right)
{
    const struct pf_cut_part *a = left, *b = right;
    if (a->public.by == PERFILE_SPLIT_COMM && a->public.name && b->public.name) {
        int order = strcmp(a->public.name, b->public.name);
        if (order)
            return order;
    }
    return PF_COMPARE(a->key, b->key);
}

static int compare_links(const void *left, const void *right)
{
    const struct pf_cut_link *a = left, *b = right;
    return PF_COMPARE(a->pid, b->pid) ?: PF_COMPARE(a->part, b->part);
}

/* Replaces the old numbers of parts by the new ones; public.index holds the old one until now. */
static int renumber(struct pf_cut *cut, struct perfile_error *error)
{
    const size_t bytes = cut->count.part_count * sizeof(uint32_t);
    uint32_t *number = pf_new(cut->allocator, bytes + 1);
    if (!number)
        return pf_fail_memory(error, "cut");
    for (size_t i = 0; i < cut->count.part_count; i++) {
        number[cut->count.parts[i].public.index] = (uint32_t)i;
        cut->count.parts[i].public.index = i;
        if (cut->split.by == PERFILE_SPLIT_COMM && cut->count.parts[i].public.name)
            cut->count.parts[i].public.value = i;
        (void)pf_map_put(&cut->count.part_of, cut->count.parts[i].key, i); /* the key is there already */
    }
    for (size_t i = 0; i < cut->count.link_count; i++)
        cut->count.links[i].part = number[cut->count.links[i].part];
    for (size_t i = 0; i < cut->count.cookies.size; i++)
        if (cut->count.cookies.slots[i].value > 1) /* itself stored plus one */
            cut->count.cookies.slots[i].value = 2 + number[cut->count.cookies.slots[i].value - 2];
    pf_free(cut->allocator, number, bytes + 1);
    return 0;
}

/*
 * Parts of a recording with thousands of processors or threads may repeat the state of the processes in each of them,
 * which would fill any disk. A caller that sets limit_parts accepts that.
 */
static int check_copies(const struct pf_cut *cut, struct perfile_error *error)
{
    enum { ALWAYS_SHIFT = 32, TIMES = 64 };
    const uint64_t recording = perfile_reader_counts(cut->reader)->data_bytes;
    double bytes = (double)cut->count.shared_bytes * (double)cut->count.part_count;
    for (size_t i = 0; i < cut->count.link_count; i++) {
        uint64_t of_process = 0;
        (void)pf_map_get(&cut->count.process_bytes, (uint32_t)cut->count.links[i].pid, &of_process);
        bytes += (double)of_process;
    }
    if (!cut->splits || !cut->bounds_copies ||
        bytes <= (double)((uint64_t)1 << ALWAYS_SHIFT) + TIMES * (double)recording)
        return 0;
    return pf_fail(error, PERFILE_ERROR_LIMIT, PERFILE_NO_OFFSET, "split",
                   "%zu parts would repeat %.0f GB of what processes are; set limit_parts to allow that",
                   cut->count.part_count, bytes / 1e9);
}

/* Moments between the samples of two parts belong to the later one, those after the last to the last. */
static void bound_parts(struct pf_cut *cut)
{
    uint64_t last = 0;
    if (!cut->splits || cut->split.by > PERFILE_SPLIT_SIZE)
        return;
    for (size_t i = 0; i + 1 < cut->count.part_count; i++) {
        struct pf_cut_part *part = &cut->count.parts[i];
        uint64_t end = UINT64_MAX;
        last = pf_max(last, part->last_time);
        if (cut->split.by == PERFILE_SPLIT_SIZE)
            end = last;
        else if (pf_multiply(part->key + 1, cut->split.step, &end) && !pf_add(end, cut->survey.span.first, &end))
            end = UINT64_MAX;
        part->until = cut->split.by == PERFILE_SPLIT_SIZE ? end : end - 1;
    }
}

/* Returns amount * part / total, rounded down, where part <= total. */
static uint64_t share_of(uint64_t amount, uint64_t part, uint64_t total)
{
    uint64_t share = 0;
    for (unsigned bit = 64; bit-- > 0;) {
        const uint64_t more = share | (uint64_t)1 << bit;
        if (more <= amount && pf_product_within(more, total, amount, part))
            share = more;
    }
    return share;
}

/* Sets the events' shares of the budget: in proportion, and at least one for each as long as that is possible. */
static void share_budget(struct pf_cut *cut)
{
    uint64_t total = 0, left = cut->options.samples;
    for (size_t i = 0; i < cut->count.thinning_count; i++)
        total += cut->count.thinnings[i].total;
    for (size_t i = 0; i < cut->count.thinning_count; i++) {
        struct pf_cut_thinning *thinning = &cut->count.thinnings[i];
        if (!thinning->total)
            continue;
        const uint64_t share = total <= left ? thinning->total : share_of(left, thinning->total, total);
        thinning->wanted = pf_min(pf_max(share, left > 0), thinning->total);
        left -= thinning->wanted;
        total -= thinning->total;
    }
}

static void plan_thinning(struct pf_cut *cut)
{
    const uint64_t every = cut->options.every;
    if (cut->options.samples) {
        share_budget(cut);
        return;
    }
    for (size_t i = 0; i < cut->count.thinning_count; i++)
        cut->count.thinnings[i].wanted =
            every > 1 ? (cut->count.thinnings[i].total + every - 1) / every : cut->count.thinnings[i].total;
}

int pf_cut_count(struct pf_cut *cut, struct perfile_error *error)
{
    struct pf_edit edit = {.reader = cut->reader, .options = cut->edit_options};
    pf_cut_select_rewind(cut);
    pf_cut_end_early(cut, &edit);
    pf_cut_pass_over(cut, &edit, NULL);
    int result = pf_edit_walk(&edit, cut->by_time, count_record, cut, error);
    if (result < 0)
        return result;
    uint64_t only;
    /* without samples all goes to one part */
    if (!pf_cut_link_living(cut) ||
        (cut->splits && !cut->count.part_count && !add_part(cut, PF_CUT_NO_KEY, NULL, &only)) ||
        !pf_cut_link_parents(cut))
        return pf_fail_memory(error, "cut");
    for (size_t i = 0; i < cut->count.part_count; i++)
        cut->count.parts[i].public.index = i;
    if (cut->count.part_count)
        qsort(cut->count.parts, cut->count.part_count, sizeof(*cut->count.parts), compare_parts);
    result = renumber(cut, error);
    if (cut->count.link_count)
        qsort(cut->count.links, cut->count.link_count, sizeof(*cut->count.links), compare_links);
    bound_parts(cut);
    plan_thinning(cut);
    cut->count.done = true;
    return result < 0 ? result : check_copies(cut, error);
}
