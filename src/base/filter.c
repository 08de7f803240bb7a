/* SPDX-License-Identifier: MIT */
#include "base/filter.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include <perfile/index.h>

#include "base/error.h"
#include "base/event_name.h"

/* A piece of the user's text. */
struct piece {
    const char *text;
    size_t bytes;
};

/* Cuts *rest at the next of `separators`; false when it is used up. */
static bool next_piece(const char **rest, const char *separators, struct piece *piece)
{
    if (!*rest)
        return false;
    size_t bytes = strcspn(*rest, separators);
    *piece = (struct piece){*rest, bytes};
    *rest = (*rest)[bytes] ? *rest + bytes + 1 : NULL;
    return true;
}

static int refuse(struct perfile_error *error, const char *what, struct piece piece, const char *why)
{
    return pf_about(error, piece.text, piece.bytes,
                    pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, what, "\"%.*s\" %s",
                            (int)pf_min(piece.bytes, 64), piece.text, why));
}

int pf_parse_duration(const char *text, uint64_t *ns, struct perfile_error *error)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};
    const size_t digits = strspn(text, "0123456789");
    uint64_t number = 0;
    bool fits = true;
    for (size_t i = 0; i < digits && fits; i++)
        fits = pf_multiply(number, 10, &number) && pf_add(number, (uint64_t)(text[i] - '0'), &number);
    for (size_t i = 0; fits && number && i < PF_COUNT(units); i++)
        if (strcmp(text + digits, units[i].name) == 0 && pf_multiply(number, units[i].ns, ns))
            return 0;
    return pf_about(error, text, strlen(text),
                    pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "time quantum",
                            "invalid time '%.80s': expected an integer with s, ms, us or ns, such as 100ms", text));
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

static int add_range(struct pf_filter *filter, struct pf_ranges *ranges, uint64_t first, uint64_t last)
{
    if (!pf_grow(filter->arena.allocator, &ranges->items, &ranges->capacity, ranges->count + 1, sizeof(*ranges->items)))
        return PERFILE_ERROR_MEMORY;
    size_t at = ranges->count++;
    for (; at > 0 && ranges->items[at - 1].first > first; at--)
        ranges->items[at] = ranges->items[at - 1];
    ranges->items[at] = (struct pf_range){first, last};
    return 0;
}

bool pf_ranges_hold(const struct pf_ranges *ranges, uint64_t value)
{
    for (size_t i = 0; i < ranges->count && ranges->items[i].first <= value; i++)
        if (value <= ranges->items[i].last)
            return true;
    return false;
}

/* Digits at the start of a piece; they are taken off. False without digits, or above `max`. */
static bool take_number(struct piece *piece, uint64_t max, uint64_t *number)
{
    const char *start = piece->text;
    *number = 0;
    for (; piece->bytes && *piece->text >= '0' && *piece->text <= '9'; piece->text++, piece->bytes--) {
        *number = *number * 10 + (uint64_t)(*piece->text - '0');
        if (*number > max)
            return false;
    }
    return piece->text > start;
}

static bool take_char(struct piece *piece, char c)
{
    if (!piece->bytes || *piece->text != c)
        return false;
    piece->text++;
    piece->bytes--;
    return true;
}

/* "0-3,7"; without `spans` only "1,2". */
static int parse_numbers(struct pf_filter *filter, struct pf_ranges *ranges, const char *list, bool spans,
                         struct perfile_error *error)
{
    const char *what = spans ? "CPU list" : "process list";
    struct piece piece;
    while (next_piece(&list, ",", &piece)) {
        struct piece rest = piece;
        uint64_t first, last;
        if (!take_number(&rest, INT32_MAX, &first))
            return refuse(error, what, piece, "is not a number");
        last = first;
        if (spans && take_char(&rest, '-') && !take_number(&rest, INT32_MAX, &last))
            return refuse(error, what, piece, "has no number after the '-'");
        if (rest.bytes)
            return refuse(error, what, piece, spans ? "is neither a number nor FIRST-LAST" : "is not a number");
        if (last < first)
            return refuse(error, what, piece, "ends before it begins");
        if (add_range(filter, ranges, first, last) < 0)
            return pf_fail_memory(error, what);
    }
    return 0;
}

/* ---- times ------------------------------------------------------------------------------------------------------- */

