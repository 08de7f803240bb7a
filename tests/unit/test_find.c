/* SPDX-License-Identifier: MIT */
#include "symbol/find/find.h"

#include <unistd.h>
#include <zstd.h>

#include "made_elf.h"
#include "symbol/table.h"

enum { ID = 0xab, OTHER_ID = 0xcd };
#define HEX "abababababababababababababababababababab"
#define REST "ababababababababababababababababababab"

static uint8_t id[20];
static struct pf_find_options options;
static struct pf_found found;

/* A world of its own: everything is looked up below the test's directory. */
static int open_world(void **state)
{
    static char cache[128];
    if (made_directory_open(state) != 0)
        return -1;
    snprintf(cache, sizeof(cache), "%s/cache", made_directory);
    memset(id, ID, sizeof(id));
    options = (struct pf_find_options){.symfs = made_directory, .buildid_dir = cache};
    return 0;
}

static const char *put(const char *name, uint8_t build_id, const char *link, uint32_t crc)
{
    struct made m;
    made_elf(&m, &(struct made_elf){ET_DYN, EM_X86_64, .id = build_id, .link = link, .link_crc = crc});
    return made_file(name, m.data, m.bytes);
}

/* `path` and `debug` are below the directory, or NULL. */
static void expect(const char *name, bool with_id, const char *path, const char *debug)
{
    assert_int_equal(pf_find_binary(&options, name, with_id ? id : NULL, with_id ? sizeof(id) : 0, &found), 0);
    if (path)
        assert_string_equal(found.path ? found.path : "(nothing)", made_path(path));
    else
        assert_null(found.path);
    if (debug)
        assert_string_equal(found.debug_path ? found.debug_path : "(nothing)", made_path(debug));
    else
        assert_null(found.debug_path);
}

static bool differs(void)
{
    bool it_does = found.build_id_differs;
    pf_found_close(&found);
    assert_null(found.path);
    return it_does;
}

static void test_build_id(void **state)
{
    (void)state;
    uint8_t read[20] = {0};
    assert_int_equal(pf_elf_build_id(NULL, put("id", ID, NULL, 0), read, NULL), 20);
    assert_memory_equal(read, id, sizeof(id));
    assert_int_equal(pf_elf_build_id(NULL, put("no id", 0, NULL, 0), read, NULL), 0);
    assert_int_equal(pf_elf_build_id(NULL, made_path("missing"), read, NULL), PERFILE_ERROR_OPEN);
    assert_int_equal(pf_elf_build_id(NULL, made_file("text", "text", 4), read, NULL), PERFILE_ERROR_FORMAT);
}

static void test_by_name(void **state)
{
    (void)state;
    put("usr/bin/tool", ID, NULL, 0);
    expect("/usr/bin/tool", true, "usr/bin/tool", NULL);
    assert_false(differs());
    expect("/usr/bin/tool (deleted)", true, "usr/bin/tool", NULL);
    assert_false(differs());
    expect("/usr/bin/tool", false, "usr/bin/tool", NULL); /* nothing to compare */
    assert_false(differs());
    expect("usr/bin/tool", true, "usr/bin/tool", NULL);
    assert_false(differs());
    expect("/usr/bin/missing", true, NULL, NULL);
    assert_false(differs());
    expect("/usr/bin", false, NULL, NULL); /* a directory */
    assert_false(differs());
}

static void test_another_file_under_the_name(void **state)
{
    (void)state;
    put("opt/new", OTHER_ID, NULL, 0);
    put("opt/without", 0, NULL, 0);
    expect("/opt/new", true, NULL, NULL);
    assert_string_equal(found.other_build_id, "cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd");
    assert_true(differs());
    expect("/opt/without", true, NULL, NULL);
    assert_string_equal(found.other_build_id, "");
    assert_true(differs());
    made_file("opt/script", "#!/bin/sh\n", 10);
    expect("/opt/script", true, NULL, NULL);
    pf_found_close(&found);
}

