/* SPDX-License-Identifier: MIT */
/* "VERB record": what the views of a verb need, recorded without having to know its events. */
#ifndef PERFILE_CLI_PRESETS_H
#define PERFILE_CLI_PRESETS_H

#include "options.h"

#include <sys/types.h>

enum { PF_CHOSEN_EVENTS_MAX = 32, PF_PRESET_VIEWS = 2 };

/* The events that views need, as far as this kernel has them. All zeros at first. */
struct pf_chosen_events {
    const char *names[PF_CHOSEN_EVENTS_MAX];
    size_t count;
    const char *missing;        /* one that is needed and that this kernel does not have; NULL: none ... */
    struct perfile_error error; /* ... if the code is not 0, because its events cannot be read */
};
/* Adds those of a view; kinds: of these kinds of rows only, a list with commas, or NULL. */
void pf_choose_events(const char *view, const char *kinds, struct pf_chosen_events *chosen);

/* There is a `record` of this verb. */
bool pf_preset_known(const struct pf_command *command);
/*
 * The position of the word "record" among the arguments of a verb: after its options, and for `table` after a view that
 * has its own events. NULL: the command line has another form.
 */
char **pf_preset_find(const struct pf_command *command, char **arguments);
/* `word` is that position. Records, with the options of the verb before it and those of the verb record after it. */
int pf_preset_run(const struct pf_command *command, char **arguments, char **word, struct pf_settings *settings);

/* For pf_record_show: the events of the verb and how they are recorded, as for its `record` without options. */
int pf_preset_choose(const struct pf_command *command, struct pf_settings *settings, pid_t reader);

#endif
