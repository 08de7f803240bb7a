/* SPDX-License-Identifier: MIT */
#include "fitting.h"

#include <stdio.h>
#include <string.h>

enum { MAX_VIEWS = 3 };
enum { MEMORY, COUNTS, SWITCHES, FROM_NAMES };

/* What names cannot tell comes first, in the order of the numbers above. A view stands once for all that lead to it. */
static const struct {
    const char *event; /* its name begins so */
    const char *views[2];
} fits[] = {
    [MEMORY] = {NULL, {"mem", "c2c report"}},
    [COUNTS] = {NULL, {"stat report"}},
    [SWITCHES] = {NULL, {"offcpu"}},
    [FROM_NAMES] = {"sched:sched_switch", {"sched latency", "offcpu"}},
    {"raw_syscalls:", {"trace -s"}},
    {"syscalls:", {"trace -s"}},
    {"lock:contention_", {"lock contention"}},
    {"kmem:mm_page_", {"kmem --page stat"}},
    {"kmem:k", {"kmem stat"}},
    {"irq:", {"kwork report"}},
    {"workqueue:", {"kwork report"}},
    {"block:block_rq_", {"table block_latency"}},
    {"exceptions:page_fault_", {"table page_faults"}},
    {"page-faults", {"table page_faults"}},
    {"minor-faults", {"table page_faults"}},
    {"major-faults", {"table page_faults"}},
    {"cpu/mem-loads", {"mem", "c2c report"}},
    {"cpu/mem-stores", {"mem", "c2c report"}},
    {"ibs_op", {"mem", "c2c report"}},
    {"arm_spe", {"mem", "c2c report"}},
};
enum { FITS = sizeof(fits) / sizeof(fits[0]) };

_Static_assert(FITS <= 32, "they are bits");

void pf_fitting_take_name(struct pf_fitting *fitting, const char *event)
{
    for (size_t i = FROM_NAMES; i < FITS; i++)
        if (!strncmp(event, fits[i].event, strlen(fits[i].event)))
            fitting->found |= 1u << i;
}

void pf_fitting_take(struct pf_fitting *fitting, struct perfile_reader *reader)
{
    const struct perfile_event *event;

    for (size_t i = 0; (event = perfile_event_get(reader, i)) != NULL; i++) {
        const bool has_addresses =
            event->attr->sample_type & PERFILE_SAMPLE_DATA_SRC && event->attr->type != PERFILE_TYPE_SOFTWARE;
        if (event->name && event->attr->sample_period_or_freq) /* else it is only counted */
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

bool pf_fitting_text(const struct pf_fitting *fitting, const char *file, char *text, size_t capacity)
{
    const char *views[2 * FITS];
    size_t count = 0, used = 0;

    for (size_t i = 0; i < FITS; i++)
        for (size_t k = 0; k < 2 && fits[i].views[k]; k++)
            if (fitting->found >> i & 1 && !is_known(views, count, fits[i].views[k]))
                views[count++] = fits[i].views[k];
    for (size_t i = 0; i < count && i < MAX_VIEWS && used < capacity; i++)
        used += (size_t)snprintf(text + used, capacity - used, "%sperfile %s%s%s", i ? ", " : "", views[i],
                                 *file ? " " : "", file);
    return count && used < capacity;
}