/* ".5" in ns, or nothing; up to 9 digits after the point. */
static uint64_t take_fraction(struct piece *piece)
{
    uint64_t ns = 0, unit = 1000000000;
    if (take_char(piece, '.'))
        for (; piece->bytes && *piece->text >= '0' && *piece->text <= '9' && unit > 1; piece->text++, piece->bytes--)
            ns += (unit /= 10) * (uint64_t)(*piece->text - '0');
    return ns;
}

/* "12.5" or ".5" seconds in ns; up to 9 digits after the point. */
static bool take_seconds(struct piece *piece, uint64_t *ns)
{
    uint64_t seconds = 0;
    const bool below_one = piece->bytes > 1 && piece->text[0] == '.' && piece->text[1] >= '0' && piece->text[1] <= '9';
    if (!below_one && !take_number(piece, UINT64_MAX / 1000000000 - 1, &seconds))
        return false;
    *ns = seconds * 1000000000 + take_fraction(piece);
    return true;
}

static int fail_span(struct perfile_error *error, const char *what)
{
    return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, "time range",
                   "%s need the times of the first and last sample: the header does not state them (feature "
                   "SAMPLE_TIME), and they "
                   "cannot be read ahead, for it is a stream or its samples have no times",
                   what);
}

/* "12.5", or "+12.5" counted from the first sample; nothing leaves *ns as it is. False: "+" without a span. */
static bool take_bound(struct piece *piece, const struct pf_range *span, uint64_t *ns)
{
    const bool relative = take_char(piece, '+');
    if (relative && !span)
        return false;
    if (take_seconds(piece, ns) && relative)
        *ns = *ns > UINT64_MAX - span->first ? UINT64_MAX : *ns + span->first;
    return true;
}

/* "START,STOP": either may be empty. */
static int parse_time_range(struct pf_filter *filter, struct piece piece, const struct pf_range *span,
                            struct perfile_error *error)
{
    struct piece rest = piece;
    uint64_t first = 0, last = UINT64_MAX;
    if (!take_bound(&rest, span, &first))
        return fail_span(error, "relative times");
    if (!take_char(&rest, ','))
        return refuse(error, "time range", piece, "is not START,STOP in seconds");
    if (!take_bound(&rest, span, &last))
        return fail_span(error, "relative times");
    if (rest.bytes)
        return refuse(error, "time range", piece, "is not START,STOP in seconds with up to 9 decimals");
    if (last < first)
        return refuse(error, "time range", piece, "ends before it begins");
    return add_range(filter, &filter->times, first, last) < 0 ? pf_fail_memory(error, "time range") : 0;
}

/* "12.5%": a share of all, 0 to 1. */
static bool take_percent(struct piece *piece, double *share)
{
    struct piece rest = *piece;
    uint64_t billionths;
    if (!take_seconds(&rest, &billionths) || !take_char(&rest, '%') || billionths > UINT64_C(100000000000))
        return false;
    *share = (double)billionths / 1e11;
    *piece = rest;
    return true;
}

/* "10%-20%", "30%/2" (the second 30 %), or "30%" (the first). */
static bool take_share(struct piece piece, double *from, double *to)
{
    uint64_t which;
    if (!take_percent(&piece, to))
        return false;
    *from = 0;
    if (take_char(&piece, '-')) {
        *from = *to;
        return take_percent(&piece, to) && !piece.bytes && *from <= *to;
    }
    if (take_char(&piece, '/')) {
        if (!take_number(&piece, 100000, &which) || !which || *to * (double)(which - 1) >= 1)
            return false;
        *from = *to * (double)(which - 1);
        *to = *to * (double)which < 1 ? *to * (double)which : 1;
    }
    return !piece.bytes;
}

static int parse_percents(struct pf_filter *filter, const char *list, const struct pf_range *span,
                          struct perfile_error *error)
{
    struct piece piece;
    if (!span)
        return fail_span(error, "percentages");
    while (next_piece(&list, ",", &piece)) {
        double from, to, total = (double)(span->last - span->first);
        if (!take_share(piece, &from, &to))
            return refuse(error, "time range", piece, "is not a percentage range such as 10%-20% or 10%/2");
        uint64_t first = span->first + (uint64_t)(from * total + 0.5);
        uint64_t last = to >= 1 ? span->last : span->first + (uint64_t)(to * total + 0.5);
        if (last > first && last != span->last)
            last--; /* where the next share begins */
        if (add_range(filter, &filter->times, first, last) < 0)
            return pf_fail_memory(error, "time range");
    }
    return 0;
}

