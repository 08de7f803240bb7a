/* SPDX-License-Identifier: MIT */
#include "symbol/table_elf.h"

#include <zstd.h>

#include "made_elf.h"

enum { TEXT = MADE_ADDRESS + MADE_TEXT_AT, PIECE = 1 << 4 };

/* ---- what every table must be ---------------------------------------------------------------------------------- */

static void check_table(const struct pf_symbol_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct pf_symbol *symbol = &table->symbols[i];
        assert_true(symbol->start < symbol->end);
        assert_true(i == 0 || table->symbols[i - 1].end <= symbol->start);
        assert_true(symbol->name < table->text_bytes);
        assert_true(pf_text_length(table->text + symbol->name, table->text_bytes - symbol->name) <
                    table->text_bytes - symbol->name);
        assert_ptr_equal(pf_symbol_table_find(table, symbol->start), symbol);
        assert_ptr_equal(pf_symbol_table_find(table, symbol->end - 1), symbol);
    }
}

/* "start-end name;..." with addresses relative to `base`; guessed ends end in '?', later pieces begin with '+'. */
static const char *show(const struct pf_symbol_table *table, uint64_t base)
{
    static char text[4096];
    size_t at = 0;
    text[0] = 0;
    for (size_t i = 0; i < table->count && at < sizeof(text) - 256; i++) {
        const struct pf_symbol *s = &table->symbols[i];
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s%llx-%llx%s %s", i ? ";" : "",
                               s->flags & PIECE ? "+" : "", (unsigned long long)(s->start - base),
                               (unsigned long long)(s->end - base), s->flags & PF_SYMBOL_GUESSED_END ? "?" : "",
                               pf_symbol_name(table, s));
    }
    return text;
}

static struct pf_symbol_table *read_elf(const char *path, const char *debug)
{
    struct pf_symbol_table *table = NULL;
    struct perfile_error error = {0};
    assert_int_equal(pf_symbol_table_from_elf(path, debug, NULL, &table, &error), 0);
    check_table(table);
    return table;
}

static void expect_symbols(const struct made_elf *elf, const char *wanted)
{
    struct made m;
    made_elf(&m, elf);
    struct pf_symbol_table *table = read_elf(made_file("symbols", m.data, m.bytes), NULL);
    assert_string_equal(show(table, TEXT), wanted);
    pf_symbol_table_close(table);
}

/* ---- ELF: which symbols ---------------------------------------------------------------------------------------- */

#define L STB_LOCAL
#define G STB_GLOBAL
#define W STB_WEAK
#define F STT_FUNC
#define N STT_NOTYPE
#define O STT_OBJECT
#define I STT_GNU_IFUNC

/* Each was asked of perf 7.2. */
static void test_one_of_two_at_one_address(void **state)
{
    (void)state;
    static const struct {
        struct made_symbol first, second;
        const char *shown;
    } cases[] = {
        {{.size = 8, .type = F, .bind = L, .name = "aa"}, {.size = 8, .type = F, .bind = L, .name = "bb"}, "0-8 aa"},
        {{.size = 8, .type = F, .bind = L, .name = "aa"}, {.size = 8, .type = F, .bind = L, .name = "bbb"}, "0-8 bbb"},
        {{.size = 8, .type = F, .bind = L, .name = "_aaa"}, {.size = 8, .type = F, .bind = L, .name = "bb"}, "0-8 bb"},
        {{.size = 8, .type = F, .bind = G, .name = "__a"}, {.size = 8, .type = F, .bind = G, .name = "_b"}, "0-8 _b"},
        {{.size = 8, .type = F, .bind = L, .name = "aaa"}, {.size = 8, .type = F, .bind = G, .name = "__b"}, "0-8 __b"},
        {{.size = 8, .type = F, .bind = W, .name = "aaa"}, {.size = 8, .type = F, .bind = L, .name = "bb"}, "0-8 bb"},
        {{.size = 8, .type = F, .bind = W, .name = "aa"}, {.size = 8, .type = N, .bind = G, .name = "bbb"}, "0-8 aa"},
        {{.size = 8, .type = N, .bind = L, .name = "aaa"}, {.size = 8, .type = O, .bind = L, .name = "bb"}, "0-8 bb"},
        {{.size = 8, .type = I, .bind = L, .name = "aa"}, {.size = 8, .type = F, .bind = L, .name = "bbb"}, "0-8 bbb"},
        {{.size = 8, .type = O, .bind = L, .name = "aaa"}, {.size = 8, .type = F, .bind = L, .name = "bb"}, "0-8 aaa"},
        {{.size = 4, .type = F, .bind = L, .name = "aa"}, {.size = 8, .type = F, .bind = L, .name = "bb"}, "0-4 aa"},
        {{.size = 0, .type = F, .bind = L, .name = "aaaa"}, {.size = 8, .type = F, .bind = W, .name = "bb"}, "0-8 bb"},
        {{.size = 0, .type = F, .bind = L, .name = "aaa"}, {.size = 0, .type = F, .bind = L, .name = "bb"}, "0-80? bb"},
        {{.size = 8, .type = N, .bind = L, .name = "aaa"}, {.size = 0, .type = F, .bind = L, .name = "bb"}, "0-80? bb"},
        {{.size = 8, .type = F, .bind = L, .name = "SyS_x"},
         {.size = 8, .type = F, .bind = L, .name = "sys_x"},
         "0-8 sys_x"},
    };
    for (size_t i = 0; i < PF_COUNT(cases); i++) {
        struct made_symbol symbols[] = {cases[i].first, cases[i].second};
        symbols[0].value = symbols[1].value = TEXT;
        symbols[0].section = symbols[1].section = MADE_TEXT;
        expect_symbols(&(struct made_elf){ET_DYN, EM_X86_64, .symbols = symbols, .count = 2}, cases[i].shown);
    }
}

