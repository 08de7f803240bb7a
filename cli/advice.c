/* SPDX-License-Identifier: MIT */
#include "advice.h"
#include "fitting.h"
#include "message.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_LINES = 5,
    MAX_NAMES = 3,
    DIGITS = 12,         /* of build ids */
    MIN_PERCENT = 2,     /* of addresses or samples: no advice is printed below this share */
    LIST_BYTES = 8 << 20 /* of a package, at most */
};

/* ---- packages ---------------------------------------------------------------------------------------------------- */

static const char lists[] = "/var/lib/dpkg/info";

static char *read_list(int folder, const char *name)
{
    struct stat status;
    char *text = NULL;
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);

    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size < LIST_BYTES &&
        (text = calloc(1, (size_t)status.st_size + 2)) != NULL) {
        text[0] = '\n';
        if (read(fd, text + 1, (size_t)status.st_size) < 0)
            text[0] = 0;
    }
    if (fd >= 0)
        close(fd);
    return text;
}

static bool has_line(const char *text, const char *line)
{
    const size_t bytes = strlen(line);

    for (const char *at = text; (at = strstr(at, line)) != NULL; at++)
        if (at > text && at[-1] == '\n' && (!at[bytes] || at[bytes] == '\n'))
            return true;
    return false;
}

/* Packages from before /lib became a link to /usr/lib have their files there. */
static bool lists_file(int folder, const char *name, const char *path)
{
    char *text = read_list(folder, name);
    const bool found = text && (has_line(text, path) || (!strncmp(path, "/usr/", 5) && has_line(text, path + 4)));

    free(text);
    return found;
}

/* Finds the package that contains a file in the lists of dpkg. False when no package contains it. */
static bool package_of(const char *path, char package[128])
{
    DIR *folder = opendir(lists);
    const struct dirent *entry;
    bool found = false;

    while (folder && !found && (entry = readdir(folder)) != NULL) {
        const size_t bytes = strlen(entry->d_name), name = strcspn(entry->d_name, ":");

        if (bytes < 5 || bytes >= 128 || strcmp(entry->d_name + bytes - 5, ".list") != 0 ||
            !lists_file(dirfd(folder), entry->d_name, path))
            continue;
        snprintf(package, 128, "%.*s", (int)(name < bytes ? name : bytes - 5), entry->d_name);
        found = true;
    }
    if (folder)
        closedir(folder);
    return found;
}

/* ---- collecting -------------------------------------------------------------------------------------------------- */

static void add_name(struct pf_advice *advice, const struct perfile_trouble *trouble)
{
    char *names = advice->of[trouble->kind].names;
    const size_t used = strlen(names), capacity = sizeof(advice->of[0].names) - used;
    const char *separator = used ? ", " : "";

    if (trouble->kind == PERFILE_TROUBLE_OTHER_BUILD && trouble->build_id && trouble->other_build_id)
        snprintf(names + used, capacity, "%s%.48s (build id %.*s here, %.*s recorded)", separator, trouble->short_name,
                 DIGITS, *trouble->other_build_id ? trouble->other_build_id : "unknown", DIGITS,
                 *trouble->build_id ? trouble->build_id : "unknown");
    else
        snprintf(names + used, capacity, "%s%.48s", separator, trouble->short_name);
}

/* The kernels of machines that were recorded together have one name. */
static bool has_name(const struct pf_advice *advice, const struct perfile_trouble *trouble)
{
    const char *names = advice->of[trouble->kind].names, *at = strstr(names, trouble->short_name);
    const char *end = at ? at + strlen(trouble->short_name) : NULL;

    return at && (at == names || at[-1] == ' ') && (!*end || *end == ',');
}

void pf_advice_take(void *context, const struct perfile_trouble *trouble)
{
    struct pf_advice *advice = context;

    if (advice->over || trouble->kind >= PF_ADVICE_KINDS)
        return;
    if (trouble->name && !has_name(advice, trouble) && advice->of[trouble->kind].modules++ < MAX_NAMES)
        add_name(advice, trouble);
    if (trouble->path && !advice->of[trouble->kind].path)
        advice->of[trouble->kind].path = strdup(trouble->path);
    advice->of[trouble->kind].count += trouble->count;
    if (!advice->of[trouble->kind].total || advice->of[trouble->kind].recording != trouble->recording)
        advice->of[trouble->kind].total += trouble->total;
    advice->of[trouble->kind].recording = trouble->recording;
}

