/* SPDX-License-Identifier: MIT */
#include "symbol/find/archive.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>

#include "made_elf.h"

#define HEX "abababababababababababababababababababab"
#define REST "ababababababababababababababababababab"

static char notes[1024];
static struct pf_find_options options;

static void take_note(void *context, const char *text)
{
    (void)context;
    snprintf(notes + strlen(notes), sizeof(notes) - strlen(notes), "%s\n", text);
}

static int open_world(void **state)
{
    void *library = dlopen("libarchive.so.13", RTLD_LAZY);
    if (library)
        dlclose(library);
    if (!library || made_directory_open(state) != 0)
        return library ? -1 : 0;
    *notes = 0;
    options = (struct pf_find_options){.note = take_note};
    setenv("XDG_CACHE_HOME", made_directory, 1);
    return 0;
}

static int close_world(void **state)
{
    return *made_directory ? made_directory_close(state) : 0;
}

/* Packs the folder IN with tar; ends the test where there is no tar, or no libarchive. */
static const char *pack(const char *arguments)
{
    char command[512];
    if (!*made_directory)
        skip();
    snprintf(command, sizeof(command), "cd %s && tar %s 2>/dev/null", made_directory, arguments);
    if (system(command) != 0)
        skip();
    return made_path("a.tar");
}

/* The contents of a file below the folder that the archive became; "-": there is none. */
static const char *content(const char *directory, const char *name)
{
    static char text[64];
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return "-";
    text[fread(text, 1, sizeof(text) - 1, file)] = 0;
    fclose(file);
    return text;
}

static void put(const char *name, const char *text)
{
    made_file(name, text, strlen(text));
}

static void test_unpacked_once(void **state)
{
    (void)state;
    char *first, *again;
    if (*made_directory) {
        put("in/usr/bin/x/" HEX "/elf", "binary");
        put("in/usr/bin/x/" HEX "/probes", "");
        put("in/[kernel.kallsyms]/" HEX "/kallsyms", "text");
        put("in/[kernel.kcore]/" HEX "/2024010112000000/kallsyms", "boot");
        put("in/usr/bin/old/cdcdcdcdcdcdcdcd", "old");
    }
    const char *path = pack("-czf a.tar -C in .");
    assert_int_equal(pf_archive_open(&options, path, &first), 0);
    assert_non_null(first);
    assert_string_equal(content(first, ".build-id/ab/" REST "/elf"), "binary");
    assert_string_equal(content(first, ".build-id/ab/" REST "/kallsyms"), "text");
    assert_string_equal(content(first, ".build-id/ab/" REST "/probes"), "-");
    assert_string_equal(content(first, "[kernel.kcore]/" HEX "/2024010112000000/kallsyms"), "boot");
    assert_string_equal(content(first, ".build-id/cd/cdcdcdcdcdcdcd/elf"), "old");
    char elf[1024];
    snprintf(elf, sizeof(elf), "%s/.build-id/ab/" REST "/elf", first);
    assert_int_equal(unlink(elf), 0);
    assert_int_equal(pf_archive_open(&options, path, &again), 0); /* as it was left */
    assert_string_equal(again, first);
    assert_string_equal(content(again, ".build-id/ab/" REST "/elf"), "-");
    assert_string_equal(notes, "");
    pf_text_free(pf_allocator_or_default(NULL), first);
    pf_text_free(pf_allocator_or_default(NULL), again);
}

/* Names and links of the archive lead nowhere: what is written is made of build ids. */
static void test_names_that_lead_out(void **state)
{
    (void)state;
    char *directory;
    if (*made_directory) {
        put("in/deep/deeper/x", "");
        put("in/" HEX "/elf", "outside");
        put("in/deep/ABABABABABABABABABABABABABABABABABABABAB/elf", "no id");
        put("in/deep/abababab/elf", "too short");
        assert_int_equal(symlink("/etc/passwd", made_path("in/deep/elf")), 0);
    }
    const char *path = pack("-cPf a.tar -C in/deep/deeper ../../" HEX "/elf ../../deep");
    assert_int_equal(pf_archive_open(&options, path, &directory), 0);
    assert_non_null(directory);
    assert_string_equal(content(directory, ".build-id/ab/" REST "/elf"), "outside");
    assert_string_equal(content(directory, "../" HEX "/elf"), "-");
    assert_string_equal(content(directory, ".build-id/AB/ABABABABABABABABABABABABABABABABABABAB/elf"), "-");
    assert_string_equal(content(directory, ".build-id/ab/ababab/elf"), "-");
    pf_text_free(pf_allocator_or_default(NULL), directory);
}

/* `perf archive --all`: an archive beside the recording in an archive. */
static void test_inner_archive(void **state)
{
    (void)state;
    char *directory;
    if (*made_directory) {
        put("in/usr/bin/x/" HEX "/elf", "binary");
        put("perf.data", "a recording");
    }
    pack("-cf perf.symbols.tar.bz2 -C in .");
    const char *path = pack("-cf a.tar perf.data perf.symbols.tar.bz2");
    assert_int_equal(pf_archive_open(&options, path, &directory), 0);
    assert_non_null(directory);
    assert_string_equal(content(directory, ".build-id/ab/" REST "/elf"), "binary");
    assert_string_equal(content(directory, "inner.tar"), "-");
    assert_string_equal(notes, "");
    pf_text_free(pf_allocator_or_default(NULL), directory);
}

