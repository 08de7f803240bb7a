/* SPDX-License-Identifier: MIT */
/*
 * symbolize BINARY COUNT [THREADS]: how long it takes to name COUNT distinct addresses of a binary: its function, and
 * the lines and inlined functions of each. Cold: out of the debug info; warm: out of the cache on disk, which is made
 * in between. On a machine that does other work, processor time by thread shows what THREADS could save: that of all
 * threads and that of the caller are printed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "symbol/demangle/demangle.h"
#include "symbol/dwarf/inlines_tables.h"
#include "symbol/table.h"

enum { FRAMES = 64 };

struct result {
    size_t named;
    size_t lines;
    size_t inlined;
};

static double clock_of(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double now(void)
{
    return clock_of(CLOCK_MONOTONIC);
}

/* Seconds of processors since those were read, of all threads and of this one. */
static void print_processors(double process, double thread)
{
    printf("processor time of opening: %.3f s, of the caller %.3f s\n", clock_of(CLOCK_PROCESS_CPUTIME_ID) - process,
           clock_of(CLOCK_THREAD_CPUTIME_ID) - thread);
}

static int read_debug_info(const char *path, unsigned threads, struct pf_inlines **inlines, struct perfile_error *error)
{
    const struct pf_inlines_request request = {.path = path, .threads = threads};
    const double process = clock_of(CLOCK_PROCESS_CPUTIME_ID), thread = clock_of(CLOCK_THREAD_CPUTIME_ID);
    const int code = pf_inlines_read(&request, NULL, inlines, error);
    print_processors(process, thread);
    return code;
}

/* Spread evenly over the functions. */
static uint64_t address_of(const struct pf_symbol_table *table, size_t i, size_t count)
{
    const uint64_t first = table->symbols[0].start, span = table->symbols[table->count - 1].end - first;
    return first + span / count * i;
}

static void look_up(const struct pf_symbol_table *table, const struct pf_inlines *inlines, size_t count,
                    struct result *result)
{
    const struct perfile_allocator *allocator = pf_allocator_or_default(NULL);
    struct pf_source_frame frames[FRAMES];
    *result = (struct result){0};
    for (size_t i = 0; i < count; i++) {
        const uint64_t address = address_of(table, i, count);
        const struct pf_symbol *symbol = pf_symbol_table_find(table, address);
        char *name = symbol ? pf_demangle(allocator, pf_symbol_name(table, symbol)) : NULL;
        pf_text_free(allocator, name);
        result->named += symbol != NULL;
        const size_t found = inlines ? pf_inlines_find(inlines, address, frames, FRAMES) : 0;
        result->lines += found && frames[0].line;
        result->inlined += found > 1;
    }
}

static int fail(const struct perfile_error *error)
{
    fprintf(stderr, "symbolize: %s\n", error->message);
    return EXIT_FAILURE;
}

/* One line: what it was, the seconds of its parts, and what came of it. */
static const struct pf_inlines_key key = {.build_id = {1}, .build_id_bytes = 20};

static int run(const char *path, size_t count, unsigned threads, const char *cache)
{
    struct perfile_error error;
    struct pf_symbol_table *table;
    struct pf_inlines *inlines = NULL;
    struct result result;
    const double start = now();
    if (pf_symbol_table_from_elf(path, NULL, NULL, &table, &error) < 0)
        return fail(&error);
    const double read_symbols = now();
    const int code =
        cache ? pf_inlines_load(cache, &key, NULL, &inlines, &error) : read_debug_info(path, threads, &inlines, &error);
    if (code < 0)
        return fail(&error);
    const double read_lines = now();
    look_up(table, inlines, count, &result);
    const double end = now();
    printf(
        "%s: %.3f s (symbols %.3f, debug info %.3f, look-ups %.3f); %zu names, %zu lines, %zu with inlined functions\n",
        cache ? "warm" : "cold", end - start, read_symbols - start, read_lines - read_symbols, end - read_lines,
        result.named, result.lines, result.inlined);
    pf_inlines_close(inlines);
    pf_symbol_table_close(table);
    return 0;
}

static int make_cache(const char *path, const char *cache)
{
    struct perfile_error error;
    struct pf_inlines *inlines;
    if (pf_inlines_open(path, NULL, NULL, &inlines, &error) < 0 ||
        pf_inlines_save(inlines, cache, &key, UINT64_MAX, &error) < 0)
        return fail(&error);
    pf_inlines_close(inlines);
    return 0;
}

int main(int argc, char **argv)
{
    char cache[] = "/tmp/perfile-bench-XXXXXX", file[128];
    if (argc < 3 || argc > 4 || strtoul(argv[2], NULL, 10) == 0) {
        fprintf(stderr, "usage: symbolize BINARY COUNT [THREADS]\n");
        return 2;
    }
    const size_t count = strtoul(argv[2], NULL, 10);
    const unsigned threads = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 1;
    int status = run(argv[1], count, threads, NULL);
    if (status == 0 && mkdtemp(cache)) {
        status = make_cache(argv[1], cache);
        for (int i = 0; i < 2 && status == 0; i++)
            status = run(argv[1], count, threads, cache);
        snprintf(file, sizeof(file), "%s/0100000000000000000000000000000000000000-%016llx.inlines", cache,
                 (unsigned long long)pf_inlines_checksum(&key.files, sizeof(key.files)));
        unlink(file);
        rmdir(cache);
    }
    return status;
}