/* ---- printing ---------------------------------------------------------------------------------------------------- */

/* The most important first; %1 becomes the names of the modules. */
static const struct {
    unsigned kind;
    const char *why;
    const char *brief; /* of stacks: what follows the percentage */
} lines[] = {
    {PERFILE_TROUBLE_BROKEN_STACKS,
     "callchains are broken: code without frame pointers; record with perfile record "
     "--call-graph auto, or build with -fno-omit-frame-pointer",
     "broken"},
    {PERFILE_TROUBLE_CUT_STACKS, "stack dumps end before the outermost caller; record with --call-graph dwarf,65528",
     "truncated"},
    {PERFILE_TROUBLE_FULL_STACKS,
     "callchains were cut at the maximum depth; before recording: "
     "sysctl kernel.perf_event_max_stack=1024",
     "too deep"},
    {PERFILE_TROUBLE_NO_FILE,
     "the files are not on this machine; --symfs DIR, --archive FILE or DEBUGINFOD_URLS find them"},
    {PERFILE_TROUBLE_OTHER_BUILD,
     "the files here are a different build; --symfs DIR, --archive FILE or DEBUGINFOD_URLS find the recorded ones"},
    {PERFILE_TROUBLE_NO_NAMES, "stripped, and there is no debug file; set DEBUGINFOD_URLS, or install debug symbols"},
    {PERFILE_TROUBLE_NO_KERNEL,
     "this machine has no symbols of that kernel; use --kallsyms, --vmlinux or --archive FILE"},
    {PERFILE_TROUBLE_NO_JIT_MAP,
     "JIT-compiled code, without a perf-PID.map or jitdump file that can be used; java "
     "needs -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -XX:+PreserveFramePointer, node --perf-basic-prof, "
     "python 3.12 -X perf, ruby 3.3 --yjit --yjit-perf, dotnet DOTNET_PerfMapEnabled=1"},
};

/* Troubles of stacks belong to samples, and those of names to modules. */
static bool is_of_stacks(unsigned kind)
{
    return kind >= PERFILE_TROUBLE_BROKEN_STACKS;
}

/* What follows the names of the first modules. */
static void put_more(char more[32], unsigned modules)
{
    *more = 0;
    if (modules > MAX_NAMES)
        snprintf(more, 32, " and %u more", modules - MAX_NAMES);
}

static void say_stacks(const struct pf_advice *advice, const char *input, size_t line)
{
    const unsigned kind = lines[line].kind;
    const char *names = advice->of[kind].names;
    const double percent = 100.0 * (double)advice->of[kind].count / (double)advice->of[kind].total;
    char more[32];

    put_more(more, advice->of[kind].modules);
    pf_message_brief("%.0f%% of stacks %s", percent, lines[line].brief);
    pf_message_advice("%s: %.0f%% of the %s%s%s%s%s", input, percent, lines[line].why, *names ? " (" : "", names, more,
                      *names ? ")" : "");
}

/* The length of the first name, without its build ids. */
static size_t first_name(const char *names)
{
    const char *build_ids = strstr(names, " (build id");
    const size_t bytes = strcspn(names, ",");

    return build_ids && (size_t)(build_ids - names) < bytes ? (size_t)(build_ids - names) : bytes;
}

static void say_modules(const struct pf_advice *advice, const char *input, size_t line)
{
    const unsigned kind = lines[line].kind, modules = advice->of[kind].modules;
    char more[32], package[128], symbols[160] = "";

    put_more(more, modules);
    if (kind == PERFILE_TROUBLE_NO_NAMES && advice->of[kind].path && package_of(advice->of[kind].path, package))
        snprintf(symbols, sizeof(symbols), " (%.127s-dbgsym)", package);
    pf_message_brief("no symbols for %.*s", (int)first_name(advice->of[kind].names), advice->of[kind].names);
    pf_message_advice("%s: no symbols for %s%s: %s%s", input, advice->of[kind].names, more, lines[line].why, symbols);
}

