/* SPDX-License-Identifier: MIT */
/* Mutations of recordings that know what a recording is made of, for fuzzers and for the driver that needs none. */
#ifndef PF_TESTS_MUTATE_H
#define PF_TESTS_MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mutant {
    uint8_t *data;
    size_t bytes;
    size_t capacity;
    const uint8_t *other; /* another recording, that lends records and features */
    size_t other_bytes;
    uint64_t chance; /* the same number makes the same of the same bytes */
};

/* Makes a few mutations, one after the other. */
void mutate(struct mutant *mutant);

#endif