static void test_kinds_and_ends(void **state)
{
    (void)state;
    static const struct made_symbol symbols[] = {
        {TEXT, 16, F, L, MADE_TEXT, "sized"},
        {TEXT + 8, 0, N, L, MADE_TEXT, "label"}, /* shows after the function */
        {TEXT + 32, 0, F, L, MADE_TEXT, "open"},
        {TEXT + 64, 0, F, L, MADE_TEXT, "last"},
        {TEXT + 48, 4, STT_TLS, L, MADE_TEXT, "tls"},
        {TEXT + 50, 4, STT_SECTION, L, MADE_TEXT, "section"},
        {TEXT + 51, 4, STT_FILE, L, SHN_ABS, "file.c"},
        {TEXT + 52, 4, F, G, SHN_UNDEF, "elsewhere"},
        {TEXT + 53, 4, F, G, 0x1234, "no such section"},
        {TEXT + 54, 4, F, G, MADE_TEXT, ""},
        {MADE_ADDRESS + MADE_OPD_AT, 0, N, L, MADE_OPD, "label outside of text"},
        {MADE_ADDRESS + MADE_OPD_AT + 8, 4, O, L, MADE_OPD, "data"},
    };
    expect_symbols(&(struct made_elf){ET_EXEC, EM_X86_64, .symbols = symbols, .count = PF_COUNT(symbols)},
                   "0-10 sized;+10-20? label;20-40? open;40-80? last;88-8c data");
}

/* The size of data around it does not hide a label: it is all that is known of code there. */
static void test_labels_within_functions(void **state)
{
    (void)state;
    static const struct made_symbol symbols[] = {
        {TEXT, 20, F, G, MADE_TEXT, "main"},      {TEXT + 4, 0, N, G, MADE_TEXT, "global label"},
        {TEXT + 8, 0, F, G, MADE_TEXT, "entry"},  {TEXT + 12, 4, F, L, MADE_TEXT, "inner"},
        {TEXT + 14, 0, N, L, MADE_TEXT, "deep"},  {TEXT + 32, 32, O, G, MADE_TEXT, "blob"},
        {TEXT + 40, 0, F, G, MADE_TEXT, "code"},  {TEXT + 48, 8, N, G, MADE_TEXT, "sized label"},
        {TEXT + 52, 0, N, G, MADE_TEXT, "label"},
    };
    expect_symbols(
        &(struct made_elf){ET_EXEC, EM_X86_64, .symbols = symbols, .count = PF_COUNT(symbols)},
        "0-c main;c-10 inner;+10-14 main;+14-20? deep;20-28 blob;28-30? code;30-34 sized label;34-80? label");
}

static void test_inner_symbols_show(void **state)
{
    (void)state;
    static const struct made_symbol symbols[] = {
        {TEXT, 64, F, L, MADE_TEXT, "outer"},
        {TEXT + 16, 16, F, L, MADE_TEXT, "inner"},
        {TEXT + 20, 4, F, L, MADE_TEXT, "core"},
        {TEXT + 56, 16, F, L, MADE_TEXT, "tail"},
    };
    expect_symbols(&(struct made_elf){ET_EXEC, EM_X86_64, .symbols = symbols, .count = PF_COUNT(symbols)},
                   "0-10 outer;10-14 inner;14-18 core;+18-20 inner;+20-38 outer;38-48 tail");
}

