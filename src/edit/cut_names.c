/* SPDX-License-Identifier: MIT */
/* The names of threads at any time: changes of names, to be looked up in any order. */
#include <stdlib.h>

#include "edit/cut.h"

#include "base/sort.h"

void pf_name_line_open(struct pf_name_line *line, const struct perfile_allocator *allocator)
{
    *line = (struct pf_name_line){.allocator = allocator};
    pf_threads_open(&line->threads, allocator);
    pf_threads_open(&line->nameless, allocator);
}

void pf_name_line_close(struct pf_name_line *line)
{
    if (!line->allocator) /* never opened */
        return;
    pf_threads_close(&line->threads);
    pf_threads_close(&line->nameless);
    pf_free(line->allocator, line->changes, line->capacity * sizeof(*line->changes));
}

static const char *name_of(struct pf_name_line *line, int32_t tid)
{
    const char *name = pf_threads_name(&line->threads, tid);
    if (*name != ':')
        return name;
    const char *number = pf_threads_name(&line->nameless, tid);
    return strcmp(name, number) == 0 ? number : name;
}

static bool note(struct pf_name_line *line, int32_t tid, uint64_t at)
{
    if (!pf_grow(line->allocator, &line->changes, &line->capacity, line->count + 1, sizeof(*line->changes)))
        return false;
    line->changes[line->count] =
        (struct pf_name_change){.tid = tid, .sequence = (uint32_t)line->count, .at = at, .name = name_of(line, tid)};
    line->count++;
    return true;
}

bool pf_name_line_follow(struct pf_name_line *line, const struct perfile_reader *reader,
                         const struct perfile_record *record)
{
    union {
        struct perfile_comm comm;
        struct perfile_fork fork;
        struct perfile_exit exit;
    } r;
    line->now = pf_max(line->now, pf_name_line_step(line, reader, record));
    if ((record->type != PERFILE_RECORD_COMM && record->type != PERFILE_RECORD_FORK &&
         record->type != PERFILE_RECORD_EXIT) ||
        record->damaged || perfile_record_decode(reader, record, &r, sizeof(r), NULL) < 0)
        return true;
    if (record->type == PERFILE_RECORD_EXIT) { /* its samples of the same moment still have the name */
        pf_threads_discard(&line->threads, r.exit.tid);
        return note(line, r.exit.tid, line->now + 1);
    }
    return pf_threads_follow(&line->threads, reader, record) &&
           note(line, record->type == PERFILE_RECORD_COMM ? r.comm.tid : r.fork.tid, line->now);
}

void pf_name_line_rewind(struct pf_name_line *line)
{
    line->records = 0;
}

/* As sessions decide: without times on all records the order of the file is the order of things. */
uint64_t pf_name_line_step(struct pf_name_line *line, const struct perfile_reader *reader,
                           const struct perfile_record *record)
{
    const struct pf_plan *plan = reader->event_count ? &reader->events[0]->plan : NULL;
    line->records++;
    return plan && plan->sample_id_all && plan->time_at ? record->time : line->records;
}

static int compare(const void *left, const void *right)
{
    const struct pf_name_change *a = left, *b = right;
    return PF_COMPARE(a->tid, b->tid) ?: PF_COMPARE(a->at, b->at) ?: PF_COMPARE(a->sequence, b->sequence);
}

void pf_name_line_sort(struct pf_name_line *line)
{
    if (line->count)
        qsort(line->changes, line->count, sizeof(*line->changes), compare);
}

const char *pf_name_line_at(struct pf_name_line *line, int32_t tid, uint64_t moment)
{
    const struct pf_name_change *changes = line->changes;
    const size_t after = /* the first change after the moment */
        PF_COUNT_BEFORE(line->count, i, (PF_COMPARE(changes[i].tid, tid) ?: PF_COMPARE(changes[i].at, moment)) <= 0);
    if (after && changes[after - 1].tid == tid)
        return changes[after - 1].name;
    return pf_threads_name(&line->nameless, tid);
}
