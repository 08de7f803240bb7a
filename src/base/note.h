/* SPDX-License-Identifier: MIT */
/* The caller's function for sentences about what a recording is missing, or what was left out. */
#ifndef PF_BASE_NOTE_H
#define PF_BASE_NOTE_H

/* The text is valid during the call. */
typedef void pf_on_note(void *context, const char *text);

#endif
