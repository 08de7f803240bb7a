/* SPDX-License-Identifier: MIT */
/* By what samples can be kept apart: see keys.def. */
#ifndef PF_ANALYSIS_KEYS_H
#define PF_ANALYSIS_KEYS_H

#include <stddef.h>

enum pf_key {
#define PF_KEY(id, doc) PF_KEY_##id,
#include "analysis/keys.def"
#undef PF_KEY
    PF_KEYS
};

/* A set of them. */
#define PF_KEY_BIT(id) (1u << PF_KEY_##id)

const char *pf_key_name(enum pf_key key);
/* Returns PF_KEYS when the word is not the name of a key. */
enum pf_key pf_key_find(const char *word, size_t bytes);
/* Writes the names of a set, "pid, tid, comm", into `capacity` bytes. */
const char *pf_key_list(unsigned set, char *text, size_t capacity);

#endif
