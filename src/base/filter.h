/* SPDX-License-Identifier: MIT */
/* struct perfile_filter, compiled: what is asked of each sample costs a few comparisons. */
#ifndef PF_BASE_FILTER_H
#define PF_BASE_FILTER_H

#include <perfile/perfile.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/names_filter.h"
#include "base/note.h"

/* Inclusive. */
struct pf_range {
    uint64_t first, last;
};

struct pf_ranges {
    struct pf_range *items; /* by ascending `first` */
    size_t count, capacity;
};

/* What samples are looked at for: those parts that none has matched so far. */
enum {
    PF_FILTER_TIMES = 1 << 0,
    PF_FILTER_CPUS = 1 << 1,
    PF_FILTER_PIDS = 1 << 2,
    PF_FILTER_TIDS = 1 << 3,
    PF_FILTER_COMMS = 1 << 4,
    PF_FILTER_EVENTS = 1 << 5,
};

/* The members of struct perfile_filter, in its order. */
struct pf_filter_part {
    unsigned bit; /* PF_FILTER_... */
    const char *name;
    size_t member; /* where it stands, a const char * ... */
    size_t has;    /* ... and in struct pf_filter, a bool */
};
enum { PF_FILTER_PARTS = 6 };
extern const struct pf_filter_part pf_filter_parts[PF_FILTER_PARTS];

/* NULL: it was not asked for. */
static inline const char *pf_filter_text(const struct perfile_filter *filter, const struct pf_filter_part *part)
{
    const char *text;
    memcpy(&text, (const char *)filter + part->member, sizeof(text));
    return text;
}

/* Properties that samples may not have. */
enum pf_filter_kind { PF_FILTER_TIME, PF_FILTER_CPU, PF_FILTER_THREAD, PF_FILTER_CGROUP, PF_FILTER_KINDS };

/* Leaves out what says something else than was asked for; samples that do not say it pass, as in perf. */
struct pf_filter {
    bool active; /* anything to test at all */
    bool has_times, has_cpus, has_pids, has_tids, has_comms, has_events;
    struct pf_ranges times, cpus, pids, tids;
    struct pf_names_filter comms;
    struct pf_names events;
    struct pf_arena arena;
    struct perfile_filter wanted;
    unsigned unmatched; /* PF_FILTER_... */
    unsigned asked;     /* how many parts were asked for */
    bool noted, passed; /* any sample */
    bool timed_out;     /* samples were left out by their time before anything else was looked at */
    /* the last answer: neighbours in a recording are alike */
    const struct perfile_event *event;
    bool event_passes;
    uint64_t silent[PF_FILTER_KINDS]; /* samples that passed because they do not say what was asked for */
};

#define PF_NO_TIME UINT64_MAX /* what a sample does not say: */
#define PF_NO_NUMBER INT32_MIN

/* What a sample says. */
struct pf_filter_subject {
    uint64_t time;
    int32_t cpu, pid, tid;
    const char *comm; /* the same pointer is the same name; NULL: it does not say whose it is */
    const struct perfile_event *event;
};

/*
 * `span` is the time of the first and the last sample, NULL when the recording does not say; only percentages and
 * relative times need it.
 * ARGUMENT (the message names the faulty part), ABSENT (they are wanted without span), MEMORY. Close it also after a
 * failure.
 */
bool pf_filter_needs_span(const struct perfile_filter *wanted);
int pf_filter_open(struct pf_filter *filter, const struct perfile_filter *wanted, const struct pf_range *span,
                   const struct perfile_allocator *allocator, struct perfile_error *error);
void pf_filter_close(struct pf_filter *filter);

bool pf_ranges_hold(const struct pf_ranges *ranges, uint64_t value);

/* Parses a duration: an integer above 0 with s, ms, us or ns, as perf's --time-quantum. ARGUMENT. */
int pf_parse_duration(const char *text, uint64_t *ns, struct perfile_error *error);

/* The first time that passes; 0 when times are not filtered. */
static inline uint64_t pf_filter_first_time(const struct pf_filter *filter)
{
    uint64_t first = filter->has_times ? UINT64_MAX : 0;
    for (size_t i = 0; i < filter->times.count; i++)
        first = pf_min(first, filter->times.items[i].first);
    return first;
}

