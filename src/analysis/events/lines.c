/* SPDX-License-Identifier: MIT */
#include "analysis/events/lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/events/advice.h"
#include "analysis/fields.h"
#include "base/counted.h"
#include "base/error.h"
#include "symbol/find/find.h"

/* ---- what an access is counted as -------------------------------------------------------------------------------- */

/* The parts of data_src (include/uapi/linux/perf_event.h, union perf_mem_data_src), since Linux 3.10. */
#define OP(bits) ((uint64_t)(bits))
#define LEVEL(bits) ((uint64_t)(bits) << 5)
#define SNOOP(bits) ((uint64_t)(bits) << 19)
#define LOCK(bits) ((uint64_t)(bits) << 24)
#define SNOOPX(bits) ((uint64_t)(bits) << 38)
#define BLOCKED(bits) ((uint64_t)(bits) << 40)
#define LOAD OP(2)
#define STORE OP(4)
#define NO_LEVEL LEVEL(1)
#define HIT LEVEL(2)
#define MISS LEVEL(4)
#define L1 LEVEL(8)
#define FILL_BUFFER LEVEL(16)
#define L2 LEVEL(32)
#define L3 LEVEL(64)
#define LOCAL_RAM LEVEL(128)
#define REMOTE_RAM LEVEL(256 | 512)
#define REMOTE_CACHE LEVEL(1024 | 2048)
#define IO LEVEL(4096)
#define UNCACHED LEVEL(8192)
#define SNOOP_HIT SNOOP(4)
#define SNOOP_HITM SNOOP(16)
#define PEER SNOOPX(2)
/* Bits that the kernel does not use: a location that several of its bits or other fields describe. */
#define IN_REMOTE_RAM ((uint64_t)1 << 62)
#define IN_REMOTE_CACHE ((uint64_t)1 << 63)

static const struct {
    uint64_t all, any, none; /* any 0: nothing */
    enum pf_access access;
} rules[] = {
    {LOCK(2), 0, 0, PF_ACCESS_locked},
    {BLOCKED(2), 0, 0, PF_ACCESS_blocked_data},
    {BLOCKED(4), 0, 0, PF_ACCESS_blocked_address},
    {LOAD, 0, 0, PF_ACCESS_loads},
    {LOAD | HIT | UNCACHED, 0, 0, PF_ACCESS_load_uncached},
    {LOAD | HIT | IO, 0, 0, PF_ACCESS_load_io},
    {LOAD | HIT | FILL_BUFFER, 0, 0, PF_ACCESS_fill_buffer},
    {LOAD | HIT | L1, 0, 0, PF_ACCESS_l1_hit},
    {LOAD | HIT | L2, 0, SNOOP_HITM, PF_ACCESS_l2_hit},
    {LOAD | HIT | L3, 0, SNOOP_HITM, PF_ACCESS_llc_hit},
    {LOAD | HIT | SNOOP_HITM, L2 | L3, 0, PF_ACCESS_local_hitm},
    {LOAD | HIT | PEER, L2 | L3, 0, PF_ACCESS_local_peer},
    {LOAD | HIT | LOCAL_RAM, 0, 0, PF_ACCESS_local_dram},
    {LOAD | HIT | IN_REMOTE_RAM, 0, 0, PF_ACCESS_remote_dram},
    {LOAD | HIT | SNOOP_HIT, LOCAL_RAM | IN_REMOTE_RAM, 0, PF_ACCESS_dram_shared},
    {LOAD | HIT, LOCAL_RAM | IN_REMOTE_RAM, SNOOP_HIT, PF_ACCESS_dram_exclusive},
    {LOAD | IN_REMOTE_CACHE, SNOOP_HIT | PEER, 0, PF_ACCESS_remote_hit},
    {LOAD | IN_REMOTE_CACHE | SNOOP_HITM, 0, 0, PF_ACCESS_remote_hitm},
    {LOAD | IN_REMOTE_CACHE | PEER, 0, 0, PF_ACCESS_remote_peer},
    {LOAD | MISS, 0, 0, PF_ACCESS_load_miss},
    {STORE, 0, LOAD, PF_ACCESS_stores},
    {STORE | HIT | UNCACHED, 0, LOAD, PF_ACCESS_store_uncached},
    {STORE | HIT | L1, 0, LOAD, PF_ACCESS_store_l1_hit},
    {STORE | MISS | L1, 0, LOAD, PF_ACCESS_store_l1_miss},
    {STORE | NO_LEVEL, 0, LOAD, PF_ACCESS_store_no_level},
};

