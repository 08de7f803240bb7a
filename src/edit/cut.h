/* SPDX-License-Identifier: MIT */
/*
 * Cutting and splitting: what is shared by the passes over a recording.
 *
 *   survey   what must be known before a sample can be judged: names, cgroups, the time of the first and last sample
 *   count    which samples are kept: the parts, the processes of each part, how many samples an event has
 *   write    everything to its parts
 *
 * Only the last pass is always needed; streams that cannot be read twice have it alone.
 */
#ifndef PF_EDIT_CUT_H
#define PF_EDIT_CUT_H

#include "base/filter.h"
#include "base/pairs.h"
#include "edit/cut_trace.h"
#include "model/history.h"
#include "model/threads.h"

/* ---- cut_names.c: the name of a thread at any time ---- */

struct pf_name_change {
    int32_t tid;
    uint32_t sequence; /* of equal changes the later one counts */
    uint64_t at;       /* when the name begins */
    const char *name;
};

struct pf_name_line {
    const struct perfile_allocator *allocator;
    struct pf_threads threads;
    struct pf_threads nameless;     /* threads without a name have their number as name */
    struct pf_name_change *changes; /* sorted by thread and time once all are known */
    size_t count, capacity;
    uint64_t now;     /* while the changes are noted */
    uint64_t records; /* the number of records in this pass, which replaces the time where records have none */
};

void pf_name_line_open(struct pf_name_line *line, const struct perfile_allocator *allocator);
void pf_name_line_close(struct pf_name_line *line);
/* Notes what a record says about names; records come in the order of time. False when out of memory. */
bool pf_name_line_follow(struct pf_name_line *line, const struct perfile_reader *reader,
                         const struct perfile_record *record);
void pf_name_line_sort(struct pf_name_line *line);
/* Begins a pass; each of its records must be passed to _step. */
void pf_name_line_rewind(struct pf_name_line *line);
uint64_t pf_name_line_step(struct pf_name_line *line, const struct perfile_reader *reader,
                           const struct perfile_record *record);
/* Returns the name at the moment that _step returned. Equal names have equal pointers. */
const char *pf_name_line_at(struct pf_name_line *line, int32_t tid, uint64_t moment);

/* ---- parts ---- */

struct pf_cut_part {
    struct perfile_split_part public; /* first: the public pointer is this one */
    uint64_t key;
    uint64_t until;                 /* splits by time and size: the end of the moments that belong to it */
    uint64_t first_time, last_time; /* of its samples; UINT64_MAX and 0: none */
};

/* States that the part has samples of this process, or of a child of it. */
struct pf_cut_link {
    int32_t pid;
    uint32_t part;
};

struct pf_cut_fork {
    int32_t child, parent;
};

/* A note that is waiting; notes are handled by time and then by number. */
struct pf_cut_note {
    struct pf_life_note note;
    uint64_t number;
};

/* Thinning of one event: samples that are kept stand for those that are left out. */
struct pf_cut_thinning {
    uint64_t total; /* samples that pass the filter */
    uint64_t wanted;
    uint64_t seen;
    uint64_t kept;
    uint64_t period; /* of those that were left out since the last sample that was kept */
};

/* Parts that a record goes to: `count` numbers from `first` on, or `count` links. */
struct pf_cut_target {
    size_t first, count;
    const struct pf_cut_link *links; /* or NULL */
};

/* The first pass, and what it finds: what a sample is judged by. */
struct pf_cut_survey {
    struct pf_names cgroups;
    struct pf_map cgroup_passes;         /* id to 0 or 1 */
    bool cgroups_asked, cgroups_matched; /* of any sample */
    struct pf_range span;                /* of all samples; last 0: not known */
    bool line_known;
    struct pf_name_line line;
};

