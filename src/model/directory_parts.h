/* SPDX-License-Identifier: MIT */
/* The link that merges the files of a directory: the next record of each is known, and the oldest one is delivered. */
#ifndef PF_MODEL_DIRECTORY_PARTS_H
#define PF_MODEL_DIRECTORY_PARTS_H

#include "format/reader.h"
#include "model/record_source.h"

struct pf_parts {
    struct perfile_reader *reader;
    struct perfile_record *heads; /* the next record of each part; NULL: the recording is not a directory */
    bool *has_head;
    bool heads_read;
    uint32_t last_part; /* whose head was delivered last */
};

/* Does nothing when the recording is not a directory. MEMORY. */
int pf_parts_open(struct pf_parts *parts, struct perfile_reader *reader, struct perfile_error *error);
void pf_parts_close(struct pf_parts *parts);
pf_next_record pf_parts_next;

#endif
