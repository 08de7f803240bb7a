/* SPDX-License-Identifier: MIT */
#include "symbol/unwind/unwind_arch.h"

#define no PF_UNWIND_NO_SLOT
#define NO_FRAME 0, 0, 0

#define ARCH(...)
#define NAME(...)
#define COMPAT(...)
#define PERF(id, ...) static const uint8_t perf_slots_##id[] = {__VA_ARGS__};
#include "symbol/unwind/unwind_arch.def"
#undef ARCH
#undef PERF

/* the members in their order; one more step, so that NO_FRAME becomes three of them */
#define ARCH(...) ARCH_(__VA_ARGS__)
#define ARCH_(id, ...)                                                                                                 \
    static const struct pf_unwind_arch arch_##id = {perf_slots_##id, sizeof(perf_slots_##id), __VA_ARGS__};
#define PERF(...)
#include "symbol/unwind/unwind_arch.def"
#undef ARCH
#undef NAME
#undef COMPAT

static const struct {
    const char *name;
    const struct pf_unwind_arch *arch;
} names[] = {
#define ARCH(...)
#define NAME(name, id) {name, &arch_##id},
#define COMPAT(...)
#include "symbol/unwind/unwind_arch.def"
#undef NAME
#undef COMPAT
};

static const struct {
    const struct pf_unwind_arch *arch, *narrow;
} compats[] = {
#define NAME(...)
#define COMPAT(id, narrow) {&arch_##id, &arch_##narrow},
#include "symbol/unwind/unwind_arch.def"
};

static const struct pf_unwind_arch *narrow_of(const struct pf_unwind_arch *arch)
{
    for (size_t i = 0; i < PF_COUNT(compats); i++) {
        if (compats[i].arch == arch)
            return compats[i].narrow;
    }
    return NULL;
}

const struct pf_unwind_arch *pf_unwind_arch_find(const char *name, uint64_t abi)
{
    for (size_t i = 0; i < PF_COUNT(names); i++) {
        if (strcmp(names[i].name, name) == 0)
            return abi == 1 && names[i].arch->word_bytes == 8 ? narrow_of(names[i].arch) : names[i].arch;
    }
    return NULL;
}

const struct pf_unwind_arch *pf_unwind_arch_of_machine(uint16_t machine, bool is_64)
{
    for (size_t i = 0; i < PF_COUNT(names); i++) {
        if (names[i].arch->machine == machine)
            return names[i].arch->word_bytes == (is_64 ? 8 : 4) ? names[i].arch : NULL;
    }
    return NULL;
}
