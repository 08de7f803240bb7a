/* SPDX-License-Identifier: MIT */
/* Filters by date and time of day. */
#ifndef PF_BASE_FILTER_CLOCK_H
#define PF_BASE_FILTER_CLOCK_H

#include "base/filter.h"

/* One moment by two clocks. */
struct pf_clock {
    bool known;
    uint64_t wall_ns;     /* since 1970 */
    uint64_t recorded_ns; /* by the clock of the records */
};

/* What the feature CLOCK_DATA states; clock->known is false without it. Errors: MEMORY. */
static inline int pf_filter_clock(struct perfile_reader *reader, struct pf_clock *clock)
{
    *clock = (struct pf_clock){.known = false};
    int result = perfile_feature_number(reader, PERFILE_FEATURE_CLOCK_DATA, "wall_clock_ns", &clock->wall_ns, NULL);
    if (result == 0)
        result =
            perfile_feature_number(reader, PERFILE_FEATURE_CLOCK_DATA, "clockid_time_ns", &clock->recorded_ns, NULL);
    clock->known = result == 0;
    return result == PERFILE_ERROR_MEMORY ? result : 0;
}

/* pf_filter_open with what dates need. ABSENT also when there are dates and the clock is not known. */
int pf_filter_open_dated(struct pf_filter *filter, const struct perfile_filter *wanted, const struct pf_range *span,
                         const struct pf_clock *clock, const struct perfile_allocator *allocator,
                         struct perfile_error *error);

#endif
