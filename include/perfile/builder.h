/* SPDX-License-Identifier: MIT */
/*
 * perfile/builder.h: a profile made of samples that the caller has (libperfile-analysis).
 *
 *     perfile_builder_open -> perfile_builder_event, _module, _function, _frame, _address -> perfile_builder_add ...
 *         -> perfile_builder_finish -> perfile_builder_close
 *
 * For profilers of their own, and for converters of other formats: what they sampled becomes a struct perfile_profile,
 * and with it everything that perfile makes of one: perfile_calls (functions, callers, callees), perfile_diff, files
 * (perfile_profile_write, which `perfile report`, `flame` and `diff` read), flame graphs (perfile_flame_options.profile)
 * and the exports (perfile_export_options.profile). Parts are described once and have numbers then; the structs are
 * those that a profile gives. Equal parts have equal numbers, so that callers need not remember what they described.
 *
 * Frames without a name need a module and an offset in its file alone (perfile_builder_address): perfile_profile_symbolize
 * looks them up later, here or on another machine, and so do servers that take pprof without names.
 *
 * `examples/own_samples.c` is a profiler of 60 lines. Since 0.1.
 */
#ifndef PERFILE_BUILDER_H
#define PERFILE_BUILDER_H

#include <perfile/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* For one thread at a time. Several are independent; perfile_profile_merge makes one profile of theirs. */
struct perfile_builder;

struct perfile_builder_options {
    size_t size; /* sizeof(struct perfile_builder_options) */
    /*
     * Where the samples are from; `first_time` and `last_time` become those of the samples. Its texts are not needed
     * afterwards. NULL: not known, as if all of its members were NULL or 0 and its clock -1.
     */
    const struct perfile_profile_recording *recording;
    uint64_t time_quantum; /* ns, the steps of time that rows are kept apart by; 0: they are not */
    /* Must live as long as the builder and its profile. NULL: malloc. */
    const struct perfile_allocator *allocator;
};
#define PERFILE_BUILDER_OPTIONS_INIT PERFILE_SIZED(struct perfile_builder_options)

/* `options` NULL: the defaults. Errors: ARGUMENT (a size that is not set, an option that is too new), MEMORY. */
PERFILE_API PERFILE_MUST_CHECK int perfile_builder_open(const struct perfile_builder_options *options,
                                                        struct perfile_builder **builder, struct perfile_error *error);
/* NULL is allowed. Not for the profile, which lives on. */
PERFILE_API void perfile_builder_close(struct perfile_builder *builder);

/*
 * What is counted. `name` and `unit` ("ns", "bytes", "count" ...) are needed; `value_count` is 3 when samples have
 * weights, else 0 or 2; `type` and `config` may be 0. *number is that of the event in samples. Errors of all five:
 * ARGUMENT (a text is missing, a number is not one of the builder's, `size` is not set, the builder has finished: the
 * message says which), MEMORY. Texts are copied.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_builder_event(struct perfile_builder *builder,
                                                         const struct perfile_profile_event *event, uint32_t *number,
                                                         struct perfile_error *error);
/*
 * A binary. `name` is needed; `short_name` NULL: its last part. `state` says whether its functions have names:
 * PERFILE_MODULE_SYMBOLS, or PERFILE_MODULE_NO_FILE, which is 0.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_builder_module(struct perfile_builder *builder,
                                                          const struct perfile_module *module, uint32_t *number,
                                                          struct perfile_error *error);
/*
 * A function: a `name` is enough. `module` is a number of perfile_builder_module, or PERFILE_NO_ID: no binary, as in
 * interpreted languages. `label` NULL: made of the name. `address` keeps functions of one name apart.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_builder_function(struct perfile_builder *builder,
                                                            const struct perfile_profile_function *function,
                                                            uint32_t *number, struct perfile_error *error);
/*
 * A frame: a `function` is enough; its number is that of the frame in stacks. `kind` is 0 in user code; inlined ones
 * (PERFILE_FRAME_INLINED) stand before the function that they are in. Addresses of callers are return addresses.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_builder_frame(struct perfile_builder *builder,
                                                         const struct perfile_profile_frame *frame, uint32_t *number,
                                                         struct perfile_error *error);
/*
 * A frame of which no name is known: an offset in the file of a module (address - start of the mapping + offset of the
 * mapping), of callers that of the return address.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_builder_address(struct perfile_builder *builder, uint32_t module,
                                                           uint64_t file_offset, uint32_t *number,
                                                           struct perfile_error *error);

/* One sample, or the sum of several with the same stack. */
struct perfile_builder_sample {
    size_t size; /* sizeof(struct perfile_builder_sample) */
    uint32_t event;
    uint32_t frame_count;   /* at least 1, at most 2^20 */
    const uint32_t *frames; /* numbers of frames, the innermost first; not needed afterwards */
    uint64_t count;         /* how many samples it stands for; 0: 1 */
    uint64_t period;        /* what all of them counted, in the event's unit; sums end at 2^64 - 1 */
    uint64_t weight;        /* of all of them; for events with three values */
    uint64_t time;          /* ns on the recording's clock, if has_time */
    const char *comm;       /* name of the thread, or NULL */
    const char *cgroup;     /* path of its control group, or NULL */
    int32_t pid, tid;       /* if has_thread; else they are not known */
    int32_t cpu;            /* if has_cpu */
    bool has_thread, has_cpu, has_time;
};
#define PERFILE_BUILDER_SAMPLE_INIT PERFILE_SIZED(struct perfile_builder_sample)

/*
 * Adds a sample to the row of its stack, event, thread, name, processor, control group and step of time. Memory grows
 * with the rows, not with the samples. Errors: ARGUMENT (as above), MEMORY.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_builder_add(struct perfile_builder *builder,
                                                       const struct perfile_builder_sample *sample,
                                                       struct perfile_error *error);

/*
 * Moves what was added into a profile, which is the caller's (perfile_profile_close): any number of threads may read
 * it. The builder can only be closed then. Errors: ARGUMENT (it has finished), MEMORY.
 */
PERFILE_API PERFILE_MUST_CHECK int
perfile_builder_finish(struct perfile_builder *builder, struct perfile_profile **profile, struct perfile_error *error);

#ifdef __cplusplus
}
#endif
#endif