static void test_machines(void **state)
{
    (void)state;
    static const struct made_symbol arm[] = {
        {TEXT + 1, 4, F, G, MADE_TEXT, "thumb"}, {TEXT, 0, N, L, MADE_TEXT, "$t"},
        {TEXT + 8, 0, N, L, MADE_TEXT, "$a.1"},  {TEXT + 9, 4, O, L, MADE_TEXT, "odd"},
        {TEXT + 16, 4, N, L, MADE_TEXT, "$b"},
    };
    expect_symbols(&(struct made_elf){ET_DYN, EM_ARM, .symbols = arm, .count = PF_COUNT(arm)},
                   "0-4 thumb;9-d odd;10-14 $b");
    static const struct made_symbol riscv[] = {{TEXT, 4, F, G, MADE_TEXT, "f"},
                                               {TEXT + 2, 0, N, L, MADE_TEXT, "$xrv64i2p1_m2p0"},
                                               {TEXT + 3, 0, N, L, 1, "$d"}};
    expect_symbols(&(struct made_elf){ET_DYN, EM_RISCV, .symbols = riscv, .count = PF_COUNT(riscv)}, "0-4 f");
    static const struct made_symbol aarch64[] = {{TEXT, 4, F, G, MADE_TEXT, "f"}, {TEXT + 2, 0, N, L, 1, "$x"}};
    expect_symbols(&(struct made_elf){ET_DYN, EM_AARCH64, .big_endian = true, .symbols = aarch64, .count = 2}, "0-4 f");
    static const struct made_symbol x86[] = {{TEXT, 4, F, G, MADE_TEXT, "$x"}};
    expect_symbols(&(struct made_elf){ET_DYN, EM_X86_64, .symbols = x86, .count = 1}, "0-4 $x");
}

static void test_function_descriptors(void **state)
{
    (void)state;
    static const struct made_symbol symbols[] = {
        {MADE_ADDRESS + MADE_OPD_AT, 8, F, G, MADE_OPD, "first"},
        {MADE_ADDRESS + MADE_OPD_AT + 24, 8, F, G, MADE_OPD, "second"},
        {TEXT + 32, 4, F, L, MADE_TEXT, "direct"},
    };
    for (int big = 0; big < 2; big++)
        expect_symbols(&(struct made_elf){ET_EXEC, EM_PPC64, big, .symbols = symbols, .count = PF_COUNT(symbols),
                                          .opd = {TEXT + 16, TEXT}},
                       "0-8 second;10-18 first;20-24 direct");
}

static void test_both_byte_orders(void **state)
{
    (void)state;
    static const struct made_symbol symbols[] = {{TEXT, 16, F, G, MADE_TEXT, "function"}};
    for (int big = 0; big < 2; big++) {
        struct made m;
        uint64_t address;
        made_elf(&m, &(struct made_elf){ET_DYN, EM_S390, big, .id = 0x5a, .symbols = symbols, .count = 1});
        struct pf_symbol_table *table = read_elf(made_file("order", m.data, m.bytes), NULL);
        assert_string_equal(show(table, TEXT), "0-10 function");
        assert_int_equal(table->symbols[0].flags, PF_SYMBOL_GLOBAL);
        assert_int_equal(table->is_big_endian, big);
        assert_true(table->is_64 && table->has_symtab);
        assert_int_equal(table->e_machine, EM_S390);
        assert_int_equal(table->build_id_bytes, 20);
        assert_int_equal(table->build_id[19], 0x5a);
        assert_int_equal(table->segment_count, 1);
        assert_true(pf_symbol_table_address(table, MADE_TEXT_AT + 4, &address));
        assert_int_equal(address, TEXT + 4);
        assert_false(pf_symbol_table_address(table, MADE_OPD_AT + MADE_OPD_BYTES, &address));
        assert_null(pf_symbol_table_find(table, TEXT - 1));
        assert_null(pf_symbol_table_find(table, TEXT + 16));
        pf_symbol_table_close(table);
    }
}