/* The last time that passes; UINT64_MAX when times are not filtered. */
static inline uint64_t pf_filter_last_time(const struct pf_filter *filter)
{
    uint64_t last = filter->has_times ? 0 : UINT64_MAX;
    for (size_t i = 0; filter->has_times && i < filter->times.count; i++)
        last = pf_max(last, filter->times.items[i].last);
    return last;
}

/* A record's time alone; true when times are not filtered. */
static inline bool pf_filter_time(const struct pf_filter *filter, uint64_t time)
{
    return !filter->has_times || time == PF_NO_TIME || pf_ranges_hold(&filter->times, time);
}

/* One of the numbers alone. */
static inline bool pf_filter_number(bool wanted, const struct pf_ranges *ranges, int32_t number)
{
    return !wanted || number == PF_NO_NUMBER || (number >= 0 && pf_ranges_hold(ranges, (uint64_t)number));
}

/* A record's processor alone. */
static inline bool pf_filter_cpu(const struct pf_filter *filter, int32_t cpu)
{
    return pf_filter_number(filter->has_cpus, &filter->cpus, cpu);
}

/* Samples near each other, as an index describes them; the functions are those of <perfile/index.h> and perfile.h. */
typedef const struct perfile_event *pf_event_at(const struct perfile_reader *reader, size_t index);
struct perfile_block;
struct pf_filter_block {
    const struct perfile_block *block;
    void (*times)(const struct perfile_block *block, uint64_t *first, uint64_t *last);
    bool (*may_have)(const struct perfile_block *block, int part, uint64_t number);
    pf_event_at *event_at;
    const struct perfile_reader *reader;
};
/*
 * None of the samples passes, and what is known of the filter afterwards is the same as if it had been asked for each.
 * `by_time_first`: it would not be asked for those at other times.
 */
bool pf_filter_leaves_out(struct pf_filter *filter, const struct pf_filter_block *block, bool by_time_first);

/* Remembers what the sample matches, each part for itself; only while something is unmatched. */
void pf_filter_note(struct pf_filter *filter, const struct pf_filter_subject *subject);
/* Reports values that no sample matched, if any. `reader` is only passed to `event_at`; both may be NULL. */
void pf_filter_notify_unmatched(const struct pf_filter *filter, const struct perfile_reader *reader,
                                pf_event_at *event_at, perfile_on_unmatched *notify, void *context);
/* The list of events has one that the recording has; else ARGUMENT, with the names of those that there are. */
int pf_filter_check_events(const struct pf_filter *filter, const struct perfile_reader *reader, pf_event_at *event_at,
                           struct perfile_error *error);
/* Whether the sample matches every filter. Counts samples that pass because they do not have the filtered property. */
bool pf_filter_passes(struct pf_filter *filter, const struct pf_filter_subject *subject);
/* Notes how many samples passed without having a filtered property, one sentence each. `notify` may be NULL. */
void pf_filter_notify(const struct pf_filter *filter, pf_on_note *notify, void *context);
/* The event's name is in the list: as it stands, or without its modifiers; true when events are not filtered. */
bool pf_filter_event(const struct pf_filter *filter, const struct perfile_event *event);

/* ---- dates and times of day ---- */

/* One moment by two clocks. */
struct pf_clock {
    bool known;
    uint64_t wall_ns;     /* since 1970 */
    uint64_t recorded_ns; /* by the clock of the records */
};

/* What the feature CLOCK_DATA states; clock->known is false without it. Errors: MEMORY. */
static inline int pf_filter_clock(struct perfile_reader *reader, struct pf_clock *clock)
{
    *clock = (struct pf_clock){.known = false};
    int result = perfile_feature_number(reader, PERFILE_FEATURE_CLOCK_DATA, "wall_clock_ns", &clock->wall_ns, NULL);
    if (result == 0)
        result =
            perfile_feature_number(reader, PERFILE_FEATURE_CLOCK_DATA, "clockid_time_ns", &clock->recorded_ns, NULL);
    clock->known = result == 0;
    return result == PERFILE_ERROR_MEMORY ? result : 0;
}

/* pf_filter_open with what dates need. ABSENT also when there are dates and the clock is not known. */
int pf_filter_open_dated(struct pf_filter *filter, const struct perfile_filter *wanted, const struct pf_range *span,
                         const struct pf_clock *clock, const struct perfile_allocator *allocator,
                         struct perfile_error *error);

#endif