static void test_short_build_ids_are_padded(void **state)
{
    (void)state;
    struct made m;
    made_elf(&m, &(struct made_elf){ET_DYN, EM_X86_64, .id = ID});
    for (size_t i = 0; i + 12 < m.bytes; i++)
        if (memcmp(m.data + i, "GNU\0\xab\xab\xab\xab", 8) == 0)
            m.data[i - 8] = 16; /* as of MD5 */
    made_file("opt/md5", m.data, m.bytes);
    memset(id + 16, 0, 4);
    expect("/opt/md5", true, "opt/md5", NULL);
    assert_false(differs());
    put("cache/.build-id/ab/ababababababababababababababab/elf", ID, NULL, 0);
    made_file("cache/.build-id/ab/ababababababababababababababab/elf", m.data, m.bytes);
    expect("/gone/md5", true, "cache/.build-id/ab/ababababababababababababababab/elf", NULL);
    pf_found_close(&found);
    memset(id, ID, sizeof(id));
}

static void test_cache(void **state)
{
    (void)state;
    static const char by_path[] = "cache/gone/tool/" HEX "/elf", by_id[] = "cache/.build-id/ab/" REST "/elf";
    put(by_path, ID, NULL, 0);
    expect("/gone/tool", true, by_path, NULL);
    assert_false(differs());
    put(by_id, OTHER_ID, NULL, 0); /* a lie */
    expect("/gone/tool", true, by_path, NULL);
    pf_found_close(&found);
    put(by_id, ID, NULL, 0);
    put("cache/.build-id/ab/" REST "/debug", ID, NULL, 0);
    expect("/gone/tool", true, by_id, "cache/.build-id/ab/" REST "/debug");
    pf_found_close(&found);
    put("gone/tool", OTHER_ID, NULL, 0); /* updated since */
    expect("/gone/tool", true, by_id, "cache/.build-id/ab/" REST "/debug");
    assert_true(differs());
    expect("/gone/else", false, NULL, NULL);
    pf_found_close(&found);
}

static const char *put_unstripped(const char *name, uint8_t build_id)
{
    static const struct made_symbol symbol = {0x10080, 16, STT_FUNC, STB_GLOBAL, MADE_TEXT, "f"};
    struct made m;
    made_elf(&m, &(struct made_elf){ET_DYN, EM_X86_64, .id = build_id, .symbols = &symbol, .count = 1});
    return made_file(name, m.data, m.bytes);
}

/* The names come from the copy that has them, wherever it lies; the code from the file at the recorded path. */
static void test_stripped_file_shadows_a_copy(void **state)
{
    (void)state;
    static const char *const copies[] = {"usr/lib/.build-id/ab/" REST, "cache/.build-id/ab/" REST "/elf", "tool"};
    put("bin/tool", ID, NULL, 0);
    for (size_t i = 0; i < PF_COUNT(copies); i++) {
        put(copies[i], ID, NULL, 0);
        expect("/bin/tool", true, "bin/tool", NULL); /* it has no more */
        assert_false(differs());
        put_unstripped(copies[i], OTHER_ID);
        expect("/bin/tool", true, "bin/tool", NULL);
        assert_false(differs());
        put_unstripped(copies[i], ID);
        expect("/bin/tool", true, "bin/tool", copies[i]);
        assert_false(differs());
        unlink(made_path(copies[i]));
    }
    put("cache/.build-id/ab/" REST "/debug", ID, NULL, 0); /* without symbols, too */
    put_unstripped("cache/.build-id/ab/" REST "/elf", ID);
    expect("/bin/tool", true, "bin/tool", "cache/.build-id/ab/" REST "/elf");
    assert_false(differs());
    put_unstripped("bin/tool", ID);
    unlink(made_path("cache/.build-id/ab/" REST "/debug"));
    expect("/bin/tool", true, "bin/tool", NULL);
    assert_false(differs());
}

static void test_virtual_names(void **state)
{
    (void)state;
    static const char *const names[] = {"//anon",
                                        "[heap]",
                                        "[stack]",
                                        "[stack:12]",
                                        "[anon:x]",
                                        "[vdso]",
                                        "[vsyscall]",
                                        "/memfd:x (deleted)",
                                        "/SYSV0001 (deleted)",
                                        "/anon_hugepage (deleted)",
                                        "/dev/zero (deleted)",
                                        "",
                                        "anon_inode:[perf_event]"};
    for (size_t i = 0; i < PF_COUNT(names); i++) {
        expect(names[i], false, NULL, NULL);
        assert_false(differs());
    }
    assert_int_equal(pf_find_binary(&options, NULL, NULL, 0, &found), 0);
    assert_null(found.path);
}

