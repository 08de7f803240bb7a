/* SPDX-License-Identifier: MIT */
/* Tables of debug info are the same bytes for any number of threads and any size of their shares. */
#include "made_folder.h"
#include "symbol/dwarf/debug_module.h"
#include "symbol/dwarf/inlines_units.h"
#include "symbol/dwarf/names.h"

/* Functions that all units have, some that one has, and inlined ones at several depths. */
static const char source[] =
    "namespace made {\n"
    "template <int N> struct counter {\n"
    "    int at;\n"
    "    __attribute__((always_inline)) int add(int x) { return x * N + *(volatile int *)&at; }\n"
    "    __attribute__((always_inline)) int more(int x) { return add(x) + add(x + 1); }\n"
    "    __attribute__((noinline)) int twice(int x) { return more(x) - more(x + 2); }\n"
    "};\n"
    "}\n"
    "__attribute__((noinline)) static int own(int x) { return made::counter<UNIT>{x}.more(x) + 1; }\n"
    "extern \"C\" int NAME(int x) { return made::counter<100>{x}.twice(x) + own(x); }\n"
    "extern \"C\" int NAME_2(int x) { return made::counter<UNIT>{x}.twice(x) + own(x + 1); }\n"
    "#if UNIT == 0\n"
    "int main(int count, char **) { return NAME(count) + NAME_2(count); }\n"
    "#endif\n";

static int open_directory(void **state)
{
    if (made_directory_open(state) != 0)
        return -1;
    made_file("a.cc", source, sizeof(source) - 1);
    return 0;
}

/* Returns false when the machine has no such compiler, or one without these options. */
static bool compile_by(const char *compiler, const char *options)
{
    char commands[400];
    snprintf(commands, sizeof(commands),
             "for i in 0 1 2 3; do %s -O1 -g %s -DUNIT=$i -DNAME=f$i -DNAME_2=g$i -c a.cc -o a$i.o || exit 1; done;"
             "%s -O1 -g %s a[0-3].o -o a.out",
             compiler, options, compiler, options);
    return made_run(commands);
}

static bool compile(const char *options)
{
    return compile_by("c++", options);
}

static bool is_same(const struct pf_inlines *a, const struct pf_inlines *b)
{
    return a->bytes == b->bytes && memcmp(a->block, b->block, a->bytes) == 0;
}

static void compare(const char *path, const char *alternate)
{
    static const unsigned threads[] = {1, 2, 3, 8};
    for (unsigned i = 0; i < 4 * PF_COUNT(threads); i++) {
        struct pf_inlines_request request = {.path = path, .alternate_path = alternate, .detailed = i & 1};
        struct pf_inlines *alone, *together;
        assert_int_equal(pf_inlines_read(&request, NULL, &alone, NULL), 0);
        request.share_bytes = i & 2 ? 1 : 700;
        request.threads = threads[i / 4];
        assert_int_equal(pf_inlines_read(&request, NULL, &together, NULL), 0);
        assert_true(alone->line_count > 8 && alone->segment_count > 8);
        assert_true(is_same(alone, together));
        pf_inlines_close(alone);
        pf_inlines_close(together);
    }
}

static void test_compiled(void **state)
{
    (void)state;
    static const char *const options[] = {"",
                                          "-gdwarf-2",
                                          "-gdwarf-4 -fdebug-types-section",
                                          "-gdwarf-5 -gsplit-dwarf",
                                          "-gdwarf-5 -gsplit-dwarf -fdebug-types-section",
                                          "-ffunction-sections -Wl,--gc-sections",
                                          "-flto",
                                          "-gz"};
    for (size_t i = 0; i < PF_COUNT(options); i++)
        if (compile(options[i]))
            compare(made_path("a.out"), NULL);
}

/* It does not state where siblings are. */
static void test_clang(void **state)
{
    (void)state;
    static const char *const options[] = {"", "-gdwarf-4 -fdebug-types-section", "-gdwarf-5 -gsplit-dwarf"};
    for (size_t i = 0; i < PF_COUNT(options); i++)
        if (compile_by("clang++", options[i]))
            compare(made_path("a.out"), NULL);
}

static void test_package(void **state)
{
    (void)state;
    if (!compile("-gdwarf-4 -gsplit-dwarf") || !made_run("timeout 10 dwp -e a.out -o a.out.dwp && rm *.dwo"))
        skip();
    compare(made_path("a.out"), NULL);
    unlink(made_path("a.out.dwp"));
}

