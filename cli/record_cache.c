/* SPDX-License-Identifier: MIT */
#include "record_cache.h"

#include "message.h"
#include "options.h"

#include <perfile/analysis.h>

/* The file that is there now, under its own build id: another one than was recorded does no harm. */
static int add(void *context, const char *path, const uint8_t *bytes, size_t count)
{
    const struct pf_settings *settings = context;
    struct perfile_error error;

    (void)bytes;
    if (*path != '/' || !count)
        return 0;
    const int result = perfile_build_id_cache_add(settings->symbols.buildid_dir, path, NULL, &error);
    if (result == PERFILE_ERROR_WRITE)
        pf_message("record: the build-id cache is not written: %s", error.message);
    return result == PERFILE_ERROR_WRITE || result == PERFILE_ERROR_MEMORY ? -1 : 0;
}

void pf_record_cache_fill(const struct pf_settings *settings, const char *path)
{
    struct perfile_build_ids_options options = PERFILE_BUILD_IDS_OPTIONS_INIT;
    struct perfile_reader *reader;
    struct perfile_error error;

    options.with_hits = true;
    options.take = add;
    options.context = (void *)settings;
    if (perfile_open_path(path, NULL, &reader, &error) < 0)
        return;
    if (perfile_build_ids_list(reader, &options, &error) < 0)
        pf_note("record: the build-id cache is not complete: %s", error.message);
    perfile_close(reader);
}
