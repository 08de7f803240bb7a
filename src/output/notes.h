/* SPDX-License-Identifier: MIT */
/* What a recording holds that outputs do not show, and why they show nothing: one sentence each. */
#ifndef PF_OUTPUT_NOTES_H
#define PF_OUTPUT_NOTES_H

#include <perfile/perfile.h>

enum { PF_NOTE_BYTES = 192 };

/* All are for readers at their end. False: there is nothing to say. */
bool pf_note_aux(const struct perfile_reader *reader, char note[PF_NOTE_BYTES]);
/* Of a recording without samples that could be shown; `filtered` of its samples were left out. */
bool pf_note_no_samples(const struct perfile_reader *reader, uint64_t filtered, char note[PF_NOTE_BYTES]);

#endif
