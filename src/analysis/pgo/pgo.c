/* SPDX-License-Identifier: MIT */
/* <perfile/pgo.h>: reading recordings, and what is known of each binary. */
#include "analysis/pgo/pgo.h"

#include "analysis/pgo/pgo_parts.h"
#include "base/build_id.h"
#include "base/error.h"
#include "base/sized.h"
#include "base/text.h"

enum { TRACES_MAX = 1 << 24 };

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static int open_parts(struct perfile_pgo *pgo, struct perfile_error *error)
{
    const struct perfile_pgo_options *options = &pgo->options;
    const uint64_t most = options->max_traces ? options->max_traces : TRACES_MAX;
    const size_t rows = (size_t)pf_min_u64(most, UINT32_MAX - 1);
    struct pf_pgo_wanted wanted = {.any_build = options->any_build, .kernel = options->kernel};
    int result = options->binary ? pf_pgo_open_own(pgo, error) : 0;
    const bool by_id = options->build_id_bytes;
    memcpy(wanted.build_id, by_id ? options->build_id : pgo->own.build_id, sizeof(wanted.build_id));
    wanted.build_id_bytes = by_id ? options->build_id_bytes : pgo->own.build_id_bytes;
    wanted.name = options->binary ? last_part(pgo->own.path ? pgo->own.path : "") : NULL;
    pf_pgo_modules_open(&pgo->modules, &wanted, &pgo->watch.allocator);
    pf_tally_open(&pgo->traces, rows, &pgo->watch.allocator);
    pf_tally_open(&pgo->addresses, rows, &pgo->watch.allocator);
    if (result == 0 && options->contexts)
        result = pf_pgo_contexts_open(&pgo->contexts, options->binary, rows, &pgo->watch.allocator, error);
    return result;
}

static int take_options(struct perfile_pgo *pgo, const struct perfile_pgo_options *options, struct perfile_error *error)
{
    pgo->options = *options;
    pgo->options.filter = &pgo->complete.filter;
    pgo->options.symbols = &pgo->complete.symbols;
    const int result = pf_complete_options_take(&pgo->complete, NULL, options->filter, options->symbols, error);
    if (result == 0 && options->build_id_bytes > sizeof(options->build_id))
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "build id", "longer than 20 bytes");
    if (result == 0 && options->contexts && (!options->binary || options->kernel))
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "pgo options",
                       "contexts are counted of a binary of processes that is given");
    return result == 0 && pgo->complete.filter.off_cpu
               ? pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "filter", "times off CPU are not branches")
               : result;
}

int perfile_pgo_open(const struct perfile_pgo_options *options, struct perfile_pgo **pgo, struct perfile_error *error)
{
    struct perfile_pgo_options all = PERFILE_PGO_OPTIONS_INIT;
    *pgo = NULL;
    int result = pf_sized_take(&all, sizeof(all), options, "pgo options", error);
    if (result < 0)
        return result;
    struct perfile_pgo *made = pf_new(pf_allocator_or_default(all.allocator), sizeof(*made));
    if (!made)
        return pf_fail_memory(error, "profile");
    pf_watch_open(&made->watch, all.allocator);
    pf_arena_open(&made->texts, &made->watch.allocator);
    made->totals = (struct perfile_pgo_counts)PERFILE_PGO_COUNTS_INIT;
    result = take_options(made, &all, error);
    if (result == 0)
        result = open_parts(made, error);
    if (result == 0)
        *pgo = made;
    else
        perfile_pgo_close(made);
    return result;
}

void perfile_pgo_close(struct perfile_pgo *pgo)
{
    if (!pgo)
        return;
    pf_pgo_close_profiles(pgo);
    pf_pgo_close_searches(pgo);
    if (pgo->modules.allocator)
        pf_pgo_modules_close(&pgo->modules);
    pf_tally_close(&pgo->traces);
    pf_tally_close(&pgo->addresses);
    pf_pgo_contexts_close(&pgo->contexts);
    pf_free(&pgo->watch.allocator, pgo->files, pgo->file_capacity * sizeof(*pgo->files));
    pf_free(&pgo->watch.allocator, pgo->events, pgo->event_capacity * sizeof(*pgo->events));
    pf_arena_close(&pgo->texts);
    pf_free(pgo->watch.below, pgo, sizeof(*pgo));
}

