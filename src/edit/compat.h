/* SPDX-License-Identifier: MIT */
/* A recording for an older perf, from the inside. */
#ifndef PF_EDIT_COMPAT_H
#define PF_EDIT_COMPAT_H

#include "base/pairs.h"
#include "base/text.h"
#include "edit/build_ids.h"
#include "edit/convert.h"
#include "schema/since.h"

enum { PF_COMPAT_TYPES = 128, PF_COMPAT_WORDS = 8192 };

/* The user part of a callchain that came later. */
struct pf_late_chain {
    size_t first; /* in `late_words` */
    uint32_t count;
};

struct pf_compat {
    struct pf_edit *edit;
    const struct perfile_allocator *allocator;
    uint32_t version;            /* PF_VERSION */
    bool known[PF_COMPAT_TYPES]; /* types of records */
    uint64_t sample_type;        /* of all events, where they must have the same; 0: not yet known, or each its own */
    uint64_t branch_young;       /* bits of branch_sample_type that are taken out, */
    uint64_t sample_young;       /* and of sample_type */
    struct pf_text body;         /* of a feature that was made anew */
    struct pf_known_ids build_ids;
    struct pf_pairs late; /* thread and cookie to index in late_chains */
    struct pf_late_chain *late_chains;
    size_t late_count;
    size_t late_capacity;
    uint64_t *late_words;
    size_t late_word_count;
    size_t late_word_capacity;
    uint64_t chains_cut;          /* whose user part never came, or was not read in advance */
    struct perfile_record record; /* the item's, with another type or misc */
    union {
        uint64_t words[2 * PF_COMPAT_WORDS];
        uint16_t cpus[65536];
    } capacity;
};

/* ---- compat_forms.c: records ---- */

/* PF_EDIT_KEEP, PF_EDIT_DROP, errors. */
int pf_compat_record(void *context, struct pf_item *item, struct perfile_error *error);
/* Reads the recording for the late parts of callchains, and starts it again. */
int pf_compat_collect(struct pf_compat *age, struct perfile_error *error);

#endif
