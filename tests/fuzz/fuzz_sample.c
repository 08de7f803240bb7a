/* SPDX-License-Identifier: MIT */
/* One sample: six words of its attr, a byte of flags, then the record after its header. */
#include "fuzz.h"

#include "format/plan.h"

enum { ATTR_WORDS = 6, HEAD = ATTR_WORDS * 8 + 1 };

static void make_plan(struct pf_plan *plan, const uint8_t *data, bool swap)
{
    const struct perfile_attr attr = {
        .sample_type = pf_load64(data, swap),
        .read_format = pf_load64(data + 8, swap),
        .branch_sample_type = pf_load64(data + 16, swap),
        .sample_regs_user = pf_load64(data + 24, swap),
        .sample_regs_intr = pf_load64(data + 32, swap),
        .sample_period_or_freq = pf_load64(data + 40, swap),
    };
    pf_plan_make(plan, &attr, swap, swap != PF_NATIVE_BIG_ENDIAN);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static uint8_t bytes_of_record[UINT16_MAX];
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    struct perfile_error error;
    struct pf_plan plan;
    if (bytes < HEAD || bytes - HEAD > sizeof(bytes_of_record) - 8)
        return 0;
    make_plan(&plan, data, data[HEAD - 1] & 1);
    uint32_t size = (uint32_t)(bytes - HEAD) + 8;
    /* on the heap, so that a sanitizer knows where it ends */
    uint8_t *exact = malloc(size);
    FUZZ_REQUIRE(exact);
    memset(exact, 0, 8);
    memcpy(exact + 8, data + HEAD, bytes - HEAD);
    const struct perfile_record record = {.type = PERFILE_RECORD_SAMPLE, .bytes = size, .data = exact};
    uint32_t measured = pf_plan_measure(&plan, exact, size);
    int result = pf_plan_decode(&plan, &record, &sample, &error);
    FUZZ_REQUIRE(measured <= size);
    FUZZ_REQUIRE(!plan.known || (result == 0) == (measured > 0));
    const struct perfile_bytes tail = pf_plan_tail(&plan, &record);
    FUZZ_REQUIRE(tail.bytes <= size - measured);
    if (result == 0)
        fuzz_touch_sample(&sample);
    free(exact);
    return 0;
}