/* Units refer to others of the same file, and to those of a common one. */
static void test_dwz(void **state)
{
    (void)state;
    if (!compile("-gdwarf-4") || !made_run("cp a.out b.out && cp a.out c.out && dwz c.out"))
        skip();
    compare(made_path("c.out"), NULL);
    if (made_run("dwz -m common a.out b.out"))
        compare(made_path("a.out"), made_path("common"));
}

/* The test itself, as far as it has debug info. */
static void test_real(void **state)
{
    (void)state;
    const struct pf_inlines_request request = {.path = "/proc/self/exe"};
    struct pf_inlines *inlines;
    if (pf_inlines_read(&request, NULL, &inlines, NULL) < 0)
        skip();
    pf_inlines_close(inlines);
    compare(request.path, NULL);
}

/* How many references of a unit to units of types lead to one, of all. */
static size_t count_types(struct pf_unit *unit, size_t *stated)
{
    struct pf_attribute attribute;
    struct pf_die die, type;
    size_t found = 0;
    if (!pf_unit_top(unit, &die) || !pf_die_child(&die, &die))
        return 0;
    do {
        struct pf_attributes attributes = pf_die_attributes(&die);
        while (pf_next_attribute(&attributes, &attribute))
            if (attribute.form == DW_FORM_ref_sig8) {
                ++*stated;
                found += pf_attribute_die(&attribute, &type) && pf_die_tag(&type) == DW_TAG_structure_type;
            }
    } while (pf_die_sibling(&die, &die));
    return found;
}

static void check_split_types(void)
{
    const struct pf_debug_opening opening = {.allocator = pf_allocator_or_default(NULL), .with_variables = true};
    struct pf_debug_module module;
    size_t found = 0, stated = 0;
    assert_int_equal(pf_debug_module_open(&module, made_path("a.out"), NULL, &opening, NULL), 0);
    for (size_t i = 0; i < module.file.debug.unit_count; i++)
        found += count_types(pf_debug_module_unit(&module, &module.file.debug.units[i]), &stated);
    assert_true(stated);
    assert_int_equal(found, stated);
    pf_debug_module_close(&module);
}