/*
 * Returns where in another node the data was. Some processors set only a flag for another node: then the number of the
 * level distinguishes caches from memory; without a number, an answered snoop means a cache.
 */
static uint64_t remote_location(uint64_t source)
{
    enum { CACHES = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 11, UNKNOWN = 1 << 0 | 1 << 15 };
    const unsigned number = 1u << (source >> 33 & 15), hops = source >> 43 & 7;
    if (source & REMOTE_RAM)
        return IN_REMOTE_RAM;
    if (source & REMOTE_CACHE)
        return IN_REMOTE_CACHE;
    if (!(source >> 37 & 1) || hops)
        return 0;
    if (number & CACHES || (number & UNKNOWN && source & (SNOOP_HIT | SNOOP_HITM | PEER)))
        return IN_REMOTE_CACHE;
    return IN_REMOTE_RAM;
}

static void count_source(struct pf_access_sums *sums, uint64_t source)
{
    for (size_t i = 0; i < PF_COUNT(rules); i++)
        sums->of[rules[i].access] += (source & rules[i].all) == rules[i].all &&
                                     (!rules[i].any || source & rules[i].any) && !(source & rules[i].none);
}

/* Without an address nothing but these is counted. */
static void count_nowhere(struct pf_access_sums *sums, uint64_t source)
{
    count_source(sums, source & (LOCK(2) | BLOCKED(6) | LOAD | STORE));
    sums->of[source & LOAD ? PF_ACCESS_load_no_address : PF_ACCESS_store_no_address]++;
}

static void count_cost(struct pf_access_sums *sums, uint64_t weight)
{
    static const enum pf_access of[PF_COST_COUNT] = {PF_ACCESS_remote_hitm, PF_ACCESS_local_hitm, PF_ACCESS_remote_peer,
                                                     PF_ACCESS_local_peer, PF_ACCESS_loads};
    for (size_t i = 0; i < PF_COST_COUNT; i++)
        if (sums->of[of[i]]) {
            sums->weights[i] += weight;
            sums->weighed[i]++;
            return;
        }
}

static void add_sums(struct pf_access_sums *to, const struct pf_access_sums *sums)
{
    to->samples += sums->samples;
    for (size_t i = 0; i < PF_ACCESS_COUNT; i++)
        to->of[i] += sums->of[i];
    for (size_t i = 0; i < PF_COST_COUNT; i++) {
        to->weights[i] += sums->weights[i];
        to->weighed[i] += sums->weighed[i];
    }
}

static uint64_t sum_of(const struct pf_access_sums *sums, const enum pf_access *which, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += sums->of[which[i]];
    return sum;
}

static const enum pf_access llc_misses[] = {PF_ACCESS_local_dram, PF_ACCESS_remote_dram, PF_ACCESS_remote_hitm,
                                            PF_ACCESS_remote_hit};

uint64_t pf_access_llc_misses(const struct pf_access_sums *sums)
{
    return sum_of(sums, llc_misses, PF_COUNT(llc_misses));
}

uint64_t pf_access_records(const struct pf_access_sums *sums)
{
    static const enum pf_access others[] = {PF_ACCESS_fill_buffer,   PF_ACCESS_l1_hit,        PF_ACCESS_l2_hit,
                                            PF_ACCESS_llc_hit,       PF_ACCESS_local_hitm,    PF_ACCESS_store_l1_hit,
                                            PF_ACCESS_store_l1_miss, PF_ACCESS_store_no_level};
    return pf_access_llc_misses(sums) + sum_of(sums, others, PF_COUNT(others));
}

