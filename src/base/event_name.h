/* SPDX-License-Identifier: MIT */
/*
 * Names of events as recordings have them: "cycles:u" is cycles with a modifier. The control group that an event was
 * counted in is not recorded; perfile's recordings have it in the name: "cycles:u cgroup=user.slice".
 */
#ifndef PF_BASE_EVENT_NAME_H
#define PF_BASE_EVENT_NAME_H

#include <string.h>

#define PF_EVENT_CGROUP " cgroup="

/* NULL: everybody's counts. */
static inline const char *pf_event_name_cgroup(const char *name)
{
    const char *at = strstr(name, PF_EVENT_CGROUP);
    return at ? at + strlen(PF_EVENT_CGROUP) : NULL;
}

/* Without the control group. */
static inline size_t pf_event_name_bytes(const char *name)
{
    const char *at = strstr(name, PF_EVENT_CGROUP);
    return at ? (size_t)(at - name) : strlen(name);
}

/* Without modifiers, too. */
static inline size_t pf_event_name_bare_bytes(const char *name)
{
    const size_t bytes = pf_event_name_bytes(name);
    size_t bare = bytes;
    while (bare && strchr("ukhpGHPSDIWeb", name[bare - 1]))
        bare--;
    const char before = bare && bare < bytes ? name[bare - 1] : 0; /* "cycles:u", "cpu_core/cycles/u" */
    return before == ':' ? bare - 1 : before == '/' ? bare : bytes;
}

#endif
