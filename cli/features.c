/* SPDX-License-Identifier: MIT */
#include "features.h"

#include "message.h"

#include <perfile/analysis.h>

#include <stdlib.h>
#include <string.h>

/* perf's names of what it can be built with, and whether the same can be done here, by whatever library. */
static const struct feature {
    const char *name, *macro;
    bool on;
    const char *library; /* the beginning of the name of the library that is needed; NULL: none */
} features[] = {
    {"aio", "HAVE_AIO_SUPPORT", false},
    {"bpf", "HAVE_LIBBPF_SUPPORT", false},
    {"bpf_skeletons", "HAVE_BPF_SKEL", false},
    {"debuginfod", "HAVE_DEBUGINFOD_SUPPORT", true, "libdebuginfod"},
    {"dwarf", "HAVE_LIBDW_SUPPORT", true},
    {"dwarf_getlocations", "HAVE_LIBDW_SUPPORT", true},
    {"dwarf-unwind", "HAVE_DWARF_UNWIND_SUPPORT", true},
    {"libbfd", "HAVE_LIBBFD_SUPPORT", false},
    {"babeltrace2-ctf-writer", "HAVE_BABELTRACE2_CTF_WRITER_SUPPORT", true},
    {"libbpf-strings", "HAVE_LIBBPF_STRINGS_SUPPORT", false},
    {"libcapstone", "HAVE_LIBCAPSTONE_SUPPORT", true, "libcapstone"},
    {"libdw-dwarf-unwind", "HAVE_LIBDW_SUPPORT", true},
    {"libelf", "HAVE_LIBELF_SUPPORT", true},
    {"libLLVM", "HAVE_LIBLLVM_SUPPORT", false},
    {"libnuma", "HAVE_LIBNUMA_SUPPORT", false},
    {"libopencsd", "HAVE_CSTRACE_SUPPORT", true},
    {"libperl", "HAVE_LIBPERL_SUPPORT", false},
    {"libpfm4", "HAVE_LIBPFM", false},
    {"libpython", "HAVE_LIBPYTHON_SUPPORT", true},
    {"libslang", "HAVE_SLANG_SUPPORT", true},
    {"libtraceevent", "HAVE_LIBTRACEEVENT", true},
    {"libunwind", "HAVE_LIBUNWIND_SUPPORT", false},
    {"lzma", "HAVE_LZMA_SUPPORT", true},
    {"numa_num_possible_cpus", "HAVE_LIBNUMA_SUPPORT", false},
    {"zlib", "HAVE_ZLIB_SUPPORT", true},
    {"zstd", "HAVE_ZSTD_SUPPORT", true},
    {"rust", "HAVE_RUST_SUPPORT", false},
};
enum { FEATURES = sizeof(features) / sizeof(features[0]) };

static bool is_quiet(const char *word)
{
    return !strcmp(word, "-q") || !strcmp(word, "--quiet");
}

/* The arguments but -q, of which there may be any number. Returns how many; the first two are stored. */
static size_t read_words(char *const *arguments, const char *words[2], bool *quiet)
{
    size_t count = 0;

    *quiet = false;
    for (; *arguments; arguments++)
        if (is_quiet(*arguments))
            *quiet = true;
        else if (count++ < 2)
            words[count - 1] = *arguments;
    return count;
}

bool pf_features_asked(char *const *arguments)
{
    const char *words[2];
    bool quiet;

    return read_words(arguments, words, &quiet) == 2 && !strcmp(words[0], "feature");
}

static bool is_on(const struct feature *feature)
{
    const char *name, *purpose;
    bool found;

    for (size_t i = 0; feature->library && (name = perfile_library_at(i, &purpose, &found)) != NULL; i++)
        if (!strncmp(name, feature->library, strlen(feature->library)))
            return found;
    return feature->on;
}

static void print_feature(struct pf_stream *out, const struct feature *feature)
{
    pf_stream_print(out, "%22s: [ %s ]  # %s\n", feature->name, is_on(feature) ? "on " : "OFF", feature->macro);
}

void pf_features_print(struct pf_stream *out)
{
    for (size_t i = 0; i < FEATURES; i++)
        print_feature(out, &features[i]);
}

/* By perf's name or the macro, in any case. */
static const struct feature *find(const char *name)
{
    for (size_t i = 0; i < FEATURES; i++)
        if (!strcasecmp(name, features[i].name) || !strcasecmp(name, features[i].macro))
            return &features[i];
    pf_message("check: unknown feature \"%s\"; perf version --build-options lists them", name);
    return NULL;
}

static bool check_each(char *names, struct pf_stream *out)
{
    bool all = true;

    for (const char *name; (name = strsep(&names, ",")) != NULL;) {
        const struct feature *feature = find(name);
        all &= feature && is_on(feature);
        if (feature && out)
            print_feature(out, feature);
    }
    return all;
}

int pf_features_check(char *const *arguments)
{
    const char *words[2];
    struct pf_stream out;
    bool quiet;

    (void)read_words(arguments, words, &quiet);
    char *names = strdup(words[1]);
    if (!names || pf_stream_open(&out, NULL)) {
        free(names);
        return PF_STATUS_OUTPUT;
    }
    const bool all = check_each(names, quiet ? NULL : &out);
    free(names);
    const int written = pf_stream_close(&out, true);
    return written ? written : all ? PF_STATUS_OK : PF_STATUS_FINDINGS;
}
