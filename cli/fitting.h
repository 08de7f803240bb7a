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
 * Whether all events are ones that such views are made for, or counts: none samples what the processors do, and where
 * the events happened is all that functions show.
 */
bool pf_fitting_only(struct perfile_reader *reader);
/* The command lines that fit, the best first, without "perfile" and a file. Returns how many, at most `max`. */
size_t pf_fitting_commands(const struct pf_fitting *fitting, const char **commands, size_t max);
/* Every command line that can fit, by number; NULL after the last. */
const char *pf_fitting_command_at(size_t index);
/*
 * Writes the command lines that fit: "perfile sched latency FILE, perfile offcpu FILE"; without a file if `file` is "".
 * False: none fits.
 */
bool pf_fitting_text(const struct pf_fitting *fitting, const char *file, char *text, size_t capacity);

#endif
