/* SPDX-License-Identifier: MIT */
/* perf's build-id cache: what is in it, and what is not needed any more. */
#include "build_ids.h"
#include "reading.h"
#include "sandbox.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct settings {
    bool list, purge_all;
    const char *add, *remove, *purge, *update, *missing, *kcore; /* NULL: not given */
};

/* The entries of the cache; PF_STATUS_OK also when there is no such folder yet. */
static int read_cache(const struct pf_settings *settings, struct pf_build_ids *ids)
{
    struct perfile_build_ids_options options = PERFILE_BUILD_IDS_OPTIONS_INIT;
    struct perfile_error error;

    options.take = pf_build_id_rows_add;
    options.context = ids;
    const int result = perfile_build_id_cache_list(settings->symbols.buildid_dir, &options, &error);
    if (result == 0 || (result == PERFILE_ERROR_OPEN && errno == ENOENT))
        return PF_STATUS_OK;
    pf_message("buildid-cache: %s", result == PERFILE_ERROR_STOPPED ? "out of memory" : error.message);
    return result == PERFILE_ERROR_STOPPED ? PF_STATUS_MEMORY : pf_status_of_error(result, PF_STATUS_UNREADABLE);
}

static int print_cache(const struct pf_settings *settings, struct pf_stream *out)
{
    struct pf_build_ids ids = {0};
    const int status = read_cache(settings, &ids);

    if (!status)
        pf_build_ids_print(&ids, out);
    pf_build_ids_free(&ids);
    return status;
}

static int list_cache(const struct pf_settings *settings)
{
    struct pf_stream out;
    int status = pf_stream_open(&out, settings->output);

    if (status)
        return status;
    status = print_cache(settings, &out);
    const int written = pf_stream_close(&out, !status);
    return status ? status : written;
}

/* ---- files ----------------------------------------------------------------------------------------------------- */

static int failed(const char *path, int code, const struct perfile_error *error)
{
    if (code == PERFILE_ERROR_FORMAT || code == PERFILE_ERROR_DAMAGED)
        pf_message("buildid-cache: %s: not an ELF file, or damaged: %s", path, error->message);
    else
        pf_message("buildid-cache: %s", error->message);
    return code == PERFILE_ERROR_WRITE ? PF_STATUS_OUTPUT : pf_status_of_error(code, PF_STATUS_UNREADABLE);
}

static int report(const char *path, const char *what, int result)
{
    if (!result)
        pf_message("buildid-cache: %s is not in the cache", path);
    else
        pf_note("%s %s", what, path);
    return result ? PF_STATUS_OK : PF_STATUS_FINDINGS;
}

static int add_file(const struct pf_settings *settings, const char *path)
{
    struct perfile_error error;
    const int result = perfile_build_id_cache_add(settings->symbols.buildid_dir, path, NULL, &error);

    if (result < 0)
        return failed(path, result, &error);
    pf_note("%s %s", result ? "added" : "already there:", path);
    return PF_STATUS_OK;
}

static int remove_file(const struct pf_settings *settings, const char *path)
{
    struct perfile_error error;
    uint8_t id[20];
    int result = perfile_elf_build_id(path, id, &error);

    if (result > 0)
        result = perfile_build_id_cache_remove(settings->symbols.buildid_dir, id, (size_t)result, &error);
    return result < 0 ? failed(path, result, &error) : report(path, "removed", result);
}

/* What is there is written again. */
static int update_file(const struct pf_settings *settings, const char *path)
{
    struct perfile_error error;
    uint8_t id[20];
    int result = perfile_elf_build_id(path, id, &error);

    if (result > 0)
        result = perfile_build_id_cache_remove(settings->symbols.buildid_dir, id, (size_t)result, &error);
    return result < 0 && result != PERFILE_ERROR_OPEN ? failed(path, result, &error) : add_file(settings, path);
}

/* Removes all versions of the file, or of all files if NULL. Returns how many, or an error. */
static int purge(const struct pf_settings *settings, const struct pf_build_ids *ids, const char *path,
                 struct perfile_error *error)
{
    int count = 0, result = 0;

    for (size_t i = 0; i < ids->count && result >= 0; i++) {
        if (path && strcmp(ids->list[i].path, path) != 0)
            continue;
        result =
            perfile_build_id_cache_remove(settings->symbols.buildid_dir, ids->list[i].bytes, ids->list[i].count, error);
        count += result > 0;
    }
    return result < 0 ? result : count;
}

static int purge_file(const struct pf_settings *settings, const char *path)
{
    struct pf_build_ids ids = {0};
    struct perfile_error error;
    char *real = realpath(path, NULL); /* which may be gone */
    int status = read_cache(settings, &ids);

    if (!status) {
        const int result = purge(settings, &ids, real ? real : path, &error);
        status = result < 0 ? failed(path, result, &error) : report(path, "removed", result);
    }
    free(real);
    pf_build_ids_free(&ids);
    return status;
}

static int purge_all(const struct pf_settings *settings)
{
    struct pf_build_ids ids = {0};
    struct perfile_error error;
    int status = read_cache(settings, &ids);

    if (!status) {
        const int result = purge(settings, &ids, NULL, &error);
        status = result < 0 ? failed("", result, &error) : PF_STATUS_OK;
    }
    pf_build_ids_free(&ids);
    return status;
}

