/* SPDX-License-Identifier: MIT */
/* Unwinding, build ids and the code of JITs for callers that have a session and samples, but no profile. */
#include "analysis/unwinder.h"

#include <stdio.h>
#include <string.h>

#include "analysis/complete_options.h"
#include "base/cache_trim.h"
#include "base/error.h"
#include "base/memory_name.h"
#include "base/sized.h"
#include "symbol/dwarf/inlines.h"
#include "symbol/find/bundle.h"
#include "symbol/jit/jit.h"
#include "symbol/symbols.h"

struct perfile_unwinder {
    struct pf_watch watch;
    struct perfile_reader *reader;
    struct pf_symbols *symbols;
    const char *arch; /* uname -m of the recording; NULL: not known yet */
    struct perfile_unwinder_counts counts;
    struct pf_stack_sizes sizes;
    struct pf_lost_modules lost[PERFILE_UNWIND_REASONS];
};

/* Where things are that the caller's options (may be NULL) point at; without a reader memory is malloc's. */
static int take_options(struct pf_find_options *find, const struct perfile_reader *reader,
                        const struct perfile_symbol_options *options, struct perfile_error *error)
{
    struct perfile_symbol_options all;
    const int result = pf_complete_symbols(&all, reader, options, error);
    *find = pf_find_options_of(&all, reader ? perfile_reader_allocator(reader) : NULL);
    return result;
}

int pf_unwinder_open(struct perfile_reader *reader, const struct perfile_symbol_options *options, bool live,
                     struct perfile_unwinder **unwinder, struct perfile_error *error)
{
    struct pf_find_options find;
    *unwinder = NULL;
    int result = take_options(&find, reader, options, error);
    if (result < 0)
        return result;
    const struct perfile_allocator *allocator = perfile_reader_allocator(reader);
    struct perfile_unwinder *made = pf_new(allocator, sizeof(*made));
    if (!made)
        return pf_fail_memory(error, "unwinding");
    pf_watch_open(&made->watch, allocator);
    find.allocator = &made->watch.allocator;
    find.live = live;
    find.asks_debuginfod &= !live;
    made->reader = reader;
    result = pf_symbols_open(reader, &find, &made->symbols, error);
    if (result < 0) {
        perfile_unwinder_close(made);
        return result;
    }
    *unwinder = made;
    return 0;
}

int perfile_unwinder_open(struct perfile_reader *reader, const struct perfile_symbol_options *options,
                          struct perfile_unwinder **unwinder, struct perfile_error *error)
{
    return pf_unwinder_open(reader, options, false, unwinder, error);
}

void perfile_unwinder_close(struct perfile_unwinder *unwinder)
{
    if (!unwinder)
        return;
    pf_symbols_close(unwinder->symbols);
    pf_free(unwinder->watch.below, unwinder, sizeof(*unwinder));
}

int perfile_unwinder_counts_get(const struct perfile_unwinder *unwinder, struct perfile_unwinder_counts *counts)
{
    return pf_sized_give(counts, &unwinder->counts, sizeof(unwinder->counts));
}

const struct pf_stack_sizes *pf_unwinder_sizes(const struct perfile_unwinder *unwinder)
{
    return &unwinder->sizes;
}

const struct pf_lost_modules *pf_unwinder_lost(const struct perfile_unwinder *unwinder)
{
    return unwinder->lost;
}

void pf_lost_modules_add(struct pf_lost_modules *modules, const char *name, uint64_t count)
{
    size_t i = 0;
    while (i < modules->count && strcmp(modules->items[i].name, name) != 0)
        i++;
    if (i == PF_COUNT(modules->items))
        return;
    if (i == modules->count)
        snprintf(modules->items[modules->count++].name, sizeof(modules->items[0].name), "%s", name);
    modules->items[i].count += count;
}

static bool is_file(const struct perfile_map *map)
{
    return map->filename[0] == '/' && !pf_is_memory_name(map->filename);
}

static bool is_gone(struct pf_symbols *symbols, const struct perfile_map *map, uint64_t ip)
{
    struct pf_location location;
    return is_file(map) && pf_symbols_locate(symbols, map, ip, &location) && location.module != PF_NO_SYMBOL &&
           !pf_symbols_module(symbols, location.module)->path;
}

