/* SPDX-License-Identifier: MIT */
/* Finds callchains that were followed by a register that is not a frame pointer: they soon leave all mappings. */
#include "analysis/profile_sample.h"

#include "base/bytes.h"

/*
 * The C library starts programs and threads, and has no frame pointers in many distributions: addresses after its own
 * are garbage in the chains of any program, and harmless.
 */
static bool starts_programs(const struct pf_frames *frames, const struct pf_frame_info *frame)
{
    static const char *const files[] = {"libc.so", "libc-", "libpthread", "ld-"};
    static const char *const names[] = {"_start", "__libc_start", "start_thread", "clone", "__clone"};
    const struct pf_module *module = pf_symbols_module(frames->symbols, frame->module);
    for (size_t i = 0; module && i < PF_COUNT(files); i++)
        if (pf_starts_with(module->short_name, files[i]))
            return true;
    for (size_t i = 0; frame->name && i < PF_COUNT(names); i++)
        if (pf_starts_with(frame->name, names[i]))
            return true;
    return false;
}

/* The outermost frame is in no mapping. Few good ones before that are by chance. */
bool pf_profile_is_broken(const struct pf_frames *frames, const struct pf_profile_sample *sample, uint32_t *module)
{
    enum { BY_CHANCE = 3 };
    size_t good = 0, last = sample->frame_count;
    while (last && pf_frames_at(frames, sample->frames[last - 1])->module == PF_NO_SYMBOL)
        last--;
    for (size_t i = last; i && good <= BY_CHANCE; i--) {
        const unsigned kind = pf_frames_at(frames, sample->frames[i - 1])->kind;
        if (kind == PF_FRAME_KERNEL)
            break;
        good += kind != PF_FRAME_INLINED;
    }
    *module = last ? pf_frames_at(frames, sample->frames[last - 1])->module : PF_NO_SYMBOL;
    return good && good <= BY_CHANCE &&
           (good == 1 || !starts_programs(frames, pf_frames_at(frames, sample->frames[last - 1])));
}

void pf_profile_count_broken(struct pf_profile_totals *totals, uint32_t module, uint64_t count)
{
    for (size_t i = 0; i < PF_COUNT(totals->broken_in); i++) {
        struct pf_broken_module *in = &totals->broken_in[i];
        if (in->count && in->module != module)
            continue;
        *in = (struct pf_broken_module){module, in->count + count};
        return;
    }
}
