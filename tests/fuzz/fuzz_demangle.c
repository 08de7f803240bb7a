/* SPDX-License-Identifier: MIT */
/* Names of C++, Rust, Java and others, a line each. */
#include "fuzz.h"
#include "symbol/demangle/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const struct perfile_allocator *allocator = pf_allocator_or_default(NULL);
    char *text = malloc(bytes + 1), *rest;
    FUZZ_REQUIRE(text);
    memcpy(text, data, bytes);
    text[bytes] = 0;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *name = pf_demangle(allocator, line);
        fuzz_touch_text(name);
        pf_text_free(allocator, name);
        (void)pf_demangle_needs_library(line);
    }
    free(text);
    return 0;
}
