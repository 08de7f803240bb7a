/* SPDX-License-Identifier: MIT */
/*
 * The sample profile of LLVM as text, for clang -fprofile-sample-use and llvm-profdata --sample:
 *
 *     work:225440:42           a function by its linkage name, its total, and how often it was entered
 *      2.1: 2560               a line, counted from that of the declaration, its discriminator, and how often it ran
 *      6: 2647 classify:2647   functions that were called there, the most frequent first
 *      6: mix:74240            a function that is inlined there, and its total; its lines are one blank deeper
 *       1: 2560
 *
 * Functions with the largest totals come first.
 */
#include <stdlib.h>

#include "base/error.h"
#include "output/pgo/source.h"

static void put_location(struct pf_text *out, uint64_t location)
{
    pf_put_unsigned(out, location >> 32);
    if (location & UINT32_MAX) {
        pf_put_char(out, '.');
        pf_put_unsigned(out, location & UINT32_MAX);
    }
    pf_put_string(out, ": ");
}

static void put_indent(struct pf_text *out, unsigned depth)
{
    while (depth--)
        pf_put_char(out, ' ');
}

static void put_name(struct pf_text *out, const char *name, uint64_t count)
{
    pf_put_string(out, name);
    pf_put_char(out, ':');
    pf_put_unsigned(out, count);
}

/* A line ran at least as often as functions were called there. */
static void put_line(struct pf_text *out, const struct pf_pgo_lines *lines, const struct pf_pgo_line *line,
                     unsigned depth)
{
    const struct pf_pgo_target *targets = lines->targets + line->targets;
    uint64_t calls = 0;
    if (!line->has_count && !line->target_count)
        return;
    for (uint32_t i = 0; i < line->target_count; i++)
        pf_add_to_sum(&calls, targets[i].count);
    put_indent(out, depth);
    put_location(out, line->location);
    pf_put_unsigned(out, pf_max(line->count, calls));
    for (uint32_t i = 0; i < line->target_count; i++) {
        pf_put_char(out, ' ');
        put_name(out, targets[i].function, targets[i].count);
    }
    pf_put_char(out, '\n');
}

/* No deeper than the stacks of struct pf_pgo_lines. */
static void put_body(struct pf_text *out, const struct pf_pgo_lines *lines, const struct pf_pgo_instance *instance,
                     unsigned depth)
{
    for (uint32_t i = 0; i < instance->line_count; i++)
        put_line(out, lines, &lines->lines[instance->lines + i], depth);
    for (uint32_t i = 0; i < instance->inlined_count; i++) {
        const struct pf_pgo_instance *inlined = &lines->instances[instance->inlined + i];
        put_indent(out, depth);
        put_location(out, inlined->location);
        put_name(out, inlined->function, inlined->total);
        pf_put_char(out, '\n');
        put_body(out, lines, inlined, depth + 1);
    }
}

static int compare_totals(const void *a, const void *b)
{
    const struct pf_pgo_instance *x = *(const struct pf_pgo_instance *const *)a,
                                 *y = *(const struct pf_pgo_instance *const *)b;
    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    return strcmp(x->function, y->function);
}

static int put_functions(const struct pf_pgo_writing *writing, const struct pf_pgo_lines *lines, struct pf_text *out,
                         struct perfile_error *error)
{
    const size_t bytes = lines->function_count * sizeof(struct pf_pgo_instance *);
    const struct pf_pgo_instance **functions = pf_new(writing->allocator, bytes);
    if (!functions)
        return pf_fail_memory(error, "profile");
    for (size_t i = 0; i < lines->function_count; i++)
        functions[i] = &lines->instances[i];
    qsort(functions, lines->function_count, sizeof(*functions), compare_totals);
    for (size_t i = 0; i < lines->function_count; i++) {
        put_name(out, functions[i]->function, functions[i]->total);
        pf_put_char(out, ':');
        pf_put_unsigned(out, functions[i]->head);
        pf_put_char(out, '\n');
        put_body(out, lines, functions[i], 1);
    }
    pf_free(writing->allocator, functions, bytes);
    return 0;
}

/* clang finds the code of such a program by its probes, not by its lines. */
static void note_probes(const struct pf_pgo_writing *writing)
{
    if (pf_pgo_has_probes(writing))
        pf_pgo_note(writing->pgo,
                    "%s was built with -fpseudo-probe-for-profiling, and clang needs a profile by probes: llvm-profgen "
                    "makes it of the format profgen",
                    writing->profile->name);
}

static int write_sample(struct pf_pgo_writing *writing, struct pf_text *out, struct perfile_error *error)
{
    struct pf_pgo_lines lines;
    int result = pf_pgo_read_lines(writing, PF_PGO_LLVM, &lines, error);
    if (result != 0)
        return result;
    note_probes(writing);
    result = put_functions(writing, &lines, out, error);
    pf_pgo_lines_close(&lines);
    return result;
}

const struct pf_pgo_format pf_pgo_format_sample = {
    .info = {"sample", "counts by source line for clang -fprofile-sample-use and llvm-profdata", .is_weak = true},
    .write = write_sample,
};
