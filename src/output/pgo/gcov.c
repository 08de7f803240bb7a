/* SPDX-License-Identifier: MIT */
/*
 * The profile of AutoFDO for gcc -fauto-profile: words of 32 bits, the lowest byte first; counts are two of them.
 *
 *     'adcg' version 0
 *     NAMES length n { name }*n                         sorted; the first is empty
 *     FUNCTIONS length n { head FUNCTION }*n
 *     MODULES length 0
 *
 *     FUNCTION   name lines inlined { line << 16 | discriminator, targets, count, { 7, name, count }*targets }*lines
 *                { line << 16 | discriminator, FUNCTION }*inlined
 *
 * Up to GCC 11 the version is 1, and the length of a name counts words; since GCC 12 it is 2, and bytes are counted.
 * Names have a NUL. Readers do not use the lengths of the parts.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/map.h"
#include "output/pgo/source.h"

enum {
    MAGIC = 0x67636461,
    PART_NAMES = 0xaa000000,
    PART_FUNCTIONS = 0xac000000,
    PART_MODULES = 0xae000000,
    TARGET_CALL = 7, /* HIST_TYPE_INDIR_CALL_TOPN */
    GCC_BYTES = 12,  /* the first that counts names in bytes */
};

struct making {
    const struct pf_pgo_lines *lines;
    const char **names; /* sorted */
    size_t name_count;
    struct pf_map number_of; /* name -> its number */
    bool in_words;           /* lengths */
    struct pf_text part;     /* the part that is written */
};

static void put_word(struct pf_text *out, uint32_t word)
{
    const uint8_t bytes[4] = {(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16), (uint8_t)(word >> 24)};
    pf_put(out, bytes, sizeof(bytes));
}