/* Each type is in a section of its own, and in packages a unit of its own. */
static void test_split_types(void **state)
{
    (void)state;
    static const char source_of_types[] = "struct one { int x; };\n"
                                          "struct two { long z; };\n"
                                          "struct three { short w; };\n"
                                          "int NAME(one *a, two *b, three *c) { return a->x + (int)b->z + c->w; }\n"
                                          "#if UNIT == 0\n"
                                          "int main() { return NAME(nullptr, nullptr, nullptr); }\n"
                                          "#endif\n";
    static const char *const options[] = {"-gdwarf-4 -gsplit-dwarf -fdebug-types-section",
                                          "-gdwarf-5 -gsplit-dwarf -fdebug-types-section"};
    made_file("a.cc", source_of_types, sizeof(source_of_types) - 1);
    for (size_t i = 0; i < PF_COUNT(options); i++)
        if (compile(options[i]))
            check_split_types();
    if (compile(options[0]) && made_run("timeout 10 dwp -e a.out -o a.out.dwp && rm *.dwo"))
        check_split_types();
    for (size_t i = 0; i < PF_COUNT(options); i++)
        if (compile_by("clang++", options[i]) && made_run("llvm-dwp -e a.out -o a.out.dwp && rm *.dwo"))
            check_split_types();
    unlink(made_path("a.out.dwp"));
    made_file("a.cc", source, sizeof(source) - 1);
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

/* The tables of what so many steps lead to, and the steps that are left; NULL: nothing. */
static struct pf_inlines *read_steps(uint64_t *steps, unsigned threads)
{
    const struct perfile_allocator *allocator = pf_allocator_or_default(NULL);
    struct pf_debug_module module;
    struct pf_inlines_builder builder;
    struct pf_inlines *inlines = NULL;
    struct perfile_error error;
    const struct pf_inlines_request request = {.path = made_path("a.out"), .threads = threads, .share_bytes = 1};
    const struct pf_claim code = {.high = UINT64_MAX};
    const struct pf_debug_opening opening = {.allocator = allocator, .threads = threads};
    assert_int_equal(pf_debug_module_open(&module, request.path, NULL, &opening, &error), 0);
    const struct pf_line_sections sections = pf_debug_line_sections(&module.file.debug);
    struct pf_units units = {
        .request = &request, .module = &module, .debug = &module.file.debug, .sections = &sections};
    pf_builder_open(&builder, allocator);
    pf_builder_claim(&builder, &builder.code, &code);
    builder.steps = *steps;
    pf_units_read(&units, &builder);
    *steps = builder.steps;
    const int result = pf_builder_finish(&builder, &inlines, &error);
    assert_true(result == 0 || result == PERFILE_ERROR_ABSENT);
    pf_builder_close(&builder);
    pf_debug_module_close(&module);
    return inlines;
}

static void compare_steps(void)
{
    for (uint64_t steps = 0, left = 0; left == 0; steps += 61) {
        uint64_t others = left = steps;
        struct pf_inlines *alone = read_steps(&left, 1), *together = read_steps(&others, 3);
        assert_int_equal(left, others);
        assert_true(!alone == !together && (!alone || is_same(alone, together)));
        pf_inlines_close(alone);
        pf_inlines_close(together);
    }
}

/* A file that costs more than its size lets expect ends at the same entry or range. */
static void test_steps(void **state)
{
    (void)state;
    static const char *const options[] = {"", "-ffunction-sections -gsplit-dwarf"};
    for (size_t i = 0; i < PF_COUNT(options); i++)
        if (compile(options[i]))
            compare_steps();
}

static void write_file(const char *name, const uint8_t *data, size_t bytes)
{
    FILE *file = fopen(made_path(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

/* Where a unit was cut, one thread may come from another side: references to siblings lie. */
static void check_damaged(void)
{
    struct pf_inlines_request request = {.path = made_path("damaged")};
    struct pf_inlines *alone, *together;
    struct perfile_error error;
    const int result = pf_inlines_read(&request, NULL, &alone, &error);
    request.threads = 2;
    request.share_bytes = 1;
    assert_int_equal(pf_inlines_read(&request, NULL, &together, &error), result);
    assert_true(!alone == !together && (!alone || is_same(alone, together)));
    pf_inlines_close(alone);
    pf_inlines_close(together);
}

static void test_damaged(void **state)
{
    (void)state;
    static uint8_t data[256 * 1024];
    if (!compile("-gdwarf-4"))
        skip();
    FILE *file = fopen(made_path("a.out"), "rb");
    assert_non_null(file);
    const size_t bytes = fread(data, 1, sizeof(data), file);
    fclose(file);
    for (size_t at = 64; at < bytes; at += 101) {
        const uint8_t before = data[at];
        data[at] ^= (uint8_t)(at * 7 | 1);
        write_file("damaged", data, bytes);
        data[at] = before;
        check_damaged();
    }
}

/* Memory that is missing for threads is done without; all else is an error. */
static void check_memory(void)
{
    enum { PLENTY = 1 << 30 };
    struct pf_inlines_request request = {.path = made_path("a.out")};
    struct pf_inlines *alone, *together;
    struct perfile_error error;
    struct counting c;
    assert_int_equal(pf_inlines_read(&request, NULL, &alone, NULL), 0);
    request.threads = 3;
    request.share_bytes = 1;
    int allocations = PLENTY;
    for (int left = PLENTY; left >= 0; left = left == PLENTY ? allocations : left - 1) {
        counting_open(&c, left);
        const int result = pf_inlines_read(&request, &c.allocator, &together, &error);
        assert_true(result == 0 ? is_same(alone, together) : result == PERFILE_ERROR_MEMORY && !together);
        allocations = left == PLENTY ? PLENTY - c.left : allocations;
        assert_true(result == 0 || left != PLENTY);
        pf_inlines_close(together);
        counting_close(&c);
    }
    pf_inlines_close(alone);
}

static void test_memory(void **state)
{
    (void)state;
    static const char *const options[] = {"", "-gz", "-gdwarf-5 -gsplit-dwarf -fdebug-types-section"};
    for (size_t i = 0; i < PF_COUNT(options); i++)
        if (compile(options[i]))
            check_memory();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compiled), cmocka_unit_test(test_clang),       cmocka_unit_test(test_package),
        cmocka_unit_test(test_dwz),      cmocka_unit_test(test_split_types), cmocka_unit_test(test_real),
        cmocka_unit_test(test_steps),    cmocka_unit_test(test_damaged),     cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, open_directory, made_directory_close);
}
