/* SPDX-License-Identifier: MIT */
/* For tests with random content: numbers that depend on the state alone, which the test sets. */
#ifndef PF_TESTS_ANY_H
#define PF_TESTS_ANY_H

#include <stdint.h>

static uint64_t state_of_random;

/* Below a number, or any number: 0. */
static inline uint64_t any(uint64_t below)
{
    state_of_random ^= state_of_random << 13;
    state_of_random ^= state_of_random >> 7;
    state_of_random ^= state_of_random << 17;
    return below ? state_of_random % below : state_of_random;
}

#endif
