/* SPDX-License-Identifier: MIT */
/* A recording in the order of time, and the names of its threads. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    struct perfile_open_options options = fuzz_options();
    struct perfile_reader *reader;
    struct perfile_session *session;
    const struct perfile_record *record;
    struct perfile_sample_id id = PERFILE_SAMPLE_ID_INIT;
    options.limit_queue_bytes = bytes & 1 ? 512 : 1 << 20;
    if (perfile_open_memory(data, bytes, &options, &reader, NULL) < 0)
        return 0;
    FUZZ_REQUIRE(perfile_session_open(reader, &session, NULL) == 0);
    while (perfile_session_next(session, &record, NULL) > 0) {
        int32_t tid = (int32_t)record->bytes;
        fuzz_touch(record->data, record->bytes);
        if (record->type == PERFILE_RECORD_SAMPLE && perfile_sample_decode(record, &sample, NULL) == 0)
            tid = sample.tid;
        else if (perfile_sample_id_decode(reader, record, &id, NULL) == 0)
            tid = id.tid;
        const char *comm = perfile_session_comm(session, tid, tid);
        fuzz_touch(comm, strlen(comm));
    }
    perfile_session_close(session);
    perfile_close(reader);
    return 0;
}
