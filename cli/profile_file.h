/* SPDX-License-Identifier: MIT */
/* Profiles in files, which verbs read instead of recordings. */
#ifndef PERFILE_CLI_PROFILE_FILE_H
#define PERFILE_CLI_PROFILE_FILE_H

#include "options.h"

#include <perfile/profile.h>

/* The file is a profile, not a recording. */
bool pf_is_profile(const char *path);
/* Reads one. A status, with a message. */
int pf_profile_load(const char *path, struct perfile_profile **profile);
/*
 * Writes the output of the verb that needs no recording, since the options have a profile or stacks; `name` is that of
 * their file. A status.
 */
int pf_profile_output(const struct pf_command *command, struct pf_settings *settings, const char *name);
/* Refuses filters for profiles: their contents were chosen when they were made. A status. */
int pf_profile_check_filter(const struct pf_command *command, const struct pf_settings *settings);

#endif
