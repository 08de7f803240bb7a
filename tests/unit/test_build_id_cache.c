/* SPDX-License-Identifier: MIT */
#include <perfile/analysis.h>

#include <fcntl.h>
#include <stdlib.h>

#include "made_elf.h"

enum { ID = 0xab, OTHER_ID = 0xcd };
#define HEX "abababababababababababababababababababab"
#define REST "ababababababababababababababababababab"
#define OTHER_HEX "cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd"
#define OTHER_REST "cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd"

static char cache[128], binary[128];
static struct perfile_error error;

static void put_binary(const char *name, uint8_t id)
{
    struct made m;
    made_elf(&m, &(struct made_elf){ET_DYN, EM_X86_64, .id = id});
    snprintf(binary, sizeof(binary), "%s", made_file(name, m.data, m.bytes));
}

static int open_world(void **state)
{
    if (made_directory_open(state) != 0)
        return -1;
    snprintf(cache, sizeof(cache), "%s/cache", made_directory);
    put_binary("tool", ID);
    return 0;
}

static int add(const char *name)
{
    return perfile_build_id_cache_add(cache, binary, name, &error);
}

static int remove_id(uint8_t first, size_t bytes)
{
    uint8_t id[21];
    memset(id, first, sizeof(id));
    return perfile_build_id_cache_remove(cache, id, bytes, &error);
}

static bool is_there(const char *name)
{
    struct stat about;
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", cache, name);
    return lstat(path, &about) == 0;
}

static int append(void *context, const char *path, const uint8_t *id, size_t bytes)
{
    char *text = context;
    const size_t used = strlen(text);
    snprintf(text + used, 256 - used, "%s %02x*%zu;", path, id[0], bytes);
    return strstr(path, "stop") ? 1 : 0;
}

/* "NAME FIRST-BYTE*BYTES;" for each entry. */
static const char *list(int expected, const struct perfile_allocator *allocator)
{
    static char text[256];
    const struct perfile_build_ids_options options = {
        .size = sizeof(options), .allocator = allocator, .take = append, .context = text};
    text[0] = '\0';
    assert_int_equal(perfile_build_id_cache_list(cache, &options, &error), expected);
    return text;
}

static void test_added_once(void **state)
{
    (void)state;
    assert_int_equal(add("/usr/bin/tool"), 1);
    assert_true(is_there("usr/bin/tool/" HEX "/elf"));
    assert_true(is_there(".build-id/ab/" REST "/elf"));
    assert_int_equal(add("/usr/bin/tool"), 0);
    put_binary("other", OTHER_ID);
    assert_int_equal(add("[vdso]"), 1);
    assert_string_equal(list(0, NULL), "/usr/bin/tool ab*20;[vdso] cd*20;");
}

/* What is half there is completed. */
static void test_added_again(void **state)
{
    (void)state;
    char path[512];
    assert_int_equal(add("/usr/bin/tool"), 1);
    snprintf(path, sizeof(path), "%s/usr/bin/tool/" HEX "/elf", cache);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(add("/usr/bin/tool"), 1);
    snprintf(path, sizeof(path), "%s/.build-id/ab/" REST, cache);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(add("/usr/bin/tool"), 1);
    assert_true(is_there(".build-id/ab/" REST "/elf"));
}

static void test_what_cannot_be_added(void **state)
{
    (void)state;
    static char name[5000];
    memset(name, 'n', sizeof(name) - 1);
    assert_int_equal(add("/usr/../../outside"), PERFILE_ERROR_WRITE);
    assert_int_equal(add(name), PERFILE_ERROR_WRITE);
    put_binary("no-id", 0);
    assert_int_equal(add("/no-id"), PERFILE_ERROR_ABSENT);
    snprintf(binary, sizeof(binary), "%s", made_path("missing"));
    assert_int_equal(add("/missing"), PERFILE_ERROR_OPEN);
    snprintf(binary, sizeof(binary), "%s", made_file("text", "text", 4));
    assert_int_equal(add("/text"), PERFILE_ERROR_FORMAT);
    assert_int_equal(access(made_path("outside"), F_OK), -1);
}

