/* SPDX-License-Identifier: MIT */
/* Frames of addresses at moments of a recording. */
#include "fuzz.h"

#include <perfile/profile.h>

static void resolve(struct perfile_resolver *resolver, const struct perfile_location *location)
{
    enum { FRAMES = 4 };
    struct perfile_frame frame = PERFILE_FRAME_INIT;
    struct perfile_module module = PERFILE_MODULE_INIT;
    uint32_t frames[FRAMES];
    int count = perfile_resolver_frames(resolver, location, frames, FRAMES, NULL);
    FUZZ_REQUIRE(count >= 1);
    for (int i = 0; i < count && i < FRAMES; i++) {
        FUZZ_REQUIRE(perfile_resolver_frame(resolver, frames[i], &frame) == 0);
        const char *label = perfile_resolver_label(resolver, frames[i]);
        fuzz_touch_text(label);
        if (perfile_resolver_module(resolver, frame.module, &module) == 0 && module.path)
            fuzz_touch_text(module.path);
    }
}

static void resolve_sample(struct perfile_resolver *resolver, const struct perfile_record *record)
{
    static struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    struct perfile_location location = PERFILE_LOCATION_INIT;
    if (record->type != PERFILE_RECORD_SAMPLE || perfile_sample_decode(record, &sample, NULL) < 0)
        return;
    location.pid = sample.pid;
    for (unsigned cpumode = 0; cpumode < 8; cpumode++) {
        location.cpumode = cpumode;
        location.address = sample.ip;
        location.flags = cpumode % 2 ? PERFILE_RESOLVE_RETURN : 0;
        resolve(resolver, &location);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct perfile_open_options open = fuzz_options();
    struct perfile_resolver_options options = PERFILE_RESOLVER_OPTIONS_INIT;
    struct perfile_resolver *resolver;
    struct perfile_session *session;
    struct perfile_reader *reader;
    const struct perfile_record *record;
    options.symbols = &fuzz_no_symbols;
    if (perfile_open_memory(data, bytes, &open, &reader, NULL) < 0)
        return 0;
    FUZZ_REQUIRE(perfile_session_open(reader, &session, NULL) == 0);
    if (perfile_resolver_open(reader, session, &options, &resolver, NULL) == 0) {
        while (perfile_session_next(session, &record, NULL) > 0)
            resolve_sample(resolver, record);
        perfile_resolver_close(resolver);
    }
    perfile_session_close(session);
    perfile_close(reader);
    return 0;
}
