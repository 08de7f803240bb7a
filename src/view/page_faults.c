/* SPDX-License-Identifier: MIT */
/* Page faults by the function that made them, by the mapping that they were in, or by page. */
#include <stdlib.h>

#include "analysis/events/advice.h"
#include "analysis/events/fields.h"
#include "base/error.h"
#include "base/pairs.h"
#include "view/profile_source.h"

struct row {
    uint64_t key;
    uint32_t kind; /* of the fault */
    uint64_t faults;
    uint64_t first_time, last_time;
    int32_t pid; /* of the first */
    const char *comm;
    const char *symbol; /* of the code */
    const char *dso;
    const char *mapping; /* of the address */
    uint64_t page;
};

enum by { BY_CALLER, BY_MAPPING, BY_PAGE };
enum kind { ANY, MINOR, MAJOR, USER, KERNEL };
enum { ADDRESS, IP };

enum required {
#define PF_PAGE_FAULTS(id, ...) id,
#include "analysis/events/events.def"
};
static const struct pf_required_event required[] = {
#define PF_PAGE_FAULTS PF_REQUIRED_EVENT
#include "analysis/events/events.def"
};
static const struct pf_required_events required_events = {required, PF_COUNT(required)};

struct faults {
    struct pf_profiled_events events; /* first */
    struct pf_events tracepoints;
    enum by by;
    struct pf_pairs index;
    struct row *rows;
    size_t count, capacity;
    bool any, without_address;
    const struct row *row; /* in hand */
};

/* ---- what the columns put ---------------------------------------------------------------------------------------- */

#define ROW                                                                                                            \
    const struct faults *faults = state;                                                                               \
    const struct row *row = faults->row
#define PUT_IF(name, set, known, value) PF_PUT_IF(name, ROW, known, set, value)

static const char *kind_name(uint32_t kind)
{
    static const char *const names[] = {"fault", "minor", "major", "user", "kernel"};
    return names[kind];
}

PUT_IF(kind, pf_set_lasting, true, kind_name(row->kind))
PUT_IF(faults, pf_set_u64, true, row->faults)
PUT_IF(symbol, pf_set_lasting, faults->by == BY_CALLER, row->symbol)
PUT_IF(dso, pf_set_lasting, faults->by == BY_CALLER, row->dso)
PUT_IF(mapping, pf_set_lasting, faults->by != BY_CALLER, row->mapping)
PUT_IF(page, pf_set_u64, faults->by == BY_PAGE, row->page)
PUT_IF(pid, pf_set_i32, faults->by == BY_PAGE, row->pid)
PUT_IF(comm, pf_set_text, faults->by == BY_PAGE, row->comm)
PUT_IF(first_time, pf_set_u64, row->first_time != UINT64_MAX, row->first_time)
PUT_IF(last_time, pf_set_u64, row->last_time != UINT64_MAX, row->last_time)

static const struct pf_column columns[] = {
    PF_REQUIRED(kind, TEXT, "", "minor, major, or fault where that was not recorded; of exceptions user or kernel."),
    PF_COLUMN(symbol, TEXT, "", "The function that made it, where rows are of these."),
    PF_COLUMN(dso, TEXT, "", "The file of that function."),
    PF_COLUMN(page, ADDRESS, "", "Address of the page, where rows are of these."),
    PF_COLUMN(mapping, TEXT, "", "What is mapped there, as far as the recording reports it: mostly code."),
    PF_COLUMN(pid, I32, "", "Process, where rows are of pages."),
    PF_COLUMN(comm, TEXT, "", "Its name."),
    PF_REQUIRED(faults, U64, "", "How many."),
    PF_COLUMN(first_time, TIME, "ns", "The first one."),
    PF_COLUMN(last_time, TIME, "ns", "The last one."),
};

/* ---- events ------------------------------------------------------------------------------------------------------ */

/* What an event says. */
struct facts {
    uint64_t address, ip;
    uint32_t kind;
    bool has_address;
};

static bool report_software(const struct pf_profile_sample *sample, struct facts *facts)
{
    static const uint8_t kinds[] = {[PERFILE_COUNT_SW_PAGE_FAULTS] = ANY + 1,
                                    [PERFILE_COUNT_SW_PAGE_FAULTS_MIN] = MINOR + 1,
                                    [PERFILE_COUNT_SW_PAGE_FAULTS_MAJ] = MAJOR + 1};
    const struct perfile_attr *attr = sample->event->attr;
    if (attr->type != PERFILE_TYPE_SOFTWARE || attr->config >= PF_COUNT(kinds) || !kinds[attr->config])
        return false;
    facts->kind = kinds[attr->config] - 1u;
    facts->ip = sample->ip;
    facts->address = sample->decoded->addr;
    facts->has_address = sample->decoded->present & PERFILE_SAMPLE_ADDR;
    return true;
}

static bool read_facts(struct faults *faults, const struct pf_profile_sample *sample, struct facts *facts)
{
    if (!sample->event || report_software(sample, facts))
        return sample->event;
    const struct pf_event_fields *event = pf_events_find(&faults->tracepoints, sample->event);
    if (!event)
        return false;
    const struct perfile_bytes *raw = &sample->decoded->raw;
    facts->kind = event->id == KERNEL_FAULTS ? KERNEL : USER;
    facts->has_address = pf_event_number(&faults->tracepoints, event, ADDRESS, raw, &facts->address);
    return pf_event_number(&faults->tracepoints, event, IP, raw, &facts->ip);
}

static const char *module_name(const struct faults *faults, const struct pf_frame_info *frame)
{
    const struct pf_module *module =
        frame ? pf_symbols_module(pf_profile_symbols(faults->events.profile), frame->module) : NULL;
    return module ? module->name : NULL;
}

