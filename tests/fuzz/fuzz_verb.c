/* SPDX-License-Identifier: MIT */
/* Which edits fuzz_edit.c tries: all that the targets differ in. */
extern const char *const fuzz_verb;
const char *const fuzz_verb = FUZZ_VERB;
