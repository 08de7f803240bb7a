/* SPDX-License-Identifier: MIT */
#include "symbol/dwarf/inlines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "made_folder.h"
#include "symbol/dwarf/inlines_tables.h"

/* ---- claims --------------------------------------------------------------------------------------------------- */

static void claim(struct pf_inlines_builder *b, uint32_t node, uint64_t low, uint64_t high)
{
    const struct pf_claim c = {low, high, node, node};
    pf_builder_claim(b, &b->node_claims, &c);
}

static uint32_t function(struct pf_inlines_builder *b, const char *name, uint32_t parent, uint32_t call_line)
{
    const struct pf_inline_node node = {
        .parent = parent, .function = pf_builder_text(b, name), .call_file = pf_builder_text(b, "f.c"), call_line, 7};
    return pf_builder_node(b, &node);
}

static const char *name_at(const struct pf_inlines *inlines, uint64_t address)
{
    struct pf_source_frame frame;
    return pf_inlines_find(inlines, address, &frame, 1) ? frame.function : "";
}

/* outer 10..100; inside it inner 20..30 and 40..50, inside that innermost 20..22; `late` over the end of outer. */
static struct pf_inlines *make_claims(const struct perfile_allocator *allocator)
{
    struct pf_inlines_builder b;
    struct pf_inlines *inlines = NULL;
    pf_builder_open(&b, allocator);
    uint32_t outer = function(&b, "outer", UINT32_MAX, 0);
    function(&b, "unused", UINT32_MAX, 0);
    uint32_t inner = function(&b, "inner", outer, 3);
    uint32_t innermost = function(&b, "innermost", inner, 4);
    uint32_t late = function(&b, "late", UINT32_MAX, 0);
    claim(&b, innermost, 20, 22);
    claim(&b, outer, 10, 100);
    claim(&b, late, 90, 120);
    claim(&b, inner, 40, 50);
    claim(&b, inner, 20, 30);
    claim(&b, late, 200, 201);
    int result = pf_builder_finish(&b, &inlines, NULL);
    assert_true(result == 0 || result == PERFILE_ERROR_MEMORY);
    assert_true((result == 0) == (inlines != NULL));
    pf_builder_close(&b);
    return inlines;
}

static void test_claims(void **state)
{
    (void)state;
    static const struct {
        uint64_t address;
        const char *name;
    } expected[] = {{0, ""},       {9, ""},       {10, "outer"}, {19, "outer"}, {20, "innermost"}, {21, "innermost"},
                    {22, "inner"}, {29, "inner"}, {30, "outer"}, {40, "inner"}, {50, "outer"},     {90, "late"},
                    {119, "late"}, {120, ""},     {199, ""},     {200, "late"}, {201, ""},         {UINT64_MAX, ""}};
    struct counting c;
    counting_open(&c, -1);
    struct pf_inlines *inlines = make_claims(&c.allocator);
    assert_int_equal(inlines->node_count, 4);
    for (size_t i = 0; i < PF_COUNT(expected); i++)
        assert_string_equal(name_at(inlines, expected[i].address), expected[i].name);
    struct pf_source_frame frames[3] = {{.line = 0}};
    assert_int_equal(pf_inlines_find(inlines, 21, NULL, 0), 3);
    assert_int_equal(pf_inlines_find(inlines, 21, frames, 2), 3);
    assert_null(frames[2].function);
    assert_int_equal(pf_inlines_find(inlines, 21, frames, 3), 3);
    assert_null(frames[0].file);
    assert_true(frames[0].inlined && frames[1].inlined && !frames[2].inlined);
    assert_string_equal(frames[1].function, "inner");
    assert_string_equal(frames[1].file, "f.c");
    assert_int_equal(frames[1].line, 4);
    assert_int_equal(frames[2].line, 3);
    assert_int_equal(frames[2].column, 7);
    pf_inlines_close(inlines);
    pf_inlines_close(NULL);
    counting_close(&c);
}

