/* SPDX-License-Identifier: MIT */
#include "analysis/pgo/lines.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/pgo/pieces.h"
#include "counting.h"

/* ---- pieces ---------------------------------------------------------------------------------------------------- */

static void test_pieces(void **state)
{
    (void)state;
    static const struct pf_pgo_piece expected[] = {{10, 15, 5}, {15, 20, 12}, {20, 30, 7}, {40, 41, 0}, {41, 50, 1}};
    struct counting c;
    counting_open(&c, -1);
    struct pf_pgo_pieces pieces = {.allocator = &c.allocator};
    assert_true(pf_pgo_pieces_add(&pieces, 15, 30, 7));
    assert_true(pf_pgo_pieces_add(&pieces, 10, 20, 5));
    assert_true(pf_pgo_pieces_add(&pieces, 40, 50, 0)); /* it is cut, although it adds nothing */
    assert_true(pf_pgo_pieces_add(&pieces, 41, 50, 1));
    assert_true(pf_pgo_pieces_add(&pieces, 60, 60, 9)); /* empty */
    assert_true(pf_pgo_pieces_cut(&pieces));
    assert_int_equal(pieces.count, PF_COUNT(expected));
    assert_memory_equal(pieces.items, expected, sizeof(expected));
    pf_pgo_pieces_close(&pieces);
    counting_close(&c);
}

/* Counts that no recording has: sums stop, and are exact again where fewer ranges overlap. */
static void test_pieces_saturate(void **state)
{
    (void)state;
    struct counting c;
    counting_open(&c, -1);
    struct pf_pgo_pieces pieces = {.allocator = &c.allocator};
    for (uint64_t i = 0; i < 3; i++)
        assert_true(pf_pgo_pieces_add(&pieces, 10 + i, 20 + i, UINT64_MAX));
    assert_true(pf_pgo_pieces_add(&pieces, 0, UINT64_MAX, 4));
    assert_true(pf_pgo_pieces_cut(&pieces));
    assert_int_equal(pieces.items[0].count, 4);
    for (size_t i = 1; i < 6; i++)
        assert_true(pieces.items[i].count == UINT64_MAX);
    assert_int_equal(pieces.items[6].count, 4);
    assert_int_equal(pieces.count, 7);
    pf_pgo_pieces_close(&pieces);
    counting_close(&c);
}

/* Against the plain way. */
static void test_pieces_random(void **state)
{
    (void)state;
    enum { RANGES = 100, SPACE = 500 };
    uint64_t sums[SPACE] = {0}, depths[SPACE] = {0};
    uint32_t seed = 1;
    struct counting c;
    counting_open(&c, -1);
    struct pf_pgo_pieces pieces = {.allocator = &c.allocator};
    for (unsigned i = 0; i < RANGES; i++) {
        seed = seed * 1103515245 + 12345;
        const uint64_t low = (seed >> 8) % SPACE, high = pf_min(SPACE, low + (seed >> 20) % 20), count = seed >> 3 & 3;
        assert_true(pf_pgo_pieces_add(&pieces, low, high, count));
        for (uint64_t k = low; k < high; k++) {
            sums[k] += count;
            depths[k]++;
        }
    }
    assert_true(pf_pgo_pieces_cut(&pieces));
    for (size_t i = 0; i < pieces.count; i++) {
        assert_true(i == 0 || pieces.items[i - 1].high <= pieces.items[i].low);
        for (uint64_t k = pieces.items[i].low; k < pieces.items[i].high; k++) {
            assert_int_equal(sums[k], pieces.items[i].count);
            depths[k] = 0;
        }
    }
    for (size_t k = 0; k < SPACE; k++)
        assert_int_equal(depths[k], 0);
    pf_pgo_pieces_close(&pieces);
    counting_close(&c);
}

/* ---- adding up by line ------------------------------------------------------------------------------------------ */

static const char name_a[] = "a", name_b[] = "b", name_z[] = "z";

/* False when out of memory. */
static bool make_tree(struct pf_pgo_lines *lines, const struct perfile_allocator *allocator)
{
    pf_pgo_lines_make(lines, allocator);
    const uint32_t z = pf_pgo_lines_instance(lines, PF_PGO_TOP, name_z);
    const uint32_t a = lines->failed ? UINT32_MAX : pf_pgo_lines_instance(lines, PF_PGO_TOP, name_a);
    const uint32_t late = lines->failed ? UINT32_MAX : pf_pgo_lines_line(lines, z, 9ull << 32);
    const uint32_t early = lines->failed ? UINT32_MAX : pf_pgo_lines_line(lines, z, 2ull << 32 | 1);
    const uint32_t inlined = lines->failed ? UINT32_MAX : pf_pgo_lines_instance(lines, late, name_b);
    const uint32_t inner = lines->failed ? UINT32_MAX : pf_pgo_lines_line(lines, inlined, 1ull << 32);
    if (lines->failed)
        return false;
    pf_pgo_lines_raise(lines, early, 5);
    pf_pgo_lines_raise(lines, early, 3);
    pf_pgo_lines_raise(lines, inner, 0);
    pf_pgo_lines_call(lines, early, name_b, 2);
    if (!lines->failed)
        pf_pgo_lines_call(lines, early, name_a, UINT64_MAX);
    if (!lines->failed)
        pf_pgo_lines_call(lines, early, name_a, 1);
    pf_pgo_lines_sort(lines);
    return !lines->failed && a != z;
}

