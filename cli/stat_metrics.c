/* SPDX-License-Identifier: MIT */
#include "stat_metrics.h"

#include <stdio.h>
#include <string.h>

#include <perfile/recorder.h>

#include "message.h"
#include "options.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
    const char *name, *expression, *events, *doc;
} metrics[] = {
#define PF_STAT_METRIC(name, expression, events, doc) {name, expression, events, doc},
#include "stat_metrics.def"
};

const char *pf_stat_metric_at(size_t index, const char **doc)
{
    if (index >= COUNT_OF(metrics))
        return NULL;
    *doc = metrics[index].doc;
    return metrics[index].name;
}

/* Appends to the events those of a list that are not among them. */
static int add_events(char **events, const char *list)
{
    int status = PF_STATUS_OK;

    for (size_t bytes; *list && !status; list += bytes + (list[bytes] == ',')) {
        bytes = strcspn(list, ",");
        char name[64], *found = *events;
        snprintf(name, sizeof(name), "%.*s", (int)bytes, list);
        while (found && (found = strstr(found, name)) &&
               ((found > *events && found[-1] != ',') || (found[bytes] && found[bytes] != ',')))
            found += bytes;
        status = found ? PF_STATUS_OK : pf_text_join(events, ",", name);
    }
    return status;
}

static bool is_text(const char *text, const char *start, size_t bytes)
{
    return strlen(text) == bytes && strncmp(text, start, bytes) == 0;
}

/* The index of the metric of this name; the number of metrics when no metric has it. */
static size_t find_metric(const char *name, size_t bytes)
{
    size_t i = 0;

    while (i < COUNT_OF(metrics) && !is_text(metrics[i].name, name, bytes))
        i++;
    return i;
}

int pf_stat_metrics_add(char **lines, const char *text)
{
    int status = PF_STATUS_OK;

    for (size_t bytes; *text && !status; text += bytes + (text[bytes] == ',')) {
        char line[160];
        bytes = strcspn(text, ",");
        const size_t i = find_metric(text, bytes);
        if (i == COUNT_OF(metrics))
            return pf_text_join(lines, "\n", text);
        snprintf(line, sizeof(line), "%s=%s", metrics[i].name, metrics[i].expression);
        status = pf_text_join(lines, "\n", line);
    }
    return status;
}

int pf_stat_metrics_add_events(char **events, const char *lines)
{
    int status = PF_STATUS_OK;

    for (size_t bytes; lines && *lines && !status; lines += bytes + (lines[bytes] == '\n')) {
        const size_t name = strcspn(lines, "=\n"), i = find_metric(lines, name);
        bytes = strcspn(lines, "\n");
        if (i < COUNT_OF(metrics) && bytes > name && is_text(metrics[i].expression, lines + name + 1, bytes - name - 1))
            status = add_events(events, metrics[i].events);
    }
    return status;
}

/* ---- top down ---------------------------------------------------------------------------------------------------- */

enum { PARTS = 4 };

static const char *const parts[PARTS] = {"tma_retiring", "tma_bad_speculation", "tma_frontend_bound",
                                         "tma_backend_bound"};

static const struct {
    const char *cores, *events, *expressions[PARTS]; /* cores "": all that the machine has */
} ways[] = {
#define PF_TOPDOWN(cores, events, ...) {cores, events, {__VA_ARGS__}},
#include "topdown.def"
};

int pf_stat_topdown_add(char **lines)
{
    int status = PF_STATUS_OK;

    for (size_t i = 0; i < COUNT_OF(ways); i++)
        for (size_t part = 0; part < PARTS && !status; part++) {
            char line[320];
            snprintf(line, sizeof(line), "?%s%s=%s", parts[part], ways[i].cores, ways[i].expressions[part]);
            status = pf_text_join(lines, "\n", line);
        }
    return status;
}

struct wanted {
    const char *name;
    size_t bytes;
    bool found;
};

/* Events of PMUs are called "cpu/slots/". */
static int take_event(void *context, const struct perfile_known_event *event)
{
    struct wanted *wanted = context;
    const char *slash = strchr(event->name, '/');
    const char *name = slash ? slash + 1 : event->name;

    if (memchr(wanted->name, '/', wanted->bytes))
        name = event->name;
    wanted->found |=
        strncmp(name, wanted->name, wanted->bytes) == 0 && (!name[wanted->bytes] || name[wanted->bytes] == '/');
    return wanted->found;
}

/* Whether this machine has all events of "{a,b}". */
static bool has_events(const char *list)
{
    bool found = true;

    for (list++; *list && *list != '}' && found; list += *list == ',') {
        struct wanted wanted = {list, strcspn(list, ",}"), false};
        struct perfile_error ignored;
        char name[64];
        snprintf(name, sizeof(name), "%.*s", (int)wanted.bytes, list);
        (void)!perfile_known_events(name, take_event, &wanted, &ignored);
        found = wanted.found;
        list += wanted.bytes;
    }
    return found;
}

int pf_stat_topdown_add_events(char **events)
{
    bool found = false;
    int status = PF_STATUS_OK;

    for (size_t i = 0; i < COUNT_OF(ways) && !status; i++)
        if ((*ways[i].cores || !found) && has_events(ways[i].events)) {
            status = pf_text_join(events, ",", ways[i].events);
            found = true;
        }
    if (found)
        return status;
    pf_message("stat: --topdown: this machine has no events for it: its PMU names neither slots, topdown-total-slots "
               "nor stall_slot_frontend (see %s list topdown)",
               pf_program_name());
    return PF_STATUS_USAGE;
}
