/* SPDX-License-Identifier: MIT */
/*
 * Probes: a program with debug info, which definitions, lines and variables are looked up in; and what is not an ELF
 * file is definitions, a line each, with the bytes of each as a location.
 */
#include "fuzz.h"
#include "symbol/probe/probe_parts.h"

#include <sys/mman.h>
#include <unistd.h>

static int take_probe(void *context, const struct perfile_probe *probe)
{
    (void)context;
    fuzz_touch_text(probe->group);
    fuzz_touch_text(probe->event);
    fuzz_touch_text(probe->target);
    return 0;
}

static int take_variable(void *context, const struct perfile_probe_variable *variable)
{
    (void)context;
    fuzz_touch_text(variable->point);
    fuzz_touch_text(variable->name);
    fuzz_touch_text(variable->type);
    fuzz_touch_text(variable->ranges);
    return 0;
}

static int take_lines(void *context, const struct perfile_probe_listing *lines)
{
    (void)context;
    fuzz_touch_text(lines->file);
    fuzz_touch(lines->lines, lines->line_count * sizeof(*lines->lines));
    return 0;
}

static int take_name(void *context, const char *name)
{
    (void)context;
    fuzz_touch_text(name);
    return 0;
}

static void look_up(const char *path)
{
    static const char *const definitions[] = {"* $vars",
                                              "l*:1 $vars",
                                              "work%return $retval",
                                              "probe.c:37 $vars",
                                              "leaf o->value.name:string o->array[1] o->value.low",
                                              "0x1010 $params"};
    struct perfile_probe_options options = PERFILE_PROBE_OPTIONS_INIT;
    char text[256];
    options.file = path;
    options.symbols = &fuzz_no_symbols;
    for (size_t i = 0; i < sizeof(definitions) / sizeof(definitions[0]); i++)
        (void)!perfile_probe_define(&options, definitions[i], take_probe, NULL, NULL);
    (void)!perfile_probe_variables(&options, "*", true, take_variable, NULL, NULL);
    (void)!perfile_probe_lines(&options, "work", take_lines, NULL, NULL);
    (void)!perfile_probe_lines(&options, "probe.c:1-50", take_lines, NULL, NULL);
    (void)!perfile_probe_functions(&options, take_name, NULL, NULL);
    (void)perfile_probe_describe(&options, 0x1010, text, sizeof(text));
}

static void parse(struct pf_arena *arena, const char *line)
{
    struct pf_probe_definition definition;
    struct pf_probe_range range;
    (void)pf_probe_parse(arena, line, &definition, NULL);
    (void)pf_probe_parse_range(arena, line, &range, NULL);
}

/* The first half of the line is a location, the second half the frame. */
static void locate(const char *line)
{
    static const uint16_t machines[] = {3, 8, 22, 40, 62, 183, 243};
    const uint8_t *bytes = (const uint8_t *)line;
    const size_t half = strlen(line) / 2;
    struct pf_debug debug = {.swap = false};
    const struct pf_unit unit = {.debug = &debug, .version = 5, .address_bytes = 8, .offset_bytes = 4};
    const struct pf_probe_frame frame = {.expression = {bytes + half, half}, .is_known = true};
    struct pf_probe_target target = {.steps = 0};
    struct pf_probe_location location;
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
        target.elf.header.e_machine = machines[i];
        if (!pf_probe_locate(&target, &unit, (struct pf_section){bytes, half}, &frame, &location))
            fuzz_touch_text(location.base);
    }
}

static void read_lines(const uint8_t *data, size_t bytes)
{
    struct pf_arena arena;
    char *text = malloc(bytes + 1), *rest;
    FUZZ_REQUIRE(text);
    memcpy(text, data, bytes);
    text[bytes] = 0;
    pf_arena_open(&arena, pf_allocator_or_default(NULL));
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        parse(&arena, line);
        locate(line);
    }
    pf_arena_close(&arena);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char path[64];
    if (bytes < 4 || memcmp(data, "\177ELF", 4) != 0) {
        read_lines(data, bytes);
        return 0;
    }
    const int fd = memfd_create("probe", MFD_CLOEXEC);
    FUZZ_REQUIRE(fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    look_up(path);
    close(fd);
    return 0;
}