/* ---- CPUs, nodes and threads of accesses ------------------------------------------------------------------------- */

enum { NUMBERS_MAX = 1 << 16 };

static bool set_accessor(struct pf_arena *arena, struct pf_accessors *accessors, unsigned which, uint32_t number)
{
    const uint32_t word = number / 32;
    if (number >= NUMBERS_MAX)
        return true;
    if (word >= accessors->words[which]) {
        const uint32_t capacity = (uint32_t)pf_max(word + 1, accessors->words[which] * 2);
        uint32_t *bits = pf_arena_new(arena, capacity * sizeof(*bits));
        if (!bits)
            return false;
        if (accessors->words[which])
            memcpy(bits, accessors->bits[which], accessors->words[which] * sizeof(*bits));
        accessors->bits[which] = bits;
        accessors->words[which] = capacity;
    }
    accessors->bits[which][word] |= (uint32_t)1 << number % 32;
    return true;
}

uint32_t pf_accessors_next(const struct pf_accessors *accessors, unsigned which, uint32_t from)
{
    for (; from / 32 < accessors->words[which]; from++)
        if (accessors->bits[which][from / 32] >> from % 32 & 1)
            return from;
    return UINT32_MAX;
}

uint32_t pf_accessors_count(const struct pf_accessors *accessors, unsigned which)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < accessors->words[which]; i++)
        count += (uint32_t)__builtin_popcount(accessors->bits[which][i]);
    return count;
}

/* `what` is a key of a line or of a row. */
static bool add_accessor(struct pf_lines *lines, struct pf_accessors *accessors, uint64_t what,
                         const struct pf_profile_sample *sample)
{
    const int32_t node = sample->has_cpu ? pf_topology_at(&lines->topology, (int32_t)sample->cpu).node : -1;
    uint32_t known;
    if (sample->has_cpu && !set_accessor(&lines->arena, accessors, PF_ACCESSOR_CPUS, sample->cpu))
        return false;
    if (node >= 0 && !set_accessor(&lines->arena, accessors, PF_ACCESSOR_NODES, (uint32_t)node))
        return false;
    if (pf_pairs_get(&lines->thread_of, what, (uint32_t)sample->tid, &known))
        return true;
    if (!accessors->threads++)
        accessors->tid = sample->tid;
    return pf_pairs_put(&lines->thread_of, what, (uint32_t)sample->tid, 0);
}

/* ---- lines and rows ---------------------------------------------------------------------------------------------- */

static bool is_shared(const struct pf_module *module)
{
    return module && (module->kernel || (module->name[0] == '/' && module->name[1] != '/')); /* not "//anon" */
}

/* A line of a file is the same in all processes; a line of other memory belongs to its process. NULL: out of memory. */
static struct pf_line *line_of(struct pf_lines *lines, const struct pf_profile_sample *sample)
{
    const uint64_t address = sample->decoded->addr & ~(uint64_t)(lines->line_bytes - 1);
    const uint32_t frame = pf_profile_frame_at(lines->profile, address);
    if (frame == PF_NO_FRAME)
        return NULL;
    const struct pf_frame_info *info = pf_profile_frame(lines->profile, frame);
    const bool shared = is_shared(pf_symbols_module(pf_profile_symbols(lines->profile), info->module));
    const uint64_t where = shared ? info->module : (uint64_t)1 << 32 | (uint32_t)sample->pid;
    const uint64_t location = shared ? pf_frame_address(info)->in_module : address;
    uint32_t number;
    lines->unmapped +=
        sample->decoded->data_src & (LOAD | STORE) &&
        (info->module == PF_NO_SYMBOL || pf_profile_frame(lines->profile, sample->leaf)->module == PF_NO_SYMBOL);
    if (pf_pairs_get(&lines->line_of, where, location, &number))
        return lines->lines[number];
    struct pf_line *line = pf_arena_new(&lines->arena, sizeof(*line));
    if (!line || lines->line_count >= UINT32_MAX / 2 ||
        !pf_grow(lines->allocator, &lines->lines, &lines->line_capacity, lines->line_count + 1,
                 sizeof(*lines->lines)) ||
        !pf_pairs_put(&lines->line_of, where, location, (uint32_t)lines->line_count))
        return NULL;
    line->address = address;
    line->frame = frame;
    line->number = (uint32_t)lines->line_count;
    line->has_phys = sample->decoded->present & PERFILE_SAMPLE_PHYS_ADDR;
    line->phys_address = sample->decoded->phys_addr & ~(uint64_t)(lines->line_bytes - 1);
    lines->lines[lines->line_count++] = line;
    return line;
}

