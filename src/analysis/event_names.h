/* SPDX-License-Identifier: MIT */
/*
 * Which events are one, for all that shows one event of several: processors with several kinds of cores count
 * cpu_core/cycles/ and cpu_atom/cycles/, and both are cycles.
 */
#ifndef PF_ANALYSIS_EVENT_NAMES_H
#define PF_ANALYSIS_EVENT_NAMES_H

#include <perfile/profile.h>

enum { PF_EVENT_NAME_BYTES = 128 };

/* The same event with the same modifiers on two kinds of cores. */
bool pf_event_is_same(const char *name, const char *other);
/* The same event, whatever its modifiers and its kind of cores. */
bool pf_event_is_called(const char *name, const char *wanted);
/* The name without the kind of cores: cycles:u of cpu_core/cycles/u. Cut off if it is too long. */
void pf_event_common_name(const char *name, char common[PF_EVENT_NAME_BYTES]);

/* One event of a profile. */
struct pf_event_choice {
    uint32_t first;   /* the first of those that are one; PERFILE_NO_ID when no event was found */
    uint32_t count;   /* of those that are one and have samples */
    uint32_t others;  /* further ones with samples, of which those that are one count once */
    uint64_t samples; /* of all that are one */
};

/* The one with the most samples; with `wanted` the first of that name. */
struct pf_event_choice pf_event_choose(const struct perfile_profile *profile, const char *wanted);
/* Whether an event of a profile is the one that was chosen. */
bool pf_event_is_chosen(const struct perfile_profile *profile, uint32_t event, const struct pf_event_choice *choice);
/* The chosen one's name, without the kind of cores when there are several. The choice is not empty. */
void pf_event_choice_name(const struct perfile_profile *profile, const struct pf_event_choice *choice,
                          char name[PF_EVENT_NAME_BYTES]);

#endif
