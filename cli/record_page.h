/* SPDX-License-Identifier: MIT */
/* record --html: the recording as a page, opened in a browser. */
#ifndef PERFILE_CLI_RECORD_PAGE_H
#define PERFILE_CLI_RECORD_PAGE_H

#include <stdbool.h>

struct pf_settings;

/* A status. `one_file`: the recording will be one file of the name that was asked for. */
int pf_record_page_check(const struct pf_settings *settings, bool one_file);
/* Makes the page PATH.html of the recording PATH and opens it; the status of `perfile flame`. */
int pf_record_page_show(const struct pf_settings *settings, const char *path);

#endif