/* The function whose caller is missing is the last one. */
static void count_lost(struct perfile_unwinder *unwinder, const struct perfile_space *space,
                       const struct pf_unwound *unwound, enum perfile_unwind_reason reason)
{
    const uint64_t ip = unwound->addresses[unwound->count - 1];
    const struct perfile_map *map = pf_symbols_map(unwinder->symbols, space, ip);
    char name[sizeof(unwinder->lost->items[0].name)];
    if (!map)
        return;
    if (reason == PERFILE_UNWIND_LOST && is_gone(unwinder->symbols, map, ip)) {
        reason = PERFILE_UNWIND_GONE;
        unwinder->counts.lost--;
        unwinder->counts.gone++;
    }
    const char *slash = strrchr(map->filename, '/');
    snprintf(name, sizeof(name), "%s", is_file(map) ? slash + 1 : PERFILE_GENERATED_CODE);
    pf_lost_modules_add(&unwinder->lost[reason], name, 1);
}

/* Records hold less than 64 KiB. */
static void count_size(struct pf_stack_sizes *sizes, uint64_t bytes, bool cut)
{
    const size_t last = PF_STACK_SIZES - 1;
    sizes->counts[cut ? last : bytes < 2 ? 0 : pf_min(last - 1, 64u - (unsigned)__builtin_clzll(bytes - 1))]++;
}

static void count(struct perfile_unwinder *unwinder, int end, const struct pf_unwound *unwound)
{
    struct perfile_unwinder_counts *counts = &unwinder->counts;
    if (!unwound->count)
        return;
    count_size(&unwinder->sizes, unwound->bytes, end == PF_UNWIND_TRUNCATED);
    counts->samples++;
    counts->complete += end == PF_UNWIND_DONE;
    counts->guessed += end == PF_UNWIND_DONE && unwound->guessed;
    counts->cut += end == PF_UNWIND_TRUNCATED;
    counts->lost += end == PF_UNWIND_NO_RULE;
    counts->limited += end == PF_UNWIND_LIMIT;
}

int perfile_unwind(void *context, struct perfile_session *session, const struct perfile_sample *sample,
                   uint64_t *addresses, size_t capacity)
{
    struct perfile_unwinder *unwinder = context;
    struct perfile_sample all = PERFILE_SAMPLE_INIT;
    const int result = pf_sized_take(&all, sizeof(all), sample, "sample", NULL);
    if (result < 0)
        return result;
    struct pf_unwound unwound = {.addresses = addresses, .capacity = capacity};
    /* a stream says it in a record */
    if (!unwinder->arch &&
        pf_memory_check(&unwinder->watch.allocator,
                        perfile_feature_text(unwinder->reader, PERFILE_FEATURE_ARCH, NULL, &unwinder->arch, NULL)) < 0)
        unwinder->arch = NULL;
    const struct pf_unwinding how = {.space = perfile_session_space(session, all.pid), .arch = unwinder->arch};
    int end = pf_symbols_unwind(unwinder->symbols, &all, &how, &unwound);
    const bool is_early = end == PF_UNWIND_TRUNCATED || end == PF_UNWIND_NO_RULE;
    if (is_early && pf_symbols_unwind_on(unwinder->symbols, &all, &how, &unwound))
        end = PF_UNWIND_DONE;
    count(unwinder, end, &unwound);
    if (unwound.count && (end == PF_UNWIND_NO_RULE || end == PF_UNWIND_TRUNCATED))
        count_lost(unwinder, how.space, &unwound, end == PF_UNWIND_NO_RULE ? PERFILE_UNWIND_LOST : PERFILE_UNWIND_CUT);
    return pf_memory_was_short(&unwinder->watch.allocator) ? PERFILE_ERROR_MEMORY : (int)unwound.count;
}