static void test_vdso_by_build_id(void **state)
{
    (void)state;
    put("cache/[vdso]/" HEX "/vdso", ID, NULL, 0);
    expect("[vdso]", true, "cache/[vdso]/" HEX "/vdso", NULL);
    assert_false(differs());
}

static void test_debug_by_build_id(void **state)
{
    (void)state;
    put("bin/b", ID, NULL, 0);
    put("usr/lib/debug/bin/b.debug", ID, NULL, 0);
    expect("/bin/b", true, "bin/b", "usr/lib/debug/bin/b.debug");
    assert_false(differs());
    put("usr/lib/debug/.build-id/ab/" REST ".debug", ID, NULL, 0);
    expect("/bin/b", false, "bin/b", "usr/lib/debug/.build-id/ab/" REST ".debug"); /* the file says its build id */
    assert_false(differs());
    put("usr/lib/debug/.build-id/ab/" REST ".debug", OTHER_ID, NULL, 0);
    put("usr/lib/debug/bin/b.debug", OTHER_ID, NULL, 0);
    expect("/bin/b", true, "bin/b", NULL);
    assert_false(differs());
}

static uint32_t crc_of(const char *path)
{
    uint8_t data[4096];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t bytes = fread(data, 1, sizeof(data), file);
    fclose(file);
    return pf_crc32(0, data, bytes);
}

static void test_debug_by_link(void **state)
{
    (void)state;
    uint32_t crc = crc_of(put("lib/l.debug", 0, NULL, 0));
    put("lib/l", 0, "l.debug", crc);
    expect("/lib/l", false, "lib/l", "lib/l.debug");
    pf_found_close(&found);
    put("lib/l", 0, "l.debug", crc + 1);
    expect("/lib/l", false, "lib/l", NULL);
    pf_found_close(&found);
    put("lib/l", 0, "l.debug", crc);
    unlink(made_path("lib/l.debug"));
    put("lib/.debug/l.debug", 0, NULL, 0);
    expect("/lib/l", false, "lib/l", "lib/.debug/l.debug");
    pf_found_close(&found);
    unlink(made_path("lib/.debug/l.debug"));
    put("usr/lib/debug/lib/l.debug", 0, NULL, 0);
    expect("/lib/l", false, "lib/l", "usr/lib/debug/lib/l.debug");
    pf_found_close(&found);
    put("lib/l", 0, "../lib/l.debug", crc); /* a name, not a path */
    expect("/lib/l", false, "lib/l", NULL);
    pf_found_close(&found);
}

static void test_kernel(void **state)
{
    (void)state;
    static const char name[] = "[kernel.kallsyms]";
    char passed[2][512];
    expect(name, true, NULL, NULL);
    pf_found_close(&found);
    put("boot/vmlinux-1", OTHER_ID, NULL, 0);
    put("boot/vmlinux-2", ID, NULL, 0);
    expect(name, true, "boot/vmlinux-2", NULL);
    pf_found_close(&found);
    expect(name, false, NULL, NULL); /* which one? */
    pf_found_close(&found);
    snprintf(passed[0], sizeof(passed[0]), "%s", put("given/vmlinux", ID, NULL, 0));
    options.vmlinux = passed[0];
    expect("[kernel.kallsyms]_text", true, "given/vmlinux", NULL);
    assert_false(differs());
    put("given/vmlinux", OTHER_ID, NULL, 0);
    expect(name, true, "boot/vmlinux-2", NULL);
    assert_true(differs());
    snprintf(passed[1], sizeof(passed[1]), "%s", made_file("given/kallsyms", "0 T x\n", 6));
    options.kallsyms = passed[1];
    expect(name, true, "given/kallsyms", NULL);
    pf_found_close(&found);
    options.vmlinux = options.kallsyms = NULL;
    unlink(made_path("boot/vmlinux-2"));
    made_file("cache/[kernel.kallsyms]/" HEX "/kallsyms", "0 T x\n", 6);
    expect(name, true, NULL, NULL); /* of this machine */
    options.archive_dir = options.buildid_dir;
    expect(name, true, "cache/[kernel.kallsyms]/" HEX "/kallsyms", NULL);
    pf_found_close(&found);
    options.archive_dir = NULL;
    options.symfs = "";
    expect(name, true, "cache/[kernel.kallsyms]/" HEX "/kallsyms", NULL);
    pf_found_close(&found);
}