/* A number between two others, and what stands before it. */
static bool take_part(struct piece *piece, char before, int min, int max, int *part)
{
    uint64_t number;
    if ((before && !take_char(piece, before)) || !take_number(piece, (uint64_t)max, &number) || number < (uint64_t)min)
        return false;
    *part = (int)number;
    return true;
}

/* "2026-11-28 03:43:05.25" in the local time zone, as the field tod is printed, or with a T: ns since 1970. */
static bool take_date(struct piece *piece, uint64_t *ns)
{
    struct tm tm = {.tm_isdst = -1};
    if (!take_part(piece, 0, 1970, 2500, &tm.tm_year) || !take_part(piece, '-', 1, 12, &tm.tm_mon) ||
        !take_part(piece, '-', 1, 31, &tm.tm_mday) ||
        !take_part(piece, piece->bytes && *piece->text == 'T' ? 'T' : ' ', 0, 23, &tm.tm_hour) ||
        !take_part(piece, ':', 0, 59, &tm.tm_min) || !take_part(piece, ':', 0, 59, &tm.tm_sec))
        return false;
    const int day = tm.tm_mday;
    tm.tm_year -= 1900;
    tm.tm_mon--;
    const time_t seconds = mktime(&tm);
    *ns = (uint64_t)seconds * 1000000000 + take_fraction(piece);
    return seconds >= 0 && tm.tm_mday == day; /* not the 31st of a month of 30 days */
}

/* What the clock of the records showed then; what is before its start, or after its end, is that. */
static uint64_t recorded_time(const struct pf_clock *clock, uint64_t wall_ns)
{
    if (wall_ns < clock->wall_ns)
        return clock->recorded_ns - pf_min(clock->recorded_ns, clock->wall_ns - wall_ns);
    const uint64_t later = wall_ns - clock->wall_ns;
    return later > UINT64_MAX - clock->recorded_ns ? UINT64_MAX : clock->recorded_ns + later;
}

/* A date, or nothing, which leaves *ns as it is. */
static bool take_date_bound(struct piece *piece, const struct pf_clock *clock, uint64_t *ns)
{
    uint64_t wall_ns;
    if (!piece->bytes || *piece->text == ',' || *piece->text == ' ')
        return true;
    if (!take_date(piece, &wall_ns))
        return false;
    *ns = recorded_time(clock, wall_ns);
    return true;
}

/* "START,STOP START,STOP": dates have spaces, too. */
static int parse_dates(struct pf_filter *filter, const char *list, const struct pf_clock *clock,
                       struct perfile_error *error)
{
    const struct piece all = {list, strlen(list)};
    struct piece rest = all;
    if (!clock || !clock->known)
        return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, "time range",
                       "dates need the feature CLOCK_DATA, which recordings have whose clock was chosen; a stream "
                       "states it too late");
    do {
        uint64_t first = 0, last = UINT64_MAX;
        if (!take_date_bound(&rest, clock, &first) || !take_char(&rest, ',') || !take_date_bound(&rest, clock, &last) ||
            (rest.bytes && *rest.text != ' '))
            return refuse(error, "time range", all, "is not START,STOP, each as 2026-11-28 03:43:05.25 or empty");
        if (last < first)
            return refuse(error, "time range", all, "ends before it begins");
        if (add_range(filter, &filter->times, first, last) < 0)
            return pf_fail_memory(error, "time range");
    } while (take_char(&rest, ' '));
    return 0;
}

/* Nothing else has a colon. */
static bool has_dates(const struct perfile_filter *wanted)
{
    return wanted->time && strchr(wanted->time, ':');
}