static const struct pf_frame_info *frame_at(const struct faults *faults, uint64_t address)
{
    const uint32_t frame = pf_profile_frame_at(faults->events.profile, address);
    return frame == PF_NO_FRAME ? NULL : pf_profile_frame(faults->events.profile, frame);
}

/* What makes rows different. */
static void make_row(const struct faults *faults, const struct pf_profile_sample *sample, const struct facts *facts,
                     struct row *row)
{
    const struct pf_frame_info *frame = frame_at(faults, faults->by == BY_CALLER ? facts->ip : facts->address);
    *row = (struct row){.kind = facts->kind, .pid = sample->pid, .comm = sample->comm, .first_time = sample->time};
    if (faults->by == BY_CALLER) {
        row->symbol = frame ? frame->name : NULL;
        row->dso = module_name(faults, frame);
        row->key = row->symbol ? (uintptr_t)row->symbol : (uintptr_t)row->dso;
    } else {
        const uint64_t page = facts->address & ~(uint64_t)4095;
        row->mapping = facts->has_address ? module_name(faults, frame) : NULL;
        row->page = page;
        row->key = faults->by == BY_PAGE ? page : (uintptr_t)row->mapping;
    }
}

static bool take(void *state, const struct pf_profile_sample *sample)
{
    struct faults *faults = state;
    struct facts facts = {.kind = ANY};
    struct row made;
    uint32_t position;
    if (!read_facts(faults, sample, &facts))
        return true;
    faults->any = true;
    faults->without_address |= !facts.has_address;
    make_row(faults, sample, &facts, &made);
    const uint64_t other = (uint64_t)facts.kind << 32 | (faults->by == BY_PAGE ? (uint32_t)sample->pid : 0);
    if (!pf_pairs_get(&faults->index, made.key, other, &position)) {
        position = (uint32_t)faults->count;
        if (faults->count >= UINT32_MAX - 1 ||
            !pf_grow(faults->events.table->allocator, &faults->rows, &faults->capacity, faults->count + 1,
                     sizeof(*faults->rows)) ||
            !pf_pairs_put(&faults->index, made.key, other, position))
            return false;
        faults->rows[faults->count++] = made;
    }
    (void)pf_add_to_sum(&faults->rows[position].faults, sample->period ? sample->period : 1);
    faults->rows[position].last_time = sample->time;
    return true;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static int order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_texts(const char *a, const char *b)
{
    return a == b ? 0 : !a || !b ? (a ? -1 : 1) : strcmp(a, b);
}

static int compare_names(const struct row *a, const struct row *b)
{
    const int dsos = compare_texts(a->dso, b->dso), symbols = compare_texts(a->symbol, b->symbol);
    return dsos ? dsos : symbols ? symbols : compare_texts(a->mapping, b->mapping);
}

/* The order is complete, so that it does not depend on the C library. */
static int compare(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    const int counts = order(b->faults, a->faults), times = order(a->first_time, b->first_time);
    const int pages = order(a->page, b->page), names = compare_names(a, b), kinds = order(a->kind, b->kind);
    return counts  ? counts
           : times ? times
           : pages ? pages
           : names ? names
           : kinds ? kinds
                   : order((uint32_t)a->pid, (uint32_t)b->pid);
}

static int next_row(void *state, struct perfile_error *error)
{
    struct faults *faults = state;
    if (pf_profiled_events_read(&faults->events, take, faults) && faults->count)
        qsort(faults->rows, faults->count, sizeof(*faults->rows), compare);
    const int result = pf_table_row(faults->events.table, faults->count, error);
    if (result > 0)
        faults->row = &faults->rows[faults->events.table->all.row];
    return result;
}

static int choose(struct faults *faults, const char *keys, struct perfile_error *error)
{
    static const char *const names[] = {"caller", "mapping", "page"};
    for (unsigned i = 0; keys && i < PF_COUNT(names); i++)
        if (strcmp(keys, names[i]) == 0) {
            faults->by = i;
            return 0;
        }
    return !keys || !*keys ? 0
                           : pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "keys",
                                     "page faults are added up by caller, mapping or page, not by '%.40s'", keys);
}

static int open_faults(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct faults *faults = state;
    pf_bound_events_open(&faults->tracepoints, table->reader, &required_events, table->allocator);
    pf_pairs_open(&faults->index, table->allocator);
    const int result = choose(faults, table->options.keys, error);
    return result < 0 ? result
                      : pf_profiled_events_open(&faults->events, table, &(struct pf_event_needs){.only = NULL}, error);
}

static void close_faults(void *state)
{
    struct faults *faults = state;
    const struct perfile_allocator *allocator = faults->events.table->allocator;
    pf_bound_events_close(&faults->tracepoints);
    pf_pairs_close(&faults->index);
    pf_free(allocator, faults->rows, faults->capacity * sizeof(*faults->rows));
    pf_profiled_events_close(&faults->events);
}

static void notes(void *state, pf_on_note *facts, void *context)
{
    const struct faults *faults = state;
    if (!facts)
        return;
    if (!faults->any)
        facts(context, "the recording has no page faults; record with: " PF_RECORD_FAULTS);
    if (faults->without_address && faults->by != BY_CALLER)
        facts(context, "the addresses of page faults were not recorded; record with: " PF_RECORD_FAULTS);
}

const struct pf_view pf_view_page_faults = {
    .info = {"page_faults", "page faults by function, by mapping or by page"},
    .events = &required_events,
    .lists = {PF_COLUMNS(columns)},
    .own_key = "page",
    .state_bytes = sizeof(struct faults),
    .open = open_faults,
    .next = next_row,
    .close = close_faults,
    .notes = notes,
};
