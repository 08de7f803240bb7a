/* SPDX-License-Identifier: MIT */
/*
 * The samples of a recording, in order: decoded and filtered, each with the name of its thread and the address spaces
 * at its time. A group of counters gives a sample for each of them, a callchain whose user part comes later waits for
 * it, and samples that are synthesized from other data are delivered in order of time. All analyses read samples from
 * here.
 */
#ifndef PF_ANALYSIS_DELIVERY_H
#define PF_ANALYSIS_DELIVERY_H

#include <perfile/analysis.h>

#include "analysis/delivered.h"
#include "analysis/synthesizer.h"
#include "symbol/unwind/callchain.h"
#include "symbol/jit/jit.h"

struct pf_delivery_options {
    const struct perfile_allocator *allocator; /* NULL: malloc's */
    const struct perfile_filter *filter;       /* may be NULL */
    const struct pf_find_options *find;        /* where code of JITs is looked for; NULL: maps are not followed */
    bool follows_maps;                         /* without code of JITs */
    bool keeps_comms;                          /* threads that ended keep their names */
    bool gives_records;                        /* that are no samples, too */
    bool takes_calls;                          /* samples of perfile_filter.calls: no bytes decode to them */
    bool merges;                               /* samples of traces that differ in nothing but time may be one */
    bool with_history; /* what samples of traces say of what came before them is used, as the depth of calls */
    unsigned threads;  /* that may be used to make samples of traces; 0 is 1 */
    bool never_waits;  /* callchains whose user part comes later are given without it */
    bool reads_all;    /* also records outside of the times of the filter; without it an index
                                                  skips them, which code that keeps state of records must not miss */
    /*
     * Samples have the number of recorded threads that ran at their time, from SWITCH records, 1 to the number of
     * processors. All records are read for it, also with a filter of times.
     */
    bool counts_parallelism;
    bool reads_before; /* records before it */
    bool reads_to_end; /* names that threads have at the end */
    /*
     * False: samples of this event are not used. They are discarded early where no filter counts them, so that `watch`
     * does not see them, either. May be NULL.
     */
    bool (*wants)(void *context, const struct perfile_event *event);
    void *wants_context;
    bool (*watch)(void *context,
                  const struct perfile_record *record); /* each as it is read; false: out of memory; may be NULL */
    void *watch_context;
    const struct pf_synthesizer *synthesizers; /* beside those that the filter asks for */
    size_t synthesizer_count;
    void (*progress)(void *context, uint64_t done, uint64_t total); /* bytes; may be NULL */
    void *progress_context;
    /* Held while code of JITs is added; may be NULL. */
    void (*lock)(void *context);
    void (*unlock)(void *context);
    void *lock_context;
};

/* What the options of an output say, with the allocator of `find`. */
static inline struct pf_delivery_options pf_delivery_options_of(const struct perfile_output_options *options,
                                                                const struct pf_find_options *find)
{
    return (struct pf_delivery_options){.allocator = find->allocator,
                                        .filter = options->filter,
                                        .find = find,
                                        .progress = options->progress,
                                        .progress_context = options->progress_context};
}

struct pf_delivery;

/*
 * The times of the first and last sample from the header: `span`, or NULL when the header does not have them. The watch
 * of the allocator notes when memory is short.
 */
const struct pf_range *pf_recording_span(struct perfile_reader *reader, const struct perfile_allocator *allocator,
                                         struct pf_range *span);

/*
 * pf_filter_open with the span of the recording. If the filter needs a span that the header does not have, the
 * recording is read once for it.
 */
int pf_recording_filter(struct perfile_reader *reader, const struct perfile_filter *wanted,
                        const struct perfile_allocator *allocator, struct pf_filter *filter,
                        struct perfile_error *error);

/* The reader must be at its start and is driven by the delivery. What the options point at must outlive it. */
int pf_delivery_open(struct perfile_reader *reader, const struct pf_delivery_options *options,
                     struct pf_delivery **delivery, struct perfile_error *error);
void pf_delivery_close(struct pf_delivery *delivery);
/*
 * 1 and *item, 0 at the end, or an error. The item is the caller's, the same one in every call: what comes next may be
 * another counter of the sample that it holds.
 */
int pf_delivery_next(struct pf_delivery *delivery, struct pf_delivered *item, struct perfile_error *error);
/* Samples that the filter left out so far. */
uint64_t pf_delivery_filtered(const struct pf_delivery *delivery);
const struct pf_filter *pf_delivery_filter(const struct pf_delivery *delivery);
/* At the end: reports the names of the filter that matched nothing. */
void pf_delivery_notify_unmatched(const struct pf_delivery *delivery, perfile_on_unmatched *notify, void *context);
/* At the end: reports what the synthesizers could not find in the recording. `notify` may be NULL. */
void pf_delivery_report_missing(const struct pf_delivery *delivery, pf_on_note *notify, void *context);
struct perfile_session *pf_delivery_session(const struct pf_delivery *delivery);
struct pf_jit *pf_delivery_jit(const struct pf_delivery *delivery);
/* The path of a control group, "unknown" if the recording did not name it so far. Valid as long as the delivery. */
const char *pf_delivery_cgroup(const struct pf_delivery *delivery, uint64_t id);
/* uname -m of the recording, which a stream may say late; NULL: not known. */
const char *pf_delivery_arch(struct pf_delivery *delivery);

/* That of the sample; NULL when it was not recorded. */
static inline const char *pf_delivered_cgroup(const struct pf_delivered *item, const struct pf_delivery *delivery)
{
    return PF_UNLIKELY(item->sample.present & PERFILE_SAMPLE_CGROUP) ? pf_delivery_cgroup(delivery, item->sample.cgroup)
                                                                     : NULL;
}

#endif
