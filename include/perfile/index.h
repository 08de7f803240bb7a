/* SPDX-License-Identifier: MIT */
/*
 * perfile: indexes, with which a session begins in the middle of a recording.
 *
 * An index says from where on a recording has to be read for the samples of a time, and who ran with which mappings then.
 * It is of one recording and of this build of the library: others are not used. Sessions whose times are limited
 * (perfile_session_limit), and all that filters by time, use the one that the reader has; what they give is the same as
 * without it, but for the records before the times that are wanted, of which some are left out.
 */
#ifndef PERFILE_INDEX_H
#define PERFILE_INDEX_H

#include <perfile/perfile.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Reads the recording from its start, where the reader must be and is again afterwards, and writes its index, a few KB
 * for each 64 MB and what the names and mappings of those moments need. UNSUPPORTED, and the message says why: one cannot begin in
 * the middle of a stream, a directory, compressed records, AUX data, recordings with damage, with code of JITs, without rounds or out of
 * order. Other errors: ARGUMENT, MEMORY, WRITE, and those of perfile_session_next.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_index_write(struct perfile_reader *reader, const struct perfile_sink *sink,
                                                       struct perfile_error *error);
/*
 * Gives the reader an index: `bytes` bytes that stay as they are until it is closed. ABSENT: it is none of this recording
 * as it is now, or is damaged; then the reader does without. What is damaged in it and is not looked at here is noticed
 * when it is needed, and not used. Other errors: ARGUMENT (a session drives the reader), MEMORY, READ.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_index_use(struct perfile_reader *reader, const void *data, size_t bytes,
                                                     struct perfile_error *error);

#ifdef __cplusplus
}
#endif
#endif