static bool matters(const struct pf_advice *advice, unsigned kind)
{
    const bool stated = !is_of_stacks(kind) && advice->names_modules;

    return !stated && advice->of[kind].count && advice->of[kind].count * 100 >= advice->of[kind].total * MIN_PERCENT;
}

bool pf_advice_unwanted(void)
{
    const char *wanted = getenv("PERFILE_ADVICE");

    return wanted && (!strcmp(wanted, "no") || !strcmp(wanted, "0"));
}

void pf_advice_discard(struct pf_advice *advice)
{
    for (size_t i = 0; i < PF_ADVICE_KINDS; i++)
        free(advice->of[i].path);
    *advice = (struct pf_advice){.over = true};
}

void pf_advice_give(struct pf_advice *advice, const char *input)
{
    unsigned passed = pf_advice_unwanted() ? MAX_LINES : 0;

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        if (!matters(advice, lines[i].kind) || passed++ >= MAX_LINES)
            continue;
        if (is_of_stacks(lines[i].kind))
            say_stacks(advice, input, i);
        else
            say_modules(advice, input, i);
    }
    pf_advice_discard(advice);
}

static void say_lost(const struct perfile_counts *counts, const char *input)
{
    const uint64_t lost = counts->lost_samples ? counts->lost_samples : counts->lost_events;
    const double percent = 100.0 * (double)lost / ((double)lost + (double)counts->samples);

    if (lost && percent >= MIN_PERCENT)
        pf_message_advice("%s: %.0f%% of the samples were lost while recording (%" PRIu64
                          "): record with larger buffers (-m 16M), a lower frequency (-F), or without --call-graph "
                          "dwarf",
                          input, percent, lost);
}

/*
 * What makes samples of these traces; perf, which refuses s390, and prints only packets of HiSilicon PTT, decodes the
 * rest.
 */
static const char *decoder_of(uint32_t type)
{
    static const char *const decoders[] = {
        [PERFILE_AUXTRACE_INTEL_PT] = "--itrace makes samples of",
        [PERFILE_AUXTRACE_INTEL_BTS] = "--itrace makes samples of",
        [PERFILE_AUXTRACE_CS_ETM] = "--itrace makes samples of",
        [PERFILE_AUXTRACE_ARM_SPE] = "--itrace makes samples of",
        [PERFILE_AUXTRACE_S390_CPUMSF] = "--itrace makes samples of",
        [PERFILE_AUXTRACE_VPA_DTL] = "--itrace makes samples of",
    };

    return type < sizeof(decoders) / sizeof(*decoders) ? decoders[type] : NULL;
}

/* The output already reports that AUX data are not decoded. No advice is printed for AUX data of an unknown kind. */
static void say_aux(const struct perfile_reader *reader, const char *input)
{
    const struct perfile_counts *counts = perfile_reader_counts(reader);
    const char *kind = perfile_enum_name("auxtrace_type", counts->aux_type);

    if (!counts->aux_bytes || !kind || perfile_reader_attachment(reader))
        return;
    pf_message_advice("%s: perfile dump --aux prints the packets of AUX data (%" PRIu64 " bytes of %s)", input,
                      counts->aux_bytes, kind);
    if (decoder_of(counts->aux_type))
        pf_message_advice("%s: %s AUX data (%" PRIu64 " bytes of %s)", input, decoder_of(counts->aux_type),
                          counts->aux_bytes, kind);
}

void pf_advice_missing(struct perfile_reader *reader, const char *input, bool shows_aux)
{
    const struct perfile_counts *counts = perfile_reader_counts(reader);

    if (pf_advice_unwanted())
        return;
    say_lost(counts, input);
    if (!shows_aux)
        say_aux(reader, input);
}

void pf_advice_fitting(struct perfile_reader *reader, const char *input)
{
    struct pf_fitting fitting = {0};
    char text[256];

    if (pf_advice_unwanted())
        return;
    pf_fitting_take(&fitting, reader);
    if (!pf_fitting_text(&fitting, "", text, sizeof(text)))
        return;
    pf_message_brief("for its events try: %s", text);
    pf_message_advice("%s: for its events try: %s", input, text);
}