/* Variables that start as zeros follow what is in the file, in the same page. */
static void test_zeros_after_the_file(void **state)
{
    (void)state;
    static const struct made_symbol symbols[] = {
        {MADE_ADDRESS + MADE_OPD_AT + MADE_OPD_BYTES, 8, O, G, MADE_OPD, "zeros"}};
    enum { END = MADE_OPD_AT + MADE_OPD_BYTES };
    struct made m;
    uint64_t address;
    made_elf(&m, &(struct made_elf){ET_DYN, EM_X86_64, .symbols = symbols, .count = 1, .zeros = 8});
    struct pf_symbol_table *table = read_elf(made_file("zeros", m.data, m.bytes), NULL);
    assert_true(pf_symbol_table_address(table, END + 7, &address));
    assert_int_equal(address, MADE_ADDRESS + END + 7);
    assert_string_equal(pf_symbol_name(table, pf_symbol_table_find(table, address)), "zeros");
    assert_false(pf_symbol_table_address(table, END + 8, &address));
    pf_symbol_table_close(table);
}

/* Kernel modules: addresses count from the first section with code. */
static void test_relocatable(void **state)
{
    (void)state;
    static const struct made_symbol symbols[] = {{0x10, 16, F, G, MADE_TEXT, "f"}, {0, 4, O, G, MADE_OPD, "data"}};
    struct made m;
    uint64_t address;
    made_elf(&m, &(struct made_elf){ET_REL, EM_X86_64, .symbols = symbols, .count = 2});
    struct pf_symbol_table *table = read_elf(made_file("module.ko", m.data, m.bytes), NULL);
    assert_string_equal(show(table, 0), "10-20 f");
    assert_true(pf_symbol_table_address(table, MADE_TEXT_AT + 0x10, &address));
    assert_int_equal(address, 0x10);
    assert_false(pf_symbol_table_address(table, MADE_OPD_AT, &address));
    pf_symbol_table_close(table);
}

/* Compressed completely; cut anywhere it is refused. */
static void test_packed(void **state)
{
    (void)state;
    static const struct made_symbol symbols[] = {{0x10, 16, F, G, MADE_TEXT, "f"}};
    struct made m;
    uint8_t packed[4096];
    struct pf_symbol_table *table;
    made_elf(&m, &(struct made_elf){ET_REL, EM_X86_64, .symbols = symbols, .count = 1});
    size_t bytes = ZSTD_compress(packed, sizeof(packed), m.data, m.bytes, 1);
    assert_false(ZSTD_isError(bytes));
    table = read_elf(made_file("module.ko.zst", packed, bytes), NULL);
    assert_string_equal(show(table, 0), "10-20 f");
    pf_symbol_table_close(table);
    for (size_t cut = 4; cut < bytes; cut++)
        assert_int_equal(pf_symbol_table_from_elf(made_file("cut", packed, cut), NULL, NULL, &table, NULL),
                         PERFILE_ERROR_DAMAGED);
}

static void test_separate_debug_file(void **state)
{
    (void)state;
    static const struct made_symbol own[] = {{TEXT, 8, F, G, MADE_TEXT, "own"}};
    static const struct made_symbol separate[] = {{TEXT, 8, F, G, MADE_TEXT, "separate"}};
    struct made m;
    made_elf(&m, &(struct made_elf){ET_DYN, EM_X86_64, .symbols = own, .count = 1});
    const char *path = made_file("binary", m.data, m.bytes);
    made_elf(&m, &(struct made_elf){ET_DYN, EM_X86_64, .symbols = separate, .count = 1});
    const char *debug = made_file("binary.debug", m.data, m.bytes);
    struct pf_symbol_table *table = read_elf(path, debug);
    assert_string_equal(show(table, TEXT), "0-8 separate");
    pf_symbol_table_close(table);
}

/* ---- ELF: from the compiler ------------------------------------------------------------------------------------ */

static void run_or_skip(const char *command)
{
    char in_directory[1024];
    snprintf(in_directory, sizeof(in_directory), "cd '%s' && { %s; } >log 2>&1", made_directory, command);
    if (system(in_directory) != 0) {
        print_message("not here: %s\n", command);
        skip();
    }
}

static const char program[] = "#include <stdio.h>\n#include <stdlib.h>\n"
                              "__attribute__((noinline)) static int inner(int x) { return x * 3 + getpid(); }\n"
                              "int getpid(void);\n"
                              "int main(int c, char **v) { puts(v[0]); return inner(c) + atoi(v[0]); }\n";

static const struct pf_symbol *symbol_called(const struct pf_symbol_table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(pf_symbol_name(table, &table->symbols[i]), name) == 0)
            return &table->symbols[i];
    return NULL;
}

static void make_program(const char *more)
{
    char command[512];
    made_file("program.c", program, sizeof(program) - 1);
    snprintf(command, sizeof(command), "cc -w -O1 -o program program.c %s", more);
    run_or_skip(command);
}

