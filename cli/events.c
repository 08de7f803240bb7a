/* SPDX-License-Identifier: MIT */
#include "events.h"

#include <perfile/recorder.h>

#include <stdio.h>

#define EVENT_MAX 128

struct names {
    size_t count;
    char names[EVENT_MAX][32];
    char docs[EVENT_MAX][80];
};

/* The kinds of every machine come first. */
static int add(void *context, const struct perfile_known_event *event)
{
    struct names *names = context;

    if (names->count == EVENT_MAX ||
        (strcmp(event->kind, "hardware") != 0 && strcmp(event->kind, "software") != 0 && strcmp(event->kind, "cache")))
        return 1;
    snprintf(names->names[names->count], sizeof(names->names[0]), "%s", event->name);
    snprintf(names->docs[names->count], sizeof(names->docs[0]), "%s", event->doc ? event->doc : "");
    names->count++;
    return 0;
}

const char *pf_event_at(size_t index, const char **doc)
{
    static struct names names;

    if (!names.count && perfile_known_events(NULL, add, &names, NULL) != PERFILE_ERROR_STOPPED)
        return NULL;
    if (index >= names.count)
        return NULL;
    *doc = names.docs[index];
    return names.names[index];
}