static int parse_times(struct pf_filter *filter, const char *list, const struct pf_range *span,
                       struct perfile_error *error)
{
    struct piece piece;
    int result = 0;
    if (strchr(list, '%'))
        return parse_percents(filter, list, span, error);
    while (result == 0 && next_piece(&list, " ", &piece))
        if (piece.bytes || !list)
            result = parse_time_range(filter, piece, span, error);
    return result;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static bool is_open(const struct piece *piece)
{
    bool open = false;
    for (size_t i = 0; i < piece->bytes; i++)
        open ^= piece->text[i] == '/';
    return open;
}

/* Commas between slashes are of the name: cpu/mem-loads,ldlat=30/P. */
static bool next_name(const char **rest, struct piece *piece)
{
    if (!next_piece(rest, ",", piece))
        return false;
    struct piece total = *piece, more;
    const char *after = *rest;
    while (is_open(&total) && next_piece(&after, ",", &more))
        total.bytes = (size_t)(more.text + more.bytes - total.text);
    if (is_open(&total))
        return true;
    *piece = total;
    *rest = after;
    return true;
}

static int parse_events(struct pf_filter *filter, const char *list, struct perfile_error *error)
{
    struct pf_names *names = &filter->events;
    struct piece piece;
    while (next_name(&list, &piece)) {
        if (!piece.bytes)
            continue;
        char *name = pf_arena_text(&filter->arena, piece.text, piece.bytes);
        if (!name ||
            !pf_grow(filter->arena.allocator, &names->items, &names->capacity, names->count + 1, sizeof(*names->items)))
            return pf_fail_memory(error, "filter");
        names->items[names->count++] = name;
    }
    if (!names->count)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "filter", "a list is empty");
    names->unmatched = names->count;
    names->matched = pf_arena_new(&filter->arena, names->count * sizeof(*names->matched));
    return names->matched ? 0 : pf_fail_memory(error, "filter");
}

/* "cycles:u" and "cycles/period=1/" go by "cycles" too; "sched:sched_switch" does not go by "sched". */
static bool is_event(const char *wanted, const struct perfile_event *event)
{
    const size_t bytes = strlen(wanted);
    return strcmp(wanted, event->name) == 0 ||
           ((bytes == pf_event_name_bytes(event->name) || bytes == pf_event_name_bare_bytes(event->name)) &&
            memcmp(wanted, event->name, bytes) == 0);
}

bool pf_filter_event(const struct pf_filter *filter, const struct perfile_event *event)
{
    bool found = !filter->has_events;
    for (size_t i = 0; i < filter->events.count && !found; i++)
        found = is_event(filter->events.items[i], event);
    return found;
}

/* ---- all together ------------------------------------------------------------------------------------------------ */

static int parse(struct pf_filter *filter, const struct perfile_filter *wanted, const struct pf_range *span,
                 const struct pf_clock *clock, struct perfile_error *error)
{
    int result = 0;
    if (has_dates(wanted))
        result = parse_dates(filter, wanted->time, clock, error);
    else if (filter->has_times)
        result = parse_times(filter, wanted->time, span, error);
    if (result == 0 && filter->has_cpus)
        result = parse_numbers(filter, &filter->cpus, wanted->cpus, true, error);
    if (result == 0 && filter->has_pids)
        result = parse_numbers(filter, &filter->pids, wanted->pids, false, error);
    if (result == 0 && filter->has_tids)
        result = parse_numbers(filter, &filter->tids, wanted->tids, false, error);
    if (result == 0 && filter->has_comms)
        result = pf_names_filter_open(&filter->comms, wanted->comms, false, filter->arena.allocator, error);
    if (result == 0 && filter->has_events)
        result = parse_events(filter, wanted->events, error);
    return result;
}

bool pf_filter_needs_span(const struct perfile_filter *wanted)
{
    return wanted->time && strpbrk(wanted->time, "%+");
}

#define PART(bit, name, has)                                                                                           \
    {                                                                                                                  \
        bit, #name, offsetof(struct perfile_filter, name), offsetof(struct pf_filter, has)                             \
    }
const struct pf_filter_part pf_filter_parts[PF_FILTER_PARTS] = {
    PART(PF_FILTER_TIMES, time, has_times),  PART(PF_FILTER_CPUS, cpus, has_cpus),
    PART(PF_FILTER_PIDS, pids, has_pids),    PART(PF_FILTER_TIDS, tids, has_tids),
    PART(PF_FILTER_COMMS, comms, has_comms), PART(PF_FILTER_EVENTS, events, has_events),
};