/* ---- recordings -------------------------------------------------------------------------------------------------- */

static int check_reader(const struct perfile_pgo *pgo, const struct perfile_reader *reader, struct perfile_error *error)
{
    const char *why = !reader                               ? "no reader given"
                      : !perfile_reader_is_at_start(reader) ? "the reader is not at its start: perfile_reader_rewind"
                      : pgo->ended                          ? "no recordings can be added after perfile_pgo_end"
                                                            : NULL;
    return why ? pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "profile", "%s", why) : 0;
}

int perfile_pgo_add(struct perfile_pgo *pgo, struct perfile_reader *reader, struct perfile_error *error)
{
    int result = check_reader(pgo, reader, error);
    if (result == 0)
        result = pf_pgo_collect(pgo, reader, error);
    if (result == 0)
        result = pf_pgo_find_files(pgo, reader, error);
    return pf_memory_was_short(&pgo->watch.allocator) ? pf_fail_memory(error, "profile") : result;
}

/* Writes the digits of a build id; "none" where the file has no build id. */
static const char *id_text(const uint8_t *build_id, size_t bytes, char text[2 * 20 + 1])
{
    *pf_hex_bytes(text, build_id, bytes) = 0;
    return bytes ? text : "none";
}

/* What is at hand is another build than what was recorded. */
static int check_build(const struct perfile_pgo *pgo, struct perfile_error *error)
{
    char recorded[41], ours[41];
    const struct pf_pgo_file *own = &pgo->own;
    const struct pf_pgo_module *other =
        pgo->modules.other_build ? &pgo->modules.modules[pgo->modules.other_build - 1] : NULL;
    if (!other)
        return 0;
    id_text(other->build_id, other->build_id_bytes, recorded);
    const char *file = id_text(own->build_id, own->build_id_bytes, ours);
    for (size_t i = 0; i < pgo->modules.count; i++)
        if (pgo->modules.modules[i].is_wanted) {
            pf_pgo_note(pgo, "%s was also recorded as another build, %s, which is not counted", other->name, recorded);
            return 0;
        }
    return pf_about(error, own->path, strlen(own->path),
                    pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "binary",
                            "another build than the recorded one: its build id is %s, that of the recorded %s is %s; "
                            "it is %s",
                            file, other->name, recorded, own->path));
}

int perfile_pgo_end(struct perfile_pgo *pgo, struct perfile_error *error)
{
    if (pgo->ended)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "profile",
                       "perfile_pgo_end was called before");
    pgo->ended = true;
    const int result = check_build(pgo, error);
    if (result == 0 && pgo->modules.is_full)
        pf_pgo_note(pgo, "only the first %u mapped parts of files are counted", (1u << PF_PART_BITS) - 1);
    return result == 0 ? pf_pgo_make_profiles(pgo, error) : result;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

bool pf_pgo_any_branches(const struct perfile_pgo *pgo)
{
    return pgo->traces.count;
}

uint64_t pf_pgo_left_out(const struct perfile_pgo *pgo)
{
    return pgo->left_out;
}

const struct perfile_allocator *pf_pgo_allocator(const struct perfile_pgo *pgo)
{
    return &pgo->watch.allocator;
}

void pf_pgo_note(const struct perfile_pgo *pgo, const char *format, ...)
{
    va_list arguments;
    if (!pgo->options.symbols->note)
        return;
    va_start(arguments, format);
    char *text = pf_text_format_list(&pgo->watch.allocator, format, arguments);
    va_end(arguments);
    if (text)
        pgo->options.symbols->note(pgo->options.symbols->note_context, text);
    pf_text_free(&pgo->watch.allocator, text);
}

const struct pf_pgo_profile *pf_pgo_profile_at(const struct perfile_pgo *pgo, size_t index)
{
    return index < pgo->binary_count ? &pgo->binaries[index].profile : NULL;
}

size_t perfile_pgo_binary_count(const struct perfile_pgo *pgo)
{
    return pgo->binary_count;
}