static uint64_t accessor_key(const struct pf_lines *lines, const struct pf_profile_sample *sample)
{
    const int32_t id = lines->by & PF_LINES_TID ? sample->tid : lines->by & PF_LINES_PID ? sample->pid : 0;
    return (uint32_t)id;
}

static struct pf_line_row *new_row(struct pf_lines *lines, struct pf_line *line, const struct pf_profile_sample *sample)
{
    struct pf_line_row *row = pf_arena_new(&lines->arena, sizeof(*row));
    if (!row || lines->row_count >= UINT32_MAX / 2 ||
        !pf_grow(lines->allocator, &lines->rows, &lines->row_capacity, lines->row_count + 1, sizeof(*lines->rows)))
        return NULL;
    row->line = line;
    row->offset = (uint32_t)(sample->decoded->addr & (lines->line_bytes - 1));
    row->frame = lines->by & PF_LINES_IADDR ? sample->leaf : PF_NO_FRAME;
    row->module = lines->by & (PF_LINES_IADDR | PF_LINES_DSO) ? pf_profile_frame(lines->profile, sample->leaf)->module
                                                              : PF_NO_SYMBOL;
    row->pid = lines->by & (PF_LINES_TID | PF_LINES_PID) ? sample->pid : -1;
    row->tid = lines->by & PF_LINES_TID ? sample->tid : -1;
    row->comm = lines->by & (PF_LINES_TID | PF_LINES_PID) ? sample->comm : NULL;
    row->number = (uint32_t)lines->row_count;
    lines->rows[lines->row_count++] = row;
    line->rows++;
    return row;
}

static struct pf_line_row *row_of(struct pf_lines *lines, struct pf_line *line, const struct pf_profile_sample *sample)
{
    const uint32_t module = pf_profile_frame(lines->profile, sample->leaf)->module;
    const uint32_t code = lines->by & PF_LINES_IADDR ? sample->leaf : lines->by & PF_LINES_DSO ? module : 0;
    const uint64_t a = (uint64_t)line->number * lines->line_bytes + (sample->decoded->addr & (lines->line_bytes - 1));
    const uint64_t b = accessor_key(lines, sample) << 32 | code;
    uint32_t number;
    if (pf_pairs_get(&lines->row_of, a, b, &number))
        return lines->rows[number];
    struct pf_line_row *row = new_row(lines, line, sample);
    return row && pf_pairs_put(&lines->row_of, a, b, row->number) ? row : NULL;
}

static bool add_to_line(struct pf_lines *lines, const struct pf_profile_sample *sample,
                        const struct pf_access_sums *sums)
{
    struct pf_line *line = line_of(lines, sample);
    struct pf_line_row *row = line ? row_of(lines, line, sample) : NULL;
    if (!row)
        return false;
    add_sums(&line->sums, sums);
    add_sums(&row->sums, sums);
    return add_accessor(lines, &line->accessors, (uint64_t)line->number << 1, sample) &&
           add_accessor(lines, &row->accessors, (uint64_t)row->number << 1 | 1, sample);
}

