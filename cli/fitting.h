/* SPDX-License-Identifier: MIT */
/* Which views are made for the events of a recording: what `report` shows of them is only where they happened. */
#ifndef PERFILE_CLI_FITTING_H
#define PERFILE_CLI_FITTING_H

#include <perfile/perfile.h>
#include <stdint.h>

struct pf_fitting {
    uint32_t found; /* bits: rows of the table */
};

/* An event of this name is in the recording. */
void pf_fitting_take_name(struct pf_fitting *fitting, const char *event);
/* Adds all events of a recording. */
void pf_fitting_take(struct pf_fitting *fitting, struct perfile_reader *reader);
/*
 * Writes the command lines that fit: "perfile sched latency FILE, perfile offcpu FILE"; without a file if `file` is "".
 * False: none fits.
 */
bool pf_fitting_text(const struct pf_fitting *fitting, const char *file, char *text, size_t capacity);

#endif
