/* SPDX-License-Identifier: MIT */
#include "analysis/frames.h"

#include "made_elf.h"
#include "recording.h"

enum {
    TYPE = PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME,
    START = 0x400000
};

static struct pf_frames frames;
static const struct perfile_space *space;

static const char *name_at(uint64_t offset, bool returns)
{
    const uint32_t location = pf_frames_resolve(&frames, space, START + MADE_TEXT_AT + offset, returns);
    const struct pf_frame_info *frame = pf_frames_at(&frames, pf_frames_function(&frames, location));
    assert_non_null(frame);
    return frame->name ? frame->name : "?";
}

/*
 * `last` ends with a call of a function that does not return: the return address is the start of `other`. Nothing is
 * before `restore`, where signal handlers return to.
 */
static void test_callers_are_where_their_calls_are(void **state)
{
    static const struct made_symbol symbols[] = {
        {MADE_ADDRESS + MADE_TEXT_AT, 0x10, STT_FUNC, STB_GLOBAL, MADE_TEXT, "last"},
        {MADE_ADDRESS + MADE_TEXT_AT + 0x10, 0x10, STT_FUNC, STB_GLOBAL, MADE_TEXT, "other"},
        {MADE_ADDRESS + MADE_TEXT_AT + 0x30, 0x10, STT_FUNC, STB_GLOBAL, MADE_TEXT, "restore"}};
    const struct recording_map map = {.misc = 2, .pid = 7, .start = START, .bytes = 0x1000, .name = "/bin/program"};
    const struct pf_find_options find = {.symfs = made_directory, .buildid_dir = made_directory};
    struct perfile_session *session;
    const struct perfile_record *record;
    struct pf_symbols *names;
    struct recording r;
    struct made m;
    uint8_t *block;
    (void)state;
    made_elf(&m, &(struct made_elf){ET_EXEC, EM_X86_64, .symbols = symbols, .count = PF_COUNT(symbols)});
    made_file("bin/program", m.data, m.bytes);
    recording_open(&r, TYPE, false);
    recording_map(&r, &map, 1);
    recording_sample(&r, START, 7, 10);
    recording_finish(&r);
    struct perfile_reader *reader = recording_read(&r, &block);
    assert_int_equal(perfile_session_open(reader, &session, NULL), 0);
    perfile_session_follow_maps(session);
    assert_int_equal(pf_symbols_open(reader, &find, &names, NULL), 0);
    while (perfile_session_next(session, &record, NULL) > 0)
        ;
    space = perfile_session_space(session, 7);
    pf_frames_open(&frames, names, &(struct pf_frames_options){0}, pf_allocator_or_default(NULL));
    assert_string_equal(name_at(0x10, false), "other");
    assert_string_equal(name_at(0x10, true), "last");
    assert_string_equal(name_at(0x18, true), "other");
    assert_string_equal(name_at(0x30, true), "restore");
    assert_string_equal(name_at(0x28, true), "?");
    pf_frames_close(&frames);
    pf_symbols_close(names);
    perfile_session_close(session);
    perfile_close(reader);
    free(block);
    recording_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_callers_are_where_their_calls_are, made_directory_open,
                                        made_directory_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
