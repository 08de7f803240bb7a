/* SPDX-License-Identifier: MIT */
/* A jitdump file: every record and every line of it, and the files that are made of its code. */
#include "fuzz.h"
#include "symbol/jit/jit_files.h"

static void touch_lines(struct pf_jitdump *dump, const struct pf_jitdump_code *code)
{
    struct pf_arena arena;
    struct pf_jitdump_line *lines;
    pf_arena_open(&arena, pf_allocator_or_default(NULL));
    size_t count = pf_jitdump_lines(dump, code, &arena, &lines);
    for (size_t i = 0; i < count; i++)
        fuzz_touch(lines[i].file, strlen(lines[i].file));
    pf_arena_close(&arena);
}

/* Into /dev/null, which nothing takes the place of: the file beside it cannot be made. */
static void touch_file(struct pf_jitdump *dump, const struct pf_jitdump_code *code)
{
    uint8_t build_id[20];
    FUZZ_REQUIRE(pf_jit_file_write(dump, code, "/dev/null/x", build_id, NULL) < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const struct pf_jitdump_content content = {"jitdump", data, bytes};
    struct pf_jitdump dump;
    struct pf_jitdump_code code;
    uint64_t at = 0;
    if (pf_jitdump_open_memory(&dump, pf_allocator_or_default(NULL), &content, NULL) < 0)
        return 0;
    while (pf_jitdump_next(&dump, &code) > 0) {
        FUZZ_REQUIRE(dump.at > at && dump.at <= bytes);
        at = dump.at;
        if (code.name)
            fuzz_touch(code.name, strlen(code.name));
        touch_lines(&dump, &code);
        if (code.name)
            touch_file(&dump, &code);
    }
    pf_jitdump_close(&dump);
    return 0;
}