static void test_compiled(void **state)
{
    (void)state;
    make_program("");
    struct pf_symbol_table *table = read_elf(made_path("program"), NULL);
    assert_non_null(symbol_called(table, "main"));
    assert_non_null(symbol_called(table, "inner"));
    assert_true(table->has_symtab);
    const struct pf_symbol *plt = symbol_called(table, "puts@plt");
#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__) || defined(__s390x__) || defined(__arm__)
    if (plt) /* the linker may have done without */
        assert_true(plt->flags & PF_SYMBOL_PLT);
#endif
    (void)plt;
    pf_symbol_table_close(table);
}

/* The entries of .plt.sec are those that are called. */
static void test_compiled_with_branch_tracking(void **state)
{
    (void)state;
#if !defined(__x86_64__)
    skip();
#endif
    make_program("-fcf-protection -Wl,-z,ibtplt");
    struct pf_symbol_table *table = read_elf(made_path("program"), NULL);
    const struct pf_symbol *plt = symbol_called(table, "puts@plt"), *other = symbol_called(table, "getpid@plt");
    assert_non_null(plt);
    assert_non_null(other);
    assert_int_equal(plt->end - plt->start, 16);
    assert_non_null(symbol_called(table, ".plt"));
    pf_symbol_table_close(table);
}

static void test_compiled_static(void **state)
{
    (void)state;
    make_program("-static");
    struct pf_symbol_table *table = read_elf(made_path("program"), NULL);
    assert_non_null(symbol_called(table, "main"));
    assert_true(table->count > 500);
    pf_symbol_table_close(table);
}

static void test_compiled_stripped(void **state)
{
    (void)state;
    make_program("-g");
    run_or_skip("objcopy --only-keep-debug program program.debug && strip program");
    struct pf_symbol_table *table = read_elf(made_path("program"), NULL);
    assert_null(symbol_called(table, "inner"));
    assert_false(table->has_symtab);
    pf_symbol_table_close(table);
    table = read_elf(made_path("program"), made_path("program.debug"));
    assert_non_null(symbol_called(table, "inner"));
    assert_true(table->has_symtab);
    pf_symbol_table_close(table);
}

static void test_compiled_with_debugdata(void **state)
{
    (void)state;
#ifndef PF_HAVE_LZMA
    skip();
#endif
    make_program("-rdynamic");
    run_or_skip("objcopy --only-keep-debug program mini && strip -g mini && xz mini && strip program && "
                "objcopy --add-section .gnu_debugdata=mini.xz program");
    struct pf_symbol_table *table = read_elf(made_path("program"), NULL);
    assert_non_null(symbol_called(table, "inner")); /* of .gnu_debugdata */
    assert_non_null(symbol_called(table, "main"));  /* of .dynsym */
    assert_false(table->has_symtab);
    pf_symbol_table_close(table);
}

/* ---- ELF: what is wrong ---------------------------------------------------------------------------------------- */

static void expect_error(const char *path, int code)
{
    struct pf_symbol_table *table = NULL;
    struct perfile_error error = {0};
    assert_int_equal(pf_symbol_table_from_elf(path, NULL, NULL, &table, &error), code);
    assert_int_equal(error.code, code);
    assert_true(strlen(error.message) > 0);
    assert_null(table);
}

static void test_errors(void **state)
{
    (void)state;
    static const struct made_symbol symbols[] = {{TEXT, 16, F, G, MADE_TEXT, "function"}};
    struct made m;
    expect_error(made_path("missing"), PERFILE_ERROR_OPEN);
    expect_error(made_directory, PERFILE_ERROR_FORMAT);
    expect_error(made_file("text", "hello", 5), PERFILE_ERROR_FORMAT);
    expect_error(made_file("empty", "", 0), PERFILE_ERROR_FORMAT);
    made_elf(&m, &(struct made_elf){ET_DYN, EM_X86_64, .symbols = symbols, .count = 1});
    expect_error(made_file("cut", m.data, m.bytes - 64), PERFILE_ERROR_DAMAGED);
    expect_error(made_file("head", m.data, 0x30), PERFILE_ERROR_DAMAGED);
}

