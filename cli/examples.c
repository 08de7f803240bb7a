/* SPDX-License-Identifier: MIT */
#include "examples.h"

#include <string.h>

/* The rows of a verb are in the order in which they are printed. */
static const struct pf_example examples[] = {
#define PF_FIRST(verb, why, command) {verb, true, why, command},
#define PF_MORE(verb, why, command) {verb, false, why, command},
#include "examples.def"
#undef PF_FIRST
#undef PF_MORE
};

const struct pf_example *pf_example_at(const char *verb, size_t index)
{
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
        if (!strcmp(examples[i].verb, verb) && !index--)
            return &examples[i];
    return NULL;
}
