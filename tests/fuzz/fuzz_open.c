/* SPDX-License-Identifier: MIT */
/* A recording in memory: its header, events, features, tracepoints, and every record twice. */
#include "fuzz.h"

static void ask_events(struct perfile_reader *reader)
{
    struct fuzz_visit visit;
    for (size_t i = 0; i < perfile_event_count(reader); i++) {
        const struct perfile_event *event = perfile_event_get(reader, i);
        const struct perfile_visitor visitor = fuzz_visitor(&visit);
        fuzz_touch(event->name, strlen(event->name));
        fuzz_touch(event->ids, event->id_count * 8);
        FUZZ_REQUIRE(perfile_attr_visit(event, &visitor, NULL) == 0 && visit.depth == 0);
        const struct perfile_tracepoint *tracepoint = perfile_tracepoint_find(reader, event);
        for (size_t field = 0; tracepoint && field < tracepoint->field_count; field++)
            fuzz_touch(tracepoint->fields[field].name, strlen(tracepoint->fields[field].name));
    }
}

static void ask_features(struct perfile_reader *reader)
{
    struct perfile_error error;
    struct fuzz_visit visit;
    for (size_t i = 0; i < perfile_feature_count(reader); i++) {
        const struct perfile_visitor visitor = fuzz_visitor(&visit);
        const char *text;
        uint32_t number = perfile_feature_get(reader, i)->number;
        int result = perfile_feature_visit(reader, number, &visitor, &error);
        FUZZ_REQUIRE(result < 0 || visit.depth == 0);
        if (perfile_feature_text(reader, number, NULL, &text, &error) == 0)
            fuzz_touch(text, strlen(text));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct perfile_open_options options = fuzz_options();
    struct perfile_reader *reader;
    struct perfile_error error;
    options.strict = bytes & 1;
    if (perfile_open_memory(data, bytes, &options, &reader, &error) < 0)
        return 0;
    ask_events(reader);
    ask_features(reader);
    uint64_t deep = fuzz_walk(reader, true);
    ask_events(reader);
    FUZZ_REQUIRE(perfile_reader_rewind(reader, &error) == 0);
    /* in a stream the second pass knows the events from the start, and may frame damage in another way */
    uint64_t again = fuzz_walk(reader, false);
    FUZZ_REQUIRE(perfile_reader_file(reader)->mode == PERFILE_MODE_PIPE || deep == again);
    perfile_close(reader);
    return 0;
}