static void test_tree(void **state)
{
    (void)state;
    struct counting c;
    counting_open(&c, -1);
    struct pf_pgo_lines lines;
    assert_true(make_tree(&lines, &c.allocator));
    assert_int_equal(lines.function_count, 2);
    assert_int_equal(lines.instance_count, 3);
    const struct pf_pgo_instance *a = &lines.instances[0], *z = &lines.instances[1];
    assert_string_equal(a->function, "a");
    assert_int_equal(a->line_count + a->inlined_count, 0);
    assert_string_equal(z->function, "z");
    assert_int_equal(z->line_count, 2);
    const struct pf_pgo_line *line = &lines.lines[z->lines];
    assert_int_equal(line->location, 2ull << 32 | 1);
    assert_int_equal(line->count, 5);
    assert_int_equal(line->target_count, 2);
    assert_string_equal(lines.targets[line->targets].function, "a");
    assert_true(lines.targets[line->targets].count == UINT64_MAX);
    assert_false(line[1].has_count);
    assert_int_equal(z->inlined_count, 1);
    const struct pf_pgo_instance *b = &lines.instances[z->inlined];
    assert_string_equal(b->function, "b");
    assert_int_equal(b->location, 9ull << 32);
    assert_true(b->line_count == 1 && lines.lines[b->lines].has_count);
    pf_pgo_lines_close(&lines);
    counting_close(&c);
}

static void test_tree_memory(void **state)
{
    (void)state;
    bool made = false;
    for (int left = 0; !made; left++) {
        struct counting c;
        struct pf_pgo_lines lines;
        counting_open(&c, left);
        made = make_tree(&lines, &c.allocator);
        pf_pgo_lines_close(&lines);
        counting_close(&c);
    }
}

/* ---- of a program ----------------------------------------------------------------------------------------------- */

static const char source[] = "volatile int kept;\n"
                             "static inline __attribute__((always_inline)) int leaf(int x)\n"
                             "{\n"
                             "    return x * 3 + kept;\n"
                             "}\n"
                             "int main(int argc, char **argv)\n"
                             "{\n"
                             "    return leaf(argc) + (argv == 0);\n"
                             "}\n";
static char directory[] = "/tmp/perfile-pgo-lines-XXXXXX";
static char program[64];

static int make_program(void **state)
{
    (void)state;
    char command[256];
    if (!mkdtemp(directory))
        return -1;
    snprintf(program, sizeof(program), "%s/a.out", directory);
    snprintf(command, sizeof(command), "%s/a.c", directory);
    FILE *file = fopen(command, "w");
    if (!file || fputs(source, file) < 0 || fclose(file) != 0)
        return -1;
    snprintf(command, sizeof(command), "cd %s && cc -O2 -g a.c 2>/dev/null", directory);
    if (system(command) != 0)
        program[0] = '\0';
    return 0;
}

static int remove_program(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    return system(command);
}

static const struct pf_pgo_function *find_main(const struct pf_pgo_code *code)
{
    size_t count;
    const struct pf_pgo_function *functions = pf_pgo_functions(code, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(functions[i].name, "main") == 0)
            return &functions[i];
    return NULL;
}

static int open_lines(const struct pf_pgo_code *code, uint64_t address, const struct perfile_allocator *allocator,
                      struct pf_pgo_lines *lines)
{
    const struct pf_pgo_branch branch = {.from = PERFILE_PGO_OUTSIDE, .to = address, .count = 8};
    const struct pf_pgo_range range = {address, address, UINT64_MAX};
    const struct pf_pgo_profile profile = {.path = program,
                                           .branches = &branch,
                                           .branch_count = 1,
                                           .ranges = &range,
                                           .range_count = 1,
                                           .has_branches = true};
    const struct pf_pgo_lines_request request = {.profile = &profile, .code = code};
    struct perfile_pgo_counts counts = PERFILE_PGO_COUNTS_INIT;
    return pf_pgo_lines_open(&request, &counts, allocator, lines, NULL);
}

/* Its totals are larger than any number, which changes nothing else; and memory may be short at any moment. */
static void test_program(void **state)
{
    (void)state;
    struct pf_pgo_code *code;
    if (!program[0])
        skip();
    assert_int_equal(pf_pgo_code_open(program, pf_allocator_or_default(NULL), &code, NULL), 0);
    const struct pf_pgo_function *function = find_main(code);
    if (!function || !pf_pgo_has_instructions(code))
        skip();
    int result = PERFILE_ERROR_MEMORY;
    for (int left = 0; result == PERFILE_ERROR_MEMORY; left++) {
        struct counting c;
        struct pf_pgo_lines lines;
        counting_open(&c, left);
        result = open_lines(code, function->start, &c.allocator, &lines);
        if (result == 0) {
            assert_int_equal(lines.function_count, 1);
            assert_string_equal(lines.instances[0].function, "main");
            assert_int_equal(lines.instances[0].head, 8);
            assert_true(lines.instances[0].total == UINT64_MAX);
            assert_int_equal(lines.instances[0].inlined_count, 1);
            assert_string_equal(lines.instances[1].function, "leaf");
            pf_pgo_lines_close(&lines);
        }
        counting_close(&c);
    }
    assert_int_equal(result, 0);
    pf_pgo_code_close(code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces), cmocka_unit_test(test_pieces_saturate), cmocka_unit_test(test_pieces_random),
        cmocka_unit_test(test_tree),   cmocka_unit_test(test_tree_memory),     cmocka_unit_test(test_program),
    };
    return cmocka_run_group_tests(tests, make_program, remove_program);
}
