/* SPDX-License-Identifier: MIT */
/* Where files are looked for: what the user asked for, and what the environment and the recording have. */
#include "symbol/find/find.h"

#include <stdlib.h>

#include "symbol/find/bundle.h"
#include "symbol/machine.h"

bool pf_find_is_local(const struct pf_find_options *options)
{
    return !options->symfs || !*options->symfs;
}

const char *pf_find_root(const struct pf_find_options *options)
{
    const char *root = pf_find_is_local(options) ? options->root : options->symfs;
    return root ? root : "";
}

struct pf_find_options pf_find_options_of(const struct perfile_symbol_options *wanted,
                                          const struct perfile_allocator *allocator)
{
    const char *urls = getenv("DEBUGINFOD_URLS");
    struct pf_find_options made = {.allocator = allocator,
                                   .symfs = wanted->symfs,
                                   .vmlinux = wanted->vmlinux,
                                   .kallsyms = wanted->kallsyms,
                                   .buildid_dir = wanted->buildid_dir,
                                   .asks_debuginfod = urls && *urls && !wanted->no_names,
                                   .debuginfod_seconds = wanted->debuginfod_seconds,
                                   .no_demangle = wanted->no_demangle,
                                   .no_names = wanted->no_names,
                                   .debuginfod_bytes = wanted->debuginfod_bytes,
                                   .archive = wanted->archive,
                                   .recording = wanted->recording,
                                   .note = wanted->note,
                                   .note_context = wanted->note_context,
                                   .trouble = wanted->trouble,
                                   .trouble_context = wanted->trouble_context,
                                   .reach = wanted->reach,
                                   .reach_context = wanted->reach_context,
                                   .used = wanted->used,
                                   .used_context = wanted->used_context};
    made.was_short = pf_bundle_open(&made) < 0;
    return made;
}

/* NULL: the recording does not say. */
static const char *recorded_text(const struct pf_find_options *options, struct perfile_reader *reader, uint32_t feature)
{
    const char *text;
    const int result = perfile_feature_text(reader, feature, NULL, &text, NULL);
    if (options->allocator)
        (void)pf_memory_check(options->allocator, result);
    return result == 0 ? text : NULL;
}

void pf_find_read_names(struct pf_find_options *options, struct perfile_reader *reader)
{
    options->host = recorded_text(options, reader, PERFILE_FEATURE_HOSTNAME);
    options->release = recorded_text(options, reader, PERFILE_FEATURE_OSRELEASE);
    options->same_machine = pf_machine_is_named(pf_find_root(options), options->host, options->release);
}