/* GCC's counts have a sign. */
static void put_count(struct pf_text *out, uint64_t count)
{
    count = pf_min_u64(count, INT64_MAX);
    put_word(out, (uint32_t)count);
    put_word(out, (uint32_t)(count >> 32));
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool take_name(struct making *m, const char *name)
{
    uint64_t number;
    if (pf_map_get(&m->number_of, (uintptr_t)name, &number))
        return true;
    m->names[m->name_count++] = name;
    return pf_map_put(&m->number_of, (uintptr_t)name, 0);
}

/* All names, and the number of each: equal ones are equal pointers. Number 0 is the empty name. */
static bool number_names(struct making *m)
{
    bool done = true;
    for (size_t i = 0; i < m->lines->instance_count && done; i++)
        done = take_name(m, m->lines->instances[i].function);
    for (size_t i = 0; i < m->lines->target_count && done; i++)
        done = take_name(m, m->lines->targets[i].function);
    qsort(m->names, m->name_count, sizeof(*m->names), compare_names);
    for (size_t i = 0; i < m->name_count && done; i++)
        done = pf_map_put(&m->number_of, (uintptr_t)m->names[i], i + 1);
    return done;
}

static uint32_t number_of(const struct making *m, const char *name)
{
    uint64_t number = 0;
    pf_map_get(&m->number_of, (uintptr_t)name, &number);
    return (uint32_t)number;
}

static void put_text(struct making *m, const char *text)
{
    static const char zeros[4];
    const size_t bytes = strlen(text) + 1, padded = m->in_words ? (bytes + 3) & ~(size_t)3 : bytes;
    put_word(&m->part, (uint32_t)(m->in_words ? padded / 4 : bytes));
    pf_put(&m->part, text, bytes);
    pf_put(&m->part, zeros, padded - bytes);
}

static void put_names(struct making *m)
{
    put_word(&m->part, (uint32_t)m->name_count + 1);
    put_text(m, "");
    for (size_t i = 0; i < m->name_count; i++)
        put_text(m, m->names[i]);
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

static bool is_counted(const struct pf_pgo_line *line)
{
    return line->has_count || line->target_count;
}

static void put_location(struct making *m, uint64_t location)
{
    put_word(&m->part, (uint32_t)(location >> 32 << 16) | (uint32_t)(location & 0xffff));
}

static void put_line(struct making *m, const struct pf_pgo_line *line)
{
    put_location(m, line->location);
    put_word(&m->part, line->target_count);
    put_count(&m->part, line->count);
    for (uint32_t i = 0; i < line->target_count; i++) {
        const struct pf_pgo_target *target = &m->lines->targets[line->targets + i];
        put_word(&m->part, TARGET_CALL);
        put_count(&m->part, number_of(m, target->function));
        put_count(&m->part, target->count);
    }
}

/* No deeper than the stacks of struct pf_pgo_lines. */
static void put_function(struct making *m, const struct pf_pgo_instance *instance)
{
    const struct pf_pgo_line *lines = m->lines->lines + instance->lines;
    uint32_t count = 0;
    for (uint32_t i = 0; i < instance->line_count; i++)
        count += is_counted(&lines[i]);
    put_word(&m->part, number_of(m, instance->function));
    put_word(&m->part, count);
    put_word(&m->part, instance->inlined_count);
    for (uint32_t i = 0; i < instance->line_count; i++)
        if (is_counted(&lines[i]))
            put_line(m, &lines[i]);
    for (uint32_t i = 0; i < instance->inlined_count; i++) {
        const struct pf_pgo_instance *inlined = &m->lines->instances[instance->inlined + i];
        put_location(m, inlined->location);
        put_function(m, inlined);
    }
}

static void put_functions(struct making *m)
{
    put_word(&m->part, (uint32_t)m->lines->function_count);
    for (size_t i = 0; i < m->lines->function_count; i++) {
        put_count(&m->part, m->lines->instances[i].head);
        put_function(m, &m->lines->instances[i]);
    }
}

static void put_modules(struct making *m)
{
    put_word(&m->part, 0);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void put_parts(struct making *m, struct pf_text *out)
{
    static const struct {
        uint32_t tag;
        void (*put)(struct making *m);
    } parts[] = {{PART_NAMES, put_names}, {PART_FUNCTIONS, put_functions}, {PART_MODULES, put_modules}};
    put_word(out, MAGIC);
    put_word(out, m->in_words ? 1 : 2);
    put_word(out, 0);
    for (size_t i = 0; i < PF_COUNT(parts); i++) {
        m->part.used = 0;
        parts[i].put(m);
        put_word(out, parts[i].tag);
        put_word(out, (uint32_t)(m->in_words ? m->part.used / 4 : m->part.used));
        pf_put_through(out, m->part.data, m->part.used);
    }
}

static int put_lines(const struct pf_pgo_writing *writing, const struct pf_pgo_lines *lines, struct pf_text *out,
                     struct perfile_error *error)
{
    const unsigned gcc = writing->options->gcc;
    const size_t bytes = (lines->instance_count + lines->target_count) * sizeof(char *);
    struct making m = {.lines = lines,
                       .names = pf_new(writing->allocator, bytes),
                       .in_words = gcc && gcc < GCC_BYTES,
                       .part = {.allocator = writing->allocator}};
    bool done = m.names && pf_text_open(&m.part, writing->allocator, NULL, NULL) == 0;
    pf_map_open(&m.number_of, writing->allocator);
    done = done && number_names(&m);
    if (done)
        put_parts(&m, out);
    done = done && !m.part.failed;
    pf_map_close(&m.number_of);
    pf_text_close(&m.part);
    pf_free(writing->allocator, m.names, bytes);
    return done ? 0 : pf_fail_memory(error, "profile");
}

static int write_gcov(struct pf_pgo_writing *writing, struct pf_text *out, struct perfile_error *error)
{
    struct pf_pgo_lines lines;
    int result = pf_pgo_read_lines(writing, PF_PGO_NUMBERS, &lines, error);
    if (result != 0)
        return result;
    result = put_lines(writing, &lines, out, error);
    pf_pgo_lines_close(&lines);
    return result;
}

const struct pf_pgo_format pf_pgo_format_gcov = {
    .info = {"gcov", "counts by source line for gcc -fauto-profile, of the version that an option names",
             .is_binary = true, .is_weak = true},
    .write = write_gcov,
};