static bool take(struct pf_lines *lines, const struct pf_profile_sample *sample)
{
    const struct perfile_sample *decoded = sample->decoded;
    struct pf_access_sums sums = {.samples = 1};
    if (!(decoded->present & PERFILE_SAMPLE_DATA_SRC)) {
        lines->not_reported++;
        return true;
    }
    const uint64_t kernel = decoded->data_src & ~(IN_REMOTE_RAM | IN_REMOTE_CACHE);
    const uint64_t source = kernel | remote_location(kernel);
    const bool mapped = decoded->addr && decoded->present & PERFILE_SAMPLE_ADDR;
    if (!(source & (LOAD | STORE)))
        lines->not_parsed++;
    if (!mapped && source & (LOAD | STORE))
        count_nowhere(&sums, source);
    else
        count_source(&sums, source);
    count_cost(&sums, pf_weight_part(decoded, 0));
    /* perf: the flag alone is a load from remote memory, and beside a cache a hit in that as well */
    lines->remote_as_dram +=
        mapped && source & LOAD && source & HIT && source & IN_REMOTE_CACHE && source >> 37 & 1 && !(source >> 43 & 7);
    add_sums(&lines->sums, &sums);
    return !mapped || add_to_line(lines, sample, &sums);
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

uint64_t pf_lines_score(const struct pf_lines *lines, const struct pf_access_sums *sums)
{
    switch (lines->order) {
    case PF_LINES_BY_LOCAL:
        return sums->of[PF_ACCESS_local_hitm];
    case PF_LINES_BY_REMOTE:
        return sums->of[PF_ACCESS_remote_hitm];
    case PF_LINES_BY_PEER:
        return pf_access_peer(sums);
    default:
        return pf_access_hitm(sums);
    }
}

static int by_score(uint64_t a, uint64_t b)
{
    return (a < b) - (a > b);
}

#define COMPARE_LINES(name, score)                                                                                     \
    static int name(const void *a, const void *b)                                                                      \
    {                                                                                                                  \
        const struct pf_line *x = *(struct pf_line *const *)a, *y = *(struct pf_line *const *)b;                       \
        const int first = by_score(score(&x->sums), score(&y->sums));                                                  \
        const int next = first ? first : by_score(pf_access_peer(&x->sums), pf_access_peer(&y->sums));                 \
        const int last = next ? next : by_score(x->sums.samples, y->sums.samples);                                     \
        return last ? last : (x->number > y->number) - (x->number < y->number);                                        \
    }
#define LOCAL(sums) ((sums)->of[PF_ACCESS_local_hitm])
#define REMOTE(sums) ((sums)->of[PF_ACCESS_remote_hitm])
COMPARE_LINES(compare_hitm, pf_access_hitm)
COMPARE_LINES(compare_local, LOCAL)
COMPARE_LINES(compare_remote, REMOTE)
COMPARE_LINES(compare_peer, pf_access_peer)

/* The `number` of a line is its position in the sorted list now. */
static int compare_rows(const void *a, const void *b)
{
    const struct pf_line_row *x = *(struct pf_line_row *const *)a, *y = *(struct pf_line_row *const *)b;
    if (x->line != y->line)
        return (x->line->number > y->line->number) - (x->line->number < y->line->number);
    if (x->offset != y->offset)
        return (x->offset > y->offset) - (x->offset < y->offset);
    return (x->number > y->number) - (x->number < y->number);
}

static void sort_all(struct pf_lines *lines)
{
    static int (*const compare[])(const void *, const void *) = {compare_hitm, compare_local, compare_remote,
                                                                 compare_peer};
    if (lines->line_count)
        qsort(lines->lines, lines->line_count, sizeof(*lines->lines), compare[lines->order]);
    for (size_t i = 0; i < lines->line_count; i++)
        lines->lines[i]->number = (uint32_t)i;
    if (lines->row_count)
        qsort(lines->rows, lines->row_count, sizeof(*lines->rows), compare_rows);
}

/* Accesses at one offset of a line. */
struct at_offset {
    int32_t tid;
    bool several; /* threads */
    bool stored;
};

static bool other_thread(const struct at_offset *a, const struct at_offset *b)
{
    return a->several || b->several || a->tid != b->tid;
}

/* Judges the rows of one line, which are in the order of offsets. `at` has capacity for one item of each row. */
static void judge_line(struct pf_line_row *const *rows, size_t count, struct at_offset *at)
{
    struct pf_line *line = rows[0]->line;
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const struct pf_line_row *row = rows[i];
        if (!i || row->offset != rows[i - 1]->offset)
            at[used++] = (struct at_offset){.tid = row->accessors.tid};
        at[used - 1].several |= row->accessors.threads > 1 || row->accessors.tid != at[used - 1].tid;
        at[used - 1].stored |= row->sums.of[PF_ACCESS_stores] > 0;
    }
    if (line->accessors.threads < 2)
        return;
    for (size_t i = 0; i < used; i++) {
        line->true_sharing |= at[i].stored && at[i].several;
        for (size_t k = 0; at[i].stored && k < used && !line->false_sharing; k++) /* the first i that stores decides */
            line->false_sharing = k != i && other_thread(&at[i], &at[k]);
    }
}