/* What comes before the damage is used, and the damage is reported. */
static void test_cut(void **state)
{
    (void)state;
    char *directory;
    char big[20000];
    memset(big, 'x', sizeof(big));
    if (*made_directory) {
        put("in/a/" HEX "/elf", "binary");
        made_file("in/b/cdcdcdcdcdcdcdcd/elf", big, sizeof(big));
    }
    const char *path = pack("-cf a.tar -C in a/" HEX "/elf b/cdcdcdcdcdcdcdcd/elf");
    assert_int_equal(truncate(path, 4096), 0);
    assert_int_equal(pf_archive_open(&options, path, &directory), 0);
    assert_non_null(directory);
    assert_string_equal(content(directory, ".build-id/ab/" REST "/elf"), "binary");
    assert_string_equal(content(directory, ".build-id/cd/cdcdcdcdcdcdcd/elf"), "-");
    assert_non_null(strstr(notes, "; binaries used: 1\n"));
    pf_text_free(pf_allocator_or_default(NULL), directory);
}

static void test_nothing(void **state)
{
    (void)state;
    char *directory;
    if (!*made_directory)
        skip();
    assert_int_equal(pf_archive_open(&options, made_path("nowhere"), &directory), 0);
    assert_null(directory);
    assert_non_null(strstr(notes, "is not read: No such file"));
    put("text", "no archive");
    assert_int_equal(pf_archive_open(&options, made_path("text"), &directory), 0);
    assert_null(directory);
    assert_int_equal(pf_archive_open(&options, made_directory, &directory), 0);
    assert_string_equal(directory, made_directory);
    pf_text_free(pf_allocator_or_default(NULL), directory);
    notes[0] = 0;
    errno = ENOENT; /* of something else */
    assert_int_equal(pf_archive_open(&options, "/dev/null", &directory), 0);
    assert_null(directory);
    assert_string_equal(notes, "/dev/null is not read: not a regular file\n");
}

/* The name of the folder in the cache that is being made, without its random end; "" when there is none. */
static void folder_being_made(char *path, size_t capacity)
{
    const struct dirent *item;
    DIR *cache = opendir(made_path("perfile"));
    *path = 0;
    while (cache && (item = readdir(cache)))
        if (strchr(item->d_name, '.') && strstr(item->d_name, "archive-"))
            snprintf(path, capacity, "%s/perfile/%.*s", made_directory, (int)strcspn(item->d_name, "."), item->d_name);
    if (cache)
        closedir(cache);
}

/* While we unpack, another process gets done. */
static void win_the_race(void *context, const char *text)
{
    char path[512], file[600];
    (void)context, (void)text;
    folder_being_made(path, sizeof(path));
    assert_true(*path);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(file, sizeof(file), "%s/other", path);
    fclose(fopen(file, "w"));
}

static void test_race_leaves_nothing_after(void **state)
{
    (void)state;
    char *directory, left[512];
    char big[20000] = "";
    if (*made_directory) {
        put("in/a/" HEX "/elf", "binary");
        made_file("in/b/cdcdcdcdcdcdcdcd/elf", big, sizeof(big));
    }
    const char *path = pack("-cf a.tar -C in a/" HEX "/elf b/cdcdcdcdcdcdcdcd/elf");
    assert_int_equal(truncate(path, 4096), 0); /* so that there is a note after the unpacking */
    options.note = win_the_race;
    assert_int_equal(pf_archive_open(&options, path, &directory), 0);
    assert_non_null(directory);
    assert_string_equal(content(directory, "other"), "");
    folder_being_made(left, sizeof(left));
    assert_string_equal(left, "");
    pf_text_free(pf_allocator_or_default(NULL), directory);
}

static void test_too_many_members(void **state)
{
    (void)state;
    char *directory;
    char header[512] = "x";
    if (!*made_directory)
        skip();
    memcpy(header + 100, "0000644", 8);
    memcpy(header + 124, "00000000000", 12);
    memset(header + 148, ' ', 8);
    memcpy(header + 257, "ustar\00000", 8);
    unsigned sum = 0;
    for (size_t i = 0; i < sizeof(header); i++)
        sum += (uint8_t)header[i];
    snprintf(header + 148, 8, "%06o", sum);
    put("a.tar", "");
    FILE *file = fopen(made_path("a.tar"), "wb");
    assert_non_null(file);
    for (unsigned i = 0; i < (1 << 17) + 1; i++)
        assert_int_equal(fwrite(header, sizeof(header), 1, file), 1);
    fclose(file);
    assert_int_equal(pf_archive_open(&options, made_path("a.tar"), &directory), 0);
    assert_non_null(strstr(notes, "it holds more than 131072 files; binaries used: 0\n"));
    pf_text_free(pf_allocator_or_default(NULL), directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_unpacked_once, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_names_that_lead_out, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_inner_archive, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_cut, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_nothing, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_race_leaves_nothing_after, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_too_many_members, open_world, close_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
