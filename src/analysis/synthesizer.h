/* SPDX-License-Identifier: MIT */
/*
 * Sources of samples beside those that the kernel wrote: times off CPU, decoders of AUX data. A synthesizer sees each
 * record of the recording in the order of time, and makes samples that come before that record, or instead of it.
 */
#ifndef PF_ANALYSIS_SYNTHESIZER_H
#define PF_ANALYSIS_SYNTHESIZER_H

#include "base/filter.h"

struct pf_delivered;
struct pf_find_options;
struct pf_jit;

enum { PF_SYNTHESIZED_NOTE = 7 };

/* What synthesizers are opened with. */
struct pf_synthesizer_options {
    struct perfile_reader *reader;
    const struct perfile_filter *wanted;
    const struct pf_filter *filter;            /* `wanted` opened */
    const struct pf_find_options *find;        /* where code is found; NULL: nowhere */
    const struct perfile_allocator *allocator; /* not NULL */
};

/* What is done with the samples that a synthesizer makes. */
struct pf_synthesizer_use {
    uint64_t first, last; /* samples before and after these times are not used */
    bool merges;          /* those that differ in nothing but time may come as one, see pf_traced */
    bool with_history;    /* what they say of what came before them is used, as the depth of calls */
    unsigned threads;     /* that may be used to make them; 0 is 1 */
};

/* A sample that a synthesizer gives. */
struct pf_synthesized {
    const struct perfile_record
        *record; /* as the kernel would have written it for its event; valid until the next call */
    const struct perfile_sample *sample; /* NULL: that of the record; else `record` is not a sample */
    uint64_t note[PF_SYNTHESIZED_NOTE]; /* kept with the sample for `complete`, also while it waits for its callchain */
};

struct pf_synthesizer {
    void *context; /* NULL: there is no synthesizer */
    bool replaces; /* the samples of the recording are not delivered, unless it makes them */
    /*
     * Called before the first record, and before the first one of each further reading: the session whose records
     * follow, which knows their mappings, and the code of JITs, which may be NULL. May be NULL.
     */
    void (*start)(void *context, struct perfile_session *session, struct pf_jit *jit,
                  const struct pf_synthesizer_use *use);
    /*
     * Called with each record in the order of time. Returns 1 when there are samples before the record, for which
     * `next` is called, 0 when there are none, or an error.
     */
    int (*take)(void *context, const struct perfile_record *record, struct perfile_error *error);
    /*
     * Makes the next sample whose time is not above `time` (UINT64_MAX: any): returns 1, 0 when there is none, or an
     * error. Names and mappings are those after the last record of `take`.
     */
    int (*next)(void *context, uint64_t time, struct pf_synthesized *made, struct perfile_error *error);
    /* Changes what the record of the decoded item cannot express. May be NULL. */
    void (*complete)(void *context, const uint64_t *note, struct pf_delivered *item);
    /* At the end: reports what is missing in the recording. May be NULL. */
    void (*report_missing)(void *context, pf_on_note *notify, void *notify_context);
    void (*close)(void *context); /* may be NULL */
};

#endif