int pf_filter_open(struct pf_filter *filter, const struct perfile_filter *wanted, const struct pf_range *span,
                   const struct perfile_allocator *allocator, struct perfile_error *error)
{
    return pf_filter_open_dated(filter, wanted, span, NULL, allocator, error);
}

int pf_filter_open_dated(struct pf_filter *filter, const struct perfile_filter *wanted, const struct pf_range *span,
                         const struct pf_clock *clock, const struct perfile_allocator *allocator,
                         struct perfile_error *error)
{
    *filter = (struct pf_filter){.wanted = *wanted};
    if (wanted->switch_on || wanted->switch_off)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "filter",
                       "events cannot switch what is not made of all samples in the order of time");
    for (size_t i = 0; i < PF_FILTER_PARTS; i++) {
        if (!pf_filter_text(wanted, &pf_filter_parts[i]))
            continue;
        *(bool *)((char *)filter + pf_filter_parts[i].has) = true;
        filter->unmatched |= pf_filter_parts[i].bit;
        filter->asked++;
    }
    filter->active = filter->asked;
    pf_arena_open(&filter->arena, pf_allocator_or_default(allocator));
    return parse(filter, wanted, span, clock, error);
}

static void close_ranges(struct pf_filter *filter, struct pf_ranges *ranges)
{
    pf_free(filter->arena.allocator, ranges->items, ranges->capacity * sizeof(*ranges->items));
}

void pf_filter_close(struct pf_filter *filter)
{
    if (!filter->arena.allocator) /* never opened */
        return;
    close_ranges(filter, &filter->times);
    close_ranges(filter, &filter->cpus);
    close_ranges(filter, &filter->pids);
    close_ranges(filter, &filter->tids);
    pf_free(filter->arena.allocator, filter->events.items, filter->events.capacity * sizeof(*filter->events.items));
    pf_names_filter_close(&filter->comms);
    pf_arena_close(&filter->arena);
}

static bool comm_passes(struct pf_filter *filter, const char *comm)
{
    return !filter->has_comms || !comm || pf_names_filter_matches(&filter->comms, comm);
}

static bool event_passes(struct pf_filter *filter, const struct perfile_event *event)
{
    if (!filter->has_events)
        return true;
    if (filter->event != event) {
        filter->event = event;
        filter->event_passes = pf_filter_event(filter, event);
    }
    return filter->event_passes;
}

static void count_silent(struct pf_filter *filter, const struct pf_filter_subject *subject)
{
    const bool none = (filter->has_pids && subject->pid == PF_NO_NUMBER) ||
                      (filter->has_tids && subject->tid == PF_NO_NUMBER) || (filter->has_comms && !subject->comm);
    filter->silent[PF_FILTER_TIME] += filter->has_times && subject->time == PF_NO_TIME;
    filter->silent[PF_FILTER_CPU] += filter->has_cpus && subject->cpu == PF_NO_NUMBER;
    filter->silent[PF_FILTER_THREAD] += none;
}

bool pf_filter_passes(struct pf_filter *filter, const struct pf_filter_subject *subject)
{
    if (PF_UNLIKELY(filter->unmatched))
        pf_filter_note(filter, subject);
    const bool passes = pf_filter_time(filter, subject->time) && pf_filter_cpu(filter, subject->cpu) &&
                        pf_filter_number(filter->has_pids, &filter->pids, subject->pid) &&
                        pf_filter_number(filter->has_tids, &filter->tids, subject->tid) &&
                        comm_passes(filter, subject->comm) && event_passes(filter, subject->event);
    filter->passed |= passes;
    if (passes)
        count_silent(filter, subject);
    return passes;
}

void pf_filter_notify(const struct pf_filter *filter, pf_on_note *notify, void *context)
{
    static const char *const sentences[PF_FILTER_KINDS] = {
        [PF_FILTER_TIME] = "a time, which the filter by time keeps",
        [PF_FILTER_CPU] = "a CPU, which the filter by CPU keeps",
        [PF_FILTER_THREAD] = "a process and thread, which the filters by these keep",
        [PF_FILTER_CGROUP] = "a control group, which the filter by control group keeps",
    };
    char text[128];
    for (size_t i = 0; i < PF_FILTER_KINDS && notify; i++) {
        if (!filter->silent[i])
            continue;
        snprintf(text, sizeof(text), "samples without %s: %" PRIu64, sentences[i], filter->silent[i]);
        notify(context, text);
    }
}