int perfile_build_id_find(void *symbol_options, const struct perfile_map *map, uint8_t build_id[20])
{
    struct perfile_map ours = {.size = sizeof(ours)};
    struct pf_find_options find;
    struct pf_found found;
    struct pf_watch watch;
    int bytes = take_options(&find, NULL, symbol_options, NULL);
    if (bytes == 0)
        bytes = pf_sized_take(&ours, sizeof(ours), map, "map", NULL);
    if (bytes < 0)
        return bytes;
    pf_watch_open(&watch, NULL);
    find.allocator = &watch.allocator;
    bytes = pf_bundle_load(&find);
    if (bytes == 0)
        bytes = pf_find_binary(&find, ours.filename, NULL, 0, &found);
    if (bytes < 0) {
        pf_bundle_unload(&find);
        return bytes;
    }
    bytes = found.path ? pf_elf_build_id(&watch.allocator, found.path, build_id, NULL) : 0;
    pf_found_close(&found);
    pf_bundle_unload(&find);
    if (bytes == PERFILE_ERROR_MEMORY || pf_memory_was_short(&watch.allocator))
        return PERFILE_ERROR_MEMORY;
    return bytes > 0 ? bytes : 0; /* a file that cannot be read says nothing */
}

int perfile_cache_folder(char *path, size_t capacity)
{
    const struct perfile_allocator *allocator = pf_allocator_or_default(NULL);
    char *folder = pf_cache_directory(allocator);
    const size_t bytes = folder ? strlen(folder) + 1 : 0;
    if (bytes && bytes <= capacity)
        memcpy(path, folder, bytes);
    pf_text_free(allocator, folder);
    return !bytes ? PERFILE_ERROR_ABSENT : bytes <= capacity ? 0 : PERFILE_ERROR_LIMIT;
}

void perfile_cache_trim(const char *suffix, const char *kept, uint64_t limit_bytes)
{
    const struct perfile_allocator *allocator = pf_allocator_or_default(NULL);
    char *folder = pf_cache_directory(allocator);
    if (folder)
        pf_cache_trim(allocator, folder, suffix, kept, limit_bytes);
    pf_text_free(allocator, folder);
}

/* ---- code of JITs ---- */

struct perfile_jit {
    struct pf_watch watch;
    struct pf_find_options find;
    const char *folder;
    struct pf_jit *jit;
};

int perfile_jit_open(struct perfile_reader *reader, const struct perfile_symbol_options *options, const char *folder,
                     struct perfile_jit **jit, struct perfile_error *error)
{
    struct pf_find_options find;
    *jit = NULL;
    int result = take_options(&find, reader, options, error);
    if (result < 0)
        return result;
    const struct perfile_allocator *allocator = perfile_reader_allocator(reader);
    struct perfile_jit *made = pf_new(allocator, sizeof(*made));
    if (!made)
        return pf_fail_memory(error, "jitdump");
    pf_watch_open(&made->watch, allocator);
    made->find = find;
    made->find.allocator = &made->watch.allocator;
    made->folder = folder;
    result = pf_jit_open(reader, NULL, &made->find, &made->jit, error);
    if (result < 0) {
        perfile_jit_close(made);
        return result;
    }
    *jit = made;
    return 0;
}

void perfile_jit_close(struct perfile_jit *jit)
{
    if (!jit)
        return;
    pf_jit_close(jit->jit);
    pf_free(jit->watch.below, jit, sizeof(*jit));
}

int perfile_jit_follow(void *context, const struct perfile_record *record,
                       int (*add)(void *adder, uint64_t time, const struct perfile_map *map,
                                  struct perfile_error *error),
                       void *adder, struct perfile_error *error)
{
    struct perfile_jit *jit = context;
    pf_jit_write_files(jit->jit, jit->folder, add, adder);
    int result = pf_jit_follow(jit->jit, record, error);
    if (pf_memory_was_short(&jit->watch.allocator))
        return pf_fail_memory(error, "jitdump");
    return result < 0 ? result : pf_jit_is_used(jit->jit);
}

uint64_t perfile_jit_files(const struct perfile_jit *jit, uint64_t *dumps)
{
    const struct pf_jit_counts *counts = pf_jit_counts(jit->jit);
    if (dumps)
        *dumps = counts->dumps;
    return counts->files;
}
