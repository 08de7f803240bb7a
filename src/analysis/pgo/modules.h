/* SPDX-License-Identifier: MIT */
/*
 * The binaries that the mappings of recordings show, and the addresses of samples as locations in them: which part of
 * which file. The file itself is not needed for that, so what was counted can become ELF addresses at the end, of all
 * recordings and processes together.
 */
#ifndef PF_ANALYSIS_PGO_MODULES_H
#define PF_ANALYSIS_PGO_MODULES_H

#include <perfile/pgo.h>

#include "base/bytes.h"
#include "base/map.h"

/* A location: the part's number plus one, and an offset; 0 is outside of all that is counted. */
enum { PF_PART_BITS = 20, PF_OFFSET_BITS = 64 - PF_PART_BITS, PF_RECENT_BITS = 16, PF_RECENT_MAPS = 256 };
/* The source of a branch of which only the target is known; all else is below it. */
#define PF_LOCATION_UNKNOWN UINT64_MAX
#define PF_OFFSET_MASK (((uint64_t)1 << PF_OFFSET_BITS) - 1)
#define PF_RECENT_MASK (((uint64_t)1 << PF_RECENT_BITS) - 1)

struct pf_pgo_module {
    const char *name;
    uint8_t build_id[20];
    uint8_t build_id_bytes; /* 0: the recordings do not have it */
    bool kernel;
    bool is_wanted;
    uint32_t next; /* with the same hash, plus one */
    uint64_t samples;
    uint64_t last_sample; /* the number of the last sample that hit it */
};

/*
 * Mappings that show the same part of a file. The offset in a location is the offset in the file; of the kernel it is
 * the low bits of the address.
 */
struct pf_pgo_part {
    uint32_t module;
    uint64_t pgoff; /* of the mapping; of the kernel: the address of the symbol that its name has */
};

/* A file that the caller has, for which recordings are read. */
struct pf_pgo_wanted {
    const char *name; /* the last part of its path; NULL: any binary */
    uint8_t build_id[20];
    uint8_t build_id_bytes; /* 0: it has none, or is not known */
    bool any_build;
    bool kernel;
};

struct pf_pgo_modules {
    const struct perfile_allocator *allocator;
    struct pf_arena names;
    struct pf_pgo_wanted wanted;
    struct pf_pgo_module *modules;
    size_t count, capacity;
    struct pf_pgo_part *parts;
    size_t part_count, part_capacity;
    struct pf_map by_name; /* hash of a build id or a name, to the first module, whose `next` is the next one */
    struct pf_map part_of; /* module and pgoff hashed, to a part */
    struct pf_map of_map;  /* of the current recording: a map's id, to the location of offset 0 of its file */
    struct pf_recent_map {
        uint64_t space; /* perfile_space_id; 0: empty */
        uint64_t start, end;
        uint64_t base; /* to be added to an address; 0: not counted */
    } recent[PF_RECENT_MAPS];
    const struct perfile_space *space; /* of the sample, and its id */
    uint64_t space_id;
    uint64_t executed;    /* when its process executed its program: what was mapped before is not there any more */
    uint32_t other_build; /* a module of the wanted name with another build id, plus one; 0 before one is found */
    bool is_full;         /* there are 2^20 parts: no more are counted */
};

void pf_pgo_modules_open(struct pf_pgo_modules *modules, const struct pf_pgo_wanted *wanted,
                         const struct perfile_allocator *allocator);
void pf_pgo_modules_close(struct pf_pgo_modules *modules);
/* Another recording: its maps have ids and spaces of their own. */
void pf_pgo_modules_discard_maps(struct pf_pgo_modules *modules);
/* The location of an address that `recent` does not have; 0 also when out of memory, which the watch notes. */
uint64_t pf_pgo_locate_slowly(struct pf_pgo_modules *modules, uint64_t address);

/* To be called for each sample. Processes that share a space may have executed their programs at different times. */
static inline void pf_pgo_set_space(struct pf_pgo_modules *modules, const struct perfile_space *space,
                                    uint64_t executed)
{
    modules->space = space;
    modules->executed = executed;
    modules->space_id = perfile_space_id(space) ^ executed * 0x9e3779b97f4a7c15u;
}

static inline struct pf_recent_map *pf_pgo_recent(struct pf_pgo_modules *modules, uint64_t address)
{
    return &modules->recent[(address >> PF_RECENT_BITS ^ modules->space_id * 31) % PF_RECENT_MAPS];
}

/* The location of an address in the space that was set last. */
static inline uint64_t pf_pgo_locate(struct pf_pgo_modules *modules, uint64_t address)
{
    const struct pf_recent_map *recent = pf_pgo_recent(modules, address);
    if (PF_LIKELY(recent->space == modules->space_id && address >= recent->start && address < recent->end))
        return recent->base ? address + recent->base : 0;
    return pf_pgo_locate_slowly(modules, address);
}

static inline struct pf_pgo_part *pf_pgo_part_of(const struct pf_pgo_modules *modules, uint64_t location)
{
    return location && location != PF_LOCATION_UNKNOWN ? &modules->parts[(location >> PF_OFFSET_BITS) - 1] : NULL;
}

#endif
