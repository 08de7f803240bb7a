/* SPDX-License-Identifier: MIT */
/*
 * top_modules FILE...: the ten modules with the most samples in all of the recordings, each with its share and its
 * build id. The profiles of the files are merged: a binary that several have counts once, under whatever path.
 */
#include <inttypes.h>
#include <perfile/profile.h>
#include <stdio.h>
#include <stdlib.h>

struct hits {
    uint64_t samples;
    uint32_t module; /* PERFILE_NO_ID: in no module */
};

static int by_samples(const void *a, const void *b)
{
    const struct hits *x = a, *y = b;
    return x->samples == y->samples ? 0 : x->samples < y->samples ? 1 : -1;
}

static int open_profile(const char *path, struct perfile_profile **profile, struct perfile_error *error)
{
    struct perfile_profile_options options = PERFILE_PROFILE_OPTIONS_INIT;
    struct perfile_reader *reader = NULL;

    options.flags = PERFILE_STREAM_NO_INLINES | PERFILE_STREAM_JOIN_UNNAMED;
    options.path = path;
    int result = perfile_open_path(path, NULL, &reader, error);
    if (result == 0)
        result = perfile_profile_open(reader, &options, profile, error);
    perfile_close(reader); /* the profile does not need it */
    return result;
}

/* The module in which a sample was taken: that of the function at its leaf. */
static uint32_t module_of(const struct perfile_profile *profile, const struct perfile_profile_sample *sample)
{
    struct perfile_profile_stack stack = PERFILE_PROFILE_STACK_INIT;
    struct perfile_profile_frame frame = PERFILE_PROFILE_FRAME_INIT;
    struct perfile_profile_function function = PERFILE_PROFILE_FUNCTION_INIT;

    if (perfile_profile_stack_at(profile, sample->stack, &stack) < 0 ||
        perfile_profile_frame_at(profile, stack.frame, &frame) < 0 ||
        perfile_profile_function_at(profile, frame.function, &function) < 0)
        return PERFILE_NO_ID;
    return function.module;
}

static void print(const struct perfile_profile *profile, const struct hits *hits, uint64_t total)
{
    struct perfile_module module = PERFILE_MODULE_INIT;
    const int known = perfile_profile_module_at(profile, hits->module, &module) == 0;

    printf("%8" PRIu64 " %6.2f%% %s", hits->samples, 100.0 * (double)hits->samples / (double)total,
           known ? module.name : "[unknown]");
    for (uint32_t i = 0; known && i < module.build_id_bytes; i++)
        printf("%s%02x", i ? "" : " ", module.build_id[i]);
    printf("\n");
}

static int print_top(const struct perfile_profile *profile)
{
    const size_t modules = perfile_profile_module_count(profile), rows = perfile_profile_sample_count(profile);
    struct hits *hits = calloc(modules + 1, sizeof(*hits));
    uint64_t total = 0;

    if (!hits)
        return 1;
    for (size_t i = 0; i <= modules; i++)
        hits[i].module = i < modules ? (uint32_t)i : PERFILE_NO_ID;
    for (size_t i = 0; i < rows; i++) {
        struct perfile_profile_sample sample = PERFILE_PROFILE_SAMPLE_INIT;
        if (perfile_profile_sample_at(profile, i, &sample) < 0)
            continue;
        const uint32_t module = module_of(profile, &sample);
        hits[module == PERFILE_NO_ID ? modules : module].samples += sample.values[0]; /* the first is their number */
        total += sample.values[0];
    }
    qsort(hits, modules + 1, sizeof(*hits), by_samples);
    for (size_t i = 0; i <= modules && i < 10 && hits[i].samples; i++)
        print(profile, &hits[i], total);
    free(hits);
    return 0;
}

int main(int argc, char **argv)
{
    const size_t count = argc > 1 ? (size_t)argc - 1 : 0;
    struct perfile_profile **profiles = calloc(count + 1, sizeof(*profiles)), *merged = NULL;
    struct perfile_error error;
    int result = 0;

    if (!profiles)
        return 1;
    for (size_t i = 0; i < count && result == 0; i++)
        result = open_profile(argv[i + 1], &profiles[i], &error);
    if (result == 0)
        result = perfile_profile_merge((const struct perfile_profile *const *)profiles, count, NULL, &merged, &error);
    if (result < 0)
        fprintf(stderr, "top_modules: %s\n", error.message);
    else
        result = print_top(merged);
    perfile_profile_close(merged);
    for (size_t i = 0; i < count; i++)
        perfile_profile_close(profiles[i]);
    free(profiles);
    return result != 0 || fflush(stdout) != 0;
}
