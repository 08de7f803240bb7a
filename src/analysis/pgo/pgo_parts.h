/* SPDX-License-Identifier: MIT */
/*
 * The parts of a struct perfile_pgo: reading recordings (collect.c), their binaries (files.c), and what is known of
 * each binary in the end (profiles.c).
 */
#ifndef PF_ANALYSIS_PGO_PGO_PARTS_H
#define PF_ANALYSIS_PGO_PGO_PARTS_H

#include "analysis/complete_options.h"
#include "analysis/delivered.h"
#include "analysis/pgo/contexts.h"
#include "analysis/pgo/modules.h"
#include "analysis/pgo/pgo.h"
#include "analysis/pgo/tally.h"
#include "symbol/find/find.h"

/* An ELF file. Texts are in the arena of the pgo. */
struct pf_pgo_file {
    const char *path; /* NULL: not found, or not readable */
    const char *debug_path;
    uint8_t build_id[20];
    uint8_t build_id_bytes;
    struct pf_pgo_segment *segments; /* PT_LOADs, in the arena */
    size_t segment_count;
    uint64_t reference; /* of a kernel: the address of the symbol that its mapping names; 0: not known */
    /* Of a file of that name that is another build; "" where no such file was found, or it has no id. */
    char other_build_id[2 * 20 + 1];
    bool build_id_differs;
};

/* How a recording is searched for binaries: kept, since paths in its bundle are valid as long. */
struct pf_pgo_search {
    struct pf_find_options find;
    char *archive_dir; /* owned; NULL: none */
};

struct pf_pgo_binary {
    struct pf_pgo_profile profile; /* arrays are owned */
    const struct pf_pgo_file *file;
    const struct pf_pgo_module *module; /* the first of its modules */
    struct pf_pgo_trace *traces;
    size_t trace_count, trace_capacity;
    struct pf_pgo_hit {
        uint64_t address;
        uint64_t event;
        uint64_t count;
    } * hits; /* addresses of samples by event */
    size_t hit_count, hit_capacity;
    struct pf_pgo_branch *branches;
    size_t branch_capacity;
    struct pf_pgo_range *ranges;
    size_t range_capacity;
    struct pf_pgo_address *addresses;
    size_t address_capacity;
};

struct perfile_pgo {
    struct pf_watch watch;
    struct perfile_pgo_options options; /* points at the complete ones */
    struct pf_complete_options complete;
    struct pf_arena texts;
    struct pf_pgo_file own;    /* options.binary */
    struct pf_pgo_file *files; /* of the modules of the same number; NULL: `own` is that of all */
    size_t file_count, file_capacity;
    struct pf_pgo_search *searches;
    size_t search_count, search_capacity;
    struct pf_pgo_modules modules;
    struct pf_tally traces;          /* locations: from, to, end */
    struct pf_tally addresses;       /* location, and the number of the event */
    struct pf_pgo_contexts contexts; /* if options.contexts */
    const char **events;             /* their names */
    size_t event_count, event_capacity;
    struct perfile_pgo_counts totals;
    uint64_t left_out; /* samples that the filter did not let pass */
    struct pf_pgo_binary *binaries;
    size_t binary_count, binary_capacity;
    bool ended;
};

/* collect.c: reads a recording to its end. */
int pf_pgo_collect(struct perfile_pgo *pgo, struct perfile_reader *reader, struct perfile_error *error);
/* Whether the processor ran ahead over a branch with these flags, and took it back. */
static inline bool pf_pgo_is_wrong_path(uint64_t flags, bool big_endian)
{
    return (flags >> (big_endian ? 64 - 24 - 2 : 24) & 3) == PERFILE_BR_SPEC_WRONG_PATH;
}
/* collect_contexts.c: the branches of a sample with their callers. False: out of memory, or there are too many. */
bool pf_pgo_collect_contexts(struct perfile_pgo *pgo, const struct pf_delivered *item);
/* files.c: the file of options.binary. */
int pf_pgo_open_own(struct perfile_pgo *pgo, struct perfile_error *error);
/* The files of the modules that were hit and not searched before. The reader is that of the recording. */
int pf_pgo_find_files(struct perfile_pgo *pgo, struct perfile_reader *reader, struct perfile_error *error);
void pf_pgo_close_searches(struct perfile_pgo *pgo);
/* profiles.c */
/* What is to be added to offsets in the file for addresses, by the segment that a mapping of `pgoff` shows. */
bool pf_pgo_segment_delta(const struct pf_pgo_file *file, uint64_t pgoff, uint64_t *delta);
int pf_pgo_make_profiles(struct perfile_pgo *pgo, struct perfile_error *error);
void pf_pgo_close_profiles(struct perfile_pgo *pgo);

#endif