static bool judge(struct pf_lines *lines)
{
    struct at_offset *at = pf_new(lines->allocator, lines->line_bytes * sizeof(*at));
    if (!at)
        return false;
    for (size_t i = 0, end; i < lines->row_count; i = end) {
        for (end = i + 1; end < lines->row_count && lines->rows[end]->line == lines->rows[i]->line;)
            end++;
        judge_line(lines->rows + i, end - i, at);
    }
    pf_free(lines->allocator, at, lines->line_bytes * sizeof(*at));
    return true;
}

int pf_lines_read(struct pf_lines *lines, struct perfile_error *error)
{
    const struct pf_profile_sample *sample;
    int result;
    while ((result = pf_profile_next(lines->profile, &sample, error)) > 0)
        if (!take(lines, sample))
            return pf_fail_memory(error, "cache lines");
    if (result == PERFILE_ERROR_MEMORY)
        return result;
    sort_all(lines);
    return judge(lines) ? result : pf_fail_memory(error, "cache lines");
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static int take_cache_value(void *context, const struct perfile_value *value)
{
    uint32_t *bytes = context;
    const uint64_t number = value->kind == PERFILE_VALUE_UNSIGNED ? value->number.u : 0;
    const bool usual = number >= 16 && number <= 4096 && !(number & (number - 1));
    if (value->name && strcmp(value->name, "line_size") == 0 && usual && !*bytes)
        *bytes = (uint32_t)number;
    return 0;
}

/* Of the machine that recorded; 64 when it does not say. */
static int find_line_bytes(struct pf_lines *lines, struct perfile_error *error)
{
    uint32_t bytes = 0;
    const struct perfile_visitor visitor = {.size = sizeof(visitor), .context = &bytes, .value = take_cache_value};
    const int result = perfile_feature_visit(lines->reader, PERFILE_FEATURE_CACHE, &visitor, error);
    lines->line_bytes = (bytes ? bytes : 64) << lines->doubled;
    return result == PERFILE_ERROR_MEMORY ? result : 0;
}

static bool take_word(struct pf_lines *lines, const char *word, size_t bytes)
{
    static const char *const orders[] = {"tot", "lcl", "rmt", "peer"}, *const parts[] = {"pid", "tid", "iaddr", "dso"};
    const bool doubled = bytes == sizeof("double") - 1 && !memcmp(word, "double", bytes);
    lines->doubled |= doubled;
    for (unsigned i = 0; i < 4; i++) {
        if (strlen(orders[i]) == bytes && !memcmp(orders[i], word, bytes))
            lines->order = (enum pf_line_order)i;
        else if (strlen(parts[i]) == bytes && !memcmp(parts[i], word, bytes))
            lines->by |= 1u << i;
        else
            continue;
        return true;
    }
    return doubled;
}

static int take_keys(struct pf_lines *lines, const char *keys, struct perfile_error *error)
{
    for (const char *word = keys; word && *word;) {
        const size_t bytes = strcspn(word, ",");
        if (!take_word(lines, word, bytes))
            return pf_about(error, word, bytes,
                            pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "keys",
                                    "unknown value '%.*s'; valid: tot, lcl, rmt, peer, pid, tid, iaddr, dso, double",
                                    (int)pf_min(bytes, 40), word));
        word += bytes + (word[bytes] == ',');
    }
    lines->by = lines->by ? lines->by : PF_LINES_IADDR;
    return 0;
}

