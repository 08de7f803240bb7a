/* SPDX-License-Identifier: MIT */
#include "baseline.h"
#include "message.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char ending[] = ".profile";

static int complain(const char *path, int error)
{
    pf_message("%s: %s", path, strerror(error));
    return error == ENOMEM ? PF_STATUS_MEMORY : PF_STATUS_UNREADABLE;
}

/* ---- the folder -------------------------------------------------------------------------------------------------- */

/* The number in the name of a profile of the baseline; 0 for other files. */
static uint64_t number_of(const char *name)
{
    uint64_t number = 0;
    const size_t digits = strspn(name, "0123456789");

    if (!digits || digits > 18 || strcmp(name + digits, ending) != 0)
        return 0;
    for (size_t i = 0; i < digits; i++)
        number = number * 10 + (uint64_t)(name[i] - '0');
    return number;
}

static int by_number(const void *a, const void *b)
{
    const char *x = strrchr(*(char *const *)a, '/'), *y = strrchr(*(char *const *)b, '/');
    const uint64_t i = number_of(x + 1), k = number_of(y + 1);

    return i < k ? -1 : i > k;
}

static bool add_path(struct pf_baseline *baseline, const char *name)
{
    const uint64_t number = number_of(name);
    char **paths;

    if (!number)
        return true;
    paths = realloc(baseline->paths, (baseline->count + 1) * sizeof(*paths));
    if (!paths)
        return false;
    baseline->paths = paths;
    if (asprintf(&paths[baseline->count], "%s/%s", baseline->folder, name) < 0)
        return false;
    baseline->count++;
    baseline->last = number > baseline->last ? number : baseline->last;
    return true;
}

int pf_baseline_open(struct pf_baseline *baseline, const char *verb, const char *folder, bool writes)
{
    DIR *dir;
    const struct dirent *entry;
    bool fine = true;

    *baseline = (struct pf_baseline){.folder = folder};
    if (writes && mkdir(folder, 0777) < 0 && errno != EEXIST) {
        complain(folder, errno);
        return PF_STATUS_OUTPUT;
    }
    if (!(dir = opendir(folder)))
        return complain(folder, errno);
    while (fine && (entry = readdir(dir)) != NULL)
        fine = add_path(baseline, entry->d_name);
    closedir(dir);
    if (!fine)
        return pf_out_of_memory(verb);
    if (baseline->count)
        qsort(baseline->paths, baseline->count, sizeof(*baseline->paths), by_number);
    return PF_STATUS_OK;
}

int pf_baseline_add(struct pf_baseline *baseline, const char *verb, const struct perfile_profile *profile)
{
    struct pf_stream stream;
    const struct perfile_sink sink = {&stream, pf_stream_write};
    struct perfile_error error;
    char *path = NULL;
    int status, result, written;

    if (asprintf(&path, "%s/%06" PRIu64 "%s", baseline->folder, ++baseline->last, ending) < 0)
        return pf_out_of_memory(verb);
    status = pf_stream_open(&stream, path);
    if (!status) {
        result = perfile_profile_write(profile, &sink, &error);
        written = pf_stream_close(&stream, result == 0);
        if (result < 0 && !written)
            pf_message("%s: %s", path, error.message);
        status = written ? written : result < 0 ? pf_status_of_error(result, PF_STATUS_OUTPUT) : PF_STATUS_OK;
    }
    free(path);
    return status;
}

void pf_baseline_prune(const struct pf_baseline *baseline, uint64_t added, uint64_t keep)
{
    const uint64_t old = keep > added ? keep - added : 0;

    for (size_t i = 0; i + old < baseline->count; i++)
        if (unlink(baseline->paths[i]) < 0)
            pf_message("%s: cannot be removed: %s", baseline->paths[i], strerror(errno));
}

void pf_baseline_close(struct pf_baseline *baseline)
{
    for (size_t i = 0; i < baseline->count; i++)
        free(baseline->paths[i]);
    free(baseline->paths);
    *baseline = (struct pf_baseline){0};
}
