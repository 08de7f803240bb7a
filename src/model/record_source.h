/* SPDX-License-Identifier: MIT */
/* A link of the chain that a session is (model/session.h): something that records come from, one after the other. */
#ifndef PF_MODEL_RECORD_SOURCE_H
#define PF_MODEL_RECORD_SOURCE_H

#include <perfile/perfile.h>

/* 1 and *record, which is valid until the next call; 0 at the end; negative on errors. */
typedef int pf_next_record(void *context, const struct perfile_record **record, struct perfile_error *error);

struct pf_record_source {
    pf_next_record *next;
    void *context;
};

static inline int pf_record_next(const struct pf_record_source *source, const struct perfile_record **record,
                                 struct perfile_error *error)
{
    return source->next(source->context, record, error);
}

#endif
