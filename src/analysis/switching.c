/* SPDX-License-Identifier: MIT */
#include "analysis/switching.h"

#include <perfile/index.h>

#include "base/error.h"

static int open_events(struct pf_filter *filter, const char *events, const struct perfile_allocator *allocator,
                       struct perfile_error *error)
{
    struct perfile_filter wanted = PERFILE_FILTER_INIT;
    wanted.events = events;
    return events ? pf_filter_open(filter, &wanted, NULL, allocator, error) : 0;
}

int pf_switching_open(struct pf_switching *switching, const struct perfile_filter *wanted,
                      const struct perfile_allocator *allocator, struct perfile_error *error)
{
    *switching = (struct pf_switching){
        .active = wanted->switch_on || wanted->switch_off, .shows = wanted->shows_switches, .kept = wanted->counting};
    if (!switching->active)
        return 0;
    if (wanted->off_cpu || wanted->calls)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "filter",
                       "what is made of samples cannot be switched on and off by events");
    switching->counts = switching->kept ? *switching->kept : !wanted->switch_on;
    const int result = open_events(&switching->on, wanted->switch_on, allocator, error);
    return result < 0 ? result : open_events(&switching->off, wanted->switch_off, allocator, error);
}

void pf_switching_close(struct pf_switching *switching)
{
    pf_filter_close(&switching->on);
    pf_filter_close(&switching->off);
}

int pf_switching_check(const struct pf_switching *switching, struct perfile_reader *reader, struct perfile_error *error)
{
    int result = 0;
    if (switching->on.active)
        result = pf_filter_check_events(&switching->on, reader, perfile_event_get, error);
    if (result == 0 && switching->off.active)
        result = pf_filter_check_events(&switching->off, reader, perfile_event_get, error);
    return result;
}

bool pf_switching_passes(struct pf_switching *switching, const struct perfile_event *event)
{
    struct pf_filter *by = switching->counts ? &switching->off : &switching->on;
    const struct pf_filter_subject subject = {.event = event};
    if (!by->active || !event || !pf_filter_passes(by, &subject))
        return switching->counts;
    switching->counts = !switching->counts;
    if (switching->kept)
        *switching->kept = switching->counts;
    return switching->shows;
}

bool pf_switching_may_be_in(const struct pf_switching *switching, const struct pf_filter_block *block)
{
    const struct perfile_event *event;
    for (size_t i = 0; switching->active && (event = block->event_at(block->reader, i)) != NULL; i++)
        if (block->may_have(block->block, PERFILE_BLOCK_EVENT, i) &&
            ((switching->on.active && pf_filter_event(&switching->on, event)) ||
             (switching->off.active && pf_filter_event(&switching->off, event))))
            return true;
    return false;
}

void pf_switching_notify(const struct pf_switching *switching, perfile_on_unmatched *notify, void *context)
{
    if (notify && switching->on.active && !switching->on.passed && !switching->kept)
        notify(context, &(struct perfile_unmatched){
                            .filter = "switch_on", .value = switching->on.wanted.events, .blocks_all = true});
}