static void expect_module(const char *name, uint8_t build_id, const char *path)
{
    uint8_t wanted[20];
    memset(wanted, build_id, sizeof(wanted));
    assert_int_equal(pf_find_kernel_module(&options, name, wanted, sizeof(wanted), &found), 0);
    if (path)
        assert_string_equal(found.path ? found.path : "(nothing)", made_path(path));
    else
        assert_null(found.path);
}

static void put_packed(const char *name, uint8_t build_id)
{
    struct made m;
    uint8_t packed[4096];
    made_elf(&m, &(struct made_elf){ET_REL, EM_X86_64, .id = build_id});
    size_t bytes = ZSTD_compress(packed, sizeof(packed), m.data, m.bytes, 1);
    assert_false(ZSTD_isError(bytes));
    made_file(name, packed, bytes);
}

/* By path, compressed or not whatever the path says; by name as the lists of the release have it. */
static void test_kernel_modules(void **state)
{
    (void)state;
    static const char list[] = "kernel/../../../evil.ko\nkernel/net/nf-nat.ko.zst: kernel/net/other.ko\n";
    put_packed("lib/modules/5.1/kernel/net/nf-nat.ko.zst", ID);
    put_packed("evil.ko", ID);
    expect_module("/lib/modules/5.1/kernel/net/nf-nat.ko", ID, "lib/modules/5.1/kernel/net/nf-nat.ko.zst");
    assert_false(differs());
    expect_module("/lib/modules/5.1/kernel/net/nf-nat.ko.xz", OTHER_ID, NULL);
    assert_true(differs());
    expect_module("[nf_nat]", ID, NULL);
    options.release = "5.1";
    expect_module("[nf_nat]", ID, NULL); /* there is no list */
    made_file("lib/modules/5.1/modules.order", list, sizeof(list) - 1);
    expect_module("[nf_nat]", ID, "lib/modules/5.1/kernel/net/nf-nat.ko.zst");
    assert_false(differs());
    expect_module("[nf_nat]", OTHER_ID, NULL);
    assert_true(differs());
    expect_module("[evil]", ID, NULL);
    expect_module("[nat]", ID, NULL);
    options.release = "../modules/5.1";
    expect_module("[nf_nat]", ID, NULL);
    put_packed("cache/.build-id/ab/" REST "/elf", ID);
    expect_module("[nf_nat]", ID, "cache/.build-id/ab/" REST "/elf");
    assert_false(differs());
}

static void put_text(const char *name, const char *text)
{
    made_file(name, text, strlen(text));
}

/* The test's folder is this machine, and one in it another. */
static void use_roots(void)
{
    static char other[128];
    snprintf(other, sizeof(other), "%s/other", made_directory);
    options.root = made_directory;
    options.symfs = other;
}

/* Of the boots that were kept that one where the kernel lay as in the recording; the recording's own copy first. */
static void test_kcore(void **state)
{
    (void)state;
    static char recording[128];
    options.symfs = NULL;
    put_text("cache/[kernel.kcore]/" HEX "/2024010112000000/kallsyms", "ffffffff81000000 T _text\n");
    put_text("cache/[kernel.kcore]/" HEX "/2024010212000000/kallsyms", "ffffffff92000000 T _text\n");
    put_text("cache/[kernel.kcore]/" HEX "/2024010312000000/kallsyms", "");
    expect("[kernel.kallsyms]", true, NULL, NULL); /* which boot is not known */
    options.reference = "_text";
    options.reference_address = 0xffffffff92000000;
    expect("[kernel.kallsyms]_text", true, "cache/[kernel.kcore]/" HEX "/2024010212000000/kallsyms", NULL);
    assert_false(differs());
    options.symfs = made_directory;
    expect("[kernel.kallsyms]_text", true, NULL, NULL); /* a boot of this machine */
    options.symfs = NULL;
    options.reference_address++;
    expect("[kernel.kallsyms]_text", true, NULL, NULL);
    put_text("cache/[kernel.kallsyms]/" HEX "/kallsyms", "ffffffff81000000 T _text\n");
    expect("[kernel.kallsyms]", true, "cache/[kernel.kallsyms]/" HEX "/kallsyms", NULL);
    pf_found_close(&found);
    snprintf(recording, sizeof(recording), "%s/perf.data", made_directory);
    options.recording = recording;
    put_text("perf.data/kcore_dir/kallsyms", "ffffffff81000000 T _text\n");
    expect("[kernel.kallsyms]", true, "perf.data/kcore_dir/kallsyms", NULL);
    pf_found_close(&found);
}

