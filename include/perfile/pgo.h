/* SPDX-License-Identifier: MIT */
/*
 * perfile/pgo.h: what compilers and binary optimisers use of recordings (libperfile-analysis).
 *
 *     perfile_pgo_open -> perfile_pgo_add for each recording -> perfile_pgo_end -> perfile_pgo_binary_at ...
 *         -> perfile_pgo_branch_at, perfile_pgo_range_at, perfile_pgo_address_at
 *         -> perfile_pgo_write for each binary -> perfile_pgo_close
 *
 * Taken branches, what ran between them, and addresses of samples are counted by binary, in one pass over each
 * recording. A binary is known by its build id, whatever its paths are, or by its path where no build id was recorded.
 * Each entry of a branch stack counts 1. Sums stop at UINT64_MAX.
 */
#ifndef PERFILE_PGO_H
#define PERFILE_PGO_H

#include <perfile/analysis.h>

#ifdef __cplusplus
extern "C" {
#endif

struct perfile_pgo_options {
    size_t size;                                  /* sizeof(struct perfile_pgo_options) */
    const struct perfile_filter *filter;          /* which samples; may be NULL */
    const struct perfile_symbol_options *symbols; /* where the binaries are, and notes; may be NULL */
    /*
     * Only this binary is counted: the ELF file at that path, as far as its build id is that of the recordings. NULL:
     * all, unless `build_id` is set.
     */
    const char *binary;
    bool any_build; /* `binary` is used for the recorded binary of its name, although build ids differ */
    uint8_t build_id[20];
    uint8_t build_id_bytes; /* only the binary with this build id is counted; 0: not set */
    bool kernel;            /* code of the kernel and its modules is counted instead of that of processes */
    bool contexts;          /* also by callers, for formats that need them; needs `binary`, excludes `kernel` */
    /* The maximum of distinct traces (a branch and where the code after it ended), 64 bytes each; 0: 2^24. */
    uint64_t max_traces;
    void (*progress)(void *context, uint64_t done, uint64_t total); /* bytes of a recording; may be NULL */
    void *progress_context;
    /* Called at the end of each recording with values of the filter that nothing matched; may be NULL. */
    perfile_on_unmatched *unmatched;
    void *unmatched_context;
    const struct perfile_allocator *allocator; /* NULL: malloc */
};
#define PERFILE_PGO_OPTIONS_INIT PERFILE_SIZED(struct perfile_pgo_options)

struct perfile_pgo;

/* Errors: ARGUMENT, MEMORY, those of perfile_elf_build_id for `binary`. What the options point at must live as long. */
PERFILE_API PERFILE_MUST_CHECK int perfile_pgo_open(const struct perfile_pgo_options *options, struct perfile_pgo **pgo,
                                                    struct perfile_error *error);
/* NULL is allowed. */
PERFILE_API void perfile_pgo_close(struct perfile_pgo *pgo);
/*
 * Reads a recording to its end; the reader must be at its start. Errors: ARGUMENT, LIMIT (max_traces), MEMORY, those of
 * perfile_reader_next.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_pgo_add(struct perfile_pgo *pgo, struct perfile_reader *reader,
                                                   struct perfile_error *error);
/*
 * After the last recording: makes the counts of each binary. Errors: MEMORY; ARGUMENT: called before; or the recordings
 * have the binary of that name only with another build id, which the message has with that of the file, and any_build
 * is not set.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_pgo_end(struct perfile_pgo *pgo, struct perfile_error *error);

/* What became of the data of the recordings, for one binary or for all. */
struct perfile_pgo_counts {
    size_t size;                       /* sizeof(struct perfile_pgo_counts) */
    uint64_t samples;                  /* that the filter let pass */
    uint64_t samples_used;             /* the address of the sample, or a branch of it, is in the binary */
    uint64_t samples_without_branches; /* they have no branch stack, or an empty one */
    uint64_t samples_of_calls;         /* their branch stacks are call stacks, which are not branches that were taken */
    uint64_t samples_filtered;         /* the recording does not have all kinds of branches: ranges are not known */
    uint64_t branches;                 /* with an end in the binary */
    uint64_t branches_outside;         /* of these, the other end is not in it */
    uint64_t branches_wrong_path;      /* that the processor took back; they are not counted as branches */
    uint64_t ranges;                   /* code that ran between two branches, both in the binary */
    uint64_t ranges_backwards;         /* dropped: the end is before the start */
    uint64_t ranges_long;              /* dropped: longer than 1 MiB */
    uint64_t ranges_no_code;           /* dropped by the format: an end is not the start of an instruction */
    uint64_t ranges_jumps;             /* dropped by the format: an unconditional jump lies between the ends */
    uint64_t branches_no_code;         /* dropped by the format: an end is not the start of an instruction */
    uint64_t functions;                /* of the binary; 0: not known */
    uint64_t functions_reached;        /* with a range or an address in them */
    uint64_t functions_unnamed;        /* reached, but left out by the format: no debug info */
    uint64_t samples_without_callers;  /* they have no callchain; these three are counted if options.contexts is set */
    uint64_t samples_between_frames;   /* at the start or the end of a function, where callchains are not complete */
    uint64_t contexts_unknown;         /* branches whose callers are not known: code before them cannot have run */
};
#define PERFILE_PGO_COUNTS_INIT PERFILE_SIZED(struct perfile_pgo_counts)

enum perfile_pgo_match {
    PERFILE_PGO_MATCH_NONE,     /* the file was not found */
    PERFILE_PGO_MATCH_BUILD_ID, /* the file has the recorded build id */
    PERFILE_PGO_MATCH_NAME,     /* no build id was recorded, or the file has none: the name decides */
    PERFILE_PGO_MATCH_FORCED,   /* build ids differ */
};

/* A binary of the recordings. Texts are valid as long as the handle. */
struct perfile_pgo_binary {
    size_t size;
    const char *name; /* as the recordings have it; of several names the first */
    const char *path; /* of the file whose addresses are counted; NULL: it was not found, and addresses are offsets in
                               it */
    uint8_t build_id[20];                              /* recorded */
    uint8_t build_id_bytes;                            /* 0: not recorded */
    uint32_t match;                                    /* enum perfile_pgo_match */
    bool has_branches;                                 /* false: only addresses of samples are known */
    const char *event;                                 /* of the addresses: that with the most samples in it */
    uint64_t branch_count, range_count, address_count; /* of distinct ones */
};
#define PERFILE_PGO_BINARY_INIT PERFILE_SIZED(struct perfile_pgo_binary)

/* Those with the most samples first. */
PERFILE_API size_t perfile_pgo_binary_count(const struct perfile_pgo *pgo);
/* ARGUMENT: the index is not that of a binary, or binary->size is not set. */
PERFILE_API PERFILE_MUST_CHECK int perfile_pgo_binary_at(const struct perfile_pgo *pgo, size_t index,
                                                         struct perfile_pgo_binary *binary);
/*
 * Those of a binary; SIZE_MAX: of the recordings. ARGUMENT: the index is not that of a binary, or counts->size is not
 * set.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_pgo_counts_get(const struct perfile_pgo *pgo, size_t binary,
                                                          struct perfile_pgo_counts *counts);

/* An address outside of the executable segments of the binary. */
#define PERFILE_PGO_OUTSIDE UINT64_MAX

/* Addresses are those of the ELF file (p_vaddr), as nm and objdump print them. */
struct perfile_pgo_branch {
    size_t size;
    uint64_t from, to; /* one of them may be PERFILE_PGO_OUTSIDE */
    uint64_t count, mispredicted;
    uint8_t type; /* enum perfile_branch_type, as it was recorded last; 0: not known */
};
#define PERFILE_PGO_BRANCH_INIT PERFILE_SIZED(struct perfile_pgo_branch)
struct perfile_pgo_range {
    size_t size;
    uint64_t begin; /* where a branch went */
    uint64_t end;   /* the address of the next branch that was taken */
    uint64_t count;
};
#define PERFILE_PGO_RANGE_INIT PERFILE_SIZED(struct perfile_pgo_range)
struct perfile_pgo_address {
    size_t size;
    uint64_t address;
    uint64_t count; /* samples there */
};
#define PERFILE_PGO_ADDRESS_INIT PERFILE_SIZED(struct perfile_pgo_address)

/* In ascending order. ARGUMENT: an index is not that of a binary or row, or the size is not set. */
PERFILE_API PERFILE_MUST_CHECK int perfile_pgo_branch_at(const struct perfile_pgo *pgo, size_t binary, uint64_t index,
                                                         struct perfile_pgo_branch *branch);
PERFILE_API PERFILE_MUST_CHECK int perfile_pgo_range_at(const struct perfile_pgo *pgo, size_t binary, uint64_t index,
                                                        struct perfile_pgo_range *range);
PERFILE_API PERFILE_MUST_CHECK int perfile_pgo_address_at(const struct perfile_pgo *pgo, size_t binary, uint64_t index,
                                                          struct perfile_pgo_address *address);

struct perfile_pgo_format {
    const char *name;    /* "bolt" */
    const char *doc;     /* one sentence */
    bool is_binary;      /* nothing for a terminal */
    bool is_weak;        /* it also takes recordings without branch stacks */
    bool needs_contexts; /* options.contexts must be set */
};
/* The formats by position; NULL after the last. Static. */
PERFILE_API const struct perfile_pgo_format *perfile_pgo_format_at(size_t index);

struct perfile_pgo_write_options {
    size_t size;
    const char *format;
    unsigned gcc; /* gcov: the version of GCC that reads it: 11, or 12 and later; 0: 12 */
    /* What the format dropped is added to the counts of the binary, and here. May be NULL. */
    struct perfile_pgo_counts *counts;
};
#define PERFILE_PGO_WRITE_OPTIONS_INIT PERFILE_SIZED(struct perfile_pgo_write_options)

/*
 * Writes the profile of one binary. ABSENT: nothing is usable, nothing was written, and the message says why. Other
 * errors: ARGUMENT (the index is not that of a binary, unknown format), MEMORY, WRITE, those of reading the binary.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_pgo_write(const struct perfile_pgo *pgo, size_t binary,
                                                     const struct perfile_pgo_write_options *options,
                                                     const struct perfile_sink *sink, struct perfile_error *error);

#ifdef __cplusplus
}
#endif
#endif
