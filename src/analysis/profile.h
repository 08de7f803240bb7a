/* SPDX-License-Identifier: MIT */
/*
 * The samples of a recording with their stacks resolved: reports and flame graphs are made from these. A stack is a row
 * of frame numbers, and a frame is one function of one module (or one address that has no symbol): equal numbers mean
 * equal functions, so that aggregation needs no texts.
 */
#ifndef PF_ANALYSIS_PROFILE_H
#define PF_ANALYSIS_PROFILE_H

#include <perfile/profile.h>

#include "analysis/delivery.h"
#include "analysis/profile_sample.h"

struct pf_profile;

/*
 * How many threads read and resolve samples, the caller's included (0 is 1), and the function that is called with their
 * progress. With more than one thread, `progress`, notes and the callbacks of the reader are called in those threads,
 * one at a time.
 */
struct pf_profile_drive {
    unsigned threads;
    void (*progress)(void *context, uint64_t done, uint64_t total); /* may be NULL */
    void *progress_context;
};

static inline struct pf_profile_drive pf_profile_drive_of(const struct perfile_output_options *options)
{
    return (struct pf_profile_drive){options->threads, options->progress, options->progress_context};
}

struct pf_profile_options {
    const struct perfile_filter *filter; /* may be NULL */
    struct pf_find_options find;         /* its allocator is the profile's, too */
    bool keeps_comms;                    /* threads that ended keep their names */
    bool names_at_end;                   /* pf_profile_thread_comm: at the end of the recording, whatever the filter */
    struct pf_frames_options frames;     /* `leaf` is never an inlined one */
    const char *unwind;                  /* as in perfile_symbol_options */
    /*
     * Samples come with all that was recorded, valid as long as they are. They are read one by one then. With `copied`
     * several threads may read them: neither the delivery nor pf_profile_frame_at can be asked, and samples of times
     * off CPU must not be among them.
     */
    bool decoded, copied;
    bool parallelism;      /* with `decoded`: samples have that of their time */
    bool ignores_stacks;   /* samples have no frames, and maps are not followed: nothing can be looked up */
    const char *stacks_of; /* of these, only samples of the event of this name have frames; NULL: all; "": none */
    /* Of these, see pf_delivery_options. */
    bool (*wants)(void *context, const struct perfile_event *event);
    void *wants_context;
    /* With `decoded`: called for records between samples, valid for the call. False: out of memory. May be NULL. */
    bool (*take)(void *context, const struct perfile_record *record);
    void *take_context;
    /*
     * Called by the thread that reads for each record in the order of time, samples included, until pf_profile_next
     * ends or pf_profile_stop. False: out of memory. May be NULL.
     */
    bool (*watch)(void *context, const struct perfile_record *record);
    void *watch_context;
    size_t max_frames; /* of a stack, from the leaf on; later ones are not looked up; 0: all */
    bool merges;       /* samples of traces that differ in nothing but time may come as one: `alike` */
    bool never_waits;  /* callchains whose user part comes later are delivered without it: samples stay in order */
    bool watches_all;  /* also records outside of the times of the filter */
    bool skips_offcpu_notes; /* the caller calls pf_profile_report_missing, not the profile at the end */
    bool in_blocks; /* also with one thread; else that thread delivers each sample before the next one is read */
    struct pf_profile_drive drive;
};

/* The reader must be at its start and is driven by the profile. The texts of the options must outlive it. */
int pf_profile_open(struct perfile_reader *reader, const struct pf_profile_options *options,
                    struct pf_profile **profile, struct perfile_error *error);
void pf_profile_close(struct pf_profile *profile);
/*
 * Returns 1 and *sample, 0 at the end, or an error. Before the end another thread may be using the reader, the totals
 * and the symbols: only frames of samples that were delivered, and their modules, may be looked at.
 */
int pf_profile_next(struct pf_profile *profile, const struct pf_profile_sample **sample, struct perfile_error *error);
/*
 * The frame at an address of the last sample's process, or of the kernel; UINT32_MAX when out of memory. Only where
 * samples are decoded, and before their end.
 */
uint32_t pf_profile_frame_at(struct pf_profile *profile, uint64_t ip);
/* Only where samples are decoded: the delivery that they come from, and its last item. */
struct pf_delivery *pf_profile_delivery(const struct pf_profile *profile);
const struct pf_delivered *pf_profile_item(const struct pf_profile *profile);
/* At the end: reports what is missing in the recording for the samples that were asked for. `notify` may be NULL. */
void pf_profile_report_missing(const struct pf_profile *profile, pf_on_note *notify, void *context);
const struct pf_filter *pf_profile_filter(const struct pf_profile *profile);
/* At the end: reports the names of the filter that matched nothing. */
void pf_profile_notify_unmatched(const struct pf_profile *profile, perfile_on_unmatched *notify, void *context);
/* From _hold to _release no other thread looks up symbols, so that frames of earlier samples can be described. */
void pf_profile_hold(struct pf_profile *profile);
void pf_profile_release(struct pf_profile *profile);
/* Ends the reading before its end; no other thread is at work from then on. */
void pf_profile_stop(struct pf_profile *profile);
size_t pf_profile_frame_count(const struct pf_profile *profile);
/* NULL: there is no such frame. */
const struct pf_frame_info *pf_profile_frame(const struct pf_profile *profile, uint32_t frame);
bool pf_profile_is_by_address(const struct pf_profile *profile);
struct pf_symbols *pf_profile_symbols(struct pf_profile *profile);
/* The path of a control group, "unknown" for one that the recording does not name. Lives as long as the profile. */
const char *pf_profile_cgroup(const struct pf_profile *profile, uint64_t id);
/*
 * When all samples are read: the last name of a thread, and the name for a sample's comm, which differs where the
 * thread got its name after the sample. Both are valid as long as the profile.
 */
const char *pf_profile_thread_comm(struct pf_profile *profile, int32_t tid);
const char *pf_profile_later_comm(const struct pf_profile *profile, const char *comm);
const struct pf_profile_totals *pf_profile_totals(const struct pf_profile *profile);
/* Notes that `count` samples count in part or not at all, as the sum of their event is full. Does nothing when 0. */
void pf_profile_notify_full(uint64_t count, const struct perfile_symbol_options *symbols);
/* The same for others; `losses` is this build's. */
void pf_profile_losses(const struct pf_profile *profile, struct perfile_losses *losses);

#endif