static void expect_jitdump(const char *name, const char *expected)
{
    char *path;
    assert_int_equal(pf_find_jitdump(&options, name, 1, &path), 0);
    if (expected)
        assert_string_equal(path ? path : "(nothing)", made_path(expected));
    else
        assert_null(path);
    pf_text_free(pf_allocator_or_default(NULL), path);
}

static void test_jitdump(void **state)
{
    (void)state;
    static char recording[128];
    snprintf(recording, sizeof(recording), "%s/r/perf.data", made_directory);
    expect_jitdump("/w/jit-1.dump", NULL);
    options.recording = recording;
    put_text("r/jit-1.dump", "");
    expect_jitdump("/w/jit-1.dump", "r/jit-1.dump");
    put_text("jit-1.dump", "");
    expect_jitdump("/w/jit-1.dump", "jit-1.dump");
    put_text("w/jit-1.dump", "");
    expect_jitdump("/w/jit-1.dump", "w/jit-1.dump");
}

static void expect_perf_map(int32_t pid, const char *expected)
{
    char *path;
    assert_int_equal(pf_find_perf_map(&options, pid, &path), 0);
    if (expected)
        assert_string_equal(path ? path : "(nothing)", expected);
    else
        assert_null(path);
    pf_text_free(pf_allocator_or_default(NULL), path);
}

/* Below symfs, in it, beside the recording; else a process that runs here is asked when the recording is from here. */
static void test_perf_map(void **state)
{
    (void)state;
    use_roots();
    put_text("tmp/perf-8.map", "");
    put_text("proc/8/status", "Name:\tjava\nNStgid:\t8\t3\n");
    put_text("proc/8/root/tmp/perf-3.map", "");
    put_text("other/proc/8/root/tmp/perf-8.map", "");
    expect_perf_map(8, NULL); /* symfs: another machine, whose processes are not asked */
    options.same_machine = true;
    expect_perf_map(8, NULL);
    options.symfs = "";
    expect_perf_map(8, made_path("proc/8/root/tmp/perf-3.map"));
    options.same_machine = false;
    expect_perf_map(8, made_path("tmp/perf-8.map"));
    unlink(made_path("tmp/perf-8.map"));
    expect_perf_map(8, NULL);
    options.symfs = made_directory;
    options.recording = made_path("r/perf.data");
    put_text("r/perf-7.map", "");
    expect_perf_map(7, made_path("r/perf-7.map"));
    put_text("perf-7.map", "");
    expect_perf_map(7, made_path("perf-7.map"));
    put_text("tmp/perf-7.map", "");
    expect_perf_map(7, made_path("tmp/perf-7.map"));
}

/* The machine's running kernel comes after all files that have its build id; a symfs stands for another machine. */
static void test_running_kernel(void **state)
{
    (void)state;
    static const char name[] = "[kernel.kallsyms]";
    put_text("other/proc/kallsyms", "0 T x\n");
    put_text("proc/kallsyms", "0 T x\n");
    use_roots();
    made_notes("sys/kernel/notes", id, sizeof(id));
    expect(name, true, NULL, NULL); /* it runs here, but the recording is from another machine */
    made_notes("other/sys/kernel/notes", id, sizeof(id));
    expect(name, true, "other/proc/kallsyms", NULL);
    pf_found_close(&found);
    expect(name, false, NULL, NULL);
    options.symfs = NULL;
    expect(name, true, "proc/kallsyms", NULL);
    pf_found_close(&found);
    expect(name, false, NULL, NULL);
    put("boot/vmlinux-2", ID, NULL, 0);
    expect(name, true, "boot/vmlinux-2", NULL);
    pf_found_close(&found);
}

/* Names of the machine and its kernel, without a build id. */
static void test_kernel_by_names(void **state)
{
    (void)state;
    static const char name[] = "[kernel.kallsyms]";
    options.root = made_directory;
    options.symfs = NULL;
    options.host = "host";
    options.release = "5.1";
    put_text("proc/kallsyms", "ffffffff92000000 T _text\n");
    put_text("proc/sys/kernel/hostname", "host\n");
    expect(name, false, NULL, NULL);
    put_text("proc/sys/kernel/osrelease", "5.1\n");
    expect(name, false, "proc/kallsyms", NULL);
    pf_found_close(&found);
    expect(name, true, NULL, NULL); /* the machine does not report a build id */
    options.reference = "_text";
    options.reference_address = 0xffffffff92000000;
    expect(name, false, "proc/kallsyms", NULL);
    pf_found_close(&found);
    options.reference_address++; /* booted since */
    expect(name, false, NULL, NULL);
}

