/* SPDX-License-Identifier: MIT */
/*
 * perfile/index.h: indexes, with which a session starts in the middle of a recording and skips samples that are not
 * needed (libperfile).
 *
 * An index states from where on a recording has to be read for the samples of a time, and which threads and mappings
 * existed then; and for each block of samples (a MiB or less) its times, processors, threads and events. It belongs to
 * one recording and to this build of the library: others are not used. Every call that filters samples uses the index
 * that the reader has, and so do sessions whose times are limited (perfile_session_limit). They deliver the same as
 * without it, except that some of the records before the requested times are left out.
 *
 * An index is trusted: one that a stranger made deserves as much trust as the recording.
 */
#ifndef PERFILE_INDEX_H
#define PERFILE_INDEX_H

#include <perfile/perfile.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Reads the recording from its start, where the reader must be and is again afterwards, and writes its index, 170 bytes
 * to a few KB for each MiB, and what the names and mappings of a moment need for each 64 MiB. UNSUPPORTED, and the
 * message says why (error.what is "compression" for records that are compressed as one stream): one cannot begin in the
 * middle of a stream, a directory, records that are compressed as one stream (see perfile_writer_options.frame_bytes),
 * AUX data, recordings with damage, with code of JITs, without rounds or out of order. Other errors: ARGUMENT, MEMORY,
 * WRITE, and those of perfile_session_next.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_index_write(struct perfile_reader *reader, const struct perfile_sink *sink,
                                                       struct perfile_error *error);
/*
 * The index is made by a session that reads the recording anyway: one that is opened from now on, follows mappings and
 * is not limited to some times, when it comes to its end. What it delivers is the same. The sink is called meanwhile,
 * by that session's thread. `ended` (may be NULL) is called once: with true when the index has been written; otherwise
 * with false when the reader is closed, because the recording cannot have an index or was not read to its end: discard
 * what was written then. UNSUPPORTED, ARGUMENT (a session drives the reader, or it has an index), MEMORY.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_index_follow(struct perfile_reader *reader, const struct perfile_sink *sink,
                                                        void (*ended)(void *context, bool complete), void *context,
                                                        struct perfile_error *error);
/*
 * Gives the reader an index: `bytes` bytes that must not change until it is closed. ABSENT: it does not belong to this
 * recording in its present state, or is damaged; the reader then works without it. Damage that is not noticed here is
 * noticed when that part is needed, which is then not used. Other errors: ARGUMENT (a session drives the reader),
 * MEMORY, READ.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_index_use(struct perfile_reader *reader, const void *data, size_t bytes,
                                                     struct perfile_error *error);

/* Samples that stand in a recording near each other, as its index describes them. */
struct perfile_block;
enum perfile_block_part { PERFILE_BLOCK_CPU, PERFILE_BLOCK_PID, PERFILE_BLOCK_TID, PERFILE_BLOCK_EVENT };
/*
 * Whether a sample of the block may have this processor, process, thread, or event (its index); false: no sample has.
 * True also when some do not say of which they are.
 */
PERFILE_API bool perfile_block_may_have(const struct perfile_block *block, int part, uint64_t number);
/* The time of the oldest and the latest of its samples. */
PERFILE_API void perfile_block_times(const struct perfile_block *block, uint64_t *first, uint64_t *last);
/*
 * To be called before the first _next of the session. `unwanted` is called for blocks, maybe several times for one,
 * before the samples in it are read; true: all samples of the block that follow are skipped, and counted by
 * perfile_session_left_out. Without an index it is never called. All other records are delivered as always. Not for
 * callers that use counters (PERFILE_SAMPLE_READ) or deferred callchains, which need the samples before.
 */
PERFILE_API void perfile_session_skip(struct perfile_session *session,
                                      bool (*unwanted)(void *context, const struct perfile_block *block),
                                      void *context);

#ifdef __cplusplus
}
#endif
#endif