static uint32_t match_of(const struct pf_pgo_binary *binary)
{
    const struct pf_pgo_module *module = binary->module;
    const struct pf_pgo_file *file = binary->file;
    if (!file->path)
        return PERFILE_PGO_MATCH_NONE;
    if (!module->build_id_bytes)
        return PERFILE_PGO_MATCH_NAME;
    return pf_build_id_is_same(file->build_id, file->build_id_bytes, module->build_id, module->build_id_bytes)
               ? PERFILE_PGO_MATCH_BUILD_ID
               : PERFILE_PGO_MATCH_FORCED;
}

int perfile_pgo_binary_at(const struct perfile_pgo *pgo, size_t index, struct perfile_pgo_binary *binary)
{
    if (index >= pgo->binary_count)
        return PERFILE_ERROR_ARGUMENT;
    const struct pf_pgo_binary *known = &pgo->binaries[index];
    struct perfile_pgo_binary made = {.size = sizeof(made),
                                      .name = known->profile.name,
                                      .path = known->profile.path,
                                      .build_id_bytes = known->module->build_id_bytes,
                                      .match = match_of(known),
                                      .has_branches = known->profile.has_branches,
                                      .event = known->profile.event,
                                      .branch_count = known->profile.branch_count,
                                      .range_count = known->profile.range_count,
                                      .address_count = known->profile.address_count};
    memcpy(made.build_id, known->module->build_id, sizeof(made.build_id));
    return pf_sized_give(binary, &made, sizeof(made));
}

/* What was counted before it was known in which binary. */
static void add_totals(const struct perfile_pgo *pgo, struct perfile_pgo_counts *counts)
{
    counts->samples = pgo->totals.samples;
    counts->samples_without_branches = pgo->totals.samples_without_branches;
    counts->samples_of_calls = pgo->totals.samples_of_calls;
    counts->samples_filtered = pgo->totals.samples_filtered;
    counts->branches_wrong_path = pgo->totals.branches_wrong_path;
    counts->samples_without_callers = pgo->contexts.counts.samples_without_callers;
    counts->samples_between_frames = pgo->contexts.counts.samples_between_frames;
    counts->contexts_unknown = pgo->contexts.counts.contexts_unknown;
}

int perfile_pgo_counts_get(const struct perfile_pgo *pgo, size_t binary, struct perfile_pgo_counts *counts)
{
    struct perfile_pgo_counts made = pgo->totals;
    if (binary != SIZE_MAX && binary >= pgo->binary_count)
        return PERFILE_ERROR_ARGUMENT;
    if (binary != SIZE_MAX)
        made = pgo->binaries[binary].profile.counts;
    add_totals(pgo, &made);
    return pf_sized_give(counts, &made, sizeof(made));
}

int perfile_pgo_branch_at(const struct perfile_pgo *pgo, size_t binary, uint64_t index,
                          struct perfile_pgo_branch *branch)
{
    const struct pf_pgo_profile *profile = pf_pgo_profile_at(pgo, binary);
    if (!profile || index >= profile->branch_count)
        return PERFILE_ERROR_ARGUMENT;
    const struct pf_pgo_branch *b = &profile->branches[index];
    const struct perfile_pgo_branch made = {sizeof(made), b->from, b->to, b->count, b->mispredicted, b->type};
    return pf_sized_give(branch, &made, sizeof(made));
}

int perfile_pgo_range_at(const struct perfile_pgo *pgo, size_t binary, uint64_t index, struct perfile_pgo_range *range)
{
    const struct pf_pgo_profile *profile = pf_pgo_profile_at(pgo, binary);
    if (!profile || index >= profile->range_count)
        return PERFILE_ERROR_ARGUMENT;
    const struct pf_pgo_range *r = &profile->ranges[index];
    const struct perfile_pgo_range made = {sizeof(made), r->begin, r->end, r->count};
    return pf_sized_give(range, &made, sizeof(made));
}

int perfile_pgo_address_at(const struct perfile_pgo *pgo, size_t binary, uint64_t index,
                           struct perfile_pgo_address *address)
{
    const struct pf_pgo_profile *profile = pf_pgo_profile_at(pgo, binary);
    if (!profile || index >= profile->address_count)
        return PERFILE_ERROR_ARGUMENT;
    const struct perfile_pgo_address made = {sizeof(made), profile->addresses[index].address,
                                             profile->addresses[index].count};
    return pf_sized_give(address, &made, sizeof(made));
}
