/* SPDX-License-Identifier: MIT */
#include "probes.h"
#include "array.h"
#include "message.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- files ------------------------------------------------------------------------------------------------------- */

static bool find_program(const char *name, char path[PATH_MAX])
{
    char tried[PATH_MAX];

    for (const char *at = getenv("PATH"); at && *at; at += strspn(at, ":")) {
        const int bytes = (int)strcspn(at, ":");
        if (snprintf(tried, sizeof(tried), "%.*s/%s", bytes, at, name) < PATH_MAX && !access(tried, X_OK) &&
            realpath(tried, path))
            return true;
        at += bytes;
    }
    return false;
}

static bool find_library_as(const char *pattern, const char *name, char path[PATH_MAX])
{
    static const char *const folders[] = {"/lib64", "/usr/lib64", "/lib/*-linux-gnu*", "/usr/lib/*-linux-gnu*",
                                          "/lib",   "/usr/lib",   "/usr/local/lib"};
    char text[PATH_MAX];
    bool is_found = false;

    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && !is_found; i++) {
        glob_t found;
        const int used = snprintf(text, sizeof(text), "%s/", folders[i]);
        snprintf(text + used, sizeof(text) - (size_t)used, pattern, name);
        if (glob(text, 0, NULL, &found) == 0)
            is_found = realpath(found.gl_pathv[found.gl_pathc - 1], path);
        globfree(&found);
    }
    return is_found;
}

static bool find_library(const char *name, char path[PATH_MAX])
{
    return find_library_as("%s", name, path) || find_library_as("%s.so.[0-9]*", name, path) ||
           find_library_as("%s.so", name, path) || find_library_as("lib%s.so.[0-9]*", name, path) ||
           find_library_as("lib%s.so", name, path);
}

bool pf_probe_find_file(const char *name, char path[PATH_MAX])
{
    if (strchr(name, '/') || !access(name, F_OK))
        return realpath(name, path);
    errno = ENOENT;
    if (strpbrk(name, "*?[]%"))
        return false;
    return find_program(name, path) || find_library(name, path);
}

/* ---- what definitions mean --------------------------------------------------------------------------------------- */

void pf_probe_print_note(void *verb, const char *sentence)
{
    pf_message_advice("%s: %s", (const char *)verb, sentence);
}

static char *copy(struct pf_probe_batch *batch, const char *text)
{
    char *kept = text ? strdup(text) : NULL;

    if (text && !kept)
        batch->has_no_memory = true;
    return kept;
}

struct definition {
    struct pf_probe_batch *batch;
    const char *file;
};

static int add_line(void *context, const struct perfile_probe *probe)
{
    const struct definition *definition = context;
    struct pf_probe_batch *batch = definition->batch;

    if (!pf_array_grow(&batch->lines, &batch->capacity, batch->count + 1, sizeof(*batch->lines))) {
        batch->has_no_memory = true;
        return -1;
    }
    batch->lines[batch->count++] = (struct pf_probe_line){
        .group = copy(batch, probe->group),
        .event = copy(batch, probe->event),
        .point = copy(batch, probe->point),
        .arguments = copy(batch, probe->arguments),
        .file = copy(batch, definition->file),
        .target = copy(batch, probe->target),
        .is_return = probe->is_return,
        .is_kernel = probe->is_kernel,
    };
    return batch->has_no_memory;
}

static int no_memory(const struct pf_probe_batch *batch)
{
    return pf_out_of_memory(batch->verb);
}

