/* SPDX-License-Identifier: MIT */
/* Folded stacks that others have made, drawn as all that flame knows. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const char *const formats[] = {"svg", "folded", "html"};
    struct perfile_output_options options = PERFILE_OUTPUT_OPTIONS_INIT;
    struct perfile_flame_options flame = PERFILE_FLAME_OPTIONS_INIT;
    flame.folded = (const char *)data;
    flame.folded_bytes = bytes;
    flame.min_width = "0";
    options.flame = &flame;
    const size_t count = PF_COUNT(formats) - (bytes % 16 != 0); /* a page each time would take most of the time */
    for (size_t i = 0; i < count; i++) {
        flame.inverted = flame.reverse = i == 1;
        int result = perfile_output_write(NULL, "flame", formats[i], &options, &fuzz_sink, NULL);
        FUZZ_REQUIRE(result <= 1 && result != PERFILE_ERROR_WRITE && result != PERFILE_ERROR_READ);
    }
    return 0;
}
