/* SPDX-License-Identifier: MIT */
/*
 * own_samples KIND FORMAT OUT [TITLE]: samples of another profiler in whatever perfile writes. Standard input has a line
 * for each stack, "main;work;sum 12": functions from the outside in, and nanoseconds. For example
 *
 *     own_samples export pprof cpu.pb < stacks        own_samples flame svg flame.svg < stacks
 *     own_samples export profile cpu.profile < stacks; perfile report cpu.profile; perfile diff old.profile cpu.profile
 */
#include <inttypes.h>
#include <perfile/builder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_MAX = 256 };

static int fail(const struct perfile_error *error)
{
    fprintf(stderr, "own_samples: %s\n", error->message);
    return EXIT_FAILURE;
}

static int write_out(void *context, const void *data, size_t bytes)
{
    return fwrite(data, 1, bytes, context) == bytes ? 0 : -1;
}

/* The number of the frame of a function; the same name has the same number. */
static int frame_of(struct perfile_builder *builder, const char *name, uint32_t *number, struct perfile_error *error)
{
    struct perfile_profile_function function = PERFILE_PROFILE_FUNCTION_INIT;
    struct perfile_profile_frame frame = PERFILE_PROFILE_FRAME_INIT;

    function.name = name;
    function.module = PERFILE_NO_ID;
    const int result = perfile_builder_function(builder, &function, &frame.function, error);
    return result < 0 ? result : perfile_builder_frame(builder, &frame, number, error);
}

static int add_line(struct perfile_builder *builder, uint32_t event, char *line, struct perfile_error *error)
{
    struct perfile_builder_sample sample = PERFILE_BUILDER_SAMPLE_INIT;
    uint32_t frames[FRAMES_MAX];
    char *number = strrchr(line, ' ');
    int result = 0;

    if (!number)
        return 0;
    *number = '\0';
    sample.event = event;
    sample.period = strtoull(number + 1, NULL, 10);
    while (result == 0 && line && sample.frame_count < FRAMES_MAX) { /* the innermost first */
        char *last = strrchr(line, ';');
        result = frame_of(builder, last ? last + 1 : line, &frames[sample.frame_count++], error);
        if (last)
            *last = '\0';
        line = last ? line : NULL;
    }
    sample.frames = frames;
    return result < 0 ? result : perfile_builder_add(builder, &sample, error);
}

static int build(struct perfile_profile **profile, struct perfile_error *error)
{
    static char line[65536];
    struct perfile_profile_event cpu = PERFILE_PROFILE_EVENT_INIT;
    struct perfile_builder *builder = NULL;
    uint32_t event = 0;

    cpu.name = "cpu";
    cpu.unit = "ns";
    int result = perfile_builder_open(NULL, &builder, error);
    if (result == 0)
        result = perfile_builder_event(builder, &cpu, &event, error);
    while (result == 0 && fgets(line, sizeof(line), stdin))
        result = add_line(builder, event, line, error);
    if (result == 0)
        result = perfile_builder_finish(builder, profile, error);
    perfile_builder_close(builder);
    return result;
}

int main(int argc, char **argv)
{
    struct perfile_output_options options = PERFILE_OUTPUT_OPTIONS_INIT;
    struct perfile_export_options exports = PERFILE_EXPORT_OPTIONS_INIT;
    struct perfile_flame_options flame = PERFILE_FLAME_OPTIONS_INIT;
    struct perfile_profile *profile = NULL;
    struct perfile_error error;
    FILE *out = argc > 3 ? fopen(argv[3], "wb") : NULL;
    const struct perfile_sink sink = {out, write_out};

    if (!out || build(&profile, &error) < 0)
        return out ? fail(&error) : EXIT_FAILURE;
    exports.profile = flame.profile = profile;
    flame.title = argc > 4 ? argv[4] : NULL;
    options.exports = &exports;
    options.flame = &flame;
    int result = perfile_output_write(NULL, argv[1], argv[2], &options, &sink, &error);
    perfile_profile_close(profile);
    return fclose(out) == 0 && result >= 0 ? EXIT_SUCCESS : fail(&error);
}
