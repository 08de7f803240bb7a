/* SPDX-License-Identifier: MIT */
/* The types of BPF programs: names by number, in both byte orders. */
#include "base/btf.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    for (uint32_t id = 0; id < 80; id++) {
        const uint32_t wanted = id < 64 ? id : UINT32_MAX - (id - 64);
        for (int swap = 0; swap < 2; swap++) {
            const char *name = pf_btf_name(data, bytes, swap, wanted);
            fuzz_touch_text(name);
        }
    }
    return 0;
}
