/* SPDX-License-Identifier: MIT */
/*
 * The samples that are made of the hardware trace of a recording: those of all queues, in the order of time. inject
 * writes them, and analyses get them among the others. Both show each record here, in the order of time, since records
 * say which thread ran and what was mapped.
 */
#ifndef PF_HWTRACE_DECODING_H
#define PF_HWTRACE_DECODING_H

#include "base/note.h"
#include "hwtrace/flow.h"
#include "hwtrace/itrace.h"
#include "hwtrace/queues.h"

struct pf_decoding;

struct pf_decoding_options {
    const struct perfile_allocator *allocator;
    const char *letters; /* as those of perf's --itrace; "": the usual ones */
    const char *usual;   /* these, of traces of the flow; "": all */
    bool writes;         /* the samples are written among those of the recording, which must have identifiers, too */
};

/*
 * Reads the recording once, and rewinds it. ABSENT: the recording has no trace, or it is a stream; UNSUPPORTED: a trace
 * that is not decoded here; ARGUMENT.
 */
int pf_decoding_open(struct perfile_reader *reader, const struct pf_decoding_options *options,
                     struct pf_decoding **decoding, struct perfile_error *error);
/* NULL is allowed. */
void pf_decoding_close(struct pf_decoding *decoding);
/*
 * From now on samples of one address that differ in nothing but time may come as one: pf_aux_sample.alike. To be
 * called before the first record is taken, and after each pf_decoding_restart.
 */
void pf_decoding_merge(struct pf_decoding *decoding);
/*
 * Samples before and after these times are not required, and what they say of what came before them need not be right:
 * the trace is read from a synchronization before them. It is read completely where that changes the samples that are
 * asked for. As pf_decoding_merge.
 */
void pf_decoding_limit(struct pf_decoding *decoding, uint64_t first, uint64_t last);
/*
 * So many threads may decode, the caller's included; what is decoded does not depend on it. `min_bytes` is how much of
 * the trace one of them decodes at a time, 0: as much as is good. As pf_decoding_merge.
 */
void pf_decoding_use_threads(struct pf_decoding *decoding, unsigned threads, size_t min_bytes);
/* Where code is read from; without it no flow is decoded. To be called before the first record is taken. */
void pf_decoding_use_code(struct pf_decoding *decoding, const struct pf_code_source *source);

/* Its branches are calls and returns; whether these have times. */
bool pf_decoding_has_calls(const struct pf_decoding *decoding);
bool pf_decoding_has_times(const struct pf_decoding *decoding);
/* It is a trace of the flow. */
bool pf_decoding_needs_code(const struct pf_decoding *decoding);

/* An event that has samples. */
struct pf_decoding_event {
    const char *name;
    bool has_modes; /* its name is the one that its attr gives it, with modes such as :u */
    uint64_t id;
    struct perfile_attr attr;
};
/* How many events the decoder has, and one of them: false when it was not asked for. */
unsigned pf_decoding_event_count(const struct pf_decoding *decoding);
bool pf_decoding_event(const struct pf_decoding *decoding, unsigned index, struct pf_decoding_event *event);

/* Everything is decoded once more, of a recording that is read from its start. */
void pf_decoding_restart(struct pf_decoding *decoding);
/* 1: there is something before this time; 0: there is not; or an error. */
int pf_decoding_ready(struct pf_decoding *decoding, uint64_t before, struct perfile_error *error);
/* Takes notice of a record, when what comes before it was given. */
int pf_decoding_take(struct pf_decoding *decoding, const struct perfile_record *record, struct perfile_error *error);

/* A sample, or an error. */
struct pf_decoded {
    const struct pf_aux_sample *made; /* valid until the next call */
    unsigned event;                   /* index of its event */
    unsigned error;                   /* not 0: it is an error with this code, enum pf_flow_error, at made->ip */
    uint64_t time, period;
    int32_t pid, tid, cpu;
};
/* The next one whose time is before this: 1, 0 after the last of them, or an error. */
int pf_decoding_next(struct pf_decoding *decoding, uint64_t before, struct pf_decoded *decoded,
                     struct perfile_error *error);

/* An error as a record. */
void pf_decoded_error(const struct pf_decoded *decoded, struct perfile_auxtrace_error *record);

/* At the end: says what was lost, and how much was decoded. */
typedef void pf_decoding_say(void *context, const char *rule, const char *text);
void pf_decoding_report(const struct pf_decoding *decoding, pf_decoding_say *say, void *context);
/* The same sentences without the rules. */
void pf_decoding_notify(const struct pf_decoding *decoding, pf_on_note *notify, void *context);
/* How many samples were made. */
uint64_t pf_decoding_samples(const struct pf_decoding *decoding);

#endif
