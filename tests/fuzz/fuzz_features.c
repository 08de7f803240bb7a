/* SPDX-License-Identifier: MIT */
/* The layouts of header features: number, flags (bit 0 other byte order, bit 1 CPUs are counted), CPUs, the body. */
#include "fuzz.h"

#include "base/memory.h"
#include "format/features.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes < 3)
        return 0;
    const bool swap = data[1] & 1;
    const struct pf_feature_context context = {
        .allocator = pf_allocator_or_default(NULL),
        .big_endian = swap != PF_NATIVE_BIG_ENDIAN,
        .has_cpu_count = data[1] & 2,
        .cpus_available = data[2],
    };
    struct fuzz_visit visit;
    const struct perfile_visitor visitor = fuzz_visitor(&visit);
    struct pf_emit e = {.visitor = &visitor};
    struct pf_cursor c = pf_cursor_make(data + 3, bytes - 3, 0, swap);
    struct perfile_error error;
    int result = pf_feature_emit(data[0], "feature", &c, &context, &e, &error);
    FUZZ_REQUIRE(visit.depth == 0 && (result == 0 || result == PERFILE_ERROR_DAMAGED));
    FUZZ_REQUIRE(c.at >= c.start && c.at <= c.end);
    return 0;
}