static void test_memory_short(void **state)
{
    (void)state;
    static const struct made_symbol symbols[] = {
        {TEXT + 32, 16, F, G, MADE_TEXT, "b"}, {TEXT, 64, F, G, MADE_TEXT, "a"}, {TEXT + 64, 0, F, G, MADE_TEXT, "c"}};
    struct made m;
    made_elf(&m, &(struct made_elf){ET_DYN, EM_X86_64, .symbols = symbols, .count = PF_COUNT(symbols)});
    const char *path = made_file("short", m.data, m.bytes);
    int code = -1;
    for (int left = 0; code < 0; left++) {
        struct counting c;
        struct pf_symbol_table *table = NULL;
        assert_true(left < 100);
        counting_open(&c, left);
        code = pf_symbol_table_from_elf(path, path, &c.allocator, &table, NULL);
        assert_true(code == 0 || code == PERFILE_ERROR_MEMORY);
        assert_true((code == 0) == (table != NULL));
        pf_symbol_table_close(table);
        counting_close(&c);
    }
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

static void read_mutant(const uint8_t *data, size_t bytes)
{
    struct counting c;
    struct pf_symbol_table *table = NULL;
    counting_open(&c, -1);
    if (pf_symbol_table_from_elf(made_file("mutant", data, bytes), NULL, &c.allocator, &table, NULL) == 0)
        check_table(table);
    pf_symbol_table_close(table);
    counting_close(&c);
}

static void mutate(const uint8_t *data, size_t bytes, unsigned rounds)
{
    uint32_t seed = 1;
    uint8_t *copy = malloc(bytes);
    assert_non_null(copy);
    for (unsigned round = 0; round < rounds; round++) {
        memcpy(copy, data, bytes);
        for (unsigned n = 1 + next_random(&seed) % 8; n; n--) {
            /* mostly in the two headers, where it hurts most */
            uint32_t where = next_random(&seed) % 3;
            size_t at = where == 0 ? next_random(&seed) % pf_min(bytes, 512) : next_random(&seed) % bytes;
            if (where == 1)
                at = bytes - 1 - next_random(&seed) % pf_min(bytes, 2048);
            static const uint8_t odd[] = {0, 1, 0x7f, 0x80, 0xff};
            copy[at] = next_random(&seed) % 2 ? odd[next_random(&seed) % sizeof(odd)] : (uint8_t)next_random(&seed);
        }
        read_mutant(copy, next_random(&seed) % 8 ? bytes : next_random(&seed) % bytes);
    }
    free(copy);
}

static void test_mutants(void **state)
{
    (void)state;
    static const struct made_symbol symbols[] = {
        {TEXT, 64, F, G, MADE_TEXT, "a"}, {TEXT + 32, 16, F, G, MADE_TEXT, "b"}, {TEXT + 64, 0, F, G, MADE_TEXT, "c"}};
    static const uint16_t machines[] = {EM_X86_64, EM_ARM, EM_PPC64};
    for (size_t i = 0; i < PF_COUNT(machines); i++) {
        struct made m;
        made_elf(&m, &(struct made_elf){ET_DYN, machines[i], i == 2, .id = 7, .link = "x", .symbols = symbols,
                                        .count = PF_COUNT(symbols), .opd = {TEXT, TEXT + 8}});
        mutate(m.data, m.bytes, 200);
    }
}

static void test_mutants_of_compiled(void **state)
{
    (void)state;
    make_program("");
    FILE *file = fopen(made_path("program"), "rb");
    uint8_t *data = malloc(1 << 20);
    assert_true(file && data);
    size_t bytes = fread(data, 1, 1 << 20, file);
    fclose(file);
    mutate(data, bytes, 300);
    free(data);
}

/* ---- kallsyms -------------------------------------------------------------------------------------------------- */

static const char kallsyms[] = "0000000000000000 A fixed_percpu_data\n"
                               "ffffffff81000000 T _text\n"
                               "ffffffff81000000 T _stext\n"
                               "ffffffff81000100 t local_one\n"
                               "ffffffff81000180 d data_in_between\n"
                               "ffffffff81000200 W weak_one\n"
                               "ffffffff81000200 R constant\n"
                               "ffffffff810002f0 T last\n"
                               "nonsense\n"
                               "ffffffff81000400 T\n"
                               "ffffffffc0002000 t later\t[one_module]\n"
                               "ffffffffc0001000 t earlier\t[one_module]\n"
                               "ffffffffc0001800 d its_data\t[one_module]\n"
                               "ffffffffc0003000 t other\t[other]";

static void expect_kallsyms_of(const struct pf_kallsyms *from, uint64_t base, const char *wanted)
{
    struct pf_symbol_table *table = NULL;
    assert_int_equal(pf_symbol_table_from_kallsyms(from, NULL, &table, NULL), 0);
    check_table(table);
    assert_string_equal(show(table, base), wanted);
    pf_symbol_table_close(table);
}

static void expect_kallsyms(const char *text, const char *module, uint64_t base, const char *wanted)
{
    const struct pf_kallsyms from = {text, strlen(text), module, false};
    expect_kallsyms_of(&from, base, wanted);
}

/* Returns the address in a text that has it in its only line; 0: not an address. */
static uint64_t address_in(const char *digits)
{
    char text[64];
    uint64_t address = 0;
    snprintf(text, sizeof(text), "%s T it\n", digits);
    return pf_kallsyms_address(text, strlen(text), "it", &address) ? address : 0;
}

static void test_digits(void **state)
{
    (void)state;
    assert_int_equal(address_in("0123456789abcdef"), 0x0123456789abcdef);
    assert_int_equal(address_in("fedcba9876543210"), 0xfedcba9876543210);
    assert_int_equal(address_in("FEDCBA9876543210"), 0xfedcba9876543210);
    assert_int_equal(address_in("00fedcba9876543210"), 0xfedcba9876543210);
    assert_int_equal(address_in("1fedcba9876543210"), 0);
    assert_int_equal(address_in("c0123450"), 0xc0123450);
    assert_int_equal(address_in("0xc0123450"), 0xc0123450);
    char digits[] = "ffffffff81234567";
    for (size_t at = 0; at < 16; at++)
        for (unsigned byte = 1; byte < 256; byte++) {
            char expected[] = "ffffffff81234567";
            digits[at] = expected[at] = (char)byte;
            const bool is_digit = strspn(digits, "0123456789abcdefABCDEF") == 16;
            if (byte != ' ' && byte != '\n')
                assert_int_equal(address_in(digits), is_digit ? strtoull(expected, NULL, 16) : 0);
            digits[at] = "ffffffff81234567"[at];
        }
}

static void expect_kept(const char *text, const char *wanted)
{
    char copy[256];
    snprintf(copy, sizeof(copy), "%s", text);
    const size_t bytes = pf_kallsyms_keep_modules(copy, strlen(text));
    assert_int_equal(bytes, strlen(wanted));
    assert_memory_equal(copy, wanted, bytes);
}

static void test_lines_of_modules(void **state)
{
    (void)state;
    expect_kept("", "");
    expect_kept("1 T a\n2 T b\n", "");
    expect_kept("1 T a\n2 T b\t[m]\n3 T c\n4 T d\t[m]\n", "2 T b\t[m]\n4 T d\t[m]\n");
    expect_kept("1 T a\t[m]\n2 T b", "1 T a\t[m]\n");
    expect_kept("1 T a\n2 T b\t[m\t]", "2 T b\t[m\t]");
    expect_kept("\t", "\t");
}

static void test_kallsyms(void **state)
{
    (void)state;
    expect_kallsyms(kallsyms, NULL, 0xffffffff81000000,
                    "0-100? _stext;100-180? local_one;200-2f0? weak_one;"
                    "2f0-2000? last");
    expect_kallsyms(kallsyms, "one_module", 0xffffffffc0000000, "1000-1800? earlier;2000-3000? later");
    expect_kallsyms(kallsyms, "[one-module]", 0xffffffffc0000000, "1000-1800? earlier;2000-3000? later");
    const struct pf_kallsyms with_data = {kallsyms, strlen(kallsyms), "one_module", true};
    expect_kallsyms_of(&with_data, 0xffffffffc0000000, "1000-1800? earlier;1800-2000? its_data;2000-3000? later");
    expect_kallsyms(kallsyms, "one", 0, "");
    expect_kallsyms("0000000000000000 T hidden\n0000000000000000 T from_users\n", NULL, 0, "");
    expect_kallsyms("", NULL, 0, "");
    expect_kallsyms("ffffffffffffffff T top\n", NULL, 0, "");
}

/* Also those that the table leaves out. */
static void test_addresses_by_name(void **state)
{
    (void)state;
    static const struct made_symbol symbols[] = {{TEXT, 16, F, G, MADE_TEXT, "_text"},
                                                 {TEXT, 16, F, G, MADE_TEXT, "start_of_text"}};
    struct made m;
    uint64_t address = 0;
    made_elf(&m, &(struct made_elf){ET_EXEC, EM_X86_64, .symbols = symbols, .count = 2});
    const char *path = made_file("kernel", m.data, m.bytes);
    assert_int_equal(pf_elf_symbol_address(NULL, path, "_text", &address), 0);
    assert_int_equal(address, TEXT);
    assert_int_equal(pf_elf_symbol_address(NULL, path, "text", &address), PERFILE_ERROR_ABSENT);
    assert_int_equal(pf_elf_symbol_address(NULL, made_path("missing"), "_text", &address), PERFILE_ERROR_OPEN);
    assert_true(pf_kallsyms_address(kallsyms, sizeof(kallsyms) - 1, "_text", &address));
    assert_true(address == 0xffffffff81000000);
    assert_false(pf_kallsyms_address(kallsyms, sizeof(kallsyms) - 1, "text", &address));
    assert_false(pf_kallsyms_address(kallsyms, sizeof(kallsyms) - 1, "earlier", &address)); /* of a module */
}

/* ---- perf-PID.map ---------------------------------------------------------------------------------------------- */

static void expect_map(const char *text, const char *wanted)
{
    struct pf_symbol_table *table = NULL;
    assert_int_equal(pf_symbol_table_from_perf_map(text, strlen(text), NULL, &table, NULL), 0);
    check_table(table);
    assert_string_equal(show(table, 0), wanted);
    pf_symbol_table_close(table);
}

static void test_perf_map(void **state)
{
    (void)state;
    expect_map("1000 100 one\n2000 80 two words here\n", "1000-1100 one;2000-2080 two words here");
    expect_map("0x1000 0x10 one\r\n2000,20,two\n 3000\t30  three \n", "1000-1010 one;2000-2020 two;3000-3030 three");
    expect_map("bad\n1000\n1000 10\n1000 10 \n1000 0 empty\n\n11112222333344445 1 wide\n", "");
    expect_map("fffffffffffffff0 100 top", "fffffffffffffff0-ffffffffffffffff top");
    expect_map("", "");
}

static void test_perf_map_later_lines_win(void **state)
{
    (void)state;
    expect_map("1000 100 old\n1000 100 new\n", "1000-1100 new");
    expect_map("1000 100 old\n1040 20 new\n", "1000-1040 old;1040-1060 new;+1060-1100 old");
    expect_map("1040 20 old\n1000 100 new\n", "1000-1100 new");
    expect_map("1000 100 old\n1080 100 new\n", "1000-1080 old;1080-1180 new");
    expect_map("1080 100 old\n1000 100 new\n", "1000-1100 new;+1100-1180 old");
    expect_map("1000 300 a\n1100 100 b\n1080 40 c\n1180 100 d\n",
               "1000-1080 a;1080-10c0 c;+10c0-1100 a;1100-1180 b;1180-1280 d;+1280-1300 a");
}

static void test_text_memory_short(void **state)
{
    (void)state;
    static const char map[] = "1000 300 a\n1100 100 b\n1080 40 c\n1180 100 d\n";
    int code = -1;
    for (int left = 0; code < 0; left++) {
        struct counting c;
        struct pf_symbol_table *table = NULL;
        counting_open(&c, left);
        code = pf_symbol_table_from_perf_map(map, sizeof(map) - 1, &c.allocator, &table, NULL);
        assert_true(code == 0 || code == PERFILE_ERROR_MEMORY);
        if (code == 0) {
            pf_symbol_table_close(table);
            const struct pf_kallsyms from = {kallsyms, sizeof(kallsyms) - 1, "one_module", true};
            code = pf_symbol_table_from_kallsyms(&from, &c.allocator, &table, NULL);
            assert_true(code == 0 || code == PERFILE_ERROR_MEMORY);
        }
        if (code == 0)
            pf_symbol_table_close(table);
        counting_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_of_two_at_one_address),
        cmocka_unit_test(test_kinds_and_ends),
        cmocka_unit_test(test_labels_within_functions),
        cmocka_unit_test(test_inner_symbols_show),
        cmocka_unit_test(test_machines),
        cmocka_unit_test(test_function_descriptors),
        cmocka_unit_test(test_both_byte_orders),
        cmocka_unit_test(test_packed),
        cmocka_unit_test(test_zeros_after_the_file),
        cmocka_unit_test(test_relocatable),
        cmocka_unit_test(test_separate_debug_file),
        cmocka_unit_test(test_compiled),
        cmocka_unit_test(test_compiled_with_branch_tracking),
        cmocka_unit_test(test_compiled_static),
        cmocka_unit_test(test_compiled_stripped),
        cmocka_unit_test(test_compiled_with_debugdata),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_memory_short),
        cmocka_unit_test(test_mutants),
        cmocka_unit_test(test_mutants_of_compiled),
        cmocka_unit_test(test_kallsyms),
        cmocka_unit_test(test_lines_of_modules),
        cmocka_unit_test(test_digits),
        cmocka_unit_test(test_addresses_by_name),
        cmocka_unit_test(test_perf_map),
        cmocka_unit_test(test_perf_map_later_lines_win),
        cmocka_unit_test(test_text_memory_short),
    };
    return cmocka_run_group_tests(tests, made_directory_open, made_directory_close);
}
