/* SPDX-License-Identifier: MIT */
/* perf check feature, and perf version --build-options: what scripts written for perf ask before they use it. */
#ifndef PERFILE_CLI_FEATURES_H
#define PERFILE_CLI_FEATURES_H

#include "stream.h"

/* Whether the arguments of the verb check are "feature NAME[,NAME]", with -q anywhere. */
bool pf_features_asked(char *const *arguments);
/* Prints them; a status: PF_STATUS_FINDINGS if one of them is missing. */
int pf_features_check(char *const *arguments);
/* Prints all. */
void pf_features_print(struct pf_stream *out);

#endif