/* ---- many samples at once ---------------------------------------------------------------------------------------- */

static bool may_hold(const struct pf_filter_block *block, int part, const struct pf_ranges *ranges)
{
    enum { MAX_NUMBERS = 64 }; /* so many processors are distinguished */
    for (size_t i = 0; i < ranges->count; i++) {
        const struct pf_range *range = &ranges->items[i];
        const uint64_t count = pf_min(range->last - range->first, MAX_NUMBERS - 1) + 1;
        for (uint64_t n = 0; n < count; n++)
            if (block->may_have(block->block, part, range->first + n))
                return true;
    }
    return false;
}

static bool may_be_of_events(const struct pf_filter *filter, const struct pf_filter_block *block)
{
    const struct perfile_event *event;
    for (size_t i = 0; (event = block->event_at(block->reader, i)) != NULL; i++)
        if (block->may_have(block->block, PERFILE_BLOCK_EVENT, i) && pf_filter_event(filter, event))
            return true;
    return false;
}

static bool touches_times(const struct pf_filter *filter, const struct pf_filter_block *block, bool *inside)
{
    uint64_t first, last;
    bool touches = false;
    block->times(block->block, &first, &last);
    *inside = false;
    for (size_t i = 0; i < filter->times.count; i++) {
        const struct pf_range *range = &filter->times.items[i];
        touches |= range->first <= last && first <= range->last;
        *inside |= range->first <= first && last <= range->last;
    }
    return touches;
}

/* Which of the parts that are asked for some sample may match; of names of threads a block says nothing. */
static unsigned may_match(const struct pf_filter *filter, const struct pf_filter_block *block, bool *inside)
{
    unsigned may = filter->has_comms ? PF_FILTER_COMMS : 0;
    *inside = true;
    if (filter->has_times && touches_times(filter, block, inside))
        may |= PF_FILTER_TIMES;
    if (filter->has_cpus && may_hold(block, PERFILE_BLOCK_CPU, &filter->cpus))
        may |= PF_FILTER_CPUS;
    if (filter->has_pids && may_hold(block, PERFILE_BLOCK_PID, &filter->pids))
        may |= PF_FILTER_PIDS;
    if (filter->has_tids && may_hold(block, PERFILE_BLOCK_TID, &filter->tids))
        may |= PF_FILTER_TIDS;
    if (filter->has_events && may_be_of_events(filter, block))
        may |= PF_FILTER_EVENTS;
    return may;
}

static unsigned parts_asked(const struct pf_filter *filter)
{
    unsigned asked = 0;
    for (size_t i = 0; i < PF_FILTER_PARTS; i++)
        asked |= pf_filter_text(&filter->wanted, &pf_filter_parts[i]) ? pf_filter_parts[i].bit : 0;
    return asked;
}

bool pf_filter_leaves_out(struct pf_filter *filter, const struct pf_filter_block *block, bool by_time_first)
{
    bool inside;
    const unsigned may = may_match(filter, block, &inside);
    if (may == parts_asked(filter))
        return false;
    if (by_time_first && filter->has_times && !(may & PF_FILTER_TIMES)) {
        filter->timed_out = true;
        return true;
    }
    /* the samples are needed to find out what matches, or which samples were checked */
    if (filter->unmatched & may || (filter->unmatched && by_time_first && !inside))
        return false;
    filter->noted |= filter->unmatched != 0;
    return true;
}

/* ---- what is asked for in vain ----------------------------------------------------------------------------------- */

static void note_comm(struct pf_filter *filter, const char *comm)
{
    pf_names_filter_note(&filter->comms, comm);
    if (!filter->comms.wanted.unmatched)
        filter->unmatched &= ~(unsigned)PF_FILTER_COMMS;
}

static void note_event(struct pf_filter *filter, const struct perfile_event *event)
{
    struct pf_names *events = &filter->events;
    for (size_t i = 0; i < events->count; i++)
        if (!events->matched[i] && is_event(events->items[i], event)) {
            events->matched[i] = true;
            events->unmatched--;
        }
    if (!events->unmatched)
        filter->unmatched &= ~(unsigned)PF_FILTER_EVENTS;
}