/* Against the plain way, on many claims that overlap as they like. */
static void test_claims_random(void **state)
{
    (void)state;
    enum { CLAIMS = 200, SPACE = 1000 };
    uint32_t owner[SPACE], seed = 1;
    struct pf_inlines_builder b;
    struct pf_inlines *inlines;
    char name[16];
    memset(owner, 0xff, sizeof(owner));
    pf_builder_open(&b, pf_allocator_or_default(NULL));
    for (uint32_t i = 0; i < CLAIMS; i++) {
        seed = seed * 1103515245 + 12345;
        uint64_t low = (seed >> 8) % SPACE, high = pf_min(SPACE, low + (seed >> 20) % 60);
        sprintf(name, "%u", i);
        claim(&b, function(&b, name, UINT32_MAX, 0), low, high);
        for (uint64_t k = low; k < high; k++)
            owner[k] = i;
    }
    assert_int_equal(pf_builder_finish(&b, &inlines, NULL), 0);
    for (uint64_t k = 0; k < SPACE; k++) {
        sprintf(name, "%u", owner[k]);
        assert_string_equal(name_at(inlines, k), owner[k] == UINT32_MAX ? "" : name);
    }
    pf_builder_close(&b);
    pf_inlines_close(inlines);
}

static void test_claims_memory(void **state)
{
    (void)state;
    struct pf_inlines *inlines = NULL;
    for (int left = 0; !inlines; left++) {
        struct counting c;
        counting_open(&c, left);
        inlines = make_claims(&c.allocator);
        pf_inlines_close(inlines);
        counting_close(&c);
    }
}

/* ---- what compilers make -------------------------------------------------------------------------------------- */

static const char source[] = "__attribute__((always_inline)) static inline int leaf(int x)\n"
                             "{\n"
                             "    return x * 3 + *(volatile int *)&x;\n"
                             "}\n"
                             "__attribute__((always_inline)) static inline int middle(int x)\n"
                             "{\n"
                             "    return leaf(x) + 1;\n"
                             "}\n"
                             "__attribute__((noinline)) int outer(int x)\n"
                             "{\n"
                             "    return middle(x) - 1;\n"
                             "}\n"
                             "int main(int argc, char **argv) { return outer(argc) + (argv == 0); }\n";

/* Returns false when the machine has no compiler, or one without these options. */
static bool compile(const char *options)
{
    char command[256];
    made_file("a.c", source, sizeof(source) - 1);
    snprintf(command, sizeof(command), "cc -O2 -g %s a.c -o a.out", options);
    return made_run(command);
}

