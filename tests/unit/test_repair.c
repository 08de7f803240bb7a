/* SPDX-License-Identifier: MIT */
#include "edited.h"
#include "recording.h"

enum { TYPE = PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME };

/* What is repaired of the recording, which is over then. */
static struct edited repaired_to(struct recording *recording, int order)
{
    struct perfile_writer_options options = PERFILE_WRITER_OPTIONS_INIT;
    struct edited made = {.fd = edited_file(), .report = PERFILE_EDIT_REPORT_INIT};
    struct perfile_writer *writer;
    uint8_t *block;
    recording_finish(recording);
    struct perfile_reader *reader = recording_read(recording, &block);
    options.byte_order = order;
    assert_int_equal(perfile_writer_open_fd(made.fd, &options, &writer, NULL), 0);
    assert_int_equal(perfile_repair(reader, writer, NULL, &made.report, &made.error), 0);
    assert_int_equal(perfile_writer_finish(writer, &made.error), 0);
    perfile_writer_close(writer);
    perfile_close(reader);
    free(block);
    recording_close(recording);
    lseek(made.fd, 0, SEEK_SET);
    assert_int_equal(perfile_open_fd(made.fd, NULL, &made.reader, NULL), 0);
    return made;
}

static struct edited repaired(struct recording *recording)
{
    return repaired_to(recording, PERFILE_ORDER_NATIVE);
}

/* A record whose size is not a multiple of 8: its content and its trailer stay, with zeros in between. */
static void odd_sizes_are_rounded_up(void **state)
{
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        struct recording recording;
        const struct perfile_record *record;
        struct perfile_comm comm;
        struct perfile_sample_id id = PERFILE_SAMPLE_ID_INIT;
        recording_open(&recording, TYPE, swap);
        recording_sample(&recording, 1, 7, 1000);
        const size_t at = recording.bytes;
        recording_header(&recording, PERFILE_RECORD_COMM, 0, 0);
        recording_u32(&recording, 7);
        recording_u32(&recording, 8);
        recording_bytes(&recording, "abcde", 6);
        recording_trailer(&recording, at, 8, 1001);
        assert_int_equal((recording.bytes - at) % 8, 6);
        recording_sample(&recording, 2, 7, 1002);
        struct edited made = repaired(&recording);
        assert_int_equal(made.report.records_mended, 1);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(perfile_reader_next(made.reader, &record, &made.error), 1);
            assert_int_equal(record->bytes % 8, 0);
            assert_int_equal(record->time, 1000 + i);
            if (i != 1)
                continue;
            assert_int_equal(perfile_record_decode(made.reader, record, &comm, sizeof(comm), &made.error), 0);
            assert_int_equal(perfile_sample_id_decode(made.reader, record, &id, &made.error), 0);
            assert_string_equal(comm.comm, "abcde");
            assert_int_equal(comm.tid, 8);
            assert_int_equal(id.tid, 8);
            assert_int_equal(id.identifier, RECORDING_ID);
        }
        edited_end(&made);
    }
}

/* perf of the other byte order reads the table of features only with it; of little-endian ones nothing is made up. */
static void big_endian_files_have_a_host(void **state)
{
    (void)state;
    for (int swap = 0; swap < 2; swap++)
        for (int order = PERFILE_ORDER_LITTLE; order <= PERFILE_ORDER_BIG; order++) {
            struct recording recording;
            const char *host = NULL;
            recording_open(&recording, TYPE, swap);
            recording_sample(&recording, 1, 7, 1000);
            struct edited made = repaired_to(&recording, order);
            const int result = perfile_feature_text(made.reader, PERFILE_FEATURE_HOSTNAME, NULL, &host, NULL);
            assert_int_equal(made.report.features_rebuilt, order == PERFILE_ORDER_BIG ? 2 : 1);
            if (order == PERFILE_ORDER_BIG)
                assert_string_equal(host, "");
            else
                assert_int_equal(result, PERFILE_ERROR_ABSENT);
            edited_end(&made);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odd_sizes_are_rounded_up),
        cmocka_unit_test(big_endian_files_have_a_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
