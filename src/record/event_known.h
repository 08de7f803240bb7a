/* SPDX-License-Identifier: MIT */
/* perfile_known_events, for any tree that is like /sys. */
#ifndef PF_RECORD_EVENT_KNOWN_H
#define PF_RECORD_EVENT_KNOWN_H

#include <perfile/recorder.h>

struct pf_known_options {
    const char *sysfs; /* NULL: /sys. In another tree what can be chosen counts as working: nothing is opened. */
    const struct perfile_allocator *allocator;
};

int pf_known_events(const struct pf_known_options *options, const char *pattern,
                    int (*each)(void *context, const struct perfile_known_event *event), void *context,
                    struct perfile_error *error);

#endif