/* An address in leaf's body, three functions deep; 0: none. */
static uint64_t find_leaf(const struct pf_inlines *inlines, struct pf_source_frame frames[3])
{
    for (uint64_t address = 0; address < 0x410000; address++)
        if (pf_inlines_find(inlines, address, frames, 3) == 3 && frames[0].line == 3)
            return address;
    return 0;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = text ? strlen(text) : 0;
    return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

static void check_compiled(const char *options)
{
    struct pf_source_frame frames[3];
    struct pf_inlines *inlines;
    struct perfile_error error;
    if (!compile(options))
        return;
    assert_int_equal(pf_inlines_open(made_path("a.out"), NULL, NULL, &inlines, &error), 0);
    assert_true(find_leaf(inlines, frames));
    assert_string_equal(frames[0].function, "leaf");
    assert_string_equal(frames[1].function, "middle");
    assert_string_equal(frames[2].function, "outer");
    assert_int_equal(frames[1].line, 7);
    assert_int_equal(frames[2].line, 11);
    assert_true(frames[0].inlined && frames[1].inlined && !frames[2].inlined);
    for (unsigned i = 0; i < 3; i++)
        assert_true(ends_with(frames[i].file, "/a.c") && frames[i].file[0] == '/');
    pf_inlines_close(inlines);
}

static void test_compiled(void **state)
{
    (void)state;
    static const char *const options[] = {"",
                                          "-gdwarf-4",
                                          "-gdwarf-3",
                                          "-gdwarf-2",
                                          "-gdwarf-5",
                                          "-gz",
                                          "-ffunction-sections",
                                          "-gdwarf-5 -gsplit-dwarf",
                                          "-gdwarf-4 -gsplit-dwarf",
                                          "-gdwarf64",
                                          "-gdwarf-4 -gz",
                                          "-flto",
                                          "-no-pie"};
    for (size_t i = 0; i < PF_COUNT(options); i++)
        check_compiled(options[i]);
}

/* Units of split DWARF in one package; the .dwo files are gone. */
static void check_package(const char *options, const char *tool)
{
    char command[256];
    struct pf_source_frame frames[3];
    struct pf_inlines *inlines;
    if (!compile(options))
        return;
    snprintf(command, sizeof(command), "%s -e a.out -o a.out.dwp && rm -f *.dwo", tool);
    if (made_run(command)) {
        assert_int_equal(pf_inlines_open(made_path("a.out"), NULL, NULL, &inlines, NULL), 0);
        assert_true(find_leaf(inlines, frames));
        assert_string_equal(frames[1].function, "middle");
        assert_string_equal(frames[2].function, "outer");
        assert_int_equal(frames[2].line, 11);
        pf_inlines_close(inlines);
    }
    unlink(made_path("a.out.dwp"));
}

static void test_package(void **state)
{
    (void)state;
    check_package("-gdwarf-4 -gsplit-dwarf", "timeout 10 dwp");
}

/* Split DWARF in the object file itself; one that was compiled anew since does not count. */
static void test_object(void **state)
{
    (void)state;
    static const char *const versions[] = {"-gdwarf-4", "-gdwarf-5"};
    struct pf_source_frame frames[3];
    struct pf_inlines *inlines;
    char compiling[256];
    for (size_t i = 0; i < PF_COUNT(versions); i++) {
        snprintf(compiling, sizeof(compiling), "clang -O2 -g %s -gsplit-dwarf=single -c a.c -o a.o", versions[i]);
        if (!compile("") || !made_run(compiling) || !made_run("clang a.o -o a.out"))
            skip();
        assert_int_equal(pf_inlines_open(made_path("a.out"), NULL, NULL, &inlines, NULL), 0);
        assert_true(find_leaf(inlines, frames));
        assert_string_equal(frames[1].function, "middle");
        assert_int_equal(frames[2].line, 11);
        pf_inlines_close(inlines);
        assert_true(made_run("echo 'int more(int x) { return x; }' >>a.c") && made_run(compiling));
        assert_int_equal(pf_inlines_open(made_path("a.out"), NULL, NULL, &inlines, NULL), 0);
        assert_false(find_leaf(inlines, frames));
        pf_inlines_close(inlines);
    }
}

/* libdw leaves compressed sections alone whose names it does not know: memory was not short for that. */
static void test_unknown_compressed(void **state)
{
    (void)state;
    struct pf_inlines *inlines;
    struct pf_source_frame frames[3];
    struct pf_watch watch;
    if (!compile("") || !made_run("seq 9999 >text && objcopy --add-section .debug_other=text "
                                  "a.out packed && objcopy --compress-debug-sections packed && "
                                  "readelf -S -W packed | grep -q '[.]debug_other.* C '"))
        skip();
    pf_watch_open(&watch, NULL);
    assert_int_equal(pf_inlines_open(made_path("packed"), NULL, &watch.allocator, &inlines, NULL), 0);
    assert_true(find_leaf(inlines, frames));
    pf_inlines_close(inlines);
}

/* Older versions of libelf cannot inflate these. */
static void test_zstd(void **state)
{
    (void)state;
    struct pf_inlines *inlines;
    struct pf_source_frame frames[3];
    if (!compile("") || !made_run("objcopy --compress-debug-sections=zstd a.out packed && "
                                  "readelf -S -W packed | grep -q '[.]debug_info.* C '"))
        skip();
    assert_int_equal(pf_inlines_open(made_path("packed"), NULL, NULL, &inlines, NULL), 0);
    assert_true(find_leaf(inlines, frames));
    assert_string_equal(frames[0].function, "leaf");
    assert_int_equal(frames[2].line, 11);
    pf_inlines_close(inlines);
}

static void test_absent(void **state)
{
    (void)state;
    struct pf_inlines *inlines;
    struct perfile_error error;
    assert_int_equal(pf_inlines_open("/dev/null/absent", NULL, NULL, &inlines, &error), PERFILE_ERROR_OPEN);
    assert_null(inlines);
    assert_int_equal(pf_inlines_open("/dev/null", NULL, NULL, &inlines, &error), PERFILE_ERROR_FORMAT);
    if (!compile("-g0"))
        skip();
    assert_int_equal(pf_inlines_open(made_path("a.c"), NULL, NULL, &inlines, &error), PERFILE_ERROR_FORMAT);
    assert_int_equal(pf_inlines_open(made_path("a.out"), NULL, NULL, &inlines, &error), PERFILE_ERROR_ABSENT);
}

/* libdw has memory of its own; ours is given back whenever it is short. */
static void test_memory(void **state)
{
    (void)state;
    struct pf_inlines *inlines = NULL;
    struct perfile_error error;
    if (!compile(""))
        skip();
    for (int left = 0; !inlines; left++) {
        struct counting c;
        counting_open(&c, left);
        int result = pf_inlines_open(made_path("a.out"), NULL, &c.allocator, &inlines, &error);
        assert_true(result == 0 || result == PERFILE_ERROR_MEMORY);
        pf_inlines_close(inlines);
        counting_close(&c);
    }
}

/* Any byte of a file may be wrong. */
static void test_damaged(void **state)
{
    (void)state;
    static uint8_t data[64 * 1024];
    struct pf_source_frame frames[8];
    if (!compile("-gdwarf-5"))
        skip();
    FILE *file = fopen(made_path("a.out"), "rb");
    assert_non_null(file);
    size_t bytes = fread(data, 1, sizeof(data), file);
    fclose(file);
    for (size_t at = 64; at < bytes; at += 37) {
        struct pf_inlines *inlines;
        uint8_t before = data[at];
        data[at] ^= (uint8_t)(at * 7 | 1);
        file = fopen(made_path("damaged"), "wb");
        assert_int_equal(fwrite(data, 1, bytes, file), bytes);
        fclose(file);
        data[at] = before;
        if (pf_inlines_open(made_path("damaged"), NULL, NULL, &inlines, NULL) < 0)
            continue;
        for (uint64_t address = 0x1000; address < 0x1300; address++)
            pf_inlines_find(inlines, address, frames, PF_COUNT(frames));
        pf_inlines_close(inlines);
    }
}

/* ---- the cache ------------------------------------------------------------------------------------------------ */

static const struct pf_inlines_key key = {
    .files = {.debug = {.bytes = 1}}, .build_id = {0xab, 0xcd, 1}, .build_id_bytes = 20};
enum { ROOMY = 1 << 20 };

static const char *cache(void)
{
    static char path[128];
    snprintf(path, sizeof(path), "%s/deep/cache", made_directory);
    return path;
}

static const char *cache_file(void)
{
    char name[128];
    snprintf(name, sizeof(name), "deep/cache/abcd010000000000000000000000000000000000-%016llx.inlines",
             (unsigned long long)pf_inlines_checksum(&key.files, sizeof(key.files)));
    return made_path(name);
}

static void save(void)
{
    struct pf_inlines *inlines = make_claims(pf_allocator_or_default(NULL));
    assert_int_equal(pf_inlines_save(inlines, cache(), &key, ROOMY, NULL), 0);
    pf_inlines_close(inlines);
}

static int load(struct pf_inlines **inlines)
{
    struct perfile_error error;
    return pf_inlines_load(cache(), &key, NULL, inlines, &error);
}

static void test_cache(void **state)
{
    (void)state;
    struct pf_inlines *inlines;
    assert_int_equal(load(&inlines), PERFILE_ERROR_ABSENT);
    assert_null(inlines);
    save();
    save();
    assert_int_equal(load(&inlines), 0);
    assert_string_equal(name_at(inlines, 21), "innermost");
    assert_string_equal(name_at(inlines, 45), "inner");
    assert_int_equal(unlink(cache_file()), 0); /* what is mapped stays */
    assert_string_equal(name_at(inlines, 200), "late");
    pf_inlines_close(inlines);
    save();
    struct pf_inlines_key other = key;
    assert_int_equal(pf_inlines_load(NULL, &other, NULL, &inlines, NULL), PERFILE_ERROR_ABSENT);
    other.files.debug.inode++;
    assert_int_equal(pf_inlines_load(cache(), &other, NULL, &inlines, NULL), PERFILE_ERROR_ABSENT);
    other = key;
    other.build_id[2]++;
    assert_int_equal(pf_inlines_load(cache(), &other, NULL, &inlines, NULL), PERFILE_ERROR_ABSENT);
    other.build_id_bytes = 0;
    assert_int_equal(pf_inlines_load(cache(), &other, NULL, &inlines, NULL), PERFILE_ERROR_ABSENT);
}

static size_t read_cache(uint8_t data[8192])
{
    FILE *file = fopen(cache_file(), "rb");
    assert_non_null(file);
    size_t bytes = fread(data, 1, 8192, file);
    fclose(file);
    assert_in_range(bytes, 200, 8191);
    return bytes;
}

static void write_cache(const uint8_t *data, size_t bytes)
{
    FILE *file = fopen(cache_file(), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    fclose(file);
}

/* Any bit wrong, any length wrong: it is as if there were none, and the file goes. */
static void test_cache_damaged(void **state)
{
    (void)state;
    uint8_t data[8192];
    struct pf_inlines *inlines;
    save();
    size_t bytes = read_cache(data);
    for (size_t i = 0; i < bytes; i++) {
        data[i] ^= (uint8_t)(1 << i % 8);
        write_cache(data, bytes);
        data[i] ^= (uint8_t)(1 << i % 8);
        assert_int_equal(load(&inlines), PERFILE_ERROR_ABSENT);
        assert_int_not_equal(access(cache_file(), F_OK), 0);
    }
    for (size_t i = 0; i < bytes; i += 3) {
        write_cache(data, i);
        assert_int_equal(load(&inlines), PERFILE_ERROR_ABSENT);
    }
    write_cache(data, bytes);
    assert_int_equal(load(&inlines), 0);
    pf_inlines_close(inlines);
}

/* With checksums made to fit: what a block says must not lead out of it. */
static void test_cache_forged(void **state)
{
    (void)state;
    uint8_t data[8192], forged[8192];
    struct pf_inlines_header header;
    struct pf_source_frame frames[4];
    struct pf_inlines *inlines;
    save();
    size_t bytes = read_cache(data);
    for (size_t i = 16; i + 4 <= bytes; i += 4) {
        memcpy(forged, data, bytes);
        memset(forged + i, i % 8 ? 0xff : 0x05, 4);
        memcpy(&header, forged, sizeof(header));
        header.body_checksum = pf_inlines_checksum(forged + sizeof(header), bytes - sizeof(header));
        header.header_checksum = pf_inlines_checksum(&header, offsetof(struct pf_inlines_header, header_checksum));
        memcpy(forged, &header, sizeof(header));
        write_cache(forged, bytes);
        if (load(&inlines) != 0)
            continue;
        for (uint64_t address = 0; address < 210; address++)
            pf_inlines_find(inlines, address, frames, PF_COUNT(frames));
        pf_inlines_close(inlines);
    }
}

static struct pf_inlines_key numbered(unsigned number)
{
    return (struct pf_inlines_key){.build_id = {9, 9, 9, (uint8_t)number}, .build_id_bytes = 4};
}

static bool is_cached(unsigned number)
{
    const struct pf_inlines_key id = numbered(number);
    struct pf_inlines *inlines;
    int result = pf_inlines_load(cache(), &id, NULL, &inlines, NULL);
    pf_inlines_close(inlines);
    return result == 0;
}

/* The times of some file systems are seconds. */
static void set_age(unsigned number, time_t seconds)
{
    const struct pf_inlines_key id = numbered(number);
    char name[128];
    struct timespec times[2] = {{.tv_sec = time(NULL) - seconds}, {.tv_sec = time(NULL) - seconds}};
    snprintf(name, sizeof(name), "deep/cache/090909%02x-%016llx.inlines", number,
             (unsigned long long)pf_inlines_checksum(&id.files, sizeof(id.files)));
    assert_int_equal(utimensat(AT_FDCWD, made_path(name), times, 0), 0);
}

static void test_cache_limit(void **state)
{
    (void)state;
    struct pf_inlines *inlines = make_claims(pf_allocator_or_default(NULL));
    struct perfile_error error;
    unlink(cache_file());
    uint64_t limit = 3 * inlines->bytes;
    for (unsigned i = 0; i < 4; i++) {
        const struct pf_inlines_key id = numbered(i);
        if (i == 3)
            assert_true(is_cached(0)); /* now 1 is the one that was used longest ago */
        assert_int_equal(pf_inlines_save(inlines, cache(), &id, limit, &error), 0);
        set_age(i, 9000 - 1000 * (time_t)i);
    }
    assert_true(is_cached(0) && !is_cached(1) && is_cached(2) && is_cached(3));
    assert_int_equal(pf_inlines_save(inlines, cache(), &key, inlines->bytes - 1, &error), PERFILE_ERROR_LIMIT);
    assert_int_equal(pf_inlines_save(inlines, "/proc/nothing", &key, ROOMY, &error), PERFILE_ERROR_WRITE);
    assert_int_equal(pf_inlines_save(inlines, NULL, &key, ROOMY, &error), PERFILE_ERROR_ARGUMENT);
    pf_inlines_close(inlines);
}

/* One process saves, one loads, a third removes: each load is complete or absent. */
static void test_cache_together(void **state)
{
    (void)state;
    pid_t children[2];
    for (unsigned k = 0; k < 2; k++) {
        children[k] = fork();
        assert_true(children[k] >= 0);
        if (children[k] != 0)
            continue;
        struct pf_inlines *inlines = make_claims(pf_allocator_or_default(NULL));
        for (unsigned i = 0; i < 300; i++) {
            if (k == 0 && pf_inlines_save(inlines, cache(), &key, ROOMY, NULL) < 0)
                _exit(1);
            if (k == 1)
                unlink(cache_file());
        }
        _exit(0);
    }
    for (unsigned i = 0; i < 600; i++) {
        struct pf_inlines *inlines;
        if (load(&inlines) == 0)
            assert_string_equal(name_at(inlines, 45), "inner");
        pf_inlines_close(inlines);
    }
    for (unsigned k = 0; k < 2; k++) {
        int status;
        assert_int_equal(waitpid(children[k], &status, 0), children[k]);
        assert_int_equal(status, 0);
    }
}

static void test_cache_directory(void **state)
{
    (void)state;
    static const char *const cases[][3] = {{"/x", "/", "/x/perfile"},
                                           {"relative", "/", "//.cache/perfile"},
                                           {NULL, "/", "//.cache/perfile"},
                                           {NULL, "/proc/none", NULL}, /* no folder: not one to be made */
                                           {NULL, NULL, NULL}};
    for (size_t i = 0; i < PF_COUNT(cases); i++) {
        unsetenv("XDG_CACHE_HOME");
        unsetenv("HOME");
        if (cases[i][0])
            setenv("XDG_CACHE_HOME", cases[i][0], 1);
        if (cases[i][1])
            setenv("HOME", cases[i][1], 1);
        char *path = pf_cache_directory(pf_allocator_or_default(NULL));
        assert_true((path != NULL) == (cases[i][2] != NULL));
        if (path)
            assert_string_equal(path, cases[i][2]);
        pf_text_free(pf_allocator_or_default(NULL), path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_claims),
        cmocka_unit_test(test_claims_random),
        cmocka_unit_test(test_claims_memory),
        cmocka_unit_test(test_compiled),
        cmocka_unit_test(test_package),
        cmocka_unit_test(test_object),
        cmocka_unit_test(test_unknown_compressed),
        cmocka_unit_test(test_zstd),
        cmocka_unit_test(test_absent),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_cache),
        cmocka_unit_test(test_cache_damaged),
        cmocka_unit_test(test_cache_forged),
        cmocka_unit_test(test_cache_limit),
        cmocka_unit_test(test_cache_together),
        cmocka_unit_test(test_cache_directory),
    };
    return cmocka_run_group_tests(tests, made_directory_open, made_directory_close);
}