/*
 * Without a build id a kernel that is installed is that of its release, if it belongs to the machine of the recording.
 */
static void test_kernel_of_release(void **state)
{
    (void)state;
    static const char name[] = "[kernel.kallsyms]";
    static const char *const paths[] = {"usr/lib/debug/boot/vmlinux-5.1", "usr/lib/debug/lib/modules/5.1/vmlinux",
                                        "boot/vmlinux-5.1", "lib/modules/5.1/build/vmlinux", "lib/modules/5.1/vmlinux"};
    static const char *const others[] = {"boot/vmlinux-5.10", "boot/vmlinux-5.1.old", "lib/modules/5.10/vmlinux",
                                         "vmlinux"};
    for (size_t i = 0; i < PF_COUNT(others); i++)
        put(others[i], OTHER_ID, NULL, 0);
    expect(name, false, NULL, NULL);
    options.release = "5.1";
    expect(name, false, NULL, NULL);
    for (size_t i = 0; i < PF_COUNT(paths); i++) {
        put(paths[i], OTHER_ID, NULL, 0);
        expect(name, true, NULL, NULL); /* a recorded build id decides alone */
        expect(name, false, paths[i], NULL);
        pf_found_close(&found);
        assert_int_equal(unlink(made_path(paths[i])), 0);
    }
    put(paths[2], OTHER_ID, NULL, 0);
    options.root = made_directory;
    options.symfs = NULL;
    expect(name, false, NULL, NULL); /* of another machine */
    options.same_machine = true;
    expect(name, false, paths[2], NULL);
    pf_found_close(&found);
    for (size_t i = 0; i < 3; i++) {
        options.release = (const char *const[]){"../boot/5.1", "..", ""}[i];
        expect(name, false, NULL, NULL);
    }
}

static void test_folder_of_binaries(void **state)
{
    (void)state;
    put("flat", ID, NULL, 0);
    expect("/some/where/flat", true, "flat", NULL);
    pf_found_close(&found);
    expect("/some/where/flat", false, NULL, NULL);
    pf_found_close(&found);
}

static void test_system_files_are_not_opened(void **state)
{
    (void)state;
    options.symfs = NULL;
    expect("/proc/self/exe", false, NULL, NULL);
    pf_found_close(&found);
    expect("/sys/kernel/notes", false, NULL, NULL);
    pf_found_close(&found);
    expect("/dev/null", false, NULL, NULL);
    pf_found_close(&found);
    options.symfs = made_directory;
}

static void test_options(void **state)
{
    const struct perfile_symbol_options wanted = {
        .symfs = "s", .vmlinux = "v", .kallsyms = "k", .buildid_dir = "b", .no_inline = true};
    (void)state;
    assert_int_equal(setenv("DEBUGINFOD_URLS", "", 1), 0);
    assert_false(pf_find_options_of(&wanted, NULL).asks_debuginfod);
    assert_int_equal(setenv("DEBUGINFOD_URLS", "file:///nonexistent", 1), 0);
    struct pf_find_options made = pf_find_options_of(&wanted, NULL);
    assert_true(made.asks_debuginfod);
    assert_string_equal(made.symfs, "s");
    assert_string_equal(made.vmlinux, "v");
    assert_string_equal(made.kallsyms, "k");
    assert_string_equal(made.buildid_dir, "b");
    assert_int_equal(unsetenv("DEBUGINFOD_URLS"), 0);
    assert_false(pf_find_options_of(&wanted, NULL).asks_debuginfod);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_build_id, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_by_name, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_another_file_under_the_name, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_short_build_ids_are_padded, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_cache, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_stripped_file_shadows_a_copy, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_virtual_names, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_vdso_by_build_id, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_debug_by_build_id, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_debug_by_link, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_kernel_modules, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_kcore, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_jitdump, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_perf_map, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_kernel, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_running_kernel, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_kernel_by_names, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_kernel_of_release, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_folder_of_binaries, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_system_files_are_not_opened, open_world, made_directory_close),
        cmocka_unit_test(test_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
