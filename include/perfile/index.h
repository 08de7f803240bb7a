/* SPDX-License-Identifier: MIT */
/*
 * perfile: indexes, with which a session begins in the middle of a recording, and passes over samples that nobody wants.
 *
 * An index says from where on a recording has to be read for the samples of a time, and who ran with which mappings then; and
 * of each block of samples (a MiB or less) of which times, processors, threads and events they are. It is of one recording
 * and of this build of the library: others are not used. All that filters samples uses the one that the reader has, and
 * so do sessions whose times are limited (perfile_session_limit); what they give is the same as without it, but for the
 * records before the times that are wanted, of which some are left out.
 *
 * An index is believed: of a recording that a stranger made it is worth as much as the recording.
 */
#ifndef PERFILE_INDEX_H
#define PERFILE_INDEX_H

#include <perfile/perfile.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Reads the recording from its start, where the reader must be and is again afterwards, and writes its index, 170 bytes to
 * a few KB for each MiB, and what the names and mappings of a moment need for each 64 MiB. UNSUPPORTED, and the message says why
 * (error.what is "compression" for records that are compressed as one stream):
 * one cannot begin in the middle of a stream, a directory, records that are compressed as one stream (see
 * perfile_writer_options.frame_bytes), AUX data, recordings with damage, with code of JITs, without rounds or out of order. Other
 * errors: ARGUMENT, MEMORY, WRITE, and those of perfile_session_next.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_index_write(struct perfile_reader *reader, const struct perfile_sink *sink,
                                                       struct perfile_error *error);
/*
 * The index is made by whoever reads the recording anyway: by a session that is opened from now on, follows mappings and is not
 * limited to some times, when it comes to its end; what it gives is the same. The sink is called meanwhile, by that
 * session's thread. `ended` (NULL: none) is called once: with true when the index has been written, else with false when the reader is
 * closed, whether the recording can have none, or nobody read all of it; what was written is worth nothing then. UNSUPPORTED,
 * ARGUMENT (a session drives the reader, or it has an index), MEMORY.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_index_follow(struct perfile_reader *reader, const struct perfile_sink *sink,
                                                        void (*ended)(void *context, bool complete), void *context,
                                                        struct perfile_error *error);
/*
 * Gives the reader an index: `bytes` bytes that stay as they are until it is closed. ABSENT: it is none of this recording
 * as it is now, or is damaged; then the reader does without. What is damaged in it and is not looked at here is noticed
 * when it is needed, and not used. Other errors: ARGUMENT (a session drives the reader), MEMORY, READ.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_index_use(struct perfile_reader *reader, const void *data, size_t bytes,
                                                     struct perfile_error *error);

/* Samples that stand in a recording near each other, as its index describes them. */
struct perfile_block;
enum perfile_block_part { PERFILE_BLOCK_CPU, PERFILE_BLOCK_PID, PERFILE_BLOCK_TID, PERFILE_BLOCK_EVENT };
/*
 * Whether a sample of it may be of this processor, process, thread, or event (its index); false: none is. True also when some
 * do not say of which they are.
 */
PERFILE_API bool perfile_block_may_have(const struct perfile_block *block, int part, uint64_t number);
/* The time of the oldest and the latest of its samples. */
PERFILE_API void perfile_block_times(const struct perfile_block *block, uint64_t *first, uint64_t *last);
/*
 * To be called before the first _next of the session: `unwanted` is asked of blocks, maybe several times of one, before the
 * samples in it are read; true: all those of them that follow here are passed over, and count as perfile_session_left_out. Without an
 * index nothing is asked. All other records come as always. Not for who looks at counters (PERFILE_SAMPLE_READ) or deferred
 * callchains, which need the samples before.
 */
PERFILE_API void perfile_session_skip(struct perfile_session *session,
                                      bool (*unwanted)(void *context, const struct perfile_block *block),
                                      void *context);

#ifdef __cplusplus
}
#endif
#endif
