/* SPDX-License-Identifier: MIT */
/* Files of profiles: what they keep of the keys of rows. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

#include <perfile/profile.h>

#define EVENT_AND_FRAME                                                                                                \
    "E\tcycles\tcycles\t0\t0\t0\t0\n"                                                                                  \
    "F\tmain\t\\N\tmain\t\\N\t1\t1\t-\t0\t0\n"                                                                         \
    "P\t\\N\t0\t0\t0\t0\t0\t0\n"
#define KEY "\t0\t-1\t-1\t-1\t\\N\t\\N\t18446744073709551615"
#define RECORDING "D\t%\t\\N\t\\N\t\\N\t\\N\t\\N\t0\t0\t-1\t0\t0\n"
#define END "L\t3\t0\t0\t0\t0\t0\t0\n"

/* Tags and recordings: both, one of them, none. */
static const char text[] = "perfile-profile 2\n" EVENT_AND_FRAME "A\tmem\tL1 hit\t-\n"
                           "A\tsocket\t000\t0\n" RECORDING RECORDING "K" KEY "\t1\t1\n"
                           "K" KEY "\t-\t0\n"
                           "K" KEY "\t0\n"
                           "K" KEY "\n"
                           "R\t-\t0\t0\t1\t10\t0\n"
                           "R\t-\t1\t0\t1\t10\t0\n"
                           "R\t-\t2\t0\t1\t10\t0\n"
                           "R\t-\t3\t0\t1\t10\t0\n" END;

struct written {
    char text[4096];
    size_t bytes;
};

static int put(void *context, const void *data, size_t bytes)
{
    struct written *written = context;
    assert_true(bytes <= sizeof(written->text) - written->bytes);
    memcpy(written->text + written->bytes, data, bytes);
    written->bytes += bytes;
    return 0;
}

static void tags_and_recordings_are_kept(void **state)
{
    static const uint32_t tags[] = {1, PERFILE_NO_ID, 0, PERFILE_NO_ID},
                          recordings[] = {1, 0, PERFILE_NO_ID, PERFILE_NO_ID};
    struct perfile_profile_sample sample = PERFILE_PROFILE_SAMPLE_INIT;
    struct perfile_profile_tag tag = PERFILE_PROFILE_TAG_INIT;
    struct perfile_profile *profile;
    struct written written = {.bytes = 0};
    const struct perfile_sink sink = {&written, put};
    (void)state;
    assert_int_equal(perfile_profile_read(text, sizeof(text) - 1, NULL, &profile, NULL), 0);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(perfile_profile_sample_at(profile, i, &sample), 0);
        assert_int_equal(sample.tags, tags[i]);
        assert_int_equal(sample.recording, recordings[i]);
    }
    assert_int_equal(perfile_profile_tag_at(profile, 1, &tag), 0);
    assert_string_equal(tag.name, "socket");
    assert_string_equal(tag.text, "000");
    assert_int_equal(tag.next, 0);
    assert_int_equal(perfile_profile_tag_at(profile, 2, &tag), PERFILE_ERROR_ARGUMENT);
    assert_int_equal(perfile_profile_write(profile, &sink, NULL), 0);
    assert_int_equal(written.bytes, sizeof(text) - 1);
    assert_memory_equal(written.text, text, sizeof(text) - 1);
    perfile_profile_close(profile);
}

/* A profile of before, in which recordings stand last, and keys have neither. */
static void old_files_are_read(void **state)
{
    static const char old[] = "perfile-profile 2\n" EVENT_AND_FRAME "K" KEY "\nR\t-\t0\t0\t1\t10\t0\n" RECORDING END;
    static const char missing[] = "perfile-profile 2\n" EVENT_AND_FRAME "K" KEY "\t0\nR\t-\t0\t0\t1\t10\t0\n" END;
    struct perfile_profile_sample sample = PERFILE_PROFILE_SAMPLE_INIT;
    struct perfile_profile *profile;
    (void)state;
    assert_int_equal(perfile_profile_read(old, sizeof(old) - 1, NULL, &profile, NULL), 0);
    assert_int_equal(perfile_profile_sample_at(profile, 0, &sample), 0);
    assert_int_equal(sample.recording, PERFILE_NO_ID);
    perfile_profile_close(profile);
    assert_int_equal(perfile_profile_read(missing, sizeof(missing) - 1, NULL, &profile, NULL), PERFILE_ERROR_DAMAGED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tags_and_recordings_are_kept),
                                       cmocka_unit_test(old_files_are_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