/* The second pass, and what it finds: which samples are kept, and what belongs to them. */
struct pf_cut_count {
    const struct perfile_allocator *allocator;
    bool done;
    struct pf_arena arena;
    struct pf_cut_part *parts;
    size_t part_count, part_capacity;
    struct pf_map part_of;     /* key to part */
    struct pf_cut_link *links; /* sorted by pid once all are known */
    size_t link_count, link_capacity;
    struct pf_pairs linked;
    struct pf_map process_bytes;  /* by pid: the bytes of the records that go to all its parts */
    uint64_t shared_bytes;        /* of the records that go to all parts */
    struct pf_cut_link last_link; /* the last one that was looked up in `linked` */
    struct pf_cut_fork *forks;
    size_t fork_count, fork_capacity;
    struct pf_pairs forked;
    bool has_cookies;                  /* callchains come later */
    struct pf_map cookies;             /* of deferred callchains to the part plus 1; 0: several */
    struct pf_cut_thinning *thinnings; /* of each event */
    size_t thinning_count, thinning_capacity;
};

/* With drops_ended, of the second pass: the threads that live at the first time that passes. */
struct pf_cut_living {
    const struct perfile_allocator *allocator;
    struct pf_lifetimes lifetimes; /* up to then */
    struct pf_cut_note *notes;     /* that are not in `lifetimes` yet */
    size_t note_count, note_capacity;
    uint64_t notes_made;
    uint64_t seen_time, round_time; /* the last one in the data, and up to the round before */
    struct pf_history history;      /* what an index says of it, or nothing */
    struct pf_map sampled;          /* tids of samples that pass */
    int32_t last_sampled;           /* the last one that was put into `sampled`; 0: none */
    struct pf_map named;            /* tids that live or have samples, and those that they have their names from */
};

struct pf_cut {
    struct perfile_reader *reader;
    const struct perfile_allocator *allocator;
    /* what is asked for */
    struct perfile_cut_options options;
    struct perfile_filter wanted; /* that of the options, or one that wants all */
    struct perfile_split_options split;
    struct perfile_edit_options caller_options; /* the caller's */
    /* what follows from that */
    bool splits;
    bool thins;       /* `every` or `samples` */
    bool prunes;      /* records of processes without samples go; needs the second pass */
    bool drops_ended; /* records of processes that ended before the first time that passes go; with prunes */
    bool keeps_all;
    bool bounds_copies; /* what goes to several parts must not be too much */
    bool by_time;       /* records come in the order of time, not of the file */
    struct pf_filter filter;
    uint64_t first_time, last_time; /* that pass; UINT64_MAX: times are not filtered */
    /* the passes */
    struct pf_cut_survey survey;
    struct pf_cut_count count;
    struct pf_cut_living living;
    struct pf_cut_trace trace;                /* all zeros: of hardware traces all is kept */
    struct perfile_edit_options edit_options; /* with the progress over all passes */
    uint32_t pass, pass_count;
    uint64_t bytes;               /* of samples in this pass, for splits by size */
    uint64_t moment;              /* of this record, for names */
    uint64_t passed_over;         /* records of the last pass that were not read, for they are not kept, */
    uint64_t samples_passed_over; /* and samples among them */
};

/* Each closes what is all zeros, too. cut_survey.c, cut_lifetimes.c */
void pf_cut_survey_open(struct pf_cut_survey *survey, const struct perfile_allocator *allocator);
void pf_cut_survey_close(struct pf_cut_survey *survey);
void pf_cut_count_open(struct pf_cut_count *count, const struct perfile_allocator *allocator);
void pf_cut_count_close(struct pf_cut_count *count);
void pf_cut_living_open(struct pf_cut_living *living, const struct perfile_allocator *allocator);
void pf_cut_living_close(struct pf_cut_living *living);

/* The key of samples that do not say. */
#define PF_CUT_NO_KEY UINT64_MAX

/* ---- cut_select.c: where a record is written ---- */