int pf_lines_open(struct pf_lines *lines, struct perfile_reader *reader, const struct pf_lines_options *options,
                  struct perfile_error *error)
{
    const struct perfile_allocator *allocator = pf_allocator_or_default(options->allocator);
    struct pf_profile_options how = {.filter = options->filter,
                                     .find = pf_find_options_of(options->symbols, allocator),
                                     .unwind = options->symbols->unwind,
                                     .decoded = true,
                                     .keeps_comms = true,
                                     .frames = {.by_address = true},
                                     .drive = options->drive};
    *lines = (struct pf_lines){.allocator = allocator, .reader = reader};
    pf_arena_open(&lines->arena, lines->allocator);
    pf_pairs_open(&lines->line_of, lines->allocator);
    pf_pairs_open(&lines->row_of, lines->allocator);
    pf_pairs_open(&lines->thread_of, lines->allocator);
    int result = take_keys(lines, options->keys, error);
    if (result == 0)
        result = find_line_bytes(lines, error);
    if (result == 0)
        result = pf_topology_open(&lines->topology, reader, lines->allocator, error);
    return result == 0 ? pf_profile_open(reader, &how, &lines->profile, error) : result;
}

void pf_lines_close(struct pf_lines *lines)
{
    if (!lines->allocator)
        return;
    pf_profile_close(lines->profile);
    pf_topology_close(&lines->topology);
    pf_pairs_close(&lines->line_of);
    pf_pairs_close(&lines->row_of);
    pf_pairs_close(&lines->thread_of);
    pf_free(lines->allocator, lines->lines, lines->line_capacity * sizeof(*lines->lines));
    pf_free(lines->allocator, lines->rows, lines->row_capacity * sizeof(*lines->rows));
    pf_arena_close(&lines->arena);
}

/* ---- what is missing --------------------------------------------------------------------------------------------- */

bool pf_lines_recorded(struct perfile_reader *reader)
{
    for (size_t i = 0; i < perfile_event_count(reader); i++)
        if (perfile_event_get(reader, i)->attr->sample_type & PERFILE_SAMPLE_DATA_SRC)
            return true;
    return false;
}

void pf_lines_notify(struct pf_lines *lines, pf_on_note *notify, void *context)
{
    char text[PF_COUNTED_BYTES];
    const struct pf_access_sums *sums = &lines->sums;
    const uint64_t known = sums->of[PF_ACCESS_loads] + sums->of[PF_ACCESS_stores];
    if (!notify)
        return;
    if (!sums->samples) {
        notify(context, "there are no samples of memory accesses; record them with " PF_RECORD_MEMORY);
        return;
    }
    if (!known)
        notify(context,
               "the events say nothing about the source of data; record memory accesses with " PF_RECORD_MEMORY);
    else if (!sums->of[PF_ACCESS_stores])
        notify(context, "there are no samples of stores: which code writes to the lines is not known; " PF_RECORD_MEMORY
                        " records them where the processor can");
    if (lines->remote_as_dram) {
        notify(context, pf_count_of(lines->remote_as_dram,
                                    "hits in remote caches are counted once; perf counts such hits as loads from "
                                    "remote memory, too",
                                    text));
    }
    if (known && !lines->topology.count)
        notify(context, "the recording does not say which CPUs are of which node");
}