int pf_probe_batch_define(struct pf_probe_batch *batch, const struct perfile_probe_options *options,
                          const char *definition)
{
    struct definition context = {batch, options->file};
    struct perfile_error error;
    const int result = perfile_probe_define(options, definition, add_line, &context, &error);

    if (batch->has_no_memory)
        return no_memory(batch);
    if (result < 0)
        pf_message("%s: %s", batch->verb, pf_error_sentence(&error, "probe"));
    return !result                            ? PF_STATUS_OK
           : result == PERFILE_ERROR_ARGUMENT ? PF_STATUS_USAGE
                                              : pf_status_of_error(result, PF_STATUS_UNREADABLE);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

struct naming {
    const char *group, *event;
    bool is_used;
};

static int compare_names(void *context, const struct perfile_probe_entry *entry)
{
    struct naming *naming = context;

    naming->is_used = !strcmp(entry->group, naming->group) && !strcmp(entry->event, naming->event);
    return naming->is_used;
}

/* Whether the event exists; a negative status is that of a message. */
static int is_used(const struct pf_probe_batch *batch, const char *group, const char *event, size_t before)
{
    struct naming naming = {group, event, false};
    struct perfile_error error;

    for (size_t i = 0; i < before; i++)
        if (!strcmp(batch->lines[i].group, group) && !strcmp(batch->lines[i].event, event))
            return 1;
    const int result = perfile_probes_list(batch->tracefs, compare_names, &naming, &error);
    if (result < 0 && result != PERFILE_ERROR_STOPPED) {
        pf_message("%s: %s", batch->verb, pf_error_sentence(&error, "probe"));
        return -pf_status_of_error(result, PF_STATUS_UNREADABLE);
    }
    return naming.is_used;
}

enum { NUMBERS_MAX = 1024 };

static int rename_all(struct pf_probe_batch *batch, size_t first, const char *name)
{
    for (size_t i = first; i < batch->count; i++) {
        free(batch->lines[i].event);
        batch->lines[i].event = copy(batch, name);
    }
    return batch->has_no_memory ? no_memory(batch) : PF_STATUS_OK;
}

/* Lines with several names are of a pattern: each is looked at by itself. */
static bool have_one_name(const struct pf_probe_batch *batch, size_t first)
{
    for (size_t i = first + 1; i < batch->count; i++)
        if (strcmp(batch->lines[i].event, batch->lines[first].event) != 0)
            return false;
    return true;
}

int pf_probe_batch_name(struct pf_probe_batch *batch, size_t first, bool force)
{
    char name[PATH_MAX];
    int used;

    if (first == batch->count)
        return PF_STATUS_OK;
    const struct pf_probe_line *line = &batch->lines[first];
    if (!have_one_name(batch, first) || !line->event)
        return PF_STATUS_OK;
    snprintf(name, sizeof(name), "%s", line->event);
    for (int number = 1; (used = is_used(batch, line->group, name, first)) > 0 && force && number <= NUMBERS_MAX;
         number++)
        snprintf(name, sizeof(name), "%s_%d", line->event, number);
    if (used < 0)
        return -used;
    if (used) {
        pf_message("%s: the event %s:%s exists: remove it with perfile probe --del %s:%s, or add another one with "
                   "--force",
                   batch->verb, line->group, line->event, line->group, line->event);
        return PF_STATUS_USAGE;
    }
    return rename_all(batch, first, name);
}

/* ---- tracefs ----------------------------------------------------------------------------------------------------- */

char *pf_probe_line_text(const struct pf_probe_line *line, char kind)
{
    const char usual = line->is_return ? 'r' : 'p';
    char *text;

    if (asprintf(&text, "%c:%s/%s%s%s", kind ? kind : usual, line->group, line->event, kind ? "" : " ",
                 kind ? "" : line->target) < 0)
        return NULL;
    return text;
}

static int write_one(struct pf_probe_batch *batch, const struct pf_probe_line *line, char kind)
{
    struct perfile_error error;
    char *text = pf_probe_line_text(line, kind);
    const int result = text ? perfile_probes_write(batch->tracefs, line->is_kernel, text, &error) : 0;

    if (!text)
        return no_memory(batch);
    free(text);
    if (result < 0)
        pf_message("%s: %s", batch->verb, pf_error_sentence(&error, "probe"));
    return result < 0 ? pf_status_of_error(result, PF_STATUS_OUTPUT) : PF_STATUS_OK;
}

int pf_probe_batch_add(struct pf_probe_batch *batch)
{
    int status = PF_STATUS_OK;
    size_t added = 0;

    while (!status && added < batch->count)
        status = write_one(batch, &batch->lines[added++], 0);
    if (!status)
        return status;
    for (added--; added; added--) { /* addresses that share a name are removed at once */
        const struct pf_probe_line *line = &batch->lines[added - 1];
        if (added < 2 || strcmp(line->event, line[-1].event) != 0 || strcmp(line->group, line[-1].group) != 0)
            (void)write_one(batch, line, '-');
    }
    return status;
}

void pf_probe_batch_free(struct pf_probe_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct pf_probe_line *line = &batch->lines[i];
        free(line->group);
        free(line->event);
        free(line->point);
        free(line->arguments);
        free(line->file);
        free(line->target);
    }
    free(batch->lines);
    *batch = (struct pf_probe_batch){.verb = batch->verb, .tracefs = batch->tracefs};
}
