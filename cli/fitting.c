/* SPDX-License-Identifier: MIT */
#include "fitting.h"

#include <perfile/table.h>

#include <stdio.h>
#include <string.h>

enum { MAX_SHOWN = 3 };
enum { MEMORY, COUNTS, SWITCHES, FIRST_VIEW };

/* Views for kinds of recordings: first those that names of events do not show, then those of the events of views. */
static const struct {
    const char *view; /* one of those that read these events; NULL: see above */
    const char *commands[2];
} fits[] = {
    [MEMORY] = {NULL, {"mem", "c2c report"}},
    [COUNTS] = {NULL, {"stat report"}},
    [SWITCHES] = {NULL, {"offcpu"}},
    [FIRST_VIEW] = {"sched_latency", {"sched latency", "offcpu"}},
    {"syscalls", {"trace -s"}},
    {"lock_contention", {"lock contention"}},
    {"kmem_page", {"kmem --page stat"}},
    {"kmem_slab", {"kmem stat"}},
    {"kwork", {"kwork report"}},
    {"kvm", {"kvm stat"}},
    {"block_latency", {"table block_latency"}},
    {"page_faults", {"table page_faults"}},
};
enum { FITS = sizeof(fits) / sizeof(fits[0]) };

_Static_assert(FITS <= 32, "they are bits");

/* The name of an event of a view may stand for all that begin so; that of an event may have modifiers and terms. */
static bool is_same(const char *of_view, const char *event)
{
    const size_t bytes = strcspn(of_view, "*");

    return !strncmp(of_view, event, bytes) && (of_view[bytes] || strchr(":/", event[bytes]));
}

/* Without an event like this the view would have no rows. */
static bool view_needs(const char *view, const char *name)
{
    const struct perfile_view_event *event;
    bool needed = false;

    for (size_t i = 0; (event = perfile_view_event_at(view, i)); i++) {
        if (event->need != PERFILE_EVENT_INSTEAD)
            needed = event->need == PERFILE_EVENT_NEEDED;
        if (needed && is_same(event->name, name))
            return true;
    }
    return false;
}

/* An event of this name has the source of the data in its samples. */
static bool is_memory_event(const char *name)
{
    static const char *const starts[] = {"cpu/mem-", "cpu_core/mem-", "cpu_atom/mem-", "ibs_op", "arm_spe"};

    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
        if (!strncmp(name, starts[i], strlen(starts[i])))
            return true;
    return false;
}

void pf_fitting_take_name(struct pf_fitting *fitting, const char *event)
{
    for (size_t i = FIRST_VIEW; i < FITS; i++)
        fitting->found |= (uint32_t)view_needs(fits[i].view, event) << i;
    fitting->found |= (uint32_t)is_memory_event(event) << MEMORY;
}

/* Others are only counted, or are page faults without the addresses that their view is about. */
static bool may_fit(const struct perfile_attr *attr)
{
    return attr->sample_period_or_freq &&
           (attr->type != PERFILE_TYPE_SOFTWARE || attr->sample_type & PERFILE_SAMPLE_ADDR);
}

void pf_fitting_take(struct pf_fitting *fitting, struct perfile_reader *reader)
{
    const struct perfile_event *event;

    for (size_t i = 0; (event = perfile_event_get(reader, i)) != NULL; i++) {
        const bool has_addresses =
            event->attr->sample_type & PERFILE_SAMPLE_DATA_SRC && event->attr->type != PERFILE_TYPE_SOFTWARE;
        if (event->name && may_fit(event->attr))
            pf_fitting_take_name(fitting, event->name);
        fitting->found |= (uint32_t)has_addresses << MEMORY;
        fitting->found |= (uint32_t)(event->attr->context_switch && event->attr->type == PERFILE_TYPE_SOFTWARE &&
                                     event->attr->config == PERFILE_COUNT_SW_CONTEXT_SWITCHES)
                          << SWITCHES;
    }
    for (size_t i = 0; i < perfile_feature_count(reader); i++)
        fitting->found |= (uint32_t)(perfile_feature_get(reader, i)->number == PERFILE_FEATURE_STAT) << COUNTS;
}

/* Another row led to this view before. */
static bool is_known(const char *const *views, size_t count, const char *view)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(views[i], view))
            return true;
    return false;
}

size_t pf_fitting_commands(const struct pf_fitting *fitting, const char **commands, size_t max)
{
    size_t count = 0;

    for (size_t i = 0; i < FITS; i++)
        for (size_t k = 0; k < 2 && fits[i].commands[k] && count < max; k++)
            if (fitting->found >> i & 1 && !is_known(commands, count, fits[i].commands[k]))
                commands[count++] = fits[i].commands[k];
    return count;
}

const char *pf_fitting_command_at(size_t index)
{
    for (size_t i = 0; i < FITS; i++)
        for (size_t k = 0; k < 2 && fits[i].commands[k]; k++)
            if (!index--)
                return fits[i].commands[k];
    return NULL;
}

static bool samples_processors(const struct perfile_attr *attr)
{
    if (attr->type == PERFILE_TYPE_SOFTWARE)
        return attr->config != PERFILE_COUNT_SW_DUMMY && attr->config != PERFILE_COUNT_SW_BPF_OUTPUT &&
               attr->config != PERFILE_COUNT_SW_CONTEXT_SWITCHES;
    return attr->type != PERFILE_TYPE_TRACEPOINT;
}

bool pf_fitting_only(struct perfile_reader *reader)
{
    const struct perfile_event *event;

    for (size_t i = 0; (event = perfile_event_get(reader, i)) != NULL; i++)
        if (event->attr->sample_period_or_freq && samples_processors(event->attr))
            return false;
    return true;
}

bool pf_fitting_text(const struct pf_fitting *fitting, const char *file, char *text, size_t capacity)
{
    const char *views[MAX_SHOWN];
    const size_t count = pf_fitting_commands(fitting, views, MAX_SHOWN);
    size_t used = 0;

    for (size_t i = 0; i < count && used < capacity; i++)
        used += (size_t)snprintf(text + used, capacity - used, "%sperfile %s%s%s", i ? ", " : "", views[i],
                                 *file ? " " : "", file);
    return count && used < capacity;
}