/* A link in the cache that leads out of it. */
static void test_links_are_not_followed(void **state)
{
    (void)state;
    char outside[128];
    assert_int_equal(add("/usr/bin/tool"), 1);
    made_file("outside/kept", "", 0);
    snprintf(outside, sizeof(outside), "%s/outside", made_directory);
    assert_int_equal(symlink(outside, made_path("cache/link")), 0);
    assert_int_equal(add("/link/tool"), PERFILE_ERROR_WRITE);
    assert_int_equal(symlink("../../link/" OTHER_HEX, made_path("cache/.build-id/cd/" OTHER_REST)), 0);
    assert_string_equal(list(0, NULL), "/usr/bin/tool ab*20;");
    assert_int_equal(remove_id(OTHER_ID, 20), 1);
    assert_int_equal(access(made_path("outside/kept"), F_OK), 0);
}

static void test_removed(void **state)
{
    (void)state;
    assert_int_equal(remove_id(ID, 20), PERFILE_ERROR_OPEN); /* there is no cache yet */
    assert_int_equal(add("/usr/bin/tool"), 1);
    put_binary("other", OTHER_ID);
    assert_int_equal(add("/usr/bin/tool"), 1);
    assert_int_equal(remove_id(ID, 1), PERFILE_ERROR_ARGUMENT);
    assert_int_equal(remove_id(ID, 21), PERFILE_ERROR_ARGUMENT);
    assert_int_equal(remove_id(ID, 20), 1);
    assert_int_equal(remove_id(ID, 20), 0);
    assert_false(is_there("usr/bin/tool/" HEX));
    assert_false(is_there(".build-id/ab"));
    assert_string_equal(list(0, NULL), "/usr/bin/tool cd*20;");
    assert_int_equal(remove_id(OTHER_ID, 20), 1);
    assert_false(is_there("usr")); /* which is empty now */
}

/* Before perf 4.11 the link led to the file. */
static void test_file_without_a_folder_is_removed(void **state)
{
    (void)state;
    made_file("cache/usr/bin/tool/" HEX, "", 0);
    assert_int_equal(symlink("../../usr/bin/tool/" HEX, made_path("cache/.build-id/ab/" REST)), 0);
    assert_int_equal(remove_id(ID, 20), 1);
    assert_false(is_there("usr"));
}

static void test_what_is_no_entry(void **state)
{
    (void)state;
    assert_int_equal(add("/usr/bin/tool"), 1);
    made_file("cache/.build-id/ab/text", "", 0);
    made_file("cache/.build-id/xy/" REST, "", 0);
    assert_int_equal(symlink("../../gone/" OTHER_HEX, made_path("cache/.build-id/cd/" OTHER_REST)), 0);
    assert_int_equal(symlink("/usr/bin/tool/" HEX, made_path("cache/.build-id/ab/abababababababab")), 0);
    assert_string_equal(list(0, NULL), "/usr/bin/tool ab*20;");
}

static void test_list_ends(void **state)
{
    (void)state;
    struct perfile_build_ids_options options = PERFILE_BUILD_IDS_OPTIONS_INIT;
    assert_int_equal(add("/stop"), 1);
    put_binary("other", OTHER_ID);
    assert_int_equal(add("/usr/bin/tool"), 1);
    assert_string_equal(list(PERFILE_ERROR_STOPPED, NULL), "/stop ab*20;");
    assert_int_equal(perfile_build_id_cache_list(cache, &options, &error), PERFILE_ERROR_ARGUMENT);
}

static void test_short_memory(void **state)
{
    (void)state;
    struct counting counting;
    assert_int_equal(add("/usr/bin/tool"), 1);
    for (int left = 0; left <= 2; left++) {
        counting_open(&counting, left);
        (void)list(left < 2 ? PERFILE_ERROR_MEMORY : 0, &counting.allocator); /* the list, and a name */
        counting_close(&counting);
    }
}

static void test_no_home(void **state)
{
    (void)state;
    assert_int_equal(unsetenv("HOME"), 0);
    assert_int_equal(perfile_build_id_cache_add(NULL, binary, NULL, &error), PERFILE_ERROR_ABSENT);
    assert_int_equal(setenv("HOME", made_directory, 1), 0);
    assert_int_equal(perfile_build_id_cache_add(NULL, binary, NULL, &error), 1);
    snprintf(cache, sizeof(cache), "%s/.debug", made_directory);
    assert_true(is_there(".build-id/ab/" REST "/elf"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_added_once, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_added_again, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_what_cannot_be_added, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_links_are_not_followed, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_removed, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_file_without_a_folder_is_removed, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_what_is_no_entry, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_list_ends, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_short_memory, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_no_home, open_world, made_directory_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
