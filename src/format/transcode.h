/* SPDX-License-Identifier: MIT */
/* A record of one recording as a record of another one: other byte order, other sample_type. */
#ifndef PF_FORMAT_TRANSCODE_H
#define PF_FORMAT_TRANSCODE_H

#include "format/encode.h"
#include "format/reader.h"

struct pf_transcoding {
    const struct pf_plan *plan; /* of the record's event in the output; NULL: it has none */
    bool big_endian;
};

/*
 * Decodes a record and encodes it again; bytes after the known fields of its type are copied as they are. A payload
 * outside the record is not included. Errors: DAMAGED, EVENT, LIMIT (it does not fit any more).
 */
int pf_transcode(struct perfile_reader *reader, const struct perfile_record *record, const struct pf_transcoding *how,
                 struct pf_out *out, struct perfile_error *error);

#endif