/* Reads the thread from its fixed position in a sample; false: the sample does not state it. */
bool pf_cut_thread(const struct perfile_record *record, int32_t *pid, int32_t *tid);
/* Prepares the filters; ABSENT when the span is needed and not known. */
int pf_cut_open_cgroups(struct pf_cut *cut, struct perfile_error *error);
int pf_cut_select_open(struct pf_cut *cut, struct perfile_error *error);
/* Lets a pass end after the last time that passes. */
void pf_cut_end_early(const struct pf_cut *cut, struct pf_edit *edit);
/* Lets a pass skip what is not kept, where an index has its position; then `passed_over` is called with the cut. */
void pf_cut_pass_over(struct pf_cut *cut, struct pf_edit *edit,
                      void (*passed_over)(void *context, uint64_t records, uint64_t samples));
/* Begins a pass. */
void pf_cut_select_rewind(struct pf_cut *cut);
/* Returns whether the sample passes the filters. */
bool pf_cut_passes(struct pf_cut *cut, struct pf_item *item);
/* Returns the key of the part of a sample that passes the filters. */
uint64_t pf_cut_key(struct pf_cut *cut, const struct perfile_record *record, const char **name);
/* Finds the part of a key. False: there was no such sample when they were counted. */
bool pf_cut_part_of(const struct pf_cut *cut, uint64_t key, uint64_t *part);
/*
 * Returns whether a sample that passes is kept, and others are left out for it; its period is changed then. *unscaled:
 * it has no period.
 */
bool pf_cut_thin(struct pf_cut *cut, struct pf_item *item, bool *unscaled);
/* Returns where a record that is not a sample belongs; count 0: nowhere. */
struct pf_cut_target pf_cut_target(struct pf_cut *cut, struct pf_item *item);
/* What of the target is among the `count` parts from `first` on. */
struct pf_cut_target pf_cut_clip(const struct pf_cut *cut, struct pf_cut_target target, size_t first, size_t count);
bool pf_cut_cgroup_add(struct pf_cut *cut, const struct perfile_cgroup *cgroup);
/* Finds the processes that the record is about. False: it is not about a process. */
bool pf_cut_process_of(struct pf_item *item, int32_t pids[2]);
/* A recording that is split by process, thread, name or processor: each part has the records of its processes alone. */
static inline bool pf_cut_splits_processes(const struct pf_cut *cut)
{
    return cut->splits && cut->split.by != PERFILE_SPLIT_TIME && cut->split.by != PERFILE_SPLIT_SIZE &&
           cut->split.by != PERFILE_SPLIT_EVENT;
}
/* The cookie of a sample's callchain that comes later. */
bool pf_cut_cookie(struct pf_item *item, uint64_t *cookie);

/* ---- cut_lifetimes.c: related processes, and those that live at the first time that passes ---- */

bool pf_cut_add_fork(struct pf_cut *cut, const struct perfile_record *record, const struct perfile_fork *fork);
/* Links the parents of each process with a link, since it needs their maps. */
bool pf_cut_link_parents(struct pf_cut *cut);
/* Returns whether samples of all events have times; all events are known by now. */
bool pf_cut_have_times(const struct pf_cut *cut);
/* Notes a record of a process, with drops_ended. */
bool pf_cut_note_process(struct pf_cut *cut, const struct pf_item *item, const int32_t pids[2]);
/* Called for each record, with drops_ended: handles the notes that no record can come before any more. */
bool pf_cut_note_round(struct pf_cut *cut, const struct perfile_record *record);
bool pf_cut_link_living(struct pf_cut *cut);
/* Notes, with drops_ended, that a sample of this thread passes, which may have ended just before. */
bool pf_cut_note_thread(struct pf_cut *cut, int32_t pid, int32_t tid);
/*
 * When all is counted, with drops_ended: returns whether the record belongs to a process that ended, or to a thread
 * whose name no thread has.
 */
bool pf_cut_is_over(const struct pf_cut *cut, const struct pf_item *item);

/* ---- cut_survey.c: the passes before the last ---- */

/* Names, cgroups, span. */
int pf_cut_survey(struct pf_cut *cut, struct perfile_error *error);
bool pf_cut_add_link(struct pf_cut_count *count, int32_t pid, uint64_t part);
/* Parts, links, cookies, counts for thinning. */
int pf_cut_count(struct pf_cut *cut, struct perfile_error *error);

#endif