/* Each of a list with commas; the worst status. */
static int each(const struct pf_settings *settings, const char *list,
                int (*work)(const struct pf_settings *settings, const char *path))
{
    char *copy = strdup(list), *rest = copy;
    const char *path;
    int status = PF_STATUS_OK;

    if (!copy)
        return pf_out_of_memory(NULL);
    while ((path = strsep(&rest, ",")) != NULL) {
        const int done = *path ? work(settings, path) : PF_STATUS_OK;
        status = done > status ? done : status;
    }
    free(copy);
    return status;
}

/* ---- what a recording needs ------------------------------------------------------------------------------------ */

static bool has(const struct pf_build_ids *cache, const struct pf_build_id *id)
{
    for (size_t i = 0; i < cache->count; i++)
        if (cache->list[i].count == id->count && !memcmp(cache->list[i].bytes, id->bytes, id->count))
            return true;
    return false;
}

/* Prints the list of --list, too, as standard output can be opened only once. */
static int print_missing(struct pf_input *input, struct pf_stream *out)
{
    struct pf_build_ids wanted = {0}, cache = {0};
    int result = pf_build_ids_read(&wanted, input, false);

    if (pf_own(input->settings)->list)
        (void)print_cache(input->settings, out); /* what fails here fails below, too */
    if (result >= 0 && read_cache(input->settings, &cache) == PF_STATUS_OK) {
        char text[PF_BUILD_ID_TEXT];
        for (size_t i = 0; i < wanted.count; i++)
            if (wanted.list[i].count && !has(&cache, &wanted.list[i])) {
                pf_stream_print(out, "%s ", pf_build_id_text(wanted.list[i].bytes, wanted.list[i].count, text));
                pf_stream_put_name(out, "", wanted.list[i].path, "\n");
            }
    }
    pf_build_ids_free(&cache);
    pf_build_ids_free(&wanted);
    return result;
}

/* ---- the verb -------------------------------------------------------------------------------------------------- */

/* Runs the actions in perf's order. Returns the worst status. */
static int run(const struct pf_command *command, struct pf_settings *settings)
{
    const struct settings *asked = pf_own(settings);
    const struct {
        const char *list;
        int (*work)(const struct pf_settings *settings, const char *path);
    } steps[] = {
        {asked->add, add_file}, {asked->remove, remove_file}, {asked->purge, purge_file}, {asked->update, update_file}};
    int status = PF_STATUS_OK, done = PF_STATUS_OK;

    if (asked->kcore) {
        pf_message("buildid-cache: kcore is not copied; perf does that");
        return PF_STATUS_USAGE;
    }
    settings->writes_build_ids = asked->add || asked->update;
    pf_sandbox_enter(command, settings);
    if (asked->list && !asked->missing)
        status = list_cache(settings);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        done = steps[i].list ? each(settings, steps[i].list, steps[i].work) : PF_STATUS_OK;
        status = done > status ? done : status;
    }
    if (asked->purge_all) {
        done = purge_all(settings);
        status = done > status ? done : status;
    }
    if (asked->missing) {
        settings->input = asked->missing;
        done = pf_read_and_print(command, settings, print_missing);
        status = done > status ? done : status;
    }
    if (asked->list || asked->missing || asked->purge_all || asked->add || asked->remove || asked->purge ||
        asked->update)
        return status;
    pf_message(
        "buildid-cache: what to do is missing (--list, --add, --remove, --purge, --purge-all, --update, --missing)");
    return PF_STATUS_USAGE;
}

#define FILES(option, short_option, member, text) PF_ROW(TEXT, option, short_option, "FILES", PF_OWN(member), text)
static const struct pf_option options[] = {
    PF_FLAG("list", 'l', PF_OWN(list), "List the files in the cache."),
    FILES("add", 'a', add, "Copy these ELF files, separated by commas, into the cache."),
    FILES("remove", 'r', remove, "Remove the copies of these files."),
    FILES("purge", 'p', purge, "Remove the copies of all versions of these files, which may be gone."),
    PF_FLAG("purge-all", 'P', PF_OWN(purge_all), "Remove all files from the cache."),
    FILES("update", 'u', update, "Copy these files again."),
    PF_ROW(TEXT, "missing", 'M', "FILE", PF_OWN(missing),
           "List the files of this recording that the cache does not have."),
    PF_OPTION_BUILDID_DIR,
    PF_OPTION_OUTPUT,
    PF_ROW(TEXT, "kcore", 'k', "FILE", PF_OWN(kcore), "Not available: /proc/kcore is not copied."),
    PF_IGNORED("force", 'f', NULL, "Ignored, for compatibility with perf."),
    {0},
};

const struct pf_command pf_command_buildid_cache = {
    .name = "buildid-cache",
    .summary = "list and change the copies of binaries in perf's build-id cache",
    .doc = "Lists, adds and removes copies of binaries in the build-id cache of perf, ~/.debug, where perf and perfile "
           "look for symbols by build id.",
    .own_bytes = sizeof(struct settings),
    .groups = {PF_GROUP("Options", options), &pf_limit_group, &pf_common_group},
    .run = run,
};
