/* SPDX-License-Identifier: MIT */
#include "event_filters.h"

#include "address_filters.h"
#include "message.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

size_t pf_count_events(const char *list)
{
    size_t count = list != NULL;
    bool terms = false;

    for (; list && *list; list++) {
        terms ^= *list == '/';
        count += *list == ',' && !terms;
    }
    return count;
}

/* Filters of one event must all let a sample pass, as in perf; those of addresses are a list. */
static int add_filter(const char *text, struct pf_record_settings *record)
{
    const size_t count = pf_count_events(record->events);
    char **filters, *both = NULL;

    if (!count) {
        pf_message("--filter and --exclude-perf must follow the --event they apply to");
        return PF_STATUS_USAGE;
    }
    filters = realloc(record->filters, count * sizeof(*filters));
    if (!filters)
        return pf_out_of_memory(NULL);
    record->filters = filters;
    while (record->filter_count < count)
        filters[record->filter_count++] = NULL;
    if (!filters[count - 1])
        return pf_text_join(&filters[count - 1], "", text);
    if (asprintf(&both, pf_is_address_filter(text) ? "%s,%s" : "(%s) && (%s)", filters[count - 1], text) < 0)
        return pf_out_of_memory(NULL);
    free(filters[count - 1]);
    filters[count - 1] = both;
    return PF_STATUS_OK;
}

int pf_add_event_filter(const struct pf_option *option, const char *text, struct pf_settings *settings)
{
    (void)option;
    return add_filter(text, &settings->record);
}

int pf_exclude_self(const struct pf_option *option, const char *text, struct pf_settings *settings)
{
    char filter[40];

    (void)option, (void)text;
    snprintf(filter, sizeof(filter), "common_pid != %ld", (long)getpid());
    return add_filter(filter, &settings->record);
}