void pf_filter_note(struct pf_filter *filter, const struct pf_filter_subject *subject)
{
    const unsigned unmatched = filter->unmatched;
    filter->noted = true;
    if (unmatched & PF_FILTER_TIMES && pf_filter_time(filter, subject->time))
        filter->unmatched &= ~(unsigned)PF_FILTER_TIMES;
    if (unmatched & PF_FILTER_CPUS && pf_filter_cpu(filter, subject->cpu))
        filter->unmatched &= ~(unsigned)PF_FILTER_CPUS;
    if (unmatched & PF_FILTER_PIDS && pf_filter_number(true, &filter->pids, subject->pid))
        filter->unmatched &= ~(unsigned)PF_FILTER_PIDS;
    if (unmatched & PF_FILTER_TIDS && pf_filter_number(true, &filter->tids, subject->tid))
        filter->unmatched &= ~(unsigned)PF_FILTER_TIDS;
    if (unmatched & PF_FILTER_COMMS && subject->comm)
        note_comm(filter, subject->comm);
    if (unmatched & PF_FILTER_EVENTS && subject->event)
        note_event(filter, subject->event);
}

/* Reports events that no sample matched; the array of the recording's event names is only made for this call. */
static void report_events(const struct pf_filter *filter, const struct perfile_reader *reader, pf_event_at *event_at,
                          perfile_on_unmatched *notify, void *context)
{
    const struct perfile_allocator *allocator = filter->arena.allocator;
    const struct perfile_event *event;
    struct pf_names known = {.count = 0};
    for (size_t i = 0; event_at && (event = event_at(reader, i)) != NULL; i++)
        if (pf_grow(allocator, &known.items, &known.capacity, known.count + 1, sizeof(*known.items)))
            known.items[known.count++] = event->name;
    pf_names_notify_unmatched(&filter->events, &known, "events", notify, context);
    pf_free(allocator, known.items, known.capacity * sizeof(*known.items));
}

/* A filter of one part that was matched has let something pass, whether it was asked by pf_filter_passes or not. */
static bool has_several(const struct pf_filter *filter)
{
    return filter->asked > 1;
}

void pf_filter_notify_unmatched(const struct pf_filter *filter, const struct perfile_reader *reader,
                                pf_event_at *event_at, perfile_on_unmatched *notify, void *context)
{
    const unsigned numbers = filter->unmatched & ~(unsigned)(PF_FILTER_COMMS | PF_FILTER_EVENTS);
    if (!notify || !(filter->noted || filter->timed_out))
        return;
    for (size_t i = 0; i < PF_FILTER_PARTS; i++) {
        const struct pf_filter_part *part = &pf_filter_parts[i];
        if (numbers & part->bit && (filter->noted || part->bit == PF_FILTER_TIMES))
            notify(context, &(struct perfile_unmatched){.filter = part->name,
                                                        .value = pf_filter_text(&filter->wanted, part),
                                                        .blocks_all = true});
    }
    if (!filter->noted)
        return;
    if (filter->unmatched & PF_FILTER_COMMS)
        pf_names_notify_unmatched(&filter->comms.wanted, &filter->comms.known, "comms", notify, context);
    if (filter->unmatched & PF_FILTER_EVENTS)
        report_events(filter, reader, event_at, notify, context);
    if (!filter->unmatched && !filter->passed && has_several(filter))
        notify(context, &(struct perfile_unmatched){.blocks_all = true});
}

int pf_filter_check_events(const struct pf_filter *filter, const struct perfile_reader *reader, pf_event_at *event_at,
                           struct perfile_error *error)
{
    char known[160] = "";
    size_t used = 0;
    const struct perfile_event *event;
    for (size_t i = 0; (event = event_at(reader, i)) != NULL; i++) {
        if (pf_filter_event(filter, event))
            return 0;
        const size_t bytes = strlen(event->name);
        if (used + bytes + 3 > sizeof(known))
            continue;
        known[used] = ' ';
        memcpy(known + used + 1, event->name, bytes + 1);
        used += bytes + 1;
    }
    return pf_about(error, filter->wanted.events, strlen(filter->wanted.events),
                    pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "event list",
                            used ? "unknown event \"%.40s\"; valid:%s" : "unknown event \"%.40s\"%s",
                            filter->wanted.events, known));
}
